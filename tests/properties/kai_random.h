/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kai_random.h - random clusters of KAI's objects: departments with windows, gangs, elastic, semi-preemptible groups,
 * full and half-full nodes. Documents are kept one by one, so that they can be read in another order. For tests only.
 */
#pragma once

#include "properties/kai_story.h"
#include "rng.h"

enum { KR_NODES = 4, KR_QUEUES = 8, KR_GROUPS = 12, KR_DOCS = 200, KR_UNSET = -1 };

struct kr_queue {
	char name[16];
	int parent; /* -1: top */
	bool is_leaf;
	int64_t preempt, reclaim; /* seconds; KR_UNSET */
};

struct kr_group {
	char name[16];
	int queue, n_parts, min[2];
	int priority;
	int64_t ago; /* seconds since its start; KR_UNSET */
	enum preemptibility preemptibility;
	int n_pods[2];
};

struct kr {
	struct rng r;
	struct kr_queue q[KR_QUEUES];
	struct kr_group g[KR_GROUPS];
	int n_nodes, n_queues, n_groups;
	int gpus[KR_NODES], left[KR_NODES];
	bool by_leaf, covers_consolidation;
	bool is_sparse;		  /* small pods leave gaps that big ones wait for */
	int64_t preempt, reclaim; /* where no queue says anything */
	struct text docs[KR_DOCS];
	uint32_t n_docs;
};

static inline int kr_below(struct kr *w, int n)
{
	return (int)rng_below(&w->r, (uint32_t)n);
}

/* What one wrote into a story is one document of the world. */
static inline void kr_take(struct kr *w, struct story *one)
{
	if (w->n_docs == KR_DOCS)
		abort();
	w->docs[w->n_docs++] = one->objects;
	one->objects = (struct text){0};
}

/* Ages are whole minutes too, so that some are exactly over. */
static inline int64_t kr_window(struct kr *w)
{
	static const int64_t windows[] = {KR_UNSET, KR_UNSET, KR_UNSET, KR_UNSET, 0, 120, 300, 600};

	return windows[kr_below(w, 8)];
}

static inline void kr_window_text(struct text *out, const char *key, int64_t seconds)
{
	if (seconds != KR_UNSET)
		text_printf(out, "  %s: %" PRId64 "s\n", key, seconds);
}

static inline void kr_add_queue(struct kr *w, int parent, bool is_leaf)
{
	struct kr_queue *q = &w->q[w->n_queues];
	struct story one = {0};

	*q = (struct kr_queue){.parent = parent, .is_leaf = is_leaf, .preempt = kr_window(w), .reclaim = kr_window(w)};
	snprintf(q->name, sizeof(q->name), "q%d", w->n_queues++);
	text_printf(&one.objects,
		    "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %s}\nspec:\n"
		    "  priority: %d\n  resources:\n    gpu: {quota: %d, limit: %d, overQuotaWeight: %d}\n"
		    "    cpu: {quota: -1, limit: -1, overQuotaWeight: 1}\n"
		    "    memory: {quota: -1, limit: -1, overQuotaWeight: 1}\n",
		    q->name, kr_below(w, 8) ? 100 : 200, kr_below(w, 6) ? kr_below(w, 7) : -1,
		    kr_below(w, 8) ? -1 : 4 + kr_below(w, 6), kr_below(w, 4));
	if (parent >= 0)
		text_printf(&one.objects, "  parentQueue: %s\n", w->q[parent].name);
	kr_window_text(&one.objects, "preemptMinRuntime", q->preempt);
	kr_window_text(&one.objects, "reclaimMinRuntime", q->reclaim);
	kr_take(w, &one);
}

static inline void kr_add_queues(struct kr *w)
{
	int tops = 1 + kr_below(w, 2);

	for (int i = 0; i < tops; i++)
		kr_add_queue(w, -1, false);
	for (int i = 0; i < tops; i++)
		for (int k = 2 + kr_below(w, 2); k > 0 && w->n_queues < KR_QUEUES; k--)
			kr_add_queue(w, i, true);
}

static inline void kr_add_nodes(struct kr *w)
{
	w->n_nodes = 1 + kr_below(w, KR_NODES);
	for (int i = 0; i < w->n_nodes; i++) {
		struct story one = {0};
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		w->gpus[i] = w->left[i] = 2 + kr_below(w, 5);
		kai_node(&one, name, w->gpus[i]);
		kr_take(w, &one);
	}
}

static inline void kr_add_pod(struct kr *w, const struct kr_group *g, int part, int number, int gpus, bool runs)
{
	int node = kr_below(w, w->n_nodes);
	struct story one = {0};
	char name[48], at[16], words[64];

	for (int i = 0; runs && i < w->n_nodes && w->left[node] < gpus; i++)
		node = (node + 1) % w->n_nodes;
	runs = runs && w->left[node] >= gpus;
	if (runs)
		w->left[node] -= gpus;
	snprintf(at, sizeof(at), "n%d", node);
	snprintf(name, sizeof(name), "%s-%d-%d", g->name, part, number);
	snprintf(words, sizeof(words), "age %d created %d%s%s", 60 * kr_below(w, 12), 60 * kr_below(w, 30),
		 g->n_parts > 1 ? part ? " podset work" : " podset head" : "",
		 runs && !kr_below(w, 15) ? " leaving" : "");
	kai_pod(&one, name, g->name, gpus, runs ? at : NULL, words);
	kr_take(w, &one);
}

