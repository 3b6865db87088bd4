/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of which filters say the same whoever goes, for a pod with affinity or spread. There nothing is moved: filters
 * are asked once, and numbers tell the rest. Where they refuse it the node is not searched at all.
 */
#include "engine/search_bound.h"
#include "filters/builtin.h"

bool search_knows_who_matters(const struct cede_cycle *c)
{
	const struct plugin_args *args = framework_args(c->framework);

	return cycle_counts_room(c) && cycle_knows_who_matters(c) && !args->n_ignored_resources &&
	       !args->n_ignored_groups;
}

/* What is reserved on the node, as rooms are measured, is what those take who hold it, as filters count. */
static bool reserves_what_is_taken(const struct node_search *g)
{
	const int64_t *reserved = ledger_node_reserved(g->s->c->ledger, g->node);
	int64_t taken[RES_MAX];

	memset(taken, 0, ledger_stride(g->s->c->ledger) * sizeof(*taken));
	cycle_add_holders(g->s->c, g->node, taken);
	for (uint32_t k = 0; k < g->want.n; k++)
		if (taken[g->want.type[k]] != reserved[g->want.type[k]])
			return false;
	return true;
}

/* Does it matter to filters whether one of those is there who are leaving? */
static bool leaving_matter(const struct node_search *g)
{
	const struct ledger_node *n = ledger_node(g->s->c->ledger, g->node);
	bool matters = false;

	for (uint32_t i = 0; ledger_node_leaving(g->s->c->ledger, g->node)[RES_PODS] && !matters && i < n->pods.n;
	     i++) {
		const struct pod *p = ledger_pod(g->s->c->ledger, n->pods.v[i]);

		matters = p->state == POD_LEAVING && cycle_cares_about(g->s->c, p);
	}
	return matters;
}

bool node_search_is_settled(const struct node_search *g)
{
	if (!g->may_settle || g->has_rest || !reserves_what_is_taken(g) || leaving_matter(g))
		return false;
	for (uint32_t i = 0; i < g->n; i++)
		if (cycle_cares_about(g->s->c, g->candidates[i].v.p))
			return false;
	return true;
}

bool node_search_filters_let(struct node_search *g)
{
	if (g->filters == FILTERS_NOT_ASKED)
		g->filters = g->is_fast || cycle_fits_but_for_room(g->s->c, g->node) ? FILTERS_LET : FILTERS_REFUSE;
	return g->filters == FILTERS_LET;
}

/* ---- nodes that need not be searched ---- */

enum { CLOSED = 1, NOT_CLOSED = 2 };

/* Is it spread with too many, whoever goes? Whom spread counts makes room by going, and a group everywhere. */
static bool is_closed(struct node_search *g, node_id node, bool if_known)
{
	struct cede_cycle *c = g->s->c;
	uint8_t *known = &g->s->closed[node];

	if (!*known && !if_known)
		*known = !spread_may_be_helped(c, node) && cycle_is_crowded(c, node) ? CLOSED : NOT_CLOSED;
	return *known == CLOSED;
}

bool node_search_is_shut(struct node_search *g, node_id node, bool if_known)
{
	return g->may_settle && g->s->closed && (affinity_is_held(g->s->c, node) || is_closed(g, node, if_known)) &&
	       (!g->s->protected || search_bound_refuses_nobody(g, node));
}
