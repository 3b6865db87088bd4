/* SPDX-License-Identifier: Apache-2.0 */
#include "yunikorn_fixture.h"

/* ---- what is refused, with where and why ---- */

static void GQ_14_refuses_keys_nobody_knows(void **state)
{
	static const struct row rows[] = {
		{"at the top", "partitions:\n- name: default\n  queues: []\npartition: 1\n",
		 "queues.yaml:4:1: partition: unknown field; did you mean \"partitions\"?"},
		{"in a partition", "partitions:\n- name: default\n  queues: []\n  statedumpfilepath: a/b\n",
		 "queues.yaml:4:3: partition default: statedumpfilepath: unknown field; known here: name, queues, "
		 "placementrules, limits, "
		 "preemption, nodesortpolicy, usergroupresolver"},
		{"in a queue", ROOT("    queues:\n    - name: a\n      maxapplication: 3\n"),
		 "queues.yaml:7:7: queue root.a: maxapplication: unknown field; did you mean \"maxapplications\"?"},
		{"in resources", ROOT("    queues:\n    - name: a\n      resources:\n        guarantee: {vcore: 1}\n"),
		 "queues.yaml:8:9: queue root.a: resources.guarantee: unknown field; did you mean \"guaranteed\"?"},
		{"in a template", ROOT("    childtemplate:\n      maxapplications: 1\n      limits: []\n"),
		 "queues.yaml:7:7: queue root: childtemplate.limits: unknown field; known here: maxapplications, "
		 "properties, resources"},
		{"in a limit", ROOT("    limits:\n    - limit: a\n      user: [x]\n"),
		 "queues.yaml:7:7: queue root: limits[0].user: unknown field; did you mean \"users\"?"},
		{"in a rule", "partitions:\n- queues: []\n  placementrules:\n  - name: user\n    created: true\n",
		 "queues.yaml:5:5: partition default: placementrules[0].created: unknown field; did you mean "
		 "\"create\"?"},
		{"in a filter",
		 "partitions:\n- queues: []\n  placementrules:\n  - name: user\n    filter: {kind: deny}\n",
		 "queues.yaml:5:14: partition default: placementrules[0].filter.kind: unknown field; known here: type, "
		 "users, groups"},
		{"in preemption", "partitions:\n- queues: []\n  preemption:\n    enable: false\n",
		 "queues.yaml:4:5: partition default: preemption.enable: unknown field; did you mean \"enabled\"?"},
		{"in nodesortpolicy", "partitions:\n- queues: []\n  nodesortpolicy: {typ: fair}\n",
		 "queues.yaml:3:20: partition default: nodesortpolicy.typ: unknown field; did you mean \"type\"?"},
		{"a checksum is fine", "partitions:\n- queues: []\nchecksum: ABC\n", NULL},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_refuses_wrong_kinds_of_values(void **state)
{
	static const struct row rows[] = {
		{"partitions is a list", "partitions: {}\n",
		 "queues.yaml:1:13: partitions: expected a list, found a map"},
		{"partitions is not empty", "partitions: []\n",
		 "queues.yaml:1:13: partitions: expected at least one partition"},
		{"a partition is a map", "partitions: [x]\n",
		 "queues.yaml:1:14: partitions[0]: expected a partition, found \"x\""},
		{"queues is a list", "partitions:\n- queues: {}\n",
		 "queues.yaml:2:11: partition default: queues: expected a list, found a map"},
		{"a queue is a map", ROOT("    queues: [x]\n"),
		 "queues.yaml:5:14: queue root: queues[0]: expected a queue, found \"x\""},
		{"parent is a flag", ROOT("    parent: 1\n"),
		 "queues.yaml:5:13: queue root: parent: expected true or false, found 1"},
		{"yes is a flag too", ROOT("    parent: yes\n"), NULL},
		{"maxapplications is a number", ROOT("    maxapplications: many\n"),
		 "queues.yaml:5:22: queue root: maxapplications: expected a whole number, found \"many\""},
		{"maxapplications is not negative", ROOT("    maxapplications: -1\n"),
		 "queues.yaml:5:22: queue root: maxapplications: expected a number from 0 to 9223372036854775807, "
		 "found -1"},
		{"properties is a map", ROOT("    properties: [a]\n"),
		 "queues.yaml:5:17: queue root: properties: expected a map, found a list"},
		{"a property is a scalar", ROOT("    properties: {a: []}\n"),
		 "queues.yaml:5:21: queue root: properties.a: expected a string, found a list"},
		{"a number is fine there", ROOT("    properties: {priority.offset: 5}\n"), NULL},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_checks_partitions(void **state)
{
	static const struct row rows[] = {
		{"a partition without queues", "partitions:\n- name: default\n",
		 "queues.yaml:2:3: partition default: queues: expected a list of queues, found nothing"},
		{"queues without value", "partitions:\n- queues:\n",
		 "queues.yaml:2:3: partition default: queues: expected a list of queues, found nothing"},
		{"an empty list of queues is fine", "partitions:\n- queues: []\n", NULL},
		{"two partitions named default",
		 "partitions:\n- name: default\n  queues: []\n- name: Default\n  queues: []\n",
		 "queues.yaml:4:9: partitions[1].name: there is another partition \"default\""},
		{"no name is default as well", "partitions:\n- name: DEFAULT\n  queues: []\n- queues: []\n",
		 "queues.yaml:4:3: partitions[1].name: there is another partition \"default\""},
		{"two partitions named part1",
		 "partitions:\n- name: part1\n  queues: []\n- name: PART1\n  queues: []\n",
		 "queues.yaml:4:9: partitions[1].name: there is another partition \"part1\""},
		{"other partitions are checked too",
		 "partitions:\n- queues: []\n- name: gpu\n  queues: [{name: a.b}]\n",
		 "queues.yaml:4:19: partition gpu: queues[0].name: expected a queue name of 1 to 64 letters, digits "
		 "and _ : # / @ -, found "
		 "\"a.b\""},
		{"a node sort nobody knows", "partitions:\n- queues: []\n  nodesortpolicy:\n    type: binpack\n",
		 "queues.yaml:4:11: partition default: nodesortpolicy.type: expected fair or binpacking, found "
		 "\"binpack\"; did you mean "
		 "\"binpacking\"?"},
		{"an empty one is the default",
		 "partitions:\n- queues: []\n  nodesortpolicy: {type: \"\", resourceweights: {vcore: 2.5}}\n", NULL},
		{"a negative weight",
		 "partitions:\n- queues: []\n  nodesortpolicy:\n    resourceweights: {vcore: -1.5}\n",
		 "queues.yaml:4:30: partition default: nodesortpolicy.resourceweights.vcore: must not be negative, "
		 "found -1.5"},
	};

	run(rows, COUNT(rows));
}

#define SIXTY "abcdefghij_KLMNOPQRST-0123456789:#/@uvwxyzabcdefghijklmnopqr"

static void GQ_14_checks_names_of_queues(void **state)
{
	static const struct row rows[] = {
		{"64 characters of those allowed", ROOT("    queues:\n    - name: \"" SIXTY "stuv\"\n"), NULL},
		{"one more", ROOT("    queues:\n    - name: \"" SIXTY "stuvw\"\n"),
		 "queues.yaml:6:13: queue root: queues[0].name: expected a queue name of 1 to 64 letters, digits and _ "
		 ": # / @ -, found \"" SIXTY "\"\xE2\x80\xA6"},
		{"a dot", ROOT("    queues:\n    - name: a.b\n"),
		 "queues.yaml:6:13: queue root: queues[0].name: expected a queue name of 1 to 64 letters, digits and _ "
		 ": # / @ -, found \"a.b\""},
		{"a dollar", ROOT("    queues:\n    - name: a\n    - name: a$\n"),
		 "queues.yaml:7:13: queue root: queues[1].name: expected a queue name of 1 to 64 letters, digits and _ "
		 ": # / @ -, found \"a$\""},
		{"no name", ROOT("    queues:\n    - parent: true\n"),
		 "queues.yaml:6:7: queue root: queues[0].name: expected a queue name of 1 to 64 letters, digits and _ "
		 ": # / @ -, found nothing"},
		{"an empty name", ROOT("    queues:\n    - name: ''\n"),
		 "queues.yaml:6:13: queue root: queues[0].name: expected a queue name of 1 to 64 letters, digits and _ "
		 ": # / @ -, found \"\""},
		{"siblings of one name", ROOT("    queues:\n    - name: dev\n    - name: ops\n    - name: Dev\n"),
		 "queues.yaml:8:13: queue root: queues[2].name: root.dev is already defined at queues.yaml:6:7"},
		{"cousins of one name are fine",
		 ROOT("    queues:\n    - name: a\n      queues: [{name: x}]\n    - name: b\n      queues: [{name: "
		      "x}]\n"),
		 NULL},
		{"siblings below the root that nobody wrote", "partitions:\n- queues:\n  - name: a\n  - name: A\n",
		 "queues.yaml:4:11: partition default: queues[1].name: root.a is already defined at queues.yaml:3:5"},
		{"a number is a name", ROOT("    queues:\n    - name: 2026\n"), NULL},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_checks_amounts(void **state)
{
	static const struct row rows[] = {
		{"root with guaranteed", ROOT("    resources:\n      guaranteed: {memory: 1}\n"),
		 "queues.yaml:6:19: queue root: resources.guaranteed: not allowed on root, which has what the nodes "
		 "have"},
		{"root with an empty max", ROOT("    resources: {max: {}}\n"),
		 "queues.yaml:5:22: queue root: resources.max: not allowed on root, which has what the nodes have"},
		{"negative guaranteed",
		 ROOT("    queues:\n    - name: a\n      resources:\n        guaranteed: {memory: -50, vcore: 33}\n"),
		 "queues.yaml:8:30: queue root.a: resources.guaranteed.memory: bad quantity '-50': expected digits and "
		 "a suffix, "
		 "without sign or fraction"},
		{"negative max",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max: {memory: '-50', vcore: 33}\n"),
		 "queues.yaml:8:23: queue root.a: resources.max.memory: bad quantity '-50': expected digits and a "
		 "suffix, without "
		 "sign or fraction"},
		{"max memory is a word",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max: {memory: ten}\n"),
		 "queues.yaml:8:23: queue root.a: resources.max.memory: bad quantity 'ten': expected digits and a "
		 "suffix, without "
		 "sign or fraction"},
		{"max memory without value",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max:\n          memory:\n"),
		 "queues.yaml:9:18: queue root.a: resources.max.memory: expected an amount such as 10 or 16Gi, found "
		 "nothing"},
		{"vcore without value",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max: {vcore: ''}\n"),
		 "queues.yaml:8:22: queue root.a: resources.max.vcore: expected an amount such as 4 or 500m, found "
		 "\"\""},
		{"m is for vcore alone",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max: {vcore: 500m, memory: 500m}\n"),
		 "queues.yaml:8:36: queue root.a: resources.max.memory: bad quantity '500m': expected one of the "
		 "suffixes k M G T "
		 "P E Ki Mi Gi Ti Pi Ei"},
		{"too much for 64 bits",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max: {memory: 1000E}\n"),
		 "queues.yaml:8:23: queue root.a: resources.max.memory: bad quantity '1000E': too large"},
		{"an amount is no map",
		 ROOT("    queues:\n    - name: a\n      resources:\n        max: {memory: {a: 1}}\n"),
		 "queues.yaml:8:23: queue root.a: resources.max.memory: expected an amount such as 10 or 16Gi, found a "
		 "map"},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_checks_amounts_between_queues(void **state)
{
	static const struct row rows[] = {
		{"only max", ROOT("    queues:\n    - name: a\n      resources: {max: {memory: 10, vcores: 30}}\n"),
		 NULL},
		{"only guaranteed",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 10, vcores: 30}}\n"), NULL},
		{"guaranteed above max",
		 ROOT("    queues:\n    - name: a\n      resources:\n        guaranteed: {vcore: 33}\n        max: "
		      "{vcore: 30}\n"),
		 "queues.yaml:8:29: queue root.a: resources.guaranteed.vcore: 33 is above the queue's own max 30"},
		{"even where the max is zero and would not count",
		 ROOT("    queues:\n    - name: a\n      resources:\n        guaranteed: {memory: 1}\n        max: "
		      "{memory: 0}\n"),
		 "queues.yaml:8:30: queue root.a: resources.guaranteed.memory: 1 is above the queue's own max 0"},
		{"guaranteed types that max does not state",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 10}, max: {vcore: 1}}\n"),
		 NULL},
		{"child max above parent max",
		 ROOT("    queues:\n    - name: a\n      resources: {max: {memory: 10Gi}}\n      queues:\n      - "
		      "name: b\n"
		      "        resources:\n          max: {memory: 50Gi}\n"),
		 "queues.yaml:11:25: queue root.a.b: resources.max.memory: 50Gi is above the max 10Gi of root.a"},
		{"grandchild max above the smallest on the way",
		 ROOT("    queues:\n    - name: a\n      resources: {max: {memory: 10}}\n      queues:\n      - name: "
		      "b\n"
		      "        resources: {max: {vcore: 5}}\n        queues:\n        - {name: c, resources: {max: "
		      "{memory: 11}}}\n"),
		 "queues.yaml:12:47: queue root.a.b.c: resources.max.memory: 11 is above the max 10 of root.a"},
		{"child guaranteed above parent guaranteed",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {vcore: 500m}}\n      queues:\n"
		      "      - {name: b, resources: {guaranteed: {vcore: 600m}}}\n"),
		 "queues.yaml:7:39: queue root.a: resources.guaranteed.vcore: 500m is below the 600m that its children "
		 "are guaranteed together"},
		{"sum of children above parent guaranteed",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 10}, max: {memory: 50}}\n    "
		      "  queues:\n"
		      "      - {name: b, resources: {guaranteed: {memory: 6}}}\n      - {name: c, resources: "
		      "{guaranteed: {memory: 5}}}\n"),
		 "queues.yaml:7:40: queue root.a: resources.guaranteed.memory: 10 is below the 11 that its children "
		 "are guaranteed together"},
		{"sum of children above parent max, its guaranteed lacks the type",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 20}, max: {vcore: 10}}\n     "
		      " queues:\n"
		      "      - {name: b, resources: {guaranteed: {vcore: 6}}}\n      - {name: c, resources: "
		      "{guaranteed: {vcore: 5}}}\n"),
		 "queues.yaml:7:58: queue root.a: resources.max.vcore: 10, the max of root.a, is below the 11 that its "
		 "children are guaranteed "
		 "together"},
		{"sum of children above the max of a grandparent",
		 ROOT("    queues:\n    - name: a\n      resources: {max: {memory: 10}}\n      queues:\n      - name: "
		      "b\n        queues:\n"
		      "        - {name: c, resources: {guaranteed: {memory: 11}}}\n"),
		 "queues.yaml:7:33: queue root.a: resources.max.memory: 10, the max of root.a, is below the 11 that "
		 "its children are guaranteed "
		 "together"},
		{"a child without guarantee counts its children",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 10}}\n      queues:\n      - "
		      "name: b\n        queues:\n"
		      "        - {name: c, resources: {guaranteed: {memory: 6}}}\n        - {name: d, resources: "
		      "{guaranteed: {memory: 6}}}\n"),
		 "queues.yaml:7:40: queue root.a: resources.guaranteed.memory: 10 is below the 12 that its children "
		 "are guaranteed together"},
		{"a child with one hides its children's other types",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 10, vcore: 1}}\n      "
		      "queues:\n      - name: b\n"
		      "        resources: {guaranteed: {memory: 10}}\n        queues: [{name: c, resources: "
		      "{guaranteed: {vcore: 9}}}]\n"),
		 NULL},
		{"valid",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 10, vcores: 30}, max: "
		      "{memory: 50, vcores: 33}}\n"),
		 NULL},
		{"no guaranteed anywhere",
		 ROOT("    queues:\n    - name: a\n      resources: {max: {memory: 50}}\n      queues: [{name: b, "
		      "resources: {max: {memory: 10}}}]\n"),
		 NULL},
		{"sums of the largest amounts do not wrap",
		 ROOT("    queues:\n    - name: a\n      resources: {guaranteed: {memory: 1}}\n      queues:\n"
		      "      - {name: b, resources: {guaranteed: {memory: 7E}}}\n      - {name: c, resources: "
		      "{guaranteed: {memory: 7E}}}\n"),
		 "queues.yaml:7:40: queue root.a: resources.guaranteed.memory: 1 is below the 9223372036854775807 or "
		 "more that its "
		 "children are guaranteed together"},
	};

	run(rows, COUNT(rows));
}

