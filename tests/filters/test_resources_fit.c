/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

struct row {
	const char *says, *asks, *used, *filter;
};

#define NODE "cpu=10m memory=20 ephemeral-storage=20 pods=3 example.com/a=5 hugepages-2Mi=5"

/* On a node as below, with one pod that uses what the row says. */
static const struct row rows[] = {
	{"a pod that asks for nothing fits a full node", NULL, "cpu=10m memory=20", "SUCCESS"},
	{"what is free is enough", "cpu=5m memory=15", "cpu=5m memory=5", "SUCCESS"},
	{"one too many is not", "cpu=6m memory=15", "cpu=5m memory=5", "UNSCHEDULABLE Insufficient cpu"},
	{"each type stands for itself", "cpu=5m memory=16", "cpu=5m memory=5", "UNSCHEDULABLE Insufficient memory"},
	{"all that lacks is listed", "cpu=1m memory=1", "cpu=10m memory=20",
	 "UNSCHEDULABLE Insufficient cpu, Insufficient memory"},
	{"what the empty node could not hold cannot be freed", "cpu=11m", "cpu=0", "UNRESOLVABLE Insufficient cpu"},
	{"and one such type decides for all", "cpu=11m memory=1", "memory=20",
	 "UNRESOLVABLE Insufficient cpu, Insufficient memory"},
	{"all of the node could be freed", "cpu=10m", "cpu=1m", "UNSCHEDULABLE Insufficient cpu"},
	{"asking for none of a type always fits", "cpu=0 memory=1", "cpu=12m", "SUCCESS"},
	{"asking for some of it does not", "cpu=1m", "cpu=12m", "UNSCHEDULABLE Insufficient cpu"},
	{"storage counts", "ephemeral-storage=11", "ephemeral-storage=10",
	 "UNSCHEDULABLE Insufficient ephemeral-storage"},
	{"devices count", "example.com/a=1", "example.com/a=5", "UNSCHEDULABLE Insufficient example.com/a"},
	{"more devices than the node has", "example.com/a=6", "", "UNRESOLVABLE Insufficient example.com/a"},
	{"devices the node does not have", "example.com/b=1", "", "UNRESOLVABLE Insufficient example.com/b"},
	{"huge pages count", "hugepages-2Mi=4", "hugepages-2Mi=2", "UNSCHEDULABLE Insufficient hugepages-2Mi"},
	{"devices are listed last and by name", "hugepages-2Mi=6 example.com/z=1 example.com/a=6 memory=21 cpu=11m", "",
	 "UNRESOLVABLE Insufficient cpu, Insufficient memory, Insufficient example.com/a, Insufficient example.com/z, "
	 "Insufficient "
	 "hugepages-2Mi"},
};

static void KF_4_resources_fit(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n", .has = NODE});
		put_pod((struct pod_text){.name = "there", .node = "n", .asks = rows[i].used});
		pod_id p = put_pod((struct pod_text){.name = "p", .asks = rows[i].asks});

		expect_text(rows[i].says, pre_filter_text("NodeResourcesFit", p), "SUCCESS");
		expect_text(rows[i].says, filter_text("NodeResourcesFit", p, "n"), rows[i].filter);
	}
}

static void KF_4_filter_answers_alike_without_its_pre_filter(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cede_verdict with, without;
		struct cede_cycle *c;

		fixture_reset();
		node_id n = put_node((struct node_text){.name = "n", .has = NODE});
		put_pod((struct pod_text){.name = "there", .node = "n", .asks = rows[i].used});
		c = cycle_start("NodeResourcesFit", put_pod((struct pod_text){.name = "p", .asks = rows[i].asks}));
		with = resources_fit_plugin.filter(NULL, c, n);
		cede_set_state(c, &resources_fit_plugin, NULL);
		without = resources_fit_plugin.filter(NULL, c, n);
		assert_int_equal(with.code, without.code);
		assert_int_equal(with.detail, without.detail);
	}
}

static void KF_4_pods_are_counted(void **state)
{
	put_node((struct node_text){.name = "n", .has = "cpu=1 memory=1 pods=1"});
	pod_id p = put_pod((struct pod_text){.name = "p"}),
	       q = put_pod((struct pod_text){.name = "q", .asks = "cpu=2 memory=1"});

	expect_text("one fits", filter_text("NodeResourcesFit", p, "n"), "SUCCESS");
	put_pod((struct pod_text){.name = "there", .node = "n", .asks = "memory=1"});
	expect_text("a second does not", filter_text("NodeResourcesFit", p, "n"), "UNSCHEDULABLE Too many pods");
	expect_text("it comes first in the list", filter_text("NodeResourcesFit", q, "n"),
		    "UNRESOLVABLE Too many pods, Insufficient cpu, Insufficient memory");
}

