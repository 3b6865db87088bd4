/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is made from the ledger: nodes, queues with their shares; workloads and members are in session_members.c.
 */
#include "engine/session_build.h"

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
	s->build->n_types = types->n;
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

/* All that pods ask for and take. */
static unsigned __int128 sum_of_pods(const struct ledger *l, const uint32_t *n_pods, res_id r)
{
	const struct vocab *v = ledger_vocab(l);
	unsigned __int128 sum = 0;

	for (shape_id i = 0; i < shape_limit(v); i++)
		if (n_pods[i])
			sum += n_pods[i] * ((unsigned __int128)res_list_get(&shape_get(v, i)->request, r) +
					    (unsigned __int128)res_list_get(&shape_get(v, i)->usage, r));
	return sum;
}

/* What else could ever be added up: all nodes, all that queues were told. */
static unsigned __int128 sum_of_rest(const struct ledger *l, res_id r)
{
	const struct queue_tree *t = ledger_queues(l);
	unsigned __int128 sum = 0;

	for (node_id i = 0; i < ledger_node_limit(l) && r < ledger_stride(l); i++)
		sum += (unsigned __int128)ledger_node_allocatable(l, i)[r];
	for (queue_id q = 0; q < t->q.n; q++)
		if (queue_get(t, q)->is_live)
			sum += at_most(&queue_get(t, q)->spec.guaranteed, r) + at_most(&queue_get(t, q)->spec.max, r);
	return sum;
}

static void find_share_units(struct session *s)
{
	uint32_t *n_pods = count_pods(s->ledger);

	for (enum kai_res k = 0; k < KAI_RES; k++) {
		res_id r = s->amount_type[k];

		s->build->asked[k] = r == RES_NONE ? 0 : sum_of_pods(s->ledger, n_pods, r);
		s->share_unit[k] = r == RES_NONE ? 1 : unit_for(s->build->asked[k] + sum_of_rest(s->ledger, r));
	}
	mem_free(n_pods);
}

/* Fewer pods ask for no more. */
bool session_units_stay(const struct session *s)
{
	for (enum kai_res k = 0; k < KAI_RES; k++) {
		res_id r = s->amount_type[k];

		if (s->share_unit[k] != 1 ||
		    (r != RES_NONE && unit_for(s->build->asked[k] + sum_of_rest(s->ledger, r)) != 1))
			return false;
	}
	return true;
}

/* What a KAI Queue says of shares is not its guarantee and maximum; but units are of all that can be added up. */
bool session_minds_amounts(const struct ledger *l, queue_id q, res_id r, int64_t more)
{
	uint32_t *n_pods;
	unsigned __int128 sum;

	if (!(queue_get(ledger_queues(l), q)->spec.sources & FROM_KAI) || more < 0)
		return true;
	n_pods = count_pods(l);
	sum = sum_of_pods(l, n_pods, r) + sum_of_rest(l, r);
	mem_free(n_pods);
	return unit_for(sum) != unit_for(sum + (unsigned __int128)more);
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
		s->total[r] += session_shared(s, r, s->capacity[i * s->n_amounts + r]);
}

void session_read_nodes(struct session *s)
{
	memset(s->total, 0, sizeof(s->total));
	for (uint32_t i = 0; i < s->n_nodes; i++)
		take_node(s, i, s->nodes[i].id);
	for (uint32_t r = 0; r < KAI_RES; r++)
		s->total[r] -= s->build->foreign[r];
}

static void take_nodes(struct session *s)
{
	struct arena *a = s->build->arena;
	uint32_t *index = arena_n(a, ledger_node_limit(s->ledger) + 1, uint32_t);
	const node_id *ids = framework_nodes(s->en->frameworks[0], &s->n_nodes);
	size_t n = (size_t)s->n_nodes * s->n_amounts + 1;

	s->nodes = arena_n(a, s->n_nodes + 1, struct session_node);
	s->capacity = arena_n(a, n, int64_t);
	s->idle = arena_n(a, n, int64_t);
	s->soon = arena_n(a, n, int64_t);
	for (uint32_t i = 0; i < ledger_node_limit(s->ledger); i++)
		index[i] = NONE;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		index[ids[i]] = i;
		s->nodes[i].id = ids[i];
	}
	s->build->node_index = index;
	session_read_nodes(s);
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
		ret.deserved = spec->guaranteed.v[type] == RES_UNLIMITED
				       ? SHARE_UNLIMITED
				       : session_shared(s, r, spec->guaranteed.v[type]);
	if (res_has(&spec->max, type))
		ret.limit = session_shared(s, r, spec->max.v[type]);
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

