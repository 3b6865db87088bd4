/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an explanation leaves out and keeps while it tries what would help (explain/plan_focus.h, explain/trial_plan.h)
 * changes nothing in it: with an engine that looks at everything, for everybody and anew in each trial
 * (engine_config.looks_at_all) it says the same bytes, of pods, groups and queues of random clusters.
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
#include "serve/planner.h"

enum { ASKED = 3 }; /* pods of one cluster */

static struct {
	uint64_t clusters, explanations, remedies, starts;
} tally[PROFILE_COUNT];

static void explain(struct live *l, struct engine_config *config, const struct explain_target *t, uint32_t cycles,
		    struct text *out)
{
	struct serve_world w = {
		.cluster = l->cluster, .config = config, .manifest = l->manifest, .now_ns = MIXED_NOW_NS};
	struct explain_look look = {.is_data = true, .format = EMIT_YAML};
	struct plan_question q = {.cycles = cycles, .target = t};
	struct world_plan p;
	struct err e = {0};

	if (world_plan(&w, &q, &p, &e))
		fail_msg("%s", e.msg);
	explain_write(&w, &p, t, &look, out);
	world_plan_free(&p);
}

static uint64_t count(const char *in, const char *what)
{
	uint64_t n = 0;

	while ((in = strstr(in, what)) && ++n)
		in += strlen(what);
	return n;
}

static void compare(struct live *l, const struct mixed *m, uint64_t seed, const struct explain_target *t)
{
	struct engine_config plain = *l->config;
	uint64_t before = ledger_digest(cluster_ledger(l->cluster));
	struct text was = {0}, is = {0};
	uint32_t cycles = 1 + (seed % 5 == 0);

	plain.looks_at_all = true;
	explain(l, &plain, t, cycles, &was);
	explain(l, l->config, t, cycles, &is);
	if (!str_eq(text_str(&was), text_str(&is))) { /* cmocka cuts its messages */
		fprintf(stderr, "looking at everything:\n%s\n--- leaving out:\n%s\n", text_str(&was), text_str(&is));
		fail_msg("seed %" PRIu64 ", profile %s: not the same", seed, profile_text(m->profile));
	}
	assert_true(ledger_digest(cluster_ledger(l->cluster)) == before);
	tally[m->profile].explanations++;
	tally[m->profile].remedies += count(text_str(&is), "change:");
	tally[m->profile].starts += count(text_str(&is), "startsAt:");
	text_free(&was);
	text_free(&is);
}

static void try_pods(struct live *l, const struct mixed *m, uint64_t seed)
{
	const struct ledger *ledger = cluster_ledger(l->cluster);
	uint32_t limit = ledger_pod_limit(ledger), n = 0;

	for (uint32_t i = 0; i < limit && n < ASKED; i++) {
		pod_id pod = (pod_id)((i + seed * 31) % limit);

		if (ledger_pod(ledger, pod)->state != POD_WAITING && n + 1 < ASKED)
			continue;
		compare(l, m, seed, &(struct explain_target){pod, GROUP_NONE, QUEUE_NONE});
		n++;
	}
}

static void try_others(struct live *l, const struct mixed *m, uint64_t seed)
{
	const struct ledger *ledger = cluster_ledger(l->cluster);
	const struct queue_tree *tree = ledger_queues(ledger);
	group_id group = ledger_group_limit(ledger) ? (group_id)(seed % ledger_group_limit(ledger)) : GROUP_NONE;
	queue_id queue = (queue_id)(seed % tree->q.n);

	if (group != GROUP_NONE && ledger_group(ledger, group)->is_live)
		compare(l, m, seed, &(struct explain_target){POD_NONE, group, QUEUE_NONE});
	if (queue_get(tree, queue)->is_live)
		compare(l, m, seed, &(struct explain_target){POD_NONE, GROUP_NONE, queue});
}

