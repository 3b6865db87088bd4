/* SPDX-License-Identifier: Apache-2.0 */
/* The core of the simulation on loads that can be computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim_internal.h"

#define S NS_PER_S
#define START (INT64_C(1800000000) * NS_PER_S)

struct row { /* a job of the load */
	const char *name;
	int64_t at_s, run_s;
	uint32_t pods;
	int32_t min_member, priority;
	int64_t gpus, checkpoint_s;
	enum sim_controller controller;
};

struct stage {
	struct vocab *vocab;
	struct cluster *cluster;
	struct engine_config *config;
	const struct row *rows;
	uint32_t n_rows, next;
	struct obj_pod template;
	struct sim_load load;
};

static enum err_code next_row(void *ctx, struct sim_job *ret, bool *ret_has, struct err *e)
{
	struct stage *g = ctx;
	const struct row *r;
	struct load_request gpus = {"nvidia.com/gpu", 0};
	struct load_pod p = {.ns = "ml", .has_priority = true, .n_requests = 1, .requests = &gpus};

	*ret_has = g->next < g->n_rows;
	if (!*ret_has)
		return ERR_OK;
	r = &g->rows[g->next++];
	gpus.amount = r->gpus;
	p.priority = r->priority;
	if (g->template.shape)
		obj_pod_drop(g->vocab, &g->template);
	*ret = (struct sim_job){.arrives_ns = START + r->at_s * S,
				.name = r->name,
				.template = &g->template,
				.n_pods = r->pods,
				.min_member = r->min_member,
				.run_ns = r->run_s * S,
				.checkpoint_ns = r->checkpoint_s * S,
				.grace_ns = 30 * S,
				.lingers_ns = 30 * S,
				.controller = r->controller};
	return load_template(g->vocab, &p, &g->template, e);
}

static struct sim *stage_with(struct stage *g, const struct row *rows, uint32_t n, int nodes, int64_t gpus,
			      const struct framework_plugin *plugin)
{
	struct load_request room[] = {{"nvidia.com/gpu", gpus}, {"cpu", 64000}};
	struct cluster_options co = cluster_options_default();
	struct sim_options o = {.from_ns = START,
				.until_ns = TIME_NONE,
				.checks = true,
				.plugins = plugin,
				.n_plugins = plugin != NULL};
	struct err e = {0};

	*g = (struct stage){.vocab = vocab_new(), .config = engine_config_new(), .rows = rows, .n_rows = n};
	co = engine_config_cluster_options(g->config, START);
	g->cluster = cluster_new(g->vocab, &co);
	for (int i = 0; i < nodes; i++) {
		char name[] = {'n', (char)('0' + i), 0};
		struct obj_node node;

		assert_int_equal(load_node(g->vocab, name, room, 2, &node, &e), ERR_OK);
		assert_int_equal(cluster_put_node(g->cluster, &node, &e), ERR_OK);
	}
	g->load = (struct sim_load){g, next_row, NULL};
	o.cluster = g->cluster;
	o.config = g->config;
	o.load = &g->load;
	return sim_new(&o, &e);
}

static struct sim *stage_up(struct stage *g, const struct row *rows, uint32_t n, int nodes, int64_t gpus)
{
	return stage_with(g, rows, n, nodes, gpus, NULL);
}

static void stage_down(struct stage *g, struct sim *s)
{
	sim_free(s);
	obj_pod_drop(g->vocab, &g->template);
	cluster_free(g->cluster);
	engine_config_free(g->config);
	vocab_free(g->vocab);
}

static void run(struct sim *s)
{
	struct err e = {0};
	enum err_code rc = sim_run(s, &e);

	if (rc)
		fail_msg("%s", e.msg);
}

