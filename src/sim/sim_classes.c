/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_classes.h"

enum { SHUT_NODES = 1024 }; /* in larger clusters a class does not remember which of them are shut to it */
enum { TYPES_MAX = 4 };	    /* resource types of which sums are kept; of others the pods are looked at */

struct held { /* by pods of a queue and a priority */
	queue_id queue;
	int32_t priority;
	int64_t amount;
};

typedef ARRAY(struct held) held_list;

struct node_holds {
	uint64_t generation; /* of the node; 0: nothing is counted */
	int64_t room;	     /* once whoever is leaving has left; may be below 0 */
	int64_t free;	     /* of it, what is reserved for nobody */
	bool is_unsettled;   /* and in the list of those */
	held_list held;
};

struct type_sums { /* of one resource type, all live nodes */
	res_id type;
	uint64_t look;		  /* when it was brought up to date */
	uint64_t n_changes;	  /* of nodes, that are in it */
	ARRAY(node_id) unsettled; /* where pods got their place in the pass that is under way */
	int64_t room, free;	  /* where anything is */
	ARRAY(struct node_holds) nodes;
	ARRAY(held_list) queues; /* by queue id */
	held_list spare;	 /* for the next node that is summed up */
};

struct class_answer {
	uint64_t look; /* when it was given */
	bool is_yes;
};

struct wait_class {
	queue_id queue;
	shape_id shape;
	int32_t priority;
	uint32_t n_kinds; /* 0: not in use */
	bool is_shared;	  /* found by its key */
	struct class_answer reclaims, reclaims_type, growth, any_node, on_node;
	node_id node;	   /* of on_node */
	node_id helped_on; /* a node that helped it the last time; NODE_NONE: none did */
	/*
	 * By node, its generation when it would have lacked room there though all went who might be asked to, whatever
	 * laws say: that is so until the node or the tree changes. 0: not known. Good where sums tell (own_sums).
	 */
	ARRAY(uint64_t) shut;
	uint64_t shut_tree; /* the tree's generation then */
	struct {
		bool is_one; /* it asks for one type, this, and so much of it */
		res_id type;
		int64_t amount;
		struct type_sums *sums; /* as last seen */
	} own;
	uint64_t room_look, sum_look, places_look;
	struct group_room_sums room;
	int64_t sum;	/* of the one type it asks for, that all nodes and queues could give; known as of sum_look */
	int64_t places; /* on all nodes; known as of places_look */
	bool places_are_lawful; /* or counted whatever laws say */
};

struct wait_classes {
	ARRAY(struct wait_class) v;
	ARRAY(uint32_t) unused;
	struct map by_key;
	uint64_t look; /* grows with every change */
	bool is_plain; /* as of then: all queues show priorities as they are, and these count (law 6) */
	uint64_t tree; /* its generation when sums were made */
	uint32_t n_types;
	struct type_sums types[TYPES_MAX];
};

static struct wait_classes *of(struct sim *s)
{
	if (!s->classes)
		s->classes = mem_alloc(sizeof(*s->classes));
	return s->classes;
}

/* ---- classes ---- */

static uint64_t key_of(const struct wait_need *k)
{
	return hash_mix(map_key2(k->queue, k->shape), (uint32_t)k->priority);
}

static bool is_of(const struct wait_class *c, const struct wait_need *k)
{
	return c->queue == k->queue && c->shape == k->shape && c->priority == k->priority;
}

static void see_request(const struct sim *s, struct wait_class *c)
{
	const struct res_list *l = &shape_get(s->vocab, c->shape)->request;

	c->own.is_one = l->n == 1 && l->v[0].amount > 0;
	if (c->own.is_one) {
		c->own.type = l->v[0].type;
		c->own.amount = l->v[0].amount;
	}
}

