/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair shares are worked out level by level, each resource alone.
 *
 * First every queue gets its quota, as far as it asks for it. Quotas may add up to more than there is; then the shares
 * add up to more than the level has, and nothing is left to divide. What is left goes to the queues that still ask,
 * the highest queue priority first: in passes, each giving to everyone by weight, whole units only; who asks for less
 * than its part is done, and what it did not want makes the next pass. A pass that satisfies nobody is the last. What
 * rounding held back is handed out at the end, a unit each, largest fraction first.
 *
 * The parts of a pass shrink quickly unless many are satisfied at once, so there are few passes: about as many as the
 * amounts have binary digits.
 */
#include "rules/fair_share.h"

#include <math.h>
#include <stdlib.h>

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* More than the share allows. */
static bool is_above(double used, double share)
{
	return share != SHARE_UNLIMITED && used > share;
}

static double requestable(const struct share *s)
{
	return s->limit == SHARE_UNLIMITED ? s->request : least(s->limit, s->request);
}

/* What a queue asks for and has not been given yet. */
static double need(const struct share *s)
{
	double wants = requestable(s);

	return wants > s->fair ? wants - s->fair : 0;
}

double share_allocatable(const struct share *s)
{
	double a;

	if (s->deserved == SHARE_UNLIMITED)
		return s->limit;
	a = s->deserved > s->fair ? s->deserved : s->fair;
	return s->limit == SHARE_UNLIMITED ? a : least(s->limit, a);
}

/* ---- division ---- */

struct sibling {	/* a queue among those it divides with */
	uint32_t level; /* 0: the top, else the parent + 1 */
	int32_t priority;
	uint32_t rank, queue;
	double part;	 /* of this pass, before it is related to the others */
	double fraction; /* that rounding held back */
};

struct share_table { /* siblings, or those of them of one priority; in one resource */
	struct share_queue *q;
	struct sibling *siblings, *spare; /* spare: room for n */
	uint32_t n;
	enum kai_res res;
	double k;
};

static struct share *share_at(const struct share_table *t, uint32_t i)
{
	return &t->q[t->siblings[i].queue].r[t->res];
}

static int by_level(const void *va, const void *vb)
{
	const struct sibling *a = va, *b = vb;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int by_fraction(const void *va, const void *vb)
{
	const struct sibling *a = va, *b = vb;

	if (a->fraction != b->fraction)
		return a->fraction > b->fraction ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Quotas, as far as they are asked for. Returns what is left: negative if they add up to more than there is. */
static double give_deserved(struct share_table *t, double total)
{
	double left = total;

	for (uint32_t i = 0; i < t->n; i++) {
		struct share *s = share_at(t, i);

		s->fair = least(s->deserved == SHARE_UNLIMITED ? total : s->deserved, requestable(s));
		left -= s->fair;
		t->siblings[i].fraction = 0;
	}
	return left;
}

/* Sets the part of everyone who still asks; returns their sum. Who used more than its weight in the past gets less. */
static double weigh(struct share_table *t)
{
	double weights = 0, parts = 0;

	for (uint32_t i = 0; i < t->n; i++)
		if (need(share_at(t, i)) > 0)
			weights += share_at(t, i)->weight;
	for (uint32_t i = 0; i < t->n && weights != 0; i++) {
		const struct share *s = share_at(t, i);
		double by_weight = s->weight / weights, part = by_weight + t->k * (by_weight - s->usage);

		t->siblings[i].part = need(s) > 0 && part > 0 ? part : 0;
		parts += t->siblings[i].part;
	}
	return parts;
}

/* Gives a queue what it needs, or the whole units of its part. True if it wanted less than its part. */
static bool give_part(struct share *s, struct sibling *sibling, double part, double *left)
{
	double wants = need(s), whole = part > 0 ? floor(part) : 0;

	if (wants <= part) {
		s->fair = requestable(s);
		*left -= wants;
		sibling->fraction = 0;
		return wants < part;
	}
	s->fair += whole;
	*left -= whole;
	if (part > whole)
		sibling->fraction = part - whole;
	return false;
}

/* One pass among queues of one priority. True if another one is worth while. */
static bool give_pass(struct share_table *t, double *left)
{
	double base = *left, parts = weigh(t);
	bool is_again = false;

	if (parts <= 0)
		return false;
	for (uint32_t i = 0; i<t->n && * left> 0; i++) {
		struct share *s = share_at(t, i);

		if (need(s) > 0 && s->weight != 0)
			is_again |= give_part(s, &t->siblings[i], base * (t->siblings[i].part / parts), left);
	}
	return is_again && *left > 0;
}

/* A unit for each whose part had a fraction. */
static double give_fractions(struct share_table *t, double left)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->siblings[i].fraction > 0)
			t->spare[n++] = t->siblings[i];
	qsort(t->spare, n, sizeof(*t->spare), by_fraction);
	for (uint32_t i = 0; i < n && left > 0; i++) {
		struct share *s = &t->q[t->spare[i].queue].r[t->res];
		double unit = least(least(1, left), need(s));

		s->fair += unit;
		left -= unit;
	}
	return left;
}

