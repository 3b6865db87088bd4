/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KAI's scheduler configuration: actions, and tiers of plugins with arguments. KAI ends on an action it does not know,
 * and goes on with a word in the log where a plugin or a value is strange; so do we, with a note.
 */
#include <stdio.h>

#include "manifest/config_fields.h"
#include "units/duration.h"

#define SUBJECT "scheduler configuration"

static const char *const action_words[] = {"allocate", "consolidation",	    "reclaim",
					   "preempt",  "stalegangeviction", NULL};

static const char *const plugin_words[] = {
	"predicates",	    "proportion",      "priority",
	"elastic",	    "kubeflow",	       "ray",
	"nodeavailability", "gpusharingorder", "gpupack",
	"gpuspread",	    "resourcetype",    "podaffinity",
	"subgrouporder",    "taskorder",       "nominatednode",
	"dynamicresources", "nodeplacement",   "minruntime",
	"topology",	    "snapshot",	       NULL,
};

static enum err_code check_action(const struct reader *r, const struct at *a, const char *word, size_t len,
				  struct err *e)
{
	char text[64];
	struct tree here = {.kind = TREE_STRING, .line = a->t->line, .col = a->t->col, .text = text};
	struct at part = {.up = a->up, .t = &here, .key = a->key};

	here.n = (uint32_t)snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1),
				    word);
	return words_find(action_words, text) < 0 ? at_word_expected(r, &part, action_words, e) : ERR_OK;
}

/* "allocate, reclaim": names with commas between. */
static enum err_code check_actions(const struct reader *r, const struct at *root, struct err *e)
{
	struct at a = at_field(root, "actions");
	const char *s = "";

	TRY(get_text(r, root, "actions", &s, e));
	s += strspn(s, " ");
	while (*s) {
		size_t n = strcspn(s, ","), len = n;

		while (len && s[len - 1] == ' ')
			len--;
		TRY(check_action(r, &a, s, len, e));
		s += n + (s[n] == ',');
		s += strspn(s, " ");
	}
	return ERR_OK;
}

static enum err_code check_depths(const struct reader *r, const struct at *root, struct err *e)
{
	struct at depths = at_field(root, "queueDepthPerAction"), usage = at_field(root, "usageDBConfig");
	int64_t depth;

	TRY(at_want(r, &usage, TREE_MAP, e));
	TRY(at_want(r, &depths, TREE_MAP, e));
	for (uint32_t i = 0; depths.t && i < depths.t->n; i++) {
		struct at a = at_nth_field(&depths, i);

		TRY(get_int(r, &depths, a.key, INT32_MIN, INT32_MAX, &depth, e));
		if (words_find(action_words, a.key) < 0)
			at_note(r, &a, "not an action");
	}
	return ERR_OK;
}

/* ---- minruntime ---- */

/* MR-12: what is no duration, or a negative one, is reported, and the default is used. */
static void min_runtime(const struct reader *r, const struct at *a, const char *text, int64_t *ret_ns)
{
	struct err why;
	int64_t ns;

	*ret_ns = 0;
	if (duration_parse(text, strlen(text), true, &ns, &why))
		at_note(r, a, "%s; the default 0s is used", why.msg);
	else if (ns < 0)
		at_note(r, a, "\"%.40s\" is negative; the default 0s is used", text);
	else
		*ret_ns = ns;
}

static void resolve_method(const struct reader *r, const struct at *a, const char *text, enum reclaim_resolve *ret)
{
	static const char *const words[] = {"lca", "queue", NULL};
	int word = *text ? words_find(words, text) : RESOLVE_LCA;

	if (word < 0)
		at_note(r, a, "\"%.40s\" is neither lca nor queue; the default lca is used", text);
	*ret = word == RESOLVE_QUEUE ? RESOLVE_QUEUE : RESOLVE_LCA;
}

