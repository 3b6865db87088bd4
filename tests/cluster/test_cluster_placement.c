/* SPDX-License-Identifier: Apache-2.0 */
/* Pods, placement rules and the queues that are made for them. */
#include "cluster/cluster_fixture.h"

#define PROVIDED .kind = PLACEMENT_PROVIDED
#define USER .kind = PLACEMENT_USER
#define CREATE .may_create = true
#define TAG(t) .kind = PLACEMENT_TAG, .value = t
#define FIXED(v) .kind = PLACEMENT_FIXED, .value = v
#define BELOW(...) .parent = RULE_OF(__VA_ARGS__)

static const char *trouble(const struct fix *f, const char *name)
{
	return cluster_queue_trouble(f->c, cluster_find_pod(f->c, "ns", name));
}

static const struct queue *queue_at(const struct fix *f, const char *path)
{
	queue_id q = find_queue(f, path);

	assert_int_not_equal(q, QUEUE_NONE);
	return queue_get(ledger_queues(f->l), q);
}

static int64_t max_of(const struct fix *f, const char *path)
{
	const struct queue_spec *s = &queue_at(f, path)->spec;

	return res_has(&s->max, RES_CPU) ? s->max.v[RES_CPU] : -1;
}

/* ---- which queue ---- */

struct placed_row {
	const char *says;
	struct placement_rule rules[3];
	struct pod_is pod;
	const char *expected, *trouble; /* NULL: none */
};

static uint32_t rule_count(const struct placement_rule *rules)
{
	uint32_t n = 0;

	/* A rule that is all zero says nothing. */
	while (n < 3 && (rules[n].kind != PLACEMENT_FIXED || rules[n].value != NULL))
		n++;
	return n;
}

static void run_placed(const struct placed_row *rows, size_t n, void (*put_tree)(struct fix *f))
{
	for (size_t i = 0; i < n; i++) {
		struct fix f;
		struct pod_is pod = rows[i].pod;
		pod.name = "p";
		fix_init(&f, PROFILE_DEFAULT);
		put_tree(&f);
		assert_int_equal(cluster_put_placement(f.c, rows[i].rules, rule_count(rows[i].rules), NULL), ERR_OK);
		put_pod(&f, pod);
		if (strcmp(queue_path(&f, "p"), rows[i].expected) != 0)
			fail_msg("%s: %s", rows[i].says, queue_path(&f, "p"));
		if (strcmp(trouble(&f, "p"), OR(rows[i].trouble, "")) != 0)
			fail_msg("%s: %s", rows[i].says, trouble(&f, "p"));
		fix_free(&f);
	}
}

static void put_teams(struct fix *f)
{
	put_queues(f, FROM_YUNIKORN, {.path = "root.a"}, {.path = "root.box", .is_parent = true},
		   {.path = "root.team.x"});
}

static void GQ_14_rules_are_tried_in_order(void **state)
{
	(void)state;
	const struct placed_row rows[] = {
		{"no rules: where the pod says", {{0}}, {.yunikorn_queue = "a"}, "root.a", NULL},
		{"no rules: nowhere", {{0}}, {0}, "root.default", NULL},
		{"no rules: not there", {{0}}, {.yunikorn_queue = "nix"}, "?nix", "there is no such queue"},
		{"no rules: a parent", {{0}}, {.yunikorn_queue = "root.team"}, "?root.team", "it is not a leaf"},
		{"no rules: no name", {{0}}, {.yunikorn_queue = "a b"}, "?a b", "there cannot be a queue of that name"},
		{"KAI's label comes before rules",
		 {{FIXED("a")}},
		 {.kai_queue = "root.team.x", .yunikorn_queue = "box"},
		 "root.team.x",
		 NULL},
		{"a rule wins over what the pod says",
		 {{FIXED("a")}},
		 {.yunikorn_queue = "root.team.x"},
		 "root.a",
		 NULL},
		{"the first that gives a queue",
		 {{PROVIDED}, {TAG("namespace"), CREATE}, {FIXED("a")}},
		 {0},
		 "root.ns",
		 NULL},
		{"past a queue that is not there",
		 {{PROVIDED}, {FIXED("a")}},
		 {.yunikorn_queue = "nix"},
		 "root.a",
		 NULL},
		{"past a parent", {{PROVIDED, CREATE}, {FIXED("a")}}, {.yunikorn_queue = "root.box"}, "root.a", NULL},
		{"past the root", {{PROVIDED, CREATE}, {FIXED("a")}}, {.yunikorn_queue = "root"}, "root.a", NULL},
		{"no rule left, and no name", {{PROVIDED}, {FIXED("nix")}}, {0}, "root.default", NULL},
		{"no rule left, and a name", {{FIXED("nix")}}, {.yunikorn_queue = "a"}, "?a", "there is no such queue"},
		{"recovery is the end of the list, which it is anyway",
		 {{.kind = PLACEMENT_RECOVERY}},
		 {.node = "n"},
		 "root.default",
		 NULL},
		{"below a leaf nothing can be",
		 {{PROVIDED, CREATE}, {FIXED("a")}},
		 {.yunikorn_queue = "root.a.b"},
		 "?root.a.b",
		 "there cannot be a queue of that name"},
		{"below a leaf that another rule gives",
		 {{USER, CREATE, BELOW(FIXED("a"))}},
		 {.user = "ann"},
		 "?root.a",
		 "there cannot be a queue of that name"},
		{"root.default is those without a queue", {{TAG("namespace"), CREATE}}, {0}, "root.ns", NULL},
		{"also by a rule that makes queues",
		 {{PROVIDED, CREATE}},
		 {.yunikorn_queue = "root.default.default"},
		 "root.default",
		 NULL},
	};
	run_placed(rows, N_OF(rows), put_teams);
}

