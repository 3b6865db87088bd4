/* SPDX-License-Identifier: Apache-2.0 */
/* CedeConfiguration: strict, because a slip in a configuration that decides who has to go must not pass unnoticed. */
#include <stdio.h>

#include "manifest/config_fields.h"
#include "units/duration.h"

#define SUBJECT "CedeConfiguration"

static const char *const profile_words[] = {"default", "kubernetes", "yunikorn", "kai", NULL};

static enum err_code read_opt_out(const struct reader *r, const struct at *rules, struct engine_config *c,
				  struct err *e)
{
	static const char *const modes[] = {"soft", "hard", NULL};
	struct at a = at_field(rules, "opt-out");
	int mode = (int)c->opt_out;

	TRY(get_word(r, &a, "mode", modes, &mode, e));
	c->opt_out = (enum opt_out_mode)mode;
	return ERR_OK;
}

static enum err_code read_guarantee(const struct reader *r, const struct at *rules, struct engine_config *c,
				    struct err *e)
{
	static const char *const types[] = {"short", "all", NULL};
	struct at a = at_field(rules, "guarantee");
	int which = (int)c->guarantee_types;

	TRY(get_word(r, &a, "types", types, &which, e));
	c->guarantee_types = (enum guarantee_types)which;
	return ERR_OK;
}

static enum err_code read_preemptibility(const struct reader *r, const struct at *rules, struct engine_config *c,
					 struct err *e)
{
	static const char *const reaches[] = {"kai", "all", "off", NULL};
	struct at a = at_field(rules, "preemptibility"), threshold = at_field(&a, "threshold"),
		  reach = at_field(&a, "reach");
	int which = (int)c->preemptibility_reach;

	TRY(get_int32(r, &a, "threshold", &c->preemptibility_threshold, e));
	TRY(get_word(r, &a, "reach", reaches, &which, e));
	c->preemptibility_reach = (enum preemptibility_reach)which;
	if (reach.t && which == REACH_OFF && threshold.t)
		return at_fail(r, &threshold, e, "contradicts reach: off, with which no threshold has an effect");
	return ERR_OK;
}

/* A duration that is positive, if it is there. */
static enum err_code read_span(const struct reader *r, const struct at *parent, const char *key, int64_t *ret_ns,
			       struct err *e)
{
	struct at a = at_field(parent, key);
	const char *text = NULL;
	int64_t ns;
	struct err why;

	TRY(get_scalar(r, parent, key, &text, e));
	if (!text)
		return ERR_OK;
	if (duration_parse(text, strlen(text), true, &ns, &why) || ns <= 0)
		return at_expected(r, &a, e, "a duration above 0, for example 10m");
	*ret_ns = ns;
	return ERR_OK;
}

/* Work that is evicted again and again. 0 evictions: the rule is off. */
static enum err_code read_thrash(const struct reader *r, const struct at *rules, struct engine_config *c, struct err *e)
{
	struct at a = at_field(rules, "thrash"), hard_at = at_field(&a, "hard");
	int64_t soft = c->thrash.soft, hard = c->thrash.hard;

	TRY(get_int(r, &a, "soft", 0, 1000, &soft, e));
	TRY(get_int(r, &a, "hard", 0, 1000, &hard, e));
	TRY(read_span(r, &a, "window", &c->thrash.window_ns, e));
	TRY(read_span(r, &a, "protection", &c->thrash.protection_ns, e));
	if (hard != 0 && hard < soft)
		return at_fail(r, &hard_at, e, "contradicts soft: work is spared before it is protected");
	c->thrash.soft = (uint32_t)soft;
	c->thrash.hard = (uint32_t)hard;
	return ERR_OK;
}

static enum err_code read_rate(const struct reader *r, const struct at *rules, struct engine_config *c, struct err *e)
{
	struct at a = at_field(rules, "eviction-rate");
	int64_t n = c->evictions_per_hour;

	TRY(get_int(r, &a, "perHour", 0, 1000000, &n, e));
	c->evictions_per_hour = (uint32_t)n;
	return ERR_OK;
}

static enum err_code read_min_runtime(const struct reader *r, const struct at *rules, struct engine_config *c,
				      struct err *e)
{
	struct at a = at_field(rules, "min-runtime");

	return get_bool(r, &a, "consolidation", &c->min_runtime_covers_consolidation, e);
}

/* How the settings of a rule are read; which there are says the table of rules. */
static enum err_code (*const readers[RULE_COUNT])(const struct reader *, const struct at *, struct engine_config *,
						  struct err *) = {
	[RULE_OPT_OUT] = read_opt_out, [RULE_GUARANTEE] = read_guarantee, [RULE_PREEMPTIBILITY] = read_preemptibility,
	[RULE_THRASH] = read_thrash,   [RULE_EVICTION_RATE] = read_rate,  [RULE_MIN_RUNTIME] = read_min_runtime,
};

/* Its fields, one by one, into keys; what is between blanks in the table. */
static void setting_keys(enum rule_id rule, char *buf, size_t size, const char **keys, size_t max)
{
	size_t n = 0;
	char *rest;

	snprintf(buf, size, "%s", rule_settings_text(rule));
	for (char *key = strtok_r(buf, " ", &rest); key && n + 1 < max; key = strtok_r(NULL, " ", &rest))
		keys[n++] = key;
	keys[n] = NULL;
}

