/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about default preemption: who goes on a node, which node is taken, who may preempt at all. */
#include <stdlib.h>

#include "engine/disruption_unit.h"
#include "preemption.h"
#include "rules/victim_set.h"

bool skip_composite(struct fact *f)
{
	if (!tree_get(f->t, "compositePodGroups"))
		return false;
	fact_skip(f, NO_COMPOSITE);
	return true;
}

/* ---- names in a line, for comparing ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *join(struct fact *f, const char **names, uint32_t n, bool is_ordered)
{
	struct text out = {0};
	const char *line;

	if (!is_ordered && n)
		qsort(names, n, sizeof(*names), by_text);
	for (uint32_t i = 0; i < n; i++)
		text_printf(&out, "%s%s", i ? " " : "", names[i]);
	line = arena_strndup(f->arena, n ? text_str(&out) : "nobody", n ? out.n : strlen("nobody"));
	text_free(&out);
	return line;
}

void same_victims(struct world *w, const char *what, const struct tree *expected, const pod_id *got, uint32_t n,
		  bool is_ordered)
{
	const char **want = arena_n(w->f->arena, tree_count(expected) + 1, const char *),
		   **have = arena_n(w->f->arena, n + 1, const char *);
	const char *want_line, *have_line;

	for (uint32_t i = 0; i < tree_count(expected); i++)
		want[i] = tree_text(expected->items[i], "");
	for (uint32_t i = 0; i < n; i++)
		have[i] = world_pod_name(w, got[i]);
	want_line = join(w->f, want, tree_count(expected), is_ordered);
	have_line = join(w->f, have, n, is_ordered);
	if (!str_eq(want_line, have_line))
		fact_differs(w->f, what, want_line, have_line);
}

const char *victims_line(struct world *w, const pod_id *victims, uint32_t n)
{
	const char **names = arena_n(w->f->arena, n + 1, const char *);

	for (uint32_t i = 0; i < n; i++)
		names[i] = world_pod_name(w, victims[i]);
	return join(w->f, names, n, false);
}

/* ---- one node ---- */

static bool same_answer(const struct world *w, const struct displace_node *a, const struct displace_node *b)
{
	return a->node == b->node && a->n_victims == b->n_victims && a->n_violations == b->n_violations &&
	       str_eq(status_words(w, &a->status), status_words(w, &b->status)) &&
	       !(a->n_victims && memcmp(a->victims, b->victims, a->n_victims * sizeof(*a->victims)));
}

/* All nodes at once, which may take short cuts, and each on its own, which does not: they must agree. */
struct displace_node *try_nodes(struct world *w, const node_id *nodes, uint32_t n)
{
	struct displace_node *tried = arena_n(w->f->arena, n + 1, struct displace_node);
	const struct rule_settings settings = {.profile = PROFILE_KUBERNETES};
	struct judge_scratch scratch = {0};
	struct judge j;
	struct displace_options o = {.j = &j, .threads = 1};

	displace_judge(&j, &w->cycle, &settings, &scratch);
	displace_all(&w->cycle, nodes, n, &o, tried);
	for (uint32_t i = 0; i < n; i++) {
		struct displace_node alone = displace_try(&w->cycle, nodes[i], &o);

		if (!same_answer(w, &tried[i], &alone))
			fact_differs(w->f, world_node_name(w, nodes[i]), "the same answer alone and among all",
				     "another");
	}
	judge_scratch_free(&scratch);
	return tried;
}

static void compare_node(struct world *w, const struct tree *expected, const struct displace_node *got, bool is_ordered)
{
	const char *node = world_node_name(w, got->node);

	same_victims(w, arena_printf(w->f->arena, "victims on %s", node), expect_in(w->f, expected, "victims"),
		     got->victims, got->n_victims, is_ordered);
	same_int(w->f, arena_printf(w->f->arena, "violations on %s", node),
		 expect_in(w->f, expected, "numPDBViolations"), got->n_violations);
}

