/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is decided is carried out, whatever the API server answers: CL_1 nobody is bound twice and no room is given away
 * twice, CL_2 victims are asked once and only for a decision that holds.
 */
#include "run/fake_api.h"

#define KUBERNETES "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\n"

#define POD_ON(node) "{\"metadata\":{\"uid\":\"uid-a\"},\"spec\":{\"nodeName\":\"" node "\"}}"
#define POD_FREE_NOW "{\"metadata\":{\"uid\":\"uid-a\"},\"spec\":{}}"
#define OTHER_POD "{\"metadata\":{\"uid\":\"uid-z\"},\"spec\":{}}"

struct step {
	int status;	  /* of the answer; -1: time passes, -2: the watch shows it on n0, -3: it is deleted */
	const char *body; /* of the answer */
};
enum { WAITS = -1, SEEN = -2, DELETED = -3 };

struct bind_row {
	const char *says;
	struct step steps[8];
	const char *log;
	enum pod_state state;
};

static const struct bind_row bind_rows[] = {
	{"a bind that goes well is held until the watch shows it", {{201, "{}"}}, "bind a n0; ", POD_PLACED},
	{"and is no assumption any more when it does", {{201, "{}"}, {SEEN, NULL}}, "bind a n0; ", POD_PLACED},
	{"a watch that is faster than the answer is fine", {{SEEN, NULL}, {201, "{}"}}, "bind a n0; ", POD_PLACED},
	{"after 409 the pod is read: bound there by an attempt before, that is as good",
	 {{409, "{}"}, {200, POD_ON("n0")}, {WAITS, NULL}},
	 "bind a n0; get a; ",
	 POD_PLACED},
	{"bound elsewhere by somebody else: the place is free, and nobody tries until the watch says more",
	 {{409, "{}"}, {200, POD_ON("n1")}, {WAITS, NULL}},
	 "bind a n0; get a; ",
	 POD_WAITING},
	{"not bound: it backs off and is tried again",
	 {{409, "{}"}, {200, POD_FREE_NOW}, {200, "{}"}, {WAITS, NULL}},
	 "bind a n0; get a; status a SchedulerError; bind a n0; ",
	 POD_PLACED},
	{"another pod of that name: the place is free",
	 {{409, "{}"}, {200, OTHER_POD}, {WAITS, NULL}},
	 "bind a n0; get a; ",
	 POD_WAITING},
	{"an answer that is no JSON is not believed: the pod is read, and was not bound",
	 {{200, "<html>"}, {200, POD_FREE_NOW}, {200, "{}"}, {WAITS, NULL}},
	 "bind a n0; get a; status a SchedulerError; bind a n0; ",
	 POD_PLACED},
	{"half an answer is none, but the pod is bound",
	 {{201, "{\"kind\": \"Sta"}, {200, POD_ON("n0")}, {WAITS, NULL}},
	 "bind a n0; get a; ",
	 POD_PLACED},
	{"without an answer the same bind is sent again, and the place is kept",
	 {{0, ""}, {WAITS, NULL}, {201, "{}"}},
	 "bind a n0; bind a n0; ",
	 POD_PLACED},
	{"a bind that was carried out without an answer is seen in the watch, and not sent again",
	 {{0, ""}, {SEEN, NULL}, {WAITS, NULL}},
	 "bind a n0; ",
	 POD_PLACED},
	{"a pod that is gone needs no place", {{404, "{}"}, {WAITS, NULL}}, "bind a n0; ", POD_WAITING},
	{"if the watch does not say so for long, that was not true: it comes back",
	 {{404, "{}"}, {WAITS, NULL}, {WAITS, NULL}, {201, "{}"}},
	 "bind a n0; bind a n0; ",
	 POD_PLACED},
	{"a server that does not know the version is no server that does not know the pod",
	 {{409, "{}"}, {410, "{}"}, {WAITS, NULL}, {200, POD_FREE_NOW}, {200, "{}"}, {WAITS, NULL}},
	 "bind a n0; get a; get a; status a SchedulerError; bind a n0; ",
	 POD_PLACED},
	{"it is deleted while the bind is under way",
	 {{DELETED, NULL}, {404, "{}"}, {WAITS, NULL}},
	 "bind a n0; ",
	 POD_FREE},
	{"a server that fails for long is asked what is so before anything is undone",
	 {{500, "{}"},
	  {WAITS, NULL},
	  {503, "{}"},
	  {WAITS, NULL},
	  {500, "{}"},
	  {WAITS, NULL},
	  {500, "{}"},
	  {WAITS, NULL}},
	 "bind a n0; bind a n0; bind a n0; bind a n0; bind a n0; ",
	 POD_PLACED},
	{"what may not be written is undone and told",
	 {{403, "{}"}, {200, POD_FREE_NOW}},
	 "bind a n0; get a; status a SchedulerError; ",
	 POD_WAITING},
};

