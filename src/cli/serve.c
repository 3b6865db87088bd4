/* SPDX-License-Identifier: Apache-2.0 */
/* cede serve: what is known of a cluster, from files or a journal, for browsers and programs. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/serving.h"
#include "journal/journal.h"
#include "journal/rebuild.h"
#include "manifest/fields.h"
#include "serve/aside.h"
#include "serve/console.h"
#include "serve/facts.h"
#include "serve/serve.h"
#include "serve/views.h"

#define DEFAULT_LISTEN "127.0.0.1:10270"
enum { MAX_DECISIONS = 200000, HISTORY_RUNS = 32 };
#define HISTORY_BYTES ((size_t)64 << 20)
#define MAX_LOG_BYTES ((size_t)256 << 20)

struct serve_command {
	struct cli_input input;
	const char *listen, *journal, *token_file, *tls_cert, *tls_key;
	const char *simulation; /* a scenario, or with a format a trace */
	struct simulating how;	/* of it: format, until, seed */
	ARRAY(const char *) reports;
};

struct source {
	struct cli_cluster c;
	struct plugins *plugins;
	struct simulated simulated; /* with a simulation the two above are its, and freed with it */
	struct usage *usage;
	struct reports *reports;
};

struct server {
	struct serve_command *o;
	const char *command;
	struct clock wall, steady;
	bool has_now;	  /* it was given: time stands still */
	struct source at; /* what is served */
	struct serve_log *log;
	struct metrics *metrics;
	struct views views;
	struct serve *serve;
	struct aside *aside;
	struct text token;
};

enum {
	KEY_LISTEN = 0x300,
	KEY_JOURNAL,
	KEY_TOKEN,
	KEY_TLS_CERT,
	KEY_TLS_KEY,
	KEY_SIMULATION,
	KEY_FORMAT,
	KEY_UNTIL,
	KEY_SEED,
	KEY_REPORT
};

static void check(const struct serve_command *o, struct argp_state *state)
{
	if (o->simulation && o->journal)
		argp_error(state, "--journal and --simulation: one of them");
	if (!o->simulation && (o->how.has_format || o->how.until || o->how.seed != 1))
		argp_error(state, "--format, --until and --seed are of a simulation: --simulation FILE");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct serve_command *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
		o->how.seed = 1;
		return 0;
	case KEY_SIMULATION:
		o->simulation = arg;
		return 0;
	case KEY_FORMAT:
		o->how.format = (enum trace_format)cli_one_of(state, "--format", arg, simulating_trace_words);
		o->how.has_format = true;
		return 0;
	case KEY_UNTIL:
		o->how.until = arg;
		return 0;
	case KEY_SEED:
		o->how.seed = cli_number(state, "seed", arg, 1, UINT32_MAX);
		return 0;
	case KEY_REPORT:
		array_push(&o->reports, arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	case KEY_LISTEN:
		o->listen = arg;
		return 0;
	case KEY_JOURNAL:
		o->journal = arg;
		return 0;
	case KEY_TOKEN:
		o->token_file = arg;
		return 0;
	case KEY_TLS_CERT:
		o->tls_cert = arg;
		return 0;
	case KEY_TLS_KEY:
		o->tls_key = arg;
		return 0;
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option; files are read with -f %s", arg, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"listen", KEY_LISTEN, "HOST:PORT", 0, "Where to listen (default " DEFAULT_LISTEN "); port 0 takes a free one",
	 0},
	{"journal", KEY_JOURNAL, "FILE", 0,
	 "Serve the decisions of a journal and, without -f, the cluster of its latest run that has one", 0},
	{"simulation", KEY_SIMULATION, "FILE", 0,
	 "Simulate a scenario (or a trace, with --format) and serve its decisions, its report and the cluster at its "
	 "end",
	 0},
	{"format", KEY_FORMAT, "FORMAT", 0, "Of the trace that is simulated: philly, openb or swf", 0},
	{"until", KEY_UNTIL, "TIME|DURATION", 0, "Stop the simulation then, and serve the cluster at that moment", 0},
	{"seed", KEY_SEED, "N", 0, "Seed of what is random in the simulation (default 1)", 0},
	{"report", KEY_REPORT, "FILE", 0,
	 "Offer a page that simulate, compare or advise wrote with --report; may be repeated", 0},
	{"token-file", KEY_TOKEN, "FILE", 0,
	 "The bearer token that clients have to send; needed where other machines can connect", 0},
	{"tls-cert", KEY_TLS_CERT, "FILE", 0, "The server's certificate, in PEM; else one is made", 0},
	{"tls-key", KEY_TLS_KEY, "FILE", 0, "And its key", 0},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] =
	"Serve a cluster, what would be decided about it and why, over HTTP, as a page and as JSON, from files, a "
	"running cluster as it is at the start, a journal or a simulation: the same paths as cede run serves. Nothing "
	"is changed."
	"\vThe address is printed when it can be used. SIGHUP reads everything again; where that fails, what was there "
	"stays. Ends with SIGTERM or Ctrl-C. Where other machines can connect it speaks TLS and needs --token-file.";

