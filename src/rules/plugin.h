/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - what loaded plugins have to say of victims, beside the rule `plugin` itself, which judge_victim asks like
 * any other: may_evict and victim_order of the plugins at PostFilter, in their order.
 */
#pragma once

#include "filters/framework.h"
#include "rules/judge.h"

/* Does any plugin have a say? If not, nothing has to be asked. */
bool plugins_judge(const struct framework *f);
/* Two that may go alike: <0 if a stays rather than b, by the first plugin that tells them apart. */
int plugins_cmp(const struct cede_cycle *c, pod_id a, pod_id b);
