/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workloads of a session and their members, as the ledger has them: all of them when the session is made, those of
 * which something moved when it follows (session_follow.c).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/session_build.h"
#include "engine/volumes.h"

/* ---- workloads ---- */

/* Room of a queue that is no leaf is nobody's. */
static uint32_t leaf_index(const struct session *s, queue_id queue)
{
	uint32_t q = queue == QUEUE_NONE ? NONE : s->build->queue_index[queue];

	return q == NONE || !s->queues[q].is_leaf ? NONE : q;
}

/* Of a workload of which all else is nothing. */
static void read_group(struct session *s, struct workload *u, group_id g)
{
	const struct group *x = ledger_group(s->ledger, g);

	u->group = g;
	u->pod = POD_NONE;
	u->queue = leaf_index(s, x->queue);
	u->priority = x->priority;
	u->is_preemptible = x->preemptibility == PREEMPTIBLE || x->preemptibility == SEMI_PREEMPTIBLE;
	u->is_semi = x->preemptibility == SEMI_PREEMPTIBLE;
	u->stale_ns = x->obj->stale_ns;
	u->n_podsets = x->n_podsets;
}

static void read_pod(struct session *s, struct workload *u, pod_id p)
{
	const struct pod *x = ledger_pod(s->ledger, p);
	bool is_there = x->state != POD_FREE;

	u->group = GROUP_NONE;
	u->pod = p;
	u->queue = is_there ? leaf_index(s, x->queue) : NONE;
	u->priority = x->priority;
	u->is_preemptible = x->preemptibility != NON_PREEMPTIBLE;
	u->stale_ns = TIME_NONE;
	u->n_podsets = 1;
	u->n_members = is_there;
}

static void take_groups(struct session *s)
{
	struct session_build *b = s->build;

	for (group_id g = 0; g < ledger_group_limit(s->ledger); g++) {
		b->of_group[g] = s->n_workloads;
		if (ledger_group(s->ledger, g)->is_live)
			read_group(s, &s->workloads[s->n_workloads++], g);
	}
	b->n_groups = s->n_workloads;
}

void session_take_workloads(struct session *s)
{
	uint32_t groups = ledger_group_limit(s->ledger), pods = ledger_pod_limit(s->ledger);
	struct session_build *b = s->build;

	b->of_group = arena_n(b->arena, groups + 1, uint32_t);
	b->of_pod = arena_n(b->arena, pods + 1, uint32_t);
	b->n_pods = pods;
	s->workloads = arena_n(b->arena, groups + pods + 1, struct workload);
	s->searched = arena_n(b->arena, groups + pods + 1, struct workload_search);
	s->fates = arena_n(b->arena, groups + pods + 1, struct workload_fate);
	take_groups(s);
	for (pod_id p = 0; p < pods; p++) {
		const struct pod *x = ledger_pod(s->ledger, p);

		b->of_pod[p] = NONE;
		if (x->state == POD_FREE || !engine_is_ours(s->en, x) || session_is_on_lost_node(s, x))
			continue;
		b->of_pod[p] = x->group != GROUP_NONE ? b->of_group[x->group] : s->n_workloads;
		if (x->group == GROUP_NONE)
			read_pod(s, &s->workloads[s->n_workloads++], p);
		else
			s->workloads[b->of_pod[p]].n_members++;
	}
}

/* ---- signatures ---- */

static uint32_t signature_for(struct session *s, pod_id pod)
{
	uint32_t *signature_of = s->build->signature_of;
	const struct vocab *v = ledger_vocab(s->ledger);
	shape_id shape = ledger_pod(s->ledger, pod)->shape;
	const struct shape *sh = shape_get(v, shape);
	struct signature *f;

	if (signature_of[shape] != NONE && !pod_has_volumes(s->ledger, pod))
		return signature_of[shape];
	if (!pod_has_volumes(s->ledger, pod))
		signature_of[shape] = s->n_signatures;
	f = &s->signatures[s->n_signatures];
	*f = (struct signature){.shape = shape, .example = pod, .ask = arena_n(s->build->arena, s->n_amounts, int64_t)};
	for (uint32_t a = 0; a < s->n_amounts; a++)
		f->ask[a] = s->amount_type[a] == RES_NONE ? 0 : res_list_get(&sh->request, s->amount_type[a]);
	f->ask[AMOUNT_PODS] = 1;
	for (uint32_t r = 0; r < KAI_RES; r++)
		f->share[r] = session_shared(s, r, f->ask[r]);
	f->is_tiny = f->ask[KAI_CPU] < 10 && f->ask[KAI_MEMORY] < (10 << 20) && f->ask[KAI_GPU] == 0 && !sh->has_claims;
	s->is_mirrored |= sh->n_ports > 0 || sh->affinity.n > 0 || sh->anti_affinity.n > 0 ||
			  (sh->n_spreads > 0 && !profile_get(s->en->config->profile)->ignores_spread) ||
			  pod_has_volumes(s->ledger, pod);
	return s->n_signatures++;
}

