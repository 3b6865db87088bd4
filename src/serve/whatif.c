/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What if? The cluster is written out and read back as another one, with what is thought of on top, and both are
 * planned: nothing of the cluster itself is touched.
 */
#include "manifest/whatif.h"
#include "journal/difference.h"
#include "journal/record.h"
#include "manifest/config_view.h"
#include "manifest/fields.h"
#include "serve/views.h"

#define BODY "request"

struct question {
	struct arena *arena;
	struct whatif whatif;
	const char *documents; /* NULL: none */
	size_t n_documents;
	ARRAY(const char *) changes; /* in words */
};

struct other { /* the cluster that is thought of */
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
	struct plugins *plugins;
};

/* ---- what is asked ---- */

static enum err_code take_list(struct question *q, const struct tree *root, const char *key, whatif_list *ret,
			       struct err *e)
{
	const struct tree *list = tree_get(root, key);

	if (!list || list->kind == TREE_NULL)
		return ERR_OK;
	if (list->kind != TREE_LIST)
		return err_fail(e, ERR_INPUT, BODY ":%u:%u: %s: expected a list of strings, found %s", list->line,
				list->col, key, tree_kind_text(list->kind));
	for (uint32_t i = 0; i < list->n; i++) {
		const struct tree *t = list->items[i];

		if (t->kind != TREE_STRING)
			return err_fail(e, ERR_INPUT, BODY ":%u:%u: %s: expected a string, found %s", t->line, t->col,
					key, tree_kind_text(t->kind));
		array_push(ret, t->text);
		array_push(&q->changes, arena_printf(q->arena, "%s %s", key, t->text));
	}
	return ERR_OK;
}

static enum err_code refuse_others(const struct tree *root, struct err *e)
{
	static const char *const known[] = {"kind", "apiVersion", "set", "remove", "drain", "documents", NULL};

	for (uint32_t i = 0; i < root->n; i++) {
		const struct tree_field *f = &root->fields[i];
		uint32_t k = 0;

		while (known[k] && !str_eq(known[k], f->key))
			k++;
		if (!known[k])
			return err_fail(e, ERR_INPUT, BODY ":%u:%u: %s: expected set, remove, drain or documents",
					f->line, f->col, f->key);
	}
	return ERR_OK;
}

static enum err_code take_whatif(struct question *q, const struct tree *root, struct err *e)
{
	const struct tree *documents = tree_get(root, "documents");

	TRY(refuse_others(root, e));
	TRY(take_list(q, root, "set", &q->whatif.set, e));
	TRY(take_list(q, root, "remove", &q->whatif.remove, e));
	TRY(take_list(q, root, "drain", &q->whatif.drain, e));
	if (documents && documents->kind != TREE_STRING && documents->kind != TREE_NULL)
		return err_fail(e, ERR_INPUT, BODY ":%u:%u: documents: expected a string, found %s", documents->line,
				documents->col, tree_kind_text(documents->kind));
	if (documents && documents->kind == TREE_STRING && documents->n) {
		q->documents = documents->text;
		q->n_documents = documents->n;
	}
	return ERR_OK;
}

static bool is_whatif(const struct tree *t)
{
	const struct tree *kind = tree_get(t, "kind");

	return tree_is(kind, TREE_STRING) && str_eq(kind->text, "WhatIf");
}

static enum err_code read_question(struct question *q, const char *body, size_t n, struct err *e)
{
	struct tree_reader *reader = tree_reader_new(BODY, body, n);
	struct tree_doc first = {0}, second = {0};
	enum err_code rc = tree_next(reader, q->arena, &first, e);

	if (!rc && first.root && is_whatif(first.root))
		rc = tree_next(reader, q->arena, &second, e);
	tree_reader_free(reader);
	TRY(rc);
	if (!first.root)
		return err_fail(e, ERR_INPUT, BODY ":1:1: expected settings or objects, found nothing");
	if (second.root)
		return err_fail(e, ERR_INPUT,
				BODY ":%u:%u: expected nothing behind a WhatIf, other documents stand in "
				     "its field documents",
				second.root->line, second.root->col);
	if (is_whatif(first.root)) {
		TRY(take_whatif(q, first.root, e));
	} else {
		q->documents = body;
		q->n_documents = n;
	}
	if (q->documents)
		array_push(&q->changes, "add the documents of the request");
	return ERR_OK;
}

/* ---- the other cluster ---- */

static enum err_code copy_settings(const struct serve_world *w, struct manifest *m, struct err *e)
{
	struct text document = {0};
	enum err_code rc = ERR_OK;

	manifest_set_plugins(m, PLUGINS_TAKEN); /* they are in force already */
	for (uint32_t i = 0; !rc && i < manifest_setting_count(w->manifest); i++) {
		text_reset(&document);
		rc = manifest_write_setting(w->manifest, i, &document, e);
		if (!rc)
			rc = manifest_read_bytes(m, manifest_setting_file(w->manifest, i), text_str(&document),
						 document.n, e);
	}
	manifest_set_plugins(m, PLUGINS_REFUSED);
	text_free(&document);
	return rc;
}

static enum err_code copy_objects(const struct serve_world *w, struct manifest *m, struct err *e)
{
	struct text state = {0};
	struct emit emit;
	enum err_code rc;

	emit_init(&emit, &state, EMIT_JSON_LINE);
	manifest_write(w->cluster, &emit);
	rc = manifest_read_bytes(m, "cluster", text_str(&state), state.n, e);
	text_free(&state);
	return rc;
}

