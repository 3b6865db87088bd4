/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id_table.h"

#include <assert.h>

#include "base/arena.h"

#define MIN_CAP 16u

static uint32_t after(const struct id_table *t, uint32_t i)
{
	return i + 1 < t->cap ? i + 1 : 0;
}

/* Steps from one slot to another, round the end. */
static uint32_t steps(const struct id_table *t, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : t->cap - from + to;
}

static void insert(struct id_table *t, struct id_slot slot)
{
	uint32_t i = id_table_home(t, slot.hash);
	while (t->slots[i].id != 0)
		i = after(t, i);
	t->slots[i] = slot;
}

static void resize(struct id_table *t, uint32_t cap)
{
	struct id_table old = *t;
	t->cap = cap;
	t->slots = mem_alloc((size_t)cap * sizeof(*t->slots));
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.slots[i].id != 0)
			insert(t, old.slots[i]);
	mem_free(old.slots);
}

void id_table_put(struct id_table *t, uint32_t hash, uint32_t id)
{
	assert(id != ID_TABLE_NONE);
	if (t->n >= t->cap / 4 * 3) {
		if (t->cap > UINT32_MAX / 2)
			mem_fail();
		resize(t, t->cap >= MIN_CAP ? t->cap + t->cap / 2 : MIN_CAP);
	}
	insert(t, (struct id_slot){hash, id + 1});
	t->n++;
}

/* Close the gap at i: move back each follower that would otherwise no longer be reached from its home. */
static void close_gap(struct id_table *t, uint32_t i)
{
	for (uint32_t j = after(t, i); t->slots[j].id != 0; j = after(t, j)) {
		if (steps(t, id_table_home(t, t->slots[j].hash), j) < steps(t, i, j))
			continue;
		t->slots[i] = t->slots[j];
		i = j;
	}
	t->slots[i] = (struct id_slot){0};
}

void id_table_del(struct id_table *t, uint32_t hash, uint32_t id)
{
	assert(t->n > 0);
	uint32_t i = id_table_home(t, hash);
	while (t->slots[i].id != id + 1) {
		assert(t->slots[i].id != 0);
		i = after(t, i);
	}
	close_gap(t, i);
	t->n--;
	if (t->cap / 2 >= MIN_CAP && t->n < t->cap / 8)
		resize(t, t->cap / 2);
}

void id_table_trim(struct id_table *t)
{
	uint32_t cap = t->n + t->n / 3 + MIN_CAP;
	if (cap < t->cap)
		resize(t, cap);
}

void id_table_free(struct id_table *t)
{
	mem_free(t->slots);
	*t = (struct id_table){0};
}

size_t id_table_bytes(const struct id_table *t)
{
	return (size_t)t->cap * sizeof(*t->slots);
}
