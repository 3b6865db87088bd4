/* SPDX-License-Identifier: Apache-2.0 */
#include "config_fixture.h"

/* ---- reading one document ---- */

struct reading {
	struct fixture f;
	struct yunikorn_config config;
	enum err_code rc;
};

static void read_doc(struct reading *r, const char *doc)
{
	const struct tree *t;

	*r = (struct reading){0};
	fixture_init(&r->f, "queues.yaml");
	t = fixture_tree(&r->f, doc);
	r->rc = t ? manifest_yunikorn(r->f.vocab, r->f.arena, &r->f.src, t, &r->config, &r->f.e) : r->f.e.code;
}

static void drop_doc(struct reading *r)
{
	for (uint32_t i = 0; i < r->config.n; i++)
		queue_spec_free(&r->config.queues[i].spec);
	fixture_free(&r->f);
}

static const struct queue_def *find(const struct reading *r, const char *path)
{
	for (uint32_t i = 0; i < r->config.n; i++)
		if (!strcmp(r->config.queues[i].path, path))
			return &r->config.queues[i];
	fail_msg("no queue %s", path);
	return NULL;
}

struct row {
	const char *story, *doc;
	const char *error; /* NULL: accepted */
};

static void run(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct reading r;
		const char *want = rows[i].error ? rows[i].error : "";

		read_doc(&r, rows[i].doc);
		if ((r.rc != ERR_OK) != (rows[i].error != NULL) || strcmp(r.f.e.msg, want))
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].story, r.f.e.msg, want);
		drop_doc(&r);
	}
}

/* A partition whose root has these lines, which are indented by six. */
#define ROOT(lines) "partitions:\n- name: default\n  queues:\n  - name: root\n" lines

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
		 "queues.yaml:5:13: queue root: parent: expected true or false, found \"1\""},
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

#define LIMITS(lines)                                                                                              \
	ROOT("    queues:\n    - name: a\n      maxapplications: 9\n      resources: {max: {memory: 100}}\n      " \
	     "limits:\n" lines)

