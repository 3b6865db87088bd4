/* SPDX-License-Identifier: Apache-2.0 */
/* What rules say of each kind of running pod, and what each shape frees, for one search. */
#include "engine/search_bound_internal.h"

/* Rules that go by more than the kind: asked apart, or of the pod itself. */
#define OF_PODS                                                                                               \
	(UINT64_C(1) << RULE_APPLICATION | UINT64_C(1) << RULE_SAME_CYCLE | UINT64_C(1) << RULE_MIN_RUNTIME | \
	 UINT64_C(1) << RULE_GUARANTEE | UINT64_C(1) << RULE_DRIVER | UINT64_C(1) << RULE_THRASH)

/* Could some pod of the queue be too big for what it has above its guarantees? */
static bool may_be_too_big(const struct search_bounds *b, struct judge *j, queue_id queue)
{
	const struct victim_queue *o = judge_queue(j, queue);

	for (uint32_t i = 0; i < o->n_guards; i++) {
		const struct queue *q = queue_get(j->tree, o->guards[i]);
		const int64_t *used = ledger_queue_used(j->ledger, o->guards[i]);

		for (uint64_t left = q->spec.guaranteed.mask & o->kept; left; left &= left - 1) {
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
	bool has_listed;

	budget_slack(j->ledger, &j->scratch->slacks, p->labelset, &has_listed);
	return has_listed;
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

/* Short types do not matter here: asked once in a search. */
static void ask_rules(struct search_bounds *b, pod_id pod, const struct pod *p, struct kind_answer *a)
{
	struct judge *j = b->g->s->j;
	uint64_t on = j->on;

	a->says = OPEN;
	if ((judge_asks(j, RULE_PREEMPTIBILITY) && p->preemptibility == SEMI_PREEMPTIBLE) ||
	    (judge_asks(j, RULE_BUDGET) && has_listed(j, p)))
		return;
	j->on = on & ~OF_PODS;
	a->why = judge_victim(j, pod);
	j->on = on;
	a->has_verdict = is_of_kind(&a->why);
	a->says = a->why.answer == IS_PROTECTED ? KEPT : a->why.rule == RULE_OPT_OUT ? LAST : MAY;
}

/* A group that goes as a whole is counted with the queue of one of its pods. */
static bool is_of_one_queue(const struct search_bounds *b, const struct pod *p)
{
	const struct judge *j = b->g->s->j;
	pod_id i = cluster_group_first(j->cluster, p->group);

	while (i != POD_NONE && ledger_pod(j->ledger, i)->queue == p->queue)
		i = cluster_group_next(j->cluster, i);
	return i == POD_NONE;
}

/* Where law 2 is judged in such a type, nobody who holds it goes. Asked each time: it depends on what queues use. */
static uint64_t types_below(const struct search_bounds *b, queue_id queue, const struct kind_answer *a)
{
	return a->says == KEPT || a->says == NOT_ASKED || !a->is_of_one_queue ? 0
									      : judge_types_below(b->g->s->j, queue);
}

/* For pods without a group, and those whose group has no say, one of the own group may speak. */
static bool is_looked_at(const struct search_bounds *b, pod_id pod, const struct pod *p)
{
	return pod == b->own ? node_search_concerns_queue(b->g, p->queue) : node_search_concerns(b->g, p);
}

/* Without a window: what is said of such a kind must not differ from one time to the next. */
static struct kind_answer not_asked(const struct search_bounds *b)
{
	return (struct kind_answer){
		.stamp = b->stamp, .says = NOT_ASKED, .inside_from = INT64_MAX, .plain_until_s = -1};
}

static void ask_once(struct search_bounds *b, uint32_t kind, pod_id pod, struct kind_answer *a)
{
	struct judge *j = b->g->s->j;
	const struct pod *p = ledger_pod(j->ledger, pod);
	podset_id podset = b->rows.kinds.v[kind].podset;
	int64_t window_ns;

	*a = not_asked(b);
	if (!is_looked_at(b, pod, p))
		return;
	ask_rules(b, pod, p, a);
	window_ns = judge_asks(j, RULE_MIN_RUNTIME) ? judge_window_ns(j, p) : 0;
	a->is_of_group = podset != PODSET_NONE && profile_get(j->settings.profile)->has_gangs;
	a->inside_from = window_ns > 0 ? res_sub_sat(j->now_ns, window_ns) : INT64_MAX;
	a->window_ns = window_ns > 0 ? window_ns : 0;
	a->is_of_one_queue = podset == PODSET_NONE || is_of_one_queue(b, p);
}

static void ask_guarantee(struct search_bounds *b, queue_id queue, struct kind_answer *a)
{
	struct judge *j = b->g->s->j;
	struct rule_verdict says;

	if (!judge_asks(j, RULE_GUARANTEE) || (a->says == KEPT && a->why.rule < RULE_GUARANTEE)) /* who speaks first */
		return;
	judge_look_at(j, b->types);
	says = judge_guarantee_of_queue(j, queue);
	if (says.answer == IS_PROTECTED) {
		a->why = judge_in_words_of_shares(j, says);
		a->has_verdict = true;
		a->says = KEPT;
	} else if (may_be_too_big(b, j, queue)) {
		a->is_open_by_guarantee = a->says == MAY;
		a->has_verdict = false;
		a->says = a->says == KEPT ? KEPT : OPEN;
	}
}

/*
 * The last rule of all goes by the work a pod belongs to: it protects who may go by the others, also who opted out
 * where nothing else works.
 */
static void leave_to_history(const struct search_bounds *b, struct kind_answer *a)
{
	if (a->says == MAY || (a->says == LAST && b->g->s->with_opted_out)) {
		a->says = OPEN;
		a->is_open_by_history = true;
	}
	if (a->says == LAST)
		a->has_verdict = false;
}

static void fit_answers(struct kind_answers *s, uint32_t n)
{
	if (s->n >= n)
		return;
	n = n < 2 * s->n ? 2 * s->n : n;
	s->v = mem_resize(s->v, n, sizeof(*s->v));
	memset(s->v + s->n, 0, (n - s->n) * sizeof(*s->v));
	s->n = n;
}

/* ---- what was said to others ---- */

/* How often a queue loses pods is counted while decisions are made, and evictions of one's own are among them. */
static bool goes_by_view(const struct judge *j)
{
	return j->action == ACTION_RECLAIM && j->p->queue != QUEUE_NONE && j->p->queue != QUEUE_ROOT &&
	       !j->settings.evictions_per_hour;
}

void kinds_begin(struct search_bounds *b)
{
	const struct judge *j = b->g->s->j;
	const struct queue *q = goes_by_view(j) ? queue_get(j->tree, j->p->queue) : NULL;
	struct kinds_view v;

	b->sees = 0;
	if (!q)
		return;
	v = (struct kinds_view){.run = b->g->s->run,
				.budgets = ledger_budget_standing(j->ledger),
				.epoch = b->rows.epoch,
				.priority_offset = q->props.priority_offset,
				.is_priority_fence = q->props.is_priority_fence,
				.priority = j->p->priority,
				.parent = q->parent,
				.fence = j->fence};
	if (memcmp(&v, &b->view, sizeof(v)) != 0)
		b->view_stamp++;
	b->view = v;
	b->sees = b->view_stamp;
}

/* Also to somebody else for whom rules say the same. There is room for all kinds. */
static inline bool was_said(struct search_bounds *b, uint32_t kind)
{
	struct kind_answer *once = &b->once.v[kind];

	if (once->stamp == b->stamp)
		return true;
	if (!b->sees || once->view != b->sees || b->rows.kinds.v[kind].queue == b->g->s->j->p->queue)
		return false;
	once->stamp = b->stamp;
	return true;
}

static void say_once(struct search_bounds *b, uint32_t kind, pod_id pod)
{
	struct kind_answer *once;

	fit_answers(&b->once, b->rows.kinds.n);
	if (was_said(b, kind))
		return;
	once = &b->once.v[kind];
	ask_once(b, kind, pod, once);
	if (once->says != NOT_ASKED && b->rows.kinds.v[kind].podset == PODSET_NONE)
		once->view = b->sees;
}

int64_t kind_plain_until(const struct search_bounds *b, const struct kind_answer *a)
{
	const struct judge *j = b->g->s->j;
	int64_t until_ns = a->inside_from < j->now_ns ? a->inside_from : j->now_ns;

	if (a->says != MAY || a->is_of_group || a->below || j->action == ACTION_DISPLACE || until_ns < 0)
		return -1;
	return until_ns / NS_PER_S < ROW_APART ? until_ns / NS_PER_S : ROW_APART - 1;
}

/* What was said of it once, and what depends on short types and on what queues use. */
static void complete(struct search_bounds *b, uint32_t kind, struct kind_answer *a)
{
	const struct row_kind *k = &b->rows.kinds.v[kind];

	*a = b->once.v[kind];
	a->below = types_below(b, k->queue, a);
	if (a->says != NOT_ASKED && a->says != OPEN)
		ask_guarantee(b, k->queue, a);
	if (has_history(b->g->s->j))
		leave_to_history(b, a);
	a->is_untold = b->g->s->tells_times && (a->says == KEPT || a->says == LAST) && a->has_verdict &&
		       !verdict_is_timed(&a->why);
	a->is_silent = a->says == KEPT && a->is_untold && !a->is_of_group && a->inside_from == INT64_MAX;
	a->plain_until_s = kind_plain_until(b, a);
	a->least = k->least;
}

/* Of a queue that the action does not look at, what was said to others of the kind is left as it is. */
void kind_ask(struct search_bounds *b, uint32_t kind, struct kind_answer *a, pod_id pod)
{
	if (!node_search_concerns_queue(b->g, b->rows.kinds.v[kind].queue)) {
		*a = not_asked(b);
		return;
	}
	say_once(b, kind, pod);
	complete(b, kind, a);
}

struct kind_answers *kinds_for(struct search_bounds *b, uint64_t short_types)
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
		s->is_complete = false;
		s->class = NULL;
		fit_answers(s, b->rows.kinds.n);
	}
	return s;
}

/* A kind that is kept has no exceptions, but for the one of the own group. Of groups it does not tell who goes. */
static bool keeps_all(const struct search_bounds *b, const struct kind_answers *s)
{
	uint32_t k = 0;

	while (k < s->n && (s->v[k].stamp != b->stamp || s->v[k].says == NOT_ASKED ||
			    (s->v[k].says == KEPT && !s->v[k].is_of_group)))
		k++;
	return k == s->n && b->own == POD_NONE;
}

void kinds_ask_all(struct search_bounds *b, struct kind_answers *s)
{
	uint64_t types = b->types;

	if (s->is_complete)
		return;
	b->types = s->short_types;
	fit_answers(&b->once, b->rows.kinds.n);
	for (uint32_t k = 0; k < s->n && k < b->rows.kinds.n; k++) {
		pod_id pod;

		if (s->v[k].stamp == b->stamp)
			continue;
		if (was_said(b, k)) {
			complete(b, k, &s->v[k]);
			continue;
		}
		if (!node_search_concerns_queue(b->g, b->rows.kinds.v[k].queue)) { /* which pod of it does not matter */
			s->v[k] = not_asked(b);
			continue;
		}
		pod = node_rows_example(&b->rows, b->g->s->c->ledger, k); /* looking for one may find new kinds */
		fit_answers(&b->once, b->rows.kinds.n);
		if (pod != POD_NONE)
			kind_ask(b, k, &s->v[k], pod);
	}
	b->types = types;
	s->is_complete = true;
	s->keeps_all = keeps_all(b, s);
}

/* Rules that go by more than the kind only protect more. Of groups the kind does not tell who goes with whom. */
static enum kinds_say say_of(const struct search_bounds *b, const struct kind_answer *a)
{
	bool is_kept = a->says == KEPT || (a->says == LAST && !b->g->s->with_opted_out);

	return a->says == NOT_ASKED ? ALL_NOT_ASKED : is_kept && !a->is_of_group ? ALL_KEPT : SOME_MAY_GO;
}

static uint64_t wanted_types(const struct search_bounds *b)
{
	uint64_t types = b->g->s->j->asked;

	for (uint32_t k = 0; k < b->g->want.n; k++)
		types |= UINT64_C(1) << b->g->want.type[k];
	return types;
}

enum { LAW_4_KEEPS = 1, LAW_4_MAY_NOT = 2 };

/* Law 4 keeps everybody of its queue. Not of groups: of those the kind does not tell. known: by queue, at first 0. */
static bool is_kept_by_law_4(struct search_bounds *b, const struct row_kind *k, uint64_t types, uint8_t *known)
{
	struct judge *j = b->g->s->j;

	if (k->podset != PODSET_NONE || !judge_asks(j, RULE_GUARANTEE))
		return false;
	if (!known[k->queue])
		known[k->queue] = judge_is_owed_nothing(j, k->queue, types) ? LAW_4_KEEPS : LAW_4_MAY_NOT;
	return known[k->queue] == LAW_4_KEEPS;
}

/* Is there a kind of another queue than the pod's own? */
static bool has_others(const struct search_bounds *b)
{
	uint32_t k = 0;

	while (k < b->rows.kinds.n && b->rows.kinds.v[k].queue == b->g->s->j->p->queue)
		k++;
	return k < b->rows.kinds.n;
}

/* Of whomever it meets, law 4 keeps everybody: then no kind has to be looked at by itself. Between queues alone. */
static bool all_are_kept_by_law_4(const struct search_bounds *b, uint64_t types)
{
	const struct judge *j = b->g->s->j;

	return j->action == ACTION_RECLAIM && judge_asks(j, RULE_GUARANTEE) && !b->rows.n_of_groups &&
	       judge_is_owed_nothing_by_any(j, types);
}

/* Of one kind that it concerns. */
static enum kinds_say says_kind(struct search_bounds *b, uint32_t k, uint64_t types, uint8_t *known)
{
	pod_id pod;

	b->n_asked += b->rows.kinds.v[k].n_rows;
	fit_answers(&b->once, b->rows.kinds.n);
	if (is_kept_by_law_4(b, &b->rows.kinds.v[k], types, known))
		return ALL_KEPT;
	if (!was_said(b, k)) {
		pod = node_rows_example(&b->rows, b->g->s->c->ledger, k); /* looking for one may find new kinds */
		if (pod == POD_NONE)
			return ALL_NOT_ASKED;
		say_once(b, k, pod);
	}
	b->has_last |= b->once.v[k].says == LAST;
	return say_of(b, &b->once.v[k]);
}

static enum kinds_say larger(enum kinds_say a, enum kinds_say b)
{
	return a > b ? a : b;
}

/* Inside a queue: only its own kinds are asked. What is found on the way is one of the first. */
static enum kinds_say own_kinds_say(struct search_bounds *b, uint64_t types, uint8_t *known)
{
	enum kinds_say most = ALL_NOT_ASKED;
	uint32_t n;

	do {
		n = b->rows.kinds.n;
		b->n_asked = 0;
		for (uint32_t k = node_rows_kind_of(&b->rows, b->g->s->j->p->queue);
		     k != MAP_NONE && most < SOME_MAY_GO; k = b->rows.kinds.v[k].next_of_queue)
			most = larger(most, says_kind(b, k, types, known));
	} while (most < SOME_MAY_GO && b->rows.kinds.n > n);
	return most;
}

enum kinds_say kinds_say(struct search_bounds *b)
{
	const struct ledger *l = b->g->s->c->ledger;
	const struct judge *j = b->g->s->j;
	enum kinds_say most = ALL_NOT_ASKED;
	uint64_t types = wanted_types(b);
	uint8_t *known;

	b->n_asked = 0;
	if (all_are_kept_by_law_4(b, types)) {
		b->n_asked = (uint64_t)ledger_queue_used(l, QUEUE_ROOT)[RES_PODS];
		return has_others(b) ? ALL_KEPT : ALL_NOT_ASKED;
	}
	known = arena_n(b->g->s->c->arena, ledger_queues(l)->q.n + 1, uint8_t);
	if (j->action == ACTION_PREEMPT || j->action == ACTION_DISPLACE)
		return own_kinds_say(b, types, known);
	for (uint32_t k = 0; k < b->rows.kinds.n && most < SOME_MAY_GO; k++)
		if (node_search_concerns_queue(b->g, b->rows.kinds.v[k].queue))
			most = larger(most, says_kind(b, k, types, known));
	return most;
}

/* ---- shapes ---- */

bool row_is_unknown(const struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row)
{
	const struct judge *j = b->g->s->j;

	return (a->is_open_by_history || (a->is_open_by_guarantee && b->g->s->tells_times)) &&
	       !judge_may_thrash(j, ledger_pod(j->ledger, row->pod));
}

void measure_shape(struct search_bounds *b, shape_id id, struct shape_answer *a)
{
	const struct cede_cycle *c = b->g->s->c;
	const struct res_list *usage = &shape_get(c->vocab, id)->usage;
	const struct want *w = &b->g->want;

	*a = (struct shape_answer){.stamp = b->shapes_stamp,
				   .types = UINT64_C(1) << RES_PODS,
				   .share = share_of_cluster(c->ledger, usage)};
	for (uint32_t i = 0; i < usage->n; i++)
		a->types |= (uint64_t)(usage->v[i].amount > 0) << usage->v[i].type;
	for (uint32_t k = 0; k < w->n; k++)
		a->frees[k] = w->type[k] == RES_PODS ? 1 : res_list_get(usage, w->type[k]);
}
