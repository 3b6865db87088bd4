/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "filters/builtin.h"
#include "manifest/kube_args.h"
#include "manifest/manifest.h"

/* Later than anything a fact mentions. */
const int64_t world_now_ns = 1800000000 * NS_PER_S;

/* ---- objects ---- */

static bool fail(struct world *w, const char *what, const struct err *e)
{
	fact_differs(w->f, what, "something cede can read", e->msg);
	return false;
}

static struct object_source source_of(const struct world *w)
{
	return (struct object_source){.name = w->f->file, .is_lenient = true};
}

bool world_put_node(struct world *w, const struct tree *t)
{
	struct object_source src = source_of(w);
	struct obj_node o;
	struct err e;

	if (manifest_node(w->vocab, &src, t, &o, &e))
		return fail(w, "node", &e);
	if (!cluster_put_node(w->cluster, &o, &e))
		return true;
	obj_node_drop(w->vocab, &o);
	return fail(w, "node", &e);
}

static bool put_nodes(struct world *w)
{
	const struct tree *list = tree_get(w->f->t, "nodes");

	for (uint32_t i = 0; i < tree_count(list); i++)
		if (!world_put_node(w, list->items[i]))
			return false;
	return true;
}

static bool put_namespaces(struct world *w)
{
	const struct tree *list = tree_get(w->f->t, "namespaces");
	struct object_source src = source_of(w);
	struct obj_namespace o;
	struct err e;

	for (uint32_t i = 0; i < tree_count(list); i++) {
		if (manifest_namespace(w->vocab, &src, list->items[i], &o, &e))
			return fail(w, "namespace", &e);
		if (cluster_put_namespace(w->cluster, &o, &e)) {
			obj_namespace_drop(w->vocab, &o);
			return fail(w, "namespace", &e);
		}
	}
	return true;
}

/* Facts do not name all of their budgets; the cluster tells them apart by name. */
static bool put_pdbs(struct world *w)
{
	const struct tree *list = tree_get(w->f->t, "pdbs");
	struct object_source src = source_of(w);
	struct obj_pdb o;
	struct err e;

	for (uint32_t i = 0; i < tree_count(list); i++) {
		if (manifest_pdb(w->vocab, &src, list->items[i], &o, &e))
			return fail(w, "budget", &e);
		if (o.name == NAME_NONE)
			o.name = names_hold_str(vocab_names(w->vocab), arena_printf(w->f->arena, "budget-%u", i));
		if (cluster_put_pdb(w->cluster, &o, &e)) {
			obj_pdb_drop(w->vocab, &o);
			return fail(w, "budget", &e);
		}
	}
	return true;
}

/* Facts leave out which API a group is of: it is Kubernetes' own. */
bool world_put_group(struct world *w, const struct tree *t)
{
	static const struct tree api = {.kind = TREE_STRING, .n = 25, .text = "scheduling.k8s.io/v1beta1"};
	struct tree_field *fields = arena_n(w->f->arena, t->n + 1, struct tree_field);
	struct object_source src = source_of(w);
	struct tree with_api = *t;
	struct obj_group o;
	struct err e;

	fields[0] = (struct tree_field){.key = "apiVersion", .key_len = 10, .value = &api};
	for (uint32_t i = 0; i < t->n; i++)
		fields[i + 1] = t->fields[i];
	with_api.fields = fields;
	with_api.n++;
	if (manifest_group(w->vocab, &src, &with_api, &o, &e))
		return fail(w, "group", &e);
	if (!cluster_put_group(w->cluster, &o, &e))
		return true;
	obj_group_drop(w->vocab, &o);
	return fail(w, "group", &e);
}

static bool put_groups(struct world *w)
{
	const struct tree *list = tree_get(w->f->t, "podGroups");

	for (uint32_t i = 0; i < tree_count(list); i++)
		if (!world_put_group(w, list->items[i]))
			return false;
	return true;
}

