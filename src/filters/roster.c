/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/roster.h"

static uint64_t labelset_key(const struct pod *p)
{
	return (uint64_t)p->labelset + 1;
}

static uint64_t kind_key(const struct pod *p)
{
	return map_key2(p->shape + 1, p->labelset);
}

static uint64_t terms_key(const struct ledger *l, const struct pod *p)
{
	return shape_has_terms(shape_get(ledger_vocab(l), p->shape)) ? kind_key(p) : 0;
}

/* The label set is listed while one of its pods is on a node. */
static void note_labelset(struct roster *r, const struct ledger *l, labelset_id labelset)
{
	bool is_there = ledger_labelset_on_nodes(l, labelset) > 0;

	id_index_put(&r->by_ns, labelset, is_there ? (uint64_t)labelset_get(ledger_vocab(l), labelset)->ns + 1 : 0);
}

void roster_add(struct roster *r, const struct ledger *l, pod_id pod)
{
	const struct pod *p = ledger_pod(l, pod);

	note_labelset(r, l, p->labelset);
	if (r->has_pods)
		id_index_put(&r->by_labelset, pod, labelset_key(p));
	id_index_put(&r->by_terms, pod, terms_key(l, p));
}

static bool is_on_node(const struct pod *p)
{
	return p->state == POD_PLACED || p->state == POD_LEAVING;
}

void roster_fill(struct roster *r, const struct ledger *l)
{
	uint32_t n = ledger_with_terms(l) ? ledger_pod_limit(l) : 0;

	for (labelset_id k = 0; k < labelset_limit(ledger_vocab(l)); k++)
		if (ledger_labelset_on_nodes(l, k))
			note_labelset(r, l, k);
	for (pod_id pod = 0; pod < n; pod++)
		if (is_on_node(ledger_pod(l, pod)))
			id_index_put(&r->by_terms, pod, terms_key(l, ledger_pod(l, pod)));
	for (pod_id pod = ledger_next_wary(l, 0); pod != POD_NONE; pod = ledger_next_wary(l, pod + 1))
		roster_hold(r, l, pod, true);
}

/* The list of a label set is looked up once. */
void roster_fill_pods(struct roster *r, const struct ledger *l)
{
	uint32_t n = ledger_pod_limit(l), *lists = mem_alloc((labelset_limit(ledger_vocab(l)) + 1) * sizeof(*lists));
	const struct pod *pods = n ? ledger_pod(l, 0) : NULL;

	id_index_expect(&r->by_labelset, n);
	for (pod_id pod = 0; pod < n; pod++) {
		uint32_t *list = &lists[pods[pod].labelset]; /* and one more; 0: not known */

		if (!is_on_node(&pods[pod]))
			continue;
		if (!*list)
			*list = id_index_list(&r->by_labelset, labelset_key(&pods[pod])) + 1;
		id_index_put_new(&r->by_labelset, pod, *list - 1);
	}
	mem_free(lists);
	r->has_pods = true;
}

void roster_remove(struct roster *r, const struct ledger *l, pod_id pod)
{
	const struct pod *p = ledger_pod(l, pod);

	if (r->has_pods)
		id_index_put(&r->by_labelset, pod, 0);
	id_index_put(&r->by_terms, pod, 0);
	note_labelset(r, l, p->labelset);
}

/* ---- wary pods ---- */

static uint32_t new_number(struct wary_pods *w, pod_id pod)
{
	uint32_t i = w->free.n ? array_pop(&w->free) : w->pods.n;

	if (i == w->pods.n)
		array_push(&w->pods, pod);
	w->pods.v[i] = pod;
	map_put(&w->number_of, pod, i);
	return i;
}

static void drop_number(struct wary_pods *w, pod_id pod, uint32_t i)
{
	map_del(&w->number_of, pod);
	w->pods.v[i] = POD_NONE;
	array_push(&w->free, i);
}

void roster_hold(struct roster *r, const struct ledger *l, pod_id pod, bool holds)
{
	struct wary_pods *w = &r->wary;
	uint32_t i = map_get(&w->number_of, pod);

	if (i == MAP_NONE && holds)
		i = new_number(w, pod);
	if (i == MAP_NONE)
		return;
	id_index_put(&w->by_kind, i, holds ? kind_key(ledger_pod(l, pod)) : 0);
	if (!holds)
		drop_number(w, pod, i);
}

static pod_id wary_pod(const struct wary_pods *w, uint32_t i)
{
	return i == ID_NONE ? POD_NONE : w->pods.v[i];
}

pod_id roster_wary_first(const struct roster *r, shape_id shape, labelset_id labelset)
{
	return wary_pod(&r->wary, id_index_first(&r->wary.by_kind, map_key2(shape + 1, labelset)));
}

pod_id roster_wary_next(const struct roster *r, pod_id pod)
{
	return wary_pod(&r->wary, id_index_next(&r->wary.by_kind, map_get(&r->wary.number_of, pod)));
}

void roster_free(struct roster *r)
{
	map_free(&r->wary.number_of);
	array_free(&r->wary.pods);
	array_free(&r->wary.free);
	id_index_free(&r->wary.by_kind);
	id_index_free(&r->by_labelset);
	id_index_free(&r->by_ns);
	id_index_free(&r->by_terms);
}

static struct roster_group group_of(const struct id_list *list)
{
	return (struct roster_group){(shape_id)(list->key >> 32) - 1, (labelset_id)list->key, list->first};
}

struct roster_group roster_group_at(const struct roster *r, uint32_t i)
{
	return group_of(&r->by_terms.lists.v[i]);
}

struct roster_group roster_wary_at(const struct roster *r, uint32_t i)
{
	struct roster_group g = group_of(&r->wary.by_kind.lists.v[i]);

	g.first = wary_pod(&r->wary, g.first);
	return g;
}

/* 0: in none. */
static uint64_t key_of(const struct id_index *x, uint32_t id)
{
	return id < x->links.n && x->links.v[id].list != ID_NONE ? x->lists.v[x->links.v[id].list].key : 0;
}

static uint64_t wary_key_of(const struct wary_pods *w, pod_id pod)
{
	uint32_t i = map_get(&w->number_of, pod);

	return i == MAP_NONE || w->pods.v[i] != pod ? 0 : key_of(&w->by_kind, i);
}

enum err_code roster_check(const struct roster *r, const struct ledger *l, struct err *e)
{
	for (pod_id id = 0; id < ledger_pod_limit(l); id++) {
		const struct pod *p = ledger_pod(l, id);
		bool is_there = is_on_node(p), is_wary = ledger_next_wary(l, id) == id;

		if ((r->has_pods && key_of(&r->by_labelset, id) != (is_there ? labelset_key(p) : 0)) ||
		    key_of(&r->by_terms, id) != (is_there ? terms_key(l, p) : 0) ||
		    wary_key_of(&r->wary, id) != (is_wary ? kind_key(p) : 0))
			return err_fail(e, ERR_INTERNAL, "roster: pod %u is in the wrong list", id);
	}
	for (labelset_id k = 0; k < labelset_limit(ledger_vocab(l)); k++)
		if ((key_of(&r->by_ns, k) != 0) != (ledger_labelset_on_nodes(l, k) > 0))
			return err_fail(e, ERR_INTERNAL, "roster: label set %u is in the wrong list", k);
	return ERR_OK;
}
