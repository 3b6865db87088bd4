/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laws_world.h - random trees of queues with guarantees, maximums, fences and minimum runtimes, groups, and full nodes,
 * as stories (story.h). For tests only.
 */
#pragma once

#include "properties/story.h"
#include "rng.h"

enum { QUEUES = 24, NODES = 4, PODS = 400, GROUPS = 4, GANGS = 3, UNSET_S = -1 };

struct q { /* a queue, as the test knows it */
	char path[64];
	int64_t guaranteed, max; /* 0: none */
	bool is_fence, is_leaf;
	int parent;		  /* -1: root */
	int64_t preempt, reclaim; /* seconds, UNSET_S */
};

struct g { /* a group of two parts, head and work */
	int queue;
	int64_t min[2], ago; /* seconds since its stamp, UNSET_S */
	enum preemptibility preemptibility;
};

struct world {
	struct rng r;
	struct story s;
	struct q q[QUEUES];
	int n;
	struct g g[GROUPS + GANGS]; /* those that run, and those that wait */
	int64_t preempt, reclaim;   /* seconds, where no queue says anything */
	bool by_leaf;		    /* reclaimResolveMethod: queue */
	uint32_t n_pods;
	uint64_t evictions, decisions;
};

/* ---- making one ---- */

/* Mostly none; ages are often whole minutes, so that some are exactly over. */
static inline int64_t some_window(struct world *w)
{
	static const int64_t windows[] = {UNSET_S, UNSET_S, UNSET_S, 0, 120, 300, 600};

	return windows[rng_below(&w->r, sizeof(windows) / sizeof(*windows))];
}

static inline void add_queue(struct world *w, int parent, int depth)
{
	struct q *q = &w->q[w->n];
	int self = w->n, kids;

	if (w->n == QUEUES)
		return;
	snprintf(q->path, sizeof(q->path), "%s.q%d", parent < 0 ? "root" : w->q[parent].path, w->n);
	q->parent = parent;
	q->guaranteed = rng_below(&w->r, 3) ? (int64_t)rng_below(&w->r, 9) : 0;
	q->max = rng_below(&w->r, 5) ? 0 : 6 + (int64_t)rng_below(&w->r, 12);
	q->is_fence = !rng_below(&w->r, 6);
	q->preempt = some_window(w);
	q->reclaim = some_window(w);
	w->n++;
	kids = depth < 3 && rng_below(&w->r, 2) ? 1 + (int)rng_below(&w->r, 3) : 0;
	for (int i = 0; i < kids; i++)
		add_queue(w, self, depth + 1);
	q->is_leaf = w->n == self + 1;
}

static inline int64_t subtree_guarantee(const struct world *w, int i)
{
	int64_t sum = 0;

	if (w->q[i].guaranteed)
		return w->q[i].guaranteed;
	for (int k = i + 1; k < w->n; k++)
		if (w->q[k].parent == i)
			sum += subtree_guarantee(w, k);
	return sum;
}

/* The reader refuses guarantees above maximums and sums above the parent's: bring them in line, from the leaves up. */
static inline void make_valid(struct world *w)
{
	for (int i = w->n - 1; i >= 0; i--) {
		struct q *q = &w->q[i];
		int64_t sum = 0;

		for (int k = i + 1; k < w->n; k++)
			if (w->q[k].parent == i)
				sum += subtree_guarantee(w, k);
		for (int k = i + 1; k < w->n; k++)
			if (w->q[k].parent == i && q->max && w->q[k].max > q->max)
				w->q[k].max = q->max;
		if (q->guaranteed && q->guaranteed < sum)
			q->guaranteed = sum;
		if (!q->guaranteed && sum && !rng_below(&w->r, 2))
			q->guaranteed = sum;
		if (q->max && q->max < (q->guaranteed > sum ? q->guaranteed : sum))
			q->max = 0;
	}
	for (int i = 0; i < w->n; i++)
		for (int up = w->q[i].parent; up >= 0; up = w->q[up].parent)
			if (w->q[up].max && (!w->q[i].max || w->q[i].max > w->q[up].max) && w->q[i].max)
				w->q[i].max = w->q[up].max;
}

