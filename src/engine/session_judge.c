/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may go in a session: what the rules say of pods, put together for workloads, which is what goes here.
 *
 * A workload is judged when a search first looks at it, once for all preemptors for whom the answer is the same: in
 * profile kai rules look at the preemptor's queue and priority alone. Where rules or plugins look at single pods all of
 * them are asked; else one of each podset stands for the others.
 */
#include <math.h>

#include "engine/session.h"
#include "rules/plugin.h"

enum { MEMOS_MAX = 64 }; /* kinds of preemptors for whom it is noted who is protected */

/* ---- for whom ---- */

/* Rules whose answer depends on nothing of the preemptor but its queue and priority. */
static bool is_for_all_alike(const struct judge *j)
{
	const uint64_t by_kind = UINT64_C(1) << RULE_FOREIGN | UINT64_C(1) << RULE_PRIORITY |
				 UINT64_C(1) << RULE_PREEMPTIBILITY | UINT64_C(1) << RULE_MIN_RUNTIME |
				 UINT64_C(1) << RULE_FAIR_SHARE;

	return !(j->on & ~by_kind);
}

static bool is_same_key(const struct judge_key *a, const struct judge_key *b)
{
	return a->action == b->action && a->queue == b->queue && a->n_starts == b->n_starts &&
	       a->priority == b->priority && a->workload == b->workload;
}

static bool is_in_scope(const struct session *s, const struct judge_key *k, uint32_t by, uint32_t victim)
{
	bool is_own_leaf = s->workloads[victim].queue == k->queue;

	return victim != by && s->workloads[victim].queue != NONE &&
	       (k->action == ACTION_CONSOLIDATE || is_own_leaf == (k->action == ACTION_PREEMPT));
}

static void note(struct session *s, uint32_t member, const struct rule_verdict *says)
{
	const struct member *m = &s->members[member];
	const struct protected_pod x = {.pod = m->pod,
					.node = s->nodes[m->node].id,
					.queue = s->queues[s->workloads[m->workload].queue].id,
					.verdict = *says};

	protected_add(&s->memo->list, &x);
}

/* NULL: it is asked about by itself. */
static struct victim_kind *kind_of(struct session *s, uint32_t workload)
{
	uint32_t kind = s->kind_of_rank[s->workloads[workload].rank];

	return kind != NONE && is_for_all_alike(&s->judge) ? &s->kinds.v[kind] : NULL;
}

/* False: its kind may go. */
static bool may_be_protected(struct session *s, uint32_t workload)
{
	const struct workload *u = &s->workloads[workload];
	struct victim_kind *k = kind_of(s, workload);
	uint32_t first = s->podsets[u->first_podset].first;

	if (k == NULL)
		return true;
	if (k->noted != s->judge_stamp) {
		k->noted = s->judge_stamp;
		k->is_protected = judge_victim(&s->judge, s->members[first].pod).answer == IS_PROTECTED;
	}
	return k->is_protected;
}

static void note_workload(struct session *s, uint32_t workload)
{
	const struct workload *u = &s->workloads[workload];
	uint32_t first = s->podsets[u->first_podset].first;

	for (uint32_t i = first; i < first + u->n_members && s->memo->list.v.n < PROTECTED_MAX; i++) {
		struct rule_verdict says;

		if (s->members[i].status != IS_RUNNING || s->members[i].node == NONE)
			continue;
		says = judge_victim(&s->judge, s->members[i].pod);
		if (says.answer == IS_PROTECTED)
			note(s, i, &says);
	}
}

