/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search_bound.h"

#include <stdlib.h>

#include "engine/node_rows.h"
#include "engine/search_cache.h"

enum { SETS = 8, WANTED = 8, CHEAPEST = 4 };
/* Kinds of searches remembered: as many as there is room for so many nodes of each. */
enum { MEMORIES_MIN = 8, MEMORIES = 64, ENTRIES = 1 << 19 };

/* What rules say of a kind, as far as they go by the kind. */
enum kind_says {
	NOT_ASKED, /* the action does not look at it */
	MAY,
	LAST, /* it opted out: it goes only if nothing else works */
	KEPT, /* it is protected */
	OPEN, /* the pod itself has to be asked */
};

struct kind_answer {
	uint64_t stamp;
	uint8_t says;		 /* enum kind_says */
	bool is_of_group;	 /* who goes with whom is not told by the kind */
	bool has_verdict;	 /* KEPT, LAST: the verdict is that of every pod of the kind */
	int64_t inside_from;	 /* who started after this is inside its minimum runtime */
	struct rule_verdict why; /* KEPT, LAST */
};

struct shape_answer {
	uint64_t stamp;
	uint64_t types; /* it holds something of, and RES_PODS */
	int64_t share;	/* of the cluster */
	int64_t frees[WANTED];
};

struct kind_answers { /* for one set of short types */
	uint64_t short_types;
	struct kind_answer *v; /* by kind */
	uint32_t n;
};

struct row_candidate {
	const struct pod_row *row;
	const struct shape_answer *shape;
	bool is_last;
};

struct listed { /* of whom it has to be told that he is protected, or at least asked */
	pod_id pod;
	const struct rule_verdict *why; /* NULL: it has to be asked */
};

/* ---- what nodes were bounded by before ---- */

/*
 * What a node's best set costs at least does not get less while the node is the same, rules say the same of each kind
 * of pod, and time goes on: work that is lost only grows, until a minimum runtime ends. So bounds are kept for a kind
 * of waiting pod (not for its application: where that has running pods nothing is used), and the rules are asked
 * again of each kind, which is little, to know that they still hold.
 */
struct bound_entry {
	uint64_t generation; /* of the node; 0: nothing known */
	int64_t until_ns;    /* a minimum runtime ends */
	struct node_bound bound;
	bool is_out;	/* no set is enough */
	bool is_silent; /* nobody there is protected */
};

struct known_answer { /* of a kind of pod */
	bool is_known, is_of_group;
	uint8_t says;
	int64_t window_ns;
};

struct known_set { /* for one set of short types */
	uint64_t short_types;
	struct known_answer *v; /* by kind */
	uint32_t n;
};

struct bound_key {
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
	queue_id queue;
	enum action action;
	bool with_opted_out, is_fast;
};

struct bound_memory {
	struct bound_key key;
	struct vocab *vocab; /* where the reference to the shape is; NULL: not in use */
	uint64_t last_use, epoch;
	int64_t now_ns; /* of the last use */
	uint32_t stride;
	int64_t capacity[RES_MAX];
	struct bound_entry *entries; /* by node id */
	uint32_t n, n_sets;
	struct known_set sets[SETS];
};

struct search_bounds { /* memory used by one search after the other */
	struct node_rows rows;
	struct bound_memory memories[MEMORIES];
	uint64_t clock;
	uint64_t stamp; /* of the search; only grows */
	uint32_t n_sets;
	struct kind_answers sets[SETS];
	struct shape_answer *shapes; /* by id */
	uint32_t n_shapes;
	struct row_candidate *candidates;
	struct listed *listed;
	uint32_t n_candidates;
	/* of the present search */
	struct node_search *g;
	struct bound_memory *memory; /* NULL: none */
	int64_t path_lacks[WANTED];
	uint32_t cycle;
	/* of the present node */
	uint64_t types; /* that are short there or below a maximum */
	int64_t lacks[WANTED];
	uint32_t n, n_listed;
	uint32_t enough; /* with those before it and itself, and without who opted out, it is enough; UINT32_MAX */
	bool is_listing; /* more may be told of */
	bool has_groups;
	int64_t until_ns; /* the first minimum runtime ends */
};

