/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work inside its minimum runtime is not interrupted. Inside one leaf the preempt window counts, between leaves the
 * reclaim window; a lowered maximum is the leaf's own affair; a move must be outside both. At start + window it may go.
 *
 * Of a group that runs more pods than its minimum the surplus may go at any time: what has to stay while the window
 * runs is the minimum, of each podset. Pods on their way out do not count as staying, whoever sent them, so many small
 * requests take no more than one big one could. Several victims of one decision are the search's business: it asks
 * judge_can_spare of all of them together.
 */
#include "rules/min_runtime.h"

#include <inttypes.h>

#include "rules/judge.h"
#include "rules/words.h"
#include "units/duration.h"
#include "units/timestamp.h"

enum { PREEMPT_WINDOW = 0, RECLAIM_WINDOW = 1 };

int32_t judge_minimum(const struct ledger *l, podset_id s)
{
	const struct obj_group *o = ledger_group(l, ledger_podset(l, s)->group)->obj;

	/*
	 * A group of Kubernetes' without a gang policy only holds pods together by name, and so does a gang in the
	 * end.
	 */
	return (o->is_k8s && !o->min_member) || o->has_no_minimum ? INT32_MAX : ledger_podset(l, s)->min_member;
}

bool judge_can_spare(const struct ledger *l, podset_id s, uint32_t n)
{
	return s != PODSET_NONE && (int64_t)ledger_podset(l, s)->n_placed - n >= judge_minimum(l, s);
}

static bool is_elastic(const struct ledger *l, podset_id s)
{
	return s != PODSET_NONE && judge_minimum(l, s) < (int64_t)ledger_podset(l, s)->n_pods;
}

/* ---- the window ---- */

/* A lowered maximum asks for nobody; the others for the waiting pod. */
static bool is_own_leaf(const struct judge *j, const struct pod *v)
{
	return !j->p || j->p->queue == v->queue;
}

/* The reclaim window depends on who waits. Where nobody does there is none. */
static struct min_runtime find_window(const struct judge *j, int which, queue_id q)
{
	if (which == PREEMPT_WINDOW)
		return min_runtime_preempt(j->tree, &j->settings.min_runtime, q);
	return min_runtime_reclaim(j->tree, &j->settings.min_runtime, q == QUEUE_NONE ? QUEUE_NONE : j->p->queue, q);
}

static struct min_runtime window_of(struct judge *j, int which, const struct pod *v)
{
	struct victim_queue *o;

	if (v->queue == QUEUE_NONE)
		return find_window(j, which, QUEUE_NONE);
	o = judge_queue(j, v->queue);
	if (!o->has_window[which]) {
		o->window[which] = find_window(j, which, v->queue);
		o->has_window[which] = true;
	}
	return o->window[which];
}

/* TIME_NONE: it does not say. Where stamps alone count, a pod runs since its group started. */
static int64_t stamp_of(const struct judge *j, const struct pod *v)
{
	if (profile_get(j->settings.profile)->start != START_STAMP)
		return v->started_ns;
	return v->group == GROUP_NONE ? TIME_NONE : ledger_group(j->ledger, v->group)->started_ns;
}

/* Since when it runs. A start in the future counts as now; profile kai goes by what is written. */
static int64_t start_of(const struct judge *j, const struct pod *v)
{
	int64_t start = stamp_of(j, v);

	return start <= j->now_ns || profile_get(j->settings.profile)->start == START_STAMP ? start : j->now_ns;
}

