/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever is told what one like it was told (engine/echo.h) is told what it would have been told if it had been asked:
 * an engine that looks at everything every time says the same bytes, on small clusters in which many wait that are
 * nearly alike, some in vain and some not, while in between others take room.
 *
 * CEDE_N: clusters per profile; CEDE_SEED: from which on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/mixed_run.h"

static struct {
	uint64_t decisions, copies, gangs, evictions; /* gangs: that were told the same as another */
} tally[PROFILE_COUNT];

/* ---- clusters ---- */

static void add_queues(struct rng *rng, struct text *t)
{
	text_printf(t,
		    "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: yunikorn-configs, namespace: yunikorn}, "
		    "data: {queues.yaml: \"partitions: [{name: default, queues: [{name: root, queues: [");
	text_printf(t, "{name: a, resources: {guaranteed: {vcore: %u}}}, ", rng_below(rng, 9));
	text_printf(t,
		    "{name: b, properties: {preemption.delay: %us}, resources: {guaranteed: {vcore: %u}}}]}]}]\"}}\n",
		    10 + rng_below(rng, 2) * 20, 4 + rng_below(rng, 12));
}

static void add_nodes(struct rng *rng, uint32_t n, struct text *t)
{
	for (uint32_t i = 0; i < n; i++)
		text_printf(t,
			    "---\n{apiVersion: v1, kind: Node, metadata: {name: n%u, labels: {kubernetes.io/hostname: "
			    "n%u}}, "
			    "status: {allocatable: {cpu: %u, pods: 20}}}\n",
			    i, i, 4 + rng_below(rng, 4));
}

static void add_budget(struct rng *rng, struct text *t)
{
	if (rng_below(rng, 3))
		return;
	text_printf(t,
		    "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all, namespace: s}, "
		    "spec: {selector: {matchLabels: {team: t0}}}, status: {disruptionsAllowed: %u}}\n",
		    rng_below(rng, 3));
}

static const char avoids[] = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			     "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {team: t1}}}]}}";

/* node: where it runs; -1: it waits. Few sizes, priorities and applications, so that many are alike, or nearly so. */
static void add_pod(struct rng *rng, uint32_t i, int node, bool may_avoid, struct text *t)
{
	static const char *const stays[] = {"", "", "", ", yunikorn.apache.org/allow-preemption: \"false\""};

	text_printf(t,
		    "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%u, namespace: s, creationTimestamp: \"%s\", ",
		    i, m_time(20 * (int64_t)(1 + rng_below(rng, 3))));
	text_printf(t, "labels: {team: t%u, queue: root.%s, applicationId: ", rng_below(rng, 2),
		    (node >= 0) == (rng_below(rng, 4) > 0) ? "a" : "b");
	text_printf(t, rng_below(rng, 8) ? "own-%u" : "shared", i);
	text_printf(t, "}, annotations: {x: y%s}}, ", stays[rng_below(rng, 4)]);
	text_printf(t, "spec: {priority: %u%s%s, containers: [{name: c, resources: {requests: {cpu: %u}}}]",
		    rng_below(rng, 2) * 10, node < 0 && !rng_below(rng, 8) ? ", preemptionPolicy: Never" : "",
		    may_avoid && !rng_below(rng, 4) ? avoids : "", 1 + rng_below(rng, node < 0 ? 3 : 2) * 2);
	if (node < 0)
		text_add(t, "}, status: {phase: Pending}}\n");
	else
		text_printf(t, ", nodeName: n%d}, status: {phase: Running, startTime: \"%s\"}}\n", node,
			    m_time(600 * (int64_t)(1 + rng_below(rng, 3))));
}

struct gang { /* what its members have in common; one in a while differs in something */
	uint32_t name, min, n, n_running;
	uint32_t cpu, priority, age, team;
	char queue;
	bool never, is_shared;
};

static struct gang draw_gang(struct rng *rng, uint32_t name)
{
	struct gang g = {.name = name, .min = 2 + rng_below(rng, 2)};

	g.n = g.min + (rng_below(rng, 6) ? 0 : rng_below(rng, 3)) - !rng_below(rng, 10);
	g.n_running = rng_below(rng, 8) ? 0 : 1;
	g.cpu = rng_below(rng, 3) ? 3 : 1;
	g.priority = rng_below(rng, 2) * 10;
	g.age = 20 * (1 + rng_below(rng, 3));
	g.team = rng_below(rng, 2);
	g.queue = rng_below(rng, 3) ? 'b' : 'a';
	g.never = !rng_below(rng, 8);
	g.is_shared = !rng_below(rng, 8);
	return g;
}

static void add_member(struct rng *rng, const struct gang *g, uint32_t i, struct text *t)
{
	bool is_odd = !rng_below(rng, 16);

	text_printf(
		t,
		"---\n{apiVersion: v1, kind: Pod, metadata: {name: g%u-%u, namespace: s, creationTimestamp: \"%s\", ",
		g->name, i, m_time(g->age + (int64_t)is_odd * 20));
	text_printf(t, "labels: {team: t%u, queue: root.%c, applicationId: ", is_odd ? 0 : g->team, g->queue);
	text_printf(t, g->is_shared ? "shared" : "gang-%u", g->name);
	text_printf(t, "}, annotations: {cede.dev/gang: g%u, cede.dev/min-member: \"%u\"}}, ", g->name, g->min);
	text_printf(t, "spec: {priority: %u%s, containers: [{name: c, resources: {requests: {cpu: %u}}}]", g->priority,
		    g->never ? ", preemptionPolicy: Never" : "", is_odd ? 1 : g->cpu);
	if (i < g->n_running)
		text_printf(t, ", nodeName: n0}, status: {phase: Running, startTime: \"%s\"}}\n", m_time(600));
	else
		text_add(t, "}, status: {phase: Pending}}\n");
}

