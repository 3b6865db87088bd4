/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves from outside: objects appear, change and vanish, in stories as those of test_ledger.c.
 */
#include "ledger/ledger_fixture.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct world {
	struct fix f;
	node_id n1, ghost;
	group_id gang;	   /* with pods */
	group_id empty;	   /* without */
	pdb_id pdb;	   /* over app=p */
	queue_id q;	   /* root.b.q, draining */
	pod_id p1, p2, p3; /* on n1, in x; p2 was evicted */
	pod_id haunts;	   /* on the ghost */
	pod_id waits;	   /* of the gang, nominated to n1 */
};

static void world_init(struct world *w)
{
	fix_init(&w->f);
	w->n1 = fix_node(&w->f, "n1");
	name_id name = fix_name(&w->f, "n2");
	w->ghost = ledger_node_ghost(w->f.l, name);
	names_drop(w->f.names, name);
	w->gang = fix_group(&w->f, "gang", w->f.x, 3, "");
	w->empty = fix_group(&w->f, "empty", w->f.y, 1, "s1:2,s2:3");
	w->pdb = fix_pdb(&w->f, "ns", "pdb", "app=p", NULL);
	w->q = fix_queue(&w->f, w->f.b, "q");
	w->p1 = fix_pod(&w->f, "p1", fix_on(w->f.x, POD_PLACED, w->n1));
	w->p2 = fix_pod(&w->f, "p2", fix_on(w->f.x, POD_PLACED, w->n1));
	w->p3 = fix_pod(&w->f, "p3", fix_on(w->f.x, POD_PLACED, w->n1));
	w->haunts = fix_pod(&w->f, "h", fix_on(w->q, POD_PLACED, w->ghost));
	w->waits = fix_pod(&w->f, "w", fix_of_group(&w->f, fix_waiting(w->f.x), w->gang, 0));
	ledger_reserve(w->f.l, w->n1, w->waits);
	ledger_evict(w->f.l, w->p2);
	ledger_queue_drain(w->f.l, w->q, true);
	ledger_commit(w->f.l);
}

static const struct pod *pod(const struct world *w, pod_id id)
{
	return ledger_pod(w->f.l, id);
}

static int64_t cpu(const int64_t *row)
{
	return row[RES_CPU];
}

static pod_id find(const struct world *w, const char *name)
{
	name_id id = names_find(w->f.names, name, strlen(name));
	return id == NAME_NONE ? POD_NONE : ledger_pod_find(w->f.l, fix_known(&w->f, "ns"), id);
}

static void set_pod(struct world *w, pod_id id, const char *name, const char *labels, shape_id shape,
		    struct pod_entry entry)
{
	struct obj_pod o = fix_pod_object(&w->f, "ns", name, labels, shape);
	assert_int_equal(ledger_pod_set(w->f.l, id, &o, &entry, NULL), ERR_OK);
	assert_int_equal(o.shape, SHAPE_NONE);
}

static void add_pods(struct world *w)
{
	fix_pod(&w->f, "pa", fix_waiting(w->f.y));
	fix_pod(&w->f, "pb", fix_on(w->f.y, POD_PLACED, w->n1));
	fix_pod(&w->f, "pc", fix_on(w->f.y, POD_LEAVING, w->n1));
	fix_pod(&w->f, "pd", fix_on(w->f.y, POD_FINISHED, NODE_NONE));
	struct pod_entry entry = fix_waiting(w->f.y);
	entry.nomination = NOMINATION_ADVISORY;
	entry.nominated_node = w->n1;
	entry.priority = 7;
	fix_pod(&w->f, "pe", entry);
}

static void added_pods(const struct world *w)
{
	assert_int_equal(cpu(ledger_node_used(w->f.l, w->n1)), 5000);
	assert_int_equal(cpu(ledger_node_leaving(w->f.l, w->n1)), 2000);
	assert_int_equal(cpu(ledger_node_reserved(w->f.l, w->n1)), 2000);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, w->f.y)), 1000);
	assert_int_equal(ledger_queue_waiting(w->f.l, w->f.y), 2);
	assert_int_equal(pod(w, find(w, "pe"))->priority, 7);
	assert_false(pod(w, find(w, "pc"))->is_evicted);
	assert_int_equal(pod(w, find(w, "pd"))->state, POD_FINISHED);
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 1);
}

