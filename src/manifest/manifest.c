/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read, document by document. Objects are kept with their positions until they are built into a cluster, so
 * that what only shows then (a pod on a node that is not there) can still be said with file and line.
 */
#include "manifest/manifest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "manifest/collect.h"
#include "manifest/object.h"
#include "manifest/tree_ahead.h"

static void drop_yunikorn(struct yunikorn_config *config)
{
	for (uint32_t i = 0; i < config->n; i++)
		queue_spec_free(&config->queues[i].spec);
}

struct manifest *manifest_new(struct vocab *v)
{
	struct manifest *m = mem_alloc(sizeof(*m));

	m->vocab = v;
	m->strings = arena_new(1 << 16);
	m->scratch = arena_new(1 << 14);
	m->document = arena_new(1 << 16);
	m->seen = mem_alloc(object_kind_count * sizeof(*m->seen));
	m->kai_names = name_bag_of(vocab_names(v));
	m->yunikorn.preemption_enabled = true;
	return m;
}

void manifest_free(struct manifest *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->records.n; i++) {
		struct record *r = &m->records.v[i];

		if (r->obj)
			r->kind->drop(m->vocab, r->obj);
		mem_free(r->obj);
	}
	for (uint32_t i = 0; !m->queues_are_built && i < m->kai_queues.n; i++)
		queue_spec_free(&m->kai_queues.v[i].spec);
	if (!m->queues_are_built)
		drop_yunikorn(&m->yunikorn);
	for (size_t i = 0; i < object_kind_count; i++)
		map_free(&m->seen[i]);
	mem_free(m->seen);
	array_free(&m->records);
	array_free(&m->kai_queues);
	map_free(&m->kai_queue_at);
	name_bag_drop(&m->kai_names);
	array_free(&m->settings);
	array_free(&m->texts);
	array_free(&m->workloads);
	array_free(&m->drained);
	array_free(&m->unknown);
	array_free(&m->note_lines);
	text_free(&m->notes);
	arena_free(m->strings);
	shape_memory_free(&m->shapes);
	arena_free(m->scratch);
	arena_free(m->document);
	mem_free(m);
}

static struct place place_of(const struct manifest *m, const struct tree *t)
{
	return (struct place){m->file, t->line, t->col};
}

/* Notes come as text, a line each; people get them as a list. */
static void keep_notes(struct manifest *m)
{
	const char *s = text_str(&m->notes), *end;

	for (; (end = strchr(s, '\n')); s = end + 1)
		array_push(&m->note_lines, arena_strndup(m->strings, s, (size_t)(end - s)));
	text_reset(&m->notes);
}

void manifest_note_at(struct manifest *m, struct place at, const char *fmt, ...)
{
	struct text t = {0};
	va_list ap;

	va_start(ap, fmt);
	text_printf(&t, "%s:%u:%u: ", at.file, at.line, at.col);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	array_push(&m->note_lines, arena_strndup(m->strings, text_str(&t), t.n));
	text_free(&t);
}

/* ---- objects ---- */

#define KAI_API "scheduling.run.ai/"
#define KAI_OTHER_API "scheduling.kai.nvidia.com/"

/* The names of a kind: KAI's two API groups share theirs, because a pod names its PodGroup without the API group. */
static struct map *seen_of(const struct manifest *m, const struct object_kind *k)
{
	size_t i = (size_t)(k - object_kinds);

	for (size_t j = 0; str_eq(k->api, KAI_OTHER_API) && j < object_kind_count; j++)
		if (str_eq(object_kinds[j].kind, k->kind) && str_eq(object_kinds[j].api, KAI_API))
			i = j;
	return &m->seen[i];
}

