/* SPDX-License-Identifier: Apache-2.0 */
/* A session is made from the ledger: nodes, queues with their shares, workloads with their members. */
#include "engine/session.h"
#include "engine/volumes.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

/* ---- amounts ---- */

static void find_amounts(struct session *s)
{
	const struct res_types *types = vocab_res(ledger_vocab(s->ledger));
	static const char gpu[] = "nvidia.com/gpu";

	s->gpu = res_types_find(types, gpu, sizeof(gpu) - 1);
	s->amount_type[KAI_GPU] = s->gpu;
	s->amount_type[KAI_CPU] = RES_CPU;
	s->amount_type[KAI_MEMORY] = RES_MEMORY;
	s->amount_type[AMOUNT_PODS] = RES_PODS;
	s->n_amounts = AMOUNTS_FIXED;
	for (res_id r = 0; r < types->n; r++)
		if (r != s->gpu && r != RES_CPU && r != RES_MEMORY && r != RES_PODS && s->n_amounts < RES_MAX)
			s->amount_type[s->n_amounts++] = r;
}

static int64_t in_row(const struct session *s, const int64_t *row, uint32_t amount)
{
	res_id r = s->amount_type[amount];

	return r != RES_NONE && r < ledger_stride(s->ledger) ? row[r] : 0;
}

/* ---- what is shared ---- */

/*
 * Shares are doubles, as KAI's are, and sums of doubles depend on their order once they pass 2^53. So that no order is
 * visible, amounts beyond that are cut to multiples of a unit of which no sum here has 2^53.
 */
static int64_t unit_for(unsigned __int128 sum)
{
	int64_t unit = 1;

	for (sum >>= 52; sum > 0; sum >>= 1)
		unit *= 2;
	return unit;
}

static unsigned __int128 at_most(const struct res_vec *v, res_id r)
{
	return res_has(v, r) && v->v[r] > 0 && v->v[r] != RES_UNLIMITED ? (unsigned __int128)v->v[r] : 0;
}

/* By shape. */
static uint32_t *count_pods(const struct ledger *l)
{
	uint32_t *n = mem_alloc((shape_limit(ledger_vocab(l)) + 1) * sizeof(*n));

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state != POD_FREE)
			n[ledger_pod(l, i)->shape]++;
	return n;
}

/* Everything that could ever be added up: all nodes, all that pods ask for and take, all that queues were told. */
static unsigned __int128 sum_of_all(const struct ledger *l, const uint32_t *n_pods, res_id r)
{
	const struct queue_tree *t = ledger_queues(l);
	const struct vocab *v = ledger_vocab(l);
	unsigned __int128 sum = 0;

	for (node_id i = 0; i < ledger_node_limit(l) && r < ledger_stride(l); i++)
		sum += (unsigned __int128)ledger_node_allocatable(l, i)[r];
	for (shape_id i = 0; i < shape_limit(v); i++)
		if (n_pods[i])
			sum += n_pods[i] * ((unsigned __int128)res_list_get(&shape_get(v, i)->request, r) +
					    (unsigned __int128)res_list_get(&shape_get(v, i)->usage, r));
	for (queue_id q = 0; q < t->q.n; q++)
		if (queue_get(t, q)->is_live)
			sum += at_most(&queue_get(t, q)->spec.guaranteed, r) + at_most(&queue_get(t, q)->spec.max, r);
	return sum;
}

static void find_share_units(struct session *s)
{
	uint32_t *n_pods = count_pods(s->ledger);

	for (enum kai_res k = 0; k < KAI_RES; k++)
		s->share_unit[k] =
			s->amount_type[k] == RES_NONE ? 1 : unit_for(sum_of_all(s->ledger, n_pods, s->amount_type[k]));
	mem_free(n_pods);
}

/* What a KAI Queue says of shares is not its guarantee and maximum; but units are of all that can be added up. */
bool session_minds_amounts(const struct ledger *l, queue_id q, res_id r, int64_t more)
{
	uint32_t *n_pods;
	unsigned __int128 sum;

	if (!(queue_get(ledger_queues(l), q)->spec.sources & FROM_KAI) || more < 0)
		return true;
	n_pods = count_pods(l);
	sum = sum_of_all(l, n_pods, r);
	mem_free(n_pods);
	return unit_for(sum) != unit_for(sum + (unsigned __int128)more);
}

