/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/lease.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/emit.h"
#include "kube/kinds.h"
#include "manifest/tree.h"

enum question { ASK_NOTHING, ASK_GET, ASK_TAKE /* create or patch */ };

struct lease_record { /* the Lease as last seen */
	bool is_there;
	struct text holder, version, acquired, renewed;
	int64_t duration_s;
	uint32_t transitions;
};

struct lease {
	struct lease_options options;
	enum lease_state state;
	struct lease_record seen;
	int64_t observed_ns; /* when it was first seen as it is */
	enum question open;
	uint64_t ticket;
	int64_t asked_ns;   /* when the open question was sent */
	int64_t renewed_ns; /* when the last renewal that succeeded was sent */
	int64_t next_ns;
	uint64_t random;
	bool must_look; /* what was seen may be old */
};

struct lease_options lease_options_default(void)
{
	return (struct lease_options){
		.duration_ns = 15 * NS_PER_S, .renew_deadline_ns = 10 * NS_PER_S, .retry_ns = 2 * NS_PER_S};
}

struct lease *lease_new(const struct lease_options *o, uint64_t seed)
{
	struct lease *l = mem_alloc(sizeof(*l));

	l->options = *o;
	l->random = seed;
	l->next_ns = INT64_MIN;
	l->must_look = true;
	return l;
}

void lease_free(struct lease *l)
{
	if (!l)
		return;
	text_free(&l->seen.holder);
	text_free(&l->seen.version);
	text_free(&l->seen.acquired);
	text_free(&l->seen.renewed);
	mem_free(l);
}

enum lease_state lease_state(const struct lease *l)
{
	return l->state;
}

const char *lease_holder(const struct lease *l)
{
	return l->seen.is_there ? text_str(&l->seen.holder) : "";
}

uint32_t lease_transitions(const struct lease *l)
{
	return l->seen.transitions;
}

static bool is_ours(const struct lease *l)
{
	return str_eq(lease_holder(l), l->options.identity);
}

/* Somebody else holds it, and it is not over. */
static bool is_taken(const struct lease *l, int64_t steady_ns)
{
	int64_t s = l->seen.duration_s;
	int64_t duration_ns = s <= 0 ? 0 : s > 1000000 ? 1000000 * NS_PER_S : s * NS_PER_S;

	return l->seen.is_there && *lease_holder(l) && !is_ours(l) && steady_ns < l->observed_ns + duration_ns;
}

int64_t lease_fence_ns(const struct lease *l)
{
	return l->state == LEASE_LEADING ? l->renewed_ns + l->options.renew_deadline_ns : INT64_MIN;
}

void lease_check(struct lease *l, int64_t steady_ns)
{
	if (l->state == LEASE_LEADING && steady_ns >= lease_fence_ns(l)) {
		l->state = LEASE_LOST;
		l->open = ASK_NOTHING;
		l->must_look = true;
		l->next_ns = INT64_MAX;
	}
}

void lease_retry(struct lease *l, int64_t steady_ns)
{
	if (l->state != LEASE_LOST)
		return;
	l->state = LEASE_STANDBY;
	l->next_ns = steady_ns;
}

int64_t lease_next_ns(const struct lease *l)
{
	int64_t fence = lease_fence_ns(l);

	if (l->state == LEASE_LOST || l->state == LEASE_RELEASED)
		return INT64_MAX;
	if (l->open != ASK_NOTHING) /* it may never be answered */
		return l->state == LEASE_LEADING ? fence : l->asked_ns + l->options.renew_deadline_ns;
	return l->state == LEASE_LEADING && fence < l->next_ns ? fence : l->next_ns;
}

/* ---- asking ---- */

static void lease_path(const struct lease *l, bool with_name, struct text *out)
{
	static const struct kube_kind leases = {"Lease", "coordination.k8s.io", {"v1"}, "leases", true};

	kube_path(out, &leases, "v1", l->options.ns, with_name ? l->options.name : NULL);
}

static void emit_metadata(struct emit *j, const struct lease *l)
{
	emit_object(j, "metadata");
	if (l->seen.is_there) {
		emit_str(j, "resourceVersion", text_str(&l->seen.version));
	} else {
		emit_str(j, "name", l->options.name);
		emit_str(j, "namespace", l->options.ns);
	}
	emit_end(j);
}

static void emit_spec(struct emit *j, const struct lease *l, const char *holder, int64_t duration_s, int64_t wall_ns)
{
	bool keeps = is_ours(l) && l->seen.acquired.n;
	struct text now = {0};

	write_micro_time(&now, wall_ns);
	emit_object(j, "spec");
	emit_str(j, "holderIdentity", holder);
	emit_int(j, "leaseDurationSeconds", duration_s);
	emit_str(j, "acquireTime", keeps ? text_str(&l->seen.acquired) : text_str(&now));
	emit_str(j, "renewTime", text_str(&now));
	emit_int(j, "leaseTransitions", (int64_t)l->seen.transitions + (l->seen.is_there && !is_ours(l)));
	emit_end(j);
	text_free(&now);
}

/* Only if it is still as we saw it: the resourceVersion is part of the patch. */
static void make_write(const struct lease *l, const char *holder, int64_t duration_s, int64_t wall_ns,
		       struct kube_write *w)
{
	struct text path = {0}, body = {0};
	struct emit j;

	lease_path(l, l->seen.is_there, &path);
	emit_init(&j, &body, EMIT_JSON_LINE);
	emit_object(&j, NULL);
	emit_str(&j, "apiVersion", "coordination.k8s.io/v1");
	emit_str(&j, "kind", "Lease");
	emit_metadata(&j, l);
	emit_spec(&j, l, holder, duration_s, wall_ns);
	emit_end(&j);
	write_object(w, l->seen.is_there ? "PATCH" : "POST", text_str(&path), &body);
	w->attempts = 1;
	text_free(&path);
	text_free(&body);
}

