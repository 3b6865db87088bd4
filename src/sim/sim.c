/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual time: what is due next, and everything that happens at one time. */
#include "sim/sim.h"

#include <string.h>

#include "sim/sim_classes.h"

bool sim_is_interrupted(const struct sim *s)
{
	return s->o.interrupt && *s->o.interrupt;
}

/* ---- timers ---- */

static int by_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct sim *s = ctx;
	const struct timer *x = &s->timers.v[a], *y = &s->timers.v[b];

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

uint32_t timer_set(struct sim *s, int64_t at_ns, enum timer_kind kind, uint32_t what)
{
	uint32_t id = s->free_timers.n ? array_pop(&s->free_timers) : s->timers.n;
	struct timer t = {at_ns == TIME_NONE || at_ns < s->now_ns ? s->now_ns : at_ns, s->next_seq++, kind, what};

	if (id == s->timers.n)
		array_push(&s->timers, t);
	s->timers.v[id] = t;
	s->n_due[kind]++;
	heap_push(&s->due, id);
	return id;
}

void timer_cancel(struct sim *s, uint32_t *timer)
{
	if (*timer == SLOT_NONE)
		return;
	heap_remove(&s->due, *timer);
	s->n_due[s->timers.v[*timer].kind]--;
	array_push(&s->free_timers, *timer);
	*timer = SLOT_NONE;
}

static void timer_fire(struct sim *s)
{
	uint32_t id = heap_pop(&s->due);
	struct timer t = s->timers.v[id];

	array_push(&s->free_timers, id);
	s->n_due[t.kind]--;
	switch (t.kind) {
	case TIMER_GONE:
		sim_gone(s, t.what);
		return;
	case TIMER_POD:
		sim_timer_of_pod(s, t.what);
		return;
	case TIMER_WAKE:
		sim_wake_time(s, t.what);
		return;
	case TIMER_KINDS:
		return;
	}
}

/* ---- the load ---- */

static enum err_code pull(struct sim *s, struct err *e)
{
	int64_t last = s->next_job.arrives_ns;
	bool had = s->has_next;
	enum err_code rc;

	s->has_next = false;
	if (!s->o.load)
		return ERR_OK;
	rc = s->o.load->next(s->o.load->ctx, &s->next_job, &s->has_next, e);
	if (rc || !s->has_next)
		return rc;
	if (had && s->next_job.arrives_ns < last)
		return err_fail(e, ERR_INPUT, "job %s arrives before the one ahead of it", s->next_job.name);
	if (s->next_job.arrives_ns < s->o.from_ns)
		s->next_job.arrives_ns = s->o.from_ns;
	return ERR_OK;
}

/* ---- one moment ---- */

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When something happens next; TIME_LAST: never. */
static int64_t next_time(const struct sim *s)
{
	int64_t t = s->due.items.n ? s->timers.v[heap_peek(&s->due)].at_ns : TIME_LAST;

	if (s->has_next)
		t = earlier(t, s->next_job.arrives_ns);
	if (s->next_event < s->o.n_events)
		t = earlier(t, s->o.events[s->next_event].at_ns < s->now_ns ? s->now_ns
									    : s->o.events[s->next_event].at_ns);
	return t;
}

static bool is_due(const struct sim *s)
{
	return s->due.items.n && s->timers.v[heap_peek(&s->due)].at_ns <= s->now_ns;
}

/* An error says which part of the load it comes from. */
static enum err_code submit(struct sim *s, struct err *e)
{
	struct err why = {0};
	enum err_code rc = sim_submit(s, &s->next_job, &why);

	if (rc && s->next_job.where)
		return err_fail(e, rc, "%s: %s", s->next_job.where, why.msg);
	if (rc)
		*e = why;
	return rc;
}

/* Everything at this time, in the order README.md says. */
static enum err_code happen(struct sim *s, struct err *e)
{
	uint64_t before = s->outcome.events;
	enum err_code rc = ERR_OK;

	while (is_due(s)) {
		s->outcome.events += s->timers.v[heap_peek(&s->due)].what != WAKE_NOBODY;
		timer_fire(s);
	}
	while (!rc && s->next_event < s->o.n_events && s->o.events[s->next_event].at_ns <= s->now_ns) {
		rc = sim_happen(s, &s->o.events[s->next_event++], e);
		s->outcome.events++;
	}
	while (!rc && s->has_next && s->next_job.arrives_ns <= s->now_ns && !sim_is_interrupted(s)) {
		rc = submit(s, e);
		s->outcome.events++;
		if (!rc)
			rc = pull(s, e);
	}
	if (s->half_done.n)
		sim_settle_gangs(s);
	s->is_probe = s->o.compares && s->outcome.events == before;
	return rc;
}

static void advance(struct sim *s, int64_t to_ns)
{
	int64_t dt = time_since(to_ns, s->now_ns);

	if (s->series)
		series_upto(s, to_ns);
	s->now_ns = to_ns;
	cluster_set_now(s->cluster, to_ns);
	if (dt > 0)
		sim_sum_room(s);
}

static enum err_code moment(struct sim *s, struct err *e)
{
	enum err_code rc = happen(s, e);

	if (!rc && s->o.watcher.before)
		s->o.watcher.before(s->o.watcher.ctx, s);
	if (!rc)
		rc = sim_decide(s, e);
	if (!rc && s->o.checks)
		rc = sim_check(s, e);
	if (!rc && s->o.watcher.moment)
		s->o.watcher.moment(s->o.watcher.ctx, s);
	return rc;
}

