/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volumes.h - what a pod's unbound claims get is written before the pod is bound, and waited for (VO-3).
 */
#pragma once

#include "run/scheduler_internal.h"

struct volume_write {	   /* one claim */
	name_id ns, claim; /* held */
	name_id volume;	   /* held; NAME_NONE: to be provisioned on the node */
	bool is_written;
};

/* false: there is nothing to be done for it. */
bool volumes_begin(struct scheduler *s, struct task *t);
void volumes_step(struct scheduler *s, struct task *t);
void volumes_answer(struct scheduler *s, struct task *t, const struct kube_news *n);
/* A claim or a volume changed: whoever waits looks. */
void volumes_changed(struct scheduler *s);
void volume_writes_free(struct scheduler *s, struct task *t);
