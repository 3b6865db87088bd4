/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins know of pods follows the ledger (KF-2): on random clusters, random rows of moves inside a cycle (place,
 * vacate, evict, unevict, rollback), and after each of them the filters of the running cycle must say what those of a
 * fresh cycle on the same state say.
 *
 * Left out is what kube-scheduler does otherwise on purpose or not: moving pods that were leaving before the cycle
 * began and empty selectors (both only in PodTopologySpread), and a plugin that skipped the pod when the cycle began.
 *
 * CEDE_N: how many clusters.
 */
#include "filters/relations.h"
#include "rng.h"

enum { STEPS = 40, MARKS = 4 };

static struct rng r;
static uint64_t n_compared, n_refused, n_moved;

static const char *pick(const char *const *v, uint32_t n)
{
	return v[rng_below(&r, n)];
}
#define PICK(...) pick((const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

/* ---- clusters ---- */

static void put_random_nodes(void)
{
	uint32_t n = 2 + rng_below(&r, 5);

	for (uint32_t i = 0; i < n; i++) {
		const char *labels =
			arena_printf(f.arena, "host=n%u %s %s", i, PICK("zone=1", "zone=2", "zone=3", "zone", ""),
				     PICK("disk=ssd", "disk=hdd"));

		put_node((struct node_text){.name = arena_printf(f.arena, "n%u", i),
					    .labels = labels,
					    .taints = rng_below(&r, 4) ? NULL : "odd:NoSchedule"});
	}
}

static const char *random_term(void)
{
	return arena_printf(f.arena, "%s %s %s %s", PICK("zone", "host", "rack"),
			    PICK("", "", "", "@other", "@default,other,default", "?*", "?team=1"),
			    PICK("", "", "+ver", "-ver"),
			    PICK("app=a", "app=b", "app", "!ver", "ver=1,app=a", "app!=a", "*"));
}

static struct pod_terms random_terms(uint32_t one_in)
{
	if (rng_below(&r, one_in))
		return (struct pod_terms){0};
	return terms_of(rng_below(&r, 3) ? random_term()
					 : arena_printf(f.arena, "%s | %s", random_term(), random_term()));
}

static const char *random_spread(const char *key)
{
	return arena_printf(f.arena, "%s %u %s %s %s %s %s", key, 1 + rng_below(&r, 2), PICK("", "", "min=2", "min=4"),
			    PICK("", "any-affinity"), PICK("", "taints"), PICK("", "", "+ver"),
			    PICK("app=a", "app", "!ver", "app=b", "ver"));
}

static const char *random_labels(void)
{
	return arena_printf(f.arena, "%s,%s", PICK("app=a", "app=a", "app=b"), PICK("ver=1", "ver=2", "x=1"));
}

static void put_random_pods(uint32_t n_nodes)
{
	uint32_t n = 3 + rng_below(&r, 12);

	for (uint32_t i = 0; i < n; i++) {
		struct shape s = {.affinity = random_terms(6), .anti_affinity = random_terms(4)};
		const char *node = rng_below(&r, 3) ? arena_printf(f.arena, "n%u", rng_below(&r, n_nodes)) : "";
		const char *word = arena_printf(f.arena, "%s%s:%s%s", *node && !rng_below(&r, 8) ? "~" : "", node,
						PICK("", "", "", "other/"), random_labels());

		put_one(arena_printf(f.arena, "p%u", i), word, &s);
	}
}

static pod_id put_random_waiting(bool is_spread)
{
	struct shape s = {0};

	if (is_spread) {
		const char *one = random_spread(PICK("zone", "host")), *two = random_spread(PICK("zone", "host"));

		s = spreads_of(rng_below(&r, 2) ? one : arena_printf(f.arena, "%s | %s", one, two));
	} else {
		s.affinity = random_terms(2);
		s.anti_affinity = random_terms(2);
	}
	return put_pod((struct pod_text){.name = "waiting",
					 .labels = PICK("app=a ver=1", "app=b ver=2", "app=a"),
					 .selector = rng_below(&r, 4) ? NULL : "disk=ssd",
					 .shape = &s});
}

/* ---- the other framework, for fresh cycles ---- */

static struct framework *other_framework(const struct cede_plugin *plugin)
{
	static const struct plugin_ref all[] = {{.name = "*"}};
	struct plugin_ref enabled[] = {{.name = "PrioritySort"}, {.name = "DefaultBinder"}, {.name = plugin->name}};
	struct kube_profile profile = {.args = f.args};
	struct framework *ret;

