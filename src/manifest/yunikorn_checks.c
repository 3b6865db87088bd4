/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must agree between queues: amounts and numbers of applications.
 * All of it is about what was written, before zeros are read as "not set".
 */
#include <inttypes.h>

#include "manifest/yunikorn.h"

res_id yk_excess(const struct res_vec *limit, const struct res_vec *what)
{
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(limit, r) && res_has(what, r) && what->v[r] > limit->v[r])
			return r;
	return RES_NONE;
}

const char *yk_type_name(const struct yk *y, res_id r)
{
	return r == RES_CPU ? "vcore" : res_type_name(vocab_res(y->r.vocab), r);
}

const char *yk_amount(const struct yk *y, res_id r, int64_t amount)
{
	struct text t = {0};
	const char *s;

	if (amount == RES_UNLIMITED) /* only sums get so far */
		return "9223372036854775807 or more";
	res_amount_exact(r, amount, &t);
	s = arena_strndup(y->arena, t.s, t.n);
	text_free(&t);
	return s;
}

/* The queue on the way up whose maximum it is that holds. */
static const char *ceiling_path(struct yk *y, uint32_t row, res_id r)
{
	int64_t ceiling = yk_row(y, row)->ceiling.v[r];
	const struct res_vec *max = &yk_row(y, row)->def.spec.max;

	while (!res_has(max, r) || max->v[r] != ceiling) {
		row = yk_row(y, row)->parent;
		max = &yk_row(y, row)->def.spec.max;
	}
	return yk_row(y, row)->def.path;
}

struct amount_place {
	struct at queue, resources, set, amount;
};

/* Where the amount of a type is written, or should be; messages are about that queue then. */
static const struct at *place_of(struct yk *y, uint32_t row, const char *set, res_id r, struct amount_place *p)
{
	p->queue = yk_speak_of(y, row);
	p->resources = at_field(&p->queue, "resources");
	p->set = at_field(&p->resources, set);
	p->amount = at_field(&p->set, yk_type_name(y, r));
	return &p->amount;
}

static enum err_code check_own(struct yk *y, uint32_t row, struct err *e)
{
	const struct queue_spec *s = &yk_row(y, row)->def.spec;
	uint32_t parent = yk_row(y, row)->parent;
	struct amount_place p;
	res_id r = yk_excess(&s->max, &s->guaranteed);

	if (r != RES_NONE)
		return at_fail(&y->r, place_of(y, row, "guaranteed", r, &p), e, "%s is above the queue's own max %s",
			       yk_amount(y, r, s->guaranteed.v[r]), yk_amount(y, r, s->max.v[r]));
	r = yk_excess(&yk_row(y, parent)->ceiling, &s->max);
	if (r == RES_NONE)
		return ERR_OK;
	return at_fail(&y->r, place_of(y, row, "max", r, &p), e, "%s is above the max %s of %.200s",
		       yk_amount(y, r, s->max.v[r]), yk_amount(y, r, yk_row(y, parent)->ceiling.v[r]),
		       ceiling_path(y, parent, r));
}

static enum err_code check_children(struct yk *y, uint32_t row, struct err *e)
{
	const struct yk_queue *q = yk_row(y, row);
	struct amount_place p;
	res_id r = yk_excess(&q->def.spec.guaranteed, &q->claimed);

	if (r != RES_NONE)
		return at_fail(&y->r, place_of(y, row, "guaranteed", r, &p), e,
			       "%s is below the %s that its children are guaranteed together",
			       yk_amount(y, r, q->def.spec.guaranteed.v[r]), yk_amount(y, r, q->claimed.v[r]));
	r = yk_excess(&q->ceiling, &q->claimed);
	if (r == RES_NONE)
		return ERR_OK;
	return at_fail(&y->r, place_of(y, row, "max", r, &p), e,
		       "%s, the max of %.200s, is below the %s that its children are guaranteed together",
		       yk_amount(y, r, q->ceiling.v[r]), ceiling_path(y, row, r), yk_amount(y, r, q->claimed.v[r]));
}

enum err_code yk_check_resources(struct yk *y, struct err *e)
{
	for (uint32_t i = 1; i < y->queues.n; i++) {
		struct yk_queue *q = yk_row(y, i);

		q->ceiling = q->def.spec.max;
		res_vec_min(&q->ceiling, &yk_row(y, q->parent)->ceiling);
	}
	for (uint32_t i = y->queues.n; i-- > 1;) {
		struct yk_queue *q = yk_row(y, i);

		res_vec_add(&yk_row(y, q->parent)->claimed,
			    res_vec_is_zero(&q->def.spec.guaranteed) ? &q->claimed : &q->def.spec.guaranteed);
	}
	for (uint32_t i = 1; i < y->queues.n; i++) {
		TRY(check_own(y, i, e));
		TRY(check_children(y, i, e));
	}
	return ERR_OK;
}

enum err_code yk_check_max_apps(struct yk *y, struct err *e)
{
	for (uint32_t i = 1; i < y->queues.n; i++) {
		const struct yk_queue *q = yk_row(y, i), *up = yk_row(y, q->parent);
		uint64_t own = q->def.spec.max_apps, above = up->def.spec.max_apps;
		struct at a, apps;

		if (!above || (own && own <= above))
			continue;
		a = yk_speak_of(y, i);
		apps = at_field(&a, "maxapplications");
		if (!own)
			return at_fail(&y->r, &apps, e, "must be set and above zero, because %.200s has %" PRIu64,
				       up->def.path, above);
		return at_fail(&y->r, &apps, e, "%" PRIu64 " is above the %" PRIu64 " of %.200s", own, above,
			       up->def.path);
	}
	return ERR_OK;
}
