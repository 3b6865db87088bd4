/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who displaced whom, followed in both directions from one decision.
 *
 * Backward: the pod of the decision was a victim itself, of a decision for another pod, which was a victim of one
 * before; one pass over the log, newest first. Forward: the victims of the decision are decided about again, perhaps at
 * the cost of others, who are then decided about; one pass, oldest first. A pod that was evicted comes back under
 * another name where a controller makes it anew: then its workload is followed.
 */
#include "base/emit.h"
#include "serve/log_internal.h"

enum { MAX_BACK = 50, MAX_FOLLOWED = 200 };

struct followed { /* a victim whose next decision is looked for; strings are the log's, good while it is locked */
	const char *pod, *workload;
	uint64_t from; /* the decision it was a victim of */
	uint32_t depth;
	uint32_t waits_at; /* its last decision to wait, in the ring; UINT32_MAX */
	bool is_settled;
};

struct chain {
	struct serve_log *l;
	struct emit *e;
	ARRAY(struct followed) followed;
	bool is_cut;
};

/* ---- where it begins ---- */

static bool is_victim(const struct log_entry *x, const char *pod, const char *workload)
{
	return (*pod && facts_has(&x->facts, FACT_VICTIM, pod)) ||
	       (*workload && facts_has(&x->facts, FACT_VICTIM_WORKLOAD, workload));
}

/* The newest that moved the pod or took its place, else the newest about it. */
static uint32_t find_pod(struct serve_log *l, const char *pod)
{
	uint32_t waits_at = UINT32_MAX;

	for (uint32_t i = l->n; i-- > 0;) {
		const struct log_entry *x = log_at(l, i);

		if (!x->is_decision)
			continue;
		if (facts_has(&x->facts, FACT_VICTIM, pod))
			return i;
		if (!str_eq(facts_get(&x->facts, FACT_POD), pod) && !str_eq(facts_get(&x->facts, FACT_GROUP), pod))
			continue;
		if (facts_show(&x->facts, SHOW_PLACEMENTS))
			return i;
		if (waits_at == UINT32_MAX)
			waits_at = i;
	}
	return waits_at;
}

static uint32_t find_start(struct serve_log *l, uint64_t id, const char *pod)
{
	uint32_t at;

	if (pod)
		return find_pod(l, pod);
	at = id ? log_position(l, id - 1) : l->n;
	return at < l->n && log_at(l, at)->id == id && log_at(l, at)->is_decision ? at : UINT32_MAX;
}

/* ---- backward ---- */

static void emit_step(struct chain *c, const struct log_entry *x)
{
	emit_object(c->e, NULL);
	log_emit_brief(c->e, x);
}

static void follow_back(struct chain *c, uint32_t start)
{
	const struct log_entry *x = log_at(c->l, start);
	const char *pod = facts_get(&x->facts, FACT_POD), *workload = facts_get(&x->facts, FACT_WORKLOAD);
	uint32_t n = 0;

	emit_list(c->e, "because");
	for (uint32_t i = start; i-- > 0 && (*pod || *workload);) {
		x = log_at(c->l, i);
		if (!x->is_decision || !is_victim(x, pod, workload))
			continue;
		if (n++ == MAX_BACK) {
			c->is_cut = true;
			break;
		}
		emit_step(c, x);
		emit_str(c->e, "took", pod);
		emit_end(c->e);
		pod = facts_get(&x->facts, FACT_POD);
		workload = facts_get(&x->facts, FACT_WORKLOAD);
	}
	emit_end(c->e);
}

/* ---- forward ---- */

