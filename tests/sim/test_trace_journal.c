/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a daemon as a load (SI-5): its clusters, whom it saw go, whom it evicted. Journals of cede plan are
 * continued in tests/cli/test_simulate.py, those of a real daemon in tests/cluster/live/test_run_continue.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "journal/live.h"
#include "manifest/manifest.h"
#include "sim/trace_journal.h"
#include "units/duration.h"
#include "units/timestamp.h"

static char folder[64], path[96];
static struct err e;

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/cede-trace-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/j.db", folder);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static int remove_folder(void **state)
{
	return forget(state) || rmdir(folder);
}

/* ---- what is written ---- */

static int64_t at(const char *clock)
{
	char s[32];
	int64_t ns = 0;

	snprintf(s, sizeof(s), "2026-11-15T%s:00Z", clock);
	assert_int_equal(timestamp_parse(s, strlen(s), &ns, NULL), ERR_OK);
	return ns;
}

/* created, started: clocks; started "": it waits. owner: of a ReplicaSet, ran: of one that is gone; or "". */
static void add_pod(struct text *t, const char *name, const char *created, const char *started, const char *owner,
		    const char *ran)
{
	text_printf(t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\","
		    "\"uid\":\"uid-%s\",\"creationTimestamp\":\"2026-11-15T%s:00Z\"",
		    name, name, created);
	if (*owner)
		text_printf(t,
			    ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"%s\","
			    "\"uid\":\"u\",\"controller\":true}]",
			    owner);
	if (*ran)
		text_printf(t, ",\"annotations\":{\"cede.dev/run-time\":\"%s\"}", ran);
	text_printf(t, "},\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}",
		    *started ? "\"nodeName\":\"n\"," : "");
	if (*started)
		text_printf(t, ",\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-11-15T%s:00Z\"}", started);
	text_add(t, "}\n");
}

struct cluster_text {
	struct text state, gone;
	bool is_open;
};

