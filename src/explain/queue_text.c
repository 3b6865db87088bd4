/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/queue_text.h"

#include "base/bits.h"
#include "explain/emit_fields.h"
#include "rules/judge.h"

/* ---- what the plan says of it ---- */

enum { HOLDS_MAX = 32 };

struct hold { /* what one rule keeps from the queue's waiting work */
	const char *rule;
	bool is_own;   /* it holds back waiting pods themselves */
	uint32_t pods; /* that are protected, or held back */
	struct res_vec amounts;
	int64_t first_ns, last_ns;	     /* when it ends; TIME_NONE: not by itself */
	const struct protected_pod *example; /* NULL for own rules */
	bool is_cut;			     /* there may be more pods */
};

struct queue_page {
	const struct plan_view *v;
	const struct ledger *l;
	const struct queue_tree *tree;
	queue_id id;
	struct res_vec asked, gets; /* by pods that keep waiting; by those that get room */
	uint32_t waiting, gated, placed, nominated, losing, taking;
	const struct decision *waits;
	uint64_t short_types;
	uint32_t n_holds;
	struct hold holds[HOLDS_MAX];
	struct bits seen; /* pods that were counted as protected */
};

static bool is_inside(const struct queue_page *x, queue_id q)
{
	return q != QUEUE_NONE && queue_is_above(x->tree, x->id, q);
}

static const struct shape *shape_of(const struct queue_page *x, pod_id pod)
{
	return shape_get(ledger_vocab(x->l), ledger_pod(x->l, pod)->shape);
}

static void count_own(struct queue_page *x, const struct decision *d)
{
	const struct res_list *asks = &shape_of(x, d->pod)->request;

	x->placed += d->outcome == OUTCOME_PLACED;
	x->nominated += d->outcome == OUTCOME_NOMINATED;
	x->gated += d->outcome == OUTCOME_GATED;
	x->waiting += d->outcome == OUTCOME_WAITING;
	if (d->outcome == OUTCOME_PLACED || d->outcome == OUTCOME_NOMINATED)
		res_vec_add_list(&x->gets, asks);
	else if (d->outcome == OUTCOME_WAITING)
		res_vec_add_list(&x->asked, asks);
	if (d->outcome == OUTCOME_WAITING && !x->waits)
		x->waits = d;
}

static struct hold *hold_for(struct queue_page *x, const char *rule, bool is_own)
{
	uint32_t i = 0;

	while (i < x->n_holds && (!str_eq(x->holds[i].rule, rule) || x->holds[i].is_own != is_own))
		i++;
	if (i == HOLDS_MAX)
		return &x->holds[HOLDS_MAX - 1];
	if (i == x->n_holds)
		x->holds[x->n_holds++] =
			(struct hold){.rule = rule, .is_own = is_own, .first_ns = TIME_NONE, .last_ns = TIME_NONE};
	return &x->holds[i];
}

static void add_until(struct hold *h, int64_t until_ns)
{
	if (until_ns == TIME_NONE)
		return;
	if (h->first_ns == TIME_NONE || until_ns < h->first_ns)
		h->first_ns = until_ns;
	if (h->last_ns == TIME_NONE || until_ns > h->last_ns)
		h->last_ns = until_ns;
}

static void count_holds(struct queue_page *x, const struct decision *d)
{
	struct hold *h;

	if (d->own_rule != RULE_NONE) {
		h = hold_for(x, rule_text(d->own_rule), true);
		h->pods++;
		res_vec_add_list(&h->amounts, &shape_of(x, d->pod)->request);
		add_until(h, d->until_ns);
	}
	for (uint32_t i = 0; i < d->n_protected; i++) {
		const struct protected_pod *p = &d->protected[i];

		if (bits_has(&x->seen, p->pod))
			continue;
		bits_set(&x->seen, p->pod);
		h = hold_for(x, rule_verdict_name(&p->verdict), false);
		h->pods++;
		h->example = h->example ? h->example : p;
		h->is_cut |= protected_are_cut(d);
		res_vec_add_list(&h->amounts, &shape_of(x, p->pod)->usage);
		add_until(h, p->verdict.until_ns);
	}
}

static void count_victims(struct queue_page *x, const struct decision *d, struct bits *gone)
{
	for (uint32_t i = 0; i < d->n_victims; i++) {
		if (bits_has(gone, d->victims[i].pod))
			continue;
		bits_set(gone, d->victims[i].pod);
		x->losing += is_inside(x, d->victims[i].queue);
		x->taking += d->pod != POD_NONE && is_inside(x, d->queue) && !is_inside(x, d->victims[i].queue);
	}
}

