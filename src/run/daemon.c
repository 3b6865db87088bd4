/* SPDX-License-Identifier: Apache-2.0 */
#include "run/daemon_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "run/face.h"
#include "run/keep.h"

#define NS_PER_MS (NS_PER_S / 1000)
#define DRAIN_NS (6 * NS_PER_S)
enum { LONGEST_MS = 60000 }; /* of one wait */
enum { EXIT_DONE = 0, EXIT_STARTLESS = 1, EXIT_SETTINGS = 2 };

struct moment daemon_now(const struct daemon *d)
{
	return (struct moment){clock_now(&d->steady), clock_now(&d->wall)};
}

/* ---- what the scheduler tells ---- */

static uint64_t on_decided(void *ctx, const struct plan_view *v, const struct decision *x, const struct moment *now)
{
	struct daemon *d = ctx;
	bool is_new = lines_decision(d, v, x);

	face_decided(d->face, v, x, now);
	return is_new || x->n_victims ? keep_decision(d, v, x, now) : 0;
}

static bool is_kept(void *ctx, uint64_t ticket)
{
	return keep_has(ctx, ticket);
}

static void on_turn_ended(void *ctx, uint32_t n_decisions, int64_t took_ns)
{
	face_turn_ended(((struct daemon *)ctx)->face, n_decisions, took_ns);
}

static void on_wrote(void *ctx, enum task_kind k, const struct kube_news *n)
{
	face_wrote(((struct daemon *)ctx)->face, k, n);
}

static void on_bound(void *ctx, const char *uid, const char *error, const struct moment *now)
{
	keep_outcome(ctx, false, uid, *error ? JOURNAL_FAILED : JOURNAL_CARRIED_OUT, error, now);
	face_bound(((struct daemon *)ctx)->face, uid, error, now);
}

static void on_undone(void *ctx, const char *reason)
{
	face_undone(((struct daemon *)ctx)->face, reason);
}

static void on_gang(void *ctx, const char *outcome)
{
	face_gang(((struct daemon *)ctx)->face, outcome);
}

static void on_evicted(void *ctx, const char *uid, const char *error, const struct moment *now)
{
	keep_outcome(ctx, true, uid, *error ? JOURNAL_FAILED : JOURNAL_CARRIED_OUT, error, now);
}

static void on_observed(void *ctx, const char *uid, bool is_eviction, const struct moment *now)
{
	keep_outcome(ctx, is_eviction, uid, JOURNAL_OBSERVED, "", now);
}

static void on_gone(void *ctx, pod_id pod, const struct moment *now)
{
	keep_gone(ctx, pod, now);
}

static void on_theirs(void *ctx, const struct their_placement *p, const struct moment *now)
{
	keep_theirs(ctx, p, now);
	face_theirs(((struct daemon *)ctx)->face, p);
}

static void on_settings(void *ctx, const char *name, const char *uid, const struct tree *map)
{
	settings_map_changed(ctx, name, uid, map);
}

static void on_refused(void *ctx, const struct kube_object *o, const char *words)
{
	struct daemon *d = ctx;
	struct text t = {0};

	text_printf(&t, "%s %s%s%s: left out: %s", o->kind->kind, o->ns, *o->ns ? "/" : "", o->name, words);
	lines_said(d, true, text_str(&t));
	text_free(&t);
	face_object_refused(d->face, o->kind->kind);
	settings_object_refused(d, o, words);
}

static void on_said(void *ctx, bool is_warning, const char *words)
{
	lines_said(ctx, is_warning, words);
}

/* ---- following ---- */