/* What is in force and stands in no document: options of the command line, the switches of a partition. */
static void copy_options(const struct serve_world *w, bool names_profile, const struct other *o)
{
	if (w->has_profile || !names_profile)
		o->config->profile = w->config->profile;
	if (!manifest_adds_queues(o->manifest)) {
		o->config->reclaim_is_off = w->config->reclaim_is_off;
		o->config->quota_is_on = w->config->quota_is_on;
	}
	if (!o->config->n_scheduler_names) {
		o->config->scheduler_names = w->config->scheduler_names;
		o->config->n_scheduler_names = w->config->n_scheduler_names;
	}
	o->config->threads = w->config->threads;
}

static enum err_code other_make(const struct serve_world *w, const struct question *q, struct other *o, struct err *e)
{
	struct cluster_options options;

	o->vocab = vocab_new();
	o->manifest = manifest_new(o->vocab);
	o->config = engine_config_new();
	whatif_begin(&q->whatif, o->manifest);
	TRY(copy_settings(w, o->manifest, e));
	TRY(copy_objects(w, o->manifest, e));
	if (q->documents)
		TRY(manifest_add_bytes(o->manifest, BODY, q->documents, q->n_documents, e));
	TRY(manifest_configure(o->manifest, o->config, e));
	copy_options(w, manifest_names_profile(o->manifest), o);
	TRY(whatif_configure(&q->whatif, o->config, e));
	options = engine_config_cluster_options(o->config, w->now_ns);
	TRY(manifest_build(o->manifest, &options, &o->cluster, e));
	TRY(whatif_apply(&q->whatif, o->manifest, o->cluster, e));
	o->plugins = plugins_load(o->config);
	return ERR_OK;
}

static void other_free(struct other *o)
{
	plugins_free(o->plugins);
	if (o->cluster)
		cluster_free(o->cluster);
	if (o->config)
		engine_config_free(o->config);
	manifest_free(o->manifest);
	if (o->vocab)
		vocab_free(o->vocab);
}

/* ---- the difference ---- */

/* The decisions of one plan; what they were made of is let go. */
static enum err_code plan_side(const struct serve_world *w, struct running_pods *running, struct journal_run *run,
			       struct plan_side *ret, struct err *e)
{
	struct plan_question q = {0};
	struct world_plan p;
	enum err_code rc = world_plan(w, &q, &p, e);

	if (!rc) {
		journal_decisions(&p.view, run);
		if (running)
			running_pods_init(running, &p.view);
		*ret = (struct plan_side){run, p.plan.placed, p.plan.nominated, p.plan.waiting, p.plan.gated};
	}
	world_plan_free(&p);
	return rc;
}

static enum err_code plan_other(const struct serve_world *w, const struct question *q, struct journal_run *run,
				struct plan_side *ret, struct err *e)
{
	struct other o = {0};
	enum err_code rc = other_make(w, q, &o, e);
	struct serve_world there = {.cluster = o.cluster,
				    .config = o.config,
				    .manifest = o.manifest,
				    .plugins = o.plugins,
				    .eviction_history = w->eviction_history,
				    .now_ns = w->now_ns};

	if (!rc)
		rc = plan_side(&there, NULL, run, ret, e);
	other_free(&o);
	return rc;
}

static enum err_code write_difference(const struct serve_world *w, const struct question *q, struct text *out,
				      struct err *e)
{
	struct running_pods running = {0};
	struct plan_difference d = {.changes = q->changes.v, .n_changes = q->changes.n, .running = &running};
	struct journal_run was = {0}, is = {0};
	struct emit emit;
	enum err_code rc = plan_side(w, &running, &was, &d.was, e);

	if (!rc)
		rc = plan_other(w, q, &is, &d.is, e);
	if (!rc) {
		d.now_ns = was.now_ns;
		plan_difference_init(&d);
		emit_init(&emit, out, EMIT_JSON);
		plan_difference_emit(&d, &emit);
		run_diff_free(&d.diff);
	}
	running_pods_free(&running);
	journal_run_free(&was);
	journal_run_free(&is);
	return rc;
}

enum err_code views_whatif(const struct serve_world *w, const char *body, size_t n, struct text *out, struct err *e)
{
	struct question q = {.arena = arena_new(4096)};
	enum err_code rc = read_question(&q, body, n, e);

	if (!rc)
		rc = write_difference(w, &q, out, e);
	whatif_free(&q.whatif);
	array_free(&q.changes);
	arena_free(q.arena);
	return rc;
}

/* ---- documents ---- */

enum err_code views_documents(const struct serve_world *w, struct text *out, struct err *e)
{
	struct config_view v = {.manifest = w->manifest, .config = w->config, .has_profile = w->has_profile};
	struct text queues = {0};
	struct emit emit;

	config_view_text(&v, out);
	emit_init(&emit, &queues, EMIT_YAML);
	manifest_write_queues(w->cluster, &emit);
	if (queues.n)
		text_printf(out, "---\n%s", text_str(&queues));
	text_free(&queues);
	return ERR_OK;
}

enum err_code views_whatif_documents(const struct serve_world *w, const char *body, size_t n, struct text *out,
				     struct err *e)
{
	struct question q = {.arena = arena_new(4096)};
	struct other o = {0};
	enum err_code rc = read_question(&q, body, n, e);

	if (!rc)
		rc = other_make(w, &q, &o, e);
	if (!rc) {
		struct serve_world there = {.cluster = o.cluster, .config = o.config, .manifest = o.manifest};

		rc = views_documents(&there, out, e);
	}
	other_free(&o);
	whatif_free(&q.whatif);
	array_free(&q.changes);
	arena_free(q.arena);
	return rc;
}
