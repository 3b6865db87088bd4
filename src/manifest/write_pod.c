/* SPDX-License-Identifier: Apache-2.0 */
/* A pod: what its object said, where it stands now. */
#include <inttypes.h>

#include "manifest/write_storage.h"
#include "units/duration.h"

/* ---- where it stands ---- */

static name_id node_name(const struct writer *w, const struct pod *p)
{
	return p->node != NODE_NONE ? ledger_node(w->l, p->node)->name : NAME_NONE;
}

static bool is_on_node(const struct pod *p)
{
	return p->state == POD_PLACED || p->state == POD_LEAVING;
}

static name_id bound_to(const struct writer *w, const struct pod *p)
{
	if (p->state == POD_FINISHED)
		return p->obj->node_name;
	return is_on_node(p) ? node_name(w, p) : NAME_NONE;
}

/* A nomination to a node that is there and that the ledger does not have was given up. */
static name_id nominated_to(const struct writer *w, const struct pod *p)
{
	name_id said = p->obj->nominated_node;
	node_id n = said ? ledger_node_find(w->l, said) : NODE_NONE;

	if (p->state != POD_WAITING)
		return said;
	if (p->nomination != NOMINATION_NONE)
		return node_name(w, p);
	return n != NODE_NONE && ledger_node(w->l, n)->is_live ? NAME_NONE : said;
}

/* Since when a pod runs that the engine put where it is, only the ledger knows. */
static int64_t started(const struct writer *w, const struct pod *p)
{
	bool is_moved = is_on_node(p) && node_name(w, p) != p->obj->node_name;

	return is_moved && p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns;
}

/* The ledger does not know when a pod was evicted, only that it was: the latest time that is known stands for it. */
static int64_t evicted_at(const struct writer *w, const struct pod *p)
{
	int64_t now = cluster_now(w->c);

	if (now != TIME_NONE)
		return now;
	if (p->started_ns != TIME_NONE)
		return p->started_ns;
	return p->created_ns != TIME_NONE ? p->created_ns : 0;
}

static int64_t deleted(const struct writer *w, const struct pod *p)
{
	if (p->state == POD_FINISHED)
		return p->obj->deleted_ns;
	if (p->state != POD_LEAVING)
		return TIME_NONE;
	return p->obj->deleted_ns != TIME_NONE ? p->obj->deleted_ns : evicted_at(w, p);
}

/* ---- metadata ---- */

/* What the pod says by labels is among them, unless somebody made the object by hand. */
static void labels(struct writer *w, const struct obj_pod *o)
{
	const struct pair said[] = {
		{"kai.scheduler/queue", str(w, o->kai_queue)},
		{"kai.scheduler/subgroup-name", str(w, obj_subgroup(o))},
		{"kai.scheduler/preemptibility", preemptibility_text(o->preemptibility)},
	};
	struct pair more[sizeof(said) / sizeof(*said)];
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		if (*said[i].value)
			more[n++] = said[i];
	write_labels(w, "labels", &labelset_get(w->v, o->labelset)->labels, more, n);
}

/* An annotation that says what the labels do not. */
static void tag(struct writer *w, const struct obj_pod *o, struct write_part *annotations, const char *key,
		const char *const *other_labels, name_id value)
{
	const struct labels *l = &labelset_get(w->v, o->labelset)->labels;
	name_id said = label_of(w, l, key);

	for (; !said && *other_labels; other_labels++)
		said = label_of(w, l, *other_labels);
	if (said != value)
		emit_str(part_open(w, annotations), key, str(w, value));
}

static void scoring(struct writer *w, const struct shape *s, struct write_part *annotations)
{
	if (!shape_needs_scoring(s))
		return;
	text_reset(&w->t);
	text_add(&w->t, "cpu=");
	res_amount_exact(RES_CPU, s->nonzero_cpu_milli, &w->t);
	text_add(&w->t, ",memory=");
	res_amount_exact(RES_MEMORY, s->nonzero_memory, &w->t);
	emit_str(part_open(w, annotations), "cede.dev/scoring-request", text_str(&w->t));
}