/* Others like those who wait: of other ages, a few of another team or application; and windows that end. */
static void crowd(struct mixed *m, uint64_t seed)
{
	struct rng r = {seed};
	uint32_t n = m->p.n;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < 4 && m->p.v[i].state == M_WAITS && m->p.v[i].group == NO_GROUP; k++) {
			struct m_pod p = m->p.v[i];

			snprintf(p.name, sizeof(p.name), "%.8s-%u", m->p.v[i].name, k);
			p.age = rng_below(&r, 2) ? p.age : (int64_t)rng_below(&r, 7200);
			p.team = rng_below(&r, 4) ? p.team : (int)rng_below(&r, 3);
			p.app = rng_below(&r, 4) ? p.app : (int)rng_below(&r, 3);
			array_push(&m->p, p);
		}
	m->preempt = rng_below(&r, 2) ? m->preempt : (int64_t)rng_below(&r, 4000);
	m->reclaim = rng_below(&r, 2) ? m->reclaim : (int64_t)rng_below(&r, 4000);
}

static void try_cluster(uint64_t seed, enum profile profile)
{
	struct mixed m = {0};
	struct live l;

	mixed_draw(&m, seed, profile);
	if (seed % 2)
		crowd(&m, seed);
	m.has_plugin = false;
	mixed_write(&m);
	live_load(&l, &m, 0, 1);
	try_pods(&l, &m, seed);
	try_others(&l, &m, seed);
	tally[profile].clusters++;
	live_end(&l);
	mixed_free(&m);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void what_is_left_out_changes_nothing(void **state)
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
		printf("%s: %" PRIu64 " clusters, %" PRIu64 " explanations made twice, %" PRIu64
		       " changes that would do, %" PRIu64 " starts, 0 differences\n",
		       profile_text(i), tally[i].clusters, tally[i].explanations, tally[i].remedies, tally[i].starts);
}

/* ---- who is passed over would have waited ---- */

struct passing {
	struct refusals refusals;
	struct bits passed;
	uint64_t n;
};

static bool pass_over(void *ctx, pod_id pod)
{
	struct passing *p = ctx;
	bool is_passed = refusals_pass_over(&p->refusals, pod);

	if (is_passed)
		bits_set(&p->passed, pod);
	p->n += is_passed;
	return is_passed;
}

/* with NULL: everybody is asked. */
static void plan(struct live *l, struct engine_run run, const struct alike *alike, struct passing *with,
		 struct decisions *ret)
{
	struct ledger *ledger = cluster_ledger(l->cluster);
	ledger_mark mark = ledger_get_mark(ledger);
	struct err e = {0};

	*ret = (struct decisions){.arena = arena_new(1 << 16)};
	if (with) {
		refusals_init(&with->refusals, alike, ret, run.now_ns);
		run.passes_over = pass_over;
		run.driver = with;
	}
	if (engine_plan(l->engine, &run, ret, &e))
		fail_msg("%s", e.msg);
	ledger_rollback(ledger, mark);
	if (with)
		refusals_free(&with->refusals);
}

/* The earliest end that a decision tells of: forecasts go from one to the next. */
static int64_t first_end(const struct decision *d)
{
	int64_t first = d->own_rule != RULE_NONE && d->until_ns != TIME_NONE ? d->until_ns : INT64_MAX;

	for (uint32_t i = 0; i < d->n_protected; i++) {
		int64_t until_ns = d->protected[i].verdict.until_ns;

		first = until_ns != TIME_NONE && until_ns < first ? until_ns : first;
	}
	return first;
}

static bool says_the_same(const struct decision *a, const struct decision *b)
{
	return a->pod == b->pod && a->outcome == b->outcome && a->action == b->action && a->node == b->node &&
	       a->n_victims == b->n_victims && a->n_protected == b->n_protected && first_end(a) == first_end(b) &&
	       str_eq(a->message ? a->message : "", b->message ? b->message : "");
}

static bool has_end(const struct decisions *d, uint32_t cycle, int64_t end)
{
	bool has = end == INT64_MAX;

	for (uint32_t i = 0; i < d->v.n && !has; i++)
		has = d->v.v[i].cycle == cycle && first_end(&d->v.v[i]) == end;
	return has;
}

