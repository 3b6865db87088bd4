/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding room for the next members of a workload: all of them or none. Of the nodes that fit, first those with room
 * now, then (for work without GPUs) nodes without GPUs, then the fullest or the emptiest as configured, then by name.
 */
#include "engine/session.h"

#include <string.h>

#include "base/heap.h"

/* ---- what the queue allows ---- */

bool session_over_limit(const struct session *s, uint32_t workload, const double request[KAI_RES])
{
	for (uint32_t q = s->workloads[workload].queue; q != NONE; q = s->shares[q].parent)
		for (uint32_t r = 0; r < KAI_RES; r++) {
			const struct share *x = &s->shares[q].r[r];

			if (x->limit != SHARE_UNLIMITED && request[r] != 0 && x->limit < x->allocated + request[r])
				return true;
		}
	return false;
}

bool session_core_over_quota(const struct session *s, uint32_t workload, const double request[KAI_RES])
{
	for (uint32_t q = s->workloads[workload].queue; q != NONE; q = s->shares[q].parent)
		for (uint32_t r = 0; r < KAI_RES; r++) {
			const struct share *x = &s->shares[q].r[r];

			if (x->deserved != SHARE_UNLIMITED && request[r] != 0 &&
			    x->deserved < x->allocated_core + request[r])
				return true;
		}
	return false;
}

static bool queue_allows(const struct session *s, uint32_t workload, const double all[KAI_RES],
			 const double core[KAI_RES])
{
	bool has_core = core[KAI_GPU] != 0 || core[KAI_CPU] != 0 || core[KAI_MEMORY] != 0;

	return !session_over_limit(s, workload, all) && (!has_core || !session_core_over_quota(s, workload, core));
}

bool session_queue_allows(const struct session *s, uint32_t workload, uint32_t signature, bool is_core, uint32_t n)
{
	double all[KAI_RES];

	for (uint32_t r = 0; r < KAI_RES; r++)
		all[r] = n * s->signatures[signature].share[r];
	return !session_over_limit(s, workload, all) && (!is_core || !session_core_over_quota(s, workload, all));
}

/* ---- what filters other than room allow ---- */

static void leave_out(struct cede_cycle *c, const char *plugin)
{
	uint32_t at = framework_plugin_find(c->framework, plugin);

	if (at != UINT32_MAX)
		c->skip_filter |= UINT64_C(1) << at;
}

/* A pod is asked about: everything but room. */
struct filters {
	struct arena *arena;
	struct cede_cycle c;
	bool has_node_set;
};

static void filters_begin(struct session *s, struct filters *x, pod_id pod)
{
	x->arena = arena_new(1 << 14);
	cycle_begin(&x->c, engine_framework(s->en, pod), x->arena, pod, s->now_ns);
	leave_out(&x->c, "NodeResourcesFit"); /* room is counted here */
	leave_out(&x->c, "NodeName");	      /* where a pod is bound now does not keep it from moving */
	if (profile_get(s->en->config->profile)->ignores_spread)
		leave_out(&x->c, "PodTopologySpread");
	x->has_node_set = x->c.has_node_set;
	x->c.has_node_set = false; /* whoever restricted the nodes says it again for each */
}

static bool filters_allow(const struct session *s, struct filters *x, uint32_t node)
{
	struct status st;

	if (!status_is_success(&x->c.pre_filter) || !s->nodes[node].is_usable)
		return false;
	st = cycle_filter(&x->c, s->nodes[node].id);
	return status_is_success(&st);
}

static void filters_end(struct filters *x)
{
	x->c.has_node_set = x->has_node_set;
	cycle_end(&x->c);
	arena_free(x->arena);
}

static void ask_filters(struct session *s, struct signature *f)
{
	struct filters x;

	filters_begin(s, &x, f->example);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (filters_allow(s, &x, i))
			bits_set(&f->allowed, i);
	filters_end(&x);
	f->is_asked = true;
}