static void write_user(const struct writer *w, const struct obj_pod *o, struct emit *e)
{
	const char *groups = str(w, obj_user_groups(o));

	emit_str(e, "user", str(w, obj_user(o)));
	if (!*groups)
		return;
	emit_list(e, "groups");
	for (size_t n; *groups; groups += n + (groups[n] == ',')) {
		n = strcspn(groups, ",");
		emit_strf(e, NULL, "%.*s", (int)n, groups);
	}
	emit_end(e);
}

static void user(struct writer *w, const struct obj_pod *o, struct write_part *annotations)
{
	struct text json = {0};
	struct emit inner;

	if (!obj_user(o))
		return;
	emit_init(&inner, &json, EMIT_JSON_LINE);
	emit_object(&inner, NULL);
	write_user(w, o, &inner);
	emit_end(&inner);
	json.s[--json.n] = 0; /* the newline */
	emit_str(part_open(w, annotations), "yunikorn.apache.org/user.info", json.s);
	text_free(&json);
}

static void task_groups(struct writer *w, const struct pod_gang *g, struct write_part *annotations)
{
	struct text json = {0};
	struct emit inner;

	emit_init(&inner, &json, EMIT_JSON_LINE);
	emit_list(&inner, NULL);
	for (uint32_t i = 0; i < g->n_task_groups; i++) {
		emit_object(&inner, NULL);
		emit_str(&inner, "name", str(w, g->task_groups[i].name));
		emit_int(&inner, "minMember", g->task_groups[i].min_member);
		emit_end(&inner);
	}
	emit_end(&inner);
	json.s[--json.n] = 0; /* the newline */
	emit_str(part_open(w, annotations), "yunikorn.apache.org/task-groups", json.s);
	text_free(&json);
}

static void gang(struct writer *w, const struct obj_pod *o, struct write_part *annotations)
{
	const struct pod_gang *g = obj_gang(o);

	if (!g->is_yunikorn) {
		emit_str(part_open(w, annotations), "cede.dev/gang", str(w, o->group));
		emit_strf(w->e, "cede.dev/min-member", "%d", g->min_member);
		return;
	}
	if (g->task_group)
		emit_str(part_open(w, annotations), "yunikorn.apache.org/task-group-name", str(w, g->task_group));
	if (g->n_task_groups)
		task_groups(w, g, annotations);
	emit_strf(part_open(w, annotations), "yunikorn.apache.org/schedulingPolicyParameters",
		  "placeholderTimeoutInSeconds=%" PRId64 " gangSchedulingStyle=%s", g->timeout_ns / NS_PER_S,
		  g->is_hard ? "Hard" : "Soft");
}

static void run_time(struct writer *w, const struct obj_pod *o, struct write_part *p)
{
	int64_t run_ns = o->run_ns > 0 ? o->run_ns : w->run_ns;
	struct text t = {0};

	if (run_ns <= 0)
		return;
	duration_text(run_ns, &t);
	emit_str(part_open(w, p), "cede.dev/run-time", text_str(&t));
	text_free(&t);
}

static void annotations(struct writer *w, const struct obj_pod *o)
{
	static const char *const app_labels[] = {"applicationId", "spark-app-selector", NULL}, *const queue_labels[] = {
												       "queue", NULL};
	struct write_part p = {.key = "annotations"};

	if (o->checkpointed_ns != TIME_NONE)
		part_open(w, &p);
	write_time(w, "cede.dev/checkpointed-at", o->checkpointed_ns);
	run_time(w, o, &p);
	scoring(w, shape_get(w->v, o->shape), &p);
	if (o->group && !o->group_is_k8s && !obj_gang(o))
		emit_str(part_open(w, &p), "pod-group-name", str(w, o->group));
	if (obj_gang(o))
		gang(w, o, &p);
	if (o->allows_preemption != UNSET)
		emit_str(part_open(w, &p), "yunikorn.apache.org/allow-preemption",
			 o->allows_preemption == YES ? "true" : "false");
	tag(w, o, &p, "yunikorn.apache.org/app-id", app_labels, o->app);
	tag(w, o, &p, "yunikorn.apache.org/queue", queue_labels, o->yunikorn_queue);
	user(w, o, &p);
	part_end(w, &p);
}

