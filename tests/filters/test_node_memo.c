/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "filters/node_memo.h"

static int n_sums;

static void count_pods(const struct cede_cycle *c, const struct ledger_node *n, struct memo_sums *ret)
{
	n_sums++;
	ret->a += n->pods.n;
	ret->b -= n->pods.n;
}

static int64_t ask(const struct node_memo *m, const struct cede_cycle *c, node_id n)
{
	struct memo_sums s = node_memo_ask(m, c, n, count_pods);

	assert_int_equal(s.b, -s.a);
	return s.a;
}

static void KF_2_a_memo_follows_what_is_done_and_taken_back(void **state)
{
	node_id nodes[] = {put_node((struct node_text){.name = "n1"}), put_node((struct node_text){.name = "n2"})};
	pod_id a = put_pod((struct pod_text){.name = "a", .node = "n1"});
	struct cede_cycle *c = cycle_start("NodeName", put_pod((struct pod_text){.name = "p"}));
	ledger_mark mark = ledger_get_mark(f.ledger);
	struct node_memo *m;
	void *self;

	assert_true(node_memo_create(NULL, 0, &self, NULL, 0));
	m = self;
	n_sums = 0;
	assert_null(node_memo_find(m, c, nodes[0]));
	node_memo_refresh(m, c, nodes, 2, count_pods);
	assert_int_equal(n_sums, 2);
	assert_int_equal(ask(m, c, nodes[0]), 1);
	assert_int_equal(ask(m, c, nodes[1]), 0);
	assert_int_equal(n_sums, 2); /* known */
	ledger_vacate(f.ledger, a);
	assert_null(node_memo_find(m, c, nodes[0]));
	assert_int_equal(ask(m, c, nodes[0]), 0);
	assert_int_equal(n_sums, 3);
	ledger_rollback(f.ledger, mark);
	assert_int_equal(ask(m, c, nodes[0]), 1);
	assert_int_equal(n_sums, 3); /* known as it was */
	ledger_vacate(f.ledger, a);
	node_memo_refresh(m, c, nodes, 2, count_pods);
	assert_int_equal(n_sums, 4); /* only what changed */
	ledger_rollback(f.ledger, mark);
	assert_int_equal(ask(m, c, nodes[0]), 1);
	node_memo_destroy(self);
}

static void KF_2_a_memo_grows_with_the_nodes(void **state)
{
	node_id n1 = put_node((struct node_text){.name = "n1"});
	struct cede_cycle *c = cycle_start("NodeName", put_pod((struct pod_text){.name = "p"}));
	void *self;

	assert_true(node_memo_create(NULL, 0, &self, NULL, 0));
	node_memo_refresh(self, c, &n1, 1, count_pods);
	for (int i = 0; i < 40; i++)
		put_node((struct node_text){.name = arena_printf(f.arena, "later%d", i)});
	node_id last = node_of("later39");

	assert_null(node_memo_find(self, c, last));
	assert_int_equal(ask(self, c, last), 0);
	node_memo_refresh(self, c, &last, 1, count_pods);
	assert_non_null(node_memo_find(self, c, last));
	assert_non_null(node_memo_find(self, c, n1));
	node_memo_destroy(self);
}

static void no_memo_is_fine(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"});
	struct cede_cycle *c = cycle_start("NodeName", put_pod((struct pod_text){.name = "p"}));

	node_memo_refresh(NULL, c, &n, 1, count_pods);
	assert_null(node_memo_find(NULL, c, n));
	assert_int_equal(ask(NULL, c, n), 0);
	node_memo_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_2_a_memo_follows_what_is_done_and_taken_back),
		FIXTURE_TEST(KF_2_a_memo_grows_with_the_nodes),
		FIXTURE_TEST(no_memo_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
