/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduling framework and default preemption, requirement by requirement. */
#include "engine/displace.h"
#include "engine/engine_fixture.h"

/* ---- KF-3: whose turn it is ---- */

static const struct plan_row turns[] = {
	{"higher priority is tried first", "node n cpu=1; pod a 1 cpu=1 <5; pod b 2 cpu=1 <9", "b->n; a waits", 0},
	{"of equal priority the older", "node n cpu=1; pod b 1 cpu=1 <5; pod a 1 cpu=1 <9", "b->n; a waits", 0},
	{"made at the same time: by name", "node n cpu=2; pod b 1 cpu=1 <5; pod a 1 cpu=1 <5", "a->n; b->n", 0},
	{"who does not say when it was made comes last", "node n cpu=1; pod a 1 cpu=1; pod b 1 cpu=1 <5",
	 "b->n; a waits", 0},
	{"negative priorities are priorities", "node n cpu=1; pod a -7 cpu=1 <1; pod b -3 cpu=1 <2; pod c 0 cpu=1 <3",
	 "c->n; b waits; a waits", 0},
	{"each is tried once in a cycle, and sees what was decided before it",
	 "node n cpu=3; pod a 3 cpu=2; pod b 2 cpu=2; pod c 1 cpu=1", "a->n; b waits; c->n", 0},
};

static void KF_3_pods_are_taken_by_priority_then_age(void **state)
{
	(void)state;
	check_plans(turns, COUNT(turns));
}

/* ---- KF-4: filters are plugins like any other ---- */

static const struct {
	const char *says, *without, *cluster, *plan;
} plugs[] = {
	{"all are there", NULL, "node n cpu=1; pod p 1 cpu=2", "p waits"},
	{"without the plugin for resources", "NodeResourcesFit", "node n cpu=1; pod p 1 cpu=2", "p->n"},
	{"taints repel", NULL, "node n cpu=1 !k; pod p 1", "p waits"},
	{"without the plugin for taints", "TaintToleration", "node n cpu=1 !k; pod p 1", "p->n"},
	{"cordons hold", NULL, "node n cpu=1 cordoned; pod p 1", "p waits"},
	{"without the plugin for cordons", "NodeUnschedulable", "node n cpu=1 cordoned; pod p 1", "p->n"},
	{"selectors hold", NULL, "node n cpu=1; pod p 1 ?zone=a", "p waits"},
	{"without the plugin for node affinity", "NodeAffinity", "node n cpu=1; pod p 1 ?zone=a", "p->n"},
	{"ports clash", NULL, "node n cpu=1; pod a@n 5 %80; pod p 1 %80", "p waits"},
	{"without the plugin for ports", "NodePorts", "node n cpu=1; pod a@n 5 %80; pod p 1 %80", "p->n"},
	{"without default preemption nobody goes", "DefaultPreemption", "node n cpu=1; pod a@n 1 cpu=1; pod p 5 cpu=1",
	 "p waits"},
};

static void KF_4_filters_are_plugins_that_a_profile_can_leave_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(plugs); i++) {
		struct plugin_ref without = {.name = plugs[i].without};

		en.config->kube_profiles[0].points[POINT_MULTI] =
			(struct plugin_set){.n_disabled = without.name != NULL, .disabled = &without};
		put_cluster(plugs[i].cluster);
		expect_text(plugs[i].says, plan(1), plugs[i].plan);
		engine_reset();
	}
	en.config->kube_profiles[0].points[POINT_MULTI] = (struct plugin_set){0};
}

static struct cede_verdict only_m(void *self, const struct cede_cycle *c, cede_node node)
{
	(void)self;
	return str_eq(cede_node_name(c, node), "m") ? cede_ok() : cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
}

static void KF_4_a_plugin_of_ones_own_stands_beside_them(void **state)
{
	static const char *const reasons[] = {"not m"};
	static const struct cede_plugin table = {
		.abi = CEDE_PLUGIN_ABI, .name = "only-m", .filter = only_m, .reasons = reasons, .n_reasons = 1};
	static const struct framework_plugin extra = {.table = &table};

	(void)state;
	en.extra = &extra;
	en.n_extra = 1;
	put_cluster("node l cpu=4; node m cpu=1; node n cpu=4; pod p 1 cpu=1; pod q 0 cpu=1");
	assert_string_equal(plan(1), "p->m; q waits");
	assert_non_null(strstr(en.last.v.v[1].message, "2 not m"));
	assert_non_null(strstr(en.last.v.v[1].message, "1 Insufficient cpu"));
}

