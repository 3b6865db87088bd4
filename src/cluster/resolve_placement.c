/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue that YuniKorn's rules give a pod. The first rule wins whose queue is a leaf, is not drained and lets the
 * user in; of a queue that has to be made, the nearest one above that somebody defines is asked. When no rule is left:
 * a pod that named a queue waits for it, one that did not is with those without a queue. Access lists count as soon as
 * queues.yaml has any: without that nobody could enter a tree that was written without a thought of them.
 *
 * Nothing here depends on what was made for other pods, but for one thing: a path that one pod would have as a leaf and
 * another as a parent is a parent, whoever came first. Who wanted the leaf waits, and is not handed on to the next
 * rule.
 */
#include "cluster/resolve.h"

#include <string.h>

static struct placement_ask asked_by(const struct cluster *c, const struct obj_pod *pod)
{
	const struct obj_namespace *ns = cluster_namespace(c, ns_of(c, pod->labelset));

	return (struct placement_ask){
		.tree = tree_of(c),
		.queue = pod->yunikorn_queue,
		.ns = ns_of(c, pod->labelset),
		.parent_queue = ns != NULL ? ns->parent_queue : NAME_NONE,
		.user_name = obj_user(pod),
		.user = {.name = obj_user(pod) != NAME_NONE ? name_str(c->names, obj_user(pod)) : "nobody",
			 .groups = name_str(c->names, obj_user_groups(pod))},
	};
}

static bool lets_in(const struct cluster *c, queue_id q, const struct placement_user *user)
{
	if (!c->has_acl)
		return true;
	for (; q != QUEUE_NONE; q = queue_get(tree_of(c), q)->parent) {
		const struct queue_spec *s = &queue_get(tree_of(c), q)->spec;
		if (acl_allows(name_str(c->names, s->submit_acl), user) ||
		    acl_allows(name_str(c->names, s->admin_acl), user))
			return true;
	}
	return false;
}

/* Drained queues keep what runs in them. Who is elsewhere already by another rule stays there. */
static bool may_stay(const struct queue_ask *ask, queue_id q)
{
	return ask->has_node && (ask->current == QUEUE_NONE || ask->current == q);
}

static struct queue_answer trouble_with(const struct queue_tree *t, queue_id q, enum queue_trouble trouble)
{
	return (struct queue_answer){.queue = QUEUE_NONE, .wanted = queue_get(t, q)->path, .trouble = trouble};
}

static struct queue_answer judge_defined(const struct cluster *c, const struct queue_ask *ask,
					 const struct placement_user *user, queue_id q)
{
	const struct queue_tree *t = tree_of(c);

	if (queue_is_closing(t, q) && !may_stay(ask, q))
		return trouble_with(t, q, TROUBLE_DRAINING);
	if (!queue_is_leaf(t, q))
		return trouble_with(t, q, TROUBLE_PARENT);
	if (!lets_in(c, q, user))
		return trouble_with(t, q, TROUBLE_DENIED);
	return (struct queue_answer){.queue = q};
}

static queue_id nearest_defined(const struct queue_tree *t, const struct text *path)
{
	queue_id q = QUEUE_NONE;

	for (size_t n = path->n; q == QUEUE_NONE || (q != QUEUE_ROOT && !queue_is_defined(queue_get(t, q)));) {
		n = (size_t)((const char *)memrchr(path->s, '.', n) - path->s);
		q = queue_tree_find(t, path->s, n);
	}
	return q;
}

/* Nobody defines it: it is made below a parent that somebody does. */
static struct queue_answer judge_dynamic(const struct cluster *c, const struct queue_ask *ask,
					 const struct placement_user *user, const struct text *path, queue_id q)
{
	const struct queue_tree *t = tree_of(c);
	queue_id above = nearest_defined(t, path);

	if (queue_is_closing(t, above) && !may_stay(ask, q))
		return trouble_with(t, above, TROUBLE_DRAINING);
	if (!lets_in(c, above, user))
		return trouble_with(t, above, TROUBLE_DENIED);
	if (!queue_is_defined_parent(t, above))
		return trouble_with(t, above, TROUBLE_NAME);
	if (q != QUEUE_NONE && !queue_is_leaf(t, q))
		return trouble_with(t, q, TROUBLE_SPLIT);
	return (struct queue_answer){.queue = QUEUE_NONE, .is_dynamic = true};
}

static bool is_default_path(const struct text *path)
{
	return strcmp(path->s, "root.default") == 0 || strcmp(path->s, "root.default.default") == 0;
}

static struct queue_answer judge(const struct cluster *c, const struct queue_ask *ask,
				 const struct placement_user *user, const struct text *path)
{
	queue_id q = queue_tree_find(tree_of(c), path->s, path->n);

	if (q == QUEUE_ROOT)
		return trouble_with(tree_of(c), q, TROUBLE_PARENT);
	if (q != QUEUE_NONE && queue_is_defined(queue_get(tree_of(c), q)))
		return judge_defined(c, ask, user, q);
	if (is_default_path(path))
		return (struct queue_answer){.queue = QUEUE_NONE, .is_default = true};
	return judge_dynamic(c, ask, user, path, q);
}

/* Trouble after which no other rule is asked. */
static bool is_final(enum queue_trouble trouble)
{
	return trouble == TROUBLE_NONE || trouble == TROUBLE_NAME || trouble == TROUBLE_SPLIT;
}

struct queue_answer resolve_placement(const struct cluster *c, const struct queue_ask *ask, struct text *path)
{
	static const struct placement_rule provided = {.kind = PLACEMENT_PROVIDED};
	struct placement_ask asked = asked_by(c, ask->pod);
	struct queue_answer none = {.queue = QUEUE_NONE, .wanted = asked.queue, .is_default = asked.queue == NAME_NONE};
	uint32_t n;
	const struct placement_rule *rules = placement_rules(c->placement, &n);

	none.trouble = none.is_default ? TROUBLE_NONE : TROUBLE_UNKNOWN;
	for (uint32_t i = 0; i < n || (n == 0 && i == 0); i++) {
		struct queue_answer a = {.queue = QUEUE_NONE, .trouble = TROUBLE_NAME};
		const struct placement_rule *rule = n > 0 ? &rules[i] : &provided;
		enum placement_verdict verdict = placement_run(rule, &asked, path, &a.wanted);
		if (verdict == PLACEMENT_NO)
			continue;
		if (verdict == PLACEMENT_PATH)
			a = judge(c, ask, &asked.user, path);
		if (rule->kind == PLACEMENT_PROVIDED)
			a.wanted = asked.queue;
		if (is_final(a.trouble))
			return a;
		if (!none.is_default)
			none.trouble = a.trouble;
	}
	return none;
}
