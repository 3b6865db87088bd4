/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is there room at all? What a step asks for, each signature by itself, against the room that nodes have when victims
 * are gone and nobody has looked for a place yet. Whoever looks before the preemptor only takes room, so where this
 * says no the trial would end without room: it is counted and not made.
 */
#include <string.h>

#include "engine/session_solver.h"

/* How many of the signature a node takes that has this much left. */
static int64_t fit(const struct session *s, const int64_t *ask, const int64_t *room)
{
	int64_t most = INT32_MAX;

	for (uint32_t a = 0; a < s->n_amounts; a++)
		if (room[a] < ask[a])
			return 0;
	for (uint32_t a = 0; most > 1 && a < s->n_amounts; a++)
		if (ask[a] > 0 && room[a] - ask[a] < ask[a]) /* most often, and cheaper than to divide */
			most = 1;
		else if (ask[a] > 0 && room[a] / ask[a] < most)
			most = room[a] / ask[a];
	return most;
}

/* Where filters look at other pods, what they say now is not what they say in the trial. */
static bool is_allowed(const struct solver *v, uint32_t signature, uint32_t node)
{
	return v->s->is_mirrored || session_allows(v->s, signature, node);
}

static bool has_label(const struct session *s, uint32_t node, name_id key)
{
	const struct obj_node *o = ledger_node(s->ledger, s->nodes[node].id)->obj;
	name_id value;

	return labels_get(&labelset_get(ledger_vocab(s->ledger), o->labelset)->labels, key, &value);
}

static int64_t slots_of(const struct solver *v, const struct slot_kind *k, uint32_t node, const int64_t *room)
{
	int64_t n = fit(v->s, v->s->signatures[k->signature].ask, room);

	if (n == 0 || !is_allowed(v, k->signature, node))
		return 0;
	return k->apart != NAME_NONE && has_label(v->s, node, k->apart) ? 1 : n;
}

static struct slot_kind *kind_of(struct solver *v, uint32_t member)
{
	for (uint32_t i = 0; i < v->n_slot_kinds; i++)
		if (v->slot_kinds[i].signature == v->s->members[member].signature)
			return &v->slot_kinds[i];
	return NULL;
}

/* ---- the search ---- */

static bool is_filtered_by_affinity(const struct session *s, pod_id pod)
{
	const struct framework *f = engine_framework(s->en, pod);
	uint32_t at = framework_plugin_find(f, "InterPodAffinity");

	return !s->settings->has_no_predicates && at != UINT32_MAX && !framework_plugin(f, at)->is_disabled &&
	       (framework_plugin(f, at)->points >> POINT_FILTER & 1);
}

/* A term that selects the pod's own labels in its own namespace, whatever the pod's values of keys are. */
static bool is_against_itself(const struct session *s, const struct pod_term *t, const struct pod *p)
{
	const struct vocab *vocab = ledger_vocab(s->ledger);

	return t->n_namespaces == 0 && !t->has_ns_selector && t->n_match_keys == 0 && t->n_mismatch_keys == 0 &&
	       selector_matches(s->names, &t->selector, &labelset_get(vocab, p->labelset)->labels);
}

static name_id find_apart(const struct solver *v, uint32_t member)
{
	const struct session *s = v->s;
	const struct pod *p = ledger_pod(s->ledger, s->members[member].pod);
	const struct pod_terms *terms = &shape_get(ledger_vocab(s->ledger), p->shape)->anti_affinity;

	for (uint32_t i = 0; i < v->n_want; i++) {
		const struct member *m = &s->members[v->want[i]];

		if (m->signature == s->members[member].signature &&
		    ledger_pod(s->ledger, m->pod)->labelset != p->labelset)
			return NAME_NONE;
	}
	for (uint32_t i = 0; i < terms->n && is_filtered_by_affinity(s, s->members[member].pod); i++)
		if (is_against_itself(s, &terms->terms[i], p))
			return terms->terms[i].topology_key;
	return NAME_NONE;
}

