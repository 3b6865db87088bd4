/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_internal.h - what client.c (the thread and its queues) and transfer.c (one request and its attempts) share.
 */
#pragma once

#include <curl/curl.h>
#include <pthread.h>

#include "base/array.h"
#include "base/map.h"
#include "kube/client.h"
#include "kube/credentials.h"
#include "kube/mailbox.h"

struct kube_stream { /* shared by a stream and its news: how much nobody took out yet */
	atomic_uint refs;
	atomic_size_t queued;
	atomic_bool is_paused;
	uint64_t request;
};

enum transfer_state { TRANSFER_READY, TRANSFER_PAUSING, TRANSFER_RUNNING };

struct transfer {
	struct mail mail; /* first: it comes as a message */
	struct kube_client *client;
	uint64_t id;
	struct kube_request request; /* its strings are owned */
	enum transfer_state state;
	struct transfer *prev, *next; /* in the list of its state */
	int64_t deadline_ns, not_before_ns, started_ns, last_byte_ns;
	uint32_t attempts;
	bool was_refused; /* with 401, once */
	bool is_unknown;
	const char *broken; /* we break it off: why */
	enum kube_result broken_result;

	CURL *easy; /* while it runs */
	struct curl_slist *headers;
	struct identity *identity;
	char curl_error[CURL_ERROR_SIZE];
	struct text in; /* the answer so far, of a stream the unfinished line */
	struct kube_stream *stream;
};

struct transfer_list { /* in order of coming */
	struct transfer *first, *last;
	uint32_t n;
};

enum command_kind { COMMAND_SEND, COMMAND_CANCEL, COMMAND_RESUME, COMMAND_STOP };

struct client_command { /* anything but a request, which is its own message */
	struct mail mail;
	enum command_kind kind;
	uint64_t request;
};

struct kube_client {
	struct kube_config *config;
	struct kube_client_options options;
	struct credentials *credentials;
	struct clock steady, wall;
	const char *base;	       /* of all URLs */
	struct curl_slist *connect_to; /* where the server is if its name is another; NULL */
	const char *host_header;       /* NULL: as the URL says */

	struct mailbox requests, commands; /* to the thread */
	struct mailbox news;		   /* from it */
	struct kube_news *taken;	   /* taken out of news, the next first */
	int fd;				   /* wakes who waits for news */
	_Atomic uint64_t last_id;
	_Atomic int64_t fence_ns;
	atomic_bool wants_stop;
	pthread_t thread;

	/* The thread's own. */
	CURLM *multi;
	ARRAY(CURL *) idle; /* handles to use again */
	struct transfer_list ready, pausing, running;
	struct map by_id; /* request -> index in transfers */
	ARRAY(struct transfer *) transfers;
	uint32_t n_running; /* streams not counted */
	double tokens;
	int64_t tokens_ns, scanned_ns;
	uint64_t jitter;
	bool is_refreshing;
	atomic_bool has_refreshed;
	pthread_t refresher;
	enum err_code refresh_code;
	struct err refresh_error;

	_Atomic uint64_t n_requests, n_attempts, n_lines, n_bytes, n_connections, n_results[KUBE_RESULT_COUNT];
	_Atomic uint64_t now_waiting, now_running, now_streams;
};

/* transfer.c */
struct transfer *transfer_new(struct kube_client *c, uint64_t id, const struct kube_request *r);
void transfer_free(struct transfer *t);
void stream_release(struct kube_stream *s); /* NULL is fine */
/* Begins an attempt; the handle is in the multi handle afterwards. */
void transfer_start(struct transfer *t, struct identity *identity, int64_t now_ns);
/* Takes the handle back. */
void transfer_stop(struct transfer *t);

struct verdict { /* on one attempt */
	enum kube_result result;
	int status;
	bool may_retry, wants_credentials;
	int64_t retry_after_ns;
	char error[320];
};
/* The attempt has ended with this code. */
struct verdict transfer_judge(struct transfer *t, CURLcode code);
/* client.c: hands a message out. body is moved. */
struct kube_news *news_new(const struct transfer *t);
void news_put(struct kube_client *c, struct kube_news *n);
