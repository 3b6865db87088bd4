/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches of which rules say the same of every kind of running pod, and which are short of the same types, find the
 * same on a node, whoever waits, in whichever queue, and whatever his size: who may go, what they free up to each
 * priority, and how much work is lost at least. That is kept by class, and what a node's best set costs at least for a
 * pod follows by a few comparisons.
 *
 * It holds while the node is the same and time goes on: work that is lost only grows, until a minimum runtime ends.
 * Rules are asked again of each kind in each search, which is little, to know the class. Pods of the preemptor's own
 * application count as any other of their kind: the bound is not too high for that.
 *
 * Searches between queues differ in whom they do not ask: those of the own queue. Where these are few, and nobody is to
 * be told who is protected, they are counted as if they could go. Such a wide class serves pods of many queues; one
 * that is not serves them too, where rules say exactly the same.
 */
#include "engine/search_bound_internal.h"

/* ---- where they are kept ---- */

enum { ARENA_BLOCK = 1 << 15 };

/* As many levels as it has: few nodes get more later, and those get room for any number. */
static struct class_node *node_take(struct search_class *c, node_id node, uint8_t n_levels)
{
	struct class_node *x = c->nodes[node];

	if (x && x->cap_levels >= n_levels)
		return x;
	n_levels = x ? LEVELS : n_levels;
	if (!c->arena)
		c->arena = arena_new(ARENA_BLOCK);
	x = c->nodes[node] = arena_take(c->arena, sizeof(*x) + n_levels * sizeof(struct class_level));
	x->cap_levels = n_levels;
	return x;
}

/* ---- which class ---- */

static void class_clear(struct search_class *c)
{
	mem_free(c->answers);
	mem_free(c->nodes);
	arena_free(c->arena);
	mem_free(c->blocks.v);
	*c = (struct search_class){0};
}

void classes_free(struct search_bounds *b)
{
	for (int i = 0; i < CLASSES; i++)
		class_clear(&b->classes[i]);
}

void classes_begin(struct search_bounds *b)
{
	const struct ledger *l = b->g->s->c->ledger;

	memset(b->capacity, 0, sizeof(b->capacity));
	memcpy(b->capacity, ledger_capacity(l), ledger_stride(l) * sizeof(*b->capacity));
	if (b->epoch == b->rows.epoch)
		return;
	classes_free(b);
	b->epoch = b->rows.epoch;
}

static bool is_untold_inside(const struct kind_answer *a)
{
	return a->is_untold && speaks_before_windows(a);
}

/* A wide class holds for a search that asks fewer than it counts. */
static bool same_answer(const struct search_bounds *b, const struct search_class *c, const struct kind_answer *a,
			const struct known_answer *was)
{
	if (was->says == UNKNOWN || was->says == WILD || a->stamp != b->stamp || (c->is_wide && a->says == NOT_ASKED))
		return true;
	return a->says == was->says && a->is_of_group == was->is_of_group && a->is_untold == was->is_untold &&
	       is_untold_inside(a) == was->is_untold_inside && a->below == was->below && a->window_ns == was->window_ns;
}

/* A class that is over most often differs where it differed last: that is looked at first. */
static bool says_the_same(struct search_bounds *b, struct search_class *c, const struct kind_answers *s)
{
	const struct node_search *g = b->g;

	if (!c->id || (c->has_lost && memcmp(c->capacity, b->capacity, sizeof(c->capacity)) != 0) ||
	    c->short_types != s->short_types || c->is_fast != g->is_fast || c->with_opted_out != g->s->with_opted_out ||
	    c->tells_times != g->s->tells_times || (c->is_wide && !b->is_wide) || c->action != g->s->j->action ||
	    c->now_ns > g->s->j->now_ns)
		return false;
	if (c->differs_at < c->n_answers && c->differs_at < s->n &&
	    !same_answer(b, c, &s->v[c->differs_at], &c->answers[c->differs_at]))
		return false;
	for (uint32_t k = 0; k < c->n_answers && k < s->n; k++)
		if (!same_answer(b, c, &s->v[k], &c->answers[k])) {
			c->differs_at = k;
			return false;
		}
	return true;
}

static void fit_nodes(struct search_class *c, uint32_t n)
{
	if (c->n_nodes >= n)
		return;
	c->nodes = mem_resize(c->nodes, n, sizeof(*c->nodes));
	for (; c->n_nodes < n; c->n_nodes++)
		c->nodes[c->n_nodes] = NULL;
}

