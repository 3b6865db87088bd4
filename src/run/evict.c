/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Victims. In the ledger they leave from the decision on; in the cluster one step after the other: the nomination they
 * are for is written (so that a successor knows whom the room is for), then the victim's DisruptionTarget condition,
 * then its deletion, for this uid and exactly the version the condition made. Each is asked once (CL-2).
 *
 * Before each step the decision must still hold: the pod it is for waits and is nominated there, and the victim is what
 * it was. Otherwise whoever was not asked yet stays, and says so.
 */
#include "manifest/tree.h"
#include "run/scheduler_internal.h"

#define SEEN_NS (30 * NS_PER_S)
#define NO_PLACE "the pod it had to go for does not need its place any more"

/* ---- what rules look at ---- */

static uint64_t material_of(const struct pod *p)
{
	const struct obj_pod *o = p->obj;
	uint64_t h = hash_mix(hash_mix(0, o->uid.high), o->uid.low);

	h = hash_mix(hash_mix(h, o->labelset), o->shape);
	h = hash_mix(hash_mix(h, (uint32_t)p->priority), p->group);
	h = hash_mix(hash_mix(h, p->preemptibility), o->allows_preemption);
	return hash_mix(hash_mix(h, o->preemptibility), p->queue);
}

static bool is_nominated(const struct scheduler *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);

	return p->state == POD_WAITING && p->nomination != NOMINATION_NONE;
}

/* Of a gang any member may hold the claim. */
static bool holds(const struct scheduler *s, const struct task *t)
{
	const struct cluster *c = s->world->cluster;

	if (t->preemptor_uid == NAME_NONE)
		return true;
	if (t->preemptor != POD_NONE && is_nominated(s, t->preemptor))
		return true;
	if (t->group == GROUP_NONE || !ledger_group(s->ledger, t->group)->is_live)
		return false;
	for (pod_id i = cluster_group_first(c, t->group); i != POD_NONE; i = cluster_group_next(c, i))
		if (ledger_pod(s->ledger, i)->group == t->group && is_nominated(s, i))
			return true;
	return false;
}

static bool is_same(const struct scheduler *s, const struct task *t)
{
	const struct pod *p = ledger_pod(s->ledger, t->pod);

	return p->state == POD_LEAVING && p->is_evicted && p->obj->deleted_ns == TIME_NONE &&
	       material_of(p) == t->material;
}

/* ---- ending ---- */

static void finish(struct scheduler *s, struct task *t)
{
	note_of(s, t->pod)->evict = NULL;
	task_end(s, t);
}

static void told(struct scheduler *s, const struct task *t, const char *error)
{
	if (s->o.hooks.evicted)
		s->o.hooks.evicted(s->o.hooks.ctx, str_of(s, t->uid), error, &s->now);
}

/* The condition said that it has to go; now it does not. */
static void take_condition_back(struct scheduler *s, const struct task *t)
{
	struct kube_condition c = {.type = "DisruptionTarget",
				   .status = "False",
				   .reason = "PreemptionByScheduler",
				   .message = NO_PLACE,
				   .since_ns = s->now.wall_ns};
	struct kube_write w = {0};

	write_pod_status(&w, str_of(s, t->ns), str_of(s, t->name), str_of(s, t->uid), &c, 1, NULL);
	task_write(s, TASK_GROUP, &w);
}

/* It stays. Whoever it had to go for looks again. */
static void cancel(struct scheduler *s, struct task *t, const char *why)
{
	const struct pod *p = ledger_pod(s->ledger, t->pod);

	say(s, false, "%s/%s stays: %s", str_of(s, t->ns), str_of(s, t->name), why);
	told(s, t, why);
	if (t->step == STEP_DELETE)
		take_condition_back(s, t);
	if (p->state == POD_LEAVING && p->is_evicted && p->obj->deleted_ns == TIME_NONE) {
		ledger_unevict(s->ledger, t->pod);
		ledger_commit(s->ledger);
	}
	finish(s, t);
	s->wants_plan = true;
	wake_nominated(s, p->node);
}

