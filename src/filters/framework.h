/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framework.h - runs plugins: which ones at which point, in which order, and what their answers add up to.
 *
 * A framework is built once from a profile's configuration (which plugins, their order, weights and arguments); a cycle
 * is one attempt for one pod on it. Between cycle_begin and cycle_end the cycle listens to the ledger, so that plugin
 * state follows every simulated removal and return (KF-2). At most one cycle is under way per framework.
 *
 * Nodes are looked at in the order of their names, always all of them, so no answer depends on the order of arrival.
 */
#pragma once

#include "base/arena.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/text.h"
#include "cede_plugin.h"
#include "cluster/cluster.h"
#include "filters/settings.h"

struct framework;

/* Built-in plugins, in the default order of kube-scheduler. */
extern const struct cede_plugin *const builtin_plugins[];
extern const size_t builtin_plugin_count;

struct framework_plugin { /* one plugin at work */
	const struct cede_plugin *table;
	void *self;
	int32_t weight;	  /* of its score */
	uint32_t points;  /* bit set of enum plugin_point: where it runs */
	bool is_disabled; /* broke the contract */
};

/*
 * extra: plugins loaded from files, in order; they join every point they implement unless the configuration says
 * otherwise. Unknown plugin names in the configuration and contradictions (no Bind plugin, two QueueSorts) are errors
 * that say so.
 */
struct framework *framework_new(struct cluster *c, const struct kube_profile *profile,
				const struct framework_plugin *extra, uint32_t n_extra, struct err *e);
void framework_free(struct framework *f);
uint32_t framework_plugin_count(const struct framework *f);
const struct framework_plugin *framework_plugin(const struct framework *f, uint32_t i);
uint32_t framework_plugin_find(const struct framework *f, const char *name); /* UINT32_MAX */
const struct plugin_args *framework_args(const struct framework *f);
/* Plugins at a point in the order they run (indexes for framework_plugin). */
const uint32_t *framework_point(const struct framework *f, enum plugin_point p, uint32_t *ret_n);
/* All live nodes in the order of their names; good until a node comes or goes. */
const node_id *framework_nodes(struct framework *f, uint32_t *ret_n);
uint64_t framework_nodes_version(const struct framework *f);	   /* another list has another one */
uint32_t framework_place(const struct framework *f, node_id node); /* in that list; UINT32_MAX: it is not there */
/* Is default preemption on in this profile? */
bool framework_preempts(const struct framework *f);
/* Does a filter count the room on nodes, of every type that pods ask for? */
bool framework_counts_room(const struct framework *f);
/* It broke the contract: switched off for the rest of the run. */
void framework_eject(struct framework *f, uint32_t plugin, const char *why);
/* What was switched off so, a line each. */
const char *framework_complaints(const struct framework *f);

/* A verdict and who gave it. */
struct status {
	struct cede_verdict verdict;
	uint32_t plugin; /* index; PLUGIN_FRAMEWORK: the framework itself, with a reason of framework_reason */
};
#define PLUGIN_FRAMEWORK UINT32_MAX

enum framework_reason {
	FW_NONE,
	FW_OUTSIDE,	/* not among the nodes PreFilter left; detail: bit set of the plugins */
	FW_EMPTY,	/* PreFilter plugins left no node at all; detail likewise */
	FW_NO_VICTIMS,	/* "No preemption victims found for incoming pod" */
	FW_NOT_HELPFUL, /* "Preemption is not helpful for scheduling" */
	FW_NO_NODES,	/* "no nodes available to schedule pods" */
	FW_NEEDLESS,	/* "expected at least one victim pod on node ..." : it fits as it is; detail: the node */
};

static inline bool status_is_success(const struct status *s)
{
	return s->verdict.code == CEDE_SUCCESS;
}
/* UNSCHEDULABLE, UNRESOLVABLE or PENDING: a refusal, not an error. */
static inline bool status_is_rejection(const struct status *s)
{
	return s->verdict.code == CEDE_UNSCHEDULABLE || s->verdict.code == CEDE_UNRESOLVABLE ||
	       s->verdict.code == CEDE_PENDING;
}
static inline struct status status_of_framework(enum cede_code code, enum framework_reason reason, uint64_t detail)
{
	return (struct status){cede_answer(code, (uint16_t)reason, detail), PLUGIN_FRAMEWORK};
}