/* One name, one object: the second is refused and told where the first stands, unless it is to take its place. */
static enum err_code find_place(struct manifest *m, const struct object_kind *k, const void *obj, struct place at,
				uint32_t *ret, struct err *e)
{
	struct map *seen = seen_of(m, k);
	const struct names *names = vocab_names(m->vocab);
	const struct place *first;
	name_id ns, name;

	k->identity(m->vocab, obj, &ns, &name);
	*ret = map_get(seen, map_key2(ns, name));
	if (*ret == MAP_NONE) {
		*ret = m->records.n;
		map_put(seen, map_key2(ns, name), *ret);
		return ERR_OK;
	}
	if ((m->is_adding && !m->records.v[*ret].is_added) || m->records.v[*ret].kind != k)
		return ERR_OK;
	first = &m->records.v[*ret].at;
	return err_fail(e, ERR_INPUT, "%s:%u:%u: %s %s%s%s: metadata.name: already defined at %s:%u:%u", at.file,
			at.line, at.col, k->kind, name_str(names, ns), ns ? "/" : "", name_str(names, name),
			first->file, first->line, first->col);
}

static struct object_source source_of(struct manifest *m)
{
	return (struct object_source){.name = m->file, .notes = &m->notes, .scratch = m->scratch, .shapes = &m->shapes};
}

/* A PodGroup that is in both of KAI's API groups: the one of scheduling.run.ai counts, in whatever order they come. */
static void order_kai(struct manifest *m, struct record *counts, struct record *other)
{
	const struct names *names = vocab_names(m->vocab);
	name_id ns, name;

	if (str_eq(counts->kind->api, KAI_OTHER_API)) {
		struct record swap = *counts;

		*counts = *other;
		*other = swap;
	}
	other->kind->identity(m->vocab, other->obj, &ns, &name);
	manifest_note_at(m, other->at,
			 "%s %s/%s of scheduling.kai.nvidia.com: not used, because scheduling.run.ai has one of this "
			 "name at %s:%u:%u",
			 other->kind->kind, name_str(names, ns), name_str(names, name), counts->at.file,
			 counts->at.line, counts->at.col);
}

static void put_record(struct manifest *m, uint32_t place, const struct record *r)
{
	struct record *old, goes, stays = *r;

	if (place == m->records.n) {
		array_push(&m->records, *r);
		return;
	}
	old = &m->records.v[place];
	goes = *old;
	if (goes.kind != stays.kind && goes.is_added == stays.is_added)
		order_kai(m, &stays, &goes);
	goes.kind->drop(m->vocab, goes.obj);
	mem_free(goes.obj);
	*old = stays;
}

/* One pod that asks for more than can be counted must not keep all others from being planned. */
static void note_lost_pod(struct manifest *m, const struct err *why)
{
	text_printf(&m->notes, "%s; the pod is ignored\n", why->msg);
}

enum err_code manifest_take_object(struct manifest *m, const struct object_kind *k, const struct tree *t, struct err *e)
{
	struct object_source src = source_of(m);
	struct place at = place_of(m, t);
	union any_object o;
	struct record r = {.kind = k, .at = at, .is_added = m->is_adding};
	bool is_pod = str_eq(k->kind, "Pod");
	enum err_code rc;
	uint32_t place;
	struct err why;

	rc = k->read(m->vocab, &src, is_pod ? drain_pod(m, t) : t, &o, &why);
	if (rc == ERR_LIMIT && is_pod) {
		note_lost_pod(m, &why);
		return ERR_OK;
	}
	if (rc) {
		if (e)
			*e = why;
		return rc;
	}
	if (str_eq(k->kind, "Node"))
		drain_node(m, &o.node);
	if (find_place(m, k, &o, at, &place, e)) {
		k->drop(m->vocab, &o);
		return ERR_INPUT;
	}
	r.obj = mem_alloc(k->size);
	memcpy(r.obj, &o, k->size);
	put_record(m, place, &r); /* from here on the object may be gone, but a pod's is not */
	if (is_pod)
		unread_pod(m, r.obj, t);
	else if (!m->is_adding)
		unread_controller(m, k->kind, t);
	return ERR_OK;
}

static enum err_code take_kai_queue(struct manifest *m, const struct tree *t, struct err *e)
{
	struct object_source src = source_of(m);
	struct queue_def def;
	uint32_t before;
	name_id name;