/* ---- spec and status ---- */

static void spec(struct writer *w, const struct pod *p)
{
	const struct obj_pod *o = p->obj;

	emit_object(w->e, "spec");
	write_name(w, "nodeName", bound_to(w, p));
	write_name(w, "priorityClassName", o->priority_class);
	if (o->has_priority)
		emit_int(w->e, "priority", o->priority);
	if (o->group_is_k8s) {
		emit_object(w->e, "schedulingGroup");
		write_name(w, "podGroupName", o->group);
		emit_end(w->e);
	}
	write_pod_volumes(w, o->volumes, shape_get(w->v, o->shape)->has_claims);
	write_shape(w, shape_get(w->v, o->shape));
	emit_end(w->e);
}

static void condition(struct writer *w, struct write_part *list, const char *type, const char *reason, int64_t since)
{
	emit_object(part_open(w, list), NULL);
	emit_str(w->e, "type", type);
	emit_str(w->e, "status", "True");
	write_text(w, "reason", reason);
	write_time(w, "lastTransitionTime", since);
	emit_end(w->e);
}

static void conditions(struct writer *w, const struct pod *p)
{
	struct write_part list = {.key = "conditions", .is_list = true};

	if (p->obj->scheduled_ns != TIME_NONE)
		condition(w, &list, "PodScheduled", "", p->obj->scheduled_ns);
	if (p->obj->is_preempted || p->is_evicted)
		condition(w, &list, "DisruptionTarget", "PreemptionByScheduler", TIME_NONE);
	/* Only then does the specification not count where the pod is bound. */
	if (shape_usage_kind(shape_get(w->v, p->shape)) == USAGE_OTHER)
		condition(w, &list, "PodResizePending", "Infeasible", TIME_NONE);
	part_end(w, &list);
}

static void container_statuses(struct writer *w, const struct shape *s)
{
	if (shape_usage_kind(s) == USAGE_AS_REQUESTED || !s->usage.n)
		return;
	emit_list(w->e, "containerStatuses");
	emit_object(w->e, NULL);
	emit_str(w->e, "name", MAIN_CONTAINER);
	emit_object(w->e, "resources");
	write_amounts(w, "requests", &s->usage);
	emit_end(w->e);
	emit_end(w->e);
	emit_end(w->e);
}

static void status(struct writer *w, const struct pod *p)
{
	static const char *const phases[] = {
		[PHASE_PENDING] = "Pending", [PHASE_RUNNING] = "Running", [PHASE_SUCCEEDED] = "Succeeded",
		[PHASE_FAILED] = "Failed",   [PHASE_UNKNOWN] = "Unknown",
	};

	emit_object(w->e, "status");
	emit_str(w->e, "phase", phases[p->obj->phase]);
	write_time(w, "startTime", started(w, p));
	write_name(w, "nominatedNodeName", nominated_to(w, p));
	conditions(w, p);
	container_statuses(w, shape_get(w->v, p->shape));
	emit_end(w->e);
}

void write_pod(struct writer *w, pod_id id)
{
	const struct pod *p = ledger_pod(w->l, id);
	const struct obj_pod *o = p->obj;
	struct uid_text uid;

	object_begin(w, "v1", "Pod", str(w, labelset_get(w->v, o->labelset)->ns), str(w, o->name),
		     uid_str(w->names, o->uid, &uid));
	write_time(w, "creationTimestamp", o->created_ns);
	write_time(w, "deletionTimestamp", deleted(w, p));
	labels(w, o);
	annotations(w, o);
	write_controller(w, owner_kind_word(o->owner_kind), o->owner_name, uid_of_name(o->owner_uid));
	metadata_end(w);
	spec(w, p);
	status(w, p);
	object_end(w);
}
