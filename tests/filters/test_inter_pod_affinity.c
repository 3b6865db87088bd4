/* SPDX-License-Identifier: Apache-2.0 */
#include "relations.h"

#define PLUGIN (&inter_pod_affinity_plugin)
#define FOUR "a host=a zone=1; b host=b zone=1; x host=x zone=2; y host=y zone=2"

struct wants { /* terms as term_of reads them; NULL: none */
	const char *affinity, *anti, *preferred, *preferred_anti;
};

static struct shape shape_with(const struct wants *w)
{
	return (struct shape){
		.affinity = terms_of(w->affinity),
		.anti_affinity = terms_of(w->anti),
		.preferred_affinity = terms_of(w->preferred),
		.preferred_anti_affinity = terms_of(w->preferred_anti),
	};
}

static pod_id put_waiting(const char *labels, struct wants w)
{
	struct shape s = shape_with(&w);

	return put_pod((struct pod_text){.name = "waiting", .labels = labels, .shape = &s});
}

/* A pod that runs and wants things: "a:app=x". */
static pod_id put_running(const char *name, const char *word, struct wants w)
{
	struct shape s = shape_with(&w);

	return put_one(name, word, &s);
}

static void KF_4_affinity(void **state)
{
	static const struct {
		const char *says, *nodes, *pods, *labels, *affinity, *answers;
	} rows[] = {
		{"in the zone of such a pod", FOUR, "a:app=db", "", "zone app=db", "a=yes b=yes x=never y=never"},
		{"on its very host", FOUR, "a:app=db", "", "host app=db", "a=yes b=never x=never y=never"},
		{"nobody is there, and it is not such a pod itself", FOUR, "", "", "zone app=db",
		 "a=never b=never x=never y=never"},
		{"the first of its kind may start anywhere", FOUR, "", "app=db", "zone app=db",
		 "a=yes b=yes x=yes y=yes"},
		{"where the key is", "a zone=1; b", "", "app=db", "zone app=db", "a=yes b=never"},
		{"the second has to join", FOUR, "x:app=db", "app=db", "zone app=db", "a=never b=never x=yes y=yes"},
		{"such a pod on a node without the key is as if it were not there", "a; b zone=1", "a:app=db", "app=db",
		 "zone app=db", "a=never b=yes"},
		{"one pod that all terms mean", FOUR, "a:app=db,tier=x x:app=db", "", "zone app=db | zone tier=x",
		 "a=yes b=yes x=never y=never"},
		{"two pods that each mean one are not enough", FOUR, "a:app=db a:tier=x", "",
		 "zone app=db | zone tier=x", "a=never b=never x=never y=never"},
		{"each term by its own key", FOUR, "a:app=db,tier=x", "", "zone app=db | host tier=x",
		 "a=yes b=never x=never y=never"},
		{"in whatever order", FOUR, "a:app=db,tier=x", "", "host tier=x | zone app=db",
		 "a=yes b=never x=never y=never"},
		{"a pod that is leaving is still there", FOUR, "~a:app=db", "", "zone app=db",
		 "a=yes b=yes x=never y=never"},
		{"other namespaces are not meant", FOUR, "a:other/app=db", "", "zone app=db",
		 "a=never b=never x=never y=never"},
		{"unless they are listed", FOUR, "a:other/app=db x:third/app=db", "", "zone @other app=db",
		 "a=yes b=yes x=never y=never"},
		{"then the own one is not", FOUR, "a:app=db", "", "zone @other app=db",
		 "a=never b=never x=never y=never"},
		{"by their labels", FOUR, "a:other/app=db x:third/app=db", "", "zone ?team=1 app=db",
		 "a=yes b=yes x=never y=never"},
		{"listed and by labels", FOUR, "a:other/app=db x:third/app=db", "", "zone @third ?team=1 app=db",
		 "a=yes b=yes x=yes y=yes"},
		{"all namespaces, even unheard-of ones", FOUR, "a:nowhere/app=db", "", "zone ?* app=db",
		 "a=yes b=yes x=never y=never"},
		{"one that nobody described has no labels", FOUR, "a:nowhere/app=db x:other/app=db", "",
		 "zone ?!team app=db", "a=yes b=yes x=never y=never"},
		{"but its name, which the API server gives to all", FOUR, "a:nowhere/app=db x:third/app=db", "",
		 "zone ?kubernetes.io/metadata.name=nowhere app=db", "a=yes b=yes x=never y=never"},
		{"also to those described without", FOUR, "a:nowhere/app=db x:third/app=db", "",
		 "zone ?kubernetes.io/metadata.name=third app=db", "a=never b=never x=yes y=yes"},
		{"a missing selector means nobody", FOUR, "a:app=db", "app=db", "zone",
		 "a=never b=never x=never y=never"},
		{"an empty one means everybody", FOUR, "a:app=db", "", "zone *", "a=yes b=yes x=never y=never"},
		{"of the same version", FOUR, "a:app=db,v=1 x:app=db,v=2", "v=2", "zone +v app=db",
		 "a=never b=never x=yes y=yes"},
		{"of another version", FOUR, "a:app=db,v=1 x:app=db,v=2", "v=2", "zone -v app=db",
		 "a=yes b=yes x=never y=never"},
		{"a version that is missing is another one", FOUR, "a:app=db", "v=2", "zone -v app=db",
		 "a=yes b=yes x=never y=never"},
		{"a key the pod has not is no matter", FOUR, "a:app=db,v=1", "", "zone +v app=db",
		 "a=yes b=yes x=never y=never"},
		{"the API server has written the key already", FOUR, "a:v=1", "v=2", "zone +v v=1",
		 "a=yes b=yes x=never y=never"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_namespace("other", "team=1");
		put_namespace("third", "");
		put_nodes(rows[i].nodes);
		put_pods(rows[i].pods);
		expect_text(rows[i].says,
			    answers(PLUGIN, put_waiting(rows[i].labels, (struct wants){.affinity = rows[i].affinity})),
			    rows[i].answers);
	}
}

static void KF_4_anti_affinity(void **state)
{
	static const struct {
		const char *says, *pods, *anti, *answers;
	} rows[] = {
		{"out of the zone of such a pod", "a:app=db", "zone app=db", "a=no b=no x=yes y=yes"},
		{"off its host", "a:app=db", "host app=db", "a=no b=yes x=yes y=yes"},
		{"each term counts by itself", "a:app=db x:tier=x", "host app=db | host tier=x",
		 "a=no b=yes x=no y=yes"},
		{"a node without the key is fine", "a:app=db", "rack app=db", "a=yes b=yes x=yes y=yes"},
		{"a pod that is leaving is still there", "~a:app=db", "host app=db", "a=no b=yes x=yes y=yes"},
		{"a pod on a node nobody described is nowhere", "ghost:app=db", "host app=db",
		 "a=yes b=yes x=yes y=yes"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_nodes(FOUR);
		put_pods(rows[i].pods);
		expect_text(rows[i].says, answers(PLUGIN, put_waiting("", (struct wants){.anti = rows[i].anti})),
			    rows[i].answers);
	}
}

static void KF_4_anti_affinity_of_those_who_are_there(void **state)
{
	static const struct {
		const char *says, *labels, *where, *anti, *answers;
	} rows[] = {
		{"it keeps others out of its zone", "app=w", "a:app=db", "zone app=w", "a=no b=no x=yes y=yes"},
		{"off its host", "app=w", "a:app=db", "host app=w", "a=no b=yes x=yes y=yes"},
		{"somebody else is none of its business", "app=v", "a:app=db", "zone app=w", "SKIP"},
		{"and it is nowhere without the key", "app=w", "a:app=db", "rack app=w", "SKIP"},
		{"a term about its own namespace", "app=w", "a:other/app=db", "zone app=w", "SKIP"},
		{"a term about this one", "app=w", "a:other/app=db", "zone @default app=w", "a=no b=no x=yes y=yes"},
		{"by this one's labels", "app=w", "a:other/app=db", "zone ?team=1 app=w", "a=no b=no x=yes y=yes"},
		{"it is described", "app=w", "a:other/app=db", "zone ?!team app=w", "SKIP"},
		{"its version, not ours", "app=w v=2", "a:app=db,v=1", "zone +v app=w", "SKIP"},
		{"its version is ours", "app=w v=1", "a:app=db,v=1", "zone +v app=w", "a=no b=no x=yes y=yes"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_namespace("default", "team=1");
		put_nodes(FOUR);
		put_running("there", rows[i].where, (struct wants){.anti = rows[i].anti});
		expect_text(rows[i].says, answers(PLUGIN, put_waiting(rows[i].labels, (struct wants){0})),
			    rows[i].answers);
	}
}

static void KF_4_an_unheard_of_namespace_has_no_labels(void **state)
{
	put_nodes("a zone=1; x zone=2");
	put_running("there", "a:app=db", (struct wants){.anti = "zone ?!team app=w"});
	expect_text("kept out", answers(PLUGIN, put_waiting("app=w", (struct wants){0})), "a=no x=yes");
}

static void KF_4_reasons_are_kubernetes_own(void **state)
{
	put_nodes("a zone=1; b zone=2; c zone=3");
	put_pods("a:app=db");
	put_running("there", "b:app=x", (struct wants){.anti = "zone app=w"});
	pod_id p = put_waiting("app=w", (struct wants){.anti = "zone app=db"});

	assert_string_equal(filter_text("InterPodAffinity", p, "a"),
			    "UNSCHEDULABLE node(s) didn't match pod anti-affinity rules");
	assert_string_equal(filter_text("InterPodAffinity", p, "b"),
			    "UNSCHEDULABLE node(s) didn't satisfy existing pods anti-affinity rules");
	p = put_waiting("app=w", (struct wants){.affinity = "zone app=nobody"});
	assert_string_equal(filter_text("InterPodAffinity", p, "c"),
			    "UNRESOLVABLE node(s) didn't match pod affinity rules");
}

static void KF_4_nothing_to_say(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=db");
	assert_string_equal(answers(PLUGIN, put_waiting("app=w", (struct wants){0})), "SKIP");
	put_running("there", "b:app=x", (struct wants){.affinity = "zone app=w", .preferred_anti = "1:zone app=w"});
	expect_text("preferences and affinity of others forbid nothing",
		    answers(PLUGIN, put_waiting("app=w", (struct wants){0})), "SKIP");
	pod_id p = put_waiting("app=w", (struct wants){.preferred = "1:zone app=db"});
	expect_text("nor do own preferences", answers(PLUGIN, p), "SKIP");
}

/* ---- victims ---- */

static void KF_7_affinity_to_a_victim_makes_the_node_unusable(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=db b:app=db");
	struct cede_cycle *c =
		cycle_start("InterPodAffinity", put_waiting("app=w", (struct wants){.affinity = "zone app=db"}));
	ledger_mark mark = ledger_get_mark(f.ledger);

	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("one is left", answers_in(c, PLUGIN), "a=yes b=yes x=never y=never");
	ledger_vacate(f.ledger, pod_named("p1"));
	expect_text("none is left", answers_in(c, PLUGIN), "a=never b=never x=never y=never");
	ledger_place(f.ledger, pod_named("p1"), node_of("y"));
	expect_text("one came elsewhere", answers_in(c, PLUGIN), "a=never b=never x=yes y=yes");
	ledger_rollback(f.ledger, mark);
	expect_text("all is back", answers_in(c, PLUGIN), "a=yes b=yes x=never y=never");
}

static void KF_7_the_last_of_its_kind_gone_the_first_may_start_anywhere(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=w");
	struct cede_cycle *c =
		cycle_start("InterPodAffinity", put_waiting("app=w", (struct wants){.affinity = "zone app=w"}));

	expect_text("it is there", answers_in(c, PLUGIN), "a=yes b=yes x=never y=never");
	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("it is gone", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
}

static void KF_7_anti_affinity_is_judged_with_the_victims_gone(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=db b:app=db");
	pod_id there = put_running("there", "x:app=x", (struct wants){.anti = "host app=w"});
	struct cede_cycle *c =
		cycle_start("InterPodAffinity", put_waiting("app=w", (struct wants){.anti = "host app=db"}));
	ledger_mark mark = ledger_get_mark(f.ledger);

	expect_text("both directions", answers_in(c, PLUGIN), "a=no b=no x=no y=yes");
	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("own", answers_in(c, PLUGIN), "a=yes b=no x=no y=yes");
	ledger_evict(f.ledger, pod_named("p1"));
	expect_text("one that is leaving is still there", answers_in(c, PLUGIN), "a=yes b=no x=no y=yes");
	ledger_vacate(f.ledger, there);
	expect_text("theirs", answers_in(c, PLUGIN), "a=yes b=no x=yes y=yes");
	ledger_place(f.ledger, there, node_of("a"));
	expect_text("theirs elsewhere", answers_in(c, PLUGIN), "a=no b=no x=yes y=yes");
	ledger_rollback(f.ledger, mark);
	expect_text("all is back", answers_in(c, PLUGIN), "a=no b=no x=no y=yes");
}

static void KF_7_a_namespace_listed_twice_is_one(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=db");
	struct cede_cycle *c = cycle_start(
		"InterPodAffinity", put_waiting("app=w", (struct wants){.anti = "host @default,default app=db"}));

	expect_text("one pod is there", answers_in(c, PLUGIN), "a=no b=yes x=yes y=yes");
	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("and none is left", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
}

/* A key that no term had when the attempt began. */
static void KF_2_a_pod_with_terms_of_another_key_comes(void **state)
{
	put_nodes(FOUR);
	pod_id comes = put_running("comes", ":app=x", (struct wants){.anti = "zone app=w"});
	struct cede_cycle *c =
		cycle_start("InterPodAffinity", put_waiting("app=w", (struct wants){.anti = "host app=db"}));

	ledger_place(f.ledger, comes, node_of("x"));
	expect_text("it counts", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
}

/* ---- scores ---- */

static void KF_4_preferences_score(void **state)
{
	static const struct {
		const char *says;
		const char *pods;
		struct wants own, theirs; /* theirs: of a pod with app=x on b */
		int hard_weight;
		bool ignores_theirs;
		const char *scores;
	} rows[] = {
		{"nobody prefers anything", "a:app=db", {0}, {0}, 1, false, "SKIP"},
		{"nobody it prefers is there", "", {.preferred = "5:zone app=db"}, {0}, 1, false, "SKIP"},
		{"where they are", "a:app=db", {.preferred = "5:zone app=db"}, {0}, 1, false, "a=100 b=100 x=0 y=0"},
		{"the more the better",
		 "a:app=db x:app=db x:app=db y:app=db",
		 {.preferred = "5:zone app=db"},
		 {0},
		 1,
		 false,
		 "a=0 b=0 x=100 y=100"},
		{"weights add up",
		 "a:app=db b:tier=x",
		 {.preferred = "5:zone app=db|3:host tier=x|2:host app=db"},
		 {0},
		 1,
		 false,
		 "a=87 b=100 x=0 y=0"},
		{"away from some",
		 "a:app=db",
		 {.preferred_anti = "5:host app=db"},
		 {0},
		 1,
		 false,
		 "a=0 b=100 x=100 y=100"},
		{"to and away from the same is nothing",
		 "a:app=db",
		 {.preferred = "5:host app=db", .preferred_anti = "5:host app=db"},
		 {0},
		 1,
		 false,
		 "a=0 b=0 x=0 y=0"},
		{"they prefer it", "", {0}, {.preferred = "5:zone app=w"}, 1, false, "a=100 b=100 x=0 y=0"},
		{"they prefer it not", "", {0}, {.preferred_anti = "5:zone app=w"}, 1, false, "a=0 b=0 x=100 y=100"},
		{"they prefer somebody else", "", {0}, {.preferred = "5:zone app=v"}, 1, false, "SKIP"},
		{"they require it", "", {0}, {.affinity = "zone app=w"}, 1, false, "a=100 b=100 x=0 y=0"},
		{"required affinity may weigh nothing", "", {0}, {.affinity = "zone app=w"}, 0, false, "SKIP"},
		{"or more than a preference",
		 "x:app=db",
		 {.preferred = "5:host app=db"},
		 {.affinity = "zone app=w"},
		 10,
		 false,
		 "a=100 b=100 x=50 y=0"},
		{"theirs can be left out", "", {0}, {.preferred = "5:zone app=w"}, 1, true, "SKIP"},
		{"unless it has its own",
		 "x:app=db",
		 {.preferred = "5:host app=db"},
		 {.preferred = "10:zone app=w"},
		 1,
		 true,
		 "a=100 b=100 x=50 y=0"},
		{"their required anti-affinity is no preference", "", {0}, {.anti = "zone app=w"}, 1, false, "SKIP"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_nodes(FOUR);
		put_pods(rows[i].pods);
		put_running("there", "b:app=x", rows[i].theirs);
		f.args.hard_pod_affinity_weight = rows[i].hard_weight;
		f.args.ignore_preferred_terms_of_existing_pods = rows[i].ignores_theirs;
		expect_text(rows[i].says, scores_text("InterPodAffinity", put_waiting("app=w", rows[i].own), "a b x y"),
			    rows[i].scores);
	}
}

/* The same words without the steps that prepare them. */
static void filter_and_score_answer_unprepared(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=db");
	struct cede_cycle *c =
		cycle_start("InterPodAffinity",
			    put_waiting("", (struct wants){.anti = "host app=db", .preferred = "7:zone app=db"}));

	cede_set_state(c, PLUGIN, NULL);
	expect_text("filter", answers_in(c, PLUGIN), "a=no b=yes x=yes y=yes");
	assert_int_equal(PLUGIN->score(NULL, c, node_of("b")), 7);
	assert_int_equal(PLUGIN->score(NULL, c, node_of("x")), 0);
}

/* Room is held in a, by somebody who stays away from app=w: nobody of those may keep it from starting (GQ-10). */
static void GQ_10_nobody_comes_whom_the_holder_of_reserved_room_stays_away_from(void **state)
{
	static const struct {
		const char *says, *anti, *labels, *answers;
	} rows[] = {
		{"not onto its host", "host app=w", "app=w", "a=no b=yes x=yes y=yes"},
		{"nor anywhere in its zone", "zone app=w", "app=w", "a=no b=no x=yes y=yes"},
		{"one of two terms is enough", "host app=v | zone app=w", "app=w", "a=no b=no x=yes y=yes"},
		{"others may", "zone app=w", "app=v", "SKIP"},
		{"also those of another namespace", "zone app=w", "other/app=w", "SKIP"},
		{"and where the key is missing", "rack app=w", "app=w", "SKIP"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shape s;
		pod_id holder, p;

		fixture_reset();
		put_nodes(FOUR);
		s = shape_with(&(struct wants){.anti = rows[i].anti});
		holder = put_pod((struct pod_text){.name = "holder", .labels = "app=h", .shape = &s});
		p = put_waiting(rows[i].labels, (struct wants){0});
		ledger_nominate(f.ledger, holder, node_of("a"));
		expect_text("Kubernetes overlooks it", answers(PLUGIN, p), "SKIP");
		ledger_reserve(f.ledger, node_of("a"), holder);
		expect_text(rows[i].says, answers(PLUGIN, p), rows[i].answers);
		expect_text("itself it does not hinder", answers(PLUGIN, holder), "a=yes b=yes x=yes y=yes");
		ledger_place(f.ledger, holder, node_of("a"));
		expect_text("and so when it runs there", answers(PLUGIN, p), rows[i].answers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_affinity),
		FIXTURE_TEST(KF_4_anti_affinity),
		FIXTURE_TEST(GQ_10_nobody_comes_whom_the_holder_of_reserved_room_stays_away_from),
		FIXTURE_TEST(KF_4_anti_affinity_of_those_who_are_there),
		FIXTURE_TEST(KF_4_an_unheard_of_namespace_has_no_labels),
		FIXTURE_TEST(KF_4_reasons_are_kubernetes_own),
		FIXTURE_TEST(KF_4_nothing_to_say),
		FIXTURE_TEST(KF_7_affinity_to_a_victim_makes_the_node_unusable),
		FIXTURE_TEST(KF_7_the_last_of_its_kind_gone_the_first_may_start_anywhere),
		FIXTURE_TEST(KF_7_anti_affinity_is_judged_with_the_victims_gone),
		FIXTURE_TEST(KF_7_a_namespace_listed_twice_is_one),
		FIXTURE_TEST(KF_2_a_pod_with_terms_of_another_key_comes),
		FIXTURE_TEST(KF_4_preferences_score),
		FIXTURE_TEST(filter_and_score_answer_unprepared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
