/* SPDX-License-Identifier: Apache-2.0 */
/* alike.h - two engines on one story, one that remembers, one that looks at everything: they have to say the same. */
#pragma once

#include "engine/search_cache.h"
#include "properties/story.h"

/* The one that looks at everything; the other is the story's own. */
static inline struct engine *alike_forgetful(const struct story *s)
{
	struct err e = {0};
	struct engine *en = engine_new(s->cluster, s->settings, NULL, 0, &e);

	story_must(en ? ERR_OK : ERR_INTERNAL, &e);
	engine_need_search_cache(en);
	search_cache_keep_nothing(en->search_cache);
	return en;
}

/* A decision in full. */
static inline void alike_tell(struct story *s, pod_id pod, const struct decision *d, struct text *out)
{
	text_printf(out, "%s: outcome %d action %d node %u tie %d next %u rule %d\n", story_name(s, pod), d->outcome,
		    d->action, d->node, d->tie, d->runner_up, d->own_rule);
	for (uint32_t i = 0; i < d->n_victims; i++)
		text_printf(out, "takes %s (%d)\n", story_name(s, d->victims[i].pod), d->victims[i].overridden);
	for (uint32_t i = 0; i < d->n_protected; i++) {
		const struct rule_verdict *v = &d->protected[i].verdict;

		text_printf(out, "leaves %s: %u %u %u %u %" PRId64 " %" PRId64 " %" PRId64 " until %" PRId64 "\n",
			    story_name(s, d->protected[i].pod), v->answer, v->rule, v->reason, v->queue, v->num[0],
			    v->num[1], v->num[2], v->until_ns);
	}
	text_printf(out, "%s\n", d->message ? d->message : "");
}

/* Decides, and says what; the moves stay. */
static inline enum outcome alike_decide(struct story *s, struct engine *en, const struct engine_run *run, pod_id pod,
					struct text *out)
{
	struct decisions plan = {.arena = arena_new(4096)};
	enum outcome outcome;
	struct err e;

	story_must(engine_try(en, run, pod, &plan, &e), &e);
	alike_tell(s, pod, &plan.v.v[0], out);
	outcome = plan.v.v[0].outcome;
	array_free(&plan.v);
	arena_free(plan.arena);
	return outcome;
}

static inline void alike_compare(uint64_t seed, uint64_t decision, const struct text *forgetful,
				 const struct text *remembering)
{
	if (!str_eq(text_str(forgetful), text_str(remembering)))
		fail_msg("cluster %" PRIu64 ", decision %" PRIu64 ": looking at everything:\n%sremembering:\n%s", seed,
			 decision, text_str(forgetful), text_str(remembering));
}

/* The first pod in this state from one on, POD_NONE if there is none. */
static inline pod_id alike_some(const struct story *s, enum pod_state state, uint32_t from)
{
	const struct ledger *l = cluster_ledger(s->cluster);
	uint32_t limit = ledger_pod_limit(l);

	for (uint32_t i = 0; i < limit; i++)
		if (ledger_pod(l, (from + i) % limit)->state == state)
			return (from + i) % limit;
	return POD_NONE;
}
