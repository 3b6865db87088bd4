/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of waiting work: queues by how they stand to their shares, level by level, and within a queue its workloads
 * as they are listed (session_lists.c). The same for victims, the other way round.
 */
#include "engine/session.h"

#include <math.h>

#include <string.h>

#include "base/heap.h"

/* ---- orders over queues ---- */

/*
 * Of waiting work: how a queue stood when an order began, and what that was worked out of. Once a trial was taken back
 * that is the same again, for most queues.
 */
struct first_standing {
	bool is_known;
	double asked[KAI_RES], allocated[KAI_RES];
	struct share_standing standing;
};

enum may_go_in_circles { CIRCLES_NOT_ASKED, NO_CIRCLES, MAY_GO_IN_CIRCLES };

struct order_node {	      /* one queue */
	uint64_t stamp;	      /* = order.stamp: is in it */
	uint32_t parent;      /* the root of the order is that of top queues */
	const uint32_t *list; /* leaf: of the queue, or a copy of it */
	uint32_t at, n;
	const struct order_item *extra; /* leaf: sorted */
	uint32_t extra_at, n_extra;
	/* leaf: what stands first, in a trial, until it is popped */
	struct order_item head;
	uint8_t head_from; /* enum head */
	bool knows_head;
	struct heap pushed;	/* leaf: in order.pushed */
	struct heap children;	/* queues */
	bool may_sink;		/* what stands at its head changed since its place among its siblings was looked at */
	double popped[KAI_RES]; /* what victims popped so far hold */
	/* among its siblings, until its head or, of waiting work, anything in it or below changes */
	struct share_standing standing;
	uint64_t key;	      /* of the standing: who has a smaller one comes first */
	uint64_t standing_at; /* *n_moves when it was worked out, and one more; 0: it is not known */
	const uint64_t *n_moves;
	bool is_first;	 /* none was worked out since the order began */
	uint8_t circles; /* enum may_go_in_circles: its children */
	struct first_standing first;
	/* in a trial */
	uint64_t touched;   /* = order.stamp: somebody below looks for room */
	uint32_t n_touched; /* children of which that is true */
	bool is_compared;   /* with others, by what stands first below it, even if that only waits */
};

struct order {
	struct session *s;
	bool is_victims;
	bool keeps_nothing; /* whoever looks at all works out everything anew */
	bool is_unclear;    /* who stands first may depend on queues that were left out */
	order_filter filter;
	void *ctx;
	uint64_t stamp, trial;
	uint32_t root;
	struct order_node *nodes; /* one for each queue, and one for the root at the end */
	/* the leaf popped last, if by that a workload was passed over, and what that asked for */
	uint32_t passed, kind;
	bool is_steady; /* every queue above the leaf that comes first was compared by what stands first in that leaf */
	uint32_t asker; /* in a trial: the leaf of the workload that asks */
	ARRAY(struct order_item) pushed; /* since it began */
	ARRAY(struct victim_entry) entries;
	struct arena *arena; /* of entries */
};

static int by_share(const void *order, uint32_t a, uint32_t b);
static int by_item(const void *order, uint32_t a, uint32_t b);

/* Victims are compared by what is settled, which stands still while they are looked for. */
static const uint64_t never_moves;

static struct order *order_of(struct session *s, enum order_role role)
{
	struct order *o = s->orders[role];

	if (o != NULL)
		return o;
	s->orders[role] = o = mem_alloc(sizeof(*o));
	o->s = s;
	o->is_victims = role == ORDER_VICTIMS;
	o->root = s->n_queues;
	o->arena = arena_new(1 << 14);
	o->nodes = mem_alloc((s->n_queues + 1) * sizeof(*o->nodes));
	for (uint32_t i = 0; i <= s->n_queues; i++) {
		o->nodes[i].parent =
			i < s->n_queues && s->shares[i].parent != SHARE_NO_QUEUE ? s->shares[i].parent : s->n_queues;
		o->nodes[i].n_moves = o->is_victims || i == s->n_queues ? &never_moves : &s->queues[i].n_moves;
		heap_init(&o->nodes[i].pushed, by_item, o);
		heap_init(&o->nodes[i].children, by_share, o);
	}
	return o;
}

