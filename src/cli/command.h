/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the commands of the program. One file each; a command is one row of the table in main.c.
 *
 * A command parses its own options (argp), prints on standard output, and returns one of the exit codes. argv[0] is
 * "cede NAME", as it should be in messages.
 */
#pragma once

enum exit_code {
	EXIT_FINE = 0,
	EXIT_STRICT = 1,   /* nothing wrong, but not what --strict asks for; what is replayed is not the same */
	EXIT_INPUT = 2,	   /* bad input, or the program was called wrongly */
	EXIT_INTERNAL = 3, /* a self-check failed: a bug in cede */
	EXIT_OUTPUT = 4,   /* standard output could not be written */
	EXIT_MEMORY = 5,   /* there is not enough memory */
};

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

extern const struct command commands[]; /* in the order of the overview */
extern const unsigned command_count;

int command_advise(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_completion(int argc, char **argv);
int command_config(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_history(int argc, char **argv);
int command_journal(int argc, char **argv);
int command_lint(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_run(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_show(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_version(int argc, char **argv);
