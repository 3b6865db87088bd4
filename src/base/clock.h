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
#define TIME_FIRST (INT64_MIN + 1)
#define TIME_LAST INT64_MAX

/*
 * The arithmetic of times and durations: sums, differences and multiples end at the first and the last time there is,
 * so that a window without end never ends instead of ending at once. Nothing else adds to, subtracts from or multiplies
 * what is called _ns (tools/check-time). No argument may be TIME_NONE, and no result is.
 */
static inline int64_t time_add(int64_t time, int64_t duration)
{
	int64_t sum;

	if (__builtin_add_overflow(time, duration, &sum) || sum == TIME_NONE)
		return duration < 0 ? TIME_FIRST : TIME_LAST;
	return sum;
}
static inline int64_t time_since(int64_t now, int64_t then)
{
	int64_t difference;

	if (__builtin_sub_overflow(now, then, &difference) || difference == TIME_NONE)
		return now < then ? TIME_FIRST : TIME_LAST;
	return difference;
}
/* Down to a multiple of unit, which is positive. */
static inline int64_t time_floor(int64_t time, int64_t unit)
{
	int64_t over = time % unit;

	return time_add(time, over < 0 ? -(over + unit) : -over);
}
static inline int64_t time_multiply(int64_t duration, int64_t by)
{
	int64_t product;

	if (__builtin_mul_overflow(duration, by, &product) || product == TIME_NONE)
		return (duration < 0) != (by < 0) ? TIME_FIRST : TIME_LAST;
	return product;
}

struct clock {
	int64_t (*now_ns)(void *ctx);
	void *ctx;
};

struct clock clock_system(void);
/* Counts from some moment on and is never set; goes on while the machine sleeps. For deadlines, not for dates. */
struct clock clock_steady(void);
struct clock clock_fixed(int64_t *now_ns); /* reads *now_ns each time: turn it to move time */
static inline int64_t clock_now(const struct clock *c)
{
	return c->now_ns(c->ctx);
}
