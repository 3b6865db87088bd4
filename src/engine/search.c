/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search.h"

#include <stdlib.h>

#include "engine/opinion.h"
#include "engine/survey.h"

enum { EXACT_MAX = 14 };  /* candidates on a node up to which all sets are tried if the plain way finds none */
enum { WHOLE = 1000000 }; /* the share of who holds all there is */

struct mate { /* a running pod that may go */
	pod_id pod;
	const struct pod *p;
	const struct res_list *usage;
	const struct queue_opinion *opinion; /* of its queue */
	bool is_opted_out, is_driver, goes;
	bool is_spared;	  /* by a plugin: as good as opted out */
	bool is_young;	  /* inside its minimum runtime: goes only if its group's minimum stays */
	bool was_refused; /* because it would not */
	int64_t lost_work, start, created;
	uint32_t distance;
};

struct toll { /* what was taken from a queue so far */
	uint64_t stamp;
	uint64_t roomy_stamp; /* of is_roomy */
	bool is_roomy;	      /* all that is on the node may go and no law speaks for the queue: nothing is counted */
	int64_t v[RES_MAX];
};

struct spending { /* of a budget, by the victims so far */
	uint64_t stamp;
	int32_t n;
};

struct ground { /* one search, all nodes */
	struct search *s;
	struct want want;
	bool is_fast, has_laws, has_opinions;
	bool judges_all;	  /* law 2 in every type */
	bool has_young;		  /* somebody on this node is inside its minimum runtime */
	struct toll *tolls;	  /* by queue id */
	struct spending *budgets; /* by budget id; NULL: they do not count */
	uint64_t stamp;
	uint32_t stride;       /* resource types there are */
	int64_t room[RES_MAX]; /* of the node, per wanted type */
	node_id node;
	struct mate *mates;
	uint32_t n;
	uint32_t left_from;	      /* where those left on this node begin among all */
	struct survey_memory *memory; /* NULL: none */
	bool is_lasting;	      /* nothing that is not watched has a say on this node */
	uint64_t watches;
};

/* ---- maximums on the pod's path ---- */

static int64_t asks(const struct shape *shape, res_id r)
{
	return r == RES_PODS ? 1 : res_list_get(&shape->request, r);
}

uint64_t queue_lacking(const struct ledger *l, const struct pod *p, const struct shape *shape, queue_id *ret_queue,
		       res_id *ret_type)
{
	const struct queue_tree *t = ledger_queues(l);
	uint64_t lacking = 0;

	*ret_queue = QUEUE_NONE;
	for (queue_id q = p->queue; q != QUEUE_NONE && q != QUEUE_ROOT; q = queue_get(t, q)->parent) {
		const struct res_vec *max = &queue_get(t, q)->spec.max;
		const int64_t *used = ledger_queue_used(l, q), *claimed = ledger_queue_claimed(l, q);

		for (uint64_t left = max->mask; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			if (!asks(shape, r) || used[r] + claimed[r] + asks(shape, r) <= max->v[r])
				continue;
			lacking |= UINT64_C(1) << r;
			if (*ret_queue == QUEUE_NONE) {
				*ret_queue = q;
				*ret_type = r;
			}
		}
	}
	return lacking;
}

static int64_t *toll_of(struct ground *g, queue_id q)
{
	struct toll *t = &g->tolls[q];

	if (t->stamp != g->stamp) {
		memset(t->v, 0, g->stride * sizeof(*t->v));
		t->stamp = g->stamp;
	}
	return t->v;
}

/* In rows of numbers only: elsewhere what the queue uses changes while pods are moved. */
static bool is_roomy(struct ground *g, queue_id q)
{
	const struct judge *j = g->s->j;
	struct toll *t = &g->tolls[q];
	const int64_t *used = ledger_queue_used(j->ledger, q), *here = ledger_node_used(j->ledger, g->node);

	if (t->roomy_stamp == g->stamp)
		return t->is_roomy;
	t->roomy_stamp = g->stamp;
	t->is_roomy = g->is_fast;
	for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask; left && t->is_roomy; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t guaranteed = queue_guarantee(queue_get(j->tree, q), r);

		t->is_roomy = guaranteed <= 0 || used[r] - here[r] >= guaranteed;
	}
	return t->is_roomy;
}

