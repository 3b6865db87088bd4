/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through everything: manifests, settings, cluster, a plan, every view of it, a record and its replay. A
 * digit from 0 to 3 in front of the rest names the profile, which is quicker and lets a fuzzer follow one; without it
 * all four are tried. Whatever the bytes are,
 *
 * - what is refused is refused with words, and never as an error inside cede;
 * - a plan leaves the ledger as it was, and the ledger's own checks find nothing;
 * - one thread and three decide the same bytes;
 * - what is printed as data reads back, and what is printed as text has no control characters in it;
 * - what was recorded reads back as a cluster in which the same is decided.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "explain/cluster_view.h"
#include "explain/explanation.h"
#include "explain/group_text.h"
#include "explain/lint.h"
#include "explain/plan_notes.h"
#include "explain/plan_view.h"
#include "explain/queue_text.h"
#include "journal/diff.h"
#include "journal/rebuild.h"
#include "journal/record.h"
#include "manifest/config_view.h"
#include "manifest/fields.h"
#include "manifest/manifest.h"

#define NOW_NS (INT64_C(1800000000) * NS_PER_S) /* as the seeds have it */

enum { PROFILES = 4, EXPLAINED_PODS = 4, EXPLAINED_GROUPS = 2, EXPLAINED_QUEUES = 3 };

static const struct look look = {.width = 100};

