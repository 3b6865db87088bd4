/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind is kept alike: objects in slots, found by namespace and name, and listed by one more name that filters ask
 * by (the claim a volume is for, the class of a capacity, the node of an attachment).
 */
#include "cluster/storage.h"

#include <string.h>

#include "cluster/cluster_internal.h"
#include "cluster/storage_pool.h"

struct shelf {
	ARRAY(void *) v; /* by slot; NULL: free */
	ARRAY(uint32_t) free;
	struct map by_name;
	struct id_index by_other;
};

struct storage {
	struct shelf shelves[STORAGE_KINDS];
	struct pv_pools pools;
	uint64_t generation; /* only grows */
};

/* ---- what kinds differ in ---- */

#define DROP_FN(stem)                                       \
	static void drop_##stem(struct vocab *v, void *obj) \
	{                                                   \
		obj_##stem##_drop(v, obj);                  \
	}
DROP_FN(pv)
DROP_FN(pvc)
DROP_FN(storage_class)
DROP_FN(csi_node)
DROP_FN(csi_driver)
DROP_FN(csi_capacity)
DROP_FN(attachment)
#undef DROP_FN

static uint64_t claim_of_pv(const void *obj)
{
	const struct obj_pv *o = obj;

	return o->has_claim ? map_key2(o->claim_ns, o->claim_name) : 0;
}

static uint64_t class_of_capacity(const void *obj)
{
	return ((const struct obj_csi_capacity *)obj)->class;
}

static uint64_t node_of_attachment(const void *obj)
{
	return ((const struct obj_attachment *)obj)->node;
}

static const struct {
	size_t size;
	bool has_namespace; /* the object begins with its namespace and its name; else with its name */
	uint64_t (*other_key)(const void *obj); /* NULL: there is none */
	void (*drop)(struct vocab *v, void *obj);
} kinds[STORAGE_KINDS] = {
	[STORAGE_PV] = {sizeof(struct obj_pv), false, claim_of_pv, drop_pv},
	[STORAGE_PVC] = {sizeof(struct obj_pvc), true, NULL, drop_pvc},
	[STORAGE_CLASS] = {sizeof(struct obj_storage_class), false, NULL, drop_storage_class},
	[STORAGE_CSI_NODE] = {sizeof(struct obj_csi_node), false, NULL, drop_csi_node},
	[STORAGE_CSI_DRIVER] = {sizeof(struct obj_csi_driver), false, NULL, drop_csi_driver},
	[STORAGE_CSI_CAPACITY] = {sizeof(struct obj_csi_capacity), true, class_of_capacity, drop_csi_capacity},
	[STORAGE_ATTACHMENT] = {sizeof(struct obj_attachment), false, node_of_attachment, drop_attachment},
};

static uint64_t name_key(enum storage_kind kind, const void *obj)
{
	const name_id *first = obj;

	return kinds[kind].has_namespace ? map_key2(first[0], first[1]) : map_key2(NAME_NONE, first[0]);
}

/* ---- asking ---- */

static uint32_t find(const struct storage *s, enum storage_kind kind, name_id ns, name_id name)
{
	return name != NAME_NONE ? map_get(&s->shelves[kind].by_name, map_key2(ns, name)) : MAP_NONE;
}

static const void *get(const struct storage *s, enum storage_kind kind, name_id ns, name_id name)
{
	uint32_t slot = find(s, kind, ns, name);

	return slot != MAP_NONE ? s->shelves[kind].v.v[slot] : NULL;
}

const struct obj_pv *storage_pv(const struct storage *s, name_id name)
{
	return get(s, STORAGE_PV, NAME_NONE, name);
}

const struct obj_pvc *storage_pvc(const struct storage *s, name_id ns, name_id name)
{
	return get(s, STORAGE_PVC, ns, name);
}

const struct obj_storage_class *storage_class(const struct storage *s, name_id name)
{
	return get(s, STORAGE_CLASS, NAME_NONE, name);
}

const struct obj_csi_node *storage_csi_node(const struct storage *s, name_id node)
{
	return get(s, STORAGE_CSI_NODE, NAME_NONE, node);
}

const struct obj_csi_driver *storage_csi_driver(const struct storage *s, name_id name)
{
	return get(s, STORAGE_CSI_DRIVER, NAME_NONE, name);
}