/* Services and controllers. */
static bool put_objects(struct world *w)
{
	const struct tree *list = tree_get(w->f->t, "objects");
	struct object_source src = source_of(w);
	struct obj_owner o;
	struct err e;

	for (uint32_t i = 0; i < tree_count(list); i++) {
		if (manifest_owner(w->vocab, &src, list->items[i], &o, &e))
			return fail(w, "object", &e);
		if (cluster_put_owner(w->cluster, &o, &e)) {
			obj_owner_drop(w->vocab, &o);
			return fail(w, "object", &e);
		}
	}
	return true;
}

static bool read_pod(struct world *w, const struct tree *t, struct obj_pod *ret)
{
	struct object_source src = source_of(w);
	struct err e;

	return !manifest_pod(w->vocab, &src, t, ret, &e) || fail(w, "pod", &e);
}

static pod_id put_pod(struct world *w, struct obj_pod *o)
{
	name_id ns = labelset_get(w->vocab, o->labelset)->ns, name = o->name;
	struct err e;

	if (!cluster_put_pod(w->cluster, o, &e))
		return ledger_pod_find(w->ledger, ns, name);
	obj_pod_drop(w->vocab, o);
	fail(w, "pod", &e);
	return POD_NONE;
}

/*
 * A pod that asks for a node by name and yet waits is something only facts know: the name is put back once the cluster
 * has taken the pod for a waiting one.
 */
pod_id world_put_pod(struct world *w, const struct tree *t, bool is_waiting)
{
	struct obj_pod o;
	name_id node_name;
	pod_id pod;

	if (!read_pod(w, t, &o))
		return POD_NONE;
	if (!is_waiting)
		return put_pod(w, &o);
	node_name = o.node_name;
	o.node_name = NAME_NONE;
	pod = put_pod(w, &o);
	if (pod != POD_NONE)
		ledger_pod(w->ledger, pod)->obj->node_name = node_name;
	else
		names_drop(vocab_names(w->vocab), node_name);
	return pod;
}

pod_id world_put_member(struct world *w, const struct tree *t, const char *group)
{
	struct obj_pod o;

	if (!read_pod(w, t, &o))
		return POD_NONE;
	names_drop(vocab_names(w->vocab), o.group);
	o.group = names_hold_str(vocab_names(w->vocab), group);
	o.group_is_k8s = true;
	return put_pod(w, &o);
}

pod_id world_put_named(struct world *w, const struct tree *t, const char *name)
{
	struct obj_pod o;

	if (!read_pod(w, t, &o))
		return POD_NONE;
	if (name) {
		names_drop(vocab_names(w->vocab), o.name);
		o.name = names_hold_str(vocab_names(w->vocab), name);
	}
	return put_pod(w, &o);
}

pod_id world_put_pod_on(struct world *w, const struct tree *t, const char *node)
{
	struct obj_pod o;

	if (!read_pod(w, t, &o))
		return POD_NONE;
	names_drop(vocab_names(w->vocab), o.node_name);
	o.node_name = names_hold_str(vocab_names(w->vocab), node);
	return put_pod(w, &o);
}

static bool put_pods(struct world *w)
{
	const struct tree *list = tree_get(w->f->t, "pods");

	for (uint32_t i = 0; i < tree_count(list); i++)
		if (world_put_pod(w, list->items[i], false) == POD_NONE)
			return false;
	return true;
}

bool world_open(struct world *w, struct fact *f)
{
	struct cluster_options o = cluster_options_default();

	*w = (struct world){
		.f = f, .vocab = vocab_new(), .config = engine_config_new(), .cycle_arena = arena_new(1 << 16)};
	o.profile = w->config->profile = PROFILE_KUBERNETES;
	o.now_ns = world_now_ns;
	w->config->bag = name_bag_of(vocab_names(w->vocab));
	w->profile = &w->config->kube_profiles[0];
	w->cluster = cluster_new(w->vocab, &o);
	w->ledger = cluster_ledger(w->cluster);
	ledger_check_always(w->ledger, true);
	return put_namespaces(w) && put_nodes(w) && put_pdbs(w) && put_objects(w) && put_groups(w) && put_pods(w);
}