/* ---- members ---- */

static enum member_status status_of(const struct session *s, const struct pod *p)
{
	switch ((enum pod_state)p->state) {
	case POD_PLACED:
		return IS_RUNNING;
	case POD_LEAVING:
		return IS_LEAVING;
	case POD_FINISHED:
		return p->obj->phase == PHASE_SUCCEEDED ? IS_DONE : IS_FAILED;
	default:
		return shape_get(ledger_vocab(s->ledger), p->shape)->n_gates > 0 ? IS_GATED : IS_PENDING;
	}
}

struct member_order {
	const struct session *s;
	name_id task_priority;
};

/* Numbers before what is none; the larger first. */
static bool task_priority(const struct member_order *o, const struct pod *p, int64_t *ret)
{
	name_id value;
	char *end;
	const char *text;

	if (o->task_priority == NAME_NONE ||
	    !labels_get(&labelset_get(ledger_vocab(o->s->ledger), p->labelset)->labels, o->task_priority, &value))
		return false;
	text = name_str(o->s->names, value);
	*ret = strtol(text, &end, 10);
	if (end == text || *end != '\0')
		*ret = INT64_MIN;
	return true;
}

/*
 * Of a workload that keeps its core those that run longest come first: who is core stays core (PP-8). 0: no difference.
 */
static int by_core(const struct session *s, const struct member *x, const struct member *y)
{
	bool runs_x = is_in(x->status, SET_USED), runs_y = is_in(y->status, SET_USED);

	if (!s->workloads[x->workload].is_semi || (!runs_x && !runs_y))
		return 0;
	if (runs_x != runs_y)
		return runs_x ? -1 : 1;
	return pod_seniority(s->names, ledger_pod(s->ledger, x->pod), ledger_pod(s->ledger, y->pod));
}

static int by_workload_and_podset(const void *a, const void *b, void *ctx)
{
	const struct member_order *o = ctx;
	const struct member *x = a, *y = b;
	const struct pod *p = ledger_pod(o->s->ledger, x->pod), *q = ledger_pod(o->s->ledger, y->pod);
	int64_t px = 0, py = 0;
	bool has_x, has_y;
	int d;

	if (x->workload != y->workload)
		return x->workload < y->workload ? -1 : 1;
	if (x->podset != y->podset)
		return x->podset < y->podset ? -1 : 1;
	d = by_core(o->s, x, y);
	if (d != 0)
		return d;
	has_x = task_priority(o, p, &px);
	has_y = task_priority(o, q, &py);
	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (px != py)
		return px > py ? -1 : 1;
	if (created_or_late(p->created_ns) != created_or_late(q->created_ns))
		return created_or_late(p->created_ns) < created_or_late(q->created_ns) ? -1 : 1;
	d = uid_cmp(o->s->names, p->obj->uid, q->obj->uid);
	return d != 0 ? d : name_cmp(o->s->names, p->name, q->name);
}

/* Where it is, or was nominated to. */
static void find_node(const struct session *s, const struct pod *p, struct member *m)
{
	const uint32_t *index = s->build->node_index;

	if (is_in(m->status, SET_USED))
		m->node = index[p->node];
	else if (p->nomination != NOMINATION_NONE && s->is_for_moves) {
		m->status = IS_NOMINATED;
		m->node = index[p->node];
	} else if (p->nomination != NOMINATION_NONE)
		m->hint = index[p->node];
}

