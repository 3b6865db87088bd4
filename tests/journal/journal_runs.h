/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal_runs.h - runs to be written into journals and compared with what is read from them, and the files they are
 * in. Run number n is always the same. For tests of one program: everything is static.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/text.h"
#include "journal/store.h"
#include "manifest/fields.h"

enum { LINES = 400 };

static char folder[64];

static inline const char *file(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static inline int make_folder(void **state)
{
	/* In memory where that can be had: what is written a thousand times need not outlive a power failure. */
	(void)state;
	snprintf(folder, sizeof(folder), "%s/cede-journal-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static inline void forget(const char *name)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char path[128];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", file(name), ends[i]);
		unlink(path);
	}
}

/* ---- runs ---- */

/* Lines that differ in few places from one run to the next, and are long enough for several chunks. */
static inline const char *make_state(struct arena *a, uint32_t seed)
{
	struct text t = {0};
	char *s;

	text_add(&t, "{\"kind\":\"List\",\"items\":[");
	for (uint32_t i = 0; i < LINES; i++)
		text_printf(&t, "{\"kind\":\"Pod\",\"uid\":\"%016llx\"},",
			    (unsigned long long)hash_u64(i % 7 == seed ? i * 99 + seed : i));
	text_add(&t, "{}]}");
	s = arena_strndup(a, t.s, t.n);
	text_free(&t);
	return s;
}

static inline struct journal_run make_run(uint32_t seed)
{
	struct journal_run run = {.arena = arena_new(4096)};
	struct arena *a = run.arena;

	run.source = JOURNAL_PLAN;
	run.now_ns = run.end_ns = (INT64_C(1800000000) + seed) * NS_PER_S + 5;
	run.profile = "default";
	run.version = "0.0.1";
	run.cycles = 1 + seed;
	run.reclaim_is_off = seed % 2;
	run.quota_is_on = !(seed % 2);
	run.n_settings = seed % 3;
	run.settings = arena_n(a, 3, struct journal_setting);
	for (uint32_t i = 0; i < run.n_settings; i++)
		run.settings[i] = (struct journal_setting){arena_printf(a, "s%u.yaml", i), "kind: CedeConfiguration\n"};
	run.has_state = true;
	run.state = make_state(a, seed);
	run.n_decisions = 2;
	run.decisions = arena_n(a, 2, struct journal_decision);
	run.decisions[0] = (struct journal_decision){.cycle = 1,
						     .pod = arena_printf(a, "ns/p%u", seed),
						     .uid = arena_printf(a, "uid-%u", seed),
						     .group = "ns/g",
						     .queue = "root.a",
						     .outcome = "nominated",
						     .action = "reclaim",
						     .node = "n1",
						     .rule = "",
						     .until = "",
						     .message = "0/1 nodes",
						     .json = "{\"pod\":\"ns/p\"}",
						     .n_victims = 2};
	run.decisions[0].victims = arena_n(a, 2, struct journal_victim);
	run.decisions[0].victims[0] = (struct journal_victim){"ns/v", "uid-v",	 "ns/h",      "root.b", "n1",
							      "ns/h", "opt-out", 3600 + seed, false,	NULL};
	run.decisions[0].victims[1] =
		(struct journal_victim){"ns/w", "", "", "root.b", "n1", "it \xC3\xA9", "", seed, seed % 2, NULL};
	run.decisions[1] = (struct journal_decision){.cycle = 2,
						     .pod = "",
						     .uid = "",
						     .group = "",
						     .queue = "root.c",
						     .outcome = "evicted",
						     .action = "quota",
						     .node = "",
						     .rule = "delay",
						     .until = "2027-01-15T08:00:00Z",
						     .message = "",
						     .json = "{}"};
	return run;
}

static inline void add_words(struct text *t, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_printf(t, "|%s", v[i]);
}

/* Everything a run has, in one text. */
static inline void dump_run(const struct journal_run *r, struct text *t)
{
	text_printf(t, "run %lld %d %lld %lld %s %s %u %d %d %d\n%s\n", (long long)r->id, (int)r->source,
		    (long long)r->now_ns, (long long)r->end_ns, r->profile, r->version, r->cycles, r->reclaim_is_off,
		    r->quota_is_on, r->has_state, r->state);
	for (uint32_t i = 0; i < r->n_settings; i++)
		text_printf(t, "setting %s: %s\n", r->settings[i].file, r->settings[i].document);
	for (uint32_t i = 0; i < r->n_decisions; i++) {
		const struct journal_decision *d = &r->decisions[i];

		text_printf(t, "\ndecision %u", d->cycle);
		add_words(t,
			  (const char *[]){d->pod, d->uid, d->group, d->queue, d->outcome, d->action, d->node, d->rule,
					   d->until, d->message, d->json},
			  11);
		for (uint32_t k = 0; k < d->n_victims; k++) {
			const struct journal_victim *v = &d->victims[k];

			text_printf(t, "\nvictim %lld %d", (long long)v->lost_seconds, v->was_leaving);
			add_words(t,
				  (const char *[]){v->pod, v->uid, v->group, v->queue, v->node, v->workload, v->rule},
				  7);
		}
	}
}