static void here(struct cluster_text *c, const char *name, const char *created, const char *started, const char *owner)
{
	text_add(&c->state, c->is_open ? "," : "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
	c->is_open = true;
	add_pod(&c->state, name, created, started, owner, "");
}

static struct journal_live *start(enum journal_source source)
{
	struct journal_session s = {.source = source, .now_ns = at("12:00"), .profile = "default", .version = "1"};
	struct journal_live *live;

	if (journal_live_open(path, &s, &live, &e))
		fail_msg("%s", e.msg);
	return live;
}

static void stop(struct journal_live *live)
{
	if (journal_live_close(live, &e))
		fail_msg("%s", e.msg);
}

/* In a life of its own, so that it is written when this returns. */
static void keep(enum journal_source source, struct cluster_text *c, const char *clock)
{
	struct journal_live *live = start(source);
	struct journal_cluster x = {.at_ns = at(clock), .profile = "kubernetes"};
	char name[128];

	snprintf(name, sizeof(name), "%s/c-XXXXXX", folder);
	x.fd = mkstemp(name);
	unlink(name);
	text_add(&c->state, c->is_open ? "]}" : "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}");
	assert_int_equal(write(x.fd, text_str(&c->state), c->state.n + 1), c->state.n + 1);
	assert_int_equal(write(x.fd, text_str(&c->gone), c->gone.n + 1), c->gone.n + 1);
	journal_live_cluster(live, &x);
	stop(live);
	text_free(&c->state);
	text_free(&c->gone);
	*c = (struct cluster_text){0};
}

/* A pod is placed; victim "": nobody has to go for it. */
static void decide(enum journal_source source, const char *uid, const char *victim, const char *clock,
		   const char *failed)
{
	struct journal_live *live = start(source);
	struct journal_victim v = {
		.pod = "ns/v", .uid = victim, .group = "", .queue = "", .node = "n", .workload = "", .rule = ""};
	struct journal_decision d = {.cycle = 1,
				     .pod = "ns/p",
				     .uid = uid,
				     .group = "",
				     .queue = "",
				     .outcome = "placed",
				     .action = "preempt",
				     .node = "n",
				     .rule = "",
				     .until = "",
				     .message = "",
				     .json = "{}",
				     .n_victims = *victim != 0,
				     .victims = &v};

	journal_live_decide(live, &d, at(clock));
	if (*failed)
		journal_live_outcome(
			live, &(struct journal_outcome){JOURNAL_EVICTION, victim, JOURNAL_FAILED, at(clock), failed});
	stop(live);
}

/* ---- what is read ---- */

struct reading {
	struct trace_journal *t;
	struct vocab *vocab;
	struct cluster *cluster;
	struct sim_load load;
};

static void duration(struct text *out, int64_t ns)
{
	if (ns == SIM_ENDLESS)
		text_add(out, "endless");
	else
		duration_text_short(ns, out);
}

static void add_job(struct text *out, const struct sim_job *j)
{
	struct text t = {0};

	timestamp_text(j->arrives_ns, &t);
	text_printf(out, "%s at %.5s ", j->name, text_str(&t) + 11);
	duration(out, j->run_ns);
	text_add(out, "\n");
	text_free(&t);
}

static void build_first(struct reading *r)
{
	struct manifest *m = manifest_new(r->vocab);
	struct engine_config *config = engine_config_new();
	struct cluster_options o = engine_config_cluster_options(config, trace_journal_from(r->t));
	struct text made = {0};

	trace_journal_cluster(r->t, false, &made);
	if (manifest_read_bytes(m, path, text_str(&made), made.n, &e) || manifest_build(m, &o, &r->cluster, &e))
		r->cluster = NULL;
	manifest_free(m);
	engine_config_free(config);
	text_free(&made);
}

static void describe_first(struct reading *r, struct text *out)
{
	const struct ledger *l = cluster_ledger(r->cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct obj_pod *p = ledger_pod(l, i)->obj;
		struct sim_job job = {.run_ns = SIM_ENDLESS};

		trace_journal_describe(r->t, p, &job);
		text_printf(out, "first %s ", name_str(vocab_names(r->vocab), p->name));
		duration(out, job.run_ns);
		text_add(out, "\n");
	}
	for (group_id i = 0; i < ledger_group_limit(l); i++)
		text_printf(out, "group %s of %d\n", name_str(vocab_names(r->vocab), ledger_group(l, i)->obj->name),
			    ledger_group(l, i)->obj->min_member);
}

static void describe_load(struct reading *r, struct text *out)
{
	struct sim_job job;
	bool has = true;

	describe_first(r, out);
	while (!r->load.next(r->load.ctx, &job, &has, &e) && has)
		add_job(out, &job);
	text_printf(out, "%s\n", trace_journal_note(r->t));
}

/* What it begins with, what arrives and what is said of it; or the error. */
static void expect(int64_t at_ns, const char *expected)
{
	struct reading r = {.vocab = vocab_new()};
	struct text out = {0};

	if (trace_journal_open(path, at_ns, &r.t, &e)) {
		text_add(&out, e.msg);
	} else {
		build_first(&r);
		if (!r.cluster || trace_journal_jobs(r.t, r.cluster, &r.load, &e))
			text_add(&out, e.msg);
		else
			describe_load(&r, &out);
		trace_journal_free(r.t);
		if (r.cluster)
			cluster_free(r.cluster);
	}
	if (!strstr(text_str(&out), expected))
		fail_msg("%s", text_str(&out));
	vocab_free(r.vocab);
	text_free(&out);
}

/* ---- tests ---- */

static void SI_5_what_a_daemon_saw_arrives_and_ends_again(void **state)
{
	struct cluster_text c = {0};

	(void)state;
	here(&c, "a", "11:00", "11:00", "");
	here(&c, "s1", "11:30", "11:30", "r");
	keep(JOURNAL_LIVE, &c, "12:00");
	decide(JOURNAL_LIVE, "uid-x", "uid-s1", "12:10", "");
	decide(JOURNAL_LIVE, "uid-q", "", "12:30", "");
	add_pod(&c.gone, "s1", "11:30", "11:30", "r", "40m");
	add_pod(&c.gone, "c", "12:15", "12:20", "", "5m");
	add_pod(&c.gone, "a", "11:00", "11:00", "", "1h30m");
	here(&c, "s2", "12:10", "12:30", "r");
	here(&c, "x", "12:05", "12:11", "");
	here(&c, "w", "12:50", "", "");
	keep(JOURNAL_LIVE, &c, "13:00");
	decide(JOURNAL_LIVE, "uid-z", "", "13:30", "");
	add_pod(&c.gone, "s2", "12:10", "12:30", "r", "1h");
	here(&c, "x", "12:05", "12:11", "");
	here(&c, "y", "13:10", "13:10", "");
	keep(JOURNAL_LIVE, &c, "14:00");
	keep(JOURNAL_LIVE, &c, "15:00"); /* nobody looked in between: y and x are gone */
	expect(TIME_NONE,
	       "first a 1h30m\n"
	       "first s1 1h\n" /* s2 is the same work */
	       "x at 12:05 2h49m\n"
	       "c at 12:15 5m\n"
	       "w at 12:50 endless\n"
	       "y at 13:10 1h50m\n"
	       "run time: of 5 of 6 pods is known, of 3 as the daemon saw them go, of the rest from their start to "
	       "the run in which they were gone; the others run to the end; left out: 2 pods that were decided "
	       "upon and are in no cluster\n");
	expect(at("13:20"), "first s2 1h\nfirst x 2h49m\nfirst w endless\ny at 13:10 1h50m\n");
	expect(at("13:20"), "left out: 1 pods");
	expect(at("23:00"), "run time: of 0 of 0 pods from");
	expect(at("11:59"), "j.db: --now: none of its clusters is of 2026-11-15T11:59:00Z or before");
}

static void an_eviction_counts_only_if_it_was_carried_out(void **state)
{
	static const struct {
		const char *sentence;
		enum journal_source source;
		const char *failed, *expected;
	} rows[] = {
		{"carried out: what comes back is the same work", JOURNAL_LIVE, "",
		 "first s1 endless\nrun time: of 0 of 1"},
		{"it failed: it ended by itself, and another came", JOURNAL_LIVE, "409",
		 "first s1 40m\ns2 at 12:10 endless\n"},
		{"in a shadow nobody goes", JOURNAL_SHADOW, "", "first s1 40m\ns2 at 12:10 endless\n"},
		{"nor in a dry run", JOURNAL_DRY_RUN, "", "first s1 40m\ns2 at 12:10 endless\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cluster_text c = {0};

		print_message("%s\n", rows[i].sentence);
		here(&c, "s1", "11:30", "11:30", "r");
		keep(rows[i].source, &c, "12:00");
		decide(rows[i].source, "uid-s2", "uid-s1", "12:10", rows[i].failed);
		add_pod(&c.gone, "s1", "11:30", "11:30", "r", "40m");
		here(&c, "s2", "12:10", "12:30", "r");
		keep(rows[i].source, &c, "13:00");
		expect(TIME_NONE, rows[i].expected);
		forget(NULL);
	}
}

/* The daemon decided it and ended; the next one found it gone. */
static void one_that_had_to_go_while_nobody_looked_comes_back(void **state)
{
	struct cluster_text c = {0};

	(void)state;
	here(&c, "s1", "11:30", "11:30", "r");
	keep(JOURNAL_LIVE, &c, "12:00");
	decide(JOURNAL_LIVE, "uid-s1", "uid-s1", "12:10", "");
	keep(JOURNAL_LIVE, &c, "12:30");
	here(&c, "s2", "12:40", "12:40", "r");
	keep(JOURNAL_LIVE, &c, "13:00");
	keep(JOURNAL_LIVE, &c, "13:10");
	expect(TIME_NONE, "first s1 1h10m\nrun time: of 1 of 1"); /* 40 minutes, and 30 after it was made again */
}

/* A name is not a pod: one that is made anew under the name of one that ended is other work. */
static void a_name_that_comes_again_is_other_work(void **state)
{
	struct cluster_text c = {0};

	(void)state;
	here(&c, "a", "11:00", "11:00", "");
	keep(JOURNAL_LIVE, &c, "12:00");
	add_pod(&c.gone, "a", "11:00", "11:00", "", "1h10m");
	text_add(&c.gone,
		 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":"
		 "\"2\","
		 "\"creationTimestamp\":\"2026-11-15T12:20:00Z\",\"annotations\":{\"cede.dev/run-time\":\"3m\"}},"
		 "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\"}]},\"status\":{\"startTime\":"
		 "\"2026-11-15T12:20:00Z\"}}\n");
	keep(JOURNAL_LIVE, &c, "13:00");
	expect(TIME_NONE, "first a 1h10m\na at 12:20 3m\n");
}

static void group(struct cluster_text *c, const char *name, int members)
{
	text_add(&c->state, c->is_open ? "," : "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
	c->is_open = true;
	text_printf(
		&c->state,
		"{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"%s\","
		"\"namespace\":\"ns\"},\"spec\":{\"minMember\":%d,\"subGroups\":[{\"name\":\"x\",\"minMember\":1}]}}",
		name, members);
}

/* Pods that arrive find their group, which nobody else would make. */
static void groups_that_come_later_are_there(void **state)
{
	struct cluster_text c = {0};

	(void)state;
	group(&c, "first", 2);
	keep(JOURNAL_LIVE, &c, "12:00");
	group(&c, "first", 3);
	group(&c, "later", 4);
	keep(JOURNAL_LIVE, &c, "13:00");
	expect(TIME_NONE, "group first of 2\ngroup later of 4\nrun time");
}

static void what_cannot_be_continued_is_told(void **state)
{
	struct cluster_text c = {0};

	(void)state;
	expect(TIME_NONE, "j.db: No such file or directory");
	decide(JOURNAL_LIVE, "uid-a", "", "12:00", ""); /* as daemons did before they kept clusters */
	expect(TIME_NONE,
	       "j.db: none of its 1 runs kept its cluster; those of cede plan --journal do, and those of cede run "
	       "--journal, unless it is told not to (--journal-cluster none) or was older");
	forget(NULL);
	keep(JOURNAL_LIVE, &c, "12:00");
	text_add(&c.gone, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"");
	keep(JOURNAL_LIVE, &c, "13:00");
	expect(TIME_NONE, "j.db:1:");
	forget(NULL);
	text_add(&c.state, "{\"kind\":\"List\",\"items\":[{");
	c.is_open = true;
	keep(JOURNAL_LIVE, &c, "12:00");
	expect(TIME_NONE, "j.db:1:");
	assert_int_equal(truncate(path, 9000), 0);
	expect(TIME_NONE, "j.db: damaged: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(SI_5_what_a_daemon_saw_arrives_and_ends_again, forget),
		cmocka_unit_test_teardown(an_eviction_counts_only_if_it_was_carried_out, forget),
		cmocka_unit_test_teardown(one_that_had_to_go_while_nobody_looked_comes_back, forget),
		cmocka_unit_test_teardown(a_name_that_comes_again_is_other_work, forget),
		cmocka_unit_test_teardown(groups_that_come_later_are_there, forget),
		cmocka_unit_test_teardown(what_cannot_be_continued_is_told, forget),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
