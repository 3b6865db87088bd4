/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes and label sets are interned alike. Everything one says is written down as a row of 32-bit words (walk_*):
 * equal rows are equal things, the hash of the row finds it, and the same walk takes and lets go of the names. A live
 * thing is one block of memory: a header, the struct, and behind it every array it points to. Nothing is kept of a dead
 * one but its free id.
 */
#include "model/shape.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/id_table.h"

#define NONE UINT32_MAX

struct interned_block {
	uint32_t hash;
	uint32_t bytes;
	uint32_t refs;
};

struct shape_block {
	struct interned_block head;
	struct shape shape;
};

struct labelset_block {
	struct interned_block head;
	struct labelset labelset;
};

struct pool {
	ARRAY(struct interned_block *) v; /* by id; NULL: free */
	ARRAY(uint32_t) free_ids;
	struct id_table by_hash;
	struct blocks blocks;
	uint64_t n_reused; /* ids that were given anew */
};

struct word_row {
	ARRAY(uint32_t) words;
	size_t bytes; /* of the arrays behind the struct */
};

struct vocab {
	struct names *names;
	struct res_types res;
	struct pool shapes, labelsets;
	uint32_t n_staying_away;      /* of the shapes */
	struct word_row draft, known; /* scratch */
};

/* What a walk does with what it sees. */
enum purpose { TO_ROW, TO_KEEP, TO_DROP };
struct walk {
	enum purpose purpose;
	struct word_row *row;
	struct names *names;
};