static void put_walls(struct fix *f)
{
	put_queues(f, FROM_YUNIKORN, {.path = "root", .admin = "boss"}, {.path = "root.a", .submit = "ann dev"},
		   {.path = "root.b", .is_parent = true, .submit = "bob"}, {.path = "root.open", .submit = "*"},
		   {.path = "root.shut"});
}

#define NOT_IN "its access lists do not let the user in"

static void GQ_14_access_lists_are_honoured(void **state)
{
	(void)state;
	const struct placed_row rows[] = {
		{"a user", {{0}}, {.yunikorn_queue = "a", .user = "ann"}, "root.a", NULL},
		{"a group", {{0}}, {.yunikorn_queue = "a", .user = "eve", .groups = "dev"}, "root.a", NULL},
		{"a stranger", {{0}}, {.yunikorn_queue = "a", .user = "eve"}, "?a", NOT_IN},
		{"who runs already", {{0}}, {.yunikorn_queue = "a", .user = "eve", .node = "n"}, "?a", NOT_IN},
		{"nobody", {{0}}, {.yunikorn_queue = "a"}, "?a", NOT_IN},
		{"nobody, where all may", {{0}}, {.yunikorn_queue = "open"}, "root.open", NULL},
		{"the one of the root, everywhere",
		 {{0}},
		 {.yunikorn_queue = "shut", .user = "boss"},
		 "root.shut",
		 NULL},
		{"a queue without a list", {{0}}, {.yunikorn_queue = "shut", .user = "ann"}, "?shut", NOT_IN},
		{"a queue to be made asks the one above",
		 {{PROVIDED, CREATE}},
		 {.yunikorn_queue = "root.b.c.d", .user = "bob"},
		 "root.b.c.d",
		 NULL},
		{"and is not made for others",
		 {{PROVIDED, CREATE}},
		 {.yunikorn_queue = "root.b.c.d", .user = "ann"},
		 "?root.b.c.d",
		 NOT_IN},
		{"the next rule is tried", {{PROVIDED}, {FIXED("open")}}, {.yunikorn_queue = "a"}, "root.open", NULL},
		{"those without a queue need nobody's leave", {{0}}, {.user = "eve"}, "root.default", NULL},
		{"lists are YuniKorn's", {{0}}, {.kai_queue = "root.shut", .user = "eve"}, "root.shut", NULL},
	};
	run_placed(rows, N_OF(rows), put_walls);
	const struct placed_row without[] = {
		{"without any list nobody is kept out", {{0}}, {.yunikorn_queue = "a", .user = "eve"}, "root.a", NULL},
	};
	run_placed(without, N_OF(without), put_teams);
}

