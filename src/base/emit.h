/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - writes one tree of objects, lists and values as JSON or as YAML.
 *
 *	struct emit e; emit_init(&e, &text, EMIT_YAML);
 *	emit_object(&e, NULL);
 *	emit_str(&e, "kind", "Plan");
 *	emit_list(&e, "decisions"); emit_object(&e, NULL); ... emit_end(&e); emit_end(&e);
 *	emit_end(&e);
 *
 * key is NULL for list items and for the top value. JSON is pretty-printed with two spaces, or on one line
 * (EMIT_JSON_LINE). YAML is block style, lists at the column of their key; strings that YAML 1.1 or 1.2 would read as
 * something else (true, 12, "", ~, "a: b", leading or trailing blanks, control characters) are double-quoted. Invalid
 * UTF-8 becomes U+FFFD in both. Empty objects and lists are {} and []. Every top value ends with a newline. Asserts on
 * unbalanced use; depth at most 64. Values and keys are borrowed for the call only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum emit_format { EMIT_JSON, EMIT_JSON_LINE, EMIT_YAML };

struct emit {
	struct text *out;
	enum emit_format format;
	int depth;
	struct {
		bool is_list, has_items, after_dash;
	} level[64];
};

void emit_init(struct emit *e, struct text *out, enum emit_format format);
void emit_object(struct emit *e, const char *key);
void emit_list(struct emit *e, const char *key);
void emit_end(struct emit *e);					   /* of the innermost object or list */
void emit_str(struct emit *e, const char *key, const char *value); /* NULL writes null */
/* The same, but in YAML as a block of lines where the text is lines of plain characters and ends with one newline. */
void emit_lines(struct emit *e, const char *key, const char *value);
void emit_strf(struct emit *e, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void emit_int(struct emit *e, const char *key, int64_t value);
/* The shortest text that reads back the same; NaN and the infinities are null. */
void emit_double(struct emit *e, const char *key, double value);
void emit_bool(struct emit *e, const char *key, bool value);
/* A number or word as it was written: whoever calls knows that it is one in this format. */
void emit_plain(struct emit *e, const char *key, const char *words);
void emit_document(struct emit *e); /* YAML: "---" before the next top value; JSON: nothing */
