/* SPDX-License-Identifier: Apache-2.0 */
/* cede plan: what would happen now. Nothing is changed. */
#include <signal.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/planning.h"
#include "cli/whatif.h"
#include "explain/plan_view.h"
#include "journal/journal.h"
#include "manifest/fields.h"

struct plan_options {
	struct cli_input input;
	struct cli_output output;
	struct planning planning;
	struct whatif whatif;
	bool is_strict;
	const char *journal;
	struct journal_keep keep;
};

enum { KEY_STRICT = 0x300, KEY_JOURNAL, KEY_KEEP };

static void set_keep(struct plan_options *o, const char *arg, struct argp_state *state)
{
	struct err e;

	if (journal_keep_parse(arg, &o->keep, &e))
		argp_error(state, "--journal-keep: %s", e.msg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plan_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->planning;
		state->child_inputs[3] = &o->whatif;
		state->child_inputs[4] = &o->input;
		return 0;
	case KEY_STRICT:
		o->is_strict = true;
		return 0;
	case KEY_JOURNAL:
		o->journal = arg;
		return 0;
	case KEY_KEEP:
		set_keep(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!o->journal && (o->keep.age_ns || o->keep.bytes))
			argp_error(state, "--journal-keep: of which journal? --journal FILE is missing");
		if (o->journal && !whatif_is_empty(&o->whatif))
			argp_error(state, "--journal keeps what was planned for the cluster as it is; "
					  "not with --add, --remove, --drain or --set");
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option; files are read with -f %s", arg, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"journal", KEY_JOURNAL, "FILE", 0, "Record the plan in this file, for cede history and cede replay", 0},
	{"journal-keep", KEY_KEEP, "AGE|SIZE", 0,
	 "Remove the oldest runs of the journal: those older than 30d, or until it is smaller than 2GiB; both: "
	 "30d,2GiB",
	 0},
	{"strict", KEY_STRICT, NULL, 0, "Exit with 1 if some pod keeps waiting", 0},
	{0},
};

static const char doc[] = "Show what would happen now: which pods get a node, which are evicted for them and why, and "
			  "which keep waiting. "
			  "Nothing is changed."
			  "\vOne cycle tries every waiting pod once. "
			  "With --cycles N, victims are gone before the next cycle, and nominated pods "
			  "are tried again.";

static void print_plan(const struct plan_view *v, const struct cli_output *o)
{
	struct look look = cli_look(o);
	struct text out = {0};
	struct emit e;

	if (cli_is_data(o)) {
		emit_init(&e, &out, cli_emit_format(o));
		plan_view_emit(v, &e);
	} else {
		plan_view_text(v, &look, o->format == OUTPUT_WIDE, &out);
	}
	cli_print(&out);
	text_free(&out);
}

static int plan_as_it_is(struct plan_options *o, const char *command)
{
	struct cli_cluster c;
	struct planned p;
	int rc = cli_load(&o->input, command, &c);

	if (!rc) {
		rc = planning_run(&o->planning, &c, &p);
		if (!rc && o->journal)
			rc = planned_record(&p, &c, o->planning.cycles, o->journal, &o->keep);
		if (!rc) {
			print_plan(&p.view, &o->output);
			rc = o->is_strict && plan_counts(&p.view).waiting ? EXIT_STRICT : EXIT_FINE;
		}
		planned_free(&p);
	}
	cli_cluster_free(&c);
	return rc;
}

int command_plan(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&cli_input_argp, 0, "Input:", 1},   {&cli_output_argp, 0, "Output:", 2},
		{&planning_argp, 0, "Planning:", 3}, {&whatif_argp, 0, "What if (prints how the plan differs):", 4},
		{&cli_namespace_argp, 0, NULL, 1},   {0}};
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc, .children = children};
	struct plan_options o = {.planning = {.cycles = 1}};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	o.planning.ns = o.input.ns;
	rc = whatif_is_empty(&o.whatif)
		     ? plan_as_it_is(&o, argv[0])
		     : whatif_plan(&o.input, &o.whatif, &o.planning, &o.output, o.is_strict, argv[0]);
	whatif_free(&o.whatif);
	cli_input_free(&o.input);
	return rc;
}
