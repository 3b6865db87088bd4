/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search.h"

#include <stdlib.h>

#include "engine/opinion.h"
#include "engine/search_internal.h"
#include "engine/survey.h"

enum { EXACT_MAX = 14 }; /* candidates on a node up to which all sets are tried if the plain way finds none */

/* ---- who may go ---- */

/* The deletion timestamp is when a pod should be gone, its grace period over. */
bool pod_is_stuck(const struct pod *p, int64_t now_ns, int64_t patience_ns)
{
	return p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE &&
	       res_sub_sat(now_ns, p->obj->deleted_ns) > patience_ns;
}

static bool is_stuck(const struct ground *g, pod_id pod)
{
	return pod_is_stuck(ledger_pod(g->s->c->ledger, pod), g->s->c->now_ns, g->s->patience_ns);
}

void ground_leave(struct ground *g, pod_id pod, const struct pod *p, const struct rule_verdict *says)
{
	struct protected_list *l = g->s->protected;
	struct protected_pod x = {.pod = pod, .node = g->node, .queue = p->queue, .verdict = *says};

	if (!l || g->left_from >= l->max)
		return;
	array_push(&l->v, x);
}

/* Does the action look at this pod at all? */
static bool concerns(const struct ground *g, const struct pod *p)
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
static struct rule_verdict verdict_of(struct ground *g, pod_id pod)
{
	struct rule_verdict says = judge_victim(g->s->j, pod), theirs;

	if (!g->has_opinions || says.answer == IS_PROTECTED)
		return says;
	theirs = opinion_of(g->s->c, pod);
	return theirs.answer == IS_PROTECTED || (theirs.answer == IS_SPARED && says.rule != RULE_OPT_OUT) ? theirs
													  : says;
}

bool ground_consider(struct ground *g, pod_id pod, struct mate *m, struct rule_verdict *ret_says)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says = verdict_of(g, pod);
	bool is_last = says.rule == RULE_OPT_OUT || says.rule == RULE_PLUGIN;

	*ret_says = says;
	if (says.answer == IS_PROTECTED || (is_last && !g->s->with_opted_out))
		return false;
	*m = (struct mate){.pod = pod, .p = p, .n_pods = 1, .n_here = 1, .group = GROUP_NONE};
	m->usage = m->here = &shape_get(g->s->c->vocab, p->shape)->usage;
	m->opinion = judge_queue(g->s->j, p->queue);
	m->distance = m->opinion->distance;
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

int ground_by_desert(const void *a, const void *b, void *ctx)
{
	const struct ground *g = ctx;
	const struct mate *x = a, *y = b;
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
	d = name_cmp(g->s->c->names, kin_get(v, x->p->kin)->ns, kin_get(v, y->p->kin)->ns);
	return d ? d : name_cmp(g->s->c->names, x->p->name, y->p->name);
}

/* ---- one node ---- */

static void give_back_all(struct ground *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->mates[i].goes)
			ground_give_back(g, &g->mates[i]);
}

static void reprieve(struct ground *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->mates[i].goes || ground_rest_goes(g, &g->mates[i]))
			continue;
		ground_give_back(g, &g->mates[i]);
		if (!ground_fits(g))
			ground_take(g, &g->mates[i]);
	}
}

/* Would it be enough if all of them went, whatever the laws say? */
static bool could_fit(const struct ground *g)
{
	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t room = g->room[k];

		for (uint32_t i = 0; i < g->n && room < g->want.amount[k]; i++)
			room += g->want.type[k] == RES_PODS ? (int64_t)g->mates[i].n_here
							    : res_list_get(g->mates[i].here, g->want.type[k]);
		if (room < g->want.amount[k])
			return false;
	}
	return true;
}

static bool take_greedily(struct ground *g)
{
	for (uint32_t i = g->n; i-- > 0;)
		if (ground_keeps_laws(g, &g->mates[i]))
			ground_take(g, &g->mates[i]);
	if (ground_fits(g))
		return true;
	give_back_all(g);
	return false;
}

/*
 * The first lawful set that is enough, fewer of the deserving first:
 * subsets in the order of their bit patterns, least deserving as lowest bit.
 */
static bool take_exactly(struct ground *g)
{
	if (g->n > EXACT_MAX)
		return false;
	for (uint32_t set = 1; set < 1u << g->n; set++) {
		bool is_lawful = true;

		for (uint32_t b = 0; is_lawful && b < g->n; b++) {
			struct mate *m = &g->mates[g->n - 1 - b];

			if (!(set >> b & 1))
				continue;
			is_lawful = ground_keeps_laws(g, m);
			if (is_lawful)
				ground_take(g, m);
		}
		if (is_lawful && ground_fits(g))
			return true;
		give_back_all(g);
	}
	return false;
}

