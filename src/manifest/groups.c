/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups of both worlds, and KAI's Queue objects. */
#include "base/map.h"
#include "manifest/config_fields.h"
#include "units/duration.h"

/* ---- PodGroup ---- */

static enum err_code subgroup(const struct reader *r, const struct at *a, struct map *by_name, struct obj_group *o,
			      struct err *e)
{
	struct obj_subgroup *s = &o->subgroups[o->n_subgroups];
	const char *name = "", *parent = "";
	struct at n = at_field(a, "name");
	int64_t min = 1;

	TRY(get_text(r, a, "name", &name, e));
	TRY(get_text(r, a, "parent", &parent, e));
	TRY(get_int(r, a, "minMember", 0, INT32_MAX, &min, e));
	if (!*name)
		return at_expected(r, &n, e, "a name");
	*s = (struct obj_subgroup){name_bag_add_str(&o->bag, name), name_bag_add_str(&o->bag, parent),
				   min < 1 ? 1 : (int32_t)min};
	if (map_get(by_name, s->name) != MAP_NONE)
		return at_fail(r, &n, e, "\"%.60s\" is the name of another sub-group of this group", name);
	map_put(by_name, s->name, o->n_subgroups++);
	return ERR_OK;
}

/*
 * Parents exist and lead to a top. What lies on a way that was walked is marked with where the way began: to meet one's
 * own mark again is a circle, to meet another's is to know the rest.
 */
static enum err_code subgroup_parents(const struct reader *r, const struct at *list, const struct map *by_name,
				      const struct obj_group *o, struct err *e)
{
	uint32_t *mark = arena_n(r->scratch, o->n_subgroups + 1, uint32_t);

	for (uint32_t i = 0; i < o->n_subgroups; i++) {
		struct at item = at_item(list, i), parent = at_field(&item, "parent");
		uint32_t at = i;

		for (; !mark[at] && o->subgroups[at].parent != NAME_NONE;) {
			name_id up = o->subgroups[at].parent;

			mark[at] = i + 1;
			at = map_get(by_name, up);
			if (at == MAP_NONE)
				return at_fail(r, &parent, e, "no sub-group is called \"%.60s\"",
					       name_str(r->names, up));
			if (mark[at] == i + 1)
				return at_fail(r, &parent, e, "sub-groups are parents of each other in a circle");
		}
	}
	return ERR_OK;
}

static enum err_code read_subgroups(const struct reader *r, const struct at *list, struct map *by_name,
				    struct obj_group *o, struct err *e)
{
	for (uint32_t i = 0; i < at_count(list); i++) {
		struct at s = at_item(list, i);

		TRY(subgroup(r, &s, by_name, o, e));
	}
	return subgroup_parents(r, list, by_name, o, e);
}

static enum err_code subgroups(const struct reader *r, const struct at *spec, struct obj_group *o, struct err *e)
{
	struct at list = at_field(spec, "subGroups");
	struct map by_name = {0};
	enum err_code rc;

	TRY(at_want(r, &list, TREE_LIST, e));
	o->subgroups = mem_alloc((at_count(&list) + 1) * sizeof(*o->subgroups));
	rc = read_subgroups(r, &list, &by_name, o, e);
	map_free(&by_name);
	return rc;
}

static void kai_group_slips(const struct reader *r, const struct at *spec)
{
	static const char *const keys[] = {"minMember",
					   "queue",
					   "priorityClassName",
					   "preemptibility",
					   "subGroups",
					   "minSubGroup",
					   "parallelism",
					   "completions",
					   "backoffLimit",
					   "markUnschedulable",
					   "schedulingBackoff",
					   "topologyConstraint",
					   NULL};
	struct at topology = at_field(spec, "topologyConstraint");

	at_note_slips(r, spec, keys);
	if (tree_is(topology.t, TREE_MAP) && topology.t->n > 0)
		at_note(r, &topology, "cede does not keep a pod group within one topology domain; taken as not set");
}

static enum err_code kai_group(const struct reader *r, const struct at *root, struct obj_group *o, struct err *e)
{
	struct at spec = at_field(root, "spec"), meta = at_field(root, "metadata"),
		  annotations = at_field(&meta, "annotations");
	struct at preemptibility = at_field(&spec, "preemptibility");
	int64_t min = 1;
	const char *text = "";