static void GQ_14_namespaces_name_a_parent(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_teams(&f);
	put_rules(&f, {TAG("namespace"), CREATE, BELOW(TAG("namespace.parentqueue"))}, {TAG("namespace"), CREATE});
	put_pod(&f, (struct pod_is){.name = "p"});
	assert_string_equal(queue_path(&f, "p"), "root.ns");
	put_namespace(&f, "ns", "root.box");
	tree_is(&f, "root n\nroot.a y\nroot.box y\nroot.box.ns t 1\nroot.team y\nroot.team.x y\n");
	put_namespace(&f, "ns", "box");
	assert_string_equal(queue_path(&f, "p"), "root.box.ns");
	put_namespace(&f, "ns", "root.a"); /* a leaf */
	assert_string_equal(queue_path(&f, "p"), "?root.a");
	put_namespace(&f, "ns", "root.nix");
	assert_string_equal(queue_path(&f, "p"), "root.ns");
	cluster_drop_namespace(f.c, "ns");
	tree_is(&f, "root n\nroot.a y\nroot.box y\nroot.ns t 1\nroot.team y\nroot.team.x y\n");
	fix_free(&f);
}

static void GQ_14_rules_are_for_profiles_that_know_them(void **state)
{
	(void)state;
	struct fix f;
	struct cluster_options o = cluster_options_default();
	fix_init(&f, PROFILE_YUNIKORN);
	put_teams(&f);
	put_rules(&f, {TAG("namespace"), CREATE});
	put_pod(&f, (struct pod_is){.name = "p"});
	assert_string_equal(queue_path(&f, "p"), "root.ns");
	o.profile = PROFILE_KAI;
	cluster_set_options(f.c, &o);
	assert_string_equal(queue_path(&f, "p"), "root.default");
	assert_int_equal(find_queue(&f, "root.ns"), QUEUE_NONE);
	o.profile = PROFILE_KUBERNETES;
	cluster_set_options(f.c, &o);
	assert_string_equal(queue_path(&f, "p"), "root.default");
	o.profile = PROFILE_DEFAULT;
	cluster_set_options(f.c, &o);
	assert_string_equal(queue_path(&f, "p"), "root.ns");
	/* Neither queues of YuniKorn nor rules: its label is a path like any other. */
	put_no_queues(&f, FROM_YUNIKORN);
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b", .parent = "a"});
	assert_string_equal(queue_path(&f, "p"), "root.ns");
	put_no_rules(&f);
	assert_string_equal(queue_path(&f, "p"), "root.default");
	put_pod(&f, (struct pod_is){.name = "p", .yunikorn_queue = "a.b"});
	assert_string_equal(queue_path(&f, "p"), "root.a.b");
	fix_free(&f);
}

static void GQ_14_bad_rules_change_nothing(void **state)
{
	(void)state;
	struct fix f;
	struct err e = {0};
	fix_init(&f, PROFILE_DEFAULT);
	put_teams(&f);
	put_rules(&f, {TAG("namespace"), CREATE});
	put_pod(&f, (struct pod_is){.name = "p"});
	uint64_t before = ledger_digest(f.l);
	const struct placement_rule bad = {FIXED("a"), .filter = {.users = {.expression = "["}}};
	assert_int_equal(cluster_put_placement(f.c, &bad, 1, &e), ERR_INPUT);
	assert_string_equal(e.msg, "placement rule: '[' is not a regular expression that can be used");
	assert_int_equal(ledger_digest(f.l), before);
	uint32_t n;
	assert_int_equal(cluster_placement(f.c, &n)->kind, PLACEMENT_TAG);
	assert_int_equal(n, 1);
	put_no_rules(&f);
	assert_null(cluster_placement(f.c, &n));
	assert_int_equal(n, 0);
	fix_free(&f);
}

/* ---- queues come and go ---- */

static void GQ_14_a_queue_is_made_for_the_first_and_goes_with_the_last(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.box", .is_parent = true});
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "a", .yunikorn_queue = "root.Box.U.one"});
	put_pod(&f, (struct pod_is){.name = "b", .yunikorn_queue = "root.box.u.two", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "c", .yunikorn_queue = "root.box.u.two"});
	tree_is(&f, "root n\nroot.box y\nroot.box.u t\nroot.box.u.one t 1\nroot.box.u.two t 2\n");
	cluster_drop_pod(f.c, "ns", "a");
	tree_is(&f, "root n\nroot.box y\nroot.box.u t\nroot.box.u.two t 2\n");
	put_pod(&f,
		(struct pod_is){.name = "b", .yunikorn_queue = "root.box.u.two", .node = "n", .phase = PHASE_FAILED});
	tree_is(&f, "root n\nroot.box y\nroot.box.u t\nroot.box.u.two t 1\n");
	put_pod(&f, (struct pod_is){.name = "c", .yunikorn_queue = "root.three"}); /* it moves */
	tree_is(&f, "root n\nroot.box y\nroot.three t 1\n");
	put_no_rules(&f);
	tree_is(&f, "root n\nroot.box y\n");
	assert_string_equal(queue_path(&f, "c"), "?root.three");
	fix_free(&f);
}