static bool open_for(struct world *w, struct fact *f)
{
	if (!world_open(w, f))
		return false;
	world_features(w);
	return world_only(w, tree_path(f->t, "config.plugins"), 0);
}

void run_select_victims_on_node(struct fact *f)
{
	const struct tree *observed = tree_path(f->t, "observed.status");
	struct world w;

	if (skip_composite(f))
		return;
	if (open_for(&w, f) && world_begin(&w, fact_arg(f, "preemptor"))) {
		node_id node = world_node(&w, tree_text(fact_arg(f, "node"), ""));
		struct displace_node *got = try_nodes(&w, &node, 1);

		/* A node where nobody need go is an error only to the dry run over all nodes. */
		if (got->status.plugin == PLUGIN_FRAMEWORK && got->status.verdict.reason == FW_NEEDLESS)
			got->status = (struct status){cede_ok(), PLUGIN_FRAMEWORK};
		same_text(f, "code", tree_get(fact_expect(f, "status"), "code"), status_code_name(&got->status));
		/* What was observed has the reasons too. */
		same_status(&w, "status", observed ? observed : fact_expect(f, "status"), &got->status);
		if (status_is_success(&got->status))
			compare_node(&w, tree_get(f->t, "expect"), got, false);
	}
	world_close(&w);
}

/* ---- many nodes ---- */

static uint32_t wanted_nodes(struct world *w, const struct tree *names, node_id *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->cycle.n_nodes; i++)
		if (!names || tree_has(names, world_node_name(w, w->cycle.nodes[i])))
			ret[n++] = w->cycle.nodes[i];
	return n;
}

static const struct displace_node *find_node(const struct world *w, const struct displace_node *tried, uint32_t n,
					     const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(world_node_name(w, tried[i].node), name))
			return &tried[i];
	return NULL;
}

static const struct tree *find_candidate(const struct tree *candidates, const char *node)
{
	for (uint32_t i = 0; i < tree_count(candidates); i++)
		if (str_eq(tree_text(tree_get(candidates->items[i], "node"), ""), node))
			return candidates->items[i];
	return NULL;
}

static void compare_candidates(struct world *w, const struct tree *expected, const struct displace_node *tried,
			       uint32_t n)
{
	const struct tree *candidates = tree_get(expected, "candidates");
	bool is_ordered = strstr(w->f->file, "/oracle-") != NULL;

	for (uint32_t i = 0; i < n; i++) {
		const char *node = world_node_name(w, tried[i].node);
		const struct tree *candidate = find_candidate(candidates, node);

		if (candidate && status_is_success(&tried[i].status))
			compare_node(w, candidate, &tried[i], is_ordered);
		else if (candidate)
			fact_differs(w->f, node, "a candidate", status_words(w, &tried[i].status));
		else if (status_is_success(&tried[i].status))
			fact_differs(w->f, node, "no candidate",
				     arena_printf(w->f->arena, "one, %s goes",
						  victims_line(w, tried[i].victims, tried[i].n_victims)));
	}
}

static void compare_failed(struct world *w, const struct tree *failed, const struct displace_node *tried, uint32_t n)
{
	for (uint32_t i = 0; tree_is(failed, TREE_MAP) && i < n; i++)
		if (!status_is_success(&tried[i].status) && !tree_get(failed, world_node_name(w, tried[i].node)))
			fact_differs(w->f, world_node_name(w, tried[i].node), "not among those that failed",
				     status_words(w, &tried[i].status));

	for (uint32_t i = 0; tree_is(failed, TREE_MAP) && i < failed->n; i++) {
		const struct displace_node *got = find_node(w, tried, n, failed->fields[i].key);

		if (got)
			same_status(w, failed->fields[i].key, failed->fields[i].value, &got->status);
		else
			fact_differs(w->f, failed->fields[i].key, "a node", "none");
	}
}

static uint32_t pick(const struct world *w, const struct displace_node *tried, uint32_t n)
{
	enum tie_break tie;
	uint32_t second;
	int64_t mine, theirs;

	return displace_pick(&w->cycle, tried, n, &tie, &second, &mine, &theirs);
}

