/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs without a PodGroup: groups that are there because pods say so. */
#include "cluster_fixture.h"

/* A member of gang "g" with this minimum. */
static void put_aged(struct fix *f, const char *name, int32_t min, int64_t created)
{
	struct obj_pod o = pod_object(f, &(struct pod_is){.name = name, .group = "g", .created = created});
	struct pod_gang draft = {.min_member = min};

	obj_pod_extra(&o)->gang = pod_gang_new(f->names, &draft, NULL);
	assert_int_equal(cluster_put_pod(f->c, &o, NULL), ERR_OK);
}

static void put_member(struct fix *f, const char *name, int32_t min)
{
	put_aged(f, name, min, 0);
}

/* A pod of application "app" in a task group ("": none), which defines a:2 and b:3 if told to. */
static void put_task(struct fix *f, const char *name, const char *task_group, bool defines, int64_t created)
{
	struct obj_pod o = pod_object(f, &(struct pod_is){.name = name, .group = "app", .created = created});
	struct gang_task_group task_groups[] = {{hold(f, "a"), 2}, {hold(f, "b"), 3}};
	struct pod_gang draft = {.is_yunikorn = true,
				 .timeout_ns = 100,
				 .task_group = hold(f, task_group),
				 .n_task_groups = defines ? 2 : 0};

	obj_pod_extra(&o)->gang = pod_gang_new(f->names, &draft, task_groups);
	names_drop(f->names, draft.task_group);
	names_drop(f->names, task_groups[0].name);
	names_drop(f->names, task_groups[1].name);
	assert_int_equal(cluster_put_pod(f->c, &o, NULL), ERR_OK);
}

static group_id group_of(const struct fix *f, const char *name)
{
	return ledger_group_find(f->l, names_find(f->names, "ns", 2), names_find(f->names, name, strlen(name)), false);
}

/* What the podset at i of a group needs and has: "a 1/2"; "" if there is no such group. */
static const char *podset_text(const struct fix *f, const char *name, uint32_t i)
{
	static char text[64];
	group_id id = group_of(f, name);

	if (id == GROUP_NONE)
		return "";
	const struct podset *s = ledger_podset(f->l, ledger_group(f->l, id)->first_podset + i);
	snprintf(text, sizeof(text), "%s %u/%d", name_str(f->names, s->name), s->n_pods, s->min_member);
	return text;
}

static void a_gang_is_what_its_pods_say(void **state)
{
	struct fix f;

	fix_init(&f, PROFILE_DEFAULT);
	put_member(&f, "p1", 2);
	assert_string_equal(podset_text(&f, "g", 0), "default 1/2");
	put_member(&f, "p2", 2);
	put_pod(&f, (struct pod_is){.name = "other"});
	assert_string_equal(podset_text(&f, "g", 0), "default 2/2");
	put_member(&f, "p3", 4); /* of several minimums the largest counts, in whatever order they come */
	assert_string_equal(podset_text(&f, "g", 0), "default 3/4");
	put_member(&f, "p3", 1);
	assert_string_equal(podset_text(&f, "g", 0), "default 3/2");
	cluster_drop_pod(f.c, "ns", "p1");
	cluster_drop_pod(f.c, "ns", "p3");
	assert_string_equal(podset_text(&f, "g", 0), "default 1/2");
	cluster_drop_pod(f.c, "ns", "p2");
	assert_string_equal(podset_text(&f, "g", 0), "");
	fix_free(&f); /* and no name is left of it */
}

static int64_t made(const struct fix *f)
{
	return ledger_group(f->l, group_of(f, "g"))->obj->created_ns;
}