static void compare_plans(const struct decisions *all, const struct decisions *some, const struct passing *p,
			  uint64_t seed, const char *profile)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < all->v.n; i++) {
		const struct decision *d = &all->v.v[i];

		if (k < some->v.n && says_the_same(d, &some->v.v[k])) {
			k++;
			continue;
		}
		if (d->pod == POD_NONE || !bits_has(&p->passed, d->pod) || d->outcome != OUTCOME_WAITING ||
		    !has_end(some, d->cycle, first_end(d)))
			fail_msg("seed %" PRIu64
				 ", profile %s: decision %u of %u about %u (%s%s): %s; then %u (%s): %s",
				 seed, profile, i, all->v.n, d->pod, outcome_text(d->outcome),
				 bits_has(&p->passed, d->pod) ? ", passed over" : "", d->message ? d->message : "",
				 k < some->v.n ? some->v.v[k].pod : POD_NONE,
				 k < some->v.n ? outcome_text(some->v.v[k].outcome) : "",
				 k < some->v.n && some->v.v[k].message ? some->v.v[k].message : "");
	}
	assert_int_equal(k, some->v.n);
}

static void try_alike(uint64_t seed, enum profile profile, uint64_t *ret_passed)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS, .cycles = 1 + seed % 2, .report = POD_NONE};
	struct passing p = {0};
	struct decisions all, some;
	waiting_list waiting = {0};
	struct alike alike;
	struct mixed m = {0};
	struct live l;

	mixed_draw(&m, seed, profile);
	crowd(&m, seed);
	m.has_plugin = false;
	mixed_write(&m);
	live_load(&l, &m, 0, 1);
	plan_list_waiting(cluster_ledger(l.cluster), &waiting, &run);
	alike_init(&alike, l.cluster, l.config, &run, POD_NONE);
	plan(&l, run, &alike, NULL, &all);
	plan(&l, run, &alike, &p, &some);
	compare_plans(&all, &some, &p, seed, profile_text(profile));
	*ret_passed += p.n;
	array_free(&all.v);
	arena_free(all.arena);
	array_free(&some.v);
	arena_free(some.arena);
	alike_free(&alike);
	array_free(&waiting);
	bits_free(&p.passed);
	live_end(&l);
	mixed_free(&m);
}

static void who_is_passed_over_would_have_waited(void **state)
{
	uint64_t n = number("CEDE_N", 60), from = number("CEDE_SEED", 1), passed = 0;

	(void)state;
	for (uint64_t i = 0; i < 3 * n; i++)
		for (enum profile profile = 0; profile < PROFILE_KAI; profile++)
			try_alike(from + i, profile, &passed);
	printf("%" PRIu64 " passed over, 0 differences\n", passed);
	assert_true(passed > 0);
}

/* ---- more protected pods than are written down ---- */

enum { LARGE_NODES = 60, LARGE_PODS = 21 }; /* who is among the first PROTECTED_MAX is settled inside a node */

static void write_large(struct rng *r, struct text *t)
{
	static const uint32_t steps[] = {11, 13, 17, 19, 23, 29, 31, 37}; /* no divisor of how many there are */
	uint32_t step = steps[rng_below(r, 8)];

	for (uint32_t i = 0; i < LARGE_NODES; i++)
		text_printf(t,
			    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%02u}\n"
			    "status: {allocatable: {cpu: \"%d\", pods: \"99\"}}\n",
			    i, LARGE_PODS);
	for (uint32_t i = 0; i < LARGE_NODES * LARGE_PODS; i++) { /* names are not in the order of documents */
		text_printf(t,
			    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: x, name: r%04u}\n"
			    "spec: {priority: %d, nodeName: n%02u, containers: "
			    "[{name: c, resources: {requests: {cpu: \"1\"}}}]}\nstatus: {phase: Running, startTime: \"",
			    i * step % (LARGE_NODES * LARGE_PODS), rng_below(r, 3) ? 20 : 0, i / LARGE_PODS);
		timestamp_text(MIXED_NOW_NS - (int64_t)rng_below(r, 30000) * NS_PER_S, t);
		text_add(t, "\"}\n");
	}
	for (uint32_t i = 0; i < 3; i++)
		text_printf(t,
			    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: x, name: w%u}\n"
			    "spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: \"%u\"}}}]}\n",
			    i, 1 + i);
}

