/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-check: everything derived, counted again from what the pods, nodes, groups and budgets say themselves, and
 * compared. Slow and plain on purpose: it shares no arithmetic with the moves but row_add.
 */
#include "ledger/ledger_internal.h"

struct recount {
	const struct ledger *l;
	struct err *e;
	struct rows node_used, node_leaving, node_reserved, queue_used, queue_leaving, queue_reserved, queue_core;
	ARRAY(uint32_t) node_pods, node_nominated, queue_pods, queue_waiting, labelset_pods, labelset_on_nodes;
	uint32_t n_with_terms;
	ARRAY(struct podset) podsets;
	ARRAY(pod_id) mixes; /* of groups */
	ARRAY(int32_t) spent;
	wide totals[RES_MAX];
	uint32_t n_pods, n_evicted;
};

static const char *pod_text(const struct recount *c, pod_id id)
{
	return name_str(c->l->names, c->l->pods.v[id].name);
}

static void recount_init(struct recount *c)
{
	const struct ledger *l = c->l;
	struct rows *of_nodes[] = {&c->node_used, &c->node_leaving, &c->node_reserved};
	struct rows *of_queues[] = {&c->queue_used, &c->queue_leaving, &c->queue_reserved, &c->queue_core};
	for (uint32_t i = 0; i < 3; i++)
		rows_grow(l, of_nodes[i], l->node_ids.limit);
	for (uint32_t i = 0; i < 4; i++)
		rows_grow(l, of_queues[i], l->queues.n);
	array_cover(&c->node_pods, l->node_ids.limit);
	array_cover(&c->node_nominated, l->node_ids.limit);
	array_cover(&c->queue_pods, l->queues.n);
	array_cover(&c->queue_waiting, l->queues.n);
	array_cover(&c->labelset_pods, l->labelsets.n);
	array_cover(&c->labelset_on_nodes, l->labelsets.n);
	array_cover(&c->podsets, l->podsets.n);
	array_cover(&c->mixes, l->groups.n);
	array_cover(&c->spent, l->pdb_ids.limit);
}

static void recount_free(struct recount *c)
{
	struct rows *all[] = {&c->node_used,	 &c->node_leaving,   &c->node_reserved, &c->queue_used,
			      &c->queue_leaving, &c->queue_reserved, &c->queue_core};
	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		mem_free(all[i]->v);
	array_free(&c->node_pods);
	array_free(&c->node_nominated);
	array_free(&c->queue_pods);
	array_free(&c->queue_waiting);
	array_free(&c->labelset_pods);
	array_free(&c->labelset_on_nodes);
	array_free(&c->podsets);
	array_free(&c->mixes);
	array_free(&c->spent);
}

static enum err_code count_on_node(struct recount *c, pod_id id, struct res_list usage)
{
	const struct ledger *l = c->l;
	const struct pod *p = &l->pods.v[id];
	if (p->node >= l->node_ids.limit || l->nodes.v[p->node].name == NAME_NONE)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is on node %u, which is not there", pod_text(c, id),
				p->node);
	const pod_list *list = &l->nodes.v[p->node].pods;
	if (p->node_pos >= list->n || list->v[p->node_pos] != id)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is not at its place in its node's list", pod_text(c, id));
	c->node_pods.v[p->node]++;
	c->labelset_on_nodes.v[p->labelset]++;
	c->n_with_terms += shape_has_terms(shape_get(l->vocab, p->shape));
	row_add(row_of(l, &c->node_used, p->node), usage);
	if (p->state == POD_LEAVING)
		row_add(row_of(l, &c->node_leaving, p->node), usage);
	return ERR_OK;
}

static enum err_code count_nominated(struct recount *c, pod_id id, struct res_list request)
{
	const struct ledger *l = c->l;
	const struct pod *p = &l->pods.v[id];
	if (p->node >= l->node_ids.limit || l->nodes.v[p->node].name == NAME_NONE)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is nominated to node %u, which is not there",
				pod_text(c, id), p->node);
	const pod_list *list = &l->nodes.v[p->node].nominated;
	if (p->node_pos >= list->n || list->v[p->node_pos] != id)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is not at its place among the nominated", pod_text(c, id));
	c->node_nominated.v[p->node]++;
	row_add(row_of(l, &c->node_reserved, p->node), request);
	return ERR_OK;
}

