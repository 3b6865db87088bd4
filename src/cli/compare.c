/* SPDX-License-Identifier: Apache-2.0 */
/* cede compare: one load under several configurations. */
#include <assert.h>
#include <inttypes.h>

#include "base/log.h"
#include "cli/simulating.h"
#include "cli/sweep.h"
#include "sim/comparison.h"
#include "sim/page.h"
#include "sim/trail.h"

enum { SEEDS_MAX = 1000 };

struct compared_side {
	const char *what;   /* as it was given */
	char *setting;	    /* KEY=VALUE; NULL: it is a file or a profile */
	const char *config; /* a file */
	bool has_profile;   /* of --profile */
	enum profile profile;
};

struct compare_options {
	struct simulating load;
	struct cli_output output;
	ARRAY(struct compared_side) sides;
	struct sweep_options sweep;
};

enum { KEY_PROFILES = 0xb00 };

static void add_side(struct argp_state *state, struct compare_options *o, const struct compared_side *s)
{
	if (o->sides.n == COMPARISON_SIDES_MAX)
		argp_error(state, "more than %d configurations", COMPARISON_SIDES_MAX);
	array_push(&o->sides, *s);
}

/* "default,kai": a side each. One alone is --profile of other commands. */
static void read_profiles(struct argp_state *state, struct compare_options *o, char *arg)
{
	if (!strchr(arg, ',')) {
		o->load.input.profile = (enum profile)cli_one_of(state, "--profile", arg, cli_profile_words);
		o->load.input.has_profile = true;
		return;
	}
	for (char *s = arg; s;) {
		struct compared_side side = {.has_profile = true};
		char *end = strchr(s, ',');

		if (end)
			*end = '\0';
		side.profile = (enum profile)cli_one_of(state, "--profile", s, cli_profile_words);
		side.what = cli_profile_words[side.profile];
		add_side(state, o, &side);
		s = end ? end + 1 : NULL;
	}
}

static void read_side(struct argp_state *state, struct compare_options *o, char *arg)
{
	struct compared_side side = {.what = arg, .config = arg};

	if (strchr(arg, '=')) {
		side.setting = arg;
		side.config = NULL;
	}
	add_side(state, o, &side);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct compare_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->load;
		state->child_inputs[1] = &o->output;
		state->child_inputs[2] = &o->sweep;
		return 0;
	case KEY_PROFILES:
		read_profiles(state, o, arg);
		return 0;
	case ARGP_KEY_ARG:
		read_side(state, o, arg);
		return 0;
	case ARGP_KEY_END:
		if (o->sides.n < 2)
			argp_error(state, "what with what? for example: cede compare -f cluster A.yaml B.yaml, or "
					  "--profile default,kai");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"profile", KEY_PROFILES, "LIST", 0,
	 "Compare these profiles, with commas between them; one alone: use it for all", 0},
	{0},
};

static const char doc[] =
	"Simulate one load under several configurations and show every difference with its direction, in total and by "
	"queue, "
	"over several seeds; and the first decision in which they part, with what each of them decided there. The "
	"first "
	"configuration is what the others are held against."
	"\vA configuration is a file of settings (as --config takes it), a setting KEY=VALUE "
	"(queue.root.a.reclaimMinRuntime=10m), or one of the profiles of --profile.";

/* ---- one run ---- */

struct compare_run {
	struct report_log log;
	struct trail trail;
	bool keeps_trail;
	struct trail_words *words; /* NULL: not asked for */
	uint64_t last_number;
	volatile sig_atomic_t stop;
};

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	report_log_start(&((struct compare_run *)ctx)->log, s, pod);
}

static void on_decision(void *ctx, struct sim *s, const struct decision *d, uint64_t number)
{
	struct compare_run *x = ctx;

	x->last_number = number;
	if (x->keeps_trail)
		trail_decision(&x->trail, s, d);
	if (x->words && trail_words_decision(x->words, s, d, number))
		x->stop = 1;
}

