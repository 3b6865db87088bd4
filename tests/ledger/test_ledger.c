/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The moves of the engine, one story each: what it changes, that rolling it back leaves no trace, and that a commit
 * leaves it standing.
 */
#include "ledger/ledger_fixture.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct world {
	struct fix f;
	node_id n1, n2;
	group_id gang; /* in x: two workers wanted, one master */
	pdb_id pdb;    /* over the pods whose name begins with p */
	pod_id waits;  /* w, in x */
	pod_id worker; /* gw, in x, of the gang */
	pod_id placed; /* p1, on n1, in x */
	pod_id second; /* p2, on n1, in y */
	pod_id goes;   /* l, on n1 and leaving, in b */
};

static void world_init(struct world *w)
{
	fix_init(&w->f);
	w->n1 = fix_node(&w->f, "n1");
	w->n2 = fix_node(&w->f, "n2");
	w->gang = fix_group(&w->f, "gang", w->f.x, 0, "workers:2,master");
	w->pdb = fix_pdb(&w->f, "ns", "pdb", "app=p", NULL);
	w->waits = fix_pod(&w->f, "w", fix_waiting(w->f.x));
	w->worker = fix_pod(&w->f, "gw", fix_of_group(&w->f, fix_waiting(w->f.x), w->gang, 0));
	w->placed = fix_pod(&w->f, "p1", fix_on(w->f.x, POD_PLACED, w->n1));
	w->second = fix_pod(&w->f, "p2", fix_on(w->f.y, POD_PLACED, w->n1));
	w->goes = fix_pod(&w->f, "l", fix_on(w->f.b, POD_LEAVING, w->n1));
	ledger_commit(w->f.l);
}

/* Every pod of this file takes cpu 1000, memory 10, one gpu and one slot: so many of them. */
static void assert_pods(const struct world *w, const int64_t *row, int64_t n)
{
	assert_int_equal(row[RES_CPU], 1000 * n);
	assert_int_equal(row[RES_MEMORY], 10 * n);
	assert_int_equal(row[RES_EPHEMERAL], 0);
	assert_int_equal(row[RES_PODS], n);
	assert_int_equal(row[w->f.gpu], n);
}

static void assert_node(const struct world *w, node_id n, int64_t used, int64_t leaving, int64_t reserved)
{
	assert_pods(w, ledger_node_used(w->f.l, n), used);
	assert_pods(w, ledger_node_leaving(w->f.l, n), leaving);
	assert_pods(w, ledger_node_reserved(w->f.l, n), reserved);
}

static void assert_queue(const struct world *w, queue_id q, int64_t used, int64_t leaving, int64_t reserved,
			 uint32_t waiting)
{
	assert_pods(w, ledger_queue_used(w->f.l, q), used);
	assert_pods(w, ledger_queue_leaving(w->f.l, q), leaving);
	assert_pods(w, ledger_queue_reserved(w->f.l, q), reserved);
	assert_int_equal(ledger_queue_waiting(w->f.l, q), waiting);
}

static void assert_podset(const struct world *w, uint32_t waiting, uint32_t placed, uint32_t leaving, uint32_t reserved)
{
	const struct podset *s = ledger_podset(w->f.l, ledger_group(w->f.l, w->gang)->first_podset);
	assert_int_equal(s->n_pods, waiting + placed + leaving);
	assert_int_equal(s->n_waiting, waiting);
	assert_int_equal(s->n_placed, placed);
	assert_int_equal(s->n_leaving, leaving);
	assert_int_equal(s->n_nominated, reserved);
}

static void assert_state(const struct world *w, pod_id pod, enum pod_state state, node_id node)
{
	assert_int_equal(ledger_pod(w->f.l, pod)->state, state);
	assert_int_equal(ledger_pod(w->f.l, pod)->node, node);
}

static int32_t spent(const struct world *w)
{
	return ledger_pdb(w->f.l, w->pdb)->spent;
}

static void place(struct world *w)
{
	ledger_place(w->f.l, w->waits, w->n2);
}

