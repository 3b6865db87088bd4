/* SPDX-License-Identifier: Apache-2.0 */
/* A Pod object: who it is, where it stands, and what its labels and annotations ask of cede. */
#include <stdio.h>

#include "manifest/manifest.h"
#include "manifest/object.h"
#include "manifest/pod_gang.h"
#include "manifest/pod_spec.h"
#include "manifest/shape_memory.h"
#include "manifest/storage.h"
#include "units/duration.h"

static const struct {
	const char *text;
	enum pod_phase phase;
} phases[] = {
	{"Pending", PHASE_PENDING}, {"Running", PHASE_RUNNING}, {"Succeeded", PHASE_SUCCEEDED},
	{"Failed", PHASE_FAILED},   {"Unknown", PHASE_UNKNOWN},
};

static const struct {
	const char *text;
	enum owner_kind kind;
} owner_kinds[] = {
	{"ReplicaSet", OWNER_REPLICASET},
	{"StatefulSet", OWNER_STATEFULSET},
	{"DaemonSet", OWNER_DAEMONSET},
	{"Job", OWNER_JOB},
	{"Deployment", OWNER_DEPLOYMENT},
	{"ReplicationController", OWNER_RC},
	{"Node", OWNER_NODE},
};

enum owner_kind owner_kind_parse(const char *s)
{
	for (size_t i = 0; *s && i < sizeof(owner_kinds) / sizeof(*owner_kinds); i++)
		if (str_eq(owner_kinds[i].text, s))
			return owner_kinds[i].kind;
	return *s ? OWNER_OTHER : OWNER_NONE;
}

enum err_code get_controller(const struct reader *r, const struct at *metadata, struct controller_ref *ret,
			     struct err *e)
{
	struct at list = at_field(metadata, "ownerReferences");

	*ret = (struct controller_ref){.kind = "", .name = "", .uid = ""};
	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at o = at_item(&list, i);
		bool is_controller = false;

		TRY(get_bool(r, &o, "controller", &is_controller, e));
		if (!is_controller)
			continue;
		TRY(get_text(r, &o, "kind", &ret->kind, e));
		TRY(get_text(r, &o, "name", &ret->name, e));
		return get_text(r, &o, "uid", &ret->uid, e);
	}
	return ERR_OK;
}

static enum err_code condition(const struct reader *r, const struct at *c, struct obj_pod *o, struct err *e)
{
	const char *type = "", *status = "", *reason = "";

	TRY(get_text(r, c, "type", &type, e));
	TRY(get_text(r, c, "status", &status, e));
	TRY(get_text(r, c, "reason", &reason, e));
	if (str_eq(type, "DisruptionTarget"))
		o->is_preempted = str_eq(status, "True") && str_eq(reason, "PreemptionByScheduler");
	if (str_eq(type, "PodScheduled") && str_eq(status, "True"))
		get_time_or_note(r, c, "lastTransitionTime", &o->scheduled_ns);
	return ERR_OK;
}

static enum err_code status_fields(const struct reader *r, const struct at *status, struct obj_pod *o, struct err *e)
{
	struct at conditions = at_field(status, "conditions"), phase = at_field(status, "phase");
	const char *text = "Pending";
	bool is_known = false;

	TRY(at_want(r, status, TREE_MAP, e));
	TRY(get_text(r, status, "phase", &text, e));
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		if (!str_eq(phases[i].text, *text ? text : "Pending"))
			continue;
		o->phase = phases[i].phase;
		is_known = true;
	}
	if (!is_known)
		return at_expected(r, &phase, e, "Pending, Running, Succeeded, Failed or Unknown");
	get_time_or_note(r, status, "startTime", &o->started_ns);
	TRY(get_name(r, status, "nominatedNodeName", &o->nominated_node, e));
	TRY(at_want(r, &conditions, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&conditions); i++) {
		struct at c = at_item(&conditions, i);

		TRY(condition(r, &c, o, e));
	}
	return ERR_OK;
}

