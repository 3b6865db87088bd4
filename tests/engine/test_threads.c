/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --threads: threads are started where there are nodes enough for them, whatever they find comes out as with one, and
 * one that cannot be started is no fault. pthread_create is our own here: it counts, and fails when told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "engine/engine_fixture.h"

enum { NODES = 5000 };

static struct {
	uint32_t asked, started, fails_every; /* every so many attempts fail; 0: none */
} threads;

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	create_fn create;
	void *found = dlsym(RTLD_NEXT, "pthread_create");

	memcpy(&create, &found, sizeof(create));
	threads.asked++;
	if (threads.fails_every && threads.asked % threads.fails_every == 0)
		return EAGAIN;
	threads.started++;
	return create(thread, attr, run, arg);
}

/*
 * Plain nodes, some hundred that lack one thing after as many that lack another, and among them some where budgets,
 * groups or reserved room take part.
 */
static void put_many(bool has_nominated)
{
	put_cluster("pdb b app=a 1; group g 1 all");
	for (int i = 0; i < NODES; i++) {
		const char *lacks = i / 300 % 2 ? "cpu" : "memory";

		put_cluster(arena_printf(
			f.arena, "node n%04d cpu=%d memory=%d; pod a%d@n%04d %d %s=1 +%d%s; pod b%d@n%04d 3 %s=1 +3%s",
			i, i / 300 % 2 ? 2 : 9, i / 300 % 2 ? 9 : 2, i, i, 2 + i % 3, lacks, 1 + i % 7,
			i % 50 == 7 ? " .app=a" : "", i, i, lacks, i % 100 == 9 ? " &g" : ""));
	}
	for (int i = 0; has_nominated && i < NODES; i += 500)
		put_cluster(arena_printf(f.arena, "pod w%d 5 cpu=1 memory=1 ^n%04d", i, i));
	for (int i = 0; i < 4; i++)
		put_cluster(arena_printf(f.arena, "pod p%d 9 cpu=2 memory=2", i));
}

static const char *plan_and_messages(void)
{
	const char *s = plan(1);

	for (uint32_t i = 0; i < en.last.v.n; i++)
		s = arena_printf(f.arena, "%s; %s", s, en.last.v.v[i].message);
	return s;
}

static const struct {
	const char *says;
	uint32_t threads, fails_every, started;
} rows[] = {
	{"one thread is the caller's", 1, 0, 0},
	{"two are one beside it", 2, 0, 1},
	{"eight find nodes enough", 8, 0, 7},
	{"more than there are nodes for are not started", 64, 0, NODES / 512 - 1},
	{"none can be started", 8, 1, 0},
	{"some cannot be started", 8, 3, 5},
};

static void check(bool has_nominated)
{
	const char *first = NULL;

	ledger_check_always(f.ledger, false);
	put_many(has_nominated);
	for (size_t i = 0; i < COUNT(rows); i++) {
		ledger_mark mark = ledger_get_mark(f.ledger);
		const char *got;

		memset(&threads, 0, sizeof(threads));
		threads.fails_every = rows[i].fails_every;
		en.config->threads = rows[i].threads;
		got = plan_and_messages();
		first = first ? first : got;
		expect_text(rows[i].says, got, first);
		if (threads.started < rows[i].started || (!rows[i].started && threads.started))
			fail_msg("%s: %u threads, at least %u expected", rows[i].says, threads.started,
				 rows[i].started);
		ledger_rollback(f.ledger, mark);
		engine_stop();
	}
	assert_non_null(strstr(first, "p0=>"));
}

static void KF_6_threads_are_started_and_decide_the_same(void **state)
{
	(void)state;
	check(false);
}

/* Nominated pods are tried otherwise than the rest. */
static void KF_6_threads_decide_the_same_where_room_is_reserved(void **state)
{
	(void)state;
	check(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_6_threads_are_started_and_decide_the_same),
		ENGINE_TEST(KF_6_threads_decide_the_same_where_room_is_reserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