struct cede_cycle {
	struct framework *framework;
	const struct cluster *cluster;
	struct ledger *ledger;
	const struct vocab *vocab;
	const struct names *names;
	struct arena *arena; /* of the cycle */
	pod_id pod;
	const struct pod *p;
	const struct shape *shape;
	const struct labelset *labelset;
	int32_t priority;
	int64_t now_ns;
	void **states;			  /* per plugin index */
	uint64_t skip_filter, skip_score; /* plugin index bits (at most 64 plugins) */
	uint64_t asked;	      /* filters that depend on more than shape and node: all others are passed over */
	uint64_t counts_room; /* the one that counts resources */
	bool has_node_set;    /* PreFilter restricted the nodes: */
	struct bits node_set;
	const name_id *absent; /* names in the set that no node has; they keep it from being empty */
	uint32_t n_absent;
	uint64_t node_set_plugins;  /* who did, by plugin index */
	uint32_t running;	    /* index of the plugin whose PreFilter is running */
	struct status pre_filter;   /* a rejection of all nodes, or success */
	bool is_dry_run;	    /* preemption looks at nodes in spite of it */
	struct cycle_value *values; /* cede_write */
	const node_id *nodes;	    /* all live nodes in the order of their names */
	uint32_t n_nodes;
	/*
	 * Where queues count: room that leaving pods free goes to those it was reserved for, so what is free beside it
	 * can be used now. Pods that should have gone longer ago than the patience are not counted on.
	 */
	bool leaving_make_room;
	int64_t patience_ns;
	bool moves_all; /* whoever would come or go is moved in the ledger, also where numbers would do; for tests */
	/* so much more is taken of the node that is asked about, by type; NULL: nothing */
	const int64_t *beside;
	const uint8_t *static_verdicts; /* by node id: STATIC_OK, or STATIC_REFUSED + index of the plugin */
};
enum { STATIC_UNKNOWN, STATIC_OK, STATIC_REFUSED };

/*
 * Start a cycle for a waiting pod: runs the PreFilter plugins in order. One that skips is not asked again; UNRESOLVABLE
 * stops at once, UNSCHEDULABLE is remembered and the rest still run, so that their state is there for preemption. The
 * arena is reset by the caller after cycle_end.
 */
void cycle_begin(struct cede_cycle *c, struct framework *f, struct arena *a, pod_id pod, int64_t now_ns);
void cycle_end(struct cede_cycle *c);

/*
 * A cycle for asking plugins about victims, beside others: PreFilter has run, but its state does not follow what
 * happens afterwards. pod may be POD_NONE where nobody waits: then nothing has run and there is no state. Ending one
 * that was never begun (all zero) is fine.
 */
void cycle_begin_aside(struct cede_cycle *c, struct framework *f, struct arena *a, pod_id pod, int64_t now_ns);
void cycle_end_aside(struct cede_cycle *c);

/*
 * A plugin restricts the nodes from its pre_filter: by what it has found, or (NodeName, NodeAffinity) by names that the
 * pod gives. A set of names is empty only if the names are at odds; names that no node has leave all nodes outside it.
 */
void cycle_restrict(struct cede_cycle *c, const struct cede_plugin *p, const node_id *nodes, uint32_t n);
void cycle_restrict_names(struct cede_cycle *c, const struct cede_plugin *p, const name_id *names, uint32_t n);

/*
 * Filter one node, first refusal wins. Nodes outside the PreFilter's set are UNRESOLVABLE. Without regard to nominated
 * pods: see cycle_fits.
 */
struct status cycle_filter(const struct cede_cycle *c, node_id node);
/*
 * The two-pass rule: first with every other waiting pod of equal or higher priority that is nominated to the node
 * counted as there, then without. Places and vacates those pods in the ledger meanwhile (journalled and rolled back).
 */
struct status cycle_fits(struct cede_cycle *c, node_id node);
/*
 * Does cycle_fits refuse the node by what is said before any filter that looks at more than numbers? Then ret is what
 * it says, which depends on the pod's shape and priority, on the node and on who is stuck there. Not with moves_all.
 */
bool cycle_is_full(struct cede_cycle *c, node_id node, struct status *ret);
/* Do the resources have a say at all? */
bool cycle_counts_room(const struct cede_cycle *c);
/* Of the filters that depend on more than shape and node, are the resources the first to speak, of every type? */
bool cycle_room_comes_first(const struct cede_cycle *c);
/* Of the filters that may speak for this pod, do only the resources depend on pods? Then numbers tell who fits. */
bool cycle_is_by_room(const struct cede_cycle *c);
/* Do all filters that look at the node's object alone let it pass? */
static inline bool cycle_passes_static(const struct cede_cycle *c, node_id node)
{
	return c->static_verdicts[node] == STATIC_OK;
}
/*
 * Beside the resources, do only filters depend on pods that can tell which of them matter? Then cycle_cares_about says
 * whether it may matter to any of them that a pod which runs is on its node.
 */
