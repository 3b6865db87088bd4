/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of waiting pods: which there are, and who is of which. */
#include "sim/sim_asleep.h"

#include <stdlib.h>

struct asleep *asleep_of(struct sim *s)
{
	if (!s->asleep)
		s->asleep = mem_alloc(sizeof(*s->asleep));
	return s->asleep;
}

static void remove_from(uint32_t *v, uint32_t *n, uint32_t what)
{
	uint32_t i = 0;

	while (i < *n && v[i] != what)
		i++;
	if (i < *n)
		v[i] = v[--*n];
}

struct waiter *asleep_waiter(struct asleep *a, pod_id pod)
{
	while (a->waiters.n <= pod)
		array_push(&a->waiters, ((struct waiter){.kind = SLOT_NONE, .nominated = NODE_NONE}));
	return &a->waiters.v[pod];
}

/* ---- kinds ---- */

static bool is_wary(const struct sim *s, const struct pod *p)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	const struct shape *x = shape_get(s->vocab, p->shape);

	for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.n_limits || queue_get(t, q)->spec.max_apps)
			return true;
	return p->has_volumes || x->has_claims || x->affinity.n || x->anti_affinity.n || x->n_spreads || x->n_ports ||
	       x->runs_on != NAME_NONE;
}

static struct wait_kind kind_like(const struct sim *s, const struct pod *p, bool is_nominated)
{
	struct wait_kind k = {.is_live = true, .must_ask = true, .timer = SLOT_NONE};

	k.need = (struct wait_need){.queue = p->queue,
				    .shape = p->shape,
				    .priority = p->priority,
				    .group = p->group,
				    .is_kept = p->preemptibility == NON_PREEMPTIBLE,
				    .reclaims_from_ns = TIME_NONE};
	k.is_group = p->group != GROUP_NONE;
	k.is_nominated = is_nominated && !k.is_group;
	k.is_wary = is_wary(s, p);
	k.labelset = p->labelset;
	k.app = p->obj->app;
	k.owner = p->obj->owner_kind == OWNER_DAEMONSET ? OWNER_DAEMONSET : OWNER_NONE;
	if (k.is_group)
		k.hash = hash_mix(1, p->group);
	else
		k.hash = hash_mix(hash_mix(hash_mix(map_key2(p->queue, p->shape), map_key2(p->labelset, k.app)),
					   (uint32_t)p->priority),
				  k.owner);
	return k;
}

static bool are_alike(const struct wait_kind *a, const struct wait_kind *b)
{
	const struct wait_need *x = &a->need, *y = &b->need;

	if (a->is_group || b->is_group)
		return x->group == y->group;
	return x->queue == y->queue && x->shape == y->shape && a->labelset == b->labelset &&
	       x->priority == y->priority && x->is_kept == y->is_kept && a->app == b->app && a->owner == b->owner;
}

static uint32_t find_kind(const struct asleep *a, const struct wait_kind *like)
{
	uint32_t at = map_get(&a->by_hash, like->hash);

	while (at != MAP_NONE && !are_alike(&a->kinds.v[at], like))
		at = a->kinds.v[at].next_of_hash;
	return at;
}

void kind_rouse(struct asleep *a, struct wait_kind *k)
{
	k->is_awake = true;
	if (a->pass && k->pass != a->pass) {
		a->has_missed = true;
		k->was_decided = false;
	}
	if (!k->is_listed)
		array_push(&a->awake, (uint32_t)(k - a->kinds.v));
	k->is_listed = true;
}

static void enter_class(struct sim *s, struct wait_kind *k, uint32_t at)
{
	struct asleep *a = s->asleep;
	struct class_kinds *c;

	k->need.class_at = wait_classes_enter(s, &k->need);
	while (a->classes.n <= k->need.class_at)
		array_push(&a->classes, (struct class_kinds){0});
	c = &a->classes.v[k->need.class_at];
	k->at_in_class = c->v.n;
	array_push(&c->v, at);
}

static void leave_class(struct sim *s, struct wait_kind *k)
{
	struct asleep *a = s->asleep;
	struct class_kinds *c = &a->classes.v[k->need.class_at];
	uint32_t last = array_last(&c->v);

	c->v.v[k->at_in_class] = last;
	a->kinds.v[last].at_in_class = k->at_in_class;
	c->v.n--;
	c->n_wary -= k->is_wary;
	a->n_wary -= k->is_wary;
	wait_classes_leave(s, k->need.class_at);
}