void evict_plan_failed(struct scheduler *s, pod_id preemptor, bool is_error)
{
	if (preemptor == POD_NONE || !is_nominated(s, preemptor))
		return;
	ledger_clear_nomination(s->ledger, preemptor);
	ledger_commit(s->ledger);
	evict_preemptor_gone(s, preemptor);
	status_sync_nominations(s);
	if (is_error) {
		waiting_remove(s->waiting, preemptor);
		waiting_return(s->waiting, preemptor, false, s->now.steady_ns);
	} else {
		waiting_activate(s->waiting, preemptor, s->now.steady_ns);
	}
}

/* The plan does not work as it was made: the pod looks anew, and whoever was not asked yet stays. */
static void fail(struct scheduler *s, struct task *t, const char *why, bool is_error)
{
	pod_id preemptor = t->preemptor;

	cancel(s, t, why);
	evict_plan_failed(s, preemptor, is_error);
}

/* ---- beginning ---- */

static void link_victim(struct scheduler *s, struct task *t)
{
	struct pod_note *note = note_of(s, t->preemptor);

	t->next_victim = note->victims;
	if (note->victims)
		note->victims->prev_victim = t;
	note->victims = t;
}

void evict_unlink(struct scheduler *s, struct task *t)
{
	if (t->preemptor == POD_NONE)
		return;
	if (t->next_victim)
		t->next_victim->prev_victim = t->prev_victim;
	if (t->prev_victim)
		t->prev_victim->next_victim = t->next_victim;
	else
		note_of(s, t->preemptor)->victims = t->next_victim;
	t->next_victim = t->prev_victim = NULL;
	t->preemptor = POD_NONE;
}

static void set_preemptor(struct scheduler *s, struct task *t, const struct decision *d)
{
	const struct pod *p = ledger_pod(s->ledger, d->pod);

	t->preemptor = d->pod;
	t->group = d->group;
	t->events = report_recorder(s, p);
	t->preemptor_ns = pod_ns(s, p);
	t->preemptor_name = p->name;
	t->preemptor_uid = uid_hold_name(s->names, p->obj->uid);
	t->node = d->node != NODE_NONE ? ledger_node(s->ledger, d->node)->name : NAME_NONE;
	names_keep(s->names, t->preemptor_ns);
	names_keep(s->names, t->preemptor_name);
	names_keep(s->names, t->node);
	link_victim(s, t);
}

static void begin_one(struct scheduler *s, const struct decision *d, const struct victim *x, const char *words,
		      uint64_t ticket)
{
	const struct pod *p = ledger_pod(s->ledger, x->pod);
	struct task *t;

	if (p->state != POD_LEAVING || !p->is_evicted || p->obj->deleted_ns != TIME_NONE || note_of(s, x->pod)->evict)
		return; /* it was on its way already */
	t = task_new(s, TASK_EVICT, x->pod);
	t->step = STEP_HELD;
	t->action = d->action;
	t->ticket = ticket;
	t->material = material_of(p);
	t->events = report_recorder(s, p);
	text_add(&t->words, words);
	eviction_history_workload(s->world->cluster, p, &t->workload);
	if (p->queue != QUEUE_NONE)
		text_add(&t->queue, str_of(s, queue_get(ledger_queues(s->ledger), p->queue)->path));
	note_of(s, x->pod)->evict = t;
	if (d->pod != POD_NONE)
		set_preemptor(s, t, d);
	else
		task_at(s, t, s->now.steady_ns); /* for nobody: there is nothing to be written before */
}

void evict_begin(struct scheduler *s, const struct decision *d, const struct text *words, uint64_t ticket)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		begin_one(s, d, &d->victims[i], text_str(&words[i]), ticket);
}

void evict_release(struct scheduler *s, pod_id preemptor)
{
	for (struct task *t = note_of(s, preemptor)->victims; t; t = t->next_victim)
		if (t->step == STEP_HELD && !t->is_over && t->at_ns == INT64_MAX)
			task_at(s, t, s->now.steady_ns);
}

/* ---- steps ---- */

