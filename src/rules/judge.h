/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - asks all rules, in order, whether a running pod may go for a waiting one.
 *
 * A judge is made for one waiting pod and one action. What depends on the victim's queue alone (fences, policy,
 * guarantees, how priorities are adjusted) is worked out once per queue and kept, so a cluster with many queues costs
 * only for those that are looked at. Rules are tables, one file each; which of them an action asks, and in
 * which order, is data (model/rule_table.h).
 *
 * Words of the laws: P is the waiting pod's leaf, V the victim's, A their lowest common ancestor; the branch of a leaf
 * are it and its ancestors strictly below A. Short are the resource types the pod lacks on the node it would use or
 * below the maximums on its path.
 */
#pragma once

#include "base/map.h"
#include "base/text.h"
#include "filters/framework.h"
#include "rules/eviction_history.h"
#include "rules/min_runtime.h"
#include "rules/rule.h"

struct thrash_settings {		  /* of evictions of one workload within the window */
	uint32_t soft, hard;		  /* from so many on it is spared, protected; 0: never */
	int64_t window_ns, protection_ns; /* after so many as hard; doubled for each further one */
};

struct rule_settings {
	enum profile profile;
	uint64_t rules_off;	  /* bit set of enum rule_id: as if they were not there */
	bool by_fair_share;	  /* guarantees in the ledger are fair shares, and are called so */
	bool opt_out_is_hard;	  /* opted-out pods go for DaemonSet work alone */
	bool guarantee_all_types; /* law 2 in every type the victims hold */
	uint32_t n_scheduler_names;
	const char *const *scheduler_names; /* whose pods are ours; none: all */
	struct min_runtime_settings min_runtime;
	bool moves_ignore_windows; /* consolidation goes by no minimum runtime */
	struct thrash_settings thrash;
	uint32_t evictions_per_hour;			 /* of one queue; 0: as many as it takes */
	const struct eviction_history *eviction_history; /* NULL: nothing is known */
};

/*
 * What all queues used and had reserved before a decision of several steps began, row after row as the ledger has them:
 * a gang is one request, and who is entitled and who is above its guarantee is asked once, before its first pod.
 */
struct queues_before {
	const int64_t *used, *reserved;
	uint32_t stride;
};

/* What is known of one victim queue, for the present short types. */
struct victim_queue {
	uint64_t stamp;	   /* of judge: 0 never */
	queue_id ancestor; /* A */
	/* of the rules that look at the queue alone: fence, policy, guarantee (laws 4 and 5) */
	struct rule_verdict verdict;
	uint64_t judged; /* types that laws 4 and 5 are judged in; known once the guarantee rule was asked */
	uint64_t kept;	 /* likewise, law 2 */
	bool is_fenced;	 /* priorities are replaced by priority_shift on the way to A */
	int64_t priority_shift;
	uint32_t distance;
	uint32_t n_guards; /* queues of the victim's branch that guarantee anything, from the leaf up */
	queue_id guards[QUEUE_DEPTH_MAX];
	bool has_below;
	uint64_t below;	    /* known once judge_types_below was asked */
	bool has_window[2]; /* known once the min-runtime rule was asked: preempt, reclaim */
	struct min_runtime window[2];
};

struct judge_scratch {			    /* memory that judges use one after the other; zero-initialised */
	struct victim_queue *victim_queues; /* by queue id */
	uint32_t n;
	uint64_t stamp;		      /* only grows, so nothing has to be cleared */
	struct map cores;	      /* of semi-preemptible podsets: the last pod of the core; for one judge */
	struct drivers *drivers;      /* of applications, by leaf queue; kept while the queue's pods are the same */
	struct budget_slacks *slacks; /* by what budgets cover a label set; kept while their standing is the same */
};
void judge_scratch_free(struct judge_scratch *s);

struct judge {
	const struct cluster *cluster;
	const struct ledger *ledger;
	const struct vocab *vocab;
	const struct names *names;
	const struct queue_tree *tree;
	struct rule_settings settings;
	enum action action;
	uint64_t on; /* rules that are asked: bit set of enum rule_id */
	int64_t now_ns;
	const struct cede_cycle *cycle; /* in which plugins are asked; NULL: they are not */
	pod_id pod;			/* POD_NONE: nobody waits */
	const struct pod *p;
	name_id app, ns;
	queue_id fence;			    /* how far up the search for victims may go */
	uint64_t asked;			    /* types the pod asks for */
	uint64_t short_types;		    /* of them; set by judge_look_at */
	const struct queues_before *before; /* NULL: as the ledger has it now */
	struct judge_scratch *scratch;
	name_id spark_role, spark_driver;
};

