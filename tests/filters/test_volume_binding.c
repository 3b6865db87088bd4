/* SPDX-License-Identifier: Apache-2.0 */
#include "volume_fixture.h"

#define NO_BIND "UNRESOLVABLE node(s) didn't find available persistent volumes to bind"
#define NO_REACH "UNRESOLVABLE node(s) didn't match PersistentVolume's node affinity"
#define NO_SPACE "UNRESOLVABLE node(s) did not have enough free storage"
#define GONE "UNRESOLVABLE node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

static void nodes(void)
{
	put_node((struct node_text){.name = "a", .labels = "zone=z1 host=a"});
	put_node((struct node_text){.name = "b", .labels = "zone=z2 host=b"});
}

/* What the filter says of nodes a and b, and what would be written down where it fits. */
static void expect_node(const char *says, pod_id p, const char *node, const char *wanted)
{
	const char *got = filter_text("VolumeBinding", p, node);

	if (str_eq(got, "SUCCESS")) {
		ledger_mark mark = ledger_get_mark(f.ledger);

		volumes_assume(&f.cycle, node_of(node));
		got = assumed_text(p);
		ledger_rollback(f.ledger, mark);
		assert_string_equal(assumed_text(p), "");
	}
	expect_text(arena_printf(f.arena, "%s (node %s)", says, node), got, wanted);
}