/* ---- KF-5: candidates and reprieve ---- */

static const struct plan_row candidates[] = {
	{"who is of lower priority goes", "node n cpu=1; pod a@n 1 cpu=1; pod p 5 cpu=1", "p=>n:a", 0},
	{"equal priority never gives way", "node n cpu=1; pod a@n 5 cpu=1; pod p 5 cpu=1", "p waits", 0},
	{"nor does higher", "node n cpu=1; pod a@n 6 cpu=1; pod p 5 cpu=1", "p waits", 0},
	{"nobody goes where it fits", "node m cpu=1; node n cpu=1; pod a@m 1 cpu=1; pod p 5 cpu=1", "p->n", 0},
	{"nobody goes in vain", "node n cpu=4; pod a@n 1 cpu=1; pod b@n 9 cpu=3; pod p 5 cpu=2", "p waits", 0},
	{"who need not go stays", "node n cpu=4; pod a@n 1 cpu=2; pod b@n 1 cpu=2 +1; pod p 5 cpu=2", "p=>n:a", 0},
	{"higher priority is given back first", "node n cpu=4; pod a@n 2 cpu=2 +9; pod b@n 1 cpu=2 +1; pod p 5 cpu=2",
	 "p=>n:b", 0},
	{"of equal priority who runs longer", "node n cpu=4; pod a@n 1 cpu=2 +9; pod b@n 1 cpu=2 +5; pod p 5 cpu=2",
	 "p=>n:a", 0},
	{"who does not say since when runs since now",
	 "node n cpu=4; pod a@n 1 cpu=2; pod b@n 1 cpu=2 +5; pod p 5 cpu=2", "p=>n:a", 0},
	{"started together: by name", "node n cpu=4; pod b@n 1 cpu=2 +5; pod a@n 1 cpu=2 +5; pod p 5 cpu=2", "p=>n:b",
	 0},
	{"greedy, and never swaps: two small ones go for one large",
	 "node n cpu=1; pod a@n 10 cpu=500m; pod b@n 5 cpu=300m; pod c@n 1 cpu=200m; pod p 20 cpu=400m", "p=>n:b,c", 0},
	{"a budget is worth more than priority: who it covers is given back first",
	 "node n cpu=1; pod a@n 10 cpu=500m; pod b@n 5 cpu=300m; pod c@n 1 cpu=200m .app=c; pdb c app=c 0; pod p 20 "
	 "cpu=400m",
	 "p=>n:a", 0},
	{"a budget with room protects nobody",
	 "node n cpu=1; pod a@n 10 cpu=500m; pod b@n 5 cpu=300m; pod c@n 1 cpu=200m .app=c; pdb c app=c 1; pod p 20 "
	 "cpu=400m",
	 "p=>n:b,c", 0},
	{"a budget has room for one: the more important spends it",
	 "node n cpu=2; pod a@n 2 cpu=1 .app=c; pod b@n 1 cpu=1 .app=c; pdb c app=c 1; pod p 5 cpu=1", "p=>n:a", 0},
	{"a budget is overridden where nothing else helps",
	 "node n cpu=1; pod a@n 1 cpu=1 .app=c; pdb c app=c 0; pod p 5 cpu=1", "p=>n:a", 0},
	{"who is disrupted already does not count again",
	 "node n cpu=2; pod a@n 1 cpu=1 .app=c; pod b@n 2 cpu=1; pdb c app=c 0 a*; pod p 5 cpu=1", "p=>n:a", 0},
	{"an empty selector covers nobody here, as in Kubernetes",
	 "node n cpu=2; pod a@n 1 cpu=1 .app=c; pod b@n 2 cpu=1; pdb c - 0; pod p 5 cpu=1", "p=>n:a", 0},
	{"places for pods are room too", "node n cpu=9 pods=1; pod a@n 1 cpu=1; pod p 5 cpu=1", "p=>n:a", 0},
	{"a type nobody asks for is not in the way", "node n cpu=1; pod a@n 1 cpu=1 memory=1Gi; pod p 5 cpu=1",
	 "p=>n:a", 0},
	{"victims in the order of their importance",
	 "node n cpu=3; pod a@n 1 cpu=1 +1; pod b@n 3 cpu=1 +2; pod c@n 3 cpu=1 +1; pod p 5 cpu=3", "p=>n:c,b,a", 0},
	{"several types",
	 "node n cpu=4 memory=4Gi; pod a@n 2 cpu=3 memory=1Gi; pod b@n 1 cpu=1 memory=3Gi; pod p 5 cpu=1 memory=3Gi",
	 "p=>n:b", 0},
	{"two in one cycle: the second sees who is going, and takes nobody twice",
	 "node m cpu=1; node n cpu=1; pod a@m 1 cpu=1; pod b@n 1 cpu=1 +1; pod p 6 cpu=1; pod q 5 cpu=1",
	 "p=>m:a; q=>n:b", 0},
	{"a port is given back too", "node n cpu=9; pod a@n 1 %80; pod b@n 1 %81; pod p 5 %80", "p=>n:a", 0},
};