static void take_step(struct fake_api *f, const struct step *x)
{
	static const struct fake_pod on_node = {"a", "n0", 2, 0, false, NULL, NULL, NULL},
				     gone = {"a", NULL, 2, 0, false, NULL, NULL, NULL};

	if (x->status == WAITS)
		fake_pass(f, 20);
	else if (x->status == SEEN)
		fake_put(f, &on_node, "MODIFIED");
	else if (x->status == DELETED)
		fake_put(f, &gone, "DELETED");
	else
		fake_answer(f, x->status, x->body);
}

static void CL_1_binds_and_their_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bind_rows) / sizeof(*bind_rows); i++) {
		const struct bind_row *r = &bind_rows[i];
		struct fake_api *f = fake_new(KUBERNETES);

		fake_node(f, "n0", 4);
		fake_put(f, &(struct fake_pod){"a", NULL, 2, 0, false, NULL, NULL, NULL}, "ADDED");
		for (size_t k = 0; k < 8 && (r->steps[k].status || r->steps[k].body); k++)
			take_step(f, &r->steps[k]);
		if (!str_eq(text_str(&f->log), r->log) || fake_state(f, "a") != r->state)
			fail_msg("%s: state %d, log: %s", r->says, fake_state(f, "a"), text_str(&f->log));
		fake_free(f);
	}
}

/* While it is not known what came of a bind, its room is nobody else's. */
static void CL_1_room_is_kept_until_it_is_certain(void **state)
{
	struct fake_api *f = fake_new(KUBERNETES);

	(void)state;
	fake_node(f, "n0", 4);
	fake_put(f, &(struct fake_pod){"a", NULL, 3, 0, false, NULL, NULL, NULL}, "ADDED");
	fake_answer(f, 0, ""); /* no answer to the bind */
	fake_put(f, &(struct fake_pod){"b", NULL, 3, 0, false, NULL, NULL, NULL}, "ADDED");
	assert_string_equal(text_str(&f->log), "bind a n0; status b Unschedulable; ");
	fake_answer(f, 200, "{}");
	fake_pass(f, 2); /* the same bind again */
	fake_answer(f, 409, "{}");
	fake_answer(f, 200, POD_FREE_NOW); /* now it is certain */
	assert_string_equal(text_str(&f->log),
			    "bind a n0; status b Unschedulable; bind a n0; get a; status a SchedulerError; "
			    "bind b n0; ");
	fake_free(f);
}

/* ---- victims ---- */

static struct fake_api *with_victim(const char *settings)
{
	struct fake_api *f = fake_new(settings);

	fake_node(f, "n0", 4);
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 1, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"high", NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	return f;
}

#define VERSIONED(n) "{\"metadata\":{\"uid\":\"uid-low\",\"resourceVersion\":\"" n "\"}}"

static void CL_2_nomination_condition_deletion_in_this_order(void **state)
{
	struct fake_api *f = with_victim(KUBERNETES);

	(void)state;
	assert_string_equal(text_str(&f->log), "status high Unschedulable nominated=n0; ");
	fake_pass(f, 20);
	assert_string_equal(text_str(&f->log), "status high Unschedulable nominated=n0; ");
	fake_answer(f, 200, "{}");
	fake_answer(f, 200, VERSIONED("77"));
	fake_answer(f, 200, "{}");
	fake_pass(f, 20);
	assert_string_equal(text_str(&f->log),
			    "status high Unschedulable nominated=n0; target low True; delete low uid-low 77; ");
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 1, false, NULL, NULL, NULL}, "DELETED");
	assert_non_null(strstr(text_str(&f->log), "delete low uid-low 77; bind high n0; "));
	fake_free(f);
}

