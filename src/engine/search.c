/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search.h"

#include <stdlib.h>

#include "engine/search_bound.h"
#include "engine/search_cache.h"
#include "engine/search_internal.h"
#include "rules/plugin.h"

/* ---- who may go ---- */

static bool is_stuck(const struct node_search *g, pod_id pod)
{
	return pod_is_stuck(ledger_pod(g->s->c->ledger, pod), g->s->c->now_ns, g->s->patience_ns);
}

/* A thousand of them for every decision: written where they stay. */
static void write_protected(struct protected_pod *x, node_id node, pod_id pod, const struct pod *p,
			    const struct rule_verdict *says)
{
	x->pod = pod;
	x->node = node;
	x->queue = p->queue;
	x->verdict = *says;
	x->is_refused_in_set = false;
}

void node_search_protect(struct node_search *g, pod_id pod, const struct pod *p, const struct rule_verdict *says,
			 bool is_refused_in_set)
{
	struct protected_list *l = g->s->protected;

	if (!l || (g->s->tells_times && !verdict_is_timed(says)))
		return;
	if (is_refused_in_set) {
		array_reserve(&g->refused, g->refused.n + 1);
		write_protected(&g->refused.v[g->refused.n++], g->node, pod, p, says);
		g->refused.v[g->refused.n - 1].is_refused_in_set = true;
	} else if (g->is_listing && g->protected_from < l->max) {
		array_reserve(&l->v, l->v.n + 1);
		write_protected(&l->v.v[l->v.n++], g->node, pod, p, says);
	}
}

bool node_search_concerns_queue(const struct node_search *g, queue_id q)
{
	queue_id own = g->s->j->p->queue;

	switch (g->s->j->action) {
	case ACTION_RECLAIM:
		return q != own;
	case ACTION_PREEMPT:
	case ACTION_DISPLACE:
		return q == own;
	default:
		return true;
	}
}

bool node_search_concerns(const struct node_search *g, const struct pod *p)
{
	group_id group = g->s->j->p->group;

	return p->state == POD_PLACED && p->queue != QUEUE_NONE && (group == GROUP_NONE || p->group != group) &&
	       node_search_concerns_queue(g, p->queue);
}

static bool is_last_resort(const struct rule_verdict *says)
{
	return says->rule == RULE_OPT_OUT || says->rule == RULE_PLUGIN;
}

/* It does not go in this search. */
static bool is_kept(const struct node_search *g, const struct rule_verdict *says)
{
	return says->answer == IS_PROTECTED || (is_last_resort(says) && !g->s->with_opted_out);
}

/*
 * Where a kind of pods may go, only these can still say something of one of them that is no exception. What the
 * guarantee rule finds out of a queue is what sets of victims are judged by (victim_queue.kept), so it is asked too.
 */
static struct rule_verdict ask_the_rest(struct judge *j, pod_id pod)
{
	uint64_t on = j->on;
	struct rule_verdict says;

	j->on &= UINT64_C(1) << RULE_DRIVER | UINT64_C(1) << RULE_THRASH | UINT64_C(1) << RULE_GUARANTEE;
	says = judge_victim(j, pod);
	j->on = on;
	return says;
}

bool node_search_consider(struct node_search *g, pod_id pod, bool is_open, struct candidate *m,
			  struct rule_verdict *ret_says)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says = is_open ? judge_victim(g->s->j, pod) : ask_the_rest(g->s->j, pod);

	*ret_says = says;
	if (is_kept(g, &says))
		return false;
	*m = (struct candidate){.v = {.pod = pod, .p = p, .n_pods = 1}, .n_here = 1, .group = GROUP_NONE};
	m->v.usage = m->here = &shape_get(g->s->c->vocab, p->shape)->usage;
	m->v.queue = judge_queue(g->s->j, p->queue);
	m->distance = m->v.queue->distance;
	m->is_opted_out = is_last_resort(&says);
	m->is_spared = says.rule == RULE_PLUGIN;
	m->is_driver = says.rule == RULE_DRIVER || (m->is_opted_out && judge_is_driver(g->s->j, pod));
	m->is_thrashing = judge_is_thrashing(g->s->j, pod, p);
	m->start = victim_start(g->s->c, p);
	m->created = p->created_ns == TIME_NONE ? m->start : p->created_ns;
	m->n_opted_out = m->is_opted_out;
	m->n_drivers = m->is_driver;
	m->n_thrashing = m->is_thrashing;
	if (g->s->j->action == ACTION_DISPLACE) /* KF-6 ranks by the sum of priorities there */
		m->lost_work = (int64_t)p->priority + (INT64_C(1) << 31);
	else
		m->lost_work = lost_work_of(g->s->c->ledger, p, g->s->c->now_ns);
	return true;
}

