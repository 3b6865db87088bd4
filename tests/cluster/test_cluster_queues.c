/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of queues: joined, refused as wholes, changed while pods are in them. */
#include "cluster/cluster_fixture.h"

/* ---- joining ---- */

static void sets_become_one_tree(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	tree_is(&f, "root n\n");
	put_queues(&f, FROM_YUNIKORN, {.path = "root"}, {.path = "root.a.b"}, {.path = "root.c", .is_parent = true});
	tree_is(&f, "root y\nroot.a y\nroot.a.b y\nroot.c y\n");
	assert_false(queue_is_leaf(ledger_queues(f.l), find_queue(&f, "root.c")));
	/* Children may come before their parents; a dot in a name is no step down. */
	put_queues(&f, FROM_KAI, {.kai = "b", .parent = "a"}, {.kai = "v1.x", .parent = "c"}, {.kai = "a"},
		   {.kai = "c", .parent = ""});
	tree_is(&f, "root y\nroot.a yk\nroot.a.b yk\nroot.c yk\nroot.c.v1_dot_x k\n");
	put_no_queues(&f, FROM_YUNIKORN);
	tree_is(&f, "root n\nroot.a k\nroot.a.b k\nroot.c k\nroot.c.v1_dot_x k\n");
	put_no_queues(&f, FROM_KAI);
	tree_is(&f, "root n\n");
	fix_free(&f);
}

struct refused_row {
	const char *says;
	struct queue_is yunikorn[4], kai[4];
	enum err_code code;
	const char *message;
};

static uint32_t count(const struct queue_is *q)
{
	uint32_t n = 0;

	while (n < 4 && (q[n].path != NULL || q[n].kai != NULL))
		n++;
	return n;
}

static void run_refused(const struct refused_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct refused_row *r = &rows[i];
		struct fix f;
		struct err e = {0};
		fix_init(&f, PROFILE_DEFAULT);
		put_queues(&f, FROM_KAI, {.kai = "old"});
		put_node(&f, "n");
		put_pod(&f, (struct pod_is){.name = "p", .kai_queue = "old", .node = "n"});
		enum err_code code = try_queues(&f, FROM_YUNIKORN, r->yunikorn, count(r->yunikorn), &e);
		uint64_t before = ledger_digest(f.l);
		if (code == ERR_OK)
			code = try_queues(&f, FROM_KAI, r->kai, count(r->kai), &e);
		if (code != r->code || strcmp(e.msg, r->message) != 0)
			fail_msg("%s: %d %s", r->says, code, e.msg);
		assert_int_equal(ledger_digest(f.l), before);
		assert_int_equal(ledger_get_mark(f.l), 0);
		assert_string_equal(queue_path(&f, "p"), "root.old");
		warnings_are(&f, "");
		/* And nothing of it is remembered. */
		put_queues(&f, FROM_KAI, {.kai = "old"}, {.kai = "new"});
		put_no_queues(&f, FROM_YUNIKORN);
		tree_is(&f, "root n\nroot.new k\nroot.old k 1\n");
		fix_free(&f);
	}
}

