/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_change.h - settings and objects that change while a simulation runs.
 */
#pragma once

#include "sim/sim_internal.h"

/*
 * Documents of the event: CedeConfiguration on top of the settings in force, queues (of one source, all of them: they
 * replace those there are), Nodes, PodDisruptionBudgets, PriorityClasses, Namespaces. Pods of settings that changed are
 * resolved again. All of it, or an error and nothing.
 */
enum err_code sim_change(struct sim *s, const struct sim_event *ev, struct err *e);
