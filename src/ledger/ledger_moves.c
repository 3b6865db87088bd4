/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small moves of pods. Each has a bare half that changes state and derived state and knows nothing of the journal,
 * and is the other's inverse: settle_on and lift_off, go and stay, hold and release, queue_up and queue_out. A move is
 * the bare half, a journal entry and the words to the listeners; its undo is the inverse half and the words back.
 *
 * The inverse must find the place in the lists again: nodes keep order of arrival, so the index is written down; the
 * lists of queues have no order, so the last takes the place of the one that goes and steps back when it returns.
 */
#include "ledger/ledger_internal.h"

enum told_listeners { TOLD_ADD, TOLD_REMOVE, TOLD_LEAVING, TOLD_STAYING, TOLD_HOLDS, TOLD_HELD };

static void tell_one(const struct ledger_listener *to, const struct ledger *l, enum told_listeners what, pod_id pod,
		     node_id node)
{
	if (what == TOLD_ADD)
		to->on_add(to->ctx, l, pod, node);
	else if (what == TOLD_REMOVE)
		to->on_remove(to->ctx, l, pod, node);
	else if ((what == TOLD_LEAVING || what == TOLD_STAYING) && to->on_leaving != NULL)
		to->on_leaving(to->ctx, l, pod, what == TOLD_LEAVING);
	else if ((what == TOLD_HOLDS || what == TOLD_HELD) && to->on_hold != NULL)
		to->on_hold(to->ctx, l, pod, node, what == TOLD_HOLDS);
}

static void tell(const struct ledger *l, enum told_listeners what, pod_id pod, node_id node)
{
	for (uint32_t i = 0; i < l->listeners.n; i++)
		tell_one(&l->listeners.v[i], l, what, pod, node);
}

static void tell_back(const struct ledger *l, enum told_listeners what, pod_id pod, node_id node)
{
	for (uint32_t i = l->listeners.n; i > 0; i--)
		tell_one(&l->listeners.v[i - 1], l, what, pod, node);
}

static void list_insert(struct ledger *l, pod_list *list, uint32_t pos, pod_id id)
{
	array_insert(list, pos, id);
	for (uint32_t i = pos; i < list->n; i++)
		l->pods.v[list->v[i]].node_pos = i;
}

static void list_remove(struct ledger *l, pod_list *list, pod_id id)
{
	uint32_t pos = l->pods.v[id].node_pos;
	assert(pos < list->n && list->v[pos] == id);
	array_remove(list, pos);
	for (uint32_t i = pos; i < list->n; i++)
		l->pods.v[list->v[i]].node_pos = i;
	l->pods.v[id].node_pos = 0;
}

void node_note_ghost(struct ledger *l, node_id n)
{
	const struct ledger_node *node = &l->nodes.v[n];
	if (node->is_live || node->pods.n > 0 || node->nominated.n > 0)
		return;
	bits_set(&l->empty_ghosts, n);
	l->has_empty_ghosts = true;
}

/* ---- what was touched ---- */

static void touch(struct touched *t, uint32_t id)
{
	if (id == UINT32_MAX || bits_has(&t->in_now, id))
		return;
	bits_set(&t->in_now, id);
	array_push(&t->now, id);
}

/* What is used or claimed in its queue changes, and how many of its group are where. */
static void touch_by(struct ledger *l, const struct pod *p)
{
	touch(&l->touched_queues, p->queue);
	touch(&l->touched_groups, p->group);
}

static const uint32_t *tell_touched(struct touched *t, uint32_t *ret_n)
{
	t->before.n = 0;
	for (uint32_t i = 0; i < t->now.n; i++) {
		array_push(&t->before, t->now.v[i]);
		bits_clear(&t->in_now, t->now.v[i]);
	}
	t->now.n = 0;
	*ret_n = t->before.n;
	return t->before.v;
}

const queue_id *ledger_touched_queues(struct ledger *l, uint32_t *ret_n)
{
	return tell_touched(&l->touched_queues, ret_n);
}

const group_id *ledger_touched_groups(struct ledger *l, uint32_t *ret_n)
{
	return tell_touched(&l->touched_groups, ret_n);
}

void touched_free(struct touched *t)
{
	array_free(&t->now);
	array_free(&t->before);
	bits_free(&t->in_now);
}