void session_note_protected(struct session *s, uint32_t by)
{
	const struct judge_key *k = &s->judged_for;

	if (s->memo != NULL || s->tells_nobody) /* of one alike */
		return;
	for (uint32_t i = 0; i < s->memos.n; i++)
		if (is_same_key(&s->memos.v[i]->key, k)) {
			s->memo = s->memos.v[i];
			return;
		}
	if (s->memos.n >= MEMOS_MAX || k->action == ACTION_CONSOLIDATE)
		return;
	s->memo = arena_type(s->arena, struct protected_memo);
	*s->memo = (struct protected_memo){.key = *k, .list = {.max = PROTECTED_MAX}};
	array_push(&s->memos, s->memo);
	for (uint32_t i = 0; i < s->n_workloads && s->memo->list.v.n < PROTECTED_MAX; i++) {
		uint32_t kind = s->kind_of_rank[i];

		if (kind != NONE && s->kinds.v[kind].noted == s->judge_stamp && !s->kinds.v[kind].is_protected)
			continue;
		if (is_in_scope(s, k, by, s->by_rank[i]) && may_be_protected(s, s->by_rank[i]))
			note_workload(s, s->by_rank[i]);
	}
}

static void ask_plugins(struct session *s, pod_id pod)
{
	struct framework *f = engine_framework(s->en, pod);

	cycle_end_aside(&s->plugins);
	if (!plugins_judge(f))
		return;
	cycle_begin_aside(&s->plugins, f, s->arena, pod, s->now_ns);
	judge_ask_plugins(&s->judge, &s->plugins);
}

bool session_judge_for(struct session *s, enum action action, uint32_t workload)
{
	struct rule_settings settings = engine_rule_settings(s->en);
	const struct workload *u = &s->workloads[workload];
	struct judge_key key = {.action = action,
				.queue = u->queue,
				.n_starts = s->n_starts,
				.priority = u->priority,
				.workload = NONE};
	pod_id pod;

	if (is_same_key(&key, &s->judged_for))
		return true;
	session_next_members(s, workload, true);
	if (s->tasks.n == 0)
		return false;
	pod = s->members[s->tasks.v[0]].pod;
	judge_init(&s->judge, s->en->cluster, s->ledger, &settings, action, pod, s->now_ns, &s->en->scratch);
	ask_plugins(s, pod);
	key.workload = is_for_all_alike(&s->judge) ? NONE : workload;
	s->judged_for = key;
	s->judge_stamp++;
	s->memo = NULL;
	return judge_preemptor(&s->judge).rule == RULE_NONE;
}

void session_judge_end(struct session *s)
{
	cycle_end_aside(&s->plugins);
	for (uint32_t i = 0; i < s->memos.n; i++)
		protected_free(&s->memos.v[i]->list);
	array_free(&s->memos);
	victim_set_memory_free(&s->sets);
}

/* ---- workloads ---- */

struct hearing { /* what was said of some pods of a workload */
	bool is_heard;
	bool may_go, stays, is_spared, keeps_minimum, is_too_high;
};

/* False: it is of the core of semi-preemptible work, and says nothing of the pods above the minimum. */
static bool hear(struct session *s, uint32_t member, struct hearing *h)
{
	pod_id pod = s->members[member].pod;
	struct rule_verdict says = judge_victim(&s->judge, pod);
	bool is_kept = says.answer == IS_PROTECTED && (s->is_for_moves || !says.keeps_minimum);
	bool is_core = says.answer == IS_PROTECTED && !is_kept && says.rule == RULE_PREEMPTIBILITY;

	h->is_heard = true;
	h->may_go |= !is_kept && !is_core;
	h->stays |= is_kept;
	h->is_spared |= says.answer == IS_SPARED;
	h->is_too_high |= says.answer == IS_PROTECTED && says.rule == RULE_PRIORITY;
	h->keeps_minimum |= judge_keeps_minimum(&s->judge, ledger_pod(s->ledger, pod));
	return !is_core;
}

/* A move is of all that runs; who has no place yet is not moved. */
static bool is_settled(const struct session *s, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		if (s->members[i].status == IS_NOMINATED || s->members[i].status == IS_BOUND)
			return false;
	return true;
}

