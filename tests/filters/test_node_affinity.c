/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#define REFUSED "UNRESOLVABLE node(s) didn't match Pod's node affinity/selector"
#define ENFORCED "UNRESOLVABLE node(s) didn't match scheduler-enforced node affinity"

struct row {
	const char *says, *selector, *required, *added, *pre_filter, *filter;
};

/* Asked on node n1 with labels zone=a disk=ssd cores=8. */
static const struct row rows[] = {
	{"a pod that wants nothing is not asked about", NULL, NULL, NULL, "SKIP", "SUCCESS"},
	{"a nodeSelector that matches", "zone=a", NULL, NULL, "SUCCESS", "SUCCESS"},
	{"every pair of a nodeSelector must match", "zone=a disk=hdd", NULL, NULL, "SUCCESS", REFUSED},
	{"a label that is not there", "rack=1", NULL, NULL, "SUCCESS", REFUSED},
	{"a required term that matches", NULL, "zone in (a,b)", NULL, "SUCCESS", "SUCCESS"},
	{"all of a term must hold", NULL, "zone in (a,b),disk=hdd", NULL, "SUCCESS", REFUSED},
	{"one of the terms is enough", NULL, "zone=b|disk=ssd", NULL, "SUCCESS", "SUCCESS"},
	{"labels compared as numbers", NULL, "cores>7", NULL, "SUCCESS", "SUCCESS"},
	{"strictly", NULL, "cores>8", NULL, "SUCCESS", REFUSED},
	{"both nodeSelector and terms", "zone=b", "disk=ssd", NULL, "SUCCESS", REFUSED},
	{"an empty list of terms matches no node", NULL, "", NULL, "SUCCESS", REFUSED},
	{"an empty term matches no node", NULL, " ", NULL, "SUCCESS", REFUSED},
	{"a term that cannot be read matches no node", NULL, "?", NULL, "SUCCESS", REFUSED},
	{"and does not spoil the others", NULL, "?|zone=a", NULL, "SUCCESS", "SUCCESS"},
	{"a term may name the node", NULL, "@n1", NULL, "SUCCESS", "SUCCESS"},
	{"another name", NULL, "@n2", NULL, "SUCCESS", REFUSED},
	{"a name and labels in one term must both hold", NULL, "@n1 zone=b", NULL, "SUCCESS", REFUSED},
	{"two names in one term contradict each other", NULL, "@n1 @n2", NULL,
	 "UNRESOLVABLE pod affinity terms conflict", REFUSED},
	{"unless they are the same", NULL, "@n1 @n1", NULL, "SUCCESS", "SUCCESS"},
	{"one contradiction of two terms leaves the other", NULL, "@n1 @n2|@n1", NULL, "SUCCESS", "SUCCESS"},
	{"the profile's own terms", NULL, NULL, "zone=a", "SUCCESS", "SUCCESS"},
	{"come before the pod's", "zone=b", NULL, "zone=b", "SUCCESS", ENFORCED},
	{"and do not replace them", "zone=b", NULL, "zone=a", "SUCCESS", REFUSED},
};

static void KF_4_node_affinity_filter(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n1", .labels = "zone=a disk=ssd cores=8"});
		put_node((struct node_text){.name = "n2"});
		if (rows[i].added) {
			f.args.has_added_affinity = f.args.has_added_required = true;
			f.args.added_required = node_terms_of(rows[i].added);
		}
		pod_id p = put_pod(
			(struct pod_text){.name = "p", .selector = rows[i].selector, .required = rows[i].required});

		expect_text(rows[i].says, pre_filter_text("NodeAffinity", p), rows[i].pre_filter);
		expect_text(rows[i].says, filter_text("NodeAffinity", p, "n1"), rows[i].filter);
	}
}