void judge_init(struct judge *j, const struct cluster *c, const struct ledger *l, const struct rule_settings *s,
		enum action action, pod_id pod, int64_t now_ns, struct judge_scratch *scratch);

/* Lets plugins of the cycle's framework speak too: the rule `plugin`. To be called after judge_init. */
void judge_ask_plugins(struct judge *j, const struct cede_cycle *c);
/* What holds back the waiting pod itself: never, delay (with until), or RULE_NONE. */
struct rule_verdict judge_preemptor(const struct judge *j);
/*
 * The short types of the node looked at next; what is known of victim queues is worked out anew if they differ from the
 * last.
 */
void judge_look_at(struct judge *j, uint64_t short_types);
/* All rules of the action in order: the first that protects, else the first that spares, else it may go. */
struct rule_verdict judge_victim(struct judge *j, pod_id victim);
/*
 * Do priorities alone decide, as they do in profile kubernetes without plugins? Then whoever is below *ret_below may
 * go, and judge_victim needs not be asked of each.
 */
bool judge_is_by_priority(const struct judge *j, int64_t *ret_below);
/* Could any rule spare a victim, so that a second look may find more? */
bool judge_has_soft_rules(const struct judge *j);
/* The soft rule that a victim goes against, as judge_victim tells it; RULE_NONE. */
enum rule_id judge_overridden(struct judge *j, pod_id victim);
/* Is a rule asked by this judge? */
static inline bool judge_asks(const struct judge *j, enum rule_id r)
{
	return j->on >> r & 1;
}
/* The soft rules alone: is it opted out, is it a driver? */
bool judge_opted_out(const struct judge *j, const struct pod *v);
bool judge_is_driver(const struct judge *j, pod_id pod);
void drivers_free(struct drivers *d);
struct victim_queue *judge_queue(struct judge *j, queue_id victim_queue);

/*
 * Is it inside its minimum runtime for this action? The verdict has queue, window and until; podset where it is one of
 * an elastic group, of which the surplus may go all the same (MR-10).
 */
struct rule_verdict judge_window(struct judge *j, const struct pod *v);
/* Does a rule keep the minimum of the pod's podset, though what is above it may go: semi-preemptible work, windows? */
bool judge_keeps_minimum(struct judge *j, const struct pod *v);
/* Could so many placed pods of a podset go and leave its minimum? Of PODSET_NONE nothing can. */
bool judge_can_spare(const struct ledger *l, podset_id s, uint32_t n);
/* Its own word, its class's or its group's: preemptionPolicy: Never. */
bool pod_never_preempts(const struct cluster *c, const struct ledger *l, const struct pod *p);
/* How many pods of a podset belong together; INT32_MAX where each stands for itself. */
int32_t judge_minimum(const struct ledger *l, podset_id s);
/* Who runs longer comes first: the first of a podset are its core (PP-8). */
int pod_seniority(const struct names *names, const struct pod *x, const struct pod *y);

static inline const int64_t *judge_used_before(const struct judge *j, queue_id q)
{
	return j->before ? j->before->used + (size_t)q * j->before->stride : ledger_queue_used(j->ledger, q);
}
static inline const int64_t *judge_reserved_before(const struct judge *j, queue_id q)
{
	return j->before ? j->before->reserved + (size_t)q * j->before->stride : ledger_queue_reserved(j->ledger, q);
}
/* Laws 4 and 5: what is said of every pod of a queue alike. */
struct rule_verdict judge_guarantee_of_queue(struct judge *j, queue_id victims);
/* Law 2: does the pod alone take a queue below its guarantee? */
bool judge_is_too_big(struct judge *j, const struct pod *v);
/* How long after its start the pod is inside its minimum runtime for this action; 0: never. */
int64_t judge_window_ns(struct judge *j, const struct pod *v);
/*
 * Is the waiting pod's branch below its guarantee in none of these types, where it meets that of a queue? Then law 4
 * protects all pods of that queue, whichever of the types are short.
 */
