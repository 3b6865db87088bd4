/* SPDX-License-Identifier: Apache-2.0 */
#include "run/face.h"

#include <stdio.h>

#include "base/map.h"
#include "engine/waiting.h"
#include "serve/aside.h"
#include "serve/console.h"
#include "serve/token_review.h"
#include "serve/usage.h"
#include "serve/views.h"

#define REPEATED_NS (3600 * NS_PER_S)
#define USAGE_STEP_NS (10 * NS_PER_S)
enum { OURS_MAX = 100000, NO_NODE = 0 };

/* A placement that is not bound yet. */
struct placed {
	int64_t first_ns, decided_ns; /* steady */
	uint32_t attempts, next_free;
};

struct face {
	const struct daemon *d;
	struct metrics *metrics;
	struct serve_log *log;
	struct views views;
	struct usage *usage;
	struct serve *serve;
	struct aside *aside;
	struct token_review *review;
	struct map told;   /* hash of a pod's name -> hash of its last decision in the log */
	struct map by_uid; /* hash of a uid -> placed */
	struct map ours;   /* dry run: hash of a uid -> hash of the node we would give it, NO_NODE: none */
	ARRAY(struct placed) placed;
	uint32_t first_free;
	double decision_s; /* of one decision, in the turn before */
	uint64_t n_events; /* of watches, counted so far */
};

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

struct face *face_new(const struct daemon *d)
{
	struct face *f = mem_alloc(sizeof(*f));

	f->d = d;
	f->metrics = metrics_new();
	f->log = serve_log_new(clock_now(&d->wall), 0, 0);
	f->usage = usage_new(USAGE_STEP_NS);
	f->aside = aside_new(0);
	f->views = (struct views){
		.aside = f->aside, .log = f->log, .metrics = f->metrics, .usage = f->usage, .source = "cluster"};
	f->first_free = UINT32_MAX;
	return f;
}

void face_free(struct face *f)
{
	if (!f)
		return;
	aside_free(f->aside);
	serve_stop(f->serve);
	token_review_free(f->review);
	serve_log_free(f->log);
	usage_free(f->usage);
	metrics_free(f->metrics);
	map_free(&f->told);
	map_free(&f->by_uid);
	map_free(&f->ours);
	array_free(&f->placed);
	mem_free(f);
}

/* ---- those who ask ---- */

static struct serve_world world_now(const struct face *f)
{
	const struct world *w = scheduler_world(f->d->scheduler);

	return (struct serve_world){.cluster = w->cluster,
				    .config = w->config,
				    .manifest = w->manifest,
				    .has_profile = f->d->o->has_profile,
				    .plugins = w->plugins,
				    .engine = w->engine,
				    .eviction_history = scheduler_history(f->d->scheduler),
				    .now_ns = clock_now(&f->d->wall)};
}

static const char *role_of(const struct daemon *d)
{
	return d->leads ? "leads" : d->o->is_dry ? "decides, writes nothing" : "stands by";
}

/* Ready: everything is listed, and it leads, stands by, or needs no lease. */
static void answer_ready(const struct face *f, struct serve_request *r)
{
	const struct daemon *d = f->d;
	struct text ok = {0};

	if (!scheduler_is_synced(d->scheduler)) {
		serve_reply_error(r, 503, "not everything is listed yet");
	} else if (d->is_ending) {
		serve_reply_error(r, 503, "it is ending");
	} else {
		text_printf(&ok, "ok: %s\n", role_of(d));
		serve_reply(r, 200, "text/plain; charset=utf-8", &ok);
	}
}

static struct views_daemon daemon_state(const struct face *f)
{
	struct moment now = daemon_now(f->d);
	struct scheduler_counts counts = scheduler_counts(f->d->scheduler, &now);

	return (struct views_daemon){.role = role_of(f->d),
				     .is_synced = scheduler_is_synced(f->d->scheduler),
				     .watch_lag_s =
					     seconds(kube_feed_lag_ns(scheduler_feed(f->d->scheduler), now.steady_ns)),
				     .n_stuck = counts.stuck,
				     .n_in_flight = counts.in_flight,
				     .n_journal_lost = f->d->n_journal_lost};
}

