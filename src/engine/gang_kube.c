/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gang_kube.h"

#include <stdlib.h>

#include "engine/attempt.h"
#include "engine/disruption_unit.h"
#include "filters/volumes.h"

/* ---- who belongs together ---- */

bool gang_kube_concerns(const struct engine *en, pod_id pod)
{
	return profile_get(en->config->profile)->search_mode == MODE_PODS &&
	       pod_is_grouped(ledger_pod(en->ledger, pod));
}

bool gang_kube_is_nominated(const struct engine *en, const struct pod *p)
{
	return p->podset == PODSET_NONE ? p->nomination != NOMINATION_NONE
					: ledger_podset(en->ledger, p->podset)->n_nominated > 0;
}

static const struct podset *podset_of(const struct kube_gang *g)
{
	return ledger_podset(g->en->ledger, ledger_group(g->en->ledger, g->id)->first_podset);
}

static int by_queue_sort(const void *a, const void *b, void *ctx)
{
	const struct engine *en = ctx;
	const struct pod *x = ledger_pod(en->ledger, ((const struct gang_pod *)a)->pod),
			 *y = ledger_pod(en->ledger, ((const struct gang_pod *)b)->pod);
	int64_t made_x = x->created_ns == TIME_NONE ? INT64_MAX : x->created_ns,
		made_y = y->created_ns == TIME_NONE ? INT64_MAX : y->created_ns;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (made_x != made_y)
		return made_x < made_y ? -1 : 1;
	return name_cmp(vocab_names(ledger_vocab(en->ledger)), x->name, y->name);
}

void gang_open(struct kube_gang *g, struct engine *en, const struct engine_run *run, group_id id, struct arena *keep)
{
	int32_t min = ledger_group(en->ledger, id)->obj->min_member;

	*g = (struct kube_gang){.en = en, .run = run, .keep = keep, .id = id, .min = min < 1 ? 1 : (uint32_t)min};
	g->arena = arena_new(1 << 16);
	g->v = arena_n(g->arena, podset_of(g)->n_waiting + 1, struct gang_pod);
	for (pod_id pod = cluster_group_first(en->cluster, id); pod != POD_NONE;
	     pod = cluster_group_next(en->cluster, pod)) {
		const struct pod *p = ledger_pod(en->ledger, pod);

		if (p->state == POD_WAITING && p->group == id)
			g->v[g->n++] = (struct gang_pod){
				.pod = pod, .is_open = true, .node = NODE_NONE, .d = attempt_decision(en, pod)};
	}
	if (g->n)
		qsort_r(g->v, g->n, sizeof(*g->v), by_queue_sort, en);
}

void gang_close(struct kube_gang *g)
{
	arena_free(g->arena);
}

static const char *name_of(const struct kube_gang *g, name_id ns, name_id name)
{
	const struct names *names = vocab_names(ledger_vocab(g->en->ledger));

	return arena_printf(g->keep, "%s/%s", name_str(names, ns), name_str(names, name));
}

static const char *group_name(const struct kube_gang *g)
{
	const struct obj_group *o = ledger_group(g->en->ledger, g->id)->obj;

	return name_of(g, o->ns, o->name);
}

static const char *pod_name(const struct kube_gang *g, const struct gang_pod *m)
{
	const struct pod *p = ledger_pod(g->en->ledger, m->pod);

	return name_of(g, labelset_get(ledger_vocab(g->en->ledger), p->labelset)->ns, p->name);
}

/* ---- may it be tried? ---- */

static void close_all(struct kube_gang *g, enum outcome outcome, const char *message)
{
	for (uint32_t i = 0; i < g->n; i++) {
		g->v[i].d.outcome = outcome;
		g->v[i].d.message = message;
		g->v[i].is_open = false;
	}
}

