/* SPDX-License-Identifier: Apache-2.0 */
/* Answers, which outlive what they were made of. */
#include "api/api.h"

struct cede_result *result_new(void)
{
	return mem_alloc(sizeof(struct cede_result));
}

void cede_result_free(struct cede_result *r)
{
	if (!r)
		return;
	if (r->is_plan) {
		running_pods_free(&r->running);
		journal_run_free(&r->run);
	}
	text_free(&r->text);
	mem_free(r);
}

const char *cede_result_text(const struct cede_result *r)
{
	return r ? text_str(&r->text) : "";
}

size_t cede_result_size(const struct cede_result *r)
{
	return r ? r->text.n : 0;
}

uint32_t cede_result_count(const struct cede_result *r, enum cede_outcome outcome)
{
	if (!r || !r->is_plan)
		return 0;
	switch ((int)outcome) {
	case CEDE_PLACED:
		return r->side.placed;
	case CEDE_NOMINATED:
		return r->side.nominated;
	case CEDE_WAITING:
		return r->side.waiting;
	case CEDE_GATED:
		return r->side.gated;
	case CEDE_EVICTED:
		return r->n_victims;
	default:
		return 0;
	}
}

size_t cede_result_decisions(const struct cede_result *r)
{
	return r && r->is_plan ? r->run.n_decisions : 0;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* As much as the caller, who may know an older struct, has room for. */
static void hand_out(const void *from, size_t from_size, void *to, size_t size)
{
	memcpy(to, from, size < from_size ? size : from_size);
}

enum cede_status cede_result_decision(const struct cede_result *r, size_t i, struct cede_decision *ret, size_t size)
{
	const struct journal_decision *d;
	struct cede_decision out;

	if (!ret)
		return CEDE_MISUSE;
	if (i >= cede_result_decisions(r))
		return CEDE_NOT_FOUND;
	d = &r->run.decisions[i];
	out = (struct cede_decision){.pod = or_empty(d->pod),
				     .group = or_empty(d->group),
				     .queue = or_empty(d->queue),
				     .outcome = or_empty(d->outcome),
				     .action = or_empty(d->action),
				     .node = or_empty(d->node),
				     .rule = or_empty(d->rule),
				     .until = or_empty(d->until),
				     .message = or_empty(d->message),
				     .n_victims = d->n_victims};
	hand_out(&out, sizeof(out), ret, size);
	return CEDE_OK;
}

enum cede_status cede_result_victim(const struct cede_result *r, size_t i, size_t j, struct cede_victim *ret,
				    size_t size)
{
	const struct journal_victim *v;
	struct cede_victim out;

	if (!ret)
		return CEDE_MISUSE;
	if (i >= cede_result_decisions(r) || j >= r->run.decisions[i].n_victims)
		return CEDE_NOT_FOUND;
	v = &r->run.decisions[i].victims[j];
	out = (struct cede_victim){.pod = or_empty(v->pod),
				   .queue = or_empty(v->queue),
				   .node = or_empty(v->node),
				   .rule = or_empty(v->rule),
				   .reason = or_empty(v->reason),
				   .lost_seconds = v->lost_seconds};
	hand_out(&out, sizeof(out), ret, size);
	return CEDE_OK;
}