static size_t round_up(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static void walk_word(struct walk *w, uint32_t x)
{
	if (w->purpose == TO_ROW)
		array_push(&w->row->words, x);
}

static void walk_long(struct walk *w, int64_t x)
{
	walk_word(w, (uint32_t)((uint64_t)x >> 32));
	walk_word(w, (uint32_t)x);
}

static void walk_name(struct walk *w, name_id name)
{
	if (w->purpose == TO_ROW)
		walk_word(w, name);
	else if (w->purpose == TO_KEEP)
		names_keep(w->names, name);
	else
		names_drop(w->names, name);
}

/* Every array begins with its length, so that no two different things can have one row. */
static void walk_array(struct walk *w, uint32_t n, size_t size)
{
	walk_word(w, n);
	if (w->purpose == TO_ROW)
		w->row->bytes += round_up(n * size);
}

static void walk_names(struct walk *w, const name_id *v, uint32_t n)
{
	walk_array(w, n, sizeof(*v));
	for (uint32_t i = 0; i < n; i++)
		walk_name(w, v[i]);
}

static void walk_labels(struct walk *w, const struct labels *l)
{
	walk_array(w, l->n, sizeof(*l->kv));
	for (uint32_t i = 0; i < l->n; i++) {
		walk_name(w, l->kv[i].key);
		walk_name(w, l->kv[i].value);
	}
}

static void walk_amounts(struct walk *w, const struct res_list *l)
{
	walk_array(w, l->n, sizeof(*l->v));
	for (uint32_t i = 0; i < l->n; i++) {
		walk_word(w, l->v[i].type);
		walk_long(w, l->v[i].amount);
	}
}

static void walk_requirements(struct walk *w, const struct requirement *v, uint32_t n)
{
	walk_array(w, n, sizeof(*v));
	for (uint32_t i = 0; i < n; i++) {
		walk_name(w, v[i].key);
		walk_word(w, v[i].op);
		walk_names(w, v[i].values, v[i].n_values);
		walk_long(w, v[i].bound);
	}
}

static void walk_selector(struct walk *w, const struct selector *s)
{
	walk_word(w, s->matches_nothing);
	walk_requirements(w, s->reqs, s->n);
}

static void walk_node_term(struct walk *w, const struct node_term *t)
{
	walk_word(w, t->is_invalid);
	walk_requirements(w, t->exprs, t->n_exprs);
	walk_requirements(w, t->fields, t->n_fields);
}

static void walk_pod_terms(struct walk *w, const struct pod_terms *t)
{
	walk_array(w, t->n, sizeof(*t->terms));
	for (uint32_t i = 0; i < t->n; i++) {
		const struct pod_term *p = &t->terms[i];
		walk_selector(w, &p->selector);
		walk_name(w, p->topology_key);
		walk_names(w, p->namespaces, p->n_namespaces);
		walk_word(w, p->has_ns_selector);
		walk_selector(w, &p->ns_selector);
		walk_word(w, (uint32_t)p->weight);
		walk_names(w, p->match_keys, p->n_match_keys);
		walk_names(w, p->mismatch_keys, p->n_mismatch_keys);
	}
}

static void walk_spreads(struct walk *w, const struct spread *v, uint32_t n)
{
	walk_array(w, n, sizeof(*v));
	for (uint32_t i = 0; i < n; i++) {
		const struct spread *s = &v[i];
		walk_word(w, (uint32_t)s->max_skew);
		walk_word(w, (uint32_t)s->min_domains);
		walk_name(w, s->topology_key);
		walk_word(w, (uint32_t)s->is_hard << 2 | (uint32_t)s->ignores_affinity << 1 | s->honors_taints);
		walk_selector(w, &s->selector);
		walk_names(w, s->match_keys, s->n_match_keys);
	}
}

static void walk_nodes_wanted(struct walk *w, const struct shape *s)
{
	walk_labels(w, &s->node_selector);
	walk_word(w, s->has_required_terms);
	walk_array(w, s->required_terms.n, sizeof(*s->required_terms.terms));
	for (uint32_t i = 0; i < s->required_terms.n; i++)
		walk_node_term(w, &s->required_terms.terms[i]);
	walk_array(w, s->n_preferred_nodes, sizeof(*s->preferred_nodes));
	for (uint32_t i = 0; i < s->n_preferred_nodes; i++) {
		walk_word(w, (uint32_t)s->preferred_nodes[i].weight);
		walk_node_term(w, &s->preferred_nodes[i].term);
	}
	walk_array(w, s->n_tolerations, sizeof(*s->tolerations));
	for (uint32_t i = 0; i < s->n_tolerations; i++) {
		walk_name(w, s->tolerations[i].key);
		walk_name(w, s->tolerations[i].value);
		walk_word(w, s->tolerations[i].op);
		walk_word(w, s->tolerations[i].effect);
	}
}

static void walk_shape(struct walk *w, const struct shape *s)
{
	walk_amounts(w, &s->request);
	walk_amounts(w, &s->usage);
	walk_long(w, s->nonzero_cpu_milli);
	walk_long(w, s->nonzero_memory);
	walk_nodes_wanted(w, s);
	walk_pod_terms(w, &s->affinity);
	walk_pod_terms(w, &s->anti_affinity);
	walk_pod_terms(w, &s->preferred_affinity);
	walk_pod_terms(w, &s->preferred_anti_affinity);
	walk_spreads(w, s->spreads, s->n_spreads);
	walk_array(w, s->n_ports, sizeof(*s->ports));
	for (uint32_t i = 0; i < s->n_ports; i++) {
		walk_name(w, s->ports[i].ip);
		walk_word(w, (uint32_t)s->ports[i].port << 8 | s->ports[i].protocol);
	}
	walk_names(w, s->images, s->n_images);
	walk_word(w, s->n_containers);
	walk_names(w, s->gates, s->n_gates);
	walk_name(w, s->scheduler_name);
	walk_name(w, s->runs_on);
	walk_word(w, (uint32_t)s->never_preempts << 1 | s->has_claims);
}

static void walk_labelset(struct walk *w, const struct labelset *k)
{
	walk_name(w, k->ns);
	walk_labels(w, &k->labels);
}

/* ---- copying: the arrays go one after the other behind the struct ---- */

static void *place(char **at, const void *src, uint32_t n, size_t size)
{
	if (n == 0)
		return NULL;
	char *dst = *at;
	memcpy(dst, src, n * size);
	*at += round_up(n * size);
	return dst;
}

#define PLACE(at, array, n) ((array) = place((at), (array), (n), sizeof(*(array))))

static const struct requirement *place_requirements(char **at, const struct requirement *v, uint32_t n)
{
	struct requirement *copy = place(at, v, n, sizeof(*v));
	for (uint32_t i = 0; i < n; i++)
		PLACE(at, copy[i].values, copy[i].n_values);
	return copy;
}

static void place_selector(char **at, struct selector *s)
{
	s->reqs = place_requirements(at, s->reqs, s->n);
}

static void place_node_term(char **at, struct node_term *t)
{
	t->exprs = place_requirements(at, t->exprs, t->n_exprs);
	t->fields = place_requirements(at, t->fields, t->n_fields);
}

static void place_pod_terms(char **at, struct pod_terms *t)
{
	struct pod_term *copy = place(at, t->terms, t->n, sizeof(*t->terms));
	for (uint32_t i = 0; i < t->n; i++) {
		place_selector(at, &copy[i].selector);
		PLACE(at, copy[i].namespaces, copy[i].n_namespaces);
		place_selector(at, &copy[i].ns_selector);
		PLACE(at, copy[i].match_keys, copy[i].n_match_keys);
		PLACE(at, copy[i].mismatch_keys, copy[i].n_mismatch_keys);
	}
	t->terms = copy;
}

static void place_spreads(char **at, struct shape *s)
{
	struct spread *copy = place(at, s->spreads, s->n_spreads, sizeof(*s->spreads));
	for (uint32_t i = 0; i < s->n_spreads; i++) {
		place_selector(at, &copy[i].selector);
		PLACE(at, copy[i].match_keys, copy[i].n_match_keys);
	}
	s->spreads = copy;
}

static void place_node_terms(char **at, struct shape *s)
{
	struct node_term *terms = place(at, s->required_terms.terms, s->required_terms.n, sizeof(*terms));
	for (uint32_t i = 0; i < s->required_terms.n; i++)
		place_node_term(at, &terms[i]);
	s->required_terms.terms = terms;
	struct preferred_node_term *preferred = place(at, s->preferred_nodes, s->n_preferred_nodes, sizeof(*preferred));
	for (uint32_t i = 0; i < s->n_preferred_nodes; i++)
		place_node_term(at, &preferred[i].term);
	s->preferred_nodes = preferred;
}

static bool amounts_equal(const struct res_list *a, const struct res_list *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->v[i].type != b->v[i].type || a->v[i].amount != b->v[i].amount)
			return false;
	return true;
}

