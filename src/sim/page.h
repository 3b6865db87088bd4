/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a report as one page that needs nothing else: its sources (web/report) are in the program, around the data.
 */
#pragma once

#include "base/err.h"
#include "base/text.h"

extern const char report_page_head[], report_page_tail[]; /* made by tools/embed */

/* Writes the page with this JSON in it to a file, whole or not at all. */
enum err_code page_write(const char *path, const struct text *json, struct err *e);
/* The JSON so that no name in it can end the element it stands in. */
void page_add_data(struct text *out, const char *json, size_t n);