/* Signatures beyond the first few are not looked at: they may always fit. */
static void find_kinds(struct solver *v)
{
	for (uint32_t i = 0; i < v->n_want && v->n_slot_kinds < SLOT_KINDS; i++)
		if (kind_of(v, v->want[i]) == NULL)
			v->slot_kinds[v->n_slot_kinds++] = (struct slot_kind){
				.signature = v->s->members[v->want[i]].signature, .apart = find_apart(v, v->want[i])};
}

/* Of one kind, on nodes without any pods; as soon as it is enough, no further node is looked at. */
static uint32_t most_of(const struct solver *v, const struct slot_kind *k, uint32_t enough)
{
	const struct session *s = v->s;
	int64_t n = 0;

	for (uint32_t i = 0; i < s->n_nodes && n < enough; i++)
		n += slots_of(v, k, i, s->capacity + (size_t)i * s->n_amounts);
	return n < enough ? (uint32_t)n : enough;
}

bool slots_could_ever_do(struct solver *v, uint32_t *ret)
{
	*ret = v->n_want;
	v->n_slot_kinds = 0;
	find_kinds(v);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++) {
		uint32_t n = 0, most;

		for (uint32_t i = 0; i < v->n_want; i++)
			n += kind_of(v, v->want[i]) == &v->slot_kinds[k];
		most = most_of(v, &v->slot_kinds[k], n);
		if (most < n && v->n_want - (n - most) < *ret)
			*ret = v->n_want - (n - most);
	}
	v->n_slot_kinds = 0;
	return *ret == v->n_want;
}

/* How many that want as many GPUs as one of the signature find them, by GPUs alone. */
static int64_t gpu_slots(int64_t need, int64_t gpus)
{
	return need <= 0 || gpus < need ? 0 : need == 1 ? gpus : gpus / need;
}

/* Of one kind, as nodes are. Where room is scarce most have too little of the first amount that is asked for. */
static void count_clean(const struct solver *v, const struct slot_kind *k, struct signature *f)
{
	const struct session *s = v->s;
	const int64_t *ask = f->ask, *room = v->counts->room;
	uint32_t first = 0;

	f->slots = f->gpu_slots = 0;
	while (first + 1 < s->n_amounts && ask[first] <= 0)
		first++;
	for (uint32_t i = 0; i < s->n_nodes; i++, room += s->n_amounts) {
		if (room[first] >= ask[first])
			f->slots += slots_of(v, k, i, room);
		f->gpu_slots += gpu_slots(ask[KAI_GPU], room[KAI_GPU]);
	}
}

/* As it was counted before, but for nodes whose room became another one since. */
static void follow_clean(const struct solver *v, const struct slot_kind *k, struct signature *f)
{
	const struct room_counts *c = v->counts;
	uint32_t n_amounts = v->s->n_amounts;

	for (uint32_t i = f->slots_at - 1; i < c->changes.n; i++) {
		const int64_t *before = c->rows.v + (size_t)i * 2 * n_amounts, *after = before + n_amounts;

		f->slots += slots_of(v, k, c->changes.v[i], after) - slots_of(v, k, c->changes.v[i], before);
		f->gpu_slots +=
			gpu_slots(f->ask[KAI_GPU], after[KAI_GPU]) - gpu_slots(f->ask[KAI_GPU], before[KAI_GPU]);
	}
}

/* What filters allow a signature does not change in a cycle; where they look at other pods they are not asked here. */
static void find_clean(struct solver *v, struct slot_kind *k)
{
	struct signature *f = &v->s->signatures[k->signature];
	uint32_t n_changes = v->counts->changes.n;

	if (f->slots_at == 0 || f->slots_apart != k->apart || n_changes - (f->slots_at - 1) > v->s->n_nodes / 2)
		count_clean(v, k, f);
	else
		follow_clean(v, k, f);
	f->slots_apart = k->apart;
	f->slots_at = n_changes + 1;
	k->clean = f->slots;
}

/* Nothing of it is kept. */
static void count_gpu_slots(struct solver *v)
{
	const struct session *s = v->s;

	v->clean_gpu_slots = 0;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		v->clean_gpu_slots += gpu_slots(member_ask(s, v->want[0])[KAI_GPU],
						v->counts->room[(size_t)i * s->n_amounts + KAI_GPU]);
}

