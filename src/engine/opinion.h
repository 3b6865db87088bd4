/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opinion.h - what loaded plugins say of running pods that would have to go: may_evict and victim_order of the plugins
 * at PostFilter, in their order.
 *
 * One that answers what does not exist is switched off and has said nothing.
 */
#pragma once

#include "base/bits.h"
#include "engine/decision.h"

/* Does any plugin have a say? If not, nothing below needs to be asked. */
bool opinion_is_any(const struct cede_cycle *c);
/* Protected by the first that says so, else spared by the first that says so, else it may go. */
struct rule_verdict opinion_of(const struct cede_cycle *c, pod_id victim);
/* Whether it is spared by some and protected by none. */
static inline bool opinion_spares(const struct cede_cycle *c, pod_id victim)
{
	return opinion_of(c, victim).answer == IS_SPARED;
}
/* Two that may go alike: <0 if a stays rather than b, by the first plugin that tells them apart. */
int opinion_cmp(const struct cede_cycle *c, pod_id a, pod_id b);
