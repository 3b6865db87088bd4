/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue whose maximum was lowered has quota.preemption.delay to shrink by itself before anybody is taken from it. The
 * time runs from when it is above its maximum on; a restart begins anew, as in YuniKorn.
 */
#include "engine/quota.h"
#include "run/scheduler_internal.h"

static int64_t *since_of(struct scheduler *s, queue_id q)
{
	while (s->over_since.n <= q)
		array_push(&s->over_since, TIME_NONE);
	return &s->over_since.v[q];
}

static bool is_over(const struct scheduler *s, queue_id q)
{
	const struct queue *queue = queue_get(ledger_queues(s->ledger), q);
	struct res_vec target;

	if (!queue->is_live || queue->props.quota_delay_ns <= 0)
		return false;
	quota_target(s->ledger, q, &target);
	return target.mask != 0;
}

const struct bits *quota_held(struct scheduler *s)
{
	const struct queue_tree *t = ledger_queues(s->ledger);

	bits_reset(&s->quota_held);
	s->quota_ns = INT64_MAX;
	for (queue_id q = 0; s->world->config->quota_is_on && q < t->q.n; q++) {
		int64_t *since = since_of(s, q), due_ns;

		if (!is_over(s, q)) {
			*since = TIME_NONE;
			continue;
		}
		if (*since == TIME_NONE)
			*since = s->now.wall_ns;
		due_ns = time_add(*since, queue_get(t, q)->props.quota_delay_ns);
		if (due_ns <= s->now.wall_ns)
			continue;
		bits_set(&s->quota_held, q);
		s->quota_ns = due_ns < s->quota_ns ? due_ns : s->quota_ns;
	}
	return &s->quota_held;
}
