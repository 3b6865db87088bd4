/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided about volumes and is not in the objects yet. Three lists find it again: by pod, by claim, by volume.
 * Something said that is taken back keeps its place and its names until it can no longer be undone, as dropped pods do.
 */
#include "ledger/ledger_internal.h"

static uint64_t claim_key(const struct assumption *a)
{
	return map_key2(a->ns, a->claim);
}

static uint64_t pod_key(pod_id pod)
{
	return pod != POD_NONE ? (uint64_t)pod + 1 : 0;
}

static void enlist(struct ledger *l, uint32_t id)
{
	const struct assumption *a = &l->assumptions.v[id];

	id_index_put(&l->assumed_by_pod, id, pod_key(a->pod));
	id_index_put(&l->assumed_by_claim, id, claim_key(a));
	id_index_put(&l->assumed_by_volume, id, a->volume);
	l->n_assumptions++;
}

static void delist(struct ledger *l, uint32_t id)
{
	id_index_put(&l->assumed_by_pod, id, 0);
	id_index_put(&l->assumed_by_claim, id, 0);
	id_index_put(&l->assumed_by_volume, id, 0);
	l->n_assumptions--;
}

static void count_names(struct ledger *l, const struct assumption *a, void (*count)(struct names *, name_id))
{
	count(l->names, a->ns);
	count(l->names, a->claim);
	count(l->names, a->volume);
	count(l->names, a->node);
}

/* ---- asking ---- */

static const struct assumption *nth(const struct ledger *l, const struct id_index *x, uint64_t key, uint32_t i)
{
	uint32_t id = l->n_assumptions > 0 ? id_index_first(x, key) : ID_NONE;

	while (id != ID_NONE && i-- > 0)
		id = id_index_next(x, id);
	return id == ID_NONE ? NULL : &l->assumptions.v[id];
}

const struct assumption *ledger_volume_assumed(const struct ledger *l, name_id volume)
{
	return nth(l, &l->assumed_by_volume, volume, 0);
}

const struct assumption *ledger_claim_assumed(const struct ledger *l, name_id ns, name_id claim, uint32_t i)
{
	return nth(l, &l->assumed_by_claim, map_key2(ns, claim), i);
}

const struct assumption *ledger_pod_assumed(const struct ledger *l, pod_id pod, uint32_t i)
{
	return nth(l, &l->assumed_by_pod, pod_key(pod), i);
}

/* ---- moves ---- */

static bool is_said(const struct ledger *l, const struct assumption *a)
{
	const struct assumption *b;

	for (uint32_t i = 0; (b = ledger_pod_assumed(l, a->pod, i)) != NULL; i++)
		if (b->ns == a->ns && b->claim == a->claim && b->volume == a->volume && b->node == a->node)
			return true;
	return false;
}

void ledger_assume(struct ledger *l, const struct assumption *a)
{
	const struct assumption *other = a->volume != NAME_NONE ? ledger_volume_assumed(l, a->volume) : NULL;
	bool is_fresh;
	uint32_t id;

	assert(a->pod < l->pod_ids.limit && l->pods.v[a->pod].state != POD_FREE);
	assert(other == NULL || claim_key(other) == claim_key(a));
	if (is_said(l, a))
		return;
	id = ids_take(&l->assumption_ids, &is_fresh);
	array_cover(&l->assumptions, l->assumption_ids.limit);
	l->assumptions.v[id] = *a;
	l->assumptions.v[id].is_live = true;
	count_names(l, a, names_keep);
	enlist(l, id);
	journal_add(l, ENTRY_ASSUME, id)->flag = is_fresh;
	ledger_moved(l);
}

void undo_assume(struct ledger *l, const struct journal_entry *e)
{
	delist(l, e->id);
	count_names(l, &l->assumptions.v[e->id], names_drop);
	l->assumptions.v[e->id] = (struct assumption){0};
	ids_untake(&l->assumption_ids, e->id, e->flag);
}

static void take_back(struct ledger *l, uint32_t id)
{
	journal_hold(l, ENTRY_UNASSUME, id, NULL);
	delist(l, id);
	l->assumptions.v[id].is_live = false;
	ledger_moved(l);
}

void undo_unassume(struct ledger *l, const struct journal_entry *e)
{
	l->assumptions.v[e->id].is_live = true;
	enlist(l, e->id);
}

void settle_unassume(struct ledger *l, const struct journal_entry *e)
{
	count_names(l, &l->assumptions.v[e->id], names_drop);
	l->assumptions.v[e->id] = (struct assumption){0};
	ids_give(&l->assumption_ids, e->id);
}