	TRY(manifest_kai_queue(m->vocab, m->strings, &src, t, &def, e));
	name = name_bag_add_str(&m->kai_names, def.kai_name);
	before = map_get(&m->kai_queue_at, name);
	if (before != MAP_NONE && m->is_adding && before < m->first_added_queue) {
		queue_spec_free(&m->kai_queues.v[before].spec);
		m->kai_queues.v[before] = def;
		return ERR_OK;
	}
	if (before != MAP_NONE) {
		queue_spec_free(&def.spec);
		return err_fail(e, ERR_INPUT, "%s: Queue %s: metadata.name: already defined at %s", def.where,
				def.kai_name, m->kai_queues.v[before].where);
	}
	map_put(&m->kai_queue_at, name, m->kai_queues.n);
	array_push(&m->kai_queues, def);
	return ERR_OK;
}

/* There is one, but for ConfigMap yunikorn-defaults, which counts where there is no other. */
static enum err_code take_yunikorn(struct manifest *m, const struct tree *t, struct err *e)
{
	struct object_source src = source_of(m);
	struct yunikorn_config config;

	bool replaces = m->is_adding && !m->yunikorn_is_added;

	if (m->has_yunikorn && m->yunikorn_is_default == m->is_in_defaults && !replaces)
		return err_fail(e, ERR_INPUT,
				"%s:%u:%u: partitions: a second queue configuration; the first is at %s:%u:%u", m->file,
				t->line, t->col, m->yunikorn_at.file, m->yunikorn_at.line, m->yunikorn_at.col);
	TRY(manifest_yunikorn(m->vocab, m->strings, &src, t, &config, e));
	if (m->has_yunikorn && m->is_in_defaults && !replaces) {
		drop_yunikorn(&config);
		return ERR_OK;
	}
	if (m->has_yunikorn)
		drop_yunikorn(&m->yunikorn);
	m->yunikorn = config;
	m->yunikorn_at = place_of(m, t);
	m->has_yunikorn = true;
	m->yunikorn_is_default = m->is_in_defaults;
	m->yunikorn_is_added = m->is_adding;
	return ERR_OK;
}

/* ---- configuration ---- */

static enum err_code apply_setting(struct vocab *v, const struct setting *s, const struct object_source *src,
				   struct engine_config *config, bool *ret_applies, struct err *e)
{
	*ret_applies = true;
	if (s->kind == SETTING_CEDE)
		return manifest_cede_config(src, s->root, config, e);
	if (s->kind == SETTING_KUBE)
		return manifest_kube_config(v, src, s->root, config, e);
	if (s->kind == SETTING_SHARD)
		return manifest_kai_shard(src, s->root, config, ret_applies, e);
	return manifest_kai_config(src, s->root, config, e);
}

/*
 * Settings are kept as read and applied later; they are tried now, so that mistakes and notes come with the document.
 */
static enum err_code try_setting(struct manifest *m, const struct setting *s, bool *ret_applies, struct err *e)
{
	struct object_source src = source_of(m);
	struct engine_config *config = engine_config_new();
	enum err_code rc = apply_setting(m->vocab, s, &src, config, ret_applies, e);

	engine_config_free(config);
	return rc;
}

static struct setting *setting_of(const struct manifest *m, unsigned kind)
{
	for (uint32_t i = 0; i < m->settings.n; i++)
		if (m->settings.v[i].kind == kind)
			return &m->settings.v[i];
	return NULL;
}

/* KAI's operator writes the configuration of a shard into a ConfigMap: where both are read, that counts. */
static void note_shard(struct manifest *m)
{
	const struct setting *shard = setting_of(m, SETTING_SHARD), *config = setting_of(m, SETTING_KAI);

	if (shard && config)
		manifest_note_at(m, (struct place){shard->file, shard->root->line, shard->root->col},
				 "SchedulingShard: not used, because there is a scheduler configuration at %s:%u:%u",
				 config->file, config->root->line, config->root->col);
}

