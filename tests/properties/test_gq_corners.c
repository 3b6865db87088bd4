/* SPDX-License-Identifier: Apache-2.0 */
/* The corners of the laws between queues: where one word more or less in a rule would change the answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { QUEUES_MAX = 6, PODS_MAX = 7 };

struct row {
	const char *sentence, *config;
	struct {
		const char *path, *props;
	} queues[QUEUES_MAX];
	struct {
		const char *name, *queue;
		int units;
		const char *node, *words; /* node NULL: it waits */
	} pods[PODS_MAX];
	const char *line; /* what is decided */
	const char *rule; /* that protects the first pod; NULL: nobody asks */
	uint32_t cycles;  /* 0: one */
};

static const char *rule_of(const struct story *s, const char *name)
{
	for (uint32_t i = 0; i < s->plan.v.n; i++)
		for (uint32_t k = 0; k < s->plan.v.v[i].n_protected; k++)
			if (str_eq(story_name(s, s->plan.v.v[i].protected[k].pod), name))
				return rule_text((enum rule_id)s->plan.v.v[i].protected[k].verdict.rule);
	return "nobody";
}

/* Every node has four units. */
static void add_nodes(struct story *s, const struct row *r)
{
	char seen[4] = {0};

	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++) {
		int n = r->pods[i].node ? r->pods[i].node[1] - '0' : 1;

		if (!seen[n])
			story_node(s, r->pods[i].node ? r->pods[i].node : "n1", 4);
		seen[n] = 1;
	}
}

static void run_row(const struct row *r, const char *more)
{
	struct text got = {0};
	struct story s;

	story_begin(&s);
	s.config = r->config;
	s.cycles = r->cycles ? r->cycles : 1;
	for (int i = 0; i < QUEUES_MAX && r->queues[i].path; i++)
		story_queue(&s, r->queues[i].path, r->queues[i].props);
	add_nodes(&s, r);
	text_add(&s.objects, more);
	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++)
		story_pod(&s, r->pods[i].name, r->pods[i].queue, r->pods[i].units, r->pods[i].node, r->pods[i].words);
	story_plan(&s);
	story_line(&s, &got);
	if (!str_eq(text_str(&got), r->line) || (r->rule && !str_eq(rule_of(&s, r->pods[0].name), r->rule)))
		print_error("%s\n", r->sentence);
	assert_string_equal(text_str(&got), r->line);
	if (r->rule)
		assert_string_equal(rule_of(&s, r->pods[0].name), r->rule);
	text_free(&got);
	story_end(&s);
}

static void run_rows(const struct row *rows, size_t n, const char *more)
{
	for (size_t i = 0; i < n; i++)
		run_row(&rows[i], more);
}

static void GQ_1_hard_opt_outs_yield_to_daemonset_work_alone(void **state)
{
	static const struct row rows[] = {
		{.sentence = "a DaemonSet's pod breaks a hard opt-out where nothing else works",
		 .config = "rules: {opt-out: {mode: hard}}",
		 .queues = {{"root.prod", NULL}, {"root.test", NULL}},
		 .pods = {{"asleep", "root.test", 4, "n1", "opted-out"}, {"ds", "root.prod", 2, NULL, "daemon n1"}},
		 .line = "ds required-node n1 [asleep]"},
		{.sentence = "as the last resort all the same",
		 .config = "rules: {opt-out: {mode: hard}}",
		 .queues = {{"root.prod", NULL}, {"root.test", NULL}},
		 .pods = {{"asleep", "root.test", 2, "n1", "opted-out age 1"},
			  {"awake", "root.test", 2, "n1", "age 99999"},
			  {"ds", "root.prod", 2, NULL, "daemon n1"}},
		 .line = "ds required-node n1 [awake]"},
		{.sentence = "entitled work that must run there, but is of no DaemonSet, does not",
		 .config = "rules: {opt-out: {mode: hard}}",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"asleep", "root.test", 4, "n1", "opted-out"}, {"want", "root.prod", 2, NULL, "pinned n1"}},
		 .line = "want waiting",
		 .rule = "opt-out"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

static void GQ_3_an_application_is_one_id_in_one_namespace(void **state)
{
	static const struct row rows[] = {
		{.sentence = "the same id in the same namespace is the own application",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"sister", "root.test", 4, "n1", "app spark"}, {"want", "root.prod", 2, NULL, "app spark"}},
		 .line = "want waiting",
		 .rule = "application"},
		{.sentence = "in another namespace it is somebody else's",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"other", "root.test", 4, "n1", "app spark inside e"},
			  {"want", "root.prod", 2, NULL, "app spark"}},
		 .line = "want reclaim n1 [other]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

