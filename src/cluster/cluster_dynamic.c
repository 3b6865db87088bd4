/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues that placement rules have made for pods. They are there as long as somebody is in them, and everything about
 * them follows from the objects: what a leaf has is what the nearest template above says now, and the annotations of
 * its pods' namespaces (of several namespaces with annotations, the one with the first name). YuniKorn leaves a queue
 * as it was when it was made; here a scheduler that was started anew has the same queues as one that ran all the time.
 *
 * A leaf in whose place a parent is needed gives way: its pods lose it, and everything is resolved again.
 */
#include "cluster/resolve.h"

#include <string.h>

static bool is_dynamic(const struct queue *q)
{
	return q->spec.sources == FROM_TEMPLATE;
}

/* ---- what they are told ---- */

static void spec_below(const struct cluster *c, queue_id parent, bool is_leaf, struct queue_spec *ret)
{
	const struct queue_tree *t = tree_of(c);
	queue_id q = parent;

	while (q != QUEUE_ROOT && !queue_get(t, q)->spec.child_template)
		q = queue_get(t, q)->parent;
	queue_spec_dynamic(ret, &queue_get(t, q)->spec, is_leaf, c->names);
}

static bool says_quota(const struct obj_namespace *ns)
{
	return ns->has_quota || ns->has_guaranteed || ns->max_apps != 0;
}

/* Of the namespaces of its pods that say something of quotas the first by name. NULL: none does. */
static const struct obj_namespace *speaking_namespace(const struct cluster *c, queue_id q)
{
	const struct obj_namespace *best = NULL;
	name_id seen = NAME_NONE;
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(c->ledger, q, &n);

	for (uint32_t i = 0; i < n; i++) {
		name_id ns = ns_of(c, ledger_pod(c->ledger, pods[i])->labelset);
		if (ns == seen || (best != NULL && name_cmp(c->names, ns, best->name) >= 0))
			continue;
		seen = ns;
		const struct obj_namespace *o = cluster_namespace(c, ns);
		if (o != NULL && says_quota(o))
			best = o;
	}
	return best;
}

static void take_amounts(struct res_vec *to, const struct res_vec *from)
{
	struct res_vec v = *from;

	queue_res_settle(&v);
	if (v.mask != 0)
		*to = v;
}

static void take_quota(struct queue_spec *s, const struct obj_namespace *ns)
{
	if (ns->has_quota)
		take_amounts(&s->max, &ns->quota);
	if (ns->has_guaranteed)
		take_amounts(&s->guaranteed, &ns->guaranteed);
	if (ns->max_apps != 0)
		s->max_apps = ns->max_apps;
}

static void spec_now(const struct cluster *c, queue_id id, struct queue_spec *ret)
{
	const struct queue *q = queue_get(tree_of(c), id);

	spec_below(c, q->parent, !q->spec.is_parent, ret);
	const struct obj_namespace *ns = q->spec.is_parent ? NULL : speaking_namespace(c, id);
	if (ns != NULL)
		take_quota(ret, ns);
}

/* ---- they are made ---- */

static queue_id add(struct cluster *c, queue_id parent, const char *segment, size_t len, bool is_leaf)
{
	struct queue_spec spec;
	queue_id q;

	spec_below(c, parent, is_leaf, &spec);
	enum err_code code = ledger_queue_add(c->ledger, parent, segment, len, &spec, &q, NULL);
	assert(code == ERR_OK); /* it was not there, and paths of rules are not too deep */
	return q;
}

/* A leaf of which nobody defines anything becomes a parent. */
static void give_way(struct cluster *c, queue_id q)
{
	struct queue_spec spec;

	cluster_detach_queue(c, q);
	spec_below(c, queue_get(tree_of(c), q)->parent, false, &spec);
	ledger_queue_set(c->ledger, q, &spec);
	c->is_unsettled = true;
}

static queue_id make(struct cluster *c, const char *path)
{
	const struct queue_tree *t = tree_of(c);
	queue_id q = QUEUE_ROOT;

	for (size_t start = strlen("root."), len; path[start - 1] != '\0'; start += len + 1) {
		len = strcspn(path + start, ".");
		bool is_leaf = path[start + len] == '\0';
		queue_id next = queue_tree_find(t, path, start + len);
		if (next == QUEUE_NONE)
			next = add(c, q, path + start, len, is_leaf);
		else if (!is_leaf && !queue_is_defined(queue_get(t, next)) && !queue_get(t, next)->spec.is_parent)
			give_way(c, next);
		q = next;
	}
	return q;
}

queue_id cluster_queue_for(struct cluster *c, const struct queue_ask *ask)
{
	struct text path = {0};
	struct queue_answer a = resolve_queue(c, ask, &path);
	queue_id q = a.queue;

	if (a.is_default)
		q = ask->pod != NULL ? cluster_default_leaf(c) : QUEUE_NONE;
	else if (a.is_dynamic)
		q = make(c, path.s);
	c->is_blocked |= a.trouble == TROUBLE_SPLIT || (a.is_default && q == QUEUE_NONE);
	text_free(&path);
	return q;
}