void kind_set_wary(struct asleep *a, struct wait_kind *k)
{
	k->is_wary = true;
	a->n_wary++;
	a->classes.v[k->need.class_at].n_wary++;
}

static uint32_t add_kind(struct sim *s, struct wait_kind *k)
{
	struct asleep *a = s->asleep;
	uint32_t at = a->free_kinds.n ? array_pop(&a->free_kinds) : a->kinds.n;

	if (at == a->kinds.n)
		array_push(&a->kinds, (struct wait_kind){0});
	k->next_of_hash = MAP_NONE;
	if (!k->is_nominated) {
		k->next_of_hash = map_get(&a->by_hash, k->hash);
		map_put(&a->by_hash, k->hash, at);
	}
	enter_class(s, k, at);
	k->at = a->live.n;
	array_push(&a->live, at);
	a->kinds.v[at] = *k;
	if (k->is_wary)
		kind_set_wary(a, &a->kinds.v[at]);
	if (k->is_nominated)
		array_push(&a->nominated, at);
	kind_rouse(a, &a->kinds.v[at]);
	return at;
}

static void unchain(struct asleep *a, uint32_t at)
{
	struct wait_kind *k = &a->kinds.v[at];
	uint32_t *link, first = map_get(&a->by_hash, k->hash);

	if (k->is_nominated)
		return;
	if (first == at) {
		if (k->next_of_hash == MAP_NONE)
			map_del(&a->by_hash, k->hash);
		else
			map_put(&a->by_hash, k->hash, k->next_of_hash);
		return;
	}
	for (link = &a->kinds.v[first].next_of_hash; *link != at; link = &a->kinds.v[*link].next_of_hash)
		;
	*link = k->next_of_hash;
}

static void drop_kind(struct sim *s, uint32_t at)
{
	struct asleep *a = s->asleep;
	struct wait_kind *k = &a->kinds.v[at];
	uint32_t last = array_last(&a->live);

	unchain(a, at);
	leave_class(s, k);
	timer_cancel(s, &k->timer);
	a->live.v[k->at] = last;
	a->kinds.v[last].at = k->at;
	a->live.n--;
	a->n_loose -= k->is_loose;
	if (k->is_nominated)
		remove_from(a->nominated.v, &a->nominated.n, at);
	if (k->is_listed)
		remove_from(a->awake.v, &a->awake.n, at);
	array_free(&k->pods);
	*k = (struct wait_kind){0};
	array_push(&a->free_kinds, at);
}

/* ---- who waits ---- */

static bool comes_before(const struct sim *s, pod_id a, pod_id b)
{
	const struct pod *x = ledger_pod(s->ledger, a), *y = ledger_pod(s->ledger, b);
	int64_t made_x = x->created_ns == TIME_NONE ? INT64_MAX : x->created_ns;
	int64_t made_y = y->created_ns == TIME_NONE ? INT64_MAX : y->created_ns;

	if (made_x != made_y)
		return made_x < made_y;
	return name_cmp(s->names, x->name, y->name) < 0;
}

enum { NEAR = 32 }; /* so far a pod is moved to its place; if that is further, all are put in order when it matters */

static bool has_far_to_go(struct sim *s, const struct wait_kind *k, pod_id pod)
{
	pod_id other = k->pods.n > k->head + NEAR ? k->pods.v[k->pods.n - NEAR] : POD_NONE;

	return other != POD_NONE && comes_before(s, pod, other);
}

static void put_in_order(struct sim *s, uint32_t at, pod_id pod)
{
	struct asleep *a = s->asleep;
	struct wait_kind *k = &a->kinds.v[at];
	uint32_t pos = k->pods.n;

	k->is_mixed_up |= has_far_to_go(s, k, pod);
	array_push(&k->pods, pod);
	for (; !k->is_mixed_up && pos > k->head &&
	       (k->pods.v[pos - 1] == POD_NONE || comes_before(s, pod, k->pods.v[pos - 1]));
	     pos--) {
		k->pods.v[pos] = k->pods.v[pos - 1];
		if (k->pods.v[pos] != POD_NONE)
			asleep_waiter(a, k->pods.v[pos])->pos = pos;
	}
	k->pods.v[pos] = pod;
	asleep_waiter(a, pod)->pos = pos;
	k->n_waiting++;
}

