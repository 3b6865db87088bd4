/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/expect.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/sim_internal.h"
#include "units/duration.h"
#include "units/timestamp.h"

#define DAY_NS (INT64_C(86400) * NS_PER_S)

/* ---- times ---- */

/* Two digits, below the limit; -1: not so. */
static int two_digits(const char *s, int limit)
{
	int n;

	if (!isdigit((unsigned char)s[0]) || !isdigit((unsigned char)s[1]))
		return -1;
	n = (s[0] - '0') * 10 + s[1] - '0';
	return n < limit ? n : -1;
}

static bool clock_time(const char *s, int64_t *ret_ns)
{
	size_t n = strlen(s);
	int h, m, sec = 0;

	if ((n != 5 && n != 8) || s[2] != ':' || (n == 8 && s[5] != ':'))
		return false;
	h = two_digits(s, 24);
	m = two_digits(s + 3, 60);
	if (n == 8)
		sec = two_digits(s + 6, 60);
	if (h < 0 || m < 0 || sec < 0)
		return false;
	*ret_ns = time_multiply(NS_PER_S, h * 3600 + m * 60 + sec);
	return true;
}

enum err_code when_parse(const char *s, int64_t from_ns, int64_t *ret_ns, struct err *e)
{
	int64_t ns;

	if (clock_time(s, &ns)) {
		ns = time_add(time_floor(from_ns, DAY_NS), ns);
		*ret_ns = ns < from_ns ? time_add(ns, DAY_NS) : ns;
		return ERR_OK;
	}
	if (!duration_parse(s, strlen(s), true, &ns, NULL)) {
		if (ns < 0)
			return err_fail(e, ERR_INPUT, "'%s' is before the beginning", s);
		*ret_ns = time_add(from_ns, ns);
		return ERR_OK;
	}
	if (!timestamp_parse(s, strlen(s), ret_ns, NULL))
		return ERR_OK;
	return err_fail(e, ERR_INPUT,
			"expected a time such as 12:10 or 2026-11-15T12:10:00Z, or a duration such as 2h from the "
			"beginning, found '%s'",
			s);
}

/* ---- sentences ---- */

/* The words of a sentence, one after the other. */
struct expectation_words {
	const char *v[24];
	uint32_t n;
	char copy[400];
};

static void split(const char *sentence, struct expectation_words *w)
{
	char *rest = w->copy, *word;

	w->n = 0;
	snprintf(w->copy, sizeof(w->copy), "%s", sentence);
	while (w->n < 24 && (word = strsep(&rest, " \t\n")) != NULL)
		if (*word)
			w->v[w->n++] = word;
}

/* Do the words from i on read like this, "*" standing for one word? */
static bool read_as(const struct expectation_words *w, uint32_t i, const char *pattern)
{
	struct expectation_words p;

	split(pattern, &p);
	if (w->n - i != p.n)
		return false;
	for (uint32_t k = 0; k < p.n; k++)
		if (!str_eq(p.v[k], "*") && !str_eq(p.v[k], w->v[i + k]))
			return false;
	return true;
}

static bool is_path(const char *s)
{
	return str_eq(s, "root") || str_starts(s, "root.");
}

static enum err_code whom(struct expectation *x, const char *word, struct err *e)
{
	x->is_queue = is_path(word);
	if (!x->is_queue && !strchr(word, '/'))
		return err_fail(e, ERR_INPUT, "expected NAMESPACE/NAME or a queue such as root.a, found '%s'", word);
	x->whom = mem_strdup(word);
	return ERR_OK;
}

static enum err_code duration_of(const char *word, int64_t *ret, struct err *e)
{
	if (duration_parse(word, strlen(word), true, ret, NULL) || *ret < 0)
		return err_fail(e, ERR_INPUT, "expected a duration such as 5m, found '%s'", word);
	return ERR_OK;
}

static enum err_code most_of(const char *word, uint64_t *ret, struct err *e)
{
	char *end;

	*ret = strtoull(word, &end, 10);
	return !isdigit((unsigned char)*word) || *end
		       ? err_fail(e, ERR_INPUT, "expected a number of evictions, found '%s'", word)
		       : ERR_OK;
}

static enum err_code evictions_in(struct expectation *x, const struct expectation_words *w, struct err *e)
{
	enum err_code rc = most_of(w->v[2], &x->most, e);

