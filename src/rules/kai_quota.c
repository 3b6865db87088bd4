/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Non-preemptible work of KAI's world runs only within its queue's quota: what nobody can take back must not be
 * borrowed. Judged on every queue of its path that a KAI Queue defines, in the types KAI knows and the work asks for;
 * a quota of 0, or none, leaves no room, and -1 is without end. Of a semi-preemptible group the core counts.
 *
 * Asked before anything else is tried: who is over quota takes neither free room nor anybody's.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "rules/judge.h"
#include "rules/words.h"

#define GPU_TYPE "nvidia.com/gpu"

/* ---- what is core ---- */

static uint32_t held_members(const struct podset *s)
{
	return s->n_placed + s->n_nominated;
}

/* Is it, or will it be, work that cannot be taken back? */
static bool is_core(const struct ledger *l, const struct pod *p)
{
	if (p->preemptibility != SEMI_PREEMPTIBLE || p->podset == PODSET_NONE)
		return p->preemptibility == NON_PREEMPTIBLE;
	return (int64_t)held_members(ledger_podset(l, p->podset)) - (p->nomination != NOMINATION_NONE) <
	       judge_minimum(l, p->podset);
}

static bool holds_room(const struct pod *p)
{
	return p->state == POD_PLACED || (p->state == POD_WAITING && p->nomination != NOMINATION_NONE);
}

static int by_seniority(const void *a, const void *b, void *ctx)
{
	const struct ledger *l = ctx;

	return pod_seniority(vocab_names(ledger_vocab(l)), ledger_pod(l, *(const pod_id *)a),
			     ledger_pod(l, *(const pod_id *)b));
}

static int64_t amount_held(const struct ledger *l, const struct pod *p, res_id r)
{
	const struct shape *s = shape_get(ledger_vocab(l), p->shape);

	return res_list_get(p->state == POD_PLACED ? &s->usage : &s->request, r);
}

/* The core of one podset of a semi-preemptible group: as many as its minimum, who runs longest first. */
static int64_t podset_core(const struct cluster *c, group_id g, podset_id s, res_id r, pod_id but)
{
	const struct ledger *l = cluster_ledger(c);
	ARRAY(pod_id) members = {0};
	int64_t sum = 0, min = judge_minimum(l, s);

	for (pod_id i = cluster_group_first(c, g); i != POD_NONE; i = cluster_group_next(c, i))
		if (i != but && ledger_pod(l, i)->podset == s && holds_room(ledger_pod(l, i)))
			array_push(&members, i);
	if (members.n)
		qsort_r(members.v, members.n, sizeof(*members.v), by_seniority, (void *)l);
	for (uint32_t i = 0; i < members.n && i < min; i++)
		sum = res_add_sat(sum, amount_held(l, ledger_pod(l, members.v[i]), r));
	array_free(&members);
	return sum;
}

static int64_t semi_core(const struct cluster *c, queue_id q, res_id r, pod_id but)
{
	const struct ledger *l = cluster_ledger(c);
	int64_t sum = 0;

	for (group_id i = 0; i < ledger_group_limit(l); i++) {
		const struct group *g = ledger_group(l, i);

		if (!g->is_live || g->preemptibility != SEMI_PREEMPTIBLE || g->queue == QUEUE_NONE ||
		    !queue_is_above(ledger_queues(l), q, g->queue))
			continue;
		for (podset_id s = g->first_podset; s < g->first_podset + g->n_podsets; s++)
			sum = res_add_sat(sum, podset_core(c, i, s, r, but));
	}
	return sum;
}

/* What core work holds of the queue, beside the pod that asks. */
static int64_t core_held(const struct cluster *c, queue_id q, res_id r, pod_id but)
{
	const struct ledger *l = cluster_ledger(c);
	const struct pod *p = ledger_pod(l, but);
	int64_t own =
		p->preemptibility == NON_PREEMPTIBLE && p->nomination != NOMINATION_NONE ? amount_held(l, p, r) : 0;

	return res_add_sat(ledger_queue_core(l, q)[r] - own, semi_core(c, q, r, but));
}

/* ---- quotas ---- */

/* As the Queue says it, else as queues.yaml guarantees it. */
static int64_t quota_of(const struct queue *q, res_id gpu, res_id r)
{
	struct res_vec quotas, limits;

	queue_kai_vectors(&q->spec, gpu, &quotas, &limits);
	if (res_has(&quotas, r))
		return quotas.v[r];
	return q->spec.sources & FROM_YUNIKORN ? queue_guarantee(q, r) : 0;
}

static struct rule_verdict ask_queue(const struct cluster *c, pod_id pod, queue_id q)
{
	const struct ledger *l = cluster_ledger(c);
	const struct queue *queue = queue_get(ledger_queues(l), q);
	const struct shape *shape = shape_get(ledger_vocab(l), ledger_pod(l, pod)->shape);
	res_id gpu = res_types_find(vocab_res(ledger_vocab(l)), GPU_TYPE, sizeof(GPU_TYPE) - 1);
	const res_id types[] = {gpu, RES_CPU, RES_MEMORY};
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_KAI_QUOTA);

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		int64_t asks = types[i] == RES_NONE ? 0 : res_list_get(&shape->request, types[i]), quota, held;

		if (asks <= 0 || (quota = quota_of(queue, gpu, types[i])) == RES_UNLIMITED)
			continue;
		held = core_held(c, q, types[i], pod);
		if (res_add_sat(held, asks) <= quota)
			continue;
		says.queue = q;
		says.type = types[i];
		says.num[0] = held;
		says.num[1] = quota;
		says.num[2] = asks;
		return says;
	}
	return rule_may_go();
}

struct rule_verdict judge_kai_quota(const struct cluster *c, pod_id pod)
{
	const struct ledger *l = cluster_ledger(c);
	const struct pod *p = ledger_pod(l, pod);
	struct rule_verdict says = rule_may_go();

	if (!is_core(l, p) || !cluster_is_kai_world(c, pod))
		return says;
	for (queue_id q = p->queue; q != QUEUE_NONE && says.rule == RULE_NONE;
	     q = queue_get(ledger_queues(l), q)->parent)
		if (queue_get(ledger_queues(l), q)->spec.sources & FROM_KAI)
			says = ask_queue(c, pod, q);
	return says;
}

/* ---- the rule ---- */

static struct rule_verdict judge(const struct judge *j)
{
	return judge_kai_quota(j->cluster, j->pod);
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	const char *type = words_type(c, v->type);
	struct text held = {0}, quota = {0}, asks = {0};

	res_amount_text(v->type, v->num[0], &held);
	res_amount_text(v->type, v->num[1], &quota);
	res_amount_text(v->type, v->num[2], &asks);
	text_printf(out,
		    "the quota of queue %s is %s %s, work that is not preemptible uses %s and the pod wants %s; "
		    "such work runs within quota only",
		    words_queue(c, v->queue), text_str(&quota), type, text_str(&held), text_str(&asks));
	text_free(&held);
	text_free(&quota);
	text_free(&asks);
}

const struct rule rule_kai_quota = {.of_preemptor = judge, .text = text};
