/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - names of things for the sentences of rules.
 */
#pragma once

#include "base/text.h"
#include "cluster/cluster.h"

static inline const struct ledger *words_ledger(const struct cluster *c)
{
	return cluster_ledger(c);
}
static inline const char *words_queue(const struct cluster *c, queue_id q)
{
	const struct ledger *l = words_ledger(c);

	return q == QUEUE_NONE ? "no queue"
			       : name_str(vocab_names(ledger_vocab(l)), queue_get(ledger_queues(l), q)->path);
}
static inline const char *words_type(const struct cluster *c, res_id r)
{
	return res_type_name(vocab_res(ledger_vocab(words_ledger(c))), r);
}
static inline void words_group(const struct cluster *c, group_id g, struct text *out)
{
	const struct obj_group *o = ledger_group(words_ledger(c), g)->obj;
	const struct names *names = vocab_names(ledger_vocab(words_ledger(c)));

	text_printf(out, "%s/%s", name_str(names, o->ns), name_str(names, o->name));
}
/* "ml/train", or "ml/train (workers)" for one of several. */
static inline void words_podset(const struct cluster *c, podset_id s, struct text *out)
{
	const struct ledger *l = words_ledger(c);
	const struct names *names = vocab_names(ledger_vocab(l));
	const struct group *g = ledger_group(l, ledger_podset(l, s)->group);

	words_group(c, ledger_podset(l, s)->group, out);
	if (g->n_podsets > 1)
		text_printf(out, " (%s)", name_str(names, ledger_podset(l, s)->name));
}