	x->kind = EXPECT_MOST_EVICTIONS;
	x->is_queue = true;
	if (rc)
		return rc;
	if (w->n == 4) {
		x->whom = mem_strdup("");
		return ERR_OK;
	}
	return is_path(w->v[5]) ? whom(x, w->v[5], e)
				: err_fail(e, ERR_INPUT, "expected a queue such as root.a, found '%s'", w->v[5]);
}

static enum err_code before(struct expectation *x, const struct expectation_words *w, uint32_t i, int64_t from_ns,
			    struct err *e)
{
	enum err_code rc = whom(x, w->v[i], e);

	return rc ? rc : when_parse(w->v[i + 3], from_ns, &x->limit_ns, e);
}

static enum err_code understand(struct expectation *x, const struct expectation_words *w, int64_t from_ns,
				struct err *e)
{
	uint32_t i = w->n && (str_eq(w->v[0], "group") || str_eq(w->v[0], "pod") || str_eq(w->v[0], "job"));

	if (read_as(w, i, "* is never evicted")) {
		x->kind = EXPECT_NEVER_EVICTED;
		return whom(x, w->v[i], e);
	}
	if (read_as(w, i, "* runs before *")) {
		x->kind = EXPECT_RUNS_BEFORE;
		return before(x, w, i, from_ns, e);
	}
	if (read_as(w, i, "* finishes before *")) {
		x->kind = EXPECT_FINISHES_BEFORE;
		return before(x, w, i, from_ns, e);
	}
	if (read_as(w, 0, "at most * evictions") || read_as(w, 0, "at most * evictions in *") ||
	    read_as(w, 0, "at most * eviction in *") || read_as(w, 0, "at most * eviction"))
		return evictions_in(x, w, e);
	if (read_as(w, 0, "* is never below its guarantee for more than * while it has work") ||
	    read_as(w, 0, "* is never below its guarantee for more than *")) {
		x->kind = EXPECT_GUARANTEE;
		return !is_path(w->v[0])
			       ? err_fail(e, ERR_INPUT, "expected a queue such as root.a, found '%s'", w->v[0])
		       : whom(x, w->v[0], e) ? ERR_INPUT
					     : duration_of(w->v[9], &x->limit_ns, e);
	}
	if (read_as(w, 0, "nobody waits longer than *") || read_as(w, 0, "nobody in * waits longer than *")) {
		x->kind = EXPECT_WAITS;
		x->is_queue = true;
		x->whom = mem_strdup(w->n > 5 ? w->v[2] : "");
		return duration_of(w->v[w->n - 1], &x->limit_ns, e);
	}
	if (read_as(w, 0, "everything finishes")) {
		x->kind = EXPECT_EVERYTHING_FINISHES;
		x->whom = mem_strdup("");
		return ERR_OK;
	}
	return err_fail(e, ERR_INPUT,
			"not understood: '%.120s'. Known are 'NS/NAME is never evicted', 'NS/NAME runs before TIME', "
			"'NS/NAME finishes before TIME', 'at most N evictions in QUEUE', 'QUEUE is never below its "
			"guarantee for more than DURATION while it has work', 'nobody in QUEUE waits longer than "
			"DURATION', 'everything finishes'",
			x->sentence);
}

static void expectation_free(struct expectation *x)
{
	mem_free(x->sentence);
	mem_free(x->whom);
	mem_free(x->culprit);
}

enum err_code expect_parse(struct expectations *all, const char *sentence, int64_t from_ns, struct err *e)
{
	struct expectation x = {.sentence = mem_strdup(sentence), .first_ns = TIME_NONE, .last_ns = TIME_NONE};
	struct expectation_words w;
	enum err_code rc;

	split(sentence, &w);
	rc = understand(&x, &w, from_ns, e);
	if (rc) {
		expectation_free(&x);
		return rc;
	}
	array_push(&all->v, x);
	return ERR_OK;
}

void expectations_free(struct expectations *x)
{
	for (uint32_t i = 0; i < x->v.n; i++)
		expectation_free(&x->v.v[i]);
	array_free(&x->v);
}

/* ---- while it runs ---- */

static bool is_below(const char *path, const char *ancestor)
{
	size_t n = strlen(ancestor);

	return n == 0 || (strncmp(path, ancestor, n) == 0 && (path[n] == '\0' || path[n] == '.'));
}