static void handle(void *ctx, struct serve_request *r)
{
	struct face *f = ctx;
	struct serve_world w = world_now(f);

	if (str_eq(serve_path(r), "/readyz")) {
		answer_ready(f, r);
		return;
	}
	f->views.daemon = daemon_state(f);
	views_answer(&f->views, &w, r);
}

static void set_pending(struct metrics *m, const struct scheduler_counts *c)
{
	metrics_set(m, METRIC_PENDING_PODS, c->active, METRIC_LABELS("active"));
	metrics_set(m, METRIC_PENDING_PODS, c->backoff, METRIC_LABELS("backoff"));
	metrics_set(m, METRIC_PENDING_PODS, c->unschedulable, METRIC_LABELS("unschedulable"));
	metrics_set(m, METRIC_PENDING_PODS, c->gated, METRIC_LABELS("gated"));
	metrics_set(m, METRIC_CACHE_SIZE, c->assumed, METRIC_LABELS("assumed_pods"));
	metrics_set(m, METRIC_STUCK_VICTIMS, c->stuck, NULL);
	metrics_set(m, METRIC_WRITES_IN_FLIGHT, c->in_flight, NULL);
}

/* What queues use, for their history. */
static void note_usage(struct face *f)
{
	int64_t now_ns = clock_now(&f->d->wall);

	if (f->serve && now_ns >= usage_next_ns(f->usage))
		usage_note(f->usage, scheduler_world(f->d->scheduler)->cluster, now_ns);
}

static void refresh(void *ctx)
{
	struct face *f = ctx;
	struct moment now = daemon_now(f->d);
	struct scheduler_counts counts = scheduler_counts(f->d->scheduler, &now);
	const struct kube_feed *feed = scheduler_feed(f->d->scheduler);
	uint64_t n = kube_feed_event_count(feed);
	struct serve_world w = world_now(f);

	views_gauges(&w, f->metrics);
	note_usage(f);
	set_pending(f->metrics, &counts);
	metrics_set(f->metrics, METRIC_JOURNAL_LOST, (double)f->d->n_journal_lost, NULL);
	metrics_set(f->metrics, METRIC_WATCH_LAG, seconds(kube_feed_lag_ns(feed, now.steady_ns)), NULL);
	metrics_add(f->metrics, METRIC_WATCH_EVENTS, (double)(n - (n < f->n_events ? 0 : f->n_events)), NULL);
	f->n_events = n;
	metrics_set(f->metrics, METRIC_SYNCED, scheduler_is_synced(f->d->scheduler), NULL);
	face_leads(f);
}

static enum serve_access authorize(void *ctx, const char *token, const char *method, const char *path)
{
	return token_review_judge(((struct face *)ctx)->review, token, method, path);
}

enum err_code face_listen(struct face *f, struct err *e)
{
	const struct daemon_options *o = f->d->o;
	struct kube_config_source src = kube_config_source_system(o->kubeconfig, o->context);
	struct serve_options s = {.listen = o->listen,
				  .tls_cert = o->tls_cert,
				  .tls_key = o->tls_key,
				  .files = console_files,
				  .n_files = n_console_files,
				  .metrics = f->metrics,
				  .log = f->log,
				  .ctx = f,
				  .handle = handle,
				  .refresh = refresh};
	enum err_code rc;
	bool is_local;

	rc = serve_check_listen(o->listen, &is_local, e);
	if (!rc && !is_local) {
		s.authorize = authorize;
		rc = token_review_new(&src, &f->review, e);
	}
	return rc ? rc : serve_start(&s, &f->serve, e);
}

int face_fd(const struct face *f)
{
	return f->serve ? serve_fd(f->serve) : -1;
}

void face_answer(struct face *f)
{
	if (f->serve)
		serve_answer_pending(f->serve);
}

