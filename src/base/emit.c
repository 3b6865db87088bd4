/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both formats share one kind of quoted string: JSON's escapes mean nearly the same between YAML's double quotes. In
 * YAML a container writes nothing when it is opened, because only its first item (or its end) tells whether it is a
 * block or an empty {} or []. Lists in objects start at the column of their key, as in the output of kubectl.
 */
#include "base/emit.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DEPTH ((int)(sizeof(((struct emit *)0)->level) / sizeof(((struct emit *)0)->level[0])))

void emit_init(struct emit *e, struct text *out, enum emit_format format)
{
	*e = (struct emit){.out = out, .format = format};
}

/* Characters that a reader of JSON or YAML may refuse raw, that a terminal would act on, or that nobody would see. */
static bool must_escape(uint32_t c)
{
	if (c < 0xA0)
		return c < 0x20 || c >= 0x7F;
	return text_is_hidden(c) || c == 0xFFFE || c == 0xFFFF;
}

/* JSON has two halves for what is beyond 16 bits, which YAML does not allow. */
static void add_far_escape(struct text *out, uint32_t c, bool is_json)
{
	if (is_json)
		text_printf(out, "\\u%04x\\u%04x", 0xD800 + ((unsigned)(c - 0x10000) >> 10),
			    0xDC00 + ((unsigned)(c - 0x10000) & 0x3FF));
	else
		text_printf(out, "\\U%08x", (unsigned)c);
}

static void add_escape(struct text *out, uint32_t c, bool is_json)
{
	static const char named[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	if (c == '"' || c == '\\')
		text_printf(out, "\\%c", (char)c);
	else if (c < sizeof(named) && named[c] != '\0')
		text_printf(out, "\\%c", named[c]);
	else if (c > 0xFFFF)
		add_far_escape(out, c, is_json);
	else
		text_printf(out, "\\u%04x", (unsigned)c);
}

static void add_quoted(struct text *out, const char *s, bool is_json)
{
	const char *run = s; /* read but not yet written, because it needs no escape */
	text_add_char(out, '"');
	while (*s != '\0') {
		const char *at = s;
		uint32_t c = text_next(&s);
		if (c != TEXT_BAD && c != '"' && c != '\\' && !must_escape(c))
			continue;
		text_add_n(out, run, (size_t)(at - run));
		run = s;
		if (c == TEXT_BAD)
			text_add(out, "\xEF\xBF\xBD");
		else
			add_escape(out, c, is_json);
	}
	text_add_n(out, run, (size_t)(s - run));
	text_add_char(out, '"');
}

/* What some version of YAML reads as a null, a truth value, or a truth value. */
static bool is_yaml_word(const char *s)
{
	static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
	if (strnlen(s, 6) > 5) /* longer than "false" */
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(s, words[i]) == 0)
			return true;
	return false;
}

/* Numbers in any base, sexagesimals, dates and times; a few harmless strings like 10.0.0.1 are caught too. */
static bool is_yaml_number(const char *s)
{
	return *s >= '0' && *s <= '9' && s[strspn(s, "0123456789abcdefABCDEF_xXoO.:+-tTzZ ")] == '\0';
}

static bool is_plain_text(const char *s)
{
	while (*s != '\0') {
		uint32_t c = text_next(&s);
		if (c == TEXT_BAD || must_escape(c))
			return false;
		if (c == ':' && (*s == ' ' || *s == '\0'))
			return false;
		if (c == ' ' && (*s == '#' || *s == '\0'))
			return false;
	}
	return true;
}

/* Could s stand in YAML without quotes and be read back as this very string? */
static bool is_plain(const char *s)
{
	static const char bad_start[] = " -?:,[]{}#&*!|>'\"%@`<=~+.";
	return *s != '\0' && strchr(bad_start, *s) == NULL && !is_yaml_word(s) && !is_yaml_number(s) &&
	       is_plain_text(s);
}

static void add_string(struct emit *e, const char *s)
{
	if (e->format == EMIT_YAML && is_plain(s))
		text_add(e->out, s);
	else
		add_quoted(e->out, s, e->format != EMIT_YAML);
}

static void json_break(struct emit *e)
{
	if (e->format == EMIT_JSON) {
		text_add_char(e->out, '\n');
		text_pad(e->out, ' ', 2 * (size_t)e->depth);
	}
}

static void json_begin(struct emit *e, const char *key)
{
	if (e->level[e->depth - 1].has_items)
		text_add_char(e->out, ',');
	json_break(e);
	if (key != NULL) {
		add_quoted(e->out, key, true);
		text_add(e->out, e->format == EMIT_JSON ? ": " : ":");
	}
}

static size_t yaml_column(const struct emit *e)
{
	size_t column = 0;
	for (int i = 1; i < e->depth; i++)
		if (e->level[i - 1].is_list || !e->level[i].is_list)
			column += 2;
	return column;
}

static void yaml_begin(struct emit *e, const char *key)
{
	bool is_first = !e->level[e->depth - 1].has_items;
	bool same_line = is_first && e->level[e->depth - 1].after_dash;
	if (is_first && !same_line)
		text_add_char(e->out, '\n');
	if (!same_line)
		text_pad(e->out, ' ', yaml_column(e));
	if (key == NULL) {
		text_add(e->out, "- ");
	} else {
		add_string(e, key);
		text_add_char(e->out, ':');
	}
}