/*
 * What is guaranteed of the types that waiting work asks for. A guarantee without end says nothing beside one that has
 * an end: a queue that is over its GPUs is not short of CPUs.
 */
static uint64_t guaranteed_types(const struct queue_page *x)
{
	uint64_t types = 0, endless = 0;

	for (uint64_t left = x->asked.mask | x->gets.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t g = queue_guarantee(queue_get(x->tree, x->id), r);

		if (g > 0 && x->asked.v[r] + x->gets.v[r] > 0)
			*(g == RES_UNLIMITED ? &endless : &types) |= UINT64_C(1) << r;
	}
	return types ? types : endless;
}

/* Guaranteed more than it uses. */
static uint64_t short_types(const struct queue_page *x)
{
	const int64_t *used = ledger_queue_used(x->l, x->id);
	uint64_t types = 0;

	for (uint64_t left = guaranteed_types(x); left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (queue_guarantee(queue_get(x->tree, x->id), r) > used[r])
			types |= UINT64_C(1) << r;
	}
	return types;
}

static void page_init(struct queue_page *x, const struct plan_view *v, queue_id q)
{
	struct bits gone = {0};

	*x = (struct queue_page){.v = v, .l = cluster_ledger(v->cluster), .id = q};
	x->tree = ledger_queues(x->l);
	for (uint32_t i = 0; i < v->plan->v.n; i++) {
		const struct decision *d = &v->plan->v.v[i];

		if (d->cycle > 1)
			break;
		count_victims(x, d, &gone);
		if (d->pod == POD_NONE || !is_inside(x, d->queue) || ledger_pod(x->l, d->pod)->state != POD_WAITING)
			continue;
		count_own(x, d);
		if (d->outcome == OUTCOME_WAITING)
			count_holds(x, d);
	}
	x->short_types = short_types(x);
	bits_free(&gone);
}

static void page_free(struct queue_page *x)
{
	bits_free(&x->seen);
}

const struct decision *queue_waits(const struct plan_view *v, queue_id q)
{
	const struct decision *waits;
	struct queue_page x;

	page_init(&x, v, q);
	waits = x.waits;
	page_free(&x);
	return waits;
}

/* ---- for people ---- */

static const struct res_types *types_of(const struct queue_page *x)
{
	return vocab_res(ledger_vocab(x->l));
}

static void amount_text(res_id r, int64_t amount, struct text *out)
{
	if (amount == RES_UNLIMITED)
		text_add(out, "unlimited");
	else
		res_amount_text(r, amount, out);
}

/* "8 of 12 guaranteed nvidia.com/gpu", for each of these types. */
static void use_text(const struct queue_page *x, uint64_t types, struct text *out)
{
	const int64_t *used = ledger_queue_used(x->l, x->id);
	bool is_first = true;

	text_add(out, "it uses ");
	for (uint64_t left = types; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		text_add(out, is_first ? "" : ", ");
		amount_text(r, used[r], out);
		text_add(out, " of ");
		amount_text(r, queue_guarantee(queue_get(x->tree, x->id), r), out);
		text_printf(out, " guaranteed %s", res_type_name(types_of(x), r));
		is_first = false;
	}
}

static bool is_guaranteed_anything(const struct queue_page *x)
{
	for (uint64_t left = queue_get(x->tree, x->id)->spec.guaranteed.mask; left; left &= left - 1)
		if (queue_guarantee(queue_get(x->tree, x->id), (res_id)__builtin_ctzll(left)) > 0)
			return true;
	return false;
}

static void standing_text(const struct queue_page *x, struct text *out)
{
	uint64_t types = guaranteed_types(x);

	text_add(out, x->short_types ? " is short: " : " is not short: ");
	if (x->short_types)
		use_text(x, x->short_types, out);
	else if (!x->waiting && !x->nominated && !x->placed)
		text_add(out, "nothing waits in it");
	else if (types)
		use_text(x, types, out);
	else if (!is_guaranteed_anything(x))
		text_add(out, "nothing is guaranteed to it");
	else
		text_add(out, "nothing that waits in it asks for what is guaranteed to it");
}

