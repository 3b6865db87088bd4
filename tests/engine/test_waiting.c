/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories of waiting pods, written as short scripts. Commands end in a semicolon:
 *
 *	t 1.5		it is now 1.5 s			flush		time passes
 *	add a		a comes (or came already)	remove a	a goes
 *	pop a		a is tried next; "pop -": nobody is ready
 *	done a		a was placed			fail a P Q?	P and Q refused it, Q without penalty
 *	error a		its attempt met an error	activate a	somebody wants it tried
 *	event P Q	something after which P's and Q's refusals are worth another try
 *	event		something that is of interest to nobody
 *	event P <=5	the same, for pods of priority 5 or less
 *	wild		everybody; "wild a": a alone	self a P	a's own object changed
 *	gate a G	G holds a back; "gate a": nobody does
 *	prio a 7	its priority is now 7, told by "self"
 *	a is PLACE	one of nowhere active backoff unschedulable gated flying
 *	next 3		waiting_next_ns; "next -": never
 */
#include "filters/fixture.h"

#include "engine/waiting.h"

static const char *const plugins[] = {"P", "Q", "R"};
enum { N_PODS = 8 };

static struct story {
	const char *says;
	pod_id pods[N_PODS];
	const char *gates[N_PODS]; /* by pod */
	struct waiting *w;
	int64_t now;
} s;

static enum hint hint(const void *ctx, const char *plugin, pod_id pod, const struct cluster_event *ev)
{
	(void)ctx, (void)pod;
	for (size_t i = 0; i < COUNT(plugins); i++)
		if (str_eq(plugins[i], plugin))
			return ev->actions >> i & 1 ? HINT_QUEUE : HINT_SKIP;
	fail_msg("%s: asked about %s, which it was not told of", s.says, plugin);
	return HINT_SKIP;
}

static bool interest(const void *ctx, const char *plugin, const struct cluster_event *ev)
{
	return hint(ctx, plugin, 0, ev) == HINT_QUEUE;
}

static const char *gate(const void *ctx, pod_id pod)
{
	(void)ctx;
	for (int i = 0; i < N_PODS; i++)
		if (s.pods[i] == pod)
			return s.gates[i];
	return NULL;
}

static int pod_index(const char *w)
{
	int i = w ? w[0] - 'a' : -1;

	if (i < 0 || i >= N_PODS || w[1])
		fail_msg("%s: \"%s\" is no pod", s.says, w ? w : "");
	return i;
}

static pod_id story_pod(const char *w)
{
	return s.pods[pod_index(w)];
}

static const char *const places[] = {"nowhere", "active", "backoff", "unschedulable", "gated", "flying"};

static void expect_place(const char *pod, const char *wanted)
{
	const char *got = places[waiting_where(s.w, story_pod(pod))];

	if (!str_eq(got, wanted))
		fail_msg("%s: %s is %s, not %s", s.says, pod, got, wanted);
}

static void expect_pop(const char *wanted)
{
	pod_id got = waiting_pop(s.w, s.now);
	const char *name = got == POD_NONE ? "-" : name_str(f.names, ledger_pod(f.ledger, got)->name);

	if (!str_eq(name, wanted))
		fail_msg("%s: %s is next, not %s", s.says, name, wanted);
}

static void do_fail(const char *pod, const char **rest)
{
	const char *names[4];
	bool is_pending[4];
	uint32_t n = 0;
	char *w;

	for (; (w = next_word(rest)); n++) {
		size_t len = strlen(w);

		is_pending[n] = w[len - 1] == '?';
		if (is_pending[n])
			w[len - 1] = '\0';
		names[n] = w;
	}
	waiting_failed(s.w, story_pod(pod), names, n, is_pending, s.now);
}

/* The plugins named, as actions; a bound on priority goes into ev. */
static uint32_t actions_of(const char **rest, struct cluster_event *ev)
{
	uint32_t actions = 0;
	char *w;

	while ((w = next_word(rest))) {
		for (size_t i = 0; i < COUNT(plugins); i++)
			actions |= str_eq(plugins[i], w) ? 1u << i : 0;
		if (w[0] == '<') {
			ev->is_bounded = true;
			ev->up_to = (int32_t)strtol(w + 2, NULL, 10);
		}
	}
	return actions;
}

