/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/queue.h"
#include "rng.h"

struct fixture {
	struct names *names;
	struct queue_tree t;
};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	f->names = names_new();
	queue_tree_init(&f->t, f->names);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	queue_tree_free(&f->t);
	assert_int_equal(names_count(f->names), 0);
	names_free(f->names);
	mem_free(f);
	return 0;
}

static enum err_code try_add(struct fixture *f, queue_id parent, const char *segment, queue_id *ret, struct err *e)
{
	struct queue_spec spec;
	queue_spec_init(&spec, f->names);
	enum err_code code = queue_tree_add(&f->t, parent, segment, strlen(segment), &spec, ret, e);
	queue_spec_free(&spec);
	return code;
}

static queue_id add(struct fixture *f, queue_id parent, const char *segment)
{
	queue_id id;
	struct err e;
	if (try_add(f, parent, segment, &id, &e) != ERR_OK)
		fail_msg("%s", e.msg);
	return id;
}

static void drop(struct fixture *f, queue_id id)
{
	struct queue_spec old;
	queue_tree_drop(&f->t, id, &old);
	queue_spec_free(&old);
}

static const char *path(const struct fixture *f, queue_id id)
{
	return name_str(f->names, queue_get(&f->t, id)->path);
}

static queue_id find(const struct fixture *f, const char *p)
{
	return queue_tree_find(&f->t, p, strlen(p));
}

static void the_root_is_always_there(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(find(f, "root"), QUEUE_ROOT);
	assert_int_equal(find(f, "ROOT"), QUEUE_ROOT);
	assert_int_equal(queue_get(&f->t, QUEUE_ROOT)->parent, QUEUE_NONE);
	assert_int_equal(queue_get(&f->t, QUEUE_ROOT)->depth, 0);
	assert_false(queue_is_leaf(&f->t, QUEUE_ROOT));
	assert_int_equal(find(f, ""), QUEUE_NONE);
	assert_int_equal(find(f, "root."), QUEUE_NONE);
}

static void paths_are_lower_case_and_found_in_any(void **state)
{
	struct fixture *f = *state;
	queue_id ml = add(f, QUEUE_ROOT, "ML"), train = add(f, ml, "Train");
	assert_string_equal(path(f, train), "root.ml.train");
	assert_int_equal(find(f, "Root.mL.TRAIN"), train);
	assert_int_equal(find(f, "root.ml.train"), train);
	assert_int_equal(queue_tree_find(&f->t, "root.ml.train2", 13), train);
	assert_int_equal(find(f, "root.ml.serve"), QUEUE_NONE);
	assert_true(queue_is_leaf(&f->t, train));
	assert_false(queue_is_leaf(&f->t, ml));
	assert_int_equal(queue_get(&f->t, train)->depth, 2);
}

static void children_are_sorted_by_path(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"m", "a-b", "z", "a", "a_b", "ab"};
	static const char *const sorted[] = {"a", "a-b", "a_b", "ab", "m", "z"};
	for (size_t i = 0; i < 6; i++)
		add(f, QUEUE_ROOT, names[i]);
	const struct queue *root = queue_get(&f->t, QUEUE_ROOT);
	assert_int_equal(root->children.n, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_string_equal(name_str(f->names, queue_get(&f->t, root->children.v[i])->segment), sorted[i]);
}

static void a_segment_is_there_once_and_has_no_dot(void **state)
{
	struct fixture *f = *state;
	struct err e;
	queue_id a = add(f, QUEUE_ROOT, "a"), id = 77;
	assert_int_equal(try_add(f, QUEUE_ROOT, "A", &id, &e), ERR_CONFLICT);
	assert_string_equal(e.msg, "queue root.a exists already");
	assert_int_equal(try_add(f, QUEUE_ROOT, "a.b", &id, &e), ERR_INPUT);
	assert_int_equal(try_add(f, QUEUE_ROOT, "", &id, &e), ERR_INPUT);
	assert_int_equal(id, 77);
	assert_int_equal(try_add(f, a, "a", &id, &e), ERR_OK);
}

