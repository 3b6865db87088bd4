/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption when only resources can be in the way: the same answer as moving pods in the ledger, computed from rows of
 * numbers.
 *
 * For a pod whose ports, affinity and spread plugins have nothing to say, a node fits if and only if nothing static
 * refuses it and the amounts fit. So: room once everybody lower is gone = allocatable - used + what they take; if the
 * request does not fit in that, the node is out after one pass over its pods. Otherwise pods are given back in order as
 * long as the rest still holds the request. Room that nominated pods hold against this one is taken. Nodes where a
 * whole group would go take the plain way.
 */
#include "engine/displace_internal.h"
#include "engine/disruption_unit.h"
#include "engine/spread.h"
#include "filters/builtin.h"
#include "rules/plugin.h"

/* Only the resources depend on pods, and no plugin judges victims. */
bool displace_is_fast(const struct cede_cycle *c)
{
	return cycle_is_by_room(c) && !plugins_judge(c->framework) &&
	       !framework_args(c->framework)->n_ignored_resources && !framework_args(c->framework)->n_ignored_groups;
}

void want_of(const struct cede_cycle *c, struct want *w)
{
	w->fit_plugin = framework_plugin_find(c->framework, resources_fit_plugin.name);
	w->n = 0;
	w->type[w->n] = RES_PODS;
	w->amount[w->n++] = 1;
	for (uint32_t i = 0; i < c->shape->request.n; i++) {
		const struct res_amount *a = &c->shape->request.v[i];

		if (a->amount <= 0 || a->type == RES_PODS)
			continue;
		w->type[w->n] = a->type;
		w->amount[w->n++] = a->amount;
	}
}

struct status fits_by_numbers(struct cede_cycle *c, const struct want *w, node_id node)
{
	const int64_t *has = ledger_node_allocatable(c->ledger, node), *used = ledger_node_used(c->ledger, node);
	struct lack lack = {0};

	if (ledger_node(c->ledger, node)->nominated.n || !cycle_passes_static(c, node))
		return cycle_fits(c, node);
	for (uint32_t k = 0; k < w->n; k++) {
		res_id r = w->type[k];

		lack_note(&lack, w, k, has[r], w->amount[k] - (has[r] - used[r]));
	}
	return lack.wanted ? lack_status(w, lack) : cycle_fits(c, node);
}

void displace_room(const struct cede_cycle *c, const struct want *w, node_id node, int64_t *ret)
{
	const int64_t *has = ledger_node_allocatable(c->ledger, node), *used = ledger_node_used(c->ledger, node);
	int64_t held[RES_MAX];

	for (uint32_t k = 0; k < w->n; k++)
		ret[k] = has[w->type[k]] - used[w->type[k]];
	if (!ledger_node(c->ledger, node)->nominated.n)
		return;
	memset(held, 0, ledger_stride(c->ledger) * sizeof(*held));
	cycle_add_holders(c, node, held);
	for (uint32_t k = 0; k < w->n; k++)
		ret[k] -= held[w->type[k]];
}

void displace_lacks(const struct cede_cycle *c, const struct want *w, node_id node, int64_t *ret)
{
	displace_room(c, w, node, ret);
	for (uint32_t k = 0; k < w->n; k++)
		ret[k] = w->amount[k] - ret[k];
}

struct job {
	struct cede_cycle *c;
	const struct displace_options *o;
	const struct want *want;
	const node_id *nodes;
	struct displace_node *ret;
	int64_t below;	     /* lower priorities may go: that is what the judge says here */
	struct arena *arena; /* of this thread */
};

/* What a pod takes of the wanted types, into take. */
static void takes(const struct cede_cycle *c, const struct want *w, const struct pod *p, int64_t *take)
{
	const struct res_list *u = &shape_get(c->vocab, p->shape)->usage;

	take[0] = 1;
	for (uint32_t k = 1; k < w->n; k++)
		take[k] = res_list_get(u, w->type[k]);
}

static bool holds(const struct want *w, const int64_t *room)
{
	for (uint32_t k = 0; k < w->n; k++)
		if (w->amount[k] > room[k])
			return false;
	return true;
}

/* Give back one pod if the request still fits beside it. */
static bool give_back(const struct want *w, int64_t *room, const int64_t *take)
{
	for (uint32_t k = 0; k < w->n; k++)
		if (w->amount[k] > room[k] - take[k])
			return false;
	for (uint32_t k = 0; k < w->n; k++)
		room[k] -= take[k];
	return true;
}

/* Does any of them count against a budget? If not, the split is known without looking. */
static bool has_budgets(const struct cede_cycle *c, const pod_id *pods, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_pdbs;

		ledger_labelset_pdbs(c->ledger, ledger_pod(c->ledger, pods[i])->labelset, &n_pdbs);
		if (n_pdbs)
			return true;
	}
	return false;
}

