/* SPDX-License-Identifier: Apache-2.0 */
/* Placement rules as queues.yaml writes them, what pods say of their users, and which queues.yaml counts. */
#include <stdio.h>

#include "yunikorn_fixture.h"

#define WITH(rules) "partitions:\n- queues: [{name: leaf}, {name: box, parent: true}]\n  placementrules:\n" rules

static void names_are(const struct placement_names *found, uint32_t n, const char *const *names)
{
	assert_int_equal(found->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_string_equal(found->names[i], names[i]);
}

static void GQ_14_reads_every_kind_of_rule(void **state)
{
	static const char *const kinds[] = {"fixed", "user", "provided", "tag", "recovery"};
	struct reading r;

	(void)state;
	for (int i = 0; i < (int)COUNT(kinds); i++) {
		char doc[300];

		snprintf(doc, sizeof(doc), WITH("  - {name: %s, value: %s, create: yes}\n"), kinds[i],
			 i == PLACEMENT_TAG ? "namespace" : "leaf");
		read_doc(&r, doc);
		assert_string_equal(r.f.e.msg, "");
		assert_int_equal(r.config.n_rules, 1);
		assert_int_equal((int)r.config.rules[0].kind, i);
		assert_true(r.config.rules[0].may_create);
		assert_null(r.config.rules[0].parent);
		assert_string_equal(text_str(&r.f.notes), "");
		drop_doc(&r);
	}
}

static void GQ_14_reads_parents_and_filters(void **state)
{
	struct reading r;
	const struct placement_rule *rule;

	(void)state;
	read_doc(&r, WITH("  - name: user\n"
			  "    create: true\n"
			  "    filter: {type: Deny, users: [ann, bob, 'no name'], groups: ['^dev-\\d+$']}\n"
			  "    parent:\n"
			  "      name: Fixed\n"
			  "      value: box\n"
			  "      filter: {users: [svc$]}\n"
			  "  - {name: tag, value: namespace}\n"));
	assert_string_equal(r.f.e.msg, "");
	assert_int_equal(r.config.n_rules, 2);
	rule = &r.config.rules[0];
	assert_true(rule->may_create && rule->filter.denies);
	names_are(&rule->filter.users, 3, (const char *const[]){"ann", "bob", "no name"});
	assert_null(rule->filter.users.expression);
	names_are(&rule->filter.groups, 0, NULL);
	assert_string_equal(rule->filter.groups.expression, "^dev-\\d+$");
	assert_int_equal((int)rule->parent->kind, PLACEMENT_FIXED);
	assert_string_equal(rule->parent->value, "box");
	assert_false(rule->parent->may_create || rule->parent->filter.denies);
	assert_string_equal(rule->parent->filter.users.expression, "svc$"); /* a dollar makes it one */
	assert_int_equal((int)r.config.rules[1].kind, PLACEMENT_TAG);
	assert_string_equal(r.config.rules[1].value, "namespace");
	drop_doc(&r);
}

static void GQ_14_says_which_tags_pods_do_not_show(void **state)
{
	struct reading r;

	(void)state;
	read_doc(&r, WITH("  - {name: tag, value: Namespace, parent: {name: tag, value: namespace.parentqueue}}\n"
			  "  - {name: tag, value: color}\n"));
	assert_string_equal(r.f.e.msg, "");
	assert_string_equal(text_str(&r.f.notes),
			    "queues.yaml:5:24: partition default: placementrules[1].value: pods show no "
			    "tag \"color\", so the rule never matches\n");
	drop_doc(&r);
}

static void GQ_14_refuses_expressions_that_cannot_be_used(void **state)
{
#define FILTER(e) WITH("  - name: user\n    filter: {users: ['" e "']}\n")
#define WRONG(e)                                                                                                    \
	"queues.yaml:5:22: partition default: placementrules[0].filter.users[0]: expected the name of a user or a " \
	"regular expression, found \"" e "\""
	static const struct row rows[] = {
		{"one that looks ahead", FILTER("(?=a)b"), WRONG("(?=a)b")},
		{"one that repeats for ever", FILTER("((a{99}){99}){99}"), WRONG("((a{99}){99}){99}")},
		{"one that does not close", FILTER("[a-z"), WRONG("[a-z")},
		{"one that closes too often", FILTER("a)"), WRONG("a)")},
		{"one that is good", FILTER("^[a-z]+(-[0-9]{1,3})?$"), NULL},
		{"a list with what is no name", WITH("  - {name: user, filter: {users: ['a b', '(']}}\n"), NULL},
		{"a map where a name should be", WITH("  - {name: user, filter: {users: [a, {b: c}]}}\n"),
		 "queues.yaml:4:38: partition default: placementrules[0].filter.users[1]: expected a string, found a "
		 "map"},
	};

	(void)state;
	run(rows, COUNT(rows));
}

/* ---- whole manifests ---- */

struct world {
	struct vocab *v;
	struct manifest *m;
	struct cluster *c;
	struct err e;
	enum err_code rc;
};

static void world_read(struct world *w, const char *text)
{
	struct cluster_options o = cluster_options_default();

	*w = (struct world){.v = vocab_new()};
	w->m = manifest_new(w->v);
	w->rc = manifest_read_bytes(w->m, "all.yaml", text, strlen(text), &w->e);
	if (!w->rc)
		w->rc = manifest_build(w->m, &o, &w->c, &w->e);
	if (!w->rc)
		assert_int_equal(ledger_check(cluster_ledger(w->c), &w->e), ERR_OK);
}

static void world_free(struct world *w)
{
	cluster_free(w->c);
	manifest_free(w->m);
	assert_int_equal(names_count(vocab_names(w->v)), vocab_res(w->v)->n);
	vocab_free(w->v);
}

static const char *queue_of(const struct world *w, const char *ns, const char *name)
{
	const struct ledger *l = cluster_ledger(w->c);
	pod_id id = cluster_find_pod(w->c, ns, name);
	queue_id q = id != POD_NONE ? ledger_pod(l, id)->queue : QUEUE_NONE;

	return q != QUEUE_NONE ? name_str(vocab_names(w->v), queue_get(ledger_queues(l), q)->path) : "none";
}

#define MAP(name, queues)                                                                                \
	"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name ", namespace: yunikorn}\ndata:\n" \
	"  queues.yaml: |\n    partitions:\n    - {name: default, queues: [{name: root, queues: [" queues "]}]}\n"
