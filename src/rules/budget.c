/* SPDX-License-Identifier: Apache-2.0 */
/* A PodDisruptionBudget that allows no more disruptions, those under way by our own decisions counted. */
#include <inttypes.h>

#include "rules/judge.h"
#include "rules/words.h"

/* ---- how much all budgets of a pod allow ---- */

enum { SLACKS_MAX = 1 << 16 };

struct slack {
	labelset_id labelset; /* one that they cover */
	bool has_listed;
	int64_t least;
};

struct budget_slacks {
	uint64_t standing; /* of the ledger when they were made */
	ARRAY(struct slack) v;
	struct map by_cover;
};

void budget_slacks_free(struct budget_slacks *s)
{
	if (!s)
		return;
	array_free(&s->v);
	map_free(&s->by_cover);
	mem_free(s);
}

static struct slack slack_of(const struct ledger *l, labelset_id labelset)
{
	struct slack s = {.labelset = labelset, .least = INT64_MAX};
	uint32_t n;
	const pdb_id *ids = ledger_labelset_pdbs(l, labelset, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pdb *b = ledger_pdb(l, ids[i]);
		int64_t slack = (int64_t)b->obj->allowed - b->spent;

		s.least = slack < s.least ? slack : s.least;
		s.has_listed |= b->obj->n_disrupted > 0;
	}
	return s;
}

static bool same_budgets(const struct ledger *l, labelset_id a, labelset_id b)
{
	uint32_t n, m;
	const pdb_id *x = ledger_labelset_pdbs(l, a, &n), *y = ledger_labelset_pdbs(l, b, &m);

	return n == m && !memcmp(x, y, n * sizeof(*x));
}

static struct budget_slacks *slacks_now(const struct ledger *l, struct budget_slacks **memo)
{
	uint64_t standing = ledger_budget_standing(l);

	if (!*memo)
		*memo = mem_alloc(sizeof(**memo));
	if ((*memo)->standing != standing || (*memo)->v.n > SLACKS_MAX) {
		(*memo)->v.n = 0;
		map_free(&(*memo)->by_cover);
		(*memo)->standing = standing;
	}
	return *memo;
}

static struct slack slack_looked_up(const struct ledger *l, struct budget_slacks **memo, labelset_id labelset)
{
	struct budget_slacks *s = slacks_now(l, memo);
	uint64_t cover = ledger_labelset_cover(l, labelset);
	uint32_t at = map_get(&s->by_cover, cover);
	struct slack new;

	if (at != MAP_NONE && same_budgets(l, s->v.v[at].labelset, labelset))
		return s->v.v[at];
	new = slack_of(l, labelset);
	map_put(&s->by_cover, cover, s->v.n);
	array_push(&s->v, new);
	return new;
}

int64_t budget_slack(const struct ledger *l, struct budget_slacks **memo, labelset_id labelset, bool *ret_has_listed)
{
	struct slack s;
	uint32_t n;

	ledger_labelset_pdbs(l, labelset, &n);
	s = n <= BUDGETS_FEW ? slack_of(l, labelset) : slack_looked_up(l, memo, labelset);
	if (ret_has_listed)
		*ret_has_listed = s.has_listed;
	return s.least;
}

/* ---- the rule ---- */

static bool is_disrupted(const struct obj_pdb *o, name_id pod)
{
	for (uint32_t i = 0; i < o->n_disrupted; i++)
		if (o->disrupted[i] == pod)
			return true;
	return false;
}

bool budget_counts_already(const struct pdb *b, const struct pod *p)
{
	return is_disrupted(b->obj, p->name);
}

struct rule_verdict budget_refuses(const struct pdb *b, pdb_id id, int64_t spent, bool is_together)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_BUDGET);

	says.reason = is_together;
	says.num[0] = b->obj->allowed;
	says.num[1] = spent;
	says.num[2] = id;
	return says;
}

static bool blocks(const struct pdb *b, const struct pod *v)
{
	return !budget_counts_already(b, v) && b->obj->allowed <= b->spent;
}

/* Of several in the way the first by name is told, in whatever order they were read. All are of one namespace. */
static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_may_go();
	const struct pdb *first = NULL;
	uint32_t n;
	const pdb_id *pdbs = ledger_labelset_pdbs(j->ledger, v->labelset, &n);

	(void)victim;
	if (n > BUDGETS_FEW && budget_slack(j->ledger, &j->scratch->slacks, v->labelset, NULL) > 0)
		return says;
	for (uint32_t i = 0; i < n; i++) {
		const struct pdb *b = ledger_pdb(j->ledger, pdbs[i]);

		if (!blocks(b, v) || (first && name_cmp(j->names, first->obj->name, b->obj->name) < 0))
			continue;
		first = b;
		says = budget_refuses(b, pdbs[i], b->spent, false);
	}
	return says;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	const struct ledger *l = words_ledger(c);
	const struct names *names = vocab_names(ledger_vocab(l));
	const struct obj_pdb *o = ledger_pdb(l, (pdb_id)v->num[2])->obj;

	text_printf(out, "the budget %s/%s allows %" PRId64 " disruption%s, ", name_str(names, o->ns),
		    name_str(names, o->name), v->num[0], v->num[0] == 1 ? "" : "s");
	if (v->reason)
		text_printf(out, "%" PRId64 " are needed", v->num[1]);
	else
		text_printf(out, "%" PRId64 " of them spent", v->num[1]);
}

const struct rule rule_budget = {.judge = judge, .text = text};
