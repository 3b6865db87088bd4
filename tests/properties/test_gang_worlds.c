/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random queue trees with gangs that wait: they get room together or not at all, every reclaim of a gang is judged by a
 * slow reading of the laws on all of its victims, room is never reserved twice, and what is taken back leaves
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "properties/laws_judge.h"
#include "properties/recorded.h"

/* ---- what must always be so ---- */

static void check_nodes(const struct world *w, uint64_t seed)
{
	for (node_id n = 0; n < NODES; n++)
		if (room_of(w, n) < 0)
			fail_msg("seed %" PRIu64 ": n%u holds more than it has", seed, n);
}

/* A group that had nothing placed has nothing, or its minimum. */
static void check_gangs(const struct world *w, uint64_t seed)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (group_id i = 0; i < ledger_group_limit(l); i++) {
		const struct group *g = ledger_group(l, i);
		uint32_t placed = 0, lacking = 0;

		if (!g->is_live || name_str(vocab_names(w->s.vocab), g->obj->name)[1] - '0' < GROUPS)
			continue;
		for (uint32_t k = 0; k < g->n_podsets; k++) {
			const struct podset *s = ledger_podset(l, g->first_podset + k);

			placed += s->n_placed;
			lacking += s->n_placed < (uint32_t)s->min_member;
		}
		if (placed && lacking)
			fail_msg("seed %" PRIu64 ": half of g%u is placed", seed, i);
	}
}

/* ---- one decision ---- */

static void check_together(const struct world *w, uint64_t seed, const struct decisions *plan)
{
	for (uint32_t i = 1; i < plan->v.n; i++)
		if (plan->v.v[i].outcome != plan->v.v[0].outcome)
			fail_msg("seed %" PRIu64 ": %s and %s do not wait together", seed,
				 story_name(&w->s, plan->v.v[0].pod), story_name(&w->s, plan->v.v[i].pod));
}

static uint32_t victims_of(const struct decisions *plan, pod_id *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->v.n; i++)
		for (uint32_t k = 0; k < plan->v.v[i].n_victims; k++)
			set[n++] = plan->v.v[i].victims[k].pod;
	return n;
}

/* Everybody gets its room on its node, and nobody goes whose node could do without. */
static bool all_fit(const struct world *w, const struct decisions *plan, const pod_id *set, uint32_t n)
{
	int64_t all = 0;

	for (uint32_t i = 0; i < plan->v.n; i++)
		all += units_of(w, pod_at(w, plan->v.v[i].pod));
	for (uint32_t i = 0; i < plan->v.n; i++) {
		const struct decision *d = &plan->v.v[i];
		int64_t here = 0;

		for (uint32_t k = 0; k < plan->v.n; k++)
			here += plan->v.v[k].node == d->node ? units_of(w, pod_at(w, plan->v.v[k].pod)) : 0;
		if (!is_enough_for(w, pod_at(w, d->pod), d->node, set, n, here, all))
			return false;
	}
	return true;
}

static void check_spare(const struct world *w, uint64_t seed, const struct decisions *plan, const pod_id *set,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		group_id group = pod_at(w, set[i])->group, broken;
		pod_id less[64];
		uint32_t k = 0;

		for (uint32_t j = 0; j < n; j++)
			if (j != i)
				less[k++] = set[j];
		if (breaks_gang(w, less, k, &broken)) {
			k = 0;
			for (uint32_t j = 0; j < n; j++)
				if (pod_at(w, set[j])->group != group)
					less[k++] = set[j];
		}
		if (all_fit(w, plan, less, k))
			fail_msg("seed %" PRIu64 ": %s did not have to go for %s", seed, story_name(&w->s, set[i]),
				 story_name(&w->s, plan->v.v[0].pod));
	}
}

static uint32_t check_decision(const struct world *w, uint64_t seed, const struct decisions *plan)
{
	const struct pod *p = pod_at(w, plan->v.v[0].pod);
	const char *broken;
	pod_id set[64];
	uint32_t n = victims_of(plan, set);

	check_together(w, seed, plan);
	if (plan->v.v[0].outcome == OUTCOME_WAITING) {
		assert_int_equal(n, 0);
		return 0;
	}
	broken = plan->v.v[0].action == ACTION_RECLAIM ? judge_laws(w, p, set, n)
						       : judge_interruption(w, queue_of(w, p), set, n);
	if (broken)
		fail_msg("seed %" PRIu64 ": %s: %s", seed, story_name(&w->s, plan->v.v[0].pod), broken);
	if (!all_fit(w, plan, set, n))
		fail_msg("seed %" PRIu64 ": not all of %s have room", seed, story_name(&w->s, plan->v.v[0].pod));
	if (n)
		check_spare(w, seed, plan, set, n);
	return n;
}

/* ---- worlds ---- */

