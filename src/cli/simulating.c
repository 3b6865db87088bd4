/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulating.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "units/duration.h"
#include "units/timestamp.h"

enum {
	KEY_TRACE = 0x900,
	KEY_SCENARIO,
	KEY_FORMAT,
	KEY_NODES,
	KEY_COMPRESS,
	KEY_CHECKPOINT,
	KEY_JOBS,
	KEY_QUEUES,
	KEY_UNTIL,
	KEY_SEED
};

const char *const simulating_format_words[] = {"philly", "openb", "swf", "journal", NULL};
const char *const simulating_trace_words[] = {"philly", "openb", "swf", NULL};
const char *const simulating_queues_words[] = {"kai", "yunikorn", NULL};

volatile sig_atomic_t simulating_interrupt;

static void on_interrupt(int signal)
{
	simulating_interrupt = signal;
}

void simulating_catch_interrupt(void)
{
	struct sigaction a = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
}

/* ---- options ---- */

static int64_t positive_duration(struct argp_state *state, const char *name, const char *arg)
{
	int64_t ns = 0;

	if (duration_parse(arg, strlen(arg), true, &ns, NULL) || ns <= 0)
		argp_error(state, "--%s: expected a duration such as 1h, found '%s'", name, arg);
	return ns;
}

static bool has_trace_options(const struct trace_options *t)
{
	return t->nodes || t->compress || t->checkpoint_ns || t->max_jobs || t->has_yunikorn_queues;
}

static bool names_cluster(const struct cli_input *in)
{
	return in->files.n || in->kubeconfig || in->context;
}

/* What would have no effect is refused: whoever gives an option expects it to count. */
static void check(const struct simulating *o, struct argp_state *state)
{
	const struct trace_options *t = &o->trace_options;

	if (o->trace && o->scenario)
		argp_error(state, "--scenario and --trace: one load at a time");
	if (o->trace && !o->has_format)
		argp_error(state, "--trace: which format? --format philly, openb, swf or journal");
	if (!o->trace && o->has_format)
		argp_error(state, "--format: of which trace? --trace FILE");
	if (o->is_journal && has_trace_options(t))
		argp_error(state, "--nodes, --compress, --checkpoint, --jobs and --queues are for traces that do not "
				  "bring their cluster, as a journal does");
	if (!o->trace && has_trace_options(t))
		argp_error(state, "--nodes, --compress, --checkpoint, --jobs and --queues are of a trace: "
				  "--trace FILE is missing");
	if ((t->nodes || t->has_yunikorn_queues) && names_cluster(&o->input))
		argp_error(state, "--nodes and --queues are of the cluster that is made for a trace, and -f or "
				  "--kubeconfig names one");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct simulating *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		o->seed = 1;
		return 0;
	case KEY_SCENARIO:
		o->scenario = arg;
		return 0;
	case KEY_TRACE:
		o->trace = arg;
		return 0;
	case KEY_FORMAT:
		o->format = (enum trace_format)cli_one_of(state, "--format", arg, simulating_format_words);
		o->is_journal = (int)o->format == TRACE_FORMATS;
		o->has_format = true;
		return 0;
	case KEY_NODES:
		o->trace_options.nodes = cli_number(state, "nodes", arg, 1, 1000000);
		return 0;
	case KEY_COMPRESS:
		o->trace_options.compress = cli_number(state, "compress", arg, 1, 1000000);
		return 0;
	case KEY_CHECKPOINT:
		o->trace_options.checkpoint_ns = positive_duration(state, "checkpoint", arg);
		return 0;
	case KEY_JOBS:
		o->trace_options.max_jobs = cli_number(state, "jobs", arg, 1, INT32_MAX);
		return 0;
	case KEY_QUEUES:
		o->trace_options.has_yunikorn_queues = cli_one_of(state, "--queues", arg, simulating_queues_words) == 1;
		return 0;
	case KEY_UNTIL:
		o->until = arg;
		return 0;
	case KEY_SEED:
		o->seed = cli_number(state, "seed", arg, 1, UINT32_MAX);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"scenario", KEY_SCENARIO, "FILE", 0,
	 "A cluster, what arrives, what happens and what is expected, in one file (kind: Scenario)", 0},
	{"trace", KEY_TRACE, "FILE", 0, "Jobs from a recorded trace; without -f a cluster is made for them", 0},
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "Of the trace: philly, openb, swf (Standard Workload Format) or journal (of cede plan or cede run)", 0},
	{"nodes", KEY_NODES, "N", 0, "Nodes of the cluster that is made (default: a quarter more than the mean demand)",
	 0},
	{"compress", KEY_COMPRESS, "N", 0, "Let the trace's jobs arrive N times faster", 0},
	{"checkpoint", KEY_CHECKPOINT, "DURATION", 0, "The trace's jobs save their work this often (default: never)",
	 0},
	{"jobs", KEY_JOBS, "N", 0, "Only the first N jobs of the trace", 0},
	{"queues", KEY_QUEUES, "KIND", 0,
	 "Queues of the cluster that is made: kai (default; with minimum runtimes) or yunikorn (with delays)", 0},
	{"until", KEY_UNTIL, "TIME|DURATION", 0, "Stop then (default: when everything is done)", 0},
	{"seed", KEY_SEED, "N", 0, "Seed of what is random (default 1)", 0},
	{0},
};

