/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Default preemption on random clusters, beside a plain model of it (displace_model.h). An engine lives through several
 * rounds of each cluster: it plans, the plan is compared decision by decision, carried out or forgotten, something
 * changes, it plans again. So what it remembers of nodes is held to account too. Promised throughout:
 *
 *	no node is overlooked and the chosen one is the best by KF-6;
 *	victims are exactly the model's, and each of them is needed;
 *	no node is over-committed by a plan;
 *	rows of numbers give on every node what moving pods gives; one, two and eight threads decide alike;
 *	planning twice gives the same bytes, and taking a plan back leaves no trace.
 *
 * CEDE_N: how many clusters; CEDE_SECONDS: for how long instead.
 */
#include "filters/fixture.h"

#include <stdio.h>

#include "engine/displace.h"
#include "engine/engine.h"
#include "properties/displace_model.h"
#include "rng.h"

enum { ROUNDS = 5, APPS = 3 /* 0: a pod without labels */ };

static struct rng r;
static struct model m;
static struct engine_config *config;
static struct engine *engine;
static uint64_t n_decisions, n_nominated, n_placed, n_compared, seed;

static int below(int n)
{
	return (int)rng_below(&r, (uint32_t)n);
}

static bool one_in(int n)
{
	return below(n) == 0;
}

/* ---- the cluster as the model has it ---- */

static const char *node_name(int i)
{
	return arena_printf(f.arena, "n%d", i);
}

static const char *pod_name(int i)
{
	return arena_printf(f.arena, "p%02d", i);
}

static void tell_node(int i)
{
	const struct m_node *n = &m.nodes[i];

	put_node((struct node_text){
		.name = node_name(i),
		.has = arena_printf(f.arena, "cpu=%d memory=%d pods=%d", n->cpu, n->memory, n->slots),
		.taints = n->is_tainted ? "k:NoSchedule" : NULL});
}

static const char *asks_of(const struct m_pod *p)
{
	const char *cpu = p->cpu ? arena_printf(f.arena, "cpu=%d", p->cpu) : "";

	return p->memory ? arena_printf(f.arena, "%s memory=%d", cpu, p->memory) : cpu;
}

static void tell_pod(int i)
{
	const struct m_pod *p = &m.pods[i];
	struct shape shape = {.never_preempts = p->is_never};

	put_pod((struct pod_text){.name = pod_name(i),
				  .node = p->node == M_NOWHERE ? NULL : node_name(p->node),
				  .nominated = p->nomination == M_NOWHERE ? NULL : node_name(p->nomination),
				  .labels = p->app ? arena_printf(f.arena, "app=%d", p->app) : NULL,
				  .asks = asks_of(p),
				  .ports = p->port ? arena_printf(f.arena, "%d", p->port) : NULL,
				  .priority = p->priority,
				  .created_s = p->created_s,
				  .started_s = p->start_s,
				  .is_leaving = p->is_leaving && !p->is_preempted,
				  .is_preempted = p->is_leaving && p->is_preempted,
				  .shape = &shape});
}

static void tell_pdb(int i)
{
	const struct m_pdb *b = &m.pdbs[i];
	const char *name = arena_printf(f.arena, "b%d", i);
	struct obj_pdb o = {.ns = names_hold_str(f.names, "default"),
			    .name = names_hold_str(f.names, name),
			    .bag = name_bag_of(f.names)};
	const char *selector = "app in (0";

	for (int app = 1; app <= APPS; app++)
		if (b->apps >> app & 1)
			selector = arena_printf(f.arena, "%s,%d", selector, app);
	selector = arena_printf(f.arena, "%s)", selector);
	o.arena = arena_new(256);
	assert_int_equal(selector_parse(o.arena, &o.bag, selector, strlen(selector), &o.selector, NULL), ERR_OK);
	o.allowed = b->allowed;
	o.disrupted = mem_alloc(sizeof(*o.disrupted));
	if (b->listed != M_NOWHERE)
		o.disrupted[o.n_disrupted++] = name_bag_add_str(&o.bag, pod_name(b->listed));
	assert_int_equal(cluster_put_pdb(f.cluster, &o, NULL), ERR_OK);
}

static pod_id id_of(int i)
{
	return cluster_find_pod(f.cluster, "default", pod_name(i));
}

static int index_of(pod_id id)
{
	return (int)strtol(name_str(f.names, ledger_pod(f.ledger, id)->name) + 1, NULL, 10);
}