static void ONE_2_definitions_that_disagree_are_refused(void **state)
{
	(void)state;
	const struct refused_row rows[] = {
		{"two files, one setting",
		 {{.path = "root.a", .guaranteed_cpu = 4000, .where = "q.yaml:3:5"},
		  {.path = "root.a", .guaranteed_cpu = 5000}},
		 {{0}},
		 ERR_CONFLICT,
		 "q.yaml:3:5: queue root.a: guaranteed cpu: one definition says 4, the other 5"},
		{"queues.yaml and a Queue object",
		 {{.path = "root.a", .guaranteed_cpu = 4000, .where = "q.yaml:3:5"}},
		 {{.kai = "a", .gpu = GPU(1, -1), .where = "queue.yaml:1:1"}},
		 ERR_CONFLICT,
		 "queue.yaml:1:1: queue root.a: guaranteed (quota) cpu: one definition says 4, the other unlimited; "
		 "the other is at q.yaml:3:5"},
		{"two Queue objects of one name",
		 {{0}},
		 {{.kai = "a", .gpu = GPU(1, -1)}, {.kai = "a", .gpu = GPU(2, -1)}},
		 ERR_CONFLICT,
		 "queue root.a: gpu quota: one definition says 1, the other 2"},
		{"two Queue objects of one name with two parents",
		 {{0}},
		 {{.kai = "a", .where = "x"}, {.kai = "b"}, {.kai = "a", .parent = "b", .where = "y"}},
		 ERR_CONFLICT,
		 "x: queue a: parentQueue: one definition says '', the other 'b'; the other is at y"},
		{"two Queue objects for one place",
		 {{0}},
		 {{.kai = "a.b"}, {.kai = "a_dot_b"}},
		 ERR_CONFLICT,
		 "queue root.a_dot_b: name of the Queue object: one definition says 'a.b', the other 'a_dot_b'"},
	};
	run_refused(rows, N_OF(rows));
}

static void ONE_2_what_only_one_states_is_taken_over(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a", .guaranteed_cpu = 4000});
	struct queue_is kai = {.kai = "a", .gpu = GPU(3, 5)};
	struct queue_def d = queue_object(&f, &kai);
	d.spec.kai[KAI_CPU] = (struct kai_share){4000, 9000.9, 1};
	d.spec.kai[KAI_MEMORY] = (struct kai_share){0, -1, 1};
	assert_int_equal(cluster_put_queues(f.c, FROM_KAI, &d, 1, NULL), ERR_OK);
	const struct queue_spec *s = &queue_get(ledger_queues(f.l), find_queue(&f, "root.a"))->spec;
	res_id gpu = res_types_find(vocab_res(f.v), "nvidia.com/gpu", 14);
	assert_int_equal(s->sources, FROM_YUNIKORN | FROM_KAI);
	assert_int_equal(s->guaranteed.v[RES_CPU], 4000);
	assert_int_equal(s->guaranteed.v[gpu], 3);
	assert_int_equal(s->max.v[gpu], 5);
	assert_int_equal(s->max.v[RES_CPU], 9000);
	assert_false(res_has(&s->guaranteed, RES_MEMORY) || res_has(&s->max, RES_MEMORY));
	fix_free(&f);
}

static void ONE_2_a_limit_that_is_not_set_disagrees_with_nothing(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	struct queue_is yunikorn = {.path = "root.a"}, kai = {.kai = "a", .gpu = GPU(3, 0)};
	struct queue_def y = queue_object(&f, &yunikorn), k = queue_object(&f, &kai);
	res_id gpu;
	assert_int_equal(res_types_add(vocab_res(f.v), "nvidia.com/gpu", 14, &gpu, NULL), ERR_OK);
	res_put(&y.spec.max, gpu, 8);
	assert_int_equal(cluster_put_queues(f.c, FROM_YUNIKORN, &y, 1, NULL), ERR_OK);
	assert_int_equal(cluster_put_queues(f.c, FROM_KAI, &k, 1, NULL), ERR_OK);
	assert_int_equal(queue_get(ledger_queues(f.l), find_queue(&f, "root.a"))->spec.max.v[gpu], 8);
	warnings_are(&f, "");
	fix_free(&f);
}

