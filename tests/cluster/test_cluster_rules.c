/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of resolving: preemptibility, priority, queue, start, state. One row, one cluster. */
#include "cluster/cluster_fixture.h"

#define LABEL(value) "kai.scheduler/preemptibility=" value

/* A team queue of KAI's, one of queues.yaml, and one that both define. */
static void put_three_queues(struct fix *f)
{
	put_queues(f, FROM_YUNIKORN, {.path = "root"}, {.path = "root.yuni"}, {.path = "root.both"});
	put_queues(f, FROM_KAI, {.kai = "team", .gpu = GPU(4, -1)}, {.kai = "both", .gpu = GPU(2, -1)});
}

struct preemptibility_row {
	const char *says;
	struct pod_is pod;
	struct group_is group; /* name NULL: none */
	const char *owner_labels;
	enum preemptibility expected;
};

static void run_preemptibility(const struct preemptibility_row *rows, size_t n, struct cluster_options o,
			       enum profile profile)
{
	for (size_t i = 0; i < n; i++) {
		struct fix f;
		const struct preemptibility_row *r = &rows[i];
		o.profile = profile;
		fix_init_as(&f, o);
		put_three_queues(&f);
		struct pod_is pod = r->pod;
		pod.name = "p";
		pod.group = r->group.name;
		if (r->owner_labels != NULL) {
			pod.owner_kind = OWNER_JOB;
			pod.owner = "job";
			put_owner(&f, (struct owner_is){.kind = OWNER_JOB,
							.kind_name = "Job",
							.name = "job",
							.labels = r->owner_labels});
		}
		put_pod(&f, pod);
		if (r->group.name != NULL)
			put_group(&f, r->group);
		if (pod_of(&f, "p")->preemptibility != r->expected)
			fail_msg("%s: %s", r->says, preemptibility_text(pod_of(&f, "p")->preemptibility));
		fix_free(&f);
	}
}

static void PP_3_the_first_source_that_says_something_decides(void **state)
{
	(void)state;
	const struct preemptibility_row rows[] = {
		{"the group is asked first",
		 {.labels = LABEL("preemptible")},
		 {.name = "g", .queue = "team", .class = "train", .preemptibility = NON_PREEMPTIBLE},
		 LABEL("preemptible"),
		 NON_PREEMPTIBLE},
		{"the top owner comes before the pod",
		 {.labels = LABEL("non-preemptible"), .kai_queue = "team"},
		 {0},
		 LABEL("preemptible"),
		 PREEMPTIBLE},
		{"the top owner speaks for pods of a group that says nothing",
		 {.labels = LABEL("preemptible")},
		 {.name = "g", .queue = "team", .class = "train"},
		 LABEL("non-preemptible"),
		 NON_PREEMPTIBLE},
		{"the pod's label comes before its priority",
		 {.labels = LABEL("preemptible"), .kai_queue = "team", .priority = PRIORITY(125)},
		 {0},
		 NULL,
		 PREEMPTIBLE},
		{"a priority of 99 is preemptible",
		 {.kai_queue = "team", .priority = PRIORITY(99)},
		 {0},
		 NULL,
		 PREEMPTIBLE},
		{"a priority of 100 is not",
		 {.kai_queue = "team", .priority = PRIORITY(100)},
		 {0},
		 NULL,
		 NON_PREEMPTIBLE},
		{"in a group its priority decides, not the pod's",
		 {.priority = PRIORITY(1000)},
		 {.name = "g", .queue = "team", .class = "train"},
		 NULL,
		 PREEMPTIBLE},
		{"semi-preemptible groups have semi-preemptible pods",
		 {0},
		 {.name = "g", .queue = "team", .preemptibility = SEMI_PREEMPTIBLE},
		 NULL,
		 SEMI_PREEMPTIBLE},
		{"a semi-preemptible pod on its own is all core",
		 {.labels = LABEL("semi-preemptible"), .kai_queue = "team"},
		 {0},
		 NULL,
		 NON_PREEMPTIBLE},
	};
	run_preemptibility(rows, N_OF(rows), cluster_options_default(), PROFILE_DEFAULT);
	run_preemptibility(rows, N_OF(rows), cluster_options_default(), PROFILE_KAI);
}

