/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/plan_view.h"
#include "rules/eviction_history.h"
#include "serve/facts.h"
#include "serve/views.h"

static void add_of_pod(const struct plan_view *v, pod_id id, enum fact_kind user, enum fact_kind workload,
		       struct text *more)
{
	const struct ledger *l = cluster_ledger(v->cluster);
	const struct pod *p = ledger_pod(l, id);
	struct text words = {0};

	facts_add(more, user, name_str(vocab_names(ledger_vocab(l)), obj_user(p->obj)));
	eviction_history_workload(v->cluster, p, &words);
	facts_add(more, workload, text_str(&words));
	text_free(&words);
}

void views_more_facts(const struct plan_view *v, const struct decision *d, struct text *more)
{
	if (d->pod != POD_NONE)
		add_of_pod(v, d->pod, FACT_USER, FACT_WORKLOAD, more);
	for (uint32_t i = 0; i < d->n_victims; i++)
		add_of_pod(v, d->victims[i].pod, FACT_VICTIM_USER, FACT_VICTIM_WORKLOAD, more);
}

void views_log_decision(struct serve_log *l, const struct plan_view *v, const struct decision *d, int64_t at_ns)
{
	struct text line = {0}, more = {0};
	struct emit e;

	emit_init(&e, &line, EMIT_JSON_LINE);
	plan_emit_decision(v, &e, d);
	views_more_facts(v, d, &more);
	serve_log_decision(l, at_ns, text_str(&line), &more);
	text_free(&line);
	text_free(&more);
}
