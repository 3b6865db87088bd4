/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose minimum runtime counts: look-ups in small trees. A tree is written as lines of "path preempt reclaim", parents
 * first; - is not set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"
#include "rules/min_runtime.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define DEFAULT_PREEMPT 7
#define DEFAULT_RECLAIM 11

struct forest {
	struct names *names;
	struct queue_tree t;
};

static int64_t seconds(const char *word)
{
	return *word == '-' ? TIME_NONE : strtoll(word, NULL, 10) * NS_PER_S;
}

static void plant_one(struct forest *f, const char *line, size_t len)
{
	char path[64] = "", preempt[16] = "-", reclaim[16] = "-", buf[128];
	char *word, *rest = buf, *segment;
	char *const words[] = {path, preempt, reclaim};
	const size_t sizes[] = {sizeof(path), sizeof(preempt), sizeof(reclaim)};
	struct queue_spec spec;
	struct err e;
	queue_id id;

	snprintf(buf, sizeof(buf), "%.*s", (int)len, line);
	for (size_t i = 0; i < COUNT(words) && (word = strsep(&rest, " ")); i++)
		snprintf(words[i], sizes[i], "%s", word);
	queue_spec_init(&spec, f->names);
	spec.sources = FROM_KAI;
	spec.preempt_min_runtime_ns = seconds(preempt);
	spec.reclaim_min_runtime_ns = seconds(reclaim);
	segment = strrchr(path, '.');
	assert_int_equal(queue_tree_add(&f->t, queue_tree_find(&f->t, path, (size_t)(segment - path)), segment + 1,
					strlen(segment + 1), &spec, &id, &e),
			 ERR_OK);
}

static void plant(struct forest *f, const char *lines)
{
	const char *end;

	f->names = names_new();
	queue_tree_init(&f->t, f->names);
	for (; (end = strchr(lines, '\n')); lines = end + 1)
		plant_one(f, lines, (size_t)(end - lines));
}

static void fell(struct forest *f)
{
	queue_tree_free(&f->t);
	names_free(f->names);
}

/* "" is no queue. */
static queue_id at(const struct forest *f, const char *path)
{
	queue_id q = *path ? queue_tree_find(&f->t, path, strlen(path)) : QUEUE_NONE;

	assert_true(!*path || q != QUEUE_NONE);
	return q;
}

/* "60 root.a.b.d": seconds, and who says so. */
static void expect(const struct forest *f, const char *sentence, struct min_runtime got, const char *wanted)
{
	char text[128];

	snprintf(text, sizeof(text), "%lld %s", (long long)(got.ns / NS_PER_S),
		 got.queue == QUEUE_NONE ? "default" : name_str(f->names, queue_get(&f->t, got.queue)->path));
	if (!str_eq(text, wanted))
		print_error("%s\n", sentence);
	assert_string_equal(text, wanted);
}

static struct min_runtime_settings settings(enum reclaim_resolve how)
{
	return (struct min_runtime_settings){DEFAULT_PREEMPT * NS_PER_S, DEFAULT_RECLAIM * NS_PER_S, how};
}

/* ---- the trees of the design ---- */

#define RECLAIM_TREE               \
	"root.a - -\n"             \
	"root.a.b - 600\n"         \
	"root.a.b.c - -\n"         \
	"root.a.b.d - 60\n"        \
	"root.a.b.c.leaf1 - 0\n"   \
	"root.a.b.c.leaf2 - 180\n" \
	"root.a.b.d.leaf3 - -\n"

#define PREEMPT_TREE               \
	"root.a - -\n"             \
	"root.a.b 600 -\n"         \
	"root.a.b.c - -\n"         \
	"root.a.b.c.leaf1 300 -\n" \
	"root.a.b.c.leaf2 - -\n"