static void CL_2_the_preemptor_goes_and_the_victim_stays(void **state)
{
	struct fake_api *f = with_victim(KUBERNETES);

	(void)state;
	fake_answer(f, 200, "{}"); /* nominated; the condition is under way */
	fake_put(f, &(struct fake_pod){"high", NULL, 4, 9, false, NULL, NULL, NULL}, "DELETED");
	fake_answer(f, 200, VERSIONED("77"));
	assert_string_equal(text_str(&f->log),
			    "status high Unschedulable nominated=n0; target low True; target low False; ");
	assert_int_equal(fake_state(f, "low"), POD_PLACED);
	fake_free(f);
}

/* Of one that is gone the watch says so; what is refused although it is there is asked again. */
static void CL_6_refusals_that_are_not_true_hold_nobody_up(void **state)
{
	struct fake_api *f = with_victim(KUBERNETES);

	(void)state;
	fake_answer(f, 409, "{}"); /* the nomination */
	fake_pass(f, 2);
	fake_answer(f, 200, "{}");
	fake_answer(f, 404, "{}"); /* the condition */
	fake_pass(f, 2);
	fake_answer(f, 200, VERSIONED("77"));
	fake_answer(f, 404, "{}"); /* the deletion */
	fake_pass(f, 40);
	assert_string_equal(text_str(&f->log),
			    "status high Unschedulable nominated=n0; status high Unschedulable nominated=n0; "
			    "target low True; target low True; delete low uid-low 77; delete low uid-low 77; ");
	fake_free(f);
}

static void CL_2_a_victim_that_changed_is_looked_at_again(void **state)
{
	struct fake_api *f = with_victim(KUBERNETES);

	(void)state;
	fake_answer(f, 200, "{}");
	fake_answer(f, 200, VERSIONED("77"));
	/* only its status changed: the deletion is sent again, for what it is now */
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 1, false, NULL, NULL, NULL}, "MODIFIED");
	fake_answer(f, 409, "{}");
	assert_non_null(strstr(text_str(&f->log), "delete low uid-low 77; delete low uid-low 104; "));
	/* its priority changed: whether it may go is decided anew, and it may not */
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 20, false, NULL, NULL, NULL}, "MODIFIED");
	fake_answer(f, 409, "{}");
	fake_pass(f, 1);
	assert_int_equal(fake_state(f, "low"), POD_PLACED);
	assert_non_null(strstr(text_str(&f->log), "target low False; "));
	assert_null(strstr(text_str(&f->log), "delete low uid-low 105"));
	while (fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, "{}");
	assert_non_null(strstr(text_str(&f->log), "nominated=null"));
	fake_free(f);
}

static void CL_2_a_budget_holds_up_an_eviction_and_it_is_asked_again(void **state)
{
	struct fake_api *f = with_victim(KUBERNETES "eviction: {through: eviction}\n");

	(void)state;
	fake_answer(f, 200, "{}");
	fake_answer(f, 200, VERSIONED("77"));
	fake_answer(f, 429, "{}");
	fake_pass(f, 20);
	fake_answer(f, 201, "{}");
	fake_pass(f, 20);
	assert_string_equal(text_str(&f->log),
			    "status high Unschedulable nominated=n0; target low True; evict low; evict low; ");
	fake_free(f);
}