uint32_t wait_classes_enter(struct sim *s, const struct wait_need *k)
{
	struct wait_classes *x = of(s);
	uint32_t at = map_get(&x->by_key, key_of(k));
	bool is_taken = at != MAP_NONE;

	if (is_taken && is_of(&x->v.v[at], k)) {
		x->v.v[at].n_kinds++;
		return at;
	}
	at = x->unused.n ? array_pop(&x->unused) : x->v.n;
	if (at == x->v.n)
		array_push(&x->v, (struct wait_class){0});
	array_free(&x->v.v[at].shut);
	x->v.v[at] = (struct wait_class){.queue = k->queue,
					 .shape = k->shape,
					 .priority = k->priority,
					 .n_kinds = 1,
					 .is_shared = !is_taken,
					 .helped_on = NODE_NONE};
	see_request(s, &x->v.v[at]);
	if (!is_taken)
		map_put(&x->by_key, key_of(k), at);
	return at;
}

void wait_classes_leave(struct sim *s, uint32_t at)
{
	struct wait_classes *x = of(s);
	struct wait_class *c = &x->v.v[at];
	const struct wait_need k = {.queue = c->queue, .shape = c->shape, .priority = c->priority};

	if (--c->n_kinds)
		return;
	if (c->is_shared)
		map_del(&x->by_key, key_of(&k));
	array_push(&x->unused, at);
}

void wait_classes_look_again(struct sim *s)
{
	of(s)->look++;
	helps_see_tree(s);
	of(s)->is_plain = s->helps.by_priority && s->plain_tree == s->seen_tree;
}

/* ---- sums ---- */

/* By queue, then priority. */
static void add_held(held_list *l, queue_id queue, int32_t priority, int64_t amount)
{
	uint32_t i = 0;

	while (i < l->n && (l->v[i].queue < queue || (l->v[i].queue == queue && l->v[i].priority < priority)))
		i++;
	if (i == l->n || l->v[i].queue != queue || l->v[i].priority != priority) {
		array_push(l, (struct held){0});
		memmove(l->v + i + 1, l->v + i, (l->n - i - 1) * sizeof(*l->v));
		l->v[i] = (struct held){.queue = queue, .priority = priority};
	}
	l->v[i].amount += amount;
	if (!l->v[i].amount) {
		l->n--;
		memmove(l->v + i, l->v + i + 1, (l->n - i) * sizeof(*l->v));
	}
}

static int held_cmp(const struct held *a, const struct held *b)
{
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return (a->priority > b->priority) - (a->priority < b->priority);
}

/* Of what a node held most is there still. */
static void count_held(struct type_sums *t, const held_list *was, const held_list *is)
{
	uint32_t i = 0, k = 0;

	while (i < was->n || k < is->n) {
		int d = i == was->n ? 1 : k == is->n ? -1 : held_cmp(&was->v[i], &is->v[k]);
		const struct held *h = d <= 0 ? &was->v[i] : &is->v[k];
		int64_t more = (d >= 0 ? is->v[k].amount : 0) - (d <= 0 ? was->v[i].amount : 0);

		if (more)
			add_held(&t->queues.v[h->queue], h->queue, h->priority, more);
		i += d <= 0;
		k += d >= 0;
	}
}

static int64_t grown(int64_t was, int64_t is)
{
	return (is > 0 ? is : 0) - (was > 0 ? was : 0);
}

static void sum_up(const struct sim *s, res_id r, node_id node, struct node_holds *ret)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);

	ret->held.n = 0;
	ret->room = ret->free = 0;
	ret->generation = n->generation;
	if (!n->is_live)
		return;
	ret->room = ledger_node_allocatable(s->ledger, node)[r] - ledger_node_used(s->ledger, node)[r] +
		    ledger_node_leaving(s->ledger, node)[r];
	ret->free = ret->room - helps_reserved(s, GROUP_NONE, node, r);
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, n->pods.v[i]);
		int64_t amount = res_list_get(&shape_get(s->vocab, p->shape)->usage, r);

		if (helps_is_new(s, p))
			ret->generation = 0; /* after the pass it counts too */
		else if (p->state == POD_PLACED && p->queue != QUEUE_NONE && amount > 0)
			add_held(&ret->held, p->queue, p->priority, amount);
	}
}