static void memory_forget(struct bound_memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->key.shape);
	mem_free(m->entries);
	for (int i = 0; i < SETS; i++)
		mem_free(m->sets[i].v);
	*m = (struct bound_memory){0};
}

struct search_bounds *search_bounds_new(void)
{
	return mem_alloc(sizeof(struct search_bounds));
}

void search_bounds_free(struct search_bounds *b)
{
	if (!b)
		return;
	node_rows_free(&b->rows);
	for (int i = 0; i < MEMORIES; i++)
		memory_forget(&b->memories[i]);
	for (int i = 0; i < SETS; i++)
		mem_free(b->sets[i].v);
	mem_free(b->shapes);
	mem_free(b->candidates);
	mem_free(b->listed);
	mem_free(b);
}

static struct search_bounds *bounds_of(const struct node_search *g)
{
	return search_cache_bounds(g->s->search_cache);
}

/* ---- kinds ---- */

/* Rules that go by more than the kind: asked apart, or of the pod itself. */
#define OF_PODS                                                                                               \
	(UINT64_C(1) << RULE_APPLICATION | UINT64_C(1) << RULE_SAME_CYCLE | UINT64_C(1) << RULE_MIN_RUNTIME | \
	 UINT64_C(1) << RULE_GUARANTEE | UINT64_C(1) << RULE_DRIVER | UINT64_C(1) << RULE_THRASH)

/* Could some pod of the queue be too big for what it has above its guarantees? */
static bool may_be_too_big(const struct search_bounds *b, struct judge *j, const struct pod *p)
{
	const struct victim_queue *o = judge_queue(j, p->queue);

	for (uint32_t i = 0; i < o->n_guards; i++) {
		const struct queue *q = queue_get(j->tree, o->guards[i]);
		const int64_t *used = ledger_queue_used(j->ledger, o->guards[i]);

		for (uint64_t left = q->spec.guaranteed.mask & o->judged; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t g = queue_guarantee(q, r), most = r == RES_PODS ? 1 : b->rows.most[r];

			if (g > 0 && used[r] - most < g)
				return true;
		}
	}
	return false;
}

/* A budget that lists pods by name says different things of pods of one kind. */
static bool has_listed(const struct judge *j, const struct pod *p)
{
	uint32_t n;
	const pdb_id *ids = ledger_labelset_pdbs(j->ledger, p->labelset, &n);

	for (uint32_t i = 0; i < n; i++)
		if (ledger_pdb(j->ledger, ids[i])->obj->n_disrupted)
			return true;
	return false;
}

static bool has_history(const struct judge *j)
{
	return judge_asks(j, RULE_THRASH) && j->settings.eviction_history && j->settings.eviction_history->v.n &&
	       j->settings.thrash.soft;
}

/* Says who it is that is not preemptible: that the pod has to tell. */
static bool is_of_kind(const struct rule_verdict *says)
{
	return says->rule != RULE_PREEMPTIBILITY;
}

static void ask_rules(struct search_bounds *b, pod_id pod, const struct pod *p, struct kind_answer *a)
{
	struct judge *j = b->g->s->j;
	uint64_t on = j->on;
	bool is_kept;

	a->says = OPEN;
	if ((judge_asks(j, RULE_PREEMPTIBILITY) && p->preemptibility == SEMI_PREEMPTIBLE) ||
	    (judge_asks(j, RULE_BUDGET) && has_listed(j, p)) || has_history(j))
		return;
	j->on = on & ~OF_PODS;
	a->why = judge_victim(j, pod);
	j->on = on;
	a->has_verdict = is_of_kind(&a->why);
	is_kept = a->why.answer == IS_PROTECTED;
	if (judge_asks(j, RULE_GUARANTEE) && (!is_kept || a->why.rule > RULE_GUARANTEE)) { /* it speaks first */
		struct rule_verdict says = judge_guarantee_of_queue(j, p);

		if (says.answer == IS_PROTECTED) {
			a->why = judge_in_words_of_shares(j, says);
			a->has_verdict = is_kept = true;
		} else if (may_be_too_big(b, j, p)) {
			a->has_verdict = false;
			if (!is_kept)
				return;
		}
	}
	if (is_kept) {
		a->says = KEPT;
		return;
	}
	a->says = a->why.rule == RULE_OPT_OUT ? LAST : MAY;
}