static void CL_6_an_answer_that_nobody_sees_come_true_is_asked_again(void **state)
{
	struct fake_api *f = with_victim(KUBERNETES);

	(void)state;
	fake_answer(f, 200, "{}");
	fake_answer(f, 200, VERSIONED("77"));
	fake_answer(f, 200, "{}"); /* a lie: it was not deleted */
	fake_pass(f, 40);
	fake_answer(f, 200, VERSIONED("78"));
	assert_non_null(strstr(text_str(&f->log), "delete low uid-low 77; target low True; delete low uid-low 78; "));
	fake_answer(f, 200, "{}");
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 1, false, NULL, NULL, NULL}, "DELETED");
	fake_answer(f, 201, "{}"); /* and neither was this bound */
	fake_pass(f, 40);
	fake_answer(f, 200, "{\"metadata\":{\"uid\":\"uid-high\"},\"spec\":{}}");
	fake_pass(f, 10);
	while (fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, "{}");
	fake_pass(f, 3);
	assert_non_null(strstr(text_str(&f->log), "get high; "));
	assert_non_null(strstr(strstr(text_str(&f->log), "get high; "), "bind high n0; "));
	fake_free(f);
}

/* ---- the rest ---- */

static void CL_9_a_nomination_that_no_longer_holds_is_taken_away(void **state)
{
	struct fake_api *f = fake_new(KUBERNETES);

	(void)state;
	fake_node(f, "n0", 4);
	fake_put(f, &(struct fake_pod){"full", "n0", 4, 50, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"a", NULL, 4, 9, false, NULL, NULL, "n0"}, "ADDED");
	assert_string_equal(text_str(&f->log), "status a Unschedulable nominated=null; ");
	fake_free(f);
}

