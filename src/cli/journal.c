/* SPDX-License-Identifier: Apache-2.0 */
/* cede journal: look whether a journal is whole, save what can be saved of it, show what is in it. */
#include "journal/journal.h"

#include "cli/common.h"
#include "journal/salvage.h"
#include "manifest/fields.h"

struct journal_options {
	struct cli_output output;
	const char *what, *file, *to;
	uint32_t run; /* 0: the last */
	bool with_state, with_settings;
};

enum { KEY_RUN = 0x900, KEY_STATE, KEY_SETTINGS };

static const char *const whats[] = {"check", "salvage", "show", NULL};

static void set_argument(struct journal_options *o, char *arg, struct argp_state *state)
{
	if (!o->what)
		o->what = whats[cli_one_of(state, NULL, arg, whats)];
	else if (!o->file)
		o->file = arg;
	else if (!o->to && str_eq(o->what, "salvage"))
		o->to = arg;
	else
		argp_error(state, "'%s' is one argument too many", arg);
}

static void check_arguments(const struct journal_options *o, struct argp_state *state)
{
	if (!o->what) {
		argp_error(state, "what is to be done? for example: cede journal check journal.db");
		return;
	}
	if (!o->file)
		argp_error(state, "which journal? for example: cede journal %s journal.db", o->what);
	if (str_eq(o->what, "salvage") && !o->to)
		argp_error(state, "into which new file? for example: cede journal salvage journal.db saved.db");
	if (!str_eq(o->what, "show") && (o->run || o->with_state || o->with_settings))
		argp_error(state, "--run, --state and --settings are for cede journal show");
	if (o->with_state && o->with_settings)
		argp_error(state, "--state or --settings, not both");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct journal_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case KEY_RUN:
		o->run = cli_number(state, "run", arg, 1, INT32_MAX);
		return 0;
	case KEY_STATE:
		o->with_state = true;
		return 0;
	case KEY_SETTINGS:
		o->with_settings = true;
		return 0;
	case ARGP_KEY_ARG:
		set_argument(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_arguments(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"run", KEY_RUN, "N", 0, "show: this run (default: the last)", 0},
	{"state", KEY_STATE, NULL, 0, "show: the cluster as it was recorded, as manifests, instead of the decisions",
	 0},
	{"settings", KEY_SETTINGS, NULL, 0, "show: the settings as they were recorded", 0},
	{0},
};

static const char doc[] =
	"check: read all of a journal and say whether everything is there, as it was written. "
	"salvage: put what can still be read of a damaged journal into a new one; the damaged file stays as it is. "
	"show: the decisions of a run, as they were recorded."
	"\vExit code 1 means that something is damaged (check), or could not be saved (salvage).";

/* ---- sentences ---- */

static void print_sentences(struct text *out, const struct text *lines)
{
	for (const char *s = text_str(lines), *end; (end = strchr(s, '\n')); s = end + 1) {
		struct text line = {0};

		text_add_n(&line, s, (size_t)(end - s));
		text_add(out, "  ");
		text_add_visible(out, text_str(&line));
		text_add_char(out, '\n');
		text_free(&line);
	}
}

static void emit_sentences(struct emit *e, const char *key, const struct text *lines)
{
	emit_list(e, key);
	for (const char *s = text_str(lines), *end; (end = strchr(s, '\n')); s = end + 1) {
		struct text line = {0};

		text_add_n(&line, s, (size_t)(end - s));
		emit_str(e, NULL, text_str(&line));
		text_free(&line);
	}
	emit_end(e);
}

/* ---- check ---- */

static void print_bytes(struct text *out, int64_t n)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	int i = 0;

	for (; n >= 10240 && i < 4; i++)
		n /= 1024;
	text_printf(out, "%lld %s", (long long)n, units[i]);
}

static void print_check(const char *file, const struct journal_report *r, struct text *out)
{
	text_add_visible(out, file);
	text_printf(out, ": %u %s, %u %s, ", r->n_runs, r->n_runs == 1 ? "run" : "runs", r->n_evictions,
		    r->n_evictions == 1 ? "eviction" : "evictions");
	print_bytes(out, r->file_bytes);
	text_add(out, " for ");
	print_bytes(out, r->text_bytes);
	if (!r->complaints->n) {
		text_add(out, " of text; everything is there, as it was written\n");
		return;
	}
	text_printf(out, " of text; damaged, %u %s cannot be read whole:\n", r->n_damaged,
		    r->n_damaged == 1 ? "run" : "runs");
	print_sentences(out, r->complaints);
	text_add(out, "What can be read: cede journal salvage ");
	text_add_visible(out, file);
	text_add(out, " NEW\n");
}

static void emit_check(struct emit *e, const struct journal_report *r)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "JournalCheck");
	emit_int(e, "runs", r->n_runs);
	emit_int(e, "damagedRuns", r->n_damaged);
	emit_int(e, "evictions", r->n_evictions);
	emit_int(e, "chunks", r->n_chunks);
	emit_int(e, "fileBytes", r->file_bytes);
	emit_int(e, "textBytes", r->text_bytes);
	emit_sentences(e, "complaints", r->complaints);
	emit_end(e);
}

