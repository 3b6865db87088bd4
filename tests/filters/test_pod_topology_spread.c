/* SPDX-License-Identifier: Apache-2.0 */
#include "relations.h"
#include "rng.h"

#define PLUGIN (&pod_topology_spread_plugin)
#define TOO_MANY "UNSCHEDULABLE node(s) didn't match pod topology spread constraints"
#define NO_KEY "UNRESOLVABLE node(s) didn't match pod topology spread constraints (missing required label)"

#define FOUR "a host=a zone=1; b host=b zone=1; x host=x zone=2; y host=y zone=2"

static pod_id put_waiting(const char *labels, const char *spreads)
{
	struct shape s = spreads_of(spreads);

	return put_pod((struct pod_text){.name = "waiting", .labels = labels, .shape = &s});
}

static void KF_4_hard_constraints(void **state)
{
	static const struct {
		const char *says, *nodes, *pods, *labels, *spreads, *answers;
	} rows[] = {
		{"soft constraints filter nothing", FOUR, "", "app=w", "zone 1 soft app=w", "SKIP"},
		{"an empty cluster is level", FOUR, "", "app=w", "zone 1 app=w", "a=yes b=yes x=yes y=yes"},
		{"the fuller zone is out", FOUR, "a:app=w b:app=w x:app=w", "app=w", "zone 1 app=w",
		 "a=no b=no x=yes y=yes"},
		{"a larger skew lets it in", FOUR, "a:app=w b:app=w x:app=w", "app=w", "zone 2 app=w",
		 "a=yes b=yes x=yes y=yes"},
		{"each host by itself", FOUR, "a:app=w b:app=w x:app=w", "app=w", "host 1 app=w",
		 "a=no b=no x=no y=yes"},
		{"all constraints must hold", FOUR, "a:app=w b:app=w x:app=w", "app=w", "zone 1 app=w | host 1 app=w",
		 "a=no b=no x=no y=yes"},
		{"a pod that does not match itself adds nothing", FOUR, "a:app=w", "app=v", "zone 1 app=w",
		 "a=yes b=yes x=yes y=yes"},
		{"others' labels do not count", FOUR, "a:app=v b:app=v", "app=w", "zone 1 app=w",
		 "a=yes b=yes x=yes y=yes"},
		{"nor do other namespaces", FOUR, "a:other/app=w b:other/app=w", "app=w", "zone 1 app=w",
		 "a=yes b=yes x=yes y=yes"},
		{"nor pods that are leaving", FOUR, "~a:app=w ~b:app=w", "app=w", "zone 1 app=w",
		 "a=yes b=yes x=yes y=yes"},
		{"nor pods on a node nobody described", FOUR, "ghost:app=w", "app=w", "zone 1 app=w",
		 "a=yes b=yes x=yes y=yes"},
		{"a missing selector counts nobody", FOUR, "a:app=w b:app=w", "app=w", "zone 1",
		 "a=yes b=yes x=yes y=yes"},
		{"an empty one neither", FOUR, "a:app=w b:app=w", "app=w", "zone 1 *", "a=yes b=yes x=yes y=yes"},
		{"a node without the key can never do", "a zone=1; b", "", "app=w", "zone 1 app=w", "a=yes b=never"},
		{"without one of the keys it does not count at all", "a zone=1 host=a; b zone=2", "a:app=w", "app=w",
		 "zone 1 app=w | host 9 app=w", "a=yes b=never"},
		{"the empty value is a domain like any", "a zone; b zone=2", "a:app=w", "app=w", "zone 1 app=w",
		 "a=no b=yes"},
		{"too few domains: the fewest is 0", "a zone=1; b zone=2", "a:app=w b:app=w", "app=w",
		 "zone 1 min=3 app=w", "a=no b=no"},
		{"enough of them: it is not", "a zone=1; b zone=2", "a:app=w b:app=w", "app=w", "zone 1 min=2 app=w",
		 "a=yes b=yes"},
		{"only pods of the same version", FOUR, "a:app=w,ver=1 b:app=w,ver=1 x:app=w,ver=2", "app=w ver=2",
		 "zone 1 +ver app=w", "a=yes b=yes x=no y=no"},
		{"a key the pod has not is no matter", FOUR, "a:app=w,ver=1", "app=w", "zone 1 +ver app=w",
		 "a=no b=no x=yes y=yes"},
		{"a missing selector with such a key is empty", FOUR, "a:app=w,ver=1", "ver=1", "zone 1 +ver",
		 "a=no b=no x=yes y=yes"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_nodes(rows[i].nodes);
		put_pods(rows[i].pods);
		expect_text(rows[i].says, answers(PLUGIN, put_waiting(rows[i].labels, rows[i].spreads)),
			    rows[i].answers);
	}
}

static void KF_4_reasons_are_kubernetes_own(void **state)
{
	put_nodes("a zone=1; b zone=2; c");
	put_pods("a:app=w");
	pod_id p = put_waiting("app=w", "zone 1 app=w");

	assert_string_equal(filter_text("PodTopologySpread", p, "a"), TOO_MANY);
	assert_string_equal(filter_text("PodTopologySpread", p, "c"), NO_KEY);
}

static const struct usable_nodes {
	const char *says, *spread, *selector, *required, *tolerations, *answers;
} usable_nodes[] = {
	{"all nodes count for a pod that may go anywhere", "zone 1 app=w", NULL, NULL, NULL, "a=no b=no t=yes"},
	{"zone 2 is closed by the node selector", "zone 1 app=w", "disk=ssd", NULL, NULL, "a=yes b=yes t=yes"},
	{"by required affinity", "zone 1 app=w", NULL, "disk=ssd", NULL, "a=yes b=yes t=yes"},
	{"a policy may ignore that", "zone 1 any-affinity app=w", "disk=ssd", NULL, NULL, "a=no b=no t=yes"},
	{"taints close nothing unless a policy says so", "zone 1 app=w", NULL, NULL, NULL, "a=no b=no t=yes"},
	{"then they do", "zone 1 taints app=w", NULL, NULL, NULL, "a=yes b=yes t=yes"},
	{"but not what is tolerated", "zone 1 taints app=w", NULL, NULL, "gone", "a=no b=no t=yes"},
};

static void put_usable_nodes(void)
{
	put_nodes("a zone=1 disk=ssd; b zone=1 disk=ssd");
	put_node(
		(struct node_text){.name = "t", .labels = "zone=2", .taints = "gone:NoSchedule soft:PreferNoSchedule"});
	put_pods("a:app=w");
}

static pod_id put_usable(const struct usable_nodes *row, const char *name)
{
	struct shape s = spreads_of(row->spread);

	return put_pod((struct pod_text){.name = name,
					 .labels = "app=w",
					 .selector = row->selector,
					 .required = row->required,
					 .tolerations = row->tolerations,
					 .shape = &s});
}

static void KF_4_nodes_the_pod_cannot_use_do_not_count(void **state)
{
	for (size_t i = 0; i < COUNT(usable_nodes); i++) {
		fixture_reset();
		put_usable_nodes();
		expect_text(usable_nodes[i].says, answers(PLUGIN, put_usable(&usable_nodes[i], "waiting")),
			    usable_nodes[i].answers);
	}
}

/* The same framework is asked for another pod. */
static void expect_next(const struct usable_nodes *row, pod_id pod)
{
	cycle_end(&f.cycle);
	cycle_begin(&f.cycle, f.framework, f.arena, pod, 0);
	expect_text(row->says, answers_in(&f.cycle, PLUGIN), row->answers);
}

/* One after the other, each after each: what is known of nodes is not told to who may use others. */
static void who_may_use_other_nodes_is_told_apart(void **state)
{
	pod_id pods[COUNT(usable_nodes)];

	put_usable_nodes();
	for (size_t i = 0; i < COUNT(usable_nodes); i++)
		pods[i] = put_usable(&usable_nodes[i], arena_printf(f.arena, "waiting%zu", i));
	for (size_t i = 0; i < COUNT(usable_nodes); i++)
		for (size_t k = 0; k < COUNT(usable_nodes); k++) {
			cycle_start(PLUGIN->name, pods[i]);
			expect_next(&usable_nodes[k], pods[k]);
			expect_next(&usable_nodes[i], pods[i]);
		}
}

static void KF_7_spread_is_judged_with_the_victims_gone(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=w b:app=w b:app=w x:app=w");
	struct cede_cycle *c = cycle_start("PodTopologySpread", put_waiting("app=w", "zone 1 app=w"));
	ledger_mark mark = ledger_get_mark(f.ledger);

	expect_text("zone 1 has three", answers_in(c, PLUGIN), "a=no b=no x=yes y=yes");
	ledger_vacate(f.ledger, pod_named("p1"));
	expect_text("two against one", answers_in(c, PLUGIN), "a=no b=no x=yes y=yes");
	ledger_vacate(f.ledger, pod_named("p2"));
	expect_text("one against one", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("the fewest is now in zone 1", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
	ledger_place(f.ledger, pod_named("p1"), node_of("y"));
	expect_text("two in zone 2", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
	ledger_rollback(f.ledger, mark);
	expect_text("all is back", answers_in(c, PLUGIN), "a=no b=no x=yes y=yes");
}

static void KF_2_pods_that_begin_to_leave_no_longer_count(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=w b:app=w x:app=w");
	struct cede_cycle *c = cycle_start("PodTopologySpread", put_waiting("app=w", "zone 1 app=w"));

	ledger_evict(f.ledger, pod_named("p0"));
	expect_text("one against one", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
	ledger_unevict(f.ledger, pod_named("p0"));
	expect_text("it stays", answers_in(c, PLUGIN), "a=no b=no x=yes y=yes");
	ledger_evict(f.ledger, pod_named("p0"));
	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("gone is not gone twice", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
}

/* As kube-scheduler: PreFilter leaves terminating pods out, and removing one takes it off all the same. */
static void KF_7_taking_away_a_pod_that_was_leaving_counts_as_in_kubernetes(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=w ~a:app=w ~a:app=w x:app=w x:app=w :app=w");
	struct cede_cycle *c = cycle_start("PodTopologySpread", put_waiting("app=w", "zone 1 app=w"));
	ledger_mark mark = ledger_get_mark(f.ledger);

	expect_text("one against two", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
	ledger_vacate(f.ledger, pod_named("p1"));
	ledger_vacate(f.ledger, pod_named("p2"));
	ledger_vacate(f.ledger, pod_named("p3"));
	expect_text("-1 against one", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
	ledger_vacate(f.ledger, pod_named("p4"));
	expect_text("-1 against none", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
	ledger_place(f.ledger, pod_named("p1"), node_of("a"));
	expect_text("none against none", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
	ledger_rollback(f.ledger, mark);
	expect_text("all is back", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
	ledger_place(f.ledger, pod_named("p5"), node_of("b"));
	expect_text("two against two", answers_in(c, PLUGIN), "a=yes b=yes x=yes y=yes");
}

static void KF_7_an_empty_selector_counts_who_comes_during_the_attempt_as_in_kubernetes(void **state)
{
	put_nodes(FOUR);
	put_pods(":app=w a:app=w");
	struct cede_cycle *c = cycle_start("PodTopologySpread", put_waiting("app=w", "zone 1 *"));

	ledger_place(f.ledger, pod_named("p0"), node_of("x"));
	expect_text("one more than before", answers_in(c, PLUGIN), "a=yes b=yes x=no y=no");
}

/* Room is held in a; its holder spreads app=w. */
static void GQ_15_nobody_comes_where_the_spread_of_reserved_room_would_break(void **state)
{
	static const struct {
		const char *says, *pods, *labels, *spreads, *answers;
	} rows[] = {
		{"who is not counted may come", "", "app=v", "zone 1 app=w", "SKIP"},
		{"nor who is in another namespace", "", "other/app=w", "zone 1 app=w", "SKIP"},
		{"soft constraints bind nobody", "", "app=w", "zone 1 soft app=w", "SKIP"},
		{"not into its zone, where two would be one too many", "", "app=w", "zone 1 app=w",
		 "a=no b=no x=yes y=yes"},
		{"not onto its host", "", "app=w", "host 1 app=w", "a=no b=yes x=yes y=yes"},
		{"a larger skew has room for both", "", "app=w", "zone 2 app=w", "a=yes b=yes x=yes y=yes"},
		{"the other zone is fuller", "x:app=w", "app=w", "zone 1 app=w", "a=yes b=yes x=yes y=yes"},
		{"it cannot have its room anyhow", "b:app=w", "app=w", "zone 1 app=w", "a=yes b=yes x=yes y=yes"},
		{"too few domains", "x:app=w", "app=w", "zone 1 min=3 app=w", "a=no b=no x=yes y=yes"},
		{"one of two constraints is enough", "x:app=w", "app=w", "zone 1 app=w | host 1 app=w",
		 "a=no b=yes x=yes y=yes"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shape s;

		fixture_reset();
		put_nodes(FOUR);
		put_pods(rows[i].pods);
		s = spreads_of(rows[i].spreads);
		pod_id holder = put_pod((struct pod_text){.name = "holder", .labels = "app=w", .shape = &s});
		pod_id p = put_one("p", arena_printf(f.arena, ":%s", rows[i].labels), NULL);

		ledger_nominate(f.ledger, holder, node_of("a"));
		expect_text("Kubernetes overlooks it", answers(PLUGIN, p), "SKIP");
		ledger_reserve(f.ledger, node_of("a"), holder);
		expect_text(rows[i].says, answers(PLUGIN, p), rows[i].answers);
	}
}

/* What comes and goes during the attempt counts for the holder, too; where its own room is tried, it counts once. */
static void GQ_15_the_spread_of_reserved_room_follows_who_goes(void **state)
{
	struct shape s;

	put_nodes(FOUR);
	put_pods("b:app=w x:app=w");
	s = spreads_of("zone 1 app=w");
	pod_id holder = put_pod((struct pod_text){.name = "holder", .labels = "app=w", .shape = &s});
	pod_id p = put_one("p", ":app=w", NULL);

	ledger_reserve(f.ledger, node_of("a"), holder);
	expect_text("one each", answers(PLUGIN, p), "a=no b=no x=yes y=yes");
	ledger_mark mark = ledger_get_mark(f.ledger);
	ledger_vacate(f.ledger, pod_named("p0"));
	expect_text("one went", answers_in(&f.cycle, PLUGIN), "a=yes b=yes x=yes y=yes");
	ledger_place(f.ledger, holder, node_of("a"));
	expect_text("it came", answers_in(&f.cycle, PLUGIN), "a=yes b=yes x=yes y=yes");
	ledger_rollback(f.ledger, mark);
	expect_text("all as before", answers_in(&f.cycle, PLUGIN), "a=no b=no x=yes y=yes");
}

/* Asked one after the other: what was said of a is not said of b, where fewer come of the same kind. */
static void who_holds_room_comes_with_it(void **state)
{
	pod_id holders[3], p;
	struct cede_cycle *c;

	put_nodes(FOUR);
	for (int i = 0; i < 3; i++) {
		holders[i] = put_one(arena_printf(f.arena, "holder%d", i), ":app=w", NULL);
		ledger_reserve(f.ledger, node_of(i < 2 ? "a" : "b"), holders[i]);
	}
	p = put_waiting("app=w", "zone 2 app=w");
	c = cycle_start(PLUGIN->name, p);
	assert_true(spread_refuses(c, node_of("a"), holders, 2));
	assert_false(spread_refuses(c, node_of("b"), holders + 2, 1));
	assert_false(spread_refuses(c, node_of("b"), holders, 0));
	assert_true(spread_refuses(c, node_of("x"), holders, 2));
}

static void put_member(const char *name, const char *group, const char *labels, const char *node)
{
	struct obj_group g = {.bag = name_bag_of(f.names), .min_member = 2, .stale_ns = TIME_NONE};
	struct obj_pod o =
		pod_object((struct pod_text){.name = name, .labels = labels, .node = node, .k8s_group = group});

	g.is_k8s = true;
	g.started_ns = g.created_ns = TIME_NONE;
	g.ns = names_hold_str(f.names, "default");
	g.name = names_hold_str(f.names, group);
	assert_int_equal(cluster_put_group(f.cluster, &g, NULL), ERR_OK);
	assert_int_equal(cluster_put_pod(f.cluster, &o, NULL), ERR_OK);
}

/* It may matter that somebody goes who is counted, and a group goes from all nodes. */
static void who_is_counted_may_help_by_going(void **state)
{
	pod_id p;
	struct cede_cycle *c;

	put_nodes(FOUR);
	put_pods("a:app=w b:app=v ~x:app=w");
	p = put_waiting("app=w", "zone 1 app=w");
	c = cycle_start(PLUGIN->name, p);
	assert_true(spread_may_be_helped(c, node_of("a")));
	assert_false(spread_may_be_helped(c, node_of("b")));
	assert_false(spread_may_be_helped(c, node_of("x")));
	put_member("member", "g", "app=w", "y");
	c = cycle_start(PLUGIN->name, p);
	assert_true(spread_may_be_helped(c, node_of("b")));
}

/* ---- reserved room, against each holder counted by itself ---- */

enum { HELD = 6, RUNNING = 6, ROUNDS = 3000, STEPS = 6 };

struct held_world {
	struct rng r;
	pod_id waiting, holders[HELD], running[RUNNING];
	bool by_zone[HELD]; /* else by host */
	bool by_tier[HELD]; /* counts tier=t, which every other running pod has; else app=w, which all have */
	uint32_t skew[HELD];
	bool holds[HELD]; /* when the attempt began */
};

static uint32_t domain_of(const struct held_world *w, uint32_t holder, node_id node)
{
	return w->by_zone[holder] ? (node == node_of("x") || node == node_of("y")) : node;
}

static bool is_counted(const struct held_world *w, uint32_t holder, pod_id pod, uint32_t domain)
{
	const struct pod *p = ledger_pod(f.ledger, pod);

	for (uint32_t i = 0; w->by_tier[holder] && i < RUNNING; i += 2)
		if (pod == w->running[i])
			return false;
	return pod != w->holders[holder] && p->state == POD_PLACED && domain_of(w, holder, p->node) == domain;
}

static int64_t count_in(const struct held_world *w, uint32_t holder, uint32_t domain)
{
	int64_t n = 0;

	for (pod_id p = 0; p < ledger_pod_limit(f.ledger); p++)
		n += is_counted(w, holder, p, domain);
	return n;
}

/* On this node. with: where one more is; NODE_NONE: nobody. */
static bool holder_fits(const struct held_world *w, uint32_t holder, node_id node, node_id with)
{
	static const char *const names[] = {"a", "b", "x", "y"};
	uint32_t at = domain_of(w, holder, node);
	int64_t fewest = INT64_MAX, there = 0;

	for (size_t i = 0; i < COUNT(names); i++) {
		uint32_t domain = domain_of(w, holder, node_of(names[i]));
		int64_t n = count_in(w, holder, domain) + (with != NODE_NONE && domain_of(w, holder, with) == domain);

		fewest = n < fewest ? n : fewest;
		there = domain == at ? n : there;
	}
	return there + 1 - fewest <= w->skew[holder];
}

/* By who holds room, or by itself. */
static bool is_minded(const struct held_world *w, node_id node)
{
	for (uint32_t i = 0; i < HELD; i++) {
		node_id at = ledger_pod(f.ledger, w->holders[i])->node;

		if (w->holds[i] && at != NODE_NONE && domain_of(w, i, at) == domain_of(w, i, node) &&
		    holder_fits(w, i, at, NODE_NONE) && !holder_fits(w, i, at, node))
			return true;
	}
	return w->waiting == w->holders[0] && !holder_fits(w, 0, node, NODE_NONE);
}

static void expect_as_each_by_itself(const struct held_world *w)
{
	static const char *const names[] = {"a", "b", "x", "y"};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct cede_verdict v = PLUGIN->filter(NULL, &f.cycle, node_of(names[i]));

		if ((v.code == CEDE_SUCCESS) == is_minded(w, node_of(names[i])))
			fail_msg("node %s: %s", names[i], v.code == CEDE_SUCCESS ? "somebody minds" : "nobody minds");
	}
}

static node_id any_node(struct held_world *w)
{
	static const char *const names[] = {"a", "b", "x", "y"};

	return node_of(names[rng_below(&w->r, COUNT(names))]);
}

static void put_world(struct held_world *w)
{
	put_nodes(FOUR);
	w->waiting = put_one("p", ":app=w,tier=t", NULL);
	for (uint32_t i = 0; i < RUNNING; i++)
		w->running[i] = put_one(arena_printf(f.arena, "r%u", i), i % 2 ? ":app=w,tier=t" : ":app=w", NULL);
	for (uint32_t i = 0; i < HELD; i++) {
		struct shape s;

		w->by_zone[i] = rng_below(&w->r, 3) > 0;
		w->by_tier[i] = rng_below(&w->r, 2);
		w->skew[i] = 1 + rng_below(&w->r, 2);
		s = spreads_of(arena_printf(f.arena, "%s %u %s", w->by_zone[i] ? "zone" : "host", w->skew[i],
					    w->by_tier[i] ? "tier=t" : "app=w"));
		w->holders[i] = put_pod((struct pod_text){
			.name = arena_printf(f.arena, "h%u", i), .labels = "app=w tier=t", .shape = &s});
	}
}

/* Somebody comes or goes: who runs, or who holds room and comes where it is. */
static void move_one(struct held_world *w)
{
	bool is_holder = rng_below(&w->r, 2);
	pod_id pod = is_holder ? w->holders[rng_below(&w->r, HELD)] : w->running[rng_below(&w->r, RUNNING)];
	const struct pod *p = ledger_pod(f.ledger, pod);

	if (pod == w->waiting)
		return;
	if (p->state == POD_PLACED)
		ledger_vacate(f.ledger, pod);
	else if (!is_holder)
		ledger_place(f.ledger, pod, any_node(w));
	else if (p->nomination != NOMINATION_NONE)
		ledger_place(f.ledger, pod, p->node);
}

/* Those alike are counted together; that must not be seen, whoever moves and comes back. */
static void GQ_15_each_holder_minds_as_if_it_were_alone(void **state)
{
	struct held_world w = {.r = {7}};

	for (uint32_t round = 0; round < ROUNDS; round++) {
		ledger_mark marks[STEPS];

		if (round % 10 == 0) {
			fixture_reset();
			put_world(&w);
		}
		for (uint32_t i = 0; i < RUNNING; i++)
			if (rng_below(&w.r, 2) && ledger_pod(f.ledger, w.running[i])->state == POD_WAITING)
				ledger_place(f.ledger, w.running[i], any_node(&w));
			else if (ledger_pod(f.ledger, w.running[i])->state == POD_PLACED)
				ledger_vacate(f.ledger, w.running[i]);
		for (uint32_t i = 0; i < HELD; i++) {
			if (ledger_pod(f.ledger, w.holders[i])->state == POD_PLACED)
				ledger_vacate(f.ledger, w.holders[i]);
			w.holds[i] = rng_below(&w.r, 4) > 0;
			if (w.holds[i])
				ledger_reserve(f.ledger, any_node(&w), w.holders[i]);
			else
				ledger_clear_nomination(f.ledger, w.holders[i]);
		}
		w.waiting = round % 2 ? w.holders[0] : pod_named("p");
		w.holds[0] &= w.waiting != w.holders[0];
		cycle_start("PodTopologySpread", w.waiting);
		expect_as_each_by_itself(&w);
		for (uint32_t i = 0; i < STEPS; i++) {
			marks[i] = ledger_get_mark(f.ledger);
			move_one(&w);
			expect_as_each_by_itself(&w);
		}
		for (uint32_t i = STEPS; i-- > 0; i -= i && rng_below(&w.r, 2)) {
			ledger_rollback(f.ledger, marks[i]);
			expect_as_each_by_itself(&w);
		}
	}
}

/* ---- scores ---- */

static void KF_4_soft_constraints_score(void **state)
{
	/* weights: ln 4 = 1.386 for two domains, ln 5 = 1.609 for three, ln 6 = 1.792 for four */
	static const struct {
		const char *says, *nodes, *pods, *spreads, *feasible, *scores;
	} rows[] = {
		{"hard constraints score nothing", FOUR, "", "zone 1 app=w", "a b", "SKIP"},
		{"nobody anywhere: all the best", FOUR, "", "zone 1 soft app=w", "a b x y", "a=100 b=100 x=100 y=100"},
		{"3, 2, 0 pods cost 5, 3, 0",
		 "a kubernetes.io/hostname=a; b kubernetes.io/hostname=b; c kubernetes.io/hostname=c",
		 "a:app=w a:app=w a:app=w b:app=w b:app=w", "kubernetes.io/hostname 1 soft app=w", "a b c",
		 "a=0 b=40 c=100"},
		{"one zone has 2, the other 1: costs 3 and 1", FOUR, "a:app=w b:app=w x:app=w", "zone 1 soft app=w",
		 "a b x y", "a=33 b=33 x=100 y=100"},
		{"what skew is allowed costs all alike", FOUR, "a:app=w b:app=w x:app=w", "zone 5 soft app=w",
		 "a b x y", "a=71 b=71 x=100 y=100"},
		{"pods on nodes that do not fit count for their zone", FOUR, "a:app=w a:app=w x:app=w",
		 "zone 1 soft app=w", "b y", "b=33 y=100"},
		{"a zone without a feasible node does not", FOUR, "a:app=w x:app=w", "zone 1 soft app=w", "x y",
		 "x=100 y=100"},
		{"costs of several constraints add up", FOUR, "a:app=w a:app=w x:app=w",
		 "zone 1 soft app=w | host 1 soft app=w", "a b x y", "a=16 b=66 x=66 y=100"},
		{"nodes without a key get nothing", "a zone=1; b zone=2; c", "a:app=w", "zone 1 soft app=w", "a b c",
		 "a=0 b=100 c=0"},
		{"pods on them count nowhere", "a zone=1 host=a; b zone=1; c zone=2 host=c", "b:app=w c:app=w",
		 "zone 1 soft app=w | host 9 soft app=w", "a b c", "a=100 b=0 c=72"},
		{"hosts that are ignored do not make the weight: 3 and 1 cost 4 and 1",
		 "a kubernetes.io/hostname=a zone=1; b kubernetes.io/hostname=b zone=1; c kubernetes.io/hostname=c",
		 "a:app=w a:app=w a:app=w b:app=w", "kubernetes.io/hostname 1 soft app=w | zone 1 soft !app", "a b c",
		 "a=25 b=100 c=0"},
		{"leaving pods do not count", FOUR, "~a:app=w x:app=w", "zone 1 soft app=w", "a x", "a=100 x=0"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_nodes(rows[i].nodes);
		put_pods(rows[i].pods);
		expect_text(rows[i].says,
			    scores_text("PodTopologySpread", put_waiting("app=w", rows[i].spreads), rows[i].feasible),
			    rows[i].scores);
	}
}

static void put_owner(enum owner_kind kind, const char *kind_name, const char *name, const char *selector)
{
	struct obj_owner o = {
		.kind = kind, .is_service = str_eq(kind_name, "Service"), .has_selector = true, .replicas = -1};

	o.kind_name = names_hold_str(f.names, kind_name);
	o.name = names_hold_str(f.names, name);
	o.labelset = labelset_hold(f.vocab, name_of("default"), NULL, 0);
	o.arena = arena_new(1024);
	o.bag = name_bag_of(f.names);
	assert_int_equal(selector_parse(o.arena, &o.bag, selector, strlen(selector), &o.selector, NULL), ERR_OK);
	assert_int_equal(cluster_put_owner(f.cluster, &o, NULL), ERR_OK);
}

static pod_id put_owned(const char *labels, enum owner_kind kind, const char *owner)
{
	struct labels l = labels_of(labels);
	struct shape empty = {0};
	struct obj_pod o = {
		.name = names_hold_str(f.names, "waiting"),
		.labelset = labelset_hold(f.vocab, name_of("default"), l.kv, l.n),
		.shape = shape_hold(f.vocab, &empty),
		.owner_kind = kind,
		.owner_name = names_hold_str(f.names, owner),
		.created_ns = TIME_NONE,
		.started_ns = TIME_NONE,
		.scheduled_ns = TIME_NONE,
		.deleted_ns = TIME_NONE,
		.checkpointed_ns = TIME_NONE,
	};

	assert_int_equal(cluster_put_pod(f.cluster, &o, NULL), ERR_OK);
	return pod_named("waiting");
}

#define HOSTS                                                                                   \
	"a kubernetes.io/hostname=a topology.kubernetes.io/zone=1; b kubernetes.io/hostname=b " \
	"topology.kubernetes.io/zone=2; c kubernetes.io/hostname=c"

static void KF_4_default_constraints(void **state)
{
	/* ln 5 for three hosts and for three zones (nodes without are one): 2 on a are 2 * 1.609 + 2 + 2 * 1.609 + 4 */
	static const struct {
		const char *says, *service, *controller;
		enum owner_kind kind;
		const char *owner, *scores;
	} rows[] = {
		{"a pod of nobody has none", NULL, NULL, OWNER_NONE, NULL, "SKIP"},
		{"a Service that does not select it is no matter", "app=v", NULL, OWNER_NONE, NULL, "SKIP"},
		{"pods of its Service: 2 on a, 1 on c", "app=w", NULL, OWNER_NONE, NULL, "a=33 b=83 c=100"},
		{"pods of its ReplicaSet", NULL, "app=w", OWNER_REPLICASET, "mine", "a=33 b=83 c=100"},
		{"of another's ReplicaSet", NULL, "app=w", OWNER_REPLICASET, "other", "SKIP"},
		{"pods of its StatefulSet", NULL, "app=w", OWNER_STATEFULSET, "mine", "a=33 b=83 c=100"},
		{"a Deployment is not asked", NULL, "app=w", OWNER_DEPLOYMENT, "mine", "SKIP"},
		{"Service and ReplicaSet together", "app=w", "tier=x", OWNER_REPLICASET, "mine", "a=22 b=55 c=100"},
		{"a ReplicationController's word is the last", "app=w", "app=v", OWNER_RC, "mine", "a=22 b=55 c=100"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_nodes(HOSTS);
		put_pods("a:app=w,tier=x a:app=w c:app=w a:app=v c:other/app=w");
		if (rows[i].service)
			put_owner(OWNER_NONE, "Service", "s", rows[i].service);
		if (rows[i].controller)
			put_owner(rows[i].kind, "Controller", "mine", rows[i].controller);
		pod_id p = put_owned("app=w tier=x", rows[i].kind, rows[i].owner);

		expect_text(rows[i].says, scores_text("PodTopologySpread", p, "a b c"), rows[i].scores);
		expect_text(rows[i].says, answers(PLUGIN, p), "SKIP");
	}
}

static void KF_4_system_defaults_and_nodes_the_pod_cannot_use(void **state)
{
	put_nodes(HOSTS "; d kubernetes.io/hostname=d topology.kubernetes.io/zone; "
			"e kubernetes.io/hostname=e topology.kubernetes.io/zone=1 disk=hdd");
	put_pods("c:app=w e:app=w");
	put_owner(OWNER_NONE, "Service", "s", "app=w");
	pod_id p = put_pod((struct pod_text){.name = "waiting", .labels = "app=w", .required = "disk!=hdd"});

	/* The pod on e counts nowhere; that on c counts in the empty zone, where d is. Costs 6, 6, 4, 8. */
	expect_text("no zone is the empty zone", scores_text("PodTopologySpread", p, "a b c d"),
		    "a=75 b=75 c=100 d=50");
}

static void KF_4_default_constraints_of_a_profile(void **state)
{
	static const struct default_spread list[] = {{1, "topology.kubernetes.io/zone", true},
						     {1, "kubernetes.io/hostname", false}};

	put_nodes(HOSTS);
	put_pods("a:app=w a:app=w");
	put_owner(OWNER_NONE, "Service", "s", "app=w");
	f.args.spread_defaults_are_listed = true;
	f.args.n_default_spreads = COUNT(list);
	f.args.default_spreads = list;
	pod_id p = put_owned("app=w", OWNER_NONE, NULL);

	expect_text("hard ones filter", answers(PLUGIN, p), "a=no b=yes c=never");
	expect_text("soft ones score", scores_text("PodTopologySpread", p, "a b c"), "a=0 b=100 c=100");
	f.args.n_default_spreads = 0;
	expect_text("an empty list is none", scores_text("PodTopologySpread", p, "a b c"), "SKIP");
}

static void KF_4_match_label_keys_can_be_switched_off(void **state)
{
	put_nodes(FOUR);
	put_pods("a:app=w,ver=1");
	f.args.spread_ignores_match_keys = true;
	expect_text("every version counts", answers(PLUGIN, put_waiting("app=w ver=2", "zone 1 +ver app=w")),
		    "a=no b=no x=yes y=yes");
}

/* The same words without the steps that prepare them. */
static void filter_and_score_answer_unprepared(void **state)
{
	int64_t scores[4], wanted[4];

	put_nodes(FOUR);
	put_pods("a:app=w b:app=w x:app=w");
	struct cede_cycle *c =
		cycle_start("PodTopologySpread", put_waiting("app=w", "zone 1 app=w | zone 1 soft app=w"));

	PLUGIN->pre_score(NULL, c, c->nodes, 4);
	for (int i = 0; i < 4; i++)
		wanted[i] = PLUGIN->score(NULL, c, c->nodes[i]);
	PLUGIN->normalize(NULL, c, c->nodes, wanted, 4);
	cede_set_state(c, PLUGIN, NULL);
	expect_text("filter", answers_in(c, PLUGIN), "a=no b=no x=yes y=yes");
	for (int i = 0; i < 4; i++)
		scores[i] = PLUGIN->score(NULL, c, c->nodes[i]);
	PLUGIN->normalize(NULL, c, c->nodes, scores, 4);
	assert_memory_equal(scores, wanted, sizeof(wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_hard_constraints),
		FIXTURE_TEST(KF_4_reasons_are_kubernetes_own),
		FIXTURE_TEST(KF_4_nodes_the_pod_cannot_use_do_not_count),
		FIXTURE_TEST(who_may_use_other_nodes_is_told_apart),
		FIXTURE_TEST(KF_7_spread_is_judged_with_the_victims_gone),
		FIXTURE_TEST(KF_2_pods_that_begin_to_leave_no_longer_count),
		FIXTURE_TEST(KF_7_taking_away_a_pod_that_was_leaving_counts_as_in_kubernetes),
		FIXTURE_TEST(KF_7_an_empty_selector_counts_who_comes_during_the_attempt_as_in_kubernetes),
		FIXTURE_TEST(GQ_15_nobody_comes_where_the_spread_of_reserved_room_would_break),
		FIXTURE_TEST(GQ_15_the_spread_of_reserved_room_follows_who_goes),
		FIXTURE_TEST(who_holds_room_comes_with_it),
		FIXTURE_TEST(who_is_counted_may_help_by_going),
		FIXTURE_TEST(GQ_15_each_holder_minds_as_if_it_were_alone),
		FIXTURE_TEST(KF_4_soft_constraints_score),
		FIXTURE_TEST(KF_4_default_constraints),
		FIXTURE_TEST(KF_4_system_defaults_and_nodes_the_pod_cannot_use),
		FIXTURE_TEST(KF_4_default_constraints_of_a_profile),
		FIXTURE_TEST(KF_4_match_label_keys_can_be_switched_off),
		FIXTURE_TEST(filter_and_score_answer_unprepared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
