/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that follows the ledger. Between two cycles most of a cluster stays as it is, and making a session of all
 * of it costs more than most cycles decide. So the session of the cycle before becomes that of the next: workloads
 * that it moved, or of which the ledger says that something moved since, are read again and put where they belong in
 * the lists of their queues; nodes are read and shares divided anew. Everything else is as it was made: what searches
 * tried they took back, and stamps go on.
 *
 * Where more than places, priorities and objects of nodes changed it is made anew: objects of pods, groups or queues
 * came, went or say something else, other nodes are there, a pod went that is in a group, or amounts are so large that
 * they are shared out in units.
 */
#include <string.h>

#include "engine/session_build.h"

struct following {
	struct session *s;
	workload_list changed;
	struct bits is_changed; /* the same */
	struct bits queues;	/* in whose lists they are */
	bool has_come_or_gone;	/* some pod */
};

/* ---- what is not as it was ---- */

static void note_workload(struct following *f, uint32_t workload)
{
	uint32_t queue = f->s->workloads[workload].queue;

	if (bits_has(&f->is_changed, workload))
		return;
	bits_set(&f->is_changed, workload);
	array_push(&f->changed, workload);
	if (queue != NONE)
		bits_set(&f->queues, queue);
}

/* False: it is of no workload that is here, or leaves one that stays. */
static bool note_pod(struct following *f, pod_id pod)
{
	const struct session *s = f->s;
	uint32_t workload = pod < s->build->n_pods ? s->build->of_pod[pod] : NONE;
	const struct pod *p;

	if (workload == NONE)
		return false;
	p = ledger_pod(s->ledger, pod);
	if (session_is_on_lost_node(s, p) || (p->state == POD_FREE && s->workloads[workload].group != GROUP_NONE))
		return false;
	f->has_come_or_gone |= s->workloads[workload].group == GROUP_NONE &&
			       s->workloads[workload].n_members != (p->state != POD_FREE);
	note_workload(f, workload);
	return true;
}

static bool note_moves(struct following *f)
{
	const struct session *s = f->s;
	uint64_t end = ledger_moves(s->ledger);

	for (uint64_t i = s->build->followed; i < end; i++) {
		struct ledger_move m = ledger_get_move(s->ledger, i);

		if (m.kind == MOVED_ALL || (m.kind == MOVED_POD && !note_pod(f, m.id)))
			return false;
	}
	for (uint32_t i = 0; i < s->done.n; i++)
		note_workload(f, s->members[s->done.v[i].member].workload);
	return true;
}

static bool are_same_nodes(const struct session *s)
{
	uint32_t n, i = 0;
	const node_id *ids = framework_nodes(s->en->frameworks[0], &n);

	while (i < n && n == s->n_nodes && ids[i] == s->nodes[i].id)
		i++;
	return i == n && n == s->n_nodes;
}

static bool may_follow(struct following *f)
{
	const struct session *s = f->s;

	return !s->en->config->looks_at_all && vocab_res(ledger_vocab(s->ledger))->n == s->build->n_types &&
	       are_same_nodes(s) && session_units_stay(s) && note_moves(f);
}

/* ---- a new cycle ---- */

/* Who waited or moved: nobody else asked for anything. */
static void forget_fates(struct following *f)
{
	struct session *s = f->s;

	for (uint32_t i = 0; i < f->changed.n; i++)
		s->fates[f->changed.v[i]] = (struct workload_fate){0};
	for (uint32_t i = 0; i < s->n_queues; i++)
		for (uint32_t k = 0; k < s->queues[i].pending.n; k++)
			s->fates[s->queues[i].pending.v[k]] = (struct workload_fate){0};
}

static void forget_answers(struct session *s)
{
	for (uint32_t i = 0; i < s->n_signatures; i++) {
		const struct signature was = s->signatures[i];

		s->signatures[i] = (struct signature){
			.shape = was.shape, .example = was.example, .ask = was.ask, .is_tiny = was.is_tiny};
		memcpy(s->signatures[i].share, was.share, sizeof(was.share));
	}
	memset(s->copy_row, 0, s->n_members * sizeof(*s->copy_row)); /* nobody has two copies */
}

/* All that is of one cycle begins again; stamps and what they are compared with go on. */
static void begin_cycle(struct session *s, int64_t now_ns)
{
	const struct session was = *s;

	*s = (struct session){.en = was.en,
			      .build = was.build,
			      .ledger = was.ledger,
			      .names = was.names,
			      .settings = was.settings,
			      .arena = was.arena,
			      .now_ns = now_ns,
			      .gpu = was.gpu,
			      .n_amounts = was.n_amounts,
			      .n_nodes = was.n_nodes,
			      .n_signatures = was.n_signatures,
			      .n_members = was.n_members,
			      .n_podsets = was.n_podsets,
			      .n_workloads = was.n_workloads,
			      .n_queues = was.n_queues,
			      .nodes = was.nodes,
			      .capacity = was.capacity,
			      .idle = was.idle,
			      .soon = was.soon,
			      .signatures = was.signatures,
			      .members = was.members,
			      .podsets = was.podsets,
			      .workloads = was.workloads,
			      .searched = was.searched,
			      .fates = was.fates,
			      .by_rank = was.by_rank,
			      .queues = was.queues,
			      .first_queue = was.first_queue,
			      .shares = was.shares,
			      .settled = was.settled,
			      .copies = {was.copies.v, was.copies.n, was.copies.cap},
			      .copy_row = was.copy_row,
			      .free_copy = was.free_copy,
			      .done = {was.done.v, 0, was.done.cap},
			      .judge_stamp = was.judge_stamp,
			      .kinds = {was.kinds.v, was.kinds.n, was.kinds.cap},
			      .kind_of_rank = was.kind_of_rank,
			      .stamp = was.stamp + 1,
			      .room_stamp = was.room_stamp + 1};
	memcpy(s->amount_type, was.amount_type, sizeof(s->amount_type));
	memcpy(s->share_unit, was.share_unit, sizeof(s->share_unit));
}

static void read_changed(struct following *f)
{
	struct session *s = f->s;

	session_unlist_changed(s, &f->is_changed, &f->queues);
	for (uint32_t i = 0; i < f->changed.n; i++)
		session_read_again(s, f->changed.v[i]);
	if (f->has_come_or_gone)
		session_find_examples(s);
	session_list_changed(s, f->changed.v, f->changed.n);
	session_note_requests(s);
	session_find_kinds_again(s, f->changed.v, f->changed.n);
}

bool session_follow(struct session *s, int64_t now_ns)
{
	struct following f = {.s = s};
	bool follows = may_follow(&f);

	if (follows) {
		forget_fates(&f);
		begin_cycle(s, now_ns);
		forget_answers(s);
		session_read_nodes(s);
		read_changed(&f);
		session_divide_shares(s);
		s->build->followed = ledger_moves(s->ledger);
	}
	array_free(&f.changed);
	bits_free(&f.is_changed);
	bits_free(&f.queues);
	return follows;
}
