/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/planning.h"

#include <signal.h>
#include <string.h>

#include "journal/record.h"
#include "manifest/fields.h"

enum { KEY_CYCLES = 0x400, KEY_THREADS, KEY_ALL };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct planning *p = state->input;

	switch (key) {
	case KEY_CYCLES:
		p->cycles = cli_number(state, "cycles", arg, 1, 10000);
		return 0;
	case KEY_ALL:
		p->lists_all = true;
		return 0;
	case KEY_THREADS:
		p->threads = cli_number(state, "threads", arg, 1, 64);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"all", KEY_ALL, NULL, 0, "List every protected pod, not only some of each reason", 0},
	{"cycles", KEY_CYCLES, "N", 0, "Run N cycles (default 1)", 0},
	{"threads", KEY_THREADS, "N", 0,
	 "Look at nodes with N threads (default 1); the plan is the same with any number", 0},
	{0},
};

const struct argp planning_argp = {.options = argp_options, .parser = parse};

static void tell_complaints(struct engine *en)
{
	const char *s = engine_complaints(en), *end;

	for (; (end = strchr(s, '\n')); s = end + 1) {
		struct text line = {0};

		text_add_n(&line, s, (size_t)(end - s));
		cli_note(text_str(&line));
		text_free(&line);
	}
}

static void tell_plugins(const struct plugins *p)
{
	for (uint32_t i = 0; i < plugins_complaint_count(p); i++)
		cli_note(plugins_complaint(p, i));
}

int planning_run(const struct planning *o, struct cli_cluster *c, struct planned *ret)
{
	struct engine_run run = {.now_ns = c->now_ns, .cycles = o->cycles, .report = POD_NONE};
	struct ledger *l = cluster_ledger(c->cluster);
	ledger_mark mark = ledger_get_mark(l);
	const struct framework_plugin *extra;
	struct plan_focus focus = {0};
	uint32_t n_extra;
	enum err_code rc;
	struct err e;

	*ret = (struct planned){0};
	ret->plan.arena = arena_new(1 << 16);
	if (o->threads)
		c->config->threads = o->threads;
	ret->plugins = plugins_load(c->config);
	tell_plugins(ret->plugins);
	extra = plugins_loaded(ret->plugins, &n_extra);
	ret->engine = engine_new(c->cluster, c->config, extra, n_extra, &e);
	if (!ret->engine)
		return cli_fail(&e);
	if (o->target)
		plan_focus_on(&focus, c->cluster, c->config, o->target, &ret->plan, &run);
	rc = engine_plan(ret->engine, &run, &ret->plan, &e);
	ledger_rollback(l, mark);
	plan_focus_free(&focus);
	if (rc)
		return cli_fail(&e);
	tell_complaints(ret->engine);
	ret->view = (struct plan_view){.cluster = c->cluster,
				       .plan = &ret->plan,
				       .profile = c->config->profile,
				       .by_fair_share = engine_config_reclaims_by(c->config) == RECLAIM_FAIR_SHARE,
				       .now_ns = c->now_ns,
				       .patience_ns = c->config->patience_ns,
				       .ns = o->ns,
				       .lists_all = o->lists_all};
	ret->notes = plan_notes_new(c->cluster, &ret->plan);
	ret->view.notes = ret->notes;
	return 0;
}

/* The run is safe before old ones are removed; that they could not be is said, and no reason to hide the plan. */
static enum err_code append(const char *path, const struct journal_keep *keep, struct journal_run *run, struct err *e)
{
	struct journal *j;
	struct err why;
	enum err_code rc;

	TRY(journal_open(path, JOURNAL_WRITE, &j, e));
	rc = journal_append(j, run, e);
	if (!rc && journal_trim(j, keep, run->now_ns, &why)) {
		err_wrap(&why, "recorded, but older runs were not removed");
		cli_note(why.msg);
	}
	journal_close(j);
	return rc;
}

/* A limit on the size of files is to be an error that can be told, not a signal that ends the program. */
int planned_record(const struct planned *p, const struct cli_cluster *c, uint32_t cycles, const char *path,
		   const struct journal_keep *keep)
{
	struct record_source src = {JOURNAL_PLAN, c->manifest, c->config, cycles};
	struct journal_run run;
	struct err e;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	if (journal_record(&p->view, &src, &run, &e))
		return cli_fail(&e);
	rc = append(path, keep, &run, &e) ? cli_fail(&e) : EXIT_FINE;
	journal_run_free(&run);
	return rc;
}

void planned_free(struct planned *p)
{
	plan_notes_free(p->notes);
	engine_free(p->engine);
	plugins_free(p->plugins);
	array_free(&p->plan.v);
	arena_free(p->plan.arena);
}
