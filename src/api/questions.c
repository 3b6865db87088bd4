/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a handle: a plan, an explanation, the cluster, a difference. */
#include "api/api.h"
#include "explain/cluster_view.h"
#include "journal/record.h"
#include "manifest/fields.h"
#include "serve/planner.h"

static const struct look plain_look; /* no colours, no width */

/* To be freed also after a failure. */
static enum err_code plan_now(const struct serve_world *w, const struct cede *c, const struct explain_target *target,
			      struct world_plan *ret, struct err *e)
{
	struct plan_question q = {.cycles = c->cycles, .target = target};

	w->config->threads = c->threads;
	return world_plan(w, &q, ret, e);
}

static struct serve_world world_of(const struct cede *c)
{
	return (struct serve_world){
		.cluster = c->cluster, .config = c->config, .manifest = c->manifest, .now_ns = c->now_ns};
}

static enum emit_format emit_format(enum cede_format f)
{
	return f == CEDE_JSON ? EMIT_JSON : EMIT_YAML;
}

static bool is_format(int f)
{
	return f >= CEDE_JSON && f <= CEDE_TEXT;
}

/* ---- plan ---- */

static void keep_plan(const struct world_plan *p, struct cede_result *r)
{
	r->is_plan = true;
	journal_decisions(&p->view, &r->run);
	running_pods_init(&r->running, &p->view);
	r->side = (struct plan_side){&r->run, p->plan.placed, p->plan.nominated, p->plan.waiting, p->plan.gated};
	r->n_victims = p->plan.victims;
}

static void write_plan(const struct world_plan *p, enum cede_format format, struct text *out)
{
	struct emit e;

	if (format == CEDE_TEXT) {
		plan_view_text(&p->view, &plain_look, false, out);
		return;
	}
	emit_init(&e, out, emit_format(format));
	plan_view_emit(&p->view, &e);
}

enum cede_status cede_plan(struct cede *c, enum cede_format format, struct cede_result **ret)
{
	IN_PLAIN_LOCALE;
	struct serve_world w;
	struct world_plan p;
	enum err_code rc;
	struct err e;

	if (!c || !ret || !is_format(format))
		return api_misuse(c, "cede_plan: a format, and where to put the result, are needed");
	rc = api_read(c, &e);
	if (rc)
		return api_status(c, rc, &e);
	w = world_of(c);
	rc = plan_now(&w, c, NULL, &p, &e);
	if (!rc) {
		*ret = result_new();
		write_plan(&p, format, &(*ret)->text);
		keep_plan(&p, *ret);
	}
	world_plan_free(&p);
	return api_status(c, rc, &e);
}

/* ---- explain ---- */

enum cede_status cede_explain(struct cede *c, const char *what, enum cede_format format, struct cede_result **ret)
{
	IN_PLAIN_LOCALE;
	struct explain_look look = {.is_data = format != CEDE_TEXT, .format = emit_format(format)};
	struct explain_target t;
	struct serve_world w;
	struct world_plan p;
	enum err_code rc;
	struct err e;

	if (!c || !what || !ret || !is_format(format))
		return api_misuse(c,
				  "cede_explain: what to explain, a format, and where to put the result, are needed");
	rc = api_read(c, &e);
	if (!rc)
		rc = explain_find(c->cluster, "default", what, &t, &e);
	if (rc)
		return api_status(c, rc, &e);
	w = world_of(c);
	rc = plan_now(&w, c, &t, &p, &e);
	if (!rc) {
		*ret = result_new();
		explain_write(&w, &p, &t, &look, &(*ret)->text);
	}
	world_plan_free(&p);
	return api_status(c, rc, &e);
}

/* ---- show ---- */

static void write_cluster(const struct cede *c, enum cede_format format, struct text *out)
{
	struct cluster_view v;
	struct emit e;

	cluster_view_init(&v, c->cluster, c->now_ns);
	if (format == CEDE_TEXT) {
		cluster_view_text(&v, &plain_look, false, out);
	} else {
		emit_init(&e, out, emit_format(format));
		cluster_view_emit(&v, &e);
	}
	cluster_view_free(&v);
}

enum cede_status cede_show(struct cede *c, enum cede_format format, struct cede_result **ret)
{
	IN_PLAIN_LOCALE;
	enum err_code rc;
	struct err e;

	if (!c || !ret || !is_format(format))
		return api_misuse(c, "cede_show: a format, and where to put the result, are needed");
	rc = api_read(c, &e);
	if (rc)
		return api_status(c, rc, &e);
	*ret = result_new();
	write_cluster(c, format, &(*ret)->text);
	return CEDE_OK;
}

/* ---- difference ---- */

static void write_difference(const struct plan_difference *d, enum cede_format format, struct text *out)
{
	struct emit e;

	if (format == CEDE_TEXT) {
		plan_difference_text(d, &plain_look, out);
		return;
	}
	emit_init(&e, out, emit_format(format));
	plan_difference_emit(d, &e);
}

enum cede_status cede_difference(struct cede *c, const struct cede_result *before, const struct cede_result *after,
				 const char *change, enum cede_format format, struct cede_result **ret)
{
	IN_PLAIN_LOCALE;
	struct plan_difference d;

	if (!before || !after || !before->is_plan || !after->is_plan || !ret || !is_format(format))
		return api_misuse(c, "cede_difference: two plans, a format, and where to put the result, are needed");
	d = (struct plan_difference){.was = before->side,
				     .is = after->side,
				     .running = &before->running,
				     .changes = &change,
				     .n_changes = change != NULL,
				     .now_ns = before->run.now_ns};
	plan_difference_init(&d);
	*ret = result_new();
	write_difference(&d, format, &(*ret)->text);
	run_diff_free(&d.diff);
	return CEDE_OK;
}