/* ---- halves ---- */

/* What non-preemptible work holds in a queue. */
static void core_add(struct ledger *l, const struct pod *p, queue_id q, struct res_list amounts)
{
	if (p->preemptibility == NON_PREEMPTIBLE)
		row_add(row_of(l, &l->queue_core, q), amounts);
}

static void core_sub(struct ledger *l, const struct pod *p, queue_id q, struct res_list amounts)
{
	if (p->preemptibility == NON_PREEMPTIBLE)
		row_sub(row_of(l, &l->queue_core, q), amounts);
}

static struct podset *podset_of(struct ledger *l, const struct pod *p)
{
	return p->podset == PODSET_NONE ? NULL : &l->podsets.v[p->podset];
}

/* Somebody of the group came or went: another one of it may be alone now, or no more. */
static void group_count(struct ledger *l, const struct pod *p, pod_id id, int by)
{
	struct group *g;
	pod_id other;

	if (p->podset == PODSET_NONE)
		return;
	g = &l->groups.v[p->group];
	other = by > 0 ? g->mix : g->mix ^ id;
	g->n_on_nodes += (uint32_t)by;
	g->mix ^= id;
	if (g->n_on_nodes == (by > 0 ? 2 : 1))
		ledger_note_lone(l, other);
}

/* What others' selectors may see on nodes. */
static void seen_count(struct ledger *l, const struct pod *p, int by)
{
	l->labelsets.v[p->labelset].n_on_nodes += (uint32_t)by;
	l->n_with_terms += shape_has_terms(shape_get(l->vocab, p->shape)) ? (uint32_t)by : 0;
}

static void settle_on(struct ledger *l, pod_id id, node_id node, uint32_t pos)
{
	struct pod *p = &l->pods.v[id];
	const struct res_list usage = shape_get(l->vocab, p->shape)->usage;
	list_insert(l, &l->nodes.v[node].pods, pos, id);
	p->state = POD_PLACED;
	p->node = node;
	row_add(row_of(l, &l->node_used, node), usage);
	touch_by(l, p);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent) {
		row_add(row_of(l, &l->queue_used, q), usage);
		core_add(l, p, q, usage);
		l->queues.v[q].n_waiting--;
	}
	struct podset *s = podset_of(l, p);
	if (s != NULL) {
		s->n_waiting--;
		s->n_placed++;
	}
	group_count(l, p, id, 1);
	seen_count(l, p, 1);
}

static void lift_off(struct ledger *l, pod_id id)
{
	struct pod *p = &l->pods.v[id];
	const struct res_list usage = shape_get(l->vocab, p->shape)->usage;
	list_remove(l, &l->nodes.v[p->node].pods, id);
	row_sub(row_of(l, &l->node_used, p->node), usage);
	touch_by(l, p);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent) {
		row_sub(row_of(l, &l->queue_used, q), usage);
		core_sub(l, p, q, usage);
		l->queues.v[q].n_waiting++;
	}
	struct podset *s = podset_of(l, p);
	if (s != NULL) {
		s->n_waiting++;
		s->n_placed--;
	}
	group_count(l, p, id, -1);
	seen_count(l, p, -1);
	node_note_ghost(l, p->node);
	p->state = POD_WAITING;
	p->node = NODE_NONE;
}

static void go(struct ledger *l, pod_id id, bool is_evicted)
{
	struct pod *p = &l->pods.v[id];
	const struct res_list usage = shape_get(l->vocab, p->shape)->usage;
	p->state = POD_LEAVING;
	p->is_evicted = is_evicted;
	row_add(row_of(l, &l->node_leaving, p->node), usage);
	l->nodes.v[p->node].n_due += p->obj->deleted_ns != TIME_NONE;
	touch_by(l, p);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent) {
		row_sub(row_of(l, &l->queue_used, q), usage);
		core_sub(l, p, q, usage);
		row_add(row_of(l, &l->queue_leaving, q), usage);
	}
	struct podset *s = podset_of(l, p);
	if (s != NULL) {
		s->n_placed--;
		s->n_leaving++;
	}
	if (is_evicted) {
		bits_set(&l->evicted, id);
		budgets_spend(l, p, 1);
	}
}

