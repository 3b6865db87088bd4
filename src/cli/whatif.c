/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/whatif.h"

#include "journal/difference.h"
#include "journal/record.h"

enum { KEY_ADD = 0x700, KEY_REMOVE, KEY_DRAIN, KEY_SET };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct whatif *w = state->input;

	switch (key) {
	case KEY_ADD:
		array_push(&w->add, arg);
		return 0;
	case KEY_REMOVE:
		array_push(&w->remove, arg);
		return 0;
	case KEY_DRAIN:
		array_push(&w->drain, arg);
		return 0;
	case KEY_SET:
		array_push(&w->set, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"add", KEY_ADD, "FILE|DIR", 0,
	 "As if these objects were there too, or in place of those of their name; of a Deployment, ReplicaSet, "
	 "StatefulSet, DaemonSet, Job or JobSet the pods it would make",
	 0},
	{"remove", KEY_REMOVE, "[NAMESPACE/]NAME", 0,
	 "As if this pod, or all pods of this group or workload, were gone; a name alone is in the namespace of -n, or "
	 "in default",
	 0},
	{"drain", KEY_DRAIN, "NODE", 0, "As if this node took no pods, and what runs there had to find another place",
	 0},
	{"set", KEY_SET, "KEY=VALUE", 0,
	 "As if this were set: a field of a CedeConfiguration (rules.opt-out.mode=hard) or of a queue "
	 "(queue.root.a.guaranteed.nvidia.com/gpu=16)",
	 0},
	{0},
};

const struct argp whatif_argp = {.options = argp_options, .parser = parse};

/* ---- the difference of two plans ---- */

struct changes {
	struct arena *arena;
	ARRAY(const char *) v;
};

static void add_changes(struct changes *c, const char *verb, const whatif_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		array_push(&c->v, arena_printf(c->arena, "%s %s", verb, list->v[i]));
}

static struct changes changes_of(const struct whatif *w)
{
	struct changes c = {.arena = arena_new(1024)};

	add_changes(&c, "add", &w->add);
	add_changes(&c, "remove", &w->remove);
	add_changes(&c, "drain", &w->drain);
	add_changes(&c, "set", &w->set);
	return c;
}

static void print_difference(const struct plan_difference *d, const struct cli_output *o)
{
	struct look look = cli_look(o);
	struct text out = {0};
	struct emit e;

	if (cli_is_data(o)) {
		emit_init(&e, &out, cli_emit_format(o));
		plan_difference_emit(d, &e);
	} else {
		plan_difference_text(d, &look, &out);
	}
	cli_print(&out);
	text_free(&out);
}

/* The decisions of one plan; what they were made of is let go. */
static int plan_side(struct cli_cluster *c, const struct planning *planning, struct running_pods *running,
		     struct journal_run *run, struct plan_side *ret)
{
	struct planned p;
	struct plan_counts n;
	int rc = planning_run(planning, c, &p);

	if (!rc) {
		journal_decisions(&p.view, run);
		if (running)
			running_pods_init(running, &p.view);
		n = plan_counts(&p.view);
		*ret = (struct plan_side){run, n.placed, n.nominated, n.waiting, n.gated};
	}
	planned_free(&p);
	return rc;
}

static int load_and_plan(struct cli_input *in, const struct whatif *w, const struct planning *planning,
			 const char *command, struct running_pods *running, struct journal_run *run,
			 struct plan_side *ret)
{
	struct cli_cluster c;
	int rc = cli_load_changed(in, w, command, &c);

	if (!rc)
		rc = plan_side(&c, planning, running, run, ret);
	cli_cluster_free(&c);
	return rc;
}

/* Both are read, one after the other: what the settings say decides how the cluster is read. */
int whatif_plan(struct cli_input *in, const struct whatif *w, const struct planning *planning,
		const struct cli_output *out, bool is_strict, const char *command)
{
	struct changes changes = changes_of(w);
	struct running_pods running = {0};
	struct plan_difference d = {
		.changes = changes.v.v, .n_changes = changes.v.n, .running = &running, .ns = in->ns};
	struct journal_run was = {0}, is = {0};
	int rc;

	in->keeps_standard_input = true;
	rc = load_and_plan(in, NULL, planning, command, &running, &was, &d.was);
	if (!rc)
		rc = load_and_plan(in, w, planning, command, NULL, &is, &d.is);
	if (!rc) {
		d.now_ns = was.now_ns;
		plan_difference_init(&d);
		print_difference(&d, out);
		rc = is_strict && plan_difference_adds_waiting(&d) ? EXIT_STRICT : EXIT_FINE;
		run_diff_free(&d.diff);
	}
	running_pods_free(&running);
	journal_run_free(&was);
	journal_run_free(&is);
	array_free(&changes.v);
	arena_free(changes.arena);
	return rc;
}