static void KF_5_victims_are_taken_and_given_back(void **state)
{
	(void)state;
	check_plans(candidates, COUNT(candidates));
}

static struct cede_verdict not_today(void *self, struct cede_cycle *c)
{
	return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
}

static void KF_5_nobody_goes_where_taking_him_away_changes_nothing(void **state)
{
	static const char *const reasons[] = {"not today"};
	static const struct cede_plugin table = {.abi = CEDE_PLUGIN_ABI,
						 .name = "not-today",
						 .pre_filter = not_today,
						 .reasons = reasons,
						 .n_reasons = 1};
	static const struct framework_plugin extra = {.table = &table};

	(void)state;
	en.extra = &extra;
	en.n_extra = 1;
	put_cluster("node n cpu=2; pod a@n 1 cpu=1; pod p 5 cpu=1");
	assert_string_equal(plan(1), "p waits");
	engine_reset();
	/* here it does, and the rest of the filters is asked */
	put_cluster("node n cpu=2; pod a@n 1 cpu=1; pod p 5 cpu=2");
	assert_string_equal(plan(1), "p=>n:a");
}

/* ---- KF-6: the best of the candidates ---- */

static const struct {
	const char *says, *cluster, *plan;
	enum tie_break tie;
	int64_t mine, theirs;
} ties[] = {
	{"one candidate is taken", "node a cpu=1; node b cpu=1 !k; pod x@a 1 cpu=1; pod y@b 0 cpu=1; pod p 9 cpu=1",
	 "p=>a:x", TIE_ONLY_ONE, 0, 0},
	{"fewest violations, whatever the priorities",
	 "node a cpu=1; node b cpu=1; pod x@a 1 cpu=1 .app=x; pod y@b 8 cpu=1; pdb x app=x 0; pod p 9 cpu=1", "p=>b:y",
	 TIE_VIOLATIONS, 0, 1},
	{"then the lowest highest priority, whatever the number",
	 "node a cpu=2; node b cpu=2; pod x@a 3 cpu=2; pod y@b 2 cpu=1; pod z@b 2 cpu=1; pod p 9 cpu=2", "p=>b:y,z",
	 TIE_HIGHEST, 2, 3},
	{"then the smallest sum",
	 "node a cpu=2; node b cpu=2; pod w@a 3 cpu=1; pod x@a 2 cpu=1; pod y@b 3 cpu=1; pod z@b 1 cpu=1; pod p 9 "
	 "cpu=2",
	 "p=>b:y,z", TIE_SUM, (INT64_C(2) << 31) + 4, (INT64_C(2) << 31) + 5},
	{"negative priorities: fewer are less, not more",
	 "node a cpu=2; node b cpu=2; pod w@a -5 cpu=1; pod x@a -5 cpu=1; pod y@b -5 cpu=2; pod p 9 cpu=2", "p=>b:y",
	 TIE_SUM, (INT64_C(1) << 31) - 5, (INT64_C(2) << 31) - 10},
	{"then who runs shortest, of the most important victims",
	 "node a cpu=1; node b cpu=1; node c cpu=1; pod x@a 1 cpu=1 +5; pod y@b 1 cpu=1 +7; pod z@c 1 cpu=1 +6; pod p "
	 "9 cpu=1",
	 "p=>b:y", TIE_START, -7 * NS_PER_S, -6 * NS_PER_S},
	{"of several most important ones the one that runs longest counts",
	 "node a cpu=2; node b cpu=2; pod w@a 1 cpu=1 +9; pod x@a 1 cpu=1 +5; pod y@b 1 cpu=1 +6; pod z@b 1 cpu=1 +7; "
	 "pod p 9 cpu=2",
	 "p=>b:y,z", TIE_START, -6 * NS_PER_S, -5 * NS_PER_S},
	{"less important ones do not count there",
	 "node a cpu=2; node b cpu=2; pod w@a 2 cpu=1 +9; pod x@a 1 cpu=1 +1; pod y@b 2 cpu=1 +8; pod z@b 1 cpu=1 +8; "
	 "pod p 9 cpu=2",
	 "p=>a:w,x", TIE_START, -9 * NS_PER_S, -8 * NS_PER_S},
	{"who does not say since when runs since now",
	 "node a cpu=1; node b cpu=1; pod x@a 1 cpu=1 +5; pod y@b 1 cpu=1; pod p 9 cpu=1", "p=>b:y", TIE_START,
	 -FIXTURE_NOW, -5 * NS_PER_S},
	{"then the name of the node",
	 "node c cpu=1; node b cpu=1; pod x@c 1 cpu=1 +5; pod y@b 1 cpu=1 +5; pod p 9 cpu=1", "p=>b:y", TIE_NAME, 0, 0},
};

