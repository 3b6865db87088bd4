/* SPDX-License-Identifier: Apache-2.0 */
/* CL_4: at most one replica leads, whatever clocks, servers and networks do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kube/lease.h"

#define S NS_PER_S

/* ---- stories of one replica ---- */

enum step_kind {
	TIME /* passes to this second */,
	ANSWER,
	LATE /* an answer to the question before */,
	RELEASE,
	RETRY
};

struct step {
	enum step_kind kind;
	double at;		/* seconds of the steady clock */
	int status;		/* of an answer */
	const char *holder;	/* of the lease in it */
	int version, duration;	/* of it */
	const char *asks;	/* what is sent afterwards: "GET", "POST", "PATCH"; NULL: nothing */
	enum lease_state state; /* afterwards */
	double fence;		/* seconds; -1: no writing */
};

static const struct {
	const char *name;
	struct step steps[14];
} stories[] = {
	{"a lease that is not there is made",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0.1, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0.2, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10.1}}},
	{"one that somebody holds is waited for, for its duration since it was first seen so",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 1, 200, "you", 1, 15, .fence = -1},
	  {TIME, 14, .asks = "GET", .fence = -1},
	  {ANSWER, 14.5, 200, "you", 1, 15, .fence = -1},
	  {TIME, 17, .asks = "GET", .fence = -1},
	  {ANSWER, 17.1, 200, "you", 1, 15, .asks = "PATCH", .fence = -1},
	  {ANSWER, 17.5, 200, "me", 2, 15, .state = LEASE_LEADING, .fence = 27.1}}},
	{"a sign of life begins the wait anew",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 1, 200, "you", 1, 15, .fence = -1},
	  {TIME, 14, .asks = "GET", .fence = -1},
	  {ANSWER, 14.5, 200, "you", 2, 15, .fence = -1},
	  {TIME, 29, .asks = "GET", .fence = -1},
	  {ANSWER, 29.1, 200, "you", 2, 15, .fence = -1},
	  {TIME, 32, .asks = "GET", .fence = -1},
	  {ANSWER, 32.1, 200, "you", 2, 15, .asks = "PATCH", .fence = -1}}},
	{"one that was released is taken at once",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0.1, 200, "", 7, 1, .asks = "PATCH", .fence = -1},
	  {ANSWER, 0.2, 200, "me", 8, 15, .state = LEASE_LEADING, .fence = 10.1}}},
	{"after a restart under the same name it goes on",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0.1, 200, "me", 7, 15, .asks = "PATCH", .fence = -1},
	  {ANSWER, 0.2, 200, "me", 8, 15, .state = LEASE_LEADING, .fence = 10.1}}},
	{"a duration of nothing holds nothing",
	 {{TIME, 0, .asks = "GET", .fence = -1}, {ANSWER, 0.1, 200, "you", 1, -5, .asks = "PATCH", .fence = -1}}},
	{"who was slower looks again",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0.1, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0.2, 409, .fence = -1},
	  {TIME, 3, .asks = "GET", .fence = -1},
	  {ANSWER, 3.1, 200, "you", 1, 15, .fence = -1}}},
	{"the leader may write as long as the renewal it sent last holds",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 4, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10}, /* sent at 0, answered late */
	  {TIME, 7, .asks = "PATCH", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 7.1, 200, "me", 2, 15, .state = LEASE_LEADING, .fence = 17}}},
	{"an answer that comes after the time of what it confirms is of no use",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 9.9, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 10, .state = LEASE_LOST, .fence = -1}}},
	{"a leader that cannot renew stops writing before others may begin",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 3, .asks = "PATCH", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 4, 500, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 7, .asks = "GET", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 7.1, 0, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 9.9, .asks = "GET", .state = LEASE_LEADING, .fence = 10},
	  {TIME, 10, .state = LEASE_LOST, .fence = -1},
	  {LATE, 10.1, 200, "me", 2, 15, .state = LEASE_LOST, .fence = -1},
	  {RETRY, 11, .asks = "GET", .fence = -1}}},
	{"a leader that was stopped and goes on finds its time over",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 500, .state = LEASE_LOST, .fence = -1}}},
	{"a leader from whom it was taken stops at once",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 3, .asks = "PATCH", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 3.1, 409, .asks = "GET", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 3.2, 200, "you", 9, 15, .state = LEASE_LOST, .fence = -1}}},
	{"somebody touched the lease without taking it: the leader looks and renews",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 3, .asks = "PATCH", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 3.1, 409, .asks = "GET", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 3.2, 200, "me", 5, 15, .asks = "PATCH", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 3.3, 200, "me", 6, 15, .state = LEASE_LEADING, .fence = 13.2}}},
	{"the lease was deleted under the leader: it is made again",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 3, .asks = "PATCH", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 3.1, 404, .state = LEASE_LEADING, .fence = 10},
	  {TIME, 6, .asks = "GET", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 6.1, 404, .asks = "POST", .state = LEASE_LEADING, .fence = 10},
	  {ANSWER, 6.2, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 16.1}}},
	{"it is given up on the way out",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0, 404, .asks = "POST", .fence = -1},
	  {ANSWER, 0, 201, "me", 1, 15, .state = LEASE_LEADING, .fence = 10},
	  {RELEASE, 1, .asks = "PATCH", .state = LEASE_RELEASED, .fence = -1},
	  {TIME, 100, .state = LEASE_RELEASED, .fence = -1}}},
	{"who does not lead has nothing to give up",
	 {{TIME, 0, .asks = "GET", .fence = -1}, {RELEASE, 1, .state = LEASE_RELEASED, .fence = -1}}},
	{"a question that nobody answers is asked again",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {TIME, 5, .fence = -1},
	  {TIME, 10, .asks = "GET", .fence = -1},
	  {LATE, 10.5, 404, .fence = -1},
	  {ANSWER, 11, 404, .asks = "POST", .fence = -1}}},
	{"an answer that is no lease tells nothing",
	 {{TIME, 0, .asks = "GET", .fence = -1},
	  {ANSWER, 0.1, 200, NULL, .fence = -1},
	  {TIME, 3, .asks = "GET", .fence = -1}}},
};