static double shared(const struct session *s, enum kai_res r, int64_t amount)
{
	return (double)(amount - amount % s->share_unit[r]);
}

/* ---- nodes ---- */

static void take_node(struct session *s, uint32_t i, node_id id)
{
	const struct obj_node *o = ledger_node(s->ledger, id)->obj;
	const int64_t *all = ledger_node_allocatable(s->ledger, id), *used = ledger_node_used(s->ledger, id),
		      *leaving = ledger_node_leaving(s->ledger, id), *reserved = ledger_node_reserved(s->ledger, id);

	s->nodes[i] = (struct session_node){.id = id, .is_usable = !o->is_unschedulable && !o->is_not_ready};
	for (uint32_t a = 0; a < s->n_amounts; a++) {
		s->capacity[i * s->n_amounts + a] = in_row(s, all, a);
		s->idle[i * s->n_amounts + a] = in_row(s, all, a) - in_row(s, used, a);
		s->soon[i * s->n_amounts + a] = in_row(s, leaving, a) - (s->is_for_moves ? in_row(s, reserved, a) : 0);
	}
	s->nodes[i].has_gpu = s->capacity[i * s->n_amounts + KAI_GPU] != 0;
	for (uint32_t r = 0; s->nodes[i].is_usable && r < KAI_RES; r++)
		s->total[r] += shared(s, r, s->capacity[i * s->n_amounts + r]);
}

/* Its node is not there, so it takes nobody's room and cannot be moved. */
static bool is_on_lost_node(const struct session *s, const struct pod *p)
{
	return (p->state == POD_PLACED || p->state == POD_LEAVING) && !ledger_node(s->ledger, p->node)->is_live;
}

/* Where each node of the ledger stands among the session's. */
static uint32_t *take_nodes(struct session *s)
{
	uint32_t *index = arena_n(s->arena, ledger_node_limit(s->ledger) + 1, uint32_t);
	const node_id *ids = framework_nodes(s->en->frameworks[0], &s->n_nodes);
	size_t n = (size_t)s->n_nodes * s->n_amounts + 1;

	s->nodes = arena_n(s->arena, s->n_nodes + 1, struct session_node);
	s->capacity = arena_n(s->arena, n, int64_t);
	s->idle = arena_n(s->arena, n, int64_t);
	s->soon = arena_n(s->arena, n, int64_t);
	for (uint32_t i = 0; i < ledger_node_limit(s->ledger); i++)
		index[i] = NONE;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		index[ids[i]] = i;
		take_node(s, i, ids[i]);
	}
	return index;
}

/* ---- queues ---- */

struct queue_ranks {
	const struct queue_tree *tree;
	const struct names *names;
};

static int by_age(const void *a, const void *b, void *ctx)
{
	const struct queue_ranks *r = ctx;
	const struct queue *x = queue_get(r->tree, *(const queue_id *)a), *y = queue_get(r->tree, *(const queue_id *)b);
	int64_t made_x = created_or_late(x->spec.created_ns), made_y = created_or_late(y->spec.created_ns);

	if (made_x != made_y)
		return made_x < made_y ? -1 : 1;
	return name_cmp(r->names, x->path, y->path);
}

static int by_depth(const void *a, const void *b, void *ctx)
{
	const struct queue_tree *t = ctx;
	queue_id x = *(const queue_id *)a, y = *(const queue_id *)b;
	uint32_t dx = queue_get(t, x)->depth, dy = queue_get(t, y)->depth;

	return dx != dy ? (dx < dy ? -1 : 1) : name_cmp(t->names, queue_get(t, x)->path, queue_get(t, y)->path);
}

static double kai_scale(enum kai_res r)
{
	return r == KAI_MEMORY ? 1e6 : 1;
}

static double kai_amount(const struct session *s, double v, enum kai_res r)
{
	double scaled = v * kai_scale(r), unit = (double)s->share_unit[r];

	if (scaled < 0)
		return r == KAI_MEMORY && scaled < SHARE_UNLIMITED ? SHARE_UNLIMITED : scaled;
	return unit > 1 ? floor(scaled / unit) * unit : scaled;
}

/* A queue that no KAI Queue object made: its guarantee is its quota, its maximum its limit. */
static struct share share_elsewhere(const struct session *s, const struct queue_spec *spec, enum kai_res r)
{
	res_id type = s->amount_type[r];
	struct share ret = {.limit = SHARE_UNLIMITED, .weight = 1};