static void sentence(const struct queue_page *x, struct text *out)
{
	text_printf(out, "Queue %s", queue_path(x->v, x->id));
	standing_text(x, out);
	text_add_char(out, '.');
	if (x->placed + x->nominated)
		text_printf(out, " %u of its pods %s room in this plan", x->placed + x->nominated,
			    x->placed + x->nominated == 1 ? "gets" : "get");
	if (x->taking)
		text_printf(out, ", for which %u of other queues %s to go", x->taking, x->taking == 1 ? "has" : "have");
	if (x->placed + x->nominated)
		text_add_char(out, '.');
	if (x->waiting)
		text_printf(out, " %u %s waiting.", x->waiting, x->waiting == 1 ? "keeps" : "keep");
	if (x->losing)
		text_printf(out, " %u of its pods %s to go.", x->losing, x->losing == 1 ? "has" : "have");
}

static void cell_amount(struct table *t, bool has, res_id r, int64_t amount)
{
	struct text s = {0};

	if (has)
		amount_text(r, amount, &s);
	else
		text_add_char(&s, '-');
	table_cell(t, TONE_PLAIN, "%s", text_str(&s));
	text_free(&s);
}

static void amounts_table(const struct queue_page *x, const struct look *look, struct text *out)
{
	const struct queue_spec *spec = &queue_get(x->tree, x->id)->spec;
	const int64_t *used = ledger_queue_used(x->l, x->id);
	struct table t = {0};

	text_add_char(out, '\n');
	table_column(&t, "TYPE", COLUMN_LEFT);
	table_column(&t, "USED", COLUMN_RIGHT);
	table_column(&t, "GUARANTEED", COLUMN_RIGHT);
	table_column(&t, "MAX", COLUMN_RIGHT);
	table_column(&t, "GETS NOW", COLUMN_RIGHT);
	table_column(&t, "STILL ASKED", COLUMN_RIGHT);
	for (res_id r = 0; r < types_of(x)->n; r++) {
		int64_t g = queue_guarantee(queue_get(x->tree, x->id), r);

		if (r == RES_PODS || (!used[r] && g <= 0 && !res_has(&spec->max, r) && !x->asked.v[r] && !x->gets.v[r]))
			continue;
		table_row(&t);
		table_cell(&t, x->short_types >> r & 1 ? TONE_WARN : TONE_PLAIN, "%s", res_type_name(types_of(x), r));
		cell_amount(&t, true, r, used[r]);
		cell_amount(&t, g > 0, r, g);
		cell_amount(&t, res_has(&spec->max, r), r, spec->max.v[r]);
		cell_amount(&t, x->gets.v[r] > 0, r, x->gets.v[r]);
		cell_amount(&t, x->asked.v[r] > 0, r, x->asked.v[r]);
	}
	table_print(&t, look, out);
	table_free(&t);
}

/* Of the types that matter: those it is short of, else those its waiting work asks for. */
static void hold_amounts(const struct queue_page *x, const struct hold *h, struct text *out)
{
	uint64_t types = x->short_types ? x->short_types : x->asked.mask;

	for (uint64_t left = types; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (r == RES_PODS || !h->amounts.v[r])
			continue;
		text_add(out, out->n ? ", " : "");
		amount_text(r, h->amounts.v[r], out);
		text_printf(out, " %s", res_type_name(types_of(x), r));
	}
}

static void hold_until(const struct queue_page *x, const struct hold *h, struct text *out)
{
	if (h->first_ns == TIME_NONE)
		return;
	until_text(x->v, h->first_ns, out);
	if (h->last_ns != h->first_ns) {
		text_add(out, " to ");
		until_text(x->v, h->last_ns, out);
	}
}

static void hold_why(const struct queue_page *x, const struct hold *h, struct text *out)
{
	if (h->is_own) {
		text_add(out, "holds back its own waiting pods");
		return;
	}
	if (h->pods > 1) {
		text_add(out, "such as ");
		pod_path(x->v, h->example->pod, out);
		text_add(out, ": ");
	}
	rule_verdict_text(x->v->cluster, &h->example->verdict, out);
}