static void placed(const struct world *w)
{
	assert_state(w, w->waits, POD_PLACED, w->n2);
	assert_node(w, w->n2, 1, 0, 0);
	assert_queue(w, w->f.x, 2, 0, 0, 1);
	assert_queue(w, w->f.a, 3, 0, 0, 1);
	assert_queue(w, QUEUE_ROOT, 3, 1, 0, 1);
	assert_int_equal(ledger_node(w->f.l, w->n2)->pods.n, 1);
	assert_int_equal(ledger_node(w->f.l, w->n2)->pods.v[0], w->waits);
}

static void place_last(struct world *w)
{
	ledger_place(w->f.l, w->waits, w->n1);
}

static void placed_last(const struct world *w)
{
	const struct ledger_node *n = ledger_node(w->f.l, w->n1);
	assert_int_equal(n->pods.n, 4);
	assert_int_equal(n->pods.v[3], w->waits);
	assert_int_equal(ledger_pod(w->f.l, w->waits)->node_pos, 3);
}

static void place_worker(struct world *w)
{
	ledger_place(w->f.l, w->worker, w->n2);
}

static void placed_worker(const struct world *w)
{
	assert_podset(w, 0, 1, 0, 0);
}

static void place_nominated(struct world *w)
{
	ledger_reserve(w->f.l, w->n1, w->worker);
	ledger_place(w->f.l, w->worker, w->n2);
}

static void placed_nominated(const struct world *w)
{
	assert_node(w, w->n1, 3, 1, 0);
	assert_queue(w, w->f.a, 3, 0, 0, 1);
	assert_podset(w, 0, 1, 0, 0);
	assert_int_equal(ledger_pod(w->f.l, w->worker)->nomination, NOMINATION_NONE);
	assert_int_equal(ledger_node(w->f.l, w->n1)->nominated.n, 0);
}

static void vacate(struct world *w)
{
	ledger_vacate(w->f.l, w->placed);
}

static void vacated(const struct world *w)
{
	assert_state(w, w->placed, POD_WAITING, NODE_NONE);
	assert_node(w, w->n1, 2, 1, 0);
	assert_queue(w, w->f.x, 0, 0, 0, 3);
	assert_int_equal(ledger_node(w->f.l, w->n1)->pods.v[0], w->second);
	assert_int_equal(ledger_pod(w->f.l, w->second)->node_pos, 0);
	assert_int_equal(ledger_pod(w->f.l, w->goes)->node_pos, 1);
}

static void vacate_leaving(struct world *w)
{
	ledger_vacate(w->f.l, w->goes);
}

static void vacated_leaving(const struct world *w)
{
	assert_state(w, w->goes, POD_WAITING, NODE_NONE);
	assert_node(w, w->n1, 2, 0, 0);
	assert_queue(w, w->f.b, 0, 0, 0, 1);
	assert_queue(w, QUEUE_ROOT, 2, 0, 0, 3);
}

static void put_back(struct world *w)
{
	ledger_begin_cycle(w->f.l);
	ledger_vacate(w->f.l, w->placed);
	ledger_put_back(w->f.l, w->placed, w->n1);
	ledger_place(w->f.l, w->waits, w->n1);
	ledger_vacate(w->f.l, w->waits);
	ledger_put_back(w->f.l, w->waits, w->n2);
}

static void put_back_as_it_was(const struct world *w)
{
	assert_state(w, w->placed, POD_PLACED, w->n1);
	assert_state(w, w->waits, POD_PLACED, w->n2);
	assert_node(w, w->n1, 3, 1, 0);
	assert_node(w, w->n2, 1, 0, 0);
	assert_queue(w, w->f.x, 2, 0, 0, 1);
	assert_false(ledger_is_new(w->f.l, ledger_pod(w->f.l, w->placed)));
	assert_true(ledger_is_new(w->f.l, ledger_pod(w->f.l, w->waits)));
}

static void evict(struct world *w)
{
	ledger_evict(w->f.l, w->placed);
}