static void add_gangs(struct rng *rng, struct text *t)
{
	for (uint32_t n = rng_below(rng, 2) ? 0 : 8 + rng_below(rng, 24); n > 0; n--) {
		struct gang g = draw_gang(rng, n);

		for (uint32_t i = 0; i < g.n; i++)
			add_member(rng, &g, i, t);
	}
}

static void make_cluster(uint64_t seed, struct text *t)
{
	struct rng rng = {.s = seed * 2 + 1};
	uint32_t nodes = 1 + rng_below(&rng, 4), i = 0;
	bool may_avoid;

	may_avoid = !rng_below(&rng, 4);
	add_queues(&rng, t);
	add_nodes(&rng, nodes, t);
	add_budget(&rng, t);
	for (uint32_t n = nodes * (1 + rng_below(&rng, 3)); i < n; i++)
		add_pod(&rng, i, (int)(i % nodes), may_avoid, t);
	for (uint32_t n = i + 20 + rng_below(&rng, 40); i < n; i++)
		add_pod(&rng, i, -1, may_avoid, t);
	add_gangs(&rng, t);
}

/* ---- the same plan twice ---- */

static void plan(struct live *l, const struct text *made, enum profile profile, bool looks_at_all, struct text *out)
{
	struct mixed nothing = {0};
	struct cluster_options o;
	struct err e = {0};

	live_begin(l);
	assert_int_equal(manifest_read_bytes(l->manifest, "made", text_str(made), made->n, &e), ERR_OK);
	assert_int_equal(manifest_configure(l->manifest, l->config, &e), ERR_OK);
	l->config->profile = profile;
	l->config->looks_at_all = looks_at_all;
	o = engine_config_cluster_options(l->config, MIXED_NOW_NS);
	assert_int_equal(manifest_build(l->manifest, &o, &l->cluster, &e), ERR_OK);
	live_start(l, &nothing);
	live_plan_and_emit(l, &nothing, 2, out);
}

static bool is_gang_copy(const struct decisions *d, uint32_t at)
{
	const struct decision *x = &d->v.v[at];

	for (uint32_t k = 0; x->group != GROUP_NONE && x->n_protected && k < at; k++)
		if (d->v.v[k].protected == x->protected && d->v.v[k].group != x->group)
			return true;
	return false;
}

/* A copy has the very words of another. A gang names itself in its own, but who is protected stands in one place. */
static void count(const struct decisions *d, enum profile profile)
{
	tally[profile].decisions += d->v.n;
	tally[profile].evictions += d->victims;
	for (uint32_t i = 1; i < d->v.n; i++)
		tally[profile].gangs += is_gang_copy(d, i);
	for (uint32_t i = 1; i < d->v.n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (d->v.v[k].message && d->v.v[k].message == d->v.v[i].message) {
				tally[profile].copies++;
				break;
			}
}

static void try_cluster(uint64_t seed, enum profile profile)
{
	struct text made = {0}, was = {0}, is = {0};
	struct live plain, echoing;

	make_cluster(seed, &made);
	plan(&plain, &made, profile, true, &was);
	plan(&echoing, &made, profile, false, &is);
	count(&echoing.plan, profile);
	if (!str_eq(text_str(&was), text_str(&is)))
		fail_msg("seed %" PRIu64 ", profile %s:\n%s\n--- asked:\n%s\n--- told:\n%s", seed,
			 profile_text(profile), text_str(&made), text_str(&was), text_str(&is));
	live_end(&plain);
	live_end(&echoing);
	text_free(&made);
	text_free(&was);
	text_free(&is);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void an_echo_is_what_would_have_been_said(void **state)
{
	static const enum profile profiles[] = {PROFILE_DEFAULT, PROFILE_KUBERNETES, PROFILE_YUNIKORN};
	uint64_t n = number("CEDE_N", 300), from = number("CEDE_SEED", 1);

	(void)state;
	for (size_t k = 0; k < sizeof(profiles) / sizeof(*profiles); k++) {
		enum profile p = profiles[k];

		for (uint64_t i = 0; i < n; i++)
			try_cluster(from + i, p);
		printf("echo: %s: %" PRIu64 " decisions, %" PRIu64 " of them copies, %" PRIu64 " gangs, %" PRIu64
		       " evictions, 0 differences\n",
		       profile_text(p), tally[p].decisions, tally[p].copies, tally[p].gangs, tally[p].evictions);
		assert_true(n < 50 || (tally[p].copies > n && tally[p].evictions > n / 10));
		assert_true(n < 50 || p != PROFILE_DEFAULT || tally[p].gangs > n / 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_echo_is_what_would_have_been_said),
	};

	return cmocka_run_group_tests_name("echo", tests, NULL, NULL);
}
