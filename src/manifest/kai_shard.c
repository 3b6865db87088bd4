/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SchedulingShard, of which KAI's operator makes a scheduler for one pool of nodes: its configuration follows from
 * the strategy of placement, and is changed here and there by `plugins`, `actions` and `args`. It is an object of the
 * cluster, not a configuration file: what nobody knows is noted, not refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "manifest/kai_fields.h"
#include "units/duration.h"

#define KIND "SchedulingShard"

/* ---- placement, minimum runtimes, shares ---- */

static enum err_code read_strategy(const struct reader *r, const struct at *strategy, const char *key,
				   bool *ret_spreads, struct err *e)
{
	static const char *const ways[] = {"binpack", "spread", NULL};
	int way = 0;

	TRY(get_word(r, strategy, key, ways, &way, e));
	*ret_spreads = way == 1;
	return ERR_OK;
}

static enum err_code read_window(const struct reader *r, const struct at *map, const char *key, int64_t *ret_ns,
				 struct err *e)
{
	struct at a = at_field(map, key);
	const char *text = NULL;

	TRY(get_scalar(r, map, key, &text, e));
	if (text)
		kai_min_runtime(r, &a, text, ret_ns);
	return ERR_OK;
}

static enum err_code read_basics(const struct reader *r, const struct at *spec, struct engine_config *c, struct err *e)
{
	static const char *const strategy_keys[] = {"gpu", "cpu", NULL}, *const runtime_keys[] = {"preemptMinRuntime",
												  "reclaimMinRuntime",
												  NULL};
	struct at strategy = at_field(spec, "placementStrategy"), runtime = at_field(spec, "minRuntime"),
		  k = at_field(spec, "kValue");
	double k_value = 1;

	for (int p = KAI_PROPORTION; p <= KAI_MIN_RUNTIME; p++)
		kai_reset_plugin(p, c);
	TRY(read_strategy(r, &strategy, "gpu", &c->kai.gpu_spreads, e));
	TRY(read_strategy(r, &strategy, "cpu", &c->kai.cpu_spreads, e));
	at_note_unknown(r, &strategy, strategy_keys);
	TRY(read_window(r, &runtime, "preemptMinRuntime", &c->min_runtime.preempt_ns, e));
	TRY(read_window(r, &runtime, "reclaimMinRuntime", &c->min_runtime.reclaim_ns, e));
	at_note_unknown(r, &runtime, runtime_keys);
	TRY(get_double(r, spec, "kValue", &k_value, e));
	if (k.t)
		kai_note_k_value(r, &k);
	return ERR_OK;
}

/* ---- actions ---- */

struct shard_action {
	int word, priority; /* the highest runs first, equal ones by their names */
	bool is_on;
};

static int by_priority(const void *a, const void *b)
{
	const struct shard_action *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return strcmp(kai_action_words[x->word], kai_action_words[y->word]);
}

static enum err_code change_action(const struct reader *r, const struct at *a, struct shard_action *all, struct err *e)
{
	static const char *const keys[] = {"enabled", "priority", NULL};
	const struct tree name = {.kind = TREE_STRING, .line = a->t->line, .col = a->t->col, .text = a->key};
	const struct at key = {.up = a->up, .t = &name, .key = a->key};
	int word = words_find(kai_action_words, a->key);
	int32_t priority;

	if (word < 0)
		return at_word_expected(r, &key, kai_action_words, e);
	TRY(at_want(r, a, TREE_MAP, e));
	at_note_unknown(r, a, keys);
	if (!all[word].is_on) { /* consolidation where pods are spread: to name it is to want it, at the end */
		all[word].is_on = true;
		all[word].priority = 0;
	}
	priority = all[word].priority;
	TRY(get_bool(r, a, "enabled", &all[word].is_on, e));
	TRY(get_int32(r, a, "priority", &priority, e));
	all[word].priority = priority;
	return ERR_OK;
}

static enum err_code read_actions(const struct reader *r, const struct at *spec, struct kai_settings *ret,
				  struct err *e)
{
	struct at changes = at_field(spec, "actions");
	struct shard_action all[KAI_ACTIONS];
	uint32_t n = 0;

	for (int i = 0; i < KAI_ACTIONS; i++)
		all[i] = (struct shard_action){i, (KAI_ACTIONS - i) * 100,
					       kai_action(i) != ACTION_CONSOLIDATE ||
						       !(ret->gpu_spreads || ret->cpu_spreads)};
	TRY(at_want(r, &changes, TREE_MAP, e));
	for (uint32_t i = 0; changes.t && i < changes.t->n; i++) {
		struct at a = at_nth_field(&changes, i);

		TRY(change_action(r, &a, all, e));
	}
	qsort(all, KAI_ACTIONS, sizeof(*all), by_priority);
	for (int i = 0; i < KAI_ACTIONS; i++)
		n += all[i].is_on;
	if (n == 0) {
		at_note(r, &changes, "without any action KAI runs its default ones, and so does cede");
		return ERR_OK;
	}
	ret->n_actions = 0;
	for (int i = 0; i < KAI_ACTIONS; i++)
		if (all[i].is_on)
			ret->actions[ret->n_actions++] = kai_action(all[i].word);
	return ERR_OK;
}

/* ---- plugins ---- */

static enum err_code change_plugin(const struct reader *r, const struct at *a, unsigned *used, struct engine_config *c,
				   struct err *e)
{
	static const char *const keys[] = {"enabled", "priority", "arguments", NULL};
	struct at arguments = at_field(a, "arguments"), rank = at_field(a, "priority");
	int plugin = kai_plugin(r, a, a->key);
	int32_t priority = 0;
	bool is_on = true;