static inline void drop_bad_maximums(struct world *w)
{
	for (int i = 0; i < w->n; i++)
		for (int k = i; k >= 0; k = w->q[k].parent)
			if (w->q[k].max && (w->q[k].max < subtree_guarantee(w, k) || w->q[k].max < w->q[i].guaranteed))
				w->q[k].max = 0;
}

static inline void write_queues(struct world *w)
{
	for (int i = 0; i < w->n; i++) {
		struct text t = {0};

		text_add(&t, "delay 1ms");
		if (w->q[i].guaranteed)
			text_printf(&t, " guaranteed %" PRId64, w->q[i].guaranteed);
		if (w->q[i].max)
			text_printf(&t, " max %" PRId64, w->q[i].max);
		text_add(&t, w->q[i].is_fence ? " fence" : "");
		story_queue(&w->s, w->q[i].path, text_str(&t));
		text_free(&t);
	}
}

/* Windows are on the same queues as KAI has them. */
static inline void write_windows(struct world *w)
{
	struct text *o = &w->s.objects;

	for (int i = 0; i < w->n; i++) {
		text_printf(o,
			    "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q%d}\nspec:\n"
			    "  resources: {gpu: {limit: -1}, cpu: {limit: -1}, memory: {limit: -1}}\n",
			    i);
		if (w->q[i].parent >= 0)
			text_printf(o, "  parentQueue: q%d\n", w->q[i].parent);
		if (w->q[i].preempt != UNSET_S)
			text_printf(o, "  preemptMinRuntime: %" PRId64 "s\n", w->q[i].preempt);
		if (w->q[i].reclaim != UNSET_S)
			text_printf(o, "  reclaimMinRuntime: %" PRId64 "s\n", w->q[i].reclaim);
	}
}

static inline int some_leaf(struct world *w)
{
	for (;;) {
		int i = (int)rng_below(&w->r, (uint32_t)w->n);

		if (w->q[i].is_leaf)
			return i;
	}
}

static inline void add_groups(struct world *w)
{
	struct text *o = &w->s.objects;

	for (int i = 0; i < 3; i++)
		text_printf(o,
			    "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p%d}\n"
			    "value: %d\n",
			    i, i);
	for (int i = 0; i < GROUPS; i++) {
		struct g *g = &w->g[i];
		struct text when = {0};

		*g = (struct g){.queue = some_leaf(w),
				.min = {1 + rng_below(&w->r, 2), 1 + rng_below(&w->r, 3)},
				.ago = rng_below(&w->r, 2) ? UNSET_S : 60 * (1 + (int64_t)rng_below(&w->r, 12)),
				.preemptibility = (enum preemptibility)rng_below(&w->r, 4)};
		timestamp_text(STORY_NOW_NS - g->ago * NS_PER_S, &when);
		text_printf(
			o,
			"---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
			"metadata: {name: g%d, namespace: d, annotations: {%s%s}}\n"
			"spec: {queue: q%d, priorityClassName: p%u, preemptibility: \"%s\", subGroups: [{name: head, "
			"minMember: %" PRId64 "}, {name: work, minMember: %" PRId64 "}]}\n",
			i, g->ago == UNSET_S ? "x: " : "kai.scheduler/last-start-timestamp: ", text_str(&when),
			g->queue, rng_below(&w->r, 3), preemptibility_text(g->preemptibility), g->min[0], g->min[1]);
		text_free(&when);
	}
}

static inline void some_words(struct world *w, char *out, size_t size)
{
	uint32_t age = rng_below(&w->r, 2) ? 60 * (1 + rng_below(&w->r, 12)) : 60 + rng_below(&w->r, 1000);

	snprintf(out, size, "priority %u age %u%s%s", rng_below(&w->r, 3), age, rng_below(&w->r, 8) ? "" : " opted-out",
		 rng_below(&w->r, 4) ? "" : " app z");
}