int by_eviction_order(const void *a, const void *b, void *ctx)
{
	const struct node_search *g = ctx;
	const struct candidate *x = a, *y = b;
	const struct vocab *v = g->s->c->vocab;
	int d = 0;

	if (x->is_spared != y->is_spared)
		return x->is_spared ? -1 : 1;
	if (g->plugins_judge && x->v.p->priority == y->v.p->priority)
		d = plugins_cmp(g->s->c, x->v.pod, y->v.pod);
	if (x->is_opted_out != y->is_opted_out)
		return x->is_opted_out ? -1 : 1;
	if (x->is_driver != y->is_driver)
		return x->is_driver ? -1 : 1;
	if (x->is_thrashing != y->is_thrashing)
		return x->is_thrashing ? -1 : 1;
	if (g->s->j->action == ACTION_DISPLACE && x->v.p->priority == y->v.p->priority) {
		if (d)
			return d;
		if (x->start != y->start)
			return x->start < y->start ? -1 : 1;
		goto names;
	}
	if (x->v.p->priority != y->v.p->priority)
		return x->v.p->priority > y->v.p->priority ? -1 : 1;
	if (d)
		return d;
	if (x->lost_work != y->lost_work)
		return x->lost_work > y->lost_work ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance > y->distance ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->created != y->created)
		return x->created < y->created ? -1 : 1;
names:
	d = name_cmp(g->s->c->names, labelset_get(v, x->v.p->labelset)->ns, labelset_get(v, y->v.p->labelset)->ns);
	return d ? d : name_cmp(g->s->c->names, x->v.p->name, y->v.p->name);
}

/* ---- one node ---- */

uint64_t node_search_short(const struct node_search *g)
{
	uint64_t lacks = 0;

	for (uint32_t k = 0; k < g->want.n; k++)
		if (g->want.amount[k] > g->room[k])
			lacks |= UINT64_C(1) << g->want.type[k];
	return lacks;
}

/* What will be free once whoever is leaving is gone; but not what those hold who should have gone long ago. */
static void forget_stuck(struct node_search *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(g->s->c->ledger, n->pods.v[i]);
		const struct res_list *usage = &shape_get(g->s->c->vocab, p->shape)->usage;

		if (!is_stuck(g, n->pods.v[i]))
			continue;
		for (uint32_t k = 0; k < g->want.n; k++)
			g->room[k] -= g->want.type[k] == RES_PODS ? 1 : res_list_get(usage, g->want.type[k]);
	}
}

void node_search_measure_room(struct node_search *g)
{
	const struct search_rooms *x = &g->rooms;
	size_t at = (size_t)g->node * x->stride;

	for (uint32_t k = 0; k < g->want.n; k++) {
		size_t i = at + g->want.type[k];

		g->room[k] = x->has[i] - x->used[i] + x->leaving[i] - x->reserved[i];
	}
	if (x->nodes[g->node].n_due)
		forget_stuck(g);
}

/* In the slow way filters must see leaving pods as gone. */
static void clear_leaving(struct node_search *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);

	for (uint32_t i = n->pods.n; i-- > 0;) {
		if (ledger_pod(g->s->c->ledger, n->pods.v[i])->state != POD_LEAVING || is_stuck(g, n->pods.v[i]))
			continue;
		victim_set_count_evicted(&g->set, n->pods.v[i]);
		ledger_vacate(g->s->c->ledger, n->pods.v[i]);
	}
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct cede_cycle *c = ctx;
	const struct pod *x = ledger_pod(c->ledger, ((const struct protected_pod *)a)->pod);
	const struct pod *y = ledger_pod(c->ledger, ((const struct protected_pod *)b)->pod);
	int d = name_cmp(c->names, labelset_get(c->vocab, x->labelset)->ns, labelset_get(c->vocab, y->labelset)->ns);

	return d ? d : name_cmp(c->names, x->name, y->name);
}