static void KF_4_a_node_that_states_no_pods_takes_none(void **state)
{
	put_node((struct node_text){.name = "n", .has = "cpu=1"});
	expect_text("", filter_text("NodeResourcesFit", put_pod((struct pod_text){.name = "p"}), "n"),
		    "UNSCHEDULABLE Too many pods");
}

static void KF_4_ignored_resources(void **state)
{
	static const char *const names[] = {"example.com/a", "hugepages-2Mi", "cpu"}, *const groups[] = {
											      "example.com",
											      "kubernetes.io"};
	static const struct {
		const char *says;
		uint32_t n_names, n_groups;
		const char *asks, *filter;
	} ignored[] = {
		{"nothing is ignored", 0, 0, "example.com/a=1", "UNRESOLVABLE Insufficient example.com/a"},
		{"an ignored name", 3, 0, "example.com/a=1", "SUCCESS"},
		{"another name of the group", 3, 0, "example.com/b=1", "UNRESOLVABLE Insufficient example.com/b"},
		{"an ignored group", 0, 2, "example.com/b=1", "SUCCESS"},
		{"a group is a whole prefix", 0, 2, "example.community/b=1",
		 "UNRESOLVABLE Insufficient example.community/b"},
		{"and a prefix a whole group", 0, 2, "example.co/b=1", "UNRESOLVABLE Insufficient example.co/b"},
		{"only extended resources can be ignored", 3, 2, "cpu=2 hugepages-2Mi=1",
		 "UNRESOLVABLE Insufficient cpu, Insufficient hugepages-2Mi"},
		{"and Kubernetes' own are none", 3, 2, "kubernetes.io/x=1",
		 "UNRESOLVABLE Insufficient kubernetes.io/x"},
	};

	for (size_t i = 0; i < COUNT(ignored); i++) {
		fixture_reset();
		f.args.ignored_resources = names;
		f.args.n_ignored_resources = ignored[i].n_names;
		f.args.ignored_groups = groups;
		f.args.n_ignored_groups = ignored[i].n_groups;
		put_node((struct node_text){.name = "n", .has = "cpu=1 pods=9"});
		pod_id p = put_pod((struct pod_text){.name = "p", .asks = ignored[i].asks});

		expect_text(ignored[i].says, filter_text("NodeResourcesFit", p, "n"), ignored[i].filter);
	}
}

static void KF_5_room_follows_victims(void **state)
{
	node_id n = put_node((struct node_text){.name = "n", .has = "cpu=4 pods=9"});
	pod_id victim = put_pod((struct pod_text){.name = "v", .node = "n", .asks = "cpu=3"});
	struct cede_cycle *c =
		cycle_start("NodeResourcesFit", put_pod((struct pod_text){.name = "p", .asks = "cpu=2"}));
	ledger_mark mark = ledger_get_mark(f.ledger);

	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
	ledger_evict(f.ledger, victim);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE); /* leaving, not gone */
	ledger_vacate(f.ledger, victim);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_SUCCESS);
	ledger_rollback(f.ledger, mark);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
}

/* ---- scores ---- */

static const struct weighted_resource memory_more[] = {{"memory", 2}, {"cpu", 1}};
static const struct weighted_resource with_gpu[] = {{"cpu", 1}, {"memory", 1}, {"nvidia.com/gpu", 2}};
static const struct weighted_resource odd[] = {
	{"pods", 5}, {"nobody.knows/this", 5}, {"cpu", 1}, {"ephemeral-storage", 1}};
static const struct shape_point falling[] = {{0, 10}, {100, 0}}, hill[] = {{10, 0}, {50, 10}, {90, 3}};

struct score_row {
	const char *says;
	enum fit_strategy strategy;
	const struct weighted_resource *resources;
	uint32_t n_resources;
	const struct shape_point *shape;
	uint32_t n_shape;
	const char *n1, *n2; /* what the nodes have */
	const char *used;    /* by a pod on n1 */
	const char *asks, *scores;
};

#define LEAST(list) FIT_LEAST_ALLOCATED, list, COUNT(list), NULL, 0
#define MOST(list) FIT_MOST_ALLOCATED, list, COUNT(list), NULL, 0
#define SHAPE(list, shape) FIT_REQUESTED_TO_CAPACITY, list, COUNT(list), shape, COUNT(shape)