/* *s is a plain copy of the draft; give it arrays of its own. Most pods take what they ask for: that is one array. */
static void place_shape(char **at, struct shape *s)
{
	const bool takes_what_it_asks = amounts_equal(&s->request, &s->usage);
	PLACE(at, s->request.v, s->request.n);
	if (takes_what_it_asks)
		s->usage.v = s->request.v;
	else
		PLACE(at, s->usage.v, s->usage.n);
	PLACE(at, s->node_selector.kv, s->node_selector.n);
	place_node_terms(at, s);
	PLACE(at, s->tolerations, s->n_tolerations);
	place_pod_terms(at, &s->affinity);
	place_pod_terms(at, &s->anti_affinity);
	place_pod_terms(at, &s->preferred_affinity);
	place_pod_terms(at, &s->preferred_anti_affinity);
	place_spreads(at, s);
	PLACE(at, s->ports, s->n_ports);
	PLACE(at, s->images, s->n_images);
	PLACE(at, s->gates, s->n_gates);
}

/* ---- pools ---- */

static uint32_t row_hash(const struct word_row *r)
{
	uint64_t h = r->words.n;
	for (uint32_t i = 0; i < r->words.n; i++)
		h = hash_mix(h, r->words.v[i]);
	return (uint32_t)(h >> 32);
}

static bool row_equal(const struct word_row *a, const struct word_row *b)
{
	return a->words.n == b->words.n && memcmp(a->words.v, b->words.v, a->words.n * sizeof(*a->words.v)) == 0;
}

static struct walk row_start(struct word_row *r)
{
	r->words.n = 0;
	r->bytes = 0;
	return (struct walk){.purpose = TO_ROW, .row = r};
}

static void *pool_block(struct pool *p, size_t bytes, uint32_t hash)
{
	if (bytes > UINT32_MAX)
		mem_fail();
	struct interned_block *b = blocks_take(&p->blocks, bytes);
	*b = (struct interned_block){.hash = hash, .bytes = (uint32_t)bytes, .refs = 1};
	return b;
}

static uint32_t pool_add(struct pool *p, struct interned_block *b)
{
	uint32_t id = p->v.n;
	if (p->free_ids.n > 0) {
		id = array_pop(&p->free_ids);
		p->n_reused++;
	} else {
		array_push(&p->v, NULL);
	}
	p->v.v[id] = b;
	id_table_put(&p->by_hash, b->hash, id);
	return id;
}

static void pool_del(struct pool *p, uint32_t id)
{
	id_table_del(&p->by_hash, p->v.v[id]->hash, id);
	blocks_give(&p->blocks, p->v.v[id], p->v.v[id]->bytes);
	p->v.v[id] = NULL;
	array_push(&p->free_ids, id);
	if (p->by_hash.n == 0)
		blocks_free(&p->blocks);
}

static struct interned_block *pool_get(const struct pool *p, uint32_t id)
{
	assert(id < p->v.n && p->v.v[id] != NULL);
	return p->v.v[id];
}

