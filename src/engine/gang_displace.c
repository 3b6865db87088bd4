/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption for a whole group: the domain is the cluster.
 *
 * With everybody of lower priority gone the group is placed once, and these places stay fixed. Then units come back one
 * by one as long as every member still fits its place, one after the other, each seeing those before it. Where nothing
 * but resources can be in the way, only the places on nodes that a unit touches are asked again: the others cannot have
 * changed their answer. Otherwise every unit that comes back is asked of every member.
 */
#include "base/bits.h"
#include "engine/disruption_unit.h"
#include "engine/gang_kube.h"
#include "filters/volumes.h"

struct preemption_domain {
	struct kube_gang *g;
	struct ledger *l;
	struct disruption_units u;
	struct unit_rows rows;
	bool is_plain;	     /* all who got a node are */
	struct bits touched; /* nodes of the unit at hand */
};

/* ---- may it at all? ---- */

static void begin(struct kube_gang *g, struct cede_cycle *c, const struct gang_pod *m, struct arena *a)
{
	cycle_begin(c, engine_framework(g->en, m->pod), a, m->pod, g->run->now_ns);
}

static enum eligibility eligibility_of(struct kube_gang *g, const struct gang_pod *m)
{
	struct status refused = status_of_framework(CEDE_UNSCHEDULABLE, FW_NONE, 0);
	enum eligibility e;
	struct cede_cycle c;

	begin(g, &c, m, g->en->arena);
	e = displace_eligible(&c, &refused);
	cycle_end(&c);
	arena_reset(g->en->arena);
	return e;
}

/* One pod that never preempts is enough to stop its group, as is the group's own word. */
bool gang_may_preempt(struct kube_gang *g, struct gang_victims *ret)
{
	*ret = (struct gang_victims){0};
	ret->is_never = ledger_group(g->en->ledger, g->id)->obj->never_preempts;
	for (uint32_t i = 0; i < g->n && !ret->is_never; i++) {
		enum eligibility e = g->v[i].is_open ? eligibility_of(g, &g->v[i]) : ELIGIBLE;

		ret->is_never = e == NOT_ELIGIBLE_NEVER;
		ret->is_ongoing |= e == NOT_ELIGIBLE_TERMINATING;
	}
	if (ret->is_never)
		ret->why = eligibility_text(NOT_ELIGIBLE_NEVER);
	else if (ret->is_ongoing)
		ret->why = "ongoing preemption on nominated nodes";
	return !ret->is_never && !ret->is_ongoing;
}

/* ---- who comes back ---- */

static void take_away(struct preemption_domain *d, uint32_t i, uint32_t at)
{
	for (uint32_t k = at; k < at + d->u.v[i].n_pods; k++)
		ledger_vacate(d->l, d->rows.pods[k]);
}

static void bring_back(struct preemption_domain *d, uint32_t i, uint32_t at)
{
	bits_reset(&d->touched);
	for (uint32_t k = at; k < at + d->u.v[i].n_pods; k++) {
		ledger_place(d->l, d->rows.pods[k], d->rows.homes[k]);
		bits_set(&d->touched, d->rows.homes[k]);
	}
}

static bool seat_holds(struct preemption_domain *d, const struct gang_pod *m)
{
	struct cede_cycle c;
	struct status s;

	begin(d->g, &c, m, d->g->en->arena);
	s = cycle_fits(&c, m->node);
	if (status_is_success(&s))
		volumes_assume(&c, m->node);
	cycle_end(&c);
	arena_reset(d->g->en->arena);
	return status_is_success(&s);
}

static bool all_seats_hold(struct preemption_domain *d)
{
	ledger_mark mark = ledger_get_mark(d->l);
	bool holds = true;

	for (uint32_t i = 0; holds && i < d->g->n; i++) {
		const struct gang_pod *m = &d->g->v[i];

		if (!m->is_open || m->node == NODE_NONE || (d->is_plain && !bits_has(&d->touched, m->node)))
			continue;
		holds = seat_holds(d, m);
		if (holds)
			ledger_place(d->l, m->pod, m->node);
	}
	ledger_rollback(d->l, mark);
	return holds;
}

