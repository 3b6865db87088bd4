/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/serving.h"

#include <stdio.h>
#include <unistd.h>

#include "base/map.h"
#include "serve/views.h"

struct watching {
	const struct serving *into;
	struct report_log log;
	struct expectations *expectations;
	struct map told; /* hash of a waiting pod's name -> hash of what was told of it */
};

/* A decision of now, in words; what others were decided at the same time is not known. */
static void log_decision(const struct watching *w, struct sim *s, const struct decision *d)
{
	struct decisions one = {.v = {.v = (struct decision *)d, .n = 1, .cap = 1}};
	struct plan_view v = {.cluster = sim_cluster(s), .plan = &one, .now_ns = sim_now(s)};

	views_log_decision(w->into->log, &v, d, v.now_ns);
}

static void on_decision(void *ctx, struct sim *s, const struct decision *d, uint64_t number)
{
	log_decision(ctx, s, d);
}

/* It is tried again and again, mostly for nothing: told once, and again when other rules are in the way. */
static void on_waiting(void *ctx, struct sim *s, const struct decision *d)
{
	struct watching *w = ctx;
	struct plan_view v = {.cluster = sim_cluster(s)};
	struct text name = {0};
	uint64_t rules = UINT64_C(1) << d->own_rule, key;
	uint32_t says;

	if (d->pod == POD_NONE)
		return;
	for (uint32_t i = 0; i < d->n_protected; i++)
		rules |= UINT64_C(1) << d->protected[i].verdict.rule;
	pod_path(&v, d->pod, &name);
	key = hash_bytes(text_str(&name), name.n);
	says = (uint32_t)(hash_u64(rules) >> 33); /* not MAP_NONE */
	text_free(&name);
	if (map_get(&w->told, key) == says)
		return;
	map_put(&w->told, key, says);
	log_decision(w, s, d);
}

static void on_eviction(void *ctx, struct sim *s, const struct sim_eviction *ev)
{
	struct watching *w = ctx;

	report_log_eviction(&w->log, s, ev);
	expect_eviction(w->expectations, s, ev);
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	struct watching *w = ctx;

	report_log_start(&w->log, s, pod);
	expect_start(w->expectations, s, pod);
}

static void on_moment(void *ctx, struct sim *s)
{
	usage_note(((struct watching *)ctx)->into->usage, sim_cluster(s), sim_now(s));
}

static void on_finish(void *ctx, struct sim *s, pod_id pod)
{
	expect_finish(((struct watching *)ctx)->expectations, s, pod);
}

static int add_report(const struct simulating *o, struct watching *w, struct simulated *r)
{
	struct simulated_words words;
	struct text json = {0};
	struct err e;
	enum err_code rc;

	simulated_tell(o, r, &words);
	report_data(r->sim, &w->log, &words.info, &json);
	rc = reports_add(w->into->reports, "report", "", &json, &e);
	simulated_words_free(&words);
	text_free(&json);
	return rc ? cli_fail(&e) : EXIT_FINE;
}

int serving_simulate(const struct simulating *o, const struct serving *into, struct simulated *ret)
{
	struct watching w = {.into = into};
	struct variant v = {0};
	int rc = simulated_begin(o, &v, "cede serve", ret);

	if (rc)
		return rc;
	report_log_init(&w.log);
	w.expectations = &ret->expectations;
	ret->options.keeps_series = true;
	ret->options.watcher = (struct sim_watcher){.ctx = &w,
						    .decision = on_decision,
						    .waiting = on_waiting,
						    .eviction = on_eviction,
						    .start = on_start,
						    .finish = on_finish,
						    .moment = on_moment};
	rc = simulated_run(ret);
	if (!rc)
		rc = add_report(o, &w, ret);
	if (!rc)
		ret->c.now_ns = sim_get_outcome(ret->sim)->to_ns;
	report_log_free(&w.log);
	map_free(&w.told);
	return rc;
}
