/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who had to be left: what kinds there are, and the list for programs. protection.c has the words and the table for
 * people.
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

/* ---- kinds ---- */

static bool is_alike(const struct protected_kind *k, const struct protected_pod *x, const char *why)
{
	const struct protected_pod *a = k->first;

	return a->verdict.rule == x->verdict.rule && a->verdict.reason == x->verdict.reason &&
	       a->verdict.answer == x->verdict.answer && a->verdict.plugin == x->verdict.plugin &&
	       a->queue == x->queue && (!why || (a->node == x->node && str_eq(k->why, why)));
}

/* Could it be of a kind that is there? Only then words have to be made to tell, once there are enough kinds. */
static bool may_be_alike(const struct protected_kinds *k, const struct protected_pod *x)
{
	for (uint32_t i = k->v.n; i-- > 0;)
		if (is_alike(&k->v.v[i], x, NULL) && k->v.v[i].first->node == x->node)
			return true;
	return false;
}

/* The latest are looked at first: pods come node by node. UINT32_MAX: there is no room for its kind. */
static uint32_t kind_of(struct protected_kinds *k, const struct protected_pod *x, const char *why, bool is_alone,
			uint32_t most)
{
	for (uint32_t i = is_alone ? 0 : k->v.n; i-- > 0;)
		if (is_alike(&k->v.v[i], x, why))
			return i;
	if (k->v.n >= most)
		return UINT32_MAX;
	array_push(&k->v, ((struct protected_kind){.first = x,
						   .why = why ? arena_strndup(k->arena, why, strlen(why)) : NULL,
						   .until_ns = TIME_NONE}));
	return k->v.n - 1;
}

static void count(struct protected_kind *k, int64_t until_ns)
{
	k->n++;
	if (until_ns != TIME_NONE && (k->until_ns == TIME_NONE || until_ns < k->until_ns))
		k->until_ns = until_ns;
}

struct protected_kinds protected_kinds_of(const struct plan_view *v, const struct decision *d,
					  enum protected_grain grain, uint32_t most)
{
	struct protected_kinds k = {.of = mem_alloc((d->n_protected + 1) * sizeof(*k.of)),
				    .arena = grain == GRAIN_REASON ? NULL : arena_new(1 << 12)};
	struct text why = {0};

	for (uint32_t i = 0; i < d->n_protected; i++) {
		const struct protected_pod *x = &d->protected[i];

		k.of[i] = UINT32_MAX;
		text_reset(&why);
		if (k.v.n < most || may_be_alike(&k, x)) {
			if (grain != GRAIN_REASON)
				rule_verdict_text(v->cluster, &x->verdict, &why);
			k.of[i] =
				kind_of(&k, x, grain == GRAIN_REASON ? NULL : text_str(&why), grain == GRAIN_POD, most);
		}
		if (k.of[i] == UINT32_MAX)
			k.n_left++;
		else
			count(&k.v.v[k.of[i]], x->verdict.until_ns);
	}
	text_free(&why);
	return k;
}

void protected_kinds_free(struct protected_kinds *k)
{
	array_free(&k->v);
	mem_free(k->of);
	if (k->arena)
		arena_free(k->arena);
}

/* ---- which of them ---- */

struct listing {
	uint32_t *more; /* by pod: how many like it are not listed, said at the last that is */
	bool *is_listed;
	uint32_t n_listed;
};

static struct listing listing_of(const struct plan_view *v, const struct decision *d, const struct limits *most)
{
	struct listing l = {.more = mem_alloc((d->n_protected + 1) * sizeof(*l.more)),
			    .is_listed = mem_alloc((d->n_protected + 1) * sizeof(*l.is_listed))};
	struct protected_kinds kinds = protected_kinds_of(v, d, GRAIN_REASON, UINT32_MAX);
	uint32_t *n = mem_alloc((kinds.v.n + 1) * sizeof(*n)), *last = mem_alloc((kinds.v.n + 1) * sizeof(*last));

	for (uint32_t i = 0; i < d->n_protected; i++) {
		uint32_t k = kinds.of[i];

		l.is_listed[i] = v->lists_all || (n[k] < most->alike && l.n_listed < most->all);
		if (!l.is_listed[i])
			continue;
		n[k]++;
		last[k] = i;
		l.n_listed++;
	}
	for (uint32_t k = 0; k < kinds.v.n; k++)
		if (n[k])
			l.more[last[k]] = kinds.v.v[k].n - n[k];
	mem_free(n);
	mem_free(last);
	protected_kinds_free(&kinds);
	return l;
}

static void listing_free(struct listing *l)
{
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
	if (protected_are_cut(d))
		emit_bool(e, "protectedMayBeMore", true);
	listing_free(&l);
}
