/* SPDX-License-Identifier: Apache-2.0 */
/* Taking candidates and giving them back, whether the pod fits then, and what a set of victims costs. */
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

static bool path_fits(struct node_search *g)
{
	const struct judge *j = g->s->j;
	const struct shape *shape = g->s->c->shape;

	if (!g->s->lacking)
		return true;
	for (queue_id q = j->p->queue; q != QUEUE_NONE && q != QUEUE_ROOT; q = queue_get(j->tree, q)->parent) {
		const struct res_vec *max = &queue_get(j->tree, q)->spec.max;
		const int64_t *used = ledger_queue_used(j->ledger, q), *reserved = ledger_queue_reserved(j->ledger, q),
			      *gone = victim_set_loss(&g->set, q);

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

int64_t node_search_path_lacks(const struct node_search *g, res_id r)
{
	const struct judge *j = g->s->j;
	int64_t most = 0;

	for (queue_id q = j->p->queue; q != QUEUE_NONE && q != QUEUE_ROOT; q = queue_get(j->tree, q)->parent) {
		const struct res_vec *max = &queue_get(j->tree, q)->spec.max;
		int64_t lacks;

		if (!res_has(max, r) || !asks(g->s->c->shape, r))
			continue;
		lacks = ledger_queue_used(j->ledger, q)[r] + ledger_queue_reserved(j->ledger, q)[r] +
			asks(g->s->c->shape, r) - max->v[r];
		most = lacks > most ? lacks : most;
	}
	return most;
}

/* ---- taking and giving back ---- */

int64_t candidate_frees(const struct candidate *m, res_id r)
{
	return r == RES_PODS ? (int64_t)m->n_here : res_list_get(m->here, r);
}

static void move(struct node_search *g, const struct candidate *m, bool is_back)
{
	for (uint32_t i = 0; i < m->v.n_pods; i++) {
		pod_id pod = m->rest ? m->rest->pods[i] : m->v.pod;

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
		g->room[k] += candidate_frees(m, g->want.type[k]);
	if (!g->is_fast)
		move(g, m, false);
	victim_set_take(&g->set, &m->v);
}

void node_search_give_back(struct node_search *g, struct candidate *m)
{
	m->goes = false;
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] -= candidate_frees(m, g->want.type[k]);
	if (!g->is_fast)
		move(g, m, true);
	victim_set_give_back(&g->set, &m->v);
}

void node_search_give_back_all(struct node_search *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->candidates[i].goes)
			node_search_give_back(g, &g->candidates[i]);
}

struct rule_verdict node_search_refusal(struct node_search *g, struct candidate *m)
{
	if (m->rest && g->spares_rest)
		return rule_says(IS_PROTECTED, RULE_NONE);
	if (m->rest)
		node_search_fill_rest(g, m, true);
	return victim_set_refusal(&g->set, &m->v);
}

bool node_search_has_room(const struct node_search *g)
{
	for (uint32_t k = 0; k < g->want.n; k++)
		if (g->want.amount[k] > g->room[k])
			return false;
	return true;
}

bool node_search_fits(struct node_search *g)
{
	struct status s;

	if (!node_search_has_room(g) || !path_fits(g))
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

void set_cost_add(struct set_cost *to, const struct candidate *m, enum action action)
{
	int64_t priority = m->v.p->priority;

	to->n += m->v.n_pods;
	to->n_opted_out += m->n_opted_out;
	to->n_drivers += m->n_drivers;
	to->n_thrashing += m->n_thrashing;
	to->lost_work = res_add_sat(to->lost_work, m->lost_work);
	to->distance += m->distance;
	/* KF-6 asks for the start of the most important victims alone. */
	if (action == ACTION_DISPLACE && priority != to->highest)
		to->earliest = priority > to->highest ? m->start : to->earliest;
	else
		to->earliest = m->start < to->earliest ? m->start : to->earliest;
	to->oldest = m->created < to->oldest ? m->created : to->oldest;
	to->highest = priority > to->highest ? priority : to->highest;
	to->rank = m->rank > to->rank ? m->rank : to->rank;
}

struct set_cost node_search_cost(struct node_search *g)
{
	struct set_cost cost = SET_COST_NONE;

	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->candidates[i].goes)
			continue;
		set_cost_add(&cost, &g->candidates[i], g->s->j->action);
		cost.n_below |= victim_set_takes_below(&g->set, &g->candidates[i].v);
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
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
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
