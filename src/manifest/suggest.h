/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - what somebody may have meant who named something that is not there: "; did you mean ml/train-0?", or
 * nothing if nothing is near. Appended to the message that it is not there.
 */
#pragma once

#include "cluster/cluster.h"

/* Pods and groups: those of the same name in other namespaces, else the nearest name, else that in any namespace. */
void suggest_pod(const struct cluster *c, const char *ns, const char *name, struct text *out);
void suggest_node(const struct cluster *c, const char *name, struct text *out);
void suggest_queue(const struct cluster *c, const char *path, struct text *out);
/* Queues whose path ends in this name; nothing if there are none. */
void suggest_queue_named(const struct cluster *c, const char *name, struct text *out);
/* False: there is one of that name, or something is in it. */
bool suggest_namespace(const struct cluster *c, const char *name, struct text *out);