static void grow_pod(struct world *w)
{
	set_pod(w, w->p1, "p1", "app=p", fix_shape(&w->f, 1500, 10, 1), fix_on(w->f.y, POD_PLACED, w->n1));
}

static void grown_pod(const struct world *w)
{
	assert_int_equal(cpu(ledger_node_used(w->f.l, w->n1)), 3500);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, w->f.x)), 1000);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, w->f.y)), 1500);
	assert_int_equal(pod(w, w->p1)->node_pos, 0);
	assert_int_equal(ledger_node(w->f.l, w->n1)->pods.v[1], w->p2);
}

static void set_evicted(struct world *w)
{
	set_pod(w, w->p2, "p2", "app=p,new=1", fix_shape(&w->f, 1000, 10, 1), fix_on(w->f.x, POD_LEAVING, w->n1));
}

static void set_evicted_stays(const struct world *w)
{
	assert_true(pod(w, w->p2)->is_evicted);
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 1);
	assert_int_equal(pod(w, w->p2)->node_pos, 1);
}

static void relabel_evicted(struct world *w)
{
	set_pod(w, w->p2, "p2", "app=other", fix_shape(&w->f, 1000, 10, 1), fix_on(w->f.x, POD_LEAVING, w->n1));
}

static void relabelled_evicted(const struct world *w)
{
	assert_true(pod(w, w->p2)->is_evicted);
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 0);
}

static void finish_pod(struct world *w)
{
	set_pod(w, w->p1, "p1", "app=p", fix_shape(&w->f, 1000, 10, 1), fix_on(w->f.x, POD_FINISHED, NODE_NONE));
	set_pod(w, w->waits, "w", "app=w", fix_shape(&w->f, 1000, 10, 1),
		fix_of_group(&w->f, fix_on(w->f.x, POD_FINISHED, NODE_NONE), w->gang, 0));
}

static void finished_pod(const struct world *w)
{
	const struct podset *s = ledger_podset(w->f.l, ledger_group(w->f.l, w->gang)->first_podset);
	uint32_t n;
	assert_int_equal(pod(w, w->p1)->node, NODE_NONE);
	assert_int_equal(cpu(ledger_node_used(w->f.l, w->n1)), 2000);
	assert_int_equal(cpu(ledger_node_reserved(w->f.l, w->n1)), 0);
	ledger_queue_pods(w->f.l, w->f.x, &n);
	assert_int_equal(n, 2);
	assert_int_equal(s->n_finished, 1);
	assert_int_equal(s->n_waiting, 0);
	assert_int_equal(s->n_pods, 1);
}

static void revive_pod(struct world *w)
{
	finish_pod(w);
	set_pod(w, w->p1, "p1", "app=p", fix_shape(&w->f, 1000, 10, 1), fix_on(w->f.x, POD_PLACED, w->n1));
}

static void revived_pod(const struct world *w)
{
	assert_int_equal(pod(w, w->p1)->state, POD_PLACED);
	assert_int_equal(pod(w, w->p1)->node_pos, 2);
	assert_int_equal(cpu(ledger_node_used(w->f.l, w->n1)), 3000);
}

static void move_nominate(struct world *w)
{
	struct pod_entry entry = fix_of_group(&w->f, fix_waiting(w->f.x), w->gang, 0);
	entry.nomination = NOMINATION_ADVISORY;
	entry.nominated_node = w->ghost;
	set_pod(w, w->waits, "w", "app=w", fix_shape(&w->f, 2000, 10, 1), entry);
}

static void moved_nomination(const struct world *w)
{
	assert_int_equal(cpu(ledger_node_reserved(w->f.l, w->n1)), 0);
	assert_int_equal(cpu(ledger_node_reserved(w->f.l, w->ghost)), 2000);
	assert_int_equal(cpu(ledger_queue_reserved(w->f.l, QUEUE_ROOT)), 2000);
	assert_int_equal(pod(w, w->waits)->nomination, NOMINATION_ADVISORY);
}

static void drop_pods(struct world *w)
{
	ledger_pod_drop(w->f.l, w->p1);
	ledger_pod_drop(w->f.l, w->p2);
	ledger_pod_drop(w->f.l, w->waits);
}