/* ---- what is served ---- */

/* Users are those of pods that the cluster still has. */
static void add_user(const struct cluster *c, const char *pod, enum fact_kind kind, struct text *facts)
{
	const char *slash = pod ? strchr(pod, '/') : NULL;
	struct text ns = {0};
	pod_id id;

	if (!c || !slash)
		return;
	text_add_n(&ns, pod, (size_t)(slash - pod));
	id = cluster_find_pod(c, text_str(&ns), slash + 1);
	if (id != POD_NONE) {
		const struct ledger *l = cluster_ledger((struct cluster *)c);

		facts_add(facts, kind, name_str(vocab_names(ledger_vocab(l)), obj_user(ledger_pod(l, id)->obj)));
	}
	text_free(&ns);
}

static void add_run(struct serve_log *log, const struct journal_run *run, const struct cluster *c)
{
	struct text more = {0};

	for (uint32_t i = 0; i < run->n_decisions; i++) {
		const struct journal_decision *d = &run->decisions[i];

		text_reset(&more);
		add_user(c, d->pod, FACT_USER, &more);
		facts_add(&more, FACT_WORKLOAD, d->group);
		for (uint32_t k = 0; k < d->n_victims; k++) {
			add_user(c, d->victims[k].pod, FACT_VICTIM_USER, &more);
			facts_add(&more, FACT_VICTIM_WORKLOAD, d->victims[k].workload);
		}
		serve_log_decision(log, d->at_ns != TIME_NONE && d->at_ns ? d->at_ns : run->now_ns, d->json, &more);
	}
	text_free(&more);
}

/* ---- a journal ---- */

typedef ARRAY(int64_t) run_ids;

static struct cli_cluster nothing_yet(const struct server *s)
{
	struct cli_cluster c = {.vocab = vocab_new(), .config = engine_config_new(), .now_ns = clock_now(&s->wall)};

	c.manifest = manifest_new(c.vocab);
	return c;
}

static enum err_code rebuild(struct journal *j, int64_t id, struct cli_cluster *c, size_t *ret_bytes, struct err *e)
{
	struct journal_run run;
	enum err_code rc;

	TRY(journal_read(j, id, true, &run, e));
	rc = rebuild_run(&run, c->manifest, c->config, &c->cluster, e);
	c->now_ns = run.now_ns;
	*ret_bytes = strlen(run.state);
	journal_run_free(&run);
	return rc;
}

/* What queues used when earlier plans were made: of some of them, and of no more than can be read in a moment. */
static enum err_code note_usage(const struct server *s, struct journal *j, const run_ids *ids, struct usage *usage,
				struct err *e)
{
	uint32_t every = ids->n / HISTORY_RUNS + 1;
	size_t read = 0, bytes = 0;
	enum err_code rc = ERR_OK;

	for (uint32_t i = 0; !rc && i + 1 < ids->n && read < HISTORY_BYTES; i += every) {
		struct cli_cluster c = nothing_yet(s);

		rc = rebuild(j, ids->v[i], &c, &bytes, e);
		if (!rc)
			usage_note(usage, c.cluster, c.now_ns);
		read += bytes;
		cli_cluster_free(&c);
	}
	return rc;
}

static enum err_code read_decisions(struct journal *j, const struct cluster *c, struct serve_log *log, struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		TRY(journal_read(j, journal_run_id(j, i), false, &run, e));
		add_run(log, &run, c);
		journal_run_free(&run);
	}
	return ERR_OK;
}

static enum err_code runs_with_state(struct journal *j, run_ids *ret, struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		TRY(journal_read_evictions(j, journal_run_id(j, i), &run, e));
		if (run.has_state)
			array_push(ret, run.id);
		journal_run_free(&run);
	}
	return ERR_OK;
}

/* The cluster of the latest run that has one, unless there is one; and the decisions of all, the latest last. */
static enum err_code read_journal(struct server *s, struct journal *j, bool wants_cluster, struct source *to,
				  struct err *e)
{
	run_ids ids = {0};
	size_t bytes;
	enum err_code rc = runs_with_state(j, &ids, e);

