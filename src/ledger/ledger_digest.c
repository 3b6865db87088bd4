/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fingerprint of all state, and the bytes it takes. What memory looks like (strides, capacities, addresses) leaves no
 * trace in the fingerprint; amounts of zero do not either, so that a type nobody has counts like one nobody knows.
 */
#include "ledger/ledger_internal.h"

static uint64_t mix_row(uint64_t h, const int64_t *row, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++) {
		if (row[r] != 0)
			h = hash_mix(hash_mix(h, r), (uint64_t)row[r]);
	}
	return hash_mix(h, RES_MAX);
}

static uint64_t mix_ids(uint64_t h, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		h = hash_mix(h, v[i]);
	return hash_mix(h, n);
}

static uint64_t mix_free(uint64_t h, const struct ids *ids)
{
	return hash_mix(mix_ids(h, ids->free.v, ids->free.n), ids->limit);
}

static uint64_t mix_pod_object(uint64_t h, const struct obj_pod *o)
{
	const uint32_t words[] = {o->name,
				  o->labelset,
				  o->shape,
				  o->node_name,
				  o->nominated_node,
				  o->has_priority,
				  (uint32_t)o->priority,
				  o->priority_class,
				  o->phase,
				  o->is_preempted,
				  o->owner_kind,
				  o->owner_name,
				  o->owner_uid,
				  o->group,
				  o->group_is_k8s,
				  obj_subgroup(o),
				  o->kai_queue,
				  o->yunikorn_queue,
				  o->app,
				  obj_user(o),
				  obj_user_groups(o),
				  o->allows_preemption,
				  o->preemptibility};
	const int64_t times[] = {o->created_ns, o->started_ns, o->scheduled_ns, o->deleted_ns, o->checkpointed_ns};
	h = mix_ids(h, words, sizeof(words) / sizeof(*words));
	h = hash_mix(hash_mix(h, o->uid.high), o->uid.low);
	return mix_row(h, times, sizeof(times) / sizeof(*times));
}

static uint64_t mix_pods(const struct ledger *l, uint64_t h)
{
	for (pod_id id = 0; id < l->pod_ids.limit; id++) {
		const struct pod *p = &l->pods.v[id];
		h = hash_mix(h, p->state);
		if (p->state == POD_FREE)
			continue;
		const uint32_t words[] = {p->nomination, p->preemptibility, p->is_evicted, (uint32_t)p->priority,
					  p->node,	 p->queue,	    p->group,	   p->podset,
					  p->shape,	 p->labelset,	    p->name,	   p->node_pos,
					  p->queue_pos,	 p->placed_in};
		h = mix_ids(h, words, sizeof(words) / sizeof(*words));
		h = hash_mix(hash_mix(h, (uint64_t)p->started_ns), (uint64_t)p->created_ns);
		h = mix_pod_object(h, p->obj);
	}
	for (pod_id id = bits_next(&l->evicted, 0); id != UINT32_MAX; id = bits_next(&l->evicted, id + 1))
		h = hash_mix(h, id);
	for (pod_id id = ledger_next_wary(l, 0); id != POD_NONE; id = ledger_next_wary(l, id + 1))
		h = hash_mix(h, id);
	for (res_id r = 0; r < RES_MAX; r++)
		h = hash_mix(h, (uint64_t)l->totals[r]);
	return mix_free(h, &l->pod_ids);
}

static uint64_t mix_node_object(uint64_t h, const struct obj_node *o)
{
	h = hash_mix(hash_mix(hash_mix(h, o->uid), o->labelset), o->allocatable.mask);
	h = hash_mix(hash_mix(h, o->is_unschedulable), o->is_not_ready);
	for (uint32_t i = 0; i < o->n_taints; i++)
		h = hash_mix(hash_mix(hash_mix(h, o->taints[i].key), o->taints[i].value), o->taints[i].effect);
	for (uint32_t i = 0; i < o->n_images; i++)
		h = hash_mix(hash_mix(h, o->images[i].name), (uint64_t)o->images[i].bytes);
	return h;
}

