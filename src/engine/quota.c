/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/quota.h"

#include <stdlib.h>

#include "engine/search.h"
#include "rules/victim_set.h"

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

struct quota_candidate {     /* who goes together: a pod, or a group of disruptionMode all */
	uint32_t first, n;   /* of shrinking.pods, by name */
	const struct pod *p; /* the first */
	struct res_vec usage;
	int rank; /* by the soft rule that would keep one of them; 0: none would */
	int64_t lost_work;
};

struct shrinking { /* all queues, one after the other */
	struct engine *en;
	struct judge *j;
	struct cede_cycle plugins;
	int64_t now_ns;
	const struct bits *held; /* queues that have time to shrink by themselves; NULL: none */
	ARRAY(struct victim) v;	 /* of the present queue */
	ARRAY(pod_id) pods;	 /* of the candidates of the present leaf */
	struct bits seen;	 /* groups of it that were looked at */
	struct victim_set_memory sets;
};

/* A soft rule that is asked earlier is given up later. */
static int rank_of(const struct rule_verdict *says)
{
	return says->answer == IS_SPARED ? RULE_COUNT - (int)says->rule : 0;
}

static struct rule_verdict verdict_of(struct shrinking *s, pod_id pod)
{
	engine_ask_plugins_for_nobody(s->en, s->j, &s->plugins, pod);
	return judge_victim(s->j, pod);
}

static bool holds_any(const struct quota_candidate *m, const struct res_vec *target)
{
	for (uint64_t left = target->mask; left; left &= left - 1)
		if (m->usage.v[__builtin_ctzll(left)])
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

/* One pod more that goes with m. False: a rule protects it, and with it all of m. */
static bool add_pod(struct shrinking *s, pod_id pod, struct quota_candidate *m)
{
	const struct pod *p = ledger_pod(s->en->ledger, pod);
	const struct res_list *u = &shape_get(ledger_vocab(s->en->ledger), p->shape)->usage;
	struct rule_verdict says = verdict_of(s, pod);
	int rank = rank_of(&says);

	m->usage.v[RES_PODS]++;
	for (uint32_t i = 0; i < u->n; i++)
		if (u->v[i].type != RES_PODS)
			m->usage.v[u->v[i].type] += u->v[i].amount;
	m->lost_work = res_add_sat(m->lost_work, lost_work_of(s->en->ledger, p, s->now_ns));
	m->rank = rank > m->rank ? rank : m->rank;
	return says.answer != IS_PROTECTED;
}

static bool goes_whole(const struct engine *en, const struct pod *p)
{
	return p->group != GROUP_NONE && ledger_group(en->ledger, p->group)->obj->goes_whole;
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct ledger *l = ctx;

	return name_cmp(vocab_names(ledger_vocab(l)), ledger_pod(l, *(const pod_id *)a)->name,
			ledger_pod(l, *(const pod_id *)b)->name);
}

static void list_pods(struct shrinking *s, pod_id pod, struct quota_candidate *m)
{
	const struct engine *en = s->en;
	group_id group = ledger_pod(en->ledger, pod)->group;

	if (!goes_whole(en, ledger_pod(en->ledger, pod))) {
		array_push(&s->pods, pod);
		m->n = 1;
		return;
	}
	for (pod_id i = cluster_group_first(en->cluster, group); i != POD_NONE;
	     i = cluster_group_next(en->cluster, i)) {
		const struct pod *p = ledger_pod(en->ledger, i);

		if (p->group != group || p->state != POD_PLACED)
			continue;
		array_push(&s->pods, i);
		m->n++;
	}
	qsort_r(s->pods.v + m->first, m->n, sizeof(*s->pods.v), by_name, en->ledger);
}

/* All that goes if this pod does. False: nothing may, or its group was looked at before. */
static bool look_at(struct shrinking *s, pod_id pod, struct quota_candidate *m)
{
	const struct pod *p = ledger_pod(s->en->ledger, pod);

	*m = (struct quota_candidate){.first = s->pods.n};
	if (goes_whole(s->en, p)) {
		if (bits_has(&s->seen, p->group))
			return false;
		bits_set(&s->seen, p->group);
	}
	list_pods(s, pod, m);
	m->p = ledger_pod(s->en->ledger, s->pods.v[m->first]);
	for (uint32_t i = 0; i < m->n; i++)
		if (!add_pod(s, s->pods.v[m->first + i], m))
			return false;
	return true;
}

static uint32_t gather(struct shrinking *s, queue_id leaf, const struct res_vec *target, struct quota_candidate *out)
{
	uint32_t n, count = 0;
	const pod_id *pods = ledger_queue_pods(s->en->ledger, leaf, &n);

	s->pods.n = 0;
	bits_reset(&s->seen);
	for (uint32_t i = 0; i < n; i++)
		if (ledger_pod(s->en->ledger, pods[i])->state == POD_PLACED && look_at(s, pods[i], &out[count]) &&
		    holds_any(&out[count], target))
			count++;
	if (count)
		qsort_r(out, count, sizeof(*out), by_order, s->en);
	return count;
}

static struct set_victim one_of(struct shrinking *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->en->ledger, pod);

	return (struct set_victim){.pod = pod,
				   .p = p,
				   .usage = &shape_get(ledger_vocab(s->en->ledger), p->shape)->usage,
				   .n_pods = 1,
				   .queue = judge_queue(s->j, p->queue),
				   .is_of_gang = p->podset != PODSET_NONE};
}

/*
 * Those before it are on their way out and counted by the ledger: law 2 of all queues above it (what is asked of
 * all children together may be more than they have above their guarantees), budgets, rates, MR-10.
 */