/* The siblings of one priority that begin at first. */
static struct share_table of_priority(const struct share_table *all, uint32_t first)
{
	struct share_table t = *all;

	t.siblings += first;
	for (t.n = 1; first + t.n < all->n && t.siblings[t.n].priority == t.siblings->priority;)
		t.n++;
	return t;
}

static void divide(struct share_table *all, double total)
{
	double left = give_deserved(all, total);
	struct share_table t;

	for (uint32_t i = 0; i < all->n && left > 0; i += t.n) {
		t = of_priority(all, i);
		while (give_pass(&t, &left))
			;
	}
	for (uint32_t i = 0; i < all->n && left > 0; i += t.n) {
		t = of_priority(all, i);
		left = give_fractions(&t, left);
	}
}

static uint32_t level_end(const struct sibling *siblings, uint32_t n, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < n && siblings[end].level == siblings[first].level)
		end++;
	return end;
}

void share_divide(struct share_queue *q, uint32_t n, const double total[KAI_RES], double k)
{
	struct sibling *siblings = mem_alloc(2 * (size_t)n * sizeof(*siblings) + 1);

	for (uint32_t i = 0; i < n; i++) {
		assert(q[i].parent == SHARE_NO_QUEUE || q[i].parent < i);
		siblings[i] = (struct sibling){q[i].parent + 1, q[i].priority, q[i].rank, i, 0, 0};
	}
	qsort(siblings, n, sizeof(*siblings), by_level);
	for (uint32_t first = 0, end; first < n; first = end) {
		uint32_t level = siblings[first].level;

		end = level_end(siblings, n, first);
		for (int r = 0; r < KAI_RES; r++) {
			struct share_table t = {q, siblings + first, siblings + n, end - first, r, k};

			divide(&t, level ? q[level - 1].r[r].fair : total[r]);
		}
	}
	mem_free(siblings);
}

/* ---- reclaim ---- */

bool share_can_reclaim(const struct share_queue *q, uint32_t me, const double request[KAI_RES], bool is_core,
		       struct share_verdict *ret)
{
	for (enum kai_res r = 0; r < KAI_RES; r++) {
		const struct share *s = &q[me].r[r];
		bool is_mine = is_above(s->allocated + request[r], s->fair),
		     is_quota = is_core && is_above(s->allocated_core + request[r], s->deserved);

		if (!is_mine && !is_quota)
			continue;
		if (ret)
			*ret = (struct share_verdict){.refusal = is_mine ? SHARE_MINE_ABOVE : SHARE_CORE_OVER_QUOTA,
						      .queue = me,
						      .other = me,
						      .res = r,
						      .used = (is_mine ? s->allocated : s->allocated_core) + request[r],
						      .share = is_mine ? s->fair : s->deserved};
		return false;
	}
	return true;
}

void share_scratch_free(struct share_scratch *s)
{
	mem_free(s->stamps);
	mem_free(s->remaining);
	mem_free(s->involved);
	array_free(&s->touched);
	*s = (struct share_scratch){0};
}

static void scratch_begin(struct share_scratch *s, uint32_t n)
{
	if (n > s->n) {
		s->stamps = mem_resize(s->stamps, n, sizeof(*s->stamps));
		s->remaining = mem_resize(s->remaining, n, sizeof(*s->remaining));
		s->involved = mem_resize(s->involved, n, sizeof(*s->involved));
		memset(s->stamps + s->n, 0, (n - s->n) * sizeof(*s->stamps));
		s->n = n;
	}
	s->stamp++;
	s->touched.n = 0;
}

