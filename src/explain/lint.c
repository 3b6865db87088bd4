/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/lint_internal.h"

#include <stdarg.h>
#include <stdlib.h>

#include "rules/judge.h"

void lint_add(struct lint *l, enum lint_level level, const char *rule, const char *subject, const char *fmt, ...)
{
	struct text t = {0};
	struct lint_finding f = {.level = level, .rule = rule};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	f.subject = arena_strndup(l->arena, subject, strlen(subject));
	f.text = arena_strndup(l->arena, text_str(&t), t.n);
	array_push(&l->v, f);
	text_free(&t);
}

const char *lint_path(const struct look_at *a, queue_id q)
{
	return name_str(a->names, queue_get(a->tree, q)->path);
}

const char *lint_queue(const struct look_at *a, queue_id q)
{
	return arena_printf(a->out->arena, "queue %s", lint_path(a, q));
}

const char *lint_group(const struct look_at *a, const struct group *g)
{
	return arena_printf(a->out->arena, "group %s/%s", name_str(a->names, g->obj->ns),
			    name_str(a->names, g->obj->name));
}

/* Amounts in words, good until the lint is freed. */
const char *lint_amount(const struct look_at *a, res_id r, int64_t v)
{
	struct text t = {0};
	const char *s;

	res_amount_text(r, v, &t);
	s = arena_strndup(a->out->arena, text_str(&t), t.n);
	text_free(&t);
	return s;
}

static bool is_asked(const struct queue *q)
{
	return q->is_live;
}

/* ---- guarantees ---- */

/* What the queue is guaranteed, or its children together where it says nothing itself. */
static int64_t guaranteed(const struct look_at *a, queue_id q, res_id r)
{
	const struct queue *queue = queue_get(a->tree, q);
	int64_t own = queue_guarantee(queue, r), sum = 0;

	if (own > 0)
		return own;
	for (uint32_t i = 0; i < queue->children.n; i++)
		sum = res_add_sat(sum, guaranteed(a, queue->children.v[i], r));
	return sum;
}

static void check_over_subscribed(const struct look_at *a, res_id r)
{
	int64_t capacity = ledger_capacity(a->l)[r], sum = 0;
	const struct queue *root = queue_get(a->tree, QUEUE_ROOT);

	for (uint32_t i = 0; i < root->children.n; i++) {
		int64_t p = guaranteed(a, root->children.v[i], r);

		sum = p == RES_UNLIMITED ? sum : res_add_sat(sum, p);
	}
	if (sum > capacity)
		lint_add(a->out, LINT_WARNING, "over-subscribed", "queue root",
			 "%s of %s are guaranteed and the cluster has %s: not every queue can get what it is "
			 "guaranteed, and the last ones to ask will wait",
			 lint_amount(a, r, sum), res_type_name(a->types, r), lint_amount(a, r, capacity));
}

static void check_unlimited(const struct look_at *a, queue_id q)
{
	const struct queue *queue = queue_get(a->tree, q);
	struct text which = {0};

	for (uint64_t left = queue->spec.guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (queue_guarantee(queue, r) == RES_UNLIMITED)
			text_printf(&which, "%s%s", which.n > 0 ? " and " : "", res_type_name(a->types, r));
	}
	if (which.n > 0)
		lint_add(a->out, LINT_NOTE, "unlimited", lint_queue(a, q),
			 "its guarantee of %s is without end: it may always reclaim, and nothing is ever taken back "
			 "from it",
			 text_str(&which));
	text_free(&which);
}

static void check_guarantee(const struct look_at *a, queue_id q, res_id r)
{
	const struct queue *queue = queue_get(a->tree, q);
	int64_t g = queue_guarantee(queue, r), capacity = ledger_capacity(a->l)[r], sum = 0;

	if (g == RES_UNLIMITED)
		return;
	if (g > capacity)
		lint_add(a->out, LINT_WARNING, "impossible-guarantee", lint_queue(a, q),
			 "it guarantees %s of %s and all nodes together have %s", lint_amount(a, r, g),
			 res_type_name(a->types, r), lint_amount(a, r, capacity));
	for (uint32_t i = 0; i < queue->children.n; i++)
		sum = res_add_sat(sum, guaranteed(a, queue->children.v[i], r));
	if (g > 0 && sum > g && sum != RES_UNLIMITED)
		lint_add(a->out, LINT_WARNING, "over-subscribed", lint_queue(a, q),
			 "its children are guaranteed %s of %s together and it is guaranteed %s",
			 lint_amount(a, r, sum), res_type_name(a->types, r), lint_amount(a, r, g));
}