static void do_event(enum event_resource resource, const char **rest)
{
	struct cluster_event ev = {.resource = resource, .pod = POD_NONE, .node = NODE_NONE};
	const char *w = resource == EV_WILDCARD ? next_word(rest) : NULL;

	if (w)
		ev.pod = story_pod(w);
	ev.actions = actions_of(rest, &ev);
	waiting_event(s.w, &ev, s.now);
}

static void do_priority(const char *pod, const char **rest)
{
	put_pod((struct pod_text){.name = pod, .priority = (int32_t)strtol(next_word(rest), NULL, 10)});
}

static void expect_next(const char *wanted)
{
	int64_t got = waiting_next_ns(s.w),
		want = str_eq(wanted, "-") ? INT64_MAX : strtol(wanted, NULL, 10) * NS_PER_S;

	if (got != want)
		fail_msg("%s: next is %lld, not %lld", s.says, (long long)got, (long long)want);
}

static void do_to_pod(const char *verb, const char *pod, const char **rest)
{
	if (str_eq(verb, "add"))
		waiting_add(s.w, story_pod(pod), s.now);
	else if (str_eq(verb, "remove"))
		waiting_remove(s.w, story_pod(pod));
	else if (str_eq(verb, "done"))
		waiting_done(s.w, story_pod(pod));
	else if (str_eq(verb, "fail"))
		do_fail(pod, rest);
	else if (str_eq(verb, "error"))
		waiting_failed(s.w, story_pod(pod), NULL, 0, NULL, s.now);
	else if (str_eq(verb, "activate"))
		waiting_activate(s.w, story_pod(pod), s.now);
	else if (str_eq(verb, "self"))
		waiting_update(s.w, story_pod(pod), actions_of(rest, &(struct cluster_event){0}), NULL, s.now);
	else if (str_eq(verb, "gate"))
		s.gates[pod_index(pod)] = next_word(rest);
	else if (str_eq(verb, "prio"))
		do_priority(pod, rest);
	else if (str_eq(pod, "is"))
		expect_place(verb, next_word(rest));
	else
		fail_msg("%s: what is %s?", s.says, verb);
}

static void do_command(const char *command)
{
	const char *verb = next_word(&command);

	if (!verb)
		return;
	if (str_eq(verb, "t"))
		s.now = (int64_t)(strtod(next_word(&command), NULL) * 1e9);
	else if (str_eq(verb, "flush"))
		waiting_flush(s.w, s.now);
	else if (str_eq(verb, "pop"))
		expect_pop(next_word(&command));
	else if (str_eq(verb, "next"))
		expect_next(next_word(&command));
	else if (str_eq(verb, "event"))
		do_event(EV_OTHER, &command);
	else if (str_eq(verb, "wild"))
		do_event(EV_WILDCARD, &command);
	else
		do_to_pod(verb, next_word(&command), &command);
}

static void tell(const char *says, const char *script, bool pops_early)
{
	struct waiting_options o = waiting_options_default();
	char *rest = arena_strndup(f.arena, script, strlen(script));

	o.pops_early = pops_early;
	o.n_plugins = COUNT(plugins);
	o.plugins = plugins;
	o.hint = hint;
	o.interest = interest;
	o.gate = gate;
	s = (struct story){.says = says, .w = waiting_new(f.ledger, &o)};
	for (int i = 0; i < N_PODS; i++) {
		char name[] = {(char)('a' + i), '\0'};

		s.pods[i] = put_pod((struct pod_text){.name = name, .priority = i >= N_PODS / 2 ? 5 : 0});
	}
	while (rest) {
		char *command = rest;

		rest = cut(rest, ';');
		do_command(command);
	}
	waiting_free(s.w);
}

