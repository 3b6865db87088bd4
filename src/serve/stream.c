/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-sent events. The connection of a client that has everything sleeps until something happens, or until it was
 * silent so long that a comment has to show both sides that the other is there.
 */
#include <stdlib.h>

#include "serve/serve_internal.h"

enum { MAX_STREAMS = 64 };
#define SILENCE_NS (15 * NS_PER_S)

static void count_streams(struct serve *s)
{
	metrics_set(s->o.metrics, METRIC_HTTP_STREAMS, s->streams.n, NULL);
}

static void wake(struct stream *x)
{
	if (!x->is_asleep)
		return;
	x->is_asleep = false;
	MHD_resume_connection(x->connection);
}

void streams_wake(struct serve *s, bool all)
{
	int64_t now_ns = clock_now(&s->steady);

	for (uint32_t i = 0; i < s->streams.n; i++)
		if (all || now_ns - s->streams.v[i]->spoke_ns >= SILENCE_NS)
			wake(s->streams.v[i]);
}

/* What is to be said now; false: nothing. */
static bool fill(struct stream *x, int64_t now_ns)
{
	text_reset(&x->out);
	x->sent = 0;
	if (!x->is_greeted)
		text_add(&x->out, "retry: 2000\n\n");
	x->is_greeted = true;
	x->after = serve_log_stream(x->s->o.log, x->after, &x->out);
	if (!x->out.n && now_ns - x->spoke_ns >= SILENCE_NS)
		text_add(&x->out, ": still here\n\n");
	if (x->out.n)
		x->spoke_ns = now_ns;
	return x->out.n > 0;
}

static ssize_t on_read(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct stream *x = cls;
	size_t n = x->out.n - x->sent;

	if (!n) {
		bool is_over;

		pthread_mutex_lock(&x->s->lock);
		is_over = x->s->is_stopping;
		if (!is_over && !fill(x, clock_now(&x->s->steady))) {
			x->is_asleep = true;
			MHD_suspend_connection(x->connection);
		}
		pthread_mutex_unlock(&x->s->lock);
		if (is_over)
			return MHD_CONTENT_READER_END_OF_STREAM;
		n = x->out.n - x->sent;
	}
	n = n < max ? n : max;
	if (n)
		memcpy(buf, x->out.s + x->sent, n);
	x->sent += n;
	return (ssize_t)n;
}

static void on_free(void *cls)
{
	struct stream *x = cls;
	struct serve *s = x->s;

	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->streams.n; i++)
		if (s->streams.v[i] == x) {
			array_remove(&s->streams, i);
			break;
		}
	count_streams(s);
	pthread_mutex_unlock(&s->lock);
	text_free(&x->out);
	mem_free(x);
}

static uint64_t begin_after(struct serve_request *r)
{
	const char *last = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Last-Event-ID");
	char *end;
	unsigned long long id;

	last = last ? last : serve_query(r, "since");
	if (!last)
		return serve_log_last(r->s->o.log);
	id = strtoull(last, &end, 10);
	return end == last || *end ? 0 : id;
}

static struct stream *stream_new(struct serve_request *r)
{
	struct serve *s = r->s;
	struct stream *x = mem_alloc(sizeof(*x));
	bool is_room;

	*x = (struct stream){
		.s = s, .connection = r->connection, .after = begin_after(r), .spoke_ns = clock_now(&s->steady)};
	pthread_mutex_lock(&s->lock);
	is_room = s->streams.n < MAX_STREAMS && !s->is_stopping;
	if (is_room)
		array_push(&s->streams, x);
	count_streams(s);
	pthread_mutex_unlock(&s->lock);
	if (is_room)
		return x;
	mem_free(x);
	return NULL;
}

enum MHD_Result stream_start(struct serve_request *r)
{
	struct stream *x = stream_new(r);
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (!x) {
		pthread_mutex_lock(&r->s->lock);
		request_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many clients follow the events already");
		pthread_mutex_unlock(&r->s->lock);
		return serve_send(r);
	}
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, on_read, x, on_free);
	if (!response) {
		on_free(x);
		return MHD_NO;
	}
	serve_headers(response, "text/event-stream; charset=utf-8");
	rc = MHD_queue_response(r->connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return rc;
}
