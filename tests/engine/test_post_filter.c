/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KF-1: plugins of one's own at PostFilter, before preemption or after it: one that offers a node, one that has nothing
 * to offer, one that says that nothing helps.
 */
#include "engine/engine_fixture.h"

static struct text said;

/* A label of the pod tells the plugin what to say: a node, "pass", "stop", "lie" (a node that is none) or "rubbish". */
static struct cede_verdict answer(struct cede_cycle *c, const char *who, cede_node *ret_node)
{
	const char *wish = cede_pod_label(c, cede_cycle_pod(c), who);

	text_printf(&said, " %s", who);
	if (!wish || str_eq(wish, "pass"))
		return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
	if (str_eq(wish, "stop"))
		return cede_answer(CEDE_UNRESOLVABLE, 0, 0);
	if (str_eq(wish, "rubbish"))
		return cede_answer(CEDE_WAIT, 0, 0);
	for (size_t i = 0; i < cede_node_count(c); i++)
		if (str_eq(cede_node_name(c, cede_node_at(c, i)), wish))
			*ret_node = cede_node_at(c, i);
	return cede_ok();
}

#define HELPS(x)                                                                                     \
	static struct cede_verdict x##_post_filter(void *self, struct cede_cycle *c, cede_node *ret) \
	{                                                                                            \
		return answer(c, #x, ret);                                                           \
	}                                                                                            \
	static const struct cede_plugin x##_table = {.abi = CEDE_PLUGIN_ABI,                         \
						     .name = #x,                                     \
						     .post_filter = x##_post_filter,                 \
						     .reasons = reasons,                             \
						     .n_reasons = COUNT(reasons)};

static const char *const reasons[] = {"nothing helps"};
HELPS(a)
HELPS(b)

static const struct framework_plugin both[] = {{.table = &a_table}, {.table = &b_table}};

static const struct {
	const char *sentence, *cluster, *plan, *said;
	bool is_before; /* a and b stand before DefaultPreemption */
} rows[] = {
	{"nobody is asked where a node fits", "node n cpu=1; pod p 1 cpu=1 .a=n", "p->n", "", true},
	{"who stands before preemption is asked before anybody has to go",
	 "node m cpu=2; node n cpu=1; pod x@n 1 cpu=1; pod y@m 1 cpu=2; pod p 5 cpu=1 .a=m", "p=>m", " a", true},
	{"who has nothing to offer lets the next speak",
	 "node m cpu=2; node n cpu=1; pod x@n 1 cpu=1; pod y@m 1 cpu=2; pod p 5 cpu=1 .a=pass .b=m", "p=>m", " a b",
	 true},
	{"if none has, preemption does its work", "node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1", "p=>n:x", " a b",
	 true},
	{"who says that nothing helps ends it", "node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 .a=stop", "p waits", " a",
	 true},
	{"who stands behind preemption is not asked where that finds room",
	 "node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 .a=n", "p=>n:x", "", false},
	{"and is asked where it finds none", "node n cpu=1; pod x@n 9 cpu=1; pod p 5 cpu=1 .a=pass .b=n", "p=>n",
	 " a b", false},
	{"nobody has anything: it waits", "node n cpu=1; pod x@n 9 cpu=1; pod p 5 cpu=1", "p waits", " a b", false},
	{"an offer holds no room against a more important pod",
	 "node n cpu=1; pod x@n 3 cpu=1; pod p 2 cpu=1 .a=n; pod q 5 cpu=1", "q=>n:x; p=>n", " a", false},
};

static void put_before_preemption(bool is_before)
{
	static const struct plugin_ref enabled[] = {{.name = "a"}, {.name = "b"}, {.name = "DefaultPreemption"}},
				       off[] = {{.name = "*"}};

	en.extra = both;
	en.n_extra = COUNT(both);
	if (is_before)
		en.config->kube_profiles[0].points[POINT_POST_FILTER] = (struct plugin_set){
			.n_enabled = COUNT(enabled), .enabled = enabled, .n_disabled = 1, .disabled = off};
	else
		en.config->kube_profiles[0].points[POINT_POST_FILTER] = (struct plugin_set){0};
}

static void KF_1_plugins_at_post_filter_are_asked_in_their_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		put_before_preemption(rows[i].is_before);
		put_cluster(rows[i].cluster);
		text_reset(&said);
		expect_text(rows[i].sentence, plan(1), rows[i].plan);
		expect_text(rows[i].sentence, text_str(&said), rows[i].said);
		engine_reset();
	}
}

static void KF_1_who_says_that_nothing_helps_is_heard(void **state)
{
	(void)state;
	put_before_preemption(true);
	put_cluster("node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 .a=stop");
	plan(1);
	expect_text("its words end the sentence", en.last.v.v[0].message,
		    "0/1 nodes are available: 1 Insufficient cpu. nothing helps");
	engine_reset();
	put_before_preemption(true);
	en.config->profile = PROFILE_DEFAULT;
	put_cluster("node n cpu=1; pod x@n 9 cpu=1; pod p 5 cpu=1 .a=stop");
	plan(1);
	expect_text("in the other profiles too", en.last.v.v[0].message,
		    "0/1 nodes are available: 1 Insufficient cpu. nothing helps");
}

static void an_answer_against_the_contract_switches_the_plugin_off(void **state)
{
	static const struct {
		const char *sentence, *cluster, *complaint;
	} broken[] = {
		{"a node that is none", "node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 .a=lie",
		 "plugin a is switched off: post_filter named a node that does not exist\n"},
		{"an answer that is none", "node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 .a=rubbish",
		 "plugin a is switched off: post_filter gave an answer that does not exist\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(broken); i++) {
		put_before_preemption(true);
		put_cluster(broken[i].cluster);
		expect_text(broken[i].sentence, plan(1), "p=>n:x");
		expect_text(broken[i].sentence, engine_complaints(en.engine), broken[i].complaint);
		engine_reset();
	}
	text_free(&said);
}

/* Each profile has plugins of its own. */
static void complaints_are_those_of_every_profile(void **state)
{
	struct kube_profile *one = en.config->kube_profiles, two[2];

	(void)state;
	put_before_preemption(true);
	two[0] = two[1] = *one;
	two[0].scheduler_name = "another-scheduler";
	two[1].scheduler_name = ""; /* what pods here say */
	en.config->kube_profiles = two;
	en.config->n_kube_profiles = COUNT(two);
	put_cluster("node n cpu=1; pod x@n 1 cpu=1; pod p 5 cpu=1 .a=lie");
	expect_text("the second lies", plan(1), "p=>n:x");
	expect_text("the second lies", engine_complaints(en.engine),
		    "plugin a is switched off: post_filter named a node that does not exist\n");
	engine_reset();
	en.config->kube_profiles = one;
	en.config->n_kube_profiles = 1;
	text_free(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_1_plugins_at_post_filter_are_asked_in_their_order),
		ENGINE_TEST(KF_1_who_says_that_nothing_helps_is_heard),
		ENGINE_TEST(an_answer_against_the_contract_switches_the_plugin_off),
		ENGINE_TEST(complaints_are_those_of_every_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