static void KF_6_each_criterion_decides_in_turn(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ties) * WAYS; i++) {
		const struct decision *d;

		en.way = (enum way)(i % WAYS);
		put_cluster(ties[i / WAYS].cluster);
		expect_text(ties[i / WAYS].says, plan(1), ties[i / WAYS].plan);
		d = &en.last.v.v[0];
		if (d->tie != ties[i / WAYS].tie || d->tie_mine != ties[i / WAYS].mine ||
		    d->tie_theirs != ties[i / WAYS].theirs)
			fail_msg("%s: decided by %d: %lld, %lld", ties[i / WAYS].says, d->tie, (long long)d->tie_mine,
				 (long long)d->tie_theirs);
		engine_reset();
	}
}

/* Enough nodes for eight threads; three of them alike and best, the first by name hidden in the middle. */
static void put_large(void)
{
	for (int i = 0; i < 5000; i++) {
		int32_t priority = i % 1000 == 777 ? 1 : 2 + i % 3;

		put_cluster(arena_printf(f.arena,
					 "node n%04d cpu=2; pod a%d@n%04d %d cpu=1 +%d; pod b%d@n%04d %d cpu=1 +3", i,
					 i, i, priority, 1 + i % 7, i, i, priority));
	}
	put_cluster("pod p 9 cpu=2");
}

static void KF_6_the_answer_does_not_depend_on_the_number_of_threads(void **state)
{
	static const uint32_t threads[] = {1, 2, 8};
	const char *first = NULL;

	(void)state;
	ledger_check_always(f.ledger, false);
	put_large();
	for (size_t i = 0; i < COUNT(threads) * WAYS; i++) {
		ledger_mark mark = ledger_get_mark(f.ledger);
		const char *got;

		en.config->threads = threads[i / WAYS];
		en.way = (enum way)(i % WAYS);
		if (en.way == BY_MOVES)
			continue; /* one thread, always */
		got = plan(1);
		first = first ? first : got;
		assert_string_equal(got, first);
		ledger_rollback(f.ledger, mark);
		engine_stop();
	}
	assert_string_equal(first, "p=>n1777:b1777,a1777");
}

static void KF_6_no_node_is_left_out_by_any_number_of_threads(void **state)
{
	static const uint32_t threads[] = {1, 2, 3, 8};
	struct displace_node *first = arena_n(f.arena, 5000, struct displace_node),
			     *got = arena_n(f.arena, 5000, struct displace_node);

	const struct rule_settings settings = {.profile = PROFILE_KUBERNETES};
	struct judge_scratch scratch = {0};
	struct judge j;

	(void)state;
	ledger_check_always(f.ledger, false);
	put_large();
	cycle_start(NULL, pod_named("p"));
	displace_judge(&j, &f.cycle, &settings, &scratch);
	assert_int_equal(f.cycle.n_nodes, 5000);
	for (size_t i = 0; i < COUNT(threads); i++) {
		struct displace_options o = {.j = &j, .threads = threads[i]};

		displace_all(&f.cycle, f.cycle.nodes, 5000, &o, i ? got : first);
		for (uint32_t k = 0; i && k < 5000; k++) {
			assert_int_equal(got[k].node, first[k].node);
			assert_true(status_is_success(&got[k].status));
			assert_int_equal(got[k].n_victims, 2);
			assert_memory_equal(got[k].victims, first[k].victims, 2 * sizeof(pod_id));
		}
	}
	judge_scratch_free(&scratch);
}

