/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/id_index.h"

#include <string.h>

#include "base/map.h"

void id_index_free(struct id_index *x)
{
	id_table_free(&x->by_key);
	array_free(&x->lists);
	array_free(&x->free_lists);
	array_free(&x->links);
}

void id_index_trim(struct id_index *x)
{
	id_table_trim(&x->by_key);
	array_trim(&x->lists);
	array_trim(&x->free_lists);
	array_trim(&x->links);
}

static uint32_t hash_of(uint64_t key)
{
	return (uint32_t)(hash_u64(key) >> 32);
}

static uint32_t find_list(const struct id_index *x, uint64_t key)
{
	uint32_t hash = hash_of(key), at = id_table_home(&x->by_key, hash), i;

	do
		i = id_table_next(&x->by_key, hash, &at);
	while (i != ID_TABLE_NONE && x->lists.v[i].key != key);
	return i;
}

static void link_out(struct id_index *x, uint32_t id)
{
	struct id_link *k = &x->links.v[id];
	struct id_list *list = &x->lists.v[k->list];

	if (k->prev != ID_NONE)
		x->links.v[k->prev].next = k->next;
	else
		list->first = k->next;
	if (k->next != ID_NONE)
		x->links.v[k->next].prev = k->prev;
	if (list->first == ID_NONE) {
		id_table_del(&x->by_key, hash_of(list->key), k->list);
		array_push(&x->free_lists, k->list);
	}
	*k = (struct id_link){ID_NONE, ID_NONE, ID_NONE};
}

static uint32_t list_of(struct id_index *x, uint64_t key)
{
	uint32_t i = find_list(x, key);

	if (i != ID_TABLE_NONE)
		return i;
	if (x->free_lists.n > 0) {
		i = array_pop(&x->free_lists);
	} else {
		i = x->lists.n;
		array_push(&x->lists, (struct id_list){0});
	}
	x->lists.v[i] = (struct id_list){.key = key, .first = ID_NONE};
	id_table_put(&x->by_key, hash_of(key), i);
	return i;
}

void id_index_expect(struct id_index *x, uint32_t n)
{
	if (x->links.n >= n)
		return;
	array_reserve(&x->links, n);
	memset(x->links.v + x->links.n, 0xff, (n - x->links.n) * sizeof(*x->links.v)); /* ID_NONE */
	x->links.n = n;
}

void id_index_put(struct id_index *x, uint32_t id, uint64_t key)
{
	if (id >= x->links.n) {
		if (key == 0)
			return;
		id_index_expect(x, id + 1);
	}
	uint32_t list = x->links.v[id].list;
	if (list != ID_NONE) {
		if (x->lists.v[list].key == key)
			return;
		link_out(x, id);
	}
	if (key != 0)
		id_index_put_new(x, id, list_of(x, key));
}

uint32_t id_index_list(struct id_index *x, uint64_t key)
{
	return list_of(x, key);
}

uint32_t id_index_first(const struct id_index *x, uint64_t key)
{
	uint32_t i = find_list(x, key);

	return i == ID_TABLE_NONE ? ID_NONE : x->lists.v[i].first;
}