static bool path_fits(struct ground *g)
{
	const struct judge *j = g->s->j;
	const struct shape *shape = g->s->c->shape;

	if (!g->s->lacking)
		return true;
	for (queue_id q = j->p->queue; q != QUEUE_NONE && q != QUEUE_ROOT; q = queue_get(j->tree, q)->parent) {
		const struct res_vec *max = &queue_get(j->tree, q)->spec.max;
		const int64_t *used = ledger_queue_used(j->ledger, q), *claimed = ledger_queue_claimed(j->ledger, q),
			      *gone = toll_of(g, q);

		for (uint64_t left = max->mask & g->s->lacking; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			/* Where pods are really moved the ledger has counted them already. */
			if (asks(shape, r) &&
			    used[r] + claimed[r] - (g->is_fast ? gone[r] : 0) + asks(shape, r) > max->v[r])
				return false;
		}
	}
	return true;
}

/* ---- taking and giving back ---- */

static void add_toll(struct ground *g, const struct mate *m, queue_id q, int sign)
{
	int64_t *gone = toll_of(g, q);

	gone[RES_PODS] += sign;
	for (uint32_t i = 0; i < m->usage->n; i++)
		if (m->usage->v[i].type != RES_PODS)
			gone[m->usage->v[i].type] += sign * m->usage->v[i].amount;
}

/* Where it will be asked for: queues that guarantee something, and shared ones if a maximum is in the way. */
static void count_toll(struct ground *g, const struct mate *m, int sign)
{
	for (uint32_t i = 0; i < m->opinion->n_guards; i++)
		if (!is_roomy(g, m->opinion->guards[i]))
			add_toll(g, m, m->opinion->guards[i], sign);
	for (queue_id q = g->s->lacking ? m->opinion->ancestor : QUEUE_NONE; q != QUEUE_NONE;
	     q = queue_get(g->s->j->tree, q)->parent)
		add_toll(g, m, q, sign);
}

static int32_t *spent_on(struct ground *g, pdb_id id)
{
	struct spending *b = &g->budgets[id];

	if (b->stamp != g->stamp)
		*b = (struct spending){.stamp = g->stamp};
	return &b->n;
}

static void spend(struct ground *g, const struct mate *m, int sign)
{
	uint32_t n = 0;
	const pdb_id *ids = g->budgets ? ledger_kin_pdbs(g->s->c->ledger, m->p->kin, &n) : NULL;

	for (uint32_t i = 0; i < n; i++)
		*spent_on(g, ids[i]) += sign;
}

/* Several victims may not spend together what one of them could alone. */
static bool keeps_budgets(struct ground *g, const struct mate *m)
{
	uint32_t n = 0;
	const pdb_id *ids = g->budgets ? ledger_kin_pdbs(g->s->c->ledger, m->p->kin, &n) : NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct pdb *b = ledger_pdb(g->s->c->ledger, ids[i]);

		if (b->obj->allowed - b->spent - *spent_on(g, ids[i]) < 1)
			return false;
	}
	return true;
}

static void take(struct ground *g, struct mate *m)
{
	m->goes = true;
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] += g->want.type[k] == RES_PODS ? 1 : res_list_get(m->usage, g->want.type[k]);
	if (!g->is_fast)
		ledger_vacate(g->s->c->ledger, m->pod);
	count_toll(g, m, 1);
	spend(g, m, 1);
}

static void give_back(struct ground *g, struct mate *m)
{
	m->goes = false;
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] -= g->want.type[k] == RES_PODS ? 1 : res_list_get(m->usage, g->want.type[k]);
	if (!g->is_fast)
		ledger_place(g->s->c->ledger, m->pod, g->node);
	count_toll(g, m, -1);
	spend(g, m, -1);
}