/* Nodes that refuse for all sorts of reasons, with budgets and groups on some, in several blocks and pieces. */
static void put_motley(void)
{
	static const char *const kinds[] = {"cpu=4", "cpu=4 !k", "cpu=1", "cpu=4 cordoned", "cpu=4 pods=3", "cpu=4"};

	put_cluster("group g all min=1; pdb b app=x 1");
	for (int i = 0; i < 2000; i++) {
		int kind = i < 900 ? i % 4 : i % (int)COUNT(kinds); /* the second piece hears what the first did not */
		int size = kind == 2 ? 0 : 1 + i % 2;

		put_cluster(arena_printf(f.arena,
					 "node n%04d %s; pod a%d@n%04d %d cpu=%d +%d %s; pod b%d@n%04d %d cpu=%d +%d; "
					 "pod c%d@n%04d %d cpu=1 %s",
					 i, kinds[kind], i, i, i * 7 % 5, size, 1 + i % 11, i % 97 == 5 ? "&g" : "", i,
					 i, i * 3 % 6, size, 1 + i % 13, i, i, i % 4, i % 3 ? "+2" : ".app=x"));
	}
	for (int i = 0; i < 9; i++)
		put_cluster(arena_printf(f.arena, "pod p%d %d cpu=%d", i, i % 3 ? 9 : 4, 2 + i % 2));
}

/* What is decided of all, and in which words. */
static const char *plan_words(void)
{
	const char *text = plan(1);

	for (uint32_t i = 0; i < en.last.v.n; i++)
		text = arena_printf(f.arena, "%s\n%u: %s (%u, %d %lld %lld)", text, i, en.last.v.v[i].message,
				    en.last.v.v[i].runner_up, en.last.v.v[i].tie, (long long)en.last.v.v[i].tie_mine,
				    (long long)en.last.v.v[i].tie_theirs);
	return text;
}

static void KF_6_many_nodes_say_the_same_in_blocks_and_pieces(void **state)
{
	static const uint32_t threads[] = {1, 2, 3, 8};
	const char *by_moves, *later, *got;

	(void)state;
	ledger_check_always(f.ledger, false);
	put_motley();
	en.way = BY_CACHE;
	for (size_t i = 0; i < COUNT(threads) + 1; i++) {
		ledger_mark mark = ledger_get_mark(f.ledger);

		en.config->looks_at_all = i == 0;
		en.config->threads = i ? threads[i - 1] : 1;
		got = plan_words();
		by_moves = i ? by_moves : got;
		assert_string_equal(got, by_moves);
		ledger_rollback(f.ledger, mark);
		ledger_vacate(f.ledger,
			      pod_named("b77")); /* and again by the same engine, where two nodes are others */
		ledger_evict(f.ledger, pod_named("c1900"));
		got = plan_words();
		later = i ? later : got;
		assert_string_equal(got, later);
		ledger_rollback(f.ledger, mark);
		engine_stop();
	}
	en.config->looks_at_all = false;
}

/* ---- KF-8: carrying it out ---- */

static enum pod_state state_of(const char *pod)
{
	return (enum pod_state)ledger_pod(f.ledger, pod_named(pod))->state;
}

static const char *nominated_node(const char *pod)
{
	const struct pod *p = ledger_pod(f.ledger, pod_named(pod));

	return p->nomination == NOMINATION_ADVISORY ? node_str(p->node) : "-";
}

static void KF_8_victims_leave_and_the_preemptor_is_nominated_to_their_node(void **state)
{
	(void)state;
	for (int way = 0; way < WAYS; way++) {
		en.way = (enum way)way;
		put_cluster("node n cpu=2; pod a@n 1 cpu=1; pod b@n 2 cpu=1; pod p 5 cpu=1");
		assert_string_equal(plan(1), "p=>n:a");
		assert_int_equal(state_of("a"), POD_LEAVING);
		assert_true(ledger_pod(f.ledger, pod_named("a"))->is_evicted);
		assert_int_equal(state_of("b"), POD_PLACED);
		assert_int_equal(state_of("p"), POD_WAITING);
		assert_string_equal(nominated_node("p"), "n");
		engine_reset();
	}
}

static void KF_8_lower_nominations_on_the_node_are_cleared(void **state)
{
	(void)state;
	for (int way = 0; way < WAYS; way++) {
		en.way = (enum way)way;
		/*
		 * l is nominated to a's node; m is nominated elsewhere, e what is left and as important as p;
		 * p takes a's room first
		 */
		put_cluster("node n cpu=4; node o cpu=1; pod a@n 1 cpu=2; pod b@n 9 cpu=1; pod c@o 9 cpu=1;"
			    "pod l 3 cpu=2 ^n; pod e 5 cpu=1 ^n; pod m 3 cpu=1 ^o; pod p 5 cpu=2");
		assert_non_null(strstr(plan(1), "p=>n:a"));
		assert_string_equal(nominated_node("p"), "n");
		assert_string_equal(nominated_node("l"), "-");
		engine_reset();
	}
}

