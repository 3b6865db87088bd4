/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_internal.h - what the files of the scenario share.
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "manifest/fields.h"
#include "sim/scenario.h"

struct scenario {
	struct arena *arena;
	const char *path;
	const struct tree *root;
	bool has_objects; /* other documents in the same file */
	int64_t from_ns;
	const char *until;
	ARRAY(const char *) files;
	ARRAY(struct sim_event) events;
	struct text nodes;
	struct map node_names; /* hashes of those that were read */
};

/* For messages of the scenario's file; v may be NULL where no names are read. */
struct reader scenario_reader(const struct scenario *s, struct vocab *v);
