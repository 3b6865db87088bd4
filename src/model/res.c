/* SPDX-License-Identifier: Apache-2.0 */
#include "model/res.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "units/labels.h"

void res_types_init(struct res_types *t, struct names *names)
{
	static const char *const fixed[RES_FIXED] = {
		[RES_CPU] = "cpu",
		[RES_MEMORY] = "memory",
		[RES_EPHEMERAL] = "ephemeral-storage",
		[RES_PODS] = "pods",
	};
	*t = (struct res_types){.names = names, .n = RES_FIXED};
	for (res_id r = 0; r < RES_FIXED; r++)
		t->name[r] = names_hold_str(names, fixed[r]);
}

void res_types_free(struct res_types *t)
{
	for (res_id r = 0; r < t->n; r++)
		names_drop(t->names, t->name[r]);
	*t = (struct res_types){0};
}

res_id res_types_find(const struct res_types *t, const char *name, size_t len)
{
	name_id id = names_find(t->names, name, len);
	for (res_id r = 0; id != NAME_NONE && r < t->n; r++)
		if (t->name[r] == id)
			return r;
	return RES_NONE;
}

enum err_code res_types_add(struct res_types *t, const char *name, size_t len, res_id *ret, struct err *e)
{
	res_id r = res_types_find(t, name, len);
	if (r == RES_NONE) {
		if (len == 0)
			return err_fail(e, ERR_INPUT, "a resource needs a name");
		if (t->n == RES_MAX)
			return err_fail(e, ERR_LIMIT, "resource '%.*s' is one too many: a cluster has at most %d types",
					(int)(len < 256 ? len : 256), name, RES_MAX);
		r = t->n++;
		t->name[r] = names_hold(t->names, name, len);
	}
	*ret = r;
	return ERR_OK;
}

const char *res_type_name(const struct res_types *t, res_id r)
{
	assert(r < t->n);
	return name_str(t->names, t->name[r]);
}

enum err_code res_name_check(const char *s, size_t len, struct err *e)
{
	return label_key_check(s, len, e);
}

static bool begins(const char *s, size_t len, const char *with)
{
	size_t n = strlen(with);
	return len >= n && memcmp(s, with, n) == 0;
}

static bool is_one_of_fixed(const char *s, size_t len)
{
	static const char *const fixed[] = {"cpu", "memory", "ephemeral-storage", "pods"};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (len == strlen(fixed[i]) && memcmp(s, fixed[i], len) == 0)
			return true;
	return false;
}

/* Extended resources have a domain of their own, and leave room for the "requests." that quotas put in front. */
static bool is_extended(const char *s, size_t len)
{
	static const char quota[] = "requests.";
	char buf[sizeof(quota) + 253 + 1 + 63];
	const size_t n = sizeof(quota) - 1;
	if (memchr(s, '/', len) == NULL || begins(s, len, quota) || len > sizeof(buf) - n)
		return false;
	memcpy(buf, quota, n);
	memcpy(buf + n, s, len);
	return label_key_check(buf, n + len, NULL) == ERR_OK;
}

bool res_name_is_counted(const char *s, size_t len)
{
	return len > 0 &&
	       (is_one_of_fixed(s, len) || begins(s, len, "hugepages-") || begins(s, len, "attachable-volumes-") ||
		memmem(s, len, "kubernetes.io/", 14) != NULL || is_extended(s, len));
}

enum err_code res_amount_of(res_id r, const struct quantity *q, int64_t *ret, struct err *e)
{
	bool is_milli = r == RES_CPU;
	if (q->nano < 0)
		return err_fail(e, ERR_INPUT, "must not be negative");
	if (q->is_saturated || !(is_milli ? quantity_fits_milli(q) : quantity_fits_value(q)))
		return err_fail(e, ERR_INPUT, "is too large");
	int64_t v = is_milli ? quantity_milli(q) : quantity_value(q);
	*ret = v < RES_AMOUNT_MAX ? v : RES_AMOUNT_MAX;
	return ERR_OK;
}

/*
 * The largest unit, with one digit after the point where the number is not short in the unit below: "1536Mi", "31.4Gi".
 */