static void GQ_14_a_group_holds_its_queue(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root"});
	put_rules(&f, {USER, CREATE});
	put_group(&f, (struct group_is){.name = "g", .min = 2});
	tree_is(&f, "root y\n");
	put_pod(&f, (struct pod_is){.name = "m1", .group = "g", .user = "ann"}); /* speaks for all */
	put_pod(&f, (struct pod_is){.name = "m2", .group = "g", .user = "bob"});
	tree_is(&f, "root y\nroot.ann t 2\n");
	put_pod(&f, (struct pod_is){.name = "m1", .group = "g", .user = "ann", .phase = PHASE_SUCCEEDED});
	put_pod(&f, (struct pod_is){.name = "m2", .group = "g", .user = "bob", .phase = PHASE_SUCCEEDED});
	tree_is(&f, "root y\nroot.ann t\n");
	cluster_drop_pod(f.c, "ns", "m1");
	tree_is(&f, "root y\nroot.bob t\n");
	cluster_drop_group(f.c, "ns", "g", false);
	tree_is(&f, "root y\n");
	put_group(&f, (struct group_is){.name = "g", .min = 2, .queue = "root.bob"}); /* names what is not defined */
	put_pod(&f, (struct pod_is){.name = "m2", .group = "g", .user = "bob"});
	assert_string_equal(queue_path(&f, "m2"), "?root.bob");
	fix_free(&f);
}

/* What others had made is not there for who must not make it: that would depend on who came first. */
static void GQ_14_dynamic_queues_are_only_for_those_who_may_make_them(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.a"});
	put_rules(&f, {PROVIDED}, {USER, CREATE, .filter = {.users = {.expression = "^ann$"}}});
	put_pod(&f, (struct pod_is){.name = "p", .user = "ann"});
	assert_string_equal(queue_path(&f, "p"), "root.ann");
	put_pod(&f, (struct pod_is){.name = "q", .user = "bob", .yunikorn_queue = "root.ann"});
	assert_string_equal(queue_path(&f, "q"), "?root.ann");
	put_pod(&f, (struct pod_is){.name = "k", .kai_queue = "root.ann"});
	assert_string_equal(queue_path(&f, "k"), "?root.ann");
	put_queues(&f, FROM_YUNIKORN, {.path = "root.ann"});
	tree_is(&f, "root n\nroot.ann y 3\n");
	fix_free(&f);
}

static void GQ_14_a_path_is_a_parent_whoever_came_first(void **state)
{
	(void)state;
	for (uint32_t order = 0; order < 2; order++) {
		struct fix f;
		fix_init(&f, PROFILE_DEFAULT);
		put_queues(&f, FROM_YUNIKORN, {.path = "root"});
		put_rules(&f, {PROVIDED, CREATE}, {USER, CREATE});
		const struct pod_is leaf = {.name = "leaf", .yunikorn_queue = "root.x", .node = "n"};
		const struct pod_is below = {.name = "below", .yunikorn_queue = "root.x.y"};
		put_group(&f, (struct group_is){.name = "g", .min = 1});
		put_pod(&f, (struct pod_is){.name = "member", .group = "g", .yunikorn_queue = "root.x"});
		put_pod(&f, order == 0 ? leaf : below);
		put_pod(&f, order == 0 ? below : leaf);
		tree_is(&f, "root y\nroot.x t\nroot.x.y t 1\n");
		assert_string_equal(queue_path(&f, "leaf"), "?root.x");
		assert_string_equal(trouble(&f, "leaf"), "it is not a leaf, because other pods are in queues below it");
		assert_string_equal(queue_path(&f, "member"), "?root.x");
		/* And a leaf again when nobody needs the parent. */
		cluster_drop_pod(f.c, "ns", "below");
		tree_is(&f, "root y\nroot.x t 2\n");
		/* The pod in the way is the one that asks for more. */
		cluster_drop_pod(f.c, "ns", "member");
		cluster_drop_group(f.c, "ns", "g", false);
		put_pod(&f, (struct pod_is){.name = "leaf", .yunikorn_queue = "root.x.y.z", .node = "n"});
		tree_is(&f, "root y\nroot.x t\nroot.x.y t\nroot.x.y.z t 1\n");
		fix_free(&f);
	}
}