	TRY(at_want(r, a, TREE_MAP, e));
	at_note_unknown(r, a, keys);
	TRY(get_bool(r, a, "enabled", &is_on, e));
	TRY(get_int32(r, a, "priority", &priority, e));
	if (rank.t && plugin >= 0)
		at_note(r, &rank, "has no effect: the order of plugins is fixed in cede");
	if (plugin >= 0 && !is_on)
		*used &= ~(1u << plugin);
	return arguments.t ? kai_arguments(r, &arguments, plugin, c, e) : ERR_OK;
}

static enum err_code read_plugins(const struct reader *r, const struct at *spec, struct engine_config *c, struct err *e)
{
	struct at changes = at_field(spec, "plugins");
	unsigned used = ~0u;

	TRY(at_want(r, &changes, TREE_MAP, e));
	for (uint32_t i = 0; changes.t && i < changes.t->n; i++) {
		struct at a = at_nth_field(&changes, i);

		TRY(change_plugin(r, &a, &used, c, e));
	}
	kai_left_out(r, &changes, used, c);
	return ERR_OK;
}

/* ---- args: flags of the scheduler ---- */

static enum err_code flag_time(const struct reader *r, const struct at *a, const char *text, int64_t *ret_ns,
			       struct err *e)
{
	struct err why;

	return duration_parse(text, strlen(text), false, ret_ns, &why) ? at_fail(r, a, e, "%s", why.msg) : ERR_OK;
}

static enum err_code flag_number(const struct reader *r, const struct at *a, const char *text, int32_t *ret,
				 struct err *e)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < INT32_MIN || n > INT32_MAX)
		return at_expected(r, a, e, "a whole number");
	*ret = (int32_t)(n < 0 ? -1 : n);
	return ERR_OK;
}

static enum err_code flag_bool(const struct reader *r, const struct at *a, const char *text, bool *ret, struct err *e)
{
	static const char *const words[] = {"1", "t", "T",     "true",	"True",	 "TRUE", "0",
					    "f", "F", "false", "False", "FALSE", NULL};
	enum { FIRST_FALSE = 6 };
	int word = words_find(words, text);

	if (word < 0)
		return at_expected(r, a, e, "true or false");
	*ret = word < FIRST_FALSE;
	return ERR_OK;
}

static enum err_code read_flag(const struct reader *r, const struct at *a, struct kai_settings *k, struct err *e)
{
	static const char *const words[] = {"default-staleness-grace-period", "max-consolidation-preemptees",
					    "allow-consolidating-reclaim", "full-hierarchy-fairness", NULL};
	const char *text = scalar_text(a->t);
	bool is_on = true;

	if (!text)
		return at_expected(r, a, e, "a string");
	switch (words_find(words, a->key)) {
	case 0:
		return flag_time(r, a, text, &k->staleness_grace_ns, e);
	case 1:
		return flag_number(r, a, text, &k->max_consolidation_preemptees, e);
	case 2:
		TRY(flag_bool(r, a, text, &is_on, e));
		k->forbids_consolidating_reclaim = !is_on;
		return ERR_OK;
	case 3:
		TRY(flag_bool(r, a, text, &is_on, e));
		if (!is_on)
			at_note(r, a, "has no effect: shares go through all levels of queues in cede");
		return ERR_OK;
	default:
		return ERR_OK;
	}
}

static enum err_code read_flags(const struct reader *r, const struct at *spec, struct kai_settings *k, struct err *e)
{
	struct at args = at_field(spec, "args");

	TRY(at_want(r, &args, TREE_MAP, e));
	for (uint32_t i = 0; args.t && i < args.t->n; i++) {
		struct at a = at_nth_field(&args, i);

		TRY(read_flag(r, &a, k, e));
	}
	return ERR_OK;
}

/* ---- the object ---- */

enum err_code manifest_kai_shard(const struct object_source *src, const struct tree *t, struct engine_config *config,
				 bool *ret_applies, struct err *e)
{
	static const char *const keys[] = {"args",
					   "placementStrategy",
					   "partitionLabelValue",
					   "queueDepthPerAction",
					   "minRuntime",
					   "kValue",
					   "usageDBConfig",
					   "plugins",
					   "actions",
					   NULL};
	struct reader r = config_reader(src, KIND);
	struct engine_config c = *config;
	struct at root = at_root(t), spec = at_field(&root, "spec"), depths = at_field(&spec, "queueDepthPerAction"),
		  pool = at_field(&spec, "partitionLabelValue");
	const char *ns, *name, *pool_name = "";

	TRY(get_identity(&r, &root, KIND, NULL, &ns, &name, e));
	TRY(at_want(&r, &spec, TREE_MAP, e));
	at_note_unknown(&r, &spec, keys);
	TRY(get_text(&r, &spec, "partitionLabelValue", &pool_name, e));
	TRY(read_basics(&r, &spec, &c, e));
	TRY(read_actions(&r, &spec, &c.kai, e));
	TRY(read_plugins(&r, &spec, &c, e));
	TRY(kai_depths(&r, &depths, &c, e));
	TRY(read_flags(&r, &spec, &c.kai, e));
	*ret_applies = !*pool_name;
	if (*pool_name)
		at_note(&r, &pool, "all nodes are one pool in cede: this shard, for \"%.60s\", is not used", pool_name);
	else
		*config = c;
	return ERR_OK;
}