static void PP_4_an_invalid_value_counts_as_not_set_and_is_told(void **state)
{
	(void)state;
	const struct preemptibility_row rows[] = {
		{"a bad owner label falls through to the pod's",
		 {.labels = LABEL("non-preemptible"), .kai_queue = "team"},
		 {0},
		 LABEL("maybe"),
		 NON_PREEMPTIBLE},
		{"a bad pod label falls through to priority",
		 {.labels = LABEL("Preemptible"), .kai_queue = "team", .priority = PRIORITY(125)},
		 {0},
		 NULL,
		 NON_PREEMPTIBLE},
		{"an empty label says nothing",
		 {.labels = LABEL(""), .kai_queue = "team", .priority = PRIORITY(125)},
		 {0},
		 LABEL(""),
		 NON_PREEMPTIBLE},
	};
	run_preemptibility(rows, N_OF(rows), cluster_options_default(), PROFILE_DEFAULT);

	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_owner(&f,
		  (struct owner_is){.kind = OWNER_JOB, .kind_name = "Job", .name = "job", .labels = LABEL("maybe")});
	put_pod(&f,
		(struct pod_is){.name = "a", .labels = LABEL("Preemptible"), .owner_kind = OWNER_JOB, .owner = "job"});
	put_pod(&f, (struct pod_is){.name = "b", .owner_kind = OWNER_JOB, .owner = "job"});
	put_pod(&f, (struct pod_is){.name = "c", .labels = LABEL("")});
	warnings_are(
		&f,
		"pod ns/a: label kai.scheduler/preemptibility: 'Preemptible' is not one of preemptible, "
		"non-preemptible, "
		"semi-preemptible\n"
		"Job ns/job: label kai.scheduler/preemptibility: 'maybe' is not one of preemptible, non-preemptible, "
		"semi-preemptible\n");
	fix_free(&f);
}

static void PP_5_builtin_classes_stand_unless_the_cluster_defines_them(void **state)
{
	(void)state;
	const struct {
		const char *class;
		int32_t value;
	} rows[] = {
		{"train", 50},
		{"build-preemptible", 75},
		{"build", 100},
		{"inference", 125},
		{"system-cluster-critical", 2000000000},
		{"system-node-critical", 2000001000},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct fix f;
		fix_init(&f, PROFILE_DEFAULT);
		put_pod(&f, (struct pod_is){.name = "alone", .class = rows[i].class});
		put_pod(&f, (struct pod_is){.name = "member", .group = "g"});
		put_group(&f, (struct group_is){.name = "g", .class = rows[i].class});
		assert_int_equal(pod_of(&f, "alone")->priority, rows[i].value);
		assert_int_equal(pod_of(&f, "member")->priority, rows[i].value);
		put_class(&f, rows[i].class, 7, false);
		assert_int_equal(pod_of(&f, "alone")->priority, 7);
		assert_int_equal(pod_of(&f, "member")->priority, 7);
		put_class(&f, rows[i].class, 8, false);
		assert_int_equal(pod_of(&f, "member")->priority, 8);
		cluster_drop_class(f.c, rows[i].class);
		assert_int_equal(pod_of(&f, "member")->priority, rows[i].value);
		warnings_are(&f, "");
		fix_free(&f);
	}
}

static void PP_7_example_1_high_priority_and_preemptible(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "team", .gpu = GPU(4, -1)});
	group_id g = put_group(&f, (struct group_is){.name = "fast-training",
						     .queue = "team",
						     .class = "inference",
						     .preemptibility = PREEMPTIBLE});
	put_pod(&f, (struct pod_is){.name = "p", .group = "fast-training"});
	assert_int_equal(pod_of(&f, "p")->priority, 125);
	assert_int_equal(pod_of(&f, "p")->preemptibility, PREEMPTIBLE);
	assert_int_equal(ledger_group(f.l, g)->preemptibility, PREEMPTIBLE);
	fix_free(&f);
}

static void PP_7_example_2_low_priority_and_non_preemptible(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "team", .gpu = GPU(4, -1)});
	group_id g = put_group(&f, (struct group_is){.name = "nightly-report",
						     .queue = "team",
						     .class = "train",
						     .preemptibility = NON_PREEMPTIBLE});
	put_pod(&f, (struct pod_is){.name = "p", .group = "nightly-report"});
	assert_int_equal(pod_of(&f, "p")->priority, 50);
	assert_int_equal(pod_of(&f, "p")->preemptibility, NON_PREEMPTIBLE);
	assert_int_equal(ledger_group(f.l, g)->preemptibility, NON_PREEMPTIBLE);
	fix_free(&f);
}

