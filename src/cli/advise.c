/* SPDX-License-Identifier: Apache-2.0 */
/* cede advise: what would another value of a setting do to us? */
#include <inttypes.h>

#include "base/log.h"
#include "cli/simulating.h"
#include "cli/sweep.h"
#include "sim/advice.h"
#include "sim/page.h"

enum { VALUES_MAX = 100, KEYS_MAX = 16 };

struct advise_options {
	struct simulating load;
	struct cli_output output;
	const char *setting;
	ARRAY(char *) values;
	struct sweep_options sweep;
};

enum { KEY_VALUES = 0xa00 };

static void read_values(struct argp_state *state, struct advise_options *o, const char *arg)
{
	for (const char *s = arg;; s++) {
		size_t n = strcspn(s, ",");
		char *value = mem_alloc(n + 1);

		memcpy(value, s, n);
		array_push(&o->values, value);
		if (!n)
			argp_error(state, "--values: one of them is empty in '%s'", arg);
		if (o->values.n > VALUES_MAX)
			argp_error(state, "--values: more than %d", VALUES_MAX);
		s += n;
		if (!*s)
			return;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct advise_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->load;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->sweep;
		return 0;
	case KEY_VALUES:
		read_values(state, o, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->setting)
			argp_error(state, "one setting at a time, please: '%s' is the second", arg);
		o->setting = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->setting)
			argp_error(state, "which setting? for example: queue.*.reclaimMinRuntime --values 0s,10m,1h");
		if (o->values.n < 2)
			argp_error(state, "--values: at least two, with commas between them: --values 0s,10m,1h");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"values", KEY_VALUES, "LIST", 0,
	 "What to try, with commas between them; the first is what the others are held against", 0},
	{0},
};

static const char doc[] =
	"Try values of a setting on one load, under several seeds, and show what each of them costs: evictions, lost "
	"work, "
	"waiting of the highest priority, time below guarantees. Recommends one, and says how sure that is, or says "
	"why it cannot."
	"\vSETTING is a field of a CedeConfiguration "
	"(rules.thrash.soft, actions.reclaim.patience) or of a queue (queue.root.a.reclaimMinRuntime, "
	"queue.root.a.preemption.delay); queue.*.FIELD is that of all leaf queues. Several, with commas between them, "
	"are set together, by values with slashes: "
	"queue.root.a.guaranteed.gpu,queue.root.b.guaranteed.gpu --values 8/24,16/16.";

/* ---- one run ---- */

struct load_words { /* read once, in this process */
	struct text load;
	ARRAY(char *) notes;
	ARRAY(char *) queues; /* paths of the leaves */
};

struct advising {
	const struct advise_options *o;
	const struct load_words *words;
	struct figures *runs; /* value by value, in them seed by seed */
};

/* "queue.*.FIELD" is that of every queue that is a leaf. */
static void add_setting(const struct load_words *words, struct arena *a, const char *set, struct whatif *w)
{
	static const char every[] = "queue.*.";

	if (!str_starts(set, every)) {
		array_push(&w->set, set);
		return;
	}
	for (uint32_t i = 0; i < words->queues.n; i++)
		array_push(&w->set, arena_printf(a, "queue.%s.%s", words->queues.v[i], set + strlen(every)));
}

/* "a,b" and "1/2" are "a=1" and "b=2"; the strings live in the arena. */
static enum err_code settings_of(const struct advising *x, const char *value, struct arena *a, struct whatif *w,
				 struct err *e)
{
	const char *setting = x->o->setting, *k = setting, *v = value;
	bool has_many = strchr(setting, ',');

	for (;;) {
		size_t nk = strcspn(k, ","), nv = has_many ? strcspn(v, "/") : strlen(v);

		add_setting(x->words, a, arena_printf(a, "%.*s=%.*s", (int)nk, k, (int)nv, v), w);
		if (!k[nk] != !v[nv])
			return err_fail(
				e, ERR_INPUT,
				"--values: '%s' must have one part for each setting of '%s', with / between them",
				value, setting);
		if (!k[nk])
			return ERR_OK;
		k += nk + 1;
		v += nv + 1;
	}
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	report_log_start(ctx, s, pod);
}

static int simulate(const struct advise_options *o, const struct variant *v, struct figures *ret)
{
	struct report_log log;
	struct simulated r;
	int rc = simulated_begin(&o->load, v, "cede advise", &r);

	report_log_init(&log);
	if (!rc) {
		r.options.watcher.ctx = &log;
		r.options.watcher.start = on_start;
		rc = simulated_run(&r);
	}
	if (!rc)
		figures_take(ret, sim_get_outcome(r.sim), &log);
	report_log_free(&log);
	simulated_free(&r);
	return rc;
}

static int run_task(void *ctx, uint32_t task, FILE *out)
{
	const struct advising *x = ctx;
	const struct advise_options *o = x->o;
	struct arena *a = arena_new(4096);
	struct whatif w = {0};
	struct variant v = {.whatif = &w, .seed = o->load.seed + task % o->sweep.n_seeds, .is_quiet = task > 0};
	struct figures f = {0};
	struct err e;
	int rc = settings_of(x, o->values.v[task / o->sweep.n_seeds], a, &w, &e) ? cli_fail(&e) : simulate(o, &v, &f);

	if (!rc && (simulating_interrupt || !figures_write(&f, out)))
		rc = EXIT_OUTPUT;
	figures_free(&f);
	whatif_free(&w);
	arena_free(a);
	return rc;
}

