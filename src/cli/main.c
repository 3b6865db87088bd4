/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command and runs it. */
#include <stdio.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "manifest/fields.h"

static int command_help(int argc, char **argv);

const struct command commands[] = {
	{"plan", "what would happen now: which pods get a node, which are evicted, and why", command_plan},
	{"explain", "why a pod, group or queue waits, is evicted, stays or gets its node", command_explain},
	{"simulate", "a load in virtual time, and what comes of it", command_simulate},
	{"compare", "one load under several configurations: what differs, and where they part", command_compare},
	{"advise", "try values of a setting on a load: what each costs, and which to take", command_advise},
	{"lint", "settings that are allowed and do not do what they seem to", command_lint},
	{"show", "the cluster as it was read: queues, nodes, what runs and what waits", command_show},
	{"run", "schedule a running cluster: decide, bind, evict, and say why", command_run},
	{"serve", "the console, and the same as JSON: of files, a journal or a simulation", command_serve},
	{"config", "the settings in effect, and where each comes from: cede config print", command_config},
	{"history", "evictions in a journal: which pod, for whom and why", command_history},
	{"replay", "decide again what was recorded: the same, or what would be different", command_replay},
	{"journal", "check a journal, save what can be read of a damaged one, show what is in it", command_journal},
	{"bench", "how long decisions take on a synthetic cluster", command_bench},
	{"completion", "completion of commands, options and their values for a shell", command_completion},
	{"help", "this list, or the options of a command: cede help COMMAND", command_help},
	{"version", "the version", command_version},
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(*commands) };
const unsigned command_count = COMMAND_COUNT;

static const char exit_codes[] = "Exit codes:\n"
				 "  0  fine\n"
				 "  1  a check failed (--strict, --check, cede replay, cede journal), cede compare or\n"
				 "     advise was interrupted, or cede run could not start or lost its lease\n"
				 "  2  bad input or usage\n"
				 "  3  an error inside cede: a self-check failed\n"
				 "  4  standard output could not be written\n"
				 "  5  out of memory\n";

static void add_overview(struct text *out)
{
	text_add(out, "Usage: cede COMMAND [OPTION...]\n"
		      "       cede --help | --version\n\n"
		      "A preemption-first scheduler for Kubernetes clusters: who runs where, who has to give\n"
		      "way, and why.\n\n"
		      "Commands:\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		text_printf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	text_printf(out, "\nOptions of a command: cede COMMAND --help\n\n%s", exit_codes);
}

static int print_overview(FILE *to, int code)
{
	struct text out = {0};

	add_overview(&out);
	fwrite(text_str(&out), 1, out.n, to);
	text_free(&out);
	return code;
}

static const struct command *find(const char *name)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		if (str_eq(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	const char *words[COMMAND_COUNT + 1] = {0}, *near_word;

	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		words[i] = commands[i].name;
	near_word = nearest_word(name, words);
	if (near_word)
		log_line(LOG_ERROR, "'%s' is not a command; did you mean '%s'?", name, near_word);
	else
		log_line(LOG_ERROR, "'%s' is not a command; cede --help lists them", name);
	return EXIT_INPUT;
}

/* argv[0] becomes "cede NAME": argp and getopt begin their messages with it. */
static int run(const struct command *c, int argc, char **argv)
{
	struct text name = {0};
	int rc;

	text_printf(&name, "cede %s", c->name);
	argv[0] = name.s;
	rc = c->run(argc, argv);
	text_free(&name);
	return rc;
}

static int command_help(int argc, char **argv)
{
	char help[] = "--help";
	char *args[] = {argv[0], help, NULL};
	const struct command *c;

	if (argc < 2 || str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))
		return print_overview(stdout, EXIT_FINE);
	c = find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	if (argc > 2) {
		log_line(LOG_ERROR, "one command at a time, please: '%s' is the second", argv[2]);
		return EXIT_INPUT;
	}
	return c->run == command_help ? print_overview(stdout, EXIT_FINE) : run(c, 2, args);
}

int main(int argc, char **argv)
{
	static char version[] = "version";
	const struct command *c;

	cli_watch_output();
	cli_watch_memory();
	if (argc < 2)
		return print_overview(stderr, EXIT_INPUT);
	if (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))
		return print_overview(stdout, EXIT_FINE);
	if (str_eq(argv[1], "--version") || str_eq(argv[1], "-V"))
		argv[1] = version;
	c = find(argv[1]);
	return c ? run(c, argc - 1, argv + 1) : unknown(argv[1]);
}