/* It has no room, and none is reserved for it. */
static bool waits(const struct pod *p)
{
	return p->state == POD_WAITING && p->nomination == NOMINATION_NONE;
}

/* Its group is tried with its oldest pod; with another it would be tried, and that pod after it. */
static bool waits_with_its_group(const struct world *w, pod_id pod)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	const struct pod *p = ledger_pod(l, pod);
	const struct group *g = p->group == GROUP_NONE ? NULL : ledger_group(l, p->group);
	bool is_short = false, is_oldest = true;

	for (uint32_t k = 0; g && k < g->n_podsets; k++) {
		const struct podset *s = ledger_podset(l, g->first_podset + k);

		is_short |= s->n_placed < (uint32_t)s->min_member;
	}
	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		is_oldest &= ledger_pod(l, i)->group != p->group || ledger_pod(l, i)->created_ns >= p->created_ns;
	return is_short && !is_oldest;
}

static pod_id next_waiting(const struct world *w, pod_id from)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	while (from < ledger_pod_limit(l) && (!waits(ledger_pod(l, from)) || waits_with_its_group(w, from)))
		from++;
	return from < ledger_pod_limit(l) ? from : POD_NONE;
}

struct tally {
	uint64_t decisions, gangs, evictions;
};

/* One decision after the other: what it did is judged by the state before it. */
static void one_world(uint64_t seed, struct tally *t)
{
	struct engine_run run = {.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct world w;

	make_world_of(&w, seed, true);
	for (pod_id pod = next_waiting(&w, 0); pod != POD_NONE; pod = next_waiting(&w, pod + 1)) {
		struct ledger *l = cluster_ledger(w.s.cluster);
		ledger_mark mark = ledger_get_mark(l);
		uint64_t digest = ledger_digest(l);
		struct decisions plan = {.arena = arena_new(4096)};
		uint32_t evictions;
		struct err e;

		assert_int_equal(engine_try(w.s.engine, &run, pod, &plan, &e), ERR_OK);
		ledger_rollback(l, mark);
		assert_int_equal(ledger_digest(l), digest);
		evictions = check_decision(&w, seed, &plan);
		t->decisions++;
		t->gangs += plan.v.n > 1 && plan.v.v[0].outcome != OUTCOME_WAITING;
		t->evictions += plan.v.n > 1 ? evictions : 0;
		array_free(&plan.v);
		assert_int_equal(engine_try(w.s.engine, &run, pod, &plan, &e), ERR_OK); /* and this time it stands */
		check_nodes(&w, seed);
		check_gangs(&w, seed);
		array_free(&plan.v);
		arena_free(plan.arena);
	}
	story_end(&w.s);
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void ONE_1_gangs_on_random_trees_start_together_within_the_laws(void **state)
{
	uint64_t n = env_number("CEDE_N", 400), seconds = env_number("CEDE_SECONDS", 0);
	time_t end = time(NULL) + (time_t)seconds;
	struct tally t = {0};

	(void)state;
	for (uint64_t i = 1; i <= n || (seconds && time(NULL) < end); i++)
		one_world(i, &t);
	print_message("gangs: %" PRIu64 " decisions tried, %" PRIu64 " gangs with room, %" PRIu64
		      " evictions for them, 0 violations\n",
		      t.decisions, t.gangs, t.evictions);
	assert_true(t.evictions > n / 10);
}

/* Whole plans, with everything else a cycle does; and everything can be taken back. */
static void plans_of_several_cycles_keep_gangs_whole(void **state)
{
	uint64_t n = env_number("CEDE_N", 200);
	struct recorded recorded;

	(void)state;
	recorded_begin(&recorded, "gang_worlds");
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct text said = {0};
		struct world w;
		struct ledger *l;
		ledger_mark mark;
		uint64_t digest;

		make_world_of(&w, seed, true);
		l = cluster_ledger(w.s.cluster);
		mark = ledger_get_mark(l);
		digest = ledger_digest(l);
		w.s.cycles = 1 + (uint32_t)(seed % 3);
		story_plan(&w.s);
		check_nodes(&w, seed);
		check_gangs(&w, seed);
		ledger_rollback(l, mark);
		assert_int_equal(ledger_digest(l), digest);
		story_emit(&w.s, &said);
		if (!recorded_is_same_as(&recorded, seed, &said))
			fail_msg("seed %" PRIu64 ": it is decided otherwise than it was (properties/recorded.h)", seed);
		text_free(&said);
		story_end(&w.s);
	}
	recorded_end(&recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ONE_1_gangs_on_random_trees_start_together_within_the_laws),
		cmocka_unit_test(plans_of_several_cycles_keep_gangs_whole),
	};

	return cmocka_run_group_tests_name("gang worlds", tests, NULL, NULL);
}
