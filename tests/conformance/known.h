/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - facts cede departs from on purpose: a YAML list of
 *
 *	- id: k8s/some-group/012
 *	  requirement: KF-6
 *	  because: a sentence
 *
 * Such a fact is run all the same. It counts as skipped while it differs; once it does not, the run fails, so that the
 * list cannot rot.
 */
#pragma once

#include "base/array.h"
#include "base/err.h"
#include "manifest/tree.h"

struct known_difference {
	const char *id, *requirement, *because;
	bool is_seen;
};

struct known {
	struct arena *arena;
	ARRAY(struct known_difference) v;
};

enum err_code known_read(struct known *k, const char *path, struct err *e);
void known_free(struct known *k);
struct known_difference *known_find(const struct known *k, const char *id); /* NULL */

/* A whole file, NUL-terminated; freed with mem_free. */
enum err_code file_read(const char *path, char **ret, size_t *ret_len, struct err *e);
