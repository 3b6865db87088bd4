/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario search: who has to go, or move, so that a workload finds room.
 *
 * A gang is solved one member more at a time; each step keeps the victims of the step before. Within a step candidates
 * are added, in the order in which they would go, until a trial works: take away those on a node (with what belongs to
 * them), let the workload and its victims look for room, and ask the rules about the outcome.
 */
#include <string.h>

#include "engine/session_solver.h"

/* ---- steps ---- */

/* Of one member more than in the step before. */
static void sum_step(struct solver *v)
{
	struct session *s = v->s;
	const double *share = s->signatures[s->members[v->want[v->n_step - 1]].signature].share;

	for (uint32_t r = 0; r < KAI_RES; r++)
		s->step_request[r] = (v->n_step > 1 ? s->step_request[r] : 0) + share[r];
}

/* From the beginning, with the victims of the step before recorded and evicted. */
static void start_afresh(struct solver *v)
{
	struct session *s = v->s;

	session_rollback(s, 0);
	s->stamp += 2;
	v->stamp = s->stamp;
	s->stamp++;
	v->batches.n = v->members.n = v->by_node.n = 0;
	v->n_candidates = v->n_looked_at = 0;
	v->recorded_key = 0;
	v->next_key = UINT64_C(1) << 32;
	v->has_pushed_back = false;
	slots_afresh(v);
	quick_begin(v);
	solver_reset_base(v);
	bits_copy(&v->kept_set, &v->base);
	for (uint32_t i = 0; i < v->kept.n; i++)
		solver_add_batch(v, v->kept.v[i].workload, v->kept_members.v + v->kept.v[i].first, v->kept.v[i].n,
				 true);
	v->n_open = v->n_looked_at;
	victims_afresh(v);
	slots_trial(v, true);
	for (uint32_t i = 0; i < v->kept_members.n; i++) {
		uint32_t node = s->members[v->kept_members.v[i]].node;

		if (node != NONE && v->kept_goes.v[i])
			bits_set(&v->kept_set, node);
		solver_take_away(v, v->kept_members.v[i]);
	}
	solver_settle_base(v);
}

static bool solve_step(struct solver *v, bool may_try_first)
{
	struct session *s = v->s;

	sum_step(v);
	slots_step(v);
	sides_step(v);
	rehearsal_step(v);
	bits_copy(&v->feasible, &v->kept_set);
	v->is_widened = false;
	for (bool is_first = may_try_first;; is_first = false) {
		if (!is_first && !solver_add_candidate(v))
			return false;
		if (s->steps > s->settings->search_steps) {
			s->fates[v->workload].hit_bound = true;
			return false;
		}
		if (quick_look(v) && solver_try(v))
			return true;
	}
}

/* ---- from step to step ---- */

/* Batches of which a member lost its place or moves. */
static void keep_victims(struct solver *v)
{
	struct session *s = v->s;

	v->kept.n = v->kept_members.n = v->kept_goes.n = 0;
	solver_gone_workloads(v);
	for (uint32_t i = 0; i < v->workloads.n; i++)
		for (uint32_t b = s->searched[v->workloads.v[i]].first_batch; b != NONE; b = v->batches.v[b].next) {
			const struct batch *x = &v->batches.v[b];
			const uint32_t *members = v->members.v + x->first;
			bool counts = false;

			for (uint32_t k = 0; k < x->n; k++)
				counts |= solver_goes(s, members[k]);
			if (!counts)
				continue;
			array_push(&v->kept, ((struct batch){.workload = x->workload,
							     .first = v->kept_members.n,
							     .n = x->n,
							     .next = NONE,
							     .is_recorded = true,
							     .side = NONE}));
			for (uint32_t k = 0; k < x->n; k++) {
				array_push(&v->kept_members, members[k]);
				array_push(&v->kept_goes, solver_goes(s, members[k]));
			}
		}
}

/*
 * With one member more to place, could any of the scenarios so far be enough? If the quick look says no, and recorded
 * victims change nothing in the order of the others, starting afresh would come to the same point.
 */
static bool can_go_on(const struct solver *v)
{
	return v->all_lost && v->n_complex == 0 && !v->has_pushed_back && v->need > 0 &&
	       v->slots <= (int64_t)v->n_step && member_ask(v->s, v->want[v->n_step])[KAI_GPU] == v->need;
}

static void go_on(struct solver *v)
{
	struct session *s = v->s;
	uint64_t key = v->recorded_key;

	session_rollback(s, v->evict_mark);
	for (uint32_t i = v->n_base_gone; i < v->gone.n; i++) {
		struct member *m = &s->members[v->gone.v[i]];
		struct batch *b = &v->batches.v[m->batch];

		m->recorded = v->stamp;
		v->n_candidates -= !b->is_recorded;
		b->is_recorded = true;
		if (m->node != NONE)
			bits_set(&v->kept_set, m->node);
	}
	solver_settle_base(v); /* while keys are those of candidates */
	for (uint32_t i = 0; i < v->settled.n; i++)
		s->searched[v->settled.v[i]].order_key = key++;
	v->recorded_key = key;
}

static bool is_whole(const struct session *s, const struct workload *u)
{
	for (uint32_t i = 0; i < u->n_podsets; i++)
		if (podset_count(&s->podsets[u->first_podset + i], SET_USED) <
		    (uint32_t)s->podsets[u->first_podset + i].min)
			return false;
	return true;
}

