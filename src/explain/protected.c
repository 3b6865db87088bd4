/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who had to be left, for programs (protection.c has the words and the table for people).
 *
 * A decision may have looked at a thousand pods and left them all for the same reason; a thousand such decisions would
 * say it a million times. So of pods that one rule keeps for one reason in one queue only the first ones are listed,
 * with how many more there are, and all in all no more than can be read; unless everybody is asked for.
 */
#include "explain/emit_fields.h"
#include "explain/plan_view.h"
#include "rules/judge.h"

struct limits {
	uint32_t alike, all; /* so many for one reason, and in one decision */
};

static const struct limits in_data = {10, 60};

/* ---- which of them ---- */

struct reason { /* what pods have in common that are left alike */
	uint8_t rule, reason;
	const char *plugin;
	queue_id queue;
	uint32_t n, listed;
	uint32_t last; /* the last one that is listed */
};

struct listing {
	ARRAY(struct reason) reasons; /* in the order of their first pods */
	uint32_t *more;		      /* by pod: how many like it are not listed, said at the last that is */
	bool *is_listed;
	uint32_t n_listed;
};

static bool is_alike(const struct reason *r, const struct protected_pod *x)
{
	return r->rule == x->verdict.rule && r->reason == x->verdict.reason && r->queue == x->queue &&
	       r->plugin == x->verdict.plugin;
}

static struct reason *reason_of(struct listing *l, const struct protected_pod *x)
{
	struct reason one = {x->verdict.rule, x->verdict.reason, x->verdict.plugin, x->queue, 0, 0, 0};

	for (uint32_t i = l->reasons.n; i-- > 0;)
		if (is_alike(&l->reasons.v[i], x))
			return &l->reasons.v[i];
	array_push(&l->reasons, one);
	return &l->reasons.v[l->reasons.n - 1];
}

static struct listing listing_of(const struct plan_view *v, const struct decision *d, const struct limits *most)
{
	struct listing l = {.more = mem_alloc((d->n_protected + 1) * sizeof(*l.more)),
			    .is_listed = mem_alloc((d->n_protected + 1) * sizeof(*l.is_listed))};

	for (uint32_t i = 0; i < d->n_protected; i++) {
		struct reason *r = reason_of(&l, &d->protected[i]);

		r->n++;
		l.is_listed[i] = v->lists_all || (r->listed < most->alike && l.n_listed < most->all);
		if (!l.is_listed[i])
			continue;
		r->listed++;
		r->last = i;
		l.n_listed++;
	}
	for (uint32_t i = 0; i < l.reasons.n; i++)
		if (l.reasons.v[i].listed)
			l.more[l.reasons.v[i].last] = l.reasons.v[i].n - l.reasons.v[i].listed;
	return l;
}

static void listing_free(struct listing *l)
{
	array_free(&l->reasons);
	mem_free(l->more);
	mem_free(l->is_listed);
}

/* ---- for programs ---- */

static void emit_one(const struct plan_view *v, struct emit *e, const struct protected_pod *x, uint32_t more)
{
	struct text pod = {0};

	pod_path(v, x->pod, &pod);
	emit_object(e, NULL);
	emit_str(e, "pod", text_str(&pod));
	emit_some(e, "queue", queue_path(v, x->queue));
	emit_some(e, "node", node_text(v, x->node));
	plan_emit_verdict(v, e, &x->verdict);
	if (more)
		emit_int(e, "more", more);
	emit_end(e);
	text_free(&pod);
}

void plan_emit_protected(const struct plan_view *v, struct emit *e, const struct decision *d)
{
	struct listing l;

	if (!d->n_protected)
		return;
	l = listing_of(v, d, &in_data);
	emit_list(e, "protected");
	for (uint32_t i = 0; i < d->n_protected; i++)
		if (l.is_listed[i])
			emit_one(v, e, &d->protected[i], l.more[i]);
	emit_end(e);
	if (l.n_listed < d->n_protected)
		emit_int(e, "protectedCount", d->n_protected);
	listing_free(&l);
}