static void PP_7_example_3_a_deployment_labels_its_pods(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "team", .gpu = GPU(4, -1)});
	put_owner(&f, (struct owner_is){.kind = OWNER_DEPLOYMENT, .kind_name = "Deployment", .name = "shop"});
	put_owner(&f, (struct owner_is){.kind = OWNER_REPLICASET,
					.kind_name = "ReplicaSet",
					.name = "shop-1",
					.labels = LABEL("non-preemptible"),
					.parent_kind = "Deployment",
					.parent = "shop"});
	put_pod(&f, (struct pod_is){.name = "p",
				    .labels = LABEL("non-preemptible"),
				    .class = "train",
				    .kai_queue = "team",
				    .owner_kind = OWNER_REPLICASET,
				    .owner = "shop-1"});
	assert_int_equal(pod_of(&f, "p")->priority, 50);
	assert_int_equal(pod_of(&f, "p")->preemptibility, NON_PREEMPTIBLE);
	fix_free(&f);
}

static void PP_7_example_4_without_a_value_priority_decides(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "team", .gpu = GPU(4, -1)});
	group_id g = put_group(&f, (struct group_is){.name = "plain-build", .queue = "team", .class = "build"});
	put_pod(&f, (struct pod_is){.name = "p", .group = "plain-build"});
	assert_int_equal(pod_of(&f, "p")->priority, 100);
	assert_int_equal(pod_of(&f, "p")->preemptibility, NON_PREEMPTIBLE);
	assert_int_equal(ledger_group(f.l, g)->preemptibility, NON_PREEMPTIBLE);
	fix_free(&f);
}

static void PP_9_priority_decides_in_kais_world_only(void **state)
{
	(void)state;
	const struct preemptibility_row in_kai[] = {
		{"a pod with a PodGroup, wherever it is",
		 {0},
		 {.name = "g", .queue = "root.yuni", .class = "inference"},
		 NULL,
		 NON_PREEMPTIBLE},
		{"a pod in a KAI queue", {.kai_queue = "team", .priority = PRIORITY(125)}, {0}, NULL, NON_PREEMPTIBLE},
		{"a pod in a queue that both define",
		 {.yunikorn_queue = "both", .priority = PRIORITY(125)},
		 {0},
		 NULL,
		 NON_PREEMPTIBLE},
	};
	const struct preemptibility_row outside[] = {
		{"a plain pod", {.priority = PRIORITY(1000)}, {0}, NULL, PREEMPTIBLE},
		{"a pod in a queue of queues.yaml",
		 {.yunikorn_queue = "root.yuni", .priority = PRIORITY(1000)},
		 {0},
		 NULL,
		 PREEMPTIBLE},
		{"a group of scheduling.k8s.io",
		 {.k8s_group = "g", .priority = PRIORITY(1000)},
		 {.name = "g", .is_k8s = true},
		 NULL,
		 PREEMPTIBLE},
	};
	struct cluster_options o = cluster_options_default();
	run_preemptibility(in_kai, N_OF(in_kai), o, PROFILE_DEFAULT);
	run_preemptibility(outside, N_OF(outside), o, PROFILE_DEFAULT);

	const struct preemptibility_row all[] = {
		{"reach all: a plain pod", {.priority = PRIORITY(100)}, {0}, NULL, NON_PREEMPTIBLE},
		{"reach all: below the threshold", {.priority = PRIORITY(99)}, {0}, NULL, PREEMPTIBLE},
		{"reach all: the label still comes first",
		 {.labels = LABEL("preemptible"), .priority = PRIORITY(100)},
		 {0},
		 NULL,
		 PREEMPTIBLE},
	};
	o.reach = REACH_ALL;
	run_preemptibility(all, N_OF(all), o, PROFILE_DEFAULT);

	const struct preemptibility_row off[] = {
		{"reach off: a pod in a KAI queue",
		 {.kai_queue = "team", .priority = PRIORITY(125)},
		 {0},
		 NULL,
		 PREEMPTIBLE},
	};
	o.reach = REACH_OFF;
	run_preemptibility(off, N_OF(off), o, PROFILE_DEFAULT);

	const struct preemptibility_row moved[] = {
		{"another threshold, below", {.kai_queue = "team", .priority = PRIORITY(499)}, {0}, NULL, PREEMPTIBLE},
		{"another threshold, reached",
		 {.kai_queue = "team", .priority = PRIORITY(500)},
		 {0},
		 NULL,
		 NON_PREEMPTIBLE},
	};
	o.reach = REACH_KAI;
	o.preemptibility_threshold = 500;
	run_preemptibility(moved, N_OF(moved), o, PROFILE_DEFAULT);
}

