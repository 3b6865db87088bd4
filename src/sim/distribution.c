/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions of durations, in words and in numbers. */
#include <assert.h>
#include <stdio.h>

#include "base/clock.h"
#include "manifest/fields.h"
#include "sim/random.h"
#include "units/duration.h"

const char *const distribution_words[] = {"constant",  "uniform", "exponential", "normal",
					  "lognormal", "pareto",  "weibull",	 NULL};

/* What follows the first duration: a word, and then a duration or a number. */
static const struct {
	const char *second; /* NULL: nothing follows */
	bool is_number;
	const char *usage;
} forms[] = {
	[DISTRIBUTION_CONSTANT] = {NULL, false, "constant 30m"},
	[DISTRIBUTION_UNIFORM] = {"to", false, "uniform 1m to 2h"},
	[DISTRIBUTION_EXPONENTIAL] = {NULL, false, "exponential 30m"},
	[DISTRIBUTION_NORMAL] = {"sigma", false, "normal 1h sigma 10m"},
	[DISTRIBUTION_LOGNORMAL] = {"sigma", true, "lognormal 20m sigma 1.5"},
	[DISTRIBUTION_PARETO] = {"shape", true, "pareto 1m shape 1.2"},
	[DISTRIBUTION_WEIBULL] = {"shape", true, "weibull 1h shape 0.7"},
};

#define SHAPE_MIN 0.01
#define SHAPE_MAX 100.0

/* ---- words ---- */

enum { WORD_MAX = 48 };

struct distribution_reader {
	const char *all, *s;
	char word[WORD_MAX];
	struct err *e;
};

static enum err_code bad(const struct distribution_reader *r, const char *why)
{
	return err_fail(r->e, ERR_INPUT, "bad distribution '%.60s': %s", r->all, why);
}

/* False at the end. Words that are too long are cut, and so not known. */
static bool next_word(struct distribution_reader *r)
{
	size_t n;

	r->s += strspn(r->s, " ");
	n = strcspn(r->s, " ");
	snprintf(r->word, sizeof(r->word), "%.*s", (int)(n < WORD_MAX ? n : WORD_MAX), r->s);
	r->s += n;
	return n > 0;
}

static enum err_code read_duration(struct distribution_reader *r, int64_t *ret_ns)
{
	char why[160];
	int64_t ns;
	struct err inner;

	if (!next_word(r))
		return bad(r, "a duration is missing, as in 30m");
	if (duration_parse(r->word, strlen(r->word), true, &ns, &inner)) {
		snprintf(why, sizeof(why), "%.150s", inner.msg);
		return bad(r, why);
	}
	if (ns < 0)
		return bad(r, "a duration must not be negative");
	*ret_ns = ns;
	return ERR_OK;
}

/* Digits with at most one point: strtod alone takes much more, and in other languages less. */
static enum err_code read_number(struct distribution_reader *r, double *ret)
{
	const char *point;
	size_t n;
	double v = 0, unit = 1;

	if (!next_word(r))
		return bad(r, "a number is missing, as in 1.5");
	n = strlen(r->word);
	point = strchr(r->word, '.');
	if (n > 12 || strspn(r->word, "0123456789.") != n || (point && strchr(point + 1, '.')) || r->word[0] == '.')
		return bad(r, "a number was expected, as in 1.5");
	for (const char *s = r->word; *s; s++) {
		if (*s == '.')
			continue;
		v = v * 10 + (*s - '0');
		unit *= point && s > point ? 10 : 1;
	}
	v /= unit;
	if (!(v >= SHAPE_MIN && v <= SHAPE_MAX))
		return bad(r, "the number must be from 0.01 to 100");
	*ret = v;
	return ERR_OK;
}

static enum err_code read_kind(struct distribution_reader *r, struct distribution *d)
{
	if (!next_word(r))
		return bad(r, "it is empty; write for example 30m, or exponential 30m");
	for (int i = 0; distribution_words[i]; i++) {
		if (str_eq(r->word, distribution_words[i])) {
			d->kind = (enum distribution_kind)i;
			return ERR_OK;
		}
	}
	if (r->word[0] < '0' || r->word[0] > '9')
		return bad(r, "known are constant, uniform, exponential, normal, lognormal, pareto and weibull");
	r->s -= strlen(r->word); /* a duration alone */
	return ERR_OK;
}

static enum err_code read_second(struct distribution_reader *r, struct distribution *d)
{
	char why[96];