/* What holds this member back; NULL: nothing. */
static const char *gate_of(struct kube_gang *g, const struct gang_pod *m)
{
	struct attempt a = {.en = g->en, .keep = g->keep};
	const char *words = NULL;
	struct text t = {0};
	struct status s;

	cycle_begin(&a.c, engine_framework(g->en, m->pod), g->en->arena, m->pod, g->run->now_ns);
	s = cycle_pre_enqueue(&a.c);
	if (!status_is_success(&s)) {
		status_message(&a.c, &s, &t);
		words = attempt_keep_text(&a, &t);
	}
	cycle_end(&a.c);
	arena_reset(g->en->arena);
	return words;
}

/* Who is gated holds back the whole group. */
static bool is_gated(struct kube_gang *g)
{
	const struct podset *s = podset_of(g);

	if (s->n_waiting + s->n_placed + s->n_leaving < g->min) {
		close_all(g, OUTCOME_GATED, "waiting for minCount pods from a gang to appear in scheduling queue");
		return true;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		const char *words = gate_of(g, &g->v[i]);

		if (!words)
			continue;
		close_all(g, OUTCOME_GATED,
			  arena_printf(g->keep, "its pod group waits for %s: %s", pod_name(g, &g->v[i]), words));
		g->v[i].d.message = words;
		return true;
	}
	return false;
}

/* A group is one request: one scheduler, one priority. */
static bool is_at_odds(struct kube_gang *g)
{
	const struct vocab *v = ledger_vocab(g->en->ledger);
	const struct group *group = ledger_group(g->en->ledger, g->id);
	name_id scheduler = shape_get(v, ledger_pod(g->en->ledger, g->v[0].pod)->shape)->scheduler_name;

	for (uint32_t i = 0; i < g->n; i++) {
		const struct pod *p = ledger_pod(g->en->ledger, g->v[i].pod);
		const char *what = shape_get(v, p->shape)->scheduler_name != scheduler		 ? "schedulerName"
				   : p->obj->has_priority && p->obj->priority != group->priority ? "priority"
												 : NULL;

		if (!what)
			continue;
		close_all(g, OUTCOME_WAITING,
			  arena_printf(g->keep, "%s of pod %s is not that of its pod group %s", what,
				       pod_name(g, &g->v[i]), group_name(g)));
		return true;
	}
	return false;
}

/* ---- one round ---- */

/* Why it fits nowhere, told once. */
static void refuse(struct attempt *a, struct gang_pod *m)
{
	struct text t = {0};

	attempt_refusal_text(a, &t);
	m->words = attempt_keep_text(a, &t);
}

static enum err_code choose(struct kube_gang *g, struct attempt *a, struct gang_pod *m, struct err *e)
{
	if (attempt_nominated_node_fits(a)) {
		m->d.tie = TIE_NOMINATED;
		m->node = a->c.p->node;
		return ERR_OK;
	}
	attempt_filter(a);
	if (a->n_feasible && attempt_choose(a, &m->node, e))
		return ERR_INTERNAL;
	if (!a->n_feasible && !g->is_dry)
		refuse(a, m);
	if (g->run->report == m->pod && !g->is_dry)
		attempt_report(a, NULL, 0);
	return ERR_OK;
}

static enum err_code seat_one(struct kube_gang *g, struct gang_pod *m, struct err *e)
{
	struct attempt a = {.en = g->en, .keep = g->keep, .d = &m->d};
	enum err_code rc;

	cycle_begin(&a.c, engine_framework(g->en, m->pod), g->en->arena, m->pod, g->run->now_ns);
	rc = choose(g, &a, m, e);
	m->is_plain = displace_is_fast(&a.c);
	if (!rc && m->node != NODE_NONE)
		volumes_assume(&a.c, m->node);
	cycle_end(&a.c);
	arena_reset(g->en->arena);
	if (!rc && m->node != NODE_NONE)
		ledger_place(g->en->ledger, m->pod, m->node);
	return rc;
}

static uint32_t count_open(struct kube_gang *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->v[i].is_open;
	return n;
}

/* It stops as soon as too few are left to be enough. */
enum err_code gang_round(struct kube_gang *g, bool *ret, struct err *e)
{
	ledger_mark mark = ledger_get_mark(g->en->ledger);
	uint32_t left = count_open(g), placed = podset_of(g)->n_placed, before = placed;
	enum err_code rc = ERR_OK;

