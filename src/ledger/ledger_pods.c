/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods appear, change and vanish. A pod enters as a waiting one without a nomination and is then moved to where its
 * entry says; it goes the same way back. So what a pod says of itself changes only while it is on no node and not
 * nominated, and there is one place where room is taken and given back.
 */
#include "ledger/ledger_internal.h"

#define TOTAL_MAX ((wide)1 << 62)

static struct obj_pod *take(struct ledger *l, struct obj_pod *o)
{
	struct obj_pod *mine = blocks_take(&l->pod_objects, sizeof(*mine));
	*mine = *o;
	*o = (struct obj_pod){.labelset = LABELSET_NONE, .shape = SHAPE_NONE};
	return mine;
}

static void let_go(struct ledger *l, struct obj_pod *o)
{
	obj_pod_drop(l->vocab, o);
	blocks_give(&l->pod_objects, o, sizeof(*o));
}

static int64_t larger(const struct res_amount *a, const struct res_list *other)
{
	int64_t b = res_list_get(other, a->type);
	return a->amount > b ? a->amount : b;
}

/* A pod may count by its usage or by its request: the larger bounds both. */
void totals_add(wide *totals, const struct shape *s, int sign)
{
	totals[RES_PODS] += sign;
	for (uint32_t i = 0; i < s->usage.n; i++)
		totals[s->usage.v[i].type] += sign * (wide)larger(&s->usage.v[i], &s->request);
	for (uint32_t i = 0, j = 0; i < s->request.n; i++) {
		while (j < s->usage.n && s->usage.v[j].type < s->request.v[i].type)
			j++;
		if (j == s->usage.n || s->usage.v[j].type != s->request.v[i].type)
			totals[s->request.v[i].type] += sign * (wide)s->request.v[i].amount;
	}
}

bool totals_fit(const struct ledger *l, shape_id old, shape_id shape, res_id *ret_type)
{
	wide totals[RES_MAX];
	memcpy(totals, l->totals, sizeof(totals));
	if (old != SHAPE_NONE)
		totals_add(totals, shape_get(l->vocab, old), -1);
	totals_add(totals, shape_get(l->vocab, shape), 1);
	for (res_id r = 0; r < RES_MAX; r++) {
		if (totals[r] > TOTAL_MAX) {
			*ret_type = r;
			return false;
		}
	}
	return true;
}

static name_id ns_of(const struct ledger *l, labelset_id labelset)
{
	return labelset_get(l->vocab, labelset)->ns;
}

static uint32_t name_hash(name_id ns, name_id name)
{
	return (uint32_t)(hash_u64(map_key2(ns, name)) >> 32);
}

pod_id ledger_pod_find(const struct ledger *l, name_id ns, name_id name)
{
	uint32_t hash = name_hash(ns, name), at = id_table_home(&l->pod_by_name, hash);
	for (;;) {
		pod_id id = id_table_next(&l->pod_by_name, hash, &at);
		if (id == ID_TABLE_NONE)
			return POD_NONE;
		const struct pod *p = &l->pods.v[id];
		if (p->name == name && ns_of(l, p->labelset) == ns)
			return id;
	}
}

/* 0: it names none. */
static uint64_t app_key(const struct ledger *l, const struct pod *p)
{
	return p->obj->app == NAME_NONE ? 0 : map_key2(ns_of(l, p->labelset), p->obj->app);
}

pod_id ledger_app_first(const struct ledger *l, name_id ns, name_id app)
{
	return app == NAME_NONE ? POD_NONE : id_index_first(&l->by_app, map_key2(ns, app));
}

pod_id ledger_app_next(const struct ledger *l, pod_id pod)
{
	return id_index_next(&l->by_app, pod);
}

/* Into everything a waiting pod without a nomination counts in. */
static void enter(struct ledger *l, pod_id id, uint32_t queue_pos)
{
	const struct pod *p = &l->pods.v[id];
	id_table_put(&l->pod_by_name, name_hash(ns_of(l, p->labelset), p->name), id);
	id_index_put(&l->by_app, id, app_key(l, p));
	labelset_enter(l, p->labelset);
	totals_add(l->totals, shape_get(l->vocab, p->shape), 1);
	if (p->podset != PODSET_NONE)
		l->podsets.v[p->podset].n_pods++;
	pod_queue_up(l, id, queue_pos);
}