static void KF_8_equal_nominations_stay(void **state)
{
	struct engine_run run = {.now_ns = FIXTURE_NOW, .cycles = 1, .report = POD_NONE};

	(void)state;
	put_cluster(
		"node n cpu=4; pod a@n 1 cpu=3; pod b@n 9 cpu=1; pod e 5 cpu=1 ^n; pod l 4 cpu=1 ^n; pod p 5 cpu=2");
	en.last.arena = f.arena;
	en.engine = engine_new(f.cluster, en.config, NULL, 0, NULL);
	assert_int_equal(engine_try(en.engine, &run, pod_named("p"), &en.last, NULL), ERR_OK);
	assert_string_equal(decision_str(&en.last.v.v[0]), "p=>n:a");
	assert_string_equal(nominated_node("p"), "n");
	assert_string_equal(nominated_node("e"), "n");
	assert_string_equal(nominated_node("l"), "-");
}

/* ---- KF-9: nominations ---- */

static const struct plan_row nominations[] = {
	{"the preemptor takes its room when the victims are gone", "node n cpu=1; pod a@n 1 cpu=1; pod p 5 cpu=1",
	 "p=>n:a / p->n", 2},
	{"its node is tried first, though others are emptier",
	 "node m cpu=9; node n cpu=2; pod a@n 1 cpu=1; pod p 5 cpu=1 ^n", "p->n", 0},
	{"it may land elsewhere, if its node is not free and another is",
	 "node m cpu=1; node n cpu=1; pod a@n 9 cpu=1; pod p 5 cpu=1 ^n", "p->m", 0},
	{"a node that is gone is no nomination", "node m cpu=1; pod p 5 cpu=1 ^n", "p->m", 0},
	{"nor is one of which only pods are left", "node m cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 ^n", "p->m", 0},
	{"who displaces others must fit beside the nomination of an equal",
	 "node n cpu=3; pod a@n 1 cpu=1; pod b@n 2 cpu=1; pod e 5 cpu=1 ^n; pod p 5 cpu=1", "p=>n:a; e waits", 0},
	{"lower priority may not take the room", "node n cpu=2; pod p 5 cpu=2 ^n; pod x@n 9 cpu=1; pod q 4 cpu=1",
	 "q waits; p waits", 0},
	{"nor may equal priority", "node n cpu=2; pod p 5 cpu=2 ^n; pod x@n 9 cpu=1; pod q 5 cpu=1", "q waits; p waits",
	 0},
	{"higher may", "node n cpu=2; pod p 5 cpu=2 ^n; pod x@n 9 cpu=1; pod q 6 cpu=1", "q->n; p waits", 0},
	{"beside it there is room for a lower one", "node n cpu=3; pod p 5 cpu=1 ^n; pod x@n 9 cpu=1; pod q 4 cpu=1",
	 "q->n; p->n", 0},
	{"nobody is displaced for less than stays beside a nominated pod",
	 "node n cpu=2; pod a@n 1 cpu=1; pod x@n 9 cpu=1; pod p 5 cpu=1 ^n; pod q 4 cpu=1", "q waits; p=>n:a", 0},
	{"a pod must fit beside the nominated pod, and also without it",
	 "node n cpu=9; pod x@n 9 %80; pod p 5 %81 ^n; pod q 4 %80; pod r 4 %81", "q waits; r waits; p->n", 0},
};

static void KF_9_the_nominated_node_is_kept_and_tried_first(void **state)
{
	(void)state;
	check_plans(nominations, COUNT(nominations));
}

/* ---- KF-10: a failure leaves nothing behind ---- */

static struct {
	const char *fails_at; /* "reserve", ... */
	const char *said;     /* who was asked what */
} bindings;

static struct cede_verdict say(const char *who, const char *what, bool may_fail)
{
	bindings.said = arena_printf(f.arena, "%s %s:%s", bindings.said, who, what);
	return may_fail && str_eq(bindings.fails_at, what) ? cede_answer(CEDE_UNSCHEDULABLE, 0, 0) : cede_ok();
}

