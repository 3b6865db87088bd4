/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evictions.h - who had to go in a run: each pod once, at the first decision that wants it gone, in the order of the
 * decisions; nobody who was leaving before.
 */
#pragma once

#include "base/array.h"
#include "base/names.h"
#include "journal/journal.h"

struct eviction { /* borrowed from the run */
	const struct journal_decision *by;
	const struct journal_victim *victim;
};
typedef ARRAY(struct eviction) eviction_list;

void evictions_of(const struct journal_run *run, eviction_list *out); /* appends */

/* From a name to a position. Zero-initialised is empty; to be freed. */
struct name_index {
	struct names *names;
	ARRAY(uint32_t) at; /* by name id */
};
#define INDEX_NONE UINT32_MAX
void name_index_put(struct name_index *x, const char *name, uint32_t position); /* replaces */
uint32_t name_index_get(const struct name_index *x, const char *name);		/* INDEX_NONE if absent */
void name_index_free(struct name_index *x);
