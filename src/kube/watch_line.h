/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_line.h - one line of a watch, and one object in it or in a list, as far as everybody needs it.
 */
#pragma once

#include "kube/reflector.h"

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

struct watch_line {
	enum watch_type type;
	struct kube_object object; /* of a bookmark only the version; of an error nothing */
	bool ends_list;		   /* a bookmark: all that was there at the beginning is told */
	int error_code;		   /* of the Status in an error; 0 if it says none */
	const char *error;	   /* its message; "" */
};

/* ERR_INPUT: it is not a line of a watch. Everything lives in a. */
enum err_code watch_line_parse(const char *data, size_t len, struct arena *a, struct watch_line *ret, struct err *e);
/* metadata of an object; ERR_INPUT: it has no name or no resourceVersion. */
enum err_code kube_object_of(const struct tree *t, struct kube_object *ret, struct err *e);
