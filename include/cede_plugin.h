/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cede_plugin.h - write a plugin.
 *
 * A plugin is one table. Fill in the extension points you want, leave the others NULL, and export the table:
 *
 *	const struct cede_plugin cede_plugin = { .abi = CEDE_PLUGIN_ABI, .name = "my-plugin", .filter = my_filter };
 *
 * Build it as a shared object and name it under `plugins:` in the CedeConfiguration given with --config (a path,
 * relative to that file, or {path, args}; create gets the args). File and folder must be writable by their owner alone,
 * root or whoever runs cede. examples/plugin/ is a whole one. cede's own filters and scores are such tables too, one
 * file each in src/filters/.
 *
 * A scheduling cycle is one attempt for one pod: pre_filter once, filter per node, then, if nothing fits, post_filter
 * and preemption; else pre_score once, score per node, normalize once; reserve, permit, pre_bind, bind, post_bind.
 * Within a cycle a plugin keeps its own state: what pre_filter returns through cede_set_state. State that depends on
 * the pods of the cluster has add_pod and remove_pod: cede calls them for every pod that appears on or leaves a node,
 * also when it only tries what would happen and takes it back. You cannot forget to be called.
 *
 * Rules: answers depend on the arguments only (no clock, no random source, no files), so that the same cluster gives
 * the same decision; filter and score do not change state. filter may be called from several threads at once. Pointers
 * you get are good until you return. A plugin that breaks the contract (a score outside 0..100 after normalize, an
 * unknown code) is reported and switched off for the rest of the run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CEDE_PLUGIN_ABI 2
#define CEDE_SCORE_MAX 100

/* As in Kubernetes. UNSCHEDULABLE: taking pods away may help. UNRESOLVABLE: it cannot, on this node. */
enum cede_code { CEDE_SUCCESS, CEDE_ERROR, CEDE_UNSCHEDULABLE, CEDE_UNRESOLVABLE, CEDE_WAIT, CEDE_SKIP, CEDE_PENDING };

/* An answer: compact, words are made on demand from reason and detail by the plugin's reason_text. */
struct cede_verdict {
	uint8_t code;	 /* enum cede_code */
	uint16_t reason; /* the plugin's own number */
	uint64_t detail; /* and a number that goes with it */
};

static inline struct cede_verdict cede_ok(void)
{
	struct cede_verdict v = {CEDE_SUCCESS, 0, 0};
	return v;
}
static inline struct cede_verdict cede_answer(enum cede_code code, uint16_t reason, uint64_t detail)
{
	struct cede_verdict v = {(uint8_t)code, reason, detail};
	return v;
}

struct cede_cycle; /* one attempt for one pod */
typedef uint32_t cede_pod;
typedef uint32_t cede_node;
#define CEDE_NOBODY UINT32_MAX

struct cede_arg {
	const char *key, *value;
};

enum cede_plugin_flags {
	/*
	 * filter depends on nothing but the pod's spec and the node's own object (labels, taints):
	 * asked once per kind of pod and node
	 */
	CEDE_FILTER_IS_STATIC = 1 << 0,
};

struct cede_plugin {
	uint32_t abi; /* CEDE_PLUGIN_ABI */
	uint32_t flags;
	const char *name;

	/* Once per run. NULL self is fine. On failure return false and put one line into why. */
	bool (*create)(const struct cede_arg *args, size_t n_args, void **ret_self, char *why, size_t why_size);
	void (*destroy)(void *self);

	/* May this pod be tried at all? */
	struct cede_verdict (*pre_enqueue)(void *self, const struct cede_cycle *c);
	/* Order of waiting pods, <0: a first. Exactly one plugin has it. */
	int (*queue_sort)(void *self, const struct cede_cycle *c, cede_pod a, cede_pod b);

	/*
	 * Before filter: prepare state; SKIP: nothing to say about this pod;
	 * UNSCHEDULABLE/UNRESOLVABLE: no node at all.
	 */
	struct cede_verdict (*pre_filter)(void *self, struct cede_cycle *c);
	void (*add_pod)(void *self, struct cede_cycle *c, cede_pod pod, cede_node node);
	void (*remove_pod)(void *self, struct cede_cycle *c, cede_pod pod, cede_node node);
	/*
	 * A pod on a node begins to leave (it is still there), or stays after all.
	 * For those who tell such pods from others.
	 */
	void (*pod_leaving)(void *self, struct cede_cycle *c, cede_pod pod, cede_node node, bool is_leaving);
	struct cede_verdict (*filter)(void *self, const struct cede_cycle *c, cede_node node);

	/*
	 * PostFilter: no node fits. SUCCESS with *ret_node: room will be there by the plugin's own doing; the pod is
	 * nominated to that node, nobody is evicted for it, and the nomination holds no room against others.
	 * UNSCHEDULABLE: nothing to offer, the next plugin is asked; preemption is one of them (DefaultPreemption, in
	 * the order of the profile). UNRESOLVABLE: nothing helps, nobody behind is asked. Not asked for members of a
	 * gang that is tried as one, nor in profile kai.
	 */
	struct cede_verdict (*post_filter)(void *self, struct cede_cycle *c, cede_node *ret_node);

