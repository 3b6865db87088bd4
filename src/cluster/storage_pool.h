/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_pool.h - the pools of storage.h, by class. For storage.c alone.
 *
 * A volume that changes leaves and comes again; its class is then sorted anew by the next who asks.
 */
#pragma once

#include "base/map.h"
#include "cluster/storage.h"

struct pv_class {			      /* its free volumes */
	name_id name;			      /* NAME_NONE: a class of volumes without one, or the place is free */
	ARRAY(const struct obj_pv *) members; /* in no order */
	bool is_good;			      /* pool is made of them */
	struct arena *arena;		      /* of pool */
	struct pv_pool pool;
};

struct pv_pools {
	const struct names *names;
	struct map by_class; /* name + 1 -> position */
	ARRAY(struct pv_class) classes;
	ARRAY(uint32_t) free;
};

void pv_pools_add(struct pv_pools *p, const struct obj_pv *v);
void pv_pools_remove(struct pv_pools *p, const struct obj_pv *v);
const struct pv_pool *pv_pools_get(struct pv_pools *p, name_id class);
void pv_pools_free(struct pv_pools *p);
