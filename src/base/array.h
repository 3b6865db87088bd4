/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - growable arrays of any type, by macro.
 *
 *	ARRAY(uint32_t) ids = {0};
 *	array_push(&ids, 7);
 *	for (uint32_t i = 0; i < ids.n; i++) use(ids.v[i]);
 *	array_free(&ids);
 *
 * Zero-initialised is empty and valid. Pointers into v are good until the next push.
 */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

#define ARRAY(type)              \
	struct {                 \
		type *v;         \
		uint32_t n, cap; \
	}

#define array_reserve(a, want)                                                  \
	do {                                                                    \
		uint32_t want_ = (want);                                        \
		if (want_ > (a)->cap) {                                         \
			(a)->cap = array_next_cap((a)->cap, want_);             \
			(a)->v = mem_resize((a)->v, (a)->cap, sizeof(*(a)->v)); \
		}                                                               \
	} while (0)

#define array_push(a, x)                        \
	do {                                    \
		array_reserve((a), (a)->n + 1); \
		(a)->v[(a)->n++] = (x);         \
	} while (0)

#define array_pop(a) ((a)->v[--(a)->n])
#define array_last(a) ((a)->v[(a)->n - 1])

/* Insert keeping order; remove keeping order. i is checked. */
#define array_insert(a, i, x)                                                              \
	do {                                                                               \
		uint32_t at_ = (i);                                                        \
		assert(at_ <= (a)->n);                                                     \
		array_reserve((a), (a)->n + 1);                                            \
		memmove((a)->v + at_ + 1, (a)->v + at_, ((a)->n - at_) * sizeof(*(a)->v)); \
		(a)->v[at_] = (x);                                                         \
		(a)->n++;                                                                  \
	} while (0)

#define array_remove(a, i)                                                                     \
	do {                                                                                   \
		uint32_t at_ = (i);                                                            \
		assert(at_ < (a)->n);                                                          \
		memmove((a)->v + at_, (a)->v + at_ + 1, ((a)->n - at_ - 1) * sizeof(*(a)->v)); \
		(a)->n--;                                                                      \
	} while (0)

#define array_free(a)                  \
	do {                           \
		mem_free((a)->v);      \
		(a)->v = NULL;         \
		(a)->n = (a)->cap = 0; \
	} while (0)

/* Gives back what was taken in advance. */
#define array_trim(a)                                                         \
	do {                                                                  \
		if ((a)->cap > (a)->n && (a)->n > 0) {                        \
			(a)->v = mem_resize((a)->v, (a)->n, sizeof(*(a)->v)); \
			(a)->cap = (a)->n;                                    \
		}                                                             \
	} while (0)

/* Doubles, starting at 8; aborts past 2^31 elements. */
uint32_t array_next_cap(uint32_t cap, uint32_t want);