static void compare_best(struct world *w, const struct tree *any_of, const struct displace_node *tried, uint32_t n)
{
	uint32_t best = pick(w, tried, n);
	const char *got = best == UINT32_MAX ? "none" : world_node_name(w, tried[best].node);

	if (any_of && !tree_has(any_of, got))
		fact_differs(w->f, "best node", tree_text(any_of->items[0], ""), got);
}

static void run_dry_cycle(struct world *w, const struct tree *cycle, const struct tree *expected)
{
	node_id *nodes = arena_n(w->f->arena, ledger_node_limit(w->ledger) + 1, node_id);
	const struct displace_node *tried;
	uint32_t n;

	if (!world_begin(w, tree_get(cycle, "pod")))
		return;
	n = wanted_nodes(w, tree_get(cycle, "nodes"), nodes);
	tried = try_nodes(w, nodes, n);
	compare_candidates(w, expected, tried, n);
	compare_failed(w, tree_get(expected, "failed"), tried, n);
	compare_best(w, fact_expect(w->f, "bestNodeAnyOf"), tried, n);
	world_end(w);
}

void run_dry_run_preemption(struct fact *f)
{
	const struct tree *cycles = fact_arg(f, "cycles"), *expected = fact_expect(f, "cycles");
	struct world w;

	if (open_for(&w, f))
		for (uint32_t i = 0; i < tree_count(cycles); i++)
			run_dry_cycle(&w, cycles->items[i], i < tree_count(expected) ? expected->items[i] : NULL);
	world_close(&w);
}

void run_select_best_candidate(struct fact *f)
{
	struct world w;

	if (open_for(&w, f) && world_begin(&w, fact_arg(f, "preemptor"))) {
		node_id *nodes = arena_n(f->arena, w.cycle.n_nodes + 1, node_id);
		uint32_t n = wanted_nodes(&w, NULL, nodes);

		compare_best(&w, fact_expect(f, "nodeAnyOf"), try_nodes(&w, nodes, n), n);
	}
	world_close(&w);
}

/* ---- after filters have failed ---- */

/* Code of a node in filterStatuses. */
static enum cede_code code_of(const struct fact *f, const char *node)
{
	const struct tree *statuses = fact_arg(f, "filterStatuses"), *one = tree_get(tree_get(statuses, "nodes"), node);
	enum cede_code code = CEDE_SUCCESS;

	if (!one)
		one = tree_get(statuses, "absent");
	status_code_parse(tree_text(tree_get(one, "code"), "Success"), &code);
	return code;
}

struct answer { /* of a PostFilter */
	enum eligibility eligibility;
	struct displace_node *tried;
	uint32_t n, best; /* best: UINT32_MAX if there is none */
};

static struct answer ask(struct world *w)
{
	node_id *nodes = arena_n(w->f->arena, w->cycle.n_nodes + 1, node_id), nominated = w->cycle.p->node;
	bool is_nominated = w->cycle.p->nomination != NOMINATION_NONE;
	struct status status = {.plugin = PLUGIN_FRAMEWORK};
	struct answer a = {.best = UINT32_MAX};

	if (is_nominated)
		status.verdict.code = (uint8_t)code_of(w->f, world_node_name(w, nominated));
	a.eligibility = displace_eligible(&w->cycle, is_nominated ? &status : NULL);
	if (a.eligibility != ELIGIBLE)
		return a;
	for (uint32_t i = 0; i < w->cycle.n_nodes; i++)
		if (code_of(w->f, world_node_name(w, w->cycle.nodes[i])) == CEDE_UNSCHEDULABLE)
			nodes[a.n++] = w->cycle.nodes[i];
	a.tried = try_nodes(w, nodes, a.n);
	a.best = pick(w, a.tried, a.n);
	return a;
}