static bool solve(struct solver *v)
{
	struct session *s = v->s;
	const struct workload *u = &s->workloads[v->workload];
	uint32_t before = workload_count(u, SET_USED);
	bool goes_on = false;

	for (v->n_step = 1; v->n_step <= v->n_want; v->n_step++) {
		if (!goes_on)
			start_afresh(v);
		if (!solve_step(v, !goes_on))
			return false;
		if (v->n_step == v->n_want)
			break;
		goes_on = can_go_on(v);
		if (goes_on)
			go_on(v);
		else
			keep_victims(v);
	}
	return is_whole(s, u) && workload_count(u, SET_USED) > before;
}

/* ---- the search ---- */

/* Nodes that may be used before any eviction: all, if a member asks for no GPU; else those with a GPU free or soon. */
static void find_base(struct solver *v)
{
	struct session *s = v->s;
	const struct workload *u = &s->workloads[v->workload];
	uint32_t first = s->podsets[u->first_podset].first;
	bool all = false;

	for (uint32_t i = first; i < first + u->n_members; i++)
		all |= member_ask(s, i)[KAI_GPU] == 0;
	v->base_is_all = all;
	if (all)
		bits_set_first(&v->base, s->n_nodes);
	else
		bits_copy(&v->base, &v->counts->with_gpus);
}

static void take_memory(struct solver *v, struct solver_memory **from)
{
	struct solver_memory *m = *from ? *from : mem_alloc(sizeof(*m));

	*from = m;
	v->batches = m->batches;
	v->members = m->members;
	v->by_node = m->by_node;
	v->sequence = m->sequence;
	v->freed = m->freed;
	v->batches.n = v->members.n = v->by_node.n = v->sequence.n = v->freed.n = 0;
}

static void give_memory_back(const struct solver *v, struct solver_memory *m)
{
	m->batches = v->batches;
	m->members = v->members;
	m->by_node = v->by_node;
	m->sequence = v->sequence;
	m->freed = v->freed;
}

void session_solve_end(struct session *s)
{
	struct solver_memory *m = s->solver_memory;

	if (m == NULL)
		return;
	array_free(&m->batches);
	array_free(&m->members);
	array_free(&m->by_node);
	array_free(&m->sequence);
	array_free(&m->freed);
	mem_free(m);
	s->solver_memory = NULL;
}

static void solver_free(struct solver *v)
{
	slots_end(v);
	give_memory_back(v, v->s->solver_memory);
	sides_end(v);
	rehearsal_end(v);
	bits_free(&v->base);
	bits_free(&v->kept_set);
	bits_free(&v->feasible);
	bits_free(&v->trial_set);
	mem_free(v->want);
	mem_free(v->needs);
	array_free(&v->base_items);
	array_free(&v->late_items);
	array_free(&v->heads);
	array_free(&v->base_shares);
	array_free(&v->gone);
	array_free(&v->new_workloads);
	array_free(&v->items);
	array_free(&v->new_items);
	array_free(&v->shares);
	array_free(&v->sorted);
	array_free(&v->signatures);
	array_free(&v->kept);
	array_free(&v->kept_members);
	array_free(&v->kept_goes);
	array_free(&v->workloads);
	array_free(&v->settled);
}

static bool are_alike(const struct session *s, const uint32_t *members, uint32_t n)
{
	const struct member *one = &s->members[members[0]];

	for (uint32_t i = 0; i < n; i++) {
		const struct member *m = &s->members[members[i]];

		if (m->signature != one->signature || m->is_core != one->is_core || m->copies != NONE)
			return false;
	}
	return true;
}

static bool search(struct solver *v)
{
	struct session *s = v->s;
	bool is_ok;

	v->needs = mem_resize(NULL, v->n_want, sizeof(*v->needs));
	v->counts = session_counts(s);
	v->is_uniform = are_alike(s, v->want, v->n_want);
	s->steps = 0;
	find_base(v);
	slots_begin(v);
	sides_begin(v);
	rehearsal_begin(v);
	is_ok = solve(v);
	if (!is_ok)
		session_rollback(s, 0);
	return is_ok;
}

/* There is nothing to be found. Who looks at all looks all the same, and says nothing of it. */
static bool search_in_vain(struct solver *v, uint32_t n_bearable)
{
	struct session *s = v->s;
	struct workload_fate *u = &s->fates[v->workload], before;
	struct protected_memo *memo = s->memo;
	bool is_ok = false;

	u->is_too_large = true;
	u->n_together = v->n_want;
	u->n_bearable = n_bearable;
	before = *u;
	s->memo = NULL;
	if (s->en->config->looks_at_all)
		is_ok = search(v);
	s->memo = memo;
	u->n_scenarios = before.n_scenarios;
	u->n_refused = before.n_refused;
	u->refused_rule = before.refused_rule;
	u->refusal = before.refusal;
	u->hit_bound = before.hit_bound;
	return is_ok;
}

bool session_solve(struct session *s, enum action action, uint32_t workload, order_filter filter, void *ctx)
{
	struct solver v = {.s = s, .action = action, .workload = workload, .filter = filter, .ctx = ctx};
	uint32_t n_bearable;
	bool is_ok;

	session_next_members(s, workload, true);
	v.n_want = s->tasks.n;
	if (v.n_want == 0)
		return false;
	v.want = mem_resize(NULL, v.n_want, sizeof(*v.want));
	memcpy(v.want, s->tasks.v, v.n_want * sizeof(*v.want));
	take_memory(&v, &s->solver_memory);
	is_ok = slots_could_ever_do(&v, &n_bearable) ? search(&v) : search_in_vain(&v, n_bearable);
	solver_free(&v);
	return is_ok;
}
