/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of nodes (node_rows.h) against the plainest way to make them: every placed pod has one, in the order of
 * priority and id, and two have the same kind if and only if rules could not tell their pods apart. On random clusters
 * that change, with few priorities and with more than have a number each.
 */
#include "engine/engine_fixture.h"
#include "engine/node_rows.h"
#include "rng.h"

enum { NODES = 6, PODS = 90, ROUNDS = 60 };

static uint32_t most_priorities; /* of a cluster: as few as have a number each, or more */

static void put_random_pod(struct rng *r, uint32_t i)
{
	static const char *const spaces[] = {"default", "a", "b"};
	static const char *const labels[] = {NULL, "app=a", "app=b", "app=a x=1"};
	static const char *const groups[] = {"g0", "g1", "whole"};
	struct shape shape = {.scheduler_name = rng_below(r, 4) ? NAME_NONE : name_of("other")};
	struct pod_text t = {.name = arena_printf(f.arena, "p%02u", i),
			     .ns = spaces[rng_below(r, 3)],
			     .node = rng_below(r, 9) ? arena_printf(f.arena, "n%u", rng_below(r, NODES)) : NULL,
			     .labels = labels[rng_below(r, 4)],
			     .asks = rng_below(r, 2) ? "cpu=1" : "cpu=2",
			     .priority = (int32_t)rng_below(r, rng_below(r, 3) ? 3 : most_priorities) - 2,
			     .started_s = rng_below(r, 2) ? 1 + rng_below(r, 50) : 0,
			     .started_ns = rng_below(r, 4) ? 0 : 1 + rng_below(r, 1000),
			     .checkpointed_s = rng_below(r, 5) ? 0 : 1 + rng_below(r, 50),
			     .is_leaving = !rng_below(r, 12),
			     .shape = &shape};

	if (!rng_below(r, 20))
		t.started_s = INT64_C(5000000000); /* beyond what a row has room for */
	if (!rng_below(r, 6) && str_eq(t.ns, "default"))
		t.k8s_group = groups[rng_below(r, 3)];
	if (!rng_below(r, 8))
		t.priority_class = rng_below(r, 2) ? "low" : "never";
	put_pod(t);
}

static void put_random_cluster(struct rng *r)
{
	put_cluster("class low 1; class never 1 never; group g0 min=2; group g1; group whole all;"
		    "node n0 cpu=99; node n1 cpu=99; node n2 cpu=99; node n3 cpu=99; node n4 cpu=99; node n5 cpu=99;"
		    "pdb one app=a 1");
	for (uint32_t i = 0; i < PODS; i++)
		put_random_pod(r, i);
}

/* ---- the plain way ---- */

static bool is_lone(const struct ledger *l, const struct pod *p)
{
	return pod_is_lone(l, p) && p->preemptibility != SEMI_PREEMPTIBLE &&
	       !ledger_group(l, p->group)->obj->goes_whole;
}

static bool is_budgeted(const struct ledger *l, const struct pod *p)
{
	uint32_t n = 0;

	ledger_labelset_pdbs(l, p->labelset, &n);
	return n > 0;
}

static int32_t counts_with(const struct ledger *l, const struct pod *p);

static bool are_one_kind(const struct ledger *l, const struct pod *p, const struct pod *q)
{
	const struct vocab *v = ledger_vocab(l);
	bool has_group = p->group != GROUP_NONE && !is_lone(l, p), other = q->group != GROUP_NONE && !is_lone(l, q);
	name_id class = p->has_class ? p->obj->priority_class : NAME_NONE;
	name_id other_class = q->has_class ? q->obj->priority_class : NAME_NONE;

	return p->queue == q->queue && p->priority == q->priority && has_group == other &&
	       counts_with(l, p) == counts_with(l, q) &&
	       (!has_group || (p->group == q->group && p->podset == q->podset)) && class == other_class &&
	       labelset_get(v, p->labelset)->ns == labelset_get(v, q->labelset)->ns &&
	       shape_get(v, p->shape)->scheduler_name == shape_get(v, q->shape)->scheduler_name &&
	       is_budgeted(l, p) == is_budgeted(l, q) && (!is_budgeted(l, p) || p->labelset == q->labelset) &&
	       p->preemptibility == q->preemptibility && p->allows_preemption == q->allows_preemption &&
	       p->is_daemon == q->is_daemon;
}

