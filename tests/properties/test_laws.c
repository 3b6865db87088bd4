/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random queue trees with groups: every eviction by reclaim is judged by a second, slow and simple reading of the laws,
 * and every eviction at all by one of preemptibility and minimum runtimes; where nothing was evicted, no lawful set on
 * one node may exist; and with controllers that make evicted pods anew at once everything comes to rest (GQ-15, GQ-16).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "properties/laws_judge.h"

/*
 * May this set lawfully go for pod p on this node? NULL, or the law it breaks. Only groups that go as a whole lose pods
 * elsewhere. `is_enough` tells if p fits then.
 */
static const char *judge_set(const struct world *w, const struct pod *p, node_id node, const pod_id *set, uint32_t n,
			     bool *is_enough)
{
	const char *broken = judge_laws(w, p, set, n);

	*is_enough = !broken && n && is_enough_for(w, p, node, set, n, units_of(w, p), units_of(w, p));
	return broken;
}

static uint32_t pods_on(const struct world *w, node_id n, pod_id *out)
{
	const struct ledger_node *ln = ledger_node(cluster_ledger(w->s.cluster), n);
	uint32_t count = 0;

	for (uint32_t i = 0; i < ln->pods.n; i++)
		if (pod_at(w, ln->pods.v[i])->state == POD_PLACED)
			out[count++] = ln->pods.v[i];
	return count;
}

/* The set, and the rest of the gangs that it would break. */
static uint32_t with_gangs(const struct world *w, pod_id *set, uint32_t n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	group_id group;

	while (breaks_gang(w, set, n, &group))
		for (pod_id i = 0; i < ledger_pod_limit(l); i++)
			if (ledger_pod(l, i)->group == group && ledger_pod(l, i)->state == POD_PLACED &&
			    !contains(set, n, i))
				set[n++] = i;
	return n;
}

/* Is there any lawful set on one node that is enough? */
static bool exists_set(const struct world *w, const struct pod *p)
{
	for (node_id n = 0; n < NODES; n++) {
		pod_id pods[32], set[64];
		uint32_t count = pods_on(w, n, pods);

		assert_true(count < 16);
		for (uint32_t bits = 1; bits < 1u << count; bits++) {
			uint32_t k = 0;
			bool is_enough = false;

			for (uint32_t i = 0; i < count; i++)
				if (bits >> i & 1)
					set[k++] = pods[i];
			k = with_gangs(w, set, k);
			if (!judge_set(w, p, n, set, k, &is_enough) && is_enough)
				return true;
		}
	}
	return false;
}

/* ---- the property ---- */

static pod_id next_waiting(const struct world *w, pod_id from)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	while (from < ledger_pod_limit(l) &&
	       (ledger_pod(l, from)->state != POD_WAITING || ledger_pod(l, from)->nomination != NOMINATION_NONE))
		from++;
	return from < ledger_pod_limit(l) ? from : POD_NONE;
}

static void check_reclaim(struct world *w, uint64_t seed, const struct pod *p, const struct decision *d)
{
	pod_id set[64];
	bool is_enough = false;
	const char *broken;

	for (uint32_t i = 0; i < d->n_victims; i++)
		set[i] = d->victims[i].pod;
	broken = judge_set(w, p, d->node, set, d->n_victims, &is_enough);
	if (broken || !is_enough)
		fail_msg("seed %" PRIu64 ": %s: %s", seed, story_name(&w->s, d->pod),
			 broken ? broken : "not enough was taken");
	for (uint32_t i = 0; i < d->n_victims; i++) { /* nobody is spare; a gang that goes is one */
		bool is_whole = d->victims[i].goes_with_group;
		pod_id less[64];
		uint32_t k = 0;

		for (uint32_t j = 0; j < d->n_victims; j++)
			if (j != i && !(is_whole && pod_at(w, set[j])->group == pod_at(w, set[i])->group))
				less[k++] = set[j];
		if (k && !judge_set(w, p, d->node, less, k, &is_enough) && is_enough)
			fail_msg("seed %" PRIu64 ": %s did not have to go", seed, story_name(&w->s, set[i]));
	}
}

/* Whatever the action: nobody who is protected goes. */
static void check_interruption(struct world *w, uint64_t seed, const struct pod *p, const struct decision *d)
{
	const char *kept;
	pod_id set[64];

	for (uint32_t i = 0; i < d->n_victims; i++)
		set[i] = d->victims[i].pod;
	kept = judge_interruption(w, queue_of(w, p), set, d->n_victims);
	if (kept)
		fail_msg("seed %" PRIu64 ": %s: %s by %s", seed, story_name(&w->s, d->pod), kept,
			 action_text(d->action));
}

