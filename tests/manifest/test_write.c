/* SPDX-License-Identifier: Apache-2.0 */
/* What manifest_write writes, to the letter. That it reads back as the same cluster is test_round_trip.c's business. */
#include "write_fixture.h"

/* ---- objects ---- */

static void objects_but_pods_and_queues(void **state)
{
	static const struct row rows[] = {
		{"nothing is still a document", "",
		 "apiVersion: v1\n"
		 "kind: List\n"},
		{"a node has a condition and what it can give, types that all nodes have first",
		 "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u, labels: {z: '1', a: ''}}, spec: "
		 "{unschedulable: true, taints: [{key: k, effect: NoExecute}]},\n"
		 " status: {allocatable: {z.example/x: 1, a.example/x: 2, memory: 8G, cpu: 1.5}, images: [{names: [a, "
		 "b], sizeBytes: 7}]}}",
		 OBJECT("v1", "Node", "n1") "  uid: u\n"
					    "  labels:\n"
					    "    a: \"\"\n"
					    "    z: \"1\"\n"
					    "spec:\n"
					    "  unschedulable: true\n"
					    "  taints:\n"
					    "  - key: k\n"
					    "    effect: NoExecute\n"
					    "status:\n"
					    "  allocatable:\n"
					    "    cpu: 1500m\n"
					    "    memory: 8G\n"
					    "    a.example/x: \"2\"\n"
					    "    z.example/x: \"1\"\n"
					    "  conditions:\n"
					    "  - type: Ready\n"
					    "    status: \"True\"\n"
					    "  images:\n"
					    "  - names:\n"
					    "    - a\n"
					    "    sizeBytes: 7\n"
					    "  - names:\n"
					    "    - b\n"
					    "    sizeBytes: 7\n"},
		{"a node under pressure is not ready",
		 "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: DiskPressure, "
		 "status: 'True'}]}}",
		 OBJECT("v1", "Node", "n1") "status:\n"
					    "  allocatable: {}\n"
					    "  conditions:\n"
					    "  - type: Ready\n"
					    "    status: \"False\"\n"},
		{"a namespace with what YuniKorn reads there",
		 "{apiVersion: v1, kind: Namespace, metadata: {name: ns, annotations: "
		 "{yunikorn.apache.org/namespace.quota: '{\"cpu\": 0.5}', yunikorn.apache.org/namespace.maxApps: '3', "
		 "yunikorn.apache.org/parentqueue: root.a, x: y}}}",
		 OBJECT("v1", "Namespace",
			"ns") "  annotations:\n"
			      "    yunikorn.apache.org/namespace.maxApps: \"3\"\n"
			      "    yunikorn.apache.org/namespace.quota: \"{\\\"cpu\\\":\\\"500m\\\"}\"\n"
			      "    yunikorn.apache.org/parentqueue: root.a\n"},
		{"a priority class",
		 "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: c}, value: -5, "
		 "globalDefault: true, preemptionPolicy: Never}",
		 OBJECT("scheduling.k8s.io/v1", "PriorityClass", "c") "value: -5\n"
								      "globalDefault: true\n"
								      "preemptionPolicy: Never\n"},
		{"a service selects by a map, a deployment by a selector, and they are in order of kind",
		 "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: ns}, spec: {selector: {app: web}}}\n"
		 "---\n"
		 "{apiVersion: apps/v1, kind: Deployment, metadata: {name: b, namespace: ns, ownerReferences: [{kind: "
		 "Job, name: j, controller: true}]},\n"
		 " spec: {replicas: 0, selector: {matchExpressions: [{key: x, operator: In, values: [b, a]}], "
		 "matchLabels: {app: web}}}}",
		 OBJECT("apps/v1", "Deployment", "b") IN_NS "  ownerReferences:\n"
							    "  - apiVersion: batch/v1\n"
							    "    kind: Job\n"
							    "    name: j\n"
							    "    controller: true\n"
							    "spec:\n"
							    "  replicas: 0\n"
							    "  selector:\n"
							    "    matchLabels:\n"
							    "      app: web\n"
							    "    matchExpressions:\n"
							    "    - key: x\n"
							    "      operator: In\n"
							    "      values:\n"
							    "      - a\n"
							    "      - b\n"
							    "---\n" OBJECT("v1", "Service", "a") IN_NS
		 "spec:\n"
		 "  selector:\n"
		 "    app: web\n"},
		{"a budget without a selector is another than one with an empty one",
		 "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: ns}}\n"
		 "---\n"
		 "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: ns}, spec: "
		 "{selector: {}},\n"
		 " status: {disruptionsAllowed: 2, disruptedPods: {y: x, x: y}}}",
		 OBJECT("policy/v1", "PodDisruptionBudget", "a") IN_NS
		 "status:\n"
		 "  disruptionsAllowed: 0\n"
		 "---\n" OBJECT("policy/v1", "PodDisruptionBudget", "b") IN_NS "spec:\n"
									       "  selector: {}\n"
									       "status:\n"
									       "  disruptionsAllowed: 2\n"
									       "  disruptedPods:\n"
									       "    x: null\n"
									       "    \"y\": null\n"},
	};

	(void)state;
	RUN(rows);
}