void daemon_follow(struct daemon *d, struct world *w)
{
	struct scheduler_options o = scheduler_options_default();
	struct eviction_history history;
	struct moment now = daemon_now(d);
	struct err e = {0};

	eviction_history_init(&history, vocab_names(w->vocab));
	if (d->scheduler)
		eviction_history_copy(&history, scheduler_history(d->scheduler));
	else if (keep_history(d, w, &history, &e))
		lines_said(d, true, e.msg);
	self_check_end(d); /* of a cluster with other settings */
	keep_cluster_anew(d);
	scheduler_free(d->scheduler);
	o.transport = kube_client_transport(d->client);
	o.ns = d->ns;
	o.instance = d->identity;
	o.is_dry = d->o->is_dry;
	o.seed = (uint64_t)now.steady_ns;
	o.history = &history;
	o.hooks = (struct scheduler_hooks){.ctx = d,
					   .decided = on_decided,
					   .is_kept = is_kept,
					   .turn_ended = on_turn_ended,
					   .wrote = on_wrote,
					   .bound = on_bound,
					   .evicted = on_evicted,
					   .observed = on_observed,
					   .gone = on_gone,
					   .theirs = on_theirs,
					   .undone = on_undone,
					   .gang = on_gang,
					   .settings_changed = on_settings,
					   .refused = on_refused,
					   .said = on_said};
	d->scheduler = scheduler_new(w, &o, &now);
	face_settings(d->face, NULL);
	eviction_history_free(&history);
	map_free(&d->told);
	d->told = (struct map){0};
	if (d->leads)
		scheduler_lead(d->scheduler, &now);
}

/* New settings are built at once, and take over when nothing is under way any more. */
static void take_settings(struct daemon *d)
{
	struct world *w = NULL;
	struct err e = {0};

	d->wants_settings = false;
	if (settings_build(d, &w, &e)) {
		settings_refused(d, &e);
	} else {
		world_free(d->next);
		d->next = w;
		scheduler_drain(d->scheduler);
	}
	for (int i = 0; i < MAP_COUNT; i++)
		d->maps[i].is_new = false;
}

static void change_settings(struct daemon *d)
{
	struct world *w = d->next;

	if (!w || !scheduler_is_drained(d->scheduler))
		return;
	d->next = NULL;
	daemon_follow(d, w);
	lines_said(d, false, "new settings are in force");
}

/* ---- the loop ---- */

static void take_news(struct daemon *d)
{
	struct moment now = daemon_now(d);
	struct kube_news *n;

	while ((n = kube_client_next(d->client))) {
		face_requested(d->face, n);
		if (!leader_take(d, n) && !scheduler_take(d->scheduler, n, &now))
			self_check_take(d, n);
		kube_news_free(d->client, n);
	}
}

/* true: there is more to do at once. */
static bool turn(struct daemon *d)
{
	struct moment now;

	take_news(d);
	leader_tick(d);
	if (d->wants_settings && kube_feed_is_synced(scheduler_feed(d->scheduler)) && !d->is_ending)
		take_settings(d);
	change_settings(d);
	now = daemon_now(d);
	keep_tick(d);
	scheduler_tick(d->scheduler, &now);
	keep_cluster_tick(d); /* of what has settled */
	self_check_tick(d);
	return scheduler_decide(d->scheduler, &now);
}

static int next_ms(const struct daemon *d)
{
	struct moment now = daemon_now(d);
	int64_t next = scheduler_next_ns(d->scheduler, &now), wait;

	if (leader_next_ns(d) < next)
		next = leader_next_ns(d);
	if (self_check_next_ns(d) < next)
		next = self_check_next_ns(d);
	if (keep_cluster_next_ns(d) < next)
		next = keep_cluster_next_ns(d);
	if (d->is_ending && d->end_ns < next)
		next = d->end_ns;
	if (next <= now.steady_ns)
		return 0;
	wait = time_since(next, now.steady_ns) / NS_PER_MS;
	return wait >= LONGEST_MS ? LONGEST_MS : (int)wait + 1;
}

static void read_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			d->wants_settings = true;
		} else if (info.ssi_signo == SIGUSR1) {
			self_check_begin(d);
		} else if (!d->is_ending) {
			d->is_ending = true;
			d->end_ns = time_add(clock_now(&d->steady), DRAIN_NS);
			scheduler_drain(d->scheduler);
		}
	}
}

/* Wakes us when the wall clock is set: what was to happen at a time may be due. */
static int watch_clock(void)
{
	struct itimerspec far = {.it_value.tv_sec = INT64_C(0x7fffffff)};
	int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd >= 0)
		timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);
	return fd;
}