static struct member read_member(struct session *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	uint32_t workload = s->build->of_pod[pod];
	const struct workload *u = &s->workloads[workload];
	struct member m = {.pod = pod,
			   .workload = workload,
			   .podset = u->first_podset,
			   .signature = signature_for(s, pod),
			   .node = NONE,
			   .copies = NONE,
			   .evicted_by = NONE,
			   .hint = NONE,
			   .status = (uint8_t)status_of(s, p)};

	if (u->group != GROUP_NONE && p->podset != PODSET_NONE)
		m.podset += p->podset - ledger_group(s->ledger, u->group)->first_podset;
	find_node(s, p, &m);
	m.was_running = m.status == IS_RUNNING;
	m.read_status = m.status;
	return m;
}

static void copy_to_node(struct session *s, struct member *m)
{
	if (m->node != NONE && is_in(m->status, SET_USED))
		session_push_copy(s, m, m->node);
}

static bool are_by_workload(const struct session *s)
{
	for (uint32_t i = 1; i < s->n_members; i++)
		if (s->members[i - 1].workload > s->members[i].workload)
			return false;
	return true;
}

static void put_by_workload(struct session *s)
{
	struct member *sorted = arena_n(s->build->arena, s->n_members + 1, struct member);
	uint32_t *at = arena_n(s->arena, s->n_workloads + 1, uint32_t);

	for (uint32_t i = 0, n = 0; i < s->n_workloads; i++) {
		at[i] = n;
		n += s->workloads[i].n_members;
	}
	for (uint32_t i = 0; i < s->n_members; i++)
		sorted[at[s->members[i].workload]++] = s->members[i];
	s->members = sorted;
}

static void sort_workload(struct session *s, uint32_t first, uint32_t n)
{
	struct member_order o = {s, s->build->task_priority};

	if (n > 1)
		qsort_r(s->members + first, n, sizeof(*s->members), by_workload_and_podset, &o);
}

/* Members are sorted only within workloads of several: the others are in order already. */
static void sort_members(struct session *s)
{
	if (!are_by_workload(s))
		put_by_workload(s);
	for (uint32_t i = 0, first = 0; i < s->n_workloads; first += s->workloads[i++].n_members)
		sort_workload(s, first, s->workloads[i].n_members);
	for (uint32_t i = 0; i < s->n_members; i++)
		s->podsets[s->members[i].podset].n++;
	for (uint32_t i = 0, n = 0; i < s->n_podsets; i++) {
		s->podsets[i].first = n;
		n += s->podsets[i].n;
	}
}

void session_take_members(struct session *s)
{
	uint32_t pods = ledger_pod_limit(s->ledger), shapes = 0, with_volumes = 0;
	struct session_build *b = s->build;

	for (pod_id p = 0; p < pods; p++) {
		if (b->of_pod[p] == NONE)
			continue;
		if (ledger_pod(s->ledger, p)->shape >= shapes)
			shapes = ledger_pod(s->ledger, p)->shape + 1;
		with_volumes += pod_has_volumes(s->ledger, p);
	}
	s->members = arena_n(b->arena, pods + 1, struct member);
	s->copy_row = arena_n(b->arena, pods + 1, uint32_t);
	s->signatures = arena_n(b->arena, shapes + with_volumes + 1, struct signature);
	b->signature_of = arena_n(b->arena, shapes + 1, uint32_t);
	memset(b->signature_of, 0xff, (shapes + 1) * sizeof(*b->signature_of));
	for (pod_id p = 0; p < pods; p++)
		if (b->of_pod[p] != NONE)
			s->members[s->n_members++] = read_member(s, p);
	sort_members(s);
	for (uint32_t i = 0; i < s->n_members; i++)
		copy_to_node(s, &s->members[i]);
}

/* The first members up to the minimum, those that run before those that wait. */
static void mark_core(struct session *s, struct session_podset *p, bool is_semi)
{
	int32_t left = p->min;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = p->first; i < p->first + p->n; i++) {
			struct member *m = &s->members[i];

			if (is_semi &&
			    (is_in(m->status, SET_ACTIVE) ? pass != 0 : pass != 1 || m->status != IS_PENDING))
				continue;
			if (is_semi && left-- <= 0)
				continue;
			m->is_core = true;
		}
}

