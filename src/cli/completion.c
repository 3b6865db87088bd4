/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cede completion: a script that teaches a shell what can be typed after "cede".
 *
 * Everything comes from the tables that parse the command line and print --help, so that a new command or option needs
 * nothing here. Only which words an option takes is said in the list below. Of plain arguments, those that are written
 * in small letters in a command's usage ("bash|zsh|fish") are typed as they stand; JOURNAL and A.yaml are files.
 */
#include <ctype.h>

#include "cli/common.h"
#include "cli/simulating.h"
#include "cli/synthetic.h"
#include "rules/rule.h"

/* The first row that fits counts. */
static const struct {
	const char *command; /* NULL: any */
	const char *option;
	const char *const *words;
} choices[] = {
	{"simulate", "output", simulate_output_words},
	{"serve", "format", simulating_trace_words},
	{"history", "rule", history_rule_words},
	{"history", "state", history_state_words},
	{"run", "log", run_log_words},
	{NULL, "output", cli_output_words},
	{NULL, "profile", cli_profile_words},
	{NULL, "action", action_words},
	{NULL, "shape", synthetic_shape_words},
	{NULL, "format", simulating_format_words},
	{NULL, "queues", simulating_queues_words},
};

struct flag {
	const char *name, *arg, *doc; /* arg: NULL if it takes none */
	int letter;		      /* 0 if it has none */
	struct text words;	      /* that it takes, with blanks between them; "" if they are not known */
};

struct completion_page { /* what can be typed after one command */
	const struct command *command;
	struct text args;	      /* as words of an option */
	bool takes_args, takes_files; /* takes_files: after args, if there are some */
	ARRAY(struct flag) options;
};

struct shell {
	const char *name;
	void (*write)(struct text *out, const struct completion_page *pages, unsigned n);
};

/* ---- the tables ---- */

static void add_word(struct text *t, const char *word, size_t n)
{
	if (t->n)
		text_add_char(t, ' ');
	text_add_n(t, word, n);
}

/* Keys that are no letters are numbers for the parser alone. */
static int letter_of(int key)
{
	return key > 0 && key < 128 && isalpha(key) ? key : 0;
}

static void add_option(struct completion_page *p, const char *name, int key, const char *arg, const char *doc)
{
	struct flag o = {.name = name, .arg = arg, .doc = doc, .letter = letter_of(key)};

	for (size_t i = 0; arg && !o.words.n && i < sizeof(choices) / sizeof(*choices); i++) {
		bool is_it = str_eq(choices[i].option, name) &&
			     (!choices[i].command || str_eq(choices[i].command, p->command->name));

		for (const char *const *w = choices[i].words; is_it && *w; w++)
			add_word(&o.words, *w, strlen(*w));
	}
	array_push(&p->options, o);
}

/* A command may have its own meaning for an option of its children: the first counts. */
static bool has_option(const struct completion_page *p, const char *name)
{
	for (uint32_t i = 0; i < p->options.n; i++)
		if (str_eq(p->options.v[i].name, name))
			return true;
	return false;
}

static void add_options(struct completion_page *p, const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && !(o->flags & (OPTION_HIDDEN | OPTION_DOC)) && !has_option(p, o->name))
			add_option(p, o->name, o->key, o->arg, o->doc);
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		add_options(p, c->argp);
}

/* "bash|zsh|fish" gives its words, "[NAMESPACE/]POD" none. */
static void add_args(struct completion_page *p, const char *usage)
{
	for (const char *s = usage; *s;) {
		size_t n = strcspn(s, "| ");

		if (n && strspn(s, "abcdefghijklmnopqrstuvwxyz-") == n)
			add_word(&p->args, s, n);
		s += n;
		s += *s != '\0';
	}
}

static void see(const struct argp *argp, void *arg)
{
	struct completion_page *p = arg;

	add_options(p, argp);
	p->takes_args = argp->args_doc != NULL;
	if (!p->takes_args)
		return;
	add_args(p, argp->args_doc);
	p->takes_files = strstr(argp->args_doc, "JOURNAL") || strstr(argp->args_doc, ".yaml");
}

/* help takes the name of a command and has no options of its own. */
static void read_page(struct completion_page *p, const struct command *c)
{
	*p = (struct completion_page){.command = c};
	if (str_eq(c->name, "help")) {
		p->takes_args = true;
		for (unsigned i = 0; i < command_count; i++)
			add_word(&p->args, commands[i].name, strlen(commands[i].name));
		return;
	}
	cli_peek(c, see, p);
	add_option(p, "help", '?', NULL, "Give this help list");
	add_option(p, "usage", 0, NULL, "Give a short usage message");
}

static void page_free(struct completion_page *p)
{
	for (uint32_t i = 0; i < p->options.n; i++)
		text_free(&p->options.v[i].words);
	array_free(&p->options);
	text_free(&p->args);
}

