/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_change.h"

#include "base/emit.h"
#include "manifest/manifest.h"
#include "sim/sim_helps.h"

struct change { /* one event, document by document */
	struct sim *s;
	struct object_source src;
	struct arena *arena;
	ARRAY(struct queue_def) kai;
	struct engine_config *config; /* new settings; NULL: they stay */
};

/* ---- settings ---- */

/* A copy to read more into. What the old one points to stays the old one's, which outlives it. */
static struct engine_config *config_on_top(struct sim *s)
{
	struct arena *arena = arena_new(4096);
	struct engine_config *c = arena_type(arena, struct engine_config);

	*c = s->own_config ? *s->own_config : *s->o.config;
	c->arena = arena;
	c->bag = name_bag_of(s->names);
	return c;
}

static enum err_code read_settings(struct change *c, const struct tree *t, struct err *e)
{
	if (!c->config)
		c->config = config_on_top(c->s);
	return manifest_cede_config(&c->src, t, c->config, e);
}

/* The new engine knows nothing of what the old one learned. Who does not say since when he runs runs on. */
static enum err_code take_settings(struct change *c, struct err *e)
{
	struct sim *s = c->s;
	struct cluster_options o = engine_config_cluster_options(c->config, cluster_get_options(s->cluster)->now_ns);
	struct engine *engine = engine_new(s->cluster, c->config, s->o.plugins, s->o.n_plugins, e);

	if (!engine)
		return ERR_INPUT;
	engine_free(s->engine);
	s->engine = engine;
	if (s->own_config)
		array_push(&s->old_configs, s->own_config);
	s->own_config = c->config;
	c->config = NULL;
	helps_see_settings(s);
	cluster_set_options(s->cluster, &o);
	return ERR_OK;
}

/* ---- objects ---- */

static enum err_code put_queues(struct change *c, const struct tree *t, struct err *e)
{
	struct yunikorn_config y = {0};
	enum err_code rc = manifest_yunikorn(c->s->vocab, c->arena, &c->src, t, &y, e);

	if (!rc)
		rc = cluster_put_queues(c->s->cluster, FROM_YUNIKORN, y.queues, y.n, e);
	return rc ? rc : cluster_put_placement(c->s->cluster, y.rules, y.n_rules, e);
}

static enum err_code put_kai_queue(struct change *c, const struct tree *t, struct err *e)
{
	struct queue_def d = {0};
	enum err_code rc = manifest_kai_queue(c->s->vocab, c->arena, &c->src, t, &d, e);

	if (!rc)
		array_push(&c->kai, d);
	return rc;
}

/* They are objects of their own: who changes one says nothing of the others. */
static bool is_changed(const struct change *c, const char *name)
{
	for (uint32_t i = 0; i < c->kai.n; i++)
		if (str_eq(c->kai.v[i].kai_name, name))
			return true;
	return false;
}

static enum err_code keep_queue(struct change *c, const struct tree *t, struct err *e)
{
	const struct tree *kind = tree_get(t, "kind"), *name = tree_get(tree_get(t, "metadata"), "name");

	if (!tree_is(kind, TREE_STRING) || !str_eq(kind->text, "Queue") || !tree_is(name, TREE_STRING) ||
	    is_changed(c, name->text))
		return ERR_OK;
	return put_kai_queue(c, t, e);
}

static enum err_code keep_other_queues(struct change *c, struct err *e)
{
	struct text now = {0};
	struct tree_reader *reader;
	struct tree_doc doc = {0};
	struct emit out;
	enum err_code rc;

	emit_init(&out, &now, EMIT_YAML);
	manifest_write_queues(c->s->cluster, &out);
	reader = tree_reader_new("queues", text_str(&now), now.n);
	for (rc = tree_next(reader, c->arena, &doc, e); !rc && doc.root; rc = tree_next(reader, c->arena, &doc, e)) {
		rc = keep_queue(c, doc.root, e);
		if (rc)
			break;
	}
	tree_reader_free(reader);
	text_free(&now);
	return rc;
}

#define PUT(name)                                                                              \
	static enum err_code put_##name(struct change *c, const struct tree *t, struct err *e) \
	{                                                                                      \
		struct obj_##name o = {0};                                                     \
		enum err_code rc = manifest_##name(c->s->vocab, &c->src, t, &o, e);            \
                                                                                               \
		if (rc)                                                                        \
			return rc;                                                             \
		rc = cluster_put_##name(c->s->cluster, &o, e);                                 \
		if (rc)                                                                        \
			obj_##name##_drop(c->s->vocab, &o);                                    \
		return rc;                                                                     \
	}
PUT(node)
PUT(pdb)
PUT(class)
PUT(namespace)

static const struct {
	const char *kind;
	enum err_code (*put)(struct change *c, const struct tree *t, struct err *e);
} kinds[] = {
	{"CedeConfiguration", read_settings}, {"Queue", put_kai_queue},	    {"Node", put_node},
	{"PodDisruptionBudget", put_pdb},     {"PriorityClass", put_class}, {"Namespace", put_namespace},
};

static enum err_code change_document(struct change *c, const struct tree *t, struct err *e)
{
	const struct tree *kind = tree_get(t, "kind");

	if (tree_get(t, "partitions"))
		return put_queues(c, t, e);
	for (unsigned i = 0; tree_is(kind, TREE_STRING) && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_eq(kinds[i].kind, kind->text))
			return kinds[i].put(c, t, e);
	return err_fail(e, ERR_INPUT,
			"%s:%u:%u: kind: expected partitions, or one of CedeConfiguration, Queue, Node, "
			"PodDisruptionBudget, PriorityClass and Namespace, found '%s'",
			c->src.name, t->line, t->col, tree_is(kind, TREE_STRING) ? kind->text : "");
}

static enum err_code change_all(struct change *c, const struct sim_event *ev, struct err *e)
{
	struct tree_reader *reader = tree_reader_new(c->src.name, ev->text, ev->len);
	struct tree_doc doc = {0};
	enum err_code rc;

	for (rc = tree_next(reader, c->arena, &doc, e); !rc && doc.root; rc = tree_next(reader, c->arena, &doc, e)) {
		rc = change_document(c, doc.root, e);
		if (rc)
			break;
	}
	tree_reader_free(reader);
	if (!rc && c->kai.n && !ev->has_all_queues)
		rc = keep_other_queues(c, e);
	if (!rc && c->kai.n)
		rc = cluster_put_queues(c->s->cluster, FROM_KAI, c->kai.v, c->kai.n, e);
	return !rc && c->config ? take_settings(c, e) : rc;
}

enum err_code sim_change(struct sim *s, const struct sim_event *ev, struct err *e)
{
	struct change c = {.s = s, .arena = arena_new(1 << 14)};
	enum err_code rc;

	c.src.name = ev->where ? ev->where : "change";
	rc = change_all(&c, ev, e);
	if (c.config)
		engine_config_free(c.config);
	array_free(&c.kai);
	arena_free(c.arena);
	return rc;
}