	kai_group_slips(r, &spec);
	TRY(get_int(r, &spec, "minMember", 0, INT32_MAX, &min, e));
	o->min_member = min < 1 ? 1 : (int32_t)min;
	TRY(get_name(r, &spec, "queue", &o->queue, e));
	TRY(get_name(r, &spec, "priorityClassName", &o->priority_class, e));
	TRY(get_text(r, &spec, "preemptibility", &text, e));
	if (*text && !preemptibility_parse(text, &o->preemptibility))
		at_note(r, &preemptibility,
			"\"%.40s\" is not preemptible, non-preemptible or semi-preemptible; taken as not set", text);
	TRY(at_want(r, &annotations, TREE_MAP, e));
	get_time_or_note(r, &annotations, "kai.scheduler/last-start-timestamp", &o->started_ns);
	get_time_or_note(r, &annotations, "kai.scheduler/stale-podgroup-timestamp", &o->stale_ns);
	return subgroups(r, &spec, o, e);
}

/* What such a group may ask for beyond what cede has: read past, and said. */
static void note_unknown(const struct reader *r, const struct at *spec)
{
	struct at constraints = at_field(spec, "schedulingConstraints"), topology = at_field(&constraints, "topology"),
		  parent = at_field(spec, "parentCompositePodGroupName");

	if (at_count(&topology))
		at_note(r, &topology, "cede does not keep a pod group within one topology domain; taken as not set");
	if (parent.t)
		at_note(r, &parent, "cede has no composite pod groups; the group stands for itself");
}

static enum err_code k8s_group(const struct reader *r, const struct at *root, struct obj_group *o, struct err *e)
{
	struct at spec = at_field(root, "spec"), policy = at_field(&spec, "schedulingPolicy"),
		  gang = at_field(&policy, "gang"), mode = at_field(&spec, "disruptionMode"),
		  priority = at_field(&spec, "priority");
	const char *never = "";
	int64_t min = 0;

	TRY(at_want(r, &policy, TREE_MAP, e));
	TRY(get_int(r, &gang, "minCount", 0, INT32_MAX, &min, e));
	o->min_member = (int32_t)min;
	TRY(get_name(r, &spec, "priorityClassName", &o->priority_class, e));
	TRY(get_int32(r, &spec, "priority", &o->priority, e));
	o->has_priority = priority.t != NULL;
	TRY(at_want(r, &mode, TREE_MAP, e));
	o->goes_whole = tree_get(mode.t, "all") != NULL;
	TRY(get_text(r, &spec, "preemptionPolicy", &never, e));
	o->never_preempts = str_eq(never, "Never");
	note_unknown(r, &spec);
	return ERR_OK;
}

static bool is_k8s_api(const struct tree *t)
{
	const char *api = map_text(t, "apiVersion");

	return api && str_starts(api, "scheduling.k8s.io/");
}

static enum err_code read_group(struct reader *r, const struct tree *t, struct obj_group *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec");
	const char *ns, *name;

	TRY(get_identity(r, &root, "PodGroup", "default", &ns, &name, e));
	TRY(at_want(r, &spec, TREE_MAP, e));
	o->ns = names_hold_str(r->names, ns);
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &meta, "uid", &o->uid, e));
	TRY(get_time(r, &meta, "creationTimestamp", &o->created_ns, e));
	o->is_k8s = is_k8s_api(t);
	return o->is_k8s ? k8s_group(r, &root, o, e) : kai_group(r, &root, o, e);
}

enum err_code manifest_group(struct vocab *v, const struct object_source *src, const struct tree *t,
			     struct obj_group *ret, struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_group){.bag = name_bag_of(vocab_names(v)),
				  .created_ns = TIME_NONE,
				  .started_ns = TIME_NONE,
				  .stale_ns = TIME_NONE};
	rc = read_group(&r, t, ret, e);
	if (rc)
		obj_group_drop(v, ret);
	object_reader_end(&r);
	return rc;
}

/* ---- KAI Queue ---- */

/* MR-12: a bad duration on a Queue is reported and counts as not set. */
static enum err_code queue_duration(const struct reader *r, const struct at *spec, const char *key, int64_t *ret,
				    struct err *e)
{
	struct at a = at_field(spec, key);
	const char *text = NULL;
	struct err why;
	int64_t ns;

	TRY(get_text(r, spec, key, &text, e));
	if (!text)
		return ERR_OK;
	if (duration_parse(text, strlen(text), false, &ns, &why))
		at_note(r, &a, "%s; taken as not set", why.msg);
	else if (ns < 0)
		at_note(r, &a, "\"%.40s\" is negative; taken as not set", text);
	else
		*ret = ns;
	return ERR_OK;
}

