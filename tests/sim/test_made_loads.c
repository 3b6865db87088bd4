/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single pods of eight queues that ask for a tenth more than there is, so that queues come and go about their
 * guarantees all the time: who sleeps must be woken in time, whoever it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "sim/random.h"
#include "sim/sim.h"

enum { NODES = 25, JOBS = 1000, QUEUES = 8, MEAN_RUN_S = 3600 };
#define START_NS (INT64_C(1763208000) * NS_PER_S)

struct made {
	struct vocab *vocab;
	struct random_source chance;
	struct obj_pod template;
	bool has_template;
	uint32_t given;
	int64_t at_ns;
	char name[32];
};

struct play {
	struct made made;
	struct text log;
};

static struct err e;

static int64_t draw_ns(struct random_source *r, double mean_s)
{
	return (int64_t)(-fixed_log(random_unit(r)) * mean_s * (double)NS_PER_S);
}

static uint32_t draw_gpus(struct random_source *r)
{
	uint64_t x = random_below(r, 20);

	return x < 15 ? 1 : x < 17 ? 2 : x < 19 ? 4 : 8;
}

static enum err_code next_job(void *ctx, struct sim_job *ret, bool *ret_has, struct err *why)
{
	static const double mean_gpus = 35.0 / 20;
	struct made *m = ctx;
	struct load_request gpus = {"nvidia.com/gpu", draw_gpus(&m->chance)};
	char queue[16];
	struct load_pod p = {.ns = "b", .queue = queue, .has_priority = true, .n_requests = 1, .requests = &gpus};

	*ret_has = m->given < JOBS;
	if (!*ret_has)
		return ERR_OK;
	snprintf(queue, sizeof(queue), "root.q%u", (unsigned)random_below(&m->chance, QUEUES));
	p.priority = random_below(&m->chance, 10) == 0 ? 100 : 0;
	m->at_ns += draw_ns(&m->chance, MEAN_RUN_S * mean_gpus / (NODES * 8 * 1.1));
	snprintf(m->name, sizeof(m->name), "j%u", m->given++);
	if (m->has_template)
		obj_pod_drop(m->vocab, &m->template);
	m->has_template = true;
	*ret = (struct sim_job){.arrives_ns = m->at_ns,
				.name = m->name,
				.template = &m->template,
				.n_pods = 1,
				.run_ns = draw_ns(&m->chance, MEAN_RUN_S) + NS_PER_S,
				.grace_ns = SIM_GRACE_NS,
				.lingers_ns = SIM_GRACE_NS,
				.controller = SIM_JOB};
	return load_template(m->vocab, &p, &m->template, why);
}

static void make_cluster(struct text *out)
{
	for (uint32_t i = 0; i < NODES; i++)
		text_printf(out,
			    "{apiVersion: v1, kind: Node, metadata: {name: n%05u}, status: {allocatable: {cpu: 96, "
			    "memory: 768Gi, nvidia.com/gpu: 8, pods: 110}}}\n---\n",
			    i);
	text_add(out, "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n");
	for (uint32_t i = 0; i < QUEUES; i++)
		text_printf(out, "    - {name: q%u, resources: {guaranteed: {nvidia.com/gpu: %u}}}\n", i, NODES);
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	struct play *p = ctx;
	const struct ledger *l = cluster_ledger(sim_cluster(s));

	text_printf(&p->log, "%lld %s on %u\n", (long long)sim_now(s),
		    name_str(vocab_names(p->made.vocab), ledger_pod(l, pod)->name), ledger_pod(l, pod)->node);
}

static void play(struct play *p, uint32_t seed, bool is_exhaustive)
{
	struct vocab *vocab = vocab_new();
	struct manifest *manifest = manifest_new(vocab);
	struct engine_config *config = engine_config_new();
	struct sim_load load = {&p->made, next_job, NULL};
	struct sim_options o = {.from_ns = START_NS,
				.until_ns = TIME_NONE,
				.config = config,
				.load = &load,
				.is_exhaustive = is_exhaustive,
				.watcher = {.ctx = p, .start = on_start}};
	struct cluster_options co;
	struct text text = {0};
	struct sim *s;

	*p = (struct play){.made = {.vocab = vocab, .chance = random_stream(seed, "bench"), .at_ns = START_NS}};
	make_cluster(&text);
	assert_false(manifest_read_bytes(manifest, "made", text_str(&text), text.n, &e));
	assert_false(manifest_configure(manifest, config, &e));
	co = engine_config_cluster_options(config, START_NS);
	assert_false(manifest_build(manifest, &co, &o.cluster, &e));
	s = sim_new(&o, &e);
	assert_non_null(s);
	assert_false(sim_run(s, &e));
	sim_free(s);
	if (p->made.has_template)
		obj_pod_drop(vocab, &p->made.template);
	cluster_free(o.cluster);
	manifest_free(manifest);
	engine_config_free(config);
	vocab_free(vocab);
	text_free(&text);
}

static void SI_1_who_may_take_back_a_guarantee_is_asked_in_time(void **state)
{
	static const uint32_t seeds[] = {7, 15};

	(void)state;
	for (uint32_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		struct play a, b;

		play(&a, seeds[i], false);
		play(&b, seeds[i], true);
		if (!str_eq(text_str(&a.log), text_str(&b.log)))
			fail_msg("seed %u: asking everybody at every moment gives something else", seeds[i]);
		text_free(&a.log);
		text_free(&b.log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_1_who_may_take_back_a_guarantee_is_asked_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