static void hear_all(struct session *s, const struct workload *u, struct hearing *h)
{
	uint32_t first = s->podsets[u->first_podset].first;

	if (s->is_for_moves && !is_settled(s, first, u->n_members))
		h->stays = true;
	for (uint32_t i = first; i < first + u->n_members && !h->stays; i++)
		if (is_in(s->members[i].status, SET_ACTIVE))
			hear(s, i, h);
}

static void hear_one_of_each(struct session *s, const struct workload *u, struct hearing *h)
{
	for (uint32_t p = u->first_podset; p < u->first_podset + u->n_podsets; p++)
		for (uint32_t i = s->podsets[p].first; i < s->podsets[p].first + s->podsets[p].n; i++)
			if (is_in(s->members[i].status, SET_ACTIVE) && hear(s, i, h))
				break;
	h->stays &= !h->may_go;
}

static enum workload_verdict sum_up(const struct hearing *h)
{
	if (h->stays)
		return h->is_too_high ? WORKLOAD_IS_TOO_HIGH : WORKLOAD_STAYS;
	if (h->is_spared)
		return WORKLOAD_IS_SPARED;
	return h->keeps_minimum ? WORKLOAD_KEEPS_MINIMUM : WORKLOAD_MAY_GO;
}

enum workload_verdict session_verdict(struct session *s, uint32_t victim)
{
	const struct workload *u = &s->workloads[victim];
	struct workload_search *f = &s->searched[victim];
	struct victim_kind *k;
	struct hearing h = {0};

	k = kind_of(s, victim);
	if (k != NULL && k->judged == s->judge_stamp)
		return (enum workload_verdict)k->verdict;
	if (f->judged == s->judge_stamp)
		return (enum workload_verdict)f->verdict;
	if (s->is_for_moves || judge_asks(&s->judge, RULE_PLUGIN))
		hear_all(s, u, &h);
	else
		hear_one_of_each(s, u, &h);
	f->judged = s->judge_stamp;
	f->verdict = (uint8_t)sum_up(&h);
	if (k != NULL && h.is_heard) {
		k->judged = s->judge_stamp;
		k->verdict = f->verdict;
	}
	return (enum workload_verdict)f->verdict;
}

bool session_may_clean_up(struct session *s, uint32_t workload)
{
	struct rule_settings settings = engine_rule_settings(s->en);
	const struct workload *u = &s->workloads[workload];
	uint32_t first = s->podsets[u->first_podset].first;

	s->judged_for = (struct judge_key){0};
	cycle_end_aside(&s->plugins);
	judge_init(&s->judge, s->en->cluster, s->ledger, &settings, ACTION_STALE_GANG, POD_NONE, s->now_ns,
		   &s->en->scratch);
	for (uint32_t i = first; i < first + u->n_members; i++) {
		if (!is_in(s->members[i].status, SET_ACTIVE))
			continue;
		engine_ask_plugins_for_nobody(s->en, &s->judge, &s->plugins, s->members[i].pod);
		if (judge_victim(&s->judge, s->members[i].pod).answer == IS_PROTECTED)
			return false;
	}
	return true;
}

/* ---- shares ---- */

struct rule_verdict session_share_verdict(const struct session *s, const struct share_verdict *v)
{
	struct rule_verdict ret = rule_says(IS_PROTECTED, RULE_FAIR_SHARE);

	ret.reason = (uint8_t)v->refusal;
	ret.queue = v->queue == SHARE_NO_QUEUE ? QUEUE_NONE : s->queues[v->queue].id;
	ret.type = s->amount_type[v->res] == RES_NONE ? RES_PODS : s->amount_type[v->res];
	ret.num[0] = (int64_t)floor(v->used);
	ret.num[1] = (int64_t)floor(v->share);
	return ret;
}

void session_note_refused(struct session *s, uint32_t member, const struct share_verdict *why)
{
	struct rule_verdict says;

	if (s->memo == NULL || !s->members[member].was_running || s->members[member].node == NONE)
		return;
	says = session_share_verdict(s, why);
	note(s, member, &says);
}
