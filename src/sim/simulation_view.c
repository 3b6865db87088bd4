/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/simulation_view.h"

#include <inttypes.h>

#include "base/clock.h"
#include "sim/figures.h"
#include "sim/report.h"
#include "units/duration.h"
#include "units/timestamp.h"

void simulation_span_text(const struct simulation_view *v, struct text *out)
{
	const struct sim_outcome *o = sim_get_outcome(v->sim);

	timestamp_text(time_floor(o->from_ns, NS_PER_S), out);
	text_add(out, " to ");
	timestamp_text(time_floor(o->to_ns, NS_PER_S), out);
	text_add(out, " (");
	duration_text_short(time_since(o->to_ns, o->from_ns), out);
	text_printf(out, "), seed %" PRIu64, v->seed);
}

/* ---- text ---- */

enum cell {
	CELL_PODS,
	CELL_FINISHED,
	CELL_WAIT50,
	CELL_WAIT95,
	CELL_WAITMAX,
	CELL_SLOWDOWN,
	CELL_EVICTIONS,
	CELL_REPEATED,
	CELL_MOST,
	CELL_LOST,
	CELL_USE,
	CELL_BELOW,
	CELL_REACHED,
	CELLS
};

static const struct {
	const char *title;
	enum figure_unit unit;
	bool is_wide;
} cells[CELLS] = {
	[CELL_PODS] = {"PODS", UNIT_COUNT, false},	  [CELL_FINISHED] = {"FINISHED", UNIT_COUNT, false},
	[CELL_WAIT50] = {"WAIT P50", UNIT_TIME, false},	  [CELL_WAIT95] = {"P95", UNIT_TIME, false},
	[CELL_WAITMAX] = {"MAX", UNIT_TIME, true},	  [CELL_EVICTIONS] = {"EVICTIONS", UNIT_COUNT, false},
	[CELL_REPEATED] = {"REPEATED", UNIT_COUNT, true}, [CELL_LOST] = {"LOST", UNIT_POD_TIME, false},
	[CELL_USE] = {"USE", UNIT_PART, false},		  [CELL_BELOW] = {"BELOW GUARANTEE", UNIT_TIME, false},
	[CELL_SLOWDOWN] = {"SLOWDOWN", UNIT_RATIO, true}, [CELL_MOST] = {"MOST OF ONE", UNIT_COUNT, true},
	[CELL_REACHED] = {"REACHED", UNIT_PART, true},
};

static res_id scarce_type(const struct sim_outcome *o)
{
	res_id best = 0;

	for (res_id r = 0; r < o->n_types; r++)
		if (r != RES_PODS && outcome_utilisation(o, &o->totals, r) > outcome_utilisation(o, &o->totals, best))
			best = r;
	return best;
}

static double cell_value(const struct sim_outcome *o, struct outcome_counts *c, enum cell which)
{
	switch (which) {
	case CELL_PODS:
		return (double)c->submitted;
	case CELL_FINISHED:
		return (double)c->finished;
	case CELL_WAIT50:
		return times_quantile(&c->waits, 0.5);
	case CELL_WAIT95:
		return times_quantile(&c->waits, 0.95);
	case CELL_WAITMAX:
		return (double)c->waits.max_ns / 1e9;
	case CELL_SLOWDOWN:
		return times_mean(&c->slowdowns);
	case CELL_EVICTIONS:
		return (double)c->evictions;
	case CELL_REPEATED:
		return (double)c->repeated_evictions;
	case CELL_MOST:
		return (double)c->most_evictions;
	case CELL_LOST:
		return outcome_seconds(c->lost_sum);
	case CELL_USE:
		return outcome_utilisation(o, c, scarce_type(o));
	case CELL_BELOW:
		return outcome_seconds(c->below_guarantee_sum);
	default:
		return outcome_guarantee_reached(c);
	}
}

static void row(struct table *t, const struct sim_outcome *o, const char *name, struct outcome_counts *c, bool is_wide,
		enum tone tone)
{
	table_row(t);
	table_cell(t, tone, "%s", name);
	for (int i = 0; i < CELLS; i++) {
		struct text words = {0};

		if (cells[i].is_wide && !is_wide)
			continue;
		figure_text(cells[i].unit, cell_value(o, c, (enum cell)i), &words);
		table_cell(t, tone, "%s", text_str(&words));
		text_free(&words);
	}
}

static void queues_table(struct sim_outcome *o, bool is_wide, const struct look *look, struct text *out)
{
	struct table t = {0};

	table_column(&t, "QUEUE", COLUMN_LEFT);
	for (int i = 0; i < CELLS; i++)
		if (is_wide || !cells[i].is_wide)
			table_column(&t, cells[i].title, COLUMN_RIGHT);
	for (uint32_t i = 0; i < o->n_queues; i++)
		row(&t, o, *o->queues[i].path ? o->queues[i].path : "(no queue)", &o->queues[i].counts, is_wide,
		    TONE_PLAIN);
	row(&t, o, "all", &o->totals, is_wide, TONE_STRONG);
	table_print(&t, look, out);
	table_free(&t);
}