struct reclaim {
	const struct share_queue *q;
	const double *request;
	bool is_core;
	uint32_t me;
	double multiplier;
	struct share_scratch *s;
	struct share_verdict *ret;
};

/* What a queue still holds when the batches so far are gone. */
static double *remaining(struct reclaim *c, uint32_t queue)
{
	struct share_scratch *s = c->s;

	if (s->stamps[queue] != s->stamp) {
		s->stamps[queue] = s->stamp;
		s->involved[queue] = 0;
		for (int r = 0; r < KAI_RES; r++)
			s->remaining[queue][r] = c->q[queue].r[r].allocated;
		array_push(&s->touched, queue);
	}
	return s->remaining[queue];
}

static bool refuse(struct reclaim *c, struct share_verdict v)
{
	if (c->ret)
		*c->ret = v;
	return false;
}

static uint32_t depth(const struct share_queue *q, uint32_t i)
{
	uint32_t d = 0;

	for (; q[i].parent != SHARE_NO_QUEUE; i = q[i].parent)
		d++;
	return d;
}

/* Moves both up to where their paths part: siblings, or twice the same queue if one path is the other's beginning. */
static void part_ways(const struct share_queue *q, uint32_t *a, uint32_t *b)
{
	uint32_t da = depth(q, *a), db = depth(q, *b);

	for (; da > db; da--)
		*a = q[*a].parent;
	for (; db > da; db--)
		*b = q[*b].parent;
	for (; *a != *b && q[*a].parent != q[*b].parent; *a = q[*a].parent)
		*b = q[*b].parent;
}

static bool is_above_fair(const struct share_queue *v, const double *left)
{
	for (int r = 0; r < KAI_RES; r++)
		if (is_above(left[r], share_allocatable(&v->r[r])))
			return true;
	return false;
}

/* With the request, is a queue on the taker's path within its quota? */
static bool may_be_owed(const struct share_queue *mine, const double request[KAI_RES])
{
	for (int r = 0; r < KAI_RES; r++)
		if (is_above(mine->r[r].allocated + request[r], mine->r[r].deserved))
			return false;
	return true;
}

/* Mine stays within quota, and the other is above its own in something. */
static bool is_owed(const struct reclaim *c, const struct share_queue *mine, const struct share_queue *v,
		    const double *left)
{
	bool is_over = false;

	for (int r = 0; r < KAI_RES; r++)
		is_over |= is_above(left[r], v->r[r].deserved);
	return is_over && may_be_owed(mine, c->request);
}

/* How much of a share is used: 1 is all of it. */
static double saturation(double used, double share)
{
	if (share == 0)
		return used > 0 ? INFINITY : 0;
	return share == SHARE_UNLIMITED ? 0 : used / share;
}

/* Of what I ask for, the resource in which the victim's side is closest to being above its share. */
static enum kai_res tightest(const struct reclaim *c, const struct share_queue *v, const double *left)
{
	enum kai_res best = KAI_RES;
	double most = 0;

	for (int r = 0; r < KAI_RES; r++) {
		double x = saturation(left[r], share_allocatable(&v->r[r]));

		if (c->request[r] <= 0 || (best != KAI_RES && x <= most))
			continue;
		best = r;
		most = x;
	}
	return best == KAI_RES ? KAI_GPU : best;
}

static bool refuse_within(struct reclaim *c, uint32_t mine, uint32_t victim, const double *left)
{
	const struct share_queue *m = &c->q[mine], *v = &c->q[victim];
	enum kai_res r;

	if (c->ret == NULL)
		return false;
	r = tightest(c, v, left);
	return refuse(c,
		      (struct share_verdict){SHARE_VICTIM_WITHIN, victim, mine, r, left[r], share_allocatable(&v->r[r]),
					     m->r[r].allocated + c->request[r], m->r[r].deserved});
}

static void take(struct reclaim *c, const struct share_batch *b, uint8_t involved, double times)
{
	for (uint32_t i = b->queue; i != SHARE_NO_QUEUE; i = c->q[i].parent) {
		double *left = remaining(c, i);

		for (int r = 0; r < KAI_RES; r++)
			left[r] -= times * b->r[r];
		c->s->involved[i] |= involved;
	}
}

