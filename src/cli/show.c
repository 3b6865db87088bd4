/* SPDX-License-Identifier: Apache-2.0 */
/* cede show: the cluster as it was read, before anybody decides anything. */
#include "cli/common.h"
#include "cli/whatif.h"
#include "explain/cluster_view.h"

struct show_options {
	struct cli_input input;
	struct cli_output output;
	struct whatif whatif;
	bool as_manifests;
};

enum { KEY_MANIFESTS = 0x200 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->whatif;
		state->child_inputs[3] = &o->input;
		return 0;
	case KEY_MANIFESTS:
		o->as_manifests = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option; files are read with -f %s", arg, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"manifests", KEY_MANIFESTS, NULL, 0,
	 "Print the cluster as manifests that read back as the same cluster, "
	 "in order and without what cede does not read: YAML, or a List with -o json",
	 0},
	{0},
};

static const char doc[] =
	"Show the cluster as it was read: queues with what they use and are guaranteed, nodes with what is free, "
	"what waits and what is leaving, groups and budgets. Nothing is decided and nothing is changed."
	"\vQueues are drawn as a tree; each resource is shown as used/guaranteed/max. "
	"A queue is 'over' where it uses more than its guarantee, "
	"and 'short' where it uses less while work that asks for it waits. "
	"More than 40 nodes are shown by kind: what is free and what there is in all of them, "
	"and the most that is free on one. -o wide lists every node, and also what is running. "
	"-o json and -o yaml have everything, in exact numbers.";

static void print_view(const struct cluster_view *v, const struct cli_output *o)
{
	struct look look = cli_look(o);
	struct text out = {0};
	struct emit e;

	if (cli_is_data(o)) {
		emit_init(&e, &out, cli_emit_format(o));
		cluster_view_emit(v, &e);
	} else {
		cluster_view_text(v, &look, o->format == OUTPUT_WIDE, &out);
	}
	cli_print(&out);
	text_free(&out);
}

static void print_manifests(const struct cluster *c, const struct cli_output *o)
{
	struct text out = {0};
	struct emit e;

	emit_init(&e, &out, cli_emit_format(o));
	manifest_write(c, &e);
	cli_print(&out);
	text_free(&out);
}

static void print_cluster(const struct cli_cluster *c, const char *ns, const struct cli_output *o)
{
	struct cluster_view v;

	cluster_view_init(&v, c->cluster, c->now_ns);
	if (ns)
		cluster_view_narrow(&v, ns);
	print_view(&v, o);
	cluster_view_free(&v);
}

int command_show(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_input_argp, 0, "Input:", 1},
						     {&cli_output_argp, 0, "Output:", 2},
						     {&whatif_argp, 0, "What if:", 3},
						     {&cli_namespace_argp, 0, NULL, 1},
						     {0}};
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc, .children = children};
	struct show_options o = {0};
	struct cli_cluster c;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = cli_load_changed(&o.input, &o.whatif, argv[0], &c);
	if (!rc && o.as_manifests)
		print_manifests(c.cluster, &o.output);
	else if (!rc)
		print_cluster(&c, o.input.ns, &o.output);
	cli_cluster_free(&c);
	whatif_free(&o.whatif);
	cli_input_free(&o.input);
	return rc;
}
