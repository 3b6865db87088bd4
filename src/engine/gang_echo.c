/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gang_echo.h"

void gang_echoes_begin(struct gang_echoes *e, const struct engine *en)
{
	*e = (struct gang_echoes){.en = en};
}

void gang_echoes_end(struct gang_echoes *e)
{
	array_free(&e->v);
	map_free(&e->at);
}

static bool is_on(const struct engine *en)
{
	return !en->config->looks_at_all && !en->has_plugins;
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

static bool is_told(const struct gang_echoes *e, pod_id pod)
{
	return !e->en->tells_of || bits_has(e->en->tells_of, pod);
}

static bool add_member(struct gang_echoes *e, const struct engine_run *run, pod_id pod, struct gang_echo *x)
{
	struct waiting_kind kind;

	if (!is_plain(e, run, pod) || !wait_kind_of_member(e->en->cluster, e->labels_matter, pod, &kind))
		return false;
	if (!x->n_members++) {
		x->kind = kind;
		x->is_told = is_told(e, pod);
	}
	return x->is_told == is_told(e, pod) && memcmp(&x->kind, &kind, sizeof(kind)) == 0;
}

/* False: like nobody. */
static bool echo_of(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *m,
		    struct gang_echo *ret)
{
	const struct ledger *l = e->en->ledger;
	bool is = m->n && stands_alone(l, ledger_pod(l, m->v[0])->group);

	if (!e->knows_labels)
		e->labels_matter = wait_kind_labels_matter(ledger_vocab(l), e->en->config);
	e->knows_labels = true;
	*ret = (struct gang_echo){0};
	for (uint32_t i = 0; is && i < m->n; i++)
		is = add_member(e, run, m->v[i], ret);
	return is;
}

static uint64_t hash_of(const struct gang_echo *x)
{
	return hash_bytes(x, offsetof(struct gang_echo, why));
}

bool gang_echoes_find(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *members,
		      struct gang_refusal *ret)
{
	struct gang_echo x;
	uint32_t at;

	if (!is_on(e->en))
		return false;
	if (e->mark != ledger_get_mark(e->en->ledger)) {
		e->v.n = 0;
		map_free(&e->at);
	}
	e->mark = ledger_get_mark(e->en->ledger);
	if (!e->v.n || !echo_of(e, run, members, &x))
		return false;
	at = map_get(&e->at, hash_of(&x));
	if (at == MAP_NONE || memcmp(&e->v.v[at], &x, offsetof(struct gang_echo, why)) != 0)
		return false;
	*ret = e->v.v[at].why;
	return true;
}

/* Two of one hash: the later one is nobody's. */
void gang_echoes_note(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *members,
		      const struct gang_refusal *why)
{
	struct gang_echo x;

	if (!is_on(e->en) || e->mark != ledger_get_mark(e->en->ledger) || !echo_of(e, run, members, &x) ||
	    map_get(&e->at, hash_of(&x)) != MAP_NONE)
		return;
	x.why = *why;
	map_put(&e->at, hash_of(&x), e->v.n);
	array_push(&e->v, x);
}
