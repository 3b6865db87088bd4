/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue loses at most so many pods within an hour (off unless set). Pods on their way out by decisions that are not
 * carried out yet count too.
 */
#include <inttypes.h>

#include "rules/judge.h"
#include "rules/words.h"
#include "units/timestamp.h"

static uint32_t going(const struct ledger *l, queue_id q)
{
	uint32_t n, count = 0;
	const pod_id *pods = ledger_queue_pods(l, q, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(l, pods[i]);

		count += p->state == POD_LEAVING && p->is_evicted && p->obj->deleted_ns == TIME_NONE;
	}
	return count;
}

struct rate judge_rate(struct judge *j, queue_id q)
{
	struct rate r = {.left = UINT32_MAX, .until_ns = TIME_NONE};
	struct eviction_count c;
	uint32_t lost;

	if (j->settings.evictions_per_hour == 0 || q == QUEUE_NONE)
		return r;
	c = eviction_history_of_queue(j->settings.eviction_history, queue_get(j->tree, q)->path,
				      time_since(j->now_ns, 3600 * NS_PER_S));
	lost = c.n + going(j->ledger, q);
	r.lost = lost;
	r.left = lost < j->settings.evictions_per_hour ? j->settings.evictions_per_hour - lost : 0;
	if (r.left == 0)
		r.until_ns = time_add(c.n > 0 ? c.first_ns : j->now_ns, 3600 * NS_PER_S);
	return r;
}

enum { IS_SPENT, TOO_MANY };

struct rule_verdict eviction_rate_refuses(const struct judge *j, queue_id q, const struct rate *r, uint32_t n)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_EVICTION_RATE);

	says.reason = r->left ? TOO_MANY : IS_SPENT;
	says.queue = q;
	says.num[0] = r->lost;
	says.num[1] = j->settings.evictions_per_hour;
	says.num[2] = n;
	says.until_ns = r->until_ns;
	return says;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rate r = judge_rate(j, v->queue);

	(void)victim;
	return r.left > 0 ? rule_may_go() : eviction_rate_refuses(j, v->queue, &r, 1);
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	text_printf(out, "%s lost %" PRId64 " %s within an hour and may lose %" PRId64, words_queue(c, v->queue),
		    v->num[0], v->num[0] == 1 ? "pod" : "pods", v->num[1]);
	if (v->reason == TOO_MANY) {
		text_printf(out, "; %" PRId64 " more are needed", v->num[2]);
		return;
	}
	text_add(out, "; again at ");
	timestamp_text(v->until_ns, out);
}

const struct rule rule_eviction_rate = {.judge = judge, .text = text};