static void use_text(const struct sim_outcome *o, struct text *out)
{
	bool has_any = false;

	for (res_id r = 0; r < o->n_types; r++) {
		double use = outcome_utilisation(o, &o->totals, r);

		if (o->capacity[r] <= 0 || use <= 0 || r == RES_PODS)
			continue;
		text_printf(out, "%s%s %.1f %%", has_any ? ", " : "Used: ", o->types[r], use * 100);
		has_any = true;
	}
	text_printf(out, "%sfairness %.3f over queues (1 is even)\n", has_any ? "; " : "", outcome_fairness(o));
}

static void left_text(const struct sim_outcome *o, struct text *out)
{
	const char *run = o->totals.running == 1 ? "pod runs" : "pods run";
	const char *wait = o->totals.waiting == 1 ? "waits" : "wait";

	if (o->has_own_end)
		text_printf(out, "The scenario ends here: %" PRIu64 " %s, %" PRIu64 " %s.\n", o->totals.running, run,
			    o->totals.waiting, wait);
	else if (!o->is_complete)
		text_printf(out, "Stopped (%s): %" PRIu64 " %s, %" PRIu64 " %s.\n",
			    o->stopped_by ? o->stopped_by : "before the end", o->totals.running, run, o->totals.waiting,
			    wait);
	else if (o->totals.waiting || o->totals.running)
		text_printf(out, "At the end %" PRIu64 " %s, and %" PRIu64 " %s for a place that never comes.\n",
			    o->totals.running, run, o->totals.waiting, wait);
	for (uint32_t i = 0; i < o->n_queues; i++)
		if (!*o->queues[i].path && o->queues[i].counts.waiting)
			text_printf(out, "%" PRIu64 " of them %s for a queue that is not in the cluster.\n",
				    o->queues[i].counts.waiting, o->queues[i].counts.waiting == 1 ? "asks" : "ask");
}

static void longest_text(const struct sim_outcome *o, const struct look *look, struct text *out)
{
	struct text t = {0}, visible = {0};

	if (!o->longest.pod)
		return;
	text_printf(&t, "%s waits longest, since ", o->longest.pod);
	timestamp_text(time_floor(o->longest.since_ns, NS_PER_S), &t);
	text_printf(&t, "%s%s", *o->longest.why ? ": " : ", and is about to start.", o->longest.why);
	text_add_visible(&visible, text_str(&t));
	text_add_wrapped(out, text_str(&visible), 0, 4, look->width);
	text_add_char(out, '\n');
	text_free(&t);
	text_free(&visible);
}

static void simulation_text(const struct simulation_view *v, bool is_wide, const struct look *look, struct text *out)
{
	struct sim_outcome *o = sim_get_outcome(v->sim);

	text_printf(out, "%s under profile %s, ", v->load, v->profile);
	simulation_span_text(v, out);
	text_add(out, "\n\n");
	queues_table(o, is_wide, look, out);
	text_add_char(out, '\n');
	use_text(o, out);
	left_text(o, out);
	longest_text(o, look, out);
	for (uint32_t i = 0; i < v->n_notes; i++) {
		text_add(out, i ? "  " : "\nBy rule:\n  ");
		text_add_wrapped(out, v->notes[i], 2, 4, look->width);
		text_add_char(out, '\n');
	}
	if (v->n_checks)
		text_printf(out, "\nEXPECTED (%" PRIu32 ")\n", v->n_checks);
	for (uint32_t i = 0; i < v->n_checks; i++)
		text_printf(out, "%s  %s: %s\n", v->checks[i].ok ? "yes" : "NO ", v->checks[i].expect,
			    text_str(&v->checks[i].found));
}

/* ---- data ---- */

