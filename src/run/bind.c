/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod that got its place is bound. It keeps the place in the ledger (assumed) from the decision on, until its object
 * says the same or it is certain that it is not bound: an assumption that is given up too early gives room away twice
 * (CL-1). So after 409 and after answers that tell nothing the pod is read before anything is undone.
 */
#include "manifest/tree.h"
#include "run/scheduler_internal.h"
#include "run/volumes.h"

enum { TRIES_MAX = 5 };
#define SEEN_NS (30 * NS_PER_S) /* a watch is not behind for longer without being broken */

void bind_send(struct scheduler *s, struct task *t)
{
	struct kube_write w = {0};

	t->step = STEP_SEND;
	write_bind(&w, str_of(s, t->ns), str_of(s, t->name), str_of(s, t->uid), str_of(s, t->node));
	task_send(s, t, &w);
}

void bind_begin(struct scheduler *s, pod_id pod, node_id node, struct gang_bind *gang)
{
	struct task *t = task_new(s, TASK_BIND, pod);

	t->node = ledger_node(s->ledger, node)->name;
	names_keep(s->names, t->node);
	t->gang = gang;
	note_of(s, pod)->bind = t;
	if (!volumes_begin(s, t))
		task_at(s, t, s->now.steady_ns);
}

static void look(struct scheduler *s, struct task *t)
{
	static const struct kube_kind pods = {"Pod", "", {"v1"}, "pods", true};
	struct kube_write w = {0};
	struct text path = {0}, none = {0};

	t->step = STEP_LOOK;
	kube_path(&path, &pods, "v1", str_of(s, t->ns), str_of(s, t->name));
	write_object(&w, "GET", text_str(&path), &none);
	text_free(&path);
	task_send(s, t, &w);
}

/* Nobody else minds the end of it. */
static void finish(struct scheduler *s, struct task *t)
{
	note_of(s, t->pod)->bind = NULL;
	task_end(s, t);
}

static void gang_told(struct scheduler *s, struct task *t, bool is_bound, const char *why)
{
	struct gang_bind *g = t->gang;

	t->gang = NULL;
	if (g)
		gang_bind_ended(s, g, is_bound, why);
}

/* Its place is free again, and it waits. */
static void vacate(struct scheduler *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);

	if (p->state != POD_PLACED || p->obj->node_name != NAME_NONE)
		return;
	room_freed(s, pod, p->node);
	ledger_vacate(s->ledger, pod);
	ledger_set_started(s->ledger, pod, TIME_NONE);
	ledger_unassume(s->ledger, pod);
	ledger_commit(s->ledger);
	s->wants_plan = true;
}

/* It was not bound; the task ends. */
static void take_back(struct scheduler *s, struct task *t, const char *why)
{
	pod_id pod = t->pod;

	if (s->o.hooks.undone)
		s->o.hooks.undone(s->o.hooks.ctx, why);
	if (s->o.hooks.bound)
		s->o.hooks.bound(s->o.hooks.ctx, str_of(s, t->uid), why, &s->now);
	gang_told(s, t, false, why);
	finish(s, t);
	vacate(s, pod);
}

void bind_undo(struct scheduler *s, struct task *t, const char *why, bool at_once)
{
	pod_id pod = t->pod;
	struct text message = {0};

	text_printf(&message, "binding rejected: %s", why);
	say(s, true, "%s/%s could not be bound to %s: %s", str_of(s, t->ns), str_of(s, t->name), str_of(s, t->node),
	    why);
	take_back(s, t, why);
	if (ledger_pod(s->ledger, pod)->state == POD_WAITING) {
		waiting_return(s->waiting, pod, at_once, s->now.steady_ns);
		status_error(s, pod, text_str(&message));
		report_pod_event(s, pod, "Warning", "FailedScheduling", "Scheduling", text_str(&message), POD_NONE);
	}
	text_free(&message);
}

/*
 * Somebody else gave it a node, or it is another pod, or gone: the watch will say so, and nobody tries meanwhile. If it
 * does not, that was not true, and the pod comes back.
 */
static void give_up(struct scheduler *s, struct task *t, const char *why)
{
	pod_id pod = t->pod;

	take_back(s, t, why);
	if (ledger_pod(s->ledger, pod)->state == POD_WAITING)
		note_until(s, pod, time_add(s->now.wall_ns, SEEN_NS));
}

static void tell_bound(struct scheduler *s, struct task *t)
{
	struct text note = {0};

	t->is_told = true;
	text_printf(&note, "Successfully assigned %s/%s to %s", str_of(s, t->ns), str_of(s, t->name),
		    str_of(s, t->node));
	report_pod_event(s, t->pod, "Normal", "Scheduled", "Binding", text_str(&note), POD_NONE);
	text_free(&note);
	if (s->o.hooks.bound)
		s->o.hooks.bound(s->o.hooks.ctx, str_of(s, t->uid), "", &s->now);
	gang_told(s, t, true, "");
}