static void send_condition(struct scheduler *s, struct task *t)
{
	struct kube_condition c = {.type = "DisruptionTarget",
				   .status = "True",
				   .reason = "PreemptionByScheduler",
				   .message = text_str(&t->words),
				   .since_ns = s->now.wall_ns};
	struct kube_write w = {0};

	t->step = STEP_CONDITION;
	write_pod_status(&w, str_of(s, t->ns), str_of(s, t->name), str_of(s, t->uid), &c, 1, NULL);
	task_send(s, t, &w);
}

static void send_delete(struct scheduler *s, struct task *t)
{
	struct kube_write w = {0};

	t->step = STEP_DELETE;
	if (s->world->config->evicts_through_api)
		write_evict(&w, str_of(s, t->ns), str_of(s, t->name), str_of(s, t->uid), text_str(&t->version));
	else
		write_delete(&w, str_of(s, t->ns), str_of(s, t->name), str_of(s, t->uid), text_str(&t->version), -1);
	task_send(s, t, &w);
}

/* Somebody else was faster: it goes, or has finished. */
static bool is_going(const struct scheduler *s, const struct task *t)
{
	const struct pod *p = ledger_pod(s->ledger, t->pod);

	return p->obj->deleted_ns != TIME_NONE || p->state == POD_FINISHED;
}

/* An eviction that the journal forgets would be forgotten by the rules that count evictions. */
static bool is_kept(const struct scheduler *s, const struct task *t)
{
	const struct scheduler_hooks *h = &s->o.hooks;

	return !t->ticket || !h->is_kept || h->is_kept(h->ctx, t->ticket);
}

void evict_step(struct scheduler *s, struct task *t)
{
	if (s->is_draining && t->step == STEP_HELD)
		return; /* nothing new is begun */
	if (is_going(s, t))
		finish(s, t);
	else if (!holds(s, t))
		cancel(s, t, NO_PLACE);
	else if (!is_same(s, t))
		fail(s, t, "it is not what it was when that was decided", false);
	else if (t->step == STEP_HELD && !is_kept(s, t))
		task_until_kept(s, t);
	else if (t->step == STEP_HELD || t->step == STEP_CONDITION || t->step == STEP_ASKED)
		send_condition(s, t);
	else if (t->step == STEP_DELETE)
		send_delete(s, t);
}

/* ---- answers ---- */

/* Its version by now; *ret_goes: it was told to go already. */
static bool take_version(struct task *t, const struct kube_news *n, bool *ret_goes)
{
	struct arena *a = arena_new(1 << 14);
	const struct tree *pod = NULL, *version = NULL;

	text_reset(&t->version);
	if (!tree_parse_json("pod", text_str(&n->body), n->body.n, a, &pod, NULL))
		version = tree_path(pod, "metadata.resourceVersion");
	*ret_goes = pod && tree_path(pod, "metadata.deletionTimestamp");
	if (version && version->kind == TREE_STRING)
		text_add(&t->version, version->text);
	arena_free(a);
	return t->version.n > 0;
}

/* It changed since: what it is now the watch says, or will. */
static void changed(struct scheduler *s, struct task *t)
{
	const char *uid = "", *version = "";

	t->tries++;
	if (reflector_find(s->pods, str_of(s, t->ns), str_of(s, t->name), &uid, &version) &&
	    str_eq(uid, str_of(s, t->uid)) && !str_eq(version, text_str(&t->version)) && t->tries < 4) {
		text_reset(&t->version);
		text_add(&t->version, version);
		evict_step(s, t);
		return;
	}
	t->step = STEP_CONDITION; /* which says what its version is */
	task_pause(s, t);
}

static void remember(struct scheduler *s, const struct task *t)
{
	int64_t at_ns = s->now.wall_ns;

	if (s->history.v.n && array_last(&s->history.v).at_ns > at_ns)
		at_ns = array_last(&s->history.v).at_ns; /* the clock was set back */
	eviction_history_add(&s->history, at_ns, text_str(&t->workload), text_str(&t->queue));
}