	for (uint32_t i = 0; i < g->n; i++)
		g->v[i].node = NODE_NONE;
	for (uint32_t i = 0; !rc && i < g->n && placed + left >= g->min; i++) {
		if (!g->v[i].is_open)
			continue;
		rc = seat_one(g, &g->v[i], e);
		placed += g->v[i].node != NODE_NONE;
		left--;
	}
	ledger_rollback(g->en->ledger, mark);
	*ret = placed > before && placed >= g->min;
	return rc;
}

/* ---- what follows ---- */

/* A plugin may still refuse one of them; if too few remain then, nothing remains of the round. */
static void settle(struct kube_gang *g)
{
	ledger_mark mark = ledger_get_mark(g->en->ledger);
	const char *refusal = NULL;

	for (uint32_t i = 0; i < g->n; i++) {
		struct gang_pod *m = &g->v[i];
		struct attempt a = {.en = g->en, .keep = g->keep, .d = &m->d};

		if (!m->is_open || m->node == NODE_NONE)
			continue;
		cycle_begin(&a.c, engine_framework(g->en, m->pod), g->en->arena, m->pod, g->run->now_ns);
		attempt_place(&a, m->node);
		cycle_end(&a.c);
		arena_reset(g->en->arena);
		m->is_open = false;
		if (m->d.outcome != OUTCOME_PLACED)
			refusal = arena_printf(g->keep, "its pod group needs %s: %s", pod_name(g, m), m->d.message);
	}
	if (!refusal || podset_of(g)->n_placed >= g->min)
		return;
	ledger_rollback(g->en->ledger, mark);
	for (uint32_t i = 0; i < g->n; i++) {
		struct gang_pod *m = &g->v[i];

		m->is_open = false;
		if (m->d.outcome == OUTCOME_PLACED || !m->d.message)
			m->d = attempt_decision(g->en, m->pod), m->d.message = refusal;
	}
}

static uint32_t count_refused(const struct kube_gang *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->v[i].is_open && g->v[i].words;
	return n;
}

/* Why those who are still open wait: each its own reason, or the group's. */
static void tell_open(struct kube_gang *g, const char *post)
{
	const char *group = group_name(g);
	uint32_t refused = count_refused(g);

	for (uint32_t i = 0; i < g->n; i++) {
		struct gang_pod *m = &g->v[i];

		if (!m->is_open)
			continue;
		m->d.message = m->words ? m->words
					: arena_printf(g->keep,
						       "pod group %s needs places for %u %s together and has none for "
						       "%u of its %u.",
						       group, g->min, g->min == 1 ? "pod" : "pods", refused, g->n);
		if (post && m->d.outcome == OUTCOME_WAITING)
			m->d.message = arena_printf(g->keep, "%s preemption: %s", m->d.message, post);
	}
}

static struct victim *list_victims(struct kube_gang *g, const struct gang_victims *found)
{
	struct victim *v = arena_n(g->keep, found->n + 1, struct victim);

	for (uint32_t i = 0; i < found->n; i++) {
		const struct pod *p = ledger_pod(g->en->ledger, found->pods[i]);

		v[i] = (struct victim){.pod = found->pods[i],
				       .node = p->node,
				       .queue = p->queue,
				       .overridden = found->violates[i]	   ? RULE_BUDGET
						     : found->is_spared[i] ? RULE_PLUGIN
									   : RULE_NONE,
				       .goes_with_group = pod_goes_whole(g->en->ledger, p),
				       .lost_ns = lost_ns_of(p, g->run->now_ns)};
	}
	return v;
}

/* In the report of the node it is nominated to: who of it goes there. */
static void report_seat(struct kube_gang *g, struct gang_pod *m)
{
	for (uint32_t i = 0; i < m->d.n_nodes; i++) {
		struct node_report *r = &m->d.nodes[i];
		pod_id *here = r->node == m->node ? arena_n(g->keep, m->d.n_victims + 1, pod_id) : NULL;

		for (uint32_t k = 0; here && k < m->d.n_victims; k++)
			if (m->d.victims[k].node == m->node)
				here[r->n_victims++] = m->d.victims[k].pod;
		if (!here || !r->n_victims)
			continue;
		r->fate = FATE_CANDIDATE;
		r->victims = here;
	}
}

