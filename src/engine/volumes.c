/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/volumes.h"

void engine_assume(struct engine *en, pod_id pod, node_id node, int64_t now_ns)
{
	struct cede_cycle c;
	struct arena *a;

	if (!pod_has_volumes(en->ledger, pod))
		return;
	a = arena_new(1 << 14);
	cycle_begin(&c, engine_framework(en, pod), a, pod, now_ns);
	volumes_assume(&c, node);
	cycle_end(&c);
	arena_free(a);
}

/* How often the claim of volume `at` was named before. */
static uint32_t times_named(const struct pod_volumes *v, uint32_t at)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < at; i++)
		n += pod_volume_is_claim(&v->v[i]) && v->v[i].id == v->v[at].id;
	return n;
}

/*
 * The n-th thing that was written down for this pod about the claim; NULL: nothing. That a volume is made is written
 * down once, however often the claim is named.
 */
static const struct assumption *nth_of(const struct ledger *l, pod_id pod, name_id claim, uint32_t n)
{
	const struct assumption *a, *made = NULL;

	for (uint32_t i = 0; (a = ledger_pod_assumed(l, pod, i)) != NULL; i++) {
		if (a->claim == claim && n-- == 0)
			return a;
		if (a->claim == claim && a->volume == NAME_NONE)
			made = a;
	}
	return made;
}

void decision_take_volumes(struct decision *d, const struct ledger *l, struct arena *keep)
{
	const struct pod_volumes *v = ledger_pod(l, d->pod)->obj->volumes;
	struct decided_volume *ret;

	d->n_volumes = 0;
	if (v == NULL || ledger_pod_assumed(l, d->pod, 0) == NULL)
		return;
	ret = arena_n(keep, v->n, struct decided_volume);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct assumption *a =
			pod_volume_is_claim(&v->v[i]) ? nth_of(l, d->pod, v->v[i].id, times_named(v, i)) : NULL;

		if (a != NULL)
			ret[d->n_volumes++] = (struct decided_volume){a->ns, a->claim, a->volume};
	}
	d->volumes = ret;
}