void search_sort_protected(struct cede_cycle *c, struct protected_list *l)
{
	for (uint32_t from = 0, i = 1; i <= l->v.n; i++)
		if (i == l->v.n || l->v.v[i].node != l->v.v[from].node) {
			qsort_r(l->v.v + from, i - from, sizeof(*l->v.v), by_name, c);
			from = i;
		}
}

/* Sort by name: the order in which pods came to a node must not be visible in the output. */
static void settle_protected(struct node_search *g)
{
	struct protected_list *l = g->s->protected;

	if (!l || l->v.n == g->protected_from || (g->s->tells_in_any_order && l->v.n <= l->max))
		return;
	qsort_r(l->v.v + g->protected_from, l->v.n - g->protected_from, sizeof(*l->v.v), by_name, g->s->c);
	protected_cut(l);
}

/*
 * Does it hold anything the pod is short of, on the node or below a maximum? Who does not is no candidate: laws,
 * budgets and rates are not spent on him. Where filters look at pods, anybody may be in the way.
 */
static bool frees_something(const struct node_search *g, const struct pod *p)
{
	const struct res_list *usage = &shape_get(g->s->c->vocab, p->shape)->usage;
	uint64_t types = g->short_here | g->s->lacking;

	if (!g->is_fast || types >> RES_PODS & 1)
		return true;
	for (uint32_t i = 0; i < usage->n; i++)
		if (types >> usage->v[i].type & 1 && usage->v[i].amount > 0)
			return true;
	return false;
}

static void consider(struct node_search *g, pod_id pod, bool is_open)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says;

	if (!node_search_concerns(g, p) || !frees_something(g, p))
		return;
	if (node_search_consider(g, pod, is_open, &g->candidates[g->n], &says))
		g->n++;
	else
		node_search_protect(g, pod, p, &says, false);
}

/* A plugin compares two pods; a set is as dear to it as the dearest of its pods. */
static void rank_by_plugins(struct node_search *g)
{
	for (uint32_t i = g->n; i-- > 1;) {
		const struct candidate *x = &g->candidates[i - 1], *y = &g->candidates[i];

		g->candidates[i - 1].rank = y->rank + (plugins_cmp(g->s->c, x->v.pod, y->v.pod) != 0);
	}
}

/* Who is protected is not to be written down: those of whom it is known are not asked. */
static void consider_some(struct node_search *g, uint32_t n_pods)
{
	struct row_says *v = arena_n(g->s->c->arena, n_pods + 1, struct row_says);
	uint32_t n = search_bound_who(g, v);

	for (uint32_t i = 0; i < n; i++)
		consider(g, v[i].pod, v[i].is_open);
}

static void gather(struct node_search *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);

	g->n = 0;
	g->has_rest = g->has_gangs = false;
	g->protected_from = g->s->protected ? g->s->protected->v.n : 0;
	if (g->has_bounds && !g->is_listing)
		consider_some(g, n->pods.n);
	else
		for (uint32_t i = 0; i < n->pods.n; i++)
			consider(g, n->pods.v[i], true);
	if (g->n)
		qsort_r(g->candidates, g->n, sizeof(*g->candidates), by_eviction_order, g);
	if (profile_get(g->s->j->settings.profile)->has_gangs)
		node_search_join_groups(g);
	if (g->plugins_judge)
		rank_by_plugins(g);
}

static struct candidate *candidates_for(struct search_scratch *s, uint32_t n)
{
	if (s->n_candidates < n) {
		s->candidates = mem_resize(s->candidates, n, sizeof(*s->candidates));
		s->goes = mem_resize(s->goes, n, sizeof(*s->goes));
		s->n_candidates = n;
	}
	return s->candidates;
}

