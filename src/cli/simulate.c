/* SPDX-License-Identifier: Apache-2.0 */
/* cede simulate: a load in virtual time, and what came of it. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/planning.h"
#include "cli/simulating.h"
#include "journal/rebuild.h"
#include "journal/record.h"
#include "units/duration.h"

struct simulate_options {
	struct simulating load;
	struct simulation_look look;
	bool no_color, checks;
	const char *report, *series;
	const char *journal, *journal_at; /* a time or a duration; NULL: at the end */
};

enum { KEY_REPORT = 0xc00, KEY_SERIES, KEY_NO_COLOR, KEY_CHECK, KEY_JOURNAL, KEY_JOURNAL_AT };
const char *const simulate_output_words[] = {"text", "wide", "json", "yaml", "csv", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct simulate_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->load;
		return 0;
	case 'o':
		o->look.format = (enum simulation_format)cli_one_of(state, "--output", arg, simulate_output_words);
		return 0;
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_NO_COLOR:
		o->no_color = true;
		return 0;
	case KEY_CHECK:
		o->checks = true;
		return 0;
	case KEY_REPORT:
		o->report = arg;
		return 0;
	case KEY_SERIES:
		o->series = arg;
		return 0;
	case KEY_JOURNAL:
		o->journal = arg;
		return 0;
	case KEY_JOURNAL_AT:
		o->journal_at = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->journal_at && !o->journal)
			argp_error(state, "--journal-at: in which journal? --journal FILE is missing");
		if (o->checks && !o->load.scenario)
			argp_error(state, "--check: of what is expected? --scenario FILE is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"check", KEY_CHECK, NULL, 0, "Exit with 1 if something did not come out as the scenario expects", 2},
	{"report", KEY_REPORT, "FILE", 0, "Write a page with charts to this file (HTML)", 2},
	{"series", KEY_SERIES, "FILE", 0, "Write what was used, ran, waited and was lost over time to this file (CSV)",
	 2},
	{"journal", KEY_JOURNAL, "FILE", 0,
	 "Record in this file what cede plan would decide at the end, or at --journal-at, for cede replay", 2},
	{"journal-at", KEY_JOURNAL_AT, "TIME|DURATION", 0,
	 "Record it at the first moment from then on, before anything is decided there", 2},
	{"output", 'o', "FORMAT", 0, "text (default), wide, json, yaml or csv", 2},
	{"no-color", KEY_NO_COLOR, NULL, 0, "No colours, as with NO_COLOR in the environment", 2},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] =
	"Simulate a load in virtual time on the real engine: work arrives, runs, is evicted, comes back and ends. "
	"Prints what came of it, in total and by queue."
	"\vThe same input and seed give the same result. Ctrl-C stops and prints what is known so far.";

/* ---- a plan on the way ---- */

struct recording {
	const char *path;
	struct simulated *r;
	int64_t at_ns; /* TIME_NONE: at the end */
	bool is_done;
	int rc;
};

/* What was read, and the cluster of that moment as manifests. */
static enum err_code snapshot(const struct cli_cluster *c, struct journal_run *ret, struct err *e)
{
	const struct record_source src = {JOURNAL_PLAN, c->manifest, c->config, 1};
	struct decisions nothing = {.arena = arena_new(1 << 10)};
	struct plan_view v = {
		.cluster = c->cluster, .plan = &nothing, .profile = c->config->profile, .now_ns = c->now_ns};
	enum err_code rc = journal_record(&v, &src, ret, e);

	arena_free(nothing.arena);
	return rc;
}

static int plan_and_record(const char *path, struct cli_cluster *c)
{
	const struct planning how = {.cycles = 1};
	const struct journal_keep all = {0};
	struct planned p;
	int rc = planning_run(&how, c, &p);

	if (!rc)
		rc = planned_record(&p, c, how.cycles, path, &all);
	planned_free(&p);
	return rc;
}

/*
 * What cede plan would decide if it read the cluster of that moment. It is read indeed: a cluster that lived through
 * the simulation may know more than its objects say, such as how old a group is whose pods were all made again.
 */