bool session_allows(struct session *s, uint32_t signature, uint32_t node)
{
	struct signature *f = &s->signatures[signature];

	if (s->settings->has_no_predicates)
		return true;
	if (!f->is_asked)
		ask_filters(s, f);
	return bits_has(&f->allowed, node);
}

/* ---- the best node ---- */

static bool fits_soon(const struct session *s, const int64_t *ask, uint32_t node)
{
	const int64_t *idle = s->idle + (size_t)node * s->n_amounts, *soon = s->soon + (size_t)node * s->n_amounts;

	for (uint32_t a = 0; a < s->n_amounts; a++)
		if (ask[a] > idle[a] + soon[a])
			return false;
	return true;
}

static bool fits_now(const struct session *s, const struct signature *f, uint32_t node)
{
	const int64_t *idle = s->idle + (size_t)node * s->n_amounts;

	for (uint32_t a = 0; !f->is_tiny && a < s->n_amounts; a++)
		if (f->ask[a] > idle[a])
			return false;
	return true;
}

struct pick {
	bool is_hint, is_now, is_plain; /* plain: no GPUs there for work without */
	double place;			/* higher is better */
};

/* What fraction is left of the type it asks for that is scarcest there. */
static double scarcest(const struct session *s, const struct signature *f, uint32_t node)
{
	size_t at = (size_t)node * s->n_amounts;
	double least = 1;

	for (uint32_t a = 0; a < s->n_amounts; a++) {
		double fraction = s->capacity[at + a] > 0
					  ? (double)(s->idle[at + a] + s->soon[at + a]) / (double)s->capacity[at + a]
					  : 1;

		least = f->ask[a] > 0 && a != AMOUNT_PODS && fraction < least ? fraction : least;
	}
	return least;
}

/* What nodes are compared by. */
static enum kai_res main_res(const struct signature *f)
{
	return f->ask[KAI_GPU] == 0 ? KAI_CPU : KAI_GPU;
}

static struct pick rate(const struct session *s, const struct member *m, uint32_t node)
{
	const struct signature *f = &s->signatures[m->signature];
	enum kai_res r = main_res(f);
	size_t at = (size_t)node * s->n_amounts + r;
	double room = (double)(s->idle[at] + s->soon[at]);
	struct pick p = {.is_hint = m->hint == node,
			 .is_now = fits_now(s, f, node),
			 .is_plain = r == KAI_CPU && !s->nodes[node].has_gpu};

	if (s->is_for_moves)
		p.place = -scarcest(s, f, node);
	else if (r == KAI_CPU ? s->settings->cpu_spreads : s->settings->gpu_spreads)
		p.place = s->capacity[at] != 0 ? room / (double)s->capacity[at] : 0;
	else
		p.place = -room;
	return p;
}

static bool pick_before(const struct pick *a, const struct pick *b)
{
	if (a->is_hint != b->is_hint)
		return a->is_hint;
	if (a->is_now != b->is_now)
		return a->is_now;
	if (a->is_plain != b->is_plain)
		return a->is_plain;
	return a->place > b->place;
}

/* Where filters look at other pods, room alone: they are asked when a place is looked for. */
static bool may_use(struct session *s, uint32_t signature, uint32_t node)
{
	return fits_soon(s, s->signatures[signature].ask, node) &&
	       (s->is_mirrored || session_allows(s, signature, node));
}

static void note_fit(struct session *s, uint32_t signature, uint32_t node)
{
	if (may_use(s, signature, node))
		bits_set(&s->signatures[signature].fits, node);
	else
		bits_clear(&s->signatures[signature].fits, node);
}

