/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/alike.h"

#include "base/map.h"
#include "engine/wait_kind.h"

typedef ARRAY(struct waiting_kind) wait_kinds;

struct kinds_at_work {
	struct map by_hash;
	wait_kinds kinds;
};

/* ---- what a pod is like ---- */

/* Two kinds of one hash: the later one is taken for nobody's. */
static uint32_t find(struct kinds_at_work *w, const struct waiting_kind *k)
{
	uint64_t hash = hash_bytes(k, sizeof(*k));
	uint32_t at = map_get(&w->by_hash, hash);

	assert(at == MAP_NONE || w->kinds.v);
	if (at != MAP_NONE)
		return memcmp(&w->kinds.v[at], k, sizeof(*k)) == 0 ? at : MAP_NONE;
	array_push(&w->kinds, *k);
	map_put(&w->by_hash, hash, w->kinds.n - 1);
	return w->kinds.n - 1;
}

void alike_init(struct alike *a, const struct cluster *c, const struct engine_config *config,
		const struct engine_run *run, pod_id but)
{
	struct kinds_at_work w = {0};
	bool labels_matter;

	*a = (struct alike){.cluster = c};
	if (config->looks_at_all || config->n_plugins || !run->these)
		return;
	labels_matter = wait_kind_labels_matter(ledger_vocab(cluster_ledger(c)), config);
	for (uint32_t i = 0; i < run->n_these; i++) {
		pod_id pod = run->these[i];
		struct waiting_kind k;
		uint32_t at;

		if (pod == but || !wait_kind_of(c, labels_matter, pod, &k))
			continue;
		at = find(&w, &k);
		if (at != MAP_NONE)
			map_put(&a->kind_of, pod, at);
	}
	a->n_kinds = w.kinds.n;
	array_free(&w.kinds);
	map_free(&w.by_hash);
}

void alike_free(struct alike *a)
{
	map_free(&a->kind_of);
}

/* ---- who waited in vain ---- */

void refusals_init(struct refusals *r, const struct alike *a, const struct decisions *made, int64_t now_ns)
{
	*r = (struct refusals){.alike = a, .made = made, .now_ns = now_ns, .n_looked = made->v.n, .asked = POD_NONE};
	if (a)
		r->last = mem_alloc((a->n_kinds + 1) * sizeof(*r->last));
}

void refusals_free(struct refusals *r)
{
	mem_free(r->last);
}

static bool is_young(const struct refusals *r, pod_id pod)
{
	const struct ledger *l = cluster_ledger(r->alike->cluster);

	return wait_kind_is_young(l, ledger_pod(l, pod), r->now_ns);
}

/* Who is refused leaves no trace: where no more was moved since, all is as it was. */
static void look_at_made(struct refusals *r, const struct ledger *l)
{
	for (r->n_looked = r->n_looked < r->made->v.n ? r->n_looked : r->made->v.n; r->n_looked < r->made->v.n;
	     r->n_looked++) {
		const struct decision *d = &r->made->v.v[r->n_looked];
		uint32_t kind = d->pod == POD_NONE ? MAP_NONE : map_get(&r->alike->kind_of, d->pod);

		if (kind != MAP_NONE && d->pod == r->asked && r->mark == ledger_get_mark(l) &&
		    d->outcome == OUTCOME_WAITING && !is_young(r, d->pod))
			r->last[kind] = (struct refused){.mark = r->mark, .cycle = ledger_cycle(l)};
	}
}

/* It may have got room reserved in an earlier cycle of the run. */
static bool is_known(const struct refusals *r, const struct ledger *l, pod_id pod)
{
	uint32_t kind = map_get(&r->alike->kind_of, pod);

	return kind != MAP_NONE && r->last[kind].cycle && r->last[kind].cycle == ledger_cycle(l) &&
	       r->last[kind].mark == ledger_get_mark(l) && ledger_pod(l, pod)->nomination == NOMINATION_NONE &&
	       !is_young(r, pod);
}

bool refusals_pass_over(struct refusals *r, pod_id pod)
{
	const struct ledger *l;

	if (!r->alike)
		return false;
	l = cluster_ledger(r->alike->cluster);
	look_at_made(r, l);
	if (is_known(r, l, pod))
		return true;
	r->asked = ledger_pod(l, pod)->nomination == NOMINATION_NONE ? pod : POD_NONE;
	r->mark = ledger_get_mark(l);
	return false;
}
