/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trail.h - the decisions of a simulation, one number each, so that two runs can be laid side by side; and the words
 * of the one in which they part (SI-4).
 *
 * The first run of each side keeps a number for each decision that moved something. Where the numbers part, both are
 * run again up to there, and tell in words what they decided and who waited, and why, since the decision before.
 */
#pragma once

#include <stdio.h>

#include "sim/sim.h"

struct trail {
	ARRAY(uint64_t) marks; /* by number of the decision */
};
void trail_decision(struct trail *t, struct sim *s, const struct decision *d);
void trail_free(struct trail *t);
/* The first decision, from 1, that is not the same; 0: there is none. */
uint64_t trail_part(const struct trail *a, const struct trail *b);
bool trail_write(const struct trail *t, FILE *to);
bool trail_read(struct trail *ret, FILE *from);

/* ---- in words ---- */

enum { TRAIL_WAITING_MAX = 20000 };

struct trail_waiting {
	char *pod, *sentence;
	int64_t at_ns;
};

struct trail_words {
	uint64_t stop_at; /* number of the decision, from 1 */
	/* found */
	bool is_found; /* else the run ended before it */
	int64_t at_ns;
	char *pod, *sentence;
	ARRAY(struct trail_waiting) waiting; /* since the decision before */
	struct map at;			     /* hash of the pod's name -> place */
};
/* For sim_watcher. True: it is found, and the run may be stopped. */
bool trail_words_decision(struct trail_words *w, struct sim *s, const struct decision *d, uint64_t number);
void trail_words_waiting(struct trail_words *w, struct sim *s, const struct decision *d, uint64_t last_number);
void trail_words_free(struct trail_words *w);
bool trail_words_write(const struct trail_words *w, FILE *to);
bool trail_words_read(struct trail_words *ret, FILE *from);

/* What the two say of the moment in which they part; mine and other are to be freed. The time is the earlier one. */
void trail_explain(const struct trail_words *first, const struct trail_words *other, int64_t *ret_at_ns,
		   char **ret_first, char **ret_other);
