/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about single filters and scores, and about what all of them together say of a pod. */
#include <inttypes.h>

#include "world.h"

static const char *plugin_of(const struct fact *f)
{
	return tree_text(tree_path(f->t, "config.plugin"), "");
}

/* ---- filter ---- */

/* Facts about NodeName ask its Filter alone. */
static bool asks_filter_alone(const struct fact *f)
{
	return tree_truth(tree_path(f->t, "config.skipPreFilter")) || str_eq(plugin_of(f), "NodeName");
}

static void compare_pre_filter(struct world *w, uint32_t plugin)
{
	struct status got = w->cycle.pre_filter;

	/* That no node is left is the framework's finding; the plugin had no objection. */
	if (got.plugin == PLUGIN_FRAMEWORK)
		got.verdict = cede_ok();
	if (w->cycle.skip_filter >> plugin & 1)
		got = (struct status){cede_answer(CEDE_SKIP, 0, 0), plugin};
	same_status(w, "preFilter", fact_expect(w->f, "preFilter"), &got);
}

static void compare_pre_filter_nodes(struct world *w)
{
	const struct tree *expected = fact_expect(w->f, "preFilterNodes");
	const struct cede_cycle *c = &w->cycle;

	if (!expected)
		return;
	if (!c->has_node_set)
		fact_differs(w->f, "preFilterNodes", "some nodes", "all nodes");
	for (uint32_t i = 0; c->has_node_set && i < c->n_nodes; i++) {
		const char *name = world_node_name(w, c->nodes[i]);
		bool is_expected = tree_has(expected, name), is_left = bits_has(&c->node_set, c->nodes[i]);

		if (is_expected != is_left)
			fact_differs(w->f, "preFilterNodes", is_expected ? name : "nothing",
				     is_left ? name : "nothing");
	}
}

/* The plugin is asked directly: some facts say what it would answer if a framework asked in vain. */
static void compare_filter(struct world *w, uint32_t plugin)
{
	const struct framework_plugin *p = framework_plugin(w->framework, plugin);
	const struct tree *expected = fact_expect(w->f, "filter");

	for (uint32_t i = 0; tree_is(expected, TREE_MAP) && i < expected->n; i++) {
		node_id node = world_node(w, expected->fields[i].key);
		struct status got;

		if (node == NODE_NONE) {
			fact_differs(w->f, expected->fields[i].key, "a node", "no such node");
			continue;
		}
		got = (struct status){p->table->filter(p->self, &w->cycle, node), plugin};
		same_status(w, expected->fields[i].key, expected->fields[i].value, &got);
	}
}

/* ---- how much is missing ---- */

static uint64_t asked_amount(const struct world *w, res_id r)
{
	const struct shape *s = w->cycle.shape;

	return r == RES_PODS ? 1 : (uint64_t)res_list_get(&s->request, r);
}

static void compare_missing(struct world *w, node_id node, uint64_t lacking, const struct tree *t)
{
	const char *name = tree_text(tree_get(t, "resource"), "");
	res_id r = res_types_find(vocab_res(w->vocab), name, strlen(name));
	int64_t has, asks;

	if (r == RES_NONE || !(lacking >> r & 1)) {
		fact_differs(w->f, "insufficient", name, "enough of it");
		return;
	}
	has = ledger_node_allocatable(w->ledger, node)[r];
	asks = (int64_t)asked_amount(w, r);
	same_int(w->f, "requested", tree_get(t, "requested"), asks);
	same_int(w->f, "used", tree_get(t, "used"), ledger_node_used(w->ledger, node)[r]);
	same_int(w->f, "capacity", tree_get(t, "capacity"), has);
	same_bool(w->f, "unresolvable", tree_get(t, "unresolvable"), asks > has);
}

