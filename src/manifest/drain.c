/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that are thought to be drained. Their pods are changed before they are read: without a node and a status, as a
 * controller would make them again, but as old as they are.
 */
#include "manifest/collect.h"

void manifest_drain(struct manifest *m, const char *node)
{
	struct drained d = {.node = arena_strndup(m->strings, node, strlen(node))};

	array_push(&m->drained, d);
}

static struct drained *find(const struct manifest *m, const char *node)
{
	for (uint32_t i = 0; i < m->drained.n; i++)
		if (str_eq(m->drained.v[i].node, node))
			return &m->drained.v[i];
	return NULL;
}

bool manifest_has_drained(const struct manifest *m, const char *node)
{
	const struct drained *d = find(m, node);

	return d && d->is_found;
}

void drain_node(struct manifest *m, struct obj_node *o)
{
	struct drained *d = find(m, name_str(vocab_names(m->vocab), o->name));

	if (!d)
		return;
	d->is_found = true;
	o->is_unschedulable = true;
}

/* What kubectl drain leaves: pods that the node's own kubelet or a DaemonSet keeps there. */
static bool belongs_to_node(const struct tree *pod)
{
	const struct tree *owners = tree_path(pod, "metadata.ownerReferences");

	for (uint32_t i = 0; tree_is(owners, TREE_LIST) && i < owners->n; i++) {
		const struct tree *controller = tree_get(owners->items[i], "controller");
		const char *kind = map_text(owners->items[i], "kind");

		if (tree_is(controller, TREE_BOOL) && controller->truth && kind &&
		    (str_eq(kind, "DaemonSet") || str_eq(kind, "Node")))
			return true;
	}
	return false;
}

static bool has_ended(const struct tree *pod)
{
	const char *phase = map_text(tree_get(pod, "status"), "phase");

	return tree_path(pod, "metadata.deletionTimestamp") ||
	       (phase && (str_eq(phase, "Succeeded") || str_eq(phase, "Failed")));
}

/* A copy of a map without one of its fields. */
static const struct tree *without(struct arena *a, const struct tree *t, const char *key)
{
	struct tree *copy = arena_type(a, struct tree);
	struct tree_field *fields = arena_n(a, t->n + 1, struct tree_field);

	*copy = *t;
	copy->n = 0;
	for (uint32_t i = 0; i < t->n; i++)
		if (!str_eq(t->fields[i].key, key))
			fields[copy->n++] = t->fields[i];
	copy->fields = fields;
	return copy;
}

const struct tree *drain_pod(const struct manifest *m, const struct tree *pod)
{
	const struct tree *spec = tree_get(pod, "spec"), *all;
	const char *node = map_text(spec, "nodeName");
	struct tree_field *fields;

	if (!m->drained.n || !node || !find(m, node) || belongs_to_node(pod) || has_ended(pod))
		return pod;
	all = without(m->document, pod, "status");
	fields = (struct tree_field *)all->fields;
	for (uint32_t i = 0; i < all->n; i++)
		if (str_eq(fields[i].key, "spec"))
			fields[i].value = without(m->document, spec, "nodeName");
	return all;
}
