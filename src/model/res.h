/* SPDX-License-Identifier: Apache-2.0 */
/*
 * res.h - resource types and amounts of them.
 *
 * A resource type is a small number: cpu, memory, ephemeral-storage and pods are fixed, the rest ("nvidia.com/gpu") get
 * the next free number when first seen and keep it. Units: cpu in thousandths of a core, everything else in whole units
 * (bytes, devices). A cluster knows at most RES_MAX types; one more is an input error.
 *
 * Missing, zero and unlimited differ. A vector has a mask: a type outside it was not stated. A stated zero is a zero.
 * In a guarantee the value RES_UNLIMITED means "without end" (KAI's -1); in a maximum a missing type means "no limit".
 *
 * No amount that enters is larger than RES_AMOUNT_MAX, and the ledger keeps the sum over everything it holds below
 * 2^62, so sums of amounts never overflow and every addition can be undone exactly. The functions here saturate
 * nevertheless.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "units/quantity.h"

enum { RES_CPU, RES_MEMORY, RES_EPHEMERAL, RES_PODS, RES_FIXED };
#define RES_MAX 64
#define RES_MAX_OF_PODS 48 /* pods bring in no type beyond: tenants make them, and nodes and queues must find room */
#define RES_NONE UINT32_MAX
#define RES_UNLIMITED INT64_MAX
#define RES_AMOUNT_MAX (INT64_C(1) << 56)

typedef uint32_t res_id;

struct res_types {
	struct names *names;
	uint32_t n; /* RES_FIXED at least */
	name_id name[RES_MAX];
};

void res_types_init(struct res_types *t, struct names *names);
void res_types_free(struct res_types *t);
res_id res_types_find(const struct res_types *t, const char *name, size_t len); /* RES_NONE if unknown */
/* Known or new. ERR_LIMIT when RES_MAX are in use. The name is not checked here. */
enum err_code res_types_add(struct res_types *t, const char *name, size_t len, res_id *ret, struct err *e);
const char *res_type_name(const struct res_types *t, res_id r);
/* A name Kubernetes accepts for a resource: a plain word or a qualified name. */
enum err_code res_name_check(const char *s, size_t len, struct err *e);
/* Does the scheduler count it on nodes? cpu, memory, ephemeral-storage, pods, extended and prefixed ones. */
bool res_name_is_counted(const char *s, size_t len);

/*
 * A quantity as an amount of r: cpu in milli, others rounded up. Negative or past int64_t: ERR_INPUT.
 * Above RES_AMOUNT_MAX: cut to it.
 */
enum err_code res_amount_of(res_id r, const struct quantity *q, int64_t *ret, struct err *e);
/* "4", "500m", "16Gi", "2" as an operator wants to read it. RES_UNLIMITED: "unlimited". */
void res_amount_text(res_id r, int64_t amount, struct text *out);
/* The exact text a manifest would have: reads back as the same amount. */
void res_amount_exact(res_id r, int64_t amount, struct text *out);

/* The dense form, for queues and for arithmetic on the stack. Values outside the mask are zero. */
struct res_vec {
	uint64_t mask;
	int64_t v[RES_MAX];
};

/* The sparse form, for what a pod asks: few types, sorted by type, amounts may be zero if stated. */
struct res_amount {
	res_id type;
	int64_t amount;
};

struct res_list {
	uint32_t n;
	const struct res_amount *v;
};

int64_t res_list_get(const struct res_list *l, res_id r); /* 0 if not there */

static inline bool res_has(const struct res_vec *v, res_id r)
{
	return v->mask >> r & 1;
}
static inline void res_put(struct res_vec *v, res_id r, int64_t amount)
{
	v->mask |= UINT64_C(1) << r;
	v->v[r] = amount;
}
int64_t res_add_sat(int64_t a, int64_t b);
int64_t res_sub_sat(int64_t a, int64_t b);
void res_vec_add(struct res_vec *a, const struct res_vec *b); /* union of types */
void res_vec_add_list(struct res_vec *a, const struct res_list *b);
void res_vec_sub(struct res_vec *a, const struct res_vec *b); /* may go negative */
void res_vec_max(struct res_vec *a, const struct res_vec *b); /* per type the larger; union */
void res_vec_min(struct res_vec *a, const struct res_vec *b); /* per type the smaller; a type only one has keeps it */
bool res_vec_equal(const struct res_vec *a, const struct res_vec *b); /* masks too */
bool res_vec_is_zero(const struct res_vec *a);			      /* nothing stated, or all zero */
/* "cpu 4, memory 16Gi, nvidia.com/gpu 2" in type order; "nothing" when empty. */
void res_vec_text(const struct res_types *t, const struct res_vec *v, struct text *out);