#define POD(name, more)                                                                         \
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: prod" more "}\n" \
	"spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"

static bool has_queue(const struct world *w, const char *path)
{
	return queue_tree_find(ledger_queues(cluster_ledger(w->c)), path, strlen(path)) != QUEUE_NONE;
}

static void GQ_14_configs_override_defaults(void **state)
{
	static const char *const both_ways[] = {
		MAP("yunikorn-defaults", "{name: old}") MAP("yunikorn-configs", "{name: new}"),
		MAP("yunikorn-configs", "{name: new}") MAP("yunikorn-defaults", "{name: old}"),
		"partitions: [{queues: [{name: new}]}]\n" MAP("yunikorn-defaults", "{name: old}"),
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(both_ways); i++) {
		world_read(&w, both_ways[i]);
		assert_string_equal(w.e.msg, "");
		assert_true(has_queue(&w, "root.new"));
		assert_false(has_queue(&w, "root.old"));
		world_free(&w);
	}
	world_read(&w, MAP("yunikorn-defaults", "{name: old}"));
	assert_true(has_queue(&w, "root.old"));
	world_free(&w);
}

static void GQ_14_two_configs_are_one_too_many(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{MAP("yunikorn-configs", "{name: a}") MAP("yunikorn-configs", "{name: b}"),
		 "all.yaml:14 (ConfigMap yunikorn-configs, queues.yaml):1:1: partitions: a second queue configuration; "
		 "the "
		 "first is at all.yaml:6 (ConfigMap yunikorn-configs, queues.yaml):1:1"},
		{MAP("yunikorn-defaults", "{name: a}") MAP("yunikorn-defaults", "{name: b}"),
		 "all.yaml:14 (ConfigMap yunikorn-defaults, queues.yaml):1:1: partitions: a second queue "
		 "configuration; the "
		 "first is at all.yaml:6 (ConfigMap yunikorn-defaults, queues.yaml):1:1"},
		/* What is overridden must be good, too. */
		{MAP("yunikorn-configs", "{name: a}") MAP("yunikorn-defaults", "{nam: b}"),
		 "all.yaml:14 (ConfigMap yunikorn-defaults, queues.yaml):2:50: queue root: queues[0].name: expected a "
		 "queue "
		 "name of 1 to 64 letters, digits and _ : # / @ -, found nothing"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;

		world_read(&w, rows[i].text);
		assert_string_equal(w.e.msg, rows[i].error);
		world_free(&w);
	}
}

static void GQ_14_pods_are_placed_by_the_rules_that_were_read(void **state)
{
	struct world w;

	(void)state;
	world_read(&w, "partitions:\n"
		       "- placementrules:\n"
		       "  - {name: user, create: true, filter: {groups: [dev]}, parent: {name: fixed, value: people}}\n"
		       "  - {name: tag, value: namespace, create: true}\n"
		       "  queues:\n"
		       "  - name: root\n"
		       "    submitacl: '*'\n"
		       "    queues: [{name: people, parent: true, childtemplate: {resources: {max: {vcore: 3}}}}]\n"
		       "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: prod\n"
		       "  annotations: {yunikorn.apache.org/namespace.quota: '{\"cpu\": \"7\"}'}\n" POD("plain", "")
			       POD("hers", ", annotations: {yunikorn.apache.org/user.info: "
					   "'{\"user\":\"Ann\",\"groups\":[\"qa\",\"dev\"]}'}")
				       POD("odd", ", annotations: {yunikorn.apache.org/user.info: "
						  "'{\"user\":\"eve\",\"groups\":[\"qa,dev\",7,\"\"]}'}"));
	assert_string_equal(w.e.msg, "");
	assert_string_equal(queue_of(&w, "prod", "plain"), "root.prod");
	assert_string_equal(queue_of(&w, "prod", "hers"), "root.people.ann");
	assert_string_equal(queue_of(&w, "prod", "odd"), "root.prod");
	const struct queue_tree *t = ledger_queues(cluster_ledger(w.c));
	assert_int_equal(queue_get(t, queue_tree_find(t, "root.prod", 9))->spec.max.v[RES_CPU], 7000);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_14_reads_every_kind_of_rule),
		cmocka_unit_test(GQ_14_reads_parents_and_filters),
		cmocka_unit_test(GQ_14_says_which_tags_pods_do_not_show),
		cmocka_unit_test(GQ_14_refuses_expressions_that_cannot_be_used),
		cmocka_unit_test(GQ_14_configs_override_defaults),
		cmocka_unit_test(GQ_14_two_configs_are_one_too_many),
		cmocka_unit_test(GQ_14_pods_are_placed_by_the_rules_that_were_read),
	};

	return cmocka_run_group_tests_name("placement_rules", tests, NULL, NULL);
}
