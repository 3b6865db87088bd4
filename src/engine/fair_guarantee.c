/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fair_guarantee.h"

#include <math.h>

#include "engine/session.h"

struct fair_guarantee {
	struct ledger *ledger;
	uint32_t n;
	struct {
		queue_id queue;
		struct res_vec guaranteed;
	} * was;
};

static void set(struct ledger *l, queue_id q, const struct res_vec *guaranteed)
{
	struct queue_spec spec = queue_spec_copy(&queue_get(ledger_queues(l), q)->spec);

	spec.guaranteed = *guaranteed;
	ledger_queue_set(l, q, &spec);
}

/* Whole units; a share of nothing is no guarantee. */
static struct res_vec share_of(const struct session *s, uint32_t queue)
{
	struct res_vec v = {0};

	for (enum kai_res r = 0; r < KAI_RES; r++) {
		double fair = s->shares[queue].r[r].fair;

		if (s->amount_type[r] != RES_NONE && fair >= 1)
			res_put(&v, s->amount_type[r], (int64_t)floor(fair));
	}
	return v;
}

struct fair_guarantee *fair_guarantee_begin(struct engine *en, int64_t now_ns, uint32_t cycle, struct decisions *ret)
{
	struct fair_guarantee *f = mem_alloc(sizeof(*f));
	struct session *s = session_new(en, now_ns, true);

	session_keep_shares(s, cycle, ret);
	f->ledger = en->ledger;
	f->n = s->n_queues;
	f->was = mem_alloc((f->n + 1) * sizeof(*f->was));
	for (uint32_t i = 0; i < s->n_queues; i++) {
		struct res_vec share = share_of(s, i);

		f->was[i].queue = s->queues[i].id;
		f->was[i].guaranteed = queue_get(ledger_queues(en->ledger), s->queues[i].id)->spec.guaranteed;
		set(en->ledger, s->queues[i].id, &share);
	}
	session_free(s);
	return f;
}

void fair_guarantee_end(struct fair_guarantee *f)
{
	for (uint32_t i = f->n; i-- > 0;)
		set(f->ledger, f->was[i].queue, &f->was[i].guaranteed);
	mem_free(f->was);
	mem_free(f);
}