/* a to d have priority 0, e to h priority 5. */
static const struct {
	const char *says, *script;
} stories[] = {
	{"pods come and are tried in the order of arrival", "add b; add a; add c; pop b; pop a; pop c; pop -"},
	{"higher priority is tried first, and among equals the older",
	 "add a; t 1; add e; t 2; add f; pop e; pop f; pop a"},
	{"a pod that is here already keeps its turn", "add a; t 1; add b; t 2; add a; pop a; pop b; pop -"},
	{"who was placed is gone", "add a; pop a; a is flying; done a; a is nowhere; pop -"},
	{"who was removed is not tried, wherever it was",
	 "add a; add b; remove a; a is nowhere; pop b; fail b P; remove b; b is nowhere; event P; b is "
	 "nowhere; pop -"},
	{"what is said of a pod that was removed in flight is ignored",
	 "add a; pop a; remove a; fail a P; a is nowhere; done a; add a; a is active; fail a P; a is active"},

	{"a refused pod sleeps", "add a; pop a; fail a P; a is unschedulable; pop -; t 9; flush; a is unschedulable"},
	{"an event its refuser cares for wakes it, others do not",
	 "add a; pop a; fail a P; event Q; a is unschedulable; event; a is unschedulable; event P; a is "
	 "backoff"},
	{"an event wakes only whom it should",
	 "add a; add b; add c; pop a; fail a P; pop b; fail b Q; pop c; fail c P Q;"
	 "event Q; a is unschedulable; b is backoff; c is backoff"},
	{"one refuser that would let it pass is enough", "add a; pop a; fail a P Q R; event R; a is backoff"},
	{"a refuser nobody knows is worth a try after every event", "add a; pop a; fail a X; event Q; a is backoff"},
	{"a nomination that was given up is of no use to higher pods",
	 "add a; add e; pop e; fail e P; pop a; fail a P; event P <=4; a is backoff; e is unschedulable;"
	 "event P <=5; e is backoff"},
	{"a wildcard wakes everybody",
	 "add a; add b; pop a; fail a P; pop b; fail b Q; wild; a is backoff; b is backoff"},
	{"a wildcard for one wakes that one",
	 "add a; add b; pop a; fail a P; pop b; fail b P; wild b; a is unschedulable; b is backoff"},

	{"backoff doubles from 1 s to 10 s; it ends in the second after",
	 "add a; pop a; fail a P; event P; a is backoff; t 1.9; flush; a is backoff; t 2; flush; a is active;"
	 "pop a; fail a P; event P; t 4.9; flush; a is backoff; t 5; flush; a is active;"
	 "pop a; fail a P; event P; t 9.9; flush; a is backoff; t 10; flush; a is active;"
	 "pop a; fail a P; event P; t 18.9; flush; a is backoff; t 19; flush; a is active;"
	 "pop a; fail a P; event P; t 29.9; flush; a is backoff; t 30; flush; a is active;"
	 "pop a; fail a P; event P; t 40.9; flush; a is backoff; t 41; flush; a is active"},
	{"backoff is counted from the failure, in whole seconds",
	 "t 0.9; add a; pop a; fail a P; event P; t 1.99; flush; a is backoff; t 2; flush; a is active"},
	{"an event after its backoff is over makes a pod active at once",
	 "add a; pop a; fail a P; t 1.5; event P; a is backoff; remove a; add a; pop a; fail a P; t 4; event "
	 "P; a is active"},
	{"who sleeps does not back off meanwhile twice", "add a; pop a; fail a P; t 60; event P; a is active; pop a"},

	{"nobody active: the one whose backoff ends first is tried early",
	 "add a; add b; pop a; fail a P; pop b; t 1; fail b P; event P; a is backoff; b is backoff; pop a; pop "
	 "b; pop -"},
	{"somebody active: who backs off waits", "add a; add b; pop a; fail a P; event P; pop b; done b; pop a"},
	{"of those whose backoff ends together the higher comes early",
	 "add a; add e; pop e; fail e P; pop a; fail a P; event P; pop e; pop a"},
	{"after an error nobody is tried early", "add a; pop a; error a; a is backoff; pop -; t 1.9; pop -; t "
						 "2; pop a; error a; t 4; pop -; t 5; pop a"},
	{"errors in a row count alone, and a refusal ends the row", "add a; pop a; fail a P; event P; pop a; "
								    "fail a P; event P; pop a; fail a P; event "
								    "P; pop a;" /* three refusals */
								    "error a; t 2; pop a; fail a P; event P; t "
								    "10; flush; a is backoff; t 11; flush; a "
								    "is active"},

	{"a failed pod comes back behind fresh ones of its priority",
	 "add a; t 1; add b; pop a; t 2; fail a P; t 9; add c; event P; a is active; pop b; pop a; pop c"},
	{"a failed pod of higher priority comes back before them",
	 "add e; add a; pop e; fail e P; t 9; event P; pop e; pop a"},

	{"what happens while a pod is tried is not missed", "add a; pop a; event P; fail a P; a is backoff"},
	{"what happened before it was tried is", "add a; event P; pop a; fail a P; a is unschedulable"},
	{"what happens meanwhile counts only if a refuser cares for it",
	 "add a; pop a; event Q; fail a P; a is unschedulable"},
	{"what happened in an earlier attempt does not count in the next",
	 "add a; pop a; event P; fail a P; pop a; fail a P; a is unschedulable"},
	{"a wildcard meanwhile counts for every refuser", "add a; pop a; wild; fail a P; a is backoff"},
	{"one for another does not", "add a; add b; pop a; wild b; fail a P; a is unschedulable"},
	{"a stranger's refusal after an event meanwhile", "add a; pop a; event Q; fail a X; a is backoff"},
	{"nothing happened: a stranger's refusal sleeps too", "add a; pop a; fail a X; a is unschedulable"},
	{"two in flight hear each for itself",
	 "add a; add b; pop a; event P; pop b; fail a P; fail b P; a is backoff; b is unschedulable"},

	{"a refusal without penalty is tried again at once", "add a; pop a; fail a P?; event P; a is active"},
	{"also if it happened meanwhile", "add a; pop a; event P; fail a P?; a is active"},
	{"beside one without penalty an ordinary one backs off", "add a; pop a; fail a P Q?; event P; a is backoff"},
	{"both at once: the better counts", "add a; pop a; fail a P Q?; event P Q; a is active"},
	{"both meanwhile: the better counts", "add a; pop a; event P; event Q; fail a P Q?; a is active"},

	{"who sleeps for more than five minutes is tried again",
	 "flush; add a; pop a; fail a P; t 300; flush; a is unschedulable; t 329; flush; a is unschedulable; t "
	 "330; flush; a is active"},
	{"sleepers are looked for every half minute",
	 "t 10; flush; add a; pop a; fail a P; t 300; flush; t 311; flush; a is unschedulable; t 330; flush; a "
	 "is active"},
	{"whoever flies when sleepers wake is called too",
	 "flush; add a; pop a; fail a P; t 299; add b; pop b; t 331; flush; a is active; fail b P; b is "
	 "backoff"},

	{"a gated pod waits for its gate", "gate a P; add a; a is gated; pop -; event Q; a is gated; event P; "
					   "a is gated; gate a; event Q; a is gated; event P; a is active"},
	{"its own change opens the gate", "gate a P; add a; gate a; self a Q; a is gated; self a P; a is active"},
	{"a gate nobody knows is tested after every event",
	 "gate a X; add a; event Q; a is gated; gate a; event; a is active"},
	{"a gate is tested before backoff, where pods can be popped early",
	 "add a; pop a; fail a P; gate a Q; event P; a is gated; pop -; gate a; event P; a is gated; event P "
	 "Q; a is backoff"},
	{"a failed pod whose gate closed meanwhile",
	 "add a; pop a; event P; gate a Q; fail a P; a is gated; gate a; event Q; a is backoff"},
	{"gated pods are tested again after five minutes, and every five minutes",
	 "flush; gate a P; add a; t 301; flush; a is gated; gate a; t 331; flush; a is gated; t 600; flush; a "
	 "is gated; t 631; flush; a is active"},
	{"a gate that closes while a pod backs off holds it no more",
	 "add a; pop a; fail a P; event P; gate a Q; t 9; flush; a is active"},

	{"activate makes a sleeper active, whatever refused it", "add a; pop a; fail a P; activate a; a is active"},
	{"and one that backs off", "add a; pop a; fail a P; event P; activate a; a is active; pop a"},
	{"but not past its gate", "gate a P; add a; activate a; a is gated; gate a; activate a; a is active"},
	{"activate in flight: it will not sleep", "add a; pop a; activate a; fail a P; a is backoff"},
	{"activate changes nothing for active pods and strangers",
	 "add a; activate a; activate b; a is active; b is nowhere; pop a; pop -"},

	{"a pod that changes is new if it was nowhere", "self a; a is active"},
	{"its change wakes it if the refuser cares",
	 "add a; add b; pop a; fail a P; pop b; fail b P; self a Q; a is unschedulable; self a P; a is "
	 "backoff; b is unschedulable"},
	{"its change in flight is not missed, and is nobody else's",
	 "add a; add b; pop a; pop b; self a P; fail a P; fail b P; a is backoff; b is unschedulable"},
	{"its new priority is its new turn", "add a; t 1; add b; prio b 7; self b; pop b; pop a"},
	{"also while it backs off",
	 "add a; add b; pop a; fail a P; pop b; fail b P; event P; prio b 7; self b; pop b; pop a"},

	{"when to look again: nothing to wait for", "flush; next -; add a; next -"},
	{"when to look again: backoffs, errors, sleepers", "flush; add a; add b; add c; pop a; fail a P; next 30; pop "
							   "b; t 1; fail b Q; event Q; next 3; pop c; error c; next 3;"
							   "t 3; flush; b is active; next 30"},
};

