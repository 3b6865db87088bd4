/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/node_rows.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 1 << 20 }; /* more than that are old ones: all is made anew */

void node_rows_free(struct node_rows *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		mem_free(r->v[i].v);
	mem_free(r->v);
	array_free(&r->kinds);
	map_free(&r->kind_at);
	map_free(&r->apps);
	*r = (struct node_rows){0};
}

static void forget(struct node_rows *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		r->v[i].generation = 0;
		r->v[i].n = 0;
	}
	r->kinds.n = 0;
	map_free(&r->kind_at);
	map_free(&r->apps);
	r->epoch++;
}

void node_rows_begin(struct node_rows *r, const struct ledger *l)
{
	uint32_t n = ledger_node_limit(l);

	if (r->n < n) {
		r->v = mem_resize(r->v, n, sizeof(*r->v));
		memset(r->v + r->n, 0, (n - r->n) * sizeof(*r->v));
		r->n = n;
	}
	if (r->budgets != ledger_budget_generation(l) || r->kinds.n > KINDS_MAX)
		forget(r);
	r->budgets = ledger_budget_generation(l);
}

/* ---- kinds ---- */

static uint64_t hash_of(const struct row_kind *k)
{
	uint64_t h = hash_mix(map_key2(k->queue, (uint32_t)k->priority), map_key2(k->group, k->podset));

	h = hash_mix(h, map_key2(k->ns, k->scheduler));
	h = hash_mix(h, map_key2(k->class, k->budgeted));
	return hash_mix(h, (uint64_t)k->preemptibility << 16 | (uint64_t)k->allows_preemption << 8 | k->is_daemon);
}

static bool same_kind(const struct row_kind *a, const struct row_kind *b)
{
	return a->queue == b->queue && a->priority == b->priority && a->group == b->group && a->podset == b->podset &&
	       a->ns == b->ns && a->scheduler == b->scheduler && a->class == b->class && a->budgeted == b->budgeted &&
	       a->preemptibility == b->preemptibility && a->allows_preemption == b->allows_preemption &&
	       a->is_daemon == b->is_daemon;
}

static uint32_t kind_of(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	const struct vocab *v = ledger_vocab(l);
	struct row_kind new = {.queue = p->queue,
			       .priority = p->priority,
			       .group = p->group,
			       .podset = p->podset,
			       .ns = labelset_get(v, p->labelset)->ns,
			       .scheduler = shape_get(v, p->shape)->scheduler_name,
			       .class = p->obj->priority_class,
			       .budgeted = LABELSET_NONE,
			       .preemptibility = p->preemptibility,
			       .allows_preemption = (uint8_t)p->obj->allows_preemption,
			       .is_daemon = p->obj->owner_kind == OWNER_DAEMONSET};
	uint32_t n = 0, first;
	uint64_t hash;

	if (ledger_pdb_limit(l))
		ledger_labelset_pdbs(l, p->labelset, &n);
	if (n)
		new.budgeted = p->labelset;
	hash = hash_of(&new);
	first = map_get(&r->kind_at, hash);
	for (uint32_t i = first; i != MAP_NONE; i = r->kinds.v[i].next)
		if (same_kind(&r->kinds.v[i], &new))
			return i;
	new.next = first;
	map_put(&r->kind_at, hash, r->kinds.n);
	array_push(&r->kinds, new);
	return r->kinds.n - 1;
}

/* ---- rows ---- */

/* As lost_ns_of has it. */
static int64_t since(const struct pod *p)
{
	int64_t at = p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns;

	if (p->obj->checkpointed_ns != TIME_NONE && (at == TIME_NONE || p->obj->checkpointed_ns > at))
		at = p->obj->checkpointed_ns;
	return at;
}

static void note_size(struct node_rows *r, const struct res_list *usage)
{
	for (uint32_t i = 0; i < usage->n; i++)
		if (usage->v[i].amount > r->most[usage->v[i].type])
			r->most[usage->v[i].type] = usage->v[i].amount;
}

