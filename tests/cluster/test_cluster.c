/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that come late, change and go: what depends on them follows, and failing calls leave no trace. */
#include "cluster/cluster_fixture.h"

#define LABEL(value) "kai.scheduler/preemptibility=" value

static node_id node_of(const struct fix *f, const char *name)
{
	return ledger_node_find(f->l, names_find(f->names, name, strlen(name)));
}

/* ---- nodes ---- */

static void a_pod_may_come_before_its_node(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_pod(&f, (struct pod_is){.name = "p", .node = "n"});
	assert_int_equal(pod_of(&f, "p")->state, POD_PLACED);
	assert_false(ledger_node(f.l, node_of(&f, "n"))->is_live);
	put_node(&f, "n");
	assert_true(ledger_node(f.l, node_of(&f, "n"))->is_live);
	assert_int_equal(ledger_node(f.l, node_of(&f, "n"))->pods.n, 1);
	assert_int_equal(ledger_node_used(f.l, node_of(&f, "n"))[RES_CPU], 1000);
	put_node(&f, "n"); /* again: nothing new */
	cluster_drop_node(f.c, "n");
	cluster_drop_node(f.c, "n");
	cluster_drop_node(f.c, "never");
	assert_int_equal(pod_of(&f, "p")->state, POD_PLACED);
	cluster_drop_pod(f.c, "ns", "p");
	cluster_drop_pod(f.c, "ns", "p");
	assert_int_equal(cluster_find_pod(f.c, "ns", "p"), POD_NONE);
	fix_free(&f);
}

/* A tenant may write any node into a new pod, and a terminating pod outlives its node. */
static void a_pod_on_a_node_that_is_gone_is_noted_and_looked_past(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_node(&f, "n");
	put_pod(&f, (struct pod_is){.name = "lost", .node = "gone"});
	put_pod(&f, (struct pod_is){.name = "done", .node = "gone", .phase = PHASE_SUCCEEDED});
	assert_int_equal(pod_of(&f, "lost")->state, POD_PLACED);
	assert_false(ledger_node(f.l, pod_of(&f, "lost")->node)->is_live);
	assert_string_equal(cluster_next_warning(f.c),
			    "pod ns/lost: its node gone is not there: it counts in its queue and takes nobody's room");
	assert_null(cluster_next_warning(f.c));
	put_node(&f, "gone");
	assert_true(ledger_node(f.l, pod_of(&f, "lost")->node)->is_live);
	fix_free(&f);
}

static void too_much_is_refused_without_a_trace(void **state)
{
	(void)state;
	struct fix f;
	struct err e = {0};
	fix_init(&f, PROFILE_DEFAULT);
	/* 64 times 2^56 is 2^62, and that is the end. */
	for (int i = 0; i < 64; i++) {
		char name[16];
		snprintf(name, sizeof(name), "p%d", i);
		put_pod(&f, (struct pod_is){.name = name, .kai_queue = "nowhere", .cpu = RES_AMOUNT_MAX});
	}
	uint64_t before = ledger_digest(f.l);
	struct pod_is more = {.name = "more", .node = "ghost", .cpu = 1};
	struct obj_pod o = pod_object(&f, &more);
	assert_int_equal(cluster_put_pod(f.c, &o, &e), ERR_LIMIT);
	obj_pod_drop(f.v, &o);
	assert_int_equal(ledger_digest(f.l), before);
	assert_int_equal(find_queue(&f, "root.default"), QUEUE_NONE); /* made for it, and taken back */
	assert_int_equal(cluster_find_pod(f.c, "ns", "more"), POD_NONE);
	fix_free(&f);
}

