/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/live.h"
#include "manifest/fields.h"
#include "manifest/suggest.h"
#include "manifest/whatif.h"
#include "units/timestamp.h"

#define KEPT_BYTES_MAX ((size_t)2 << 30)

enum {
	NOTES_MAX = 20,
	KEY_CONFIG = 256,
	KEY_PROFILE,
	KEY_NOW,
	KEY_NO_COLOR,
	KEY_NAMESPACE,
	KEY_KUBECONFIG,
	KEY_CONTEXT
};

/* ---- options ---- */

const char *const cli_output_words[] = {"text", "wide", "json", "yaml", NULL};
const char *const cli_profile_words[] = {"default", "kubernetes", "yunikorn", "kai", NULL};

static void join(const char *const *words, char *out, size_t size)
{
	for (size_t n = 0; *words && n < size; words++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", *words);
}

unsigned cli_one_of(struct argp_state *state, const char *option, const char *word, const char *const *known)
{
	int found = words_find(known, word);
	const char *of = option ? option : "", *colon = option ? ": " : "", *near_word;
	char list[200];

	if (found >= 0)
		return (unsigned)found;
	near_word = nearest_word(word, known);
	join(known, list, sizeof(list));
	if (near_word)
		argp_error(state, "%s%s'%s' is not one of %s; did you mean '%s'?", of, colon, word, list, near_word);
	else
		argp_error(state, "%s%s'%s' is not one of %s", of, colon, word, list);
	return 0;
}

uint32_t cli_number(struct argp_state *state, const char *name, const char *arg, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || *end || arg[0] < '0' || arg[0] > '9' || n < min || n > max)
		argp_error(state, "--%s: expected a number from %u to %u, found '%s'", name, min, max, arg);
	return (uint32_t)n;
}

int64_t cli_time(struct argp_state *state, const char *name, const char *arg)
{
	struct err why;
	int64_t ns = 0;

	if (timestamp_parse(arg, strlen(arg), &ns, &why))
		argp_error(state, "--%s: expected a time such as 2026-11-15T12:00:00Z, found '%s'", name, arg);
	return ns;
}

