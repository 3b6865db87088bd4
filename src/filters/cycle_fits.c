/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a pod fit on a node, beside those the node was nominated for?
 *
 * Who would come and who is leaving are numbers as long as filters look at nothing else. In the order of filters the
 * resources come before those that look at other pods, so a node that will be full is known to be without a move.
 */
#include "filters/builtin.h"
#include "filters/framework_internal.h"

#define ROOM_WITHOUT_END (INT64_C(1) << 61) /* no pod asks for a 32nd of it */

/* A reserved place holds against everybody, a nominated one against pods of the same or lower priority. */
static bool holds_against(const struct cede_cycle *c, pod_id q)
{
	const struct pod *p = ledger_pod(c->ledger, q);

	return q != c->pod && (p->nomination == NOMINATION_RESERVED ||
			       (p->nomination == NOMINATION_ADVISORY && p->priority >= c->priority));
}

static bool has_holders(const struct cede_cycle *c, const struct ledger_node *n)
{
	for (uint32_t i = 0; i < n->nominated.n; i++)
		if (holds_against(c, n->nominated.v[i]))
			return true;
	return false;
}

static void let_leaving_go(struct cede_cycle *c, const struct ledger_node *n)
{
	for (uint32_t i = n->pods.n; i-- > 0;) {
		const struct pod *p = ledger_pod(c->ledger, n->pods.v[i]);

		if (p->state == POD_LEAVING && !pod_is_stuck(p, c->now_ns, c->patience_ns))
			ledger_vacate(c->ledger, n->pods.v[i]);
	}
}

void cycle_add_usage(const struct cede_cycle *c, const struct pod *p, int64_t *row, int64_t times)
{
	const struct res_list *usage = &shape_get(c->vocab, p->shape)->usage;

	row[RES_PODS] += times;
	for (uint32_t i = 0; i < usage->n; i++)
		if (usage->v[i].type != RES_PODS)
			row[usage->v[i].type] += times * usage->v[i].amount;
}

bool cycle_add_holders(const struct cede_cycle *c, node_id node, int64_t *row)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	bool is_any = false;

	for (uint32_t i = 0; i < n->nominated.n; i++) {
		if (!holds_against(c, n->nominated.v[i]))
			continue;
		cycle_add_usage(c, ledger_pod(c->ledger, n->nominated.v[i]), row, 1);
		is_any = true;
	}
	return is_any;
}

static struct status filter_beside(struct cede_cycle *c, node_id node, const int64_t *beside)
{
	struct status s;

	c->beside = beside;
	s = cycle_filter(c, node);
	c->beside = NULL;
	return s;
}

struct status cycle_fits_without(struct cede_cycle *c, node_id node, const int64_t *gone)
{
	int64_t beside[RES_MAX];
	struct status with;

	for (uint32_t r = 0; r < ledger_stride(c->ledger); r++)
		beside[r] = -gone[r];
	if (!cycle_add_holders(c, node, beside))
		return filter_beside(c, node, beside);
	with = filter_beside(c, node, beside);
	if (!status_is_success(&with))
		return with;
	for (uint32_t r = 0; r < ledger_stride(c->ledger); r++)
		beside[r] = -gone[r];
	return filter_beside(c, node, beside);
}

/* What those take who are leaving, but for the stuck, is taken off row. */
static void sub_leaving(const struct cede_cycle *c, node_id node, int64_t *row)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	const int64_t *leaving = ledger_node_leaving(c->ledger, node);

	for (uint32_t r = 0; r < ledger_stride(c->ledger); r++)
		row[r] -= leaving[r];
	for (uint32_t i = 0; n->n_due && i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(c->ledger, n->pods.v[i]);

		if (pod_is_stuck(p, c->now_ns, c->patience_ns))
			cycle_add_usage(c, p, row, 1);
	}
}

/* As far as numbers tell, with so much more taken: up to the first filter that looks at anything else. */
static struct status filter_by_numbers(struct cede_cycle *c, node_id node, const int64_t *beside, bool *ret_is_open)
{
	struct status s;

	c->beside = beside;
	s = cycle_filter_but(c, node, c->asked & ~c->counts_room, ret_is_open);
	c->beside = NULL;
	return s;
}

/* With what will be taken in the end. */
static struct status filter_in_the_end(struct cede_cycle *c, node_id node, bool *ret_is_open)
{
	int64_t beside[RES_MAX];

	memset(beside, 0, ledger_stride(c->ledger) * sizeof(*beside));
	if (c->leaving_make_room)
		sub_leaving(c, node, beside);
	cycle_add_holders(c, node, beside);
	return filter_by_numbers(c, node, beside, ret_is_open);
}

bool cycle_is_full_without(struct cede_cycle *c, node_id node, const int64_t *gone)
{
	int64_t beside[RES_MAX];
	struct status s;
	bool is_open;

	for (uint32_t r = 0; r < ledger_stride(c->ledger); r++)
		beside[r] = -gone[r];
	cycle_add_holders(c, node, beside);
	s = filter_by_numbers(c, node, beside, &is_open);
	return !status_is_success(&s);
}

static void let_holders_come(struct cede_cycle *c, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);

	for (uint32_t i = 0; i < n->nominated.n;) {
		pod_id q = n->nominated.v[i];

		if (holds_against(c, q))
			ledger_place(c->ledger, q, node); /* takes it off the list of nominated pods */
		else
			i++;
	}
}

static struct status filter_by_moves(struct cede_cycle *c, node_id node)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	struct status with;

	if (c->leaving_make_room)
		let_leaving_go(c, ledger_node(c->ledger, node));
	let_holders_come(c, node);
	with = cycle_filter(c, node);
	ledger_rollback(c->ledger, mark);
	return with;
}

bool cycle_fits_but_for_room(struct cede_cycle *c, node_id node)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	int64_t beside[RES_MAX];
	struct status s;

	for (uint32_t r = 0; r < ledger_stride(c->ledger); r++)
		beside[r] = -ROOM_WITHOUT_END;
	let_holders_come(c, node);
	s = filter_beside(c, node, beside);
	ledger_rollback(c->ledger, mark);
	if (status_is_success(&s))
		s = filter_beside(c, node, beside);
	return status_is_success(&s);
}

bool cycle_is_crowded(struct cede_cycle *c, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	pod_id *holders;
	uint32_t n_holders = 0;

	if (!c->leaving_make_room || !cycle_asks(c, &pod_topology_spread_plugin))
		return false;
	holders = arena_n(c->arena, n->nominated.n + 1, pod_id);
	for (uint32_t i = 0; i < n->nominated.n; i++)
		if (holds_against(c, n->nominated.v[i]))
			holders[n_holders++] = n->nominated.v[i];
	return spread_refuses(c, node, holders, n_holders);
}

bool cycle_is_full(struct cede_cycle *c, node_id node, struct status *ret)
{
	bool is_open;

	*ret = has_holders(c, ledger_node(c->ledger, node)) ? filter_in_the_end(c, node, &is_open)
							    : filter_by_numbers(c, node, NULL, &is_open);
	return !status_is_success(ret);
}

/* Beside those the node was nominated for, in the end; and as it is now. */
struct status cycle_fits(struct cede_cycle *c, node_id node)
{
	bool is_open = c->moves_all;
	struct status with;

	if (!has_holders(c, ledger_node(c->ledger, node)))
		return cycle_filter(c, node);
	if (!c->moves_all)
		with = filter_in_the_end(c, node, &is_open);
	if (is_open)
		with = filter_by_moves(c, node);
	return status_is_success(&with) ? cycle_filter(c, node) : with;
}
