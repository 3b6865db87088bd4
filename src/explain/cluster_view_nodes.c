/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of nodes. Where there are more than fit on a screen, nodes that are the same but for what runs on them
 * share a line, which sums them up and says how much is free on the one that has most: free GPUs on many nodes do not
 * help a pod that wants eight on one.
 */
#include <inttypes.h>

#include "explain/cluster_view_text.h"

#define INSTANCE_TYPE "node.kubernetes.io/instance-type"

struct bunch { /* nodes on one line */
	node_id first;
	uint32_t n_nodes, n_pods;
	int64_t total[RES_MAX], free[RES_MAX], most[RES_MAX];
};

typedef ARRAY(struct bunch) bunch_list;

static name_id instance_type(const struct view_page *p, node_id id)
{
	const struct obj_node *o = ledger_node(p->v->ledger, id)->obj;
	name_id key = names_find(p->v->names, INSTANCE_TYPE, strlen(INSTANCE_TYPE)), value = NAME_NONE;

	if (o && key != NAME_NONE)
		labels_get(&labelset_get(p->v->vocab, o->labelset)->labels, key, &value);
	return value;
}

static uint64_t hash_taints(uint64_t h, const struct obj_node *o)
{
	for (uint32_t i = 0; i < o->n_taints; i++)
		h = hash_mix(hash_mix(hash_mix(h, o->taints[i].key), o->taints[i].value), o->taints[i].effect);
	return h;
}

static uint64_t hash_node(const struct view_page *p, node_id id)
{
	const struct obj_node *o = ledger_node(p->v->ledger, id)->obj;
	uint64_t h = hash_mix(instance_type(p, id), view_overbooked(p->v, id) != RES_NONE);

	if (!o)
		return h;
	h = hash_mix(h, hash_bytes(o->allocatable.v, sizeof(o->allocatable.v)));
	return hash_taints(hash_mix(h, (uint64_t)o->is_unschedulable << 1 | o->is_not_ready), o);
}

static bool same_taints(const struct obj_node *a, const struct obj_node *b)
{
	if (a->n_taints != b->n_taints)
		return false;
	for (uint32_t i = 0; i < a->n_taints; i++)
		if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
		    a->taints[i].effect != b->taints[i].effect)
			return false;
	return true;
}

static bool same_kind(const struct view_page *p, node_id id_a, node_id id_b)
{
	const struct obj_node *a = ledger_node(p->v->ledger, id_a)->obj, *b = ledger_node(p->v->ledger, id_b)->obj;

	if (instance_type(p, id_a) != instance_type(p, id_b) ||
	    (view_overbooked(p->v, id_a) != RES_NONE) != (view_overbooked(p->v, id_b) != RES_NONE))
		return false;
	if (!a || !b)
		return a == b;
	return res_vec_equal(&a->allocatable, &b->allocatable) && a->is_unschedulable == b->is_unschedulable &&
	       a->is_not_ready == b->is_not_ready && same_taints(a, b);
}

static void add_node(const struct view_page *p, struct bunch *b, node_id id)
{
	const int64_t *has = ledger_node_allocatable(p->v->ledger, id), *used = ledger_node_used(p->v->ledger, id);

	for (uint32_t i = 0; i < p->v->res.n; i++) {
		res_id r = p->v->res.v[i];
		int64_t free = res_sub_sat(has[r], used[r]);

		b->most[r] = !b->n_nodes || free > b->most[r] ? free : b->most[r];
		b->total[r] = res_add_sat(b->total[r], has[r]);
		b->free[r] = res_add_sat(b->free[r], free);
	}
	b->n_pods += ledger_node(p->v->ledger, id)->pods.n;
	b->n_nodes++;
}

/* The bunch it belongs to: the hash finds it, and the next number where another kind has it already. */
static struct bunch *bunch_of(const struct view_page *p, bunch_list *l, struct map *by_hash, node_id id)
{
	struct bunch fresh = {.first = id};
	uint64_t h = hash_node(p, id);
	uint32_t i;

	while ((i = map_get(by_hash, h)) < l->n && !same_kind(p, l->v[i].first, id))
		h++;
	if (i >= l->n) {
		i = l->n;
		map_put(by_hash, h, i);
		array_push(l, fresh);
	}
	return &l->v[i];
}

static void bunch_nodes(const struct view_page *p, bool by_kind, bunch_list *ret)
{
	struct map by_hash = {0};

	for (uint32_t i = 0; i < p->v->nodes.n; i++) {
		struct bunch fresh = {.first = p->v->nodes.v[i]};

		if (by_kind) {
			add_node(p, bunch_of(p, ret, &by_hash, fresh.first), fresh.first);
			continue;
		}
		array_push(ret, fresh);
		add_node(p, &array_last(ret), fresh.first);
	}
	map_free(&by_hash);
}

/* ---- words ---- */

static void node_types(const struct view_page *p, id_list32 *ret)
{
	const int64_t *capacity = ledger_capacity(p->v->ledger);

	for (uint32_t i = 0; i < p->v->res.n; i++) {
		res_id r = p->v->res.v[i];
		bool is_usual = r == RES_CPU || r == RES_MEMORY;
		bool is_hidden = r == RES_PODS || (r == RES_EPHEMERAL && !p->is_wide);

		if (is_usual || (capacity[r] && !is_hidden))
			array_push(ret, r);
	}
}

