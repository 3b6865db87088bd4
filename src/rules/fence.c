/* SPDX-License-Identifier: Apache-2.0 */
/* Law 7: a fence stops the search for victims from going above it, and nobody from coming in. */
#include "rules/judge.h"
#include "rules/words.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_FENCE);

	(void)victim;
	if (v->queue == QUEUE_NONE || queue_is_above(j->tree, j->fence, v->queue))
		return rule_may_go();
	says.queue = j->fence;
	return says;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	const struct ledger *l = words_ledger(c);

	text_printf(out, "it is outside the fence of %s (law 7)",
		    name_str(vocab_names(ledger_vocab(l)), queue_get(ledger_queues(l), v->queue)->path));
}

const struct rule rule_fence = {.judge = judge, .text = text};