void order_free(struct session *s)
{
	for (unsigned i = 0; i < sizeof(s->orders) / sizeof(*s->orders); i++) {
		struct order *o = s->orders[i];

		if (o == NULL)
			continue;
		for (uint32_t k = 0; k <= s->n_queues; k++) {
			heap_free(&o->nodes[k].pushed);
			heap_free(&o->nodes[k].children);
		}
		array_free(&o->pushed);
		array_free(&o->entries);
		arena_free(o->arena);
		mem_free(o->nodes);
		mem_free(o);
		s->orders[i] = NULL;
	}
}

static bool item_before(const struct session *s, const struct order *o, const struct order_item *a,
			const struct order_item *b)
{
	if (a->workload == b->workload)
		return false;
	return workload_comes_before(s, o->is_victims, a->workload, a->state, b->workload, b->state);
}

bool order_is_unclear(const struct session *s)
{
	return s->orders[ORDER_TRIAL] != NULL && s->orders[ORDER_TRIAL]->is_unclear;
}

static int by_item(const void *order, uint32_t a, uint32_t b)
{
	const struct order *o = order;

	if (item_before(o->s, o, &o->pushed.v[a], &o->pushed.v[b]))
		return -1;
	return item_before(o->s, o, &o->pushed.v[b], &o->pushed.v[a]);
}

/*
 * Victims are many and each is somewhere else in memory, which is most of what looking at them takes. What is found by
 * way of the workload is fetched when that is there.
 */
static inline __attribute__((always_inline)) void fetch_ahead(const struct session *s, const struct order_node *n)
{
	enum { NEAR = 2, HALFWAY = 4, FAR = 8 };

	if (n->at + FAR >= n->n)
		return;
	uint32_t far = n->list[n->at + FAR];
	uint32_t halfway = s->workloads[n->list[n->at + HALFWAY]].first_podset;
	uint32_t near = s->podsets[s->workloads[n->list[n->at + NEAR]].first_podset].first;

	__builtin_prefetch(&s->workloads[far]);
	__builtin_prefetch(&s->searched[far], 1);
	__builtin_prefetch(&s->podsets[halfway]);
	__builtin_prefetch(&s->members[near], 1);
}

/* The head of the list, passing over workloads that do not belong. */
static bool list_head(struct session *s, struct order *o, struct order_node *n, struct order_item *ret)
{
	for (; n->at < n->n; n->at++) {
		uint32_t u = n->list[n->at];

		if (o->is_victims)
			fetch_ahead(s, n);
		if (o->trial != 0 && s->searched[u].in_trial == o->trial)
			continue;
		enum pick_of_workload pick = o->filter != NULL ? o->filter(s, u, o->ctx) : TAKE_WORKLOAD;

		if (pick == NO_MORE_WORKLOADS) {
			n->n = n->at;
			break;
		}
		if (pick == PASS_WORKLOAD)
			continue;
		*ret = (struct order_item){u, NONE, workload_listed_state(s, o->is_victims, u)};
		return true;
	}
	return false;
}

enum head { HEAD_NONE, HEAD_LIST, HEAD_EXTRA, HEAD_PUSHED };

static enum head find_head(struct session *s, struct order *o, struct order_node *n, struct order_item *ret)
{
	enum head which = list_head(s, o, n, ret) ? HEAD_LIST : HEAD_NONE;

	if (n->extra_at < n->n_extra && (which == HEAD_NONE || item_before(s, o, &n->extra[n->extra_at], ret))) {
		*ret = n->extra[n->extra_at];
		which = HEAD_EXTRA;
	}
	if (n->pushed.items.n > 0) {
		const struct order_item *first = &o->pushed.v[heap_peek(&n->pushed)];

		if (which == HEAD_NONE || item_before(s, o, first, ret)) {
			*ret = *first;
			which = HEAD_PUSHED;
		}
	}
	return which;
}

/* Nothing that the order within a leaf depends on changes during a trial. */
static enum head leaf_head(struct session *s, struct order *o, struct order_node *n, struct order_item *ret)
{
	if (o->trial == 0 || o->keeps_nothing)
		return find_head(s, o, n, ret);
	if (!n->knows_head) {
		n->head_from = (uint8_t)find_head(s, o, n, &n->head);
		n->knows_head = true;
	}
	*ret = n->head;
	return (enum head)n->head_from;
}

static const double nothing[KAI_RES];

static const double *held_by(const struct session *s, const struct order *o, const struct order_item *item)
{
	return item->entry != NONE ? o->entries.v[item->entry].allocated
				   : s->workloads[item->workload].listed_allocated;
}