	if (!rc && wants_cluster && ids.n) {
		rc = note_usage(s, j, &ids, to->usage, e);
		if (!rc)
			rc = rebuild(j, array_last(&ids), &to->c, &bytes, e);
	}
	array_free(&ids);
	return rc ? rc : read_decisions(j, to->c.cluster, s->log, e);
}

static enum err_code empty_cluster(struct cli_cluster *c, struct err *e)
{
	struct cluster_options o = engine_config_cluster_options(c->config, c->now_ns);

	return manifest_build(c->manifest, &o, &c->cluster, e);
}

static enum err_code load_journal(struct server *s, struct source *to, struct err *e)
{
	bool wants_cluster = !to->c.cluster;
	struct journal *j;
	enum err_code rc;

	if (wants_cluster)
		to->c = nothing_yet(s);
	TRY(journal_open(s->o->journal, JOURNAL_READ, &j, e));
	rc = read_journal(s, j, wants_cluster, to, e);
	journal_close(j);
	if (!rc && !to->c.cluster)
		rc = empty_cluster(&to->c, e);
	return rc;
}

/* ---- a simulation ---- */

static int load_simulation(struct server *s, struct source *to)
{
	struct serving into = {.log = s->log, .usage = to->usage, .reports = to->reports};
	struct simulating how = s->o->how;
	int rc;

	how.input = s->o->input;
	if (how.has_format)
		how.trace = s->o->simulation;
	else
		how.scenario = s->o->simulation;
	rc = serving_simulate(&how, &into, &to->simulated);
	to->c = to->simulated.c;
	to->plugins = to->simulated.plugins;
	return rc;
}

/* ---- all of it ---- */

static struct serve_world world_of(const struct server *s, const struct source *from)
{
	const struct cli_cluster *c = &from->c;
	bool is_old = s->has_now || !s->o->input.files.n || s->o->simulation;

	return (struct serve_world){.cluster = c->cluster,
				    .config = c->config,
				    .manifest = c->manifest,
				    .has_profile = s->o->input.has_profile,
				    .plugins = from->plugins,
				    .now_ns = is_old ? c->now_ns : clock_now(&s->wall)};
}

/* What would be decided now, as if it had been. */
static enum err_code log_plan(struct server *s, const struct source *from, struct err *e)
{
	struct serve_world w = world_of(s, from);
	struct plan_question q = {0};
	struct world_plan p;
	enum err_code rc = world_plan(&w, &q, &p, e);

	for (uint32_t i = 0; !rc && i < p.plan.v.n; i++)
		views_log_decision(s->log, &p.view, &p.plan.v.v[i], w.now_ns);
	world_plan_free(&p);
	return rc;
}

static void source_free(const struct server *s, struct source *from)
{
	if (s->o->simulation) {
		simulated_free(&from->simulated);
	} else {
		plugins_free(from->plugins);
		cli_cluster_free(&from->c);
	}
	usage_free(from->usage);
	reports_free(from->reports);
	*from = (struct source){0};
}

static int load_cluster(struct server *s, struct source *to)
{
	struct cli_input *in = &s->o->input;
	struct err e = {0};
	int rc = EXIT_FINE;

	in->has_now = s->has_now;
	if (s->o->simulation)
		return load_simulation(s, to);
	if (in->files.n || in->kubeconfig || !s->o->journal)
		rc = cli_load(in, s->command, &to->c);
	if (!rc && s->o->journal && load_journal(s, to, &e))
		rc = cli_fail(&e);
	if (rc)
		return rc;
	to->plugins = plugins_load(to->c.config);
	return !s->o->journal && log_plan(s, to, &e) ? cli_fail(&e) : EXIT_FINE;
}

/* Everything anew; decisions into the log. 0, or an exit code after the error was told. */
static int load(struct server *s, struct source *ret)
{
	struct err e = {0};
	int rc;

	*ret = (struct source){.usage = usage_new(NS_PER_S), .reports = reports_new()};
	rc = load_cluster(s, ret);
	if (!rc)
		usage_note(ret->usage, ret->c.cluster, ret->c.now_ns);
	for (uint32_t i = 0; !rc && i < s->o->reports.n; i++)
		if (reports_add_page(ret->reports, s->o->reports.v[i], &e))
			rc = cli_fail(&e);
	return rc;
}

static void serve_source(struct server *s, const struct source *from)
{
	s->at = *from;
	s->views = (struct views){.aside = s->aside,
				  .log = s->log,
				  .metrics = s->metrics,
				  .usage = s->at.usage,
				  .reports = s->at.reports,
				  .source = s->o->simulation ? "simulation"
					    : s->o->journal  ? "journal"
							     : "files"};
}

