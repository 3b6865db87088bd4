/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups and their podsets. The podsets of a group are a run of consecutive ids; runs that become free are kept by
 * their length.
 */
#include "ledger/ledger_internal.h"

static struct obj_group *take(struct obj_group *o)
{
	struct obj_group *mine = mem_alloc(sizeof(*mine));
	*mine = *o;
	*o = (struct obj_group){0};
	return mine;
}

static void let_go(struct ledger *l, struct obj_group *o)
{
	obj_group_drop(l->vocab, o);
	mem_free(o);
}

/* The sub-groups that are nobody's parent, in order: a group's podsets; none: the group as a whole is the only one. */
struct leaves {
	ARRAY(const struct obj_subgroup *) list;
};

static struct leaves leaves_of(const struct obj_group *o)
{
	struct leaves leaves = {0};
	struct map parents = {0};
	for (uint32_t i = 0; i < o->n_subgroups; i++) {
		if (o->subgroups[i].parent != NAME_NONE)
			map_put(&parents, o->subgroups[i].parent, 1);
	}
	for (uint32_t i = 0; i < o->n_subgroups; i++) {
		if (map_get(&parents, o->subgroups[i].name) == MAP_NONE)
			array_push(&leaves.list, &o->subgroups[i]);
	}
	map_free(&parents);
	return leaves;
}

static uint32_t leaves_end(struct leaves *leaves)
{
	uint32_t n = leaves->list.n;
	array_free(&leaves->list);
	return n == 0 ? 1 : n;
}

static uint32_t count_podsets(const struct obj_group *o)
{
	struct leaves leaves = leaves_of(o);
	return leaves_end(&leaves);
}

/* What the object says of the podsets; their counts stay. */
static void describe_podsets(struct ledger *l, group_id id)
{
	const struct group *g = &l->groups.v[id];
	struct leaves leaves = leaves_of(g->obj);
	for (uint32_t i = 0; i < g->n_podsets; i++) {
		struct podset *s = &l->podsets.v[g->first_podset + i];
		const struct obj_subgroup *sub = i < leaves.list.n ? leaves.list.v[i] : NULL;
		int32_t min = sub == NULL ? g->obj->min_member : sub->min_member;
		s->name = sub == NULL ? l->default_name : sub->name;
		s->group = id;
		s->min_member = min < 1 ? 1 : min;
	}
	leaves_end(&leaves);
}

static bool same_podsets(const struct ledger *l, const struct group *g, const struct obj_group *o)
{
	struct leaves leaves = leaves_of(o);
	const struct podset *own = &l->podsets.v[g->first_podset];
	uint32_t n = leaves.list.n;
	bool is_same = n == 0 ? g->n_podsets == 1 && own->name == l->default_name : g->n_podsets == n;
	for (uint32_t i = 0; is_same && i < n; i++)
		is_same = leaves.list.v[i]->name == own[i].name;
	leaves_end(&leaves);
	return is_same;
}

static podset_id run_take(struct ledger *l, uint32_t n, bool *ret_is_fresh)
{
	array_cover(&l->free_runs, n + 1);
	pod_list *runs = &l->free_runs.v[n];
	*ret_is_fresh = runs->n == 0;
	if (!*ret_is_fresh)
		return array_pop(runs);
	podset_id first = l->podsets.n;
	array_cover(&l->podsets, first + n);
	return first;
}

static void run_clear(struct ledger *l, podset_id first, uint32_t n)
{
	memset(&l->podsets.v[first], 0, n * sizeof(*l->podsets.v));
}

static void run_give(struct ledger *l, podset_id first, uint32_t n)
{
	run_clear(l, first, n);
	array_push(&l->free_runs.v[n], first);
}

static void run_untake(struct ledger *l, podset_id first, uint32_t n, bool is_fresh)
{
	if (!is_fresh) {
		run_give(l, first, n);
		return;
	}
	assert(first + n == l->podsets.n);
	l->podsets.n = first;
}

static uint32_t group_pods(const struct ledger *l, const struct group *g)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n_podsets; i++)
		n += l->podsets.v[g->first_podset + i].n_pods;
	return n;
}

/* Two APIs have PodGroups: those of one name are two groups. */
static uint64_t key_of(name_id ns, name_id name, bool is_k8s)
{
	return map_key2(ns | (uint32_t)is_k8s << 31, name);
}

static uint64_t name_key(const struct obj_group *o)
{
	return key_of(o->ns, o->name, o->is_k8s);
}

/* The id and the run are either both new ids, both used ones, or mixed: flag says it of the id, pos of the run. */
group_id ledger_group_add(struct ledger *l, struct obj_group *o, queue_id queue, int32_t priority,
			  enum preemptibility p)
{
	assert(map_get(&l->group_by_name, name_key(o)) == MAP_NONE);
	bool is_fresh, is_fresh_run;
	group_id id = ids_take(&l->group_ids, &is_fresh);
	array_cover(&l->groups, l->group_ids.limit);
	uint32_t n = count_podsets(o);
	podset_id first = run_take(l, n, &is_fresh_run);
	map_put(&l->group_by_name, name_key(o), id);
	l->groups.v[id] = (struct group){
		.is_live = true,
		.obj = take(o),
		.queue = queue,
		.priority = priority,
		.preemptibility = p,
		.first_podset = first,
		.n_podsets = n,
	};
	l->groups.v[id].started_ns = l->groups.v[id].obj->started_ns;
	describe_podsets(l, id);
	struct journal_entry *e = journal_add(l, ENTRY_GROUP_NEW, id);
	e->flag = is_fresh;
	e->pos = is_fresh_run;
	l->group_generation++;
	ledger_moved(l);
	return id;
}

