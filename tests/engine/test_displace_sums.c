/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods of a node summed up by priority (displace_sums.h): what is decided and said from sums is what comes of looking
 * at every pod of every node, with more priorities on a node than sums keep apart, in whatever order they came.
 */
#include "engine/displace_sums.h"
#include "engine/engine_fixture.h"

static const struct {
	const char *says, *cluster;
} rows[] = {
	{"two priorities share the last sum, and nobody of it may go",
	 "node n cpu=9 memory=9; pod a@n 0 cpu=1 memory=1; pod b@n 1 cpu=1 memory=1; pod c@n 2 cpu=1 memory=1;"
	 "pod d@n 4 cpu=5 memory=5; pod e@n 3 cpu=1 memory=1; pod p 3 cpu=4 memory=9"},
	{"the lowest came last",
	 "node n cpu=9 memory=9; pod a@n 4 cpu=5 memory=1; pod b@n 3 cpu=1 memory=1; pod c@n 2 cpu=1 memory=1;"
	 "pod d@n 1 cpu=1 memory=1; pod e@n 0 cpu=1 memory=5; pod p 4 cpu=5 memory=9"},
	{"a priority between two that were there",
	 "node n cpu=9 memory=9; pod a@n 0 cpu=1 memory=1; pod b@n 4 cpu=5 memory=1; pod c@n 6 cpu=1 memory=1;"
	 "pod d@n 2 cpu=1 memory=5; pod e@n 3 cpu=1 memory=1; pod p 4 cpu=4 memory=9"},
	{"the highest priority there is",
	 "node n cpu=4 memory=9; pod a@n 2147483647 cpu=2 memory=4; pod b@n 0 cpu=1 memory=1; pod c@n 5 cpu=1;"
	 "pod p 9 cpu=3 memory=6"},
	{"nothing but the highest priority",
	 "node n cpu=2; pod a@n 2147483647 cpu=1; pod b@n 2147483647 cpu=1; pod p 9 cpu=2"},
	{"the lowest priority there is", "node n cpu=2; pod a@n -2147483648 cpu=1; pod b@n -1 cpu=1; pod p -1 cpu=2"},
	{"nobody is there", "node n cpu=2; pod p 9 cpu=3"},
	{"victims of the lowest priority started one after the other",
	 "node n cpu=4; pod a@n 0 cpu=1 +1; pod b@n 0 cpu=1 +7; pod c@n 0 cpu=1 +5; pod d@n 0 cpu=1 +9;"
	 "node m cpu=4; pod e@m 0 cpu=1 +6; pod g@m 0 cpu=1 +8; pod h@m 0 cpu=1 +2; pod i@m 0 cpu=1 +2;"
	 "node l cpu=4; pod j@l 0 cpu=1 +9; pod k@l 0 cpu=1 +9; pod r@l 0 cpu=1 +9; pod s@l 0 cpu=1; pod p 9 cpu=3"},
	{"higher ones started later than lower ones",
	 "node n cpu=2; pod a@n 1 cpu=1 +3; pod b@n 0 cpu=1 +9; node m cpu=2; pod c@m 0 cpu=1 +1; pod d@m 1 cpu=1 +4;"
	 "pod p 9 cpu=2"},
	{"a lower one comes after many",
	 "node n cpu=4; pod a@n 3 cpu=1 +9; pod b@n 3 cpu=1 +8; pod c@n 3 cpu=1 +7; pod d@n 2 cpu=1 +1;"
	 "node m cpu=4; pod e@m 2 cpu=1 +2; pod g@m 3 cpu=1 +1; pod h@m 3 cpu=1 +1; pod i@m 3 cpu=1 +1; pod p 9 cpu=1"},
	{"three types",
	 "node n cpu=4 memory=4 x.io/gpu=4; pod a@n 1 cpu=1 memory=3 x.io/gpu=1;"
	 "pod b@n 0 cpu=2 memory=1 x.io/gpu=1; pod c@n 2 cpu=1 x.io/gpu=2; pod p 2 cpu=3 memory=4 x.io/gpu=3"},
	{"five types", "node n cpu=4 memory=4 x.io/gpu=4 y.io/gpu=4 z.io/gpu=4; pod a@n 1 cpu=1 memory=3 x.io/gpu=1;"
		       "pod b@n 0 cpu=2 memory=1 y.io/gpu=1; node m cpu=4 memory=4 x.io/gpu=4 y.io/gpu=4 z.io/gpu=1;"
		       "pod c@m 1 memory=3 x.io/gpu=2; pod p 2 cpu=4 memory=2 x.io/gpu=3 y.io/gpu=4 z.io/gpu=2"},
	{"one type", "node n cpu=4; pod a@n 1 cpu=1; pod b@n 0 cpu=2; pod c@n 2 cpu=1; pod p 2 cpu=4"},
	{"a group goes by the priority of one of its pods, and so does another of it that is higher",
	 "group g all; node m cpu=3; node n cpu=2; pod a@m 1 cpu=3 &g; pod b@n 9 cpu=2 &g; pod p 5 cpu=2"},
	{"slots alone", "node n cpu=4 pods=2; pod a@n 1; pod b@n 2; pod p 2; node m cpu=4 pods=1; pod c@m 2; pod q 2"},
};

