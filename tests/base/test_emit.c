/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yaml.h>

#include "base/emit.h"
#include "dies.h"
#include "rng.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static void emit_sample(struct emit *e)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "Plan");
	emit_int(e, "seq", -42);
	emit_object(e, "none");
	emit_end(e);
	emit_list(e, "nothing");
	emit_end(e);
	emit_list(e, "decisions");
	emit_object(e, NULL);
	emit_strf(e, "pod", "%s/%s", "team-a", "web-0");
	emit_list(e, "victims");
	emit_str(e, NULL, "team-b/job-1");
	emit_str(e, NULL, "yes");
	emit_end(e);
	emit_object(e, "node");
	emit_str(e, "name", NULL);
	emit_end(e);
	emit_end(e);
	emit_object(e, NULL);
	emit_end(e);
	emit_list(e, NULL);
	emit_list(e, NULL);
	emit_end(e);
	emit_list(e, NULL);
	emit_bool(e, NULL, true);
	emit_int(e, NULL, 2);
	emit_end(e);
	emit_end(e);
	emit_end(e);
	emit_double(e, "share", 0.25);
	emit_bool(e, "ok", false);
	emit_end(e);
}

static const char sample_json[] = "{\n"
				  "  \"kind\": \"Plan\",\n"
				  "  \"seq\": -42,\n"
				  "  \"none\": {},\n"
				  "  \"nothing\": [],\n"
				  "  \"decisions\": [\n"
				  "    {\n"
				  "      \"pod\": \"team-a/web-0\",\n"
				  "      \"victims\": [\n"
				  "        \"team-b/job-1\",\n"
				  "        \"yes\"\n"
				  "      ],\n"
				  "      \"node\": {\n"
				  "        \"name\": null\n"
				  "      }\n"
				  "    },\n"
				  "    {},\n"
				  "    [\n"
				  "      [],\n"
				  "      [\n"
				  "        true,\n"
				  "        2\n"
				  "      ]\n"
				  "    ]\n"
				  "  ],\n"
				  "  \"share\": 0.25,\n"
				  "  \"ok\": false\n"
				  "}\n";

static const char sample_line[] =
	"{\"kind\":\"Plan\",\"seq\":-42,\"none\":{},\"nothing\":[],\"decisions\":[{\"pod\":\"team-a/web-0\","
	"\"victims\":[\"team-b/"
	"job-1\",\"yes\"],\"node\":{\"name\":null}},{},[[],[true,2]]],\"share\":0.25,\"ok\":false}\n";

static const char sample_yaml[] = "kind: Plan\n"
				  "seq: -42\n"
				  "none: {}\n"
				  "nothing: []\n"
				  "decisions:\n"
				  "- pod: team-a/web-0\n"
				  "  victims:\n"
				  "  - team-b/job-1\n"
				  "  - \"yes\"\n"
				  "  node:\n"
				  "    name: null\n"
				  "- {}\n"
				  "- - []\n"
				  "  - - true\n"
				  "    - 2\n"
				  "share: 0.25\n"
				  "ok: false\n";

static void a_tree_in_three_formats(void **state)
{
	static const char *const want[] = {
		[EMIT_JSON] = sample_json, [EMIT_JSON_LINE] = sample_line, [EMIT_YAML] = sample_yaml};
	for (int format = EMIT_JSON; format <= EMIT_YAML; format++) {
		struct text t = {0};
		struct emit e;
		emit_init(&e, &t, (enum emit_format)format);
		emit_sample(&e);
		assert_string_equal(text_str(&t), want[format]);
		text_free(&t);
	}
}

static void top_values_and_documents(void **state)
{
	struct text t = {0};
	struct emit e;
	emit_init(&e, &t, EMIT_YAML);
	emit_str(&e, NULL, "a");
	emit_document(&e);
	emit_object(&e, NULL);
	emit_end(&e);
	emit_document(&e);
	emit_list(&e, NULL);
	emit_int(&e, NULL, 1);
	emit_end(&e);
	assert_string_equal(text_str(&t), "a\n---\n{}\n---\n- 1\n");
	text_reset(&t);
	emit_init(&e, &t, EMIT_JSON_LINE);
	emit_str(&e, NULL, "a");
	emit_document(&e);
	emit_list(&e, NULL);
	emit_end(&e);
	assert_string_equal(text_str(&t), "\"a\"\n[]\n");
	text_free(&t);
}