static void dropped_pods(const struct world *w)
{
	assert_int_equal(find(w, "p1"), POD_NONE);
	assert_int_equal(pod(w, w->p1)->state, POD_FREE);
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 0);
	assert_int_equal(cpu(ledger_node_used(w->f.l, w->n1)), 1000);
	assert_int_equal(cpu(ledger_node_reserved(w->f.l, w->n1)), 0);
	assert_int_equal(pod(w, w->p3)->node_pos, 0);
}

static void replace_pod(struct world *w)
{
	ledger_pod_drop(w->f.l, w->p1);
	fix_pod(&w->f, "p1", fix_waiting(w->f.y));
}

static void replaced_pod(const struct world *w)
{
	assert_true(find(w, "p1") != w->p1 && find(w, "p1") != POD_NONE);
	assert_int_equal(pod(w, w->p1)->state, POD_FREE);
}

static void shrink_node(struct world *w)
{
	struct obj_node o = fix_node_object(&w->f, "n1", 4000, 50, 0);
	ledger_node_set(w->f.l, w->n1, &o);
}

static void shrunk_node(const struct world *w)
{
	assert_int_equal(cpu(ledger_node_allocatable(w->f.l, w->n1)), 4000);
	assert_int_equal(ledger_node_allocatable(w->f.l, w->n1)[w->f.gpu], 0);
	assert_int_equal(cpu(ledger_capacity(w->f.l)), 4000);
}

static void drop_node(struct world *w)
{
	ledger_node_drop(w->f.l, w->n1);
}

static void dropped_node(const struct world *w)
{
	const struct ledger_node *n = ledger_node(w->f.l, w->n1);
	assert_false(n->is_live);
	assert_null(n->obj);
	assert_int_equal(n->pods.n, 3);
	assert_int_equal(n->nominated.n, 0);
	assert_int_equal(pod(w, w->waits)->nomination, NOMINATION_NONE);
	assert_int_equal(cpu(ledger_node_allocatable(w->f.l, w->n1)), 0);
	assert_int_equal(cpu(ledger_capacity(w->f.l)), 0);
	assert_int_equal(ledger_node_find(w->f.l, fix_known(&w->f, "n1")), w->n1);
}

static void wake_ghost(struct world *w)
{
	assert_int_equal(fix_node(&w->f, "n2"), w->ghost);
}

static void woken_ghost(const struct world *w)
{
	assert_true(ledger_node(w->f.l, w->ghost)->is_live);
	assert_int_equal(cpu(ledger_capacity(w->f.l)), 16000);
	assert_int_equal(cpu(ledger_node_used(w->f.l, w->ghost)), 1000);
}

static void leave_ghost(struct world *w)
{
	ledger_vacate(w->f.l, w->haunts);
}

static void left_ghost(const struct world *w)
{
	assert_int_equal(pod(w, w->haunts)->state, POD_WAITING);
	if (ledger_get_mark(w->f.l) == 0) { /* committed: swept away */
		assert_int_equal(names_find(w->f.names, "n2", 2), NAME_NONE);
		assert_int_equal(ledger_node(w->f.l, w->ghost)->name, NAME_NONE);
	} else {
		assert_int_equal(ledger_node_find(w->f.l, fix_known(&w->f, "n2")), w->ghost);
	}
}

static void add_group(struct world *w)
{
	group_id g = fix_group(&w->f, "new", w->f.x, 0, "a:2,b,c:5");
	fix_pod(&w->f, "ga", fix_of_group(&w->f, fix_on(w->f.x, POD_PLACED, w->n1), g, 1));
}

static void added_group(const struct world *w)
{
	group_id g = ledger_group_find(w->f.l, fix_known(&w->f, "ns"), fix_known(&w->f, "new"), false);
	assert_int_equal(ledger_group(w->f.l, g)->n_podsets, 3);
	podset_id b = ledger_podset_find(w->f.l, g, fix_known(&w->f, "b"));
	assert_int_equal(ledger_podset(w->f.l, b)->min_member, 1);
	assert_int_equal(ledger_podset(w->f.l, b)->n_placed, 1);
	assert_int_equal(ledger_podset(w->f.l, b + 1)->min_member, 5);
	assert_int_equal(ledger_podset_find(w->f.l, g, fix_known(&w->f, "default")), PODSET_NONE);
	assert_int_equal(ledger_podset_find(w->f.l, w->gang, fix_known(&w->f, "default")),
			 ledger_group(w->f.l, w->gang)->first_podset);
}

