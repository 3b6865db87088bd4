/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that says it may not be interrupted is not. Of a semi-preemptible group the core stays, and the surplus may go:
 * of each podset as many pods as its minimum, those that run longest. A pod that comes later is behind them all, so who
 * belongs to the core does so for as long as it runs (PP-8).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "rules/judge.h"
#include "rules/words.h"

enum { SAYS_GROUP, SAYS_LABEL, SAYS_OWNER, BY_PRIORITY, IS_CORE, IS_ALONE };

/* ---- the core ---- */

/*
 * Since when the pod itself runs: its group's start is the same for all. What the engine placed is not reported yet.
 */
static int64_t since(const struct pod *p)
{
	const struct obj_pod *o = p->obj;

	if (o->node_name == NAME_NONE)
		return INT64_MAX;
	if (o->started_ns != TIME_NONE)
		return o->started_ns;
	return o->scheduled_ns != TIME_NONE ? o->scheduled_ns : p->created_ns;
}

int pod_seniority(const struct names *names, const struct pod *x, const struct pod *y)
{
	if (since(x) != since(y))
		return since(x) < since(y) ? -1 : 1;
	if (x->created_ns != y->created_ns)
		return x->created_ns < y->created_ns ? -1 : 1;
	return name_cmp(names, x->name, y->name);
}

static int by_seniority(const void *a, const void *b, void *ctx)
{
	const struct judge *j = ctx;

	return pod_seniority(j->names, ledger_pod(j->ledger, *(const pod_id *)a),
			     ledger_pod(j->ledger, *(const pod_id *)b));
}

/* The last pod of the core of v's podset. All pods of a group are in one queue. */
static pod_id find_last(struct judge *j, const struct pod *v)
{
	int32_t min = judge_minimum(j->ledger, v->podset);
	uint32_t n, count = 0;
	const pod_id *pods = ledger_queue_pods(j->ledger, v->queue, &n);
	pod_id *members = mem_alloc((n + 1) * sizeof(*members)), last;

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(j->ledger, pods[i]);

		if (p->podset == v->podset && p->state == POD_PLACED)
			members[count++] = pods[i];
	}
	if (!count) { /* what has no place yet is no core */
		mem_free(members);
		return POD_NONE;
	}
	qsort_r(members, count, sizeof(*members), by_seniority, j);
	last = members[(int64_t)count < min ? count - 1 : (uint32_t)min - 1];
	mem_free(members);
	return last;
}

static bool is_core(struct judge *j, pod_id victim, const struct pod *v)
{
	pod_id last = map_get(&j->scratch->cores, v->podset);

	if (last == MAP_NONE) {
		last = find_last(j, v);
		if (last == POD_NONE)
			return false;
		map_put(&j->scratch->cores, v->podset, last);
	}
	return by_seniority(&victim, &last, j) <= 0;
}

/* ---- the rule ---- */

static struct rule_verdict semi(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_PREEMPTIBILITY);

	if (v->podset == PODSET_NONE || v->queue == QUEUE_NONE || judge_minimum(j->ledger, v->podset) == INT32_MAX) {
		says.reason = IS_ALONE;
		return says;
	}
	if (!is_core(j, victim, v))
		return rule_may_go();
	says.reason = IS_CORE;
	says.podset = v->podset;
	says.keeps_minimum = true;
	says.num[0] = judge_minimum(j->ledger, v->podset);
	says.num[1] = ledger_podset(j->ledger, v->podset)->n_placed;
	return says;
}

/* Who said it. An owner's label is the cluster's to find; of a pod without an owner there is none. */
static uint8_t source_of(const struct judge *j, const struct pod *v)
{
	const struct group *g = v->group == GROUP_NONE ? NULL : ledger_group(j->ledger, v->group);

	if (g && g->obj->preemptibility == NON_PREEMPTIBLE)
		return SAYS_GROUP;
	if (v->obj->owner_kind != OWNER_NONE)
		return SAYS_OWNER;
	if (v->obj->preemptibility == SEMI_PREEMPTIBLE)
		return IS_ALONE;
	return v->obj->preemptibility == NON_PREEMPTIBLE ? SAYS_LABEL : BY_PRIORITY;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_PREEMPTIBILITY);

	if (v->preemptibility == SEMI_PREEMPTIBLE)
		return semi(j, victim, v);
	if (v->preemptibility != NON_PREEMPTIBLE)
		return rule_may_go();
	says.reason = source_of(j, v);
	says.podset = v->podset;
	says.num[0] = v->priority;
	says.num[1] = cluster_get_options(j->cluster)->preemptibility_threshold;
	return says;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	switch (v->reason) {
	case SAYS_GROUP:
		text_add(out, "it is non-preemptible: its group ");
		words_podset(c, v->podset, out);
		text_add(out, " says so");
		break;
	case SAYS_LABEL:
		text_add(out, "it is non-preemptible: its label says so");
		break;
	case SAYS_OWNER:
		text_printf(out, "it is non-preemptible, by a label or by its priority %" PRId64, v->num[0]);
		break;
	case BY_PRIORITY:
		text_printf(out, "it is non-preemptible: its priority %" PRId64 " is not below %" PRId64, v->num[0],
			    v->num[1]);
		break;
	case IS_CORE:
		text_add(out, "core of ");
		words_podset(c, v->podset, out);
		if (v->num[0] < v->num[1])
			text_printf(out, ": %" PRId64 " of its %" PRId64 " pods %s", v->num[0], v->num[1],
				    v->num[0] == 1 ? "stays" : "stay");
		else
			text_printf(out, ": all of it stays, with a minimum of %" PRId64, v->num[0]);
		break;
	default:
		text_add(out, "it is semi-preemptible and on its own: all of it is core");
		break;
	}
}

const struct rule rule_preemptibility = {.judge = judge, .text = text};
