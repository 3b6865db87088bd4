/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-check is only worth something if it sees what is broken: each row breaks one thing by hand. And listeners,
 * which are told of everything, so that what they keep cannot drift.
 */
#include "ledger/ledger_fixture.h"
#include "ledger/ledger_internal.h"
#include "rng.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct world {
	struct fix f;
	node_id n1, n2;
	pod_id waits, placed, goes, nominated;
	group_id gang;
	pdb_id pdb;
};

static void world_init(struct world *w)
{
	fix_init(&w->f);
	w->n1 = fix_node(&w->f, "n1");
	w->n2 = fix_node(&w->f, "n2");
	w->gang = fix_group(&w->f, "gang", w->f.x, 2, "");
	w->pdb = fix_pdb(&w->f, "ns", "pdb", "app=p", NULL);
	w->waits = fix_pod(&w->f, "w", fix_of_group(&w->f, fix_waiting(w->f.x), w->gang, 0));
	w->placed = fix_pod(&w->f, "p1", fix_on(w->f.y, POD_PLACED, w->n1));
	w->goes = fix_pod(&w->f, "p2", fix_on(w->f.y, POD_PLACED, w->n1));
	w->nominated = fix_pod(&w->f, "c", fix_waiting(w->f.b));
	ledger_evict(w->f.l, w->goes);
	ledger_nominate(w->f.l, w->nominated, w->n2);
	ledger_commit(w->f.l);
	ledger_check_always(w->f.l, false);
}

static int64_t *cell(struct rows *rows, const struct ledger *l, uint32_t i)
{
	return &row_of(l, rows, i)[RES_CPU];
}

static const struct damage {
	const char *says;
	uint32_t offset, by; /* for the rows: which, and of whom */
	const char *word;    /* of the message */
} damaged_rows[] = {
	{"allocatable of a node", offsetof(struct ledger, allocatable), 0, "node n1: allocatable"},
	{"used of a node", offsetof(struct ledger, node_used), 0, "node n1: used"},
	{"leaving of a node", offsetof(struct ledger, node_leaving), 1, "node n2: leaving"},
	{"reserved of a node", offsetof(struct ledger, node_reserved), 1, "node n2: reserved"},
	{"used of a queue", offsetof(struct ledger, queue_used), 0, "queue root: used"},
	{"leaving of a queue", offsetof(struct ledger, queue_leaving), 1, "queue root.a: leaving"},
	{"reserved of a queue", offsetof(struct ledger, queue_reserved), 4, "queue root.b: reserved"},
};

static void the_check_sees_every_row(void **state)
{
	for (size_t i = 0; i < COUNT(damaged_rows); i++) {
		const struct damage *d = &damaged_rows[i];
		struct world w;
		struct err e;
		world_init(&w);
		assert_int_equal(ledger_check(w.f.l, &e), ERR_OK);
		int64_t *x = cell((struct rows *)((char *)w.f.l + d->offset), w.f.l, d->by);
		*x += 1;
		assert_int_equal(ledger_check(w.f.l, &e), ERR_INTERNAL);
		if (strstr(e.msg, d->word) == NULL)
			fail_msg("%s: %s", d->says, e.msg);
		*x -= 1;
		assert_int_equal(ledger_check(w.f.l, &e), ERR_OK);
		fix_free(&w.f);
	}
}

/* Numbers of the ledger that one more makes wrong. */
static void the_check_sees_every_count(void **state)
{
	struct world w;
	struct err e;
	world_init(&w);
	struct ledger *l = w.f.l;
	struct pod *p = l->pods.v;
	uint32_t *const counts[] = {
		&p[w.placed].node,
		&p[w.placed].node_pos,
		&p[w.nominated].node_pos,
		&p[w.waits].queue_pos,
		&p[w.waits].labelset,
		&p[w.placed].shape,
		&p[w.placed].name,
		&p[w.waits].podset,
		&p[w.waits].group,
		&p[w.waits].node,
		&l->nodes.v[0].pods.n,
		&l->nodes.v[1].nominated.n,
		&l->nodes.v[1].name,
		&l->nodes.v[0].obj->name,
		&l->queues.v[w.f.x].n_waiting,
		&l->queues.v[w.f.x].pods.n,
		&l->queues.v[w.f.x].parent,
		&l->podsets.v[0].n_pods,
		&l->podsets.v[0].n_waiting,
		&l->podsets.v[0].n_placed,
		&l->podsets.v[0].n_leaving,
		&l->podsets.v[0].n_finished,
		&l->podsets.v[0].n_nominated,
		&l->podsets.v[0].group,
		&l->labelsets.v[p[w.placed].labelset].n_pods,
		&l->labelsets.v[p[w.waits].labelset].n_pods,
		(uint32_t *)&l->pdbs.v[0].spent,
		&l->pdb_ns.v[0],
		&l->n_held,
		(uint32_t *)&l->totals[RES_CPU],
		(uint32_t *)&l->capacity[RES_CPU],
	};
	for (size_t i = 0; i < COUNT(counts); i++) {
		assert_int_equal(ledger_check(l, &e), ERR_OK);
		*counts[i] += 1;
		if (ledger_check(l, &e) == ERR_OK)
			fail_msg("damage %zu was not seen", i);
		*counts[i] -= 1;
	}
	fix_free(&w.f);
}