static void GQ_14_queues_below_that_of_those_without_one(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root"});
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "p"});
	put_pod(&f, (struct pod_is){.name = "x", .yunikorn_queue = "root.default.x"});
	tree_is(&f, "root y\nroot.default t\nroot.default.default n 1\nroot.default.x t 1\n");
	put_pod(&f, (struct pod_is){.name = "y", .yunikorn_queue = "root.default.default.y"});
	assert_string_equal(queue_path(&f, "p"), "?root.default.default");
	assert_string_equal(trouble(&f, "p"), "it is not a leaf");
	cluster_drop_pod(f.c, "ns", "y");
	tree_is(&f, "root y\nroot.default t\nroot.default.default n 1\nroot.default.x t 1\n");
	cluster_drop_pod(f.c, "ns", "x");
	tree_is(&f, "root y\nroot.default n 1\n");
	fix_free(&f);
}

static void GQ_14_drained_queues_take_no_new_work(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.old"}, {.path = "root.box", .is_parent = true},
		   {.path = "root.spare"});
	put_rules(&f, {PROVIDED, CREATE}, {FIXED("spare")});
	put_pod(&f, (struct pod_is){.name = "run", .yunikorn_queue = "root.old", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "wait", .yunikorn_queue = "root.old"});
	put_pod(&f, (struct pod_is){.name = "dyn", .yunikorn_queue = "root.box.d", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "late", .yunikorn_queue = "root.box.e"});
	put_queues(&f, FROM_YUNIKORN, {.path = "root.spare"});
	assert_string_equal(queue_path(&f, "run"), "root.old");
	assert_string_equal(queue_path(&f, "wait"), "root.spare");
	assert_string_equal(queue_path(&f, "dyn"), "root.box.d");
	assert_string_equal(queue_path(&f, "late"), "root.spare");
	/* Who was started elsewhere stays there. */
	put_node(&f, "n");
	ledger_place(f.l, cluster_find_pod(f.c, "ns", "wait"), ledger_node_find(f.l, names_find(f.names, "n", 1)));
	ledger_commit(f.l);
	put_no_queues(&f, FROM_KAI); /* all is resolved again */
	assert_string_equal(queue_path(&f, "wait"), "root.spare");
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "new", .yunikorn_queue = "root.old"});
	assert_string_equal(trouble(&f, "new"), "it is being drained");
	/* The last one goes, and with it the queue: now it can be made. */
	cluster_drop_pod(f.c, "ns", "run");
	cluster_drop_pod(f.c, "ns", "wait");
	tree_is(&f, "root n\nroot.box y!\nroot.box.d t 1\nroot.old t 1\nroot.spare y\n");
	cluster_drop_pod(f.c, "ns", "dyn");
	tree_is(&f, "root n\nroot.box t\nroot.box.e t 1\nroot.old t 1\nroot.spare y\n");
	fix_free(&f);
}

/* A queue may be a parent only because of one that is drained. With that everything below it loses its place. */
static void GQ_14_a_parent_that_is_none_any_more(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root.default.old"});
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "a", .kai_queue = "root.default"});
	put_pod(&f, (struct pod_is){.name = "b"});
	put_pod(&f, (struct pod_is){.name = "c", .yunikorn_queue = "root.default.old", .node = "n"});
	put_pod(&f, (struct pod_is){.name = "d", .yunikorn_queue = "root.default.dyn"});
	put_queues(&f, FROM_YUNIKORN, {.path = "root.default"});
	tree_is(&f, "root n\nroot.default y\nroot.default.default n 1\nroot.default.dyn t 1\nroot.default.old y! 1\n");
	assert_string_equal(queue_path(&f, "a"), "?root.default");
	cluster_drop_pod(f.c, "ns", "c");
	tree_is(&f, "root n\nroot.default y 2\n");
	assert_string_equal(queue_path(&f, "d"), "?root.default.dyn");
	fix_free(&f);
}

/* ---- what they have ---- */