static void VO_1_claims_that_keep_a_pod_from_every_node(void **state)
{
	static const struct {
		const char *says;
		const char *volumes;
		struct pvc_text claim;
		bool is_immediate, has_no_class;
		const char *wanted;
	} rows[] = {
		{.says = "a pod without claims is not asked about", .volumes = "gce:d", .wanted = "SKIP"},
		{.says = "an ephemeral volume whose claim is not made yet",
		 .volumes = "ephemeral:v",
		 .wanted = "UNRESOLVABLE waiting for ephemeral volume controller to create the "
			   "persistentvolumeclaim \"p-v\""},
		{.says = "a claim that lost its volume",
		 .volumes = "claim:c",
		 .claim = {.name = "c", .volume = "pv", .is_bound = true, .is_lost = true},
		 .wanted = "UNRESOLVABLE persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"pv\""},
		{.says = "a claim that is being deleted",
		 .volumes = "claim:c",
		 .claim = {.name = "c", .is_deleted = true},
		 .wanted = "UNRESOLVABLE persistentvolumeclaim \"c\" is being deleted"},
		{.says = "an ephemeral volume whose claim is another's",
		 .volumes = "ephemeral:v",
		 .claim = {.name = "p-v", .owner = "somebody"},
		 .wanted = "UNRESOLVABLE PVC default/p-v was not created for pod default/p (pod is not owner)"},
		{.says = "one whose claim is its own passes",
		 .volumes = "ephemeral:v",
		 .claim = {.name = "p-v", .owner = "uid-p"},
		 .wanted = "SUCCESS"},
		{.says = "an unbound claim of an immediate class",
		 .volumes = "claim:c",
		 .claim = {.name = "c"},
		 .is_immediate = true,
		 .wanted = "UNRESOLVABLE pod has unbound immediate PersistentVolumeClaims"},
		{.says = "an unbound claim of a class that nobody knows",
		 .volumes = "claim:c",
		 .claim = {.name = "c"},
		 .has_no_class = true,
		 .wanted = "UNRESOLVABLE pod has unbound immediate PersistentVolumeClaims"},
		{.says = "an unbound claim without a class",
		 .volumes = "claim:c",
		 .claim = {.name = "c", .class = ""},
		 .wanted = "UNRESOLVABLE pod has unbound immediate PersistentVolumeClaims"},
		{.says = "a claim that names a volume and is not bound to it yet",
		 .volumes = "claim:c",
		 .claim = {.name = "c", .volume = "pv"},
		 .wanted = "UNRESOLVABLE pod has unbound immediate PersistentVolumeClaims"},
		{.says = "an unbound claim that waits for its first consumer",
		 .volumes = "claim:c",
		 .claim = {.name = "c"},
		 .wanted = "SUCCESS"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		nodes();
		if (!rows[i].has_no_class)
			put_storage_class((struct class_text){.is_immediate = rows[i].is_immediate});
		if (rows[i].claim.name)
			put_pvc(rows[i].claim);
		pod_id p = put_pod((struct pod_text){.name = "p", .uid = "uid-p", .volumes = rows[i].volumes});

		expect_text(rows[i].says, pre_filter_text("VolumeBinding", p), rows[i].wanted);
	}
}

static void VO_1_bound_claims(void **state)
{
	static const struct {
		const char *says;
		struct pv_text volume;
		uint32_t migrated; /* on node a */
		const char *a, *b;
	} rows[] = {
		{"a volume without node affinity is everywhere", {.name = "pv"}, 0, "", ""},
		{"a local volume is on its node", {.name = "pv", .reaches = "host in (a)"}, 0, "", NO_REACH},
		{"one of several terms is enough", {.name = "pv", .reaches = "host=x|zone=z2"}, 0, NO_REACH, ""},
		{"a list without terms reaches nobody", {.name = "pv", .reaches = ""}, 0, NO_REACH, NO_REACH},
		{"fields do not count", {.name = "pv", .reaches = "@x zone=z2"}, 0, NO_REACH, ""},
		{"a volume that is gone", {.name = "another"}, 0, GONE, GONE},
		{"a plugin that the node's driver replaced is looked at as the driver's",
		 {.name = "pv", .source = VOLUME_EBS, .reaches = "zone=z1", .translated = "aws=z1"},
		 1u << VOLUME_EBS,
		 NO_REACH,
		 NO_REACH},
		{"where it was not replaced it is not",
		 {.name = "pv", .source = VOLUME_EBS, .reaches = "zone=z1", .translated = "aws=z1"},
		 1u << VOLUME_GCE,
		 "",
		 NO_REACH},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		nodes();
		put_csi_node("a", "", rows[i].migrated);
		put_pv(rows[i].volume);
		put_pvc((struct pvc_text){.name = "c", .volume = "pv", .is_bound = true});
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

		expect_node(rows[i].says, p, "a", rows[i].a);
		expect_node(rows[i].says, p, "b", rows[i].b);
	}
}

/* Volumes of a class that makes none. */
static void VO_1_static_volumes(void **state)
{
	static const struct {
		const char *says;
		struct pv_text volumes[4];
		struct pvc_text claims[3];
		const char *pod, *a, *b;
	} rows[] = {
		{"the smallest that is enough",
		 {{.name = "v3", .has = "20Gi"}, {.name = "v1", .has = "4Gi"}, {.name = "v2", .has = "8Gi"}},
		 {{.name = "c"}},
		 "claim:c",
		 "v2 for default/c",
		 "v2 for default/c"},
		{"of equal ones the first by name",
		 {{.name = "v2"}, {.name = "v1"}},
		 {{.name = "c"}},
		 "claim:c",
		 "v1 for default/c",
		 "v1 for default/c"},
		{"the smallest that reaches the node, however it says so",
		 {{.name = "v1", .has = "6Gi", .reaches = "host in (b)"},
		  {.name = "v2", .has = "7Gi", .reaches = "zone in (z1,z2)"},
		  {.name = "v3", .has = "8Gi"},
		  {.name = "v4", .has = "5Gi", .reaches = "zone,host in (a)"}},
		 {{.name = "c"}},
		 "claim:c",
		 "v4 for default/c",
		 "v1 for default/c"},
		{"too small, of another mode, class or attributes class, pending, or being deleted",
		 {{.name = "v1", .has = "4Gi"},
		  {.name = "v2", .is_block = true},
		  {.name = "v3", .class = "other"},
		  {.name = "v4", .attributes = "gold"}},
		 {{.name = "c"}},
		 "claim:c",
		 NO_BIND,
		 NO_BIND},
		{"pending, or being deleted",
		 {{.name = "v1", .is_pending = true}, {.name = "v2", .is_deleted = true}},
		 {{.name = "c"}},
		 "claim:c",
		 NO_BIND,
		 NO_BIND},
		{"all access modes of the claim must be there",
		 {{.name = "v1", .has = "6Gi"}, {.name = "v2", .has = "7Gi", .modes = "RWO ROX"}},
		 {{.name = "c", .modes = "RWO ROX"}},
		 "claim:c",
		 "v2 for default/c",
		 "v2 for default/c"},
		{"the selector of the claim decides",
		 {{.name = "v1", .labels = "tier=silver"}, {.name = "v2", .labels = "tier=gold"}},
		 {{.name = "c", .selector = "tier=gold"}},
		 "claim:c",
		 "v2 for default/c",
		 "v2 for default/c"},
		{"one that is kept for the claim is taken, whatever its modes, even if another is smaller",
		 {{.name = "v1", .has = "6Gi"}, {.name = "v2", .has = "8Gi", .modes = "ROX", .claim = "default/c"}},
		 {{.name = "c"}},
		 "claim:c",
		 "v2 for default/c",
		 "v2 for default/c"},
		{"and where it does not reach there is none",
		 {{.name = "v1"}, {.name = "v2", .reaches = "host in (a)", .claim = "default/c"}},
		 {{.name = "c"}},
		 "claim:c",
		 "v2 for default/c",
		 NO_BIND},
		{"one that is kept for another claim, or an older one of that name, is taken",
		 {{.name = "v1", .claim = "default/other"}, {.name = "v2", .claim = "default/c", .claim_uid = "older"}},
		 {{.name = "c", .uid = "newer"}},
		 "claim:c",
		 NO_BIND,
		 NO_BIND},
		{"claims take their volumes by size, whatever their order",
		 {{.name = "v1", .has = "5Gi"}, {.name = "v2", .has = "9Gi"}},
		 {{.name = "big", .asks = "8Gi"}, {.name = "small", .asks = "2Gi"}},
		 "claim:big claim:small",
		 "v2 for default/big, v1 for default/small",
		 "v2 for default/big, v1 for default/small"},
		{"a claim that is named twice takes two",
		 {{.name = "v1"}, {.name = "v2"}},
		 {{.name = "c"}},
		 "claim:c claim:c claim:c",
		 NO_BIND,
		 NO_BIND},
		{"a claim that asks for nothing takes the smallest",
		 {{.name = "v1", .has = "1"}},
		 {{.name = "c", .asks = ""}},
		 "claim:c",
		 "v1 for default/c",
		 "v1 for default/c"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		nodes();
		put_storage_class((struct class_text){0});
		for (int k = 0; k < 4 && rows[i].volumes[k].name; k++)
			put_pv(rows[i].volumes[k]);
		for (int k = 0; k < 3 && rows[i].claims[k].name; k++)
			put_pvc(rows[i].claims[k]);
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = rows[i].pod});

		expect_node(rows[i].says, p, "a", rows[i].a);
		expect_node(rows[i].says, p, "b", rows[i].b);
	}
}

