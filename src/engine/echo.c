/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/echo.h"

void echoes_begin(struct echoes *e, const struct engine *en, const struct engine_run *run)
{
	*e = (struct echoes){.en = en, .run = run, .is_on = !en->config->looks_at_all && !en->has_plugins};
}

static void forget(struct echoes *e)
{
	e->v.n = 0;
	map_free(&e->at);
}

void echoes_end(struct echoes *e)
{
	array_free(&e->v);
	map_free(&e->at);
}

/* False: like nobody, or its own report is wanted. */
static bool echo_of(struct echoes *e, pod_id pod, struct echo *ret)
{
	const struct ledger *l = e->en->ledger;

	if (e->run->report == pod || wait_kind_is_young(l, ledger_pod(l, pod), e->run->now_ns))
		return false;
	if (!e->knows_labels)
		e->labels_matter = wait_kind_labels_matter(ledger_vocab(l), e->en->config);
	e->knows_labels = true;
	*ret = (struct echo){.is_told = !e->en->tells_of || bits_has(e->en->tells_of, pod)};
	return wait_kind_of(e->en->cluster, e->labels_matter, pod, &ret->kind);
}

static uint64_t hash_of(const struct echo *x)
{
	return hash_bytes(x, offsetof(struct echo, at));
}

bool echoes_repeat(struct echoes *e, pod_id pod, struct decisions *ret)
{
	ledger_mark mark = ledger_get_mark(e->en->ledger);
	struct decision d;
	struct echo x;
	uint32_t at;

	if (!e->is_on)
		return false;
	if (e->mark != mark)
		forget(e);
	e->mark = mark;
	if (!e->v.n || !echo_of(e, pod, &x))
		return false;
	at = map_get(&e->at, hash_of(&x));
	if (at == MAP_NONE || memcmp(&e->v.v[at], &x, offsetof(struct echo, at)) != 0)
		return false;
	d = ret->v.v[e->v.v[at].at];
	d.pod = pod;
	decisions_add(ret, &d);
	return true;
}

/* Two of one hash: the later one is nobody's. */
void echoes_note(struct echoes *e, pod_id pod, const struct decisions *made, uint32_t from)
{
	struct echo x;
	uint64_t hash;

	if (!e->is_on || made->v.n != from + 1 || made->v.v[from].pod != pod ||
	    made->v.v[from].outcome != OUTCOME_WAITING || e->mark != ledger_get_mark(e->en->ledger) ||
	    !echo_of(e, pod, &x))
		return;
	hash = hash_of(&x);
	if (map_get(&e->at, hash) != MAP_NONE)
		return;
	x.at = from;
	map_put(&e->at, hash, e->v.n);
	array_push(&e->v, x);
}
