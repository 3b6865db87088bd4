/* SPDX-License-Identifier: Apache-2.0 */
/* Why a workload waits, and who is protected. Asked once for all that are alike: thousands may wait for one reason. */
#include <math.h>

#include "engine/session_words.h"

/* What two actions have to say, in one list. */
struct protected_pair {
	const struct protected_memo *a, *b;
	const struct protected_pod *v;
	uint32_t n;
};

struct session_words {
	struct session *s;
	struct arena *keep;
	const char **of_signature; /* for each signature: Kubernetes' sentence */
	const char **of_workload;  /* the whole message */
	ARRAY(struct protected_pair) pairs;
};

struct session_words *words_new(struct session *s, struct arena *keep)
{
	struct session_words *w = mem_alloc(sizeof(*w));

	w->s = s;
	w->keep = keep;
	w->of_signature = mem_alloc((s->n_signatures + 1) * sizeof(*w->of_signature));
	w->of_workload = mem_alloc((s->n_workloads + 1) * sizeof(*w->of_workload));
	return w;
}

void words_free(struct session_words *w)
{
	array_free(&w->pairs);
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
		text_printf(out, "%u of the %d %s", n, p->min, p->min == 1 ? "pod" : "pods");
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

static bool says_no_queue(struct session_words *w, const struct workload *u, struct text *out)
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

static const char *fit_sentence(struct session_words *w, uint32_t signature, pod_id pod)
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

/* What the searches came to. */
static void add_search(const struct session *s, const struct workload_fate *u, struct text *out)
{
	if (u->n_scenarios > 0)
		text_printf(out, " %u %s with victims tried", u->n_scenarios,
			    u->n_scenarios == 1 ? "scenario" : "scenarios");
	if (u->n_refused > 0) {
		text_printf(out, ", %u refused by %s", u->n_refused, rule_text(u->refused_rule));
		if (u->refused_rule == RULE_FAIR_SHARE) {
			struct rule_verdict v = session_share_verdict(s, &u->refusal);

			text_add(out, ": ");
			rule_verdict_text(s->en->cluster, &v, out);
		}
	}
	if (u->n_scenarios > 0)
		text_add_char(out, '.');
	if (u->is_too_large)
		text_printf(out, " Nodes without any pods have room for %u of %u: no victims are looked for.",
			    u->n_bearable, u->n_together);
	if (u->hit_bound)
		text_printf(out, " The search was stopped after %" PRIu64 " steps: a way may exist.",
			    s->settings->search_steps);
}

static void add_own_share(struct session *s, uint32_t workload, struct text *out)
{
	const struct workload_fate *u = &s->fates[workload];
	struct rule_verdict says;

	if (u->n_scenarios > 0 || !u->is_refused)
		return;
	says = session_share_verdict(s, &u->refusal);
	text_add(out, " It reclaims nothing: ");
	rule_verdict_text(s->en->cluster, &says, out);
	text_add_char(out, '.');
}

static void workload_words(struct session_words *w, uint32_t workload, struct text *out)
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
	if (s->tasks.n == 0) {
		text_add(out, "there was room for it, which others needed who come before it.");
		return;
	}
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
	add_search(s, &s->fates[workload], out);
}

const char *words_of_workload(struct session_words *w, uint32_t workload)
{
	struct text t = {0};

	if (w->of_workload[workload] == NULL) {
		workload_words(w, workload, &t);
		w->of_workload[workload] = arena_strndup(w->keep, text_str(&t), t.n);
		text_free(&t);
	}
	return w->of_workload[workload];
}

const char *words_of_gates(struct session_words *w, pod_id pod)
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

/* What was noted for those like the workload, by one action: the last word of the cycle. */
static struct protected_memo *memo_of(const struct session *s, uint32_t workload, enum action action)
{
	const struct workload *u = &s->workloads[workload];

	for (uint32_t i = s->memos.n; i-- > 0;) {
		struct protected_memo *m = s->memos.v[i];

		if (m->key.action == action && m->key.queue == u->queue && m->key.priority == u->priority &&
		    (m->key.workload == NONE || m->key.workload == workload))
			return m;
	}
	return NULL;
}

static const struct protected_pod *keep(struct session_words *w, struct protected_memo *m)
{
	struct protected_pod *v;

	if (m->kept == NULL) {
		v = arena_n(w->keep, m->list.v.n + 1, struct protected_pod);
		if (m->list.v.n > 0)
			memcpy(v, m->list.v.v, m->list.v.n * sizeof(*v));
		m->kept = v;
	}
	return m->kept;
}

/* Both lists in one, once for all that have the same two. */
static const struct protected_pair *pair_of(struct session_words *w, struct protected_memo *a, struct protected_memo *b)
{
	struct protected_list all = {.max = PROTECTED_MAX};
	struct protected_pair p = {.a = a, .b = b};
	struct decision d = {0};

	for (uint32_t i = 0; i < w->pairs.n; i++)
		if (w->pairs.v[i].a == a && w->pairs.v[i].b == b)
			return &w->pairs.v[i];
	protected_merge(&all, &a->list);
	protected_merge(&all, &b->list);
	decision_keep_protected(&d, &all, w->keep);
	protected_free(&all);
	p.v = d.protected;
	p.n = d.n_protected;
	array_push(&w->pairs, p);
	return &array_last(&w->pairs);
}

void words_protected(struct session_words *w, uint32_t workload, struct decision *d)
{
	bool waits = d->outcome == OUTCOME_WAITING;
	struct protected_memo *reclaim = memo_of(w->s, workload, ACTION_RECLAIM),
			      *preempt = memo_of(w->s, workload, ACTION_PREEMPT), *one;
	const struct protected_pair *p;

	if (waits && reclaim && preempt) {
		p = pair_of(w, reclaim, preempt);
		d->protected = p->v;
		d->n_protected = p->n;
		return;
	}
	one = waits ? (reclaim ? reclaim : preempt) : memo_of(w->s, workload, d->action);
	if (one == NULL)
		return;
	d->protected = keep(w, one);
	d->n_protected = one->list.v.n;
}
