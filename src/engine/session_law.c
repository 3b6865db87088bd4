/* SPDX-License-Identifier: Apache-2.0 */
/* Is the outcome of a trial lawful? Who is lost, by fair shares; who moves; whose minimum would not stay. */
#include <stdlib.h>
#include <string.h>

#include "engine/session_solver.h"

static bool is_lost(const struct session *s, uint32_t member)
{
	return !is_in(s->members[member].status, SET_ACTIVE);
}

static int by_key(const void *a, const void *b, void *session)
{
	const struct session *s = session;
	uint64_t x = s->searched[*(const uint32_t *)a].order_key, y = s->searched[*(const uint32_t *)b].order_key;

	return x < y ? -1 : x > y;
}

/* Mostly they are in order: candidates are, and those on a node are noted as they come. */
static void sort_workloads(struct session *s, uint32_t *workloads, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (s->searched[workloads[i - 1]].order_key > s->searched[workloads[i]].order_key) {
			qsort_r(workloads, n, sizeof(*workloads), by_key, s);
			return;
		}
}

void solver_sort_new(struct solver *v)
{
	sort_workloads(v->s, v->new_workloads.v, v->new_workloads.n);
}

void solver_gone_workloads(struct solver *v)
{
	struct session *s = v->s;
	uint64_t stamp = ++s->stamp;

	v->workloads.n = 0;
	for (uint32_t i = 0; i < v->gone.n; i++) {
		struct workload_search *u = &s->searched[s->members[v->gone.v[i]].workload];

		if (u->seen_stamp == stamp)
			continue;
		u->seen_stamp = stamp;
		array_push(&v->workloads, s->members[v->gone.v[i]].workload);
	}
	sort_workloads(s, v->workloads.v, v->workloads.n);
}

/* Consolidation: every victim must have a new place. */
static bool nobody_lost(struct solver *v)
{
	for (uint32_t i = 0; i < v->gone.n; i++)
		if (v->s->members[v->gone.v[i]].status == IS_LEAVING)
			return false;
	return true;
}

static bool is_same_share(const struct share_batch *b, uint32_t queue, const double r[KAI_RES])
{
	for (uint32_t i = 0; i < KAI_RES; i++)
		if (b->r[i] != r[i])
			return false;
	return b->queue == queue;
}

/* Moving is an eviction: budgets and allowances of the hour count for all of them together. */
static bool may_move_together(struct solver *v)
{
	struct session *s = v->s;
	struct victim_set set;

	if (!s->is_for_moves)
		return true;
	victim_set_init(&set, &s->judge, &s->sets);
	victim_set_begin(&set, NODE_NONE, false);
	for (uint32_t i = 0; i < v->gone.n; i++) {
		pod_id pod = s->members[v->gone.v[i]].pod;
		const struct pod *p = ledger_pod(s->ledger, pod);
		const struct set_victim victim = {.pod = pod,
						  .p = p,
						  .usage = &shape_get(ledger_vocab(s->ledger), p->shape)->usage,
						  .n_pods = 1,
						  .queue = judge_queue(&s->judge, p->queue)};

		if (!solver_goes(s, v->gone.v[i]))
			continue;
		if (victim_set_refusal(&set, &victim).answer == IS_PROTECTED)
			return false;
		victim_set_take(&set, &victim);
	}
	return true;
}

static void add_share(share_list *list, uint32_t queue, const double r[KAI_RES])
{
	struct share_batch b = {.queue = queue};

	if (list->n > 0 && is_same_share(&array_last(list), queue, r)) {
		array_last(list).more++;
		return;
	}
	memcpy(b.r, r, sizeof(b.r));
	array_push(list, b);
}

static void sum_share(const struct session *s, double sum[KAI_RES], uint32_t member)
{
	for (uint32_t r = 0; r < KAI_RES; r++)
		sum[r] += s->signatures[s->members[member].signature].share[r];
}

/* Moved work counts as lost where a reclaim may not consolidate. */
static bool is_counted(const struct session *s, uint32_t member)
{
	return s->settings->forbids_consolidating_reclaim ? solver_goes(s, member) : is_lost(s, member);
}

