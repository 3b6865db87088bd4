/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two words on names of queues. A queue that nobody defines (the implicit root.default, those made for pods by
 * placement rules) is not found by its name: whether it is there depends on who came before, and what a pod gets must
 * not. Who asks for "root.default" while nobody defines it means the queue of those without one. A queue that is being
 * drained is there for work that has a node, and for nobody else.
 */
#include "cluster/resolve.h"

#include <string.h>
#include <strings.h>

#define KAI_PRIORITY 50 /* of KAI's work without a class */

enum pod_state resolve_state(const struct obj_pod *o)
{
	if (o->phase == PHASE_SUCCEEDED || o->phase == PHASE_FAILED)
		return POD_FINISHED;
	if (o->node_name == NAME_NONE)
		return o->deleted_ns == TIME_NONE ? POD_WAITING : POD_FINISHED;
	return o->deleted_ns == TIME_NONE ? POD_PLACED : POD_LEAVING;
}

/* ---- queues ---- */

static bool is_below_root(const char *name)
{
	return strncasecmp(name, "root", 4) == 0 && (name[4] == '.' || name[4] == '\0');
}

static queue_id find_path(const struct queue_tree *t, const char *name)
{
	if (is_below_root(name))
		return queue_tree_find(t, name, strlen(name));
	struct text path = {0};
	text_printf(&path, "root.%s", name);
	queue_id q = queue_tree_find(t, path.s, path.n);
	text_free(&path);
	return q;
}

static bool is_root_default(const char *name)
{
	return strcasecmp(name, "default") == 0 || strcasecmp(name, "root.default") == 0;
}

bool queue_is_closing(const struct queue_tree *t, queue_id q)
{
	for (; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->is_draining)
			return true;
	return false;
}

static struct queue_answer no_queue(name_id wanted, enum queue_trouble trouble)
{
	return (struct queue_answer){.queue = QUEUE_NONE, .wanted = wanted, .trouble = trouble};
}

static struct queue_answer default_queue(name_id wanted)
{
	return (struct queue_answer){.queue = QUEUE_NONE, .is_default = true, .wanted = wanted};
}

static bool is_there(const struct queue_tree *t, queue_id q)
{
	return q != QUEUE_NONE && queue_is_defined(queue_get(t, q));
}

static struct queue_answer answer_leaf(const struct queue_tree *t, queue_id q, name_id wanted, bool has_node)
{
	if (!has_node && queue_get(t, q)->is_draining)
		return no_queue(wanted, TROUBLE_DRAINING);
	if (!queue_is_leaf(t, q))
		return no_queue(wanted, TROUBLE_PARENT);
	return (struct queue_answer){.queue = q, .wanted = wanted};
}

static struct queue_answer by_path(const struct queue_tree *t, name_id wanted, bool has_node)
{
	const char *name = name_str(t->names, wanted);
	queue_id q = find_path(t, name);

	if (is_there(t, q))
		return answer_leaf(t, q, wanted, has_node);
	return is_root_default(name) ? default_queue(wanted) : no_queue(wanted, TROUBLE_UNKNOWN);
}

/* KAI's names are those of Queue objects. In a cluster of mixed objects they may also be paths of queues.yaml. */
static struct queue_answer by_kai_name(const struct cluster *c, name_id wanted, bool has_node)
{
	const struct queue_tree *t = tree_of(c);
	queue_id q = queue_tree_find_kai(t, wanted);

	if (is_there(t, q) && (has_node || !queue_get(t, q)->is_draining))
		return answer_leaf(t, q, wanted, has_node);
	if (profile_get(c->options.profile)->has_only_kai_queues)
		return no_queue(wanted, q != QUEUE_NONE ? TROUBLE_DRAINING : TROUBLE_UNKNOWN);
	return by_path(t, wanted, has_node);
}

struct queue_answer resolve_queue(const struct cluster *c, const struct queue_ask *ask, struct text *path)
{
	const struct profile_data *profile = profile_get(c->options.profile);
	const struct obj_pod *pod = ask->pod;

