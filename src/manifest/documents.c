/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/documents.h"

#include "manifest/collect.h"

struct document {
	name_id key;	     /* kind, namespace and name */
	struct arena *arena; /* NULL: it is gone */
	const char *file;
	struct tree_doc doc; /* in the arena */
};

typedef ARRAY(struct document) document_list;

struct documents {
	struct names *names;
	document_list v; /* with gaps, never more of them than documents */
	struct map at;	 /* by key */
	uint32_t n;
};

struct documents *documents_new(void)
{
	struct documents *d = mem_alloc(sizeof(*d));

	d->names = names_new();
	return d;
}

static void free_list(document_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		arena_free(l->v[i].arena);
	array_free(l);
}

void documents_free(struct documents *d)
{
	if (!d)
		return;
	free_list(&d->v);
	map_free(&d->at);
	names_free(d->names);
	mem_free(d);
}

uint32_t documents_count(const struct documents *d)
{
	return d->n;
}

/* ---- who is who ---- */

/* Lengths in front, so that no name can pass for another. */
static name_id hold_key(struct documents *d, const char *kind, const char *ns, const char *name)
{
	struct text t = {0};
	name_id id;

	ns = *ns ? ns : "default";
	text_printf(&t, "%zu %s %zu %s %s", strlen(kind), kind, strlen(ns), ns, name);
	id = names_hold(d->names, text_str(&t), t.n);
	text_free(&t);
	return id;
}

static const char *text_at(const struct tree *t, const char *path)
{
	const struct tree *f = tree_path(t, path);

	return f && (f->kind == TREE_STRING || f->kind == TREE_NUMBER || f->kind == TREE_BOOL) ? f->text : "";
}

static const char *kind_of(const struct tree_doc *doc)
{
	const char *kind = text_at(doc->root, "kind");

	if (!*kind)
		kind = doc->list_kind;
	if (*kind)
		return kind;
	return tree_get(doc->root, "partitions") ? "partitions" : "tiers";
}

/* There is one of each of these, whatever its name. */
static bool is_single(const char *kind)
{
	return str_eq(kind, "partitions") || str_eq(kind, "tiers") || str_eq(kind, "CedeConfiguration") ||
	       str_eq(kind, "KubeSchedulerConfiguration");
}

static name_id key_of(struct documents *d, const struct tree_doc *doc)
{
	const char *kind = kind_of(doc);

	if (is_single(kind))
		return hold_key(d, kind, "", "");
	return hold_key(d, kind, text_at(doc->root, "metadata.namespace"), text_at(doc->root, "metadata.name"));
}

/* ---- changes ---- */

static uint32_t skipped(const struct manifest *m)
{
	uint32_t n = m->other_unknown.count;

	for (uint32_t i = 0; i < m->unknown.n; i++)
		n += m->unknown.v[i].count;
	return n;
}

static const char *copy(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

static void keep(struct documents *d, const char *name, const struct tree_doc *doc, document_list *to)
{
	struct arena *a = arena_new(1024);
	struct document x = {.arena = a,
			     .file = copy(a, name),
			     .doc = {tree_copy(a, doc->root), copy(a, doc->list_kind), copy(a, doc->list_api)}};

	x.key = key_of(d, &x.doc);
	array_push(to, x);
}

/* m is there to refuse what is wrong, and is thrown away. */
static enum err_code read_all(struct documents *d, struct manifest *m, struct tree_reader *r, document_list *to,
			      struct err *e)
{
	struct tree_doc doc;

	for (;;) {
		uint32_t before = skipped(m);

		arena_reset(m->document);
		TRY(tree_next(r, m->document, &doc, e));
		if (!doc.root)
			break;
		TRY(manifest_take(m, &doc, e));
		if (skipped(m) == before)
			keep(d, m->file, &doc, to);
	}
	if (!m->n_documents && !tree_reader_had_list(r))
		return err_fail(e, ERR_INPUT, "%s:1:1: expected at least one object, found an empty text", m->file);
	return ERR_OK;
}

static void put(struct documents *d, struct document *x)
{
	uint32_t i = map_get(&d->at, x->key);

	if (i == MAP_NONE) {
		map_put(&d->at, x->key, d->v.n);
		array_push(&d->v, *x);
		d->n++;
		return;
	}
	arena_free(d->v.v[i].arena);
	names_drop(d->names, x->key); /* the one before holds it */
	d->v.v[i] = *x;
}

static void put_all(struct documents *d, document_list *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		put(d, &from->v[i]);
	array_free(from);
}

static void drop_all(struct documents *d, document_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		names_drop(d->names, l->v[i].key);
	free_list(l);
}

enum err_code documents_put(struct documents *d, const char *name, const char *data, size_t len, struct err *e)
{
	struct vocab *vocab = vocab_new();
	struct manifest *m = manifest_new(vocab);
	struct tree_reader *r;
	document_list list = {0};
	enum err_code rc;

	m->file = copy(m->strings, name);
	r = tree_reader_new(m->file, data, len);
	rc = read_all(d, m, r, &list, e);
	if (rc)
		drop_all(d, &list);
	else
		put_all(d, &list);
	tree_reader_free(r);
	manifest_free(m);
	vocab_free(vocab);
	return rc;
}

/* Gaps are closed when there are as many of them as documents. */
static void close_gaps(struct documents *d)
{
	uint32_t to = 0;

	if (d->v.n < 2 * d->n + 16)
		return;
	for (uint32_t i = 0; i < d->v.n; i++) {
		if (!d->v.v[i].arena)
			continue;
		map_put(&d->at, d->v.v[i].key, to);
		d->v.v[to++] = d->v.v[i];
	}
	d->v.n = to;
}

bool documents_remove(struct documents *d, const char *kind, const char *ns, const char *name)
{
	name_id key = is_single(kind) ? hold_key(d, kind, "", "") : hold_key(d, kind, ns, name);
	uint32_t i = map_get(&d->at, key);

	if (i != MAP_NONE) {
		arena_free(d->v.v[i].arena);
		d->v.v[i].arena = NULL;
		names_drop(d->names, key); /* of the document */
		map_del(&d->at, key);
		d->n--;
		close_gaps(d);
	}
	names_drop(d->names, key);
	return i != MAP_NONE;
}

enum err_code documents_read(const struct documents *d, struct manifest *m, struct err *e)
{
	m->file = "";
	for (uint32_t i = 0; i < d->v.n; i++) {
		const struct document *x = &d->v.v[i];

		if (!x->arena)
			continue;
		if (!str_eq(m->file, x->file))
			m->file = copy(m->strings, x->file);
		arena_reset(m->document);
		TRY(manifest_take(m, &x->doc, e));
	}
	return ERR_OK;
}
