/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_model.h - a cluster as plain as it can be, and every move done to it and to a ledger alike. For
 * test_ledger_rollback.c.
 *
 * The model knows things by small numbers, the ledger by names made of them ("pod3"); nothing is derived, so a mark is
 * a copy.
 */
#pragma once

#include "ledger/ledger_fixture.h"
#include "rng.h"

#define PODS 12
#define NODES 4
#define QUEUES 8
#define GROUPS 3
#define PDBS 3
#define APPS 3
#define MARKS 5
#define NONE (-1)

struct m_list {
	int n, v[PODS];
};

#define CLAIMS 3
#define VOLUMES 4

struct m_pod {
	bool is_there, is_evicted;
	int assumed[CLAIMS]; /* of each claim: the volume and 1, VOLUMES + 1: one is made; 0: nothing is decided */
	enum pod_state state;
	enum nomination nomination;
	int node, queue, group, podset, app, priority;
	int64_t request, usage, gpu, started;
};

struct m_node {
	bool is_live;
	int64_t cpu;
	struct m_list pods, nominated;
};

struct m_queue {
	bool is_there, is_draining;
	int parent;
	int64_t guaranteed;
};

struct m_group {
	bool is_there;
	int min, variant, queue;
	int64_t started;
};

struct m_pdb {
	bool is_there;
	int selector, disrupted, allowed;
};

struct model {
	struct m_pod pods[PODS];
	struct m_node nodes[NODES];
	struct m_queue queues[QUEUES]; /* 0 is the root */
	struct m_group groups[GROUPS];
	struct m_pdb pdbs[PDBS];
};

struct run {
	struct fix f;
	struct rng rng;
	struct model m;
	int depth;
	struct {
		ledger_mark mark;
		uint64_t digest;
		struct model m;
	} marks[MARKS];
	int64_t heard; /* by the listener: one term for each pod on a node, another for each that leaves */
};

static const char *const selectors[] = {NULL, "", "app=0", "app!=1", "app in (1,2)"};
static const char *const variants[] = {"", "s0:2,s1", "s0,s1:3,s2"};
static const int variant_podsets[] = {1, 2, 3};

static uint32_t below(struct run *t, uint32_t n)
{
	return rng_below(&t->rng, n);
}

static const char *text(const char *prefix, int i)
{
	static char buffer[4][24];
	static int next;
	char *s = buffer[next++ % 4];
	snprintf(s, sizeof(buffer[0]), "%s%d", prefix, i);
	return s;
}

static const char *ns_of(int pod)
{
	return pod % 4 == 0 ? "other" : "ns";
}

static name_id known(const struct run *t, const char *s)
{
	return names_find(t->f.names, s, strlen(s));
}

static pod_id pod_of(const struct run *t, int i)
{
	return ledger_pod_find(t->f.l, known(t, ns_of(i)), known(t, text("pod", i)));
}

static node_id node_of(const struct run *t, int i)
{
	return ledger_node_find(t->f.l, known(t, text("node", i)));
}

static group_id group_of(const struct run *t, int i)
{
	return ledger_group_find(t->f.l, known(t, "ns"), known(t, text("group", i)), false);
}

static pdb_id pdb_of(const struct run *t, int i)
{
	return ledger_pdb_find(t->f.l, known(t, "ns"), known(t, text("pdb", i)));
}

/* Queues are found by their segments, which nobody else has. */
static queue_id queue_of(const struct run *t, int i)
{
	const struct queue_tree *tree = ledger_queues(t->f.l);
	name_id segment = known(t, text("queue", i));
	if (i <= 0)
		return i == 0 ? QUEUE_ROOT : QUEUE_NONE;
	for (queue_id q = 0; q < tree->q.n; q++) {
		if (tree->q.v[q].is_live && tree->q.v[q].segment == segment)
			return q;
	}
	return QUEUE_NONE;
}

/* ---- the model's lists ---- */

static int list_find(const struct m_list *list, int pod)
{
	for (int i = 0; i < list->n; i++) {
		if (list->v[i] == pod)
			return i;
	}
	return NONE;
}

static void list_put(struct m_list *list, int pos, int pod)
{
	if (pos == NONE || pos > list->n)
		pos = list->n;
	memmove(&list->v[pos + 1], &list->v[pos], (size_t)(list->n - pos) * sizeof(int));
	list->v[pos] = pod;
	list->n++;
}

static void list_take(struct m_list *list, int pod)
{
	int pos = list_find(list, pod);
	memmove(&list->v[pos], &list->v[pos + 1], (size_t)(list->n - pos - 1) * sizeof(int));
	list->n--;
}

