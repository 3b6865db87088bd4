/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is all well? What waits and why, grouped, because a thousand pods wait for the same reason; who is below its
 * guarantee; the last hour. The reasons are those of the latest decision about each pod that the log remembers.
 */
#include <stdlib.h>

#include "explain/emit_fields.h"
#include "serve/views_internal.h"

enum { MAX_GROUPS = 200, SHOWN_GROUPS = 50, OVERVIEW_GROUPS = 12, MAX_QUEUES = 8, MAX_SHORT = 50 };
#define HOUR_NS (3600 * NS_PER_S)

/* ---- reasons ---- */

struct queue_count {
	queue_id queue;
	uint32_t n;
};

struct waiting_group {
	char *reason, *rules; /* rules: names with blanks between them */
	uint32_t n, n_queues;
	struct queue_count queues[MAX_QUEUES];
	pod_id oldest;
	int64_t oldest_ns, until_ns;
};

struct said { /* of one pod, by its latest decision */
	uint32_t group;
	int64_t until_ns;
};

struct waiting_overview {
	ARRAY(struct waiting_group) groups;
	struct map by_reason; /* hash of the reason */
	struct map by_pod;    /* hash of ns/name -> place in said */
	ARRAY(struct said) said;
	uint32_t n;
};

static uint64_t key_of(const char *s)
{
	return hash_bytes(s, strlen(s));
}

static uint32_t group_of(struct waiting_overview *w, const char *reason, const char *rules)
{
	uint32_t at = map_get(&w->by_reason, key_of(reason));

	if (at < w->groups.n)
		return at;
	if (w->groups.n == MAX_GROUPS) { /* all the rest together */
		reason = "other reasons";
		at = map_get(&w->by_reason, key_of(reason));
		if (at < w->groups.n)
			return at;
	}
	map_put(&w->by_reason, key_of(reason), w->groups.n);
	array_push(&w->groups, ((struct waiting_group){.reason = mem_strdup(reason),
						       .rules = mem_strdup(rules),
						       .oldest = POD_NONE,
						       .until_ns = TIME_NONE}));
	return w->groups.n - 1;
}

static void reason_of(const struct text *facts, struct text *reason, struct text *rules)
{
	const char *outcome = facts_get(facts, FACT_OUTCOME), *s;
	enum fact_kind kind;

	text_reset(reason);
	text_reset(rules);
	if (str_eq(outcome, "placed"))
		text_add(reason, "there is room for it: it starts");
	else if (str_eq(outcome, "nominated"))
		text_add(reason, "it has a place and waits until that is free");
	else if (str_eq(outcome, "gated"))
		text_add(reason, "scheduling gates");
	else
		text_add(reason, facts_get(facts, FACT_REASON));
	if (!reason->n)
		text_add(reason, "no room");
	for (size_t at = 0; (s = facts_next(facts, &at, &kind));)
		if (kind == FACT_RULE && str_eq(outcome, "waiting"))
			text_printf(rules, "%s%s", rules->n ? " " : "", s);
}

/* The log comes newest first: what is heard first of a pod is the latest. */
static bool hear(void *ctx, int64_t at_ns, const struct text *facts)
{
	struct waiting_overview *w = ctx;
	const char *pod = facts_get(facts, FACT_POD), *until = facts_get(facts, FACT_UNTIL);
	struct text reason = {0}, rules = {0};
	struct said said = {.until_ns = TIME_NONE};

	if (!*pod || map_get(&w->by_pod, key_of(pod)) != MAP_NONE)
		return true;
	reason_of(facts, &reason, &rules);
	said.group = group_of(w, text_str(&reason), text_str(&rules));
	if (*until)
		timestamp_parse(until, strlen(until), &said.until_ns, NULL);
	map_put(&w->by_pod, key_of(pod), w->said.n);
	array_push(&w->said, said);
	text_free(&reason);
	text_free(&rules);
	return true;
}

static void count_queue(struct waiting_group *g, queue_id q)
{
	for (uint32_t i = 0; i < g->n_queues; i++)
		if (g->queues[i].queue == q) {
			g->queues[i].n++;
			return;
		}
	if (g->n_queues < MAX_QUEUES)
		g->queues[g->n_queues++] = (struct queue_count){q, 1};
}

static void count_pod(struct waiting_overview *w, const struct cluster_view *v, pod_id id, const char *name)
{
	const struct pod *p = ledger_pod(v->ledger, id);
	uint32_t at = map_get(&w->by_pod, key_of(name));
	const struct said *said = at < w->said.n ? &w->said.v[at] : NULL;
	const char *unsaid = view_is_gated(v, p) ? "scheduling gates" : "not decided about yet";
	uint32_t group =
		said ? said->group : group_of(w, unsaid, ""); /* may move the groups: before one is pointed at */
	struct waiting_group *g = &w->groups.v[group];

	w->n++;
	g->n++;
	count_queue(g, p->queue);
	if (g->oldest == POD_NONE || p->created_ns < g->oldest_ns) {
		g->oldest = id;
		g->oldest_ns = p->created_ns;
	}
	if (said && said->until_ns != TIME_NONE && said->until_ns > v->now_ns &&
	    (g->until_ns == TIME_NONE || said->until_ns < g->until_ns))
		g->until_ns = said->until_ns;
}

