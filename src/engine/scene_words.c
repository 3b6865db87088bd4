/* SPDX-License-Identifier: Apache-2.0 */
/* Why a unit waits, and who had to be left. Asked once for all that are alike: thousands may wait for one reason. */
#include <math.h>

#include "engine/scene_words.h"

struct words {
	struct scene *s;
	struct arena *keep;
	const char **of_form; /* for each form: Kubernetes' sentence */
	const char **of_unit; /* the whole message */
	ARRAY(struct left_list) left;
};

struct words *words_new(struct scene *s, struct arena *keep)
{
	struct words *w = mem_alloc(sizeof(*w));

	w->s = s;
	w->keep = keep;
	w->of_form = mem_alloc((s->n_forms + 1) * sizeof(*w->of_form));
	w->of_unit = mem_alloc((s->n_units + 1) * sizeof(*w->of_unit));
	return w;
}

void words_free(struct words *w)
{
	array_free(&w->left);
	mem_free(w->of_form);
	mem_free(w->of_unit);
	mem_free(w);
}

/* ---- amounts ---- */

static void amount(const struct scene *s, enum kai_res r, double x, struct text *out)
{
	if (x == SHARE_UNLIMITED)
		text_add(out, "unlimited");
	else
		res_amount_text(s->amount_type[r] == RES_NONE ? RES_PODS : s->amount_type[r], (int64_t)floor(x), out);
}

static const char *type_name(const struct scene *s, enum kai_res r)
{
	return s->amount_type[r] == RES_NONE ? "gpu"
					     : res_type_name(vocab_res(ledger_vocab(s->ledger)), s->amount_type[r]);
}

static const char *queue_name(const struct scene *s, uint32_t queue)
{
	return name_str(s->names, queue_get(ledger_queues(s->ledger), s->queues[queue].id)->path);
}

/* ---- what keeps a unit from being tried ---- */

/* Members that got room in this cycle, which others then needed: there, and no longer pending. */
static uint32_t given_up(const struct scene *s, const struct part *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct member *m = &s->members[p->first + i];

		n += m->status == IS_LEAVING && ledger_pod(s->ledger, m->pod)->state == POD_WAITING;
	}
	return n;
}

static bool says_too_few(const struct scene *s, const struct unit *u, struct text *out)
{
	for (uint32_t i = 0; i < u->n_parts; i++) {
		const struct part *p = &s->parts[u->first_part + i];
		uint32_t n = part_count(p, SET_ACTIVE) + p->count[IS_PENDING];

		if (n >= (uint32_t)p->min)
			continue;
		if (n + given_up(s, p) >= (uint32_t)p->min) {
			text_add(out, "there was room for it, which others needed who come before it.");
			return true;
		}
		text_add(out, "its group has ");
		text_printf(out, "%u of the %d pods", n, p->min);
		if (u->n_parts > 1)
			text_printf(out, " of %s", name_str(s->names, p->name));
		text_add(out, " that it needs to start.");
		return true;
	}
	return false;
}

/* The first queue upwards whose limit (or quota, for core work) is too small. */
static bool says_limit(const struct scene *s, uint32_t unit, const double request[KAI_RES], bool is_core,
		       struct text *out)
{
	for (uint32_t q = s->units[unit].queue; q != NONE; q = s->shares[q].parent)
		for (enum kai_res r = 0; r < KAI_RES; r++) {
			const struct share *x = &s->shares[q].r[r];
			double most = is_core ? x->deserved : x->limit,
			       used = is_core ? x->allocated_core : x->allocated;

			if (most == SHARE_UNLIMITED || request[r] == 0 || most >= used + request[r])
				continue;
			text_printf(out, "%s of %s is ", is_core ? "the quota" : "the limit", queue_name(s, q));
			amount(s, r, most, out);
			text_printf(out, " %s, %s uses ", type_name(s, r),
				    is_core ? "work that is not preemptible" : "it");
			amount(s, r, used, out);
			text_add(out, " and it asks for ");
			amount(s, r, request[r], out);
			text_add(out, is_core ? "; such work runs within quota only." : ".");
			return true;
		}
	return false;
}

static bool says_no_queue(struct words *w, const struct unit *u, struct text *out)
{
	struct scene *s = w->s;
	pod_id pod = s->members[s->parts[u->first_part].first].pod;
	const char *wanted = cluster_wanted_queue(s->en->cluster, pod);

	if (u->queue != NONE)
		return false;
	text_printf(out, "queue %s: %s.", *wanted != '\0' ? wanted : "of the pod",
		    *wanted != '\0' ? cluster_queue_trouble(s->en->cluster, pod) : "only leaf queues take work");
	return true;
}

/* ---- no room ---- */