static void GQ_14_dynamic_queues_have_what_the_template_says(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root", .template_max_cpu = 1000},
		   {.path = "root.own",
		    .is_parent = true,
		    .template_max_cpu = 2000,
		    .template_policy = "fence",
		    .delay = "9s"},
		   {.path = "root.plain", .is_parent = true});
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "a", .yunikorn_queue = "root.a"});
	put_pod(&f, (struct pod_is){.name = "b", .yunikorn_queue = "root.own.mid.b"});
	put_pod(&f, (struct pod_is){.name = "c", .yunikorn_queue = "root.plain.c"});
	assert_int_equal(max_of(&f, "root.a"), 1000);
	assert_int_equal(max_of(&f, "root.plain.c"), 1000); /* of the nearest that has one */
	assert_int_equal(max_of(&f, "root.own.mid.b"), 2000);
	assert_int_equal(max_of(&f, "root.own.mid"), -1); /* parents hand it on */
	assert_non_null(queue_at(&f, "root.own.mid")->spec.child_template);
	assert_int_equal(queue_at(&f, "root.own.mid.b")->spec.sources, FROM_TEMPLATE);
	/* Its properties, then what comes down from above. */
	assert_int_equal(queue_at(&f, "root.own.mid.b")->props.preemption_policy, POLICY_FENCE);
	assert_int_equal(queue_at(&f, "root.own.mid")->props.preemption_policy, POLICY_DEFAULT);
	assert_int_equal(queue_at(&f, "root.own.mid.b")->props.preemption_delay_ns, 9 * NS_PER_S);
	assert_int_equal(queue_at(&f, "root.a")->props.preemption_delay_ns, PREEMPTION_DELAY_DEFAULT_NS);
	/* They follow it. */
	put_queues(&f, FROM_YUNIKORN, {.path = "root"},
		   {.path = "root.own", .is_parent = true, .template_max_cpu = 3000},
		   {.path = "root.plain", .is_parent = true});
	assert_int_equal(max_of(&f, "root.a"), -1);
	assert_int_equal(max_of(&f, "root.own.mid.b"), 3000);
	assert_int_equal(queue_at(&f, "root.own.mid.b")->props.preemption_policy, POLICY_DEFAULT);
	fix_free(&f);
}

static void GQ_14_namespaces_have_the_last_word_on_amounts(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root", .template_max_cpu = 1000}, {.path = "root.defined"});
	put_rules(&f, {PROVIDED, CREATE});
	put_namespace_as(&f, (struct namespace_is){
				     .name = "ns", .max_cpu = CPU(5000), .guaranteed_cpu = CPU(300), .max_apps = 7});
	put_pod(&f, (struct pod_is){.name = "a", .yunikorn_queue = "root.q"});
	put_pod(&f, (struct pod_is){.name = "d", .yunikorn_queue = "root.defined"});
	assert_int_equal(max_of(&f, "root.q"), 5000);
	assert_int_equal(queue_at(&f, "root.q")->spec.guaranteed.v[RES_CPU], 300);
	assert_int_equal(queue_at(&f, "root.q")->spec.max_apps, 7);
	assert_int_equal(max_of(&f, "root.defined"), -1);
	/* Of several the first by name, whoever came first. */
	put_namespace_as(&f, (struct namespace_is){.name = "before", .max_cpu = CPU(4000)});
	put_namespace_as(&f, (struct namespace_is){.name = "zz", .max_cpu = CPU(6000)});
	put_namespace_as(&f, (struct namespace_is){.name = "aa"});
	put_pod(&f, (struct pod_is){.ns = "zz", .name = "z", .yunikorn_queue = "root.q"});
	put_pod(&f, (struct pod_is){.ns = "aa", .name = "silent", .yunikorn_queue = "root.q"});
	assert_int_equal(max_of(&f, "root.q"), 5000);
	put_pod(&f, (struct pod_is){.ns = "before", .name = "b", .yunikorn_queue = "root.q"});
	assert_int_equal(max_of(&f, "root.q"), 4000);
	assert_int_equal(queue_at(&f, "root.q")->spec.guaranteed.mask, 0);
	put_pod(&f, (struct pod_is){.ns = "before", .name = "b2", .yunikorn_queue = "root.q"});
	cluster_drop_pod(f.c, "before", "b");
	assert_int_equal(max_of(&f, "root.q"), 4000);
	cluster_drop_pod(f.c, "before", "b2");
	assert_int_equal(max_of(&f, "root.q"), 5000);
	put_namespace_as(&f, (struct namespace_is){.name = "ns", .max_cpu = CPU(5500)});
	assert_int_equal(max_of(&f, "root.q"), 5500);
	put_namespace_as(&f, (struct namespace_is){.name = "ns", .max_cpu = CPU(0)}); /* nothing is no amount */
	assert_int_equal(max_of(&f, "root.q"), 1000);
	cluster_drop_namespace(f.c, "ns");
	assert_int_equal(max_of(&f, "root.q"), 6000);
	/* A new template changes nothing in that. */
	put_queues(&f, FROM_YUNIKORN, {.path = "root", .template_max_cpu = 2000});
	assert_int_equal(max_of(&f, "root.q"), 6000);
	put_pod(&f, (struct pod_is){.ns = "zz", .name = "z", .yunikorn_queue = "root.q", .phase = PHASE_SUCCEEDED});
	assert_int_equal(max_of(&f, "root.q"), 2000);
	fix_free(&f);
}

