/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/plan_notes.h"

#include "rules/judge.h"

struct plan_notes {
	struct cluster *cluster;
	struct ledger *ledger;
	uint32_t n_pods, n_decisions;
	node_id *moves_to;	       /* by pod id */
	uint32_t *first;	       /* by decision: of its first victim in numbers */
	struct eviction_numbers *each; /* by victim */
	const struct decisions *plan;
};

/* ---- numbers of one eviction ---- */

static const struct queue_tree *tree_of(const struct plan_notes *n)
{
	return ledger_queues(n->ledger);
}

/* Nominated work makes its own queue's use grow, and justifies no eviction from it. */
static struct queue_side side_of(const struct plan_notes *n, uint32_t cycle, queue_id leaf, queue_id ancestor, res_id r,
				 bool counts_claims)
{
	struct queue_side s = {.queue = leaf};

	for (queue_id q = leaf; q != ancestor && q != QUEUE_NONE; q = queue_get(tree_of(n), q)->parent) {
		int64_t g = n->plan->shares ? decisions_fair_share(n->plan, cycle, q, r)
					    : queue_guarantee(queue_get(tree_of(n), q), r);

		if (g <= 0)
			continue;
		s.queue = q;
		s.entitled = g;
		break;
	}
	s.used = ledger_queue_used(n->ledger, s.queue)[r];
	if (counts_claims)
		s.used += ledger_queue_reserved(n->ledger, s.queue)[r];
	return s;
}

static bool is_short(const struct plan_notes *n, node_id node, res_id r, int64_t asked)
{
	const struct ledger *l = n->ledger;

	return asked > ledger_node_allocatable(l, node)[r] - ledger_node_used(l, node)[r] +
			       ledger_node_leaving(l, node)[r] - ledger_node_reserved(l, node)[r];
}

/* How well a type explains the eviction: what is short first, then what is scarce by nature. */
static int type_rank(const struct plan_notes *n, node_id node, res_id r, int64_t asked)
{
	return (is_short(n, node, r, asked) ? 2 : 0) + (r >= RES_FIXED ? 1 : 0);
}

static struct eviction_numbers numbers_of(const struct plan_notes *n, const struct decision *d, const struct victim *x)
{
	const struct vocab *v = ledger_vocab(n->ledger);
	const struct res_list *asks = &shape_get(v, ledger_pod(n->ledger, d->pod)->shape)->request;
	const struct res_list *holds = &shape_get(v, ledger_pod(n->ledger, x->pod)->shape)->usage;
	queue_id ancestor = queue_lca(tree_of(n), d->queue, x->queue);
	struct eviction_numbers best = {.type = RES_NONE};
	int best_rank = -1;

	for (uint32_t i = 0; i < asks->n; i++) {
		res_id r = asks->v[i].type;
		int rank = type_rank(n, x->node, r, asks->v[i].amount);
		struct queue_side taker = side_of(n, d->cycle, d->queue, ancestor, r, true);

		if (!taker.entitled || !asks->v[i].amount || !res_list_get(holds, r) || rank <= best_rank)
			continue;
		best_rank = rank;
		best = (struct eviction_numbers){r, taker, side_of(n, d->cycle, x->queue, ancestor, r, false)};
	}
	return best;
}

static bool has_numbers(const struct plan_notes *n, const struct decision *d, const struct victim *x)
{
	return d->pod != POD_NONE && d->action == ACTION_RECLAIM && d->queue != QUEUE_NONE && x->queue != QUEUE_NONE &&
	       x->node != NODE_NONE && ledger_node(n->ledger, x->node)->is_live;
}

static void note_victims(struct plan_notes *n, const struct decision *d, struct eviction_numbers *out)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		out[i] = has_numbers(n, d, &d->victims[i]) ? numbers_of(n, d, &d->victims[i])
							   : (struct eviction_numbers){.type = RES_NONE};
}

/* ---- the plan's moves again ---- */

