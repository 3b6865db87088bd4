/* SPDX-License-Identifier: Apache-2.0 */
/* cede plan: what would happen now. Nothing is changed. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/planning.h"
#include "explain/plan_view.h"

struct options {
	struct cli_input input;
	struct cli_output output;
	struct planning planning;
	bool is_strict;
};

enum { KEY_STRICT = 0x300 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->planning;
		return 0;
	case KEY_STRICT:
		o->is_strict = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option; files are read with -f %s", arg, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"strict", KEY_STRICT, NULL, 0, "Exit with 1 if some pod keeps waiting", 0},
	{0},
};

static const char doc[] =
	"Show what would happen now: who gets a place and where, who has to go for it and why, and who keeps waiting. "
	"Nothing is changed."
	"\vOne cycle tries every waiting pod once. "
	"With --cycles N, pods that had to go are gone before the next cycle, and pods that were promised their room "
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

int command_plan(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_input_argp, 0, "Input:", 1},
						     {&cli_output_argp, 0, "Output:", 2},
						     {&planning_argp, 0, "Planning:", 3},
						     {0}};
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc, .children = children};
	struct options o = {.planning = {.cycles = 1, .report = POD_NONE}};
	struct cli_cluster c;
	struct planned p;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = cli_load(&o.input, argv[0], &c);
	if (!rc) {
		rc = planning_run(&o.planning, &c, &p);
		if (!rc) {
			print_plan(&p.view, &o.output);
			rc = o.is_strict && p.plan.waiting ? EXIT_STRICT : EXIT_FINE;
		}
		planned_free(&p);
	}
	cli_cluster_free(&c);
	cli_input_free(&o.input);
	return rc;
}