static uint8_t resources(const double *r)
{
	uint8_t set = 0;

	for (int i = 0; i < KAI_RES; i++)
		set |= (uint8_t)((r[i] > 0) << i);
	return set;
}

/*
 * All batches of one queue. Each is judged by what is left before it goes: a gang may take its queue from just above
 * its share to far below.
 */
static bool take_from_queue(struct reclaim *c, const struct share_batch *b, uint32_t n)
{
	uint32_t mine = c->me, victim = b->queue;
	uint8_t involved = 0;

	part_ways(c->q, &mine, &victim);
	for (uint32_t i = 0; i < n; i++)
		involved |= resources(b[i].r);
	for (uint32_t i = 0; i < n; i++) {
		const double *left;

		if (b[i].more > 0) /* what holds for the last of them holds for those before, when more was left */
			take(c, &b[i], involved, b[i].more);
		left = remaining(c, victim);
		if (!is_above_fair(&c->q[victim], left) && !is_owed(c, &c->q[mine], &c->q[victim], left))
			return refuse_within(c, mine, victim, left);
		take(c, &b[i], involved, 1);
	}
	return true;
}

/* What a queue on my path holds with the request. */
static double with_request(struct reclaim *c, uint32_t queue, int r)
{
	bool is_touched = c->s->stamps[queue] == c->s->stamp;

	return (is_touched ? c->s->remaining[queue][r] : c->q[queue].r[r].allocated) + c->request[r];
}

static bool stays_behind(struct reclaim *c, uint32_t mine, uint32_t sibling)
{
	uint8_t judged = c->s->involved[sibling] | resources(c->request);

	for (int r = 0; r < KAI_RES; r++) {
		double mine_share = c->q[mine].r[r].fair, share = c->q[sibling].r[r].fair;
		double mine_used = with_request(c, mine, r), used = c->s->remaining[sibling][r];
		double mine_full = saturation(mine_used, mine_share);

		if (!(judged & (1 << r)) || mine_full <= 1 || share <= 0)
			continue;
		if (mine_full * c->multiplier >= saturation(used, share))
			return refuse(c, (struct share_verdict){SHARE_MORE_SATURATED, sibling, mine, r, used, share,
								mine_used, mine_share});
	}
	return true;
}

static bool core_fits(struct reclaim *c, uint32_t queue)
{
	for (int r = 0; r < KAI_RES; r++) {
		const struct share *s = &c->q[queue].r[r];
		double used = s->allocated_core + c->request[r];

		if (is_above(used, s->deserved))
			return refuse(c, (struct share_verdict){SHARE_CORE_OVER_QUOTA, queue, c->me, r, used,
								s->deserved, used, s->deserved});
	}
	return true;
}

/* One queue of my path against its siblings that lost something. */
static bool may_hold(struct reclaim *c, uint32_t queue)
{
	for (uint32_t i = 0; i < c->s->touched.n; i++) {
		uint32_t other = c->s->touched.v[i];

		if (other != queue && c->q[other].parent == c->q[queue].parent && !stays_behind(c, queue, other))
			return false;
	}
	return !c->is_core || core_fits(c, queue);
}

bool share_reclaimable(const struct share_queue *q, uint32_t n, uint32_t me, const double request[KAI_RES],
		       bool is_core, const struct share_batch *batches, uint32_t n_batches, double multiplier,
		       struct share_scratch *s, struct share_verdict *ret)
{
	struct reclaim c = {q, request, is_core, me, multiplier, s, ret};

	scratch_begin(s, n);
	for (uint32_t i = 0, end; i < n_batches; i = end) {
		for (end = i + 1; end < n_batches && batches[end].queue == batches[i].queue;)
			end++;
		if (!take_from_queue(&c, batches + i, end - i))
			return false;
	}
	for (uint32_t i = me; i != SHARE_NO_QUEUE; i = q[i].parent)
		if (!may_hold(&c, i))
			return false;
	if (ret)
		*ret = (struct share_verdict){.refusal = SHARE_FINE, .queue = SHARE_NO_QUEUE, .other = SHARE_NO_QUEUE};
	return true;
}

/* ---- before it is known who is lost ---- */

