/* SPDX-License-Identifier: Apache-2.0 */
/* cede replay: decide again what a journal has recorded, and see whether it comes out the same. */
#include "cli/common.h"
#include "cli/planning.h"
#include "journal/rebuild.h"
#include "journal/record.h"
#include "journal/replay_view.h"
#include "manifest/fields.h"

struct replay_options {
	struct cli_output output;
	const char *file, *config;
	uint32_t run; /* 0: all */
	bool allows_plugins;
};

enum { KEY_RUN = 0x600, KEY_CONFIG, KEY_ALLOW_PLUGINS };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case KEY_RUN:
		o->run = cli_number(state, "run", arg, 1, INT32_MAX);
		return 0;
	case KEY_CONFIG:
		if (o->config)
			argp_error(state, "--config: one file at a time, please: '%s' is the second", arg);
		o->config = arg;
		return 0;
	case KEY_ALLOW_PLUGINS:
		o->allows_plugins = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one journal at a time, please: '%s' is the second", arg);
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->file)
			argp_error(state, "which journal? for example: cede replay journal.db");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"run", KEY_RUN, "N", 0, "Only this run (default: all)", 0},
	{"config", KEY_CONFIG, "FILE", 0, "With the settings in this file instead: what would have been different?", 0},
	{"allow-plugins", KEY_ALLOW_PLUGINS, NULL, 0,
	 "Load the plugins that were recorded; without it, a run that had any is refused", 0},
	{0},
};

static const char doc[] =
	"Decide again what a journal has recorded, about the same cluster at the same time, and compare: the decisions "
	"must be the same, byte by byte. With --config, show which evictions would not have happened, which would have "
	"happened instead, and which pods would have got another answer."
	"\vA journal of cede run has no cluster in it and cannot be replayed. Exit code 1 means that decisions differ, "
	"which with --config is no fault (exit code 0).";

/* ---- deciding again ---- */

static enum err_code set_up(const struct replay_options *o, const struct journal_run *run, struct cli_cluster *c,
			    struct err *e)
{
	manifest_set_plugins(c->manifest, o->allows_plugins ? PLUGINS_TAKEN : PLUGINS_REFUSED);
	if (o->config)
		TRY(rebuild_other_settings(c->manifest, o->config, e));
	return rebuild_run(run, c->manifest, c->config, &c->cluster, e);
}

static int load(const struct replay_options *o, const struct journal_run *run, struct cli_cluster *ret)
{
	struct err e;

	*ret = (struct cli_cluster){.now_ns = run->now_ns, .vocab = vocab_new(), .config = engine_config_new()};
	ret->manifest = manifest_new(ret->vocab);
	return set_up(o, run, ret, &e) ? cli_fail(&e) : EXIT_FINE;
}

static int record_again(const struct journal_run *run, struct cli_cluster *c, struct journal_run *ret)
{
	struct planning planning = {.cycles = run->cycles};
	struct record_source src = {JOURNAL_PLAN, c->manifest, c->config, run->cycles};
	struct planned p;
	struct err e;
	int rc = planning_run(&planning, c, &p);

	if (!rc && journal_record(&p.view, &src, ret, &e))
		rc = cli_fail(&e);
	planned_free(&p);
	return rc;
}

static int decide_again(const struct replay_options *o, const struct journal_run *run, struct journal_run *ret)
{
	struct cli_cluster c;
	int rc = load(o, run, &c);

	if (!rc)
		rc = record_again(run, &c, ret);
	cli_cluster_free(&c);
	return rc;
}

/* ---- all runs ---- */

struct replay_report {
	const struct replay_options *o;
	struct text out;
	struct emit e;
	struct diff_sums sums;
	uint32_t n_of_daemons, n_bare; /* passed over: the cluster went on changing, or is not recorded */
	bool has_fault;
};

static void report_run(struct replay_report *r, const struct run_diff *d)
{
	struct replay_view v = {.diff = d, .has_other_settings = r->o->config};
	struct look look = cli_look(&r->o->output);

	diff_sums_add(&r->sums, d);
	if (!r->o->config && (!run_diff_is_same(d) || d->state_differs))
		r->has_fault = true;
	if (cli_is_data(&r->o->output)) {
		replay_view_emit(&v, &r->e);
		return;
	}
	replay_view_text(&v, &look, r->o->output.format == OUTPUT_WIDE, &r->out);
	if (!run_diff_is_same(d))
		text_add_char(&r->out, '\n');
}

