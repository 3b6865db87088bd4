/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include <errno.h>
#include <stdio.h>

#include "conform.h"

enum err_code file_read(const char *path, char **ret, size_t *ret_len, struct err *e)
{
	FILE *in = fopen(path, "rb");
	struct text all = {0};
	char buffer[65536];
	size_t n;

	if (!in)
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		text_add_n(&all, buffer, n);
	if (ferror(in)) {
		fclose(in);
		text_free(&all);
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	}
	fclose(in);
	text_add_n(&all, "", 0);
	*ret = all.s;
	*ret_len = all.n;
	return ERR_OK;
}

static enum err_code take(struct known *k, const char *path, const struct tree *t, struct err *e)
{
	struct known_difference d = {.id = tree_text(tree_get(t, "id"), ""),
				     .requirement = tree_text(tree_get(t, "requirement"), ""),
				     .because = tree_text(tree_get(t, "because"), ""),
				     .instead = tree_text(tree_get(t, "instead"), "")};

	if (!*d.id || !*d.requirement || !*d.because || !*d.instead)
		return err_fail(e, ERR_INPUT, "%s:%u:%u: expected id, requirement, because and instead", path, t->line,
				t->col);
	if (known_find(k, d.id))
		return err_fail(e, ERR_INPUT, "%s:%u:%u: %s is listed twice", path, t->line, t->col, d.id);
	array_push(&k->v, d);
	return ERR_OK;
}

enum err_code known_read(struct known *k, const char *path, struct err *e)
{
	struct tree_reader *r;
	struct tree_doc doc = {0};
	enum err_code rc;
	char *data;
	size_t len;

	rc = file_read(path, &data, &len, e);
	if (rc)
		return rc;
	k->arena = arena_new(4096);
	r = tree_reader_new(path, data, len);
	rc = tree_next(r, k->arena, &doc, e);
	for (uint32_t i = 0; !rc && i < tree_count(doc.root); i++)
		rc = take(k, path, doc.root->items[i], e);
	tree_reader_free(r);
	mem_free(data);
	return rc;
}

void known_free(struct known *k)
{
	array_free(&k->v);
	arena_free(k->arena);
}

bool known_is_so(const struct known_difference *d, const char *instead)
{
	size_t n = strlen(d->instead), dots = strlen(" ...");

	if (n > dots && str_eq(d->instead + n - dots, " ..."))
		return !strncmp(d->instead, instead, n - dots);
	return str_eq(d->instead, instead);
}

struct known_difference *known_find(const struct known *k, const char *id)
{
	for (uint32_t i = 0; i < k->v.n; i++)
		if (str_eq(k->v.v[i].id, id))
			return &k->v.v[i];
	return NULL;
}
