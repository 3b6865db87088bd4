/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volumes.h - what a pod's unbound claims get is written before the pod is bound, and waited for (VO-3).
 *
 * A volume that was chosen gets the claim in its claimRef, a claim that needs a new one the annotation selected-node;
 * each for the version of the object that was looked at. Then the volume controller or the provisioner works, and the
 * pod's bind waits until every claim is bound. If that fails, or takes longer than the plugin's bindTimeoutSeconds,
 * what was written is taken back where it came to nothing, and the pod is tried again. For run/ alone.
 */
#pragma once

#include "run/scheduler_internal.h"

struct volume_write {	   /* one claim */
	name_id ns, claim; /* held */
	name_id volume;	   /* held; NAME_NONE: to be provisioned on the node */
	bool is_written;
	bool is_seen; /* the watch has shown what was written */
};

/* false: there is nothing to be done for it. */
bool volumes_begin(struct scheduler *s, struct task *t);
void volumes_step(struct scheduler *s, struct task *t);
void volumes_answer(struct scheduler *s, struct task *t, const struct kube_news *n);
/* A claim or a volume changed: whoever waits looks. */
void volumes_changed(struct scheduler *s);
void volume_writes_free(struct scheduler *s, struct task *t);
