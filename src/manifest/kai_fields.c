/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/kai_fields.h"

#include <math.h>
#include <stdlib.h>

#include "units/duration.h"

const char *const kai_action_words[] = {"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction", NULL};

const char *const kai_plugin_words[] = {
	"predicates",	    "proportion",
	"priority",	    "elastic",
	"nodeplacement",    "minruntime",
	"kubeflow",	    "ray",
	"nodeavailability", "gpusharingorder",
	"gpupack",	    "gpuspread",
	"resourcetype",	    "podaffinity",
	"subgrouporder",    "taskorder",
	"nominatednode",    "dynamicresources",
	"topology",	    "snapshot",
	"reflectjoborder",  NULL,
};

enum action kai_action(int word)
{
	static const enum action actions[] = {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT,
					      ACTION_STALE_GANG};

	return actions[word];
}

static void note_unknown(const struct reader *r, const struct at *a, const char *what, const char *word,
			 const char *const *known)
{
	const char *near_word = nearest_word(word, known);

	at_note(r, a, "%s%s%s%s", what, near_word ? "; did you mean \"" : "", near_word ? near_word : "",
		near_word ? "\"?" : "");
}

int kai_plugin(const struct reader *r, const struct at *a, const char *name)
{
	int plugin = words_find(kai_plugin_words, name);
	struct text what = {0};

	if (plugin < 0) {
		text_printf(&what, "no plugin is called \"%.60s\"", name);
		note_unknown(r, a, text_str(&what), name, kai_plugin_words);
		text_free(&what);
	}
	return plugin;
}

bool kai_has_arguments(int plugin)
{
	return plugin == KAI_PROPORTION || plugin == KAI_NODE_PLACEMENT || plugin == KAI_MIN_RUNTIME;
}

void kai_reset_plugin(int plugin, struct engine_config *c)
{
	if (plugin == KAI_PROPORTION)
		c->kai.saturation = 1;
	else if (plugin == KAI_NODE_PLACEMENT)
		c->kai.gpu_spreads = c->kai.cpu_spreads = false;
	else if (plugin == KAI_MIN_RUNTIME)
		c->min_runtime = (struct min_runtime_settings){.resolve = RESOLVE_LCA};
}

/* ---- arguments ---- */

/* MR-12: what is no duration, or a negative one, is reported, and the default is used. */
void kai_min_runtime(const struct reader *r, const struct at *a, const char *text, int64_t *ret_ns)
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

static void min_runtime_argument(const struct reader *r, const struct at *a, const char *text, struct engine_config *c)
{
	static const char *const words[] = {"defaultPreemptMinRuntime", "defaultReclaimMinRuntime",
					    "reclaimResolveMethod", NULL};

	switch (words_find(words, a->key)) {
	case 0:
		kai_min_runtime(r, a, text, &c->min_runtime.preempt_ns);
		break;
	case 1:
		kai_min_runtime(r, a, text, &c->min_runtime.reclaim_ns);
		break;
	case 2:
		resolve_method(r, a, text, &c->min_runtime.resolve);
		break;
	default:
		note_unknown(r, a, "not an argument of minruntime", a->key, words);
	}
}

static void placement_argument(const struct reader *r, const struct at *a, const char *text, struct engine_config *c)
{
	static const char *const words[] = {"gpu", "cpu", NULL}, *const ways[] = {"binpack", "spread", NULL};
	int word = words_find(words, a->key);

	if (word < 0) {
		note_unknown(r, a, "not an argument of nodeplacement", a->key, words);
		return;
	}
	if (words_find(ways, text) < 0)
		at_note(r, a, "\"%.40s\" is neither binpack nor spread; the default binpack is used", text);
	*(word == 0 ? &c->kai.gpu_spreads : &c->kai.cpu_spreads) = str_eq(text, "spread");
}

/* A number that is at least this; else that, or the default where it is no number, with a note. */
static double number_from(const struct reader *r, const struct at *a, const char *text, double least)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !isfinite(x)) {
		at_note(r, a, "\"%.40s\" is not a number; the default 1 is used", text);
		return 1;
	}
	if (x < least)
		at_note(r, a, "\"%.40s\" is less than %g, which is used instead", text, least);
	return x < least ? least : x;
}

void kai_note_k_value(const struct reader *r, const struct at *a)
{
	at_note(r, a, "has no effect: it weighs what queues used before, which cede does not know");
}

static void proportion_argument(const struct reader *r, const struct at *a, const char *text, struct engine_config *c)
{
	static const char *const words[] = {"kValue", "relcaimerSaturationMultiplier", NULL};

	switch (words_find(words, a->key)) {
	case 0:
		kai_note_k_value(r, a);
		break;
	case 1:
		c->kai.saturation = number_from(r, a, text, 1);
		break;
	default:
		if (str_eq(a->key, "reclaimerUtilizationMultiplier"))
			at_note(r, a, "has no effect, as in KAI, where it goes by the name %s", words[1]);
		else
			note_unknown(r, a, "not an argument of proportion", a->key, words);
	}
}

static void argument(const struct reader *r, const struct at *a, int plugin, struct engine_config *c)
{
	const char *text = a->t->kind == TREE_NULL ? "" : scalar_text(a->t);

	if (plugin == KAI_MIN_RUNTIME)
		min_runtime_argument(r, a, text, c);
	else if (plugin == KAI_NODE_PLACEMENT)
		placement_argument(r, a, text, c);
	else if (plugin == KAI_PROPORTION)
		proportion_argument(r, a, text, c);
}

enum err_code kai_arguments(const struct reader *r, const struct at *arguments, int plugin, struct engine_config *c,
			    struct err *e)
{
	TRY(at_want(r, arguments, TREE_MAP, e));
	kai_reset_plugin(plugin, c);
	for (uint32_t i = 0; arguments->t && i < arguments->t->n; i++) {
		struct at a = at_nth_field(arguments, i);

		if (a.t->kind != TREE_NULL && !scalar_text(a.t))
			return at_expected(r, &a, e, "a string");
		argument(r, &a, plugin, c);
	}
	return ERR_OK;
}

/* ---- what else both have ---- */

void kai_left_out(const struct reader *r, const struct at *a, unsigned used, struct engine_config *c)
{
	struct text rest = {0};

	c->kai.has_no_predicates = !(used >> KAI_PREDICATES & 1u);
	if (c->kai.has_no_predicates)
		at_note(r, a, "predicates is missing: in profile kai only room decides where a pod fits");
	for (int p = KAI_PROPORTION; p <= KAI_MIN_RUNTIME; p++)
		if (!(used >> p & 1u))
			text_printf(&rest, "%s%s", rest.n ? ", " : "", kai_plugin_words[p]);
	if (rest.n)
		at_note(r, a, "missing, and used by cede all the same: %s", text_str(&rest));
	text_free(&rest);
}

enum err_code kai_depths(const struct reader *r, const struct at *depths, struct engine_config *c, struct err *e)
{
	TRY(at_want(r, depths, TREE_MAP, e));
	for (uint32_t i = 0; depths->t && i < depths->t->n; i++) {
		struct at a = at_nth_field(depths, i);
		int word = words_find(kai_action_words, a.key);
		int64_t depth = -1;

		TRY(get_int(r, depths, a.key, INT32_MIN, INT32_MAX, &depth, e));
		if (word < 0)
			note_unknown(r, &a, "not an action", a.key, kai_action_words);
		else
			c->kai.queue_depth[kai_action(word)] = depth < 0 ? KAI_ALL : (uint32_t)depth;
	}
	return ERR_OK;
}
