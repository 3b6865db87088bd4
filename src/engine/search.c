/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search.h"

#include <stdlib.h>

#include "engine/opinion.h"
#include "engine/search_cache.h"
#include "engine/search_internal.h"

enum { EXACT_MAX = 14 }; /* candidates on a node up to which all sets are tried if the plain way finds none */

/* ---- who may go ---- */

/* The deletion timestamp is when a pod should be gone, its grace period over. */
bool pod_is_stuck(const struct pod *p, int64_t now_ns, int64_t patience_ns)
{
	return p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE &&
	       res_sub_sat(now_ns, p->obj->deleted_ns) > patience_ns;
}

static bool is_stuck(const struct node_search *g, pod_id pod)
{
	return pod_is_stuck(ledger_pod(g->s->c->ledger, pod), g->s->c->now_ns, g->s->patience_ns);
}

void node_search_note_protected(struct node_search *g, pod_id pod, const struct pod *p, const struct rule_verdict *says)
{
	struct protected_list *l = g->s->protected;
	struct protected_pod x = {.pod = pod, .node = g->node, .queue = p->queue, .verdict = *says};

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

/* What the rules say, and what plugins say of those the rules would let go. */
static struct rule_verdict verdict_of(struct node_search *g, pod_id pod)
{
	struct rule_verdict says = judge_victim(g->s->j, pod), theirs;

	if (!g->has_opinions || says.answer == IS_PROTECTED)
		return says;
	theirs = opinion_of(g->s->c, pod);
	return theirs.answer == IS_PROTECTED || (theirs.answer == IS_SPARED && says.rule != RULE_OPT_OUT) ? theirs
													  : says;
}

bool node_search_consider(struct node_search *g, pod_id pod, struct candidate *m, struct rule_verdict *ret_says)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says = verdict_of(g, pod);
	bool is_last = says.rule == RULE_OPT_OUT || says.rule == RULE_PLUGIN;

	*ret_says = says;
	if (says.answer == IS_PROTECTED || (is_last && !g->s->with_opted_out))
		return false;
	*m = (struct candidate){.pod = pod, .p = p, .n_pods = 1, .n_here = 1, .group = GROUP_NONE};
	m->usage = m->here = &shape_get(g->s->c->vocab, p->shape)->usage;
	m->victim_queue = judge_queue(g->s->j, p->queue);
	m->distance = m->victim_queue->distance;
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

int node_search_eviction_order(const void *a, const void *b, void *ctx)
{
	const struct node_search *g = ctx;
	const struct candidate *x = a, *y = b;
	const struct vocab *v = g->s->c->vocab;
	int d = 0;

	if (x->is_spared != y->is_spared)
		return x->is_spared ? -1 : 1;
	if (g->has_opinions && x->p->priority == y->p->priority)
		d = opinion_cmp(g->s->c, x->pod, y->pod);
	if (g->s->j->action == ACTION_DISPLACE && x->p->priority == y->p->priority) {
		if (d)
			return d;
		if (x->start != y->start)
			return x->start < y->start ? -1 : 1;
		goto names;
	}
	if (x->is_opted_out != y->is_opted_out)
		return x->is_opted_out ? -1 : 1;
	if (x->is_driver != y->is_driver)
		return x->is_driver ? -1 : 1;
	if (x->is_thrashing != y->is_thrashing)
		return x->is_thrashing ? -1 : 1;
	if (x->p->priority != y->p->priority)
		return x->p->priority > y->p->priority ? -1 : 1;
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
	d = name_cmp(g->s->c->names, labelset_get(v, x->p->labelset)->ns, labelset_get(v, y->p->labelset)->ns);
	return d ? d : name_cmp(g->s->c->names, x->p->name, y->p->name);
}

/* ---- one node ---- */

static void give_back_all(struct node_search *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->candidates[i].goes)
			node_search_give_back(g, &g->candidates[i]);
}

static void reprieve(struct node_search *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->candidates[i].goes || node_search_rest_goes(g, &g->candidates[i]))
			continue;
		node_search_give_back(g, &g->candidates[i]);
		if (!node_search_fits(g))
			node_search_take(g, &g->candidates[i]);
	}
}

/* Would it be enough if all of them went, whatever the laws say? */
static bool could_fit(const struct node_search *g)
{
	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t room = g->room[k];

		for (uint32_t i = 0; i < g->n && room < g->want.amount[k]; i++)
			room += g->want.type[k] == RES_PODS ? (int64_t)g->candidates[i].n_here
							    : res_list_get(g->candidates[i].here, g->want.type[k]);
		if (room < g->want.amount[k])
			return false;
	}
	return true;
}

