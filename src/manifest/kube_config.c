/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeSchedulerConfiguration v1: profiles with their plugins and arguments. Read as strictly as kube-scheduler does;
 * what has no meaning for cede (leader election, connections, parallelism, how many nodes to score) is checked and
 * passed over. Whether a plugin exists is for the framework to say.
 */
#include <inttypes.h>
#include <stdio.h>

#include "manifest/kube_args.h"

#define SUBJECT "KubeSchedulerConfiguration"

/* As enum plugin_point; behind them those that cede does not have. */
static const char *const point_keys[] = {
	[POINT_MULTI] = "multiPoint",
	[POINT_PRE_ENQUEUE] = "preEnqueue",
	[POINT_QUEUE_SORT] = "queueSort",
	[POINT_PRE_FILTER] = "preFilter",
	[POINT_FILTER] = "filter",
	[POINT_POST_FILTER] = "postFilter",
	[POINT_PRE_SCORE] = "preScore",
	[POINT_SCORE] = "score",
	[POINT_RESERVE] = "reserve",
	[POINT_PERMIT] = "permit",
	[POINT_PRE_BIND] = "preBind",
	[POINT_BIND] = "bind",
	[POINT_POST_BIND] = "postBind",
	"placementGenerate",
	"placementScore",
	"podGroupPostFilter",
	NULL,
};

/* ---- plugins ---- */

static enum err_code plugin_ref(const struct reader *r, const struct at *a, bool is_enabled, struct arena *arena,
				struct plugin_ref *ret, struct err *e)
{
	static const char *const keys[] = {"name", "weight", NULL};
	struct at name = at_field(a, "name");
	const char *text = "";
	int64_t weight = 0;

	if (!tree_is(a->t, TREE_MAP))
		return at_expected(r, a, e, "a map with the name of a plugin");
	TRY(at_only(r, a, keys, e));
	TRY(get_text(r, a, "name", &text, e));
	TRY(get_int(r, a, "weight", 0, INT32_MAX, &weight, e));
	if (!*text || (is_enabled && str_eq(text, "*")))
		return at_expected(r, &name, e, "the name of a plugin");
	assert(name.t);
	*ret = (struct plugin_ref){arena_strndup(arena, text, strlen(text)), (int32_t)weight,
				   arena_printf(arena, "%s:%u:%u", r->file, name.t->line, name.t->col)};
	return ERR_OK;
}

static enum err_code plugin_refs(const struct reader *r, const struct at *point, bool is_enabled, struct arena *arena,
				 const struct plugin_ref **ret, uint32_t *ret_n, struct err *e)
{
	struct plugin_ref *refs;
	struct at list;

	TRY(get_list(r, point, is_enabled ? "enabled" : "disabled", &list, e));
	refs = arena_n(arena, at_count(&list) + 1, struct plugin_ref);
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i), name = at_field(&a, "name");

		TRY(plugin_ref(r, &a, is_enabled, arena, &refs[i], e));
		for (uint32_t k = 0; k < i; k++)
			if (str_eq(refs[k].name, refs[i].name))
				return at_fail(r, &name, e, "\"%.60s\" is listed twice", refs[i].name);
	}
	*ret = refs;
	*ret_n = at_count(&list);
	return ERR_OK;
}

static enum err_code read_plugins(const struct reader *r, const struct at *profile, struct arena *arena,
				  struct kube_profile *ret, struct err *e)
{
	static const char *const keys[] = {"enabled", "disabled", NULL};
	struct at plugins = at_field(profile, "plugins");

	TRY(at_only(r, &plugins, point_keys, e));
	for (int i = 0; point_keys[i]; i++) {
		struct at point = at_field(&plugins, point_keys[i]);
		struct plugin_set set = {0};

		TRY(at_only(r, &point, keys, e));
		TRY(plugin_refs(r, &point, true, arena, &set.enabled, &set.n_enabled, e));
		TRY(plugin_refs(r, &point, false, arena, &set.disabled, &set.n_disabled, e));
		if (i < POINT_COUNT)
			ret->points[i] = set;
		else if (set.n_enabled)
			at_note(r, &point, "not used: cede has no such extension point");
	}
	return ERR_OK;
}