/* Only lenient readers let it in, and it repels nobody; a strict one would refuse it. */
static void a_taint_without_effect_is_left_out(void **state)
{
	struct fixture f;
	struct obj_node o = {.n_taints = 1, .taints = mem_alloc(sizeof(*o.taints))};
	struct err e = {0};

	(void)state;
	build(&f, "", options());
	o.name = names_hold_str(vocab_names(f.vocab), "n1");
	o.labelset = labelset_hold(f.vocab, NAME_NONE, NULL, 0);
	o.bag = name_bag_of(vocab_names(f.vocab));
	assert_int_equal(cluster_put_node(f.cluster, &o, &e), ERR_OK);
	assert_null(strstr(output(&f, EMIT_YAML), "spec"));
	end(&f);
}

static void PP_6_groups_publish_how_they_may_be_interrupted(void **state)
{
	static const struct row rows[] = {
		{"KAI's, with sub-groups and the annotations that cede keeps",
		 "{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, namespace: ns, "
		 "annotations: {kai.scheduler/last-start-timestamp: '2026-11-15T12:00:00+01:00', other: x}},\n"
		 " spec: {queue: q, priorityClassName: build, subGroups: [{name: a}, {name: b, parent: a, minMember: "
		 "2}]}}",
		 OBJECT("scheduling.run.ai/v2alpha2", "PodGroup", "g") IN_NS
		 "  annotations:\n"
		 "    kai.scheduler/last-start-timestamp: \"2026-11-15T11:00:00Z\"\n"
		 "spec:\n"
		 "  minMember: 1\n"
		 "  queue: q\n"
		 "  priorityClassName: build\n"
		 "  subGroups:\n"
		 "  - name: a\n"
		 "    minMember: 1\n"
		 "  - name: b\n"
		 "    parent: a\n"
		 "    minMember: 2\n"
		 "status:\n"
		 "  preemptibility: non-preemptible\n"
		 "  startTime: \"2026-11-15T11:00:00Z\"\n"},
		{"Kubernetes', which may be no gang at all",
		 "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g, namespace: ns}, spec: "
		 "{priority: 0, disruptionMode: {all: {}}}}",
		 OBJECT("scheduling.k8s.io/v1alpha2", "PodGroup", "g") IN_NS "spec:\n"
									     "  schedulingPolicy:\n"
									     "    basic: {}\n"
									     "  priority: 0\n"
									     "  disruptionMode:\n"
									     "    all: {}\n"
									     "status:\n"
									     "  preemptibility: preemptible\n"},
	};

	(void)state;
	RUN(rows);
}

/* ---- queues ---- */