/* ---- pods come and go ---- */

static bool has_another_of(const struct cluster *c, queue_id q, name_id ns, pod_id but)
{
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(c->ledger, q, &n);

	for (uint32_t i = 0; i < n; i++)
		if (pods[i] != but && ns_of(c, ledger_pod(c->ledger, pods[i])->labelset) == ns)
			return true;
	return false;
}

static void note_quota(struct cluster *c, queue_id q, name_id ns, pod_id pod)
{
	const struct obj_namespace *o = cluster_namespace(c, ns);

	if (o != NULL && says_quota(o) && !has_another_of(c, q, ns, pod))
		bits_set(&c->stale_leaves, q);
}

static bool is_dynamic_id(const struct cluster *c, queue_id q)
{
	const struct queue_tree *t = tree_of(c);

	return q < t->q.n && queue_get(t, q)->is_live && is_dynamic(queue_get(t, q));
}

void cluster_left_queue(struct cluster *c, queue_id q)
{
	if (is_dynamic_id(c, q))
		array_push(&c->vacated, q);
}

void cluster_changed_queue(struct cluster *c, pod_id pod, name_id ns, queue_id from, queue_id to)
{
	if (from == to)
		return;
	if (is_dynamic_id(c, from)) {
		cluster_left_queue(c, from);
		note_quota(c, from, ns, pod);
	}
	if (is_dynamic_id(c, to))
		note_quota(c, to, ns, pod);
}

void cluster_namespace_speaks(struct cluster *c, queue_id q)
{
	if (is_dynamic_id(c, q))
		bits_set(&c->stale_leaves, q);
}

/* ---- they go ---- */

bool cluster_queue_has_groups(const struct cluster *c, queue_id q)
{
	for (group_id g = 0; g < ledger_group_limit(c->ledger); g++)
		if (ledger_group(c->ledger, g)->is_live && ledger_group(c->ledger, g)->queue == q)
			return true;
	return false;
}

static bool is_idle(const struct cluster *c, queue_id q)
{
	uint32_t n_pods;

	if (!is_dynamic_id(c, q) || queue_get(tree_of(c), q)->children.n > 0)
		return false;
	ledger_queue_pods(c->ledger, q, &n_pods);
	return n_pods == 0 && !cluster_queue_has_groups(c, q);
}

static bool is_left_with_default(const struct cluster *c, queue_id id)
{
	const struct queue_tree *t = tree_of(c);
	const struct queue *q = queue_get(t, id);

	return q->children.n == 1 && queue_get(t, q->children.v[0])->spec.sources == FROM_NOBODY;
}

/*
 * With the parents that were made for it. A parent that still has the queue of pods without one stays until
 * cluster_drop_idle_queues looks at all.
 */
static bool drop_upward(struct cluster *c, queue_id q)
{
	bool dropped = false;

	while (is_idle(c, q)) {
		queue_id parent = queue_get(tree_of(c), q)->parent;
		ledger_queue_drop(c->ledger, q);
		q = parent;
		dropped = true;
	}
	if (dropped && is_left_with_default(c, q))
		c->is_draining = true;
	/* One that was a parent in its definition when they were made, and is none any more. */
	if (dropped && queue_is_leaf(tree_of(c), q))
		c->is_blocked = true;
	return dropped;
}

bool cluster_drop_vacated_queues(struct cluster *c)
{
	bool dropped = false;

	while (c->vacated.n > 0)
		dropped |= drop_upward(c, array_pop(&c->vacated));
	return dropped;
}

/* ---- they follow what they are made from ---- */

static bool same_amounts(const struct queue_spec *a, const struct queue_spec *b)
{
	return res_vec_equal(&a->guaranteed, &b->guaranteed) && res_vec_equal(&a->max, &b->max) &&
	       a->max_apps == b->max_apps;
}

static void refresh(struct cluster *c, queue_id q, bool is_template_new)
{
	struct queue_spec spec;

	if (!is_dynamic_id(c, q))
		return;
	spec_now(c, q, &spec);
	if (is_template_new || !same_amounts(&spec, &queue_get(tree_of(c), q)->spec))
		ledger_queue_set(c->ledger, q, &spec);
	queue_spec_free(&spec);
}

static void refresh_below(struct cluster *c, queue_id q)
{
	refresh(c, q, true);
	for (uint32_t i = 0; i < queue_get(tree_of(c), q)->children.n; i++)
		refresh_below(c, queue_get(tree_of(c), q)->children.v[i]);
}

void cluster_refresh_dynamic(struct cluster *c)
{
	if (c->is_reshaped)
		refresh_below(c, QUEUE_ROOT);
	for (uint32_t q = bits_next(&c->stale_leaves, 0); q != UINT32_MAX; q = bits_next(&c->stale_leaves, q + 1))
		refresh(c, q, false);
	bits_reset(&c->stale_leaves);
}
