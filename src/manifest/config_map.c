/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ConfigMaps that hold settings. Every tenant may write ConfigMaps, of any name, into his own namespaces: so only
 * certain names count, in the namespaces that belong to a scheduler. What merely looks like settings is passed over.
 */
#include "manifest/collect.h"
#include "manifest/object.h"

static const struct {
	const char *name, *key;
} settings_maps[] = {
	{"yunikorn-configs", "queues.yaml"},
	{"yunikorn-defaults", "queues.yaml"},
	{"scheduler-config", "config.yaml"},	  /* of KAI's chart */
	{"kai-scheduler-default", "config.yaml"}, /* which its operator writes for the default shard */
	{"cede", "cede.yaml"},			  /* ours */
};
enum { MAPS = sizeof(settings_maps) / sizeof(*settings_maps) };

/* Where YuniKorn and KAI are installed unless told otherwise, and where schedulers are at home. */
static const char *const scheduler_namespaces[] = {"yunikorn", "kai-scheduler", "kube-system", NULL};

void manifest_set_namespace(struct manifest *m, const char *ns)
{
	m->settings_namespace = ns;
}

static bool is_our_namespace(const struct manifest *m, const char *ns)
{
	if (m->settings_namespace)
		return str_eq(ns, m->settings_namespace);
	return words_find(scheduler_namespaces, ns) >= 0;
}

static bool is_setting(const char *map_name, const char *key)
{
	for (size_t i = 0; i < MAPS; i++)
		if (str_eq(map_name, settings_maps[i].name) && str_eq(key, settings_maps[i].key))
			return true;
	return false;
}

/* ---- what looks like settings ---- */

static bool has_line(const char *text, const char *begins)
{
	for (const char *s = text; (s = strstr(s, begins)); s++)
		if (s == text || s[-1] == '\n')
			return true;
	return false;
}

/* Others call things config.yaml, too: KAI's has actions or tiers. It is not parsed: nobody knows whose it is. */
static bool looks_like_setting(const char *map_name, const struct tree_field *f)
{
	if (str_eq(f->key, "queues.yaml"))
		return str_starts(map_name, "yunikorn-");
	if (str_eq(f->key, "cede.yaml"))
		return true;
	if (!str_eq(f->key, "config.yaml"))
		return false;
	return is_setting(map_name, f->key) ||
	       (f->value->kind == TREE_STRING &&
		(has_line(f->value->text, "actions:") || has_line(f->value->text, "tiers:")));
}

static void pass_over(struct manifest *m, const struct place *at, const char *ns, const char *name, const char *key)
{
	if (m->passed_maps++)
		return;
	manifest_note_at(m, *at,
			 "ConfigMap %.100s/%.100s: %s is ignored: settings are the ConfigMaps cede, "
			 "yunikorn-configs, yunikorn-defaults, scheduler-config and kai-scheduler-default of namespace "
			 "yunikorn, "
			 "kai-scheduler or kube-system, or of --settings-namespace",
			 ns, name, key);
	m->passed_map = *at;
}

void config_map_notes(struct manifest *m)
{
	if (m->passed_maps > 1)
		manifest_note_at(m, m->passed_map, "and %u more ConfigMaps that look like settings are ignored",
				 m->passed_maps - 1);
	m->passed_maps = 0;
}

/* ---- what is settings ---- */

/* Our own map holds documents as files do; a ConfigMap in it is not opened in turn. */
static enum err_code take_document(struct manifest *m, const struct tree_doc *doc, bool is_own, struct err *e)
{
	const struct tree *kind = tree_get(doc->root, "kind");

	if (!is_own)
		return manifest_take_plain(m, doc->root, e);
	if (!str_eq(tree_is(kind, TREE_STRING) ? kind->text : doc->list_kind, "ConfigMap"))
		return manifest_take(m, doc, e);
	manifest_note_at(m, (struct place){m->file, doc->root->line, doc->root->col},
			 "a ConfigMap in a ConfigMap is not read");
	return ERR_OK;
}

/* A text inside a ConfigMap is a document of its own; its positions count from its first line. */
static enum err_code take_inner(struct manifest *m, const struct tree *text, const char *key, const char *map_name,
				struct err *e)
{
	const char *outer = m->file;
	struct arena *doc_arena = arena_new(1 << 14);
	struct tree_reader *reader;
	struct tree_doc doc;
	enum err_code rc = ERR_OK;

	m->file = arena_printf(m->strings, "%s:%u (ConfigMap %s, %s)", outer, text->line, map_name, key);
	m->is_in_defaults = str_eq(map_name, "yunikorn-defaults");
	reader = tree_reader_new(m->file, text->text, text->n);
	while (!(rc = tree_next(reader, doc_arena, &doc, e)) && doc.root)
		if ((rc = take_document(m, &doc, str_eq(map_name, "cede"), e)))
			break;
	tree_reader_free(reader);
	arena_free(doc_arena);
	m->file = outer;
	m->is_in_defaults = false;
	return rc;
}

static enum err_code take_entry(struct manifest *m, const struct reader *r, const struct at *data, const char *key,
				const char *map_name, struct err *e)
{
	struct at value = at_field(data, key);

	TRY(at_want(r, &value, TREE_STRING, e));
	return value.t && value.t->n ? take_inner(m, value.t, key, map_name, e) : ERR_OK;
}

enum err_code manifest_take_config_map(struct manifest *m, const struct tree *t, struct err *e)
{
	struct object_source src = {.name = m->file, .notes = &m->notes, .scratch = m->scratch};
	struct reader r = object_reader(m->vocab, &src);
	struct at root = at_root(t), data = at_field(&root, "data");
	struct place at = {m->file, t->line, t->col};
	const char *ns, *name;

	TRY(get_identity(&r, &root, "ConfigMap", "default", &ns, &name, e));
	TRY(at_want(&r, &data, TREE_MAP, e));
	for (uint32_t i = 0; data.t && i < data.t->n; i++) {
		const struct tree_field *f = &data.t->fields[i];

		if (is_our_namespace(m, ns) && is_setting(name, f->key))
			TRY(take_entry(m, &r, &data, f->key, name, e));
		else if (looks_like_setting(name, f))
			pass_over(m, &at, ns, name, f->key);
	}
	if (tree_get(t, "binaryData") && is_our_namespace(m, ns))
		at_note(&r, &root, "binaryData is not read");
	return ERR_OK;
}