static void the_check_sees_wrong_sets(void **state)
{
	struct world w;
	struct err e;
	world_init(&w);
	struct ledger *l = w.f.l;
	bits_set(&l->evicted, w.placed);
	assert_int_equal(ledger_check(l, &e), ERR_INTERNAL);
	bits_clear(&l->evicted, w.placed);
	l->pods.v[w.goes].is_evicted = false;
	assert_int_equal(ledger_check(l, &e), ERR_INTERNAL);
	l->pods.v[w.goes].is_evicted = true;
	struct labelset_use *k = &l->labelsets.v[l->pods.v[w.placed].labelset];
	k->n_pdbs--;
	assert_int_equal(ledger_check(l, &e), ERR_INTERNAL);
	k->n_pdbs++;
	l->pods.v[w.placed].nomination = NOMINATION_ADVISORY;
	assert_int_equal(ledger_check(l, &e), ERR_INTERNAL);
	l->pods.v[w.placed].nomination = NOMINATION_NONE;
	array_push(&l->pod_ids.free, w.placed);
	assert_int_equal(ledger_check(l, &e), ERR_INTERNAL);
	(void)array_pop(&l->pod_ids.free);
	map_put(&l->group_by_name, 1, 0);
	assert_int_equal(ledger_check(l, &e), ERR_INTERNAL);
	map_del(&l->group_by_name, 1);
	assert_int_equal(ledger_check(l, &e), ERR_OK);
	fix_free(&w.f);
}

static void digests_see_single_fields(void **state)
{
	struct world w;
	world_init(&w);
	struct ledger *l = w.f.l;
	uint64_t clean = ledger_digest(l);
	uint32_t *const fields[] = {
		(uint32_t *)&l->pods.v[0].priority,
		(uint32_t *)&l->pods.v[w.placed].priority,
		(uint32_t *)&l->pods.v[w.placed].started_ns,
		(uint32_t *)&l->pods.v[w.placed].created_ns,
		&l->pods.v[w.placed].node_pos,
		(uint32_t *)&l->pods.v[w.placed].obj->uid.high,
		(uint32_t *)&l->pods.v[w.placed].obj->uid.low,
		(uint32_t *)&l->pods.v[w.placed].obj->deleted_ns,
		(uint32_t *)&l->nodes.v[0].generation,
		&l->nodes.v[0].obj->uid,
		&l->nodes.v[0].pods.v[1],
		&l->queues.v[2].n_waiting,
		(uint32_t *)&l->tree.q.v[1].spec.guaranteed.v[0],
		&l->groups.v[0].queue,
		(uint32_t *)&l->groups.v[0].started_ns,
		&l->podsets.v[0].n_nominated,
		(uint32_t *)&l->pdbs.v[0].spent,
		(uint32_t *)&l->pdbs.v[0].obj->allowed,
		(uint32_t *)cell(&l->node_used, l, 0),
		(uint32_t *)cell(&l->queue_reserved, l, 0),
		(uint32_t *)&l->totals[0],
		(uint32_t *)&l->totals[RES_MAX - 1],
	};
	for (size_t i = 0; i < COUNT(fields); i++) {
		*fields[i] ^= 1;
		if (ledger_digest(l) == clean)
			fail_msg("field %zu leaves no trace", i);
		*fields[i] ^= 1;
	}
	assert_int_equal(ledger_digest(l), clean);
	fix_free(&w.f);
}

