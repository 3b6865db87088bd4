/* SPDX-License-Identifier: Apache-2.0 */
#include "volume_fixture.h"

#define NO_DISK "UNSCHEDULABLE node(s) had no available disk"
#define IN_USE                                                                                                      \
	"UNSCHEDULABLE node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already " \
	"in-use by another pod"

static void VO_1_disks(void **state)
{
	static const struct {
		const char *says, *wanted, *taken, *pre_filter, *filter;
	} rows[] = {
		{"a pod without volumes is not asked about", NULL, "gce:d", "SKIP", "SUCCESS"},
		{"nor one with others", "csi:d azure:x", "csi:d azure:x", "SKIP", "SUCCESS"},
		{"another disk is free", "gce:d", "gce:e", "SUCCESS", "SUCCESS"},
		{"of another kind too", "gce:d", "ebs:d", "SUCCESS", "SUCCESS"},
		{"the same disk is not", "gce:d", "gce:d", "SUCCESS", NO_DISK},
		{"one who writes is enough", "gce:d!", "gce:d", "SUCCESS", NO_DISK},
		{"readers share it", "gce:d!", "gce:d!", "SUCCESS", "SUCCESS"},
		{"but not at Amazon", "ebs:d!", "ebs:d!", "SUCCESS", NO_DISK},
		{"an iSCSI target is one disk", "iscsi:q", "iscsi:q", "SUCCESS", NO_DISK},
		{"for readers it is shared", "iscsi:q!", "iscsi:q!", "SUCCESS", "SUCCESS"},
		{"an image of one pool at a common monitor", "rbd:i@p@m1@m2", "rbd:i@p@m3@m2", "SUCCESS", NO_DISK},
		{"at other monitors it is another", "rbd:i@p@m1", "rbd:i@p@m2", "SUCCESS", "SUCCESS"},
		{"in another pool it is another", "rbd:i@p@m1", "rbd:i@o@m1", "SUCCESS", "SUCCESS"},
		{"readers of an image share it", "rbd:i@p@m1!", "rbd:i@p@m1!", "SUCCESS", "SUCCESS"},
		{"one of several is enough to clash", "gce:a gce:b", "gce:c gce:b", "SUCCESS", NO_DISK},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n"});
		put_node((struct node_text){.name = "empty"});
		put_pod((struct pod_text){.name = "there", .node = "n", .volumes = rows[i].taken});
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = rows[i].wanted});

		expect_text(rows[i].says, pre_filter_text("VolumeRestrictions", p), rows[i].pre_filter);
		expect_text(rows[i].says, filter_text("VolumeRestrictions", p, "n"), rows[i].filter);
		expect_text(rows[i].says, filter_text("VolumeRestrictions", p, "empty"), "SUCCESS");
	}
}

static void VO_1_a_claim_that_is_not_there(void **state)
{
	put_node((struct node_text){.name = "n"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "ephemeral:e claim:c"});

	assert_string_equal(pre_filter_text("VolumeRestrictions", p),
			    "UNRESOLVABLE persistentvolumeclaim \"c\" not found");
}

static void VO_1_a_claim_for_one_pod(void **state)
{
	static const struct {
		const char *says, *ns, *volumes, *node, *pre_filter, *filter;
	} rows[] = {
		{"nobody has it", NULL, NULL, "n", "SKIP", "SUCCESS"},
		{"somebody has it, on another node", NULL, "claim:c", "n", "SUCCESS", IN_USE},
		{"somebody has it, on this node", NULL, "claim:c", "here", "SUCCESS", IN_USE},
		{"one of that name elsewhere is another", "other", "claim:c", "n", "SKIP", "SUCCESS"},
		{"an ephemeral volume's claim does not count", NULL, "ephemeral:c", "n", "SKIP", "SUCCESS"},
		{"a node that is gone does not count", NULL, "claim:c", "gone", "SKIP", "SUCCESS"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n"});
		put_node((struct node_text){.name = "here"});
		put_pvc((struct pvc_text){.name = "c", .modes = "RWOP"});
		put_pod((struct pod_text){
			.name = "user", .ns = rows[i].ns, .node = rows[i].node, .volumes = rows[i].volumes});
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

		expect_text(rows[i].says, pre_filter_text("VolumeRestrictions", p), rows[i].pre_filter);
		expect_text(rows[i].says, filter_text("VolumeRestrictions", p, "here"), rows[i].filter);
	}
}

/* KF-2: every simulated removal and return is counted, by names alone, as in Kubernetes. */
static void VO_1_the_count_follows_pods_that_go_and_come_back(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"}), m = put_node((struct node_text){.name = "m"});

	put_pvc((struct pvc_text){.name = "c", .modes = "RWOP"});
	pod_id user = put_pod((struct pod_text){.name = "user", .node = "n", .volumes = "claim:c"});
	pod_id stranger =
		put_pod((struct pod_text){.name = "stranger", .ns = "other", .node = "m", .volumes = "claim:c"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});
	struct cede_cycle *c = cycle_start("VolumeRestrictions", p);
	ledger_mark mark = ledger_get_mark(f.ledger);

	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
	ledger_vacate(f.ledger, user);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_SUCCESS);
	ledger_place(f.ledger, user, n);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
	ledger_vacate(f.ledger, stranger);
	assert_int_equal(cycle_filter(c, m).verdict.code, CEDE_SUCCESS);
	ledger_rollback(f.ledger, mark);
	assert_int_equal(cycle_filter(c, m).verdict.code, CEDE_UNSCHEDULABLE);
}

static void VO_2_reserved_room_holds_its_claims(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"});

	put_pvc((struct pvc_text){.name = "c", .modes = "RWOP"});
	pod_id first = put_pod((struct pod_text){.name = "first", .volumes = "claim:c"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

	ledger_nominate(f.ledger, first, n);
	assert_string_equal(pre_filter_text("VolumeRestrictions", p), "SKIP");
	ledger_reserve(f.ledger, n, first);
	assert_string_equal(filter_text("VolumeRestrictions", p, "n"), IN_USE);
	assert_string_equal(pre_filter_text("VolumeRestrictions", first), "SKIP");
	ledger_clear_nomination(f.ledger, first);
	assert_string_equal(pre_filter_text("VolumeRestrictions", p), "SKIP");
}

/* The users of claims are those on nodes that are there, however nodes come and go. */
static void VO_1_users_follow_nodes(void **state)
{
	put_node((struct node_text){.name = "n"});
	put_node((struct node_text){.name = "m"});
	put_pvc((struct pvc_text){.name = "c", .modes = "RWOP"});
	put_pod((struct pod_text){.name = "user", .node = "n", .volumes = "claim:c"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

	cycle_start(NULL, p); /* listens, and ledger_check_always compares */
	cycle_end(&f.cycle);
	f.is_begun = false;
	cluster_drop_node(f.cluster, "n");
	put_node((struct node_text){.name = "n"});
	cluster_drop_node(f.cluster, "n");
	cluster_drop_pod(f.cluster, "default", "user");
	put_node((struct node_text){.name = "n"});
	put_pod((struct pod_text){.name = "user", .node = "n", .volumes = "claim:c claim:c"});
	assert_int_equal(ledger_check(f.ledger, NULL), ERR_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(VO_1_disks),
		FIXTURE_TEST(VO_1_a_claim_that_is_not_there),
		FIXTURE_TEST(VO_1_a_claim_for_one_pod),
		FIXTURE_TEST(VO_1_the_count_follows_pods_that_go_and_come_back),
		FIXTURE_TEST(VO_2_reserved_room_holds_its_claims),
		FIXTURE_TEST(VO_1_users_follow_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
