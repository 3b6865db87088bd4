/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/moves.h"

#include <stdlib.h>

#include "engine/movable.h"
#include "engine/session.h"

static bool may_be_moved_for(const struct group *g)
{
	return g->preemptibility != NON_PREEMPTIBLE;
}

static bool waits_in_vain(const struct engine *en, const struct decision *d, uint32_t cycle)
{
	return d->cycle == cycle && d->pod != POD_NONE && d->outcome == OUTCOME_WAITING && d->group != GROUP_NONE &&
	       may_be_moved_for(ledger_group(en->ledger, d->group));
}

static bool is_on(const struct engine *en)
{
	return profile_get(en->config->profile)->search_mode == MODE_QUEUES &&
	       profile_has_action(en->config->profile, ACTION_CONSOLIDATE) &&
	       en->config->kai.max_consolidation_preemptees != 0;
}

static bool is_needed(const struct engine *en, uint32_t cycle, const struct decisions *ret)
{
	for (uint32_t i = 0; i < ret->v.n; i++)
		if (waits_in_vain(en, &ret->v.v[i], cycle))
			return true;
	return false;
}

/* ---- can anything come of it? ---- */

struct free_room { /* when whoever is leaving has left */
	const struct ledger *l;
	bool without_reserved; /* as the session counts it: that is room for nobody else */
	uint64_t known;
	int64_t v[RES_MAX]; /* of all nodes together */
};

static int64_t room_of(const struct free_room *f, node_id node, res_id r)
{
	int64_t room = ledger_node_allocatable(f->l, node)[r] - ledger_node_used(f->l, node)[r] +
		       ledger_node_leaving(f->l, node)[r];

	return f->without_reserved ? room - ledger_node_reserved(f->l, node)[r] : room;
}

static int64_t free_of(struct free_room *f, res_id r)
{
	const uint64_t bit = UINT64_C(1) << r;

	if (f->known & bit)
		return f->v[r];
	f->known |= bit;
	f->v[r] = 0;
	for (node_id n = 0; n < ledger_node_limit(f->l); n++) {
		int64_t room;

		if (!ledger_node(f->l, n)->is_live)
			continue;
		room = room_of(f, n, r);
		f->v[r] += room > 0 ? room : 0; /* a node that holds too much takes no room from others */
	}
	return f->v[r];
}

/* So many at least have to get room together; 0: nobody of it waits. */
static uint32_t needs(const struct ledger *l, const struct group *g)
{
	uint32_t lacking = 0, waiting = 0;

	for (podset_id i = g->first_podset; i < g->first_podset + g->n_podsets; i++) {
		const struct podset *p = ledger_podset(l, i);
		uint32_t has = p->n_placed + p->n_leaving + p->n_finished + p->n_nominated;

		waiting += p->n_waiting;
		lacking += has < (uint32_t)p->min_member ? (uint32_t)p->min_member - has : 0;
	}
	return !waiting ? 0 : lacking ? lacking : 1;
}

static const struct res_list *request_of(const struct ledger *l, pod_id pod)
{
	return &shape_get(ledger_vocab(l), ledger_pod(l, pod)->shape)->request;
}

static pod_id next_waiting(const struct engine *en, group_id group, pod_id at)
{
	const struct cluster *c = en->cluster;

	for (at = at == POD_NONE ? cluster_group_first(c, group) : cluster_group_next(c, at); at != POD_NONE;
	     at = cluster_group_next(c, at)) {
		const struct pod *p = ledger_pod(en->ledger, at);

		if (p->group == group && p->state == POD_WAITING)
			break;
	}
	return at;
}

