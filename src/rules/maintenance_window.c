/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work is left alone at the hours its queue or its namespace names (cede.dev/protected-hours). Of both the queue's are
 * told; a queue without has those of the nearest above it.
 */
#include "rules/judge.h"
#include "rules/words.h"

enum { BY_QUEUE, BY_NAMESPACE };

static const struct week_hours *hours_of(const struct cluster *c, const struct rule_verdict *v)
{
	if (v->reason == BY_NAMESPACE)
		return &cluster_namespace(c, (name_id)v->num[0])->protected_hours;
	return &queue_get(ledger_queues(words_ledger(c)), v->queue)->props.protected_hours;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_MAINTENANCE_WINDOW);
	name_id ns = labelset_get(j->vocab, v->labelset)->ns;
	const struct obj_namespace *o;

	(void)victim;
	says.num[0] = ns;
	says.num[1] = j->now_ns;
	says.queue = v->queue;
	if (v->queue != QUEUE_NONE && week_hours_has(hours_of(j->cluster, &says), j->now_ns, &says.until_ns))
		return says;
	says.reason = BY_NAMESPACE;
	o = cluster_namespace(j->cluster, ns);
	return o && week_hours_has(&o->protected_hours, j->now_ns, &says.until_ns) ? says : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	text_add(out, "protected ");
	if (v->until_ns != TIME_NONE) {
		text_add(out, "until ");
		words_until(v->until_ns, v->num[1], out);
	} else {
		text_add(out, "at all times");
	}
	if (v->reason == BY_QUEUE)
		text_printf(out, " by %s: ", words_queue(c, v->queue));
	else
		text_printf(out, " by its namespace %s: ",
			    name_str(vocab_names(ledger_vocab(words_ledger(c))), (name_id)v->num[0]));
	week_hours_text(hours_of(c, v), out);
}

const struct rule rule_maintenance_window = {.judge = judge, .text = text};
