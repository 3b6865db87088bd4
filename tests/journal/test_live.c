/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon's journal: what is handed over is on the disk when it says so, what came of it is found by its uid also
 * after a restart, and the history of evictions is there again. A daemon that is killed at any moment has lost nothing
 * that it was told to be safe.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "journal/history.h"
#include "journal/live.h"
#include "journal/salvage.h"
#include "journal/store.h"

#define NOW_NS (INT64_C(1800000000) * NS_PER_S)
#define HOUR_NS (INT64_C(3600) * NS_PER_S)

static char folder[64], path[96];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "%s/cede-live-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/j.db", folder);
	return 0;
}

static int forget(void **state)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char name[128];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	return 0;
}

static int remove_folder(void **state)
{
	forget(state);
	return rmdir(folder);
}

/* ---- a daemon ---- */

static struct journal_live *start(enum journal_source source)
{
	struct journal_setting setting = {"cede.yaml", "kind: CedeConfiguration\n"};
	struct journal_session s = {.source = source,
				    .now_ns = NOW_NS,
				    .profile = "default",
				    .version = "1",
				    .n_settings = 1,
				    .settings = &setting};
	struct journal_live *live;
	struct err e = {0};

	if (journal_live_open(path, &s, &live, &e))
		fail_msg("%s", e.msg);
	return live;
}

static void stop(struct journal_live *live)
{
	struct err e = {0};

	if (journal_live_close(live, &e))
		fail_msg("%s", e.msg);
}

/* Pod a<i> is nominated and b<i> has to go for it, uids as names. */
static uint64_t evict(struct journal_live *live, uint32_t i, int64_t at_ns)
{
	char pod[32], victim[32], workload[32];
	struct journal_victim v = {.pod = victim,
				   .uid = victim,
				   .group = "",
				   .queue = "root.b",
				   .node = "n",
				   .workload = workload,
				   .rule = "",
				   .lost_seconds = 60};
	struct journal_decision d = {.cycle = 1,
				     .pod = pod,
				     .uid = pod,
				     .group = "",
				     .queue = "root.a",
				     .outcome = "nominated",
				     .action = "reclaim",
				     .node = "n",
				     .rule = "",
				     .until = "",
				     .message = "",
				     .json = "{}",
				     .n_victims = 1,
				     .victims = &v};

	snprintf(pod, sizeof(pod), "a%u", i);
	snprintf(victim, sizeof(victim), "b%u", i);
	snprintf(workload, sizeof(workload), "w%u", i % 3);
	return journal_live_decide(live, &d, at_ns);
}

static uint64_t tell(struct journal_live *live, enum journal_write_kind kind, const char *uid, enum journal_state state,
		     const char *reason)
{
	return journal_live_outcome(live, &(struct journal_outcome){kind, uid, state, NOW_NS + NS_PER_S, reason});
}

static void wait_event(struct journal_live *live)
{
	struct pollfd p = {.fd = journal_live_fd(live), .events = POLLIN};
	uint64_t n;

	assert_int_equal(poll(&p, 1, 60000), 1);
	if (read(p.fd, &n, sizeof(n)) != sizeof(n))
		fail_msg("the event was not there");
}

static void wait_durable(struct journal_live *live, uint64_t ticket)
{
	while (journal_live_durable(live) < ticket)
		wait_event(live);
}

/* ---- a cluster ---- */

/* Of a run with other settings; the bytes are those of its file. */
static void hand_over(struct journal_live *live, const char *bytes, size_t n, int64_t at_ns)
{
	struct journal_setting settings[] = {{"a.yaml", "a: 1"}, {"b.yaml", "b: 2"}};
	struct journal_cluster c = {.at_ns = at_ns, .profile = "kai", .n_settings = 2, .settings = settings};
	char name[128];

	snprintf(name, sizeof(name), "%s/cluster-XXXXXX", folder);
	c.fd = mkstemp(name);
	assert_true(c.fd >= 0);
	unlink(name);
	assert_int_equal(write(c.fd, bytes, n), n);
	journal_live_cluster(live, &c);
}