static void GQ_14_checks_limits(void **state)
{
	static const struct row rows[] = {
		{"a good one",
		 LIMITS("      - {limit: x, users: [alice, b-c.d@e$, '*'], maxresources: {memory: 100}, "
			"maxapplications: 9}\n"),
		 NULL},
		{"for nobody", LIMITS("      - {limit: x, users: [], maxapplications: 1}\n"),
		 "queues.yaml:10:9: queue root.a: limits[0]: for nobody: expected users or groups"},
		{"a limit is a map", LIMITS("      - x\n"),
		 "queues.yaml:10:9: queue root.a: limits[0]: expected a limit, found \"x\""},
		{"a bad user", LIMITS("      - {users: [9lives], maxapplications: 1}\n"),
		 "queues.yaml:10:18: queue root.a: limits[0].users[0]: expected the name of a user or \"*\", found "
		 "\"9lives\""},
		{"a bad user inside", LIMITS("      - {users: [a$b], maxapplications: 1}\n"),
		 "queues.yaml:10:18: queue root.a: limits[0].users[0]: expected the name of a user or \"*\", found "
		 "\"a$b\""},
		{"groups know no @", LIMITS("      - {groups: [a@b], maxapplications: 1}\n"),
		 "queues.yaml:10:19: queue root.a: limits[0].groups[0]: expected the name of a group or \"*\", found "
		 "\"a@b\""},
		{"an empty name", LIMITS("      - {groups: [''], maxapplications: 1}\n"),
		 "queues.yaml:10:19: queue root.a: limits[0].groups[0]: expected the name of a group or \"*\", found "
		 "\"\""},
		{"the same user in two limits",
		 LIMITS("      - {users: [alice], maxapplications: 1}\n      - {users: [bob, alice], maxapplications: "
			"2}\n"),
		 "queues.yaml:11:23: queue root.a: limits[1].users[1]: user \"alice\" has a limit in this queue "
		 "already"},
		{"the same group twice", LIMITS("      - {groups: [ops, ops], maxapplications: 1}\n"),
		 "queues.yaml:10:24: queue root.a: limits[0].groups[1]: group \"ops\" has a limit in this queue "
		 "already"},
		{"a user and a group of one name are two",
		 LIMITS("      - {users: [x], groups: [x], maxapplications: 1}\n"), NULL},
		{"a user after everybody",
		 LIMITS("      - {users: ['*'], maxapplications: 1}\n      - {users: [bob], maxapplications: 2}\n"),
		 "queues.yaml:11:18: queue root.a: limits[1].users[0]: user \"bob\" comes after \"*\", which must be "
		 "the last"},
		{"everybody twice", LIMITS("      - {users: ['*', '*'], maxapplications: 1}\n"),
		 "queues.yaml:10:23: queue root.a: limits[0].users[1]: user \"*\" has a limit in this queue already"},
		{"a group after every group", LIMITS("      - {groups: [a, '*', b], maxapplications: 1}\n"),
		 "queues.yaml:10:27: queue root.a: limits[0].groups[2]: group \"b\" comes after \"*\", which must be "
		 "the last"},
		{"no group but all of them",
		 LIMITS("      - {users: [x], maxapplications: 1}\n      - {groups: ['*'], maxapplications: 1}\n"),
		 "queues.yaml:11:18: queue root.a: limits[1].groups: \"*\" needs a limit of a named group before it"},
		{"a named group first",
		 LIMITS("      - {groups: [x], maxapplications: 1}\n      - {groups: ['*'], maxapplications: 1}\n"),
		 NULL},
		{"nothing limited", LIMITS("      - {users: [x]}\n"),
		 "queues.yaml:10:9: queue root.a: limits[0]: limits nothing: expected maxresources or a "
		 "maxapplications above zero"},
		{"no applications is no limit", LIMITS("      - {users: [x], maxapplications: 0}\n"),
		 "queues.yaml:10:39: queue root.a: limits[0].maxapplications: limits nothing: expected maxresources or "
		 "a maxapplications above zero"},
		{"resources of zero", LIMITS("      - {users: [x], maxapplications: 1, maxresources: {memory: 0}}\n"),
		 "queues.yaml:10:56: queue root.a: limits[0].maxresources: at least one amount must be above zero"},
		{"resources alone will do", LIMITS("      - {users: [x], maxresources: {memory: 1}}\n"), NULL},
		{"a negative amount", LIMITS("      - {users: [x], maxresources: {memory: -1}}\n"),
		 "queues.yaml:10:45: queue root.a: limits[0].maxresources.memory: bad quantity '-1': expected digits "
		 "and a "
		 "suffix, without sign or fraction"},
		{"more applications than the queue", LIMITS("      - {users: [x], maxapplications: 10}\n"),
		 "queues.yaml:10:39: queue root.a: limits[0].maxapplications: 10 is above the queue's own "
		 "maxapplications 9"},
		{"more memory than the queue", LIMITS("      - {users: [x], maxresources: {vcore: 5, memory: 101}}\n"),
		 "queues.yaml:10:55: queue root.a: limits[0].maxresources.memory: 101 is above the queue's own max "
		 "100"},
	};

	run(rows, COUNT(rows));
}

/* Limits of root, root.a and root.a.b. */
#define NESTED(root, a, b)                                                           \
	ROOT("    limits: [" root "]\n    queues:\n    - name: a\n      limits: [" a \
	     "]\n      queues:\n      - name: b\n        limits: [" b "]\n")

