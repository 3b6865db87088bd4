/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framework.h - runs plugins: which ones at which point, in which order, and what their answers add up to.
 *
 * A framework is built once from a profile's configuration (which plugins, their order, weights and arguments); a cycle is one attempt for one
 * pod on it. Between cycle_begin and cycle_end the cycle listens to the ledger, so that plugin state follows every simulated removal and return
 * (KF-2). At most one cycle listens at a time per ledger.
 */
#pragma once

#include "base/arena.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/text.h"
#include "cede_plugin.h"
#include "filters/settings.h"
#include "ledger/cluster.h"

struct framework;

/* Built-in plugins, in the default order of kube-scheduler. */
extern const struct cede_plugin *const builtin_plugins[];
extern const size_t builtin_plugin_count;

struct framework_plugin { /* one plugin at work */
	const struct cede_plugin *table;
	void *self;
	int32_t weight;	  /* of its score */
	uint32_t points; /* bit set of enum plugin_point: where it runs */
	bool is_disabled; /* broke the contract */
};

/*
 * extra: plugins loaded from files, in order; they join every point they implement unless the configuration says otherwise. Unknown plugin names in
 * the configuration and contradictions (no Bind plugin, two QueueSorts) are errors that say so.
 */
struct framework *framework_new(const struct cluster *c, const struct kube_profile *profile, const struct framework_plugin *extra,
				uint32_t n_extra, struct err *e);
void framework_free(struct framework *f);
uint32_t framework_plugin_count(const struct framework *f);
const struct framework_plugin *framework_plugin(const struct framework *f, uint32_t i);
uint32_t framework_plugin_find(const struct framework *f, const char *name); /* UINT32_MAX */
const struct plugin_args *framework_args(const struct framework *f);
/* Plugins at a point in the order they run (indexes for framework_plugin). */
const uint32_t *framework_point(const struct framework *f, enum plugin_point p, uint32_t *ret_n);
/* What was switched off for breaking the contract, a line each. */
const char *framework_complaints(const struct framework *f);

/* A verdict and who gave it. */
struct status {
	struct cede_verdict verdict;
	uint32_t plugin; /* index; UINT32_MAX: the framework itself */
};
#define PLUGIN_FRAMEWORK UINT32_MAX

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
	const struct kin *kin;
	int32_t priority;
	int64_t now_ns;
	void **states; /* per plugin index */
	uint64_t skip_filter, skip_score; /* plugin index bits (at most 64 plugins) */
	bool has_node_set; /* PreFilter restricted the nodes: */
	struct bits node_set;
	uint64_t node_set_plugins; /* who did */
	struct status pre_filter; /* a rejection of all nodes, or success */
	struct cycle_value *values; /* cede_write */
	const node_id *nodes; /* all live nodes in scheduling order */
	uint32_t n_nodes;
};

/*
 * Start a cycle for a pod: collects the nodes in scheduling order (zones round-robin, inside a zone as they came), runs PreFilter plugins as
 * spec section 2.3 says. The arena is reset by cycle_end's caller, not here.
 */
void cycle_begin(struct cede_cycle *c, struct framework *f, const struct cluster *cl, struct ledger *l, struct arena *a, pod_id pod,
		 int64_t now_ns);
void cycle_end(struct cede_cycle *c);

/* A plugin restricts the nodes from its pre_filter (NodeName, NodeAffinity): names that do not exist are dropped. */
void cycle_restrict(struct cede_cycle *c, const struct cede_plugin *p, const node_id *nodes, uint32_t n);

/*
 * Filter one node, first refusal wins. Nodes outside the PreFilter's set are UNRESOLVABLE. Without regard to claims: see cycle_fits.
 */
struct status cycle_filter(const struct cede_cycle *c, node_id node);
/*
 * The two-pass rule: first with every other waiting pod of equal or higher priority that is nominated to the node counted as there, then without.
 * Places and vacates those pods in the ledger meanwhile (journalled and rolled back).
 */
struct status cycle_fits(struct cede_cycle *c, node_id node);

/* Scores of feasible nodes: totals into ret (n of them). With per, also weighted scores per plugin [plugin * n + i]. ERR_INTERNAL on a broken plugin. */
enum err_code cycle_scores(struct cede_cycle *c, const node_id *nodes, uint32_t n, int64_t *ret_totals, int64_t *per, struct err *e);

/* Reserve..PostBind for a node; on failure everything reserved is unreserved in reverse order and *ret says who refused. */
bool cycle_bind(struct cede_cycle *c, node_id node, struct status *ret);
struct status cycle_pre_enqueue(struct cede_cycle *c); /* all PreEnqueue plugins; first refusal */

/* Reasons of a status as text; i from 0; false: no more. */
bool status_reason(const struct cede_cycle *c, const struct status *s, size_t i, struct text *out);
const char *status_plugin_name(const struct framework *f, const struct status *s);

/*
 * Kubernetes' sentence: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)." A non-empty pre_filter_msg stands instead of the
 * histogram; post_filter_msg follows. statuses[i] belongs to nodes[i]; absent counts n_all minus them with absent's reasons.
 */
struct fit_error {
	uint32_t n_all;
	const struct status *statuses;
	uint32_t n;
	const char *pre_filter_msg, *post_filter_msg; /* may be NULL */
	const struct status *absent;		      /* may be NULL */
};
void fit_error_text(const struct cede_cycle *c, const struct fit_error *fe, struct text *out);
/* The same from reason strings: for messages whose statuses are not plugins'. Each reason of each node once. */
void fit_error_histogram(uint32_t n_all, const char *const *reasons, const uint32_t *counts, uint32_t n_reasons, struct text *out);
