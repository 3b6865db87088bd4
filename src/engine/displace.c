/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' default preemption on one node at a time.
 *
 * The plain way (displace_try) moves pods in the ledger, so every filter and every plugin sees the node without them,
 * and takes all moves back. Pods go by units (disruption_unit.h): alone, or with their whole group wherever it runs.
 * Where only resources can be in the way the same answer is computed from rows of numbers without moving anything:
 * displace_fast.c.
 */
#include "engine/displace.h"

#include <stdlib.h>

#include "engine/displace_internal.h"
#include "engine/displace_sums.h"
#include "engine/disruption_unit.h"
#include "rules/plugin.h"

const char *eligibility_text(enum eligibility e)
{
	switch (e) {
	case NOT_ELIGIBLE_NEVER:
		return "not eligible due to preemptionPolicy=Never.";
	case NOT_ELIGIBLE_TERMINATING:
		return "not eligible due to a terminating pod on the nominated node.";
	default:
		return "";
	}
}

static bool is_terminating_by_preemption(const struct pod *p)
{
	return p->is_evicted || (p->obj->deleted_ns != TIME_NONE && p->obj->is_preempted);
}

void displace_judge(struct judge *j, const struct cede_cycle *c, const struct rule_settings *s,
		    struct judge_scratch *scratch)
{
	judge_init(j, c->cluster, c->ledger, s, ACTION_DISPLACE, c->pod, c->now_ns, scratch);
	judge_ask_plugins(j, c);
}

enum eligibility displace_eligible(const struct cede_cycle *c, const struct status *nominated_status)
{
	const struct ledger_node *n;

	if (pod_never_preempts(c->cluster, c->ledger, c->p))
		return NOT_ELIGIBLE_NEVER;
	if (c->p->nomination == NOMINATION_NONE || !nominated_status ||
	    nominated_status->verdict.code == CEDE_UNRESOLVABLE)
		return ELIGIBLE;
	n = ledger_node(c->ledger, c->p->node);
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *q = ledger_pod(c->ledger, n->pods.v[i]);

		if (q->priority < c->priority && q->state == POD_LEAVING && is_terminating_by_preemption(q))
			return NOT_ELIGIBLE_TERMINATING;
	}
	return ELIGIBLE;
}

/* A pod that does not say since when it runs counts as started now. */
int64_t victim_start(const struct cede_cycle *c, const struct pod *p)
{
	return p->started_ns == TIME_NONE ? c->now_ns : p->started_ns;
}

int victim_cmp(const struct cede_cycle *c, pod_id a, pod_id b)
{
	const struct pod *x = ledger_pod(c->ledger, a), *y = ledger_pod(c->ledger, b);
	int64_t start_x, start_y;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (pod_is_grouped(x) != pod_is_grouped(y))
		return pod_is_grouped(x) ? -1 : 1;
	start_x = victim_start(c, x);
	start_y = victim_start(c, y);
	if (start_x != start_y)
		return start_x < start_y ? -1 : 1;
	return 0;
}

/* ---- order ---- */

struct sort_ctx {
	const struct cede_cycle *c;
	bool has_plugins; /* that judge victims */
};

static int by_importance(const void *a, const void *b, void *ctx)
{
	const struct sort_ctx *s = ctx;
	pod_id x = *(const pod_id *)a, y = *(const pod_id *)b;
	const struct pod *px = ledger_pod(s->c->ledger, x), *py = ledger_pod(s->c->ledger, y);
	int d;

	if (s->has_plugins && px->priority == py->priority) {
		d = plugins_cmp(s->c, x, y);
		if (d)
			return d;
	}
	d = victim_cmp(s->c, x, y);
	if (d)
		return d;
	d = name_cmp(s->c->names, labelset_get(s->c->vocab, px->labelset)->ns,
		     labelset_get(s->c->vocab, py->labelset)->ns);
	return d ? d : name_cmp(s->c->names, px->name, py->name);
}