static uint8_t says_in_class(const struct search_class *c, const struct kind_answer *a)
{
	return c->is_wide && a->says == NOT_ASKED ? WILD : a->says;
}

/* Kinds of which there was no pod before: nothing that is known depends on them. */
static void learn(struct search_bounds *b, struct search_class *c, const struct kind_answers *s)
{
	const struct known_answer none = {.says = UNKNOWN};

	if (c->n_answers < s->n)
		c->answers = mem_resize(c->answers, s->n, sizeof(*c->answers));
	for (; c->n_answers < s->n; c->n_answers++)
		c->answers[c->n_answers] = none;
	for (uint32_t k = 0; k < s->n; k++)
		if (c->answers[k].says == UNKNOWN && s->v[k].stamp == b->stamp)
			c->answers[k] = (struct known_answer){.window_ns = s->v[k].window_ns,
							      .says = says_in_class(c, &s->v[k]),
							      .is_of_group = s->v[k].is_of_group,
							      .is_untold = s->v[k].is_untold,
							      .is_untold_inside = is_untold_inside(&s->v[k]),
							      .below = s->v[k].below};
	fit_nodes(c, ledger_node_limit(b->g->s->c->ledger));
	memcpy(c->capacity, b->capacity, sizeof(c->capacity));
	c->now_ns = b->g->s->j->now_ns;
	c->checked = b->stamp;
	c->is_current = true;
	c->last_use = ++b->clock;
}

static void class_new(struct search_bounds *b, struct search_class *c, const struct kind_answers *s)
{
	struct class_node **nodes = c->nodes;
	struct arena *arena = c->arena;
	struct class_blocks blocks = {.v = c->blocks.v, .n = c->blocks.n};
	uint32_t n = c->n_nodes;

	mem_free(c->answers);
	for (uint32_t i = 0; i < n; i++)
		nodes[i] = NULL;
	if (arena)
		arena_reset(arena);
	*c = (struct search_class){.id = ++b->class_ids,
				   .short_types = s->short_types,
				   .is_fast = b->g->is_fast,
				   .with_opted_out = b->g->s->with_opted_out,
				   .tells_times = b->g->s->tells_times,
				   .is_wide = b->is_wide,
				   .action = b->g->s->j->action,
				   .nodes = nodes,
				   .arena = arena,
				   .blocks = blocks,
				   .n_nodes = n};
}

/* As many as there is room for so many nodes of each; the one not used for longest makes room. */
static struct search_class *find(struct search_bounds *b, const struct kind_answers *s)
{
	uint32_t n = CLASS_ENTRIES / (ledger_node_limit(b->g->s->c->ledger) + 1);
	struct search_class *oldest = NULL;

	n = n < CLASSES_MIN ? CLASSES_MIN : n > CLASSES ? CLASSES : n;
	for (uint32_t i = 0; i < n; i++) {
		struct search_class *c = &b->classes[i];
		bool is_taken = c->checked == b->stamp && c->is_current; /* for other short types of this search */

		if (says_the_same(b, c, s))
			return c;
		if (!is_taken && (!oldest || c->last_use < oldest->last_use))
			oldest = c;
	}
	if (oldest)
		class_new(b, oldest, s);
	return oldest;
}

struct search_class *class_for(struct search_bounds *b)
{
	struct kind_answers *s = kinds_for(b, b->types);

	if (s && s->class)
		return s->class;
	if (!s || __builtin_popcountll(b->types) > CLASS_TYPES)
		return NULL;
	kinds_ask_all(b, s);
	s->class = find(b, s);
	if (s->class)
		learn(b, s->class, s);
	return s->class;
}

static bool check(struct search_bounds *b, struct search_class *c)
{
	struct kind_answers *s = kinds_for(b, c->short_types);

	if (!s || s->class)
		return s && s->class == c;
	kinds_ask_all(b, s);
	if (!says_the_same(b, c, s))
		return false;
	s->class = c;
	learn(b, c, s);
	return true;
}

bool class_is_current(struct search_bounds *b, uint32_t at, uint64_t id)
{
	struct search_class *c = &b->classes[at];

	if (c->id != id)
		return false;
	if (c->checked != b->stamp) {
		bool is_current = check(b, c);

		c->checked = b->stamp;
		c->is_current = is_current;
	}
	return c->is_current;
}

