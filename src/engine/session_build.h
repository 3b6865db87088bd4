/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_build.h - how a session is made of the ledger, and what of it is kept for the next one. For session.c,
 * session_members.c and session_follow.c.
 *
 * A session is made once (session.c) and then follows the ledger from cycle to cycle (session_follow.c): workloads of
 * which something moved are read anew, all others are as they were. Arrays that are kept lie in an arena of their own.
 */
#pragma once

#include "engine/session.h"

struct session_build {
	struct arena *arena;	     /* of what is kept */
	uint32_t *of_group, *of_pod; /* workload; NONE */
	uint32_t n_pods, n_groups;   /* ids below this; so many workloads are groups, the first ones */
	uint32_t *node_index, *queue_index, *signature_of;
	name_id task_priority;
	uint32_t n_types;		  /* of resources */
	uint64_t followed;		  /* ledger_moves: everything before is in the session */
	unsigned __int128 asked[KAI_RES]; /* all that pods ask for and take */
	double foreign[KAI_RES];	  /* what pods of other schedulers take */
	struct share_queue *counted;	  /* shares with what is in leaf queues, before they are added up and divided */
};

/* ---- session.c ---- */
/* What is in the ledger on the nodes, which are the same as ever. */
void session_read_nodes(struct session *s);
/* May amounts be shared out as they are, whatever pods come back that are gone now? */
bool session_units_stay(const struct session *s);
/* What is counted in leaf queues, added up and divided. */
void session_divide_shares(struct session *s);
static inline double session_shared(const struct session *s, enum kai_res r, int64_t amount)
{
	return (double)(amount - amount % s->share_unit[r]);
}
/* Its node is not there, so it takes nobody's room and cannot be moved. */
static inline bool session_is_on_lost_node(const struct session *s, const struct pod *p)
{
	return (p->state == POD_PLACED || p->state == POD_LEAVING) && !ledger_node(s->ledger, p->node)->is_live;
}

/* ---- session_members.c ---- */
void session_take_workloads(struct session *s);
void session_take_members(struct session *s);  /* after podsets were made */
void session_count_members(struct session *s); /* into podsets, workloads and leaf queues */
/*
 * A workload of which something moved: as it was when it was read last it counts no longer, then it is read and counted
 * again. A pod alone that is gone leaves a workload without members.
 */
void session_read_again(struct session *s, uint32_t workload);
/* The first pod of each signature, by id: after pods came or went. */
void session_find_examples(struct session *s);

/* ---- session_moves.c ---- */
void session_push_copy(struct session *s, struct member *m, uint32_t node); /* of it on the node; nobody is told */

/* ---- session_lists.c ---- */
/* What is asked for next, of all who are listed as pending. */
void session_note_requests(struct session *s);
/* Those in changed, which are not as they were, out of the lists of these queues; and in again. */
void session_unlist_changed(struct session *s, const struct bits *changed, const struct bits *queues);
void session_list_changed(struct session *s, const uint32_t *changed, uint32_t n);

/* ---- session_kinds.c ---- */
/* After these were read again. */
void session_find_kinds_again(struct session *s, const uint32_t *changed, uint32_t n);

/* ---- session_follow.c ---- */
/* The session of the cycle before becomes one of this cycle. False: it has to be made anew. */
bool session_follow(struct session *s, int64_t now_ns);