static bool take_greedily(struct node_search *g)
{
	for (uint32_t i = g->n; i-- > 0;)
		if (node_search_keeps_laws(g, &g->candidates[i]))
			node_search_take(g, &g->candidates[i]);
	if (node_search_fits(g))
		return true;
	give_back_all(g);
	return false;
}

/*
 * The first lawful set that is enough, those evicted first before those evicted last:
 * subsets in the order of their bit patterns, the first to be evicted as lowest bit.
 */
static bool take_exactly(struct node_search *g)
{
	if (g->n > EXACT_MAX)
		return false;
	for (uint32_t set = 1; set < 1u << g->n; set++) {
		bool is_lawful = true;

		for (uint32_t b = 0; is_lawful && b < g->n; b++) {
			struct candidate *m = &g->candidates[g->n - 1 - b];

			if (!(set >> b & 1))
				continue;
			is_lawful = node_search_keeps_laws(g, m);
			if (is_lawful)
				node_search_take(g, m);
		}
		if (is_lawful && node_search_fits(g))
			return true;
		give_back_all(g);
	}
	return false;
}

/* Types the pod lacks on this node or below a maximum. */
static uint64_t short_types(const struct node_search *g)
{
	uint64_t lacks = g->s->lacking;

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

/* Sort by name: arrival order on the node must not be visible in the output. */
static void sort_protected(struct node_search *g)
{
	struct protected_list *l = g->s->protected;

	if (!l || l->v.n == g->protected_from)
		return;
	qsort_r(l->v.v + g->protected_from, l->v.n - g->protected_from, sizeof(*l->v.v), by_name, g->s->c);
	l->v.n = l->v.n > l->max ? l->max : l->v.n;
}

static void consider(struct node_search *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says;

	if (!concerns(g, p))
		return;
	if (node_search_consider(g, pod, &g->candidates[g->n], &says))
		g->n++;
	else
		node_search_note_protected(g, pod, p, &says);
}

/* What the node says depends on more than what is on it. */
static void depend_on(struct node_search *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	uint32_t n_budgets = 0;

	if (!concerns(g, p))
		return;
	if (g->budgets)
		ledger_labelset_pdbs(g->s->c->ledger, p->labelset, &n_budgets);
	g->is_lasting = g->is_lasting && !n_budgets && p->group == GROUP_NONE;
	g->watches |= search_cache_watch(g->memory, g->s->j, p);
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
		qsort_r(g->candidates, g->n, sizeof(*g->candidates), node_search_eviction_order, g);
	if (profile_get(g->s->j->settings.profile)->has_gangs)
		node_search_join_groups(g);
}

/*
 * A set that takes a queue below its guarantee in types the laws did not look at gives way to one that does not, unless
 * that one costs more opted-out pods or drivers.
 */
static void prefer_kept_guarantees(struct node_search *g, struct set_cost *cost)
{
	bool had_all = g->judges_all, is_better = false;
	struct set_cost kept;

	give_back_all(g);
	g->judges_all = true;
	if (take_greedily(g)) {
		reprieve(g);
		kept = node_search_cost(g);
		is_better = set_cost_cmp(&kept, cost) < 0;
	}
	g->judges_all = had_all;
	if (is_better) {
		*cost = kept;
		return;
	}
	give_back_all(g);
	if (take_greedily(g) || take_exactly(g))
		reprieve(g);
}

static bool find_set(struct node_search *g, struct set_cost *ret)
{
	if (!take_greedily(g) && !take_exactly(g))
		return false;
	reprieve(g);
	*ret = node_search_cost(g);
	if (ret->n_below)
		prefer_kept_guarantees(g, ret);
	return ret->n > 0;
}

/* Once without groups that go as a whole, once with them; the cheaper way stays. */
static bool find_with_groups(struct node_search *g, struct set_cost *ret)
{
	struct set_cost without, with;
	bool is_without, is_with;

	g->spares_rest = true;
	is_without = find_set(g, &without);
	give_back_all(g);
	g->spares_rest = false;
	is_with = find_set(g, &with);
	if (!is_without || (is_with && set_cost_cmp(&with, &without) < 0)) {
		*ret = with;
		return is_with;
	}
	give_back_all(g);
	g->spares_rest = true;
	find_set(g, ret);
	g->spares_rest = false;
	return true;
}

static struct candidate *candidates_for(struct search_scratch *s, uint32_t n)
{
	if (s->n_candidates < n) {
		s->candidates = mem_resize(s->candidates, n, sizeof(*s->candidates));
		s->n_candidates = n;
	}
	return s->candidates;
}

static bool try_node(struct node_search *g, node_id node, struct set_cost *ret)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, node);
	bool is_found;

	g->node = node;
	g->stamp++;
	g->candidates = candidates_for(search_cache_scratch(g->s->search_cache), 2 * n->pods.n + 1);
	measure_room(g);
	judge_look_at(g->s->j, short_types(g));
	gather(g);
	g->s->c->is_dry_run = true;
	if (!g->is_fast)
		clear_leaving(g);
	is_found = g->n && could_fit(g) && (g->has_rest ? find_with_groups(g, ret) : find_set(g, ret));
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
		n += g->candidates[i].goes ? g->candidates[i].n_pods : 0;
	v = arena_n(in, n + 1, pod_id);
	whole = arena_n(in, n + 1, bool);
	n = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct candidate *m = &g->candidates[i];
		bool is_whole = m->rest ? m->n_pods > 1 : node_search_rest_goes(g, m);

		for (uint32_t k = 0; m->goes && k < m->n_pods; k++) {
			whole[n] = is_whole;
			v[n++] = m->rest ? m->rest->pods[k] : m->pod;
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
	sort_protected(g);
	return is_found;
}

