/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/config_view.h"

#include <inttypes.h>

#include "manifest/collect.h"
#include "units/duration.h"

/* ---- values ---- */

typedef void (*value_fn)(const struct engine_config *c, struct text *out);

/* "10m", not "10m0s": exact all the same. */
static void span(int64_t ns, struct text *out)
{
	duration_text(ns, out);
	if (out->n > 3 && str_eq(out->s + out->n - 3, "m0s"))
		out->s[out->n -= 2] = '\0';
	if (out->n > 3 && str_eq(out->s + out->n - 3, "h0m"))
		out->s[out->n -= 2] = '\0';
}

static void profile(const struct engine_config *c, struct text *out)
{
	text_add(out, profile_text(c->profile));
}

static void scheduler_names(const struct engine_config *c, struct text *out)
{
	text_add_char(out, '[');
	for (uint32_t i = 0; i < c->n_scheduler_names; i++)
		text_printf(out, "%s%s", i > 0 ? ", " : "", c->scheduler_names[i]);
	text_add_char(out, ']');
}

static void opt_out(const struct engine_config *c, struct text *out)
{
	text_add(out, c->opt_out == OPT_OUT_HARD ? "hard" : "soft");
}

static void guarantee(const struct engine_config *c, struct text *out)
{
	text_add(out, c->guarantee_types == GUARANTEE_ALL ? "all" : "short");
}

static void threshold(const struct engine_config *c, struct text *out)
{
	text_printf(out, "%d", c->preemptibility_threshold);
}

static void reach(const struct engine_config *c, struct text *out)
{
	static const char *const words[] = {[REACH_KAI] = "kai", [REACH_ALL] = "all", [REACH_OFF] = "off"};

	text_add(out, words[c->preemptibility_reach]);
}

static void consolidation(const struct engine_config *c, struct text *out)
{
	text_add(out, c->min_runtime_covers_consolidation ? "true" : "false");
}

static void thrash_soft(const struct engine_config *c, struct text *out)
{
	text_printf(out, "%u", c->thrash.soft);
}

static void thrash_hard(const struct engine_config *c, struct text *out)
{
	text_printf(out, "%u", c->thrash.hard);
}

static void thrash_window(const struct engine_config *c, struct text *out)
{
	span(c->thrash.window_ns, out);
}

static void thrash_protection(const struct engine_config *c, struct text *out)
{
	span(c->thrash.protection_ns, out);
}

static void per_hour(const struct engine_config *c, struct text *out)
{
	text_printf(out, "%u", c->evictions_per_hour);
}

static void reclaim_by(const struct engine_config *c, struct text *out)
{
	text_add(out, engine_config_reclaims_by(c) == RECLAIM_FAIR_SHARE ? "fair-share" : "guarantee");
}

static void patience(const struct engine_config *c, struct text *out)
{
	span(c->patience_ns, out);
}

static void eviction_through(const struct engine_config *c, struct text *out)
{
	text_add(out, c->evicts_through_api ? "eviction" : "delete");
}

static void grace(const struct engine_config *c, struct text *out)
{
	span(c->kai.staleness_grace_ns, out);
}

static void preemptees(const struct engine_config *c, struct text *out)
{
	text_printf(out, "%d", c->kai.max_consolidation_preemptees);
}

static void consolidating_reclaim(const struct engine_config *c, struct text *out)
{
	text_add(out, c->kai.forbids_consolidating_reclaim ? "false" : "true");
}

static void kai_actions(const struct engine_config *c, struct text *out)
{
	for (uint32_t i = 0; i < c->kai.n_actions; i++)
		text_printf(out, "%s%s", i > 0 ? ", " : "", action_text(c->kai.actions[i]));
}

static void gpu_placement(const struct engine_config *c, struct text *out)
{
	text_add(out, c->kai.gpu_spreads ? "spread" : "binpack");
}

static void cpu_placement(const struct engine_config *c, struct text *out)
{
	text_add(out, c->kai.cpu_spreads ? "spread" : "binpack");
}