static void set_group(struct world *w)
{
	struct obj_group o = fix_group_object(&w->f, "gang", 5, "");
	o.started_ns = 77;
	ledger_group_set(w->f.l, w->gang, &o, w->f.y, 60, NON_PREEMPTIBLE);
}

static void set_group_keeps_pods(const struct world *w)
{
	const struct group *g = ledger_group(w->f.l, w->gang);
	assert_int_equal(ledger_podset(w->f.l, g->first_podset)->min_member, 5);
	assert_int_equal(ledger_podset(w->f.l, g->first_podset)->n_nominated, 1);
	assert_int_equal(g->queue, w->f.y);
	assert_int_equal(g->priority, 60);
	assert_int_equal(g->preemptibility, NON_PREEMPTIBLE);
	assert_int_equal(g->started_ns, 77);
}

static void split_group(struct world *w)
{
	struct obj_group o = fix_group_object(&w->f, "empty", 5, "t1,t2,t3");
	ledger_group_set(w->f.l, w->empty, &o, w->f.y, 60, NON_PREEMPTIBLE);
}

static void split_into_new_podsets(const struct world *w)
{
	assert_int_equal(ledger_group(w->f.l, w->empty)->n_podsets, 3);
	assert_int_not_equal(ledger_podset_find(w->f.l, w->empty, fix_known(&w->f, "t3")), PODSET_NONE);
}

static void nest_group(struct world *w)
{
	struct obj_group o = fix_group_object(&w->f, "empty", 5, "top,low1:2,low2:3");
	o.subgroups[1].parent = o.subgroups[2].parent = o.subgroups[0].name;
	ledger_group_set(w->f.l, w->empty, &o, w->f.y, 60, NON_PREEMPTIBLE);
}

static void only_leaves_are_podsets(const struct world *w)
{
	assert_int_equal(ledger_group(w->f.l, w->empty)->n_podsets, 2);
	assert_int_equal(ledger_podset_find(w->f.l, w->empty, fix_known(&w->f, "top")), PODSET_NONE);
	assert_int_not_equal(ledger_podset_find(w->f.l, w->empty, fix_known(&w->f, "low2")), PODSET_NONE);
}

static void drop_group(struct world *w)
{
	ledger_group_drop(w->f.l, w->empty);
	fix_group(&w->f, "empty", w->f.b, 1, "");
}

static void dropped_group(const struct world *w)
{
	assert_false(ledger_group(w->f.l, w->empty)->is_live);
	group_id g = ledger_group_find(w->f.l, fix_known(&w->f, "ns"), fix_known(&w->f, "empty"), false);
	assert_true(g != w->empty);
}

static void add_pdbs(struct world *w)
{
	fix_pdb(&w->f, "ns", "all", "", NULL);
	fix_pdb(&w->f, "ns", "nothing", NULL, NULL);
	fix_pdb(&w->f, "elsewhere", "all", "", NULL);
	fix_pdb(&w->f, "ns", "knows", "app in (p,q)", "p2");
}

static void added_pdbs(const struct world *w)
{
	uint32_t n;
	const pdb_id *ids = ledger_labelset_pdbs(w->f.l, pod(w, w->p1)->labelset, &n);
	assert_int_equal(n, 3);
	assert_int_equal(ids[0], w->pdb);
	assert_int_equal(ledger_pdb(w->f.l, ids[1])->spent, 1);
	assert_int_equal(ledger_pdb(w->f.l, ids[2])->spent, 0);
	ledger_labelset_pdbs(w->f.l, pod(w, w->waits)->labelset, &n);
	assert_int_equal(n, 1);
	ledger_labelset_pdbs(w->f.l, 12345, &n);
	assert_int_equal(n, 0);
}

static void tell_pdb(struct world *w)
{
	struct obj_pdb o = fix_pdb_object(&w->f, "ns", "pdb", "app=p", "p2");
	o.allowed = 0;
	ledger_pdb_set(w->f.l, w->pdb, &o);
	ledger_evict(w->f.l, w->p1);
}

static void told_pdb(const struct world *w)
{
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->obj->allowed, 0);
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 1);
}