/* Types the pod lacks on this node or below a maximum. */
static uint64_t short_types(const struct ground *g)
{
	uint64_t lacks = g->s->lacking;

	for (uint32_t k = 0; k < g->want.n; k++)
		if (g->want.amount[k] > g->room[k])
			lacks |= UINT64_C(1) << g->want.type[k];
	return lacks;
}

/* What will be free once whoever is leaving is gone; but not what those hold who should have gone long ago. */
static void forget_stuck(struct ground *g)
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

static void measure_room(struct ground *g)
{
	const struct ledger *l = g->s->c->ledger;
	const int64_t *has = ledger_node_allocatable(l, g->node), *used = ledger_node_used(l, g->node),
		      *leaving = ledger_node_leaving(l, g->node), *claimed = ledger_node_claimed(l, g->node);

	for (uint32_t k = 0; k < g->want.n; k++) {
		res_id r = g->want.type[k];

		g->room[k] = has[r] - used[r] + leaving[r] - claimed[r];
	}
	if (leaving[RES_PODS])
		forget_stuck(g);
}

/* In the slow way filters must see leaving pods as gone. */
static void clear_leaving(struct ground *g)
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
	int d = name_cmp(c->names, kin_get(c->vocab, x->kin)->ns, kin_get(c->vocab, y->kin)->ns);

	return d ? d : name_cmp(c->names, x->name, y->name);
}

/* Who was left on this node, by name: pods stand on a node in the order they came, which nobody is to notice. */
static void settle_left(struct ground *g)
{
	struct protected_list *l = g->s->protected;

	if (!l || l->v.n == g->left_from)
		return;
	qsort_r(l->v.v + g->left_from, l->v.n - g->left_from, sizeof(*l->v.v), by_name, g->s->c);
	l->v.n = l->v.n > l->max ? l->max : l->v.n;
}

static void consider(struct ground *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct rule_verdict says;

	if (!concerns(g, p))
		return;
	if (ground_consider(g, pod, &g->mates[g->n], &says))
		g->n++;
	else
		ground_leave(g, pod, p, &says);
}

/* What the node says depends on more than what is on it. */
static void depend_on(struct ground *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	uint32_t n_budgets = 0;

	if (!concerns(g, p))
		return;
	if (g->budgets)
		ledger_kin_pdbs(g->s->c->ledger, p->kin, &n_budgets);
	g->is_lasting = g->is_lasting && !n_budgets && p->group == GROUP_NONE;
	g->watches |= survey_watch(g->memory, g->s->j, p);
}

static void gather(struct ground *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);

	g->n = 0;
	g->has_rest = g->has_gangs = false;
	g->left_from = g->s->protected ? g->s->protected->v.n : 0;
	g->is_lasting = g->s->j->settings.evictions_per_hour == 0 && g->s->j->settings.past == NULL;
	g->watches = 0;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		consider(g, n->pods.v[i]);
		if (g->memory)
			depend_on(g, n->pods.v[i]);
	}
	if (g->n)
		qsort_r(g->mates, g->n, sizeof(*g->mates), ground_by_desert, g);
	if (profile_get(g->s->j->settings.profile)->has_gangs)
		ground_join_groups(g);
}

/*
 * A set that takes a queue below its guarantee in types the laws did not look at gives way to one that does not, unless
 * that one costs more opted-out pods or drivers.
 */
