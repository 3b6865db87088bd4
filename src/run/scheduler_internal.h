/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_internal.h - what the files of run/ share that make up the scheduler; for them alone. */
#pragma once

#include "base/bits.h"
#include "base/heap.h"
#include "base/map.h"
#include "engine/hints.h"
#include "engine/wait_kind.h"
#include "engine/waiting.h"
#include "kube/write.h"
#include "run/scheduler.h"

struct volume_write; /* volumes.h */

enum step {
	STEP_SEND,	/* one request, and its answer is the end */
	STEP_HELD,	/* evict: the nomination it is for is not written yet */
	STEP_CONDITION, /* evict: DisruptionTarget */
	STEP_DELETE,	/* evict: the deletion itself */
	STEP_ASKED,	/* evict: it was told to go, and is still there */
	STEP_VOLUMES,	/* bind: claims are being written, or waited for */
	STEP_LOOK,	/* bind: nobody knows what came of it; the pod is read */
	STEP_BOUND,	/* bind: done, and not seen yet */
};

/* Something that is being carried out: at most one request at a time. */
struct task {
	enum task_kind kind;
	enum step step;
	uint32_t slot;	  /* in scheduler.tasks, and its id in due */
	uint64_t request; /* under way; 0: none */
	int64_t at_ns;	  /* steady: when the step is to be done; INT64_MAX: something else has to happen first */
	uint32_t tries;
	bool is_over;		/* nobody waits for it any more; the answer frees it */
	pod_id pod;		/* POD_NONE: gone, or about none */
	name_id ns, name, uid;	/* of the pod; held */
	name_id node;		/* bind: where to; evict: of the nomination. held */
	int64_t began_ns;	/* steady */
	struct text words;	/* status: the message; evict: why */
	struct kube_write made; /* event, group: the request */
	/* status */
	const char *reason; /* of PodScheduled=False; NULL: the condition is left alone */
	bool sets_nominated;
	name_id nominated; /* held; NAME_NONE: taken away */
	struct task *next; /* of the same pod, to be sent after it */
	/* evict */
	enum action action;
	pod_id preemptor;			/* POD_NONE: for nobody, or it is gone */
	struct task *next_victim, *prev_victim; /* of the same preemptor */
	name_id preemptor_ns, preemptor_name, preemptor_uid;
	group_id group;		     /* of the preemptor */
	struct text workload, queue; /* of the victim: what comes back after it, and from where */
	struct events *events;	     /* who tells of it */
	struct text version;	     /* resourceVersion after the condition */
	uint64_t material;	     /* what rules look at, when it was decided */
	uint64_t ticket;	     /* of the decision: it is kept before anything follows from it */
	/* bind */
	bool is_seen; /* the watch was faster than the answer */
	bool is_told; /* that it is bound */
	struct gang_bind *gang;
	ARRAY(struct volume_write) volumes;
};

struct pod_note { /* of a pod id that is in use */
	struct task *bind, *evict, *status;
	uint64_t told;	       /* hash of the condition written last; 0: none */
	name_id nominated;     /* as the API server has it, as far as known; held */
	int64_t until_ns;      /* wall: when time alone may change what was decided; INT64_MAX: it does not */
	struct task *victims;  /* evictions for it */
	bool hears_placements; /* somebody who gets a place may make room for it: by the laws, or by affinity */
};

struct untold_end { /* decide.c: of somebody who is protected and not told of, from the pod asked about last */
	const struct protected_pod *of; /* of it this is told; NULL: nobody was asked about, or is like no other */
	struct waiting_kind kind;
	int64_t at_ns; /* INT64_MAX: nobody's protection ends by itself */
};

