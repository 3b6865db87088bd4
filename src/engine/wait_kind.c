/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/wait_kind.h"

#include "rules/judge.h"

/* Somebody keeps others away from himself, or constraints that pods do not write refuse them. */
bool wait_kind_labels_matter(const struct vocab *v, const struct engine_config *config)
{
	for (uint32_t i = 0; i < config->n_kube_profiles; i++)
		if (config->kube_profiles[i].args.spread_defaults_are_listed &&
		    config->kube_profiles[i].args.n_default_spreads)
			return true;
	return shape_staying_away_count(v) > 0;
}

/* Limits go by users and applications, volumes by claims of one's own. */
static bool is_single(const struct ledger *l, const struct pod *p)
{
	const struct queue_tree *t = ledger_queues(l);

	for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.n_limits || queue_get(t, q)->spec.max_apps)
			return true;
	return p->state != POD_WAITING || p->nomination != NOMINATION_NONE || p->has_volumes ||
	       p->obj->node_name != NAME_NONE || shape_get(ledger_vocab(l), p->shape)->has_claims;
}

/* Beside itself and its gang. */
static bool has_others(const struct ledger *l, name_id ns, pod_id pod)
{
	name_id app = ledger_pod(l, pod)->obj->app;
	group_id group = ledger_pod(l, pod)->group;

	for (pod_id i = app == NAME_NONE ? POD_NONE : ledger_app_first(l, ns, app); i != POD_NONE;
	     i = ledger_app_next(l, i))
		if (i != pod && (group == GROUP_NONE || ledger_pod(l, i)->group != group) &&
		    ledger_pod(l, i)->state != POD_FINISHED)
			return true;
	return false;
}

bool wait_kind_of(const struct cluster *c, bool labels_matter, pod_id pod, struct waiting_kind *ret)
{
	const struct pod *p = ledger_pod(cluster_ledger(c), pod);

	return p->group == GROUP_NONE && !obj_gang(p->obj) && wait_kind_of_member(c, labels_matter, pod, ret);
}

bool wait_kind_of_member(const struct cluster *c, bool labels_matter, pod_id pod, struct waiting_kind *ret)
{
	const struct ledger *l = cluster_ledger(c);
	const struct pod *p = ledger_pod(l, pod);
	const struct shape *s = shape_get(ledger_vocab(l), p->shape);
	name_id ns = labelset_get(ledger_vocab(l), p->labelset)->ns;

	if (is_single(l, p))
		return false;
	*ret = (struct waiting_kind){.queue = p->queue,
				     .shape = p->shape,
				     .priority = p->priority,
				     .preemptibility = p->preemptibility,
				     .is_daemon = p->obj->owner_kind == OWNER_DAEMONSET,
				     .never_preempts = pod_never_preempts(c, l, p),
				     .labelset = LABELSET_NONE,
				     .app = NAME_NONE};
	if (labels_matter || s->affinity.n || s->anti_affinity.n || s->n_spreads) {
		ret->labelset = p->labelset;
		ret->owner_kind = p->obj->owner_kind;
		ret->owner = p->obj->owner_name;
	}
	if (has_others(l, ns, pod)) {
		ret->ns = ns;
		ret->app = p->obj->app;
	}
	return true;
}

bool wait_kind_is_young(const struct ledger *l, const struct pod *p, int64_t now_ns)
{
	return p->queue != QUEUE_NONE && p->created_ns != TIME_NONE &&
	       now_ns < time_add(p->created_ns, queue_get(ledger_queues(l), p->queue)->props.preemption_delay_ns);
}
