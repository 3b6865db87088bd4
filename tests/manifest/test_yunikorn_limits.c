/* SPDX-License-Identifier: Apache-2.0 */
#include "yunikorn_fixture.h"

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
	assert_int_equal(r.config.n_rules, 1);
	assert_string_equal(r.config.rules[0].value, "namespace");
	assert_true(r.config.rules[0].may_create);
	drop_doc(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_14_checks_limits),
		cmocka_unit_test(GQ_14_checks_limits_against_those_above),
		cmocka_unit_test(GQ_14_limits_of_the_partition_are_those_of_root),
		cmocka_unit_test(GQ_14_checks_placement_rules),
		cmocka_unit_test(GQ_14_checks_where_fixed_rules_lead),
		cmocka_unit_test(GQ_14_reads_limits),
		cmocka_unit_test(GQ_14_keeps_placement_rules_beyond_the_document),
	};

	return cmocka_run_group_tests_name("yunikorn_limits", tests, NULL, NULL);
}