static enum err_code read_plugin_config(const struct reader *r, const struct at *profile, struct engine_config *c,
					struct plugin_args *ret, struct err *e)
{
	static const char *const keys[] = {"name", "args", NULL};
	struct at list;

	TRY(get_list(r, profile, "pluginConfig", &list, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i), name = at_field(&a, "name");

		TRY(at_only(r, &a, keys, e));
		if (!tree_is(name.t, TREE_STRING) || !name.t->n)
			return at_expected(r, &name, e, "the name of a plugin");
		for (uint32_t k = 0; k < i; k++)
			if (str_eq(map_text(list.t->items[k], "name"), name.t->text))
				return at_fail(r, &name, e, "\"%.60s\" is listed twice", name.t->text);
		TRY(kube_plugin_args(r, &a, c, ret, e));
	}
	return ERR_OK;
}

/* ---- profiles ---- */

static enum err_code read_profile(const struct reader *r, const struct at *a, bool is_only, struct engine_config *c,
				  struct kube_profile *ret, struct err *e)
{
	static const char *const keys[] = {"schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig",
					   NULL};
	struct at name = at_field(a, "schedulerName");
	const char *text = is_only ? "default-scheduler" : "";
	int64_t percentage = 0;

	if (!tree_is(a->t, TREE_MAP))
		return at_expected(r, a, e, "a profile");
	TRY(at_only(r, a, keys, e));
	TRY(get_text(r, a, "schedulerName", &text, e));
	if (!*text)
		return at_expected(r, &name, e, "the name of a scheduler");
	TRY(get_int(r, a, "percentageOfNodesToScore", 0, 100, &percentage, e));
	ret->scheduler_name = arena_strndup(c->arena, text, strlen(text));
	plugin_args_default(&ret->args);
	TRY(read_plugins(r, a, c->arena, ret, e));
	return read_plugin_config(r, a, c, &ret->args, e);
}

static bool refs_equal(const struct plugin_ref *a, uint32_t n_a, const struct plugin_ref *b, uint32_t n_b)
{
	if (n_a != n_b)
		return false;
	for (uint32_t i = 0; i < n_a; i++)
		if (!str_eq(a[i].name, b[i].name))
			return false;
	return true;
}

/* All profiles share the one queue of waiting pods, so they must agree on its order. */
static bool sorts_equal(const struct kube_profile *a, const struct kube_profile *b)
{
	const struct plugin_set *x = &a->points[POINT_QUEUE_SORT], *y = &b->points[POINT_QUEUE_SORT];

	return refs_equal(x->enabled, x->n_enabled, y->enabled, y->n_enabled) &&
	       refs_equal(x->disabled, x->n_disabled, y->disabled, y->n_disabled);
}

static enum err_code check_together(const struct reader *r, const struct at *list, const struct kube_profile *p,
				    uint32_t i, struct err *e)
{
	struct at a = at_item(list, i), name = at_field(&a, "schedulerName"), plugins = at_field(&a, "plugins"),
		  sort = at_field(&plugins, "queueSort");

	for (uint32_t k = 0; k < i; k++)
		if (str_eq(p[k].scheduler_name, p[i].scheduler_name))
			return at_fail(r, &name, e, "another profile is called \"%.60s\"", p[i].scheduler_name);
	if (i && !sorts_equal(&p[0], &p[i]))
		return at_fail(r, &sort, e, "must be the same in all profiles, which share one queue");
	return ERR_OK;
}

static enum err_code read_profiles(const struct reader *r, const struct at *root, struct engine_config *c,
				   struct err *e)
{
	struct kube_profile *profiles;
	struct at list;

