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
#include "cli/common.h"
#include "journal/journal.h"
#include "journal/rebuild.h"
#include "manifest/fields.h"
#include "serve/console.h"
#include "serve/serve.h"
#include "serve/views.h"

#define DEFAULT_LISTEN "127.0.0.1:10270"
enum { MAX_DECISIONS = 20000 };

struct options {
	struct cli_input input;
	const char *listen, *journal, *token_file, *tls_cert, *tls_key;
};

struct source {
	struct cli_cluster c;
	struct plugins *plugins;
};

struct server {
	struct options *o;
	const char *command;
	struct clock wall, steady;
	bool has_now;	  /* it was given: time stands still */
	struct source at; /* what is served */
	struct serve_log *log;
	struct metrics *metrics;
	struct views views;
	struct serve *serve;
	struct text token;
};

enum { KEY_LISTEN = 0x300, KEY_JOURNAL, KEY_TOKEN, KEY_TLS_CERT, KEY_TLS_KEY };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->input;
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
	{"token-file", KEY_TOKEN, "FILE", 0,
	 "The bearer token that others have to know, where others than this machine can reach it", 0},
	{"tls-cert", KEY_TLS_CERT, "FILE", 0, "The server's certificate, in PEM; else one is made", 0},
	{"tls-key", KEY_TLS_KEY, "FILE", 0, "And its key", 0},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] =
	"Serve a cluster, what would be decided about it and why, over HTTP, from files, a running cluster as it is at "
	"the start, or a journal: the same paths and the same JSON as cede run serves. Nothing is changed."
	"\vThe address is printed when it can be used. SIGHUP reads everything anew; what cannot be read leaves what "
	"was "
	"there. Ends with SIGTERM or Ctrl-C. On an address that others can reach it speaks TLS and wants --token-file.";

/* ---- what is served ---- */

static void add_run(struct serve_log *log, const struct journal_run *run)
{
	for (uint32_t i = 0; i < run->n_decisions; i++) {
		const struct journal_decision *d = &run->decisions[i];

		serve_log_add(log, "decision", d->at_ns != TIME_NONE && d->at_ns ? d->at_ns : run->now_ns, d->json);
	}
}

/* Its decisions, the latest last; and the cluster of the latest run that has one. */
static enum err_code read_journal(struct server *s, struct journal *j, bool wants_cluster, struct cli_cluster *c,
				  struct serve_log *log, struct err *e)
{
	int64_t with_state = 0;

	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		TRY(journal_read(j, journal_run_id(j, i), false, &run, e));
		add_run(log, &run);
		if (run.has_state)
			with_state = run.id;
		journal_run_free(&run);
	}
	if (wants_cluster && with_state) {
		struct journal_run run;
		enum err_code rc;

		TRY(journal_read(j, with_state, true, &run, e));
		rc = rebuild_run(&run, c->manifest, c->config, &c->cluster, e);
		c->now_ns = run.now_ns;
		journal_run_free(&run);
		return rc;
	}
	return ERR_OK;
}

static enum err_code empty_cluster(struct cli_cluster *c, struct err *e)
{
	struct cluster_options o = engine_config_cluster_options(c->config, c->now_ns);

	return manifest_build(c->manifest, &o, &c->cluster, e);
}

static enum err_code load_journal(struct server *s, struct cli_cluster *c, struct serve_log *log, struct err *e)
{
	bool wants_cluster = !c->cluster;
	struct journal *j;
	enum err_code rc;

	if (wants_cluster) {
		*c = (struct cli_cluster){
			.vocab = vocab_new(), .config = engine_config_new(), .now_ns = clock_now(&s->wall)};
		c->manifest = manifest_new(c->vocab);
	}
	TRY(journal_open(s->o->journal, JOURNAL_READ, &j, e));
	rc = read_journal(s, j, wants_cluster, c, log, e);
	journal_close(j);
	if (!rc && !c->cluster)
		rc = empty_cluster(c, e);
	return rc;
}

static struct serve_world world_of(const struct server *s, const struct source *from)
{
	const struct cli_cluster *c = &from->c;
	bool is_old = s->has_now || !s->o->input.files.n;

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
	struct plan_question q = {.report = POD_NONE};
	struct world_plan p;
	struct text line = {0};
	struct emit emit;
	enum err_code rc = world_plan(&w, &q, &p, e);

	for (uint32_t i = 0; !rc && i < p.plan.v.n; i++) {
		text_reset(&line);
		emit_init(&emit, &line, EMIT_JSON_LINE);
		plan_emit_decision(&p.view, &emit, &p.plan.v.v[i]);
		serve_log_add(s->log, "decision", w.now_ns, text_str(&line));
	}
	text_free(&line);
	world_plan_free(&p);
	return rc;
}

static void source_free(struct source *from)
{
	plugins_free(from->plugins);
	cli_cluster_free(&from->c);
	*from = (struct source){0};
}

/* Everything anew; decisions into the log. 0, or an exit code after the error was told. */
static int load(struct server *s, struct source *ret)
{
	struct cli_input *in = &s->o->input;
	struct err e = {0};
	int rc = EXIT_FINE;

	*ret = (struct source){0};
	in->has_now = s->has_now;
	if (in->files.n || in->kubeconfig || !s->o->journal)
		rc = cli_load(in, s->command, &ret->c);
	if (!rc && s->o->journal && load_journal(s, &ret->c, s->log, &e))
		rc = cli_fail(&e);
	if (rc)
		return rc;
	ret->plugins = plugins_load(ret->c.config);
	return !s->o->journal && log_plan(s, ret, &e) ? cli_fail(&e) : EXIT_FINE;
}

static void reload(struct server *s)
{
	struct source fresh;

	if (load(s, &fresh)) {
		log_line(LOG_WARN, "what was served before is served on");
		source_free(&fresh);
		return;
	}
	source_free(&s->at);
	s->at = fresh;
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
	views_answer(&s->views, &w, r, &s->steady);
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
	struct err e = {0};

	s->log = serve_log_new(clock_now(&s->wall), MAX_DECISIONS, 0);
	rc = load(s, &s->at);
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
	struct options o = {.listen = DEFAULT_LISTEN};
	struct server s = {.o = &o, .wall = clock_system(), .steady = clock_steady()};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	s.command = argv[0];
	s.has_now = o.input.has_now;
	s.metrics = metrics_new();
	rc = run(&s);
	serve_stop(s.serve);
	source_free(&s.at);
	serve_log_free(s.log);
	metrics_free(s.metrics);
	text_free(&s.token);
	cli_input_free(&o.input);
	return rc;
}
