/* SPDX-License-Identifier: Apache-2.0 */
/* Why a workload waits, and who is protected. Asked once for all that are alike: thousands may wait for one reason. */
#include <math.h>

#include "engine/session_words.h"

struct words {
	struct session *s;
	struct arena *keep;
	const char **of_signature; /* for each signature: Kubernetes' sentence */
	const char **of_workload;  /* the whole message */
	ARRAY(struct protected_memo) protected;
};

struct words *words_new(struct session *s, struct arena *keep)
{
	struct words *w = mem_alloc(sizeof(*w));

	w->s = s;
	w->keep = keep;
	w->of_signature = mem_alloc((s->n_signatures + 1) * sizeof(*w->of_signature));
	w->of_workload = mem_alloc((s->n_workloads + 1) * sizeof(*w->of_workload));
	return w;
}

void words_free(struct words *w)
{
	array_free(&w->protected);
	mem_free(w->of_signature);
	mem_free(w->of_workload);
	mem_free(w);
}

/* ---- amounts ---- */

static void amount(const struct session *s, enum kai_res r, double x, struct text *out)
{
	if (x == SHARE_UNLIMITED)
		text_add(out, "unlimited");
	else
		res_amount_text(s->amount_type[r] == RES_NONE ? RES_PODS : s->amount_type[r], (int64_t)floor(x), out);
}

static const char *type_name(const struct session *s, enum kai_res r)
{
	return s->amount_type[r] == RES_NONE ? "gpu"
					     : res_type_name(vocab_res(ledger_vocab(s->ledger)), s->amount_type[r]);
}

static const char *queue_name(const struct session *s, uint32_t queue)
{
	return name_str(s->names, queue_get(ledger_queues(s->ledger), s->queues[queue].id)->path);
}

/* ---- what keeps a workload from being tried ---- */

/* Members that got room in this cycle, which others then needed: there, and no longer pending. */
static uint32_t given_up(const struct session *s, const struct session_podset *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct member *m = &s->members[p->first + i];

		n += m->status == IS_LEAVING && ledger_pod(s->ledger, m->pod)->state == POD_WAITING;
	}
	return n;
}

static bool says_too_few(const struct session *s, const struct workload *u, struct text *out)
{
	for (uint32_t i = 0; i < u->n_podsets; i++) {
		const struct session_podset *p = &s->podsets[u->first_podset + i];
		uint32_t n = podset_count(p, SET_ACTIVE) + p->count[IS_PENDING];

		if (n >= (uint32_t)p->min)
			continue;
		if (n + given_up(s, p) >= (uint32_t)p->min) {
			text_add(out, "there was room for it, which others needed who come before it.");
			return true;
		}
		text_add(out, "its group has ");
		text_printf(out, "%u of the %d pods", n, p->min);
		if (u->n_podsets > 1)
			text_printf(out, " of %s", name_str(s->names, p->name));
		text_add(out, " that it needs to start.");
		return true;
	}
	return false;
}