static void GQ_12_drivers_are_of_one_id_in_one_namespace(void **state)
{
	static const struct row rows[] = {
		{.sentence = "the oldest of two is the driver and stays, though it would lose less",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"first", "root.test", 1, "n1", "app x age 500"},
			  {"second", "root.test", 3, "n1", "app x age 400"},
			  {"want", "root.prod", 1, NULL, NULL}},
		 .line = "want reclaim n1 [second]"},
		{.sentence = "one here and one there are two applications without a driver",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"first", "root.test", 1, "n1", "app x age 500"},
			  {"second", "root.test", 3, "n1", "app x age 400 inside e"},
			  {"want", "root.prod", 1, NULL, NULL}},
		 .line = "want reclaim n1 [first]"},
		{.sentence = "a pod alone drives nobody",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"alone", "root.test", 2, "n1", "app x age 400"},
			  {"plain", "root.test", 2, "n1", "age 500"},
			  {"want", "root.prod", 1, NULL, NULL}},
		 .line = "want reclaim n1 [alone]"},
		{.sentence = "made in the same second the first by name is the driver",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"a", "root.test", 1, "n1", "app x age 500"},
			  {"b", "root.test", 3, "n1", "app x age 500"},
			  {"want", "root.prod", 1, NULL, NULL}},
		 .line = "want reclaim n1 [b]"},
		{.sentence = "who is labelled is the driver, and then the oldest is not",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"old", "root.test", 1, "n1", "app x age 500"},
			  {"head", "root.test", 1, "n1", "app x driver age 400"},
			  {"hand", "root.test", 2, "n1", "app x age 450"},
			  {"want", "root.prod", 1, NULL, NULL}},
		 .line = "want reclaim n1 [old]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