static const struct argp_child children[] = {{&cli_input_argp, 0, NULL, 0}, {0}};
const struct argp simulating_argp = {.options = argp_options, .parser = parse, .children = children};

void simulating_free(struct simulating *o)
{
	cli_input_free(&o->input);
}

/* ---- one run ---- */

enum err_code simulating_time(const char *option, const char *word, int64_t from_ns, int64_t *ret_ns, struct err *e)
{
	int64_t ns;

	if (!duration_parse(word, strlen(word), true, &ns, NULL) && ns > 0)
		*ret_ns = time_add(from_ns, ns);
	else if (!timestamp_parse(word, strlen(word), &ns, NULL) && ns > from_ns)
		*ret_ns = ns;
	else
		return err_fail(e, ERR_INPUT,
				"%s: expected a duration such as 7d or a time after the beginning such as "
				"2026-11-15T12:00:00Z, found '%s'",
				option, word);
	return ERR_OK;
}

static int open_trace(const struct simulating *o, const struct variant *v, struct simulated *r, struct cli_input *in)
{
	struct trace_options t = o->trace_options;
	struct err e;

	t.path = o->trace;
	t.format = o->format;
	t.seed = v->seed ? v->seed : o->seed;
	if (trace_load_open(&t, &r->trace, &e))
		return cli_fail(&e);
	if (!names_cluster(in)) {
		trace_cluster(r->trace, &r->made);
		in->made = &r->made;
		in->made_name = "cluster made for the trace";
	}
	if (!in->has_now) {
		in->now_ns = trace_load_from(r->trace);
		in->has_now = true;
	}
	return EXIT_FINE;
}

/* The cluster of its first run, or that of --now, under the settings of then if there are no others. */
static int open_journal(const struct simulating *o, const struct variant *v, struct simulated *r, struct cli_input *in)
{
	struct err e;

	if (names_cluster(in)) {
		err_set(&e, ERR_INPUT,
			"--trace with --format journal brings its cluster: -f and --kubeconfig are for others");
		return cli_fail(&e);
	}
	if (trace_journal_open(o->trace, in->has_now ? in->now_ns : TIME_NONE, &r->journal, &e))
		return cli_fail(&e);
	trace_journal_cluster(r->journal, !in->configs.n && !v->config, &r->made);
	in->made = &r->made;
	in->made_name = o->trace;
	if (!in->has_profile && !in->configs.n && !v->config)
		in->has_profile = profile_parse(trace_journal_profile(r->journal), &in->profile);
	in->now_ns = trace_journal_from(r->journal);
	in->has_now = true;
	return EXIT_FINE;
}

/* Its files come before those of -f, its nodes before all. */
static int open_scenario(const struct simulating *o, struct simulated *r, struct cli_input *in)
{
	struct err e;

	if (scenario_read(o->scenario, &r->scenario, &e))
		return cli_fail(&e);
	memset(&in->files, 0, sizeof(in->files)); /* the options keep theirs */
	for (uint32_t i = 0; i < scenario_file_count(r->scenario); i++)
		array_push(&in->files, scenario_file(r->scenario, i));
	for (uint32_t i = 0; i < o->input.files.n; i++)
		array_push(&in->files, o->input.files.v[i]);
	scenario_cluster(r->scenario, &r->made);
	if (r->made.n) {
		in->made = &r->made;
		in->made_name = o->scenario;
	} else if (!names_cluster(in)) {
		err_set(&e, ERR_INPUT,
			"%s: there is no cluster: cluster.nodes, cluster.files, other documents of the file, or -f",
			o->scenario);
		return cli_fail(&e);
	}
	if (!in->has_now && scenario_from(r->scenario) != TIME_NONE) {
		in->now_ns = scenario_from(r->scenario);
		in->has_now = true;
	}
	return EXIT_FINE;
}

static enum err_code prepare_scenario(const struct simulating *o, uint64_t seed, struct simulated *r, struct err *e)
{
	struct sim_options *s = &r->options;
	enum err_code rc = scenario_load(r->scenario, r->c.vocab, seed, s->from_ns, &r->load, e);

	s->load = &r->load;
	if (!rc)
		rc = scenario_events(r->scenario, s->from_ns, &s->events, &s->n_events, e);
	if (!rc && !o->until) {
		rc = scenario_until(r->scenario, s->from_ns, &s->until_ns, e);
		s->ends_then = true;
	}
	return rc ? rc : scenario_expectations(r->scenario, s->from_ns, &r->expectations, e);
}

