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
#include "engine/eviction_order.h"
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
	/* of each pod in the rows: no filter but the resources cares about it, so it is not moved; NULL: all are */
	const bool *is_number;
	int64_t *gone; /* what those take that were taken away without being moved */
};

static bool has_to_move(const struct displace_trial *t, uint32_t at)
{
	return t->moves_all || t->rows.homes[at] == t->node;
}

static bool is_number(const struct displace_trial *t, uint32_t at)
{
	return t->is_number && t->is_number[at];
}

/* Unit i, whose pods begin at `at`. */
static void take_away(const struct displace_trial *t, uint32_t i, uint32_t at)
{
	for (uint32_t k = at; k < at + t->u->v[i].n_pods; k++) {
		if (is_number(t, k))
			cycle_add_usage(t->c, ledger_pod(t->c->ledger, t->rows.pods[k]), t->gone, 1);
		else if (has_to_move(t, k))
			ledger_vacate(t->c->ledger, t->rows.pods[k]);
	}
}

static void bring_back(const struct displace_trial *t, uint32_t i, uint32_t at)
{
	for (uint32_t k = at; k < at + t->u->v[i].n_pods; k++) {
		if (is_number(t, k))
			cycle_add_usage(t->c, ledger_pod(t->c->ledger, t->rows.pods[k]), t->gone, -1);
		else if (has_to_move(t, k))
			ledger_place(t->c->ledger, t->rows.pods[k], t->rows.homes[k]);
	}
}

static struct status fits(const struct displace_trial *t)
{
	return t->is_number ? cycle_fits_without(t->c, t->node, t->gone) : cycle_fits(t->c, t->node);
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
			s = fits(t);
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

/* Most pods matter to no filter but the resources: taking them away is an addition. */
static void find_numbers(struct displace_trial *t, const struct displace_options *o, int64_t *gone)
{
	const struct cede_cycle *c = t->c;
	bool *v;

	if (o->looks_at_all || c->moves_all || t->u->has_whole || ledger_node(c->ledger, t->node)->nominated.n ||
	    !cycle_knows_who_matters(c))
		return;
	v = arena_n(c->arena, t->u->n_pods, bool);
	for (uint32_t i = 0; i < t->u->n_pods; i++)
		v[i] = !cycle_cares_about(c, ledger_pod(c->ledger, t->rows.pods[i]));
	memset(gone, 0, ledger_stride(c->ledger) * sizeof(*gone));
	t->is_number = v;
	t->gone = gone;
}

struct displace_node displace_try(struct cede_cycle *c, node_id node, const struct displace_options *o)
{
	struct displace_node r = {.node = node, .status = status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0)};
	struct disruption_units u = units_on_node(c, o, node);
	struct displace_trial t = {.c = c, .node = node, .u = &u};
	ledger_mark mark = ledger_get_mark(c->ledger);
	int64_t gone[RES_MAX];

	if (!u.n)
		return r;
	t.rows = unit_rows_of(c, o, &u);
	t.moves_all = u.has_whole && !displace_is_fast(c);
	find_numbers(&t, o, gone);
	c->is_dry_run = true;
	for (uint32_t i = 0, at = 0; i < u.n; at += u.v[i++].n_pods)
		take_away(&t, i, at);
	r.status = fits(&t);
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

struct answer_cost displace_cost(const struct cede_cycle *c, const struct displace_node *v, uint32_t at)
{
	return (struct answer_cost){.sum = cost_of(c, v, TIE_SUM),
				    .not_before = cost_of(c, v, TIE_START),
				    .n_victims = v->n_victims,
				    .n_violations = v->n_violations,
				    .highest = (int32_t)cost_of(c, v, TIE_HIGHEST),
				    .at = at};
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

static bool can_be_bounded(const struct cede_cycle *c, const struct displace_options *o)
{
	int64_t below;

	return o->sums && o->orders && !o->tells_all && !o->looks_at_all && judge_is_by_priority(o->j, &below) &&
	       cycle_counts_room(c) && !plugins_judge(c->framework) &&
	       !framework_args(c->framework)->n_ignored_resources && !framework_args(c->framework)->n_ignored_groups;
}

/* Those that may be candidates, by what they cost at least. Returns how many. */
static uint32_t bound_nodes(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
			    struct answer_cost *ret)
{
	struct sums_lookup *lookup = NULL;
	struct sum_table *sums;
	struct want want;
	int64_t lacks[RES_MAX];
	uint32_t count = 0;

