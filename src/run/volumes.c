/* SPDX-License-Identifier: Apache-2.0 */
#include "run/volumes.h"

#include "base/emit.h"
#include "cluster/storage.h"
#include "filters/framework.h"

#define SELECTED_NODE "volume.kubernetes.io/selected-node"
#define BOUND_BY "pv.kubernetes.io/bound-by-controller"

static const struct kube_kind claims = {"PersistentVolumeClaim", "", {"v1"}, "persistentvolumeclaims", false};
static const struct kube_kind volumes = {"PersistentVolume", "", {"v1"}, "persistentvolumes", false};

static const struct storage *storage_of(const struct scheduler *s)
{
	return cluster_storage(s->world->cluster);
}

void volume_writes_free(struct scheduler *s, struct task *t)
{
	for (uint32_t i = 0; i < t->volumes.n; i++) {
		names_drop(s->names, t->volumes.v[i].ns);
		names_drop(s->names, t->volumes.v[i].claim);
		names_drop(s->names, t->volumes.v[i].volume);
	}
	array_free(&t->volumes);
}

/* ---- writing ---- */

static void emit_object_meta(const struct scheduler *s, struct emit *j, name_id uid, name_id version)
{
	emit_object(j, "metadata");
	emit_str(j, "uid", str_of(s, uid));
	emit_str(j, "resourceVersion", str_of(s, version));
}

/* The claimRef of a volume; NULL takes it away. */
static void make_claim_ref(struct scheduler *s, const struct obj_pv *v, const struct obj_pvc *c, struct kube_write *w)
{
	struct text path = {0}, body = {0};
	struct emit j;

	kube_path(&path, &volumes, "v1", NULL, str_of(s, v->name));
	emit_init(&j, &body, EMIT_JSON_LINE);
	emit_object(&j, NULL);
	emit_object_meta(s, &j, v->uid, v->resource_version);
	emit_object(&j, "annotations");
	emit_str(&j, BOUND_BY, c ? "yes" : NULL);
	emit_end(&j);
	emit_end(&j);
	emit_object(&j, "spec");
	if (!c) {
		emit_str(&j, "claimRef", NULL);
	} else {
		emit_object(&j, "claimRef");
		emit_str(&j, "apiVersion", "v1");
		emit_str(&j, "kind", "PersistentVolumeClaim");
		emit_str(&j, "namespace", str_of(s, c->ns));
		emit_str(&j, "name", str_of(s, c->name));
		emit_str(&j, "uid", str_of(s, c->uid));
		emit_str(&j, "resourceVersion", str_of(s, c->resource_version));
		emit_end(&j);
	}
	emit_end(&j);
	emit_end(&j);
	write_object(w, "PATCH", text_str(&path), &body);
	text_free(&path);
	text_free(&body);
}

static void make_selected_node(struct scheduler *s, const struct obj_pvc *c, const char *node, struct kube_write *w)
{
	struct text path = {0};

	kube_path(&path, &claims, "v1", str_of(s, c->ns), str_of(s, c->name));
	write_annotation(w, text_str(&path), str_of(s, c->uid), str_of(s, c->resource_version), SELECTED_NODE, node);
	text_free(&path);
}

/* ---- taking back ---- */

static void send_aside(struct scheduler *s, struct kube_write *w)
{
	task_write(s, TASK_VOLUME, w);
}

/* What came to nothing must not tie the next attempt to this node. */
static void take_back(struct scheduler *s, const struct task *t)
{
	for (uint32_t i = 0; i < t->volumes.n; i++) {
		const struct volume_write *x = &t->volumes.v[i];
		const struct obj_pvc *c = storage_pvc(storage_of(s), x->ns, x->claim);
		const struct obj_pv *v = x->volume != NAME_NONE ? storage_pv(storage_of(s), x->volume) : NULL;
		struct kube_write w = {0};

		if (!x->is_written || !c || c->volume_name != NAME_NONE)
			continue;
		if (v && pv_is_kept_for(v, c))
			make_claim_ref(s, v, NULL, &w);
		else if (!v && c->has_selected_node && c->selected_node == t->node)
			make_selected_node(s, c, NULL, &w);
		else
			continue;
		send_aside(s, &w);
	}
}

static void undo(struct scheduler *s, struct task *t, const char *happened, const char *what)
{
	struct text why = {0};

	text_printf(&why, "binding volumes: %s%s", what, happened);
	take_back(s, t);
	bits_set(&s->nominated, t->pod);
	bind_undo(s, t, text_str(&why), false);
	status_sync_nominations(s);
	text_free(&why);
}

/* ---- what is so by now ---- */

static bool node_is_there(const struct scheduler *s, name_id name)
{
	node_id n = ledger_node_find(s->ledger, name);

	return n != NODE_NONE && ledger_node(s->ledger, n)->is_live;
}

