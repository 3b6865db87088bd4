/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_view_text.h - what the writers of the view's tables share. For cluster_view_*.c only.
 */
#pragma once

#include "base/arena.h"
#include "explain/cluster_view.h"

enum { LINES_MAX = 40 }; /* of a list that is not wide */

struct view_page {
	const struct cluster_view *v;
	const struct look *look;
	bool is_wide;
	struct text *out;
	struct arena *arena; /* words that live as long as the page is written */
};

const char *page_type_title(const struct view_page *p, res_id r); /* "GPU" */
const char *page_amount(const struct view_page *p, res_id r, int64_t amount);
void page_note(struct text *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* ", " between them */
void page_section(const struct view_page *p, const struct table *t,
		  uint32_t n_left_out);	    /* nothing if there are no rows */
void page_nodes(const struct view_page *p); /* cluster_view_nodes.c */
