/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_view.h - decisions for people and for programs.
 *
 * A plan is printed after its moves were taken back: ids in it are good, states in the ledger are those before the
 * plan. What the operator wants to know comes first: who has to go and why, then who waits and why, then who runs
 * where.
 */
#pragma once

#include "base/emit.h"
#include "cluster/cluster.h"
#include "engine/decision.h"
#include "explain/plan_notes.h"
#include "explain/table.h"

struct plan_view {
	struct cluster *cluster;
	const struct decisions *plan;
	enum profile profile;
	bool by_fair_share; /* what reclaim went by */
	int64_t now_ns;
	int64_t patience_ns;		/* so long are leaving pods counted on that should be gone; 0: it is not told */
	const char *ns;			/* only decisions about its pods are told; NULL: all */
	const struct plan_notes *notes; /* NULL: neither moves nor numbers are told */
	bool lists_all;			/* everybody who had to be left, not some of each reason */
};

/* kind Plan, as interfaces.md and docs describe it: decisions in the order they were taken. */
void plan_view_emit(const struct plan_view *v, struct emit *e);
/* One of them. */
void plan_emit_decision(const struct plan_view *v, struct emit *e, const struct decision *d);
/* Tables. Many evictions for one shape of pod are grouped unless is_wide. */
void plan_view_text(const struct plan_view *v, const struct look *look, bool is_wide, struct text *out);

/*
 * One decision in full: a sentence, then the table behind it if there are words for its statuses.
 * is_wide: every victim of every node.
 */
struct cede_cycle;
void decision_text(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words,
		   const struct look *look, bool is_wide, struct text *out);
/* Are there more than a decision tells of, for all that is known? */
static inline bool protected_are_cut(const struct decision *d)
{
	return d->n_protected >= PROTECTED_MAX;
}
/* Who is protected, and why; nothing if there is nobody. Alike ones stand together unless is_wide. */
void protected_table(const struct plan_view *v, const struct decision *d, const struct look *look, bool is_wide,
		     struct text *out);
/* Which protected pods are told together. */
enum protected_grain {
	GRAIN_REASON,	/* those that one rule keeps for one reason in one queue */
	GRAIN_SENTENCE, /* of these those on one node of which the same is said, word for word */
	GRAIN_POD,	/* each alone */
};
struct protected_kind {
	const struct protected_pod *first;
	const char *why; /* GRAIN_SENTENCE, GRAIN_POD */
	uint32_t n;
	int64_t until_ns; /* the first end of a verdict among them; TIME_NONE */
};
struct protected_kinds {
	ARRAY(struct protected_kind) v; /* in the order of their first pods */
	uint32_t *of;			/* by protected pod of the decision; UINT32_MAX: of none of them */
	uint32_t n_left;		/* pods of kinds beyond the most that were asked for */
	struct arena *arena;
};
struct protected_kinds protected_kinds_of(const struct plan_view *v, const struct decision *d,
					  enum protected_grain grain, uint32_t most);
void protected_kinds_free(struct protected_kinds *k);
/* In a few words: "4 pods protected by min-runtime, the first until 12:09:00; 2 by guarantee (law 5)"; or nothing. */
void protection_text(const struct plan_view *v, const struct decision *d, struct text *out);
/* Why a pod waits: the sentence of its condition, who had to be left for it, and what holds back the pod itself. */
void waiting_text(const struct plan_view *v, const struct decision *d, struct text *out);
/* A time, without its day if that is today. */
void until_text(const struct plan_view *v, int64_t at_ns, struct text *out);
/* A sentence on lines of its own, safe to print. */
void add_sentence(const struct look *look, const char *s, struct text *out);
/* Why the node won: "fewest victims (1, next best gpu-4 with 2)". */
void tie_text(const struct plan_view *v, const struct decision *d, struct text *out);
/* "pv-1 for ml/data, a new one for ml/scratch"; nothing if there are none. */
void volumes_text(const struct plan_view *v, const struct decision *d, struct text *out);

/* "rule", "reason", "until". */
void plan_emit_verdict(const struct plan_view *v, struct emit *e, const struct rule_verdict *says);
/* "protected": who is protected, and why; nothing if there is nobody. */
void plan_emit_volumes(const struct plan_view *v, struct emit *e, const struct decision *d);
void plan_emit_protected(const struct plan_view *v, struct emit *e, const struct decision *d);

/*
 * " It takes room from nobody (delay) until ...": what holds the pod back itself.
 * Kubernetes' own message has it already.
 */
void own_rule_text(const struct plan_view *v, const struct decision *d, struct text *out);

/*
 * "goes with its group ml/train: disruptionMode all, 4 pods on 3 nodes": of a victim whose group goes as a whole;
 * nothing of others.
 */
void group_clause(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out);

/*
 * Why the victim has to go, without the name of the action: "root.ads uses 8 of 12 guaranteed nvidia.com/gpu,
 * root.research 20 of 8", "priority 10 below 100, though it opted out", "moves to gpu-3".
 */
void eviction_text(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out);
/* Of reclaim, the part that has the numbers. */
void reclaim_text(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out);
/* The numbers in it; type RES_NONE: there are none. d is a decision of the plan, x one of its victims. */
struct eviction_numbers eviction_numbers(const struct plan_view *v, const struct decision *d, const struct victim *x);

/* Helpers for both. */
/* Pods by what became of them, each by its last decision, and victims once; of the namespace that is asked for. */
struct plan_counts {
	uint32_t placed, nominated, waiting, gated, victims;
};
struct plan_counts plan_counts(const struct plan_view *v);
bool is_of_namespace(const struct plan_view *v, pod_id pod);	   /* that is asked for */
bool is_told(const struct plan_view *v, const struct decision *d); /* it is about the namespace that is asked for */
void pod_path(const struct plan_view *v, pod_id pod, struct text *out); /* "ns/name" */
bool waits_with_group(const struct decision *d); /* for victims that its group's first pod tells of */
void group_path(const struct plan_view *v, group_id g, struct text *out);
const char *queue_path(const struct plan_view *v, queue_id q); /* "" for none */
const char *node_text(const struct plan_view *v, node_id n);   /* "" for none */