static void prefer_kept_guarantees(struct ground *g, struct set_cost *cost)
{
	bool had_all = g->judges_all, is_better = false;
	struct set_cost kept;

	give_back_all(g);
	g->judges_all = true;
	if (take_greedily(g)) {
		reprieve(g);
		kept = ground_cost(g);
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

static bool find_set(struct ground *g, struct set_cost *ret)
{
	if (!take_greedily(g) && !take_exactly(g))
		return false;
	reprieve(g);
	*ret = ground_cost(g);
	if (ret->n_below)
		prefer_kept_guarantees(g, ret);
	return ret->n > 0;
}

/* Once without groups that go as a whole, once with them; the cheaper way stays. */
static bool find_with_groups(struct ground *g, struct set_cost *ret)
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

static struct mate *mates_for(struct search_scratch *s, uint32_t n)
{
	if (s->n_mates < n) {
		s->mates = mem_resize(s->mates, n, sizeof(*s->mates));
		s->n_mates = n;
	}
	return s->mates;
}

static bool try_node(struct ground *g, node_id node, struct set_cost *ret)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, node);
	bool is_found;

	g->node = node;
	g->stamp++;
	g->mates = mates_for(survey_scratch(g->s->survey), 2 * n->pods.n + 1);
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
static uint32_t list_going(const struct ground *g, struct arena *in, const pod_id **ret_pods, const bool **ret_whole)
{
	uint32_t n = 0;
	pod_id *v;
	bool *whole;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->mates[i].goes ? g->mates[i].n_pods : 0;
	v = arena_n(in, n + 1, pod_id);
	whole = arena_n(in, n + 1, bool);
	n = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct mate *m = &g->mates[i];
		bool is_whole = m->rest ? m->n_pods > 1 : ground_rest_goes(g, m);

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
static void report(struct ground *g, bool is_found, struct node_report *r)
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
static bool look(struct ground *g, node_id node, struct set_cost *ret)
{
	ledger_mark mark = ledger_get_mark(g->s->c->ledger);
	bool is_found = try_node(g, node, ret);

	ledger_rollback(g->s->c->ledger, mark);
	if (g->has_gangs)
		ground_tell_refused(g);
	settle_left(g);
	return is_found;
}

static void learn(struct ground *g, bool is_found, const struct set_cost *cost)
{
	const struct protected_list *l = g->s->protected;
	struct survey_entry e = {.watches = g->watches, .is_found = is_found};

	if (g->is_lasting)
		e.generation = ledger_node(g->s->c->ledger, g->node)->generation;
	if (is_found)
		e.cost = *cost;
	e.has_left = l->v.n < l->max; /* beyond that not everybody was written down */
	e.n_left = l->v.n - g->left_from;
	e.left = l->v.v + g->left_from;
	survey_learn(g->memory, g->node, &e);
}

static void take_known(struct ground *g, node_id node, const struct survey_entry *e, struct search_result *ret)
{
	struct protected_list *l = g->s->protected;

	for (uint32_t i = 0; i < e->n_left && l->v.n < l->max; i++)
		array_push(&l->v, e->left[i]);
	if (e->is_found)
		rank(node, &e->cost, ret);
}

/* Of all nodes only the costs were kept. */
static void find_victims(struct ground *g, struct search_result *ret)
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
	mem_free(s->tolls);
	mem_free(s->mates);
	*s = (struct search_scratch){0};
}

static struct toll *tolls_for(struct search_scratch *s, uint32_t n)
{
	if (s->n < n) {
		s->tolls = mem_resize(s->tolls, n, sizeof(*s->tolls));
		memset(s->tolls + s->n, 0, (n - s->n) * sizeof(*s->tolls));
		s->n = n;
	}
	return s->tolls;
}

static void begin(struct ground *g, struct search *s)
{
	*g = (struct ground){.s = s,
			     .is_fast = displace_is_fast(s->c),
			     .has_laws = s->j->action == ACTION_RECLAIM,
			     .has_opinions = opinion_is_any(s->c),
			     .judges_all = s->j->action == ACTION_RECLAIM && s->j->settings.guarantee_all_types,
			     .stride = ledger_stride(s->c->ledger)};
	want_of(s->c, &g->want);
	g->tolls = tolls_for(survey_scratch(s->survey), s->j->tree->q.n + 1);
	g->stamp = survey_scratch(s->survey)->stamp;
	if (profile_has_rule(s->j->settings.profile, RULE_BUDGET) && !(s->j->settings.rules_off >> RULE_BUDGET & 1) &&
	    ledger_pdb_limit(s->c->ledger))
		g->budgets = mem_alloc(ledger_pdb_limit(s->c->ledger) * sizeof(*g->budgets));
	g->memory = survey_begin(s->survey, s);
}

void search_run(struct search *s, const node_id *nodes, uint32_t n, struct search_result *ret)
{
	struct ground g;

	begin(&g, s);
	*ret = (struct search_result){.node = NODE_NONE, .second = NODE_NONE};
	for (uint32_t i = 0; i < n; i++) {
		bool wants_left = s->protected && s->protected->v.n < s->protected->max;
		const struct survey_entry *e = g.memory ? survey_known(g.memory, nodes[i], wants_left) : NULL;
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
		survey_end(g.memory);
	survey_scratch(s->survey)->stamp = g.stamp;
	ground_forget_groups(&g);
	mem_free(g.budgets);
}

static void free_up(struct ground *g, const struct res_list *usage)
{
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] += g->want.type[k] == RES_PODS ? 1 : res_list_get(usage, g->want.type[k]);
}

uint64_t search_slots(struct search *s, const node_id *nodes, uint32_t n)
{
	struct ground g = {.s = s};
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
