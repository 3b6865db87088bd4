/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: what is being carried out, one request after the other, and answers that find their way back. */
#include "run/scheduler_internal.h"

#include "run/volumes.h"

enum { WRITES_MAX = 128, EVENTS_MAX = 2 }; /* under way at once */

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

static uint32_t take_slot(struct scheduler *s, struct task *t)
{
	if (s->free_slots.n) {
		uint32_t slot = array_pop(&s->free_slots);

		s->tasks.v[slot] = t;
		return slot;
	}
	array_push(&s->tasks, t);
	return s->tasks.n - 1;
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
	t->slot = take_slot(s, t);
	if (pod != POD_NONE) {
		const struct pod *p = ledger_pod(s->ledger, pod);

		t->ns = keep(s, pod_ns(s, p));
		t->name = keep(s, p->name);
		t->uid = uid_hold_name(s->names, p->obj->uid);
	}
	return t;
}

void task_free(struct scheduler *s, struct task *t)
{
	const name_id names[] = {t->ns,		  t->name,	     t->uid,	      t->node, t->nominated,
				 t->preemptor_ns, t->preemptor_name, t->preemptor_uid};

	task_at(s, t, INT64_MAX);
	evict_unlink(s, t);
	s->tasks.v[t->slot] = NULL;
	array_push(&s->free_slots, t->slot);
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
	task_at(s, t, INT64_MAX);
	t->request = s->o.transport.send(s->o.transport.ctx, &r);
	map_put(&s->by_request, t->request, t->slot);
	s->in_flight[t->kind]++;
	kube_write_free(w);
}

/* ---- whose turn it is ---- */

static int by_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct scheduler *s = ctx;
	int64_t x = s->tasks.v[a]->at_ns, y = s->tasks.v[b]->at_ns;

	return x != y ? (x < y ? -1 : 1) : 0;
}

/* What ends something goes before what begins it: room that is free is used first, and then more is made. */
static int rank_of(const struct task *t)
{
	static const int ranks[TASK_KINDS] = {[TASK_EVICT] = 1, [TASK_STATUS] = 2, [TASK_GROUP] = 3};

	return ranks[t->kind];
}

static int by_rank(const void *ctx, uint32_t a, uint32_t b)
{
	const struct scheduler *s = ctx;

	return rank_of(s->tasks.v[a]) - rank_of(s->tasks.v[b]);
}

static int by_ticket(const void *ctx, uint32_t a, uint32_t b)
{
	const struct scheduler *s = ctx;
	uint64_t x = s->tasks.v[a]->ticket, y = s->tasks.v[b]->ticket;

	return (x > y) - (x < y);
}

void tasks_init(struct scheduler *s)
{
	heap_init(&s->unkept, by_ticket, s);
	heap_init(&s->due, by_time, s);
	heap_init(&s->ready, by_rank, s);
	heap_init(&s->events_ready, by_rank, s);
}

static struct heap *ready_of(struct scheduler *s, const struct task *t)
{
	return t->kind == TASK_EVENT ? &s->events_ready : &s->ready;
}

static void take_out(struct scheduler *s, struct task *t)
{
	if (heap_has(&s->due, t->slot))
		heap_remove(&s->due, t->slot);
	if (heap_has(&s->unkept, t->slot))
		heap_remove(&s->unkept, t->slot);
	if (heap_has(ready_of(s, t), t->slot)) {
		heap_remove(ready_of(s, t), t->slot);
		s->n_ready[t->kind]--;
	}
}

void task_at(struct scheduler *s, struct task *t, int64_t steady_ns)
{
	take_out(s, t);
	t->at_ns = steady_ns;
	if (steady_ns != INT64_MAX)
		heap_push(&s->due, t->slot);
}

void task_until_kept(struct scheduler *s, struct task *t)
{
	take_out(s, t);
	heap_push(&s->unkept, t->slot);
}

void scheduler_kept(struct scheduler *s, uint64_t ticket, const struct moment *now)
{
	s->now = *now;
	while (s->unkept.items.n && s->tasks.v[heap_peek(&s->unkept)]->ticket <= ticket)
		task_at(s, s->tasks.v[heap_peek(&s->unkept)], now->steady_ns);
}

/* Now it waits for its turn only. */
static void make_ready(struct scheduler *s, struct task *t)
{
	take_out(s, t);
	heap_push(ready_of(s, t), t->slot);
	s->n_ready[t->kind]++;
}

int64_t tasks_next_ns(const struct scheduler *s)
{
	return s->due.items.n ? s->tasks.v[heap_peek(&s->due)]->at_ns : INT64_MAX;
}

uint32_t tasks_in_flight(const struct scheduler *s)
{
	uint32_t n = 0;

	for (int i = 0; i < TASK_KINDS; i++)
		n += i == TASK_EVENT ? 0 : s->in_flight[i];
	return n;
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
	task_at(s, t, INT64_MAX);
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
		task_send(s, t, &t->made);
		break;
	}
}

void task_write(struct scheduler *s, enum task_kind kind, struct kube_write *w)
{
	struct task *t = task_new(s, kind, POD_NONE);

	t->made = *w;
	*w = (struct kube_write){0};
	task_at(s, t, s->now.steady_ns);
}

/* Its turn has come; a step may end its task, and make others due. */
static void take_turn(struct scheduler *s, struct heap *h)
{
	struct task *t = s->tasks.v[heap_peek(h)];

	task_at(s, t, INT64_MAX);
	step(s, t);
}

/*
 * No more is under way than the server can work on: what waits here can still be changed, dropped, or overtaken by what
 * matters more. Events have places of their own: they hold nobody up, and are not held up for ever.
 */
void tasks_tick(struct scheduler *s)
{
	do {
		while (tasks_next_ns(s) <= s->now.steady_ns)
			make_ready(s, s->tasks.v[heap_peek(&s->due)]);
		while (s->ready.items.n && tasks_in_flight(s) < WRITES_MAX)
			take_turn(s, &s->ready);
		while (s->events_ready.items.n && s->in_flight[TASK_EVENT] < EVENTS_MAX)
			take_turn(s, &s->events_ready);
	} while (tasks_next_ns(s) <= s->now.steady_ns);
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
	s->in_flight[t->kind]--;
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
	for (uint32_t i = 0; i < s->tasks.n; i++) {
		struct task *t = s->tasks.v[i];

		if (!t)
			continue;
		if (t->request)
			map_del(&s->by_request, t->request);
		if (t->request && t->kind != TASK_EVENT) /* which are as true as before */
			s->o.transport.cancel(s->o.transport.ctx, t->request);
		task_free(s, t);
	}
	memset(s->in_flight, 0, sizeof(s->in_flight));
}