static void forget_sums(struct type_sums *t)
{
	for (uint32_t i = 0; i < t->nodes.n; i++)
		array_free(&t->nodes.v[i].held);
	for (uint32_t i = 0; i < t->queues.n; i++)
		array_free(&t->queues.v[i]);
	array_free(&t->nodes);
	array_free(&t->queues);
	array_free(&t->unsettled);
	array_free(&t->spare);
	*t = (struct type_sums){.type = t->type};
}

static void sum_node(const struct sim *s, struct type_sums *t, node_id n)
{
	struct node_holds *x = &t->nodes.v[n], was;

	if (x->generation == ledger_node(s->ledger, n)->generation)
		return;
	was = *x;
	x->held = t->spare;
	sum_up(s, t->type, n, x);
	t->room += grown(was.room, x->room);
	t->free += grown(was.free, x->free);
	count_held(t, &was.held, &x->held);
	t->spare = was.held;
	if (!x->generation && !x->is_unsettled)
		array_push(&t->unsettled, n);
	x->is_unsettled = !x->generation;
}

static void sum_unsettled(const struct sim *s, struct type_sums *t)
{
	uint32_t n = t->unsettled.n;

	for (uint32_t i = 0; i < n; i++) {
		t->nodes.v[t->unsettled.v[i]].is_unsettled = false;
		sum_node(s, t, t->unsettled.v[i]);
	}
	t->unsettled.n -= n;
	if (t->unsettled.n)
		memmove(t->unsettled.v, t->unsettled.v + n, t->unsettled.n * sizeof(*t->unsettled.v));
}

/* False: not all changes are known any more. */
static bool sum_changes(const struct sim *s, struct type_sums *t, uint64_t n_changes)
{
	for (; t->n_changes < n_changes; t->n_changes++) {
		node_id n = ledger_node_change(s->ledger, t->n_changes);

		if (n == NODE_NONE)
			return false;
		sum_node(s, t, n);
	}
	return true;
}

static void bring_up_to_date(const struct sim *s, struct wait_classes *x, struct type_sums *t)
{
	uint64_t n_changes = ledger_node_changes(s->ledger);
	node_id known = t->nodes.n;

	while (t->queues.n < ledger_queues(s->ledger)->q.n)
		array_push(&t->queues, (held_list){0});
	while (t->nodes.n < ledger_node_limit(s->ledger))
		array_push(&t->nodes, (struct node_holds){0});
	sum_unsettled(s, t);
	if (!sum_changes(s, t, n_changes))
		known = 0;
	for (node_id n = known; n < t->nodes.n; n++)
		sum_node(s, t, n);
	t->n_changes = n_changes;
	t->look = x->look;
}

/* NULL: of too many types already. */
static struct type_sums *sums_of(const struct sim *s, struct wait_classes *x, res_id r)
{
	uint64_t tree = ledger_tree_generation(s->ledger);
	uint32_t i = 0;

	if (x->tree != tree)
		while (x->n_types)
			forget_sums(&x->types[--x->n_types]);
	x->tree = tree;
	while (i < x->n_types && x->types[i].type != r)
		i++;
	if (i == TYPES_MAX)
		return NULL;
	if (i == x->n_types)
		x->types[x->n_types++].type = r;
	if (x->types[i].look != x->look)
		bring_up_to_date(s, x, &x->types[i]);
	return &x->types[i];
}

void wait_classes_free(struct sim *s)
{
	struct wait_classes *x = s->classes;

	if (!x)
		return;
	while (x->n_types)
		forget_sums(&x->types[--x->n_types]);
	for (uint32_t i = 0; i < x->v.n; i++)
		array_free(&x->v.v[i].shut);
	array_free(&x->v);
	array_free(&x->unused);
	map_free(&x->by_key);
	mem_free(x);
}