#define QUEUES_YAML OBJECT("v1", "ConfigMap", "yunikorn-configs") "  namespace: yunikorn\ndata:\n  queues.yaml: |\n"
#define ROOT "    partitions:\n    - name: default\n      queues:\n      - name: root\n"
#define KAI_QUEUE(name) OBJECT("scheduling.run.ai/v2", "Queue", name)
#define SHARE(key, quota, limit)   \
	"    " key ":\n"           \
	"      quota: " quota "\n" \
	"      limit: " limit "\n" \
	"      overQuotaWeight: 1\n"

static void queues_of_both_worlds(void **state)
{
	static const struct row rows[] = {
		{"queues.yaml in a ConfigMap, children in order, a root that nobody wrote written",
		 "partitions:\n"
		 "- name: default\n"
		 "  queues:\n"
		 "  - name: b\n"
		 "    parent: true\n"
		 "    childtemplate: {maxapplications: 3, resources: {max: {vcore: 1}}}\n"
		 "  - name: A\n"
		 "    submitacl: '*'\n"
		 "    properties: {preemption.delay: 90s, x: y, priority.offset: '7'}\n"
		 "    resources: {guaranteed: {vcore: 1500m, memory: 1Gi, pods: 0}}\n"
		 "    limits: [{limit: all, users: [ann], maxapplications: 2, maxresources: {memory: 10M}}]\n",
		 QUEUES_YAML ROOT "        queues:\n"
				  "        - name: a\n"
				  "          submitacl: \"*\"\n"
				  "          resources:\n"
				  "            guaranteed:\n"
				  "              vcore: 1500m\n"
				  "              memory: 1Gi\n"
				  "              pods: \"0\"\n"
				  "          properties:\n"
				  "            priority.offset: \"7\"\n"
				  "            preemption.delay: 1m30s\n"
				  "          limits:\n"
				  "          - limit: all\n"
				  "            users:\n"
				  "            - ann\n"
				  "            maxapplications: 2\n"
				  "            maxresources:\n"
				  "              memory: 10M\n"
				  "        - name: b\n"
				  "          parent: true\n"
				  "          childtemplate:\n"
				  "            maxapplications: 3\n"
				  "            resources:\n"
				  "              max:\n"
				  "                vcore: \"1\"\n"},
		{"a KAI queue, and one that is not in the tree because its parent is not there",
		 "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {displayName: Q, "
		 "priority: 7, preemptMinRuntime: 90s,\n"
		 " resources: {gpu: {quota: 0.5, limit: 2, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1, "
		 "overQuotaWeight: 1}, memory: {quota: 0, limit: 1000, overQuotaWeight: 1}}}}\n"
		 "---\n"
		 "{apiVersion: scheduling.kai.nvidia.com/v1, kind: Queue, metadata: {name: p}, spec: {parentQueue: "
		 "gone, resources: {gpu: {quota: 1, limit: 1, overQuotaWeight: 1}, cpu: {quota: 0, limit: 0, "
		 "overQuotaWeight: 1}, memory: {quota: 0, limit: 0, overQuotaWeight: 1}}}}",
		 KAI_QUEUE("p") "spec:\n"
				"  parentQueue: gone\n"
				"  resources:\n" SHARE("gpu", "1", "1") SHARE("cpu", "0", "0")
					SHARE("memory", "0", "0") "---\n" KAI_QUEUE(
						"q") "spec:\n"
						     "  displayName: Q\n"
						     "  priority: 7\n"
						     "  resources:\n" SHARE("gpu", "0.5", "2") SHARE("cpu", "-1", "-1")
							     SHARE("memory", "0",
								   "1000") "  preemptMinRuntime: 1m30s\n"},
		{"of a queue that both define, each says what it said",
		 "partitions: [{name: default, queues: [{name: q, resources: {max: {vcore: 4}}}]}]\n"
		 "---\n"
		 "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {resources: {gpu: {quota: "
		 "8, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: {quota: "
		 "0, limit: -1, overQuotaWeight: 1}}}}",
		 QUEUES_YAML ROOT "        queues:\n"
				  "        - name: q\n"
				  "          resources:\n"
				  "            max:\n"
				  "              vcore: \"4\"\n"
				  "---\n" KAI_QUEUE("q") "spec:\n"
							 "  resources:\n" SHARE("gpu", "8", "-1")
								 SHARE("cpu", "-1", "-1") SHARE("memory", "0", "-1")},
	};

	(void)state;
	RUN(rows);
}

