/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about YuniKorn's preemption: between queues, on a required node, and who is a candidate at all.
 *
 * Where a fact was derived to show the original breaking its own laws, what the laws say is expected here.
 */
#include "preemption.h"
#include "yunikorn_world.h"

/* ---- what is expected ---- */

/* What laws_say says, as an expect: facts with it are told by id, their own expect is what the original does. */
static const struct {
	const char *id, *expect;
} laws[] = {
	{"victim-larger-than-excess", "{result: none}"},
	{"leaf-within-guarantee-parent-over", "{result: reserved, node: n1, victims: [b0]}"},
	{"oversized-first-candidate-stops-search", "{result: reserved, node: n1, victims: [s1]}"},
	{"node-free-space-ignored-overkill", "{result: reserved, node: n1, victims: [s2]}"},
	{"node-free-space-ignored-refusal", "{result: reserved, node: n1, victims: [s1]}"},
	{"pods-type-caps-at-two-victims", "{result: reserved, node: n1, victims: [v0, v1, v2, v3]}"},
	{"without-pods-type-all-four", "{result: reserved, node: n1, victims: [v0, v1, v2, v3]}"},
	{"priority-not-in-victim-order", "{result: reserved, node: n1, victims: [low]}"},
	{"sibling-name-prefix", "{result: none}"},
	{"sibling-name-no-prefix", "{result: none}"},
	{"guarantee-on-other-type-shields", "{result: reserved, node: n1, victims: [v1]}"},
	{"guarantee-on-other-type-lets-ask-preempt", "{result: none}"},
	{"quota-takes-opted-out-then-drivers-first", "{target: {first: 10}, candidate_count: 3, victims: [exec]}"},
	{"quota-parent-guarantee-lost", "{target: {memory: 300}}"},
	{"daemonset-ignores-free-space", "{victims: [a0]}"},
};

const struct tree *yuni_expected(struct fact *f)
{
	if (!tree_get(f->t, "laws_say"))
		return tree_get(f->t, "expect");
	for (size_t i = 0; i < sizeof(laws) / sizeof(*laws); i++)
		if (str_eq(laws[i].id, f->id))
			return tree_of(f, laws[i].expect);
	fact_differs(f, "laws_say", "a row in the runner", "none");
	return NULL;
}

/* ---- between queues ---- */

static void same_any_of(struct yuni_world *y, const struct tree *list, const struct decision *d)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (!tree_has(list, world_pod_name(&y->w, d->victims[i].pod)))
			fact_differs(y->w.f, "victim", "one of those named", world_pod_name(&y->w, d->victims[i].pod));
}

static const char *result_words(struct yuni_world *y, const struct decision *d)
{
	pod_id *victims = arena_n(y->w.f->arena, d->n_victims + 1, pod_id);

	for (uint32_t i = 0; i < d->n_victims; i++)
		victims[i] = d->victims[i].pod;
	if (d->n_victims)
		return arena_printf(y->w.f->arena, "reserved on %s, %s goes", world_node_name(&y->w, d->node),
				    victims_line(&y->w, victims, d->n_victims));
	return d->outcome == OUTCOME_PLACED
		       ? arena_printf(y->w.f->arena, "none, placed on %s", world_node_name(&y->w, d->node))
		       : "none";
}

static void compare(struct yuni_world *y, const struct tree *expected)
{
	const struct decision *d = yuni_decision(y);
	const char *result = tree_text(expect_in(y->w.f, expected, "result"), ""),
		   *node = tree_text(expect_in(y->w.f, expected, "node"), NULL);
	const struct tree *victims = expect_in(y->w.f, expected, "victims"),
			  *any_of = expect_in(y->w.f, expected, "victims_any_of");

	if (!d)
		fact_differs(y->w.f, "decision", "one", "none");
	else if (str_eq(result, "none") != !d->n_victims)
		fact_differs(y->w.f, y->o.is_slow ? "result (slow)" : "result", result, result_words(y, d));
	if (!d || !d->n_victims || y->w.f->diff.n)
		return;
	if (node && !str_eq(node, world_node_name(&y->w, d->node)))
		fact_differs(y->w.f, "node", node, world_node_name(&y->w, d->node));
	yuni_same_victims(y, "victims", victims, d->victims, d->n_victims, false);
	if (any_of)
		same_any_of(y, any_of, d);
}