static void on_waiting(void *ctx, struct sim *s, const struct decision *d)
{
	struct compare_run *x = ctx;

	if (x->words)
		trail_words_waiting(x->words, s, d, x->last_number);
}

static int simulate(const struct compare_options *o, uint32_t side, uint64_t seed, bool is_quiet, struct compare_run *x,
		    struct figures *ret)
{
	const struct compared_side *c = &o->sides.v[side];
	struct whatif w = {0};
	struct variant v = {.config = c->config,
			    .has_profile = c->has_profile,
			    .profile = c->profile,
			    .whatif = &w,
			    .seed = seed,
			    .is_quiet = is_quiet};
	struct simulated r;
	int rc;

	if (c->setting)
		array_push(&w.set, c->setting);
	rc = simulated_begin(&o->load, &v, "cede compare", &r);
	if (!rc) {
		r.options.watcher = (struct sim_watcher){
			.ctx = x, .start = on_start, .decision = on_decision, .waiting = x->words ? on_waiting : NULL};
		if (x->words)
			r.options.interrupt = &x->stop;
		rc = simulated_run(&r);
	}
	if (!rc && ret)
		figures_take(ret, sim_get_outcome(r.sim), &x->log);
	simulated_free(&r);
	whatif_free(&w);
	return rc;
}

/* ---- all runs: side by side, in them seed by seed ---- */

struct comparing {
	const struct compare_options *o;
	struct figures *runs;
	struct trail *trails; /* of the first seed */
	/* then: where side i leaves the first; two runs in words for each */
	uint64_t *part;
	struct trail_words *words;
	ARRAY(uint32_t) apart; /* sides that do */
};

static int run_task(void *ctx, uint32_t task, FILE *out)
{
	const struct compare_options *o = ((struct comparing *)ctx)->o;
	uint32_t side = task / o->sweep.n_seeds, seed = task % o->sweep.n_seeds;
	struct compare_run x = {.keeps_trail = seed == 0};
	struct figures f = {0};
	int rc;

	report_log_init(&x.log);
	rc = simulate(o, side, o->load.seed + seed, task > 0, &x, &f);
	if (!rc && (simulating_interrupt || !figures_write(&f, out) || (seed == 0 && !trail_write(&x.trail, out))))
		rc = EXIT_OUTPUT;
	figures_free(&f);
	trail_free(&x.trail);
	report_log_free(&x.log);
	return rc;
}

static bool take_task(void *ctx, uint32_t task, FILE *in)
{
	struct comparing *c = ctx;
	uint32_t n = c->o->sweep.n_seeds;

	return figures_read(&c->runs[task], in) && (task % n != 0 || trail_read(&c->trails[task / n], in));
}

/* ---- the decision in which they part ---- */

static int word_task(void *ctx, uint32_t task, FILE *out)
{
	struct comparing *c = ctx;
	uint32_t side = c->apart.v[task / 2];
	struct trail_words words = {.stop_at = c->part[side]};
	struct compare_run x = {.words = &words};
	int rc;

	report_log_init(&x.log);
	rc = simulate(c->o, task % 2 ? side : 0, c->o->load.seed, true, &x, NULL);
	if (!rc && !trail_words_write(&words, out))
		rc = EXIT_OUTPUT;
	trail_words_free(&words);
	report_log_free(&x.log);
	return rc;
}

static bool take_words(void *ctx, uint32_t task, FILE *in)
{
	return trail_words_read(&((struct comparing *)ctx)->words[task], in);
}

