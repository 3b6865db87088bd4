/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins say of running pods that would have to go, where default preemption asks the rule plugin. */
#include "engine/engine_fixture.h"
#include "rules/plugin.h"

/* Labels of a pod tell plugins what to say: a=keep, a=spare, a=nonsense, b=..., and how early it goes: ra=5, rb=... */
static struct cede_verdict say(const struct cede_cycle *c, cede_pod victim, const char *key)
{
	const char *s = cede_pod_label(c, victim, key);

	if (!s)
		return cede_ok();
	if (str_eq(s, "nonsense"))
		return cede_answer((enum cede_code)77, 0, 0);
	return cede_answer(str_eq(s, "keep")	? CEDE_UNSCHEDULABLE
			   : str_eq(s, "never") ? CEDE_UNRESOLVABLE
						: CEDE_SKIP,
			   str_eq(s, "spare"), 0);
}

static int64_t rank(const struct cede_cycle *c, cede_pod victim, const char *key)
{
	const char *s = cede_pod_label(c, victim, key);

	return s ? strtoll(s, NULL, 10) : 0;
}

#define OPINIONS_OF(x)                                                                                    \
	static struct cede_verdict x##_may_evict(void *self, const struct cede_cycle *c, cede_pod victim) \
	{                                                                                                 \
		return say(c, victim, #x);                                                                \
	}                                                                                                 \
	static int64_t x##_order(void *self, const struct cede_cycle *c, cede_pod victim)                 \
	{                                                                                                 \
		return rank(c, victim, "r" #x);                                                           \
	}                                                                                                 \
	static const struct cede_plugin x##_table = {.abi = CEDE_PLUGIN_ABI,                              \
						     .name = #x,                                          \
						     .may_evict = x##_may_evict,                          \
						     .victim_order = x##_order,                           \
						     .reasons = reasons,                                  \
						     .n_reasons = COUNT(reasons)};

static const char *const reasons[] = {"it is kept", "it is spared"};
OPINIONS_OF(a)
OPINIONS_OF(b)

static const struct framework_plugin both[] = {{.table = &a_table}, {.table = &b_table}};

static void use_both(void)
{
	en.extra = both;
	en.n_extra = COUNT(both);
}

static const struct plan_row rows[] = {
	{"nobody says anything: the younger goes",
	 "node n cpu=2; pod x@n 1 cpu=1 +1; pod y@n 1 cpu=1 +2; pod p 5 cpu=1", "p=>n:y", 0},
	{"who is kept stays", "node n cpu=2; pod x@n 1 cpu=1 +1; pod y@n 1 cpu=1 +2 .a=keep; pod p 5 cpu=1", "p=>n:x",
	 0},
	{"whoever keeps him", "node n cpu=2; pod x@n 1 cpu=1 +1; pod y@n 1 cpu=1 +2 .b=never; pod p 5 cpu=1", "p=>n:x",
	 0},
	{"who is kept stays, though nobody else helps", "node n cpu=1; pod x@n 1 cpu=1 .a=keep; pod p 5 cpu=1",
	 "p waits", 0},
	{"kept by one and spared by another is kept", "node n cpu=1; pod x@n 1 cpu=1 .a=spare .b=keep; pod p 5 cpu=1",
	 "p waits", 0},
	{"who is spared stays while others can go, of any priority",
	 "node n cpu=2; pod x@n 3 cpu=1; pod y@n 1 cpu=1 .a=spare; pod p 5 cpu=1", "p=>n:x", 0},
	{"before a budget's: that one is overridden first",
	 "node n cpu=2; pod x@n 1 cpu=1 .app=c; pod y@n 1 cpu=1 .a=spare; pdb c app=c 0; pod p 5 cpu=1", "p=>n:x", 0},
	{"and on other nodes too, whatever the cost there",
	 "node m cpu=1; node n cpu=1; pod x@m 1 cpu=1 .b=spare; pod y@n 4 cpu=1 .app=c; pdb c app=c 0; pod p 5 cpu=1",
	 "p=>n:y", 0},
	{"who is spared goes if nothing else works", "node n cpu=1; pod x@n 1 cpu=1 .a=spare; pod p 5 cpu=1", "p=>n:x",
	 0},
	{"larger goes first", "node n cpu=2; pod x@n 1 cpu=1 +1 .ra=5; pod y@n 1 cpu=1 +2 .ra=4; pod p 5 cpu=1",
	 "p=>n:x", 0},
	{"but priority comes before", "node n cpu=2; pod x@n 2 cpu=1 .ra=5; pod y@n 1 cpu=1 .ra=4; pod p 5 cpu=1",
	 "p=>n:y", 0},
	{"the first plugin decides",
	 "node n cpu=2; pod x@n 1 cpu=1 .ra=5 .rb=1; pod y@n 1 cpu=1 .ra=4 .rb=9; pod p 5 cpu=1", "p=>n:x", 0},
	{"where it sees no difference the next does",
	 "node n cpu=2; pod x@n 1 cpu=1 .ra=5 .rb=1; pod y@n 1 cpu=1 .ra=5 .rb=9; pod p 5 cpu=1", "p=>n:y", 0},
	{"nonsense is no opinion", "node n cpu=2; pod x@n 1 cpu=1 +1; pod y@n 1 cpu=1 +2 .a=nonsense; pod p 5 cpu=1",
	 "p=>n:y", 0},
	{"after nonsense nothing counts that it says, the other still does",
	 "node n cpu=2; pod w@n 1 .a=nonsense; pod x@n 1 cpu=1 +1 .b=keep; pod y@n 1 cpu=1 +2 .a=keep; pod p 5 cpu=1",
	 "p=>n:y", 0},
};

static void plugins_have_a_say_in_who_goes(void **state)
{
	(void)state;
	use_both();
	check_plans(rows, COUNT(rows));
}

static void what_they_said_is_told(void **state)
{
	const struct decision *d;

	(void)state;
	use_both();
	put_cluster("node m cpu=1; node n cpu=1; pod x@m 1 cpu=1 .a=spare; pod y@n 1 cpu=1 .b=keep; pod z@n 9; pod p 5 "
		    "cpu=1");
	assert_string_equal(plan(1), "p=>m:x");
	d = &en.last.v.v[0];
	assert_int_equal(d->victims[0].overridden, RULE_PLUGIN);
	assert_int_equal(d->n_protected, 1);
	assert_int_equal(d->protected[0].pod, pod_named("y"));
	assert_string_equal(node_str(d->protected[0].node), "n");
	assert_string_equal(rule_verdict_name(&d->protected[0].verdict), "b");
	assert_string_equal(d->protected[0].verdict.words, "it is kept");
	engine_reset();
	put_cluster("node m cpu=1; node n cpu=1; pod x@m 1 cpu=1 .a=spare; pod y@n 4 cpu=1; pod p 5 cpu=1");
	assert_string_equal(plan(1), "p=>n:y");
	assert_int_equal(en.last.v.v[0].tie, TIE_SPARED);
	assert_int_equal(en.last.v.v[0].tie_theirs, 1);
	assert_int_equal(en.last.v.v[0].victims[0].overridden, RULE_NONE);
}

static void nonsense_is_reported(void **state)
{
	(void)state;
	use_both();
	put_cluster("node n cpu=1; pod x@n 1 cpu=1 .b=nonsense; pod p 5 cpu=1");
	assert_string_equal(plan(1), "p=>n:x");
	assert_string_equal(engine_complaints(en.engine),
			    "plugin b is switched off: may_evict gave an answer that does not exist\n");
}

/* A profile that leaves them out of PostFilter does not ask them. */
static void a_profile_can_leave_them_out(void **state)
{
	static const struct plugin_ref off[] = {{.name = "a"}};

	(void)state;
	use_both();
	en.config->kube_profiles[0].points[POINT_POST_FILTER] = (struct plugin_set){.n_disabled = 1, .disabled = off};
	put_cluster("node n cpu=2; pod x@n 1 cpu=1 .a=keep; pod y@n 1 cpu=1 .b=keep; pod p 5 cpu=1");
	assert_string_equal(plan(1), "p=>n:x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(plugins_have_a_say_in_who_goes),
		ENGINE_TEST(what_they_said_is_told),
		ENGINE_TEST(nonsense_is_reported),
		ENGINE_TEST(a_profile_can_leave_them_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
