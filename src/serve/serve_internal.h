/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_internal.h - what the files of the server share.
 *
 * Threads: those of libmicrohttpd (routes.c), the cluster's (mailbox.c), one that keeps time (mailbox.c) and one that
 * asks who somebody is (access.c). One lock guards the states of requests and streams; it is never held while somebody
 * else's function is called, but for resuming connections.
 */
#pragma once

#include <microhttpd.h>
#include <pthread.h>

#include "base/array.h"
#include "base/clock.h"
#include "serve/facts.h"
#include "serve/serve.h"

/* libmicrohttpd takes what it only reads without const. */
static inline void *unconst(const void *p)
{
	union {
		const void *from;
		void *to;
	} u = {.from = p};

	return u.to;
}

enum request_state {
	REQUEST_READING,
	REQUEST_ASKING,	  /* who is it? */
	REQUEST_QUEUED,	  /* for the cluster's thread */
	REQUEST_TAKEN,	  /* by it */
	REQUEST_ANSWERED, /* or given up: what it says now is dropped */
};

struct query {
	char *key, *value;
};

struct serve_request {
	struct serve *s;
	struct MHD_Connection *connection;
	struct serve_request *next; /* in the queue it stands in */
	enum request_state state;
	uint32_t refs;	  /* the connection, and who has to answer */
	bool is_asleep;	  /* its connection is suspended */
	bool is_allowed;  /* access was asked for and given, or need not be */
	bool is_too_long; /* its body */
	int64_t since_ns, until_ns;
	const struct route *route;
	char *method, *path, *token;
	ARRAY(struct query) query;
	struct text body;
	int status;
	const char *type;
	struct text answer;
};

struct request_queue {
	struct serve_request *first, **end;
	uint32_t n;
};

struct stream { /* a client of /api/v1/events */
	struct serve *s;
	struct MHD_Connection *connection;
	uint64_t after; /* it has everything up to this number */
	bool is_asleep, is_greeted;
	int64_t spoke_ns;
	struct text out;
	size_t sent;
};

struct access_entry {
	char *token, *method, *path;
	enum serve_access access;
	int64_t until_ns;
};

struct serve {
	struct serve_options o;
	struct MHD_Daemon *daemon;
	struct clock steady;
	int fd, listen_fd;
	bool is_local;
	char *host;
	struct text url;
	pthread_mutex_t lock;
	pthread_cond_t tick, asked;
	pthread_t keeper, asker;
	bool is_stopping, has_keeper, has_asker;
	uint32_t n_requests;		    /* that came in and have not ended */
	struct request_queue queue;	    /* for the cluster's thread */
	struct request_queue access;	    /* for the one that asks */
	ARRAY(struct serve_request *) open; /* asleep */
	ARRAY(struct stream *) streams;
	ARRAY(struct access_entry) known; /* of the asker's thread alone */
};

enum route_kind {
	ROUTE_CLUSTER, /* options.handle answers */
	ROUTE_LIVE,    /* the cluster's thread has to say something, whatever */
	ROUTE_METRICS,
	ROUTE_DECISIONS,
	ROUTE_EVENTS,
	ROUTE_FILE,
};

struct route {
	const char *path; /* ends with '/': and everything below it */
	enum route_kind kind;
	bool is_open; /* to everybody */
	bool is_post; /* POST alone; else GET and HEAD */
};

/* ---- routes.c: on the threads of libmicrohttpd ---- */
enum MHD_Result serve_on_request(void *cls, struct MHD_Connection *c, const char *url, const char *method,
				 const char *version, const char *data, size_t *n_data, void **state);
void serve_on_completed(void *cls, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why);
enum MHD_Result serve_send(struct serve_request *r); /* its answer */
void serve_headers(struct MHD_Response *response, const char *type);

/* ---- mailbox.c ---- */
void request_unref(struct serve_request *r);
void request_sleep(struct serve_request *r, struct request_queue *q, enum request_state state);
/* The lock is held. False: it was given up. */
bool request_answer(struct serve_request *r, int status, const char *type, struct text *body);
void request_error(struct serve_request *r, int status, const char *words); /* with the lock held */
void request_wake(struct serve_request *r);				    /* with the lock held */
void queue_put(struct request_queue *q, struct serve_request *r);
struct serve_request *queue_take(struct request_queue *q);
void *serve_keep_time(void *cls);
enum { MAX_QUEUED = 128 };

/* ---- access.c ---- */
void *serve_ask_access(void *cls);
void access_free(struct serve *s);

/* ---- stream.c ---- */
enum MHD_Result stream_start(struct serve_request *r);
void streams_wake(struct serve *s, bool all); /* with the lock held; else those that were silent too long */

/* ---- log.c ---- */
void serve_log_listen(struct serve_log *l, void (*wake)(void *ctx), void *ctx); /* NULL: nobody */
uint64_t serve_log_last(struct serve_log *l);					/* its latest number */
/*
 * Server-sent events after a number, some KiB of them; returns the number up to which they go. Begins with a reset if
 * something after it is not there any more.
 */
uint64_t serve_log_stream(struct serve_log *l, uint64_t after, struct text *out);
struct log_query {
	struct fact_filter filter;
	uint64_t since;	 /* oldest first: those after it; 0: from the beginning */
	uint64_t before; /* newest first: those before it; 0: from the end */
	uint32_t limit;
	bool is_newest_first, is_brief;
};
/* kind DecisionList, at most limit of them. */
void serve_log_decisions(struct serve_log *l, const struct log_query *q, struct text *out);
/* kind Timeline: how many evictions, placements and waits there were in each of at most n steps, 1 to 400. */
void serve_log_timeline(struct serve_log *l, const struct fact_filter *f, uint32_t n, struct text *out);
/*
 * kind Chain: who displaced whom, from a decision or the newest one that moved a pod; without a start where none is
 * known of that pod. False: there is no such decision.
 */
bool serve_log_chain(struct serve_log *l, uint64_t id, const char *pod, struct text *out);

/* ---- log_routes.c: on the threads of libmicrohttpd; a status, and the answer or what is wrong ---- */
int log_answer(struct serve_request *r, struct text *out);

/* ---- listen.c ---- */
enum err_code listen_open(const char *where, int *ret_fd, char **ret_host, struct err *e);
enum err_code listen_url(int fd, const char *host, bool is_tls, struct text *ret, struct err *e);
/* A Host header that names this machine wherever it is resolved, or as it was told to listen. */
bool host_is_local(const char *header, const char *told);

/* ---- certificate.c ---- */
enum err_code certificate_make(const char *host, int64_t wall_ns, struct text *ret_cert, struct text *ret_key,
			       struct err *e);