static void a_nomination_holds_while_its_node_is_there(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_pod(&f, (struct pod_is){.name = "p", .nominated = "n"});
	assert_int_equal(pod_of(&f, "p")->nomination, NOMINATION_NONE);
	put_node(&f, "n");
	assert_int_equal(pod_of(&f, "p")->nomination, NOMINATION_ADVISORY);
	assert_int_equal(pod_of(&f, "p")->node, node_of(&f, "n"));
	cluster_drop_node(f.c, "n");
	assert_int_equal(pod_of(&f, "p")->nomination, NOMINATION_NONE);
	put_node(&f, "n");
	assert_int_equal(pod_of(&f, "p")->nomination, NOMINATION_ADVISORY);
	put_pod(&f, (struct pod_is){.name = "q", .nominated = "n"});
	assert_int_equal(pod_of(&f, "q")->nomination, NOMINATION_ADVISORY);
	put_pod(&f, (struct pod_is){.name = "p"}); /* taken back */
	assert_int_equal(pod_of(&f, "p")->nomination, NOMINATION_NONE);
	fix_free(&f);
}

/* ---- what the engine has moved meanwhile ---- */

static void news_of_a_pod_do_not_undo_what_was_decided(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_node(&f, "n");
	put_node(&f, "m");
	pod_id wait = put_pod(&f, (struct pod_is){.name = "wait", .uid = "1"});
	pod_id run = put_pod(&f, (struct pod_is){.name = "run", .uid = "2", .node = "n", .started = 7});
	pod_id hope = put_pod(&f, (struct pod_is){.name = "hope", .uid = "3"});
	ledger_place(f.l, wait, node_of(&f, "m"));
	ledger_set_started(f.l, wait, 1234);
	ledger_evict(f.l, run);
	ledger_reserve(f.l, node_of(&f, "n"), hope);
	ledger_commit(f.l);

	put_pod(&f, (struct pod_is){.name = "wait", .uid = "1", .labels = "a=b"});
	put_pod(&f, (struct pod_is){.name = "run", .uid = "2", .node = "n", .started = 7, .labels = "a=b"});
	put_pod(&f, (struct pod_is){.name = "hope", .uid = "3", .labels = "a=b"});
	put_class(&f, "any", 1, true); /* resolves everything again */
	assert_int_equal(pod_of(&f, "wait")->state, POD_PLACED);
	assert_int_equal(pod_of(&f, "wait")->node, node_of(&f, "m"));
	assert_int_equal(pod_of(&f, "wait")->started_ns, 1234);
	assert_int_equal(pod_of(&f, "run")->state, POD_LEAVING);
	assert_true(pod_of(&f, "run")->is_evicted);
	assert_int_equal(pod_of(&f, "hope")->nomination, NOMINATION_RESERVED);
	put_pod(&f, (struct pod_is){.name = "hope", .uid = "3", .nominated = "n"}); /* ours, come back */
	assert_int_equal(pod_of(&f, "hope")->nomination, NOMINATION_RESERVED);

	/* What contradicts it counts. */
	put_pod(&f, (struct pod_is){.name = "wait", .uid = "1", .node = "n", .started = 50});
	assert_int_equal(pod_of(&f, "wait")->node, node_of(&f, "n"));
	assert_int_equal(pod_of(&f, "wait")->started_ns, AT(50));
	put_pod(&f, (struct pod_is){.name = "hope", .uid = "3", .nominated = "m"});
	assert_int_equal(pod_of(&f, "hope")->nomination, NOMINATION_ADVISORY);
	assert_int_equal(pod_of(&f, "hope")->node, node_of(&f, "m"));
	put_pod(&f, (struct pod_is){.name = "run", .uid = "2", .node = "n", .phase = PHASE_FAILED});
	assert_int_equal(pod_of(&f, "run")->state, POD_FINISHED);

	/* And another pod of the same name is another pod. */
	ledger_vacate(f.l, wait);
	ledger_place(f.l, hope, node_of(&f, "m"));
	ledger_commit(f.l);
	put_pod(&f, (struct pod_is){.name = "hope", .uid = "4"});
	assert_int_equal(pod_of(&f, "hope")->state, POD_WAITING);
	fix_free(&f);
}

