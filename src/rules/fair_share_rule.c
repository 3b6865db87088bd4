/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues at or below their fair share lose nothing to others (profile kai). Whole scenarios are judged by
 * share_reclaimable; what it says is put into words here.
 */
#include "rules/fair_share.h"
#include "rules/judge.h"
#include "rules/words.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	(void)j;
	(void)victim;
	(void)v;
	return rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	const char *queue = words_queue(c, v->queue), *type = words_type(c, v->type);
	struct text used = {0}, share = {0};

	if (v->reason >= BY_SHARE) {
		struct rule_verdict g = *v;

		g.reason -= BY_SHARE;
		guarantee_text(c, &g, "fairly shared", out);
		return;
	}
	res_amount_text(v->type, v->num[0], &used);
	if (v->num[1] < 0)
		text_add(&share, "unlimited");
	else
		res_amount_text(v->type, v->num[1], &share);
	switch ((enum share_refusal)v->reason) {
	case SHARE_MORE_SATURATED:
		text_printf(out,
			    "taking it would leave %s %s of its fair share of %s %s, a smaller part than the waiting "
			    "pod's queue would have of its own",
			    queue, text_str(&used), text_str(&share), type);
		break;
	case SHARE_CORE_OVER_QUOTA:
		text_printf(out,
			    "the waiting pod is not preemptible, and with it %s would use %s of a quota of %s %s so",
			    queue, text_str(&used), text_str(&share), type);
		break;
	case SHARE_MINE_ABOVE:
		text_printf(out, "with it the waiting pod's queue %s would use %s of its fair share of %s %s", queue,
			    text_str(&used), text_str(&share), type);
		break;
	default:
		text_printf(out, "%s uses %s of its fair share of %s %s, which is not above it", queue, text_str(&used),
			    text_str(&share), type);
		break;
	}
	text_free(&used);
	text_free(&share);
}

const struct rule rule_fair_share = {.judge = judge, .text = text};
