/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times from the year 1 to 9999 and amounts up to 2^62 are valid input: no sum wraps (make test-asan runs this with a
 * sanitizer that ends the program if one does), the ledger stays true, and the order of documents does not matter.
 *
 * CEDE_N: how many clusters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"
#include "rng.h"

enum { DOCS_MAX = 64 };

struct world {
	struct rng rng;
	struct text docs[DOCS_MAX];
	uint32_t n;
};

static const char *pick(struct world *w, const char *const *v, uint32_t n)
{
	return v[rng_below(&w->rng, n)];
}
#define PICK(w, ...) \
	pick(w, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const char *some_time(struct world *w)
{
	return PICK(w, "0001-01-01T00:00:01Z", "1677-09-21T00:12:43Z", "1700-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
		    "1999-12-31T23:59:59Z", "2000-01-01T00:00:00Z", "2026-11-15T11:00:00Z", "2026-11-15T11:59:59Z",
		    "2026-11-15T12:00:01Z", "2262-04-11T23:47:16Z", "9999-12-31T23:59:59Z");
}

static const char *some_window(struct world *w)
{
	return PICK(w, "0s", "1ns", "10m", "106751d", "2562047h");
}

static const char *some_amount(struct world *w)
{
	return PICK(w, "1", "3", "4503599627370497", "9007199254740993", "72057594037927935", "4611686018427387904");
}

static struct text *new_doc(struct world *w)
{
	assert_true(w->n < DOCS_MAX);
	w->docs[w->n] = (struct text){0};
	return &w->docs[w->n++];
}

static void add_queues(struct world *w)
{
	for (int i = 0; i < 3; i++) {
		struct text *t = new_doc(w);

		text_printf(t,
			    "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q%d, creationTimestamp: "
			    "\"%s\"}\n",
			    i, some_time(w));
		text_printf(t, "spec: {%s", i ? "parentQueue: q0, " : "");
		if (i)
			text_printf(t, "preemptMinRuntime: %s, reclaimMinRuntime: %s, ",
				    PICK(w, "0s", "10m", "2562047h"), PICK(w, "0s", "10m", "2562047h"));
		text_add(t, "resources: {");
		for (int r = 0; r < 3; r++)
			text_printf(t, "%s: {quota: %s, limit: -1, overQuotaWeight: 1}, ",
				    (const char *[]){"gpu", "cpu", "memory"}[r],
				    rng_below(&w->rng, 2) ? "-1" : some_amount(w));
		text_add(t, "}}\n");
	}
	text_printf(new_doc(w),
		    "partitions: [{name: default, queues: [{name: root, queues: [{name: y, resources: {guaranteed: "
		    "{memory: %s}}, "
		    "properties: {preemption.delay: %s}}, {name: z, properties: {preemption.delay: %s}}]}]}]\n",
		    some_amount(w), some_window(w), some_window(w));
}

static void add_node(struct world *w, int i)
{
	text_printf(new_doc(w),
		    "apiVersion: v1\nkind: Node\nmetadata: {name: n%d}\nstatus: {allocatable: {cpu: \"%s\", memory: "
		    "\"%s\", pods: "
		    "\"110\", nvidia.com/gpu: \"%s\"}}\n",
		    i, PICK(w, "64", "9223372036854775"), some_amount(w), some_amount(w));
}

static void add_pod(struct world *w, int i)
{
	struct text *t = new_doc(w);
	bool runs = rng_below(&w->rng, 2), leaves = runs && rng_below(&w->rng, 4) == 0, is_grouped = i % 4 == 0;

	if (is_grouped)
		text_printf(new_doc(w),
			    "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {namespace: d, name: "
			    "g%d, annotations: "
			    "{kai.scheduler/last-start-timestamp: \"%s\", kai.scheduler/stale-podgroup-timestamp: "
			    "\"%s\"}}\n"
			    "spec: {minMember: 1, queue: q%u, priorityClassName: %s}\n",
			    i, some_time(w), some_time(w), 1 + rng_below(&w->rng, 2), PICK(w, "train", "build"));
	text_printf(t, "apiVersion: v1\nkind: Pod\nmetadata: {namespace: d, name: p%02d, creationTimestamp: \"%s\", ",
		    i, some_time(w));
	if (leaves)
		text_printf(t, "deletionTimestamp: \"%s\", ", some_time(w));
	text_printf(t, "annotations: {cede.dev/checkpointed-at: \"%s\"", some_time(w));
	if (is_grouped)
		text_printf(t, ", pod-group-name: g%d", i);
	text_printf(t, "}, labels: {app: a, %s}}\n",
		    PICK(w, "kai.scheduler/queue: q1", "kai.scheduler/queue: q2", "queue: root.y", "queue: root.z",
			 "x: y"));
	text_printf(t,
		    "spec: {priority: %s, %scontainers: [{name: c, resources: {requests: {memory: \"%s\", "
		    "nvidia.com/gpu: \"%s\"}}}]}\n",
		    PICK(w, "-2147483648", "0", "5", "2147483647"),
		    runs ? PICK(w, "nodeName: n0, ", "nodeName: n1, ") : "", some_amount(w), some_amount(w));
	if (runs)
		text_printf(t, "status: {phase: Running, startTime: \"%s\"}\n", some_time(w));
}

static void make_world(struct world *w, uint64_t seed)
{
	*w = (struct world){.rng = {seed * UINT64_C(0x9e3779b97f4a7c15)}};
	add_queues(w);
	for (int i = 0; i < 2; i++)
		add_node(w, i);
	text_printf(new_doc(w),
		    "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: d}\nspec: "
		    "{selector: {matchLabels: "
		    "{app: a}}}\nstatus: {disruptionsAllowed: %s}\n",
		    PICK(w, "-2147483648", "1", "2147483647"));
	text_printf(new_doc(w),
		    "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nrules: {eviction-rate: {perHour: %s}}\n"
		    "actions: {reclaim: {patience: %s}}\n",
		    PICK(w, "1", "1000"), PICK(w, "1s", "2562047h"));
	for (int i = 0; i < 12; i++)
		add_pod(w, i);
}

/* The plan of these documents, in a line; backwards: the last first. */
static void plan(const struct world *w, enum profile profile, int64_t now_ns, bool backwards, struct text *out)
{
	struct story s = {.profile = profile, .cycles = 2};
	struct engine_run run = {.now_ns = now_ns, .cycles = 2, .report = POD_NONE};
	struct manifest *m;
	struct err e;

	s.vocab = vocab_new();
	s.settings = engine_config_new();
	m = manifest_new(s.vocab);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct text *doc = &w->docs[backwards ? w->n - 1 - i : i];

		story_must(manifest_read_bytes(m, "extreme", text_str(doc), doc->n, &e), &e);
	}
	story_must(manifest_configure(m, s.settings, &e), &e);
	s.settings->profile = profile;
	struct cluster_options o = engine_config_cluster_options(s.settings, now_ns);
	story_must(manifest_build(m, &o, &s.cluster, &e), &e);
	manifest_free(m);
	s.engine = engine_new(s.cluster, s.settings, NULL, 0, &e);
	story_must(s.engine ? ERR_OK : ERR_INTERNAL, &e);
	s.plan.arena = arena_new(64 * 1024);
	story_must(engine_plan(s.engine, &run, &s.plan, &e), &e);
	story_must(ledger_check(cluster_ledger(s.cluster), &e), &e);
	for (uint32_t i = 0; i < s.plan.v.n; i++)
		for (uint32_t k = 0; k < s.plan.v.v[i].n_victims; k++)
			assert_true(s.plan.v.v[i].victims[k].lost_ns >= 0 || profile == PROFILE_KAI ||
				    profile == PROFILE_KUBERNETES);
	story_line(&s, out);
	story_end(&s);
}

static void extreme_times_and_amounts_are_planned_alike_in_any_order(void **state)
{
	static const int64_t nows[] = {TIME_FIRST, INT64_C(-8520336000) * NS_PER_S, INT64_C(1794744000) * NS_PER_S,
				       TIME_LAST};
	const char *n = getenv("CEDE_N");
	uint64_t worlds = n ? strtoull(n, NULL, 10) : 150;

	(void)state;
	for (uint64_t seed = 1; seed <= worlds; seed++) {
		struct world w;

		make_world(&w, seed);
		for (enum profile p = 0; p < PROFILE_COUNT; p++)
			for (size_t i = 0; i < sizeof(nows) / sizeof(*nows); i++) {
				struct text one = {0}, other = {0};

				plan(&w, p, nows[i], false, &one);
				plan(&w, p, nows[i], true, &other);
				if (!str_eq(text_str(&one), text_str(&other)))
					print_error("seed %" PRIu64 ", profile %s, time %zu\n", seed, profile_text(p),
						    i);
				assert_string_equal(text_str(&one), text_str(&other));
				text_free(&one);
				text_free(&other);
			}
		for (uint32_t i = 0; i < w.n; i++)
			text_free(&w.docs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extreme_times_and_amounts_are_planned_alike_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
