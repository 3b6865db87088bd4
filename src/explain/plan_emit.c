/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as data. */
#include "explain/emit_fields.h"
#include "explain/plan_view.h"
#include "rules/judge.h"

static const struct names *names_of(const struct plan_view *v)
{
	return vocab_names(ledger_vocab(cluster_ledger(v->cluster)));
}

void pod_path(const struct plan_view *v, pod_id pod, struct text *out)
{
	struct ledger *l = cluster_ledger(v->cluster);
	const struct pod *p = ledger_pod(l, pod);
	name_id ns = labelset_get(ledger_vocab(l), p->labelset)->ns;

	text_printf(out, "%s/%s", name_str(names_of(v), ns), name_str(names_of(v), p->name));
}

void group_path(const struct plan_view *v, group_id g, struct text *out)
{
	const struct obj_group *o = ledger_group(cluster_ledger(v->cluster), g)->obj;

	text_printf(out, "%s/%s", name_str(names_of(v), o->ns), name_str(names_of(v), o->name));
}

const char *queue_path(const struct plan_view *v, queue_id q)
{
	return q == QUEUE_NONE ? ""
			       : name_str(names_of(v), queue_get(ledger_queues(cluster_ledger(v->cluster)), q)->path);
}

const char *node_text(const struct plan_view *v, node_id n)
{
	return n == NODE_NONE ? "" : name_str(names_of(v), ledger_node(cluster_ledger(v->cluster), n)->name);
}

bool is_of_namespace(const struct plan_view *v, pod_id pod)
{
	struct ledger *l = cluster_ledger(v->cluster);

	return !v->ns ||
	       str_eq(name_str(names_of(v), labelset_get(ledger_vocab(l), ledger_pod(l, pod)->labelset)->ns), v->ns);
}

/* Its own pod, or one that has to go. */
bool is_told(const struct plan_view *v, const struct decision *d)
{
	if (!v->ns || (d->pod != POD_NONE && is_of_namespace(v, d->pod)))
		return true;
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (is_of_namespace(v, d->victims[i].pod))
			return true;
	return false;
}

