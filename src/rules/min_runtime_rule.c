/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work inside its minimum runtime is not interrupted. Inside one leaf the preempt window counts, between leaves the
 * reclaim window; a lowered maximum is the leaf's own affair. At start + window it may go.
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

	/* A group of Kubernetes' without a gang policy only holds pods together by name. */
	return o->is_k8s && !o->min_member ? INT32_MAX : ledger_podset(l, s)->min_member;
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

static struct min_runtime window_of(struct judge *j, const struct pod *v)
{
	struct victim_queue *o;

	if (v->queue == QUEUE_NONE)
		return is_own_leaf(j, v)
			       ? min_runtime_preempt(j->tree, &j->settings.min_runtime, QUEUE_NONE)
			       : min_runtime_reclaim(j->tree, &j->settings.min_runtime, QUEUE_NONE, QUEUE_NONE);
	o = judge_queue(j, v->queue);
	if (!o->has_window) {
		o->window = is_own_leaf(j, v)
				    ? min_runtime_preempt(j->tree, &j->settings.min_runtime, v->queue)
				    : min_runtime_reclaim(j->tree, &j->settings.min_runtime, j->p->queue, v->queue);
		o->has_window = true;
	}
	return o->window;
}

/*
 * Since when it runs. A group's stamp from the future is not believed: no engine writes one, and who can write the
 * group's annotations must not get protection without end by it. The pod's own times are the cluster's.
 */
static int64_t start_of(const struct judge *j, const struct pod *v)
{
	const int64_t own[] = {v->obj->started_ns, v->obj->scheduled_ns, v->obj->created_ns};

	if (v->started_ns <= j->now_ns || profile_get(j->settings.profile)->start == START_STAMP)
		return v->started_ns;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i] != TIME_NONE && own[i] <= j->now_ns)
			return own[i];
	return j->now_ns;
}

/* Kubernetes and YuniKorn know no minimum runtime; a gang that is broken anyway has nothing to finish. */
static bool is_off(const struct judge *j)
{
	return !profile_has_rule(j->settings.profile, RULE_MIN_RUNTIME) || j->action == ACTION_STALE_GANG;
}

struct rule_verdict judge_window(struct judge *j, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_MIN_RUNTIME);
	struct min_runtime window;
	int64_t start;

	if (is_off(j) || v->started_ns == TIME_NONE)
		return rule_may_go();
	window = window_of(j, v);
	if (window.ns <= 0)
		return rule_may_go();
	start = start_of(j, v);
	says.until_ns = res_add_sat(start, window.ns);
	if (j->now_ns >= says.until_ns)
		return rule_may_go();
	says.reason = is_own_leaf(j, v) ? PREEMPT_WINDOW : RECLAIM_WINDOW;
	says.queue = window.queue;
	says.podset = is_elastic(j->ledger, v->podset) ? v->podset : PODSET_NONE;
	says.num[0] = window.ns;
	says.num[1] = res_sub_sat(j->now_ns, start);
	says.num[2] = says.podset != PODSET_NONE ? ledger_podset(j->ledger, v->podset)->n_placed : 0;
	return says;
}

/* ---- the rule ---- */

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = judge_window(j, v);

	(void)victim;
	return says.answer == IS_PROTECTED && judge_can_spare(j->ledger, v->podset, 1) ? rule_may_go() : says;
}

/* The time of day, up to a whole second; with the day unless it is today. */
static void add_until(int64_t until_ns, int64_t now_ns, struct text *out)
{
	int64_t part = until_ns % NS_PER_S;
	struct text until = {0}, now = {0};

	timestamp_text(part > 0 ? res_add_sat(until_ns, NS_PER_S - part) : until_ns, &until);
	timestamp_text(now_ns, &now);
	if (until.n >= 19 && !strncmp(text_str(&until), text_str(&now), 10))
		text_add_n(out, until.s + 11, 8);
	else
		text_add(out, text_str(&until));
	text_free(&until);
	text_free(&now);
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	int64_t start = res_sub_sat(v->until_ns, v->num[0]);

	text_add(out, "protected until ");
	add_until(v->until_ns, res_add_sat(start, v->num[1]), out);
	text_printf(out, " by %s: %s ", v->queue == QUEUE_NONE ? "the default" : words_queue(c, v->queue),
		    v->reason == RECLAIM_WINDOW ? "reclaim" : "preempt");
	duration_text_short(v->num[0], out);
	text_add(out, ", runs ");
	duration_text_short(v->num[1], out);
	if (v->podset == PODSET_NONE)
		return;
	text_add(out, "; ");
	words_podset(c, v->podset, out);
	text_printf(out, " has %" PRId64 " pods and keeps %d", v->num[2], judge_minimum(words_ledger(c), v->podset));
}

const struct rule rule_min_runtime = {.judge = judge, .text = text};
