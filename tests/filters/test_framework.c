/* SPDX-License-Identifier: Apache-2.0 */
/* Which plugins run where, in which order, and what their answers add up to. */
#include "relations.h"

/* ---- plugins that write down when they are called and answer as they are told ---- */

enum { SPIES = 3 };

struct spy {
	const char *name;
	uint8_t pre_filter, filter, pre_score, reserve, permit, pre_bind, bind, pre_enqueue;
	int64_t score;
	const char *only; /* pre_filter leaves only this node */
	void *state;
};

static struct spy spies[SPIES];
static struct text calls;
static struct cede_plugin spy_tables[SPIES];

static void called(void *self, const char *what)
{
	text_printf(&calls, "%s%s.%s", calls.n ? " " : "", ((struct spy *)self)->name, what);
}

static const char *called_since(void)
{
	const char *ret = arena_strndup(f.arena, text_str(&calls), calls.n);

	text_reset(&calls);
	return ret;
}

static struct cede_verdict spy_pre_enqueue(void *self, const struct cede_cycle *c)
{
	called(self, "pre_enqueue");
	return cede_answer(((struct spy *)self)->pre_enqueue, 0, 0);
}

static struct cede_verdict spy_pre_filter(void *self, struct cede_cycle *c)
{
	struct spy *s = self;

	called(self, "pre_filter");
	s->state = cede_get_state(c, &spy_tables[s - spies]);
	cede_set_state(c, &spy_tables[s - spies], s);
	if (s->only) {
		node_id n = node_of(s->only);

		cycle_restrict(c, &spy_tables[s - spies], &n, 1);
	}
	return cede_answer(s->pre_filter, 0, 0);
}

static void spy_add(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	called(self, arena_printf(f.arena, "add(%s,%s)", cede_pod_name(c, pod), cede_node_name(c, node)));
}

static void spy_remove(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	called(self, arena_printf(f.arena, "remove(%s,%s)", cede_pod_name(c, pod), cede_node_name(c, node)));
}

static void spy_leaving(void *self, struct cede_cycle *c, cede_pod pod, cede_node node, bool is_leaving)
{
	called(self, arena_printf(f.arena, "%s(%s,%s)", is_leaving ? "leaves" : "stays", cede_pod_name(c, pod),
				  cede_node_name(c, node)));
}

static struct cede_verdict spy_filter(void *self, const struct cede_cycle *c, cede_node node)
{
	called(self, "filter");
	return cede_answer(((struct spy *)self)->filter, 0, 0);
}

static struct cede_verdict spy_pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	called(self, "pre_score");
	return cede_answer(((struct spy *)self)->pre_score, 0, 0);
}

static int64_t spy_score(void *self, const struct cede_cycle *c, cede_node node)
{
	called(self, "score");
	return ((struct spy *)self)->score;
}

static struct cede_verdict spy_reserve(void *self, struct cede_cycle *c, cede_node node)
{
	called(self, "reserve");
	return cede_answer(((struct spy *)self)->reserve, 0, 0);
}

static void spy_unreserve(void *self, struct cede_cycle *c, cede_node node)
{
	called(self, "unreserve");
}

static struct cede_verdict spy_permit(void *self, struct cede_cycle *c, cede_node node, int64_t *ret_timeout_ns)
{
	called(self, "permit");
	return cede_answer(((struct spy *)self)->permit, 0, 0);
}

static struct cede_verdict spy_pre_bind(void *self, struct cede_cycle *c, cede_node node)
{
	called(self, "pre_bind");
	return cede_answer(((struct spy *)self)->pre_bind, 0, 0);
}

static struct cede_verdict spy_bind(void *self, struct cede_cycle *c, cede_node node)
{
	called(self, "bind");
	return cede_answer(((struct spy *)self)->bind, 0, 0);
}

static void spy_post_bind(void *self, struct cede_cycle *c, cede_node node)
{
	called(self, "post_bind");
}

static const char *const spy_reasons[] = {"the spy says no"};

static const struct cede_plugin spy_template = {
	.abi = CEDE_PLUGIN_ABI,
	.pre_enqueue = spy_pre_enqueue,
	.pre_filter = spy_pre_filter,
	.add_pod = spy_add,
	.remove_pod = spy_remove,
	.pod_leaving = spy_leaving,
	.filter = spy_filter,
	.pre_score = spy_pre_score,
	.score = spy_score,
	.reserve = spy_reserve,
	.unreserve = spy_unreserve,
	.permit = spy_permit,
	.pre_bind = spy_pre_bind,
	.bind = spy_bind,
	.post_bind = spy_post_bind,
	.reasons = spy_reasons,
	.n_reasons = 1,
};

