/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/kube_args.h"

#include <inttypes.h>
#include <stdio.h>

#include "units/duration.h"
#include "units/labels.h"

#define RESOURCE_WEIGHT_MAX 100

struct args_reader {
	const struct reader *r;
	struct engine_config *config; /* memory and names */
	struct plugin_args *ret;
};

static enum err_code get_int32_in(const struct args_reader *ar, const struct at *up, const char *key, int32_t min,
				  int32_t max, int32_t *ret, struct err *e)
{
	int64_t v = *ret;

	TRY(get_int(ar->r, up, key, min, max, &v, e));
	*ret = (int32_t)v;
	return ERR_OK;
}

static enum err_code default_preemption(const struct args_reader *ar, const struct at *a, struct err *e)
{
	struct plugin_args *p = ar->ret;
	struct at percentage = at_field(a, "minCandidateNodesPercentage");

	TRY(get_int32_in(ar, a, "minCandidateNodesPercentage", 0, 100, &p->min_candidate_percentage, e));
	TRY(get_int32_in(ar, a, "minCandidateNodesAbsolute", 0, INT32_MAX, &p->min_candidate_absolute, e));
	if (!p->min_candidate_percentage && !p->min_candidate_absolute)
		return at_fail(ar->r, &percentage, e, "must not be zero together with minCandidateNodesAbsolute");
	return ERR_OK;
}

static enum err_code inter_pod_affinity(const struct args_reader *ar, const struct at *a, struct err *e)
{
	TRY(get_int32_in(ar, a, "hardPodAffinityWeight", 0, 100, &ar->ret->hard_pod_affinity_weight, e));
	return get_bool(ar->r, a, "ignorePreferredTermsOfExistingPods",
			&ar->ret->ignore_preferred_terms_of_existing_pods, e);
}

/* ---- NodeAffinity ---- */

/*
 * A term that would match no node is noted in a pod, whose author is somebody else; in a configuration it is a mistake.
 */
static enum err_code node_term(const struct args_reader *ar, const struct at *a, struct node_term *ret, struct err *e)
{
	static const char *const keys[] = {"matchExpressions", "matchFields", NULL};
	struct text why = {0};
	struct reader strict = *ar->r;
	enum err_code rc;

	if (!a->t)
		return at_expected(ar->r, a, e, "a node selector term");
	TRY(at_only(ar->r, a, keys, e));
	strict.notes = &why;
	rc = at_node_term(&strict, a, ar->config->arena, &ar->config->bag, ret, e);
	if (!rc && ret->is_invalid)
		rc = err_fail(e, ERR_INPUT, "%.*s", (int)strcspn(text_str(&why), "\n"), text_str(&why));
	text_free(&why);
	return rc;
}

static enum err_code required_terms(const struct args_reader *ar, const struct at *affinity, struct err *e)
{
	static const char *const keys[] = {"nodeSelectorTerms", NULL};
	struct at required = at_field(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), list;
	struct node_term *terms;

	TRY(at_only(ar->r, &required, keys, e));
	TRY(get_list(ar->r, &required, "nodeSelectorTerms", &list, e));
	if (!required.t)
		return ERR_OK;
	if (!at_count(&list))
		return at_fail(ar->r, &list, e, "expected at least one term");
	terms = arena_n(ar->config->arena, list.t->n, struct node_term);
	for (uint32_t i = 0; i < list.t->n; i++) {
		struct at a = at_item(&list, i);

		TRY(node_term(ar, &a, &terms[i], e));
	}
	ar->ret->has_added_required = true;
	ar->ret->added_required = (struct node_terms){list.t->n, terms};
	return ERR_OK;
}

static enum err_code preferred_terms(const struct args_reader *ar, const struct at *affinity, struct err *e)
{
	static const char *const keys[] = {"weight", "preference", NULL};
	struct preferred_node_term *terms;
	struct at list;

	TRY(get_list(ar->r, affinity, "preferredDuringSchedulingIgnoredDuringExecution", &list, e));
	if (!list.t)
		return ERR_OK;
	terms = arena_n(ar->config->arena, list.t->n + 1, struct preferred_node_term);
	for (uint32_t i = 0; i < list.t->n; i++) {
		struct at a = at_item(&list, i), weight = at_field(&a, "weight"),
			  preference = at_field(&a, "preference");

		TRY(at_only(ar->r, &a, keys, e));
		TRY(get_int32_in(ar, &a, "weight", 1, 100, &terms[i].weight, e));
		if (!terms[i].weight)
			return at_expected(ar->r, &weight, e, "a number from 1 to 100");
		TRY(node_term(ar, &preference, &terms[i].term, e));
	}
	ar->ret->n_added_preferred = list.t->n;
	ar->ret->added_preferred = terms;
	return ERR_OK;
}

