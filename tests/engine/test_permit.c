/* SPDX-License-Identifier: Apache-2.0 */
/* KF-1: plugins of one's own at Permit that make a pod wait. Who waits there has its place, and holds it. */
#include "engine/engine_fixture.h"

static struct text said;

static struct cede_verdict permit(const struct cede_cycle *c, const char *who, int64_t *ret_timeout_ns)
{
	const char *wish = cede_pod_label(c, cede_cycle_pod(c), who);

	text_printf(&said, " %s:permit", who);
	*ret_timeout_ns = 60 * NS_PER_S;
	if (!wish)
		return cede_ok();
	return cede_answer(str_eq(wish, "wait") ? CEDE_WAIT : CEDE_UNSCHEDULABLE, 0, 0);
}

#define PERMITS_OF(x)                                                                                         \
	static struct cede_verdict x##_permit(void *self, struct cede_cycle *c, cede_node node, int64_t *ret) \
	{                                                                                                     \
		return permit(c, #x, ret);                                                                    \
	}                                                                                                     \
	static void x##_unreserve(void *self, struct cede_cycle *c, cede_node node)                           \
	{                                                                                                     \
		text_add(&said, " " #x ":unreserve");                                                         \
	}                                                                                                     \
	static struct cede_verdict x##_pre_bind(void *self, struct cede_cycle *c, cede_node node)             \
	{                                                                                                     \
		text_add(&said, " " #x ":pre_bind");                                                          \
		return cede_ok();                                                                             \
	}                                                                                                     \
	static const struct cede_plugin x##_table = {.abi = CEDE_PLUGIN_ABI,                                  \
						     .name = #x,                                              \
						     .unreserve = x##_unreserve,                              \
						     .permit = x##_permit,                                    \
						     .pre_bind = x##_pre_bind,                                \
						     .reasons = reasons,                                      \
						     .n_reasons = COUNT(reasons)};

static const char *const reasons[] = {"not permitted"};
PERMITS_OF(a)
PERMITS_OF(b)

static const struct framework_plugin both[] = {{.table = &a_table}, {.table = &b_table}};

static const struct {
	const char *sentence, *cluster, *plan, *said;
} rows[] = {
	{"all agree", "node n cpu=1; pod p 1 cpu=1", "p->n", " a:permit b:permit a:pre_bind b:pre_bind"},
	{"one makes it wait: the others are asked all the same, and it has its place",
	 "node n cpu=1; pod p 1 cpu=1 .a=wait", "p->n", " a:permit b:permit a:pre_bind b:pre_bind"},
	{"who waits holds its place against the next", "node n cpu=1; pod p 2 cpu=1 .a=wait; pod q 1 cpu=1",
	 "p->n; q waits", " a:permit b:permit a:pre_bind b:pre_bind"},
	{"one makes it wait and the next refuses: nothing of it remains",
	 "node n cpu=1; pod p 2 cpu=1 .a=wait .b=no; pod q 1 cpu=1", "p waits; q->n",
	 " a:permit b:permit b:unreserve a:unreserve a:permit b:permit a:pre_bind b:pre_bind"},
	{"who refuses first is the last to be asked", "node n cpu=1; pod p 2 cpu=1 .a=no .b=wait", "p waits",
	 " a:permit b:unreserve a:unreserve"},
};

static void KF_1_a_permit_that_waits_holds_the_place_and_one_that_refuses_gives_it_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		en.extra = both;
		en.n_extra = COUNT(both);
		put_cluster(rows[i].cluster);
		text_reset(&said);
		expect_text(rows[i].sentence, plan(1), rows[i].plan);
		expect_text(rows[i].sentence, text_str(&said), rows[i].said);
		engine_reset();
	}
	text_free(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_1_a_permit_that_waits_holds_the_place_and_one_that_refuses_gives_it_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