void node_search_list_begin(struct node_search *g)
{
	struct protected_list *l = g->s->protected;

	g->is_listing = true;
	g->protected_from = l->v.n;
	if (!l->v.n && !g->s->tells_times)
		array_reserve(&l->v, l->max);
}

void node_search_list_all(struct node_search *g)
{
	g->candidates = candidates_for(search_cache_scratch(g->s->search_cache),
				       2 * ledger_node(g->s->c->ledger, g->node)->pods.n + 1);
	gather(g);
}

void node_search_list(struct node_search *g, pod_id pod, const struct rule_verdict *why)
{
	struct rule_verdict says;

	if (!why)
		says = judge_victim(g->s->j, pod);
	why = why ? why : &says;
	if (is_kept(g, why))
		node_search_protect(g, pod, ledger_pod(g->s->c->ledger, pod), why, false);
}

/* Of nearly all it is known why they stay. */
void node_search_list_some(struct node_search *g, const struct listed *v, uint32_t n)
{
	struct protected_list *l = g->s->protected;
	const struct pod *pods = n ? ledger_pod(g->s->c->ledger, 0) : NULL;

	array_reserve(&l->v, l->v.n + n);
	for (uint32_t i = 0; i < n; i++) {
		if (g->s->tells_times || !v[i].why || v[i].why->answer != IS_PROTECTED || g->protected_from >= l->max)
			node_search_list(g, v[i].pod, v[i].why);
		else
			write_protected(&l->v.v[l->v.n++], g->node, v[i].pod, &pods[v[i].pod], v[i].why);
	}
}

void node_search_list_end(struct node_search *g, bool is_sorted)
{
	struct protected_list *l = g->s->protected;

	if (!is_sorted)
		settle_protected(g);
	protected_cut(l);
	g->is_listing = false;
}

static bool try_node(struct node_search *g, node_id node, struct set_cost *ret)
{
	struct search_scratch *scratch = search_cache_scratch(g->s->search_cache);
	const struct ledger_node *n = ledger_node(g->s->c->ledger, node);
	struct best_set best = {0};
	bool is_found;

	g->node = node;
	g->is_bounded = g->was_refused = false;
	g->candidates = candidates_for(scratch, 2 * n->pods.n + 1);
	best.goes = scratch->goes;
	node_search_measure_room(g);
	g->short_here = node_search_short(g);
	judge_look_at(g->s->j, g->short_here | g->s->lacking);
	gather(g);
	g->is_beaten = node_search_is_beaten(g, ret);
	if (g->is_beaten)
		return false;
	g->moves = !g->is_fast && !node_search_is_settled(g);
	g->filters = FILTERS_NOT_ASKED;
	g->set.follows_ledger = g->moves;
	victim_set_begin(&g->set, node, !g->moves && !g->has_rest);
	g->s->c->is_dry_run = true;
	if (g->moves)
		clear_leaving(g);
	is_found = g->n && node_search_find_set(g, &best, ret);
	if (!is_found && g->was_refused && g->s->protected)
		node_search_tell_refused_sets(g);
	g->s->c->is_dry_run = false;
	return is_found;
}

/* All pods that go, and which of them with their whole group; returns how many. */
static uint32_t list_going(const struct node_search *g, struct arena *in, const pod_id **ret_pods,
			   const bool **ret_whole)
{
	uint32_t n = 0;
	pod_id *v;
	bool *whole;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->candidates[i].goes ? g->candidates[i].v.n_pods : 0;
	v = arena_n(in, n + 1, pod_id);
	whole = arena_n(in, n + 1, bool);
	n = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct candidate *m = &g->candidates[i];
		bool is_whole = m->rest ? m->v.n_pods > 1 : node_search_rest_goes(g, m);

		for (uint32_t k = 0; m->goes && k < m->v.n_pods; k++) {
			whole[n] = is_whole;
			v[n++] = m->rest ? m->rest->pods[k] : m->v.pod;
		}
	}
	*ret_pods = v;
	*ret_whole = whole;
	return n;
}