static void ask(struct search_bounds *b, struct kind_answer *a, pod_id pod)
{
	struct judge *j = b->g->s->j;
	const struct pod *p = ledger_pod(j->ledger, pod);
	int64_t window_ns;

	*a = (struct kind_answer){.stamp = b->stamp};
	if (!node_search_concerns(b->g, p))
		return;
	judge_look_at(j, b->types);
	ask_rules(b, pod, p, a);
	window_ns = judge_asks(j, RULE_MIN_RUNTIME) ? judge_window_ns(j, p) : 0;
	a->is_of_group = p->podset != PODSET_NONE && profile_get(j->settings.profile)->has_gangs;
	a->inside_from = window_ns > 0 ? res_sub_sat(j->now_ns, window_ns) : INT64_MAX;
}

static int64_t window_of(const struct search_bounds *b, const struct kind_answer *a)
{
	return a->inside_from == INT64_MAX ? 0 : res_sub_sat(b->g->s->j->now_ns, a->inside_from);
}

/* NULL: there are too many sets of short types. */
static struct kind_answer *answers_for(struct search_bounds *b, uint64_t short_types)
{
	struct kind_answers *s;
	uint32_t i = 0;

	while (i < b->n_sets && b->sets[i].short_types != short_types)
		i++;
	if (i == SETS)
		return NULL;
	s = &b->sets[i];
	if (i == b->n_sets) {
		b->n_sets++;
		s->short_types = short_types;
		if (s->n < b->rows.kinds.n) {
			s->v = mem_resize(s->v, b->rows.kinds.n, sizeof(*s->v));
			memset(s->v + s->n, 0, (b->rows.kinds.n - s->n) * sizeof(*s->v));
			s->n = b->rows.kinds.n;
		}
	}
	return s->v;
}

/* ---- shapes ---- */

static void measure_shape(struct search_bounds *b, shape_id id, struct shape_answer *a)
{
	const struct cede_cycle *c = b->g->s->c;
	const struct res_list *usage = &shape_get(c->vocab, id)->usage;
	const struct want *w = &b->g->want;

	*a = (struct shape_answer){
		.stamp = b->stamp, .types = UINT64_C(1) << RES_PODS, .share = share_of_cluster(c->ledger, usage)};
	for (uint32_t i = 0; i < usage->n; i++)
		a->types |= (uint64_t)(usage->v[i].amount > 0) << usage->v[i].type;
	for (uint32_t k = 0; k < w->n; k++)
		a->frees[k] = w->type[k] == RES_PODS ? 1 : res_list_get(usage, w->type[k]);
}

static const struct shape_answer *shape_of(struct search_bounds *b, shape_id id)
{
	if (b->shapes[id].stamp != b->stamp)
		measure_shape(b, id, &b->shapes[id]);
	return &b->shapes[id];
}

/* ---- one node ---- */

/* What has to be freed. A group that goes as a whole frees room below a maximum on other nodes too. */
static bool measure_lacks(struct search_bounds *b, node_id node, bool has_groups)
{
	struct node_search *g = b->g;
	bool is_any = false;

	g->node = node;
	node_search_measure_room(g);
	g->short_here = node_search_short(g);
	b->types = g->short_here | g->s->lacking;
	for (uint32_t k = 0; k < g->want.n; k++) {
		b->lacks[k] = g->want.amount[k] - g->room[k];
		if (!has_groups && b->path_lacks[k] > b->lacks[k])
			b->lacks[k] = b->path_lacks[k];
		is_any |= b->lacks[k] > 0;
	}
	return is_any;
}

/* TIME_NONE is before every time; a start in the future counts as now, which is inside too. */
static bool is_inside(const struct kind_answer *a, const struct pod_row *row, int64_t now_ns)
{
	return row->started_ns > a->inside_from && now_ns > a->inside_from && row->started_ns != TIME_NONE;
}

