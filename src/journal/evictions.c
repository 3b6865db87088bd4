/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/evictions.h"

void name_index_put(struct name_index *x, const char *name, uint32_t position)
{
	name_id id;

	if (!x->names)
		x->names = names_new();
	id = names_find(x->names, name, strlen(name));
	if (id == NAME_NONE)
		id = names_hold_str(x->names, name);
	while (x->at.n <= id)
		array_push(&x->at, INDEX_NONE);
	x->at.v[id] = position;
}

/* The empty name has an id, too, and is like any other. */
uint32_t name_index_get(const struct name_index *x, const char *name)
{
	name_id id = x->names ? names_find(x->names, name, strlen(name)) : NAME_NONE;

	if (id == NAME_NONE && *name)
		return INDEX_NONE;
	return id < x->at.n ? x->at.v[id] : INDEX_NONE;
}

void name_index_free(struct name_index *x)
{
	if (x->names)
		names_free(x->names);
	array_free(&x->at);
	*x = (struct name_index){0};
}

void evictions_of(const struct journal_run *run, eviction_list *out)
{
	struct name_index seen = {0};

	for (uint32_t i = 0; i < run->n_decisions; i++) {
		const struct journal_decision *d = &run->decisions[i];

		for (uint32_t k = 0; k < d->n_victims; k++) {
			const struct journal_victim *v = &d->victims[k];

			if (v->was_leaving || name_index_get(&seen, v->pod) != INDEX_NONE)
				continue;
			name_index_put(&seen, v->pod, out->n);
			array_push(out, ((struct eviction){d, v}));
		}
	}
	name_index_free(&seen);
}