/* ---- fences ---- */

static bool has_guarantee(const struct look_at *a, queue_id q)
{
	const struct queue *queue = queue_get(a->tree, q);

	if (!res_vec_is_zero(&queue->spec.guaranteed))
		return true;
	for (uint32_t i = 0; i < queue->children.n; i++)
		if (has_guarantee(a, queue->children.v[i]))
			return true;
	return false;
}

static queue_id outer_fence(const struct look_at *a, queue_id q)
{
	do
		q = queue_get(a->tree, q)->parent;
	while (q != QUEUE_ROOT && queue_get(a->tree, q)->props.preemption_policy != POLICY_FENCE);
	return q;
}

/* Is there a leaf inside outer but outside q? */
static bool has_leaf_outside(const struct look_at *a, queue_id outer, queue_id q)
{
	for (queue_id i = 0; i < a->tree->q.n; i++)
		if (is_asked(queue_get(a->tree, i)) && queue_is_leaf(a->tree, i) && queue_is_above(a->tree, outer, i) &&
		    !queue_is_above(a->tree, q, i))
			return true;
	return false;
}

static void check_fence(const struct look_at *a, queue_id q)
{
	const struct queue *queue = queue_get(a->tree, q);

	if (!(queue->spec.props.stated & STATED_PREEMPTION_POLICY) ||
	    queue->spec.props.preemption_policy != POLICY_FENCE)
		return;
	if (q == QUEUE_ROOT)
		lint_add(a->out, LINT_WARNING, "dead-fence", "queue root", "a fence on the root has no effect");
	else if (!has_guarantee(a, q))
		lint_add(a->out, LINT_WARNING, "dead-fence", lint_queue(a, q),
			 "its fence never matters: nothing inside has a guarantee, so nothing inside ever reclaims");
	else if (!has_leaf_outside(a, outer_fence(a, q), q))
		lint_add(a->out, LINT_WARNING, "dead-fence", lint_queue(a, q),
			 "its fence never matters: there is no other queue to keep its work away from");
}

/* ---- work that can never run ---- */

static void check_maximum(const struct look_at *a, queue_id q)
{
	const struct res_vec *max = &queue_get(a->tree, q)->spec.max;

	for (uint64_t left = max->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (max->v[r] == 0)
			lint_add(a->out, LINT_WARNING, "never-runs", lint_queue(a, q),
				 "its maximum of %s is 0: work that asks for it can never be placed",
				 res_type_name(a->types, r));
	}
}

static bool any_node_holds(const struct look_at *a, const struct shape *s, res_id *ret_type)
{
	for (node_id n = 0; n < ledger_node_limit(a->l); n++) {
		bool fits = ledger_node(a->l, n)->is_live;

		for (uint32_t i = 0; fits && i < s->request.n; i++) {
			fits = s->request.v[i].amount <= ledger_node_allocatable(a->l, n)[s->request.v[i].type];
			*ret_type = fits ? *ret_type : s->request.v[i].type;
		}
		if (fits)
			return true;
	}
	return false;
}

const char *lint_pod(const struct look_at *a, const struct pod *p)
{
	return arena_printf(a->out->arena, "pod %s/%s",
			    name_str(a->names, labelset_get(ledger_vocab(a->l), p->labelset)->ns),
			    name_str(a->names, p->name));
}

static void check_path(const struct look_at *a, const struct pod *p, const struct shape *s)
{
	for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(a->tree, q)->parent) {
		const struct res_vec *max = &queue_get(a->tree, q)->spec.max;

		for (uint32_t i = 0; i < s->request.n; i++) {
			res_id r = s->request.v[i].type;

			if (!res_has(max, r) || s->request.v[i].amount <= max->v[r])
				continue;
			lint_add(a->out, LINT_WARNING, "never-runs", lint_pod(a, p),
				 "it asks for %s of %s and its queue %s may use at most %s",
				 lint_amount(a, r, s->request.v[i].amount), res_type_name(a->types, r), lint_path(a, q),
				 lint_amount(a, r, max->v[r]));
			return;
		}
	}
}