/* What the queue must be above in this resource, so that something of it may go. SHARE_UNLIMITED: it never is. */
static double least_kept(const struct share *v, bool may_owe)
{
	double may = share_allocatable(v);

	if (!may_owe || v->deserved == SHARE_UNLIMITED)
		return may;
	return may == SHARE_UNLIMITED || v->deserved < may ? v->deserved : may;
}

double share_grain(double a, double b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	if (x == 0 || x == y) /* mostly */
		return b;
	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return (double)x;
}

void share_side_add(struct share_side *side, const double gone[KAI_RES], const double whole[KAI_RES],
		    const double grain[KAI_RES])
{
	for (int r = 0; r < KAI_RES; r++) {
		side->gone[r] += gone[r];
		side->largest[r] = whole[r] > side->largest[r] ? whole[r] : side->largest[r];
		if (side->grain[r] != grain[r])
			side->grain[r] = share_grain(side->grain[r], grain[r]);
	}
}

struct share_side share_side_of(const struct share_queue *q, uint32_t queue, uint32_t mine,
				const double request[KAI_RES])
{
	struct share_side side = {.queue = queue, .mine = mine};
	bool may_owe = may_be_owed(&q[mine], request);

	for (enum kai_res r = 0; r < KAI_RES; r++) {
		const struct share *v = &q[queue].r[r];
		double kept = least_kept(v, may_owe);

		if (!is_above(v->allocated, kept))
			continue;
		side.n_above++;
		side.which = r;
		side.above = v->allocated - kept;
	}
	return side;
}

/*
 * Each batch is judged by what is left before it goes, so one may pass what has to be kept, and no second one: what is
 * lost before it is less than the queue has above that. It is a bound only where the queue is above in a single
 * resource.
 */
static void bound_by_kept(const struct share_side *side, double ret[KAI_RES])
{
	double grain = side->grain[side->which];

	memcpy(ret, side->gone, sizeof(side->gone));
	if (side->n_above == 1 && grain > 0)
		ret[side->which] =
			least(ret[side->which], (ceil(side->above / grain) - 1) * grain + side->largest[side->which]);
}

/*
 * The most that a queue may lose so that it stays fuller than mine is; negative: not even a part of nothing. Amounts
 * are whole numbers, and what is asked is what stays_behind asks, so there is no rounding between both.
 */
static double most_behind(double full, double allocated, double fair)
{
	double most = floor(allocated - full * fair) + 2;

	for (int i = 0; i < 8 && full >= saturation(allocated - most, fair); i++)
		most--;
	return most;
}

/* At best, with everybody lost who is gone below mine. False: something of the side has to stay; ret_r: by what. */
static bool bound_by_fullness(const struct share_queue *mine, const struct share_queue *v,
			      const struct share_side *side, const double request[KAI_RES],
			      const double inside[KAI_RES], double multiplier, double ret[KAI_RES], enum kai_res *ret_r)
{
	bool is_free = true;

	for (enum kai_res r = 0; r < KAI_RES; r++) {
		double full, most;

		if (request[r] <= 0 || v->r[r].fair <= 0)
			continue;
		full = saturation(mine->r[r].allocated - inside[r] + request[r], mine->r[r].fair);
		if (full <= 1)
			continue;
		most = most_behind(full * multiplier, v->r[r].allocated, v->r[r].fair);
		if (ret[r] <= most)
			continue;
		*ret_r = r;
		is_free = false;
		if (most < 0) {
			memset(ret, 0, KAI_RES * sizeof(*ret));
			break;
		}
		ret[r] = floor(most / side->grain[r]) * side->grain[r];
	}
	return is_free;
}

static bool loses_all(const struct share_side *side, const double ret[KAI_RES])
{
	for (int r = 0; r < KAI_RES; r++)
		if (ret[r] < side->gone[r])
			return false;
	return true;
}