static int check(const struct journal_options *o)
{
	struct text complaints = {0}, out = {0};
	struct journal_report r = {.complaints = &complaints};
	struct journal *j = NULL;
	struct emit emit;
	struct err e;
	int rc;

	if (journal_open(o->file, JOURNAL_READ, &j, &e) || journal_check(j, &r, &e)) {
		rc = cli_fail(&e);
	} else {
		emit_init(&emit, &out, cli_emit_format(&o->output));
		if (cli_is_data(&o->output))
			emit_check(&emit, &r);
		else
			print_check(o->file, &r, &out);
		cli_print(&out);
		rc = complaints.n ? EXIT_STRICT : EXIT_FINE;
	}
	journal_close(j);
	text_free(&out);
	text_free(&complaints);
	return rc;
}

/* ---- salvage ---- */

static void print_salvage(const struct journal_options *o, const struct salvage_report *r, struct text *out)
{
	uint32_t saved = r->n_whole + r->n_without_state + r->n_evictions_only;

	text_add_visible(out, o->to);
	text_printf(out, ": %u of %u runs saved", saved, saved + r->n_lost);
	if (saved != r->n_whole)
		text_printf(out, ", %u of them in part", saved - r->n_whole);
	text_add_char(out, '\n');
	print_sentences(out, r->words);
}

static void emit_salvage(struct emit *e, const struct salvage_report *r)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "JournalSalvage");
	emit_int(e, "whole", r->n_whole);
	emit_int(e, "withoutState", r->n_without_state);
	emit_int(e, "evictionsOnly", r->n_evictions_only);
	emit_int(e, "lost", r->n_lost);
	emit_sentences(e, "complaints", r->words);
	emit_end(e);
}

static int salvage(const struct journal_options *o)
{
	struct text words = {0}, out = {0};
	struct salvage_report r = {.words = &words};
	struct emit emit;
	struct err e;
	int rc;

	if (journal_salvage(o->file, o->to, &r, &e)) {
		rc = cli_fail(&e);
	} else {
		emit_init(&emit, &out, cli_emit_format(&o->output));
		if (cli_is_data(&o->output))
			emit_salvage(&emit, &r);
		else
			print_salvage(o, &r, &out);
		cli_print(&out);
		rc = r.n_lost || words.n ? EXIT_STRICT : EXIT_FINE;
	}
	text_free(&out);
	text_free(&words);
	return rc;
}

/* ---- show ---- */

/* As they were written: nothing is formatted anew. */
static void print_run(const struct journal_options *o, const struct journal_run *run, struct text *out)
{
	if (o->with_state) {
		text_add(out, run->state);
		return;
	}
	if (o->with_settings) {
		for (uint32_t i = 0; i < run->n_settings; i++) {
			text_add(out, i ? "---\n# " : "# ");
			text_add_visible(out, run->settings[i].file);
			text_printf(out, "\n%s", run->settings[i].document);
		}
		return;
	}
	for (uint32_t i = 0; i < run->n_decisions; i++)
		text_printf(out, "%s\n", run->decisions[i].json);
}

/* The last; of a daemon's, which have one thing or the other, the last that has what is asked for. */
static enum err_code last_run(const struct journal_options *o, struct journal *j, int64_t *ret, struct err *e)
{
	uint32_t n = journal_run_count(j);

	*ret = n ? journal_run_id(j, n - 1) : 0;
	for (uint32_t i = n; i-- > 0 && !o->with_settings;) {
		struct journal_run run;
		bool is_it;

		TRY(journal_read(j, journal_run_id(j, i), false, &run, e));
		is_it = run.source == JOURNAL_PLAN || (o->with_state ? run.has_state : run.n_decisions > 0);
		journal_run_free(&run);
		if (!is_it)
			continue;
		*ret = journal_run_id(j, i);
		break;
	}
	return ERR_OK;
}

static enum err_code show_run(const struct journal_options *o, struct journal *j, struct text *out, struct err *e)
{
	int64_t id = o->run;
	struct journal_run run;

	if (!id)
		TRY(last_run(o, j, &id, e));
	TRY(journal_read(j, id, o->with_state || o->with_settings, &run, e));
	if (o->with_state && !run.state) {
		journal_run_free(&run);
		return err_fail(e, ERR_NOTFOUND, "%s: run %lld has no cluster recorded", o->file, (long long)id);
	}
	print_run(o, &run, out);
	journal_run_free(&run);
	return ERR_OK;
}

static int show(const struct journal_options *o)
{
	struct journal *j = NULL;
	struct text out = {0};
	struct err e;
	int rc;

	rc = journal_open(o->file, JOURNAL_READ, &j, &e) || show_run(o, j, &out, &e) ? cli_fail(&e) : EXIT_FINE;
	if (!rc)
		cli_print(&out);
	journal_close(j);
	text_free(&out);
	return rc;
}

int command_journal(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {.options = argp_options,
				  .parser = parse,
				  .args_doc = "check|salvage|show JOURNAL [NEW]",
				  .doc = doc,
				  .children = children};
	struct journal_options o = {0};

	cli_parse(&argp, argc, argv, &o);
	if (str_eq(o.what, "check"))
		return check(&o);
	return str_eq(o.what, "salvage") ? salvage(&o) : show(&o);
}
