/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random rows of what can happen to waiting pods, beside a plain model: one list that is searched from end to end, and
 * a log of all events that a failed pod reads from where its attempt began. Both must say the same of every pod after
 * every step, and pop the same.
 *
 * CEDE_N: how many rows.
 */
#include "filters/fixture.h"

#include <stdio.h>

#include "base/map.h"
#include "engine/waiting.h"
#include "rng.h"

enum { PODS = 10, STEPS = 400, PLUGINS = 4 /* the last is one the queue was not told of */ };

static const char *const plugins[] = {"P", "Q", "R", "X"};

struct m_event {
	struct cluster_event ev;
	bool is_for[PODS]; /* by their priorities then */
};

struct m_pod {
	enum waiting_place place;
	bool is_error;
	int64_t since, flushed, until; /* until: TIME_NONE if it does not back off */
	uint64_t seq;
	uint32_t refused, pending, n_refused, n_errors, attempts;
	int gate;
	uint32_t log_from;
};

static struct world {
	struct rng rng;
	bool pops_early;
	pod_id ids[PODS];
	int32_t priority[PODS];
	int gate_of[PODS]; /* -1: none */
	struct m_pod m[PODS];
	ARRAY(struct m_event) log;
	uint64_t seq;
	int64_t now, checked;
	struct waiting *w;
	uint64_t n_steps;
} t;

/* ---- what both ask ---- */

static int plugin_index(const char *name)
{
	for (int i = 0; i < PLUGINS; i++)
		if (str_eq(plugins[i], name))
			return i;
	return -1;
}

static bool listens(int plugin, const struct cluster_event *ev)
{
	return plugin == PLUGINS - 1 || hash_u64(ev->actions * 31 + (uint64_t)plugin + 1) % 3;
}

/* Any answer will do, as long as it is the same each time. */
static bool worth(int plugin, int pod, const struct cluster_event *ev)
{
	return plugin == PLUGINS - 1 ||
	       (listens(plugin, ev) && hash_u64(ev->actions * 131 + (uint64_t)(plugin * PODS + pod)) % 2);
}

static int pod_index(pod_id id)
{
	for (int i = 0; i < PODS; i++)
		if (t.ids[i] == id)
			return i;
	fail_msg("no such pod");
	return -1;
}

static enum hint hint(const void *ctx, const char *plugin, pod_id pod, const struct cluster_event *ev)
{
	(void)ctx;
	return worth(plugin_index(plugin), pod_index(pod), ev) ? HINT_QUEUE : HINT_SKIP;
}

static bool interest(const void *ctx, const char *plugin, const struct cluster_event *ev)
{
	(void)ctx;
	return listens(plugin_index(plugin), ev);
}

static const char *gate(const void *ctx, pod_id pod)
{
	int g = t.gate_of[pod_index(pod)];

	(void)ctx;
	return g < 0 ? NULL : plugins[g];
}

/* ---- the model ---- */

static int64_t window(void)
{
	return t.pops_early ? NS_PER_S : 1;
}

static bool m_backs_off(const struct m_pod *p)
{
	return p->until != TIME_NONE && p->until >= t.now / window() * window();
}

static void m_set_until(struct m_pod *p)
{
	static const int64_t seconds[] = {0, 1, 2, 4, 8, 10};
	uint32_t n = p->n_errors ? p->n_errors : p->n_refused;

	p->until = n ? (p->since + seconds[n < 5 ? n : 5] * NS_PER_S) / window() * window() : TIME_NONE;
}

static bool m_gated(int i)
{
	struct m_pod *p = &t.m[i];

	if (t.gate_of[i] < 0)
		return false;
	p->gate = t.gate_of[i];
	p->refused |= 1u << p->gate;
	p->place = WAITING_GATED;
	return true;
}

enum m_strategy { M_SLEEP, M_LATER, M_NOW };

static void m_settle(int i, enum m_strategy s)
{
	struct m_pod *p = &t.m[i];
	bool is_error = !p->refused;

	if (s == M_SLEEP) {
		p->place = WAITING_UNSCHEDULABLE;
	} else if (s == M_LATER && m_backs_off(p)) {
		if (t.pops_early && m_gated(i))
			return;
		p->place = WAITING_BACKOFF;
		p->is_error = is_error;
	} else if (!m_gated(i)) {
		p->place = WAITING_ACTIVE;
	}
}