static int open_spies(void **state)
{
	static const char *const names[] = {"A", "B", "C"};

	for (int i = 0; i < SPIES; i++) {
		spies[i] = (struct spy){.name = names[i]};
		spy_tables[i] = spy_template;
		spy_tables[i].name = names[i];
	}
	return fixture_open(state);
}

static int close_spies(void **state)
{
	fixture_close(state);
	text_free(&calls);
	return 0;
}
#define SPY_TEST(test) cmocka_unit_test_setup_teardown(test, open_spies, close_spies)

/* The framework of a profile; NULL: why says why not. */
static struct framework *framework_of(struct kube_profile *profile, uint32_t n_spies, struct err *why)
{
	struct framework_plugin extra[SPIES];

	for (uint32_t i = 0; i < n_spies; i++)
		extra[i] = (struct framework_plugin){.table = &spy_tables[i], .self = &spies[i]};
	profile->args = f.args;
	cycle_stop();
	f.framework = framework_new(f.cluster, profile, extra, n_spies, why);
	return f.framework;
}

/* Only the spies, and what every profile needs. */
static void with_spies(uint32_t n_spies)
{
	static const struct plugin_ref all[] = {{.name = "*"}}, enabled[] = {{.name = "PrioritySort"},
									     {.name = "A", .weight = 1},
									     {.name = "B", .weight = 2},
									     {.name = "C", .weight = 3}};
	struct kube_profile profile = {0};
	struct err e;

	profile.points[POINT_MULTI] = (struct plugin_set){1 + n_spies, 1, enabled, all};
	if (!framework_of(&profile, n_spies, &e))
		fail_msg("%s", e.msg);
}

static struct cede_cycle *begin(pod_id pod)
{
	if (f.is_begun)
		cycle_end(&f.cycle);
	cycle_begin(&f.cycle, f.framework, f.arena, pod, 0);
	f.is_begun = true;
	return &f.cycle;
}

static pod_id put_plain(const char *name)
{
	return put_pod((struct pod_text){.name = name});
}

/* ---- which plugins run where ---- */

static struct plugin_set set_of(const char *enabled, const char *disabled)
{
	struct plugin_ref *refs = arena_n(f.arena, count_words(enabled) + count_words(disabled) + 1, struct plugin_ref);
	struct plugin_set s = {.enabled = refs, .disabled = refs + count_words(enabled)};
	char *w;

	while ((w = next_word(&enabled))) {
		char *weight = cut(w, '=');

		refs[s.n_enabled++] =
			(struct plugin_ref){.name = w, .weight = weight ? (int32_t)strtol(weight, NULL, 10) : 0};
	}
	while ((w = next_word(&disabled)))
		refs[s.n_enabled + s.n_disabled++] = (struct plugin_ref){.name = w};
	return s;
}

static const char *order_text(enum plugin_point point)
{
	const char *ret = "";
	uint32_t n;
	const uint32_t *order = framework_point(f.framework, point, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct framework_plugin *p = framework_plugin(f.framework, order[i]);

		ret = arena_printf(f.arena, point == POINT_SCORE ? "%s%s%s=%d" : "%s%s%s", ret, i ? " " : "",
				   p->table->name, p->weight);
	}
	return ret;
}

#define FILTERS                                                                               \
	"NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit " \
	"VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "     \
	"InterPodAffinity"
#define SCORES                                                                                        \
	"TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 PodTopologySpread=2 InterPodAffinity=2 " \
	"NodeResourcesBalancedAllocation=1 ImageLocality=1"

