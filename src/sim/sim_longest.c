/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever reads that pods wait in the end asks which, and why: told of the one that has waited longest. */
#include "explain/plan_view.h"
#include "sim/sim_internal.h"

static bool waits_longer(const struct sim_pod *a, const struct sim_pod *b)
{
	if (a->waits_since_ns != b->waits_since_ns)
		return a->waits_since_ns < b->waits_since_ns;
	return a->serial < b->serial;
}

static const struct sim_pod *longest(const struct sim *s)
{
	const struct sim_pod *best = NULL;

	for (uint32_t i = 0; i < s->pods.n; i++) {
		const struct sim_pod *p = &s->pods.v[i];

		if (p->life == LIFE_WAITING && p->pod != POD_NONE && (!best || waits_longer(p, best)))
			best = p;
	}
	return best;
}

/* It is asked together with the rest of its job: of a gang one alone would be told something else. */
static uint32_t ask_of(const struct sim *s, const struct sim_pod *p, pod_id *these)
{
	const struct sim_work *work = &s->works.v[p->job];
	uint32_t n = 0;

	for (uint32_t i = 0; i < work->n_pods; i++) {
		const struct sim_pod *other = &s->pods.v[work->pods[i]];

		if (other->life == LIFE_WAITING && other->pod != POD_NONE)
			these[n++] = other->pod;
	}
	return n;
}

static void tell_why(const struct sim *s, const struct decisions *plan, pod_id pod, struct text *out)
{
	struct plan_view v = {.cluster = s->cluster,
			      .plan = plan,
			      .profile = (s->own_config ? s->own_config : s->o.config)->profile,
			      .now_ns = s->now_ns};

	for (uint32_t i = 0; i < plan->v.n; i++) {
		const struct decision *d = &plan->v.v[i];

		if (d->pod == pod && (d->outcome == OUTCOME_WAITING || d->outcome == OUTCOME_GATED))
			waiting_text(&v, d, out);
	}
}

void sim_tell_longest(struct sim *s)
{
	const struct sim_pod *p = longest(s);
	ledger_mark mark = ledger_get_mark(s->ledger);
	struct decisions plan = {.arena = s->arena};
	struct text name = {0}, why = {0};
	struct err e = {0};

	if (!p)
		return;
	pod_id *these = arena_alloc(s->arena, s->works.v[p->job].n_pods * sizeof(*these));
	struct engine_run run = {.now_ns = s->now_ns,
				 .cycles = 1,
				 .report = POD_NONE,
				 .eviction_history = &s->history,
				 .these = these,
				 .n_these = ask_of(s, p, these)};

	if (!engine_plan(s->engine, &run, &plan, &e))
		tell_why(s, &plan, p->pod, &why);
	ledger_rollback(s->ledger, mark);
	pod_path(&(struct plan_view){.cluster = s->cluster}, p->pod, &name);
	s->outcome.longest =
		(struct outcome_longest){mem_strdup(text_str(&name)), p->waits_since_ns, mem_strdup(text_str(&why))};
	text_free(&name);
	text_free(&why);
	array_free(&plan.v);
	arena_reset(s->arena);
}
