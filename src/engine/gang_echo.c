/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gang_echo.h"

struct gang_key {
	struct waiting_kind kind;
	uint32_t n_members;
	uint32_t is_told; /* of who is protected */
};

struct gang_echo {
	struct gang_key key;
	struct gang_refusal why;
};

void gang_echoes_begin(struct gang_echoes *e, const struct engine *en)
{
	*e = (struct gang_echoes){.en = en,
				  .is_on = engine_repeats(en),
				  .labels_matter = wait_kind_labels_matter(ledger_vocab(en->ledger), en->config)};
	echo_index_begin(&e->index, en->ledger, sizeof(struct gang_key), sizeof(struct gang_echo));
}

void gang_echoes_end(struct gang_echoes *e)
{
	echo_index_end(&e->index);
}

/* Who has members on nodes looks for room beside them, and does not take it from them. */
static bool stands_alone(const struct ledger *l, group_id group)
{
	const struct group *g = ledger_group(l, group);
	const struct podset *s = ledger_podset(l, g->first_podset);

	return g->n_podsets == 1 && !g->n_on_nodes && !s->n_finished;
}

static bool is_plain(const struct gang_echoes *e, const struct engine_run *run, pod_id pod)
{
	const struct ledger *l = e->en->ledger;

	return run->report != pod && !wait_kind_is_young(l, ledger_pod(l, pod), run->now_ns);
}

static bool add_member(const struct gang_echoes *e, const struct engine_run *run, pod_id pod, struct gang_key *x)
{
	struct waiting_kind kind;

	if (!is_plain(e, run, pod) || !wait_kind_of_member(e->en->cluster, e->labels_matter, pod, &kind))
		return false;
	if (!x->n_members++) {
		x->kind = kind;
		x->is_told = engine_tells_of(e->en, pod);
	}
	return x->is_told == engine_tells_of(e->en, pod) && memcmp(&x->kind, &kind, sizeof(kind)) == 0;
}

/* False: like nobody. */
static bool key_of(const struct gang_echoes *e, const struct engine_run *run, const struct pod_list *m,
		   struct gang_key *ret)
{
	const struct ledger *l = e->en->ledger;
	bool is = m->n && stands_alone(l, ledger_pod(l, m->v[0])->group);

	*ret = (struct gang_key){0};
	for (uint32_t i = 0; is && i < m->n; i++)
		is = add_member(e, run, m->v[i], ret);
	return is;
}

bool gang_echoes_find(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *members,
		      struct gang_refusal *ret)
{
	const struct gang_echo *known;
	struct gang_echo x;

	if (!e->is_on || !echo_index_follow(&e->index) || !key_of(e, run, members, &x.key))
		return false;
	known = echo_index_find(&e->index, &x);
	if (known)
		*ret = known->why;
	return known;
}

void gang_echoes_note(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *members,
		      const struct gang_refusal *why)
{
	struct gang_echo x;

	if (!e->is_on || !key_of(e, run, members, &x.key))
		return;
	x.why = *why;
	echo_index_add(&e->index, &x);
}
