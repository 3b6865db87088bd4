/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/podreq.h"
#include "rng.h"

/*
 * Pods are written as "init cpu=1; side cpu=2 memory=1Gi; main cpu=3; overhead cpu=1". init, side and main begin a
 * container; limits, allocated, actual and actual-limits belong to the last one; the rest is of the pod. Init
 * containers come first.
 */
struct draft {
	struct arena *arena;
	struct req_pod pod;
	struct req_container containers[8];
};

static struct req_set parse_set(struct arena *a, const char *s, size_t len)
{
	struct req_set set = {.v = arena_n(a, 8, struct req_entry)};
	for (const char *end = s + len; s < end;) {
		size_t word = strcspn(s, " ;"), name = strcspn(s, "=");
		if (word > 0) {
			struct req_entry *entry = &set.v[set.n++];
			entry->name = arena_strndup(a, s, name);
			assert_int_equal(quantity_parse(s + name + 1, word - name - 1, &entry->q, NULL), ERR_OK);
		}
		s += word + 1;
	}
	return set;
}

static struct req_container *last(struct draft *d)
{
	assert_true(d->pod.n > 0);
	return &d->containers[d->pod.n - 1];
}

static void parse_part(struct draft *d, const char *word, struct req_set set)
{
	struct req_pod *p = &d->pod;
	bool is_init = strcmp(word, "init") == 0, is_side = strcmp(word, "side") == 0;
	if (is_init || is_side || strcmp(word, "main") == 0) {
		p->n++;
		*last(d) =
			(struct req_container){.is_init = is_init || is_side, .is_sidecar = is_side, .requests = set};
	} else if (strcmp(word, "limits") == 0) {
		last(d)->limits = set;
	} else if (strcmp(word, "allocated") == 0) {
		last(d)->has_allocated = true;
		last(d)->allocated = set;
	} else if (strcmp(word, "actual") == 0) {
		last(d)->has_actual = true;
		last(d)->actual = set;
	} else if (strcmp(word, "actual-limits") == 0) {
		last(d)->actual_limits = set;
	} else if (strcmp(word, "overhead") == 0) {
		p->overhead = set;
	} else if (strcmp(word, "pod") == 0) {
		p->has_pod_requests = true;
		p->pod_requests = set;
	} else if (strcmp(word, "pod-limits") == 0) {
		p->has_pod_limits = true;
		p->pod_limits = set;
	} else if (strcmp(word, "pod-allocated") == 0) {
		p->has_pod_allocated = true;
		p->pod_allocated = set;
	} else if (strcmp(word, "pod-actual") == 0) {
		p->has_pod_actual = true;
		p->pod_actual = set;
	} else if (strcmp(word, "pod-actual-limits") == 0) {
		p->pod_actual_limits = set;
	} else if (strcmp(word, "infeasible") == 0) {
		p->resize_is_infeasible = true;
	} else {
		fail_msg("what is '%s'?", word);
	}
}

static void parse_pod(struct draft *d, const char *s)
{
	d->pod = (struct req_pod){.containers = d->containers};
	while (*s != '\0') {
		size_t n = strcspn(s, ";"), word = strcspn(s, " ;");
		parse_part(d, arena_strndup(d->arena, s, word), parse_set(d->arena, s + word, n - word));
		s += n;
		s += strspn(s, "; ");
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct req_entry *)a)->name, ((const struct req_entry *)b)->name);
}

static const char *set_text(struct arena *a, struct req_set set)
{
	struct text t = {0};
	if (set.n > 0)
		qsort(set.v, set.n, sizeof(*set.v), by_name);
	for (uint32_t i = 0; i < set.n; i++) {
		text_printf(&t, "%s%s=", i > 0 ? " " : "", set.v[i].name);
		quantity_text(&set.v[i].q, &t);
	}
	char *s = arena_strndup(a, text_str(&t), t.n);
	text_free(&t);
	return s;
}

#define STATUS                     \
	{                          \
		.use_status = true \
	}
#define POD_STATUS                                         \
	{                                                  \
		.use_status = true, .use_pod_status = true \
	}
#define NONZERO                         \
	{                               \
		.nonzero_default = true \
	}