struct scheduler {
	struct world *world;
	struct scheduler_options o;
	struct ledger *ledger;
	struct names *names;
	struct moment now; /* of the present call */
	struct kube_feed *feed;
	const struct reflector *pods; /* of the feed */
	struct hints hints;
	struct waiting *waiting;
	struct eviction_history history;
	ARRAY(struct task *) tasks; /* by slot; NULL: it is free */
	ARRAY(uint32_t) free_slots;
	struct heap due;		 /* tasks that wait for a time */
	struct heap ready, events_ready; /* those that wait for their turn */
	struct heap unkept;		 /* and those that wait until their ticket is kept */
	uint32_t n_ready[TASK_KINDS];
	struct map by_request;
	uint32_t in_flight[TASK_KINDS]; /* requests */
	ARRAY(struct pod_note) notes;
	struct heap timers;		       /* pods by until_ns */
	struct bits nominated;		       /* pods that have a nomination, here or there */
	ARRAY(struct events *) events;	       /* by scheduler name, as in the configuration */
	ARRAY(struct kube_write) early_events; /* written when it leads */
	ARRAY(struct gang_bind *) gangs;
	struct untold_end untold_end;
	struct map stamped;   /* groups -> the start that was written (group.c) */
	struct map published; /* groups -> the preemptibility that was written */
	struct map stale;     /* groups that were said to be stale */
	bool groups_changed, gangs_changed;
	int64_t group_ns;	   /* wall: when the time of a group may have come */
	ARRAY(int64_t) over_since; /* by queue, wall: above its maximum since */
	struct bits quota_held;	   /* queues that have time to shrink by themselves */
	int64_t quota_ns;	   /* wall: when the first of them has no longer */
	bool leads, is_draining, was_synced;
	bool wants_plan;       /* something changed that is of no single pod */
	int64_t dirty_ns;      /* steady: since when there is something to plan; INT64_MAX: there is not */
	int64_t plan_again_ns; /* steady: not before, so that planning leaves time for news */
	int64_t flushed_ns;    /* steady: events */
	struct arena *arena;   /* of one turn */
	struct bits batch;     /* pods of the present plan */
};

static inline bool is_pod_by_pod(const struct scheduler *s)
{
	return profile_get(s->world->config->profile)->search_mode == MODE_PODS && !s->o.is_dry;
}