/* Only nodes that changed since the last time are looked at. */
static const struct bits *fitting(struct session *s, uint32_t signature)
{
	struct signature *f = &s->signatures[signature];
	uint64_t last = s->n_old_changes + s->changes.n;

	if (f->fits_at <= s->n_old_changes || s->en->config->looks_at_all)
		for (uint32_t i = 0; i < s->n_nodes; i++)
			note_fit(s, signature, i);
	else
		for (uint64_t i = f->fits_at - 1; i < last; i++)
			note_fit(s, signature, s->changes.v[i - s->n_old_changes]);
	f->fits_at = last + 1;
	return &f->fits;
}

/* The first node from `from` on that is in both; set NULL: in fits. n_nodes: none. */
static uint32_t next_in(const struct session *s, const struct bits *fits, const struct bits *set, uint32_t from)
{
	uint32_t i = bits_next(fits, from);

	while (i != UINT32_MAX && set != NULL && !bits_has(set, i))
		i = bits_next(fits, i + 1);
	return i < s->n_nodes ? i : s->n_nodes;
}

/*
 * Where room is given out fullest first, and nothing but room has to be asked anew, nodes are walked in that order.
 * GPUs come free one by one, and each moves its node among many alike: a few signatures follow that more cheaply each.
 */
static bool is_walked(const struct session *s, const struct signature *f)
{
	enum { FEW_SIGNATURES = 4 };
	bool is_gpu = main_res(f) == KAI_GPU;

	return !s->is_mirrored && !s->is_for_moves && !s->en->config->looks_at_all && f->ask[main_res(f)] > 0 &&
	       !(is_gpu ? s->settings->gpu_spreads : s->settings->cpu_spreads) &&
	       (!is_gpu || s->n_signatures > FEW_SIGNATURES);
}

/* The first from position `at` on that is in the set and fits; at is where it stands. NONE: there is no more. */
static uint32_t walk(struct session *s, const struct room_order *o, uint32_t signature, const struct bits *set,
		     uint32_t *at)
{
	for (; *at < o->n; ++*at)
		if ((set == NULL || bits_has(set, o->nodes[*at])) && may_use(s, signature, o->nodes[*at]))
			return o->nodes[*at];
	return NONE;
}

bool session_is_walked(const struct session *s, uint32_t signature)
{
	return is_walked(s, &s->signatures[signature]);
}

uint32_t session_walk(struct session *s, const struct room_order *o, uint32_t signature, uint32_t *at)
{
	return walk(s, o, signature, NULL, at);
}

enum { FEW_NODES = 16 };

/* False: no node of the set has room for it at once; if that holds for all nodes, until one of them gets more. */
static bool may_fit_now(struct session *s, uint32_t signature, const struct bits *set)
{
	struct signature *f = &s->signatures[signature];
	const struct room_order *o;
	uint32_t at;

	if (f->none_now == s->n_freed + 1 && !s->en->config->looks_at_all)
		return false;
	o = session_by_room(s, main_res(f), true);
	at = room_order_from(o, f->ask[main_res(f)]);
	if (f->is_tiny || o->n - at > FEW_NODES)
		return true;
	for (; at < o->n; at++)
		if ((set == NULL || bits_has(set, o->nodes[at])) && fits_now(s, f, o->nodes[at]))
			return true;
	f->none_now = set == NULL ? s->n_freed + 1 : f->none_now;
	return false;
}

bool session_may_fit_now(struct session *s, uint32_t signature)
{
	return may_fit_now(s, signature, NULL);
}

bool session_fits_now(const struct session *s, uint32_t signature, uint32_t node)
{
	return fits_now(s, &s->signatures[signature], node);
}