static void count_queue(struct recount *c, const struct pod *p, const struct shape *s)
{
	const struct ledger *l = c->l;
	for (queue_id q = p->queue; q != QUEUE_NONE; q = l->tree.q.v[q].parent) {
		if (p->state == POD_PLACED)
			row_add(row_of(l, &c->queue_used, q), s->usage);
		else if (p->state == POD_LEAVING)
			row_add(row_of(l, &c->queue_leaving, q), s->usage);
		else if (p->state == POD_WAITING)
			c->queue_waiting.v[q]++;
		if (p->nomination != NOMINATION_NONE)
			row_add(row_of(l, &c->queue_reserved, q), s->request);
		if (p->preemptibility == NON_PREEMPTIBLE &&
		    (p->state == POD_PLACED || p->nomination != NOMINATION_NONE))
			row_add(row_of(l, &c->queue_core, q), p->state == POD_PLACED ? s->usage : s->request);
	}
}

static enum err_code count_queue_list(struct recount *c, pod_id id)
{
	const struct ledger *l = c->l;
	const struct pod *p = &l->pods.v[id];
	if (p->queue == QUEUE_NONE || p->state == POD_FINISHED)
		return ERR_OK;
	if (p->queue >= l->tree.q.n || !l->tree.q.v[p->queue].is_live)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is in queue %u, which is not there", pod_text(c, id),
				p->queue);
	const pod_list *list = &l->queues.v[p->queue].pods;
	if (p->queue_pos >= list->n || list->v[p->queue_pos] != id)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is not at its place in its queue's list", pod_text(c, id));
	c->queue_pods.v[p->queue]++;
	return ERR_OK;
}

static void count_podset(struct recount *c, pod_id id, const struct pod *p)
{
	if (p->podset == PODSET_NONE)
		return;
	struct podset *s = &c->podsets.v[p->podset];
	s->n_pods++;
	s->n_waiting += p->state == POD_WAITING;
	s->n_placed += p->state == POD_PLACED;
	s->n_leaving += p->state == POD_LEAVING;
	s->n_finished += p->state == POD_FINISHED;
	s->n_nominated += p->nomination != NOMINATION_NONE;
	if (p->state == POD_PLACED || p->state == POD_LEAVING)
		c->mixes.v[p->group] ^= id;
}

static void count_budgets(struct recount *c, const struct pod *p)
{
	for (pdb_id b = 0; b < c->l->pdb_ids.limit; b++) {
		const struct pdb *pdb = &c->l->pdbs.v[b];
		if (pdb->is_live && pdb_matches(c->l, pdb->obj, p->labelset) && !pdb_lists(pdb->obj, p->name))
			c->spent.v[b]++;
	}
}

static enum err_code check_fields(struct recount *c, pod_id id)
{
	const struct ledger *l = c->l;
	const struct pod *p = &l->pods.v[id];
	const struct obj_pod *o = p->obj;
	bool on_node = p->state == POD_PLACED || p->state == POD_LEAVING;
	if (o == NULL || (o->volumes != NULL) != p->has_volumes || o->labelset != p->labelset || o->shape != p->shape ||
	    o->name != p->name)
		return err_fail(c->e, ERR_INTERNAL, "pod %u: is not what its object says", id);
	if (p->nomination != NOMINATION_NONE && p->state != POD_WAITING)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is nominated but does not wait", pod_text(c, id));
	if (!on_node && p->nomination == NOMINATION_NONE && p->node != NODE_NONE)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: has a node but is on none", pod_text(c, id));
	if (p->is_evicted && p->state != POD_LEAVING)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: evicted but not leaving", pod_text(c, id));
	if (p->is_evicted != bits_has(&l->evicted, id))
		return err_fail(c->e, ERR_INTERNAL, "pod %s: the set of the evicted is wrong about it",
				pod_text(c, id));
	const struct shape *s = shape_get(l->vocab, p->shape);
	bool has_say = s->anti_affinity.n > 0 || s->n_spreads > 0 || o->volumes != NULL;
	if ((p->nomination == NOMINATION_RESERVED && has_say) != bits_has(&l->wary, id))
		return err_fail(c->e, ERR_INTERNAL, "pod %s: the set of the wary is wrong about it", pod_text(c, id));
	if (ledger_pod_find(l, labelset_get(l->vocab, p->labelset)->ns, p->name) != id)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: is not found by its name", pod_text(c, id));
	if (p->podset != PODSET_NONE && l->podsets.v[p->podset].group != p->group)
		return err_fail(c->e, ERR_INTERNAL, "pod %s: its podset is of another group", pod_text(c, id));
	return ERR_OK;
}