/* ---- what is asked ---- */

static inline bool may_not_reclaim_yet(const struct sim *s, const struct wait_need *k)
{
	return k->reclaims_from_ns != TIME_NONE && s->now_ns < k->reclaims_from_ns;
}

static bool group_holds_room(const struct sim *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);

	for (podset_id i = 0; i < g->n_podsets; i++)
		if (ledger_podset(s->ledger, g->first_podset + i)->n_nominated)
			return true;
	return false;
}

static inline bool holds_room(const struct sim *s, const struct wait_need *k)
{
	return k->group != GROUP_NONE && ledger_nominated_members(s->ledger) && group_holds_room(s, k->group);
}

/* It may not take from others yet, or room is reserved for some of it, which is room for nobody else. */
static inline bool stands_for_itself(const struct sim *s, const struct wait_need *k)
{
	return may_not_reclaim_yet(s, k) || holds_room(s, k);
}

/* The class a kind may be asked about with; NULL: it stands for itself. */
static inline struct wait_class *class_of(struct sim *s, const struct wait_need *k)
{
	return stands_for_itself(s, k) ? NULL : &s->classes->v.v[k->class_at];
}

/* Is there anything to be said now? If not, it is to be worked out. */
static bool is_known(const struct wait_classes *x, struct class_answer *a)
{
	bool is = a->look == x->look;

	a->look = x->look;
	return is;
}

/* One of it who may take from others by now. */
static struct wait_need example_of(const struct wait_class *c)
{
	return (struct wait_need){.queue = c->queue,
				  .shape = c->shape,
				  .priority = c->priority,
				  .group = GROUP_NONE,
				  .reclaims_from_ns = TIME_NONE};
}

static bool reclaims(struct sim *s, struct wait_class *c, const struct wait_need *k)
{
	if (!is_known(of(s), &c->reclaims))
		c->reclaims.is_yes = helps_reclaim(s, k);
	return c->reclaims.is_yes;
}

bool class_helps_reclaim(struct sim *s, const struct wait_need *k)
{
	struct wait_class *c = class_of(s, k);

	return c ? reclaims(s, c, k) : helps_reclaim(s, k);
}

static bool grows(struct sim *s, struct wait_class *c, const struct wait_need *k, queue_id leaf)
{
	if (!is_known(of(s), &c->growth))
		c->growth.is_yes = reclaims(s, c, k) && helps_growth_for(s, k, leaf);
	return c->growth.is_yes;
}

bool class_helps_growth(struct sim *s, const struct wait_need *k, queue_id leaf)
{
	struct wait_class *c = leaf == k->queue ? NULL : class_of(s, k);

	if (!c)
		return leaf != k->queue && helps_reclaim(s, k) && helps_growth_for(s, k, leaf);
	return grows(s, c, k, leaf);
}

bool class_helps_some_growth(struct sim *s, uint32_t class_at, queue_id leaf)
{
	struct wait_class *c = &of(s)->v.v[class_at];
	const struct wait_need k = example_of(c);

	return leaf != c->queue && grows(s, c, &k, leaf);
}

/* The sums of the one type it asks for, as of now; NULL: it asks for several, or too many types were asked for. */
static inline struct type_sums *sums_now(const struct sim *s, struct wait_classes *x, struct wait_class *c)
{
	struct type_sums *t = c->own.sums;

	if (!c->own.is_one)
		return NULL;
	if (!t || t->type != c->own.type || t->look != x->look)
		c->own.sums = sums_of(s, x, c->own.type);
	return c->own.sums;
}

/* NULL also if they do not tell. */
static struct type_sums *own_sums(struct sim *s, struct wait_class *c)
{
	return helps_by_sums(s) ? sums_now(s, of(s), c) : NULL;
}

