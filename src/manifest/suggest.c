/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/suggest.h"

#include "manifest/fields.h"

enum { NAMESAKES_MAX = 3 };

struct words {
	struct arena *arena;
	ARRAY(const char *) v;
};

static void words_nearest(struct words *w, const char *word, struct text *out)
{
	const char *found;

	array_push(&w->v, NULL);
	found = nearest_word(word, w->v.v);
	if (found)
		text_printf(out, "; did you mean %s?", found);
	array_free(&w->v);
	arena_free(w->arena);
}

static const char *path_of(struct words *w, const struct names *names, name_id ns, name_id name)
{
	return arena_printf(w->arena, "%s/%s", name_str(names, ns), name_str(names, name));
}

/* All pods and groups as "ns/name"; with only, those of this name alone. */
static struct words all_pods(const struct cluster *c, name_id only)
{
	const struct ledger *l = cluster_ledger(c);
	struct vocab *v = ledger_vocab(l);
	const struct names *names = vocab_names(v);
	struct words w = {.arena = arena_new(1 << 16)};

	for (pod_id p = 0; p < ledger_pod_limit(l); p++) {
		const struct pod *x = ledger_pod(l, p);

		if (x->state != POD_FREE && (only == NAME_NONE || x->name == only))
			array_push(&w.v, path_of(&w, names, labelset_get(v, x->labelset)->ns, x->name));
	}
	for (group_id g = 0; g < ledger_group_limit(l); g++) {
		const struct group *x = ledger_group(l, g);

		if (x->is_live && (only == NAME_NONE || x->obj->name == only))
			array_push(&w.v, path_of(&w, names, x->obj->ns, x->obj->name));
	}
	return w;
}

static bool add_namesakes(const struct cluster *c, const char *name, struct text *out)
{
	const struct names *names = vocab_names(ledger_vocab(cluster_ledger(c)));
	name_id id = names_find(names, name, strlen(name));
	struct words w = {0};

	if (id != NAME_NONE)
		w = all_pods(c, id);
	for (uint32_t i = 0; i < w.v.n && i < NAMESAKES_MAX; i++)
		text_printf(out, "%s%s", i > 0 ? ", " : "; there is ", w.v.v[i]);
	bool has_found = w.v.n > 0;

	array_free(&w.v);
	arena_free(w.arena);
	return has_found;
}

void suggest_pod(const struct cluster *c, const char *ns, const char *name, struct text *out)
{
	struct text path = {0};
	struct words w;

	if (add_namesakes(c, name, out))
		return;
	w = all_pods(c, NAME_NONE);
	text_printf(&path, "%s/%s", ns, name);
	words_nearest(&w, text_str(&path), out);
	text_free(&path);
}

void suggest_node(const struct cluster *c, const char *name, struct text *out)
{
	const struct ledger *l = cluster_ledger(c);
	struct words w = {0};

	for (node_id n = 0; n < ledger_node_limit(l); n++)
		if (ledger_node(l, n)->is_live)
			array_push(&w.v, name_str(vocab_names(ledger_vocab(l)), ledger_node(l, n)->name));
	words_nearest(&w, name, out);
}

void suggest_queue(const struct cluster *c, const char *path, struct text *out)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(c));
	struct words w = {0};

	for (queue_id q = 0; q < t->q.n; q++)
		if (queue_get(t, q)->is_live)
			array_push(&w.v, name_str(t->names, queue_get(t, q)->path));
	words_nearest(&w, path, out);
}