static void pool_free(struct pool *p)
{
	for (uint32_t i = 0; i < p->v.n; i++)
		if (p->v.v[i] != NULL)
			blocks_give(&p->blocks, p->v.v[i], p->v.v[i]->bytes);
	array_free(&p->v);
	array_free(&p->free_ids);
	id_table_free(&p->by_hash);
	blocks_free(&p->blocks);
}

static size_t pool_bytes(const struct pool *p)
{
	return blocks_bytes(&p->blocks) + p->v.cap * sizeof(*p->v.v) + p->free_ids.cap * sizeof(*p->free_ids.v) +
	       id_table_bytes(&p->by_hash);
}

static void keep(struct pool *p, uint32_t id)
{
	struct interned_block *b = pool_get(p, id);
	assert(b->refs < UINT32_MAX);
	b->refs++;
}

/* ---- the vocabulary ---- */

struct vocab *vocab_new(void)
{
	struct vocab *v = mem_alloc(sizeof(*v));
	v->names = names_new();
	v->shapes.blocks = v->labelsets.blocks = blocks_of(alignof(struct shape_block));
	res_types_init(&v->res, v->names);
	return v;
}

void vocab_free(struct vocab *v)
{
	if (v == NULL)
		return;
	pool_free(&v->shapes);
	pool_free(&v->labelsets);
	array_free(&v->draft.words);
	array_free(&v->known.words);
	res_types_free(&v->res);
	names_free(v->names);
	mem_free(v);
}

struct names *vocab_names(struct vocab *v)
{
	return v->names;
}

struct res_types *vocab_res(struct vocab *v)
{
	return &v->res;
}

void vocab_trim(struct vocab *v)
{
	struct pool *pools[] = {&v->shapes, &v->labelsets};
	for (size_t i = 0; i < sizeof(pools) / sizeof(*pools); i++) {
		array_trim(&pools[i]->v);
		array_trim(&pools[i]->free_ids);
		id_table_trim(&pools[i]->by_hash);
	}
	names_trim(v->names);
}

size_t vocab_bytes(const struct vocab *v)
{
	return sizeof(*v) + pool_bytes(&v->shapes) + pool_bytes(&v->labelsets) +
	       (v->draft.words.cap + v->known.words.cap) * sizeof(uint32_t);
}

static const struct shape *shape_of(const struct interned_block *b)
{
	return &((const struct shape_block *)b)->shape;
}

static shape_id shape_find(struct vocab *v, uint32_t hash)
{
	uint32_t at = id_table_home(&v->shapes.by_hash, hash), id;
	while ((id = id_table_next(&v->shapes.by_hash, hash, &at)) != NONE) {
		struct walk w = row_start(&v->known);
		walk_shape(&w, shape_of(v->shapes.v.v[id]));
		if (row_equal(&v->draft, &v->known))
			break;
	}
	return id;
}

bool shape_has_terms(const struct shape *s)
{
	return s->affinity.n || s->anti_affinity.n || s->preferred_affinity.n || s->preferred_anti_affinity.n;
}

uint32_t shape_staying_away_count(const struct vocab *v)
{
	return v->n_staying_away;
}

static shape_id shape_add(struct vocab *v, const struct shape *draft, uint32_t hash)
{
	size_t bytes = round_up(sizeof(struct shape_block)) + v->draft.bytes;
	if (amounts_equal(&draft->request, &draft->usage))
		bytes -= round_up(draft->usage.n * sizeof(*draft->usage.v));
	struct shape_block *b = pool_block(&v->shapes, bytes, hash);
	b->shape = *draft;
	char *at = (char *)b + round_up(sizeof(*b));
	place_shape(&at, &b->shape);
	assert(at == (char *)b + bytes);
	struct walk w = {.purpose = TO_KEEP, .names = v->names};
	walk_shape(&w, &b->shape);
	v->n_staying_away += b->shape.anti_affinity.n > 0;
	return pool_add(&v->shapes, &b->head);
}

shape_id shape_hold(struct vocab *v, const struct shape *draft)
{
	struct walk w = row_start(&v->draft);
	walk_shape(&w, draft);
	uint32_t hash = row_hash(&v->draft);
	shape_id id = shape_find(v, hash);
	if (id == NONE)
		return shape_add(v, draft, hash);
	keep(&v->shapes, id);
	return id;
}

void shape_keep(struct vocab *v, shape_id id)
{
	if (id != SHAPE_NONE)
		keep(&v->shapes, id);
}

