/* SPDX-License-Identifier: Apache-2.0 */
/* CL_8 gangs are bound as one, VO_3 volumes before their pods, CL_5 times of groups, MR_8 starts written back. */
#include "run/fake_api.h"

#define DEFAULT_PROFILE "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: default\n"
#define GANG "\"cede.dev/gang\":\"g\",\"cede.dev/min-member\":\"2\""
#define UNBOUND(name) "{\"metadata\":{\"uid\":\"uid-" name "\"},\"spec\":{}}"

static void put_member(struct fake_api *f, const char *name, const char *node, const char *type)
{
	fake_put(f, &(struct fake_pod){name, node, 2, 0, false, NULL, GANG, NULL}, type);
}

static struct fake_api *with_gang(void)
{
	struct fake_api *f = fake_new(DEFAULT_PROFILE);

	fake_node(f, "n0", 4);
	put_member(f, "a", NULL, "ADDED");
	assert_null(strstr(text_str(&f->log), "bind"));
	put_member(f, "b", NULL, "ADDED");
	while (!strstr(text_str(&f->log), "bind") && fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, "{}");
	text_reset(&f->log);
	return f;
}

/* The open request whose path has this in it. */
static uint32_t open_with(struct fake_api *f, const char *part)
{
	for (uint32_t i = 0; i < f->asked.n; i++)
		if (f->asked.v[i].is_open && !f->asked.v[i].is_watch && strstr(f->asked.v[i].path, part))
			return i;
	fail_msg("%s was not asked", part);
	return UINT32_MAX;
}

static void answer_to(struct fake_api *f, const char *part, int status, const char *body)
{
	fake_give(f, open_with(f, part), status, body, false);
	fake_run(f);
}

static void CL_8_a_gang_is_sent_as_one_and_completed_after_a_failure(void **state)
{
	struct fake_api *f = with_gang();

	(void)state;
	open_with(f, "pods/a/binding"); /* both are under way */
	answer_to(f, "pods/b/binding", 409, "{}");
	answer_to(f, "pods/a/binding", 201, "{}");
	put_member(f, "a", "n0", "MODIFIED");
	answer_to(f, "pods/b", 200, UNBOUND("b"));
	fake_pass(f, 3);
	answer_to(f, "pods/b/binding", 201, "{}");
	put_member(f, "b", "n0", "MODIFIED");
	fake_pass(f, 100);
	assert_null(strstr(text_str(&f->log), "delete"));
	assert_int_equal(fake_state(f, "a"), POD_PLACED);
	fake_free(f);
}

static void CL_8_a_gang_that_cannot_be_completed_is_undone(void **state)
{
	struct fake_api *f = with_gang();

	(void)state;
	answer_to(f, "pods/a/binding", 201, "{}");
	put_member(f, "a", "n0", "MODIFIED");
	fake_put(f, &(struct fake_pod){"b", NULL, 2, 0, false, NULL, GANG, NULL}, "DELETED");
	answer_to(f, "pods/b/binding", 404, "{}");
	fake_pass(f, 30);
	assert_null(strstr(text_str(&f->log), "target a"));
	fake_pass(f, 40); /* a minute in all */
	assert_non_null(strstr(text_str(&f->log), "target a True; "));
	fake_free(f);
}

static void CL_8_a_gang_that_is_gone_holds_up_nobody(void **state)
{
	struct fake_api *f = with_gang();

	(void)state;
	answer_to(f, "pods/a/binding", 201, "{}");
	put_member(f, "a", "n0", "MODIFIED");
	answer_to(f, "pods/b/binding", 201, "{}");
	put_member(f, "b", "n0", "MODIFIED");
	fake_put(f, &(struct fake_pod){"c", NULL, 1, 0, false, NULL, NULL, NULL}, "ADDED");
	put_member(f, "a", "n0", "DELETED");
	put_member(f, "b", "n0", "DELETED");
	assert_non_null(strstr(text_str(&f->log), "bind c n0; "));
	fake_free(f);
}

/* ---- volumes ---- */

