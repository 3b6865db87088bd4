/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - one cycle: try every waiting pod once, decide, and leave the ledger as it would be.
 *
 * A pure function of (cluster, configuration, now). Placements and evictions are made in the ledger (journalled, so
 * that plan can take them back); nothing else happens: drivers act on the decisions.
 */
#pragma once

#include "base/bits.h"
#include "engine/config.h"
#include "engine/decision.h"

struct engine;

/* extra: plugins loaded by whoever reads files (manifest/plugins.h); they must outlive the engine. */
struct engine *engine_new(struct cluster *c, const struct engine_config *config, const struct framework_plugin *extra,
			  uint32_t n_extra, struct err *e);
void engine_free(struct engine *en);
struct framework *engine_framework(struct engine *en, pod_id pod); /* of the pod's profile */

struct engine_run {
	int64_t now_ns;
	uint32_t cycles;				 /* 1 at least */
	pod_id report;					 /* fill decision.nodes for this pod; POD_NONE: for nobody */
	const struct eviction_history *eviction_history; /* who was evicted before; NULL: nothing is known */
	/*
	 * NULL: everybody who waits is tried. Else only these, and those whose nomination is still to be honoured: for
	 * drivers that know of the others that they would wait as before. Those still hold what is reserved for them.
	 * Profile kai looks at everybody in any case.
	 */
	const struct bits *only;
	/*
	 * For drivers that keep such a list themselves: these waiting pods and nobody else (NULL: as above), and who of
	 * them is passed over when his turn comes. There is no decision about others.
	 */
	const pod_id *these;
	uint32_t n_these;
	bool (*passes_over)(void *driver, pod_id pod); /* NULL: nobody is */
	bool (*passes_over_rest)(void *driver);	       /* is everybody who has not had his turn yet? NULL: no */
	/* Does nothing matter any more that would be decided from here on, so many cycles done? NULL: it does. */
	bool (*is_over)(void *driver, uint32_t n_cycles);
	/* Do groups wait that are not among them, in vain as the driver knows, for which others may move? NULL: no. */
	bool (*groups_wait)(void *driver);
	void *driver; /* whom they are asked of */
	/* Of whom it is told who was protected from them, which takes longer than deciding; NULL: of everybody. */
	const struct bits *tells_of;
	/*
	 * Of who is protected those alone are told whose protection ends by itself (until_ns), and who is spared, and
	 * of more than there is room for the one whose protection ends first; and nobody is told why he waits
	 * (message), nor which node comes second (runner_up, tie), as with the next.
	 */
	bool tells_times;
	bool tells_no_words;
	bool tells_in_any_order;       /* those of one node, in decisions about pods that are in no group */
	const struct bits *quota_held; /* queues whose quota.preemption.delay is not over; NULL: of all it is */
};
/*
 * Decisions in the order they were taken, appended to *ret (its arena must be set). With more cycles victims and
 * terminating pods are gone before the next one, nominated pods are tried again, now stays. The ledger keeps the moves,
 * uncommitted: roll back to the mark taken before.
 */
enum err_code engine_plan(struct engine *en, const struct engine_run *run, struct decisions *ret, struct err *e);

/* For such drivers: might others move for the group (GROUP_NONE: for any that waits)? No: it is not worth asking. */
bool engine_may_move(const struct engine *en, group_id group);

/*
 * When time alone changes what is decided next, beside the verdicts of a plan that say until when they hold: room of
 * pods that should be gone is no longer counted on, a gang below its minimum is stale, a gang of pods is given up.
 * TIME_NONE: never.
 */
int64_t engine_next_time(const struct engine *en, int64_t now_ns);

/*
 * May a plan become another one because the guarantee or maximum of a queue is so much more? False: for sure not.
 */
bool engine_minds_amounts(const struct engine *en, queue_id q, res_id r, int64_t more);

/*
 * One attempt for one waiting pod, for drivers that know which is next. In profile kubernetes a pod of a PodGroup is
 * tried with all of its group that waits, and there is a decision for each.
 */
enum err_code engine_try(struct engine *en, const struct engine_run *run, pod_id pod, struct decisions *ret,
			 struct err *e);

/* Does a gang of a PodGroup run with less than its minimum, and no member of it has succeeded? */
bool engine_gang_is_stale(const struct engine *en, group_id group);

/* Is room on nodes counted for everybody, of every type (framework_counts_room)? */
bool engine_counts_room(const struct engine *en);
/* Is it a pod of one of the schedulers we stand for? */
bool engine_is_ours(const struct engine *en, const struct pod *p);

/* Names of plugins that were switched off or could not be loaded, a line each, "" if none. */
const char *engine_complaints(struct engine *en);