static bool on_node(const struct m_pod *p)
{
	return p->is_there && (p->state == POD_PLACED || p->state == POD_LEAVING);
}

/* ---- moves of the engine ---- */

static void move_place(struct run *t, int i, int node)
{
	struct m_pod *p = &t->m.pods[i];
	if (!p->is_there || p->state != POD_WAITING || node_of(t, node) == NODE_NONE)
		return;
	ledger_place(t->f.l, pod_of(t, i), node_of(t, node));
	if (p->nomination != NOMINATION_NONE)
		list_take(&t->m.nodes[p->node].nominated, i);
	p->nomination = NOMINATION_NONE;
	p->state = POD_PLACED;
	p->node = node;
	list_put(&t->m.nodes[node].pods, NONE, i);
}

static void move_vacate(struct run *t, int i, int unused)
{
	struct m_pod *p = &t->m.pods[i];
	if (!on_node(p))
		return;
	ledger_vacate(t->f.l, pod_of(t, i));
	list_take(&t->m.nodes[p->node].pods, i);
	p->state = POD_WAITING;
	p->is_evicted = false;
	p->node = NONE;
}

static void move_evict(struct run *t, int i, int unused)
{
	struct m_pod *p = &t->m.pods[i];
	if (!p->is_there || p->state != POD_PLACED)
		return;
	ledger_evict(t->f.l, pod_of(t, i));
	p->state = POD_LEAVING;
	p->is_evicted = true;
}

static void move_unevict(struct run *t, int i, int unused)
{
	struct m_pod *p = &t->m.pods[i];
	if (!p->is_there || p->state != POD_LEAVING)
		return;
	ledger_unevict(t->f.l, pod_of(t, i));
	p->state = POD_PLACED;
	p->is_evicted = false;
}

static void move_nominate(struct run *t, int i, int node)
{
	struct m_pod *p = &t->m.pods[i];
	if (!p->is_there || p->state != POD_WAITING || node_of(t, node) == NODE_NONE)
		return;
	enum nomination kind = below(t, 2) ? NOMINATION_ADVISORY : NOMINATION_RESERVED;
	ledger_set_nomination(t->f.l, pod_of(t, i), node_of(t, node), kind);
	if (p->nomination != NOMINATION_NONE)
		list_take(&t->m.nodes[p->node].nominated, i);
	p->nomination = kind;
	p->node = node;
	list_put(&t->m.nodes[node].nominated, NONE, i);
}

static void move_clear_nomination(struct run *t, int i, int unused)
{
	struct m_pod *p = &t->m.pods[i];
	if (!p->is_there || p->state != POD_WAITING)
		return;
	ledger_clear_nomination(t->f.l, pod_of(t, i));
	if (p->nomination != NOMINATION_NONE) {
		list_take(&t->m.nodes[p->node].nominated, i);
		memset(p->assumed, 0, sizeof(p->assumed));
	}
	p->nomination = NOMINATION_NONE;
	p->node = NONE;
}

/* ---- volumes ---- */

/* Somebody decided otherwise for this volume. */
static bool is_at_odds(const struct run *t, int pod, int claim, int what)
{
	for (int i = 0; what <= VOLUMES && i < PODS; i++)
		for (int c = 0; c < CLAIMS; c++)
			if (t->m.pods[i].is_there && t->m.pods[i].assumed[c] == what &&
			    (c != claim || strcmp(ns_of(i), ns_of(pod)) != 0))
				return true;
	return false;
}

static void move_assume(struct run *t, int i, int node)
{
	struct m_pod *p = &t->m.pods[i];
	int claim = (int)below(t, CLAIMS), what = 1 + (int)below(t, VOLUMES + 1);
	if (!p->is_there || p->state == POD_FINISHED || (p->assumed[claim] != 0 && p->assumed[claim] != what) ||
	    is_at_odds(t, i, claim, what))
		return;
	name_id held[] = {fix_name(&t->f, ns_of(i)), fix_name(&t->f, text("claim", claim)),
			  what <= VOLUMES ? fix_name(&t->f, text("volume", what)) : NAME_NONE,
			  fix_name(&t->f, "somewhere")};
	struct assumption a = {
		.pod = pod_of(t, i), .ns = held[0], .claim = held[1], .volume = held[2], .node = held[3]};
	ledger_assume(t->f.l, &a);
	for (int k = 0; k < 4; k++)
		names_drop(t->f.names, held[k]);
	p->assumed[claim] = what;
}