static bool may_go_together(struct shrinking *s, const struct quota_candidate *m, uint64_t types)
{
	struct victim_set set;

	victim_set_init(&set, s->j, &s->sets);
	set.law_2_types = types;
	set.breaks_gangs = true;
	victim_set_begin(&set, NODE_NONE, false);
	for (uint32_t i = 0; i < m->n; i++) {
		struct set_victim v = one_of(s, s->pods.v[m->first + i]);

		if (victim_set_refusal(&set, &v).answer == IS_PROTECTED)
			return false;
		victim_set_take(&set, &v);
	}
	return true;
}

/* Taken only if it fits in what is still to be given back, in every type that is asked for. */
static bool fits(const struct quota_candidate *m, const struct res_vec *left)
{
	for (uint64_t types = left->mask; types; types &= types - 1)
		if (m->usage.v[__builtin_ctzll(types)] > left->v[__builtin_ctzll(types)])
			return false;
	return true;
}

/* Evictions before this one may have changed what the rules say of it: they are asked again. */
static bool note_victim(struct shrinking *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->en->ledger, pod);
	struct rule_verdict says = verdict_of(s, pod);
	struct victim v = {.pod = pod,
			   .node = p->node,
			   .queue = p->queue,
			   .lost_ns = lost_ns_of(p, s->now_ns),
			   .goes_with_group = goes_whole(s->en, p),
			   .overridden = says.answer == IS_SPARED ? (enum rule_id)says.rule : RULE_NONE};

	array_push(&s->v, v);
	return says.answer != IS_PROTECTED;
}

static bool take(struct shrinking *s, const struct quota_candidate *m, uint64_t types)
{
	uint32_t n = s->v.n;
	bool is_ok = may_go_together(s, m, types);

	for (uint32_t i = 0; is_ok && i < m->n; i++)
		is_ok = note_victim(s, s->pods.v[m->first + i]);
	if (!is_ok) {
		s->v.n = n;
		return false;
	}
	for (uint32_t i = n; i < s->v.n; i++)
		ledger_evict(s->en->ledger, s->v.v[i].pod);
	return true;
}

static void take_from_leaf(struct shrinking *s, queue_id leaf, const struct res_vec *target)
{
	struct quota_candidate *candidates;
	struct res_vec left = *target;
	uint32_t n;

	ledger_queue_pods(s->en->ledger, leaf, &n);
	candidates = mem_alloc((n + 1) * sizeof(*candidates));
	n = gather(s, leaf, target, candidates);
	for (uint32_t i = 0; i < n; i++) {
		if (!fits(&candidates[i], &left) || !take(s, &candidates[i], left.mask))
			continue;
		for (uint64_t types = left.mask; types; types &= types - 1)
			left.v[__builtin_ctzll(types)] -= candidates[i].usage.v[__builtin_ctzll(types)];
	}
	mem_free(candidates);
}

/* Shares of all children are worked out before the first of them loses anything. */
static void take_from(struct shrinking *s, queue_id q, const struct res_vec *target)
{
	const struct queue *queue = queue_get(ledger_queues(s->en->ledger), q);
	struct res_vec *shares;

	if (!queue->children.n) {
		take_from_leaf(s, q, target);
		return;
	}
	shares = mem_alloc((queue->children.n + 1) * sizeof(*shares));
	for (uint32_t i = 0; i < queue->children.n; i++)
		quota_share(s->en->ledger, q, queue->children.v[i], target, &shares[i]);
	for (uint32_t i = 0; i < queue->children.n; i++)
		if (shares[i].mask)
			take_from(s, queue->children.v[i], &shares[i]);
	mem_free(shares);
}

/* ---- all queues ---- */

static void record(const struct shrinking *s, queue_id q, uint32_t cycle, struct decisions *ret)
{
	struct victim *v = arena_n(ret->arena, s->v.n + 1, struct victim);
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

	memcpy(v, s->v.v, s->v.n * sizeof(*v));
	d.n_victims = s->v.n;
	d.victims = v;
	array_push(&ret->v, d);
}

static void run_queue(struct shrinking *s, queue_id q, uint32_t cycle, struct decisions *ret)
{
	const struct queue *queue = queue_get(ledger_queues(s->en->ledger), q);
	struct res_vec target;

	if ((queue->spec.sources & FROM_YUNIKORN) && queue->props.quota_delay_ns > 0 &&
	    !(s->held && bits_has(s->held, q))) {
		s->v.n = 0;
		quota_target(s->en->ledger, q, &target);
		if (target.mask)
			take_from(s, q, &target);
		if (s->v.n)
			record(s, q, cycle, ret);
	}
	for (uint32_t i = 0; i < queue->children.n; i++)
		run_queue(s, queue->children.v[i], cycle, ret);
}

void quota_run(struct engine *en, const struct engine_run *run, uint32_t cycle, struct decisions *ret)
{
	int64_t now_ns = run->now_ns;
	struct rule_settings settings = engine_rule_settings(en);
	struct judge j;
	struct shrinking s = {.en = en, .j = &j, .now_ns = now_ns, .held = run->quota_held};

	if (!en->config->quota_is_on)
		return;
	judge_init(&j, en->cluster, en->ledger, &settings, ACTION_QUOTA, POD_NONE, now_ns, &en->scratch);
	run_queue(&s, QUEUE_ROOT, cycle, ret);
	cycle_end_aside(&s.plugins);
	array_free(&s.v);
	array_free(&s.pods);
	bits_free(&s.seen);
	victim_set_memory_free(&s.sets);
}