static void SI_2_a_pod_waits_for_room_and_finishes(void **state)
{
	static const struct row rows[] = {
		{"a", 0, 600, 1, 0, 0, 8, 0, SIM_JOB},
		{"b", 60, 600, 1, 0, 0, 8, 0, SIM_JOB},
	};
	struct stage g;
	struct sim *s = stage_up(&g, rows, 2, 1, 8);
	struct sim_outcome *o;

	(void)state;
	run(s);
	o = sim_get_outcome(s);
	assert_int_equal(o->totals.finished, 2);
	assert_int_equal(o->to_ns, START + 1200 * S);
	assert_int_equal((int64_t)o->totals.useful_sum, 1200 * S);
	assert_int_equal(o->totals.waits.max_ns, 540 * S);
	assert_true(times_quantile(&o->totals.waits, 0.5) == 0);
	assert_true(outcome_utilisation(o, &o->totals, 4) == 1.0);
	assert_true(times_quantile(&o->totals.slowdowns, 0.5) == 1.0);
	assert_int_equal(o->totals.slowdowns.max_ns, 19 * S / 10); /* 540 s waiting, 600 s running */
	stage_down(&g, s);
}

/* Evicted at 300 s with work saved up to 240 s; gone at 330 s; the other runs to 930 s, then 360 s are left. */
static void SI_3_a_victim_starts_again_from_its_checkpoint(void **state)
{
	static const struct row rows[] = {
		{"low", 0, 600, 1, 0, 0, 8, 120, SIM_STATEFUL},
		{"high", 300, 600, 1, 0, 10, 8, 0, SIM_JOB},
	};
	struct stage g;
	struct sim *s = stage_up(&g, rows, 2, 1, 8);
	struct sim_outcome *o;

	(void)state;
	run(s);
	o = sim_get_outcome(s);
	assert_int_equal(o->totals.finished, 2);
	assert_int_equal(o->totals.evictions, 1);
	assert_int_equal((int64_t)o->totals.lost_sum, 60 * S);
	assert_int_equal(o->to_ns, START + (330 + 600 + 360) * S);
	assert_int_equal(o->totals.slowdowns.max_ns, 215 * S / 100); /* 1,290 s for 600 */
	assert_int_equal(o->totals.most_evictions, 1);
	stage_down(&g, s);
}

static void SI_2_a_gang_starts_together(void **state)
{
	static const struct row rows[] = {
		{"one", 0, 100, 1, 0, 0, 8, 0, SIM_JOB},
		{"gang", 10, 50, 2, 2, 0, 8, 0, SIM_OPERATOR},
	};
	struct stage g;
	struct sim *s = stage_up(&g, rows, 2, 2, 8);
	struct sim_outcome *o;

	(void)state;
	run(s);
	o = sim_get_outcome(s);
	assert_int_equal(o->totals.finished, 3);
	assert_int_equal(o->to_ns, START + 150 * S);
	assert_int_equal((int64_t)o->totals.waits.sum, 2 * 90 * S);
	stage_down(&g, s);
}