static size_t lease_json(const struct step *s, char *out, size_t size)
{
	if (!s->holder)
		return (size_t)snprintf(out, size, "{\"half\":");
	return (size_t)snprintf(out, size,
				"{\"metadata\":{\"resourceVersion\":\"%d\"},\"spec\":{\"holderIdentity\":\"%s\","
				"\"leaseDurationSeconds\":%d,\"leaseTransitions\":3,\"acquireTime\":\"then\"}}",
				s->version, s->holder, s->duration);
}

/* What is asked at this moment, if anything. */
static const char *ask(struct lease *l, int64_t now_ns, uint64_t *ticket, uint64_t *before, char *body, size_t size)
{
	static struct kube_write w;
	uint64_t t;

	if (!lease_ask(l, now_ns, 0, &w, &t))
		return NULL;
	*before = *ticket;
	*ticket = t;
	snprintf(body, size, "%s", text_str(&w.body));
	const char *method = w.method;

	kube_write_free(&w);
	return method;
}

static void tell_story(size_t i)
{
	struct lease_options o = lease_options_default();
	uint64_t ticket = 0, before = 0;
	struct lease *l;

	o.ns = "kube-system";
	o.name = "cede";
	o.identity = "me";
	l = lease_new(&o, 1);
	for (const struct step *s = stories[i].steps; s < stories[i].steps + 14 && (s->fence || s->at || s->asks);
	     s++) {
		int64_t now_ns = (int64_t)(s->at * 1e9);
		char body[500] = "", json[300];
		const char *asked;
		struct kube_write w = {0};

		if (s->kind == ANSWER || s->kind == LATE)
			lease_answer(l, s->kind == LATE ? before : ticket, s->status, json,
				     lease_json(s, json, sizeof(json)), now_ns);
		if (s->kind == RETRY)
			lease_retry(l, now_ns);
		if (s->kind == RELEASE) {
			asked = lease_release(l, now_ns, 0, &w) ? w.method : NULL;
			if (asked)
				assert_non_null(strstr(text_str(&w.body), "\"holderIdentity\":\"\""));
			kube_write_free(&w);
		} else {
			asked = ask(l, now_ns, &ticket, &before, body, sizeof(body));
		}
		if ((asked != NULL) != (s->asks != NULL) || (asked && strcmp(asked, s->asks) != 0))
			fail_msg("%s: at %g s it asks %s", stories[i].name, s->at, asked ? asked : "nothing");
		if (lease_state(l) != s->state)
			fail_msg("%s: at %g s its state is %d", stories[i].name, s->at, lease_state(l));
		if (lease_fence_ns(l) != (s->fence < 0 ? INT64_MIN : (int64_t)(s->fence * 1e9)))
			fail_msg("%s: at %g s the fence is at %g", stories[i].name, s->at,
				 (double)lease_fence_ns(l) / 1e9);
		if (lease_next_ns(l) != INT64_MAX && lease_state(l) == LEASE_LEADING)
			assert_true(lease_next_ns(l) <= lease_fence_ns(l));
	}
	lease_free(l);
}

static void CL_4_stories_of_one_replica(void **state)
{
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		tell_story(i);
}

/* ---- two replicas and a server, at random ---- */

struct server {
	bool is_there;
	char holder[8];
	int version, duration, transitions;
};

struct flight { /* a request on its way */
	bool is_used;
	int who, status, wanted_version;
	uint64_t ticket;
	int64_t arrives_ns, returns_ns;
	char method[8], holder[8], answer[300];
	bool has_arrived, is_lost;
};