static void digests_see_what_was_decided_of_volumes(void **state)
{
	struct world w;

	world_init(&w);
	struct ledger *l = w.f.l;
	struct assumption a = {.pod = w.placed,
			       .ns = labelset_get(l->vocab, ledger_pod(l, w.placed)->labelset)->ns,
			       .claim = ledger_pod(l, w.placed)->name,
			       .volume = ledger_node(l, 0)->name,
			       .node = ledger_node(l, 0)->name};
	uint64_t clean = ledger_digest(l), assumed;

	ledger_assume(l, &a);
	assumed = ledger_digest(l);
	assert_int_not_equal(assumed, clean);
	l->assumptions.v[0].volume = NAME_NONE;
	assert_int_not_equal(ledger_digest(l), assumed);
	l->assumptions.v[0].volume = a.volume;
	l->assumptions.v[0].pod = w.placed + 1;
	assert_int_not_equal(ledger_digest(l), assumed);
	l->assumptions.v[0].pod = w.placed;
	assert_int_equal(ledger_digest(l), assumed);
	ledger_rollback(l, 0);
	assert_int_equal(ledger_digest(l), clean);
	fix_free(&w.f);
}

static void a_long_journal_gives_its_memory_back(void **state)
{
	enum { MOVES = 100000, KEPT = 65536 };
	struct world w;
	world_init(&w);
	struct ledger *l = w.f.l;
	for (int i = 0; i < MOVES; i++)
		ledger_set_started(l, w.placed, i);
	assert_true(l->journal.cap >= MOVES);
	ledger_commit(l);
	assert_int_equal(l->journal.cap, KEPT);
	fix_free(&w.f);
}

/* ---- listeners ---- */

#define NODES 4
#define LOG 64

struct counter { /* what a plugin might keep: per node, who is there and what they ask, and who of them leaves */
	int n_pods[NODES], n_leaving[NODES];
	int64_t cpu[NODES];
	bool is_live[NODES];
	char log[LOG]; /* a letter for each call */
	uint32_t n_calls;
};

static void note(struct counter *c, char what)
{
	c->log[c->n_calls++ % LOG] = what;
}

static int64_t cpu_of(const struct ledger *l, pod_id pod)
{
	return res_list_get(&shape_get(ledger_vocab(l), ledger_pod(l, pod)->shape)->usage, RES_CPU);
}

static void on_add(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	struct counter *c = ctx;
	c->n_pods[node]++;
	c->cpu[node] += cpu_of(l, pod);
	note(c, '+');
}

static void on_remove(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	struct counter *c = ctx;
	c->n_pods[node]--;
	c->cpu[node] -= cpu_of(l, pod);
	note(c, '-');
}

static void on_leaving(void *ctx, const struct ledger *l, pod_id pod, bool leaving)
{
	struct counter *c = ctx;
	c->n_leaving[ledger_pod(l, pod)->node] += leaving ? 1 : -1;
	note(c, leaving ? 'l' : 's');
}

static void on_hold(void *ctx, const struct ledger *l, pod_id pod, node_id node, bool holds)
{
	assert_int_equal(ledger_next_wary(l, pod) == pod, holds);
	assert_int_equal(ledger_pod(l, pod)->node, holds ? node : NODE_NONE);
	note(ctx, holds ? 'h' : 'r');
}

static void on_node(void *ctx, const struct ledger *l, node_id node)
{
	struct counter *c = ctx;
	c->is_live[node] = ledger_node(l, node)->is_live;
	note(c, 'n');
}

static enum err_code check(void *ctx, const struct ledger *l, struct err *e)
{
	const struct counter *c = ctx;
	for (node_id n = 0; n < NODES; n++) {
		int n_pods = 0, n_leaving = 0;
		int64_t cpu = 0;
		for (pod_id p = 0; p < ledger_pod_limit(l); p++) {
			const struct pod *pod = ledger_pod(l, p);
			bool is_here = pod->node == n && (pod->state == POD_PLACED || pod->state == POD_LEAVING);
			n_pods += is_here;
			n_leaving += is_here && pod->state == POD_LEAVING;
			cpu += is_here ? cpu_of(l, p) : 0;
		}
		bool is_live = n < ledger_node_limit(l) && ledger_node(l, n)->is_live;
		if (n_pods != c->n_pods[n] || n_leaving != c->n_leaving[n] || cpu != c->cpu[n] ||
		    is_live != c->is_live[n])
			return err_fail(e, ERR_INTERNAL, "counter: node %u: kept %d and %d, counted %d and %d", n,
					c->n_pods[n], c->n_leaving[n], n_pods, n_leaving);
	}
	return ERR_OK;
}

static struct ledger_listener listener_of(struct counter *c)
{
	return (struct ledger_listener){.ctx = c,
					.on_add = on_add,
					.on_remove = on_remove,
					.on_leaving = on_leaving,
					.on_hold = on_hold,
					.on_node = on_node,
					.check = check};
}