/* What is said of it is waited for. */
static void expect_problem(struct journal_live *live, const char *part)
{
	struct text t = {0};

	while (!t.n) {
		wait_event(live);
		journal_live_clusters_done(live, &t);
	}
	if (!strstr(text_str(&t), part))
		fail_msg("%s", text_str(&t));
	text_reset(&t);
	journal_live_clusters_done(live, &t); /* told once */
	assert_int_equal(t.n, 0);
	text_free(&t);
}

/* ---- what is in the file ---- */

static void dump(struct text *t)
{
	struct text complaints = {0};
	struct journal_report report = {.complaints = &complaints};
	struct journal *j;
	struct err e = {0};

	if (journal_open(path, JOURNAL_READ, &j, &e) || journal_check(j, &report, &e) || complaints.n)
		fail_msg("%s%s", e.msg, text_str(&complaints));
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run = {0}, rows = {0};

		if (journal_read(j, journal_run_id(j, i), true, &run, &e) ||
		    journal_read_evictions(j, journal_run_id(j, i), &rows, &e))
			fail_msg("%s", e.msg);
		text_printf(t, "run %lld %s %u settings", (long long)run.id, journal_source_text(run.source),
			    run.n_settings);
		if (run.has_state)
			text_printf(t, " %s %s [%s|%s]", run.profile, run.settings[0].document, run.state, run.gone);
		for (uint32_t k = 0; k < run.n_decisions; k++)
			text_printf(t, " %s:%s(%u)", run.decisions[k].pod, journal_state_text(run.decisions[k].state),
				    run.decisions[k].n_victims);
		for (uint32_t k = 0; k < rows.n_evictions; k++)
			text_printf(t, " %s:%s%s%s", rows.evictions[k].victim.pod,
				    journal_state_text(rows.evictions[k].state), *rows.evictions[k].reason ? "=" : "",
				    rows.evictions[k].reason);
		text_add_char(t, '\n');
		journal_run_free(&run);
		journal_run_free(&rows);
	}
	journal_close(j);
	text_free(&complaints);
}

static void expect(const char *expected)
{
	struct text t = {0};

	dump(&t);
	assert_string_equal(text_str(&t), expected);
	text_free(&t);
}

/* ---- tests ---- */

static void what_is_decided_is_open_until_it_is_seen(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);

	(void)state;
	evict(live, 1, NOW_NS);
	evict(live, 2, NOW_NS);
	wait_durable(live, evict(live, 3, NOW_NS));
	expect("run 1 run 1 settings a1:decided(1) a2:decided(1) a3:decided(1) b1:decided b2:decided b3:decided\n");
	tell(live, JOURNAL_EVICTION, "b1", JOURNAL_CARRIED_OUT, "");
	tell(live, JOURNAL_EVICTION, "b2", JOURNAL_FAILED, "409");
	tell(live, JOURNAL_PLACEMENT, "a1", JOURNAL_OBSERVED, "");
	wait_durable(live, tell(live, JOURNAL_EVICTION, "nobody", JOURNAL_OBSERVED, ""));
	expect("run 1 run 1 settings a1:observed(1) a2:decided(1) a3:decided(1) b1:carried-out b2:failed=409 "
	       "b3:decided\n");
	tell(live, JOURNAL_EVICTION, "b1", JOURNAL_OBSERVED, "");
	wait_durable(live, tell(live, JOURNAL_EVICTION, "b2", JOURNAL_OBSERVED, "")); /* it was over */
	stop(live);
	expect("run 1 run 1 settings a1:observed(1) a2:decided(1) a3:decided(1) b1:observed b2:failed=409 "
	       "b3:decided\n");
}

static void who_only_watches_plans(void **state)
{
	static const enum journal_source sources[] = {JOURNAL_DRY_RUN, JOURNAL_SHADOW};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct journal_live *live = start(sources[i]);

		evict(live, 1, NOW_NS);
		tell(live, JOURNAL_EVICTION, "b1", JOURNAL_OBSERVED, "");
		stop(live);
	}
	expect("run 1 dry-run 1 settings a1:planned(1) b1:planned\nrun 2 shadow 1 settings a1:planned(1) b1:planned\n");
}