	profile.points[POINT_MULTI] = (struct plugin_set){COUNT(enabled), COUNT(all), enabled, all};
	ret = framework_new(f.cluster, &profile, NULL, 0, NULL);
	assert_non_null(ret);
	return ret;
}

struct row {
	const struct cede_plugin *plugin;
	struct framework *other;
	struct arena *arena;
	uint32_t number, step;
};

static void compare(const struct row *row)
{
	struct cede_cycle fresh;

	cycle_begin(&fresh, row->other, row->arena, f.cycle.pod, 0);
	for (uint32_t i = 0; i < fresh.n_nodes; i++) {
		struct cede_verdict a = row->plugin->filter(NULL, &f.cycle, fresh.nodes[i]);
		struct cede_verdict b = row->plugin->filter(NULL, &fresh, fresh.nodes[i]);

		if (a.code != b.code || a.reason != b.reason)
			fail_msg("cluster %u, step %u, node %s: %s says %u, afresh %u", row->number, row->step,
				 cede_node_name(&fresh, fresh.nodes[i]), row->plugin->name, a.code, b.code);
		n_compared++;
		n_refused += a.code == CEDE_UNSCHEDULABLE;
	}
	cycle_end(&fresh);
	arena_reset(row->arena);
}

/* ---- moves ---- */

static bool may_move(const struct row *row, pod_id id)
{
	const struct pod *p = ledger_pod(f.ledger, id);

	return id != f.cycle.pod && p->state != POD_FREE &&
	       (p->state != POD_LEAVING || p->is_evicted || row->plugin == &inter_pod_affinity_plugin);
}

static void move(pod_id id)
{
	const struct pod *p = ledger_pod(f.ledger, id);
	bool coin = rng_below(&r, 2);

	n_moved++;
	if (p->state == POD_WAITING)
		ledger_place(f.ledger, id, f.cycle.nodes[rng_below(&r, f.cycle.n_nodes)]);
	else if (coin)
		ledger_vacate(f.ledger, id);
	else if (p->state == POD_PLACED)
		ledger_evict(f.ledger, id);
	else
		ledger_unevict(f.ledger, id);
}

static void run_moves(struct row *row)
{
	ledger_mark marks[MARKS] = {ledger_get_mark(f.ledger)};
	uint32_t n_marks = 1;

	for (row->step = 0; row->step < STEPS; row->step++) {
		pod_id id = rng_below(&r, ledger_pod_limit(f.ledger));
		uint32_t what = rng_below(&r, 10);

		if (what == 0 && n_marks < MARKS) {
			marks[n_marks++] = ledger_get_mark(f.ledger);
		} else if (what == 1) {
			n_marks = 1 + rng_below(&r, n_marks);
			ledger_rollback(f.ledger, marks[n_marks - 1]);
		} else if (may_move(row, id)) {
			move(id);
		}
		compare(row);
	}
	ledger_rollback(f.ledger, marks[0]);
	compare(row);
}

static void run_cluster(uint32_t number)
{
	bool is_spread = number % 2;
	struct row row = {.plugin = is_spread ? &pod_topology_spread_plugin : &inter_pod_affinity_plugin,
			  .number = number};
	pod_id waiting;

	r = (struct rng){number + 1};
	fixture_reset();
	put_random_nodes();
	if (rng_below(&r, 2))
		put_namespace("other", "team=1");
	put_random_pods(ledger_node_limit(f.ledger));
	waiting = put_random_waiting(is_spread);
	if (str_eq(pre_filter_text(row.plugin->name, waiting), "SKIP"))
		return;
	row.other = other_framework(row.plugin);
	row.arena = arena_new(1 << 14);
	run_moves(&row);
	framework_free(row.other);
	arena_free(row.arena);
}

static void KF_2_filters_follow_every_move_and_its_return(void **state)
{
	const char *n = getenv("CEDE_N");
	uint32_t count = n ? (uint32_t)strtoul(n, NULL, 10) : 400;

	for (uint32_t i = 0; i < count; i++)
		run_cluster(i);
	assert_true(n_moved > count);
	assert_true(n_refused > n_compared / 20);
	assert_true(n_refused < n_compared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {FIXTURE_TEST(KF_2_filters_follow_every_move_and_its_return)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