static void rearm_clock(struct daemon *d)
{
	close(d->clock_set);
	d->clock_set = watch_clock();
}

static bool has_ended(const struct daemon *d)
{
	return d->is_ending && (scheduler_is_silent(d->scheduler) || clock_now(&d->steady) >= d->end_ns);
}

static int loop(struct daemon *d)
{
	bool is_busy = false;

	for (;;) {
		struct pollfd p[] = {{.fd = d->signals, .events = POLLIN},
				     {.fd = kube_client_fd(d->client), .events = POLLIN},
				     {.fd = d->clock_set, .events = POLLIN},
				     {.fd = face_fd(d->face), .events = POLLIN},
				     {.fd = keep_fd(d), .events = POLLIN}};

		if (poll(p, 5, is_busy ? 0 : next_ms(d)) < 0 && errno != EINTR)
			return EXIT_STARTLESS;
		if (p[0].revents & POLLIN)
			read_signals(d);
		if (p[2].revents)
			rearm_clock(d);
		if (p[4].revents)
			keep_heard(d);
		is_busy = turn(d);
		face_answer(d->face);
		if (d->has_failed)
			return EXIT_STARTLESS;
		if (has_ended(d))
			return EXIT_DONE;
	}
}

/* ---- beginning and end ---- */

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void name_ourselves(struct daemon *d)
{
	char host[64] = "cede";
	uint32_t number = 0;

	if (d->o->identity) {
		snprintf(d->identity, sizeof(d->identity), "%s", d->o->identity);
		return;
	}
	gethostname(host, sizeof(host) - 1);
	if (getrandom(&number, sizeof(number), 0) < 0)
		number = (uint32_t)getpid();
	snprintf(d->identity, sizeof(d->identity), "%s_%08x", host, number);
}

static enum err_code connect_client(struct daemon *d, struct err *e)
{
	struct kube_config_source src = kube_config_source_system(d->o->kubeconfig, d->o->context);
	struct kube_client_options o = kube_client_options_default();
	struct kube_config *config;
	enum err_code rc;

	secret_hide_process();
	o.qps = 1000;
	o.burst = 2000;
	o.in_flight = 200;
	rc = kube_config_load(&src, &config, e);
	if (rc)
		return rc;
	rc = kube_client_new(config, &o, &d->client, e);
	if (rc)
		kube_config_free(config);
	else
		d->ns = d->o->ns ? d->o->ns : *config->ns ? config->ns : "kube-system";
	return rc;
}

static int fail(const struct err *e)
{
	log_line(LOG_ERROR, "%s", e->msg);
	return e->code == ERR_IO || e->code == ERR_INTERNAL ? EXIT_STARTLESS : EXIT_SETTINGS;
}

static int run(struct daemon *d)
{
	struct world *w = NULL;
	struct err e = {0};
	int rc;

	if (connect_client(d, &e) || settings_build(d, &w, &e))
		return fail(&e);
	daemon_follow(d, w);
	if (!str_eq(d->o->listen, "none") && face_listen(d->face, &e))
		return fail(&e);
	if (keep_start(d, &e) || leader_start(d, &e))
		return fail(&e);
	rc = loop(d);
	leader_release(d);
	return rc;
}

int daemon_run(const struct daemon_options *o)
{
	struct daemon d = {.o = o, .steady = clock_steady(), .wall = clock_system()};
	int rc;

	log_set_level(o->verbose ? LOG_INFO : LOG_WARN);
	d.signals = catch_signals(); /* before there are other threads */
	d.clock_set = watch_clock();
	d.decision_lines.at_ns = d.warning_lines.at_ns = clock_now(&d.steady);
	name_ourselves(&d);
	d.face = face_new(&d);
	rc = run(&d);
	face_free(d.face);
	keep_stop(&d);
	self_check_end(&d);
	scheduler_free(d.scheduler);
	world_free(d.next);
	lease_free(d.lease);
	kube_client_free(d.client);
	settings_free(&d);
	map_free(&d.told);
	close(d.signals);
	close(d.clock_set);
	return rc;
}