static void MR_8_the_engines_stamp_is_finer_than_the_annotation(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	group_id g = put_group(&f, (struct group_is){.name = "g"});
	put_pod(&f, (struct pod_is){.name = "p", .node = "n", .group = "g", .created = 1});
	assert_int_equal(pod_of(&f, "p")->started_ns, AT(1));
	int64_t stamp = AT(5 * NS_PER_S + 123);
	ledger_set_group_started(f.l, g, stamp);
	ledger_commit(f.l);
	put_group(&f, (struct group_is){.name = "g"}); /* news that know nothing of it yet */
	assert_int_equal(ledger_group(f.l, g)->started_ns, stamp);
	put_group(&f, (struct group_is){.name = "g", .started = 5 * NS_PER_S});
	assert_int_equal(ledger_group(f.l, g)->started_ns, stamp);
	assert_int_equal(pod_of(&f, "p")->started_ns, stamp);
	put_group(&f, (struct group_is){.name = "g", .started = 9 * NS_PER_S}); /* somebody started it again */
	assert_int_equal(ledger_group(f.l, g)->started_ns, AT(9 * NS_PER_S));
	put_group(&f, (struct group_is){.name = "g", .started = 8 * NS_PER_S}); /* nobody here knows better */
	assert_int_equal(pod_of(&f, "p")->started_ns, AT(8 * NS_PER_S));
	put_group(&f, (struct group_is){.name = "g"});
	assert_int_equal(pod_of(&f, "p")->started_ns, AT(1));
	fix_free(&f);
}

/* ---- groups ---- */

static void members_follow_their_group(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b"});
	put_pod(&f, (struct pod_is){.name = "p", .group = "g", .kai_queue = "b"});
	assert_int_equal(pod_of(&f, "p")->group, GROUP_NONE);
	assert_string_equal(queue_path(&f, "p"), "root.b");
	group_id g = put_group(&f, (struct group_is){.name = "g", .queue = "a", .class = "build", .min = 3});
	assert_int_equal(pod_of(&f, "p")->group, g);
	assert_string_equal(queue_path(&f, "p"), "root.a");
	assert_int_equal(pod_of(&f, "p")->priority, 100);
	assert_int_equal(ledger_group(f.l, g)->queue, find_queue(&f, "root.a"));
	put_pod(&f, (struct pod_is){.name = "q", .group = "g"});
	assert_int_equal(ledger_podset(f.l, pod_of(&f, "q")->podset)->n_pods, 2);
	put_group(&f, (struct group_is){.name = "g", .queue = "b", .class = "train", .min = 1});
	assert_string_equal(queue_path(&f, "q"), "root.b");
	assert_int_equal(pod_of(&f, "q")->priority, 50);
	assert_int_equal(ledger_podset(f.l, pod_of(&f, "q")->podset)->min_member, 1);
	cluster_drop_group(f.c, "ns", "g", false);
	cluster_drop_group(f.c, "ns", "g", false);
	assert_int_equal(pod_of(&f, "q")->group, GROUP_NONE);
	assert_string_equal(queue_path(&f, "q"), "root.default");
	assert_string_equal(queue_path(&f, "p"), "root.b");
	fix_free(&f);
}

static void sub_groups_may_come_late_and_change(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	group_id g = put_group(&f, (struct group_is){.name = "g", .subgroups = "master:1"});
	put_pod(&f, (struct pod_is){.name = "m", .group = "g", .subgroup = "master"});
	put_pod(&f, (struct pod_is){.name = "w", .group = "g", .subgroup = "worker"});
	put_pod(&f, (struct pod_is){.name = "x", .group = "g"});
	assert_int_equal(pod_of(&f, "m")->group, g);
	assert_int_equal(pod_of(&f, "w")->group, GROUP_NONE);
	put_group(&f, (struct group_is){.name = "g", .subgroups = "worker:2,master:1"});
	assert_int_equal(pod_of(&f, "w")->group, g);
	assert_int_equal(ledger_podset(f.l, pod_of(&f, "w")->podset)->min_member, 2);
	assert_int_equal(pod_of(&f, "m")->group, g);
	warnings_are(&f, "pod ns/x: group g has no sub-group default, so the pod counts as one on its own\n");
	put_group(&f, (struct group_is){.name = "g"});
	assert_int_equal(pod_of(&f, "x")->group, g);
	assert_int_equal(pod_of(&f, "w")->group, GROUP_NONE);
	warnings_are(&f, "pod ns/m: group g has no sub-group master, so the pod counts as one on its own\n"
			 "pod ns/w: group g has no sub-group worker, so the pod counts as one on its own\n");
	fix_free(&f);
}