static enum err_code count_pod(struct recount *c, pod_id id)
{
	const struct pod *p = &c->l->pods.v[id];
	enum err_code code = check_fields(c, id);
	if (code != ERR_OK)
		return code;
	const struct shape *s = shape_get(c->l->vocab, p->shape);
	if (p->state == POD_PLACED || p->state == POD_LEAVING)
		code = count_on_node(c, id, s->usage);
	else if (p->nomination != NOMINATION_NONE)
		code = count_nominated(c, id, s->request);
	if (code == ERR_OK)
		code = count_queue_list(c, id);
	if (code != ERR_OK)
		return code;
	count_queue(c, p, s);
	count_podset(c, id, p);
	if (p->is_evicted) {
		count_budgets(c, p);
		c->n_evicted++;
	}
	c->labelset_pods.v[p->labelset]++;
	totals_add(c->totals, s, 1);
	c->n_pods++;
	return ERR_OK;
}

static enum err_code compare_row(const struct recount *c, const int64_t *kept, const int64_t *counted, const char *kind,
				 const char *name, const char *what)
{
	for (res_id r = 0; r < c->l->stride; r++) {
		if (kept[r] != counted[r])
			return err_fail(c->e, ERR_INTERNAL, "%s %s: %s: type %u: kept %lld, counted %lld", kind, name,
					what, r, (long long)kept[r], (long long)counted[r]);
	}
	return ERR_OK;
}

static enum err_code compare_rows(const struct recount *c, const struct rows *kept, const struct rows *counted,
				  uint32_t i, const char *kind, const char *name, const char *what)
{
	return compare_row(c, row_of(c->l, kept, i), row_of(c->l, counted, i), kind, name, what);
}

static enum err_code check_node_object(const struct recount *c, node_id n, wide *capacity)
{
	const struct ledger *l = c->l;
	const struct ledger_node *node = &l->nodes.v[n];
	int64_t row[RES_MAX] = {0};
	if (node->is_live != (node->obj != NULL) || (node->is_live && node->obj->name != node->name) ||
	    node->is_tainted != (node->is_live && (node->obj->n_taints > 0 || node->obj->is_unschedulable)))
		return err_fail(c->e, ERR_INTERNAL, "node %u: is not what its object says", n);
	if (node->name != NAME_NONE && ledger_node_find(l, node->name) != n)
		return err_fail(c->e, ERR_INTERNAL, "node %s: is not found by its name",
				name_str(l->names, node->name));
	for (res_id r = 0; node->is_live && r < l->types->n; r++) {
		row[r] = node->obj->allocatable.v[r];
		capacity[r] += row[r];
	}
	bool is_empty_ghost = !node->is_live && node->name != NAME_NONE && node->pods.n == 0 && node->nominated.n == 0;
	if (is_empty_ghost && !(l->has_empty_ghosts && bits_has(&l->empty_ghosts, n)))
		return err_fail(c->e, ERR_INTERNAL, "node %s: a ghost without pods that nothing will remove",
				name_str(l->names, node->name));
	return compare_row(c, row_of(l, &l->allocatable, n), row, "node", name_str(l->names, node->name),
			   "allocatable");
}