static void MR_5_the_child_of_the_common_ancestor_decides(void **state)
{
	static const struct {
		const char *sentence, *reclaimer, *victim, *wanted;
	} rows[] = {
		{"across the branches the victim's branch has its own value", "root.a.b.c.leaf1", "root.a.b.d.leaf3",
		 "60 root.a.b.d"},
		{"siblings go by the victim's own value", "root.a.b.c.leaf1", "root.a.b.c.leaf2",
		 "180 root.a.b.c.leaf2"},
		{"a cousin's own 0s does not count, its branch inherits", "root.a.b.d.leaf3", "root.a.b.c.leaf1",
		 "600 root.a.b"},
		{"an explicit 0s among siblings ends the search", "root.a.b.c.leaf2", "root.a.b.c.leaf1",
		 "0 root.a.b.c.leaf1"},
		{"a cousin's own 180s does not count either", "root.a.b.d.leaf3", "root.a.b.c.leaf2", "600 root.a.b"},
	};
	struct min_runtime_settings s = settings(RESOLVE_LCA);
	struct forest f;

	(void)state;
	plant(&f, RECLAIM_TREE);
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(&f, rows[i].sentence,
		       min_runtime_reclaim(&f.t, &s, at(&f, rows[i].reclaimer), at(&f, rows[i].victim)),
		       rows[i].wanted);
	fell(&f);
}

static void MR_4_from_the_leaf_upward_the_first_that_says_anything(void **state)
{
	struct min_runtime_settings s = settings(RESOLVE_LCA);
	struct forest f;

	(void)state;
	plant(&f, PREEMPT_TREE);
	expect(&f, "the leaf's own value", min_runtime_preempt(&f.t, &s, at(&f, "root.a.b.c.leaf1")),
	       "300 root.a.b.c.leaf1");
	expect(&f, "two levels up", min_runtime_preempt(&f.t, &s, at(&f, "root.a.b.c.leaf2")), "600 root.a.b");
	expect(&f, "above it nobody says anything", min_runtime_preempt(&f.t, &s, at(&f, "root.a")), "7 default");
	expect(&f, "no queue at all", min_runtime_preempt(&f.t, &s, QUEUE_NONE), "7 default");
	fell(&f);
}

static void MR_6_method_queue_starts_at_the_victims_leaf(void **state)
{
	static const struct {
		const char *reclaimer, *victim, *wanted;
	} rows[] = {
		{"root.a.b.c.leaf1", "root.a.b.d.leaf3", "60 root.a.b.d"},
		{"root.a.b.c.leaf1", "root.a.b.c.leaf2", "180 root.a.b.c.leaf2"},
		{"root.a.b.d.leaf3", "root.a.b.c.leaf1", "0 root.a.b.c.leaf1"},
		{"root.a.b.d.leaf3", "root.a.b.c.leaf2", "180 root.a.b.c.leaf2"},
		{"root.a.b.d.leaf3", "root.a", "11 default"},
	};
	struct min_runtime_settings s = settings(RESOLVE_QUEUE);
	struct forest f;

	(void)state;
	plant(&f, RECLAIM_TREE);
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(&f, rows[i].victim,
		       min_runtime_reclaim(&f.t, &s, at(&f, rows[i].reclaimer), at(&f, rows[i].victim)),
		       rows[i].wanted);
	fell(&f);
}

/* ---- unset, zero, default ---- */

static void MR_2_zero_is_a_value_and_unset_is_none(void **state)
{
	struct min_runtime_settings s = settings(RESOLVE_LCA);
	struct forest f;

	(void)state;
	plant(&f, "root.a 600 600\nroot.a.zero 0 0\nroot.a.unset - -\nroot.b - -\n");
	expect(&f, "0s hides the parent's", min_runtime_preempt(&f.t, &s, at(&f, "root.a.zero")), "0 root.a.zero");
	expect(&f, "unset does not", min_runtime_preempt(&f.t, &s, at(&f, "root.a.unset")), "600 root.a");
	expect(&f, "0s hides the parent's from a sibling",
	       min_runtime_reclaim(&f.t, &s, at(&f, "root.a.unset"), at(&f, "root.a.zero")), "0 root.a.zero");
	expect(&f, "unset does not", min_runtime_reclaim(&f.t, &s, at(&f, "root.a.zero"), at(&f, "root.a.unset")),
	       "600 root.a");
	fell(&f);
}