static void follow_victims(struct chain *c, const struct log_entry *x, uint32_t depth)
{
	const char *s;
	enum fact_kind kind;
	uint32_t first = c->followed.n, n_workloads = 0;

	for (size_t at = 0; (s = facts_next(&x->facts, &at, &kind));) {
		struct followed f = {.pod = s, .workload = "", .from = x->id, .depth = depth, .waits_at = UINT32_MAX};

		if (kind == FACT_VICTIM && c->followed.n == MAX_FOLLOWED)
			c->is_cut = true;
		else if (kind == FACT_VICTIM)
			array_push(&c->followed, f);
		else if (kind == FACT_VICTIM_WORKLOAD && first + n_workloads < c->followed.n)
			c->followed.v[first + n_workloads++].workload = s;
	}
}

static struct followed *followed_of(struct chain *c, const struct log_entry *x)
{
	const char *pod = facts_get(&x->facts, FACT_POD), *workload = facts_get(&x->facts, FACT_WORKLOAD);

	for (uint32_t i = 0; i < c->followed.n; i++) {
		struct followed *f = &c->followed.v[i];

		if (!f->is_settled && f->from < x->id && is_same_work(f->pod, f->workload, pod, workload))
			return f;
	}
	return NULL;
}

static void emit_led(struct chain *c, const struct log_entry *x, const struct followed *f)
{
	emit_step(c, x);
	emit_str(c->e, "victim", f->pod);
	emit_int(c->e, "from", (int64_t)f->from);
	emit_int(c->e, "depth", f->depth);
	emit_end(c->e);
}

/* Those who got a place as they got it; then, of those who still wait, why. */
static void follow_on(struct chain *c, uint32_t start)
{
	follow_victims(c, log_at(c->l, start), 1);
	emit_list(c->e, "led");
	for (uint32_t i = start + 1; i < c->l->n && c->followed.n; i++) {
		const struct log_entry *x = log_at(c->l, i);
		struct followed *f = x->is_decision ? followed_of(c, x) : NULL;
		uint32_t depth;

		if (!f)
			continue;
		if (!facts_show(&x->facts, SHOW_PLACEMENTS)) {
			f->waits_at = i;
			continue;
		}
		f->is_settled = true;
		depth = f->depth + 1;
		emit_led(c, x, f);
		follow_victims(c, x, depth);
	}
	for (uint32_t i = 0; i < c->followed.n; i++) {
		struct followed *f = &c->followed.v[i];

		if (!f->is_settled && f->waits_at != UINT32_MAX) {
			emit_led(c, log_at(c->l, f->waits_at), f);
			f->is_settled = true;
		}
	}
	emit_end(c->e);
}

static void emit_silent(struct chain *c)
{
	emit_list(c->e, "unknown");
	for (uint32_t i = 0; i < c->followed.n; i++) {
		const struct followed *f = &c->followed.v[i];

		if (f->is_settled)
			continue;
		emit_object(c->e, NULL);
		emit_str(c->e, "pod", f->pod);
		emit_int(c->e, "from", (int64_t)f->from);
		emit_end(c->e);
	}
	emit_end(c->e);
}

static void emit_chain(struct chain *c, uint32_t start)
{
	emit_object(c->e, NULL);
	emit_str(c->e, "kind", "Chain");
	emit_bool(c->e, "complete", c->l->lost <= c->l->began);
	if (start != UINT32_MAX) {
		emit_object(c->e, "start");
		log_emit_brief(c->e, log_at(c->l, start));
		emit_end(c->e);
		follow_back(c, start);
		follow_on(c, start);
		emit_silent(c);
		emit_bool(c->e, "cut", c->is_cut);
	}
	emit_end(c->e);
}

bool serve_log_chain(struct serve_log *l, uint64_t id, const char *pod, struct text *out)
{
	struct emit e;
	struct chain c = {.l = l, .e = &e};
	uint32_t start;

	pthread_mutex_lock(&l->lock);
	start = find_start(l, id, pod);
	emit_init(&e, out, EMIT_JSON_LINE);
	if (start != UINT32_MAX || pod)
		emit_chain(&c, start);
	pthread_mutex_unlock(&l->lock);
	array_free(&c.followed);
	return start != UINT32_MAX || pod;
}
