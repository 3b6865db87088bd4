/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws 2, 4 and 5. Work of a queue below its guarantee takes from queues above theirs, and takes none of them below it.
 * Judged in the types the pod is short of, on the branches below the common ancestor: what moves inside an ancestor
 * does not change it. What is taken by several victims together is the search's business; here a pod that is bigger
 * than the excess on its own is out.
 */
#include <inttypes.h>

#include "rules/judge.h"
#include "rules/words.h"

enum { ABOVE_NOT = 0, NOT_BELOW = 1, NO_GUARANTEE = 2, TOO_BIG = 3, TOGETHER = 4 };

/* Law 5: every queue of the branch that guarantees a short type uses more than that. */
static struct rule_verdict above(const struct judge *j, const struct victim_queue *o)
{
	for (uint32_t i = 0; i < o->n_guards; i++) {
		queue_id q = o->guards[i];
		const int64_t *used = judge_used_before(j, q);

		for (uint64_t left = o->judged; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t g = queue_guarantee(queue_get(j->tree, q), r);

			if (g > 0 && used[r] <= g)
				return (struct rule_verdict){.answer = IS_PROTECTED,
							     .rule = RULE_GUARANTEE,
							     .reason = ABOVE_NOT,
							     .queue = q,
							     .type = r,
							     .until_ns = TIME_NONE,
							     .num = {used[r], g}};
		}
	}
	return rule_may_go();
}

/*
 * Where nothing but slots, ports or other pods are in the way, what is judged is what the pod's own branch guarantees.
 * Whoever goes would ask in other types when it comes back: so law 2 holds in all types then, or two queues that are
 * each owed something else would take the same slot from each other for ever (GQ-15).
 */
static uint64_t kept_types(const struct judge *j, uint64_t judged)
{
	return judged & j->short_types ? judged : ~UINT64_C(0);
}

struct rule_verdict judge_guarantee_of_queue(struct judge *j, queue_id victims)
{
	struct victim_queue *o = judge_queue(j, victims);
	struct rule_verdict why;

	if (o->verdict.rule == RULE_NONE && o->verdict.reason == 0) {
		o->verdict = judge_entitled(j, o->ancestor, &o->judged, &why) ? above(j, o) : why;
		o->kept = kept_types(j, o->judged);
		if (o->verdict.rule == RULE_NONE)
			o->verdict.reason = 1; /* asked and found fine */
	}
	return o->verdict;
}

/* Law 2 for this pod alone. */
/*
 * The numbers are those before the decision, which people see: of a gang whose first pods have taken something, what
 * they took counts as taken with this one.
 */
static struct rule_verdict too_big(const struct judge *j, const struct pod *v, const struct victim_queue *o)
{
	const struct res_list *u = &shape_get(j->vocab, v->shape)->usage;

	for (uint32_t i = 0; i < o->n_guards; i++) {
		queue_id q = o->guards[i];
		const int64_t *used = ledger_queue_used(j->ledger, q), *before = judge_used_before(j, q);

		for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask & o->kept; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t g = queue_guarantee(queue_get(j->tree, q), r),
				takes = r == RES_PODS ? 1 : res_list_get(u, r);

			if (g > 0 && takes && used[r] - takes < g)
				return (struct rule_verdict){.answer = IS_PROTECTED,
							     .rule = RULE_GUARANTEE,
							     .reason = before[r] != used[r] ? TOGETHER : TOO_BIG,
							     .queue = q,
							     .type = r,
							     .until_ns = TIME_NONE,
							     .num = {before[r], g, before[r] - used[r] + takes}};
		}
	}
	return rule_may_go();
}

bool judge_is_too_big(struct judge *j, const struct pod *v)
{
	judge_guarantee_of_queue(j, v->queue); /* says in which types that is judged */
	return too_big(j, v, judge_queue(j, v->queue)).answer == IS_PROTECTED;
}

struct rule_verdict guarantee_refuses_set(const struct judge *j, queue_id q, res_id r, int64_t before,
					  int64_t guaranteed, int64_t takes, bool is_alone)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_GUARANTEE);

	says.reason = is_alone ? TOO_BIG : TOGETHER;
	says.queue = q;
	says.type = r;
	says.num[0] = before;
	says.num[1] = guaranteed;
	says.num[2] = takes;
	return judge_in_words_of_shares(j, says);
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says;

	(void)victim;
	if (v->queue == QUEUE_NONE)
		return rule_may_go();
	says = judge_guarantee_of_queue(j, v->queue);
	if (says.answer == IS_PROTECTED)
		return says;
	return too_big(j, v, judge_queue(j, v->queue));
}

void guarantee_text(const struct cluster *c, const struct rule_verdict *v, const char *what, struct text *out)
{
	const char *queue = words_queue(c, v->queue), *type = words_type(c, v->type);
	struct text used = {0}, g = {0}, left = {0}, takes = {0};

	res_amount_text(v->type, v->num[0], &used);
	res_amount_text(v->type, v->num[1], &g);
	res_amount_text(v->type, v->num[2], &takes);
	res_amount_text(v->type, v->num[0] - v->num[2], &left);
	switch (v->reason) {
	case ABOVE_NOT:
		text_printf(out, "%s uses %s of %s %s %s, which is not above it (law 5)", queue, text_str(&used),
			    text_str(&g), what, type);
		break;
	case NOT_BELOW:
		text_printf(out, "the waiting pod's queue %s uses %s of %s %s %s and is not below it (law 4)", queue,
			    text_str(&used), text_str(&g), what, type);
		break;
	case NO_GUARANTEE:
		text_printf(out, "nothing guarantees %s to the waiting pod's queue %s below what both share (law 4)",
			    type, queue);
		break;
	case TOGETHER:
		text_printf(out, "%s uses %s of %s %s %s; taking %s, all victims together, would leave %s (law 2)",
			    queue, text_str(&used), text_str(&g), what, type, text_str(&takes), text_str(&left));
		break;
	default:
		text_printf(out, "%s uses %s of %s %s %s; taking %s would leave %s (law 2)", queue, text_str(&used),
			    text_str(&g), what, type, text_str(&takes), text_str(&left));
		break;
	}
	text_free(&used);
	text_free(&g);
	text_free(&left);
	text_free(&takes);
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	guarantee_text(c, v, "guaranteed", out);
}

const struct rule rule_guarantee = {.judge = judge, .text = text};