static void random_move(struct world *w, struct rng *r)
{
	pod_id id = rng_below(r, ledger_pod_limit(w->f.l));
	node_id node = rng_below(r, 2) ? w->n1 : w->n2;
	const struct pod *p = ledger_pod(w->f.l, id);
	bool is_on_node = p->state == POD_PLACED || p->state == POD_LEAVING;
	switch (rng_below(r, 6)) {
	case 0:
		if (p->state == POD_WAITING)
			ledger_place(w->f.l, id, node);
		break;
	case 1:
		if (p->state == POD_PLACED)
			ledger_evict(w->f.l, id);
		break;
	case 2:
		if (p->state == POD_LEAVING)
			ledger_unevict(w->f.l, id);
		break;
	case 3:
		if (is_on_node)
			ledger_vacate(w->f.l, id);
		break;
	case 4: {
		struct obj_pod o = fix_pod_object(&w->f, "ns", name_str(w->f.names, p->name), "new=1",
						  fix_shape(&w->f, 1 + rng_below(r, 5), 1, 0));
		struct pod_entry entry = fix_on(w->f.y, rng_below(r, 2) ? POD_PLACED : POD_LEAVING, node);
		assert_int_equal(ledger_pod_set(w->f.l, id, &o, &entry, NULL), ERR_OK);
		break;
	}
	default: {
		struct obj_node o = fix_node_object(&w->f, node == w->n1 ? "n1" : "n2", 1 + rng_below(r, 9), 1, 1);
		ledger_node_set(w->f.l, node, &o);
		break;
	}
	}
}

static void KF_2_a_listener_that_counts_never_drifts(void **state)
{
	struct world w;
	struct counter c = {.is_live = {true, true}};
	struct rng r = {4};
	struct err e;
	world_init(&w);
	struct ledger_listener listener = listener_of(&c);
	ledger_listen(w.f.l, &listener);
	assert_int_equal(c.n_leaving[0], 1);
	ledger_check_always(w.f.l, true);
	for (int i = 0; i < 2000; i++) {
		struct counter before = c;
		ledger_mark mark = ledger_get_mark(w.f.l);
		for (uint32_t n = rng_below(&r, 6); n > 0; n--)
			random_move(&w, &r);
		if (rng_below(&r, 3) > 0) {
			ledger_rollback(w.f.l, mark);
			assert_memory_equal(c.n_pods, before.n_pods, sizeof(c.n_pods));
			assert_memory_equal(c.n_leaving, before.n_leaving, sizeof(c.n_leaving));
			assert_memory_equal(c.cpu, before.cpu, sizeof(c.cpu));
		} else if (rng_below(&r, 4) == 0) {
			ledger_commit(w.f.l);
		}
	}
	c.n_pods[1]++;
	assert_int_equal(ledger_check(w.f.l, &e), ERR_INTERNAL);
	c.n_pods[1]--;
	ledger_unlisten(w.f.l, &c);
	uint32_t n_calls = c.n_calls;
	random_move(&w, &r);
	assert_int_equal(c.n_calls, n_calls);
	fix_free(&w.f);
}

static const struct told {
	const char *says;
	enum pod_state from, to;
	const char *calls, *back;
} told[] = {
	{"a placed pod goes", POD_PLACED, POD_FREE, "-", "+"},
	{"a leaving pod goes: it stays first, then goes", POD_LEAVING, POD_FREE, "s-", "+l"},
	{"a leaving pod comes: it comes first, then leaves", POD_WAITING, POD_LEAVING, "+l", "s-"},
	{"a waiting pod that changes is nobody's business", POD_WAITING, POD_WAITING, "", ""},
	{"a placed pod that changes goes and comes", POD_PLACED, POD_PLACED, "-+", "-+"},
	{"a pod that finishes goes", POD_PLACED, POD_FINISHED, "-", "+"},
	{"a leaving pod is placed again", POD_LEAVING, POD_PLACED, "s-+", "-+l"},
};

static void listeners_hear_each_step(void **state)
{
	for (size_t i = 0; i < COUNT(told); i++) {
		struct fix f;
		fix_init(&f);
		struct counter c = {.is_live = {true}};
		struct ledger_listener listener = listener_of(&c);
		node_id n = fix_node(&f, "n");
		pod_id p = fix_pod(&f, "p", fix_on(f.x, told[i].from, n));
		ledger_commit(f.l);
		ledger_listen(f.l, &listener);
		memset(c.log, 0, sizeof(c.log));
		c.n_calls = 0;
		if (told[i].to == POD_FREE) {
			ledger_pod_drop(f.l, p);
		} else {
			struct obj_pod o = fix_pod_object(&f, "ns", "p", "", fix_shape(&f, 7, 7, 7));
			struct pod_entry entry = fix_on(f.y, told[i].to, n);
			assert_int_equal(ledger_pod_set(f.l, p, &o, &entry, NULL), ERR_OK);
		}
		if (strcmp(c.log, told[i].calls) != 0)
			fail_msg("%s: '%s' instead of '%s'", told[i].says, c.log, told[i].calls);
		memset(c.log, 0, sizeof(c.log));
		c.n_calls = 0;
		ledger_rollback(f.l, 0);
		if (strcmp(c.log, told[i].back) != 0)
			fail_msg("%s, undone: '%s' instead of '%s'", told[i].says, c.log, told[i].back);
		fix_free(&f);
	}
}

