/* SPDX-License-Identifier: Apache-2.0 */
/* CL_6: whatever lists and watches bring, the sink hears of every object once, in order, and of every deletion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kube/reflector.h"

#define S NS_PER_S

static const struct kube_kind pods = {"Pod", "", {"v1"}, "pods", true};
static const struct kube_kind groups = {"PodGroup", "scheduling.k8s.io", {"v1beta1", "v1alpha2"}, "podgroups", false};

/* ---- a transport and a sink that write down what happens ---- */

struct lab {
	struct text log; /* what was asked and told, a word each */
	uint64_t last_id;
	struct names *names;
	struct reflector *r;
	int64_t now_ns;
};

static uint64_t on_send(void *ctx, const struct kube_request *q)
{
	struct lab *lab = ctx;
	const char *what = strstr(q->path, "sendInitialEvents") ? "stream" : q->is_stream ? "watch" : "list";
	const char *from = strstr(q->path, "resourceVersion="), *next = strstr(q->path, "continue=");

	text_printf(&lab->log, "<%s", what);
	if (strstr(q->path, "v1alpha2"))
		text_add(&lab->log, " v1alpha2");
	if (from)
		text_printf(&lab->log, " %s", from + 16);
	if (next)
		text_printf(&lab->log, " %s", next + 9);
	text_add(&lab->log, "> ");
	return ++lab->last_id;
}

static void on_cancel(void *ctx, uint64_t request)
{
	struct lab *lab = ctx;

	text_add(&lab->log, "cancel ");
}

static void on_put(void *ctx, const struct kube_object *o)
{
	struct lab *lab = ctx;

	assert_non_null(tree_get(o->tree, "kind"));
	text_printf(&lab->log, "+%s%s%s:%s ", o->ns, *o->ns ? "/" : "", o->name, o->version);
}

static void on_drop(void *ctx, const struct kube_object *o)
{
	struct lab *lab = ctx;

	text_printf(&lab->log, "-%s%s%s:%s ", o->ns, *o->ns ? "/" : "", o->name, o->uid);
}

static void on_synced(void *ctx, const struct kube_kind *k)
{
	struct lab *lab = ctx;

	text_add(&lab->log, "synced ");
}

static void on_trouble(void *ctx, const struct kube_kind *k, const char *words)
{
	struct lab *lab = ctx;

	assert_true(*words);
	text_add(&lab->log, "trouble ");
}

static struct lab *lab_new(const struct kube_kind *kind, bool may_stream)
{
	struct lab *lab = mem_alloc(sizeof(*lab));
	struct reflector_options o = reflector_options_default();
	struct kube_transport t = {on_send, on_cancel, lab};
	struct reflector_sink sink = {lab, on_put, on_drop, on_synced, on_trouble};

	o.may_stream = may_stream;
	lab->names = names_new();
	lab->r = reflector_new(kind, &o, lab->names, &t, &sink, 1);
	return lab;
}

static void lab_free(struct lab *lab)
{
	reflector_free(lab->r);
	assert_int_equal(names_count(lab->names), 0);
	names_free(lab->names);
	text_free(&lab->log);
	mem_free(lab);
}

/* ---- short words for what the server says ---- */

/* "a:1" and "ns/a:1:uid" become objects. */
static void object_json(struct text *out, const char *word, size_t n)
{
	char ns[40] = "", name[40] = "", version[40] = "", uid[40] = "";
	char copy[160];
	char *slash, *colon;

	snprintf(copy, sizeof(copy), "%.*s", (int)n, word);
	slash = strchr(copy, '/');
	if (slash)
		snprintf(ns, sizeof(ns), "%.*s", (int)(slash - copy), copy);
	colon = strchr(copy, ':');
	snprintf(name, sizeof(name), "%.*s", (int)(colon - (slash ? slash + 1 : copy)), slash ? slash + 1 : copy);
	snprintf(version, sizeof(version), "%.*s", (int)strcspn(colon + 1, ":"), colon + 1);
	snprintf(uid, sizeof(uid), "%s", strchr(colon + 1, ':') ? strchr(colon + 1, ':') + 1 : name);
	text_printf(out,
		    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}",
		    name, ns, uid, version);
}