static void depth_has_an_end(void **state)
{
	struct fixture *f = *state;
	struct err e;
	queue_id id = QUEUE_ROOT, other = add(f, QUEUE_ROOT, "other");
	for (int i = 1; i < QUEUE_DEPTH_MAX; i++)
		id = add(f, id, "q");
	assert_int_equal(queue_get(&f->t, id)->depth, QUEUE_DEPTH_MAX - 1);
	assert_int_equal(try_add(f, id, "q", &id, &e), ERR_LIMIT);
	queue_id below = add(f, other, "below");
	assert_int_equal(queue_tree_move(&f->t, find(f, "root.q.q"), other, &e), ERR_OK);
	assert_int_equal(queue_tree_move(&f->t, find(f, "root.other.q"), below, &e), ERR_LIMIT);
	assert_string_equal(path(f, below), "root.other.below");
}

static void segments_for_names(void **state)
{
	static const struct {
		const char *name, *segment;
	} rows[] = {
		{"team", "team"}, {"Team.A", "team_dot_a"}, {".", "_dot_"}, {"a..b.", "a_dot__dot_b_dot_"}, {"", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text t = {0};
		queue_segment_text(rows[i].name, strlen(rows[i].name), &t);
		assert_string_equal(text_str(&t), rows[i].segment);
		text_free(&t);
	}
}

static void names_of_queues(void **state)
{
	static const struct {
		const char *why, *name;
		bool is_valid;
	} rows[] = {
		{"letters, digits and the signs that are allowed", "aZ09_:#/@-", true},
		{"one letter", "q", true},
		{"nothing", "", false},
		{"a dot", "a.b", false},
		{"a blank", "a b", false},
		{"64 characters", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg", true},
		{"65 characters", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg", false},
		{"a letter of another alphabet", "\xc3\xa4", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (queue_name_is_valid(rows[i].name, strlen(rows[i].name)) != rows[i].is_valid)
			fail_msg("%s: '%s'", rows[i].why, rows[i].name);
	assert_false(queue_name_is_valid("a\0b", 3));
}

static void MR_7_a_cycle_of_parents_is_refused(void **state)
{
	struct fixture *f = *state;
	struct err e;
	queue_id a = add(f, QUEUE_ROOT, "a"), b = add(f, a, "b"), c = add(f, b, "c");
	assert_int_equal(queue_tree_move(&f->t, a, c, &e), ERR_INPUT);
	assert_string_equal(e.msg, "queue root.a cannot be below root.a.b.c: parents would form a cycle");
	assert_int_equal(queue_tree_move(&f->t, a, a, &e), ERR_INPUT);
	assert_int_equal(queue_tree_move(&f->t, QUEUE_ROOT, c, &e), ERR_INPUT);
	assert_string_equal(path(f, c), "root.a.b.c");
	assert_int_equal(queue_get(&f->t, a)->parent, QUEUE_ROOT);
}

static void a_move_takes_everything_below_along(void **state)
{
	struct fixture *f = *state;
	struct err e;
	queue_id a = add(f, QUEUE_ROOT, "a"), b = add(f, a, "b"), c = add(f, b, "c"), d = add(f, b, "d");
	queue_id z = add(f, QUEUE_ROOT, "z");
	assert_int_equal(queue_tree_move(&f->t, b, z, &e), ERR_OK);
	assert_string_equal(path(f, c), "root.z.b.c");
	assert_int_equal(find(f, "root.z.b.d"), d);
	assert_int_equal(find(f, "root.a.b.d"), QUEUE_NONE);
	assert_int_equal(queue_get(&f->t, a)->children.n, 0);
	assert_int_equal(queue_tree_move(&f->t, b, QUEUE_ROOT, &e), ERR_OK);
	assert_int_equal(queue_get(&f->t, d)->depth, 2);
	assert_int_equal(queue_tree_move(&f->t, b, QUEUE_ROOT, &e), ERR_OK);
	add(f, a, "b");
	assert_int_equal(queue_tree_move(&f->t, b, a, &e), ERR_CONFLICT);
	assert_string_equal(path(f, d), "root.b.d");
}

static void kai_names_find_their_queue(void **state)
{
	struct fixture *f = *state;
	struct queue_spec spec, old;
	queue_id a = add(f, QUEUE_ROOT, "a");
	queue_spec_init(&spec, f->names);
	spec.kai_name = name_bag_add_str(&spec.bag, "Team-A");
	name_id name = spec.kai_name;
	queue_tree_set(&f->t, a, &spec, &old);
	queue_spec_free(&old);
	assert_int_equal(queue_tree_find_kai(&f->t, name), a);
	assert_int_equal(queue_tree_find_kai(&f->t, NAME_NONE), QUEUE_NONE);
	queue_spec_init(&spec, f->names);
	queue_tree_set(&f->t, a, &spec, &spec);
	assert_int_equal(queue_tree_find_kai(&f->t, name), QUEUE_NONE);
	assert_int_equal(spec.kai_name, name);
	queue_tree_set(&f->t, a, &spec, &spec);
	assert_int_equal(queue_tree_find_kai(&f->t, name), a);
	queue_spec_free(&spec);
	queue_tree_drop(&f->t, a, &old);
	assert_int_equal(queue_tree_find_kai(&f->t, name), QUEUE_NONE);
	queue_spec_free(&old);
}

static void the_smallest_maximum_on_the_way_up_holds(void **state)
{
	struct fixture *f = *state;
	queue_id a = add(f, QUEUE_ROOT, "a"), b = add(f, a, "b");
	struct queue_spec spec, old;
	struct res_vec max;
	queue_spec_init(&spec, f->names);
	res_put(&spec.max, RES_CPU, 4000);
	res_put(&spec.max, RES_PODS, 0);
	queue_tree_set(&f->t, a, &spec, &old);
	queue_spec_free(&old);
	res_put(&spec.max, RES_CPU, 8000);
	res_put(&spec.max, RES_MEMORY, 10);
	queue_tree_set(&f->t, b, &spec, &old);
	queue_spec_free(&old);
	queue_effective_max(&f->t, b, &max);
	assert_int_equal(max.mask, 1 << RES_CPU | 1 << RES_MEMORY | 1 << RES_PODS);
	assert_int_equal(max.v[RES_CPU], 4000);
	assert_int_equal(max.v[RES_MEMORY], 10);
	assert_int_equal(max.v[RES_PODS], 0);
	queue_effective_max(&f->t, QUEUE_ROOT, &max);
	assert_int_equal(max.mask, 0);
}

/* ---- properties on random trees ---- */

static queue_id random_queue(struct fixture *f, struct rng *rng)
{
	queue_id id;
	do
		id = rng_below(rng, f->t.q.n);
	while (!queue_get(&f->t, id)->is_live);
	return id;
}

static bool random_add(struct fixture *f, struct rng *rng, queue_id *ret)
{
	char segment[16];
	snprintf(segment, sizeof(segment), "s%u", rng_below(rng, 12));
	return try_add(f, random_queue(f, rng), segment, ret, NULL) == ERR_OK;
}

/* How many leading segments two paths share. */
static uint32_t shared_segments(const char *a, const char *b)
{
	uint32_t n = 0;
	for (;; a++, b++) {
		bool ends_a = *a == '.' || *a == '\0', ends_b = *b == '.' || *b == '\0';
		if (ends_a && ends_b)
			n++;
		if (*a != *b || *a == '\0')
			return n;
	}
}

static uint32_t count_segments(const char *p)
{
	uint32_t n = 1;
	for (; *p != '\0'; p++)
		n += *p == '.';
	return n;
}

static void check_relation(const struct fixture *f, queue_id a, queue_id b)
{
	const char *pa = path(f, a), *pb = path(f, b);
	uint32_t shared = shared_segments(pa, pb), n_a = count_segments(pa), n_b = count_segments(pb);
	const char *lca = path(f, queue_lca(&f->t, a, b));
	assert_int_equal(count_segments(lca), shared);
	assert_int_equal(strncmp(lca, pa, strlen(lca)), 0);
	assert_int_equal(queue_distance(&f->t, a, b), n_a + n_b - 2 * shared);
	assert_int_equal(queue_is_above(&f->t, a, b), shared == n_a);
	queue_id step = queue_step_down(&f->t, a, b);
	assert_int_equal(step != QUEUE_NONE, shared == n_a && n_b > n_a);
	if (step == QUEUE_NONE)
		return;
	assert_int_equal(count_segments(path(f, step)), n_a + 1);
	assert_int_equal(shared_segments(path(f, step), pb), n_a + 1);
}

static void relations_agree_with_paths(void **state)
{
	struct fixture *f = *state;
	struct rng rng = {21};
	queue_id id;
	for (int i = 0; i < 150; i++)
		random_add(f, &rng, &id);
	for (int i = 0; i < 20000; i++)
		check_relation(f, random_queue(f, &rng), random_queue(f, &rng));
}

/* Everything that can be seen of a tree, ids and free ids included. */
static void tell(const struct fixture *f, struct text *out)
{
	text_reset(out);
	for (queue_id id = 0; id < f->t.q.n; id++) {
		const struct queue *q = queue_get(&f->t, id);
		text_printf(out, "%u ", id);
		if (!q->is_live) {
			text_add(out, "free\n");
			continue;
		}
		text_printf(out, "%s %d %u %u %s %lld %d max %llu (", path(f, id), (int)q->parent, q->depth,
			    (unsigned)q->props.stated, name_str(f->names, q->spec.kai_name),
			    (long long)q->props.preemption_delay_ns, q->is_draining,
			    (unsigned long long)q->spec.max_apps);
		for (uint32_t i = 0; i < q->children.n; i++)
			text_printf(out, " %u", q->children.v[i]);
		text_printf(out, ") %u\n", find(f, path(f, id)));
	}
	for (uint32_t i = 0; i < f->t.free_ids.n; i++)
		text_printf(out, " %u", f->t.free_ids.v[i]);
	text_printf(out, " names %u maps %u %u\n", names_count(f->names), f->t.by_path.n, f->t.by_kai.n);
}

struct step {
	enum { STEP_ADD, STEP_SET, STEP_MOVE, STEP_DROP } kind;
	queue_id id, parent;
	char segment[16];
	struct queue_spec spec; /* of a dropped or changed queue */
	struct text before;
};

static struct queue_spec random_spec(struct fixture *f, struct rng *rng)
{
	struct queue_spec s;
	char text[32];
	queue_spec_init(&s, f->names);
	s.sources = 1u << rng_below(rng, 4);
	s.max_apps = rng_next(rng);
	snprintf(text, sizeof(text), "%us", 1 + rng_below(rng, 50));
	if (rng_below(rng, 2) == 0)
		queue_prop_set(&s.props, "preemption.delay", text, NULL);
	snprintf(text, sizeof(text), "kai%llu", (unsigned long long)(rng_next(rng) >> 20));
	if (rng_below(rng, 3) == 0)
		s.kai_name = name_bag_add_str(&s.bag, text);
	return s;
}

static bool do_drop(struct fixture *f, struct step *s)
{
	const struct queue *q = queue_get(&f->t, s->id);
	if (s->id == QUEUE_ROOT || q->children.n > 0)
		return false;
	s->parent = q->parent;
	snprintf(s->segment, sizeof(s->segment), "%s", name_str(f->names, q->segment));
	queue_tree_drop(&f->t, s->id, &s->spec);
	return true;
}

static bool do_step(struct fixture *f, struct rng *rng, struct step *s)
{
	s->kind = rng_below(rng, 4);
	s->id = random_queue(f, rng);
	switch (s->kind) {
	case STEP_ADD:
		return random_add(f, rng, &s->id);
	case STEP_SET:
		s->spec = random_spec(f, rng);
		queue_tree_set(&f->t, s->id, &s->spec, &s->spec);
		return true;
	case STEP_MOVE:
		s->parent = queue_get(&f->t, s->id)->parent;
		return queue_tree_move(&f->t, s->id, random_queue(f, rng), NULL) == ERR_OK;
	default:
		return do_drop(f, s);
	}
}

static void undo_step(struct fixture *f, struct step *s)
{
	switch (s->kind) {
	case STEP_ADD:
		drop(f, s->id);
		break;
	case STEP_SET:
		queue_tree_set(&f->t, s->id, &s->spec, &s->spec);
		queue_spec_free(&s->spec);
		break;
	case STEP_MOVE:
		assert_int_equal(queue_tree_move(&f->t, s->id, s->parent, NULL), ERR_OK);
		break;
	case STEP_DROP:
		queue_tree_restore(&f->t, s->id, s->parent, s->segment, &s->spec);
		break;
	}
}

static void every_change_can_be_taken_back_exactly(void **state)
{
	struct fixture *f = *state;
	enum { STEPS = 60 };
	static struct step steps[STEPS];
	struct rng rng = {77};
	struct text now = {0};
	for (int round = 0; round < 100; round++) {
		uint32_t n = 0;
		while (n < STEPS) {
			tell(f, &steps[n].before);
			n += do_step(f, &rng, &steps[n]);
		}
		for (uint32_t keep = rng_below(&rng, 20); n > keep;) {
			undo_step(f, &steps[--n]);
			tell(f, &now);
			assert_string_equal(now.s, steps[n].before.s);
		}
		for (uint32_t i = 0; i < n; i++)
			if (steps[i].kind == STEP_SET || steps[i].kind == STEP_DROP)
				queue_spec_free(&steps[i].spec);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		text_free(&steps[i].before);
	text_free(&now);
}

static void ids_are_reused_and_arrays_end_with_the_last(void **state)
{
	struct fixture *f = *state;
	queue_id a = add(f, QUEUE_ROOT, "a"), b = add(f, QUEUE_ROOT, "b"), c = add(f, QUEUE_ROOT, "c");
	drop(f, b);
	drop(f, a);
	assert_int_equal(add(f, QUEUE_ROOT, "d"), a);
	assert_int_equal(add(f, QUEUE_ROOT, "e"), b);
	drop(f, b);
	drop(f, c);
	assert_int_equal(f->t.q.n, 2);
	assert_int_equal(f->t.free_ids.n, 0);
	for (int i = 0; i < 1000; i++) {
		queue_id id = add(f, QUEUE_ROOT, "x");
		assert_int_equal(id, b);
		drop(f, id);
	}
}

static void draining_is_a_mark_only(void **state)
{
	struct fixture *f = *state;
	queue_id a = add(f, QUEUE_ROOT, "a");
	queue_tree_drain(&f->t, a, true);
	assert_true(queue_get(&f->t, a)->is_draining);
	queue_tree_drain(&f->t, a, false);
	assert_false(queue_get(&f->t, a)->is_draining);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_root_is_always_there),
		TEST(paths_are_lower_case_and_found_in_any),
		TEST(children_are_sorted_by_path),
		TEST(a_segment_is_there_once_and_has_no_dot),
		TEST(depth_has_an_end),
		TEST(segments_for_names),
		TEST(names_of_queues),
		TEST(MR_7_a_cycle_of_parents_is_refused),
		TEST(a_move_takes_everything_below_along),
		TEST(kai_names_find_their_queue),
		TEST(the_smallest_maximum_on_the_way_up_holds),
		TEST(relations_agree_with_paths),
		TEST(every_change_can_be_taken_back_exactly),
		TEST(ids_are_reused_and_arrays_end_with_the_last),
		TEST(draining_is_a_mark_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