static const char *fit_sentence(struct words *w, uint32_t form, pod_id pod)
{
	struct scene *s = w->s;
	struct arena *a;
	struct cede_cycle c;
	struct text t = {0};

	if (w->of_form[form] != NULL)
		return w->of_form[form];
	a = arena_new(1 << 16);
	cycle_begin(&c, engine_framework(s->en, pod), a, pod, s->now_ns);
	struct status *statuses = arena_n(a, c.n_nodes + 1, struct status);
	struct fit_error fe = {.n_all = c.n_nodes, .statuses = statuses};

	for (uint32_t i = 0; i < c.n_nodes; i++) {
		struct status st = cycle_filter(&c, c.nodes[i]);

		if (!status_is_success(&st))
			statuses[fe.n++] = st;
	}
	if (c.n_nodes == 0)
		text_add(&t, "no nodes available to schedule pods");
	else if (fe.n < c.n_nodes)
		text_printf(&t, "%u/%u nodes have room for it alone.", c.n_nodes - fe.n, c.n_nodes);
	else
		fit_error_text(&c, &fe, &t);
	cycle_end(&c);
	w->of_form[form] = arena_strndup(w->keep, text_str(&t), t.n);
	text_free(&t);
	arena_free(a);
	return w->of_form[form];
}

static struct rule_verdict share_words(const struct scene *s, const struct share_verdict *v)
{
	struct rule_verdict ret = rule_says(IS_PROTECTED, RULE_FAIR_SHARE);

	ret.reason = (uint8_t)v->refusal;
	ret.queue = v->queue == SHARE_NO_QUEUE ? QUEUE_NONE : s->queues[v->queue].id;
	ret.type = s->amount_type[v->res] == RES_NONE ? RES_PODS : s->amount_type[v->res];
	ret.num[0] = (int64_t)floor(v->used);
	ret.num[1] = (int64_t)floor(v->share);
	return ret;
}

/* What the searches came to. */
static void add_search(const struct scene *s, const struct unit *u, struct text *out)
{
	if (u->n_scenarios > 0)
		text_printf(out, " %u %s with victims tried", u->n_scenarios,
			    u->n_scenarios == 1 ? "scenario" : "scenarios");
	if (u->n_refused > 0) {
		text_printf(out, ", %u refused by %s", u->n_refused, rule_text(u->refused_rule));
		if (u->refused_rule == RULE_FAIR_SHARE) {
			struct rule_verdict v = share_words(s, &u->refusal);

			text_add(out, ": ");
			rule_verdict_text(s->en->cluster, &v, out);
		}
	}
	if (u->n_scenarios > 0)
		text_add_char(out, '.');
	if (u->hit_bound)
		text_printf(out, " The search was stopped after %" PRIu64 " steps: a way may exist.",
			    s->settings->search_steps);
}

/* The first of its fair shares that it would pass. */
static bool mine_above(struct scene *s, uint32_t unit, struct share_verdict *ret)
{
	const struct unit *u = &s->units[unit];
	const double *request = unit_request(s, unit);

	for (enum kai_res r = 0; u->queue != NONE && r < KAI_RES; r++) {
		const struct share *x = &s->shares[u->queue].r[r];

		if (x->allocated + request[r] <= x->fair)
			continue;
		*ret = (struct share_verdict){.refusal = SHARE_MINE_ABOVE,
					      .queue = u->queue,
					      .res = r,
					      .used = x->allocated + request[r],
					      .share = x->fair};
		return true;
	}
	return false;
}

static void add_own_share(struct scene *s, uint32_t unit, struct text *out)
{
	struct share_verdict v;
	struct rule_verdict says;

	if (s->units[unit].n_scenarios > 0 || !mine_above(s, unit, &v))
		return;
	says = share_words(s, &v);
	text_add(out, " It reclaims nothing: ");
	rule_verdict_text(s->en->cluster, &says, out);
	text_add_char(out, '.');
}