/* "A a:1" added, "M a:2", "D a:3", "B 7" bookmark, "E 410" error, "END 9" end of the list; anything else as it is. */
static void line_json(struct text *out, const char *word, size_t n)
{
	static const char *const types[] = {"A ADDED", "M MODIFIED", "D DELETED"};

	for (size_t i = 0; i < 3; i++) {
		if (n < 2 || word[0] != types[i][0] || word[1] != ' ')
			continue;
		text_printf(out, "{\"type\":\"%s\",\"object\":", types[i] + 2);
		object_json(out, word + 2, n - 2);
		/* objects of a watch say what they are */
		out->n--;
		text_add(out, ",\"kind\":\"Pod\",\"apiVersion\":\"v1\"}}\n");
		return;
	}
	if (n > 2 && word[0] == 'B' && word[1] == ' ')
		text_printf(out, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%.*s\"}}}\n",
			    (int)n - 2, word + 2);
	else if (n > 4 && memcmp(word, "END ", 4) == 0)
		text_printf(
			out,
			"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%.*s\",\"annotations\":"
			"{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
			(int)n - 4, word + 4);
	else if (n > 2 && word[0] == 'E' && word[1] == ' ')
		text_printf(out,
			    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":%.*s,\"message\":\"m\"}}\n",
			    (int)n - 2, word + 2);
	else
		text_printf(out, "%.*s\n", (int)n, word);
}

/* Words separated by " | ". */
static void each(const char *s, void (*add)(struct text *, const char *, size_t), const char *between, struct text *out)
{
	while (*s) {
		const char *end = strstr(s, " | ");
		size_t n = end ? (size_t)(end - s) : strlen(s);

		add(out, s, n);
		s += n + (end ? 3 : 0);
		if (end)
			text_add(out, between);
	}
}

/*
 * One step of a story: "start", "lines …", "done" (the watch ended), "page VERSION NEXT …", "status 410", "broken",
 * "wait SECONDS", "tick".
 */
static void step(struct lab *lab, const char *what)
{
	struct kube_news n = {.request = lab->last_id, .is_done = true, .result = KUBE_OK, .status = 200};
	char version[20], next[20];
	int used = 0;

	if (strcmp(what, "start") == 0) {
		reflector_start(lab->r, lab->now_ns);
	} else if (str_starts(what, "lines ")) {
		n.is_done = false;
		each(what + 6, line_json, "", &n.body);
		reflector_take(lab->r, &n, lab->now_ns);
	} else if (strcmp(what, "done") == 0) {
		reflector_take(lab->r, &n, lab->now_ns);
	} else if (str_starts(what, "page ")) {
		assert_int_equal(sscanf(what, "page %19s %19s %n", version, next, &used), 2);
		text_printf(&n.body,
			    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"%s\",\"continue\":\"%s\"},"
			    "\"items\":[",
			    version, strcmp(next, "-") == 0 ? "" : next);
		each(what + used, object_json, ",", &n.body);
		text_add(&n.body, "]}");
		reflector_take(lab->r, &n, lab->now_ns);
	} else if (str_starts(what, "answer ")) {
		text_add(&n.body, what + 7);
		reflector_take(lab->r, &n, lab->now_ns);
	} else if (str_starts(what, "status ")) {
		n.status = (int)strtol(what + 7, NULL, 10);
		n.result = kube_result_of_status(n.status);
		snprintf(n.error, sizeof(n.error), "status");
		reflector_take(lab->r, &n, lab->now_ns);
	} else if (strcmp(what, "broken") == 0) {
		n.status = 0;
		n.result = KUBE_RETRYABLE;
		snprintf(n.error, sizeof(n.error), "broken");
		reflector_take(lab->r, &n, lab->now_ns);
	} else if (str_starts(what, "wait ")) {
		lab->now_ns += (int64_t)(strtod(what + 5, NULL) * 1e9);
		reflector_tick(lab->r, lab->now_ns);
	} else {
		fail_msg("no such step: %s", what);
	}
	text_free(&n.body);
}

