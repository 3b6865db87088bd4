/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait for another thread. The connection of a request sleeps while it waits; whoever has an answer, or
 * the keeper of time when there is none, writes it down and wakes the connection. An answer that comes after that is
 * dropped.
 */
#include <assert.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/emit.h"
#include "serve/serve_internal.h"

void queue_put(struct request_queue *q, struct serve_request *r)
{
	if (!q->first)
		q->end = &q->first;
	r->next = NULL;
	*q->end = r;
	q->end = &r->next;
	q->n++;
}

struct serve_request *queue_take(struct request_queue *q)
{
	struct serve_request *r = q->first;

	if (!r)
		return NULL;
	q->first = r->next;
	if (!q->first)
		q->end = &q->first;
	q->n--;
	return r;
}

static void request_free(struct serve_request *r)
{
	for (uint32_t i = 0; i < r->query.n; i++) {
		mem_free(r->query.v[i].key);
		mem_free(r->query.v[i].value);
	}
	array_free(&r->query);
	if (r->token)
		explicit_bzero(r->token, strlen(r->token));
	mem_free(r->method);
	mem_free(r->path);
	mem_free(r->token);
	text_free(&r->body);
	text_free(&r->answer);
	mem_free(r);
}

void request_unref(struct serve_request *r)
{
	struct serve *s = r->s;
	bool is_last;

	pthread_mutex_lock(&s->lock);
	is_last = --r->refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (is_last)
		request_free(r);
}

/* With the lock held. From here on the other thread may answer at any time. */
void request_sleep(struct serve_request *r, struct request_queue *q, enum request_state state)
{
	struct serve *s = r->s;

	r->state = state;
	if (!r->is_asleep) {
		MHD_suspend_connection(r->connection);
		r->is_asleep = true;
		array_push(&s->open, r);
	}
	r->refs++;
	queue_put(q, r);
}

void request_wake(struct serve_request *r)
{
	struct serve *s = r->s;

	if (!r->is_asleep)
		return;
	for (uint32_t i = 0; i < s->open.n; i++)
		if (s->open.v[i] == r) {
			array_remove(&s->open, i);
			break;
		}
	r->is_asleep = false;
	MHD_resume_connection(r->connection);
}

bool request_answer(struct serve_request *r, int status, const char *type, struct text *body)
{
	if (r->state == REQUEST_ANSWERED)
		return false;
	r->state = REQUEST_ANSWERED;
	r->status = status;
	r->type = type;
	r->answer = *body;
	*body = (struct text){0};
	request_wake(r);
	return true;
}

void serve_error_text(struct text *out, int status, const char *words)
{
	struct emit e;

	emit_init(&e, out, EMIT_JSON);
	emit_object(&e, NULL);
	emit_str(&e, "kind", "Error");
	emit_int(&e, "code", status);
	emit_str(&e, "message", words);
	emit_end(&e);
}

void request_error(struct serve_request *r, int status, const char *words)
{
	struct text body = {0};

	serve_error_text(&body, status, words);
	request_answer(r, status, "application/json", &body);
	text_free(&body);
}

/* ---- the cluster's thread ---- */

int serve_fd(const struct serve *s)
{
	return s->fd;
}

static struct serve_request *take(struct serve *s)
{
	struct serve_request *r;

	pthread_mutex_lock(&s->lock);
	r = queue_take(&s->queue);
	if (r && r->state == REQUEST_QUEUED)
		r->state = REQUEST_TAKEN;
	pthread_mutex_unlock(&s->lock);
	return r;
}

static bool is_wanted(struct serve_request *r)
{
	bool wanted;

	pthread_mutex_lock(&r->s->lock);
	wanted = r->state == REQUEST_TAKEN;
	pthread_mutex_unlock(&r->s->lock);
	return wanted;
}

static void answer(struct serve *s, struct serve_request *r)
{
	struct text body = {0};

	switch (r->route->kind) {
	case ROUTE_LIVE:
		text_add(&body, "ok\n");
		serve_reply(r, MHD_HTTP_OK, "text/plain; charset=utf-8", &body);
		return;
	case ROUTE_METRICS:
		if (s->o.refresh)
			s->o.refresh(s->o.ctx);
		serve_reply(r, MHD_HTTP_OK, NULL, &body); /* the text is made by the server's thread */
		return;
	default:
		s->o.handle(s->o.ctx, r);
	}
}

void serve_answer_pending(struct serve *s)
{
	struct serve_request *r;
	uint64_t n;

	if (read(s->fd, &n, sizeof(n)) < 0)
		return; /* nobody waits */
	while ((r = take(s))) {
		if (is_wanted(r))
			answer(s, r);
		else
			request_unref(r);
	}
}

const char *serve_path(const struct serve_request *r)
{
	return r->path;
}

const char *serve_query(const struct serve_request *r, const char *key)
{
	for (uint32_t i = 0; i < r->query.n; i++)
		if (str_eq(r->query.v[i].key, key))
			return r->query.v[i].value;
	return NULL;
}

void serve_ask_again(struct serve_request *r)
{
	static const uint64_t one = 1;
	struct serve *s = r->s;
	int fd = s->fd;

	pthread_mutex_lock(&s->lock);
	if (r->state == REQUEST_TAKEN)
		r->state = REQUEST_QUEUED;
	queue_put(&s->queue, r);
	pthread_mutex_unlock(&s->lock);
	if (write(fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

void serve_wait_longer(struct serve_request *r, int64_t for_ns)
{
	pthread_mutex_lock(&r->s->lock);
	r->until_ns = time_add(clock_now(&r->s->steady), for_ns);
	pthread_mutex_unlock(&r->s->lock);
}

const struct text *serve_body(const struct serve_request *r)
{
	return &r->body;
}

void serve_reply(struct serve_request *r, int status, const char *type, struct text *body)
{
	pthread_mutex_lock(&r->s->lock);
	request_answer(r, status, type, body);
	pthread_mutex_unlock(&r->s->lock);
	text_free(body);
	request_unref(r);
}

void serve_reply_error(struct serve_request *r, int status, const char *fmt, ...)
{
	struct text words = {0}, body = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&words, fmt, ap);
	va_end(ap);
	serve_error_text(&body, status, text_str(&words));
	text_free(&words);
	serve_reply(r, status, "application/json", &body);
}

/* ---- time ---- */

static void give_up(struct serve_request *r)
{
	if (r->route->kind == ROUTE_METRICS) { /* the numbers as they are, rather than none */
		struct text nothing = {0};

		request_answer(r, MHD_HTTP_OK, NULL, &nothing);
		return;
	}
	request_error(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		      r->s->is_stopping ? "the server is stopping" : "no answer in time: the scheduler is busy");
}

static void end_overdue(struct serve *s, int64_t now_ns)
{
	for (uint32_t i = s->open.n; i-- > 0;) /* giving up removes it */
		if (s->is_stopping || now_ns >= s->open.v[i]->until_ns)
			give_up(s->open.v[i]);
}

void *serve_keep_time(void *cls)
{
	struct serve *s = cls;

	pthread_mutex_lock(&s->lock);
	while (!s->is_stopping) {
		int64_t now_ns = clock_now(&s->steady);
		struct timespec at;

		end_overdue(s, now_ns);
		streams_wake(s, false);
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_sec++;
		pthread_cond_timedwait(&s->tick, &s->lock, &at);
	}
	end_overdue(s, INT64_MAX);
	streams_wake(s, true);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
