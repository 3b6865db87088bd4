/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole trace, simulated under every profile: decided as if everybody were asked at every moment, again the same,
 * with threads the same; conservation and the ledger's own check after each moment; nobody evicted inside his window.
 *
 * The trace is made up (traces/made-up.csv): 240 jobs of three queues in bursts on too few nodes. CEDE_SOAK=N goes on
 * with other seeds, nodes and settings until the engine has decided N times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "sim/sim.h"
#include "sim/trace_load.h"

#define TRACE "tests/sim/traces/made-up.csv"

struct setup { /* first: what is simulated */
	const char *sentence;
	enum profile profile;
	uint32_t nodes, seed;
	bool yunikorn;	      /* queues as YuniKorn has them */
	int64_t window_s;     /* minimum runtime, against preemption and reclaim */
	int64_t checkpoint_s; /* 0: never */
	uint32_t threads;
	bool is_exhaustive;
	uint32_t max_jobs;
	bool logs_starts; /* instead of decisions */
	bool is_deaf;	  /* nobody hears why anything was decided */
};

struct run {
	struct setup setup;
	struct vocab *vocab;
	struct manifest *manifest;
	struct cluster *cluster;
	struct engine_config *config;
	struct trace_load *trace;
	struct sim_load load;
	struct sim *sim;
	struct text log;
	uint64_t evictions;
};

static struct err e;
static uint64_t decided, moments, evicted; /* in all runs */
#define OK(x)                                  \
	do {                                   \
		if (x)                         \
			fail_msg("%s", e.msg); \
	} while (0)

static void on_decision(void *ctx, struct sim *s, const struct decision *d, uint64_t number)
{
	struct run *r = ctx;
	struct ledger *l = cluster_ledger(sim_cluster(s));
	struct names *names = vocab_names(r->vocab);

	(void)number;
	if (d->outcome == OUTCOME_NOMINATED && !d->n_victims)
		return; /* told again as often as it is looked at */
	text_printf(&r->log, "%lld %s %s %s %s:", (long long)sim_now(s), outcome_text(d->outcome),
		    action_text(d->action), d->pod == POD_NONE ? "" : name_str(names, ledger_pod(l, d->pod)->name),
		    d->node == NODE_NONE ? "" : name_str(names, ledger_node(l, d->node)->name));
	for (uint32_t i = 0; i < d->n_victims; i++)
		text_printf(&r->log, " %s", name_str(names, ledger_pod(l, d->victims[i].pod)->name));
	text_add(&r->log, "\n");
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	struct run *r = ctx;
	const struct ledger *l = cluster_ledger(sim_cluster(s));
	const struct pod *p = ledger_pod(l, pod);

	text_printf(&r->log, "%lld %s on %s\n", (long long)sim_now(s), name_str(vocab_names(r->vocab), p->name),
		    name_str(vocab_names(r->vocab), ledger_node(l, p->node)->name));
}

static void on_eviction(void *ctx, struct sim *s, const struct sim_eviction *ev)
{
	struct run *r = ctx;
	const struct pod *p = ledger_pod(cluster_ledger(sim_cluster(s)), ev->victim->pod);
	/* Profile kai goes by the stamps of PodGroups, which pods of traces have none of. */
	bool has_window =
		r->setup.profile == PROFILE_DEFAULT && (ev->action == ACTION_PREEMPT || ev->action == ACTION_RECLAIM);

	r->evictions++;
	if (has_window && time_since(ev->at_ns, p->started_ns) < r->setup.window_s * NS_PER_S)
		fail_msg("%s: %s is evicted %lld s after its start", r->setup.sentence, ev->pod,
			 (long long)(time_since(ev->at_ns, p->started_ns) / NS_PER_S));
}

static void read_all(struct run *r)
{
	const struct setup *u = &r->setup;
	struct trace_options o = {.path = TRACE,
				  .format = TRACE_PHILLY,
				  .seed = u->seed,
				  .nodes = u->nodes,
				  .checkpoint_ns = u->checkpoint_s * NS_PER_S,
				  .has_yunikorn_queues = u->yunikorn,
				  .max_jobs = u->max_jobs};
	struct cluster_options co;
	struct text made = {0};

	OK(trace_load_open(&o, &r->trace, &e));
	r->vocab = vocab_new();
	r->manifest = manifest_new(r->vocab);
	r->config = engine_config_new();
	trace_cluster(r->trace, &made);
	OK(manifest_read_bytes(r->manifest, "made", text_str(&made), made.n, &e));
	OK(manifest_configure(r->manifest, r->config, &e));
	r->config->profile = u->profile;
	r->config->threads = u->threads ? u->threads : 1;
	r->config->min_runtime.preempt_ns = r->config->min_runtime.reclaim_ns = u->window_s * NS_PER_S;
	co = engine_config_cluster_options(r->config, trace_load_from(r->trace));
	OK(manifest_build(r->manifest, &co, &r->cluster, &e));
	r->load = trace_load_jobs(r->trace, r->vocab);
	text_free(&made);
}

