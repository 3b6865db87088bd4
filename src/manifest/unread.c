/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people write and cede does not act on, said once for all objects that have it: silence would look as if it were
 * planned for.
 */
#include "manifest/collect.h"

#include <string.h>

static const struct {
	const char *annotation, *words;
} unread[UNREAD_COUNT] = {
	{"gpu-fraction", "cede has no parts of GPUs; the pod counts as if it requested none"},
	{"gpu-memory", "cede has no parts of GPUs; the pod counts as if it requested none"},
};

static void count(struct manifest *m, struct unread *u, const char *kind, const struct tree *t)
{
	const struct tree *ns = tree_path(t, "metadata.namespace"), *name = tree_path(t, "metadata.name");

	if (u->n++ > 0)
		return;
	u->first = (struct place){m->file, t->line, t->col};
	u->who = arena_printf(m->strings, "%s %s/%s", kind, tree_is(ns, TREE_STRING) && ns->n ? ns->text : "default",
			      tree_is(name, TREE_STRING) ? name->text : "");
}

void unread_pod(struct manifest *m, const struct obj_pod *pod, const struct tree *t)
{
	const struct tree *annotations = tree_path(t, "metadata.annotations");

	m->n_owned_pods += pod->owner_kind != OWNER_NONE;
	for (int i = 0; i < UNREAD_COUNT; i++)
		if (map_text(annotations, unread[i].annotation))
			count(m, &m->unread[i], "Pod", t);
}

void unread_controller(struct manifest *m, const char *kind, const struct tree *t)
{
	if (tree_path(t, "spec.template"))
		count(m, &m->controllers, kind, t);
}

static void note(struct manifest *m, const struct unread *u, const char *annotation, const char *words)
{
	struct text t = {0};

	text_printf(&t, "%s:%u:%u: %s: %s%s%s", u->first.file, u->first.line, u->first.col, u->who, annotation,
		    *annotation ? ": " : "", words);
	if (u->n > 1)
		text_printf(&t, "; so %u more", u->n - 1);
	array_push(&m->note_lines, arena_strndup(m->strings, text_str(&t), t.n));
	text_free(&t);
}

/* Where any pod has an owner the input is of a cluster, in which controllers have made their pods or will. */
void unread_notes(struct manifest *m)
{
	for (int i = 0; i < UNREAD_COUNT; i++)
		if (m->unread[i].n > 0)
			note(m, &m->unread[i], unread[i].annotation, unread[i].words);
	if (m->controllers.n > 0 && m->n_owned_pods == 0)
		note(m, &m->controllers, "", "cede plans pods, not what makes them; no pod here belongs to it");
	memset(m->unread, 0, sizeof(m->unread));
	m->controllers = (struct unread){0};
}
