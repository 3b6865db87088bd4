/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_run.h - decisions measured: all waiting pods at one moment, as `cede plan` does, or one waiting pod after the
 * other, each ten seconds later than the last, as a daemon does. Time of the processor.
 */
#pragma once

#include <time.h>

#include "base/emit.h"
#include "live_cluster.h"

struct live_run {
	double first_ms, ms; /* of the first decision where there are single ones; of all */
	uint32_t decided, nominated, victims;
	uint64_t n_protected;
};

static inline double live_run_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline void live_run_count(struct live_run *r, const struct decisions *d)
{
	for (uint32_t i = 0; i < d->v.n; i++)
		r->n_protected += d->v.v[i].n_protected;
	r->decided += d->v.n;
	r->nominated += d->nominated + d->placed;
	r->victims += d->victims;
}

static inline void live_run_plan(struct live_run *r, struct engine *en)
{
	struct engine_run run = {.now_ns = LIVE_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct decisions d = {.arena = arena_new(1 << 16)};
	double began = live_run_now_ms();
	struct err e;

	live_must(engine_plan(en, &run, &d, &e), &e);
	r->ms = live_run_now_ms() - began;
	live_run_count(r, &d);
	array_free(&d.v);
	arena_free(d.arena);
}

static inline void live_run_one_by_one(struct live_run *r, struct engine *en, struct ledger *l)
{
	struct engine_run run = {.now_ns = LIVE_NOW_NS, .cycles = 1, .report = POD_NONE};
	uint32_t n = ledger_pod_limit(l);
	struct err e;

	for (pod_id i = 0; i < n; i++) {
		struct decisions d = {.arena = arena_new(1 << 16)};
		double began = live_run_now_ms(), ms;

		if (ledger_pod(l, i)->state == POD_WAITING) {
			live_must(engine_try(en, &run, i, &d, &e), &e);
			ms = live_run_now_ms() - began;
			r->ms += ms;
			r->first_ms = r->decided ? r->first_ms : ms;
			live_run_count(r, &d);
			ledger_commit(l);
			run.now_ns += 10 * NS_PER_S;
		}
		array_free(&d.v);
		arena_free(d.arena);
	}
}

static inline void live_run_print(const struct live_run *r, bool is_live)
{
	printf("  %9.3f ms each", r->ms / (r->decided ? r->decided : 1));
	if (is_live)
		printf(", first %8.3f", r->first_ms);
	printf(", all %9.1f ms; %u nominated, %u victims, %llu protected\n", r->ms, r->nominated, r->victims,
	       (unsigned long long)r->n_protected);
	fflush(stdout);
}

static inline void live_run_emit(struct emit *e, const struct live_run *r)
{
	emit_int(e, "decisions", r->decided);
	emit_double(e, "ms", r->ms);
	emit_double(e, "firstMs", r->first_ms);
	emit_int(e, "nominated", r->nominated);
	emit_int(e, "victims", r->victims);
}
