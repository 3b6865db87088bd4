/* SPDX-License-Identifier: Apache-2.0 */
/* A PodGroup in both of KAI's API groups: one counts, always the same; the other is named, and takes its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kube/feed.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { RUN_AI, NVIDIA, APIS };
static const char *const apis[APIS] = {"/scheduling.run.ai/", "/scheduling.kai.nvidia.com/"};

struct lab {
	struct vocab *vocab;
	struct cluster *cluster;
	struct kube_feed *feed;
	uint64_t last_id, asked[APIS]; /* the latest request for PodGroups of each */
	bool is_list[APIS];
	struct text refused;
};

static uint64_t on_send(void *ctx, const struct kube_request *q)
{
	struct lab *lab = ctx;

	lab->last_id++;
	for (int i = 0; i < APIS; i++) {
		if (!strstr(q->path, apis[i]) || !strstr(q->path, "/podgroups"))
			continue;
		lab->asked[i] = lab->last_id;
		lab->is_list[i] = !q->is_stream;
	}
	return lab->last_id;
}

static void on_cancel(void *ctx, uint64_t request)
{
	(void)ctx;
	(void)request;
}

static void on_refused(void *ctx, const struct kube_object *o, const char *words)
{
	struct lab *lab = ctx;

	text_printf(&lab->refused, "%s %s/%s: %s\n", o->kind->group, o->ns, o->name, words);
}

static struct lab *lab_new(void)
{
	struct lab *lab = mem_alloc(sizeof(*lab));
	struct cluster_options co = cluster_options_default();
	struct kube_feed_options fo = {.ns = "", .reflector = reflector_options_default()};
	struct kube_transport t = {on_send, on_cancel, lab};
	struct feed_listener listener = {.ctx = lab, .refused = on_refused};

	fo.reflector.may_stream = false;
	lab->vocab = vocab_new();
	lab->cluster = cluster_new(lab->vocab, &co);
	lab->feed = kube_feed_new(lab->cluster, lab->vocab, &fo, &t, &listener, 1);
	kube_feed_start(lab->feed, 0);
	return lab;
}

static void lab_free(struct lab *lab)
{
	kube_feed_free(lab->feed);
	cluster_free(lab->cluster);
	vocab_free(lab->vocab);
	text_free(&lab->refused);
	mem_free(lab);
}

/* The server's list: group ml/g with this minMember, or none (0). */
static void answer_list(struct lab *lab, int api, int min)
{
	struct kube_news n = {.request = lab->asked[api], .is_done = true, .result = KUBE_OK, .status = 200};

	assert_true(lab->is_list[api]);
	text_add(&n.body, "{\"kind\":\"PodGroupList\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[");
	if (min)
		text_printf(&n.body,
			    "{\"metadata\":{\"name\":\"g\",\"namespace\":\"ml\",\"uid\":\"u%d\",\"resourceVersion\":"
			    "\"%d\"},\"spec\":{\"minMember\":%d}}",
			    api, min, min);
	text_add(&n.body, "]}");
	assert_true(kube_feed_take(lab->feed, &n, 0));
	text_free(&n.body);
}

/* It is gone, as a watch tells it. */
static void answer_gone(struct lab *lab, int api)
{
	struct kube_news n = {.request = lab->asked[api]};

	assert_false(lab->is_list[api]);
	text_printf(&n.body,
		    "{\"type\":\"DELETED\",\"object\":{\"kind\":\"PodGroup\",\"apiVersion\":\"v2alpha2\",\"metadata\":{"
		    "\"name\":\"g\",\"namespace\":\"ml\",\"uid\":\"u%d\",\"resourceVersion\":\"9\"}}}\n",
		    api);
	assert_true(kube_feed_take(lab->feed, &n, 0));
	text_free(&n.body);
	if (kube_feed_next_ns(lab->feed) <= 0)
		kube_feed_tick(lab->feed, 0);
}

/* minMember of the group that is decided on; 0: there is none. */
static int min_of(const struct lab *lab)
{
	const struct names *names = vocab_names(lab->vocab);
	name_id ns = names_find(names, "ml", 2), name = names_find(names, "g", 1);
	group_id id = ns && name ? ledger_group_find(cluster_ledger(lab->cluster), ns, name, false) : GROUP_NONE;

	return id == GROUP_NONE ? 0 : ledger_group(cluster_ledger(lab->cluster), id)->obj->min_member;
}

static const char told[] =
	"scheduling.kai.nvidia.com ml/g: scheduling.run.ai has a PodGroup of this name, which counts, "
	"and not that of scheduling.kai.nvidia.com\n";

static void scheduling_run_ai_counts_in_any_order(void **state)
{
	(void)state;
	for (int first = 0; first < APIS; first++) {
		struct lab *lab = lab_new();

		answer_list(lab, first, 2 + first);
		assert_int_equal(min_of(lab), 2 + first);
		assert_string_equal(text_str(&lab->refused), "");
		answer_list(lab, 1 - first, 3 - first);
		assert_int_equal(min_of(lab), 2);
		assert_string_equal(text_str(&lab->refused), told);
		lab_free(lab);
	}
}

static void the_other_one_may_go(void **state)
{
	struct lab *lab = lab_new();

	(void)state;
	answer_list(lab, RUN_AI, 2);
	answer_list(lab, NVIDIA, 3);
	answer_gone(lab, NVIDIA);
	assert_int_equal(min_of(lab), 2);
	assert_false(lab->is_list[NVIDIA]);
	lab_free(lab);
}

static void the_other_one_counts_when_it_is_alone(void **state)
{
	(void)state;
	for (int first = 0; first < APIS; first++) {
		struct lab *lab = lab_new();

		answer_list(lab, first, 2 + first);
		answer_list(lab, 1 - first, 3 - first);
		answer_gone(lab, RUN_AI);
		assert_int_equal(min_of(lab), 0);
		answer_list(lab, NVIDIA, 3);
		assert_int_equal(min_of(lab), 3);
		answer_gone(lab, NVIDIA);
		assert_int_equal(min_of(lab), 0);
		lab_free(lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scheduling_run_ai_counts_in_any_order),
		cmocka_unit_test(the_other_one_may_go),
		cmocka_unit_test(the_other_one_counts_when_it_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