/* With one more of something than there is, it is seen which; and with all as it was, nothing. */
#define IS_SEEN(s, what, words)                                                                     \
	do {                                                                                        \
		struct err e_ = {0};                                                                \
		(what) += 1;                                                                        \
		if (!sim_check((s), &e_) || !strstr(e_.msg, (words)))                               \
			fail_msg("one more " #what " is not seen as one of %s: %s", words, e_.msg); \
		(what) -= 1;                                                                        \
		assert_int_equal(sim_check((s), &e_), ERR_OK);                                      \
	} while (0)

static uint32_t n_checked;

/* That b and c have to wait when they come is decided without a search; that c has to when b starts is no decision. */
static void SI_2_decisions_are_counted_though_nobody_had_to_be_asked(void **state)
{
	static const struct row rows[] = {
		{"a", 0, 600, 1, 0, 0, 8, 0, SIM_JOB},
		{"b", 60, 600, 1, 0, 0, 8, 0, SIM_JOB},
		{"c", 70, 600, 1, 0, 0, 7, 0, SIM_JOB},
	};
	struct stage g;
	struct sim *s = stage_up(&g, rows, 3, 1, 8);

	(void)state;
	run(s);
	assert_int_equal(sim_get_outcome(s)->totals.finished, 3);
	assert_int_equal(sim_get_outcome(s)->attempts, 5);
	stage_down(&g, s);
}

static uint32_t n_offered;

static struct cede_verdict offer_first(void *self, struct cede_cycle *c, cede_node *ret)
{
	n_offered++;
	*ret = cede_node_at(c, 0);
	return cede_ok();
}

/* Nobody may go for it and nothing is free: no engine would find room for it, but a plugin may. */
static void SI_2_who_lacks_room_is_asked_about_where_plugins_may_offer_some(void **state)
{
	static const struct row rows[] = {
		{"a", 0, 600, 1, 0, 0, 8, 0, SIM_JOB},
		{"b", 60, 600, 1, 0, 0, 8, 0, SIM_JOB},
	};
	static const struct cede_plugin table = {.abi = CEDE_PLUGIN_ABI, .name = "offers", .post_filter = offer_first};
	const struct framework_plugin plugin = {.table = &table};
	struct stage g;
	struct sim *s = stage_with(&g, rows, 2, 1, 8, &plugin);

	(void)state;
	n_offered = 0;
	run(s);
	assert_true(n_offered > 0);
	assert_int_equal(sim_get_outcome(s)->totals.finished, 2);
	stage_down(&g, s);
}

static void break_accounts(void *ctx, struct sim *s)
{
	(void)ctx;
	for (uint32_t i = 0; i < s->accounts.n; i++) {
		struct account *a = &s->accounts.v[i];

		IS_SEEN(s, a->counts.submitted, "pods of");
		IS_SEEN(s, a->counts.finished, "pods of");
		IS_SEEN(s, a->counts.abandoned, "pods of");
		IS_SEEN(s, a->counts.running, "pods of");
		IS_SEEN(s, a->counts.waiting, "pods of");
		IS_SEEN(s, a->counts.submitted_sum, "work of");
		IS_SEEN(s, a->counts.done_sum, "work of");
		IS_SEEN(s, a->counts.abandoned_sum, "work of");
		IS_SEEN(s, a->counts.useful_sum, "run time of");
		IS_SEEN(s, a->counts.lost_sum, "run time of");
		n_checked++;
	}
	IS_SEEN(s, s->accounts.v[0].occupied[RES_PODS], "on nodes: the ledger says");
}

static void SI_2_nothing_is_lost_at_any_moment_without_being_seen(void **state)
{
	static const struct row rows[] = {
		{"low", 0, 600, 1, 0, 0, 8, 120, SIM_STATEFUL},
		{"bare", 10, 600, 1, 0, 0, 8, 0, SIM_BARE},
		{"high", 300, 600, 2, 2, 10, 8, 0, SIM_JOB},
	};
	struct stage g;
	struct sim *s = stage_up(&g, rows, 3, 2, 8);

	(void)state;
	n_checked = 0;
	s->o.watcher.moment = break_accounts;
	run(s);
	assert_int_equal(sim_get_outcome(s)->totals.evictions, 2);
	assert_int_equal(sim_get_outcome(s)->totals.abandoned, 1);
	assert_true(n_checked >= 10);
	stage_down(&g, s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_2_a_pod_waits_for_room_and_finishes),
		cmocka_unit_test(SI_3_a_victim_starts_again_from_its_checkpoint),
		cmocka_unit_test(SI_2_a_gang_starts_together),
		cmocka_unit_test(SI_2_decisions_are_counted_though_nobody_had_to_be_asked),
		cmocka_unit_test(SI_2_who_lacks_room_is_asked_about_where_plugins_may_offer_some),
		cmocka_unit_test(SI_2_nothing_is_lost_at_any_moment_without_being_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