static void PP_3_the_label_of_the_top_owner_counts_not_those_between(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_pod(&f, (struct pod_is){.name = "p", .owner_kind = OWNER_REPLICASET, .owner = "web"});
	assert_int_equal(pod_of(&f, "p")->preemptibility, PREEMPTIBLE);
	put_owner(&f, (struct owner_is){.kind = OWNER_REPLICASET,
					.kind_name = "ReplicaSet",
					.name = "web",
					.labels = LABEL("non-preemptible"),
					.parent_kind = "Deployment",
					.parent = "web"});
	assert_int_equal(pod_of(&f, "p")->preemptibility, NON_PREEMPTIBLE); /* nobody above it is known */
	put_owner(&f, (struct owner_is){.kind = OWNER_DEPLOYMENT, .kind_name = "Deployment", .name = "web"});
	assert_int_equal(pod_of(&f, "p")->preemptibility, PREEMPTIBLE);
	put_owner(&f, (struct owner_is){.kind = OWNER_DEPLOYMENT,
					.kind_name = "Deployment",
					.name = "web",
					.labels = LABEL("non-preemptible")});
	assert_int_equal(pod_of(&f, "p")->preemptibility, NON_PREEMPTIBLE);
	cluster_drop_owner(f.c, "Deployment", "ns", "web");
	cluster_drop_owner(f.c, "ReplicaSet", "ns", "web");
	assert_int_equal(pod_of(&f, "p")->preemptibility, PREEMPTIBLE);
	/* A Service of the owner's name is no owner, and owners in a circle end somewhere. */
	put_owner(&f, (struct owner_is){.kind = OWNER_REPLICASET,
					.is_service = true,
					.kind_name = "Service",
					.name = "web",
					.labels = LABEL("non-preemptible")});
	assert_int_equal(pod_of(&f, "p")->preemptibility, PREEMPTIBLE);
	put_owner(&f, (struct owner_is){.kind = OWNER_REPLICASET,
					.kind_name = "ReplicaSet",
					.name = "web",
					.parent_kind = "ReplicaSet",
					.parent = "web"});
	fix_free(&f);
}

/* ---- priority ---- */

static void the_priority_of_a_pod(void **state)
{
	(void)state;
	const struct {
		const char *says;
		struct pod_is pod;
		struct group_is group;
		bool has_default_class; /* of 33 */
		int32_t expected;
	} rows[] = {
		{"nothing said: 0", {0}, {0}, false, 0},
		{"nothing said and a global default class", {0}, {0}, true, 33},
		{"the pod's own number comes first", {.priority = PRIORITY(-5), .class = "known"}, {0}, true, -5},
		{"then its class", {.class = "known"}, {0}, true, 11},
		{"a class nobody knows is none", {.class = "unknown"}, {0}, true, 33},
		{"in a queue that only KAI defines: 50", {.kai_queue = "team"}, {0}, false, 50},
		{"even there a global default comes first", {.kai_queue = "team"}, {0}, true, 33},
		{"in a queue that both define: 0", {.kai_queue = "both"}, {0}, false, 0},
		{"in a KAI group its class", {.priority = PRIORITY(9)}, {.name = "g", .class = "known"}, true, 11},
		{"in a KAI group without one the global default", {.priority = PRIORITY(9)}, {.name = "g"}, true, 33},
		{"in a KAI group without any 50",
		 {.priority = PRIORITY(9)},
		 {.name = "g", .class = "unknown"},
		 false,
		 50},
		{"a Kubernetes group has its own",
		 {.priority = PRIORITY(9)},
		 {.name = "g", .is_k8s = true, .priority = PRIORITY(77)},
		 true,
		 77},
		{"or its class", {.priority = PRIORITY(9)}, {.name = "g", .is_k8s = true, .class = "known"}, true, 11},
		{"or leaves it to its pods", {.priority = PRIORITY(9)}, {.name = "g", .is_k8s = true}, true, 9},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct fix f;
		fix_init(&f, PROFILE_DEFAULT);
		put_three_queues(&f);
		struct pod_is pod = rows[i].pod;
		pod.name = "p";
		*(rows[i].group.is_k8s ? &pod.k8s_group : &pod.group) = rows[i].group.name;
		put_pod(&f, pod);
		if (rows[i].group.name != NULL)
			put_group(&f, rows[i].group);
		put_class(&f, "known", 11, false);
		if (rows[i].has_default_class) {
			put_class(&f, "zz-default", 33, true);
			put_class(&f, "another", 34, true); /* the lowest of several counts */
		}
		if (pod_of(&f, "p")->priority != rows[i].expected)
			fail_msg("%s: %d", rows[i].says, pod_of(&f, "p")->priority);
		fix_free(&f);
	}
}