static void keep_spent(struct world *w)
{
	struct obj_pdb o = fix_pdb_object(&w->f, "ns", "pdb", "app=p", NULL);
	o.allowed = 5;
	ledger_pdb_set(w->f.l, w->pdb, &o);
}

static void kept_spent(const struct world *w)
{
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->obj->allowed, 5);
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 1);
}

static void redirect_pdb(struct world *w)
{
	struct obj_pdb o = fix_pdb_object(&w->f, "ns", "pdb", "app=w", NULL);
	ledger_pdb_set(w->f.l, w->pdb, &o);
}

static void redirected_pdb(const struct world *w)
{
	uint32_t n;
	assert_int_equal(ledger_pdb(w->f.l, w->pdb)->spent, 0);
	ledger_labelset_pdbs(w->f.l, pod(w, w->p1)->labelset, &n);
	assert_int_equal(n, 0);
	ledger_labelset_pdbs(w->f.l, pod(w, w->waits)->labelset, &n);
	assert_int_equal(n, 1);
}

static void drop_pdb(struct world *w)
{
	ledger_pdb_drop(w->f.l, w->pdb);
	fix_pdb(&w->f, "ns", "pdb", "app=p", NULL);
}

static void dropped_pdb(const struct world *w)
{
	pdb_id id = ledger_pdb_find(w->f.l, fix_known(&w->f, "ns"), fix_known(&w->f, "pdb"));
	assert_true(id != w->pdb && !ledger_pdb(w->f.l, w->pdb)->is_live);
	assert_int_equal(ledger_pdb(w->f.l, id)->spent, 1);
}

static void add_queue(struct world *w)
{
	queue_id deep = fix_queue(&w->f, fix_queue(&w->f, w->f.x, "mid"), "deep");
	fix_pod(&w->f, "pdeep", fix_on(deep, POD_PLACED, w->n1));
}

static void added_queue(const struct world *w)
{
	queue_id deep = queue_tree_find(ledger_queues(w->f.l), "root.a.x.mid.deep", 17);
	assert_int_not_equal(deep, QUEUE_NONE);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, deep)), 1000);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, w->f.a)), 3000);
}

static void tell_queue(struct world *w)
{
	struct queue_spec spec;
	queue_spec_init(&spec, w->f.names);
	res_put(&spec.guaranteed, RES_CPU, 4000);
	ledger_queue_set(w->f.l, w->f.x, &spec);
	ledger_queue_drain(w->f.l, w->f.x, true);
}

static void told_queue(const struct world *w)
{
	const struct queue *q = queue_get(ledger_queues(w->f.l), w->f.x);
	assert_int_equal(q->spec.guaranteed.v[RES_CPU], 4000);
	assert_true(q->is_draining);
}

static void move_queue(struct world *w)
{
	assert_int_equal(ledger_queue_move(w->f.l, w->f.a, w->f.b, NULL), ERR_OK);
}

static void moved_queue(const struct world *w)
{
	assert_int_equal(cpu(ledger_queue_used(w->f.l, w->f.b)), 3000);
	assert_int_equal(cpu(ledger_queue_leaving(w->f.l, w->f.b)), 1000);
	assert_int_equal(cpu(ledger_queue_reserved(w->f.l, w->f.b)), 1000);
	assert_int_equal(ledger_queue_waiting(w->f.l, w->f.b), 1);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, w->f.a)), 2000);
	assert_int_equal(cpu(ledger_queue_used(w->f.l, QUEUE_ROOT)), 3000);
	assert_int_equal(queue_tree_find(ledger_queues(w->f.l), "root.b.a.x", 10), w->f.x);
}

static void drop_queue(struct world *w)
{
	ledger_pod_drop(w->f.l, w->haunts);
	ledger_queue_drop(w->f.l, w->q);
	fix_queue(&w->f, w->f.y, "other");
}

static void dropped_queue(const struct world *w)
{
	assert_int_equal(queue_tree_find(ledger_queues(w->f.l), "root.b.q", 8), QUEUE_NONE);
	assert_int_not_equal(queue_tree_find(ledger_queues(w->f.l), "root.a.y.other", 14), QUEUE_NONE);
}