/* The types that are short on the only node, and the numbers they are short by. */
static void compare_insufficient(struct world *w, uint32_t plugin)
{
	const struct framework_plugin *p = framework_plugin(w->framework, plugin);
	const struct tree *expected = fact_expect(w->f, "insufficient");
	node_id node = w->cycle.nodes[0];
	uint64_t lacking;

	if (!expected)
		return;
	lacking = p->table->filter(p->self, &w->cycle, node).detail;
	if ((uint32_t)__builtin_popcountll(lacking) != tree_count(expected))
		same_int(w->f, "insufficient types",
			 tree_of(w->f, arena_printf(w->f->arena, "%u", tree_count(expected))),
			 __builtin_popcountll(lacking));
	for (uint32_t i = 0; i < tree_count(expected); i++)
		compare_missing(w, node, lacking, expected->items[i]);
}

static bool open_with_plugin(struct world *w, struct fact *f, uint32_t without)
{
	struct err e;

	if (!world_open(w, f))
		return false;
	world_features(w);
	if (!world_args(w, plugin_of(f), tree_path(f->t, "config.args"), &e))
		return world_only_one(w, plugin_of(f), without);
	fact_differs(f, "args", "arguments cede can read", e.msg);
	return false;
}

void run_filter(struct fact *f)
{
	bool skips = asks_filter_alone(f);
	struct world w;

	if (open_with_plugin(&w, f, skips ? 1u << POINT_PRE_FILTER : 0) && world_begin(&w, fact_arg(f, "pod"))) {
		uint32_t plugin = framework_plugin_find(w.framework, plugin_of(f));

		if (!skips && framework_plugin(w.framework, plugin)->table->pre_filter)
			compare_pre_filter(&w, plugin);
		compare_pre_filter_nodes(&w);
		compare_filter(&w, plugin);
		compare_insufficient(&w, plugin);
	}
	world_close(&w);
}

/* ---- score ---- */

/* Arguments that kube-scheduler refuses, by the field it names. */
static void compare_config_errors(struct fact *f, const struct tree *errors)
{
	struct world w;
	struct err e = {.msg = "no complaint"};

	if (world_open(&w, f))
		(void)!world_args(&w, plugin_of(f), tree_path(f->t, "config.args"), &e);
	for (uint32_t i = 0; i < tree_count(errors); i++) {
		const char *field = tree_text(tree_get(errors->items[i], "field"), "");

		if (!strstr(e.msg, field))
			fact_differs(f, "configErrors", field, e.msg);
	}
	world_close(&w);
}

static uint32_t scored_nodes(struct world *w, node_id *ret)
{
	const struct tree *feasible = fact_arg(w->f, "feasibleNodes");
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->cycle.n_nodes; i++)
		if (!feasible || tree_has(feasible, world_node_name(w, w->cycle.nodes[i])))
			ret[n++] = w->cycle.nodes[i];
	return n;
}

static void compare_scores(struct world *w, const node_id *nodes, uint32_t n, const int64_t *scores)
{
	const struct tree *expected = fact_expect(w->f, "scores");

	for (uint32_t i = 0; i < n; i++) {
		const char *name = world_node_name(w, nodes[i]);
		const struct tree *score = tree_get(expected, name);

		if (score)
			same_int(w->f, name, score, scores[i]);
		else
			fact_differs(w->f, name, "no score", "one");
	}
	if (tree_is(expected, TREE_MAP) && expected->n != n)
		fact_differs(w->f, "scores", "scores for more nodes", "less");
}

