/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made loads that ask for more than there is, so that queues come and go about their guarantees all the time: who
 * sleeps must be woken in time, whoever it is and whatever woke him. Each is simulated twice, the second time with
 * every pass compared with the same pass if everybody were asked (sim_options.compares); both come out the same.
 *
 * The first are single pods of eight queues on equal nodes (plain). The others differ in everything: what is drawn for
 * a seed stands in draw_world. CEDE_N=N tries the first N seeds of those, below 200 a fifth of them, since each is a
 * whole simulation (from 200 on a large plain one too); CEDE_SEED=N that one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "sim/random.h"
#include "sim/sim.h"

enum { MEAN_RUN_S = 3600, GPUS = 8, EVENTS_MAX = 12, FEW = 25, MANY = 200 };
#define START_NS (INT64_C(1763208000) * NS_PER_S)

/* What is simulated; of a share, so many of a hundred jobs. */
struct world {
	const char *stream;
	uint32_t seed, nodes, jobs, queues;
	enum profile profile;
	double load;	/* what is asked for, by what there is */
	bool is_deep;	/* queues in two halves that guarantee and limit something too */
	bool is_uneven; /* guarantees differ, and some queues have none */
	bool has_maximums;
	bool has_offsets;				/* priorities of a queue are shifted */
	uint32_t delay_s;				/* before a queue takes something back */
	uint32_t step_s;				/* arrivals are at whole steps; 0: at any time */
	uint32_t levels;				/* of priority */
	uint32_t gangs, elastic, kept, opted_out, slow; /* shares */
	bool has_cpu;					/* pods ask for a second type */
	uint32_t window_s, rate;
	uint32_t budget; /* maxUnavailable of all pods; 0: there is none */
	uint32_t checkpoint_s;
	uint32_t controllers; /* pods are made again by so many kinds of controllers, a Job's first */
	uint32_t n_fail;
	bool moves_freely; /* windows do not keep others from moving */
};

struct made {
	const struct world *w;
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
	struct sim_event events[EVENTS_MAX];
	char event_names[EVENTS_MAX][16];
	uint32_t n_events;
	uint64_t heard; /* of pods that wait, by who listens */
};

enum listens { NOBODY_LISTENS, SOMEBODY_LISTENS };

static struct err e;

/* ---- what arrives ---- */

static int64_t draw_ns(struct random_source *r, double mean_s)
{
	return (int64_t)(-fixed_log(random_unit(r)) * mean_s * (double)NS_PER_S);
}

static uint32_t draw_gpus(struct random_source *r)
{
	uint64_t x = random_below(r, 20);

	return x < 15 ? 1 : x < 17 ? 2 : x < 19 ? 4 : 8;
}

static bool draw_share(struct random_source *r, uint32_t of_100)
{
	return of_100 && random_below(r, 100) < of_100;
}

static void name_queue(const struct world *w, uint32_t i, char *ret, size_t n)
{
	if (w->is_deep)
		snprintf(ret, n, "root.h%u.q%u", (unsigned)(i % 2), (unsigned)i);
	else
		snprintf(ret, n, "root.q%u", (unsigned)i);
}

/* So many pods, all of which start together, or some of them. */
static void draw_gang(struct made *m, struct sim_job *job)
{
	static const enum sim_controller kinds[] = {SIM_JOB, SIM_OPERATOR, SIM_STATEFUL, SIM_BARE};
	const struct world *w = m->w;

	if (draw_share(&m->chance, w->gangs)) {
		job->n_pods = 2 + (uint32_t)random_below(&m->chance, 5);
		job->min_member = (int32_t)job->n_pods;
		if (draw_share(&m->chance, w->elastic))
			job->min_member = (int32_t)random_below(&m->chance, job->n_pods + 1);
	}
	if (w->controllers > 1)
		job->controller = kinds[random_below(&m->chance, w->controllers)];
	if (draw_share(&m->chance, w->slow))
		job->lingers_ns = 900 * NS_PER_S;
	job->checkpoint_ns = w->checkpoint_s * NS_PER_S;
}

static void draw_rules(struct made *m, struct load_pod *p)
{
	if (draw_share(&m->chance, m->w->kept))
		p->preemptibility = NON_PREEMPTIBLE;
	if (draw_share(&m->chance, m->w->opted_out))
		p->allows_preemption = NO;
}

/* A gang of two and more asks for as much as its pods do. */
static void pass_time(struct made *m, uint32_t n_pods)
{
	static const double mean_gpus = 35.0 / 20;
	const struct world *w = m->w;
	int64_t step = w->step_s * NS_PER_S;

	m->at_ns += draw_ns(&m->chance, MEAN_RUN_S * mean_gpus * n_pods / (w->nodes * GPUS * w->load));
	if (step)
		m->at_ns = (m->at_ns / step + 1) * step;
}

