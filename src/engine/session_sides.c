/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a trial of reclaim be lawful at all? What the workload asks for beyond what is free has to be lost by somebody,
 * and of each side (a sibling of a queue on the workload's path, with all below it) fair shares let only so much be
 * lost, whoever finds room again. Where that is too little the trial is refused before it is made.
 *
 * Only where every node may be used from the beginning: elsewhere a trial that is refused opens nodes to later ones.
 */
#include <string.h>

#include "engine/session_solver.h"

/* The queue of the workload's path that is below this one. */
static uint32_t path_below(const struct session *s, uint32_t me, uint32_t parent)
{
	uint32_t q = me;

	while (s->shares[q].parent != parent)
		q = s->shares[q].parent;
	return q;
}

static bool is_on_path(const struct session *s, uint32_t me, uint32_t queue)
{
	while (me != SHARE_NO_QUEUE && me != queue)
		me = s->shares[me].parent;
	return me == queue;
}

static uint32_t depth_of(const struct session *s, uint32_t queue)
{
	uint32_t d = 0;

	for (; s->shares[queue].parent != SHARE_NO_QUEUE; queue = s->shares[queue].parent)
		d++;
	return d;
}

/* Parents come before their children. */
static void find_sides(struct solver *v)
{
	struct session *s = v->s;
	uint32_t me = s->workloads[v->workload].queue, my_depth = depth_of(s, me);

	v->side_of = mem_resize(NULL, s->n_queues + 1, sizeof(*v->side_of));
	for (uint32_t i = 0; i < s->n_queues; i++) {
		uint32_t parent = s->shares[i].parent;

		v->side_of[i] = parent != SHARE_NO_QUEUE ? v->side_of[parent] : NONE;
		if (v->side_of[i] != NONE || is_on_path(s, me, i))
			continue;
		v->side_of[i] = v->sides.n;
		array_push(&v->sides, ((struct side){.base = {.queue = i, .mine = path_below(s, me, parent)},
						     .level = my_depth - depth_of(s, i)}));
	}
	v->n_levels = my_depth + 1;
	v->levels = mem_alloc(v->n_levels * sizeof(*v->levels));
}

void sides_begin(struct solver *v)
{
	const struct session *s = v->s;

	if (v->action != ACTION_RECLAIM || !v->base_is_all || !judge_asks(&s->judge, RULE_FAIR_SHARE))
		return;
	for (uint32_t r = 0; r < KAI_RES; r++)
		if (s->share_unit[r] != 1)
			return;
	find_sides(v);
	for (uint32_t r = 0; r < KAI_RES; r++) /* amounts are small enough: sums of doubles are no other ones */
		v->free_share[r] = (double)v->counts->spare[r];
}

void sides_end(struct solver *v)
{
	mem_free(v->side_of);
	mem_free(v->levels);
	array_free(&v->sides);
	array_free(&v->live_sides);
	array_free(&v->touched_sides);
}

/* Others of a workload may be gone with them, in other batches. */
static void batch_add(const struct solver *v, const struct batch *b, struct share_side *ret)
{
	const struct session *s = v->s;
	const struct workload *u = &s->workloads[b->workload];
	uint32_t first = s->podsets[u->first_podset].first;
	double whole[KAI_RES] = {0};

	if (b->n == u->n_members) {
		share_side_add(ret, b->held, b->held, b->grain);
		return;
	}
	for (uint32_t i = first; i < first + u->n_members; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			whole[r] += s->signatures[s->members[i].signature].share[r];
	share_side_add(ret, b->held, whole, b->grain);
}

static void add_recorded(struct solver *v)
{
	const struct session *s = v->s;
	uint32_t last = NONE;

	for (uint32_t i = 0; i < v->n_base_gone; i++) {
		uint32_t batch = s->members[v->gone.v[i]].batch;
		const struct batch *b = &v->batches.v[batch];

		if (batch != last && b->side != NONE) {
			batch_add(v, b, &v->sides.v[b->side].base);
			v->sides.v[b->side].is_live = true;
		}
		last = batch;
	}
}

/* Recorded victims are evicted, and nobody else. */
void sides_step(struct solver *v)
{
	const struct session *s = v->s;

	v->live_sides.n = 0;
	for (uint32_t i = 0; i < v->sides.n; i++) {
		struct side *x = &v->sides.v[i];

		x->is_live = false;
		x->base = share_side_of(s->settled, x->base.queue, x->base.mine, s->step_request);
	}
	if (v->sides.n > 0)
		add_recorded(v);
	for (uint32_t i = 0; i < v->n_levels; i++)
		v->levels[i] = (struct level_sum){0};
	for (uint32_t i = 0; i < v->sides.n; i++) {
		struct side *x = &v->sides.v[i];

		x->share = x->base;
		x->is_touched = false;
		for (uint32_t r = 0; r < KAI_RES; r++)
			v->levels[x->level].base[r] += x->base.gone[r];
		if (x->is_live)
			array_push(&v->live_sides, i);
	}
	v->n_base_live = v->live_sides.n;
	v->touched_sides.n = 0;
	v->knows_base_most = false;
}

void sides_note_batch(struct solver *v, uint32_t batch)
{
	const struct session *s = v->s;
	struct batch *b = &v->batches.v[batch];

	if (v->sides.n == 0)
		return;
	b->side = v->side_of[s->workloads[b->workload].queue];
	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t r = 0; r < KAI_RES; r++) {
			double share = s->signatures[s->members[v->members.v[b->first + i]].signature].share[r];

			b->held[r] += share;
			b->grain[r] = share_grain(b->grain[r], share);
		}
}

static void side_add(struct solver *v, const struct batch *b)
{
	struct side *x = &v->sides.v[b->side];

	if (!x->is_live)
		array_push(&v->live_sides, b->side);
	x->is_live = true;
	if (!x->is_touched)
		array_push(&v->touched_sides, b->side);
	x->is_touched = true;
	if (x->level < v->touched_level)
		v->touched_level = x->level;
	batch_add(v, b, &x->share);
	for (uint32_t r = 0; r < KAI_RES; r++)
		v->levels[x->level].gone[r] += b->held[r];
}

/* Of recorded victims alone. */
static void sum_base(struct solver *v)
{
	for (uint32_t i = 0; i < v->touched_sides.n; i++) {
		struct side *x = &v->sides.v[v->touched_sides.v[i]];

		x->share = x->base;
		x->is_touched = false;
	}
	for (; v->live_sides.n > v->n_base_live; v->live_sides.n--)
		v->sides.v[array_last(&v->live_sides)].is_live = false;
	v->touched_sides.n = 0;
	v->touched_level = UINT32_MAX;
	for (uint32_t i = 0; i < v->n_levels; i++)
		memcpy(v->levels[i].gone, v->levels[i].base, sizeof(v->levels[i].gone));
}

/* And those that a trial on this node takes with them; stamp: each once. */
static void sum_node(struct solver *v, uint32_t node, uint64_t stamp)
{
	const struct session_node *n = node == NONE ? NULL : &v->s->nodes[node];

	if (n == NULL || n->by_node_stamp != v->stamp)
		return;
	for (uint32_t i = n->first_by_node; i != NONE; i = v->by_node.v[i].next)
		for (uint32_t b = v->by_node.v[i].first_batch; b != NONE; b = v->batches.v[b].next) {
			struct batch *x = &v->batches.v[b];

			if (x->is_recorded || x->summed == stamp)
				continue;
			x->summed = stamp;
			side_add(v, x);
		}
}

static void sum_inside(const struct solver *v, uint32_t level, double ret[KAI_RES])
{
	memset(ret, 0, KAI_RES * sizeof(*ret));
	for (uint32_t i = 0; i < level && i < v->n_levels; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			ret[r] += v->levels[i].gone[r];
}

static bool most_lost(struct solver *v, const struct side *x, double ret[KAI_RES], struct share_verdict *why)
{
	struct session *s = v->s;
	double inside[KAI_RES];

	assert(x);
	sum_inside(v, x->level, inside);
	return share_most_lost(s->settled, &x->share, s->step_request, inside, s->settings->saturation, ret, why);
}

/* Nobody is gone but recorded victims. */
static void find_base_most(struct solver *v)
{
	memset(v->base_most, 0, sizeof(v->base_most));
	for (uint32_t i = 0; i < v->n_base_live; i++) {
		struct side *x = &v->sides.v[v->live_sides.v[i]];

		x->base_loses_all = most_lost(v, x, x->base_most, NULL);
		for (uint32_t r = 0; r < KAI_RES; r++)
			v->base_most[r] += x->base_most[r];
	}
	v->knows_base_most = true;
}

static void begin_sums(struct solver *v)
{
	sum_base(v);
	if (!v->knows_base_most)
		find_base_most(v);
}

/* sum: of all sides, with what it may lose in this trial instead of what it might with recorded victims alone. */
static void most_lost_now(struct solver *v, struct side *x, bool is_base, double sum[KAI_RES])
{
	double most[KAI_RES];

	x->loses_all = most_lost(v, x, most, NULL);
	for (uint32_t r = 0; r < KAI_RES; r++)
		sum[r] += most[r] - (is_base ? x->base_most[r] : 0);
}

/* Most sides lose what they would with recorded victims alone: nobody of them is on the node, nor further inside. */
static bool is_as_in_base(const struct solver *v, const struct side *x)
{
	return !x->is_touched && v->touched_level >= x->level;
}

static void sum_most_lost(struct solver *v, double ret[KAI_RES])
{
	memcpy(ret, v->base_most, sizeof(v->base_most));
	for (uint32_t i = v->n_base_live; i < v->live_sides.n; i++)
		most_lost_now(v, &v->sides.v[v->live_sides.v[i]], false, ret);
	for (uint32_t i = 0; i < v->n_base_live && v->touched_sides.n > 0; i++) {
		struct side *x = &v->sides.v[v->live_sides.v[i]];

		if (!is_as_in_base(v, x))
			most_lost_now(v, x, true, ret);
	}
}

/* The first that has to keep something. */
static const struct side *find_refused(const struct solver *v)
{
	for (uint32_t i = 0; i < v->live_sides.n; i++) {
		const struct side *x = &v->sides.v[v->live_sides.v[i]];

		if (!(is_as_in_base(v, x) ? x->base_loses_all : x->loses_all))
			return x;
	}
	return NULL;
}

static bool is_short(const struct solver *v, const double gone[KAI_RES])
{
	for (uint32_t r = 0; r < KAI_RES; r++)
		if (gone[r] + v->free_share[r] < v->s->step_request[r])
			return true;
	return false;
}

/* As they were summed up. why: may be NULL. */
static enum outlook find_outlook(struct solver *v, struct share_verdict *why)
{
	double all[KAI_RES], most[KAI_RES];

	sum_inside(v, UINT32_MAX, all);
	if (is_short(v, all))
		return CANNOT_HAVE_ROOM;
	sum_most_lost(v, most);
	if (!is_short(v, most))
		return MAY_BE_LAWFUL;
	if (why != NULL)
		most_lost(v, find_refused(v), most, why);
	return CANNOT_BE_LAWFUL;
}

enum outlook sides_outlook(struct solver *v, uint32_t node, struct share_verdict *why)
{
	if (v->sides.n == 0)
		return MAY_BE_LAWFUL;
	begin_sums(v);
	sum_node(v, node, ++v->s->stamp);
	return find_outlook(v, why);
}

/* The more are gone, the more may be lost: what cannot be with all of them gone cannot be with some of them. */
bool sides_may_be_lawful(struct solver *v, uint32_t workload)
{
	struct session *s = v->s;
	const struct workload *u = &s->workloads[workload];
	uint32_t first = s->podsets[u->first_podset].first;

	if (v->sides.n == 0)
		return true;
	begin_sums(v);
	s->stamp++;
	for (uint32_t i = first; i < first + u->n_members; i++)
		sum_node(v, s->members[i].node, s->stamp);
	return find_outlook(v, NULL) == MAY_BE_LAWFUL;
}

/* Those of the trial who may not be lost, each by what holds for its side. */
void sides_note_refused(struct solver *v)
{
	struct session *s = v->s;
	struct share_verdict why;
	double lost[KAI_RES];

	for (uint32_t i = 0; i < v->live_sides.n; i++) {
		const struct side *x = &v->sides.v[v->live_sides.v[i]];

		if (most_lost(v, x, lost, &why))
			continue;
		for (uint32_t k = 0; k < v->members.n; k++) {
			uint32_t member = v->members.v[k];

			if (v->side_of[s->workloads[s->members[member].workload].queue] == v->live_sides.v[i])
				session_note_refused(s, member, &why);
		}
	}
}