static void saturation(const struct engine_config *c, struct text *out)
{
	text_printf(out, "%g", c->kai.saturation);
}

static void preempt_window(const struct engine_config *c, struct text *out)
{
	span(c->min_runtime.preempt_ns, out);
}

static void reclaim_window(const struct engine_config *c, struct text *out)
{
	span(c->min_runtime.reclaim_ns, out);
}

static void resolve_method(const struct engine_config *c, struct text *out)
{
	text_add(out, c->min_runtime.resolve == RESOLVE_QUEUE ? "queue" : "lca");
}

/* ---- which there are ---- */

struct setting_row {
	const char *key; /* parts joined by dots */
	value_fn value;
	enum action needs; /* a profile without this action has no such setting; ACTION_NONE: all have it */
	enum rule_id of;   /* likewise without this rule */
	unsigned modes;	   /* search modes in which it counts, a bit set; 0: all */
};
#define IN(mode) (1u << MODE_##mode)

/* Of a CedeConfiguration, in the order they are written; between these two the rules' own. */
static const struct setting_row first_rows[] = {
	{"profile", profile, ACTION_NONE, RULE_NONE, 0},
	{"schedulerNames", scheduler_names, ACTION_NONE, RULE_NONE, 0},
};
static const struct setting_row last_rows[] = {
	{"actions.reclaim.by", reclaim_by, ACTION_RECLAIM, RULE_NONE, 0},
	{"actions.reclaim.patience", patience, ACTION_RECLAIM, RULE_NONE, IN(QUEUES)},
	{"kai.stalenessGracePeriod", grace, ACTION_STALE_GANG, RULE_NONE, 0},
	{"kai.maxConsolidationPreemptees", preemptees, ACTION_CONSOLIDATE, RULE_NONE, 0},
	{"kai.allowConsolidatingReclaim", consolidating_reclaim, ACTION_RECLAIM, RULE_NONE, IN(SCENARIOS)},
	{"eviction.through", eviction_through, ACTION_NONE, RULE_NONE, 0},
};

/* What fields of rules are; which there are, and in which order, says the table of rules. */
static const struct rule_value {
	enum rule_id rule;
	const char *field;
	value_fn value;
} rule_values[] = {
	{RULE_PREEMPTIBILITY, "threshold", threshold},
	{RULE_PREEMPTIBILITY, "reach", reach},
	{RULE_MIN_RUNTIME, "consolidation", consolidation},
	{RULE_GUARANTEE, "types", guarantee},
	{RULE_EVICTION_RATE, "perHour", per_hour},
	{RULE_OPT_OUT, "mode", opt_out},
	{RULE_THRASH, "soft", thrash_soft},
	{RULE_THRASH, "hard", thrash_hard},
	{RULE_THRASH, "window", thrash_window},
	{RULE_THRASH, "protection", thrash_protection},
};

struct all_rows {
	struct arena *arena;
	ARRAY(struct setting_row) v;
};

static value_fn value_of(enum rule_id rule, const char *field, size_t n)
{
	for (size_t i = 0; i < sizeof(rule_values) / sizeof(*rule_values); i++) {
		const struct rule_value *x = &rule_values[i];

		if (x->rule == rule && strlen(x->field) == n && strncmp(x->field, field, n) == 0)
			return x->value;
	}
	return NULL;
}

static void add_rule_rows(struct all_rows *to, enum rule_id rule)
{
	for (const char *field = rule_settings_text(rule); *field; field += strspn(field, " ")) {
		size_t n = strcspn(field, " ");
		struct setting_row r = {.value = value_of(rule, field, n), .of = rule};

		assert(r.value);
		r.key = arena_printf(to->arena, "rules.%s.%.*s", rule_text(rule), (int)n, field);
		array_push(&to->v, r);
		field += n;
	}
}

static void add_rows(struct all_rows *to, const struct setting_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		array_push(&to->v, rows[i]);
}

