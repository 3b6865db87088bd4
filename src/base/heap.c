/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

void heap_init(struct heap *h, int (*cmp)(const void *ctx, uint32_t a, uint32_t b), const void *ctx)
{
	*h = (struct heap){.cmp = cmp, .ctx = ctx};
}

void heap_free(struct heap *h)
{
	array_free(&h->items);
	array_free(&h->where);
}

void heap_clear(struct heap *h)
{
	for (uint32_t i = 0; i < h->items.n; i++)
		h->where.v[h->items.v[i].id] = 0;
	h->items.n = 0;
	h->next_seq = 0;
}

static inline bool comes_before(const struct heap *h, const struct heap_item *a, const struct heap_item *b)
{
	int c = h->cmp(h->ctx, a->id, b->id);
	return c != 0 ? c < 0 : a->seq < b->seq;
}

static void place(struct heap *h, uint32_t at, struct heap_item item)
{
	h->items.v[at] = item;
	h->where.v[item.id] = at + 1;
}

/* Put item into the gap at `at` or as far above it as it belongs; says where it went. */
static uint32_t sift_up(struct heap *h, uint32_t at, struct heap_item item)
{
	while (at > 0) {
		uint32_t parent = (at - 1) / 2;
		if (!comes_before(h, &item, &h->items.v[parent]))
			break;
		place(h, at, h->items.v[parent]);
		at = parent;
	}
	place(h, at, item);
	return at;
}

static void sift_down(struct heap *h, uint32_t at, struct heap_item item)
{
	const struct heap_item *v = h->items.v;

	for (uint32_t child, n = h->items.n; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && comes_before(h, &v[child + 1], &v[child]))
			child++;
		if (!comes_before(h, &v[child], &item))
			break;
		place(h, at, v[child]);
	}
	place(h, at, item);
}

static void sift(struct heap *h, uint32_t at, struct heap_item item)
{
	if (at == 0 || sift_up(h, at, item) == at)
		sift_down(h, at, item);
}

bool heap_has(const struct heap *h, uint32_t id)
{
	return id < h->where.n && h->where.v[id] != 0;
}

void heap_push(struct heap *h, uint32_t id)
{
	assert(id < UINT32_MAX && !heap_has(h, id));
	if (id >= h->where.n) {
		array_reserve(&h->where, id + 1);
		memset(h->where.v + h->where.n, 0, (id + 1 - h->where.n) * sizeof(*h->where.v));
		h->where.n = id + 1;
	}
	struct heap_item item = {.seq = h->next_seq++, .id = id};
	array_push(&h->items, item);
	sift_up(h, h->items.n - 1, item);
}

uint32_t heap_pop(struct heap *h)
{
	uint32_t id = heap_peek(h);
	heap_remove(h, id);
	return id;
}

void heap_remove(struct heap *h, uint32_t id)
{
	assert(heap_has(h, id));
	uint32_t at = h->where.v[id] - 1;
	struct heap_item last = array_pop(&h->items);
	h->where.v[id] = 0;
	if (last.id != id)
		sift(h, at, last);
}

void heap_update(struct heap *h, uint32_t id)
{
	assert(heap_has(h, id));
	uint32_t at = h->where.v[id] - 1;
	sift(h, at, h->items.v[at]);
}
