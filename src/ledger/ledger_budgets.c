/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets, and which pods they cover. A selector is tried once per label set: the ledger keeps the list of matching
 * budgets for every label set that has pods in it. The first pod of a label set has the list made, the last one takes
 * it away, so that an id the vocab gives to another label set later finds nothing of the old one.
 *
 * What is spent follows from the state alone: the pods on their way out by our own evictions that a budget covers
 * and does not list as disrupted itself (those its status has counted already).
 */
#include "ledger/ledger_internal.h"

static struct obj_pdb *take(struct obj_pdb *o)
{
	struct obj_pdb *mine = mem_alloc(sizeof(*mine));
	*mine = *o;
	*o = (struct obj_pdb){0};
	return mine;
}

static void let_go(struct ledger *l, struct obj_pdb *o)
{
	obj_pdb_drop(l->vocab, o);
	mem_free(o);
}

bool pdb_matches(const struct ledger *l, const struct obj_pdb *o, labelset_id labelset)
{
	const struct labelset *k = labelset_get(l->vocab, labelset);
	return k->ns == o->ns && selector_matches(l->names, &o->selector, &k->labels);
}

bool pdb_lists(const struct obj_pdb *o, name_id pod_name)
{
	for (uint32_t i = 0; i < o->n_disrupted; i++) {
		if (o->disrupted[i] == pod_name)
			return true;
	}
	return false;
}

void budgets_spend(struct ledger *l, const struct pod *p, int32_t by)
{
	const struct labelset_use *k = &l->labelsets.v[p->labelset];
	l->budget_standing += k->n_pdbs > 0;
	for (uint32_t i = 0; i < k->n_pdbs; i++) {
		struct pdb *b = &l->pdbs.v[k->pdbs[i]];
		if (!pdb_lists(b->obj, p->name))
			b->spent += by;
	}
}

static void labelset_insert(struct labelset_use *k, pdb_id id)
{
	uint32_t at = k->n_pdbs;
	while (at > 0 && k->pdbs[at - 1] > id)
		at--;
	k->pdbs = mem_resize(k->pdbs, k->n_pdbs + 1, sizeof(*k->pdbs));
	memmove(k->pdbs + at + 1, k->pdbs + at, (k->n_pdbs - at) * sizeof(*k->pdbs));
	k->pdbs[at] = id;
	k->n_pdbs++;
	k->cover += hash_u64(id);
}

static bool labelset_has(const struct labelset_use *k, pdb_id id)
{
	for (uint32_t i = 0; i < k->n_pdbs; i++) {
		if (k->pdbs[i] == id)
			return true;
	}
	return false;
}

static void labelset_remove(struct labelset_use *k, pdb_id id)
{
	uint32_t at = 0;
	while (at < k->n_pdbs && k->pdbs[at] != id)
		at++;
	if (at == k->n_pdbs)
		return;
	memmove(k->pdbs + at, k->pdbs + at + 1, (k->n_pdbs - at - 1) * sizeof(*k->pdbs));
	k->cover -= hash_u64(id);
	if (--k->n_pdbs == 0) {
		mem_free(k->pdbs);
		k->pdbs = NULL;
	}
}

void labelset_enter(struct ledger *l, labelset_id labelset)
{
	array_cover(&l->labelsets, labelset + 1);
	struct labelset_use *k = &l->labelsets.v[labelset];
	if (k->n_pods++ > 0)
		return;
	name_id ns = labelset_get(l->vocab, labelset)->ns;
	for (pdb_id id = 0; id < l->pdb_ids.limit; id++) {
		if (l->pdb_ns.v[id] == ns && l->pdbs.v[id].is_live && pdb_matches(l, l->pdbs.v[id].obj, labelset))
			labelset_insert(k, id);
	}
}

void labelset_leave(struct ledger *l, labelset_id labelset)
{
	struct labelset_use *k = &l->labelsets.v[labelset];
	if (--k->n_pods > 0)
		return;
	mem_free(k->pdbs);
	*k = (struct labelset_use){0};
}

static void count_spent(struct ledger *l, pdb_id id)
{
	struct pdb *b = &l->pdbs.v[id];
	l->budget_standing++;
	b->spent = 0;
	for (pod_id i = bits_next(&l->evicted, 0); i != UINT32_MAX; i = bits_next(&l->evicted, i + 1)) {
		const struct pod *p = &l->pods.v[i];
		if (labelset_has(&l->labelsets.v[p->labelset], id) && !pdb_lists(b->obj, p->name))
			b->spent++;
	}
}

static void link_labelsets(struct ledger *l, pdb_id id)
{
	l->budget_generation++;
	const struct obj_pdb *o = l->pdbs.v[id].obj;
	l->pdb_ns.v[id] = o->ns;
	for (labelset_id labelset = 0; labelset < l->labelsets.n; labelset++) {
		if (l->labelsets.v[labelset].n_pods > 0 && pdb_matches(l, o, labelset))
			labelset_insert(&l->labelsets.v[labelset], id);
	}
}

static void unlink_labelsets(struct ledger *l, pdb_id id)
{
	l->budget_generation++;
	l->budget_standing++;
	l->pdb_ns.v[id] = NAME_NONE;
	for (labelset_id labelset = 0; labelset < l->labelsets.n; labelset++)
		labelset_remove(&l->labelsets.v[labelset], id);
}

static uint64_t name_key(const struct obj_pdb *o)
{
	return map_key2(o->ns, o->name);
}