void shape_drop(struct vocab *v, shape_id id)
{
	if (id == SHAPE_NONE || --pool_get(&v->shapes, id)->refs > 0)
		return;
	struct walk w = {.purpose = TO_DROP, .names = v->names};
	v->n_staying_away -= shape_get(v, id)->anti_affinity.n > 0;
	walk_shape(&w, shape_of(v->shapes.v.v[id]));
	pool_del(&v->shapes, id);
}

const struct shape *shape_get(const struct vocab *v, shape_id id)
{
	return shape_of(pool_get(&v->shapes, id));
}

uint64_t vocab_reuses(const struct vocab *v)
{
	return v->shapes.n_reused + v->labelsets.n_reused;
}

uint32_t shape_count(const struct vocab *v)
{
	return v->shapes.v.n - v->shapes.free_ids.n;
}

static const struct labelset *labelset_of(const struct interned_block *b)
{
	return &((const struct labelset_block *)b)->labelset;
}

static labelset_id labelset_find(struct vocab *v, uint32_t hash)
{
	uint32_t at = id_table_home(&v->labelsets.by_hash, hash), id;
	while ((id = id_table_next(&v->labelsets.by_hash, hash, &at)) != NONE) {
		struct walk w = row_start(&v->known);
		walk_labelset(&w, labelset_of(v->labelsets.v.v[id]));
		if (row_equal(&v->draft, &v->known))
			break;
	}
	return id;
}

static labelset_id labelset_add(struct vocab *v, const struct labelset *draft, uint32_t hash)
{
	size_t bytes = round_up(sizeof(struct labelset_block)) + v->draft.bytes;
	struct labelset_block *b = pool_block(&v->labelsets, bytes, hash);
	b->labelset = *draft;
	char *at = (char *)b + round_up(sizeof(*b));
	PLACE(&at, b->labelset.labels.kv, b->labelset.labels.n);
	struct walk w = {.purpose = TO_KEEP, .names = v->names};
	walk_labelset(&w, &b->labelset);
	return pool_add(&v->labelsets, &b->head);
}

static labelset_id labelset_hold_sorted(struct vocab *v, const struct labelset *draft)
{
	struct walk w = row_start(&v->draft);
	walk_labelset(&w, draft);
	uint32_t hash = row_hash(&v->draft);
	labelset_id id = labelset_find(v, hash);
	if (id == NONE)
		return labelset_add(v, draft, hash);
	keep(&v->labelsets, id);
	return id;
}

labelset_id labelset_hold(struct vocab *v, name_id ns, const struct label *kv, uint32_t n)
{
	struct label few[32], *sorted = few;
	if (n > sizeof(few) / sizeof(*few))
		sorted = mem_resize(NULL, n, sizeof(*sorted));
	if (n > 0)
		memcpy(sorted, kv, n * sizeof(*kv));
	const struct labelset draft = {.ns = ns, .labels = {.n = labels_sort(sorted, n), .kv = sorted}};
	labelset_id id = labelset_hold_sorted(v, &draft);
	if (sorted != few)
		mem_free(sorted);
	return id;
}

void labelset_keep(struct vocab *v, labelset_id id)
{
	if (id != LABELSET_NONE)
		keep(&v->labelsets, id);
}

void labelset_drop(struct vocab *v, labelset_id id)
{
	if (id == LABELSET_NONE || --pool_get(&v->labelsets, id)->refs > 0)
		return;
	struct walk w = {.purpose = TO_DROP, .names = v->names};
	walk_labelset(&w, labelset_of(v->labelsets.v.v[id]));
	pool_del(&v->labelsets, id);
}

const struct labelset *labelset_get(const struct vocab *v, labelset_id id)
{
	static const struct labelset nobody = {0};
	assert(id < v->labelsets.v.n);
	return v->labelsets.v.v[id] != NULL ? labelset_of(v->labelsets.v.v[id]) : &nobody;
}

uint32_t labelset_limit(const struct vocab *v)
{
	return v->labelsets.v.n;
}

uint32_t shape_limit(const struct vocab *v)
{
	return v->shapes.v.n;
}

bool shape_is_live(const struct vocab *v, shape_id id)
{
	return id < v->shapes.v.n && v->shapes.v.v[id] != NULL;
}

bool labelset_is_live(const struct vocab *v, labelset_id id)
{
	return id < v->labelsets.v.n && v->labelsets.v.v[id] != NULL;
}
