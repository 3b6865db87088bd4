/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_gang.h - what pods say of gangs that have no PodGroup. Inside manifest/ only.
 */
#pragma once

#include "manifest/object.h"

/* Fills group and gang, if the pod names no PodGroup and says something. Its application must have been read. */
void pod_gang(const struct reader *r, const struct at *meta, struct obj_pod *o);
