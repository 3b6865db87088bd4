/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_internal.h - what the files of run/ share that make up the daemon; for them alone. */
#pragma once

#include <sys/types.h>

#include "run/daemon.h"

enum { DEFAULT_QUEUES, QUEUES, SETTINGS, MAP_COUNT }; /* of kube_config_maps */

struct config_map {
	char *text, *uid; /* heap; text NULL: it says nothing */
	bool is_new;	  /* since the settings were read last */
};

struct face;
struct self_check;

struct line_flow { /* lines of one kind: so many at once, and so many a second in the long run */
	double spent;
	int64_t at_ns; /* steady: when that was so */
	uint64_t n_left_out;
};

struct kept_cluster {	   /* what the journal has of the cluster */
	bool has_one;	   /* from this life; it may be on its way */
	int64_t due_ns;	   /* steady: of the next */
	pid_t pid;	   /* who writes one; 0: nobody */
	int fd;		   /* where to, as long as somebody does */
	int64_t at_ns;	   /* wall: of which time it is */
	uint64_t n_handed; /* over to the journal, so far */
	bool is_handed;	   /* the last of them is not written yet */
	struct text gone;  /* pods that ran and are gone since the last: manifests, a line each */
	size_t n_gone;	   /* how much of it is in the one that is on its way */
};

struct daemon {
	const struct daemon_options *o;
	struct face *face;
	struct clock steady, wall;
	struct kube_client *client;
	const char *ns;
	char identity[128];
	struct config_map maps[MAP_COUNT];
	bool wants_settings; /* they may have changed */
	struct world *next;  /* takes the place of the scheduler's when that is drained */
	struct scheduler *scheduler;
	struct lease *lease; /* NULL: none */
	uint64_t lease_request, lease_ticket;
	bool leads, is_ending;
	bool has_failed; /* it cannot go on */
	int64_t end_ns;	 /* steady: drained or not, it ends then */
	int signals, clock_set;
	struct journal_live *journal; /* NULL: none */
	bool is_journal_settled, has_journal_problem;
	uint64_t n_journal_lost;
	struct kept_cluster kept;
	struct self_check *check; /* NULL: none is made */
	struct map told;	  /* hash of a pod's name -> hash of what was said of it last */
	struct line_flow decision_lines, warning_lines;
};

/* ---- settings.c ---- */
void settings_map_changed(struct daemon *d, const char *name, const char *uid, const struct tree *map);
/* Builds a world from what is there now. All or nothing. */
enum err_code settings_build(struct daemon *d, struct world **ret, struct err *e);
void settings_refused(struct daemon *d, const struct err *e); /* says so, on the object that is to blame */
/* Queues, groups and classes are settings too: says so on the object. */
void settings_object_refused(struct daemon *d, const struct kube_object *o, const char *words);
void settings_free(struct daemon *d);

/* ---- leader.c ---- */
enum err_code leader_start(struct daemon *d, struct err *e);
bool leader_take(struct daemon *d, const struct kube_news *n); /* false: not its business */
void leader_tick(struct daemon *d);
int64_t leader_next_ns(const struct daemon *d);
void leader_release(struct daemon *d); /* and waits for the answer a little */

/* ---- self_check.c ---- */
void self_check_begin(struct daemon *d);			   /* nothing happens while one is made */
void self_check_end(struct daemon *d);				   /* whether it was made or not */
bool self_check_take(struct daemon *d, const struct kube_news *n); /* false: not for it */
void self_check_tick(struct daemon *d);
int64_t self_check_next_ns(const struct daemon *d);

struct journal_live;

/* ---- lines.c ---- */
/* false: the same was said of the pod before. */
bool lines_decision(struct daemon *d, const struct plan_view *v, const struct decision *x);
void lines_said(struct daemon *d, bool is_warning, const char *words);

struct moment daemon_now(const struct daemon *d);
/* Another scheduler in the place of the present one; everything is listed anew. The world is moved in. */
void daemon_follow(struct daemon *d, struct world *w);