static const char class_json[] =
	"{\"apiVersion\":\"storage.k8s.io/"
	"v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"late\",\"uid\":\"u-late\","
	"\"resourceVersion\":\"50\"},\"provisioner\":\"made.test\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}";

static void put_claim(struct fake_api *f, const char *node, const char *volume, const char *type)
{
	struct text t = {0};

	text_printf(&t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"data\","
		    "\"namespace\":\"d\","
		    "\"uid\":\"u-data\",\"resourceVersion\":\"%u\",\"annotations\":{%s%s%s%s}},\"spec\":{"
		    "\"storageClassName\":\"late\","
		    "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}%s%s%s},"
		    "\"status\":{\"phase\":\"%s\"}}",
		    ++f->version + 100, node ? "\"volume.kubernetes.io/selected-node\":\"" : "", node ? node : "",
		    node ? "\"" : "", volume ? ",\"pv.kubernetes.io/bind-completed\":\"yes\"" : "",
		    volume ? ",\"volumeName\":\"" : "", volume ? volume : "", volume ? "\"" : "",
		    volume ? "Bound" : "Pending");
	fake_watch(f, "/persistentvolumeclaims?", type, text_str(&t));
	text_free(&t);
	fake_run(f);
}

static struct fake_api *with_claim(void)
{
	struct fake_api *f = fake_new(DEFAULT_PROFILE);
	struct text t = {0};

	fake_node(f, "n0", 4);
	fake_watch(f, "/storageclasses?", "ADDED", class_json);
	put_claim(f, NULL, NULL, "ADDED");
	text_printf(&t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"uid\":"
		    "\"uid-a\","
		    "\"resourceVersion\":\"%u\"},\"spec\":{\"schedulerName\":\"cede\",\"containers\":[{\"name\":\"c\","
		    "\"resources\":"
		    "{\"requests\":{\"cpu\":\"1\"}}}],\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{"
		    "\"claimName\":\"data\"}}]},"
		    "\"status\":{\"phase\":\"Pending\"}}",
		    ++f->version + 100);
	fake_watch(f, "/pods?", "ADDED", text_str(&t));
	text_free(&t);
	fake_run(f);
	return f;
}

static void VO_3_a_claim_gets_its_node_and_the_bind_waits_for_it(void **state)
{
	struct fake_api *f = with_claim();
	uint32_t i;

	(void)state;
	i = open_with(f, "persistentvolumeclaims/data");
	assert_non_null(strstr(f->asked.v[i].body, "\"volume.kubernetes.io/selected-node\":\"n0\""));
	assert_null(strstr(text_str(&f->log), "bind a"));
	answer_to(f, "persistentvolumeclaims/data", 200, "{}");
	put_claim(f, "n0", NULL, "MODIFIED");
	fake_pass(f, 30);
	assert_null(strstr(text_str(&f->log), "bind a"));
	put_claim(f, "n0", "pv-1", "MODIFIED");
	assert_non_null(strstr(text_str(&f->log), "bind a n0; "));
	fake_free(f);
}

static void VO_3_the_provisioner_gives_up_and_the_pod_is_tried_again(void **state)
{
	struct fake_api *f = with_claim();

	(void)state;
	answer_to(f, "persistentvolumeclaims/data", 200, "{}");
	put_claim(f, "n0", NULL, "MODIFIED");
	put_claim(f, NULL, NULL, "MODIFIED"); /* the annotation is gone */
	assert_int_equal(fake_state(f, "a"), POD_WAITING);
	fake_pass(f, 5);
	open_with(f, "persistentvolumeclaims/data"); /* once more */
	fake_free(f);
}

static void VO_3_a_claim_that_is_never_bound_is_given_up_and_freed(void **state)
{
	struct fake_api *f = with_claim();
	uint32_t i;

	(void)state;
	answer_to(f, "persistentvolumeclaims/data", 200, "{}");
	put_claim(f, "n0", NULL, "MODIFIED");
	fake_pass(f, 601);
	i = open_with(f, "persistentvolumeclaims/data");
	assert_non_null(strstr(f->asked.v[i].body, "\"volume.kubernetes.io/selected-node\":null"));
	fake_free(f);
}

/* ---- groups ---- */

