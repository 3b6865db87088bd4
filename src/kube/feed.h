/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - a cluster that follows the API server: watches in, moves of the ledger out.
 *
 * One reflector per kind (kinds.h); each object that comes, changes or goes is one cluster_put_* or cluster_drop_*, and
 * nothing is built anew. KAI's Queues are validated as a whole, so they are put together when all that is there at the
 * moment was taken (kube_feed_settle). An object that the readers or the cluster refuse is complained about by name and
 * left as it was before, or out: one tenant's object must not stop anybody else's pods.
 *
 * One thread: that of the cluster. Time is an argument.
 */
#pragma once

#include "cluster/cluster.h"
#include "kube/reflector.h"
#include "manifest/manifest.h"

/*
 * Told in the order of events; everything may be NULL. The ledger has the new state already; what goes is still there.
 */
struct feed_listener {
	void *ctx;
	void (*pod_changed)(void *ctx, pod_id pod, const struct obj_pod *before); /* before NULL: it is new */
	void (*pod_going)(void *ctx, pod_id pod);
	/* It finished: its new object is not in the ledger yet, and it still takes its room there. */
	void (*pod_finishing)(void *ctx, pod_id pod);
	void (*node_changed)(void *ctx, node_id node, const struct obj_node *before);
	void (*node_going)(void *ctx, node_id node);
	/* Anything else that decisions depend on: groups, queues, classes, budgets, namespaces, owners, volumes. */
	void (*other_changed)(void *ctx, const struct kube_object *o, bool is_gone);
	/* A ConfigMap of settings; text NULL: it is gone. */
	void (*settings_changed)(void *ctx, const char *name, const char *uid, const struct tree *map);
	/* The object stays as it was, or out; why. */
	void (*refused)(void *ctx, const struct kube_object *o, const char *words);
	void (*trouble)(void *ctx, const struct kube_kind *k, const char *words);
};

struct kube_feed_options {
	const char *ns; /* of the ConfigMaps with settings; "": they are not watched */
	struct reflector_options reflector;
};

struct kube_feed;

struct kube_feed *kube_feed_new(struct cluster *c, struct vocab *v, const struct kube_feed_options *o,
				const struct kube_transport *transport, const struct feed_listener *listener,
				uint64_t seed);
void kube_feed_free(struct kube_feed *f); /* the cluster stays */

void kube_feed_start(struct kube_feed *f, int64_t now_ns);
bool kube_feed_take(struct kube_feed *f, const struct kube_news *n, int64_t now_ns); /* false: not for it */
void kube_feed_tick(struct kube_feed *f, int64_t now_ns);
int64_t kube_feed_next_ns(const struct kube_feed *f);
/* All news that were there are taken: sets that changed are put into the cluster. */
void kube_feed_settle(struct kube_feed *f);
/*
 * Lists everything that decisions depend on anew, from the server's present state; kube_feed_is_fresh says when that is
 * done. For a replica that begins to lead: its watches may be behind what the one before it wrote.
 */
void kube_feed_refresh(struct kube_feed *f, int64_t now_ns);
bool kube_feed_is_fresh(const struct kube_feed *f);

bool kube_feed_is_synced(const struct kube_feed *f); /* every kind was listed, or is absent */
/* The longest time that a watch said nothing; kinds that are absent do not count. */
int64_t kube_feed_lag_ns(const struct kube_feed *f, int64_t now_ns);
/* The reflector of a kind and group, NULL: there is none. */
const struct reflector *kube_feed_reflector(const struct kube_feed *f, const char *kind, const char *group);
uint64_t kube_feed_event_count(const struct kube_feed *f); /* objects put and dropped */

/*
 * Is the cluster what a fresh list says? Compares two clusters by what would be written of them; a line of words per
 * difference, twenty at most. Pods that the engine has moved since are not compared.
 */
uint32_t kube_feed_compare(const struct cluster *live, const struct cluster *fresh, struct text *ret_words);
