/* SPDX-License-Identifier: Apache-2.0 */
/* cede lint: settings that are allowed and do not do what they seem to. */
#include "explain/lint.h"

#include "cli/common.h"

struct lint_options {
	struct cli_input input;
	struct cli_output output;
	bool is_strict;
};

enum { KEY_STRICT = 0x600 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lint_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
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
	{"strict", KEY_STRICT, NULL, 0, "Exit with 1 if there is a warning", 0},
	{0},
};

static const char doc[] =
	"Look for settings that are allowed and do not do what they seem to: guarantees that add up "
	"to more than there is or "
	"that no set of nodes can hold, fences that can never matter, property values that were not "
	"understood, work "
	"that can never be placed (selectors, taints, gangs larger than the cluster), claims that are "
	"not there or never bound, and rules that undo each other, such as a guarantee behind a fence that leaves "
	"nobody to reclaim from.";

static bool has_warning(const struct lint *l)
{
	for (uint32_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].level == LINT_WARNING)
			return true;
	return false;
}

static void print_lint(const struct lint *l, const struct cli_output *o)
{
	struct look look = cli_look(o);
	struct text out = {0};
	struct emit e;

	if (cli_is_data(o)) {
		emit_init(&e, &out, cli_emit_format(o));
		lint_emit(l, &e);
	} else {
		lint_text(l, &look, &out);
	}
	cli_print(&out);
	text_free(&out);
}

int command_lint(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&cli_input_argp, 0, "Input:", 1}, {&cli_output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc, .children = children};
	struct lint_options o = {0};
	struct cli_cluster c;
	struct lint l = {0};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	l.arena = arena_new(16384);
	o.input.is_quiet = true; /* notes are findings here */
	rc = cli_load(&o.input, argv[0], &c);
	if (!rc) {
		for (uint32_t i = 0; i < manifest_note_count(c.manifest); i++)
			lint_add_note(&l, manifest_note(c.manifest, i));
		lint_cluster(&l, c.cluster);
		print_lint(&l, &o.output);
		rc = o.is_strict && has_warning(&l) ? EXIT_STRICT : EXIT_FINE;
	}
	lint_free(&l);
	cli_cluster_free(&c);
	cli_input_free(&o.input);
	return rc;
}
