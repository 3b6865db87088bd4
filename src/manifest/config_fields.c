/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/config_fields.h"

#include <stdio.h>

struct reader config_reader(const struct object_source *src, const char *subject)
{
	struct reader r = {.file = src->name, .notes = src->notes};

	snprintf(r.subject, sizeof(r.subject), "%s", subject);
	return r;
}

const char *scalar_text(const struct tree *t)
{
	return tree_is(t, TREE_STRING) || tree_is(t, TREE_NUMBER) || tree_is(t, TREE_BOOL) ? t->text : NULL;
}

enum err_code get_scalar(const struct reader *r, const struct at *up, const char *key, const char **ret, struct err *e)
{
	struct at a = at_field(up, key);

	TRY(at_want(r, up, TREE_MAP, e));
	if (a.t && !scalar_text(a.t))
		return at_expected(r, &a, e, "a string");
	if (a.t)
		*ret = scalar_text(a.t);
	return ERR_OK;
}

enum err_code get_flag(const struct reader *r, const struct at *up, const char *key, bool *ret, struct err *e)
{
	static const char *const words[] = {"n", "N",	"no",  "No",  "NO", "off", "Off", "OFF", "y",
					    "Y", "yes", "Yes", "YES", "on", "On",  "ON",  NULL};
	enum { FIRST_TRUE = 8 };
	struct at a = at_field(up, key);
	int word = tree_is(a.t, TREE_STRING) ? words_find(words, a.t->text) : -1;

	if (word < 0)
		return get_bool(r, up, key, ret, e);
	*ret = word >= FIRST_TRUE;
	return ERR_OK;
}

enum err_code at_word_expected(const struct reader *r, const struct at *a, const char *const *words, struct err *e)
{
	const char *text = scalar_text(a->t), *near_word = text ? nearest_word(text, words) : NULL;
	struct text list = {0};
	enum err_code rc;

	for (int i = 0; words[i]; i++)
		text_printf(&list, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	if (near_word)
		rc = at_fail(r, a, e, "expected %s, found \"%.60s\"; did you mean \"%s\"?", text_str(&list), text,
			     near_word);
	else
		rc = at_expected(r, a, e, text_str(&list));
	text_free(&list);
	return rc;
}

enum err_code get_word(const struct reader *r, const struct at *up, const char *key, const char *const *words, int *ret,
		       struct err *e)
{
	struct at a = at_field(up, key);
	const char *text = scalar_text(a.t);
	int word = text ? words_find(words, text) : -1;

	TRY(at_want(r, up, TREE_MAP, e));
	if (!a.t)
		return ERR_OK;
	if (word < 0)
		return at_word_expected(r, &a, words, e);
	*ret = word;
	return ERR_OK;
}

enum err_code get_list(const struct reader *r, const struct at *up, const char *key, struct at *ret, struct err *e)
{
	*ret = at_field(up, key);
	TRY(at_want(r, up, TREE_MAP, e));
	return at_want(r, ret, TREE_LIST, e);
}

enum err_code get_texts(const struct reader *r, const struct at *up, const char *key, struct arena *a,
			const char *const **ret, uint32_t *ret_n, struct err *e)
{
	struct at list;
	const char **texts;

	TRY(get_list(r, up, key, &list, e));
	if (!list.t)
		return ERR_OK;
	texts = arena_n(a, list.t->n + 1, const char *);
	for (uint32_t i = 0; i < list.t->n; i++) {
		struct at item = at_item(&list, i);

		if (!tree_is(item.t, TREE_STRING) || !item.t->n)
			return at_expected(r, &item, e, "a string that is not empty");
		texts[i] = arena_strndup(a, item.t->text, item.t->n);
	}
	*ret = texts;
	*ret_n = list.t->n;
	return ERR_OK;
}

struct at at_nth_field(const struct at *map, uint32_t i)
{
	const struct tree_field *f = &map->t->fields[i];

	return (struct at){.up = map, .t = f->value, .key = f->key};
}

void at_note_unknown(const struct reader *r, const struct at *map, const char *const *known)
{
	for (uint32_t i = 0; tree_is(map->t, TREE_MAP) && i < map->t->n; i++) {
		struct at a = at_nth_field(map, i);
		const char *near_word = words_find(known, a.key) < 0 ? nearest_word(a.key, known) : NULL;

		if (words_find(known, a.key) < 0)
			at_note(r, &a, "unknown field%s%s%s", near_word ? "; did you mean \"" : "",
				near_word ? near_word : "", near_word ? "\"?" : "");
	}
}

void at_note_slips(const struct reader *r, const struct at *map, const char *const *known)
{
	for (uint32_t i = 0; tree_is(map->t, TREE_MAP) && i < map->t->n; i++) {
		struct at a = at_nth_field(map, i);
		const char *near_word = words_find(known, a.key) < 0 ? nearest_word(a.key, known) : NULL;

		if (near_word)
			at_note(r, &a, "unknown field; did you mean \"%s\"?", near_word);
	}
}