static void score_with(struct world *w, uint32_t plugin, bool skips_pre_score)
{
	const struct framework_plugin *p = framework_plugin(w->framework, plugin);
	node_id *nodes = arena_n(w->f->arena, w->cycle.n_nodes + 1, node_id);
	int64_t *scores = arena_n(w->f->arena, w->cycle.n_nodes + 1, int64_t);
	struct status pre = {cede_ok(), plugin};
	uint32_t n = scored_nodes(w, nodes);

	if (!skips_pre_score && p->table->pre_score) {
		pre.verdict = p->table->pre_score(p->self, &w->cycle, nodes, n);
		same_status(w, "preScore", fact_expect(w->f, "preScore"), &pre);
	}
	if (fact_expect(w->f, "scoreStatus"))
		fact_differs(w->f, "scoreStatus", status_words_expected(w->f, fact_expect(w->f, "scoreStatus")),
			     "scores");
	if (pre.verdict.code != CEDE_SUCCESS || !fact_expect(w->f, "scores"))
		return;
	for (uint32_t i = 0; i < n; i++)
		scores[i] = p->table->score(p->self, &w->cycle, nodes[i]);
	if (tree_truth(fact_expect(w->f, "normalized")) && p->table->normalize)
		p->table->normalize(p->self, &w->cycle, nodes, scores, n);
	compare_scores(w, nodes, n, scores);
}

void run_score(struct fact *f)
{
	const struct tree *errors = fact_expect(f, "configErrors");
	bool skips = tree_truth(tree_path(f->t, "config.skipPreScore"));
	struct world w;

	if (errors) {
		compare_config_errors(f, errors);
		return;
	}
	if (open_with_plugin(&w, f, skips ? 1u << POINT_PRE_SCORE : 0) && world_begin(&w, fact_arg(f, "pod")))
		score_with(&w, framework_plugin_find(w.framework, plugin_of(f)), skips);
	world_close(&w);
}

/* ---- everything together ---- */

static uint32_t compare_feasible(struct world *w, node_id *ret)
{
	struct cede_cycle *c = &w->cycle;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const char *name = world_node_name(w, c->nodes[i]);
		const struct tree *expected = tree_get(fact_expect(w->f, "filter"), name),
				  *plugin = tree_get(expected, "plugin");
		struct status got = cycle_fits(c, c->nodes[i]);

		same_status(w, name, expected, &got);
		if (plugin)
			same_text(w->f, "plugin", plugin, status_plugin_name(w->framework, &got));
		if (status_is_success(&got))
			ret[n++] = c->nodes[i];
	}
	return n;
}

static bool is_scoring(const struct world *w, uint32_t plugin)
{
	return (framework_plugin(w->framework, plugin)->points >> POINT_SCORE & 1) &&
	       !(w->cycle.skip_score >> plugin & 1);
}

static void compare_weighted(struct world *w, const char *node, const int64_t *per, uint32_t n, uint32_t i)
{
	const struct tree *expected = tree_get(fact_expect(w->f, "weightedScores"), node);
	uint32_t n_scoring = 0;

	for (uint32_t p = 0; p < framework_plugin_count(w->framework); p++) {
		const char *name = framework_plugin(w->framework, p)->table->name,
			   *what = arena_printf(w->f->arena, "%s of %s", name, node);
		const struct tree *score = tree_get(expected, name);

		if (!is_scoring(w, p))
			continue;
		n_scoring++;
		if (score)
			same_int(w->f, what, score, per[(size_t)p * n + i]);
		else
			fact_differs(w->f, what, "no score", "one");
	}
	if (tree_is(expected, TREE_MAP) && expected->n != n_scoring)
		fact_differs(w->f, node, "scores of more plugins", "less");
}

static void compare_totals(struct world *w, const node_id *nodes, uint32_t n)
{
	int64_t *totals = arena_n(w->f->arena, n + 1, int64_t), best = 0;
	int64_t *per = arena_n(w->f->arena, (size_t)n * framework_plugin_count(w->framework) + 1, int64_t);
	const struct tree *any_of = fact_expect(w->f, "nodeAnyOf");
	uint32_t n_best = 0;
	struct err e;

	if (cycle_scores(&w->cycle, nodes, n, totals, per, &e)) {
		fact_differs(w->f, "scores", "some", e.msg);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *name = world_node_name(w, nodes[i]);

		compare_weighted(w, name, per, n, i);
		same_int(w->f, name, tree_get(fact_expect(w->f, "total"), name), totals[i]);
		best = totals[i] > best ? totals[i] : best;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (totals[i] != best)
			continue;
		n_best++;
		if (!tree_has(any_of, world_node_name(w, nodes[i])))
			fact_differs(w->f, "nodeAnyOf", "another node", world_node_name(w, nodes[i]));
	}
	if (n_best != tree_count(any_of))
		fact_differs(w->f, "nodeAnyOf", "more nodes", "less");
}