static void stay(struct ledger *l, pod_id id)
{
	struct pod *p = &l->pods.v[id];
	const struct res_list usage = shape_get(l->vocab, p->shape)->usage;
	row_sub(row_of(l, &l->node_leaving, p->node), usage);
	l->nodes.v[p->node].n_due -= p->obj->deleted_ns != TIME_NONE;
	touch_by(l, p);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent) {
		row_add(row_of(l, &l->queue_used, q), usage);
		core_add(l, p, q, usage);
		row_sub(row_of(l, &l->queue_leaving, q), usage);
	}
	struct podset *s = podset_of(l, p);
	if (s != NULL) {
		s->n_placed++;
		s->n_leaving--;
	}
	if (p->is_evicted) {
		bits_clear(&l->evicted, id);
		budgets_spend(l, p, -1);
	}
	p->state = POD_PLACED;
	p->is_evicted = false;
}

static bool is_wary(const struct ledger *l, const struct pod *p)
{
	const struct shape *s = shape_get(l->vocab, p->shape);

	return p->nomination == NOMINATION_RESERVED && (s->anti_affinity.n > 0 || s->n_spreads > 0 || p->has_volumes);
}

/* Returns whether it is wary now; release whether it was. */
static bool hold(struct ledger *l, pod_id id, node_id node, enum nomination kind, uint32_t pos)
{
	struct pod *p = &l->pods.v[id];
	const struct res_list request = shape_get(l->vocab, p->shape)->request;
	list_insert(l, &l->nodes.v[node].nominated, pos, id);
	p->nomination = (uint8_t)kind;
	p->node = node;
	row_add(row_of(l, &l->node_reserved, node), request);
	touch_by(l, p);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent) {
		row_add(row_of(l, &l->queue_reserved, q), request);
		core_add(l, p, q, request);
	}
	struct podset *s = podset_of(l, p);
	if (s != NULL)
		s->n_nominated++, l->n_nominated_members++;
	if (!is_wary(l, p))
		return false;
	bits_set(&l->wary, id);
	l->n_wary++;
	return true;
}

static bool release(struct ledger *l, pod_id id)
{
	struct pod *p = &l->pods.v[id];
	const struct res_list request = shape_get(l->vocab, p->shape)->request;
	bool was_wary = is_wary(l, p);
	list_remove(l, &l->nodes.v[p->node].nominated, id);
	row_sub(row_of(l, &l->node_reserved, p->node), request);
	touch_by(l, p);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent) {
		row_sub(row_of(l, &l->queue_reserved, q), request);
		core_sub(l, p, q, request);
	}
	struct podset *s = podset_of(l, p);
	if (s != NULL)
		s->n_nominated--, l->n_nominated_members--;
	if (was_wary) {
		bits_clear(&l->wary, id);
		l->n_wary--;
	}
	node_note_ghost(l, p->node);
	p->nomination = NOMINATION_NONE;
	p->node = NODE_NONE;
	return was_wary;
}

void pod_queue_up(struct ledger *l, pod_id id, uint32_t pos)
{
	struct pod *p = &l->pods.v[id];
	if (p->queue != QUEUE_NONE) {
		pod_list *list = &l->queues.v[p->queue].pods;
		l->queues.v[p->queue].members++;
		l->members++;
		if (pos > list->n)
			pos = list->n;
		array_push(list, id);
		if (pos < list->n - 1) {
			pod_id aside = list->v[pos];
			list->v[list->n - 1] = aside;
			l->pods.v[aside].queue_pos = list->n - 1;
			list->v[pos] = id;
		}
		p->queue_pos = pos;
	}
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent)
		l->queues.v[q].n_waiting++;
	struct podset *s = podset_of(l, p);
	if (s != NULL)
		s->n_waiting++;
}

void pod_queue_out(struct ledger *l, pod_id id)
{
	struct pod *p = &l->pods.v[id];
	if (p->queue != QUEUE_NONE) {
		pod_list *list = &l->queues.v[p->queue].pods;
		l->queues.v[p->queue].members++;
		l->members++;
		assert(list->v[p->queue_pos] == id);
		pod_id last = array_pop(list);
		list->v[p->queue_pos] = last;
		l->pods.v[last].queue_pos = p->queue_pos;
		p->queue_pos = 0;
	}
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->queues.v[q].parent)
		l->queues.v[q].n_waiting--;
	struct podset *s = podset_of(l, p);
	if (s != NULL)
		s->n_waiting--;
}