static bool is_asked_for(const struct cluster_view *v, const struct pod *p, const char *queue)
{
	size_t n = queue ? strlen(queue) : 0;
	const char *path;

	if (!queue || !*queue)
		return true;
	path = p->queue == QUEUE_NONE ? "" : view_queue_path(v, p->queue);
	return strncmp(path, queue, n) == 0 && (!path[n] || path[n] == '.');
}

static int by_size(const void *a, const void *b)
{
	const struct waiting_group *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->reason, y->reason);
}

static int by_queue_size(const void *a, const void *b)
{
	const struct queue_count *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->queue < y->queue ? -1 : x->queue > y->queue;
}

static void find_waiting(struct asking *a, const struct cluster_view *v, const char *queue, struct waiting_overview *w)
{
	struct text name = {0};

	if (a->v->log)
		serve_log_each(a->v->log, hear, w);
	for (pod_id i = 0; i < ledger_pod_limit(v->ledger); i++) {
		const struct pod *p = ledger_pod(v->ledger, i);

		if (p->state == POD_WAITING && is_asked_for(v, p, queue))
			count_pod(w, v, i, view_pod_name(v, p, &name));
	}
	if (w->groups.n)
		qsort(w->groups.v, w->groups.n, sizeof(*w->groups.v), by_size);
	text_free(&name);
}

static void waiting_free(struct waiting_overview *w)
{
	for (uint32_t i = 0; i < w->groups.n; i++) {
		mem_free(w->groups.v[i].reason);
		mem_free(w->groups.v[i].rules);
	}
	array_free(&w->groups);
	array_free(&w->said);
	map_free(&w->by_reason);
	map_free(&w->by_pod);
}

static void emit_rules(struct emit *e, const char *rules)
{
	struct text one = {0};

	emit_list(e, "rules");
	while (*rules) {
		size_t n = strcspn(rules, " ");

		text_reset(&one);
		text_add_n(&one, rules, n);
		emit_str(e, NULL, text_str(&one));
		rules += rules[n] ? n + 1 : n;
	}
	emit_end(e);
	text_free(&one);
}

static void emit_group(struct emit *e, const struct cluster_view *v, struct waiting_group *g)
{
	struct text name = {0};

	emit_object(e, NULL);
	emit_str(e, "reason", g->reason);
	emit_rules(e, g->rules);
	emit_int(e, "pods", g->n);
	emit_str(e, "example", view_pod_name(v, ledger_pod(v->ledger, g->oldest), &name));
	emit_time(e, "oldest", g->oldest_ns);
	emit_time(e, "until", g->until_ns);
	qsort(g->queues, g->n_queues, sizeof(*g->queues), by_queue_size);
	emit_list(e, "queues");
	for (uint32_t i = 0; i < g->n_queues; i++) {
		emit_object(e, NULL);
		emit_some(e, "queue", g->queues[i].queue == QUEUE_NONE ? "" : view_queue_path(v, g->queues[i].queue));
		emit_int(e, "pods", g->queues[i].n);
		emit_end(e);
	}
	emit_end(e);
	emit_end(e);
	text_free(&name);
}

static void emit_waiting(struct emit *e, const struct cluster_view *v, struct waiting_overview *w, uint32_t most)
{
	emit_list(e, "waiting");
	for (uint32_t i = 0; i < w->groups.n && i < most; i++)
		if (w->groups.v[i].n)
			emit_group(e, v, &w->groups.v[i]);
	emit_end(e);
	emit_int(e, "waitingPods", w->n);
}

void answer_waiting(struct asking *a)
{
	struct waiting_overview w = {.n = 0};
	struct cluster_view v;

	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	find_waiting(a, &v, serve_query(a->r, "queue"), &w);
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "WaitingList");
	emit_time(&a->e, "now", v.now_ns);
	emit_waiting(&a->e, &v, &w, SHOWN_GROUPS);
	emit_end(&a->e);
	waiting_free(&w);
	cluster_view_free(&v);
}

/* ---- the last hour ---- */

struct hour {
	int64_t from_ns;
	uint32_t n_decisions, n_evicted, n_placed;
	int64_t lost_s;
};

static bool count_hour(void *ctx, int64_t at_ns, const struct text *facts)
{
	struct hour *h = ctx;
	enum fact_kind kind;

	if (at_ns < h->from_ns)
		return true; /* a clock may have been set back: others may be younger */
	h->n_decisions++;
	h->n_placed += str_eq(facts_get(facts, FACT_OUTCOME), "placed");
	h->lost_s += strtoll(facts_get(facts, FACT_LOST), NULL, 10);
	for (size_t at = 0; facts_next(facts, &at, &kind);)
		h->n_evicted += kind == FACT_VICTIM;
	return true;
}

