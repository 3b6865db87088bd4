/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reports.h - reports of simulations that are served: the data of pages that simulate, compare and advise write with
 * --report, and of a simulation that is served itself.
 */
#pragma once

#include "base/err.h"
#include "base/text.h"

struct report_entry {
	char *title, *kind, *file; /* kind: Simulation, Comparison, Advice; file: its last name, "" if it is none */
	struct text json;
};

struct reports;

struct reports *reports_new(void);
void reports_free(struct reports *r); /* NULL is fine */
/* JSON of a report; moved if it is one. name is for messages, file for the list. */
enum err_code reports_add(struct reports *r, const char *name, const char *file, struct text *json, struct err *e);
/* A page that --report wrote: its data is taken, its scripts are not. */
enum err_code reports_add_page(struct reports *r, const char *path, struct err *e);

uint32_t reports_count(const struct reports *r); /* of NULL: 0 */
const struct report_entry *reports_get(const struct reports *r, uint32_t i);