	TRY(get_list(r, root, "profiles", &list, e));
	if (!at_count(&list))
		return ERR_OK;
	profiles = arena_n(c->arena, list.t->n, struct kube_profile);
	for (uint32_t i = 0; i < list.t->n; i++) {
		struct at a = at_item(&list, i);

		TRY(read_profile(r, &a, list.t->n == 1, c, &profiles[i], e));
		TRY(check_together(r, &list, profiles, i, e));
	}
	c->n_kube_profiles = list.t->n;
	c->kube_profiles = profiles;
	return ERR_OK;
}

/* ---- the rest ---- */

static enum err_code read_backoff(const struct reader *r, const struct at *root, struct engine_config *c, struct err *e)
{
	const int64_t most = INT64_MAX / NS_PER_S;
	int64_t initial = c->initial_backoff_ns / NS_PER_S, max = c->max_backoff_ns / NS_PER_S;
	struct at a = at_field(root, "podMaxBackoffSeconds");

	TRY(get_int(r, root, "podInitialBackoffSeconds", 1, most, &initial, e));
	TRY(get_int(r, root, "podMaxBackoffSeconds", 1, most, &max, e));
	if (max < initial)
		return at_fail(r, &a, e, "%" PRId64 " is below podInitialBackoffSeconds %" PRId64, max, initial);
	c->initial_backoff_ns = time_multiply(initial, NS_PER_S);
	c->max_backoff_ns = time_multiply(max, NS_PER_S);
	return ERR_OK;
}

static enum err_code check_passed_over(const struct reader *r, const struct at *root, struct err *e)
{
	static const char *const maps[] = {"leaderElection", "clientConnection", NULL},
				 *const flags[] = {"delayCacheUntilActive", "enableProfiling",
						   "enableContentionProfiling", NULL};
	struct at extenders;
	int64_t number;
	bool flag;

	for (int i = 0; maps[i]; i++) {
		struct at a = at_field(root, maps[i]);

		TRY(at_want(r, &a, TREE_MAP, e));
	}
	for (int i = 0; flags[i]; i++)
		TRY(get_bool(r, root, flags[i], &flag, e));
	TRY(get_int(r, root, "parallelism", 1, INT32_MAX, &number, e));
	TRY(get_int(r, root, "percentageOfNodesToScore", 0, 100, &number, e));
	TRY(get_list(r, root, "extenders", &extenders, e));
	if (at_count(&extenders))
		return at_fail(r, &extenders, e, "extenders are not supported; write a plugin instead");
	return ERR_OK;
}

static enum err_code read_document(const struct reader *r, const struct tree *t, struct engine_config *c, struct err *e)
{
	static const char *const keys[] = {"apiVersion",
					   "kind",
					   "parallelism",
					   "leaderElection",
					   "clientConnection",
					   "enableProfiling",
					   "enableContentionProfiling",
					   "percentageOfNodesToScore",
					   "podInitialBackoffSeconds",
					   "podMaxBackoffSeconds",
					   "profiles",
					   "extenders",
					   "delayCacheUntilActive",
					   NULL},
				 *const versions[] = {"kubescheduler.config.k8s.io/v1", NULL},
				 *const kinds[] = {SUBJECT, NULL};
	struct at root = at_root(t);
	int only = 0;

	TRY(at_only(r, &root, keys, e));
	TRY(get_word(r, &root, "apiVersion", versions, &only, e));
	TRY(get_word(r, &root, "kind", kinds, &only, e));
	TRY(check_passed_over(r, &root, e));
	TRY(read_backoff(r, &root, c, e));
	return read_profiles(r, &root, c, e);
}

enum err_code manifest_kube_config(struct vocab *v, const struct object_source *src, const struct tree *t,
				   struct engine_config *config, struct err *e)
{
	struct reader r = object_reader(v, src);
	struct engine_config c = *config;
	enum err_code rc;

	snprintf(r.subject, sizeof(r.subject), "%s", SUBJECT);
	c.bag.names = vocab_names(v);
	rc = read_document(&r, t, &c, e);
	config->bag = c.bag;
	if (!rc)
		*config = c;
	object_reader_end(&r);
	return rc;
}
