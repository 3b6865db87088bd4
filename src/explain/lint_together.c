/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are fine one by one and come to nothing together. */
#include "explain/lint_internal.h"
#include "rules/judge.h"
#include "units/duration.h"

static const char *duration(const struct look_at *a, int64_t ns)
{
	struct text t = {0};
	const char *s;

	duration_text_short(ns, &t);
	s = arena_strndup(a->out->arena, text_str(&t), t.n);
	text_free(&t);
	return s;
}

static bool is_live_leaf(const struct look_at *a, queue_id q)
{
	return queue_get(a->tree, q)->is_live && queue_is_leaf(a->tree, q);
}

static bool is_guaranteed(const struct look_at *a, queue_id q)
{
	return !res_vec_is_zero(&queue_get(a->tree, q)->spec.guaranteed);
}

/* ---- a guarantee behind a fence with nobody to take from ---- */

static queue_id fence_around(const struct look_at *a, queue_id q)
{
	while (q != QUEUE_ROOT && queue_get(a->tree, q)->props.preemption_policy != POLICY_FENCE)
		q = queue_get(a->tree, q)->parent;
	return q;
}

static uint32_t leaves_inside(const struct look_at *a, queue_id outer)
{
	uint32_t n = 0;

	for (queue_id q = 0; q < a->tree->q.n; q++)
		n += is_live_leaf(a, q) && queue_is_above(a->tree, outer, q);
	return n;
}

static void check_fenced_guarantee(const struct look_at *a, queue_id q)
{
	queue_id fence = fence_around(a, q);

	if (!is_guaranteed(a, q) || fence == QUEUE_ROOT || leaves_inside(a, fence) > 1 ||
	    leaves_inside(a, QUEUE_ROOT) < 2)
		return;
	lint_add(a->out, LINT_WARNING, "fenced-guarantee", lint_queue(a, q),
		 "it has a guarantee, but the fence of %s leaves it nobody to take from: it gets only what is free",
		 lint_path(a, fence));
}

/* ---- work that is protected longer than others are asked to wait ---- */

/* The most impatient of those who could ask. */
static queue_id first_taker(const struct look_at *a, queue_id from)
{
	queue_id best = QUEUE_NONE;

	for (queue_id q = 0; q < a->tree->q.n; q++) {
		if (!is_live_leaf(a, q) || !is_guaranteed(a, q) || queue_is_above(a->tree, from, q) ||
		    !queue_is_above(a->tree, fence_around(a, q), from))
			continue;
		if (best == QUEUE_NONE || queue_get(a->tree, q)->props.preemption_delay_ns <
						  queue_get(a->tree, best)->props.preemption_delay_ns)
			best = q;
	}
	return best;
}

static void check_window(const struct look_at *a, queue_id q)
{
	int64_t window = queue_get(a->tree, q)->spec.reclaim_min_runtime_ns;
	queue_id taker = window == TIME_NONE || window <= 0 ? QUEUE_NONE : first_taker(a, q);
	int64_t delay = taker == QUEUE_NONE ? 0 : queue_get(a->tree, taker)->props.preemption_delay_ns;

	if (taker == QUEUE_NONE || delay >= window)
		return;
	lint_add(a->out, LINT_NOTE, "window-beyond-delay", lint_queue(a, q),
		 "its work is protected from reclaim for %s, and %s may reclaim after %s: of work that is younger it "
		 "gets nothing, whatever it is guaranteed",
		 duration(a, window), lint_path(a, taker), duration(a, delay));
}

/* ---- budgets that allow nothing ---- */

static bool budget_allows(const struct look_at *a, const struct pod *p)
{
	uint32_t n;
	const pdb_id *ids = ledger_labelset_pdbs(a->l, p->labelset, &n);

	for (uint32_t i = 0; i < n; i++)
		if (ledger_pdb(a->l, ids[i])->obj->allowed - ledger_pdb(a->l, ids[i])->spent < 1)
			return false;
	return true;
}

static bool is_above_guarantee(const struct look_at *a, queue_id q)
{
	const int64_t *used = ledger_queue_used(a->l, q);

	for (uint64_t left = queue_get(a->tree, q)->spec.guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (used[r] <= queue_get(a->tree, q)->spec.guaranteed.v[r])
			return false;
	}
	return true;
}

static void check_budgets(const struct look_at *a, queue_id q)
{
	uint32_t n, running = 0;
	const pod_id *pods = ledger_queue_pods(a->l, q, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(a->l, pods[i]);

		if (p->state != POD_PLACED)
			continue;
		if (budget_allows(a, p))
			return;
		running++;
	}
	if (running > 0 && is_above_guarantee(a, q) && first_taker(a, q) != QUEUE_NONE)
		lint_add(a->out, LINT_NOTE, "budget-blocks", lint_queue(a, q),
			 "%s covered by disruption budgets that allow nothing: others can reclaim nothing from it",
			 running == 1 ? "the one pod that runs in it is"
				      : arena_printf(a->out->arena, "all of the %u pods that run in it are", running));
}

/* ---- groups ---- */

static void check_group(const struct look_at *a, const struct group *g)
{
	bool has_surplus = false, has_pods = false;

	if (!g->is_live || g->preemptibility != SEMI_PREEMPTIBLE)
		return;
	for (uint32_t i = 0; i < g->n_podsets; i++) {
		const struct podset *p = ledger_podset(a->l, g->first_podset + i);

		has_pods |= p->n_pods > 0;
		has_surplus |= (int64_t)p->n_pods > p->min_member;
	}
	if (has_pods && !has_surplus)
		lint_add(a->out, LINT_NOTE, "semi-is-non", lint_group(a, g),
			 "it is semi-preemptible, but its minimum is all of its pods: nothing of it may go");
}

void lint_together(const struct look_at *a)
{
	for (queue_id q = 0; q < a->tree->q.n; q++) {
		if (!queue_get(a->tree, q)->is_live)
			continue;
		check_window(a, q);
		if (!queue_is_leaf(a->tree, q))
			continue;
		check_fenced_guarantee(a, q);
		check_budgets(a, q);
	}
	for (group_id g = 0; g < ledger_group_limit(a->l); g++)
		check_group(a, ledger_group(a->l, g));
}