static enum err_code next_job(void *ctx, struct sim_job *ret, bool *ret_has, struct err *why)
{
	struct made *m = ctx;
	struct load_request ask[] = {{"nvidia.com/gpu", draw_gpus(&m->chance)}, {"cpu", 0}};
	char queue[24];
	struct load_pod p = {
		.ns = "b", .queue = queue, .has_priority = true, .n_requests = m->w->has_cpu ? 2 : 1, .requests = ask};

	*ret_has = m->given < m->w->jobs;
	if (!*ret_has)
		return ERR_OK;
	name_queue(m->w, (uint32_t)random_below(&m->chance, m->w->queues), queue, sizeof(queue));
	p.priority = random_below(&m->chance, 10) == 0 ? 100 : 0;
	if (m->w->levels > 2)
		p.priority = 10 * (int32_t)random_below(&m->chance, m->w->levels);
	if (m->w->has_cpu)
		ask[1].amount = 1000 * (1 + (int64_t)random_below(&m->chance, 24));
	*ret = (struct sim_job){.name = m->name,
				.template = &m->template,
				.n_pods = 1,
				.grace_ns = SIM_GRACE_NS,
				.lingers_ns = SIM_GRACE_NS,
				.controller = SIM_JOB};
	draw_gang(m, ret);
	draw_rules(m, &p);
	pass_time(m, ret->n_pods);
	ret->arrives_ns = m->at_ns;
	ret->run_ns = draw_ns(&m->chance, MEAN_RUN_S) + NS_PER_S;
	snprintf(m->name, sizeof(m->name), "j%u", m->given++);
	if (m->has_template)
		obj_pod_drop(m->vocab, &m->template);
	m->has_template = true;
	return load_template(m->vocab, &p, &m->template, why);
}

/* ---- where it arrives ---- */

static uint32_t fair_part(const struct world *w)
{
	return w->nodes * GPUS / w->queues;
}

static uint32_t guarantee_of(const struct world *w, uint32_t i)
{
	struct random_source chance = random_stream(w->seed * 64 + i, "guarantee");

	return w->is_uneven ? (uint32_t)random_below(&chance, 2 * fair_part(w) + 1) : fair_part(w);
}

static void make_queue(const struct world *w, uint32_t i, const char *indent, struct text *out)
{
	struct random_source chance = random_stream(w->seed * 64 + i, "queue");

	text_printf(out, "%s- name: q%u\n%s  resources:\n", indent, i, indent);
	text_printf(out, "%s    guaranteed: {nvidia.com/gpu: %u}\n", indent, guarantee_of(w, i));
	if (w->has_maximums && random_below(&chance, 2))
		text_printf(out, "%s    max: {nvidia.com/gpu: %u}\n", indent, guarantee_of(w, i) + fair_part(w));
	if (!w->delay_s && !w->has_offsets)
		return;
	text_printf(out, "%s  properties: {preemption.delay: %us", indent, w->delay_s ? w->delay_s : 1);
	if (w->has_offsets && random_below(&chance, 2))
		text_printf(out, ", priority.offset: \"%u\"", (unsigned)(10 * random_below(&chance, 4)));
	text_add(out, "}\n");
}

static void make_half(const struct world *w, uint32_t half, struct text *out)
{
	uint32_t sum = 0;

	for (uint32_t i = half; i < w->queues; i += 2)
		sum += guarantee_of(w, i);
	text_printf(out, "    - name: h%u\n      resources:\n        guaranteed: {nvidia.com/gpu: %u}\n", half, sum);
	if (w->has_maximums)
		text_printf(out, "        max: {nvidia.com/gpu: %u}\n", sum + fair_part(w) * 2);
	text_add(out, "      queues:\n");
	for (uint32_t i = half; i < w->queues; i += 2)
		make_queue(w, i, "      ", out);
}

static void make_queues(const struct world *w, struct text *out)
{
	text_add(out, "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n");
	for (uint32_t half = 0; w->is_deep && half < 2; half++)
		make_half(w, half, out);
	for (uint32_t i = 0; !w->is_deep && i < w->queues; i++)
		make_queue(w, i, "    ", out);
}

static void make_cluster(const struct world *w, struct text *out)
{
	for (uint32_t i = 0; i < w->nodes; i++)
		text_printf(out,
			    "{apiVersion: v1, kind: Node, metadata: {name: n%05u}, status: {allocatable: {cpu: 96, "
			    "memory: 768Gi, nvidia.com/gpu: %u, pods: 110}}}\n---\n",
			    i, GPUS);
	if (w->budget)
		text_printf(out,
			    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: b}, "
			    "spec: {maxUnavailable: %u, selector: {}}}\n---\n",
			    w->budget);
	make_queues(w, out);
}