/* What the best workload under a queue asks for, or what goes with it and those before it. */
static void sibling_of(struct session *s, struct order *o, uint32_t queue, double sum[KAI_RES],
		       struct share_sibling *ret)
{
	uint32_t q = queue;
	struct order_item item;

	while (o->nodes[q].children.items.n > 0)
		q = heap_peek(&o->nodes[q].children);
	*ret = (struct share_sibling){o->is_victims ? &s->settled[queue] : &s->shares[queue], nothing, nothing};
	if (leaf_head(s, o, &o->nodes[q], &item) == HEAD_NONE)
		return;
	if (!o->is_victims) {
		ret->request = item.entry == TRIAL_ASKS ? s->step_request : workload_request(s, item.workload);
		return;
	}
	const double *held = held_by(s, o, &item);

	for (uint32_t r = 0; r < KAI_RES; r++)
		sum[r] = o->nodes[q].popped[r] + held[r];
	ret->taken = sum;
}

/* What share_standing_cmp looks at first, as one number. */
static uint64_t key_of(const struct share_standing *x)
{
	return (uint64_t)x->is_over << 63 | (uint64_t)!x->is_within_quota << 62 |
	       (uint64_t)((int64_t)INT32_MAX - x->q->priority) << 1 | x->is_forbidden;
}

/* In one cycle nothing else changes that it depends on. */
static bool stands_as_at_first(const struct first_standing *f, const struct share_sibling *t)
{
	for (uint32_t r = KAI_RES; r-- > 0;) /* GPUs come first, and are seldom what differs */
		if (f->asked[r] != t->request[r] || f->allocated[r] != t->q->r[r].allocated)
			return false;
	return f->is_known;
}

static void keep_first(struct order_node *n, const struct share_sibling *t)
{
	n->first.is_known = true;
	n->first.standing = n->standing;
	for (uint32_t r = 0; r < KAI_RES; r++) {
		n->first.asked[r] = t->request[r];
		n->first.allocated[r] = t->q->r[r].allocated;
	}
}

static struct order_node *find_standing(struct order *o, uint32_t queue)
{
	struct order_node *n = &o->nodes[queue];
	bool may_keep = !o->is_victims && !o->keeps_nothing;
	double sum[KAI_RES];
	struct share_sibling t;

	sibling_of(o->s, o, queue, sum, &t);
	if (may_keep && stands_as_at_first(&n->first, &t)) {
		n->standing = n->first.standing;
	} else {
		n->standing = share_standing(&t, o->s->queues[queue].may, o->s->total);
		if (may_keep && n->is_first)
			keep_first(n, &t);
	}
	n->is_first = false;
	n->key = key_of(&n->standing);
	n->standing_at = o->keeps_nothing ? 0 : *n->n_moves + 1;
	return n;
}

static inline struct order_node *with_standing(struct order *o, uint32_t queue)
{
	struct order_node *n = &o->nodes[queue];

	return n->standing_at == *n->n_moves + 1 ? n : find_standing(o, queue);
}

/* Once in a cycle, in which fair shares stay as they are. */
static bool may_go_in_circles(const struct order *o, uint32_t parent)
{
	const struct session *s = o->s;
	struct order_node *p = &o->nodes[parent];
	ARRAY(const double *) may = {0};

	if (p->circles != CIRCLES_NOT_ASKED)
		return p->circles == MAY_GO_IN_CIRCLES;
	for (uint32_t q = parent == o->root ? s->first_queue : s->queues[parent].first_child; q != NONE;
	     q = s->queues[q].next)
		array_push(&may, s->queues[q].may);
	p->circles = share_are_comparable(may.v, may.n) ? NO_CIRCLES : MAY_GO_IN_CIRCLES;
	array_free(&may);
	return p->circles == MAY_GO_IN_CIRCLES;
}

/*
 * If what they may have decides between two siblings, which of three could say anything, it matters who is compared
 * with whom. They are so far alike that their keys are the same.
 */
static void note_alike(struct order *o, uint32_t queue, const struct share_standing *x, const struct share_standing *y)
{
	if (o->trial != 0 && !o->keeps_nothing && x->dominant == y->dominant && x->dominant_now == y->dominant_now)
		o->is_unclear |= may_go_in_circles(o, o->nodes[queue].parent);
}

