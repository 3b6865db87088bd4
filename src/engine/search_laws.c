/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What taking a pod away means: for the maximums on the waiting pod's path, for the guarantees on the victim's branch,
 * for budgets and groups, and what a set of victims costs.
 */
#include "engine/search_internal.h"

enum { WHOLE = 1000000 }; /* the share of who holds all there is */

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
		const int64_t *used = ledger_queue_used(l, q), *reserved = ledger_queue_reserved(l, q);

		for (uint64_t left = max->mask; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			if (!asks(shape, r) || used[r] + reserved[r] + asks(shape, r) <= max->v[r])
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

static int64_t *queue_loss_of(struct node_search *g, queue_id q)
{
	struct queue_loss *t = &g->queue_losses[q];

	if (t->stamp != g->stamp) {
		memset(t->v, 0, g->stride * sizeof(*t->v));
		t->stamp = g->stamp;
	}
	return t->v;
}

/* In rows of numbers only: elsewhere what the queue uses changes while pods are moved. */
static bool is_roomy(struct node_search *g, queue_id q)
{
	const struct judge *j = g->s->j;
	struct queue_loss *t = &g->queue_losses[q];
	const int64_t *used = ledger_queue_used(j->ledger, q), *here = ledger_node_used(j->ledger, g->node);

	if (t->roomy_stamp == g->stamp)
		return t->is_roomy;
	t->roomy_stamp = g->stamp;
	t->is_roomy = g->is_fast && !g->has_rest;
	for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask; left && t->is_roomy; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t guaranteed = queue_guarantee(queue_get(j->tree, q), r);

		t->is_roomy = guaranteed <= 0 || used[r] - here[r] >= guaranteed;
	}
	return t->is_roomy;
}

static bool path_fits(struct node_search *g)
{
	const struct judge *j = g->s->j;
	const struct shape *shape = g->s->c->shape;

	if (!g->s->lacking)
		return true;
	for (queue_id q = j->p->queue; q != QUEUE_NONE && q != QUEUE_ROOT; q = queue_get(j->tree, q)->parent) {
		const struct res_vec *max = &queue_get(j->tree, q)->spec.max;
		const int64_t *used = ledger_queue_used(j->ledger, q), *reserved = ledger_queue_reserved(j->ledger, q),
			      *gone = queue_loss_of(g, q);

		for (uint64_t left = max->mask & g->s->lacking; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			/* Where pods are really moved the ledger has counted them already. */
			if (asks(shape, r) &&
			    used[r] + reserved[r] - (g->is_fast ? gone[r] : 0) + asks(shape, r) > max->v[r])
				return false;
		}
	}
	return true;
}

/* ---- taking and giving back ---- */

static void add_queue_loss(struct node_search *g, const struct candidate *m, queue_id q, int sign)
{
	int64_t *gone = queue_loss_of(g, q);

	gone[RES_PODS] += sign * (int64_t)m->n_pods;
	for (uint32_t i = 0; i < m->usage->n; i++)
		if (m->usage->v[i].type != RES_PODS)
			gone[m->usage->v[i].type] += sign * m->usage->v[i].amount;
}

/* Where it will be asked for: queues that guarantee something, and shared ones if a maximum is in the way. */
static void count_queue_loss(struct node_search *g, const struct candidate *m, int sign)
{
	for (uint32_t i = 0; i < m->victim_queue->n_guards; i++)
		if (!is_roomy(g, m->victim_queue->guards[i]))
			add_queue_loss(g, m, m->victim_queue->guards[i], sign);
	for (queue_id q = g->s->lacking ? m->victim_queue->ancestor : QUEUE_NONE; q != QUEUE_NONE;
	     q = queue_get(g->s->j->tree, q)->parent)
		add_queue_loss(g, m, q, sign);
}

static int32_t *spent_on(struct node_search *g, pdb_id id)
{
	struct spending *b = &g->budgets[id];

	if (b->stamp != g->stamp)
		*b = (struct spending){.stamp = g->stamp};
	return &b->n;
}

static const struct pod *pod_at(const struct node_search *g, const struct candidate *m, uint32_t i)
{
	return m->rest ? ledger_pod(g->s->c->ledger, m->rest->pods[i]) : m->p;
}

static void spend(struct node_search *g, const struct candidate *m, int sign)
{
	for (uint32_t k = 0; g->budgets && k < m->n_pods; k++) {
		uint32_t n;
		const pdb_id *ids = ledger_labelset_pdbs(g->s->c->ledger, pod_at(g, m, k)->labelset, &n);

		for (uint32_t i = 0; i < n; i++)
			*spent_on(g, ids[i]) += sign;
	}
}

static bool is_overspent(struct node_search *g, const struct pod *p)
{
	uint32_t n;
	const pdb_id *ids = ledger_labelset_pdbs(g->s->c->ledger, p->labelset, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pdb *b = ledger_pdb(g->s->c->ledger, ids[i]);

		if (b->obj->allowed - b->spent - *spent_on(g, ids[i]) < 0)
			return true;
	}
	return false;
}

/* Several victims may not spend together what one of them could alone. */
static bool keeps_budgets(struct node_search *g, const struct candidate *m)
{
	bool is_kept = true;

	if (!g->budgets)
		return true;
	spend(g, m, 1);
	for (uint32_t k = 0; is_kept && k < m->n_pods; k++)
		is_kept = !is_overspent(g, pod_at(g, m, k));
	spend(g, m, -1);
	return is_kept;
}

static int64_t frees(const struct candidate *m, res_id r)
{
	return r == RES_PODS ? (int64_t)m->n_here : res_list_get(m->here, r);
}