	/* nodes: those that passed. SKIP: no scores from this plugin. */
	struct cede_verdict (*pre_score)(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n);
	int64_t (*score)(void *self, const struct cede_cycle *c, cede_node node);
	/*
	 * Scores of the nodes of pre_score, in that order, to be brought into 0..CEDE_SCORE_MAX.
	 * NULL: they are there already.
	 */
	void (*normalize)(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n);

	struct cede_verdict (*reserve)(void *self, struct cede_cycle *c, cede_node node);
	void (*unreserve)(void *self, struct cede_cycle *c, cede_node node); /* also if reserve was never reached */
	struct cede_verdict (*permit)(void *self, struct cede_cycle *c, cede_node node, int64_t *ret_timeout_ns);
	struct cede_verdict (*pre_bind)(void *self, struct cede_cycle *c, cede_node node);
	/* SKIP: let the next one do it. */
	struct cede_verdict (*bind)(void *self, struct cede_cycle *c, cede_node node);
	void (*post_bind)(void *self, struct cede_cycle *c, cede_node node);

	/*
	 * Preemption: may this running pod go for the waiting one (SUCCESS), must it stay (UNSCHEDULABLE: protected by
	 * the rule called as the plugin; reasons[] has its words), or should it be spared while others do (SKIP: it is
	 * given back before all others, and nodes where nobody spared has to go are preferred)? Asked of every pod
	 * that the rules before it would let go, by every action, more than once. Where a queue shrinks to its maximum
	 * or what is left of a gang goes nobody waits: cede_cycle_pod is CEDE_NOBODY, and pre_filter has not run.
	 */
	struct cede_verdict (*may_evict)(void *self, const struct cede_cycle *c, cede_pod victim);
	/* Among victims of one priority that may go alike, who goes first: larger goes first. */
	int64_t (*victim_order)(void *self, const struct cede_cycle *c, cede_pod victim);

	/* Reason i of a verdict as text ("Insufficient cpu"); false: no i-th. NULL: reasons[verdict.reason]. */
	bool (*reason_text)(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out,
			    size_t size);
	const char *const *reasons;
	size_t n_reasons;
};

/* ---- what a plugin may ask ---- */

/* The waiting pod, or CEDE_NOBODY; of nobody every question below has an answer: "", NULL, 0, INT64_MIN, UINT32_MAX. */
cede_pod cede_cycle_pod(const struct cede_cycle *c);
int64_t cede_cycle_now(const struct cede_cycle *c); /* nanoseconds since 1970 */

/* The plugin's own state in this cycle. Memory from cede_alloc dies with the cycle, zeroed. */
void cede_set_state(struct cede_cycle *c, const struct cede_plugin *p, void *state);
void *cede_get_state(const struct cede_cycle *c, const struct cede_plugin *p);
void *cede_alloc(struct cede_cycle *c, size_t size);
/* Values shared between plugins in this cycle, by name. NULL if nobody wrote it. */
void cede_write(struct cede_cycle *c, const char *key, void *value);
void *cede_read(const struct cede_cycle *c, const char *key);

const char *cede_pod_name(const struct cede_cycle *c, cede_pod pod);
const char *cede_pod_namespace(const struct cede_cycle *c, cede_pod pod);
const char *cede_pod_label(const struct cede_cycle *c, cede_pod pod, const char *key); /* NULL: not there */
int32_t cede_pod_priority(const struct cede_cycle *c, cede_pod pod);
const char *cede_pod_queue(const struct cede_cycle *c, cede_pod pod);			  /* "root.a.b" */
int64_t cede_pod_request(const struct cede_cycle *c, cede_pod pod, const char *resource); /* cpu in milli */
int64_t cede_pod_started(const struct cede_cycle *c, cede_pod pod);			  /* INT64_MIN: never */
/* What the annotation cede.dev/checkpointed-at says; INT64_MIN: nothing. */
int64_t cede_pod_checkpointed(const struct cede_cycle *c, cede_pod pod);
cede_node cede_pod_node(const struct cede_cycle *c, cede_pod pod); /* UINT32_MAX: none */

size_t cede_node_count(const struct cede_cycle *c);
cede_node cede_node_at(const struct cede_cycle *c, size_t i);
const char *cede_node_name(const struct cede_cycle *c, cede_node node);
const char *cede_node_label(const struct cede_cycle *c, cede_node node, const char *key);
int64_t cede_node_allocatable(const struct cede_cycle *c, cede_node node, const char *resource);
int64_t cede_node_used(const struct cede_cycle *c, cede_node node, const char *resource);
size_t cede_node_pod_count(const struct cede_cycle *c, cede_node node);
cede_pod cede_node_pod_at(const struct cede_cycle *c, cede_node node, size_t i);

#ifdef __cplusplus
}
#endif