void run_schedule_scores(struct fact *f)
{
	struct world w;

	if (world_open(&w, f) && world_default(&w, tree_path(f->t, "config.disabledPlugins")) &&
	    world_begin(&w, fact_arg(f, "pod"))) {
		node_id *feasible = arena_n(f->arena, w.cycle.n_nodes + 1, node_id);
		uint32_t n = compare_feasible(&w, feasible);

		if (n)
			compare_totals(&w, feasible, n);
		else if (tree_count(fact_expect(f, "nodeAnyOf")))
			fact_differs(f, "nodeAnyOf", "some node", "none");
	}
	world_close(&w);
}

/* ---- the sentence ---- */

/* A plugin that refuses with the reasons of the fact, each by its number. */
static bool collect_reasons(struct fact *f, const struct tree *nodes, const char ***ret, struct status *statuses)
{
	const char **reasons = arena_n(f->arena, nodes->n + 1, const char *);

	for (uint32_t i = 0; i < nodes->n; i++) {
		const struct tree *list = tree_get(nodes->fields[i].value, "reasons");
		enum cede_code code;

		if (tree_count(list) != 1 ||
		    !status_code_parse(tree_text(tree_get(nodes->fields[i].value, "code"), ""), &code)) {
			fact_differs(f, "nodeStatuses", "one reason each", "another number");
			return false;
		}
		reasons[i] = tree_text(list->items[0], "");
		statuses[i].verdict = cede_answer(code, (uint16_t)i, 0);
	}
	*ret = reasons;
	return true;
}

static void compare_sentence(struct world *w, const struct tree *nodes, const char **reasons, struct status *statuses)
{
	struct cede_plugin table = {.abi = CEDE_PLUGIN_ABI, .name = "fact", .reasons = reasons, .n_reasons = nodes->n};
	struct framework_plugin plugin = {.table = &table};
	struct fit_error fe = {.n_all = (uint32_t)tree_int(fact_arg(w->f, "numAllNodes"), 0),
			       .statuses = statuses,
			       .n = nodes->n,
			       .pre_filter_msg = tree_text(fact_arg(w->f, "preFilterMsg"), NULL),
			       .post_filter_msg = tree_text(fact_arg(w->f, "postFilterMsg"), NULL)};
	struct text out = {0};
	struct err e;

	w->framework = framework_new(w->cluster, w->profile, &plugin, 1, &e);
	if (!w->framework) {
		fact_differs(w->f, "profile", "a framework", e.msg);
		return;
	}
	for (uint32_t i = 0; i < nodes->n; i++)
		statuses[i].plugin = framework_plugin_find(w->framework, table.name);
	w->cycle.framework = w->framework;
	fit_error_text(&w->cycle, &fe, &out);
	same_text(w->f, "text", fact_expect(w->f, "text"), text_str(&out));
	text_free(&out);
}

void run_fit_error_text(struct fact *f)
{
	const struct tree *nodes = tree_get(fact_arg(f, "nodeStatuses"), "nodes");
	struct status *statuses = arena_n(f->arena, nodes->n + 1, struct status);
	const char **reasons;
	struct world w;

	if (collect_reasons(f, nodes, &reasons, statuses)) {
		if (world_open(&w, f))
			compare_sentence(&w, nodes, reasons, statuses);
		world_close(&w);
	}
}