static void pods_wait_as_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(stories); i++) {
		tell(stories[i].says, stories[i].script, true);
		fixture_reset();
	}
}

static const struct {
	const char *says, *script;
} late_stories[] = {
	{"nobody is popped early", "add a; pop a; fail a P; event P; a is backoff; pop -; t 1; pop -; t 1.1; pop a"},
	{"backoff ends to the nanosecond",
	 "t 0.25; add a; pop a; fail a P; event P; t 1.25; flush; a is backoff; t 1.26; flush; a is active"},
	{"gates are tested when backoff ends",
	 "add a; pop a; fail a P; gate a Q; event P; a is backoff; t 2; flush; a is gated"},
	{"and when somebody wants it active", "add a; pop a; fail a P; gate a Q; event P; activate a; a is gated"},
};

static void pods_wait_without_early_pops(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(late_stories); i++) {
		tell(late_stories[i].says, late_stories[i].script, false);
		fixture_reset();
	}
}

/* ---- what is told about a pod ---- */

static void waiting_says_what_it_knows(void **state)
{
	pod_id pod = put_pod((struct pod_text){.name = "a"});
	struct waiting_options o = waiting_options_default();
	struct waiting *w = waiting_new(f.ledger, &o);
	const char *by[] = {"P"};
	struct waiting_info i;

	(void)state;
	assert_int_equal(waiting_get(w, pod).place, WAITING_NOWHERE);
	waiting_add(w, pod, 5);
	i = waiting_get(w, pod);
	assert_int_equal(i.place, WAITING_ACTIVE);
	assert_int_equal(i.since_ns, 5);
	assert_int_equal(i.first_ns, 5);
	assert_int_equal(i.attempts, 0);
	assert_true(i.backoff_until_ns == TIME_NONE);
	assert_int_equal(waiting_count(w, WAITING_ACTIVE), 1);
	waiting_pop(w, 7);
	assert_int_equal(waiting_count(w, WAITING_IN_FLIGHT), 1);
	waiting_failed(w, pod, by, 1, NULL, 9);
	i = waiting_get(w, pod);
	assert_int_equal(i.place, WAITING_UNSCHEDULABLE);
	assert_int_equal(i.since_ns, 9);
	assert_int_equal(i.first_ns, 5);
	assert_int_equal(i.attempts, 1);
	assert_int_equal(i.backoff_until_ns, NS_PER_S);
	assert_int_equal(waiting_count(w, WAITING_UNSCHEDULABLE), 1);
	waiting_activate(w, pod, 11);
	assert_int_equal(waiting_get(w, pod).first_ns, 5);
	assert_int_equal(waiting_get(w, pod).since_ns, 9);
	waiting_remove(w, pod);
	assert_int_equal(waiting_count(w, WAITING_UNSCHEDULABLE), 0);
	assert_int_equal(waiting_count(w, WAITING_GATED) + waiting_count(w, WAITING_BACKOFF) +
				 waiting_count(w, WAITING_ACTIVE),
			 0);
	waiting_free(w);
}

