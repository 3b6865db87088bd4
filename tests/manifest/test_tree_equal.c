/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Property: whatever base/emit.h writes, as JSON or as YAML, is read back as what was written.
 */
#include "test_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/emit.h"
#include "rng.h"

#define ROUNDS 3000

/* The same tree in all formats, and as the tests show it. */
struct writer {
	struct rng rng;
	struct emit emits[3];
	struct text outs[3];
	struct text shown;
};

/* Pieces of text that a careless writer or reader would take for something else. */
static const char *const pieces[] = {
	"a",	  "b",	    "z9",     "-",	" ",	      ":",    ": ", "#",  " #",	 "\"",	"'",	    "\\",
	"\n",	  "\t",	    "\r",     "\x01",	"\x1f",	      "\x7f", "ä",  "€",  "😀",	 "<<",	"?",	    "*a",
	"&a",	  "!!str",  "%",      "@",	"`",	      "|",    ">",  "{",  "}",	 "[",	"]",	    ",",
	"true",	  "null",   "~",      "yes",	"0x1f",	      "1e3",  ".5", "12", "---", "...", "\xc2\x85", "\u2028",
	"\u2029", "\ufeff", "\uffff", "\u00a0", "2026-03-01", "kind", "/",  "\b",
};

static void make_text(struct writer *w, char *buf, size_t size)
{
	size_t n = 0;
	buf[0] = '\0';
	for (uint32_t i = rng_below(&w->rng, 5); i > 0; i--) {
		const char *piece = pieces[rng_below(&w->rng, sizeof(pieces) / sizeof(pieces[0]))];
		int more = snprintf(buf + n, size - n, "%s", piece);
		assert_true(more >= 0 && (size_t)more < size - n);
		n += (size_t)more;
	}
}

/* The text of one scalar as JSON writes it. */
static void show_scalar(struct writer *w, const char *mark, double number)
{
	struct text t = {0};
	struct emit e;
	emit_init(&e, &t, EMIT_JSON_LINE);
	emit_double(&e, NULL, number);
	text_printf(&w->shown, "%s%.*s", mark, (int)t.n - 1, t.s);
	text_free(&t);
}

static void write_string(struct writer *w, const char *key)
{
	char buf[64];
	make_text(w, buf, sizeof(buf));
	text_printf(&w->shown, "'%s'", buf);
	for (int i = 0; i < 3; i++)
		emit_str(&w->emits[i], key, buf);
}

static void write_number(struct writer *w, const char *key)
{
	int64_t whole = (int64_t)rng_next(&w->rng) >> rng_below(&w->rng, 63);
	double number =
		(double)whole / (double)(1 + rng_below(&w->rng, 1000000)) * (rng_below(&w->rng, 2) ? 1e-300 : 1);
	bool is_whole = rng_below(&w->rng, 2) == 0;
	if (is_whole)
		text_printf(&w->shown, "#%lld", (long long)whole);
	else
		show_scalar(w, "#", number);
	for (int i = 0; i < 3; i++) {
		if (is_whole)
			emit_int(&w->emits[i], key, whole);
		else
			emit_double(&w->emits[i], key, number);
	}
}

static void write_word(struct writer *w, const char *key)
{
	uint32_t which = rng_below(&w->rng, 3);
	text_add(&w->shown, which == 0 ? "null" : which == 1 ? "-false" : "+true");
	for (int i = 0; i < 3; i++) {
		if (which == 0)
			emit_str(&w->emits[i], key, NULL);
		else
			emit_bool(&w->emits[i], key, which == 2);
	}
}

static void write_value(struct writer *w, const char *key, int depth);

static void write_container(struct writer *w, const char *key, int depth, bool is_list)
{
	for (int i = 0; i < 3; i++)
		(is_list ? emit_list : emit_object)(&w->emits[i], key);
	text_add(&w->shown, is_list ? "[" : "{");
	uint32_t n = rng_below(&w->rng, 20) == 0 ? 25 : rng_below(&w->rng, 5);
	for (uint32_t i = 0; i < n; i++) {
		char name[80], tail[64];
		make_text(w, tail, sizeof(tail));
		/* The number in front keeps keys apart; in the first it is missing, for keys of all beginnings. */
		snprintf(name, sizeof(name), i == 0 ? "%.0u%s" : "%u%s", i, tail);
		text_add(&w->shown, i > 0 ? " " : "");
		if (!is_list)
			text_printf(&w->shown, "%s=", name);
		write_value(w, is_list ? NULL : name, depth + 1);
	}
	text_add(&w->shown, is_list ? "]" : "}");
	for (int i = 0; i < 3; i++)
		emit_end(&w->emits[i]);
}

static void write_value(struct writer *w, const char *key, int depth)
{
	uint32_t which = rng_below(&w->rng, depth == 0 ? 2 : depth > 5 ? 7 : 9);
	if (depth == 0)
		write_container(w, key, depth, which == 0);
	else if (which < 4)
		write_string(w, key);
	else if (which < 6)
		write_number(w, key);
	else if (which < 7)
		write_word(w, key);
	else
		write_container(w, key, depth, which == 7);
}

static void what_is_written_is_read_back_in_every_format(void **state)
{
	static const char *const names[] = {"JSON", "JSON on one line", "YAML"};
	struct writer w = {.rng = {20260301}};
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 3; i++) {
			text_reset(&w.outs[i]);
			emit_init(&w.emits[i], &w.outs[i], (enum emit_format)i);
		}
		text_reset(&w.shown);
		write_value(&w, NULL, 0);
		text_add(&w.shown, "\n");
		for (int i = 0; i < 3; i++) {
			struct text read = {0};
			show_input_n(&read, w.outs[i].s, w.outs[i].n, false);
			if (strcmp(text_str(&read), w.shown.s) != 0)
				fail_msg("round %d, %s:\n%s\n  want: %s\n  got:  %s", round, names[i], w.outs[i].s,
					 w.shown.s, text_str(&read));
			text_free(&read);
		}
	}
	for (int i = 0; i < 3; i++)
		text_free(&w.outs[i]);
	text_free(&w.shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back_in_every_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