static int prepare(const struct simulating *o, const struct variant *v, struct simulated *r)
{
	struct sim_options *s = &r->options;
	struct err e;

	*s = (struct sim_options){.cluster = r->c.cluster,
				  .config = r->c.config,
				  .from_ns = r->c.now_ns,
				  .interrupt = &simulating_interrupt};
	r->plugins = plugins_load(r->c.config);
	s->plugins = plugins_loaded(r->plugins, &s->n_plugins);
	if (r->trace) {
		r->load = trace_load_jobs(r->trace, r->c.vocab);
		s->load = &r->load;
	}
	if (r->journal) {
		if (trace_journal_jobs(r->journal, r->c.cluster, &r->load, &e))
			return cli_fail(&e);
		s->load = &r->load;
		s->events = trace_journal_events(r->journal, &s->n_events);
		s->describe = trace_journal_describe;
		s->describe_ctx = r->journal;
	}
	s->until_ns = TIME_NONE;
	if (o->until && simulating_time("--until", o->until, s->from_ns, &s->until_ns, &e))
		return cli_fail(&e);
	if (r->scenario && prepare_scenario(o, v->seed ? v->seed : o->seed, r, &e))
		return cli_fail(&e);
	return EXIT_FINE;
}

int simulated_begin(const struct simulating *o, const struct variant *v, const char *command, struct simulated *ret)
{
	struct cli_input in = o->input;
	int rc = EXIT_FINE;

	*ret = (struct simulated){0};
	if (!o->trace && !o->scenario && !names_cluster(&in)) {
		log_line(LOG_ERROR,
			 "say what to simulate: %s --scenario FILE, --trace FILE, or a cluster with -f or --kubeconfig",
			 command);
		return EXIT_INPUT;
	}
	if (o->trace)
		rc = o->is_journal ? open_journal(o, v, ret, &in) : open_trace(o, v, ret, &in);
	if (o->scenario)
		rc = open_scenario(o, ret, &in);
	if (v->config)
		in.only_config = v->config;
	if (v->has_profile) {
		in.has_profile = true;
		in.profile = v->profile;
	}
	in.is_quiet |= v->is_quiet;
	if (!rc)
		rc = cli_load_changed(&in, v->whatif, command, &ret->c);
	if (o->scenario)
		array_free(&in.files);
	return rc ? rc : prepare(o, v, ret);
}

int simulated_run(struct simulated *r)
{
	struct err e;

	r->sim = sim_new(&r->options, &e);
	if (!r->sim || sim_run(r->sim, &e))
		return cli_fail(&e);
	return EXIT_FINE;
}

void simulated_free(struct simulated *r)
{
	if (r->sim)
		sim_free(r->sim);
	if (r->load.next)
		sim_load_free(&r->load);
	trace_load_free(r->trace);
	trace_journal_free(r->journal);
	scenario_free(r->scenario);
	expectations_free(&r->expectations);
	if (r->plugins)
		plugins_free(r->plugins);
	cli_cluster_free(&r->c);
	text_free(&r->made);
}

void simulated_load_text(const struct simulating *o, const struct simulated *r, struct text *out)
{
	const char *slash = o->trace ? strrchr(o->trace, '/') : NULL;

	if (r->trace) {
		text_printf(out, "%s, %" PRIu32 " jobs", slash ? slash + 1 : o->trace, trace_load_count(r->trace));
		return;
	}
	if (r->journal) {
		text_printf(out, "%s, %" PRIu32 " %s later", slash ? slash + 1 : o->trace,
			    trace_journal_count(r->journal),
			    trace_journal_count(r->journal) == 1 ? "pod arrives" : "pods arrive");
		return;
	}
	slash = o->scenario ? strrchr(o->scenario, '/') : NULL;
	text_add(out, slash ? slash + 1 : o->scenario ? o->scenario : "what the files hold");
}

static uint32_t collect_notes(const struct simulated *r, const char **ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; r->trace && i < trace_note_count(r->trace) && n < SIMULATED_NOTES_MAX; i++)
		ret[n++] = trace_note(r->trace, i);
	if (r->journal)
		ret[n++] = trace_journal_note(r->journal);
	return n;
}

void simulated_tell(const struct simulating *o, struct simulated *r, struct simulated_words *ret)
{
	uint32_t n_notes, n_checks = r->expectations.v.n;

	*ret = (struct simulated_words){.checks = expectations_check(&r->expectations, r->sim), .is_fine = true};
	n_notes = collect_notes(r, ret->notes);
	for (uint32_t i = 0; i < n_checks; i++)
		ret->is_fine &= ret->checks[i].ok;
	simulated_load_text(o, r, &ret->load);
	ret->view = (struct simulation_view){.sim = r->sim,
					     .seed = o->seed,
					     .load = text_str(&ret->load),
					     .profile = cli_profile_words[r->c.config->profile],
					     .notes = ret->notes,
					     .n_notes = n_notes,
					     .checks = ret->checks,
					     .n_checks = n_checks};
	text_printf(&ret->title, "%s under profile %s", ret->view.load, ret->view.profile);
	simulation_span_text(&ret->view, &ret->subtitle);
	ret->info = (struct report_info){.title = text_str(&ret->title),
					 .subtitle = text_str(&ret->subtitle),
					 .notes = ret->notes,
					 .n_notes = n_notes,
					 .checks = ret->checks,
					 .n_checks = n_checks};
}

void simulated_words_free(struct simulated_words *w)
{
	checks_free(w->checks, w->view.n_checks);
	text_free(&w->load);
	text_free(&w->title);
	text_free(&w->subtitle);
}
