/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption between queues where more than one resource type counts, and queues that give back what is above a lowered
 * maximum. Clusters of one node are written in rows: queues as in queues.yaml, then what runs and who waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

enum { PODS_MAX = 8 };

struct pod_row {
	const char *name, *queue;
	int a, b; /* of example.com/a and example.com/b */
	/* "waits", "age 5" (seconds), "opted-out", "daemon", "port", "gang" (of two), "cpu" (one of them) */
	const char *words;
};

struct row {
	const char *sentence;
	const char *queues; /* below the root, in one line */
	int a, b, slots;    /* of the node n1 */
	struct pod_row pods[PODS_MAX];
	const char *line; /* what is decided */
};

static void add_pod(struct story *s, const struct pod_row *p)
{
	const char *age = story_word(p->words, "age ");
	bool waits = story_word(p->words, "waits"), is_daemon = story_word(p->words, "daemon");
	struct text when = {0}, *o = &s->objects;

	timestamp_text(STORY_NOW_NS - (age ? strtoll(age, NULL, 10) : 3600) * NS_PER_S, &when);
	text_printf(o,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: d\n"
		    "  creationTimestamp: \"%s\"\n  labels: {queue: %s}\n",
		    p->name, text_str(&when), p->queue);
	if (story_word(p->words, "opted-out"))
		text_add(o, "  annotations: {yunikorn.apache.org/allow-preemption: \"false\"}\n");
	if (story_word(p->words, "gang"))
		text_add(o, "  annotations: {cede.dev/gang: g, cede.dev/min-member: \"2\"}\n");
	if (is_daemon)
		text_add(o, "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ds, uid: u, controller: "
			    "true}]\n");
	text_printf(o, "spec:\n  priority: 0\n");
	if (is_daemon)
		text_add(o, "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "{nodeSelectorTerms: "
			    "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}\n");
	text_printf(o,
		    "  containers:\n  - name: c\n    ports: [%s]\n"
		    "    resources: {requests: {example.com/a: \"%d\", example.com/b: \"%d\"%s}}\n",
		    story_word(p->words, "port") ? "{containerPort: 80, hostPort: 80}" : "", p->a, p->b,
		    story_word(p->words, "cpu") ? ", cpu: \"1\"" : "");
	if (!waits)
		text_printf(o, "  nodeName: n1\nstatus: {phase: Running, startTime: \"%s\"}\n", text_str(&when));
	text_free(&when);
}

static void run_row_in(const struct row *r, enum profile profile, const char *config)
{
	struct story s;
	struct text got = {0};

	story_begin(&s);
	s.profile = profile;
	s.config = config;
	text_printf(&s.objects,
		    "---\npartitions:\n- name: default\n  preemption: {enabled: true, quotapreemptionenabled: true}\n"
		    "  queues: [{name: root, queues: [%s]}]\n",
		    r->queues);
	text_printf(&s.objects,
		    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"9\", pods: "
		    "\"%d\", "
		    "example.com/a: \"%d\", example.com/b: \"%d\"}}\n",
		    r->slots ? r->slots : 110, r->a, r->b);
	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++)
		add_pod(&s, &r->pods[i]);
	story_plan(&s);
	story_line(&s, &got);
	if (!str_eq(text_str(&got), r->line))
		print_error("%s\n", r->sentence);
	assert_string_equal(text_str(&got), r->line);
	text_free(&got);
	story_end(&s);
}

static void run_row(const struct row *r)
{
	run_row_in(r, PROFILE_YUNIKORN, NULL);
}

#define A "example.com/a"
#define B "example.com/b"
#define QUOTA "properties: {quota.preemption.delay: 1s}"

