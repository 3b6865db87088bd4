/* SPDX-License-Identifier: Apache-2.0 */
/* Labels tell it what to say about a running pod: opinion=keep, spare or nonsense. */
#include "cede_plugin.h"

#include <string.h>

static struct cede_verdict may_evict(void *self, const struct cede_cycle *c, cede_pod victim)
{
	const char *opinion = cede_pod_label(c, victim, "opinion");

	(void)self;
	if (!opinion)
		return cede_ok();
	if (strcmp(opinion, "keep") == 0)
		return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
	if (strcmp(opinion, "spare") == 0)
		return cede_answer(CEDE_SKIP, 1, 0);
	return cede_answer((enum cede_code)99, 0, 0);
}

static const char *const reasons[] = {"it is labelled to be kept", "it is labelled to be spared"};

const struct cede_plugin cede_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "opinions",
	.may_evict = may_evict,
	.reasons = reasons,
	.n_reasons = 2,
};
