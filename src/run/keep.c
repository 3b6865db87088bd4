/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of the daemon: what was decided, and what came of it. It gives back who was evicted before a restart, for
 * the rules thrash and eviction-rate.
 */
#include "run/keep.h"

#include <errno.h>
#include <unistd.h>

#include "journal/record.h"

static enum journal_source source_of(const struct daemon *d)
{
	return d->o->n_shadow ? JOURNAL_SHADOW : d->o->is_dry ? JOURNAL_DRY_RUN : JOURNAL_LIVE;
}

static int64_t longest_window(const struct engine_config *c)
{
	return c->thrash.window_ns > 3600 * NS_PER_S ? c->thrash.window_ns : 3600 * NS_PER_S;
}

enum err_code keep_history(struct daemon *d, const struct world *w, struct eviction_history *ret, struct err *e)
{
	int64_t since_ns = time_add(clock_now(&d->wall), -longest_window(w->config));

	if (!d->o->journal)
		return ERR_OK;
	return journal_restore_evictions(d->o->journal, since_ns, ret, e);
}

enum err_code keep_start(struct daemon *d, struct err *e)
{
	struct journal_session session = {.source = source_of(d),
					  .now_ns = clock_now(&d->wall),
					  .profile = profile_text(scheduler_world(d->scheduler)->config->profile),
					  .version = CEDE_VERSION,
					  .keep = d->o->journal_keep};

	return d->o->journal ? journal_live_open(d->o->journal, &session, &d->journal, e) : ERR_OK;
}

uint64_t keep_decision(struct daemon *d, const struct plan_view *v, const struct decision *x, const struct moment *now)
{
	struct arena *a;
	struct journal_decision j;
	uint64_t ticket;

	if (!d->journal)
		return 0;
	a = arena_new(1 << 12);
	journal_decision_of(v, x, a, &j);
	ticket = journal_live_decide(d->journal, &j, now->wall_ns);
	arena_free(a);
	return ticket;
}

bool keep_has(const struct daemon *d, uint64_t ticket)
{
	return !d->journal || d->has_journal_problem || journal_live_durable(d->journal) >= ticket;
}

void keep_heard(struct daemon *d)
{
	uint64_t n;

	while (read(keep_fd(d), &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

void keep_outcome(struct daemon *d, bool is_eviction, const char *uid, enum journal_state state, const char *reason,
		  const struct moment *now)
{
	struct journal_outcome o = {.kind = is_eviction ? JOURNAL_EVICTION : JOURNAL_PLACEMENT,
				    .uid = uid,
				    .state = state,
				    .at_ns = now->wall_ns,
				    .reason = reason};

	if (d->journal)
		journal_live_outcome(d->journal, &o);
}

/* ---- what a daemon before us left open ---- */

static pod_id pod_with_uid(const struct daemon *d, const char *pod, const char *uid)
{
	const struct world *w = scheduler_world(d->scheduler);
	const char *slash = strchr(pod, '/');
	struct uid_text buf;
	struct text ns = {0};
	pod_id id;

	if (!slash)
		return POD_NONE;
	text_add_n(&ns, pod, (size_t)(slash - pod));
	id = cluster_find_pod(w->cluster, text_str(&ns), slash + 1);
	text_free(&ns);
	if (id == POD_NONE)
		return POD_NONE;
	return str_eq(uid_str(vocab_names(w->vocab), ledger_pod(cluster_ledger(w->cluster), id)->obj->uid, &buf), uid)
		       ? id
		       : POD_NONE;
}

static void settle(struct daemon *d, const struct journal_open_write *o, const struct moment *now)
{
	const struct ledger *l = cluster_ledger(scheduler_world(d->scheduler)->cluster);
	pod_id pod = pod_with_uid(d, o->pod, o->uid);
	const struct pod *p = pod != POD_NONE ? ledger_pod(l, pod) : NULL;
	bool is_eviction = o->kind == JOURNAL_EVICTION;
	bool is_done = is_eviction ? !p || p->obj->deleted_ns != TIME_NONE : p && p->obj->node_name != NAME_NONE;

	if (is_done)
		keep_outcome(d, is_eviction, o->uid, JOURNAL_OBSERVED, "", now);
	else if (is_eviction || !p)
		keep_outcome(d, is_eviction, o->uid, JOURNAL_FAILED, "the scheduler ended before it was carried out",
			     now);
}

/* Once, when the lists are complete: the cluster says what came of it. */
static void settle_all(struct daemon *d)
{
	struct moment now = daemon_now(d);
	struct journal_open_write *open;
	struct arena *a;
	struct err e = {0};
	uint32_t n = 0;

	if (d->is_journal_settled || !scheduler_is_synced(d->scheduler))
		return;
	d->is_journal_settled = true;
	a = arena_new(1 << 12);
	if (journal_live_open_writes(d->journal, a, &open, &n, &e))
		lines_said(d, true, e.msg);
	for (uint32_t i = 0; i < n; i++)
		settle(d, &open[i], &now);
	arena_free(a);
}

/* What keeps it from being written is said when it begins and ends. */
void keep_tick(struct daemon *d)
{
	struct text problem = {0};
	struct moment now;
	uint64_t lost = 0;

	if (!d->journal)
		return;
	settle_all(d);
	journal_live_problem(d->journal, &problem, &lost);
	if (problem.n != 0 && !d->has_journal_problem)
		lines_said(d, true, text_str(&problem));
	if (lost > d->n_journal_lost) {
		text_reset(&problem);
		text_printf(&problem, "%llu records of the journal are lost", (unsigned long long)lost);
		lines_said(d, true, text_str(&problem));
	}
	d->n_journal_lost = lost;
	d->has_journal_problem = problem.n != 0;
	now = daemon_now(d);
	scheduler_kept(d->scheduler, d->has_journal_problem ? UINT64_MAX : journal_live_durable(d->journal), &now);
	text_free(&problem);
}

int keep_fd(const struct daemon *d)
{
	return d->journal ? journal_live_fd(d->journal) : -1;
}

/* As a decision that is not ours: history --shadow compares the two. */
void keep_theirs(struct daemon *d, const struct their_placement *p, const struct moment *now)
{
	struct journal_decision j = {.cycle = 1,
				     .pod = p->pod,
				     .uid = p->uid,
				     .group = "",
				     .queue = p->queue,
				     .outcome = "placed",
				     .action = "theirs",
				     .node = p->node,
				     .rule = "",
				     .until = "",
				     .message = p->scheduler,
				     .json = "{}"};

	if (d->journal)
		journal_live_decide(d->journal, &j, now->wall_ns);
}

void keep_stop(struct daemon *d)
{
	struct err e = {0};

	if (d->journal)
		keep_cluster_last(d);
	if (d->journal && journal_live_close(d->journal, &e))
		lines_said(d, true, e.msg);
	d->journal = NULL;
}