static enum err_code read_rules(const struct reader *r, const struct at *root, struct engine_config *c, struct err *e)
{
	const char *names[RULE_COUNT + 1] = {NULL}, *keys[16];
	struct at rules = at_field(root, "rules");
	char buf[128];
	size_t n = 0;

	for (enum rule_id i = RULE_NONE; i < RULE_COUNT; i++)
		if (*rule_settings_text(i))
			names[n++] = rule_text(i);
	TRY(at_only(r, &rules, names, e));
	for (enum rule_id i = RULE_NONE; i < RULE_COUNT; i++) {
		struct at a = at_field(&rules, rule_text(i));

		if (!*rule_settings_text(i))
			continue;
		setting_keys(i, buf, sizeof(buf), keys, sizeof(keys) / sizeof(*keys));
		TRY(at_only(r, &a, keys, e));
		TRY(readers[i](r, &rules, c, e));
	}
	return ERR_OK;
}

/* By what work may reclaim is the point of some profiles, or not there at all. */
static enum err_code check_reclaim(const struct reader *r, const struct at *reclaim, enum profile p, enum reclaim_by by,
				   struct err *e)
{
	struct at a = at_field(reclaim, "by");

	if (!profile_has_action(p, ACTION_RECLAIM))
		return at_fail(r, reclaim, e, "contradicts profile: %s, which does not reclaim", profile_text(p));
	if (p != PROFILE_DEFAULT && by != profile_get(p)->reclaim_by)
		return at_fail(r, &a, e, "contradicts profile: %s, which reclaims by %s", profile_text(p),
			       profile_get(p)->reclaim_by == RECLAIM_GUARANTEE ? "guarantee" : "fair-share");
	return ERR_OK;
}

/* How long after the time they should have gone leaving pods are still counted on. */
static enum err_code read_patience(const struct reader *r, const struct at *reclaim, struct engine_config *c,
				   struct err *e)
{
	struct at a = at_field(reclaim, "patience");
	const char *text = NULL;
	struct err why;

	TRY(get_scalar(r, reclaim, "patience", &text, e));
	if (!text)
		return ERR_OK;
	if (duration_parse(text, strlen(text), true, &c->patience_ns, &why))
		return at_fail(r, &a, e, "%s", why.msg);
	return c->patience_ns < 0 ? at_fail(r, &a, e, "\"%.40s\" is negative", text) : ERR_OK;
}

/* How a daemon asks victims to go: nothing decides by it. */
static enum err_code read_eviction(const struct reader *r, const struct at *root, struct engine_config *c,
				   struct err *e)
{
	static const char *const keys[] = {"through", NULL}, *const words[] = {"delete", "eviction", NULL};
	struct at eviction = at_field(root, "eviction");
	int which = c->evicts_through_api;

	TRY(at_only(r, &eviction, keys, e));
	TRY(get_word(r, &eviction, "through", words, &which, e));
	c->evicts_through_api = which == 1;
	return ERR_OK;
}

static enum err_code read_actions(const struct reader *r, const struct at *root, struct engine_config *c, struct err *e)
{
	static const char *const keys[] = {"reclaim", NULL}, *const reclaim_keys[] = {"by", "patience", NULL},
				 *const words[] = {"guarantee", "fair-share", NULL};
	struct at actions = at_field(root, "actions"), reclaim = at_field(&actions, "reclaim"),
		  by = at_field(&reclaim, "by"), profile = at_field(root, "profile");
	int which = (int)c->reclaim_by;

	TRY(at_only(r, &actions, keys, e));
	TRY(at_only(r, &reclaim, reclaim_keys, e));
	TRY(get_word(r, &reclaim, "by", words, &which, e));
	c->reclaim_by = (enum reclaim_by)which;
	TRY(read_patience(r, &reclaim, c, e));
	return by.t && profile.t ? check_reclaim(r, &reclaim, c->profile, c->reclaim_by, e) : ERR_OK;
}

static enum err_code read_scheduler_names(const struct reader *r, const struct at *root, struct engine_config *c,
					  struct err *e)
{
	struct at list = at_field(root, "schedulerNames");

	TRY(get_texts(r, root, "schedulerNames", c->arena, &c->scheduler_names, &c->n_scheduler_names, e));
	for (uint32_t i = 1; i < at_count(&list); i++) {
		struct at name = at_item(&list, i);

		for (uint32_t k = 0; k < i; k++)
			if (str_eq(c->scheduler_names[k], c->scheduler_names[i]))
				return at_fail(r, &name, e, "\"%.60s\" is listed twice", c->scheduler_names[i]);
	}
	return ERR_OK;
}

/* ---- what KAI's scheduler has as flags ---- */

