/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search.h"

#include <stdlib.h>

#include "engine/search_cache.h"
#include "engine/search_internal.h"
#include "rules/plugin.h"

/* ---- who may go ---- */

static bool is_stuck(const struct node_search *g, pod_id pod)
{
	return pod_is_stuck(ledger_pod(g->s->c->ledger, pod), g->s->c->now_ns, g->s->patience_ns);
}

void node_search_protect(struct node_search *g, pod_id pod, const struct pod *p, const struct rule_verdict *says,
			 bool is_refused_in_set)
{
	struct protected_list *l = g->s->protected;
	struct protected_pod x = {.pod = pod,
				  .node = g->node,
				  .queue = p->queue,
				  .verdict = *says,
				  .is_refused_in_set = is_refused_in_set};

	if (!l || g->protected_from >= l->max)
		return;
	array_push(&l->v, x);
}

/* Does the action look at this pod at all? */
static bool concerns(const struct node_search *g, const struct pod *p)
{
	queue_id own = g->s->j->p->queue;
	group_id group = g->s->j->p->group;

	if (p->state != POD_PLACED || p->queue == QUEUE_NONE || (group != GROUP_NONE && p->group == group))
		return false;
	switch (g->s->j->action) {
	case ACTION_RECLAIM:
		return p->queue != own;
	case ACTION_PREEMPT:
	case ACTION_DISPLACE:
		return p->queue == own;
	default:
		return true;
	}
}

bool node_search_consider(struct node_search *g, pod_id pod, struct candidate *m, struct rule_verdict *ret_says)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says = judge_victim(g->s->j, pod);
	bool is_last = says.rule == RULE_OPT_OUT || says.rule == RULE_PLUGIN;

	*ret_says = says;
	if (says.answer == IS_PROTECTED || (is_last && !g->s->with_opted_out))
		return false;
	*m = (struct candidate){.v = {.pod = pod, .p = p, .n_pods = 1}, .n_here = 1, .group = GROUP_NONE};
	m->v.usage = m->here = &shape_get(g->s->c->vocab, p->shape)->usage;
	m->v.queue = judge_queue(g->s->j, p->queue);
	m->distance = m->v.queue->distance;
	m->is_opted_out = is_last;
	m->is_spared = says.rule == RULE_PLUGIN;
	m->is_driver = says.rule == RULE_DRIVER || (m->is_opted_out && judge_is_driver(g->s->j, p));
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
	if (g->has_opinions && x->v.p->priority == y->v.p->priority)
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

static uint64_t short_here(const struct node_search *g)
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

static void measure_room(struct node_search *g)
{
	const struct ledger *l = g->s->c->ledger;
	const int64_t *has = ledger_node_allocatable(l, g->node), *used = ledger_node_used(l, g->node),
		      *leaving = ledger_node_leaving(l, g->node), *reserved = ledger_node_reserved(l, g->node);

	for (uint32_t k = 0; k < g->want.n; k++) {
		res_id r = g->want.type[k];

		g->room[k] = has[r] - used[r] + leaving[r] - reserved[r];
	}
	if (leaving[RES_PODS])
		forget_stuck(g);
}

/* In the slow way filters must see leaving pods as gone. */
static void clear_leaving(struct node_search *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);

	for (uint32_t i = n->pods.n; i-- > 0;)
		if (ledger_pod(g->s->c->ledger, n->pods.v[i])->state == POD_LEAVING && !is_stuck(g, n->pods.v[i]))
			ledger_vacate(g->s->c->ledger, n->pods.v[i]);
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct cede_cycle *c = ctx;
	const struct pod *x = ledger_pod(c->ledger, ((const struct protected_pod *)a)->pod);
	const struct pod *y = ledger_pod(c->ledger, ((const struct protected_pod *)b)->pod);
	int d = name_cmp(c->names, labelset_get(c->vocab, x->labelset)->ns, labelset_get(c->vocab, y->labelset)->ns);

	return d ? d : name_cmp(c->names, x->name, y->name);
}

