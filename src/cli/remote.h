/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.h - asking a running `cede run` or `cede serve`.
 */
#pragma once

#include <argp.h>

#include "base/err.h"
#include "base/text.h"

struct remote {
	const char *url; /* NULL: not given */
	const char *token_file, *ca_file;
};
extern const struct argp remote_argp; /* --server, --token-file, --ca-file; its input is the struct remote */

/* What stands under the path, which begins with '/'. The server's own words if it refuses. */
enum err_code remote_get(const struct remote *r, const char *path, struct text *ret, struct err *e);
/* A part of a path or of a query; '/' stays. */
void remote_escape(const char *s, struct text *out);