/* Who had to go, as the index has it. */
static inline void dump_evictions(const struct journal_run *r, struct text *t)
{
	for (uint32_t i = 0; i < r->n_evictions; i++) {
		const struct journal_eviction *x = &r->evictions[i];

		text_printf(t, "\neviction %u %lld %u %d %lld", x->seq, (long long)x->at_ns, x->cycle, (int)x->state,
			    (long long)x->victim.lost_seconds);
		add_words(t,
			  (const char *[]){x->victim.pod, x->victim.uid, x->victim.queue, x->victim.workload, x->action,
					   x->for_pod, x->for_group, x->for_queue, x->for_node, x->reason},
			  10);
	}
}

static inline void append(struct journal *j, uint32_t seed)
{
	struct journal_run run = make_run(seed);
	struct err e = {0};

	if (journal_append(j, &run, &e))
		fail_msg("%s", e.msg);
	journal_run_free(&run);
}

static inline void write_journal(const char *name, uint32_t n)
{
	struct journal *j;
	struct err e = {0};

	forget(name);
	if (journal_open(file(name), JOURNAL_WRITE, &j, &e))
		fail_msg("%s", e.msg);
	for (uint32_t i = 0; i < n; i++)
		append(j, i);
	journal_close(j);
}

static inline enum err_code check(struct journal *j, struct err *e)
{
	struct text complaints = {0};
	struct journal_report r = {.complaints = &complaints};
	enum err_code rc = journal_check(j, &r, e);

	if (!rc && complaints.n) {
		err_set(e, ERR_INPUT, "%s: %s", "check", text_str(&complaints));
		rc = ERR_INPUT;
	}
	text_free(&complaints);
	return rc;
}

static inline enum err_code dump_one(struct journal *j, int64_t id, struct text *t, struct err *e)
{
	struct journal_run run;

	TRY(journal_read(j, id, true, &run, e));
	dump_run(&run, t);
	journal_run_free(&run);
	TRY(journal_read_evictions(j, id, &run, e));
	dump_evictions(&run, t);
	journal_run_free(&run);
	return ERR_OK;
}

/* All runs as a text, without checking more than what is read; the error instead if there is one. */
static inline enum err_code dump_journal(const char *name, struct text *t)
{
	struct journal *j = NULL;
	struct err e = {0};
	enum err_code rc = journal_open(file(name), JOURNAL_READ, &j, &e);

	for (uint32_t i = 0; !rc && i < journal_run_count(j); i++)
		rc = dump_one(j, journal_run_id(j, i), t, &e);
	journal_close(j);
	if (rc) {
		text_reset(t);
		text_add(t, e.msg);
	}
	return rc;
}

static inline void expect_evictions(const struct journal_run *run, struct text *t)
{
	const struct journal_decision *d = &run->decisions[0];

	for (uint32_t i = 0; i < d->n_victims; i++) {
		const struct journal_victim *v = &d->victims[i];

		if (v->was_leaving)
			continue;
		text_printf(t, "\neviction 0 %lld 1 %d %lld", (long long)run->now_ns, (int)JOURNAL_PLANNED,
			    (long long)v->lost_seconds);
		add_words(t,
			  (const char *[]){v->pod, v->uid, v->queue, v->workload, d->action, d->pod, d->group, d->queue,
					   d->node, ""},
			  10);
	}
}

static inline void dump_expected(uint32_t n, struct text *t)
{
	for (uint32_t i = 0; i < n; i++) {
		struct journal_run run = make_run(i);

		run.id = i + 1;
		dump_run(&run, t);
		expect_evictions(&run, t);
		journal_run_free(&run);
	}
}

/* ---- bytes ---- */

struct bytes {
	unsigned char *v;
	size_t n;
};

static inline struct bytes read_bytes(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bytes b = {0};

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	b.n = (size_t)ftell(f);
	rewind(f);
	b.v = mem_alloc(b.n + 1);
	assert_int_equal(fread(b.v, 1, b.n, f), b.n);
	fclose(f);
	return b;
}

static inline void write_bytes(const char *path, const void *v, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(v, 1, n, f), n);
	fclose(f);
}

static inline void run_sql(const char *name, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(file(name), &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}