void world_close(struct world *w)
{
	world_end(w);
	framework_free(w->framework);
	cluster_free(w->cluster);
	engine_config_free(w->config);
	vocab_free(w->vocab);
	arena_free(w->cycle_arena);
}

/* ---- profiles ---- */

enum err_code world_args(struct world *w, const char *plugin, const struct tree *args, struct err *e)
{
	struct tree name = {.kind = TREE_STRING, .n = (uint32_t)strlen(plugin), .text = plugin};
	struct tree_field fields[] = {{.key = "name", .key_len = 4, .value = &name},
				      {.key = "args", .key_len = 4, .value = args}};
	struct tree entry = {.kind = TREE_MAP, .n = 2, .fields = fields};
	struct reader r = {
		.vocab = w->vocab, .names = vocab_names(w->vocab), .scratch = w->f->arena, .file = w->f->file};
	struct at at = at_root(&entry);

	return args ? kube_plugin_args(&r, &at, w->config, &w->profile->args, e) : ERR_OK;
}

void world_features(struct world *w)
{
	const struct tree *on = tree_path(w->f->t, "config.features"), *off = tree_path(w->f->t, "config.featuresOff");

	w->profile->args.toleration_bounds = tree_has(on, "TaintTolerationComparisonOperators");
	w->profile->args.spread_ignores_match_keys = tree_has(off, "MatchLabelKeysInPodTopologySpread");
}

static bool make_framework(struct world *w)
{
	struct err e;

	w->framework = framework_new(w->cluster, w->profile, NULL, 0, &e);
	return w->framework || fail(w, "profile", &e);
}

static const struct plugin_ref everything = {.name = "*"};

static bool make_only(struct world *w, struct plugin_ref *enabled, uint32_t n, uint32_t without)
{
	/* Something must order the waiting pods and something must bind them. */
	enabled[n] = (struct plugin_ref){.name = priority_sort_plugin.name};
	enabled[n + 1] = (struct plugin_ref){.name = default_binder_plugin.name};
	w->profile->points[POINT_MULTI] = (struct plugin_set){n + 2, 1, enabled, &everything};
	for (int p = POINT_MULTI + 1; p < POINT_COUNT; p++)
		if (without >> p & 1)
			w->profile->points[p] = (struct plugin_set){0, 1, NULL, &everything};
	return make_framework(w);
}

bool world_only(struct world *w, const struct tree *plugins, uint32_t without)
{
	struct plugin_ref *enabled = arena_n(w->f->arena, tree_count(plugins) + 2, struct plugin_ref);

	for (uint32_t i = 0; i < tree_count(plugins); i++)
		enabled[i] = (struct plugin_ref){.name = tree_text(plugins->items[i], "")};
	return make_only(w, enabled, tree_count(plugins), without);
}

bool world_only_one(struct world *w, const char *plugin, uint32_t without)
{
	struct plugin_ref *enabled = arena_n(w->f->arena, 3, struct plugin_ref);

	enabled[0] = (struct plugin_ref){.name = plugin};
	return make_only(w, enabled, 1, without);
}

static bool is_builtin(const char *name)
{
	for (size_t i = 0; i < builtin_plugin_count; i++)
		if (str_eq(builtin_plugins[i]->name, name))
			return true;
	return false;
}

void world_disable(struct world *w, const struct tree *disabled)
{
	struct plugin_ref *off = arena_n(w->f->arena, tree_count(disabled) + 1, struct plugin_ref);
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree_count(disabled); i++)
		if (is_builtin(tree_text(disabled->items[i], "")))
			off[n++] = (struct plugin_ref){.name = tree_text(disabled->items[i], "")};
	w->profile->points[POINT_MULTI] = (struct plugin_set){0, n, NULL, off};
}