static const struct story {
	const char *says;
	void (*act)(struct world *w);
	void (*expect)(const struct world *w);
} stories[] = {
	{"pods may appear in any state", add_pods, added_pods},
	{"a pod that changes size and queue keeps its place on the node", grow_pod, grown_pod},
	{"an evicted pod that is seen leaving is still evicted by us", set_evicted, set_evicted_stays},
	{"an evicted pod that loses its label frees its budget", relabel_evicted, relabelled_evicted},
	{"a finished pod takes no room and is in no queue's list", finish_pod, finished_pod},
	{"a finished pod that runs again comes last", revive_pod, revived_pod},
	{"a nomination may move by a new object", move_nominate, moved_nomination},
	{"dropped pods give back room, nominations and budgets", drop_pods, dropped_pods},
	{"a pod that is recreated gets another id until commit", replace_pod, replaced_pod},
	{"a node may shrink below what is used", shrink_node, shrunk_node},
	{"a dropped node is a ghost while pods are on it, and nobody is nominated to it", drop_node, dropped_node},
	{"a ghost comes to life with its pods", wake_ghost, woken_ghost},
	{"a ghost without pods is gone after commit", leave_ghost, left_ghost},
	{"sub-groups become podsets, at least one member each", add_group, added_group},
	{"a group with pods may change all but its sub-groups", set_group, set_group_keeps_pods},
	{"a group without pods may change its sub-groups", split_group, split_into_new_podsets},
	{"only leaves of the sub-groups are podsets", nest_group, only_leaves_are_podsets},
	{"a dropped group's id is not used before commit", drop_group, dropped_group},
	{"a new budget knows what is already leaving", add_pdbs, added_pdbs},
	{"a pod that the budget lists as disrupted does not spend it again", tell_pdb, told_pdb},
	{"a new status keeps what is spent", keep_spent, kept_spent},
	{"a new selector finds other pods", redirect_pdb, redirected_pdb},
	{"a dropped budget leaves the lists of the label sets", drop_pdb, dropped_pdb},
	{"new queues count from the leaf to the root", add_queue, added_queue},
	{"settings and draining are moves too", tell_queue, told_queue},
	{"a queue that moves takes its use along", move_queue, moved_queue},
	{"a dropped queue comes back as it was", drop_queue, dropped_queue},
};

static void outside_moves_count_and_can_be_taken_back(void **state)
{
	for (size_t i = 0; i < COUNT(stories); i++) {
		struct world w;
		world_init(&w);
		uint64_t before = ledger_digest(w.f.l), tree = ledger_tree_generation(w.f.l), moved;
		uint32_t n_names = names_count(w.f.names);
		ledger_mark mark = ledger_get_mark(w.f.l);
		stories[i].act(&w);
		stories[i].expect(&w);
		moved = ledger_tree_generation(w.f.l);
		if (ledger_digest(w.f.l) == before)
			fail_msg("%s: nothing changed", stories[i].says);
		ledger_rollback(w.f.l, mark);
		if (ledger_digest(w.f.l) != before || names_count(w.f.names) != n_names)
			fail_msg("%s: the rollback left a trace", stories[i].says);
		if (moved != tree && ledger_tree_generation(w.f.l) <= moved)
			fail_msg("%s: the tree has a generation it had before", stories[i].says);
		stories[i].act(&w);
		ledger_commit(w.f.l);
		stories[i].expect(&w);
		fix_free(&w.f);
	}
}

/* Whoever keeps something by a queue's pods asks by this number whether it still holds. */
static void the_members_of_a_queue_are_new_when_one_comes_or_goes(void **state)
{
	struct world w;
	world_init(&w);
	uint64_t first = ledger_queue_members(w.f.l, w.f.x), second;
	pod_id pod = fix_pod(&w.f, "new", fix_waiting(w.f.x));
	second = ledger_queue_members(w.f.l, w.f.x);
	assert_true(second > first);
	ledger_pod_drop(w.f.l, pod);
	assert_true(ledger_queue_members(w.f.l, w.f.x) > second);
	fix_free(&w.f);
}