static void take_queues(struct session *s)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	struct arena *a = s->build->arena;
	uint32_t *index = arena_n(a, t->q.n + 1, uint32_t);
	queue_id *ids = arena_n(a, t->q.n + 1, queue_id);
	struct queue_ranks ranks = {t, s->names};

	for (queue_id q = 0; q < t->q.n; q++) {
		index[q] = NONE;
		if (q != QUEUE_ROOT && queue_get(t, q)->is_live)
			ids[s->n_queues++] = q;
	}
	s->queues = arena_n(a, s->n_queues + 1, struct session_queue);
	s->shares = arena_n(a, s->n_queues + 1, struct share_queue);
	s->settled = arena_n(a, s->n_queues + 1, struct share_queue);
	s->build->counted = arena_n(a, s->n_queues + 1, struct share_queue);
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
	memcpy(s->build->counted, s->shares, s->n_queues * sizeof(*s->shares));
	s->build->queue_index = index;
}

/* ---- all of it ---- */

/* Room that other schedulers' pods use is nobody's to share; and whom they do not bear stays away. */
static void subtract_foreign(struct session *s)
{
	double *foreign = s->build->foreign;

	for (pod_id i = 0; i < ledger_pod_limit(s->ledger) && s->en->config->n_scheduler_names > 0; i++) {
		const struct pod *p = ledger_pod(s->ledger, i);
		const struct shape *sh;

		if (s->build->of_pod[i] != NONE || (p->state != POD_PLACED && p->state != POD_LEAVING) ||
		    session_is_on_lost_node(s, p))
			continue;
		sh = shape_get(ledger_vocab(s->ledger), p->shape);
		s->is_mirrored |= sh->anti_affinity.n > 0; /* it minds ours, by their labels */
		for (uint32_t r = 0; r < KAI_RES; r++)
			foreign[r] += s->amount_type[r] == RES_NONE
					      ? 0
					      : session_shared(s, r, res_list_get(&sh->usage, s->amount_type[r]));
	}
	for (uint32_t r = 0; r < KAI_RES; r++)
		s->total[r] -= foreign[r];
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

void session_divide_shares(struct session *s)
{
	memcpy(s->shares, s->build->counted, s->n_queues * sizeof(*s->shares));
	for (uint32_t q = s->n_queues; q-- > 0;) /* parents come first; and sums of whole units are exact */
		add_to_parent(s, q);
	share_divide(s->shares, s->n_queues, s->total, 1);
	memcpy(s->settled, s->shares, s->n_queues * sizeof(*s->shares));
	for (uint32_t i = 0; i < s->n_queues; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			s->queues[i].may[r] = share_allocatable(&s->shares[i].r[r]);
}

enum { SESSION_BLOCK_MIN = 1 << 14, SESSION_BLOCK_MAX = 1 << 20 };

enum { BYTES_KEPT = 640, BYTES_OF_CYCLE = 128 }; /* of each pod and node, about; what is not used is never touched */

/* About what a session takes, so that one of a small cluster does not clear what only a large one needs. */
static size_t block_size(const struct ledger *l, size_t bytes, bool is_kept)
{
	size_t n = bytes * ((size_t)ledger_pod_limit(l) + ledger_node_limit(l));

	return n < SESSION_BLOCK_MIN ? SESSION_BLOCK_MIN : n > SESSION_BLOCK_MAX && !is_kept ? SESSION_BLOCK_MAX : n;
}

/* Where every cycle is a session they use the same memory one after the other: the system gives it once. */
static bool is_every_cycle(const struct engine *en)
{
	return profile_get(en->config->profile)->search_mode == MODE_SCENARIOS;
}

static struct arena *arena_for(struct engine *en, struct arena **from, size_t bytes)
{
	struct arena *a = *from ? *from : arena_new(block_size(en->ledger, bytes, is_every_cycle(en)));

	*from = NULL;
	return a;
}

static void arena_back(struct engine *en, struct arena **to, struct arena *a)
{
	if (*to || !is_every_cycle(en)) {
		arena_free(a);
		return;
	}
	arena_reset(a);
	*to = a;
}

static struct session *make_session(struct engine *en, int64_t now_ns, bool is_for_moves)
{
	static const char task_priority_key[] = "kai.scheduler/task-priority";
	struct arena *a = arena_for(en, &en->session_arena, BYTES_KEPT);
	struct session *s = arena_type(a, struct session);

	s->build = arena_type(a, struct session_build);
	s->build->arena = a;
	s->build->followed = ledger_moves(en->ledger);
	s->en = en;
	s->ledger = en->ledger;
	s->names = vocab_names(ledger_vocab(en->ledger));
	s->settings = &en->config->kai;
	s->arena = is_every_cycle(en) ? arena_for(en, &en->cycle_arena, BYTES_OF_CYCLE) : a;
	s->now_ns = now_ns;
	s->is_for_moves = is_for_moves;
	s->free_copy = s->first_queue = NONE;
	s->stamp = s->room_stamp = 1;
	s->build->task_priority = names_find(s->names, task_priority_key, sizeof(task_priority_key) - 1);
	find_amounts(s);
	find_share_units(s);
	take_nodes(s);
	take_queues(s);
	session_take_workloads(s);
	session_make_podsets(s);
	session_take_members(s);
	session_rank_workloads(s);
	session_count_members(s);
	subtract_foreign(s);
	session_divide_shares(s);
	session_list_workloads(s);
	session_find_kinds(s);
	return s;
}

static void drop_session(struct session *s)
{
	struct engine *en = s->en;
	struct arena *kept = s->build->arena;

	for (uint32_t i = 0; i < s->n_queues; i++) {
		array_free(&s->queues[i].pending);
		array_free(&s->queues[i].kinds);
		array_free(&s->queues[i].victims);
	}
	array_free(&s->copies);
	array_free(&s->done);
	array_free(&s->kinds);
	arena_back(en, &en->session_arena, kept);
}

struct session *session_new(struct engine *en, int64_t now_ns, bool is_for_moves)
{
	struct session *s = is_for_moves ? NULL : en->session;

	if (s != NULL) {
		en->session = NULL;
		s->arena = arena_for(en, &en->cycle_arena, BYTES_OF_CYCLE);
		if (session_follow(s, now_ns))
			return s;
		arena_back(en, &en->cycle_arena, s->arena);
		drop_session(s);
	}
	return make_session(en, now_ns, is_for_moves);
}

/* What is of one cycle. */
static void end_cycle(struct session *s)
{
	for (uint32_t i = 0; i < s->n_signatures; i++) {
		bits_free(&s->signatures[i].allowed);
		bits_free(&s->signatures[i].fits);
	}
	order_free(s);
	session_judge_end(s);
	share_scratch_free(&s->share_scratch);
	array_free(&s->copy_bits);
	array_free(&s->moves);
	array_free(&s->transactions);
	array_free(&s->moved);
	array_free(&s->tasks);
	array_free(&s->changes);
	array_free(&s->request_kinds);
	session_counts_free(s);
	session_solve_end(s);
	if (s->arena != s->build->arena)
		arena_back(s->en, &s->en->cycle_arena, s->arena);
}

/* Where the ledger follows the session they would chase each other. */
static bool may_be_followed(const struct session *s)
{
	return is_every_cycle(s->en) && !s->is_for_moves && !s->is_mirrored && !s->en->config->looks_at_all &&
	       s->en->session == NULL;
}

void session_free(struct session *s)
{
	end_cycle(s);
	if (may_be_followed(s))
		s->en->session = s;
	else
		drop_session(s);
}

void session_forget(struct engine *en)
{
	if (en->session != NULL)
		drop_session(en->session);
	en->session = NULL;
}