static int node_index(node_id n)
{
	return n == NODE_NONE ? M_NOWHERE
			      : (int)strtol(name_str(f.names, ledger_node(f.ledger, n)->name) + 1, NULL, 10);
}

/* ---- random clusters ---- */

static int n_priorities; /* of this cluster: few, or more than sums keep apart */

static int random_priority(void)
{
	return below(n_priorities) - 1;
}

static struct m_node random_node(void)
{
	return (struct m_node){.is_tainted = one_in(12),
			       .cpu = 2 + below(7),
			       .memory = 2 + below(6),
			       .slots = one_in(4) ? 1 + below(3) : 20};
}

static struct m_pod random_pod(bool has_ports)
{
	return (struct m_pod){
		.is_there = true,
		.node = M_NOWHERE,
		.nomination = M_NOWHERE,
		.priority = random_priority(),
		.cpu = n_priorities > 5 ? below(2) : below(4),
		.memory = one_in(2) ? 0 : 1 + below(3),
		.port = has_ports && one_in(4) ? 80 + below(2) : 0,
		.app = below(APPS + 1),
	};
}

/* A running pod where there is room for it; otherwise it is not there. */
static void random_runner(int i, bool has_ports)
{
	struct m_pod *p = &m.pods[i];

	*p = random_pod(has_ports);
	p->start_s = one_in(5) ? 0 : 1 + below(6);
	for (int k = 0; k < 4 && p->node == M_NOWHERE; k++) {
		int node = below(m.n_nodes);
		bool was_tainted = m.nodes[node].is_tainted;

		m.nodes[node].is_tainted = false; /* it may have been there before the taint */
		if (m_filter(&m, i, node, false) == M_FITS)
			p->node = node;
		m.nodes[node].is_tainted = was_tainted;
	}
	p->is_there = p->node != M_NOWHERE;
	p->is_leaving = one_in(8);
	p->is_preempted = p->is_leaving && one_in(2);
}

static void random_waiter(int i, bool has_ports)
{
	struct m_pod *p = &m.pods[i];

	*p = random_pod(has_ports);
	p->priority = below(n_priorities + 1);
	p->cpu = 1 + below(6);
	p->created_s = one_in(4) ? 0 : 1 + below(4);
	p->nomination = one_in(5) ? below(m.n_nodes) : M_NOWHERE;
	p->is_never = one_in(10);
}

static void random_pdb(int i)
{
	m.pdbs[i] = (struct m_pdb){.apps = 2u << below(APPS) | 2u << below(APPS),
				   .allowed = below(3),
				   .listed = one_in(4) ? below(M_PODS) : M_NOWHERE};
}

enum { RUNNERS = 36 }; /* the rest of the pods wait */

static bool has_ports;

static void random_cluster(void)
{
	memset(&m, 0, sizeof(m));
	m.n_nodes = 1 + below(M_NODES);
	has_ports = one_in(3);
	n_priorities = one_in(3) ? 20 : 5;
	for (int i = 0; i < m.n_nodes; i++)
		m.nodes[i] = random_node();
	for (int i = 0; i < RUNNERS; i++)
		random_runner(i, has_ports);
	for (int i = RUNNERS, n = 1 + below(6); i < RUNNERS + n; i++)
		random_waiter(i, has_ports);
	for (int i = 0; i < M_PDBS; i++)
		if (one_in(2))
			random_pdb(i);
	for (int i = 0; i < m.n_nodes; i++)
		tell_node(i);
	for (int i = 0; i < M_PODS; i++)
		if (m.pods[i].is_there)
			tell_pod(i);
	for (int i = 0; i < M_PDBS; i++)
		if (m.pdbs[i].apps)
			tell_pdb(i);
}

static void drop_pod(int i)
{
	if (m.pods[i].is_there)
		cluster_drop_pod(f.cluster, "default", pod_name(i));
	m.pods[i].is_there = false;
}

/* Something happens between two plans. */
static void random_change(void)
{
	int i = below(RUNNERS), w = RUNNERS + below(M_PODS - RUNNERS), node = below(m.n_nodes);

	switch (below(7)) {
	case 0:
		drop_pod(i);
		break;
	case 1:
		drop_pod(i);
		random_runner(i, has_ports);
		break;
	case 2:
		drop_pod(w);
		random_waiter(w, has_ports);
		i = w;
		break;
	case 3:
		m.nodes[node].is_tainted = !m.nodes[node].is_tainted;
		tell_node(node);
		break;
	case 4:
		m.nodes[node].cpu += 1;
		tell_node(node);
		break;
	case 5:
		m.pods[i].priority = random_priority();
		break;
	default:
		random_pdb(0);
		tell_pdb(0);
		break;
	}
	if (m.pods[i].is_there)
		tell_pod(i);
}