static void emit_pod(const struct plan_view *v, struct emit *e, const char *key, pod_id pod)
{
	struct text t = {0};

	pod_path(v, pod, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void emit_group(const struct plan_view *v, struct emit *e, const char *key, group_id g)
{
	struct text t = {0};

	if (g == GROUP_NONE)
		return;
	group_path(v, g, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void emit_amount(struct emit *e, const char *key, res_id r, int64_t amount)
{
	struct text t = {0};

	res_amount_exact(r, amount, &t);
	emit_str(e, key, amount == RES_UNLIMITED ? "unlimited" : text_str(&t));
	text_free(&t);
}

static void emit_side(const struct plan_view *v, struct emit *e, const char *key, const struct queue_side *s, res_id r)
{
	emit_object(e, key);
	emit_str(e, "queue", queue_path(v, s->queue));
	emit_amount(e, "used", r, s->used);
	if (v->by_fair_share)
		emit_amount(e, "fairShare", r, s->entitled);
	else if (s->entitled)
		emit_amount(e, "guaranteed", r, s->entitled);
	emit_end(e);
}

/* "reason", and the numbers behind it: of the type that was short, what both queues used and are entitled to. */
static void emit_why(const struct plan_view *v, struct emit *e, const struct decision *d, const struct victim *x)
{
	struct eviction_numbers n = eviction_numbers(v, d, x);
	struct text why = {0};

	eviction_text(v, d, x, &why);
	emit_some(e, "reason", text_str(&why));
	text_free(&why);
	if (n.type == RES_NONE)
		return;
	emit_str(e, "type", res_type_name(vocab_res(ledger_vocab(cluster_ledger(v->cluster))), n.type));
	emit_side(v, e, "taker", &n.taker, n.type);
	emit_side(v, e, "loser", &n.loser, n.type);
}

static void emit_victims(const struct plan_view *v, struct emit *e, const struct decision *d)
{
	emit_list(e, "victims");
	for (uint32_t i = 0; i < d->n_victims; i++) {
		const struct victim *x = &d->victims[i];

		emit_object(e, NULL);
		emit_pod(v, e, "pod", x->pod);
		emit_some(e, "queue", queue_path(v, x->queue));
		emit_some(e, "node", node_text(v, x->node));
		emit_some(e, "rule", rule_text(x->overridden));
		emit_int(e, "lostSeconds", x->lost_ns / NS_PER_S);
		if (x->goes_with_group)
			emit_group(v, e, "withGroup", ledger_pod(cluster_ledger(v->cluster), x->pod)->group);
		emit_why(v, e, d, x);
		emit_end(e);
	}
	emit_end(e);
}

void plan_emit_verdict(const struct plan_view *v, struct emit *e, const struct rule_verdict *says)
{
	struct text t = {0};

	emit_some(e, "rule", rule_verdict_name(says));
	rule_verdict_text(v->cluster, says, &t);
	emit_some(e, "reason", text_str(&t));
	emit_time(e, "until", says->until_ns);
	text_free(&t);
}

void plan_emit_volumes(const struct plan_view *v, struct emit *e, const struct decision *d)
{
	if (!d->n_volumes)
		return;
	emit_list(e, "volumes");
	for (uint32_t i = 0; i < d->n_volumes; i++) {
		const struct decided_volume *x = &d->volumes[i];

		emit_object(e, NULL);
		emit_strf(e, "claim", "%s/%s", name_str(names_of(v), x->ns), name_str(names_of(v), x->claim));
		if (x->volume)
			emit_str(e, "volume", name_str(names_of(v), x->volume));
		else
			emit_bool(e, "provision", true);
		emit_end(e);
	}
	emit_end(e);
}

static void emit_overdue(const struct plan_view *v, struct emit *e, const struct overdue *o)
{
	if (o->node == NODE_NONE)
		return;
	emit_object(e, "overdue");
	emit_str(e, "node", node_text(v, o->node));
	emit_int(e, "pods", o->n);
	emit_int(e, "seconds", o->for_ns / NS_PER_S);
	emit_end(e);
}

void plan_emit_decision(const struct plan_view *v, struct emit *e, const struct decision *d)
{
	emit_object(e, NULL);
	if (d->pod != POD_NONE)
		emit_pod(v, e, "pod", d->pod);
	emit_group(v, e, "group", d->group);
	emit_some(e, "queue", queue_path(v, d->queue));
	emit_str(e, "outcome", outcome_text(d->outcome));
	emit_some(e, "action", action_text(d->action));
	emit_some(e, "node", node_text(v, d->node));
	if (d->cycle > 1)
		emit_int(e, "cycle", d->cycle);
	emit_victims(v, e, d);
	plan_emit_protected(v, e, d);
	emit_some(e, "rule", rule_text(d->own_rule));
	emit_time(e, "until", d->until_ns);
	emit_overdue(v, e, &d->overdue);
	plan_emit_volumes(v, e, d);
	emit_some(e, "message", d->message);
	emit_end(e);
}

void plan_view_emit(const struct plan_view *v, struct emit *e)
{
	const struct decisions *p = v->plan;
	struct plan_counts n = plan_counts(v);

	emit_object(e, NULL);
	emit_str(e, "kind", "Plan");
	emit_time(e, "now", v->now_ns);
	emit_str(e, "profile", profile_text(v->profile));
	emit_list(e, "decisions");
	for (uint32_t i = 0; i < p->v.n; i++)
		if (is_told(v, &p->v.v[i]))
			plan_emit_decision(v, e, &p->v.v[i]);
	emit_end(e);
	emit_object(e, "summary");
	emit_int(e, "placed", n.placed);
	emit_int(e, "nominated", n.nominated);
	emit_int(e, "waiting", n.waiting);
	emit_int(e, "gated", n.gated);
	emit_int(e, "victims", n.victims);
	emit_end(e);
	emit_end(e);
}
