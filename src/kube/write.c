/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/write.h"

#include "base/clock.h"
#include "base/emit.h"
#include "kube/kinds.h"
#include "units/timestamp.h"

#define MERGE "application/merge-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"

void kube_write_free(struct kube_write *w)
{
	text_free(&w->path);
	text_free(&w->body);
	*w = (struct kube_write){0};
}

struct kube_request kube_write_request(const struct kube_write *w, void *ctx)
{
	return (struct kube_request){.method = w->method,
				     .path = text_str(&w->path),
				     .content_type = w->content_type,
				     .body = w->body.n ? w->body.s : NULL,
				     .body_len = w->body.n,
				     .attempts = w->attempts,
				     .timeout_ns = 30 * NS_PER_S,
				     .ctx = ctx,
				     .is_write = true,
				     .is_brief = w->is_brief};
}

uint64_t kube_write_send(struct kube_client *c, struct kube_write *w, void *ctx)
{
	struct kube_request r = kube_write_request(w, ctx);
	uint64_t id = kube_client_send(c, &r);

	kube_write_free(w);
	return id;
}

static void begin(struct kube_write *w, const char *method, const char *content_type)
{
	kube_write_free(w);
	w->method = method;
	w->content_type = content_type;
}

static void pod_path(struct kube_write *w, const char *ns, const char *pod, const char *part)
{
	static const struct kube_kind pods = {"Pod", "", {"v1"}, "pods", true};

	kube_path(&w->path, &pods, "v1", ns, pod);
	text_add(&w->path, part);
}

static struct emit open_body(struct kube_write *w, const char *api, const char *kind)
{
	struct emit j;

	emit_init(&j, &w->body, EMIT_JSON_LINE);
	emit_object(&j, NULL);
	if (*api) {
		emit_str(&j, "apiVersion", api);
		emit_str(&j, "kind", kind);
	}
	return j;
}

static void emit_given(struct emit *j, const char *key, const char *value)
{
	if (value && *value)
		emit_str(j, key, value);
}

void write_bind(struct kube_write *w, const char *ns, const char *pod, const char *uid, const char *node)
{
	struct emit j;

	begin(w, "POST", NULL);
	pod_path(w, ns, pod, "/binding");
	j = open_body(w, "v1", "Binding");
	emit_object(&j, "metadata");
	emit_str(&j, "name", pod);
	emit_str(&j, "namespace", ns);
	emit_given(&j, "uid", uid);
	emit_end(&j);
	emit_object(&j, "target");
	emit_str(&j, "apiVersion", "v1");
	emit_str(&j, "kind", "Node");
	emit_str(&j, "name", node);
	emit_end(&j);
	emit_end(&j);
}

static void emit_preconditions(struct emit *j, const char *uid, const char *version)
{
	emit_object(j, "preconditions");
	emit_given(j, "uid", uid);
	emit_given(j, "resourceVersion", version);
	emit_end(j);
}

void write_delete(struct kube_write *w, const char *ns, const char *pod, const char *uid, const char *version,
		  int64_t grace_s)
{
	struct emit j;

	begin(w, "DELETE", NULL);
	w->is_brief = true;
	pod_path(w, ns, pod, "");
	j = open_body(w, "v1", "DeleteOptions");
	if (grace_s >= 0)
		emit_int(&j, "gracePeriodSeconds", grace_s);
	emit_preconditions(&j, uid, version);
	emit_end(&j);
}

void write_evict(struct kube_write *w, const char *ns, const char *pod, const char *uid, const char *version)
{
	struct emit j;

	begin(w, "POST", NULL);
	w->attempts = 1; /* 429 is an answer here: a budget */
	pod_path(w, ns, pod, "/eviction");
	j = open_body(w, "policy/v1", "Eviction");
	emit_object(&j, "metadata");
	emit_str(&j, "name", pod);
	emit_str(&j, "namespace", ns);
	emit_end(&j);
	emit_object(&j, "deleteOptions");
	emit_preconditions(&j, uid, version);
	emit_end(&j);
	emit_end(&j);
}

static void emit_time(struct emit *j, const char *key, int64_t ns)
{
	struct text text = {0};

	timestamp_text(ns / NS_PER_S * NS_PER_S, &text);
	emit_str(j, key, text_str(&text));
	text_free(&text);
}

/* "2026-11-15T12:03:10.000000Z": always six digits, as Kubernetes' MicroTime wants it. */
void write_micro_time(struct text *out, int64_t ns)
{
	int64_t s = ns / NS_PER_S, micro = ns % NS_PER_S / 1000;

	timestamp_text(s * NS_PER_S, out);
	out->n--; /* the Z */
	text_printf(out, ".%06lldZ", (long long)(micro < 0 ? 0 : micro));
}

static void emit_condition(struct emit *j, const struct kube_condition *c)
{
	emit_object(j, NULL);
	emit_str(j, "type", c->type);
	emit_str(j, "status", c->status);
	emit_given(j, "reason", c->reason);
	emit_given(j, "message", c->message);
	if (c->since_ns != TIME_NONE)
		emit_time(j, "lastTransitionTime", c->since_ns);
	if (c->observed_generation)
		emit_int(j, "observedGeneration", c->observed_generation);
	emit_end(j);
}

static void emit_guard(struct emit *j, const char *uid)
{
	if (!uid || !*uid)
		return;
	emit_object(j, "metadata");
	emit_str(j, "uid", uid);
	emit_end(j);
}

void write_pod_status(struct kube_write *w, const char *ns, const char *pod, const char *uid,
		      const struct kube_condition *conditions, uint32_t n, const char *nominated)
{
	struct emit j;

	begin(w, "PATCH", STRATEGIC);
	w->is_brief = true;
	pod_path(w, ns, pod, "/status");
	j = open_body(w, "", "");
	emit_guard(&j, uid);
	emit_object(&j, "status");
	if (n) {
		emit_list(&j, "conditions");
		for (uint32_t i = 0; i < n; i++)
			emit_condition(&j, &conditions[i]);
		emit_end(&j);
	}
	if (nominated) /* null takes a field away */
		emit_str(&j, "nominatedNodeName", *nominated ? nominated : NULL);
	emit_end(&j);
	emit_end(&j);
}

void write_annotation(struct kube_write *w, const char *path, const char *uid, const char *version, const char *key,
		      const char *value)
{
	struct emit j;

	begin(w, "PATCH", MERGE);
	w->is_brief = true;
	text_add(&w->path, path);
	j = open_body(w, "", "");
	emit_object(&j, "metadata");
	emit_given(&j, "uid", uid);
	emit_given(&j, "resourceVersion", version);
	emit_object(&j, "annotations");
	emit_str(&j, key, value);
	emit_end(&j);
	emit_end(&j);
	emit_end(&j);
}

void write_merge(struct kube_write *w, const char *path, const char *uid, const char *key, const char *json)
{
	struct emit j;

	begin(w, "PATCH", MERGE);
	w->is_brief = true;
	text_add(&w->path, path);
	j = open_body(w, "", "");
	emit_guard(&j, uid);
	emit_plain(&j, key, json);
	emit_end(&j);
}

void write_object(struct kube_write *w, const char *method, const char *path, const struct text *body)
{
	begin(w, method, str_eq(method, "PATCH") ? MERGE : NULL);
	text_add(&w->path, path);
	text_add_n(&w->body, text_str(body), body->n);
}