static void move_unassume(struct run *t, int i, int kind)
{
	int claim = (int)below(t, CLAIMS), volume = 1 + (int)below(t, VOLUMES);
	if (!t->m.pods[i].is_there)
		return;
	if (kind % 3 == 0)
		ledger_unassume(t->f.l, pod_of(t, i));
	else if (kind % 3 == 1)
		ledger_unassume_claim(t->f.l, known(t, ns_of(i)), known(t, text("claim", claim)));
	else if (known(t, text("volume", volume)) != NAME_NONE)
		ledger_unassume_volume(t->f.l, known(t, text("volume", volume)));
	for (int j = 0; j < PODS; j++)
		for (int c = 0; c < CLAIMS; c++) {
			int *what = &t->m.pods[j].assumed[c];
			if ((kind % 3 == 0 && j == i) ||
			    (kind % 3 == 1 && c == claim && strcmp(ns_of(i), ns_of(j)) == 0) ||
			    (kind % 3 == 2 && *what == volume))
				*what = 0;
		}
}

static void move_started(struct run *t, int i, int ns)
{
	if (!t->m.pods[i].is_there)
		return;
	ledger_set_started(t->f.l, pod_of(t, i), ns);
	t->m.pods[i].started = ns;
}

/* ---- moves from outside ---- */

static int any_queue(struct run *t)
{
	int q = (int)below(t, QUEUES);
	return t->m.queues[q].is_there && q != 0 ? q : NONE;
}

static void draw_pod(struct run *t, struct m_pod *p)
{
	static const enum pod_state states[] = {POD_WAITING, POD_WAITING, POD_PLACED,
						POD_PLACED,  POD_LEAVING, POD_FINISHED};
	int group = (int)below(t, 2 * GROUPS);
	*p = (struct m_pod){
		.is_there = true, .state = states[below(t, 6)], .node = NONE, .group = NONE, .podset = NONE};
	p->queue = any_queue(t);
	p->app = (int)below(t, APPS);
	p->priority = (int)below(t, 5);
	p->request = below(t, 5);
	p->usage = below(t, 3) ? p->request : below(t, 5);
	p->gpu = below(t, 3);
	p->started = below(t, 2) ? TIME_NONE : below(t, 100);
	if (group < GROUPS && t->m.groups[group].is_there) {
		p->group = group;
		p->podset = (int)below(t, (uint32_t)variant_podsets[t->m.groups[group].variant]);
	}
	if (p->state == POD_WAITING && below(t, 3) == 0)
		p->nomination = below(t, 2) ? NOMINATION_ADVISORY : NOMINATION_RESERVED;
	if (on_node(p) || p->nomination != NOMINATION_NONE)
		p->node = (int)below(t, NODES);
}

/* Makes the node a ghost if it is not there, as whoever feeds a ledger would. */
static node_id some_node(struct run *t, int i)
{
	if (i == NONE)
		return NODE_NONE;
	name_id name = fix_name(&t->f, text("node", i));
	node_id n = ledger_node_ghost(t->f.l, name);
	names_drop(t->f.names, name);
	return n;
}

static struct pod_entry entry_of(struct run *t, const struct m_pod *p)
{
	struct pod_entry entry = fix_waiting(queue_of(t, p->queue));
	node_id node = some_node(t, p->node);
	entry.state = p->state;
	entry.priority = p->priority;
	entry.started_ns = p->started;
	entry.nomination = p->nomination;
	if (p->nomination != NOMINATION_NONE)
		entry.nominated_node = node;
	else
		entry.node = node;
	if (p->group != NONE)
		entry = fix_of_group(&t->f, entry, group_of(t, p->group), (uint32_t)p->podset);
	return entry;
}

static struct obj_pod object_of(struct run *t, int i, const struct m_pod *p)
{
	struct fix_amounts request = {p->request, 1, 0}, usage = {p->usage, 1, p->gpu};
	return fix_pod_object(&t->f, ns_of(i), text("pod", i), text("app=", p->app),
			      fix_shape_of(&t->f, request, usage));
}

static void model_put(struct run *t, int i, const struct m_pod *p, int pos)
{
	t->m.pods[i] = *p;
	if (p->nomination != NOMINATION_NONE)
		list_put(&t->m.nodes[p->node].nominated, pos, i);
	else if (on_node(p))
		list_put(&t->m.nodes[p->node].pods, pos, i);
}

