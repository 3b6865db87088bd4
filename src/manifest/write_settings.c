/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings as they were read, not as they were understood: a record of them stays good when a later version of the
 * program knows more settings, or reads one in another way.
 */
#include "base/emit.h"
#include "manifest/collect.h"
#include "manifest/tree.h"

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

	if (tree_is_deep(s->root))
		return err_fail(e, ERR_LIMIT, "%s:%u:%u: settings nested more than %d deep cannot be recorded", s->file,
				s->root->line, s->root->col, TREE_EMIT_DEPTH);
	emit_init(&emit, out, EMIT_YAML);
	tree_emit(&emit, NULL, s->root);
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
	return m->records.n || m->has_built || m->kai_queues.n || m->has_yunikorn;
}

void manifest_keep_settings(struct manifest *m)
{
	m->keeps_settings = true;
}
