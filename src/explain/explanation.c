/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explanation.h"

#include <inttypes.h>

#include "explain/spared.h"
#include "rules/judge.h"
#include "units/duration.h"
#include "units/timestamp.h"

static const struct pod *self(const struct explanation *x)
{
	return ledger_pod(cluster_ledger(x->view->cluster), x->pod);
}

static const struct victim *as_victim(const struct decision *d, pod_id pod)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (d->victims[i].pod == pod)
			return &d->victims[i];
	return NULL;
}

static struct spared_work spared_self(const struct explanation *x)
{
	return (struct spared_work){.view = x->view, .pod = x->pod, .group = GROUP_NONE};
}

/* All pods of a group wait for all its victims; this one gets the room of the pod that is explained. */
static bool is_nearer(const struct explanation *x, const struct decision *d)
{
	return d->group != GROUP_NONE && d->group == x->taken->group && d->cycle == x->taken->cycle &&
	       d->node == self(x)->node && x->taken->node != self(x)->node;
}

/* Who only gets its place now has none that others could have taken. */
static bool is_spared(const struct explanation *x)
{
	return !x->taken && self(x)->state == POD_PLACED && x->n_spared;
}

static void look_at(struct explanation *x, const struct decision *d)
{
	int32_t theirs;

	if (d->pod == x->pod)
		x->own = d;
	if (as_victim(d, x->pod) && (!x->taken || is_nearer(x, d)))
		x->taken = d;
	if (d->pod == POD_NONE || d->pod == x->pod || d->cycle > 1)
		return;
	theirs = ledger_pod(cluster_ledger(x->view->cluster), d->pod)->priority;
	if (theirs <= self(x)->priority)
		return;
	x->n_stronger++;
	if (!x->strongest || theirs > ledger_pod(cluster_ledger(x->view->cluster), x->strongest->pod)->priority)
		x->strongest = d;
}

void explanation_init(struct explanation *x, const struct plan_view *v, pod_id pod)
{
	struct spared_work spared;

	*x = (struct explanation){.view = v, .pod = pod};
	spared = spared_self(x);
	for (uint32_t i = 0; i < v->plan->v.n; i++)
		look_at(x, &v->plan->v.v[i]);
	x->n_spared = spared_count(&spared);
}

void explanation_words(struct explanation *x, struct engine *en)
{
	if (!x->own || !x->own->n_nodes)
		return;
	x->arena = arena_new(1 << 16);
	cycle_begin(&x->words, engine_framework(en, x->pod), x->arena, x->pod, x->view->now_ns);
	x->has_words = true;
}

void explanation_free(struct explanation *x)
{
	if (x->has_words)
		cycle_end(&x->words);
	arena_free(x->arena);
}

/* ---- for people ---- */

static void age_text(const struct explanation *x, struct text *out)
{
	int64_t since = self(x)->started_ns;

	if (since == TIME_NONE || since >= x->view->now_ns)
		return;
	text_add(out, " for ");
	duration_text_short(time_since(x->view->now_ns, since), out);
}

/* Why it may go, by the law of the action that takes it. */
static void law_clause(const struct explanation *x, struct text *out)
{
	const struct decision *d = x->taken;
	int32_t theirs = ledger_pod(cluster_ledger(x->view->cluster), d->pod)->priority;

	pod_path(x->view, d->pod, out);
	if (d->action == ACTION_RECLAIM) {
		text_add(out, " needs its room: ");
		reclaim_text(x->view, d, as_victim(d, x->pod), out);
		text_add_char(out, '.');
	} else if (d->action == ACTION_REQUIRED_NODE)
		text_add(out, " is a DaemonSet's pod and must run there.");
	else if (self(x)->node != d->node && !as_victim(d, x->pod)->goes_with_group)
		text_printf(out, " needs its room for its group and has the higher priority (%d, this pod has %d).",
			    theirs, self(x)->priority);
	else if (self(x)->node != d->node)
		text_printf(out, " needs room on %s and has the higher priority (%d, this pod has %d).",
			    node_text(x->view, d->node), theirs, self(x)->priority);
	else
		text_printf(out, " needs its room and has the higher priority (%d, this pod has %d).", theirs,
			    self(x)->priority);
	text_add(out, " That node was chosen: ");
	tie_text(x->view, d, out);
	text_add(out, ".");
}