static uint64_t mix_nodes(const struct ledger *l, uint64_t h)
{
	for (node_id n = 0; n < l->node_ids.limit; n++) {
		const struct ledger_node *node = &l->nodes.v[n];
		h = hash_mix(hash_mix(hash_mix(h, node->is_live), node->name), node->generation);
		if (node->obj != NULL)
			h = mix_node_object(h, node->obj);
		h = mix_ids(h, node->pods.v, node->pods.n);
		h = mix_ids(h, node->nominated.v, node->nominated.n);
		h = mix_row(h, row_of(l, &l->allocatable, n), l->stride);
		h = mix_row(h, row_of(l, &l->node_used, n), l->stride);
		h = mix_row(h, row_of(l, &l->node_leaving, n), l->stride);
		h = mix_row(h, row_of(l, &l->node_reserved, n), l->stride);
	}
	h = mix_row(h, l->capacity, RES_MAX);
	return mix_free(h, &l->node_ids);
}

static uint64_t mix_queue_props(uint64_t h, const struct queue_props *p)
{
	const uint32_t words[] = {p->stated,
				  p->sort,
				  p->sort_ignores_priority,
				  p->is_priority_fence,
				  (uint32_t)p->priority_offset,
				  p->preemption_policy,
				  p->protected_hours.days,
				  (uint32_t)p->protected_hours.from_min,
				  (uint32_t)p->protected_hours.to_min,
				  (uint32_t)p->protected_hours.offset_min};
	h = mix_ids(h, words, sizeof(words) / sizeof(*words));
	h = hash_mix(hash_mix(h, (uint64_t)p->preemption_delay_ns), (uint64_t)p->quota_delay_ns);
	return hash_mix(hash_mix(h, p->backoff), (uint64_t)p->backoff_delay_ns);
}

static uint64_t mix_queue(const struct ledger *l, uint64_t h, queue_id q)
{
	const struct queue *t = &l->tree.q.v[q];
	h = hash_mix(h, t->is_live);
	if (!t->is_live)
		return h;
	const uint32_t words[] = {t->parent,	      t->depth,
				  t->segment,	      t->is_draining,
				  t->spec.sources,    t->spec.is_parent,
				  t->spec.n_limits,   t->spec.kai_name,
				  t->spec.submit_acl, (uint32_t)t->spec.kai_priority};
	/* Paths are made anew when a queue moves: the same words, but perhaps another id. */
	h = hash_mix(h, hash_bytes(name_str(l->names, t->path), name_len(l->names, t->path)));
	h = mix_ids(h, words, sizeof(words) / sizeof(*words));
	h = mix_ids(h, t->children.v, t->children.n);
	h = mix_row(hash_mix(h, t->spec.guaranteed.mask), t->spec.guaranteed.v, RES_MAX);
	h = mix_row(hash_mix(h, t->spec.max.mask), t->spec.max.v, RES_MAX);
	h = hash_mix(hash_mix(h, (uint64_t)t->spec.preempt_min_runtime_ns), (uint64_t)t->spec.reclaim_min_runtime_ns);
	h = hash_mix(hash_mix(h, t->spec.max_apps), t->spec.child_template != NULL);
	h = mix_queue_props(mix_queue_props(h, &t->spec.props), &t->props);
	h = hash_mix(h, l->queues.v[q].n_waiting);
	h = mix_ids(h, l->queues.v[q].pods.v, l->queues.v[q].pods.n);
	h = mix_row(h, row_of(l, &l->queue_used, q), l->stride);
	h = mix_row(h, row_of(l, &l->queue_leaving, q), l->stride);
	h = mix_row(h, row_of(l, &l->queue_reserved, q), l->stride);
	return mix_row(h, row_of(l, &l->queue_core, q), l->stride);
}

static uint64_t mix_podset(uint64_t h, const struct podset *s)
{
	const uint32_t words[] = {s->name,     s->group,     (uint32_t)s->min_member, s->n_pods,     s->n_waiting,
				  s->n_placed, s->n_leaving, s->n_finished,	      s->n_nominated};
	return mix_ids(h, words, sizeof(words) / sizeof(*words));
}