static shape_id spread_shape(struct fix *f)
{
	struct name_bag bag = name_bag_of(f->names);
	struct spread spread = {.max_skew = 1, .is_hard = true, .topology_key = name_bag_add_str(&bag, "zone")};
	struct shape draft = {.n_spreads = 1, .spreads = &spread};
	shape_id id = shape_hold(f->v, &draft);
	name_bag_drop(&bag);
	return id;
}

static void expect_calls(struct counter *c, const char *says, const char *calls)
{
	if (strcmp(c->log, calls) != 0)
		fail_msg("%s: '%s' instead of '%s'", says, c->log, calls);
	memset(c->log, 0, sizeof(c->log));
	c->n_calls = 0;
}

static void listeners_hear_of_reserved_room_that_minds_who_comes(void **state)
{
	struct fix f;
	fix_init(&f);
	struct counter c = {.is_live = {true}};
	struct ledger_listener listener = listener_of(&c);
	node_id n = fix_node(&f, "n");
	pod_id plain = fix_pod(&f, "plain", fix_on(f.x, POD_WAITING, NODE_NONE));
	pod_id wary = fix_add(&f, fix_pod_object(&f, "ns", "wary", "", spread_shape(&f)),
			      fix_on(f.x, POD_WAITING, NODE_NONE));
	ledger_commit(f.l);
	ledger_listen(f.l, &listener);
	ledger_reserve(f.l, n, plain);
	ledger_nominate(f.l, wary, n);
	expect_calls(&c, "others hold room too", "");
	ledger_commit(f.l);
	ledger_reserve(f.l, n, wary);
	expect_calls(&c, "it holds room", "h");
	ledger_rollback(f.l, 0);
	expect_calls(&c, "it never did", "r");
	ledger_reserve(f.l, n, wary);
	ledger_commit(f.l);
	expect_calls(&c, "it does again", "h");
	ledger_place(f.l, wary, n);
	expect_calls(&c, "it comes", "r+");
	ledger_rollback(f.l, 0);
	expect_calls(&c, "it did not come", "-h");
	fix_free(&f);
}

static char order[16];

static void on_add_in_order(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	order[strlen(order)] = *(char *)ctx;
	assert_int_equal(ledger_pod(l, pod)->node, node);
}

static void on_remove_in_order(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	order[strlen(order)] = *(char *)ctx;
	assert_int_equal(ledger_pod(l, pod)->state, POD_WAITING);
}

static void listeners_are_told_in_order_and_undone_in_reverse(void **state)
{
	struct world w;
	char names[] = "abc";
	world_init(&w);
	memset(order, 0, sizeof(order));
	for (int i = 0; i < 3; i++) {
		struct ledger_listener listener = {
			.ctx = &names[i], .on_add = on_add_in_order, .on_remove = on_remove_in_order};
		ledger_listen(w.f.l, &listener);
	}
	assert_string_equal(order, "aabbcc");
	memset(order, 0, sizeof(order));
	ledger_place(w.f.l, w.waits, w.n2);
	ledger_rollback(w.f.l, 0);
	ledger_vacate(w.f.l, w.placed);
	ledger_rollback(w.f.l, 0);
	assert_string_equal(order, "abccbaabccba");
	fix_free(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_check_sees_every_row),
		cmocka_unit_test(the_check_sees_every_count),
		cmocka_unit_test(the_check_sees_wrong_sets),
		cmocka_unit_test(digests_see_single_fields),
		cmocka_unit_test(digests_see_what_was_decided_of_volumes),
		cmocka_unit_test(a_long_journal_gives_its_memory_back),
		cmocka_unit_test(KF_2_a_listener_that_counts_never_drifts),
		cmocka_unit_test(listeners_hear_each_step),
		cmocka_unit_test(listeners_hear_of_reserved_room_that_minds_who_comes),
		cmocka_unit_test(listeners_are_told_in_order_and_undone_in_reverse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