static const struct row {
	const char *why, *pod;
	struct req_options options;
	const char *requests, *limits;
} rows[] = {
	{"containers run together", "main cpu=1 memory=1Gi; main cpu=500m", {0}, "cpu=1500m memory=1Gi", ""},
	{"init containers run one after the other", "init cpu=3; init cpu=4; main cpu=1", {0}, "cpu=4", ""},
	{"init containers and the rest are compared type by type",
	 "init cpu=3; main cpu=1 memory=5",
	 {0},
	 "cpu=3 memory=5",
	 ""},
	{"a sidecar goes on running", "side cpu=2; main cpu=1", {0}, "cpu=3", ""},
	{"an init container runs beside the sidecars before it",
	 "side cpu=2; init cpu=4; main cpu=1",
	 {0},
	 "cpu=6",
	 ""},
	{"and not beside those after it", "init cpu=4; side cpu=2; main cpu=1", {0}, "cpu=4", ""},
	{"sidecars add up", "side cpu=2; side cpu=3; init cpu=1; main cpu=1", {0}, "cpu=6", ""},
	{"limits follow the same rule", "side; limits cpu=2; init; limits cpu=4; main; limits cpu=1", {0}, "", "cpu=6"},
	{"overhead comes on top",
	 "main cpu=1; limits cpu=2; overhead cpu=250m memory=10",
	 {0},
	 "cpu=1250m memory=10",
	 "cpu=2250m"},
	{"a limit of zero gets no overhead", "main; limits cpu=0; overhead cpu=1", {0}, "cpu=1", "cpu=0"},
	{"unless it is left out", "main cpu=1; overhead cpu=250m", {.without_overhead = true}, "cpu=1", ""},
	{"nothing asked, nothing needed", "main", {0}, "", ""},
	{"zero that was asked for is there", "main cpu=0", {0}, "cpu=0", ""},
	{"exact, not rounded", "main cpu=1n; main cpu=1n", {0}, "cpu=2n", ""},

	{"a request of the pod takes the place of its containers'",
	 "main cpu=1 memory=1; pod cpu=4",
	 {0},
	 "cpu=4 memory=1",
	 ""},
	{"even a smaller one", "main cpu=4; pod cpu=1", {0}, "cpu=1", ""},
	{"huge pages too", "main hugepages-2Mi=2Mi; pod hugepages-2Mi=4Mi cpu=1", {0}, "cpu=1 hugepages-2Mi=4Mi", ""},
	{"other types not", "main example.com/x=2; pod example.com/x=1 cpu=1", {0}, "cpu=1 example.com/x=2", ""},
	{"unless it is left out", "main cpu=1; pod cpu=4; pod-limits cpu=5", {.without_pod_level = true}, "cpu=1", ""},
	{"limits of the pod",
	 "main; limits cpu=1; pod cpu=1; pod-limits cpu=5 memory=6",
	 {0},
	 "cpu=1",
	 "cpu=5 memory=6"},
	{"overhead comes on top of the pod's request", "main; pod cpu=4; overhead cpu=1", {0}, "cpu=5", ""},

	{"while it waits only the spec counts", "main cpu=1; allocated cpu=2; actual cpu=3", {0}, "cpu=1", ""},
	{"where it runs the largest counts", "main cpu=1 memory=9; allocated cpu=2 memory=5; actual cpu=3 memory=1",
	 STATUS, "cpu=3 memory=9", ""},
	{"sums are compared, not containers", "main cpu=1; allocated cpu=2; main cpu=2; allocated cpu=1", STATUS,
	 "cpu=3", ""},
	{"a container without status counts as specified", "main cpu=1; allocated cpu=2; main cpu=3", STATUS, "cpu=5",
	 ""},
	{"what is not actual yet counts as allocated",
	 "main cpu=1; allocated cpu=4; main cpu=1; allocated cpu=1; actual cpu=3", STATUS, "cpu=7", ""},
	{"a resize that cannot be does not count", "main cpu=8; allocated cpu=2; actual cpu=1; infeasible", STATUS,
	 "cpu=2", ""},
	{"nor does its spec stand in for a status", "main cpu=8; actual cpu=1; infeasible", STATUS, "cpu=1", ""},
	{"while it waits it counts all the same", "main cpu=8; allocated cpu=2; infeasible", {0}, "cpu=8", ""},
	{"sidecars have a status too", "side cpu=1; allocated cpu=3; main cpu=1", STATUS, "cpu=4", ""},
	{"limits: the larger of spec and actual", "main; limits cpu=1 memory=2; actual-limits cpu=2 memory=1", STATUS,
	 "", "cpu=2 memory=2"},
	{"limits of a resize that cannot be", "main; limits cpu=9; actual-limits cpu=2; infeasible", STATUS, "",
	 "cpu=2"},

	{"the pod's status stands for its containers'", "main cpu=1; pod-allocated cpu=5; pod-actual cpu=4", POD_STATUS,
	 "cpu=5", ""},
	{"only if asked for", "main cpu=1; pod-allocated cpu=5; pod-actual cpu=4", STATUS, "cpu=1", ""},
	{"only if there are both", "main cpu=1; allocated cpu=2; pod-allocated cpu=5", POD_STATUS, "cpu=2", ""},
	{"a pod's request being resized", "main; pod cpu=2; pod-allocated cpu=5; pod-actual cpu=3; overhead cpu=1",
	 POD_STATUS, "cpu=5", ""},
	{"to something that cannot be", "main; pod cpu=9; pod-allocated cpu=5; pod-actual cpu=3; infeasible",
	 POD_STATUS, "cpu=5", ""},
	{"a pod's limit being resized", "main; pod cpu=1; pod-limits cpu=2; pod-actual-limits cpu=4", POD_STATUS,
	 "cpu=1", "cpu=4"},

	{"who does not ask is scored as asking a little", "main", NONZERO, "cpu=100m memory=200Mi", ""},
	{"each container by itself", "main cpu=1; main", NONZERO, "cpu=1100m memory=400Mi", ""},
	{"zero is an answer", "main cpu=0 memory=0", NONZERO, "cpu=0 memory=0", ""},
	{"init containers too", "init; main cpu=10m memory=1Gi", NONZERO, "cpu=100m memory=1Gi", ""},
	{"overhead is on top", "main; overhead cpu=1", NONZERO, "cpu=1100m memory=200Mi", ""},
	{"with a pod's request only what the pod leaves out", "main; main memory=1; pod cpu=2", NONZERO,
	 "cpu=2 memory=1", ""},
	{"which is then counted for each container", "main; main; pod cpu=2", NONZERO, "cpu=2 memory=400Mi", ""},
	{"limits know no such thing", "main; limits cpu=1", NONZERO, "cpu=100m memory=200Mi", "cpu=1"},
};