/* Of each podset the first up to the minimum are one batch, every other member one of its own. */
static void shares_of_workload(struct solver *v, uint32_t workload, share_list *ret)
{
	struct session *s = v->s;
	const struct workload *u = &s->workloads[workload];
	uint32_t seen[16] = {0}, *n_seen = u->n_podsets > 16 ? mem_alloc(u->n_podsets * sizeof(*n_seen)) : seen;
	double core[KAI_RES] = {0};
	bool has_core = false;

	for (uint32_t b = search_of(s, u)->first_batch; b != NONE; b = v->batches.v[b].next)
		for (uint32_t i = 0; i < v->batches.v[b].n; i++) {
			uint32_t member = v->members.v[v->batches.v[b].first + i];
			uint32_t podset = s->members[member].podset;
			bool is_core = n_seen[podset - u->first_podset]++ < (uint32_t)s->podsets[podset].min;
			double own[KAI_RES] = {0};

			if (!is_counted(s, member))
				continue;
			sum_share(s, is_core ? core : own, member);
			if (!is_core)
				add_share(ret, u->queue, own);
			has_core |= is_core;
		}
	if (has_core)
		add_share(ret, u->queue, core);
	if (n_seen != seen)
		mem_free(n_seen);
}

/* Batches of one queue together, queues in the order they came. */
static void sort_shares(struct solver *v)
{
	struct session *s = v->s;
	uint64_t stamp = ++s->stamp;
	uint32_t n_queues = 0, *at;

	for (uint32_t i = 0; i < v->shares.n; i++) {
		struct session_queue *q = &s->queues[v->shares.v[i].queue];

		if (q->share_stamp != stamp) {
			q->share_stamp = stamp;
			q->share_index = n_queues++;
			q->n_shares = 0;
		}
		q->n_shares++;
	}
	if (n_queues < 2)
		return;
	at = mem_alloc((n_queues + 1) * sizeof(*at));
	for (uint32_t i = 0; i < v->shares.n; i++) {
		const struct session_queue *q = &s->queues[v->shares.v[i].queue];

		at[q->share_index + 1] = q->n_shares;
	}
	for (uint32_t i = 0; i < n_queues; i++)
		at[i + 1] += at[i];
	array_reserve(&v->sorted, v->shares.n);
	for (uint32_t i = 0; i < v->shares.n; i++)
		v->sorted.v[at[s->queues[v->shares.v[i].queue].share_index]++] = v->shares.v[i];
	memcpy(v->shares.v, v->sorted.v, v->shares.n * sizeof(*v->shares.v));
	mem_free(at);
}

static void add_shares_of(struct solver *v, uint32_t workload, share_list *ret)
{
	const struct session *s = v->s;
	const struct workload *u = &s->workloads[workload];
	uint32_t only = s->podsets[u->first_podset].first;

	if (u->n_members > 1)
		shares_of_workload(v, workload, ret);
	else if (is_counted(s, only))
		add_share(ret, u->queue, s->signatures[s->members[only].signature].share);
}

static void gather_shares(struct solver *v)
{
	v->shares.n = 0;
	if (v->all_lost && v->n_complex == 0) { /* what recorded victims hold is known */
		for (uint32_t i = 0; i < v->base_shares.n; i++)
			array_push(&v->shares, v->base_shares.v[i]);
		solver_sort_new(v);
		for (uint32_t i = 0; i < v->new_workloads.n; i++)
			add_shares_of(v, v->new_workloads.v[i], &v->shares);
	} else {
		solver_gone_workloads(v);
		for (uint32_t i = 0; i < v->workloads.n; i++)
			add_shares_of(v, v->workloads.v[i], &v->shares);
	}
	sort_shares(v);
}

/* Whoever of the side that is named would be lost. */
static void note_refused(struct solver *v, const struct share_verdict *why)
{
	struct session *s = v->s;

	if (s->memo == NULL || s->fates[v->workload].n_refused >= REFUSALS_NOTED)
		return;
	for (uint32_t i = 0; i < v->gone.n; i++)
		if (is_lost(s, v->gone.v[i]))
			session_note_refused(s, v->gone.v[i], why);
}

/* What is lost is in v->shares. */
static bool are_reclaimable(struct solver *v, struct share_verdict *why)
{
	struct session *s = v->s;
	bool is_core = false;

	for (uint32_t i = 0; i < v->n_step; i++)
		is_core |= s->members[v->want[i]].is_core;
	return share_reclaimable(s->settled, s->n_queues, s->workloads[v->workload].queue, s->step_request, is_core,
				 v->shares.v, v->shares.n, s->settings->saturation, &s->share_scratch, why);
}