static void groups_of_two_apis_are_two(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	group_id g = put_group(&f, (struct group_is){.name = "g", .is_k8s = true});
	put_pod(&f, (struct pod_is){.name = "kai", .group = "g"});
	put_pod(&f, (struct pod_is){.name = "k8s", .k8s_group = "g", .subgroup = "unheard of there"});
	assert_int_equal(pod_of(&f, "kai")->group, GROUP_NONE);
	assert_int_equal(pod_of(&f, "k8s")->group, g);
	group_id kai = put_group(&f, (struct group_is){.name = "g"});
	assert_int_not_equal(kai, g);
	assert_int_equal(pod_of(&f, "kai")->group, kai);
	assert_int_equal(pod_of(&f, "k8s")->group, g);
	assert_true(cluster_is_kai_world(f.c, cluster_find_pod(f.c, "ns", "kai")));
	assert_false(cluster_is_kai_world(f.c, cluster_find_pod(f.c, "ns", "k8s")));
	cluster_drop_group(f.c, "ns", "g", true);
	assert_int_equal(pod_of(&f, "kai")->group, kai);
	assert_int_equal(pod_of(&f, "k8s")->group, GROUP_NONE);
	fix_free(&f);
}

static void the_first_by_name_speaks_for_a_silent_group(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "a"}, {.kai = "b"});
	group_id g = put_group(&f, (struct group_is){.name = "g"});
	assert_int_equal(ledger_group(f.l, g)->queue, QUEUE_NONE);
	put_pod(&f, (struct pod_is){.name = "p2", .group = "g", .kai_queue = "b", .labels = LABEL("non-preemptible")});
	assert_string_equal(queue_path(&f, "p2"), "root.b");
	assert_int_equal(ledger_group(f.l, g)->preemptibility, NON_PREEMPTIBLE);
	put_pod(&f, (struct pod_is){.name = "p3", .group = "g", .kai_queue = "a"});
	assert_string_equal(queue_path(&f, "p3"), "root.b");
	put_pod(&f, (struct pod_is){.name = "p1", .group = "g", .kai_queue = "a"});
	assert_string_equal(queue_path(&f, "p1"), "root.a");
	assert_string_equal(queue_path(&f, "p2"), "root.a");
	assert_string_equal(queue_path(&f, "p3"), "root.a");
	assert_int_equal(ledger_group(f.l, g)->preemptibility, PREEMPTIBLE);
	put_pod(&f, (struct pod_is){.name = "p1", .group = "g", .kai_queue = "nix"}); /* changes its mind */
	assert_string_equal(queue_path(&f, "p3"), "?nix");
	put_pod(&f, (struct pod_is){.name = "p1"}); /* leaves */
	assert_string_equal(queue_path(&f, "p3"), "root.b");
	assert_string_equal(queue_path(&f, "p1"), "root.default");
	cluster_drop_pod(f.c, "ns", "p2");
	assert_string_equal(queue_path(&f, "p3"), "root.a");
	cluster_drop_pod(f.c, "ns", "p3");
	assert_int_equal(ledger_group(f.l, g)->queue, QUEUE_NONE);
	fix_free(&f);
}

static void the_speakers_owner_speaks_for_the_group(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	group_id g = put_group(&f, (struct group_is){.name = "g"});
	put_pod(&f, (struct pod_is){.name = "p", .group = "g", .owner_kind = OWNER_JOB, .owner = "job"});
	assert_int_equal(ledger_group(f.l, g)->preemptibility, PREEMPTIBLE);
	put_owner(&f,
		  (struct owner_is){
			  .kind = OWNER_JOB, .kind_name = "Job", .name = "job", .labels = LABEL("semi-preemptible")});
	assert_int_equal(ledger_group(f.l, g)->preemptibility, SEMI_PREEMPTIBLE);
	assert_int_equal(pod_of(&f, "p")->preemptibility, SEMI_PREEMPTIBLE);
	cluster_drop_owner(f.c, "Job", "ns", "job");
	assert_int_equal(ledger_group(f.l, g)->preemptibility, PREEMPTIBLE);
	fix_free(&f);
}