static const struct {
	const char *name;
	const struct kube_kind *kind;
	bool may_stream;
	const char *steps[16];
	const char *expected;
} stories[] = {
	{"pages, then a watch from where the list was",
	 &pods,
	 false,
	 {"start", "page 5 - n/a:1 | n/b:2", "lines M n/a:6 | A n/c:7 | D n/b:8"},
	 "<list> +n/a:1 +n/b:2 synced <watch 5> +n/a:6 +n/c:7 -n/b:b "},
	{"many pages",
	 &pods,
	 false,
	 {"start", "page 5 x= a:1", "page 5 y b:2", "page 5 - c:3"},
	 "<list> +a:1 <list x%3D> +b:2 <list y> +c:3 synced <watch 5> "},
	{"a stream instead of a list",
	 &pods,
	 true,
	 {"start", "lines A a:1 | A b:2 | END 9", "lines M a:10"},
	 "<stream> +a:1 +b:2 synced +a:10 "},
	{"a server that cannot stream is asked for pages, and never again for a stream",
	 &pods,
	 true,
	 {"start", "status 422", "page 5 - a:1", "status 410", "wait 1", "page 7 - a:1"},
	 "<stream> <list> +a:1 synced <watch 5> <list> synced <watch 7> "},
	{"a watch that ends is taken up where it was",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "wait 10", "lines M a:6", "done"},
	 "<list> +a:1 synced <watch 5> +a:6 <watch 6> "},
	{"a bookmark moves the place without an event",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "lines B 44", "wait 2", "done"},
	 "<list> +a:1 synced <watch 5> <watch 44> "},
	{"a broken watch is taken up after a pause",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "broken", "wait 1"},
	 "<list> +a:1 synced <watch 5> trouble <watch 5> "},
	{"three broken ones in a row: a list",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "broken", "wait 1", "broken", "wait 2", "broken", "wait 4", "page 9 - a:1"},
	 "<list> +a:1 synced <watch 5> trouble <watch 5> trouble <watch 5> trouble <list> synced <watch 9> "},
	{"410 in a watch: a list, and what went meanwhile is told, in order of names",
	 &pods,
	 false,
	 {"start", "page 5 - n/c:1 | n/a:2 | n/b:3", "lines E 410", "wait 1", "page 50 - n/b:3"},
	 "<list> +n/c:1 +n/a:2 +n/b:3 synced <watch 5> cancel <list> -n/a:a -n/c:c synced <watch 50> "},
	{"410 as an answer: the same",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "status 410", "wait 1", "page 50 - b:3"},
	 "<list> +a:1 synced <watch 5> <list> +b:3 -a:a synced <watch 50> "},
	{"410 for a page: from the beginning, and nothing is gone that is not",
	 &pods,
	 false,
	 {"start", "page 5 x a:1 | b:1", "status 410", "wait 1", "page 7 - b:1"},
	 "<list> +a:1 +b:1 <list x> <list> -a:a synced <watch 7> "},
	{"what did not change is not told again",
	 &pods,
	 false,
	 {"start", "page 5 - a:1 | b:2", "status 410", "wait 1", "page 50 - a:1 | b:3"},
	 "<list> +a:1 +b:2 synced <watch 5> <list> +b:3 synced <watch 50> "},
	{"another object of the same name: the first is gone before the second comes",
	 &pods,
	 false,
	 {"start", "page 5 - a:1:u1", "lines M a:6:u2", "status 410", "wait 1", "page 9 - a:8:u3"},
	 "<list> +a:1 synced <watch 5> -a:u1 +a:6 <list> -a:u2 +a:8 synced <watch 9> "},
	{"a deletion of what is not known, or of its forerunner, is none",
	 &pods,
	 false,
	 {"start", "page 5 - a:1:u2", "lines D b:6 | D a:7:u1", "lines D a:8:u2 | D a:9:u2"},
	 "<list> +a:1 synced <watch 5> -a:u2 "},
	{"a stream that breaks half way is begun anew; nothing is gone before it is complete",
	 &pods,
	 true,
	 {"start", "lines A a:1 | A b:2", "broken", "wait 1", "lines A b:2 | END 9"},
	 "<stream> +a:1 +b:2 trouble <stream> -a:a synced "},
	{"a stream that ends before its end was said",
	 &pods,
	 true,
	 {"start", "lines A a:1", "done", "wait 1", "lines A a:1 | END 2"},
	 "<stream> +a:1 trouble <stream> synced "},
	{"garbage is not told, and the watch is begun anew",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "lines M a:6 | {half | M a:7", "wait 1"},
	 "<list> +a:1 synced <watch 5> +a:6 trouble cancel <watch 6> "},
	{"odd lines",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "lines []", "wait 1", "lines {\"type\":\"WHAT\"}", "wait 2",
	  "lines {\"type\":\"ADDED\",\"object\":{}}", "wait 5"},
	 "<list> +a:1 synced <watch 5> trouble cancel <watch 5> trouble cancel <watch 5> trouble cancel <list> "},
	{"an error that is no 410 is trouble, and the watch goes on",
	 &pods,
	 false,
	 {"start", "page 5 - a:1", "lines E 500", "wait 1"},
	 "<list> +a:1 synced <watch 5> trouble cancel <watch 5> "},
	{"a list that is none",
	 &pods,
	 false,
	 {"start", "answer {\"kind\":\"Status\"}", "wait 1", "answer {", "wait 2", "page 5 - a:1"},
	 "<list> trouble <list> trouble <list> +a:1 synced <watch 5> "},
	{"an object without a name spoils the page",
	 &pods,
	 false,
	 {"start", "answer {\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{}]}", "wait 1",
	  "page 5 -"},
	 "<list> trouble <list> synced <watch 5> "},
	{"items that are null are none",
	 &pods,
	 false,
	 {"start", "answer {\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":null}"},
	 "<list> synced <watch 1> "},
	{"a watch that ends at once is trouble",
	 &pods,
	 false,
	 {"start", "page 5 -", "done", "wait 1"},
	 "<list> synced <watch 5> trouble <watch 5> "},
	{"a kind that is absent is looked for in all versions, and again later",
	 &groups,
	 false,
	 {"start", "status 404", "status 404", "wait 5", "wait 6", "page 5 - a:1"},
	 "<list> <list v1alpha2> synced <list> +a:1 synced <watch 5> "},
	{"an older version of a kind",
	 &groups,
	 false,
	 {"start", "status 404", "page 5 - a:1"},
	 "<list> <list v1alpha2> +a:1 synced <watch v1alpha2 5> "},
	{"a kind that goes takes its objects with it, when it was asked for long enough",
	 &groups,
	 false,
	 {"start", "page 5 - b:1 | a:1", "broken", "wait 1", "status 404", "status 404", "wait 6", "status 404",
	  "status 404", "wait 6", "status 404", "status 404", "wait 11"},
	 "<list> +b:1 +a:1 synced <watch 5> trouble <watch 5> <list v1alpha2> <list> <list v1alpha2> <list> "
	 "<list v1alpha2> -a:a -b:b synced <list> "},
	{"a kind that seems to go and does not keeps its objects",
	 &groups,
	 false,
	 {"start", "page 5 - b:1 | a:1", "status 404", "status 404", "wait 6", "page 7 - a:1 | b:1"},
	 "<list> +b:1 +a:1 synced <watch 5> <list v1alpha2> <list> synced <watch 7> "},
	{"a kind that may not be read for a while keeps its objects",
	 &groups,
	 false,
	 {"start", "page 5 - a:1", "status 403", "wait 1", "lines M a:6"},
	 "<list> +a:1 synced <watch 5> trouble <watch 5> +a:6 "},
	{"a kind that may not be read counts as absent, aloud",
	 &groups,
	 false,
	 {"start", "status 403", "wait 31"},
	 "<list> trouble synced <list> "},
	{"pods that may not be read hold everything up",
	 &pods,
	 false,
	 {"start", "status 403", "wait 1"},
	 "<list> trouble <list> "},
	{"503 is waited out",
	 &pods,
	 false,
	 {"start", "status 503", "wait 1", "page 1 -"},
	 "<list> trouble <list> synced <watch 1> "},
};