static enum err_code check_due(const struct recount *c, const struct ledger_node *node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->pods.n; i++) {
		const struct pod *p = &c->l->pods.v[node->pods.v[i]];

		n += p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE;
	}
	if (n != node->n_due)
		return err_fail(c->e, ERR_INTERNAL, "node %s: %u pods should be gone by some time, counted %u",
				name_str(c->l->names, node->name), node->n_due, n);
	return ERR_OK;
}

static enum err_code check_node(const struct recount *c, node_id n, wide *capacity)
{
	const struct ledger *l = c->l;
	const struct ledger_node *node = &l->nodes.v[n];
	const char *name = name_str(l->names, node->name);
	enum err_code code = check_node_object(c, n, capacity);
	if (code != ERR_OK)
		return code;
	if (node->pods.n != c->node_pods.v[n] || node->nominated.n != c->node_nominated.v[n])
		return err_fail(c->e, ERR_INTERNAL,
				"node %s: its lists hold %u pods and %u nominated, counted %u and %u", name,
				node->pods.n, node->nominated.n, c->node_pods.v[n], c->node_nominated.v[n]);
	if ((code = check_due(c, node)) != ERR_OK)
		return code;
	if ((node->generation == 0) != (node->name == NAME_NONE) || node->generation > l->last_generation)
		return err_fail(c->e, ERR_INTERNAL, "node %s: impossible generation", name);
	if ((code = compare_rows(c, &l->node_used, &c->node_used, n, "node", name, "used")) != ERR_OK)
		return code;
	if ((code = compare_rows(c, &l->node_leaving, &c->node_leaving, n, "node", name, "leaving")) != ERR_OK)
		return code;
	return compare_rows(c, &l->node_reserved, &c->node_reserved, n, "node", name, "reserved");
}

static enum err_code check_nodes(const struct recount *c)
{
	const struct ledger *l = c->l;
	wide capacity[RES_MAX] = {0};
	for (node_id n = 0; n < l->node_ids.limit; n++) {
		enum err_code code = check_node(c, n, capacity);
		if (code != ERR_OK)
			return code;
	}
	for (res_id r = 0; r < RES_MAX; r++) {
		int64_t counted = capacity[r] > INT64_MAX ? INT64_MAX : (int64_t)capacity[r];
		if (capacity[r] != l->capacity_wide[r] || counted != l->capacity[r])
			return err_fail(c->e, ERR_INTERNAL, "capacity: type %u: kept %lld, counted %lld", r,
					(long long)l->capacity[r], (long long)counted);
	}
	return ERR_OK;
}

static enum err_code check_queue(const struct recount *c, queue_id q)
{
	const struct ledger *l = c->l;
	const struct queue_use *use = &l->queues.v[q];
	bool is_live = q < l->tree.q.n && l->tree.q.v[q].is_live;
	const char *path = is_live ? name_str(l->names, l->tree.q.v[q].path) : "(free)";
	enum err_code code;
	if (use->parent != (is_live ? l->tree.q.v[q].parent : QUEUE_NONE))
		return err_fail(c->e, ERR_INTERNAL, "queue %s: its parent is not the tree's", path);
	if (use->pods.n != c->queue_pods.v[q])
		return err_fail(c->e, ERR_INTERNAL, "queue %s: its list holds %u pods, counted %u", path, use->pods.n,
				c->queue_pods.v[q]);
	if (use->n_waiting != c->queue_waiting.v[q])
		return err_fail(c->e, ERR_INTERNAL, "queue %s: waiting: kept %u, counted %u", path, use->n_waiting,
				c->queue_waiting.v[q]);
	if ((code = compare_rows(c, &l->queue_used, &c->queue_used, q, "queue", path, "used")) != ERR_OK)
		return code;
	if ((code = compare_rows(c, &l->queue_leaving, &c->queue_leaving, q, "queue", path, "leaving")) != ERR_OK)
		return code;
	if ((code = compare_rows(c, &l->queue_reserved, &c->queue_reserved, q, "queue", path, "reserved")) != ERR_OK)
		return code;
	return compare_rows(c, &l->queue_core, &c->queue_core, q, "queue", path, "held by non-preemptible pods");
}