static const struct weighted_resource plain[] = {{"cpu", 1}, {"memory", 1}};

static const struct score_row scores[] = {
	{"least: an empty node is best for a pod that asks for nothing", LEAST(plain), "cpu=4 memory=10k",
	 "cpu=4 memory=10k", NULL, NULL, "n1=100 n2=100"},
	{"least: the mean of what stays free, cut", LEAST(plain), "cpu=4 memory=10k", "cpu=6 memory=10k", NULL,
	 "cpu=3 memory=5k", "n1=37 n2=50"},
	{"least: what is there counts", LEAST(plain), "cpu=10 memory=20k", "cpu=10 memory=20k", "cpu=6 memory=0", NULL,
	 "n1=70 n2=100"},
	{"least: overcommitted counts as full", LEAST(plain), "cpu=4 memory=10k", "cpu=4 memory=10k", "cpu=3 memory=0",
	 "cpu=3 memory=0", "n1=50 n2=62"},
	{"least: a pod that does not say takes 100m and 200Mi", LEAST(plain), "cpu=1 memory=2000Mi",
	 "cpu=1 memory=1000Mi", NULL, "", "n1=90 n2=85"},
	{"least: so does one that is there", LEAST(plain), "cpu=1 memory=2000Mi", "cpu=1 memory=2000Mi", "",
	 "cpu=0 memory=0", "n1=90 n2=100"},
	{"least: weights", LEAST(memory_more), "cpu=4 memory=10k", "cpu=6 memory=10k", NULL, "cpu=3 memory=5k",
	 "n1=41 n2=50"},
	{"least: a node that has nothing", LEAST(plain), "pods=9", "cpu=4 memory=10k", NULL, NULL, "n1=0 n2=100"},
	{"least: devices nobody asks for are left out", LEAST(with_gpu), "cpu=6 memory=10k",
	 "cpu=6 memory=10k nvidia.com/gpu=4", NULL, "cpu=3 memory=5k", "n1=50 n2=50"},
	{"least: devices asked for count", LEAST(with_gpu), "cpu=6 memory=10k nvidia.com/gpu=8",
	 "cpu=6 memory=10k nvidia.com/gpu=4", "cpu=0 memory=0 nvidia.com/gpu=1", "cpu=3 memory=5k nvidia.com/gpu=1",
	 "n1=62 n2=62"},
	{"least: pods and unknown resources are left out, storage is not", LEAST(odd),
	 "cpu=4 ephemeral-storage=10 pods=9", "cpu=4 ephemeral-storage=20 pods=9", "cpu=1 ephemeral-storage=3",
	 "cpu=1 memory=0 ephemeral-storage=2", "n1=50 n2=82"},
	{"most: an empty node is worst", MOST(plain), "cpu=4 memory=10k", "cpu=4 memory=10k", NULL, NULL, "n1=0 n2=0"},
	{"most: the mean of what is used, cut", MOST(plain), "cpu=4 memory=10k", "cpu=6 memory=10k", NULL,
	 "cpu=3 memory=5k", "n1=62 n2=50"},
	{"most: overcommitted counts as full", MOST(plain), "cpu=4 memory=10k", "cpu=4 memory=10k", "cpu=3 memory=0",
	 "cpu=3 memory=0", "n1=50 n2=37"},
	{"shape: falling, the mean rounded", SHAPE(plain, falling), "cpu=4 memory=10k", "cpu=6 memory=10k", NULL,
	 "cpu=3 memory=5k", "n1=38 n2=50"},
	{"shape: types that score nothing do not count", SHAPE(plain, falling), "cpu=4 memory=10k", "cpu=3 memory=10k",
	 NULL, "cpu=3 memory=5k", "n1=38 n2=50"},
	{"shape: overcommitted is 100 %", SHAPE(plain, falling), "cpu=4 memory=10k", "cpu=2 memory=10k",
	 "cpu=4 memory=0", "cpu=3 memory=1k", "n1=90 n2=90"},
	{"shape: level before the first point", SHAPE(plain, hill), "cpu=100 memory=100", "cpu=100 memory=100", NULL,
	 "cpu=5 memory=20", "n1=25 n2=25"},
	{"shape: straight lines between", SHAPE(plain, hill), "cpu=100 memory=100", "cpu=100 memory=100", NULL,
	 "cpu=30 memory=70", "n1=58 n2=58"},
	{"shape: cut towards the left point", SHAPE(plain, hill), "cpu=100 memory=100", "cpu=100 memory=100", NULL,
	 "cpu=51 memory=51", "n1=99 n2=99"},
	{"shape: level after the last", SHAPE(plain, hill), "cpu=100 memory=100", "cpu=100 memory=100", NULL,
	 "cpu=95 memory=95", "n1=30 n2=30"},
};