static bool m_is_for(int i, const struct cluster_event *ev)
{
	if (ev->resource == EV_TARGET_POD || (ev->resource == EV_WILDCARD && ev->pod != POD_NONE))
		return ev->pod == t.ids[i];
	return !ev->is_bounded || t.priority[i] <= ev->up_to;
}

static enum m_strategy m_judge(int i, const struct cluster_event *ev)
{
	const struct m_pod *p = &t.m[i];
	enum m_strategy best = M_SLEEP;

	if (ev->resource == EV_WILDCARD)
		return M_LATER;
	for (int k = 0; k < PLUGINS; k++) {
		enum m_strategy s = p->pending >> k & 1 ? M_NOW : M_LATER;

		if ((p->refused >> k & 1) && worth(k, i, ev) && s > best)
			best = s;
	}
	return best;
}

static void m_wake(int i, const struct cluster_event *ev)
{
	struct m_pod *p = &t.m[i];
	enum m_strategy s;

	if (!m_is_for(i, ev) || (p->place == WAITING_GATED && ev->resource != EV_WILDCARD && !listens(p->gate, ev)))
		return;
	s = m_judge(i, ev);
	if (s != M_SLEEP)
		m_settle(i, s);
}

static void m_log(const struct cluster_event *ev)
{
	struct m_event e = {.ev = *ev};

	for (int i = 0; i < PODS; i++)
		e.is_for[i] = m_is_for(i, ev);
	array_push(&t.log, e);
}

static bool m_sleeps(int i)
{
	return t.m[i].place == WAITING_UNSCHEDULABLE || t.m[i].place == WAITING_GATED;
}

static void m_event(const struct cluster_event *ev)
{
	for (int i = 0; i < PODS; i++)
		if (m_sleeps(i))
			m_wake(i, ev);
	m_log(ev);
}

static bool m_is_before(int a, int b, bool by_end)
{
	const struct m_pod *x = &t.m[a], *y = &t.m[b];

	if (by_end && x->until != y->until)
		return x->until < y->until;
	if (t.priority[a] != t.priority[b])
		return t.priority[a] > t.priority[b];
	return x->since != y->since ? x->since < y->since : x->seq < y->seq;
}

static int m_first(enum waiting_place place)
{
	int best = -1;

	for (int i = 0; i < PODS; i++)
		if (t.m[i].place == place && !(place == WAITING_BACKOFF && t.m[i].is_error) &&
		    (best < 0 || m_is_before(i, best, place == WAITING_BACKOFF)))
			best = i;
	return best;
}

static void m_flush_backoffs(void)
{
	for (int i = 0; i < PODS; i++)
		if (t.m[i].place == WAITING_BACKOFF && !m_backs_off(&t.m[i]) && (t.pops_early || !m_gated(i)))
			t.m[i].place = WAITING_ACTIVE;
}

static int m_pop(void)
{
	int i;

	m_flush_backoffs();
	i = m_first(WAITING_ACTIVE);
	if (i < 0 && t.pops_early)
		i = m_first(WAITING_BACKOFF);
	if (i < 0)
		return -1;
	t.m[i].place = WAITING_IN_FLIGHT;
	t.m[i].refused = t.m[i].pending = 0;
	t.m[i].until = TIME_NONE;
	t.m[i].attempts++;
	t.m[i].log_from = t.log.n;
	return i;
}

static void m_failed(int i, uint32_t refused, uint32_t pending)
{
	struct m_pod *p = &t.m[i];
	enum m_strategy s = refused ? M_SLEEP : M_LATER;

	p->refused = refused;
	p->pending = pending;
	p->n_refused += refused != 0;
	p->n_errors = refused ? 0 : p->n_errors + 1;
	p->since = t.now;
	p->seq = t.seq++;
	m_set_until(p);
	for (uint32_t k = p->log_from; refused && k < t.log.n; k++) {
		enum m_strategy one = t.log.v[k].is_for[i] ? m_judge(i, &t.log.v[k].ev) : M_SLEEP;

		s = one > s ? one : s;
	}
	m_settle(i, s);
}