static uint64_t rng;

static uint64_t roll(uint64_t n)
{
	rng += 0x9E3779B97F4A7C15u;
	uint64_t z = rng;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return (z ^ z >> 31) % n;
}

static void serve(struct server *s, struct flight *f)
{
	f->has_arrived = true;
	if (strcmp(f->method, "GET") == 0) {
		f->status = s->is_there ? 200 : 404;
	} else if (strcmp(f->method, "POST") == 0) {
		f->status = s->is_there ? 409 : 201;
	} else {
		f->status = !s->is_there ? 404 : s->version == f->wanted_version ? 200 : 409;
	}
	if (f->status < 300 && strcmp(f->method, "GET") != 0) {
		s->is_there = true;
		snprintf(s->holder, sizeof(s->holder), "%s", f->holder);
		s->version++;
		s->duration = *f->holder ? 15 : 1;
	}
	snprintf(f->answer, sizeof(f->answer),
		 "{\"metadata\":{\"resourceVersion\":\"%d\"},\"spec\":{\"holderIdentity\":\"%s\","
		 "\"leaseDurationSeconds\":%d}}",
		 s->version, s->holder, s->duration);
}

static void send_one(struct flight *flights, int who, const struct kube_write *w, uint64_t ticket, int64_t now_ns)
{
	const char *holder = strstr(text_str(&w->body), "\"holderIdentity\":\"");
	const char *version = strstr(text_str(&w->body), "\"resourceVersion\":\"");

	for (int i = 0; i < 16; i++) {
		struct flight *f = &flights[i];

		if (f->is_used)
			continue;
		*f = (struct flight){.is_used = true, .who = who, .ticket = ticket};
		snprintf(f->method, sizeof(f->method), "%s", w->method);
		if (holder && holder[18] != '"')
			snprintf(f->holder, sizeof(f->holder), "%c", holder[18]);
		f->wanted_version = version ? atoi(version + 19) : 0;
		f->arrives_ns = now_ns + (int64_t)roll(roll(4) ? 50000000 : 12 * S);
		f->returns_ns = f->arrives_ns + (int64_t)roll(roll(4) ? 50000000 : 12 * S);
		f->is_lost = roll(20) == 0;
		return;
	}
}

/* Two replicas that are stopped now and then, with clocks of their own, never may write at the same time. */
static void CL_4_never_two_leaders_at_once(void **state)
{
	uint64_t n_led = 0, n_takeovers = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct server server = {0};
		struct flight flights[16] = {0};
		struct lease_options o = lease_options_default();
		struct lease *l[2];
		int64_t offset[2], stopped_until[2] = {0};
		int last = -1;

		rng = seed * 77777;
		o.ns = o.name = "x";
		for (int i = 0; i < 2; i++) {
			o.identity = i ? "b" : "a";
			l[i] = lease_new(&o, roll(1000000));
			offset[i] = (int64_t)roll(1000) * S;
		}
		for (int64_t now = 0; now < 400 * S; now += 20000000) {
			bool leads[2];

			for (int i = 0; i < 16; i++) {
				struct flight *f = &flights[i];

				if (f->is_used && !f->has_arrived && now >= f->arrives_ns)
					serve(&server, f);
				if (!f->is_used || !f->has_arrived || now < f->returns_ns ||
				    now < stopped_until[f->who])
					continue;
				lease_answer(l[f->who], f->ticket, f->is_lost ? 0 : f->status, f->answer,
					     strlen(f->answer), now + offset[f->who]);
				f->is_used = false;
			}
			for (int i = 0; i < 2; i++) {
				struct kube_write w = {0};
				uint64_t ticket;

				if (now >= stopped_until[i] && roll(3000) == 0)
					stopped_until[i] = now + (int64_t)roll(40 * S);
				leads[i] = now + offset[i] < lease_fence_ns(l[i]); /* what the client goes by */
				if (now < stopped_until[i])
					continue;
				if (lease_state(l[i]) == LEASE_LOST)
					lease_retry(l[i], now + offset[i]);
				if (lease_ask(l[i], now + offset[i], 0, &w, &ticket))
					send_one(flights, i, &w, ticket, now);
				kube_write_free(&w);
			}
			if (leads[0] && leads[1])
				fail_msg("seed %lu: two leaders at %g s", (unsigned long)seed, (double)now / 1e9);
			for (int i = 0; i < 2; i++)
				if (leads[i]) {
					n_led++;
					n_takeovers += last == 1 - i;
					last = i;
				}
		}
		lease_free(l[0]);
		lease_free(l[1]);
	}
	assert_true(n_led > 100000); /* and mostly somebody leads */
	assert_true(n_takeovers > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_4_stories_of_one_replica),
		cmocka_unit_test(CL_4_never_two_leaders_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