static enum err_code node_affinity(const struct args_reader *ar, const struct at *a, struct err *e)
{
	static const char *const keys[] = {"requiredDuringSchedulingIgnoredDuringExecution",
					   "preferredDuringSchedulingIgnoredDuringExecution", NULL};
	struct at affinity = at_field(a, "addedAffinity");

	TRY(at_only(ar->r, &affinity, keys, e));
	ar->ret->has_added_affinity = affinity.t != NULL;
	TRY(required_terms(ar, &affinity, e));
	return preferred_terms(ar, &affinity, e);
}

/* ---- NodeResourcesFit and NodeResourcesBalancedAllocation ---- */

static enum err_code weighted(const struct args_reader *ar, const struct at *a, int32_t max_weight,
			      struct weighted_resource *ret, struct err *e)
{
	static const char *const keys[] = {"name", "weight", NULL};
	struct at name = at_field(a, "name");
	const char *text = "";
	int32_t weight = 1;

	TRY(at_only(ar->r, a, keys, e));
	TRY(get_text(ar->r, a, "name", &text, e));
	TRY(get_int32_in(ar, a, "weight", 1, max_weight, &weight, e));
	if (!*text)
		return at_expected(ar->r, &name, e, "the name of a resource");
	*ret = (struct weighted_resource){arena_strndup(ar->config->arena, text, strlen(text)), weight};
	return ERR_OK;
}

/* Left out or empty: the default, cpu and memory alike. */
static enum err_code resources(const struct args_reader *ar, const struct at *up, int32_t max_weight,
			       const struct weighted_resource **ret, uint32_t *ret_n, struct err *e)
{
	struct weighted_resource *v;
	struct at list;

	TRY(get_list(ar->r, up, "resources", &list, e));
	if (!at_count(&list))
		return ERR_OK;
	v = arena_n(ar->config->arena, list.t->n, struct weighted_resource);
	for (uint32_t i = 0; i < list.t->n; i++) {
		struct at a = at_item(&list, i), name = at_field(&a, "name");

		TRY(weighted(ar, &a, max_weight, &v[i], e));
		for (uint32_t k = 0; k < i; k++)
			if (str_eq(v[k].name, v[i].name))
				return at_fail(ar->r, &name, e, "\"%.60s\" is listed twice", v[i].name);
	}
	*ret = v;
	*ret_n = list.t->n;
	return ERR_OK;
}

static enum err_code balanced_allocation(const struct args_reader *ar, const struct at *a, struct err *e)
{
	return resources(ar, a, 1, &ar->ret->balanced_resources, &ar->ret->n_balanced_resources, e);
}

static enum err_code shape_points(const struct args_reader *ar, const struct at *list, struct shape_point *ret,
				  struct err *e)
{
	static const char *const keys[] = {"utilization", "score", NULL};

	for (uint32_t i = 0; i < at_count(list); i++) {
		struct at a = at_item(list, i), utilization = at_field(&a, "utilization");

		TRY(at_only(ar->r, &a, keys, e));
		TRY(get_int32_in(ar, &a, "utilization", 0, 100, &ret[i].utilization, e));
		TRY(get_int32_in(ar, &a, "score", 0, 10, &ret[i].score, e));
		if (i && ret[i].utilization <= ret[i - 1].utilization)
			return at_fail(ar->r, &utilization, e,
				       "%" PRId32 " must be above the %" PRId32 " of the point before",
				       ret[i].utilization, ret[i - 1].utilization);
	}
	return ERR_OK;
}

static enum err_code capacity_shape(const struct args_reader *ar, const struct at *strategy, struct err *e)
{
	static const char *const keys[] = {"shape", NULL};
	struct at ratio = at_field(strategy, "requestedToCapacityRatio"), list;
	struct shape_point *points;

	TRY(at_only(ar->r, &ratio, keys, e));
	TRY(get_list(ar->r, &ratio, "shape", &list, e));
	if (!at_count(&list) && ar->ret->fit_strategy == FIT_REQUESTED_TO_CAPACITY)
		return at_fail(ar->r, &list, e, "RequestedToCapacityRatio needs at least one point");
	points = arena_n(ar->config->arena, at_count(&list) + 1, struct shape_point);
	TRY(shape_points(ar, &list, points, e));
	ar->ret->n_fit_shape = at_count(&list);
	ar->ret->fit_shape = points;
	return ERR_OK;
}