static void m_flush(void)
{
	struct cluster_event all = {.resource = EV_WILDCARD, .pod = POD_NONE};
	bool is_any = false;

	m_flush_backoffs();
	if (t.checked != TIME_NONE && t.now - t.checked < 30 * NS_PER_S)
		return;
	t.checked = t.now;
	for (int i = 0; i < PODS; i++) {
		struct m_pod *p = &t.m[i];
		int64_t last = p->flushed > p->since ? p->flushed : p->since;

		if (!m_sleeps(i) || t.now - last <= 300 * NS_PER_S)
			continue;
		p->flushed = t.now;
		is_any = true;
		m_wake(i, &all);
	}
	if (is_any)
		m_log(&all);
}

/* ---- steps ---- */

static uint32_t below(uint32_t n)
{
	return rng_below(&t.rng, n);
}

static void step_add(int i)
{
	if (t.m[i].place == WAITING_NOWHERE) {
		t.m[i] = (struct m_pod){.since = t.now, .flushed = TIME_NONE, .until = TIME_NONE, .seq = t.seq++};
		m_settle(i, M_NOW);
	}
	waiting_add(t.w, t.ids[i], t.now);
}

static void step_pop(void)
{
	int want = m_pop();
	pod_id got = waiting_pop(t.w, t.now);

	if (got != (want < 0 ? POD_NONE : t.ids[want]))
		fail_msg("popped pod %d, the model %d", got == POD_NONE ? -1 : pod_index(got), want);
}

static void step_failed(int i)
{
	uint32_t refused = below(5) ? below(1u << PLUGINS) : 0,
		 pending = refused & (below(3) ? 0 : below(1u << PLUGINS));
	const char *names[PLUGINS];
	bool is_pending[PLUGINS];
	uint32_t n = 0;

	for (int k = 0; k < PLUGINS; k++) {
		if (!(refused >> k & 1))
			continue;
		names[n] = plugins[k];
		is_pending[n++] = pending >> k & 1;
	}
	if (t.m[i].place == WAITING_IN_FLIGHT)
		m_failed(i, refused, pending);
	waiting_failed(t.w, t.ids[i], names, n, is_pending, t.now);
}

static void step_event(int i)
{
	struct cluster_event ev = {.resource = EV_OTHER, .actions = below(8), .pod = POD_NONE, .node = NODE_NONE};

	switch (below(8)) {
	case 0:
		ev.resource = EV_WILDCARD;
		ev.pod = below(2) ? t.ids[i] : POD_NONE;
		break;
	case 1:
		ev.resource = EV_TARGET_POD;
		ev.pod = t.ids[i];
		break;
	case 2:
		ev.is_bounded = true;
		ev.up_to = (int32_t)below(3);
		break;
	default:
		break;
	}
	m_event(&ev);
	waiting_event(t.w, &ev, t.now);
}

static void step_activate(int i)
{
	struct m_pod *p = &t.m[i];
	struct cluster_event ev = {.resource = EV_WILDCARD, .pod = t.ids[i]};
	bool is_free = p->place == WAITING_BACKOFF && t.pops_early;

	if (p->place == WAITING_IN_FLIGHT)
		m_log(&ev);
	if ((m_sleeps(i) || p->place == WAITING_BACKOFF) && (is_free || !m_gated(i)))
		p->place = WAITING_ACTIVE;
	waiting_activate(t.w, t.ids[i], t.now);
}

static void step_priority(int i)
{
	char name[] = {(char)('a' + i), '\0'};

	t.priority[i] = (int32_t)below(3);
	put_pod((struct pod_text){.name = name, .priority = t.priority[i]});
	if (t.m[i].place == WAITING_NOWHERE)
		return;
	m_event(&(struct cluster_event){.resource = EV_TARGET_POD, .actions = 5, .pod = t.ids[i]});
	waiting_update(t.w, t.ids[i], 5, NULL, t.now);
}

static void step_remove(int i)
{
	t.m[i].place = WAITING_NOWHERE;
	waiting_remove(t.w, t.ids[i]);
}

static void step_done(int i)
{
	if (t.m[i].place == WAITING_IN_FLIGHT)
		t.m[i].place = WAITING_NOWHERE;
	waiting_done(t.w, t.ids[i]);
}