static bool is_path(const struct flag *o)
{
	return o->arg && (strstr(o->arg, "FILE") || strstr(o->arg, "DIR"));
}

/* Each of the special letters gets the escape before it. */
static void add_escaped(struct text *out, const char *s, const char *special, const char *escape)
{
	for (; *s; s++) {
		if (strchr(special, *s))
			text_add(out, escape);
		text_add_char(out, *s);
	}
}

/* ---- bash ---- */

/* bash cuts words at "=": --output=json are three of them. */
static const char bash_head[] = "_cede()\n"
				"{\n"
				"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
				"\n"
				"\tCOMPREPLY=()\n"
				"\t[[ $cur != = ]] || cur=\n"
				"\t[[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
				"\t((COMP_CWORD > 1)) || prev=\n"
				"\tcase \"${COMP_WORDS[1]} $prev\" in\n";
static const char bash_tail[] = "\tesac\n"
				"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
				"}\n"
				"complete -F _cede cede\n";

static void bash_value(struct text *out, const char *command, const struct flag *o)
{
	text_add_char(out, '\t');
	if (o->letter)
		text_printf(out, "'%s -%c' | ", command, o->letter);
	text_printf(out, "'%s --%s') ", command, o->name);
	if (o->words.n)
		text_printf(out, "words='%s' ;;\n", text_str(&o->words));
	else
		text_add(out, is_path(o) ? "compopt -o default; return ;;\n" : "return ;;\n");
}

static void bash_options(struct text *out, const struct completion_page *p)
{
	for (uint32_t i = 0; i < p->options.n; i++)
		text_printf(out, "%s--%s", i ? " " : "", p->options.v[i].name);
}

/* After words that stand for themselves come files, if the command takes some. */
static void bash_page(struct text *out, const struct completion_page *p)
{
	const char *args = text_str(&p->args);

	for (uint32_t i = 0; i < p->options.n; i++)
		if (p->options.v[i].arg)
			bash_value(out, p->command->name, &p->options.v[i]);
	text_printf(out, "\t'%s '?*) ", p->command->name);
	if (!p->takes_files) {
		text_printf(out, "words='%s%s", args, *args && p->options.n ? " " : "");
		bash_options(out, p);
		text_add(out, "' ;;\n");
		return;
	}
	text_add(out, "if [[ $cur == -* ]]; then words='");
	bash_options(out, p);
	if (*args)
		text_printf(out, "'; elif ((COMP_CWORD == 2)); then words='%s", args);
	text_add(out, "'; else compopt -o default; return; fi ;;\n");
}

static void write_bash(struct text *out, const struct completion_page *pages, unsigned n)
{
	text_add(out, bash_head);
	for (unsigned i = 0; i < n; i++)
		bash_page(out, &pages[i]);
	text_add(out, "\t*' ') words='");
	for (unsigned i = 0; i < n; i++)
		text_printf(out, "%s ", pages[i].command->name);
	text_add(out, "--help --version' ;;\n");
	text_add(out, bash_tail);
}

/* ---- zsh ---- */

static void zsh_quoted(struct text *out, const char *s)
{
	for (; *s; s++)
		text_add_n(out, *s == '\'' ? "'\\''" : s, *s == '\'' ? 4 : 1);
}

/* What stands in brackets behind an option. */
static void zsh_explained(struct text *out, const char *doc)
{
	struct text t = {0};

	add_escaped(&t, doc, "[]\\", "\\");
	text_add_char(out, '[');
	zsh_quoted(out, text_str(&t));
	text_add_char(out, ']');
	text_free(&t);
}

static void zsh_spec(struct text *out, const struct flag *o, bool is_letter)
{
	text_add(out, " \\\n\t\t\t'*");
	if (is_letter)
		text_printf(out, "-%c", o->letter);
	else
		text_printf(out, "--%s", o->name);
	if (o->arg)
		text_add_char(out, is_letter ? '+' : '=');
	zsh_explained(out, o->doc);
	if (o->words.n)
		text_printf(out, ":%s:(%s)", o->arg, text_str(&o->words));
	else if (o->arg)
		text_printf(out, ":%s:%s", o->arg, is_path(o) ? "_files" : " ");
	text_add_char(out, '\'');
}

static void zsh_page(struct text *out, const struct completion_page *p)
{
	text_printf(out, "\t%s)\n\t\t_arguments", p->command->name);
	for (uint32_t i = 0; i < p->options.n; i++) {
		if (p->options.v[i].letter)
			zsh_spec(out, &p->options.v[i], true);
		zsh_spec(out, &p->options.v[i], false);
	}
	if (p->takes_args && p->args.n)
		text_printf(out, " \\\n\t\t\t':argument:(%s)'", text_str(&p->args));
	else if (p->takes_args && !p->takes_files)
		text_add(out, " \\\n\t\t\t':argument: '");
	if (p->takes_files)
		text_add(out, " \\\n\t\t\t'*:file:_files'");
	text_add(out, "\n\t\t;;\n");
}

