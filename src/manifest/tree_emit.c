/* SPDX-License-Identifier: Apache-2.0 */
/* Trees as they were read, not as they were understood. */
#include "base/emit.h"
#include "manifest/tree.h"

static bool is_too_deep(const struct tree *t, int depth)
{
	if (depth > TREE_EMIT_DEPTH)
		return true;
	for (uint32_t i = 0; t->kind == TREE_MAP && i < t->n; i++)
		if (is_too_deep(t->fields[i].value, depth + 1))
			return true;
	for (uint32_t i = 0; t->kind == TREE_LIST && i < t->n; i++)
		if (is_too_deep(t->items[i], depth + 1))
			return true;
	return false;
}

bool tree_is_deep(const struct tree *t)
{
	return is_too_deep(t, 0);
}

void tree_emit(struct emit *e, const char *key, const struct tree *t)
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
			tree_emit(e, NULL, t->items[i]);
		emit_end(e);
		break;
	case TREE_MAP:
		emit_object(e, key);
		for (uint32_t i = 0; i < t->n; i++)
			tree_emit(e, t->fields[i].key, t->fields[i].value);
		emit_end(e);
		break;
	}
}
