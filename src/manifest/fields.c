/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "units/timestamp.h"

struct at at_root(const struct tree *t)
{
	return (struct at){.t = t};
}

struct at at_item(const struct at *up, uint32_t i)
{
	return (struct at){.up = up, .t = up->t->items[i], .index = i};
}

static void path_text(const struct at *a, struct text *out)
{
	if (!a->up)
		return;
	path_text(a->up, out);
	if (!a->key)
		text_printf(out, "[%u]", a->index);
	else
		text_printf(out, "%s%s", out->n ? "." : "", a->key);
}

/* An absent field stands where its parent does. */
static const struct tree *position(const struct at *a)
{
	while (a && !a->t)
		a = a->up;
	return a ? a->t : NULL;
}

static void where_text(const struct reader *r, const struct at *a, struct text *out)
{
	const struct tree *t = position(a);
	struct text path = {0};

	text_printf(out, "%s:%u:%u: ", r->file, t ? t->line : 1, t ? t->col : 1);
	if (r->subject[0])
		text_printf(out, "%s: ", r->subject);
	path_text(a, &path);
	if (path.n)
		text_printf(out, "%s: ", text_str(&path));
	text_free(&path);
}

void at_say(const struct reader *r, const struct at *a, struct err *e, const char *fmt, ...)
{
	struct text t = {0};
	va_list ap;

	where_text(r, a, &t);
	va_start(ap, fmt);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	err_set(e, ERR_INPUT, "%s", text_str(&t));
	text_free(&t);
}

void at_note(const struct reader *r, const struct at *a, const char *fmt, ...)
{
	va_list ap;

	if (!r->notes)
		return;
	where_text(r, a, r->notes);
	va_start(ap, fmt);
	text_vprintf(r->notes, fmt, ap);
	va_end(ap);
	text_add_char(r->notes, '\n');
}

enum err_code at_expected(const struct reader *r, const struct at *a, struct err *e, const char *what)
{
	if (!a->t)
		return at_fail(r, a, e, "expected %s, found nothing", what);
	switch (a->t->kind) {
	case TREE_NUMBER:
		return at_fail(r, a, e, "expected %s, found %.60s%s", what, a->t->text, a->t->n > 60 ? "…" : "");
	case TREE_STRING:
		return at_fail(r, a, e, "expected %s, found \"%.60s\"%s", what, a->t->text, a->t->n > 60 ? "…" : "");
	case TREE_BOOL:
		return at_fail(r, a, e, "expected %s, found %s", what, a->t->truth ? "true" : "false");
	default:
		return at_fail(r, a, e, "expected %s, found %s", what, tree_kind_text(a->t->kind));
	}
}

enum err_code at_want(const struct reader *r, const struct at *a, enum tree_kind kind, struct err *e)
{
	if (!a->t || a->t->kind == kind)
		return ERR_OK;
	return at_expected(r, a, e, tree_kind_text(kind));
}

enum err_code get_text(const struct reader *r, const struct at *up, const char *key, const char **ret, struct err *e)
{
	struct at a = at_field(up, key);

	TRY(at_want(r, up, TREE_MAP, e));
	TRY(at_want(r, &a, TREE_STRING, e));
	if (a.t)
		*ret = a.t->text;
	return ERR_OK;
}

enum err_code get_name(const struct reader *r, const struct at *up, const char *key, name_id *ret, struct err *e)
{
	const char *s = NULL;

	TRY(get_text(r, up, key, &s, e));
	if (s)
		*ret = names_hold_str(r->names, s);
	return ERR_OK;
}

enum err_code get_bool(const struct reader *r, const struct at *up, const char *key, bool *ret, struct err *e)
{
	struct at a = at_field(up, key);

	TRY(at_want(r, up, TREE_MAP, e));
	TRY(at_want(r, &a, TREE_BOOL, e));
	if (a.t)
		*ret = a.t->truth;
	return ERR_OK;
}

enum err_code get_int(const struct reader *r, const struct at *up, const char *key, int64_t min, int64_t max,
		      int64_t *ret, struct err *e)
{
	struct at a = at_field(up, key);
	char *end;
	long long v;

	TRY(at_want(r, up, TREE_MAP, e));
	if (!a.t)
		return ERR_OK;
	if (a.t->kind != TREE_NUMBER)
		return at_expected(r, &a, e, "a whole number");
	errno = 0;
	v = strtoll(a.t->text, &end, 10);
	if (*end || end == a.t->text)
		return at_expected(r, &a, e, "a whole number");
	if (errno || v < min || v > max)
		return at_fail(r, &a, e, "expected a number from %" PRId64 " to %" PRId64 ", found %.40s", min, max,
			       a.t->text);
	*ret = v;
	return ERR_OK;
}