/* ---- registries ---- */

static void registries_are_in_order(void **state)
{
	(void)state;
	struct fix f;
	uint32_t n;
	fix_init(&f, PROFILE_DEFAULT);
	put_class(&f, "b", 2, false);
	put_class(&f, "a", 1, false);
	put_class(&f, "b", 3, false);
	assert_int_equal(cluster_class_count(f.c), 2);
	assert_int_equal(cluster_class_at(f.c, 0)->value, 1);
	assert_int_equal(cluster_class_at(f.c, 1)->value, 3);
	cluster_drop_class(f.c, "nix");
	put_namespace(&f, "z", NULL);
	put_namespace(&f, "ns", "root.q");
	put_namespace(&f, "z", "root.q");
	assert_int_equal(cluster_namespace_count(f.c), 2);
	assert_string_equal(name_str(f.names, cluster_namespace_at(f.c, 1)->name), "z");
	assert_ptr_equal(cluster_namespace(f.c, names_find(f.names, "ns", 2)), cluster_namespace_at(f.c, 0));
	cluster_drop_namespace(f.c, "z");
	cluster_drop_namespace(f.c, "z");
	assert_int_equal(cluster_namespace_count(f.c), 1);

	put_owner(&f,
		  (struct owner_is){.is_service = true, .kind_name = "Service", .name = "web", .has_selector = true});
	put_owner(&f,
		  (struct owner_is){
			  .kind = OWNER_REPLICASET, .kind_name = "ReplicaSet", .name = "web", .has_selector = true});
	put_owner(&f,
		  (struct owner_is){
			  .kind = OWNER_REPLICASET, .kind_name = "ReplicaSet", .name = "app", .has_selector = true});
	put_owner(&f, (struct owner_is){.kind = OWNER_JOB, .kind_name = "Job", .name = "web"});
	put_owner(&f,
		  (struct owner_is){
			  .kind = OWNER_REPLICASET, .kind_name = "ReplicaSet", .name = "web", .has_selector = true});
	assert_int_equal(cluster_owner_count(f.c), 4);
	const char *const kinds[] = {"Job", "ReplicaSet", "ReplicaSet", "Service"}, *const names[] = {"web", "app",
												      "web", "web"};
	for (uint32_t i = 0; i < 4; i++) {
		assert_string_equal(name_str(f.names, cluster_owner_at(f.c, i)->kind_name), kinds[i]);
		assert_string_equal(name_str(f.names, cluster_owner_at(f.c, i)->name), names[i]);
	}
	const struct obj_owner *const *selecting = cluster_selecting_owners(f.c, names_find(f.names, "ns", 2), &n);
	assert_int_equal(n, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(selecting[i], cluster_owner_at(f.c, i + 1));
	cluster_drop_owner(f.c, "ReplicaSet", "ns", "web");
	cluster_drop_owner(f.c, "ReplicaSet", "ns", "web");
	cluster_selecting_owners(f.c, names_find(f.names, "ns", 2), &n);
	assert_int_equal(n, 2);
	assert_null(cluster_selecting_owners(f.c, NAME_NONE, &n));
	name_id ns = names_find(f.names, "ns", 2), web = names_find(f.names, "web", 3);
	assert_null(cluster_owner(f.c, names_find(f.names, "ReplicaSet", 10), ns, web));
	assert_non_null(cluster_owner(f.c, names_find(f.names, "Job", 3), ns, web));
	assert_non_null(cluster_owner(f.c, names_find(f.names, "Service", 7), ns, web));
	fix_free(&f);
}

static void budgets_come_and_go(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_pdb(&f, "b", 1);
	put_pdb(&f, "b", 2);
	pdb_id id = ledger_pdb_find(f.l, names_find(f.names, "ns", 2), names_find(f.names, "b", 1));
	assert_int_equal(ledger_pdb(f.l, id)->obj->allowed, 2);
	cluster_drop_pdb(f.c, "ns", "b");
	cluster_drop_pdb(f.c, "ns", "b");
	fix_free(&f);
}

/* ---- warnings ---- */

static void warnings_are_said_once_and_only_if_still_true(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_pod(&f, (struct pod_is){.name = "early", .class = "late"});
	put_pod(&f, (struct pod_is){.name = "bad", .class = "nix"});
	put_pod(&f, (struct pod_is){.name = "gone", .class = "nix"});
	put_group(&f, (struct group_is){.name = "g", .class = "nix"});
	put_class(&f, "late", 5, false);
	cluster_drop_pod(f.c, "ns", "gone");
	warnings_are(&f, "group ns/g: unknown priority class nix\n"
			 "pod ns/bad: unknown priority class nix\n");
	put_class(&f, "other", 6, false); /* everything is resolved again */
	put_pod(&f, (struct pod_is){.name = "bad", .class = "nix", .labels = "a=b"});
	warnings_are(&f, "");
	put_pod(&f, (struct pod_is){.name = "worse", .class = "nix"});
	warnings_are(&f, "pod ns/worse: unknown priority class nix\n");
	fix_free(&f);
}

/* ---- marks of others ---- */

static void who_holds_a_mark_may_roll_back_over_calls(void **state)
{
	(void)state;
	struct fix f;
	fix_init(&f, PROFILE_DEFAULT);
	put_queues(&f, FROM_KAI, {.kai = "a"});
	put_node(&f, "n");
	put_group(&f, (struct group_is){.name = "g"});
	put_pod(&f, (struct pod_is){.name = "p", .group = "g", .kai_queue = "a"});
	put_pod(&f, (struct pod_is){.name = "run", .node = "n"});
	ledger_evict(f.l, cluster_find_pod(f.c, "ns", "run")); /* a dry run has begun */
	uint64_t before = ledger_digest(f.l);
	ledger_mark mark = ledger_get_mark(f.l);
	put_pod(&f, (struct pod_is){.name = "a", .group = "g", .owner_kind = OWNER_JOB, .owner = "job"});
	cluster_drop_pod(f.c, "ns", "p");
	put_group(&f, (struct group_is){.name = "h"});
	assert_true(ledger_get_mark(f.l) > mark);
	ledger_rollback(f.l, mark);
	cluster_resync(f.c);
	assert_int_equal(ledger_digest(f.l), before);
	ledger_rollback(f.l, 0);
	/* The indexes are right again: the group finds its pod, the dropped one and its owner are forgotten. */
	put_group(&f, (struct group_is){.name = "g", .class = "build"});
	assert_int_equal(pod_of(&f, "p")->priority, 100);
	put_owner(&f, (struct owner_is){.kind = OWNER_JOB, .kind_name = "Job", .name = "job"});
	assert_int_equal(ledger_get_mark(f.l), 0); /* committed again */
	fix_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_may_come_before_its_node),
		cmocka_unit_test(a_pod_on_a_node_that_is_gone_is_noted_and_looked_past),
		cmocka_unit_test(too_much_is_refused_without_a_trace),
		cmocka_unit_test(a_nomination_holds_while_its_node_is_there),
		cmocka_unit_test(news_of_a_pod_do_not_undo_what_was_decided),
		cmocka_unit_test(MR_8_the_engines_stamp_is_finer_than_the_annotation),
		cmocka_unit_test(members_follow_their_group),
		cmocka_unit_test(sub_groups_may_come_late_and_change),
		cmocka_unit_test(groups_of_two_apis_are_two),
		cmocka_unit_test(the_first_by_name_speaks_for_a_silent_group),
		cmocka_unit_test(the_speakers_owner_speaks_for_the_group),
		cmocka_unit_test(registries_are_in_order),
		cmocka_unit_test(budgets_come_and_go),
		cmocka_unit_test(warnings_are_said_once_and_only_if_still_true),
		cmocka_unit_test(who_holds_a_mark_may_roll_back_over_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
