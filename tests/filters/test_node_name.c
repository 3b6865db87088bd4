/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

/* A pod that names a node and waits nevertheless. */
static pod_id waiting_for(const char *node)
{
	pod_id p = put_pod((struct pod_text){.name = "p", .node = node});

	if (node)
		ledger_vacate(f.ledger, p);
	return p;
}

static void KF_4_node_name_filter(void **state)
{
	static const struct {
		const char *says, *wants, *filter, *pre_filter;
	} rows[] = {
		{"a pod that names no node may run anywhere", NULL, "SUCCESS", "SKIP"},
		{"it may run on the node it names", "n1", "SUCCESS", "SUCCESS"},
		{"and on no other", "n2", "UNRESOLVABLE node(s) didn't match the requested node name", "SUCCESS"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n1"});
		put_node((struct node_text){.name = "n2"});
		pod_id p = waiting_for(rows[i].wants);

		expect_text(rows[i].says, pre_filter_text("NodeName", p), rows[i].pre_filter);
		expect_text(rows[i].says, filter_text("NodeName", p, "n1"), rows[i].filter);
	}
}

static void KF_4_node_name_leaves_one_node_to_look_at(void **state)
{
	node_id n1 = put_node((struct node_text){.name = "n1"}), n2 = put_node((struct node_text){.name = "n2"});
	struct cede_cycle *c = cycle_start("NodeName", waiting_for("n2"));

	assert_true(c->has_node_set);
	assert_false(bits_has(&c->node_set, n1));
	assert_true(bits_has(&c->node_set, n2));
}

static void KF_4_node_name_of_no_node_leaves_none(void **state)
{
	put_node((struct node_text){.name = "n1"});
	struct cede_cycle *c = cycle_start("NodeName", waiting_for("gone"));

	assert_true(c->has_node_set);
	assert_int_equal(bits_count(&c->node_set), 0);
}

/* Static answers are kept by shape; the name of a node is not in it. */
static void KF_4_pods_of_one_shape_may_name_different_nodes(void **state)
{
	put_node((struct node_text){.name = "n1", .has = "cpu=1 pods=9"});
	put_node((struct node_text){.name = "n2", .has = "cpu=1 pods=9"});
	pod_id named = put_pod((struct pod_text){.name = "p", .node = "n2", .asks = "cpu=2"});
	pod_id free = put_pod((struct pod_text){.name = "q", .asks = "cpu=2"});
	struct status s;

	ledger_vacate(f.ledger, named);
	assert_int_equal(ledger_pod(f.ledger, named)->shape, ledger_pod(f.ledger, free)->shape);
	cycle_start(NULL, named);
	s = cycle_filter(&f.cycle, node_of("n1"));
	expect_text("outside", status_of(&s), "UNRESOLVABLE node(s) didn't satisfy plugin(s) [NodeName]");
	cycle_end(&f.cycle);
	cycle_begin(&f.cycle, f.framework, f.arena, free, 0);
	s = cycle_filter(&f.cycle, node_of("n1"));
	expect_text("looked at", status_of(&s), "UNRESOLVABLE Insufficient cpu");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_node_name_filter),
		FIXTURE_TEST(KF_4_node_name_leaves_one_node_to_look_at),
		FIXTURE_TEST(KF_4_node_name_of_no_node_leaves_none),
		FIXTURE_TEST(KF_4_pods_of_one_shape_may_name_different_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