/* ---- backoff ---- */

static const struct {
	const char *says;
	int64_t initial, max;
	uint32_t count, size;
	int64_t duration;
} backoffs[] = {
	{"nothing failed", 1000, 10000, 0, 1, 0},
	{"the first failure", 1000, 10000, 1, 1, 1000},
	{"the second", 1000, 10000, 2, 1, 2000},
	{"the fourth", 1000, 10000, 4, 1, 8000},
	{"the fifth meets the maximum", 1000, 10000, 5, 1, 10000},
	{"and stays there", 1000, 10000, 4000000000, 1, 10000},
	{"the maximum itself is reached", 1000, 8000, 4, 1, 8000},
	{"no maximum, no backoff", 1000, 0, 3, 1, 0},
	{"no initial, no backoff", 0, 1000, 3, 1, 0},
	{"an initial above the maximum", 5000, 1000, 1, 1, 1000},
	{"a group of sixteen waits up to four times as long", 1000, 10000, 6, 16, 32000},
	{"but not longer", 1000, 10000, 7, 16, 40000},
	{"a root that is not whole is cut", 1000, 10000, 9, 2, 14142},
	{"an empty group is like a pod", 1000, 10000, 9, 0, 10000},
	{"the largest maximum", 1, INT64_MAX, 64, 1, INT64_MAX},
	{"the last doubling that fits", 1, INT64_MAX, 63, 1, INT64_C(1) << 62},
	{"a group's maximum does not overflow", 1, INT64_MAX, 64, 9, INT64_MAX},
};