static void a_day_is_a_run(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);

	(void)state;
	evict(live, 1, NOW_NS);
	evict(live, 2, NOW_NS + 23 * HOUR_NS);
	evict(live, 3, NOW_NS + 24 * HOUR_NS);
	tell(live, JOURNAL_EVICTION, "b1", JOURNAL_OBSERVED, "");
	evict(live, 4, NOW_NS - HOUR_NS); /* the clock was set back */
	stop(live);
	expect("run 1 run 1 settings a1:decided(1) a2:decided(1) b1:observed b2:decided\n"
	       "run 2 run 1 settings a3:decided(1) a4:decided(1) b3:decided b4:decided\n");
}

/* One pod decided upon twice, by two daemons: both are open, and both are over when it is gone. */
static void what_was_left_open_is_closed_by_the_next(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);
	struct arena *a = arena_new(4096);
	struct journal_open_write *open = NULL;
	uint32_t n;
	struct err e = {0};

	(void)state;
	evict(live, 1, NOW_NS);
	evict(live, 2, NOW_NS + 5);
	tell(live, JOURNAL_PLACEMENT, "a2", JOURNAL_FAILED, "gone");
	tell(live, JOURNAL_EVICTION, "b2", JOURNAL_CARRIED_OUT, "");
	stop(live);
	live = start(JOURNAL_LIVE);
	assert_int_equal(journal_live_open_writes(live, a, &open, &n, &e), ERR_OK);
	assert_int_equal(n, 3);
	assert_string_equal(open[0].uid, "b1");
	assert_int_equal(open[0].kind, JOURNAL_EVICTION);
	assert_string_equal(open[1].uid, "a1");
	assert_int_equal(open[1].kind, JOURNAL_PLACEMENT);
	assert_string_equal(open[2].uid, "b2");
	assert_int_equal(open[2].state, JOURNAL_CARRIED_OUT);
	evict(live, 1, NOW_NS + HOUR_NS);
	tell(live, JOURNAL_EVICTION, "b1", JOURNAL_OBSERVED, "");
	stop(live);
	expect("run 1 run 1 settings a1:decided(1) a2:failed(1) b1:observed b2:carried-out\n"
	       "run 2 run 1 settings a1:decided(1) b1:observed\n");
	arena_free(a);
}

static void MR_evictions_are_known_again_after_a_restart(void **state)
{
	struct journal_live *live = start(JOURNAL_SHADOW);
	struct names *names = names_new();
	struct eviction_history h;
	struct err e = {0};

	(void)state;
	evict(live, 3, NOW_NS); /* never happened */
	stop(live);
	live = start(JOURNAL_LIVE);
	evict(live, 0, NOW_NS - 2 * HOUR_NS); /* too long ago */
	for (uint32_t i = 1; i < 8; i++)
		evict(live, i, NOW_NS + (int64_t)(10 - i) * NS_PER_S);
	tell(live, JOURNAL_EVICTION, "b1", JOURNAL_OBSERVED, "");
	tell(live, JOURNAL_EVICTION, "b4", JOURNAL_FAILED, "409");
	stop(live);
	eviction_history_init(&h, names);
	assert_int_equal(journal_restore_evictions(path, NOW_NS - HOUR_NS, &h, &e), ERR_OK);
	assert_int_equal(h.v.n, 6);
	assert_int_equal(eviction_history_of_workload(&h, names_find(names, "w1", 2), NOW_NS - HOUR_NS).n, 2);
	assert_int_equal(eviction_history_of_queue(&h, names_find(names, "root.b", 6), NOW_NS - HOUR_NS).n, 6);
	for (uint32_t i = 1; i < h.v.n; i++)
		assert_true(h.v.v[i - 1].at_ns <= h.v.v[i].at_ns);
	eviction_history_free(&h);
	names_free(names);
	forget(NULL);
	eviction_history_init(&h, names = names_new());
	assert_int_equal(journal_restore_evictions(path, 0, &h, &e), ERR_OK); /* no journal yet: none */
	assert_int_equal(h.v.n, 0);
	eviction_history_free(&h);
	names_free(names);
}