static void GQ_6_offsets_add_up_and_a_priority_fence_ends_them(void **state)
{
	static const struct row rows[] = {
		{.sentence = "offsets of a queue and those above it add up: 0+4+3 takes 7",
		 .queues = {{"root.p", "offset 3"}, {"root.p.q", "offset 4 guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", "priority 7"}, {"want", "root.p.q", 2, NULL, NULL}},
		 .line = "want reclaim n1 [t]"},
		{.sentence = "and not 8",
		 .queues = {{"root.p", "offset 3"}, {"root.p.q", "offset 4 guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", "priority 8"}, {"want", "root.p.q", 2, NULL, NULL}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "the victim's side adds up too: 0+4+3 is above 6",
		 .queues = {{"root.test", "offset 3"}, {"root.test.q", "offset 4"}, {"root.p", "guaranteed 4"}},
		 .pods = {{"t", "root.test.q", 4, "n1", NULL}, {"want", "root.p", 2, NULL, "priority 6"}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "and not above 7",
		 .queues = {{"root.test", "offset 3"}, {"root.test.q", "offset 4"}, {"root.p", "guaranteed 4"}},
		 .pods = {{"t", "root.test.q", 4, "n1", NULL}, {"want", "root.p", 2, NULL, "priority 7"}},
		 .line = "want reclaim n1 [t]"},
		{.sentence = "what a fence above covers is not seen: the fence's own offset is all",
		 .queues = {{"root.test", "priority-fence offset 3"},
			    {"root.test.q", "offset 100"},
			    {"root.p", "guaranteed 4"}},
		 .pods = {{"t", "root.test.q", 4, "n1", "priority 1000"}, {"want", "root.p", 2, NULL, "priority 3"}},
		 .line = "want reclaim n1 [t]"},
		{.sentence = "and it counts",
		 .queues = {{"root.test", "priority-fence offset 3"},
			    {"root.test.q", "offset 100"},
			    {"root.p", "guaranteed 4"}},
		 .pods = {{"t", "root.test.q", 4, "n1", "priority 1000"}, {"want", "root.p", 2, NULL, "priority 2"}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "above a fence offsets add up again: 3+10 is not below 12",
		 .queues = {{"root.test", "offset 10"},
			    {"root.test.q", "priority-fence offset 3"},
			    {"root.p", "guaranteed 4"}},
		 .pods = {{"t", "root.test.q", 4, "n1", "priority 1000"}, {"want", "root.p", 2, NULL, "priority 12"}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "3+10 is 13",
		 .queues = {{"root.test", "offset 10"},
			    {"root.test.q", "priority-fence offset 3"},
			    {"root.p", "guaranteed 4"}},
		 .pods = {{"t", "root.test.q", 4, "n1", "priority 1000"}, {"want", "root.p", 2, NULL, "priority 13"}},
		 .line = "want reclaim n1 [t]"},
		{.sentence = "a fence on the waiting side hides the pod's own priority",
		 .queues = {{"root.p", "priority-fence offset 3"}, {"root.p.q", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", "priority 4"}, {"want", "root.p.q", 2, NULL, "priority 1000"}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "also where the fence is not the last queue on the way up: 3+10 takes no 14",
		 .queues = {{"root.p", "offset 10"},
			    {"root.p.q", "priority-fence offset 3 guaranteed 4"},
			    {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", "priority 14"}, {"want", "root.p.q", 2, NULL, "priority 1000"}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "what both share shifts neither, and inside a fence priorities are compared",
		 .queues = {{"root.t", "priority-fence offset 50"}, {"root.t.p", "guaranteed 4"}, {"root.t.v", NULL}},
		 .pods = {{"t", "root.t.v", 4, "n1", "priority 2"}, {"want", "root.t.p", 2, NULL, "priority 1"}},
		 .line = "want waiting",
		 .rule = "priority"},
		{.sentence = "equal inside the fence",
		 .queues = {{"root.t", "priority-fence offset 50"}, {"root.t.p", "guaranteed 4"}, {"root.t.v", NULL}},
		 .pods = {{"t", "root.t.v", 4, "n1", "priority 1"}, {"want", "root.t.p", 2, NULL, "priority 1"}},
		 .line = "want reclaim n1 [t]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

static void GQ_7_disabled_protects_inside_the_own_leaf_too(void **state)
{
	static const struct row rows[] = {
		{.sentence = "in its own leaf a higher priority takes room",
		 .queues = {{"root.q", NULL}},
		 .pods = {{"low", "root.q", 4, "n1", NULL}, {"want", "root.q", 2, NULL, "priority 5"}},
		 .line = "want preempt n1 [low]"},
		{.sentence = "not where preemption is disabled",
		 .queues = {{"root.q", "disabled"}},
		 .pods = {{"low", "root.q", 4, "n1", NULL}, {"want", "root.q", 2, NULL, "priority 5"}},
		 .line = "want waiting",
		 .rule = "policy"},
		{.sentence = "nor where the queue above says so",
		 .queues = {{"root.t", "disabled"}, {"root.t.q", NULL}},
		 .pods = {{"low", "root.t.q", 4, "n1", NULL}, {"want", "root.t.q", 2, NULL, "priority 5"}},
		 .line = "want waiting",
		 .rule = "policy"},
		{.sentence = "work that must run on the node takes room all the same",
		 .queues = {{"root.q", "disabled"}},
		 .pods = {{"low", "root.q", 4, "n1", NULL}, {"ds", "root.q", 2, NULL, "daemon n1"}},
		 .line = "ds required-node n1 [low]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

static void GQ_11_what_the_pod_says_goes_before_its_class(void **state)
{
	static const char *const classes =
		"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: asleep, annotations: "
		"{yunikorn.apache.org/allow-preemption: \"false\"}}\nvalue: 0\n"
		"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: awake, annotations: "
		"{yunikorn.apache.org/allow-preemption: \"true\"}}\nvalue: 0\n";
	static const struct row rows[] = {
		{.sentence = "the class says false and the pod nothing",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"a", "root.test", 2, "n1", "class asleep age 1"},
			  {"b", "root.test", 2, "n1", "age 9999"},
			  {"want", "root.prod", 2, NULL, NULL}},
		 .line = "want reclaim n1 [b]"},
		{.sentence = "the class says false and the pod true",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"a", "root.test", 2, "n1", "class asleep opted-in age 1"},
			  {"b", "root.test", 2, "n1", "age 9999"},
			  {"want", "root.prod", 2, NULL, NULL}},
		 .line = "want reclaim n1 [a]"},
		{.sentence = "the class says true and the pod false",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"a", "root.test", 2, "n1", "class awake opted-out age 1"},
			  {"b", "root.test", 2, "n1", "age 9999"},
			  {"want", "root.prod", 2, NULL, NULL}},
		 .line = "want reclaim n1 [b]"},
		{.sentence = "the class says true and the pod nothing",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"a", "root.test", 2, "n1", "class awake age 1"},
			  {"b", "root.test", 2, "n1", "age 9999"},
			  {"want", "root.prod", 2, NULL, NULL}},
		 .line = "want reclaim n1 [a]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), classes);
}

static void GQ_13_is_for_daemonset_pods_that_must_run_on_one_node(void **state)
{
	static const struct row rows[] = {
		{.sentence = "a pinned pod that is of no DaemonSet is like any other: nothing is guaranteed to it",
		 .queues = {{"root.prod", NULL}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", NULL}, {"want", "root.prod", 2, NULL, "pinned n1"}},
		 .line = "want waiting",
		 .rule = "guarantee"},
		{.sentence = "with a guarantee it reclaims, on its node",
		 .queues = {{"root.prod", "guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n2", NULL},
			  {"u", "root.test", 4, "n1", "age 1"},
			  {"want", "root.prod", 2, NULL, "pinned n2"}},
		 .line = "want reclaim n2 [t]"},
		{.sentence = "a DaemonSet's pod that is pinned nowhere is like any other",
		 .queues = {{"root.prod", NULL}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", NULL}, {"ds", "root.prod", 2, NULL, "of-daemonset"}},
		 .line = "ds waiting",
		 .rule = "guarantee"},
		{.sentence = "and has a delay",
		 .queues = {{"root.prod", "guaranteed 4 delay 1h"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", NULL}, {"ds", "root.prod", 2, NULL, "of-daemonset age 60"}},
		 .line = "ds waiting (delay)"},
		{.sentence = "fences do not hold a pinned one",
		 .queues = {{"root.prod", "fence"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", NULL}, {"ds", "root.prod", 2, NULL, "daemon n1"}},
		 .line = "ds required-node n1 [t]"},
		{.sentence = "they hold one that is pinned nowhere",
		 .queues = {{"root.prod", "fence guaranteed 4"}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", NULL}, {"ds", "root.prod", 2, NULL, "of-daemonset"}},
		 .line = "ds waiting",
		 .rule = "fence"},
		{.sentence = "nobody goes on another node",
		 .queues = {{"root.prod", NULL}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", NULL},
			  {"other", "root.test", 4, "n2", "age 1"},
			  {"ds", "root.prod", 2, NULL, "daemon n1"}},
		 .line = "ds required-node n1 [t]"},
		{.sentence = "its own application is spared",
		 .queues = {{"root.prod", NULL}, {"root.test", NULL}},
		 .pods = {{"t", "root.test", 4, "n1", "app x"}, {"ds", "root.prod", 2, NULL, "daemon n1 app x"}},
		 .line = "ds waiting",
		 .rule = "application"},
		{.sentence = "equal priority gives way, in the own queue too",
		 .queues = {{"root.prod", NULL}},
		 .pods = {{"t", "root.prod", 4, "n1", "priority 3"},
			  {"ds", "root.prod", 2, NULL, "daemon n1 priority 3"}},
		 .line = "ds required-node n1 [t]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

static void GQ_16_too_many_promises_come_to_rest_over_cycles_and_below_maximums(void **state)
{
	static const struct row rows[] = {
		{.sentence = "over three cycles both stay below their guarantee, and nobody goes",
		 .queues = {{"root.a", "guaranteed 4"}, {"root.b", "guaranteed 4"}},
		 .pods = {{"b0", "root.b", 2, "n1", NULL},
			  {"a0", "root.a", 2, "n1", NULL},
			  {"a1", "root.a", 2, NULL, NULL},
			  {"b1", "root.b", 2, NULL, NULL}},
		 .line = "a1 waiting; b1 waiting; a1 waiting; b1 waiting; a1 waiting; b1 waiting",
		 .rule = "guarantee",
		 .cycles = 3},
		{.sentence = "who has more than its share gives it up once, and there it ends",
		 .queues = {{"root.a", "guaranteed 4"}, {"root.b", "guaranteed 2"}},
		 .pods = {{"b0", "root.b", 2, "n1", "age 30"},
			  {"b1", "root.b", 2, "n1", "age 20"},
			  {"a0", "root.a", 2, NULL, NULL},
			  {"a1", "root.a", 2, NULL, "age 60"}},
		 .line = "a0 reclaim n1 [b1]; a1 waiting; a0 placed n1; a1 waiting; a1 waiting",
		 .cycles = 3},
		{.sentence = "a parent's maximum keeps two children from their guarantees: nobody goes for it",
		 .queues = {{"root.t", "max 3"}, {"root.t.a", "guaranteed 2"}, {"root.t.b", "guaranteed 1"}},
		 .pods = {{"b0", "root.t.b", 1, "n1", NULL},
			  {"a0", "root.t.a", 1, "n1", NULL},
			  {"a1", "root.t.a", 2, NULL, NULL}},
		 .line = "a1 waiting; a1 waiting",
		 .rule = "guarantee",
		 .cycles = 2},
		{.sentence = "the own maximum is below what the pod asks: no eviction can help",
		 .queues = {{"root.a", "guaranteed 2 max 2"}, {"root.b", NULL}},
		 .pods = {{"b0", "root.b", 4, "n1", NULL}, {"a0", "root.a", 3, NULL, NULL}},
		 .line = "a0 waiting; a0 waiting",
		 .cycles = 2},
		{.sentence = "where the parent is full somebody of the parent goes, and nobody else",
		 .queues = {{"root.t", "max 4"}, {"root.t.a", "guaranteed 2"}, {"root.t.b", NULL}, {"root.c", NULL}},
		 .pods = {{"b0", "root.t.b", 4, "n1", NULL},
			  {"c0", "root.c", 4, "n2", "age 1"},
			  {"a0", "root.t.a", 2, NULL, NULL}},
		 .line = "a0 reclaim n1 [b0]; a0 placed n1",
		 .cycles = 2},
	};

	(void)state;
	run_rows(rows, COUNT(rows), "");
}

/* ---- several types ---- */

#define A "example.com/a"
#define B "example.com/b"

struct typed_pod {
	const char *name, *queue, *node;
	int a, b;
};

struct typed_row {
	const char *sentence, *queues;
	struct {
		int a, b;
	} nodes[2];
	struct typed_pod pods[5];
	const char *line, *rule; /* of the first pod */
};

static void run_typed(const struct typed_row *r)
{
	struct text got = {0};
	struct story s;

	story_begin(&s);
	text_printf(&s.objects, "partitions:\n- name: default\n  queues: [{name: root, queues: [%s]}]\n", r->queues);
	for (int i = 0; i < 2; i++)
		text_printf(&s.objects,
			    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d}\nstatus: {allocatable: {pods: "
			    "\"9\", " A ": \"%d\", " B ": \"%d\"}}\n",
			    i + 1, r->nodes[i].a, r->nodes[i].b);
	for (size_t i = 0; i < COUNT(r->pods) && r->pods[i].name; i++) {
		const struct typed_pod *p = &r->pods[i];

		text_printf(&s.objects,
			    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: d, labels: {queue: %s}, "
			    "creationTimestamp: \"2027-01-15T07:00:00Z\"}\nspec: {priority: 0, containers: [{name: c, "
			    "resources: {requests: {" A ": \"%d\", " B ": \"%d\"}}}]%s%s}\n",
			    p->name, p->queue, p->a, p->b, p->node ? ", nodeName: " : "", p->node ? p->node : "");
		if (p->node)
			text_add(&s.objects, "status: {phase: Running, startTime: \"2027-01-15T07:00:00Z\"}\n");
	}
	story_plan(&s);
	story_line(&s, &got);
	if (!str_eq(text_str(&got), r->line))
		print_error("%s\n", r->sentence);
	assert_string_equal(text_str(&got), r->line);
	if (r->rule)
		assert_string_equal(rule_of(&s, r->pods[0].name), r->rule);
	text_free(&got);
	story_end(&s);
}

/* What a queue says to one node must not be taken for what it says to the next, which is short of something else. */
static void GQ_5_two_nodes_short_of_different_types_are_judged_each_for_itself(void **state)
{
	static const char *const queues = "{name: p, resources: {guaranteed: {" A ": 4, " B
					  ": 4}}}, {name: v, resources: {guaranteed: {" A ": 2}}}";
	static const struct typed_row rows[] = {
		{"n1 is short of a, which its queue has exactly; n2 is short of b, which nobody guarantees",
		 NULL,
		 {{2, 4}, {4, 2}},
		 {{"kept", "root.v", "n1", 2, 0}, {"goes", "root.v", "n2", 0, 2}, {"want", "root.p", NULL, 2, 2}},
		 "want reclaim n2 [goes]",
		 "guarantee"},
		{"the other way round",
		 NULL,
		 {{4, 2}, {2, 4}},
		 {{"kept", "root.v", "n2", 2, 0}, {"goes", "root.v", "n1", 0, 2}, {"want", "root.p", NULL, 2, 2}},
		 "want reclaim n1 [goes]",
		 "guarantee"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct typed_row r = rows[i];

		r.queues = queues;
		run_typed(&r);
	}
}

/* Law 2 would let it go, for it holds nothing of what its queue has exactly. */
static void GQ_5_exactly_at_the_guarantee_is_not_above_it(void **state)
{
	static const struct typed_row rows[] = {
		{"the node is short of both; its queue has exactly what b it is guaranteed",
		 "{name: p, resources: {guaranteed: {" A ": 4, " B ": 4}}}, {name: v, resources: {guaranteed: {" B
		 ": 1}}}, {name: w}",
		 {{4, 4}},
		 {{"at", "root.v", "n1", 2, 0},
		  {"rest", "root.v", "n1", 0, 1},
		  {"other", "root.w", "n1", 2, 3},
		  {"want", "root.p", NULL, 4, 3}},
		 "want waiting",
		 "guarantee"},
		{"one more, and it may go",
		 "{name: p, resources: {guaranteed: {" A ": 4, " B ": 4}}}, {name: v, resources: {guaranteed: {" B
		 ": 1}}}, {name: w}",
		 {{4, 5}},
		 {{"above", "root.v", "n1", 2, 0},
		  {"rest", "root.v", "n1", 0, 2},
		  {"other", "root.w", "n1", 2, 3},
		  {"want", "root.p", NULL, 4, 3}},
		 "want reclaim n1 [other above]",
		 NULL},
		{"as much as it is guaranteed can be taken, and no more",
		 "{name: p, resources: {guaranteed: {" A ": 4}}}, {name: v, resources: {guaranteed: {" A ": 2}}}",
		 {{4, 0}},
		 {{"x", "root.v", "n1", 2, 0}, {"y", "root.v", "n1", 2, 0}, {"want", "root.p", NULL, 2, 0}},
		 "want reclaim n1 [y]",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		run_typed(&rows[i]);
}

/* Between two nodes whose victims cost the same otherwise. */
static void GQ_9_between_nodes_no_queue_below_its_guarantee_in_other_types(void **state)
{
	static const struct typed_row row = {
		"n1 has the better name, but its pod holds b that its queue is guaranteed",
		"{name: p, resources: {guaranteed: {" A ": 4}}}, {name: v, resources: {guaranteed: {" B
		": 1}}}, {name: w}",
		{{2, 1}, {2, 1}},
		{{"dear", "root.v", "n1", 2, 1}, {"cheap", "root.w", "n2", 2, 1}, {"want", "root.p", NULL, 2, 0}},
		"want reclaim n2 [cheap]",
		NULL};

	(void)state;
	run_typed(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_1_hard_opt_outs_yield_to_daemonset_work_alone),
		cmocka_unit_test(GQ_3_an_application_is_one_id_in_one_namespace),
		cmocka_unit_test(GQ_12_drivers_are_of_one_id_in_one_namespace),
		cmocka_unit_test(GQ_6_offsets_add_up_and_a_priority_fence_ends_them),
		cmocka_unit_test(GQ_7_disabled_protects_inside_the_own_leaf_too),
		cmocka_unit_test(GQ_11_what_the_pod_says_goes_before_its_class),
		cmocka_unit_test(GQ_13_is_for_daemonset_pods_that_must_run_on_one_node),
		cmocka_unit_test(GQ_16_too_many_promises_come_to_rest_over_cycles_and_below_maximums),
		cmocka_unit_test(GQ_5_two_nodes_short_of_different_types_are_judged_each_for_itself),
		cmocka_unit_test(GQ_5_exactly_at_the_guarantee_is_not_above_it),
		cmocka_unit_test(GQ_9_between_nodes_no_queue_below_its_guarantee_in_other_types),
	};

	return cmocka_run_group_tests_name("gq_corners", tests, NULL, NULL);
}