enum err_code get_int32(const struct reader *r, const struct at *up, const char *key, int32_t *ret, struct err *e)
{
	int64_t v = *ret;

	TRY(get_int(r, up, key, INT32_MIN, INT32_MAX, &v, e));
	*ret = (int32_t)v;
	return ERR_OK;
}

enum err_code get_double(const struct reader *r, const struct at *up, const char *key, double *ret, struct err *e)
{
	struct at a = at_field(up, key);
	char *end;
	double v;

	TRY(at_want(r, up, TREE_MAP, e));
	if (!a.t)
		return ERR_OK;
	if (a.t->kind != TREE_NUMBER)
		return at_expected(r, &a, e, "a number");
	v = strtod(a.t->text, &end);
	if (*end || !isfinite(v))
		return at_expected(r, &a, e, "a number");
	*ret = v;
	return ERR_OK;
}

enum err_code get_time(const struct reader *r, const struct at *up, const char *key, int64_t *ret_ns, struct err *e)
{
	struct at a = at_field(up, key);
	struct err why;

	TRY(at_want(r, up, TREE_MAP, e));
	TRY(at_want(r, &a, TREE_STRING, e));
	if (a.t && str_eq(a.t->text, "0001-01-01T00:00:00Z"))
		return ERR_OK; /* how Go programs write "never" */
	if (a.t && timestamp_parse(a.t->text, a.t->n, ret_ns, &why))
		return at_expected(r, &a, e, "a time such as 2026-11-15T12:00:00Z");
	return ERR_OK;
}

void get_time_or_note(const struct reader *r, const struct at *up, const char *key, int64_t *ret_ns)
{
	struct at a = at_field(up, key);
	struct err why;

	if (get_time(r, up, key, ret_ns, &why))
		at_note(r, &a, "not a time such as 2026-11-15T12:00:00Z, taken as not set");
}

enum err_code at_quantity(const struct reader *r, const struct at *a, struct quantity *ret, struct err *e)
{
	struct err why;

	if (!a->t || (a->t->kind != TREE_STRING && a->t->kind != TREE_NUMBER))
		return at_expected(r, a, e, "a quantity such as 500m or 16Gi");
	if (quantity_parse(a->t->text, a->t->n, ret, &why))
		return at_expected(r, a, e, "a quantity such as 500m or 16Gi");
	return ERR_OK;
}

static enum err_code resource_at(const struct reader *r, const struct at *a, struct res_vec *ret, struct err *e)
{
	size_t len = strlen(a->key);
	struct quantity q = {0};
	int64_t amount;
	struct err why;
	res_id type;

	if (res_name_check(a->key, len, &why))
		return at_fail(r, a, e, "not a resource name: %s", why.msg);
	TRY(at_quantity(r, a, &q, e));
	if (!res_name_is_counted(a->key, len))
		return ERR_OK;
	if (q.nano < 0)
		return at_expected(r, a, e, "a quantity that is not negative");
	if (res_types_add(vocab_res(r->vocab), a->key, len, &type, &why)) {
		at_note(r, a, "%s; it is not counted", why.msg);
		return ERR_OK;
	}
	if (res_amount_of(type, &q, &amount, &why))
		return at_expected(r, a, e,
				   type == RES_CPU ? "a quantity below 2^63 thousandths" : "a quantity below 2^63");
	res_put(ret, type, amount);
	return ERR_OK;
}

enum err_code at_resources(const struct reader *r, const struct at *a, struct res_vec *ret, struct err *e)
{
	TRY(at_want(r, a, TREE_MAP, e));
	for (uint32_t i = 0; a->t && i < a->t->n; i++) {
		struct at f = {.up = a, .t = a->t->fields[i].value, .key = a->t->fields[i].key};

		TRY(resource_at(r, &f, ret, e));
	}
	return ERR_OK;
}

/* Every object has one and few need it: put together without printf. */
static void set_subject(struct reader *r, const char *const *words, size_t n)
{
	char *at = r->subject, *end = r->subject + sizeof(r->subject) - 1;

	for (size_t i = 0; i < n; i++) {
		size_t len = strnlen(words[i], (size_t)(end - at));

		memcpy(at, words[i], len);
		at += len;
	}
	*at = 0;
}

