/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.h - what commands have in common: options, reading a cluster, printing.
 *
 * The options come in two sets that a command takes as argp children and hands their structs to in ARGP_KEY_INIT:
 *
 *	static const struct argp_child children[] = {
 *		{&cli_input_argp, 0, "Input:", 1}, {&cli_output_argp, 0, "Output:", 2}, {0}};
 *	case ARGP_KEY_INIT:
 *		state->child_inputs[0] = &o->input;
 *		state->child_inputs[1] = &o->output;
 *
 * Wrong options end the program there and then, with exit code 2.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/emit.h"
#include "base/err.h"
#include "cli/command.h"
#include "cluster/cluster.h"
#include "engine/config.h"
#include "explain/table.h"
#include "manifest/manifest.h"

struct cli_input { /* zero-initialised: nothing given */
	ARRAY(const char *) files;
	const char *kubeconfig, *context; /* a running cluster too; NULL: not given */
	ARRAY(const char *) configs;
	const char *only_config; /* instead of them; NULL: they count */
	const char *settings_namespace;
	bool has_profile, has_now, is_quiet;
	enum profile profile;
	int64_t now_ns;
	const char *ns;		   /* -n; NULL: all, and the default one for names without any */
	bool keeps_standard_input; /* it will be read again: -f - is kept */
	struct text standard_input;
	const char *made_name; /* a file that was never written: its name, for messages; NULL: there is none */
	const struct text *made;
	ARRAY(char *) told; /* notes: each is told once, however often the input is read */
};

enum output { OUTPUT_TEXT, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML };

struct cli_output {
	enum output format;
	bool no_color;
};

extern const struct argp cli_input_argp, cli_output_argp;
extern const struct argp
	cli_namespace_argp; /* -n, for commands that speak of pods; its input is the struct cli_input */
extern const char *const cli_output_words[], *const cli_profile_words[]; /* what --output and --profile take */
/* What options of one command take, for completion; each is defined with its command. */
extern const char *const history_rule_words[], *const history_state_words[];
extern const char *const run_log_words[], *const simulate_output_words[];

/* The number of an option --name; ends the program if it is not one from min to max. */
uint32_t cli_number(struct argp_state *state, const char *name, const char *arg, uint32_t min, uint32_t max);
/* The same for times, as nanoseconds. */
int64_t cli_time(struct argp_state *state, const char *name, const char *arg);

/*
 * Position of the word among the known ones (NULL at their end); ends the program if it is not there. option: whose
 * value it is, as it is typed; NULL: of none.
 */
unsigned cli_one_of(struct argp_state *state, const char *option, const char *word, const char *const *known);

/* argp_parse in the order of arguments; plain arguments are refused unless the command's own parser takes them. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *options);

/*
 * Shows the options of a command to see() without running it: cli_parse, which a command calls before it does or takes
 * anything, hands them over and does not come back. What see() is given lives until it returns; what that points to,
 * options and words, for ever.
 */
void cli_peek(const struct command *c, void (*see)(const struct argp *argp, void *arg), void *arg);

struct cli_cluster { /* what was read */
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
	int64_t now_ns; /* --now, else the time when it was read */
};

/*
 * Read all files, or a running cluster, settings and objects. 0, or an exit code after the error was told. Notes go to
 * standard error unless --quiet. command: "cede show", for the message when no file is given.
 */
int cli_load(struct cli_input *in, const char *command, struct cli_cluster *ret);
/* The same, with what is thought of on top; NULL: nothing is. now is the same for all loads of one input. */
struct whatif;
int cli_load_changed(struct cli_input *in, const struct whatif *w, const char *command, struct cli_cluster *ret);
/* Settings alone: reads all files into c's manifest and config, which are there. */
enum err_code cli_configure(struct cli_input *in, struct cli_cluster *c, struct err *e);
void cli_cluster_free(struct cli_cluster *c); /* also after a failed load */
void cli_input_free(struct cli_input *in);

/* Tells the error on standard error ("cede: error: ...") and gives the exit code for it. */
int cli_fail(const struct err *e);
/* "cede: note: ...", with control characters made visible. */
void cli_note(const char *s);
/* What was odd in the input and was not told before; the first twenty. */
void cli_notes(struct cli_input *in, const struct manifest *m);

/* How standard output will be looked at: width and colour of the terminal. COLUMNS, NO_COLOR and TERM=dumb count. */
struct look cli_look(const struct cli_output *o);
bool cli_is_data(const struct cli_output *o); /* JSON or YAML */
enum emit_format cli_emit_format(const struct cli_output *o);
/* On standard output. That it could not be written is noticed when the program ends. */
void cli_print(const struct text *t);
/* Call once, first: whoever leaves the program, standard output is closed and a failure of it becomes EXIT_OUTPUT. */
void cli_watch_output(void);
/* Call once, first: out of memory is told and becomes EXIT_MEMORY, and standard output stays as it is. */
void cli_watch_memory(void);