static void shares_become_guarantees_and_maximums(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	struct queue_is kai = {.kai = "a", .gpu = GPU(-1, 0)};
	struct queue_def d = queue_object(&f, &kai);
	d.spec.kai[KAI_CPU] = (struct kai_share){0, -1, 1};
	d.spec.kai[KAI_MEMORY] = (struct kai_share){500, 1000.5, 1};
	assert_int_equal(cluster_put_queues(f.c, FROM_KAI, &d, 1, NULL), ERR_OK);
	const struct queue_spec *s = &queue_get(ledger_queues(f.l), find_queue(&f, "root.a"))->spec;
	res_id gpu = res_types_find(vocab_res(f.v), "nvidia.com/gpu", 14);
	assert_int_equal(s->guaranteed.v[gpu], RES_UNLIMITED);
	assert_true(res_has(&s->max, gpu) && s->max.v[gpu] == 0);
	assert_false(res_has(&s->guaranteed, RES_CPU) || res_has(&s->max, RES_CPU));
	assert_int_equal(s->guaranteed.v[RES_MEMORY], 500000000);
	assert_int_equal(s->max.v[RES_MEMORY], 1000500000);
	warnings_are(&f, "queue a: no limit is set for gpu, which means none at all in KAI; -1 means no limit\n");
	/* Without resources nothing is said at all. */
	put_queues(&f, FROM_KAI, {.kai = "a"});
	s = &queue_get(ledger_queues(f.l), find_queue(&f, "root.a"))->spec;
	assert_int_equal(s->max.mask | s->guaranteed.mask, 0);
	warnings_are(&f, "");
	fix_free(&f);
}

static void MR_7_a_cycle_of_parents_is_refused_by_name(void **state)
{
	(void)state;
	const struct refused_row rows[] = {
		{"one below itself",
		 {{0}},
		 {{.kai = "a", .parent = "a"}},
		 ERR_CONFLICT,
		 "queue a: its parents form a cycle: a -> a"},
		{"three in a circle, and one that hangs from it",
		 {{0}},
		 {{.kai = "x", .parent = "a"},
		  {.kai = "a", .parent = "b", .where = "queue.yaml:1:1"},
		  {.kai = "b", .parent = "c"},
		  {.kai = "c", .parent = "a"}},
		 ERR_CONFLICT,
		 "queue.yaml:1:1: queue a: its parents form a cycle: a -> b -> c -> a"},
	};
	run_refused(rows, N_OF(rows));
}

static void what_is_no_queue_is_refused(void **state)
{
	(void)state;
	const struct refused_row rows[] = {
		{"a path without a root",
		 {{.path = "rooty.a", .where = "w"}},
		 {{0}},
		 ERR_INPUT,
		 "w: queue rooty.a: the path of a queue begins with root"},
		{"an empty step",
		 {{.path = "root..a", .where = "w"}},
		 {{0}},
		 ERR_INPUT,
		 "queue root: '' is not a name for a queue below it"},
		{"a Queue without a name", {{0}}, {{.kai = "", .where = "w"}}, ERR_INPUT, "w: a Queue without a name"},
	};
	run_refused(rows, N_OF(rows));
}

static void too_deep_is_refused_half_way(void **state)
{
	(void)state;
	struct fix f;
	struct err e = {0};
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a"});
	uint64_t before = ledger_digest(f.l);
	struct text path = {0};
	text_add(&path, "root.b");
	for (int i = 0; i < QUEUE_DEPTH_MAX; i++)
		text_add(&path, ".b");
	struct queue_is deep = {.path = text_str(&path)};
	assert_int_equal(try_queues(&f, FROM_YUNIKORN, &deep, 1, &e), ERR_LIMIT);
	assert_int_equal(ledger_digest(f.l), before);
	text_free(&path);
	fix_free(&f);
}

static void orphans_are_left_out_with_everything_below(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_pod(&f, (struct pod_is){.name = "p", .kai_queue = "leaf"});
	put_queues(&f, FROM_KAI, {.kai = "leaf", .parent = "team"}, {.kai = "team", .parent = "dept"}, {.kai = "fine"});
	tree_is(&f, "root n\nroot.fine k\n");
	assert_string_equal(queue_path(&f, "p"), "?leaf");
	warnings_are(&f, "queue team: there is no queue dept to be its parent, so it is ignored\n"
			 "queue leaf: ignored, because its parent team is\n");
	put_queues(&f, FROM_KAI, {.kai = "leaf", .parent = "team"}, {.kai = "team", .parent = "dept"}, {.kai = "dept"});
	tree_is(&f, "root n\nroot.dept k\nroot.dept.team k\nroot.dept.team.leaf k 1\n");
	fix_free(&f);
}

