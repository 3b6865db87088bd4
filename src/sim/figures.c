/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/figures.h"

#include <inttypes.h>
#include <math.h>

#include "units/duration.h"

const struct figure_info figure_infos[FIGURES] = {
	[FIGURE_FINISHED] = {"finished", "pods finished", UNIT_COUNT, 1, false},
	[FIGURE_EVICTIONS] = {"evictions", "evictions", UNIT_COUNT, -1, false},
	[FIGURE_REPEATED] = {"repeatedEvictions", "repeated evictions", UNIT_COUNT, -1, false},
	[FIGURE_LOST] = {"lostSeconds", "lost work", UNIT_POD_TIME, -1, false},
	[FIGURE_WAIT_MEAN] = {"waitMeanSeconds", "waiting, mean", UNIT_TIME, -1, false},
	[FIGURE_WAIT_P95] = {"waitP95Seconds", "waiting, p95", UNIT_TIME, -1, false},
	[FIGURE_WAIT_HIGH] = {"waitHighSeconds", "waiting of the highest priority, p95", UNIT_TIME, -1, true},
	[FIGURE_BELOW] = {"belowGuaranteeSeconds", "below guarantee", UNIT_TIME, -1, false},
	[FIGURE_USE] = {"utilisation", "utilisation", UNIT_PART, 1, false},
	[FIGURE_FAIRNESS] = {"fairness", "fairness", UNIT_INDEX, 1, true},
};

/* ---- from an outcome ---- */

/* The type of which most is used, of those that are asked for; in most clusters the one that is scarce. */
static res_id main_type(const struct sim_outcome *o)
{
	res_id best = 0;

	for (res_id r = 0; r < o->n_types; r++)
		if (r != RES_PODS && outcome_utilisation(o, &o->totals, r) > outcome_utilisation(o, &o->totals, best))
			best = r;
	return best;
}

static void take_counts(double *v, const struct sim_outcome *o, struct outcome_counts *c, res_id type)
{
	v[FIGURE_FINISHED] = (double)c->finished;
	v[FIGURE_EVICTIONS] = (double)c->evictions;
	v[FIGURE_REPEATED] = (double)c->repeated_evictions;
	v[FIGURE_LOST] = outcome_seconds(c->lost_sum);
	v[FIGURE_WAIT_MEAN] = times_mean(&c->waits);
	v[FIGURE_WAIT_P95] = times_quantile(&c->waits, 0.95);
	v[FIGURE_BELOW] = outcome_seconds(c->below_guarantee_sum);
	v[FIGURE_USE] = outcome_utilisation(o, c, type);
}

void figures_take(struct figures *ret, struct sim_outcome *o, struct report_log *l)
{
	struct report_priority *high = report_log_high(l);
	res_id type = main_type(o);

	*ret = (struct figures){
		.starts = o->totals.starts, .is_complete = o->is_complete, .from_ns = o->from_ns, .to_ns = o->to_ns};
	take_counts(ret->total, o, &o->totals, type);
	ret->total[FIGURE_FAIRNESS] = outcome_fairness(o);
	if (high) {
		ret->has_high = true;
		ret->high_priority = high->priority;
		ret->total[FIGURE_WAIT_HIGH] = times_quantile(&high->waits, 0.95);
	}
	for (uint32_t i = 0; i < o->n_queues; i++) {
		struct figures_queue q = {.path = mem_strdup(o->queues[i].path)};

		ret->has_guarantees |= o->queues[i].has_guarantee && o->queues[i].counts.submitted;
		take_counts(q.v, o, &o->queues[i].counts, type);
		array_push(&ret->queues, q);
	}
}

void figures_free(struct figures *f)
{
	for (uint32_t i = 0; i < f->queues.n; i++)
		mem_free(f->queues.v[i].path);
	array_free(&f->queues);
}

const struct figures_queue *figures_find(const struct figures *f, const char *path)
{
	for (uint32_t i = 0; i < f->queues.n; i++)
		if (str_eq(f->queues.v[i].path, path))
			return &f->queues.v[i];
	return NULL;
}

/* ---- between processes ---- */

struct figures_head {
	double total[FIGURES];
	uint64_t starts, digest;
	int64_t from_ns, to_ns;
	int32_t high_priority;
	uint32_t n_queues;
	bool has_high, is_complete, has_guarantees;
};

static bool put(FILE *to, const void *p, size_t n)
{
	return fwrite(p, 1, n, to) == n;
}

static bool get(FILE *from, void *p, size_t n)
{
	return fread(p, 1, n, from) == n;
}