static void KF_10_who_sleeps_is_woken_by_what_is_undone(void **state)
{
	struct fake_api *f = fake_new(KUBERNETES);

	(void)state;
	fake_node(f, "n0", 4);
	fake_put(f, &(struct fake_pod){"a", NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"b", NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	fake_answer(f, 404, "{}");
	fake_pass(f, 5);
	assert_string_equal(text_str(&f->log), "bind a n0; status b Unschedulable; bind b n0; ");
	fake_free(f);
}

/* Asked while some of its victims are still there it would only say so, in a status and an event. */
static void KF_10_a_preemptor_is_asked_again_when_its_room_is_there(void **state)
{
	static const struct fake_pod a = {"low-a", "n0", 2, 1, false, NULL, NULL, NULL},
				     b = {"low-b", "n0", 2, 1, false, NULL, NULL, NULL};
	struct fake_api *f = fake_new(KUBERNETES);
	const char *asked;

	(void)state;
	fake_node(f, "n0", 4);
	fake_put(f, &a, "ADDED");
	fake_put(f, &b, "ADDED");
	fake_put(f, &(struct fake_pod){"high", NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	fake_answer(f, 200, "{}");
	while (fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, VERSIONED("77"));
	fake_put(f, &a, "DELETED");
	fake_pass(f, 15);
	asked = strstr(text_str(&f->log), "delete low-b");
	assert_non_null(asked);
	assert_null(strstr(text_str(&f->log), "bind"));
	assert_null(strstr(asked, "status"));
	fake_put(f, &b, "DELETED");
	assert_non_null(strstr(text_str(&f->log), "bind high n0; "));
	assert_null(strstr(asked, "status"));
	fake_free(f);
}

/* An eviction that the journal forgets would be forgotten by thrash and eviction-rate. */
static void CL_2_nobody_is_evicted_before_the_journal_has_it(void **state)
{
	struct fake_api *f = fake_new(KUBERNETES);

	(void)state;
	f->kept = 0;
	fake_node(f, "n0", 4);
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 1, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"high", NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	fake_answer(f, 200, "{}");
	fake_pass(f, 20);
	assert_string_equal(text_str(&f->log), "status high Unschedulable nominated=n0; ");
	scheduler_kept(f->s, f->ticket - 1, &f->now);
	fake_run(f);
	assert_string_equal(text_str(&f->log), "status high Unschedulable nominated=n0; ");
	f->kept = f->ticket;
	scheduler_kept(f->s, f->kept, &f->now);
	fake_run(f);
	assert_string_equal(text_str(&f->log), "status high Unschedulable nominated=n0; target low True; ");
	assert_int_equal(f->n_victims, 1); /* as it was before the decision: a journal counts who was not leaving */
	fake_free(f);
}

static void CL_2_a_victim_that_waits_for_the_journal_stays_if_nobody_needs_it(void **state)
{
	struct fake_api *f = fake_new(KUBERNETES);

	(void)state;
	f->kept = 0;
	fake_node(f, "n0", 4);
	fake_put(f, &(struct fake_pod){"low", "n0", 4, 1, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"high", NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	fake_answer(f, 200, "{}");
	fake_put(f, &(struct fake_pod){"high", NULL, 4, 9, false, NULL, NULL, NULL}, "DELETED");
	assert_int_equal(fake_state(f, "low"), POD_PLACED);
	f->kept = f->ticket;
	scheduler_kept(f->s, f->kept, &f->now);
	fake_run(f);
	assert_string_equal(text_str(&f->log), "status high Unschedulable nominated=n0; ");
	fake_free(f);
}

static void CL_7_what_is_refused_before_it_leads_is_told_when_it_does(void **state)
{
	struct fake_api *f = fake_follow(KUBERNETES);
	struct kube_event e = {.api = "v1",
			       .kind = "ConfigMap",
			       .ns = "d",
			       .name = "cede",
			       .uid = "u",
			       .type = "Warning",
			       .reason = "ConfigurationRefused",
			       .action = "Configuring",
			       .note = "no"};

	(void)state;
	scheduler_event(f->s, &e, &f->now);
	fake_run(f);
	assert_string_equal(text_str(&f->events), "");
	scheduler_lead(f->s, &f->now);
	fake_run(f);
	assert_string_equal(text_str(&f->events), "ConfigurationRefused; ");
	fake_free(f);
}

enum { CROWD = 140 }; /* more than are written at once */

static void CL_2_what_is_outdated_before_its_turn_is_not_written(void **state)
{
	static const struct fake_pod full = {"full", "n0", 4, 50, false, NULL, NULL, NULL};
	struct fake_api *f = fake_new(KUBERNETES);
	char name[16];

	(void)state;
	fake_node(f, "n0", 4);
	fake_put(f, &full, "ADDED");
	for (int i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		fake_put(f, &(struct fake_pod){name, NULL, 4, 9, false, NULL, NULL, NULL}, "ADDED");
	}
	fake_put(f, &(struct fake_pod){"first", NULL, 4, 20, false, NULL, NULL, NULL}, "ADDED");
	fake_pass(f, 15);				 /* nobody backs off any more */
	assert_null(strstr(text_str(&f->log), "first")); /* its turn has not come */
	fake_put(f, &full, "DELETED");
	assert_null(strstr(text_str(&f->log), "first"));
	fake_answer(f, 200, "{}"); /* one place is free, and a bind goes before what waits longer */
	assert_non_null(strstr(text_str(&f->log), "bind first n0; "));
	while (fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, "{}");
	assert_non_null(strstr(text_str(&f->log), "status p139 Unschedulable; "));
	assert_null(strstr(text_str(&f->log), "status first"));
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_1_binds_and_their_answers),
		cmocka_unit_test(CL_1_room_is_kept_until_it_is_certain),
		cmocka_unit_test(CL_2_nomination_condition_deletion_in_this_order),
		cmocka_unit_test(CL_2_the_preemptor_goes_and_the_victim_stays),
		cmocka_unit_test(CL_6_refusals_that_are_not_true_hold_nobody_up),
		cmocka_unit_test(CL_2_a_victim_that_changed_is_looked_at_again),
		cmocka_unit_test(CL_2_a_budget_holds_up_an_eviction_and_it_is_asked_again),
		cmocka_unit_test(CL_6_an_answer_that_nobody_sees_come_true_is_asked_again),
		cmocka_unit_test(CL_9_a_nomination_that_no_longer_holds_is_taken_away),
		cmocka_unit_test(KF_10_who_sleeps_is_woken_by_what_is_undone),
		cmocka_unit_test(KF_10_a_preemptor_is_asked_again_when_its_room_is_there),
		cmocka_unit_test(CL_2_nobody_is_evicted_before_the_journal_has_it),
		cmocka_unit_test(CL_2_a_victim_that_waits_for_the_journal_stays_if_nobody_needs_it),
		cmocka_unit_test(CL_7_what_is_refused_before_it_leads_is_told_when_it_does),
		cmocka_unit_test(CL_2_what_is_outdated_before_its_turn_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