static const struct {
	const char *why, *s, *yaml, *json;
} strings[] = {
	{"names stay plain", "node-1.example.com", "node-1.example.com", "\"node-1.example.com\""},
	{"so do sentences", "guarantee of root.ml, kept", "guarantee of root.ml, kept",
	 "\"guarantee of root.ml, kept\""},
	{"and quantities", "4Gi", "4Gi", "\"4Gi\""},
	{"and paths with colons inside", "a:b/c#d", "a:b/c#d", "\"a:b/c#d\""},
	{"and quotes inside", "say \"no\"", "say \"no\"", "\"say \\\"no\\\"\""},
	{"and backslashes", "a\\b", "a\\b", "\"a\\\\b\""},
	{"and letters of the world", "größe 😀", "größe 😀", "\"größe 😀\""},
	{"the empty string is quoted", "", "\"\"", "\"\""},
	{"truth in any spelling", "True", "\"True\"", "\"True\""},
	{"truth of older readers", "off", "\"off\"", "\"off\""},
	{"single letters that mean yes", "y", "\"y\"", "\"y\""},
	{"null", "null", "\"null\"", "\"null\""},
	{"null by sign", "~", "\"~\"", "\"~\""},
	{"integers", "12", "\"12\"", "\"12\""},
	{"signed integers", "-12", "\"-12\"", "\"-12\""},
	{"fractions", ".5", "\".5\"", "\".5\""},
	{"exponents", "1e3", "\"1e3\"", "\"1e3\""},
	{"hexadecimals", "0x1F", "\"0x1F\"", "\"0x1F\""},
	{"octals", "0o17", "\"0o17\"", "\"0o17\""},
	{"infinity", ".inf", "\".inf\"", "\".inf\""},
	{"digits with underscores", "1_000", "\"1_000\"", "\"1_000\""},
	{"base sixty", "12:30:45", "\"12:30:45\"", "\"12:30:45\""},
	{"dates", "2024-01-31", "\"2024-01-31\"", "\"2024-01-31\""},
	{"times", "2024-01-31T10:00:00Z", "\"2024-01-31T10:00:00Z\"", "\"2024-01-31T10:00:00Z\""},
	{"merge keys", "<<", "\"<<\"", "\"<<\""},
	{"what looks like a mapping", "a: b", "\"a: b\"", "\"a: b\""},
	{"or its key", "a:", "\"a:\"", "\"a:\""},
	{"what looks like a comment", "a #b", "\"a #b\"", "\"a #b\""},
	{"what looks like a list", "- a", "\"- a\"", "\"- a\""},
	{"a document mark", "---", "\"---\"", "\"---\""},
	{"an end mark", "...", "\"...\"", "\"...\""},
	{"an anchor", "&a", "\"&a\"", "\"&a\""},
	{"an alias", "*a", "\"*a\"", "\"*a\""},
	{"a tag", "!a", "\"!a\"", "\"!a\""},
	{"a flow list", "[a]", "\"[a]\"", "\"[a]\""},
	{"a leading blank", " a", "\" a\"", "\" a\""},
	{"a trailing blank", "a ", "\"a \"", "\"a \""},
	{"a blank alone", " ", "\" \"", "\" \""},
	{"controls", "a\nb\tc\x01\x7F", "\"a\\nb\\tc\\u0001\\u007f\"", "\"a\\nb\\tc\\u0001\\u007f\""},
	{"the other named controls", "\b\f\r", "\"\\b\\f\\r\"", "\"\\b\\f\\r\""},
	{"quotes and backslashes beside a control", "\"\\\n", "\"\\\"\\\\\\n\"", "\"\\\"\\\\\\n\""},
	{"eight-bit controls", "a\xC2\x85z", "\"a\\u0085z\"", "\"a\\u0085z\""},
	{"line separators", "\xE2\x80\xA8", "\"\\u2028\"", "\"\\u2028\""},
	{"what turns the direction", "a\xE2\x80\xAE", "\"a\\u202e\"", "\"a\\u202e\""},
	{"spaces of no width", "a\xE2\x80\x8B", "\"a\\u200b\"", "\"a\\u200b\""},
	{"tags, in two halves where JSON wants them", "\xF3\xA0\x81\x81", "\"\\U000e0041\"", "\"\\udb40\\udc41\""},
	{"byte order marks", "\xEF\xBB\xBFx", "\"\\ufeffx\"", "\"\\ufeffx\""},
	{"broken UTF-8", "a\xFFz", "\"a\xEF\xBF\xBDz\"", "\"a\xEF\xBF\xBDz\""},
	{"a character cut in two", "a\xE2\x82", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
};

/* An object with s as key and as value. */
static void check_pair(enum emit_format format, const char *why, const char *s, const char *want)
{
	struct text t = {0};
	struct emit e;
	emit_init(&e, &t, format);
	emit_object(&e, NULL);
	emit_str(&e, s, s);
	emit_end(&e);
	if (strcmp(text_str(&t), want) != 0)
		fail_msg("%s: %s", why, text_str(&t));
	text_free(&t);
}

static void strings_are_quoted_when_they_must_be(void **state)
{
	for (size_t i = 0; i < N_OF(strings); i++) {
		struct text want = {0};
		text_printf(&want, "%s: %s\n", strings[i].yaml, strings[i].yaml);
		check_pair(EMIT_YAML, strings[i].why, strings[i].s, text_str(&want));
		text_reset(&want);
		text_printf(&want, "{%s:%s}\n", strings[i].json, strings[i].json);
		check_pair(EMIT_JSON_LINE, strings[i].why, strings[i].s, text_str(&want));
		text_free(&want);
	}
}

static void numbers_are_short_and_exact(void **state)
{
	static const struct {
		const char *why;
		double value;
		const char *words;
	} rows[] = {
		{"whole numbers", 3, "3"},
		{"zero", 0, "0"},
		{"tenths", 0.1, "0.1"},
		{"sums of tenths", 0.1 + 0.2, "0.30000000000000004"},
		{"sixteen digits when they do", 9007199254740993.0 / 8, "1125899906842624"},
		{"thirds", 1.0 / 3, "0.3333333333333333"},
		{"large ones keep a point before the exponent", 1e300, "1.0e+300"},
		{"small ones", 2.5e-10, "2.5e-10"},
		{"the largest", DBL_MAX, "1.7976931348623157e+308"},
		{"the smallest", 4.9406564584124654e-324, "5.0e-324"},
		{"no number", NAN, "null"},
		{"too large", INFINITY, "null"},
		{"too small", -INFINITY, "null"},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct text t = {0}, want = {0};
		struct emit e;
		emit_init(&e, &t, EMIT_JSON_LINE);
		emit_double(&e, NULL, rows[i].value);
		text_printf(&want, "%s\n", rows[i].words);
		if (strcmp(text_str(&t), text_str(&want)) != 0)
			fail_msg("%s: %s", rows[i].why, text_str(&t));
		text_free(&t);
		text_free(&want);
	}
}

static void any_number_reads_back(void **state)
{
	struct rng r = {9};
	struct text t = {0};
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = rng_next(&r);
		double value;
		memcpy(&value, &bits, sizeof(value));
		if (i % 2 == 0)
			value = (double)rng_below(&r, 1000000) / 1000;
		text_reset(&t);
		struct emit e;
		emit_init(&e, &t, EMIT_YAML);
		emit_double(&e, NULL, value);
		if (isfinite(value))
			assert_true(strtod(text_str(&t), NULL) == value);
		else
			assert_string_equal(text_str(&t), "null\n");
	}
	text_reset(&t);
	struct emit e;
	emit_init(&e, &t, EMIT_JSON_LINE);
	emit_list(&e, NULL);
	emit_int(&e, NULL, INT64_MIN);
	emit_int(&e, NULL, INT64_MAX);
	emit_end(&e);
	assert_string_equal(text_str(&t), "[-9223372036854775808,9223372036854775807]\n");
	text_free(&t);
}

