/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yunikorn_world.h - the cluster of a fact about YuniKorn: its queues, nodes, what runs, and the pod that waits.
 *
 * Amounts have types of plain names, which become extended resources; `pods` counts on nodes only where the waiting pod
 * states it, because in cede every pod takes a slot. Facts say which pods are originators; cede takes the oldest pod of
 * an application for its driver, so applications without an originator fall apart into pods of their own. An
 * allocation that its application does not list is nobody's victim and takes room all the same: another scheduler's
 * pod. Queues are put as they are, also such that a queues.yaml would not pass with.
 */
#pragma once

#include "engine/engine.h"
#include "rules/judge.h"
#include "world.h"

struct yuni_options {
	bool is_slow;	       /* the waiting pod uses a port: all filters are asked, not the resources alone */
	bool ask_fills_node;   /* it wants all its node has */
	bool ask_stands_alone; /* it is of no application */
};

struct yuni_world {
	struct world w;
	struct yuni_options o;
	pod_id ask; /* POD_NONE if the fact has none */
	struct engine *engine;
	struct decisions plan;
	struct judge_scratch scratch;
};

/* On false what differs was said, and the world is open all the same. */
bool yuni_open(struct yuni_world *y, struct fact *f, const struct yuni_options *o);
void yuni_close(struct yuni_world *y);

queue_id yuni_queue(const struct yuni_world *y, const char *path); /* of the fact, with or without root */
res_id yuni_type(struct yuni_world *y, const char *name);	   /* known or new */
void yuni_amounts(struct yuni_world *y, const struct tree *map, struct res_vec *ret); /* all the map states */
/* Compared by type; nothing expected (null) is the same as nothing got. */
void yuni_same_amounts(struct yuni_world *y, const char *what, const struct tree *expected, const struct res_vec *got);

/* One cycle. False: it failed. */
bool yuni_plan(struct yuni_world *y);
/* The decision about the waiting pod. */
const struct decision *yuni_decision(const struct yuni_world *y);
/* Names of pods, as a set unless is_ordered; nothing expected (NULL) is not compared. */
void yuni_same_victims(struct yuni_world *y, const char *what, const struct tree *expected, const struct victim *v,
		       uint32_t n, bool is_ordered);
/* yunikorn_preemption.c: what cede is expected to do. */
const struct tree *yuni_expected(struct fact *f);