void manifest_set_plugins(struct manifest *m, enum manifest_plugins elsewhere)
{
	m->plugins = elsewhere;
}

/* The same map without one of its fields. */
static const struct tree *tree_without(struct arena *a, const struct tree *t, const char *key)
{
	struct tree_field *f = arena_n(a, t->n + 1, struct tree_field);
	struct tree *c = arena_type(a, struct tree);

	*c = *t;
	c->n = 0;
	c->fields = f;
	for (uint32_t i = 0; i < t->n; i++)
		if (!str_eq(t->fields[i].key, key))
			f[c->n++] = t->fields[i];
	return c;
}

/* A checked CedeConfiguration: what it may not load is taken out, so that nobody sees or records it later. */
static enum err_code check_plugins(struct manifest *m, struct setting *s, struct err *e)
{
	const struct tree *list = tree_get(s->root, "plugins"), *first;

	if (s->kind != SETTING_CEDE || m->plugins == PLUGINS_TAKEN || !tree_is(list, TREE_LIST) || !list->n)
		return ERR_OK;
	first = list->items[0];
	if (m->plugins == PLUGINS_REFUSED)
		return err_fail(e, ERR_INPUT,
				"%s:%u:%u: CedeConfiguration: plugins: %.200s was recorded and would be loaded again, "
				"which --allow-plugins must allow",
				s->file, first->line, first->col,
				tree_is(first, TREE_MAP) ? tree_get(first, "path")->text : first->text);
	manifest_note_at(m, (struct place){s->file, first->line, first->col},
			 "CedeConfiguration: plugins: not loaded: code comes from settings given with --config alone");
	s->root = tree_without(m->strings, s->root, "plugins");
	return ERR_OK;
}

static enum err_code take_setting(struct manifest *m, int kind, const struct tree *t, struct err *e)
{
	struct setting s = {.kind = kind, .file = m->file, .is_added = m->is_adding, .root = tree_copy(m->strings, t)};
	struct setting *first = setting_of(m, (unsigned)kind);
	bool applies;

	if (first && m->keeps_settings)
		return ERR_OK;
	TRY(try_setting(m, &s, &applies, e));
	TRY(check_plugins(m, &s, e));
	if (!applies)
		return ERR_OK;
	if (first && m->is_adding && !first->is_added) {
		*first = s;
		return ERR_OK;
	}
	if (first)
		return err_fail(e, ERR_INPUT, "%s:%u:%u: a second configuration of this kind; the first is at %s:%u:%u",
				m->file, t->line, t->col, first->file, first->root->line, first->root->col);
	array_push(&m->settings, s);
	if (kind == SETTING_SHARD || kind == SETTING_KAI)
		note_shard(m);
	return ERR_OK;
}

/* ---- dispatch ---- */

static void count_unknown(struct manifest *m, const char *api, const char *kind, const struct tree *t)
{
	struct unknown_kind *other = &m->other_unknown;
	char text[200];

	snprintf(text, sizeof(text), "%.80s%s%.80s", api, *api ? " " : "", kind);
	for (uint32_t i = 0; i < m->unknown.n; i++) {
		if (!str_eq(m->unknown.v[i].kind, text))
			continue;
		m->unknown.v[i].count++;
		return;
	}
	if (m->unknown.n == UNKNOWN_KINDS) {
		if (!other->count++)
			other->first = place_of(m, t);
		return;
	}
	struct unknown_kind u = {arena_strndup(m->strings, text, strlen(text)), 1, place_of(m, t)};
	array_push(&m->unknown, u);
}

static bool is_kai_api(const char *api)
{
	return str_starts(api, KAI_API) || str_starts(api, KAI_OTHER_API);
}

bool manifest_reads(const char *kind)
{
	for (size_t i = 0; i < object_kind_count; i++)
		if (str_eq(object_kinds[i].kind, kind))
			return true;
	return str_eq(kind, "Queue");
}

