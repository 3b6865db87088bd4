/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time as something that is handed in.
 *
 * Nothing from base to explain reads the time; programs own a struct clock and pass its answer down as int64_t
 * nanoseconds since 1970 (good from 1678 to 2262). Tests and the simulator set the hands themselves.
 */
#pragma once

#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define TIME_NONE INT64_MIN /* "not set", for every int64_t time in cede */

struct clock {
	int64_t (*now_ns)(void *ctx);
	void *ctx;
};

struct clock clock_system(void);
struct clock clock_fixed(int64_t *now_ns); /* reads *now_ns each time: turn it to move time */
static inline int64_t clock_now(const struct clock *c)
{
	return c->now_ns(c->ctx);
}