static void simulate(struct run *r, const struct setup *u)
{
	struct sim_options o = {.until_ns = TIME_NONE, .checks = true, .is_exhaustive = u->is_exhaustive};

	*r = (struct run){.setup = *u};
	read_all(r);
	o.from_ns = trace_load_from(r->trace);
	o.cluster = r->cluster;
	o.config = r->config;
	o.load = &r->load;
	o.watcher = (struct sim_watcher){.ctx = r,
					 .decision = u->logs_starts ? NULL : on_decision,
					 .start = u->logs_starts ? on_start : NULL,
					 .eviction = u->is_deaf ? NULL : on_eviction};
	r->sim = sim_new(&o, &e);
	assert_non_null(r->sim);
	if (sim_run(r->sim, &e))
		fail_msg("%s, %u nodes, seed %u: %s", u->sentence, u->nodes, u->seed, e.msg);
	if (!sim_get_outcome(r->sim)->is_complete)
		fail_msg("%s: %s", u->sentence, sim_get_outcome(r->sim)->stopped_by);
	assert_int_equal(sim_get_outcome(r->sim)->totals.waiting, 0);
}

static void clear(struct run *r)
{
	decided += sim_get_outcome(r->sim)->attempts;
	moments += sim_get_outcome(r->sim)->cycles;
	evicted += r->evictions;
	sim_free(r->sim);
	sim_load_free(&r->load);
	trace_load_free(r->trace);
	cluster_free(r->cluster);
	manifest_free(r->manifest);
	engine_config_free(r->config);
	vocab_free(r->vocab);
	text_free(&r->log);
}

static const struct setup setups[] = {
	{"cede's own rules", PROFILE_DEFAULT, 8, 1, false, 0, 0, 0, false, 0, false, false},
	{"cede's own rules, YuniKorn's queues", PROFILE_DEFAULT, 9, 2, true, 0, 600, 0, false, 0, false, false},
	{"cede's own rules with windows", PROFILE_DEFAULT, 7, 3, false, 600, 0, 0, false, 0, false, false},
	{"Kubernetes' rules", PROFILE_KUBERNETES, 8, 1, false, 0, 0, 0, false, 0, false, false},
	{"YuniKorn's rules", PROFILE_YUNIKORN, 8, 1, true, 0, 0, 0, false, 0, false, false},
	{"YuniKorn's rules, where the order of queues turns", PROFILE_YUNIKORN, 5, 312, true, 0, 0, 0, false, 0, false,
	 false},
	{"KAI's rules", PROFILE_KAI, 8, 1, false, 0, 0, 0, false, 80, false, false},
	{"KAI's rules, with checkpoints", PROFILE_KAI, 9, 2, false, 0, 900, 0, false, 80, false, false},
};
enum { N_SETUPS = sizeof(setups) / sizeof(*setups) };

static void expect_same(const struct setup *u, const struct setup *v, const char *what)
{
	struct run a, b;

	simulate(&a, u);
	simulate(&b, v);
	if (!str_eq(text_str(&a.log), text_str(&b.log))) {
		const char *x = text_str(&a.log), *y = text_str(&b.log);
		size_t i = 0;

		while (x[i] == y[i])
			i++;
		while (i > 0 && x[i - 1] != '\n')
			i--;
		fail_msg("%s, %u nodes, seed %u: %s gives something else:\n%.200s\n---\n%.200s", u->sentence, u->nodes,
			 u->seed, what, x + i, y + i);
	}
	assert_true(a.log.n > 1000);
	clear(&a);
	clear(&b);
}

static void SI_1_whole_traces_are_decided_as_if_everybody_were_asked(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_SETUPS; i++) {
		struct setup all = setups[i];

		all.is_exhaustive = true;
		expect_same(&setups[i], &all, "asking everybody at every moment");
	}
}

static void SI_1_whole_traces_come_out_the_same_with_two_threads(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_SETUPS; i++) {
		struct setup two = setups[i];

		two.threads = 2;
		expect_same(&setups[i], &two, "a second run, with two threads,");
	}
}

/* Then the engine tells only until when somebody is protected. */
static void SI_1_whole_traces_come_out_the_same_where_nobody_hears_why(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_SETUPS; i++) {
		struct setup told = setups[i], deaf;

		told.logs_starts = true;
		deaf = told;
		deaf.is_deaf = true;
		expect_same(&told, &deaf, "hearing nothing of why");
	}
}

/* Over whole traces, with what on_eviction and sim_check see; prints how much that was. */
static void SI_2_a_long_soak_keeps_every_invariant(void **state)
{
	const char *asked = getenv("CEDE_SOAK");
	uint64_t n = asked ? strtoull(asked, NULL, 10) : 0;

	(void)state;
	if (!n)
		skip();
	decided = moments = evicted = 0;
	for (uint32_t seed = 1; decided < n; seed++) {
		struct setup u = setups[seed % N_SETUPS];
		struct run r;

		u.seed = seed;
		u.nodes = 5 + seed % 6;
		u.window_s = (seed % 4) * 300;
		u.checkpoint_s = (seed % 3) * 900;
		u.max_jobs = 0;
		simulate(&r, &u);
		if (seed / N_SETUPS % 2 == 0) {
			struct setup all = u;

			all.is_exhaustive = true;
			expect_same(&u, &all, "asking everybody at every moment");
		}
		clear(&r);
	}
	print_message("soak: %llu decisions in %llu cycles, %llu evictions, no invariant broken\n",
		      (unsigned long long)decided, (unsigned long long)moments, (unsigned long long)evicted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_1_whole_traces_are_decided_as_if_everybody_were_asked),
		cmocka_unit_test(SI_1_whole_traces_come_out_the_same_with_two_threads),
		cmocka_unit_test(SI_1_whole_traces_come_out_the_same_where_nobody_hears_why),
		cmocka_unit_test(SI_2_a_long_soak_keeps_every_invariant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