static void freed_ids_are_reused_last_in_first_out(void **state)
{
	struct world w;
	world_init(&w);
	uint32_t limit = ledger_pod_limit(w.f.l);
	ledger_pod_drop(w.f.l, w.p1);
	ledger_pod_drop(w.f.l, w.p3);
	pod_id fresh = fix_pod(&w.f, "a", fix_waiting(w.f.x));
	assert_int_equal(fresh, limit);
	ledger_rollback(w.f.l, ledger_get_mark(w.f.l));
	ledger_commit(w.f.l);
	assert_int_equal(fix_pod(&w.f, "b", fix_waiting(w.f.x)), w.p3);
	ledger_rollback(w.f.l, 0);
	assert_int_equal(fix_pod(&w.f, "c", fix_waiting(w.f.x)), w.p3);
	assert_int_equal(fix_pod(&w.f, "d", fix_waiting(w.f.x)), w.p1);
	fix_free(&w.f);
}

static void a_reused_labelset_id_starts_afresh(void **state)
{
	struct fix f;
	fix_init(&f);
	fix_pdb(&f, "ns", "pdb", "app=p", NULL);
	pod_id p = fix_pod(&f, "p", fix_waiting(f.x));
	labelset_id labelset = ledger_pod(f.l, p)->labelset;
	uint32_t n;
	ledger_labelset_pdbs(f.l, labelset, &n);
	assert_int_equal(n, 1);
	ledger_pod_drop(f.l, p);
	ledger_commit(f.l);
	p = fix_pod(&f, "q", fix_waiting(f.x));
	assert_int_equal(ledger_pod(f.l, p)->labelset, labelset);
	ledger_labelset_pdbs(f.l, labelset, &n);
	assert_int_equal(n, 0);
	fix_free(&f);
}

static void too_much_is_refused_and_changes_nothing(void **state)
{
	struct fix f;
	struct err e;
	fix_init(&f);
	pod_id p = fix_pod(&f, "small", fix_waiting(f.x));
	for (int i = 0; i < 63; i++) {
		char name[16];
		snprintf(name, sizeof(name), "big%d", i);
		fix_add(&f, fix_pod_object(&f, "ns", name, "", fix_shape(&f, 1, RES_AMOUNT_MAX, 0)), fix_waiting(f.x));
	}
	ledger_commit(f.l);
	uint64_t before = ledger_digest(f.l);
	struct fix_amounts small = {1, 1, 0}, big = {1, RES_AMOUNT_MAX, 0};
	struct pod_entry entry = fix_waiting(f.x);
	pod_id id;
	struct obj_pod o = fix_pod_object(&f, "ns", "last", "", fix_shape_of(&f, big, small));
	assert_int_equal(ledger_pod_add(f.l, &o, &entry, &id, &e), ERR_LIMIT);
	assert_string_equal(e.msg, "pod ns/last: memory: the sum over all pods would pass 2^62");
	assert_int_equal(ledger_digest(f.l), before);
	obj_pod_drop(f.v, &o);
	o = fix_pod_object(&f, "ns", "small", "app=s", fix_shape_of(&f, small, big));
	assert_int_equal(ledger_pod_set(f.l, p, &o, &entry, &e), ERR_OK);
	ledger_rollback(f.l, 0);
	assert_int_equal(ledger_digest(f.l), before);
	fix_pod(&f, "more", fix_waiting(f.x));
	o = fix_pod_object(&f, "ns", "small", "app=s", fix_shape_of(&f, small, big));
	assert_int_equal(ledger_pod_set(f.l, p, &o, &entry, &e), ERR_LIMIT);
	assert_int_not_equal(o.name, NAME_NONE);
	obj_pod_drop(f.v, &o);
	fix_free(&f);
}

static void the_sum_of_capacities_stops_at_the_largest_number(void **state)
{
	struct fix f;
	fix_init(&f);
	ledger_check_always(f.l, false);
	for (int i = 0; i < 200; i++) {
		char name[16];
		snprintf(name, sizeof(name), "n%d", i);
		struct obj_node o = fix_node_object(&f, name, 1, RES_AMOUNT_MAX, 0);
		ledger_node_add(f.l, &o);
	}
	assert_int_equal(ledger_capacity(f.l)[RES_MEMORY], INT64_MAX);
	assert_int_equal(ledger_capacity(f.l)[RES_CPU], 200);
	for (node_id n = 0; n < 190; n++)
		ledger_node_drop(f.l, n);
	assert_int_equal(ledger_capacity(f.l)[RES_MEMORY], 10 * RES_AMOUNT_MAX);
	fix_free(&f);
}