bool solver_shares_refuse(struct solver *v, const uint32_t *lost, uint32_t n, struct share_verdict *why)
{
	const struct session *s = v->s;

	v->shares.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct workload *u = &s->workloads[lost[i]];
		const double *share = s->signatures[s->members[s->podsets[u->first_podset].first].signature].share;
		double all[KAI_RES];

		for (uint32_t r = 0; r < KAI_RES; r++)
			all[r] = u->n_members * share[r];
		add_share(&v->shares, u->queue, all);
	}
	sort_shares(v);
	return !are_reclaimable(v, why);
}

static bool shares_allow(struct solver *v)
{
	struct session *s = v->s;
	struct workload_fate *u = &s->fates[v->workload];
	struct share_verdict why;

	if (!judge_asks(&s->judge, RULE_FAIR_SHARE))
		return true;
	gather_shares(v);
	if (are_reclaimable(v, &why))
		return true;
	u->refusal = why;
	u->refused_rule = RULE_FAIR_SHARE;
	note_refused(v, &why);
	return false;
}

/* Does a member of the podset that is placed, not only nominated, go or move? */
static bool is_interrupted(const struct solver *v, const struct workload *u, uint32_t podset)
{
	const struct session *s = v->s;

	for (uint32_t b = search_of(s, u)->first_batch; b != NONE; b = v->batches.v[b].next)
		for (uint32_t i = 0; i < v->batches.v[b].n; i++) {
			const uint32_t id = v->members.v[v->batches.v[b].first + i];
			const struct member *m = &s->members[id];

			if (m->podset == podset && solver_goes(s, id) && is_in(settled_status(s, m), SET_ALLOCATED))
				return true;
		}
	return false;
}

/*
 * MR-10: of a podset that is inside its window at least the minimum stays. Those already leaving do not count, nor do
 * those that will start in the place of others: they are not running.
 */
static bool minimums_stay(struct solver *v)
{
	struct session *s = v->s;

	if (v->n_complex == 0 && v->all_lost)
		return true; /* whole workloads: the window was looked at before they became candidates */
	solver_gone_workloads(v);
	for (uint32_t i = 0; i < v->workloads.n; i++) {
		const struct workload *u = &s->workloads[v->workloads.v[i]];

		if (!solver_keeps_core(v, v->workloads.v[i]))
			continue;
		for (uint32_t p = u->first_podset; p < u->first_podset + u->n_podsets; p++)
			if (podset_count(&s->podsets[p], SET_ALLOCATED) < (uint32_t)s->podsets[p].min &&
			    is_interrupted(v, u, p)) {
				s->fates[v->workload].refused_rule =
					u->is_semi ? RULE_PREEMPTIBILITY : RULE_MIN_RUNTIME;
				return false;
			}
	}
	return true;
}

/* A group of disruptionMode all moves as a whole, or not at all. */
static bool whole_groups_move(struct solver *v)
{
	struct session *s = v->s;

	if (!s->is_for_moves)
		return true;
	solver_gone_workloads(v);
	for (uint32_t i = 0; i < v->workloads.n; i++) {
		const struct workload *u = &s->workloads[v->workloads.v[i]];
		uint32_t first = s->podsets[u->first_podset].first, n_runs = 0, n_goes = 0;

		if (u->group == GROUP_NONE || !ledger_group(s->ledger, u->group)->obj->goes_whole)
			continue;
		for (uint32_t k = first; k < first + u->n_members; k++) {
			n_runs += s->members[k].was_running;
			n_goes += s->members[k].was_running && solver_goes(s, k);
		}
		if (n_goes > 0 && n_goes < n_runs)
			return false;
	}
	return true;
}

bool solver_is_lawful(struct solver *v)
{
	struct workload_fate *u = &v->s->fates[v->workload];
	bool is_ok = v->action == ACTION_CONSOLIDATE ? nobody_lost(v) && whole_groups_move(v) && may_move_together(v)
		     : v->action == ACTION_RECLAIM   ? shares_allow(v) && minimums_stay(v)
						     : minimums_stay(v);

	u->n_refused += !is_ok && v->action != ACTION_CONSOLIDATE;
	return is_ok;
}

void solver_note_base_shares(struct solver *v)
{
	solver_sort_new(v);
	for (uint32_t i = 0; i < v->new_workloads.n; i++)
		add_shares_of(v, v->new_workloads.v[i], &v->base_shares);
}