/* ---- changing while pods are there ---- */

static void a_moved_queue_takes_its_pods_along(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b"}, {.kai = "x", .parent = "a"}, {.kai = "y", .parent = "x"});
	put_node(&f, "n");
	put_pod(&f, (struct pod_is){.name = "p", .kai_queue = "y", .node = "n"});
	queue_id x = find_queue(&f, "root.a.x"), y = find_queue(&f, "root.a.x.y");
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b"}, {.kai = "x", .parent = "b"}, {.kai = "y", .parent = "x"});
	assert_int_equal(find_queue(&f, "root.b.x"), x);
	assert_int_equal(find_queue(&f, "root.b.x.y"), y);
	assert_int_equal(ledger_queue_used(f.l, find_queue(&f, "root.b"))[RES_CPU], 1000);
	assert_int_equal(ledger_queue_used(f.l, find_queue(&f, "root.a"))[RES_CPU], 0);
	/* Upside down: y above x. */
	put_queues(&f, FROM_KAI, {.kai = "x", .parent = "y"}, {.kai = "y"}, {.kai = "z", .parent = "y"});
	tree_is(&f, "root n\nroot.y k\nroot.y.x k\nroot.y.z k\n");
	assert_int_equal(find_queue(&f, "root.y"), y);
	assert_int_equal(find_queue(&f, "root.y.x"), x);
	assert_string_equal(queue_path(&f, "p"), "?y");
	fix_free(&f);
}

#define DEEP (QUEUE_DEPTH_MAX + 4)

/* x below b, and then a chain that is too long. */
static enum err_code try_deep(struct fix *f, struct err *e)
{
	struct queue_is start[] = {{.kai = "a"}, {.kai = "b"}, {.kai = "x", .parent = "b"}};
	struct queue_def defs[3 + DEEP];
	char names[DEEP][8];

	for (uint32_t i = 0; i < 3; i++)
		defs[i] = queue_object(f, &start[i]);
	for (uint32_t i = 0; i < DEEP; i++) {
		snprintf(names[i], sizeof(names[i]), "c%u", i);
		struct queue_is link = {.kai = names[i], .parent = i > 0 ? names[i - 1] : ""};
		defs[3 + i] = queue_object(f, &link);
	}
	enum err_code code = cluster_put_queues(f->c, FROM_KAI, defs, 3 + DEEP, e);
	for (uint32_t i = 0; i < 3 + DEEP; i++)
		queue_spec_free(&defs[i].spec);
	return code;
}

static void a_name_may_pass_from_one_queue_to_another(void **state)
{
	(void)state;
	struct fix f;
	struct err e = {0};
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.b.x"});
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b"}, {.kai = "x", .parent = "a"});
	put_node(&f, "n");
	put_pod(&f, (struct pod_is){.name = "p", .kai_queue = "x", .node = "n"});
	assert_string_equal(queue_path(&f, "p"), "root.a.x");
	uint64_t before = ledger_digest(f.l);
	/* Refused after the name has passed: it comes back. */
	assert_int_equal(try_deep(&f, &e), ERR_LIMIT);
	assert_int_equal(ledger_digest(f.l), before);
	name_id x = names_find(f.names, "x", 1);
	assert_int_equal(queue_tree_find_kai(ledger_queues(f.l), x), find_queue(&f, "root.a.x"));
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b"}, {.kai = "x", .parent = "b"});
	tree_is(&f, "root n\nroot.a k\nroot.b yk\nroot.b.x yk 1\n");
	fix_free(&f);
}