/* at: its place among the nodes, which decides between equals. */
static void rank(node_id node, uint32_t at, const struct set_cost *cost, struct search_result *ret)
{
	int d = ret->node == NODE_NONE ? -1 : set_cost_cmp(cost, &ret->cost);

	if (d < 0 || (d == 0 && at < ret->at)) {
		ret->second = ret->node;
		ret->second_cost = ret->cost;
		ret->second_at = ret->at;
		ret->node = node;
		ret->cost = *cost;
		ret->at = at;
		return;
	}
	d = ret->second == NODE_NONE ? -1 : set_cost_cmp(cost, &ret->second_cost);
	if (d < 0 || (d == 0 && at < ret->second_at)) {
		ret->second = node;
		ret->second_cost = *cost;
		ret->second_at = at;
	}
}

/* What became of one node, for people. A node that fits but for its queue's maximum still fits. */
static void report(struct node_search *g, bool is_found, struct node_report *r)
{
	const bool *whole;

	if (!is_found && r->fate == FATE_REFUSED)
		r->fate = FATE_SPARED;
	if (!is_found)
		return;
	r->fate = FATE_CANDIDATE;
	r->n_victims = list_going(g, g->s->keep, &r->victims, &whole);
}

/* One node, and all moves taken back. */
static bool look(struct node_search *g, node_id node, struct set_cost *ret)
{
	ledger_mark mark = ledger_get_mark(g->s->c->ledger);
	bool is_found = try_node(g, node, ret);

	ledger_rollback(g->s->c->ledger, mark);
	if (g->has_gangs)
		node_search_tell_refused(g);
	settle_protected(g);
	return is_found;
}

/* ---- who may not go with the others ---- */

struct place_order {
	const struct cede_cycle *c;
	const uint32_t *at; /* of nodes, by id */
};

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct place_order *o = ctx;
	uint32_t x = o->at[((const struct protected_pod *)a)->node], y = o->at[((const struct protected_pod *)b)->node];

	return x != y ? (x < y ? -1 : 1) : by_name(a, b, (void *)o->c);
}

/* Where no set was found, who was refused is told among the others: by node, then by name. */
static void tell_refused(struct node_search *g, const node_id *nodes, uint32_t n)
{
	struct protected_list *l = g->s->protected;
	uint32_t *at = arena_n(g->s->c->arena, ledger_node_limit(g->s->c->ledger) + 1, uint32_t);
	struct place_order o = {.c = g->s->c, .at = at};

	for (uint32_t i = 0; i < n; i++)
		at[nodes[i]] = i;
	for (uint32_t i = 0; i < g->refused.n; i++)
		array_push(&l->v, g->refused.v[i]);
	qsort_r(l->v.v, l->v.n, sizeof(*l->v.v), by_place, &o);
	protected_cut(l);
}

/* Who asks the judge afterwards, asks about the best node. */
static void settle_judge(struct node_search *g, node_id node)
{
	g->node = node;
	node_search_measure_room(g);
	judge_look_at(g->s->j, node_search_short(g) | g->s->lacking);
}

void search_scratch_free(struct search_scratch *s)
{
	victim_set_memory_free(&s->sets);
	mem_free(s->candidates);
	mem_free(s->goes);
	mem_free(s->bounds);
	*s = (struct search_scratch){0};
}

/* Rows of all nodes stand one after the other, and stay where they are while pods are moved. */
static struct search_rooms rooms_of_ledger(const struct ledger *l)
{
	if (!ledger_node_limit(l))
		return (struct search_rooms){0};
	return (struct search_rooms){.nodes = ledger_node(l, 0),
				     .has = ledger_node_allocatable(l, 0),
				     .used = ledger_node_used(l, 0),
				     .leaving = ledger_node_leaving(l, 0),
				     .reserved = ledger_node_reserved(l, 0),
				     .stride = ledger_stride(l)};
}

static void begin(struct node_search *g, struct search *s)
{
	*g = (struct node_search){
		.s = s, .is_fast = displace_is_fast(s->c), .plugins_judge = plugins_judge(s->c->framework)};
	want_of(s->c, &g->want);
	g->rooms = rooms_of_ledger(s->c->ledger);
	victim_set_init(&g->set, s->j, &search_cache_scratch(s->search_cache)->sets);
	g->set.path_types = s->lacking;
	g->max_steps = search_exact_steps(s->c->n_nodes);
	g->looks_at_all = search_cache_looks_at_all(s->search_cache);
	g->may_settle = !g->looks_at_all && !g->plugins_judge && search_knows_who_matters(s->c);
}