/* The pod itself, or a pod of the job of that name. */
static bool is_of(struct sim *s, pod_id pod, const char *name)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	const char *ns = name_str(s->names, labelset_get(s->vocab, p->labelset)->ns);
	uint32_t slot = sim_incarnation(s, pod)->slot;
	size_t n = strlen(ns);

	if (strncmp(name, ns, n) != 0 || name[n] != '/')
		return false;
	name += n + 1;
	if (str_eq(name, name_str(s->names, p->name)) || str_eq(name, name_str(s->names, p->obj->group)))
		return true;
	return slot != SLOT_NONE && str_eq(name, s->works.v[s->pods.v[slot].job].name);
}

static void note_culprit(struct expectation *x, const struct sim_eviction *ev)
{
	struct text t = {0};

	if (x->culprit)
		return;
	x->first_ns = ev->at_ns;
	text_add(&t, ev->pod);
	if (ev->for_pod[0])
		text_printf(&t, " for %s", ev->for_pod);
	x->culprit = mem_strdup(text_str(&t));
	text_free(&t);
}

void expect_eviction(struct expectations *all, struct sim *s, const struct sim_eviction *ev)
{
	for (uint32_t i = 0; i < all->v.n; i++) {
		struct expectation *x = &all->v.v[i];

		if (x->kind != EXPECT_NEVER_EVICTED && x->kind != EXPECT_MOST_EVICTIONS)
			continue;
		if (x->is_queue ? !is_below(ev->queue, x->whom) : !is_of(s, ev->victim->pod, x->whom))
			continue;
		x->is_seen = true;
		x->n_evictions++;
		note_culprit(x, ev);
	}
}

static void see_done(struct expectations *all, struct sim *s, pod_id pod, enum expectation_kind kind)
{
	for (uint32_t i = 0; i < all->v.n; i++) {
		struct expectation *x = &all->v.v[i];

		if ((x->kind != kind && x->kind != EXPECT_NEVER_EVICTED) || x->is_queue || !is_of(s, pod, x->whom))
			continue;
		x->is_seen = true;
		x->n_done++;
		x->last_ns = s->now_ns;
	}
}

void expect_start(struct expectations *x, struct sim *s, pod_id pod)
{
	uint32_t slot = sim_incarnation(s, pod)->slot;

	if (slot != SLOT_NONE && s->pods.v[slot].made == 1)
		see_done(x, s, pod, EXPECT_RUNS_BEFORE);
}

void expect_finish(struct expectations *x, struct sim *s, pod_id pod)
{
	see_done(x, s, pod, EXPECT_FINISHES_BEFORE);
}

/* ---- afterwards ---- */

/* The second by which it had happened: what came too late must not look as if it had not. */
static void time_text(int64_t ns, struct text *out)
{
	timestamp_text(time_floor(time_add(ns, NS_PER_S - 1), NS_PER_S), out);
}

static bool is_queue(struct sim *s, const char *path)
{
	if (queue_tree_find(ledger_queues(s->ledger), path, strlen(path)) != QUEUE_NONE)
		return true;
	for (uint32_t i = 1; i < s->accounts.n; i++)
		if (is_below(s->accounts.v[i].path, path))
			return true; /* it may be gone by now */
	return false;
}

static bool is_alive(struct sim *s, const char *name)
{
	for (uint32_t i = 0; i < s->pods.n; i++) {
		const struct sim_pod *p = &s->pods.v[i];

		if ((p->life == LIFE_WAITING || p->life == LIFE_RUNNING) && p->pod != POD_NONE &&
		    is_of(s, p->pod, name))
			return true;
	}
	return false;
}

/* Whoever is misspelt is never evicted either. */
static bool names_nobody(const struct expectation *x, struct sim *s, struct check *c)
{
	if (!x->whom[0] || (x->is_queue ? is_queue(s, x->whom) : x->is_seen || is_alive(s, x->whom)))
		return false;
	c->ok = false;
	text_printf(&c->found, x->is_queue ? "there is no queue %s" : "there was no pod or job %s", x->whom);
	return true;
}

static void found_evictions(const struct expectation *x, struct check *c)
{
	c->ok = x->n_evictions <= (x->kind == EXPECT_NEVER_EVICTED ? 0 : x->most);
	text_printf(&c->found, "%" PRIu64 " eviction%s", x->n_evictions, x->n_evictions == 1 ? "" : "s");
	if (!x->culprit)
		return;
	text_printf(&c->found, ", the first %s at ", x->culprit);
	time_text(x->first_ns, &c->found);
}

