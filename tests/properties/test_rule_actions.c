/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rule in every action and profile that asks it: a cluster in which it and nobody else speaks, and the same
 * cluster without what it speaks of, in which the victim may go. What a rule's row says it does and does not do fails
 * here; what the row no longer says fails in test_rule_table, which has it in docs/rules.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"
#include "rules/plugin.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* ---- one cluster for one rule ---- */

struct sample {
	struct story s;
	enum profile profile;
	enum action action;
	enum rule_id rule; /* RULE_NONE: nobody speaks */
	struct rule_settings settings;
	struct eviction_history eviction_history;
	struct judge_scratch scratch;
	struct framework *framework;
	struct arena *arena;
	struct cede_cycle cycle;
	struct judge j;
	pod_id waiting, victim;
};

static bool has_kai_queues(const struct sample *x)
{
	return profile_get(x->profile)->has_only_kai_queues;
}

static bool is_own_leaf(const struct sample *x)
{
	return x->action == ACTION_PREEMPT || x->action == ACTION_DISPLACE;
}

static const char *if_rule(const struct sample *x, enum rule_id rule, const char *words)
{
	return x->rule == rule ? words : "";
}

static void put_queues(struct sample *x)
{
	char own[96], other[96];

	if (has_kai_queues(x)) {
		for (int i = 0; i < 2; i++)
			text_printf(&x->s.objects,
				    "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %c}\nspec: "
				    "{resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: "
				    "{quota: -1, limit: -1}}}\n",
				    'a' + i);
		return;
	}
	snprintf(own, sizeof(own), "%s %s %s %s", x->rule == RULE_GUARANTEE ? "" : "guaranteed 4",
		 x->rule == RULE_DELAY ? "delay 1h" : "delay 1s", if_rule(x, RULE_FENCE, "fence"),
		 is_own_leaf(x) ? if_rule(x, RULE_POLICY, "disabled") : "");
	snprintf(other, sizeof(other), "delay 1s %s", if_rule(x, RULE_POLICY, "disabled"));
	if (x->rule == RULE_KAI_QUOTA)
		text_add(&x->s.objects,
			 "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: "
			 "{resources: {cpu: {quota: 0, limit: -1}}}\n");
	story_queue(&x->s, "root.a", own);
	story_queue(&x->s, "root.b", other);
}

/* All the time, so that it does not matter when the test runs. */
static void put_namespace(struct sample *x)
{
	if (x->rule == RULE_MAINTENANCE_WINDOW)
		text_add(&x->s.objects, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: d, annotations: "
					"{cede.dev/protected-hours: \"Mon-Sun 00:00-24:00 Z\"}}\n");
}

/* The group's stamp is the only start that profile kai goes by. */
static void put_group(struct sample *x)
{
	text_printf(&x->s.objects,
		    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: d, "
		    "annotations: {kai.scheduler/last-start-timestamp: \"%s\"}}\nspec: {queue: %s, minMember: 1, "
		    "priorityClassName: %s, preemptibility: %s}\n",
		    x->rule == RULE_MIN_RUNTIME ? "2027-01-15T07:59:00Z" : "2027-01-15T06:00:00Z",
		    is_own_leaf(x) ? "a" : "b", x->rule == RULE_PRIORITY ? "inference" : "train",
		    x->rule == RULE_PREEMPTIBILITY ? "non-preemptible" : "preemptible");
}

static void put_victim(struct sample *x)
{
	bool is_kai = has_kai_queues(x);

	text_printf(&x->s.objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: v\n  namespace: d\n"
		    "  creationTimestamp: \"2027-01-15T06:00:00Z\"\n"
		    "  labels: {x: y%s%s, applicationId: %s%s%s%s%s}\n  annotations: {x: y%s%s}\n%s"
		    "spec:\n  nodeName: n1\n  priority: %d\n"
		    "  containers: [{name: c, resources: {requests: {" STORY_UNIT ": \"2\"}}}]\n"
		    "status: {phase: Running, startTime: \"%s\"}\n",
		    is_kai ? "" : ", queue: root.",
		    is_kai	     ? ""
		    : is_own_leaf(x) ? "a"
				     : "b",
		    x->rule == RULE_APPLICATION ? "one" : "other", if_rule(x, RULE_DRIVER, ", spark-role: driver"),
		    if_rule(x, RULE_BUDGET, ", budget: none"), if_rule(x, RULE_PLUGIN, ", plugin: keep"),
		    if_rule(x, RULE_PREEMPTIBILITY, ", kai.scheduler/preemptibility: non-preemptible"),
		    if_rule(x, RULE_OPT_OUT, ", yunikorn.apache.org/allow-preemption: \"false\""),
		    is_kai ? ", pod-group-name: g" : "",
		    if_rule(x, RULE_DAEMONSET,
			    "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ds, uid: u, controller: "
			    "true}]\n"),
		    x->rule == RULE_PRIORITY ? 9 : 0,
		    x->rule == RULE_MIN_RUNTIME ? "2027-01-15T07:59:00Z" : "2027-01-15T06:00:00Z");
}