static inline void note_end(struct search_bounds *b, int64_t end_ns)
{
	b->until_ns = end_ns < b->until_ns ? end_ns : b->until_ns;
}

/* Does the kind's answer not hold for this pod of it? *ret_says is what holds then. */
static inline bool is_exception(struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row,
				enum kind_says *ret_says)
{
	const struct judge *j = b->g->s->j;

	if (row->placed_in && row->placed_in == b->cycle && judge_asks(j, RULE_SAME_CYCLE)) {
		*ret_says = a->says == OPEN ? OPEN : KEPT;
		return true;
	}
	if (row->app != NAME_NONE && row->app == j->app) {
		*ret_says = a->says == KEPT ? KEPT : OPEN;
		return true;
	}
	if (is_inside(a, row, j->now_ns)) {
		*ret_says = a->says == OPEN || (a->is_of_group && a->says != KEPT) ? OPEN : KEPT;
		note_end(b, res_add_sat(row->started_ns, res_sub_sat(j->now_ns, a->inside_from)));
		return true;
	}
	return false;
}

static void list(struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row, bool is_exception)
{
	b->listed[b->n_listed++] = (struct listed){
		.pod = row->pod,
		.why = is_exception || !a->has_verdict || a->says == OPEN ? NULL : &a->why,
	};
}

static bool is_covered(const struct search_bounds *b, const int64_t *frees)
{
	for (uint32_t k = 0; k < b->g->want.n; k++)
		if (frees[k] < b->lacks[k])
			return false;
	return true;
}

/* Returns false where the pod is no candidate. */
static inline bool row_may_go(struct search_bounds *b, struct kind_answer *a, const struct pod_row *row, bool *ret_last)
{
	enum kind_says says = (enum kind_says)a->says;
	bool is_odd, is_kept;

	if (says == NOT_ASKED)
		return false;
	is_odd = is_exception(b, a, row, &says);
	*ret_last = says == LAST;
	is_kept = says == KEPT || (says == LAST && !b->g->s->with_opted_out);
	if (b->is_listing && (is_kept || says == OPEN))
		list(b, a, row, is_odd);
	return !is_kept;
}

static void fit_candidates(struct search_bounds *b, uint32_t n)
{
	if (b->n_candidates >= n)
		return;
	b->n_candidates = 2 * n;
	b->candidates = mem_resize(b->candidates, b->n_candidates, sizeof(*b->candidates));
	b->listed = mem_resize(b->listed, b->n_candidates, sizeof(*b->listed));
}

/*
 * Who may go there, lowest priority first, up to the priority at which it is enough; and whom the rules have to be
 * asked about, of all. False: the rows do not tell.
 */
static bool look_at_rows(struct search_bounds *b, node_id node)
{
	const struct pod_rows *rows = node_rows_of(&b->rows, b->g->s->c->ledger, node);
	struct kind_answer *answers = answers_for(b, b->types);
	uint64_t types = b->g->is_fast ? b->types : ~UINT64_C(0);
	int64_t frees[WANTED] = {0};
	uint32_t n_wanted = b->g->want.n;
	bool is_last;

	b->n = b->n_listed = 0;
	b->enough = UINT32_MAX;
	b->has_groups = false;
	b->until_ns = INT64_MAX;
	if (!answers)
		return false;
	fit_candidates(b, rows->n);
	for (const struct pod_row *row = rows->v, *end = row + rows->n; row < end; row++) {
		bool is_beyond = b->enough != UINT32_MAX && row->priority > b->candidates[b->enough].row->priority;
		const struct shape_answer *shape;
		struct kind_answer *a = &answers[row->kind];

		if (is_beyond && !b->is_listing)
			break;
		shape = shape_of(b, row->shape);
		if (!(shape->types & types))
			continue;
		if (a->stamp != b->stamp) {
			b->rows.kinds.v[row->kind].at = node;
			ask(b, a, row->pod);
		}
		if (!row_may_go(b, a, row, &is_last))
			continue;
		b->has_groups |= a->is_of_group;
		if (is_beyond)
			continue;
		b->candidates[b->n++] = (struct row_candidate){.row = row, .shape = shape, .is_last = is_last};
		if (is_last || b->enough != UINT32_MAX)
			continue;
		for (uint32_t k = 0; k < n_wanted; k++)
			frees[k] += shape->frees[k];
		if (is_covered(b, frees))
			b->enough = b->n - 1;
	}
	return true;
}

