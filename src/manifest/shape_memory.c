/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/shape_memory.h"

#include "manifest/pod_spec.h"
#include "model/shape.h"

enum { BYTES_MAX = 1 << 22 }; /* what would take more is forgotten, and remembered anew from there on */

struct word {
	const char *s;
	uint32_t n;
};
#define WORD(s)                    \
	{                          \
		(s), sizeof(s) - 1 \
	}

/*
 * All that pod_spec, pod_req and pod_amounts read. What is not here must not make a difference to them: names of
 * volumes, for one, are new in every pod. Whether claims are among the volumes, and whether a resize cannot be, is told
 * apart. Whether the pod has a node makes a difference only where something is noted or refused.
 */
static const struct word spec_words[] = {
	WORD("nodeSelector"),
	WORD("affinity"),
	WORD("tolerations"),
	WORD("topologySpreadConstraints"),
	WORD("hostNetwork"),
	WORD("schedulingGates"),
	WORD("schedulerName"),
	WORD("preemptionPolicy"),
	WORD("overhead"),
	WORD("resources"),
	{0},
};
static const struct word container_words[] = {WORD("name"),	 WORD("image"),		WORD("ports"),
					      WORD("resources"), WORD("restartPolicy"), {0}};
static const struct word status_words[] = {WORD("allocatedResources"), WORD("resources"), {0}};
static const struct word container_status_words[] = {WORD("name"), WORD("allocatedResources"), WORD("resources"), {0}};
static const struct word containers_words[] = {WORD("initContainers"), WORD("containers"), {0}};
static const struct word statuses_words[] = {WORD("initContainerStatuses"), WORD("containerStatuses"), {0}};

static bool is_among(const struct word *words, const struct tree_field *f)
{
	for (; words->s; words++)
		if (words->n == f->key_len && !memcmp(words->s, f->key, words->n))
			return true;
	return false;
}

/* ---- bytes ---- */

enum { HEAD = 1 + sizeof(uint32_t) };

/* Every value of every pod: where there is room, as there nearly always is, it is written there. */
static inline void put(struct text *out, enum tree_kind kind, uint32_t n, const char *s)
{
	char head[HEAD] = {(char)kind};
	uint32_t len = s ? n : 0;

	memcpy(head + 1, &n, sizeof(n));
	if (out->cap < out->n + HEAD + len) {
		text_add_n(out, head, HEAD);
		text_add_n(out, s ? s : "", len);
		return;
	}
	memcpy(out->s + out->n, head, HEAD);
	if (len)
		memcpy(out->s + out->n + HEAD, s, len);
	out->n += HEAD + len;
}

static void put_tree(struct text *out, const struct tree *t);

static void put_field(struct text *out, const struct tree_field *f)
{
	put(out, TREE_STRING, f->key_len, f->key);
	put_tree(out, f->value);
}

/* Each value with its kind and length, so that no two trees have the same bytes. */
static void put_tree(struct text *out, const struct tree *t)
{
	bool is_scalar = t->kind != TREE_MAP && t->kind != TREE_LIST;

	put(out, t->kind, t->n, is_scalar ? t->text : NULL);
	for (uint32_t i = 0; !is_scalar && i < t->n; i++) {
		if (t->kind == TREE_MAP)
			put_field(out, &t->fields[i]);
		else
			put_tree(out, t->items[i]);
	}
}

/* Of a map the fields with these names, in the order written; anything else whole. */
static void put_some(struct text *out, const struct tree *t, const struct word *words)
{
	if (t->kind != TREE_MAP) {
		put_tree(out, t);
		return;
	}
	for (uint32_t i = 0; i < t->n; i++)
		if (is_among(words, &t->fields[i]))
			put_field(out, &t->fields[i]);
	put(out, TREE_NULL, 0, NULL);
}