/* Is there as much of every type as n members ask for, if each asked for as little of it as any of them does? */
static bool group_has_room(const struct engine *en, struct free_room *f, group_id group, uint32_t n)
{
	pod_id first = next_waiting(en, group, POD_NONE);
	const struct res_list *request = first == POD_NONE ? NULL : request_of(f->l, first);

	for (uint32_t i = 0; request && i < request->n; i++) {
		int64_t least = request->v[i].amount;

		if (least <= free_of(f, request->v[i].type) / n)
			continue;
		for (pod_id p = next_waiting(en, group, first); p != POD_NONE; p = next_waiting(en, group, p)) {
			int64_t amount = res_list_get(request_of(f->l, p), request->v[i].type);

			least = amount < least ? amount : least;
		}
		if (least > free_of(f, request->v[i].type) / n)
			return false;
	}
	return request != NULL;
}

/* ---- or would too many have to move? ---- */

/* Places for pods with this request, in room that is free in the end. */
static uint32_t places(const struct free_room *f, node_id node, const struct res_list *request)
{
	int64_t least = room_of(f, node, RES_PODS);

	for (uint32_t i = 0; i < request->n; i++) {
		int64_t room = room_of(f, node, request->v[i].type);

		if (request->v[i].amount > 0 && room / request->v[i].amount < least)
			least = room / request->v[i].amount;
	}
	return least < 0 ? 0 : (uint32_t)least;
}

struct movers {	       /* who takes room of a type on a node, there or reserved */
	int64_t lacks; /* when all groups have moved: those may move for others anyway */
	int64_t most;  /* that one of the others takes */
};

static void may_move(struct movers *m, const struct pod *p, int64_t takes)
{
	if (p->group != GROUP_NONE)
		m->lacks -= takes;
	else if (takes > m->most)
		m->most = takes;
}

/* At least so many workloads have to move for the first place there. */
static uint32_t moves_for_type(const struct free_room *f, node_id node, res_id r, int64_t lacks)
{
	const struct ledger *l = f->l;
	const struct ledger_node *n = ledger_node(l, node);
	struct movers m = {.lacks = lacks, .most = 1};

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(l, n->pods.v[i]);

		if (p->state == POD_PLACED)
			may_move(&m, p,
				 r == RES_PODS ? 1 : res_list_get(&shape_get(ledger_vocab(l), p->shape)->usage, r));
	}
	for (uint32_t i = 0; f->without_reserved && i < n->nominated.n; i++)
		may_move(&m, ledger_pod(l, n->nominated.v[i]),
			 r == RES_PODS ? 1 : res_list_get(request_of(l, n->nominated.v[i]), r));
	return m.lacks <= 0 ? 0 : (uint32_t)((m.lacks + m.most - 1) / m.most);
}

/* UINT32_MAX: never. */
static uint32_t moves_on(const struct free_room *f, node_id node, const struct res_list *request)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i <= request->n; i++) {
		res_id r = i < request->n ? request->v[i].type : RES_PODS;
		int64_t amount = i < request->n ? request->v[i].amount : 1;
		int64_t lacks = amount - room_of(f, node, r);
		uint32_t n;

		if (amount > ledger_node_allocatable(f->l, node)[r])
			return UINT32_MAX;
		n = lacks > 0 ? moves_for_type(f, node, r, lacks) : 0;
		most = n > most ? n : most;
	}
	return most;
}

/* So many it could have on the node if nobody else were there. */
static uint32_t places_at_most(const struct ledger *l, node_id node, const struct res_list *request)
{
	int64_t most = ledger_node_allocatable(l, node)[RES_PODS];

	for (uint32_t i = 0; i < request->n; i++)
		if (request->v[i].amount > 0 &&
		    ledger_node_allocatable(l, node)[request->v[i].type] / request->v[i].amount < most)
			most = ledger_node_allocatable(l, node)[request->v[i].type] / request->v[i].amount;
	return most < 0 ? 0 : most > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)most;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The fewest workloads that have to move for n places, if each node gave as many as it could ever have. */