static error_t parse_input(int key, char *arg, struct argp_state *state)
{
	struct cli_input *in = state->input;

	switch (key) {
	case 'f':
		array_push(&in->files, arg);
		return 0;
	case 'q':
		in->is_quiet = true;
		return 0;
	case KEY_KUBECONFIG:
		in->kubeconfig = arg;
		return 0;
	case KEY_CONTEXT:
		in->context = arg;
		return 0;
	case KEY_CONFIG:
		array_push(&in->configs, arg);
		return 0;
	case KEY_PROFILE:
		in->profile = (enum profile)cli_one_of(state, "--profile", arg, cli_profile_words);
		in->has_profile = true;
		return 0;
	case KEY_NAMESPACE:
		in->settings_namespace = arg;
		return 0;
	case KEY_NOW:
		in->now_ns = cli_time(state, "now", arg);
		in->has_now = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct cli_output *o = state->input;

	switch (key) {
	case 'o':
		o->format = (enum output)cli_one_of(state, "--output", arg, cli_output_words);
		return 0;
	case KEY_NO_COLOR:
		o->no_color = true;
		return 0;
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option input_options[] = {
	{"file", 'f', "FILE|DIR", 0,
	 "Read objects from a file, from all *.yaml, *.yml and *.json of a folder, or from standard input (-); may be "
	 "repeated",
	 0},
	{"kubeconfig", KEY_KUBECONFIG, "FILE", 0,
	 "Read the running cluster that this kubeconfig names; nothing is changed in it", 0},
	{"context", KEY_CONTEXT, "NAME", 0,
	 "The context of the kubeconfig; without --kubeconfig, of $KUBECONFIG or ~/.kube/config", 0},
	{"config", KEY_CONFIG, "FILE", 0,
	 "Read settings from this file too; may be repeated; plugins are loaded for no other", 0},
	{"profile", KEY_PROFILE, "NAME", 0, "default, kubernetes, yunikorn or kai; counts more than the configuration",
	 0},
	{"settings-namespace", KEY_NAMESPACE, "NAME", 0,
	 "Read ConfigMaps with settings from this namespace (default: yunikorn, kai-scheduler, kube-system)", 0},
	{"now", KEY_NOW, "TIME", 0, "Take this as the current time, for example 2026-11-15T12:00:00Z", 0},
	{"quiet", 'q', NULL, 0, "No notes about what is odd in the input", 0},
	{0},
};
static const struct argp_option output_options[] = {
	{"output", 'o', "FORMAT", 0, "text (default), wide, json or yaml", 0},
	{"no-color", KEY_NO_COLOR, NULL, 0, "No colours, as with NO_COLOR in the environment", 0},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};
static error_t parse_namespace(int key, char *arg, struct argp_state *state)
{
	struct cli_input *in = state->input;

	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	if (!*arg || strchr(arg, '/'))
		argp_error(state, "--namespace: expected the name of a namespace, found '%s'", arg);
	in->ns = arg;
	return 0;
}

static const struct argp_option namespace_options[] = {
	{"namespace", 'n', "NAME", 0, "Names without a namespace are in this one, and only its pods are listed", 0},
	{0},
};
const struct argp cli_namespace_argp = {.options = namespace_options, .parser = parse_namespace};
const struct argp cli_input_argp = {.options = input_options, .parser = parse_input};
const struct argp cli_output_argp = {.options = output_options, .parser = parse_output};

static struct peek {
	jmp_buf back;
	void (*see)(const struct argp *argp, void *arg);
	void *arg;
} * peek; /* NULL: options are parsed, not looked at */

void cli_peek(const struct command *c, void (*see)(const struct argp *argp, void *arg), void *arg)
{
	struct peek p = {.see = see, .arg = arg};
	char name[] = "cede", help[] = "--help";
	char *argv[] = {name, help, NULL};

	peek = &p;
	if (!setjmp(p.back))
		c->run(2, argv);
	peek = NULL;
}

struct option_names {
	ARRAY(const char *) v;
};

static void add_names(const struct argp *argp, struct option_names *to)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name)
			array_push(&to->v, o->name);
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		add_names(c->argp, to);
}

/* Beginnings are enough, as getopt has it. */
static bool is_option(const struct option_names *names, const char *word, size_t n)
{
	for (uint32_t i = 0; i < names->v.n; i++)
		if (!strncmp(names->v.v[i], word, n))
			return true;
	return false;
}

/* --set of plan and others is the beginning of --settings-namespace, which nobody means by it. */
static void refuse_set(const struct option_names *names, const char *command, const char *word, size_t n)
{
	for (uint32_t i = 0; i < names->v.n; i++)
		if (str_eq(names->v.v[i], "set"))
			return;
	if (n != strlen("--set") || strncmp(word, "--set", n) != 0)
		return;
	log_line(LOG_ERROR, "'--set' is not an option of %s; cede plan, explain and show have it", command);
	exit(EXIT_INPUT);
}

/* getopt says what is not an option; who was near one is told which. */
static void check_options(const struct argp *argp, int argc, char **argv)
{
	struct option_names names = {0};

	array_push(&names.v, "help");
	array_push(&names.v, "usage");
	add_names(argp, &names);
	for (int i = 1; i < argc && !str_eq(argv[i], "--"); i++) {
		const char *word = argv[i] + 2, *near_word;
		char name[64];
		size_t n = strcspn(argv[i], "=");

		refuse_set(&names, argv[0], argv[i], n);
		if (!str_starts(argv[i], "--") || n - 2 >= sizeof(name) || is_option(&names, word, n - 2))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(n - 2), word);
		array_push(&names.v, NULL);
		near_word = nearest_word(name, names.v.v);
		names.v.n--;
		if (!near_word)
			continue;
		log_line(LOG_ERROR, "'--%s' is not an option of %s; did you mean '--%s'?", name, argv[0], near_word);
		exit(EXIT_INPUT);
	}
	array_free(&names.v);
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *options)
{
	int first_left;

	if (peek) {
		peek->see(argp, peek->arg);
		longjmp(peek->back, 1);
	}
	check_options(argp, argc, argv);
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_err_exit_status = EXIT_INPUT;
	if (argp_parse(argp, argc, argv, ARGP_IN_ORDER, &first_left, options))
		exit(EXIT_INPUT);
}