/* The first that is there of a label, an annotation, and more labels. */
static const char *first_text(const struct tree *labels, const struct tree *annotations, const char *both,
			      const char *const *more_labels)
{
	const char *s = map_text(labels, both);

	if (!s || !*s)
		s = map_text(annotations, both);
	for (; (!s || !*s) && *more_labels; more_labels++)
		s = map_text(labels, *more_labels);
	return s;
}

/* Names of groups have no commas; what has is none. */
static name_id joined(const struct reader *r, const struct tree *list)
{
	struct text all = {0};
	name_id id;

	for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++) {
		const struct tree *t = list->items[i];

		if (t->kind == TREE_STRING && t->n && !strchr(t->text, ','))
			text_printf(&all, "%s%s", all.n ? "," : "", t->text);
	}
	id = names_hold_str(r->names, text_str(&all));
	text_free(&all);
	return id;
}

/* {"user": "ann", "groups": ["dev"]}; a broken annotation is nobody's. */
static void read_user(const struct reader *r, const char *json, struct obj_pod *o)
{
	struct tree_reader *reader = tree_reader_new("user.info", json, strlen(json));
	struct tree_doc doc = {0};
	const char *user;

	if (!tree_next(reader, r->scratch, &doc, NULL) && (user = map_text(doc.root, "user")) && *user) {
		obj_pod_extra(o)->user = names_hold_str(r->names, user);
		obj_pod_extra(o)->user_groups = joined(r, tree_get(doc.root, "groups"));
	}
	tree_reader_free(reader);
}

enum tristate allow_preemption(const char *s)
{
	return !s ? UNSET : str_eq(s, "false") ? NO : str_eq(s, "true") ? YES : UNSET;
}

/* Tenants write it: what is none is noted, and as good as none. */
static void get_run_time(const struct reader *r, const struct at *annotations, int64_t *ret_ns)
{
	struct at at = at_field(annotations, "cede.dev/run-time");
	int64_t ns = 0;

	if (!at.t)
		return;
	if (duration_parse(at.t->text, at.t->n, true, &ns, NULL) || ns <= 0)
		at_note(r, &at, "expected a duration such as 2h30m: it counts as not stated");
	else
		*ret_ns = ns;
}

static enum err_code tags(const struct reader *r, const struct at *metadata, struct obj_pod *o, struct err *e)
{
	static const char *const app_labels[] = {"applicationId", "spark-app-selector", NULL};
	static const char *const queue_labels[] = {"queue", NULL};
	struct at labels = at_field(metadata, "labels"), annotations = at_field(metadata, "annotations");
	const char *preemptibility = map_text(labels.t, "kai.scheduler/preemptibility"), *user, *app, *queue, *subgroup;
	enum preemptibility said = PREEMPTIBILITY_UNSET;

	TRY(at_want(r, &annotations, TREE_MAP, e));
	get_time_or_note(r, &annotations, "cede.dev/checkpointed-at", &o->checkpointed_ns);
	get_run_time(r, &annotations, &o->run_ns);
	app = first_text(labels.t, annotations.t, "yunikorn.apache.org/app-id", app_labels);
	queue = first_text(labels.t, annotations.t, "yunikorn.apache.org/queue", queue_labels);
	o->app = names_hold_str(r->names, app);
	o->yunikorn_queue = names_hold_str(r->names, queue);
	o->kai_queue = names_hold_str(r->names, map_text(labels.t, "kai.scheduler/queue"));
	subgroup = map_text(labels.t, "kai.scheduler/subgroup-name");
	if (subgroup)
		obj_pod_extra(o)->subgroup = names_hold_str(r->names, subgroup);
	o->allows_preemption = allow_preemption(map_text(annotations.t, "yunikorn.apache.org/allow-preemption"));
	if (preemptibility && !preemptibility_parse(preemptibility, &said)) {
		struct at a = at_field(&labels, "kai.scheduler/preemptibility");

		at_note(r, &a, "\"%.40s\" is not preemptible, non-preemptible or semi-preemptible; taken as not set",
			preemptibility);
	}
	o->preemptibility = said;
	user = map_text(annotations.t, "yunikorn.apache.org/user.info");
	if (user)
		read_user(r, user, o);
	return ERR_OK;
}