static void rows_widen_for_new_types(void **state)
{
	struct world w;
	world_init(&w);
	assert_int_equal(ledger_stride(w.f.l), 8);
	uint64_t before = ledger_digest(w.f.l);
	ledger_evict(w.f.l, w.p1);
	for (int i = 0; i < 5; i++) {
		char name[32];
		snprintf(name, sizeof(name), "example.com/t%d", i);
		w.f.gpu = fix_type(&w.f, name);
	}
	fix_pod(&w.f, "z", fix_on(w.f.x, POD_PLACED, w.n1));
	assert_int_equal(ledger_stride(w.f.l), 12);
	assert_int_equal(ledger_node_used(w.f.l, w.n1)[w.f.gpu], 1);
	assert_int_equal(cpu(ledger_node_used(w.f.l, w.n1)), 4000);
	assert_int_equal(cpu(ledger_node_used(w.f.l, w.ghost)), 1000);
	ledger_rollback(w.f.l, 0);
	assert_int_equal(ledger_digest(w.f.l), before);
	assert_int_equal(ledger_stride(w.f.l), 12);
	fix_free(&w.f);
}

static void a_refused_queue_changes_nothing(void **state)
{
	struct world w;
	struct queue_spec spec;
	struct err e;
	queue_id q;
	world_init(&w);
	uint64_t before = ledger_digest(w.f.l);
	queue_spec_init(&spec, w.f.names);
	assert_int_not_equal(ledger_queue_add(w.f.l, w.f.a, "x", 1, &spec, &q, &e), ERR_OK);
	queue_spec_free(&spec);
	assert_int_not_equal(ledger_queue_move(w.f.l, w.f.a, w.f.x, &e), ERR_OK);
	assert_int_equal(ledger_get_mark(w.f.l), 0);
	assert_int_equal(ledger_digest(w.f.l), before);
	fix_free(&w.f);
}

static void set_whole(struct fix *f, group_id g, bool goes_whole)
{
	struct obj_group o = fix_group_object(f, "g", 1, "");

	o.goes_whole = goes_whole;
	ledger_group_set(f->l, g, &o, f->x, 0, PREEMPTIBLE);
}

/* What is known of a node on which a pod is alone in its group counts with how the group goes. */
static void it_is_told_when_the_group_of_a_lone_pod_goes_whole(void **state)
{
	struct fix f;
	ledger_mark mark;
	group_id g;
	node_id n1, n2;
	uint64_t n;

	fix_init(&f);
	n1 = fix_node(&f, "n1");
	n2 = fix_node(&f, "n2");
	g = fix_group(&f, "g", f.x, 1, "");
	fix_pod(&f, "alone", fix_of_group(&f, fix_on(f.x, POD_PLACED, n1), g, 0));
	ledger_commit(f.l);
	n = ledger_lone_changes(f.l);
	set_whole(&f, g, false);
	assert_int_equal(ledger_lone_changes(f.l), n);
	ledger_commit(f.l);
	mark = ledger_get_mark(f.l);
	set_whole(&f, g, true);
	assert_int_equal(ledger_lone_changes(f.l), n + 1);
	assert_int_equal(ledger_lone_change(f.l, n), n1);
	ledger_rollback(f.l, mark);
	assert_int_equal(ledger_lone_changes(f.l), n + 2);
	assert_int_equal(ledger_lone_change(f.l, n + 1), n1);
	fix_pod(&f, "another", fix_of_group(&f, fix_on(f.x, POD_PLACED, n2), g, 0));
	ledger_commit(f.l);
	n = ledger_lone_changes(f.l);
	set_whole(&f, g, true);
	assert_int_equal(ledger_lone_changes(f.l), n); /* nobody is alone */
	ledger_commit(f.l);
	fix_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_told_when_the_group_of_a_lone_pod_goes_whole),
		cmocka_unit_test(outside_moves_count_and_can_be_taken_back),
		cmocka_unit_test(the_members_of_a_queue_are_new_when_one_comes_or_goes),
		cmocka_unit_test(freed_ids_are_reused_last_in_first_out),
		cmocka_unit_test(a_reused_labelset_id_starts_afresh),
		cmocka_unit_test(too_much_is_refused_and_changes_nothing),
		cmocka_unit_test(the_sum_of_capacities_stops_at_the_largest_number),
		cmocka_unit_test(rows_widen_for_new_types),
		cmocka_unit_test(a_refused_queue_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
