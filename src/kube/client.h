/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - requests to the API server, and what it answers.
 *
 * One thread owns all connections (libcurl's multi interface, HTTP/2 where the server speaks it, more connections when
 * its limit of streams is reached, TLS 1.2 at least). Requests are handed to it without a lock and without waiting;
 * what comes of them is taken out by one other thread, in the order it happened:
 *
 *	id = kube_client_send(c, &(struct kube_request){.method = "GET", .path = "/api/v1/nodes", .ctx = me});
 *	while ((n = kube_client_next(c))) { …; kube_news_free(c, n); }
 *	poll(kube_client_fd(c)) or kube_client_wait(c, ns)
 *
 * A request that can be tried again is: after broken connections, silence, 429, 500, 502, 503 and 504, with growing,
 * jittered pauses, at least as long as Retry-After says, until its time or its attempts are used up. All that cede
 * writes may be sent twice: it carries names and preconditions that make the second one change nothing, or be refused
 * with 409.
 *
 * Every request ends with exactly one news with is_done set, whatever happens. A stream (watch) brings news with whole
 * lines before that; when nobody takes them out it is stopped until somebody does.
 *
 * Writes are fenced: they go out only before the time that kube_client_fence said last, on the steady clock; a write
 * that is under way then is broken off. Nothing may be written before the first call (a dry run makes none).
 *
 * Nothing here prints. Words in errors name method, server and path, and never a secret.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "kube/kubeconfig.h"

enum kube_result {
	KUBE_OK,
	KUBE_CONFLICT,	/* 409: somebody was faster, or it is done already */
	KUBE_GONE,	/* 404, 410: the object, the kind or the resourceVersion is not there any more */
	KUBE_FORBIDDEN, /* 401, 403, or no credentials could be had */
	KUBE_THROTTLED, /* 429, to the end */
	KUBE_RETRYABLE, /* 5xx, broken or silent connections, time used up: later it may go well */
	KUBE_FATAL,	/* any other 4xx, an answer beyond all limits, a certificate nobody vouches for: it will not */
	KUBE_FENCED,	/* a write after the time it may be sent */
	KUBE_CANCELLED,
};
const char *kube_result_text(enum kube_result r); /* "ok", "conflict", … */
enum kube_result kube_result_of_status(int status);
enum { KUBE_RESULT_COUNT = KUBE_CANCELLED + 1 };

struct kube_request {
	const char *method;	  /* GET, POST, PUT, PATCH, DELETE */
	const char *path;	  /* "/api/v1/pods?limit=500", escaped already */
	const char *content_type; /* of the body; NULL: application/json */
	const char *body;	  /* NULL: none */
	size_t body_len;
	void *ctx;	    /* comes back with every news */
	int64_t timeout_ns; /* for all attempts and pauses together, from the first one on; 0: 60 s */
	int64_t idle_ns;    /* an attempt that brings no byte for so long has failed; 0: 15 s */
	uint32_t attempts;  /* 0: 5 */
	bool is_stream;	    /* lines as they come */
	bool is_urgent;	    /* passes by flow control and the queue: leases */
	bool is_write;	    /* fenced */
	bool is_brief; /* of the object that is answered, its metadata will do; who cannot do that sends all of it */
};

struct kube_news {
	struct kube_news *next; /* bookkeeping, as is stream */
	struct kube_stream *stream;
	uint64_t request;
	void *ctx;
	bool is_done;
	enum kube_result result; /* when done */
	int status;		 /* HTTP status of the last answer; 0: there was none */
	bool is_unknown;	 /* an attempt went out and no answer came: it may or may not have been carried out */
	char method[8];		 /* of the request; when done */
	bool was_stream;
	uint32_t attempts;
	int64_t retry_after_ns; /* as the server said last; 0: nothing */
	int64_t took_ns;	/* from the first attempt to the end */
	struct text body;	/* whole lines of a stream, or all of an answer (of a failed one at most 64 KiB) */
	char error[320];	/* "" if it went well */
};

struct kube_client_options {
	double qps;			/* requests a second in the long run; 0: no limit */
	uint32_t burst;			/* and how many at once */
	uint32_t in_flight;		/* requests under way, streams not counted */
	size_t max_body;		/* of an answer */
	size_t max_line;		/* of a stream */
	size_t max_queued;		/* bytes of one stream that nobody took out yet */
	int64_t connect_ns;		/* time to get a connection */
	int64_t pause_ns, max_pause_ns; /* before the second attempt, and at most */
};
struct kube_client_options kube_client_options_default(void);

struct kube_client;

/* The configuration is moved in on success. */
enum err_code kube_client_new(struct kube_config *config, const struct kube_client_options *o, struct kube_client **ret,
			      struct err *e);
/* Breaks everything off. News that were not taken are gone. */
void kube_client_free(struct kube_client *c);
const struct kube_config *kube_client_config(const struct kube_client *c);

/* Copies what it is given; any thread. Ids begin with 1 and only grow. */
uint64_t kube_client_send(struct kube_client *c, const struct kube_request *r);
void kube_client_cancel(struct kube_client *c, uint64_t request); /* it may end otherwise all the same */
void kube_client_fence(struct kube_client *c, int64_t until_ns);  /* INT64_MAX: for ever; INT64_MIN: at once */

/* The next news, NULL if there are none now. One thread takes them. */
struct kube_news *kube_client_next(struct kube_client *c);
void kube_news_free(struct kube_client *c, struct kube_news *n);
int kube_client_fd(const struct kube_client *c);		  /* readable when there may be news */
bool kube_client_wait(struct kube_client *c, int64_t timeout_ns); /* false: no news in this time */

/*
 * One request at a time, for programs that have nothing else to do: waits for its end. Not while other requests are
 * under way.
 */
struct kube_news *kube_client_call(struct kube_client *c, const struct kube_request *r);

struct kube_client_metrics { /* counted since the beginning */
	uint64_t requests, attempts, lines, bytes_in, connections;
	uint64_t results[KUBE_RESULT_COUNT];
	uint64_t waiting, running, streams; /* now */
};
struct kube_client_metrics kube_client_metrics(const struct kube_client *c);
