/* SPDX-License-Identifier: Apache-2.0 */
/* One node, row by row: who may go there, whether that is enough, and what the best set costs at least. */
#include "engine/search_bound_internal.h"

/* What changed since the last time; false: that is not known any more. */
static bool follow_changes(struct search_bounds *b, const struct ledger *l)
{
	uint64_t n = ledger_node_changes(l);

	if (b->made_epoch != b->rows.epoch + 1 ||
	    (b->made_changes < n && ledger_node_change(l, b->made_changes) == NODE_NONE))
		return false;
	for (; b->made_changes < n; b->made_changes++) {
		node_id node = ledger_node_change(l, b->made_changes);

		if (bits_has(&b->made, node))
			node_rows_of(&b->rows, l, node);
	}
	return true;
}

void rows_make(struct search_bounds *b, const node_id *nodes, uint32_t n)
{
	const struct ledger *l = b->g->s->c->ledger;
	bool is_followed = follow_changes(b, l);

	if (is_followed && b->made_list.n == n && (!n || !memcmp(b->made_list.v, nodes, n * sizeof(*nodes))))
		return;
	if (!is_followed)
		bits_reset(&b->made);
	if (b->n_made_at < ledger_node_limit(l)) {
		mem_free(b->made_at);
		b->n_made_at = ledger_node_limit(l);
		b->made_at = mem_alloc(b->n_made_at * sizeof(*b->made_at));
	}
	b->made_list.n = 0;
	array_reserve(&b->made_list, n);
	for (; b->made_list.n < n; b->made_list.n++) {
		node_id node = nodes[b->made_list.n];

		b->made_list.v[b->made_list.n] = node;
		b->made_at[node] = b->made_list.n;
		if (!bits_has(&b->made, node))
			node_rows_of(&b->rows, l, node);
		bits_set(&b->made, node);
	}
	b->made_epoch = b->rows.epoch + 1;
	b->made_changes = ledger_node_changes(l);
}

bool rows_measure_lacks(struct search_bounds *b, node_id node, bool has_groups)
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

const struct rule_verdict *row_verdict(const struct kind_answer *a, bool is_exception)
{
	return is_exception || !a->has_verdict || a->says == OPEN ? NULL : &a->why;
}

static void list(struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row, bool is_exception)
{
	b->listed[b->n_listed++] = (struct listed){.pod = row->pod, .why = row_verdict(a, is_exception)};
}

static bool is_covered(const struct search_bounds *b, const int64_t *frees)
{
	for (uint32_t k = 0; k < b->g->want.n; k++)
		if (frees[k] < b->lacks[k])
			return false;
	return true;
}

/* Is it enough with this one? */
static inline bool add_frees(const struct search_bounds *b, int64_t *frees, const struct shape_answer *shape)
{
	for (uint32_t k = 0; k < b->g->want.n; k++)
		frees[k] += shape->frees[k];
	return is_covered(b, frees);
}

/* What the kind leaves open may be plain: who is bigger than what its queue has above its guarantee stays. */
static bool is_too_big(struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row)
{
	struct judge *j = b->g->s->j;

	if (a->is_of_group || !judge_asks(j, RULE_GUARANTEE))
		return false;
	judge_look_at(j, b->types);
	return judge_is_too_big(j, ledger_pod(j->ledger, row->pod));
}

/* Returns false where the pod is no candidate. */
static inline bool row_may_go(struct search_bounds *b, struct kind_answer *a, const struct pod_row *row, bool *ret_last)
{
	enum kind_says says = (enum kind_says)a->says;
	bool is_odd, is_kept;

	if (says == NOT_ASKED)
		return false;
	is_odd = row_is_exception(b, a, row, true, &says);
	*ret_last = says == LAST;
	is_kept = says == KEPT || (says == LAST && !b->g->s->with_opted_out);
	b->has_last |= says == LAST || says == OPEN || a->is_of_group;
	if (b->is_listing && (is_kept || says == OPEN) && (is_odd || !(a->is_untold || row_is_unknown(b, a, row))))
		list(b, a, row, is_odd);
	if (says == OPEN && is_too_big(b, a, row))
		is_kept = b->has_too_big = true;
	return !is_kept;
}

