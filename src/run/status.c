/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a waiting pod's status says: PodScheduled=False with the reason, and the node it is nominated to. Writes of one
 * pod go out one after the other, so that the last word is the last one written; what was not sent yet and is outdated
 * is not sent at all.
 */
#include "run/scheduler_internal.h"

static name_id keep(struct scheduler *s, name_id id)
{
	names_keep(s->names, id);
	return id;
}

static void send(struct scheduler *s, struct task *t)
{
	struct kube_condition c = {.type = "PodScheduled",
				   .status = "False",
				   .reason = t->reason,
				   .message = text_str(&t->words),
				   .since_ns = s->now.wall_ns};
	const char *nominated = t->sets_nominated ? str_of(s, t->nominated) : NULL;
	struct kube_write w = {0};

	write_pod_status(&w, str_of(s, t->ns), str_of(s, t->name), str_of(s, t->uid), &c, t->reason != NULL, nominated);
	task_send(s, t, &w);
}

/* The task of the pod that was not sent yet; one is made if there is none. */
static struct task *unsent(struct scheduler *s, pod_id pod)
{
	struct pod_note *note = note_of(s, pod);
	struct task *t = note->status;

	if (t && t->next)
		return t->next;
	if (t && !t->request)
		return t;
	struct task *mine = task_new(s, TASK_STATUS, pod);
	note = note_of(s, pod);
	if (t)
		t->next = mine;
	else
		note->status = mine;
	return mine;
}

static void go(struct scheduler *s, struct task *t)
{
	struct task *first = note_of(s, t->pod)->status;

	if (first == t && !t->request)
		task_at(s, t, s->now.steady_ns);
}

static void set_condition(struct scheduler *s, pod_id pod, const char *reason, const char *message)
{
	uint64_t hash = hash_mix(hash_bytes(reason, strlen(reason)), hash_bytes(message, strlen(message))) | 1;
	struct task *t;

	if (s->o.is_dry || note_of(s, pod)->told == hash)
		return;
	note_of(s, pod)->told = hash;
	t = unsent(s, pod);
	t->reason = reason;
	text_reset(&t->words);
	text_add(&t->words, message);
	go(s, t);
}

void status_unschedulable(struct scheduler *s, pod_id pod, const char *message)
{
	set_condition(s, pod, "Unschedulable", message);
}

void status_error(struct scheduler *s, pod_id pod, const char *message)
{
	set_condition(s, pod, "SchedulerError", message);
}

/* ---- nominations ---- */

static name_id wanted(const struct scheduler *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);

	return p->nomination != NOMINATION_NONE ? ledger_node(s->ledger, p->node)->name : NAME_NONE;
}

/* What will be written last, or was. */
static name_id latest(const struct scheduler *s, const struct pod_note *note)
{
	name_id id = note->nominated;

	(void)s;
	for (const struct task *t = note->status; t; t = t->next)
		if (t->sets_nominated)
			id = t->nominated;
	return id;
}

static void sync_one(struct scheduler *s, pod_id pod)
{
	name_id node = wanted(s, pod);
	struct task *t;

	if (latest(s, note_of(s, pod)) != node) {
		t = unsent(s, pod);
		names_drop(s->names, t->nominated);
		t->sets_nominated = true;
		t->nominated = keep(s, node);
		go(s, t);
	} else if (node != NAME_NONE && note_of(s, pod)->nominated == node) {
		evict_release(s, pod);
	}
	if (node == NAME_NONE)
		evict_preemptor_gone(s, pod);
}

void status_nominate(struct scheduler *s, pod_id pod, name_id node)
{
	struct task *t = unsent(s, pod);

	names_drop(s->names, t->nominated);
	t->sets_nominated = true;
	t->nominated = keep(s, node);
	go(s, t);
}

void status_sync_nominations(struct scheduler *s)
{
	for (pod_id pod = bits_next(&s->nominated, 0); pod != UINT32_MAX; pod = bits_next(&s->nominated, pod + 1)) {
		const struct pod *p = ledger_pod(s->ledger, pod);

		if (p->state == POD_WAITING && engine_is_ours(s->world->engine, p))
			sync_one(s, pod);
		else
			evict_preemptor_gone(s, pod);
		if (p->state != POD_WAITING || (wanted(s, pod) == NAME_NONE && !note_of(s, pod)->status))
			bits_clear(&s->nominated, pod);
	}
}

/* ---- answers ---- */

static void finish(struct scheduler *s, struct task *t)
{
	struct pod_note *note = note_of(s, t->pod);

	note->status = t->next;
	if (t->next)
		task_at(s, t->next, s->now.steady_ns);
	task_end(s, t);
}

static void written(struct scheduler *s, struct task *t)
{
	struct pod_note *note = note_of(s, t->pod);
	pod_id pod = t->pod;

	if (t->sets_nominated) {
		names_drop(s->names, note->nominated);
		note->nominated = keep(s, t->nominated);
	}
	finish(s, t);
	if (ledger_pod(s->ledger, pod)->state == POD_WAITING)
		sync_one(s, pod);
}

void status_answer(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	if (n->result == KUBE_OK) {
		written(s, t);
	} else if (is_worth_retrying(n) || n->result == KUBE_GONE || n->result == KUBE_CONFLICT) {
		task_pause(s, t); /* if it is gone the watch will say so, and whoever had to go for it stays */
	} else if (n->result != KUBE_FENCED && n->result != KUBE_CANCELLED) {
		/* a pod that was bound meanwhile cannot be nominated any more */
		say(s, ledger_pod(s->ledger, t->pod)->state == POD_WAITING,
		    "the status of %s/%s could not be written: %s", str_of(s, t->ns), str_of(s, t->name), n->error);
		note_of(s, t->pod)->told = 0;
		pod_id preemptor = t->sets_nominated && t->nominated != NAME_NONE ? t->pod : POD_NONE;
		finish(s, t);
		evict_plan_failed(s, preemptor, true);
	}
}

/* A pod that has its place does not wait, and is nominated only while it waits for its volumes. */
static bool is_outdated(const struct scheduler *s, const struct task *t)
{
	const struct pod *p = ledger_pod(s->ledger, t->pod);
	const struct task *bind = s->notes.v[t->pod].bind;

	if (p->obj->node_name != NAME_NONE)
		return true;
	if (bind)
		return bind->step != STEP_VOLUMES || !t->sets_nominated;
	return p->state != POD_WAITING;
}

void status_step(struct scheduler *s, struct task *t)
{
	if (!is_outdated(s, t)) {
		send(s, t);
		return;
	}
	note_of(s, t->pod)->told = 0;
	finish(s, t);
}

void status_gone(struct scheduler *s, pod_id pod)
{
	struct pod_note *note = note_of(s, pod);

	for (struct task *t = note->status, *next; t; t = next) {
		next = t->next;
		t->next = NULL;
		task_end(s, t);
	}
	note->status = NULL;
}
