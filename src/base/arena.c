/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/asan.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/*
 * Under the address sanitizer, what was not handed out is poisoned and a gap is left behind each piece, so that running
 * over an end or using a piece after a reset is caught as it is with malloc.
 */
#if HAS_ASAN
#include <sanitizer/asan_interface.h>
#define GAP alignof(max_align_t)
#define poison(p, n) __asan_poison_memory_region((p), (n))
#define unpoison(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define GAP 0
#define poison(p, n) ((void)0)
#define unpoison(p, n) ((void)0)
#endif

struct arena_block {
	struct arena_block *next;
	size_t cap, used;
	size_t dirty; /* bytes past this were never handed out and are still zero */
	alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct arena_block *head; /* the block we allocate from; full ones are behind it */
	size_t block_size;
	size_t bytes;
};

static _Atomic(void (*)(void)) on_failure = abort;

void mem_on_failure(void (*f)(void))
{
	on_failure = f;
}

void mem_fail(void)
{
	void (*f)(void) = on_failure;
	f();
	abort();
}

static size_t checked_mul(size_t n, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(n, size, &total))
		mem_fail();
	return total;
}

static size_t round_up(size_t size)
{
	const size_t mask = alignof(max_align_t) - 1;
	if (size > PTRDIFF_MAX - mask)
		mem_fail();
	return (size + mask) & ~mask;
}

/*
 * Memory that the system hands out anew is zero without being touched, but only for big pieces; smaller ones are made
 * of what was freed, and then each piece is zeroed when it is handed out: much of a block never is.
 */
enum { ZERO_FROM = 1 << 18 };

static struct arena_block *block_new(struct arena *a, size_t cap)
{
	if (cap > SIZE_MAX - sizeof(struct arena_block))
		mem_fail();
	bool is_zero = cap >= ZERO_FROM;
	struct arena_block *b = is_zero ? mem_alloc(sizeof(*b) + cap) : mem_resize(NULL, 1, sizeof(*b) + cap);
	b->next = NULL;
	b->cap = cap;
	b->used = 0;
	b->dirty = is_zero ? 0 : cap;
	poison(b->data, cap);
	a->bytes += sizeof(*b) + cap;
	return b;
}

/* A block with room for size. A big one that leaves less room than the current one has goes behind it. */
static struct arena_block *block_with_room(struct arena *a, size_t size)
{
	struct arena_block *head = a->head;
	if (head != NULL && head->cap - head->used >= size)
		return head;
	struct arena_block *b = block_new(a, size > a->block_size ? size : a->block_size);
	if (head != NULL && head->cap - head->used > b->cap - size) {
		b->next = head->next;
		head->next = b;
	} else {
		b->next = head;
		a->head = b;
	}
	return b;
}

struct arena *arena_new(size_t block_size)
{
	struct arena *a = mem_alloc(sizeof(*a));
	a->block_size = round_up(block_size > 64 ? block_size : 64);
	a->bytes = sizeof(*a);
	return a;
}

static void free_blocks(struct arena *a, const struct arena_block *keep)
{
	for (struct arena_block *b = a->head, *next; b != NULL; b = next) {
		next = b->next;
		if (b == keep)
			continue;
		a->bytes -= sizeof(*b) + b->cap;
		mem_free(b);
	}
}

void arena_free(struct arena *a)
{
	if (a == NULL)
		return;
	free_blocks(a, NULL);
	mem_free(a);
}

void arena_wipe(struct arena *a)
{
	for (struct arena_block *b = a->head; b != NULL; b = b->next) {
		unpoison(b->data, b->cap);
		explicit_bzero(b->data, b->cap);
	}
}

void arena_reset(struct arena *a)
{
	struct arena_block *largest = a->head;
	for (struct arena_block *b = a->head; b != NULL; b = b->next)
		if (b->cap > largest->cap)
			largest = b;
	free_blocks(a, largest);
	a->head = largest;
	if (largest != NULL) {
		largest->next = NULL;
		largest->used = 0;
		poison(largest->data, largest->cap);
	}
}

/* The next piece of a block; how many of its bytes were handed out before is in *ret_dirty. */
static unsigned char *cut(struct arena *a, size_t size, size_t *ret_dirty)
{
	size_t room = round_up(size != 0 ? size : 1) + GAP;
	struct arena_block *b = block_with_room(a, room);
	unsigned char *p = b->data + b->used;
	unpoison(p, size);
	*ret_dirty = b->used < b->dirty ? b->dirty - b->used : 0;
	b->used += room;
	if (b->dirty < b->used)
		b->dirty = b->used;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t dirty;
	unsigned char *p = cut(a, size, &dirty);
	if (dirty > 0)
		memset(p, 0, size < dirty ? size : dirty);
	return p;
}

void *arena_take(struct arena *a, size_t size)
{
	size_t dirty;
	return cut(a, size, &dirty);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	return arena_alloc(a, checked_mul(n, size));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	if (n >= PTRDIFF_MAX)
		mem_fail();
	char *copy = arena_alloc(a, n + 1);
	if (n > 0)
		memcpy(copy, s, n);
	return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	char *s = arena_alloc(a, (size_t)n + 1);
	if ((size_t)n < sizeof(small))
		memcpy(s, small, (size_t)n);
	else
		vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

size_t arena_bytes(const struct arena *a)
{
	return a->bytes;
}

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size != 0 ? size : 1);
	if (p == NULL)
		mem_fail();
	return p;
}

void *mem_resize(void *p, size_t n, size_t size)
{
	size_t total = checked_mul(n, size);
	p = realloc(p, total != 0 ? total : 1);
	if (p == NULL)
		mem_fail();
	return p;
}

char *mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(mem_alloc(n), s, n);
}

void mem_free(void *p)
{
	free(p);
}

void mem_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void mem_cleanup(void *pp)
{
	void *p;
	memcpy(&p, pp, sizeof(p)); /* pp points to a pointer of any type */
	free(p);
}