static void load_with(struct live *l, const struct mixed *m, uint64_t seed, void (*write)(struct rng *, struct text *))
{
	struct rng r = {seed};
	struct cluster_options o;
	struct text t = {0};
	struct err e = {0};

	live_begin(l);
	write(&r, &t);
	live_must(manifest_read_bytes(l->manifest, "made", text_str(&t), t.n, &e), &e, m);
	live_must(manifest_configure(l->manifest, l->config, &e), &e, m);
	l->config->min_runtime.preempt_ns = write == write_large ? 36000 * NS_PER_S : 0;
	o = engine_config_cluster_options(l->config, MIXED_NOW_NS);
	live_must(manifest_build(l->manifest, &o, &l->cluster, &e), &e, m);
	text_free(&t);
	live_start(l, m);
}

static void nor_where_not_all_who_are_protected_are_written_down(void **state)
{
	struct mixed m = {.profile = PROFILE_DEFAULT};

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct live l;

		load_with(&l, &m, seed, write_large);
		for (pod_id i = 0; i < ledger_pod_limit(cluster_ledger(l.cluster)); i++)
			if (ledger_pod(cluster_ledger(l.cluster), i)->state == POD_WAITING)
				compare(&l, &m, seed, &(struct explain_target){i, GROUP_NONE, QUEUE_NONE});
		live_end(&l);
	}
	assert_true(tally[PROFILE_DEFAULT].starts > 0);
}

/* ---- many small queues ---- */

enum { SMALL_QUEUES = 16, SMALL_NODES = 24, SMALL_WAITING = 10 };

static void write_small_pod(struct rng *r, struct text *t, const char *name, uint32_t i, int node)
{
	/* Some nodes have several of a queue. */
	uint32_t queue = node >= 0 && rng_below(r, 2) ? (uint32_t)node % SMALL_QUEUES : rng_below(r, SMALL_QUEUES);

	text_printf(
		t, "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: x, name: %s%03u, labels: {queue: root.q%02u}",
		name, i, queue);
	if (node >= 0 && rng_below(r, 8) == 0)
		text_add(t, ", annotations: {yunikorn.apache.org/allow-preemption: \"false\"}");
	text_printf(t, "}\nspec: {priority: %u, ", rng_below(r, 3));
	if (node >= 0)
		text_printf(t, "nodeName: n%02d, ", node);
	text_printf(t, "containers: [{name: c, %sresources: {requests: {cpu: \"%u\"}}}]}\n",
		    rng_below(r, 8) ? "" : "ports: [{containerPort: 80, hostPort: 80}], ",
		    node < 0 ? 2 + rng_below(r, 3) : 1 + rng_below(r, 2));
	if (node < 0)
		return;
	text_add(t, "status: {phase: Running, startTime: \"");
	timestamp_text(MIXED_NOW_NS - (int64_t)rng_below(r, 30000) * NS_PER_S, t);
	text_add(t, "\"}\n");
}

/* Nodes are full, no queue is below its guarantee, and nobody in a queue has to be of low priority. */
static void write_small(struct rng *r, struct text *t)
{
	uint32_t n = 0;

	text_add(t, "partitions:\n- name: default\n  preemption: {enabled: true}\n"
		    "  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n");
	for (uint32_t i = 0; i < SMALL_QUEUES; i++)
		text_printf(t, "    - {name: q%02u, resources: {guaranteed: {vcore: \"%u\"}}}\n", i, rng_below(r, 2));
	for (int i = 0; i < SMALL_NODES; i++) {
		text_printf(t,
			    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%02d}\n"
			    "status: {allocatable: {cpu: \"%u\", pods: \"99\"}}\n",
			    i, 6 + rng_below(r, 2));
		for (uint32_t k = 0; k < 3; k++)
			write_small_pod(r, t, "r", n++, i);
	}
	for (uint32_t i = 0; i < SMALL_WAITING; i++)
		write_small_pod(r, t, "w", i, -1);
}