static void reprieve(struct preemption_domain *d)
{
	for (int pass = 0; pass < CLASSES; pass++) {
		for (uint32_t i = 0, at = 0; i < d->u.n; at += d->u.v[i++].n_pods) {
			bool goes;

			if (d->rows.classes[i] != pass)
				continue;
			bring_back(d, i, at);
			goes = !all_seats_hold(d);
			memset(d->rows.goes + at, goes, d->u.v[i].n_pods * sizeof(bool));
			if (goes)
				take_away(d, i, at);
		}
	}
}

static void collect(const struct preemption_domain *d, struct gang_victims *ret)
{
	pod_id *pods = arena_n(d->g->arena, d->u.n_pods + 1, pod_id);
	bool *violates = arena_n(d->g->arena, d->u.n_pods + 1, bool),
	     *is_spared = arena_n(d->g->arena, d->u.n_pods + 1, bool);

	for (uint32_t i = 0, at = 0; i < d->u.n; at += d->u.v[i++].n_pods) {
		for (uint32_t k = at; d->rows.goes[at] && k < at + d->u.v[i].n_pods; k++) {
			is_spared[ret->n] = d->rows.classes[i] == CLASS_SPARED;
			violates[ret->n] = d->rows.violates[k];
			ret->n_violations += d->rows.violates[k];
			pods[ret->n++] = d->rows.pods[k];
		}
	}
	ret->pods = pods;
	ret->violates = violates;
	ret->is_spared = is_spared;
	ret->is_found = true;
}

/* ---- the search ---- */

static const struct gang_pod *first_open(const struct kube_gang *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->v[i].is_open)
			return &g->v[i];
	return NULL;
}

static void gather(struct preemption_domain *d)
{
	struct rule_settings settings = engine_rule_settings(d->g->en);
	struct displace_options o = {.threads = 1};
	struct cede_cycle c;
	struct judge j;

	begin(d->g, &c, first_open(d->g), d->g->arena);
	displace_judge(&j, &c, &settings, &d->g->en->scratch);
	o.j = &j;
	d->u = units_everywhere(&c, &o);
	d->rows = unit_rows_of(&c, &o, &d->u);
	cycle_end(&c);
}

static bool all_plain(const struct kube_gang *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->v[i].is_open && g->v[i].node != NODE_NONE && !g->v[i].is_plain)
			return false;
	return true;
}

static enum err_code search(struct preemption_domain *d, struct gang_victims *ret, struct err *e)
{
	bool fits = false;
	enum err_code rc;

	for (uint32_t i = 0, at = 0; i < d->u.n; at += d->u.v[i++].n_pods)
		take_away(d, i, at);
	rc = gang_round(d->g, &fits, e);
	if (rc)
		return rc;
	if (!fits) {
		ret->why = "the pod group would not fit with all pods of lower priority gone";
		return ERR_OK;
	}
	d->is_plain = all_plain(d->g);
	reprieve(d);
	collect(d, ret);
	return ERR_OK;
}

enum err_code gang_find_victims(struct kube_gang *g, struct gang_victims *ret, struct err *e)
{
	struct preemption_domain d = {.g = g, .l = g->en->ledger};
	ledger_mark mark = ledger_get_mark(d.l);
	enum err_code rc = ERR_OK;

	*ret = (struct gang_victims){0};
	gather(&d);
	g->is_dry = true;
	if (!d.u.n)
		ret->why = "No preemption victims found for incoming preemptor";
	else
		rc = search(&d, ret, e);
	g->is_dry = false;
	ledger_rollback(d.l, mark);
	bits_free(&d.touched);
	return rc;
}