uint32_t storage_limit(const struct storage *s, enum storage_kind kind)
{
	return s->shelves[kind].v.n;
}

const void *storage_at(const struct storage *s, enum storage_kind kind, uint32_t slot)
{
	return s->shelves[kind].v.v[slot];
}

uint32_t storage_kept_first(const struct storage *s, name_id ns, name_id claim)
{
	return id_index_first(&s->shelves[STORAGE_PV].by_other, map_key2(ns, claim));
}

uint32_t storage_capacity_first(const struct storage *s, name_id class)
{
	return id_index_first(&s->shelves[STORAGE_CSI_CAPACITY].by_other, class);
}

uint32_t storage_attachment_first(const struct storage *s, name_id node)
{
	return id_index_first(&s->shelves[STORAGE_ATTACHMENT].by_other, node);
}

uint32_t storage_next(const struct storage *s, enum storage_kind kind, uint32_t slot)
{
	return id_index_next(&s->shelves[kind].by_other, slot);
}

const struct pv_pool *storage_pool(const struct storage *s, name_id class)
{
	struct pv_pools *pools = (struct pv_pools *)&s->pools; /* made when somebody asks */

	return pv_pools_get(pools, class);
}

/* ---- coming and going ---- */

static uint32_t take_slot(struct shelf *f)
{
	if (f->free.n > 0)
		return array_pop(&f->free);
	array_push(&f->v, NULL);
	return f->v.n - 1;
}

static void enter(struct storage *s, enum storage_kind kind, uint32_t slot)
{
	struct shelf *f = &s->shelves[kind];

	map_put(&f->by_name, name_key(kind, f->v.v[slot]), slot);
	if (kinds[kind].other_key != NULL)
		id_index_put(&f->by_other, slot, kinds[kind].other_key(f->v.v[slot]));
	if (kind == STORAGE_PV)
		pv_pools_add(&s->pools, f->v.v[slot]);
}

static void leave(struct storage *s, enum storage_kind kind, uint32_t slot)
{
	struct shelf *f = &s->shelves[kind];

	if (kind == STORAGE_PV)
		pv_pools_remove(&s->pools, f->v.v[slot]);
	if (kinds[kind].other_key != NULL)
		id_index_put(&f->by_other, slot, 0);
	map_del(&f->by_name, name_key(kind, f->v.v[slot]));
}

/* The object is moved in. */
static void put(struct cluster *c, enum storage_kind kind, void *obj)
{
	struct storage *s = c->storage;
	struct shelf *f = &s->shelves[kind];
	uint32_t slot = map_get(&f->by_name, name_key(kind, obj));
	void *mine = mem_alloc(kinds[kind].size), *old = NULL;

	if (slot != MAP_NONE) {
		old = f->v.v[slot];
		leave(s, kind, slot);
	} else {
		slot = take_slot(f);
	}
	memcpy(mine, obj, kinds[kind].size);
	memset(obj, 0, kinds[kind].size);
	if (kind == STORAGE_PV)
		((struct obj_pv *)obj)->labelset = LABELSET_NONE;
	f->v.v[slot] = mine;
	s->generation++;
	enter(s, kind, slot);
	if (old != NULL)
		kinds[kind].drop(c->vocab, old);
	mem_free(old);
}

static void drop(struct cluster *c, enum storage_kind kind, uint32_t slot)
{
	struct shelf *f = &c->storage->shelves[kind];
	void *old = f->v.v[slot];

	leave(c->storage, kind, slot);
	c->storage->generation++;
	f->v.v[slot] = NULL;
	array_push(&f->free, slot);
	kinds[kind].drop(c->vocab, old);
	mem_free(old);
}

/* MAP_NONE: not there. */
static uint32_t find_named(const struct cluster *c, enum storage_kind kind, const char *ns, const char *name)
{
	name_id ns_id, id;

	return cluster_find_names(c, ns, name, &ns_id, &id) ? find(c->storage, kind, ns_id, id) : MAP_NONE;
}

/* ---- volumes and claims: what was decided ends when the object says it, or can no longer ---- */

enum err_code cluster_put_pv(struct cluster *c, struct obj_pv *o, struct err *e)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	bool is_told = o->has_claim || o->deleted_ns != TIME_NONE;
	name_id name = o->name;

	(void)e;
	put(c, STORAGE_PV, o);
	if (is_told)
		ledger_unassume_volume(c->ledger, name);
	cluster_keep(c, mark);
	return ERR_OK;
}