/* ---- what happened ---- */

static const char *action_label(const struct decision *x)
{
	return x->action == ACTION_NONE ? "none" : action_text(x->action);
}

static bool was_victim_lately(const struct face *f, const struct plan_view *v, const struct pod *p)
{
	const struct eviction_history *h = scheduler_history(f->d->scheduler);
	struct text workload = {0};
	name_id id;

	eviction_history_workload(v->cluster, p, &workload);
	id = names_find(vocab_names(ledger_vocab(cluster_ledger(v->cluster))), text_str(&workload), workload.n);
	text_free(&workload);
	return id != NAME_NONE && eviction_history_of_workload(h, id, time_add(v->now_ns, -REPEATED_NS)).n > 0;
}

static void count_victims(struct face *f, const struct plan_view *v, const struct decision *x)
{
	for (uint32_t i = 0; i < x->n_victims; i++) {
		const struct victim *y = &x->victims[i];
		const char *queue = queue_path(v, y->queue);

		metrics_add(f->metrics, METRIC_VICTIMS, 1, METRIC_LABELS(action_label(x), queue));
		metrics_add(f->metrics, METRIC_LOST_SECONDS, y->lost_ns > 0 ? seconds(y->lost_ns) : 0,
			    METRIC_LABELS(action_label(x), queue));
		if (y->overridden != RULE_NONE)
			metrics_add(f->metrics, METRIC_OVERRIDDEN, 1, METRIC_LABELS(rule_text(y->overridden)));
		if (was_victim_lately(f, v, ledger_pod(cluster_ledger(v->cluster), y->pod)))
			metrics_add(f->metrics, METRIC_REPEATED_VICTIMS, 1, METRIC_LABELS(queue));
	}
	if (x->n_victims)
		metrics_observe(f->metrics, METRIC_PREEMPTION_VICTIMS, x->n_victims, NULL);
}

static void count_decision(struct face *f, const struct plan_view *v, const struct decision *x)
{
	bool is_placed = x->outcome == OUTCOME_PLACED;

	metrics_add(f->metrics, METRIC_DECISIONS, 1, METRIC_LABELS(outcome_text(x->outcome), action_label(x)));
	count_victims(f, v, x);
	for (uint32_t i = 0; i < x->n_protected; i++)
		metrics_add(f->metrics, METRIC_PROTECTED, 1,
			    METRIC_LABELS(rule_text((enum rule_id)x->protected[i].verdict.rule)));
	if (x->pod == POD_NONE || x->outcome == OUTCOME_GATED)
		return;
	metrics_add(f->metrics, METRIC_SCHEDULE_ATTEMPTS, 1,
		    METRIC_LABELS(is_placed ? "scheduled" : "unschedulable", profile_text(v->profile)));
	if (!is_placed) /* there was no room as it is */
		metrics_add(f->metrics, METRIC_PREEMPTION_ATTEMPTS, 1, NULL);
}

static uint64_t uid_key(const char *uid)
{
	return hash_bytes(uid, strlen(uid));
}

/* From here to its binding. */
static void note_placed(struct face *f, const struct plan_view *v, const struct decision *x, const struct moment *now)
{
	struct ledger *l = cluster_ledger(v->cluster);
	struct uid_text buf;
	const char *uid = uid_str(vocab_names(ledger_vocab(l)), ledger_pod(l, x->pod)->obj->uid, &buf);
	struct waiting_info info = waiting_get(scheduler_waiting(f->d->scheduler), x->pod);
	struct placed p = {.first_ns = info.first_ns, .decided_ns = now->steady_ns, .attempts = info.attempts};
	uint32_t at = map_get(&f->by_uid, uid_key(uid));

	if (at == MAP_NONE && f->first_free != UINT32_MAX) {
		at = f->first_free;
		f->first_free = f->placed.v[at].next_free;
	} else if (at == MAP_NONE) {
		at = f->placed.n;
		array_push(&f->placed, p);
	}
	f->placed.v[at] = p;
	map_put(&f->by_uid, uid_key(uid), at);
}