/* The first queue upwards whose limit (or quota, for core work) is too small. */
static bool says_limit(const struct session *s, uint32_t workload, const double request[KAI_RES], bool is_core,
		       struct text *out)
{
	for (uint32_t q = s->workloads[workload].queue; q != NONE; q = s->shares[q].parent)
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

static bool says_no_queue(struct words *w, const struct workload *u, struct text *out)
{
	struct session *s = w->s;
	pod_id pod = s->members[s->podsets[u->first_podset].first].pod;
	const char *wanted = cluster_wanted_queue(s->en->cluster, pod);

	if (u->queue != NONE)
		return false;
	text_printf(out, "queue %s: %s.", *wanted != '\0' ? wanted : "of the pod",
		    *wanted != '\0' ? cluster_queue_trouble(s->en->cluster, pod) : "only leaf queues take work");
	return true;
}

/* ---- no room ---- */

static const char *fit_sentence(struct words *w, uint32_t signature, pod_id pod)
{
	struct session *s = w->s;
	struct arena *a;
	struct cede_cycle c;
	struct text t = {0};

	if (w->of_signature[signature] != NULL)
		return w->of_signature[signature];
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
	w->of_signature[signature] = arena_strndup(w->keep, text_str(&t), t.n);
	text_free(&t);
	arena_free(a);
	return w->of_signature[signature];
}

static struct rule_verdict share_words(const struct session *s, const struct share_verdict *v)
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
static void add_search(const struct session *s, const struct workload *u, struct text *out)
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
static bool mine_above(struct session *s, uint32_t workload, struct share_verdict *ret)
{
	const struct workload *u = &s->workloads[workload];
	const double *request = workload_request(s, workload);

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

static void add_own_share(struct session *s, uint32_t workload, struct text *out)
{
	struct share_verdict v;
	struct rule_verdict says;

	if (s->workloads[workload].n_scenarios > 0 || !mine_above(s, workload, &v))
		return;
	says = share_words(s, &v);
	text_add(out, " It reclaims nothing: ");
	rule_verdict_text(s->en->cluster, &says, out);
	text_add_char(out, '.');
}

static void workload_words(struct words *w, uint32_t workload, struct text *out)
{
	struct session *s = w->s;
	const struct workload *u = &s->workloads[workload];
	double core[KAI_RES] = {0};
	uint32_t first;

	if (says_no_queue(w, u, out) || says_too_few(s, u, out))
		return;
	if (says_limit(s, workload, workload_request(s, workload), false, out))
		return;
	session_next_members(s, workload, true);
	if (s->tasks.n == 0)
		return;
	first = s->tasks.v[0];
	for (uint32_t i = 0; i < s->tasks.n; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			core[r] += s->members[s->tasks.v[i]].is_core
					   ? s->signatures[s->members[s->tasks.v[i]].signature].share[r]
					   : 0;
	if (s->tasks.n > 1)
		text_printf(out, "%u pods of its group start together: ", s->tasks.n);
	if (says_limit(s, workload, core, true, out))
		return;
	text_add(out, fit_sentence(w, s->members[first].signature, s->members[first].pod));
	add_own_share(s, workload, out);
	add_search(s, u, out);
}

const char *words_of_workload(struct words *w, uint32_t workload)
{
	struct text t = {0};

	if (w->of_workload[workload] == NULL) {
		workload_words(w, workload, &t);
		w->of_workload[workload] = arena_strndup(w->keep, text_str(&t), t.n);
		text_free(&t);
	}
	return w->of_workload[workload];
}

const char *words_of_gates(struct words *w, pod_id pod)
{
	struct session *s = w->s;
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

/* ---- who is protected ---- */

/* Shares keep a queue's work: it is not above its own, or the one that asks is above its. */
static bool kept_by_share(struct session *s, uint32_t by, uint32_t victim, struct rule_verdict *ret)
{
	const struct workload *u = &s->workloads[by], *v = &s->workloads[victim];
	struct share_verdict why = {.refusal = SHARE_FINE};

	if (mine_above(s, by, &why)) {
		*ret = share_words(s, &why);
		return true;
	}
	if (share_reclaimable(
		    s->shares, s->n_queues, u->queue, workload_request(s, by), !u->is_preemptible,
		    &(struct share_batch){.queue = v->queue, .r = {v->allocated[0], v->allocated[1], v->allocated[2]}},
		    1, s->settings->saturation, &s->share_scratch, &why))
		return false;
	*ret = share_words(s, &why);
	return true;
}

static bool is_kept(struct session *s, struct judge *j, uint32_t by, uint32_t member, struct rule_verdict *ret)
{
	const struct member *m = &s->members[member];

	*ret = judge_victim(j, m->pod);
	if (ret->answer == IS_PROTECTED)
		return true;
	return j->action == ACTION_RECLAIM && kept_by_share(s, by, m->workload, ret);
}

static void look_at_workload(struct words *w, struct protected_memo *l, struct judge *j, uint32_t by, uint32_t victim)
{
	struct session *s = w->s;
	const struct workload *v = &s->workloads[victim];
	uint32_t first = s->podsets[v->first_podset].first;

	for (uint32_t i = first; i < first + v->n_members && l->n < PROTECTED_MAX; i++) {
		const struct member *m = &s->members[i];
		struct rule_verdict says;

		if (m->status != IS_RUNNING || m->node == NONE || !is_kept(s, j, by, i, &says))
			continue;
		l->v[l->n++] = (struct protected_pod){
			.pod = m->pod, .node = s->nodes[m->node].id, .queue = s->queues[v->queue].id, .verdict = says};
	}
}

/* Oldest first. */
static void look_through(struct words *w, struct protected_memo *l, uint32_t by, pod_id pod, enum action action)
{
	struct session *s = w->s;
	struct rule_settings settings = engine_rule_settings(s->en);
	struct judge j;

	judge_init(&j, s->en->cluster, s->ledger, &settings, action, pod, s->now_ns, &s->en->scratch);
	for (uint32_t i = 0; i < s->n_workloads && l->n < PROTECTED_MAX; i++) {
		const struct workload *v = &s->workloads[s->by_rank[i]];

		if (v->queue != NONE && s->by_rank[i] != by &&
		    (v->queue == s->workloads[by].queue) == (action == ACTION_PREEMPT))
			look_at_workload(w, l, &j, by, s->by_rank[i]);
	}
}

const struct protected_memo *words_protected(struct words *w, uint32_t workload, pod_id pod, enum action action)
{
	static const struct protected_memo nobody;
	struct session *s = w->s;
	const struct workload *u = &s->workloads[workload];
	struct protected_memo l = {
		.queue = u->queue, .priority = u->priority, .is_core = !u->is_preemptible, .action = action};
	struct share_verdict why;

	if (u->queue == NONE || action == ACTION_ALLOCATE || action == ACTION_CONSOLIDATE)
		return &nobody;
	l.is_above = mine_above(s, workload, &why);
	for (uint32_t i = 0; i < w->protected.n; i++) {
		const struct protected_memo *x = &w->protected.v[i];

		if (x->queue == l.queue && x->priority == l.priority && x->is_core == l.is_core &&
		    x->is_above == l.is_above && x->action == action)
			return x;
	}
	if (w->protected.n >= 64)
		return &nobody;
	l.v = arena_n(w->keep, PROTECTED_MAX, struct protected_pod);
	if (action != ACTION_PREEMPT)
		look_through(w, &l, workload, pod, ACTION_RECLAIM);
	if (action != ACTION_RECLAIM)
		look_through(w, &l, workload, pod, ACTION_PREEMPT);
	array_push(&w->protected, l);
	return &array_last(&w->protected);
}