static void placement_rules_with_their_parents(void **state)
{
	static const char *const users[] = {"ann", "bob"};
	const struct placement_rule fixed = {.kind = PLACEMENT_FIXED, .value = "root.q"},
				    user = {.kind = PLACEMENT_USER, .may_create = true, .parent = &fixed},
				    rules[] = {
					    {.kind = PLACEMENT_TAG,
					     .value = "namespace",
					     .parent = &user,
					     .filter = {.denies = true, .users = {.n = 2, .names = users}}},
					    {.kind = PLACEMENT_PROVIDED, .filter.groups.expression = "dev.*"},
				    };
	struct err e = {0};
	struct fixture f;

	(void)state;
	build(&f, "partitions: [{name: default, queues: [{name: q, parent: true}]}]\n", options());
	assert_int_equal(cluster_put_placement(f.cluster, rules, COUNT(rules), &e), ERR_OK);
	assert_string_equal(output(&f, EMIT_YAML), QUEUES_YAML ROOT "        queues:\n"
								    "        - name: q\n"
								    "          parent: true\n"
								    "      placementrules:\n"
								    "      - name: tag\n"
								    "        value: namespace\n"
								    "        filter:\n"
								    "          type: deny\n"
								    "          users:\n"
								    "          - ann\n"
								    "          - bob\n"
								    "        parent:\n"
								    "          name: user\n"
								    "          create: true\n"
								    "          parent:\n"
								    "            name: fixed\n"
								    "            value: root.q\n"
								    "      - name: provided\n"
								    "        filter:\n"
								    "          type: allow\n"
								    "          groups:\n"
								    "          - dev.*\n");
	end(&f);
}

/* Deeper than what emit can nest. */
static void queues_may_be_as_deep_as_they_can(void **state)
{
	struct fixture f;
	struct text in = {0};

	(void)state;
	text_add(&in, "partitions:\n"
		      "- name: default\n"
		      "  queues:\n"
		      "  - name: root\n");
	for (size_t i = 1; i < QUEUE_DEPTH_MAX; i++) {
		text_pad(&in, ' ', 2 + 2 * i);
		text_add(&in, "queues:\n");
		text_pad(&in, ' ', 2 + 2 * i);
		text_printf(&in, "- name: q%zu\n", i);
	}
	build(&f, text_str(&in), options());
	output(&f, EMIT_YAML);
	struct fixture again;
	build(&again, text_str(&f.out), options());
	assert_string_equal(output(&again, EMIT_YAML), text_str(&f.out));
	assert_non_null(strstr(text_str(&f.out), "- name: q63\n"));
	end(&again);
	end(&f);
	text_free(&in);
}

/* ---- what the engine did since ---- */

static const char moving[] = "apiVersion: v1\n"
			     "kind: Node\n"
			     "metadata: {name: n1}\n"
			     "---\n"
			     "apiVersion: v1\n"
			     "kind: Node\n"
			     "metadata: {name: n2}\n"
			     "---\n"
			     "apiVersion: policy/v1\n"
			     "kind: PodDisruptionBudget\n"
			     "metadata: {name: b, namespace: ns}\n"
			     "spec: {selector: {}}\n"
			     "status: {disruptionsAllowed: 3}\n"
			     "---\n"
			     "apiVersion: v1\n"
			     "kind: Pod\n"
			     "metadata: {name: runs, namespace: ns}\n"
			     "spec: {nodeName: n1, containers: [{}]}\n"
			     "status: {phase: Running, startTime: '2026-11-15T10:00:00Z'}\n"
			     "---\n"
			     "apiVersion: v1\n"
			     "kind: Pod\n"
			     "metadata: {name: waits, namespace: ns}\n"
			     "spec: {containers: [{}]}\n"
			     "status: {nominatedNodeName: n1}\n";