static void mark_workload(struct session *s, const struct workload *u)
{
	for (uint32_t k = 0; k < u->n_podsets && (!u->is_preemptible || u->is_semi); k++)
		mark_core(s, &s->podsets[u->first_podset + k], u->is_semi);
}

/* In its queue, as it was when it was read; sign -1: no longer. Sums of whole units are exact. */
static void count_in_queue(struct session *s, const struct member *m, double sign)
{
	const double *share = s->signatures[m->signature].share;
	uint32_t q = s->workloads[m->workload].queue;
	bool counts = is_in(m->read_status, SET_ACTIVE);

	if ((!counts && m->read_status != IS_PENDING) || q == NONE)
		return;
	for (uint32_t r = 0; r < KAI_RES; r++) {
		struct share *to = &s->build->counted[q].r[r];

		to->request += sign * share[r];
		to->allocated += counts ? sign * share[r] : 0;
		to->allocated_core += counts && m->is_core ? sign * share[r] : 0;
	}
}

static void count_member(struct session *s, const struct member *m)
{
	const double *share = s->signatures[m->signature].share;
	struct workload *u = &s->workloads[m->workload];

	u->count[m->status]++;
	s->podsets[m->podset].count[m->status]++;
	for (uint32_t r = 0; is_in(m->status, SET_ALLOCATED) && r < KAI_RES; r++)
		u->allocated[r] += share[r];
	count_in_queue(s, m, 1);
}

void session_count_members(struct session *s)
{
	for (uint32_t i = 0; i < s->n_workloads; i++)
		mark_workload(s, &s->workloads[i]);
	for (uint32_t i = 0; i < s->n_members; i++)
		count_member(s, &s->members[i]);
}

/* ---- what moved ---- */

static void drop_copies(struct session *s, struct member *m)
{
	while (m->copies != NONE) {
		uint32_t c = m->copies;

		m->copies = s->copies.v[c].next;
		s->copies.v[c].next = s->free_copy;
		s->free_copy = c;
	}
}

/* What else it says is as it was: moves change nothing of a group. */
static void begin_workload(struct session *s, struct workload *u)
{
	const struct workload was = *u;

	*u = (struct workload){.rank = was.rank, .first_podset = was.first_podset, .n_members = was.n_members};
	if (was.group == GROUP_NONE)
		read_pod(s, u, was.pod);
	else
		read_group(s, u, was.group);
	for (uint32_t k = u->first_podset; k < u->first_podset + u->n_podsets; k++)
		memset(s->podsets[k].count, 0, sizeof(s->podsets[k].count));
}

void session_read_again(struct session *s, uint32_t workload)
{
	struct workload *u = &s->workloads[workload];
	uint32_t first = s->podsets[u->first_podset].first, n = u->n_members;

	for (uint32_t i = first; i < first + n; i++)
		count_in_queue(s, &s->members[i], -1);
	for (uint32_t i = first; i < first + n; i++)
		drop_copies(s, &s->members[i]);
	begin_workload(s, u);
	if (u->group == GROUP_NONE)
		s->podsets[u->first_podset].n = u->n_members;
	if (u->n_members < n) /* its only one is gone */
		s->members[first] = (struct member){.pod = u->pod,
						    .workload = workload,
						    .podset = u->first_podset,
						    .signature = s->members[first].signature,
						    .node = NONE,
						    .copies = NONE,
						    .evicted_by = NONE,
						    .hint = NONE,
						    .status = IS_DONE,
						    .read_status = IS_DONE};
	for (uint32_t i = first; i < first + u->n_members; i++)
		s->members[i] = read_member(s, s->members[i].pod);
	sort_workload(s, first, u->n_members);
	mark_workload(s, u);
	for (uint32_t i = first; i < first + u->n_members; i++) {
		copy_to_node(s, &s->members[i]);
		count_member(s, &s->members[i]);
	}
}

void session_find_examples(struct session *s)
{
	for (uint32_t i = 0; i < s->n_signatures; i++)
		s->signatures[i].example = POD_NONE;
	for (uint32_t i = 0; i < s->n_members; i++) {
		const struct member *m = &s->members[i];
		struct signature *f = &s->signatures[m->signature];

		if (m->pod < f->example && ledger_pod(s->ledger, m->pod)->state != POD_FREE)
			f->example = m->pod;
	}
}