/* ---- the bound ---- */

static bool is_enough_with_all(const struct search_bounds *b)
{
	int64_t frees[WANTED] = {0};

	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t k = 0; k < b->g->want.n; k++)
			frees[k] += b->candidates[i].shape->frees[k];
	return is_covered(b, frees);
}

/* So many victims at least, by the biggest amounts anybody of them frees. */
static uint32_t least_victims(const struct search_bounds *b)
{
	int64_t most[WANTED] = {0};
	uint32_t least = 1;

	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t k = 0; k < b->g->want.n; k++)
			if (b->candidates[i].shape->frees[k] > most[k])
				most[k] = b->candidates[i].shape->frees[k];
	for (uint32_t k = 0; k < b->g->want.n; k++)
		while (b->lacks[k] > 0 && most[k] > 0 && least < CHEAPEST && least * most[k] < b->lacks[k])
			least++;
	return least;
}

static int64_t lost_of(const struct search_bounds *b, const struct row_candidate *m)
{
	const struct judge *j = b->g->s->j;

	if (j->action == ACTION_DISPLACE)
		return (int64_t)m->row->priority + (INT64_C(1) << 31);
	if (m->row->since_ns == TIME_NONE || m->row->since_ns > j->now_ns)
		return 0;
	return m->shape->share * (res_sub_sat(j->now_ns, m->row->since_ns) / NS_PER_S);
}

static int64_t least_lost(const struct search_bounds *b, uint32_t wants)
{
	int64_t least[CHEAPEST], sum = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; wants && i < b->n; i++) {
		int64_t lost = lost_of(b, &b->candidates[i]);
		uint32_t at;

		if (count == wants && lost >= least[count - 1])
			continue;
		for (at = count < wants ? count : count - 1; at > 0 && least[at - 1] > lost; at--)
			least[at] = least[at - 1];
		least[at] = lost;
		count += count < wants;
	}
	for (uint32_t i = 0; i < count; i++)
		sum = res_add_sat(sum, least[i]);
	return sum;
}

/* False: not even everybody would be enough. With one who opted out, others of any priority may do. */
static bool bound_of(const struct search_bounds *b, struct node_bound *ret)
{
	ret->opted_out = b->enough == UINT32_MAX;
	ret->highest = INT32_MIN;
	ret->lost = 0;
	if (ret->opted_out)
		return is_enough_with_all(b);
	ret->highest = b->candidates[b->enough].row->priority;
	ret->lost = least_lost(b, least_victims(b));
	return true;
}

/* ---- who is protected ---- */

/* What the kind does not tell is asked of the rules themselves, so what is told is what decided. */
static void tell_protected(struct search_bounds *b, bool is_known)
{
	struct node_search *g = b->g;

	if (!b->is_listing || (is_known && !b->n_listed && !b->has_groups))
		return;
	judge_look_at(g->s->j, b->types);
	node_search_list_begin(g);
	if (!is_known || b->has_groups)
		node_search_list_all(g);
	for (uint32_t i = 0; is_known && !b->has_groups && i < b->n_listed; i++)
		node_search_list(g, b->listed[i].pod, b->listed[i].why);
	node_search_list_end(g);
}

/* ---- all nodes ---- */

bool search_bound_serves(const struct node_search *g)
{
	return !g->looks_at_all && !g->s->reports && !g->has_opinions && g->want.n <= WANTED;
}

static void fit_shapes(struct search_bounds *b, uint32_t n)
{
	if (b->n_shapes >= n)
		return;
	b->shapes = mem_resize(b->shapes, n, sizeof(*b->shapes));
	memset(b->shapes + b->n_shapes, 0, (n - b->n_shapes) * sizeof(*b->shapes));
	b->n_shapes = n;
}

/* ---- memories ---- */

