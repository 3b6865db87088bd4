/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/record.h"

#include <limits.h>
#include <stdlib.h>

#include "base/map.h"
#include "manifest/fields.h"
#include "rules/eviction_history.h"
#include "rules/judge.h"
#include "units/timestamp.h"

/* ---- words ---- */

static const char *keep(struct arena *a, struct text *t)
{
	const char *s = t->n ? arena_strndup(a, t->s, t->n) : "";

	text_reset(t);
	return s;
}

static const char *keep_str(struct arena *a, const char *s)
{
	return s && *s ? arena_strndup(a, s, strlen(s)) : "";
}

struct recorder {
	const struct plan_view *v;
	struct arena *a;
	struct text t; /* scratch: empty between uses */
};

static const char *pod_words(struct recorder *r, pod_id pod)
{
	if (pod != POD_NONE)
		pod_path(r->v, pod, &r->t);
	return keep(r->a, &r->t);
}

static const char *group_words(struct recorder *r, group_id group)
{
	if (group != GROUP_NONE)
		group_path(r->v, group, &r->t);
	return keep(r->a, &r->t);
}

static const char *time_words(struct recorder *r, int64_t ns)
{
	if (ns != TIME_NONE)
		timestamp_text(ns, &r->t);
	return keep(r->a, &r->t);
}

static const struct pod *pod_of(const struct recorder *r, pod_id pod)
{
	return ledger_pod(cluster_ledger(r->v->cluster), pod);
}

static const char *uid_words(const struct recorder *r, pod_id pod)
{
	const struct names *names = vocab_names(ledger_vocab(cluster_ledger(r->v->cluster)));

	struct uid_text buf;

	return pod == POD_NONE ? "" : keep_str(r->a, uid_str(names, pod_of(r, pod)->obj->uid, &buf));
}

static const char *workload_words(struct recorder *r, pod_id pod)
{
	eviction_history_workload(r->v->cluster, pod_of(r, pod), &r->t);
	return keep(r->a, &r->t);
}

/* ---- decisions ---- */

static const char *eviction_words(struct recorder *r, const struct decision *d, const struct victim *x)
{
	eviction_text(r->v, d, x, &r->t);
	return keep(r->a, &r->t);
}

static void take_victims(struct recorder *r, const struct decision *d, struct journal_decision *out)
{
	out->n_victims = d->n_victims;
	out->victims = arena_n(r->a, d->n_victims + 1, struct journal_victim);
	for (uint32_t i = 0; i < d->n_victims; i++) {
		const struct victim *x = &d->victims[i];

		out->victims[i] = (struct journal_victim){
			.pod = pod_words(r, x->pod),
			.uid = uid_words(r, x->pod),
			.group = group_words(r, pod_of(r, x->pod)->group),
			.workload = workload_words(r, x->pod),
			.queue = keep_str(r->a, queue_path(r->v, x->queue)),
			.node = keep_str(r->a, node_text(r->v, x->node)),
			.rule = rule_text(x->overridden),
			.lost_seconds = x->lost_ns / NS_PER_S,
			.was_leaving = pod_of(r, x->pod)->state == POD_LEAVING,
			.reason = eviction_words(r, d, x),
		};
	}
}

static const char *json_words(struct recorder *r, const struct decision *d)
{
	struct emit e;

	emit_init(&e, &r->t, EMIT_JSON_LINE);
	plan_emit_decision(r->v, &e, d);
	r->t.s[--r->t.n] = '\0'; /* the newline */
	return keep(r->a, &r->t);
}

static const char *waiting_words(struct recorder *r, const struct decision *d)
{
	if (d->outcome != OUTCOME_WAITING && d->outcome != OUTCOME_GATED)
		return NULL;
	waiting_text(r->v, d, &r->t);
	return keep(r->a, &r->t);
}