static void min_runtime_argument(const struct reader *r, const struct at *a, struct engine_config *c)
{
	static const char *const words[] = {"defaultPreemptMinRuntime", "defaultReclaimMinRuntime",
					    "reclaimResolveMethod", NULL};
	const char *text = a->t->kind == TREE_NULL ? "" : scalar_text(a->t), *near_word;

	switch (words_find(words, a->key)) {
	case 0:
		min_runtime(r, a, text, &c->min_runtime.preempt_ns);
		return;
	case 1:
		min_runtime(r, a, text, &c->min_runtime.reclaim_ns);
		return;
	case 2:
		resolve_method(r, a, text, &c->min_runtime.resolve);
		return;
	}
	near_word = nearest_word(a->key, words);
	at_note(r, a, "not an argument of minruntime%s%s%s", near_word ? "; did you mean \"" : "",
		near_word ? near_word : "", near_word ? "\"?" : "");
}

/* ---- tiers ---- */

static enum err_code read_arguments(const struct reader *r, const struct at *plugin, bool is_min_runtime,
				    struct engine_config *c, struct err *e)
{
	struct at arguments = at_field(plugin, "arguments");

	TRY(at_want(r, &arguments, TREE_MAP, e));
	for (uint32_t i = 0; arguments.t && i < arguments.t->n; i++) {
		struct at a = at_nth_field(&arguments, i);

		if (a.t->kind != TREE_NULL && !scalar_text(a.t))
			return at_expected(r, &a, e, "a string");
		if (is_min_runtime)
			min_runtime_argument(r, &a, c);
	}
	return ERR_OK;
}

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

static enum err_code read_plugin(const struct reader *r, const struct at *a, bool *has_min_runtime,
				 struct engine_config *c, struct err *e)
{
	struct at name = at_field(a, "name");
	bool is_min_runtime;

	if (!tree_is(a->t, TREE_MAP))
		return at_expected(r, a, e, "a plugin");
	TRY(check_plugin_keys(r, a, e));
	if (!tree_is(name.t, TREE_STRING) || !name.t->n)
		return at_expected(r, &name, e, "the name of a plugin");
	is_min_runtime = str_eq(name.t->text, "minruntime");
	if (words_find(plugin_words, name.t->text) < 0) {
		const char *near_word = nearest_word(name.t->text, plugin_words);

		at_note(r, &name, "no plugin is called \"%.60s\"%s%s%s", name.t->text,
			near_word ? "; did you mean \"" : "", near_word ? near_word : "", near_word ? "\"?" : "");
	}
	if (is_min_runtime && *has_min_runtime)
		at_note(r, a, "minruntime is listed twice; the last one counts");
	*has_min_runtime |= is_min_runtime;
	return read_arguments(r, a, is_min_runtime, c, e);
}

static enum err_code read_tiers(const struct reader *r, const struct at *root, struct engine_config *c, struct err *e)
{
	static const char *const keys[] = {"plugins", NULL};
	struct at tiers, plugins;
	bool has_min_runtime = false;

	TRY(get_list(r, root, "tiers", &tiers, e));
	for (uint32_t i = 0; i < at_count(&tiers); i++) {
		struct at tier = at_item(&tiers, i);

		TRY(at_only(r, &tier, keys, e));
		TRY(get_list(r, &tier, "plugins", &plugins, e));
		for (uint32_t k = 0; k < at_count(&plugins); k++) {
			struct at plugin = at_item(&plugins, k);

			TRY(read_plugin(r, &plugin, &has_min_runtime, c, e));
		}
	}
	return ERR_OK;
}

enum err_code manifest_kai_config(const struct object_source *src, const struct tree *t, struct engine_config *config,
				  struct err *e)
{
	static const char *const keys[] = {"actions", "tiers", "queueDepthPerAction", "usageDBConfig", NULL};
	struct reader r = config_reader(src, SUBJECT);
	struct engine_config c = *config;
	struct at root = at_root(t);

	TRY(at_only(&r, &root, keys, e));
	TRY(check_actions(&r, &root, e));
	TRY(check_depths(&r, &root, e));
	TRY(read_tiers(&r, &root, &c, e));
	*config = c;
	return ERR_OK;
}