/* A pod that runs: on its own, or in a group and its queue; most of a group are on the node where it is at home. */
static inline void add_running(struct world *w, int64_t units, int n)
{
	int leaf = some_leaf(w), group = rng_below(&w->r, 3) ? n % GROUPS : (int)rng_below(&w->r, 2 * GROUPS);
	char name[16], node[8], words[64], more[96];

	snprintf(name, sizeof(name), "r%u", w->n_pods++);
	snprintf(node, sizeof(node), "n%d", n);
	some_words(w, words, sizeof(words));
	snprintf(more, sizeof(more), "%s group g%d podset %s", words, group, rng_below(&w->r, 4) ? "work" : "head");
	if (group < GROUPS && n < NODES - 1)
		story_pod(&w->s, name, w->q[w->g[group].queue].path, units, node, more);
	else
		story_pod(&w->s, name, w->q[leaf].path, units, node, words);
}

static inline void add_pods(struct world *w)
{
	char name[16], node[8], words[64];

	for (int n = 0; n < NODES; n++) {
		int64_t room = 6 + (int64_t)rng_below(&w->r, 6);

		snprintf(node, sizeof(node), "n%d", n);
		story_node(&w->s, node, room);
		while (room > 0) {
			int64_t units = 1 + (int64_t)rng_below(&w->r, 3);

			if (units > room)
				break;
			add_running(w, units, n);
			room -= units;
		}
	}
	for (uint32_t i = 3 + rng_below(&w->r, 5); i--;) {
		snprintf(name, sizeof(name), "w%u", w->n_pods++);
		some_words(w, words, sizeof(words));
		story_pod(&w->s, name, w->q[some_leaf(w)].path, 1 + (int64_t)rng_below(&w->r, 7), NULL, words);
	}
}

/* Groups that wait: complete or not, with surplus or without; each pod younger than the one before. */
static inline void add_gangs(struct world *w)
{
	for (int i = GROUPS; i < GROUPS + GANGS; i++) {
		struct g *g = &w->g[i];
		uint32_t n;

		*g = (struct g){.queue = some_leaf(w),
				.min = {1 + rng_below(&w->r, 2), 1 + rng_below(&w->r, 3)},
				.ago = UNSET_S};
		n = (uint32_t)(g->min[0] + g->min[1]) + rng_below(&w->r, 3) - !rng_below(&w->r, 6);
		text_printf(
			&w->s.objects,
			"---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
			"metadata: {name: g%d, namespace: d}\nspec: {queue: q%d, priorityClassName: p%u, subGroups: "
			"[{name: head, minMember: %" PRId64 "}, {name: work, minMember: %" PRId64 "}]}\n",
			i, g->queue, rng_below(&w->r, 3), g->min[0], g->min[1]);
		for (uint32_t k = 0; k < n; k++) {
			char name[16], words[96];

			snprintf(name, sizeof(name), "w%u", w->n_pods++);
			snprintf(words, sizeof(words), "age %u group g%d podset %s%s", 900 - k, i,
				 k < (uint32_t)g->min[0] ? "head" : "work", rng_below(&w->r, 5) ? "" : " picky");
			story_pod(&w->s, name, NULL, 1 + (int64_t)rng_below(&w->r, 3), NULL, words);
		}
	}
}

static inline void make_world_of(struct world *w, uint64_t seed, bool has_gangs)
{
	*w = (struct world){.r = {seed}};
	story_begin(&w->s);
	while (w->n < 4)
		add_queue(w, -1, 1);
	make_valid(w);
	drop_bad_maximums(w);
	write_queues(w);
	write_windows(w);
	add_groups(w);
	add_pods(w);
	if (has_gangs)
		add_gangs(w);
	w->preempt = some_window(w) > 0 ? 120 : 0;
	w->reclaim = some_window(w) > 0 ? 120 : 0;
	w->by_leaf = !rng_below(&w->r, 2);
	story_load(&w->s);
	w->s.settings->min_runtime = (struct min_runtime_settings){w->preempt * NS_PER_S, w->reclaim * NS_PER_S,
								   w->by_leaf ? RESOLVE_QUEUE : RESOLVE_LCA};
	ledger_check_always(cluster_ledger(w->s.cluster), false);
}

static inline void make_world(struct world *w, uint64_t seed)
{
	make_world_of(w, seed, false);
}