struct moving {
	struct fixture f;
	pod_id runs, waits;
	node_id n2;
};

static void moving_begin(struct moving *m, const struct cluster_options *o)
{
	build(&m->f, moving, o);
	m->runs = cluster_find_pod(m->f.cluster, "ns", "runs");
	m->waits = cluster_find_pod(m->f.cluster, "ns", "waits");
	m->n2 = ledger_node_find(m->f.ledger, names_find(vocab_names(m->f.vocab), "n2", 2));
}

#define TIME_11 (INT64_C(1794740400) * NS_PER_S) /* 2026-11-15T11:00:00Z */

static void a_pod_is_where_the_ledger_has_it(void **state)
{
	struct moving m;

	(void)state;
	moving_begin(&m, options());
	ledger_place(m.f.ledger, m.waits, m.n2);
	ledger_set_started(m.f.ledger, m.waits, TIME_11);
	ledger_vacate(m.f.ledger, m.runs);
	output(&m.f, EMIT_YAML);
	assert_non_null(strstr(m.f.out.s, "  name: waits\n"
					  "  namespace: ns\n"
					  "spec:\n"
					  "  nodeName: n2\n"));
	assert_non_null(strstr(m.f.out.s, "  phase: Pending\n"
					  "  startTime: \"2026-11-15T11:00:00Z\"\n"));
	assert_non_null(strstr(m.f.out.s, "  name: runs\n"
					  "  namespace: ns\n"
					  "spec:\n"
					  "  containers:\n"));
	end(&m.f);
}

static void a_nomination_is_written(void **state)
{
	struct moving m;

	(void)state;
	moving_begin(&m, options());
	assert_non_null(strstr(output(&m.f, EMIT_YAML), "nominatedNodeName: n1\n"));
	ledger_reserve(m.f.ledger, m.n2, m.waits);
	assert_non_null(strstr(output(&m.f, EMIT_YAML), "nominatedNodeName: n2\n"));
	ledger_clear_nomination(m.f.ledger, m.waits);
	assert_null(strstr(output(&m.f, EMIT_YAML), "nominatedNodeName"));
	end(&m.f);
}

static void an_evicted_pod_is_being_deleted_and_has_spent_its_budgets(void **state)
{
	struct cluster_options o = cluster_options_default();
	struct moving m;

	(void)state;
	moving_begin(&m, &o);
	ledger_evict(m.f.ledger, m.runs);
	output(&m.f, EMIT_YAML);
	assert_non_null(strstr(m.f.out.s, "  disruptionsAllowed: 2\n"
					  "  disruptedPods:\n"
					  "    runs: null\n"));
	assert_non_null(strstr(m.f.out.s, "  name: runs\n"
					  "  namespace: ns\n"
					  "  deletionTimestamp: \"2026-11-15T10:00:00Z\"\n"
					  "spec:\n"
					  "  nodeName: n1\n"));
	assert_non_null(strstr(m.f.out.s, "  - type: DisruptionTarget\n"
					  "    status: \"True\"\n"
					  "    reason: PreemptionByScheduler\n"));
	end(&m.f);

	o.now_ns = TIME_11;
	moving_begin(&m, &o);
	ledger_evict(m.f.ledger, m.runs);
	assert_non_null(strstr(output(&m.f, EMIT_YAML), "  deletionTimestamp: \"2026-11-15T11:00:00Z\"\n"));
	end(&m.f);
}

