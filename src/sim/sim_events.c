/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to the cluster itself: nodes fail, return, are cordoned; settings and objects change. */
#include <string.h>

#include "manifest/manifest.h"
#include "sim/sim_change.h"
#include "sim/sim_internal.h"

/* ---- room ---- */

void sim_sum_room(struct sim *s)
{
	int64_t dt = time_since(s->now_ns, s->room_since_ns);

	for (res_id r = 0; dt > 0 && r < RES_MAX; r++)
		if (s->room[r])
			s->outcome.capacity[r] += (__int128)s->room[r] * dt;
	s->room_since_ns = s->now_ns;
}

void sim_see_pod(struct sim *s, const struct pod *p)
{
	s->has_queueless |= p->queue == QUEUE_NONE;
	if (p->priority < s->lowest_priority)
		s->lowest_priority = p->priority;
}

void sim_see_room(struct sim *s)
{
	const int64_t *capacity = ledger_capacity(s->ledger);

	sim_sum_room(s);
	s->has_budgets = false;
	for (pdb_id i = 0; i < ledger_pdb_limit(s->ledger); i++)
		s->has_budgets |= ledger_pdb(s->ledger, i)->is_live;
	for (res_id r = 0; r < ledger_stride(s->ledger) && r < RES_MAX; r++)
		s->room[r] = capacity[r];
	for (pod_id i = 0; i < ledger_pod_limit(s->ledger); i++)
		if (ledger_pod(s->ledger, i)->state != POD_FREE)
			sim_see_pod(s, ledger_pod(s->ledger, i));
	s->is_dirty = true;
}

/* ---- nodes ---- */

static node_id find_node(struct sim *s, const char *name)
{
	name_id id = names_find(s->names, name, strlen(name));
	node_id n = id == NAME_NONE ? NODE_NONE : ledger_node_find(s->ledger, id);

	return n != NODE_NONE && ledger_node(s->ledger, n)->is_live ? n : NODE_NONE;
}

static enum err_code no_such_node(const struct sim_event *ev, struct err *e)
{
	return err_fail(e, ERR_INPUT, "%s%sthere is no node %s at that time", ev->where ? ev->where : "",
			ev->where ? ": " : "", ev->name);
}

void sim_restart_gang(struct sim *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);
	ARRAY(pod_id) rest = {0};
	bool is_short = false;

	if (!g->is_live)
		return;
	for (podset_id i = g->first_podset; i < g->first_podset + g->n_podsets; i++) {
		const struct podset *p = ledger_podset(s->ledger, i);

		is_short |= p->n_placed + p->n_finished < (uint32_t)p->min_member && p->n_placed > 0;
	}
	for (pod_id i = cluster_group_first(s->cluster, group); is_short && i != POD_NONE;
	     i = cluster_group_next(s->cluster, i)) {
		uint32_t slot = sim_incarnation(s, i)->slot;

		if (ledger_pod(s->ledger, i)->state == POD_PLACED && ledger_pod(s->ledger, i)->group == group &&
		    slot != SLOT_NONE && s->works.v[s->pods.v[slot].job].controller == SIM_OPERATOR)
			array_push(&rest, i);
	}
	for (uint32_t i = 0; i < rest.n; i++)
		sim_lose_pod(s, rest.v[i]);
	array_free(&rest);
}

static void lose_pods(struct sim *s, node_id n)
{
	ARRAY(pod_id) lost = {0};
	ARRAY(group_id) groups = {0};

	for (uint32_t i = 0; i < ledger_node(s->ledger, n)->pods.n; i++)
		array_push(&lost, ledger_node(s->ledger, n)->pods.v[i]);
	for (uint32_t i = 0; i < lost.n; i++) {
		group_id g = ledger_pod(s->ledger, lost.v[i])->group;

		if (g != GROUP_NONE)
			array_push(&groups, g);
		sim_lose_pod(s, lost.v[i]);
	}
	for (uint32_t i = 0; i < groups.n; i++)
		sim_restart_gang(s, groups.v[i]);
	array_free(&lost);
	array_free(&groups);
}

