/* SPDX-License-Identifier: Apache-2.0 */
/* cede explain: why one pod, or one group, waits, goes, stays or gets its place. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/planning.h"
#include "cli/whatif.h"
#include "explain/explanation.h"
#include "explain/group_text.h"
#include "explain/remedy.h"

struct explain_options {
	struct cli_input input;
	struct cli_output output;
	struct whatif whatif;
	struct planning planning;
	const char *pod;
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
		return 0;
	case ARGP_KEY_ARG:
		if (o->pod)
			argp_error(state, "one pod or group at a time, please: '%s' is the second", arg);
		o->pod = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->pod)
			argp_error(state, "which pod or group? for example: cede explain -f cluster.yaml ml/train-0");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] =
	"Say why a pod or a group waits, has to go, stays or gets its place: one sentence first, then, "
	"if it waits, every node and what became of it; of a group all its pods. "
	"The plan is that of cede plan; nothing is changed."
	"\vA pod or group is named NAMESPACE/NAME, or NAME alone for namespace default. "
	"If there are both, the pod is meant.";

enum { NAMESAKES_MAX = 3 };

struct target { /* one of them */
	pod_id pod;
	group_id group;
};

static group_id find_group(const struct cluster *c, const char *ns, const char *name)
{
	const struct ledger *l = cluster_ledger(c);
	const struct names *names = vocab_names(ledger_vocab(l));
	name_id ns_id = names_find(names, ns, strlen(ns)), id = names_find(names, name, strlen(name));

	return ns_id == NAME_NONE || id == NAME_NONE ? GROUP_NONE : ledger_group_find(l, ns_id, id);
}

/* "; there is b/dist" where somebody of this name is in other namespaces: the first few of them. */
static void add_namesakes(const struct cluster *c, const char *name, struct text *out)
{
	const struct ledger *l = cluster_ledger(c);
	struct vocab *v = ledger_vocab(l);
	name_id id = names_find(vocab_names(v), name, strlen(name));
	uint32_t n = 0;

	for (pod_id p = 0; id != NAME_NONE && p < ledger_pod_limit(l); p++)
		if (ledger_pod(l, p)->state != POD_FREE && ledger_pod(l, p)->name == id && n++ < NAMESAKES_MAX)
			text_printf(out, "%s%s/%s", n > 1 ? ", " : "; there is ",
				    name_str(vocab_names(v), labelset_get(v, ledger_pod(l, p)->labelset)->ns), name);
	for (group_id g = 0; id != NAME_NONE && g < ledger_group_limit(l); g++)
		if (ledger_group(l, g)->is_live && ledger_group(l, g)->obj->name == id && n++ < NAMESAKES_MAX)
			text_printf(out, "%s%s/%s", n > 1 ? ", " : "; there is ",
				    name_str(vocab_names(v), ledger_group(l, g)->obj->ns), name);
}

/* "ns/name" or "name". */
static enum err_code find_target(const struct cluster *c, const char *text, struct target *ret, struct err *e)
{
	const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
	struct text ns = {0}, others = {0};
	enum err_code rc = ERR_OK;

	if (slash)
		text_add_n(&ns, text, (size_t)(slash - text));
	else
		text_add(&ns, "default");
	ret->pod = cluster_find_pod(c, text_str(&ns), name);
	ret->group = ret->pod == POD_NONE ? find_group(c, text_str(&ns), name) : GROUP_NONE;
	if (ret->pod == POD_NONE && ret->group == GROUP_NONE) {
		add_namesakes(c, name, &others);
		rc = err_fail(e, ERR_NOTFOUND, "there is no pod and no group %s/%s in what was read%s", text_str(&ns),
			      name, text_str(&others));
	}
	text_free(&others);
	text_free(&ns);
	return rc;
}

/* What would let a waiting pod run: the plan is made again and again, with one thing different each time. */
static void find_remedies(const struct explain_options *o, const struct planned *p, const struct cli_cluster *c,
			  struct explanation *x)
{
	struct remedy_question q = {.cluster = c->cluster,
				    .config = c->config,
				    .run = {.now_ns = c->now_ns, .cycles = o->planning.cycles},
				    .waits = x->own};

	if (!x->own || x->own->outcome != OUTCOME_WAITING)
		return;
	q.extra = plugins_loaded(p->plugins, &q.n_extra);
	x->n_remedies = remedies_find(&q, x->remedies);
	x->has_remedies = true;
}

static void write_pod(const struct explain_options *o, const struct planned *p, const struct cli_cluster *c, pod_id pod,
		      struct text *out)
{
	struct look look = cli_look(&o->output);
	struct explanation x;
	struct emit e;

	explanation_init(&x, &p->view, pod);
	find_remedies(o, p, c, &x);
	explanation_words(&x, p->engine);
	if (cli_is_data(&o->output)) {
		emit_init(&e, out, cli_emit_format(&o->output));
		explanation_emit(&x, &e);
	} else {
		explanation_text(&x, &look, o->output.format == OUTPUT_WIDE, out);
	}
	explanation_free(&x);
}

static void write_group(const struct explain_options *o, const struct planned *p, group_id group, struct text *out)
{
	struct look look = cli_look(&o->output);
	struct emit e;

	if (cli_is_data(&o->output)) {
		emit_init(&e, out, cli_emit_format(&o->output));
		group_emit(&p->view, group, &e);
	} else {
		group_text(&p->view, group, &look, o->output.format == OUTPUT_WIDE, out);
	}
}

static int explain(const struct explain_options *o, struct cli_cluster *c, const struct target *t)
{
	struct planning planning = o->planning;
	struct text out = {0};
	struct planned p;
	int rc;

	planning.report = t->pod;
	rc = planning_run(&planning, c, &p);
	if (!rc) {
		if (t->pod != POD_NONE)
			write_pod(o, &p, c, t->pod, &out);
		else
			write_group(o, &p, t->group, &out);
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
						     {&whatif_argp, 0, "What if:", 4},
						     {0}};
	const struct argp argp = {
		.parser = parse, .args_doc = "[NAMESPACE/]POD|GROUP", .doc = doc, .children = children};
	struct explain_options o = {.planning = {.cycles = 1, .report = POD_NONE}};
	struct cli_cluster c;
	struct err e;
	struct target t;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = cli_load_changed(&o.input, &o.whatif, argv[0], &c);
	if (!rc)
		rc = find_target(c.cluster, o.pod, &t, &e) ? cli_fail(&e) : explain(&o, &c, &t);
	cli_cluster_free(&c);
	whatif_free(&o.whatif);
	cli_input_free(&o.input);
	return rc;
}
