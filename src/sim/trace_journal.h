/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_journal.h - a journal of cede plan or cede run as a load: what really happened, continued under other settings.
 *
 * The cluster is that of the first run that kept one, with all that ran and waited then; or, with a time, the last
 * one up to then. A pod that is first seen in a later run arrives when it was made, at the earliest after the run
 * before. A pod that is no longer there in a later run ended then, and ran as long as that says; of pods that a
 * daemon saw go it is known how long they ran, also of those that came and went between two clusters. One that had to
 * go is not taken for ended, and the pod that its controller made instead is taken for the same work. Who is still
 * there in the last run runs to the end, unless its annotation cede.dev/run-time says how long. Runs that kept no
 * cluster are passed over, and pods that were decided upon and are in no cluster are counted in the note.
 *
 * PodGroups of later runs are put into the cluster that the load is for, because pods of theirs will arrive. What
 * changed of nodes, budgets, classes, namespaces and queues happens at the time of the later cluster (trace_changes.h);
 * queues only where the cluster that the load is for has those of the first run. Claims and settings stay as they were.
 */
#pragma once

#include "base/text.h"
#include "cluster/cluster.h"
#include "sim/load.h"

struct trace_journal;

/* Reads the run it begins with. at_ns: TIME_NONE, or see above. ERR_INPUT if there is none with a cluster. */
enum err_code trace_journal_open(const char *path, int64_t at_ns, struct trace_journal **ret, struct err *e);
void trace_journal_free(struct trace_journal *t); /* NULL is fine */

int64_t trace_journal_from(const struct trace_journal *t); /* when the first run was decided */
const char *trace_journal_profile(const struct trace_journal *t);
/* The cluster of the first run as -f would take it, with its settings or without. */
void trace_journal_cluster(const struct trace_journal *t, bool with_settings, struct text *out);

/* Reads the other runs; what arrives, for the cluster of the first. To be freed before the cluster's vocab goes. */
enum err_code trace_journal_jobs(struct trace_journal *t, struct cluster *c, struct sim_load *ret, struct err *e);
/* What happens to the cluster meanwhile, in order of time; good until the jobs are read again or freed. */
const struct sim_event *trace_journal_events(const struct trace_journal *t, uint32_t *ret_n);
/* How long a pod of the first run runs, for sim_options.describe (ctx: the trace_journal). */
void trace_journal_describe(void *trace_journal, const struct obj_pod *o, struct sim_job *job);
uint32_t trace_journal_count(const struct trace_journal *t); /* jobs that arrive */
const char *trace_journal_note(const struct trace_journal *t);
