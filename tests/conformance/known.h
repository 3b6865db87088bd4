/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - facts cede departs from on purpose: a YAML list of
 *
 *	- id: k8s/some-group/012
 *	  requirement: KF-6
 *	  because: a sentence
 *	  instead: what cede does, as the run tells it when it is not so; up to there, if it ends in " ..."
 *
 * Such a fact is run all the same. It counts as skipped while it differs in just this way; once it does not, or differs
 * in another, the run fails: the list cannot rot, and cannot hide a mistake behind a difference.
 */
#pragma once

#include "base/array.h"
#include "base/err.h"
#include "manifest/tree.h"

struct known_difference {
	const char *id, *requirement, *because, *instead;
	bool is_seen;
};

struct known {
	struct arena *arena;
	ARRAY(struct known_difference) v;
};

enum err_code known_read(struct known *k, const char *path, struct err *e);
void known_free(struct known *k);
struct known_difference *known_find(const struct known *k, const char *id); /* NULL */
bool known_is_so(const struct known_difference *d, const char *instead);

/* A whole file, NUL-terminated; freed with mem_free. */
enum err_code file_read(const char *path, char **ret, size_t *ret_len, struct err *e);