/* What is new of a pod; the same again and again is not. */
static void log_decision(struct face *f, const struct plan_view *v, const struct decision *x, const struct moment *now)
{
	struct text line = {0}, path = {0}, more = {0};
	struct emit e;
	uint32_t hash;

	if (!f->serve)
		return;
	emit_init(&e, &line, EMIT_JSON_LINE);
	plan_emit_decision(v, &e, x);
	hash = (uint32_t)(hash_bytes(text_str(&line), line.n) >> 33); /* not MAP_NONE */
	if (x->pod != POD_NONE)
		pod_path(v, x->pod, &path);
	if (x->pod == POD_NONE || map_get(&f->told, hash_bytes(text_str(&path), path.n)) != hash) {
		if (f->told.n > 500000) {
			map_free(&f->told);
			f->told = (struct map){0};
		}
		if (x->pod != POD_NONE)
			map_put(&f->told, hash_bytes(text_str(&path), path.n), hash);
		views_more_facts(v, x, &more);
		serve_log_decision(f->log, now->wall_ns, text_str(&line), &more);
	}
	text_free(&line);
	text_free(&path);
	text_free(&more);
}

/* ---- beside another scheduler ---- */

static uint32_t node_hash(const char *node)
{
	return ((uint32_t)hash_bytes(node, strlen(node)) & INT32_MAX) | 1;
}

static void note_ours(struct face *f, const struct plan_view *v, const struct decision *x)
{
	struct ledger *l = cluster_ledger(v->cluster);
	struct uid_text buf;
	const char *uid = uid_str(vocab_names(ledger_vocab(l)), ledger_pod(l, x->pod)->obj->uid, &buf);

	if (f->ours.n >= OURS_MAX) { /* pods that went without a node */
		map_free(&f->ours);
		f->ours = (struct map){0};
	}
	map_put(&f->ours, uid_key(uid), x->node == NODE_NONE ? NO_NODE : node_hash(node_text(v, x->node)));
}

void face_theirs(struct face *f, const struct their_placement *p)
{
	uint32_t ours = map_get(&f->ours, uid_key(p->uid));
	const char *words = ours == MAP_NONE ? "undecided" : ours == NO_NODE ? "waiting" : "other";

	if (ours == node_hash(p->node))
		words = "same";
	map_del(&f->ours, uid_key(p->uid));
	metrics_add(f->metrics, METRIC_SHADOW, 1, METRIC_LABELS(p->scheduler, words));
}

void face_checked(struct face *f, uint32_t n_differences)
{
	metrics_add(f->metrics, METRIC_SELF_CHECKS, 1, METRIC_LABELS(n_differences ? "different" : "clean"));
	metrics_set(f->metrics, METRIC_SELF_CHECK_DIFFERENCES, n_differences, NULL);
}

void face_decided(struct face *f, const struct plan_view *v, const struct decision *x, const struct moment *now)
{
	count_decision(f, v, x);
	if (x->pod != POD_NONE && f->d->o->is_dry)
		note_ours(f, v, x);
	else if (x->pod != POD_NONE && x->outcome == OUTCOME_PLACED)
		note_placed(f, v, x, now);
	log_decision(f, v, x, now);
}

void face_turn_ended(struct face *f, uint32_t n_decisions, int64_t took_ns)
{
	if (!n_decisions)
		return;
	f->decision_s = seconds(took_ns) / n_decisions;
	metrics_observe(f->metrics, METRIC_DECISION_SECONDS, seconds(took_ns), NULL);
	metrics_observe_n(f->metrics, METRIC_SCHEDULING_ALGORITHM_SECONDS, f->decision_s, n_decisions, NULL);
	note_usage(f);
}

void face_wrote(struct face *f, enum task_kind k, const struct kube_news *n)
{
	metrics_add(f->metrics, METRIC_WRITES, 1, METRIC_LABELS(task_kind_text(k), kube_result_text(n->result)));
	metrics_observe(f->metrics, METRIC_WRITE_SECONDS, seconds(n->took_ns), METRIC_LABELS(task_kind_text(k)));
}

