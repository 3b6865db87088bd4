/* SPDX-License-Identifier: Apache-2.0 */
/* What manifest_write makes of pods, and the annotation that says what their containers cannot. */
#include "write_fixture.h"

/* ---- pods ---- */

#define POD_IN "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns"
#define MAIN "spec:\n  containers:\n  - name: main\n"

static void pods_say_what_they_said(void **state)
{
	static const struct row rows[] = {
		{"the first container asks for everything, the others are there",
		 POD_IN "}\n"
			"spec:\n"
			"  initContainers: [{image: i, resources: {requests: {cpu: 3}}}]\n"
			"  containers: [{image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}, {}]\n",
		 POD "  annotations:\n"
		     "    cede.dev/scoring-request: cpu=3,memory=1224Mi\n" MAIN "    image: i:latest\n"
		     "    resources:\n"
		     "      requests:\n"
		     "        cpu: \"3\"\n"
		     "        memory: 1Gi\n"
		     "  - name: main-2\n"
		     "    image: a:latest\n"
		     "    resources:\n"
		     "      requests:\n"
		     "        cpu: \"0\"\n"
		     "        memory: \"0\"\n"
		     "  - name: main-3\n"
		     "    resources:\n"
		     "      requests:\n"
		     "        cpu: \"0\"\n"
		     "        memory: \"0\"\n" PENDING},
		{"labels and annotations that cede reads; those that labels say already are not repeated",
		 POD_IN ", labels: {queue: root.a, applicationId: app}, annotations: {pod-group-name: g, "
			"yunikorn.apache.org/queue: root.b, yunikorn.apache.org/user.info: '{\"user\": \"ann\", "
			"\"groups\": []}', yunikorn.apache.org/allow-preemption: 'false', cede.dev/checkpointed-at: "
			"'2026-11-15T12:00:00.5Z', other: x}}\n"
			"spec: {containers: [{}]}\n",
		 POD "  labels:\n"
		     "    applicationId: app\n"
		     "    queue: root.a\n"
		     "  annotations:\n"
		     "    cede.dev/checkpointed-at: \"2026-11-15T12:00:00.5Z\"\n"
		     "    pod-group-name: g\n"
		     "    yunikorn.apache.org/allow-preemption: \"false\"\n"
		     "    yunikorn.apache.org/queue: root.b\n"
		     "    yunikorn.apache.org/user.info: \"{\\\"user\\\":\\\"ann\\\"}\"\n" MAIN PENDING},
		{"an owner of a kind that cede does not know",
		 POD_IN
		 ", ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: r, uid: u, controller: true}]}\n"
		 "spec: {containers: [{}]}\n",
		 POD "  ownerReferences:\n"
		     "  - kind: Other\n"
		     "    name: r\n"
		     "    uid: u\n"
		     "    controller: true\n" MAIN PENDING},
		{"a pod without containers takes its overhead",
		 POD_IN "}\n"
			"spec: {overhead: {cpu: 100m}}\n",
		 POD "spec:\n"
		     "  overhead:\n"
		     "    cpu: 100m\n"
		     "  containers: []\n" PENDING},
		{"where a pod may run",
		 POD_IN "}\n"
			"spec:\n"
			"  schedulerName: cede\n"
			"  preemptionPolicy: Never\n"
			"  priority: 0\n"
			"  schedulingGroup: {podGroupName: g}\n"
			"  nodeSelector: {b: '1', a: '2'}\n"
			"  hostNetwork: true\n"
			"  schedulingGates: [{name: g}]\n"
			"  volumes: [{name: v, ephemeral: {}}]\n"
			"  tolerations: [{key: k}, {operator: Exists, effect: NoExecute}]\n"
			"  topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: "
			"ScheduleAnyway, labelSelector: {}, matchLabelKeys: [v], nodeTaintsPolicy: Honor}]\n"
			"  containers: [{ports: [{containerPort: 80}, {containerPort: 1, hostPort: 81, hostIP: "
			"0.0.0.0, protocol: UDP}]}]\n",
		 POD "spec:\n"
		     "  priority: 0\n"
		     "  schedulingGroup:\n"
		     "    podGroupName: g\n"
		     "  volumes:\n"
		     "  - name: v\n"
		     "    ephemeral: {}\n"
		     "  schedulerName: cede\n"
		     "  preemptionPolicy: Never\n"
		     "  nodeSelector:\n"
		     "    a: \"2\"\n"
		     "    b: \"1\"\n"
		     "  tolerations:\n"
		     "  - key: k\n"
		     "    operator: Equal\n"
		     "  - operator: Exists\n"
		     "    effect: NoExecute\n"
		     "  topologySpreadConstraints:\n"
		     "  - maxSkew: 2\n"
		     "    topologyKey: zone\n"
		     "    whenUnsatisfiable: ScheduleAnyway\n"
		     "    nodeTaintsPolicy: Honor\n"
		     "    labelSelector: {}\n"
		     "    matchLabelKeys:\n"
		     "    - v\n"
		     "  schedulingGates:\n"
		     "  - name: g\n"
		     "  containers:\n"
		     "  - name: main\n"
		     "    ports:\n"
		     "    - containerPort: 80\n"
		     "      hostPort: 80\n"
		     "      protocol: TCP\n"
		     "    - containerPort: 81\n"
		     "      hostPort: 81\n"
		     "      protocol: UDP\n" PENDING},
		{"affinity to nodes; a term that matches nothing stays one",
		 POD_IN "}\n"
			"spec:\n"
			"  affinity:\n"
			"    nodeAffinity:\n"
			"      requiredDuringSchedulingIgnoredDuringExecution:\n"
			"        nodeSelectorTerms:\n"
			"        - {matchExpressions: [{key: b, operator: Gt, values: ['7']}, {key: a, operator: "
			"Exists}], matchFields: [{key: metadata.name, operator: In, values: [n]}]}\n"
			"        - {matchExpressions: [{key: a, operator: Like, values: [x]}]}\n"
			"      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {}}]\n"
			"  containers: [{}]\n",
		 POD "spec:\n"
		     "  affinity:\n"
		     "    nodeAffinity:\n"
		     "      requiredDuringSchedulingIgnoredDuringExecution:\n"
		     "        nodeSelectorTerms:\n"
		     "        - matchExpressions:\n"
		     "          - key: b\n"
		     "            operator: Gt\n"
		     "            values:\n"
		     "            - \"7\"\n"
		     "          - key: a\n"
		     "            operator: Exists\n"
		     "          matchFields:\n"
		     "          - key: metadata.name\n"
		     "            operator: In\n"
		     "            values:\n"
		     "            - \"n\"\n"
		     "        - matchExpressions:\n"
		     "          - key: invalid\n"
		     "            operator: Invalid\n"
		     "      preferredDuringSchedulingIgnoredDuringExecution:\n"
		     "      - weight: 5\n"
		     "        preference: {}\n"
		     "  containers:\n"
		     "  - name: main\n" PENDING},
		{"affinity to pods",
		 POD_IN "}\n"
			"spec:\n"
			"  affinity:\n"
			"    podAntiAffinity:\n"
			"      requiredDuringSchedulingIgnoredDuringExecution:\n"
			"      - {topologyKey: host, labelSelector: {matchLabels: {a: b}}, namespaceSelector: {}}\n"
			"      preferredDuringSchedulingIgnoredDuringExecution:\n"
			"      - {weight: 1, podAffinityTerm: {topologyKey: zone, namespaces: [y, x]}}\n"
			"  containers: [{}]\n",
		 POD "spec:\n"
		     "  affinity:\n"
		     "    podAntiAffinity:\n"
		     "      requiredDuringSchedulingIgnoredDuringExecution:\n"
		     "      - topologyKey: host\n"
		     "        labelSelector:\n"
		     "          matchLabels:\n"
		     "            a: b\n"
		     "        namespaceSelector: {}\n"
		     "      preferredDuringSchedulingIgnoredDuringExecution:\n"
		     "      - weight: 1\n"
		     "        podAffinityTerm:\n"
		     "          topologyKey: zone\n"
		     "          namespaces:\n"
		     "          - \"y\"\n"
		     "          - x\n"
		     "  containers:\n"
		     "  - name: main\n" PENDING},
	};

	(void)state;
	RUN(rows);
}