/* Where nothing has a maximum, who asks for one type may take it if he may take anything. */
static bool reclaims_type(struct sim *s, struct wait_class *c, const struct wait_need *k, res_id r)
{
	if (c->own.is_one && helps_has_no_maximums(s))
		return reclaims(s, c, k);
	if (!is_known(of(s), &c->reclaims_type))
		c->reclaims_type.is_yes = helps_reclaim_of(s, k, r);
	return c->reclaims_type.is_yes;
}

static bool might_go(const struct sim *s, const struct wait_need *k, bool reclaims, const struct held *h)
{
	if (h->queue == k->queue)
		return h->priority < k->priority;
	return reclaims && (h->priority <= k->priority ||
			    (!s->classes->is_plain && !helps_compares_plainly(s, k->queue, h->queue)));
}

/* ---- nodes ---- */

/* As sim_helps.c does, which knows so many queues of a node at most. */
enum { LAWFUL_MAX = 16 };

/* Room for it if all went who might be asked to, whatever laws say. */
static int64_t room_on(const struct sim *s, const struct wait_need *k, bool reclaims, const struct node_holds *n)
{
	int64_t room = n->free;

	for (uint32_t i = 0; i < n->held.n; i++)
		room += might_go(s, k, reclaims, &n->held.v[i]) ? n->held.v[i].amount : 0;
	return room;
}

/* The same by law 2: no queue loses more on the node than what it uses above its guarantee. */
static int64_t lawful_room_on(const struct sim *s, const struct wait_need *k, bool reclaims, const struct node_holds *n,
			      res_id r)
{
	int64_t room = n->free;

	for (uint32_t i = 0; i < n->held.n;) {
		queue_id q = n->held.v[i].queue;
		int64_t sum = 0, most;

		for (; i < n->held.n && n->held.v[i].queue == q; i++)
			sum += might_go(s, k, reclaims, &n->held.v[i]) ? n->held.v[i].amount : 0;
		most = sum ? helps_excess(s, k, q, r) : 0;
		room += sum < most ? sum : most;
	}
	return room;
}

static inline bool knows_shut(const struct sim *s, const struct wait_class *c)
{
	return c->shut.n && c->shut_tree == ledger_tree_generation(s->ledger);
}

static void remember_shut(const struct sim *s, struct wait_class *c, node_id node, uint64_t generation)
{
	if (ledger_node_limit(s->ledger) > SHUT_NODES)
		return;
	if (!knows_shut(s, c))
		c->shut.n = 0;
	c->shut_tree = ledger_tree_generation(s->ledger);
	while (c->shut.n <= node)
		array_push(&c->shut, 0);
	c->shut.v[node] = generation;
}

static inline bool is_shut(const struct sim *s, const struct wait_class *c, node_id node, uint64_t generation)
{
	return node < c->shut.n && generation && c->shut.v[node] == generation && knows_shut(s, c);
}

/* Whether it may take from other queues or not. */
static bool lacks_room_anyway(struct sim *s, struct wait_class *c, const struct wait_need *k, node_id node,
			      const struct node_holds *n)
{
	if (is_shut(s, c, node, n->generation))
		return true;
	if (room_on(s, k, true, n) >= c->own.amount)
		return false;
	remember_shut(s, c, node, n->generation);
	return true;
}

/* Would it lack room if all went who may? */
static bool node_is_hopeless(struct sim *s, struct wait_class *c, const struct wait_need *k, node_id node)
{
	const struct type_sums *t = own_sums(s, c);
	const struct node_holds *n = t ? &t->nodes.v[node] : NULL;
	bool reclaims;

	if (!t || n->free >= c->own.amount)
		return false;
	if (lacks_room_anyway(s, c, k, node, n))
		return true;
	reclaims = reclaims_type(s, c, k, t->type);
	return (!reclaims && room_on(s, k, false, n) < c->own.amount) ||
	       (n->held.n <= LAWFUL_MAX && lawful_room_on(s, k, reclaims, n, t->type) < c->own.amount);
}

