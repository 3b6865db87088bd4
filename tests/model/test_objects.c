/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/objects.h"

static void PP_2_words_of_preemptibility(void **state)
{
	static const struct {
		const char *text;
		bool is_value;
		enum preemptibility p;
	} rows[] = {
		{"preemptible", true, PREEMPTIBLE},	      {"non-preemptible", true, NON_PREEMPTIBLE},
		{"semi-preemptible", true, SEMI_PREEMPTIBLE}, {"", false, PREEMPTIBILITY_UNSET},
		{"Preemptible", false, PREEMPTIBILITY_UNSET}, {"preemptible ", false, PREEMPTIBILITY_UNSET},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum preemptibility p = PREEMPTIBILITY_UNSET;
		assert_int_equal(preemptibility_parse(rows[i].text, &p), rows[i].is_value);
		assert_int_equal(p, rows[i].p);
		if (rows[i].is_value)
			assert_string_equal(preemptibility_text(p), rows[i].text);
	}
	assert_string_equal(preemptibility_text(PREEMPTIBILITY_UNSET), "");
}

static struct vocab *v;
static uint32_t names_before;
static uint32_t next;

static name_id fresh(void)
{
	char s[16];
	int n = snprintf(s, sizeof(s), "name%u", next++);
	return names_hold(vocab_names(v), s, (size_t)n);
}

static name_id in_bag(struct name_bag *bag)
{
	char s[16];
	int n = snprintf(s, sizeof(s), "name%u", next++);
	return name_bag_add(bag, s, (size_t)n);
}

static labelset_id some_labelset(void)
{
	name_id ns = fresh(), key = fresh();
	labelset_id k = labelset_hold(v, ns, &(struct label){key, ns}, 1);
	names_drop(vocab_names(v), ns);
	names_drop(vocab_names(v), key);
	return k;
}

static int setup(void **state)
{
	v = vocab_new();
	names_before = names_count(vocab_names(v));
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(names_count(vocab_names(v)), names_before);
	assert_int_equal(shape_count(v), 0);
	for (labelset_id k = 0; k < labelset_limit(v); k++)
		assert_false(labelset_is_live(v, k));
	vocab_free(v);
	return 0;
}

static void a_pod_lets_go_of_everything(void **state)
{
	struct obj_pod o = {.name = fresh(), .uid = uid_of_name(fresh()), .labelset = some_labelset()};
	name_id image = fresh();
	o.shape = shape_hold(v, &(struct shape){.n_images = 1, .images = &image});
	names_drop(vocab_names(v), image);
	o.node_name = fresh();
	o.nominated_node = fresh();
	o.priority_class = fresh();
	o.owner_name = fresh();
	o.owner_uid = fresh();
	o.group = fresh();
	obj_pod_extra(&o)->subgroup = fresh();
	o.kai_queue = fresh();
	o.yunikorn_queue = fresh();
	o.app = fresh();
	obj_pod_extra(&o)->user = fresh();
	obj_pod_extra(&o)->user_groups = fresh();
	struct obj_pod copy = obj_pod_copy(v, &o);
	obj_pod_drop(v, &copy);
	obj_pod_drop(v, &o);
	obj_pod_drop(v, &o);
}

static void a_node_lets_go_of_everything(void **state)
{
	struct obj_node o = {
		.name = fresh(), .uid = fresh(), .labelset = some_labelset(), .n_taints = 1, .n_images = 1};
	o.bag = name_bag_of(vocab_names(v));
	o.taints = mem_alloc(sizeof(*o.taints));
	o.taints[0] = (struct taint){.key = in_bag(&o.bag), .value = in_bag(&o.bag)};
	o.images = mem_alloc(sizeof(*o.images));
	o.images[0].name = in_bag(&o.bag);
	obj_node_drop(v, &o);
	obj_node_drop(v, &o);
}

static void a_budget_lets_go_of_everything(void **state)
{
	struct obj_pdb o = {.ns = fresh(), .name = fresh(), .arena = arena_new(256), .n_disrupted = 1};
	o.bag = name_bag_of(vocab_names(v));
	assert_int_equal(selector_parse(o.arena, &o.bag, "app in (a,b)", 12, &o.selector, NULL), ERR_OK);
	o.disrupted = mem_alloc(sizeof(*o.disrupted));
	o.disrupted[0] = in_bag(&o.bag);
	obj_pdb_drop(v, &o);
	obj_pdb_drop(v, &o);
}

static void an_owner_lets_go_of_everything(void **state)
{
	struct obj_owner o = {.name = fresh(), .uid = fresh(), .labelset = some_labelset(), .arena = arena_new(256)};
	o.bag = name_bag_of(vocab_names(v));
	o.kind_name = fresh();
	o.parent_kind = fresh();
	o.parent_name = fresh();
	o.parent_uid = fresh();
	assert_int_equal(selector_parse(o.arena, &o.bag, "app=a", 5, &o.selector, NULL), ERR_OK);
	obj_owner_drop(v, &o);
	obj_owner_drop(v, &o);
}

static void a_group_lets_go_of_everything(void **state)
{
	struct obj_group o = {.ns = fresh(), .name = fresh(), .uid = fresh(), .n_subgroups = 1};
	o.bag = name_bag_of(vocab_names(v));
	o.queue = fresh();
	o.priority_class = fresh();
	o.subgroups = mem_alloc(sizeof(*o.subgroups));
	o.subgroups[0] = (struct obj_subgroup){.name = in_bag(&o.bag), .parent = in_bag(&o.bag)};
	obj_group_drop(v, &o);
	obj_group_drop(v, &o);
}

static void small_objects_let_go_of_everything(void **state)
{
	struct obj_namespace ns = {.name = fresh(), .labelset = some_labelset(), .parent_queue = fresh()};
	struct obj_class class = {.name = fresh()};
	obj_namespace_drop(v, &ns);
	obj_namespace_drop(v, &ns);
	obj_class_drop(v, &class);
	obj_class_drop(v, &class);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(PP_2_words_of_preemptibility),
		TEST(a_pod_lets_go_of_everything),
		TEST(a_node_lets_go_of_everything),
		TEST(a_budget_lets_go_of_everything),
		TEST(an_owner_lets_go_of_everything),
		TEST(a_group_lets_go_of_everything),
		TEST(small_objects_let_go_of_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
