/* SPDX-License-Identifier: Apache-2.0 */
/* Words of decisions for `kubectl describe`, and events. */
#include "run/scheduler_internal.h"

enum { EVENTS_WAITING_MAX = 10000, EARLY_EVENTS_MAX = 100 }; /* what is beyond is not told */
#define FLUSH_NS (30 * NS_PER_S)

/* Who is in the way of preempting, after kube-scheduler's own sentence. */
void report_message(const struct plan_view *v, const struct decision *d, struct text *out)
{
	struct text protected = {0};

	text_add(out, d->message ? d->message : "");
	own_rule_text(v, d, out);
	if (d->outcome == OUTCOME_WAITING)
		protection_text(v, d, &protected);
	if (protected.n)
		text_printf(out, "%sNobody gives way: %s.", out->n ? " " : "", text_str(&protected));
	text_free(&protected);
}

struct events *report_recorder(struct scheduler *s, const struct pod *p)
{
	const struct engine_config *c = s->world->config;
	const char *name = str_of(s, shape_get(s->world->vocab, p->shape)->scheduler_name);

	for (uint32_t i = 0; i < c->n_scheduler_names && i < s->events.n; i++)
		if (str_eq(c->scheduler_names[i], name))
			return s->events.v[i];
	return s->events.v[0];
}

void report_event(struct scheduler *s, struct events *v, const struct kube_event *e)
{
	struct kube_write w = {0};

	if (s->o.is_dry || !s->leads || s->n_ready[TASK_EVENT] >= EVENTS_WAITING_MAX)
		return;
	if (events_note(v, e, s->now.wall_ns, &w))
		task_write(s, TASK_EVENT, &w);
	kube_write_free(&w);
}

void report_pod_event(struct scheduler *s, pod_id pod, const char *type, const char *reason, const char *action,
		      const char *note, pod_id related)
{
	const struct pod *p = ledger_pod(s->ledger, pod),
			 *other = related != POD_NONE ? ledger_pod(s->ledger, related) : NULL;
	struct uid_text uid, related_uid;
	struct kube_event e = {.api = "v1",
			       .kind = "Pod",
			       .ns = str_of(s, pod_ns(s, p)),
			       .name = str_of(s, p->name),
			       .uid = uid_str(s->names, p->obj->uid, &uid),
			       .type = type,
			       .reason = reason,
			       .action = action,
			       .note = note};

	if (other && other->obj) {
		e.related_ns = str_of(s, pod_ns(s, other));
		e.related_name = str_of(s, other->name);
		e.related_uid = uid_str(s->names, other->obj->uid, &related_uid);
	}
	report_event(s, report_recorder(s, p), &e);
}

void scheduler_event(struct scheduler *s, const struct kube_event *e, const struct moment *now)
{
	struct kube_write w = {0};

	s->now = *now;
	if (s->leads || s->o.is_dry || s->early_events.n >= EARLY_EVENTS_MAX) {
		report_event(s, s->events.v[0], e);
		return;
	}
	if (events_note(s->events.v[0], e, s->now.wall_ns, &w))
		array_push(&s->early_events, w);
}

void report_early(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->early_events.n; i++)
		task_write(s, TASK_EVENT, &s->early_events.v[i]);
	s->early_events.n = 0;
}

/* Series that ended. */
void report_flush(struct scheduler *s)
{
	struct kube_write w = {0};

	if (!s->leads || time_since(s->now.steady_ns, s->flushed_ns) < FLUSH_NS)
		return;
	s->flushed_ns = s->now.steady_ns;
	for (uint32_t i = 0; i < s->events.n; i++)
		while (s->n_ready[TASK_EVENT] < EVENTS_WAITING_MAX && events_flush(s->events.v[i], s->now.wall_ns, &w))
			task_write(s, TASK_EVENT, &w);
	kube_write_free(&w);
}