static void a_gang_is_as_old_as_its_oldest_pod(void **state)
{
	struct fix f;

	fix_init(&f, PROFILE_KAI);
	put_aged(&f, "p1", 2, 70);
	assert_int_equal(made(&f), AT(70));
	put_aged(&f, "p2", 2, 50);
	put_aged(&f, "p3", 2, 60); /* in whatever order they come */
	assert_int_equal(made(&f), AT(50));
	put_aged(&f, "p0", 1, 40); /* of those whose minimum counts */
	assert_int_equal(made(&f), AT(50));
	cluster_drop_pod(f.c, "ns", "p0");
	cluster_drop_pod(f.c, "ns", "p2");
	assert_int_equal(made(&f), AT(60));
	put_aged(&f, "p3", 2, 80); /* another one of that name */
	assert_int_equal(made(&f), AT(70));
	put_aged(&f, "p4", 3, 90);
	assert_int_equal(made(&f), AT(90));
	fix_free(&f);
}

static void a_pod_group_of_that_name_takes_its_place(void **state)
{
	struct fix f;

	fix_init(&f, PROFILE_DEFAULT);
	put_member(&f, "p1", 2);
	put_group(&f, (struct group_is){.name = "g", .min = 5});
	assert_string_equal(podset_text(&f, "g", 0), "default 0/5");
	put_pod(&f, (struct pod_is){.name = "named", .group = "g"});
	assert_string_equal(podset_text(&f, "g", 0), "default 1/5");
	cluster_drop_group(f.c, "ns", "g", false);
	assert_string_equal(podset_text(&f, "g", 0), "default 1/2");
	assert_int_equal(pod_of(&f, "named")->group, GROUP_NONE);
	fix_free(&f);
}

static void task_groups_are_podsets_of_their_application(void **state)
{
	struct fix f;

	fix_init(&f, PROFILE_YUNIKORN);
	put_task(&f, "member", "b", false, 7);
	assert_string_equal(podset_text(&f, "app", 0), "");
	put_task(&f, "driver", "", true, 5);
	assert_string_equal(podset_text(&f, "app", 0), "a 0/2");
	assert_string_equal(podset_text(&f, "app", 1), "b 1/3");
	assert_int_equal(pod_of(&f, "driver")->group, GROUP_NONE); /* it defines them and is of none */
	put_task(&f, "lost", "c", false, 9);
	assert_int_equal(pod_of(&f, "lost")->group, GROUP_NONE);
	cluster_drop_pod(f.c, "ns", "driver");
	assert_string_equal(podset_text(&f, "app", 0), "");
	fix_free(&f);
}

static void a_soft_gang_has_no_minimum_after_its_time(void **state)
{
	struct fix f;

	fix_init(&f, PROFILE_DEFAULT);
	put_task(&f, "driver", "a", true, 1000);
	put_task(&f, "later", "a", false, 2000);
	const struct group *g = ledger_group(f.l, group_of(&f, "app"));
	cluster_relax_gangs(f.c, AT(1099));
	assert_false(g->obj->has_no_minimum);
	cluster_relax_gangs(f.c, AT(1100));
	assert_true(g->obj->has_no_minimum);
	ledger_rollback(f.l, 0);
	assert_false(g->obj->has_no_minimum);
	fix_free(&f);
}

static void a_profile_reads_what_is_of_its_world(void **state)
{
	static const struct {
		enum profile profile;
		bool own, tasks;
	} rows[] = {{PROFILE_DEFAULT, true, true},
		    {PROFILE_KUBERNETES, false, false},
		    {PROFILE_YUNIKORN, true, true},
		    {PROFILE_KAI, true, false}};
	struct fix f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cluster_options o = cluster_options_default();

		fix_init(&f, PROFILE_DEFAULT);
		put_member(&f, "p1", 2);
		put_task(&f, "driver", "a", true, 1000);
		o.profile = rows[i].profile;
		cluster_set_options(f.c, &o);
		assert_int_equal(group_of(&f, "g") != GROUP_NONE, rows[i].own);
		assert_int_equal(group_of(&f, "app") != GROUP_NONE, rows[i].tasks);
		fix_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_is_what_its_pods_say),
		cmocka_unit_test(a_gang_is_as_old_as_its_oldest_pod),
		cmocka_unit_test(a_pod_group_of_that_name_takes_its_place),
		cmocka_unit_test(task_groups_are_podsets_of_their_application),
		cmocka_unit_test(a_soft_gang_has_no_minimum_after_its_time),
		cmocka_unit_test(a_profile_reads_what_is_of_its_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
