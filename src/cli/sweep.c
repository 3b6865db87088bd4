/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/simulating.h"
#include "units/duration.h"

/* ---- options ---- */

enum { KEY_SEEDS = 0xd00, KEY_PROCESSES, KEY_REPORT, SEEDS_MAX = 1000, PROCESSES_MAX = 256 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sweep_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->n_seeds = 3;
		return 0;
	case KEY_SEEDS:
		o->n_seeds = cli_number(state, "seeds", arg, 1, SEEDS_MAX);
		return 0;
	case KEY_PROCESSES:
		o->n_processes = cli_number(state, "processes", arg, 1, PROCESSES_MAX);
		return 0;
	case KEY_REPORT:
		o->report = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"seeds", KEY_SEEDS, "N", 0, "Simulate each under N seeds, from --seed on (default 3)", 0},
	{"processes", KEY_PROCESSES, "N", 0,
	 "Simulate so many at a time (default: one for each core); the result is the same", 0},
	{"report", KEY_REPORT, "FILE", 0, "Write a page with charts to this file (HTML)", 0},
	{0},
};
const struct argp sweep_argp = {.options = argp_options, .parser = parse};

/* ---- tasks ---- */

struct sweep_task {
	FILE *file;
	pid_t pid; /* 0: not begun, or over */
	bool is_done;
	int code;
};

struct sweeping {
	const struct sweep *s;
	struct sweep_task *tasks;
	uint32_t n_begun, n_over, n_running;
	int64_t began_ns;
	int failed; /* an exit code; 0: nobody */
};

/* ---- progress, on terminals only ---- */

static void show_progress(const struct sweeping *w)
{
	struct clock clock = clock_steady();
	struct text line = {0};
	int64_t took_ns = time_since(clock_now(&clock), w->began_ns);

	if (w->s->is_quiet || !isatty(STDERR_FILENO))
		return;
	text_printf(&line, "\r\033[K%" PRIu32 " of %" PRIu32 " %s", w->n_over, w->s->n_tasks, w->s->what);
	if (w->n_over && w->n_over < w->s->n_tasks) {
		int64_t left_ns = time_multiply(took_ns / w->n_over, w->s->n_tasks - w->n_over);

		text_add(&line, ", about ");
		duration_text_short(time_floor(left_ns, NS_PER_S), &line);
		text_add(&line, " left");
	}
	if (w->n_over == w->s->n_tasks)
		text_add(&line, "\r\033[K");
	fputs(text_str(&line), stderr);
	text_free(&line);
}

/* ---- processes ---- */

static int out_of(const char *what)
{
	log_line(LOG_ERROR, "%s: %s", what, strerror(errno));
	return EXIT_INPUT;
}

/* What was left to be written in this process is not written again by that one. */
static void run_child(const struct sweep *s, uint32_t i, FILE *file)
{
	int code = s->run(s->ctx, i, file);

	if (fflush(file))
		code = EXIT_OUTPUT;
	_exit(code);
}

static int begin_task(struct sweeping *w, uint32_t i)
{
	struct sweep_task *t = &w->tasks[i];

	t->file = tmpfile();
	if (!t->file)
		return out_of("a temporary file");
	fflush(stdout);
	fflush(stderr);
	t->pid = fork();
	if (t->pid < 0)
		return out_of("fork");
	if (t->pid == 0)
		run_child(w->s, i, t->file);
	w->n_begun++;
	w->n_running++;
	return EXIT_FINE;
}

static struct sweep_task *task_of(struct sweeping *w, pid_t pid)
{
	for (uint32_t i = 0; i < w->n_begun; i++)
		if (w->tasks[i].pid == pid)
			return &w->tasks[i];
	return NULL;
}

static void await_one(struct sweeping *w)
{
	int status = 0;
	pid_t pid = waitpid(-1, &status, 0);
	struct sweep_task *t = pid > 0 ? task_of(w, pid) : NULL;

	if (!t)
		return;
	t->pid = 0;
	w->n_running--;
	w->n_over++;
	t->code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
	t->is_done = t->code == EXIT_FINE;
	if (!t->is_done && !simulating_interrupt && !w->failed)
		w->failed = t->code;
	show_progress(w);
}

static uint32_t process_count(const struct sweep *s)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return s->n_processes ? s->n_processes : cores > 0 ? (uint32_t)cores : 1;
}

static int run_all(struct sweeping *w)
{
	uint32_t most = process_count(w->s);
	int rc = EXIT_FINE;

	while (w->n_running || (w->n_begun < w->s->n_tasks && !rc && !w->failed && !simulating_interrupt)) {
		bool may_begin = w->n_begun < w->s->n_tasks && !rc && !w->failed && !simulating_interrupt;

		if (may_begin && w->n_running < most)
			rc = begin_task(w, w->n_begun);
		else
			await_one(w);
	}
	return rc ? rc : w->failed;
}

/* ---- results ---- */

static int take_all(struct sweeping *w, uint32_t *ret_n_done)
{
	for (uint32_t i = 0; i < w->s->n_tasks && w->tasks[i].is_done; i++) {
		rewind(w->tasks[i].file);
		if (!w->s->take(w->s->ctx, i, w->tasks[i].file)) {
			log_line(LOG_ERROR, "what a simulation found could not be read back");
			return EXIT_INTERNAL;
		}
		*ret_n_done = i + 1;
	}
	return EXIT_FINE;
}

int sweep_run(const struct sweep *s, uint32_t *ret_n_done)
{
	struct clock clock = clock_steady();
	struct sweeping w = {.s = s, .tasks = mem_alloc(s->n_tasks * sizeof(*w.tasks)), .began_ns = clock_now(&clock)};
	int rc = run_all(&w);

	*ret_n_done = 0;
	if (!rc)
		rc = take_all(&w, ret_n_done);
	for (uint32_t i = 0; i < w.n_begun; i++)
		fclose(w.tasks[i].file);
	mem_free(w.tasks);
	return rc;
}