static void MR_3_the_default_where_nobody_says_anything(void **state)
{
	struct min_runtime_settings s = settings(RESOLVE_LCA), none = {0};
	struct forest f;

	(void)state;
	plant(&f, "root.a - -\nroot.b - -\n");
	expect(&f, "preempt", min_runtime_preempt(&f.t, &s, at(&f, "root.a")), "7 default");
	expect(&f, "reclaim", min_runtime_reclaim(&f.t, &s, at(&f, "root.a"), at(&f, "root.b")), "11 default");
	expect(&f, "0s unless told", min_runtime_preempt(&f.t, &none, at(&f, "root.a")), "0 default");
	expect(&f, "0s unless told", min_runtime_reclaim(&f.t, &none, at(&f, "root.a"), at(&f, "root.b")), "0 default");
	fell(&f);
}

static void MR_1_the_two_windows_do_not_stand_for_each_other(void **state)
{
	struct min_runtime_settings s = settings(RESOLVE_LCA);
	struct forest f;

	(void)state;
	plant(&f, "root.a 600 -\nroot.b - 300\n");
	expect(&f, "preempt alone is set", min_runtime_reclaim(&f.t, &s, at(&f, "root.b"), at(&f, "root.a")),
	       "11 default");
	expect(&f, "reclaim alone is set", min_runtime_preempt(&f.t, &s, at(&f, "root.b")), "7 default");
	fell(&f);
}

/* ---- odd places of the two queues ---- */

static void MR_7_odd_places_in_the_tree(void **state)
{
	static const struct {
		const char *sentence, *reclaimer, *victim, *wanted;
	} rows[] = {
		{"same leaf: its own value, then upward", "root.a.x.1", "root.a.x.1", "31 root.a.x.1"},
		{"same leaf without a value: upward", "root.a.x.2", "root.a.x.2", "30 root.a.x"},
		{"siblings: the victim's own", "root.a.x.2", "root.a.x.1", "31 root.a.x.1"},
		{"siblings: then the parent's", "root.a.x.1", "root.a.x.2", "30 root.a.x"},
		{"cousins: the victim's own is ignored", "root.a.y.1", "root.a.x.1", "30 root.a.x"},
		{"cousins: nothing on the victim's side, then what both share", "root.a.x.1", "root.a.y.1",
		 "20 root.a"},
		{"different tops: the victim's top, deeper values are ignored", "root.b.1", "root.a.x.1", "20 root.a"},
		{"different tops: or the default", "root.a.x.1", "root.b.1", "11 default"},
		{"the victim is a top queue itself", "root.a.x.1", "root.c", "50 root.c"},
		{"both are", "root.d", "root.c", "50 root.c"},
		{"a top queue that says nothing", "root.c", "root.d", "11 default"},
		{"the victim is above the reclaimer: its own", "root.a.x.1", "root.a.x", "30 root.a.x"},
		{"the victim is above the reclaimer: then upward", "root.a.y.1", "root.a.y", "20 root.a"},
		{"the reclaimer is above the victim: one step down", "root.a", "root.a.x.1", "30 root.a.x"},
		{"the reclaimer is the parent of the victim", "root.a.x", "root.a.x.1", "31 root.a.x.1"},
		{"no reclaimer's queue", "", "root.a.x.1", "11 default"},
		{"no victim's queue", "root.a.x.1", "", "11 default"},
	};
	struct min_runtime_settings s = settings(RESOLVE_LCA);
	struct forest f;

	(void)state;
	plant(&f, "root.a - 20\nroot.a.x - 30\nroot.a.x.1 - 31\nroot.a.x.2 - -\nroot.a.y - -\nroot.a.y.1 - 41\n"
		  "root.b - -\nroot.b.1 - 45\nroot.c - 50\nroot.d - -\n");
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(&f, rows[i].sentence,
		       min_runtime_reclaim(&f.t, &s, at(&f, rows[i].reclaimer), at(&f, rows[i].victim)),
		       rows[i].wanted);
	fell(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(MR_1_the_two_windows_do_not_stand_for_each_other),
		cmocka_unit_test(MR_2_zero_is_a_value_and_unset_is_none),
		cmocka_unit_test(MR_3_the_default_where_nobody_says_anything),
		cmocka_unit_test(MR_4_from_the_leaf_upward_the_first_that_says_anything),
		cmocka_unit_test(MR_5_the_child_of_the_common_ancestor_decides),
		cmocka_unit_test(MR_6_method_queue_starts_at_the_victims_leaf),
		cmocka_unit_test(MR_7_odd_places_in_the_tree),
	};

	return cmocka_run_group_tests_name("min_runtime", tests, NULL, NULL);
}