	if (type == RES_NONE)
		return ret;
	if (res_has(&spec->guaranteed, type))
		ret.deserved = spec->guaranteed.v[type] == RES_UNLIMITED ? SHARE_UNLIMITED
									 : shared(s, r, spec->guaranteed.v[type]);
	if (res_has(&spec->max, type))
		ret.limit = shared(s, r, spec->max.v[type]);
	return ret;
}

static struct share share_of(const struct session *s, const struct queue_spec *spec, enum kai_res r)
{
	const struct kai_share *k = &spec->kai[r];

	if (!(spec->sources & FROM_KAI))
		return share_elsewhere(s, spec, r);
	if (!spec->has_kai_resources)
		return (struct share){0};
	return (struct share){.deserved = kai_amount(s, k->quota, r),
			      .limit = kai_amount(s, k->limit, r),
			      .weight = k->over_quota_weight};
}

/* Children of one parent in the opposite order. */
static void link_queue(struct session *s, uint32_t i, uint32_t parent)
{
	uint32_t *first = parent == SHARE_NO_QUEUE ? &s->first_queue : &s->queues[parent].first_child;

	s->shares[i].parent = parent;
	s->queues[i].next = *first;
	*first = i;
}

static uint32_t *take_queues(struct session *s)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	uint32_t *index = arena_n(s->arena, t->q.n + 1, uint32_t);
	queue_id *ids = arena_n(s->arena, t->q.n + 1, queue_id);
	struct queue_ranks ranks = {t, s->names};

	for (queue_id q = 0; q < t->q.n; q++) {
		index[q] = NONE;
		if (q != QUEUE_ROOT && queue_get(t, q)->is_live)
			ids[s->n_queues++] = q;
	}
	s->queues = arena_n(s->arena, s->n_queues + 1, struct session_queue);
	s->shares = arena_n(s->arena, s->n_queues + 1, struct share_queue);
	s->settled = arena_n(s->arena, s->n_queues + 1, struct share_queue);
	qsort_r(ids, s->n_queues, sizeof(*ids), by_depth, (void *)t);
	for (uint32_t i = 0; i < s->n_queues; i++) {
		const struct queue *q = queue_get(t, ids[i]);

		index[ids[i]] = i;
		s->queues[i] =
			(struct session_queue){.id = ids[i], .is_leaf = queue_is_leaf(t, ids[i]), .first_child = NONE};
		link_queue(s, i, q->parent == QUEUE_ROOT ? SHARE_NO_QUEUE : index[q->parent]);
		s->shares[i].priority = q->spec.kai_priority;
		for (enum kai_res r = 0; r < KAI_RES; r++)
			s->shares[i].r[r] = share_of(s, &q->spec, r);
	}
	qsort_r(ids, s->n_queues, sizeof(*ids), by_age, &ranks);
	for (uint32_t i = 0; i < s->n_queues; i++)
		s->shares[index[ids[i]]].rank = i;
	return index;
}

/* ---- workloads ---- */

struct session_build {		     /* while workloads are being made */
	uint32_t *of_group, *of_pod; /* workload; NONE */
	uint32_t *node_index, *queue_index, *signature_of;
	name_id task_priority;
};

/* A further one, of which all is nothing but this. */
static struct workload *new_workload(struct session *s, const struct session_build *c, queue_id queue)
{
	struct workload *u = &s->workloads[s->n_workloads++];

	u->queue = queue == QUEUE_NONE ? NONE : c->queue_index[queue];
	if (u->queue != NONE && !s->queues[u->queue].is_leaf)
		u->queue = NONE;
	return u;
}

static void group_workload(struct session *s, const struct session_build *c, group_id g)
{
	const struct group *x = ledger_group(s->ledger, g);
	struct workload *u = new_workload(s, c, x->queue);

	u->group = g;
	u->pod = POD_NONE;
	u->priority = x->priority;
	u->is_preemptible = x->preemptibility == PREEMPTIBLE || x->preemptibility == SEMI_PREEMPTIBLE;
	u->is_semi = x->preemptibility == SEMI_PREEMPTIBLE;
	u->stale_ns = x->obj->stale_ns;
	u->n_podsets = x->n_podsets;
}