/* ---- rows of numbers and moves say the same ---- */

static bool same_answer(const struct displace_node *a, const struct displace_node *b)
{
	return a->node == b->node && a->n_victims == b->n_victims && a->n_violations == b->n_violations &&
	       a->status.plugin == b->status.plugin && a->status.verdict.code == b->status.verdict.code &&
	       a->status.verdict.reason == b->status.verdict.reason &&
	       a->status.verdict.detail == b->status.verdict.detail &&
	       (!a->n_victims || !memcmp(a->victims, b->victims, a->n_victims * sizeof(pod_id)));
}

/* On all nodes where taking pods away may help. */
static void check_fast(int w)
{
	const struct rule_settings settings = {.profile = PROFILE_KUBERNETES};
	struct judge_scratch scratch = {0};
	struct judge j;
	struct displace_options o = {.j = &j, .threads = 1};
	struct cede_cycle *c = cycle_start(NULL, id_of(w));
	struct displace_node fast[M_NODES];
	node_id nodes[M_NODES];
	uint32_t n = 0;

	c->now_ns = M_NOW * NS_PER_S;
	displace_judge(&j, c, &settings, &scratch);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (cycle_fits(c, c->nodes[i]).verdict.code == CEDE_UNSCHEDULABLE)
			nodes[n++] = c->nodes[i];
	displace_all(c, nodes, n, &o, fast);
	for (uint32_t i = 0; i < n; i++) {
		struct displace_node plain = displace_try(c, nodes[i], &o);
		struct m_set s;

		n_compared++;
		if (!same_answer(&plain, &fast[i]))
			fail_msg("seed %llu: node %u: rows and moves differ", (unsigned long long)seed, nodes[i]);
		if (m_victims(&m, w, node_index(nodes[i]), &s) != status_is_success(&plain.status) ||
		    s.n != (int)plain.n_victims || s.n_violations != (int)plain.n_violations)
			fail_msg("seed %llu: pod %d, node %u: %u victims, the model has %d", (unsigned long long)seed,
				 w, nodes[i], plain.n_victims, s.n);
	}
	judge_scratch_free(&scratch);
	cycle_stop();
}

/* ---- plans ---- */

static void plan_into(struct decisions *d, uint32_t threads, pod_id report)
{
	struct engine_run run = {.now_ns = M_NOW * NS_PER_S, .cycles = 1, .report = report};
	struct err e;

	config->threads = threads;
	*d = (struct decisions){.arena = f.arena};
	if (engine_plan(engine, &run, d, &e))
		fail_msg("no plan: %s", e.msg);
}

static void write_plan(const struct decisions *d, struct text *out)
{
	text_reset(out);
	for (uint32_t i = 0; i < d->v.n; i++) {
		const struct decision *one = &d->v.v[i];

		text_printf(out, "%u %s %u by %d %lld:%lld before %u (%s)", one->pod, outcome_text(one->outcome),
			    one->node, one->tie, (long long)one->tie_mine, (long long)one->tie_theirs, one->runner_up,
			    one->message ? one->message : "");
		for (uint32_t k = 0; k < one->n_victims; k++)
			text_printf(out, " %u/%d", one->victims[k].pod, one->victims[k].overridden);
		text_add(out, "\n");
	}
}

/* Any number of threads, the same engine again, a fresh one, and with a report for somebody: always the same bytes. */
static void check_repeated(const struct text *first)
{
	static const uint32_t threads[] = {1, 2, 8};
	ledger_mark mark = ledger_get_mark(f.ledger);
	uint64_t before = ledger_digest(f.ledger);
	struct engine *lasting = engine;
	int report = RUNNERS + below(M_PODS - RUNNERS);

	for (size_t i = 0; i < 2 * COUNT(threads); i++) {
		pod_id who = i < COUNT(threads) || !m.pods[report].is_there ? POD_NONE : id_of(report);
		struct decisions d;
		struct text again = {0};

		engine = i % 2 ? engine_new(f.cluster, config, NULL, 0, NULL) : lasting;
		plan_into(&d, threads[i % COUNT(threads)], who);
		write_plan(&d, &again);
		if (!str_eq(text_str(&again), text_str(first)))
			fail_msg("seed %llu: planned again:\n%sfirst:\n%s", (unsigned long long)seed, text_str(&again),
				 text_str(first));
		text_free(&again);
		array_free(&d.v);
		ledger_rollback(f.ledger, mark);
		if (ledger_digest(f.ledger) != before)
			fail_msg("seed %llu: a plan that was taken back left a trace", (unsigned long long)seed);
		if (engine != lasting)
			engine_free(engine);
		engine = lasting;
	}
}