static bool is_class_helped_on(struct sim *s, struct wait_class *c, node_id node)
{
	const struct wait_need k = example_of(c);

	c->node = node;
	c->on_node = (struct class_answer){.look = s->classes->look,
					   .is_yes = !node_is_hopeless(s, c, &k, node) && helps_node(s, &k, node)};
	return c->on_node.is_yes;
}

/* Is it known already that it is not, as most often? */
static inline bool is_known_shut(const struct sim *s, const struct wait_class *c, node_id node)
{
	const struct type_sums *t = node < c->shut.n ? c->own.sums : NULL;

	return t && t->look == s->classes->look && helps_by_sums(s) && is_shut(s, c, node, t->nodes.v[node].generation);
}

static inline bool is_class_helped(struct sim *s, struct wait_class *c, node_id node)
{
	if (is_known_shut(s, c, node))
		return false;
	return c->node == node && c->on_node.look == s->classes->look ? c->on_node.is_yes
								      : is_class_helped_on(s, c, node);
}

/* Who may not take from others yet is helped by no more than who may. */
bool class_helps_node(struct sim *s, const struct wait_need *k, node_id node)
{
	struct wait_class *c = &of(s)->v.v[k->class_at];

	if (holds_room(s, k))
		return helps_node(s, k, node);
	if (!is_class_helped(s, c, node))
		return false;
	return !may_not_reclaim_yet(s, k) || helps_node(s, k, node);
}

/* Groups for which room is reserved there may be helped where others are not. */
bool class_helps_some(struct sim *s, uint32_t class_at, node_id node)
{
	return ledger_nominated_members(s->ledger) || is_class_helped(s, &of(s)->v.v[class_at], node);
}

bool class_may_take(struct sim *s, uint32_t class_at, const struct pod *v)
{
	const struct wait_need k = example_of(&of(s)->v.v[class_at]);

	return helps_to_evict(s, &k, v);
}

queue_id class_queue(const struct sim *s, uint32_t class_at)
{
	return s->classes->v.v[class_at].queue;
}

static bool is_helped_on(struct sim *s, const struct wait_need *k, node_id node)
{
	return node < ledger_node_limit(s->ledger) && ledger_node(s->ledger, node)->is_live &&
	       class_helps_node(s, k, node);
}

static node_id find_node(struct sim *s, const struct wait_need *k)
{
	for (node_id n = 0; n < ledger_node_limit(s->ledger); n++)
		if (is_helped_on(s, k, n))
			return n;
	return NODE_NONE;
}

/* The node that helped it before is asked first. */
bool class_helps_any_node(struct sim *s, const struct wait_need *k)
{
	struct wait_class *c = &of(s)->v.v[k->class_at];

	if (stands_for_itself(s, k))
		return find_node(s, k) != NODE_NONE;
	if (!is_known(of(s), &c->any_node)) {
		if (!is_helped_on(s, k, c->helped_on))
			c->helped_on = find_node(s, k);
		c->any_node.is_yes = c->helped_on != NODE_NONE;
	}
	return c->any_node.is_yes;
}

/* ---- groups ---- */

static int64_t queue_gives(struct sim *s, const struct wait_need *k, bool reclaims, const held_list *l, res_id r)
{
	int64_t sum = 0, most;

	for (uint32_t i = 0; i < l->n; i++)
		sum += might_go(s, k, reclaims, &l->v[i]) ? l->v[i].amount : 0;
	if (!sum)
		return 0;
	most = helps_excess(s, k, l->v[0].queue, r);
	return sum < most ? sum : most;
}

