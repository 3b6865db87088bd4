/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - everything cede writes to the API server: one small function per kind of write, which makes one request.
 *
 *	struct kube_write w = {0};
 *	write_bind(&w, "ml", "train-0", uid, "gpu-3");
 *	kube_write_send(client, &w, ctx);        // copies, and empties w
 *
 * Each can be sent twice without harm: binds and deletions name the uid they mean, patches say what shall be, creations
 * have a name. What comes of them is in the news (client.h); what the words mean:
 *
 *	bind	ok: bound. conflict: it is bound already, being deleted, gated, or another pod of that name.
 *	delete	ok: it goes, or is gone. gone: it was gone. conflict: another uid or version: decide again.
 *	evict	as delete; throttled: a disruption budget says no, and the client does not try again by itself.
 *	patch	ok; conflict: another uid or version; gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct kube_write { /* zero-initialised is empty */
	struct text path, body;
	const char *method, *content_type;
	uint32_t attempts;
	bool is_brief; /* as in client.h */
};

void kube_write_free(struct kube_write *w);
/* As a request; its strings are w's. */
struct kube_request kube_write_request(const struct kube_write *w, void *ctx);
uint64_t kube_write_send(struct kube_client *c, struct kube_write *w, void *ctx);

void write_bind(struct kube_write *w, const char *ns, const char *pod, const char *uid, const char *node);
/* version "": whatever it is by now. grace_s < 0: the pod's own. */
void write_delete(struct kube_write *w, const char *ns, const char *pod, const char *uid, const char *version,
		  int64_t grace_s);
void write_evict(struct kube_write *w, const char *ns, const char *pod, const char *uid, const char *version);

struct kube_condition {
	const char *type, *status, *reason, *message;
	int64_t since_ns;	     /* lastTransitionTime; TIME_NONE: left out */
	int64_t observed_generation; /* 0: left out */
};
/*
 * Conditions (merged by type) and the nominated node: NULL leaves it as it is, "" takes it away. uid guards against
 * another pod of that name.
 */
void write_pod_status(struct kube_write *w, const char *ns, const char *pod, const char *uid,
		      const struct kube_condition *conditions, uint32_t n, const char *nominated);

/* One annotation of an object; value NULL takes it away. version "" : whatever it is by now. */
void write_annotation(struct kube_write *w, const char *path, const char *uid, const char *version, const char *key,
		      const char *value);
/* A merge patch of an object's status, or of another part; json is the object that is put under the key. */
void write_merge(struct kube_write *w, const char *path, const char *uid, const char *key, const char *json);
/* Creates, or replaces, or patches: for leases, events and volumes. */
void write_object(struct kube_write *w, const char *method, const char *path, const struct text *body);
/* A time as Kubernetes' MicroTime wants it. */
void write_micro_time(struct text *out, int64_t ns);
