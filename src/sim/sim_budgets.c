/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disruption budgets in virtual time: counted again as pods come and go, as the disruption controller would. What runs
 * is healthy, what runs or waits is expected. A budget of which only a status is known stays as it is.
 */
#include "sim/sim_internal.h"

struct tally {
	int64_t expected, healthy;
};

static void count_pods(const struct ledger *l, struct tally *all)
{
	for (pod_id p = 0; p < ledger_pod_limit(l); p++) {
		const struct pod *pod = ledger_pod(l, p);
		uint32_t n;
		const pdb_id *v;

		if (pod->state != POD_PLACED && pod->state != POD_WAITING)
			continue;
		v = ledger_labelset_pdbs(l, pod->labelset, &n);
		for (uint32_t i = 0; i < n; i++) {
			all[v[i]].expected++;
			all[v[i]].healthy += pod->state == POD_PLACED;
		}
	}
}

/* Percentages are rounded up, as there. */
static int64_t must_stay(const struct obj_pdb *o, int64_t expected)
{
	int64_t limit = o->is_percent ? (expected * o->limit + 99) / 100 : o->limit;

	if (o->limit_kind == PDB_MIN_AVAILABLE)
		return limit;
	return expected > limit ? expected - limit : 0;
}

/* What is spent by those who are still leaving is taken off again when rules ask. True: more may go than before. */
static bool set_allowed(struct ledger *l, pdb_id id, const struct tally *n)
{
	const struct pdb *b = ledger_pdb(l, id);
	int64_t stays = must_stay(b->obj, n->expected), allowed = n->healthy > stays ? n->healthy - stays : 0;
	int64_t by = b->obj->allowed - (allowed + b->spent);

	if (by)
		ledger_pdb_lower(l, id, (int32_t)by);
	return by < 0;
}

void sim_count_budgets(struct sim *s)
{
	struct tally *all;
	bool has_more = false;

	if (!s->has_budgets)
		return;
	all = mem_alloc((ledger_pdb_limit(s->ledger) + 1) * sizeof(*all));
	count_pods(s->ledger, all);
	for (pdb_id i = 0; i < ledger_pdb_limit(s->ledger); i++)
		if (ledger_pdb(s->ledger, i)->is_live && ledger_pdb(s->ledger, i)->obj->limit_kind != PDB_NO_LIMIT)
			has_more |= set_allowed(s->ledger, i, &all[i]);
	ledger_commit(s->ledger);
	mem_free(all);
	if (has_more)
		sim_wake_all(s);
}
