/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/fields.h"
#include "serve/serve_internal.h"

enum { MAX_CONNECTIONS = 256, MAX_FROM_ONE = 64, IDLE_S = 30, HEADER_BYTES = 32 << 10, THREADS = 2, MAX_PEM = 1 << 20 };

static enum err_code read_pem(const char *path, struct text *ret, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n = 0;

	if (fd < 0)
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	while (ret->n < MAX_PEM && (n = read(fd, buf, sizeof(buf))) > 0)
		text_add_n(ret, buf, (size_t)n);
	explicit_bzero(buf, sizeof(buf));
	close(fd);
	if (n < 0)
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	return ret->n < MAX_PEM ? ERR_OK : err_fail(e, ERR_LIMIT, "%s: longer than a certificate can be", path);
}

static enum err_code get_certificate(struct serve *s, struct text *cert, struct text *key, struct err *e)
{
	struct clock wall = clock_system();

	if (!s->o.tls_cert)
		return certificate_make(s->host, clock_now(&wall), cert, key, e);
	TRY(read_pem(s->o.tls_cert, cert, e));
	return read_pem(s->o.tls_key, key, e);
}

static struct MHD_Daemon *start_daemon(struct serve *s, const struct text *cert, const struct text *key)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (cert->n ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, unconst(text_str(cert))},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, unconst(text_str(key))},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, unconst("NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2")},
		{MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

	return MHD_start_daemon(flags, 0, NULL, NULL, serve_on_request, s, MHD_OPTION_LISTEN_SOCKET, s->listen_fd,
				MHD_OPTION_NOTIFY_COMPLETED, serve_on_completed, s, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned)s->o.max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
				(unsigned)(s->is_local ? s->o.max_connections : MAX_FROM_ONE),
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)HEADER_BYTES, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_ARRAY,
				cert->n ? tls : none, MHD_OPTION_END);
}

static void wake_streams(void *ctx)
{
	struct serve *s = ctx;

	pthread_mutex_lock(&s->lock);
	streams_wake(s, true);
	pthread_mutex_unlock(&s->lock);
}

static enum err_code start_threads(struct serve *s, struct err *e)
{
	s->has_keeper = pthread_create(&s->keeper, NULL, serve_keep_time, s) == 0;
	s->has_asker = pthread_create(&s->asker, NULL, serve_ask_access, s) == 0;
	return s->has_keeper && s->has_asker ? ERR_OK : err_fail(e, ERR_IO, "a thread could not be started");
}

static enum err_code start(struct serve *s, struct err *e)
{
	struct text cert = {0}, key = {0};
	enum err_code rc = ERR_OK;
	bool is_tls = !s->is_local || s->o.tls_cert;

	TRY(listen_open(s->o.listen, &s->listen_fd, &s->host, e));
	TRY(listen_url(s->listen_fd, s->host, is_tls, &s->url, e));
	if (is_tls)
		rc = get_certificate(s, &cert, &key, e);
	if (!rc)
		rc = start_threads(s, e);
	if (!rc)
		s->daemon = start_daemon(s, &cert, &key);
	if (key.n)
		explicit_bzero(key.s, key.n);
	text_free(&cert);
	text_free(&key);
	if (!rc && !s->daemon)
		return err_fail(e, ERR_IO, "the HTTP server did not start on %s%s", s->o.listen,
				s->o.tls_cert ? " (are certificate and key a pair, in PEM?)" : "");
	return rc;
}

static struct serve *serve_new(const struct serve_options *o, bool is_local)
{
	struct serve *s = mem_alloc(sizeof(*s));
	pthread_condattr_t attr;

	s->o = *o;
	s->o.reply_ns = o->reply_ns ? o->reply_ns : 30 * NS_PER_S;
	s->o.max_body = o->max_body ? o->max_body : (size_t)1 << 20;
	s->o.max_connections = o->max_connections ? o->max_connections : MAX_CONNECTIONS;
	s->steady = clock_steady();
	s->listen_fd = -1;
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->is_local = is_local;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->tick, &attr);
	pthread_cond_init(&s->asked, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

enum err_code serve_start(const struct serve_options *o, struct serve **ret, struct err *e)
{
	struct serve *s;
	enum err_code rc;
	bool is_local;

	TRY(serve_check_listen(o->listen, &is_local, e));
	if (!o->tls_cert != !o->tls_key)
		return err_fail(e, ERR_INPUT, "a certificate and its key are given together");
	s = serve_new(o, is_local);
	if (!s->is_local && !o->authorize)
		rc = err_fail(e, ERR_INPUT, "%s can be reached by others, and nobody here can say who they are",
			      o->listen);
	else
		rc = s->fd < 0 ? err_fail(e, ERR_IO, "eventfd: %s", strerror(errno)) : start(s, e);
	if (rc) {
		serve_stop(s);
		return rc;
	}
	if (o->log)
		serve_log_listen(o->log, wake_streams, s);
	*ret = s;
	return ERR_OK;
}

static void stop_threads(struct serve *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_stopping = true;
	pthread_cond_broadcast(&s->tick);
	pthread_cond_broadcast(&s->asked);
	pthread_mutex_unlock(&s->lock);
	if (s->has_keeper)
		pthread_join(s->keeper, NULL); /* its last act: everybody who waits is answered */
	if (s->has_asker)
		pthread_join(s->asker, NULL);
}

/* Whoever was answered gets his answer; who does not take it has lost it. */
static void stop_daemon(struct serve *s)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	pthread_mutex_lock(&s->lock);
	while (s->n_requests && !rc)
		rc = pthread_cond_timedwait(&s->tick, &s->lock, &until);
	pthread_mutex_unlock(&s->lock);
	MHD_stop_daemon(s->daemon); /* closes the socket */
}

static void drop_queue(struct request_queue *q)
{
	struct serve_request *r;

	while ((r = queue_take(q)))
		request_unref(r);
}

void serve_stop(struct serve *s)
{
	if (!s)
		return;
	if (s->o.log)
		serve_log_listen(s->o.log, NULL, NULL);
	stop_threads(s);
	if (s->daemon)
		stop_daemon(s);
	else if (s->listen_fd >= 0)
		close(s->listen_fd);
	drop_queue(&s->queue);
	drop_queue(&s->access);
	array_free(&s->open);
	array_free(&s->streams);
	access_free(s);
	if (s->fd >= 0)
		close(s->fd);
	pthread_cond_destroy(&s->tick);
	pthread_cond_destroy(&s->asked);
	pthread_mutex_destroy(&s->lock);
	text_free(&s->url);
	mem_free(s->host);
	mem_free(s);
}

const char *serve_url(const struct serve *s)
{
	return text_str(&s->url);
}
