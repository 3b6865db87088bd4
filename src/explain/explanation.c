/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explanation.h"

#include <inttypes.h>

#include "units/duration.h"
#include "units/timestamp.h"

static const struct pod *self(const struct explanation *x)
{
	return ledger_pod(cluster_ledger(x->view->cluster), x->pod);
}

static bool takes(const struct decision *d, pod_id pod)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (d->victims[i].pod == pod)
			return true;
	return false;
}

static void look_at(struct explanation *x, const struct decision *d)
{
	int32_t theirs;

	if (d->pod == x->pod)
		x->own = d;
	if (takes(d, x->pod))
		x->taken = d;
	if (d->pod == POD_NONE || d->pod == x->pod)
		return;
	theirs = ledger_pod(cluster_ledger(x->view->cluster), d->pod)->priority;
	if (theirs <= self(x)->priority)
		return;
	x->n_stronger++;
	if (!x->strongest || theirs > ledger_pod(cluster_ledger(x->view->cluster), x->strongest->pod)->priority)
		x->strongest = d;
}

void explanation_init(struct explanation *x, const struct plan_view *v, struct engine *en, pod_id pod)
{
	*x = (struct explanation){.view = v, .pod = pod};
	for (uint32_t i = 0; i < v->plan->v.n; i++)
		look_at(x, &v->plan->v.v[i]);
	if (x->own && x->own->n_nodes) {
		x->arena = arena_new(64 * 1024);
		cycle_begin(&x->words, engine_framework(en, pod), x->arena, pod, v->now_ns);
		x->has_words = true;
	}
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

	if (since == TIME_NONE || since > x->view->now_ns)
		return;
	text_add(out, " for ");
	duration_text_short(x->view->now_ns - since, out);
}

static void taken_sentence(const struct explanation *x, struct text *out)
{
	const struct decision *d = x->taken;
	int32_t theirs = ledger_pod(cluster_ledger(x->view->cluster), d->pod)->priority;

	pod_path(x->view, x->pod, out);
	text_printf(out, " has to go from %s: ", node_text(x->view, d->node));
	pod_path(x->view, d->pod, out);
	text_printf(out, " needs its room and has the higher priority (%d, this pod has %d). That node was chosen: ", theirs, self(x)->priority);
	tie_text(x->view, d, out);
	text_add(out, ".\n");
}

static void stays_sentence(const struct explanation *x, struct text *out)
{
	pod_path(x->view, x->pod, out);
	if (self(x)->state == POD_FINISHED) {
		text_add(out, " has finished.\n");
		return;
	}
	if (self(x)->state == POD_LEAVING) {
		text_printf(out, " is on its way out of %s.\n", node_text(x->view, self(x)->node));
		return;
	}
	text_printf(out, " stays on %s, where it has been running", node_text(x->view, self(x)->node));
	age_text(x, out);
	if (!x->n_stronger) {
		text_printf(out, ": nothing that waits has a priority above its %d.\n", self(x)->priority);
		return;
	}
	text_printf(out, ": %u waiting %s a higher priority (the highest: ", x->n_stronger, x->n_stronger == 1 ? "pod has" : "pods have");
	pod_path(x->view, x->strongest->pod, out);
	text_add(out, "), but none needs its room.\n");
}

void explanation_text(struct explanation *x, const struct look *look, struct text *out)
{
	struct text s = {0};

	if (x->own) {
		decision_text(x->view, x->own, x->has_words ? &x->words : NULL, look, out);
		return;
	}
	if (x->taken)
		taken_sentence(x, &s);
	else if (self(x)->state == POD_WAITING)
		text_add(&s, "It waits for another scheduler: its schedulerName is not one of schedulerNames.\n");
	else
		stays_sentence(x, &s);
	text_add(out, text_str(&s));
	text_free(&s);
}

/* ---- for programs ---- */

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
	static const char *const fates[] = {[FATE_REFUSED] = "refused", [FATE_FEASIBLE] = "fits", [FATE_CANDIDATE] = "fits-after-evictions",
					    [FATE_NO_HELP] = "evictions-do-not-help"};

	emit_object(e, NULL);
	emit_str(e, "node", node_text(x->view, r->node));
	emit_str(e, "result", fates[r->fate]);
	if (r->fate == FATE_FEASIBLE)
		emit_int(e, "score", r->score);
	else
		emit_status(x, e, "reason", &r->refusal);
	if (r->fate == FATE_NO_HELP)
		emit_status(x, e, "after", &r->after);
	if (r->fate == FATE_CANDIDATE) {
		emit_list(e, "victims");
		for (uint32_t i = 0; i < r->n_victims; i++) {
			struct text t = {0};

			pod_path(x->view, r->victims[i], &t);
			emit_str(e, NULL, text_str(&t));
			text_free(&t);
		}
		emit_end(e);
		emit_int(e, "budgetViolations", r->n_violations);
	}
	emit_end(e);
}

void explanation_emit(struct explanation *x, struct emit *e)
{
	struct look plain = {0};
	struct text t = {0};
	const char *end;

	emit_object(e, NULL);
	emit_str(e, "kind", "Explanation");
	pod_path(x->view, x->pod, &t);
	emit_str(e, "pod", text_str(&t));
	text_reset(&t);
	explanation_text(x, &plain, &t);
	end = strchr(text_str(&t), '\n');
	emit_strf(e, "sentence", "%.*s", end ? (int)(end - text_str(&t)) : (int)t.n, text_str(&t));
	text_free(&t);
	if (x->own) {
		emit_str(e, "outcome", outcome_text(x->own->outcome));
		if (x->own->node != NODE_NONE)
			emit_str(e, "node", node_text(x->view, x->own->node));
		if (x->own->message)
			emit_str(e, "message", x->own->message);
	}
	if (x->taken) {
		struct text by = {0};

		pod_path(x->view, x->taken->pod, &by);
		emit_str(e, "evictedFor", text_str(&by));
		text_free(&by);
	}
	emit_list(e, "nodes");
	for (uint32_t i = 0; x->own && x->has_words && i < x->own->n_nodes; i++)
		emit_node(x, e, &x->own->nodes[i]);
	emit_end(e);
	emit_end(e);
}
