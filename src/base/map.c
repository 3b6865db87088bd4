/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

#define MIN_CAP 8u

static uint32_t home_of(const struct map *m, uint64_t key)
{
	return (uint32_t)hash_u64(key) & (m->cap - 1);
}

/* The slot of key, or the empty one where it belongs. */
static struct map_slot *slot_find(const struct map *m, uint64_t key)
{
	uint32_t i = home_of(m, key);
	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static void resize(struct map *m, uint32_t cap)
{
	struct map old = *m;
	m->cap = cap;
	m->slots = mem_alloc((size_t)cap * sizeof(*m->slots));
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.slots[i].used)
			*slot_find(m, old.slots[i].key) = old.slots[i];
	mem_free(old.slots);
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	if (m->n == 0)
		return MAP_NONE;
	const struct map_slot *slot = slot_find(m, key);
	return slot->used ? slot->value : MAP_NONE;
}

void map_put(struct map *m, uint64_t key, uint32_t value)
{
	assert(value != MAP_NONE);
	if (m->n >= m->cap / 4 * 3) {
		if (m->cap > UINT32_MAX / 2)
			mem_fail();
		resize(m, m->cap != 0 ? m->cap * 2 : MIN_CAP);
	}
	struct map_slot *slot = slot_find(m, key);
	m->n += !slot->used;
	*slot = (struct map_slot){.key = key, .value = value, .used = 1};
}

/* Close the gap at i: move back each follower that would otherwise no longer be reached from its home. */
static void slot_clear(struct map *m, uint32_t i)
{
	const uint32_t mask = m->cap - 1;
	for (uint32_t j = (i + 1) & mask; m->slots[j].used; j = (j + 1) & mask) {
		uint32_t home = home_of(m, m->slots[j].key);
		if (((j - home) & mask) < ((j - i) & mask))
			continue;
		m->slots[i] = m->slots[j];
		i = j;
	}
	m->slots[i] = (struct map_slot){0};
}

bool map_del(struct map *m, uint64_t key)
{
	if (m->n == 0)
		return false;
	struct map_slot *slot = slot_find(m, key);
	if (!slot->used)
		return false;
	slot_clear(m, (uint32_t)(slot - m->slots));
	m->n--;
	if (m->cap > MIN_CAP && m->n < m->cap / 8)
		resize(m, m->cap / 2);
	return true;
}

void map_free(struct map *m)
{
	mem_free(m->slots);
	*m = (struct map){0};
}

size_t map_bytes(const struct map *m)
{
	return (size_t)m->cap * sizeof(*m->slots);
}
