/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inter_pod_affinity.h - what the filter and the score of InterPodAffinity share: which pods a term means, and sums per
 * domain.
 *
 * A term means a pod if its selector matches the pod's labels and it is about the pod's namespace: one that is listed,
 * one whose labels its namespace selector matches, or, where neither is given, that of the term's owner.
 */
#pragma once

#include "filters/builtin.h"
#include "filters/roster.h"
#include "filters/topology.h"

/* A term of a running pod, its owner, about the waiting pod. A namespace that nobody described has no labels. */
bool term_means_waiting(const struct cede_cycle *c, const struct pod_term *t, const struct labelset *owner);

struct sums;
struct affinity_tally;

struct waiting_term { /* a term of the waiting pod, asked once per label set */
	const struct pod_term *term;
	const struct topology *topology;
	struct sums *sums; /* where the pods it means are added up */
	struct labelset_memo memo;
};

struct waiting_terms {
	uint32_t n;
	struct waiting_term *v;
};

struct waiting_terms waiting_terms(const struct cede_cycle *c, struct arena *a, const struct pod_terms *terms,
				   struct affinity_tally *into);
/* Its namespace selector finds described namespaces only, unless it is empty: then all. */
bool waiting_term_means(const struct cede_cycle *c, const struct waiting_term *t, labelset_id labelset);
bool waiting_terms_all_mean(const struct cede_cycle *c, const struct waiting_terms *t, labelset_id labelset);
/* Label sets with pods on nodes that the term means, each once. Memory of a. */
uint32_t waiting_term_labelsets(const struct cede_cycle *c, const struct waiting_term *t, struct arena *a,
				const labelset_id **ret);

struct sums { /* over the domains of one topology */
	struct sums *next;
	const struct topology *topology;
	uint32_t n;
	int64_t *v;
};

struct affinity_tally {
	struct sums *first; /* one per topology */
	int64_t total;
	bool is_touched; /* something was added, be it 0 */
};

struct sums *tally_sums(struct affinity_tally *t, struct arena *a, const struct topology *topology); /* found or made */

static inline int64_t sums_at(const struct sums *s, node_id node)
{
	uint32_t d = topology_domain(s->topology, node);

	return d < s->n ? s->v[d] : 0;
}

/* Nothing happens for a node without the label. */
static inline void tally_add(struct affinity_tally *t, struct sums *s, node_id node, int64_t by)
{
	uint32_t d = topology_domain(s->topology, node);

	if (d >= s->n)
		return;
	s->v[d] += by;
	t->total += by;
	t->is_touched = true;
}

struct affinity_filter;
struct affinity_state { /* of a cycle; either may be missing */
	struct affinity_filter *filter;
	struct affinity_tally *score;
};

struct cede_verdict affinity_pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n);
int64_t affinity_score(void *self, const struct cede_cycle *c, cede_node node);
void affinity_normalize(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n);
