/* SPDX-License-Identifier: Apache-2.0 */
/* KAI's scheduler configuration: actions, tiers of plugins with arguments, and how deep actions look into queues. */
#include <stdio.h>

#include "manifest/kai_fields.h"

#define SUBJECT "scheduler configuration"

static enum err_code read_action(const struct reader *r, const struct at *a, const char *s, size_t len,
				 struct kai_settings *ret, struct err *e)
{
	char text[64];
	struct tree here = {.kind = TREE_STRING, .text = text};
	struct at part = {.up = a->up, .t = &here, .key = a->key};
	int word;

	assert(a->t);
	here.line = a->t->line;
	here.col = a->t->col;
	here.n = (uint32_t)snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1), s);
	word = words_find(kai_action_words, text);
	if (word < 0)
		return at_word_expected(r, &part, kai_action_words, e);
	for (uint32_t i = 0; i < ret->n_actions; i++)
		if (ret->actions[i] == kai_action(word)) {
			at_note(r, a, "%s is listed twice, and runs once", text);
			return ERR_OK;
		}
	ret->actions[ret->n_actions++] = kai_action(word);
	return ERR_OK;
}

/* "allocate, reclaim": names with commas between. None at all: those it has. */
static enum err_code read_actions(const struct reader *r, const struct at *root, struct kai_settings *ret,
				  struct err *e)
{
	struct at a = at_field(root, "actions");
	const char *s = "";

	TRY(get_text(r, root, "actions", &s, e));
	s += strspn(s, " ");
	if (*s)
		ret->n_actions = 0;
	while (*s) {
		size_t n = strcspn(s, ","), len = n;

		while (len && s[len - 1] == ' ')
			len--;
		TRY(read_action(r, &a, s, len, ret, e));
		s += n + (s[n] == ',');
		s += strspn(s, " ");
	}
	return ERR_OK;
}

/* ---- tiers ---- */

/* Beside name and arguments there are switches, which KAI reads and does not use. */
static enum err_code check_plugin_keys(const struct reader *r, const struct at *a, struct err *e)
{
	static const char *const keys[] = {"name", "arguments", NULL};
	bool flag;

	for (uint32_t i = 0; i < a->t->n; i++) {
		const struct tree_field *f = &a->t->fields[i];

		if (!strncmp(f->key, "disable", 7))
			TRY(get_flag(r, a, f->key, &flag, e));
		else if (words_find(keys, f->key) < 0)
			return at_only(r, a, keys, e);
	}
	return ERR_OK;
}

static enum err_code read_plugin(const struct reader *r, const struct at *a, unsigned *used, struct engine_config *c,
				 struct err *e)
{
	struct at name = at_field(a, "name"), arguments = at_field(a, "arguments");
	int plugin;

	if (!tree_is(a->t, TREE_MAP))
		return at_expected(r, a, e, "a plugin");
	TRY(check_plugin_keys(r, a, e));
	if (!tree_is(name.t, TREE_STRING) || !name.t->n)
		return at_expected(r, &name, e, "the name of a plugin");
	plugin = kai_plugin(r, &name, name.t->text);
	if (kai_has_arguments(plugin) && *used >> plugin & 1u)
		at_note(r, a, "%s is listed twice; the last one counts", name.t->text);
	if (plugin >= 0)
		*used |= 1u << plugin;
	return kai_arguments(r, &arguments, plugin, c, e);
}

static enum err_code read_tiers(const struct reader *r, const struct at *root, struct engine_config *c, struct err *e)
{
	static const char *const keys[] = {"plugins", NULL};
	struct at tiers, plugins;
	unsigned used = 0;

	TRY(get_list(r, root, "tiers", &tiers, e));
	if (at_count(&tiers) == 0)
		return ERR_OK;
	for (uint32_t i = 0; i < at_count(&tiers); i++) {
		struct at tier = at_item(&tiers, i);

		TRY(at_only(r, &tier, keys, e));
		TRY(get_list(r, &tier, "plugins", &plugins, e));
		for (uint32_t k = 0; k < at_count(&plugins); k++) {
			struct at plugin = at_item(&plugins, k);

			TRY(read_plugin(r, &plugin, &used, c, e));
		}
	}
	kai_left_out(r, &tiers, used, c);
	return ERR_OK;
}

enum err_code manifest_kai_config(const struct object_source *src, const struct tree *t, struct engine_config *config,
				  struct err *e)
{
	static const char *const keys[] = {"actions", "tiers", "queueDepthPerAction", "usageDBConfig", NULL};
	struct reader r = config_reader(src, SUBJECT);
	struct engine_config c = *config;
	struct at root = at_root(t), depths = at_field(&root, "queueDepthPerAction"),
		  usage = at_field(&root, "usageDBConfig");

	TRY(at_only(&r, &root, keys, e));
	TRY(read_actions(&r, &root, &c.kai, e));
	TRY(at_want(&r, &usage, TREE_MAP, e));
	TRY(kai_depths(&r, &depths, &c, e));
	TRY(read_tiers(&r, &root, &c, e));
	*config = c;
	return ERR_OK;
}