static void evicted(const struct world *w)
{
	assert_state(w, w->placed, POD_LEAVING, w->n1);
	assert_true(ledger_pod(w->f.l, w->placed)->is_evicted);
	assert_node(w, w->n1, 3, 2, 0);
	assert_queue(w, w->f.x, 0, 1, 0, 2);
	assert_queue(w, w->f.a, 1, 1, 0, 2);
	assert_int_equal(spent(w), 1);
}

static void evict_both(struct world *w)
{
	ledger_evict(w->f.l, w->placed);
	ledger_evict(w->f.l, w->second);
	ledger_vacate(w->f.l, w->second);
}

static void evicted_both(const struct world *w)
{
	assert_int_equal(spent(w), 1);
	assert_false(ledger_pod(w->f.l, w->second)->is_evicted);
}

static void unevict(struct world *w)
{
	ledger_evict(w->f.l, w->placed);
	ledger_set_started(w->f.l, w->placed, 7);
	ledger_unevict(w->f.l, w->placed);
}

static void unevicted(const struct world *w)
{
	assert_state(w, w->placed, POD_PLACED, w->n1);
	assert_int_equal(spent(w), 0);
	assert_node(w, w->n1, 3, 1, 0);
	assert_int_equal(ledger_pod(w->f.l, w->placed)->started_ns, 7);
}

static void unevict_foreign(struct world *w)
{
	ledger_unevict(w->f.l, w->goes);
}

static void unevicted_foreign(const struct world *w)
{
	assert_state(w, w->goes, POD_PLACED, w->n1);
	assert_queue(w, w->f.b, 1, 0, 0, 0);
	assert_int_equal(spent(w), 0);
}

static void drop_evicted(struct world *w)
{
	ledger_evict(w->f.l, w->placed);
	ledger_pod_drop(w->f.l, w->placed);
}

static void dropped_evicted(const struct world *w)
{
	assert_int_equal(spent(w), 0);
	assert_int_equal(ledger_pod(w->f.l, w->placed)->state, POD_FREE);
	assert_node(w, w->n1, 2, 1, 0);
}

static void nominate(struct world *w)
{
	ledger_nominate(w->f.l, w->worker, w->n1);
}

static void nominated(const struct world *w)
{
	assert_state(w, w->worker, POD_WAITING, w->n1);
	assert_int_equal(ledger_pod(w->f.l, w->worker)->nomination, NOMINATION_ADVISORY);
	assert_node(w, w->n1, 3, 1, 1);
	assert_queue(w, w->f.x, 1, 0, 1, 2);
	assert_queue(w, QUEUE_ROOT, 2, 1, 1, 2);
	assert_podset(w, 1, 0, 0, 1);
}

static void nominate_twice(struct world *w)
{
	ledger_nominate(w->f.l, w->worker, w->n1);
	ledger_nominate(w->f.l, w->waits, w->n1);
	ledger_reserve(w->f.l, w->n2, w->worker);
}

static void nominated_twice(const struct world *w)
{
	assert_int_equal(ledger_pod(w->f.l, w->worker)->nomination, NOMINATION_RESERVED);
	assert_node(w, w->n1, 3, 1, 1);
	assert_node(w, w->n2, 0, 0, 1);
	assert_queue(w, w->f.x, 1, 0, 2, 2);
	assert_int_equal(ledger_node(w->f.l, w->n1)->nominated.v[0], w->waits);
	assert_podset(w, 1, 0, 0, 1);
}

static void clear_nomination(struct world *w)
{
	ledger_nominate(w->f.l, w->worker, w->n1);
	ledger_nominate(w->f.l, w->waits, w->n1);
	ledger_clear_nomination(w->f.l, w->worker);
	ledger_clear_nomination(w->f.l, w->worker);
}

static void cleared_nomination(const struct world *w)
{
	assert_state(w, w->worker, POD_WAITING, NODE_NONE);
	assert_node(w, w->n1, 3, 1, 1);
	assert_podset(w, 1, 0, 0, 0);
}

