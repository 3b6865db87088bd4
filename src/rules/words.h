/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - names of things for the sentences of rules.
 */
#pragma once

#include "base/text.h"
#include "cluster/cluster.h"
#include "units/timestamp.h"

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
/* The time of day, up to a whole second; with the day unless it is today. */
static inline void words_until(int64_t until_ns, int64_t now_ns, struct text *out)
{
	int64_t part = until_ns % NS_PER_S;
	struct text until = {0}, now = {0};

	timestamp_text(part > 0 ? res_add_sat(until_ns, NS_PER_S - part) : until_ns, &until);
	timestamp_text(now_ns, &now);
	if (until.n >= 19 && !strncmp(text_str(&until), text_str(&now), 10))
		text_add_n(out, until.s + 11, 8);
	else
		text_add(out, text_str(&until));
	text_free(&until);
	text_free(&now);
}
