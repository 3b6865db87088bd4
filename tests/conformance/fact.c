/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "conform.h"

void fact_differs(struct fact *f, const char *what, const char *expected, const char *got)
{
	text_printf(&f->diff, "    %s: expected %s, got %s\n", what, expected, got);
	text_printf(&f->instead, "%s%s: %s", f->instead.n ? "; " : "", what, got);
}

void fact_skip(struct fact *f, const char *why)
{
	f->skip = why;
}

const struct tree *expect_in(struct fact *f, const struct tree *expected, const char *name)
{
	if (f->n_looked_at < EXPECT_MAX)
		f->looked_at[f->n_looked_at++] = name;
	return tree_get(expected, name);
}

const char *tree_text(const struct tree *t, const char *otherwise)
{
	bool is_text = tree_is(t, TREE_STRING) || tree_is(t, TREE_NUMBER) || tree_is(t, TREE_BOOL);

	return is_text ? t->text : otherwise;
}

bool tree_truth(const struct tree *t)
{
	return tree_is(t, TREE_BOOL) && t->truth;
}

int64_t tree_int(const struct tree *t, int64_t otherwise)
{
	const char *s = tree_text(t, "");
	char *end;
	long long v;

	errno = 0;
	v = strtoll(s, &end, 10);
	return end == s || *end || errno ? otherwise : v;
}

bool tree_has(const struct tree *list, const char *text)
{
	for (uint32_t i = 0; i < tree_count(list); i++)
		if (str_eq(tree_text(list->items[i], ""), text))
			return true;
	return false;
}

const struct tree *tree_of(struct fact *f, const char *yaml)
{
	struct tree_reader *r = tree_reader_new("yaml", yaml, strlen(yaml));
	struct tree_doc doc = {0};
	struct err e;

	if (tree_next(r, f->arena, &doc, &e))
		fact_differs(f, "yaml", "YAML", e.msg);
	tree_reader_free(r);
	return doc.root;
}

void same_text(struct fact *f, const char *what, const struct tree *expected, const char *got)
{
	if (!expected)
		return;
	if (!str_eq(tree_text(expected, "nothing"), got))
		fact_differs(f, what, tree_text(expected, "nothing"), got);
}

void same_int(struct fact *f, const char *what, const struct tree *expected, int64_t got)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, got);
	same_text(f, what, expected, text);
}

void same_bool(struct fact *f, const char *what, const struct tree *expected, bool got)
{
	same_text(f, what, expected, got ? "true" : "false");
}