static void unit_words(struct words *w, uint32_t unit, struct text *out)
{
	struct scene *s = w->s;
	const struct unit *u = &s->units[unit];
	double core[KAI_RES] = {0};
	uint32_t first;

	if (says_no_queue(w, u, out) || says_too_few(s, u, out))
		return;
	if (says_limit(s, unit, unit_request(s, unit), false, out))
		return;
	scene_next_members(s, unit, true);
	if (s->tasks.n == 0)
		return;
	first = s->tasks.v[0];
	for (uint32_t i = 0; i < s->tasks.n; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			core[r] += s->members[s->tasks.v[i]].is_core ? s->forms[s->members[s->tasks.v[i]].form].share[r]
								     : 0;
	if (s->tasks.n > 1)
		text_printf(out, "%u pods of its group start together: ", s->tasks.n);
	if (says_limit(s, unit, core, true, out))
		return;
	text_add(out, fit_sentence(w, s->members[first].form, s->members[first].pod));
	add_own_share(s, unit, out);
	add_search(s, u, out);
}

const char *words_of_unit(struct words *w, uint32_t unit)
{
	struct text t = {0};

	if (w->of_unit[unit] == NULL) {
		unit_words(w, unit, &t);
		w->of_unit[unit] = arena_strndup(w->keep, text_str(&t), t.n);
		text_free(&t);
	}
	return w->of_unit[unit];
}

const char *words_of_gates(struct words *w, pod_id pod)
{
	struct scene *s = w->s;
	struct arena *a = arena_new(1 << 14);
	struct cede_cycle c;
	struct text t = {0};
	struct status st;
	const char *kept;

	cycle_begin(&c, engine_framework(s->en, pod), a, pod, s->now_ns);
	st = cycle_pre_enqueue(&c);
	status_message(&c, &st, &t);
	cycle_end(&c);
	kept = arena_strndup(w->keep, text_str(&t), t.n);
	text_free(&t);
	arena_free(a);
	return kept;
}

/* ---- who had to be left ---- */

enum { LEFT_MAX = 1000 };

/* Shares keep a queue's work: it is not above its own, or the one that asks is above its. */
static bool kept_by_share(struct scene *s, uint32_t by, uint32_t victim, struct rule_verdict *ret)
{
	const struct unit *u = &s->units[by], *v = &s->units[victim];
	struct share_verdict why = {.refusal = SHARE_FINE};

	if (mine_above(s, by, &why)) {
		*ret = share_words(s, &why);
		return true;
	}
	if (share_reclaimable(
		    s->shares, s->n_queues, u->queue, unit_request(s, by), !u->is_preemptible,
		    &(struct share_batch){.queue = v->queue, .r = {v->allocated[0], v->allocated[1], v->allocated[2]}},
		    1, s->settings->saturation, &s->share_scratch, &why))
		return false;
	*ret = share_words(s, &why);
	return true;
}

static bool is_kept(struct scene *s, struct judge *j, uint32_t by, uint32_t member, struct rule_verdict *ret)
{
	const struct member *m = &s->members[member];

	*ret = judge_victim(j, m->pod);
	if (ret->answer == IS_PROTECTED)
		return true;
	return j->action == ACTION_RECLAIM && kept_by_share(s, by, m->unit, ret);
}

static void look_at_unit(struct words *w, struct left_list *l, struct judge *j, uint32_t by, uint32_t victim)
{
	struct scene *s = w->s;
	const struct unit *v = &s->units[victim];
	uint32_t first = s->parts[v->first_part].first;

	for (uint32_t i = first; i < first + v->n_members && l->n < LEFT_MAX; i++) {
		const struct member *m = &s->members[i];
		struct rule_verdict says;

		if (m->status != IS_RUNNING || m->node == NONE || !is_kept(s, j, by, i, &says))
			continue;
		l->v[l->n++] = (struct protected_pod){
			.pod = m->pod, .node = s->nodes[m->node].id, .queue = s->queues[v->queue].id, .verdict = says};
	}
}

/* Oldest first. */
static void look_through(struct words *w, struct left_list *l, uint32_t by, pod_id pod, enum action action)
{
	struct scene *s = w->s;
	struct rule_settings settings = engine_rule_settings(s->en);
	struct judge j;

	judge_init(&j, s->en->cluster, s->ledger, &settings, action, pod, s->now_ns, &s->en->scratch);
	for (uint32_t i = 0; i < s->n_units && l->n < LEFT_MAX; i++) {
		const struct unit *v = &s->units[s->by_rank[i]];

		if (v->queue != NONE && s->by_rank[i] != by &&
		    (v->queue == s->units[by].queue) == (action == ACTION_PREEMPT))
			look_at_unit(w, l, &j, by, s->by_rank[i]);
	}
}

const struct left_list *words_left(struct words *w, uint32_t unit, pod_id pod, enum action action)
{
	static const struct left_list nobody;
	struct scene *s = w->s;
	const struct unit *u = &s->units[unit];
	struct left_list l = {
		.queue = u->queue, .priority = u->priority, .is_core = !u->is_preemptible, .action = action};
	struct share_verdict why;

	if (u->queue == NONE || action == ACTION_ALLOCATE || action == ACTION_CONSOLIDATE)
		return &nobody;
	l.is_above = mine_above(s, unit, &why);
	for (uint32_t i = 0; i < w->left.n; i++) {
		const struct left_list *x = &w->left.v[i];

		if (x->queue == l.queue && x->priority == l.priority && x->is_core == l.is_core &&
		    x->is_above == l.is_above && x->action == action)
			return x;
	}
	if (w->left.n >= 64)
		return &nobody;
	l.v = arena_n(w->keep, LEFT_MAX, struct protected_pod);
	if (action != ACTION_PREEMPT)
		look_through(w, &l, unit, pod, ACTION_RECLAIM);
	if (action != ACTION_RECLAIM)
		look_through(w, &l, unit, pod, ACTION_PREEMPT);
	array_push(&w->left, l);
	return &array_last(&w->left);
}