static void come(struct ledger *l, pdb_id id, struct obj_pdb *o)
{
	l->pdbs.v[id] = (struct pdb){.is_live = true, .obj = o};
	map_put(&l->pdb_by_name, name_key(o), id);
	link_labelsets(l, id);
	count_spent(l, id);
}

static void go(struct ledger *l, pdb_id id)
{
	map_del(&l->pdb_by_name, name_key(l->pdbs.v[id].obj));
	unlink_labelsets(l, id);
	l->pdbs.v[id] = (struct pdb){0};
}

pdb_id ledger_pdb_add(struct ledger *l, struct obj_pdb *o)
{
	assert(map_get(&l->pdb_by_name, name_key(o)) == MAP_NONE);
	bool is_fresh;
	pdb_id id = ids_take(&l->pdb_ids, &is_fresh);
	array_cover(&l->pdbs, l->pdb_ids.limit);
	array_cover(&l->pdb_ns, l->pdb_ids.limit);
	come(l, id, take(o));
	journal_add(l, ENTRY_PDB_NEW, id)->flag = is_fresh;
	ledger_moved(l);
	return id;
}

void undo_pdb_new(struct ledger *l, const struct journal_entry *e)
{
	struct obj_pdb *o = l->pdbs.v[e->id].obj;
	go(l, e->id);
	let_go(l, o);
	ids_untake(&l->pdb_ids, e->id, e->flag);
}

static bool same_requirement(const struct requirement *a, const struct requirement *b)
{
	return a->key == b->key && a->op == b->op && a->bound == b->bound && a->n_values == b->n_values &&
	       (a->n_values == 0 || memcmp(a->values, b->values, a->n_values * sizeof(*a->values)) == 0);
}

static bool same_selector(const struct selector *a, const struct selector *b)
{
	if (a->matches_nothing != b->matches_nothing || a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		if (!same_requirement(&a->reqs[i], &b->reqs[i]))
			return false;
	}
	return true;
}

/* Most changes are of the status: the lists of the label sets stay as they are then. */
static void swap(struct ledger *l, pdb_id id, struct obj_pdb *o)
{
	struct pdb *b = &l->pdbs.v[id];
	bool is_same = same_selector(&b->obj->selector, &o->selector);
	if (!is_same)
		unlink_labelsets(l, id);
	b->obj = o;
	if (!is_same)
		link_labelsets(l, id);
	count_spent(l, id);
}

void ledger_pdb_set(struct ledger *l, pdb_id id, struct obj_pdb *o)
{
	assert(id < l->pdb_ids.limit && l->pdbs.v[id].is_live && name_key(l->pdbs.v[id].obj) == name_key(o));
	journal_hold(l, ENTRY_PDB_SWAP, id, l->pdbs.v[id].obj);
	swap(l, id, take(o));
	ledger_moved(l);
}

void undo_pdb_swap(struct ledger *l, const struct journal_entry *e)
{
	struct obj_pdb *o = l->pdbs.v[e->id].obj;
	swap(l, e->id, e->held);
	let_go(l, o);
}

void settle_pdb_swap(struct ledger *l, const struct journal_entry *e)
{
	let_go(l, e->held);
}

void ledger_pdb_lower(struct ledger *l, pdb_id id, int32_t by)
{
	assert(id < l->pdb_ids.limit && l->pdbs.v[id].is_live);
	int64_t lower = (int64_t)l->pdbs.v[id].obj->allowed - by;

	journal_add(l, ENTRY_PDB_LOWER, id)->ns = l->pdbs.v[id].obj->allowed;
	l->budget_standing++;
	l->pdbs.v[id].obj->allowed = lower < INT32_MIN ? INT32_MIN : (int32_t)lower;
	ledger_moved(l);
}

void undo_pdb_lower(struct ledger *l, const struct journal_entry *e)
{
	l->budget_standing++;
	l->pdbs.v[e->id].obj->allowed = (int32_t)e->ns;
}

void ledger_pdb_drop(struct ledger *l, pdb_id id)
{
	assert(id < l->pdb_ids.limit && l->pdbs.v[id].is_live);
	journal_hold(l, ENTRY_PDB_GONE, id, l->pdbs.v[id].obj);
	go(l, id);
	ledger_moved(l);
}

void undo_pdb_gone(struct ledger *l, const struct journal_entry *e)
{
	come(l, e->id, e->held);
}

void settle_pdb_gone(struct ledger *l, const struct journal_entry *e)
{
	ids_give(&l->pdb_ids, e->id);
	let_go(l, e->held);
}

pdb_id ledger_pdb_find(const struct ledger *l, name_id ns, name_id name)
{
	return map_get(&l->pdb_by_name, map_key2(ns, name));
}

void pdbs_free(struct ledger *l)
{
	for (pdb_id id = 0; id < l->pdb_ids.limit; id++) {
		if (l->pdbs.v[id].is_live)
			let_go(l, l->pdbs.v[id].obj);
	}
	for (labelset_id labelset = 0; labelset < l->labelsets.n; labelset++)
		mem_free(l->labelsets.v[labelset].pdbs);
	array_free(&l->pdbs);
	array_free(&l->pdb_ns);
	array_free(&l->pdb_ids.free);
	array_free(&l->labelsets);
	map_free(&l->pdb_by_name);
}

uint64_t ledger_budget_generation(const struct ledger *l)
{
	return l->budget_generation;
}

uint64_t ledger_budget_standing(const struct ledger *l)
{
	return l->budget_standing;
}

uint64_t ledger_labelset_cover(const struct ledger *l, labelset_id labelset)
{
	return labelset < l->labelsets.n ? l->labelsets.v[labelset].cover : 0;
}