static bool same_key(const struct bound_key *a, const struct bound_key *b)
{
	return a->framework == b->framework && a->shape == b->shape && a->priority == b->priority &&
	       a->queue == b->queue && a->action == b->action && a->with_opted_out == b->with_opted_out &&
	       a->is_fast == b->is_fast;
}

static struct bound_memory *memory_of(struct search_bounds *b, const struct bound_key *key, uint32_t n_nodes)
{
	struct bound_memory *m = &b->memories[0];
	uint32_t n = ENTRIES / (n_nodes + 1);

	n = n < MEMORIES_MIN ? MEMORIES_MIN : n > MEMORIES ? MEMORIES : n;
	for (uint32_t i = 0; i < n && !(m->vocab && same_key(&m->key, key)); i++)
		if ((b->memories[i].vocab && same_key(&b->memories[i].key, key)) ||
		    b->memories[i].last_use < m->last_use)
			m = &b->memories[i];
	if (!m->vocab || !same_key(&m->key, key)) {
		memory_forget(m);
		m->key = *key;
		m->vocab = ledger_vocab(b->g->s->c->ledger);
		shape_keep(m->vocab, key->shape);
	}
	if (m->n < n_nodes) {
		m->entries = mem_resize(m->entries, n_nodes, sizeof(*m->entries));
		memset(m->entries + m->n, 0, (n_nodes - m->n) * sizeof(*m->entries));
		m->n = n_nodes;
	}
	m->last_use = ++b->clock;
	return m;
}

/* Do rules still say of every kind what they said? Asked as they will be asked by the rows. */
static bool still_says(struct search_bounds *b, const struct known_set *set)
{
	struct kind_answer *answers = answers_for(b, set->short_types);

	b->types = set->short_types;
	for (uint32_t k = 0; answers && k < set->n; k++) {
		const struct known_answer *was = &set->v[k];
		struct kind_answer *a = &answers[k];
		pod_id pod;

		if (!was->is_known)
			continue;
		pod = node_rows_example(&b->rows, b->g->s->c->ledger, k);
		if (pod == POD_NONE)
			return false;
		if (a->stamp != b->stamp)
			ask(b, a, pod);
		if (a->says != was->says || a->is_of_group != was->is_of_group || window_of(b, a) != was->window_ns)
			return false;
	}
	return answers != NULL;
}

static bool still_holds(struct search_bounds *b, const struct bound_memory *m)
{
	const struct ledger *l = b->g->s->c->ledger;
	bool holds = m->epoch == b->rows.epoch && m->now_ns <= b->g->s->j->now_ns && m->stride == ledger_stride(l) &&
		     !memcmp(m->capacity, ledger_capacity(l), m->stride * sizeof(*m->capacity));

	for (uint32_t i = 0; holds && i < m->n_sets; i++)
		holds = still_says(b, &m->sets[i]);
	return holds;
}

static void memory_empty(struct bound_memory *m)
{
	if (m->n)
		memset(m->entries, 0, m->n * sizeof(*m->entries));
	for (uint32_t i = 0; i < m->n_sets; i++)
		if (m->sets[i].n)
			memset(m->sets[i].v, 0, m->sets[i].n * sizeof(*m->sets[i].v));
	m->n_sets = 0;
}

/* The kind of search tells all but for groups, maximums, and what was so before a gang. */
static bool may_remember(const struct search_bounds *b)
{
	const struct search *s = b->g->s;

	return !s->lacking && !s->j->before && s->j->p->group == GROUP_NONE && s->j->action != ACTION_REQUIRED_NODE &&
	       !s->c->has_node_set;
}

static void memory_begin(struct search_bounds *b)
{
	const struct search *s = b->g->s;
	struct bound_key key = {.framework = s->c->framework,
				.shape = s->c->p->shape,
				.priority = s->c->priority,
				.queue = s->c->p->queue,
				.action = s->j->action,
				.with_opted_out = s->with_opted_out,
				.is_fast = b->g->is_fast};

	b->memory = NULL;
	if (!may_remember(b) || (s->j->app != NAME_NONE && node_rows_have_app(&b->rows, s->j->app)))
		return;
	b->memory = memory_of(b, &key, ledger_node_limit(s->c->ledger));
	if (!still_holds(b, b->memory))
		memory_empty(b->memory);
	b->memory->epoch = b->rows.epoch;
	b->memory->now_ns = s->j->now_ns;
	b->memory->stride = ledger_stride(s->c->ledger);
	memcpy(b->memory->capacity, ledger_capacity(s->c->ledger), b->memory->stride * sizeof(int64_t));
}