static void a_queue_without_a_source_is_drained(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "dept"}, {.kai = "a", .parent = "dept"}, {.kai = "b"});
	put_node(&f, "n");
	put_pod(&f, (struct pod_is){.name = "run", .kai_queue = "a", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "wait", .kai_queue = "a"});
	put_pod(&f, (struct pod_is){.name = "done", .kai_queue = "a", .node = "n", .phase = PHASE_SUCCEEDED});
	put_pod(&f, (struct pod_is){.name = "member", .group = "g"});
	put_group(&f, (struct group_is){.name = "g", .queue = "a"});
	put_queues(&f, FROM_KAI, {.kai = "b"});
	tree_is(&f, "root n\nroot.b k\nroot.dept k!\nroot.dept.a k! 1\n");
	assert_string_equal(queue_path(&f, "run"), "root.dept.a");
	assert_string_equal(queue_path(&f, "wait"), "?a");
	assert_string_equal(queue_path(&f, "member"), "?a");
	assert_string_equal(cluster_wanted_queue(f.c, cluster_find_pod(f.c, "ns", "done")), "");
	put_pod(&f, (struct pod_is){.name = "late", .kai_queue = "a"});
	assert_string_equal(queue_path(&f, "late"), "?a");
	/* It comes back as it was. */
	put_queues(&f, FROM_KAI, {.kai = "dept"}, {.kai = "a", .parent = "dept"}, {.kai = "b"});
	tree_is(&f, "root n\nroot.b k\nroot.dept k\nroot.dept.a k 4\n");
	put_queues(&f, FROM_KAI, {.kai = "b"});
	cluster_drop_pod(f.c, "ns", "run"); /* the last one leaves */
	tree_is(&f, "root n\nroot.b k\n");
	assert_string_equal(queue_path(&f, "wait"), "?a");
	fix_free(&f);
}

static void a_parent_is_a_leaf_again_when_its_children_are_drained(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a.b"});
	put_node(&f, "n");
	put_pod(&f, (struct pod_is){.name = "inner", .yunikorn_queue = "root.a.b", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "outer", .yunikorn_queue = "a"});
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a"});
	tree_is(&f, "root n\nroot.a y\nroot.a.b y! 1\n");
	assert_string_equal(queue_path(&f, "outer"), "?a");
	put_pod(&f, (struct pod_is){.name = "inner", .yunikorn_queue = "root.a.b", .node = "n", .phase = PHASE_FAILED});
	tree_is(&f, "root n\nroot.a y 1\n");
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a.c"}); /* and a leaf that becomes a parent loses its pods */
	assert_string_equal(queue_path(&f, "outer"), "?a");
	fix_free(&f);
}

static void GQ_14_sets_leave_dynamic_queues_alone(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	const struct placement_rule rule = {.kind = PLACEMENT_PROVIDED, .may_create = true};
	assert_int_equal(cluster_put_placement(f.c, &rule, 1, NULL), ERR_OK);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a", .is_parent = true});
	put_pod(&f, (struct pod_is){.name = "p", .yunikorn_queue = "root.a.dyn"});
	queue_id q = find_queue(&f, "root.a.dyn");
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a", .is_parent = true}, {.path = "root.b"});
	tree_is(&f, "root n\nroot.a y\nroot.a.dyn t 1\nroot.b y\n");
	assert_int_equal(find_queue(&f, "root.a.dyn"), q);
	/* One that is defined is dynamic no more; and again, when its definition goes while its pod waits. */
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a.dyn", .guaranteed_cpu = 500});
	tree_is(&f, "root n\nroot.a y\nroot.a.dyn y 1\n");
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a", .is_parent = true});
	tree_is(&f, "root n\nroot.a y\nroot.a.dyn t 1\n");
	assert_int_equal(queue_get(ledger_queues(f.l), find_queue(&f, "root.a.dyn"))->spec.guaranteed.mask, 0);
	fix_free(&f);
}

/* ---- the queue of those without one ---- */