void sort_by_importance(const struct cede_cycle *c, const struct displace_options *o, pod_id *pods, uint32_t n)
{
	struct sort_ctx ctx = {c, plugins_judge(c->framework)};

	qsort_r(pods, n, sizeof(*pods), by_importance, &ctx);
}

/* ---- one node ---- */

struct displace_trial { /* of one node */
	struct cede_cycle *c;
	node_id node;
	const struct disruption_units *u;
	struct unit_rows rows;
	bool moves_all; /* pods on other nodes too; else only resources count, and they may stay where they are */
};

static bool has_to_move(const struct displace_trial *t, uint32_t at)
{
	return t->moves_all || t->rows.homes[at] == t->node;
}

/* Unit i, whose pods begin at `at`. */
static void take_away(const struct displace_trial *t, uint32_t i, uint32_t at)
{
	for (uint32_t k = at; k < at + t->u->v[i].n_pods; k++)
		if (has_to_move(t, k))
			ledger_vacate(t->c->ledger, t->rows.pods[k]);
}

static void bring_back(const struct displace_trial *t, uint32_t i, uint32_t at)
{
	for (uint32_t k = at; k < at + t->u->v[i].n_pods; k++)
		if (has_to_move(t, k))
			ledger_place(t->c->ledger, t->rows.pods[k], t->rows.homes[k]);
}

/* Give back what need not go, class by class, each by importance. Marks who stays away. */
static void reprieve(const struct displace_trial *t)
{
	for (int pass = 0; pass < CLASSES; pass++) {
		for (uint32_t i = 0, at = 0; i < t->u->n; at += t->u->v[i++].n_pods) {
			struct status s;
			bool goes;

			if (t->rows.classes[i] != pass)
				continue;
			bring_back(t, i, at);
			s = cycle_fits(t->c, t->node);
			goes = !status_is_success(&s);
			memset(t->rows.goes + at, goes, t->u->v[i].n_pods * sizeof(bool));
			if (goes)
				take_away(t, i, at);
		}
	}
}

void collect_victims(struct displace_node *r, const pod_id *pods, const bool *goes, const bool *violates, uint32_t n,
		     struct arena *a)
{
	pod_id *victims;
	bool *violating;

	for (uint32_t i = 0; i < n; i++) {
		r->n_victims += goes[i];
		r->n_violations += goes[i] && violates[i];
	}
	victims = arena_n(a, r->n_victims + 1, pod_id);
	violating = arena_n(a, r->n_victims + 1, bool);
	for (uint32_t i = 0, k = 0; i < n; i++) {
		if (!goes[i])
			continue;
		violating[k] = violates[i];
		victims[k++] = pods[i];
	}
	r->victims = victims;
	r->violates = violating;
	if (!r->n_victims) /* whatever keeps the pod away, it is nobody on this node */
		r->status = status_of_framework(CEDE_ERROR, FW_NEEDLESS, r->node);
}

static uint32_t count_spared(const struct displace_trial *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0, at = 0; i < t->u->n; at += t->u->v[i++].n_pods)
		n += t->rows.goes[at] && t->rows.classes[i] == CLASS_SPARED ? t->u->v[i].n_pods : 0;
	return n;
}

struct displace_node displace_try(struct cede_cycle *c, node_id node, const struct displace_options *o)
{
	struct displace_node r = {.node = node, .status = status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0)};
	struct disruption_units u = units_on_node(c, o, node);
	struct displace_trial t = {.c = c, .node = node, .u = &u};
	ledger_mark mark = ledger_get_mark(c->ledger);

	if (!u.n)
		return r;
	t.rows = unit_rows_of(c, o, &u);
	t.moves_all = u.has_whole && !displace_is_fast(c);
	c->is_dry_run = true;
	for (uint32_t i = 0, at = 0; i < u.n; at += u.v[i++].n_pods)
		take_away(&t, i, at);
	r.status = cycle_fits(c, node);
	if (status_is_success(&r.status)) {
		reprieve(&t);
		collect_victims(&r, t.rows.pods, t.rows.goes, t.rows.violates, u.n_pods, c->arena);
		r.n_spared = count_spared(&t);
	}
	ledger_rollback(c->ledger, mark);
	c->is_dry_run = false;
	return r;
}

