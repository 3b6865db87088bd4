/* SPDX-License-Identifier: Apache-2.0 */
#include "volume_fixture.h"

#define ZONE "topology.kubernetes.io/zone"
#define REGION "topology.kubernetes.io/region"
#define OLD_ZONE "failure-domain.beta.kubernetes.io/zone"
#define WRONG "UNRESOLVABLE node(s) had no available volume zone"

static void VO_1_zones(void **state)
{
	static const struct {
		const char *says, *volume, *node, *pre_filter, *filter;
	} rows[] = {
		{"a volume without such labels is not asked about", "x=1", ZONE "=a", "SKIP", "SUCCESS"},
		{"the zone it names", ZONE "=a", ZONE "=a", "SUCCESS", "SUCCESS"},
		{"another zone", ZONE "=a", ZONE "=b", "SUCCESS", WRONG},
		{"one of several", ZONE "=a__b", ZONE "=b", "SUCCESS", "SUCCESS"},
		{"a node without any such label takes all", ZONE "=a", "x=1", "SUCCESS", "SUCCESS"},
		{"a node with a zone but not the region that is named", ZONE "=a " REGION "=r", ZONE "=a", "SUCCESS",
		 WRONG},
		{"an old label is found under its new name", OLD_ZONE "=a", ZONE "=a", "SUCCESS", "SUCCESS"},
		{"and must be the same", OLD_ZONE "=a", ZONE "=b", "SUCCESS", WRONG},
		{"a new label is not found under its old name", ZONE "=a", OLD_ZONE "=a", "SUCCESS", WRONG},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n", .labels = rows[i].node});
		put_pv((struct pv_text){.name = "pv", .labels = rows[i].volume});
		put_pvc((struct pvc_text){.name = "c", .volume = "pv", .is_bound = true});
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "claim:c"});

		expect_text(rows[i].says, pre_filter_text("VolumeZone", p), rows[i].pre_filter);
		expect_text(rows[i].says, filter_text("VolumeZone", p, "n"), rows[i].filter);
	}
}

static void VO_1_claims_without_a_volume(void **state)
{
	static const struct {
		const char *says;
		struct pvc_text claim;
		const char *class;
		bool is_immediate;
		const char *wanted;
	} rows[] = {
		{"no claim", {.name = "x"}, NULL, false, "UNRESOLVABLE persistentvolumeclaim \"c\" not found"},
		{"neither volume nor class",
		 {.name = "c", .class = ""},
		 NULL,
		 false,
		 "UNRESOLVABLE PersistentVolumeClaim had no pv name and storageClass name"},
		{"a class that is not there",
		 {.name = "c"},
		 NULL,
		 false,
		 "UNRESOLVABLE storageclass.storage.k8s.io \"local\" not found"},
		{"an immediate class", {.name = "c"}, "local", true, "UNRESOLVABLE PersistentVolume had no name"},
		{"one that waits for its first consumer", {.name = "c"}, "local", false, "SKIP"},
		{"a volume that is not there",
		 {.name = "c", .volume = "pv"},
		 "local",
		 false,
		 "UNRESOLVABLE persistentvolume \"pv\" not found"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n"});
		put_pvc(rows[i].claim);
		if (rows[i].class)
			put_storage_class(
				(struct class_text){.name = rows[i].class, .is_immediate = rows[i].is_immediate});
		pod_id p = put_pod((struct pod_text){.name = "p", .volumes = "ephemeral:e claim:c"});

		expect_text(rows[i].says, pre_filter_text("VolumeZone", p), rows[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(VO_1_zones),
		FIXTURE_TEST(VO_1_claims_without_a_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