/* Lists hand out their items; what arrives here itself is a list without any. */
static bool is_empty_list(const char *kind, const struct tree *t)
{
	const struct tree *items = tree_get(t, "items");
	size_t n = strlen(kind);

	return n >= 4 && str_eq(kind + n - 4, "List") &&
	       (!items || items->kind == TREE_NULL || (items->kind == TREE_LIST && !items->n));
}

static enum err_code take_kind(struct manifest *m, const char *api, const char *kind, const struct tree *t,
			       struct err *e)
{
	if (is_empty_list(kind, t))
		return ERR_OK;
	if (str_eq(kind, "ConfigMap"))
		return manifest_take_config_map(m, t, e);
	if (str_eq(kind, "Queue") && is_kai_api(api))
		return take_kai_queue(m, t, e);
	if (str_eq(kind, "CedeConfiguration"))
		return take_setting(m, SETTING_CEDE, t, e);
	if (str_eq(kind, "KubeSchedulerConfiguration"))
		return take_setting(m, SETTING_KUBE, t, e);
	if (str_eq(kind, "SchedulingShard") && str_starts(api, "kai.scheduler/"))
		return take_setting(m, SETTING_SHARD, t, e);
	if (m->is_adding && workloads_note(m, api, kind, t) && str_eq(kind, "JobSet"))
		return ERR_OK;
	for (size_t i = 0; i < object_kind_count; i++) {
		const struct object_kind *k = &object_kinds[i];

		if (str_eq(k->kind, kind) && !*api)
			return err_fail(e, ERR_INPUT, "%s:%u:%u: %s: apiVersion: expected %s, found nothing", m->file,
					t->line, t->col, kind, *k->api ? k->api : "one such as v1");
		if (str_eq(k->kind, kind) && str_starts(api, k->api))
			return manifest_take_object(m, k, t, e);
	}
	count_unknown(m, api, kind, t);
	return ERR_OK;
}

/* Documents without a kind: YuniKorn's queues.yaml and KAI's scheduler configuration. */
enum err_code manifest_take_plain(struct manifest *m, const struct tree *t, struct err *e)
{
	if (t->kind == TREE_MAP && tree_get(t, "partitions"))
		return take_yunikorn(m, t, e);
	if (t->kind == TREE_MAP && (tree_get(t, "actions") || tree_get(t, "tiers")))
		return take_setting(m, SETTING_KAI, t, e);
	return err_fail(e, ERR_INPUT,
			"%s:%u:%u: kind: expected an object with apiVersion and kind, a queue configuration with "
			"partitions, or a scheduler configuration with actions and tiers; found %s",
			m->file, t->line, t->col,
			t->kind == TREE_MAP ? "a map with none of these" : tree_kind_text(t->kind));
}

static enum err_code text_field(const struct manifest *m, const struct tree *t, const char *key, const char **ret,
				struct err *e)
{
	const struct tree *f = tree_get(t, key);

	if (!f || f->kind == TREE_NULL)
		return ERR_OK;
	if (f->kind != TREE_STRING)
		return err_fail(e, ERR_INPUT, "%s:%u:%u: %s: expected a string, found %s", m->file, f->line, f->col,
				key, tree_kind_text(f->kind));
	*ret = f->text;
	return ERR_OK;
}

enum err_code manifest_take(struct manifest *m, const struct tree_doc *doc, struct err *e)
{
	const char *kind = doc->list_kind, *api = doc->list_api;

	m->n_documents++;
	TRY(text_field(m, doc->root, "kind", &kind, e));
	TRY(text_field(m, doc->root, "apiVersion", &api, e));
	TRY(*kind ? take_kind(m, api, kind, tree_named(m->document, doc->root, api, kind), e)
		  : manifest_take_plain(m, doc->root, e));
	keep_notes(m);
	return ERR_OK;
}

static void keep_text(struct manifest *m, const char *data, size_t len)
{
	struct read_text t = {m->file, arena_strndup(m->strings, data, len), len, m->plugins};

	array_push(&m->texts, t);
}