static bool needs_few_moves(const struct free_room *f, const struct res_list *request, uint32_t n, uint32_t most)
{
	ARRAY(uint32_t) moves = {0};
	uint32_t widest = 1;
	uint64_t found = 0, sum = 0;

	for (node_id i = 0; i < ledger_node_limit(f->l); i++) {
		uint32_t here, all;

		if (!ledger_node(f->l, i)->is_live || (here = moves_on(f, i, request)) == UINT32_MAX)
			continue;
		found += places(f, i, request);
		array_push(&moves, here);
		all = places_at_most(f->l, i, request);
		widest = all > widest ? all : widest;
	}
	if (moves.n)
		qsort(moves.v, moves.n, sizeof(*moves.v), by_number);
	for (uint32_t i = 0; found < n && i < moves.n; i++, found += widest)
		sum += moves.v[i];
	array_free(&moves);
	return found >= n && sum <= most;
}

static bool are_alike(const struct engine *en, group_id group)
{
	pod_id first = next_waiting(en, group, POD_NONE);

	for (pod_id p = first; p != POD_NONE; p = next_waiting(en, group, p))
		if (ledger_pod(en->ledger, p)->shape != ledger_pod(en->ledger, first)->shape)
			return false;
	return true;
}

/* Is there room for as many of it as have to start together, wherever it is? */
static bool has_room(const struct engine *en, struct free_room *f, group_id id)
{
	const struct group *g = ledger_group(f->l, id);
	uint32_t n = g->is_live && may_be_moved_for(g) ? needs(f->l, g) : 0;

	return n && group_has_room(en, f, id, n);
}

static bool takes_few_moves(const struct engine *en, const struct free_room *f, group_id id)
{
	int32_t most = en->config->kai.max_consolidation_preemptees;

	return most < 0 || !are_alike(en, id) ||
	       needs_few_moves(f, request_of(f->l, next_waiting(en, id, POD_NONE)), needs(f->l, ledger_group(f->l, id)),
			       (uint32_t)most);
}

static bool may_help(const struct engine *en, struct free_room *f, group_id id)
{
	return has_room(en, f, id) && takes_few_moves(en, f, id);
}

static bool may_help_any(const struct engine *en, struct free_room *f)
{
	for (group_id i = 0; i < ledger_group_limit(f->l); i++)
		if (may_help(en, f, i))
			return true;
	return false;
}

bool moves_may_help(const struct engine *en, group_id group)
{
	struct free_room f = {.l = en->ledger};

	return is_on(en) && (group == GROUP_NONE ? may_help_any(en, &f) : may_help(en, &f, group));
}

/* Members that wait are alike, and rules judge for all of them as for one. */
static bool is_one_request(const struct engine *en, group_id group)
{
	pod_id first = next_waiting(en, group, POD_NONE);

	for (pod_id p = first; p != POD_NONE; p = next_waiting(en, group, p))
		if (ledger_pod(en->ledger, p)->queue != ledger_pod(en->ledger, first)->queue)
			return false;
	return are_alike(en, group);
}

/* What may_help() says, and that enough of those who are in the way may move now. */
static bool may_any_move(struct engine *en, int64_t now_ns)
{
	struct free_room f = {.l = en->ledger, .without_reserved = true};
	struct movable m = {.en = en, .now_ns = now_ns};
	bool may = false;

	for (group_id i = 0; i < ledger_group_limit(f.l) && !may; i++)
		may = has_room(en, &f, i) &&
		      (!is_one_request(en, i) ||
		       movable_gives(&m, next_waiting(en, i, POD_NONE), needs(f.l, ledger_group(f.l, i)))) &&
		      takes_few_moves(en, &f, i);
	return may;
}

void moves_run(struct engine *en, const struct engine_run *run, uint32_t cycle, struct decisions *ret)
{
	ledger_mark mark = ledger_get_mark(en->ledger);
	struct session *s;

	if (!is_on(en) || !((run->groups_wait && run->groups_wait(run->driver)) || is_needed(en, cycle, ret)) ||
	    !(en->config->looks_at_all || may_any_move(en, run->now_ns)))
		return;
	s = session_new(en, run->now_ns, true);
	session_run_moves(s);
	session_keep_volumes(s);
	ledger_rollback(en->ledger, mark);
	session_report(s, cycle, ret);
	session_free(s);
}