static void bytes_text(uint64_t v, struct text *out)
{
	static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	unsigned u = 0;
	while (u < 6 && v >> (10 * (u + 1)) != 0)
		u++;
	uint64_t unit = UINT64_C(1) << 10 * u, below = u > 0 ? unit >> 10 : 1;
	if (v % unit == 0) {
		text_printf(out, "%" PRIu64 "%s", v / unit, units[u]);
	} else if (v % below == 0 && v / below < 10000) {
		text_printf(out, "%" PRIu64 "%s", v / below, units[u - 1]);
	} else {
		uint64_t tenths = v / unit * 10 + (v % unit * 10 + unit / 2) / unit;
		bool is_next = tenths == 10240; /* 1023.96 of a unit read better as 1.0 of the next */
		tenths = is_next ? 10 : tenths;
		text_printf(out, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10, tenths % 10, units[u + is_next]);
	}
}

void res_amount_text(res_id r, int64_t amount, struct text *out)
{
	if (r == RES_CPU && amount != RES_UNLIMITED && amount % 1000 == 0) {
		text_printf(out, "%" PRId64, amount / 1000); /* 3000 cores are not "3k" for whoever counts machines */
		return;
	}
	if (amount == RES_UNLIMITED || (r != RES_MEMORY && r != RES_EPHEMERAL)) {
		res_amount_exact(r, amount, out);
		return;
	}
	if (amount < 0)
		text_add_char(out, '-');
	bytes_text(amount < 0 ? -(uint64_t)amount : (uint64_t)amount, out);
}

void res_amount_exact(res_id r, int64_t amount, struct text *out)
{
	if (amount == RES_UNLIMITED)
		text_add(out, "unlimited");
	else if (r == RES_CPU)
		quantity_text_milli(amount, out);
	else if (r == RES_MEMORY || r == RES_EPHEMERAL)
		quantity_text_value(amount, QUANTITY_BINARY_SI, out);
	else
		text_printf(out, "%" PRId64, amount);
}

int64_t res_list_get(const struct res_list *l, res_id r)
{
	for (uint32_t i = 0; i < l->n && l->v[i].type <= r; i++)
		if (l->v[i].type == r)
			return l->v[i].amount;
	return 0;
}

int64_t res_add_sat(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

int64_t res_sub_sat(int64_t a, int64_t b)
{
	int64_t diff;
	if (__builtin_sub_overflow(a, b, &diff))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return diff;
}

/* for (m = mask; m != 0; m &= m - 1) visits the types of a mask in ascending order; this is the one it is at. */
static res_id lowest(uint64_t m)
{
	return (res_id)__builtin_ctzll(m);
}

void res_vec_add(struct res_vec *a, const struct res_vec *b)
{
	for (uint64_t m = b->mask; m != 0; m &= m - 1)
		a->v[lowest(m)] = res_add_sat(a->v[lowest(m)], b->v[lowest(m)]);
	a->mask |= b->mask;
}

void res_vec_add_list(struct res_vec *a, const struct res_list *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		res_put(a, b->v[i].type, res_add_sat(a->v[b->v[i].type], b->v[i].amount));
}

void res_vec_sub(struct res_vec *a, const struct res_vec *b)
{
	for (uint64_t m = b->mask; m != 0; m &= m - 1)
		a->v[lowest(m)] = res_sub_sat(a->v[lowest(m)], b->v[lowest(m)]);
	a->mask |= b->mask;
}

void res_vec_max(struct res_vec *a, const struct res_vec *b)
{
	for (uint64_t m = b->mask; m != 0; m &= m - 1) {
		res_id r = lowest(m);
		if (!res_has(a, r) || a->v[r] < b->v[r])
			res_put(a, r, b->v[r]);
	}
}

void res_vec_min(struct res_vec *a, const struct res_vec *b)
{
	for (uint64_t m = b->mask; m != 0; m &= m - 1) {
		res_id r = lowest(m);
		if (!res_has(a, r) || a->v[r] > b->v[r])
			res_put(a, r, b->v[r]);
	}
}

bool res_vec_equal(const struct res_vec *a, const struct res_vec *b)
{
	return a->mask == b->mask && memcmp(a->v, b->v, sizeof(a->v)) == 0;
}

bool res_vec_is_zero(const struct res_vec *a)
{
	for (uint64_t m = a->mask; m != 0; m &= m - 1)
		if (a->v[lowest(m)] != 0)
			return false;
	return true;
}

void res_vec_text(const struct res_types *t, const struct res_vec *v, struct text *out)
{
	if (v->mask == 0)
		text_add(out, "nothing");
	for (uint64_t m = v->mask; m != 0; m &= m - 1) {
		text_printf(out, "%s%s ", m != v->mask ? ", " : "", res_type_name(t, lowest(m)));
		res_amount_text(lowest(m), v->v[lowest(m)], out);
	}
}