#define ASKS_1 "    resources:\n      requests:\n        cpu: \"1\"\n"
#define TAKES(cpu) "  containerStatuses:\n  - name: main\n    resources:\n      requests:\n        cpu: " cpu "\n"
#define INFEASIBLE "  conditions:\n  - type: PodResizePending\n    status: \"True\"\n    reason: Infeasible\n"

static void pods_take_what_they_took(void **state)
{
	static const struct row rows[] = {
		{"more than it asks for",
		 POD_IN "}\n"
			"spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
			"status: {containerStatuses: [{name: c, allocatedResources: {cpu: 2}}]}\n",
		 POD MAIN ASKS_1 PENDING TAKES("\"2\"")},
		{"less, because it cannot grow",
		 POD_IN "}\n"
			"spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
			"status: {containerStatuses: [{name: c, allocatedResources: {cpu: 500m}}], conditions: [{type: "
			"PodResizePending, reason: Infeasible}]}\n",
		 POD MAIN ASKS_1 PENDING INFEASIBLE TAKES("500m")},
		{"nothing, because nobody says what it has",
		 POD_IN "}\n"
			"spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
			"status: {conditions: [{type: PodResizePending, reason: Infeasible}]}\n",
		 POD MAIN ASKS_1 PENDING INFEASIBLE},
		{"a resize that changes nothing is forgotten",
		 POD_IN "}\n"
			"spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
			"status: {containerStatuses: [{name: c, allocatedResources: {cpu: 1}}], conditions: [{type: "
			"PodResizePending, reason: Infeasible}]}\n",
		 POD MAIN ASKS_1 PENDING},
	};

	(void)state;
	RUN(rows);
}

