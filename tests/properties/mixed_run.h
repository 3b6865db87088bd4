/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_run.h - a mixed world read and planned by cede, and its decisions in the test's own words. For tests only. */
#pragma once

#include "engine/engine.h"
#include "explain/plan_view.h"
#include "journal/diff.h"
#include "journal/rebuild.h"
#include "journal/record.h"
#include "manifest/manifest.h"
#include "properties/mixed_judge.h"
#include "properties/mixed_write.h"

struct live { /* one reading of a world */
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
	struct engine *engine;
	struct decisions plan;
	int64_t later_ns; /* after MIXED_NOW_NS */
};

static inline void live_must(enum err_code rc, const struct err *e, const struct mixed *m)
{
	struct text t = {0};

	if (!rc)
		return;
	mixed_text(m, 0, &t);
	fprintf(stderr, "%s\n%s\n", text_str(&t), e->msg);
	abort();
}

/* ---- a plugin that keeps a team's pods ---- */

static inline struct cede_verdict keeper_may_evict(void *self, const struct cede_cycle *c, cede_pod victim)
{
	const char *team = cede_pod_label(c, victim, "team");

	(void)self;
	return team && str_eq(team, "t2") ? cede_answer(CEDE_UNSCHEDULABLE, 0, 0) : cede_ok();
}

static const char *const keeper_reasons[] = {"the team is kept"};
static const struct cede_plugin keeper = {.abi = CEDE_PLUGIN_ABI,
					  .name = "keeper",
					  .may_evict = keeper_may_evict,
					  .reasons = keeper_reasons,
					  .n_reasons = 1};
static const struct framework_plugin keepers[] = {{.table = &keeper}};

static inline void live_begin(struct live *l)
{
	*l = (struct live){.vocab = vocab_new(), .config = engine_config_new()};
	l->manifest = manifest_new(l->vocab);
}

static inline void live_start(struct live *l, const struct mixed *m)
{
	struct err e = {0};

	l->engine = engine_new(l->cluster, l->config, keepers, m->has_plugin, &e);
	live_must(l->engine ? ERR_OK : ERR_INTERNAL, &e, m);
}

static inline void live_load(struct live *l, const struct mixed *m, uint64_t turn, uint32_t threads)
{
	struct cluster_options o;
	struct text t = {0};
	struct err e = {0};

	live_begin(l);
	mixed_text(m, turn, &t);
	live_must(manifest_read_bytes(l->manifest, "mixed", text_str(&t), t.n, &e), &e, m);
	live_must(manifest_configure(l->manifest, l->config, &e), &e, m);
	l->config->profile = m->profile;
	l->config->threads = threads;
	l->config->keeps_of_few = m->p.n % 4 != 0; /* a search either keeps what it found or looks at all rows */
	o = engine_config_cluster_options(l->config, MIXED_NOW_NS);
	live_must(manifest_build(l->manifest, &o, &l->cluster, &e), &e, m);
	text_free(&t);
	live_start(l, m);
}

static inline void live_forget_plan(struct live *l)
{
	array_free(&l->plan.v);
	if (l->plan.arena)
		arena_free(l->plan.arena);
	l->plan = (struct decisions){0};
}

/* report: the pod whose nodes are told of, POD_NONE */
static inline void live_plan_for(struct live *l, const struct mixed *m, uint32_t cycles, pod_id report)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS + l->later_ns, .cycles = cycles, .report = report};
	struct err e = {0};

	live_forget_plan(l);
	l->plan.arena = arena_new(1 << 16);
	live_must(engine_plan(l->engine, &run, &l->plan, &e), &e, m);
}

static inline void live_plan(struct live *l, const struct mixed *m, uint32_t cycles)
{
	live_plan_for(l, m, cycles, POD_NONE);
}

static inline void live_end(struct live *l)
{
	live_forget_plan(l);
	engine_free(l->engine);
	cluster_free(l->cluster);
	engine_config_free(l->config);
	manifest_free(l->manifest);
	vocab_free(l->vocab);
}

/* The plan as bytes; its moves must have been taken back. */
static inline void live_emit(struct live *l, struct text *out)
{
	struct plan_view view = {.cluster = l->cluster,
				 .plan = &l->plan,
				 .profile = l->config->profile,
				 .now_ns = MIXED_NOW_NS + l->later_ns};
	struct emit e;

	emit_init(&e, out, EMIT_JSON);
	plan_view_emit(&view, &e);
}

static inline void live_plan_and_emit(struct live *l, const struct mixed *m, uint32_t cycles, struct text *out)
{
	ledger_mark mark = ledger_get_mark(cluster_ledger(l->cluster));

	live_plan(l, m, cycles);
	ledger_rollback(cluster_ledger(l->cluster), mark);
	live_emit(l, out);
}

/* ---- ids and indices ---- */

static inline const char *live_name(const struct live *l, pod_id pod)
{
	return name_str(vocab_names(l->vocab), ledger_pod(cluster_ledger(l->cluster), pod)->name);
}

/* Names end in the index. */
static inline int live_index(const struct live *l, pod_id pod)
{
	return pod == POD_NONE ? -1 : (int)strtol(live_name(l, pod) + 1, NULL, 10);
}

static inline int live_node(const struct live *l, node_id node)
{
	const struct ledger *g = cluster_ledger(l->cluster);

	return node == NODE_NONE
		       ? NOWHERE
		       : (int)strtol(name_str(vocab_names(l->vocab), ledger_node(g, node)->name) + 1, NULL, 10);
}

/* A new pod that waits, into the cluster. */
static inline void live_submit(struct live *l, const struct mixed *m, const struct m_pod *p)
{
	struct object_source src = {.name = "again"};
	struct arena *a = arena_new(4096);
	struct tree_reader *r;
	struct text t = {0};
	struct tree_doc doc;
	struct obj_pod o;
	struct err e = {0};

	write_pod(m, p, &t);
	r = tree_reader_new("again", text_str(&t), t.n);
	live_must(tree_next(r, a, &doc, &e), &e, m);
	live_must(manifest_pod(l->vocab, &src, doc.root, &o, &e), &e, m);
	live_must(cluster_put_pod(l->cluster, &o, &e), &e, m);
	tree_reader_free(r);
	text_free(&t);
	arena_free(a);
}