static struct journal_entry *node_entry(struct ledger *l, enum entry_kind kind, pod_id id, node_id node)
{
	struct journal_entry *e = journal_add(l, kind, id);
	e->node = node;
	e->generation = l->nodes.v[node].generation;
	return e;
}

static void node_restore(struct ledger *l, const struct journal_entry *e)
{
	l->nodes.v[e->node].generation = e->generation;
	note_node_change(l, e->node);
}

static bool node_is_used(const struct ledger *l, node_id n)
{
	return n < l->node_ids.limit && l->nodes.v[n].name != NAME_NONE;
}

static struct pod *pod_in(struct ledger *l, pod_id id, enum pod_state state)
{
	assert(id < l->pod_ids.limit && l->pods.v[id].state == state);
	return &l->pods.v[id];
}

void pod_place(struct ledger *l, pod_id id, node_id node, uint32_t pos)
{
	const struct pod *p = pod_in(l, id, POD_WAITING);
	assert(p->nomination == NOMINATION_NONE && node_is_used(l, node));
	if (pos > l->nodes.v[node].pods.n)
		pos = l->nodes.v[node].pods.n;
	node_entry(l, ENTRY_PLACE, id, node)->ns = p->placed_in;
	settle_on(l, id, node, pos);
	node_touch(l, node);
	tell(l, TOLD_ADD, id, node);
	ledger_moved(l);
}

/* Moves are undone in reverse: if it was listed, it is the last of the list. */
static void unlist_new(struct ledger *l, pod_id id)
{
	if (l->pods.v[id].placed_in == l->cycle && l->new_pods.n > 0 && l->new_pods.v[l->new_pods.n - 1] == id)
		l->new_pods.n--;
}

void undo_place(struct ledger *l, const struct journal_entry *e)
{
	lift_off(l, e->id);
	unlist_new(l, e->id);
	l->pods.v[e->id].placed_in = (uint32_t)e->ns;
	node_restore(l, e);
	tell_back(l, TOLD_REMOVE, e->id, e->node);
}

static void pod_vacate(struct ledger *l, pod_id id)
{
	const struct pod *p = pod_in(l, id, POD_PLACED);
	node_id node = p->node;
	node_entry(l, ENTRY_VACATE, id, node)->pos = p->node_pos;
	lift_off(l, id);
	node_touch(l, node);
	tell(l, TOLD_REMOVE, id, node);
	ledger_moved(l);
}

void undo_vacate(struct ledger *l, const struct journal_entry *e)
{
	settle_on(l, e->id, e->node, e->pos);
	node_restore(l, e);
	tell_back(l, TOLD_ADD, e->id, e->node);
}

void pod_leave(struct ledger *l, pod_id id, bool is_evicted)
{
	const struct pod *p = pod_in(l, id, POD_PLACED);
	node_entry(l, ENTRY_LEAVE, id, p->node);
	go(l, id, is_evicted);
	node_touch(l, p->node);
	tell(l, TOLD_LEAVING, id, p->node);
	ledger_moved(l);
}

void undo_leave(struct ledger *l, const struct journal_entry *e)
{
	stay(l, e->id);
	node_restore(l, e);
	tell_back(l, TOLD_STAYING, e->id, e->node);
}

static void pod_return(struct ledger *l, pod_id id)
{
	const struct pod *p = pod_in(l, id, POD_LEAVING);
	node_entry(l, ENTRY_RETURN, id, p->node)->flag = p->is_evicted;
	stay(l, id);
	node_touch(l, p->node);
	tell(l, TOLD_STAYING, id, p->node);
	ledger_moved(l);
}

void undo_return(struct ledger *l, const struct journal_entry *e)
{
	go(l, e->id, e->flag);
	node_restore(l, e);
	tell_back(l, TOLD_LEAVING, e->id, e->node);
}