static void KF_4_terms_that_name_nodes_leave_only_those(void **state)
{
	static const struct {
		const char *says, *required, *left; /* NULL: all */
	} names[] = {
		{"one name", "@n2", "n2"},
		{"a name in every term", "@n1|@n3 zone=a", "n1 n3"},
		{"names of no node are dropped", "@n1|@gone", "n1"},
		{"even all of them", "@gone|@lost", ""},
		{"a term without a name leaves all", "@n1|zone=a", NULL},
		{"labels alone leave all", "zone=a", NULL},
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		fixture_reset();
		for (const char *n = "n1 n2 n3", *w; (w = next_word(&n));)
			put_node((struct node_text){.name = w});
		pod_id p = put_pod((struct pod_text){.name = "p", .required = names[i].required});
		struct cede_cycle *c = cycle_start("NodeAffinity", p);

		assert_int_equal(c->has_node_set, names[i].left != NULL);
		assert_int_equal(bits_count(&c->node_set), count_words(names[i].left));
		for (const char *n = names[i].left, *w; (w = next_word(&n));)
			assert_true(bits_has(&c->node_set, node_of(w)));
		assert_true(status_is_success(&c->pre_filter));
	}
}

/* Only names that are at odds leave an empty set; to name a node that is not there is refused node by node. */
static void KF_8_names_of_no_node_are_refused_by_every_node(void **state)
{
	static const struct {
		const char *says, *name, *required;
		bool is_empty;
	} names[] = {
		{"a name that no node has", NULL, "@gone", false},
		{"two that agree on it", "gone", "@gone|@n1", false},
		{"two that do not", "gone", "@lost", true},
		{"one is there, the other not", "n1", "@gone", true},
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		fixture_reset();
		node_id n1 = put_node((struct node_text){.name = "n1"});
		pod_id p =
			put_pod((struct pod_text){.name = "p", .node = names[i].name, .required = names[i].required});
		const struct cede_cycle *c = cycle_start(NULL, p);
		struct status refusal = cycle_filter(c, n1);

		if (status_is_success(&c->pre_filter) == names[i].is_empty)
			fail_msg("%s", names[i].says);
		assert_int_equal(refusal.verdict.code, CEDE_UNRESOLVABLE);
		assert_int_equal(refusal.verdict.reason, names[i].is_empty ? FW_EMPTY : FW_OUTSIDE);
	}
}

static void KF_4_node_affinity_scores(void **state)
{
	static const struct {
		const char *says, *preferred, *added, *scores;
	} prefs[] = {
		{"a pod without preferences has no scores", NULL, NULL, "SKIP"},
		{"nothing matches: all nodes are alike", "2:zone=z", NULL, "n1=0 n2=0 n3=0"},
		{"the best gets everything", "2:zone=a", NULL, "n1=100 n2=0 n3=0"},
		{"weights add up, shares are cut", "2:zone=a|4:disk=ssd|5:zone=b,disk=ssd", NULL, "n1=22 n2=100 n3=0"},
		{"a term may name the node", "7:@n3|1:zone=a", NULL, "n1=14 n2=0 n3=100"},
		{"an empty term matches no node", "3:|1:zone=a", NULL, "n1=100 n2=0 n3=0"},
		{"weight nothing counts nothing", "0:?|1:zone=a", NULL, "n1=100 n2=0 n3=0"},
		{"the profile's preferences", NULL, "2:disk=ssd", "n1=0 n2=100 n3=0"},
		{"add to the pod's", "2:zone=a", "3:disk=ssd", "n1=66 n2=100 n3=0"},
		{"a term that cannot be read is an error", "2:zone=a|1:?", NULL,
		 "ERROR a preferred node affinity term is invalid"},
	};

	for (size_t i = 0; i < COUNT(prefs); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n1", .labels = "zone=a"});
		put_node((struct node_text){.name = "n2", .labels = "zone=b disk=ssd"});
		put_node((struct node_text){.name = "n3", .labels = "zone=c"});
		if (prefs[i].added)
			f.args.added_preferred = preferred_of(prefs[i].added, &f.args.n_added_preferred);
		pod_id p = put_pod((struct pod_text){.name = "p", .preferred = prefs[i].preferred});

		expect_text(prefs[i].says, scores_text("NodeAffinity", p, "n1 n2 n3"), prefs[i].scores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_node_affinity_filter),
		FIXTURE_TEST(KF_8_names_of_no_node_are_refused_by_every_node),
		FIXTURE_TEST(KF_4_terms_that_name_nodes_leave_only_those),
		FIXTURE_TEST(KF_4_node_affinity_scores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
