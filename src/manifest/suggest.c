/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "manifest/fields.h"

enum { NAMESAKES_MAX = 3 };

struct words {
	struct arena *arena;
	ARRAY(const char *) v;
};

static int by_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted: arrival order must not be visible in a message. */
static void words_sort(struct words *w)
{
	if (w->v.n > 1)
		qsort(w->v.v, w->v.n, sizeof(*w->v.v), by_words);
}

static void words_free(struct words *w)
{
	array_free(&w->v);
	arena_free(w->arena);
}

static bool words_nearest(struct words *w, const char *word, struct text *out)
{
	const char *found;

	words_sort(w);
	array_push(&w->v, NULL);
	found = nearest_word(word, w->v.v);
	if (found)
		text_printf(out, "; did you mean %s?", found);
	words_free(w);
	return found != NULL;
}

/* "; there is a, b, c and 4 more"; false: there is none. */
static bool words_list(struct words *w, struct text *out)
{
	bool has_found = w->v.n > 0;

	words_sort(w);
	for (uint32_t i = 0; i < w->v.n && i < NAMESAKES_MAX; i++)
		text_printf(out, "%s%s", i > 0 ? ", " : "; there is ", w->v.v[i]);
	if (w->v.n > NAMESAKES_MAX)
		text_printf(out, " and %u more", w->v.n - NAMESAKES_MAX);
	words_free(w);
	return has_found;
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
	return words_list(&w, out);
}

/* What a name without its namespace may have meant, wherever that is. */
static void add_nearest_name(const struct cluster *c, const char *name, struct text *out)
{
	struct words all = all_pods(c, NAME_NONE), names = {0};
	const char *found;

	for (uint32_t i = 0; i < all.v.n; i++)
		array_push(&names.v, strchr(all.v.v[i], '/') + 1);
	words_sort(&names);
	array_push(&names.v, NULL);
	found = nearest_word(name, names.v.v);
	words_sort(&all);
	for (uint32_t i = 0; found && i < all.v.n; i++)
		if (str_eq(strchr(all.v.v[i], '/') + 1, found)) {
			text_printf(out, "; did you mean %s?", all.v.v[i]);
			break;
		}
	array_free(&names.v);
	words_free(&all);
}

void suggest_pod(const struct cluster *c, const char *ns, const char *name, struct text *out)
{
	struct text path = {0};
	struct words w;

	if (add_namesakes(c, name, out))
		return;
	w = all_pods(c, NAME_NONE);
	text_printf(&path, "%s/%s", ns, name);
	if (!words_nearest(&w, text_str(&path), out))
		add_nearest_name(c, name, out);
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

void suggest_queue_named(const struct cluster *c, const char *name, struct text *out)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(c));
	struct words w = {0};

	for (queue_id q = 0; q < t->q.n; q++) {
		const char *path = name_str(t->names, queue_get(t, q)->path), *dot = strrchr(path, '.');

		if (queue_get(t, q)->is_live && dot && str_eq(dot + 1, name))
			array_push(&w.v, path);
	}
	words_list(&w, out);
}

bool suggest_namespace(const struct cluster *c, const char *name, struct text *out)
{
	const struct names *names = vocab_names(ledger_vocab(cluster_ledger(c)));
	name_id id = names_find(names, name, strlen(name));
	struct words all = all_pods(c, NAME_NONE), w = {0};
	bool is_there = id != NAME_NONE && cluster_namespace(c, id);

	for (uint32_t i = 0; i < all.v.n && !is_there; i++) {
		const char *slash = strchr(all.v.v[i], '/'),
			   *ns = arena_strndup(all.arena, all.v.v[i], (size_t)(slash - all.v.v[i]));

		is_there = str_eq(ns, name);
		array_push(&w.v, ns);
	}
	if (is_there)
		array_free(&w.v);
	else
		words_nearest(&w, name, out);
	words_free(&all);
	return !is_there;
}