/* Sort by name: the order in which pods came to a node must not be visible in the output. */
static void settle_protected(struct node_search *g)
{
	struct protected_list *l = g->s->protected;

	if (!l || l->v.n == g->protected_from)
		return;
	qsort_r(l->v.v + g->protected_from, l->v.n - g->protected_from, sizeof(*l->v.v), by_name, g->s->c);
	l->v.n = l->v.n > l->max ? l->max : l->v.n;
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

static void consider(struct node_search *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says;

	if (!concerns(g, p) || !frees_something(g, p))
		return;
	if (node_search_consider(g, pod, &g->candidates[g->n], &says))
		g->n++;
	else
		node_search_protect(g, pod, p, &says, false);
}

/* What the node says depends on more than what is on it. */
static void depend_on(struct node_search *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	uint32_t n_budgets = 0;

	if (!concerns(g, p))
		return;
	if (g->set.has_budgets)
		ledger_labelset_pdbs(g->s->c->ledger, p->labelset, &n_budgets);
	g->is_lasting = g->is_lasting && !n_budgets && p->group == GROUP_NONE;
	g->watches |= search_cache_watch(g->memory, g->s->j, p);
}

/* A plugin compares two pods; a set is as dear to it as the dearest of its pods. */
static void rank_by_plugins(struct node_search *g)
{
	for (uint32_t i = g->n; i-- > 1;) {
		const struct candidate *x = &g->candidates[i - 1], *y = &g->candidates[i];

		g->candidates[i - 1].rank = y->rank + (plugins_cmp(g->s->c, x->v.pod, y->v.pod) != 0);
	}
}

static void gather(struct node_search *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);

	g->n = 0;
	g->has_rest = g->has_gangs = false;
	g->protected_from = g->s->protected ? g->s->protected->v.n : 0;
	g->is_lasting = g->s->j->settings.evictions_per_hour == 0 && g->s->j->settings.eviction_history == NULL;
	g->watches = 0;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		consider(g, n->pods.v[i]);
		if (g->memory)
			depend_on(g, n->pods.v[i]);
	}
	if (g->n)
		qsort_r(g->candidates, g->n, sizeof(*g->candidates), by_eviction_order, g);
	if (profile_get(g->s->j->settings.profile)->has_gangs)
		node_search_join_groups(g);
	if (g->has_opinions)
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
	measure_room(g);
	g->short_here = short_here(g);
	judge_look_at(g->s->j, g->short_here | g->s->lacking);
	gather(g);
	g->is_beaten = node_search_is_beaten(g, ret);
	if (g->is_beaten)
		return false;
	victim_set_begin(&g->set, node, g->is_fast && !g->has_rest);
	g->s->c->is_dry_run = true;
	if (!g->is_fast)
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