/* From one node to the next room only grows: a later one is better only if it is of a better kind. */
static uint32_t best_on_walk(struct session *s, const struct member *m, const struct bits *set, const struct bits *but)
{
	const struct signature *f = &s->signatures[m->signature];
	const struct room_order *o = session_by_room(s, main_res(f), false);
	bool may_be_now = may_fit_now(s, m->signature, set);
	uint32_t best = NONE, node;
	struct pick best_pick = {0};

	for (uint32_t at = room_order_from(o, f->ask[main_res(f)]); (node = walk(s, o, m->signature, set, &at)) != NONE;
	     at++) {
		struct pick p;

		if (but != NULL && bits_has(but, node))
			continue;
		p = rate(s, m, node);
		if (best == NONE || pick_before(&p, &best_pick)) {
			best = node;
			best_pick = p;
		}
		if (best_pick.is_now == may_be_now && best_pick.is_plain == o->has_plain &&
		    (m->hint == NONE || best_pick.is_hint))
			break;
	}
	return best;
}

static bool is_room_left(struct session *s, uint32_t signature, const struct bits *set)
{
	const struct signature *f = &s->signatures[signature];
	const struct room_order *o;
	uint32_t at;

	if (!is_walked(s, f))
		return next_in(s, fitting(s, signature), set, 0) < s->n_nodes;
	o = session_by_room(s, main_res(f), false);
	at = room_order_from(o, f->ask[main_res(f)]);
	return walk(s, o, signature, set, &at) != NONE;
}

bool session_has_room(struct session *s, uint32_t signature, const struct bits *set)
{
	if (s->signatures[signature].no_room == s->room_stamp)
		return false;
	if (is_room_left(s, signature, set))
		return true;
	s->signatures[signature].no_room = s->room_stamp;
	return false;
}

/* Nodes in `but` were tried; filters: still to be asked, or NULL. */
static uint32_t best_node(struct session *s, uint32_t member, const struct bits *set, const struct bits *but,
			  struct filters *filters)
{
	const struct member *m = &s->members[member];
	const struct bits *fits;
	uint32_t best = NONE;
	struct pick best_pick = {0};

	if (is_walked(s, &s->signatures[m->signature]))
		return best_on_walk(s, m, set, but);
	fits = fitting(s, m->signature);
	for (uint32_t i = next_in(s, fits, set, 0); i < s->n_nodes; i = next_in(s, fits, set, i + 1)) {
		struct pick p;

		if (but != NULL && bits_has(but, i))
			continue;
		p = rate(s, m, i);
		if ((best == NONE || pick_before(&p, &best_pick)) && (!filters || filters_allow(s, filters, i))) {
			best = i;
			best_pick = p;
		}
	}
	return best;
}

static bool give(struct session *s, uint32_t member, uint32_t node, bool simulated)
{
	if (!simulated && fits_now(s, &s->signatures[s->members[member].signature], node)) {
		session_bind(s, member, node);
		return true;
	}
	return session_nominate(s, member, node, simulated);
}

/* Filters are not asked any more when somebody moves: what he mounts is decided by asking others. */
static uint32_t ask_for_node(struct session *s, uint32_t member, const struct bits *set, const struct bits *but)
{
	struct filters filters;
	uint32_t node;

	if (!s->is_mirrored || s->settings->has_no_predicates)
		return best_node(s, member, set, but, NULL);
	filters_begin(s, &filters, s->members[member].pod);
	node = best_node(s, member, set, but, &filters);
	filters_end(&filters);
	return node;
}

/* Who is not let onto the best node, because he is leaving it, asks for the next. */
static bool give_one_of(struct session *s, uint32_t member, uint32_t node, const struct bits *set, bool simulated)
{
	struct bits tried = {0};

	while (node != NONE && !give(s, member, node, simulated)) {
		bits_set(&tried, node);
		node = ask_for_node(s, member, set, &tried);
	}
	bits_free(&tried);
	return node != NONE;
}

static bool place_member(struct session *s, uint32_t member, const struct bits *set, bool simulated)
{
	struct signature *f = &s->signatures[s->members[member].signature];
	uint32_t node;

	s->steps += s->is_mirrored || f->no_room != s->room_stamp;
	if (f->no_room == s->room_stamp)
		return false;
	if (!is_walked(s, f) && !session_has_room(s, s->members[member].signature, set))
		return false;
	node = ask_for_node(s, member, set, NULL);
	if (node == NONE && is_walked(s, f))
		f->no_room = s->room_stamp;
	return give_one_of(s, member, node, set, simulated);
}