static void put_waiting(struct sample *x)
{
	text_printf(&x->s.objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: w\n  namespace: d\n"
		    "  creationTimestamp: \"2027-01-15T07:59:00Z\"\n  labels: {%s, applicationId: one%s}\n"
		    "spec:\n  priority: %d\n%s  containers: [{name: c, resources: {requests: {cpu: \"1\", " STORY_UNIT
		    ": \"2\"}}}]\n",
		    has_kai_queues(x) ? "kai.scheduler/queue: a" : "queue: root.a",
		    if_rule(x, RULE_KAI_QUOTA, ", kai.scheduler/preemptibility: non-preemptible"),
		    has_kai_queues(x) ? 75 : is_own_leaf(x), if_rule(x, RULE_NEVER, "  preemptionPolicy: Never\n"));
}

/* ---- what the judge is told ---- */

static struct cede_verdict keep_labelled(void *self, const struct cede_cycle *c, cede_pod victim)
{
	(void)self;
	cede_pod_priority(c, cede_cycle_pod(c)); /* of nobody too */
	return cede_pod_label(c, victim, "plugin") ? cede_answer(CEDE_UNSCHEDULABLE, 0, 0) : cede_ok();
}

static const struct cede_plugin keeper = {.abi = CEDE_PLUGIN_ABI, .name = "keeper", .may_evict = keep_labelled};

static void set_up(struct sample *x)
{
	static const char *const others[] = {"another-scheduler"};

	x->settings = (struct rule_settings){
		.profile = x->profile,
		.min_runtime = {.preempt_ns = 600 * NS_PER_S, .reclaim_ns = 600 * NS_PER_S},
		.thrash = {.soft = 2, .hard = 4, .window_ns = 3600 * NS_PER_S, .protection_ns = 600 * NS_PER_S},
		.eviction_history = &x->eviction_history};
	if (x->rule == RULE_FOREIGN) {
		x->settings.n_scheduler_names = COUNT(others);
		x->settings.scheduler_names = others;
	}
	x->settings.evictions_per_hour = x->rule == RULE_EVICTION_RATE;
	eviction_history_init(&x->eviction_history, vocab_names(x->s.vocab));
	for (int i = 0; i < 2 && (x->rule == RULE_THRASH || x->rule == RULE_EVICTION_RATE); i++)
		eviction_history_add(&x->eviction_history, STORY_NOW_NS - (60 - i) * NS_PER_S,
				     x->rule == RULE_THRASH ? "d/v" : "d/u", is_own_leaf(x) ? "root.a" : "root.b");
}

static void ask_plugin(struct sample *x)
{
	const struct framework_plugin extra = {.table = &keeper};
	bool has_waiting = x->action != ACTION_QUOTA && x->action != ACTION_STALE_GANG;
	struct err e;

	x->framework = framework_new(x->s.cluster, &x->s.settings->kube_profiles[0], &extra, 1, &e);
	assert_non_null(x->framework);
	x->arena = arena_new(4096);
	cycle_begin_aside(&x->cycle, x->framework, x->arena, has_waiting ? x->waiting : POD_NONE, STORY_NOW_NS);
	judge_ask_plugins(&x->j, &x->cycle);
}