/* ---- scheduler.c ---- */
struct pod_note *note_of(struct scheduler *s, pod_id pod);
void note_until(struct scheduler *s, pod_id pod, int64_t wall_ns); /* the earlier one counts */
void forget_until(struct scheduler *s, pod_id pod);
void tell_event(struct scheduler *s, const struct cluster_event *ev);
void room_freed(struct scheduler *s, pod_id pod, node_id node); /* while it is still there */
void wake_nominated(struct scheduler *s, node_id node);		/* those who wait for room there */
void wake_group(struct scheduler *s, group_id group, pod_id but);
void say(struct scheduler *s, bool is_warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static inline const char *str_of(const struct scheduler *s, name_id id)
{
	return name_str(s->names, id);
}
name_id pod_ns(const struct scheduler *s, const struct pod *p);

/* ---- decide.c ---- */
bool decide_pods(struct scheduler *s);
bool decide_plan(struct scheduler *s);
/* So much was decided and is not written yet that more has to wait. */
bool decide_is_full(const struct scheduler *s);

/* ---- task.c ---- */
struct task *task_new(struct scheduler *s, enum task_kind kind, pod_id pod); /* pod may be POD_NONE */
void task_send(struct scheduler *s, struct task *t, struct kube_write *w);   /* empties w */
void task_write(struct scheduler *s, enum task_kind kind,
		struct kube_write *w);		      /* of no pod, when its turn comes; empties w */
void task_pause(struct scheduler *s, struct task *t); /* the step again, after a pause that grows */
void task_at(struct scheduler *s, struct task *t, int64_t steady_ns);
void task_end(struct scheduler *s, struct task *t); /* at once, or when its answer has come */
void task_free(struct scheduler *s, struct task *t);
void task_until_kept(struct scheduler *s, struct task *t);
void tasks_tick(struct scheduler *s);
int64_t tasks_next_ns(const struct scheduler *s); /* steady: when the first of them is due */
void tasks_init(struct scheduler *s);
uint32_t tasks_in_flight(const struct scheduler *s); /* requests; events not counted */
bool tasks_take(struct scheduler *s, const struct kube_news *n);
void tasks_drop(struct scheduler *s); /* all of them */
/* Could it go well if it was sent again? */
static inline bool is_worth_retrying(const struct kube_news *n)
{
	return n->result == KUBE_RETRYABLE || n->result == KUBE_THROTTLED;
}

/* ---- bind.c ---- */
void bind_begin(struct scheduler *s, pod_id pod, node_id node, struct gang_bind *gang);
void bind_step(struct scheduler *s, struct task *t);
void bind_answer(struct scheduler *s, struct task *t, const struct kube_news *n);
void bind_observed(struct scheduler *s, pod_id pod); /* its object has a node */
void bind_gone(struct scheduler *s, pod_id pod);
void bind_undo(struct scheduler *s, struct task *t, const char *why, bool at_once);
void bind_send(struct scheduler *s, struct task *t);

/* ---- evict.c ---- */
void evict_begin(struct scheduler *s, const struct decision *d, const struct text *words, uint64_t ticket);
void evict_step(struct scheduler *s, struct task *t);
void evict_answer(struct scheduler *s, struct task *t, const struct kube_news *n);
void evict_observed(struct scheduler *s, pod_id victim); /* its object changed */
void evict_gone(struct scheduler *s, pod_id victim);
void evict_preemptor_gone(struct scheduler *s, pod_id preemptor); /* gone, bound, or nominated elsewhere */
/* It cannot be carried out: the pod gives its nomination up and looks anew; after an error it backs off. */
void evict_plan_failed(struct scheduler *s, pod_id preemptor, bool is_error);
void evict_release(struct scheduler *s, pod_id preemptor); /* its nomination is written */
void evict_unlink(struct scheduler *s, struct task *t);	   /* it is nobody's any more */

/* ---- status.c ---- */
void status_unschedulable(struct scheduler *s, pod_id pod, const char *message);
void status_error(struct scheduler *s, pod_id pod, const char *message);
void status_sync_nominations(struct scheduler *s);
void status_answer(struct scheduler *s, struct task *t, const struct kube_news *n);
/* A pod that has its place waits for its volumes: whoever comes after us finds it. */
void status_nominate(struct scheduler *s, pod_id pod, name_id node);
void status_step(struct scheduler *s, struct task *t);
void status_gone(struct scheduler *s, pod_id pod);

/* ---- report.c ---- */
/* The message of a pod that waits, as kube-scheduler writes it, with what keeps it from preempting at the end. */
void report_message(const struct plan_view *v, const struct decision *d, struct text *out);
void report_pod_event(struct scheduler *s, pod_id pod, const char *type, const char *reason, const char *action,
		      const char *note, pod_id related);
struct events *report_recorder(struct scheduler *s, const struct pod *p);
void report_event(struct scheduler *s, struct events *v, const struct kube_event *e);
void report_flush(struct scheduler *s);
void report_early(struct scheduler *s); /* what happened before it led */

/* ---- group.c ---- */
void group_placed(struct scheduler *s, group_id group); /* a member got its place: the start is written down */
void groups_tick(struct scheduler *s);

/* ---- quota_wait.c ---- */
const struct bits *quota_held(struct scheduler *s); /* and sets quota_ns */

/* ---- gang_bind.c ---- */
struct gang_bind *gang_bind_for(struct scheduler *s, pod_id pod);
void gang_bind_ended(struct scheduler *s, struct gang_bind *g, bool is_bound, const char *why);
void gang_binds_free(struct scheduler *s);
void gang_binds_tick(struct scheduler *s);
int64_t gang_binds_next_ns(const struct scheduler *s);
