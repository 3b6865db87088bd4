/* SPDX-License-Identifier: Apache-2.0 */
/* The podsets of a session's workloads, and in which order sets of them are filled. */
#include "engine/session_build.h"

/* Sets of podsets are filled from the inside out, by name: a number for each podset that says so. */
struct set_walk {
	const struct obj_group *o;
	const struct names *names;
	uint32_t *rank; /* of each sub-group as a set; 0: not walked */
	uint32_t next;
};

static void walk_set(struct set_walk *w, uint32_t self, name_id name, uint32_t depth)
{
	uint32_t *kids = mem_alloc((w->o->n_subgroups + 1) * sizeof(*kids)), n = 0;

	for (uint32_t i = 0; i < w->o->n_subgroups && depth < QUEUE_DEPTH_MAX; i++)
		if (w->o->subgroups[i].parent == name && w->rank[i] == 0)
			kids[n++] = i;
	for (uint32_t i = 1; i < n; i++) /* by name */
		for (uint32_t k = i;
		     k > 0 && name_cmp(w->names, w->o->subgroups[kids[k]].name, w->o->subgroups[kids[k - 1]].name) < 0;
		     k--) {
			uint32_t t = kids[k];

			kids[k] = kids[k - 1];
			kids[k - 1] = t;
		}
	for (uint32_t i = 0; i < n; i++)
		walk_set(w, kids[i], w->o->subgroups[kids[i]].name, depth + 1);
	w->rank[self] = ++w->next;
	mem_free(kids);
}

static uint32_t set_rank(const struct set_walk *w, name_id podset)
{
	for (uint32_t i = 0; i < w->o->n_subgroups; i++) {
		if (w->o->subgroups[i].name != podset)
			continue;
		for (uint32_t k = 0; k < w->o->n_subgroups; k++)
			if (w->o->subgroups[k].name == w->o->subgroups[i].parent)
				return w->rank[k];
		break;
	}
	return UINT32_MAX; /* of the outermost set: last */
}

static bool has_nested_podsets(const struct obj_group *o)
{
	for (uint32_t i = 0; i < o->n_subgroups; i++)
		if (o->subgroups[i].parent != NAME_NONE)
			return true;
	return false;
}

void session_make_podsets(struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_workloads; i++)
		n += s->workloads[i].n_podsets;
	s->podsets = arena_n(s->build->arena, n + 1, struct session_podset);
	for (uint32_t i = 0; i < s->n_workloads; i++) {
		struct workload *u = &s->workloads[i];

		u->first_podset = s->n_podsets;
		s->n_podsets += u->n_podsets;
		if (u->group == GROUP_NONE) {
			s->podsets[u->first_podset] = (struct session_podset){.workload = i, .min = 1};
			continue;
		}
		const struct group *g = ledger_group(s->ledger, u->group);
		struct set_walk w = {.o = g->obj, .names = s->names};

		if (has_nested_podsets(g->obj)) {
			w.rank = arena_n(s->arena, g->obj->n_subgroups + 1, uint32_t);
			walk_set(&w, g->obj->n_subgroups, NAME_NONE, 0);
		}
		for (uint32_t k = 0; k < u->n_podsets; k++) {
			const struct podset *p = ledger_podset(s->ledger, g->first_podset + k);

			s->podsets[u->first_podset + k] = (struct session_podset){
				.workload = i,
				.name = p->name,
				.min = p->min_member < 1 || g->obj->has_no_minimum ? 1 : p->min_member,
				.rank = w.rank != NULL ? set_rank(&w, p->name) : 0};
		}
	}
}
