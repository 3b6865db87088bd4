/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster in the journal, so that cede simulate can go on from it: when everything is listed and it may decide,
 * from time to time after that, and at the end. A copy of the process writes it to a file without a name beside the
 * journal, and the journal's thread takes it from there: whoever decides waits for neither.
 *
 * Pods that ran and are gone are noted at once, with how long they ran: nobody can see that in the next cluster.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/emit.h"
#include "journal/fd.h"
#include "journal/process.h"
#include "journal/record.h"
#include "run/keep.h"

#define LOOK_NS (NS_PER_S / 20)	 /* how often a copy at work is looked at */
#define AGAIN_NS (60 * NS_PER_S) /* after one that failed, and where many pods go */
enum { PATIENCE_S = 120, GONE_BYTES_MAX = 64 << 20 };

static bool may_keep(const struct daemon *d)
{
	return d->journal && d->o->cluster_every_ns && scheduler_is_synced(d->scheduler) && (d->leads || d->o->is_dry);
}

static bool may_begin(const struct daemon *d)
{
	return may_keep(d) && !d->kept.is_handed && !d->is_ending;
}

static void say_not_kept(struct daemon *d, const char *why)
{
	struct text t = {0};

	text_printf(&t, "the cluster is not kept in the journal this time: %s", why);
	lines_said(d, true, text_str(&t));
	text_free(&t);
}

/* ---- who is gone ---- */

/* Since when it runs; profile kai looks at stamps alone, and may have none. TIME_NONE: it has not started. */
static int64_t runs_since(const struct pod *p)
{
	if (p->state != POD_PLACED && p->state != POD_LEAVING)
		return TIME_NONE;
	return p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns;
}

/* Of those who run. When there are many the next cluster comes soon; what is too much until then is left out. */
void keep_gone(struct daemon *d, pod_id pod, const struct moment *now)
{
	const struct world *w = scheduler_world(d->scheduler);
	int64_t since = runs_since(ledger_pod(cluster_ledger(w->cluster), pod));
	int64_t soon_ns = time_add(now->steady_ns, AGAIN_NS);
	struct kept_cluster *k = &d->kept;
	struct emit e;

	if (!may_keep(d) || !k->has_one || since == TIME_NONE || now->wall_ns <= since)
		return;
	if (k->gone.n > GONE_BYTES_MAX / 2 && k->due_ns > soon_ns)
		k->due_ns = soon_ns;
	if (k->gone.n > GONE_BYTES_MAX)
		return;
	emit_init(&e, &k->gone, EMIT_JSON_LINE);
	manifest_write_pod(w->cluster, pod, time_since(now->wall_ns, since), &e);
}

/* ---- the copy ---- */

/* But for those in one that is on its way; with the NUL. */
static bool write_gone(const struct kept_cluster *k, int fd)
{
	size_t from = k->is_handed ? k->n_gone : 0;

	return fd_write(fd, text_str(&k->gone) + from, k->gone.n - from + 1);
}

static bool write_cluster(void *ctx, int fd)
{
	const struct daemon *d = ctx;
	struct text t = {0};
	struct emit e;
	bool is_written;

	emit_init(&e, &t, EMIT_JSON_LINE);
	manifest_write(scheduler_world(d->scheduler)->cluster, &e);
	is_written = fd_write(fd, text_str(&t), t.n + 1) && write_gone(&d->kept, fd);
	text_free(&t);
	return is_written;
}

/* -1: errno says why. */
static int open_file(const struct daemon *d)
{
	struct text name = {0};
	int fd;

	text_printf(&name, "%s.cluster-XXXXXX", d->o->journal);
	fd = mkostemp(name.s, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.s);
	text_free(&name);
	return fd;
}

static void begin(struct daemon *d, const struct moment *now)
{
	struct kept_cluster *k = &d->kept;
	int why = 0;

	k->due_ns = time_add(now->steady_ns, AGAIN_NS);
	k->fd = open_file(d);
	if (k->fd < 0) {
		say_not_kept(d, strerror(errno));
		return;
	}
	k->at_ns = now->wall_ns;
	why = process_copy(&k->pid, k->fd, PATIENCE_S, write_cluster, d);
	k->n_gone = k->gone.n;
	if (!why)
		return;
	k->pid = 0;
	close(k->fd);
	say_not_kept(d, strerror(why));
}