static void GQ_9_no_queue_falls_below_its_guarantee_in_other_types_if_that_can_be(void **state)
{
	static const struct row rows[] = {
		{"the older pod goes, because the younger one holds what its queue is guaranteed",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {" B ": 1}}}",
		 4,
		 4,
		 0,
		 {{"old", "root.v", 2, 0, "age 900"},
		  {"young", "root.v", 2, 1, "age 5"},
		  {"want", "root.p", 2, 0, "waits"}},
		 "want reclaim n1 [old]"},
		{"of processors too",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {vcore: 1}}}",
		 4,
		 4,
		 0,
		 {{"old", "root.v", 2, 0, "age 900"},
		  {"young", "root.v", 2, 0, "cpu age 5"},
		  {"want", "root.p", 2, 0, "waits"}},
		 "want reclaim n1 [old]"},
		{"also where only two together would be too much",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {" B ": 2}}}",
		 3,
		 4,
		 0,
		 {{"old", "root.v", 1, 0, "age 900"},
		  {"young-0", "root.v", 1, 1, "age 5"},
		  {"young-1", "root.v", 1, 2, "age 5"},
		  {"want", "root.p", 2, 0, "waits"}},
		 "want reclaim n1 [old young-0]"},
		{"but an opt-out is worth more",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {" B ": 1}}}",
		 4,
		 4,
		 0,
		 {{"asleep", "root.v", 2, 0, "opted-out age 5"},
		  {"plain", "root.v", 2, 1, "age 900"},
		  {"want", "root.p", 2, 0, "waits"}},
		 "want reclaim n1 [plain]"},
		{"and if nothing else is there it goes",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {" B ": 1}}}",
		 2,
		 4,
		 0,
		 {{"only", "root.v", 2, 1, NULL}, {"want", "root.p", 2, 0, "waits"}},
		 "want reclaim n1 [only]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row(&rows[i]);
}

static void runs_on(struct story *s, const char *name, const char *queue, const char *node, int priority, int a, int b)
{
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: d, name: %s, labels: {queue: %s}}\nspec: "
		    "{priority: %d, %s%s%scontainers: [{name: c, resources: {requests: {" A ": %d, " B ": %d}}}]}\n",
		    name, queue, priority, *node ? "nodeName: " : "", node, *node ? ", " : "", a, b);
	if (*node)
		text_add(&s->objects, "status: {phase: Running, startTime: \"2027-01-15T07:00:00Z\"}\n");
}

/* More of them than are ever told of, on the node that is looked at first. */
enum { KEPT_PODS = PROTECTED_MAX + 1 };

static void add_kept(struct story *s)
{
	char name[16];

	for (int i = 0; i < KEPT_PODS; i++) {
		snprintf(name, sizeof(name), "k-%d", i);
		runs_on(s, name, "root.t.k", "n0", 0, 1, 0);
	}
}

static void add_nodes(struct story *s)
{
	const int rooms[] = {KEPT_PODS, 4, 2, 2};

	for (int n = 0; n < 4; n++)
		text_printf(
			&s->objects,
			"---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d}\nstatus: {allocatable: {cpu: 9, pods: "
			"2000, " A ": %d, " B ": 4}}\n",
			n, rooms[n]);
}

/*
 * On n1 the lowest priority would be enough, and takes its queue below what it is guaranteed of the other type; the
 * next one does not, and is still lower than who runs on n2 and n3. Who stops looking at n1 with the first never finds
 * the second.
 * Where the maximum of the queues' parent is reached nodes are looked at row by row, and to the end while there is
 * somebody to be told of: so there are more of those than are told.
 */
static void GQ_9_a_node_is_looked_at_beyond_who_takes_a_queue_below_its_guarantee(void **state)
{
	static const enum profile profiles[] = {PROFILE_YUNIKORN, PROFILE_DEFAULT};

	(void)state;
	for (size_t i = 0; i < sizeof(profiles) / sizeof(*profiles); i++) {
		struct text got = {0};
		struct story s;

		story_begin(&s);
		s.profile = profiles[i];
		text_printf(&s.objects,
			    "---\npartitions:\n- name: default\n  preemption: {enabled: true}\n  queues: [{name: root, "
			    "queues: "
			    "[{name: t, resources: {max: {" A ": %d}}, queues: [{name: k, resources: {guaranteed: {" A
			    ": %d}}}, {name: p, resources: {guaranteed: {" A
			    ": 2}}}, {name: v, resources: {guaranteed: {" B ": 1}}}, {name: w}]}]}]\n",
			    KEPT_PODS + 8, KEPT_PODS);
		add_nodes(&s);
		add_kept(&s);
		runs_on(&s, "low", "root.t.v", "n1", 0, 2, 1);
		runs_on(&s, "mid", "root.t.w", "n1", 5, 2, 0);
		runs_on(&s, "high", "root.t.w", "n2", 7, 2, 0);
		runs_on(&s, "higher", "root.t.w", "n3", 8, 2, 0);
		runs_on(&s, "want", "root.t.p", "", 9, 2, 0);
		story_plan(&s);
		story_line(&s, &got);
		assert_string_equal(text_str(&got), "want reclaim n1 [mid]");
		text_free(&got);
		story_end(&s);
	}
}

