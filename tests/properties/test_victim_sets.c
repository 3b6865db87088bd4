/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice among lawful sets of victims, held against a model that tries every set: two resource types, queues with
 * guarantees, budgets, an hourly rate, opted-out pods, drivers, priorities, few and many starts. One pod reclaims; its
 * victims must be lawful, enough, and cost as little as the best of all sets of all nodes.
 *
 * CEDE_N: how many clusters; CEDE_SECONDS: for how long instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "properties/story.h"
#include "rng.h"

enum { NODES = 2, PODS = 9, QUEUES = 3, BUDGETS = 2, TYPES = 2, WHOLE = 1000000 };

struct m_pod {
	char name[16];
	int node, queue, priority, age, budget; /* budget -1: none */
	int64_t holds[TYPES];
	bool is_opted_out, is_driver;
};

struct model {
	int n, allowed[BUDGETS], rate; /* rate 0: none */
	int64_t has[NODES][TYPES], guaranteed[QUEUES][TYPES], wants[TYPES];
	struct m_pod pods[NODES * PODS];
};

struct m_cost { /* compared from first to last, less is better */
	int64_t v[10];
};

static const char *const queue_names[QUEUES] = {"root.x", "root.y", "root.t.z"};
static const int distances[QUEUES] = {2, 2, 3};

/* ---- random ---- */

static void make_pod(struct rng *r, struct model *m, int node, bool is_uniform)
{
	struct m_pod *p = &m->pods[m->n];

	*p = (struct m_pod){.node = node,
			    .queue = (int)rng_below(r, QUEUES),
			    .priority = (int)rng_below(r, 3),
			    .age = is_uniform ? 60 * (1 + (int)rng_below(r, 2)) : 1 + (int)rng_below(r, 9000),
			    .budget = (int)rng_below(r, 4) - 2,
			    .is_opted_out = rng_below(r, 8) == 0,
			    .is_driver = rng_below(r, 8) == 0};
	p->budget = p->budget < 0 ? -1 : p->budget;
	snprintf(p->name, sizeof(p->name), "v%02d", m->n++);
	for (int t = 0; t < TYPES; t++)
		p->holds[t] = rng_below(r, is_uniform ? 2 : 5);
	for (int t = 0; t < TYPES; t++)
		m->has[node][t] += p->holds[t];
}

static void make_model(struct rng *r, struct model *m)
{
	bool is_uniform = rng_below(r, 2);

	*m = (struct model){.rate = rng_below(r, 4) == 0 ? 1 + (int)rng_below(r, 3) : 0};
	for (int n = 0; n < NODES; n++) {
		int count = 1 + (int)rng_below(r, PODS);

		for (int i = 0; i < count; i++)
			make_pod(r, m, n, is_uniform);
		for (int t = 0; t < TYPES; t++)
			m->has[n][t] += rng_below(r, 2);
	}
	for (int b = 0; b < BUDGETS; b++)
		m->allowed[b] = (int)rng_below(r, 4);
	for (int q = 0; q < QUEUES; q++)
		for (int t = 0; t < TYPES; t++)
			m->guaranteed[q][t] = rng_below(r, 3) ? 0 : rng_below(r, 9);
	for (int t = 0; t < TYPES; t++)
		m->wants[t] = rng_below(r, 7);
	m->wants[0] += !m->wants[0] && !m->wants[1];
}

/* ---- as documents ---- */

static void write_queue(struct text *o, const struct model *m, int q, const char *name)
{
	text_printf(o, "{name: %s, resources: {guaranteed: {", name);
	for (int t = 0, n = 0; t < TYPES; t++)
		if (m->guaranteed[q][t])
			text_printf(o, "%sexample.com/%c: %" PRId64, n++ ? ", " : "", 'a' + t, m->guaranteed[q][t]);
	text_add(o, "}}}");
}

static void write_queues(struct text *o, const struct model *m)
{
	text_add(o, "partitions:\n- name: default\n  queues: [{name: root, queues: [{name: p, resources: {guaranteed: "
		    "{example.com/a: 100, example.com/b: 100}}, properties: {preemption.delay: 1s}}, ");
	write_queue(o, m, 0, "x");
	text_add(o, ", ");
	write_queue(o, m, 1, "y");
	text_add(o, ", {name: t, queues: [");
	write_queue(o, m, 2, "z");
	text_add(o, "]}]}]\n");
	if (m->rate)
		text_printf(o,
			    "---\napiVersion: cede.dev/v1\nkind: CedeConfiguration\nrules: {eviction-rate: {perHour: "
			    "%d}}\n",
			    m->rate);
}