#define STEPS_OF(x, may_fail)                                                                                 \
	static struct cede_verdict x##_reserve(void *self, struct cede_cycle *c, cede_node node)              \
	{                                                                                                     \
		return say(#x, "reserve", may_fail);                                                          \
	}                                                                                                     \
	static void x##_unreserve(void *self, struct cede_cycle *c, cede_node node)                           \
	{                                                                                                     \
		say(#x, "unreserve", false);                                                                  \
	}                                                                                                     \
	static struct cede_verdict x##_permit(void *self, struct cede_cycle *c, cede_node node, int64_t *ret) \
	{                                                                                                     \
		return say(#x, "permit", may_fail);                                                           \
	}                                                                                                     \
	static struct cede_verdict x##_pre_bind(void *self, struct cede_cycle *c, cede_node node)             \
	{                                                                                                     \
		return say(#x, "pre_bind", may_fail);                                                         \
	}                                                                                                     \
	static struct cede_verdict x##_bind(void *self, struct cede_cycle *c, cede_node node)                 \
	{                                                                                                     \
		struct cede_verdict v = say(#x, "bind", may_fail);                                            \
		return v.code ? v : cede_answer(CEDE_SKIP, 0, 0);                                             \
	}                                                                                                     \
	static const struct cede_plugin x##_table = {.abi = CEDE_PLUGIN_ABI,                                  \
						     .name = #x,                                              \
						     .reserve = x##_reserve,                                  \
						     .unreserve = x##_unreserve,                              \
						     .permit = x##_permit,                                    \
						     .pre_bind = x##_pre_bind,                                \
						     .bind = x##_bind};

STEPS_OF(a, false)
STEPS_OF(b, true)
STEPS_OF(c, false)

static const struct {
	const char *fails_at, *said, *plan;
} failures[] = {
	{"nowhere",
	 " a:reserve b:reserve c:reserve a:permit b:permit c:permit a:pre_bind b:pre_bind c:pre_bind a:bind b:bind "
	 "c:bind",
	 "p->n"},
	{"reserve", " a:reserve b:reserve c:unreserve b:unreserve a:unreserve", "p waits"},
	{"permit", " a:reserve b:reserve c:reserve a:permit b:permit c:unreserve b:unreserve a:unreserve", "p waits"},
	{"pre_bind",
	 " a:reserve b:reserve c:reserve a:permit b:permit c:permit a:pre_bind b:pre_bind c:unreserve b:unreserve "
	 "a:unreserve",
	 "p waits"},
	{"bind",
	 " a:reserve b:reserve c:reserve a:permit b:permit c:permit a:pre_bind b:pre_bind c:pre_bind a:bind b:bind"
	 " c:unreserve b:unreserve a:unreserve",
	 "p waits"},
};

static void KF_10_if_binding_fails_all_unreserve_in_reverse_and_nothing_remains(void **state)
{
	static const struct framework_plugin extra[] = {{.table = &a_table}, {.table = &b_table}, {.table = &c_table}};
	static const struct plugin_ref binders[] = {
		{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "DefaultBinder"}};
	static const struct plugin_ref all[] = {{.name = "*"}};

	(void)state;
	en.extra = extra;
	en.n_extra = COUNT(extra);
	en.config->kube_profiles[0].points[POINT_BIND] = (struct plugin_set){COUNT(binders), 1, binders, all};
	for (size_t i = 0; i < COUNT(failures); i++) {
		uint64_t before;

		bindings.fails_at = failures[i].fails_at;
		bindings.said = "";
		put_cluster("node n cpu=2; pod x@n 1 cpu=1; pod p 5 cpu=1");
		before = ledger_digest(f.ledger);
		expect_text(failures[i].fails_at, plan(1), failures[i].plan);
		expect_text(failures[i].fails_at, bindings.said, failures[i].said);
		if (str_eq(failures[i].plan, "p waits") != (ledger_digest(f.ledger) == before))
			fail_msg("%s: something remains", failures[i].fails_at);
		engine_reset();
	}
}

/* ---- KF-11: who may not preempt, and where it cannot help ---- */

static const struct plan_row limits[] = {
	{"preemptionPolicy Never", "node n cpu=1; pod a@n 1 cpu=1; pod p 5 cpu=1 never", "p waits", 0},
	{"Never by its class", "class c 5 never; node n cpu=1; pod a@n 1 cpu=1; pod p class=c cpu=1", "p waits", 0},
	{"another class may", "class c 5; node n cpu=1; pod a@n 1 cpu=1; pod p class=c cpu=1", "p=>n:a", 0},
	{"Never takes free room like anybody", "node n cpu=1; pod p 5 cpu=1 never", "p->n", 0},
	{"Never may be displaced like anybody", "node n cpu=1; pod a@n 1 cpu=1 never; pod p 5 cpu=1", "p=>n:a", 0},

	{"victims still terminate on its node: it waits for them",
	 "node m cpu=1; node n cpu=1; pod a@n 1 cpu=1 ~~; pod b@m 1 cpu=1; pod p 5 cpu=1 ^n", "p waits", 0},
	{"victims of somebody else count too", "node n cpu=3; pod a@n 1 cpu=1 ~~; pod b@n 1 cpu=2; pod p 5 cpu=3 ^n",
	 "p waits", 0},
	{"who terminates for another reason does not", "node n cpu=1; pod a@n 1 cpu=1 ~; pod p 5 cpu=1 ^n", "p=>n:a",
	 0},
	{"nor who is as important as the pod",
	 "node m cpu=1; node n cpu=1; pod a@n 5 cpu=1 ~~; pod b@m 1 cpu=1; pod p 5 cpu=1 ^n", "p=>m:b", 0},
	{"nor victims on other nodes",
	 "node m cpu=1; node n cpu=1; pod a@m 1 cpu=1 ~~; pod b@n 1 cpu=1; pod p 5 cpu=1 ^n", "p=>m:a", 0},
	{"its node became hopeless: it looks elsewhere",
	 "node m cpu=1; node n cpu=1 cordoned; pod a@n 1 cpu=1 ~~; pod b@m 1 cpu=1; pod p 5 cpu=1 ^n", "p=>m:b", 0},

	{"no help: the node is too small when empty", "node n cpu=1; pod a@n 1 cpu=1; pod p 5 cpu=2", "p waits", 0},
	{"no help: a taint", "node n cpu=1 !k; pod a@n 1 cpu=1; pod p 5 cpu=1", "p waits", 0},
	{"no help: a cordon", "node n cpu=1 cordoned; pod a@n 1 cpu=1; pod p 5 cpu=1", "p waits", 0},
	{"no help: a selector", "node n cpu=1; pod a@n 1 cpu=1; pod p 5 cpu=1 ?zone=a", "p waits", 0},
	{"only the node where it helps",
	 "node m cpu=1 !k; node n cpu=1; pod a@m 1 cpu=1; pod b@n 3 cpu=1; pod p 5 cpu=1", "p=>n:b", 0},
};

static void KF_11_never_terminating_and_hopeless_are_honoured(void **state)
{
	(void)state;
	check_plans(limits, COUNT(limits));
}

static void KF_11_a_nomination_that_leads_nowhere_is_dropped(void **state)
{
	(void)state;
	for (int way = 0; way < WAYS; way++) {
		en.way = (enum way)way;
		put_cluster("node n cpu=1; pod a@n 9 cpu=1; pod p 5 cpu=1 ^n");
		assert_string_equal(plan(1), "p waits");
		assert_string_equal(nominated_node("p"), "-");
		engine_reset();
		put_cluster("node n cpu=1; pod a@n 1 cpu=1 ~~; pod p 5 cpu=1 ^n"); /* it waits, and keeps it */
		assert_string_equal(plan(1), "p waits");
		assert_string_equal(nominated_node("p"), "n");
		engine_reset();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_3_pods_are_taken_by_priority_then_age),
		ENGINE_TEST(KF_4_filters_are_plugins_that_a_profile_can_leave_out),
		ENGINE_TEST(KF_4_a_plugin_of_ones_own_stands_beside_them),
		ENGINE_TEST(KF_5_victims_are_taken_and_given_back),
		ENGINE_TEST(KF_5_nobody_goes_where_taking_him_away_changes_nothing),
		ENGINE_TEST(KF_6_each_criterion_decides_in_turn),
		ENGINE_TEST(KF_6_the_answer_does_not_depend_on_the_number_of_threads),
		ENGINE_TEST(KF_6_many_nodes_say_the_same_in_blocks_and_pieces),
		ENGINE_TEST(KF_6_no_node_is_left_out_by_any_number_of_threads),
		ENGINE_TEST(KF_8_victims_leave_and_the_preemptor_is_nominated_to_their_node),
		ENGINE_TEST(KF_8_lower_nominations_on_the_node_are_cleared),
		ENGINE_TEST(KF_8_equal_nominations_stay),
		ENGINE_TEST(KF_9_the_nominated_node_is_kept_and_tried_first),
		ENGINE_TEST(KF_10_if_binding_fails_all_unreserve_in_reverse_and_nothing_remains),
		ENGINE_TEST(KF_11_never_terminating_and_hopeless_are_honoured),
		ENGINE_TEST(KF_11_a_nomination_that_leads_nowhere_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