/* A daemon decides as things come, and keeps its cluster only from time to time. */
static bool is_bare(const struct journal_run *was)
{
	return was->source == JOURNAL_PLAN || !was->state;
}

static const char *why_skipped(const struct journal_run *was)
{
	return is_bare(was) ? "its cluster is not recorded, so that nothing can be decided again"
			    : "it is of a daemon, whose cluster changed from one decision to the next: nothing can be "
			      "decided again, but cede simulate goes on from it";
}

/* Of a daemon, or saved from a damaged journal. If it was asked for, that is an error. */
static int skip_run(struct replay_report *r, struct journal_run *was)
{
	struct err e;

	err_set(&e, ERR_INPUT, "%s: run %lld: %s", r->o->file, (long long)was->id, why_skipped(was));
	if (is_bare(was))
		r->n_bare++;
	else
		r->n_of_daemons++;
	journal_run_free(was);
	if (r->o->run)
		return cli_fail(&e);
	cli_note(e.msg);
	return EXIT_FINE;
}

static int replay_run(struct replay_report *r, struct journal *j, int64_t id)
{
	struct journal_run was, is;
	struct run_diff d;
	struct err e;
	int rc;

	if (journal_read(j, id, true, &was, &e))
		return cli_fail(&e);
	if (!was.state || was.source != JOURNAL_PLAN)
		return skip_run(r, &was);
	rc = decide_again(r->o, &was, &is);
	if (!rc) {
		run_diff_init(&d, &was, &is);
		report_run(r, &d);
		run_diff_free(&d);
		journal_run_free(&is);
	}
	journal_run_free(&was);
	return rc;
}

static void report_begin(struct replay_report *r)
{
	emit_init(&r->e, &r->out, cli_emit_format(&r->o->output));
	if (!cli_is_data(&r->o->output))
		return;
	emit_object(&r->e, NULL);
	emit_str(&r->e, "kind", "Replay");
	emit_list(&r->e, "runs");
}

/* Where nothing was compared, nothing is the same. */
static void say_nothing_replayed(struct replay_report *r, const struct look *look)
{
	struct text s = {0};

	text_add(&s, "No run could be replayed: ");
	if (r->n_of_daemons)
		text_printf(&s, "%u %s of a daemon, whose cluster changed from one decision to the next%s",
			    r->n_of_daemons, r->n_of_daemons == 1 ? "is" : "are", r->n_bare ? "; " : "");
	if (r->n_bare)
		text_printf(&s, "of %u the cluster is not recorded", r->n_bare);
	if (!r->n_of_daemons && !r->n_bare)
		text_add(&s, "there is none in the journal");
	text_add_char(&s, '\n');
	text_add_toned(&r->out, look, TONE_STRONG, text_str(&s));
	text_free(&s);
}

static void report_end(struct replay_report *r)
{
	struct look look = cli_look(&r->o->output);

	if (cli_is_data(&r->o->output)) {
		emit_end(&r->e);
		replay_sums_emit(&r->sums, &r->e);
		emit_end(&r->e);
	} else if (!r->sums.runs) {
		say_nothing_replayed(r, &look);
	} else {
		replay_sums_text(&r->sums, r->o->config, &look, &r->out);
	}
	cli_print(&r->out);
}

static int replay(const struct replay_options *o, struct journal *j)
{
	struct replay_report r = {.o = o};
	int rc = EXIT_FINE;

	report_begin(&r);
	if (o->run)
		rc = replay_run(&r, j, o->run);
	else
		for (uint32_t i = 0; !rc && i < journal_run_count(j); i++)
			rc = replay_run(&r, j, journal_run_id(j, i));
	if (!rc)
		report_end(&r);
	text_free(&r.out);
	return rc ? rc : r.has_fault ? EXIT_STRICT : EXIT_FINE;
}

int command_replay(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "JOURNAL", .doc = doc, .children = children};
	struct journal *j = NULL;
	struct replay_options o = {0};
	struct err e;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = journal_open(o.file, JOURNAL_READ, &j, &e) ? cli_fail(&e) : replay(&o, j);
	journal_close(j);
	return rc;
}