/* ---- many alike ---- */

/*
 * Members of one signature, one after the other: what one takes changes its node alone, so nodes are rated once and
 * kept in a heap.
 */
static int by_pick(const void *picks, uint32_t a, uint32_t b)
{
	const struct pick *x = (const struct pick *)picks + a, *y = (const struct pick *)picks + b;

	if (pick_before(x, y))
		return -1;
	if (pick_before(y, x))
		return 1;
	return a < b ? -1 : a > b;
}

static void rate_all(struct session *s, const struct member *m, const struct bits *set, struct pick *picks,
		     struct heap *ret)
{
	const struct signature *f = &s->signatures[m->signature];
	const struct room_order *o;
	const struct bits *fits;

	heap_init(ret, by_pick, picks);
	if (is_walked(s, f)) {
		o = session_by_room(s, main_res(f), false);
		for (uint32_t at = room_order_from(o, f->ask[main_res(f)]), node;
		     (node = walk(s, o, m->signature, set, &at)) != NONE; at++) {
			picks[node] = rate(s, m, node);
			heap_push(ret, node);
		}
		return;
	}
	fits = fitting(s, m->signature);
	for (uint32_t i = next_in(s, fits, set, 0); i < s->n_nodes; i = next_in(s, fits, set, i + 1)) {
		picks[i] = rate(s, m, i);
		heap_push(ret, i);
	}
}

/* Alike, and none of them is drawn to a node of its own. */
static bool are_alike(const struct session *s, const uint32_t *tasks, uint32_t n)
{
	const struct member *m = &s->members[tasks[0]];

	for (uint32_t i = 0; i < n; i++) {
		const struct member *x = &s->members[tasks[i]];

		if (x->signature != m->signature || x->hint != NONE || x->is_core != m->is_core)
			return false;
	}
	return !s->is_mirrored;
}

/* One that was evicted may have to stay where it is. */
static bool is_any_evicted(const struct session *s, const uint32_t *tasks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (s->members[tasks[i]].copies != NONE)
			return true;
	return false;
}

/*
 * Where all nodes are of one kind and nobody has room at once, the fullest node stays the fullest of those that fit as
 * long as it fits: nodes are filled one after the other, as they stand. How many got room; fewer than n: one was not
 * let onto its node, or nodes are of several kinds, or there is no more.
 */
static uint32_t fill_nodes(struct session *s, const uint32_t *tasks, uint32_t n, const struct bits *set, bool simulated)
{
	uint32_t signature = s->members[tasks[0]].signature, at, i = 0;
	const struct signature *f = &s->signatures[signature];
	const struct room_order *o;

	if (!is_walked(s, f) || may_fit_now(s, signature, set))
		return 0;
	o = session_by_room(s, main_res(f), false);
	if (o->has_plain && o->has_others)
		return 0;
	at = room_order_from(o, f->ask[main_res(f)]);
	while (i < n && walk(s, o, signature, set, &at) != NONE && give(s, tasks[i], o->nodes[at], simulated))
		i++;
	s->steps += i;
	return i;
}

static uint32_t place_many(struct session *s, const uint32_t *tasks, uint32_t n, const struct bits *set, bool simulated)
{
	struct pick *picks = mem_alloc((s->n_nodes + 1) * sizeof(*picks));
	struct heap nodes;
	uint32_t i = 0;

	rate_all(s, &s->members[tasks[0]], set, picks, &nodes);
	for (; i < n && nodes.items.n > 0; i++) {
		uint32_t best = heap_peek(&nodes);

		s->steps++;
		if (!give(s, tasks[i], best, simulated))
			break;
		if (may_use(s, s->members[tasks[i]].signature, best)) {
			picks[best] = rate(s, &s->members[tasks[i]], best);
			heap_update(&nodes, best);
		} else {
			heap_pop(&nodes);
		}
	}
	heap_free(&nodes);
	mem_free(picks);
	return i;
}

