/* SPDX-License-Identifier: Apache-2.0 */
/* /api/v1/decisions, /api/v1/timeline, /api/v1/chain: answered from the log alone. */
#include <ctype.h>
#include <stdlib.h>

#include "serve/serve_internal.h"
#include "units/timestamp.h"

enum { DEFAULT_LIMIT = 100, MAX_LIMIT = 1000, DEFAULT_STEPS = 120, MAX_STEPS = 400 };

struct reading {
	struct serve_request *r;
	struct text *wrong; /* empty: nothing so far */
};

static uint64_t number(struct reading *x, const char *key, uint64_t otherwise, uint64_t most, const char *expected)
{
	const char *s = serve_query(x->r, key);
	unsigned long long n;
	char *end;

	if (!s)
		return otherwise;
	n = strtoull(s, &end, 10);
	if (isdigit((unsigned char)*s) && !*end && n >= 1 && n <= most)
		return n;
	if (!x->wrong->n)
		text_printf(x->wrong, "%s: expected %s", key, expected);
	return otherwise;
}

static int64_t moment(struct reading *x, const char *key)
{
	const char *s = serve_query(x->r, key);
	int64_t ns;

	if (!s || !*s)
		return TIME_NONE;
	if (!timestamp_parse(s, strlen(s), &ns, NULL))
		return ns;
	if (!x->wrong->n)
		text_printf(x->wrong, "%s: expected a time such as 2026-11-15T12:00:00Z", key);
	return TIME_NONE;
}

static uint32_t one_of(struct reading *x, const char *key, const char *const *words, const char *expected)
{
	const char *s = serve_query(x->r, key);

	for (uint32_t i = 0; s && words[i]; i++)
		if (str_eq(words[i], s))
			return i;
	if (s && !x->wrong->n)
		text_printf(x->wrong, "%s: expected %s", key, expected);
	return 0;
}

/* Given and not empty. */
static const char *word(const struct reading *x, const char *key)
{
	const char *s = serve_query(x->r, key);

	return s && *s ? s : NULL;
}

static struct fact_filter read_filter(struct reading *x)
{
	static const char *const shows[] = {"all", "evictions", "placements", "waits", NULL};

	return (struct fact_filter){
		.queue = word(x, "queue"),
		.rule = word(x, "rule"),
		.user = word(x, "user"),
		.action = word(x, "action"),
		.outcome = word(x, "outcome"),
		.node = word(x, "node"),
		.pod = word(x, "pod"),
		.show = (enum fact_show)one_of(x, "show", shows, "all, evictions, placements or waits"),
		.from_ns = moment(x, "from"),
		.to_ns = moment(x, "to")};
}

static void answer_decisions(struct reading *x, struct text *out)
{
	static const char *const orders[] = {"oldest", "newest", NULL}, *const truths[] = {"false", "true", NULL};
	const char *since = serve_query(x->r, "since");
	struct log_query q = {.filter = read_filter(x)};

	if (!since || !str_eq(since, "0"))
		q.since = number(x, "since", 0, UINT64_MAX, "the number of a decision");
	q.before = number(x, "before", 0, UINT64_MAX, "the number of a decision");
	q.limit = (uint32_t)number(x, "limit", DEFAULT_LIMIT, MAX_LIMIT, "a number from 1 to 1000");
	q.is_newest_first = one_of(x, "order", orders, "oldest or newest") == 1;
	q.is_brief = one_of(x, "brief", truths, "true or false") == 1;
	if (!x->wrong->n)
		serve_log_decisions(x->r->s->o.log, &q, out);
}

static void answer_timeline(struct reading *x, struct text *out)
{
	struct fact_filter f = read_filter(x);
	uint32_t n = (uint32_t)number(x, "steps", DEFAULT_STEPS, MAX_STEPS, "a number from 1 to 400");

	if (f.from_ns != TIME_NONE && f.to_ns != TIME_NONE && f.from_ns >= f.to_ns && !x->wrong->n)
		text_add(x->wrong, "to: expected a time after from");
	if (!x->wrong->n)
		serve_log_timeline(x->r->s->o.log, &f, n, out);
}

/* False: there is no such decision. */
static bool answer_chain(struct reading *x, struct text *out)
{
	uint64_t id = number(x, "id", 0, UINT64_MAX, "the number of a decision");
	const char *pod = word(x, "pod");

	if (!id == !pod && !x->wrong->n)
		text_add(x->wrong, "expected either id=NUMBER of a decision or pod=NS/NAME");
	return x->wrong->n || serve_log_chain(x->r->s->o.log, id, pod, out);
}

int log_answer(struct serve_request *r, struct text *out)
{
	struct text wrong = {0};
	struct reading x = {.r = r, .wrong = &wrong};
	bool is_there = true;

	if (str_eq(r->route->path, "/api/v1/decisions"))
		answer_decisions(&x, out);
	else if (str_eq(r->route->path, "/api/v1/timeline"))
		answer_timeline(&x, out);
	else
		is_there = answer_chain(&x, out);
	if (wrong.n) {
		text_free(out);
		*out = wrong;
		return MHD_HTTP_BAD_REQUEST;
	}
	if (!is_there)
		text_add(out, "no decision about it is remembered here");
	return is_there ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND;
}