/* ---- from beginning to end ---- */

static void tell_progress(struct sim *s)
{
	const struct sim_options *o = &s->o;
	double done = o->load_done && o->load ? o->load_done(o->load->ctx) : -1;

	if (done < 0 && o->until_ns != TIME_NONE && o->until_ns > o->from_ns)
		done = (double)time_since(s->now_ns, o->from_ns) / (double)time_since(o->until_ns, o->from_ns);
	if (o->watcher.progress)
		o->watcher.progress(o->watcher.ctx, s->now_ns, done, s->outcome.events);
}

/* Rules that know hours of the week have shown all they do after that. */
#define QUIET_NS (8 * INT64_C(86400) * NS_PER_S)

/*
 * Nothing comes any more, nothing ends by itself, nobody is leaving, and no window ends: whatever waits now waits for
 * ever.
 */
static bool has_ended(const struct sim *s)
{
	bool may_move = s->n_due[TIMER_GONE] || (s->n_due[TIMER_WAKE] && time_since(s->now_ns, s->moved_ns) < QUIET_NS);

	return !s->has_next && s->next_event >= s->o.n_events && !s->n_mortal && !may_move &&
	       s->o.until_ns == TIME_NONE;
}

static const char by_until[] = "--until";

static const char *stop_reason(const struct sim *s, int64_t next)
{
	if (sim_is_interrupted(s))
		return "interrupted";
	if (has_ended(s))
		return "";
	if (s->o.until_ns != TIME_NONE && next > s->o.until_ns)
		return next == TIME_LAST ? "" : by_until;
	if (next == TIME_LAST && (s->has_next || s->n_due[TIMER_POD]))
		return "the last time there is, in the year 2262";
	if (next == TIME_LAST)
		return s->n_mortal ? "what waits can never start" : "";
	return NULL;
}

static void conclude(struct sim *s, const char *why)
{
	if (s->o.until_ns != TIME_NONE && s->o.until_ns > s->now_ns && (!why || !str_eq(why, "interrupted")))
		advance(s, s->o.until_ns);
	s->outcome.is_complete = why && !why[0];
	s->outcome.has_own_end = why && str_eq(why, by_until) && s->o.ends_then;
	s->outcome.stopped_by = why && why[0] && !s->outcome.has_own_end ? why : NULL;
	s->outcome.to_ns = s->now_ns;
	if (s->series)
		series_end(s);
	accounts_close(s);
	sim_close_runs(s);
	accounts_to_outcome(s);
	sim_tell_longest(s);
}

enum err_code sim_run(struct sim *s, struct err *e)
{
	enum err_code rc = pull(s, e);
	const char *why = NULL;

	if (!rc)
		rc = moment(s, e);
	for (uint64_t n = 1; !rc; n++) {
		int64_t next = next_time(s);

		why = stop_reason(s, next);
		if (why)
			break;
		advance(s, next);
		rc = moment(s, e);
		if (n % 1024 == 0)
			tell_progress(s);
	}
	conclude(s, why);
	s->has_run = true;
	return rc;
}

struct sim *sim_new(const struct sim_options *o, struct err *e)
{
	struct sim *s = mem_alloc(sizeof(*s));

	s->o = *o;
	s->cluster = o->cluster;
	s->ledger = cluster_ledger(o->cluster);
	s->vocab = ledger_vocab(s->ledger);
	s->names = vocab_names(s->vocab);
	s->now_ns = s->room_since_ns = s->moved_ns = s->spared_until_ns = o->from_ns;
	s->outcome.from_ns = s->outcome.to_ns = o->from_ns;
	s->next_job.arrives_ns = TIME_NONE;
	s->lowest_priority = INT32_MAX;
	s->arena = arena_new(1 << 16);
	heap_init(&s->due, by_time, s);
	eviction_history_init(&s->history, s->names);
	array_push(&s->accounts,
		   ((struct account){.path = mem_strdup(""), .since_ns = o->from_ns, .queue = QUEUE_NONE}));
	s->tree_generation = ledger_tree_generation(s->ledger);
	s->series = o->keeps_series ? series_new(o->from_ns) : NULL;
	s->engine = engine_new(o->cluster, o->config, o->plugins, o->n_plugins, e);
	if (!s->engine) {
		sim_free(s);
		return NULL;
	}
	helps_see_settings(s);
	sim_see_room(s);
	sim_adopt(s);
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	engine_free(s->engine);
	if (s->own_config)
		engine_config_free(s->own_config);
	for (uint32_t i = 0; i < s->old_configs.n; i++)
		engine_config_free(s->old_configs.v[i]);
	array_free(&s->old_configs);
	sim_free_pods(s);
	sim_free_nodes(s);
	sim_free_waiting(s);
	wait_classes_free(s);
	accounts_free(s);
	series_free(s->series);
	array_free(&s->timers);
	array_free(&s->free_timers);
	heap_free(&s->due);
	eviction_history_free(&s->history);
	outcome_free(&s->outcome);
	arena_free(s->arena);
	mem_free(s);
}

struct sim_outcome *sim_get_outcome(struct sim *s)
{
	return &s->outcome;
}

struct cluster *sim_cluster(struct sim *s)
{
	return s->cluster;
}

struct engine *sim_engine(struct sim *s)
{
	return s->engine;
}

int64_t sim_now(const struct sim *s)
{
	return s->now_ns;
}

bool sim_was_changed(const struct sim *s)
{
	return s->was_changed;
}