static void put_group_of(struct fake_api *f, const char *uid, const char *annotations, const char *type)
{
	struct text t = {0};

	text_printf(&t,
		    "{\"apiVersion\":\"scheduling.run.ai/"
		    "v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"train\",\"namespace\":\"d\","
		    "\"uid\":\"%s\",\"resourceVersion\":\"%u\",\"annotations\":{%s}},\"spec\":{\"minMember\":2,"
		    "\"queue\":\"q\"}}",
		    uid, ++f->version + 100, annotations);
	fake_watch(f, "scheduling.run.ai/v2alpha2/podgroups?", type, text_str(&t));
	text_free(&t);
	fake_run(f);
}

static void put_group(struct fake_api *f, const char *annotations, const char *type)
{
	put_group_of(f, "u-train", annotations, type);
}

static struct fake_api *with_group_under(const char *settings)
{
	static const char queue[] =
		"{\"apiVersion\":\"scheduling.run.ai/"
		"v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"q\",\"uid\":\"u-q\","
		"\"resourceVersion\":\"60\"},\"spec\":{\"resources\":{\"cpu\":{\"quota\":-1,\"limit\":-1}}}}";
	struct fake_api *f = fake_new(settings);

	fake_node(f, "n0", 8);
	fake_watch(f, "scheduling.run.ai/v2/queues?", "ADDED", queue);
	put_group(f, "", "ADDED");
	return f;
}

static struct fake_api *with_group(void)
{
	return with_group_under(DEFAULT_PROFILE);
}

#define MEMBER "\"pod-group-name\":\"train\""

static void MR_8_PP_6_start_and_preemptibility_of_a_group_are_written_back(void **state)
{
	struct fake_api *f = with_group();
	uint32_t i;

	(void)state;
	fake_put(f, &(struct fake_pod){"t-0", NULL, 1, 0, false, NULL, MEMBER, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"t-1", NULL, 1, 0, false, NULL, MEMBER, NULL}, "ADDED");
	assert_non_null(strstr(text_str(&f->log), "bind t-0 n0; "));
	i = open_with(f, "podgroups/train/status");
	assert_non_null(strstr(f->asked.v[i].body, "\"preemptibility\": \"preemptible\""));
	fake_give(f, i, 200, "{}", false);
	i = open_with(f, "podgroups/train");
	assert_non_null(strstr(f->asked.v[i].body, "\"kai.scheduler/last-start-timestamp\":\"2026-11-15T12:00:0"));
	fake_give(f, i, 200, "{}", false);
	for (i = 0; i < f->asked.n; i++) /* once */
		assert_false(f->asked.v[i].is_open && strstr(f->asked.v[i].path, "podgroups/train"));
	fake_free(f);
}

static void CL_5_what_is_left_of_a_stale_gang_goes_when_its_grace_ends(void **state)
{
	struct fake_api *f = with_group();
	uint32_t i;

	(void)state;
	fake_put(f, &(struct fake_pod){"t-0", "n0", 1, 0, false, NULL, MEMBER, NULL}, "ADDED");
	i = open_with(f, "podgroups/train");
	assert_non_null(strstr(f->asked.v[i].body, "kai.scheduler/stale-podgroup-timestamp"));
	fake_give(f, i, 200, "{}", false);
	put_group(f, "\"kai.scheduler/stale-podgroup-timestamp\":\"2026-11-15T12:00:00Z\"", "MODIFIED");
	fake_pass(f, 30);
	assert_null(strstr(text_str(&f->log), "target"));
	fake_pass(f, 40);
	assert_non_null(strstr(text_str(&f->log), "target t-0 True; "));
	fake_free(f);
}

static uint32_t n_asked(const struct fake_api *f, const char *path, const char *body)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->asked.n; i++)
		n += strstr(f->asked.v[i].path, path) && f->asked.v[i].body && strstr(f->asked.v[i].body, body);
	return n;
}

static void answer_all(struct fake_api *f)
{
	while (fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"77\"}}");
}

static void bind_members(struct fake_api *f, const char *type)
{
	fake_put(f, &(struct fake_pod){"t-0", NULL, 4, 0, false, NULL, MEMBER, NULL}, type);
	fake_put(f, &(struct fake_pod){"t-1", NULL, 4, 0, false, NULL, MEMBER, NULL}, type);
	answer_all(f);
}