static void old_days_go(void **state)
{
	struct journal_session s = {.source = JOURNAL_LIVE,
				    .now_ns = NOW_NS,
				    .profile = "default",
				    .version = "1",
				    .keep = {.age_ns = 30 * HOUR_NS}};
	struct journal_live *live;
	struct err e = {0};

	(void)state;
	assert_int_equal(journal_live_open(path, &s, &live, &e), ERR_OK);
	for (uint32_t day = 0; day < 5; day++)
		wait_durable(live, evict(live, day, NOW_NS + (int64_t)day * 24 * HOUR_NS));
	stop(live);
	expect("run 4 run 0 settings a3:decided(1) b3:decided\nrun 5 run 0 settings a4:decided(1) b4:decided\n");
}

#define WHOLE "{\"a\":1}\0{\"b\":2}" /* and the NUL of the literal */

static void a_cluster_begins_a_run(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);

	(void)state;
	wait_durable(live, evict(live, 1, NOW_NS));
	hand_over(live, WHOLE, sizeof(WHOLE), NOW_NS + 5);
	stop(live); /* it is written before the end */
	live = start(JOURNAL_LIVE);
	hand_over(live, "{}\0", 4, NOW_NS + 6);
	wait_event(live); /* until then decisions belong to the run before */
	evict(live, 2, NOW_NS + 7);
	tell(live, JOURNAL_EVICTION, "b1", JOURNAL_OBSERVED, "");
	stop(live);
	expect("run 1 run 1 settings a1:decided(1) b1:observed\n"
	       "run 2 run 2 settings kai a: 1 [{\"a\":1}|{\"b\":2}]\n"
	       "run 3 run 2 settings kai a: 1 [{}|] a2:decided(1) b2:decided\n");
}

static void salvage_keeps_clusters(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);
	struct text words = {0};
	struct salvage_report r = {.words = &words};
	char saved[128];
	struct err e = {0};

	(void)state;
	hand_over(live, WHOLE, sizeof(WHOLE), NOW_NS);
	wait_event(live);
	evict(live, 1, NOW_NS);
	stop(live);
	snprintf(saved, sizeof(saved), "%s.saved", path);
	if (journal_salvage(path, saved, &r, &e) || rename(saved, path))
		fail_msg("%s", e.msg);
	assert_int_equal(r.n_whole, 1);
	expect("run 1 run 2 settings kai a: 1 [{\"a\":1}|{\"b\":2}] a1:decided(1) b1:decided\n");
	text_free(&words);
}

static void a_cluster_that_is_not_whole_is_not_kept(void **state)
{
	static const struct {
		const char *sentence, *bytes;
		size_t n;
		const char *problem;
	} rows[] = {
		{"nothing", "", 0, "there is nothing"},
		{"no end", "{\"a\":1}", 7, "is not whole"},
		{"only the first text", "{\"a\":1}\0", 8, "is not whole"},
		{"the second text has no end", WHOLE, sizeof(WHOLE) - 1, "is not whole"},
		{"no cluster", "\0x", 3, "is not whole"},
		{"something behind it", "a\0b\0c", 6, "is not whole"},
	};
	struct journal_live *live = start(JOURNAL_LIVE);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		hand_over(live, rows[i].bytes, rows[i].n, NOW_NS);
		expect_problem(live, rows[i].problem);
	}
	wait_durable(live, evict(live, 1, NOW_NS));
	stop(live);
	expect("run 1 run 1 settings a1:decided(1) b1:decided\n");
}

static void old_clusters_go(void **state)
{
	struct journal_session s = {.source = JOURNAL_LIVE,
				    .now_ns = NOW_NS,
				    .profile = "default",
				    .version = "1",
				    .keep = {.age_ns = 3 * HOUR_NS}};
	struct journal_live *live;
	struct err e = {0};

	(void)state;
	for (int64_t hour = 0; hour < 8; hour++) {
		assert_int_equal(journal_live_open(path, &s, &live, &e), ERR_OK);
		hand_over(live, WHOLE, sizeof(WHOLE), NOW_NS + hour * HOUR_NS);
		stop(live);
	}
	expect("run 5 run 2 settings kai a: 1 [{\"a\":1}|{\"b\":2}]\n"
	       "run 6 run 2 settings kai a: 1 [{\"a\":1}|{\"b\":2}]\n"
	       "run 7 run 2 settings kai a: 1 [{\"a\":1}|{\"b\":2}]\n"
	       "run 8 run 2 settings kai a: 1 [{\"a\":1}|{\"b\":2}]\n");
}