static void answer_text(const struct world *w, const struct answer *a, struct text *out)
{
	struct status *statuses = arena_n(w->f->arena, a->n + 1, struct status);
	struct status rest = status_of_framework(CEDE_UNRESOLVABLE, FW_NOT_HELPFUL, 0);
	struct fit_error fe = {.n_all = w->cycle.n_nodes, .statuses = statuses, .n = a->n, .absent = &rest};

	text_add(out, "preemption: ");
	if (a->eligibility != ELIGIBLE) {
		text_add(out, eligibility_text(a->eligibility));
	} else if (a->best != UINT32_MAX) {
		text_printf(out, "found a potential placement for pod on node %s, preempting %u victims",
			    world_node_name(w, a->tried[a->best].node), a->tried[a->best].n_victims);
	} else {
		for (uint32_t i = 0; i < a->n; i++)
			statuses[i] = a->tried[i].status;
		fit_error_text(&w->cycle, &fe, out);
	}
}

/* No result: the pod keeps whatever it has. */
static void compare_result(struct world *w, const struct answer *a)
{
	const struct tree *expected = fact_expect(w->f, "result");
	bool is_kept = a->eligibility != ELIGIBLE;

	if (!expected)
		return;
	if (is_kept != tree_is(expected, TREE_NULL))
		fact_differs(w->f, "result", is_kept ? "a nomination" : "nothing",
			     is_kept ? "nothing" : "a nomination");
	else if (!is_kept)
		same_text(w->f, "nominatedNodeName", tree_get(expected, "nominatedNodeName"),
			  a->best == UINT32_MAX ? "" : world_node_name(w, a->tried[a->best].node));
}

void run_post_filter(struct fact *f)
{
	const struct tree *status = fact_expect(f, "status");
	struct text text = {0};
	struct world w;

	if (tree_has(tree_path(f->t, "config.features"), "InPlacePodVerticalScalingSchedulerPreemption")) {
		fact_skip(f, "cede does not preempt for the resize of a pod that runs");
		return;
	}
	if (open_for(&w, f) && world_begin(&w, fact_arg(f, "pod"))) {
		struct answer a = ask(&w);

		answer_text(&w, &a, &text);
		same_text(f, "code", tree_get(status, "code"), a.best == UINT32_MAX ? "Unschedulable" : "Success");
		if (tree_count(tree_get(status, "reasons")))
			same_text(f, "reason", tree_get(status, "reasons")->items[0], text_str(&text));
		compare_result(&w, &a);
	}
	text_free(&text);
	world_close(&w);
}

/* What is written to a victim is read as being preempted, by whoever takes over. */
static void compare_condition(struct world *w, const struct tree *expected)
{
	const char *pod = arena_printf(
		w->f->arena,
		"{metadata: {name: told, namespace: default}, spec: {nodeName: %s}, status: {phase: Running, "
		"conditions: "
		"[{type: %s, status: \"%s\", reason: %s}]}}",
		world_node_name(w, w->cycle.nodes[0]), tree_text(tree_get(expected, "type"), "none"),
		tree_text(tree_get(expected, "status"), "none"), tree_text(tree_get(expected, "reason"), "none"));
	pod_id told = expected ? world_put_pod(w, tree_of(w->f, pod), false) : POD_NONE;

	if (expected && (told == POD_NONE || !ledger_pod(w->ledger, told)->obj->is_preempted))
		fact_differs(w->f, "victimCondition", "that of a preempted pod", "another");
}

/* What carrying it out changes: the victims leave, the pod is nominated to the node. */
static void carry_out(struct world *w, const struct displace_node *best)
{
	pod_id pod = w->cycle.pod;

	for (uint32_t i = 0; i < best->n_victims; i++)
		ledger_evict(w->ledger, best->victims[i]);
	ledger_nominate(w->ledger, pod, best->node);
}

