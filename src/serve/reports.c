/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/reports.h"

#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "manifest/fields.h"
#include "manifest/tree.h"

#define MAX_PAGE ((size_t)64 << 20)
#define DATA "id=\"data\">"

struct reports {
	ARRAY(struct report_entry) all;
};

struct reports *reports_new(void)
{
	return mem_alloc(sizeof(struct reports));
}

void reports_free(struct reports *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->all.n; i++) {
		mem_free(r->all.v[i].title);
		mem_free(r->all.v[i].kind);
		mem_free(r->all.v[i].file);
		text_free(&r->all.v[i].json);
	}
	array_free(&r->all);
	mem_free(r);
}

uint32_t reports_count(const struct reports *r)
{
	return r ? r->all.n : 0;
}

const struct report_entry *reports_get(const struct reports *r, uint32_t i)
{
	return &r->all.v[i];
}

static const char *string_of(const struct tree *t, const char *key)
{
	const struct tree *value = tree_get(t, key);

	return tree_is(value, TREE_STRING) ? value->text : "";
}

static bool is_kind(const char *s)
{
	return str_eq(s, "Simulation") || str_eq(s, "Comparison") || str_eq(s, "Advice");
}

enum err_code reports_add(struct reports *r, const char *name, const char *file, struct text *json, struct err *e)
{
	struct arena *a = arena_new(1 << 16);
	struct report_entry x = {0};
	const struct tree *t;
	enum err_code rc = tree_parse_json(name, text_str(json), json->n, a, &t, e);

	if (!rc && !is_kind(string_of(t, "kind")))
		rc = err_fail(e, ERR_INPUT, "%s: kind: expected Simulation, Comparison or Advice, found '%s'", name,
			      string_of(t, "kind"));
	if (!rc) {
		x.title = mem_strdup(string_of(t, "title"));
		x.kind = mem_strdup(string_of(t, "kind"));
		x.file = mem_strdup(file);
		x.json = *json;
		*json = (struct text){0};
		array_push(&r->all, x);
	}
	arena_free(a);
	return rc;
}

static enum err_code read_page(const char *path, struct text *ret, struct err *e)
{
	FILE *f = fopen(path, "re");
	char buf[65536];
	bool is_broken;
	size_t n;

	if (!f)
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	while (ret->n <= MAX_PAGE && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		text_add_n(ret, buf, n);
	is_broken = ferror(f);
	fclose(f);
	if (is_broken)
		return err_fail(e, ERR_IO, "%s: it could not be read", path);
	return ret->n <= MAX_PAGE ? ERR_OK : err_fail(e, ERR_LIMIT, "%s: longer than a report can be", path);
}

enum err_code reports_add_page(struct reports *r, const char *path, struct err *e)
{
	struct text page = {0}, json = {0};
	const char *begin, *end = NULL, *slash = strrchr(path, '/');
	enum err_code rc = read_page(path, &page, e);

	if (!rc) {
		begin = strstr(text_str(&page), DATA);
		begin = begin ? begin + strlen(DATA) : NULL;
		end = begin ? strstr(begin, "</script>") : NULL;
		if (end)
			text_add_n(&json, begin, (size_t)(end - begin));
		else
			rc = err_fail(e, ERR_INPUT, "%s: expected a page that cede wrote with --report", path);
	}
	if (!rc)
		rc = reports_add(r, path, slash ? slash + 1 : path, &json, e);
	text_free(&json);
	text_free(&page);
	return rc;
}
