/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/scored.h"

#include <string.h>

static int64_t asked(const struct cede_cycle *c, res_id r, bool with_defaults)
{
	if (with_defaults && r == RES_CPU)
		return c->shape->nonzero_cpu_milli;
	if (with_defaults && r == RES_MEMORY)
		return c->shape->nonzero_memory;
	return res_list_get(&c->shape->request, r);
}

void scored_init(struct scored *ret, const struct cede_cycle *c, const struct weighted_resource *list, uint32_t n,
		 bool with_defaults)
{
	const struct res_types *types = vocab_res(ledger_vocab(c->ledger));

	ret->n = 0;
	for (uint32_t i = 0; i < n && ret->n < RES_MAX; i++) {
		res_id r = res_types_find(types, list[i].name, strlen(list[i].name));
		int64_t amount;

		if (r == RES_NONE || r == RES_PODS || r >= ledger_stride(c->ledger))
			continue;
		amount = asked(c, r, with_defaults);
		if (r < RES_FIXED || amount)
			ret->v[ret->n++] = (struct scored_type){r, list[i].weight, amount};
	}
}

void scored_keep(struct scored *ret, struct cede_cycle *c, const struct weighted_resource *list, uint32_t n,
		 bool with_defaults)
{
	ret->v = cede_alloc(c, ((n < RES_MAX ? n : RES_MAX) + 1) * sizeof(*ret->v));
	scored_init(ret, c, list, n, with_defaults);
}