static pod_id pod_called(const struct sample *x, const char *name)
{
	const struct ledger *l = cluster_ledger(x->s.cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (str_eq(story_name(&x->s, i), name))
			return i;
	fail_msg("no pod %s", name);
	return POD_NONE;
}

/* As if it had got its place in this cycle. */
static void place_again(struct ledger *l, pod_id pod)
{
	node_id node = ledger_pod(l, pod)->node;
	int64_t start = ledger_pod(l, pod)->started_ns;

	ledger_begin_cycle(l);
	ledger_vacate(l, pod);
	ledger_place(l, pod, node);
	ledger_set_started(l, pod, start);
}

static void sample_begin(struct sample *x, enum profile profile, enum action action, enum rule_id rule)
{
	bool has_waiting = action != ACTION_QUOTA && action != ACTION_STALE_GANG;
	const struct ledger *l;

	*x = (struct sample){.profile = profile, .action = action, .rule = rule};
	story_begin(&x->s);
	x->s.profile = profile;
	put_queues(x);
	put_namespace(x);
	story_node(&x->s, "n1", 2);
	story_budget(&x->s, "none", 0);
	if (has_kai_queues(x))
		put_group(x);
	put_victim(x);
	put_waiting(x);
	story_load(&x->s);
	x->s.plan.arena = arena_new(64);
	x->waiting = pod_called(x, "w");
	x->victim = pod_called(x, "v");
	set_up(x);
	if (rule == RULE_SAME_CYCLE)
		place_again(cluster_ledger(x->s.cluster), x->victim);
	l = cluster_ledger(x->s.cluster);
	judge_init(&x->j, x->s.cluster, l, &x->settings, action, has_waiting ? x->waiting : POD_NONE, STORY_NOW_NS,
		   &x->scratch);
	judge_look_at(&x->j, UINT64_C(1) << res_types_find(vocab_res(x->s.vocab), STORY_UNIT, strlen(STORY_UNIT)));
	ask_plugin(x);
}

static void sample_end(struct sample *x)
{
	cycle_end_aside(&x->cycle);
	framework_free(x->framework);
	arena_free(x->arena);
	eviction_history_free(&x->eviction_history);
	judge_scratch_free(&x->scratch);
	story_end(&x->s);
}

/* ---- the table ---- */

static bool is_of_preemptor(enum rule_id rule)
{
	return rule == RULE_NEVER || rule == RULE_DELAY || rule == RULE_KAI_QUOTA;
}

/* Judged over all that go, in the search (displace: budgets; scenarios: shares), which has tests of its own. */
static bool is_of_sets(enum profile p, enum rule_id rule)
{
	return rule == RULE_FAIR_SHARE || (rule == RULE_BUDGET && profile_get(p)->soft >> RULE_BUDGET & 1);
}

static bool is_asked(enum profile p, enum action a, enum rule_id r)
{
	return profile_has_action(p, a) && profile_has_rule(p, r) && rule_actions(r) >> a & 1 &&
	       !(profile_get(p)->unasked[a] >> r & 1) && !is_of_sets(p, r);
}

static void check(enum profile p, enum action a, enum rule_id rule, enum rule_id expected)
{
	struct sample x;
	struct rule_verdict says;

	sample_begin(&x, p, a, rule);
	says = is_of_preemptor(rule) ? judge_preemptor(&x.j) : judge_victim(&x.j, x.victim);
	if (says.rule != expected)
		fail_msg("profile %s, %s: where %s should %s, %s speaks", profile_text(p), action_text(a),
			 rule == RULE_NONE ? "nobody" : rule_text(rule), expected ? "speak" : "be silent",
			 says.rule ? rule_verdict_name(&says) : "nobody");
	if (expected != RULE_NONE && !is_of_preemptor(rule))
		assert_int_equal(says.answer, profile_get(p)->soft >> rule & 1 ? IS_SPARED : IS_PROTECTED);
	sample_end(&x);
}

/* What takes running pods away. */
static bool takes(enum action a)
{
	return BY_ANY >> a & 1;
}

static void ONE_1_every_rule_speaks_in_every_action_of_its_profiles(void **state)
{
	(void)state;
	for (enum profile p = 0; p < PROFILE_COUNT; p++)
		for (enum action a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
			for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++)
				if (is_asked(p, a, r))
					check(p, a, r, r);
}

static void ONE_1_and_in_no_other(void **state)
{
	(void)state;
	for (enum profile p = 0; p < PROFILE_COUNT; p++)
		for (enum action a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
			for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++)
				if (takes(a) && profile_has_action(p, a) && !is_asked(p, a, r))
					check(p, a, r, RULE_NONE);
}

static void where_nothing_is_amiss_the_victim_may_go(void **state)
{
	(void)state;
	for (enum profile p = 0; p < PROFILE_COUNT; p++)
		for (enum action a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
			if (takes(a) && profile_has_action(p, a))
				check(p, a, RULE_NONE, RULE_NONE);
}

static void a_rule_that_is_left_out_is_silent(void **state)
{
	(void)state;
	for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++) {
		struct sample x;

		if (!is_asked(PROFILE_DEFAULT, ACTION_RECLAIM, r) || is_of_preemptor(r))
			continue;
		sample_begin(&x, PROFILE_DEFAULT, ACTION_RECLAIM, r);
		x.settings.rules_off = UINT64_C(1) << r;
		judge_init(&x.j, x.s.cluster, cluster_ledger(x.s.cluster), &x.settings, ACTION_RECLAIM, x.waiting,
			   STORY_NOW_NS, &x.scratch);
		judge_look_at(&x.j, UINT64_C(1)
					    << res_types_find(vocab_res(x.s.vocab), STORY_UNIT, strlen(STORY_UNIT)));
		judge_ask_plugins(&x.j, &x.cycle);
		if (judge_victim(&x.j, x.victim).rule != RULE_NONE)
			fail_msg("%s speaks though it is left out", rule_text(r));
		sample_end(&x);
	}
}

/* ---- hours ---- */

/* The story is told on a Friday at 08:00 UTC. */
static void protected_hours_are_those_of_the_queue_or_the_namespace(void **state)
{
	static const struct {
		const char *sentence, *queue, *parent, *ns, *text;
	} rows[] = {
		{"the queue's", "Mon-Fri 09:00-17:00 +01:00", "none", "none",
		 "protected until 16:00:00 by root.p.v: Mon-Fri 09:00-17:00 +01:00"},
		{"before they begin", "Mon-Fri 09:01-17:00 +01:00", "none", "none", ""},
		{"on another day", "Sat-Sun 00:00-24:00 Z", "none", "none", ""},
		{"those of the queue above", NULL, "Fri 00:00-24:00 Z", "none",
		 "protected until 2027-01-16T00:00:00Z by root.p.v: Fri 00:00-24:00 Z"},
		{"unless it says none", "none", "Fri 00:00-24:00 Z", "none", ""},
		{"the namespace's", NULL, "none", "Mon-Sun 00:00-24:00 Z",
		 "protected at all times by its namespace d: Mon-Sun 00:00-24:00 Z"},
		{"a bad value protects nobody", "Mon-Fri 9-17", "none", "whenever", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rule_settings settings = {.profile = PROFILE_DEFAULT};
		struct judge_scratch scratch = {0};
		struct rule_verdict says;
		struct text got = {0};
		struct story s;
		struct judge j;

		story_begin(&s);
		text_printf(&s.objects,
			    "partitions:\n- name: default\n  queues: [{name: root, queues: [{name: p, properties: "
			    "{cede.dev/protected-hours: \"%s\"}, queues: [{name: v%s%s%s}]}]}]\n",
			    rows[i].parent, rows[i].queue ? ", properties: {cede.dev/protected-hours: \"" : "",
			    rows[i].queue ? rows[i].queue : "", rows[i].queue ? "\"}" : "");
		text_printf(&s.objects,
			    "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: d, annotations: "
			    "{cede.dev/protected-hours: \"%s\"}}\n",
			    rows[i].ns);
		story_node(&s, "n1", 2);
		story_pod(&s, "v", "root.p.v", 1, "n1", "");
		story_load(&s);
		s.plan.arena = arena_new(64);
		judge_init(&j, s.cluster, cluster_ledger(s.cluster), &settings, ACTION_QUOTA, POD_NONE, STORY_NOW_NS,
			   &scratch);
		says = judge_victim(&j, 0);
		rule_verdict_text(s.cluster, &says, &got);
		if (!str_eq(text_str(&got), rows[i].text))
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].sentence, text_str(&got), rows[i].text);
		text_free(&got);
		judge_scratch_free(&scratch);
		story_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ONE_1_every_rule_speaks_in_every_action_of_its_profiles),
		cmocka_unit_test(ONE_1_and_in_no_other),
		cmocka_unit_test(where_nothing_is_amiss_the_victim_may_go),
		cmocka_unit_test(a_rule_that_is_left_out_is_silent),
		cmocka_unit_test(protected_hours_are_those_of_the_queue_or_the_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
