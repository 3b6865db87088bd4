/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_ahead.h - documents that another thread reads ahead.
 *
 * Of a large input, one thread makes trees while another turns the trees before them into objects. Documents come in
 * the order they stand in, with the errors that reading them one by one would have given: what is read does not depend
 * on threads. A small input, or one for which there is no thread, is read in place.
 */
#pragma once

#include "manifest/tree.h"

struct tree_ahead;

/* The reader stays the caller's and is not used by others until tree_ahead_free. len: bytes of its input. */
struct tree_ahead *tree_ahead_new(struct tree_reader *r, size_t len);
/* As tree_next. What was returned is good until the next call. */
enum err_code tree_ahead_next(struct tree_ahead *t, struct tree_doc *ret, struct err *e);
void tree_ahead_free(struct tree_ahead *t); /* at any time: the other thread ends */
