/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server keeps and tells of decisions: any lines as decisions, looked for by anything, are answered in JSON
 * that can be read; and any bytes as a report are a report or an error.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "manifest/tree.h"
#include "serve/reports.h"
#include "serve/serve_internal.h"

enum { MAX_LINES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Strings of a decision may hold anything but what no JSON can hold; an answer about them must be JSON again. */
static void must_be_json(struct text *out)
{
	struct arena *a = arena_new(4096);
	const struct tree *t;
	struct err e = {0};

	assert(!tree_parse_json("answer", text_str(out), out->n, a, &t, &e));
	arena_free(a);
	text_reset(out);
}

static uint32_t add_lines(struct serve_log *l, const char *s, struct text *first)
{
	struct text line = {0};
	uint32_t n = 0;

	while (*s && n < MAX_LINES) {
		size_t len = strcspn(s, "\n");

		text_reset(&line);
		text_add_n(&line, s, len);
		if (!n)
			text_add_n(first, s, len < 64 ? len : 64);
		serve_log_add(l, "decision", (int64_t)++n * NS_PER_S, text_str(&line));
		s += s[len] ? len + 1 : len;
	}
	text_free(&line);
	return n;
}

static void ask(struct serve_log *l, const char *word, uint32_t n)
{
	struct log_query q = {.filter = {.from_ns = TIME_NONE, .to_ns = TIME_NONE}, .limit = 10, .is_brief = true};
	struct text out = {0};

	serve_log_decisions(l, &q, &out);
	must_be_json(&out);
	q.is_newest_first = true;
	q.filter = (struct fact_filter){.queue = word, .rule = word, .user = word, .pod = word, .from_ns = NS_PER_S};
	q.filter.to_ns = TIME_NONE;
	serve_log_decisions(l, &q, &out);
	must_be_json(&out);
	serve_log_timeline(l, &q.filter, 7, &out);
	must_be_json(&out);
	serve_log_chain(l, 0, word, &out);
	must_be_json(&out);
	for (uint64_t id = serve_log_last(l); n-- > 0; id--) {
		assert(serve_log_chain(l, id, NULL, &out));
		must_be_json(&out);
	}
	text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct serve_log *l = serve_log_new(0, MAX_LINES, 0);
	struct text all = {0}, first = {0};
	struct reports *r = reports_new();
	struct err e = {0};
	uint32_t lines;

	text_add_n(&all, (const char *)data, n);
	lines = add_lines(l, text_str(&all), &first);
	ask(l, text_str(&first), lines);
	if (reports_add(r, "report", "", &all, &e))
		assert(*e.msg);
	serve_log_free(l);
	reports_free(r);
	text_free(&all);
	text_free(&first);
	return 0;
}
