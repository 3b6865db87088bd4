/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that dies together.
 *
 * A bump allocator: one for a snapshot, one for a cycle, one for a parsed file. There is no free for a single
 * allocation. Memory is zeroed and aligned for any type. Out of memory ends the program (mem_on_failure): a
 * scheduler that cannot allocate must restart. Not thread-safe: one arena, one thread.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(size_t block_size);
void arena_free(struct arena *a);  /* NULL is fine */
void arena_reset(struct arena *a); /* keeps the largest block */
void arena_wipe(struct arena *a);  /* what was in it is overwritten; to be reset or freed next */

void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, alloc_size(2), returns_nonnull));
/* The same, but what is in it is anything: for who writes all of it before reading. */
void *arena_take(struct arena *a, size_t size) __attribute__((malloc, alloc_size(2), returns_nonnull));
/* n elements of size bytes; mem_fail on overflow. */
void *arena_array(struct arena *a, size_t n, size_t size) __attribute__((malloc, alloc_size(2, 3), returns_nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3), returns_nonnull));

/* Bytes taken from the system, for measurements. */
size_t arena_bytes(const struct arena *a);

#define arena_type(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_n(a, n, type) ((type *)arena_array((a), (n), sizeof(type)))

/*
 * What ends the program when there is no memory, or more is asked for than there can be: abort() unless set. It is
 * called from any thread and must not return, nor allocate.
 */
void mem_on_failure(void (*f)(void));
void mem_fail(void) __attribute__((noreturn));

/* The heap, at the edges only: mem_fail instead of NULL, and on n * size overflow. */
void *mem_alloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull)); /* zeroed */
void *mem_resize(void *p, size_t n, size_t size) __attribute__((returns_nonnull));    /* new bytes are not zeroed */
char *mem_strdup(const char *s) __attribute__((malloc, returns_nonnull));
void mem_free(void *p);
/* What was freed goes back to the system as far as it can: for after much was. */
void mem_trim(void);

/* char *s __attribute__((cleanup(mem_cleanup))) */
void mem_cleanup(void *pp);
#define AUTO_FREE __attribute__((cleanup(mem_cleanup)))
