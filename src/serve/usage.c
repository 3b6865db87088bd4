/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/usage.h"

#include "base/clock.h"
#include "base/map.h"
#include "explain/emit_fields.h"

struct amount {	      /* of one queue and type at one time */
	uint16_t row; /* of the queue */
	uint16_t type;
	float used, guaranteed; /* in the units of Kubernetes */
};

struct count {
	uint16_t row;
	uint32_t running, waiting;
};

struct point {
	int64_t at_ns;
	ARRAY(struct amount) amounts; /* by row, then type */
	ARRAY(struct count) counts;
};

struct usage {
	int64_t step_ns, next_ns;
	ARRAY(struct point) points;
	ARRAY(char *) queues, types; /* by row, by type */
	struct map row_of, type_of;  /* hash of the name */
};

struct usage *usage_new(int64_t step_ns)
{
	struct usage *u = mem_alloc(sizeof(*u));

	u->step_ns = step_ns;
	u->next_ns = TIME_FIRST;
	return u;
}

static void point_free(struct point *p)
{
	array_free(&p->amounts);
	array_free(&p->counts);
}

void usage_free(struct usage *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->points.n; i++)
		point_free(&u->points.v[i]);
	for (uint32_t i = 0; i < u->queues.n; i++)
		mem_free(u->queues.v[i]);
	for (uint32_t i = 0; i < u->types.n; i++)
		mem_free(u->types.v[i]);
	array_free(&u->points);
	array_free(&u->queues);
	array_free(&u->types);
	map_free(&u->row_of);
	map_free(&u->type_of);
	mem_free(u);
}

int64_t usage_next_ns(const struct usage *u)
{
	return u->next_ns;
}

/* Its row; MAP_NONE: there are too many already. */
static uint32_t row_of(struct usage *u, const char *queue)
{
	uint64_t key = hash_bytes(queue, strlen(queue));
	uint32_t row = map_get(&u->row_of, key);

	if (row != MAP_NONE || u->queues.n == USAGE_QUEUES)
		return row;
	map_put(&u->row_of, key, u->queues.n);
	array_push(&u->queues, mem_strdup(queue));
	return u->queues.n - 1;
}

static uint32_t type_of(struct usage *u, const char *type)
{
	uint64_t key = hash_bytes(type, strlen(type));
	uint32_t at = map_get(&u->type_of, key);

	if (at != MAP_NONE)
		return at;
	map_put(&u->type_of, key, u->types.n);
	array_push(&u->types, mem_strdup(type));
	return u->types.n - 1;
}

static double whole(res_id r, int64_t v)
{
	return r == RES_CPU ? (double)v / 1000 : (double)v;
}

static void note_queue(struct usage *u, struct point *p, const struct ledger *l, queue_id id)
{
	const struct queue_tree *tree = ledger_queues(l);
	const struct queue *q = queue_get(tree, id);
	const int64_t *used = ledger_queue_used(l, id);
	const struct res_types *types = vocab_res(ledger_vocab(l));
	uint32_t row = row_of(u, name_str(tree->names, q->path));
	struct count count = {(uint16_t)row, (uint32_t)used[RES_PODS], ledger_queue_waiting(l, id)};

	if (row == MAP_NONE)
		return;
	if (count.running || count.waiting)
		array_push(&p->counts, count);
	for (res_id r = 0; r < types->n && r < ledger_stride(l); r++) {
		int64_t g = res_has(&q->spec.guaranteed, r) ? q->spec.guaranteed.v[r] : 0;
		struct amount a = {.row = (uint16_t)row, .used = (float)whole(r, used[r])};

		g = g == RES_UNLIMITED || g < 0 ? 0 : g;
		if (r == RES_PODS || (!used[r] && !g))
			continue;
		a.type = (uint16_t)type_of(u, res_type_name(types, r));
		a.guaranteed = (float)whole(r, g);
		array_push(&p->amounts, a);
	}
}

