/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulating.h - a load from options, and one run of it: for all commands that simulate.
 */
#pragma once

#include <signal.h>

#include "cli/common.h"
#include "manifest/plugins.h"
#include "manifest/whatif.h"
#include "sim/report.h"
#include "sim/scenario.h"
#include "sim/sim.h"
#include "sim/simulation_view.h"
#include "sim/trace_journal.h"
#include "sim/trace_load.h"

struct simulating { /* options. Zero-initialised: nothing given, but for the seed, which is 1 */
	struct cli_input input;
	const char *scenario, *trace;
	bool has_format, is_journal; /* is_journal: no trace_format */
	enum trace_format format;
	struct trace_options trace_options;
	const char *until; /* a time or a duration; NULL: to the end */
	uint64_t seed;
};
extern const struct argp simulating_argp; /* its input is a struct simulating; cli_input_argp is a child of it */
extern const char *const simulating_format_words[]; /* what --format takes */
extern const char *const simulating_trace_words[];  /* and those of them that are no journal */
extern const char *const simulating_queues_words[]; /* what --queues takes */
void simulating_free(struct simulating *o);

/* How one run differs from what the options say. Zero-initialised: in nothing. */
struct variant {
	const char *config; /* a file of settings instead of --config; NULL: that */
	bool has_profile;
	enum profile profile;
	const struct whatif *whatif; /* NULL: nothing */
	uint64_t seed;		     /* 0: the options' */
	bool is_quiet;		     /* no notes about the input */
};

struct simulated { /* a run, before, while and after it runs */
	struct cli_cluster c;
	struct plugins *plugins;
	struct trace_load *trace;	  /* NULL: none */
	struct trace_journal *journal;	  /* NULL: none */
	struct scenario *scenario;	  /* NULL: none */
	struct expectations expectations; /* of the scenario; the watcher has to tell them what happens */
	struct text made;		  /* the cluster that was made for it */
	struct sim_load load;
	struct sim_options options; /* watcher and the like may be changed before simulated_run */
	struct sim *sim;
};

/*
 * Reads everything. 0, or an exit code after the error was told; simulated_free in any case. command: "cede
 * compare".
 */
int simulated_begin(const struct simulating *o, const struct variant *v, const char *command, struct simulated *ret);
int simulated_run(struct simulated *r);
void simulated_free(struct simulated *r);

/* The word of an option that takes a time after the beginning, or a duration. */
enum err_code simulating_time(const char *option, const char *word, int64_t from_ns, int64_t *ret_ns, struct err *e);

enum { SIMULATED_NOTES_MAX = 32 };
struct simulated_words { /* a run that is over, as it is told; points into the run */
	struct text load, title, subtitle;
	const char *notes[SIMULATED_NOTES_MAX];
	struct check *checks;
	bool is_fine; /* all came out as expected */
	struct simulation_view view;
	struct report_info info;
};
void simulated_tell(const struct simulating *o, struct simulated *r, struct simulated_words *ret);
void simulated_words_free(struct simulated_words *w);

/* "philly_sia.csv, 82,247 jobs" */
void simulated_load_text(const struct simulating *o, const struct simulated *r, struct text *out);

/* Set when somebody presses Ctrl-C; simulated runs stop then and say what is known. */
extern volatile sig_atomic_t simulating_interrupt;
void simulating_catch_interrupt(void);