static void taken_sentence(const struct explanation *x, struct text *out)
{
	const struct decision *d = x->taken;
	enum rule_id overridden = as_victim(d, x->pod)->overridden;

	pod_path(x->view, x->pod, out);
	if (d->action == ACTION_STALE_GANG) {
		text_printf(out, " has to go from %s: its group ", node_text(x->view, self(x)->node));
		group_path(x->view, d->group, out);
		text_add(out, " has run with less than its minimum for too long (stale-gang).");
		return;
	}
	if (d->pod == POD_NONE) {
		text_printf(out, " has to go from %s: %s uses more than its maximum (%s).",
			    node_text(x->view, self(x)->node), queue_path(x->view, d->queue), action_text(d->action));
		return;
	}
	if (self(x)->state == POD_LEAVING) {
		text_printf(out, " is on its way out of %s, and ", node_text(x->view, self(x)->node));
		pod_path(x->view, d->pod, out);
		text_add(out, " waits for its room.");
		return;
	}
	text_printf(out, " has to go from %s: ", node_text(x->view, self(x)->node));
	law_clause(x, out);
	if (as_victim(d, x->pod)->goes_with_group) {
		text_add(out, " It ");
		group_clause(x->view, d, as_victim(d, x->pod), out);
		text_add_char(out, '.');
	}
	if (overridden != RULE_NONE)
		text_printf(out, " It goes %s: no node offers another way.", rule_overridden_text(overridden));
}

static void stronger_clause(const struct explanation *x, struct text *out)
{
	if (!x->n_stronger) {
		text_printf(out, ": nothing that waits has a priority above its %d.", self(x)->priority);
		return;
	}
	if (x->n_stronger == 1)
		text_add(out, ": one waiting pod has a higher priority (");
	else
		text_printf(out, ": %u waiting pods have a higher priority (the first: ", x->n_stronger);
	pod_path(x->view, x->strongest->pod, out);
	text_add(out, x->n_stronger == 1 ? "), but does not take its room." : "), but none takes its room.");
}

/* Where queues decide, a higher priority alone takes nothing. */
static bool has_queues(enum profile p)
{
	return profile_get(p)->search_mode != MODE_PODS;
}

/* Nothing runs of it, and nothing ever did: it counts as finished, but that would be the wrong word. */
static bool pod_is_dropped(const struct pod *p)
{
	return p->obj->phase != PHASE_SUCCEEDED && p->obj->phase != PHASE_FAILED;
}

static void stays_sentence(const struct explanation *x, struct text *out)
{
	pod_path(x->view, x->pod, out);
	if (self(x)->state == POD_FINISHED) {
		text_add(out, pod_is_dropped(self(x)) ? " is being deleted; it never got a place." : " has finished.");
		return;
	}
	if (self(x)->state == POD_LEAVING) {
		text_printf(out, " is on its way out of %s.", node_text(x->view, self(x)->node));
		return;
	}
	text_printf(out, " stays on %s, where it has been running", node_text(x->view, self(x)->node));
	age_text(x, out);
	if (x->n_spared)
		text_printf(out, ": %u waiting %s not take its room.", x->n_spared,
			    x->n_spared == 1 ? "pod may" : "pods may");
	else if (has_queues(x->view->profile))
		text_add(out, ": nothing that waits takes its room.");
	else
		stronger_clause(x, out);
}

static void foreign_sentence(const struct explanation *x, struct text *out)
{
	pod_path(x->view, x->pod, out);
	text_add(out, " waits for another scheduler: its schedulerName is not one of schedulerNames.");
}

/* A pod may get its place in one cycle and lose it in a later one; the last word counts. */
static bool is_own_last(const struct explanation *x)
{
	return x->own && (!x->taken || x->own > x->taken);
}