bool share_most_lost(const struct share_queue *q, const struct share_side *side, const double request[KAI_RES],
		     const double inside[KAI_RES], double multiplier, double ret[KAI_RES], struct share_verdict *why)
{
	const struct share_queue *v = &q[side->queue], *mine = &q[side->mine];
	struct reclaim c = {.q = q, .request = request, .ret = why};
	double left[KAI_RES];
	enum kai_res r = 0;
	bool is_free = true;

	bound_by_kept(side, ret);
	if (side->n_above == 0)
		memset(ret, 0, KAI_RES * sizeof(*ret));
	else
		is_free = bound_by_fullness(mine, v, side, request, inside, multiplier, ret, &r);
	if (is_free && loses_all(side, ret))
		return true;
	if (why == NULL)
		return false;
	for (int i = 0; i < KAI_RES; i++)
		left[i] = v->r[i].allocated - (side->n_above > 0 ? side->gone[i] : 0);
	if (!is_free)
		return refuse(&c, (struct share_verdict){SHARE_MORE_SATURATED, side->queue, side->mine, r, left[r],
							 v->r[r].fair, mine->r[r].allocated - inside[r] + request[r],
							 mine->r[r].fair});
	return refuse_within(&c, side->mine, side->queue, left);
}

/* ---- order ---- */

static double dominant(double most, double used, double share, double total)
{
	double of = share == SHARE_UNLIMITED ? total : share;
	double x = of == 0 ? used * 1000 : used / of;

	return x > most ? x : most;
}

struct share_standing share_standing(const struct share_sibling *t, const double may[KAI_RES],
				     const double total[KAI_RES])
{
	struct share_standing s = {.q = t->q, .may = may, .is_over = true, .is_within_quota = true};

	for (int r = 0; r < KAI_RES; r++) {
		const struct share *of = &t->q->r[r];
		double with = of->allocated + t->request[r];

		s.is_over &= of->fair < of->allocated;
		s.is_within_quota &= !is_above(with, of->deserved);
		s.is_forbidden |= may[r] == 0 && with > 0;
		s.dominant = dominant(s.dominant, with - t->taken[r], may[r], total[r]);
		s.dominant_now = dominant(s.dominant_now, of->allocated, may[r], total[r]);
	}
	return s;
}

/* Of two shares, at most as large in everything; without limit is largest. */
static bool is_at_most(const double *a, const double *b)
{
	for (int r = 0; r < KAI_RES; r++)
		if (b[r] != SHARE_UNLIMITED && (a[r] == SHARE_UNLIMITED || a[r] > b[r]))
			return false;
	return true;
}

/* By one resource after the other, which agrees with is_at_most wherever that says something. */
static int by_may(const void *x, const void *y)
{
	const double *a = *(const double *const *)x, *b = *(const double *const *)y;

	for (int r = 0; r < KAI_RES; r++)
		if (a[r] != b[r])
			return b[r] == SHARE_UNLIMITED || (a[r] != SHARE_UNLIMITED && a[r] < b[r]) ? -1 : 1;
	return 0;
}

bool share_are_comparable(const double **may, uint32_t n)
{
	if (n > 1)
		qsort(may, n, sizeof(*may), by_may);
	for (uint32_t i = 1; i < n; i++)
		if (!is_at_most(may[i - 1], may[i]))
			return false;
	return true;
}

/* -1: a has it, 1: b has it, 0: both or none. */
static int who(bool a, bool b)
{
	return (int)b - (int)a;
}

static int smaller(double a, double b)
{
	return who(a < b, b < a);
}

int share_standing_cmp(const struct share_standing *a, const struct share_standing *b)
{
	int d = who(!a->is_over, !b->is_over);

	if (!d)
		d = who(a->is_within_quota, b->is_within_quota);
	if (!d)
		d = who(a->q->priority > b->q->priority, b->q->priority > a->q->priority);
	if (!d)
		d = who(!a->is_forbidden, !b->is_forbidden);
	if (!d)
		d = smaller(a->dominant, b->dominant);
	if (!d)
		d = smaller(a->dominant_now, b->dominant_now);
	if (!d)
		d = who(is_at_most(a->may, b->may), is_at_most(b->may, a->may));
	return d ? d : a->q->rank < b->q->rank ? -1 : 1;
}

int share_order(const struct share_sibling *a, const struct share_sibling *b, const double total[KAI_RES])
{
	struct share_standing x, y;
	double may_a[KAI_RES], may_b[KAI_RES];

	for (int r = 0; r < KAI_RES; r++) {
		may_a[r] = share_allocatable(&a->q->r[r]);
		may_b[r] = share_allocatable(&b->q->r[r]);
	}
	x = share_standing(a, may_a, total);
	y = share_standing(b, may_b, total);
	return share_standing_cmp(&x, &y);
}