/* Ends the run with what does not hold, in which profile. */
#define HOLDS(condition, w)                                                            \
	do {                                                                           \
		if (!(condition)) {                                                    \
			fprintf(stderr, "%s:%d: profile %s: %s\n", __FILE__, __LINE__, \
				profile_text((w)->config->profile), #condition);       \
			abort();                                                       \
		}                                                                      \
	} while (0)

/* ---- a cluster ---- */

struct world {
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster; /* NULL: refused */
	bool is_read;		 /* it could be read; the rest depends on the profile */
};

static struct world world_new(void)
{
	struct world w = {.vocab = vocab_new(), .config = engine_config_new()};

	w.manifest = manifest_new(w.vocab);
	return w;
}

static void world_free(struct world *w)
{
	if (w->cluster)
		cluster_free(w->cluster);
	engine_config_free(w->config);
	manifest_free(w->manifest);
	vocab_free(w->vocab);
}

static enum err_code read_world(struct world *w, const char *data, size_t size, enum profile p, struct err *e)
{
	struct cluster_options o;

	TRY(manifest_read_bytes(w->manifest, "input", data, size, e));
	w->is_read = true;
	TRY(manifest_configure(w->manifest, w->config, e));
	w->config->profile = p;
	o = engine_config_cluster_options(w->config, NOW_NS);
	return manifest_build(w->manifest, &o, &w->cluster, e);
}

static void check_refusal(const struct world *w, enum err_code rc, const struct err *e)
{
	HOLDS(rc != ERR_INTERNAL, w);
	HOLDS(e->code == rc && e->msg[0], w);
}

/* ---- output ---- */

/* Both empty the text. */
static void check_data(const struct world *w, struct text *t)
{
	struct arena *a = arena_new(1 << 14);
	struct tree_reader *r = tree_reader_new("output", text_str(t), t->n);
	struct tree_doc d;
	struct err e = {0};

	do
		HOLDS(tree_next(r, a, &d, &e) == ERR_OK, w);
	while (d.root);
	tree_reader_free(r);
	arena_free(a);
	text_reset(t);
}

static void check_text(const struct world *w, struct text *t)
{
	for (const char *s = text_str(t); *s;) {
		uint32_t c = text_next(&s);

		HOLDS(c == TEXT_BAD || c == '\n' || (c >= 0x20 && c < 0x7F) || c >= 0xA0, w);
		HOLDS(!(c >= 0x202A && c <= 0x202E) && !(c >= 0x2066 && c <= 0x2069),
		      w);						/* turns what follows around */
		HOLDS(!(c >= 0x200B && c <= 0x200F) && c != 0xFEFF, w); /* nobody sees it */
	}
	text_reset(t);
}

/* ---- a plan ---- */

struct planned {
	struct engine *engine; /* NULL: refused, or no plan could be made */
	struct decisions plan;
	struct plan_notes *notes;
	struct plan_view view;
};

static void planned_free(struct planned *p)
{
	plan_notes_free(p->notes);
	engine_free(p->engine);
	array_free(&p->plan.v);
	arena_free(p->plan.arena);
}

static bool plan(struct world *w, uint32_t cycles, uint32_t threads, pod_id report, struct planned *ret)
{
	struct engine_run run = {.now_ns = NOW_NS, .cycles = cycles, .report = report};
	struct ledger *l = cluster_ledger(w->cluster);
	ledger_mark mark = ledger_get_mark(l);
	uint64_t before = ledger_digest(l);
	struct err e = {0};
	enum err_code rc;

	*ret = (struct planned){.plan = {.arena = arena_new(1 << 16)}};
	w->config->threads = threads;
	ret->engine = engine_new(w->cluster, w->config, NULL, 0, &e);
	rc = ret->engine ? engine_plan(ret->engine, &run, &ret->plan, &e) : e.code;
	ledger_rollback(l, mark);
	HOLDS(ledger_digest(l) == before, w);
	HOLDS(ledger_check(l, NULL) == ERR_OK, w);
	if (rc)
		check_refusal(w, rc, &e);
	ret->view = (struct plan_view){.cluster = w->cluster,
				       .plan = &ret->plan,
				       .profile = w->config->profile,
				       .by_fair_share = engine_config_reclaims_by(w->config) == RECLAIM_FAIR_SHARE,
				       .now_ns = NOW_NS};
	if (!rc)
		ret->view.notes = ret->notes = plan_notes_new(w->cluster, &ret->plan);
	return !rc;
}

static struct text plan_json(const struct plan_view *v)
{
	struct text t = {0};
	struct emit e;

	emit_init(&e, &t, EMIT_JSON);
	plan_view_emit(v, &e);
	return t;
}

static void check_plan_views(const struct world *w, const struct plan_view *v, struct text *out)
{
	struct emit e;

	emit_init(&e, out, EMIT_YAML);
	plan_view_emit(v, &e);
	check_data(w, out);
	for (int is_wide = 0; is_wide < 2; is_wide++) {
		plan_view_text(v, &look, is_wide, out);
		check_text(w, out);
	}
}

/* ---- explanations ---- */

static void find_outlook(struct world *w, uint32_t cycles, struct explanation *x)
{
	struct trial_question q = {.cluster = w->cluster,
				   .config = w->config,
				   .run = {.now_ns = NOW_NS, .cycles = cycles},
				   .waits = x->own};
	uint64_t before = ledger_digest(cluster_ledger(w->cluster));

	outlook_find(&q, &x->outlook);
	x->has_outlook = true;
	HOLDS(ledger_digest(cluster_ledger(w->cluster)) == before, w);
}

static void check_pod(struct world *w, const struct planned *p, uint32_t cycles, pod_id pod, struct text *out)
{
	struct explanation x;
	struct emit e;

	explanation_init(&x, &p->view, pod);
	if (x.own && x.own->outcome == OUTCOME_WAITING && x.own->n_nodes) /* the reported one: it takes many plans */
		find_outlook(w, cycles, &x);
	explanation_words(&x, p->engine);
	emit_init(&e, out, EMIT_JSON);
	explanation_emit(&x, &e);
	check_data(w, out);
	explanation_text(&x, &look, true, out);
	check_text(w, out);
	explanation_free(&x);
}

static void check_queues(const struct world *w, const struct planned *p, struct text *out)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(w->cluster));
	struct emit e;

	for (queue_id q = 0; q < t->q.n && q < EXPLAINED_QUEUES; q++) {
		if (!queue_get(t, q)->is_live)
			continue;
		emit_init(&e, out, EMIT_JSON);
		queue_emit(&p->view, q, NULL, &e);
		check_data(w, out);
		queue_text(&p->view, q, NULL, &look, out);
		check_text(w, out);
	}
}

static void check_explanations(struct world *w, const struct planned *p, uint32_t cycles, struct text *out)
{
	const struct ledger *l = cluster_ledger(w->cluster);
	uint32_t n_pods = 0, n_groups = 0;
	struct emit e;

	for (pod_id pod = 0; pod < ledger_pod_limit(l) && n_pods < EXPLAINED_PODS; pod++)
		if (ledger_pod(l, pod)->state != POD_FREE) {
			check_pod(w, p, cycles, pod, out);
			n_pods++;
		}
	for (group_id g = 0; g < ledger_group_limit(l) && n_groups < EXPLAINED_GROUPS; g++)
		if (ledger_group(l, g)->is_live) {
			emit_init(&e, out, EMIT_JSON);
			group_emit(&p->view, g, NULL, &e);
			check_data(w, out);
			group_text(&p->view, g, NULL, &look, true, out);
			check_text(w, out);
			n_groups++;
		}
}

/* ---- a record, and its replay ---- */

static void check_same(const struct world *w, const struct journal_run *was, const struct journal_run *is)
{
	struct run_diff d;

	run_diff_init(&d, was, is);
	HOLDS(run_diff_is_same(&d), w);
	HOLDS(!d.state_differs, w);
	run_diff_free(&d);
}

