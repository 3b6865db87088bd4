/* SPDX-License-Identifier: Apache-2.0 */
/* Chance that is the same everywhere, and distributions that are what their names say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "sim/random.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void SI_1_a_seed_gives_the_same_numbers_everywhere(void **state)
{
	struct random_source r = {0};

	/* The published sequence of SplitMix64 from state 0. */
	assert_true(random_next(&r) == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(random_next(&r) == UINT64_C(0x6e789e6aa1b965f4));
	assert_true(random_next(&r) == UINT64_C(0x06c45d188009454f));
	r = random_stream(7, "arrivals");
	assert_true(r.state == random_stream(7, "arrivals").state);
	assert_true(r.state != random_stream(8, "arrivals").state);
	assert_true(r.state != random_stream(7, "run times").state);
}

/* Drawn once and written down: another machine, compiler or C library must give these. */
static void SI_1_draws_are_the_same_everywhere(void **state)
{
	static const struct {
		const char *words;
		int64_t sum_ns; /* of a thousand */
	} rows[] = {
		{"uniform 1m to 2h", INT64_C(3682367843190013)},
		{"exponential 30m", INT64_C(1770798770641968)},
		{"normal 1h sigma 10m", INT64_C(3605595316453594)},
		{"lognormal 20m sigma 1.5", INT64_C(3752980988446955)},
		{"pareto 1m shape 1.2", INT64_C(253087456840599)},
		{"weibull 1h shape 0.7", INT64_C(4473754566454441)},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct random_source r = random_stream(1, "test");
		struct distribution d;
		int64_t sum = 0;

		assert_int_equal(distribution_parse(rows[i].words, &d, NULL), ERR_OK);
		for (int k = 0; k < 1000; k++)
			sum += distribution_draw(&d, &r);
		if (sum != rows[i].sum_ns)
			fail_msg("%s: %lld", rows[i].words, (long long)sum);
	}
}

static void SI_logarithms_are_right(void **state)
{
	struct random_source r = {1};

	for (int i = 0; i < 100000; i++) {
		double x = random_unit(&r), y = 60 * (random_unit(&r) - 0.5);

		assert_true(fabs(fixed_log(x) - log(x)) <= 1e-15 + 4e-16 * fabs(log(x)));
		assert_true(fabs(fixed_exp(y) / exp(y) - 1) < 1e-14);
	}
	assert_true(fixed_log(1) == 0 && fixed_exp(0) == 1);
	assert_true(fixed_exp(-1e9) == 0 && fixed_exp(1e9) > 1e307);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void SI_distributions_are_what_they_say(void **state)
{
	enum { N = 200000 };
	/* Mean and median in minutes, by the formulas; 0: there is none, or it converges too slowly to be looked at. */
	static const struct {
		const char *words;
		double mean, median;
	} rows[] = {
		{"30m", 30, 30},
		{"constant 30m", 30, 30},
		{"uniform 1m to 2h", 60.5, 60.5},
		{"exponential 30m", 30, 20.794},
		{"normal 1h sigma 10m", 60, 60},
		{"lognormal 20m sigma 0.5", 22.663, 20},
		{"pareto 1m shape 3", 1.5, 1.25992},
		{"pareto 1m shape 1.2", 0, 1.78180},
		{"weibull 1h shape 1", 60, 41.589},
		{"weibull 1h shape 0.7", 75.949, 35.540},
		{"exponential 30m at most 10m", 8.504, 10},
	};
	int64_t *drawn = mem_alloc(N * sizeof(*drawn));

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct random_source r = random_stream(3, "x");
		struct distribution d;
		double sum = 0, median;

		assert_int_equal(distribution_parse(rows[i].words, &d, NULL), ERR_OK);
		for (int k = 0; k < N; k++)
			sum += (double)(drawn[k] = distribution_draw(&d, &r)) / 60e9;
		qsort(drawn, N, sizeof(*drawn), by_size);
		median = (double)drawn[N / 2] / 60e9;
		if ((rows[i].mean > 0 && fabs(sum / N / rows[i].mean - 1) > 0.01) ||
		    fabs(median / rows[i].median - 1) > 0.01)
			fail_msg("%s: mean %g, median %g", rows[i].words, sum / N, median);
	}
	mem_free(drawn);
}