/* Only -1 says "without end" in KAI; what other negative amounts say there is an accident. */
static enum err_code share_amount(const struct reader *r, const struct at *share, const char *key, double *ret,
				  struct err *e)
{
	struct at a = at_field(share, key);

	TRY(get_double(r, share, key, ret, e));
	if (*ret < 0 && *ret != -1) {
		at_note(r, &a, "expected an amount, or -1 for no bound; taken as -1");
		*ret = -1;
	}
	return ERR_OK;
}

static enum err_code share(const struct reader *r, const struct at *resources, const char *key, struct kai_share *ret,
			   struct err *e)
{
	static const char *const keys[] = {"quota", "limit", "overQuotaWeight", NULL};
	struct at a = at_field(resources, key);

	TRY(at_want(r, &a, TREE_MAP, e));
	at_note_unknown(r, &a, keys);
	TRY(share_amount(r, &a, "quota", &ret->quota, e));
	TRY(share_amount(r, &a, "limit", &ret->limit, e));
	return get_double(r, &a, "overQuotaWeight", &ret->over_quota_weight, e);
}

/* The same as YuniKorn's property of that name; bad hours are noted and protect nobody. */
static void read_protected_hours(const struct reader *r, const struct at *meta, struct queue_props *props)
{
	struct at annotations = at_field(meta, "annotations"), a = at_field(&annotations, PROTECTED_HOURS_KEY);
	const char *text = map_text(annotations.t, PROTECTED_HOURS_KEY);
	bool is_bad = false;

	if (!a.t)
		return;
	if (text)
		queue_prop_set(props, PROTECTED_HOURS_KEY, text, &is_bad);
	if (!text || is_bad)
		at_note(r, &a, "expected hours such as Mon-Fri 09:00-17:00 +01:00, or none; they are ignored");
}

static enum err_code read_queue(struct reader *r, const struct tree *t, struct arena *arena, struct queue_def *def,
				struct err *e)
{
	static const char *const keys[] = {[KAI_GPU] = "gpu", [KAI_CPU] = "cpu", [KAI_MEMORY] = "memory", NULL},
				 *const spec_keys[] = {"displayName", "parentQueue",	   "resources",
						       "priority",    "preemptMinRuntime", "reclaimMinRuntime",
						       NULL};
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec"),
		  resources = at_field(&spec, "resources");
	struct queue_spec *q = &def->spec;
	const char *ns, *name, *parent = "", *display = "";
	int64_t priority = 100;

	TRY(get_identity(r, &root, "Queue", NULL, &ns, &name, e));
	TRY(at_want(r, &spec, TREE_MAP, e));
	TRY(at_want(r, &resources, TREE_MAP, e));
	at_note_unknown(r, &spec, spec_keys);
	at_note_unknown(r, &resources, keys);
	TRY(get_text(r, &spec, "parentQueue", &parent, e));
	def->kai_name = arena_strndup(arena, name, strlen(name));
	def->kai_parent = arena_strndup(arena, parent, strlen(parent));
	def->where = arena_printf(arena, "%s:%u:%u", r->file, t->line, t->col);
	q->sources = FROM_KAI;
	q->kai_name = name_bag_add_str(&q->bag, name);
	TRY(get_time(r, &meta, "creationTimestamp", &q->created_ns, e));
	TRY(get_text(r, &spec, "displayName", &display, e));
	q->display_name = name_bag_add_str(&q->bag, display);
	TRY(get_int(r, &spec, "priority", INT32_MIN, INT32_MAX, &priority, e));
	q->kai_priority = (int32_t)priority;
	q->has_kai_resources = true;
	for (int i = 0; i < KAI_RES; i++)
		TRY(share(r, &resources, keys[i], &q->kai[i], e));
	read_protected_hours(r, &meta, &q->props);
	TRY(queue_duration(r, &spec, "preemptMinRuntime", &q->preempt_min_runtime_ns, e));
	return queue_duration(r, &spec, "reclaimMinRuntime", &q->reclaim_min_runtime_ns, e);
}

enum err_code manifest_kai_queue(struct vocab *v, struct arena *a, const struct object_source *src,
				 const struct tree *t, struct queue_def *ret, struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct queue_def){0};
	queue_spec_init(&ret->spec, vocab_names(v));
	rc = read_queue(&r, t, a, ret, e);
	if (rc)
		queue_spec_free(&ret->spec);
	object_reader_end(&r);
	return rc;
}