/*
 * Random trees: what was asked for is written down as a line of words, the output is read by libyaml (which reads
 * JSON too) and written down the same way; JSON is also checked against its grammar.
 */
struct pair {
	struct emit *e;
	struct text *asked;
};

static void note_string(struct text *t, const char *s)
{
	text_add_char(t, '\'');
	text_add(t, s);
	text_add(t, "' ");
}

static const char *const nasty_parts[] = {
	" ",
	"  ",
	":",
	": ",
	"#",
	" #",
	"-",
	"- ",
	"?",
	"? ",
	"[",
	"]",
	"{",
	"}",
	",",
	"&",
	"*",
	"!",
	"|",
	">",
	"'",
	"\"",
	"%",
	"@",
	"`",
	"\\",
	"/",
	"~",
	"\n",
	"\t",
	"\r",
	"<",
	"=",
	"a",
	"Z",
	"0",
	"1",
	"9",
	".",
	"e",
	"x",
	"_",
	"+",
	"T",
	"no",
	"true",
	"\x01",
	"\x1B",
	"\x7F",
	"\xC2\x80",
	"\xC2\x85",
	"\xC2\xA0",
	"\xE2\x80\xA8",
	"\xE2\x80\xA9",
	"\xEF\xBB\xBF",
	"\xEF\xBF\xBD",
	"\xEF\xBF\xBF",
	"é",
	"😀",
};