/* ---- one node ---- */

struct tally { /* of those who may go, up to the level that is at work */
	int64_t frees[CLASS_TYPES], most[CLASS_TYPES];
	int64_t least[CHEAPEST]; /* lost work, ascending */
	uint32_t n;
};

struct summary { /* at work on one node */
	struct class_node x;
	uint32_t at[CLASS_TYPES]; /* of the wanted types; those beyond are of nothing */
	struct tally tally;
	int64_t last[CLASS_TYPES], below[CLASS_TYPES]; /* what those free who opted out; who takes a queue below */
	bool is_open; /* the level that is at work: of this priority, and perhaps of higher ones */
	int32_t priority;
	struct class_level levels[LEVELS]; /* that are closed */
};

const struct class_wanted *class_wanted_types(struct search_bounds *b, uint64_t types)
{
	struct class_wanted *w = &b->wanted;

	if (w->stamp == b->stamp && w->short_types == types)
		return w;
	*w = (struct class_wanted){.stamp = b->stamp, .short_types = types};
	for (uint64_t left = types; left; left &= left - 1)
		for (uint32_t k = 0; k < b->g->want.n; k++)
			if (b->g->want.type[k] == (res_id)__builtin_ctzll(left))
				w->at[w->n++] = k;
	return w;
}

/* Among so many whose order is anybody's guess, comparing all is cheaper than finding the place. */
static inline void tally_add(struct tally *x, const struct shape_answer *shape, const uint32_t *at, int64_t lost)
{
	for (uint32_t t = 0; t < CLASS_TYPES; t++) {
		int64_t frees = shape->frees[at[t]];

		x->frees[t] += frees;
		x->most[t] = frees > x->most[t] ? frees : x->most[t];
	}
	for (uint32_t i = 0; i < CHEAPEST; i++) {
		int64_t was = x->least[i];

		x->least[i] = was < lost ? was : lost;
		lost = was < lost ? lost : was;
	}
	x->n++;
}

static void close_level(struct summary *s)
{
	struct class_level *level = &s->levels[s->x.n_levels];
	int64_t sum = 0;

	if (!s->is_open)
		return;
	level->priority = s->priority;
	memcpy(level->frees, s->tally.frees, sizeof(level->frees));
	memcpy(level->most, s->tally.most, sizeof(level->most));
	for (uint32_t i = 0; i < CHEAPEST; i++) {
		sum = i < s->tally.n ? res_add_sat(sum, s->tally.least[i]) : sum;
		level->lost[i] = sum;
	}
	s->x.n_levels++;
	s->is_open = false;
}

/* Of more priorities than there are levels the highest share one: its priority is the lowest of them. */
static inline bool is_of_level(const struct summary *s, int32_t priority)
{
	return s->priority == priority || s->x.n_levels == LEVELS - 1;
}

static inline void open_level(struct summary *s, int32_t priority)
{
	if (s->is_open && is_of_level(s, priority))
		return;
	close_level(s);
	s->is_open = true;
	s->priority = priority;
}

/* Who goes only if nothing else works. */
static void add_last(struct summary *s, const struct shape_answer *shape)
{
	for (uint32_t t = 0; t < CLASS_TYPES; t++)
		s->last[t] += shape->frees[s->at[t]];
}

static inline void add_candidate(struct search_bounds *b, struct summary *s, const struct pod_row *row,
				 const struct shape_answer *shape, bool is_below)
{
	open_level(s, row_priority(&b->rows, row));
	tally_add(&s->tally, shape, s->at, row_lost(b, row, shape));
	for (uint32_t t = 0; is_below && t < CLASS_TYPES; t++)
		s->below[t] += shape->frees[s->at[t]];
}

static int by_name(const struct search_bounds *b, pod_id p, pod_id q)
{
	const struct cede_cycle *c = b->g->s->c;
	const struct pod *x = ledger_pod(c->ledger, p), *y = ledger_pod(c->ledger, q);
	int d = name_cmp(c->names, labelset_get(c->vocab, x->labelset)->ns, labelset_get(c->vocab, y->labelset)->ns);

	return d ? d : name_cmp(c->names, x->name, y->name);
}