/* Pods of it that are alive and have not come so far. */
static uint64_t still_to_come(const struct expectation *x, struct sim *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->pods.n; i++) {
		const struct sim_pod *p = &s->pods.v[i];

		if (p->life != LIFE_WAITING && p->life != LIFE_RUNNING)
			continue;
		if (p->pod == POD_NONE || !is_of(s, p->pod, x->whom))
			continue;
		n += x->kind == EXPECT_FINISHES_BEFORE || (p->life == LIFE_WAITING && p->made == 1);
	}
	return n;
}

static void found_before(const struct expectation *x, struct sim *s, struct check *c)
{
	const char *did = x->kind == EXPECT_RUNS_BEFORE ? "started" : "finished";
	uint64_t open = still_to_come(x, s);

	c->ok = x->n_done && !open && x->last_ns <= x->limit_ns;
	if (!x->n_done) {
		text_printf(&c->found, "nothing of it %s", did);
		return;
	}
	text_printf(&c->found, "%" PRIu64 " pod%s %s, the last at ", x->n_done, x->n_done == 1 ? "" : "s", did);
	time_text(x->last_ns, &c->found);
	if (open)
		text_printf(&c->found, "; %" PRIu64 " did not", open);
}

static void found_guarantee(const struct expectation *x, struct sim *s, struct check *c)
{
	int64_t longest = 0;
	bool is_known = false;

	for (uint32_t i = 1; i < s->accounts.n; i++) {
		const struct account *a = &s->accounts.v[i];
		int64_t now = a->is_below ? time_since(s->now_ns, a->below_since_ns) : 0;

		if (!is_below(a->path, x->whom))
			continue;
		is_known |= a->guaranteed.mask != 0;
		longest = longest > a->longest_below_ns ? longest : a->longest_below_ns;
		longest = longest > now ? longest : now;
	}
	c->ok = is_known && longest <= x->limit_ns;
	if (!is_known) {
		text_printf(&c->found, "no queue %s with a guarantee", x->whom);
		return;
	}
	text_add(&c->found, longest ? "below it for " : "never below it");
	if (longest)
		duration_text_short(longest, &c->found);
}

static void found_waits(const struct expectation *x, struct sim *s, struct check *c)
{
	int64_t longest = 0;

	for (uint32_t i = 1; i < s->accounts.n; i++)
		if (is_below(s->accounts.v[i].path, x->whom) && s->accounts.v[i].counts.waits.max_ns > longest)
			longest = s->accounts.v[i].counts.waits.max_ns;
	for (uint32_t i = 0; i < s->pods.n; i++) {
		const struct sim_pod *p = &s->pods.v[i];
		int64_t waits = p->life == LIFE_WAITING ? time_since(s->now_ns, p->waits_since_ns) : 0;

		if (p->life == LIFE_WAITING && is_below(s->accounts.v[p->account].path, x->whom) && waits > longest)
			longest = waits;
	}
	c->ok = longest <= x->limit_ns;
	text_add(&c->found, "the longest wait was ");
	duration_text_short(longest, &c->found);
}

static struct check check_one(const struct expectation *x, struct sim *s)
{
	const struct outcome_counts *t = &s->outcome.totals;
	struct check c = {.expect = x->sentence};

	if (names_nobody(x, s, &c))
		return c;
	switch (x->kind) {
	case EXPECT_NEVER_EVICTED:
	case EXPECT_MOST_EVICTIONS:
		found_evictions(x, &c);
		break;
	case EXPECT_RUNS_BEFORE:
	case EXPECT_FINISHES_BEFORE:
		found_before(x, s, &c);
		break;
	case EXPECT_GUARANTEE:
		found_guarantee(x, s, &c);
		break;
	case EXPECT_WAITS:
		found_waits(x, s, &c);
		break;
	case EXPECT_EVERYTHING_FINISHES:
		c.ok = t->finished == t->submitted;
		text_printf(&c.found, "%" PRIu64 " of %" PRIu64 " pods finished", t->finished, t->submitted);
		break;
	}
	return c;
}

struct check *expectations_check(const struct expectations *all, struct sim *s)
{
	struct check *v = mem_alloc((all->v.n + 1) * sizeof(*v));

	for (uint32_t i = 0; i < all->v.n; i++)
		v[i] = check_one(&all->v.v[i], s);
	return v;
}

void checks_free(struct check *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		text_free(&v[i].found);
	mem_free(v);
}