/* Valid UTF-8 without NUL, leaning to what is special somewhere. */
static const char *nasty(struct rng *r, struct text *t)
{
	text_reset(t);
	for (uint32_t n = rng_below(r, 6); n > 0; n--)
		text_add(t, nasty_parts[rng_below(r, N_OF(nasty_parts))]);
	return text_str(t);
}

static const char *random_key(struct rng *r, struct pair p, bool in_list, struct text *t)
{
	if (in_list)
		return NULL;
	const char *key = nasty(r, t);
	note_string(p.asked, key);
	return key;
}

static void random_value(struct rng *r, struct pair p, bool in_list, int depth)
{
	struct text key_text = {0}, value = {0};
	const char *key = random_key(r, p, in_list, &key_text);
	uint32_t kind = rng_below(r, depth < 6 ? 8 : 4);
	if (kind == 0) {
		uint32_t n = rng_below(r, 10);
		emit_int(p.e, key, n);
		text_printf(p.asked, "'%u' ", (unsigned)n);
	} else if (kind < 4) {
		emit_str(p.e, key, nasty(r, &value));
		note_string(p.asked, text_str(&value));
	} else {
		bool is_list = kind < 6;
		(is_list ? emit_list : emit_object)(p.e, key);
		text_add(p.asked, is_list ? "[ " : "{ ");
		for (uint32_t n = rng_below(r, 4); n > 0; n--)
			random_value(r, p, is_list, depth + 1);
		emit_end(p.e);
		text_add(p.asked, is_list ? "] " : "} ");
	}
	text_free(&key_text);
	text_free(&value);
}

static void note_event(struct text *t, const yaml_event_t *ev)
{
	if (ev->type == YAML_SEQUENCE_START_EVENT)
		text_add(t, "[ ");
	else if (ev->type == YAML_SEQUENCE_END_EVENT)
		text_add(t, "] ");
	else if (ev->type == YAML_MAPPING_START_EVENT)
		text_add(t, "{ ");
	else if (ev->type == YAML_MAPPING_END_EVENT)
		text_add(t, "} ");
	else if (ev->type == YAML_SCALAR_EVENT)
		note_string(t, (const char *)ev->data.scalar.value);
}

static bool read_events(const struct text *in, struct text *out)
{
	yaml_parser_t parser;
	yaml_event_t ev;
	bool is_good = true, is_end = false;
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text_str(in), in->n);
	while (is_good && !is_end) {
		is_good = yaml_parser_parse(&parser, &ev) != 0;
		if (!is_good)
			break;
		note_event(out, &ev);
		is_end = ev.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&parser);
	return is_good;
}

static const char *skip_blank(const char *s)
{
	return s + strspn(s, " \n");
}

