/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_changes.h"

#include <string.h>

#include "base/emit.h"
#include "manifest/fields.h"
#include "manifest/manifest.h"
#include "units/timestamp.h"

enum kept_kind { KEPT_NODE, KEPT_BUDGET, KEPT_CLASS, KEPT_NAMESPACE, KEPT_KAI_QUEUE, KEPT_QUEUES };
static const char *const kept_kinds[] = {
	"Node", "PodDisruptionBudget", "PriorityClass", "Namespace", "Queue", "ConfigMap", NULL};

/* ---- one object ---- */

static const char *text_at(const struct tree *t, const char *key)
{
	const struct tree *x = tree_get(t, key);

	return tree_is(x, TREE_STRING) ? x->text : "";
}

/* "" if it holds none. */
static const char *queues_of(const struct tree *t)
{
	return text_at(tree_get(t, "data"), "queues.yaml");
}

static int kind_of(const struct tree *t)
{
	int kind = words_find(kept_kinds, text_at(t, "kind"));

	return kind == KEPT_QUEUES && !*queues_of(t) ? -1 : kind;
}

static char *written(const struct tree *t)
{
	struct text out = {0};
	struct emit e;
	char *s;

	emit_init(&e, &out, EMIT_YAML);
	tree_emit(&e, NULL, t);
	s = mem_strdup(text_str(&out));
	text_free(&out);
	return s;
}

/* Without its status, which says what the pods say. */
static char *written_budget(const struct tree *t)
{
	struct text out = {0};
	struct emit e;
	char *s;

	emit_init(&e, &out, EMIT_YAML);
	emit_object(&e, NULL);
	for (uint32_t i = 0; i < t->n; i++)
		if (!str_eq(t->fields[i].key, "status"))
			tree_emit(&e, t->fields[i].key, t->fields[i].value);
	emit_end(&e);
	s = mem_strdup(text_str(&out));
	text_free(&out);
	return s;
}

static struct kept_object *find_or_add(struct trace_changes *c, int kind, const struct tree *t)
{
	const struct tree *metadata = tree_get(t, "metadata");
	const char *ns = text_at(metadata, "namespace"), *name = text_at(metadata, "name");
	struct text key = {0};
	name_id id;
	uint32_t i;

	text_printf(&key, "%s %s%s%s", kept_kinds[kind], ns, *ns ? "/" : "", name);
	id = names_hold(c->names, key.s, key.n);
	text_free(&key);
	i = map_get(&c->by_name, id);
	if (i == MAP_NONE) {
		struct kept_object new = {.kind = kind, .name = strchr(name_str(c->names, id), ' ') + 1};

		i = c->objects.n;
		map_put(&c->by_name, id, i);
		array_push(&c->objects, new);
	}
	return &c->objects.v[i];
}

static void note_change(struct trace_changes *c, const struct kept_object *x)
{
	if (c->passes_over_queues && x->kind >= KEPT_KAI_QUEUE)
		return;
	c->n_changed++;
	if (x->kind == KEPT_KAI_QUEUE)
		c->has_kai_changes = true;
	else
		text_printf(x->kind == KEPT_QUEUES ? &c->queues : &c->documents, "---\n%s", x->object);
}

static enum err_code see_object(struct trace_changes *c, const char *path, const struct tree *t, struct err *e)
{
	int kind = kind_of(t);
	struct kept_object *x;
	char *says;
	bool is_same;

	if (kind < 0)
		return ERR_OK;
	if (tree_is_deep(t))
		return err_fail(e, ERR_LIMIT, "%s:%u:%u: nested more than %d deep", path, t->line, t->col,
				TREE_EMIT_DEPTH);
	x = find_or_add(c, kind, t);
	says = kind == KEPT_BUDGET ? written_budget(t) : written(t);
	is_same = x->says && str_eq(x->says, says) && !x->is_gone;
	mem_free(x->says);
	mem_free(x->object);
	x->says = says;
	x->object = kind == KEPT_QUEUES ? mem_strdup(queues_of(t)) : written(t);
	x->seen = c->n_clusters;
	x->is_gone = false;
	if (!is_same && c->n_clusters > 1)
		note_change(c, x);
	return ERR_OK;
}