static void stamp(struct world *w)
{
	ledger_set_started(w->f.l, w->waits, 5);
	ledger_set_group_started(w->f.l, w->gang, 6);
}

static void stamped(const struct world *w)
{
	assert_int_equal(ledger_pod(w->f.l, w->waits)->started_ns, 5);
	assert_int_equal(ledger_group(w->f.l, w->gang)->started_ns, 6);
}

static const struct story {
	const char *says;
	void (*act)(struct world *w);
	void (*expect)(const struct world *w);
} stories[] = {
	{"a placed pod counts on its node and in every queue above it", place, placed},
	{"a node keeps its pods in order of arrival", place_last, placed_last},
	{"a placed member counts in its podset", place_worker, placed_worker},
	{"placing drops the nomination, wherever it was", place_nominated, placed_nominated},
	{"a vacated pod waits again and the others move up", vacate, vacated},
	{"a leaving pod may be vacated and is then gone from the node", vacate_leaving, vacated_leaving},
	{"who is put back is as new or old as it was", put_back, put_back_as_it_was},
	{"an evicted pod still takes its room, is gone from its queues and spends its budget", evict, evicted},
	{"vacating an evicted pod gives its budget back", evict_both, evicted_both},
	{"an eviction taken back gives the budget back", unevict, unevicted},
	{"a pod that was leaving by itself spends no budget, before or after", unevict_foreign, unevicted_foreign},
	{"dropping an evicted pod gives its budget back", drop_evicted, dropped_evicted},
	{"a nomination holds room on the node and in the queues", nominate, nominated},
	{"a new nomination replaces the older one", nominate_twice, nominated_twice},
	{"a nomination taken back leaves nothing, twice is once", clear_nomination, cleared_nomination},
	{"starts of pods and groups are moves too", stamp, stamped},
};

static void every_move_counts_and_can_be_taken_back(void **state)
{
	for (size_t i = 0; i < COUNT(stories); i++) {
		struct world w;
		world_init(&w);
		uint64_t before = ledger_digest(w.f.l);
		ledger_mark mark = ledger_get_mark(w.f.l);
		stories[i].act(&w);
		stories[i].expect(&w);
		if (ledger_digest(w.f.l) == before)
			fail_msg("%s: nothing changed", stories[i].says);
		ledger_rollback(w.f.l, mark);
		if (ledger_digest(w.f.l) != before)
			fail_msg("%s: the rollback left a trace", stories[i].says);
		stories[i].act(&w);
		ledger_commit(w.f.l);
		assert_int_equal(ledger_get_mark(w.f.l), 0);
		stories[i].expect(&w);
		fix_free(&w.f);
	}
}

static void marks_nest(void **state)
{
	struct world w;
	world_init(&w);
	uint64_t d[3];
	ledger_mark marks[3];
	void (*const acts[])(struct world *) = {place, evict, nominate};
	for (int i = 0; i < 3; i++) {
		d[i] = ledger_digest(w.f.l);
		marks[i] = ledger_get_mark(w.f.l);
		acts[i](&w);
	}
	ledger_rollback(w.f.l, marks[2]);
	assert_int_equal(ledger_digest(w.f.l), d[2]);
	ledger_rollback(w.f.l, marks[0]);
	assert_int_equal(ledger_digest(w.f.l), d[0]);
	fix_free(&w.f);
}

static uint64_t generation(const struct world *w, node_id n)
{
	return ledger_node(w->f.l, n)->generation;
}

