/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are indexed by id. The table is an index over them by hash: linear probing, backward-shift deletion. A slot
 * carries the hash beside the id so that probing and rebuilding seldom touch the entries or the strings.
 */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define MIN_SLOTS 16u

struct name_entry {
	char *s;       /* NULL: free */
	uint32_t len;  /* of a free entry: the next free id */
	uint32_t refs; /* 0: free */
};

struct slot {
	uint32_t hash;
	name_id id; /* NAME_NONE: empty */
};

struct names {
	ARRAY(struct name_entry) entries; /* [0] is NAME_NONE */
	struct slot *slots;
	uint32_t n_slots; /* a power of two */
	uint32_t n_held;
	name_id first_free;
	size_t string_bytes;
};

static struct slot *slots_new(uint32_t n)
{
	return mem_alloc((size_t)n * sizeof(struct slot));
}

struct names *names_new(void)
{
	struct names *p = mem_alloc(sizeof(*p));
	array_push(&p->entries, (struct name_entry){0});
	p->n_slots = MIN_SLOTS;
	p->slots = slots_new(p->n_slots);
	return p;
}

void names_free(struct names *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 1; i < p->entries.n; i++)
		mem_free(p->entries.v[i].s);
	array_free(&p->entries);
	mem_free(p->slots);
	mem_free(p);
}

static const struct name_entry *entry_of(const struct names *p, name_id id)
{
	assert(id < p->entries.n && p->entries.v[id].refs > 0);
	return &p->entries.v[id];
}

static uint32_t hash_of(const char *s, size_t len)
{
	return (uint32_t)(hash_bytes(s, len) >> 32);
}

/* The slot that holds the string, or the empty one where it belongs. */
static uint32_t slot_find(const struct names *p, uint32_t hash, const char *s, size_t len)
{
	const uint32_t mask = p->n_slots - 1;
	uint32_t i = hash & mask;
	for (; p->slots[i].id != NAME_NONE; i = (i + 1) & mask) {
		const struct name_entry *e = &p->entries.v[p->slots[i].id];
		if (p->slots[i].hash == hash && e->len == len && memcmp(e->s, s, len) == 0)
			break;
	}
	return i;
}

static void slots_resize(struct names *p, uint32_t n)
{
	struct slot *old = p->slots;
	const uint32_t n_old = p->n_slots, mask = n - 1;
	p->slots = slots_new(n);
	p->n_slots = n;
	for (uint32_t i = 0; i < n_old; i++) {
		if (old[i].id == NAME_NONE)
			continue;
		uint32_t at = old[i].hash & mask;
		while (p->slots[at].id != NAME_NONE)
			at = (at + 1) & mask;
		p->slots[at] = old[i];
	}
	mem_free(old);
}

/* Close the gap at i: move back each follower that would otherwise no longer be reached from its home. */
static void slot_clear(struct names *p, uint32_t i)
{
	const uint32_t mask = p->n_slots - 1;
	for (uint32_t j = (i + 1) & mask; p->slots[j].id != NAME_NONE; j = (j + 1) & mask) {
		uint32_t home = p->slots[j].hash & mask;
		if (((j - home) & mask) < ((j - i) & mask))
			continue;
		p->slots[i] = p->slots[j];
		i = j;
	}
	p->slots[i] = (struct slot){0};
}

static name_id entry_new(struct names *p, const char *s, size_t len)
{
	assert(memchr(s, '\0', len) == NULL);
	name_id id = p->first_free;
	if (id != NAME_NONE) {
		p->first_free = p->entries.v[id].len;
	} else {
		id = p->entries.n;
		array_push(&p->entries, (struct name_entry){0});
	}
	char *copy = mem_resize(NULL, len + 1, 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	p->entries.v[id] = (struct name_entry){.s = copy, .len = (uint32_t)len, .refs = 1};
	p->n_held++;
	p->string_bytes += len + 1;
	return id;
}

name_id names_hold(struct names *p, const char *s, size_t len)
{
	if (len == 0)
		return NAME_NONE;
	if (len >= UINT32_MAX)
		mem_fail();
	if (p->n_held >= p->n_slots / 4 * 3) {
		if (p->n_slots > UINT32_MAX / 2)
			mem_fail();
		slots_resize(p, p->n_slots * 2);
	}
	uint32_t hash = hash_of(s, len);
	struct slot *slot = &p->slots[slot_find(p, hash, s, len)];
	if (slot->id != NAME_NONE)
		names_keep(p, slot->id);
	else
		*slot = (struct slot){.hash = hash, .id = entry_new(p, s, len)};
	return slot->id;
}

name_id names_hold_str(struct names *p, const char *s)
{
	return s != NULL ? names_hold(p, s, strlen(s)) : NAME_NONE;
}

name_id names_find(const struct names *p, const char *s, size_t len)
{
	if (len == 0)
		return NAME_NONE;
	return p->slots[slot_find(p, hash_of(s, len), s, len)].id;
}

void names_keep(struct names *p, name_id id)
{
	if (id == NAME_NONE)
		return;
	assert(entry_of(p, id)->refs < UINT32_MAX);
	p->entries.v[id].refs++;
}

static void entry_free(struct names *p, name_id id)
{
	struct name_entry *e = &p->entries.v[id];
	slot_clear(p, slot_find(p, hash_of(e->s, e->len), e->s, e->len));
	p->n_held--;
	p->string_bytes -= (size_t)e->len + 1;
	mem_free(e->s);
	*e = (struct name_entry){.len = p->first_free};
	p->first_free = id;
	if (p->n_slots > MIN_SLOTS && p->n_held < p->n_slots / 8)
		slots_resize(p, p->n_slots / 2);
}

void names_drop(struct names *p, name_id id)
{
	if (id == NAME_NONE)
		return;
	assert(id < p->entries.n && p->entries.v[id].refs > 0);
	if (--p->entries.v[id].refs == 0)
		entry_free(p, id);
}

const char *name_str(const struct names *p, name_id id)
{
	return id != NAME_NONE ? entry_of(p, id)->s : "";
}

size_t name_len(const struct names *p, name_id id)
{
	return id != NAME_NONE ? entry_of(p, id)->len : 0;
}

int name_cmp(const struct names *p, name_id a, name_id b)
{
	return a == b ? 0 : strcmp(name_str(p, a), name_str(p, b));
}

uint32_t names_count(const struct names *p)
{
	return p->n_held;
}

size_t names_bytes(const struct names *p)
{
	return sizeof(*p) + p->entries.cap * sizeof(struct name_entry) + p->n_slots * sizeof(struct slot) +
	       p->string_bytes;
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
