/* SPDX-License-Identifier: Apache-2.0 */
#include "volume_fixture.h"

#define TOO_MANY "UNSCHEDULABLE node(s) exceed max volume count"

/*
 * Volumes v0 … v9 of driver d with handles h0 …, each with a bound claim c0 …; x is a claim of class d without volume.
 */
static void storage(void)
{
	put_storage_class((struct class_text){.name = "d", .provisioner = "d"});
	put_storage_class((struct class_text){
		.name = "old", .provisioner = "kubernetes.io/aws-ebs", .driver = "ebs.csi.aws.com"});
	for (int i = 0; i < 10; i++) {
		const char *volume = arena_printf(f.arena, "v%d", i), *claim = arena_printf(f.arena, "c%d", i);

		put_pv((struct pv_text){.name = volume, .class = "d", .csi = arena_printf(f.arena, "d h%d", i)});
		put_pvc((struct pvc_text){.name = claim, .class = "d", .volume = volume, .is_bound = true});
	}
	put_pv((struct pv_text){.name = "nfs", .class = "d"});
	put_pvc((struct pvc_text){.name = "nfs", .class = "d", .volume = "nfs", .is_bound = true});
	put_pvc((struct pvc_text){.name = "x", .class = "d"});
	put_pvc((struct pvc_text){.name = "lost", .class = "d", .volume = "gone", .is_bound = true});
	put_pvc((struct pvc_text){.name = "unknown", .class = "unknown"});
	put_pvc((struct pvc_text){.name = "ebs", .class = "old"});
}

static void VO_1_attach_limits(void **state)
{
	static const struct {
		const char *says, *limits, *there, *attached, *wanted, *filter;
	} rows[] = {
		{"room for one more", "d=3", "claim:c0 claim:c1", NULL, "claim:c2", "SUCCESS"},
		{"but not for two", "d=3", "claim:c0 claim:c1", NULL, "claim:c2 claim:c3", TOO_MANY},
		{"a volume that is there already counts once", "d=2", "claim:c0 claim:c1", NULL, "claim:c1", "SUCCESS"},
		{"a driver without a number has no limit", "d", "claim:c0", NULL, "claim:c1 claim:c2", "SUCCESS"},
		{"a limit of another driver", "e=0", "claim:c0", NULL, "claim:c1", "SUCCESS"},
		{"none at all is a limit", "d=0", NULL, NULL, "claim:c0", TOO_MANY},
		{"over its limit a node still takes who brings nothing new", "d=1", "claim:c0 claim:c1", NULL,
		 "claim:c1", "SUCCESS"},
		{"a claim without a volume counts as its class's driver", "d=1", "claim:x", NULL, "claim:c0", TOO_MANY},
		{"so does one whose volume is gone", "d=1", "claim:lost", NULL, "claim:c0", TOO_MANY},
		{"the same claim is the same volume", "d=1", "claim:x", NULL, "claim:x", "SUCCESS"},
		{"a class that nobody knows does not count", "d=1", "claim:unknown claim:nfs", NULL, "claim:c0",
		 "SUCCESS"},
		{"what is attached counts", "d=2", "claim:c0", "v5", "claim:c1", TOO_MANY},
		{"what is attached and used counts once", "d=2", "claim:c0", "v0", "claim:c1", "SUCCESS"},
		{"what is attached for this pod already counts twice", "d=1", NULL, "v0", "claim:c0", TOO_MANY},
		{"an attachment of no volume does not count", "d=1", NULL, "gone nfs", "claim:c0", "SUCCESS"},
		{"a claim that is not there does not count", "d=1", "claim:none", NULL, "claim:c0", "SUCCESS"},
		{"disks of replaced plugins count as their drivers'", "ebs.csi.aws.com=1", "ebs:vol-1", NULL,
		 "ebs:vol-2", TOO_MANY},
		{"the same disk once", "ebs.csi.aws.com=1", "ebs:vol-1", NULL, "ebs:vol-1", "SUCCESS"},
		{"classes of replaced plugins too", "ebs.csi.aws.com=1", "ebs:vol-1", NULL, "claim:ebs", TOO_MANY},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *attached = rows[i].attached, *w;

		fixture_reset();
		put_node((struct node_text){.name = "n"});
		put_node((struct node_text){.name = "other"});
		storage();
		put_csi_node("n", rows[i].limits, 0);
		put_pod((struct pod_text){.name = "there", .node = "n", .volumes = rows[i].there});
		while ((w = next_word(&attached)))
			put_attachment(w, "d", "n", w);
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = rows[i].wanted});

		name_of("ebs.csi.aws.com");
		expect_text(rows[i].says, filter_text("NodeVolumeLimits", p, "n"), rows[i].filter);
		expect_text(rows[i].says, filter_text("NodeVolumeLimits", p, "other"), "SUCCESS");
	}
}

static void VO_1_who_is_asked(void **state)
{
	put_node((struct node_text){.name = "n"});
	pod_id none = put_pod((struct pod_text){.name = "none"});
	pod_id other = put_pod((struct pod_text){.name = "other", .volumes = "csi:d iscsi:x"});
	pod_id lost = put_pod((struct pod_text){.name = "lost", .volumes = "claim:c"});

	assert_string_equal(pre_filter_text("NodeVolumeLimits", none), "SKIP");
	assert_string_equal(pre_filter_text("NodeVolumeLimits", other), "SKIP");
	assert_string_equal(filter_text("NodeVolumeLimits", lost, "n"),
			    "UNRESOLVABLE looking up PVC default/c: persistentvolumeclaim \"c\" not found");
}

/* What is kept of a node is good while the node and the objects are as they were, and no longer. */
static void VO_1_limits_follow_pods_and_objects(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"});

	storage();
	put_csi_node("n", "d=2", 0);
	pod_id a = put_pod((struct pod_text){.name = "a", .node = "n", .volumes = "claim:c0"});
	pod_id b = put_pod((struct pod_text){.name = "b", .node = "n", .volumes = "claim:c1"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c2"});
	struct cede_cycle *c = cycle_start("NodeVolumeLimits", p);
	ledger_mark mark = ledger_get_mark(f.ledger);

	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
	ledger_vacate(f.ledger, a);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_SUCCESS);
	ledger_place(f.ledger, a, n);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
	ledger_vacate(f.ledger, b);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_SUCCESS);
	ledger_rollback(f.ledger, mark);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
	put_pv((struct pv_text){.name = "v1", .class = "d"}); /* no longer of a driver */
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(VO_1_attach_limits),
		FIXTURE_TEST(VO_1_who_is_asked),
		FIXTURE_TEST(VO_1_limits_follow_pods_and_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
