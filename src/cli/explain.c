/* SPDX-License-Identifier: Apache-2.0 */
/* cede explain: why one pod, or one group, waits, goes, stays or gets its place. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/planning.h"
#include "cli/remote.h"
#include "cli/whatif.h"
#include "serve/planner.h"

struct explain_options {
	struct cli_input input;
	struct cli_output output;
	struct whatif whatif;
	struct planning planning;
	struct remote remote;
	const char *target;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->planning;
		state->child_inputs[3] = &o->whatif;
		state->child_inputs[4] = &o->input;
		state->child_inputs[5] = &o->remote;
		return 0;
	case ARGP_KEY_ARG:
		if (o->target)
			argp_error(state, "one pod, group or queue at a time, please: '%s' is the second", arg);
		o->target = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->target)
			argp_error(state,
				   "which pod, group or queue? for example: cede explain -f cluster.yaml ml/train-0");
		if (o->remote.url && (o->input.files.n || o->input.kubeconfig || !whatif_is_empty(&o->whatif)))
			argp_error(state, "--server knows its cluster: it goes with neither files nor what if");
		if (!o->remote.url && (o->remote.token_file || o->remote.ca_file))
			argp_error(state, "--token-file, --ca-file: for which server? --server URL is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] =
	"Say why a pod or a group waits, has to go, stays or gets its place: one sentence first, then, "
	"if it waits, every node and what became of it, what it would take, and when it will start if nothing else "
	"happens; of a group all its pods; of a queue why it is short, and which rule holds back how much. "
	"The plan is that of cede plan; nothing is changed."
	"\vA pod or group is named NAMESPACE/NAME, or NAME alone for the namespace of -n (else default); "
	"a queue by its path (root.a.b), or the name of its KAI Queue. "
	"If there are several, a pod is meant before a group, and a group before a queue.";

/* What a server is asked for. */
static int explain_there(const struct explain_options *o)
{
	struct look look = cli_look(&o->output);
	struct text path = {0}, out = {0};
	struct err e = {0};
	int rc = EXIT_FINE;

	text_add(&path, "/api/v1/explain/");
	remote_escape(o->target, &path);
	text_printf(&path, "?output=%s", cli_output_words[o->output.format]);
	if (o->input.ns) {
		text_add(&path, "&namespace=");
		remote_escape(o->input.ns, &path);
	}
	if (look.width >= 20 && look.width <= 1000)
		text_printf(&path, "&width=%u", look.width);
	if (remote_get(&o->remote, text_str(&path), &out, &e))
		rc = cli_fail(&e);
	else
		cli_print(&out);
	text_free(&path);
	text_free(&out);
	return rc;
}

static int explain(const struct explain_options *o, struct cli_cluster *c, const struct explain_target *t)
{
	struct explain_look look = {.is_data = cli_is_data(&o->output),
				    .is_wide = o->output.format == OUTPUT_WIDE,
				    .format = cli_emit_format(&o->output),
				    .look = cli_look(&o->output)};
	struct planning planning = o->planning;
	struct text out = {0};
	struct planned p;
	int rc;

	planning.target = t;
	rc = planning_run(&planning, c, &p);
	if (!rc) {
		struct serve_world world = {.cluster = c->cluster,
					    .config = c->config,
					    .manifest = c->manifest,
					    .plugins = p.plugins,
					    .now_ns = c->now_ns};
		struct world_plan plan = {
			.engine = p.engine, .own = p.engine, .view = p.view, .cycles = planning.cycles};

		explain_write(&world, &plan, t, &look, &out);
		cli_print(&out);
		text_free(&out);
	}
	planned_free(&p);
	return rc;
}

static int explain_here(struct explain_options *o, const char *command)
{
	struct explain_target t;
	struct cli_cluster c;
	struct err e;
	int rc = cli_load_changed(&o->input, &o->whatif, command, &c);

	if (!rc)
		rc = explain_find(c.cluster, o->input.ns ? o->input.ns : "default", o->target, &t, &e)
			     ? cli_fail(&e)
			     : explain(o, &c, &t);
	cli_cluster_free(&c);
	return rc;
}

int command_explain(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_input_argp, 0, "Input:", 1},
						     {&cli_output_argp, 0, "Output:", 2},
						     {&planning_argp, 0, "Planning:", 3},
						     {&whatif_argp, 0, "What if:", 4},
						     {&cli_namespace_argp, 0, NULL, 1},
						     {&remote_argp, 0, "From a server:", 5},
						     {0}};
	const struct argp argp = {
		.parser = parse, .args_doc = "[NAMESPACE/]POD|GROUP|QUEUE", .doc = doc, .children = children};
	struct explain_options o = {.planning = {.cycles = 1}};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = o.remote.url ? explain_there(&o) : explain_here(&o, argv[0]);
	whatif_free(&o.whatif);
	cli_input_free(&o.input);
	return rc;
}