void run_preempt(struct fact *f)
{
	struct world w;

	if (open_for(&w, f) && world_begin(&w, fact_arg(f, "preemptor"))) {
		struct answer a = ask(&w);
		const struct displace_node none = {0}, *best = a.best == UINT32_MAX ? &none : &a.tried[a.best];

		compare_result(&w, &a);
		same_victims(&w, "victims", fact_expect(f, "victims"), best->victims, best->n_victims, false);
		compare_condition(&w, fact_expect(f, "victimCondition"));
		if (tree_truth(fact_expect(f, "secondCallPreemptsNothing")) && a.best != UINT32_MAX) {
			carry_out(&w, best);
			a = ask(&w);
			same_bool(f, "secondCallPreemptsNothing", fact_expect(f, "secondCallPreemptsNothing"),
				  a.best == UINT32_MAX);
		}
	}
	world_close(&w);
}

/* ---- who may preempt ---- */

void run_pod_eligible_to_preempt(struct fact *f)
{
	const struct tree *expected_status = fact_arg(f, "nominatedNodeStatus"),
			  *message = tree_path(f->t, "observed.message");
	struct status status = {.plugin = PLUGIN_FRAMEWORK};
	enum cede_code code = CEDE_UNSCHEDULABLE;
	struct world w;

	if (skip_composite(f))
		return;
	if (expected_status)
		status_code_parse(tree_text(tree_get(expected_status, "code"), ""), &code);
	status.verdict.code = (uint8_t)code;
	if (world_open(&w, f) && world_default(&w, NULL) && world_begin(&w, fact_arg(f, "pod"))) {
		enum eligibility e =
			displace_eligible(&w.cycle, w.cycle.p->nomination == NOMINATION_NONE ? NULL : &status);

		same_bool(f, "eligible", fact_expect(f, "eligible"), e == ELIGIBLE);
		same_text(f, "message", message, eligibility_text(e));
	}
	world_close(&w);
}

/* Seen by what follows from it: who is nominated to the node waits for such a pod, and for no other. */
void run_pod_terminating_by_preemption(struct fact *f)
{
	static const char here[] =
		"{nodes: [{metadata: {name: here}}], pod: {metadata: {name: preemptor}, spec: {priority: 1000},"
		" status: {nominatedNodeName: here}}}";
	const struct tree *made = tree_of(f, here);
	struct status status = status_of_framework(CEDE_UNSCHEDULABLE, FW_NONE, 0);
	struct fact with_node = *f;
	struct world w;

	with_node.t = made;
	if (world_open(&w, &with_node) && world_default(&w, NULL) &&
	    world_put_pod_on(&w, fact_arg(f, "pod"), "here") != POD_NONE && world_begin(&w, tree_get(made, "pod")))
		same_bool(f, "result", fact_expect(f, "result"),
			  displace_eligible(&w.cycle, &status) == NOT_ELIGIBLE_TERMINATING);
	text_add(&f->diff, text_str(&with_node.diff));
	world_close(&w);
}

/* ---- importance and budgets ---- */

static bool is_composite(const struct tree *unit)
{
	return str_eq(tree_text(tree_get(unit, "kind"), ""), "CompositePodGroup");
}

static pod_id put_unit(struct world *w, const char *name, const struct tree *unit)
{
	const char *start = tree_text(tree_get(unit, "earliestStartTime"), NULL);
	const char *text =
		arena_printf(w->f->arena, "{metadata: {name: %s}, spec: {priority: %s, nodeName: n}, status: {%s%s%s}}",
			     name, tree_text(tree_get(unit, "priority"), "0"), start ? "startTime: \"" : "",
			     start ? start : "", start ? "\"" : "");

	return world_put_pod(w, tree_of(w->f, text), false);
}

/* A unit that looks as the fact says; what a pod alone has of it is taken from the pod. */
static struct disruption_unit unit_of(const struct world *w, const struct tree *t, pod_id pod)
{
	const struct pod *p = ledger_pod(w->ledger, pod);

	return (struct disruption_unit){.priority = p->priority,
					.is_grouped = str_eq(tree_text(tree_get(t, "kind"), ""), "PodGroup"),
					.n_pods = (uint32_t)tree_int(tree_get(t, "numPods"), 1),
					.start = p->started_ns == TIME_NONE ? world_now_ns : p->started_ns};
}