bool world_default(struct world *w, const struct tree *disabled)
{
	world_disable(w, disabled);
	return make_framework(w);
}

/* ---- cycles ---- */

bool world_begin_id(struct world *w, pod_id pod)
{
	if (pod == POD_NONE)
		return false;
	cycle_begin(&w->cycle, w->framework, w->cycle_arena, pod, world_now_ns);
	w->is_begun = true;
	return true;
}

bool world_begin(struct world *w, const struct tree *pod)
{
	return world_begin_id(w, world_put_pod(w, pod, true));
}

void world_end(struct world *w)
{
	if (w->is_begun)
		cycle_end(&w->cycle);
	w->is_begun = false;
	arena_reset(w->cycle_arena);
}

/* ---- names and words ---- */

node_id world_node(const struct world *w, const char *name)
{
	const struct names *names = vocab_names(w->vocab);
	name_id id = names_find(names, name, strlen(name));
	node_id node = id == NAME_NONE ? NODE_NONE : ledger_node_find(w->ledger, id);

	return node != NODE_NONE && ledger_node(w->ledger, node)->is_live ? node : NODE_NONE;
}

const char *world_node_name(const struct world *w, node_id node)
{
	return node == NODE_NONE ? "none" : name_str(vocab_names(w->vocab), ledger_node(w->ledger, node)->name);
}

const char *world_pod_name(const struct world *w, pod_id pod)
{
	return name_str(vocab_names(w->vocab), ledger_pod(w->ledger, pod)->name);
}

static const char *const code_names[] = {
	[CEDE_SUCCESS] = "Success",
	[CEDE_ERROR] = "Error",
	[CEDE_UNSCHEDULABLE] = "Unschedulable",
	[CEDE_UNRESOLVABLE] = "UnschedulableAndUnresolvable",
	[CEDE_WAIT] = "Wait",
	[CEDE_SKIP] = "Skip",
	[CEDE_PENDING] = "Pending",
};

bool status_code_parse(const char *s, enum cede_code *ret)
{
	for (size_t i = 0; i < sizeof(code_names) / sizeof(*code_names); i++) {
		if (str_eq(code_names[i], s)) {
			*ret = (enum cede_code)i;
			return true;
		}
	}
	return false;
}

const char *status_code_name(const struct status *s)
{
	return code_names[s->verdict.code];
}

const char *status_words(const struct world *w, const struct status *s)
{
	struct text out = {0};
	const char *words;

	text_add(&out, code_names[s->verdict.code]);
	for (size_t i = 0; s->verdict.code != CEDE_SUCCESS && s->verdict.code != CEDE_SKIP; i++) {
		size_t before = out.n;

		text_add(&out, i ? ", " : ": ");
		if (!status_reason(&w->cycle, s, i, &out)) {
			out.n = before;
			break;
		}
	}
	words = arena_strndup(w->f->arena, text_str(&out), out.n);
	text_free(&out);
	return words;
}

const char *status_words_expected(const struct fact *f, const struct tree *t)
{
	const struct tree *reasons = tree_get(t, "reasons");
	struct text out = {0};
	const char *words;

	text_add(&out, tree_text(tree_get(t, "code"), "Success"));
	for (uint32_t i = 0; i < tree_count(reasons); i++)
		text_printf(&out, "%s%s", i ? ", " : ": ", tree_text(reasons->items[i], ""));
	words = arena_strndup(f->arena, text_str(&out), out.n);
	text_free(&out);
	return words;
}

void same_status(struct world *w, const char *what, const struct tree *expected, const struct status *got)
{
	const char *want = status_words_expected(w->f, expected), *have = status_words(w, got);

	/* What is inside an error is a library's wording. */
	if (got->verdict.code == CEDE_ERROR && str_eq(tree_text(tree_get(expected, "code"), ""), "Error"))
		return;
	if (!str_eq(want, have))
		fact_differs(w->f, what, want, have);
}