static void what_a_pod_asks_for(void **state)
{
	struct draft d = {.arena = arena_new(4096)};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		parse_pod(&d, r->pod);
		const char *requests = set_text(d.arena, pod_requests(d.arena, &d.pod, &r->options));
		const char *limits = set_text(d.arena, pod_limits(d.arena, &d.pod, &r->options));
		if (strcmp(requests, r->requests) != 0 || strcmp(limits, r->limits) != 0)
			fail_msg("%s: asks '%s', limits '%s'", r->why, requests, limits);
		arena_reset(d.arena);
	}
	arena_free(d.arena);
}

static void containers_alone_know_no_pod(void **state)
{
	struct draft d = {.arena = arena_new(4096)};
	const struct req_options none = {0};
	parse_pod(&d, "main cpu=1; limits cpu=2; pod cpu=4; pod-limits cpu=5; overhead cpu=1");
	assert_string_equal(set_text(d.arena, container_requests(d.arena, &d.pod, &none)), "cpu=1");
	assert_string_equal(set_text(d.arena, container_limits(d.arena, &d.pod, &none)), "cpu=2");
	assert_null(req_get(&d.pod.overhead, "memory"));
	arena_free(d.arena);
}

/* Start the containers as a node would and remember the highest use. */
static int64_t highest_use(const struct req_pod *p)
{
	int64_t running = 0, highest = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct req_container *c = &p->containers[i];
		int64_t need = c->requests.n > 0 ? quantity_value(&c->requests.v[0].q) : 0;
		if (running + need > highest)
			highest = running + need;
		if (!c->is_init || c->is_sidecar)
			running += need;
	}
	return highest;
}

static void requests_are_the_highest_use_of_a_start(void **state)
{
	struct rng rng = {9};
	struct draft d = {.arena = arena_new(4096)};
	const struct req_options none = {0};
	for (int round = 0; round < 20000; round++) {
		struct req_entry entries[8];
		d.pod = (struct req_pod){.n = rng_below(&rng, 9), .containers = d.containers};
		uint32_t n_init = rng_below(&rng, d.pod.n + 1);
		for (uint32_t i = 0; i < d.pod.n; i++) {
			bool is_init = i<n_init, asks = rng_below(&rng, 5)> 0;
			entries[i] =
				(struct req_entry){"cpu", {.nano = (quantity_nano)rng_below(&rng, 20) * 1000000000}};
			d.containers[i] = (struct req_container){.is_init = is_init,
								 .is_sidecar = is_init && rng_below(&rng, 2) == 0,
								 .requests = {asks, &entries[i]}};
		}
		struct req_set got = pod_requests(d.arena, &d.pod, &none);
		const struct quantity *q = req_get(&got, "cpu");
		assert_int_equal(q != NULL ? quantity_value(q) : 0, highest_use(&d.pod));
		arena_reset(d.arena);
	}
	arena_free(d.arena);
}

/* Sets have room for the names that differ in them, not for every name of every container. */
static void memory_grows_with_containers_and_no_faster(void **state)
{
	enum { N = 20000 };
	const struct req_options with_defaults = {.nonzero_default = true};
	struct req_entry entry = {"cpu", {.nano = 1000000}};
	struct req_container *containers = calloc(N, sizeof(*containers));
	struct req_pod pod = {.n = N, .containers = containers};
	struct arena *a = arena_new(4096);
	(void)state;
	for (uint32_t i = 0; i < N; i++)
		containers[i] = (struct req_container){
			.is_init = i < N / 2, .is_sidecar = i < N / 4, .requests = {1, &entry}, .limits = {1, &entry}};
	struct req_set got = pod_requests(a, &pod, &with_defaults);
	assert_int_equal(quantity_milli(req_get(&got, "cpu")), N / 4 + N / 2);
	assert_true(arena_bytes(a) < (size_t)N * 1024);
	arena_free(a);
	free(containers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_pod_asks_for),
		cmocka_unit_test(containers_alone_know_no_pod),
		cmocka_unit_test(requests_are_the_highest_use_of_a_start),
		cmocka_unit_test(memory_grows_with_containers_and_no_faster),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
