/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec t;
	if (clock_gettime(id, &t) != 0)
		abort();
	return time_add(time_multiply(t.tv_sec, NS_PER_S), t.tv_nsec);
}

static int64_t read_system(void *ctx)
{
	return read_clock(CLOCK_REALTIME);
}

static int64_t read_steady(void *ctx)
{
	return read_clock(CLOCK_BOOTTIME);
}

static int64_t read_fixed(void *ctx)
{
	return *(const int64_t *)ctx;
}

struct clock clock_system(void)
{
	return (struct clock){.now_ns = read_system};
}

struct clock clock_steady(void)
{
	return (struct clock){.now_ns = read_steady};
}

struct clock clock_fixed(int64_t *now_ns)
{
	return (struct clock){.now_ns = read_fixed, .ctx = now_ns};
}