static struct all_rows all_rows(void)
{
	struct all_rows r = {.arena = arena_new(4096)};

	add_rows(&r, first_rows, sizeof(first_rows) / sizeof(*first_rows));
	for (enum rule_id i = RULE_NONE; i < RULE_COUNT; i++)
		add_rule_rows(&r, i);
	add_rows(&r, last_rows, sizeof(last_rows) / sizeof(*last_rows));
	return r;
}

static void all_rows_free(struct all_rows *r)
{
	array_free(&r->v);
	arena_free(r->arena);
}

/* Of KAI's scheduler configuration: a field, or plugin and argument. */
static const struct setting_row kai_rows[] = {
	{"actions", kai_actions, ACTION_NONE, RULE_NONE, IN(SCENARIOS)},
	{"nodeplacement.gpu", gpu_placement, ACTION_NONE, RULE_NONE, IN(SCENARIOS)},
	{"nodeplacement.cpu", cpu_placement, ACTION_NONE, RULE_NONE, IN(SCENARIOS)},
	{"proportion.relcaimerSaturationMultiplier", saturation, ACTION_RECLAIM, RULE_NONE, IN(SCENARIOS)},
	{"minruntime.defaultPreemptMinRuntime", preempt_window, ACTION_NONE, RULE_MIN_RUNTIME, 0},
	{"minruntime.defaultReclaimMinRuntime", reclaim_window, ACTION_NONE, RULE_MIN_RUNTIME, 0},
	{"minruntime.reclaimResolveMethod", resolve_method, ACTION_NONE, RULE_MIN_RUNTIME, 0},
};
enum { KAI_ROWS = sizeof(kai_rows) / sizeof(*kai_rows) };

static bool is_there(const struct config_view *v, const struct setting_row *r)
{
	enum profile p = v->config->profile;

	return (r->needs == ACTION_NONE || profile_has_action(p, r->needs)) &&
	       (r->of == RULE_NONE || profile_has_rule(p, r->of)) &&
	       (r->modes == 0 || r->modes >> profile_get(p)->search_mode & 1);
}

/* ---- where they come from ---- */

static const struct tree *go(const struct tree *t, const char *path)
{
	char part[64];

	while (t != NULL && *path != '\0') {
		size_t n = strcspn(path, ".");

		if (n >= sizeof(part))
			return NULL;
		memcpy(part, path, n);
		part[n] = '\0';
		t = tree_get(t, part);
		path += n + (path[n] == '.');
	}
	return t;
}

/* An argument of a plugin, in whatever tier. */
static const struct tree *plugin_argument(const struct tree *root, const char *key)
{
	const struct tree *tiers = tree_get(root, "tiers");
	const char *dot = strchr(key, '.');

	if (dot == NULL)
		return tree_get(root, key);
	for (uint32_t i = 0; tiers != NULL && tiers->kind == TREE_LIST && i < tiers->n; i++) {
		const struct tree *plugins = tree_get(tiers->items[i], "plugins");

		for (uint32_t k = 0; plugins != NULL && plugins->kind == TREE_LIST && k < plugins->n; k++) {
			const struct tree *name = tree_get(plugins->items[k], "name");

			if (name != NULL && name->kind == TREE_STRING && strlen(name->text) == (size_t)(dot - key) &&
			    strncmp(name->text, key, (size_t)(dot - key)) == 0)
				return tree_get(tree_get(plugins->items[k], "arguments"), dot + 1);
		}
	}
	return NULL;
}

/* Where a file says it; NULL: none does. */
static const struct setting *find_setting(const struct config_view *v, const struct setting_row *r, bool is_kai,
					  const struct tree **ret)
{
	for (uint32_t i = 0; v->manifest != NULL && i < v->manifest->settings.n; i++) {
		const struct setting *s = &v->manifest->settings.v[i];

		*ret = s->kind == SETTING_CEDE && !is_kai ? go(s->root, r->key)
		       : s->kind == SETTING_KAI && is_kai ? plugin_argument(s->root, r->key)
							  : NULL;
		if (*ret != NULL)
			return s;
	}
	return NULL;
}

