/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_api.h - an API server for the scheduler that answers only when the test says so. Lists are empty; objects come
 * as lines of watches. What was written is a log of words; answers are given one by one.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/scheduler.h"

struct fake_request {
	uint64_t id;
	char *method, *path, *body;
	bool is_watch, is_list, is_open;
};

struct fake_api {
	struct scheduler *s;
	struct moment now;
	ARRAY(struct fake_request) asked;
	uint64_t last_id;
	uint32_t version;
	struct text log;    /* writes and reads of single objects, events left out */
	struct text events; /* their reasons */
	uint64_t ticket, kept;
	uint32_t n_victims; /* of decisions, that were not leaving already */
	void (*gone)(struct fake_api *f, pod_id pod, const struct moment *now); /* may be NULL */
};

static inline const char *fake_field(const char *body, const char *key, char *out, size_t size)
{
	const char *at = body ? strstr(body, key) : NULL;
	size_t n = 0;

	if (at)
		at = strchr(at + strlen(key), ':');
	for (at = at ? at + 1 : ""; *at && strchr(" \"", *at); at++)
		;
	for (; *at && !strchr("\",}", *at) && n + 1 < size; at++)
		out[n++] = *at;
	out[n] = '\0';
	return out;
}

/* "bind a n0", "delete b uid-b 7", "status a Unschedulable", "nominate a n1", "target b True" */
static inline void fake_describe(struct fake_api *f, const struct fake_request *r)
{
	char name[64] = "", a[64], b[64];
	const char *pods = strstr(r->path, "/pods/");

	if (strstr(r->path, "/events")) {
		text_printf(&f->events, "%s; ", fake_field(r->body, "\"reason\"", a, sizeof(a)));
		return;
	}
	if (pods)
		sscanf(pods, "/pods/%63[^/]", name);
	if (strstr(r->path, "/binding"))
		text_printf(&f->log, "bind %s %s; ", name,
			    fake_field(strstr(r->body, "target"), "\"name\"", a, sizeof(a)));
	else if (strstr(r->path, "/eviction"))
		text_printf(&f->log, "evict %s; ", name);
	else if (str_eq(r->method, "DELETE"))
		text_printf(&f->log, "delete %s %s %s; ", name, fake_field(r->body, "\"uid\"", a, sizeof(a)),
			    fake_field(r->body, "\"resourceVersion\"", b, sizeof(b)));
	else if (r->body && strstr(r->body, "DisruptionTarget"))
		text_printf(&f->log, "target %s %s; ", name,
			    fake_field(strstr(r->body, "DisruptionTarget"), "\"status\"", a, sizeof(a)));
	else if (strstr(r->path, "/status")) {
		text_printf(&f->log, "status %s", name);
		if (strstr(r->body, "\"reason\""))
			text_printf(&f->log, " %s", fake_field(r->body, "\"reason\"", a, sizeof(a)));
		if (strstr(r->body, "nominatedNodeName"))
			text_printf(&f->log, " nominated=%s", fake_field(r->body, "nominatedNodeName", a, sizeof(a)));
		text_add(&f->log, "; ");
	} else {
		text_printf(&f->log, "%s %s; ", str_eq(r->method, "GET") ? "get" : r->method, pods ? name : r->path);
	}
}

static inline uint64_t fake_send(void *ctx, const struct kube_request *q)
{
	struct fake_api *f = ctx;
	struct fake_request r = {.id = ++f->last_id,
				 .method = mem_strdup(q->method),
				 .path = mem_strdup(q->path),
				 .body = q->body ? strndup(q->body, q->body_len) : NULL,
				 .is_watch = q->is_stream,
				 .is_list = !q->is_stream && strstr(q->path, "limit=") != NULL,
				 .is_open = true};

	if (!r.is_watch && !r.is_list)
		fake_describe(f, &r);
	array_push(&f->asked, r);
	return r.id;
}

static inline void fake_cancel(void *ctx, uint64_t request)
{
	(void)ctx;
	(void)request;
}