static void step(void)
{
	int i = (int)below(PODS);
	uint32_t what = below(100);

	t.now += below(3) ? 0 : below(4) ? (int64_t)below(2000) * 1000000 : (int64_t)below(400) * NS_PER_S;
	if (what < 20)
		step_add(i);
	else if (what < 40)
		step_pop();
	else if (what < 60)
		step_failed(i);
	else if (what < 78)
		step_event(i);
	else if (what < 82)
		step_activate(i);
	else if (what < 86)
		t.gate_of[i] = below(2) ? -1 : (int)below(PLUGINS);
	else if (what < 88)
		step_priority(i);
	else if (what < 90)
		step_remove(i);
	else if (what < 93)
		step_done(i);
	else
		m_flush(), waiting_flush(t.w, t.now);
}

static void compare(void)
{
	uint32_t counts[WAITING_IN_FLIGHT + 1] = {0};

	for (int i = 0; i < PODS; i++) {
		struct waiting_info info = waiting_get(t.w, t.ids[i]);

		if (info.place != t.m[i].place)
			fail_msg("pod %d is in %d, the model's in %d", i, info.place, t.m[i].place);
		counts[info.place]++;
		if (info.place == WAITING_NOWHERE)
			continue;
		assert_int_equal(info.attempts, t.m[i].attempts);
		assert_true(info.since_ns == t.m[i].since);
		if (info.place == WAITING_BACKOFF)
			assert_true(info.backoff_until_ns == t.m[i].until);
	}
	for (int p = WAITING_ACTIVE; p <= WAITING_IN_FLIGHT; p++)
		assert_int_equal(waiting_count(t.w, (enum waiting_place)p), counts[p]);
}

/* A flush that keeps its word: never later than waiting_next_ns, if nothing else happens. */
static void check_next(void)
{
	int64_t next = waiting_next_ns(t.w);
	uint32_t n = waiting_count(t.w, WAITING_BACKOFF);

	if (!n || next == INT64_MAX || next <= t.now)
		return;
	t.now = next - 1;
	m_flush(), waiting_flush(t.w, t.now);
	assert_int_equal(waiting_count(t.w, WAITING_BACKOFF), n);
}

static void open_world(uint64_t seed)
{
	struct waiting_options o = waiting_options_default();

	t = (struct world){.rng = {seed}, .checked = TIME_NONE, .pops_early = seed % 4 != 0, .now = 1000 * NS_PER_S};
	o.n_plugins = PLUGINS - 1;
	o.plugins = plugins;
	o.hint = hint;
	o.interest = interest;
	o.gate = gate;
	o.pops_early = t.pops_early;
	for (int i = 0; i < PODS; i++) {
		char name[] = {(char)('a' + i), '\0'};

		t.priority[i] = (int32_t)below(3);
		t.gate_of[i] = -1;
		t.ids[i] = put_pod((struct pod_text){.name = name, .priority = t.priority[i]});
	}
	t.w = waiting_new(f.ledger, &o);
}

static void queue_and_model_agree(void **state)
{
	const char *env = getenv("CEDE_N");
	uint64_t n = env ? strtoull(env, NULL, 10) : 300;

	(void)state;
	ledger_check_always(f.ledger, false);
	for (uint64_t seed = 1; seed <= n; seed++) {
		open_world(seed);
		for (int i = 0; i < STEPS; i++) {
			step();
			compare();
			if (!below(20))
				check_next();
		}
		waiting_free(t.w);
		array_free(&t.log);
	}
	print_message("%llu steps agree\n", (unsigned long long)n * STEPS);
}

/*
 * A month of pods that come, fail, are woken and go, many events a pod:
 * what is kept depends on the pods that are there.
 */
static void memory_does_not_grow_with_churn(void **state)
{
	size_t before = 0;

	(void)state;
	ledger_check_always(f.ledger, false);
	open_world(7);
	for (int i = 0; i < 200000; i++) {
		step();
		if (i % 1000 == 0) { /* the model's log would grow */
			for (int k = 0; k < PODS; k++)
				step_done(k);
			t.log.n = 0;
		}
		if (i == 50000)
			before = waiting_bytes(t.w);
	}
	assert_true(before > 0);
	assert_int_equal(waiting_bytes(t.w), before);
	waiting_free(t.w);
	array_free(&t.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(queue_and_model_agree),
		FIXTURE_TEST(memory_does_not_grow_with_churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