static void make_get(const struct lease *l, struct kube_write *w)
{
	struct text path = {0}, none = {0};

	lease_path(l, true, &path);
	write_object(w, "GET", text_str(&path), &none);
	w->attempts = 1;
	text_free(&path);
}

static int64_t jittered(struct lease *l)
{
	uint64_t z = l->random += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z ^= z >> 31;
	return l->options.retry_ns + (int64_t)(z % (uint64_t)(l->options.retry_ns / 5 + 1));
}

bool lease_ask(struct lease *l, int64_t steady_ns, int64_t wall_ns, struct kube_write *w, uint64_t *ret_ticket)
{
	lease_check(l, steady_ns);
	if (l->state == LEASE_LOST || l->state == LEASE_RELEASED)
		return false;
	if (l->open != ASK_NOTHING && steady_ns >= l->asked_ns + l->options.renew_deadline_ns) {
		l->open = ASK_NOTHING; /* nobody answered */
		l->must_look = true;
		l->next_ns = steady_ns;
	}
	if (l->open != ASK_NOTHING || steady_ns < l->next_ns)
		return false;
	if (!l->must_look && is_taken(l, steady_ns))
		l->must_look = true;
	l->open = l->must_look ? ASK_GET : ASK_TAKE;
	if (l->open == ASK_GET)
		make_get(l, w);
	else
		make_write(l, l->options.identity, l->options.duration_ns / NS_PER_S, wall_ns, w);
	l->asked_ns = steady_ns;
	*ret_ticket = ++l->ticket;
	return true;
}

/* ---- answers ---- */

static const char *text_at(const struct tree *t, const char *path)
{
	const struct tree *found = tree_path(t, path);

	return found && found->kind == TREE_STRING ? found->text : "";
}

static int64_t number_at(const struct tree *t, const char *path)
{
	const struct tree *found = tree_path(t, path);

	return found && found->kind == TREE_NUMBER ? strtoll(found->text, NULL, 10) : 0;
}

static void set(struct text *t, const char *s)
{
	text_reset(t);
	text_add(t, s);
}

/* What we see now, and since when it is so: any change of it is a sign of life. */
static bool observe(struct lease *l, const char *body, size_t len, int64_t steady_ns)
{
	struct arena *a = arena_new(1 << 12);
	const struct tree *t = NULL;
	struct lease_record *r = &l->seen;
	bool is_good = !tree_parse_json("lease", body, len, a, &t, NULL) && *text_at(t, "metadata.resourceVersion");

	if (is_good) {
		bool is_same = r->is_there && str_eq(text_str(&r->version), text_at(t, "metadata.resourceVersion"));

		if (!is_same)
			l->observed_ns = steady_ns;
		r->is_there = true;
		set(&r->version, text_at(t, "metadata.resourceVersion"));
		set(&r->holder, text_at(t, "spec.holderIdentity"));
		set(&r->acquired, text_at(t, "spec.acquireTime"));
		set(&r->renewed, text_at(t, "spec.renewTime"));
		r->duration_s = number_at(t, "spec.leaseDurationSeconds");
		r->transitions = (uint32_t)number_at(t, "spec.leaseTransitions");
	}
	arena_free(a);
	return is_good;
}

static void answer_get(struct lease *l, int status, const char *body, size_t len, int64_t steady_ns)
{
	bool is_known = false;

	if (status == 404) {
		l->seen.is_there = false;
		is_known = true;
	} else if (status == 200) {
		is_known = observe(l, body, len, steady_ns);
	}
	l->must_look = !is_known || is_taken(l, steady_ns);
	if (!l->must_look)
		l->next_ns = steady_ns; /* at once: it is free, or ours */
}

static void answer_take(struct lease *l, int status, const char *body, size_t len, int64_t steady_ns)
{
	bool is_good = (status == 200 || status == 201) && observe(l, body, len, steady_ns) && is_ours(l);

	if (is_good) {
		l->state = LEASE_LEADING;
		l->renewed_ns = l->asked_ns;
	} else {
		l->must_look = true; /* somebody was faster, or nobody knows what happened */
		if (l->state == LEASE_LEADING && status == 409)
			l->next_ns = steady_ns;
	}
}

void lease_answer(struct lease *l, uint64_t ticket, int status, const char *body, size_t len, int64_t steady_ns)
{
	enum question asked = l->open;

	if (asked == ASK_NOTHING || ticket != l->ticket)
		return;
	l->open = ASK_NOTHING;
	l->next_ns = steady_ns + jittered(l);
	if (asked == ASK_GET)
		answer_get(l, status, body, len, steady_ns);
	else
		answer_take(l, status, body, len, steady_ns);
	/* Somebody took it from us: an operator, or a clock beyond all bounds. */
	if (l->state == LEASE_LEADING && l->seen.is_there && !is_ours(l) && status == 200) {
		l->state = LEASE_LOST;
		l->next_ns = INT64_MAX;
	}
	lease_check(l, steady_ns);
}

bool lease_release(struct lease *l, int64_t steady_ns, int64_t wall_ns, struct kube_write *w)
{
	bool was_leading;

	lease_check(l, steady_ns);
	was_leading = l->state == LEASE_LEADING;
	l->state = LEASE_RELEASED;
	l->open = ASK_NOTHING;
	if (was_leading)
		make_write(l, "", 1, wall_ns, w);
	return was_leading;
}