static uint64_t mix_groups(const struct ledger *l, uint64_t h)
{
	for (group_id id = 0; id < l->group_ids.limit; id++) {
		const struct group *g = &l->groups.v[id];
		h = hash_mix(h, g->is_live);
		if (!g->is_live)
			continue;
		const uint32_t words[] = {g->queue,	     (uint32_t)g->priority,
					  g->preemptibility, g->first_podset,
					  g->n_podsets,	     g->obj->ns,
					  g->obj->name,	     g->obj->uid,
					  g->obj->is_k8s,    g->obj->has_no_minimum,
					  g->obj->queue,     g->obj->goes_whole};
		h = mix_ids(h, words, sizeof(words) / sizeof(*words));
		h = hash_mix(hash_mix(h, (uint64_t)g->started_ns), (uint64_t)g->obj->stale_ns);
		for (uint32_t i = 0; i < g->n_podsets; i++)
			h = mix_podset(h, &l->podsets.v[g->first_podset + i]);
	}
	for (uint32_t n = 0; n < l->free_runs.n; n++) {
		if (l->free_runs.v[n].n > 0)
			h = mix_ids(hash_mix(h, n), l->free_runs.v[n].v, l->free_runs.v[n].n);
	}
	return mix_free(hash_mix(h, l->podsets.n), &l->group_ids);
}

static uint64_t mix_budgets(const struct ledger *l, uint64_t h)
{
	for (pdb_id id = 0; id < l->pdb_ids.limit; id++) {
		const struct pdb *b = &l->pdbs.v[id];
		h = hash_mix(hash_mix(h, b->is_live), (uint64_t)b->spent);
		if (!b->is_live)
			continue;
		h = hash_mix(hash_mix(hash_mix(h, b->obj->ns), b->obj->name), (uint64_t)b->obj->allowed);
		h = mix_ids(hash_mix(h, b->obj->selector.n), b->obj->disrupted, b->obj->n_disrupted);
	}
	for (labelset_id labelset = 0; labelset < l->labelsets.n; labelset++) {
		if (l->labelsets.v[labelset].n_pods > 0)
			h = mix_ids(hash_mix(hash_mix(h, labelset), l->labelsets.v[labelset].n_pods),
				    l->labelsets.v[labelset].pdbs, l->labelsets.v[labelset].n_pdbs);
	}
	return mix_free(h, &l->pdb_ids);
}

uint64_t ledger_digest(const struct ledger *l)
{
	uint64_t h = mix_pods(l, 1);
	h = mix_nodes(l, h);
	for (queue_id q = 0; q < l->tree.q.n; q++)
		h = mix_queue(l, h, q);
	h = mix_ids(h, l->tree.free_ids.v, l->tree.free_ids.n);
	h = mix_groups(l, h);
	h = mix_budgets(l, h);
	return mix_free(assumptions_mix(l, h), &l->assumption_ids);
}

static size_t index_bytes(const struct id_index *x)
{
	return id_table_bytes(&x->by_key) + x->lists.cap * sizeof(*x->lists.v) + x->links.cap * sizeof(*x->links.v) +
	       x->free_lists.cap * sizeof(*x->free_lists.v);
}

static size_t pod_lists_bytes(const struct ledger *l)
{
	size_t bytes = 0;
	for (node_id n = 0; n < l->nodes.n; n++)
		bytes += (l->nodes.v[n].pods.cap + l->nodes.v[n].nominated.cap) * sizeof(pod_id);
	for (queue_id q = 0; q < l->queues.n; q++)
		bytes += l->queues.v[q].pods.cap * sizeof(pod_id);
	for (labelset_id labelset = 0; labelset < l->labelsets.n; labelset++)
		bytes += l->labelsets.v[labelset].n_pdbs * sizeof(pdb_id);
	return bytes;
}

struct ledger_memory ledger_memory(const struct ledger *l)
{
	struct ledger_memory m = {
		.engine = l->pods.cap * sizeof(*l->pods.v) + l->pod_ids.free.cap * sizeof(*l->pod_ids.free.v) +
			  id_table_bytes(&l->pod_by_name) + l->evicted.n_words * sizeof(*l->evicted.w) +
			  l->labelsets.cap * sizeof(*l->labelsets.v) + l->journal.cap * sizeof(*l->journal.v) +
			  pod_lists_bytes(l) + index_bytes(&l->by_app),
		.objects = blocks_bytes(&l->pod_objects),
		.shapes = vocab_bytes(l->vocab),
		.names = names_bytes(l->names),
	};
	return m;
}
