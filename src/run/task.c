/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: what is being carried out, one request after the other, and answers that find their way back. */
#include "run/scheduler_internal.h"

#include "run/volumes.h"

const char *task_kind_text(enum task_kind k)
{
	static const char *const words[TASK_KINDS] = {
		[TASK_BIND] = "bind",	[TASK_STATUS] = "status", [TASK_EVICT] = "evict",
		[TASK_EVENT] = "event", [TASK_GROUP] = "group",	  [TASK_VOLUME] = "claim"};

	return words[k];
}

static name_id keep(struct scheduler *s, name_id id)
{
	names_keep(s->names, id);
	return id;
}

struct task *task_new(struct scheduler *s, enum task_kind kind, pod_id pod)
{
	struct task *t = mem_alloc(sizeof(*t));

	t->kind = kind;
	t->pod = pod;
	t->at_ns = INT64_MAX;
	t->began_ns = s->now.steady_ns;
	t->preemptor = POD_NONE;
	t->group = GROUP_NONE;
	t->slot = s->tasks.n;
	array_push(&s->tasks, t);
	if (pod != POD_NONE) {
		const struct pod *p = ledger_pod(s->ledger, pod);

		t->ns = keep(s, pod_ns(s, p));
		t->name = keep(s, p->name);
		t->uid = keep(s, p->obj->uid);
	}
	return t;
}

void task_free(struct scheduler *s, struct task *t)
{
	const name_id names[] = {t->ns,		  t->name,	     t->uid,	      t->node, t->nominated,
				 t->preemptor_ns, t->preemptor_name, t->preemptor_uid};
	struct task *last = array_pop(&s->tasks);

	if (last != t) {
		s->tasks.v[t->slot] = last;
		last->slot = t->slot;
		if (last->request)
			map_put(&s->by_request, last->request, last->slot);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		names_drop(s->names, names[i]);
	volume_writes_free(s, t);
	text_free(&t->words);
	text_free(&t->version);
	text_free(&t->workload);
	text_free(&t->queue);
	kube_write_free(&t->made);
	mem_free(t);
}

void task_send(struct scheduler *s, struct task *t, struct kube_write *w)
{
	struct kube_request r = kube_write_request(w, NULL);

	r.is_write = !str_eq(w->method, "GET");
	t->at_ns = INT64_MAX;
	t->request = s->o.transport.send(s->o.transport.ctx, &r);
	map_put(&s->by_request, t->request, t->slot);
	s->n_in_flight++;
	s->n_events_in_flight += t->kind == TASK_EVENT;
	kube_write_free(w);
}

void task_at(struct scheduler *s, struct task *t, int64_t steady_ns)
{
	t->at_ns = steady_ns;
	if (steady_ns < s->next_task_ns)
		s->next_task_ns = steady_ns;
}

/* 0.5, 1, 2, 4, 8, 10, 10 s … */
void task_pause(struct scheduler *s, struct task *t)
{
	int64_t pause = NS_PER_S / 2;

	for (uint32_t i = 0; i < t->tries && pause < 10 * NS_PER_S; i++)
		pause = time_multiply(pause, 2);
	t->tries++;
	task_at(s, t, time_add(s->now.steady_ns, pause < 10 * NS_PER_S ? pause : 10 * NS_PER_S));
}

void task_end(struct scheduler *s, struct task *t)
{
	t->is_over = true;
	t->pod = POD_NONE;
	t->gang = NULL;
	t->at_ns = INT64_MAX;
	if (!t->request)
		task_free(s, t);
}

static void step(struct scheduler *s, struct task *t)
{
	switch (t->kind) {
	case TASK_BIND:
		bind_step(s, t);
		break;
	case TASK_EVICT:
		evict_step(s, t);
		break;
	case TASK_STATUS:
		status_step(s, t);
		break;
	default:
		break;
	}
}

/* A step may end its task, and another one takes its slot: looked at again from the end. */
void tasks_tick(struct scheduler *s)
{
	if (s->now.steady_ns < s->next_task_ns)
		return;
	s->next_task_ns = INT64_MAX;
	for (uint32_t i = s->tasks.n; i-- > 0;) {
		struct task *t;

		if (i >= s->tasks.n)
			continue;
		t = s->tasks.v[i];
		if (t->at_ns <= s->now.steady_ns) {
			t->at_ns = INT64_MAX;
			step(s, t);
		} else if (t->at_ns < s->next_task_ns) {
			s->next_task_ns = t->at_ns;
		}
	}
}

static void answer(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	switch (t->kind) {
	case TASK_BIND:
		bind_answer(s, t, n);
		break;
	case TASK_EVICT:
		evict_answer(s, t, n);
		break;
	case TASK_STATUS:
		status_answer(s, t, n);
		break;
	default: /* it was worth a try */
		task_free(s, t);
		break;
	}
}

bool tasks_take(struct scheduler *s, const struct kube_news *n)
{
	uint32_t slot = map_get(&s->by_request, n->request);
	struct task *t;

	if (slot == MAP_NONE)
		return false;
	if (!n->is_done)
		return true;
	t = s->tasks.v[slot];
	map_del(&s->by_request, n->request);
	t->request = 0;
	s->n_in_flight--;
	s->n_events_in_flight -= t->kind == TASK_EVENT;
	if (s->o.hooks.wrote)
		s->o.hooks.wrote(s->o.hooks.ctx, t->kind, n);
	if (t->is_over)
		task_free(s, t);
	else
		answer(s, t, n);
	return true;
}

void tasks_drop(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->notes.n; i++)
		s->notes.v[i].bind = s->notes.v[i].evict = s->notes.v[i].status = NULL;
	while (s->tasks.n) {
		struct task *t = array_last(&s->tasks);

		if (t->request) {
			map_del(&s->by_request, t->request);
			s->o.transport.cancel(s->o.transport.ctx, t->request);
		}
		task_free(s, t);
	}
	s->n_in_flight = s->n_events_in_flight = 0;
	s->next_task_ns = INT64_MAX;
}