static enum err_code read_kai(const struct reader *r, const struct at *root, struct kai_settings *k, struct err *e)
{
	static const char *const keys[] = {"stalenessGracePeriod", "maxConsolidationPreemptees",
					   "allowConsolidatingReclaim", NULL};
	struct at kai = at_field(root, "kai"), grace = at_field(&kai, keys[0]);
	bool allows = !k->forbids_consolidating_reclaim;
	int64_t most = k->max_consolidation_preemptees;
	const char *text = NULL;
	struct err why;

	TRY(at_only(r, &kai, keys, e));
	TRY(get_scalar(r, &kai, keys[0], &text, e));
	if (text && duration_parse(text, strlen(text), true, &k->staleness_grace_ns, &why))
		return at_fail(r, &grace, e, "%s", why.msg);
	TRY(get_int(r, &kai, keys[1], -1, INT32_MAX, &most, e));
	k->max_consolidation_preemptees = (int32_t)most;
	TRY(get_bool(r, &kai, keys[2], &allows, e));
	k->forbids_consolidating_reclaim = !allows;
	return ERR_OK;
}

/* ---- plugins ---- */

static enum err_code read_args(const struct reader *r, const struct at *plugin, struct arena *arena,
			       struct plugin_file *ret, struct err *e)
{
	struct at args = at_field(plugin, "args");
	const char **keys, **values;

	TRY(at_want(r, &args, TREE_MAP, e));
	if (!args.t)
		return ERR_OK;
	keys = arena_n(arena, args.t->n + 1, const char *);
	values = arena_n(arena, args.t->n + 1, const char *);
	for (uint32_t i = 0; i < args.t->n; i++) {
		struct at a = at_nth_field(&args, i);

		if (!scalar_text(a.t))
			return at_expected(r, &a, e, "a string, a number, true or false");
		keys[i] = arena_strndup(arena, a.key, strlen(a.key));
		values[i] = arena_strndup(arena, a.t->text, a.t->n);
	}
	ret->n_args = args.t->n;
	ret->arg_keys = keys;
	ret->arg_values = values;
	return ERR_OK;
}

static enum err_code read_plugin(const struct reader *r, const struct at *a, struct arena *arena,
				 struct plugin_file *ret, struct err *e)
{
	static const char *const keys[] = {"path", "args", NULL};
	struct at path = tree_is(a->t, TREE_STRING) ? *a : at_field(a, "path");

	if (!tree_is(a->t, TREE_STRING) && !tree_is(a->t, TREE_MAP))
		return at_expected(r, a, e, "the path of a plugin, or a map with path and args");
	if (a->t->kind == TREE_MAP)
		TRY(at_only(r, a, keys, e));
	if (!tree_is(path.t, TREE_STRING) || !path.t->n)
		return at_expected(r, &path, e, "the path of a plugin");
	ret->path = arena_strndup(arena, path.t->text, path.t->n);
	ret->where = arena_printf(arena, "%s:%u:%u", r->file, a->t->line, a->t->col);
	return a->t->kind == TREE_MAP ? read_args(r, a, arena, ret, e) : ERR_OK;
}

static enum err_code read_plugins(const struct reader *r, const struct at *root, struct engine_config *c, struct err *e)
{
	struct at list;
	struct plugin_file *plugins;

	TRY(get_list(r, root, "plugins", &list, e));
	if (!list.t)
		return ERR_OK;
	plugins = arena_n(c->arena, list.t->n + 1, struct plugin_file);
	for (uint32_t i = 0; i < list.t->n; i++) {
		struct at a = at_item(&list, i);

		TRY(read_plugin(r, &a, c->arena, &plugins[i], e));
		for (uint32_t k = 0; k < i; k++)
			if (str_eq(plugins[k].path, plugins[i].path))
				return at_fail(r, &a, e, "\"%.100s\" is listed twice; the first is at %s",
					       plugins[i].path, plugins[k].where);
	}
	c->n_plugins = list.t->n;
	c->plugins = plugins;
	return ERR_OK;
}

enum err_code manifest_cede_config(const struct object_source *src, const struct tree *t, struct engine_config *config,
				   struct err *e)
{
	static const char *const keys[] = {"apiVersion", "kind",    "profile", "schedulerNames", "rules",
					   "actions",	 "plugins", "kai",     "eviction",	 NULL},
				 *const versions[] = {"cede.dev/v1", NULL}, *const kinds[] = {SUBJECT, NULL};
	struct reader r = config_reader(src, SUBJECT);
	struct engine_config c = *config;
	struct at root = at_root(t);
	int profile = (int)c.profile, only = 0;

	TRY(at_only(&r, &root, keys, e));
	TRY(get_word(&r, &root, "apiVersion", versions, &only, e));
	TRY(get_word(&r, &root, "kind", kinds, &only, e));
	TRY(get_word(&r, &root, "profile", profile_words, &profile, e));
	c.profile = (enum profile)profile;
	TRY(read_scheduler_names(&r, &root, &c, e));
	TRY(read_rules(&r, &root, &c, e));
	TRY(read_actions(&r, &root, &c, e));
	TRY(read_eviction(&r, &root, &c, e));
	TRY(read_plugins(&r, &root, &c, e));
	TRY(read_kai(&r, &root, &c.kai, e));
	*config = c;
	return ERR_OK;
}
