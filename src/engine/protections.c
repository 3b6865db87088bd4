/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/protections.h"

#include <stdlib.h>

#include "engine/engine_internal.h"

/* ---- who asks ---- */

static int64_t age_of(const struct pod *p)
{
	return p->created_ns; /* one that is not known is before all */
}

static int rank_cmp(const struct ledger *l, const struct pod *a, const struct pod *b)
{
	struct vocab *v = ledger_vocab(l);
	int d;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (age_of(a) != age_of(b))
		return age_of(a) < age_of(b) ? -1 : 1;
	d = name_cmp(vocab_names(v), labelset_get(v, a->labelset)->ns, labelset_get(v, b->labelset)->ns);
	return d ? d : name_cmp(vocab_names(v), a->name, b->name);
}

static int by_rank(const void *pa, const void *pb, void *ctx)
{
	const struct ledger *l = ctx;

	return rank_cmp(l, ledger_pod(l, *(const pod_id *)pa), ledger_pod(l, *(const pod_id *)pb));
}

uint32_t engine_first_waiting(const struct engine *en, pod_id *ret, uint32_t max)
{
	uint32_t n_queues = ledger_queues(en->ledger)->q.n, n = 0;
	pod_id *first = mem_alloc((n_queues + 1) * sizeof(*first));

	memset(first, 0xff, (n_queues + 1) * sizeof(*first)); /* POD_NONE */
	for (pod_id i = 0; i < ledger_pod_limit(en->ledger); i++) {
		const struct pod *p = ledger_pod(en->ledger, i);

		if (p->state != POD_WAITING || p->queue >= n_queues || !engine_is_ours(en, p))
			continue;
		if (first[p->queue] == POD_NONE || rank_cmp(en->ledger, p, ledger_pod(en->ledger, first[p->queue])) < 0)
			first[p->queue] = i;
	}
	for (uint32_t q = 0; q < n_queues; q++)
		if (first[q] != POD_NONE)
			first[n++] = first[q];
	if (n > 1)
		qsort_r(first, n, sizeof(*first), by_rank, en->ledger);
	n = n < max ? n : max;
	memcpy(ret, first, n * sizeof(*first));
	mem_free(first);
	return n;
}

/* ---- what is said ---- */

static uint64_t lacking(const struct ledger *l, const struct pod *p, node_id node)
{
	const int64_t *has = ledger_node_allocatable(l, node), *used = ledger_node_used(l, node);
	const struct res_list *asks = &shape_get(ledger_vocab(l), p->shape)->request;
	struct res_vec wants = {0};
	uint64_t types = 0;

	res_vec_add_list(&wants, asks);
	for (res_id r = 0; r < ledger_stride(l) && r < RES_MAX; r++)
		if (res_has(&wants, r) && wants.v[r] > 0 && res_sub_sat(has[r], used[r]) < wants.v[r])
			types |= UINT64_C(1) << r;
	return types;
}

/* Between queues reclaim; inside of one displace where pods name none, preempt elsewhere. ACTION_NONE: by none. */
static enum action action_of(const struct engine *en, const struct pod *waiting, const struct pod *v)
{
	enum profile profile = en->config->profile;
	enum action a = ACTION_RECLAIM;

	if (profile_get(profile)->search_mode == MODE_PODS)
		a = ACTION_DISPLACE;
	else if (waiting->queue == v->queue && profile_has_action(profile, ACTION_PREEMPT))
		a = engine_is_default_queue(en, v->queue) ? ACTION_DISPLACE : ACTION_PREEMPT;
	return profile_has_action(profile, a) ? a : ACTION_NONE;
}

static struct protection judge_pod(struct engine *en, const struct engine_run *run, pod_id pod, pod_id waiting,
				   uint64_t types)
{
	const struct pod *p = ledger_pod(en->ledger, waiting), *v = ledger_pod(en->ledger, pod);
	struct protection ret = {.pod = pod, .waiting = waiting, .action = action_of(en, p, v)};
	struct rule_settings settings = engine_rule_settings(en);
	struct judge j;

	ret.verdict = rule_may_go();
	if (ret.action == ACTION_NONE)
		return ret;
	judge_init(&j, en->cluster, en->ledger, &settings, ret.action, waiting, run->now_ns, &en->scratch);
	judge_look_at(&j, types);
	ret.verdict = judge_preemptor(&j);
	if (ret.verdict.rule == RULE_NONE)
		ret.verdict = judge_victim(&j, pod);
	return ret;
}

void engine_protections(struct engine *en, const struct engine_run *run, node_id node, const pod_id *waiting,
			uint32_t n, protection_list *ret)
{
	const struct ledger_node *on = ledger_node(en->ledger, node);

	en->eviction_history = run->eviction_history;
	for (uint32_t i = 0; i < on->pods.n; i++) {
		if (ledger_pod(en->ledger, on->pods.v[i])->state != POD_PLACED)
			continue;
		for (uint32_t k = 0; k < n; k++) {
			uint64_t types = lacking(en->ledger, ledger_pod(en->ledger, waiting[k]), node);

			array_push(ret, judge_pod(en, run, on->pods.v[i], waiting[k], types));
		}
	}
	en->eviction_history = NULL;
}