/* What is wrong with a setting or a value is told here, once, and not by every process that would simulate it. */
static int check_value(const struct advising *x, const char *value)
{
	struct arena *a = arena_new(4096);
	struct whatif w = {0};
	struct variant v = {.whatif = &w, .is_quiet = true};
	struct simulated r = {0};
	struct err e;
	int rc = settings_of(x, value, a, &w, &e) ? cli_fail(&e) : simulated_begin(&x->o->load, &v, "cede advise", &r);

	simulated_free(&r);
	whatif_free(&w);
	arena_free(a);
	return rc;
}

static bool take_task(void *ctx, uint32_t task, FILE *in)
{
	return figures_read(&((struct advising *)ctx)->runs[task], in);
}

/* ---- the result ---- */

static int print(const struct advise_options *o, const struct advice *a)
{
	struct look look = cli_look(&o->output);
	struct text out = {0};
	struct emit e;

	if (cli_is_data(&o->output)) {
		emit_init(&e, &out, cli_emit_format(&o->output));
		advice_emit(a, &e);
	} else {
		advice_text(a, &look, &out);
	}
	cli_print(&out);
	text_free(&out);
	return EXIT_FINE;
}

static int write_page(const char *path, const struct advice *a)
{
	struct text json = {0};
	struct emit e;
	struct err why;
	enum err_code rc;

	emit_init(&e, &json, EMIT_JSON_LINE);
	advice_emit(a, &e);
	rc = page_write(path, &json, &why);
	text_free(&json);
	return rc ? cli_fail(&why) : EXIT_FINE;
}

static void note_queues(struct simulated *r, struct load_words *ret)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(r->c.cluster));

	for (queue_id q = 0; q < t->q.n; q++)
		if (queue_get(t, q)->is_live && queue_is_leaf(t, q) && !(queue_get(t, q)->spec.sources & FROM_NOBODY))
			array_push(&ret->queues, mem_strdup(name_str(t->names, queue_get(t, q)->path)));
}

static int describe(const struct advise_options *o, struct load_words *ret)
{
	struct variant v = {0};
	struct simulated r;
	int rc = simulated_begin(&o->load, &v, "cede advise", &r);

	if (!rc)
		simulated_load_text(&o->load, &r, &ret->load);
	if (!rc)
		note_queues(&r, ret);
	for (uint32_t i = 0; !rc && r.trace && i < trace_note_count(r.trace); i++)
		array_push(&ret->notes, mem_strdup(trace_note(r.trace, i)));
	simulated_free(&r);
	return rc;
}

static int advise_on(const struct advise_options *o, struct advising *x, uint32_t n_points, const struct load_words *w)
{
	struct advice_point *points = mem_alloc(n_points * sizeof(*points));
	struct advice a = {.setting = o->setting,
			   .load = text_str(&w->load),
			   .first_seed = o->load.seed,
			   .n_seeds = o->sweep.n_seeds,
			   .n_points = n_points,
			   .points = points,
			   .notes = (const char *const *)w->notes.v,
			   .n_notes = w->notes.n};
	int rc;

	for (uint32_t i = 0; i < n_points; i++)
		points[i] =
			(struct advice_point){.value = o->values.v[i], .runs = x->runs + (size_t)i * o->sweep.n_seeds};
	advice_judge(&a);
	rc = print(o, &a);
	if (!rc && o->sweep.report)
		rc = write_page(o->sweep.report, &a);
	mem_free(points);
	return rc;
}

static int advise(const struct advise_options *o, const struct load_words *w)
{
	uint32_t n = o->values.n * o->sweep.n_seeds, n_done = 0, n_points;
	struct advising x = {o, w, mem_alloc(n * sizeof(*x.runs))};
	struct sweep sweep = {.n_tasks = n,
			      .n_processes = o->sweep.n_processes,
			      .what = "simulations",
			      .is_quiet = o->load.input.is_quiet,
			      .ctx = &x,
			      .run = run_task,
			      .take = take_task};
	int rc = EXIT_FINE;

	for (uint32_t i = 0; !rc && i < o->values.n; i++)
		rc = check_value(&x, o->values.v[i]);
	if (!rc)
		rc = sweep_run(&sweep, &n_done);
	n_points = n_done / o->sweep.n_seeds;
	if (!rc && n_points < o->values.n)
		log_line(LOG_WARN, "interrupted: %u of %u values were tried", n_points, o->values.n);
	if (!rc)
		rc = n_points < 2 ? EXIT_STRICT : advise_on(o, &x, n_points, w);
	for (uint32_t i = 0; i < n; i++)
		figures_free(&x.runs[i]);
	mem_free(x.runs);
	return rc;
}

static void free_words(struct load_words *w)
{
	for (uint32_t i = 0; i < w->notes.n; i++)
		mem_free(w->notes.v[i]);
	for (uint32_t i = 0; i < w->queues.n; i++)
		mem_free(w->queues.v[i]);
	array_free(&w->notes);
	array_free(&w->queues);
	text_free(&w->load);
}

int command_advise(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&simulating_argp, 0, "Load:", 1}, {&cli_output_argp, 0, "Output:", 2}, {&sweep_argp, 0, NULL, 0}, {0}};
	const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "SETTING", .doc = doc, .children = children};
	struct advise_options o = {0};
	struct load_words w = {0};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	simulating_catch_interrupt();
	rc = describe(&o, &w);
	o.load.input.is_quiet = true; /* notes were told once */
	if (!rc)
		rc = advise(&o, &w);
	free_words(&w);
	for (uint32_t i = 0; i < o.values.n; i++)
		mem_free(o.values.v[i]);
	array_free(&o.values);
	simulating_free(&o.load);
	return rc;
}