	want_of(c, &want);
	sums = displace_sums_for(o->sums, c, &want);
	if (sums)
		lookup = displace_sums_lookup(sums, c, &want, n);
	for (uint32_t i = 0; i < n; i++) {
		enum sums_say says = SUMS_ASK;
		struct status out;

		ret[count].at = i;
		if (sums) {
			displace_lacks(c, &want, nodes[i], lacks);
			says = displace_sums_ask(lookup, nodes[i], lacks, &out, &ret[count]);
		}
		if (says == SUMS_ASK) /* lower than any other: it has to be looked at */
			ret[count] = (struct answer_cost){
				.sum = INT64_MIN, .not_before = INT64_MIN, .highest = INT32_MIN, .at = i};
		count += says != SUMS_OUT;
	}
	return count;
}

/* ---- nodes whose pods matter to nobody but the resources ---- */

/*
 * What those who may go take of the node, into gone; false: some filter may care whether one of them is there, or
 * somebody goes with its group, whatever its own priority is.
 */
static bool lower_hold(const struct cede_cycle *c, node_id node, int64_t *gone)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);

	memset(gone, 0, ledger_stride(c->ledger) * sizeof(*gone));
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(c->ledger, n->pods.v[i]);

		if (pod_goes_whole(c->ledger, p))
			return false;
		if (p->priority >= c->priority)
			continue;
		if (cycle_cares_about(c, p))
			return false;
		cycle_add_usage(c, p, gone, 1);
	}
	return !n->nominated.n;
}

/* The other filters say the same whoever of them is there: they are asked once, and the rest is numbers. */
static struct displace_node try_node(struct cede_cycle *c, node_id node, const struct displace_options *o,
				     const struct want *w, bool knows_who_matters)
{
	struct displace_node r = {.node = node};
	int64_t gone[RES_MAX];
	bool ignored;

	if (!knows_who_matters || !lower_hold(c, node, gone))
		return displace_try(c, node, o);
	c->is_dry_run = true;
	r.status = cycle_fits_without(c, node, gone);
	c->is_dry_run = false;
	return status_is_success(&r.status) ? eviction_order_displace(o->orders, c, o, w, node, &ignored) : r;
}

/* ---- cheapest first ---- */

/* A heap, the cheapest at its top: mostly few of many nodes are tried. */
static void sift_down(struct answer_cost *v, uint32_t n, uint32_t i)
{
	struct answer_cost b = v[i];

	for (uint32_t k = 2 * i + 1; k < n; i = k, k = 2 * i + 1) {
		if (k + 1 < n && cost_is_less(&v[k + 1], &v[k]))
			k++;
		if (!cost_is_less(&v[k], &b))
			break;
		v[i] = v[k];
	}
	v[i] = b;
}

static struct answer_cost take_cheapest(struct answer_cost *v, uint32_t *n)
{
	struct answer_cost top = v[0];

	v[0] = v[--*n];
	if (*n)
		sift_down(v, *n, 0);
	return top;
}

struct two_best { /* UINT32_MAX: none */
	uint32_t best, second;
	bool rules_out;		  /* the second one violates and spares nothing, so that costs tell: */
	struct answer_cost known; /* what it costs */
};

/* Can no set of that node be better than the second best? */
static bool is_beaten(const struct two_best *t, const struct answer_cost *b)
{
	return t->rules_out && cost_is_less(&t->known, b);
}

static void rank(const struct cede_cycle *c, const struct displace_node *v, uint32_t at, struct two_best *t)
{
	enum tie_break by;
	int64_t x, y;

	if (t->best == UINT32_MAX || compare(c, &v[at], &v[t->best], &by, &x, &y) < 0) {
		t->second = t->best;
		t->best = at;
	} else if (t->second == UINT32_MAX || compare(c, &v[at], &v[t->second], &by, &x, &y) < 0) {
		t->second = at;
	}
	t->rules_out = t->second != UINT32_MAX && !v[t->second].n_violations && !v[t->second].n_spared;
	if (t->rules_out)
		t->known = displace_cost(c, &v[t->second], t->second);
}

/* The two best are found if there are two; false: there is none, and everybody's answer is wanted. */
static bool try_cheapest(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
			 struct displace_node *ret)
{
	struct answer_cost *open = arena_n(c->arena, n + 1, struct answer_cost);
	uint32_t n_open = bound_nodes(c, nodes, n, o, open);
	struct two_best two = {.best = UINT32_MAX, .second = UINT32_MAX};
	bool knows = cycle_knows_who_matters(c);
	struct want want;

	want_of(c, &want);
	eviction_orders_fit(o->orders, ledger_node_limit(c->ledger));
	for (uint32_t i = 0; i < n; i++)
		ret[i] = (struct displace_node){.node = nodes[i],
						.status = status_of_framework(CEDE_UNRESOLVABLE, FW_NOT_HELPFUL, 0)};
	for (uint32_t i = n_open / 2; i-- > 0;)
		sift_down(open, n_open, i);
	while (n_open && !is_beaten(&two, &open[0])) {
		uint32_t at = take_cheapest(open, &n_open).at;

		ret[at] = try_node(c, nodes[at], o, &want, knows);
		if (status_is_success(&ret[at].status))
			rank(c, ret, at, &two);
	}
	return two.best != UINT32_MAX;
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