static void write_pod(struct text *o, const struct m_pod *p)
{
	struct text when = {0};

	timestamp_text(STORY_NOW_NS - p->age * NS_PER_S, &when);
	text_printf(o,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: d\n"
		    "  creationTimestamp: \"%s\"\n  labels: {queue: %s%s",
		    p->name, text_str(&when), queue_names[p->queue], p->is_driver ? ", spark-role: driver" : "");
	if (p->budget >= 0)
		text_printf(o, ", budget: b%d", p->budget);
	text_printf(o, "}\n%s",
		    p->is_opted_out ? "  annotations: {yunikorn.apache.org/allow-preemption: \"false\"}\n" : "");
	text_printf(o,
		    "spec:\n  priority: %d\n  nodeName: n%d\n  containers:\n  - name: c\n    resources: {requests: "
		    "{example.com/a: \"%" PRId64 "\", example.com/b: \"%" PRId64 "\"}}\n"
		    "status: {phase: Running, startTime: \"%s\"}\n",
		    p->priority, p->node, p->holds[0], p->holds[1], text_str(&when));
	text_free(&when);
}

static void write_model(struct story *s, const struct model *m)
{
	struct text *o = &s->objects;

	write_queues(o, m);
	for (int n = 0; n < NODES; n++)
		text_printf(
			o,
			"---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d}\nstatus: {allocatable: {pods: \"110\", "
			"example.com/a: \"%" PRId64 "\", example.com/b: \"%" PRId64 "\"}}\n",
			n, m->has[n][0], m->has[n][1]);
	for (int b = 0; b < BUDGETS; b++) {
		char name[8];

		snprintf(name, sizeof(name), "b%d", b);
		story_budget(s, name, m->allowed[b]);
	}
	for (int i = 0; i < m->n; i++)
		write_pod(o, &m->pods[i]);
	text_printf(
		o,
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: want, namespace: d, labels: {queue: root.p}}\n"
		"spec:\n  priority: 5\n  containers:\n  - name: c\n    resources: {requests: {example.com/a: \"%" PRId64
		"\", example.com/b: \"%" PRId64 "\"}}\nstatus: {phase: Pending}\n",
		m->wants[0], m->wants[1]);
}

/* ---- every set ---- */

static int64_t free_on(const struct model *m, int node, int t)
{
	int64_t room = m->has[node][t];

	for (int i = 0; i < m->n; i++)
		room -= m->pods[i].node == node ? m->pods[i].holds[t] : 0;
	return room;
}

static int64_t use_of(const struct model *m, int queue, int t)
{
	int64_t sum = 0;

	for (int i = 0; i < m->n; i++)
		sum += m->pods[i].queue == queue ? m->pods[i].holds[t] : 0;
	return sum;
}

static bool is_short(const struct model *m, int node, int t)
{
	return m->wants[t] > free_on(m, node, t);
}

static int64_t taken(const struct model *m, uint32_t set, int queue, int t)
{
	int64_t sum = 0;

	for (int i = 0; i < m->n; i++)
		sum += set >> i & 1 && (queue < 0 || m->pods[i].queue == queue) ? m->pods[i].holds[t] : 0;
	return sum;
}

static int count(const struct model *m, uint32_t set, int queue, int budget)
{
	int n = 0;

	for (int i = 0; i < m->n; i++)
		n += set >> i & 1 && (queue < 0 || m->pods[i].queue == queue) &&
		     (budget < 0 || m->pods[i].budget == budget);
	return n;
}

static bool keeps_queue(const struct model *m, uint32_t set, int node, int q)
{
	if (!count(m, set, q, -1))
		return true;
	for (int t = 0; t < TYPES; t++)
		if (is_short(m, node, t) && m->guaranteed[q][t] &&
		    (use_of(m, q, t) <= m->guaranteed[q][t] ||
		     (taken(m, set, q, t) && use_of(m, q, t) - taken(m, set, q, t) < m->guaranteed[q][t])))
			return false;
	return !m->rate || count(m, set, q, -1) <= m->rate;
}

static bool is_lawful(const struct model *m, uint32_t set, int node)
{
	for (int t = 0; t < TYPES; t++)
		if (free_on(m, node, t) + taken(m, set, -1, t) < m->wants[t])
			return false;
	for (int b = 0; b < BUDGETS; b++)
		if (count(m, set, -1, b) > m->allowed[b])
			return false;
	for (int q = 0; q < QUEUES; q++)
		if (!keeps_queue(m, set, node, q))
			return false;
	return true;
}

static bool takes_below(const struct model *m, uint32_t set)
{
	for (int q = 0; q < QUEUES; q++)
		for (int t = 0; t < TYPES; t++)
			if (m->guaranteed[q][t] && taken(m, set, q, t) &&
			    use_of(m, q, t) - taken(m, set, q, t) < m->guaranteed[q][t])
				return true;
	return false;
}

static int64_t lost_work(const struct model *m, const struct m_pod *p)
{
	int64_t share = 0;

	for (int t = 0; t < TYPES; t++) {
		int64_t all = 0;

		for (int n = 0; n < NODES; n++)
			all += m->has[n][t];
		share += all ? p->holds[t] * WHOLE / all : 0;
	}
	return share * p->age;
}

static struct m_cost cost_of(const struct model *m, uint32_t set)
{
	struct m_cost c = {{0, 0, takes_below(m, set), INT64_MIN, 0, 0, 0, 0}};

