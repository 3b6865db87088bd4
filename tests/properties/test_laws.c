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

#include "properties/laws_world.h"

/* ---- the slow reading ---- */

static const struct pod *pod_at(const struct world *w, pod_id id)
{
	return ledger_pod(cluster_ledger(w->s.cluster), id);
}

static int queue_of(const struct world *w, const struct pod *p)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	const char *path = name_str(vocab_names(w->s.vocab), queue_get(ledger_queues(l), p->queue)->path);

	for (int i = 0; i < w->n; i++)
		if (str_eq(w->q[i].path, path))
			return i;
	abort();
}

static int64_t units_of(const struct world *w, const struct pod *p)
{
	const struct shape *s = shape_get(w->s.vocab, p->shape);

	return res_list_get(&s->request, res_types_find(vocab_res(w->s.vocab), STORY_UNIT, strlen(STORY_UNIT)));
}

static bool is_in(const struct world *w, int q, int ancestor) /* ancestor -1: root */
{
	for (; q >= 0 && q != ancestor; q = w->q[q].parent)
		;
	return q == ancestor;
}

static int lca(const struct world *w, int a, int b)
{
	while (a >= 0 && !is_in(w, b, a))
		a = w->q[a].parent;
	return a;
}

/* Use of a queue; with claims: what is promised counts too. */
static int64_t used(const struct world *w, int q, bool with_claims)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	int64_t sum = 0;

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *p = ledger_pod(l, i);
		bool counts =
			p->state == POD_PLACED || (with_claims && p->state == POD_WAITING && p->claim != CLAIM_NONE);

		if (counts && is_in(w, queue_of(w, p), q))
			sum += units_of(w, p);
	}
	return sum;
}

static int fence_of(const struct world *w, int q)
{
	while (q >= 0 && !w->q[q].is_fence)
		q = w->q[q].parent;
	return q;
}

/* Free units of a node once whoever leaves is gone, promises kept. */
static int64_t room_of(const struct world *w, node_id n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	res_id r = res_types_find(vocab_res(w->s.vocab), STORY_UNIT, strlen(STORY_UNIT));
	int64_t room = ledger_node_allocatable(l, n)[r];

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *p = ledger_pod(l, i);

		if (p->node == n && (p->state == POD_PLACED || (p->state == POD_WAITING && p->claim != CLAIM_NONE)))
			room -= units_of(w, p);
	}
	return room;
}

/* ---- preemptibility and windows, the slow reading ---- */

static int64_t upward(const struct world *w, int q, bool is_reclaim)
{
	for (; q >= 0; q = w->q[q].parent) {
		int64_t window = is_reclaim ? w->q[q].reclaim : w->q[q].preempt;

		if (window != UNSET_S)
			return window;
	}
	return is_reclaim ? w->reclaim : w->preempt;
}

/* The window of a victim in queue v against work of queue p, in seconds. */
static int64_t window_of(const struct world *w, int p, int v)
{
	if (p == v)
		return upward(w, v, false);
	if (!w->by_leaf)
		while (w->q[v].parent >= 0 && !is_in(w, p, w->q[v].parent))
			v = w->q[v].parent;
	return upward(w, v, true);
}

static const struct g *group_of(const struct world *w, const struct pod *v)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	if (v->group == GROUP_NONE)
		return NULL;
	return &w->g[name_str(vocab_names(w->s.vocab), ledger_group(l, v->group)->obj->name)[1] - '0'];
}

static int64_t runs_for(const struct world *w, const struct pod *v)
{
	const struct g *g = group_of(w, v);

	if (g && g->ago != UNSET_S)
		return g->ago;
	return v->obj->started_ns == TIME_NONE ? 0 : (STORY_NOW_NS - v->obj->started_ns) / NS_PER_S;
}

static bool contains(const pod_id *set, uint32_t n, pod_id pod)
{
	for (uint32_t i = 0; i < n; i++)
		if (set[i] == pod)
			return true;
	return false;
}

static bool group_stays(const struct world *w, group_id group, const pod_id *set, uint32_t n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->group == group && ledger_pod(l, i)->state == POD_PLACED && !contains(set, n, i))
			return true;
	return false;
}

/* Somebody of it was sent away a moment ago inside its window: many claims take no more than one could. */
static bool lost_young(const struct world *w, int p, group_id group)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *v = ledger_pod(l, i);

		if (v->group == group && v->state == POD_LEAVING && v->is_evicted &&
		    runs_for(w, v) < window_of(w, p, queue_of(w, v)))
			return true;
	}
	return false;
}

