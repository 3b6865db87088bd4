/* SPDX-License-Identifier: Apache-2.0 */
/* Domains of topologies, and the roster of pods on nodes. */
#include "filters/topology.h"

#include "filters/roster.h"
#include "relations.h"

static struct topologies ts;

static int open_topologies(void **state)
{
	ts = (struct topologies){0};
	return fixture_open(state);
}

static int close_topologies(void **state)
{
	topologies_free(&ts, f.ledger);
	return fixture_close(state);
}

static void nodes_of_one_value_are_in_one_domain(void **state)
{
	put_nodes("a zone=1; b zone=1; c zone=2; d zone; e");
	const struct topology *t = topologies_get(&ts, f.ledger, name_of("zone"));

	assert_int_equal(topology_domain(t, node_of("a")), topology_domain(t, node_of("b")));
	assert_int_not_equal(topology_domain(t, node_of("a")), topology_domain(t, node_of("c")));
	assert_int_equal(topology_domain(t, node_of("d")), 0);
	assert_int_equal(topology_domain(t, node_of("e")), DOMAIN_NONE);
	assert_int_equal(topology_domain(t, 1000), DOMAIN_NONE);
	assert_int_equal(t->n, 3);
	assert_ptr_equal(topologies_get(&ts, f.ledger, name_of("zone")), t);
}

static void a_node_whose_label_changes_changes_domain(void **state)
{
	put_nodes("a zone=1; b zone=2");
	const struct topology *t = topologies_get(&ts, f.ledger, name_of("zone"));
	node_id a = node_of("a");

	put_nodes("b zone=1");
	topologies_node_changed(&ts, f.ledger, node_of("b"));
	assert_int_equal(topology_domain(t, node_of("b")), topology_domain(t, node_of("a")));
	put_nodes("b rack=1");
	topologies_node_changed(&ts, f.ledger, node_of("b"));
	assert_int_equal(topology_domain(t, node_of("b")), DOMAIN_NONE);
	cluster_drop_node(f.cluster, "a");
	topologies_node_changed(&ts, f.ledger, a);
	assert_int_equal(topology_domain(t, a), DOMAIN_NONE);
}

/* Keys as pods like them, and node names that come and go for months. */
static void what_grows_out_of_proportion_is_let_go(void **state)
{

	put_nodes("a");
	for (int i = 0; i < 100; i++)
		topologies_get(&ts, f.ledger, name_of(arena_printf(f.arena, "key%d", i)));
	topologies_trim(&ts, f.ledger);
	assert_true(ts.v.n <= 32);
	topologies_get(&ts, f.ledger, name_of("host"));
	for (int i = 0; i < 200; i++) {
		put_nodes(arena_printf(f.arena, "a host=h%d", i));
		topologies_node_changed(&ts, f.ledger, node_of("a"));
	}
	topologies_trim(&ts, f.ledger);
	assert_int_equal(ts.v.n, 31);
	assert_true(topologies_get(&ts, f.ledger, name_of("host"))->n <= 2);
}

/* ---- the roster ---- */

static uint32_t count_labelset(const struct roster *r, labelset_id labelset)
{
	uint32_t n = 0;

	for (pod_id p = roster_pod_first(r, labelset); p != ID_NONE; p = roster_pod_next(r, p))
		n++;
	return n;
}

static uint32_t count_ns(const struct roster *r, const char *ns)
{
	uint32_t n = 0;

	for (labelset_id k = roster_labelset_first(r, name_of(ns)); k != ID_NONE; k = roster_labelset_next(r, k))
		n += count_labelset(r, k);
	return n;
}

static uint32_t count_with_terms(const struct roster *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < roster_group_limit(r); i++)
		for (pod_id p = roster_group_at(r, i).first; p != ID_NONE; p = roster_group_next(r, p))
			n++;
	return n;
}

