/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides: the daemon's thread fills a batch under a lock that is held for as long as a copy takes; the writer's
 * thread takes the whole batch away and writes it (live_write.c). The journal itself is the writer's alone once it
 * runs.
 */
#include "journal/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/live_write.h"
#include "manifest/fields.h"

enum { GATHER_MS = 20, RETRY_MS = 1000, CLOSE_MS = 8000, BATCH_MAX = 100000, CLUSTERS_MAX = 2 };
#define BATCH_BYTES_MAX (UINT64_C(64) << 20)

struct journal_live {
	struct live_writer writer; /* of the thread, and before it runs */
	pthread_t thread;
	bool runs;
	int fd;

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t has_work, has_done;
	struct live_batch filling;
	ARRAY(struct live_cluster) clusters; /* to be written */
	uint64_t n_clusters_done;
	uint64_t last_ticket, durable, n_lost;
	bool is_closing, is_gone; /* gone: the thread has ended */
	char problem[sizeof((struct err){0}.msg)], cluster_problem[sizeof((struct err){0}.msg)];
};

/* ---- time ---- */

static struct timespec in_ms(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= NS_PER_S) {
		t.tv_sec++;
		t.tv_nsec -= NS_PER_S;
	}
	return t;
}

static void init_cond(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

/* ---- the writer's thread ---- */

/* With the lock. What came while one batch was written is the next; a short wait lets more come together. */
static bool wait_for_work(struct journal_live *l)
{
	struct timespec until;

	while (!l->filling.v.n && !l->clusters.n && !l->is_closing)
		pthread_cond_wait(&l->has_work, &l->lock);
	if (!l->filling.v.n)
		return l->clusters.n;
	until = in_ms(GATHER_MS);
	while (!l->is_closing && l->filling.v.n < BATCH_MAX / 2 &&
	       pthread_cond_timedwait(&l->has_work, &l->lock, &until) != ETIMEDOUT)
		;
	return true;
}

static void wake_caller(struct journal_live *l)
{
	uint64_t one = 1;

	pthread_cond_broadcast(&l->has_done);
	if (write(l->fd, &one, sizeof(one)) < 0) /* it is readable already: the caller will look */
		return;
}

/* With the lock. */
static void wait_after_failure(struct journal_live *l, const struct err *why)
{
	struct timespec until = in_ms(RETRY_MS);

	snprintf(l->problem, sizeof(l->problem), "%s", why->msg);
	wake_caller(l);
	while (!l->is_closing && pthread_cond_timedwait(&l->has_work, &l->lock, &until) != ETIMEDOUT)
		;
}

/* With the lock, which is let go while it is written. False: it is given up, because the daemon ends. */
static bool write_out(struct journal_live *l, struct live_batch *batch)
{
	for (;;) {
		bool is_last_try = l->is_closing;
		uint64_t lost = l->n_lost;
		enum err_code rc;
		struct err e = {0};

		pthread_mutex_unlock(&l->lock);
		rc = live_write(&l->writer, batch, lost, &e);
		pthread_mutex_lock(&l->lock);
		if (!rc) {
			l->durable = batch->last_ticket;
			l->problem[0] = '\0';
			wake_caller(l);
			return true;
		}
		wait_after_failure(l, &e);
		if (is_last_try)
			return false;
	}
}

/* With the lock. Decisions that were there before it are written before it. */
static bool write_batch(struct journal_live *l)
{
	struct live_batch batch = l->filling;
	bool is_written;

	l->filling = (struct live_batch){0};
	is_written = !batch.v.n || write_out(l, &batch);
	live_batch_free(&batch);
	return is_written;
}

/* With the lock. */
static void cluster_done(struct journal_live *l, const char *problem)
{
	snprintf(l->cluster_problem, sizeof(l->cluster_problem), "%s", problem);
	l->n_clusters_done++;
	wake_caller(l);
}

/* With the lock, which is let go while it is written. */
static void write_cluster(struct journal_live *l)
{
	struct live_cluster cluster;
	enum err_code rc;
	struct err e = {0};

	if (!l->clusters.n)
		return;
	cluster = l->clusters.v[0];
	array_remove(&l->clusters, 0);
	pthread_mutex_unlock(&l->lock);
	rc = live_write_cluster(&l->writer, &cluster, &e);
	live_cluster_free(&cluster);
	pthread_mutex_lock(&l->lock);
	cluster_done(l, rc ? e.msg : "");
}

static void *run_writer(void *arg)
{
	struct journal_live *l = arg;
	bool goes_on = true;

	pthread_mutex_lock(&l->lock);
	while (goes_on && wait_for_work(l)) {
		goes_on = write_batch(l);
		if (goes_on)
			write_cluster(l);
	}
	l->is_gone = true;
	wake_caller(l);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- the daemon's side ---- */

static bool is_full(const struct journal_live *l)
{
	return l->filling.v.n >= BATCH_MAX || l->filling.bytes >= BATCH_BYTES_MAX;
}

static void start_writer(struct journal_live *l)
{
	if (!l->runs)
		l->runs = pthread_create(&l->thread, NULL, run_writer, l) == 0;
	if (!l->runs)
		snprintf(l->problem, sizeof(l->problem), "no thread could be started for the journal");
}

/* With the lock. What is lost counts as written, once what was before it is: nobody is to wait for it. */
static void lose(struct journal_live *l, uint64_t ticket)
{
	l->n_lost++;
	l->filling.last_ticket = ticket;
}

uint64_t journal_live_decide(struct journal_live *l, const struct journal_decision *d, int64_t at_ns)
{
	uint64_t ticket;

	pthread_mutex_lock(&l->lock);
	start_writer(l);
	ticket = ++l->last_ticket;
	if (is_full(l))
		lose(l, ticket);
	else
		live_batch_decide(&l->filling, d, at_ns, ticket);
	pthread_cond_signal(&l->has_work);
	pthread_mutex_unlock(&l->lock);
	return ticket;
}

uint64_t journal_live_outcome(struct journal_live *l, const struct journal_outcome *o)
{
	uint64_t ticket;

	pthread_mutex_lock(&l->lock);
	start_writer(l);
	ticket = ++l->last_ticket;
	if (is_full(l))
		lose(l, ticket);
	else
		live_batch_outcome(&l->filling, o, ticket);
	pthread_cond_signal(&l->has_work);
	pthread_mutex_unlock(&l->lock);
	return ticket;
}

void journal_live_cluster(struct journal_live *l, const struct journal_cluster *c)
{
	struct live_cluster cluster;

	live_cluster_copy(&cluster, c);
	pthread_mutex_lock(&l->lock);
	start_writer(l);
	if (l->clusters.n < CLUSTERS_MAX) {
		array_push(&l->clusters, cluster);
		pthread_cond_signal(&l->has_work);
	} else {
		live_cluster_free(&cluster);
		cluster_done(l, "those before it are not written yet");
	}
	pthread_mutex_unlock(&l->lock);
}

uint64_t journal_live_clusters_done(struct journal_live *l, struct text *ret_problem)
{
	uint64_t n;

	pthread_mutex_lock(&l->lock);
	n = l->n_clusters_done;
	text_add(ret_problem, l->cluster_problem);
	l->cluster_problem[0] = '\0';
	pthread_mutex_unlock(&l->lock);
	return n;
}

uint64_t journal_live_durable(struct journal_live *l)
{
	uint64_t n;

	pthread_mutex_lock(&l->lock);
	n = l->durable;
	pthread_mutex_unlock(&l->lock);
	return n;
}

int journal_live_fd(const struct journal_live *l)
{
	return l->fd;
}

void journal_live_problem(struct journal_live *l, struct text *out, uint64_t *ret_lost)
{
	pthread_mutex_lock(&l->lock);
	text_add(out, l->problem);
	*ret_lost = l->n_lost;
	pthread_mutex_unlock(&l->lock);
}

/* ---- opening and closing ---- */

enum err_code journal_live_open(const char *path, const struct journal_session *session, struct journal_live **ret,
				struct err *e)
{
	struct journal_live *l = mem_alloc(sizeof(*l));
	enum err_code rc;

	l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = l->fd < 0 ? err_fail(e, ERR_IO, "eventfd: %s", strerror(errno))
		       : live_writer_open(&l->writer, path, session, e);
	if (rc) {
		if (l->fd >= 0)
			close(l->fd);
		mem_free(l);
		return rc;
	}
	pthread_mutex_init(&l->lock, NULL);
	init_cond(&l->has_work);
	init_cond(&l->has_done);
	*ret = l;
	return ERR_OK;
}

enum err_code journal_live_open_writes(struct journal_live *l, struct arena *a, struct journal_open_write **ret,
				       uint32_t *ret_n, struct err *e)
{
	return live_open_writes(&l->writer, a, ret, ret_n, e);
}

/* With the lock. A writer that is waiting for a lock of somebody else comes back within some seconds. */
static void wait_for_end(struct journal_live *l)
{
	struct timespec until = in_ms(CLOSE_MS);

	l->is_closing = true;
	pthread_cond_signal(&l->has_work);
	while (l->runs && !l->is_gone && pthread_cond_timedwait(&l->has_done, &l->lock, &until) != ETIMEDOUT)
		;
}

enum err_code journal_live_close(struct journal_live *l, struct err *e)
{
	enum err_code rc = ERR_OK;

	pthread_mutex_lock(&l->lock);
	wait_for_end(l);
	pthread_mutex_unlock(&l->lock);
	if (l->runs)
		pthread_join(l->thread, NULL);
	if (l->durable != l->last_ticket)
		rc = err_fail(e, ERR_IO, "%s: %llu decisions and outcomes were not recorded: %s", l->writer.path,
			      (unsigned long long)(l->last_ticket - l->durable), l->problem);
	live_batch_free(&l->filling);
	for (uint32_t i = 0; i < l->clusters.n; i++)
		live_cluster_free(&l->clusters.v[i]);
	array_free(&l->clusters);
	live_writer_close(&l->writer);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->has_work);
	pthread_cond_destroy(&l->has_done);
	close(l->fd);
	mem_free(l);
	return rc;
}
