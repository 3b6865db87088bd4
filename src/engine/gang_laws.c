/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gang_laws.h"

#include "engine/attempt.h"
#include "rules/victim_set.h"

static int64_t asks(const struct ledger *l, pod_id pod, res_id r)
{
	return r == RES_PODS ? 1 : res_list_get(&shape_get(ledger_vocab(l), ledger_pod(l, pod)->shape)->usage, r);
}

static uint64_t asked_by(const struct gang_claim *c)
{
	const struct ledger *l = c->en->ledger;
	uint64_t types = UINT64_C(1) << RES_PODS;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct res_list *u = &shape_get(ledger_vocab(l), ledger_pod(l, c->members[i])->shape)->usage;

		for (uint32_t k = 0; k < u->n; k++)
			types |= (uint64_t)(u->v[k].amount > 0) << u->v[k].type;
	}
	return types;
}

/* What will be free on the node; those who should have gone long ago keep what they hold. */
static int64_t room_soon(const struct gang_claim *c, node_id node, res_id r)
{
	const struct ledger *l = c->en->ledger;
	const struct ledger_node *n = ledger_node(l, node);
	int64_t room = ledger_node_allocatable(l, node)[r] - ledger_node_used(l, node)[r] +
		       ledger_node_leaving(l, node)[r] - ledger_node_reserved(l, node)[r];

	for (uint32_t i = 0; n->n_due && i < n->pods.n; i++)
		if (pod_is_stuck(ledger_pod(l, n->pods.v[i]), c->now_ns, c->en->config->patience_ns))
			room -= asks(l, n->pods.v[i], r);
	return room;
}

/* Do those who go to the node of this member ask for more than will be free there? */
static bool node_lacks(const struct gang_claim *c, uint32_t member, res_id r)
{
	int64_t want = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->nodes[i] == c->nodes[member])
			want += asks(c->en->ledger, c->members[i], r);
	return want && want > room_soon(c, c->nodes[member], r);
}

static bool path_lacks(const struct gang_claim *c, res_id r)
{
	const struct ledger *l = c->en->ledger;
	const struct queue_tree *t = ledger_queues(l);
	int64_t want = 0;

	for (uint32_t i = 0; i < c->n; i++)
		want += asks(l, c->members[i], r);
	for (queue_id q = ledger_pod(l, c->members[0])->queue; want && q != QUEUE_ROOT; q = queue_get(t, q)->parent) {
		const struct res_vec *max = &queue_get(t, q)->spec.max;

		if (max->mask >> r & 1 &&
		    ledger_queue_used(l, q)[r] + ledger_queue_reserved(l, q)[r] + want > max->v[r])
			return true;
	}
	return false;
}

static bool is_first_on_node(const struct gang_claim *c, uint32_t member)
{
	for (uint32_t i = 0; i < member; i++)
		if (c->nodes[i] == c->nodes[member])
			return false;
	return true;
}

static uint64_t short_types(const struct gang_claim *c, uint64_t asked)
{
	uint64_t types = 0;

	for (uint64_t left = asked; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		bool lacks = path_lacks(c, r);

		for (uint32_t i = 0; !lacks && i < c->n; i++)
			lacks = is_first_on_node(c, i) && node_lacks(c, i, r);
		if (lacks)
			types |= UINT64_C(1) << r;
	}
	return types;
}

static struct set_victim as_victim(struct judge *j, pod_id pod)
{
	const struct pod *p = ledger_pod(j->ledger, pod);

	return (struct set_victim){.pod = pod,
				   .p = p,
				   .usage = &shape_get(j->vocab, p->shape)->usage,
				   .n_pods = 1,
				   .queue = judge_queue(j, p->queue)};
}

/* Laws 4 and 5 of its queue, then law 2 with those before it. What else is kept of sets was asked of each search. */
static struct rule_verdict verdict_on(struct victim_set *set, pod_id victim)
{
	const struct pod *p = ledger_pod(set->j->ledger, victim);
	struct rule_verdict says = rule_may_go();
	struct set_victim v;

	if (p->queue == QUEUE_NONE)
		return says;
	says = judge_guarantee_of_queue(set->j, p->queue);
	if (says.answer == IS_PROTECTED)
		return says;
	v = as_victim(set->j, victim);
	says = victim_set_refusal(set, &v);
	if (says.answer == IS_PROTECTED && says.rule == RULE_GUARANTEE)
		return says;
	victim_set_take(set, &v);
	return rule_may_go();
}

static bool set_is_lawful(const struct gang_claim *c, struct victim_set *set, struct protected_pod *ret)
{
	for (uint32_t i = 0; i < c->n_victims; i++) {
		const struct pod *p = ledger_pod(c->en->ledger, c->victims[i]);
		struct rule_verdict says = verdict_on(set, c->victims[i]);

		if (says.answer != IS_PROTECTED)
			continue;
		*ret = (struct protected_pod){.pod = c->victims[i],
					      .node = p->node,
					      .queue = p->queue,
					      .verdict = says,
					      .is_refused_in_set = true};
		return false;
	}
	return true;
}

bool gang_claim_is_lawful(const struct gang_claim *c, struct protected_pod *ret_protected)
{
	struct rule_settings settings = engine_rule_settings(c->en);
	struct victim_set_memory memory = {0};
	struct victim_set set;
	struct judge j;
	bool is_lawful;

	judge_init(&j, c->en->cluster, c->en->ledger, &settings, c->action, c->members[0], c->now_ns, &c->en->scratch);
	if (!c->n_victims || !judge_asks(&j, RULE_GUARANTEE))
		return true;
	j.asked = asked_by(c);
	judge_look_at(&j, short_types(c, j.asked));
	victim_set_init(&set, &j, &memory);
	victim_set_begin(&set, NODE_NONE, false);
	is_lawful = set_is_lawful(c, &set, ret_protected);
	victim_set_memory_free(&memory);
	return is_lawful;
}