/* Nodes fail, and some return. */
static void make_events(const struct world *w, struct play *p)
{
	struct random_source chance = random_stream(w->seed, "events");
	int64_t at = START_NS;

	for (uint32_t i = 0; i < w->n_fail; i++) {
		snprintf(p->event_names[i], sizeof(p->event_names[i]), "n%05u", i);
		at += draw_ns(&chance, MEAN_RUN_S);
		p->events[p->n_events++] = (struct sim_event){
			.at_ns = at, .kind = SIM_NODE_FAILS, .name = p->event_names[i], .where = NULL};
		at += draw_ns(&chance, MEAN_RUN_S);
		p->events[p->n_events++] = (struct sim_event){
			.at_ns = at, .kind = SIM_NODE_RETURNS, .name = p->event_names[i], .where = NULL};
	}
}

static void configure(const struct world *w, struct engine_config *c)
{
	c->profile = w->profile;
	c->min_runtime.preempt_ns = c->min_runtime.reclaim_ns = w->window_s * NS_PER_S;
	c->min_runtime_covers_consolidation = !w->moves_freely;
	c->evictions_per_hour = w->rate;
}

/* ---- the worlds ---- */

static struct world plain(uint32_t seed, uint32_t nodes, uint32_t jobs)
{
	return (struct world){.stream = "bench",
			      .seed = seed,
			      .nodes = nodes,
			      .jobs = jobs,
			      .queues = 8,
			      .profile = PROFILE_DEFAULT,
			      .load = 1.1,
			      .levels = 2,
			      .controllers = 1};
}

static uint32_t one_of(struct random_source *r, uint32_t rarely, uint32_t of, uint32_t most)
{
	return random_below(r, of) < rarely ? 1 + (uint32_t)random_below(r, most) : 0;
}

static struct world draw_world(uint32_t seed)
{
	static const enum profile profiles[] = {PROFILE_DEFAULT,    PROFILE_DEFAULT,	PROFILE_DEFAULT,
						PROFILE_DEFAULT,    PROFILE_DEFAULT,	PROFILE_DEFAULT,
						PROFILE_KUBERNETES, PROFILE_KUBERNETES, PROFILE_YUNIKORN};
	struct random_source r = random_stream(seed, "world");
	struct world w = {.stream = "load", .seed = seed};

	w.profile = profiles[random_below(&r, sizeof(profiles) / sizeof(*profiles))];
	w.nodes = 2 + (uint32_t)random_below(&r, 12);
	w.jobs = 60 + (uint32_t)random_below(&r, 120);
	w.queues = 2 + (uint32_t)random_below(&r, 6);
	w.load = 1 + 0.1 * (double)random_below(&r, 8);
	w.is_deep = random_below(&r, 3) == 0;
	w.is_uneven = random_below(&r, 2);
	w.has_maximums = random_below(&r, 3) == 0;
	w.has_offsets = random_below(&r, 6) == 0;
	w.delay_s = one_of(&r, 1, 3, 300);
	w.step_s = one_of(&r, 1, 2, 600);
	w.levels = 2 + one_of(&r, 1, 2, 4);
	w.gangs = one_of(&r, 2, 3, 70);
	w.elastic = one_of(&r, 1, 2, 60);
	w.kept = one_of(&r, 1, 6, 20);
	w.opted_out = one_of(&r, 1, 3, 30);
	w.slow = one_of(&r, 1, 4, 40);
	w.has_cpu = random_below(&r, 3) == 0;
	w.window_s = one_of(&r, 1, 3, 3600);
	w.moves_freely = random_below(&r, 4) == 0;
	w.rate = one_of(&r, 1, 5, 8);
	w.budget = one_of(&r, 1, 8, 6);
	w.checkpoint_s = one_of(&r, 1, 3, 1200);
	w.controllers = 1 + one_of(&r, 1, 2, 3);
	w.n_fail = one_of(&r, 1, 4, 2);
	return w;
}

/* ---- simulated ---- */

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	struct play *p = ctx;
	const struct ledger *l = cluster_ledger(sim_cluster(s));

	text_printf(&p->log, "%lld %s on %u\n", (long long)sim_now(s),
		    name_str(vocab_names(p->made.vocab), ledger_pod(l, pod)->name), ledger_pod(l, pod)->node);
}

static void on_waiting(void *ctx, struct sim *s, const struct decision *d)
{
	((struct play *)ctx)->heard++;
}