static bool ends_assumptions(const struct obj_pvc *old, const struct obj_pvc *now)
{
	return pvc_is_bound(now) || now->has_selected_node || (old != NULL && old->uid != now->uid);
}

enum err_code cluster_put_pvc(struct cluster *c, struct obj_pvc *o, struct err *e)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	bool is_told = ends_assumptions(storage_pvc(c->storage, o->ns, o->name), o);
	name_id ns = o->ns, name = o->name;

	(void)e;
	put(c, STORAGE_PVC, o);
	if (is_told)
		ledger_unassume_claim(c->ledger, ns, name);
	cluster_keep(c, mark);
	return ERR_OK;
}

void cluster_drop_pv(struct cluster *c, const char *name)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	uint32_t slot = find_named(c, STORAGE_PV, "", name);

	if (slot == MAP_NONE)
		return;
	ledger_unassume_volume(c->ledger, storage_pv(c->storage, names_find(c->names, name, strlen(name)))->name);
	drop(c, STORAGE_PV, slot);
	cluster_keep(c, mark);
}

void cluster_drop_pvc(struct cluster *c, const char *ns, const char *name)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	uint32_t slot = find_named(c, STORAGE_PVC, ns, name);
	const struct obj_pvc *o;

	if (slot == MAP_NONE)
		return;
	o = storage_at(c->storage, STORAGE_PVC, slot);
	ledger_unassume_claim(c->ledger, o->ns, o->name);
	drop(c, STORAGE_PVC, slot);
	cluster_keep(c, mark);
}

/* ---- the rest ---- */

#define PUT_AND_DROP(stem, kind)                                                                 \
	enum err_code cluster_put_##stem(struct cluster *c, struct obj_##stem *o, struct err *e) \
	{                                                                                        \
		(void)e;                                                                         \
		put(c, (kind), o);                                                               \
		return ERR_OK;                                                                   \
	}
#define DROP_PLAIN(stem, kind)                                        \
	void cluster_drop_##stem(struct cluster *c, const char *name) \
	{                                                             \
		uint32_t slot = find_named(c, (kind), "", name);      \
                                                                      \
		if (slot != MAP_NONE)                                 \
			drop(c, (kind), slot);                        \
	}
PUT_AND_DROP(storage_class, STORAGE_CLASS)
PUT_AND_DROP(csi_node, STORAGE_CSI_NODE)
PUT_AND_DROP(csi_driver, STORAGE_CSI_DRIVER)
PUT_AND_DROP(csi_capacity, STORAGE_CSI_CAPACITY)
PUT_AND_DROP(attachment, STORAGE_ATTACHMENT)
DROP_PLAIN(storage_class, STORAGE_CLASS)
DROP_PLAIN(csi_node, STORAGE_CSI_NODE)
DROP_PLAIN(csi_driver, STORAGE_CSI_DRIVER)
DROP_PLAIN(attachment, STORAGE_ATTACHMENT)
#undef PUT_AND_DROP
#undef DROP_PLAIN

void cluster_drop_csi_capacity(struct cluster *c, const char *ns, const char *name)
{
	uint32_t slot = find_named(c, STORAGE_CSI_CAPACITY, ns, name);

	if (slot != MAP_NONE)
		drop(c, STORAGE_CSI_CAPACITY, slot);
}

/* ---- life ---- */

const struct storage *cluster_storage(const struct cluster *c)
{
	return c->storage;
}

uint64_t storage_generation(const struct storage *s)
{
	return s->generation;
}

struct storage *storage_new(const struct names *names)
{
	struct storage *s = mem_alloc(sizeof(*s));

	s->pools.names = names;
	s->generation = 1;
	return s;
}

void storage_free(struct storage *s, struct vocab *v)
{
	pv_pools_free(&s->pools);
	for (int kind = 0; kind < STORAGE_KINDS; kind++) {
		struct shelf *f = &s->shelves[kind];

		for (uint32_t i = 0; i < f->v.n; i++) {
			if (f->v.v[i] != NULL)
				kinds[kind].drop(v, f->v.v[i]);
			mem_free(f->v.v[i]);
		}
		array_free(&f->v);
		array_free(&f->free);
		map_free(&f->by_name);
		id_index_free(&f->by_other);
	}
	mem_free(s);
}
