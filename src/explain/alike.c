/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/alike.h"

#include "base/map.h"
#include "rules/judge.h"

struct wait_kind { /* everything that an attempt asks of such a pod; compared as bytes */
	queue_id queue;
	shape_id shape;
	int32_t priority;
	uint32_t preemptibility;
	uint32_t is_daemon, never_preempts;
	labelset_id labelset; /* where a filter may look at it, like the owner; else LABELSET_NONE */
	uint32_t owner_kind;
	name_id owner, ns, app; /* app: if others of it run or wait */
};

typedef ARRAY(struct wait_kind) wait_kinds;

struct kinds_at_work {
	const struct ledger *l;
	const struct cluster *cluster;
	bool labels_matter; /* to pods that do not ask for it themselves */
	struct map by_hash;
	wait_kinds kinds;
};

/* ---- what a pod is like ---- */

/* Somebody keeps others away from himself, or constraints that pods do not write refuse them. */
static bool labels_matter(const struct vocab *v, const struct engine_config *config)
{
	for (uint32_t i = 0; i < config->n_kube_profiles; i++)
		if (config->kube_profiles[i].args.spread_defaults_are_listed &&
		    config->kube_profiles[i].args.n_default_spreads)
			return true;
	for (shape_id i = 0; i < shape_limit(v); i++)
		if (shape_is_live(v, i) && shape_get(v, i)->anti_affinity.n)
			return true;
	return false;
}

/* Limits go by users and applications, volumes by claims of one's own. */
static bool is_single(const struct ledger *l, const struct pod *p)
{
	const struct queue_tree *t = ledger_queues(l);

	for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.n_limits || queue_get(t, q)->spec.max_apps)
			return true;
	return p->state != POD_WAITING || p->group != GROUP_NONE || p->nomination != NOMINATION_NONE ||
	       p->has_volumes || obj_gang(p->obj) || p->obj->node_name != NAME_NONE ||
	       shape_get(ledger_vocab(l), p->shape)->has_claims;
}

static bool has_others(const struct ledger *l, name_id ns, pod_id pod)
{
	name_id app = ledger_pod(l, pod)->obj->app;

	for (pod_id i = app == NAME_NONE ? POD_NONE : ledger_app_first(l, ns, app); i != POD_NONE;
	     i = ledger_app_next(l, i))
		if (i != pod && ledger_pod(l, i)->state != POD_FINISHED)
			return true;
	return false;
}

static struct wait_kind kind_of(const struct kinds_at_work *w, pod_id pod)
{
	const struct pod *p = ledger_pod(w->l, pod);
	const struct shape *s = shape_get(ledger_vocab(w->l), p->shape);
	name_id ns = labelset_get(ledger_vocab(w->l), p->labelset)->ns;
	struct wait_kind k = {.queue = p->queue,
			      .shape = p->shape,
			      .priority = p->priority,
			      .preemptibility = p->preemptibility,
			      .is_daemon = p->obj->owner_kind == OWNER_DAEMONSET,
			      .never_preempts = pod_never_preempts(w->cluster, w->l, p),
			      .labelset = LABELSET_NONE,
			      .app = NAME_NONE};

	if (w->labels_matter || s->affinity.n || s->anti_affinity.n || s->n_spreads) {
		k.labelset = p->labelset;
		k.owner_kind = p->obj->owner_kind;
		k.owner = p->obj->owner_name;
	}
	if (has_others(w->l, ns, pod)) {
		k.ns = ns;
		k.app = p->obj->app;
	}
	return k;
}

/* Two kinds of one hash: the later one is taken for nobody's. */
static uint32_t find(struct kinds_at_work *w, const struct wait_kind *k)
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
	struct kinds_at_work w = {.l = cluster_ledger(c), .cluster = c};

	*a = (struct alike){.cluster = c};
	if (config->looks_at_all || config->n_plugins || !run->these)
		return;
	w.labels_matter = labels_matter(ledger_vocab(w.l), config);
	for (uint32_t i = 0; i < run->n_these; i++) {
		pod_id pod = run->these[i];
		struct wait_kind k;
		uint32_t at;

		if (pod == but || is_single(w.l, ledger_pod(w.l, pod)))
			continue;
		k = kind_of(&w, pod);
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

/* Of two that are alike one may be old enough to reclaim, and the other not. */
static bool is_young(const struct refusals *r, pod_id pod)
{
	const struct ledger *l = cluster_ledger(r->alike->cluster);
	const struct pod *p = ledger_pod(l, pod);

	return p->queue != QUEUE_NONE && p->created_ns != TIME_NONE &&
	       r->now_ns < time_add(p->created_ns, queue_get(ledger_queues(l), p->queue)->props.preemption_delay_ns);
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