void run_more_important_victim(struct fact *f)
{
	const struct tree *a = fact_arg(f, "a"), *b = fact_arg(f, "b");
	struct world w;

	if (is_composite(a) || is_composite(b)) {
		fact_skip(f, NO_COMPOSITE);
		return;
	}
	if (world_open(&w, f)) {
		pod_id x = put_unit(&w, "a", a), y = put_unit(&w, "b", b);
		struct disruption_unit ux = unit_of(&w, a, x), uy = unit_of(&w, b, y);
		struct cede_cycle c = {
			.ledger = w.ledger, .vocab = w.vocab, .names = vocab_names(w.vocab), .now_ns = world_now_ns};
		bool is_before = unit_cmp(&ux, &uy) < 0;

		same_bool(f, "aMoreImportant", fact_expect(f, "aMoreImportant"), is_before);
		if (!ux.is_grouped && !uy.is_grouped && is_before != (victim_cmp(&c, x, y) < 0))
			fact_differs(f, "two pods", "the same order as units and as pods", "another");
	}
	world_close(&w);
}

static pod_id pod_of(const struct world *w, const struct tree *t)
{
	const struct tree *meta = tree_get(t, "metadata");

	return cluster_find_pod(w->cluster, tree_text(tree_get(meta, "namespace"), ""),
				tree_text(tree_get(meta, "name"), ""));
}

/* Units are taken apart into pods, which are judged in order; a unit violates as often as its pods do. */
static void compare_unit(struct world *w, uint32_t unit, uint32_t violations)
{
	const struct tree *violating = fact_expect(w->f, "violating"), *fine = fact_expect(w->f, "nonViolating");
	const char *what = arena_printf(w->f->arena, "unit %u", unit), *number = arena_printf(w->f->arena, "%u", unit);
	bool is_listed = false;

	if (!violations && !tree_has(fine, number))
		fact_differs(w->f, what, "a violation", "none");
	if (violations && tree_has(fine, number))
		fact_differs(w->f, what, "no violation", "one");
	for (uint32_t i = 0; i < tree_count(violating); i++) {
		if (tree_int(tree_get(violating->items[i], "unit"), -1) != unit)
			continue;
		is_listed = true;
		same_int(w->f, what, tree_get(violating->items[i], "violations"), violations);
	}
	if (violations && !is_listed)
		fact_differs(w->f, what, "no violation", "one");
}

void run_filter_victims_with_pdb_violation(struct fact *f)
{
	const struct tree *units = fact_arg(f, "units"), *pods = tree_get(f->t, "pods");
	pod_id *ids = arena_n(f->arena, tree_count(pods) + 1, pod_id);
	bool *violates = arena_n(f->arena, tree_count(pods) + 1, bool);
	uint32_t n = 0, at = 0;
	struct world w;

	if (!tree_count(units) &&
	    (tree_count(fact_expect(f, "violating")) || tree_count(fact_expect(f, "nonViolating"))))
		fact_differs(f, "units", "some", "none");
	if (world_open(&w, f)) {
		struct judge j = {.ledger = w.ledger, .vocab = w.vocab, .names = vocab_names(w.vocab)};

		for (uint32_t i = 0; i < tree_count(units); i++) {
			const struct tree *members = tree_get(units->items[i], "pods");

			for (uint32_t k = 0; k < tree_count(members); k++)
				ids[n++] = pod_of(&w, pods->items[tree_int(members->items[k], 0)]);
		}
		victim_set_overspending(&j, ids, n, violates);
		for (uint32_t i = 0; i < tree_count(units); i++) {
			uint32_t violations = 0;

			for (uint32_t k = 0; k < tree_count(tree_get(units->items[i], "pods")); k++)
				violations += violates[at++];
			compare_unit(&w, i, violations);
		}
	}
	world_close(&w);
}
