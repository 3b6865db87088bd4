/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that followed the ledger (session_follow.c) against one that is made of it: the same in all that a cycle
 * begins with. Workloads whose only pod is gone are left out, and so are numbers that only tell one from another.
 */
#pragma once

#include "engine/engine_internal.h"
#include "engine/session_build.h"

static void tell_workload(const struct session *s, uint32_t workload, struct text *out)
{
	const struct workload *u = &s->workloads[workload];

	text_printf(out, u->group == GROUP_NONE ? "pod %u" : "group %u", u->group == GROUP_NONE ? u->pod : u->group);
}

static void tell_members(const struct session *s, const struct session_podset *p, struct text *out)
{
	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		const struct member *m = &s->members[i];

		text_printf(out, "  %u is %u on %u, hint %u, core %d, ran %d, copies %d, like %u\n", m->pod, m->status,
			    m->node, m->hint, m->is_core, m->was_running, m->copies != NONE,
			    s->signatures[m->signature].example);
	}
}

static void tell_kind(const struct session *s, const struct workload *u, struct text *out)
{
	uint32_t kind = s->kind_of_rank[u->rank];

	if (kind != NONE)
		text_printf(out, "  of a kind: queue %u, priority %d, preemptible %u\n", s->kinds.v[kind].queue,
			    s->kinds.v[kind].priority, s->kinds.v[kind].preemptibility);
}

static void tell_workloads(const struct session *s, struct text *out)
{
	for (uint32_t i = 0; i < s->n_workloads; i++) {
		const struct workload *u = &s->workloads[s->by_rank[i]];

		if (u->group == GROUP_NONE && u->n_members == 0)
			continue;
		tell_workload(s, s->by_rank[i], out);
		text_printf(out, " in %u, priority %d, %d %d, listed %d %d, %u members, has %a %a %a\n", u->queue,
			    u->priority, u->is_preemptible, u->is_semi, u->is_listed_pending, u->is_listed_victim,
			    u->n_members, u->allocated[0], u->allocated[1], u->allocated[2]);
		for (uint32_t k = u->first_podset; k < u->first_podset + u->n_podsets; k++)
			tell_members(s, &s->podsets[k], out);
		tell_kind(s, u, out);
	}
}

static void tell_list(const struct session *s, const char *what, const workload_list *v, struct text *out)
{
	text_printf(out, "  %s:", what);
	for (uint32_t i = 0; i < v->n; i++) {
		text_add_char(out, ' ');
		tell_workload(s, v->v[i], out);
	}
	text_add_char(out, '\n');
}

static void tell_queues(const struct session *s, struct text *out)
{
	for (uint32_t i = 0; i < s->n_queues; i++) {
		const struct session_queue *q = &s->queues[i];

		text_printf(out, "queue %u, %u kinds asked for\n", q->id, q->kinds.n);
		tell_list(s, "wait", &q->pending, out);
		tell_list(s, "go", &q->victims, out);
		for (uint32_t r = 0; r < KAI_RES; r++) {
			const struct share *x = &s->shares[i].r[r];

			text_printf(out, "  %a of %a and %a, core %a, may %a, most %a\n", x->allocated, x->fair,
				    x->request, x->allocated_core, q->may[r], q->most[r]);
		}
	}
}

static void tell_session(const struct session *s, struct text *out)
{
	tell_workloads(s, out);
	tell_queues(s, out);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		for (uint32_t a = 0; a < s->n_amounts; a++) {
			size_t at = (size_t)i * s->n_amounts + a;

			text_printf(out, "node %u: %" PRId64 " of %" PRId64 ", soon %" PRId64 "\n", i, s->idle[at],
				    s->capacity[at], s->soon[at]);
		}
	for (uint32_t r = 0; r < KAI_RES; r++)
		text_printf(out, "in all %a\n", s->total[r]);
}

/* What they say is added to the two texts. False: it did not follow. */
static bool session_tell_twice(struct engine *en, int64_t now_ns, struct text *made, struct text *followed)
{
	uint64_t stamp = en->session ? en->session->stamp : 0;
	bool follows;
	struct session *x, *y;

	if (!en->session)
		return false;
	x = session_new(en, now_ns, false);
	follows = x->stamp > stamp;	    /* those of one that is made begin again */
	y = session_new(en, now_ns, false); /* the first is in use: made anew */
	tell_session(x, followed);
	tell_session(y, made);
	session_free(x);
	session_free(y);
	return follows;
}