/* ---- the annotation for what cannot be said otherwise ---- */

static void scoring_requests_change_scores_and_nothing_else(void **state)
{
	static const struct {
		const char *says, *annotation;
		int64_t cpu_milli, memory;
		const char *note;
	} rows[] = {
		{"both amounts", "cpu=150m,memory=400Mi", 150, INT64_C(400) << 20, NULL},
		{"one of them leaves the other", "memory=1", 2000, 1, NULL},
		{"none", "", 2000, INT64_C(200) << 20, NULL},
		{"a bad amount takes all of it away", "cpu=1,memory=1x", 2000, INT64_C(200) << 20,
		 "in.yaml:2:42: Pod ns/p: metadata.annotations.cede.dev/scoring-request: expected amounts such as "
		 "cpu=150m,memory=400Mi; taken as not set"},
		{"other types have no score", "nvidia.com/gpu=1", 2000, INT64_C(200) << 20,
		 "in.yaml:2:42: Pod ns/p: metadata.annotations.cede.dev/scoring-request: expected amounts such as "
		 "cpu=150m,memory=400Mi; taken as not set"},
		{"a negative amount is a bad one", "cpu=-1", 2000, INT64_C(200) << 20,
		 "in.yaml:2:42: Pod ns/p: metadata.annotations.cede.dev/scoring-request: expected amounts such as "
		 "cpu=150m,memory=400Mi; taken as not set"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text in = {0};
		struct fixture f;
		const struct shape *s;

		text_printf(&in,
			    "metadata: {name: p, namespace: ns,\n"
			    " annotations: {cede.dev/scoring-request: \"%s\"}}\n"
			    "apiVersion: v1\n"
			    "kind: Pod\n"
			    "spec: {containers: [{resources: {requests: {cpu: 2}}}]}\n",
			    rows[i].annotation);
		build(&f, text_str(&in), options());
		s = shape_get(f.vocab, ledger_pod(f.ledger, cluster_find_pod(f.cluster, "ns", "p"))->shape);
		if (s->nonzero_cpu_milli != rows[i].cpu_milli || s->nonzero_memory != rows[i].memory)
			fail_msg("%s: cpu %lld, memory %lld", rows[i].says, (long long)s->nonzero_cpu_milli,
				 (long long)s->nonzero_memory);
		assert_int_equal(s->request.n, 1);
		assert_int_equal(res_list_get(&s->request, RES_CPU), 2000);
		assert_int_equal(res_list_get(&s->usage, RES_CPU), 2000);
		assert_int_equal(manifest_note_count(f.manifest), rows[i].note != NULL);
		if (rows[i].note)
			assert_string_equal(manifest_note(f.manifest, 0), rows[i].note);
		end(&f);
		text_free(&in);
	}
}

/* ---- labels that only the object knows ---- */

static void what_a_hand_made_pod_says_becomes_labels(void **state)
{
	struct fixture f;
	struct names *names;
	struct shape draft = {0};
	struct err e = {0};

	(void)state;
	build(&f, "", options());
	names = vocab_names(f.vocab);
	name_id ns = names_hold_str(names, "ns");
	struct obj_pod o = {.name = names_hold_str(names, "p"),
			    .labelset = labelset_hold(f.vocab, ns, NULL, 0),
			    .shape = shape_hold(f.vocab, &draft),
			    .kai_queue = names_hold_str(names, "team"),
			    .app = names_hold_str(names, "app"),
			    .preemptibility = NON_PREEMPTIBLE,
			    .created_ns = TIME_NONE,
			    .started_ns = TIME_NONE,
			    .scheduled_ns = TIME_NONE,
			    .deleted_ns = TIME_NONE,
			    .checkpointed_ns = TIME_NONE};
	*obj_pod_extra(&o) = (struct pod_extra){.user = names_hold_str(names, "ann"),
						.user_groups = names_hold_str(names, "dev,ops")};
	names_drop(names, ns);
	assert_int_equal(cluster_put_pod(f.cluster, &o, &e), ERR_OK);
	assert_string_equal(output(&f, EMIT_YAML),
			    POD "  labels:\n"
				"    kai.scheduler/preemptibility: non-preemptible\n"
				"    kai.scheduler/queue: team\n"
				"  annotations:\n"
				"    yunikorn.apache.org/app-id: app\n"
				"    yunikorn.apache.org/user.info: "
				"\"{\\\"user\\\":\\\"ann\\\",\\\"groups\\\":[\\\"dev\\\",\\\"ops\\\"]}\"\n"
				"spec:\n"
				"  containers: []\n" PENDING);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_say_what_they_said),
		cmocka_unit_test(pods_take_what_they_took),
		cmocka_unit_test(scoring_requests_change_scores_and_nothing_else),
		cmocka_unit_test(what_a_hand_made_pod_says_becomes_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