static void emit_time(struct emit *e, const char *key, int64_t ns)
{
	struct text t = {0};

	timestamp_text(ns, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void simulation_emit(const struct simulation_view *v, struct emit *e)
{
	struct sim_outcome *o = sim_get_outcome(v->sim);

	emit_object(e, NULL);
	emit_str(e, "kind", "Simulation");
	emit_int(e, "seed", (int64_t)v->seed);
	emit_str(e, "profile", v->profile);
	emit_str(e, "load", v->load);
	emit_time(e, "from", o->from_ns);
	emit_time(e, "to", o->to_ns);
	emit_bool(e, "complete", o->is_complete);
	if (!o->is_complete && o->stopped_by)
		emit_str(e, "stopped", o->stopped_by);
	report_emit_longest(e, o);
	emit_int(e, "events", (int64_t)o->events);
	emit_int(e, "decisions", (int64_t)o->attempts);
	emit_object(e, "totals");
	report_emit_counts(e, o, &o->totals);
	emit_double(e, "fairness", outcome_fairness(o));
	emit_end(e);
	emit_list(e, "queues");
	for (uint32_t i = 0; i < o->n_queues; i++) {
		emit_object(e, NULL);
		emit_str(e, "queue", o->queues[i].path);
		report_emit_counts(e, o, &o->queues[i].counts);
		emit_end(e);
	}
	emit_end(e);
	report_emit_checks(e, v->checks, v->n_checks);
	emit_list(e, "assigned");
	for (uint32_t i = 0; i < v->n_notes; i++)
		emit_str(e, NULL, v->notes[i]);
	emit_end(e);
	emit_end(e);
}

/* A field of CSV: quoted where it has to be. */
static void csv_field(struct text *out, const char *s)
{
	bool has_quotes = strpbrk(s, "\",\r\n");

	if (has_quotes)
		text_add_char(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			text_add_char(out, '"');
		text_add_char(out, *s);
	}
	if (has_quotes)
		text_add_char(out, '"');
}

static void csv_row(struct text *out, const char *queue, struct sim_outcome *o, struct outcome_counts *c)
{
	csv_field(out, queue);
	text_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.0f,%.0f",
		    c->submitted, c->finished, c->running, c->waiting, c->evictions, c->repeated_evictions,
		    outcome_seconds(c->useful_sum), outcome_seconds(c->lost_sum));
	text_printf(out, ",%.3f,%.3f,%.3f,%.3f,%.3f,%.0f,%.6f", times_mean(&c->waits), times_quantile(&c->waits, 0.5),
		    times_quantile(&c->waits, 0.95), times_quantile(&c->waits, 0.99), (double)c->waits.max_ns / 1e9,
		    outcome_seconds(c->below_guarantee_sum), outcome_guarantee_reached(c));
	text_printf(out, ",%.3f,%.3f,%" PRIu64 ",%" PRIu64, times_mean(&c->slowdowns),
		    times_quantile(&c->slowdowns, 0.95), c->most_evictions, c->abandoned);
	for (res_id r = 0; r < o->n_types; r++)
		if (o->capacity[r] > 0)
			text_printf(out, ",%.6f", outcome_utilisation(o, c, r));
	text_add_char(out, '\n');
}

static void simulation_csv(const struct simulation_view *v, struct text *out)
{
	struct sim_outcome *o = sim_get_outcome(v->sim);

	text_add(out, "queue,submitted,finished,running,waiting,evictions,repeatedEvictions,usefulSeconds,lostSeconds,"
		      "waitMean,"
		      "waitP50,waitP95,waitP99,waitMax,belowGuaranteeSeconds,guaranteeReached,"
		      "slowdownMean,slowdownP95,mostEvictions,abandoned");
	for (res_id r = 0; r < o->n_types; r++) {
		if (o->capacity[r] <= 0)
			continue;
		text_add(out, ",utilisation ");
		csv_field(out, o->types[r]);
	}
	text_add_char(out, '\n');
	for (uint32_t i = 0; i < o->n_queues; i++)
		csv_row(out, o->queues[i].path, o, &o->queues[i].counts);
	csv_row(out, "", o, &o->totals);
}

void simulation_series_csv(const struct simulation_view *v, struct text *out)
{
	struct sim_outcome *o = sim_get_outcome(v->sim);
	int64_t step_ns;
	uint32_t n = sim_series_steps(v->sim, &step_ns);

	text_add(out, "from,seconds,queue,running,waiting,evictions,lostSeconds,guaranteeGap");
	for (res_id r = 0; r < o->n_types; r++) {
		text_add_char(out, ',');
		csv_field(out, o->types[r]);
	}
	text_add_char(out, '\n');
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t q = 0; q < o->n_queues; q++) {
			const struct series_point *p = sim_series(v->sim, i, q);

			if (!p)
				continue;
			timestamp_text(time_add(o->from_ns, time_multiply(step_ns, i)), out);
			text_printf(out, ",%.0f,", (double)step_ns / 1e9);
			csv_field(out, o->queues[q].path);
			text_printf(out, ",%.6g,%.6g,%u,%.6g,%.6g", p->running, p->waiting, p->evictions, p->lost_s,
				    p->guarantee_gap);
			for (res_id r = 0; r < o->n_types; r++)
				text_printf(out, ",%.6g", p->used[r]);
			text_add_char(out, '\n');
		}
	}
}

void simulation_show(const struct simulation_view *v, const struct simulation_look *how, const struct look *look,
		     struct text *out)
{
	struct emit e;

	switch (how->format) {
	case SIMULATION_TEXT:
	case SIMULATION_WIDE:
		simulation_text(v, how->format == SIMULATION_WIDE, look, out);
		break;
	case SIMULATION_JSON:
	case SIMULATION_YAML:
		emit_init(&e, out, how->format == SIMULATION_JSON ? EMIT_JSON : EMIT_YAML);
		simulation_emit(v, &e);
		break;
	case SIMULATION_CSV:
		simulation_csv(v, out);
		break;
	}
}