/* ---- what it has written ---- */

static void forget_gone(struct kept_cluster *k)
{
	k->gone.n -= k->n_gone;
	if (k->gone.n)
		memmove(k->gone.s, k->gone.s + k->n_gone, k->gone.n + 1);
	else
		text_reset(&k->gone);
	k->n_gone = 0;
}

static void hand_over(struct daemon *d)
{
	const struct world *w = scheduler_world(d->scheduler);
	struct arena *a = arena_new(1 << 12);
	struct kept_cluster *k = &d->kept;
	struct journal_cluster c = {.at_ns = k->at_ns,
				    .profile = profile_text(w->config->profile),
				    .reclaim_is_off = w->config->reclaim_is_off,
				    .quota_is_on = w->config->quota_is_on,
				    .fd = k->fd};
	struct journal_setting *settings;
	struct err e = {0};

	if (journal_settings_of(w->manifest, a, &settings, &c.n_settings, &e)) {
		close(k->fd);
		say_not_kept(d, e.msg);
	} else {
		c.settings = settings;
		journal_live_cluster(d->journal, &c);
		k->n_handed++;
		k->has_one = k->is_handed = true;
		k->due_ns = time_add(clock_now(&d->steady), d->o->cluster_every_ns);
	}
	arena_free(a);
}

/* Who was gone is forgotten when it is written. */
static void hear_of_it(struct daemon *d)
{
	struct kept_cluster *k = &d->kept;
	struct text problem = {0};

	if (!k->is_handed)
		return;
	k->is_handed = journal_live_clusters_done(d->journal, &problem) < k->n_handed;
	if (problem.n) {
		say_not_kept(d, text_str(&problem));
		k->due_ns = time_add(clock_now(&d->steady), AGAIN_NS);
	} else if (!k->is_handed) {
		forget_gone(k);
	}
	text_free(&problem);
}

static void tell_failure(struct daemon *d, int status)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	struct text t = {0};

	if (signal == SIGALRM)
		text_add(&t, "it took too long");
	else if (signal)
		text_printf(&t, "who wrote it was ended by signal %d", signal);
	else
		text_add(&t, "it could not be written; is the disk full?");
	say_not_kept(d, text_str(&t));
	text_free(&t);
}

static void look_at_copy(struct daemon *d)
{
	struct kept_cluster *k = &d->kept;
	int status = 0;
	pid_t pid = waitpid(k->pid, &status, WNOHANG);

	if (!pid || (pid < 0 && errno == EINTR))
		return;
	k->pid = 0;
	if (pid > 0 && !status) {
		hand_over(d);
		return;
	}
	close(k->fd);
	if (pid > 0 && process_hung(status, PATIENCE_S))
		k->due_ns = INT64_MIN;
	else
		tell_failure(d, pid > 0 ? status : 0);
}

static void end_copy(struct kept_cluster *k)
{
	if (!k->pid)
		return;
	kill(k->pid, SIGKILL);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
	close(k->fd);
}

/* ---- all of it ---- */

void keep_cluster_tick(struct daemon *d)
{
	struct moment now = daemon_now(d);

	hear_of_it(d);
	if (d->kept.pid)
		look_at_copy(d);
	else if (may_begin(d) && now.steady_ns >= d->kept.due_ns)
		begin(d, &now);
}

int64_t keep_cluster_next_ns(const struct daemon *d)
{
	if (d->kept.pid)
		return time_add(clock_now(&d->steady), LOOK_NS);
	return may_begin(d) ? d->kept.due_ns : INT64_MAX;
}

void keep_cluster_anew(struct daemon *d)
{
	end_copy(&d->kept);
	d->kept.due_ns = INT64_MIN;
}

/* Nothing is decided any more, so nobody minds waiting. */
void keep_cluster_last(struct daemon *d)
{
	struct kept_cluster *k = &d->kept;

	end_copy(k);
	if (may_keep(d) && (k->fd = open_file(d)) >= 0) {
		k->at_ns = clock_now(&d->wall);
		if (write_cluster(d, k->fd))
			hand_over(d);
		else
			close(k->fd);
	}
	text_free(&k->gone);
}