static void put_each(struct text *out, const struct tree_field *f, const struct word *words)
{
	const struct tree *list = f->value;

	put(out, TREE_STRING, f->key_len, f->key);
	if (list->kind != TREE_LIST) {
		put_tree(out, list);
		return;
	}
	put(out, TREE_LIST, list->n, NULL);
	for (uint32_t i = 0; i < list->n; i++)
		put_some(out, list->items[i], words);
}

/* t: spec or status; lists: of which only some fields of their items count. */
static void put_part(struct text *out, const struct tree *t, const struct word *words, const struct word *lists,
		     const struct word *of_items)
{
	for (uint32_t i = 0; t && i < t->n; i++) {
		if (is_among(words, &t->fields[i]))
			put_field(out, &t->fields[i]);
		else if (is_among(lists, &t->fields[i]))
			put_each(out, &t->fields[i], of_items);
	}
	put(out, TREE_NULL, 0, NULL);
}

/* False: it is no pod as they should be, and is read for the words on that. */
static bool write_key(struct text *out, const struct reader *r, const struct at *pod)
{
	struct at meta = at_field(pod, "metadata"), annotations = at_field(&meta, "annotations"),
		  spec = at_field(pod, "spec"), status = at_field(pod, "status");
	const struct tree *scoring = tree_get(annotations.t, "cede.dev/scoring-request");
	char told[] = {(char)r->is_lenient, (char)pod_claims_volumes(&spec), (char)pod_cannot_resize(&status)};

	if (!tree_is(spec.t, TREE_MAP) || (status.t && status.t->kind != TREE_MAP))
		return false;
	text_add_n(out, told, sizeof(told));
	put_part(out, spec.t, spec_words, containers_words, container_words);
	put_part(out, status.t, status_words, statuses_words, container_status_words);
	if (scoring)
		put_tree(out, scoring);
	return true;
}

/* ---- what is known ---- */

static void forget(struct shape_memory *m)
{
	for (uint32_t i = 0; i < m->v.n; i++)
		shape_drop(m->vocab, m->v.v[i].shape);
	m->v.n = 0;
	text_reset(&m->bytes);
	map_free(&m->at);
}

void shape_memory_free(struct shape_memory *m)
{
	forget(m);
	array_free(&m->v);
	text_free(&m->bytes);
	text_free(&m->key);
	*m = (struct shape_memory){0};
}

shape_id shape_memory_find(struct shape_memory *m, const struct reader *r, const struct at *pod)
{
	const struct known_shape *x;
	uint32_t at;

	if (!m)
		return SHAPE_NONE;
	m->vocab = r->vocab;
	m->notes = r->notes ? r->notes->n : 0;
	text_reset(&m->key);
	if (!write_key(&m->key, r, pod)) {
		text_reset(&m->key);
		return SHAPE_NONE;
	}
	at = map_get(&m->at, hash_bytes(m->key.s, m->key.n));
	x = at == MAP_NONE ? NULL : &m->v.v[at];
	if (!x || x->n != m->key.n || memcmp(m->bytes.s + x->from, m->key.s, x->n) != 0)
		return SHAPE_NONE;
	shape_keep(r->vocab, x->shape);
	return x->shape;
}

/* Of two with one hash the first is remembered. Without notes it is not known whether there would be one. */
void shape_memory_keep(struct shape_memory *m, const struct reader *r, shape_id shape)
{
	uint64_t hash;

	if (!m || !m->key.n || !r->notes || r->notes->n != m->notes)
		return;
	if (m->bytes.n + m->key.n > BYTES_MAX)
		forget(m);
	hash = hash_bytes(m->key.s, m->key.n);
	if (m->key.n > BYTES_MAX || map_get(&m->at, hash) != MAP_NONE)
		return;
	shape_keep(r->vocab, shape);
	map_put(&m->at, hash, m->v.n);
	array_push(&m->v, ((struct known_shape){m->bytes.n, (uint32_t)m->key.n, shape}));
	text_add_n(&m->bytes, m->key.s, m->key.n);
}