void cli_input_free(struct cli_input *in)
{
	array_free(&in->files);
	array_free(&in->configs);
	text_free(&in->standard_input);
	for (uint32_t i = 0; i < in->told.n; i++)
		mem_free(in->told.v[i]);
	array_free(&in->told);
}

/* ---- reading ---- */

static bool is_live(const struct cli_input *in)
{
	return in->kubeconfig || in->context;
}

static enum err_code keep_standard_input(struct cli_input *in, struct err *e)
{
	char buffer[1 << 16];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno != EINTR)
			return err_fail(e, ERR_IO, "<stdin>: %s", strerror(errno));
		if (n > 0 && in->standard_input.n > KEPT_BYTES_MAX)
			return err_fail(e, ERR_LIMIT, "<stdin>: more than 2 GiB");
		if (n > 0)
			text_add_n(&in->standard_input, buffer, (size_t)n);
	}
	return ERR_OK;
}

static enum err_code read_one(struct cli_input *in, struct manifest *m, const char *path, struct err *e)
{
	if (!in->keeps_standard_input || !str_eq(path, "-"))
		return manifest_read(m, path, e);
	if (!in->standard_input.n)
		TRY(keep_standard_input(in, e));
	return manifest_read_bytes(m, "<stdin>", text_str(&in->standard_input), in->standard_input.n, e);
}

static enum err_code read_files(struct cli_input *in, struct cli_cluster *c, struct err *e)
{
	manifest_set_namespace(c->manifest, in->settings_namespace);
	if (is_live(in))
		TRY(cli_read_live(in, c->manifest, e));
	if (in->made)
		TRY(manifest_read_bytes(c->manifest, in->made_name, text_str(in->made), in->made->n, e));
	for (uint32_t i = 0; i < in->files.n; i++)
		TRY(read_one(in, c->manifest, in->files.v[i], e));
	if (in->only_config)
		return manifest_read_config(c->manifest, in->only_config, e);
	for (uint32_t i = 0; i < in->configs.n; i++)
		TRY(manifest_read_config(c->manifest, in->configs.v[i], e));
	return ERR_OK;
}

static enum err_code configure(struct cli_input *in, const struct whatif *w, struct cli_cluster *c, struct err *e)
{
	if (w)
		whatif_begin(w, c->manifest);
	TRY(read_files(in, c, e));
	if (w)
		TRY(whatif_read(w, c->manifest, e));
	TRY(manifest_configure(c->manifest, c->config, e));
	if (in->has_profile)
		c->config->profile = in->profile;
	return w ? whatif_configure(w, c->config, e) : ERR_OK;
}

enum err_code cli_configure(struct cli_input *in, struct cli_cluster *c, struct err *e)
{
	return configure(in, NULL, c, e);
}

static enum err_code load(struct cli_input *in, const struct whatif *w, struct cli_cluster *c, struct err *e)
{
	struct cluster_options options;

	TRY(configure(in, w, c, e));
	options = engine_config_cluster_options(c->config, c->now_ns);
	TRY(manifest_build(c->manifest, &options, &c->cluster, e));
	return w ? whatif_apply(w, c->manifest, c->cluster, e) : ERR_OK;
}

/* at: where the last was found; most come in the same order again. */
static bool was_told(const struct cli_input *in, uint32_t n_before, const char *note, uint32_t *at)
{
	for (uint32_t i = 0; i < n_before; i++) {
		uint32_t k = (*at + i) % n_before;

		if (str_eq(in->told.v[k], note)) {
			*at = k + 1;
			return true;
		}
	}
	return false;
}

void cli_notes(struct cli_input *in, const struct manifest *m)
{
	uint32_t n_before = in->told.n, n = 0, at = 0;

	for (uint32_t i = 0; i < manifest_note_count(m); i++) {
		if (was_told(in, n_before, manifest_note(m, i), &at))
			continue;
		if (n++ < NOTES_MAX)
			cli_note(manifest_note(m, i));
		array_push(&in->told, mem_strdup(manifest_note(m, i)));
	}
	if (n > NOTES_MAX)
		fprintf(stderr, "cede: note: and %u more\n", n - NOTES_MAX);
}