enum err_code manifest_read_bytes(struct manifest *m, const char *name, const char *data, size_t len, struct err *e)
{
	struct tree_reader *reader;
	struct tree_ahead *ahead;
	struct tree_doc doc;
	enum err_code rc;
	bool is_empty;
	uint32_t before = m->n_documents;

	m->file = arena_strndup(m->strings, name, strlen(name));
	if (m->keeps_texts)
		keep_text(m, data, len);
	reader = tree_reader_new(m->file, data, len);
	ahead = tree_ahead_new(reader, len);
	for (;;) {
		arena_reset(m->document);
		rc = tree_ahead_next(ahead, &doc, e);
		if (rc || !doc.root)
			break;
		rc = manifest_take(m, &doc, e);
		if (rc)
			break;
	}
	tree_ahead_free(ahead);
	is_empty = m->n_documents == before && !tree_reader_had_list(reader);
	tree_reader_free(reader);
	if (!rc && is_empty)
		return err_fail(e, ERR_INPUT, "%s:1:1: expected at least one object, found an empty file", m->file);
	return rc;
}

void manifest_keep_texts(struct manifest *m)
{
	m->keeps_texts = true;
}

enum err_code manifest_read_again(struct manifest *m, const struct manifest *before, struct err *e)
{
	enum manifest_plugins elsewhere = m->plugins;
	enum err_code rc = ERR_OK;

	for (uint32_t i = 0; !rc && i < before->texts.n; i++) {
		const struct read_text *t = &before->texts.v[i];

		m->plugins = t->plugins;
		rc = manifest_read_bytes(m, t->name, t->data, t->len, e);
	}
	m->plugins = elsewhere;
	return rc;
}

static void begin_adding(struct manifest *m)
{
	if (!m->is_adding)
		m->first_added_queue = m->kai_queues.n;
	m->is_adding = true;
}

static enum err_code end_adding(struct manifest *m, enum err_code rc, struct err *e)
{
	if (!rc)
		rc = workloads_make_pods(m, e);
	keep_notes(m);
	return rc;
}

enum err_code manifest_add(struct manifest *m, const char *path, struct err *e)
{
	begin_adding(m);
	return end_adding(m, manifest_read(m, path, e), e);
}

enum err_code manifest_add_bytes(struct manifest *m, const char *name, const char *data, size_t len, struct err *e)
{
	begin_adding(m);
	return end_adding(m, manifest_read_bytes(m, name, data, len, e), e);
}

bool manifest_adds_queues(const struct manifest *m)
{
	return m->yunikorn_is_added;
}

/* ---- building ---- */

static enum err_code build_queues(struct manifest *m, struct cluster *c, struct err *e)
{
	if (m->has_yunikorn) {
		TRY(cluster_put_queues(c, FROM_YUNIKORN, m->yunikorn.queues, m->yunikorn.n, e));
		TRY(cluster_put_placement(c, m->yunikorn.rules, m->yunikorn.n_rules, e));
	}
	if (m->kai_queues.n)
		TRY(cluster_put_queues(c, FROM_KAI, m->kai_queues.v, m->kai_queues.n, e));
	m->queues_are_built = true;
	return ERR_OK;
}

/* Only pods can be too much: all together ask for more than can be counted. False: it is an error. */
static bool looks_past(struct manifest *m, struct record *r, const struct err *why)
{
	if (why->code != ERR_LIMIT || !str_eq(r->kind->kind, "Pod"))
		return false;
	manifest_note_at(m, r->at, "%s; the pod is ignored", why->msg);
	r->kind->drop(m->vocab, r->obj);
	return true;
}

static enum err_code build_objects(struct manifest *m, struct cluster *c, uint32_t rank, struct err *e)
{
	for (uint32_t i = 0; i < m->records.n; i++) {
		struct record *r = &m->records.v[i];
		struct err why;

		if (r->kind->rank != rank)
			continue;
		if (r->kind->put(c, r->obj, &why) && !looks_past(m, r, &why)) {
			if (e)
				*e = why;
			err_wrap(e, "%s:%u:%u: ", r->at.file, r->at.line, r->at.col);
			return ERR_INPUT;
		}
		mem_free(r->obj);
		r->obj = NULL;
	}
	return ERR_OK;
}