/* Giving back any one of the victims would leave no room. */
static void check_needed(int w, const struct m_set *s)
{
	for (int i = 0; i < s->n; i++)
		m.pods[s->pods[i]].is_away = true;
	assert_int_equal(m_fits(&m, w, s->node), M_FITS);
	for (int i = 0; i < s->n; i++) {
		m.pods[s->pods[i]].is_away = false;
		if (m_fits(&m, w, s->node) == M_FITS)
			fail_msg("seed %llu: victim %d need not go", (unsigned long long)seed, s->pods[i]);
		m.pods[s->pods[i]].is_away = true;
	}
	for (int i = 0; i < s->n; i++)
		m.pods[s->pods[i]].is_away = false;
}

static void wrong(int w, const struct decision *d, const struct m_decision *want)
{
	fail_msg("seed %llu: pod %d: %s on %d with %u victims; the model has %d on %d with %d",
		 (unsigned long long)seed, w, outcome_text(d->outcome), (int)d->node, d->n_victims, want->outcome,
		 want->set.node, want->set.n);
}

static void check_nominated(int w, const struct decision *d, const struct m_decision *want)
{
	if (d->outcome != OUTCOME_NOMINATED || node_index(d->node) != want->set.node ||
	    (int)d->n_victims != want->set.n || node_index(d->runner_up) != want->second)
		wrong(w, d, want);
	for (int i = 0; i < want->set.n; i++)
		if (index_of(d->victims[i].pod) != want->set.pods[i])
			wrong(w, d, want);
	check_needed(w, &want->set);
	n_nominated++;
}

static void check_decision(int w, const struct decision *d)
{
	struct m_decision want = m_decide(&m, w);
	int node = node_index(d->node);

	n_decisions++;
	if (index_of(d->pod) != w)
		fail_msg("seed %llu: it was the turn of %d, not of %d", (unsigned long long)seed, w, index_of(d->pod));
	switch (want.outcome) {
	case M_PLACED:
		if (d->outcome != OUTCOME_PLACED || !want.fits[node])
			wrong(w, d, &want);
		n_placed++;
		break;
	case M_NOMINATED:
		check_nominated(w, d, &want);
		break;
	default:
		if (d->outcome != OUTCOME_WAITING)
			wrong(w, d, &want);
	}
	m_apply(&m, w, &want, node);
}

static void check_state(void)
{
	for (int i = 0; i < M_PODS; i++) {
		const struct m_pod *p = &m.pods[i];
		const struct pod *q;

		if (!p->is_there)
			continue;
		q = ledger_pod(f.ledger, id_of(i));
		assert_int_equal(q->state, m_waits(p) ? POD_WAITING : p->is_leaving ? POD_LEAVING : POD_PLACED);
		assert_int_equal(q->is_evicted, p->is_evicted);
		if (node_index(q->node) != (m_waits(p) ? p->nomination : p->node))
			fail_msg("seed %llu: pod %d is on %d, or nominated to it", (unsigned long long)seed, i,
				 node_index(q->node));
	}
	for (node_id n = 0; n < (node_id)m.n_nodes; n++) {
		const int64_t *used = ledger_node_used(f.ledger, n), *has = ledger_node_allocatable(f.ledger, n);

		if (used[RES_CPU] > has[RES_CPU] || used[RES_MEMORY] > has[RES_MEMORY] ||
		    used[RES_PODS] > has[RES_PODS])
			fail_msg("seed %llu: node %u is over-committed", (unsigned long long)seed, n);
	}
}

