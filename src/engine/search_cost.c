/* SPDX-License-Identifier: Apache-2.0 */
/* Taking candidates and giving them back, whether the pod fits then, and what a set of victims costs. */
#include "engine/search_internal.h"

/*
 * The share of who holds all there is: so small that years of it can be counted, and so large that a pod of the largest
 * cluster holds more than nothing.
 */
#define WHOLE INT64_C(10000000000)

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
			    used[r] + reserved[r] - (g->moves ? 0 : gone[r]) + asks(shape, r) > max->v[r])
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
	if (g->moves)
		move(g, m, false);
	victim_set_take(&g->set, &m->v);
}

void node_search_give_back(struct node_search *g, struct candidate *m)
{
	m->goes = false;
	for (uint32_t k = 0; k < g->want.n; k++)
		g->room[k] -= candidate_frees(m, g->want.type[k]);
	if (g->moves)
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
	if (!g->moves)
		return node_search_filters_let(g);
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
	return lost_work(share_of_cluster(l, &shape_get(ledger_vocab(l), p->shape)->usage), lost_ns_of(p, now_ns));
}

const struct set_cost set_cost_none = {
	{[COST_HIGHEST] = INT64_MIN, [COST_EARLIEST] = -INT64_MAX, [COST_OLDEST] = -INT64_MAX}};

static void at_least(int64_t *v, int64_t least)
{
	*v = *v < least ? least : *v;
}

void set_cost_add(struct set_cost *to, const struct candidate *m, enum action action)
{
	int64_t priority = m->v.p->priority, start = res_sub_sat(0, m->start);

	to->v[COST_OPTED_OUT] += m->n_opted_out;
	to->v[COST_DRIVERS] += m->n_drivers;
	to->v[COST_THRASHING] += m->n_thrashing;
	to->v[COST_LOST] = res_add_sat(to->v[COST_LOST], m->lost_work);
	to->v[COST_DISTANCE] += m->distance;
	to->v[COST_COUNT] += m->v.n_pods;
	/* KF-6 asks for the start of the most important victims alone. */
	if (action == ACTION_DISPLACE && priority > to->v[COST_HIGHEST])
		to->v[COST_EARLIEST] = start;
	else if (action != ACTION_DISPLACE || priority == to->v[COST_HIGHEST])
		at_least(&to->v[COST_EARLIEST], start);
	at_least(&to->v[COST_OLDEST], res_sub_sat(0, m->created));
	at_least(&to->v[COST_HIGHEST], priority);
	at_least(&to->v[COST_RANK], m->rank);
}

struct set_cost node_search_cost(struct node_search *g)
{
	struct set_cost cost = set_cost_none;

	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->candidates[i].goes)
			continue;
		set_cost_add(&cost, &g->candidates[i], g->s->j->action);
		cost.v[COST_BELOW] |= victim_set_takes_below(&g->set, &g->candidates[i].v);
	}
	return cost;
}

enum cost set_cost_difference(const struct set_cost *a, const struct set_cost *b)
{
	enum cost c = 0;

	while (c < COSTS && a->v[c] == b->v[c])
		c++;
	return c;
}

int set_cost_cmp(const struct set_cost *a, const struct set_cost *b)
{
	enum cost c = set_cost_difference(a, b);

	return c == COSTS ? 0 : a->v[c] < b->v[c] ? -1 : 1;
}

const char *cost_text(enum cost c)
{
#define X(id, words) [COST_##id] = (words),
	static const char *const texts[] = {COST_LIST(X)};
#undef X

	return texts[c];
}
