/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string is a piece of memory: how many hold it, its length, its letters and a NUL. Ids find their letters by an
 * array of pointers; letters find their id by a table of hashes, so that probing and rebuilding seldom touch a string.
 */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/id_table.h"
#include "base/map.h"

/*
 * In front of the letters stand the count, of four bytes, and the length, of one. A length of LONG or more is written
 * out in front of the count.
 */
#define SHORT_HEAD 5u
#define LONG_HEAD 9u
#define LONG 255u

struct names {
	ARRAY(char *) letters; /* by id; NULL: free. [0] is NAME_NONE */
	ARRAY(name_id) free_ids;
	struct id_table ids; /* by hash */
	struct blocks blocks;
};

struct names *names_new(void)
{
	struct names *p = mem_alloc(sizeof(*p));
	p->blocks = blocks_of(sizeof(uint32_t));
	array_push(&p->letters, NULL);
	return p;
}

static uint32_t *refs_of(char *letters)
{
	return (uint32_t *)(void *)(letters - SHORT_HEAD);
}

static size_t len_of(const char *letters)
{
	uint32_t len = (unsigned char)letters[-1];
	if (len == LONG)
		memcpy(&len, letters - LONG_HEAD, sizeof(len));
	return len;
}

static size_t head_of(size_t len)
{
	return len < LONG ? SHORT_HEAD : LONG_HEAD;
}

static char *letters_new(struct names *p, const char *s, size_t len)
{
	const uint32_t long_len = (uint32_t)len;
	const size_t head = head_of(len);
	char *piece = blocks_take(&p->blocks, head + len + 1), *letters = piece + head;
	if (head == LONG_HEAD)
		memcpy(piece, &long_len, sizeof(long_len));
	*refs_of(letters) = 1;
	letters[-1] = (char)(len < LONG ? len : LONG);
	memcpy(letters, s, len);
	letters[len] = '\0';
	return letters;
}

static void letters_free(struct names *p, char *letters)
{
	size_t len = len_of(letters), head = head_of(len);
	blocks_give(&p->blocks, letters - head, head + len + 1);
}

void names_free(struct names *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 1; i < p->letters.n; i++)
		if (p->letters.v[i] != NULL)
			letters_free(p, p->letters.v[i]);
	array_free(&p->letters);
	array_free(&p->free_ids);
	id_table_free(&p->ids);
	blocks_free(&p->blocks);
	mem_free(p);
}

static char *letters_of(const struct names *p, name_id id)
{
	assert(id < p->letters.n && p->letters.v[id] != NULL);
	return p->letters.v[id];
}

static uint32_t hash_of(const char *s, size_t len)
{
	return (uint32_t)(hash_bytes(s, len) >> 32);
}

static name_id find(const struct names *p, uint32_t hash, const char *s, size_t len)
{
	uint32_t at = id_table_home(&p->ids, hash);
	for (;;) {
		uint32_t id = id_table_next(&p->ids, hash, &at);
		if (id == ID_TABLE_NONE)
			return NAME_NONE;
		const char *letters = p->letters.v[id];
		if (len_of(letters) == len && memcmp(letters, s, len) == 0)
			return id;
	}
}

static name_id add(struct names *p, uint32_t hash, const char *s, size_t len)
{
	assert(memchr(s, '\0', len) == NULL);
	name_id id = p->letters.n;
	if (p->free_ids.n > 0)
		id = array_pop(&p->free_ids);
	else
		array_push(&p->letters, NULL);
	p->letters.v[id] = letters_new(p, s, len);
	id_table_put(&p->ids, hash, id);
	return id;
}

name_id names_hold(struct names *p, const char *s, size_t len)
{
	if (len == 0)
		return NAME_NONE;
	if (len >= UINT32_MAX)
		mem_fail();
	uint32_t hash = hash_of(s, len);
	name_id id = find(p, hash, s, len);
	if (id == NAME_NONE)
		return add(p, hash, s, len);
	names_keep(p, id);
	return id;
}

name_id names_hold_str(struct names *p, const char *s)
{
	return s != NULL ? names_hold(p, s, strlen(s)) : NAME_NONE;
}

name_id names_find(const struct names *p, const char *s, size_t len)
{
	return len != 0 ? find(p, hash_of(s, len), s, len) : NAME_NONE;
}

void names_keep(struct names *p, name_id id)
{
	if (id == NAME_NONE)
		return;
	uint32_t *refs = refs_of(letters_of(p, id));
	assert(*refs < UINT32_MAX);
	++*refs;
}

static void forget(struct names *p, name_id id)
{
	char *letters = p->letters.v[id];
	id_table_del(&p->ids, hash_of(letters, len_of(letters)), id);
	letters_free(p, letters);
	p->letters.v[id] = NULL;
	array_push(&p->free_ids, id);
	if (p->ids.n == 0)
		blocks_free(&p->blocks);
}

void names_drop(struct names *p, name_id id)
{
	if (id != NAME_NONE && --*refs_of(letters_of(p, id)) == 0)
		forget(p, id);
}

const char *name_str(const struct names *p, name_id id)
{
	return id != NAME_NONE ? letters_of(p, id) : "";
}

size_t name_len(const struct names *p, name_id id)
{
	return id != NAME_NONE ? len_of(letters_of(p, id)) : 0;
}

int name_cmp(const struct names *p, name_id a, name_id b)
{
	return a == b ? 0 : strcmp(name_str(p, a), name_str(p, b));
}

uint32_t names_count(const struct names *p)
{
	return p->ids.n;
}

void names_trim(struct names *p)
{
	array_trim(&p->letters);
	array_trim(&p->free_ids);
	id_table_trim(&p->ids);
}

size_t names_bytes(const struct names *p)
{
	return sizeof(*p) + p->letters.cap * sizeof(*p->letters.v) + p->free_ids.cap * sizeof(*p->free_ids.v) +
	       id_table_bytes(&p->ids) + blocks_bytes(&p->blocks);
}

name_id name_bag_add(struct name_bag *b, const char *s, size_t len)
{
	name_id id = names_hold(b->names, s, len);
	if (id != NAME_NONE)
		array_push(&b->ids, id);
	return id;
}

name_id name_bag_add_str(struct name_bag *b, const char *s)
{
	return s != NULL ? name_bag_add(b, s, strlen(s)) : NAME_NONE;
}

void name_bag_drop(struct name_bag *b)
{
	for (uint32_t i = 0; i < b->ids.n; i++)
		names_drop(b->names, b->ids.v[i]);
	array_free(&b->ids);
}