/* Everything that comes before a value. */
static void begin(struct emit *e, const char *key)
{
	if (e->depth == 0) {
		assert(key == NULL);
		return;
	}
	assert(e->level[e->depth - 1].is_list == (key == NULL));
	if (e->format == EMIT_YAML)
		yaml_begin(e, key);
	else
		json_begin(e, key);
	e->level[e->depth - 1].has_items = true;
}

static void scalar_begin(struct emit *e, const char *key)
{
	begin(e, key);
	if (e->format == EMIT_YAML && key != NULL)
		text_add_char(e->out, ' ');
}

static void scalar_end(struct emit *e)
{
	if (e->format == EMIT_YAML || e->depth == 0)
		text_add_char(e->out, '\n');
}

static void add_scalar(struct emit *e, const char *key, const char *words)
{
	scalar_begin(e, key);
	text_add(e->out, words);
	scalar_end(e);
}

static void open_level(struct emit *e, const char *key, bool is_list)
{
	assert(e->depth < MAX_DEPTH);
	begin(e, key);
	if (e->format != EMIT_YAML)
		text_add_char(e->out, is_list ? '[' : '{');
	e->level[e->depth].is_list = is_list;
	e->level[e->depth].has_items = false;
	e->level[e->depth].after_dash = key == NULL;
	e->depth++;
}

void emit_object(struct emit *e, const char *key)
{
	open_level(e, key, false);
}

void emit_list(struct emit *e, const char *key)
{
	open_level(e, key, true);
}

static void yaml_end(struct emit *e)
{
	if (e->level[e->depth].has_items)
		return;
	if (!e->level[e->depth].after_dash)
		text_add_char(e->out, ' ');
	text_add(e->out, e->level[e->depth].is_list ? "[]\n" : "{}\n");
}

static void json_end(struct emit *e)
{
	if (e->level[e->depth].has_items)
		json_break(e);
	text_add_char(e->out, e->level[e->depth].is_list ? ']' : '}');
	if (e->depth == 0)
		text_add_char(e->out, '\n');
}

void emit_end(struct emit *e)
{
	assert(e->depth > 0);
	e->depth--;
	if (e->format == EMIT_YAML)
		yaml_end(e);
	else
		json_end(e);
}

void emit_str(struct emit *e, const char *key, const char *value)
{
	scalar_begin(e, key);
	if (value != NULL)
		add_string(e, value);
	else
		text_add(e->out, "null");
	scalar_end(e);
}

/* A block says by its first line how far it is indented, and keeps no more than the last newline. */
static bool is_block(const char *s)
{
	size_t n = strlen(s);
	if (n < 2 || s[n - 1] != '\n' || s[n - 2] == '\n' || *s == ' ' || *s == '\n')
		return false;
	while (*s != '\0') {
		uint32_t c = text_next(&s);
		if (c == TEXT_BAD || (c != '\n' && must_escape(c)))
			return false;
	}
	return true;
}

void emit_lines(struct emit *e, const char *key, const char *value)
{
	if (e->format != EMIT_YAML || value == NULL || !is_block(value)) {
		emit_str(e, key, value);
		return;
	}
	scalar_begin(e, key);
	text_add(e->out, "|\n");
	while (*value != '\0') {
		size_t n = strcspn(value, "\n");
		if (n > 0)
			text_pad(e->out, ' ', yaml_column(e) + 2);
		text_add_n(e->out, value, n + 1);
		value += n + 1;
	}
}

void emit_strf(struct emit *e, const char *key, const char *fmt, ...)
{
	struct text value = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vprintf(&value, fmt, ap);
	va_end(ap);
	emit_str(e, key, text_str(&value));
	text_free(&value);
}

void emit_int(struct emit *e, const char *key, int64_t value)
{
	char buf[32];
	snprintf(buf, sizeof(buf), "%lld", (long long)value);
	add_scalar(e, key, buf);
}

void emit_double(struct emit *e, const char *key, double value)
{
	if (!isfinite(value)) {
		add_scalar(e, key, "null");
		return;
	}
	/* Fifteen digits lose nothing that fewer would keep, except among the subnormal. */
	char buf[32];
	for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	/* YAML 1.1 wants a point in every number with an exponent. */
	char full[sizeof(buf) + 2];
	const char *exponent = strchr(buf, 'e');
	int before = exponent != NULL ? (int)(exponent - buf) : (int)strlen(buf);
	bool add_point = exponent != NULL && strchr(buf, '.') == NULL;
	snprintf(full, sizeof(full), "%.*s%s%s", before, buf, add_point ? ".0" : "", buf + before);
	add_scalar(e, key, full);
}

void emit_bool(struct emit *e, const char *key, bool value)
{
	add_scalar(e, key, value ? "true" : "false");
}

void emit_plain(struct emit *e, const char *key, const char *words)
{
	add_scalar(e, key, words);
}

void emit_document(struct emit *e)
{
	assert(e->depth == 0);
	if (e->format == EMIT_YAML)
		text_add(e->out, "---\n");
}