static enum err_code check_podset(const struct recount *c, group_id id, podset_id s)
{
	const struct podset *kept = &c->l->podsets.v[s], *counted = &c->podsets.v[s];
	const char *name = name_str(c->l->names, c->l->groups.v[id].obj->name);
	if (kept->group != id || kept->min_member < 1 || kept->name == NAME_NONE)
		return err_fail(c->e, ERR_INTERNAL, "group %s: podset %u is not its own", name, s);
	if (kept->n_pods != counted->n_pods || kept->n_waiting != counted->n_waiting ||
	    kept->n_placed != counted->n_placed || kept->n_leaving != counted->n_leaving ||
	    kept->n_finished != counted->n_finished || kept->n_nominated != counted->n_nominated)
		return err_fail(c->e, ERR_INTERNAL, "group %s: podset %s: counts differ", name,
				name_str(c->l->names, kept->name));
	return ERR_OK;
}

/* Podsets that are no group's: free runs, and until commit those of groups that went or were split anew. */
static uint32_t idle_podsets(const struct ledger *l)
{
	uint32_t n = 0;
	for (uint32_t length = 0; length < l->free_runs.n; length++)
		n += length * l->free_runs.v[length].n;
	for (uint32_t i = 0; i < l->journal.n; i++) {
		const struct journal_entry *e = &l->journal.v[i];
		if (e->kind == ENTRY_GROUP_GONE)
			n += l->groups.v[e->id].n_podsets;
		else if (e->kind == ENTRY_GROUP_SWAP && e->flag)
			n += ((const struct group *)e->held)->n_podsets;
	}
	return n;
}

static enum err_code check_on_nodes(const struct recount *c, group_id id)
{
	const struct group *g = &c->l->groups.v[id];
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_podsets; i++)
		n += c->l->podsets.v[g->first_podset + i].n_placed + c->l->podsets.v[g->first_podset + i].n_leaving;
	if (n != g->n_on_nodes || g->mix != c->mixes.v[id])
		return err_fail(c->e, ERR_INTERNAL, "group %s: %u pods on nodes, counted %u, or others",
				name_str(c->l->names, g->obj->name), g->n_on_nodes, n);
	return ERR_OK;
}

static enum err_code check_groups(const struct recount *c)
{
	const struct ledger *l = c->l;
	uint32_t n = 0, n_podsets = idle_podsets(l), n_nominated = 0;
	for (group_id id = 0; id < l->group_ids.limit; id++) {
		const struct group *g = &l->groups.v[id];
		if (!g->is_live)
			continue;
		n++;
		n_podsets += g->n_podsets;
		if (g->obj == NULL || ledger_group_find(l, g->obj->ns, g->obj->name, g->obj->is_k8s) != id ||
		    g->n_podsets == 0)
			return err_fail(c->e, ERR_INTERNAL, "group %u: is not found by its name", id);
		for (uint32_t i = 0; i < g->n_podsets; i++) {
			enum err_code code = check_podset(c, id, g->first_podset + i);
			if (code != ERR_OK)
				return code;
			n_nominated += l->podsets.v[g->first_podset + i].n_nominated;
		}
		if (check_on_nodes(c, id) != ERR_OK)
			return ERR_INTERNAL;
	}
	if (n_podsets != l->podsets.n)
		return err_fail(c->e, ERR_INTERNAL, "podsets: kept %u, counted %u", l->podsets.n, n_podsets);
	if (n_nominated != l->n_nominated_members)
		return err_fail(c->e, ERR_INTERNAL, "members that are nominated: kept %u, counted %u",
				l->n_nominated_members, n_nominated);
	return n == l->group_by_name.n ? ERR_OK : err_fail(c->e, ERR_INTERNAL, "groups: names of some that are gone");
}