static enum err_code build_all(struct manifest *m, struct cluster *c, struct err *e)
{
	enum { QUEUES_AFTER = 1, LAST_RANK = 6 };

	for (uint32_t rank = 0; rank <= LAST_RANK; rank++) {
		TRY(build_objects(m, c, rank, e));
		if (rank == QUEUES_AFTER)
			TRY(build_queues(m, c, e));
	}
	return ERR_OK;
}

static bool asks_for_namespaces(const struct pod_terms *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->terms[i].has_ns_selector && !selector_is_empty(&t->terms[i].ns_selector))
			return true;
	return false;
}

/* The labels of namespaces are easily forgotten, and nothing fails without them. */
static void note_namespaces(struct manifest *m)
{
	const struct record *first = NULL;

	for (uint32_t i = 0; i < m->records.n; i++) {
		const struct record *r = &m->records.v[i];
		const struct obj_pod *pod = r->obj;
		const struct shape *s;

		if (str_eq(r->kind->kind, "Namespace"))
			return;
		if (first || !pod || !str_eq(r->kind->kind, "Pod"))
			continue;
		s = shape_get(m->vocab, pod->shape);
		if (asks_for_namespaces(&s->affinity) || asks_for_namespaces(&s->anti_affinity) ||
		    asks_for_namespaces(&s->preferred_affinity) || asks_for_namespaces(&s->preferred_anti_affinity))
			first = r;
	}
	if (first)
		manifest_note_at(
			m, first->at,
			"Pod %s: a namespaceSelector, but no Namespace was read: of namespaces only the names are "
			"known",
			name_str(vocab_names(m->vocab), ((const struct obj_pod *)first->obj)->name));
}

static bool has_claims(const struct pod_volumes *v)
{
	for (uint32_t i = 0; v && i < v->n; i++)
		if (pod_volume_is_claim(&v->v[i]))
			return true;
	return false;
}

/* Claims are as easily forgotten, and then every pod that has one waits. */
static void note_claims(struct manifest *m)
{
	const struct record *first = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->records.n; i++) {
		const struct record *r = &m->records.v[i];
		const struct obj_pod *pod = r->obj;

		if (str_eq(r->kind->kind, "PersistentVolumeClaim"))
			return;
		if (!pod || !str_eq(r->kind->kind, "Pod") || pod->node_name || !has_claims(pod->volumes))
			continue;
		first = first ? first : r;
		n++;
	}
	if (first)
		manifest_note_at(m, first->at,
				 "Pod %s: it has claims, but no PersistentVolumeClaim was read: it waits%s",
				 name_str(vocab_names(m->vocab), ((const struct obj_pod *)first->obj)->name),
				 n > 1 ? ", and so do others" : "");
}

/* "cpu 6 of 4", for every type of which the pods on the node take more than it has. */
static void overbooked_text(const struct manifest *m, const struct ledger *l, node_id id, struct text *out)
{
	const int64_t *has = ledger_node_allocatable(l, id), *used = ledger_node_used(l, id);
	const struct res_types *types = vocab_res(m->vocab);
	bool says_pods = res_has(&ledger_node(l, id)->obj->allocatable, RES_PODS);

	for (res_id r = 0; r < types->n; r++) {
		if (used[r] <= has[r] || (r == RES_PODS && !says_pods))
			continue;
		text_printf(out, "%s%s ", out->n ? ", " : "", res_type_name(types, r));
		res_amount_text(r, used[r], out);
		text_add(out, " of ");
		res_amount_text(r, has[r], out);
	}
}

static struct place node_place(const struct manifest *m, name_id name)
{
	for (size_t k = 0; k < object_kind_count; k++) {
		uint32_t i = str_eq(object_kinds[k].kind, "Node") ? map_get(&m->seen[k], map_key2(NAME_NONE, name))
								  : MAP_NONE;

		if (i != MAP_NONE)
			return m->records.v[i].at;
	}
	return (struct place){"", 0, 0};
}

