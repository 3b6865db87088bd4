/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gang is bound as one (CL-8): all bindings are sent at once. If one of them fails for good while others went well,
 * the gang is repaired: the member that failed is tried again with everything the engine can do, and if the gang still
 * lacks members after a stale gang's grace, those that were bound are taken away again. What was done is said.
 */
#include "run/scheduler_internal.h"

struct gang_bind {
	group_id group;
	name_id ns, name; /* held */
	uint32_t n_open, n_bound, n_failed;
	int64_t until_ns; /* steady: repaired by then, or undone; INT64_MAX: nothing has failed */
	struct text why;
};

static bool is_gang(const struct scheduler *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);

	for (uint32_t i = 0; i < g->n_podsets; i++)
		if (ledger_podset(s->ledger, g->first_podset + i)->min_member > 1)
			return !g->obj->has_no_minimum;
	return false;
}

static bool is_short(const struct scheduler *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);

	for (uint32_t i = 0; i < g->n_podsets; i++) {
		const struct podset *x = ledger_podset(s->ledger, g->first_podset + i);

		if (x->n_placed + x->n_finished < (uint32_t)x->min_member)
			return true;
	}
	return false;
}

struct gang_bind *gang_bind_for(struct scheduler *s, pod_id pod)
{
	group_id group = ledger_pod(s->ledger, pod)->group;
	struct gang_bind *g;

	if (group == GROUP_NONE || !is_gang(s, group))
		return NULL;
	for (uint32_t i = 0; i < s->gangs.n; i++)
		if (s->gangs.v[i]->group == group) {
			s->gangs.v[i]->n_open++;
			return s->gangs.v[i];
		}
	g = mem_alloc(sizeof(*g));
	g->group = group;
	g->ns = ledger_group(s->ledger, group)->obj->ns;
	g->name = ledger_group(s->ledger, group)->obj->name;
	names_keep(s->names, g->ns);
	names_keep(s->names, g->name);
	g->n_open = 1;
	g->until_ns = INT64_MAX;
	array_push(&s->gangs, g);
	return g;
}

static void forget(struct scheduler *s, struct gang_bind *g)
{
	for (uint32_t i = 0; i < s->gangs.n; i++)
		if (s->gangs.v[i] == g) {
			array_remove(&s->gangs, i);
			break;
		}
	names_drop(s->names, g->ns);
	names_drop(s->names, g->name);
	text_free(&g->why);
	mem_free(g);
}

void gang_binds_free(struct scheduler *s)
{
	while (s->gangs.n)
		forget(s, s->gangs.v[0]);
	array_free(&s->gangs);
}

static pod_id placed_member(const struct scheduler *s, group_id group)
{
	const struct cluster *c = s->world->cluster;

	for (pod_id i = cluster_group_first(c, group); i != POD_NONE; i = cluster_group_next(c, i))
		if (ledger_pod(s->ledger, i)->group == group && ledger_pod(s->ledger, i)->state == POD_PLACED)
			return i;
	return POD_NONE;
}

static void tell(struct scheduler *s, struct gang_bind *g, const char *outcome, const char *reason, const char *words)
{
	pod_id pod = g->group != GROUP_NONE ? placed_member(s, g->group) : POD_NONE;
	struct text note = {0};

	text_printf(&note, "gang %s/%s: %s", str_of(s, g->ns), str_of(s, g->name), words);
	say(s, true, "%s", text_str(&note));
	if (pod != POD_NONE)
		report_pod_event(s, pod, "Warning", reason, "Binding", text_str(&note), POD_NONE);
	if (outcome && s->o.hooks.gang)
		s->o.hooks.gang(s->o.hooks.ctx, outcome);
	text_free(&note);
}

/* Whoever of it was bound goes again. */
static void undo(struct scheduler *s, struct gang_bind *g)
{
	const struct cluster *c = s->world->cluster;
	struct decision d = {.pod = POD_NONE,
			     .group = g->group,
			     .queue = ledger_group(s->ledger, g->group)->queue,
			     .outcome = OUTCOME_EVICTED,
			     .action = ACTION_STALE_GANG,
			     .node = NODE_NONE};
	ARRAY(struct victim) victims = {0};
	struct text *words;

	for (pod_id i = cluster_group_first(c, g->group); i != POD_NONE; i = cluster_group_next(c, i)) {
		const struct pod *p = ledger_pod(s->ledger, i);
		struct victim v = {.pod = i, .node = p->node, .queue = p->queue};

		if (p->group == g->group && p->state == POD_PLACED && !note_of(s, i)->bind)
			array_push(&victims, v);
	}
	words = mem_alloc((victims.n + 1) * sizeof(*words));
	for (uint32_t i = 0; i < victims.n; i++) {
		ledger_evict(s->ledger, victims.v[i].pod);
		text_printf(&words[i], "cede: stale-gang: the gang %s/%s could not be bound as a whole: %s",
			    str_of(s, g->ns), str_of(s, g->name), text_str(&g->why));
	}
	ledger_commit(s->ledger);
	d.victims = victims.v;
	d.n_victims = victims.n;
	evict_begin(s, &d, words, 0);
	for (uint32_t i = 0; i < victims.n; i++)
		text_free(&words[i]);
	mem_free(words);
	array_free(&victims);
}

static void check(struct scheduler *s, struct gang_bind *g)
{
	bool is_gone =
		!ledger_group(s->ledger, g->group)->is_live || ledger_group(s->ledger, g->group)->obj->name != g->name;

	if (g->n_open)
		return;
	if (is_gone) {
		forget(s, g);
	} else if (g->until_ns == INT64_MAX && !g->n_failed) {
		if (s->o.hooks.gang)
			s->o.hooks.gang(s->o.hooks.ctx, "bound");
		forget(s, g);
	} else if (!is_short(s, g->group)) {
		tell(s, g, "completed", "GangCompleted",
		     "a member could not be bound; it is complete all the same now");
		forget(s, g);
	} else if (placed_member(s, g->group) == POD_NONE) {
		tell(s, g, "undone", "GangUndone", "none of it was bound; it waits as a whole");
		forget(s, g);
	} else if (s->now.steady_ns >= g->until_ns) {
		tell(s, g, "undone", "GangUndone",
		     "it could not be completed: those that were bound are taken away again");
		undo(s, g);
		forget(s, g);
	}
}

void gang_bind_ended(struct scheduler *s, struct gang_bind *g, bool is_bound, const char *why)
{
	int64_t grace_ns = s->world->config->kai.staleness_grace_ns;

	g->n_open--;
	g->n_bound += is_bound;
	g->n_failed += !is_bound;
	if (!is_bound && !g->why.n) {
		text_add(&g->why, why);
		if (g->until_ns == INT64_MAX && grace_ns >= 0)
			g->until_ns = time_add(s->now.steady_ns, grace_ns);
		tell(s, g, NULL, "GangIncomplete", "a member could not be bound; it is tried again");
	}
	s->gangs_changed = true;
}

void gang_binds_tick(struct scheduler *s)
{
	if (!s->gangs_changed && gang_binds_next_ns(s) > s->now.steady_ns)
		return;
	s->gangs_changed = false;
	for (uint32_t i = s->gangs.n; i-- > 0;)
		if (i < s->gangs.n)
			check(s, s->gangs.v[i]);
}

int64_t gang_binds_next_ns(const struct scheduler *s)
{
	int64_t next = INT64_MAX;

	for (uint32_t i = 0; i < s->gangs.n; i++)
		if (!s->gangs.v[i]->n_open && s->gangs.v[i]->until_ns < next)
			next = s->gangs.v[i]->until_ns;
	return next;
}