/* Every second one goes; the first and the latest stay. */
static void thin(struct usage *u)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->points.n; i++) {
		if (i % 2 == 0 || i + 1 == u->points.n)
			u->points.v[n++] = u->points.v[i];
		else
			point_free(&u->points.v[i]);
	}
	u->points.n = n;
	u->step_ns = time_multiply(u->step_ns, 2);
}

void usage_note(struct usage *u, struct cluster *c, int64_t now_ns)
{
	const struct ledger *l = cluster_ledger(c);
	const struct queue_tree *tree = ledger_queues(l);
	struct point p = {.at_ns = now_ns};

	if (now_ns < u->next_ns)
		return;
	for (queue_id q = 0; q < tree->q.n; q++)
		if (queue_get(tree, q)->is_live)
			note_queue(u, &p, l, q);
	if (u->points.n == USAGE_POINTS)
		thin(u);
	array_push(&u->points, p);
	u->next_ns = time_add(now_ns, u->step_ns);
}

/* ---- for programs ---- */

static const struct amount *amount_at(const struct point *p, uint32_t row, uint32_t type)
{
	for (uint32_t i = 0; i < p->amounts.n; i++)
		if (p->amounts.v[i].row == row && p->amounts.v[i].type == type)
			return &p->amounts.v[i];
	return NULL;
}

static void emit_amounts(const struct usage *u, uint32_t row, uint32_t type, bool is_used, struct emit *e)
{
	emit_list(e, is_used ? "used" : "guaranteed");
	for (uint32_t i = 0; i < u->points.n; i++) {
		const struct amount *a = amount_at(&u->points.v[i], row, type);

		emit_double(e, NULL, !a ? 0 : (double)(is_used ? a->used : a->guaranteed));
	}
	emit_end(e);
}

static bool is_known(const struct usage *u, uint32_t row, uint32_t type)
{
	for (uint32_t i = 0; i < u->points.n; i++)
		if (amount_at(&u->points.v[i], row, type))
			return true;
	return false;
}

static void emit_counts(const struct usage *u, uint32_t row, bool is_running, struct emit *e)
{
	emit_list(e, is_running ? "running" : "waiting");
	for (uint32_t i = 0; i < u->points.n; i++) {
		const struct point *p = &u->points.v[i];
		uint32_t k = 0;

		while (k < p->counts.n && p->counts.v[k].row != row)
			k++;
		emit_int(e, NULL, k == p->counts.n ? 0 : is_running ? p->counts.v[k].running : p->counts.v[k].waiting);
	}
	emit_end(e);
}

static void emit_queue(const struct usage *u, uint32_t row, struct emit *e)
{
	emit_object(e, "pods");
	emit_counts(u, row, true, e);
	emit_counts(u, row, false, e);
	emit_end(e);
	emit_object(e, "resources");
	for (uint32_t t = 0; t < u->types.n; t++) {
		if (!is_known(u, row, t))
			continue;
		emit_object(e, u->types.v[t]);
		emit_amounts(u, row, t, true, e);
		emit_amounts(u, row, t, false, e);
		emit_end(e);
	}
	emit_end(e);
}

void usage_emit(const struct usage *u, const char *queue, struct emit *e)
{
	uint32_t row = u ? map_get(&u->row_of, hash_bytes(queue, strlen(queue))) : MAP_NONE;

	emit_list(e, "points");
	for (uint32_t i = 0; row != MAP_NONE && i < u->points.n; i++)
		emit_time(e, NULL, u->points.v[i].at_ns);
	emit_end(e);
	if (row != MAP_NONE)
		emit_queue(u, row, e);
	else if (u && u->queues.n == USAGE_QUEUES)
		emit_strf(e, "message",
			  "only the first %d,%03d queues that were seen have a history, and %s is not among them",
			  USAGE_QUEUES / 1000, USAGE_QUEUES % 1000, queue);
}