static void backoff_doubles_up_to_a_maximum(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(backoffs); i++) {
		int64_t got =
			backoff_duration(backoffs[i].initial, backoffs[i].max, backoffs[i].count, backoffs[i].size);

		if (got != backoffs[i].duration)
			fail_msg("%s: %lld", backoffs[i].says, (long long)got);
	}
}

static void backoff_ends_on_whole_seconds(void **state)
{
	struct backoff b = {.n_refused = 1, .since_ns = 900, .until_ns = TIME_NONE};
	struct backoff known = {.n_refused = 1, .until_ns = 7};
	struct backoff both = {.n_refused = 1, .n_errors = 3, .until_ns = TIME_NONE};

	(void)state;
	assert_true(backoff_until(NS_PER_S, NS_PER_S, 0, 1, 5) == TIME_NONE);
	assert_int_equal(backoff_until(NS_PER_S, NS_PER_S, 1, 1, NS_PER_S / 2), NS_PER_S);
	assert_int_equal(backoff_until(NS_PER_S, NS_PER_S, 1, 1, 2 * NS_PER_S), 3 * NS_PER_S);
	assert_int_equal(backoff_until(NS_PER_S, NS_PER_S, 1, 1, -5 * NS_PER_S / 2), -2 * NS_PER_S);
	assert_int_equal(backoff_until(NS_PER_S, INT64_MAX, 99, 1, NS_PER_S), INT64_MAX / NS_PER_S * NS_PER_S);
	assert_int_equal(backoff_ends(&b, 250, 1000, 100), 1100);
	b.n_refused = 2; /* once known it stays, until somebody forgets it */
	assert_int_equal(backoff_ends(&b, 250, 1000, 100), 1100);
	assert_int_equal(backoff_ends(&known, 250, 1000, 100), 7);
	assert_int_equal(backoff_ends(&both, 100, 1000, 1), 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(pods_wait_as_told),
		FIXTURE_TEST(pods_wait_without_early_pops),
		FIXTURE_TEST(waiting_says_what_it_knows),
		cmocka_unit_test(backoff_doubles_up_to_a_maximum),
		cmocka_unit_test(backoff_ends_on_whole_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
