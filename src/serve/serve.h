/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - the HTTP server: threads of its own, and requests that wait for the cluster's thread.
 *
 * The cluster belongs to one thread. A request that needs it is put into a mailbox and its connection sleeps; the
 * cluster's thread takes it out when it has time, and answers at once or later:
 *
 *	poll(serve_fd(s), ...);
 *	serve_answer_pending(s);          calls options.handle for each request that waits
 *	serve_reply(r, 200, "application/json", &text);
 *
 * What does not need the cluster (files of the console, /metrics, /api/v1/decisions, /api/v1/events) is answered by the
 * server's threads alone, also while the cluster's thread is busy. /livez goes through the mailbox: it fails when that
 * thread does not come back.
 *
 * Nothing is written through it: GET and HEAD, and POST for /api/v1/whatif alone. Everything has a limit: connections,
 * their number from one address, the size of headers and bodies, requests waiting, and time.
 *
 * On an address that only this machine can reach it speaks HTTP; the Host header must name this machine then, so that
 * no page of another site can read it through a browser. On any other address it speaks TLS (1.2 or later). Where there
 * is somebody to judge (options.authorize, which other addresses need) it wants a bearer token; only /livez, /readyz
 * and the console's files are open: these know nothing of the cluster, and a browser that opens a page cannot send a
 * token.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "serve/metrics.h"

struct serve;
struct serve_request;
struct serve_log;

enum serve_access { ACCESS_ALLOWED, ACCESS_UNKNOWN /* 401 */, ACCESS_FORBIDDEN /* 403 */, ACCESS_TROUBLE /* 503 */ };

struct serve_file {	  /* of the console; outlives the server */
	const char *path; /* "/app.js" */
	const char *type; /* "text/javascript; charset=utf-8" */
	const void *bytes;
	size_t n;
};

struct serve_options {
	const char *listen;		/* "127.0.0.1:10269", "[::1]:0", ":10269" (every address); port 0: any */
	const char *tls_cert, *tls_key; /* files in PEM; both NULL: a certificate is made where one is needed */
	const struct serve_file *files; /* "/" is "/index.html" */
	uint32_t n_files;
	struct metrics *metrics; /* borrowed; NULL: there is no /metrics */
	struct serve_log *log;	 /* borrowed; NULL: there are neither decisions nor events */
	void *ctx;
	/*
	 * On the cluster's thread, in serve_answer_pending. Must lead to one serve_reply, now or later.
	 */
	void (*handle)(void *ctx, struct serve_request *r);
	/* /metrics is asked for: the chance to set gauges. On the cluster's thread; may be NULL. */
	void (*refresh)(void *ctx);
	/*
	 * May who has this token do this? In a thread of its own, one after the other; may take its time. Answers are
	 * kept for some seconds. NULL: nobody is asked, and listening to others is refused.
	 */
	enum serve_access (*authorize)(void *ctx, const char *token, const char *method, const char *path);
	int64_t reply_ns;	  /* how long the cluster's thread may take; 0: 30 s */
	size_t max_body;	  /* 0: 1 MiB */
	uint32_t max_connections; /* 0: 256 */
};

enum err_code serve_start(const struct serve_options *o, struct serve **ret, struct err *e);
/* Open requests are answered with 503, streams end. NULL is fine. */
void serve_stop(struct serve *s);

int serve_fd(const struct serve *s);	      /* readable when requests wait for the cluster's thread */
void serve_answer_pending(struct serve *s);   /* on that thread */
const char *serve_url(const struct serve *s); /* "http://127.0.0.1:10269" */
bool serve_is_local(const char *listen);      /* only this machine can reach it */
/* The same, with words for what is no address. */
enum err_code serve_check_listen(const char *listen, bool *ret_is_local, struct err *e);

/* ---- a request, on the cluster's thread ---- */

const char *serve_path(const struct serve_request *r);			 /* "/api/v1/explain/ml/a", unescaped */
const char *serve_query(const struct serve_request *r, const char *key); /* NULL: not given */
const struct text *serve_body(const struct serve_request *r);		 /* of a POST */
/* Ends it, from any thread; the request must not be used after it. The text is moved. */
void serve_reply(struct serve_request *r, int status, const char *type, struct text *body);
/* {"kind": "Error", "code": 404, "message": …} */
void serve_reply_error(struct serve_request *r, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void serve_error_text(struct text *out, int status, const char *words);
/* It is not answered yet: options.handle is called with it once more. From any thread. */
void serve_ask_again(struct serve_request *r);
void serve_wait_longer(struct serve_request *r, int64_t for_ns); /* from now on, instead of what options say */

/* ---- what happened, for /api/v1/decisions and /api/v1/events ---- */

/*
 * A log that is kept in memory, the latest few thousand entries of it. Each has a number that is greater than those
 * before it, also than those of a process before this one: the first is the time of its start in microseconds. A reader
 * that comes with a number from before learns whether it missed something (event "reset": load everything anew). Any
 * thread.
 */
struct serve_log *serve_log_new(int64_t wall_ns, uint32_t max_entries, size_t max_bytes); /* 0: 10,000 and 32 MiB */
void serve_log_free(struct serve_log *l);
/*
 * kind is the name of the server-sent event ("decision", "evicted", "leader", "settings", "cluster"): lower case
 * letters. json is one value without line ends. Returns its number.
 */
uint64_t serve_log_add(struct serve_log *l, const char *kind, int64_t wall_ns, const char *json);
/*
 * A decision as cede plan prints it, with facts that stand not in it: FACT_USER, FACT_WORKLOAD, and for each victim
 * FACT_VICTIM_WORKLOAD (facts.h), so that decisions can be looked for by them.
 */
uint64_t serve_log_decision(struct serve_log *l, int64_t wall_ns, const char *json, const struct text *more);
