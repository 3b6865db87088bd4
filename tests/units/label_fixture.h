/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label_fixture.h - names, an arena and labels written as text, for the tests of labels.h.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "units/labels.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
	struct names *names;
	struct arena *arena;
	struct name_bag bag;
};

static struct fixture f;

static int fixture_open(void **state)
{
	f.names = names_new();
	f.arena = arena_new(4096);
	f.bag = name_bag_of(f.names);
	return 0;
}

static int fixture_close(void **state)
{
	name_bag_drop(&f.bag);
	uint32_t n_left = names_count(f.names);
	names_free(f.names);
	arena_free(f.arena);
	return n_left == 0 ? 0 : -1;
}

static inline name_id name_of(const char *s)
{
	return name_bag_add_str(&f.bag, s);
}

/* "x=1 y= z" : pairs between blanks; a key alone has the empty value. */
static inline struct labels labels_of(const char *s)
{
	struct label *kv = arena_n(f.arena, strlen(s) / 2 + 1, struct label);
	uint32_t n = 0;
	for (s += strspn(s, " "); *s != '\0'; s += strspn(s, " ")) {
		size_t len = strcspn(s, " ");
		const char *equal = memchr(s, '=', len);
		size_t key_len = equal ? (size_t)(equal - s) : len;
		kv[n].key = name_bag_add(&f.bag, s, key_len);
		kv[n++].value = equal ? name_bag_add(&f.bag, equal + 1, len - key_len - 1) : NAME_NONE;
		s += len;
	}
	return (struct labels){.n = labels_sort(kv, n), .kv = kv};
}

/* Pieces between '|'; NULL is none at all, "" is one empty string. */
struct strings {
	uint32_t n;
	const char *v[16];
	size_t lens[16];
};

static inline struct strings strings_of(const char *s)
{
	struct strings l = {0};
	while (s) {
		l.v[l.n] = s;
		l.lens[l.n++] = strcspn(s, "|");
		s = strchr(s, '|');
		s = s ? s + 1 : NULL;
	}
	return l;
}
