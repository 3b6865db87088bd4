/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - numbers by chance, from a seed, and distributions with names.
 *
 * The same seed gives the same numbers on every machine and with every C library: integers, and of floating point only
 * + - * / and square roots, which IEEE 754 fixes to the last bit. (Logarithms of a C library differ between versions.)
 *
 * A distribution is written in words:
 *
 *	30m                                 always the same; also: constant 30m
 *	uniform 1m to 2h
 *	exponential 30m                     mean
 *	normal 1h sigma 10m                 mean; never below 0
 *	lognormal 20m sigma 1.5             median, and the standard deviation of its logarithm
 *	pareto 1m shape 1.2                 smallest, and how quickly long ones become rare
 *	weibull 1h shape 0.7                scale
 *
 * and may end in "at most 24h", which cuts what is longer. Durations are Go's, with d and w besides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct random_source {
	uint64_t state;
};

/* The stream that is called so, under this seed: adding one never changes what another gives. */
struct random_source random_stream(uint64_t seed, const char *name);
uint64_t random_next(struct random_source *r);
uint64_t random_below(struct random_source *r, uint64_t n); /* 0 to n - 1, all as likely; n is not 0 */
double random_unit(struct random_source *r);		    /* above 0, up to 1 */
double random_normal(struct random_source *r);		    /* mean 0, standard deviation 1 */

/* Right to the last two bits or so, and the same everywhere. x > 0. */
double fixed_log(double x);
double fixed_exp(double x); /* 0 and the largest double at the ends */

enum distribution_kind { /* in the order of distribution_words */
			 DISTRIBUTION_CONSTANT,
			 DISTRIBUTION_UNIFORM,
			 DISTRIBUTION_EXPONENTIAL,
			 DISTRIBUTION_NORMAL,
			 DISTRIBUTION_LOGNORMAL,
			 DISTRIBUTION_PARETO,
			 DISTRIBUTION_WEIBULL,
};
extern const char *const distribution_words[]; /* NULL at the end */

struct distribution { /* a distribution of durations */
	enum distribution_kind kind;
	int64_t a_ns;	/* value, least, mean, median, smallest or scale */
	int64_t b_ns;	/* uniform: most; normal: sigma */
	double shape;	/* lognormal: sigma; pareto and weibull: shape */
	int64_t max_ns; /* TIME_LAST: no limit */
};

/* ERR_INPUT that says what was expected. */
enum err_code distribution_parse(const char *s, struct distribution *ret, struct err *e);
void distribution_text(const struct distribution *d, struct text *out); /* reads back the same */
bool distribution_is_zero(const struct distribution *d);		/* whatever is drawn */
/* One duration, 0 or more. Constants take nothing from r. */
int64_t distribution_draw(const struct distribution *d, struct random_source *r);