static void leave(struct ledger *l, pod_id id)
{
	const struct pod *p = &l->pods.v[id];
	pod_queue_out(l, id);
	if (p->podset != PODSET_NONE)
		l->podsets.v[p->podset].n_pods--;
	totals_add(l->totals, shape_get(l->vocab, p->shape), -1);
	labelset_leave(l, p->labelset);
	id_index_put(&l->by_app, id, 0);
	id_table_del(&l->pod_by_name, name_hash(ns_of(l, p->labelset), p->name), id);
}

static struct pod waiting_pod(struct obj_pod *o, const struct pod_entry *entry)
{
	return (struct pod){
		.state = POD_WAITING,
		.preemptibility = (uint8_t)entry->preemptibility,
		.has_volumes = o->volumes != NULL,
		.is_daemon = o->owner_kind == OWNER_DAEMONSET,
		.has_class = o->priority_class != NAME_NONE,
		.has_checkpoint = o->checkpointed_ns != TIME_NONE,
		.allows_preemption = (uint8_t)o->allows_preemption & 3,
		.priority = entry->priority,
		.node = NODE_NONE,
		.queue = entry->queue,
		.group = entry->group,
		.podset = entry->podset,
		.shape = o->shape,
		.labelset = o->labelset,
		.name = o->name,
		.started_ns = entry->started_ns,
		.created_ns = o->created_ns,
		.obj = o,
	};
}

static void assert_entry(const struct ledger *l, const struct pod_entry *entry)
{
	assert(entry->state != POD_FREE);
	assert(entry->queue == QUEUE_NONE || (entry->queue < l->queues.n && l->tree.q.v[entry->queue].is_live));
	assert((entry->group == GROUP_NONE) == (entry->podset == PODSET_NONE));
	if (entry->group != GROUP_NONE) {
		assert(entry->group < l->group_ids.limit && l->groups.v[entry->group].is_live);
		assert(l->podsets.v[entry->podset].group == entry->group);
	}
}

static bool is_on_node(enum pod_state state)
{
	return state == POD_PLACED || state == POD_LEAVING;
}

/*
 * From waiting to where the entry says.
 * A pod that was there before (was; NULL: it is new) gets its old place in the node's list.
 */
static void settle_in(struct ledger *l, pod_id id, const struct pod_entry *entry, const struct pod *was)
{
	bool was_placed = was != NULL && is_on_node(was->state),
	     was_nominated = was != NULL && was->nomination != NOMINATION_NONE;
	if (is_on_node(entry->state)) {
		pod_place(l, id, entry->node, was_placed && was->node == entry->node ? was->node_pos : POS_LAST);
		if (entry->state == POD_LEAVING)
			pod_leave(l, id, was != NULL && was->is_evicted);
	} else if (entry->state == POD_FINISHED) {
		pod_finish(l, id);
	} else if (entry->nomination != NOMINATION_NONE) {
		pod_nominate(l, id, entry->nominated_node, entry->nomination,
			     was_nominated && was->node == entry->nominated_node ? was->node_pos : POS_LAST);
	}
}

static enum err_code fail_limit(const struct ledger *l, const struct obj_pod *o, res_id type, struct err *e)
{
	const char *ns = name_str(l->names, labelset_get(l->vocab, o->labelset)->ns);
	return err_fail(e, ERR_LIMIT, "pod %s/%s: %s: the sum over all pods would pass 2^62", ns,
			name_str(l->names, o->name), res_type_name(l->types, type));
}

enum err_code ledger_pod_add(struct ledger *l, struct obj_pod *o, const struct pod_entry *entry, pod_id *ret,
			     struct err *e)
{
	res_id type;
	assert_entry(l, entry);
	assert(ledger_pod_find(l, ns_of(l, o->labelset), o->name) == POD_NONE);
	if (!totals_fit(l, SHAPE_NONE, o->shape, &type))
		return fail_limit(l, o, type, e);
	ledger_fit_stride(l);
	bool is_fresh;
	pod_id id = ids_take(&l->pod_ids, &is_fresh);
	array_cover(&l->pods, l->pod_ids.limit);
	/* So that evicting it never allocates. */
	bits_set(&l->evicted, id);
	bits_clear(&l->evicted, id);
	l->pods.v[id] = waiting_pod(take(l, o), entry);
	journal_add(l, ENTRY_POD_NEW, id)->flag = is_fresh;
	enter(l, id, POS_LAST);
	ledger_moved(l);
	settle_in(l, id, entry, NULL);
	*ret = id;
	return ERR_OK;
}