static int find_parts(struct comparing *c, struct comparison_side *sides)
{
	struct sweep sweep = {.n_processes = c->o->sweep.n_processes, .what = "looks at where they part", .ctx = c};
	uint32_t n_done;
	int rc;

	for (uint32_t i = 1; i < c->o->sides.n; i++) {
		c->part[i] = trail_part(&c->trails[0], &c->trails[i]);
		if (c->part[i])
			array_push(&c->apart, i);
	}
	c->words = mem_alloc((2 * c->apart.n + 1) * sizeof(*c->words));
	sweep.n_tasks = 2 * c->apart.n;
	sweep.is_quiet = c->o->load.input.is_quiet;
	sweep.run = word_task;
	sweep.take = take_words;
	rc = sweep_run(&sweep, &n_done);
	for (uint32_t i = 0; !rc && 2 * i + 1 < n_done; i++) {
		struct comparison_part *p = &sides[c->apart.v[i]].part;

		p->differs = true;
		p->decision = c->part[c->apart.v[i]];
		trail_explain(&c->words[2 * (size_t)i], &c->words[2 * (size_t)i + 1], &p->at_ns, &p->first, &p->mine);
	}
	return rc;
}

/* ---- the result ---- */

static int show(const struct compare_options *o, const struct comparison *c)
{
	struct look look = cli_look(&o->output);
	struct text out = {0}, json = {0};
	struct err why;
	struct emit e;
	int rc = EXIT_FINE;

	if (cli_is_data(&o->output)) {
		emit_init(&e, &out, cli_emit_format(&o->output));
		comparison_emit(c, &e);
	} else {
		comparison_text(c, &look, o->output.format == OUTPUT_WIDE, &out);
	}
	cli_print(&out);
	if (o->sweep.report) {
		emit_init(&e, &json, EMIT_JSON_LINE);
		comparison_emit(c, &e);
		rc = page_write(o->sweep.report, &json, &why) ? cli_fail(&why) : EXIT_FINE;
	}
	text_free(&out);
	text_free(&json);
	return rc;
}

struct side_words { /* read once for each side, in this process */
	struct text load;
	ARRAY(char *) notes;
	const char *profiles[COMPARISON_SIDES_MAX];
};

/* What is wrong with a configuration is said before anything is simulated. */
static int describe(const struct compare_options *o, struct side_words *ret)
{
	int rc = EXIT_FINE;

	for (uint32_t i = 0; !rc && i < o->sides.n; i++) {
		const struct compared_side *c = &o->sides.v[i];
		struct whatif w = {0};
		struct variant v = {.config = c->config,
				    .has_profile = c->has_profile,
				    .profile = c->profile,
				    .whatif = &w,
				    .is_quiet = i > 0};
		struct simulated r;

		if (c->setting)
			array_push(&w.set, c->setting);
		rc = simulated_begin(&o->load, &v, "cede compare", &r);
		if (!rc)
			ret->profiles[i] = cli_profile_words[r.c.config->profile];
		if (!rc && i == 0)
			simulated_load_text(&o->load, &r, &ret->load);
		for (uint32_t k = 0; !rc && i == 0 && r.trace && k < trace_note_count(r.trace); k++)
			array_push(&ret->notes, mem_strdup(trace_note(r.trace, k)));
		simulated_free(&r);
		whatif_free(&w);
	}
	return rc;
}

static int compare_runs(struct comparing *x, const struct side_words *w)
{
	static const char *const letters[COMPARISON_SIDES_MAX] = {"A", "B", "C", "D", "E", "F", "G", "H", "I",
								  "J", "K", "L", "M", "N", "O", "P", "Q", "R",
								  "S", "T", "U", "V", "W", "X", "Y", "Z"};
	const struct compare_options *o = x->o;
	struct comparison_side *sides = mem_alloc(o->sides.n * sizeof(*sides));
	struct comparison c = {.load = text_str(&w->load),
			       .first_seed = o->load.seed,
			       .n_seeds = o->sweep.n_seeds,
			       .n_sides = o->sides.n,
			       .sides = sides,
			       .notes = (const char *const *)w->notes.v,
			       .n_notes = w->notes.n};
	int rc;

	for (uint32_t i = 0; i < c.n_sides; i++)
		sides[i] = (struct comparison_side){.name = letters[i],
						    .what = o->sides.v[i].what,
						    .profile = w->profiles[i],
						    .runs = x->runs + (size_t)i * o->sweep.n_seeds};
	rc = find_parts(x, sides);
	if (!rc)
		rc = show(o, &c);
	for (uint32_t i = 0; i < c.n_sides; i++) {
		mem_free(sides[i].part.first);
		mem_free(sides[i].part.mine);
	}
	mem_free(sides);
	return rc;
}