#define APPS(a, b, c, d)                                                                                               \
	ROOT("    maxapplications: " #a "\n    queues:\n    - name: a\n      maxapplications: " #b                     \
	     "\n      queues:\n      - name: b\n        maxapplications: " #c "\n        queues:\n        - name: c\n" \
	     "          maxapplications: " #d "\n")

static void GQ_14_checks_numbers_of_applications(void **state)
{
	static const struct row rows[] = {
		{"maxapplications root to leaf 1, 2, 3, 4", APPS(1, 2, 3, 4),
		 "queues.yaml:8:24: queue root.a: maxapplications: 2 is above the 1 of root"},
		{"maxapplications root to leaf 4, 3, 2, 1", APPS(4, 3, 2, 1), NULL},
		{"maxapplications root to leaf 0, 3, 2, 1", APPS(0, 3, 2, 1), NULL},
		{"maxapplications root to leaf 4, 3, 2, 0", APPS(4, 3, 2, 0),
		 "queues.yaml:14:28: queue root.a.b.c: maxapplications: must be set and above zero, because root.a.b "
		 "has 2"},
		{"not set is zero", ROOT("    maxapplications: 5\n    queues:\n    - name: a\n"),
		 "queues.yaml:7:7: queue root.a: maxapplications: must be set and above zero, because root has 5"},
		{"equal is fine", APPS(7, 7, 7, 7), NULL},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_checks_access_lists(void **state)
{
	static const struct row rows[] = {
		{"three fields", ROOT("    submitacl: 'a b c'\n"),
		 "queues.yaml:5:16: queue root: submitacl: expected users and groups with one blank between them, "
		 "found 3 words in \"a b c\""},
		{"the same for administrators", ROOT("    adminacl: 'a  b\tc d'\n"),
		 "queues.yaml:5:15: queue root: adminacl: expected users and groups with one blank between them, found "
		 "4 words in \"a  b\tc d\""},
		{"an unquoted star is an alias", ROOT("    submitacl: *\n"),
		 "queues.yaml:5:17: did not find expected alphabetic or numeric character while scanning an alias"},
		{"a quoted one is not", ROOT("    submitacl: '*'\n"), NULL},
		{"users and groups", ROOT("    submitacl: 'alice,bob dev,ops'\n"), NULL},
		{"groups only", ROOT("    submitacl: ' dev,ops'\n"), NULL},
		{"nobody", ROOT("    submitacl: ''\n    adminacl:\n"), NULL},
	};

	run(rows, COUNT(rows));
}

/* ---- what is read ---- */

static void GQ_14_reads_the_tree(void **state)
{
	static const char doc[] =
		ROOT("    submitacl: '*'\n"
		     "    queues:\n"
		     "    - name: ML\n"
		     "      adminacl: 'amy '\n"
		     "      maxapplications: 7\n"
		     "      resources:\n"
		     "        guaranteed: {vcore: 1500m, memory: 2Gi, nvidia.com/gpu: 4}\n"
		     "        max: {vcore: 10}\n"
		     "      properties: {preemption.policy: fence, preemption.delay: 10s}\n"
		     "      queues:\n"
		     "      - {name: a, maxapplications: 7}\n"
		     "      - {name: b, parent: true, maxapplications: 1}\n"
		     "    - name: web\n") "  preemption: {enabled: false, quotapreemptionenabled: true}\n";
	static const char *const paths[] = {"root", "root.ml", "root.ml.a", "root.ml.b", "root.web"};
	static const char *const where[] = {"queues.yaml:4:5", "queues.yaml:7:7", "queues.yaml:15:9",
					    "queues.yaml:16:9", "queues.yaml:17:7"};
	struct reading r;
	const struct queue_spec *ml;
	res_id gpu;

	read_doc(&r, doc);
	assert_string_equal(r.f.e.msg, "");
	assert_int_equal(r.config.n, COUNT(paths));
	for (size_t i = 0; i < COUNT(paths); i++) {
		assert_string_equal(r.config.queues[i].path, paths[i]);
		assert_string_equal(r.config.queues[i].where, where[i]);
		assert_int_equal(r.config.queues[i].spec.sources, FROM_YUNIKORN);
		assert_int_equal(r.config.queues[i].spec.is_parent, i == 0 || i == 1 || i == 3);
	}
	ml = &find(&r, "root.ml")->spec;
	gpu = res_types_find(vocab_res(r.f.vocab), "nvidia.com/gpu", 14);
	assert_int_equal(ml->guaranteed.mask, 1u << RES_CPU | 1u << RES_MEMORY | 1u << gpu);
	assert_int_equal(ml->guaranteed.v[RES_CPU], 1500);
	assert_int_equal(ml->guaranteed.v[RES_MEMORY], INT64_C(2) << 30);
	assert_int_equal(ml->guaranteed.v[gpu], 4);
	assert_int_equal(ml->max.mask, 1u << RES_CPU);
	assert_int_equal(ml->max.v[RES_CPU], 10000);
	assert_int_equal(ml->max_apps, 7);
	assert_int_equal(ml->props.preemption_policy, POLICY_FENCE);
	assert_int_equal(ml->props.preemption_delay_ns, 10 * NS_PER_S);
	assert_string_equal(name_str(vocab_names(r.f.vocab), ml->admin_acl), "amy ");
	assert_string_equal(name_str(vocab_names(r.f.vocab), r.config.queues[0].spec.submit_acl), "*");
	assert_false(r.config.preemption_enabled);
	assert_true(r.config.quota_preemption_enabled);
	assert_int_equal(r.config.n_rules, 0);
	assert_string_equal(text_str(&r.f.notes), "");
	drop_doc(&r);
}

static void GQ_14_preemption_is_on_and_quota_preemption_off_unless_told(void **state)
{
	struct reading r;

	read_doc(&r, "partitions:\n- queues: []\n");
	assert_true(r.config.preemption_enabled);
	assert_false(r.config.quota_preemption_enabled);
	drop_doc(&r);
}

static void GQ_14_puts_a_root_above_where_there_is_none(void **state)
{
	static const struct {
		const char *story, *doc, *paths, *notes;
	} rows[] = {
		{"no queue", "partitions:\n- queues: []\n", "root ", ""},
		{"one that is not root", "partitions:\n- queues: [{name: a}]\n", "root root.a ", ""},
		{"one that is", "partitions:\n- queues: [{name: ROOT}]\n", "root ", ""},
		{"two", "partitions:\n- queues: [{name: a}, {name: b}]\n", "root root.a root.b ", ""},
		{"a root beside another queue", "partitions:\n- queues: [{name: a}, {name: Root}]\n",
		 "root root.a root.root ",
		 "queues.yaml:2:23: partition default: queues[1]: there are other queues beside this one, so it is "
		 "root.root\n"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text paths = {0};
		struct reading r;

		read_doc(&r, rows[i].doc);
		for (uint32_t k = 0; k < r.config.n; k++)
			text_printf(&paths, "%s ", r.config.queues[k].path);
		if (strcmp(text_str(&paths), rows[i].paths) || strcmp(text_str(&r.f.notes), rows[i].notes))
			fail_msg("%s: %s\n%s", rows[i].story, text_str(&paths), text_str(&r.f.notes));
		assert_true(r.config.queues[0].spec.is_parent);
		text_free(&paths);
		drop_doc(&r);
	}
}

static void GQ_14_uses_the_default_partition_only(void **state)
{
	struct reading r;

	read_doc(&r, "partitions:\n"
		     "- name: gpu\n  queues: [{name: g}]\n  preemption: {enabled: false}\n"
		     "- name: Default\n  queues: [{name: d}]\n  placementrules: [{name: tag, value: namespace, create: "
		     "true}]\n");
	assert_int_equal(r.config.n, 2);
	assert_string_equal(r.config.queues[1].path, "root.d");
	assert_true(r.config.preemption_enabled);
	assert_string_equal(text_str(&r.f.notes),
			    "queues.yaml:2:3: partition gpu: ignored: only the partition \"default\" is used\n");
	drop_doc(&r);
}

static void GQ_14_reads_templates(void **state)
{
	struct reading r;
	const struct queue_template *t;

	read_doc(&r, ROOT("    childtemplate:\n"
			  "      maxapplications: 3\n"
			  "      properties: {preemption.delay: 5s}\n"
			  "      resources: {guaranteed: {vcore: 0}, max: {memory: 1Gi}}\n"
			  "    queues:\n"
			  "    - name: leaf\n"
			  "      childtemplate: {maxapplications: 1}\n"
			  "    - {name: empty, parent: true, childtemplate: {maxapplications: 0, properties: {}}}\n"));
	assert_string_equal(r.f.e.msg, "");
	t = r.config.queues[0].spec.child_template;
	assert_non_null(t);
	assert_int_equal(t->max_apps, 3);
	assert_int_equal(t->props.preemption_delay_ns, 5 * NS_PER_S);
	assert_int_equal(t->guaranteed.mask, 0);
	assert_int_equal(t->max.v[RES_MEMORY], 1 << 30);
	assert_null(find(&r, "root.leaf")->spec.child_template);
	assert_null(find(&r, "root.empty")->spec.child_template);
	assert_string_equal(text_str(&r.f.notes), "queues.yaml:8:31: queue root: childtemplate.resources.guaranteed: "
						  "no amount above zero; counts as not set\n"
						  "queues.yaml:11:22: queue root.leaf: childtemplate: a leaf has no "
						  "children; the template is not used\n");
	drop_doc(&r);
}

static void GQ_14_amounts_count_only_above_zero(void **state)
{
	struct reading r;
	const struct queue_spec *s;

	read_doc(&r, ROOT("    queues:\n"
			  "    - {name: none, resources: {guaranteed: {memory: 0}, max: {vcore: 0, memory: 0}}}\n"
			  "    - {name: some, resources: {max: {memory: 0, vcore: 10}}}\n"
			  "    - {name: huge, resources: {max: {memory: 7E}}}\n"));
	s = &find(&r, "root.none")->spec;
	assert_int_equal(s->guaranteed.mask, 0);
	assert_int_equal(s->max.mask, 0);
	s = &find(&r, "root.some")->spec;
	assert_int_equal(s->max.mask, 1u << RES_CPU | 1u << RES_MEMORY);
	assert_int_equal(s->max.v[RES_MEMORY], 0);
	s = &find(&r, "root.huge")->spec;
	assert_int_equal(s->max.v[RES_MEMORY], RES_AMOUNT_MAX);
	assert_string_equal(
		text_str(&r.f.notes),
		"queues.yaml:6:44: queue root.none: resources.guaranteed: no amount above zero; counts as not set\n"
		"queues.yaml:6:62: queue root.none: resources.max: no amount above zero; counts as not set\n");
	drop_doc(&r);
}

static void GQ_14_strange_properties_are_noted_and_default(void **state)
{
	static const struct {
		const char *story, *property, *note;
	} rows[] = {
		{"a key nobody knows", "owner: ml", "owner: not a property that has an effect"},
		{"a slip", "preemption.dely: 5s",
		 "preemption.dely: not a property that has an effect; did you mean \"preemption.delay\"?"},
		{"no duration", "preemption.delay: xyz",
		 "preemption.delay: \"xyz\" is not a value for it; the default 30s is used"},
		{"a duration of zero", "preemption.delay: 0s",
		 "preemption.delay: \"0s\" is not a value for it; the default 30s is used"},
		{"no policy", "preemption.policy: off",
		 "preemption.policy: \"off\" is not a value for it; the default default is used"},
		{"an offset past 32 bits", "priority.offset: 3000000000",
		 "priority.offset: \"3000000000\" is not a value for it; the default 0 is used"},
		{"an order of former times", "application.sort.policy: stateaware",
		 "application.sort.policy: \"stateaware\" is not a value for it; the default fifo is used"},
		{"a negative number", "application.unschedasks.backoff: -1",
		 "application.unschedasks.backoff: \"-1\" is not a value for it; the default 0 is used"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text doc = {0};
		struct reading r;

		text_printf(&doc, ROOT("    properties: {%s}\n"), rows[i].property);
		read_doc(&r, text_str(&doc));
		if (r.rc || !strstr(text_str(&r.f.notes), rows[i].note) ||
		    strncmp(text_str(&r.f.notes), "queues.yaml:5:", 14))
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, text_str(&r.f.notes));
		assert_int_equal(r.config.queues[0].spec.props.preemption_delay_ns, PREEMPTION_DELAY_DEFAULT_NS);
		assert_int_equal(r.config.queues[0].spec.props.preemption_policy, POLICY_DEFAULT);
		text_free(&doc);
		drop_doc(&r);
	}
}

static void GQ_14_strange_types_are_noted(void **state)
{
	struct reading r;

	read_doc(&r, ROOT("    queues:\n    - name: a\n      resources:\n        max: {vcores: 3, cpu: 4, "
			  "\"acme.com/fpga\": 1, stones: 2}\n"));
	assert_string_equal(r.f.e.msg, "");
	assert_string_equal(text_str(&r.f.notes),
			    "queues.yaml:8:23: queue root.a: resources.max.vcores: no node has such a resource; did "
			    "you mean \"vcore\"?\n"
			    "queues.yaml:8:31: queue root.a: resources.max.cpu: YuniKorn counts cores as \"vcore\"; "
			    "\"cpu\" has no effect\n"
			    "queues.yaml:8:62: queue root.a: resources.max.stones: no node has such a resource\n");
	assert_false(res_has(&find(&r, "root.a")->spec.max, RES_CPU));
	drop_doc(&r);
}

static void GQ_14_properties_are_inherited(void **state)
{
	static const struct {
		const char *story, *parent, *child;
		enum queue_stated which;
		const char *effective;
	} rows[] = {
		{"delay inherited", "preemption.delay: 10s", "", STATED_PREEMPTION_DELAY, "10s"},
		{"quota delay inherited", "quota.preemption.delay: 15m", "", STATED_QUOTA_DELAY, "15m0s"},
		{"disabled inherited", "preemption.policy: disabled", "", STATED_PREEMPTION_POLICY, "disabled"},
		{"fence not inherited", "preemption.policy: fence", "", STATED_PREEMPTION_POLICY, "default"},
		{"priority offset not inherited", "priority.offset: 5", "", STATED_PRIORITY_OFFSET, "0"},
		{"priority fence not inherited", "priority.policy: fence", "", STATED_PRIORITY_POLICY, "default"},
		{"sort priority inherited", "application.sort.priority: disabled", "", STATED_SORT_PRIORITY,
		 "disabled"},
		{"child wins", "preemption.policy: disabled", "preemption.policy: default", STATED_PREEMPTION_POLICY,
		 "default"},
		{"a bad value hides the parent's", "preemption.delay: 10s", "preemption.delay: soon",
		 STATED_PREEMPTION_DELAY, "30s"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text doc = {0}, got = {0};
		struct queue_props p;
		struct reading r;

		text_printf(&doc,
			    ROOT("    queues:\n    - name: a\n      properties: {%s}\n      queues:\n      - name: b\n"
				 "        properties: {%s}\n"),
			    rows[i].parent, rows[i].child);
		read_doc(&r, text_str(&doc));
		p = queue_effective(&find(&r, "root.a")->spec.props, &find(&r, "root.a.b")->spec.props);
		queue_prop_text(&p, rows[i].which, &got);
		if (strcmp(text_str(&got), rows[i].effective))
			fail_msg("%s: %s", rows[i].story, text_str(&got));
		text_free(&doc);
		text_free(&got);
		drop_doc(&r);
	}
}

static void queues_are_not_deeper_than_the_tree_holds(void **state)
{
	for (int depth = QUEUE_DEPTH_MAX - 1; depth <= QUEUE_DEPTH_MAX; depth++) {
		struct text doc = {0};
		struct reading r;

		text_add(&doc, "{\"partitions\": [{\"queues\": [{\"name\": \"root\"");
		for (int i = 0; i < depth; i++)
			text_add(&doc, ", \"queues\": [{\"name\": \"a\"");
		for (int i = 0; i < depth; i++)
			text_add(&doc, "}]");
		text_add(&doc, "}]}]}");
		read_doc(&r, text_str(&doc));
		if (depth < QUEUE_DEPTH_MAX)
			assert_int_equal(r.config.n, QUEUE_DEPTH_MAX);
		else
			assert_non_null(strstr(r.f.e.msg, "queues[0]: queues are at most 64 levels deep"));
		text_free(&doc);
		drop_doc(&r);
	}
}

static void a_refused_document_leaves_nothing_behind(void **state)
{
	struct reading r;
	uint32_t before;

	fixture_init(&r.f, "queues.yaml");
	before = names_count(vocab_names(r.f.vocab));
	fixture_free(&r.f);
	read_doc(&r, "partitions:\n- queues: [{name: a, submitacl: 'x y', limits: [{users: [u], maxapplications: "
		     "1}]}]\n- queues: []\n");
	assert_int_equal(r.rc, ERR_INPUT);
	assert_int_equal(r.config.n, 0);
	assert_int_equal(names_count(vocab_names(r.f.vocab)), before);
	drop_doc(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_14_refuses_keys_nobody_knows),
		cmocka_unit_test(GQ_14_refuses_wrong_kinds_of_values),
		cmocka_unit_test(GQ_14_checks_partitions),
		cmocka_unit_test(GQ_14_checks_names_of_queues),
		cmocka_unit_test(GQ_14_checks_amounts),
		cmocka_unit_test(GQ_14_checks_amounts_between_queues),
		cmocka_unit_test(GQ_14_checks_numbers_of_applications),
		cmocka_unit_test(GQ_14_checks_access_lists),
		cmocka_unit_test(GQ_14_reads_the_tree),
		cmocka_unit_test(GQ_14_preemption_is_on_and_quota_preemption_off_unless_told),
		cmocka_unit_test(GQ_14_puts_a_root_above_where_there_is_none),
		cmocka_unit_test(GQ_14_uses_the_default_partition_only),
		cmocka_unit_test(GQ_14_reads_templates),
		cmocka_unit_test(GQ_14_amounts_count_only_above_zero),
		cmocka_unit_test(GQ_14_strange_properties_are_noted_and_default),
		cmocka_unit_test(GQ_14_strange_types_are_noted),
		cmocka_unit_test(GQ_14_properties_are_inherited),
		cmocka_unit_test(queues_are_not_deeper_than_the_tree_holds),
		cmocka_unit_test(a_refused_document_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("yunikorn", tests, NULL, NULL);
}
