/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is evicted again and again gets nowhere. Evicted twice within the window it is spared as long as anything
 * else works; from the fourth time on it is protected for a while, each time for twice as long.
 */
#include <inttypes.h>

#include "rules/judge.h"
#include "units/duration.h"
#include "units/timestamp.h"

enum { TIMES, PROTECTED };
enum { DOUBLINGS_MAX = 10 };

/* After the last eviction. */
static int64_t protection(const struct thrash_settings *s, uint32_t n)
{
	uint32_t doublings = n - s->hard < DOUBLINGS_MAX ? n - s->hard : DOUBLINGS_MAX;

	return time_multiply(s->protection_ns, INT64_C(1) << doublings);
}

/*
 * Not only the protection ends: meanwhile older evictions leave the window, and fewer protect for a shorter time, or
 * not at all. With the i-th last out of it, i - 1 are left.
 */
static int64_t left_alone_until(const struct judge *j, name_id workload, const struct eviction_count *c)
{
	const struct thrash_settings *s = &j->settings.thrash;
	const struct eviction_history *h = j->settings.eviction_history;
	const struct eviction_record *e = eviction_history_last(h, workload);
	int64_t until_ns = time_add(c->last_ns, protection(s, c->n));

	for (uint32_t left = 0; left < c->n && e != NULL; left++, e = eviction_history_before(h, e)) {
		int64_t ends_ns = time_add(e->at_ns, s->window_ns);

		if (left >= s->hard && time_add(c->last_ns, protection(s, left)) > ends_ns)
			ends_ns = time_add(c->last_ns, protection(s, left));
		if (ends_ns < until_ns)
			until_ns = ends_ns;
	}
	return until_ns;
}

static name_id workload_name(const struct judge *j, const struct pod *v)
{
	struct text t = {0};
	name_id id;

	eviction_history_workload(j->cluster, v, &t);
	id = names_find(j->names, text_str(&t), t.n);
	text_free(&t);
	return id;
}

bool judge_may_thrash(const struct judge *j, const struct pod *v)
{
	const struct thrash_settings *s = &j->settings.thrash;
	const struct eviction_history *h = j->settings.eviction_history;

	return h != NULL && h->v.n > 0 && s->soft > 0 &&
	       eviction_history_may_have(h, j->ledger, v, time_since(j->now_ns, s->window_ns), s->soft);
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	const struct thrash_settings *s = &j->settings.thrash;
	struct rule_verdict says = rule_says(IS_SPARED, RULE_THRASH);
	struct eviction_count c;
	name_id workload;

	(void)victim;
	if (!judge_may_thrash(j, v))
		return rule_may_go();
	workload = workload_name(j, v);
	c = eviction_history_of_workload(j->settings.eviction_history, workload, time_since(j->now_ns, s->window_ns));
	if (c.n < s->soft)
		return rule_may_go();
	says.num[0] = c.n;
	says.num[1] = s->window_ns;
	if (s->hard == 0 || c.n < s->hard || time_add(c.last_ns, protection(s, c.n)) <= j->now_ns)
		return says;
	says.answer = IS_PROTECTED;
	says.reason = PROTECTED;
	says.until_ns = left_alone_until(j, workload, &c);
	return says;
}

bool judge_is_thrashing(struct judge *j, pod_id victim, const struct pod *v)
{
	return j->settings.eviction_history != NULL && j->on >> RULE_THRASH & 1 &&
	       judge(j, victim, v).answer == IS_SPARED;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	text_printf(out, "it was evicted %" PRId64 " %s within ", v->num[0], v->num[0] == 1 ? "time" : "times");
	duration_text_short(v->num[1], out);
	if (v->reason != PROTECTED)
		return;
	text_add(out, " and is left alone until ");
	timestamp_text(v->until_ns, out);
}

const struct rule rule_thrash = {.judge = judge, .text = text};