static int by_age(const void *a, const void *b, void *sim)
{
	pod_id x = *(const pod_id *)a, y = *(const pod_id *)b;

	return x == y ? 0 : comes_before(sim, x, y) ? -1 : 1;
}

void kind_put_in_order(struct sim *s, struct wait_kind *k)
{
	uint32_t n = 0;

	if (!k->is_mixed_up)
		return;
	for (uint32_t i = k->head; i < k->pods.n; i++)
		if (k->pods.v[i] != POD_NONE)
			k->pods.v[n++] = k->pods.v[i];
	qsort_r(k->pods.v, n, sizeof(*k->pods.v), by_age, s);
	for (uint32_t i = 0; i < n; i++)
		asleep_waiter(s->asleep, k->pods.v[i])->pos = i;
	k->pods.n = n;
	k->head = 0;
	k->is_mixed_up = false;
}

/* Who asks everybody keeps the times at which somebody would have been woken: those are moments too. */
void kind_wake(struct sim *s, struct wait_kind *k)
{
	kind_rouse(s->asleep, k);
	k->must_ask = true;
	if (!s->o.is_exhaustive)
		timer_cancel(s, &k->timer);
}

void kind_enter(struct sim *s, pod_id pod, node_id nominated)
{
	struct asleep *a = asleep_of(s);
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct wait_kind like = kind_like(s, p, nominated != NODE_NONE);
	uint32_t at = like.is_nominated ? MAP_NONE : find_kind(a, &like);

	if (at == MAP_NONE) {
		at = add_kind(s, &like);
	} else if (!a->kinds.v[at].is_wary && a->kinds.v[at].need.shape != p->shape) { /* a mixed group */
		kind_set_wary(a, &a->kinds.v[at]);
	}
	*asleep_waiter(a, pod) = (struct waiter){.kind = at, .nominated = nominated};
	put_in_order(s, at, pod);
}

void wake_enter(struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct wait_kind *k;

	sim_see_pod(s, p);
	kind_enter(s, pod, p->nomination != NOMINATION_NONE ? p->node : NODE_NONE);
	k = &s->asleep->kinds.v[asleep_waiter(s->asleep, pod)->kind];
	if (k->is_group || k->is_wary)
		kind_wake(s, k);
}

void kind_set_loose(struct asleep *a, struct wait_kind *k, bool is_loose)
{
	a->n_loose += (uint32_t)is_loose - (uint32_t)k->is_loose;
	k->is_loose = is_loose;
}

static void compact(struct asleep *a, struct wait_kind *k)
{
	uint32_t n = 0;

	while (k->head < k->pods.n && k->pods.v[k->head] == POD_NONE)
		k->head++;
	if (k->head < 64 || k->head < k->pods.n / 2)
		return;
	for (uint32_t i = k->head; i < k->pods.n; i++) {
		if (k->pods.v[i] == POD_NONE)
			continue;
		k->pods.v[n] = k->pods.v[i];
		asleep_waiter(a, k->pods.v[n])->pos = n;
		n++;
	}
	k->pods.n = n;
	k->head = 0;
}

void wake_leave(struct sim *s, pod_id pod)
{
	struct asleep *a = asleep_of(s);
	struct waiter *w = asleep_waiter(a, pod);
	uint32_t at = w->kind;
	struct wait_kind *k;

	if (at == SLOT_NONE)
		return;
	k = &a->kinds.v[at];
	k->pods.v[w->pos] = POD_NONE;
	w->kind = SLOT_NONE;
	w->nominated = NODE_NONE;
	if (--k->n_waiting == 0)
		drop_kind(s, at);
	else
		compact(a, k);
}

void sim_free_waiting(struct sim *s)
{
	struct asleep *a = s->asleep;

	if (!a)
		return;
	for (uint32_t i = 0; i < a->kinds.n; i++)
		array_free(&a->kinds.v[i].pods);
	for (uint32_t i = 0; i < a->classes.n; i++)
		array_free(&a->classes.v[i].v);
	array_free(&a->classes);
	array_free(&a->kinds);
	array_free(&a->free_kinds);
	array_free(&a->live);
	array_free(&a->awake);
	array_free(&a->nominated);
	array_free(&a->grown_on);
	array_free(&a->waiters);
	array_free(&a->tried);
	map_free(&a->by_hash);
	mem_free(a);
}
