/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/echo.h"

struct echo {
	struct waiting_kind kind;
	uint32_t is_told; /* of who is protected */
	uint32_t at;	  /* the decision */
};

void echoes_begin(struct echoes *e, const struct engine *en, const struct engine_run *run)
{
	*e = (struct echoes){.en = en,
			     .run = run,
			     .is_on = engine_repeats(en),
			     .labels_matter = wait_kind_labels_matter(ledger_vocab(en->ledger), en->config)};
	echo_index_begin(&e->index, en->ledger, offsetof(struct echo, at), sizeof(struct echo));
}

void echoes_end(struct echoes *e)
{
	echo_index_end(&e->index);
}

/* False: like nobody, or its own report is wanted. */
static bool echo_of(const struct echoes *e, pod_id pod, struct echo *ret)
{
	const struct ledger *l = e->en->ledger;

	if (e->run->report == pod || wait_kind_is_young(l, ledger_pod(l, pod), e->run->now_ns))
		return false;
	*ret = (struct echo){.is_told = engine_tells_of(e->en, pod)};
	return wait_kind_of(e->en->cluster, e->labels_matter, pod, &ret->kind);
}

bool echoes_repeat(struct echoes *e, pod_id pod, struct decisions *ret)
{
	const struct echo *known;
	struct decision d;
	struct echo x;

	if (!e->is_on || !echo_index_follow(&e->index) || !echo_of(e, pod, &x))
		return false;
	known = echo_index_find(&e->index, &x);
	if (!known)
		return false;
	d = ret->v.v[known->at];
	d.pod = pod;
	decisions_add(ret, &d);
	return true;
}

void echoes_note(struct echoes *e, pod_id pod, const struct decisions *made, uint32_t from)
{
	struct echo x;

	if (!e->is_on || made->v.n != from + 1 || made->v.v[from].pod != pod ||
	    made->v.v[from].outcome != OUTCOME_WAITING || !echo_of(e, pod, &x))
		return;
	x.at = from;
	echo_index_add(&e->index, &x);
}