static int record_cluster(const char *path, const struct cli_cluster *lived)
{
	struct cli_cluster c = {.now_ns = lived->now_ns, .vocab = vocab_new(), .config = engine_config_new()};
	struct journal_run run;
	struct err e;
	int rc = EXIT_FINE;

	c.manifest = manifest_new(c.vocab);
	manifest_set_plugins(c.manifest, PLUGINS_TAKEN);
	if (snapshot(lived, &run, &e))
		return cli_fail(&e);
	if (rebuild_run(&run, c.manifest, c.config, &c.cluster, &e))
		rc = cli_fail(&e);
	if (!rc)
		rc = plan_and_record(path, &c);
	journal_run_free(&run);
	cli_cluster_free(&c);
	return rc;
}

static void record(struct recording *x, struct sim *s)
{
	struct cli_cluster c = x->r->c;
	struct err e;

	x->is_done = true;
	c.now_ns = sim_now(s);
	if (!sim_was_changed(s)) {
		x->rc = record_cluster(x->path, &c);
		return;
	}
	err_set(&e, ERR_INPUT,
		"--journal: an event changed settings or objects before that; only plans under what was read can be "
		"recorded");
	x->rc = cli_fail(&e);
}

static int recording_begin(const struct simulate_options *o, struct simulated *r, struct recording *ret)
{
	struct err e;

	*ret = (struct recording){.path = o->journal, .r = r, .at_ns = TIME_NONE};
	if (!o->journal_at)
		return EXIT_FINE;
	if (simulating_time("--journal-at", o->journal_at, r->options.from_ns, &ret->at_ns, &e))
		return cli_fail(&e);
	return EXIT_FINE;
}

/* ---- progress, on terminals only ---- */

struct simulate_run {
	struct report_log log;
	struct clock clock;
	int64_t began_ns, shown_ns;
	int64_t from_ns, until_ns; /* of virtual time */
	bool shows_progress;
	struct trace_load *trace;
	struct expectations *expectations;
	bool logs; /* evictions, for the report */
	struct recording recording;
};

static void show_progress(struct simulate_run *x, double done)
{
	int64_t now_ns = clock_now(&x->clock);
	double took = (double)time_since(now_ns, x->began_ns);
	struct text line = {0};

	if (!x->shows_progress || time_since(now_ns, x->shown_ns) < NS_PER_S / 5)
		return;
	x->shown_ns = now_ns;
	text_printf(&line, "\r\033[Ksimulating: %3.0f %%", done * 100);
	if (done > 0.02) {
		text_add(&line, ", about ");
		duration_text_short(time_floor((int64_t)(took * (1 - done) / done), NS_PER_S), &line);
		text_add(&line, " left");
	}
	fputs(text_str(&line), stderr);
	text_free(&line);
}

/* By the jobs of a trace that have arrived; else by time, if somebody said when it ends. */
static void on_moment(void *ctx, struct sim *s)
{
	struct simulate_run *x = ctx;
	double span = (double)time_since(x->until_ns, x->from_ns);

	if (x->trace)
		show_progress(x, trace_load_done(x->trace));
	else if (x->until_ns != TIME_NONE && span > 0)
		show_progress(x, (double)time_since(sim_now(s), x->from_ns) / span);
}

static void before_deciding(void *ctx, struct sim *s)
{
	struct recording *x = &((struct simulate_run *)ctx)->recording;

	if (!x->is_done && sim_now(s) >= x->at_ns)
		record(x, s);
}

/* Beside the result, which is the same every time. */
static void tell_speed(const struct simulate_options *o, struct sim *s)
{
	const struct sim_outcome *x = sim_get_outcome(s);
	double seconds = (double)x->engine_ns / (double)NS_PER_S;

	if (o->look.format == SIMULATION_WIDE && !o->load.input.is_quiet && x->attempts)
		fprintf(stderr, "cede: note: %" PRIu64 " events, %" PRIu64 " decisions in %.2f s, %.0f us each\n",
			x->events, x->attempts, seconds, seconds * 1e6 / (double)x->attempts);
}