/* What it counts with: the lowest of its group's pods on the node. */
static int32_t counts_with(const struct ledger *l, const struct pod *p)
{
	const struct ledger_node *n = ledger_node(l, p->node);
	int32_t lowest = p->priority;

	for (uint32_t i = 0; p->group != GROUP_NONE && i < n->pods.n; i++) {
		const struct pod *q = ledger_pod(l, n->pods.v[i]);

		if (q->group == p->group && q->priority < lowest)
			lowest = q->priority;
	}
	return lowest;
}

static void check_row(const struct node_rows *r, const struct ledger *l, const struct ledger_node *n,
		      const struct pod_row *row)
{
	const struct pod *p = ledger_pod(l, row->pod);

	assert_int_equal(p->state, POD_PLACED);
	assert_true(ledger_node(l, p->node) == n);
	assert_int_equal(row_priority(r, row), counts_with(l, p));
	assert_int_equal(row->shape, p->shape);
	assert_true(row_started(l, row) == p->started_ns && row_since(l, row) == pod_since(p));
	assert_true(row_is_placed_in(l, row, 1) == (p->placed_in == 1));
}

static uint32_t count_placed(const struct ledger *l, const struct ledger_node *n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n->pods.n; i++)
		count += ledger_pod(l, n->pods.v[i])->state == POD_PLACED &&
			 ledger_pod(l, n->pods.v[i])->queue != QUEUE_NONE;
	return count;
}

static void check_node(struct node_rows *r, const struct ledger *l, node_id node)
{
	const struct ledger_node *n = ledger_node(l, node);
	const struct pod_rows *rows = node_rows_of(r, l, node);

	assert_int_equal(rows->n, count_placed(l, n));
	for (uint32_t i = 0; i < rows->n; i++) {
		check_row(r, l, n, &rows->v[i]);
		if (i > 0)
			assert_true(row_priority(r, &rows->v[i - 1]) < row_priority(r, &rows->v[i]) ||
				    (row_priority(r, &rows->v[i - 1]) == row_priority(r, &rows->v[i]) &&
				     rows->v[i - 1].pod < rows->v[i].pod));
	}
}

/* How many pairs of pods there are of one kind. */
static uint32_t check_kinds(struct node_rows *r, const struct ledger *l)
{
	uint32_t n_pairs = 0;

	for (node_id a = 0; a < NODES; a++)
		for (node_id b = 0; b <= a; b++) {
			const struct pod_rows *x = node_rows_of(r, l, a), *y = node_rows_of(r, l, b);

			for (uint32_t i = 0; i < x->n; i++)
				for (uint32_t k = 0; k < (a == b ? i : y->n); k++) {
					bool is_one = x->v[i].kind == y->v[k].kind;

					assert_int_equal(is_one, are_one_kind(l, ledger_pod(l, x->v[i].pod),
									      ledger_pod(l, y->v[k].pod)));
					n_pairs += is_one;
				}
		}
	return n_pairs;
}

static void rows_are_what_the_plain_way_makes(void **state)
{
	uint32_t n_pairs = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		const struct ledger *l = cluster_ledger(f.cluster);
		struct node_rows *rows = mem_alloc(sizeof(*rows));
		struct rng r = {seed};

		most_priorities = seed % 2 ? RANKS - 2 : 3 * RANKS;
		put_random_cluster(&r);
		for (int change = 0; change < 4; change++) { /* pods go elsewhere, and come as others */
			node_rows_begin(rows, l);
			if (change == 2)
				node_rows_forget_all(rows);
			for (node_id i = 0; i < NODES; i++) {
				node_rows_forget(rows, i); /* who is alone in its group may have changed */
				check_node(rows, l, i);
			}
			n_pairs += check_kinds(rows, l);
			for (int i = 0; i < 12; i++)
				put_random_pod(&r, rng_below(&r, PODS));
		}
		node_rows_free(rows);
		mem_free(rows);
		engine_reset();
	}
	assert_true(n_pairs > 10000); /* else it proves nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {ENGINE_TEST(rows_are_what_the_plain_way_makes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
