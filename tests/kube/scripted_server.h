/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_server.h - a tiny HTTP server on loopback that answers as a table says, rightly or not.
 *
 * Each request takes the next row of the script; after the last one it is answered with 404. What was asked is kept.
 */
#pragma once

#include <assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct answer {
	const char *bytes; /* the whole answer, headers and all; NULL: none */
	int delay_ms;	   /* before it */
	bool hangs;	   /* the connection stays open afterwards, silent */
	bool stays;	   /* and is used for further requests */
	size_t repeat;	   /* so often the last line again, for huge ones */
};

struct scripted_server {
	int fd, port;
	const struct answer *script;
	atomic_uint next;
	unsigned n;
	pthread_t thread;
	atomic_bool wants_stop;
	pthread_mutex_t lock;
	char asked[64][2048]; /* the beginning of each request */
	unsigned n_asked;
};

static inline void server_write(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t put = send(fd, s, n, MSG_NOSIGNAL);

		if (put <= 0)
			return;
		s += put;
		n -= (size_t)put;
	}
}

struct server_connection {
	struct scripted_server *server;
	int fd;
};

/* Headers and, as far as Content-Length says, a body. false: the other side is gone. */
static inline bool server_read(int fd, char *out, size_t size)
{
	size_t n = 0, want = 0;

	for (;;) {
		char *end, *length;
		ssize_t got = n < size - 1 ? recv(fd, out + n, size - 1 - n, 0) : 0;

		if (got <= 0)
			return false;
		n += (size_t)got;
		out[n] = '\0';
		end = strstr(out, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(out, "content-length:");
		want = length && length < end ? (size_t)strtoul(length + 15, NULL, 10) : 0;
		if (n >= (size_t)(end + 4 - out) + want)
			return true;
	}
}

static inline void server_wait(const struct scripted_server *s, int fd, int ms)
{
	for (; ms > 0 && !atomic_load(&s->wants_stop); ms -= 20) {
		struct pollfd p = {.fd = fd, .events = POLLRDHUP};

		if (poll(&p, 1, ms < 20 ? ms : 20) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)))
			return;
	}
}

/* How many requests came so far. */
static inline unsigned server_n_asked(struct scripted_server *s)
{
	unsigned n;

	pthread_mutex_lock(&s->lock);
	n = (unsigned)s->n_asked;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static inline void *server_serve(void *arg)
{
	struct server_connection *c = arg;
	struct scripted_server *s = c->server;
	char text[2048];
	bool goes_on = true;

	while (goes_on && server_read(c->fd, text, sizeof(text))) {
		unsigned i = atomic_fetch_add(&s->next, 1);
		static const struct answer none = {.bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
		const struct answer *a = i < s->n ? &s->script[i] : &none;

		pthread_mutex_lock(&s->lock);
		if (s->n_asked < 64)
			memcpy(s->asked[s->n_asked++], text, sizeof(text));
		pthread_mutex_unlock(&s->lock);
		server_wait(s, c->fd, a->delay_ms);
		if (a->bytes)
			server_write(c->fd, a->bytes, strlen(a->bytes));
		for (size_t k = 0; k < a->repeat && !atomic_load(&s->wants_stop); k++) {
			char chunk[4096];

			memset(chunk, 'x', sizeof(chunk));
			server_write(c->fd, chunk, sizeof(chunk));
		}
		if (a->hangs)
			server_wait(s, c->fd, 600000);
		goes_on = a->stays;
	}
	close(c->fd);
	free(c);
	return NULL;
}

static inline void *server_accept(void *arg)
{
	struct scripted_server *s = arg;
	pthread_t threads[256];
	unsigned n = 0;

	while (!atomic_load(&s->wants_stop)) {
		struct pollfd p = {.fd = s->fd, .events = POLLIN};
		struct server_connection *c;
		int fd;

		if (poll(&p, 1, 20) <= 0)
			continue;
		fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		c = calloc(1, sizeof(*c));
		assert(c && n < 256);
		c->server = s;
		c->fd = fd;
		pthread_create(&threads[n++], NULL, server_serve, c);
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

static inline struct scripted_server *server_start(const struct answer *script, unsigned n)
{
	struct scripted_server *s = calloc(1, sizeof(*s));
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	assert(s);
	s->script = script;
	s->n = n;
	pthread_mutex_init(&s->lock, NULL);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert(!bind(s->fd, (struct sockaddr *)&at, sizeof(at)) && !listen(s->fd, 64));
	getsockname(s->fd, (struct sockaddr *)&at, &len);
	s->port = ntohs(at.sin_port);
	pthread_create(&s->thread, NULL, server_accept, s);
	return s;
}

/* The client must be gone before: connections it keeps would be waited for. */
static inline void server_stop(struct scripted_server *s)
{
	atomic_store(&s->wants_stop, true);
	pthread_join(s->thread, NULL);
	close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
