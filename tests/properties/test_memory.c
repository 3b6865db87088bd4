/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept from one decision to the next, and what is not looked at because it cannot win, changes no decision and
 * no reason: an engine that keeps and skips and one that looks at everything every time (engine_config.looks_at_all)
 * say the same bytes, on random clusters of all kinds of objects, while time goes on and pods come, go and move.
 *
 * CEDE_N: clusters per profile; CEDE_SECONDS: how long instead; CEDE_SEED: from which on; CEDE_PROFILE: one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "properties/mixed_run.h"

enum { STEPS = 14 };

struct pair { /* two engines on one cluster */
	struct mixed m;
	struct live l;
	struct engine_config plain;
	struct engine *forgetful;
	struct rng rng;
	uint64_t seed;
};

static struct {
	uint64_t clusters, decisions, evictions;
} tally[PROFILE_COUNT];

static uint32_t upto(struct pair *p, uint32_t n)
{
	return rng_below(&p->rng, n);
}

static struct ledger *ledger_of(struct pair *p)
{
	return cluster_ledger(p->l.cluster);
}

/* ---- the same decision twice ---- */

/* pod: POD_NONE for all that wait. */
static void decide(struct pair *p, struct engine *en, pod_id pod, struct text *out)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS + p->l.later_ns, .cycles = 1, .report = POD_NONE};
	ledger_mark mark = ledger_get_mark(ledger_of(p));
	struct err e = {0};

	live_forget_plan(&p->l);
	p->l.plan.arena = arena_new(1 << 14);
	live_must(pod == POD_NONE ? engine_plan(en, &run, &p->l.plan, &e) : engine_try(en, &run, pod, &p->l.plan, &e),
		  &e, &p->m);
	ledger_rollback(ledger_of(p), mark);
	live_emit(&p->l, out);
}

static void complain(struct pair *p, const struct text *was, const struct text *is)
{
	const char *x = text_str(was), *y = text_str(is);
	size_t i = 0;

	while (x[i] && x[i] == y[i])
		i++;
	i = i > 300 ? i - 300 : 0;
	fail_msg("seed %" PRIu64 ", profile %s: looking at everything:\n%.600s\n--- remembering:\n%.600s", p->seed,
		 profile_text(p->m.profile), x + i, y + i);
}

static void decide_alike(struct pair *p, pod_id pod)
{
	struct text was = {0}, is = {0};

	decide(p, p->forgetful, pod, &was);
	decide(p, p->l.engine, pod, &is);
	tally[p->m.profile].decisions += p->l.plan.v.n;
	tally[p->m.profile].evictions += p->l.plan.victims;
	if (!str_eq(text_str(&was), text_str(&is)))
		complain(p, &was, &is);
	text_free(&was);
	text_free(&is);
}

/* It stands: made once more by the engine that remembers. */
static void carry_out(struct pair *p, pod_id pod)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS + p->l.later_ns, .cycles = 1, .report = POD_NONE};
	struct err e = {0};

	live_forget_plan(&p->l);
	p->l.plan.arena = arena_new(1 << 14);
	live_must(pod == POD_NONE ? engine_plan(p->l.engine, &run, &p->l.plan, &e)
				  : engine_try(p->l.engine, &run, pod, &p->l.plan, &e),
		  &e, &p->m);
	live_forget_plan(&p->l);
	ledger_commit(ledger_of(p));
}

/* ---- what happens meanwhile ---- */

static pod_id some(struct pair *p, enum pod_state state)
{
	const struct ledger *l = ledger_of(p);
	uint32_t limit = ledger_pod_limit(l), from = limit ? upto(p, limit) : 0;

	for (uint32_t i = 0; i < limit; i++)
		if (ledger_pod(l, (from + i) % limit)->state == state)
			return (from + i) % limit;
	return POD_NONE;
}

static void move_somebody(struct pair *p)
{
	uint32_t what = upto(p, 4);
	pod_id pod = some(p, what < 2 ? POD_LEAVING : POD_PLACED);
	char ns[64], name[64];

	if (pod == POD_NONE)
		return;
	if (what == 3) {
		ledger_evict(ledger_of(p), pod);
	} else if (what == 2) {
		ledger_vacate(ledger_of(p), pod);
	} else {
		const struct pod *x = ledger_pod(ledger_of(p), pod);
		const struct names *names = vocab_names(p->l.vocab);

		snprintf(ns, sizeof(ns), "%s", name_str(names, labelset_get(p->l.vocab, x->labelset)->ns));
		snprintf(name, sizeof(name), "%s", name_str(names, x->name));
		cluster_drop_pod(p->l.cluster, ns, name);
	}
	ledger_commit(ledger_of(p));
}

static void step(struct pair *p)
{
	static const int64_t later_s[] = {0, 1, 10, 61, 299, 7201};
	pod_id pod = upto(p, 3) ? some(p, POD_WAITING) : POD_NONE;

	decide_alike(p, pod);
	if (upto(p, 3) == 0)
		carry_out(p, pod);
	for (uint32_t i = upto(p, 3); i > 0; i--)
		move_somebody(p);
	p->l.later_ns += later_s[upto(p, 6)] * NS_PER_S;
}

static void try_cluster(uint64_t seed, enum profile profile)
{
	struct pair p = {.seed = seed};
	struct err e = {0};

	p.rng.s = seed * 7919 + profile;
	mixed_draw(&p.m, seed, profile);
	mixed_write(&p.m);
	live_load(&p.l, &p.m, 0, 1 + seed % 2);
	p.plain = *p.l.config;
	p.plain.looks_at_all = true;
	p.plain.threads = 1;
	p.forgetful = engine_new(p.l.cluster, &p.plain, keepers, p.m.has_plugin, &e);
	live_must(p.forgetful ? ERR_OK : ERR_INTERNAL, &e, &p.m);
	for (int i = 0; i < STEPS; i++)
		step(&p);
	tally[profile].clusters++;
	engine_free(p.forgetful);
	live_end(&p.l);
	mixed_free(&p.m);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void an_engine_that_remembers_says_the_same(void **state)
{
	uint64_t n = number("CEDE_N", 60), seconds = number("CEDE_SECONDS", 0), from = number("CEDE_SEED", 1);
	const char *only = getenv("CEDE_PROFILE");
	time_t end = time(NULL) + (time_t)seconds;

	(void)state;
	for (uint64_t i = 0; seconds ? time(NULL) < end : i < n; i++)
		for (enum profile profile = 0; profile < PROFILE_COUNT; profile++)
			if (!only || str_eq(only, profile_text(profile)))
				try_cluster(from + i, profile);
	for (enum profile i = 0; i < PROFILE_COUNT; i++)
		printf("memory: %s: %" PRIu64 " clusters, %" PRIu64 " decisions made twice, %" PRIu64
		       " evictions, 0 differences\n",
		       profile_text(i), tally[i].clusters, tally[i].decisions, tally[i].evictions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_that_remembers_says_the_same),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
