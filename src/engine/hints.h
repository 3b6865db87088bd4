/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.h - which event may wake a pod that a plugin refused: a table, plugin by plugin, as kube-scheduler has it.
 *
 * The functions are callbacks for the queue of waiting pods (waiting.h), with a struct hints as their context:
 *
 *	struct hints h = {engine};
 *	struct waiting_options o = hints_options(&h);
 *	struct waiting *w = waiting_new(ledger, &o);
 *
 * A plugin without a row (one that was loaded from a file) is worth another try after every event. Events speak of the
 * ledger as it is when they are told; what an object was before comes with the event. Not to be called while an attempt
 * is under way.
 */
#pragma once

#include "engine/engine.h"
#include "engine/waiting.h"

struct hints {
	struct engine *engine;
};

enum hint hints_ask(const void *hints, const char *plugin, pod_id pod, const struct cluster_event *ev);
bool hints_interest(const void *hints, const char *plugin, const struct cluster_event *ev);
/* The first PreEnqueue plugin of the pod's profile that refuses it. */
const char *hints_gate(const void *hints, pod_id pod);
/* Everything above and the engine's backoffs; h is borrowed. */
struct waiting_options hints_options(const struct hints *h);