enum { SMALL = 1000 };

/* To be freed. */
static char *plan_and_words(const char *cluster, bool looks_at_all)
{
	const char *s;
	char *kept;

	en.config->looks_at_all = looks_at_all;
	ledger_check_always(f.ledger, strlen(cluster) < SMALL); /* of many pods after each move takes long */
	put_cluster(cluster);
	s = plan(1);
	for (uint32_t i = 0; i < en.last.v.n; i++) {
		const struct decision *d = &en.last.v.v[i];

		s = arena_printf(f.arena, "%s; %s, then %s by %d (%lld, %lld)", s, d->message, node_str(d->runner_up),
				 (int)d->tie, (long long)d->tie_mine, (long long)d->tie_theirs);
	}
	kept = mem_strdup(s);
	engine_reset();
	return kept;
}

static void KF_6_sums_say_what_looking_at_every_pod_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *sums = plan_and_words(rows[i].cluster, false), *all = plan_and_words(rows[i].cluster, true);

		expect_text(rows[i].says, sums, all);
		mem_free(sums);
		mem_free(all);
	}
}

/* More than are told apart in one decision, met in no order, with two or six of them on a node. */
static void KF_6_any_number_of_priorities(void **state)
{
	enum { NODES = 40 };
	struct text t = {0};
	char *sums, *all;

	(void)state;
	for (int i = 0; i < NODES; i++) {
		text_printf(&t, "node n%02d cpu=6 memory=%d;", i, 6 + i % 3);
		for (int k = 0; k < (i % 2 ? 2 : 6); k++)
			text_printf(&t, "pod p%d-%d@n%02d %d cpu=%d memory=1 +%d;", i, k, i, (i * 37 + k * 53) % 97 - 9,
				    i % 2 ? 3 : 1, 1 + (i * 7 + k) % 11);
	}
	for (int i = 0; i < 12; i++)
		text_printf(&t, "pod w%02d %d cpu=%d memory=%d;", i, i * 9 - 5, 1 + i % 6, 2 + i % 5);
	sums = plan_and_words(text_str(&t), false);
	all = plan_and_words(text_str(&t), true);
	expect_text("any number of priorities", sums, all);
	assert_non_null(strstr(sums, "=>"));
	mem_free(sums);
	mem_free(all);
	text_free(&t);
}

/* The highest of many share a rank: some of those may go, others not. Nobody gets room that was nominated. */
static void KF_6_priorities_that_share_a_rank_are_told_apart(void **state)
{
	struct text t = {0};
	char *sums, *all;

	(void)state;
	for (int i = 0; i < 2 * SUM_RANKS; i++)
		text_printf(&t,
			    "node n%03d cpu=2; pod a%d@n%03d %d cpu=1; pod z%d@n%03d 9999 cpu=1;"
			    "pod w%d 9999 cpu=1 never ^n%03d;",
			    i, i, i, i * 10, i, i, i, i);
	text_printf(&t, "pod p %d cpu=2", SUM_RANKS * 10 + 25);
	sums = plan_and_words(text_str(&t), false);
	all = plan_and_words(text_str(&t), true);
	expect_text("priorities that share a rank", sums, all);
	assert_non_null(strstr(sums, "No preemption victims"));
	mem_free(sums);
	mem_free(all);
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_6_any_number_of_priorities),
		ENGINE_TEST(KF_6_priorities_that_share_a_rank_are_told_apart),
		ENGINE_TEST(KF_6_sums_say_what_looking_at_every_pod_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