static void tell_preempted(struct scheduler *s, const struct task *t)
{
	struct kube_event e = {.api = "v1",
			       .kind = "Pod",
			       .ns = str_of(s, t->ns),
			       .name = str_of(s, t->name),
			       .uid = str_of(s, t->uid),
			       .type = "Normal",
			       .reason = "Preempted",
			       .action = "Preempting",
			       .note = text_str(&t->words)};

	if (t->preemptor_uid != NAME_NONE) {
		e.related_ns = str_of(s, t->preemptor_ns);
		e.related_name = str_of(s, t->preemptor_name);
		e.related_uid = str_of(s, t->preemptor_uid);
	}
	report_event(s, t->events, &e);
}

static void asked(struct scheduler *s, struct task *t)
{
	t->step = STEP_ASKED;
	if (!t->is_told) {
		t->is_told = true;
		remember(s, t);
		told(s, t, "");
		tell_preempted(s, t);
	}
	if (t->pod == POD_NONE)
		task_end(s, t); /* the watch was faster */
	else if (ledger_pod(s->ledger, t->pod)->obj->deleted_ns != TIME_NONE)
		finish(s, t);
	else
		task_at(s, t, time_add(s->now.steady_ns, SEEN_NS)); /* if nobody sees it go, it was not asked */
}

static void deleted(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	if (n->result == KUBE_OK) {
		asked(s, t);
	} else if (t->pod == POD_NONE) {
		task_end(s, t); /* somebody else was faster */
	} else if (n->result == KUBE_GONE) {
		task_at(s, t, time_add(s->now.steady_ns, SEEN_NS)); /* the watch will say so, if it is true */
	} else if (n->result == KUBE_CONFLICT) {
		changed(s, t);
	} else if (n->status == 429 && s->world->config->evicts_through_api) {
		t->tries = t->tries < 3
				   ? 3
				   : t->tries; /* a budget: asked again every some seconds, as long as it is wanted */
		task_pause(s, t);
	} else if (is_worth_retrying(n)) {
		task_pause(s, t);
	} else if (n->result != KUBE_FENCED && n->result != KUBE_CANCELLED) {
		fail(s, t, n->error, true);
	}
}

void evict_answer(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	bool goes = false;

	if (t->step == STEP_DELETE) {
		deleted(s, t, n);
	} else if (n->result == KUBE_OK && take_version(t, n, &goes)) {
		if (goes) { /* the watch will say so */
			t->step = STEP_ASKED;
			task_at(s, t, time_add(s->now.steady_ns, SEEN_NS));
			return;
		}
		t->step = STEP_DELETE;
		evict_step(s, t);
	} else if (n->result == KUBE_OK || is_worth_retrying(n) || n->result == KUBE_GONE ||
		   n->result == KUBE_CONFLICT) {
		task_pause(s, t); /* of one that is gone the watch will say so */
	} else if (n->result != KUBE_FENCED && n->result != KUBE_CANCELLED) {
		fail(s, t, n->error, true);
	}
}

/* ---- what the watch says ---- */

void evict_observed(struct scheduler *s, pod_id victim)
{
	struct task *t = note_of(s, victim)->evict;
	const struct pod *p = ledger_pod(s->ledger, victim);

	if (!t || (p->obj->deleted_ns == TIME_NONE && p->state != POD_FINISHED))
		return;
	if (t->step == STEP_ASKED || !t->request)
		finish(s, t); /* by us, or somebody else was faster */
}

void evict_gone(struct scheduler *s, pod_id victim)
{
	struct task *t = note_of(s, victim)->evict;

	if (!t)
		return;
	if (s->o.hooks.observed)
		s->o.hooks.observed(s->o.hooks.ctx, str_of(s, t->uid), true, &s->now);
	if (t->step != STEP_DELETE || !t->request) {
		finish(s, t);
		return;
	}
	t->pod = POD_NONE; /* the answer is still to come */
	note_of(s, victim)->evict = NULL;
}

void evict_preemptor_gone(struct scheduler *s, pod_id preemptor)
{
	struct task *t;

	while ((t = note_of(s, preemptor)->victims)) {
		evict_unlink(s, t);
		if (!t->is_over && t->step != STEP_ASKED && !t->request)
			task_at(s, t, s->now.steady_ns); /* the next step looks whether it still holds */
	}
}