/* For the heaps of siblings. */
static int by_share(const void *order, uint32_t a, uint32_t b)
{
	struct order *o = (struct order *)order;
	const struct order_node *x = with_standing(o, a), *y = with_standing(o, b);
	int d;

	if (x->key != y->key) {
		d = x->key < y->key ? -1 : 1;
	} else if (x->standing.dominant != y->standing.dominant) {
		d = x->standing.dominant < y->standing.dominant ? -1 : 1;
	} else {
		d = share_standing_cmp(&x->standing, &y->standing);
		note_alike(o, a, &x->standing, &y->standing);
	}
	return o->is_victims ? -d : d;
}

/* Of the queue and those above it, which are compared by what stands first below them. */
static void forget_standing(struct order *o, uint32_t queue)
{
	for (uint32_t q = queue; q != o->root; q = o->nodes[q].parent)
		o->nodes[q].standing_at = 0;
}

static struct order_node *parent_node(struct order *o, uint32_t queue)
{
	return &o->nodes[o->nodes[queue].parent];
}

static void node_reset(struct order *o, struct order_node *n)
{
	n->stamp = o->stamp;
	n->list = NULL;
	n->at = n->n = 0;
	n->extra = NULL;
	n->extra_at = n->n_extra = 0;
	heap_clear(&n->pushed);
	heap_clear(&n->children);
	n->may_sink = n->knows_head = false;
	n->is_compared = n->is_first = true;
	n->standing_at = 0;
	n->n_touched = 0;
	memset(n->popped, 0, sizeof(n->popped));
}

static struct order_node *leaf_node(struct order *o, uint32_t queue)
{
	if (o->nodes[queue].stamp != o->stamp)
		node_reset(o, &o->nodes[queue]);
	return &o->nodes[queue];
}

/* The action's own order goes on while lists change: it has a copy. */
static void take_list(struct session *s, struct order *o, uint32_t queue, bool copies)
{
	const struct session_queue *q = &s->queues[queue];
	const uint32_t *v = o->is_victims ? q->victims.v : q->pending.v;
	uint32_t n = o->is_victims ? q->victims.n : q->pending.n;
	struct order_node *leaf;

	if (n == 0)
		return;
	leaf = leaf_node(o, queue);
	if (copies) {
		uint32_t *mine = arena_n(o->arena, n, uint32_t);
		uint32_t m = 0;

		for (uint32_t i = 0; i < n; i++)
			if (o->filter == NULL || o->filter(s, v[i], o->ctx) == TAKE_WORKLOAD)
				mine[m++] = v[i];
		v = mine;
		n = m;
	}
	leaf->list = v;
	leaf->n = n;
}

static void take_extra(struct session *s, struct order *o, const struct order_item *extra, uint32_t n)
{
	for (uint32_t i = 0; i < n;) {
		uint32_t queue = s->workloads[extra[i].workload].queue, k = i;
		struct order_node *leaf = leaf_node(o, queue);

		while (k < n && s->workloads[extra[k].workload].queue == queue)
			k++;
		leaf->extra = extra + i;
		leaf->n_extra = k - i;
		i = k;
	}
}

static bool is_empty(struct session *s, struct order *o, struct order_node *n)
{
	struct order_item item;

	return n->children.items.n == 0 && leaf_head(s, o, n, &item) == HEAD_NONE;
}

/* Children stand after their parents, so from the end on each queue is complete when it is reached. */
static void link_queues(struct session *s, struct order *o)
{
	struct order_node *root = &o->nodes[o->root];

	if (root->stamp != o->stamp)
		node_reset(o, root);
	for (uint32_t i = s->n_queues; i-- > 0;) {
		struct order_node *n = &o->nodes[i], *p;

		if (n->stamp != o->stamp || is_empty(s, o, n))
			continue;
		p = parent_node(o, i);
		if (p->stamp != o->stamp)
			node_reset(o, p);
		heap_push(&p->children, i);
	}
}

/* ---- a trial: only queues that matter ---- */

static void touch_path(struct order *o, uint32_t leaf)
{
	for (uint32_t q = leaf; q != o->root && o->nodes[q].touched != o->stamp; q = o->nodes[q].parent) {
		struct order_node *p = parent_node(o, q);

		o->nodes[q].touched = o->stamp;
		if (p->stamp != o->stamp)
			node_reset(o, p);
		p->n_touched++;
	}
}