/* ---- with somebody outside who changes his mind ---- */

static void GQ_14_a_rollback_takes_made_queues_back(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root", .template_max_cpu = 1000});
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "a", .yunikorn_queue = "root.x"});
	put_node(&f, "n");
	pod_id a = cluster_find_pod(f.c, "ns", "a");
	uint64_t before = ledger_digest(f.l);
	ledger_place(f.l, a, ledger_node_find(f.l, names_find(f.names, "n", 1)));
	put_pod(&f, (struct pod_is){.name = "b", .yunikorn_queue = "root.x.y"});
	put_pod(&f, (struct pod_is){.name = "a", .yunikorn_queue = "root.z"});
	tree_is(&f, "root y\nroot.x t\nroot.x.y t 1\nroot.z t 1\n");
	ledger_rollback(f.l, 0);
	cluster_resync(f.c);
	assert_int_equal(ledger_digest(f.l), before);
	tree_is(&f, "root y\nroot.x t 1\n");
	cluster_drop_pod(f.c, "ns", "a");
	tree_is(&f, "root y\n");
	fix_free(&f);
}

static void GQ_14_a_pod_that_is_refused_leaves_no_queue(void **state)
{
	(void)state;
	struct fix f;
	struct err e = {0};
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_YUNIKORN, {.path = "root"});
	put_rules(&f, {PROVIDED, CREATE});
	put_pod(&f, (struct pod_is){.name = "in", .yunikorn_queue = "root.x"});
	uint64_t before = ledger_digest(f.l);
	struct pod_is huge = {.name = "huge", .yunikorn_queue = "root.x.y", .cpu = INT64_C(1) << 62};
	struct obj_pod obj = pod_object(&f, &huge);
	assert_int_equal(cluster_put_pod(f.c, &obj, &e), ERR_LIMIT);
	assert_int_equal(ledger_digest(f.l), before);
	obj_pod_drop(f.v, &obj);
	put_pod(&f, (struct pod_is){.name = "on", .yunikorn_queue = "root.y"});
	tree_is(&f, "root y\nroot.x t 1\nroot.y t 1\n");
	fix_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_14_rules_are_tried_in_order),
		cmocka_unit_test(GQ_14_access_lists_are_honoured),
		cmocka_unit_test(GQ_14_namespaces_name_a_parent),
		cmocka_unit_test(GQ_14_rules_are_for_profiles_that_know_them),
		cmocka_unit_test(GQ_14_bad_rules_change_nothing),
		cmocka_unit_test(GQ_14_a_queue_is_made_for_the_first_and_goes_with_the_last),
		cmocka_unit_test(GQ_14_a_group_holds_its_queue),
		cmocka_unit_test(GQ_14_dynamic_queues_are_only_for_those_who_may_make_them),
		cmocka_unit_test(GQ_14_a_path_is_a_parent_whoever_came_first),
		cmocka_unit_test(GQ_14_queues_below_that_of_those_without_one),
		cmocka_unit_test(GQ_14_drained_queues_take_no_new_work),
		cmocka_unit_test(GQ_14_a_parent_that_is_none_any_more),
		cmocka_unit_test(GQ_14_dynamic_queues_have_what_the_template_says),
		cmocka_unit_test(GQ_14_namespaces_have_the_last_word_on_amounts),
		cmocka_unit_test(GQ_14_a_rollback_takes_made_queues_back),
		cmocka_unit_test(GQ_14_a_pod_that_is_refused_leaves_no_queue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