/* `guarantee: {types: all}`: then it is no wish any more. */
static void GQ_2_in_every_type_where_that_is_asked_for(void **state)
{
	static const struct row rows[] = {
		{"processors that nobody is short of",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {vcore: 1}}}",
		 2,
		 4,
		 0,
		 {{"only", "root.v", 2, 0, "cpu"}, {"want", "root.p", 2, 0, "waits"}},
		 "want waiting"},
		{"another type",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {" B ": 1}}}",
		 2,
		 4,
		 0,
		 {{"only", "root.v", 2, 1, NULL}, {"want", "root.p", 2, 0, "waits"}},
		 "want waiting"},
		{"one more than that",
		 "{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v, resources: {guaranteed: {" B ": 1}}}",
		 2,
		 4,
		 0,
		 {{"only", "root.v", 2, 1, NULL}, {"more", "root.v", 0, 1, NULL}, {"want", "root.p", 2, 0, "waits"}},
		 "want reclaim n1 [only]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row_in(&rows[i], PROFILE_DEFAULT, "rules: {guarantee: {types: all}}");
}

static void GQ_13_daemonset_work_prefers_victims_that_keep_laws_2_and_5(void **state)
{
	static const struct row rows[] = {
		{"a queue without a guarantee pays first, though its pod is older",
		 "{name: d}, {name: v, resources: {guaranteed: {" A ": 2}}}, {name: w}",
		 4,
		 0,
		 0,
		 {{"kept", "root.v", 2, 0, "age 5"},
		  {"old", "root.w", 2, 0, "age 900"},
		  {"agent", "root.d", 2, 0, "waits daemon"}},
		 "agent required-node n1 [old]"},
		{"a queue pays what is above its guarantee and no more",
		 "{name: d}, {name: v, resources: {guaranteed: {" A ": 1}}}, {name: w}",
		 3,
		 0,
		 0,
		 {{"v-0", "root.v", 1, 0, "age 5"},
		  {"v-1", "root.v", 1, 0, "age 6"},
		  {"old", "root.w", 1, 0, "age 900"},
		  {"agent", "root.d", 2, 0, "waits daemon"}},
		 "agent required-node n1 [old v-0]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row(&rows[i]);
}

static void GQ_4_what_a_shared_parent_guarantees_is_not_asked_for(void **state)
{
	static const struct row rows[] = {
		{"nothing is short but a port: the types that the pod's own branch guarantees are judged",
		 "{name: t, resources: {guaranteed: {" A ": 4, " B
		 ": 4}}, queues: [{name: p, resources: {guaranteed: {" A ": 2}}}, {name: v}]}",
		 8,
		 8,
		 0,
		 {{"holder", "root.t.v", 1, 1, "port"}, {"want", "root.t.p", 1, 1, "waits port"}},
		 "want reclaim n1 [holder]"},
		{"and there must be one",
		 "{name: t, resources: {guaranteed: {" A ": 4, " B ": 4}}, queues: [{name: p}, {name: v}]}",
		 8,
		 8,
		 0,
		 {{"holder", "root.t.v", 1, 1, "port"}, {"want", "root.t.p", 1, 1, "waits port"}},
		 "want waiting"},
		{"slots of the node count only where the pod's own branch guarantees them",
		 "{name: t, resources: {guaranteed: {pods: 9}}, queues: [{name: p, resources: {guaranteed: {" A
		 ": 2}}}, {name: v}]}",
		 1,
		 0,
		 1,
		 {{"holder", "root.t.v", 1, 0, NULL}, {"want", "root.t.p", 1, 0, "waits"}},
		 "want reclaim n1 [holder]"},
		{"there they do: a queue with all its pods takes no more",
		 "{name: p, resources: {guaranteed: {" A ": 2, pods: 1}}}, {name: v}",
		 2,
		 0,
		 2,
		 {{"holder", "root.v", 1, 0, NULL}, {"mine", "root.p", 1, 0, NULL}, {"want", "root.p", 1, 0, "waits"}},
		 "want waiting"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row(&rows[i]);
}

static void GQ_4_a_gang_is_short_of_whatever_one_of_it_lacks(void **state)
{
	static const struct row rows[] = {
		{"who frees what one member is owed does not give another what it is not owed",
		 "{name: p, resources: {guaranteed: {" A ": 3}}}, {name: v}",
		 3,
		 2,
		 0,
		 {{"both", "root.v", 3, 2, NULL},
		  {"g-0", "root.p", 2, 0, "waits gang"},
		  {"g-1", "root.p", 1, 2, "waits gang"}},
		 "g-0 waiting; g-1 waiting"},
		{"a gang that is owed both takes both",
		 "{name: p, resources: {guaranteed: {" A ": 3, " B ": 2}}}, {name: v}",
		 3,
		 2,
		 0,
		 {{"both", "root.v", 3, 2, NULL},
		  {"g-0", "root.p", 2, 0, "waits gang"},
		  {"g-1", "root.p", 1, 2, "waits gang"}},
		 "g-0 reclaim n1 [both]; g-1 reclaim n1"},
		{"and what there is enough of needs no guarantee",
		 "{name: p, resources: {guaranteed: {" A ": 3}}}, {name: v}",
		 3,
		 4,
		 0,
		 {{"both", "root.v", 3, 2, NULL},
		  {"g-0", "root.p", 2, 0, "waits gang"},
		  {"g-1", "root.p", 1, 2, "waits gang"}},
		 "g-0 reclaim n1 [both]; g-1 reclaim n1"},
		{"what two lack together on one node is short, though each alone would have it",
		 "{name: p, resources: {guaranteed: {" A ": 3}}}, {name: v}",
		 3,
		 4,
		 0,
		 {{"both", "root.v", 3, 2, NULL},
		  {"g-0", "root.p", 2, 2, "waits gang"},
		  {"g-1", "root.p", 1, 2, "waits gang"}},
		 "g-0 waiting; g-1 waiting"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row(&rows[i]);
}

static void GQ_15_a_slot_is_not_taken_from_who_is_owed_something_else(void **state)
{
	static const struct row rows[] = {
		{"it would take the slot back, for what it is owed",
		 "{name: p, resources: {guaranteed: {" B ": 1}}}, {name: v, resources: {guaranteed: {" A ": 3}}}",
		 9,
		 9,
		 2,
		 {{"v-0", "root.v", 1, 0, NULL}, {"v-1", "root.v", 1, 0, NULL}, {"want", "root.p", 0, 1, "waits"}},
		 "want waiting"},
		{"nor would it have kept what it is guaranteed",
		 "{name: p, resources: {guaranteed: {" B ": 1}}}, {name: v, resources: {guaranteed: {" A ": 2}}}",
		 9,
		 9,
		 2,
		 {{"v-0", "root.v", 1, 0, NULL}, {"v-1", "root.v", 1, 0, NULL}, {"want", "root.p", 0, 1, "waits"}},
		 "want waiting"},
		{"what is above its guarantee goes",
		 "{name: p, resources: {guaranteed: {" B ": 1}}}, {name: v, resources: {guaranteed: {" A ": 1}}}",
		 9,
		 9,
		 2,
		 {{"v-0", "root.v", 1, 0, "age 900"},
		  {"v-1", "root.v", 1, 0, "age 5"},
		  {"want", "root.p", 0, 1, "waits"}},
		 "want reclaim n1 [v-1]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row(&rows[i]);
}

static void GQ_2_queues_give_back_what_is_above_a_lowered_maximum(void **state)
{
	static const struct row rows[] = {
		{"of equal priority goes what loses the least work, not the youngest",
		 "{name: q, resources: {max: {" A ": 4}}, " QUOTA "}",
		 9,
		 0,
		 0,
		 {{"young", "root.q", 2, 0, "age 10"},
		  {"small", "root.q", 1, 0, "age 15"},
		  {"old", "root.q", 3, 0, "age 900"}},
		 "quota quota [small]"},
		{"who opted out goes last, however young",
		 "{name: q, resources: {max: {" A ": 3}}, " QUOTA "}",
		 9,
		 0,
		 0,
		 {{"asleep", "root.q", 1, 0, "age 5 opted-out"},
		  {"old", "root.q", 1, 0, "age 900"},
		  {"older", "root.q", 2, 0, "age 990"}},
		 "quota quota [old]"},
		{"a maximum of pods counts too",
		 "{name: q, resources: {max: {pods: 1}}, " QUOTA "}",
		 9,
		 0,
		 0,
		 {{"first", "root.q", 1, 0, "age 20"}, {"second", "root.q", 1, 0, "age 10"}},
		 "quota quota [second]"},
		{"who holds nothing of what is too much stays, however young",
		 "{name: q, resources: {max: {" A ": 1}}, " QUOTA "}",
		 9,
		 9,
		 0,
		 {{"first", "root.q", 1, 0, "age 20"},
		  {"second", "root.q", 1, 0, "age 10"},
		  {"other", "root.q", 0, 1, "age 5"}},
		 "quota quota [second]"},
		{"work of a queue with preemption.policy disabled stays",
		 "{name: q, resources: {max: {" A
		 ": 1}}, properties: {quota.preemption.delay: 1s, preemption.policy: disabled}}",
		 9,
		 0,
		 0,
		 {{"first", "root.q", 1, 0, "age 20"}, {"second", "root.q", 1, 0, "age 10"}},
		 ""},
		{"no child falls below its guarantee, however young its pods",
		 "{name: q, resources: {max: {" A ": 4}}, " QUOTA ", queues: [{name: x, resources: {guaranteed: {" A
		 ": 3}}}, {name: y}]}",
		 9,
		 0,
		 0,
		 {{"x-0", "root.q.x", 3, 0, "age 5"},
		  {"y-0", "root.q.y", 1, 0, "age 900"},
		  {"y-1", "root.q.y", 1, 0, "age 800"}},
		 "quota quota [y-1]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_row(&rows[i]);
}

/* Two of a group, one unit each, and one pod alone, in a queue that has one or two units too many. */
static void ONE_1_a_lowered_maximum_takes_groups_that_go_whole_as_a_whole(void **state)
{
	static const struct {
		const char *sentence, *mode;
		int max, allowed;
		const char *config, *line;
	} rows[] = {
		{"two units too many: the group, which loses least", "{all: {}}", 1, 2, NULL, "quota quota [g-0 g-1]"},
		{"one unit too many: half a group is none", "{all: {}}", 2, 2, NULL, "quota quota [old]"},
		{"each for itself", "{single: {}}", 2, 2, NULL, "quota quota [g-0]"},
		{"a budget for one is none for both", "{all: {}}", 1, 1, NULL, "quota quota [old]"},
		{"nor is a rate", "{all: {}}", 1, 2, "rules: {eviction-rate: {perHour: 1}}", "quota quota [old]"},
		{"and a rate of two is", "{all: {}}", 1, 2, "rules: {eviction-rate: {perHour: 2}}",
		 "quota quota [g-0 g-1]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;
		struct text got = {0};

		story_begin(&s);
		s.config = rows[i].config;
		text_printf(&s.objects,
			    "---\npartitions:\n- name: default\n  preemption: {enabled: true, quotapreemptionenabled: "
			    "true}\n"
			    "  queues: [{name: root, queues: [{name: q, resources: {max: {" STORY_UNIT ": %d}}, " QUOTA
			    "}]}]\n",
			    rows[i].max);
		text_printf(
			&s.objects,
			"---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {namespace: d, name: "
			"g}\nspec: {schedulingPolicy: {gang: {minCount: 2}}, disruptionMode: %s, priority: 0}\n",
			rows[i].mode);
		story_node(&s, "n1", 9);
		story_budget(&s, "b", rows[i].allowed);
		for (int k = 0; k < 2; k++)
			text_printf(
				&s.objects,
				"---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: d, name: g-%d, labels: {queue: "
				"root.q, budget: b}}\nspec: {nodeName: n1, schedulingGroup: {podGroupName: g}, "
				"containers: "
				"[{name: c, resources: {requests: {" STORY_UNIT
				": \"1\"}}}]}\nstatus: {phase: Running, startTime: \"2027-01-15T07:59:00Z\"}\n",
				k);
		story_pod(&s, "old", "root.q", 1, "n1", "age 900");
		story_plan(&s);
		story_line(&s, &got);
		if (!str_eq(text_str(&got), rows[i].line))
			print_error("%s\n", rows[i].sentence);
		assert_string_equal(text_str(&got), rows[i].line);
		text_free(&got);
		story_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_9_no_queue_falls_below_its_guarantee_in_other_types_if_that_can_be),
		cmocka_unit_test(GQ_9_a_node_is_looked_at_beyond_who_takes_a_queue_below_its_guarantee),
		cmocka_unit_test(GQ_2_in_every_type_where_that_is_asked_for),
		cmocka_unit_test(GQ_13_daemonset_work_prefers_victims_that_keep_laws_2_and_5),
		cmocka_unit_test(GQ_4_what_a_shared_parent_guarantees_is_not_asked_for),
		cmocka_unit_test(GQ_4_a_gang_is_short_of_whatever_one_of_it_lacks),
		cmocka_unit_test(GQ_15_a_slot_is_not_taken_from_who_is_owed_something_else),
		cmocka_unit_test(GQ_2_queues_give_back_what_is_above_a_lowered_maximum),
		cmocka_unit_test(ONE_1_a_lowered_maximum_takes_groups_that_go_whole_as_a_whole),
	};

	return cmocka_run_group_tests_name("gq_types", tests, NULL, NULL);
}
