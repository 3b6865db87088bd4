/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/forecast.h"

#include "explain/emit_fields.h"

/* ---- trying ---- */

struct forecast_trial {
	const struct trial_question *q;
	struct forecast *f;
	const struct decision *own; /* the pod's last in the present plan */
	int64_t now_ns, next_ns;
	struct forecast_step step; /* what of the pod's own ends at next_ns */
	bool is_done;
	bool is_at_rest; /* nobody leaves or holds room: known of the ledger as the plan before left it */
	struct engine *engine, *own_engine; /* own: to be freed */
};

static void end_of_rule(struct forecast_step *s, enum rule_id rule, bool is_candidate)
{
	uint32_t i = 0;

	while (i < s->n_ends && (s->ends[i].rule != rule || (s->ends[i].n > 0) != is_candidate))
		i++;
	if (i == FORECAST_RULES)
		return;
	if (i == s->n_ends)
		s->ends[s->n_ends++] = (struct forecast_end){rule, 0};
	s->ends[i].n += is_candidate;
}

static void look_at_end(struct forecast_trial *t, const struct decision *d, enum rule_id rule, int64_t until_ns,
			bool is_candidate)
{
	if (until_ns == TIME_NONE || until_ns <= t->now_ns)
		return;
	if (t->next_ns == TIME_NONE || until_ns < t->next_ns) {
		t->next_ns = until_ns;
		t->step = (struct forecast_step){.at_ns = until_ns};
	}
	if (until_ns == t->next_ns && d && d == t->own)
		end_of_rule(&t->step, rule, is_candidate);
}

static bool gets_room(const struct decision *d)
{
	return d->outcome == OUTCOME_PLACED || d->outcome == OUTCOME_NOMINATED;
}

static void look_at(struct forecast_trial *t, const struct decision *d)
{
	if (d->pod == t->q->waits->pod && gets_room(d)) {
		t->is_done = true;
		t->f->at_ns = t->now_ns;
		t->f->outcome = d->outcome;
		t->f->action = d->action;
		t->f->node = d->node;
		t->f->n_victims = d->n_victims;
	}
	look_at_end(t, d, d->own_rule, d->own_rule != RULE_NONE ? d->until_ns : TIME_NONE, false);
	for (uint32_t i = 0; i < d->n_protected; i++)
		look_at_end(t, d, (enum rule_id)d->protected[i].verdict.rule, d->protected[i].verdict.until_ns, true);
}

/* ---- what does not have to be decided ---- */

/* A plan while it is made: the rest of it does not matter once the pod has room, nor where nothing would change. */
struct plan_watch {
	pod_id pod;
	const struct decisions *made; /* so far */
	uint32_t n_looked;
	struct refusals refusals;
	bool has_room;
	bool is_restless; /* a second cycle may decide otherwise */
};

/* Somebody leaves, or holds room that he may give up: then others may find what the first cycle did not offer. */
static bool is_restless(const struct ledger *l)
{
	for (node_id n = 0; n < ledger_node_limit(l); n++)
		if (ledger_node(l, n)->nominated.n || ledger_node_leaving(l, n)[RES_PODS] > 0)
			return true;
	return false;
}

/* Consolidation takes words back and ends with words of its own (engine/moves.h): the last is looked at again. */
static void look_at_made(struct plan_watch *w)
{
	if (w->n_looked >= w->made->v.n)
		w->n_looked = w->made->v.n ? w->made->v.n - 1 : 0;
	for (; w->n_looked < w->made->v.n; w->n_looked++) {
		const struct decision *d = &w->made->v.v[w->n_looked];

		w->is_restless |= d->pod == POD_NONE || d->n_victims > 0 || gets_room(d);
		w->has_room |= d->pod == w->pod && gets_room(d);
	}
}

static bool is_over(void *ctx, uint32_t n_cycles)
{
	struct plan_watch *w = ctx;

	look_at_made(w);
	return w->has_room || (n_cycles > 0 && !w->is_restless);
}

/* Who is passed over would be told the same as the one like him: also until when others are protected. */
static bool is_passed_over(void *ctx, pod_id pod)
{
	struct plan_watch *w = ctx;

	return refusals_pass_over(&w->refusals, pod);
}

/* ---- the plan at one time ---- */

static struct engine *engine_for(struct forecast_trial *t, struct err *e)
{
	const struct trial_question *q = t->q;