/* All together are within the queue's limits, so each is. How many of the first got room. */
static uint32_t place_alike(struct session *s, const uint32_t *tasks, uint32_t n, const struct bits *set,
			    bool simulated)
{
	uint32_t done;

	if (n < 2 || !are_alike(s, tasks, n))
		return 0;
	done = fill_nodes(s, tasks, n, set, simulated);
	if (done == 0 && n > 4 && !is_any_evicted(s, tasks, n))
		return place_many(s, tasks, n, set, simulated);
	return done;
}

/* ---- all or none ---- */

static void sum_up(const struct session *s, const uint32_t *tasks, uint32_t n, double all[KAI_RES],
		   double core[KAI_RES])
{
	for (uint32_t r = 0; r < KAI_RES; r++) {
		all[r] = core[r] = 0;
		for (uint32_t i = 0; i < n; i++) {
			const struct member *m = &s->members[tasks[i]];

			all[r] += s->signatures[m->signature].share[r];
			core[r] += m->is_core ? s->signatures[m->signature].share[r] : 0;
		}
	}
}

struct podset_fill {
	uint32_t podset, active;
};

/* Podsets of inner sets first, then as room is given out. */
static bool podset_fill_before(const struct session *s, const struct podset_fill *a, const struct podset_fill *b)
{
	const struct session_podset *x = &s->podsets[a->podset], *y = &s->podsets[b->podset];

	if (x->rank != y->rank)
		return x->rank < y->rank;
	return podset_before(s, x, a->active, y, b->active);
}

/* In which order the tasks' podsets are filled: tasks of one podset stay together, in their order. */
static void sort_tasks(struct session *s, uint32_t *tasks, uint32_t n, bool is_step)
{
	const struct podset_fill *fills[2];
	struct podset_fill t[2];

	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = i; k > 0 && s->members[tasks[k]].podset != s->members[tasks[k - 1]].podset; k--) {
			for (unsigned j = 0; j < 2; j++) {
				uint32_t p = s->members[tasks[k - j]].podset;

				t[j] = (struct podset_fill){p, is_step ? 0 : podset_count(&s->podsets[p], SET_ACTIVE)};
				fills[j] = &t[j];
			}
			if (!podset_fill_before(s, fills[0], fills[1]))
				break;
			uint32_t x = tasks[k];

			tasks[k] = tasks[k - 1];
			tasks[k - 1] = x;
		}
}

bool session_place(struct session *s, uint32_t workload, const struct bits *set, bool simulated)
{
	uint32_t mark = session_mark(s), n = s->tasks.n;
	double all[KAI_RES], core[KAI_RES];
	uint32_t few[16], *tasks = n > 16 ? mem_resize(NULL, n, sizeof(*tasks)) : few;
	bool is_ok;

	if (n > 0)
		memcpy(tasks, s->tasks.v, n * sizeof(*tasks));
	sum_up(s, tasks, n, all, core);
	is_ok = queue_allows(s, workload, all, core);
	if (is_ok && s->workloads[workload].n_podsets > 1)
		sort_tasks(s, tasks, n, s->tasks_are_step);
	for (uint32_t i = is_ok ? place_alike(s, tasks, n, set, simulated) : 0; is_ok && i < n; i++) {
		if (n > 1) /* else it was asked of it already */
			sum_up(s, &tasks[i], 1, all, core);
		is_ok = (n == 1 || s->settings->has_no_predicates || queue_allows(s, workload, all, core)) &&
			place_member(s, tasks[i], set, simulated);
	}
	if (!is_ok)
		session_rollback(s, mark);
	if (tasks != few)
		mem_free(tasks);
	return is_ok;
}
