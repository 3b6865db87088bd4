/* SPDX-License-Identifier: Apache-2.0 */
/* cede history: who had to go, from a journal. */
#include "journal/history.h"

#include "cli/common.h"
#include "journal/shadow.h"
#include "manifest/fields.h"

struct history_options {
	struct cli_output output;
	const char *file;
	struct history_filter filter;
	struct text pod; /* "ns/name" */
	bool is_shadow;
};

enum { KEY_QUEUE = 0x500, KEY_POD, KEY_SINCE, KEY_UNTIL, KEY_ACTION, KEY_RULE, KEY_STATE, KEY_SHADOW };

#define X(id, text) text,
const char *const history_state_words[] = {JOURNAL_STATE_LIST(X) NULL};
#undef X
/* That an eviction may go against; a plugin's rule has a name of its own. */
const char *const history_rule_words[] = {"budget", "opt-out", "driver", "thrash", NULL};

/* A name without a namespace is one of namespace default, as elsewhere. */
static void set_pod(struct history_options *o, const char *arg)
{
	text_reset(&o->pod);
	text_printf(&o->pod, "%s%s", strchr(arg, '/') ? "" : "default/", arg);
	o->filter.pod = text_str(&o->pod);
}

static error_t parse_filter(int key, char *arg, struct argp_state *state)
{
	struct history_options *o = state->input;

	switch (key) {
	case KEY_QUEUE:
		o->filter.queue = arg;
		return 0;
	case KEY_POD:
		set_pod(o, arg);
		return 0;
	case KEY_SINCE:
		o->filter.since_ns = cli_time(state, "since", arg);
		return 0;
	case KEY_UNTIL:
		o->filter.until_ns = cli_time(state, "until", arg);
		return 0;
	case KEY_ACTION:
		o->filter.action = action_words[cli_one_of(state, "--action", arg, action_words)];
		return 0;
	case KEY_RULE:
		o->filter.rule = arg;
		return 0;
	case KEY_SHADOW:
		o->is_shadow = true;
		return 0;
	case KEY_STATE:
		o->filter.state = (enum journal_state)cli_one_of(state, "--state", arg, history_state_words);
		o->filter.has_state = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct history_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one journal at a time, please: '%s' is the second", arg);
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->file)
			argp_error(state, "which journal? for example: cede history journal.db");
		return 0;
	default:
		return parse_filter(key, arg, state);
	}
}

static const struct argp_option argp_options[] = {
	{"queue", KEY_QUEUE, "QUEUE", 0, "Only what this queue, or one below it, lost or got", 0},
	{"pod", KEY_POD, "[NAMESPACE/]POD", 0, "Only where this pod was evicted or got the room", 0},
	{"since", KEY_SINCE, "TIME", 0, "From this time on, for example 2026-11-15T12:00:00Z", 0},
	{"until", KEY_UNTIL, "TIME", 0, "Up to this time", 0},
	{"action", KEY_ACTION, "NAME", 0,
	 "Only by this action: reclaim, preempt, displace, required-node, "
	 "consolidate, quota or stale-gang",
	 0},
	{"state", KEY_STATE, "STATE", 0,
	 "Only what is planned, decided, carried-out, observed (seen in the cluster) or failed", 0},
	{"shadow", KEY_SHADOW, NULL, 0, "Where cede run --shadow and the scheduler beside it part, and nothing else",
	 0},
	{"rule", KEY_RULE, "NAME", 0,
	 "Only against this rule, which would have spared the victim: budget, opt-out, driver or thrash", 0},
	{0},
};

static const char doc[] =
	"Show the evictions in a journal: when, which pod, for whom, by which action and against which rule, how much "
	"work was "
	"lost, and the sums per queue. What was only planned and what was done are summed apart."
	"\vA journal is written by cede plan, simulate and run with --journal. If something of what is shown is "
	"damaged or missing, that is said and nothing else; cede journal check reads everything.";

static enum err_code collect_runs(struct journal *j, struct history *h, struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		TRY(journal_read_evictions(j, journal_run_id(j, i), &run, e));
		history_add(h, &run);
		journal_run_free(&run);
	}
	return ERR_OK;
}

static enum err_code collect(const struct history_options *o, struct history *h, struct err *e)
{
	struct journal *j;
	enum err_code rc;

	TRY(journal_open(o->file, JOURNAL_READ, &j, e));
	rc = collect_runs(j, h, e);
	journal_close(j);
	return rc;
}

static enum err_code collect_shadow(struct journal *j, struct shadow *s, struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		TRY(journal_read(j, journal_run_id(j, i), false, &run, e));
		shadow_add(s, &run);
		journal_run_free(&run);
	}
	shadow_end(s);
	return ERR_OK;
}

static int print_shadow(const struct history_options *o)
{
	struct look look = cli_look(&o->output);
	struct journal *j = NULL;
	struct shadow s;
	struct text out = {0};
	struct emit e;
	struct err err = {0};
	int rc = EXIT_FINE;

	shadow_init(&s);
	if (journal_open(o->file, JOURNAL_READ, &j, &err) || collect_shadow(j, &s, &err)) {
		rc = cli_fail(&err);
	} else if (cli_is_data(&o->output)) {
		emit_init(&e, &out, cli_emit_format(&o->output));
		shadow_emit(&s, &e);
	} else {
		shadow_text(&s, &look, o->output.format == OUTPUT_WIDE, &out);
	}
	cli_print(&out);
	text_free(&out);
	shadow_free(&s);
	journal_close(j);
	return rc;
}

static void print_history(const struct history *h, const struct cli_output *o)
{
	struct look look = cli_look(o);
	struct text out = {0};
	struct emit e;

	if (cli_is_data(o)) {
		emit_init(&e, &out, cli_emit_format(o));
		history_emit(h, &e);
	} else {
		history_text(h, &look, o->format == OUTPUT_WIDE, &out);
	}
	cli_print(&out);
	text_free(&out);
}

int command_history(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "JOURNAL", .doc = doc, .children = children};
	struct history_options o = {.filter = {.since_ns = TIME_NONE, .until_ns = TIME_NONE}};
	struct history h;
	struct err e;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	if (o.is_shadow) {
		rc = print_shadow(&o);
		text_free(&o.pod);
		return rc;
	}
	history_init(&h, o.file, &o.filter);
	rc = collect(&o, &h, &e) ? cli_fail(&e) : EXIT_FINE;
	if (!rc)
		print_history(&h, &o.output);
	history_free(&h);
	text_free(&o.pod);
	return rc;
}