static inline void fake_give(struct fake_api *f, uint32_t i, int status, const char *body, bool is_unknown)
{
	struct kube_news n = {.request = f->asked.v[i].id,
			      .is_done = true,
			      .status = status,
			      .result = status ? kube_result_of_status(status) : KUBE_RETRYABLE,
			      .is_unknown = is_unknown};

	if (n.result != KUBE_OK)
		snprintf(n.error, sizeof(n.error), "HTTP %d", status);
	f->asked.v[i].is_open = false;
	text_add(&n.body, body);
	scheduler_take(f->s, &n, &f->now);
	text_free(&n.body);
}

static inline void fake_line(struct fake_api *f, uint32_t i, const char *type, const char *object)
{
	struct kube_news n = {.request = f->asked.v[i].id};

	text_printf(&n.body, "{\"type\":\"%s\",\"object\":%s}\n", type, object);
	scheduler_take(f->s, &n, &f->now);
	text_free(&n.body);
}

/* Lists are answered, then time and decisions, until nothing moves. */
static inline void fake_run(struct fake_api *f)
{
	for (int round = 0; round < 6; round++) {
		for (uint32_t i = 0; i < f->asked.n; i++)
			if (f->asked.v[i].is_open && f->asked.v[i].is_list)
				fake_give(f, i, 200,
					  "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}",
					  false);
		scheduler_tick(f->s, &f->now);
		f->now.steady_ns += NS_PER_S / 25;
		f->now.wall_ns += NS_PER_S / 25;
		scheduler_decide(f->s, &f->now);
	}
}

static inline void fake_pass(struct fake_api *f, double seconds)
{
	f->now.steady_ns += (int64_t)(seconds * 1e9);
	f->now.wall_ns += (int64_t)(seconds * 1e9);
	fake_run(f);
}

/* A line of the watch of a resource ("/pods?"). */
static inline void fake_watch(struct fake_api *f, const char *resource, const char *type, const char *object)
{
	for (uint32_t i = f->asked.n; i-- > 0;)
		if (f->asked.v[i].is_open && f->asked.v[i].is_watch && strstr(f->asked.v[i].path, resource)) {
			fake_line(f, i, type, object);
			return;
		}
	fail_msg("nobody watches %s", resource);
}

/* The first write or read of a single object that was not answered yet; events are answered on the way. */
static inline uint32_t fake_open(struct fake_api *f)
{
	for (uint32_t i = 0; i < f->asked.n; i++) {
		const struct fake_request *r = &f->asked.v[i];

		if (!r->is_open || r->is_watch || r->is_list)
			continue;
		if (!strstr(r->path, "/events"))
			return i;
		fake_give(f, i, 201, "{}", false);
	}
	return UINT32_MAX;
}

static inline void fake_answer(struct fake_api *f, int status, const char *body)
{
	uint32_t i = fake_open(f);

	if (i == UINT32_MAX)
		fail_msg("nothing was asked: %s", text_str(&f->log));
	fake_give(f, i, status, body, status == 0);
	fake_run(f);
}

static inline void fake_node(struct fake_api *f, const char *name, int cpu)
{
	struct text t = {0};

	text_printf(&t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"uid\":\"uid-%s\","
		    "\"resourceVersion\":\"%u\"},\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"memory\":\"8Gi\","
		    "\"pods\":\"110\"}}}",
		    name, name, ++f->version + 100, cpu);
	fake_watch(f, "/nodes?", "ADDED", text_str(&t));
	text_free(&t);
}

struct fake_pod {
	const char *name, *node; /* node NULL: it waits */
	int cpu, priority;
	bool is_leaving;
	const char *labels; /* more of them: "\"queue\":\"root.a\"" */
	const char *annotations;
	const char *nominated; /* NULL: it is not */
};