/* ---- queues ---- */

struct queue_row {
	const char *says;
	enum profile profile;
	struct pod_is pod;
	struct group_is group;
	const char *expected;
};

static void the_queue_of_a_pod(void **state)
{
	(void)state;
	const struct queue_row rows[] = {
		{"no queue: root.default", PROFILE_DEFAULT, {0}, {0}, "root.default"},
		{"the group's comes first",
		 PROFILE_DEFAULT,
		 {.kai_queue = "both", .yunikorn_queue = "yuni"},
		 {.name = "g", .queue = "team"},
		 "root.team"},
		{"then KAI's label",
		 PROFILE_DEFAULT,
		 {.kai_queue = "team", .yunikorn_queue = "yuni"},
		 {0},
		 "root.team"},
		{"then YuniKorn's", PROFILE_DEFAULT, {.yunikorn_queue = "root.yuni"}, {0}, "root.yuni"},
		{"with or without root", PROFILE_DEFAULT, {.yunikorn_queue = "yuni"}, {0}, "root.yuni"},
		{"in any case", PROFILE_DEFAULT, {.yunikorn_queue = "ROOT.Yuni"}, {0}, "root.yuni"},
		{"a group without one is where its pods say",
		 PROFILE_DEFAULT,
		 {.kai_queue = "team"},
		 {.name = "g"},
		 "root.team"},
		{"KAI's label may name a path in a mixed cluster",
		 PROFILE_DEFAULT,
		 {.kai_queue = "yuni"},
		 {0},
		 "root.yuni"},
		{"an unknown queue is waited for", PROFILE_DEFAULT, {.yunikorn_queue = "nix"}, {0}, "?nix"},
		{"an unknown KAI queue too",
		 PROFILE_DEFAULT,
		 {.kai_queue = "nix", .yunikorn_queue = "yuni"},
		 {0},
		 "?nix"},
		{"and a group's", PROFILE_DEFAULT, {.kai_queue = "team"}, {.name = "g", .queue = "nix"}, "?nix"},
		{"a parent takes no pods", PROFILE_DEFAULT, {.yunikorn_queue = "root"}, {0}, "?root"},
		{"root.default by name is the same as no name",
		 PROFILE_DEFAULT,
		 {.yunikorn_queue = "root.default"},
		 {0},
		 "root.default"},
		{"yunikorn: no queue", PROFILE_YUNIKORN, {0}, {0}, "root.default"},
		{"yunikorn: YuniKorn's label", PROFILE_YUNIKORN, {.yunikorn_queue = "yuni"}, {0}, "root.yuni"},
		{"kai: KAI's label", PROFILE_KAI, {.kai_queue = "team"}, {0}, "root.team"},
		{"kai: YuniKorn's says nothing", PROFILE_KAI, {.yunikorn_queue = "yuni"}, {0}, "root.default"},
		{"kai: only names of Queue objects", PROFILE_KAI, {.kai_queue = "yuni"}, {0}, "?yuni"},
		{"kubernetes: all in one",
		 PROFILE_KUBERNETES,
		 {.kai_queue = "team", .yunikorn_queue = "yuni"},
		 {.name = "g", .queue = "team"},
		 "root.default"},
		{"kubernetes: unknown names are no trouble",
		 PROFILE_KUBERNETES,
		 {.yunikorn_queue = "nix"},
		 {0},
		 "root.default"},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct fix f;
		fix_init(&f, rows[i].profile);
		put_three_queues(&f);
		struct pod_is pod = rows[i].pod;
		pod.name = "p";
		pod.group = rows[i].group.name;
		put_pod(&f, pod);
		if (rows[i].group.name != NULL)
			put_group(&f, rows[i].group);
		if (strcmp(queue_path(&f, "p"), rows[i].expected) != 0)
			fail_msg("%s: %s", rows[i].says, queue_path(&f, "p"));
		fix_free(&f);
	}
}