static enum err_code group_of(const struct reader *r, const struct at *root, struct obj_pod *o, struct err *e)
{
	struct at spec = at_field(root, "spec"), group = at_field(&spec, "schedulingGroup"),
		  meta = at_field(root, "metadata"), annotations = at_field(&meta, "annotations");

	o->group = names_hold_str(r->names, map_text(annotations.t, "pod-group-name"));
	if (o->group || !group.t)
		return ERR_OK;
	o->group_is_k8s = true;
	return get_name(r, &group, "podGroupName", &o->group, e);
}

static enum err_code shape_of(const struct reader *r, const struct at *root, struct obj_pod *o, struct err *e)
{
	struct name_bag bag = name_bag_of(r->names);
	struct at spec = at_field(root, "spec");
	struct shape draft = {0};
	struct req_pod req;
	enum err_code rc;

	o->shape = shape_memory_find(r->shapes, r, root);
	if (o->shape != SHAPE_NONE)
		return ERR_OK;
	rc = pod_spec(r, &spec, &bag, &draft, e);
	if (!rc)
		rc = pod_req(r, root, &req, e);
	if (!rc)
		rc = pod_amounts(r, root, &req, &draft, e);
	if (!rc)
		o->shape = shape_hold(r->vocab, &draft);
	if (!rc)
		shape_memory_keep(r->shapes, r, o->shape);
	name_bag_drop(&bag);
	return rc;
}

enum err_code get_labelset(const struct reader *r, const struct at *metadata, const char *ns, labelset_id *ret,
			   struct err *e)
{
	struct name_bag bag = name_bag_of(r->names);
	struct label *kv;
	uint32_t n;
	enum err_code rc = get_labels(r, metadata, "labels", &bag, &kv, &n, e);

	if (!rc)
		*ret = labelset_hold(r->vocab, name_bag_add_str(&bag, ns), kv, n);
	name_bag_drop(&bag);
	return rc;
}

static enum err_code read_pod(struct reader *r, const struct tree *t, struct obj_pod *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec"),
		  status = at_field(&root, "status");
	struct at priority = at_field(&spec, "priority");
	struct controller_ref owner;
	const char *ns, *name, *uid = "";

	TRY(get_identity(r, &root, "Pod", "default", &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_text(r, &meta, "uid", &uid, e));
	o->uid = uid_hold(r->names, uid, strlen(uid));
	TRY(get_labelset(r, &meta, ns, &o->labelset, e));
	TRY(get_time(r, &meta, "creationTimestamp", &o->created_ns, e));
	TRY(get_time(r, &meta, "deletionTimestamp", &o->deleted_ns, e));
	TRY(get_controller(r, &meta, &owner, e));
	o->owner_kind = owner_kind_parse(owner.kind);
	o->owner_name = names_hold_str(r->names, owner.name);
	o->owner_uid = names_hold_str(r->names, owner.uid);
	TRY(shape_of(r, &root, o, e));
	TRY(pod_volumes(r, &spec, name, &o->volumes, e));
	TRY(get_name(r, &spec, "nodeName", &o->node_name, e));
	TRY(get_name(r, &spec, "priorityClassName", &o->priority_class, e));
	TRY(get_int32(r, &spec, "priority", &o->priority, e));
	o->has_priority = priority.t != NULL;
	TRY(group_of(r, &root, o, e));
	TRY(tags(r, &meta, o, e));
	pod_gang(r, &meta, o);
	return status_fields(r, &status, o, e);
}

enum err_code manifest_pod(struct vocab *v, const struct object_source *src, const struct tree *t, struct obj_pod *ret,
			   struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_pod){.labelset = LABELSET_NONE,
				.shape = SHAPE_NONE,
				.created_ns = TIME_NONE,
				.started_ns = TIME_NONE,
				.scheduled_ns = TIME_NONE,
				.deleted_ns = TIME_NONE,
				.checkpointed_ns = TIME_NONE};
	rc = read_pod(&r, t, ret, e);
	if (rc)
		obj_pod_drop(v, ret);
	object_reader_end(&r);
	return rc;
}