/* Returns where it was in its list. */
static int model_take(struct run *t, int i)
{
	struct m_pod *p = &t->m.pods[i];
	int pos = NONE;
	if (p->nomination != NOMINATION_NONE || on_node(p)) {
		struct m_list *list =
			p->nomination != NOMINATION_NONE ? &t->m.nodes[p->node].nominated : &t->m.nodes[p->node].pods;
		pos = list_find(list, i);
		list_take(list, i);
	}
	p->is_there = false;
	memset(p->assumed, 0, sizeof(p->assumed));
	return pos;
}

static void pod_put(struct run *t, int i, int unused)
{
	struct m_pod p, was = t->m.pods[i];
	draw_pod(t, &p);
	struct pod_entry entry = entry_of(t, &p);
	struct obj_pod o = object_of(t, i, &p);
	pod_id id;
	if (!was.is_there) {
		assert_int_equal(ledger_pod_add(t->f.l, &o, &entry, &id, NULL), ERR_OK);
		model_put(t, i, &p, NONE);
		return;
	}
	assert_int_equal(ledger_pod_set(t->f.l, pod_of(t, i), &o, &entry, NULL), ERR_OK);
	p.is_evicted = was.is_evicted && p.state == POD_LEAVING;
	if (on_node(&p) || p.nomination == NOMINATION_RESERVED)
		memcpy(p.assumed, was.assumed, sizeof(p.assumed));
	int pos = model_take(t, i);
	bool keeps_place = was.node == p.node && on_node(&was) == on_node(&p);
	model_put(t, i, &p, keeps_place ? pos : NONE);
}

static void pod_drop(struct run *t, int i, int unused)
{
	if (!t->m.pods[i].is_there)
		return;
	ledger_pod_drop(t->f.l, pod_of(t, i));
	model_take(t, i);
}

static void node_put(struct run *t, int unused, int i)
{
	struct m_node *n = &t->m.nodes[i];
	n->cpu = below(t, 100);
	struct obj_node o = fix_node_object(&t->f, text("node", i), n->cpu, 1, 0);
	if (n->is_live)
		ledger_node_set(t->f.l, node_of(t, i), &o);
	else
		ledger_node_add(t->f.l, &o);
	n->is_live = true;
}

static void node_drop(struct run *t, int unused, int i)
{
	struct m_node *n = &t->m.nodes[i];
	if (!n->is_live)
		return;
	ledger_node_drop(t->f.l, node_of(t, i));
	n->is_live = false;
	for (; n->nominated.n > 0; n->nominated.n--) {
		struct m_pod *p = &t->m.pods[n->nominated.v[n->nominated.n - 1]];
		p->nomination = NOMINATION_NONE;
		p->node = NONE;
		memset(p->assumed, 0, sizeof(p->assumed));
	}
}

static void node_ghost(struct run *t, int unused, int i)
{
	some_node(t, i);
}

static bool group_has_pods(const struct run *t, int g)
{
	for (int i = 0; i < PODS; i++) {
		if (t->m.pods[i].is_there && t->m.pods[i].group == g)
			return true;
	}
	return false;
}

static void group_put(struct run *t, int i, int unused)
{
	int id = i % GROUPS;
	struct m_group *g = &t->m.groups[id];
	if (!g->is_there || !group_has_pods(t, id))
		g->variant = (int)below(t, 3);
	g->min = (int)below(t, 4);
	g->queue = any_queue(t);
	struct obj_group o = fix_group_object(&t->f, text("group", id), g->min, variants[g->variant]);
	o.started_ns = below(t, 2) ? TIME_NONE : below(t, 9);
	if (!g->is_there || g->started == TIME_NONE)
		g->started = o.started_ns;
	if (g->is_there)
		ledger_group_set(t->f.l, group_of(t, id), &o, queue_of(t, g->queue), 1, PREEMPTIBLE);
	else
		ledger_group_add(t->f.l, &o, queue_of(t, g->queue), 1, PREEMPTIBLE);
	g->is_there = true;
}

static void group_drop(struct run *t, int i, int unused)
{
	int id = i % GROUPS;
	if (!t->m.groups[id].is_there || group_has_pods(t, id))
		return;
	ledger_group_drop(t->f.l, group_of(t, id));
	t->m.groups[id].is_there = false;
}

static void group_started(struct run *t, int i, int ns)
{
	int id = i % GROUPS;
	if (!t->m.groups[id].is_there)
		return;
	ledger_set_group_started(t->f.l, group_of(t, id), ns);
	t->m.groups[id].started = ns;
}