bool judge_is_owed_nothing(struct judge *j, queue_id victims, uint64_t types);
/* Is it so wherever it meets that of another queue? */
bool judge_is_owed_nothing_by_any(const struct judge *j, uint64_t types);
/* From when on no window keeps a pod from moving (action consolidate). */
int64_t judge_moves_from(struct judge *j, const struct pod *v);
/*
 * Types of which some queue of the branch has no more than it is guaranteed: whoever goes and holds one of them takes
 * it below that.
 */
uint64_t judge_types_below(struct judge *j, queue_id victim_queue);
/* Law 4: is the pod's queue, below ancestor, entitled to what it is short of? And in which types that is judged. */
bool judge_entitled(const struct judge *j, queue_id ancestor, uint64_t *ret_judged, struct rule_verdict *ret_why);
/* What a queue guarantees of a type: 0 for nothing, RES_UNLIMITED without end. */
int64_t queue_guarantee(const struct queue *q, res_id r);

/* The sentence: "root.ads uses 12 of 10 guaranteed nvidia.com/gpu; taking 4 would leave 8". */
void rule_verdict_text(const struct cluster *c, const struct rule_verdict *v, struct text *out);

/* Is it non-preemptible work of KAI's world beyond the quota of its queues? Then it waits, whatever room there is. */
struct rule_verdict judge_kai_quota(const struct cluster *c, pod_id pod);

/* How many pods the queue may still lose within the hour, and when it may again. */
struct rate {
	uint32_t lost, left;
	int64_t until_ns; /* with left 0 */
};
struct rate judge_rate(struct judge *j, queue_id q);
/* What a set of victims would cost the queue is more than it may lose: n of them, with rate left. */
struct rule_verdict eviction_rate_refuses(const struct judge *j, queue_id q, const struct rate *r, uint32_t n);
/*
 * How many more disruptions every budget of the label set allows; INT64_MAX: none covers it. ret_has_listed: some of
 * them list pods as disrupted (may be NULL).
 */
int64_t budget_slack(const struct ledger *l, struct budget_slacks **memo, labelset_id labelset, bool *ret_has_listed);
enum { BUDGETS_FEW = 8 }; /* so many are looked at as fast as looked up */
void budget_slacks_free(struct budget_slacks *s);
/* Has the budget counted this pod as disrupted already? Then it costs nothing more. */
bool budget_counts_already(const struct pdb *b, const struct pod *p);
/* is_together: so many would be spent with all victims of a decision. */
struct rule_verdict budget_refuses(const struct pdb *b, pdb_id id, int64_t spent, bool is_together);
/* Law 2 for a set: q uses before, and all victims together take so much; is_alone: one of them takes all of it. */
struct rule_verdict guarantee_refuses_set(const struct judge *j, queue_id q, res_id r, int64_t before,
					  int64_t guaranteed, int64_t takes, bool is_alone);
/* No: the rule thrash has nothing to say of it. */
bool judge_may_thrash(const struct judge *j, const struct pod *v);
/* Spared because it was evicted again and again? */
bool judge_is_thrashing(struct judge *j, pod_id victim, const struct pod *v);

/* A verdict on guarantees told of fair shares, where these stand for them. */
struct rule_verdict judge_in_words_of_shares(const struct judge *j, struct rule_verdict says);
/* The guarantee rule's sentence, of guarantees or of shares. */
void guarantee_text(const struct cluster *c, const struct rule_verdict *v, const char *what, struct text *out);
enum { BY_SHARE = 16 }; /* added to its reasons where shares stand for guarantees */

/* ---- one rule ---- */

struct rule { /* its functions; everything else is its row of RULE_TABLE */
	/* of a running pod; NULL: it only speaks of whoever waits */
	struct rule_verdict (*judge)(struct judge *j, pod_id victim, const struct pod *v);
	struct rule_verdict (*of_preemptor)(const struct judge *j); /* NULL: it only speaks of victims */
	void (*text)(const struct cluster *c, const struct rule_verdict *v, struct text *out);
};

#define X(id, table, ...) extern const struct rule rule_##table;
RULE_TABLE(X)
#undef X
