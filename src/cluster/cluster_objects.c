/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes, namespaces and owners. There are few classes and namespaces: sorted arrays do. Owners (a ReplicaSet for
 * every version of every Deployment) are many: a map, and an order that is made when somebody wants to see them all.
 */
#include "cluster/cluster_internal.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX 16 /* controllers of controllers; more is a circle */

/* ---- sorted by name: every element is a pointer to something that begins with its name ---- */

struct named {
	name_id name;
};

static uint32_t position(const struct cluster *c, void *const *v, uint32_t n, const char *name, bool *ret_is_there)
{
	uint32_t low = 0, high = n;

	*ret_is_there = false;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int cmp = strcmp(name_str(c->names, ((const struct named *)v[mid])->name), name);
		if (cmp == 0) {
			*ret_is_there = true;
			return mid;
		}
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* ---- classes ---- */

static uint32_t class_position(const struct cluster *c, const char *name, bool *ret_is_there)
{
	return position(c, (void *const *)c->classes.v, c->classes.n, name, ret_is_there);
}

const struct obj_class *cluster_class(const struct cluster *c, name_id name)
{
	bool is_there;
	uint32_t i = class_position(c, name_str(c->names, name), &is_there);

	return is_there ? c->classes.v[i] : NULL;
}

uint32_t cluster_class_count(const struct cluster *c)
{
	return c->classes.n;
}

const struct obj_class *cluster_class_at(const struct cluster *c, uint32_t i)
{
	return c->classes.v[i];
}

/* Of several global defaults the lowest counts, as in Kubernetes. */
static void find_default_class(struct cluster *c)
{
	c->default_class = NULL;
	for (uint32_t i = 0; i < c->classes.n; i++) {
		const struct obj_class *o = c->classes.v[i];
		if (o->is_default && (c->default_class == NULL || o->value < c->default_class->value))
			c->default_class = o;
	}
}

static void classes_changed(struct cluster *c)
{
	ledger_mark mark = ledger_get_mark(c->ledger);

	find_default_class(c);
	cluster_resolve_all(c);
	cluster_keep(c, mark);
}

enum err_code cluster_put_class(struct cluster *c, struct obj_class *o, struct err *e)
{
	(void)e;
	bool is_there;
	uint32_t i = class_position(c, name_str(c->names, o->name), &is_there);

	if (!is_there)
		array_insert(&c->classes, i, mem_alloc(sizeof(struct obj_class)));
	struct obj_class *mine = c->classes.v[i], old = *mine;
	*mine = *o;
	*o = (struct obj_class){0};
	if (!is_there || old.value != mine->value || old.is_default != mine->is_default)
		classes_changed(c);
	if (is_there)
		obj_class_drop(c->vocab, &old);
	return ERR_OK;
}

void cluster_drop_class(struct cluster *c, const char *name)
{
	bool is_there;
	uint32_t i = class_position(c, name, &is_there);

	if (!is_there)
		return;
	struct obj_class *old = c->classes.v[i];
	array_remove(&c->classes, i);
	classes_changed(c);
	obj_class_drop(c->vocab, old);
	mem_free(old);
}

/* ---- namespaces ---- */

static uint32_t namespace_position(const struct cluster *c, const char *name, bool *ret_is_there)
{
	return position(c, (void *const *)c->namespaces.v, c->namespaces.n, name, ret_is_there);
}

const struct obj_namespace *cluster_namespace(const struct cluster *c, name_id name)
{
	bool is_there;
	uint32_t i = namespace_position(c, name_str(c->names, name), &is_there);

	return is_there ? c->namespaces.v[i] : NULL;
}

uint32_t cluster_namespace_count(const struct cluster *c)
{
	return c->namespaces.n;
}

const struct obj_namespace *cluster_namespace_at(const struct cluster *c, uint32_t i)
{
	return c->namespaces.v[i];
}

/* Of queues: all that resolving looks at. Most namespaces say nothing, and need not be looked for among the pods. */
static bool says_something(const struct obj_namespace *o)
{
	return o->parent_queue != NAME_NONE || o->has_quota || o->has_guaranteed || o->max_apps != 0;
}

static void namespace_changed(struct cluster *c, name_id ns)
{
	ledger_mark mark = ledger_get_mark(c->ledger);

	cluster_resolve_namespace(c, ns);
	cluster_keep(c, mark);
}

enum err_code cluster_put_namespace(struct cluster *c, struct obj_namespace *o, struct err *e)
{
	(void)e;
	bool is_there;
	uint32_t i = namespace_position(c, name_str(c->names, o->name), &is_there);

	if (!is_there)
		array_insert(&c->namespaces, i, mem_alloc(sizeof(struct obj_namespace)));
	struct obj_namespace *mine = c->namespaces.v[i], old = *mine;
	*mine = *o;
	*o = (struct obj_namespace){.labelset = LABELSET_NONE};
	if (says_something(mine) || says_something(&old))
		namespace_changed(c, mine->name);
	if (is_there)
		obj_namespace_drop(c->vocab, &old);
	return ERR_OK;
}

void cluster_drop_namespace(struct cluster *c, const char *name)
{
	bool is_there;
	uint32_t i = namespace_position(c, name, &is_there);

	if (!is_there)
		return;
	struct obj_namespace *old = c->namespaces.v[i];
	array_remove(&c->namespaces, i);
	if (says_something(old))
		namespace_changed(c, old->name);
	obj_namespace_drop(c->vocab, old);
	mem_free(old);
}

/* ---- owners ---- */

struct owner_order {
	bool is_good;
	ARRAY(const struct obj_owner *) v;
};

static uint64_t owner_key(const struct cluster *c, const struct obj_owner *o)
{
	return map_key2(ns_of(c, o->labelset), o->name);
}

static uint32_t first_of_name(const struct cluster *c, name_id ns, name_id name)
{
	uint32_t slot = name != NAME_NONE ? map_get(&c->owner_by_name, map_key2(ns, name)) : MAP_NONE;

	return slot == MAP_NONE ? ID_NONE : slot;
}

static uint32_t find_owner(const struct cluster *c, name_id kind, name_id ns, name_id name)
{
	uint32_t slot = first_of_name(c, ns, name);

	while (slot != ID_NONE && c->owners.v[slot]->kind_name != kind)
		slot = c->owner_next.v[slot];
	return slot;
}

const struct obj_owner *cluster_owner(const struct cluster *c, name_id kind, name_id ns, name_id name)
{
	uint32_t slot = find_owner(c, kind, ns, name);

	return slot != ID_NONE ? c->owners.v[slot] : NULL;
}

static const struct obj_owner *controller_of(const struct cluster *c, const struct obj_pod *pod)
{
	uint32_t slot = first_of_name(c, ns_of(c, pod->labelset), pod->owner_name);

	while (slot != ID_NONE && (c->owners.v[slot]->kind != pod->owner_kind || c->owners.v[slot]->is_service))
		slot = c->owner_next.v[slot];
	return slot != ID_NONE ? c->owners.v[slot] : NULL;
}

const struct obj_owner *cluster_top_owner(const struct cluster *c, const struct obj_pod *pod)
{
	const struct obj_owner *top = controller_of(c, pod);

	for (int i = 0; top != NULL && i < CHAIN_MAX; i++) {
		const struct obj_owner *above =
			cluster_owner(c, top->parent_kind, ns_of(c, top->labelset), top->parent_name);
		if (above == NULL)
			return top;
		top = above;
	}
	return top;
}

/* By kind, namespace, name. */
static int compare_owners(const void *pa, const void *pb, void *ctx)
{
	const struct cluster *c = ctx;
	const struct obj_owner *a = *(const struct obj_owner *const *)pa, *b = *(const struct obj_owner *const *)pb;
	int cmp = name_cmp(c->names, a->kind_name, b->kind_name);

	if (cmp == 0)
		cmp = name_cmp(c->names, ns_of(c, a->labelset), ns_of(c, b->labelset));
	return cmp != 0 ? cmp : name_cmp(c->names, a->name, b->name);
}

/* ---- those with a selector, by namespace ---- */

static struct owner_list *selecting_in(struct cluster *c, name_id ns)
{
	uint32_t i = map_get(&c->selecting_by_ns, ns);

	if (i == MAP_NONE) {
		i = c->selecting.n;
		array_push(&c->selecting, (struct owner_list){.ns = ns});
		names_keep(c->names, ns);
		map_put(&c->selecting_by_ns, ns, i);
	}
	return &c->selecting.v[i];
}

static void selecting_add(struct cluster *c, const struct obj_owner *o)
{
	if (!o->has_selector)
		return;
	struct owner_list *list = selecting_in(c, ns_of(c, o->labelset));
	uint32_t low = 0, high = list->v.n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (compare_owners(&list->v.v[mid], &o, c) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	array_insert(&list->v, low, o);
}

static void selecting_remove(struct cluster *c, const struct obj_owner *o)
{
	if (!o->has_selector)
		return;
	struct owner_list *list = selecting_in(c, ns_of(c, o->labelset));
	uint32_t i = 0;
	while (list->v.v[i] != o)
		i++;
	array_remove(&list->v, i);
}

const struct obj_owner *const *cluster_selecting_owners(const struct cluster *c, name_id ns, uint32_t *ret_n)
{
	uint32_t i = map_get(&c->selecting_by_ns, ns);

	*ret_n = i != MAP_NONE ? c->selecting.v[i].v.n : 0;
	return *ret_n > 0 ? c->selecting.v[i].v.v : NULL;
}

/* ---- owners come, change and go ---- */

static uint64_t parent_key(const struct cluster *c, const struct obj_owner *o)
{
	return o->parent_name != NAME_NONE ? map_key2(ns_of(c, o->labelset), o->parent_name) : 0;
}

/*
 * Pods below an owner, over all levels.
 * An owner has one parent, so even in a circle nobody is met more than CHAIN_MAX times.
 */
static void resolve_below(struct cluster *c, name_id kind, uint64_t key, int levels)
{
	for (pod_id id = id_index_first(&c->by_owner, key); id != ID_NONE; id = id_index_next(&c->by_owner, id))
		cluster_resolve_owned(c, id);
	if (levels == 0)
		return;
	for (uint32_t slot = id_index_first(&c->owners_by_parent, key); slot != ID_NONE;
	     slot = id_index_next(&c->owners_by_parent, slot)) {
		const struct obj_owner *o = c->owners.v[slot];
		if (o->parent_kind == kind)
			resolve_below(c, o->kind_name, owner_key(c, o), levels - 1);
	}
}

static void owner_changed(struct cluster *c, const struct obj_owner *o)
{
	ledger_mark mark = ledger_get_mark(c->ledger);

	resolve_below(c, o->kind_name, owner_key(c, o), CHAIN_MAX);
	cluster_keep(c, mark);
}

static uint32_t take_slot(struct cluster *c)
{
	if (c->free_owners.n > 0)
		return array_pop(&c->free_owners);
	array_push(&c->owners, NULL);
	array_push(&c->owner_next, ID_NONE);
	return c->owners.n - 1;
}

static void enter_owner(struct cluster *c, uint32_t slot)
{
	struct obj_owner *o = c->owners.v[slot];
	uint32_t first = map_get(&c->owner_by_name, owner_key(c, o));

	c->owner_next.v[slot] = first == MAP_NONE ? ID_NONE : first;
	map_put(&c->owner_by_name, owner_key(c, o), slot);
	id_index_put(&c->owners_by_parent, slot, parent_key(c, o));
	selecting_add(c, o);
	c->n_owners++;
	c->owner_order->is_good = false;
}

static void leave_owner(struct cluster *c, uint32_t slot)
{
	const struct obj_owner *o = c->owners.v[slot];
	uint64_t key = owner_key(c, o);
	uint32_t i = map_get(&c->owner_by_name, key), next = c->owner_next.v[slot];

	if (i != slot) {
		while (c->owner_next.v[i] != slot)
			i = c->owner_next.v[i];
		c->owner_next.v[i] = next;
	} else if (next != ID_NONE) {
		map_put(&c->owner_by_name, key, next);
	} else {
		map_del(&c->owner_by_name, key);
	}
	id_index_put(&c->owners_by_parent, slot, 0);
	selecting_remove(c, o);
	c->n_owners--;
	c->owner_order->is_good = false;
}

enum err_code cluster_put_owner(struct cluster *c, struct obj_owner *o, struct err *e)
{
	(void)e;
	uint32_t slot = find_owner(c, o->kind_name, ns_of(c, o->labelset), o->name);
	bool is_there = slot != ID_NONE;

	if (is_there) {
		leave_owner(c, slot);
	} else {
		slot = take_slot(c);
		c->owners.v[slot] = mem_alloc(sizeof(struct obj_owner));
	}
	struct obj_owner *mine = c->owners.v[slot], old = *mine;
	*mine = *o;
	*o = (struct obj_owner){.labelset = LABELSET_NONE};
	enter_owner(c, slot);
	bool is_same = is_there && old.labelset == mine->labelset && old.parent_kind == mine->parent_kind &&
		       old.parent_name == mine->parent_name;
	if (!is_same)
		owner_changed(c, mine);
	if (is_there)
		obj_owner_drop(c->vocab, &old);
	return ERR_OK;
}

void cluster_drop_owner(struct cluster *c, const char *kind, const char *ns, const char *name)
{
	name_id ns_id = names_find(c->names, ns, strlen(ns)), id = names_find(c->names, name, strlen(name));
	uint32_t slot = find_owner(c, names_find(c->names, kind, strlen(kind)), ns_id, id);

	if (slot == ID_NONE)
		return;
	struct obj_owner *old = c->owners.v[slot];
	leave_owner(c, slot);
	c->owners.v[slot] = NULL;
	array_push(&c->free_owners, slot);
	owner_changed(c, old);
	obj_owner_drop(c->vocab, old);
	mem_free(old);
}

static void sort_owners(const struct cluster *c)
{
	struct owner_order *order = c->owner_order;

	if (order->is_good)
		return;
	order->v.n = 0;
	for (uint32_t i = 0; i < c->owners.n; i++)
		if (c->owners.v[i] != NULL)
			array_push(&order->v, c->owners.v[i]);
	if (order->v.n > 0)
		qsort_r(order->v.v, order->v.n, sizeof(*order->v.v), compare_owners, (void *)c);
	order->is_good = true;
}

uint32_t cluster_owner_count(const struct cluster *c)
{
	return c->n_owners;
}

const struct obj_owner *cluster_owner_at(const struct cluster *c, uint32_t i)
{
	sort_owners(c);
	return c->owner_order->v.v[i];
}

/* ---- life ---- */

void cluster_objects_init(struct cluster *c)
{
	c->owner_order = mem_alloc(sizeof(*c->owner_order));
}

static void owners_free(struct cluster *c)
{
	for (uint32_t i = 0; i < c->owners.n; i++) {
		if (c->owners.v[i] == NULL)
			continue;
		obj_owner_drop(c->vocab, c->owners.v[i]);
		mem_free(c->owners.v[i]);
	}
	for (uint32_t i = 0; i < c->selecting.n; i++) {
		names_drop(c->names, c->selecting.v[i].ns);
		array_free(&c->selecting.v[i].v);
	}
	array_free(&c->owners);
	array_free(&c->owner_next);
	array_free(&c->free_owners);
	array_free(&c->selecting);
	map_free(&c->owner_by_name);
	map_free(&c->selecting_by_ns);
	id_index_free(&c->owners_by_parent);
	array_free(&c->owner_order->v);
	mem_free(c->owner_order);
}

void cluster_objects_free(struct cluster *c)
{
	for (uint32_t i = 0; i < c->classes.n; i++) {
		obj_class_drop(c->vocab, c->classes.v[i]);
		mem_free(c->classes.v[i]);
	}
	for (uint32_t i = 0; i < c->namespaces.n; i++) {
		obj_namespace_drop(c->vocab, c->namespaces.v[i]);
		mem_free(c->namespaces.v[i]);
	}
	array_free(&c->classes);
	array_free(&c->namespaces);
	owners_free(c);
}

const struct obj_class *cluster_pod_class(const struct cluster *c, const struct obj_pod *o)
{
	return o->priority_class != NAME_NONE ? cluster_class(c, o->priority_class) : c->default_class;
}