static void rank(node_id node, const struct set_cost *cost, struct search_result *ret)
{
	if (ret->node == NODE_NONE || set_cost_cmp(cost, &ret->cost) < 0) {
		ret->second = ret->node;
		ret->second_cost = ret->cost;
		ret->node = node;
		ret->cost = *cost;
	} else if (ret->second == NODE_NONE || set_cost_cmp(cost, &ret->second_cost) < 0) {
		ret->second = node;
		ret->second_cost = *cost;
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

static void learn(struct node_search *g, bool is_found, const struct set_cost *cost)
{
	const struct protected_list *l = g->s->protected;
	struct search_cache_entry e = {
		.watches = g->watches, .is_found = is_found, .is_beaten = g->is_beaten, .is_bounded = g->is_bounded};

	if (g->is_lasting)
		e.generation = ledger_node(g->s->c->ledger, g->node)->generation;
	if (is_found || g->is_beaten)
		e.cost = *cost;
	e.has_protected = l->v.n < l->max; /* beyond that not everybody was written down */
	e.n_protected = l->v.n - g->protected_from;
	e.protected = e.n_protected ? l->v.v + g->protected_from : NULL;
	search_cache_learn(g->memory, g->node, &e);
}

static void take_known(struct node_search *g, node_id node, const struct search_cache_entry *e,
		       struct search_result *ret)
{
	struct protected_list *l = g->s->protected;

	for (uint32_t i = 0; i < e->n_protected && l->v.n < l->max; i++)
		array_push(&l->v, e->protected[i]);
	ret->n_bounded += e->is_bounded;
	if (e->is_found)
		rank(node, &e->cost, ret);
}

/* The node was not searched because others were better; are they still? */
static bool is_outdated(const struct search_cache_entry *e, const struct search_result *r)
{
	return e->is_beaten && (r->second == NODE_NONE || set_cost_cmp(&e->cost, &r->second_cost) < 0);
}

/* Where a set was found it does not matter which sets were refused: nodes that cannot win were not asked. */
static void forget_refused_sets(struct protected_list *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->v.n; i++)
		if (!l->v.v[i].is_refused_in_set)
			l->v.v[n++] = l->v.v[i];
	l->v.n = n;
}

/* Of all nodes only the costs were kept. */
static void find_victims(struct node_search *g, struct search_result *ret)
{
	struct protected_list *l = g->s->protected;
	struct set_cost cost;

	g->s->protected = NULL;
	g->rival = NULL;
	g->steps = 0;
	look(g, ret->node, &cost);
	g->s->protected = l;
	ret->n_victims = list_going(g, g->s->c->arena, &ret->victims, &ret->with_group);
}

void search_scratch_free(struct search_scratch *s)
{
	victim_set_memory_free(&s->sets);
	mem_free(s->candidates);
	mem_free(s->goes);
	*s = (struct search_scratch){0};
}

static void begin(struct node_search *g, struct search *s)
{
	*g = (struct node_search){
		.s = s, .is_fast = displace_is_fast(s->c), .has_opinions = plugins_judge(s->c->framework)};
	want_of(s->c, &g->want);
	victim_set_init(&g->set, s->j, &search_cache_scratch(s->search_cache)->sets);
	g->set.follows_ledger = !g->is_fast;
	g->set.path_types = s->lacking;
	g->memory = search_cache_begin(s->search_cache, s);
}

void search_run(struct search *s, const node_id *nodes, uint32_t n, struct search_result *ret)
{
	struct node_search g;

	begin(&g, s);
	*ret = (struct search_result){.node = NODE_NONE, .second = NODE_NONE};
	for (uint32_t i = 0; i < n; i++) {
		bool wants_protected = s->protected && s->protected->v.n < s->protected->max;
		const struct search_cache_entry *e =
			g.memory ? search_cache_known(g.memory, nodes[i], wants_protected) : NULL;
		struct set_cost cost;
		bool is_found;

		if (e && !is_outdated(e, ret)) {
			take_known(&g, nodes[i], e, ret);
			continue;
		}
		g.rival = ret->second == NODE_NONE || s->reports ? NULL : &ret->second_cost;
		is_found = look(&g, nodes[i], &cost);
		ret->n_bounded += g.is_bounded;
		if (g.memory)
			learn(&g, is_found, &cost);
		if (is_found)
			rank(nodes[i], &cost, ret);
		if (s->reports)
			report(&g, is_found, s->reports[i]);
	}
	if (ret->node != NODE_NONE)
		find_victims(&g, ret);
	if (ret->node != NODE_NONE && s->protected)
		forget_refused_sets(s->protected);
	if (g.memory)
		search_cache_end(g.memory);
	node_search_forget_groups(&g);
}

static void free_up(struct node_search *g, const struct res_list *usage)
{
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] += g->want.type[k] == RES_PODS ? 1 : res_list_get(usage, g->want.type[k]);
}

uint64_t search_slots(struct search *s, const node_id *nodes, uint32_t n)
{
	struct node_search g = {.s = s};
	uint64_t all = 0;

	want_of(s->c, &g.want);
	for (uint32_t i = 0; i < n; i++) {
		const struct ledger_node *node = ledger_node(s->c->ledger, nodes[i]);
		int64_t least = INT64_MAX;

		g.node = nodes[i];
		measure_room(&g);
		for (uint32_t k = 0; k < node->pods.n; k++) {
			const struct pod *p = ledger_pod(s->c->ledger, node->pods.v[k]);

			if (concerns(&g, p))
				free_up(&g, &shape_get(s->c->vocab, p->shape)->usage);
		}
		for (uint32_t k = 0; k < g.want.n; k++)
			if (g.want.amount[k] > 0 && g.room[k] / g.want.amount[k] < least)
				least = g.room[k] / g.want.amount[k];
		all += least > 0 ? (uint64_t)least : 0;
	}
	return all;
}
