/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static const struct weighted_resource with_gpu[] = {{"cpu", 1}, {"memory", 1}, {"nvidia.com/gpu", 1}};

struct row {
	const char *says;
	bool with_gpu;
	const char *has, *used, *asks, *scores;
};

static const struct row rows[] = {
	{"a pod that asks for nothing has no scores", false, "cpu=4 memory=10k", NULL, NULL, "SKIP"},
	{"nor one that asks for zero", false, "cpu=4 memory=10k", NULL, "cpu=0 memory=0", "SKIP"},
	{"nor one that asks for other things", false, "cpu=4 memory=10k nvidia.com/gpu=8", NULL, "nvidia.com/gpu=1",
	 "SKIP"},
	{"balanced before and after", false, "cpu=4 memory=10k", NULL, "cpu=2 memory=5k", "n=75"},
	{"balance gets worse: 75% and 50% where nothing was used", false, "cpu=4 memory=10k", NULL, "cpu=3 memory=5k",
	 "n=68"},
	{"balance gets better: 50% and 30% become 60% and 60%", false, "cpu=10 memory=10k", "cpu=5 memory=3k",
	 "cpu=1 memory=3k", "n=80"},
	{"as bad as can be", false, "cpu=4 memory=10k", NULL, "cpu=4", "n=50"},
	{"as good as can be", false, "cpu=4 memory=10k", "cpu=4", "memory=10k", "n=100"},
	{"more than there is counts as all", false, "cpu=4 memory=10k", "cpu=9", "memory=10k", "n=100"},
	{"defaults do not count here", false, "cpu=1 memory=1000Mi", "cpu=0", "cpu=500m", "n=62"},
	{"a type the node does not have is left out", false, "cpu=4", NULL, "cpu=3", "n=75"},
	{"three types: the standard deviation", true, "cpu=3500m memory=40k nvidia.com/gpu=8",
	 "cpu=3 memory=5k nvidia.com/gpu=3", "nvidia.com/gpu=1", "n=75"},
	{"three types: less even", true, "cpu=3500m memory=40k nvidia.com/gpu=8", "cpu=3 memory=5k", "nvidia.com/gpu=1",
	 "n=76"},
	{"devices the pod does not ask for are left out", true, "cpu=4 memory=10k nvidia.com/gpu=8", "nvidia.com/gpu=8",
	 "cpu=2 memory=5k", "n=75"},
};

static pod_id put_row(const struct row *r)
{
	if (r->with_gpu) {
		f.args.balanced_resources = with_gpu;
		f.args.n_balanced_resources = COUNT(with_gpu);
	}
	put_node((struct node_text){.name = "n", .has = r->has});
	if (r->used)
		put_pod((struct pod_text){.name = "there", .node = "n", .asks = r->used});
	return put_pod((struct pod_text){.name = "p", .asks = r->asks});
}

static void KF_4_balanced_allocation(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		expect_text(rows[i].says, scores_text("NodeResourcesBalancedAllocation", put_row(&rows[i]), "n"),
			    rows[i].scores);
	}
}

static void KF_4_balance_is_alike_without_pre_score(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		struct cede_cycle *c = cycle_start("NodeResourcesBalancedAllocation", put_row(&rows[i]));
		long long got = (long long)balanced_allocation_plugin.score(NULL, c, node_of("n"));

		expect_text(rows[i].says, arena_printf(f.arena, "n=%lld", got),
			    str_eq(rows[i].scores, "SKIP") ? "n=0" : rows[i].scores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_balanced_allocation),
		FIXTURE_TEST(KF_4_balance_is_alike_without_pre_score),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