static void SI_distributions_read_back(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"30m", "constant 30m0s"},
		{"constant 1d", "constant 24h0m0s"},
		{"uniform 1m to 2h", "uniform 1m0s to 2h0m0s"},
		{"lognormal  20m  sigma 1.5", "lognormal 20m0s sigma 1.5"},
		{"pareto 1m shape 2 at most 1w", "pareto 1m0s shape 2 at most 168h0m0s"},
		{"normal 1h sigma 10m", "normal 1h0m0s sigma 10m0s"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct distribution d, again;
		struct text out = {0};

		assert_int_equal(distribution_parse(rows[i].in, &d, NULL), ERR_OK);
		distribution_text(&d, &out);
		assert_string_equal(text_str(&out), rows[i].out);
		assert_int_equal(distribution_parse(text_str(&out), &again, NULL), ERR_OK);
		assert_true(again.kind == d.kind && again.a_ns == d.a_ns && again.b_ns == d.b_ns &&
			    again.max_ns == d.max_ns);
		assert_true(again.shape == d.shape);
		text_free(&out);
	}
}

static void SI_bad_distributions_are_refused(void **state)
{
	static const struct {
		const char *story, *in, *message;
	} rows[] = {
		{"nothing", "", "bad distribution '': it is empty; write for example 30m, or exponential 30m"},
		{"no such name", "gauss 1h",
		 "bad distribution 'gauss 1h': known are constant, uniform, exponential, normal, lognormal, pareto and "
		 "weibull"},
		{"no duration", "exponential", "bad distribution 'exponential': a duration is missing, as in 30m"},
		{"no end", "uniform 1m", "bad distribution 'uniform 1m': expected as in: uniform 1m to 2h"},
		{"backwards", "uniform 2h to 1m",
		 "bad distribution 'uniform 2h to 1m': the end is before the beginning"},
		{"negative", "exponential -5m", "bad distribution 'exponential -5m': a duration must not be negative"},
		{"no shape", "pareto 1m", "bad distribution 'pareto 1m': expected as in: pareto 1m shape 1.2"},
		{"a shape of nothing", "pareto 1m shape 0",
		 "bad distribution 'pareto 1m shape 0': the number must be from 0.01 to 100"},
		{"a shape in words", "pareto 1m shape big",
		 "bad distribution 'pareto 1m shape big': a number was expected, as in 1.5"},
		{"more than is known", "30m or so",
		 "bad distribution '30m or so': after it only 'at most DURATION' may follow"},
		{"more after the limit", "30m at most 1h now",
		 "bad distribution '30m at most 1h now': there is more after 'at most DURATION'"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct distribution d;
		struct err e = {0};

		if (distribution_parse(rows[i].in, &d, &e) != ERR_INPUT || !str_eq(e.msg, rows[i].message))
			fail_msg("%s: %s", rows[i].story, e.msg);
	}
}

static void SI_below_is_fair(void **state)
{
	struct random_source r = {5};
	uint32_t seen[6] = {0};

	for (int i = 0; i < 60000; i++)
		seen[random_below(&r, 6)]++;
	for (int i = 0; i < 6; i++)
		assert_in_range(seen[i], 9600, 10400);
	assert_int_equal(random_below(&r, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_1_a_seed_gives_the_same_numbers_everywhere),
		cmocka_unit_test(SI_1_draws_are_the_same_everywhere),
		cmocka_unit_test(SI_logarithms_are_right),
		cmocka_unit_test(SI_distributions_are_what_they_say),
		cmocka_unit_test(SI_distributions_read_back),
		cmocka_unit_test(SI_bad_distributions_are_refused),
		cmocka_unit_test(SI_below_is_fair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