static void emit_hour(struct asking *a)
{
	struct hour h = {.from_ns = time_add(a->w->now_ns, -HOUR_NS)};

	if (a->v->log)
		serve_log_each(a->v->log, count_hour, &h);
	emit_object(&a->e, "lastHour");
	emit_int(&a->e, "decisions", h.n_decisions);
	emit_int(&a->e, "placements", h.n_placed);
	emit_int(&a->e, "evictions", h.n_evicted);
	emit_int(&a->e, "lostSeconds", h.lost_s);
	emit_end(&a->e);
}

/* ---- queues ---- */

static void emit_amount(struct emit *e, const char *key, res_id r, int64_t amount)
{
	struct text t = {0};

	res_amount_exact(r, amount, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void emit_short(struct emit *e, const struct cluster_view *v)
{
	uint32_t n = 0;

	emit_list(e, "belowGuarantee");
	for (uint32_t i = 0; i < v->queues.n; i++)
		for (uint32_t k = 0; k < v->res.n; k++) {
			queue_id q = v->queues.v[i];
			res_id r = v->res.v[k];

			if (view_standing(v, q, r) != STANDING_SHORT || n++ >= MAX_SHORT)
				continue;
			emit_object(e, NULL);
			emit_str(e, "queue", view_queue_path(v, q));
			emit_str(e, "resource", res_type_name(v->types, r));
			emit_amount(e, "used", r, ledger_queue_used(v->ledger, q)[r]);
			emit_amount(e, "guaranteed", r, queue_get(v->tree, q)->spec.guaranteed.v[r]);
			emit_end(e);
		}
	emit_end(e);
}

/* Those that pods name and that are not there count too. */
static uint32_t count_not_ready(const struct cluster_view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->nodes.n; i++) {
		const struct ledger_node *x = ledger_node(v->ledger, v->nodes.v[i]);

		n += !x->is_live || x->obj->is_not_ready;
	}
	return n;
}

static void emit_counts(struct emit *e, const struct cluster_view *v)
{
	emit_object(e, "pods");
	emit_int(e, "running", v->n_pods[POD_PLACED]);
	emit_int(e, "waiting", v->n_pods[POD_WAITING]);
	emit_int(e, "leaving", v->n_pods[POD_LEAVING]);
	emit_end(e);
	emit_int(e, "nodes", v->nodes.n);
	emit_int(e, "nodesNotReady", count_not_ready(v));
	emit_int(e, "queues", v->queues.n);
	emit_object(e, "capacity");
	for (uint32_t i = 0; i < v->res.n; i++) {
		res_id r = v->res.v[i];

		if (r == RES_PODS || ledger_capacity(v->ledger)[r] <= 0)
			continue;
		emit_object(e, res_type_name(v->types, r));
		emit_amount(e, "used", r, ledger_queue_used(v->ledger, QUEUE_ROOT)[r]);
		emit_amount(e, "allocatable", r, ledger_capacity(v->ledger)[r]);
		emit_end(e);
	}
	emit_end(e);
}

/* ---- the daemon ---- */

static void emit_daemon(struct asking *a)
{
	const struct views_daemon *d = &a->v->daemon;
	struct metrics *m = a->v->metrics;

	if (m && metrics_get(m, METRIC_DECISION_SECONDS, NULL) > 0) {
		emit_object(&a->e, "decisionSeconds");
		emit_double(&a->e, "p50", metrics_quantile(m, METRIC_DECISION_SECONDS, 0.5));
		emit_double(&a->e, "p99", metrics_quantile(m, METRIC_DECISION_SECONDS, 0.99));
		emit_int(&a->e, "turns", (int64_t)metrics_get(m, METRIC_DECISION_SECONDS, NULL));
		emit_end(&a->e);
	}
	if (!d->role)
		return;
	emit_object(&a->e, "daemon");
	emit_str(&a->e, "role", d->role);
	emit_bool(&a->e, "synced", d->is_synced);
	emit_double(&a->e, "watchLagSeconds", d->watch_lag_s);
	emit_int(&a->e, "stuckVictims", d->n_stuck);
	emit_int(&a->e, "writesInFlight", d->n_in_flight);
	emit_int(&a->e, "journalLost", (int64_t)d->n_journal_lost);
	emit_end(&a->e);
}

void answer_overview(struct asking *a)
{
	struct waiting_overview w = {.n = 0};
	struct cluster_view v;

	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	find_waiting(a, &v, NULL, &w);
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "Overview");
	emit_time(&a->e, "now", v.now_ns);
	emit_str(&a->e, "source", a->v->source ? a->v->source : "files");
	emit_str(&a->e, "version", CEDE_VERSION);
	emit_str(&a->e, "profile", profile_text(a->w->config->profile));
	emit_counts(&a->e, &v);
	emit_waiting(&a->e, &v, &w, OVERVIEW_GROUPS);
	emit_short(&a->e, &v);
	emit_hour(a);
	emit_daemon(a);
	emit_end(&a->e);
	waiting_free(&w);
	cluster_view_free(&v);
}