/* Victims are gone, placed pods run, nominations are written down; or nothing of it. */
static void carry_out(const struct model *before, bool is_done)
{
	struct model after = m;

	m = *before;
	for (int i = 0; is_done && i < M_PODS; i++) {
		const struct m_pod *p = &after.pods[i];

		if (!p->is_there || !memcmp(p, &before->pods[i], sizeof(*p)))
			continue;
		drop_pod(i);
		if (p->is_evicted)
			continue;
		m.pods[i] = *p;
		tell_pod(i);
	}
}

static void one_round(void)
{
	ledger_mark mark = ledger_get_mark(f.ledger);
	struct model before = m;
	struct text written = {0};
	struct decisions d;
	int turns[M_PODS], n;

	for (int w = RUNNERS; w < M_PODS; w++)
		if (m.pods[w].is_there && m_waits(&m.pods[w]))
			check_fast(w);
	plan_into(&d, 1, POD_NONE);
	write_plan(&d, &written);
	n = m_turns(&m, turns);
	assert_int_equal(d.v.n, n);
	for (int i = 0; i < n; i++)
		check_decision(turns[i], &d.v.v[i]);
	check_state();
	ledger_rollback(f.ledger, mark);
	check_repeated(&written);
	text_free(&written);
	array_free(&d.v);
	carry_out(&before, one_in(2));
}

static void one_cluster(void)
{
	fixture_open(NULL);
	r.s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	ledger_check_always(f.ledger, one_in(16));
	random_cluster();
	engine = engine_new(f.cluster, config, NULL, 0, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		one_round();
		for (int k = below(4); k >= 0; k--)
			random_change();
	}
	engine_free(engine);
	fixture_close(NULL);
}

/* ---- enough nodes for threads ---- */

static void put_many(int n)
{
	for (int i = 0; i < n; i++) {
		const char *node = arena_printf(f.arena, "n%04d", i);

		put_node((struct node_text){.name = node, .has = one_in(3) ? "cpu=4 pods=9" : "cpu=3 pods=9"});
		for (int k = 0; k < 3; k++)
			put_pod((struct pod_text){.name = arena_printf(f.arena, "%s-%d", node, k),
						  .node = node,
						  .asks = "cpu=1",
						  .labels = one_in(9) ? "app=1" : NULL,
						  .priority = below(4),
						  .started_s = 1 + below(5)});
	}
	put_pod((struct pod_text){.name = "w", .asks = "cpu=3", .priority = 5});
	put_pod((struct pod_text){.name = "v", .asks = "cpu=2", .priority = 3});
}

static void threads_decide_alike(void **state)
{
	struct text first = {0}, again = {0};
	struct decisions d;

	(void)state;
	r.s = 42;
	ledger_check_always(f.ledger, false);
	put_many(4200);
	m.pdbs[0] = (struct m_pdb){.apps = 2, .allowed = 1, .listed = M_NOWHERE};
	tell_pdb(0);
	for (uint32_t threads = 1; threads <= 8; threads *= 2) {
		ledger_mark mark = ledger_get_mark(f.ledger);

		engine = engine_new(f.cluster, config, NULL, 0, NULL);
		plan_into(&d, threads, cluster_find_pod(f.cluster, "default", "w"));
		write_plan(&d, threads == 1 ? &first : &again);
		n_decisions += d.v.n;
		assert_int_equal(d.nominated, 2);
		if (threads > 1)
			assert_string_equal(text_str(&again), text_str(&first));
		array_free(&d.v);
		ledger_rollback(f.ledger, mark);
		engine_free(engine);
	}
	text_free(&first);
	text_free(&again);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *s = getenv(variable);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void plans_are_the_models(void **state)
{
	uint64_t n = number_from("CEDE_N", 400), seconds = number_from("CEDE_SECONDS", 0);
	struct clock clock = clock_system();
	int64_t end = clock_now(&clock) + (int64_t)seconds * NS_PER_S;

	(void)state;
	for (seed = number_from("CEDE_SEED", 0); seconds ? clock_now(&clock) < end : seed < n; seed++)
		one_cluster();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_the_models),
		FIXTURE_TEST(threads_decide_alike),
	};
	int n_failed;

	config = engine_config_new();
	config->profile = PROFILE_KUBERNETES;
	n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	engine_config_free(config);
	printf("%llu decisions tried (%llu displaced, %llu placed), %llu nodes asked in two ways, %d violations\n",
	       (unsigned long long)n_decisions, (unsigned long long)n_nominated, (unsigned long long)n_placed,
	       (unsigned long long)n_compared, n_failed);
	return n_failed;
}