/* Decisions go on: what is too large for the file holds nobody up. */
static void a_cluster_that_cannot_be_written_is_given_up(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);
	sqlite3 *db;

	(void)state;
	wait_durable(live, evict(live, 1, NOW_NS));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	hand_over(live, WHOLE, sizeof(WHOLE), NOW_NS);
	expect_problem(live, "somebody else has been writing to it");
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(db);
	wait_durable(live, evict(live, 2, NOW_NS));
	stop(live);
	expect("run 1 run 1 settings a1:decided(1) a2:decided(1) b1:decided b2:decided\n");
}

/* Somebody else has the file: nothing is waited for, everything is there afterwards. */
static void a_locked_journal_stops_nobody(void **state)
{
	struct journal_live *live = start(JOURNAL_LIVE);
	struct text problem = {0};
	uint64_t ticket = 0, lost;
	sqlite3 *db;

	(void)state;
	wait_durable(live, evict(live, 1, NOW_NS));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	for (uint32_t i = 2; i < 2000; i++)
		ticket = evict(live, i, NOW_NS);
	assert_true(journal_live_durable(live) < ticket);
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	wait_durable(live, ticket);
	journal_live_problem(live, &problem, &lost);
	assert_string_equal(text_str(&problem), "");
	assert_int_equal(lost, 0);
	stop(live);
	text_free(&problem);
}

/* In a child, because the limit on the size of files is that of a process. Says how many it has decided. */
static void fill_disk(int to)
{
	struct journal_live *live = start(JOURNAL_LIVE);
	struct rlimit limit = {.rlim_cur = 70000, .rlim_max = RLIM_INFINITY};
	struct text problem = {0};
	uint64_t lost = 0;
	struct err e = {0};
	uint32_t n = 0;

	signal(SIGXFSZ, SIG_IGN);
	wait_durable(live, evict(live, n++, NOW_NS));
	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(10);
	while (!lost) {
		for (int i = 0; i < 1000; i++)
			evict(live, n++, NOW_NS);
		text_reset(&problem);
		journal_live_problem(live, &problem, &lost);
	}
	while (!problem.n) {
		poll(NULL, 0, 20);
		journal_live_problem(live, &problem, &lost);
	}
	limit.rlim_cur = RLIM_INFINITY;
	if (!strstr(problem.s, "; nothing was recorded") || write(to, &n, sizeof(n)) != sizeof(n) ||
	    setrlimit(RLIMIT_FSIZE, &limit))
		_exit(11);
	_exit(journal_live_close(live, &e) ? 12 : 0);
}

