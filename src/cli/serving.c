/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/serving.h"

#include <stdio.h>
#include <unistd.h>

#include "base/map.h"
#include "serve/views.h"
#include "sim/report.h"
#include "sim/simulation_view.h"

struct watching {
	const struct serving *into;
	struct report_log log;
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
	report_log_eviction(&((struct watching *)ctx)->log, s, ev);
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	report_log_start(&((struct watching *)ctx)->log, s, pod);
}

static void on_moment(void *ctx, struct sim *s)
{
	usage_note(((struct watching *)ctx)->into->usage, sim_cluster(s), sim_now(s));
}

static int add_report(const struct simulating *o, struct watching *w, struct simulated *r)
{
	struct simulation_view v = {.sim = r->sim, .seed = o->seed, .profile = cli_profile_words[r->c.config->profile]};
	struct text load = {0}, title = {0}, subtitle = {0}, json = {0};
	struct report_info info = {0};
	struct err e;
	enum err_code rc;

	simulated_load_text(o, r, &load);
	v.load = text_str(&load);
	text_printf(&title, "%s under profile %s", v.load, v.profile);
	simulation_span_text(&v, &subtitle);
	info.title = text_str(&title);
	info.subtitle = text_str(&subtitle);
	report_data(r->sim, &w->log, &info, &json);
	rc = reports_add(w->into->reports, "report", "", &json, &e);
	text_free(&load);
	text_free(&title);
	text_free(&subtitle);
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
	ret->options.keeps_series = true;
	ret->options.watcher = (struct sim_watcher){.ctx = &w,
						    .decision = on_decision,
						    .waiting = on_waiting,
						    .eviction = on_eviction,
						    .start = on_start,
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