static void learn_set(struct search_bounds *b, const struct kind_answers *from, struct known_set *to)
{
	if (to->n < from->n) {
		to->v = mem_resize(to->v, from->n, sizeof(*to->v));
		memset(to->v + to->n, 0, (from->n - to->n) * sizeof(*to->v));
		to->n = from->n;
	}
	to->short_types = from->short_types;
	for (uint32_t k = 0; k < from->n; k++)
		if (from->v[k].stamp == b->stamp)
			to->v[k] = (struct known_answer){.is_known = true,
							 .is_of_group = from->v[k].is_of_group,
							 .says = from->v[k].says,
							 .window_ns = window_of(b, &from->v[k])};
}

/* Sets that were known are asked about in the same order, so they have the same places. */
static void memory_end(struct search_bounds *b)
{
	if (!b->memory)
		return;
	b->memory->n_sets = b->n_sets;
	for (uint32_t i = 0; i < b->n_sets; i++)
		learn_set(b, &b->sets[i], &b->memory->sets[i]);
}

/* Somebody who is leaving and should go by some time makes the room a matter of time. */
static bool is_lasting(const struct search_bounds *b, node_id node)
{
	const struct ledger *l = b->g->s->c->ledger;
	const struct ledger_node *n = ledger_node(l, node);

	for (uint32_t i = 0; ledger_node_leaving(l, node)[RES_PODS] && i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(l, n->pods.v[i]);

		if (p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE)
			return false;
	}
	return true;
}

static struct search_bounds *begin(struct node_search *g)
{
	struct search_bounds *b = bounds_of(g);
	const struct ledger *l = g->s->c->ledger;

	b->g = g;
	b->stamp++;
	b->n_sets = 0;
	b->cycle = ledger_cycle(l);
	node_rows_begin(&b->rows, l);
	fit_shapes(b, shape_limit(g->s->c->vocab));
	for (uint32_t k = 0; k < g->want.n; k++)
		b->path_lacks[k] =
			g->s->lacking >> g->want.type[k] & 1 ? node_search_path_lacks(g, g->want.type[k]) : 0;
	return b;
}

/* Rows of all nodes that are looked at, before rules are asked: then it is known how many kinds there are. */
static void make_rows(struct search_bounds *b, const node_id *nodes, uint32_t n)
{
	const struct ledger *l = b->g->s->c->ledger;

	for (uint32_t i = 0; i < n; i++)
		node_rows_of(&b->rows, l, nodes[i]);
}

static bool is_listing(const struct search_bounds *b)
{
	const struct protected_list *l = b->g->s->protected;

	return l && l->v.n < l->max;
}

/* False: no set on this node is enough. */
static bool bound_node(struct search_bounds *b, node_id node, struct node_bound *ret)
{
	bool lacks = measure_lacks(b, node, false), is_known;

	b->is_listing = is_listing(b);
	is_known = look_at_rows(b, node);
	if (b->has_groups && b->g->s->lacking)
		lacks = measure_lacks(b, node, true);
	tell_protected(b, is_known);
	*ret = (struct node_bound){.highest = INT32_MIN, .at = ret->at};
	if (!is_known || !lacks || bound_of(b, ret))
		return true;
	/* Not enough below a maximum: looked at only where nothing else is found, for who is refused there. */
	measure_lacks(b, node, true);
	*ret = (struct node_bound){.opted_out = INT64_MAX, .is_refined = true, .at = ret->at};
	return b->g->s->lacking && is_enough_with_all(b);
}

/* NULL: nothing is known, or more has to be known. */
static const struct bound_entry *known(const struct search_bounds *b, node_id node)
{
	const struct bound_entry *e = b->memory ? &b->memory->entries[node] : NULL;

	return e && e->generation == ledger_node(b->g->s->c->ledger, node)->generation &&
			       b->g->s->j->now_ns < e->until_ns && (e->is_silent || !is_listing(b))
		       ? e
		       : NULL;
}