static void take_back_all(struct ledger *l, const struct id_index *x, uint64_t key)
{
	while (l->n_assumptions > 0 && id_index_first(x, key) != ID_NONE)
		take_back(l, id_index_first(x, key));
}

void ledger_unassume(struct ledger *l, pod_id pod)
{
	take_back_all(l, &l->assumed_by_pod, pod_key(pod));
}

void ledger_settle_assumed(struct ledger *l, pod_id pod)
{
	for (uint32_t id; l->n_assumptions > 0 && (id = id_index_first(&l->assumed_by_pod, pod_key(pod))) != ID_NONE;) {
		journal_add(l, ENTRY_SETTLE_ASSUMED, id)->pos = pod;
		l->assumptions.v[id].pod = POD_NONE;
		id_index_put(&l->assumed_by_pod, id, 0);
		ledger_moved(l);
	}
}

void undo_settle_assumed(struct ledger *l, const struct journal_entry *e)
{
	l->assumptions.v[e->id].pod = e->pos;
	id_index_put(&l->assumed_by_pod, e->id, pod_key(e->pos));
}

void ledger_unassume_claim(struct ledger *l, name_id ns, name_id claim)
{
	take_back_all(l, &l->assumed_by_claim, map_key2(ns, claim));
}

void ledger_unassume_volume(struct ledger *l, name_id volume)
{
	take_back_all(l, &l->assumed_by_volume, volume);
}

/* ---- self-check ---- */

static bool pod_may_assume(const struct pod *p)
{
	return p->state == POD_PLACED || p->state == POD_LEAVING || p->state == POD_WAITING;
}

static bool is_listed(const struct id_index *x, uint64_t key, uint32_t id)
{
	for (uint32_t i = id_index_first(x, key); i != ID_NONE; i = id_index_next(x, i))
		if (i == id)
			return true;
	return key == 0;
}

static enum err_code check_one(const struct ledger *l, uint32_t id, struct err *e)
{
	const struct assumption *a = &l->assumptions.v[id], *b;

	if (a->pod != POD_NONE && (a->pod >= l->pod_ids.limit || !pod_may_assume(&l->pods.v[a->pod])))
		return err_fail(e, ERR_INTERNAL, "volumes: claim %s: is decided for a pod that is not there",
				name_str(l->names, a->claim));
	if (!is_listed(&l->assumed_by_pod, pod_key(a->pod), id) || !is_listed(&l->assumed_by_claim, claim_key(a), id) ||
	    !is_listed(&l->assumed_by_volume, a->volume, id))
		return err_fail(e, ERR_INTERNAL, "volumes: claim %s: is not found by its pod, name or volume",
				name_str(l->names, a->claim));
	b = a->volume != NAME_NONE ? ledger_volume_assumed(l, a->volume) : NULL;
	if (b != NULL && claim_key(b) != claim_key(a))
		return err_fail(e, ERR_INTERNAL, "volumes: volume %s is for claims %s and %s",
				name_str(l->names, a->volume), name_str(l->names, a->claim),
				name_str(l->names, b->claim));
	return ERR_OK;
}

enum err_code assumptions_check(const struct ledger *l, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t id = 0; id < l->assumption_ids.limit; id++) {
		if (!l->assumptions.v[id].is_live)
			continue;
		if (check_one(l, id, e) != ERR_OK)
			return ERR_INTERNAL;
		n++;
	}
	if (n != l->n_assumptions)
		return err_fail(e, ERR_INTERNAL, "volumes: %u decided, %u counted", n, l->n_assumptions);
	return ERR_OK;
}

uint64_t assumptions_mix(const struct ledger *l, uint64_t h)
{
	for (uint32_t id = 0; id < l->assumption_ids.limit; id++) {
		const struct assumption *a = &l->assumptions.v[id];

		if (!a->is_live)
			continue;
		h = hash_mix(hash_mix(hash_mix(h, id), a->pod), claim_key(a));
		h = hash_mix(h, map_key2(a->volume, a->node));
	}
	return hash_mix(h, l->n_assumptions);
}

void assumptions_free(struct ledger *l)
{
	for (uint32_t id = 0; id < l->assumption_ids.limit; id++)
		if (l->assumptions.v[id].is_live)
			count_names(l, &l->assumptions.v[id], names_drop);
	array_free(&l->assumptions);
	array_free(&l->assumption_ids.free);
	id_index_free(&l->assumed_by_pod);
	id_index_free(&l->assumed_by_claim);
	id_index_free(&l->assumed_by_volume);
}
