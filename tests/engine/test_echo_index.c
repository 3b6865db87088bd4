/* SPDX-License-Identifier: Apache-2.0 */
/* echo_index.h: what is kept is found by its key alone, and forgotten as soon as anything has moved. */
#include "engine/echo_index.h"

#include "engine/engine_fixture.h"

struct entry {
	uint32_t key[3];
	uint32_t value;
};

static struct echo_index x;

static int open_index(void **state)
{
	engine_open(state);
	put_cluster("node n cpu=4; pod a 1 cpu=1");
	echo_index_begin(&x, f.ledger, sizeof(((struct entry *)0)->key), sizeof(struct entry));
	return 0;
}

static int close_index(void **state)
{
	echo_index_end(&x);
	return engine_close(state);
}

static uint32_t value_of(uint32_t key)
{
	const struct entry e = {.key = {key, key % 7, 5}, .value = 12345}, *found = echo_index_find(&x, &e);

	return found ? found->value : 0;
}

static void add(uint32_t key, uint32_t value)
{
	const struct entry e = {.key = {key, key % 7, 5}, .value = value};

	echo_index_add(&x, &e);
}

static void an_entry_is_found_by_its_key(void **state)
{
	(void)state;
	assert_false(echo_index_follow(&x));
	assert_int_equal(value_of(1), 0);
	for (uint32_t i = 1; i <= 1000; i++)
		add(i, i * 3);
	for (uint32_t i = 1; i <= 1000; i++)
		assert_int_equal(value_of(i), i * 3);
	assert_int_equal(value_of(1001), 0);
	assert_true(echo_index_follow(&x));
	assert_int_equal(value_of(7), 21);
}

static void the_first_of_a_key_stays(void **state)
{
	(void)state;
	echo_index_follow(&x);
	add(1, 10);
	add(1, 20);
	assert_int_equal(value_of(1), 10);
}

static void all_is_forgotten_when_something_moved(void **state)
{
	pod_id a = pod_named("a");
	ledger_mark mark;

	(void)state;
	echo_index_follow(&x);
	add(1, 10);
	mark = ledger_get_mark(f.ledger);
	ledger_place(f.ledger, a, 0);
	assert_false(echo_index_follow(&x));
	assert_int_equal(value_of(1), 0);
	add(1, 20);
	assert_int_equal(value_of(1), 20);
	ledger_rollback(f.ledger, mark);
	assert_false(echo_index_follow(&x));
	assert_int_equal(value_of(1), 0);
}

/* A search that moves pods and takes all back leaves things as they stood. */
static void what_was_taken_back_did_not_move(void **state)
{
	ledger_mark mark;

	(void)state;
	echo_index_follow(&x);
	add(1, 10);
	mark = ledger_get_mark(f.ledger);
	ledger_place(f.ledger, pod_named("a"), 0);
	add(2, 20); /* found while it was there */
	ledger_rollback(f.ledger, mark);
	assert_true(echo_index_follow(&x));
	assert_int_equal(value_of(1), 10);
	assert_int_equal(value_of(2), 0);
}

#define INDEX_TEST(test) cmocka_unit_test_setup_teardown(test, open_index, close_index)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INDEX_TEST(an_entry_is_found_by_its_key),
		INDEX_TEST(the_first_of_a_key_stays),
		INDEX_TEST(all_is_forgotten_when_something_moved),
		INDEX_TEST(what_was_taken_back_did_not_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