/* Odd but real: a kubelet that lost room, or pods that were bound past the scheduler. */
static void note_overbooked(struct manifest *m, struct cluster *c)
{
	const struct ledger *l = cluster_ledger(c);
	struct text words = {0};

	for (node_id id = 0; id < ledger_node_limit(l); id++) {
		const struct ledger_node *n = ledger_node(l, id);

		text_reset(&words);
		if (n->is_live)
			overbooked_text(m, l, id, &words);
		if (words.n)
			manifest_note_at(m, node_place(m, n->name),
					 "Node %s: status.allocatable: its pods take more than it has: %s",
					 name_str(vocab_names(m->vocab), n->name), text_str(&words));
	}
	text_free(&words);
}

static void note_unknown(struct manifest *m)
{
	for (uint32_t i = 0; i < m->unknown.n; i++) {
		const struct unknown_kind *u = &m->unknown.v[i];

		if (str_eq(u->kind, "cede.dev/v1 Scenario") || str_eq(u->kind, "Scenario"))
			continue; /* who simulates reads it himself; beside it stand objects of its cluster */
		manifest_note_at(m, u->first, "%s is not a kind cede reads; %u skipped", u->kind, u->count);
	}
	m->unknown.n = 0;
	if (m->other_unknown.count)
		manifest_note_at(m, m->other_unknown.first,
				 "more kinds that cede does not read; %u objects of them skipped",
				 m->other_unknown.count);
	m->other_unknown.count = 0;
}

/* The objects are the cluster's by now, and all has been said that needs their places. */
static void forget_records(struct manifest *m)
{
	m->has_built = m->has_built || m->records.n > 0;
	array_free(&m->records);
	for (size_t i = 0; i < object_kind_count; i++)
		map_free(&m->seen[i]);
	shape_memory_free(&m->shapes);
	arena_reset(m->scratch);
	arena_reset(m->document);
}

enum { MANY_PODS = 10000 }; /* from here on it pays to tell the system what is free again */

enum err_code manifest_build(struct manifest *m, const struct cluster_options *o, struct cluster **ret, struct err *e)
{
	struct cluster *c = cluster_new(m->vocab, o);
	enum err_code rc;
	const char *warning;

	note_namespaces(m); /* building takes the pods */
	note_claims(m);
	rc = build_all(m, c, e);
	if (rc) {
		cluster_free(c);
		return rc;
	}
	while ((warning = cluster_next_warning(c)))
		array_push(&m->note_lines, arena_strndup(m->strings, warning, strlen(warning)));
	budgets_count(m, c);
	note_overbooked(m, c);
	note_unknown(m);
	config_map_notes(m);
	unread_notes(m);
	forget_records(m);
	cluster_trim(c);
	if (ledger_pod_limit(cluster_ledger(c)) >= MANY_PODS)
		mem_trim();
	*ret = c;
	return ERR_OK;
}

enum err_code manifest_configure(const struct manifest *m, struct engine_config *config, struct err *e)
{
	if (m->has_yunikorn) {
		config->reclaim_is_off = !m->yunikorn.preemption_enabled;
		config->quota_is_on = m->yunikorn.quota_preemption_enabled;
	}
	for (unsigned kind = SETTING_SHARD; kind <= SETTING_CEDE; kind++) {
		const struct setting *s = setting_of(m, kind);
		struct object_source src = {.name = s ? s->file : ""};
		bool applies;

		if (s && (kind != SETTING_SHARD || !setting_of(m, SETTING_KAI)))
			TRY(apply_setting(m->vocab, s, &src, config, &applies, e));
	}
	return ERR_OK;
}

uint32_t manifest_note_count(const struct manifest *m)
{
	return m->note_lines.n;
}

const char *manifest_note(const struct manifest *m, uint32_t i)
{
	return m->note_lines.v[i];
}