/* ---- the choice ---- */

static int64_t earliest_of_highest(const struct cede_cycle *c, const struct displace_node *v)
{
	int32_t highest = ledger_pod(c->ledger, v->victims[0])->priority;
	int64_t earliest = INT64_MAX;

	for (uint32_t i = 0; i < v->n_victims; i++) {
		const struct pod *p = ledger_pod(c->ledger, v->victims[i]);
		int64_t start = victim_start(c, p);

		if (p->priority > highest) {
			highest = p->priority;
			earliest = start;
		} else if (p->priority == highest && start < earliest) {
			earliest = start;
		}
	}
	return earliest;
}

/* Smaller is better; in the order they are asked. */
static int64_t cost_of(const struct cede_cycle *c, const struct displace_node *v, enum tie_break criterion)
{
	int64_t sum = 0;

	switch (criterion) {
	case TIE_SPARED:
		return v->n_spared;
	case TIE_VIOLATIONS:
		return v->n_violations;
	case TIE_HIGHEST:
		return ledger_pod(c->ledger, v->victims[0])->priority;
	case TIE_SUM:
		for (uint32_t i = 0; i < v->n_victims; i++)
			sum += (int64_t)ledger_pod(c->ledger, v->victims[i])->priority + (INT64_C(1) << 31);
		return sum;
	case TIE_COUNT:
		return v->n_victims;
	case TIE_START:
		return -earliest_of_highest(c, v);
	default:
		return 0;
	}
}

/* <0: a is better. *ret_by: the criterion that told them apart. */
static int compare(const struct cede_cycle *c, const struct displace_node *a, const struct displace_node *b,
		   enum tie_break *ret_by, int64_t *ret_a, int64_t *ret_b)
{
	static const enum tie_break criteria[] = {TIE_SPARED, TIE_VIOLATIONS, TIE_HIGHEST,
						  TIE_SUM,    TIE_COUNT,      TIE_START};

	for (size_t i = 0; i < sizeof(criteria) / sizeof(*criteria); i++) {
		*ret_by = criteria[i];
		*ret_a = cost_of(c, a, criteria[i]);
		*ret_b = cost_of(c, b, criteria[i]);
		if (*ret_a != *ret_b)
			return *ret_a < *ret_b ? -1 : 1;
	}
	*ret_by = TIE_NAME;
	*ret_a = *ret_b = 0;
	return name_cmp(c->names, ledger_node(c->ledger, a->node)->name, ledger_node(c->ledger, b->node)->name);
}

uint32_t displace_pick(const struct cede_cycle *c, const struct displace_node *v, uint32_t n, enum tie_break *ret_tie,
		       uint32_t *ret_runner_up, int64_t *ret_mine, int64_t *ret_theirs)
{
	uint32_t best = UINT32_MAX, second = UINT32_MAX;
	enum tie_break by;
	int64_t x, y;

	for (uint32_t i = 0; i < n; i++) {
		if (!status_is_success(&v[i].status))
			continue;
		if (best == UINT32_MAX || compare(c, &v[i], &v[best], &by, &x, &y) < 0) {
			second = best;
			best = i;
		} else if (second == UINT32_MAX || compare(c, &v[i], &v[second], &by, &x, &y) < 0) {
			second = i;
		}
	}
	*ret_tie = TIE_ONLY_ONE;
	*ret_runner_up = second;
	*ret_mine = *ret_theirs = 0;
	if (second != UINT32_MAX)
		compare(c, &v[best], &v[second], ret_tie, ret_mine, ret_theirs);
	return best;
}

/* ---- nodes that cannot win ---- */

struct bounded { /* a node to be looked at, by what it costs at least */
	uint32_t at;
	struct least_cost least; /* lower than any other: it has to be looked at */
};