static void add_where(const struct config_view *v, const struct setting_row *r, bool is_kai, struct text *out)
{
	const struct setting *s;
	const struct tree *t;

	if (r->value == profile && v->has_profile) {
		text_add(out, "--profile");
		return;
	}
	s = find_setting(v, r, is_kai, &t);
	if (s != NULL)
		text_printf(out, "%s:%u:%u", s->file, t->line, t->col);
	else
		text_add(out,
			 r->value == reclaim_by && v->config->profile != PROFILE_DEFAULT ? "the profile" : "default");
}

/* A file says it, and nobody listens in this profile. */
static bool is_idle(const struct config_view *v, const struct setting_row *r, bool is_kai)
{
	const struct tree *t;

	return !is_there(v, r) && find_setting(v, r, is_kai, &t) != NULL;
}

/* ---- for people ---- */

enum { COMMENT_COLUMN = 44 };

static void add_line(const struct config_view *v, const struct setting_row *r, const char *key, uint32_t depth,
		     struct text *out)
{
	size_t begin = out->n;

	for (uint32_t i = 0; i < depth; i++)
		text_add(out, "  ");
	text_printf(out, "%s: ", key);
	r->value(v->config, out);
	do
		text_add_char(out, ' ');
	while (out->n - begin < COMMENT_COLUMN);
	text_add(out, "# ");
	add_where(v, r, false, out);
	text_add_char(out, '\n');
}

/* Maps are opened where a key has other parts than the one before. */
static void add_row(const struct config_view *v, const struct setting_row *r, const char *before, struct text *out)
{
	const char *at = r->key, *dot;
	bool same = true;
	uint32_t depth = 0;

	for (; (dot = strchr(at, '.')) != NULL; at = dot + 1, depth++) {
		size_t n = (size_t)(dot - r->key) + 1;

		same = same && strncmp(before, r->key, n) == 0;
		if (same)
			continue;
		for (uint32_t i = 0; i < depth; i++)
			text_add(out, "  ");
		text_printf(out, "%.*s:\n", (int)(dot - at), at);
	}
	add_line(v, r, at, depth, out);
}

static void add_plugins(const struct engine_config *c, struct text *out)
{
	if (c->n_plugins == 0) {
		text_add(out, "plugins: []\n");
		return;
	}
	text_add(out, "plugins:\n");
	for (uint32_t i = 0; i < c->n_plugins; i++) {
		const struct plugin_file *p = &c->plugins[i];

		text_printf(out, "- path: %s # %s\n", p->path, p->where);
		for (uint32_t k = 0; k < p->n_args; k++)
			text_printf(out, "%s    %s: %s\n", k == 0 ? "  args:\n" : "", p->arg_keys[k], p->arg_values[k]);
	}
}

static void add_set(struct text *out, const char *what, uint64_t set, uint32_t n, bool is_action)
{
	const char *between = "";

	text_printf(out, "#   %s: ", what);
	for (uint32_t i = 1; i < n; i++)
		if (set >> i & 1) {
			text_printf(out, "%s%s", between, is_action ? action_text(i) : rule_text(i));
			between = ", ";
		}
	text_add(out, *between != '\0' ? "\n" : "none\n");
}

static void add_profile(const struct engine_config *c, struct text *out)
{
	const struct profile_data *p = profile_get(c->profile);

	text_printf(out, "\n# Profile %s: %s\n", p->name, p->about);
	add_set(out, "actions", p->actions, ACTION_COUNT, true);
	add_set(out, "rules that protect", p->hard, RULE_COUNT, false);
	add_set(out, "rules that spare", p->soft, RULE_COUNT, false);
}