static void pod_workload(struct session *s, const struct session_build *c, pod_id p)
{
	const struct pod *x = ledger_pod(s->ledger, p);
	struct workload *u = new_workload(s, c, x->queue);

	u->group = GROUP_NONE;
	u->pod = p;
	u->priority = x->priority;
	u->is_preemptible = x->preemptibility != NON_PREEMPTIBLE;
	u->stale_ns = TIME_NONE;
	u->n_podsets = 1;
}

static void count_workloads(struct session *s, struct session_build *c)
{
	uint32_t groups = ledger_group_limit(s->ledger), pods = ledger_pod_limit(s->ledger);

	c->of_group = arena_n(s->arena, groups + 1, uint32_t);
	c->of_pod = arena_n(s->arena, pods + 1, uint32_t);
	s->workloads = arena_n(s->arena, groups + pods + 1, struct workload);
	s->searched = arena_n(s->arena, groups + pods + 1, struct workload_search);
	s->fates = arena_n(s->arena, groups + pods + 1, struct workload_fate);
	for (group_id g = 0; g < groups; g++) {
		c->of_group[g] = s->n_workloads;
		if (ledger_group(s->ledger, g)->is_live)
			group_workload(s, c, g);
	}
	for (pod_id p = 0; p < pods; p++) {
		const struct pod *x = ledger_pod(s->ledger, p);

		c->of_pod[p] = NONE;
		if (x->state == POD_FREE || !engine_is_ours(s->en, x) || is_on_lost_node(s, x))
			continue;
		c->of_pod[p] = x->group != GROUP_NONE ? c->of_group[x->group] : s->n_workloads;
		if (x->group == GROUP_NONE)
			pod_workload(s, c, p);
		s->workloads[c->of_pod[p]].n_members++;
	}
}

/* ---- signatures ---- */