static void pdb_put(struct run *t, int i, int unused)
{
	int id = i % PDBS;
	struct m_pdb *b = &t->m.pdbs[id];
	if (!b->is_there || below(t, 2))
		b->selector = (int)below(t, sizeof(selectors) / sizeof(*selectors));
	b->disrupted = below(t, 2) ? NONE : (int)below(t, PODS);
	b->allowed = (int)below(t, 4);
	struct obj_pdb o = fix_pdb_object(&t->f, "ns", text("pdb", id), selectors[b->selector],
					  b->disrupted == NONE ? NULL : text("pod", b->disrupted));
	o.allowed = b->allowed;
	if (b->is_there)
		ledger_pdb_set(t->f.l, pdb_of(t, id), &o);
	else
		ledger_pdb_add(t->f.l, &o);
	b->is_there = true;
}

static void pdb_drop(struct run *t, int i, int unused)
{
	int id = i % PDBS;
	if (!t->m.pdbs[id].is_there)
		return;
	ledger_pdb_drop(t->f.l, pdb_of(t, id));
	t->m.pdbs[id].is_there = false;
}

static bool is_above(const struct model *m, int above, int q)
{
	for (; q != NONE; q = m->queues[q].parent) {
		if (q == above)
			return true;
	}
	return false;
}

static void queue_put(struct run *t, int i, int unused)
{
	int id = 1 + i % (QUEUES - 1), parent = (int)below(t, QUEUES);
	struct m_queue *q = &t->m.queues[id];
	if (!q->is_there && (!t->m.queues[parent].is_there || parent == id))
		return;
	struct queue_spec spec;
	queue_spec_init(&spec, t->f.names);
	q->guaranteed = 1 + below(t, 9);
	res_put(&spec.guaranteed, RES_CPU, q->guaranteed);
	if (q->is_there) {
		ledger_queue_set(t->f.l, queue_of(t, id), &spec);
		return;
	}
	const char *segment = text("queue", id);
	queue_id ret;
	assert_int_equal(ledger_queue_add(t->f.l, queue_of(t, parent), segment, strlen(segment), &spec, &ret, NULL),
			 ERR_OK);
	q->is_there = true;
	q->is_draining = false;
	q->parent = parent;
}

static void queue_move(struct run *t, int i, int unused)
{
	int id = 1 + i % (QUEUES - 1), parent = (int)below(t, QUEUES);
	if (!t->m.queues[id].is_there || !t->m.queues[parent].is_there)
		return;
	enum err_code code = ledger_queue_move(t->f.l, queue_of(t, id), queue_of(t, parent), NULL);
	assert_int_equal(code != ERR_OK, is_above(&t->m, id, parent));
	if (code == ERR_OK)
		t->m.queues[id].parent = parent;
}

static void queue_drain(struct run *t, int i, int unused)
{
	int id = i % QUEUES;
	if (!t->m.queues[id].is_there)
		return;
	t->m.queues[id].is_draining = below(t, 2);
	ledger_queue_drain(t->f.l, queue_of(t, id), t->m.queues[id].is_draining);
}

static void queue_drop(struct run *t, int i, int unused)
{
	int id = 1 + i % (QUEUES - 1);
	bool is_busy = !t->m.queues[id].is_there;
	for (int q = 0; q < QUEUES; q++)
		is_busy = is_busy || (t->m.queues[q].is_there && t->m.queues[q].parent == id);
	for (int p = 0; p < PODS; p++)
		is_busy = is_busy || (t->m.pods[p].is_there && t->m.pods[p].queue == id);
	for (int g = 0; g < GROUPS; g++)
		is_busy = is_busy || (t->m.groups[g].is_there && t->m.groups[g].queue == id);
	if (is_busy)
		return;
	ledger_queue_drop(t->f.l, queue_of(t, id));
	t->m.queues[id].is_there = false;
}

static void type_add(struct run *t, int i, int unused)
{
	if (below(t, 8) == 0 && vocab_res(t->f.v)->n < 14)
		fix_type(&t->f, text("example.com/type", (int)vocab_res(t->f.v)->n));
}

static void (*const moves[])(struct run *t, int pod, int node) = {
	move_place,    move_place,   move_place,    move_vacate,   move_evict,
	move_evict,    move_unevict, move_nominate, move_nominate, move_clear_nomination,
	move_started,  pod_put,	     pod_put,	    pod_put,	   pod_drop,
	node_put,      node_drop,    node_ghost,    group_put,	   group_drop,
	group_started, pdb_put,	     pdb_put,	    pdb_drop,	   queue_put,
	queue_put,     queue_move,   queue_drain,   queue_drop,	   type_add,
	move_assume,   move_assume,  move_assume,   move_unassume,
};