static void GQ_14_checks_limits_against_those_above(void **state)
{
	static const struct row rows[] = {
		{"a user may have less below",
		 NESTED("{users: [x], maxresources: {memory: 9}}", "{users: [x], maxresources: {memory: 8}}", ""),
		 NULL},
		{"but not more",
		 NESTED("{users: [x], maxresources: {memory: 9}}", "{users: [x], maxresources: {memory: 10}}", ""),
		 "queues.yaml:8:52: queue root.a: limits[0].maxresources.memory: 10 for user x is above the 9 that "
		 "root allows"},
		{"nor two levels below",
		 NESTED("{groups: [x], maxresources: {vcore: 1}}", "", "{groups: [x], maxresources: {vcore: 1500m}}"),
		 "queues.yaml:11:54: queue root.a.b: limits[0].maxresources.vcore: 1500m for group x is above the 1 "
		 "that root allows"},
		{"types that are not limited above are free",
		 NESTED("{users: [x], maxresources: {memory: 9}}", "{users: [x], maxresources: {vcore: 10}}", ""),
		 NULL},
		{"everybody's limit holds for a name below",
		 NESTED("{users: ['*'], maxapplications: 3}", "", "{users: [x], maxapplications: 4}"),
		 "queues.yaml:11:48: queue root.a.b: limits[0].maxapplications: 4 for user x is above the 3 that root "
		 "allows"},
		{"unless the name has its own above that",
		 NESTED("{users: [x], maxapplications: 9}", "{users: ['*'], maxapplications: 3}",
			"{users: [x], maxapplications: 4}"),
		 NULL},
		{"it holds through a limit in between",
		 NESTED("{users: ['*'], maxresources: {memory: 5}}", "{users: [x], maxresources: {vcore: 1}}",
			"{users: [x], maxresources: {memory: 6}}"),
		 "queues.yaml:11:54: queue root.a.b: limits[0].maxresources.memory: 6 for user x is above the 5 that "
		 "root allows"},
		{"no number of applications below a number",
		 NESTED("{users: [x], maxapplications: 3}", "{users: [x], maxresources: {memory: 1}}", ""),
		 "queues.yaml:8:16: queue root.a: limits[0].maxapplications: 0 (no limit) for user x is above the 3 "
		 "that root allows"},
		{"users and groups of one name do not meet",
		 NESTED("{users: [x], maxapplications: 3}", "{groups: [x], maxapplications: 4}", ""), NULL},
		{"everybody below is not held against names above",
		 NESTED("{users: [x], maxapplications: 3}", "{users: ['*'], maxapplications: 4}", ""), NULL},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_limits_of_the_partition_are_those_of_root(void **state)
{
	static const struct row rows[] = {
		{"they may be written twice",
		 "partitions:\n- queues:\n  - name: root\n    limits: [{users: [x], maxapplications: 3}]\n"
		 "  limits: [{users: [x], maxapplications: 3}]\n",
		 NULL},
		{"but not differently",
		 "partitions:\n- queues:\n  - name: root\n    limits: [{users: [x], maxapplications: 3}]\n"
		 "  limits: [{users: [x], maxapplications: 4}]\n",
		 "queues.yaml:5:11: partition default: limits: root has other limits (queues.yaml:3:5)"},
		{"they are checked the same", "partitions:\n- queues: []\n  limits: [{users: [x]}]\n",
		 "queues.yaml:3:12: partition default: limits[0]: limits nothing: expected maxresources or a "
		 "maxapplications above zero"},
		{"and hold below",
		 "partitions:\n- queues:\n  - name: a\n    limits: [{users: [x], maxapplications: 4}]\n"
		 "  limits: [{users: [x], maxapplications: 3}]\n",
		 "queues.yaml:4:44: queue root.a: limits[0].maxapplications: 4 for user x is above the 3 that root "
		 "allows"},
	};
	struct reading r;

	run(rows, COUNT(rows));
	read_doc(&r, "partitions:\n- queues: []\n  limits: [{limit: all, users: ['*'], maxapplications: 3}]\n");
	assert_int_equal(r.config.queues[0].spec.n_limits, 1);
	assert_int_equal(r.config.queues[0].spec.limits[0].max_apps, 3);
	drop_doc(&r);
}

#define RULES(lines)                                                                                            \
	"partitions:\n- queues:\n  - name: leaf\n  - name: box\n    parent: true\n  - name: team\n    queues: " \
	"[{name: x}]\n"                                                                                         \
	"  placementrules:\n" lines
#define RULE_AT "queues.yaml:9:5: partition default: placementrules[0]: "

static void GQ_14_checks_placement_rules(void **state)
{
	static const struct row rows[] = {
		{"an unknown rule", RULES("  - name: fix\n"),
		 "queues.yaml:9:11: partition default: placementrules[0].name: expected fixed, user, provided, tag or "
		 "recovery, found \"fix\"; did "
		 "you mean \"fixed\"?"},
		{"no name", RULES("  - create: true\n"),
		 "queues.yaml:9:5: partition default: placementrules[0].name: expected fixed, user, provided, tag or "
		 "recovery, found nothing"},
		{"any case", RULES("  - name: User\n    create: true\n"), NULL},
		{"a bad parent", RULES("  - name: user\n    parent: {name: nobody}\n"),
		 "queues.yaml:10:20: partition default: placementrules[0].parent.name: expected fixed, user, provided, "
		 "tag or recovery, found "
		 "\"nobody\""},
		{"create is a flag", RULES("  - name: user\n    create: perhaps\n"),
		 "queues.yaml:10:13: partition default: placementrules[0].create: expected true or false, found "
		 "\"perhaps\""},
		{"a tag needs a name", RULES("  - name: tag\n"),
		 "queues.yaml:9:5: partition default: placementrules[0].value: expected the name of a tag, found "
		 "nothing"},
		{"a fixed rule needs a queue", RULES("  - name: fixed\n    value: root..a\n"),
		 "queues.yaml:10:12: partition default: placementrules[0].value: expected the name or path of a queue, "
		 "found \"root..a\""},
		{"a filter allows or denies", RULES("  - name: user\n    filter: {type: forbid}\n"),
		 "queues.yaml:10:20: partition default: placementrules[0].filter.type: expected allow or deny, found "
		 "\"forbid\""},
		{"in any case",
		 RULES("  - name: user\n    filter: {type: DENY, users: [a, b], groups: ['^dev-.*$']}\n"), NULL},
		{"a regular expression that does not close", RULES("  - name: user\n    filter: {users: ['(a|b']}\n"),
		 "queues.yaml:10:22: partition default: placementrules[0].filter.users[0]: expected the name of a user "
		 "or a regular expression, "
		 "found \"(a|b\""},
		{"neither a name nor an expression", RULES("  - name: user\n    filter: {groups: ['a b']}\n"),
		 "queues.yaml:10:23: partition default: placementrules[0].filter.groups[0]: expected the name of a "
		 "group or a regular expression, "
		 "found \"a b\""},
		{"a star alone repeats nothing", RULES("  - name: user\n    filter: {users: ['*']}\n"),
		 "queues.yaml:10:22: partition default: placementrules[0].filter.users[0]: expected the name of a user "
		 "or a regular expression, "
		 "found \"*\""},
	};

	run(rows, COUNT(rows));
}

static void GQ_14_checks_where_fixed_rules_lead(void **state)
{
	static const struct row rows[] = {
		{"to a leaf", RULES("  - {name: fixed, value: leaf}\n"), NULL},
		{"to a leaf by its path, in any case", RULES("  - {name: fixed, value: Root.Team.X}\n"), NULL},
		{"to a parent", RULES("  - {name: fixed, value: box}\n"),
		 RULE_AT "fixed: queue root.box is not a leaf"},
		{"to the root", RULES("  - {name: fixed, value: root}\n"), RULE_AT "fixed: queue root is not a leaf"},
		{"to nothing", RULES("  - {name: fixed, value: team.y}\n"),
		 RULE_AT "fixed: there is no queue root.team.y, and create is false"},
		{"to nothing, which may be made", RULES("  - {name: fixed, value: team.y.z, create: true}\n"), NULL},
		{"below a leaf", RULES("  - {name: fixed, value: leaf.y, create: true}\n"),
		 RULE_AT "fixed: queue root.leaf.y cannot be: root.leaf is a leaf"},
		{"a parent for users", RULES("  - {name: user, create: true, parent: {name: fixed, value: box}}\n"),
		 NULL},
		{"a leaf for users", RULES("  - {name: user, create: true, parent: {name: fixed, value: leaf}}\n"),
		 RULE_AT "fixed -> user: queue root.leaf is a leaf; nothing can be placed below it"},
		{"a parent that is not there", RULES("  - {name: user, parent: {name: fixed, value: nobody}}\n"),
		 RULE_AT "fixed -> user: there is no queue root.nobody, and create is false"},
		{"two fixed ones", RULES("  - {name: fixed, value: x, parent: {name: fixed, value: team}}\n"), NULL},
		{"a path from the root below another",
		 RULES("  - {name: fixed, value: root.leaf, parent: {name: user}}\n"),
		 "queues.yaml:9:26: partition default: placementrules[0].value: a path from the root cannot stand "
		 "below another rule (user -> "
		 "fixed)"},
		{"what begins with another rule is open",
		 RULES("  - {name: fixed, value: any, parent: {name: user}}\n"), NULL},
		{"the second rule counts too", RULES("  - {name: user}\n  - {name: fixed, value: box}\n"),
		 "queues.yaml:10:5: partition default: placementrules[1]: fixed: queue root.box is not a leaf"},
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
	assert_null(r.config.placement_rules);
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
			    "queues.yaml:2:3: partition gpu: left out: only the partition \"default\" is used\n");
	drop_doc(&r);
}

static void GQ_14_keeps_placement_rules_beyond_the_document(void **state)
{
	struct reading r = {0};
	struct arena *document = arena_new(4096);
	static const char doc[] =
		"partitions:\n- queues: []\n  placementrules: [{name: tag, value: namespace, create: true}]\n";
	struct tree_reader *reader = tree_reader_new("queues.yaml", doc, sizeof(doc) - 1);
	struct tree_doc d;

	fixture_init(&r.f, "queues.yaml");
	assert_int_equal(tree_next(reader, document, &d, &r.f.e), ERR_OK);
	assert_int_equal(manifest_yunikorn(r.f.vocab, r.f.arena, &r.f.src, d.root, &r.config, &r.f.e), ERR_OK);
	tree_reader_free(reader);
	arena_free(document);
	assert_string_equal(tree_get(r.config.placement_rules->items[0], "value")->text, "namespace");
	assert_string_equal(tree_get(r.config.placement_rules->items[0], "create")->text, "true");
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
	t = &r.config.queues[0].spec.child_template;
	assert_true(r.config.queues[0].spec.has_template);
	assert_int_equal(t->max_apps, 3);
	assert_int_equal(t->props.preemption_delay_ns, 5 * NS_PER_S);
	assert_int_equal(t->guaranteed.mask, 0);
	assert_int_equal(t->max.v[RES_MEMORY], 1 << 30);
	assert_false(find(&r, "root.leaf")->spec.has_template);
	assert_false(find(&r, "root.empty")->spec.has_template);
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

static void GQ_14_reads_limits(void **state)
{
	struct reading r;
	const struct queue_limit *l;

	read_doc(&r,
		 LIMITS("      - limit: for the two\n        users: [amy, bob]\n        maxresources: {memory: 10}\n"
			"      - groups: [dev]\n        maxapplications: 2\n"));
	assert_string_equal(r.f.e.msg, "");
	assert_int_equal(find(&r, "root.a")->spec.n_limits, 2);
	l = find(&r, "root.a")->spec.limits;
	assert_string_equal(name_str(vocab_names(r.f.vocab), l[0].text), "for the two");
	assert_int_equal(l[0].n_users, 2);
	assert_string_equal(name_str(vocab_names(r.f.vocab), l[0].users[1]), "bob");
	assert_true(l[0].has_max);
	assert_int_equal(l[0].max.v[RES_MEMORY], 10);
	assert_int_equal(l[1].n_groups, 1);
	assert_int_equal(l[1].max_apps, 2);
	assert_false(l[1].has_max);
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
		cmocka_unit_test(GQ_14_checks_limits),
		cmocka_unit_test(GQ_14_checks_limits_against_those_above),
		cmocka_unit_test(GQ_14_limits_of_the_partition_are_those_of_root),
		cmocka_unit_test(GQ_14_checks_placement_rules),
		cmocka_unit_test(GQ_14_checks_where_fixed_rules_lead),
		cmocka_unit_test(GQ_14_reads_the_tree),
		cmocka_unit_test(GQ_14_preemption_is_on_and_quota_preemption_off_unless_told),
		cmocka_unit_test(GQ_14_puts_a_root_above_where_there_is_none),
		cmocka_unit_test(GQ_14_uses_the_default_partition_only),
		cmocka_unit_test(GQ_14_keeps_placement_rules_beyond_the_document),
		cmocka_unit_test(GQ_14_reads_templates),
		cmocka_unit_test(GQ_14_amounts_count_only_above_zero),
		cmocka_unit_test(GQ_14_reads_limits),
		cmocka_unit_test(GQ_14_strange_properties_are_noted_and_default),
		cmocka_unit_test(GQ_14_strange_types_are_noted),
		cmocka_unit_test(GQ_14_properties_are_inherited),
		cmocka_unit_test(queues_are_not_deeper_than_the_tree_holds),
		cmocka_unit_test(a_refused_document_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("yunikorn", tests, NULL, NULL);
}
