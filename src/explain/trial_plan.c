/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/trial_plan.h"

/* Of whom the plan says nothing came after the pod, and does so again; or waited like another, and was not asked. */
static void note_in_vain(struct trials *t)
{
	const struct ledger *l = cluster_ledger(t->q->cluster);
	const struct engine_run *run = &t->q->run;
	const struct decisions *d = t->q->plan;

	for (uint32_t i = 0; d && i < run->n_these; i++)
		if (run->these[i] != t->q->waits->pod && ledger_pod(l, run->these[i])->nomination == NOMINATION_NONE)
			bits_set(&t->in_vain, run->these[i]);
	for (uint32_t i = 0; d && i < d->v.n; i++)
		if (d->v.v[i].pod != POD_NONE && d->v.v[i].outcome != OUTCOME_WAITING)
			bits_clear(&t->in_vain, d->v.v[i].pod);
}

void trials_init(struct trials *t, const struct trial_question *q)
{
	const struct ledger *l = cluster_ledger(q->cluster);

	*t = (struct trials){.q = q, .engine = q->engine};
	t->ends_with_pod = plan_ends_with(q->cluster, q->config, &q->run, q->waits->pod);
	/* YuniKorn's order of queues is by all who wait in them. */
	if (t->ends_with_pod && q->config->profile != PROFILE_YUNIKORN &&
	    ledger_pod(l, q->waits->pod)->nomination == NOMINATION_NONE)
		note_in_vain(t);
}

void trials_free(struct trials *t)
{
	engine_free(t->own);
	bits_free(&t->in_vain);
}

/*
 * What is kept goes by what rules say of each kind of pod where queues count, and is made anew in every cycle of
 * sessions; elsewhere another set of rules needs an engine of its own. The config is asked as it is then.
 */
static struct engine *engine_for(struct trials *t, enum trial_change change, struct err *e)
{
	const struct trial_question *q = t->q;
	bool is_kept = !q->config->looks_at_all &&
		       (change != CHANGED_RULES || profile_get(q->config->profile)->search_mode != MODE_PODS);

	if (t->engine && is_kept)
		return t->engine;
	engine_free(t->own);
	t->own = engine_new(q->cluster, q->config, q->extra, q->n_extra, e);
	t->engine = is_kept ? t->own : t->q->engine;
	return t->own;
}

static bool last_decision(const struct decisions *d, pod_id pod, struct decision *ret)
{
	for (uint32_t i = d->v.n; i-- > 0;)
		if (d->v.v[i].pod == pod) {
			*ret = d->v.v[i];
			return true;
		}
	return false;
}

bool trial_gets_room(struct trials *t, enum trial_change change, struct decision *ret)
{
	const struct trial_question *q = t->q;
	struct ledger *l = cluster_ledger(q->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct decisions d = {.arena = arena_new(1 << 16)};
	struct engine_run run = q->run;
	struct plan_focus focus = {0};
	struct err e;
	struct engine *en = engine_for(t, change, &e);
	bool is_ok;

	run.report = POD_NONE;
	if (!q->config->looks_at_all) {
		run.tells_no_words = true;
		plan_focus_on_decision(&focus, t->ends_with_pod ? q->waits->pod : POD_NONE, q->alike, &d, &run);
		focus.passes = change == CHANGED_PRIORITY ? &t->in_vain : NULL;
	}
	is_ok = en && !engine_plan(en, &run, &d, &e) && last_decision(&d, q->waits->pod, ret) &&
		(ret->outcome == OUTCOME_PLACED || ret->outcome == OUTCOME_NOMINATED);
	ledger_rollback(l, mark);
	plan_focus_free(&focus);
	array_free(&d.v);
	arena_free(d.arena);
	return is_ok;
}