void explanation_text(struct explanation *x, const struct look *look, bool is_wide, struct text *out)
{
	struct spared_work spared = spared_self(x);
	struct text s = {0};

	if (is_own_last(x)) {
		decision_text(x->view, x->own, x->has_words ? &x->words : NULL, look, is_wide, out);
		if (x->has_outlook)
			outlook_text(x->view, &x->outlook, look, out);
		return;
	}
	if (x->taken)
		taken_sentence(x, &s);
	else if (self(x)->state == POD_WAITING)
		foreign_sentence(x, &s);
	else
		stays_sentence(x, &s);
	add_sentence(look, text_str(&s), out);
	text_free(&s);
	if (is_spared(x))
		spared_table(&spared, look, out);
}

/* ---- for programs ---- */

static void emit_pod(struct explanation *x, struct emit *e, const char *key, pod_id pod)
{
	struct text t = {0};

	pod_path(x->view, pod, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void emit_status(struct explanation *x, struct emit *e, const char *key, const struct status *s)
{
	struct text t = {0};

	status_message(&x->words, s, &t);
	if (t.n)
		emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void emit_node(struct explanation *x, struct emit *e, const struct node_report *r)
{
	static const char *const fates[] = {[FATE_REFUSED] = "refused",
					    [FATE_FEASIBLE] = "fits",
					    [FATE_CANDIDATE] = "fits-after-evictions",
					    [FATE_NO_HELP] = "evictions-do-not-help",
					    [FATE_SPARED] = "not-enough-may-go",
					    [FATE_SOON] = "fits-when-leaving-pods-are-gone"};

	emit_object(e, NULL);
	emit_str(e, "node", node_text(x->view, r->node));
	emit_str(e, "result", fates[r->fate]);
	if (r->fate == FATE_FEASIBLE && x->own->tie != TIE_ONLY_ONE && x->own->outcome != OUTCOME_NOMINATED)
		emit_int(e, "score", r->score);
	if (r->fate != FATE_FEASIBLE)
		emit_status(x, e, "reason", &r->refusal);
	if (r->fate == FATE_NO_HELP)
		emit_status(x, e, "after", &r->after);
	if (r->fate == FATE_CANDIDATE) {
		emit_list(e, "victims");
		for (uint32_t i = 0; i < r->n_victims; i++)
			emit_pod(x, e, NULL, r->victims[i]);
		emit_end(e);
		emit_int(e, "budgetViolations", r->n_violations);
	}
	emit_end(e);
}

static void emit_sentence(struct explanation *x, struct emit *e)
{
	struct look plain = {0};
	struct text t = {0};
	const char *end;

	explanation_text(x, &plain, false, &t);
	end = strchr(text_str(&t), '\n');
	emit_strf(e, "sentence", "%.*s", end ? (int)(end - text_str(&t)) : (int)t.n, text_str(&t));
	text_free(&t);
}

static void emit_own(struct explanation *x, struct emit *e)
{
	const struct decision *d = x->own;

	emit_str(e, "outcome", outcome_text(d->outcome));
	if (d->action != ACTION_NONE)
		emit_str(e, "action", action_text(d->action));
	if (d->node != NODE_NONE)
		emit_str(e, "node", node_text(x->view, d->node));
	if (d->own_rule != RULE_NONE)
		emit_str(e, "rule", rule_text(d->own_rule));
	if (d->message)
		emit_str(e, "message", d->message);
	plan_emit_volumes(x->view, e, d);
	plan_emit_protected(x->view, e, d);
}

void explanation_emit(struct explanation *x, struct emit *e)
{
	struct spared_work spared = spared_self(x);

	emit_object(e, NULL);
	emit_str(e, "kind", "Explanation");
	emit_pod(x, e, "pod", x->pod);
	emit_sentence(x, e);
	if (x->own)
		emit_own(x, e);
	if (x->taken && x->taken->pod != POD_NONE)
		emit_pod(x, e, "evictedFor", x->taken->pod);
	if (is_spared(x))
		spared_emit(&spared, e);
	emit_list(e, "nodes");
	for (uint32_t i = 0; x->own && x->has_words && i < x->own->n_nodes; i++)
		emit_node(x, e, &x->own->nodes[i]);
	emit_end(e);
	if (x->has_outlook)
		outlook_emit(x->view, &x->outlook, e);
	emit_end(e);
}