static inline void fake_pod_json(struct fake_api *f, const struct fake_pod *p, struct text *t)
{
	text_printf(t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":"
		    "\"uid-%s\","
		    "\"resourceVersion\":\"%u\",\"creationTimestamp\":\"2026-11-15T12:00:00Z\",\"labels\":{%s},"
		    "\"annotations\":{%s}%s},"
		    "\"spec\":{\"schedulerName\":\"cede\",\"priority\":%d%s%s%s,\"containers\":[{\"name\":\"c\","
		    "\"resources\":"
		    "{\"requests\":{\"cpu\":\"%d\"}}}]},\"status\":{\"phase\":%s%s%s%s}}",
		    p->name, p->name, ++f->version + 100, p->labels ? p->labels : "",
		    p->annotations ? p->annotations : "",
		    p->is_leaving ? ",\"deletionTimestamp\":\"2026-11-15T12:00:10Z\"" : "", p->priority,
		    p->node ? ",\"nodeName\":\"" : "", p->node ? p->node : "", p->node ? "\"" : "", p->cpu,
		    p->node ? "\"Running\",\"startTime\":\"2026-11-15T12:00:00Z\"" : "\"Pending\"",
		    p->nominated ? ",\"nominatedNodeName\":\"" : "", p->nominated ? p->nominated : "",
		    p->nominated ? "\"" : "");
}

static inline void fake_put(struct fake_api *f, const struct fake_pod *p, const char *type)
{
	struct text t = {0};

	fake_pod_json(f, p, &t);
	fake_watch(f, "/pods?", type, text_str(&t));
	text_free(&t);
	fake_run(f);
}

static inline enum pod_state fake_state(struct fake_api *f, const char *name)
{
	struct world *w = scheduler_world(f->s);
	pod_id id = cluster_find_pod(w->cluster, "d", name);

	return id == POD_NONE ? POD_FREE : (enum pod_state)ledger_pod(cluster_ledger(w->cluster), id)->state;
}

/* A journal that has what the test says. */
static inline uint64_t fake_decided(void *ctx, const struct plan_view *v, const struct decision *d,
				    const struct moment *now)
{
	struct fake_api *f = ctx;

	(void)now;
	for (uint32_t i = 0; i < d->n_victims; i++)
		f->n_victims += ledger_pod(cluster_ledger(v->cluster), d->victims[i].pod)->state == POD_PLACED;
	return ++f->ticket;
}

static inline bool fake_is_kept(void *ctx, uint64_t ticket)
{
	return ticket <= ((struct fake_api *)ctx)->kept;
}

/* Only what goes wrong with the lab itself. */
static inline void fake_said(void *ctx, bool is_warning, const char *words)
{
	(void)ctx;
	if (is_warning && strstr(words, ": ") && getenv("CEDE_TEST_VERBOSE"))
		fprintf(stderr, "%s\n", words);
}

/* It stands by. */
static inline void fake_gone(void *ctx, pod_id pod, const struct moment *now)
{
	struct fake_api *f = ctx;

	if (f->gone)
		f->gone(f, pod, now);
}

static inline struct fake_api *fake_follow(const char *settings)
{
	struct fake_api *f = mem_alloc(sizeof(*f));
	struct world_text text = {"cede.yaml", settings};
	struct world_source src = {.texts = &text, .n_texts = 1};
	struct scheduler_options o = scheduler_options_default();
	struct world *w;
	struct err e = {0};

	f->now = (struct moment){1000 * NS_PER_S, INT64_C(1794744000) * NS_PER_S};
	if (world_new(&src, f->now.wall_ns, &w, &e))
		fail_msg("%s", e.msg);
	o.transport = (struct kube_transport){fake_send, fake_cancel, f};
	o.reflector.may_stream = false;
	o.hooks = (struct scheduler_hooks){
		.ctx = f, .said = fake_said, .decided = fake_decided, .is_kept = fake_is_kept, .gone = fake_gone};
	f->kept = UINT64_MAX;
	o.steady = clock_fixed(&f->now.steady_ns);
	f->s = scheduler_new(w, &o, &f->now);
	fake_run(f);
	return f;
}

static inline struct fake_api *fake_new(const char *settings)
{
	struct fake_api *f = fake_follow(settings);

	scheduler_lead(f->s, &f->now);
	fake_run(f);
	ledger_check_always(cluster_ledger(scheduler_world(f->s)->cluster), true);
	return f;
}

static inline void fake_free(struct fake_api *f)
{
	scheduler_free(f->s);
	for (uint32_t i = 0; i < f->asked.n; i++) {
		mem_free(f->asked.v[i].method);
		mem_free(f->asked.v[i].path);
		free(f->asked.v[i].body);
	}
	array_free(&f->asked);
	text_free(&f->log);
	text_free(&f->events);
	mem_free(f);
}