static void decide(struct fact *f, const struct yuni_options *o)
{
	struct yuni_world y;

	if (yuni_open(&y, f, o) && yuni_plan(&y))
		compare(&y, yuni_expected(f));
	yuni_close(&y);
}

/* Both ways of looking at nodes: by rows of numbers, and with all filters. */
void run_yunikorn_generic(struct fact *f)
{
	static const struct yuni_options fast = {0}, slow = {.is_slow = true};

	if (tree_get(f->t, "released_after_snapshot")) {
		fact_skip(f, "in cede nothing changes between looking and deciding");
		return;
	}
	decide(f, &fast);
	if (!f->diff.n)
		decide(f, &slow);
}

/* ---- candidates ---- */

static void begin_judge(struct yuni_world *y, struct judge *j, enum action action)
{
	struct rule_settings settings = {
		.profile = PROFILE_YUNIKORN, .n_scheduler_names = 1, .scheduler_names = y->w.config->scheduler_names};
	struct res_vec asked;

	yuni_amounts(y, tree_path(y->w.f->t, "ask.res"), &asked);
	judge_init(j, y->w.cluster, y->w.ledger, &settings, action, y->ask, world_now_ns, &y->scratch);
	judge_look_at(j, asked.mask);
}

/* Running pods that the rules let go and that hold something the waiting one asks for. */
static uint32_t candidates(struct yuni_world *y, struct judge *j, pod_id *ret)
{
	uint32_t n = 0;

	for (pod_id i = 0; i < ledger_pod_limit(y->w.ledger); i++) {
		const struct pod *p = ledger_pod(y->w.ledger, i);
		struct res_vec has = {0};

		if (p->state != POD_PLACED || judge_victim(j, i).answer == IS_PROTECTED)
			continue;
		res_vec_add_list(&has, &shape_get(y->w.vocab, p->shape)->usage);
		if (has.mask & j->short_types & ~(UINT64_C(1) << RES_PODS))
			ret[n++] = i;
	}
	return n;
}

static void compare_candidates(struct yuni_world *y)
{
	pod_id *got = arena_n(y->w.f->arena, ledger_pod_limit(y->w.ledger) + 1, pod_id);
	const char *fence;
	struct judge j;
	uint32_t n;

	begin_judge(y, &j, ACTION_RECLAIM);
	n = candidates(y, &j, got);
	same_victims(&y->w, "candidates", fact_expect(y->w.f, "victims"), got, n, false);
	fence = name_str(vocab_names(y->w.vocab), queue_get(j.tree, j.fence)->path);
	same_text(y->w.f, "fence", fact_expect(y->w.f, "fence"), fence);
}

void run_yunikorn_find_victims(struct fact *f)
{
	static const struct yuni_options plain = {0};
	struct yuni_world y;

	if (yuni_open(&y, f, &plain))
		compare_candidates(&y);
	yuni_close(&y);
}

/* ---- a required node ---- */

static void compare_count(struct yuni_world *y, const struct tree *expected)
{
	pod_id *got = arena_n(y->w.f->arena, ledger_pod_limit(y->w.ledger) + 1, pod_id);
	struct judge j;

	begin_judge(y, &j, ACTION_REQUIRED_NODE);
	same_int(y->w.f, "candidates", expected, candidates(y, &j, got));
}

/* Why running pods are no candidates, counted as the original does. */
struct passed_over {
	uint32_t total, required_node, no_match, higher_priority, leaving;
};

static void pass_over(struct yuni_world *y, struct judge *j, pod_id pod, struct passed_over *n)
{
	const struct pod *p = ledger_pod(y->w.ledger, pod);
	struct rule_verdict says = judge_victim(j, pod);
	struct res_vec has = {0};

	n->total++;
	res_vec_add_list(&has, &shape_get(y->w.vocab, p->shape)->usage);
	if (says.rule == RULE_DAEMONSET)
		n->required_node++;
	else if (p->state == POD_LEAVING)
		n->leaving++;
	else if (says.rule == RULE_PRIORITY)
		n->higher_priority++;
	else if (!(has.mask & j->short_types & ~(UINT64_C(1) << RES_PODS)))
		n->no_match++;
}