static const char *check_json_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u' && strspn(s + 1, "0123456789abcdef") >= 4)
			s += 4;
		else if (strchr("\"\\/bfnrt", *s) == NULL || *s == '\0')
			return NULL;
	}
	return s + 1;
}

/* The rest of s after one JSON value, NULL if there is none. */
static const char *check_json(const char *s)
{
	s = skip_blank(s);
	if (*s == '"')
		return check_json_string(s);
	if (*s != '{' && *s != '[') {
		size_t n = strspn(s, "0123456789");
		return n > 0 ? s + n : NULL;
	}
	const bool is_list = *s == '[';
	const char close = is_list ? ']' : '}';
	s = skip_blank(s + 1);
	if (*s == close)
		return s + 1;
	for (;; s++) {
		if (!is_list) {
			s = check_json_string(skip_blank(s));
			if (s == NULL || *s++ != ':')
				return NULL;
		}
		s = check_json(s);
		if (s == NULL)
			return NULL;
		s = skip_blank(s);
		if (*s != ',')
			return *s == close ? s + 1 : NULL;
	}
}

static void any_tree_reads_back(void **state)
{
	for (int format = EMIT_JSON; format <= EMIT_YAML; format++) {
		struct rng r = {10};
		for (int round = 0; round < 3000; round++) {
			struct text out = {0}, asked = {0}, got = {0};
			struct emit e;
			emit_init(&e, &out, (enum emit_format)format);
			random_value(&r, (struct pair){&e, &asked}, true, 0);
			assert_int_equal(e.depth, 0);
			assert_int_equal(text_str(&out)[out.n - 1], '\n');
			if (!read_events(&out, &got) || strcmp(text_str(&got), text_str(&asked)) != 0)
				fail_msg("asked: %s\ngot: %s\nfrom: %s", text_str(&asked), text_str(&got),
					 text_str(&out));
			if (format != EMIT_YAML) {
				const char *rest = check_json(text_str(&out));
				assert_true(rest != NULL && strcmp(rest, "\n") == 0);
			}
			if (format == EMIT_JSON_LINE)
				assert_ptr_equal(strchr(text_str(&out), '\n'), text_str(&out) + out.n - 1);
			text_free(&out);
			text_free(&asked);
			text_free(&got);
		}
	}
}

static struct text lost;
static struct emit misused;

static void end_without_begin(void)
{
	emit_init(&misused, &lost, EMIT_JSON);
	emit_end(&misused);
}

static void key_in_a_list(void)
{
	emit_init(&misused, &lost, EMIT_JSON);
	emit_list(&misused, NULL);
	emit_int(&misused, "key", 1);
}

static void no_key_in_an_object(void)
{
	emit_init(&misused, &lost, EMIT_YAML);
	emit_object(&misused, NULL);
	emit_int(&misused, NULL, 1);
}

static void document_inside(void)
{
	emit_init(&misused, &lost, EMIT_YAML);
	emit_object(&misused, NULL);
	emit_document(&misused);
}

static void too_deep(void)
{
	emit_init(&misused, &lost, EMIT_YAML);
	for (int i = 0; i < 65; i++)
		emit_list(&misused, NULL);
}

static void deep_enough(void)
{
	emit_init(&misused, &lost, EMIT_YAML);
	for (int i = 0; i < 64; i++)
		emit_list(&misused, NULL);
	for (int i = 0; i < 64; i++)
		emit_end(&misused);
}

static void misuse_aborts(void **state)
{
	assert_true(dies(end_without_begin));
	assert_true(dies(key_in_a_list));
	assert_true(dies(no_key_in_an_object));
	assert_true(dies(document_inside));
	assert_true(dies(too_deep));
	assert_false(dies(deep_enough));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_in_three_formats),
		cmocka_unit_test(top_values_and_documents),
		cmocka_unit_test(strings_are_quoted_when_they_must_be),
		cmocka_unit_test(numbers_are_short_and_exact),
		cmocka_unit_test(any_number_reads_back),
		cmocka_unit_test(any_tree_reads_back),
		cmocka_unit_test(misuse_aborts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
