/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/quota.h"

#include <stdlib.h>

#include "engine/search.h"

/* ---- amounts ---- */

static int64_t above_guarantee(const struct ledger *l, queue_id q, res_id r)
{
	int64_t g = queue_guarantee(queue_get(ledger_queues(l), q), r), used = ledger_queue_used(l, q)[r];

	return g <= 0 ? used : used > g ? used - g : 0;
}

void quota_target(const struct ledger *l, queue_id q, struct res_vec *ret)
{
	const struct queue_tree *t = ledger_queues(l);
	const struct res_vec *max = &queue_get(t, q)->spec.max;

	*ret = (struct res_vec){0};
	for (uint64_t left = max->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t amount = ledger_queue_used(l, q)[r] - max->v[r];

		for (queue_id up = q; amount > 0 && up != QUEUE_NONE; up = queue_get(t, up)->parent) {
			int64_t excess = above_guarantee(l, up, r);

			amount = excess < amount ? excess : amount;
		}
		if (amount > 0)
			res_put(ret, r, amount);
	}
}

void quota_share(const struct ledger *l, queue_id parent, queue_id child, const struct res_vec *target,
		 struct res_vec *ret)
{
	const struct queue *p = queue_get(ledger_queues(l), parent);

	*ret = (struct res_vec){0};
	for (uint64_t left = target->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t mine = above_guarantee(l, child, r), amount;
		__int128 all = 0;

		for (uint32_t i = 0; i < p->children.n; i++)
			all += above_guarantee(l, p->children.v[i], r);
		amount = all > 0 ? (int64_t)((__int128)mine * target->v[r] / all) : 0;
		if (amount > 0)
			res_put(ret, r, amount);
	}
}

/* ---- victims of a leaf ---- */

struct quota_candidate {
	pod_id pod;
	const struct pod *p;
	const struct res_list *usage;
	int rank; /* 0 regular, 1 driver, 2 opted out */
	int64_t lost_work;
};

static int64_t holds(const struct quota_candidate *m, res_id r)
{
	return r == RES_PODS ? 1 : res_list_get(m->usage, r);
}

static bool holds_any(const struct quota_candidate *m, const struct res_vec *target)
{
	for (uint64_t left = target->mask; left; left &= left - 1)
		if (holds(m, (res_id)__builtin_ctzll(left)))
			return true;
	return false;
}

static int by_order(const void *a, const void *b, void *ctx)
{
	const struct engine *en = ctx;
	const struct vocab *v = ledger_vocab(en->ledger);
	const struct names *names = vocab_names(ledger_vocab(en->ledger));
	const struct quota_candidate *x = a, *y = b;
	int d;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->p->priority != y->p->priority)
		return x->p->priority < y->p->priority ? -1 : 1;
	if (x->lost_work != y->lost_work)
		return x->lost_work < y->lost_work ? -1 : 1;
	if (x->p->created_ns != y->p->created_ns)
		return x->p->created_ns > y->p->created_ns ? -1 : 1;
	d = name_cmp(names, labelset_get(v, x->p->labelset)->ns, labelset_get(v, y->p->labelset)->ns);
	return d ? d : name_cmp(names, x->p->name, y->p->name);
}

static uint32_t gather(struct engine *en, struct judge *j, queue_id leaf, const struct res_vec *target,
		       struct quota_candidate *out)
{
	uint32_t n, count = 0;
	const pod_id *pods = ledger_queue_pods(en->ledger, leaf, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(en->ledger, pods[i]);
		struct quota_candidate m = {
			.pod = pods[i], .p = p, .usage = &shape_get(ledger_vocab(en->ledger), p->shape)->usage};

		if (p->state != POD_PLACED || !holds_any(&m, target) || judge_victim(j, pods[i]).answer == IS_PROTECTED)
			continue;
		m.lost_work = lost_work_of(en->ledger, p, j->now_ns);
		m.rank = judge_opted_out(j, p) ? 2 : judge_is_driver(j, p) ? 1 : 0;
		out[count++] = m;
	}
	if (count)
		qsort_r(out, count, sizeof(*out), by_order, en);
	return count;
}

/*
 * Taken only if it fits in what is still to be given back, in every type that is asked for, and if no queue on the way
 * up falls below its guarantee: what is asked of all children together may be more than they have above theirs.
 */
static bool may_go(const struct ledger *l, const struct quota_candidate *m, const struct res_vec *left)
{
	const struct queue_tree *t = ledger_queues(l);

	for (uint64_t types = left->mask; types; types &= types - 1) {
		res_id r = (res_id)__builtin_ctzll(types);

		if (holds(m, r) > left->v[r])
			return false;
		for (queue_id q = m->p->queue; holds(m, r) && q != QUEUE_NONE; q = queue_get(t, q)->parent)
			if (holds(m, r) > above_guarantee(l, q, r))
				return false;
	}
	return true;
}

struct catch
{ /* victims found so far */
	ARRAY(struct victim) v;
};

