/* SPDX-License-Identifier: Apache-2.0 */
/* cede explain: why one pod, or one group, waits, goes, stays or gets its place. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/planning.h"
#include "cli/whatif.h"
#include "explain/explanation.h"
#include "explain/group_text.h"
#include "explain/queue_text.h"
#include "manifest/suggest.h"

struct explain_options {
	struct cli_input input;
	struct cli_output output;
	struct whatif whatif;
	struct planning planning;
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

struct target { /* one of them */
	pod_id pod;
	group_id group;
	queue_id queue;
};

static group_id find_group(const struct cluster *c, const char *ns, const char *name)
{
	const struct ledger *l = cluster_ledger(c);
	const struct names *names = vocab_names(ledger_vocab(l));
	name_id ns_id = names_find(names, ns, strlen(ns)), id = names_find(names, name, strlen(name));

	return ns_id == NAME_NONE || id == NAME_NONE ? GROUP_NONE : ledger_group_find(l, ns_id, id);
}

/* A path, or the name of a KAI Queue. */
static queue_id find_queue(const struct cluster *c, const char *text)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(c));
	queue_id q = queue_tree_find(t, text, strlen(text));

	if (q == QUEUE_NONE)
		q = queue_tree_find_kai(t, names_find(t->names, text, strlen(text)));
	return q != QUEUE_NONE && queue_get(t, q)->is_live ? q : QUEUE_NONE;
}

static enum err_code not_found(const struct cluster *c, const char *ns, const char *name, const char *text,
			       struct err *e)
{
	bool is_path = str_starts(text, "root.");
	struct text near = {0};
	enum err_code rc;

	if (is_path)
		suggest_queue(c, text, &near);
	else
		suggest_pod(c, ns, name, &near);
	if (is_path)
		rc = err_fail(e, ERR_NOTFOUND, "there is no queue %s in what was read%s", text, text_str(&near));
	else
		rc = err_fail(e, ERR_NOTFOUND, "there is no pod and no group %s/%s%s in what was read%s", ns, name,
			      strchr(text, '/') ? "" : ", and no such queue", text_str(&near));
	text_free(&near);
	return rc;
}

/* "ns/name" or "name" of a pod or group, or the path of a queue. */
static enum err_code find_target(const struct cluster *c, const char *default_ns, const char *text, struct target *ret,
				 struct err *e)
{
	const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
	struct text ns = {0};
	enum err_code rc = ERR_OK;

	if (slash)
		text_add_n(&ns, text, (size_t)(slash - text));
	else
		text_add(&ns, default_ns);
	ret->pod = cluster_find_pod(c, text_str(&ns), name);
	ret->group = ret->pod == POD_NONE ? find_group(c, text_str(&ns), name) : GROUP_NONE;
	ret->queue = ret->pod == POD_NONE && ret->group == GROUP_NONE && !slash ? find_queue(c, text) : QUEUE_NONE;
	if (ret->pod == POD_NONE && ret->group == GROUP_NONE && ret->queue == QUEUE_NONE)
		rc = not_found(c, text_str(&ns), name, text, e);
	text_free(&ns);
	return rc;
}

/* What would let it start, and when: the plan is made again and again, with one thing or the time different. */
static bool find_outlook(const struct explain_options *o, const struct planned *p, const struct cli_cluster *c,
			 const struct decision *waits, struct outlook *ret)
{
	struct remedy_question q = {.cluster = c->cluster,
				    .config = c->config,
				    .run = {.now_ns = c->now_ns, .cycles = o->planning.cycles},
				    .waits = waits};

	if (!waits || waits->outcome != OUTCOME_WAITING)
		return false;
	q.extra = plugins_loaded(p->plugins, &q.n_extra);
	outlook_find(&q, ret);
	return true;
}

struct writing {
	const struct explain_options *o;
	const struct planned *p;
	const struct cli_cluster *c;
	struct look look;
	bool is_wide, is_data;
	struct emit emit;
	struct text *out;
};

static void write_pod(struct writing *w, pod_id pod)
{
	struct explanation x;

	explanation_init(&x, &w->p->view, pod);
	x.has_outlook = find_outlook(w->o, w->p, w->c, x.own, &x.outlook);
	explanation_words(&x, w->p->engine);
	if (w->is_data)
		explanation_emit(&x, &w->emit);
	else
		explanation_text(&x, &w->look, w->is_wide, w->out);
	explanation_free(&x);
}

static void write_group(struct writing *w, group_id group)
{
	const struct plan_view *v = &w->p->view;
	struct outlook outlook;
	bool has = find_outlook(w->o, w->p, w->c, group_waits(v, group), &outlook);

	if (w->is_data)
		group_emit(v, group, has ? &outlook : NULL, &w->emit);
	else
		group_text(v, group, has ? &outlook : NULL, &w->look, w->is_wide, w->out);
}

static void write_queue(struct writing *w, queue_id queue)
{
	const struct plan_view *v = &w->p->view;
	struct outlook outlook;
	bool has = find_outlook(w->o, w->p, w->c, queue_waits(v, queue), &outlook);

	if (w->is_data)
		queue_emit(v, queue, has ? &outlook : NULL, &w->emit);
	else
		queue_text(v, queue, has ? &outlook : NULL, &w->look, w->out);
}

static void write_target(const struct explain_options *o, const struct planned *p, const struct cli_cluster *c,
			 const struct target *t, struct text *out)
{
	struct writing w = {.o = o,
			    .p = p,
			    .c = c,
			    .look = cli_look(&o->output),
			    .is_wide = o->output.format == OUTPUT_WIDE,
			    .is_data = cli_is_data(&o->output),
			    .out = out};

	if (w.is_data)
		emit_init(&w.emit, out, cli_emit_format(&o->output));
	if (t->pod != POD_NONE)
		write_pod(&w, t->pod);
	else if (t->group != GROUP_NONE)
		write_group(&w, t->group);
	else
		write_queue(&w, t->queue);
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
		write_target(o, &p, c, t, &out);
		cli_print(&out);
		text_free(&out);
	}
	planned_free(&p);
	return rc;
}

int command_explain(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&cli_input_argp, 0, "Input:", 1},   {&cli_output_argp, 0, "Output:", 2},
		{&planning_argp, 0, "Planning:", 3}, {&whatif_argp, 0, "What if:", 4},
		{&cli_namespace_argp, 0, NULL, 1},   {0}};
	const struct argp argp = {
		.parser = parse, .args_doc = "[NAMESPACE/]POD|GROUP|QUEUE", .doc = doc, .children = children};
	struct explain_options o = {.planning = {.cycles = 1, .report = POD_NONE}};
	struct cli_cluster c;
	struct err e;
	struct target t;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = cli_load_changed(&o.input, &o.whatif, argv[0], &c);
	if (!rc)
		rc = find_target(c.cluster, o.input.ns ? o.input.ns : "default", o.target, &t, &e)
			     ? cli_fail(&e)
			     : explain(&o, &c, &t);
	cli_cluster_free(&c);
	whatif_free(&o.whatif);
	cli_input_free(&o.input);
	return rc;
}
