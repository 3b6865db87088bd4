/* SPDX-License-Identifier: Apache-2.0 */
/* cede explain: why one pod waits, goes, stays or gets its place. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/planning.h"
#include "explain/explanation.h"

struct options {
	struct cli_input input;
	struct cli_output output;
	struct planning planning;
	const char *pod;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->planning;
		return 0;
	case ARGP_KEY_ARG:
		if (o->pod)
			argp_error(state, "one pod at a time, please: '%s' is the second", arg);
		o->pod = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->pod)
			argp_error(state, "which pod? for example: cede explain -f cluster.yaml ml/train-0");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] = "Say why a pod waits, has to go, stays or gets its place: one sentence first, then, if it "
			  "waits, every node and what became of it. "
			  "The plan is that of cede plan; nothing is changed."
			  "\vA pod is named NAMESPACE/NAME, or NAME alone for namespace default.";

/* "ns/name" or "name". */
static enum err_code find_pod(const struct cluster *c, const char *text, pod_id *ret, struct err *e)
{
	const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
	struct text ns = {0};
	enum err_code rc = ERR_OK;

	if (slash)
		text_add_n(&ns, text, (size_t)(slash - text));
	else
		text_add(&ns, "default");
	*ret = cluster_find_pod(c, text_str(&ns), name);
	if (*ret == POD_NONE)
		rc = err_fail(e, ERR_NOTFOUND, "there is no pod %s/%s in what was read", text_str(&ns), name);
	text_free(&ns);
	return rc;
}

static int explain(const struct options *o, struct cli_cluster *c, pod_id pod)
{
	struct planning planning = o->planning;
	struct look look = cli_look(&o->output);
	struct explanation x;
	struct text out = {0};
	struct planned p;
	struct emit e;
	int rc;

	planning.report = pod;
	rc = planning_run(&planning, c, &p);
	if (!rc) {
		explanation_init(&x, &p.view, p.engine, pod);
		if (cli_is_data(&o->output)) {
			emit_init(&e, &out, cli_emit_format(&o->output));
			explanation_emit(&x, &e);
		} else {
			explanation_text(&x, &look, o->output.format == OUTPUT_WIDE, &out);
		}
		explanation_free(&x);
		cli_print(&out);
		text_free(&out);
	}
	planned_free(&p);
	return rc;
}

int command_explain(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_input_argp, 0, "Input:", 1},
						     {&cli_output_argp, 0, "Output:", 2},
						     {&planning_argp, 0, "Planning:", 3},
						     {0}};
	const struct argp argp = {.parser = parse, .args_doc = "[NAMESPACE/]POD", .doc = doc, .children = children};
	struct options o = {.planning = {.cycles = 1, .report = POD_NONE}};
	struct cli_cluster c;
	struct err e;
	pod_id pod;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = cli_load(&o.input, argv[0], &c);
	if (!rc)
		rc = find_pod(c.cluster, o.pod, &pod, &e) ? cli_fail(&e) : explain(&o, &c, pod);
	cli_cluster_free(&c);
	cli_input_free(&o.input);
	return rc;
}