static void note_taints(const struct view_page *p, const struct obj_node *o, struct text *notes)
{
	if (!p->is_wide && o->n_taints) {
		page_note(notes, "%u taint%s", o->n_taints, o->n_taints == 1 ? "" : "s");
		return;
	}
	for (uint32_t i = 0; i < o->n_taints; i++) {
		const struct taint *t = &o->taints[i];

		page_note(notes, "%s%s%s:%s", name_str(p->v->names, t->key), t->value ? "=" : "",
			  name_str(p->v->names, t->value), taint_effect_text(t->effect));
	}
}

static void notes_cell(const struct view_page *p, struct table *t, const struct bunch *b)
{
	const struct ledger_node *n = ledger_node(p->v->ledger, b->first);
	res_id over = view_overbooked(p->v, b->first);
	enum tone tone = TONE_BAD;
	struct text notes = {0};

	if (!n->is_live)
		page_note(&notes, "no such node");
	else if (over != RES_NONE)
		page_note(&notes, "overbooked in %s", view_short_type(p->v, over));
	else
		tone = n->obj->is_not_ready || n->obj->is_unschedulable ? TONE_WARN : TONE_PLAIN;
	if (n->is_live && n->obj->is_not_ready)
		page_note(&notes, "not ready");
	if (n->is_live && n->obj->is_unschedulable)
		page_note(&notes, "cordoned");
	if (n->is_live && res_has(&n->obj->allocatable, RES_PODS) && b->most[RES_PODS] <= 0)
		page_note(&notes, "no room for one more pod");
	if (n->is_live)
		note_taints(p, n->obj, &notes);
	table_cell(t, tone, "%s", text_str(&notes));
	text_free(&notes);
}

static void room_cell(const struct view_page *p, struct table *t, const struct bunch *b, res_id r)
{
	enum tone tone = b->most[r] < 0 ? TONE_BAD : TONE_PLAIN;

	if (!b->total[r] && !b->free[r])
		table_cell(t, TONE_FAINT, "-");
	else if (b->n_nodes == 1 || r == RES_MEMORY || r == RES_EPHEMERAL)
		table_cell(t, tone, "%s/%s", page_amount(p, r, b->free[r]), page_amount(p, r, b->total[r]));
	else
		table_cell(t, tone, "%s/%s, most %s", page_amount(p, r, b->free[r]), page_amount(p, r, b->total[r]),
			   page_amount(p, r, b->most[r]));
}

static void bunch_row(const struct view_page *p, struct table *t, const struct bunch *b, const id_list32 *types)
{
	table_row(t);
	if (b->n_nodes == 1)
		table_cell(t, TONE_PLAIN, "%s", view_node_name(p->v, b->first));
	else
		table_cell(t, TONE_PLAIN, "%s and %u like it", view_node_name(p->v, b->first), b->n_nodes - 1);
	table_cell(t, TONE_PLAIN, "%s", name_str(p->v->names, instance_type(p, b->first)));
	table_cell(t, TONE_PLAIN, "%" PRIu32, b->n_pods);
	for (uint32_t i = 0; i < types->n; i++)
		room_cell(p, t, b, types->v[i]);
	notes_cell(p, t, b);
}

static void total_row(const struct view_page *p, struct table *t, const bunch_list *l, const id_list32 *types)
{
	struct bunch sum = {.n_nodes = 1};

	for (uint32_t i = 0; i < l->n; i++) {
		sum.n_pods += l->v[i].n_pods;
		for (uint32_t k = 0; k < types->n; k++) {
			res_id r = types->v[k];

			sum.total[r] = res_add_sat(sum.total[r], l->v[i].total[r]);
			sum.free[r] = res_add_sat(sum.free[r], l->v[i].free[r]);
		}
	}
	table_row(t);
	table_cell(t, TONE_PLAIN, "all together");
	table_cell(t, TONE_PLAIN, "%s", "");
	table_cell(t, TONE_PLAIN, "%" PRIu32, sum.n_pods);
	for (uint32_t i = 0; i < types->n; i++)
		room_cell(p, t, &sum, types->v[i]);
}

static void node_columns(const struct view_page *p, struct table *t, const id_list32 *types)
{
	table_column(t, "NODE (free/total)", COLUMN_LEFT);
	table_column(t, "TYPE", COLUMN_LEFT);
	table_column(t, "PODS", COLUMN_RIGHT);
	for (uint32_t i = 0; i < types->n; i++)
		table_column(t, page_type_title(p, types->v[i]), COLUMN_LEFT);
	table_column(t, "NOTES", COLUMN_LEFT);
}

void page_nodes(const struct view_page *p)
{
	bunch_list l = {0};
	id_list32 types = {0};
	struct table t = {0};
	uint32_t shown;

	bunch_nodes(p, !p->is_wide && p->v->nodes.n > LINES_MAX, &l);
	node_types(p, &types);
	node_columns(p, &t, &types);
	shown = p->is_wide || l.n < LINES_MAX ? l.n : LINES_MAX;
	for (uint32_t i = 0; i < shown; i++)
		bunch_row(p, &t, &l.v[i], &types);
	if (l.n > 1)
		total_row(p, &t, &l, &types);
	page_section(p, &t, l.n - shown);
	table_free(&t);
	array_free(&types);
	array_free(&l);
}