/* What only KAI's own configuration can say, as far as it counts in this profile. */
static void add_kai(const struct config_view *v, struct text *out)
{
	const char *head = "\n# What only KAI's scheduler configuration can say\n";

	for (size_t i = 0; i < KAI_ROWS; i++) {
		if (!is_there(v, &kai_rows[i]))
			continue;
		text_printf(out, "%s#   %s: ", head, kai_rows[i].key);
		kai_rows[i].value(v->config, out);
		text_add(out, " (");
		add_where(v, &kai_rows[i], true, out);
		text_add(out, ")\n");
		head = "";
	}
}

static void add_idle_row(const struct config_view *v, const struct setting_row *r, bool is_kai, const char **head,
			 struct text *out)
{
	if (!is_idle(v, r, is_kai))
		return;
	text_printf(out, "%s#   %s (", *head, r->key);
	add_where(v, r, is_kai, out);
	text_add(out, ")\n");
	*head = "";
}

static void add_idle(const struct config_view *v, const struct all_rows *rows, struct text *out)
{
	const char *head = "\n# Without effect in this profile\n";

	for (size_t i = 0; i < rows->v.n; i++)
		add_idle_row(v, &rows->v.v[i], false, &head, out);
	for (size_t i = 0; i < KAI_ROWS; i++)
		add_idle_row(v, &kai_rows[i], true, &head, out);
}

void config_view_text(const struct config_view *v, struct text *out)
{
	struct all_rows rows = all_rows();
	const char *before = "";

	text_add(out, "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n");
	for (size_t i = 0; i < rows.v.n; i++) {
		if (!is_there(v, &rows.v.v[i]))
			continue;
		add_row(v, &rows.v.v[i], before, out);
		before = rows.v.v[i].key;
	}
	add_plugins(v->config, out);
	add_kai(v, out);
	add_profile(v->config, out);
	add_idle(v, &rows, out);
	all_rows_free(&rows);
}

/* ---- for programs ---- */

static void emit_row(const struct config_view *v, struct emit *e, const struct setting_row *r, bool is_kai)
{
	struct text value = {0}, where = {0};

	r->value(v->config, &value);
	add_where(v, r, is_kai, &where);
	emit_object(e, NULL);
	emit_str(e, "key", r->key);
	emit_str(e, "value", text_str(&value));
	emit_str(e, "from", text_str(&where));
	emit_end(e);
	text_free(&value);
	text_free(&where);
}

static void emit_set(struct emit *e, const char *key, uint64_t set, uint32_t n, bool is_action)
{
	emit_list(e, key);
	for (uint32_t i = 1; i < n; i++)
		if (set >> i & 1)
			emit_str(e, NULL, is_action ? action_text(i) : rule_text(i));
	emit_end(e);
}

void config_view_emit(const struct config_view *v, struct emit *e)
{
	const struct profile_data *p = profile_get(v->config->profile);
	struct all_rows rows = all_rows();

	emit_object(e, NULL);
	emit_str(e, "kind", "EffectiveConfiguration");
	emit_str(e, "profile", p->name);
	emit_list(e, "settings");
	for (size_t i = 0; i < rows.v.n; i++)
		if (is_there(v, &rows.v.v[i]))
			emit_row(v, e, &rows.v.v[i], false);
	for (size_t i = 0; i < KAI_ROWS; i++)
		if (is_there(v, &kai_rows[i]))
			emit_row(v, e, &kai_rows[i], true);
	emit_end(e);
	emit_list(e, "withoutEffect");
	for (size_t i = 0; i < rows.v.n; i++)
		if (is_idle(v, &rows.v.v[i], false))
			emit_row(v, e, &rows.v.v[i], false);
	for (size_t i = 0; i < KAI_ROWS; i++)
		if (is_idle(v, &kai_rows[i], true))
			emit_row(v, e, &kai_rows[i], true);
	emit_end(e);
	all_rows_free(&rows);
	emit_set(e, "actions", p->actions, ACTION_COUNT, true);
	emit_set(e, "protect", p->hard, RULE_COUNT, false);
	emit_set(e, "spare", p->soft, RULE_COUNT, false);
	emit_end(e);
}