static void check_replay(struct world *w, const struct planned *p, uint32_t cycles)
{
	struct record_source src = {JOURNAL_PLAN, w->manifest, w->config, cycles}, src_again = src;
	struct journal_run was, is;
	struct world again = world_new();
	struct planned p_again;
	struct err e = {0};

	if (journal_record(&p->view, &src, &was, &e)) {
		check_refusal(w, e.code, &e);
	} else {
		HOLDS(rebuild_run(&was, again.manifest, again.config, &again.cluster, &e) == ERR_OK, w);
		HOLDS(plan(&again, cycles, 1, POD_NONE, &p_again), w);
		src_again.manifest = again.manifest;
		src_again.config = again.config;
		HOLDS(journal_record(&p_again.view, &src_again, &is, &e) == ERR_OK, w);
		check_same(w, &was, &is);
		planned_free(&p_again);
		journal_run_free(&is);
		journal_run_free(&was);
	}
	world_free(&again);
}

/* ---- one profile ---- */

static pod_id first_waiting(const struct ledger *l)
{
	for (pod_id pod = 0; pod < ledger_pod_limit(l); pod++)
		if (ledger_pod(l, pod)->state == POD_WAITING)
			return pod;
	return POD_NONE;
}

static void check_plan(struct world *w, uint32_t cycles)
{
	struct planned one, three;
	bool is_planned = plan(w, cycles, 1, first_waiting(cluster_ledger(w->cluster)), &one);
	struct text json = {0}, json3 = {0}, out = {0};

	HOLDS(plan(w, cycles, 3, POD_NONE, &three) == is_planned, w);
	if (is_planned) {
		json = plan_json(&one.view);
		json3 = plan_json(&three.view);
		HOLDS(str_eq(text_str(&json), text_str(&json3)), w);
		check_data(w, &json);
		check_plan_views(w, &one.view, &out);
		check_replay(w, &one, cycles);
		check_explanations(w, &one, cycles, &out);
		check_queues(w, &one, &out);
	}
	text_free(&json);
	text_free(&json3);
	text_free(&out);
	planned_free(&three);
	planned_free(&one);
}

/* ---- the cluster itself ---- */

static void check_cluster_view(const struct world *w, struct text *out)
{
	struct cluster_view v;
	struct emit e;

	cluster_view_init(&v, w->cluster, NOW_NS);
	emit_init(&e, out, EMIT_JSON);
	cluster_view_emit(&v, &e);
	check_data(w, out);
	for (int is_wide = 0; is_wide < 2; is_wide++) {
		cluster_view_text(&v, &look, is_wide, out);
		check_text(w, out);
	}
	cluster_view_free(&v);
}

static void check_lint(const struct world *w, struct text *out)
{
	struct lint l = {.arena = arena_new(1 << 14)};
	struct emit e;

	lint_cluster(&l, w->cluster);
	emit_init(&e, out, EMIT_JSON);
	lint_emit(&l, &e);
	check_data(w, out);
	lint_text(&l, &look, out);
	check_text(w, out);
	lint_free(&l);
}

static void check_settings(const struct world *w, struct text *out)
{
	struct config_view v = {.manifest = w->manifest, .config = w->config};
	struct emit e;

	config_view_text(&v, out);
	check_data(w, out);
	emit_init(&e, out, EMIT_JSON);
	config_view_emit(&v, &e);
	check_data(w, out);
}

static void check_cluster(const struct world *w)
{
	struct text out = {0};
	struct emit e;

	check_cluster_view(w, &out);
	check_lint(w, &out);
	check_settings(w, &out);
	emit_init(&e, &out, EMIT_YAML);
	manifest_write(w->cluster, &e);
	check_data(w, &out);
	text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* True: it could be read. */
static bool try_profile(const char *data, size_t size, int profile)
{
	static const uint32_t cycles[PROFILES] = {1, 2, 3, 1};
	struct world w = world_new();
	struct err e = {0};
	enum err_code rc = read_world(&w, data, size, (enum profile)profile, &e);
	bool is_read = w.is_read;

	if (rc) {
		check_refusal(&w, rc, &e);
	} else {
		check_cluster(&w);
		check_plan(&w, cycles[profile]);
	}
	world_free(&w);
	return is_read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	bool is_readable = true;

	if (size && *s >= '0' && *s < '0' + PROFILES)
		try_profile(s + 1, size - 1, *s - '0');
	else
		for (int p = 0; p < PROFILES && is_readable; p++)
			is_readable = try_profile(s, size, p);
	return 0;
}