static enum err_code check_names(const struct args_reader *ar, const struct at *up, const char *key, bool are_groups,
				 struct err *e)
{
	struct at list = at_field(up, key);
	struct err why;

	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i);

		if (are_groups && strchr(a.t->text, '/'))
			return at_fail(ar->r, &a, e, "\"%.60s\" is not a group: it has a \"/\"", a.t->text);
		if (label_key_check(a.t->text, a.t->n, &why))
			return at_fail(ar->r, &a, e, "%s", why.msg);
	}
	return ERR_OK;
}

static enum err_code resources_fit(const struct args_reader *ar, const struct at *a, struct err *e)
{
	static const char *const keys[] = {"type", "resources", "requestedToCapacityRatio", NULL},
				 *const types[] = {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", NULL};
	struct at strategy = at_field(a, "scoringStrategy");
	struct plugin_args *p = ar->ret;
	int type = (int)p->fit_strategy;

	TRY(get_texts(ar->r, a, "ignoredResources", ar->config->arena, &p->ignored_resources, &p->n_ignored_resources,
		      e));
	TRY(get_texts(ar->r, a, "ignoredResourceGroups", ar->config->arena, &p->ignored_groups, &p->n_ignored_groups,
		      e));
	TRY(check_names(ar, a, "ignoredResources", false, e));
	TRY(check_names(ar, a, "ignoredResourceGroups", true, e));
	TRY(at_only(ar->r, &strategy, keys, e));
	TRY(get_word(ar->r, &strategy, "type", types, &type, e));
	p->fit_strategy = (enum fit_strategy)type;
	TRY(resources(ar, &strategy, RESOURCE_WEIGHT_MAX, &p->fit_resources, &p->n_fit_resources, e));
	return capacity_shape(ar, &strategy, e);
}

/* ---- PodTopologySpread ---- */

static enum err_code constraint(const struct args_reader *ar, const struct at *a, struct default_spread *ret,
				struct err *e)
{
	static const char *const keys[] = {"maxSkew",	       "topologyKey",	 "whenUnsatisfiable",
					   "labelSelector",    "minDomains",	 "nodeAffinityPolicy",
					   "nodeTaintsPolicy", "matchLabelKeys", NULL},
				 *const words[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
	struct at skew = at_field(a, "maxSkew"), key = at_field(a, "topologyKey"),
		  when = at_field(a, "whenUnsatisfiable"), selector = at_field(a, "labelSelector");
	const char *text = "";
	int is_soft = 0;

	TRY(at_only(ar->r, a, keys, e));
	TRY(get_int32_in(ar, a, "maxSkew", 1, INT32_MAX, &ret->max_skew, e));
	TRY(get_text(ar->r, a, "topologyKey", &text, e));
	TRY(get_word(ar->r, a, "whenUnsatisfiable", words, &is_soft, e));
	if (!skew.t)
		return at_expected(ar->r, &skew, e, "a number above zero");
	if (label_key_check(text, strlen(text), NULL))
		return at_expected(ar->r, &key, e, "the key of a node label");
	if (!when.t)
		return at_expected(ar->r, &when, e, "DoNotSchedule or ScheduleAnyway");
	if (selector.t)
		return at_fail(ar->r, &selector, e,
			       "a default constraint has none: it is taken from what each pod belongs to");
	ret->topology_key = arena_strndup(ar->config->arena, text, strlen(text));
	ret->is_hard = !is_soft;
	return ERR_OK;
}

static enum err_code constraints(const struct args_reader *ar, const struct at *list, struct err *e)
{
	struct default_spread *v = arena_n(ar->config->arena, at_count(list) + 1, struct default_spread);

	for (uint32_t i = 0; i < at_count(list); i++) {
		struct at a = at_item(list, i), key = at_field(&a, "topologyKey");

		TRY(constraint(ar, &a, &v[i], e));
		for (uint32_t k = 0; k < i; k++)
			if (v[k].is_hard == v[i].is_hard && str_eq(v[k].topology_key, v[i].topology_key))
				return at_fail(ar->r, &key, e, "a second constraint for \"%.60s\" that is %s",
					       v[i].topology_key, v[i].is_hard ? "DoNotSchedule" : "ScheduleAnyway");
	}
	ar->ret->n_default_spreads = at_count(list);
	ar->ret->default_spreads = v;
	return ERR_OK;
}

static enum err_code topology_spread(const struct args_reader *ar, const struct at *a, struct err *e)
{
	static const char *const types[] = {"System", "List", NULL};
	struct at list;
	int is_list = 0;