	if (profile->has_no_queues)
		return default_queue(NAME_NONE);
	if (ask->group != NULL && ask->group->queue != NAME_NONE)
		return by_kai_name(c, ask->group->queue, ask->has_node);
	if (pod == NULL)
		return default_queue(NAME_NONE);
	if (pod->kai_queue != NAME_NONE)
		return by_kai_name(c, pod->kai_queue, ask->has_node);
	if (profile->has_only_kai_queues)
		return default_queue(NAME_NONE);
	if (c->has_yunikorn || c->placement != NULL)
		return resolve_placement(c, ask, path);
	return pod->yunikorn_queue != NAME_NONE ? by_path(tree_of(c), pod->yunikorn_queue, ask->has_node)
						: default_queue(NAME_NONE);
}

struct default_place resolve_default(const struct queue_tree *t)
{
	queue_id outer = queue_tree_find(t, "root.default", strlen("root.default"));

	if (outer == QUEUE_NONE)
		return (struct default_place){QUEUE_NONE, QUEUE_ROOT};
	if (queue_is_leaf(t, outer))
		return (struct default_place){outer, QUEUE_NONE};
	queue_id inner = queue_tree_find(t, "root.default.default", strlen("root.default.default"));
	if (inner == QUEUE_NONE)
		return (struct default_place){QUEUE_NONE, outer};
	return (struct default_place){queue_is_leaf(t, inner) ? inner : QUEUE_NONE, QUEUE_NONE};
}

/* ---- groups ---- */

/* A gang that pods make: of YuniKorn's only pods of its task groups are members. */
static group_id resolve_gang(const struct cluster *c, const struct obj_pod *o, group_id g, podset_id *ret_podset,
			     uint32_t *complaints)
{
	const struct obj_group *group = g != GROUP_NONE ? ledger_group(c->ledger, g)->obj : NULL;
	bool is_member = !obj_gang(o)->is_yunikorn || obj_gang(o)->task_group != NAME_NONE;

	if (!is_member || !cluster_reads_gang(c, obj_gang(o)))
		return GROUP_NONE;
	if (group == NULL || !group->is_of_pods || (group->n_subgroups > 0) != obj_gang(o)->is_yunikorn) {
		*complaints |= UNKNOWN_GROUP;
		return GROUP_NONE;
	}
	*ret_podset =
		ledger_podset_find(c->ledger, g, obj_gang(o)->is_yunikorn ? obj_gang(o)->task_group : c->default_name);
	if (*ret_podset != PODSET_NONE)
		return g;
	*complaints |= UNKNOWN_SUBGROUP;
	return GROUP_NONE;
}

group_id resolve_group(const struct cluster *c, const struct obj_pod *o, podset_id *ret_podset, uint32_t *complaints)
{
	*ret_podset = PODSET_NONE;
	if (o->group == NAME_NONE)
		return GROUP_NONE;
	group_id g = ledger_group_find(c->ledger, labelset_get(c->vocab, o->labelset)->ns, o->group, o->group_is_k8s);
	if (obj_gang(o) != NULL)
		return resolve_gang(c, o, g, ret_podset, complaints);
	if (g == GROUP_NONE) {
		if (!o->group_is_k8s && !profile_get(c->options.profile)->ignores_kai_groups)
			*complaints |= UNKNOWN_GROUP;
		return GROUP_NONE;
	}
	bool is_k8s = ledger_group(c->ledger, g)->obj->is_k8s;
	if (ledger_group(c->ledger, g)->obj->is_of_pods)
		return GROUP_NONE;
	if (profile_get(c->options.profile)->ignores_kai_groups && !is_k8s)
		return GROUP_NONE;
	bool names_one = !is_k8s && obj_subgroup(o) != NAME_NONE;
	*ret_podset = ledger_podset_find(c->ledger, g, names_one ? obj_subgroup(o) : c->default_name);
	if (*ret_podset != PODSET_NONE)
		return g;
	*complaints |= UNKNOWN_SUBGROUP;
	return GROUP_NONE;
}

/* ---- priority ---- */

static const struct {
	const char *name;
	int32_t value;
} builtin_classes[] = {
	{"train", 50},
	{"build-preemptible", 75},
	{"build", 100},
	{"inference", 125},
	{"system-cluster-critical", 2000000000},
	{"system-node-critical", 2000001000},
};

static bool class_value(const struct cluster *c, name_id name, int32_t *ret)
{
	const struct obj_class *class = cluster_class(c, name);

	if (class != NULL) {
		*ret = class->value;
		return true;
	}
	for (size_t i = 0; i < sizeof(builtin_classes) / sizeof(*builtin_classes); i++) {
		if (strcmp(name_str(c->names, name), builtin_classes[i].name) == 0) {
			*ret = builtin_classes[i].value;
			return true;
		}
	}
	return false;
}