static void move(struct node_search *g, const struct candidate *m, bool is_back)
{
	for (uint32_t i = 0; i < m->n_pods; i++) {
		pod_id pod = m->rest ? m->rest->pods[i] : m->pod;

		if (is_back)
			ledger_place(g->s->c->ledger, pod, m->rest ? m->rest->homes[i] : g->node);
		else
			ledger_vacate(g->s->c->ledger, pod);
	}
}

void node_search_take(struct node_search *g, struct candidate *m)
{
	m->goes = true;
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] += frees(m, g->want.type[k]);
	if (!g->is_fast)
		move(g, m, false);
	count_queue_loss(g, m, 1);
	spend(g, m, 1);
}

void node_search_give_back(struct node_search *g, struct candidate *m)
{
	m->goes = false;
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] -= frees(m, g->want.type[k]);
	if (!g->is_fast)
		move(g, m, true);
	count_queue_loss(g, m, -1);
	spend(g, m, -1);
}

/* The types law 2 is judged in for its branch. */
static uint64_t judged_in(const struct node_search *g, const struct candidate *m)
{
	return g->judges_all ? ~UINT64_C(0) : g->has_laws ? m->victim_queue->judged : 0;
}

/* One more of the surplus? The rest of a group needs none. */
static bool is_surplus(const struct node_search *g, const struct candidate *m)
{
	uint32_t gone = 1;

	if (m->group == GROUP_NONE || m->rest)
		return true;
	for (uint32_t i = 0; i < g->n; i++)
		gone += g->candidates[i].goes && !g->candidates[i].rest && g->candidates[i].p->podset == m->p->podset;
	return judge_can_spare(g->s->c->ledger, m->p->podset, g->is_fast ? gone : 1);
}

/* The queue's allowance for the hour, on all victims so far and this one. */
static bool keeps_rate(const struct node_search *g, const struct candidate *m)
{
	uint32_t n = m->n_pods;

	if (g->s->j->settings.evictions_per_hour == 0 || m->p->queue == QUEUE_NONE)
		return true;
	for (uint32_t i = 0; i < g->n; i++)
		n += g->candidates[i].goes && g->candidates[i].p->queue == m->p->queue ? g->candidates[i].n_pods : 0;
	return n <= judge_rate(g->s->j, m->p->queue).left;
}

/*
 * Law 2 and budgets on all victims so far and this one. Losses are measured against what the queue used before the
 * first of them.
 */
bool node_search_keeps_laws(struct node_search *g, struct candidate *m)
{
	const struct judge *j = g->s->j;

	if (m->rest && g->spares_rest)
		return false;
	if (m->rest)
		node_search_fill_rest(g, m);
	m->was_refused |= !is_surplus(g, m);
	if (!is_surplus(g, m) || !keeps_budgets(g, m) || !keeps_rate(g, m))
		return false;
	for (uint32_t i = 0; i < m->victim_queue->n_guards; i++) {
		queue_id q = m->victim_queue->guards[i];
		const int64_t *used, *gone;

		if (is_roomy(g, q))
			continue;
		used = ledger_queue_used(j->ledger, q);
		gone = queue_loss_of(g, q);
		for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask & judged_in(g, m); left;
		     left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t guaranteed = queue_guarantee(queue_get(j->tree, q), r),
				takes = r == RES_PODS ? (int64_t)m->n_pods : res_list_get(m->usage, r);

			if (guaranteed > 0 && takes && used[r] - (g->is_fast ? gone[r] : 0) - takes < guaranteed)
				return false;
		}
	}
	return true;
}

bool node_search_fits(struct node_search *g)
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

/* ---- what it costs ---- */

int64_t share_of_cluster(const struct ledger *l, const struct res_list *usage)
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
	int64_t since =
		p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns; /* profile kai: a stamp, or none */

	if (p->obj->checkpointed_ns != TIME_NONE && (since == TIME_NONE || p->obj->checkpointed_ns > since))
		since = p->obj->checkpointed_ns;
	return since == TIME_NONE || since > now_ns ? 0 : res_sub_sat(now_ns, since);
}

int64_t lost_work_of(const struct ledger *l, const struct pod *p, int64_t now_ns)
{
	return share_of_cluster(l, &shape_get(ledger_vocab(l), p->shape)->usage) * (lost_ns_of(p, now_ns) / NS_PER_S);
}

/* Is some queue of the victims' branches below its guarantee now, in a type the laws did not look at? */
static bool is_below(struct node_search *g, const struct candidate *m)
{
	const struct judge *j = g->s->j;

	for (uint32_t i = 0; i < m->victim_queue->n_guards; i++) {
		queue_id q = m->victim_queue->guards[i];
		const struct res_vec *has = &queue_get(j->tree, q)->spec.guaranteed;
		const int64_t *used = ledger_queue_used(j->ledger, q), *gone;

		if (is_roomy(g, q))
			continue;
		gone = queue_loss_of(g, q);
		for (uint64_t left = has->mask & ~judged_in(g, m); left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			if (has->v[r] > 0 && gone[r] && used[r] - (g->is_fast ? gone[r] : 0) < has->v[r])
				return true;
		}
	}
	return false;
}

struct set_cost node_search_cost(struct node_search *g)
{
	struct set_cost cost = {.highest = INT64_MIN, .earliest = INT64_MAX, .oldest = INT64_MAX};

	for (uint32_t i = 0; i < g->n; i++) {
		const struct candidate *m = &g->candidates[i];

		if (!m->goes)
			continue;
		cost.n += m->n_pods;
		cost.n_opted_out += m->n_opted_out;
		cost.n_drivers += m->n_drivers;
		cost.n_thrashing += m->n_thrashing;
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
	if (a->n_thrashing != b->n_thrashing)
		return a->n_thrashing < b->n_thrashing ? -1 : 1;
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
