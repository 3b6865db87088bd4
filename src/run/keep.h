/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - the daemon's journal (--journal): what was decided, what came of it, and who was evicted before a restart.
 * Everything does nothing where there is none.
 */
#pragma once

#include "journal/live.h"
#include "run/daemon_internal.h"

/* Who was evicted within the longest window that a rule looks at, added to ret. */
enum err_code keep_history(struct daemon *d, const struct world *w, struct eviction_history *ret, struct err *e);
enum err_code keep_start(struct daemon *d, struct err *e);
void keep_stop(struct daemon *d);
int keep_fd(const struct daemon *d); /* -1: none */

/* The ticket of the record; 0: there is no journal. */
uint64_t keep_decision(struct daemon *d, const struct plan_view *v, const struct decision *x, const struct moment *now);
void keep_outcome(struct daemon *d, bool is_eviction, const char *uid, enum journal_state state, const char *reason,
		  const struct moment *now);
/* A pod that another scheduler gave a node, where its pods are only looked at. */
void keep_theirs(struct daemon *d, const struct their_placement *p, const struct moment *now);
/* Is the record on the disk? Where the journal cannot be written nobody waits for it. */
bool keep_has(const struct daemon *d, uint64_t ticket);
void keep_heard(struct daemon *d); /* its descriptor is readable */
/* The cluster in the journal (keep_cluster.c). */
void keep_gone(struct daemon *d, pod_id pod, const struct moment *now); /* it is about to go, or to be over */
void keep_cluster_tick(struct daemon *d);
int64_t keep_cluster_next_ns(const struct daemon *d); /* steady */
void keep_cluster_anew(struct daemon *d);	      /* with the next settings, or the next time it leads: at once */
void keep_cluster_last(struct daemon *d);	      /* it ends */
/* Once the lists are complete: what a daemon before us left open is looked up in the cluster. */
void keep_tick(struct daemon *d);
