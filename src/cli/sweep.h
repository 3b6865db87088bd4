/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - many simulations, on all cores, each in a process of its own.
 *
 * Which process does what, and when it is done, does not show: results are taken in the order of the tasks.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sweep_options { /* zero-initialised: three seeds, all cores, no page */
	uint32_t n_seeds, n_processes;
	const char *report;
};
extern const struct argp sweep_argp; /* --seeds, --processes, --report; its input is a struct sweep_options */

struct sweep {
	uint32_t n_tasks;
	uint32_t n_processes; /* at a time; 0: as many as there are cores */
	const char *what;     /* "runs", for progress */
	bool is_quiet;	      /* no progress */
	void *ctx;
	/* In the new process: writes the result. An exit code; errors were told. */
	int (*run)(void *ctx, uint32_t task, FILE *out);
	/* In this process, in the order of tasks: reads it. False: it is not whole. */
	bool (*take)(void *ctx, uint32_t task, FILE *in);
};

/*
 * 0, or the exit code of the first task, in their order, that failed. After an interrupt no new task is begun, tasks
 * that were not finished are not taken, and *ret_n_done is less than n_tasks: all before it were taken.
 */
int sweep_run(const struct sweep *s, uint32_t *ret_n_done);