/* The named class, else the global default, else what is left. */
static int32_t priority_by_class(const struct cluster *c, name_id name, int32_t otherwise, uint32_t *complaints)
{
	int32_t value;

	if (name != NAME_NONE) {
		if (class_value(c, name, &value))
			return value;
		*complaints |= UNKNOWN_CLASS;
	}
	return c->default_class != NULL ? c->default_class->value : otherwise;
}

static int32_t own_priority(const struct cluster *c, const struct obj_pod *o, queue_id queue, uint32_t *complaints)
{
	if (o->has_priority)
		return o->priority;
	bool is_kai_only = queue != QUEUE_NONE && queue_get(tree_of(c), queue)->spec.sources == FROM_KAI;
	return priority_by_class(c, o->priority_class, is_kai_only ? KAI_PRIORITY : 0, complaints);
}

/* Kubernetes' groups may leave it to their pods, gangs of pods always do; KAI's never do. */
static bool decides_priority(const struct cluster *c, const struct obj_group *g)
{
	int32_t value;

	return (!g->is_k8s && !g->is_of_pods) || g->has_priority ||
	       (g->priority_class != NAME_NONE && class_value(c, g->priority_class, &value));
}

int32_t resolve_priority(const struct cluster *c, const struct obj_pod *o, group_id group, queue_id queue,
			 uint32_t *complaints)
{
	if (group != GROUP_NONE && decides_priority(c, ledger_group(c->ledger, group)->obj))
		return ledger_group(c->ledger, group)->priority;
	return own_priority(c, o, queue, complaints);
}

int32_t resolve_group_priority(const struct cluster *c, const struct obj_group *g, const struct obj_pod *speaker,
			       uint32_t *complaints)
{
	uint32_t of_pod = 0;

	if (g->has_priority)
		return g->priority;
	if (decides_priority(c, g))
		return priority_by_class(c, g->priority_class, KAI_PRIORITY, complaints);
	if (g->priority_class != NAME_NONE)
		*complaints |= UNKNOWN_CLASS;
	return speaker != NULL ? own_priority(c, speaker, QUEUE_NONE, &of_pod)
			       : priority_by_class(c, NAME_NONE, 0, &of_pod);
}

/* ---- preemptibility (PP-3, PP-4, PP-9) ---- */

static enum preemptibility label_of(const struct cluster *c, labelset_id labelset, uint32_t complaint,
				    uint32_t *complaints)
{
	enum preemptibility p;
	name_id value;

	if (!labels_get(&labelset_get(c->vocab, labelset)->labels, c->preemptibility_key, &value) || value == NAME_NONE)
		return PREEMPTIBILITY_UNSET;
	if (preemptibility_parse(name_str(c->names, value), &p))
		return p;
	*complaints |= complaint;
	return PREEMPTIBILITY_UNSET;
}

static enum preemptibility explicit_of(const struct cluster *c, const struct obj_group *g, const struct obj_pod *o,
				       uint32_t *complaints)
{
	if (g != NULL && g->preemptibility != PREEMPTIBILITY_UNSET)
		return g->preemptibility;
	if (o == NULL)
		return PREEMPTIBILITY_UNSET;
	const struct obj_owner *top = cluster_top_owner(c, o);
	enum preemptibility p =
		top != NULL ? label_of(c, top->labelset, BAD_OWNER_LABEL, complaints) : PREEMPTIBILITY_UNSET;
	enum preemptibility of_pod = label_of(c, o->labelset, BAD_POD_LABEL, complaints);
	if (p != PREEMPTIBILITY_UNSET)
		return p;
	return o->preemptibility != PREEMPTIBILITY_UNSET ? o->preemptibility : of_pod;
}

static bool is_kai_world(const struct cluster *c, const struct obj_group *g, queue_id queue)
{
	return (g != NULL && !g->is_k8s && !g->is_of_pods) ||
	       (queue != QUEUE_NONE && queue_get(tree_of(c), queue)->spec.sources & FROM_KAI);
}

