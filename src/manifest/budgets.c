/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disruption budgets without a status: nobody has counted for them, as in files that never were in a cluster. They are
 * counted here from the pods that were read, as the disruption controller would: what is placed is healthy; expected
 * are as many as the controllers of these pods are to have, where they were read and say so, else the pods that are
 * not finished. A minimum that is a number goes by the pods alone.
 */
#include "manifest/collect.h"

struct budget_tally {
	int64_t expected, healthy;
	struct map scaled; /* controllers that were counted */
};

static bool has_scale(const struct obj_owner *o)
{
	return o && o->replicas >= 0 &&
	       (o->kind == OWNER_DEPLOYMENT || o->kind == OWNER_REPLICASET || o->kind == OWNER_STATEFULSET ||
		o->kind == OWNER_RC);
}

/* Each pod as one; with by_scale all of one controller as many as it is to have. */
static void expect(struct budget_tally *n, const struct cluster *c, const struct pod *p, bool by_scale)
{
	const struct obj_owner *o = by_scale ? cluster_top_owner(c, p->obj) : NULL;

	if (!has_scale(o)) {
		n->expected++;
	} else if (map_get(&n->scaled, (uintptr_t)o) == MAP_NONE) {
		map_put(&n->scaled, (uintptr_t)o, 1);
		n->expected += o->replicas;
	}
}

static struct budget_tally count_covered(const struct cluster *cluster, pdb_id id)
{
	const struct ledger *l = cluster_ledger(cluster);
	const struct obj_pdb *o = ledger_pdb(l, id)->obj;
	struct budget_tally c = {0};

	for (pod_id p = 0; p < ledger_pod_limit(l); p++) {
		const struct pod *pod = ledger_pod(l, p);
		uint32_t n;
		const pdb_id *v;

		if (pod->state == POD_FREE || pod->state == POD_FINISHED)
			continue;
		v = ledger_labelset_pdbs(l, pod->labelset, &n);
		for (uint32_t i = 0; i < n; i++) {
			if (v[i] != id)
				continue;
			expect(&c, cluster, pod, o->is_percent || o->limit_kind == PDB_MAX_UNAVAILABLE);
			c.healthy += pod->state == POD_PLACED;
		}
	}
	map_free(&c.scaled);
	return c;
}

/* Percentages are rounded up, as there. */
static int64_t share_of(const struct obj_pdb *o, int64_t expected)
{
	return o->is_percent ? (expected * o->limit + 99) / 100 : o->limit;
}

static int64_t must_stay(const struct obj_pdb *o, int64_t expected)
{
	if (o->limit_kind == PDB_MIN_AVAILABLE)
		return share_of(o, expected);
	if (o->limit_kind == PDB_MAX_UNAVAILABLE)
		return expected > share_of(o, expected) ? expected - share_of(o, expected) : 0;
	return expected;
}

static struct place place_of(const struct manifest *m, const struct obj_pdb *o)
{
	for (size_t k = 0; k < object_kind_count; k++)
		if (str_eq(object_kinds[k].kind, "PodDisruptionBudget")) {
			uint32_t i = map_get(&m->seen[k], map_key2(o->ns, o->name));

			return i == MAP_NONE ? (struct place){"", 0, 0} : m->records.v[i].at;
		}
	return (struct place){"", 0, 0};
}

void budgets_count(struct manifest *m, struct cluster *c)
{
	struct ledger *l = cluster_ledger(c);
	const struct names *names = vocab_names(m->vocab);

	for (pdb_id id = 0; id < ledger_pdb_limit(l); id++) {
		const struct obj_pdb *o = ledger_pdb(l, id)->is_live ? ledger_pdb(l, id)->obj : NULL;
		struct budget_tally n;
		int64_t stays, allowed;

		if (!o || o->has_status)
			continue;
		n = count_covered(c, id);
		stays = must_stay(o, n.expected);
		allowed = n.healthy > stays ? n.healthy - stays : 0;
		ledger_pdb_lower(l, id, (int32_t)-allowed);
		manifest_note_at(m, place_of(m, o),
				 "PodDisruptionBudget %s/%s: no status; counted from its pods: %lld of %lld run, %lld "
				 "must stay, so %lld may go",
				 name_str(names, o->ns), name_str(names, o->name), (long long)n.healthy,
				 (long long)n.expected, (long long)stays, (long long)allowed);
	}
	ledger_commit(l);
}