bool cycle_knows_who_matters(const struct cede_cycle *c);
bool cycle_cares_about(const struct cede_cycle *c, const struct pod *p);
/*
 * The same once so much is gone from the node, of it everything of pods that are leaving; where that is by room, or
 * nobody who is gone matters.
 */
struct status cycle_fits_without(struct cede_cycle *c, node_id node, const int64_t *gone);
/* Once at most so much is gone from the node: is there too little room for it all the same? False: perhaps not. */
bool cycle_is_full_without(struct cede_cycle *c, node_id node, const int64_t *gone);
/* Would cycle_fits let it, if there were room without end? Asked as things are: who is leaving has not left. */
bool cycle_fits_but_for_room(struct cede_cycle *c, node_id node);
/*
 * Is the pod refused because too many are in the node's domain with whom it is spread, or who spread with it, those
 * among them whose places on the node hold against it? Where queues count.
 */
bool cycle_is_crowded(struct cede_cycle *c, node_id node);
/* What those take of the node whose places there hold against this pod is added to row; false: nobody's does. */
bool cycle_add_holders(const struct cede_cycle *c, node_id node, int64_t *row);
/* What a pod takes of its node, added to row so many times. */
void cycle_add_usage(const struct cede_cycle *c, const struct pod *p, int64_t *row, int64_t times);

/*
 * No node fits: post_filter of the plugins that stand before preemption at PostFilter, or after it. SUCCESS: one of
 * them offers *ret_node; UNRESOLVABLE: nobody behind is to be asked; UNSCHEDULABLE: nobody has anything to offer.
 */
struct status cycle_post_filter(struct cede_cycle *c, bool is_after_preemption, node_id *ret_node);
bool framework_has_post_filter(const struct framework *f); /* some plugin of one's own has it */

/*
 * Scores of feasible nodes: totals into ret (n of them). With per, also weighted scores per plugin [plugin * n + i].
 * ERR_INTERNAL on a broken plugin.
 */
enum err_code cycle_scores(struct cede_cycle *c, const node_id *nodes, uint32_t n, int64_t *ret_totals, int64_t *per,
			   struct err *e);

/*
 * Reserve..PostBind for a node; on failure everything reserved is unreserved in reverse order and *ret says who
 * refused.
 */
bool cycle_bind(struct cede_cycle *c, node_id node, struct status *ret);
/* Takes back a bind that succeeded, as if it had been refused: for one of several that are bound together. */
void cycle_unbind(struct cede_cycle *c, node_id node);
struct status cycle_pre_enqueue(struct cede_cycle *c); /* all PreEnqueue plugins; first refusal */

/* Reason i of a status, appended to out; false: there is no i-th. */
bool status_reason(const struct cede_cycle *c, const struct status *s, size_t i, struct text *out);
const char *status_plugin_name(const struct framework *f, const struct status *s);

/*
 * Kubernetes' sentence: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)." A non-empty
 * pre_filter_msg stands instead of the histogram; post_filter_msg follows. Every reason of every status counts one;
 * absent, if given, counts for the rest of n_all.
 */
struct status_count { /* equal answers of several nodes */
	struct status s;
	uint32_t count;
};
static inline bool status_same(const struct status *a, const struct status *b)
{
	return a->plugin == b->plugin && a->verdict.code == b->verdict.code && a->verdict.reason == b->verdict.reason &&
	       a->verdict.detail == b->verdict.detail;
}

struct fit_error {
	uint32_t n_all;
	const struct status *statuses; /* of n nodes, or: */
	uint32_t n;
	const struct status_count *counts; /* n_counts different ones, with how many nodes gave each */
	uint32_t n_counts;
	const struct status *absent;		      /* may be NULL */
	const char *pre_filter_msg, *post_filter_msg; /* may be NULL */
};
void fit_error_text(const struct cede_cycle *c, const struct fit_error *fe, struct text *out);
/* All reasons of a status joined by ", ". */
void status_message(const struct cede_cycle *c, const struct status *s, struct text *out);