static void comparing_free(struct comparing *x)
{
	for (uint32_t i = 0; i < x->o->sides.n * x->o->sweep.n_seeds; i++)
		figures_free(&x->runs[i]);
	for (uint32_t i = 0; i < x->o->sides.n; i++)
		trail_free(&x->trails[i]);
	for (uint32_t i = 0; i < 2 * x->apart.n; i++)
		trail_words_free(&x->words[i]);
	array_free(&x->apart);
	mem_free(x->runs);
	mem_free(x->trails);
	mem_free(x->part);
	mem_free(x->words);
}

static int compare(const struct compare_options *o, const struct side_words *w)
{
	uint32_t n = o->sides.n * o->sweep.n_seeds, n_done = 0;
	struct comparing x = {.o = o,
			      .runs = mem_alloc(n * sizeof(*x.runs)),
			      .trails = mem_alloc(o->sides.n * sizeof(*x.trails)),
			      .part = mem_alloc(o->sides.n * sizeof(*x.part))};
	struct sweep sweep = {.n_tasks = n,
			      .n_processes = o->sweep.n_processes,
			      .what = "simulations",
			      .is_quiet = o->load.input.is_quiet,
			      .ctx = &x,
			      .run = run_task,
			      .take = take_task};
	int rc = sweep_run(&sweep, &n_done);

	if (!rc && n_done < n) {
		log_line(LOG_WARN, "interrupted: %u of %u simulations were done, which is too few to compare", n_done,
			 n);
		rc = EXIT_STRICT;
	}
	if (!rc)
		rc = compare_runs(&x, w);
	comparing_free(&x);
	return rc;
}

/* The options of input but --profile, which is another one here: help would have both. */
static void leave_out_profile(struct argp_option *to, uint32_t max)
{
	uint32_t n = 0;

	for (const struct argp_option *o = cli_input_argp.options; o->name || o->key || o->doc; o++) {
		if (o->name && str_eq(o->name, "profile"))
			continue;
		assert(n + 1 < max);
		to[n++] = *o;
	}
}

int command_compare(int argc, char **argv)
{
	struct argp_option inputs[32] = {0};
	const struct argp input = {.options = inputs, .parser = cli_input_argp.parser};
	const struct argp_child in_load[] = {{&input, 0, NULL, 0}, {0}};
	const struct argp load = {
		.options = simulating_argp.options, .parser = simulating_argp.parser, .children = in_load};
	const struct argp_child children[] = {
		{&load, 0, "Load:", 1}, {&cli_output_argp, 0, "Output:", 2}, {&sweep_argp, 0, NULL, 0}, {0}};
	const struct argp argp = {.options = argp_options,
				  .parser = parse,
				  .args_doc = "A.yaml B.yaml...",
				  .doc = doc,
				  .children = children};
	struct compare_options o = {0};
	struct side_words w = {0};
	int rc;

	leave_out_profile(inputs, sizeof(inputs) / sizeof(*inputs));
	cli_parse(&argp, argc, argv, &o);
	simulating_catch_interrupt();
	rc = describe(&o, &w);
	o.load.input.is_quiet = true;
	if (!rc)
		rc = compare(&o, &w);
	for (uint32_t i = 0; i < w.notes.n; i++)
		mem_free(w.notes.v[i]);
	array_free(&w.notes);
	text_free(&w.load);
	array_free(&o.sides);
	simulating_free(&o.load);
	return rc;
}