/* He stays like everybody of his kind, and nothing else is special about him: nearly all of those who are told of. */
static inline bool is_plainly_kept(const struct search_bounds *b, const struct kind_answer *a,
				   const struct pod_row *row)
{
	const struct judge *j = b->g->s->j;

	return a->says == KEPT && !a->is_of_group && row->started_s != ROW_APART &&
	       (speaks_before_windows(a) || !is_inside(a, row_started(j->ledger, row), j->now_ns));
}

static void fit_candidates(struct search_bounds *b, uint32_t n)
{
	if (b->n_candidates >= n)
		return;
	b->n_candidates = 2 * n;
	b->candidates = mem_resize(b->candidates, b->n_candidates, sizeof(*b->candidates));
	b->listed = mem_resize(b->listed, b->n_candidates, sizeof(*b->listed));
}

/* Is it an application's driver, which goes only where nobody else does? */
static bool is_driver(struct search_bounds *b, const struct pod_row *row)
{
	const struct judge *j = b->g->s->j;

	return judge_asks(j, RULE_DRIVER) && judge_is_driver(j, row->pod);
}

bool rows_look(struct search_bounds *b, node_id node, bool with_drivers)
{
	const struct pod_rows *rows = node_rows_of(&b->rows, b->g->s->c->ledger, node);
	struct kind_answers *answers = kinds_for(b, b->types);
	uint64_t types = b->g->is_fast ? b->types : ~UINT64_C(0);
	int64_t frees[WANTED] = {0}, clear[WANTED] = {0};
	bool is_last, has_plain = b->is_listing && !b->has_own; /* of the own application more is asked */

	b->n = b->n_listed = 0;
	b->enough = UINT32_MAX;
	b->is_clear = false;
	b->has_groups = b->has_drivers = false;
	b->until_ns = INT64_MAX;
	b->has_last |= !answers;
	if (!answers)
		return false;
	fit_candidates(b, rows->n);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct pod_row *row = &rows->v[i];
		const struct shape_answer *shape;
		struct kind_answer *a = &answers->v[row->kind];
		bool is_beyond;

		if (a->stamp == b->stamp && (a->says == NOT_ASKED || a->is_silent))
			continue;
		if (has_plain && a->stamp == b->stamp && is_plainly_kept(b, a, row)) {
			if (!a->is_untold && shape_of(b, row->shape)->types & types)
				list(b, a, row, false);
			continue;
		}
		is_beyond = b->enough != UINT32_MAX &&
			    row_priority(&b->rows, row) > row_priority(&b->rows, b->candidates[b->enough].row);
		if (is_beyond && !b->is_listing && b->is_clear) {
			b->has_last = true; /* perhaps among the rest */
			break;
		}
		shape = shape_of(b, row->shape);
		if (!(shape->types & types) || row->pod == b->own)
			continue;
		if (a->stamp != b->stamp) {
			b->rows.kinds.v[row->kind].at = node;
			kind_ask(b, row->kind, a, row->pod);
		}
		if (!row_may_go(b, a, row, &is_last))
			continue;
		b->has_groups |= a->is_of_group;
		if (!with_drivers && !is_last && is_driver(b, row)) {
			b->has_drivers = true;
			continue;
		}
		if (!b->is_clear && !is_last && !(shape->types & a->below))
			b->is_clear = add_frees(b, clear, shape);
		if (is_beyond)
			continue;
		b->candidates[b->n++] = (struct row_candidate){.row = row, .shape = shape, .is_last = is_last};
		if (!is_last && b->enough == UINT32_MAX && add_frees(b, frees, shape))
			b->enough = b->n - 1;
	}
	return true;
}

/* ---- the bound ---- */

bool rows_are_enough(const struct search_bounds *b)
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
	return row_lost(b, m->row, m->shape);
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
bool rows_bound(const struct search_bounds *b, struct node_bound *ret)
{
	ret->opted_out = b->enough == UINT32_MAX;
	ret->highest = INT32_MIN;
	ret->lost = 0;
	if (ret->opted_out)
		return rows_are_enough(b);
	ret->is_below = !b->is_clear;
	ret->highest = row_priority(&b->rows, b->candidates[b->enough].row);
	ret->lost = least_lost(b, least_victims(b));
	return true;
}