static inline void kr_add_group(struct kr *w)
{
	static const int priorities[] = {25, 50, 50, 50, 75, 100};
	static const char *const words[] = {"", ", preemptibility: preemptible", ", preemptibility: non-preemptible",
					    ", preemptibility: semi-preemptible"};
	static const enum preemptibility values[] = {PREEMPTIBILITY_UNSET, PREEMPTIBLE, NON_PREEMPTIBLE,
						     SEMI_PREEMPTIBLE};
	struct kr_group *g = &w->g[w->n_groups];
	int what = kr_below(w, 6), gpus = kr_below(w, 4) ? 1 : 1 + kr_below(w, 3), runs = kr_below(w, 3);
	struct story one = {0};
	char spec[256];

	*g = (struct kr_group){.n_parts = kr_below(w, 4) ? 1 : 2, .priority = priorities[kr_below(w, 6)]};
	what = what > 3 ? 1 : what;
	if (w->is_sparse) {
		gpus = runs < 2 ? 1 : 2 + kr_below(w, 2);
		runs = runs < 2 ? 0 : 2;
	}
	do
		g->queue = kr_below(w, w->n_queues);
	while (!w->q[g->queue].is_leaf);
	for (int i = 0; i < g->n_parts; i++) {
		g->n_pods[i] = 1 + kr_below(w, w->is_sparse ? 2 : 4);
		g->min[i] = 1 + kr_below(w, g->n_pods[i]);
	}
	g->preemptibility = values[what] != PREEMPTIBILITY_UNSET ? values[what]
			    : g->priority < 100			 ? PREEMPTIBLE
								 : NON_PREEMPTIBLE;
	g->ago = kr_below(w, 6) ? 60 * kr_below(w, 12) : KR_UNSET;
	snprintf(g->name, sizeof(g->name), "g%d", w->n_groups++);
	snprintf(spec, sizeof(spec), "priorityClassName: p%d%s", g->priority, words[what]);
	if (g->n_parts > 1)
		snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec),
			 ", subGroups: [{name: head, minMember: %d}, {name: work, minMember: %d}]", g->min[0],
			 g->min[1]);
	kai_group(&one, g->name, w->q[g->queue].name, g->min[0], g->ago == KR_UNSET ? TIME_NONE : g->ago * NS_PER_S,
		  spec);
	kr_take(w, &one);
	for (int i = 0; i < g->n_parts; i++)
		for (int k = 0; k < g->n_pods[i]; k++)
			kr_add_pod(w, g, i, k, gpus, runs == 0 || (runs == 1 && kr_below(w, 5)));
}

static inline void kr_add_settings(struct kr *w)
{
	static const int priorities[] = {25, 50, 75, 100};
	struct story one = {0};

	for (int i = 0; i < 4; i++) {
		text_printf(&one.objects,
			    "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p%d}\nvalue: "
			    "%d\n",
			    priorities[i], priorities[i]);
		kr_take(w, &one);
	}
	w->by_leaf = !kr_below(w, 3);
	w->covers_consolidation = kr_below(w, 4) != 0;
	w->preempt = kr_below(w, 3) ? 0 : 240;
	w->reclaim = kr_below(w, 3) ? 0 : 240;
	text_printf(
		&one.objects,
		"---\nactions: \"allocate, consolidation, reclaim, preempt, stalegangeviction\"\ntiers:\n- plugins:\n"
		"  - {name: predicates}\n  - name: minruntime\n    arguments: {defaultPreemptMinRuntime: %" PRId64
		"s, defaultReclaimMinRuntime: %" PRId64 "s, reclaimResolveMethod: %s}\n",
		w->preempt, w->reclaim, w->by_leaf ? "queue" : "lca");
	kr_take(w, &one);
	text_printf(
		&one.objects,
		"---\napiVersion: cede.dev/v1\nkind: CedeConfiguration\nrules: {min-runtime: {consolidation: %s}}\n",
		w->covers_consolidation ? "true" : "false");
	kr_take(w, &one);
}

static inline void kr_make(struct kr *w, uint64_t seed)
{
	int n;

	*w = (struct kr){.r = {seed * UINT64_C(0x9e3779b97f4a7c15)}};
	w->is_sparse = !kr_below(w, 3);
	kr_add_settings(w);
	kr_add_queues(w);
	kr_add_nodes(w);
	n = 3 + kr_below(w, w->is_sparse ? 5 : KR_GROUPS - 2);
	while (w->n_groups < n)
		kr_add_group(w);
}

static inline void kr_free(struct kr *w)
{
	for (uint32_t i = 0; i < w->n_docs; i++)
		text_free(&w->docs[i]);
}

/* A story of it, documents as they were made or (seed) in another order. */
static inline void kr_story(const struct kr *w, uint64_t seed, struct story *s)
{
	uint32_t order[KR_DOCS];
	struct rng r = {seed};

	story_begin(s);
	s->profile = PROFILE_KAI;
	for (uint32_t i = 0; i < w->n_docs; i++)
		order[i] = i;
	for (uint32_t i = w->n_docs; seed && i > 1; i--) {
		uint32_t k = rng_below(&r, i), t = order[i - 1];

		order[i - 1] = order[k];
		order[k] = t;
	}
	for (uint32_t i = 0; i < w->n_docs; i++)
		text_add(&s->objects, text_str(&w->docs[order[i]]));
}
