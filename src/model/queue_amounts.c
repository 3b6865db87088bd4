/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the amounts of queues agree? The same conditions that a queues.yaml is read under, asked of the tree: for changes
 * that are only tried and have no document of their own.
 */
#include "model/queue.h"

static enum err_code refuse(const struct queue_tree *t, queue_id id, const char *set, res_id r, int64_t amount,
			    const char *words, int64_t other, struct err *e)
{
	struct text is = {0}, bound = {0};

	res_amount_text(r, amount, &is);
	res_amount_text(r, other, &bound);
	err_fail(e, ERR_INPUT, "queue %s: %s %s %s %s", name_str(t->names, queue_get(t, id)->path), set, text_str(&is),
		 words, text_str(&bound));
	text_free(&is);
	text_free(&bound);
	return ERR_INPUT;
}

static res_id excess(const struct res_vec *limit, const struct res_vec *what)
{
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(limit, r) && res_has(what, r) && what->v[r] > limit->v[r])
			return r;
	return RES_NONE;
}

/* What is guaranteed to it, or else to all below it together. */
static void claimed_by(const struct queue_tree *t, queue_id id, struct res_vec *ret)
{
	const struct queue *q = queue_get(t, id);

	*ret = q->spec.guaranteed;
	if (!res_vec_is_zero(ret))
		return;
	for (uint32_t i = 0; i < q->children.n; i++) {
		struct res_vec below;

		claimed_by(t, q->children.v[i], &below);
		res_vec_add(ret, &below);
	}
}

static enum err_code check_queue(const struct queue_tree *t, queue_id id, struct err *e)
{
	const struct queue *q = queue_get(t, id);
	struct res_vec ceiling = {0}, children = {0};
	res_id r = excess(&q->spec.max, &q->spec.guaranteed);

	if (r != RES_NONE)
		return refuse(t, id, "guaranteed", r, q->spec.guaranteed.v[r], "is above its own max", q->spec.max.v[r],
			      e);
	if (q->parent != QUEUE_NONE)
		queue_effective_max(t, q->parent, &ceiling);
	r = excess(&ceiling, &q->spec.max);
	if (r != RES_NONE)
		return refuse(t, id, "max", r, q->spec.max.v[r], "is above the max of a queue above it,", ceiling.v[r],
			      e);
	for (uint32_t i = 0; i < q->children.n; i++) {
		struct res_vec below;

		claimed_by(t, q->children.v[i], &below);
		res_vec_add(&children, &below);
	}
	r = excess(&q->spec.guaranteed, &children);
	if (r != RES_NONE)
		return refuse(t, id, "guaranteed", r, q->spec.guaranteed.v[r],
			      "is below what its children are guaranteed together,", children.v[r], e);
	queue_effective_max(t, id, &ceiling);
	r = excess(&ceiling, &children);
	if (r != RES_NONE)
		return refuse(t, id, "max", r, ceiling.v[r], "is below what its children are guaranteed together,",
			      children.v[r], e);
	return ERR_OK;
}

enum err_code queue_amounts_check(const struct queue_tree *t, struct err *e)
{
	for (queue_id id = 1; id < t->q.n; id++) {
		const struct queue *q = queue_get(t, id);
		enum err_code rc = ERR_OK;

		if (q->is_live && q->spec.sources & FROM_YUNIKORN)
			rc = check_queue(t, id, e);
		if (rc)
			return rc;
	}
	return ERR_OK;
}