/* As the answer says. If the watch does not say so too in a while, the pod is read. */
static void is_bound(struct scheduler *s, struct task *t)
{
	if (!t->is_told)
		tell_bound(s, t);
	t->step = STEP_BOUND;
	if (!t->is_seen) {
		task_at(s, t, time_add(s->now.steady_ns, SEEN_NS));
		return;
	}
	if (s->o.hooks.observed)
		s->o.hooks.observed(s->o.hooks.ctx, str_of(s, t->uid), false, &s->now);
	finish(s, t);
}

static void looked(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	struct arena *a = arena_new(1 << 14);
	const struct tree *pod = NULL, *uid, *node;

	if (tree_parse_json("pod", text_str(&n->body), n->body.n, a, &pod, NULL)) {
		task_pause(s, t);
		arena_free(a);
		return;
	}
	uid = tree_path(pod, "metadata.uid");
	node = tree_path(pod, "spec.nodeName");
	if (!uid || uid->kind != TREE_STRING || !str_eq(uid->text, str_of(s, t->uid)))
		give_up(s, t, "another pod has its name now");
	else if (node && node->kind == TREE_STRING && *node->text && str_eq(node->text, str_of(s, t->node)))
		is_bound(s, t);
	else if (node && node->kind == TREE_STRING && *node->text)
		give_up(s, t, "somebody else bound it to another node");
	else
		bind_undo(s, t, text_str(&t->words), false);
	arena_free(a);
}

static void keep_words(struct task *t, const struct kube_news *n)
{
	text_reset(&t->words);
	text_add(&t->words, *n->error ? n->error : kube_result_text(n->result));
}

/* What is no JSON was not said by an API server: whatever stands between us and it may not have handed the bind on. */
static bool is_believable(const struct kube_news *n)
{
	struct arena *a = arena_new(1 << 10);
	const struct tree *said = NULL;
	bool is_so =
		!tree_parse_json("answer", text_str(&n->body), n->body.n, a, &said, NULL) && tree_is(said, TREE_MAP);

	arena_free(a);
	return is_so;
}

static void sent(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	keep_words(t, n);
	switch (n->result) {
	case KUBE_OK:
		if (is_believable(n))
			is_bound(s, t);
		else
			look(s, t);
		break;
	case KUBE_GONE:
		give_up(s, t, "it is gone");
		break;
	case KUBE_RETRYABLE:
	case KUBE_THROTTLED:
		if (t->tries < TRIES_MAX)
			task_pause(s, t); /* to the same node: whatever was carried out meanwhile is that */
		else
			look(s, t);
		break;
	case KUBE_FENCED:
	case KUBE_CANCELLED: /* we do not lead any more; whoever does lists everything anew */
		break;
	case KUBE_CONFLICT:
	case KUBE_FORBIDDEN:
	case KUBE_FATAL:
		look(s, t);
		break;
	}
}

void bind_answer(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	if (t->step == STEP_VOLUMES)
		volumes_answer(s, t, n);
	else if (t->step == STEP_SEND)
		sent(s, t, n);
	else if (n->result == KUBE_OK)
		looked(s, t, n);
	else if (n->result == KUBE_GONE && n->status == 404)
		give_up(s, t, "it is gone");
	else if (n->result != KUBE_FENCED && n->result != KUBE_CANCELLED)
		task_pause(s, t);
}

void bind_step(struct scheduler *s, struct task *t)
{
	if (t->step == STEP_VOLUMES)
		volumes_step(s, t);
	else if (t->step == STEP_LOOK || t->step == STEP_BOUND)
		look(s, t);
	else if (t->step == STEP_SEND)
		bind_send(s, t);
}

void bind_observed(struct scheduler *s, pod_id pod)
{
	struct task *t = note_of(s, pod)->bind;
	name_id node = ledger_pod(s->ledger, pod)->obj->node_name;

	if (!t)
		return;
	if (node != t->node) { /* the ledger has it there already */
		gang_told(s, t, false, "somebody else bound it to another node");
		finish(s, t);
		return;
	}
	t->is_seen = true;
	if (t->step != STEP_BOUND && !t->request) { /* between two attempts: the first had been carried out */
		is_bound(s, t);
		return;
	}
	if (t->step != STEP_BOUND)
		return;
	if (s->o.hooks.observed)
		s->o.hooks.observed(s->o.hooks.ctx, str_of(s, t->uid), false, &s->now);
	finish(s, t);
}

void bind_gone(struct scheduler *s, pod_id pod)
{
	struct task *t = note_of(s, pod)->bind;

	if (!t)
		return;
	gang_told(s, t, t->step == STEP_BOUND, "it is gone");
	finish(s, t);
}