static uint32_t signature_for(struct session *s, struct session_build *c, pod_id pod)
{
	const struct vocab *v = ledger_vocab(s->ledger);
	shape_id shape = ledger_pod(s->ledger, pod)->shape;
	const struct shape *sh = shape_get(v, shape);
	struct signature *f;

	if (c->signature_of[shape] != NONE && !pod_has_volumes(s->ledger, pod))
		return c->signature_of[shape];
	if (!pod_has_volumes(s->ledger, pod))
		c->signature_of[shape] = s->n_signatures;
	f = &s->signatures[s->n_signatures];
	*f = (struct signature){.shape = shape, .example = pod, .ask = arena_n(s->arena, s->n_amounts, int64_t)};
	for (uint32_t a = 0; a < s->n_amounts; a++)
		f->ask[a] = s->amount_type[a] == RES_NONE ? 0 : res_list_get(&sh->request, s->amount_type[a]);
	f->ask[AMOUNT_PODS] = 1;
	for (uint32_t r = 0; r < KAI_RES; r++)
		f->share[r] = shared(s, r, f->ask[r]);
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

static void take_member(struct session *s, struct session_build *c, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	uint32_t workload = c->of_pod[pod];
	const struct workload *u = &s->workloads[workload];
	uint32_t podset = u->first_podset;
	struct member *m = &s->members[s->n_members++];

	if (u->group != GROUP_NONE && p->podset != PODSET_NONE)
		podset += p->podset - ledger_group(s->ledger, u->group)->first_podset;
	*m = (struct member){.pod = pod,
			     .workload = workload,
			     .podset = podset,
			     .signature = signature_for(s, c, pod),
			     .node = NONE,
			     .copies = NONE,
			     .evicted_by = NONE,
			     .hint = NONE,
			     .status = (uint8_t)status_of(s, p)};
	if (is_in(m->status, SET_USED))
		m->node = c->node_index[p->node];
	else if (p->nomination != NOMINATION_NONE && s->is_for_moves) {
		m->status = IS_NOMINATED;
		m->node = c->node_index[p->node];
	} else if (p->nomination != NOMINATION_NONE)
		m->hint = c->node_index[p->node];
	m->was_running = m->status == IS_RUNNING;
}

static void copy_to_node(struct session *s, struct member *m)
{
	if (m->node == NONE || !is_in(m->status, SET_USED))
		return;
	m->copies = s->copies.n;
	array_push(&s->copies, ((struct copy){.node = m->node, .next = NONE, .status = m->status}));
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
	struct member *sorted = arena_n(s->arena, s->n_members + 1, struct member);
	uint32_t *at = arena_n(s->arena, s->n_workloads + 1, uint32_t);

	for (uint32_t i = 0, n = 0; i < s->n_workloads; i++) {
		at[i] = n;
		n += s->workloads[i].n_members;
	}
	for (uint32_t i = 0; i < s->n_members; i++)
		sorted[at[s->members[i].workload]++] = s->members[i];
	s->members = sorted;
}

/* Members are sorted only within workloads of several: the others are in order already. */
static void sort_members(struct session *s, const struct session_build *c)
{
	struct member_order o = {s, c->task_priority};

	if (!are_by_workload(s))
		put_by_workload(s);
	for (uint32_t i = 0, first = 0; i < s->n_workloads; first += s->workloads[i++].n_members)
		if (s->workloads[i].n_members > 1)
			qsort_r(s->members + first, s->workloads[i].n_members, sizeof(*s->members),
				by_workload_and_podset, &o);
	for (uint32_t i = 0; i < s->n_members; i++)
		s->podsets[s->members[i].podset].n++;
	for (uint32_t i = 0, n = 0; i < s->n_podsets; i++) {
		s->podsets[i].first = n;
		n += s->podsets[i].n;
	}
}

static void take_members(struct session *s, struct session_build *c)
{
	uint32_t pods = ledger_pod_limit(s->ledger), shapes = 0, with_volumes = 0;

	for (pod_id p = 0; p < pods; p++) {
		if (c->of_pod[p] == NONE)
			continue;
		if (ledger_pod(s->ledger, p)->shape >= shapes)
			shapes = ledger_pod(s->ledger, p)->shape + 1;
		with_volumes += pod_has_volumes(s->ledger, p);
	}
	s->members = arena_n(s->arena, pods + 1, struct member);
	s->copy_row = arena_n(s->arena, pods + 1, uint32_t);
	s->signatures = arena_n(s->arena, shapes + with_volumes + 1, struct signature);
	c->signature_of = arena_n(s->arena, shapes + 1, uint32_t);
	memset(c->signature_of, 0xff, (shapes + 1) * sizeof(*c->signature_of));
	for (pod_id p = 0; p < pods; p++)
		if (c->of_pod[p] != NONE)
			take_member(s, c, p);
	sort_members(s, c);
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

static void add_to_parent(struct session *s, uint32_t q)
{
	uint32_t parent = s->shares[q].parent;

	for (uint32_t r = 0; parent != NONE && r < KAI_RES; r++) {
		s->shares[parent].r[r].request += s->shares[q].r[r].request;
		s->shares[parent].r[r].allocated += s->shares[q].r[r].allocated;
		s->shares[parent].r[r].allocated_core += s->shares[q].r[r].allocated_core;
	}
}

static void count_members(struct session *s)
{
	for (uint32_t i = 0; i < s->n_workloads; i++) {
		struct workload *u = &s->workloads[i];

		for (uint32_t k = 0; k < u->n_podsets && (!u->is_preemptible || u->is_semi); k++)
			mark_core(s, &s->podsets[u->first_podset + k], u->is_semi);
	}
	for (uint32_t i = 0; i < s->n_members; i++) {
		const struct member *m = &s->members[i];
		const double *share = s->signatures[m->signature].share;
		struct workload *u = &s->workloads[m->workload];
		bool is_running = is_in(m->status, SET_ALLOCATED);
		bool counts = is_running || m->status == IS_NOMINATED;

		u->count[m->status]++;
		s->podsets[m->podset].count[m->status]++;
		for (uint32_t r = 0; is_running && r < KAI_RES; r++)
			u->allocated[r] += share[r];
		if ((!counts && m->status != IS_PENDING) || u->queue == NONE)
			continue;
		for (uint32_t r = 0; r < KAI_RES; r++) {
			s->shares[u->queue].r[r].request += share[r];
			s->shares[u->queue].r[r].allocated += counts ? share[r] : 0;
			s->shares[u->queue].r[r].allocated_core += counts && m->is_core ? share[r] : 0;
		}
	}
	for (uint32_t q = s->n_queues; q-- > 0;) /* parents come first; and sums of whole units are exact */
		add_to_parent(s, q);
}

/* ---- all of it ---- */

/* Room that other schedulers' pods use is nobody's to share; and whom they do not bear stays away. */
static void subtract_foreign(struct session *s, const struct session_build *c)
{
	for (pod_id i = 0; i < ledger_pod_limit(s->ledger) && s->en->config->n_scheduler_names > 0; i++) {
		const struct pod *p = ledger_pod(s->ledger, i);
		const struct shape *sh;

		if (c->of_pod[i] != NONE || (p->state != POD_PLACED && p->state != POD_LEAVING) ||
		    is_on_lost_node(s, p))
			continue;
		sh = shape_get(ledger_vocab(s->ledger), p->shape);
		s->is_mirrored |= sh->anti_affinity.n > 0; /* it minds ours, by their labels */
		for (uint32_t r = 0; r < KAI_RES; r++)
			s->total[r] -= s->amount_type[r] == RES_NONE
					       ? 0
					       : shared(s, r, res_list_get(&sh->usage, s->amount_type[r]));
	}
}

static void divide_shares(struct session *s)
{
	share_divide(s->shares, s->n_queues, s->total, 1);
	memcpy(s->settled, s->shares, s->n_queues * sizeof(*s->shares));
	for (uint32_t i = 0; i < s->n_queues; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			s->queues[i].may[r] = share_allocatable(&s->shares[i].r[r]);
}

enum { SESSION_BLOCK_MIN = 1 << 14, SESSION_BLOCK_MAX = 1 << 20 };

/* About what a session takes, so that one of a small cluster does not clear what only a large one needs. */
static size_t block_size(const struct ledger *l, bool is_kept)
{
	size_t n = 640 * ((size_t)ledger_pod_limit(l) + ledger_node_limit(l)); /* what is not used is never touched */

	return n < SESSION_BLOCK_MIN ? SESSION_BLOCK_MIN : n > SESSION_BLOCK_MAX && !is_kept ? SESSION_BLOCK_MAX : n;
}

/* Where every cycle is a session they use the same memory one after the other: the system gives it once. */
static struct arena *arena_for(struct engine *en)
{
	bool is_kept = profile_get(en->config->profile)->search_mode == MODE_SCENARIOS;
	struct arena *a = en->session_arena ? en->session_arena : arena_new(block_size(en->ledger, is_kept));

	en->session_arena = NULL;
	return a;
}

static void arena_back(struct engine *en, struct arena *a)
{
	if (en->session_arena || profile_get(en->config->profile)->search_mode != MODE_SCENARIOS) {
		arena_free(a);
		return;
	}
	arena_reset(a);
	en->session_arena = a;
}

struct session *session_new(struct engine *en, int64_t now_ns, bool is_for_moves)
{
	static const char task_priority_key[] = "kai.scheduler/task-priority";
	struct arena *a = arena_for(en);
	struct session *s = arena_type(a, struct session);
	struct session_build c = {0};

	s->en = en;
	s->ledger = en->ledger;
	s->names = vocab_names(ledger_vocab(en->ledger));
	s->settings = &en->config->kai;
	s->arena = a;
	s->now_ns = now_ns;
	s->is_for_moves = is_for_moves;
	s->free_copy = s->first_queue = NONE;
	s->stamp = s->room_stamp = 1;
	c.task_priority = names_find(s->names, task_priority_key, sizeof(task_priority_key) - 1);
	find_amounts(s);
	find_share_units(s);
	c.node_index = take_nodes(s);
	c.queue_index = take_queues(s);
	count_workloads(s, &c);
	session_make_podsets(s);
	take_members(s, &c);
	session_rank_workloads(s);
	count_members(s);
	subtract_foreign(s, &c);
	divide_shares(s);
	session_list_workloads(s);
	session_find_kinds(s);
	return s;
}

void session_free(struct session *s)
{
	for (uint32_t i = 0; i < s->n_queues; i++) {
		array_free(&s->queues[i].pending);
		array_free(&s->queues[i].kinds);
		array_free(&s->queues[i].victims);
	}
	for (uint32_t i = 0; i < s->n_signatures; i++) {
		bits_free(&s->signatures[i].allowed);
		bits_free(&s->signatures[i].fits);
	}
	order_free(s);
	session_judge_end(s);
	share_scratch_free(&s->share_scratch);
	array_free(&s->copies);
	array_free(&s->copy_bits);
	array_free(&s->moves);
	array_free(&s->done);
	array_free(&s->transactions);
	array_free(&s->moved);
	array_free(&s->tasks);
	array_free(&s->changes);
	array_free(&s->kinds);
	array_free(&s->request_kinds);
	arena_back(s->en, s->arena);
}
