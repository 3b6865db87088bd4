/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - names of things for the sentences of rules.
 */
#pragma once

#include "ledger/cluster.h"

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
