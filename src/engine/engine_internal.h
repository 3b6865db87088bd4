/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_internal.h - what the files of engine/ share; for them alone.
 */
#pragma once

#include "base/text.h"
#include "engine/displace.h"
#include "engine/displace_cache.h"
#include "engine/engine.h"
#include "rules/judge.h"

struct search_cache; /* search_cache.h */
struct search_cache *search_cache_new(void);
void search_cache_free(struct search_cache *s);
struct engine;
void engine_need_search_cache(struct engine *en);
struct session;	       /* session.h */
struct movable_memory; /* movable.h */
void movable_memory_free(struct movable_memory *m);

struct engine {
	struct cluster *cluster;
	struct ledger *ledger;
	const struct engine_config *config;
	struct framework **frameworks;			 /* one for each kube profile */
	struct arena *arena;				 /* of one attempt */
	struct session *session;			 /* of the cycle before; NULL: none that could be followed */
	struct arena *session_arena, *cycle_arena;	 /* of one session after the other; NULL: none, or in use */
	struct displace_cache *displace_cache;		 /* what nodes said before */
	struct search_cache *search_cache;		 /* the same where queues count; else NULL */
	struct movable_memory *movable;			 /* who may move; NULL: nobody was asked */
	struct queue_order *queue_order;		 /* who comes next; NULL: nobody had to be asked */
	struct judge_scratch scratch;			 /* of one search after the other */
	uint64_t n_runs;				 /* plans and attempts that were asked for */
	const struct eviction_history *eviction_history; /* of the present run */
	const struct bits *tells_of;			 /* likewise */
	bool tells_times, tells_in_any_order;		 /* likewise */
	bool tells_no_words;				 /* likewise: nobody reads why somebody waits */
	bool has_plugins;				 /* of one's own */
	struct eviction_history *own_history;		 /* the same and what its cycles evicted; NULL: nothing yet */
	struct protected_list listed;			 /* by one search after the other */
	struct protected_list of_actions;		 /* memory for those of all actions of an attempt */
	const struct protected_pod *told;		 /* by the last decision of the present run; NULL: by none */
	uint32_t n_told;
	struct text complaints;
};

/* Does reclaim go by fair shares where guarantees are the rule? */
static inline bool engine_uses_shares(const struct engine_config *c)
{
	return c->profile == PROFILE_DEFAULT && c->reclaim_by == RECLAIM_FAIR_SHARE;
}

/* Is the pod to be told who is protected from it? */
static inline bool engine_tells_of(const struct engine *en, pod_id pod)
{
	return !en->tells_of || bits_has(en->tells_of, pod);
}

/* Is whoever is like one before it told the same? Not where everything is looked at, nor with plugins of one's own. */
static inline bool engine_repeats(const struct engine *en)
{
	return !en->config->looks_at_all && !en->has_plugins;
}

struct pod_list {
	pod_id *v;
	uint32_t n, cap;
};

/* The leaf of pods that name no queue. */
bool engine_is_default_queue(const struct engine *en, queue_id q);
/* What rules have to know of the configuration. */
/*
 * Before a judge for nobody (quota, stale gangs) looks at a victim: plugins are asked as the victim's own profile has
 * them. c is all zero at first, and ended by cycle_end_aside.
 */
void engine_ask_plugins_for_nobody(struct engine *en, struct judge *j, struct cede_cycle *c, pod_id victim);
struct rule_settings engine_rule_settings(const struct engine *en);

/*
 * One attempt for one waiting pod: decides, and makes the decision's moves in the ledger.
 * What the decision points to lives in keep.
 */
enum err_code attempt(struct engine *en, const struct engine_run *run, pod_id pod, struct arena *keep,
		      struct decision *ret, struct err *e);
