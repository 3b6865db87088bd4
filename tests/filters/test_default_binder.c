/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void KF_1_binding_is_agreed_to(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"});
	struct cede_cycle *c = cycle_start("NodeName", put_pod((struct pod_text){.name = "p"}));
	uint64_t before = ledger_digest(f.ledger);
	struct status s;

	assert_true(cycle_bind(c, n, &s));
	expect_text("the default binder refuses nothing", status_of(&s), "SUCCESS");
	assert_int_equal(ledger_digest(f.ledger), before); /* and leaves the act to others */
}

int main(void)
{
	const struct CMUnitTest tests[] = {FIXTURE_TEST(KF_1_binding_is_agreed_to)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
