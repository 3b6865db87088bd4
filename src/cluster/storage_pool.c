/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which free volumes of a class a node can use. Nearly all volumes want one label to have one of some values (a zone, a
 * host): these are found by the node's own label. Few have no node affinity, or another; those are looked at one by
 * one.
 */
#include "cluster/storage_pool.h"

#include <stdlib.h>

bool pv_terms_match(const struct names *names, const struct node_terms *t, const struct labels *node)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct node_term *term = &t->terms[i];
		bool is_match = !term->is_invalid && (term->n_exprs > 0 || term->n_fields > 0);

		for (uint32_t k = 0; is_match && k < term->n_exprs; k++)
			is_match = requirement_matches(names, &term->exprs[k], node);
		if (is_match)
			return true;
	}
	return false;
}

/* ---- making a pool ---- */

static int by_size_and_name(const void *pa, const void *pb, void *names)
{
	const struct obj_pv *a = *(const struct obj_pv *const *)pa, *b = *(const struct obj_pv *const *)pb;
	int cmp = quantity_cmp(&a->capacity, &b->capacity);

	return cmp != 0 ? cmp : name_cmp(names, a->name, b->name);
}

/* The one requirement its affinity is; NULL: it is another kind of affinity, or there is none. */
static const struct requirement *single_label(const struct obj_pv *v)
{
	const struct node_term *t = v->affinity.terms;

	if (!v->has_affinity || v->affinity.n != 1 || t->is_invalid || t->n_fields > 0 || t->n_exprs != 1 ||
	    t->exprs[0].op != SEL_IN)
		return NULL;
	return &t->exprs[0];
}

struct link { /* a volume in a domain */
	name_id key, value;
	uint32_t member;
};

static int by_domain(const void *pa, const void *pb)
{
	const struct link *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->member < b->member ? -1 : a->member > b->member;
}

/* Links in order become domains, one for each run of the same key and value. */
static void make_domains(struct pv_class *c, const struct link *links, uint32_t n)
{
	struct pv_pool *p = &c->pool;

	p->members = arena_n(c->arena, n + 1, uint32_t);
	p->domains = arena_n(c->arena, n + 1, struct pv_domain);
	p->keys = arena_n(c->arena, n + 1, name_id);
	for (uint32_t i = 0; i < n; i++) {
		bool is_new = i == 0 || links[i].key != links[i - 1].key;

		p->members[i] = links[i].member;
		if (is_new)
			p->keys[p->n_keys++] = links[i].key;
		if (is_new || links[i].value != links[i - 1].value)
			p->domains[p->n_domains++] = (struct pv_domain){links[i].key, links[i].value, i, 0};
		p->domains[p->n_domains - 1].n++;
	}
}

static void sort_members(struct pv_class *c)
{
	struct pv_pool *p = &c->pool;
	ARRAY(struct link) links = {0};

	p->anywhere = arena_n(c->arena, p->n + 1, uint32_t);
	p->other = arena_n(c->arena, p->n + 1, uint32_t);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct requirement *r = single_label(p->v[i]);

		for (uint32_t k = 0; r != NULL && k < r->n_values; k++)
			array_push(&links, ((struct link){r->key, r->values[k], i}));
		if (r == NULL && p->v[i]->has_affinity)
			p->other[p->n_other++] = i;
		else if (r == NULL)
			p->anywhere[p->n_anywhere++] = i;
	}
	if (links.n > 0)
		qsort(links.v, links.n, sizeof(*links.v), by_domain);
	make_domains(c, links.v, links.n);
	array_free(&links);
}

static void make_pool(struct pv_class *c, const struct names *names)
{
	if (c->arena == NULL)
		c->arena = arena_new(1 << 12);
	arena_reset(c->arena);
	c->pool = (struct pv_pool){.n = c->members.n};
	c->pool.v = arena_n(c->arena, c->members.n + 1, const struct obj_pv *);
	if (c->members.n > 0) {
		memcpy(c->pool.v, c->members.v, c->members.n * sizeof(*c->members.v));
		qsort_r(c->pool.v, c->pool.n, sizeof(*c->pool.v), by_size_and_name, (void *)names);
	}
	sort_members(c);
	c->is_good = true;
}

/* ---- classes ---- */

static bool is_free(const struct obj_pv *v)
{
	return v->phase == PV_AVAILABLE && !v->has_claim && v->deleted_ns == TIME_NONE;
}

static uint64_t class_key(name_id class)
{
	return (uint64_t) class + 1;
}

static struct pv_class *class_for(struct pv_pools *p, name_id class)
{
	uint32_t i = map_get(&p->by_class, class_key(class));

	if (i != MAP_NONE)
		return &p->classes.v[i];
	if (p->free.n > 0) {
		i = array_pop(&p->free);
	} else {
		i = p->classes.n;
		array_push(&p->classes, ((struct pv_class){0}));
	}
	p->classes.v[i].name = class;
	map_put(&p->by_class, class_key(class), i);
	return &p->classes.v[i];
}

/* The last member takes its memory along: its name may come to mean another class. */
static void forget_class(struct pv_pools *p, struct pv_class *c)
{
	map_del(&p->by_class, class_key(c->name));
	array_free(&c->members);
	arena_free(c->arena);
	*c = (struct pv_class){0};
	array_push(&p->free, (uint32_t)(c - p->classes.v));
}

void pv_pools_add(struct pv_pools *p, const struct obj_pv *v)
{
	struct pv_class *c;

	if (!is_free(v))
		return;
	c = class_for(p, v->class);
	array_push(&c->members, v);
	c->is_good = false;
}

void pv_pools_remove(struct pv_pools *p, const struct obj_pv *v)
{
	struct pv_class *c;

	if (!is_free(v))
		return;
	c = class_for(p, v->class);
	for (uint32_t i = 0; i < c->members.n; i++) {
		if (c->members.v[i] != v)
			continue;
		c->members.v[i] = array_last(&c->members);
		c->members.n--;
		break;
	}
	c->is_good = false;
	if (c->members.n == 0)
		forget_class(p, c);
}

const struct pv_pool *pv_pools_get(struct pv_pools *p, name_id class)
{
	static const struct pv_pool nothing = {0};
	uint32_t i = map_get(&p->by_class, class_key(class));

	if (i == MAP_NONE)
		return &nothing;
	if (!p->classes.v[i].is_good)
		make_pool(&p->classes.v[i], p->names);
	return &p->classes.v[i].pool;
}

void pv_pools_free(struct pv_pools *p)
{
	for (uint32_t i = 0; i < p->classes.n; i++) {
		array_free(&p->classes.v[i].members);
		arena_free(p->classes.v[i].arena);
	}
	array_free(&p->classes);
	array_free(&p->free);
	map_free(&p->by_class);
}

const uint32_t *pv_pool_domain(const struct pv_pool *p, name_id key, name_id value, uint32_t *ret_n)
{
	uint32_t low = 0, high = p->n_domains;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct pv_domain *d = &p->domains[mid];

		if (d->key == key && d->value == value) {
			*ret_n = d->n;
			return p->members + d->first;
		}
		if (d->key < key || (d->key == key && d->value < value))
			low = mid + 1;
		else
			high = mid;
	}
	*ret_n = 0;
	return NULL;
}