/* One node, at its place among all. */
static void visit(struct node_search *g, node_id node, uint32_t at, struct search_result *ret)
{
	bool may_be_beaten = ret->second != NODE_NONE && at > ret->second_at && !g->s->reports && !g->looks_at_all;
	struct set_cost cost;
	bool is_found;

	g->rival = may_be_beaten ? &ret->second_cost : NULL;
	is_found = look(g, node, &cost);
	ret->n_bounded += g->is_bounded;
	if (is_found)
		rank(node, at, &cost, ret);
	if (is_found && ret->node == node)
		ret->n_victims = list_going(g, g->s->c->arena, &ret->victims, &ret->with_group);
	if (g->s->reports)
		report(g, is_found, g->s->reports[at]);
}

static void visit_all(struct node_search *g, const node_id *nodes, uint32_t n, struct search_result *ret)
{
	g->is_listing = true;
	for (uint32_t i = 0; i < n; i++)
		visit(g, nodes[i], i, ret);
	g->is_listing = false;
}

/* What is in them does not matter: they are written before they are read. */
static struct node_bound *bounds_for(struct search_scratch *s, uint32_t n)
{
	if (s->n_bounds < n) {
		s->bounds = mem_resize(s->bounds, n, sizeof(*s->bounds));
		s->n_bounds = n;
	}
	return s->bounds;
}

/* For a report: all nodes on which some set may be enough, in their order. */
static void visit_possible(struct node_search *g, const node_id *nodes, uint32_t n, struct search_result *ret)
{
	struct node_bound *v = bounds_for(search_cache_scratch(g->s->search_cache), n);
	uint32_t left = search_bound_all(g, nodes, n, false, v);

	for (uint32_t i = 0; i < n; i++)
		report(g, false, g->s->reports[i]);
	for (uint32_t i = 0; i < left; i++)
		visit(g, nodes[v[i].at], v[i].at, ret);
}

/* ---- best first ---- */

/* Not base/heap.h: what is put in order here are values, made once for a search and mostly never taken out again. */
static void sink(struct node_bound *v, uint32_t n, uint32_t i)
{
	for (uint32_t kid = 2 * i + 1; kid < n; kid = 2 * i + 1) {
		struct node_bound x = v[i];

		if (kid + 1 < n && node_bound_cmp(&v[kid + 1], &v[kid]) < 0)
			kid++;
		if (node_bound_cmp(&x, &v[kid]) <= 0)
			return;
		v[i] = v[kid];
		v[kid] = x;
		i = kid;
	}
}

static void rise(struct node_bound *v, uint32_t i)
{
	struct node_bound x = v[i];

	for (; i > 0 && node_bound_cmp(&x, &v[(i - 1) / 2]) < 0; i = (i - 1) / 2)
		v[i] = v[(i - 1) / 2];
	v[i] = x;
}

/* The nodes of the block that comes first take its place, but for those that are shut. Returns how many there are. */
static uint32_t open_block(struct node_search *g, const node_id *nodes, struct node_bound *v, uint32_t left)
{
	struct node_bound block = v[0];
	uint32_t from = left - 1, n;

	v[0] = v[--left];
	sink(v, left, 0);
	n = search_bound_open(g, &block, v + from);
	for (uint32_t i = from; i < from + n; i++) {
		if (node_search_is_shut(g, nodes[v[i].at], false))
			continue;
		v[left] = v[i];
		rise(v, left++);
	}
	return left;
}

/* But for those nodes of which it is known already. Returns how many are left. */
static uint32_t drop_shut(struct node_search *g, const node_id *nodes, struct node_bound *v, uint32_t n)
{
	uint32_t left = 0;

	if (!g->may_settle || !g->s->closed)
		return n;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].is_block || !node_search_is_shut(g, nodes[v[i].at], true))
			v[left++] = v[i];
	return left;
}

