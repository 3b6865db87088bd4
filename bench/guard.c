/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard - fixed decisions to be counted in instructions: `make guard` runs this under callgrind and compares with
 * bench/guard.baseline. Each decision has a function of its own name, so one run tells them apart:
 *
 *	first	nothing is kept yet
 *	next	another application, ten seconds later
 *	tenth	after nine others, each ten seconds later and each carried out
 *
 * Profile kai decides about all that waits at once: next is the same plan again, tenth the one after it was carried
 * out.
 */
#include "live_cluster.h"

struct guard {
	struct live_cluster s;
	struct engine_config *config;
	struct engine *en;
	struct engine_run run;
	pod_id waiting; /* whose turn it is */
};

static void begin(struct guard *g, const struct live_options *o)
{
	struct err e;

	*g = (struct guard){.config = engine_config_new(),
			    .run = {.now_ns = LIVE_NOW_NS, .cycles = 1, .report = POD_NONE}};
	g->config->profile = o->profile;
	g->config->min_runtime.reclaim_ns = 300 * NS_PER_S;
	live_cluster_init(&g->s, o);
	g->en = engine_new(g->s.cluster, g->config, NULL, 0, &e);
	live_must(g->en ? ERR_OK : ERR_INTERNAL, &e);
}

static void end(struct guard *g)
{
	engine_free(g->en);
	engine_config_free(g->config);
	live_cluster_free(&g->s);
}

/* Returns how many decisions; they stand if told. */
static uint32_t decide(struct guard *g, bool stands)
{
	struct ledger *l = cluster_ledger(g->s.cluster);
	struct decisions d = {.arena = arena_new(1 << 16)};
	ledger_mark mark = ledger_get_mark(l);
	uint32_t n;
	struct err e;

	while (g->waiting < ledger_pod_limit(l) && ledger_pod(l, g->waiting)->state != POD_WAITING)
		g->waiting++;
	if (g->s.o.profile == PROFILE_KAI)
		live_must(engine_plan(g->en, &g->run, &d, &e), &e);
	else
		live_must(engine_try(g->en, &g->run, g->waiting++, &d, &e), &e);
	n = d.v.n;
	if (stands)
		ledger_commit(l);
	else
		ledger_rollback(l, mark);
	g->run.now_ns += 10 * NS_PER_S;
	array_free(&d.v);
	arena_free(d.arena);
	return n;
}

#define CASES(X)                                                             \
	X(default_plain, DEFAULT, 100, 20, 2, 12, .gang = 0)                 \
	X(default_queues, DEFAULT, 100, 20, 40, 12, .gang = 0)               \
	X(default_gang, DEFAULT, 50, 20, 10, 12, .gang = 4)                  \
	X(default_budgets, DEFAULT, 50, 20, 2, 12, .budgets = 200)           \
	X(default_affinity, DEFAULT, 100, 20, 2, 12, .shape = LIVE_AFFINITY) \
	X(yunikorn_queues, YUNIKORN, 100, 20, 40, 12, .gang = 0)             \
	X(kubernetes_plain, KUBERNETES, 100, 20, 2, 12, .gang = 0)           \
	X(kai_queues, KAI, 60, 20, 20, 12, .gang = 0)                        \
	X(kai_gangs, KAI, 30, 20, 10, 6, .gang = 8)

/* Functions that differ in nothing would be joined: each leaves a mark of its own. */
static volatile uint32_t marks;

#define COUNTED(name, which, number)                                                  \
	static __attribute__((noinline)) void guard_##name##_##which(struct guard *g) \
	{                                                                             \
		marks += decide(g, (number) > 0) * __COUNTER__ + (number);            \
	}

#define CASE(id, prof, n, p, q, w, ...)                                 \
	COUNTED(id, first, 0)                                           \
	COUNTED(id, next, 1)                                            \
	COUNTED(id, tenth, 2)                                           \
	static void run_##id(void)                                      \
	{                                                               \
		struct live_options o = {.profile = PROFILE_##prof,     \
					 .nodes = (n),                  \
					 .pods = (p),                   \
					 .queues = (q),                 \
					 .waiting = (w),                \
					 __VA_ARGS__};                  \
		struct guard g;                                         \
                                                                        \
		begin(&g, &o);                                          \
		guard_##id##_first(&g);                                 \
		guard_##id##_next(&g);                                  \
		for (int i = 0; o.profile != PROFILE_KAI && i < 7; i++) \
			decide(&g, true);                               \
		guard_##id##_tenth(&g);                                 \
		end(&g);                                                \
	}
CASES(CASE)

#define RUN(id, ...) run_##id();

int main(void)
{
	CASES(RUN)
	return 0;
}