static void put_scored(const struct score_row *r)
{
	f.args.fit_strategy = r->strategy;
	f.args.fit_resources = r->resources;
	f.args.n_fit_resources = r->n_resources;
	f.args.fit_shape = r->shape;
	f.args.n_fit_shape = r->n_shape;
	put_node((struct node_text){.name = "n1", .has = r->n1});
	put_node((struct node_text){.name = "n2", .has = r->n2});
	if (!r->used)
		return;
	put_pod((struct pod_text){.name = "there", .node = "n1", .asks = r->used});
	put_pod((struct pod_text){.name = "idle", .node = "n1", .asks = "cpu=0 memory=0"});
}

static void KF_4_fit_scores(void **state)
{
	for (size_t i = 0; i < COUNT(scores); i++) {
		fixture_reset();
		put_scored(&scores[i]);
		pod_id p = put_pod((struct pod_text){.name = "p", .asks = scores[i].asks});

		expect_text(scores[i].says, scores_text("NodeResourcesFit", p, "n1 n2"), scores[i].scores);
	}
}

static void KF_4_fit_scores_are_alike_without_pre_score(void **state)
{
	for (size_t i = 0; i < COUNT(scores); i++) {
		fixture_reset();
		put_scored(&scores[i]);
		struct cede_cycle *c = cycle_start("NodeResourcesFit",
						   put_pod((struct pod_text){.name = "p", .asks = scores[i].asks}));
		const char *got = arena_printf(f.arena, "n1=%lld n2=%lld",
					       (long long)resources_fit_plugin.score(NULL, c, node_of("n1")),
					       (long long)resources_fit_plugin.score(NULL, c, node_of("n2")));

		expect_text(scores[i].says, got, scores[i].scores);
	}
}

static void KF_4_no_resources_to_score_is_an_error(void **state)
{
	f.args.n_fit_resources = 0;
	put_node((struct node_text){.name = "n"});
	expect_text("", scores_text("NodeResourcesFit", put_pod((struct pod_text){.name = "p"}), "n"),
		    "ERROR resources not found");
}

/* Sums of nodes are kept over cycles; they must follow what changes, also what is only tried. */
static void KF_2_kept_sums_follow_the_pods(void **state)
{
	void *self;
	char why[64];
	node_id n = put_node((struct node_text){.name = "n", .has = "cpu=1 memory=2000Mi"});
	pod_id there = put_pod((struct pod_text){.name = "there", .node = "n", .asks = "cpu=500m memory=0"});
	pod_id p = put_pod((struct pod_text){.name = "p", .asks = "cpu=0 memory=0"});
	struct cede_cycle *c = cycle_start("NodeResourcesFit", p);
	ledger_mark mark = ledger_get_mark(f.ledger);

	assert_true(resources_fit_plugin.create(NULL, 0, &self, why, sizeof(why)));
	resources_fit_plugin.pre_score(self, c, &n, 1);
	assert_int_equal(resources_fit_plugin.score(self, c, n), 75);
	ledger_vacate(f.ledger, there);
	assert_int_equal(resources_fit_plugin.score(self, c, n), 100);
	resources_fit_plugin.pre_score(self, c, &n, 1);
	assert_int_equal(resources_fit_plugin.score(self, c, n), 100);
	ledger_rollback(f.ledger, mark);
	assert_int_equal(resources_fit_plugin.score(self, c, n), 75);
	put_node((struct node_text){.name = "later", .has = "cpu=1 memory=2000Mi"});
	assert_int_equal(resources_fit_plugin.score(self, c, node_of("later")), 100);
	resources_fit_plugin.destroy(self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_resources_fit),
		FIXTURE_TEST(KF_4_filter_answers_alike_without_its_pre_filter),
		FIXTURE_TEST(KF_4_pods_are_counted),
		FIXTURE_TEST(KF_4_a_node_that_states_no_pods_takes_none),
		FIXTURE_TEST(KF_4_ignored_resources),
		FIXTURE_TEST(KF_5_room_follows_victims),
		FIXTURE_TEST(KF_4_fit_scores),
		FIXTURE_TEST(KF_4_fit_scores_are_alike_without_pre_score),
		FIXTURE_TEST(KF_4_no_resources_to_score_is_an_error),
		FIXTURE_TEST(KF_2_kept_sums_follow_the_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