	for (int i = 0; i < m->n; i++) {
		const struct m_pod *p = &m->pods[i];

		if (!(set >> i & 1))
			continue;
		c.v[0] += p->is_opted_out;
		c.v[1] += p->is_driver;
		c.v[3] = p->priority > c.v[3] ? p->priority : c.v[3];
		c.v[4] += lost_work(m, p);
		c.v[5] += distances[p->queue];
		c.v[6]++;
		c.v[7] = p->age > c.v[7] ? p->age : c.v[7];
	}
	return c;
}

static int cost_cmp(const struct m_cost *a, const struct m_cost *b)
{
	for (int i = 0; i < 8; i++)
		if (a->v[i] != b->v[i])
			return a->v[i] < b->v[i] ? -1 : 1;
	return 0;
}

/* The pods of one node, opted-out ones only if asked for. */
static uint32_t pods_of(const struct model *m, int node, bool with_opted_out)
{
	uint32_t set = 0;

	for (int i = 0; i < m->n; i++)
		if (m->pods[i].node == node && (with_opted_out || !m->pods[i].is_opted_out))
			set |= 1u << i;
	return set;
}

static bool best_of(const struct model *m, bool with_opted_out, struct m_cost *ret)
{
	bool is_found = false;

	for (int node = 0; node < NODES; node++) {
		uint32_t all = pods_of(m, node, with_opted_out);

		for (uint32_t set = all; set; set = (set - 1) & all) {
			struct m_cost c;

			if (!is_lawful(m, set, node))
				continue;
			c = cost_of(m, set);
			if (!is_found || cost_cmp(&c, ret) < 0)
				*ret = c;
			is_found = true;
		}
	}
	return is_found;
}

/* ---- the comparison ---- */

static uint32_t victims_of(const struct story *s, const struct model *m, const struct decision *d)
{
	uint32_t set = 0;

	for (uint32_t k = 0; k < d->n_victims; k++)
		for (int i = 0; i < m->n; i++)
			if (str_eq(m->pods[i].name, story_name(s, d->victims[k].pod)))
				set |= 1u << i;
	return set;
}

/* Is there a node that all of the pod would fit on if it were empty? Then a rule is in the way. */
static bool could_be_enough(const struct model *m)
{
	for (int n = 0; n < NODES; n++)
		if (m->has[n][0] >= m->wants[0] && m->has[n][1] >= m->wants[1])
			return true;
	return false;
}

static void compare(const struct story *s, const struct model *m, uint64_t seed)
{
	const struct decision *d = &s->plan.v.v[0];
	struct m_cost best, got;
	bool is_found = best_of(m, false, &best) || best_of(m, true, &best);
	uint32_t set = victims_of(s, m, d);

	if (is_found != (d->outcome == OUTCOME_NOMINATED))
		fail_msg("seed %" PRIu64 ": the model %s a set, the engine %s", seed, is_found ? "has" : "has not",
			 outcome_text(d->outcome));
	if (!is_found && could_be_enough(m) && !d->n_protected)
		fail_msg("seed %" PRIu64 ": nobody is told which rule is in the way", seed);
	if (!is_found)
		return;
	got = cost_of(m, set);
	if (!is_lawful(m, set,
		       ledger_node(cluster_ledger(s->cluster), d->node)->name ==
				       names_find(vocab_names(s->vocab), "n0", 2)
			       ? 0
			       : 1))
		fail_msg("seed %" PRIu64 ": the engine's set is not lawful or not enough", seed);
	if (cost_cmp(&got, &best))
		for (int i = 0; i < 8; i++)
			if (got.v[i] != best.v[i])
				fail_msg("seed %" PRIu64 ": criterion %d: %" PRId64 " where %" PRId64 " was to be had",
					 seed, i, got.v[i], best.v[i]);
}

static bool one_cluster(uint64_t seed, uint64_t *evictions)
{
	struct rng r = {seed * 7919};
	struct model m;
	struct story s;
	bool has_room = false;

	make_model(&r, &m);
	for (int n = 0; n < NODES; n++)
		has_room |= !is_short(&m, n, 0) && !is_short(&m, n, 1);
	if (has_room)
		return false;
	story_begin(&s);
	write_model(&s, &m);
	story_plan(&s);
	compare(&s, &m, seed);
	*evictions += s.plan.v.v[0].n_victims;
	story_end(&s);
	return true;
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void GQ_9_the_best_lawful_set_of_all_is_chosen(void **state)
{
	uint64_t n = env_number("CEDE_N", 1500), seconds = env_number("CEDE_SECONDS", 0), decisions = 0, evictions = 0;
	time_t end = time(NULL) + (time_t)seconds;

	(void)state;
	for (uint64_t i = 1; i <= n || (seconds && time(NULL) < end); i++)
		decisions += one_cluster(i, &evictions);
	print_message("victim sets: %" PRIu64 " decisions tried, %" PRIu64 " evictions, 0 violations\n", decisions,
		      evictions);
	assert_true(evictions > n / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(GQ_9_the_best_lawful_set_of_all_is_chosen)};

	return cmocka_run_group_tests_name("victim sets", tests, NULL, NULL);
}
