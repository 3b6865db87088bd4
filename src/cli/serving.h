/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serving.h - a simulation that is served: it is run to its end, and then the cluster as it is there, every decision
 * that was taken on the way, what queues used, and its report can be looked at.
 */
#pragma once

#include "cli/simulating.h"
#include "serve/reports.h"
#include "serve/serve.h"
#include "serve/usage.h"

struct serving { /* what is filled; borrowed */
	struct serve_log *log;
	struct usage *usage;
	struct reports *reports;
};

/* 0, or an exit code after the error was told. simulated_free(ret) in any case; the cluster stays in it until then. */
int serving_simulate(const struct simulating *o, const struct serving *into, struct simulated *ret);