enum err_code get_identity(struct reader *r, const struct at *root, const char *kind, const char *default_ns,
			   const char **ret_ns, const char **ret_name, struct err *e)
{
	struct at meta = at_field(root, "metadata");
	const char *name = NULL, *ns = NULL;

	set_subject(r, &kind, 1);
	TRY(at_want(r, root, TREE_MAP, e));
	TRY(at_want(r, &meta, TREE_MAP, e));
	TRY(get_text(r, &meta, "name", &name, e));
	if (default_ns)
		TRY(get_text(r, &meta, "namespace", &ns, e));
	if ((!name || !*name) && !r->is_lenient) {
		struct at n = at_field(&meta, "name");

		return at_fail(r, &n, e, "expected a name, found nothing");
	}
	*ret_name = name ? name : "";
	*ret_ns = ns && *ns ? ns : r->is_lenient || !default_ns ? "" : default_ns;
	const char *const words[] = {kind, " ", *ret_ns, **ret_ns ? "/" : "", *ret_name};

	set_subject(r, words, sizeof(words) / sizeof(*words));
	return ERR_OK;
}

enum err_code get_labels(const struct reader *r, const struct at *metadata, const char *key, struct name_bag *bag,
			 struct label **ret, uint32_t *ret_n, struct err *e)
{
	struct at a = at_field(metadata, key);
	uint32_t n = 0;

	*ret = NULL;
	*ret_n = 0;
	TRY(at_want(r, &a, TREE_MAP, e));
	if (!a.t || !a.t->n)
		return ERR_OK;
	*ret = arena_n(r->scratch, a.t->n, struct label);
	for (uint32_t i = 0; i < a.t->n; i++) {
		const struct tree_field *f = &a.t->fields[i];
		struct at v = {.up = &a, .t = at_present(f->value), .key = f->key};

		TRY(at_want(r, &v, TREE_STRING, e));
		(*ret)[n++] = (struct label){name_bag_add(bag, f->key, f->key_len),
					     v.t ? name_bag_add(bag, v.t->text, v.t->n) : NAME_NONE};
	}
	*ret_n = n;
	return ERR_OK;
}

const char *map_text(const struct tree *map, const char *key)
{
	const struct tree *t = tree_get(map, key);

	return tree_is(t, TREE_STRING) ? t->text : NULL;
}

enum { SUGGESTED_MAX = 200 }; /* bytes; longer words are near to nothing */

static size_t edit_distance(const char *a, const char *b)
{
	size_t row[SUGGESTED_MAX + 1], na = strlen(a), nb = strlen(b);

	if (na > SUGGESTED_MAX || nb > SUGGESTED_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[nb];
}

const char *nearest_word(const char *word, const char *const *known)
{
	const char *best = NULL;
	size_t best_distance = strlen(word) / 3 + 1;

	for (; *known; known++) {
		size_t d = strcasecmp(word, *known) ? edit_distance(word, *known) : 0;

		if (d < best_distance || (d == best_distance && !best)) {
			best = *known;
			best_distance = d;
		}
	}
	return best;
}

static void known_words(const char *const *known, struct text *out)
{
	for (; *known; known++)
		text_printf(out, "%s%s", out->n ? ", " : "", *known);
}

int words_find(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (str_eq(words[i], word))
			return i;
	return -1;
}

static enum err_code unknown_field(const struct reader *r, const struct at *up, const struct tree_field *f,
				   const char *const *known, struct err *e)
{
	struct tree here = {.kind = TREE_NULL, .line = f->line, .col = f->col};
	struct at field = {.up = up, .t = &here, .key = f->key};
	const char *near_word = nearest_word(f->key, known);
	struct text words = {0};

	if (near_word)
		return at_fail(r, &field, e, "unknown field; did you mean \"%s\"?", near_word);
	known_words(known, &words);
	at_fail(r, &field, e, "unknown field; known here: %s", text_str(&words));
	text_free(&words);
	return ERR_INPUT;
}

enum err_code at_only(const struct reader *r, const struct at *a, const char *const *known, struct err *e)
{
	TRY(at_want(r, a, TREE_MAP, e));
	for (uint32_t i = 0; a->t && i < a->t->n; i++)
		if (words_find(known, a->t->fields[i].key) < 0)
			return unknown_field(r, a, &a->t->fields[i], known, e);
	return ERR_OK;
}