static void play(struct play *p, const struct world *w, bool compares, enum listens listens)
{
	struct vocab *vocab = vocab_new();
	struct manifest *manifest = manifest_new(vocab);
	struct engine_config *config = engine_config_new();
	struct sim_load load = {&p->made, next_job, NULL};
	struct sim_options o = {
		.from_ns = START_NS,
		.until_ns = START_NS + 30 * 86400 * NS_PER_S,
		.config = config,
		.load = &load,
		.compares = compares,
		.watcher = {.ctx = p, .start = on_start, .waiting = listens == SOMEBODY_LISTENS ? on_waiting : NULL}};
	struct cluster_options co;
	struct text text = {0};
	struct sim *s;

	*p = (struct play){
		.made = {.w = w, .vocab = vocab, .chance = random_stream(w->seed, w->stream), .at_ns = START_NS}};
	make_cluster(w, &text);
	make_events(w, p);
	o.events = p->events;
	o.n_events = p->n_events;
	if (manifest_read_bytes(manifest, "made", text_str(&text), text.n, &e))
		fail_msg("%s %u: %s", w->stream, w->seed, e.msg);
	assert_false(manifest_configure(manifest, config, &e));
	configure(w, config);
	co = engine_config_cluster_options(config, START_NS);
	assert_false(manifest_build(manifest, &co, &o.cluster, &e));
	s = sim_new(&o, &e);
	assert_non_null(s);
	if (sim_run(s, &e))
		fail_msg("%s %u, %u nodes: %s", w->stream, w->seed, w->nodes, e.msg);
	sim_free(s);
	if (p->made.has_template)
		obj_pod_drop(vocab, &p->made.template);
	cluster_free(o.cluster);
	manifest_free(manifest);
	engine_config_free(config);
	vocab_free(vocab);
	text_free(&text);
}

static void expect_exact(const struct world *w)
{
	struct play a, b;

	play(&a, w, false, NOBODY_LISTENS);
	play(&b, w, true, NOBODY_LISTENS);
	if (!str_eq(text_str(&a.log), text_str(&b.log)))
		fail_msg("%s %u, %u nodes: comparing gives something else", w->stream, w->seed, w->nodes);
	assert_true(a.log.n > 100);
	text_free(&a.log);
	text_free(&b.log);
}

static uint32_t number_of(const char *name, uint32_t otherwise)
{
	const char *asked = getenv(name);

	return asked && *asked ? (uint32_t)strtoul(asked, NULL, 10) : otherwise;
}

static void SI_1_who_may_take_back_a_guarantee_is_asked_in_time(void **state)
{
	static const uint32_t seeds[] = {7, 15, 40};
	struct world large = plain(1, 200, 8000);

	(void)state;
	if (number_of("CEDE_SEED", 0))
		skip();
	for (uint32_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		struct world w = plain(seeds[i], 25, 1000);

		expect_exact(&w);
	}
	if (number_of("CEDE_N", 0) >= MANY)
		expect_exact(&large);
}

/* Of pods that are alike some are past their queue's delay and others are not. */
static void SI_1_a_young_pod_keeps_no_older_one_asleep(void **state)
{
	struct world w = plain(3, 24, 800);

	(void)state;
	if (number_of("CEDE_SEED", 0))
		skip();
	w.delay_s = 600;
	expect_exact(&w);
}

/* Who wants to hear why pods wait has everybody asked; others are spared that, and the same happens. */
static void SI_1_who_is_refused_without_being_asked_would_be_in_any_case(void **state)
{
	struct world w = plain(7, 25, 1000);
	struct play a, b;

	(void)state;
	play(&a, &w, false, NOBODY_LISTENS);
	play(&b, &w, false, SOMEBODY_LISTENS);
	assert_string_equal(text_str(&a.log), text_str(&b.log));
	assert_true(b.heard > 100);
	text_free(&a.log);
	text_free(&b.log);
}

static void SI_1_nobody_sleeps_who_could_start(void **state)
{
	/* each of them found something once that no other did */
	static const uint32_t telling[] = {40, 76, 150, 179, 225, 235, 262, 291, 299, 369, 541, 586, 879};
	uint32_t only = number_of("CEDE_SEED", 0), asked = number_of("CEDE_N", FEW * 5);
	uint32_t n = asked < MANY ? asked / 5 : asked;
	struct world w = draw_world(only);

	(void)state;
	if (only) {
		expect_exact(&w);
		return;
	}
	for (uint32_t i = 0; i < sizeof(telling) / sizeof(*telling); i++) {
		w = draw_world(telling[i]);
		expect_exact(&w);
	}
	for (uint32_t seed = 1; seed <= n; seed++) {
		w = draw_world(seed);
		expect_exact(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_1_who_may_take_back_a_guarantee_is_asked_in_time),
		cmocka_unit_test(SI_1_a_young_pod_keeps_no_older_one_asleep),
		cmocka_unit_test(SI_1_who_is_refused_without_being_asked_would_be_in_any_case),
		cmocka_unit_test(SI_1_nobody_sleeps_who_could_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