void face_requested(struct face *f, const struct kube_news *n)
{
	char code[16];

	if (!n->is_done)
		return;
	snprintf(code, sizeof(code), "%d", n->status);
	metrics_add(f->metrics, METRIC_REST_REQUESTS, 1, METRIC_LABELS(code, n->method));
	if (!n->was_stream)
		metrics_observe(f->metrics, METRIC_REST_SECONDS, seconds(n->took_ns), METRIC_LABELS(n->method));
}

static void observe_bound(struct face *f, const struct placed *p, const struct moment *now)
{
	const char *profile = profile_text(scheduler_world(f->d->scheduler)->config->profile);
	char attempts[16];

	snprintf(attempts, sizeof(attempts), p->attempts > 15 ? "16+" : "%u", p->attempts);
	metrics_observe(f->metrics, METRIC_SCHEDULING_ATTEMPT_SECONDS,
			f->decision_s + seconds(time_since(now->steady_ns, p->decided_ns)),
			METRIC_LABELS("scheduled", profile));
	metrics_observe(f->metrics, METRIC_POD_ATTEMPTS, p->attempts, NULL);
	if (p->first_ns != TIME_NONE)
		metrics_observe(f->metrics, METRIC_POD_SLI_SECONDS, seconds(time_since(now->steady_ns, p->first_ns)),
				METRIC_LABELS(attempts));
}

void face_bound(struct face *f, const char *uid, const char *error, const struct moment *now)
{
	uint32_t at = map_get(&f->by_uid, uid_key(uid));

	if (at == MAP_NONE)
		return;
	if (!*error)
		observe_bound(f, &f->placed.v[at], now);
	map_del(&f->by_uid, uid_key(uid));
	f->placed.v[at].next_free = f->first_free;
	f->first_free = at;
}

/* The words may name an object; only what kind of failure it was is counted. */
void face_undone(struct face *f, const char *reason)
{
	const char *colon = strchr(reason, ':');
	struct text kind = {0};

	text_add_n(&kind, reason, colon ? (size_t)(colon - reason) : strlen(reason));
	metrics_add(f->metrics, METRIC_UNDONE, 1, METRIC_LABELS(text_str(&kind)));
	text_free(&kind);
}

void face_gang(struct face *f, const char *outcome)
{
	metrics_add(f->metrics, METRIC_GANGS, 1, METRIC_LABELS(outcome));
}

void face_object_refused(struct face *f, const char *kind)
{
	metrics_add(f->metrics, METRIC_OBJECTS_REFUSED, 1, METRIC_LABELS(kind));
}

void face_settings(struct face *f, const char *refused)
{
	int64_t wall_ns = clock_now(&f->d->wall);

	if (refused) {
		metrics_add(f->metrics, METRIC_CONFIG_REFUSED, 1, METRIC_LABELS(refused));
		serve_log_add(f->log, "settings", wall_ns, "{\"refused\": true}");
		return;
	}
	f->n_events = 0; /* everything is listed anew */
	map_free(&f->told);
	f->told = (struct map){0};
	metrics_set(f->metrics, METRIC_CONFIG_TIME, seconds(wall_ns), NULL);
	serve_log_add(f->log, "settings", wall_ns, "{\"refused\": false}");
}

void face_leads(struct face *f)
{
	const struct daemon *d = f->d;
	double is, was;

	if (!d->o->lease_name)
		return;
	is = d->leads;
	was = metrics_get(f->metrics, METRIC_LEADER, METRIC_LABELS(d->o->lease_name));
	metrics_set(f->metrics, METRIC_LEADER, is, METRIC_LABELS(d->o->lease_name));
	if (is != was)
		serve_log_add(f->log, "leader", clock_now(&d->wall),
			      d->leads ? "{\"leads\": true}" : "{\"leads\": false}");
}