/* Whether a pod that is going was evicted or just ends cede does not tell apart. */
static void compare_passed_over(struct yuni_world *y, const struct tree *expected)
{
	struct passed_over n = {0};
	struct judge j;

	if (!expected)
		return;
	begin_judge(y, &j, ACTION_REQUIRED_NODE);
	for (pod_id i = 0; i < ledger_pod_limit(y->w.ledger); i++) {
		enum pod_state state = ledger_pod(y->w.ledger, i)->state;

		if (state == POD_PLACED || state == POD_LEAVING)
			pass_over(y, &j, i, &n);
	}
	same_int(y->w.f, "total", tree_get(expected, "total"), n.total);
	same_int(y->w.f, "required_node", tree_get(expected, "required_node"), n.required_node);
	same_int(y->w.f, "no_match", tree_get(expected, "no_match"), n.no_match);
	same_int(y->w.f, "higher_priority", tree_get(expected, "higher_priority"), n.higher_priority);
	if (tree_int(tree_get(expected, "already_preempted"), 0) + tree_int(tree_get(expected, "released"), 0) !=
	    n.leaving)
		fact_differs(y->w.f, "already_preempted and released", "another number of them",
			     arena_printf(y->w.f->arena, "%u", n.leaving));
}

/* A nominated pod takes nothing more. */
static void compare_second(struct yuni_world *y, const struct tree *expected)
{
	struct engine_run run = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	const struct decision *d;
	struct err e;

	if (!expected || engine_try(y->engine, &run, y->ask, &y->plan, &e))
		return;
	d = &y->plan.v.v[y->plan.v.n - 1];
	yuni_same_victims(y, "second attempt", expected, d->victims, d->n_victims, false);
}

/* What was sent off, attempt by attempt: here all at once. */
static void compare_releases(struct yuni_world *y, const struct tree *expected, const struct decision *d)
{
	if (tree_count(expected) > 1)
		fact_differs(y->w.f, "releases", "several of them", "one");
	else if (tree_count(expected) && d)
		yuni_same_victims(y, "releases", expected->items[0], d->victims, d->n_victims, false);
}

static void require(struct fact *f, const struct yuni_options *o, const struct tree *expected)
{
	const struct decision *d;
	struct yuni_world y;

	if (yuni_open(&y, f, o)) {
		compare_count(&y, expect_in(f, expected, "candidate_count"));
		compare_passed_over(&y, expect_in(f, expected, "filter"));
		d = yuni_plan(&y) ? yuni_decision(&y) : NULL;
		same_bool(f, "ask_triggered", expect_in(f, expected, "ask_triggered"), d && d->n_victims);
		compare_releases(&y, expect_in(f, expected, "releases"), d);
		if (d)
			yuni_same_victims(&y, "victims", expect_in(f, expected, "victims"), d->victims, d->n_victims,
					  false);
		compare_second(&y, expect_in(f, expected, "second_attempt_releases"));
	}
	yuni_close(&y);
}

/* The order in which pods go is seen when all of them have to. */
static void require_order(struct fact *f, const struct tree *order)
{
	const struct yuni_options o = {.ask_fills_node = true, .ask_stands_alone = true};
	const struct decision *d;
	struct yuni_world y;

	if (yuni_open(&y, f, &o) && yuni_plan(&y) && (d = yuni_decision(&y))) {
		pod_id *got = arena_n(f->arena, d->n_victims + 1, pod_id);

		for (uint32_t i = 0; i < d->n_victims; i++)
			got[i] = d->victims[d->n_victims - 1 - i].pod;
		same_victims(&y.w, "order", order, got, d->n_victims, true);
	}
	yuni_close(&y);
}

/*
 * Most of these facts have everything in one application, whose pods law 3 keeps from each other; the waiting pod is
 * put outside of it, to see the rest of what they say.
 */
void run_yunikorn_required_node(struct fact *f)
{
	const struct yuni_options fast = {.ask_stands_alone = true}, slow = {.ask_stands_alone = true, .is_slow = true};
	const struct tree *expected = yuni_expected(f), *order = expect_in(f, expected, "order");

	if (order) {
		require_order(f, order);
		return;
	}
	require(f, &fast, expected);
	if (!f->diff.n)
		require(f, &slow, expected);
}
