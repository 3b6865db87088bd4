/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpointed-first: if somebody has to go, then whoever loses least by it.
 *
 * Among running pods of one priority cede keeps those that run longest. A training job that wrote a checkpoint a
 * minute ago loses a minute, however long it runs, so here the latest checkpoint goes first (annotation
 * cede.dev/checkpointed-at). A pod that never wrote one goes last, and one whose checkpoint is older than the argument
 * `maxAge` (seconds, 3600 unless given) counts as if it had none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cede_plugin.h"

#define NS_PER_S INT64_C(1000000000)

struct settings {
	int64_t max_age_ns;
};

static bool read_arg(struct settings *s, const struct cede_arg *arg, char *why, size_t why_size)
{
	char *end = NULL;
	long long seconds = strtoll(arg->value, &end, 10);

	if (strcmp(arg->key, "maxAge") != 0 || end == arg->value || *end || seconds <= 0 || seconds > INT32_MAX) {
		snprintf(why, why_size, "%s: expected maxAge, a number of seconds, found '%s'", arg->key, arg->value);
		return false;
	}
	s->max_age_ns = seconds * NS_PER_S;
	return true;
}

static bool create(const struct cede_arg *args, size_t n_args, void **ret_self, char *why, size_t why_size)
{
	struct settings *s = malloc(sizeof(*s));

	s->max_age_ns = 3600 * NS_PER_S;
	for (size_t i = 0; i < n_args; i++) {
		if (!read_arg(s, &args[i], why, why_size)) {
			free(s);
			return false;
		}
	}
	*ret_self = s;
	return true;
}

/* Larger goes first: the time of the last checkpoint. */
static int64_t victim_order(void *self, const struct cede_cycle *c, cede_pod victim)
{
	const struct settings *s = self;
	int64_t at = cede_pod_checkpointed(c, victim);

	return at != INT64_MIN && cede_cycle_now(c) - at <= s->max_age_ns ? at : INT64_MIN;
}

const struct cede_plugin cede_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "checkpointed-first",
	.create = create,
	.destroy = free,
	.victim_order = victim_order,
};