static enum err_code check_labelset(const struct recount *c, labelset_id labelset)
{
	const struct ledger *l = c->l;
	const struct labelset_use *k = &l->labelsets.v[labelset];
	uint32_t n = 0;
	if (k->n_pods != c->labelset_pods.v[labelset])
		return err_fail(c->e, ERR_INTERNAL, "label set %u: kept %u pods, counted %u", labelset, k->n_pods,
				c->labelset_pods.v[labelset]);
	if (k->n_on_nodes != c->labelset_on_nodes.v[labelset])
		return err_fail(c->e, ERR_INTERNAL, "label set %u: kept %u pods on nodes, counted %u", labelset,
				k->n_on_nodes, c->labelset_on_nodes.v[labelset]);
	for (pdb_id b = 0; k->n_pods > 0 && b < l->pdb_ids.limit; b++) {
		if (!l->pdbs.v[b].is_live || !pdb_matches(l, l->pdbs.v[b].obj, labelset))
			continue;
		if (n >= k->n_pdbs || k->pdbs[n] != b)
			return err_fail(c->e, ERR_INTERNAL, "label set %u: budget %u is missing from its list",
					labelset, b);
		n++;
	}
	return n == k->n_pdbs ? ERR_OK
			      : err_fail(c->e, ERR_INTERNAL, "label set %u: has budgets that do not match", labelset);
}