void slots_begin(struct solver *v)
{
	if (v->s->en->config->looks_at_all) {
		count_gpu_slots(v);
		return;
	}
	find_kinds(v);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		find_clean(v, &v->slot_kinds[k]);
	v->clean_gpu_slots = v->s->signatures[v->slot_kinds[0].signature].gpu_slots; /* the first of those it wants */
}

/* Whoever was looked at is there again. */
static void give_back(struct solver *v)
{
	const struct session *s = v->s;

	while (v->freed.n > 0) {
		struct freed x = array_pop(&v->freed);
		int64_t *room = v->counts->room + (size_t)x.node * s->n_amounts;

		for (uint32_t a = 0; a < s->n_amounts; a++)
			room[a] -= s->signatures[x.signature].ask[a];
	}
}

void slots_end(struct solver *v)
{
	give_back(v);
	array_free(&v->slot_nodes);
}

/* ---- everybody gone who was looked at so far ---- */

void slots_afresh(struct solver *v)
{
	give_back(v);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].most = v->slot_kinds[k].clean;
}

/*
 * Whoever a consolidation takes away must have room again, so nothing is won by it but what was free before: a node
 * takes no more than what leaves it and what it has left.
 */
static bool cannot_move(const struct solver *v)
{
	const struct session *s = v->s;

	if (v->action != ACTION_CONSOLIDATE || v->n_slot_kinds == 0)
		return false;
	for (uint32_t a = 0; a < s->n_amounts; a++) {
		int64_t left = (int64_t)v->counts->spare[a];

		for (uint32_t i = 0; i < v->n_step && left >= 0; i++)
			left -= member_ask(s, v->want[i])[a];
		if (left < 0)
			return true;
	}
	return false;
}

void slots_step(struct solver *v)
{
	struct slot_kind *k = kind_of(v, v->want[v->n_step - 1]);

	v->cannot_move = cannot_move(v);
	if (k != NULL)
		k->n++;
}

void slots_free(struct solver *v, uint32_t member)
{
	struct session *s = v->s;
	const struct member *m = &s->members[member];
	const int64_t *ask = s->signatures[m->signature].ask;
	int64_t *room;

	if (m->node == NONE)
		return;
	room = v->counts->room + (size_t)m->node * s->n_amounts;
	v->slots -= gpu_slots(v->need, room[KAI_GPU]);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].most -= slots_of(v, &v->slot_kinds[k], m->node, room);
	for (uint32_t a = 0; a < s->n_amounts; a++)
		room[a] += ask[a];
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].most += slots_of(v, &v->slot_kinds[k], m->node, room);
	v->slots += gpu_slots(v->need, room[KAI_GPU]);
	array_push(&v->freed, ((struct freed){m->node, m->signature}));
}

bool slots_could_do(const struct solver *v)
{
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		if (v->slot_kinds[k].most < v->slot_kinds[k].n)
			return false;
	return true;
}

/* ---- those gone in one trial ---- */

/* Where a move gave room. */
static uint32_t move_node(const struct session *s, uint32_t move)
{
	const struct session_move *m = &s->moves.v[move];

	return m->kind == MOVE_SPARE ? s->moves.v[m->spares].node : m->node;
}

void slots_trial(struct solver *v, bool is_base)
{
	v->counts->stamp++;
	v->slot_nodes.n = 0;
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].now = is_base ? v->slot_kinds[k].clean : v->slot_kinds[k].base;
}

void slots_touch(struct solver *v, uint32_t node)
{
	int64_t room[RES_MAX];

	if (node == NONE || v->n_slot_kinds == 0 || v->counts->seen[node] == v->counts->stamp)
		return;
	v->counts->seen[node] = v->counts->stamp;
	array_push(&v->slot_nodes, node);
	session_room(v->s, node, room);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].now -= slots_of(v, &v->slot_kinds[k], node, room);
}