static void check_pod(const struct look_at *a, pod_id id)
{
	const struct pod *p = ledger_pod(a->l, id);
	const struct shape *s;
	res_id r = RES_CPU;

	if (p->state != POD_WAITING)
		return;
	s = shape_get(ledger_vocab(a->l), p->shape);
	if (p->queue == QUEUE_NONE)
		lint_add(a->out, LINT_WARNING, "no-queue", lint_pod(a, p),
			 "its queue \"%s\" does not exist or is not a leaf: it waits for ever",
			 cluster_wanted_queue(a->cluster, id));
	else
		check_path(a, p, s);
	if (!any_node_holds(a, s, &r))
		lint_add(a->out, LINT_WARNING, "never-runs", lint_pod(a, p),
			 "no node is big enough, even empty: it asks for %s of %s",
			 lint_amount(a, r, res_list_get(&s->request, r)), res_type_name(a->types, r));
}

/* ---- all ---- */

static void check_queues(const struct look_at *a, queue_id q)
{
	const struct queue *queue = queue_get(a->tree, q);

	for (uint64_t left = queue->spec.guaranteed.mask; left; left &= left - 1)
		check_guarantee(a, q, (res_id)__builtin_ctzll(left));
	check_unlimited(a, q);
	check_fence(a, q);
	check_maximum(a, q);
	for (uint32_t i = 0; i < queue->children.n; i++)
		check_queues(a, queue->children.v[i]);
}

static int by_subject(const void *x, const void *y)
{
	const struct lint_finding *a = x, *b = y;
	int d = strcmp(a->rule, b->rule);

	if (!d)
		d = strcmp(a->subject, b->subject);
	return d ? d : strcmp(a->text, b->text);
}

void lint_cluster(struct lint *l, struct cluster *c)
{
	struct ledger *ledger = cluster_ledger(c);
	struct look_at a = {.out = l,
			    .cluster = c,
			    .l = ledger,
			    .tree = ledger_queues(ledger),
			    .names = vocab_names(ledger_vocab(ledger)),
			    .types = vocab_res(ledger_vocab(ledger))};
	uint32_t from = l->v.n;

	for (res_id r = 0; r < a.types->n; r++)
		check_over_subscribed(&a, r);
	check_queues(&a, QUEUE_ROOT);
	for (pod_id i = 0; i < ledger_pod_limit(ledger); i++)
		check_pod(&a, i);
	lint_together(&a);
	lint_volumes(&a);
	lint_nodes(&a);
	if (l->v.n > from)
		qsort(l->v.v + from, l->v.n - from, sizeof(*l->v.v), by_subject);
}

void lint_add_note(struct lint *l, const char *note)
{
	lint_add(l, LINT_WARNING, "input", "", "%s", note);
}

void lint_free(struct lint *l)
{
	array_free(&l->v);
	arena_free(l->arena);
}

void lint_text(const struct lint *l, const struct look *look, struct text *out)
{
	for (uint32_t i = 0; i < l->v.n; i++) {
		const struct lint_finding *f = &l->v.v[i];

		text_add_toned(out, look, f->level == LINT_WARNING ? TONE_WARN : TONE_FAINT,
			       f->level == LINT_WARNING ? "warning" : "note");
		text_printf(out, " %s: ", f->rule);
		if (*f->subject) {
			text_add_visible(out, f->subject);
			text_add(out, ": ");
		}
		text_add_visible(out, f->text);
		text_add_char(out, '\n');
	}
	text_printf(out, "%u %s\n", l->v.n, l->v.n == 1 ? "finding" : "findings");
}

void lint_emit(const struct lint *l, struct emit *e)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "Lint");
	emit_list(e, "findings");
	for (uint32_t i = 0; i < l->v.n; i++) {
		emit_object(e, NULL);
		emit_str(e, "level", l->v.v[i].level == LINT_WARNING ? "warning" : "note");
		emit_str(e, "rule", l->v.v[i].rule);
		if (*l->v.v[i].subject)
			emit_str(e, "subject", l->v.v[i].subject);
		emit_str(e, "text", l->v.v[i].text);
		emit_end(e);
	}
	emit_end(e);
	emit_end(e);
}
