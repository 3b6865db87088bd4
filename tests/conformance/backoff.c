/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about how long a pod that failed has to wait. */
#include "conform.h"
#include "engine/waiting.h"
#include "units/timestamp.h"

void run_backoff_duration(struct fact *f)
{
	int64_t got = backoff_duration(tree_int(fact_arg(f, "initialNs"), 0), tree_int(fact_arg(f, "maxNs"), 0),
				       (uint32_t)tree_int(fact_arg(f, "count"), 0),
				       (uint32_t)tree_int(fact_arg(f, "entitySize"), 1));

	same_int(f, "durationNs", fact_expect(f, "durationNs"), got);
}

static int64_t time_of(struct fact *f, const char *name)
{
	const char *s = tree_text(fact_arg(f, name), NULL);
	int64_t ns = TIME_NONE;
	struct err e;

	if (s && timestamp_parse(s, strlen(s), &ns, &e))
		fact_differs(f, name, "a time", e.msg);
	return ns;
}

void run_backoff_time(struct fact *f)
{
	struct backoff b = {.n_refused = (uint32_t)tree_int(fact_arg(f, "unschedulableCount"), 0),
			    .n_errors = (uint32_t)tree_int(fact_arg(f, "consecutiveErrorsCount"), 0),
			    .since_ns = time_of(f, "timestamp"),
			    .until_ns = time_of(f, "backoffExpiration")};
	int64_t got =
		backoff_ends(&b, tree_int(fact_arg(f, "initialNs"), 0), tree_int(fact_arg(f, "maxNs"), 0), NS_PER_S);
	struct text out = {0};

	if (got != TIME_NONE)
		timestamp_text(got, &out);
	same_text(f, "backoffUntil", fact_expect(f, "backoffUntil"), text_str(&out));
	same_bool(f, "noBackoff", fact_expect(f, "noBackoff"), got == TIME_NONE);
	text_free(&out);
}