static void VO_1_volumes_that_are_made(void **state)
{
	static const struct {
		const char *says;
		struct class_text class;
		struct pvc_text claim;
		bool tells_space;
		struct {
			const char *has, *at_most, *where; /* where NULL: nobody, "": everybody */
		} space[2];
		const char *a, *b;
	} rows[] = {
		{"a class that makes volumes does so everywhere",
		 {.provisioner = "d"},
		 {.name = "c"},
		 false,
		 {{0}},
		 "default/c is made on a",
		 "default/c is made on b"},
		{"where its topologies allow it",
		 {.provisioner = "d", .allowed = "zone in (z3)|zone in (z1,z4),host"},
		 {.name = "c"},
		 false,
		 {{0}},
		 "default/c is made on a",
		 NO_BIND},
		{"where it was begun it goes on, elsewhere it cannot",
		 {.provisioner = "d"},
		 {.name = "c", .selected = "b"},
		 false,
		 {{0}},
		 NO_BIND,
		 "default/c is made on b"},
		{"no room that the driver tells of",
		 {.provisioner = "d"},
		 {.name = "c"},
		 true,
		 {{0}},
		 NO_SPACE,
		 NO_SPACE},
		{"room on some nodes, and on others too little",
		 {.provisioner = "d"},
		 {.name = "c"},
		 true,
		 {{"5Gi", NULL, "zone=z1"}, {"5119Mi", NULL, "zone=z2"}},
		 "default/c is made on a",
		 NO_SPACE},
		{"the largest volume counts before the room",
		 {.provisioner = "d"},
		 {.name = "c"},
		 true,
		 {{"50Gi", "4Gi", ""}, {NULL, "6Gi", "host=b"}},
		 NO_SPACE,
		 "default/c is made on b"},
		{"room without nodes is nobody's",
		 {.provisioner = "d"},
		 {.name = "c"},
		 true,
		 {{"50Gi", NULL, NULL}},
		 NO_SPACE,
		 NO_SPACE},
		{"a driver that does not tell is believed",
		 {.provisioner = "d"},
		 {.name = "c"},
		 false,
		 {{"1Gi", NULL, ""}},
		 "default/c is made on a",
		 "default/c is made on b"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct obj_csi_driver d = {0};

		fixture_reset();
		nodes();
		put_storage_class(rows[i].class);
		put_pvc(rows[i].claim);
		d = (struct obj_csi_driver){names_hold_str(f.names, "d"), rows[i].tells_space};
		cluster_put_csi_driver(f.cluster, &d, NULL);
		for (int k = 0; k < 2 && (rows[i].space[k].has || rows[i].space[k].at_most); k++) {
			struct obj_csi_capacity o = {.ns = names_hold_str(f.names, "kube-system"),
						     .name = names_hold_str(f.names, k ? "y" : "x"),
						     .class = names_hold_str(f.names, "local"),
						     .topology = SELECTOR_NOTHING,
						     .bag = name_bag_of(f.names)};

			if (rows[i].space[k].has) {
				o.has_capacity = true;
				o.capacity = size_of(rows[i].space[k].has);
			}
			if (rows[i].space[k].at_most) {
				o.has_maximum = true;
				o.maximum = size_of(rows[i].space[k].at_most);
			}
			if (rows[i].space[k].where)
				o.topology = selector_of(rows[i].space[k].where);
			cluster_put_csi_capacity(f.cluster, &o, NULL);
		}
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

		expect_node(rows[i].says, p, "a", rows[i].a);
		expect_node(rows[i].says, p, "b", rows[i].b);
	}
}

/* A node may have several troubles, told in one order. */
static void VO_1_several_troubles(void **state)
{
	nodes();
	put_storage_class((struct class_text){0});
	put_pv((struct pv_text){.name = "far", .reaches = "host in (b)"});
	put_pvc((struct pvc_text){.name = "bound", .volume = "far", .is_bound = true});
	put_pvc((struct pvc_text){.name = "free"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:free claim:bound"});

	assert_string_equal(filter_text("VolumeBinding", p, "a"),
			    NO_REACH ", node(s) didn't find available persistent volumes to bind");
	put_pvc((struct pvc_text){.name = "bound", .volume = "gone", .is_bound = true});
	assert_string_equal(filter_text("VolumeBinding", p, "a"),
			    NO_BIND ", node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
}

static void VO_2_what_was_decided_for_one_is_seen_by_all(void **state)
{
	nodes();
	put_storage_class((struct class_text){0});
	put_storage_class((struct class_text){.name = "made", .provisioner = "d"});
	put_pv((struct pv_text){.name = "v1", .has = "6Gi"});
	put_pv((struct pv_text){.name = "v2", .has = "7Gi", .reaches = "host in (a)"});
	put_pvc((struct pvc_text){.name = "c1"});
	put_pvc((struct pvc_text){.name = "c2"});
	put_pvc((struct pvc_text){.name = "new", .class = "made"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c1"});
	pod_id q = put_pod((struct pod_text){.name = "q", .volumes = "claim:c2"});
	pod_id same = put_pod((struct pod_text){.name = "same", .volumes = "claim:c1"});
	pod_id r = put_pod((struct pod_text){.name = "r", .volumes = "claim:new"});
	ledger_mark mark = ledger_get_mark(f.ledger);
	uint64_t before = ledger_digest(f.ledger);

	cycle_start("VolumeBinding", p);
	volumes_assume(&f.cycle, node_of("b"));
	ledger_place(f.ledger, p, node_of("b"));
	assert_true(ledger_digest(f.ledger) != before);
	expect_node("a volume that was decided for is not free", q, "a", "v2 for default/c2");
	expect_node("so there is none left on b", q, "b", NO_BIND);
	expect_node("who has the same claim shares its volume", same, "a", "v1 for default/c1");
	cycle_start("VolumeBinding", r);
	volumes_assume(&f.cycle, node_of("a"));
	ledger_reserve(f.ledger, node_of("a"), r);
	pod_id s = put_pod((struct pod_text){.name = "s", .volumes = "claim:new"});
	expect_node("where a volume is to be made it is, and nowhere else", s, "b", NO_BIND);
	expect_node("there it is", s, "a", "default/new is made on a");
	ledger_clear_nomination(f.ledger, r);
	expect_node("a reservation that is given up leaves nothing", s, "b", "default/new is made on b");
	ledger_vacate(f.ledger, p);
	expect_node("a dry run that takes the pod away does not", q, "b", NO_BIND);
	ledger_rollback(f.ledger, mark);
	cluster_resync(f.cluster);
	assert_true(ledger_digest(f.ledger) == before);
	expect_node("after a rollback it is free", q, "b", "v1 for default/c2");
}

static void VO_2_objects_that_say_it_themselves_end_it(void **state)
{
	nodes();
	put_storage_class((struct class_text){0});
	put_pv((struct pv_text){.name = "v1"});
	put_pvc((struct pvc_text){.name = "c", .uid = "1"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

	for (int i = 0; i < 5; i++) {
		cycle_start("VolumeBinding", p);
		volumes_assume(&f.cycle, node_of("a"));
		ledger_commit(f.ledger);
		assert_string_equal(assumed_text(p), "v1 for default/c");
		if (i == 0)
			put_pv((struct pv_text){.name = "v1", .claim = "default/c"});
		else if (i == 1)
			put_pvc((struct pvc_text){.name = "c", .uid = "1", .volume = "v1", .is_bound = true});
		else if (i == 2)
			put_pvc((struct pvc_text){.name = "c", .uid = "2"});
		else if (i == 3)
			cluster_drop_pvc(f.cluster, "default", "c");
		else
			cluster_drop_pv(f.cluster, "v1");
		assert_string_equal(assumed_text(p), "");
		put_pv((struct pv_text){.name = "v1"});
		put_pvc((struct pvc_text){.name = "c", .uid = "1"});
	}
}

/* Reserve of the framework, and its way back. */
static void VO_2_bind_and_unbind(void **state)
{
	struct status refusal;

	nodes();
	put_storage_class((struct class_text){0});
	put_pv((struct pv_text){.name = "v1"});
	put_pvc((struct pvc_text){.name = "c"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

	cycle_start(NULL, p);
	assert_true(cycle_bind(&f.cycle, node_of("a"), &refusal));
	assert_string_equal(assumed_text(p), "v1 for default/c");
	cycle_unbind(&f.cycle, node_of("a"));
	assert_string_equal(assumed_text(p), "");
	ledger_commit(f.ledger);
}

/* Many volumes, each on a host of its own or in a zone: the same as looking at all of them. */
static void VO_1_many_volumes(void **state)
{
	enum { HOSTS = 40 };

	put_storage_class((struct class_text){0});
	for (int i = 0; i < HOSTS; i++) {
		put_node((struct node_text){.name = arena_printf(f.arena, "n%d", i),
					    .labels = arena_printf(f.arena, "host=h%d zone=z%d", i, i % 4)});
		put_pv((struct pv_text){.name = arena_printf(f.arena, "local-%d", i),
					.has = "9Gi",
					.reaches = arena_printf(f.arena, "host in (h%d)", i)});
		put_pv((struct pv_text){.name = arena_printf(f.arena, "zonal-%d", i),
					.has = arena_printf(f.arena, "%dGi", 5 + i / 8),
					.reaches = arena_printf(f.arena, "zone in (z%d)", i % 8)});
	}
	put_pvc((struct pvc_text){.name = "c", .asks = "8Gi"});
	pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});
	expect_node("a zone has a smaller one", p, "n2", "zonal-26 for default/c");
	for (int i = 0; i < HOSTS; i++)
		if (i % 8 == 2)
			cluster_drop_pv(f.cluster, arena_printf(f.arena, "zonal-%d", i));
	expect_node("without it the host's own", p, "n2", "local-2 for default/c");
	cluster_drop_pv(f.cluster, "local-2");
	expect_node("without that none", p, "n2", NO_BIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(VO_1_claims_that_keep_a_pod_from_every_node),
		FIXTURE_TEST(VO_1_bound_claims),
		FIXTURE_TEST(VO_1_static_volumes),
		FIXTURE_TEST(VO_1_volumes_that_are_made),
		FIXTURE_TEST(VO_1_several_troubles),
		FIXTURE_TEST(VO_2_what_was_decided_for_one_is_seen_by_all),
		FIXTURE_TEST(VO_2_objects_that_say_it_themselves_end_it),
		FIXTURE_TEST(VO_2_bind_and_unbind),
		FIXTURE_TEST(VO_1_many_volumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