static void KF_1_plugins_of_a_point(void **state)
{
	static const struct {
		const char *says, *multi, *multi_off, *own, *own_off;
		enum plugin_point point;
		const char *order;
	} rows[] = {
		{"filters by default", "", "", "", "", POINT_FILTER, FILTERS},
		{"scores by default", "", "", "", "", POINT_SCORE, SCORES},
		{"one off everywhere", "", "NodeName", "", "", POINT_FILTER,
		 "NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
		 "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
		 "InterPodAffinity"},
		{"one off at a point", "", "", "", "NodeName", POINT_FILTER,
		 "NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
		 "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
		 "InterPodAffinity"},
		{"is on at others", "", "", "", "NodeAffinity", POINT_FILTER,
		 "NodeName NodeUnschedulable TaintToleration NodePorts NodeResourcesFit "
		 "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
		 "InterPodAffinity"},
		{"all off at a point", "", "", "", "*", POINT_FILTER, ""},
		{"all off but one", "", "", "NodePorts", "*", POINT_FILTER, "NodePorts"},
		{"a point's own list comes first", "", "", "NodePorts NodeName", "", POINT_FILTER,
		 "NodePorts NodeName NodeUnschedulable TaintToleration NodeAffinity NodeResourcesFit "
		 "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
		 "InterPodAffinity"},
		{"another weight", "NodeAffinity=7", "", "", "", POINT_SCORE,
		 "TaintToleration=3 NodeAffinity=7 NodeResourcesFit=1 PodTopologySpread=2 InterPodAffinity=2 "
		 "NodeResourcesBalancedAllocation=1 ImageLocality=1"},
		{"another weight at the point alone", "", "", "ImageLocality=9", "*", POINT_SCORE, "ImageLocality=9"},
		{"no weight given is 1", "", "", "TaintToleration", "*", POINT_SCORE, "TaintToleration=1"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kube_profile profile = {0};
		struct err e;

		profile.points[POINT_MULTI] = set_of(rows[i].multi, rows[i].multi_off);
		profile.points[rows[i].point] = set_of(rows[i].own, rows[i].own_off);
		if (!framework_of(&profile, 0, &e))
			fail_msg("%s: %s", rows[i].says, e.msg);
		expect_text(rows[i].says, order_text(rows[i].point), rows[i].order);
	}
}

static void KF_1_profiles_that_cannot_be(void **state)
{
	static const struct {
		const char *says;
		enum plugin_point point;
		const char *enabled, *disabled, *why;
	} rows[] = {
		{"a plugin nobody has", POINT_MULTI, "Nobody", "",
		 "plugins.multiPoint: no plugin is called \"Nobody\""},
		{"at a point", POINT_SCORE, "Nobody", "", "plugins.score: no plugin is called \"Nobody\""},
		{"one that does not do that", POINT_SCORE, "NodeName", "",
		 "plugins.score: has no place for plugin \"NodeName\""},
		{"nobody orders the pods", POINT_QUEUE_SORT, "", "*",
		 "plugins.queueSort: exactly one plugin must order the waiting pods, found 0"},
		{"nobody binds", POINT_BIND, "", "*", "plugins.bind: at least one plugin must bind pods"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kube_profile profile = {0};
		struct err e;

		profile.points[rows[i].point] = set_of(rows[i].enabled, rows[i].disabled);
		if (framework_of(&profile, 0, &e))
			fail_msg("%s: nobody complains", rows[i].says);
		expect_text(rows[i].says, e.msg, rows[i].why);
	}
}

static void KF_1_own_plugins_join_every_point_they_have(void **state)
{
	struct kube_profile profile = {0};
	struct err e;

	assert_non_null(framework_of(&profile, 2, &e));
	expect_text("filters", order_text(POINT_FILTER), FILTERS " A B");
	expect_text("binders", order_text(POINT_BIND), "DefaultBinder A B");
	assert_true(framework_preempts(f.framework));
	profile.points[POINT_POST_FILTER] = set_of("", "DefaultPreemption");
	assert_non_null(framework_of(&profile, 2, &e));
	assert_false(framework_preempts(f.framework));
}

/* ---- PreFilter and Filter ---- */

static void KF_1_what_a_pre_filter_answer_leads_to(void **state)
{
	static const struct {
		const char *says;
		uint8_t a, b;
		const char *calls, *status;
	} rows[] = {
		{"all are asked", CEDE_SUCCESS, CEDE_SUCCESS, "A.pre_filter B.pre_filter A.filter B.filter", "SUCCESS"},
		{"who skips is not asked again", CEDE_SKIP, CEDE_SUCCESS, "A.pre_filter B.pre_filter B.filter",
		 "SUCCESS"},
		{"not now: the others still prepare", CEDE_UNSCHEDULABLE, CEDE_SUCCESS, "A.pre_filter B.pre_filter",
		 "UNSCHEDULABLE the spy says no"},
		{"never: nobody else is asked", CEDE_UNRESOLVABLE, CEDE_SUCCESS, "A.pre_filter",
		 "UNRESOLVABLE the spy says no"},
		{"never counts more than not now", CEDE_UNSCHEDULABLE, CEDE_UNRESOLVABLE, "A.pre_filter B.pre_filter",
		 "UNRESOLVABLE the spy says no"},
		{"an error stops too", CEDE_ERROR, CEDE_SUCCESS, "A.pre_filter", "ERROR the spy says no"},
		{"nonsense is switched off", 77, CEDE_SUCCESS, "A.pre_filter B.pre_filter B.filter", "SUCCESS"},
	};

	put_nodes("n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		spies[0].pre_filter = rows[i].a;
		spies[1].pre_filter = rows[i].b;
		with_spies(2);
		begin(put_plain("p"));
		struct status s = cycle_filter(&f.cycle, node_of("n"));

		expect_text(rows[i].says, called_since(), rows[i].calls);
		expect_text(rows[i].says, status_of(&s), rows[i].status);
	}
}

static void KF_1_nodes_that_pre_filters_leave(void **state)
{
	static const struct {
		const char *says, *a, *b, *n1, *n2;
	} rows[] = {
		{"all", NULL, NULL, "SUCCESS", "SUCCESS"},
		{"one", "n1", NULL, "SUCCESS", "UNRESOLVABLE node(s) didn't satisfy plugin(s) [A]"},
		{"the same by both", "n1", "n1", "SUCCESS", "UNRESOLVABLE node(s) didn't satisfy plugin(s) [A B]"},
		{"nothing in common", "n1", "n2", "UNRESOLVABLE node(s) didn't satisfy plugin(s) [A B] simultaneously",
		 "UNRESOLVABLE node(s) didn't satisfy plugin(s) [A B] simultaneously"},
		{"a node that is not there", "gone", NULL, "UNRESOLVABLE node(s) didn't satisfy plugin [A]",
		 "UNRESOLVABLE node(s) didn't satisfy plugin [A]"},
	};

	put_nodes("n1; n2");
	for (size_t i = 0; i < COUNT(rows); i++) {
		spies[0].only = rows[i].a;
		spies[1].only = rows[i].b;
		with_spies(2);
		begin(put_plain("p"));
		struct status n1 = cycle_filter(&f.cycle, node_of("n1")), n2 = cycle_filter(&f.cycle, node_of("n2"));

		expect_text(rows[i].says, status_of(&n1), rows[i].n1);
		expect_text(rows[i].says, status_of(&n2), rows[i].n2);
	}
}

static void KF_1_the_first_refusal_is_the_answer(void **state)
{
	put_nodes("n");
	spies[1].filter = CEDE_UNSCHEDULABLE;
	spies[2].filter = CEDE_UNRESOLVABLE;
	with_spies(3);
	begin(put_plain("p"));
	struct status s = cycle_filter(&f.cycle, node_of("n"));

	assert_string_equal(status_of(&s), "UNSCHEDULABLE the spy says no");
	assert_string_equal(status_plugin_name(f.framework, &s), "B");
	expect_text("C is not asked", called_since(), "A.pre_filter B.pre_filter C.pre_filter A.filter B.filter");
}

static void KF_1_a_filter_that_talks_nonsense_is_switched_off(void **state)
{
	static const uint8_t nonsense[] = {CEDE_SKIP, CEDE_WAIT, 99};

	put_nodes("n");
	for (size_t i = 0; i < COUNT(nonsense); i++) {
		for (int is_static = 0; is_static < 2; is_static++) {
			spies[0].filter = nonsense[i];
			spies[1].filter = CEDE_UNRESOLVABLE;
			spy_tables[0].flags = spy_tables[1].flags = is_static ? CEDE_FILTER_IS_STATIC : 0;
			with_spies(2);
			begin(put_plain("p"));
			struct status s = cycle_filter(&f.cycle, node_of("n"));

			assert_string_equal(status_plugin_name(f.framework, &s), "B");
			assert_string_equal(framework_complaints(f.framework),
					    "plugin A is switched off: filter gave an answer that does not exist\n");
		}
	}
}

static void KF_1_what_depends_on_shape_and_node_alone_is_asked_once(void **state)
{
	put_nodes("n");
	spy_tables[0].flags = CEDE_FILTER_IS_STATIC;
	spies[0].filter = CEDE_UNSCHEDULABLE;
	with_spies(2);
	begin(put_plain("p"));
	called_since();
	struct status s = cycle_filter(&f.cycle, node_of("n"));
	expect_text("asked for the reason only", called_since(), "A.filter");
	assert_string_equal(status_plugin_name(f.framework, &s), "A");

	spies[0].filter = CEDE_SUCCESS;
	begin(put_plain("q"));
	expect_text("another pod of the shape", called_since(), "A.pre_filter B.pre_filter");
	put_node((struct node_text){.name = "n", .labels = "new=1"});
	begin(put_plain("q"));
	expect_text("the node changed", called_since(), "A.pre_filter B.pre_filter A.filter");
	begin(put_pod((struct pod_text){.name = "r", .asks = "cpu=1"}));
	expect_text("another shape", called_since(), "A.pre_filter B.pre_filter A.filter");
}

/* ---- pods move ---- */

static void KF_2_plugins_hear_of_every_move_and_its_return(void **state)
{
	put_nodes("n");
	with_spies(2);
	spies[1].pre_filter = CEDE_SKIP;
	pod_id q = put_plain("q"), left = put_pod((struct pod_text){.name = "left", .node = "n", .is_leaving = true});
	begin(put_plain("p"));
	ledger_mark mark = ledger_get_mark(f.ledger);
	called_since();

	ledger_place(f.ledger, q, node_of("n"));
	expect_text("place; B has skipped the pod", called_since(), "A.add(q,n)");
	ledger_evict(f.ledger, q);
	expect_text("evict", called_since(), "A.leaves(q,n)");
	ledger_unevict(f.ledger, q);
	expect_text("unevict", called_since(), "A.stays(q,n)");
	ledger_vacate(f.ledger, left);
	expect_text("one that leaves goes", called_since(), "A.stays(left,n) A.remove(left,n)");
	ledger_rollback(f.ledger, mark);
	expect_text("all back", called_since(),
		    "A.add(left,n) A.leaves(left,n) A.leaves(q,n) A.stays(q,n) A.remove(q,n)");
	cycle_end(&f.cycle);
	f.is_begun = false;
	ledger_place(f.ledger, q, node_of("n"));
	expect_text("no cycle, no call", called_since(), "");
}

static void KF_2_every_cycle_starts_afresh(void **state)
{
	int value = 7;

	put_nodes("n");
	with_spies(2);
	struct cede_cycle *c = begin(put_plain("p"));

	assert_null(spies[0].state);
	assert_ptr_equal(cede_get_state(c, &spy_tables[0]), &spies[0]);
	assert_ptr_equal(cede_get_state(c, &spy_tables[1]), &spies[1]);
	cede_write(c, "shared", &value);
	cede_write(c, "other", c);
	assert_ptr_equal(cede_read(c, "shared"), &value);
	cede_write(c, "shared", NULL);
	assert_null(cede_read(c, "shared"));
	assert_ptr_equal(cede_read(c, "other"), c);
	c = begin(put_plain("p"));
	assert_null(spies[0].state);
	assert_null(cede_read(c, "other"));
}

static void KF_9_room_of_nominated_pods(void **state)
{
	static const struct {
		const char *says;
		enum nomination nomination;
		int32_t priority;
		const char *status;
	} rows[] = {
		{"nobody claims it", NOMINATION_NONE, 0, "SUCCESS"},
		{"an equal has it", NOMINATION_ADVISORY, 10, "UNSCHEDULABLE Insufficient cpu"},
		{"a higher has it", NOMINATION_ADVISORY, 11, "UNSCHEDULABLE Insufficient cpu"},
		{"a lower does not hold it", NOMINATION_ADVISORY, 9, "SUCCESS"},
		{"what is reserved holds against all", NOMINATION_RESERVED, 9, "UNSCHEDULABLE Insufficient cpu"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct status s;

		fixture_reset();
		put_node((struct node_text){.name = "n", .has = "cpu=2 memory=1Gi pods=9"});
		pod_id q = put_pod((struct pod_text){.name = "q", .asks = "cpu=1", .priority = rows[i].priority});
		pod_id p = put_pod((struct pod_text){.name = "p", .asks = "cpu=2", .priority = 10});

		if (rows[i].nomination)
			ledger_set_nomination(f.ledger, q, node_of("n"), rows[i].nomination);
		cycle_start("NodeResourcesFit", p);
		uint64_t before = ledger_digest(f.ledger);
		s = cycle_fits(&f.cycle, node_of("n"));
		expect_text(rows[i].says, status_of(&s), rows[i].status);
		assert_true(ledger_digest(f.ledger) == before);
	}
}

/* Affinity to a nominated pod is not enough: the pod must fit without it, too. */
static void KF_9_it_must_fit_without_the_nominated_pod_too(void **state)
{
	struct shape s = {.affinity = terms_of("host app=db")};
	struct status got;

	put_nodes("n host=n");
	pod_id q = put_pod((struct pod_text){.name = "q", .labels = "app=db"});
	ledger_nominate(f.ledger, q, node_of("n"));
	cycle_start("InterPodAffinity", put_pod((struct pod_text){.name = "p", .shape = &s}));
	got = cycle_fits(&f.cycle, node_of("n"));
	assert_string_equal(status_of(&got), "UNRESOLVABLE node(s) didn't match pod affinity rules");
}

static void KF_2_domains_follow_the_labels_of_nodes(void **state)
{
	struct shape s = {.anti_affinity = terms_of("zone app=db")};

	put_nodes("a zone=1; b zone=2");
	put_pods("a:app=db");
	pod_id p = put_pod((struct pod_text){.name = "p", .shape = &s});
	expect_text("two zones", answers_in(cycle_start("InterPodAffinity", p), &inter_pod_affinity_plugin),
		    "a=no b=yes");
	put_nodes("b zone=1");
	expect_text("now one", answers_in(begin(p), &inter_pod_affinity_plugin), "a=no b=no");
	put_nodes("b other=1; c zone=1");
	expect_text("b is in none, c is new", answers_in(begin(p), &inter_pod_affinity_plugin), "a=no b=yes c=no");
	cluster_drop_node(f.cluster, "a");
	expect_text("a pod on a node that is gone is nowhere", answers_in(begin(p), &inter_pod_affinity_plugin),
		    "b=yes c=yes");
}

/* More keys than are kept. */
static void KF_2_any_number_of_topologies(void **state)
{
	put_nodes("a k1=1 k40=1");
	put_pods("a:app=db");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 50; i++) {
			struct shape s = {.anti_affinity = terms_of(arena_printf(f.arena, "k%d app=db", i))};
			pod_id p = put_pod((struct pod_text){.name = "p", .shape = &s});

			if (!f.is_begun)
				cycle_start("InterPodAffinity", p);
			expect_text("only two keys are there", answers_in(begin(p), &inter_pod_affinity_plugin),
				    i == 1 || i == 40 ? "a=no" : "a=yes");
		}
	}
}

/* ---- scores ---- */

static void KF_1_scores_are_weighted_and_added(void **state)
{
	int64_t totals[2], per[64 * 2] = {0};
	uint32_t b;

	put_nodes("n1; n2");
	spies[0].score = 10;
	spies[1].score = 100;
	spies[2].score = 50;
	spies[2].pre_score = CEDE_SKIP;
	with_spies(3);
	begin(put_plain("p"));
	assert_int_equal(cycle_scores(&f.cycle, f.cycle.nodes, 2, totals, per, NULL), ERR_OK);
	assert_int_equal(totals[0], 10 * 1 + 100 * 2);
	assert_int_equal(totals[1], totals[0]);
	b = framework_plugin_find(f.framework, "B");
	assert_int_equal(per[b * 2], 200);
	spies[0].pre_score = CEDE_UNSCHEDULABLE;
	struct err e;
	assert_int_equal(cycle_scores(&f.cycle, f.cycle.nodes, 2, totals, per, &e), ERR_INTERNAL);
	assert_string_equal(e.msg, "running PreScore of plugin A failed");
}

static void KF_1_a_score_out_of_bounds_is_switched_off(void **state)
{
	static const int64_t bad[] = {-1, 101, INT64_MAX, INT64_MIN};
	int64_t total;

	put_nodes("n");
	spies[1].score = 50;
	for (size_t i = 0; i < COUNT(bad); i++) {
		spies[0].score = bad[i];
		with_spies(2);
		begin(put_plain("p"));
		assert_int_equal(cycle_scores(&f.cycle, f.cycle.nodes, 1, &total, NULL, NULL), ERR_OK);
		assert_int_equal(total, 100);
		assert_string_equal(framework_complaints(f.framework),
				    "plugin A is switched off: a score outside 0 to 100\n");
		called_since();
		begin(put_plain("p"));
		expect_text("not asked again", called_since(), "B.pre_filter");
	}
}

/* A plugin that is switched off does not take down what others say of nodes. */
static void KF_1_refusals_stay_when_somebody_is_switched_off(void **state)
{
	int64_t total;

	put_nodes("n");
	spies[0].score = 1000;
	spies[1].filter = CEDE_UNRESOLVABLE;
	spy_tables[1].flags = CEDE_FILTER_IS_STATIC;
	with_spies(2);
	begin(put_plain("p"));
	cycle_scores(&f.cycle, f.cycle.nodes, 1, &total, NULL, NULL);
	struct status s = cycle_filter(&f.cycle, node_of("n"));
	assert_string_equal(status_plugin_name(f.framework, &s), "B");
}

/* ---- PreEnqueue, Reserve to PostBind ---- */

static void KF_10_from_reserve_to_post_bind(void **state)
{
	static const struct {
		const char *says;
		struct spy a, b;
		const char *calls, *refused_by;
	} rows[] = {
		{"all agree; the first binds",
		 {0},
		 {0},
		 "A.reserve B.reserve A.permit B.permit A.pre_bind B.pre_bind A.bind A.post_bind B.post_bind",
		 NULL},
		{"A lets B bind",
		 {.bind = CEDE_SKIP},
		 {0},
		 "A.reserve B.reserve A.permit B.permit A.pre_bind B.pre_bind A.bind B.bind A.post_bind B.post_bind",
		 NULL},
		{"A does not reserve", {.reserve = CEDE_UNSCHEDULABLE}, {0}, "A.reserve B.unreserve A.unreserve", "A"},
		{"B does not reserve",
		 {0},
		 {.reserve = CEDE_ERROR},
		 "A.reserve B.reserve B.unreserve A.unreserve",
		 "B"},
		{"B wants to wait",
		 {0},
		 {.permit = CEDE_WAIT},
		 "A.reserve B.reserve A.permit B.permit A.pre_bind B.pre_bind A.bind A.post_bind B.post_bind",
		 NULL},
		{"B does not permit",
		 {0},
		 {.permit = CEDE_UNSCHEDULABLE},
		 "A.reserve B.reserve A.permit B.permit B.unreserve A.unreserve",
		 "B"},
		{"A fails before binding",
		 {.pre_bind = CEDE_ERROR},
		 {0},
		 "A.reserve B.reserve A.permit B.permit A.pre_bind B.unreserve A.unreserve",
		 "A"},
		{"binding fails",
		 {.bind = CEDE_ERROR},
		 {0},
		 "A.reserve B.reserve A.permit B.permit A.pre_bind B.pre_bind A.bind B.unreserve A.unreserve",
		 "A"},
		{"nobody binds",
		 {.bind = CEDE_SKIP},
		 {.bind = CEDE_SKIP},
		 "A.reserve B.reserve A.permit B.permit A.pre_bind B.pre_bind A.bind B.bind B.unreserve A.unreserve",
		 ""},
	};

	put_nodes("n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct status s;
		bool is_bound;

		spies[0] = rows[i].a;
		spies[1] = rows[i].b;
		spies[0].name = "A";
		spies[1].name = "B";
		with_spies(2);
		begin(put_plain("p"));
		called_since();
		is_bound = cycle_bind(&f.cycle, node_of("n"), &s);
		expect_text(rows[i].says, called_since(), rows[i].calls);
		assert_int_equal(is_bound, rows[i].refused_by == NULL);
		if (!is_bound)
			expect_text(rows[i].says, status_plugin_name(f.framework, &s), rows[i].refused_by);
	}
}

static void KF_1_pre_enqueue_stops_at_the_first_no(void **state)
{
	struct status s;

	put_nodes("n");
	with_spies(2);
	begin(put_plain("p"));
	called_since();
	s = cycle_pre_enqueue(&f.cycle);
	assert_true(status_is_success(&s));
	expect_text("both are asked", called_since(), "A.pre_enqueue B.pre_enqueue");
	spies[0].pre_enqueue = CEDE_UNRESOLVABLE;
	s = cycle_pre_enqueue(&f.cycle);
	assert_string_equal(status_of(&s), "UNRESOLVABLE the spy says no");
	expect_text("one is enough", called_since(), "A.pre_enqueue");
}

/* ---- words ---- */

static void KF_1_the_sentence_of_a_pod_that_fits_nowhere(void **state)
{
	struct status some[12], rest = status_of_framework(CEDE_UNRESOLVABLE, FW_NOT_HELPFUL, 0);
	struct fit_error fe = {.n_all = 14, .statuses = some, .n = 12};
	struct text t = {0};

	put_nodes("n");
	with_spies(1);
	begin(put_plain("p"));
	for (int i = 0; i < 12; i++)
		some[i] = i < 2 ? status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0)
				: (struct status){cede_answer(CEDE_UNSCHEDULABLE, 0, 0),
						  framework_plugin_find(f.framework, "A")};
	fit_error_text(&f.cycle, &fe, &t);
	expect_text("sorted as text", text_str(&t),
		    "0/14 nodes are available: 10 the spy says no, 2 No preemption victims found for incoming pod.");
	fe.absent = &rest;
	text_reset(&t);
	fit_error_text(&f.cycle, &fe, &t);
	expect_text("the rest is counted", text_str(&t),
		    "0/14 nodes are available: 10 the spy says no, 2 No preemption victims found for incoming pod, "
		    "2 Preemption is not helpful for scheduling.");
	fe.pre_filter_msg = "before";
	fe.post_filter_msg = "after";
	text_reset(&t);
	fit_error_text(&f.cycle, &fe, &t);
	expect_text("before and after", text_str(&t), "0/14 nodes are available: before. after");
	text_free(&t);
}