static void nominate(struct kube_gang *g, const struct gang_victims *found)
{
	const struct victim *victims = list_victims(g, found);

	for (uint32_t i = 0; i < found->n; i++)
		if (ledger_pod(g->en->ledger, found->pods[i])->state == POD_PLACED)
			ledger_evict(g->en->ledger, found->pods[i]);
	for (uint32_t i = 0; i < g->n; i++) {
		struct gang_pod *m = &g->v[i];

		if (!m->is_open || m->node == NODE_NONE)
			continue;
		m->d.outcome = OUTCOME_NOMINATED;
		m->d.action = ACTION_DISPLACE;
		m->d.node = m->node;
		m->d.victims = victims;
		m->d.n_victims = found->n;
		ledger_nominate(g->en->ledger, m->pod, m->node);
		report_seat(g, m);
	}
}

/* Who got nothing has no nomination either. */
static void clear_unseated(struct kube_gang *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->v[i].is_open && g->v[i].d.outcome != OUTCOME_NOMINATED)
			ledger_clear_nomination(g->en->ledger, g->v[i].pod);
}

static enum err_code preempt(struct kube_gang *g, struct err *e)
{
	struct gang_victims found;
	enum err_code rc = ERR_OK;

	if (!framework_preempts(engine_framework(g->en, g->v[0].pod))) {
		tell_open(g, NULL);
		return ERR_OK;
	}
	if (gang_may_preempt(g, &found))
		rc = gang_find_victims(g, &found, e);
	if (rc)
		return rc;
	if (found.is_found && !found.n) { /* other places than the first it found, and nobody in the way */
		settle(g);
	} else if (found.is_found) {
		nominate(g, &found);
	}
	for (uint32_t i = 0; i < g->n; i++)
		if (g->v[i].is_open && found.is_never)
			g->v[i].d.own_rule = RULE_NEVER;
	if (!found.is_ongoing && !found.is_never)
		clear_unseated(g);
	tell_open(g, found.why);
	return ERR_OK;
}

/* ---- the attempt ---- */

static enum err_code try_group(struct kube_gang *g, struct err *e)
{
	bool fits = true;

	if (is_gated(g) || is_at_odds(g))
		return ERR_OK;
	while (fits && count_open(g)) {
		enum err_code rc = gang_round(g, &fits, e);

		if (rc)
			return rc;
		if (fits)
			settle(g);
	}
	return count_open(g) ? preempt(g, e) : ERR_OK;
}

/* Its PodGroup is not there. */
static void wait_for_group(struct kube_gang *g, pod_id pod)
{
	const struct pod *p = ledger_pod(g->en->ledger, pod);

	g->arena = arena_new(1 << 10);
	g->v = arena_n(g->arena, 1, struct gang_pod);
	g->v[g->n++] = (struct gang_pod){.pod = pod, .d = attempt_decision(g->en, pod)};
	close_all(g, OUTCOME_GATED,
		  arena_printf(g->keep, "waiting for its pod group %s to appear",
			       name_of(g, labelset_get(ledger_vocab(g->en->ledger), p->labelset)->ns, p->obj->group)));
}

enum err_code gang_kube_try(struct engine *en, const struct engine_run *run, pod_id pod, struct arena *keep,
			    const struct decision **ret, uint32_t *ret_n, struct err *e)
{
	struct kube_gang g = {.en = en, .run = run, .keep = keep};
	group_id id = ledger_pod(en->ledger, pod)->group;
	enum err_code rc = ERR_OK;
	struct decision *d;

	if (id == GROUP_NONE) {
		wait_for_group(&g, pod);
	} else {
		gang_open(&g, en, run, id, keep);
		rc = try_group(&g, e);
	}
	d = arena_n(keep, g.n + 1, struct decision);
	for (uint32_t i = 0; i < g.n; i++)
		d[i] = g.v[i].d;
	*ret = d;
	*ret_n = g.n;
	gang_close(&g);
	return rc;
}