static bool bound_anew(struct search_bounds *b, node_id node, struct node_bound *ret)
{
	bool was_listing = is_listing(b), is_found = bound_node(b, node, ret);

	if (b->memory && is_lasting(b, node))
		b->memory->entries[node] =
			(struct bound_entry){.generation = ledger_node(b->g->s->c->ledger, node)->generation,
					     .until_ns = b->until_ns,
					     .bound = *ret,
					     .is_out = !is_found,
					     .is_silent = was_listing && !b->n_listed && !b->has_groups};
	return is_found;
}

uint32_t search_bound_all(struct node_search *g, const node_id *nodes, uint32_t n, struct node_bound *ret)
{
	struct search_bounds *b = begin(g);
	uint32_t count = 0;

	make_rows(b, nodes, n);
	memory_begin(b);
	for (uint32_t i = 0; i < n; i++) {
		const struct bound_entry *e = known(b, nodes[i]);

		ret[count].at = i;
		if (e)
			ret[count] = e->bound;
		ret[count].at = i;
		count += e ? !e->is_out : bound_anew(b, nodes[i], &ret[count]);
	}
	memory_end(b);
	return count;
}

/* ---- a closer look ---- */

/*
 * Of one type alone so much has to be freed: at least so much work is lost if parts of pods could go, those first that
 * free most for what is lost.
 */
static int64_t least_for_type(const struct search_bounds *b, uint32_t k, bool *taken)
{
	int64_t left = b->lacks[k], sum = 0;

	memset(taken, 0, b->n * sizeof(*taken));
	while (left > 0) {
		const struct row_candidate *best = NULL;
		uint32_t at = 0;

		for (uint32_t i = 0; i < b->n; i++) {
			const struct row_candidate *m = &b->candidates[i];

			if (taken[i] || m->shape->frees[k] <= 0 ||
			    (best && (__int128)lost_of(b, m) * best->shape->frees[k] >=
					     (__int128)lost_of(b, best) * m->shape->frees[k]))
				continue;
			best = m;
			at = i;
		}
		if (!best)
			break;
		taken[at] = true;
		if (best->shape->frees[k] >= left)
			return res_add_sat(sum, (int64_t)((__int128)lost_of(b, best) * left / best->shape->frees[k]));
		sum = res_add_sat(sum, lost_of(b, best));
		left -= best->shape->frees[k];
	}
	return sum;
}

void search_bound_refine(struct node_search *g, node_id node, struct node_bound *b)
{
	struct search_bounds *s = bounds_of(g);
	bool *taken, lacks = measure_lacks(s, node, false);

	b->is_refined = true;
	s->is_listing = false;
	if (!lacks || b->opted_out || !look_at_rows(s, node))
		return;
	if (s->has_groups && g->s->lacking)
		measure_lacks(s, node, true);
	taken = arena_n(g->s->c->arena, s->n + 1, bool);
	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t lost = s->lacks[k] > 0 ? least_for_type(s, k, taken) : 0;

		b->lost = lost > b->lost ? lost : b->lost;
	}
}

int node_bound_cmp(const struct node_bound *a, const struct node_bound *b)
{
	if (a->opted_out != b->opted_out)
		return a->opted_out < b->opted_out ? -1 : 1;
	if (a->highest != b->highest)
		return a->highest < b->highest ? -1 : 1;
	if (a->lost != b->lost)
		return a->lost < b->lost ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Criteria between those that are bounded are 0 at least. */
bool node_bound_is_beaten(const struct node_bound *b, const struct set_cost *cost, uint32_t at)
{
	struct set_cost least = set_cost_none;
	int d;

	least.v[COST_OPTED_OUT] = b->opted_out;
	least.v[COST_HIGHEST] = b->highest;
	least.v[COST_LOST] = b->lost;
	least.v[COST_COUNT] = 1;
	d = set_cost_cmp(&least, cost);
	return d > 0 || (d == 0 && b->at > at);
}
