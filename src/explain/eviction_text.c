/* SPDX-License-Identifier: Apache-2.0 */
/* Why a pod has to go: one sentence with its numbers, the same in tables, data and events. */
#include "base/bits.h"
#include "explain/plan_notes.h"
#include "explain/plan_view.h"

static const struct pod *pod_of(const struct plan_view *v, pod_id p)
{
	return ledger_pod(cluster_ledger(v->cluster), p);
}

void group_clause(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out)
{
	group_id group = pod_of(v, x->pod)->group;
	struct bits nodes = {0};
	uint32_t n = 0, n_nodes;

	if (!x->goes_with_group)
		return;
	for (uint32_t i = 0; i < d->n_victims; i++) {
		if (!d->victims[i].goes_with_group || pod_of(v, d->victims[i].pod)->group != group)
			continue;
		n++;
		bits_set(&nodes, d->victims[i].node);
	}
	n_nodes = bits_count(&nodes);
	text_add(out, "goes with its group ");
	group_path(v, group, out);
	text_printf(out, ": %s, %u %s on %u %s",
		    ledger_group(cluster_ledger(v->cluster), group)->obj->goes_whole ? "disruptionMode all"
										     : "too few would be left",
		    n, n == 1 ? "pod" : "pods", n_nodes, n_nodes == 1 ? "node" : "nodes");
	bits_free(&nodes);
}

struct eviction_numbers eviction_numbers(const struct plan_view *v, const struct decision *d, const struct victim *x)
{
	return plan_notes_numbers(v->notes, (uint32_t)(d - v->plan->v.v), (uint32_t)(x - d->victims));
}

/* "8 of 12 guaranteed gpu" or "8 of its fair share of 12 gpu"; of the other "20 of 8", "20 without a guarantee". */
static void side_text(const struct plan_view *v, const struct queue_side *s, res_id r, bool is_first, struct text *out)
{
	const struct res_types *types = vocab_res(ledger_vocab(cluster_ledger(v->cluster)));

	text_printf(out, is_first ? "%s uses " : "%s ", queue_path(v, s->queue));
	res_amount_text(r, s->used, out);
	if (!s->entitled && !v->by_fair_share) {
		text_add(out, " without a guarantee");
		return;
	}
	text_add(out, v->by_fair_share && is_first ? " of its fair share of " : " of ");
	res_amount_text(r, s->entitled, out);
	if (is_first)
		text_printf(out, "%s %s", v->by_fair_share ? "" : " guaranteed", res_type_name(types, r));
}

void reclaim_text(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out)
{
	struct eviction_numbers n = eviction_numbers(v, d, x);

	if (n.type != RES_NONE) {
		side_text(v, &n.taker, n.type, true, out);
		text_add(out, ", ");
		side_text(v, &n.loser, n.type, false, out);
	} else if (v->by_fair_share) {
		text_printf(out, "%s is below its fair share, %s above its own", queue_path(v, d->queue),
			    queue_path(v, x->queue));
	} else {
		text_printf(out, "%s is below its guarantee", queue_path(v, d->queue));
	}
}

static void stale_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	text_add(out, "too few of ");
	if (d->group != GROUP_NONE)
		group_path(v, d->group, out);
	text_add(out, " are left");
}

static void law_text(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out)
{
	switch (d->action) {
	case ACTION_RECLAIM:
		reclaim_text(v, d, x, out);
		break;
	case ACTION_STALE_GANG:
		stale_text(v, d, out);
		return;
	case ACTION_REQUIRED_NODE:
		text_add(out, "a DaemonSet's pod must run there");
		break;
	case ACTION_QUOTA:
		text_printf(out, "%s is above its maximum", queue_path(v, d->queue));
		break;
	default:
		if (d->pod != POD_NONE)
			text_printf(out, "priority %d below %d", pod_of(v, x->pod)->priority,
				    pod_of(v, d->pod)->priority);
		break;
	}
	if (x->overridden != RULE_NONE)
		text_printf(out, ", %s", rule_overridden_text(x->overridden));
}

void eviction_text(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out)
{
	node_id to = plan_notes_moves_to(v->notes, x->pod);

	if (to != NODE_NONE) {
		text_printf(out, "moves to %s", node_text(v, to));
		return;
	}
	if (d->action == ACTION_CONSOLIDATE && !v->notes) { /* where to is not known here */
		text_add(out, "moves, so that others fit");
		return;
	}
	law_text(v, d, x, out);
	if (x->goes_with_group && d->action != ACTION_STALE_GANG) {
		text_add(out, "; ");
		group_clause(v, d, x, out);
	}
}
