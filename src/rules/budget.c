/* SPDX-License-Identifier: Apache-2.0 */
/* A PodDisruptionBudget that allows no more disruptions, those under way by our own decisions counted. */
#include <inttypes.h>

#include "rules/judge.h"
#include "rules/words.h"

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