/* As compare has it; nobody violates budgets or is spared at least. */
static int by_least(const void *a, const void *b)
{
	const struct bounded *x = a, *y = b;

	if (x->least.highest != y->least.highest)
		return x->least.highest < y->least.highest ? -1 : 1;
	if (x->least.sum != y->least.sum)
		return x->least.sum < y->least.sum ? -1 : 1;
	if (x->least.n_victims != y->least.n_victims)
		return x->least.n_victims < y->least.n_victims ? -1 : 1;
	if (x->least.not_before != y->least.not_before)
		return x->least.not_before < y->least.not_before ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Can no set of that node be better than this one's? By name it comes later or not: nodes are in that order. */
static bool is_beaten(const struct cede_cycle *c, const struct bounded *b, const struct displace_node *v, uint32_t at)
{
	struct bounded known = {.at = at,
				.least = {.sum = cost_of(c, v, TIE_SUM),
					  .not_before = cost_of(c, v, TIE_START),
					  .n_victims = v->n_victims,
					  .highest = (int32_t)cost_of(c, v, TIE_HIGHEST)}};

	return !v->n_violations && !v->n_spared && by_least(&known, b) < 0;
}

static bool can_be_bounded(const struct cede_cycle *c, const struct displace_options *o)
{
	int64_t below;

	return o->sums && !o->tells_all && !o->looks_at_all && judge_is_by_priority(o->j, &below) &&
	       cycle_counts_room(c) && !plugins_judge(c->framework) &&
	       !framework_args(c->framework)->n_ignored_resources && !framework_args(c->framework)->n_ignored_groups;
}

/* Those that may be candidates, cheapest first. Returns how many. */
static uint32_t bound_nodes(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
			    struct bounded *ret)
{
	const struct least_cost none = {.sum = INT64_MIN, .not_before = INT64_MIN, .highest = INT32_MIN};
	struct sum_table *sums;
	struct want want;
	uint32_t count = 0;

	want_of(c, &want);
	sums = displace_sums_for(o->sums, c, &want);
	for (uint32_t i = 0; i < n; i++) {
		enum sums_say says = SUMS_ASK;
		struct status out;

		ret[count] = (struct bounded){.at = i};
		if (sums)
			says = displace_sums_ask(sums, c, &want, nodes[i], &out, &ret[count].least);
		if (says == SUMS_ASK)
			ret[count].least = none;
		count += says != SUMS_OUT;
	}
	if (count)
		qsort(ret, count, sizeof(*ret), by_least);
	return count;
}

/* The two best are found if there are two; false: there is none, and everybody's answer is wanted. */
static bool try_cheapest(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
			 struct displace_node *ret)
{
	struct bounded *order = arena_n(c->arena, n + 1, struct bounded);
	uint32_t count = bound_nodes(c, nodes, n, o, order), best = UINT32_MAX, second = UINT32_MAX;
	enum tie_break by;
	int64_t x, y;

	for (uint32_t i = 0; i < n; i++)
		ret[i] = (struct displace_node){.node = nodes[i],
						.status = status_of_framework(CEDE_UNRESOLVABLE, FW_NOT_HELPFUL, 0)};
	for (uint32_t k = 0; k < count; k++) {
		uint32_t at = order[k].at;

		if (second != UINT32_MAX && is_beaten(c, &order[k], &ret[second], second))
			break;
		ret[at] = displace_try(c, nodes[at], o);
		if (!status_is_success(&ret[at].status))
			continue;
		if (best == UINT32_MAX || compare(c, &ret[at], &ret[best], &by, &x, &y) < 0) {
			second = best;
			best = at;
		} else if (second == UINT32_MAX || compare(c, &ret[at], &ret[second], &by, &x, &y) < 0) {
			second = at;
		}
	}
	return best != UINT32_MAX;
}

void displace_all(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
		  struct displace_node *ret)
{
	int64_t below;

	if (!o->looks_at_all && displace_is_fast(c) && judge_is_by_priority(o->j, &below)) {
		displace_fast(c, nodes, n, o, ret);
		return;
	}
	if (can_be_bounded(c, o) && try_cheapest(c, nodes, n, o, ret))
		return;
	for (uint32_t i = 0; i < n; i++)
		ret[i] = displace_try(c, nodes[i], o);
}