static void root_default_is_made_when_it_is_needed(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "a"});
	put_pod(&f, (struct pod_is){.name = "p", .kai_queue = "a"});
	tree_is(&f, "root n\nroot.a k 1\n");
	put_pod(&f, (struct pod_is){.name = "q"});
	tree_is(&f, "root n\nroot.a k 1\nroot.default n 1\n");
	const struct queue *q = queue_get(ledger_queues(f.l), find_queue(&f, "root.default"));
	assert_int_equal(q->spec.guaranteed.mask | q->spec.max.mask, 0);
	assert_int_equal(q->props.preemption_delay_ns, 0);
	assert_false(cluster_is_kai_world(f.c, cluster_find_pod(f.c, "ns", "q")));
	/* Somebody defines it; nobody does any more. */
	put_queues(&f, FROM_YUNIKORN, {.path = "root.default", .guaranteed_cpu = 500});
	tree_is(&f, "root n\nroot.a k 1\nroot.default y 1\n");
	put_no_queues(&f, FROM_YUNIKORN);
	tree_is(&f, "root n\nroot.a k 1\nroot.default n 1\n");
	assert_int_equal(queue_get(ledger_queues(f.l), find_queue(&f, "root.default"))->spec.guaranteed.mask, 0);
	cluster_drop_pod(f.c, "ns", "q");
	put_queues(&f, FROM_KAI, {.kai = "a"});
	tree_is(&f, "root n\nroot.a k 1\n");
	fix_free(&f);
}

static void a_department_called_default_has_a_leaf_for_them(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_node(&f, "n");
	put_pod(&f, (struct pod_is){.name = "p", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "named", .kai_queue = "default"});
	put_pod(&f, (struct pod_is){.name = "member", .group = "g"});
	put_group(&f, (struct group_is){.name = "g"});
	tree_is(&f, "root n\nroot.default n 3\n");
	put_queues(&f, FROM_KAI, {.kai = "default"}, {.kai = "team", .parent = "default"});
	tree_is(&f, "root n\nroot.default k\nroot.default.default n 2\nroot.default.team k\n");
	assert_string_equal(queue_path(&f, "named"), "?default"); /* it names a parent now */
	put_pod(&f, (struct pod_is){.name = "run", .kai_queue = "team", .node = "n"});
	/* The team goes, but not all at once. */
	put_queues(&f, FROM_KAI, {.kai = "default"});
	tree_is(&f, "root n\nroot.default k\nroot.default.default n 2\nroot.default.team k! 1\n");
	cluster_drop_pod(f.c, "ns", "run");
	tree_is(&f, "root n\nroot.default k 3\n");
	put_no_queues(&f, FROM_KAI);
	tree_is(&f, "root n\nroot.default n 3\n");
	put_queues(&f, FROM_YUNIKORN, {.path = "root.default", .is_parent = true}); /* a parent by word alone */
	tree_is(&f, "root n\nroot.default y\nroot.default.default n 2\n");
	/* If even root.default.default is a parent they wait, and say for what. */
	put_queues(&f, FROM_YUNIKORN, {.path = "root.default.default.x"});
	assert_string_equal(queue_path(&f, "p"), "?root.default.default");
	assert_string_equal(queue_path(&f, "member"), "?root.default.default");
	fix_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_become_one_tree),
		cmocka_unit_test(ONE_2_definitions_that_disagree_are_refused),
		cmocka_unit_test(ONE_2_what_only_one_states_is_taken_over),
		cmocka_unit_test(ONE_2_a_limit_that_is_not_set_disagrees_with_nothing),
		cmocka_unit_test(shares_become_guarantees_and_maximums),
		cmocka_unit_test(MR_7_a_cycle_of_parents_is_refused_by_name),
		cmocka_unit_test(what_is_no_queue_is_refused),
		cmocka_unit_test(too_deep_is_refused_half_way),
		cmocka_unit_test(orphans_are_left_out_with_everything_below),
		cmocka_unit_test(a_moved_queue_takes_its_pods_along),
		cmocka_unit_test(a_name_may_pass_from_one_queue_to_another),
		cmocka_unit_test(a_queue_without_a_source_is_drained),
		cmocka_unit_test(a_parent_is_a_leaf_again_when_its_children_are_drained),
		cmocka_unit_test(GQ_14_sets_leave_dynamic_queues_alone),
		cmocka_unit_test(root_default_is_made_when_it_is_needed),
		cmocka_unit_test(a_department_called_default_has_a_leaf_for_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