/* Of one claim that was written: NULL, or why it will never be bound here. */
static const char *trouble_of(const struct scheduler *s, const struct task *t, struct volume_write *x, bool *ret_bound)
{
	const struct obj_pvc *c = storage_pvc(storage_of(s), x->ns, x->claim);
	const struct obj_pv *v = x->volume != NAME_NONE ? storage_pv(storage_of(s), x->volume) : NULL;

	*ret_bound = false;
	if (!c || c->deleted_ns != TIME_NONE)
		return " is gone";
	if (pvc_is_bound(c)) {
		*ret_bound = true;
		return NULL;
	}
	if (x->volume != NAME_NONE) {
		bool is_kept = v && pv_is_kept_for(v, c);

		if (x->is_seen && !is_kept)
			return ": ClaimRef got reset";
		x->is_seen |= is_kept;
		return NULL;
	}
	if (x->is_seen && (!c->has_selected_node || c->selected_node != t->node))
		return ": selectedNode annotation reset";
	x->is_seen |= c->has_selected_node && c->selected_node == t->node;
	return NULL;
}

/* All written: bound, still to be waited for, or in vain. */
static void look(struct scheduler *s, struct task *t)
{
	bool is_all = true;

	if (!node_is_there(s, t->node)) {
		undo(s, t, " is gone", str_of(s, t->node));
		return;
	}
	for (uint32_t i = 0; i < t->volumes.n; i++) {
		bool is_bound;
		const char *trouble = trouble_of(s, t, &t->volumes.v[i], &is_bound);

		if (trouble) {
			undo(s, t, trouble, str_of(s, t->volumes.v[i].claim));
			return;
		}
		is_all &= is_bound;
	}
	if (is_all)
		bind_send(s, t);
}

static int64_t deadline_of(const struct scheduler *s, const struct task *t)
{
	const struct plugin_args *args = framework_args(engine_framework(s->world->engine, t->pod));

	return time_add(t->began_ns, time_multiply(NS_PER_S, args->bind_timeout_seconds));
}

/* ---- steps ---- */

static struct volume_write *next_unwritten(struct task *t)
{
	for (int round = 0; round < 2; round++) /* volumes first, then claims */
		for (uint32_t i = 0; i < t->volumes.n; i++)
			if (!t->volumes.v[i].is_written && (t->volumes.v[i].volume == NAME_NONE) == (round == 1))
				return &t->volumes.v[i];
	return NULL;
}

/* false: the objects are not what they were. */
static bool write_one(struct scheduler *s, struct task *t, struct volume_write *x)
{
	const struct obj_pvc *c = storage_pvc(storage_of(s), x->ns, x->claim);
	const struct obj_pv *v = x->volume != NAME_NONE ? storage_pv(storage_of(s), x->volume) : NULL;
	struct kube_write w = {0};

	if (!c || (x->volume != NAME_NONE && !v))
		return false;
	if (v && pv_is_kept_for(v, c) && v->claim_uid != NAME_NONE) {
		x->is_written = true;
		return true;
	}
	if (!v && c->has_selected_node && c->selected_node == t->node) {
		x->is_written = true;
		return true;
	}
	if (v)
		make_claim_ref(s, v, c, &w);
	else
		make_selected_node(s, c, str_of(s, t->node), &w);
	task_send(s, t, &w);
	return true;
}

static void go_on(struct scheduler *s, struct task *t)
{
	struct volume_write *x;

	while (!t->request && (x = next_unwritten(t)))
		if (!write_one(s, t, x)) {
			undo(s, t, " is gone", str_of(s, x->claim));
			return;
		}
	if (t->request)
		return;
	task_at(s, t, deadline_of(s, t));
	look(s, t);
}

bool volumes_begin(struct scheduler *s, struct task *t)
{
	const struct assumption *a;

	for (uint32_t i = 0; (a = ledger_pod_assumed(s->ledger, t->pod, i)); i++) {
		struct volume_write x = {.ns = a->ns, .claim = a->claim, .volume = a->volume};

		names_keep(s->names, x.ns);
		names_keep(s->names, x.claim);
		names_keep(s->names, x.volume);
		array_push(&t->volumes, x);
	}
	if (!t->volumes.n)
		return false;
	t->step = STEP_VOLUMES;
	status_nominate(s, t->pod, t->node); /* whoever comes after us knows where it goes */
	go_on(s, t);
	return true;
}

void volumes_step(struct scheduler *s, struct task *t)
{
	if (!next_unwritten(t) && s->now.steady_ns >= deadline_of(s, t))
		undo(s, t, "", "timed out waiting for the condition");
	else
		go_on(s, t);
}

void volumes_answer(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	struct volume_write *x = next_unwritten(t);

	if (n->result == KUBE_OK && x) {
		x->is_written = true;
		t->tries = 0;
		go_on(s, t);
	} else if (is_worth_retrying(n)) {
		task_pause(s, t);
	} else if (n->result != KUBE_FENCED && n->result != KUBE_CANCELLED) {
		undo(s, t, "", n->error);
	}
}

void volumes_changed(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->tasks.n; i++) {
		struct task *t = s->tasks.v[i];

		if (t && t->kind == TASK_BIND && t->step == STEP_VOLUMES && !t->is_over && !t->request &&
		    !next_unwritten(t))
			task_at(s, t, s->now.steady_ns);
	}
}