/* A namespace that nothing is in is most often a slip. */
static void note_namespace(const struct cli_input *in, const struct cluster *c)
{
	struct text note = {0};

	text_printf(&note, "nothing is in namespace %s", in->ns);
	if (suggest_namespace(c, in->ns, &note))
		cli_note(text_str(&note));
	text_free(&note);
}

int cli_load(struct cli_input *in, const char *command, struct cli_cluster *ret)
{
	return cli_load_changed(in, NULL, command, ret);
}

int cli_load_changed(struct cli_input *in, const struct whatif *w, const char *command, struct cli_cluster *ret)
{
	struct clock clock = clock_system();
	struct whatif changes = {0};
	struct err e = {0};

	if (w) {
		changes = *w;
		changes.ns = in->ns;
	}
	if (!in->has_now)
		in->now_ns = clock_now(&clock);
	in->has_now = true;
	*ret = (struct cli_cluster){.now_ns = in->now_ns};
	if (!in->files.n && !in->made && !is_live(in)) {
		log_line(LOG_ERROR,
			 "nothing to read; say where the cluster is: %s -f FILE or -f FOLDER, -f - for standard "
			 "input, or --kubeconfig FILE for one that runs",
			 command);
		return EXIT_INPUT;
	}
	ret->vocab = vocab_new();
	ret->manifest = manifest_new(ret->vocab);
	ret->config = engine_config_new();
	if (load(in, w ? &changes : NULL, ret, &e))
		return cli_fail(&e);
	if (!in->is_quiet)
		cli_notes(in, ret->manifest);
	if (!in->is_quiet && in->ns && (w || !in->keeps_standard_input)) /* what is thought of may be in it */
		note_namespace(in, ret->cluster);
	return EXIT_FINE;
}

void cli_cluster_free(struct cli_cluster *c)
{
	if (c->cluster)
		cluster_free(c->cluster);
	if (c->config)
		engine_config_free(c->config);
	manifest_free(c->manifest);
	if (c->vocab)
		vocab_free(c->vocab);
	*c = (struct cli_cluster){0};
}

/* ---- speaking ---- */

int cli_fail(const struct err *e)
{
	log_line(LOG_ERROR, "%s", e->msg);
	return e->code == ERR_INTERNAL ? EXIT_INTERNAL : EXIT_INPUT;
}

void cli_note(const char *s)
{
	struct text line = {0};

	text_add(&line, "cede: note: ");
	text_add_visible(&line, s);
	text_add_char(&line, '\n');
	fputs(text_str(&line), stderr);
	text_free(&line);
}

static uint32_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = {0};
	unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;

	if (n >= 20 && n <= 10000)
		return (uint32_t)n;
	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static bool wants_color(const struct cli_output *o)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !o->no_color && (!no || !*no) && isatty(STDOUT_FILENO) && term && !str_eq(term, "dumb");
}

struct look cli_look(const struct cli_output *o)
{
	return (struct look){.width = o->format == OUTPUT_WIDE ? 0 : terminal_width(), .has_color = wants_color(o)};
}

bool cli_is_data(const struct cli_output *o)
{
	return o->format == OUTPUT_JSON || o->format == OUTPUT_YAML;
}

enum emit_format cli_emit_format(const struct cli_output *o)
{
	return o->format == OUTPUT_JSON ? EMIT_JSON : EMIT_YAML;
}

void cli_print(const struct text *t)
{
	fwrite(text_str(t), 1, t->n, stdout);
}

static void close_output(void)
{
	bool has_failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) || has_failed) {
		log_line(LOG_ERROR, "standard output: %s", errno ? strerror(errno) : "write error");
		_exit(EXIT_OUTPUT);
	}
}

void cli_watch_output(void)
{
	atexit(close_output);
}

/* Nothing is left to make words with; what was not yet written of the output would be half of it. */
static void out_of_memory(void)
{
	static const char words[] = "cede: error: out of memory\n";
	ssize_t n = write(STDERR_FILENO, words, sizeof(words) - 1);

	(void)n;
	_exit(EXIT_MEMORY);
}

void cli_watch_memory(void)
{
	mem_on_failure(out_of_memory);
}