/* One decision after the other: before it is made, what it may do is worked out here; then the two are compared. */
static void one_world(uint64_t seed, uint64_t *decisions, uint64_t *evictions)
{
	struct engine_run run = {.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct world w;

	make_world(&w, seed);
	for (pod_id pod = next_waiting(&w, 0); pod != POD_NONE; pod = next_waiting(&w, pod + 1)) {
		struct ledger *l = cluster_ledger(w.s.cluster);
		ledger_mark mark = ledger_get_mark(l);
		struct decisions plan = {.arena = arena_new(4096)};
		const struct decision *d;
		bool could;
		struct err e;

		assert_int_equal(engine_try(w.s.engine, &run, pod, &plan, &e), ERR_OK);
		d = &plan.v.v[0];
		ledger_rollback(l, mark);
		could = d->outcome == OUTCOME_WAITING && exists_set(&w, pod_at(&w, pod));
		if (could)
			fail_msg("seed %" PRIu64 ": %s waits though somebody could lawfully go", seed,
				 story_name(&w.s, pod));
		if (d->action == ACTION_RECLAIM)
			check_reclaim(&w, seed, pod_at(&w, pod), d);
		check_interruption(&w, seed, pod_at(&w, pod), d);
		*evictions += d->n_victims;
		++*decisions;
		array_free(&plan.v);
		assert_int_equal(engine_try(w.s.engine, &run, pod, &plan, &e), ERR_OK); /* and this time it stands */
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

static void GQ_2_to_7_MR_10_and_PP_8_hold_for_every_eviction_on_random_trees(void **state)
{
	uint64_t n = env_number("CEDE_N", 400), seconds = env_number("CEDE_SECONDS", 0), decisions = 0, evictions = 0;
	time_t end = time(NULL) + (time_t)seconds;

	(void)state;
	for (uint64_t i = 1; i <= n || (seconds && time(NULL) < end); i++)
		one_world(i, &decisions, &evictions);
	print_message("laws: %" PRIu64 " decisions tried, %" PRIu64 " evictions, 0 violations\n", decisions, evictions);
	assert_true(evictions > n / 10);
}

/* ---- loops ---- */

static void submit(struct world *w, const char *text)
{
	struct object_source src = {.name = "again"};
	struct tree_reader *r = tree_reader_new("again", text, strlen(text));
	struct arena *a = arena_new(4096);
	struct tree_doc doc;
	struct obj_pod o;
	struct err e;

	story_must(tree_next(r, a, &doc, &e), &e);
	story_must(manifest_pod(w->s.vocab, &src, doc.root, &o, &e), &e);
	story_must(cluster_put_pod(w->s.cluster, &o, &e), &e);
	tree_reader_free(r);
	arena_free(a);
}

/*
 * Its controller makes a pod anew that waits: same queue, size, priority, application; old enough to reclaim at once.
 */
static void recreate(struct world *w, const struct pod *p)
{
	struct story one = {0};
	char name[16], words[96];

	snprintf(name, sizeof(name), "c%u", w->n_pods++);
	snprintf(words, sizeof(words), "priority %d age 60%s%s", p->priority,
		 p->obj->allows_preemption == NO ? " opted-out" : "", p->obj->app != NAME_NONE ? " app z" : "");
	story_pod(&one, name, w->q[queue_of(w, p)].path, units_of(w, p), NULL, words);
	submit(w, text_str(&one.objects));
	text_free(&one.objects);
}

/* Everything the plan says happens; victims come back at once. How many were evicted. */
static uint32_t live_one_cycle(struct world *w)
{
	struct engine_run run = {.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct ledger *l = cluster_ledger(w->s.cluster);
	struct decisions plan = {.arena = arena_new(16 * 1024)};
	uint32_t evicted = 0;
	struct err e;

	story_must(engine_plan(w->s.engine, &run, &plan, &e), &e);
	ledger_commit(l);
	for (uint32_t i = 0; i < plan.v.n; i++) {
		for (uint32_t k = 0; k < plan.v.v[i].n_victims; k++) {
			pod_id victim = plan.v.v[i].victims[k].pod;
			char name[32];

			snprintf(name, sizeof(name), "%s", story_name(&w->s, victim));
			recreate(w, pod_at(w, victim));
			cluster_drop_pod(w->s.cluster, "d", name);
			evicted++;
		}
	}
	array_free(&plan.v);
	arena_free(plan.arena);
	return evicted;
}

static void GQ_15_recreating_controllers_come_to_rest(void **state)
{
	enum { LONG = 60, QUIET = 3 };
	uint64_t n = env_number("CEDE_N", 150), evictions = 0;
	uint32_t longest = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct world w;
		uint32_t quiet = 0, cycle = 0;

		make_world(&w, seed + 100000);
		for (; quiet < QUIET && cycle < LONG; cycle++) {
			uint32_t evicted = live_one_cycle(&w);

			quiet = evicted ? 0 : quiet + 1;
			evictions += evicted;
		}
		if (quiet < QUIET)
			fail_msg("seed %" PRIu64 ": still evicting after %d cycles", seed, LONG);
		longest = cycle > longest ? cycle : longest;
		story_end(&w.s);
	}
	print_message("loops: %" PRIu64 " clusters, %" PRIu64
		      " evictions, at rest after at most %u cycles, 0 violations\n",
		      n, evictions, longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_2_to_7_MR_10_and_PP_8_hold_for_every_eviction_on_random_trees),
		cmocka_unit_test(GQ_15_recreating_controllers_come_to_rest),
	};

	return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
