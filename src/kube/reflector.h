/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector.h - all objects of one kind, kept as the API server has them.
 *
 * A state machine without a thread or a clock: it is given the news of its requests and the time, sends requests
 * through a transport, and tells a sink what came, changed and went, in the server's order:
 *
 *	list (as a stream where the server offers it, else in pages) -> watch -> watch from where it ended -> ...
 *
 * A watch that breaks is taken up where it was. If the server does not have that any more (410), or three watches in a
 * row brought nothing good, everything is listed anew, and what is missing in the list is told as gone, in the order of
 * names: the sink never misses a deletion and never hears of one twice. An object of the same name with another uid is
 * told as gone first, and then as new. What did not change is not told again.
 *
 * A kind that the server does not have (404, for some seconds if it had it before) is absent: what was there of it is
 * told as gone, and it is looked for again every few seconds, in all its versions. One that may be absent and may not
 * be read (403) counts as absent, too, with a complaint.
 *
 * What the server says is not trusted: lines and pages that are no JSON, have no name, or never end are complained
 * about and asked for again, after growing pauses; they never reach the sink.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "kube/client.h"
#include "kube/kinds.h"
#include "manifest/tree.h"

struct kube_transport { /* how requests go out; kube_client_transport, or a test */
	uint64_t (*send)(void *ctx, const struct kube_request *r);
	void (*cancel)(void *ctx, uint64_t request);
	void *ctx;
};
struct kube_transport kube_client_transport(struct kube_client *c);

struct kube_object {
	const struct kube_kind *kind;
	const char *ns, *name, *uid, *version; /* "" where there is none */
	const struct tree *tree;	       /* as the server wrote it; NULL: gone, and nobody said how it was */
};

/* Of a PodGroup: the one of Kubernetes itself? */
static inline bool kube_object_is_k8s_group(const struct kube_object *o)
{
	return str_eq(o->kind->group, "scheduling.k8s.io");
}

struct reflector_sink {
	void *ctx;
	void (*put)(void *ctx, const struct kube_object *o);  /* new or changed */
	void (*drop)(void *ctx, const struct kube_object *o); /* gone */
	/* The list is complete: all that is there was told. Again after each list; also when the kind is absent. */
	void (*synced)(void *ctx, const struct kube_kind *k);
	/* For people: why it does not go on at the moment. The words are good for the call. */
	void (*trouble)(void *ctx, const struct kube_kind *k, const char *words);
};

struct reflector_options {
	const char *ns;	  /* only this namespace; NULL: all */
	const char *name; /* only the object of this name; NULL: all */
	uint32_t page;	  /* of lists; 500 */
	bool may_stream;  /* ask for a list as a stream first */
	int64_t idle_ns;  /* a watch without a word (bookmarks come every minute) for so long is dead: 100 s */
	int64_t watch_ns; /* ask anew after so long at least, and at most twice that: 5 min */
	int64_t pause_ns, max_pause_ns; /* after trouble: 0.5 s, doubled up to 30 s */
	int64_t absent_ns;		/* look again for what is absent: 10 s */
};
struct reflector_options reflector_options_default(void);

struct reflector;

/* kind, names, transport and sink outlive it. seed: two clients shall not do the same at the same moments. */
struct reflector *reflector_new(const struct kube_kind *kind, const struct reflector_options *o, struct names *names,
				const struct kube_transport *transport, const struct reflector_sink *sink,
				uint64_t seed);
void reflector_free(struct reflector *r); /* cancels its request, and tells nobody */

void reflector_start(struct reflector *r, int64_t now_ns);
/* News of its own request are taken, others are not its business (false). The caller frees them. */
bool reflector_take(struct reflector *r, const struct kube_news *n, int64_t now_ns);
/* Time passes. */
void reflector_tick(struct reflector *r, int64_t now_ns);
int64_t reflector_next_ns(const struct reflector *r); /* when a tick may do something; INT64_MAX: only news will */

bool reflector_is_synced(const struct reflector *r);	  /* the list was complete once, or it is absent */
uint32_t reflector_list_count(const struct reflector *r); /* complete lists so far; to be absent counts as one */
bool reflector_is_absent(const struct reflector *r);
uint32_t reflector_count(const struct reflector *r);
/* When the server last said something that was good; TIME_NONE: never. For measuring how far behind a watch is. */
int64_t reflector_heard_ns(const struct reflector *r);
const struct kube_kind *reflector_kind(const struct reflector *r);
const char *reflector_version(const struct reflector *r); /* the API version in use */
/* The uid and resourceVersion of an object as last seen; false: it is not known. */
bool reflector_find(const struct reflector *r, const char *ns, const char *name, const char **ret_uid,
		    const char **ret_version);
/* The next list tells of this object as if it had changed; nothing if it is not known. */
void reflector_forget_version(struct reflector *r, const char *ns, const char *name);
/* Everything anew, although nothing is wrong: for a self-check. */
void reflector_relist(struct reflector *r, int64_t now_ns);