static void equal_generation_means_equal_content(void **state)
{
	struct world w;
	world_init(&w);
	uint64_t g1 = generation(&w, w.n1), g2 = generation(&w, w.n2);
	ledger_evict(w.f.l, w.placed);
	uint64_t evicted_once = generation(&w, w.n1);
	assert_true(evicted_once != g1);
	assert_int_equal(generation(&w, w.n2), g2);
	ledger_rollback(w.f.l, 0);
	assert_int_equal(generation(&w, w.n1), g1);
	ledger_nominate(w.f.l, w.waits, w.n1);
	assert_true(generation(&w, w.n1) != g1 && generation(&w, w.n1) != evicted_once);
	uint64_t reserved = generation(&w, w.n1);
	ledger_set_started(w.f.l, w.second, 9);
	assert_true(generation(&w, w.n1) > reserved);
	ledger_set_started(w.f.l, w.worker, 9);
	assert_int_equal(generation(&w, w.n2), g2);
	fix_free(&w.f);
}

static void placed_pods_take_their_usage_and_nominated_ones_their_request(void **state)
{
	struct world w;
	world_init(&w);
	struct fix_amounts request = {100, 1, 0}, usage = {300, 5, 2};
	shape_id shape = fix_shape_of(&w.f, request, usage);
	pod_id p = fix_add(&w.f, fix_pod_object(&w.f, "ns", "resized", "", shape), fix_waiting(w.f.b));
	ledger_nominate(w.f.l, p, w.n2);
	assert_int_equal(ledger_node_reserved(w.f.l, w.n2)[RES_CPU], 100);
	assert_int_equal(ledger_node_reserved(w.f.l, w.n2)[w.f.gpu], 0);
	assert_int_equal(ledger_queue_reserved(w.f.l, w.f.b)[RES_MEMORY], 1);
	ledger_place(w.f.l, p, w.n2);
	assert_int_equal(ledger_node_reserved(w.f.l, w.n2)[RES_CPU], 0);
	assert_int_equal(ledger_node_used(w.f.l, w.n2)[RES_CPU], 300);
	assert_int_equal(ledger_node_used(w.f.l, w.n2)[w.f.gpu], 2);
	ledger_evict(w.f.l, p);
	assert_int_equal(ledger_node_leaving(w.f.l, w.n2)[RES_MEMORY], 5);
	assert_int_equal(ledger_queue_leaving(w.f.l, w.f.b)[w.f.gpu], 1 + 2);
	fix_free(&w.f);
}

static void a_pod_without_a_queue_counts_on_its_node_only(void **state)
{
	struct world w;
	world_init(&w);
	pod_id p = fix_pod(&w.f, "lost", fix_waiting(QUEUE_NONE));
	assert_queue(&w, QUEUE_ROOT, 2, 1, 0, 2);
	ledger_place(w.f.l, p, w.n2);
	ledger_evict(w.f.l, p);
	assert_node(&w, w.n2, 1, 1, 0);
	assert_queue(&w, QUEUE_ROOT, 2, 1, 0, 2);
	fix_free(&w.f);
}

static void queue_lists_hold_what_is_not_finished(void **state)
{
	struct world w;
	world_init(&w);
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(w.f.l, w.f.x, &n);
	assert_int_equal(n, 3);
	assert_int_equal(pods[0], w.waits);
	assert_int_equal(pods[2], w.placed);
	ledger_pod_drop(w.f.l, w.waits);
	pods = ledger_queue_pods(w.f.l, w.f.x, &n);
	assert_int_equal(n, 2);
	assert_int_equal(pods[0], w.placed);
	fix_pod(&w.f, "done", fix_on(w.f.x, POD_FINISHED, NODE_NONE));
	ledger_queue_pods(w.f.l, w.f.x, &n);
	assert_int_equal(n, 2);
	ledger_queue_pods(w.f.l, w.f.a, &n);
	assert_int_equal(n, 0);
	fix_free(&w.f);
}

/* A row of every leaf, as moves may change it. */
static void note_leaves(const struct world *w, int64_t rows[3][4])
{
	const queue_id leaves[] = {w->f.x, w->f.y, w->f.b};

	for (size_t i = 0; i < COUNT(leaves); i++) {
		rows[i][0] = ledger_queue_used(w->f.l, leaves[i])[RES_PODS];
		rows[i][1] = ledger_queue_leaving(w->f.l, leaves[i])[RES_PODS];
		rows[i][2] = ledger_queue_reserved(w->f.l, leaves[i])[RES_PODS];
		rows[i][3] = ledger_queue_waiting(w->f.l, leaves[i]);
	}
}