static void on_eviction(void *ctx, struct sim *s, const struct sim_eviction *ev)
{
	struct simulate_run *x = ctx;

	if (x->logs)
		report_log_eviction(&x->log, s, ev);
	expect_eviction(x->expectations, s, ev);
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	struct simulate_run *x = ctx;

	report_log_start(&x->log, s, pod);
	expect_start(x->expectations, s, pod);
}

static void on_finish(void *ctx, struct sim *s, pod_id pod)
{
	expect_finish(((struct simulate_run *)ctx)->expectations, s, pod);
}

/* ---- results ---- */

static int write_series(const char *path, const struct simulation_view *v)
{
	FILE *f = fopen(path, "we");
	struct text out = {0};
	bool is_written;

	if (f) {
		simulation_series_csv(v, &out);
		is_written = fwrite(text_str(&out), 1, out.n, f) == out.n;
		text_free(&out);
		if (!fclose(f) && is_written)
			return EXIT_FINE;
	}
	log_line(LOG_ERROR, "%s: %s", path, strerror(errno));
	return EXIT_INPUT;
}

static int write_report(const char *path, struct simulated *r, struct report_log *log, const struct report_info *info)
{
	struct err e;

	return report_write(path, r->sim, log, info, &e) ? cli_fail(&e) : EXIT_FINE;
}

static int show(const struct simulate_options *o, struct simulated *r, struct simulate_run *x)
{
	struct cli_output output = {.no_color = o->no_color};
	struct look look = cli_look(&output);
	struct simulated_words words;
	struct text out = {0};
	int rc = EXIT_FINE;

	simulated_tell(&o->load, r, &words);
	simulation_show(&words.view, &o->look, &look, &out);
	cli_print(&out);
	if (o->report)
		rc = write_report(o->report, r, &x->log, &words.info);
	if (!rc && o->series)
		rc = write_series(o->series, &words.view);
	if (!rc && o->checks && !words.is_fine)
		rc = EXIT_STRICT;
	text_free(&out);
	simulated_words_free(&words);
	return rc;
}

static int simulate(const struct simulate_options *o, struct simulated *r)
{
	struct simulate_run x = {.clock = clock_steady(),
				 .trace = r->trace,
				 .from_ns = r->options.from_ns,
				 .until_ns = r->options.until_ns,
				 .expectations = &r->expectations,
				 .logs = o->report != NULL};
	int rc = recording_begin(o, r, &x.recording);

	if (rc)
		return rc;
	report_log_init(&x.log);
	x.began_ns = clock_now(&x.clock);
	x.shows_progress = isatty(STDERR_FILENO) && !o->load.input.is_quiet;
	r->options.keeps_series = o->report || o->series;
	r->options.watcher = (struct sim_watcher){.ctx = &x,
						  .eviction = o->report || r->scenario ? on_eviction : NULL,
						  .start = on_start,
						  .finish = on_finish,
						  .before = o->journal_at ? before_deciding : NULL,
						  .moment = x.shows_progress ? on_moment : NULL};
	rc = simulated_run(r);
	if (x.shows_progress)
		fputs("\r\033[K", stderr);
	if (!rc && o->journal && !x.recording.is_done)
		record(&x.recording, r->sim);
	if (!rc)
		rc = x.recording.rc;
	if (!rc)
		rc = show(o, r, &x);
	if (!rc)
		tell_speed(o, r->sim);
	report_log_free(&x.log);
	return rc;
}

int command_simulate(int argc, char **argv)
{
	static const struct argp_child children[] = {{&simulating_argp, 0, "Load:", 1}, {0}};
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc, .children = children};
	struct simulate_options o = {0};
	struct variant v = {0};
	struct simulated r;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	simulating_catch_interrupt();
	rc = simulated_begin(&o.load, &v, "cede simulate", &r);
	if (!rc && o.checks && !r.expectations.v.n) {
		log_line(LOG_ERROR, "%s: --check: the scenario expects nothing", o.load.scenario);
		rc = EXIT_INPUT;
	}
	if (!rc)
		rc = simulate(&o, &r);
	simulated_free(&r);
	simulating_free(&o.load);
	return rc;
}