static void move_victims(struct plan_notes *n, const struct decision *d)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (ledger_pod(n->ledger, d->victims[i].pod)->state == POD_PLACED)
			ledger_evict(n->ledger, d->victims[i].pod);
}

/* Whoever is tried gives up the room it had reserved, a group all of it, before victims are looked for. */
static void drop_nominations(struct plan_notes *n, uint32_t from)
{
	const struct decision *d = &n->plan->v.v[from];

	for (uint32_t i = from; i < n->plan->v.n; i++) {
		const struct decision *o = &n->plan->v.v[i];

		if (o != d && (d->group == GROUP_NONE || o->group != d->group || o->cycle != d->cycle))
			return;
		if (o->pod != POD_NONE && ledger_pod(n->ledger, o->pod)->state == POD_WAITING)
			ledger_clear_nomination(n->ledger, o->pod);
	}
}

static void move_pod(struct plan_notes *n, const struct decision *d)
{
	uint8_t state;

	if (d->pod == POD_NONE || d->node == NODE_NONE)
		return;
	state = ledger_pod(n->ledger, d->pod)->state;
	if (state == POD_PLACED || state == POD_LEAVING)
		ledger_vacate(n->ledger, d->pod);
	if (ledger_pod(n->ledger, d->pod)->state != POD_WAITING)
		return;
	if (d->outcome == OUTCOME_PLACED)
		ledger_place(n->ledger, d->pod, d->node);
	else if (d->outcome == OUTCOME_NOMINATED)
		ledger_reserve(n->ledger, d->node, d->pod);
}

static void note_moves(struct plan_notes *n, const struct decisions *plan)
{
	n->n_pods = ledger_pod_limit(n->ledger);
	n->moves_to = mem_alloc((n->n_pods + 1) * sizeof(*n->moves_to));
	memset(n->moves_to, 0xff, (n->n_pods + 1) * sizeof(*n->moves_to)); /* NODE_NONE */
	for (uint32_t i = 0; i < plan->v.n; i++) {
		const struct decision *d = &plan->v.v[i];

		if (d->pod != POD_NONE && d->node != NODE_NONE && ledger_pod(n->ledger, d->pod)->state == POD_PLACED)
			n->moves_to[d->pod] = d->node;
	}
}

struct plan_notes *plan_notes_new(struct cluster *c, const struct decisions *plan)
{
	struct plan_notes *n = mem_alloc(sizeof(*n));
	ledger_mark mark;
	uint32_t n_victims = 0;

	n->cluster = c;
	n->ledger = cluster_ledger(c);
	n->plan = plan;
	note_moves(n, plan);
	n->n_decisions = plan->v.n;
	n->first = mem_alloc((plan->v.n + 1) * sizeof(*n->first));
	for (uint32_t i = 0; i < plan->v.n; i++) {
		n->first[i] = n_victims;
		n_victims += plan->v.v[i].n_victims;
	}
	n->each = mem_alloc((n_victims + 1) * sizeof(*n->each));
	mark = ledger_get_mark(n->ledger);
	for (uint32_t i = 0; i < plan->v.n; i++) {
		if (plan->v.v[i].n_victims || plan->v.v[i].outcome == OUTCOME_WAITING)
			drop_nominations(n, i);
		note_victims(n, &plan->v.v[i], n->each + n->first[i]);
		move_victims(n, &plan->v.v[i]);
		move_pod(n, &plan->v.v[i]);
	}
	ledger_rollback(n->ledger, mark);
	return n;
}

void plan_notes_free(struct plan_notes *n)
{
	if (!n)
		return;
	mem_free(n->moves_to);
	mem_free(n->first);
	mem_free(n->each);
	mem_free(n);
}

node_id plan_notes_moves_to(const struct plan_notes *n, pod_id pod)
{
	return n && pod < n->n_pods ? n->moves_to[pod] : NODE_NONE;
}

struct eviction_numbers plan_notes_numbers(const struct plan_notes *n, uint32_t d, uint32_t i)
{
	return n && d < n->n_decisions ? n->each[n->first[d] + i] : (struct eviction_numbers){.type = RES_NONE};
}