static struct rule_verdict inside(struct judge *j, int which, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_MIN_RUNTIME);
	struct min_runtime window = window_of(j, which, v);
	int64_t start = start_of(j, v);

	says.until_ns = res_add_sat(start, window.ns);
	if (j->now_ns >= says.until_ns)
		return rule_may_go();
	says.reason = (uint8_t)which;
	says.queue = window.queue;
	says.podset = is_elastic(j->ledger, v->podset) ? v->podset : PODSET_NONE;
	says.keeps_minimum = says.podset != PODSET_NONE && j->action != ACTION_CONSOLIDATE;
	says.num[0] = window.ns;
	says.num[1] = res_sub_sat(j->now_ns, start);
	says.num[2] = says.podset != PODSET_NONE ? ledger_podset(j->ledger, v->podset)->n_placed : 0;
	return says;
}

/* A move must be outside both windows; told is the one that ends later. */
static struct rule_verdict inside_any(struct judge *j, const struct pod *v)
{
	struct rule_verdict preempt = inside(j, PREEMPT_WINDOW, v), reclaim;

	if (!j->p || j->settings.moves_ignore_windows)
		return j->p ? rule_may_go() : preempt;
	reclaim = inside(j, RECLAIM_WINDOW, v);
	return reclaim.answer == IS_PROTECTED && (preempt.answer != IS_PROTECTED || reclaim.until_ns > preempt.until_ns)
		       ? reclaim
		       : preempt;
}

/* Kubernetes and YuniKorn know no minimum runtime; a gang that is broken anyway has nothing to finish. */
static bool is_off(const struct judge *j)
{
	return !profile_has_rule(j->settings.profile, RULE_MIN_RUNTIME) || j->action == ACTION_STALE_GANG ||
	       (j->settings.rules_off >> RULE_MIN_RUNTIME & 1);
}

struct rule_verdict judge_window(struct judge *j, const struct pod *v)
{
	if (is_off(j) || stamp_of(j, v) == TIME_NONE)
		return rule_may_go();
	if (j->action == ACTION_CONSOLIDATE)
		return inside_any(j, v);
	return inside(j, is_own_leaf(j, v) ? PREEMPT_WINDOW : RECLAIM_WINDOW, v);
}

int64_t judge_window_ns(struct judge *j, const struct pod *v)
{
	return is_off(j) ? 0 : window_of(j, is_own_leaf(j, v) ? PREEMPT_WINDOW : RECLAIM_WINDOW, v).ns;
}

int64_t judge_moves_from(struct judge *j, const struct pod *v)
{
	int64_t start, preempt, reclaim;

	if (is_off(j) || j->settings.moves_ignore_windows || stamp_of(j, v) == TIME_NONE)
		return INT64_MIN;
	start = start_of(j, v);
	preempt = res_add_sat(start, window_of(j, PREEMPT_WINDOW, v).ns);
	reclaim = res_add_sat(start, window_of(j, RECLAIM_WINDOW, v).ns);
	return reclaim > preempt ? reclaim : preempt;
}

/* ---- the rule ---- */

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = judge_window(j, v);

	(void)victim;
	if (j->action == ACTION_CONSOLIDATE) /* whoever moves is interrupted, surplus or not */
		return says;
	return says.answer == IS_PROTECTED && judge_can_spare(j->ledger, v->podset, 1) ? rule_may_go() : says;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	int64_t start = res_sub_sat(v->until_ns, v->num[0]);

	text_add(out, "protected until ");
	words_until(v->until_ns, res_add_sat(start, v->num[1]), out);
	text_printf(out, " by %s: %s ", v->queue == QUEUE_NONE ? "the default" : words_queue(c, v->queue),
		    v->reason == RECLAIM_WINDOW ? "reclaim" : "preempt");
	duration_text_short(v->num[0], out);
	text_add(out, ", runs ");
	duration_text_short(v->num[1], out);
	if (v->podset == PODSET_NONE)
		return;
	text_add(out, "; ");
	words_podset(c, v->podset, out);
	text_printf(out, " has %" PRId64 " %s and keeps %d", v->num[2], v->num[2] == 1 ? "pod" : "pods",
		    judge_minimum(words_ledger(c), v->podset));
}

const struct rule rule_min_runtime = {.judge = judge, .text = text};