/* Most are never told: they are put in order when they are. */
static void add_listed(struct class_node *x, uint32_t row)
{
	if (x->n_listed < LISTED)
		x->listed[x->n_listed] = row;
	x->n_listed += x->n_listed <= LISTED;
	x->is_sorted = false;
}

const uint32_t *class_listed(const struct search_bounds *b, struct search_class *c, const struct pod_rows *rows,
			     node_id node)
{
	struct class_node *x = c->nodes[node];

	for (uint32_t i = 1; !x->is_sorted && i < x->n_listed; i++) {
		uint32_t row = x->listed[i], at = i;

		for (; at > 0 && by_name(b, rows->v[x->listed[at - 1]].pod, rows->v[row].pod) > 0; at--)
			x->listed[at] = x->listed[at - 1];
		x->listed[at] = row;
	}
	x->is_sorted = true;
	return x->listed;
}

static inline void add_row(struct search_bounds *b, struct summary *s, const struct pod_rows *rows, uint32_t i,
			   uint64_t types, const struct kind_answer *a)
{
	const struct pod_row *row = &rows->v[i];
	const struct shape_answer *shape = shape_of(b, row->shape);
	enum kind_says says = (enum kind_says)a->says;
	bool is_odd, is_kept;

	if (b->g->is_fast && !(shape->types & types))
		return;
	is_odd = row_is_exception(b, a, row, false, &says);
	is_kept = says == KEPT || (says == LAST && !b->g->s->with_opted_out);
	if ((is_kept || says == OPEN) && (is_odd || !a->is_untold))
		add_listed(&s->x, i);
	s->x.has_last |= says == LAST || says == OPEN || a->is_of_group;
	if (is_kept)
		return;
	s->x.has_groups |= a->is_of_group;
	if (says == LAST)
		add_last(s, shape);
	else
		add_candidate(b, s, row, shape, shape->types & a->below);
}

/* Could a search that asks him find that he goes only if nothing else works? */
static bool may_be_last(const struct row_kind *k)
{
	return k->podset != PODSET_NONE || k->allows_preemption == NO ||
	       (k->allows_preemption == UNSET && k->class != NAME_NONE);
}

/* Of whom it depends on who searches whether he is asked. */
static void add_wild(struct search_bounds *b, struct summary *s, const struct pod_row *row, uint64_t types)
{
	const struct shape_answer *shape = shape_of(b, row->shape);

	if (b->g->is_fast && !(shape->types & types))
		return;
	s->x.has_last |= may_be_last(&b->rows.kinds.v[row->kind]);
	add_candidate(b, s, row, shape, false);
}

static void summary_begin(struct summary *s, struct search_bounds *b, const struct search_class *c)
{
	const struct class_wanted *w = class_wanted_types(b, c->short_types);

	memset(s, 0, offsetof(struct summary, levels));
	for (uint32_t i = 0; i < CHEAPEST; i++)
		s->tally.least[i] = INT64_MAX;
	for (uint32_t t = 0; t < CLASS_TYPES; t++)
		s->at[t] = t < w->n ? w->at[t] : WANTED;
	b->until_ns = INT64_MAX;
}

static void summary_end(struct summary *s, const struct search_bounds *b, uint64_t generation, struct class_node *ret)
{
	for (uint32_t t = 0; t < CLASS_TYPES; t++) {
		s->x.all[t] = s->tally.frees[t] + s->last[t];
		s->x.clear[t] = s->tally.frees[t] - s->below[t];
	}
	s->x.until_ns = b->until_ns;
	s->x.generation = generation;
	s->x.cap_levels = ret->cap_levels;
	memcpy(ret, &s->x, sizeof(*ret));
	memcpy(class_levels(ret), s->levels, s->x.n_levels * sizeof(*s->levels));
}

/* Of whom it depends on who searches whether he is asked; known in the class, or now. */
static inline bool is_wild(const struct search_class *c, const struct kind_answer *a, uint32_t kind)
{
	return c->is_wide && (a->says == NOT_ASKED || c->answers[kind].says == WILD);
}

/* The kind tells everything of him. */
static inline bool is_plain(const struct search_class *c, const struct kind_answer *a, const struct pod_row *row)
{
	return row->started_s <= a->plain_until_s && !is_wild(c, a, row->kind);
}

/*
 * From row i on, which is one, those of its level of whom the kind tells everything, as of nearly all. The tally is a
 * copy for the time: it stays in registers. Returns where they end.
 */