static void a_group_started_when_the_ledger_says(void **state)
{
	struct fixture f;

	(void)state;
	build(&f,
	      "apiVersion: scheduling.run.ai/v2alpha2\n"
	      "kind: PodGroup\n"
	      "metadata: {name: g, namespace: ns}\n",
	      options());
	ledger_set_group_started(f.ledger, 0, TIME_11);
	assert_non_null(
		strstr(output(&f, EMIT_YAML), "    kai.scheduler/last-start-timestamp: \"2026-11-15T11:00:00Z\"\n"));
	end(&f);
}

/* ---- the two formats ---- */

static void JSON_is_one_list(void **state)
{
	struct fixture f;

	(void)state;
	build(&f, "", options());
	assert_string_equal(output(&f, EMIT_JSON_LINE), "{\"apiVersion\":\"v1\",\"kind\":\"List\"}\n");
	end(&f);
	build(&f,
	      "partitions: [{name: default, queues: [{name: q}]}]\n"
	      "---\n"
	      "apiVersion: v1\n"
	      "kind: Namespace\n"
	      "metadata: {name: a}\n",
	      options());
	assert_string_equal(
		output(&f, EMIT_JSON_LINE),
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
		"\"metadata\":{\"name\":\"yunikorn-configs\",\"namespace\":\"yunikorn\"},\"data\":{\"queues.yaml\":"
		"\"partitions:\\n- name: default\\n  queues:\\n  - name: root\\n    queues:\\n    - name: "
		"q\\n\"}},{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}]}\n");
	end(&f);
}

static void order_is_kind_namespace_name(void **state)
{
	static const char input[] = "apiVersion: v1\n"
				    "kind: Pod\n"
				    "metadata: {name: b, namespace: y}\n"
				    "---\n"
				    "apiVersion: v1\n"
				    "kind: Pod\n"
				    "metadata: {name: c, namespace: x}\n"
				    "---\n"
				    "apiVersion: v1\n"
				    "kind: Pod\n"
				    "metadata: {name: a, namespace: y}\n"
				    "---\n"
				    "apiVersion: v1\n"
				    "kind: Node\n"
				    "metadata: {name: z}\n"
				    "---\n"
				    "apiVersion: v1\n"
				    "kind: Namespace\n"
				    "metadata: {name: zz}\n"
				    "---\n"
				    "apiVersion: v1\n"
				    "kind: Node\n"
				    "metadata: {name: a}\n";
	static const char *const order[] = {"kind: Namespace\n"
					    "metadata:\n"
					    "  name: zz\n",
					    "kind: Node\n"
					    "metadata:\n"
					    "  name: a\n",
					    "kind: Node\n"
					    "metadata:\n"
					    "  name: z\n",
					    "  name: c\n"
					    "  namespace: x\n",
					    "  name: a\n"
					    "  namespace: \"y\"\n",
					    "  name: b\n"
					    "  namespace: \"y\"\n"};
	struct fixture f;
	const char *at;

	(void)state;
	build(&f, input, options());
	at = output(&f, EMIT_YAML);
	for (size_t i = 0; i < COUNT(order); i++) {
		at = strstr(at, order[i]);
		if (!at)
			fail_msg("%s is not in its place:\n"
				 "%s",
				 order[i], f.out.s);
	}
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_but_pods_and_queues),
		cmocka_unit_test(a_taint_without_effect_is_left_out),
		cmocka_unit_test(PP_6_groups_publish_how_they_may_be_interrupted),
		cmocka_unit_test(queues_of_both_worlds),
		cmocka_unit_test(placement_rules_with_their_parents),
		cmocka_unit_test(queues_may_be_as_deep_as_they_can),
		cmocka_unit_test(a_pod_is_where_the_ledger_has_it),
		cmocka_unit_test(a_nomination_is_written),
		cmocka_unit_test(an_evicted_pod_is_being_deleted_and_has_spent_its_budgets),
		cmocka_unit_test(a_group_started_when_the_ledger_says),
		cmocka_unit_test(JSON_is_one_list),
		cmocka_unit_test(order_is_kind_namespace_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
