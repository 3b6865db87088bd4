/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of victims. Of workloads that are in one queue, of one priority and preemptibility, and in no window whoever
 * asks, all rules of profile kai say the same; they are asked once for each kind and kind of preemptor. A workload that
 * is semi-preemptible, may be inside a window, or whose pods differ is asked about by itself.
 */
#include "engine/session_build.h"

enum { KINDS_PER_QUEUE = 64 }; /* further ones are asked about one by one */

/* The longest window that anybody could be inside. */
static int64_t longest_window(const struct session *s)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	struct rule_settings settings = engine_rule_settings(s->en);
	int64_t most = settings.min_runtime.preempt_ns;

	most = settings.min_runtime.reclaim_ns > most ? settings.min_runtime.reclaim_ns : most;
	for (queue_id q = 0; q < t->q.n; q++) {
		const struct queue_spec *spec = &queue_get(t, q)->spec;

		most = spec->preempt_min_runtime_ns > most ? spec->preempt_min_runtime_ns : most;
		most = spec->reclaim_min_runtime_ns > most ? spec->reclaim_min_runtime_ns : most;
	}
	return most;
}

static bool may_be_inside(const struct session *s, const struct workload *u, int64_t longest_ns)
{
	int64_t start = u->group == GROUP_NONE ? TIME_NONE : ledger_group(s->ledger, u->group)->started_ns;

	return start != TIME_NONE && s->now_ns < res_add_sat(start, longest_ns);
}

/* Its pods are alike in what rules look at, and as the workload says. */
static bool is_uniform(const struct session *s, const struct workload *u, const struct pod *one)
{
	uint32_t first = s->podsets[u->first_podset].first;

	for (uint32_t i = first; i < first + u->n_members; i++) {
		const struct pod *p = ledger_pod(s->ledger, s->members[i].pod);

		if (p->queue != one->queue || p->priority != one->priority || p->preemptibility != one->preemptibility)
			return false;
	}
	return s->queues[u->queue].id == one->queue && u->priority == one->priority;
}

static uint32_t kind_for(struct session *s, uint32_t queue, const struct pod *one)
{
	struct session_queue *q = &s->queues[queue];
	uint32_t n = 0;

	for (uint32_t i = q->first_kind; i != NONE; i = s->kinds.v[i].next, n++)
		if (s->kinds.v[i].priority == one->priority && s->kinds.v[i].preemptibility == one->preemptibility)
			return i;
	if (n >= KINDS_PER_QUEUE)
		return NONE;
	array_push(&s->kinds, ((struct victim_kind){.queue = queue,
						    .priority = one->priority,
						    .preemptibility = (uint8_t)one->preemptibility,
						    .next = q->first_kind}));
	q->first_kind = s->kinds.n - 1;
	return q->first_kind;
}

static uint32_t kind_of(struct session *s, const struct workload *u, int64_t longest_ns)
{
	const struct pod *one;

	if (u->queue == NONE || u->n_members == 0 || u->is_semi || may_be_inside(s, u, longest_ns))
		return NONE;
	one = ledger_pod(s->ledger, s->members[s->podsets[u->first_podset].first].pod);
	if (one->preemptibility == SEMI_PREEMPTIBLE || !is_uniform(s, u, one))
		return NONE;
	return kind_for(s, u->queue, one);
}

static bool has_kinds(const struct session *s)
{
	const struct profile_data *p = profile_get(s->en->config->profile);

	return p->start == START_STAMP && !p->has_group_priorities && !s->is_for_moves && !s->en->config->looks_at_all;
}

void session_find_kinds(struct session *s)
{
	int64_t longest_ns = longest_window(s);
	bool has = has_kinds(s);

	s->kind_of_rank = arena_n(s->build->arena, s->n_workloads + 1, uint32_t);
	for (uint32_t i = 0; i < s->n_queues; i++)
		s->queues[i].first_kind = NONE;
	for (uint32_t i = 0; i < s->n_workloads; i++)
		s->kind_of_rank[s->workloads[i].rank] = has ? kind_of(s, &s->workloads[i], longest_ns) : NONE;
}

/* Groups are in windows, which end as time goes by, and of the others those changed of which something moved. */
void session_find_kinds_again(struct session *s, const uint32_t *changed, uint32_t n)
{
	int64_t longest_ns = longest_window(s);
	bool has = has_kinds(s);

	for (uint32_t i = 0; i < s->build->n_groups; i++)
		s->kind_of_rank[s->workloads[i].rank] = has ? kind_of(s, &s->workloads[i], longest_ns) : NONE;
	for (uint32_t i = 0; i < n; i++) {
		const struct workload *u = &s->workloads[changed[i]];

		s->kind_of_rank[u->rank] = has ? kind_of(s, u, longest_ns) : NONE;
	}
}

void session_leave_kind(struct session *s, uint32_t workload)
{
	s->kind_of_rank[s->workloads[workload].rank] = NONE;
}