bool figures_write(const struct figures *f, FILE *to)
{
	struct figures_head h;

	memset(&h, 0, sizeof(h));
	memcpy(h.total, f->total, sizeof(h.total));
	h.starts = f->starts;
	h.digest = f->digest;
	h.from_ns = f->from_ns;
	h.to_ns = f->to_ns;
	h.high_priority = f->high_priority;
	h.n_queues = f->queues.n;
	h.has_high = f->has_high;
	h.is_complete = f->is_complete;
	h.has_guarantees = f->has_guarantees;
	if (!put(to, &h, sizeof(h)))
		return false;
	for (uint32_t i = 0; i < f->queues.n; i++) {
		uint32_t n = (uint32_t)strlen(f->queues.v[i].path);

		if (!put(to, &n, sizeof(n)) || !put(to, f->queues.v[i].path, n) ||
		    !put(to, f->queues.v[i].v, sizeof(f->queues.v[i].v)))
			return false;
	}
	return true;
}

static bool read_queue(struct figures_queue *ret, FILE *from)
{
	uint32_t n;

	if (!get(from, &n, sizeof(n)) || n > 1 << 20)
		return false;
	ret->path = mem_alloc((size_t)n + 1);
	if (get(from, ret->path, n) && get(from, ret->v, sizeof(ret->v)))
		return true;
	mem_free(ret->path);
	return false;
}

bool figures_read(struct figures *ret, FILE *from)
{
	struct figures_head h;
	struct figures f = {0};

	if (!get(from, &h, sizeof(h)))
		return false;
	memcpy(f.total, h.total, sizeof(f.total));
	f.starts = h.starts;
	f.digest = h.digest;
	f.from_ns = h.from_ns;
	f.to_ns = h.to_ns;
	f.high_priority = h.high_priority;
	f.has_high = h.has_high;
	f.is_complete = h.is_complete;
	f.has_guarantees = h.has_guarantees;
	for (uint32_t i = 0; i < h.n_queues; i++) {
		struct figures_queue q;

		if (!read_queue(&q, from)) {
			figures_free(&f);
			return false;
		}
		array_push(&f.queues, q);
	}
	*ret = f;
	return true;
}

/* ---- words ---- */

static void add_grouped(struct text *out, double v)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%.0f", v < 1e18 ? v : 1e18);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text_add_char(out, ',');
		text_add_char(out, digits[i]);
	}
}

static void add_time(struct text *out, double seconds)
{
	if (seconds > 0 && seconds < 10)
		text_printf(out, "%.1fs", seconds);
	else
		duration_text_short(seconds < 9e9 ? (int64_t)(seconds * 1e9) : INT64_MAX, out);
}

void figure_text(enum figure_unit unit, double v, struct text *out)
{
	switch (unit) {
	case UNIT_COUNT:
		add_grouped(out, v);
		break;
	case UNIT_TIME:
		add_time(out, v);
		break;
	case UNIT_POD_TIME:
		if (v < 36000)
			text_printf(out, "%.1f h", v / 3600);
		else {
			add_grouped(out, v / 3600);
			text_add(out, " h");
		}
		break;
	case UNIT_PART:
		text_printf(out, "%.1f %%", v * 100);
		break;
	case UNIT_INDEX:
		text_printf(out, "%.3f", v);
		break;
	case UNIT_RATIO:
		text_printf(out, "%.2f", v);
		break;
	}
}

void figure_change_text(enum figure_unit unit, double v, struct text *out)
{
	struct text size = {0}, none = {0};

	figure_text(unit, fabs(v), &size);
	figure_text(unit, 0, &none);
	if (!str_eq(text_str(&size), text_str(&none))) /* less than is shown has no direction */
		text_add(out, v < 0 ? "-" : "+");
	text_add(out, text_str(&size));
	text_free(&size);
	text_free(&none);
}

struct figure_spread figure_spread_of(const double *v, uint32_t n)
{
	struct figure_spread s = {.min = v[0], .max = v[0]};

	for (uint32_t i = 0; i < n; i++) {
		s.mean += v[i] / n;
		s.min = v[i] < s.min ? v[i] : s.min;
		s.max = v[i] > s.max ? v[i] : s.max;
	}
	return s;
}

void figure_spread_emit(struct emit *e, const char *key, const struct figure_spread *s)
{
	emit_object(e, key);
	emit_double(e, "mean", s->mean);
	emit_double(e, "min", s->min);
	emit_double(e, "max", s->max);
	emit_end(e);
}

void figure_infos_emit(struct emit *e)
{
	static const char *const units[] = {"count", "seconds", "podSeconds", "part", "index"};

	emit_list(e, "figures");
	for (int i = 0; i < FIGURES; i++) {
		emit_object(e, NULL);
		emit_str(e, "key", figure_infos[i].key);
		emit_str(e, "title", figure_infos[i].title);
		emit_str(e, "unit", units[figure_infos[i].unit]);
		emit_str(e, "better", figure_infos[i].better < 0 ? "less" : "more");
		emit_end(e);
	}
	emit_end(e);
}