/* Can the rest be neither the best nor, where somebody wants to know, the second best? */
static bool is_settled(const struct node_search *g, const struct node_bound *least, const struct search_result *r)
{
	if (g->s->best_is_enough)
		return r->node != NODE_NONE && node_bound_is_beaten(least, &r->cost, r->at);
	return r->second != NODE_NONE && node_bound_is_beaten(least, &r->second_cost, r->second_at);
}

/* Nodes by what their best set costs at least, until the rest does not matter. */
static void visit_best(struct node_search *g, const node_id *nodes, uint32_t n, struct search_result *ret)
{
	struct node_bound *v = bounds_for(search_cache_scratch(g->s->search_cache), n + BOUND_BLOCK_MAX);
	uint32_t left = drop_shut(g, nodes, v, search_bound_all(g, nodes, n, true, v));

	for (uint32_t i = left / 2; i-- > 0;)
		sink(v, left, i);
	while (left) {
		if (is_settled(g, &v[0], ret))
			return;
		if (v[0].is_block) {
			left = open_block(g, nodes, v, left);
			continue;
		}
		if (v[0].is_refined)
			visit(g, nodes[v[0].at], v[0].at, ret);
		if (v[0].is_refined || node_search_is_shut(g, nodes[v[0].at], false) ||
		    !search_bound_refine(g, nodes[v[0].at], &v[0]))
			v[0] = v[--left];
		sink(v, left, 0);
	}
}

void search_run(struct search *s, const node_id *nodes, uint32_t n, struct search_result *ret)
{
	struct node_search g;

	begin(&g, s);
	*ret = (struct search_result){.node = NODE_NONE, .second = NODE_NONE};
	if (!search_bound_serves(&g))
		visit_all(&g, nodes, n, ret);
	else if (s->reports)
		visit_possible(&g, nodes, n, ret);
	else
		visit_best(&g, nodes, n, ret);
	ret->spares_nobody = g.spares_nobody;
	if (ret->node != NODE_NONE)
		settle_judge(&g, ret->node);
	else if (g.refused.n)
		tell_refused(&g, nodes, n);
	array_free(&g.refused);
	node_search_forget_groups(&g);
}

static void free_up(struct node_search *g, const struct res_list *usage)
{
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] += g->want.type[k] == RES_PODS ? 1 : res_list_get(usage, g->want.type[k]);
}

/* Inside a queue of which nothing runs there is nobody who could go, for the first of them or any other. */
static bool concerns_anybody(const struct search *s)
{
	bool is_inside = s->j->action == ACTION_PREEMPT || s->j->action == ACTION_DISPLACE, is_any = !is_inside;
	const pod_id *v = NULL;
	uint32_t n = 0;

	if (is_inside && s->j->p->queue != QUEUE_NONE)
		v = ledger_queue_pods(s->c->ledger, s->j->p->queue, &n);
	for (uint32_t i = 0; i < n && !is_any; i++)
		is_any = ledger_pod(s->c->ledger, v[i])->state == POD_PLACED;
	return is_any;
}

uint64_t search_slots(struct search *s, const node_id *nodes, uint32_t n, uint64_t enough)
{
	struct node_search g = {.s = s, .rooms = rooms_of_ledger(s->c->ledger)};
	bool is_any = concerns_anybody(s);
	uint64_t all = 0;

	want_of(s->c, &g.want);
	for (uint32_t i = 0; is_any && i < n && all < enough; i++) {
		const struct ledger_node *node = ledger_node(s->c->ledger, nodes[i]);
		int64_t least = INT64_MAX;

		g.node = nodes[i];
		node_search_measure_room(&g);
		for (uint32_t k = 0; k < node->pods.n; k++) {
			const struct pod *p = ledger_pod(s->c->ledger, node->pods.v[k]);

			if (node_search_concerns(&g, p))
				free_up(&g, &shape_get(s->c->vocab, p->shape)->usage);
		}
		for (uint32_t k = 0; k < g.want.n; k++)
			if (g.want.amount[k] > 0 && g.room[k] / g.want.amount[k] < least)
				least = g.room[k] / g.want.amount[k];
		all += least > 0 ? (uint64_t)least : 0;
	}
	return all;
}