	if (!forms[d->kind].second)
		return ERR_OK;
	if (!next_word(r) || !str_eq(r->word, forms[d->kind].second)) {
		snprintf(why, sizeof(why), "expected as in: %s", forms[d->kind].usage);
		return bad(r, why);
	}
	return forms[d->kind].is_number ? read_number(r, &d->shape) : read_duration(r, &d->b_ns);
}

static enum err_code read_limit(struct distribution_reader *r, struct distribution *d)
{
	if (!next_word(r))
		return ERR_OK;
	if (!str_eq(r->word, "at") || !next_word(r) || !str_eq(r->word, "most"))
		return bad(r, "after it only 'at most DURATION' may follow");
	TRY(read_duration(r, &d->max_ns));
	return next_word(r) ? bad(r, "there is more after 'at most DURATION'") : ERR_OK;
}

enum err_code distribution_parse(const char *s, struct distribution *ret, struct err *e)
{
	struct distribution_reader r = {.all = s, .s = s, .e = e};
	struct distribution d = {.max_ns = TIME_LAST};

	TRY(read_kind(&r, &d));
	TRY(read_duration(&r, &d.a_ns));
	TRY(read_second(&r, &d));
	TRY(read_limit(&r, &d));
	if (d.kind == DISTRIBUTION_UNIFORM && d.b_ns < d.a_ns)
		return bad(&r, "the end is before the beginning");
	*ret = d;
	return ERR_OK;
}

/* A number as it can be read again: up to six digits after the point. */
static void add_number(struct text *out, double v)
{
	char s[40];
	size_t n = (size_t)snprintf(s, sizeof(s), "%.9f", v);

	while (n > 1 && s[n - 1] == '0')
		n--;
	text_add_n(out, s, s[n - 1] == '.' ? n - 1 : n);
}

void distribution_text(const struct distribution *d, struct text *out)
{
	text_printf(out, "%s ", distribution_words[d->kind]);
	duration_text(d->a_ns, out);
	if (forms[d->kind].second) {
		text_printf(out, " %s ", forms[d->kind].second);
		if (forms[d->kind].is_number)
			add_number(out, d->shape);
		else
			duration_text(d->b_ns, out);
	}
	if (d->max_ns != TIME_LAST) {
		text_add(out, " at most ");
		duration_text(d->max_ns, out);
	}
}

/* ---- numbers ---- */

static int64_t to_ns(double v)
{
	if (!(v > 0))
		return 0;
	return v >= 9.2e18 ? TIME_LAST : (int64_t)(v + 0.5);
}

static int64_t draw_uniform(const struct distribution *d, struct random_source *r)
{
	uint64_t width = (uint64_t)time_since(d->b_ns, d->a_ns);

	return time_add(d->a_ns, (int64_t)random_below(r, width + 1));
}

static int64_t draw(const struct distribution *d, struct random_source *r)
{
	const double a = (double)d->a_ns, b = (double)d->b_ns;

	switch (d->kind) {
	case DISTRIBUTION_CONSTANT:
		return d->a_ns;
	case DISTRIBUTION_UNIFORM:
		return draw_uniform(d, r);
	case DISTRIBUTION_EXPONENTIAL:
		return to_ns(-a * fixed_log(random_unit(r)));
	case DISTRIBUTION_NORMAL:
		return to_ns(a + b * random_normal(r));
	case DISTRIBUTION_LOGNORMAL:
		return to_ns(a * fixed_exp(d->shape * random_normal(r)));
	case DISTRIBUTION_PARETO:
		return to_ns(a * fixed_exp(-fixed_log(random_unit(r)) / d->shape));
	case DISTRIBUTION_WEIBULL: {
		double x = -fixed_log(random_unit(r));

		return x > 0 ? to_ns(a * fixed_exp(fixed_log(x) / d->shape)) : 0;
	}
	}
	assert(!"no such distribution");
	return 0;
}

bool distribution_is_zero(const struct distribution *d)
{
	bool has_more = (d->kind == DISTRIBUTION_UNIFORM || d->kind == DISTRIBUTION_NORMAL) && d->b_ns > 0;

	return d->max_ns == 0 || (d->a_ns == 0 && !has_more);
}

int64_t distribution_draw(const struct distribution *d, struct random_source *r)
{
	int64_t ns = draw(d, r);

	return ns < d->max_ns ? ns : d->max_ns;
}