static void nor_where_queues_are_many_and_small(void **state)
{
	uint64_t n = number("CEDE_N", 60), from = number("CEDE_SEED", 1), before = tally[PROFILE_DEFAULT].remedies;
	struct mixed m = {.profile = PROFILE_DEFAULT};

	(void)state;
	for (uint64_t seed = from; seed < from + n; seed++) {
		struct live l;

		load_with(&l, &m, seed, write_small);
		for (pod_id i = 0; i < ledger_pod_limit(cluster_ledger(l.cluster)); i++)
			if (ledger_pod(cluster_ledger(l.cluster), i)->state == POD_WAITING)
				compare(&l, &m, seed, &(struct explain_target){i, GROUP_NONE, QUEUE_NONE});
		live_end(&l);
	}
	assert_true(tally[PROFILE_DEFAULT].remedies > before);
}

/* ---- nodes that are passed over for one queue ---- */

enum { PASSED_NODES = 80, PASSED_OWN = 6 };

static void write_passed_pod(struct text *t, const char *name, uint32_t i, const char *queue, int node)
{
	text_printf(t,
		    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: x, name: %s%03u, labels: {queue: root.%s}}\n"
		    "spec: {",
		    name, i, queue);
	if (node >= 0)
		text_printf(t, "nodeName: n%02d, ", node);
	text_add(t, "containers: [{name: c, resources: {requests: {cpu: \"2\", memory: 1Gi}}}]}\n");
	if (node >= 0)
		text_add(t, "status: {phase: Running, startTime: \"2026-01-01T00:00:00Z\"}\n");
}

/*
 * Nodes are short of cpu alone. Queue z has no more of it than it is guaranteed. Queue x is owed memory, which helps it
 * nowhere, and comes first; y is owed cpu, and may take what x has.
 */
static void write_passed(struct rng *r, struct text *t)
{
	uint32_t n = 0;

	(void)r;
	text_add(t, "partitions:\n- name: default\n  preemption: {enabled: true}\n"
		    "  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n"
		    "    - {name: x, resources: {guaranteed: {memory: 1000Gi}}}\n"
		    "    - {name: y, resources: {guaranteed: {vcore: \"20\"}}}\n"
		    "    - {name: z, resources: {guaranteed: {vcore: \"400\"}}}\n");
	for (int i = 0; i < PASSED_NODES; i++) {
		text_printf(t,
			    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%02d}\n"
			    "status: {allocatable: {cpu: \"4\", memory: 64Gi, pods: \"99\"}}\n",
			    i);
		write_passed_pod(t, "r", n++, i < PASSED_OWN ? "x" : i == PASSED_NODES - 1 ? "y" : "z", i);
		write_passed_pod(t, "r", n++, "z", i);
	}
	write_passed_pod(t, "w", 0, "x", -1);
	write_passed_pod(t, "w", 1, "y", -1);
}

static void what_is_passed_over_for_one_queue_is_not_for_another(void **state)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct mixed m = {.profile = PROFILE_DEFAULT};
	const struct bits nobody = {0};
	struct decisions d;
	struct live l;

	(void)state;
	load_with(&l, &m, 1, write_passed);
	run.tells_of = &nobody;
	plan(&l, run, NULL, NULL, &d);
	assert_int_equal(d.v.n, 2);
	assert_int_equal(d.v.v[0].outcome, OUTCOME_WAITING);
	assert_int_equal(d.v.v[1].outcome, OUTCOME_NOMINATED);
	assert_int_equal(d.v.v[1].action, ACTION_RECLAIM);
	array_free(&d.v);
	arena_free(d.arena);
	live_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_out_changes_nothing),
		cmocka_unit_test(who_is_passed_over_would_have_waited),
		cmocka_unit_test(nor_where_not_all_who_are_protected_are_written_down),
		cmocka_unit_test(nor_where_queues_are_many_and_small),
		cmocka_unit_test(what_is_passed_over_for_one_queue_is_not_for_another),
	};

	return cmocka_run_group_tests_name("outlook", tests, NULL, NULL);
}