static void slots_sum(struct solver *v)
{
	int64_t room[RES_MAX] = {0};

	for (uint32_t i = 0; i < v->slot_nodes.n; i++) {
		session_room(v->s, v->slot_nodes.v[i], room);
		for (uint32_t k = 0; k < v->n_slot_kinds; k++)
			v->slot_kinds[k].now += slots_of(v, &v->slot_kinds[k], v->slot_nodes.v[i], room);
	}
	v->n_summed = v->slot_nodes.n;
	v->slot_nodes.n = 0;
}

/* Room that was taken of a node and is not counted yet is counted; room: with that. */
static void count_taken(struct solver *v, uint32_t node, int64_t *room)
{
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].now -= slots_of(v, &v->slot_kinds[k], node, room);
	session_room(v->s, node, room);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].now += slots_of(v, &v->slot_kinds[k], node, room);
}

static void add_taken(const struct session *s, int64_t *room, uint32_t signature, int64_t n)
{
	for (uint32_t a = 0; a < s->n_amounts; a++)
		room[a] += n * s->signatures[signature].ask[a];
}

static bool still_enough(const struct solver *v)
{
	bool is_enough = true;

	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		is_enough &= v->slot_kinds[k].now >= v->slot_kinds[k].n;
	return is_enough;
}

/* Of a node that they come back to only what they took first is counted, so that it may seem more is left than is. */
bool slots_remain(struct solver *v, uint32_t first)
{
	const struct session *s = v->s;

	v->counts->stamp++;
	for (uint32_t i = first; v->n_slot_kinds > 0 && i < s->moves.n;) {
		uint32_t node = move_node(s, i);
		int64_t room[RES_MAX];

		session_room(s, node, room);
		for (; i < s->moves.n && move_node(s, i) == node; i++)
			add_taken(s, room, s->members[s->moves.v[i].member].signature, 1);
		if (v->counts->seen[node] != v->counts->stamp)
			count_taken(v, node, room);
		v->counts->seen[node] = v->counts->stamp;
	}
	return still_enough(v);
}

bool slots_remain_lent(struct solver *v, uint32_t first)
{
	const struct session *s = v->s;

	v->counts->stamp++;
	for (uint32_t i = first; v->n_slot_kinds > 0 && i < v->lent.n;) {
		uint32_t node = v->lent.v[i].node;
		int64_t room[RES_MAX];

		session_room(s, node, room);
		for (; i < v->lent.n && v->lent.v[i].node == node; i++)
			add_taken(s, room, v->lent.v[i].signature, v->lent.v[i].n);
		if (v->counts->seen[node] != v->counts->stamp)
			count_taken(v, node, room);
		v->counts->seen[node] = v->counts->stamp;
	}
	return still_enough(v);
}

bool slots_are_exact(const struct solver *v)
{
	return v->n_slot_kinds == 1 && v->slot_kinds[0].apart == NAME_NONE && !v->s->is_mirrored &&
	       v->slot_kinds[0].n == v->n_step && v->slot_kinds[0].now == v->n_step;
}

bool slots_leave_nothing(const struct solver *v)
{
	const struct session *s = v->s;
	const int64_t *ask = s->signatures[v->slot_kinds[0].signature].ask;
	int64_t room[RES_MAX];

	for (uint32_t i = 0; i < v->n_summed; i++) {
		uint32_t node = v->slot_nodes.v[i];
		int64_t n;

		session_room(s, node, room);
		n = slots_of(v, &v->slot_kinds[0], node, room);
		for (uint32_t a = 0; a < s->n_amounts; a++)
			room[a] -= n * ask[a];
		for (uint32_t k = 0; k < v->signatures.n; k++)
			if (fit(s, s->signatures[v->signatures.v[k]].ask, room) > 0 &&
			    session_allows(v->s, v->signatures.v[k], node))
				return false;
	}
	return true;
}

bool slots_are_enough(struct solver *v)
{
	slots_sum(v);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		if (v->slot_kinds[k].now < v->slot_kinds[k].n)
			return false;
	return true;
}

void slots_settle(struct solver *v)
{
	slots_sum(v);
	for (uint32_t k = 0; k < v->n_slot_kinds; k++)
		v->slot_kinds[k].base = v->slot_kinds[k].now;
}