	if (t->engine && !q->config->looks_at_all)
		return t->engine;
	engine_free(t->own_engine);
	t->engine = t->own_engine = engine_new(q->cluster, q->config, q->extra, q->n_extra, e);
	return t->engine;
}

static void look_at_plan(struct forecast_trial *t, const struct decisions *d)
{
	t->own = NULL;
	for (uint32_t i = 0; i < d->v.n; i++)
		if (d->v.v[i].pod == t->q->waits->pod)
			t->own = &d->v.v[i];
	for (uint32_t i = 0; !t->is_done && i < d->v.n; i++)
		look_at(t, &d->v.v[i]);
	if (t->is_done)
		return;
	t->f->is_rough |= t->own && protected_are_cut(t->own) && t->next_ns != TIME_NONE;
	look_at_end(t, NULL, RULE_NONE, engine_next_time(t->engine, t->now_ns), false);
}

static bool is_asked(const struct forecast_trial *t, pod_id pod)
{
	const struct ledger *l = cluster_ledger(t->q->cluster);
	group_id group = ledger_pod(l, t->q->waits->pod)->group;

	return pod == t->q->waits->pod || (group != GROUP_NONE && ledger_pod(l, pod)->group == group);
}

static bool all_are_asked(const struct forecast_trial *t)
{
	bool are = true;

	for (uint32_t i = 0; are && i < t->q->run.n_these; i++)
		are = is_asked(t, t->q->run.these[i]);
	return are;
}

/* Does the plan that is explained say of everybody who is protected from him? Sessions are told nothing of a focus. */
static bool plan_tells_all(const struct forecast_trial *t)
{
	const struct trial_question *q = t->q;

	return q->run.these && (profile_get(q->config->profile)->search_mode == MODE_SCENARIOS || all_are_asked(t));
}

/* The plan of now is there already, where one cycle was made and changes nothing: then there is no second one. */
static bool is_planned(const struct forecast_trial *t)
{
	const struct trial_question *q = t->q;
	bool is_quiet = q->plan && q->run.cycles == 1 && t->now_ns == q->run.now_ns && !q->config->looks_at_all &&
			!q->config->n_plugins && plan_tells_all(t) && !is_restless(cluster_ledger(q->cluster));

	for (uint32_t i = 0; is_quiet && i < q->plan->v.n; i++) {
		const struct decision *d = &q->plan->v.v[i];

		is_quiet = d->pod != POD_NONE && !d->n_victims && !gets_room(d);
	}
	return is_quiet;
}

static bool take_plan(struct forecast_trial *t)
{
	struct err e;

	if (!engine_for(t, &e))
		return false;
	cluster_relax_gangs(t->q->cluster, t->now_ns);
	t->next_ns = TIME_NONE;
	look_at_plan(t, t->q->plan);
	t->is_at_rest = true;
	return true;
}

/*
 * What was decided stays in the ledger. Two cycles: those who had to go are gone, and who waited for it is placed.
 * tells: until when others are protected from those who wait.
 */
static bool plan_at(struct forecast_trial *t, bool tells)
{
	const struct trial_question *q = t->q;
	const struct bits nobody = {0};
	struct decisions d = {.arena = arena_new(1 << 16)};
	struct plan_watch watch = {.pod = q->waits->pod, .made = &d};
	struct engine_run run = q->run;
	struct err e;
	struct engine *en = engine_for(t, &e);
	bool is_ok;

	watch.is_restless = !t->is_at_rest && is_restless(cluster_ledger(q->cluster));
	run.now_ns = t->now_ns;
	run.report = POD_NONE;
	run.cycles = 2;
	if (!q->config->looks_at_all) {
		run.tells_in_any_order = true; /* what counts is how many, and until when */
		run.tells_no_words = true;
		run.is_over = is_over;
		run.passes_over = is_passed_over;
		run.driver = &watch;
	}
	if (!tells)
		run.tells_of = &nobody;
	refusals_init(&watch.refusals, q->alike, &d, t->now_ns);
	t->next_ns = TIME_NONE;
	is_ok = en && !engine_plan(en, &run, &d, &e);
	if (is_ok)
		look_at_plan(t, &d);
	look_at_made(&watch);
	t->is_at_rest = !watch.is_restless;
	refusals_free(&watch.refusals);
	array_free(&d.v);
	arena_free(d.arena);
	return is_ok;
}