/* Leaves are all there is in what is told, each once, and none that changed is missing. */
static void check_touched(struct world *w, const char *says, int64_t before[3][4])
{
	const queue_id leaves[] = {w->f.x, w->f.y, w->f.b};
	uint32_t n, all = 0;
	const queue_id *v = ledger_touched_queues(w->f.l, &n);
	int64_t now[3][4];

	note_leaves(w, now);
	for (size_t i = 0; i < COUNT(leaves); i++) {
		uint32_t times = 0;

		for (uint32_t k = 0; k < n; k++)
			times += v[k] == leaves[i];
		if (times > 1 || (!times && memcmp(now[i], before[i], sizeof(now[i])) != 0))
			fail_msg("%s: a queue is told %u times", says, times);
		all += times;
	}
	if (all != n)
		fail_msg("%s: %u are told that are no leaves", says, n - all);
	ledger_touched_queues(w->f.l, &n);
	if (n)
		fail_msg("%s: %u are told again", says, n);
}

static void queues_that_were_touched_are_told_once(void **state)
{
	for (size_t i = 0; i < COUNT(stories); i++) {
		int64_t before[3][4];
		ledger_mark mark;
		struct world w;
		uint32_t n;

		world_init(&w);
		ledger_touched_queues(w.f.l, &n);
		note_leaves(&w, before);
		mark = ledger_get_mark(w.f.l);
		stories[i].act(&w);
		check_touched(&w, stories[i].says, before);
		note_leaves(&w, before);
		ledger_rollback(w.f.l, mark);
		check_touched(&w, stories[i].says, before);
		fix_free(&w.f);
	}
}

static void groups_that_were_touched_are_told_once(void **state)
{
	struct world w;
	uint32_t n;

	world_init(&w);
	ledger_touched_groups(w.f.l, &n);
	ledger_place(w.f.l, w.waits, w.n1);
	ledger_touched_groups(w.f.l, &n);
	assert_int_equal(n, 0);
	ledger_place(w.f.l, w.worker, w.n1);
	ledger_evict(w.f.l, w.worker);
	assert_int_equal(ledger_touched_groups(w.f.l, &n)[0], w.gang);
	assert_int_equal(n, 1);
	ledger_touched_groups(w.f.l, &n);
	assert_int_equal(n, 0);
	ledger_rollback(w.f.l, 0);
	ledger_touched_groups(w.f.l, &n);
	assert_int_equal(n, 1);
	fix_free(&w.f);
}

static void moves_do_not_allocate_once_warm(void **state)
{
	struct world w;
	world_init(&w);
	ledger_check_always(w.f.l, false);
	struct ledger_memory warm = {0};
	for (int i = 0; i < 1000; i++) {
		ledger_nominate(w.f.l, w.waits, w.n1);
		ledger_place(w.f.l, w.waits, w.n2);
		ledger_evict(w.f.l, w.waits);
		if (i % 10 == 9)
			ledger_rollback(w.f.l, 0);
		else
			ledger_vacate(w.f.l, w.waits);
		if (i == 10)
			warm = ledger_memory(w.f.l);
	}
	assert_int_equal(ledger_memory(w.f.l).engine, warm.engine);
	fix_free(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_move_counts_and_can_be_taken_back),
		cmocka_unit_test(marks_nest),
		cmocka_unit_test(equal_generation_means_equal_content),
		cmocka_unit_test(placed_pods_take_their_usage_and_nominated_ones_their_request),
		cmocka_unit_test(a_pod_without_a_queue_counts_on_its_node_only),
		cmocka_unit_test(queue_lists_hold_what_is_not_finished),
		cmocka_unit_test(queues_that_were_touched_are_told_once),
		cmocka_unit_test(groups_that_were_touched_are_told_once),
		cmocka_unit_test(moves_do_not_allocate_once_warm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