static void CL_6_stories_of_lists_and_watches(void **state)
{
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		struct lab *lab = lab_new(stories[i].kind, stories[i].may_stream);

		for (size_t k = 0; k < 16 && stories[i].steps[k]; k++)
			step(lab, stories[i].steps[k]);
		if (!str_eq(text_str(&lab->log), stories[i].expected))
			fail_msg("%s:\n  %s\nexpected\n  %s", stories[i].name, text_str(&lab->log),
				 stories[i].expected);
		lab_free(lab);
	}
}

static void versions_and_uids_are_kept_for_preconditions(void **state)
{
	struct lab *lab = lab_new(&pods, false);
	const char *uid, *version;

	step(lab, "start");
	assert_false(reflector_is_synced(lab->r));
	step(lab, "page 5 - n/a:1:u1");
	assert_true(reflector_is_synced(lab->r));
	step(lab, "lines M n/a:6:u1");
	assert_true(reflector_find(lab->r, "n", "a", &uid, &version));
	assert_string_equal(uid, "u1");
	assert_string_equal(version, "6");
	assert_false(reflector_find(lab->r, "n", "b", &uid, &version));
	assert_int_equal(reflector_count(lab->r), 1);
	lab_free(lab);
}

static void pauses_grow_and_are_bounded(void **state)
{
	struct lab *lab = lab_new(&pods, false);
	int64_t longest = 0;

	step(lab, "start");
	for (int i = 0; i < 30; i++) {
		int64_t pause;

		step(lab, "broken");
		pause = reflector_next_ns(lab->r) - lab->now_ns;
		assert_in_range(pause, NS_PER_S / 4, 45 * NS_PER_S);
		if (i == 0)
			assert_true(pause < NS_PER_S);
		longest = pause > longest ? pause : longest;
		lab->now_ns = reflector_next_ns(lab->r);
		reflector_tick(lab->r, lab->now_ns);
	}
	assert_true(longest > 15 * NS_PER_S);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_6_stories_of_lists_and_watches),
		cmocka_unit_test(versions_and_uids_are_kept_for_preconditions),
		cmocka_unit_test(pauses_grow_and_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
