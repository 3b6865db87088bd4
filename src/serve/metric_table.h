/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_table.h - every number that /metrics shows. docs/operations.md has a row for each
 * (tests/serve/test_metrics.py compares).
 *
 * What kube-scheduler, client-go or Prometheus' own libraries have under a name means the same here; all else begins
 * with cede_. A row: id, kind, name, labels ("" where there are fewer than three), what it says. Durations are in
 * seconds.
 */
#pragma once

#define METRIC_TABLE(ROW)                                                                                              \
	/* as in kube-scheduler */                                                                                     \
	ROW(SCHEDULE_ATTEMPTS, COUNTER, "scheduler_schedule_attempts_total", "result", "profile", "",                  \
	    "Attempts to schedule pods: scheduled, unschedulable or error.")                                           \
	ROW(SCHEDULING_ATTEMPT_SECONDS, HISTOGRAM_MS, "scheduler_scheduling_attempt_duration_seconds", "result",       \
	    "profile", "", "Time of one attempt: the decision and its binding.")                                       \
	ROW(SCHEDULING_ALGORITHM_SECONDS, HISTOGRAM_MS, "scheduler_scheduling_algorithm_duration_seconds", "", "", "", \
	    "Time of the decision alone.")                                                                             \
	ROW(PENDING_PODS, GAUGE, "scheduler_pending_pods", "queue", "", "",                                            \
	    "Pods that wait: active, backoff, unschedulable or gated.")                                                \
	ROW(PREEMPTION_VICTIMS, HISTOGRAM_COUNT, "scheduler_preemption_victims", "", "", "",                           \
	    "Victims of each preemption that was decided.")                                                            \
	ROW(PREEMPTION_ATTEMPTS, COUNTER, "scheduler_preemption_attempts_total", "", "", "", "Searches for victims.")  \
	ROW(POD_SLI_SECONDS, HISTOGRAM_LONG, "scheduler_pod_scheduling_sli_duration_seconds", "attempts", "", "",      \
	    "From a pod's first place in the queue to its binding, without the time it was gated.")                    \
	ROW(POD_ATTEMPTS, HISTOGRAM_COUNT, "scheduler_pod_scheduling_attempts", "", "", "",                            \
	    "Attempts that pods needed until they were bound.")                                                        \
	ROW(CACHE_SIZE, GAUGE, "scheduler_cache_size", "type", "", "",                                                 \
	    "What is kept of the cluster: nodes, pods, assumed_pods.")                                                 \
	ROW(REST_REQUESTS, COUNTER, "rest_client_requests_total", "code", "method", "",                                \
	    "Requests to the API server that ended, by HTTP status (0: no answer) and method.")                        \
	ROW(REST_SECONDS, HISTOGRAM_MS, "rest_client_request_duration_seconds", "verb", "", "",                        \
	    "Time of requests to the API server with all their attempts.")                                             \
	ROW(LEADER, GAUGE, "leader_election_master_status", "name", "", "", "1: this replica leads; 0: it stands by.") \
	/* decisions */                                                                                                \
	ROW(DECISIONS, COUNTER, "cede_decisions_total", "outcome", "action", "", "Decisions about waiting pods.")      \
	ROW(DECISION_SECONDS, HISTOGRAM_MS, "cede_decision_duration_seconds", "", "", "",                              \
	    "Time of one turn of decisions, without any writing.")                                                     \
	ROW(VICTIMS, COUNTER, "cede_victims_total", "action", "queue", "", "Victims, by their own queue.")             \
	ROW(LOST_SECONDS, COUNTER, "cede_lost_work_seconds_total", "action", "queue", "",                              \
	    "Work that was lost with victims, in pod-seconds.")                                                        \
	ROW(REPEATED_VICTIMS, COUNTER, "cede_repeated_victims_total", "queue", "", "",                                 \
	    "Victims whose workload had been a victim within the last hour already.")                                  \
	ROW(OVERRIDDEN, COUNTER, "cede_overridden_rules_total", "rule", "", "",                                        \
	    "Victims that a soft rule would have spared.")                                                             \
	ROW(PROTECTED, COUNTER, "cede_protected_total", "rule", "", "",                                                \
	    "Candidates that a rule protected, counted once in each decision.")                                        \
	ROW(GANGS, COUNTER, "cede_gangs_total", "outcome", "", "",                                                     \
	    "Gangs whose bindings ended: bound, completed (after a failure), undone.")                                 \
	ROW(STUCK_VICTIMS, GAUGE, "cede_stuck_victims", "", "", "",                                                    \
	    "Victims that are still there after their grace period and the configured patience.")                      \
	/* writes */                                                                                                   \
	ROW(WRITES, COUNTER, "cede_writes_total", "kind", "result", "",                                                \
	    "Writes that ended: bind, status, evict, event, group, volume; by what came of them.")                     \
	ROW(WRITE_SECONDS, HISTOGRAM_MS, "cede_write_duration_seconds", "kind", "", "",                                \
	    "Time of writes with all their attempts, until the API server's answer.")                                  \
	ROW(WRITES_IN_FLIGHT, GAUGE, "cede_writes_in_flight", "", "", "", "Writes sent and not answered yet.")         \
	ROW(UNDONE, COUNTER, "cede_assumptions_undone_total", "reason", "", "",                                        \
	    "Placements taken back because they could not be written.")                                                \
	/* what is known of the cluster */                                                                             \
	ROW(LEDGER_OBJECTS, GAUGE, "cede_ledger_objects", "type", "", "",                                              \
	    "What is kept: queues, groups, budgets, names.")                                                           \
	ROW(WATCH_LAG, GAUGE, "cede_watch_lag_seconds", "", "", "", "The longest time that a watch said nothing.")     \
	ROW(WATCH_EVENTS, COUNTER, "cede_watch_events_total", "", "", "", "Objects that came, changed or went.")       \
	ROW(SYNCED, GAUGE, "cede_synced", "", "", "", "1: every kind was listed.")                                     \
	ROW(CONFIG_REFUSED, COUNTER, "cede_configuration_refused_total", "source", "", "",                             \
	    "Settings that were refused; those before stayed in force.")                                               \
	ROW(CONFIG_TIME, GAUGE, "cede_configuration_applied_timestamp_seconds", "", "", "",                            \
	    "When the settings in force were taken.")                                                                  \
	ROW(OBJECTS_REFUSED, COUNTER, "cede_objects_refused_total", "kind", "", "",                                    \
	    "Objects of the cluster that could not be read: the version before counts, or none.")                      \
	ROW(SHADOW, COUNTER, "cede_shadow_placements_total", "scheduler", "ours", "",                                  \
	    "Pods another scheduler gave a node; ours: same, other node, waiting here, or undecided yet.")             \
	ROW(SELF_CHECKS, COUNTER, "cede_self_checks_total", "result", "", "",                                          \
	    "Comparisons of the known cluster with a fresh list: clean or different.")                                 \
	ROW(SELF_CHECK_DIFFERENCES, GAUGE, "cede_self_check_differences", "", "", "",                                  \
	    "Objects that were not known as they are, in the last self check.")                                        \
	/* queues */                                                                                                   \
	ROW(QUEUE_PODS, GAUGE, "cede_queue_pods", "queue", "state", "", "Pods of a queue: running, waiting, leaving.") \
	ROW(QUEUE_USED, GAUGE, "cede_queue_used", "queue", "resource", "", "What a queue uses, with all below it.")    \
	ROW(QUEUE_GUARANTEED, GAUGE, "cede_queue_guaranteed", "queue", "resource", "", "What it is guaranteed.")       \
	ROW(QUEUE_MAX, GAUGE, "cede_queue_max", "queue", "resource", "", "What it may use at most.")                   \
	ROW(QUEUE_SHORT, GAUGE, "cede_queue_below_guarantee", "queue", "resource", "",                                 \
	    "What a queue lacks of its guarantee while work that requests it waits.")                                  \
	/* this server */                                                                                              \
	ROW(JOURNAL_LOST, GAUGE, "cede_journal_lost_records", "", "", "",                                              \
	    "Decisions and outcomes that could not be kept.")                                                          \
	ROW(HTTP_REQUESTS, COUNTER, "cede_http_requests_total", "path", "code", "", "Requests that were answered.")    \
	ROW(HTTP_SECONDS, HISTOGRAM_MS, "cede_http_request_duration_seconds", "path", "", "",                          \
	    "Time from a request to its answer.")                                                                      \
	ROW(HTTP_STREAMS, GAUGE, "cede_http_streams", "", "", "", "Clients that follow /api/v1/events.")               \
	ROW(BUILD_INFO, GAUGE, "cede_build_info", "version", "", "", "1, with the version as label.")                  \
	/* as in Prometheus' client libraries */                                                                       \
	ROW(PROCESS_START, GAUGE, "process_start_time_seconds", "", "", "", "When the process started.")               \
	ROW(PROCESS_CPU, COUNTER, "process_cpu_seconds_total", "", "", "", "Processor time of the process.")           \
	ROW(PROCESS_RESIDENT, GAUGE, "process_resident_memory_bytes", "", "", "", "Resident memory.")                  \
	ROW(PROCESS_FDS, GAUGE, "process_open_fds", "", "", "", "Open file descriptors.")                              \
	ROW(PROCESS_THREADS, GAUGE, "process_threads", "", "", "", "Threads.")