static void take_decision(struct recorder *r, const struct decision *d, struct journal_decision *out)
{
	*out = (struct journal_decision){
		.cycle = d->cycle,
		.pod = pod_words(r, d->pod),
		.uid = uid_words(r, d->pod),
		.group = group_words(r, d->group),
		.queue = keep_str(r->a, queue_path(r->v, d->queue)),
		.outcome = outcome_text(d->outcome),
		.action = action_text(d->action),
		.node = keep_str(r->a, node_text(r->v, d->node)),
		.rule = rule_text(d->own_rule),
		.until = time_words(r, d->until_ns),
		.message = keep_str(r->a, d->message),
		.json = json_words(r, d),
	};
	take_victims(r, d, out);
}

/* ---- what they depend on ---- */

static void take_state(struct recorder *r, struct journal_run *run)
{
	struct emit e;

	emit_init(&e, &r->t, EMIT_JSON_LINE);
	manifest_write(r->v->cluster, &e);
	run->has_state = true;
	run->state = keep(r->a, &r->t);
}

/* Plugins are found from the folder of the file that names them, from wherever they are asked for again. */
static const char *whole_path(struct recorder *r, const char *file)
{
	char path[PATH_MAX];

	return keep_str(r->a, realpath(file, path) ? path : file);
}

static enum err_code take_settings(struct recorder *r, const struct manifest *m, struct journal_setting **ret,
				   uint32_t *ret_n, struct err *e)
{
	uint32_t n = manifest_setting_count(m);
	struct journal_setting *v = arena_n(r->a, n + 1, struct journal_setting);

	for (uint32_t i = 0; i < n; i++) {
		TRY(manifest_write_setting(m, i, &r->t, e));
		v[i].document = keep(r->a, &r->t);
		v[i].file = whole_path(r, manifest_setting_file(m, i));
	}
	*ret = v;
	*ret_n = n;
	return ERR_OK;
}

enum err_code journal_settings_of(const struct manifest *m, struct arena *a, struct journal_setting **ret,
				  uint32_t *ret_n, struct err *e)
{
	struct recorder r = {.a = a};
	enum err_code rc = take_settings(&r, m, ret, ret_n, e);

	text_free(&r.t);
	return rc;
}

static void take_decisions(struct recorder *r, struct journal_run *run)
{
	run->n_decisions = r->v->plan->v.n;
	run->decisions = arena_n(r->a, r->v->plan->v.n + 1, struct journal_decision);
	for (uint32_t i = 0; i < r->v->plan->v.n; i++)
		take_decision(r, &r->v->plan->v.v[i], &run->decisions[i]);
}

void journal_decision_of(const struct plan_view *v, const struct decision *d, struct arena *a,
			 struct journal_decision *ret)
{
	struct recorder r = {.v = v, .a = a};

	take_decision(&r, d, ret);
	text_free(&r.t);
}

void journal_decisions(const struct plan_view *v, struct journal_run *ret)
{
	struct recorder r = {.v = v, .a = arena_new(1 << 16)};

	*ret = (struct journal_run){.arena = r.a,
				    .source = JOURNAL_PLAN,
				    .now_ns = v->now_ns,
				    .profile = profile_text(v->profile),
				    .version = CEDE_VERSION,
				    .cycles = 1};
	take_decisions(&r, ret);
	for (uint32_t i = 0; i < ret->n_decisions; i++)
		ret->decisions[i].why = waiting_words(&r, &v->plan->v.v[i]);
	text_free(&r.t);
}

enum err_code journal_record(const struct plan_view *v, const struct record_source *src, struct journal_run *ret,
			     struct err *e)
{
	struct plan_view as_printed = *v; /* whatever was asked for this time */
	struct recorder r = {.v = &as_printed, .a = arena_new(1 << 16)};
	struct journal_run run = {
		.arena = r.a,
		.source = src->source,
		.now_ns = v->now_ns,
		.end_ns = v->now_ns,
		.profile = profile_text(v->profile),
		.version = CEDE_VERSION,
		.cycles = src->cycles,
		.reclaim_is_off = src->config->reclaim_is_off,
		.quota_is_on = src->config->quota_is_on,
	};
	enum err_code rc;

	as_printed.lists_all = false;
	rc = take_settings(&r, src->manifest, &run.settings, &run.n_settings, e);

	if (!rc) {
		take_state(&r, &run);
		take_decisions(&r, &run);
		*ret = run;
	} else {
		arena_free(r.a);
	}
	text_free(&r.t);
	return rc;
}