/* MR-10 on all of them: a podset that lost one inside its minimum runtime keeps its minimum. */
static bool keeps_minimum(const struct ledger *l, struct judge *j, const struct pod *p, const struct catch *c)
{
	if (p->podset == PODSET_NONE || judge_can_spare(l, p->podset, 1))
		return true;
	for (uint32_t i = 0; i < c->v.n; i++) {
		const struct pod *gone = ledger_pod(l, c->v.v[i].pod);

		if (gone->podset == p->podset && judge_window(j, gone).answer == IS_PROTECTED)
			return false;
	}
	return true;
}

static void take_from_leaf(struct engine *en, struct judge *j, queue_id leaf, const struct res_vec *target,
			   int64_t now_ns, struct catch *c)
{
	struct quota_candidate *candidates;
	struct res_vec left = *target;
	uint32_t n;

	ledger_queue_pods(en->ledger, leaf, &n);
	candidates = mem_alloc((n + 1) * sizeof(*candidates));
	n = gather(en, j, leaf, target, candidates);
	for (uint32_t i = 0; i < n; i++) {
		struct victim v = {.pod = candidates[i].pod, .node = candidates[i].p->node, .queue = leaf};

		/* Budgets and the surplus of groups are spent by the evictions before this one. */
		if (!may_go(en->ledger, &candidates[i], &left) ||
		    judge_victim(j, candidates[i].pod).answer == IS_PROTECTED ||
		    !keeps_minimum(en->ledger, j, candidates[i].p, c))
			continue;
		for (uint64_t types = left.mask; types; types &= types - 1)
			left.v[__builtin_ctzll(types)] -= holds(&candidates[i], (res_id)__builtin_ctzll(types));
		v.lost_ns = lost_ns_of(candidates[i].p, now_ns);
		v.overridden = candidates[i].rank == 2	 ? RULE_OPT_OUT
			       : candidates[i].rank == 1 ? RULE_DRIVER
							 : RULE_NONE;
		array_push(&c->v, v);
		ledger_evict(en->ledger, candidates[i].pod);
	}
	mem_free(candidates);
}

/* Shares of all children are worked out before the first of them loses anything. */
static void take_from(struct engine *en, struct judge *j, queue_id q, const struct res_vec *target, int64_t now_ns,
		      struct catch *c)
{
	const struct queue *queue = queue_get(ledger_queues(en->ledger), q);
	struct res_vec *shares;

	if (!queue->children.n) {
		take_from_leaf(en, j, q, target, now_ns, c);
		return;
	}
	shares = mem_alloc((queue->children.n + 1) * sizeof(*shares));
	for (uint32_t i = 0; i < queue->children.n; i++)
		quota_share(en->ledger, q, queue->children.v[i], target, &shares[i]);
	for (uint32_t i = 0; i < queue->children.n; i++)
		if (shares[i].mask)
			take_from(en, j, queue->children.v[i], &shares[i], now_ns, c);
	mem_free(shares);
}

/* ---- all queues ---- */

static void record(struct engine *en, queue_id q, uint32_t cycle, const struct catch *c, struct decisions *ret)
{
	struct victim *v = arena_n(ret->arena, c->v.n + 1, struct victim);
	struct decision d = {.pod = POD_NONE,
			     .overdue = {.node = NODE_NONE},
			     .group = GROUP_NONE,
			     .queue = q,
			     .outcome = OUTCOME_EVICTED,
			     .action = ACTION_QUOTA,
			     .node = NODE_NONE,
			     .runner_up = NODE_NONE,
			     .cycle = cycle,
			     .until_ns = TIME_NONE};

	(void)en;
	memcpy(v, c->v.v, c->v.n * sizeof(*v));
	d.n_victims = c->v.n;
	d.victims = v;
	array_push(&ret->v, d);
}

static void run_queue(struct engine *en, struct judge *j, queue_id q, int64_t now_ns, uint32_t cycle,
		      struct decisions *ret)
{
	const struct queue *queue = queue_get(ledger_queues(en->ledger), q);
	struct res_vec target;
	struct catch c = {0};

	if ((queue->spec.sources & FROM_YUNIKORN) && queue->props.quota_delay_ns > 0) {
		quota_target(en->ledger, q, &target);
		if (target.mask)
			take_from(en, j, q, &target, now_ns, &c);
		if (c.v.n)
			record(en, q, cycle, &c, ret);
		array_free(&c.v);
	}
	for (uint32_t i = 0; i < queue->children.n; i++)
		run_queue(en, j, queue->children.v[i], now_ns, cycle, ret);
}

void quota_run(struct engine *en, int64_t now_ns, uint32_t cycle, struct decisions *ret)
{
	struct rule_settings settings = engine_rule_settings(en);
	struct judge j;

	if (!en->config->quota_is_on)
		return;
	judge_init(&j, en->cluster, en->ledger, &settings, ACTION_QUOTA, POD_NONE, now_ns, &en->scratch);
	run_queue(en, &j, QUEUE_ROOT, now_ns, cycle, ret);
}