static enum err_code node_fails(struct sim *s, const struct sim_event *ev, struct err *e)
{
	node_id n = find_node(s, ev->name);
	struct lost_node lost;

	if (n == NODE_NONE)
		return no_such_node(ev, e);
	lost = (struct lost_node){mem_strdup(ev->name), obj_node_copy(s->vocab, ledger_node(s->ledger, n)->obj)};
	array_push(&s->lost_nodes, lost);
	cluster_drop_node(s->cluster, ev->name); /* first, so that nobody is put there again */
	n = ledger_node_find(s->ledger, lost.obj.name);
	if (n != NODE_NONE)
		lose_pods(s, n);
	return ERR_OK;
}

static enum err_code node_returns(struct sim *s, const struct sim_event *ev, struct err *e)
{
	for (uint32_t i = 0; i < s->lost_nodes.n; i++) {
		struct lost_node lost = s->lost_nodes.v[i];
		enum err_code rc;

		if (!str_eq(lost.name, ev->name))
			continue;
		rc = cluster_put_node(s->cluster, &lost.obj, e);
		if (rc)
			obj_node_drop(s->vocab, &lost.obj);
		mem_free(lost.name);
		array_remove(&s->lost_nodes, i);
		return rc;
	}
	return err_fail(e, ERR_INPUT, "%s%snode %s returns, but it never failed", ev->where ? ev->where : "",
			ev->where ? ": " : "", ev->name);
}

static enum err_code cordon(struct sim *s, const struct sim_event *ev, bool is_cordoned, struct err *e)
{
	node_id n = find_node(s, ev->name);
	struct obj_node o;
	enum err_code rc;

	if (n == NODE_NONE)
		return no_such_node(ev, e);
	o = obj_node_copy(s->vocab, ledger_node(s->ledger, n)->obj);
	o.is_unschedulable = is_cordoned;
	rc = cluster_put_node(s->cluster, &o, e);
	if (rc)
		obj_node_drop(s->vocab, &o);
	return rc;
}

static enum err_code node_event(struct sim *s, const struct sim_event *ev, struct err *e)
{
	switch (ev->kind) {
	case SIM_NODE_FAILS:
		return node_fails(s, ev, e);
	case SIM_NODE_RETURNS:
		return node_returns(s, ev, e);
	default:
		return cordon(s, ev, ev->kind == SIM_NODE_CORDONED, e);
	}
}

static enum err_code remove_budget(struct sim *s, const struct sim_event *ev, struct err *e)
{
	const char *slash = strchr(ev->name, '/');
	char *ns;

	if (!slash)
		return err_fail(e, ERR_INPUT, "expected NAMESPACE/NAME of a budget, found '%s'", ev->name);
	ns = mem_strdup(ev->name);
	ns[slash - ev->name] = '\0';
	cluster_drop_pdb(s->cluster, ns, slash + 1);
	mem_free(ns);
	return ERR_OK;
}

enum err_code sim_happen(struct sim *s, const struct sim_event *ev, struct err *e)
{
	enum err_code rc;

	s->was_changed |= ev->kind == SIM_CHANGE || ev->kind == SIM_BUDGET_REMOVED;
	if (ev->kind == SIM_JOB_DELETED)
		rc = sim_delete_work(s, ev, e);
	else if (ev->kind == SIM_BUDGET_REMOVED)
		rc = remove_budget(s, ev, e);
	else if (ev->kind == SIM_CHANGE)
		rc = sim_change(s, ev, e);
	else
		rc = node_event(s, ev, e);
	sim_wake_all(s);
	sim_see_room(s);
	if (ledger_tree_generation(s->ledger) != s->tree_generation)
		accounts_refresh(s);
	return rc;
}

void sim_free_nodes(struct sim *s)
{
	for (uint32_t i = 0; i < s->lost_nodes.n; i++) {
		mem_free(s->lost_nodes.v[i].name);
		obj_node_drop(s->vocab, &s->lost_nodes.v[i].obj);
	}
	array_free(&s->lost_nodes);
}