/* Placed pods of v's part: those that stay when the set goes, and those that were there before v. */
static void count_mates(const struct world *w, const struct pod *v, const pod_id *set, uint32_t n, int64_t *ret_stay,
			int64_t *ret_before)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	*ret_stay = *ret_before = 0;
	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *o = ledger_pod(l, i);
		int d = strcmp(name_str(vocab_names(w->s.vocab), o->name), name_str(vocab_names(w->s.vocab), v->name));

		if (o->state != POD_PLACED || o->podset != v->podset)
			continue;
		*ret_stay += !contains(set, n, i);
		*ret_before +=
			o->obj->started_ns < v->obj->started_ns || (o->obj->started_ns == v->obj->started_ns && d < 0);
	}
}

/* May they all be interrupted for work of queue p? NULL, or what protects one of them. */
static const char *judge_interruption(const struct world *w, int p, const pod_id *set, uint32_t n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *v = pod_at(w, set[i]);
		const struct g *g = group_of(w, v);
		bool is_young = runs_for(w, v) < window_of(w, p, queue_of(w, v));
		int64_t stay, before, min;

		if (!g && is_young)
			return "min-runtime";
		if (!g)
			continue;
		min = g->min[v->podset - ledger_group(l, v->group)->first_podset];
		count_mates(w, v, set, n, &stay, &before);
		if (g->preemptibility == NON_PREEMPTIBLE)
			return "preemptibility";
		if (g->preemptibility == SEMI_PREEMPTIBLE && before < min)
			return "preemptibility, core";
		if (stay < min && (is_young || lost_young(w, p, v->group)))
			return "min-runtime, minimum";
	}
	return NULL;
}

/* Of a group that loses more than its surplus nobody stays. */
static bool breaks_gang(const struct world *w, const pod_id *set, uint32_t n, group_id *ret_group)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct pod *v = pod_at(w, set[i]);
		const struct g *g = group_of(w, v);
		int64_t stay, before;

		if (!g)
			continue;
		count_mates(w, v, set, n, &stay, &before);
		*ret_group = v->group;
		if (stay < g->min[v->podset - ledger_group(cluster_ledger(w->s.cluster), v->group)->first_podset] &&
		    group_stays(w, v->group, set, n))
			return true;
	}
	return false;
}

/*
 * May this set lawfully go for pod p of queue q on this node? NULL, or the law it breaks. Only groups that go as a whole
 * lose pods elsewhere. `is_enough` tells if p fits then.
 */
static const char *judge_set(const struct world *w, const struct pod *p, node_id node, const pod_id *set, uint32_t n,
			     bool *is_enough)
{
	int q = queue_of(w, p);
	int64_t freed = 0;
	const char *kept = judge_interruption(w, q, set, n);
	group_id group;

	if (kept)
		return kept;
	if (breaks_gang(w, set, n, &group))
		return "half a gang";
	for (uint32_t i = 0; i < n; i++) {
		const struct pod *v = pod_at(w, set[i]);
		int vq = queue_of(w, v), a = lca(w, q, vq);
		bool is_owed = false;

		freed += v->node == node ? units_of(w, v) : 0;
		if (vq == q)
			return "own queue";
		if (v->obj->app != NAME_NONE && v->obj->app == p->obj->app)
			return "law 3";
		if (!is_in(w, vq, fence_of(w, q)))
			return "law 7";
		if (v->priority > p->priority)
			return "law 6";
		for (int b = q; b != a; b = w->q[b].parent) {
			if (w->q[b].guaranteed && used(w, b, true) >= w->q[b].guaranteed)
				return "law 4";
			is_owed |= w->q[b].guaranteed > 0;
		}
		if (!is_owed)
			return "law 4, no guarantee";
		for (int b = vq; b != a; b = w->q[b].parent) {
			int64_t taken = 0;

			for (uint32_t k = 0; k < n; k++)
				if (is_in(w, queue_of(w, pod_at(w, set[k])), b))
					taken += units_of(w, pod_at(w, set[k]));
			if (w->q[b].guaranteed && used(w, b, false) <= w->q[b].guaranteed)
				return "law 5";
			if (w->q[b].guaranteed && used(w, b, false) - taken < w->q[b].guaranteed)
				return "law 2";
		}
	}
	*is_enough = n && room_of(w, node) + freed >= units_of(w, p);
	for (int b = q; b >= 0 && *is_enough; b = w->q[b].parent) {
		int64_t taken = 0;

		for (uint32_t k = 0; k < n; k++)
			if (is_in(w, queue_of(w, pod_at(w, set[k])), b))
				taken += units_of(w, pod_at(w, set[k]));
		if (w->q[b].max && used(w, b, true) - taken + units_of(w, p) > w->q[b].max)
			*is_enough = false;
	}
	return NULL;
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
	       (ledger_pod(l, from)->state != POD_WAITING || ledger_pod(l, from)->claim != CLAIM_NONE))
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
