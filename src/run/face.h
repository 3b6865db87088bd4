/* SPDX-License-Identifier: Apache-2.0 */
/*
 * face.h - what a daemon shows: its HTTP server, its metrics, and the log of what it decided.
 *
 * Everything here is for the daemon's thread. Metrics are counted also where nothing listens.
 */
#pragma once

#include "run/daemon_internal.h"

struct face;

/* Counts; listens only after face_listen. */
struct face *face_new(const struct daemon *d);
enum err_code face_listen(struct face *f, struct err *e);
void face_free(struct face *f); /* NULL is fine */

int face_fd(const struct face *f); /* -1: nothing listens */
void face_answer(struct face *f);  /* those who ask */

/* ---- what happened ---- */
void face_decided(struct face *f, const struct plan_view *v, const struct decision *x, const struct moment *now);
void face_turn_ended(struct face *f, uint32_t n_decisions, int64_t took_ns);
void face_wrote(struct face *f, enum task_kind k, const struct kube_news *n);
void face_bound(struct face *f, const char *uid, const char *error, const struct moment *now);
void face_undone(struct face *f, const char *reason);
void face_gang(struct face *f, const char *outcome);
void face_theirs(struct face *f, const struct their_placement *p); /* in a shadow: what they did */
void face_checked(struct face *f, uint32_t n_differences);	   /* a self check ended */
void face_requested(struct face *f, const struct kube_news *n);	   /* any request that ended */
void face_object_refused(struct face *f, const char *kind);
void face_settings(struct face *f, const char *refused); /* where from; NULL: they are in force */
void face_leads(struct face *f);			 /* or not any more */