void pod_nominate(struct ledger *l, pod_id id, node_id node, enum nomination kind, uint32_t pos)
{
	const struct pod *p = pod_in(l, id, POD_WAITING);
	assert(p->nomination == NOMINATION_NONE && kind != NOMINATION_NONE && node_is_used(l, node));
	if (pos > l->nodes.v[node].nominated.n)
		pos = l->nodes.v[node].nominated.n;
	node_entry(l, ENTRY_NOMINATE, id, node);
	bool minds = hold(l, id, node, kind, pos);
	node_touch(l, node);
	if (minds)
		tell(l, TOLD_HOLDS, id, node);
	ledger_moved(l);
}

void undo_nominate(struct ledger *l, const struct journal_entry *e)
{
	bool minded = release(l, e->id);
	node_restore(l, e);
	if (minded)
		tell_back(l, TOLD_HELD, e->id, e->node);
}

static void pod_clear_nomination(struct ledger *l, pod_id id)
{
	const struct pod *p = pod_in(l, id, POD_WAITING);
	node_id node = p->node;
	struct journal_entry *e = node_entry(l, ENTRY_CLEAR_NOMINATION, id, node);
	e->nomination = p->nomination;
	e->pos = p->node_pos;
	bool minded = release(l, id);
	node_touch(l, node);
	if (minded)
		tell(l, TOLD_HELD, id, node);
	ledger_moved(l);
}

void undo_clear_nomination(struct ledger *l, const struct journal_entry *e)
{
	bool minds = hold(l, e->id, e->node, e->nomination, e->pos);
	node_restore(l, e);
	if (minds)
		tell_back(l, TOLD_HOLDS, e->id, e->node);
}

static void finish(struct ledger *l, pod_id id)
{
	struct pod *p = &l->pods.v[id];
	pod_queue_out(l, id);
	p->state = POD_FINISHED;
	struct podset *s = podset_of(l, p);
	if (s != NULL)
		s->n_finished++;
}

static void unfinish(struct ledger *l, pod_id id, uint32_t pos)
{
	struct pod *p = &l->pods.v[id];
	struct podset *s = podset_of(l, p);
	if (s != NULL)
		s->n_finished--;
	p->state = POD_WAITING;
	pod_queue_up(l, id, pos);
}

void pod_finish(struct ledger *l, pod_id id)
{
	const struct pod *p = pod_in(l, id, POD_WAITING);
	assert(p->nomination == NOMINATION_NONE);
	journal_add(l, ENTRY_FINISH, id)->pos = p->queue_pos;
	finish(l, id);
	ledger_moved(l);
}

void undo_finish(struct ledger *l, const struct journal_entry *e)
{
	unfinish(l, e->id, e->pos);
}

static void pod_unfinish(struct ledger *l, pod_id id)
{
	journal_add(l, ENTRY_UNFINISH, id);
	unfinish(l, id, POS_LAST);
	ledger_moved(l);
}

void undo_unfinish(struct ledger *l, const struct journal_entry *e)
{
	finish(l, e->id);
}

void pod_to_waiting(struct ledger *l, pod_id id)
{
	const struct pod *p = &l->pods.v[id];
	if (p->state == POD_LEAVING)
		pod_return(l, id);
	if (p->state == POD_PLACED)
		pod_vacate(l, id);
	if (p->state == POD_FINISHED)
		pod_unfinish(l, id);
	if (p->nomination != NOMINATION_NONE)
		pod_clear_nomination(l, id);
	assert(p->state == POD_WAITING);
}

/* What was decided about its volumes stays decided. */
void ledger_place(struct ledger *l, pod_id pod, node_id node)
{
	if (pod_in(l, pod, POD_WAITING)->nomination != NOMINATION_NONE)
		pod_clear_nomination(l, pod);
	pod_place(l, pod, node, POS_LAST);
	l->pods.v[pod].placed_in = l->cycle;
	array_push(&l->new_pods, pod);
}

void ledger_put_back(struct ledger *l, pod_id pod, node_id node)
{
	pod_place(l, pod, node, POS_LAST);
	if (ledger_is_new(l, &l->pods.v[pod]))
		array_push(&l->new_pods, pod);
}