void undo_group_new(struct ledger *l, const struct journal_entry *e)
{
	struct group *g = &l->groups.v[e->id];
	map_del(&l->group_by_name, name_key(g->obj));
	run_untake(l, g->first_podset, g->n_podsets, e->pos);
	let_go(l, g->obj);
	*g = (struct group){0};
	ids_untake(&l->group_ids, e->id, e->flag);
	l->group_generation++;
}

/* flag: it has a new run of podsets; pos: of ids never used before. */
void ledger_group_set(struct ledger *l, group_id id, struct obj_group *o, queue_id queue, int32_t priority,
		      enum preemptibility p)
{
	assert(id < l->group_ids.limit && l->groups.v[id].is_live);
	struct group *g = &l->groups.v[id];
	assert(name_key(g->obj) == name_key(o));
	struct group *before = mem_alloc(sizeof(*before));
	*before = *g;
	struct journal_entry *e = journal_hold(l, ENTRY_GROUP_SWAP, id, before);
	if (!same_podsets(l, g, o)) {
		bool is_fresh;
		assert(group_pods(l, g) == 0);
		g->n_podsets = count_podsets(o);
		g->first_podset = run_take(l, g->n_podsets, &is_fresh);
		e->flag = true;
		e->pos = is_fresh;
	}
	int64_t said = g->obj->started_ns;
	bool went_whole = g->obj->goes_whole;
	g->obj = take(o);
	if (g->n_on_nodes == 1 && g->obj->goes_whole != went_whole)
		ledger_note_lone(l, g->mix);
	g->queue = queue;
	g->priority = priority;
	g->preemptibility = p;
	if (g->started_ns == TIME_NONE && g->obj->started_ns != said) /* what was not believed is not news */
		g->started_ns = g->obj->started_ns;
	describe_podsets(l, id);
	l->group_generation++;
	ledger_moved(l);
}

void undo_group_swap(struct ledger *l, const struct journal_entry *e)
{
	struct group *g = &l->groups.v[e->id];
	if (e->flag)
		run_untake(l, g->first_podset, g->n_podsets, e->pos);
	if (g->n_on_nodes == 1)
		ledger_note_lone(l, g->mix);
	let_go(l, g->obj);
	*g = *(struct group *)e->held;
	mem_free(e->held);
	describe_podsets(l, e->id);
	l->group_generation++;
}

void settle_group_swap(struct ledger *l, const struct journal_entry *e)
{
	struct group *before = e->held;
	if (e->flag)
		run_give(l, before->first_podset, before->n_podsets);
	let_go(l, before->obj);
	mem_free(before);
}

void ledger_group_drop(struct ledger *l, group_id id)
{
	assert(id < l->group_ids.limit && l->groups.v[id].is_live);
	struct group *g = &l->groups.v[id];
	assert(group_pods(l, g) == 0);
	map_del(&l->group_by_name, name_key(g->obj));
	journal_hold(l, ENTRY_GROUP_GONE, id, g->obj);
	g->is_live = false;
	g->obj = NULL;
	l->group_generation++;
	ledger_moved(l);
}

void undo_group_gone(struct ledger *l, const struct journal_entry *e)
{
	struct group *g = &l->groups.v[e->id];
	g->is_live = true;
	g->obj = e->held;
	map_put(&l->group_by_name, name_key(g->obj), e->id);
	l->group_generation++;
}

void settle_group_gone(struct ledger *l, const struct journal_entry *e)
{
	struct group *g = &l->groups.v[e->id];
	run_give(l, g->first_podset, g->n_podsets);
	*g = (struct group){0};
	ids_give(&l->group_ids, e->id);
	let_go(l, e->held);
}

bool pod_is_lone(const struct ledger *l, const struct pod *p)
{
	return p->podset != PODSET_NONE && l->groups.v[p->group].n_on_nodes == 1;
}

void ledger_note_lone(struct ledger *l, pod_id pod)
{
	l->lone_changes[l->n_lone_changes++ % LONE_CHANGES] = l->pods.v[pod].node;
}

uint64_t ledger_lone_changes(const struct ledger *l)
{
	return l->n_lone_changes;
}

node_id ledger_lone_change(const struct ledger *l, uint64_t i)
{
	return i < l->n_lone_changes && l->n_lone_changes - i <= LONE_CHANGES ? l->lone_changes[i % LONE_CHANGES]
									      : NODE_NONE;
}

uint64_t ledger_group_generation(const struct ledger *l)
{
	return l->group_generation;
}

group_id ledger_group_find(const struct ledger *l, name_id ns, name_id name, bool is_k8s)
{
	return map_get(&l->group_by_name, key_of(ns, name, is_k8s));
}

podset_id ledger_podset_find(const struct ledger *l, group_id id, name_id name)
{
	const struct group *g = ledger_group(l, id);
	for (uint32_t i = 0; i < g->n_podsets; i++) {
		if (l->podsets.v[g->first_podset + i].name == name)
			return g->first_podset + i;
	}
	return PODSET_NONE;
}

void groups_free(struct ledger *l)
{
	for (group_id id = 0; id < l->group_ids.limit; id++) {
		if (l->groups.v[id].is_live)
			let_go(l, l->groups.v[id].obj);
	}
	for (uint32_t n = 0; n < l->free_runs.n; n++)
		array_free(&l->free_runs.v[n]);
	array_free(&l->groups);
	array_free(&l->group_ids.free);
	array_free(&l->podsets);
	array_free(&l->free_runs);
	map_free(&l->group_by_name);
}