static void a_full_disk_is_said_and_what_is_lost_is_counted(void **state)
{
	struct journal *j;
	struct journal_run run;
	struct err e = {0};
	uint32_t n = 0;
	int pipes[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child)
		fill_disk(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(pipes[0], &n, sizeof(n)), sizeof(n));
	assert_int_equal(journal_open(path, JOURNAL_READ, &j, &e), ERR_OK);
	assert_int_equal(journal_read_evictions(j, 1, &run, &e), ERR_OK);
	assert_true(run.n_lost > 0);
	assert_int_equal(run.n_evictions + run.n_lost, n);
	journal_run_free(&run);
	journal_close(j);
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- killed ---- */

static void decide_until_killed(int to)
{
	struct journal_live *live = start(JOURNAL_LIVE);
	char uid[32];

	for (uint32_t i = 0;; i++) {
		uint64_t durable;

		evict(live, i, NOW_NS);
		snprintf(uid, sizeof(uid), "b%u", i / 2);
		tell(live, JOURNAL_EVICTION, uid, JOURNAL_OBSERVED, "");
		if (i % 50 == 0)
			poll(NULL, 0, 2);
		if (i % 200 == 0)
			hand_over(live, WHOLE, sizeof(WHOLE), NOW_NS);
		durable = journal_live_durable(live);
		if (write(to, &durable, sizeof(durable)) != sizeof(durable))
			_exit(1);
	}
}

/* The last ticket of this life that the child was told to be safe; with is_first, as soon as there is one. */
static uint64_t read_durable(int from, bool is_first)
{
	uint64_t durable = 0, x;

	while (!(is_first && durable) && read(from, &x, sizeof(x)) == sizeof(x))
		durable = x;
	return durable;
}

static uint32_t count_decisions(void)
{
	struct text complaints = {0};
	struct journal_report report = {.complaints = &complaints};
	struct journal *j;
	struct err e = {0};
	uint32_t n = 0;

	if (journal_open(path, JOURNAL_READ, &j, &e)) { /* killed while it was made */
		assert_non_null(strstr(e.msg, "nothing has been recorded in it"));
		return 0;
	}
	if (journal_check(j, &report, &e) || complaints.n)
		fail_msg("%s%s", e.msg, text_str(&complaints));
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		assert_int_equal(journal_read(j, journal_run_id(j, i), true, &run, &e), ERR_OK);
		n += run.n_decisions;
		if (run.has_state)
			assert_string_equal(run.gone, "{\"b\":2}");
		journal_run_free(&run);
	}
	journal_close(j);
	return n;
}

/* Every fourth is killed while it begins, the others once they have written something. Its last safe ticket. */
static uint64_t live_and_die(uint32_t i)
{
	uint64_t first = 0, last;
	int pipes[2];
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		close(pipes[0]);
		decide_until_killed(pipes[1]);
	}
	close(pipes[1]);
	if (i % 4)
		first = read_durable(pipes[0], true);
	poll(NULL, 0, (int)(i * 7919 % 40));
	kill(child, SIGKILL);
	last = read_durable(pipes[0], false);
	close(pipes[0]);
	waitpid(child, NULL, 0);
	return last ? last : first;
}

static void CL_3_killed_at_any_moment_nothing_that_was_safe_is_lost(void **state)
{
	enum { KILLS = 40 };
	uint32_t before = 0;
	uint64_t safe = 0;

	(void)state;
	for (uint32_t i = 0; i < KILLS; i++) {
		uint64_t durable = live_and_die(i);
		uint32_t now = access(path, F_OK) == 0 ? count_decisions() : 0;

		if (now < before + (durable + 1) / 2)
			fail_msg("kill %u: %u decisions before, %u now, %llu were safe", i, before, now,
				 (unsigned long long)durable);
		before = now;
		safe += durable;
	}
	print_message("%d daemons killed, %u decisions whole, %llu were told to be safe\n", (int)KILLS, before,
		      (unsigned long long)(safe / 2));
	assert_true(before >= KILLS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_is_decided_is_open_until_it_is_seen, forget),
		cmocka_unit_test_teardown(who_only_watches_plans, forget),
		cmocka_unit_test_teardown(a_day_is_a_run, forget),
		cmocka_unit_test_teardown(what_was_left_open_is_closed_by_the_next, forget),
		cmocka_unit_test_teardown(MR_evictions_are_known_again_after_a_restart, forget),
		cmocka_unit_test_teardown(old_days_go, forget),
		cmocka_unit_test_teardown(a_cluster_begins_a_run, forget),
		cmocka_unit_test_teardown(a_cluster_that_is_not_whole_is_not_kept, forget),
		cmocka_unit_test_teardown(old_clusters_go, forget),
		cmocka_unit_test_teardown(salvage_keeps_clusters, forget),
		cmocka_unit_test_teardown(a_cluster_that_cannot_be_written_is_given_up, forget),
		cmocka_unit_test_teardown(a_locked_journal_stops_nobody, forget),
		cmocka_unit_test_teardown(a_full_disk_is_said_and_what_is_lost_is_counted, forget),
		cmocka_unit_test_teardown(CL_3_killed_at_any_moment_nothing_that_was_safe_is_lost, forget),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