static uint32_t add_plain(struct search_bounds *b, const struct search_class *c, const struct kind_answer *answers,
			  const struct pod_rows *rows, uint32_t i, struct summary *s)
{
	const uint64_t types = b->g->is_fast ? c->short_types : ~UINT64_C(0);
	const int64_t now_s = b->g->s->j->now_ns / NS_PER_S;
	const uint32_t at[CLASS_TYPES] = {s->at[0], s->at[1], s->at[2]};
	const struct pod_row *row = &rows->v[i];
	const struct kind_answer *a = &answers[row->kind];
	struct tally x;

	if (!(shape_of(b, row->shape)->types & types))
		return i + 1;
	open_level(s, a->least);
	x = s->tally;
	do {
		const struct shape_answer *shape = shape_of(b, row->shape);

		if (shape->types & types)
			tally_add(&x, shape, at, lost_in_seconds(shape->share, now_s - row->started_s));
		if (++i == rows->n)
			break;
		row = &rows->v[i];
		a = &answers[row->kind];
		assert(a->stamp == b->stamp);
	} while (is_plain(c, a, row) && is_of_level(s, a->least));
	s->tally = x;
	return i;
}

static void add_rows(struct search_bounds *b, const struct search_class *c, const struct kind_answer *answers,
		     const struct pod_rows *rows, struct summary *s)
{
	uint32_t i = 0;

	while (i < rows->n) {
		const struct pod_row *row = &rows->v[i];
		const struct kind_answer *a = &answers[row->kind];

		assert(a->stamp == b->stamp);
		if (is_plain(c, a, row)) {
			i = add_plain(b, c, answers, rows, i, s);
			continue;
		}
		if (is_wild(c, a, row->kind))
			add_wild(b, s, row, c->short_types);
		else if (a->says != NOT_ASKED)
			add_row(b, s, rows, i, c->short_types, a);
		i++;
	}
	close_level(s);
}

static void summarise(struct search_bounds *b, struct search_class *c, node_id node)
{
	const struct pod_rows *rows = node_rows_of(&b->rows, b->g->s->c->ledger, node);
	struct summary s;

	summary_begin(&s, b, c);
	add_rows(b, c, kinds_for(b, c->short_types)->v, rows, &s);
	summary_end(&s, b, rows->generation, node_take(c, node, s.x.n_levels));
	c->has_lost |= s.x.n_levels > 0;
}

const struct class_node *class_node_of(struct search_bounds *b, struct search_class *c, node_id node)
{
	const struct class_node *x = c->nodes[node];

	if (!x || x->generation != ledger_node(b->g->s->c->ledger, node)->generation ||
	    b->g->s->j->now_ns >= x->until_ns)
		summarise(b, c, node);
	return c->nodes[node];
}

/* ---- the bound ---- */

/* So many victims at least, by the biggest amounts anybody of them frees. */
static uint32_t least_victims(const struct class_level *v, const int64_t *lacks, uint32_t n)
{
	uint32_t least = 1;

	for (uint32_t t = 0; t < n; t++)
		while (v->most[t] > 0 && least < CHEAPEST && least * v->most[t] < lacks[t])
			least++;
	return least;
}

bool class_bound(struct search_bounds *b, const struct search_class *c, node_id node, struct node_bound *ret)
{
	const struct class_node *x = c->nodes[node];
	const struct class_wanted *w;
	int64_t lacks[CLASS_TYPES];
	uint32_t i = 0;

	*ret = (struct node_bound){.highest = INT32_MIN, .at = ret->at};
	if (!c->short_types)
		return true;
	w = class_wanted_types(b, c->short_types);
	for (uint32_t t = 0; t < w->n; t++)
		lacks[t] = b->lacks[w->at[t]];
	while (i < x->n_levels && !amounts_reach(class_levels(x)[i].frees, lacks, w->n))
		i++;
	ret->opted_out = i == x->n_levels;
	if (ret->opted_out)
		return amounts_reach(x->all, lacks, w->n);
	ret->is_below = !amounts_reach(x->clear, lacks, w->n);
	ret->highest = (int32_t)class_levels(x)[i].priority;
	ret->lost = class_levels(x)[i].lost[least_victims(&class_levels(x)[i], lacks, w->n) - 1];
	return true;
}