static enum preemptibility by_priority(const struct cluster *c, const struct obj_group *g, queue_id queue,
				       int32_t priority)
{
	const struct cluster_options *o = &c->options;
	bool counts = o->reach == REACH_ALL || (o->reach == REACH_KAI && is_kai_world(c, g, queue));

	return counts && priority >= o->preemptibility_threshold ? NON_PREEMPTIBLE : PREEMPTIBLE;
}

enum preemptibility resolve_preemptibility(const struct cluster *c, const struct obj_pod *o, group_id group,
					   queue_id queue, int32_t priority, uint32_t *complaints)
{
	const struct obj_group *g = group != GROUP_NONE ? ledger_group(c->ledger, group)->obj : NULL;
	enum preemptibility p = explicit_of(c, g, o, complaints);

	if (p == SEMI_PREEMPTIBLE && g == NULL)
		return NON_PREEMPTIBLE; /* a pod on its own is all core */
	return p != PREEMPTIBILITY_UNSET ? p : by_priority(c, g, queue, priority);
}

enum preemptibility resolve_group_preemptibility(const struct cluster *c, const struct obj_group *g,
						 const struct obj_pod *speaker, queue_id queue, int32_t priority)
{
	uint32_t of_pod = 0;
	enum preemptibility p = explicit_of(c, g, speaker, &of_pod);

	return p != PREEMPTIBILITY_UNSET ? p : by_priority(c, g, queue, priority);
}

bool cluster_is_kai_world(const struct cluster *c, pod_id pod)
{
	const struct pod *p = ledger_pod(c->ledger, pod);

	return is_kai_world(c, p->group != GROUP_NONE ? ledger_group(c->ledger, p->group)->obj : NULL, p->queue);
}

/* ---- when it started ---- */

#define YEAR_2000_NS (INT64_C(946684800) * NS_PER_S)

bool resolve_is_future(const struct cluster *c, int64_t start_ns)
{
	return profile_get(c->options.profile)->start == START_ANY && c->latest_ns != TIME_NONE &&
	       start_ns > c->latest_ns;
}

int64_t resolve_believed(const struct cluster *c, int64_t start_ns)
{
	if (profile_get(c->options.profile)->start != START_ANY || start_ns == TIME_NONE)
		return start_ns;
	if (start_ns < YEAR_2000_NS)
		return TIME_NONE;
	return resolve_is_future(c, start_ns) ? c->latest_ns : start_ns;
}

bool resolve_is_odd(const struct cluster *c, int64_t start_ns)
{
	return resolve_believed(c, start_ns) != start_ns || (start_ns != TIME_NONE && start_ns < YEAR_2000_NS);
}

/* The first of its times that can be; *ret_odd: the first before it, or it, that is not as it was said. */
static int64_t first_believed(const struct cluster *c, const struct obj_pod *o, int64_t stamp, int64_t *ret_odd)
{
	const int64_t said[] = {stamp, o->started_ns, o->scheduled_ns, o->created_ns};
	int64_t believed = TIME_NONE;

	*ret_odd = TIME_NONE;
	for (size_t i = 0; i < sizeof(said) / sizeof(*said) && believed == TIME_NONE; i++) {
		believed = resolve_believed(c, said[i]);
		if (believed != said[i] && *ret_odd == TIME_NONE)
			*ret_odd = said[i];
	}
	return believed != TIME_NONE ? believed : c->options.now_ns;
}

static int64_t stamp_of(const struct cluster *c, group_id group)
{
	return group != GROUP_NONE ? ledger_group(c->ledger, group)->started_ns : TIME_NONE;
}

int64_t resolve_start(const struct cluster *c, const struct obj_pod *o, group_id group, int64_t was,
		      uint32_t *complaints)
{
	enum start_source source = profile_get(c->options.profile)->start;
	int64_t start, odd;

	if (source == START_STAMP)
		return stamp_of(c, group);
	if (source == START_STATUS)
		return o->started_ns;
	start = first_believed(c, o, stamp_of(c, group), &odd);
	if (odd == TIME_NONE)
		return start;
	*complaints |= ODD_START;
	return start == c->latest_ns && was != TIME_NONE && was < start ? was : start;
}

int64_t resolve_odd_start(const struct cluster *c, const struct obj_pod *o, group_id group)
{
	int64_t odd = TIME_NONE;

	if (profile_get(c->options.profile)->start == START_ANY)
		first_believed(c, o, stamp_of(c, group), &odd);
	return odd;
}
