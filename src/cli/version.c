/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_version(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
	const struct argp argp = {.parser = parse, .doc = "Say which version this is.", .children = children};
	struct cli_output o = {0};
	struct text out = {0};
	struct emit e;

	cli_parse(&argp, argc, argv, &o);
	if (cli_is_data(&o)) {
		emit_init(&e, &out, cli_emit_format(&o));
		emit_object(&e, NULL);
		emit_str(&e, "kind", "Version");
		emit_str(&e, "version", CEDE_VERSION);
		emit_end(&e);
	} else {
		text_add(&out, "cede " CEDE_VERSION "\n");
	}
	cli_print(&out);
	text_free(&out);
	return EXIT_FINE;
}