/* A group that goes as a whole counts as one of its pods here, whichever comes first. */
static int32_t lowest_of_group(const struct ledger *l, const struct ledger_node *n, const struct pod *p)
{
	int32_t lowest = p->priority;

	for (uint32_t i = 0; p->group != GROUP_NONE && i < n->pods.n; i++) {
		const struct pod *x = ledger_pod(l, n->pods.v[i]);

		if (x->group == p->group && x->priority < lowest)
			lowest = x->priority;
	}
	return lowest;
}

static int by_priority(const void *a, const void *b)
{
	const struct pod_row *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	return (x->pod > y->pod) - (x->pod < y->pod);
}

static void count_app(struct node_rows *r, name_id app, bool is_new)
{
	uint32_t n;

	if (app == NAME_NONE)
		return;
	n = map_get(&r->apps, app);
	n = n == MAP_NONE ? 0 : n;
	if (is_new || n > 1)
		map_put(&r->apps, app, is_new ? n + 1 : n - 1);
	else
		map_del(&r->apps, app);
}

bool node_rows_have_app(const struct node_rows *r, name_id app)
{
	return map_get(&r->apps, app) != MAP_NONE;
}

static void build(struct node_rows *r, const struct ledger *l, node_id node, struct pod_rows *rows)
{
	const struct ledger_node *n = ledger_node(l, node);

	for (uint32_t i = 0; i < rows->n; i++) {
		count_app(r, rows->v[i].app, false);
		r->kinds.v[rows->v[i].kind].n_rows--;
	}
	if (rows->cap < n->pods.n) {
		rows->cap = n->pods.n;
		rows->v = mem_resize(rows->v, rows->cap, sizeof(*rows->v));
	}
	rows->n = 0;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(l, n->pods.v[i]);

		if (p->state != POD_PLACED || p->queue == QUEUE_NONE)
			continue;
		rows->v[rows->n++] = (struct pod_row){.pod = n->pods.v[i],
						      .kind = kind_of(r, l, p),
						      .shape = p->shape,
						      .app = p->obj->app,
						      .placed_in = p->placed_in,
						      .priority = lowest_of_group(l, n, p),
						      .started_ns = p->started_ns,
						      .since_ns = since(p)};
		r->kinds.v[rows->v[rows->n - 1].kind].at = node;
		r->kinds.v[rows->v[rows->n - 1].kind].n_rows++;
		count_app(r, p->obj->app, true);
		note_size(r, &shape_get(ledger_vocab(l), p->shape)->usage);
	}
	if (rows->n)
		qsort(rows->v, rows->n, sizeof(*rows->v), by_priority);
	rows->generation = n->generation;
}

const struct pod_rows *node_rows_of(struct node_rows *r, const struct ledger *l, node_id node)
{
	const struct ledger_node *n = ledger_node(l, node);
	struct pod_rows *rows = &r->v[node];

	if (rows->generation != n->generation)
		build(r, l, node, rows);
	return rows;
}

static pod_id example_on(struct node_rows *r, const struct ledger *l, node_id node, uint32_t kind)
{
	const struct pod_rows *rows = node_rows_of(r, l, node);

	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->v[i].kind == kind)
			return rows->v[i].pod;
	return POD_NONE;
}

/* Where it was seen last, or on the next node that has one. */
pod_id node_rows_example(struct node_rows *r, const struct ledger *l, uint32_t kind)
{
	for (uint32_t i = 0; i < r->n && r->kinds.v[kind].n_rows; i++) {
		node_id node = (r->kinds.v[kind].at + i) % r->n;
		pod_id pod = node < ledger_node_limit(l) ? example_on(r, l, node, kind) : POD_NONE;

		if (pod == POD_NONE)
			continue;
		r->kinds.v[kind].at = node;
		return pod;
	}
	return POD_NONE;
}
