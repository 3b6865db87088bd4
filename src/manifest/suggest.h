/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - what somebody may have meant who named something that is not there: "; did you mean ml/train-0?", or
 * nothing if nothing is near. Appended to the message that it is not there.
 */
#pragma once

#include "cluster/cluster.h"

/* Pods and groups: first those of the same name in other namespaces, else the nearest name. */
void suggest_pod(const struct cluster *c, const char *ns, const char *name, struct text *out);
void suggest_node(const struct cluster *c, const char *name, struct text *out);
void suggest_queue(const struct cluster *c, const char *path, struct text *out);