static void reload(struct server *s)
{
	struct source fresh;

	if (load(s, &fresh)) {
		log_line(LOG_WARN, "what was served before is served on");
		source_free(s, &fresh);
		return;
	}
	source_free(s, &s->at);
	serve_source(s, &fresh);
	serve_log_add(s->log, "cluster", clock_now(&s->wall), "{\"reason\": \"read anew\"}");
}

/* ---- requests ---- */

static void handle(void *ctx, struct serve_request *r)
{
	struct server *s = ctx;
	struct serve_world w = world_of(s, &s->at);
	struct text ok = {0};

	if (str_eq(serve_path(r), "/readyz")) {
		text_add(&ok, "ok\n");
		serve_reply(r, 200, "text/plain; charset=utf-8", &ok);
		return;
	}
	views_answer(&s->views, &w, r);
}

static void refresh(void *ctx)
{
	struct server *s = ctx;
	struct serve_world w = world_of(s, &s->at);

	views_gauges(&w, s->metrics);
}

static enum serve_access authorize(void *ctx, const char *token, const char *method, const char *path)
{
	const struct server *s = ctx;
	size_t n = strlen(token);
	unsigned char differs = n != s->token.n;

	for (size_t i = 0; i < n && i < s->token.n; i++)
		differs |= (unsigned char)(token[i] ^ s->token.s[i]);
	return differs ? ACCESS_UNKNOWN : ACCESS_ALLOWED;
}

static enum err_code read_token(struct server *s, struct err *e)
{
	const char *path = s->o->token_file;
	char line[8192];
	FILE *f;

	if (!path)
		return ERR_OK;
	f = fopen(path, "re");
	if (!f)
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	line[strcspn(line, "\r\n \t")] = '\0';
	text_add(&s->token, line);
	explicit_bzero(line, sizeof(line));
	return s->token.n >= 16 ? ERR_OK
				: err_fail(e, ERR_INPUT, "%s: expected a token of at least 16 characters", path);
}

/* ---- the program ---- */

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int loop(struct server *s, int signals)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = signals, .events = POLLIN}, {.fd = serve_fd(s->serve), .events = POLLIN}};
		struct signalfd_siginfo what;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return EXIT_INTERNAL;
		while (read(signals, &what, sizeof(what)) == (ssize_t)sizeof(what)) {
			if (what.ssi_signo != SIGHUP)
				return EXIT_FINE;
			reload(s);
		}
		serve_answer_pending(s->serve);
	}
}

static enum err_code start(struct server *s, struct err *e)
{
	struct serve_options o = {.listen = s->o->listen,
				  .tls_cert = s->o->tls_cert,
				  .tls_key = s->o->tls_key,
				  .files = console_files,
				  .n_files = n_console_files,
				  .metrics = s->metrics,
				  .log = s->log,
				  .ctx = s,
				  .handle = handle,
				  .refresh = refresh,
				  .authorize = s->o->token_file ? authorize : NULL};
	bool is_local;

	TRY(read_token(s, e));
	TRY(serve_check_listen(s->o->listen, &is_local, e));
	if (!s->o->token_file && !is_local)
		return err_fail(e, ERR_INPUT, "%s can be reached by others: they need a token, --token-file FILE",
				s->o->listen);
	return serve_start(&o, &s->serve, e);
}

static int run(struct server *s)
{
	int signals = catch_signals(), rc; /* before there are other threads */
	struct source first;
	struct err e = {0};

	s->log = serve_log_new(clock_now(&s->wall), MAX_DECISIONS, MAX_LOG_BYTES);
	rc = load(s, &first);
	serve_source(s, &first);
	if (!rc)
		rc = start(s, &e) ? cli_fail(&e) : EXIT_FINE;
	if (!rc) {
		printf("listening on %s\n", serve_url(s->serve));
		fflush(stdout);
		rc = loop(s, signals);
	}
	if (signals >= 0)
		close(signals);
	return rc;
}

int command_serve(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_input_argp, 0, "Input:", 1}, {0}};
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc, .children = children};
	struct serve_command o = {.listen = DEFAULT_LISTEN};
	struct server s = {.o = &o, .wall = clock_system(), .steady = clock_steady()};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	s.command = argv[0];
	s.has_now = o.input.has_now;
	s.metrics = metrics_new();
	s.aside = aside_new(0);
	rc = run(&s);
	aside_free(s.aside);
	serve_stop(s.serve);
	source_free(&s, &s.at);
	serve_log_free(s.log);
	metrics_free(s.metrics);
	text_free(&s.token);
	array_free(&o.reports);
	cli_input_free(&o.input);
	return rc;
}