/* ---- one cluster ---- */

static enum err_code see_all(struct trace_changes *c, const char *path, const char *state, struct err *e)
{
	struct tree_reader *r = tree_reader_new(path, state, strlen(state));
	struct arena *a = arena_new(1 << 14);
	enum err_code rc = ERR_OK;

	while (!rc) {
		struct tree_doc doc;

		arena_reset(a);
		rc = tree_next(r, a, &doc, e);
		if (rc || !doc.root)
			break;
		rc = see_object(c, path, doc.root, e);
	}
	arena_free(a);
	tree_reader_free(r);
	return rc;
}

static void add_event(struct trace_changes *c, enum sim_event_kind kind, const char *name, int64_t at_ns,
		      const char *where)
{
	struct sim_event ev = {.at_ns = at_ns, .kind = kind, .name = name, .where = where};

	array_push(&c->events, ev);
}

/* Classes and namespaces that are gone harm nobody: what was read of them stays. */
static void see_gone(struct trace_changes *c, int64_t at_ns, const char *where)
{
	for (uint32_t i = 0; i < c->objects.n; i++) {
		struct kept_object *x = &c->objects.v[i];

		if (x->is_gone || x->seen == c->n_clusters)
			continue;
		x->is_gone = true;
		if (x->kind == KEPT_NODE)
			add_event(c, SIM_NODE_FAILS, x->name, at_ns, where);
		else if (x->kind == KEPT_BUDGET)
			add_event(c, SIM_BUDGET_REMOVED, x->name, at_ns, where);
		else if (x->kind == KEPT_KAI_QUEUE && !c->passes_over_queues)
			c->has_kai_changes = true;
		else
			continue;
		c->n_gone++;
	}
}

static void add_kai_queues(struct trace_changes *c)
{
	for (uint32_t i = 0; c->has_kai_changes && i < c->objects.n; i++)
		if (c->objects.v[i].kind == KEPT_KAI_QUEUE && !c->objects.v[i].is_gone)
			text_printf(&c->queues, "---\n%s", c->objects.v[i].object);
}

static const char *where_text(struct trace_changes *c, const char *path, int64_t at_ns)
{
	struct text at = {0};
	const char *s;

	timestamp_text(at_ns, &at);
	s = arena_printf(c->arena, "%s: its cluster of %s", path, text_str(&at));
	text_free(&at);
	return s;
}

enum err_code trace_changes_see(struct trace_changes *c, const char *path, const char *state, int64_t at_ns,
				struct err *e)
{
	const char *where;

	if (!c->arena) {
		c->arena = arena_new(1 << 14);
		c->names = names_new();
	}
	c->n_clusters++;
	c->has_kai_changes = false;
	text_reset(&c->documents);
	text_reset(&c->queues);
	where = where_text(c, path, at_ns);
	TRY(see_all(c, path, state, e));
	see_gone(c, at_ns, where);
	add_kai_queues(c);
	text_add(&c->documents, text_str(&c->queues));
	if (!c->documents.n)
		return ERR_OK;
	add_event(c, SIM_CHANGE, "", at_ns, where);
	array_last(&c->events).text = arena_strndup(c->arena, c->documents.s, c->documents.n);
	array_last(&c->events).len = c->documents.n;
	array_last(&c->events).has_all_queues = true;
	return ERR_OK;
}

void trace_changes_free(struct trace_changes *c)
{
	for (uint32_t i = 0; i < c->objects.n; i++) {
		mem_free(c->objects.v[i].says);
		mem_free(c->objects.v[i].object);
	}
	array_free(&c->objects);
	array_free(&c->events);
	map_free(&c->by_name);
	text_free(&c->documents);
	text_free(&c->queues);
	if (c->arena) {
		arena_free(c->arena);
		names_free(c->names);
	}
	*c = (struct trace_changes){0};
}