void undo_pod_new(struct ledger *l, const struct journal_entry *e)
{
	leave(l, e->id);
	let_go(l, l->pods.v[e->id].obj);
	l->pods.v[e->id] = (struct pod){0};
	ids_untake(&l->pod_ids, e->id, e->flag);
}

/* The label set is held across the swap, so that a label set of one pod keeps its list of budgets. */
static void swap(struct ledger *l, pod_id id, const struct pod *to, uint32_t queue_pos)
{
	labelset_enter(l, to->labelset);
	leave(l, id);
	l->pods.v[id] = *to;
	enter(l, id, queue_pos);
	labelset_leave(l, to->labelset);
}

enum err_code ledger_pod_set(struct ledger *l, pod_id pod, struct obj_pod *o, const struct pod_entry *entry,
			     struct err *e)
{
	res_id type;
	assert(pod < l->pod_ids.limit && l->pods.v[pod].state != POD_FREE);
	assert_entry(l, entry);
	struct pod was = l->pods.v[pod];
	assert(was.name == o->name && ns_of(l, was.labelset) == ns_of(l, o->labelset));
	if (!totals_fit(l, was.shape, o->shape, &type))
		return fail_limit(l, o, type, e);
	ledger_fit_stride(l);
	if (!is_on_node(entry->state) && entry->nomination != NOMINATION_RESERVED)
		ledger_unassume(l, pod);
	pod_to_waiting(l, pod);
	struct pod *before = mem_alloc(sizeof(*before));
	*before = l->pods.v[pod];
	struct pod to = waiting_pod(take(l, o), entry);
	journal_hold(l, ENTRY_POD_SWAP, pod, before);
	swap(l, pod, &to, POS_LAST);
	ledger_moved(l);
	settle_in(l, pod, entry, &was);
	return ERR_OK;
}

void undo_pod_swap(struct ledger *l, const struct journal_entry *e)
{
	struct obj_pod *o = l->pods.v[e->id].obj;
	const struct pod *before = e->held;
	swap(l, e->id, before, before->queue_pos);
	let_go(l, o);
	mem_free(e->held);
}

void settle_pod_swap(struct ledger *l, const struct journal_entry *e)
{
	struct pod *before = e->held;
	let_go(l, before->obj);
	mem_free(before);
}

/* Until commit the row keeps what it said, all but the object: nobody reads it, and undo finds it there. */
void ledger_pod_drop(struct ledger *l, pod_id pod)
{
	assert(pod < l->pod_ids.limit && l->pods.v[pod].state != POD_FREE);
	ledger_unassume(l, pod);
	pod_to_waiting(l, pod);
	struct pod *p = &l->pods.v[pod];
	journal_hold(l, ENTRY_POD_GONE, pod, p->obj)->pos = p->queue_pos;
	leave(l, pod);
	p->state = POD_FREE;
	p->obj = NULL;
	ledger_moved(l);
}

void undo_pod_gone(struct ledger *l, const struct journal_entry *e)
{
	l->pods.v[e->id].state = POD_WAITING;
	l->pods.v[e->id].obj = e->held;
	enter(l, e->id, e->pos);
}

void settle_pod_gone(struct ledger *l, const struct journal_entry *e)
{
	let_go(l, e->held);
	l->pods.v[e->id] = (struct pod){0};
	ids_give(&l->pod_ids, e->id);
}

void pods_trim(struct ledger *l)
{
	array_trim(&l->pods);
	array_trim(&l->pod_ids.free);
	array_trim(&l->new_pods);
	id_table_trim(&l->pod_by_name);
	id_index_trim(&l->by_app);
}

void pods_free(struct ledger *l)
{
	for (pod_id id = 0; id < l->pod_ids.limit; id++) {
		if (l->pods.v[id].state != POD_FREE)
			let_go(l, l->pods.v[id].obj);
	}
	array_free(&l->pods);
	array_free(&l->pod_ids.free);
	id_table_free(&l->pod_by_name);
	blocks_free(&l->pod_objects);
	id_index_free(&l->by_app);
	array_free(&l->new_pods);
	bits_free(&l->evicted);
	bits_free(&l->wary);
}
