/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/clock.h"
#include "engine/waiting.h"

static int64_t max_of(int64_t max_ns, uint32_t entity_size)
{
	double grown;

	if (entity_size <= 1)
		return max_ns;
	grown = sqrt((double)entity_size) * (double)max_ns;
	return grown >= 0x1p63 ? INT64_MAX : (int64_t)grown;
}

int64_t backoff_duration(int64_t initial_ns, int64_t max_ns, uint32_t count, uint32_t entity_size)
{
	uint32_t doublings = count - 1;
	int64_t max = max_of(max_ns, entity_size);

	if (!count || initial_ns <= 0 || max_ns <= 0)
		return 0;
	if (doublings >= 63 || initial_ns > max >> doublings)
		return max;
	return time_multiply(initial_ns, INT64_C(1) << doublings);
}

static int64_t until(int64_t duration_ns, int64_t start_ns, int64_t window_ns)
{
	if (!duration_ns)
		return TIME_NONE;
	return time_floor(time_add(start_ns, duration_ns), window_ns);
}

int64_t backoff_until(int64_t initial_ns, int64_t max_ns, uint32_t count, uint32_t entity_size, int64_t start_ns)
{
	return until(backoff_duration(initial_ns, max_ns, count, entity_size), start_ns, NS_PER_S);
}

int64_t backoff_ends(struct backoff *b, int64_t initial_ns, int64_t max_ns, int64_t window_ns)
{
	uint32_t count = b->n_errors ? b->n_errors : b->n_refused;

	if (b->until_ns == TIME_NONE)
		b->until_ns = until(backoff_duration(initial_ns, max_ns, count, 1), b->since_ns, window_ns);
	return b->until_ns;
}