/*
 * Workloads that only wait are passed over, so a queue in which nobody looks for room matters only to its parent, which
 * is compared by its best child; and to that only where the parent is compared at all, because there are others.
 */
static void link_touched(struct session *s, struct order *o, uint32_t first, struct order_node *parent,
			 bool is_compared)
{
	bool are_compared = is_compared || parent->n_touched > 1;

	parent->is_compared = is_compared;
	for (uint32_t q = first; q != NONE; q = s->queues[q].next) {
		struct order_node *n = &o->nodes[q];

		if (!is_compared && n->touched != o->stamp)
			continue;
		if (s->queues[q].first_child != NONE) {
			if (n->stamp != o->stamp)
				node_reset(o, n);
			link_touched(s, o, s->queues[q].first_child, n, are_compared);
		}
		take_list(s, o, q, false);
		if (n->stamp == o->stamp && !is_empty(s, o, n))
			heap_push(&parent->children, q);
	}
}

/* Where an item of the trial comes in among the workloads that only wait, from this one on. */
static uint32_t place_in_list(const struct session *s, const struct order_node *leaf, uint32_t from,
			      const struct order_item *item)
{
	uint32_t lo = from, hi = leaf->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2, u = leaf->list[mid];

		if (u != item->workload &&
		    workload_before(s, u, s->workloads[u].pending_state, item->workload, item->state))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Does the leaf of the workload that asks stand first whoever of those that wait in it is at its head? None of them
 * asks for more than this, and a queue that asks for more comes no earlier.
 */
static bool stays_first(struct session *s, struct order *o)
{
	double most[KAI_RES];

	for (uint32_t r = 0; r < KAI_RES; r++)
		most[r] = fmax(s->queues[o->asker].most[r], s->step_request[r]);
	for (uint32_t q = o->asker; q != SHARE_NO_QUEUE; q = s->shares[q].parent) {
		const struct share_sibling t = {&s->shares[q], most, nothing};
		const struct share_standing x = share_standing(&t, s->queues[q].may, s->total);
		const struct heap *h = &parent_node(o, q)->children;

		if (heap_peek(h) != q)
			return false;
		for (uint32_t i = 1; i < h->items.n && i < 3; i++) { /* one of these is the next */
			const struct order_node *other = with_standing(o, h->items.v[i].id);

			if (key_of(&x) == other->key)
				note_alike(o, q, &x, &other->standing);
			if (share_standing_cmp(&x, &other->standing) > 0)
				return false;
		}
	}
	return true;
}

/*
 * Where the leaf stays first all who wait before it are passed over at once, and it does not matter who they are.
 *
 * Elsewhere, if no queue above the leaf is compared, each of the others who look comes in its turn whoever waits in the
 * leaf, and those come before the workload that come before the one before it that asks for most. A queue that is
 * compared is so by the child that was first until now (first_leaf), and not by everyone who waits before it.
 */
static void pass_to_asker(struct session *s, struct order *o)
{
	struct order_node *leaf = &o->nodes[o->asker];

	if (leaf->n_extra > 1 || !stays_first(s, o)) {
		s->place_matters |= leaf->n_extra > 1 || parent_node(o, o->asker)->is_compared;
		s->kinds_matter = true;
		return;
	}
	leaf->at = place_in_list(s, leaf, leaf->at, leaf->extra);
	leaf->knows_head = false;
	forget_standing(o, o->asker);
}

static void link_trial(struct session *s, struct order *o, const struct order_item *extra, uint32_t n_extra)
{
	struct order_node *root = &o->nodes[o->root];

	node_reset(o, root);
	for (uint32_t i = 0; i < n_extra; i++) {
		touch_path(o, s->workloads[extra[i].workload].queue);
		if (extra[i].entry == TRIAL_ASKS)
			o->asker = s->workloads[extra[i].workload].queue;
	}
	link_touched(s, o, s->first_queue, root, false);
	pass_to_asker(s, o);
}

void order_begin(struct session *s, enum order_role role, order_filter filter, void *ctx,
		 const struct order_item *extra, uint32_t n_extra)
{
	struct order *o = order_of(s, role);

	o->stamp++;
	o->trial = role == ORDER_TRIAL ? s->stamp : 0;
	o->filter = role == ORDER_ACTION ? NULL : filter;
	o->ctx = ctx;
	o->passed = NONE;
	o->entries.n = o->pushed.n = 0;
	o->is_unclear = false;
	o->keeps_nothing = s->en->config->looks_at_all || (role == ORDER_TRIAL && s->takes_all_queues);
	arena_reset(o->arena);
	if (role == ORDER_TRIAL && s->takes_all_queues)
		s->place_matters = s->kinds_matter = true;
	if (role == ORDER_TRIAL && !o->keeps_nothing) {
		take_extra(s, o, extra, n_extra);
		link_trial(s, o, extra, n_extra);
		return;
	}
	if (role == ORDER_ACTION)
		o->filter = filter;
	for (uint32_t i = 0; i < s->n_queues; i++)
		take_list(s, o, i, role == ORDER_ACTION);
	if (role == ORDER_ACTION)
		o->filter = NULL; /* asked already */
	take_extra(s, o, extra, n_extra);
	link_queues(s, o);
}

/*
 * The leaf that comes first. A queue that lost its head may belong further down; that is looked at from the top, and
 * only when the queue stands there. As in KAI, a parent is compared by the head of the child that was first until now,
 * before its children are put in order again: this decides between departments.
 */
static uint32_t first_leaf(struct session *s, struct order *o)
{
	struct order_node *p = &o->nodes[o->root];
	bool is_compared = false; /* p, with others */

	o->is_steady = !o->keeps_nothing;
	for (;;) {
		uint32_t q = heap_peek(&p->children);
		struct order_node *n = &o->nodes[q];

		if (n->may_sink) {
			if (p->children.items.n > 1)
				heap_update(&p->children, q);
			n->may_sink = false;
			forget_standing(o, o->nodes[q].parent);
			o->is_steady &= !is_compared || heap_peek(&p->children) == q;
		} else if (n->children.items.n == 0) {
			return q;
		} else {
			is_compared |= p->children.items.n > 1;
			p = n;
		}
	}
}

static void note_change(struct order *o, uint32_t queue)
{
	for (uint32_t q = queue; q != o->root; q = o->nodes[q].parent) {
		o->nodes[q].may_sink = true;
		o->nodes[q].standing_at = 0;
	}
}

/*
 * In a trial, workloads of the list are passed over. As long as they ask for the same the queues compare the same:
 * where the queues were compared by the first of them, or the second one stands first all the same, all of them up to
 * the next that asks for something else, or that comes in between, are passed over at once.
 */
static uint32_t after_alike(const struct session *s, struct order *o, const struct order_node *leaf, uint32_t queue)
{
	const uint32_t *kinds = s->queues[queue].kinds.v;
	uint32_t i = leaf->at + 1, end = leaf->n, kind = kinds[leaf->at];

	if (o->is_steady || (o->passed == queue && o->kind == kind)) {
		if (leaf->extra_at < leaf->n_extra)
			end = place_in_list(s, leaf, leaf->at + 1, &leaf->extra[leaf->extra_at]);
		while (i < end && kinds[i] == kind)
			i++;
	}
	o->passed = queue;
	o->kind = kind;
	return i;
}

/* Leaves in which nobody is left, and queues without leaves, from this one upwards. The first that is not empty. */
static uint32_t drop_empty(struct session *s, struct order *o, uint32_t queue)
{
	while (queue != o->root && is_empty(s, o, &o->nodes[queue])) {
		heap_pop(&parent_node(o, queue)->children);
		queue = o->nodes[queue].parent;
		forget_standing(o, queue);
	}
	return queue;
}

/*
 * Of a leaf that had only those who wait nobody is left: its siblings come next, the first to come first, as long as
 * they begin with those who ask for the same. The queue of which something changed.
 */
static uint32_t pass_siblings(struct session *s, struct order *o, uint32_t parent)
{
	while (parent != o->root && o->nodes[parent].children.items.n > 0) {
		uint32_t q = heap_peek(&o->nodes[parent].children);
		struct order_node *leaf = &o->nodes[q];
		struct order_item item;

		if (leaf->may_sink || leaf->children.items.n > 0 || leaf_head(s, o, leaf, &item) != HEAD_LIST ||
		    s->queues[q].kinds.v[leaf->at] != o->kind)
			break;
		leaf->at = after_alike(s, o, leaf, q);
		leaf->knows_head = false;
		if (!is_empty(s, o, leaf))
			return q;
		heap_pop(&o->nodes[parent].children);
	}
	return drop_empty(s, o, parent);
}

/* Somebody of the leaf who looks for room was popped. */
static void after_extra(struct session *s, struct order *o, struct order_node *leaf, const struct order_item *item)
{
	const struct order_node *asked = parent_node(o, o->asker);

	o->passed = NONE;
	if (o->trial == 0 || o->keeps_nothing)
		return;
	s->place_matters |= item->entry != TRIAL_ASKS && asked->is_compared;
	if (leaf->extra_at == leaf->n_extra && !parent_node(o, s->workloads[item->workload].queue)->is_compared)
		leaf->n = leaf->at; /* whoever only waits in it matters to nobody any more */
}

bool order_pop(struct session *s, enum order_role role, struct order_item *ret)
{
	struct order *o = order_of(s, role);
	struct order_node *leaf;
	bool is_passed = false;
	uint32_t q, was;

	if (o->nodes[o->root].children.items.n == 0)
		return false;
	q = first_leaf(s, o);
	leaf = &o->nodes[q];
	switch (leaf_head(s, o, leaf, ret)) {
	case HEAD_LIST:
		is_passed = role == ORDER_TRIAL;
		leaf->at = is_passed ? after_alike(s, o, leaf, q) : leaf->at + 1;
		break;
	case HEAD_EXTRA:
		leaf->extra_at++;
		after_extra(s, o, leaf, ret);
		break;
	case HEAD_PUSHED:
		heap_pop(&leaf->pushed);
		break;
	case HEAD_NONE:
		return false;
	}
	leaf->knows_head = false;
	if (o->is_victims) {
		const double *held = held_by(s, o, ret);

		for (uint32_t r = 0; r < KAI_RES; r++)
			leaf->popped[r] += held[r];
	}
	was = q;
	q = drop_empty(s, o, q);
	if (o->is_steady && is_passed && q == o->nodes[was].parent)
		q = pass_siblings(s, o, q);
	note_change(o, q);
	return true;
}

void order_push(struct session *s, enum order_role role, struct order_item item)
{
	struct order *o = order_of(s, role);
	uint32_t q = s->workloads[item.workload].queue;

	array_push(&o->pushed, item);
	heap_push(&o->nodes[q].pushed, o->pushed.n - 1);
	o->nodes[q].knows_head = false;
	forget_standing(o, q);
	for (; q != SHARE_NO_QUEUE && !heap_has(&parent_node(o, q)->children, q); q = s->shares[q].parent)
		heap_push(&parent_node(o, q)->children, q);
	note_change(o, s->workloads[item.workload].queue);
}

/* ---- what is left of a victim ---- */

/* Those of a podset that have one of these statuses. */
static uint32_t add_to_entry(const struct session *s, const struct session_podset *p, enum status_set set,
			     uint32_t *members)
{
	uint32_t n = 0;

	for (uint32_t i = p->first; i < p->first + p->n; i++)
		if (is_in(settled_status(s, &s->members[i]), set))
			members[n++] = i;
	return n;
}

uint32_t order_entry(struct session *s, uint32_t workload, bool nominated_first)
{
	struct order *o = order_of(s, ORDER_VICTIMS);
	const struct workload *u = &s->workloads[workload];
	struct victim_entry e = {.workload = workload};
	uint32_t n = 0;

	e.members = arena_n(o->arena, u->n_members + 1, uint32_t);
	e.n_left = arena_n(o->arena, u->n_podsets, uint32_t);
	e.first = arena_n(o->arena, u->n_podsets, uint32_t);
	for (uint32_t i = 0; i < u->n_podsets; i++) {
		const struct session_podset *p = &s->podsets[u->first_podset + i];

		e.first[i] = n;
		n += add_to_entry(s, p, nominated_first ? SET_ALLOCATED : SET_ACTIVE, e.members + n);
		if (nominated_first)
			n += add_to_entry(s, p, 1 << IS_NOMINATED, e.members + n);
		e.n_left[i] = n - e.first[i];
	}
	memcpy(e.allocated, u->listed_allocated, sizeof(e.allocated));
	array_push(&o->entries, e);
	return o->entries.n - 1;
}

struct victim_entry *order_get_entry(struct session *s, uint32_t entry)
{
	return &order_of(s, ORDER_VICTIMS)->entries.v[entry];
}
