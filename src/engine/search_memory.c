/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes were bounded by, kept for a shape: good while the node is the same, rules say the same of every kind of
 * pod (the class is current) and time goes on. Who waits, and in which queue, does not matter.
 */
#include "engine/search_bound_internal.h"

static void memory_forget(struct bound_memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->shape);
	mem_free(m->entries);
	*m = (struct bound_memory){0};
}

void memories_free(struct search_bounds *b)
{
	for (int i = 0; i < MEMORIES; i++)
		memory_forget(&b->memories[i]);
}

static bool is_of(const struct bound_memory *m, shape_id shape)
{
	return m->vocab && m->shape == shape;
}

/* As many as there is room for so many nodes of each; the one not used for longest makes room. */
static struct bound_memory *memory_of(struct search_bounds *b, shape_id shape, uint32_t n_nodes)
{
	struct bound_memory *m = &b->memories[0];
	uint32_t n = ENTRIES / (n_nodes + 1);

	n = n < MEMORIES_MIN ? MEMORIES_MIN : n > MEMORIES ? MEMORIES : n;
	for (uint32_t i = 0; i < n && !is_of(m, shape); i++)
		if (is_of(&b->memories[i], shape) || b->memories[i].last_use < m->last_use)
			m = &b->memories[i];
	if (!is_of(m, shape)) {
		memory_forget(m);
		m->shape = shape;
		m->vocab = ledger_vocab(b->g->s->c->ledger);
		shape_keep(m->vocab, shape);
	}
	if (m->n < n_nodes) {
		m->entries = mem_resize(m->entries, n_nodes, sizeof(*m->entries));
		memset(m->entries + m->n, 0, (n_nodes - m->n) * sizeof(*m->entries));
		m->n = n_nodes;
	}
	m->last_use = ++b->clock;
	return m;
}

void memory_begin(struct search_bounds *b)
{
	const struct cede_cycle *c = b->g->s->c;

	b->memory = b->g->s->lacking ? NULL : memory_of(b, c->p->shape, ledger_node_limit(c->ledger));
}

/* Somebody who is leaving and should go by some time makes the room a matter of time. */
static bool is_lasting(const struct search_bounds *b, node_id node)
{
	return !ledger_node(b->g->s->c->ledger, node)->n_due;
}

struct bound_entry *memory_find(struct search_bounds *b, node_id node)
{
	struct bound_entry *e = b->memory ? &b->memory->entries[node] : NULL;

	return e && e->generation == ledger_node(b->g->s->c->ledger, node)->generation &&
			       b->g->s->j->now_ns < e->until_ns && class_is_current(b, e->class_at, e->class_id)
		       ? e
		       : NULL;
}

void memory_keep(struct search_bounds *b, const struct search_class *c, const struct class_node *x, node_id node,
		 const struct node_bound *bound, bool is_found)
{
	if (!b->memory || !is_lasting(b, node))
		return;
	b->memory->entries[node] = (struct bound_entry){.generation = x->generation,
							.until_ns = x->until_ns,
							.class_id = c->id,
							.class_at = (uint16_t)(c - b->classes),
							.opted_out = bound->opted_out,
							.highest = (int32_t)bound->highest,
							.lost = bound->lost,
							.refined_ns = TIME_NONE,
							.is_out = !is_found,
							.is_below = bound->is_below,
							.is_silent = !x->n_listed && !x->has_groups};
}