static void holds_table(const struct queue_page *x, const struct look *look, struct text *out)
{
	struct table t = {0};

	if (!x->n_holds)
		return;
	text_add_heading(out, look, "HELD BACK BY", x->n_holds);
	table_column(&t, "RULE", COLUMN_LEFT);
	table_column(&t, "PODS", COLUMN_RIGHT);
	table_column(&t, "AMOUNT", COLUMN_LEFT);
	table_column(&t, "UNTIL", COLUMN_LEFT);
	table_column(&t, "BECAUSE", COLUMN_LEFT);
	for (uint32_t i = 0; i < x->n_holds; i++) {
		const struct hold *h = &x->holds[i];
		struct text amounts = {0}, until = {0}, why = {0};

		hold_amounts(x, h, &amounts);
		hold_until(x, h, &until);
		hold_why(x, h, &why);
		table_row(&t);
		table_cell(&t, TONE_PLAIN, "%s", h->rule);
		table_cell(&t, TONE_PLAIN, "%s%u", h->is_cut ? "at least " : "", h->pods);
		table_cell(&t, TONE_PLAIN, "%s", text_str(&amounts));
		table_cell(&t, TONE_PLAIN, "%s", text_str(&until));
		table_cell(&t, TONE_FAINT, "%s", text_str(&why));
		text_free(&amounts);
		text_free(&until);
		text_free(&why);
	}
	table_print(&t, look, out);
	table_free(&t);
}

void queue_text(const struct plan_view *v, queue_id q, const struct outlook *outlook, const struct look *look,
		struct text *out)
{
	struct queue_page x;
	struct text s = {0};

	page_init(&x, v, q);
	sentence(&x, &s);
	add_sentence(look, text_str(&s), out);
	amounts_table(&x, look, out);
	holds_table(&x, look, out);
	if (outlook && x.waits) {
		text_reset(&s);
		text_add(&s, "The first that keeps waiting: ");
		pod_path(v, x.waits->pod, &s);
		text_add_char(out, '\n');
		add_sentence(look, text_str(&s), out);
		outlook_text(v, outlook, look, out);
	}
	text_free(&s);
	page_free(&x);
}

/* ---- for programs ---- */

static void emit_amounts(const struct queue_page *x, struct emit *e, const char *key, const struct res_vec *v)
{
	emit_object(e, key);
	for (res_id r = 0; r < types_of(x)->n; r++) {
		struct text t = {0};

		if (r == RES_PODS || !v->v[r])
			continue;
		res_amount_exact(r, v->v[r], &t);
		emit_str(e, res_type_name(types_of(x), r), v->v[r] == RES_UNLIMITED ? "unlimited" : text_str(&t));
		text_free(&t);
	}
	emit_end(e);
}

static void emit_holds(const struct queue_page *x, struct emit *e)
{
	emit_list(e, "heldBackBy");
	for (uint32_t i = 0; i < x->n_holds; i++) {
		const struct hold *h = &x->holds[i];
		struct text why = {0};

		hold_why(x, h, &why);
		emit_object(e, NULL);
		emit_str(e, "rule", h->rule);
		emit_int(e, h->is_own ? "waitingPods" : "pods", h->pods);
		if (h->is_cut)
			emit_bool(e, "mayBeMore", true);
		emit_amounts(x, e, "amounts", &h->amounts);
		emit_time(e, "from", h->first_ns);
		emit_time(e, "until", h->last_ns);
		emit_str(e, "reason", text_str(&why));
		emit_end(e);
		text_free(&why);
	}
	emit_end(e);
}

static void emit_totals(const struct queue_page *x, struct emit *e)
{
	const int64_t *used = ledger_queue_used(x->l, x->id);
	struct res_vec amounts = {0};

	for (res_id r = 0; r < types_of(x)->n; r++)
		amounts.v[r] = used[r];
	emit_amounts(x, e, "used", &amounts);
	for (res_id r = 0; r < types_of(x)->n; r++)
		amounts.v[r] = queue_guarantee(queue_get(x->tree, x->id), r);
	emit_amounts(x, e, "guaranteed", &amounts);
	emit_amounts(x, e, "max", &queue_get(x->tree, x->id)->spec.max);
	emit_amounts(x, e, "getsNow", &x->gets);
	emit_amounts(x, e, "stillAsked", &x->asked);
}

void queue_emit(const struct plan_view *v, queue_id q, const struct outlook *outlook, struct emit *e)
{
	struct queue_page x;
	struct text s = {0};

	page_init(&x, v, q);
	sentence(&x, &s);
	emit_object(e, NULL);
	emit_str(e, "kind", "QueueExplanation");
	emit_str(e, "queue", queue_path(v, q));
	emit_str(e, "sentence", text_str(&s));
	emit_bool(e, "short", x.short_types != 0);
	emit_totals(&x, e);
	emit_int(e, "waiting", x.waiting);
	emit_int(e, "getRoom", x.placed + x.nominated);
	emit_int(e, "haveToGo", x.losing);
	emit_holds(&x, e);
	if (outlook)
		outlook_emit(v, outlook, e);
	emit_end(e);
	text_free(&s);
	page_free(&x);
}
