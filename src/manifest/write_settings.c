/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings as they were read, not as they were understood: a record of them stays good when a later version of the
 * program knows more settings, or reads one in another way.
 */
#include "base/emit.h"
#include "manifest/collect.h"

enum { DEPTH_MAX = 60 }; /* an emitter has 64 levels; no setting is as deep as ten */

static bool is_too_deep(const struct tree *t, int depth)
{
	if (depth > DEPTH_MAX)
		return true;
	for (uint32_t i = 0; t->kind == TREE_MAP && i < t->n; i++)
		if (is_too_deep(t->fields[i].value, depth + 1))
			return true;
	for (uint32_t i = 0; t->kind == TREE_LIST && i < t->n; i++)
		if (is_too_deep(t->items[i], depth + 1))
			return true;
	return false;
}

static void write_tree(struct emit *e, const char *key, const struct tree *t)
{
	switch (t->kind) {
	case TREE_NULL:
		emit_str(e, key, NULL);
		break;
	case TREE_BOOL:
		emit_bool(e, key, t->truth);
		break;
	case TREE_NUMBER:
		emit_plain(e, key, t->text);
		break;
	case TREE_STRING:
		emit_str(e, key, t->text);
		break;
	case TREE_LIST:
		emit_list(e, key);
		for (uint32_t i = 0; i < t->n; i++)
			write_tree(e, NULL, t->items[i]);
		emit_end(e);
		break;
	case TREE_MAP:
		emit_object(e, key);
		for (uint32_t i = 0; i < t->n; i++)
			write_tree(e, t->fields[i].key, t->fields[i].value);
		emit_end(e);
		break;
	}
}

uint32_t manifest_setting_count(const struct manifest *m)
{
	return m->settings.n;
}

const char *manifest_setting_file(const struct manifest *m, uint32_t i)
{
	return m->settings.v[i].file;
}

enum err_code manifest_write_setting(const struct manifest *m, uint32_t i, struct text *out, struct err *e)
{
	const struct setting *s = &m->settings.v[i];
	struct emit emit;

	if (is_too_deep(s->root, 0))
		return err_fail(e, ERR_LIMIT, "%s:%u:%u: settings nested more than %d deep cannot be recorded", s->file,
				s->root->line, s->root->col, DEPTH_MAX);
	emit_init(&emit, out, EMIT_YAML);
	write_tree(&emit, NULL, s->root);
	return ERR_OK;
}

bool manifest_names_profile(const struct manifest *m)
{
	for (uint32_t i = 0; i < m->settings.n; i++)
		if (m->settings.v[i].kind == SETTING_CEDE && tree_get(m->settings.v[i].root, "profile"))
			return true;
	return false;
}

bool manifest_has_objects(const struct manifest *m)
{
	return m->records.n || m->kai_queues.n || m->has_yunikorn;
}

void manifest_keep_settings(struct manifest *m)
{
	m->keeps_settings = true;
}