	TRY(get_list(ar->r, a, "defaultConstraints", &list, e));
	TRY(get_word(ar->r, a, "defaultingType", types, &is_list, e));
	if (!is_list && at_count(&list))
		return at_fail(ar->r, &list, e, "must be empty unless defaultingType is List");
	ar->ret->spread_defaults_are_listed = is_list;
	return constraints(ar, &list, e);
}

/* ---- volumes; devices are checked only, cede has no use for them ---- */

/* The score by free storage is behind a gate that is off, and then Kubernetes refuses its shape. */
static enum err_code volume_binding(const struct args_reader *ar, const struct at *a, struct err *e)
{
	struct at shape;

	TRY(get_int(ar->r, a, "bindTimeoutSeconds", 0, INT64_MAX, &ar->ret->bind_timeout_seconds, e));
	TRY(get_list(ar->r, a, "shape", &shape, e));
	if (shape.t)
		return at_fail(ar->r, &shape, e,
			       "nodes are not scored by free storage (StorageCapacityScoring is off)");
	return ERR_OK;
}

static enum err_code check_timeout(const struct args_reader *ar, const struct at *up, const char *key, struct err *e)
{
	struct at a = at_field(up, key);
	const char *text = "0s";
	struct err why;
	int64_t ns;

	TRY(get_text(ar->r, up, key, &text, e));
	if (duration_parse(text, strlen(text), false, &ns, &why))
		return at_fail(ar->r, &a, e, "%s", why.msg);
	if (ns < 0)
		return at_fail(ar->r, &a, e, "must not be negative, found \"%.40s\"", text);
	return ERR_OK;
}

static enum err_code dynamic_resources(const struct args_reader *ar, const struct at *a, struct err *e)
{
	TRY(check_timeout(ar, a, "filterTimeout", e));
	return check_timeout(ar, a, "bindingTimeout", e);
}

static const struct plugin_args_kind {
	const char *plugin;
	const char *const *keys;
	enum err_code (*read)(const struct args_reader *ar, const struct at *a, struct err *e);
} kinds[] = {
#define KEYS(...)                                       \
	(const char *const[])                           \
	{                                               \
		"apiVersion", "kind", __VA_ARGS__, NULL \
	}
	{"DefaultPreemption", KEYS("minCandidateNodesPercentage", "minCandidateNodesAbsolute"), default_preemption},
	{"InterPodAffinity", KEYS("hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"), inter_pod_affinity},
	{"NodeAffinity", KEYS("addedAffinity"), node_affinity},
	{"NodeResourcesFit", KEYS("ignoredResources", "ignoredResourceGroups", "scoringStrategy"), resources_fit},
	{"NodeResourcesBalancedAllocation", KEYS("resources"), balanced_allocation},
	{"PodTopologySpread", KEYS("defaultConstraints", "defaultingType"), topology_spread},
	{"VolumeBinding", KEYS("bindTimeoutSeconds", "shape"), volume_binding},
	{"DynamicResources", KEYS("filterTimeout", "bindingTimeout"), dynamic_resources},
#undef KEYS
};
#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

static const struct plugin_args_kind *kind_of(const char *plugin)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (str_eq(kinds[i].plugin, plugin))
			return &kinds[i];
	return NULL;
}

static void note_unused(const struct reader *r, const struct at *entry, const char *plugin)
{
	struct at name = at_field(entry, "name");
	const char *known[N_KINDS + 1] = {0}, *near_word;

	for (size_t i = 0; i < N_KINDS; i++)
		known[i] = kinds[i].plugin;
	near_word = nearest_word(plugin, known);
	if (near_word)
		at_note(r, &name, "the arguments of %.60s are not used; did you mean \"%s\"?", plugin, near_word);
	else
		at_note(r, &name, "the arguments of %.60s are not used", plugin);
}

enum err_code kube_plugin_args(const struct reader *r, const struct at *entry, struct engine_config *c,
			       struct plugin_args *args, struct err *e)
{
	static const char *const versions[] = {"kubescheduler.config.k8s.io/v1", NULL};
	const char *plugin = map_text(entry->t, "name");
	const struct plugin_args_kind *kind = kind_of(plugin);
	struct args_reader ar = {r, c, args};
	struct at a = at_field(entry, "args");
	char kind_text[64];
	const char *const kind_words[] = {kind_text, NULL};
	int only = 0;

	if (!kind) {
		note_unused(r, entry, plugin);
		return at_want(r, &a, TREE_MAP, e);
	}
	snprintf(kind_text, sizeof(kind_text), "%sArgs", kind->plugin);
	TRY(at_only(r, &a, kind->keys, e));
	TRY(get_word(r, &a, "apiVersion", versions, &only, e));
	TRY(get_word(r, &a, "kind", kind_words, &only, e));
	return kind->read(&ar, &a, e);
}
