/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counters, gauges and histograms with labels, and their text for Prometheus (exposition format 0.0.4).
 *
 *	metrics_add(m, METRIC_VICTIMS, 1, METRIC_LABELS("reclaim", "root.ads"));
 *	metrics_set(m, METRIC_WATCH_LAG, 0.2, NULL);
 *	metrics_observe(m, METRIC_WRITE_SECONDS, 0.0004, METRIC_LABELS("bind"));
 *
 * What there is says metric_table.h; as many labels are given as its row has (asserted). Label values are copied and
 * may be any text. A metric without labels is shown from the start, one with labels from its first use. At most
 * METRICS_MAX_SERIES label sets are kept for each metric: what comes after them is counted under the label value
 * "other", so that names made up by somebody cannot fill the memory. Any thread; m may be NULL, then nothing happens.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "serve/metric_table.h"

enum metric_id {
#define METRIC_ENUM(id, kind, name, a, b, c, help) METRIC_##id,
	METRIC_TABLE(METRIC_ENUM)
#undef METRIC_ENUM
		METRIC_COUNT
};

enum { METRICS_MAX_SERIES = 4096, METRIC_MAX_LABELS = 3 };
#define METRIC_LABELS(...) ((const char *const[METRIC_MAX_LABELS + 1]){__VA_ARGS__})

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

void metrics_add(struct metrics *m, enum metric_id id, double by, const char *const *labels);
void metrics_set(struct metrics *m, enum metric_id id, double value, const char *const *labels);
void metrics_observe(struct metrics *m, enum metric_id id, double value, const char *const *labels);
/* The same value n times. */
void metrics_observe_n(struct metrics *m, enum metric_id id, double value, uint32_t n, const char *const *labels);
/* Forgets every label set, for gauges that are set anew as a whole. */
void metrics_clear(struct metrics *m, enum metric_id id);

double metrics_get(struct metrics *m, enum metric_id id, const char *const *labels); /* histograms: how many; else 0 */
/* Of a histogram without labels: the bound that so many are not above; 0 if there are none. */
double metrics_quantile(struct metrics *m, enum metric_id id, double fraction);
/* In the order of the table, label sets in the order of their bytes. */
void metrics_text(struct metrics *m, struct text *out);
/* What the operating system knows of this process (process_*). */
void metrics_read_process(struct metrics *m);

const char *metric_name(enum metric_id id);
