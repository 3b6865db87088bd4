/* SPDX-License-Identifier: Apache-2.0 */
/* SchedulingGates: a pod with gates is not tried until whoever set them has taken them all away. */
#include "filters/builtin.h"

#include <string.h>

static struct cede_verdict pre_enqueue(void *self, const struct cede_cycle *c)
{
	return c->shape->n_gates ? cede_answer(CEDE_UNRESOLVABLE, 0, 0) : cede_ok();
}

/* Cuts what does not fit. */
static void append(char *out, size_t size, size_t *at, const char *s)
{
	size_t len = strlen(s), room = size - 1 - *at;

	len = len < room ? len : room;
	memcpy(out + *at, s, len);
	*at += len;
	out[*at] = '\0';
}

static bool reason_text(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out, size_t size)
{
	size_t at = 0;

	if (i > 0 || size == 0)
		return false;
	append(out, size, &at, "waiting for scheduling gates: [");
	for (uint32_t k = 0; k < c->shape->n_gates; k++) {
		append(out, size, &at, k ? " " : "");
		append(out, size, &at, name_str(c->names, c->shape->gates[k]));
	}
	append(out, size, &at, "]");
	return true;
}

const struct cede_plugin scheduling_gates_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "SchedulingGates",
	.pre_enqueue = pre_enqueue,
	.reason_text = reason_text,
};