static void learn(struct node_search *g, bool is_found, const struct set_cost *cost)
{
	const struct protected_list *l = g->s->protected;
	struct search_cache_entry e = {.watches = g->watches, .is_found = is_found};

	if (g->is_lasting)
		e.generation = ledger_node(g->s->c->ledger, g->node)->generation;
	if (is_found)
		e.cost = *cost;
	e.has_protected = l->v.n < l->max; /* beyond that not everybody was written down */
	e.n_protected = l->v.n - g->protected_from;
	e.protected = l->v.v + g->protected_from;
	search_cache_learn(g->memory, g->node, &e);
}

static void take_known(struct node_search *g, node_id node, const struct search_cache_entry *e,
		       struct search_result *ret)
{
	struct protected_list *l = g->s->protected;

	for (uint32_t i = 0; i < e->n_protected && l->v.n < l->max; i++)
		array_push(&l->v, e->protected[i]);
	if (e->is_found)
		rank(node, &e->cost, ret);
}

/* Of all nodes only the costs were kept. */
static void find_victims(struct node_search *g, struct search_result *ret)
{
	struct protected_list *l = g->s->protected;
	struct set_cost cost;

	g->s->protected = NULL;
	look(g, ret->node, &cost);
	g->s->protected = l;
	ret->n_victims = list_going(g, g->s->c->arena, &ret->victims, &ret->with_group);
}

void search_scratch_free(struct search_scratch *s)
{
	mem_free(s->queue_losses);
	mem_free(s->candidates);
	*s = (struct search_scratch){0};
}

static struct queue_loss *queue_losses_for(struct search_scratch *s, uint32_t n)
{
	if (s->n < n) {
		s->queue_losses = mem_resize(s->queue_losses, n, sizeof(*s->queue_losses));
		memset(s->queue_losses + s->n, 0, (n - s->n) * sizeof(*s->queue_losses));
		s->n = n;
	}
	return s->queue_losses;
}

static void begin(struct node_search *g, struct search *s)
{
	*g = (struct node_search){.s = s,
				  .is_fast = displace_is_fast(s->c),
				  .has_laws = s->j->action == ACTION_RECLAIM,
				  .has_opinions = opinion_is_any(s->c),
				  .judges_all = s->j->action == ACTION_RECLAIM && s->j->settings.guarantee_all_types,
				  .stride = ledger_stride(s->c->ledger)};
	want_of(s->c, &g->want);
	g->queue_losses = queue_losses_for(search_cache_scratch(s->search_cache), s->j->tree->q.n + 1);
	g->stamp = search_cache_scratch(s->search_cache)->stamp;
	if (profile_has_rule(s->j->settings.profile, RULE_BUDGET) && !(s->j->settings.rules_off >> RULE_BUDGET & 1) &&
	    ledger_pdb_limit(s->c->ledger))
		g->budgets = mem_alloc(ledger_pdb_limit(s->c->ledger) * sizeof(*g->budgets));
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

		if (e) {
			take_known(&g, nodes[i], e, ret);
			continue;
		}
		is_found = look(&g, nodes[i], &cost);
		if (g.memory)
			learn(&g, is_found, &cost);
		if (is_found)
			rank(nodes[i], &cost, ret);
		if (s->reports)
			report(&g, is_found, s->reports[i]);
	}
	if (ret->node != NODE_NONE)
		find_victims(&g, ret);
	if (g.memory)
		search_cache_end(g.memory);
	search_cache_scratch(s->search_cache)->stamp = g.stamp;
	node_search_forget_groups(&g);
	mem_free(g.budgets);
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
