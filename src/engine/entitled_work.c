/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/entitled_work.h"

#include <stdlib.h>

#include "engine/gang.h"
#include "rules/judge.h"

/* ---- what it asks for ---- */

static void add_pod(const struct ledger *l, const struct pod *p, struct work *w)
{
	const struct res_list *request = &shape_get(ledger_vocab(l), p->shape)->request;
	bool is_counted = p->nomination != NOMINATION_NONE; /* the queue's use has it already */

	w->adds[RES_PODS] += !is_counted;
	for (uint32_t i = 0; i < request->n; i++) {
		res_id r = request->v[i].type;

		if (r == RES_PODS || request->v[i].amount <= 0)
			continue;
		w->asked |= UINT64_C(1) << r;
		if (!is_counted)
			w->adds[r] = res_add_sat(w->adds[r], request->v[i].amount);
	}
}

void work_of_pod(const struct ledger *l, pod_id pod, struct work *ret)
{
	*ret = (struct work){0};
	add_pod(l, ledger_pod(l, pod), ret);
}

static void collect(const struct engine *en, group_id group, struct pod_list *out)
{
	const struct cluster *c = en->cluster;

	for (pod_id i = cluster_group_first(c, group); i != POD_NONE; i = cluster_group_next(c, i)) {
		const struct pod *p = ledger_pod(en->ledger, i);

		if (p->state == POD_WAITING && p->group == group && engine_is_ours(en, p))
			array_push(out, i);
	}
	if (out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), gang_member_order, en->ledger);
}

void work_of_group(const struct engine *en, group_id group, struct work *ret)
{
	const struct ledger *l = en->ledger;
	const struct group *g = ledger_group(l, group);
	struct pod_list all = {0};

	*ret = (struct work){0};
	collect(en, group, &all);
	for (podset_id s = g->first_podset; s < g->first_podset + g->n_podsets; s++) {
		uint32_t min = gang_minimum(l, s), placed = ledger_podset(l, s)->n_placed;

		for (uint32_t i = 0; placed < min && i < all.n; i++) {
			if (ledger_pod(l, all.v[i])->podset != s)
				continue;
			add_pod(l, ledger_pod(l, all.v[i]), ret);
			placed++;
		}
	}
	array_free(&all);
}

/* ---- what is guaranteed ---- */

/* Takes the types out of *ungranted that q guarantees; false: with the work it would be above its guarantee in one. */
static bool stays_within(const struct ledger *l, queue_id q, const struct work *w, uint64_t *ungranted)
{
	const struct queue *queue = queue_get(ledger_queues(l), q);
	const int64_t *used = ledger_queue_used(l, q), *reserved = ledger_queue_reserved(l, q);
	uint64_t types = (w->asked | UINT64_C(1) << RES_PODS) & queue->spec.guaranteed.mask;

	for (; types; types &= types - 1) {
		res_id r = (res_id)__builtin_ctzll(types);
		int64_t g = queue_guarantee(queue, r);

		if (g <= 0)
			continue;
		*ungranted &= ~(UINT64_C(1) << r);
		if (res_add_sat(res_add_sat(used[r], reserved[r]), w->adds[r]) > g)
			return false;
	}
	return true;
}

bool work_is_entitled(const struct ledger *l, queue_id leaf, const struct work *w)
{
	uint64_t ungranted = w->asked;

	for (queue_id q = leaf; q != QUEUE_NONE; q = queue_get(ledger_queues(l), q)->parent)
		if (!stays_within(l, q, w, &ungranted))
			return false;
	return w->asked && !ungranted;
}