static void the_profile_can_be_changed(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_three_queues(&f);
	put_pod(&f, (struct pod_is){.name = "p", .group = "g", .priority = PRIORITY(9), .kai_queue = "both"});
	put_group(&f, (struct group_is){.name = "g", .queue = "team", .class = "build"});
	struct cluster_options o = *cluster_get_options(f.c);
	o.profile = PROFILE_KUBERNETES;
	cluster_set_options(f.c, &o);
	assert_string_equal(queue_path(&f, "p"), "root.default");
	assert_int_equal(pod_of(&f, "p")->group, GROUP_NONE); /* Kubernetes knows no PodGroup of KAI's */
	assert_int_equal(pod_of(&f, "p")->priority, 9);
	o.profile = PROFILE_DEFAULT;
	cluster_set_options(f.c, &o);
	assert_string_equal(queue_path(&f, "p"), "root.team");
	assert_int_equal(pod_of(&f, "p")->priority, 100);
	enum profile p;
	assert_true(profile_parse("yunikorn", &p) && p == PROFILE_YUNIKORN);
	assert_false(profile_parse("Kai", &p));
	assert_string_equal(profile_text(PROFILE_KAI), "kai");
	fix_free(&f);
}

/* ---- state and start ---- */

static void the_state_of_a_pod(void **state)
{
	(void)state;
	const struct {
		const char *says;
		struct pod_is pod;
		enum pod_state expected;
	} rows[] = {
		{"without a node it waits", {0}, POD_WAITING},
		{"with a node it is placed, even if it is pending there", {.node = "n"}, POD_PLACED},
		{"running", {.node = "n", .phase = PHASE_RUNNING}, POD_PLACED},
		{"unknown to its node", {.node = "n", .phase = PHASE_UNKNOWN}, POD_PLACED},
		{"being deleted on a node it leaves", {.node = "n", .phase = PHASE_RUNNING, .deleted = 5}, POD_LEAVING},
		{"being deleted without a node it is done", {.deleted = 5}, POD_FINISHED},
		{"succeeded", {.node = "n", .phase = PHASE_SUCCEEDED}, POD_FINISHED},
		{"failed, and being deleted", {.node = "n", .phase = PHASE_FAILED, .deleted = 5}, POD_FINISHED},
		{"failed without ever having a node", {.phase = PHASE_FAILED}, POD_FINISHED},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct fix f;
		fix_init(&f, PROFILE_DEFAULT);
		struct pod_is pod = rows[i].pod;
		pod.name = "p";
		put_pod(&f, pod);
		if (pod_of(&f, "p")->state != rows[i].expected)
			fail_msg("%s", rows[i].says);
		fix_free(&f);
	}
}