/* Where others wait it is asked first whether it starts now: that takes less than asking what ends next. */
static bool asks_twice(const struct forecast_trial *t)
{
	const struct trial_question *q = t->q;

	return !q->config->looks_at_all && q->run.these && t->now_ns != q->run.now_ns && !all_are_asked(t) &&
	       profile_get(q->config->profile)->search_mode == MODE_QUEUES;
}

static bool plan_now(struct forecast_trial *t)
{
	struct ledger *l = cluster_ledger(t->q->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct forecast_trial before = *t;

	if (!asks_twice(t))
		return plan_at(t, true);
	if (!plan_at(t, false))
		return false;
	if (t->is_done)
		return true;
	ledger_rollback(l, mark);
	before.engine = t->engine;
	before.own_engine = t->own_engine;
	*t = before;
	return plan_at(t, true);
}

static void keep_step(struct forecast *f, const struct forecast_step *s)
{
	if (!s->n_ends)
		return;
	if (f->n >= FORECAST_SHOWN)
		memmove(f->steps, f->steps + 1, (FORECAST_SHOWN - 1) * sizeof(*f->steps));
	f->steps[f->n < FORECAST_SHOWN ? f->n : FORECAST_SHOWN - 1] = *s;
	f->n++;
}

void forecast_find(const struct trial_question *q, struct forecast *ret)
{
	struct ledger *l = cluster_ledger(q->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct forecast_trial t = {
		.q = q, .f = ret, .now_ns = q->run.now_ns, .engine = q->is_engine_lent ? NULL : q->engine};
	uint32_t n = 0;

	*ret = (struct forecast){0};
	while (n++ < FORECAST_STEPS && (is_planned(&t) ? take_plan(&t) : plan_now(&t)) && !t.is_done &&
	       t.next_ns != TIME_NONE) {
		keep_step(ret, &t.step);
		t.now_ns = t.next_ns;
	}
	ret->starts = t.is_done;
	ret->is_bounded = !t.is_done && n > FORECAST_STEPS;
	ledger_rollback(l, mark);
	engine_free(t.own_engine);
}

/* ---- words ---- */

static void ends_text(const struct forecast_step *s, struct text *out)
{
	for (uint32_t i = 0; i < s->n_ends; i++) {
		text_printf(out, "%s%s", i > 0 ? ", " : "", rule_text(s->ends[i].rule));
		if (s->ends[i].n > 0)
			text_printf(out, " of %u %s", s->ends[i].n, s->ends[i].n == 1 ? "pod" : "pods");
	}
	text_add(out, s->n_ends > 1 ? " end" : " ends");
}

static void start_text(const struct plan_view *v, const struct forecast *f, struct text *out)
{
	text_printf(out, "it gets %s", node_text(v, f->node));
	if (f->n_victims > 0)
		text_printf(out, " for %u %s (%s)", f->n_victims, f->n_victims == 1 ? "victim" : "victims",
			    action_text(f->action));
	else if (f->action != ACTION_ALLOCATE && f->action != ACTION_NONE)
		text_printf(out, " (%s)", action_text(f->action));
}

static void add_line(const struct look *look, const struct text *s, struct text *out)
{
	text_add(out, "  ");
	text_add_wrapped(out, text_str(s), 2, 6, look->width);
	text_add_char(out, '\n');
}

static void steps_text(const struct plan_view *v, const struct forecast *f, const struct look *look, struct text *out)
{
	uint32_t shown = f->n < FORECAST_SHOWN ? f->n : FORECAST_SHOWN;

	if (f->n > shown)
		text_printf(out, "  … after %u other times\n", f->n - shown);
	for (uint32_t i = 0; i < shown; i++) {
		struct text line = {0};
		bool is_last = f->starts && f->steps[i].at_ns == f->at_ns;

		until_text(v, f->steps[i].at_ns, &line);
		text_add(&line, "  ");
		ends_text(&f->steps[i], &line);
		text_add(&line, is_last ? ": " : ": it still waits");
		if (is_last)
			start_text(v, f, &line);
		add_line(look, &line, out);
		text_free(&line);
	}
}

/* Not a second from now: nothing has to end, others have to be gone that go now. */
static void when_text(const struct plan_view *v, int64_t at_ns, struct text *out)
{
	if (time_since(at_ns, v->now_ns) < NS_PER_S) {
		text_add(out, "It starts as soon as those are gone who leave now");
		return;
	}
	text_add(out, "It starts at ");
	until_text(v, at_ns, out);
	text_add(out, ", in ");
	duration_text_short(time_since(at_ns, v->now_ns), out);
}

static void last_text(const struct plan_view *v, const struct forecast *f, struct text *out)
{
	uint32_t shown = f->n < FORECAST_SHOWN ? f->n : FORECAST_SHOWN;

	if (f->starts) {
		when_text(v, f->at_ns, out);
		text_add(out, ", if nothing else happens");
		if (!shown || f->steps[shown - 1].at_ns != f->at_ns) {
			text_add(out, ": others have made way then, and ");
			start_text(v, f, out);
		}
		text_add_char(out, '.');
		if (f->is_rough)
			text_printf(out, " It may be earlier: of %d protected pods alone it was looked when that ends.",
				    PROTECTED_MAX);
	} else if (f->is_bounded) {
		text_printf(out,
			    "It does not start at the next %d times at which something ends; no further was looked.",
			    FORECAST_STEPS);
	} else if (f->n > 0) {
		text_add(out, "Time alone does not let it start: after that nothing is left that ends by itself.");
	} else {
		text_add(out, "Time alone does not let it start: nothing that holds it back ends by itself.");
	}
}

void forecast_text(const struct plan_view *v, const struct forecast *f, const struct look *look, struct text *out)
{
	struct text last = {0};

	text_add_char(out, '\n');
	text_add_toned(out, look, TONE_STRONG, "WHEN IT STARTS");
	text_add_char(out, '\n');
	steps_text(v, f, look, out);
	last_text(v, f, &last);
	add_line(look, &last, out);
	text_free(&last);
}

void forecast_emit(const struct plan_view *v, const struct forecast *f, struct emit *e)
{
	uint32_t shown = f->n < FORECAST_SHOWN ? f->n : FORECAST_SHOWN;

	if (f->starts)
		emit_time(e, "startsAt", f->at_ns);
	emit_object(e, "forecast");
	emit_bool(e, "starts", f->starts);
	if (f->is_bounded)
		emit_bool(e, "bounded", true);
	if (f->starts && f->is_rough)
		emit_bool(e, "mayBeEarlier", true);
	if (f->starts) {
		emit_some(e, "action", action_text(f->action));
		emit_some(e, "node", node_text(v, f->node));
		emit_int(e, "victims", f->n_victims);
	}
	emit_list(e, "ends");
	for (uint32_t i = 0; i < shown; i++)
		for (uint32_t k = 0; k < f->steps[i].n_ends; k++) {
			emit_object(e, NULL);
			emit_time(e, "at", f->steps[i].at_ns);
			emit_str(e, "rule", rule_text(f->steps[i].ends[k].rule));
			if (f->steps[i].ends[k].n > 0)
				emit_int(e, "pods", f->steps[i].ends[k].n);
			emit_end(e);
		}
	emit_end(e);
	emit_end(e);
}

/* ---- both ---- */

void outlook_find(const struct trial_question *q, struct outlook *ret)
{
	struct trial_question x = *q;
	waiting_list waiting = {0};
	struct alike alike;

	if (!q->config->looks_at_all && q->waiting) {
		x.run.these = q->waiting->v;
		x.run.n_these = q->waiting->n;
	} else if (!q->config->looks_at_all) {
		plan_list_waiting(cluster_ledger(q->cluster), &waiting, &x.run);
	}
	alike_init(&alike, q->cluster, q->config, &x.run, q->waits->pod);
	x.alike = &alike;
	/* In this order the engine still knows what nodes said when the plan was made: the same rules, then later. */
	ret->n_remedies = remedies_of_numbers(&x, ret->remedies);
	forecast_find(&x, &ret->forecast);
	ret->n_remedies = remedies_of_rules(&x, ret->remedies, ret->n_remedies);
	alike_free(&alike);
	array_free(&waiting);
}

void outlook_text(const struct plan_view *v, const struct outlook *o, const struct look *look, struct text *out)
{
	remedies_text(v, o->remedies, o->n_remedies, look, out);
	forecast_text(v, &o->forecast, look, out);
}

void outlook_emit(const struct plan_view *v, const struct outlook *o, struct emit *e)
{
	remedies_emit(v, o->remedies, o->n_remedies, e);
	forecast_emit(v, &o->forecast, e);
}
