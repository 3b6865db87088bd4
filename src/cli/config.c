/* SPDX-License-Identifier: Apache-2.0 */
/* cede config print: the settings in effect, and where each comes from. */
#include "cli/common.h"
#include "manifest/config_view.h"

struct config_options {
	struct cli_input input;
	struct cli_output output;
	const char *what;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
		return 0;
	case ARGP_KEY_ARG:
		if (o->what || !str_eq(arg, "print"))
			argp_error(state, "'%s' cannot be done with settings; known: print", arg);
		o->what = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->what)
			argp_error(state, "what is to be done? for example: cede config print --config cede.yaml");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] =
	"Print the settings in effect with where each comes from: a file and line, the profile, an option, or the "
	"default. As text it is a CedeConfiguration that reads back as the same settings. "
	"Without files these are the defaults.";

static int load(struct cli_input *in, struct cli_cluster *c)
{
	struct err e;

	c->vocab = vocab_new();
	c->manifest = manifest_new(c->vocab);
	c->config = engine_config_new();
	if (cli_configure(in, c, &e))
		return cli_fail(&e);
	if (!in->is_quiet)
		cli_notes(in, c->manifest);
	return EXIT_FINE;
}

static void print_config(const struct config_options *o, const struct cli_cluster *c)
{
	struct config_view v = {.manifest = c->manifest, .config = c->config, .has_profile = o->input.has_profile};
	struct text out = {0};
	struct emit e;

	if (cli_is_data(&o->output)) {
		emit_init(&e, &out, cli_emit_format(&o->output));
		config_view_emit(&v, &e);
	} else {
		config_view_text(&v, &out);
	}
	cli_print(&out);
	text_free(&out);
}

int command_config(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&cli_input_argp, 0, "Input:", 1}, {&cli_output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {.parser = parse, .args_doc = "print", .doc = doc, .children = children};
	struct config_options o = {0};
	struct cli_cluster c = {0};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = load(&o.input, &c);
	if (!rc)
		print_config(&o, &c);
	cli_cluster_free(&c);
	cli_input_free(&o.input);
	return rc;
}