static void MR_8_when_a_pod_started(void **state)
{
	(void)state;
	const struct {
		const char *says;
		enum profile profile;
		struct pod_is pod;
		int64_t stamp;
		int64_t expected;
	} rows[] = {
		{"the group's stamp comes first",
		 PROFILE_DEFAULT,
		 {.node = "n", .started = 4, .scheduled = 3, .created = 2},
		 5,
		 5},
		{"then status.startTime",
		 PROFILE_DEFAULT,
		 {.node = "n", .started = 4, .scheduled = 3, .created = 2},
		 0,
		 4},
		{"then the PodScheduled condition", PROFILE_DEFAULT, {.node = "n", .scheduled = 3, .created = 2}, 0, 3},
		{"then its creation", PROFILE_DEFAULT, {.node = "n", .created = 2}, 0, 2},
		{"then now", PROFILE_DEFAULT, {.node = "n"}, 0, 100},
		{"a waiting pod has not started", PROFILE_DEFAULT, {.started = 4, .created = 2}, 5, 0},
		{"yunikorn: as default", PROFILE_YUNIKORN, {.node = "n", .scheduled = 3, .created = 2}, 0, 3},
		{"kubernetes: status.startTime", PROFILE_KUBERNETES, {.node = "n", .started = 4, .created = 2}, 5, 4},
		{"kubernetes: else not yet", PROFILE_KUBERNETES, {.node = "n", .scheduled = 3, .created = 2}, 5, 0},
		{"kai: the stamp", PROFILE_KAI, {.node = "n", .started = 4}, 5, 5},
		{"kai: nothing else", PROFILE_KAI, {.node = "n", .started = 4, .scheduled = 3, .created = 2}, 0, 0},
		{"a stamp of the future counts as now", PROFILE_DEFAULT, {.node = "n", .started = 4}, 101, 100},
		{"a start of the future counts as now",
		 PROFILE_DEFAULT,
		 {.node = "n", .started = 999, .created = 2},
		 0,
		 100},
		{"yunikorn: the same", PROFILE_YUNIKORN, {.node = "n", .started = 999, .created = 2}, 0, 100},
		{"a stamp that cannot be is none", PROFILE_DEFAULT, {.node = "n", .started = 4}, TOO_EARLY, 4},
		{"nor is a start", PROFILE_DEFAULT, {.node = "n", .started = TOO_EARLY, .created = 2}, 0, 2},
		{"kai: what is written", PROFILE_KAI, {.node = "n", .started = 4}, 101, 101},
		{"kubernetes: what is written", PROFILE_KUBERNETES, {.node = "n", .started = 999}, 0, 999},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct fix f;
		struct cluster_options o = cluster_options_default();
		o.profile = rows[i].profile;
		o.now_ns = AT(100);
		fix_init_as(&f, o);
		struct pod_is pod = rows[i].pod;
		pod.name = "p";
		pod.group = "g";
		put_pod(&f, pod);
		put_group(&f, (struct group_is){.name = "g", .started = rows[i].stamp});
		if (pod_of(&f, "p")->started_ns != SAID(rows[i].expected))
			fail_msg("%s: %lld", rows[i].says, (long long)pod_of(&f, "p")->started_ns);
		fix_free(&f);
	}
}

/*
 * Another replica leads and writes the stamps; its clock is ahead of ours. What it says is of the future when we hear
 * of it, and the window begins all the same: once, however often it is heard.
 */
static void MR_8_a_new_stamp_of_a_clock_ahead_of_ours_starts_the_group_again(void **state)
{
	const struct {
		const char *says;
		int64_t now, stamp, expected;
	} steps[] = {
		{"a stamp of long ago", 1000, 10, 10},	     {"ahead of us", 2000, 2005, 2000},
		{"heard again", 2003, 2005, 2000},	     {"and when its time is over", 3000, 2005, 2000},
		{"a new one ahead of us", 4000, 4005, 4000}, {"a new one that is not", 6000, 5005, 5005},
		{"an older one", 7000, 5000, 5000},
	};
	struct cluster_options o = cluster_options_default();
	struct fix f;

	(void)state;
	o.now_ns = AT(1000 * NS_PER_S);
	fix_init_as(&f, o);
	put_pod(&f, (struct pod_is){.name = "p", .group = "g", .node = "n"});
	for (size_t i = 0; i < N_OF(steps); i++) {
		cluster_set_now(f.c, AT(steps[i].now * NS_PER_S));
		put_group(&f, (struct group_is){.name = "g", .started = steps[i].stamp * NS_PER_S});
		if (pod_of(&f, "p")->started_ns != AT(steps[i].expected * NS_PER_S))
			fail_msg("%s: %lld", steps[i].says, (long long)pod_of(&f, "p")->started_ns);
	}
	fix_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(PP_3_the_first_source_that_says_something_decides),
		cmocka_unit_test(PP_3_the_label_of_the_top_owner_counts_not_those_between),
		cmocka_unit_test(PP_4_an_invalid_value_counts_as_not_set_and_is_told),
		cmocka_unit_test(PP_5_builtin_classes_stand_unless_the_cluster_defines_them),
		cmocka_unit_test(PP_7_example_1_high_priority_and_preemptible),
		cmocka_unit_test(PP_7_example_2_low_priority_and_non_preemptible),
		cmocka_unit_test(PP_7_example_3_a_deployment_labels_its_pods),
		cmocka_unit_test(PP_7_example_4_without_a_value_priority_decides),
		cmocka_unit_test(PP_9_priority_decides_in_kais_world_only),
		cmocka_unit_test(the_priority_of_a_pod),
		cmocka_unit_test(the_queue_of_a_pod),
		cmocka_unit_test(the_profile_can_be_changed),
		cmocka_unit_test(the_state_of_a_pod),
		cmocka_unit_test(MR_8_when_a_pod_started),
		cmocka_unit_test(MR_8_a_new_stamp_of_a_clock_ahead_of_ours_starts_the_group_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