static void write_zsh(struct text *out, const struct completion_page *pages, unsigned n)
{
	text_add(out, "_cede()\n{\n\tlocal command=$words[2]\n\tlocal -a commands\n\n\tcommands=(\n");
	for (unsigned i = 0; i < n; i++) {
		text_printf(out, "\t\t'%s:", pages[i].command->name);
		zsh_quoted(out, pages[i].command->summary);
		text_add(out, "'\n");
	}
	text_add(out, "\t)\n"
		      "\tif ((CURRENT == 2)); then\n"
		      "\t\t_describe command commands\n"
		      "\t\treturn\n"
		      "\tfi\n"
		      "\tshift words\n"
		      "\t((CURRENT--))\n"
		      "\tcase $command in\n");
	for (unsigned i = 0; i < n; i++)
		zsh_page(out, &pages[i]);
	text_add(out, "\tesac\n"
		      "}\n"
		      "if [[ $funcstack[1] == _cede ]]; then _cede \"$@\"; else compdef _cede cede; fi\n");
}

/* ---- fish ---- */

static void fish_described(struct text *out, const char *doc)
{
	text_add(out, " -d '");
	add_escaped(out, doc, "'\\", "\\");
	text_add(out, "'\n");
}

static void fish_option(struct text *out, const char *command, const struct flag *o)
{
	text_printf(out, "complete -c cede -n '__fish_seen_subcommand_from %s' -l %s", command, o->name);
	if (o->letter)
		text_printf(out, " -s %c", o->letter);
	if (o->words.n)
		text_printf(out, " -x -a '%s'", text_str(&o->words));
	else if (o->arg)
		text_add(out, is_path(o) ? " -r -F" : " -x");
	fish_described(out, o->doc);
}

static void fish_page(struct text *out, const struct completion_page *p)
{
	text_printf(out, "complete -c cede -n __fish_use_subcommand -a %s", p->command->name);
	fish_described(out, p->command->summary);
	for (uint32_t i = 0; i < p->options.n; i++)
		fish_option(out, p->command->name, &p->options.v[i]);
	if (p->args.n)
		text_printf(out, "complete -c cede -n '__fish_seen_subcommand_from %s' -a '%s'\n", p->command->name,
			    text_str(&p->args));
	if (p->takes_files)
		text_printf(out, "complete -c cede -n '__fish_seen_subcommand_from %s' -F\n", p->command->name);
}

static void write_fish(struct text *out, const struct completion_page *pages, unsigned n)
{
	text_add(out, "complete -c cede -f\n");
	for (unsigned i = 0; i < n; i++)
		fish_page(out, &pages[i]);
}

/* ---- the command ---- */

static const char *const shell_words[] = {"bash", "zsh", "fish", NULL};
static const struct shell shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct shell **shell = state->input;

	switch (key) {
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		if (*shell)
			argp_error(state, "one shell at a time, please: '%s' is the second", arg);
		*shell = &shells[cli_one_of(state, "shell", arg, shell_words)];
		return 0;
	case ARGP_KEY_END:
		if (!*shell)
			argp_error(state, "which shell? bash, zsh or fish");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, {0}};

static const char doc[] = "Print a script that teaches a shell to complete cede's commands, options and their values."
			  "\vFor this session: bash: source <(cede completion bash); "
			  "zsh: source <(cede completion zsh), after compinit; "
			  "fish: cede completion fish | source. cede-completion(1) says how to keep it.";

static void print_script(const struct shell *shell)
{
	struct completion_page *pages = mem_alloc(command_count * sizeof(*pages));
	struct text out = {0};

	for (unsigned i = 0; i < command_count; i++)
		read_page(&pages[i], &commands[i]);
	text_printf(&out, "%s# Completion of cede " CEDE_VERSION ", written by: cede completion %s\n",
		    str_eq(shell->name, "zsh") ? "#compdef cede\n" : "", shell->name);
	shell->write(&out, pages, command_count);
	cli_print(&out);
	text_free(&out);
	for (unsigned i = 0; i < command_count; i++)
		page_free(&pages[i]);
	mem_free(pages);
}

int command_completion(int argc, char **argv)
{
	const struct argp argp = {.options = argp_options, .parser = parse, .args_doc = "bash|zsh|fish", .doc = doc};
	const struct shell *shell = NULL;

	cli_parse(&argp, argc, argv, &shell);
	print_script(shell);
	return EXIT_FINE;
}