static void reprieve_fast(const struct job *j, const pod_id *pods, uint32_t n, int64_t *room, struct displace_node *r)
{
	bool *violates = arena_n(j->arena, n + 1, bool), *goes = arena_n(j->arena, n + 1, bool);
	int64_t take[RES_MAX];

	if (has_budgets(j->c, pods, n))
		victim_set_overspending(j->o->j, pods, n, violates);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			if (violates[i] != (pass == 0))
				continue;
			takes(j->c, j->want, ledger_pod(j->c->ledger, pods[i]), take);
			goes[i] = !give_back(j->want, room, take);
		}
	}
	collect_victims(r, pods, goes, violates, n, j->arena);
}

/* Lower pods of the node into pods, their amounts added to room. UINT32_MAX: somebody goes with its whole group. */
static uint32_t free_lower(const struct job *j, node_id node, pod_id *pods, int64_t *room)
{
	const struct ledger_node *ln = ledger_node(j->c->ledger, node);
	const struct want *w = j->want;
	int64_t take[RES_MAX];
	uint32_t n = 0;

	displace_room(j->c, w, node, room);
	for (uint32_t i = 0; i < ln->pods.n; i++) {
		const struct pod *p = ledger_pod(j->c->ledger, ln->pods.v[i]);

		if (pod_goes_whole(j->c->ledger, p)) /* by the priority of the group */
			return UINT32_MAX;
		if (p->priority >= j->below)
			continue;
		pods[n++] = ln->pods.v[i];
		takes(j->c, w, p, take);
		for (uint32_t k = 0; k < w->n; k++)
			room[k] += take[k];
	}
	return n;
}

/* False: this node has to go the plain way (to get its words, or because of groups). */
static bool node_fast(const struct job *j, node_id node, struct displace_node *r)
{
	const struct ledger_node *ln = ledger_node(j->c->ledger, node);
	pod_id on_stack[64], *pods = ln->pods.n <= 64 ? on_stack : arena_n(j->arena, ln->pods.n, pod_id);
	int64_t room[RES_MAX];
	uint32_t n;

	*r = (struct displace_node){.node = node, .status = status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0)};
	n = free_lower(j, node, pods, room);
	if (!n)
		return true;
	if (n == UINT32_MAX || !holds(j->want, room))
		return false;
	r->status = (struct status){cede_ok(), PLUGIN_FRAMEWORK};
	sort_by_importance(j->c, j->o, pods, n);
	reprieve_fast(j, pods, n, room, r);
	return true;
}

static void try_range(const struct job *j, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (!node_fast(j, j->nodes[i], &j->ret[i]))
			j->ret[i].node = NODE_NONE; /* left for the caller */
}

enum { NODES_PER_THREAD = 512 };

struct spread_job {
	const struct job *job;
	struct arena *arenas[SPREAD_MAX]; /* one of each thread */
};

static void try_piece(void *ctx, uint32_t thread, uint32_t from, uint32_t to)
{
	const struct spread_job *s = ctx;
	struct job mine = *s->job;

	mine.arena = s->arenas[thread];
	try_range(&mine, from, to);
}

/* Victims found by other threads live in their arenas; they move into the cycle's. */
static void adopt(struct arena *to, struct displace_node *r)
{
	pod_id *v = arena_n(to, r->n_victims + 1, pod_id);
	bool *violates = arena_n(to, r->n_victims + 1, bool);

	if (r->n_victims > 0) {
		memcpy(v, r->victims, r->n_victims * sizeof(*v));
		memcpy(violates, r->violates, r->n_victims * sizeof(*violates));
	}
	r->victims = v;
	r->violates = violates;
}

static void spread_over_threads(const struct job *job, uint32_t n, uint32_t threads)
{
	struct spread_job s = {.job = job};

	for (uint32_t t = 0; t < threads; t++)
		s.arenas[t] = arena_new(1 << 16);
	spread_run(threads, n, spread_size(threads, n), try_piece, &s);
	for (uint32_t i = 0; i < n; i++)
		adopt(job->c->arena, &job->ret[i]);
	for (uint32_t t = 0; t < threads; t++)
		arena_free(s.arenas[t]);
}

void displace_fast(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
		   struct displace_node *ret)
{
	struct want want;
	struct job job = {.c = c, .o = o, .want = &want, .nodes = nodes, .ret = ret, .arena = c->arena};
	uint32_t threads = spread_threads(o->threads, n, NODES_PER_THREAD);

	want_of(c, &want);
	judge_is_by_priority(o->j, &job.below);
	if (threads > 1)
		spread_over_threads(&job, n, threads);
	else
		try_range(&job, 0, n);
	for (uint32_t i = 0; i < n; i++)
		if (ret[i].node == NODE_NONE)
			ret[i] = displace_try(c, nodes[i], o);
}