static enum err_code check_budgets(const struct recount *c)
{
	const struct ledger *l = c->l;
	for (pdb_id b = 0; b < l->pdb_ids.limit; b++) {
		const struct pdb *pdb = &l->pdbs.v[b];
		if (pdb->spent != c->spent.v[b])
			return err_fail(c->e, ERR_INTERNAL, "budget %u: spent: kept %d, counted %d", b, pdb->spent,
					c->spent.v[b]);
		if (!pdb->is_live)
			continue;
		if (l->pdb_ns.v[b] != pdb->obj->ns || ledger_pdb_find(l, pdb->obj->ns, pdb->obj->name) != b)
			return err_fail(c->e, ERR_INTERNAL, "budget %u: is not found by its name", b);
	}
	for (labelset_id labelset = 0; labelset < l->labelsets.n; labelset++) {
		enum err_code code = check_labelset(c, labelset);
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

static bool is_free(const struct ledger *l, enum entry_kind gone, uint32_t id)
{
	if (gone == ENTRY_POD_GONE)
		return l->pods.v[id].state == POD_FREE;
	if (gone == ENTRY_GROUP_GONE)
		return !l->groups.v[id].is_live;
	if (gone == ENTRY_PDB_GONE)
		return !l->pdbs.v[id].is_live;
	return l->nodes.v[id].name == NAME_NONE;
}

/* Every id that is not in use is on the free list or, until commit, in the journal; and it is there once. */
static enum err_code check_ids(const struct recount *c, const struct ids *ids, enum entry_kind gone, const char *what)
{
	const struct ledger *l = c->l;
	struct bits seen = {0};
	uint32_t n_free = 0, n_known = ids->free.n;
	bool is_right = true;
	for (uint32_t id = 0; id < ids->limit; id++)
		n_free += is_free(l, gone, id);
	for (uint32_t i = 0; i < ids->free.n; i++) {
		uint32_t id = ids->free.v[i];
		is_right = is_right && id < ids->limit && is_free(l, gone, id) && !bits_has(&seen, id);
		bits_set(&seen, id);
	}
	for (uint32_t i = 0; gone != ENTRY_KINDS && i < l->journal.n; i++)
		n_known += l->journal.v[i].kind == gone;
	bits_free(&seen);
	if (is_right && n_free == n_known)
		return ERR_OK;
	return err_fail(c->e, ERR_INTERNAL, "ids of %s: %u are not in use, %u are free", what, n_free, n_known);
}

static enum err_code check_all_ids(const struct recount *c)
{
	const struct ledger *l = c->l;
	enum err_code code;
	if ((code = check_ids(c, &l->pod_ids, ENTRY_POD_GONE, "pods")) != ERR_OK)
		return code;
	if ((code = check_ids(c, &l->group_ids, ENTRY_GROUP_GONE, "groups")) != ERR_OK)
		return code;
	if ((code = check_ids(c, &l->pdb_ids, ENTRY_PDB_GONE, "budgets")) != ERR_OK)
		return code;
	return check_ids(c, &l->node_ids, ENTRY_KINDS, "nodes");
}

/* Under the one it names; under none if it names none, or is not there. */
static bool is_listed_by_app(const struct ledger *l, pod_id id)
{
	const struct pod *p = &l->pods.v[id];
	name_id app = p->state == POD_FREE ? NAME_NONE : p->obj->app;
	uint32_t list = id < l->by_app.links.n ? l->by_app.links.v[id].list : ID_NONE;
	if (app == NAME_NONE || list == ID_NONE)
		return app == NAME_NONE && list == ID_NONE;
	return l->by_app.lists.v[list].key == map_key2(labelset_get(l->vocab, p->labelset)->ns, app);
}

static enum err_code check_sums(const struct recount *c)
{
	const struct ledger *l = c->l;
	if (memcmp(c->totals, l->totals, sizeof(l->totals)) != 0)
		return err_fail(c->e, ERR_INTERNAL, "totals over all pods differ");
	if (c->n_pods != l->pod_by_name.n)
		return err_fail(c->e, ERR_INTERNAL, "%u pods have names, counted %u", l->pod_by_name.n, c->n_pods);
	for (pod_id i = 0; i < l->pod_ids.limit; i++)
		if (!is_listed_by_app(l, i))
			return err_fail(c->e, ERR_INTERNAL, "pod %u is not listed under its application", i);
	if (c->n_with_terms != l->n_with_terms)
		return err_fail(c->e, ERR_INTERNAL, "%u pods on nodes have terms, counted %u", l->n_with_terms,
				c->n_with_terms);
	if (l->n_wary != bits_count(&l->wary))
		return err_fail(c->e, ERR_INTERNAL, "%u pods are wary, counted %u", bits_count(&l->wary), l->n_wary);
	if (c->n_evicted != bits_count(&l->evicted))
		return err_fail(c->e, ERR_INTERNAL, "%u pods are evicted, counted %u", bits_count(&l->evicted),
				c->n_evicted);
	uint32_t n_held = 0;
	for (uint32_t i = 0; i < l->journal.n; i++)
		n_held += entry_ops[l->journal.v[i].kind].settle != NULL;
	return n_held == l->n_held ? ERR_OK
				   : err_fail(c->e, ERR_INTERNAL, "journal: kept %u, counted %u", l->n_held, n_held);
}

static enum err_code recount_all(struct recount *c)
{
	const struct ledger *l = c->l;
	enum err_code code;
	for (pod_id id = 0; id < l->pod_ids.limit; id++) {
		if (l->pods.v[id].state != POD_FREE && (code = count_pod(c, id)) != ERR_OK)
			return code;
	}
	if ((code = check_nodes(c)) != ERR_OK)
		return code;
	for (queue_id q = 0; q < l->queues.n; q++) {
		if ((code = check_queue(c, q)) != ERR_OK)
			return code;
	}
	if ((code = check_groups(c)) != ERR_OK || (code = check_budgets(c)) != ERR_OK)
		return code;
	if ((code = assumptions_check(l, c->e)) != ERR_OK || (code = check_all_ids(c)) != ERR_OK)
		return code;
	return check_sums(c);
}

enum err_code ledger_check(const struct ledger *l, struct err *e)
{
	struct recount c = {.l = l, .e = e};
	recount_init(&c);
	enum err_code code = recount_all(&c);
	recount_free(&c);
	for (uint32_t i = 0; code == ERR_OK && i < l->listeners.n; i++) {
		if (l->listeners.v[i].check != NULL)
			code = l->listeners.v[i].check(l->listeners.v[i].ctx, l, e);
	}
	return code;
}

void ledger_check_always(struct ledger *l, bool on)
{
	l->checks_always = on;
}

void ledger_fail_check(const struct ledger *l)
{
	struct err e;
	if (ledger_check(l, &e) != ERR_OK)
		__assert_fail(e.msg, __FILE__, __LINE__, __func__);
}