static void the_roster_lists_pods_on_nodes(void **state)
{
	struct shape s = {.preferred_anti_affinity = terms_of("1:zone app=a")};
	struct err e;

	put_nodes("a; b");
	put_pods("a:app=a b:app=a a:app=b :app=a ~a:other/app=a");
	cycle_start("NodeName", pod_named("p3"));
	const struct roster *r = framework_roster_pods(f.framework);

	assert_int_equal(count_labelset(r, ledger_pod(f.ledger, pod_named("p0"))->labelset), 2);
	assert_int_equal(count_ns(r, "default"), 3);
	assert_int_equal(count_ns(r, "other"), 1);
	assert_int_equal(count_ns(r, "nowhere"), 0);
	assert_false(roster_has_terms(r));
	put_one("q", "b:app=a", &s);
	assert_true(roster_has_terms(r));
	assert_int_equal(count_with_terms(r), 1);
	assert_int_equal(count_ns(r, "default"), 4);
	assert_int_equal(roster_check(r, f.ledger, &e), ERR_OK);

	ledger_vacate(f.ledger, pod_named("q"));
	assert_false(roster_has_terms(r));
	assert_int_equal(count_with_terms(r), 0);
	ledger_vacate(f.ledger, pod_named("p2"));
	assert_int_equal(count_ns(r, "default"), 2);
	ledger_place(f.ledger, pod_named("p2"), node_of("b"));
	assert_int_equal(count_ns(r, "default"), 3);
}

static void label_sets_are_known_before_their_pods_are_listed(void **state)
{
	struct shape s = {.preferred_anti_affinity = terms_of("1:zone app=a")};
	struct err e;

	put_nodes("a; b");
	put_pods("a:app=a :app=b");
	put_one("q", "b:app=c", &s);
	cycle_start("NodeName", pod_named("p1"));
	const struct roster *r = framework_roster(f.framework);
	labelset_id a = ledger_pod(f.ledger, pod_named("p0"))->labelset;
	labelset_id b = ledger_pod(f.ledger, pod_named("p1"))->labelset;

	assert_false(r->has_pods);
	assert_int_equal(count_with_terms(r), 1);
	assert_true(roster_has_labelset(r, a) && !roster_has_labelset(r, b));
	ledger_vacate(f.ledger, pod_named("p0"));
	ledger_place(f.ledger, pod_named("p1"), node_of("b"));
	assert_true(!roster_has_labelset(r, a) && roster_has_labelset(r, b));
	assert_int_equal(roster_check(r, f.ledger, &e), ERR_OK);
	assert_int_equal(count_ns(framework_roster_pods(f.framework), "default"), 2);
	assert_int_equal(roster_check(r, f.ledger, &e), ERR_OK);
}

static void the_roster_knows_when_it_is_wrong(void **state)
{
	struct roster r = {.has_pods = true};
	struct err e;

	put_nodes("a");
	put_pods("a:app=a :app=b");
	assert_int_equal(roster_check(&r, f.ledger, &e), ERR_INTERNAL);
	roster_add(&r, f.ledger, pod_named("p0"));
	assert_int_equal(roster_check(&r, f.ledger, &e), ERR_OK);
	roster_add(&r, f.ledger, pod_named("p1"));
	assert_int_equal(roster_check(&r, f.ledger, &e), ERR_INTERNAL);
	roster_remove(&r, f.ledger, pod_named("p1"));
	assert_int_equal(roster_check(&r, f.ledger, &e), ERR_OK);
	roster_free(&r);
}

#define TOPOLOGY_TEST(test) cmocka_unit_test_setup_teardown(test, open_topologies, close_topologies)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TOPOLOGY_TEST(nodes_of_one_value_are_in_one_domain),
		TOPOLOGY_TEST(a_node_whose_label_changes_changes_domain),
		TOPOLOGY_TEST(what_grows_out_of_proportion_is_let_go),
		TOPOLOGY_TEST(the_roster_lists_pods_on_nodes),
		TOPOLOGY_TEST(label_sets_are_known_before_their_pods_are_listed),
		TOPOLOGY_TEST(the_roster_knows_when_it_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