/* What is free on all nodes, and what queues could lose at most to it, of the one type it asks for. */
static int64_t sum_for(struct sim *s, struct wait_class *c, const struct wait_need *k, const struct type_sums *t)
{
	bool reclaims;

	if (c->sum_look == t->look)
		return c->sum;
	reclaims = reclaims_type(s, c, k, t->type);
	c->sum_look = t->look;
	c->sum = t->free;
	for (queue_id q = 0; q < t->queues.n; q++)
		if (t->queues.v[q].n)
			c->sum += queue_gives(s, k, reclaims, &t->queues.v[q], t->type);
	return c->sum;
}

static int64_t places_in(int64_t room, int64_t amount)
{
	return room > 0 ? room / amount : 0;
}

/* Where one of it fits and nothing is lacking, who may take from others is not asked by type. */
static void count_places(struct sim *s, struct wait_class *c, const struct wait_need *k, const struct type_sums *t,
			 bool is_lawful)
{
	bool by_type = reclaims_type(s, c, k, t->type), at_all = helps_may_reclaim(s, k);

	c->places_look = t->look;
	c->places_are_lawful = is_lawful;
	c->places = 0;
	for (node_id i = 0; i < t->nodes.n; i++) {
		const struct node_holds *n = &t->nodes.v[i];
		bool reclaims = n->free >= c->own.amount ? at_all : by_type;
		int64_t room;

		if (n->free < c->own.amount && lacks_room_anyway(s, c, k, i, n))
			continue;
		room = is_lawful && n->held.n <= LAWFUL_MAX ? lawful_room_on(s, k, reclaims, n, t->type)
							    : room_on(s, k, reclaims, n);
		c->places += places_in(room, c->own.amount);
	}
}

static bool has_places(struct sim *s, struct wait_class *c, const struct wait_need *k, const struct type_sums *t,
		       uint32_t wanted)
{
	if (c->places_look != t->look)
		count_places(s, c, k, t, false);
	if (c->places >= wanted && !c->places_are_lawful)
		count_places(s, c, k, t, true);
	return c->places >= wanted;
}

bool class_helps_group(struct sim *s, const struct wait_need *k)
{
	struct wait_class *c = class_of(s, k);
	uint32_t n = helps_needed(s, k);
	const struct type_sums *t;

	if (!c || !n)
		return helps_group(s, k);
	t = own_sums(s, c);
	if (t && (sum_for(s, c, k, t) / n < c->own.amount || !has_places(s, c, k, t, n)))
		return false;
	if (c->room_look != of(s)->look)
		helps_group_room(s, k, &c->room);
	c->room_look = of(s)->look;
	return helps_room_is_enough(s, k, &c->room, n);
}

/* ---- moves ---- */

/* As engine/moves.c counts them: so many at least have to get room together; 0: nobody of it waits. */
static uint32_t moves_needed(const struct sim *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);
	uint32_t lacking = 0, waiting = 0;

	for (podset_id i = g->first_podset; i < g->first_podset + g->n_podsets; i++) {
		const struct podset *p = ledger_podset(s->ledger, i);
		uint32_t has = p->n_placed + p->n_leaving + p->n_finished + p->n_nominated;

		waiting += p->n_waiting;
		lacking += has < (uint32_t)p->min_member ? (uint32_t)p->min_member - has : 0;
	}
	return !waiting ? 0 : lacking ? lacking : 1;
}

bool class_has_room_to_move(struct sim *s, uint32_t class_at)
{
	struct wait_class *c = &of(s)->v.v[class_at];
	const struct type_sums *t = sums_now(s, s->classes, c);

	return !t || t->room >= c->own.amount;
}

bool class_may_move(struct sim *s, const struct wait_need *k)
{
	struct wait_class *c = &of(s)->v.v[k->class_at];
	const struct type_sums *t = sums_now(s, s->classes, c);
	uint32_t n = t && t->room < c->own.amount ? 0 : moves_needed(s, k->group);

	return n > 0 && (!t || t->room / n >= c->own.amount);
}