static void KF_1_plugins_are_named_in_order(void **state)
{
	struct status s;
	uint64_t both;

	put_nodes("n");
	cycle_start("NodeName", put_plain("p"));
	both = UINT64_C(1) << framework_plugin_find(f.framework, "NodeName") |
	       UINT64_C(1) << framework_plugin_find(f.framework, "NodeAffinity");
	s = status_of_framework(CEDE_UNRESOLVABLE, FW_OUTSIDE, both);
	assert_string_equal(status_of(&s), "UNRESOLVABLE node(s) didn't satisfy plugin(s) [NodeAffinity NodeName]");
}

static void KF_1_what_a_plugin_may_ask(void **state)
{
	put_node((struct node_text){.name = "n2", .has = "cpu=4 pods=10", .labels = "zone=1"});
	put_node((struct node_text){.name = "n1"});
	put_pod((struct pod_text){.name = "q", .node = "n2", .asks = "cpu=500m"});
	with_spies(1);
	pod_id p =
		put_pod((struct pod_text){.name = "p", .ns = "x", .labels = "app=w", .asks = "cpu=2", .priority = 5});
	struct cede_cycle *c = begin(p);
	node_id n2 = node_of("n2");

	assert_int_equal(cede_cycle_pod(c), p);
	assert_int_equal(cede_cycle_now(c), 0);
	assert_string_equal(cede_pod_name(c, p), "p");
	assert_string_equal(cede_pod_namespace(c, p), "x");
	assert_string_equal(cede_pod_label(c, p, "app"), "w");
	assert_null(cede_pod_label(c, p, "zone"));
	assert_null(cede_pod_label(c, p, "no such key anywhere"));
	assert_int_equal(cede_pod_priority(c, p), 5);
	assert_string_equal(cede_pod_queue(c, p), "root.default");
	assert_int_equal(cede_pod_request(c, p, "cpu"), 2000);
	assert_int_equal(cede_pod_request(c, p, "memory"), 0);
	assert_int_equal(cede_pod_request(c, p, "no such type"), 0);
	assert_true(cede_pod_started(c, p) == INT64_MIN);
	assert_true(cede_pod_checkpointed(c, p) == INT64_MIN);
	assert_int_equal(cede_pod_node(c, p), UINT32_MAX);
	assert_int_equal(cede_node_count(c), 2);
	assert_string_equal(cede_node_name(c, cede_node_at(c, 0)), "n1");
	assert_string_equal(cede_node_label(c, n2, "zone"), "1");
	assert_int_equal(cede_node_allocatable(c, n2, "cpu"), 4000);
	assert_int_equal(cede_node_allocatable(c, n2, "no such type"), 0);
	assert_int_equal(cede_node_used(c, n2, "cpu"), 500);
	assert_int_equal(cede_node_pod_count(c, n2), 1);
	assert_int_equal(cede_node_pod_at(c, n2, 0), cluster_find_pod(f.cluster, "default", "q"));
	assert_int_equal(cede_pod_node(c, cede_node_pod_at(c, n2, 0)), n2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPY_TEST(KF_1_plugins_of_a_point),
		SPY_TEST(KF_1_profiles_that_cannot_be),
		SPY_TEST(KF_1_own_plugins_join_every_point_they_have),
		SPY_TEST(KF_1_what_a_pre_filter_answer_leads_to),
		SPY_TEST(KF_1_nodes_that_pre_filters_leave),
		SPY_TEST(KF_1_the_first_refusal_is_the_answer),
		SPY_TEST(KF_1_a_filter_that_talks_nonsense_is_switched_off),
		SPY_TEST(KF_1_what_depends_on_shape_and_node_alone_is_asked_once),
		SPY_TEST(KF_2_plugins_hear_of_every_move_and_its_return),
		SPY_TEST(KF_2_every_cycle_starts_afresh),
		SPY_TEST(KF_9_room_of_nominated_pods),
		SPY_TEST(KF_9_it_must_fit_without_the_nominated_pod_too),
		SPY_TEST(KF_2_domains_follow_the_labels_of_nodes),
		SPY_TEST(KF_2_any_number_of_topologies),
		SPY_TEST(KF_1_scores_are_weighted_and_added),
		SPY_TEST(KF_1_a_score_out_of_bounds_is_switched_off),
		SPY_TEST(KF_1_refusals_stay_when_somebody_is_switched_off),
		SPY_TEST(KF_10_from_reserve_to_post_bind),
		SPY_TEST(KF_1_pre_enqueue_stops_at_the_first_no),
		SPY_TEST(KF_1_the_sentence_of_a_pod_that_fits_nowhere),
		SPY_TEST(KF_1_plugins_are_named_in_order),
		SPY_TEST(KF_1_what_a_plugin_may_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