/* The one made in its place has its number, and is another. */
static void MR_8_PP_6_a_group_made_anew_is_written_to_like_the_one_before(void **state)
{
	struct fake_api *f = with_group();

	(void)state;
	bind_members(f, "ADDED");
	bind_members(f, "DELETED");
	put_group(f, "", "DELETED");
	put_group_of(f, "u-again", "", "ADDED");
	bind_members(f, "ADDED");
	assert_int_equal(n_asked(f, "podgroups/train/status", "preemptib"), 2);
	assert_int_equal(n_asked(f, "podgroups/train", "last-start"), 2);
	fake_free(f);
}

static void CL_5_a_stale_group_made_anew_is_noted_like_the_one_before(void **state)
{
	struct fake_api *f = with_group();

	(void)state;
	fake_put(f, &(struct fake_pod){"t-0", "n0", 1, 0, false, NULL, MEMBER, NULL}, "ADDED");
	answer_all(f);
	put_group(f, "", "DELETED");
	put_group_of(f, "u-again", "", "ADDED");
	answer_all(f);
	assert_int_equal(n_asked(f, "podgroups/train", "stale-podgroup"), 2);
	fake_free(f);
}

/* by_engine: the engine's own start is overwritten. Who watches the group hears of it each minute. */
static void expect_two_minutes(bool by_engine)
{
	static const char future[] = "\"kai.scheduler/last-start-timestamp\":\"2999-01-01T00:00:00Z\"";
	struct fake_api *f = with_group_under(
		DEFAULT_PROFILE "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kai-scheduler-default, "
				"namespace: kai-scheduler}\ndata:\n  config.yaml: |\n    tiers: [{plugins: [{name: "
				"minruntime, arguments: {defaultPreemptMinRuntime: 110s}}]}]\n");

	put_group(f, by_engine ? "" : future, "MODIFIED");
	if (by_engine)
		bind_members(f, "ADDED");
	for (int i = 0; i < 2; i++)
		fake_put(f, &(struct fake_pod){i ? "t-1" : "t-0", "n0", 4, 0, false, NULL, MEMBER, NULL},
			 by_engine ? "MODIFIED" : "ADDED");
	fake_put(f, &(struct fake_pod){"waits", NULL, 4, 90, false, "\"kai.scheduler/queue\":\"q\"", NULL, NULL},
		 "ADDED");
	for (int i = 0; i < 2; i++) {
		answer_all(f);
		assert_null(strstr(text_str(&f->log), "delete"));
		fake_pass(f, 60);
		put_group(f, future, "MODIFIED");
	}
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "delete t-"));
	fake_free(f);
}

static void MR_8_a_start_in_the_future_is_the_time_at_which_it_was_first_heard_of(void **state)
{
	(void)state;
	expect_two_minutes(false);
	expect_two_minutes(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_8_a_gang_is_sent_as_one_and_completed_after_a_failure),
		cmocka_unit_test(CL_8_a_gang_that_cannot_be_completed_is_undone),
		cmocka_unit_test(CL_8_a_gang_that_is_gone_holds_up_nobody),
		cmocka_unit_test(VO_3_a_claim_gets_its_node_and_the_bind_waits_for_it),
		cmocka_unit_test(VO_3_the_provisioner_gives_up_and_the_pod_is_tried_again),
		cmocka_unit_test(VO_3_a_claim_that_is_never_bound_is_given_up_and_freed),
		cmocka_unit_test(MR_8_PP_6_start_and_preemptibility_of_a_group_are_written_back),
		cmocka_unit_test(CL_5_what_is_left_of_a_stale_gang_goes_when_its_grace_ends),
		cmocka_unit_test(MR_8_PP_6_a_group_made_anew_is_written_to_like_the_one_before),
		cmocka_unit_test(CL_5_a_stale_group_made_anew_is_noted_like_the_one_before),
		cmocka_unit_test(MR_8_a_start_in_the_future_is_the_time_at_which_it_was_first_heard_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