/* The types law 2 is judged in for its branch. */
static uint64_t judged_in(const struct ground *g, const struct mate *m)
{
	return g->judges_all ? ~UINT64_C(0) : g->has_laws ? m->opinion->judged : 0;
}

/*
 * MR-10 on all victims so far and this one: where one of a podset is inside its minimum runtime, the podset's minimum
 * stays.
 */
static bool keeps_minimum(const struct ground *g, const struct mate *m)
{
	bool is_young = m->is_young;
	uint32_t gone = 1;

	if (!g->has_young || m->p->podset == PODSET_NONE)
		return true;
	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->mates[i].goes || g->mates[i].p->podset != m->p->podset)
			continue;
		is_young |= g->mates[i].is_young;
		gone++;
	}
	return !is_young || judge_can_spare(g->s->c->ledger, m->p->podset, g->is_fast ? gone : 1);
}

/*
 * Law 2 and budgets on all victims so far and this one. Tolls are against what the queue used before the first of them.
 */
static bool keeps_laws(struct ground *g, struct mate *m)
{
	const struct judge *j = g->s->j;

	if (!keeps_minimum(g, m)) {
		m->was_refused = true;
		return false;
	}
	if (!keeps_budgets(g, m))
		return false;
	for (uint32_t i = 0; i < m->opinion->n_guards; i++) {
		queue_id q = m->opinion->guards[i];
		const int64_t *used, *gone;

		if (is_roomy(g, q))
			continue;
		used = ledger_queue_used(j->ledger, q);
		gone = toll_of(g, q);
		for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask & judged_in(g, m); left;
		     left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t guaranteed = queue_guarantee(queue_get(j->tree, q), r),
				takes = r == RES_PODS ? 1 : res_list_get(m->usage, r);

			if (guaranteed > 0 && takes && used[r] - (g->is_fast ? gone[r] : 0) - takes < guaranteed)
				return false;
		}
	}
	return true;
}

static bool fits(struct ground *g)
{
	struct status s;

	for (uint32_t k = 0; k < g->want.n; k++)
		if (g->want.amount[k] > g->room[k])
			return false;
	if (!path_fits(g))
		return false;
	if (g->is_fast)
		return true;
	s = cycle_fits(g->s->c, g->node);
	return status_is_success(&s);
}

/* ---- who may go ---- */

/* Share of the cluster a pod holds, in millionths, added up over types: what a second of it is worth. */
static int64_t worth(const struct ledger *l, const struct res_list *usage)
{
	const int64_t *capacity = ledger_capacity(l);
	int64_t sum = 0;

	for (uint32_t i = 0; i < usage->n; i++) {
		int64_t all = capacity[usage->v[i].type], has = usage->v[i].amount;

		if (all > 0 && has <= INT64_MAX / WHOLE) /* most do, and divide faster */
			sum += has < all ? has * WHOLE / all : WHOLE;
		else if (all > 0)
			sum += has < all ? (int64_t)((__int128)has * WHOLE / all) : WHOLE;
	}
	return sum;
}

int64_t lost_ns_of(const struct pod *p, int64_t now_ns)
{
	int64_t since = p->started_ns;

	if (p->obj->checkpointed_ns != TIME_NONE && (since == TIME_NONE || p->obj->checkpointed_ns > since))
		since = p->obj->checkpointed_ns;
	return since == TIME_NONE || since > now_ns ? 0 : res_sub_sat(now_ns, since);
}

int64_t lost_work_of(const struct ledger *l, const struct pod *p, int64_t now_ns)
{
	return worth(l, &shape_get(ledger_vocab(l), p->shape)->usage) * (lost_ns_of(p, now_ns) / NS_PER_S);
}

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

static void leave(struct ground *g, pod_id pod, const struct pod *p, const struct rule_verdict *says)
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

	if (p->state != POD_PLACED || p->queue == QUEUE_NONE)
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