/* Who was new is not any more: that is content of its node. */
static void grow_old(struct ledger *l, pod_id id)
{
	if (id < l->pod_ids.limit && l->pods.v[id].placed_in == l->cycle && l->pods.v[id].node != NODE_NONE)
		ledger_set_started(l, id, l->pods.v[id].started_ns);
}

void ledger_begin_cycle(struct ledger *l)
{
	bool has_new = l->has_unlisted || l->new_pods.n > 0;
	for (pod_id i = 0; l->has_unlisted && l->cycle != 0 && i < l->pod_ids.limit; i++)
		grow_old(l, i);
	for (uint32_t i = 0; !l->has_unlisted && l->cycle != 0 && i < l->new_pods.n; i++)
		grow_old(l, l->new_pods.v[i]);
	journal_add(l, ENTRY_CYCLE, 0)->ns = has_new;
	l->cycle++;
	l->has_unlisted = false;
	l->new_pods.n = 0;
	ledger_moved(l);
}

/* The list of the cycle before is gone. */
void undo_cycle(struct ledger *l, const struct journal_entry *e)
{
	l->cycle--;
	l->has_unlisted = e->ns != 0;
}

uint32_t ledger_cycle(const struct ledger *l)
{
	return l->cycle;
}

bool ledger_is_new(const struct ledger *l, const struct pod *p)
{
	return p->placed_in != 0 && p->placed_in == l->cycle;
}

void ledger_vacate(struct ledger *l, pod_id pod)
{
	assert(pod < l->pod_ids.limit && (l->pods.v[pod].state == POD_PLACED || l->pods.v[pod].state == POD_LEAVING));
	pod_to_waiting(l, pod);
}

void ledger_evict(struct ledger *l, pod_id pod)
{
	pod_leave(l, pod, true);
}

void ledger_unevict(struct ledger *l, pod_id pod)
{
	pod_return(l, pod);
}

void ledger_set_nomination(struct ledger *l, pod_id pod, node_id node, enum nomination kind)
{
	if (pod_in(l, pod, POD_WAITING)->nomination != NOMINATION_NONE)
		pod_clear_nomination(l, pod);
	pod_nominate(l, pod, node, kind, POS_LAST);
}

void ledger_clear_nomination(struct ledger *l, pod_id pod)
{
	if (pod_in(l, pod, POD_WAITING)->nomination == NOMINATION_NONE)
		return;
	pod_clear_nomination(l, pod);
	ledger_unassume(l, pod);
}

/* Start times decide who is protected, so they are content of the node. */
void ledger_set_started(struct ledger *l, pod_id pod, int64_t started_ns)
{
	assert(pod < l->pod_ids.limit && l->pods.v[pod].state != POD_FREE);
	struct pod *p = &l->pods.v[pod];
	struct journal_entry *e = journal_add(l, ENTRY_STARTED, pod);
	e->node = p->node;
	e->ns = p->started_ns;
	if (p->node != NODE_NONE) {
		e->generation = l->nodes.v[p->node].generation;
		node_touch(l, p->node);
	}
	p->started_ns = started_ns;
	ledger_moved(l);
}

void undo_started(struct ledger *l, const struct journal_entry *e)
{
	l->pods.v[e->id].started_ns = e->ns;
	if (e->node != NODE_NONE)
		node_restore(l, e);
}

void ledger_set_group_started(struct ledger *l, group_id group, int64_t started_ns)
{
	assert(group < l->group_ids.limit && l->groups.v[group].is_live);
	journal_add(l, ENTRY_GROUP_STARTED, group)->ns = l->groups.v[group].started_ns;
	l->groups.v[group].started_ns = started_ns;
	ledger_moved(l);
}

void undo_group_started(struct ledger *l, const struct journal_entry *e)
{
	l->groups.v[e->id].started_ns = e->ns;
}

void ledger_set_priority(struct ledger *l, pod_id pod, int32_t priority)
{
	assert(pod < l->pod_ids.limit && l->pods.v[pod].state == POD_WAITING);
	journal_add(l, ENTRY_PRIORITY, pod)->ns = l->pods.v[pod].priority;
	l->pods.v[pod].priority = priority;
	ledger_moved(l);
}

void undo_priority(struct ledger *l, const struct journal_entry *e)
{
	l->pods.v[e->id].priority = (int32_t)e->ns;
}
