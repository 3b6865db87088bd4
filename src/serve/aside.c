/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "journal/fd.h"
#include "journal/process.h"

#define PATIENCE_NS (120 * NS_PER_S)
enum { MOST_AT_ONCE = 2, MOST_WAITING = 30, CHUNK = 1 << 16 };

struct helper { /* a process at work, and the thread that waits for its answer */
	struct aside *a;
	struct serve_request *r;
	pthread_t thread;
	pid_t pid; /* 0: it has ended, and its number may be another's */
	int fd;
	bool has_thread;
	_Atomic bool is_done; /* the thread ends soon */
};

struct aside {
	pthread_mutex_t lock; /* of the numbers of processes, and of who waits */
	_Atomic bool is_ending;
	ARRAY(struct serve_request *) waiting; /* for one to end */
	int64_t patience_ns;
	struct helper helpers[MOST_AT_ONCE];
};

struct answer_header { /* before the body; literals are in the same place in both processes */
	int status;
	const char *type;
};

struct aside *aside_new(int64_t patience_ns)
{
	struct aside *a = mem_alloc(sizeof(*a));

	a->patience_ns = patience_ns ? patience_ns : PATIENCE_NS;
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

static unsigned seconds_of(const struct aside *a)
{
	return (unsigned)(a->patience_ns / NS_PER_S) + 1;
}

/* ---- the copy ---- */

struct question {
	void (*make)(void *ctx, struct answer *ret);
	void *ctx;
};

static bool answer_to(void *ctx, int fd)
{
	const struct question *q = ctx;
	struct answer answer = {0};
	struct answer_header header;

	q->make(q->ctx, &answer);
	header = (struct answer_header){answer.status, answer.type};
	return fd_write(fd, &header, sizeof(header)) && fd_write(fd, text_str(&answer.body), answer.body.n);
}

/* ---- who waits for it ---- */

static void read_all(int fd, struct text *ret)
{
	char *chunk = mem_alloc(CHUNK);
	ssize_t n;

	while ((n = read(fd, chunk, CHUNK)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			text_add_n(ret, chunk, (size_t)n);
	mem_free(chunk);
}

/* How it ended. From here on its number may be another's. */
static int reap(struct helper *c)
{
	int status = 0;

	pthread_mutex_lock(&c->a->lock);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	pthread_mutex_unlock(&c->a->lock);
	return status;
}

static void tell_failure(struct helper *c, int status)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (c->a->is_ending)
		serve_reply_error(c->r, 503, "the server is stopping");
	else if (signal == SIGALRM)
		serve_reply_error(c->r, 503, "no answer in time");
	else if (signal)
		serve_reply_error(c->r, 500, "who looked for the answer was ended by signal %d", signal);
	else
		serve_reply_error(c->r, 500, "who looked for the answer ended without one");
}

/* The next may be asked: on the cluster's thread, of the cluster as it is then. */
static void ask_next(struct aside *a)
{
	struct serve_request *next = NULL;

	pthread_mutex_lock(&a->lock);
	if (a->waiting.n && !a->is_ending) {
		next = a->waiting.v[0];
		array_remove(&a->waiting, 0);
	}
	pthread_mutex_unlock(&a->lock);
	if (next)
		serve_ask_again(next);
}

static void *await(void *ctx)
{
	struct helper *c = ctx;
	struct text all = {0}, body = {0};
	struct answer_header header;
	int status;

	read_all(c->fd, &all);
	close(c->fd);
	status = reap(c);
	c->is_done = true; /* whoever is answered may ask again at once */
	if (process_hung(status, seconds_of(c->a)) && !c->a->is_ending) {
		serve_ask_again(c->r);
	} else if (status || all.n < sizeof(header)) {
		tell_failure(c, status);
	} else {
		memcpy(&header, text_str(&all), sizeof(header));
		text_add_n(&body, text_str(&all) + sizeof(header), all.n - sizeof(header));
		serve_reply(c->r, header.status, header.type, &body);
	}
	text_free(&all);
	ask_next(c->a);
	return NULL;
}

/* ---- on the cluster's thread ---- */

static void forget(struct helper *c)
{
	if (c->has_thread)
		pthread_join(c->thread, NULL);
	*c = (struct helper){0};
}

static struct helper *free_helper(struct aside *a)
{
	for (int i = 0; i < MOST_AT_ONCE; i++) {
		struct helper *c = &a->helpers[i];

		if (c->has_thread && !c->is_done)
			continue;
		forget(c);
		return c;
	}
	return NULL;
}

/* 0, or why not. */
static int start(struct helper *c, void (*make)(void *ctx, struct answer *ret), void *ctx)
{
	struct question q = {make, ctx};
	int fds[2], why;

	if (pipe2(fds, O_CLOEXEC))
		return errno;
	why = process_copy(&c->pid, fds[1], seconds_of(c->a), answer_to, &q);
	close(fds[1]);
	c->fd = fds[0];
	if (!why)
		why = pthread_create(&c->thread, NULL, await, c);
	c->has_thread = !why;
	if (!why)
		return 0;
	close(c->fd);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		reap(c);
	}
	return why;
}

static void wait_for_one(struct aside *a, struct serve_request *r)
{
	bool has_room;

	pthread_mutex_lock(&a->lock);
	has_room = a->waiting.n < MOST_WAITING;
	if (has_room)
		array_push(&a->waiting, r);
	pthread_mutex_unlock(&a->lock);
	if (!has_room)
		serve_reply_error(r, 503, "%d questions wait for an answer already", MOST_WAITING);
}

void aside_answer(struct aside *a, struct serve_request *r, void (*make)(void *ctx, struct answer *ret), void *ctx)
{
	struct helper *c = free_helper(a);
	int why;

	serve_wait_longer(r, a->patience_ns);
	if (!c) {
		wait_for_one(a, r);
		return;
	}
	*c = (struct helper){.a = a, .r = r};
	why = start(c, make, ctx);
	if (why)
		serve_reply_error(r, 503, "no process to look for the answer could be started: %s", strerror(why));
}

void aside_free(struct aside *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->is_ending = true;
	for (int i = 0; i < MOST_AT_ONCE; i++)
		if (a->helpers[i].pid > 0)
			kill(a->helpers[i].pid, SIGKILL);
	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < MOST_AT_ONCE; i++)
		forget(&a->helpers[i]);
	for (uint32_t i = 0; i < a->waiting.n; i++)
		serve_reply_error(a->waiting.v[i], 503, "the server is stopping");
	array_free(&a->waiting);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}