static void consider(struct ground *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->s->c->ledger, pod);
	struct mate *m = &g->mates[g->n];
	struct rule_verdict says;
	bool is_last;

	if (!concerns(g, p))
		return;
	says = verdict_of(g, pod);
	is_last = says.rule == RULE_OPT_OUT || says.rule == RULE_PLUGIN;
	if (says.answer == IS_PROTECTED || (is_last && !g->s->with_opted_out)) {
		leave(g, pod, p, &says);
		return;
	}
	*m = (struct mate){.pod = pod, .p = p, .usage = &shape_get(g->s->c->vocab, p->shape)->usage};
	m->opinion = judge_queue(g->s->j, p->queue);
	m->distance = m->opinion->distance;
	m->is_opted_out = is_last;
	m->is_spared = says.rule == RULE_PLUGIN;
	m->is_driver = says.rule == RULE_DRIVER || (m->is_opted_out && judge_is_driver(g->s->j, p));
	m->start = victim_start(g->s->c, p);
	m->created = p->created_ns == TIME_NONE ? m->start : p->created_ns;
	m->is_young = p->podset != PODSET_NONE && judge_window(g->s->j, p).answer == IS_PROTECTED;
	g->has_young |= m->is_young;
	if (g->s->j->action == ACTION_DISPLACE) /* KF-6 ranks by the sum of priorities there */
		m->lost_work = (int64_t)p->priority + (INT64_C(1) << 31);
	else
		m->lost_work = lost_work_of(g->s->c->ledger, p, g->s->c->now_ns);
	g->n++;
}

/* Most deserving first. */
static int by_desert(const void *a, const void *b, void *ctx)
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

/* ---- what it costs ---- */

/* Is some queue of the victims' branches below its guarantee now, in a type the laws did not look at? */
static bool is_below(struct ground *g, const struct mate *m)
{
	const struct judge *j = g->s->j;

	for (uint32_t i = 0; i < m->opinion->n_guards; i++) {
		queue_id q = m->opinion->guards[i];
		const struct res_vec *has = &queue_get(j->tree, q)->spec.guaranteed;
		const int64_t *used = ledger_queue_used(j->ledger, q), *gone;

		if (is_roomy(g, q))
			continue;
		gone = toll_of(g, q);
		for (uint64_t left = has->mask & ~judged_in(g, m); left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			if (has->v[r] > 0 && gone[r] && used[r] - (g->is_fast ? gone[r] : 0) < has->v[r])
				return true;
		}
	}
	return false;
}

static struct set_cost cost_of(struct ground *g)
{
	struct set_cost cost = {.highest = INT64_MIN, .earliest = INT64_MAX, .oldest = INT64_MAX};

	for (uint32_t i = 0; i < g->n; i++) {
		const struct mate *m = &g->mates[i];

		if (!m->goes)
			continue;
		cost.n++;
		cost.n_opted_out += m->is_opted_out;
		cost.n_drivers += m->is_driver;
		cost.n_below |= is_below(g, m);
		cost.highest = m->p->priority > cost.highest ? m->p->priority : cost.highest;
		cost.lost_work = res_add_sat(cost.lost_work, m->lost_work);
		cost.distance += m->distance;
		cost.earliest = m->start < cost.earliest ? m->start : cost.earliest;
		cost.oldest = m->created < cost.oldest ? m->created : cost.oldest;
	}
	return cost;
}

int set_cost_cmp(const struct set_cost *a, const struct set_cost *b)
{
	if (a->n_opted_out != b->n_opted_out)
		return a->n_opted_out < b->n_opted_out ? -1 : 1;
	if (a->n_drivers != b->n_drivers)
		return a->n_drivers < b->n_drivers ? -1 : 1;
	if (a->n_below != b->n_below)
		return a->n_below < b->n_below ? -1 : 1;
	if (a->highest != b->highest)
		return a->highest < b->highest ? -1 : 1;
	if (a->lost_work != b->lost_work)
		return a->lost_work < b->lost_work ? -1 : 1;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	if (a->earliest != b->earliest)
		return a->earliest > b->earliest ? -1 : 1;
	return (a->oldest < b->oldest) - (a->oldest > b->oldest);
}

/* ---- one node ---- */

static void give_back_all(struct ground *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->mates[i].goes)
			give_back(g, &g->mates[i]);
}

static void reprieve(struct ground *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->mates[i].goes)
			continue;
		give_back(g, &g->mates[i]);
		if (!fits(g))
			take(g, &g->mates[i]);
	}
}

/* Would it be enough if all of them went, whatever the laws say? */
static bool could_fit(const struct ground *g)
{
	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t room = g->room[k];

		for (uint32_t i = 0; i < g->n && room < g->want.amount[k]; i++)
			room += g->want.type[k] == RES_PODS ? 1 : res_list_get(g->mates[i].usage, g->want.type[k]);
		if (room < g->want.amount[k])
			return false;
	}
	return true;
}

static bool take_greedily(struct ground *g)
{
	for (uint32_t i = g->n; i-- > 0;)
		if (keeps_laws(g, &g->mates[i]))
			take(g, &g->mates[i]);
	if (fits(g))
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
			is_lawful = keeps_laws(g, m);
			if (is_lawful)
				take(g, m);
		}
		if (is_lawful && fits(g))
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
	g->has_young = false;
	g->left_from = g->s->protected ? g->s->protected->v.n : 0;
	g->is_lasting = true;
	g->watches = 0;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		consider(g, n->pods.v[i]);
		if (g->memory)
			depend_on(g, n->pods.v[i]);
	}
	settle_left(g);
	if (g->n)
		qsort_r(g->mates, g->n, sizeof(*g->mates), by_desert, g);
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
		kept = cost_of(g);
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
	g->mates = mates_for(survey_scratch(g->s->survey), n->pods.n + 1);
	measure_room(g);
	judge_look_at(g->s->j, short_types(g));
	gather(g);
	g->s->c->is_dry_run = true;
	if (!g->is_fast)
		clear_leaving(g);
	is_found = g->n && could_fit(g) && (take_greedily(g) || take_exactly(g));
	if (is_found) {
		reprieve(g);
		*ret = cost_of(g);
		if (ret->n_below)
			prefer_kept_guarantees(g, ret);
		is_found = ret->n > 0;
	}
	g->s->c->is_dry_run = false;
	return is_found;
}

/* Each of them alone could go, but not all: those that stayed because of it are told too. */
static void tell_refused(struct ground *g)
{
	for (uint32_t i = 0; g->has_young && i < g->n; i++) {
		const struct mate *m = &g->mates[i];
		struct rule_verdict says;

		if (!m->was_refused || m->goes || !m->is_young)
			continue;
		says = judge_window(g->s->j, m->p);
		leave(g, m->pod, m->p, &says);
	}
	settle_left(g);
}

static void keep_victims(struct ground *g, struct search_result *ret)
{
	pod_id *v = arena_n(g->s->c->arena, g->n + 1, pod_id);

	ret->n_victims = 0;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->mates[i].goes)
			v[ret->n_victims++] = g->mates[i].pod;
	ret->victims = v;
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
	pod_id *v = is_found ? arena_n(g->s->keep, g->n + 1, pod_id) : NULL;

	if (!is_found && r->fate == FATE_REFUSED)
		r->fate = FATE_SPARED;
	if (!is_found)
		return;
	r->fate = FATE_CANDIDATE;
	r->victims = v;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->mates[i].goes)
			v[r->n_victims++] = g->mates[i].pod;
}

/* One node, and all moves taken back. */
static bool look(struct ground *g, node_id node, struct set_cost *ret)
{
	ledger_mark mark = ledger_get_mark(g->s->c->ledger);
	bool is_found = try_node(g, node, ret);

	ledger_rollback(g->s->c->ledger, mark);
	tell_refused(g);
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
	keep_victims(g, ret);
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
	if (profile_has_rule(s->j->settings.profile, RULE_BUDGET) && ledger_pdb_limit(s->c->ledger))
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
	mem_free(g.budgets);
}
