/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed_trial.h - a plan for a mixed world under judgement: one decision after the other is judged by mixed_judge.h and
 * carried out in the test's own model; what breaks a promise is counted, and told with the seed. For tests only.
 */
#pragma once

#include <stdarg.h>

#include "properties/mixed_run.h"

enum promise {
	NONE_YET,
	OVERCOMMIT,
	PROTECTED,
	SPARED,
	GUARANTEE,
	NEEDED,
	LOOPS,
	ROLLBACK,
	REPLAY,
	SAME,
	GANGS,
	MOVES,
	AGREES,
	PROMISES
};

static const char *const promise_words[PROMISES] = {
	[OVERCOMMIT] = "no node over-committed",
	[PROTECTED] = "no protected pod evicted",
	[SPARED] = "nobody protected without reason",
	[GUARANTEE] = "no queue below its guarantee",
	[NEEDED] = "every victim needed",
	[LOOPS] = "no preemption for ever",
	[ROLLBACK] = "rollback exact",
	[REPLAY] = "replay is the record",
	[SAME] = "same answer for any threads and order",
	[GANGS] = "no gang started in part",
	[MOVES] = "nothing moved without a place",
	[AGREES] = "decisions, ledger and summary agree",
};

struct tally {
	uint64_t clusters, decisions, evictions, checked[PROMISES], broken[PROMISES];
};

static struct tally tallies[PROFILE_COUNT];

struct trial { /* one cluster under judgement */
	struct mixed m;
	struct live l;
	uint64_t seed;
	uint32_t cycle;
};

static inline struct tally *tally_of(const struct trial *t)
{
	return &tallies[t->m.profile];
}

static inline void __attribute__((format(printf, 3, 4)))
breaks(struct trial *t, enum promise which, const char *words, ...)
{
	va_list ap;

	if (tally_of(t)->broken[which]++ >= 5)
		return;
	fprintf(stderr, "%s, seed %" PRIu64 ", profile %s: ", promise_words[which], t->seed,
		profile_text(t->m.profile));
	va_start(ap, words);
	vfprintf(stderr, words, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static inline const char *name_at(const struct trial *t, int pod)
{
	return pod < 0 ? "-" : m_at(&t->m, pod)->name;
}

/* ---- carrying out ---- */

static inline void send_away(struct trial *t, int pod)
{
	struct m_pod *p = m_at(&t->m, pod);

	for (int i = 0; i < t->m.n_budgets; i++)
		t->m.b[i].spent += p->state == M_RUNS && is_covered(&t->m.b[i], p);
	if (p->state != M_RUNS)
		return;
	p->state = M_LEAVES;
	p->was_ours = true;
}

/* KAI knows nothing of pods that are another scheduler's. */
static inline bool group_runs(const struct trial *t, int group)
{
	for (uint32_t i = 0; i < t->m.p.n; i++)
		if (t->m.p.v[i].state == M_RUNS && t->m.p.v[i].has_group && t->m.p.v[i].group == group &&
		    (t->m.profile != PROFILE_KAI || is_ours(&t->m, &t->m.p.v[i])))
			return true;
	return false;
}

static inline void put_on(struct trial *t, int pod, int node)
{
	struct m_pod *p = m_at(&t->m, pod);
	bool has_stamp = p->has_group && (t->m.profile == PROFILE_KAI || !t->m.g[p->group].is_k8s);

	if (has_stamp && !group_runs(t, p->group))
		t->m.g[p->group].ago = 0;
	p->state = M_RUNS;
	p->node = node;
	p->nomination = NOWHERE;
	p->is_placed = true;
	p->since = 0;
}

/* In profile kubernetes more important pods may take it all the same (KF-9). */
static inline void nominate(struct trial *t, int pod, int node)
{
	m_at(&t->m, pod)->nomination = node;
	m_at(&t->m, pod)->is_doubted = false;
	m_at(&t->m, pod)->holds = t->m.profile != PROFILE_KUBERNETES;
}

static inline void next_cycle(struct trial *t, uint32_t cycle)
{
	t->cycle = cycle;
	for (uint32_t i = 0; i < t->m.p.n; i++)
		if (t->m.p.v[i].state == M_LEAVES)
			t->m.p.v[i].state = M_GONE;
}

/* ---- preemptions ---- */

struct judged { /* a decision in the test's words */
	struct m_preemption c;
	int pods[64], nodes[64], victims[256];
};

static inline bool gets_room(const struct decision *d)
{
	return d->outcome == OUTCOME_PLACED || d->outcome == OUTCOME_NOMINATED;
}

static inline bool is_below_minimum(const struct trial *t, int group)
{
	const struct m_group *g = &t->m.g[group];

	for (int part = 0; part < g->n_parts; part++) {
		struct m_pod like = {.has_group = true, .group = group, .part = part};

		if (stay_of(&t->m, &like, NULL) < minimum_of(&t->m, &like))
			return true;
	}
	return false;
}

/* Groups whose pods are tried together, if they do not run yet. */
static inline bool is_gang_preemption(const struct trial *t, int pod)
{
	const struct m_pod *p = m_at(&t->m, pod);

	if (!p->has_group || t->m.profile == PROFILE_YUNIKORN)
		return false;
	return t->m.profile == PROFILE_KUBERNETES ? true : is_below_minimum(t, p->group);
}

static inline void judged_from(const struct trial *t, uint32_t at, struct judged *ret)
{
	const struct decisions *plan = &t->l.plan;
	const struct decision *d = &plan->v.v[at];
	int pod = live_index(&t->l, d->pod);
	bool is_gang = pod >= 0 && is_gang_preemption(t, pod);

	ret->c = (struct m_preemption){
		.action = d->action, .pod = pod, .pods.v = ret->pods, .nodes = ret->nodes, .victims.v = ret->victims};
	for (uint32_t i = 0; i < d->n_victims && i < 256; i++)
		ret->victims[ret->c.victims.n++] = live_index(&t->l, d->victims[i].pod);
	for (uint32_t i = at; pod >= 0 && i < plan->v.n && ret->c.pods.n < 64; i++) {
		const struct decision *o = &plan->v.v[i];
		bool is_same = o->cycle == d->cycle && o->pod != POD_NONE && (o == d || o->group == d->group);

		if (i > at && (!is_gang || !is_same || (o->n_victims && o->victims != d->victims)))
			break;
		if (!gets_room(o))
			continue;
		ret->pods[ret->c.pods.n] = live_index(&t->l, o->pod);
		ret->nodes[ret->c.pods.n++] = live_node(&t->l, o->node);
	}
}

/*
 * Kubernetes does not look at affinities at all unless a pod that runs, or the one it looks at, has some: pods that
 * have reserved room are overlooked then.
 */
static inline enum m_nominations nominations_seen(const struct trial *t)
{
	return t->m.profile == PROFILE_KUBERNETES ? NOMINATIONS_OF_ROOM : NOMINATIONS_THAT_HOLD;
}

/* Would all of them find their places with these gone? */
static inline bool all_fit(struct trial *t, const struct m_preemption *c, const struct m_set *gone, enum m_when when,
			   enum m_nominations nominated)
{
	bool is_kube = t->m.profile == PROFILE_KUBERNETES, fits = true;
	int64_t asks[M_TYPES] = {0};
	int was[64];

	for (uint32_t i = 0; i < c->pods.n; i++) {
		was[i] = m_at(&t->m, c->pods.v[i])->nomination;
		m_at(&t->m, c->pods.v[i])->nomination = NOWHERE;
	}
	for (uint32_t i = 0; i < c->pods.n; i++) {
		struct m_pod *p = m_at(&t->m, c->pods.v[i]);

		for (int k = 0; k < M_TYPES; k++)
			asks[k] += p->ask[k];
		fits &= m_fits(&t->m, c->pods.v[i], c->nodes[i], gone, when, nominated);
		p->nomination = c->nodes[i];
	}
	for (uint32_t i = 0; i < c->pods.n; i++)
		m_at(&t->m, c->pods.v[i])->nomination = NOWHERE;
	for (int k = 0; !is_kube && k < M_TYPES; k++)
		fits &= !lacks_below_max(&t->m, c->pods.v[0], asks, k, gone);
	for (uint32_t i = 0; i < c->pods.n; i++)
		m_at(&t->m, c->pods.v[i])->nomination = was[i];
	return fits;
}

/* Would the victims leave too few of their group? Then it goes as a whole (profile default). */
static inline bool breaks_gang(const struct trial *t, const struct m_preemption *c, int group)
{
	for (int part = 0; t->m.profile == PROFILE_DEFAULT && part < t->m.g[group].n_parts; part++) {
		struct m_pod like = {.has_group = true, .group = group, .part = part};

		if (stay_of(&t->m, &like, &c->victims) < minimum_of(&t->m, &like))
			return true;
	}
	return false;
}

static inline bool goes_whole(const struct trial *t, const struct m_preemption *c, int pod)
{
	const struct m_pod *p = m_at(&t->m, pod);

	return p->has_group && (t->m.g[p->group].goes_whole || breaks_gang(t, c, p->group));
}

static inline bool is_one_unit(const struct trial *t, const struct m_preemption *c, int a, int b)
{
	const struct m_pod *x = m_at(&t->m, a), *y = m_at(&t->m, b);

	return a == b || (x->has_group && y->has_group && x->group == y->group && goes_whole(t, c, a));
}

/*
 * In kube-scheduler's dry run a pod that was leaving already, and is not counted, is subtracted from its domain all the
 * same: where such pods are in the team of one that spreads, its victims are not what the truth would ask for. For a
 * group, pods of all zones come back in one pass: one may be refused that would fit once another zone is fuller; and
 * who must be near another pod may be near one of its own group.
 */
static inline bool is_miscounted(const struct trial *t, const struct m_preemption *c)
{
	for (uint32_t k = 0; t->m.profile == PROFILE_KUBERNETES && k < c->pods.n; k++) {
		const struct m_pod *p = m_at(&t->m, c->pods.v[k]);

		if (p->has_group && (p->spreads || (p->needs_team && c->pods.n > 1)))
			return true;
		for (uint32_t i = 0; p->spreads && i < t->m.p.n; i++)
			if (t->m.p.v[i].state == M_LEAVES && t->m.p.v[i].ns == p->ns && t->m.p.v[i].team == p->team)
				return true;
	}
	return false;
}

/*
 * The same where those for whom others move at the end of the cycle hold no room: they were tried before in vain, which
 * is not told, and may have given up a nomination then.
 */
static inline bool all_fit_without_moves(struct trial *t, const struct m_preemption *c, enum m_when when)
{
	const struct decisions *plan = &t->l.plan;
	int was[64], pods[64], n = 0;
	bool fits;

	for (uint32_t i = 0; i < plan->v.n && n < 64; i++) {
		const struct decision *d = &plan->v.v[i];
		int pod = d->pod == POD_NONE ? -1 : live_index(&t->l, d->pod);

		if (pod < 0 || d->action != ACTION_CONSOLIDATE || m_at(&t->m, pod)->nomination == NOWHERE)
			continue;
		pods[n] = pod;
		was[n++] = m_at(&t->m, pod)->nomination;
		m_at(&t->m, pod)->nomination = NOWHERE;
	}
	fits = n && all_fit(t, c, &c->victims, when, nominations_seen(t));
	while (n-- > 0)
		m_at(&t->m, pods[n])->nomination = was[n];
	return fits;
}

/* Of a gang, who may not preempt waits for pods that are stuck where nothing else is left: they go at last. */
static inline void check_needed(struct trial *t, const struct m_preemption *c)
{
	bool is_kube = t->m.profile == PROFILE_KUBERNETES;
	enum m_when when = is_kube ? AT_ONCE : c->pods.n > 1 ? AT_LAST : SOON;

	if (is_miscounted(t, c))
		return;
	tally_of(t)->checked[NEEDED]++;
	if (!all_fit(t, c, &c->victims, when, nominations_seen(t)) && !all_fit_without_moves(t, c, when))
		breaks(t, OVERCOMMIT, "%s does not fit with its %u victims gone", name_at(t, c->pod), c->victims.n);
	for (uint32_t i = 0; i < c->victims.n; i++) {
		int less[256];
		struct m_set rest = {.v = less};

		for (uint32_t k = 0; k < c->victims.n; k++)
			if (!is_one_unit(t, c, c->victims.v[i], c->victims.v[k]))
				less[rest.n++] = c->victims.v[k];
		/* who is nominated elsewhere takes room there, but does not count for a spread before it runs */
		if (all_fit(t, c, &rest, is_kube ? AT_ONCE : SOON, is_kube ? NOMINATIONS_AS_HIGH : ALL_NOMINATIONS) &&
		    (is_kube || all_fit(t, c, &rest, SOON, NOMINATIONS_THAT_HOLD)))
			breaks(t, NEEDED, "%s by %s: %s did not have to go", name_at(t, c->pod), action_text(c->action),
			       name_at(t, c->victims.v[i]));
	}
}

static inline void check_protected(struct trial *t, const struct m_preemption *c)
{
	int victim = -1;
	const char *why = judge_preemption(&t->m, c, &victim);

	tally_of(t)->checked[PROTECTED] += c->victims.n;
	tally_of(t)->checked[GUARANTEE] += c->action == ACTION_RECLAIM && t->m.profile != PROFILE_KAI;
	if (why)
		breaks(t, str_eq(why, "law 2") ? GUARANTEE : PROTECTED, "%s took %s by %s: %s", name_at(t, c->pod),
		       name_at(t, victim), action_text(c->action), why);
}

/* The action in which a single pod asked for this victim first. */
static inline enum action asked_by(const struct trial *t, const struct m_pod *p, const struct m_pod *v)
{
	if (t->m.profile == PROFILE_KUBERNETES)
		return ACTION_DISPLACE;
	if (p->is_daemon && p->pin >= 0)
		return ACTION_REQUIRED_NODE;
	if (v->leaf != p->leaf)
		return ACTION_RECLAIM;
	return p->leaf == NO_QUEUE ? ACTION_DISPLACE : ACTION_PREEMPT;
}

/* Work is left alone from its fourth eviction on: so many at least of its namespace were sent away in this plan. */
static inline bool was_evicted_often(const struct trial *t, int victim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->m.p.n; i++)
		n += t->m.p.v[i].was_ours && t->m.p.v[i].ns == m_at(&t->m, victim)->ns;
	return n >= 4;
}

/* Rules that mixed_judge.h knows, and that protect a pod alone, whoever goes with it. */
static inline bool is_judged_here(const struct protected_pod *x)
{
	return x->verdict.answer == IS_PROTECTED && !x->is_refused_in_set && x->verdict.rule != RULE_SAME_CYCLE;
}

/* The window of who was sent away a moment ago counts: two small requests take no more than a big one could. */
static inline bool is_young_and_sent_away(const struct trial *t, const struct m_preemption *c, const struct m_pod *p)
{
	return t->m.profile == PROFILE_DEFAULT && p->state == M_LEAVES && p->was_ours && is_young(&t->m, c, p);
}

/* What one may lose alone, all of its group may not lose together: its minimum, while a window runs. */
static inline bool is_whole_kept(const struct trial *t, struct m_preemption c, int group)
{
	int all[256], who;

	c.victims = (struct m_set){0, all};
	for (int i = 0; i < (int)t->m.p.n && c.victims.n < 256; i++) {
		const struct m_pod *o = m_at(&t->m, i);

		if (!o->has_group || o->group != group)
			continue;
		if (is_young_and_sent_away(t, &c, o))
			return true;
		if (o->state == M_RUNS)
			all[c.victims.n++] = i;
	}
	return judge_preemption(&t->m, &c, &who) != NULL;
}

/* By itself, or with others of its group: where more than the surplus would have to go, all do. */
static inline bool is_kept(const struct trial *t, struct m_preemption c, int victim)
{
	const struct m_pod *v = m_at(&t->m, victim);
	int who;

	for (int i = 0; i < (int)t->m.p.n; i++) {
		const struct m_pod *o = m_at(&t->m, i);

		c.victims = (struct m_set){1, &i};
		if ((i == victim || (v->has_group && o->has_group && o->group == v->group && o->state == M_RUNS)) &&
		    judge_preemption(&t->m, &c, &who))
			return true;
	}
	c.victims = (struct m_set){1, &victim};
	return goes_whole(t, &c, victim) && is_whole_kept(t, c, v->group);
}

/* By priority: the pods of a gang may differ, so one of them that is not above the victim is enough. */
static inline bool is_too_high(const struct trial *t, const struct m_preemption *c, const struct m_pod *v)
{
	const struct mixed *m = &t->m;

	for (uint32_t i = 0; i < m->p.n; i++) {
		const struct m_pod *p = &m->p.v[i], *first = m_at(m, c->pod);
		int meet = queue_meet(m, p->leaf, v->leaf);
		bool is_one = (int)i == c->pod || (first->has_group && p->has_group && p->group == first->group);
		bool is_between = m->profile != PROFILE_KUBERNETES && p->leaf != v->leaf;

		if (is_one && (is_between ? rank_seen(m, v, meet) > rank_seen(m, p, meet) : v->rank >= p->rank))
			return true;
	}
	return false;
}

/* Does this rule have a reason to protect the victim, whatever the others say? Rules about shares are not read here. */
static inline bool has_reason(const struct trial *t, enum rule_id rule, const struct m_preemption *c,
			      const struct m_pod *v)
{
	const struct mixed *m = &t->m;
	const struct m_pod *p = m_at(m, c->pod);

	switch (rule) {
	case RULE_FOREIGN:
		return !is_ours(m, v);
	case RULE_DAEMONSET:
		return v->is_daemon;
	case RULE_APPLICATION:
		return p->app >= 0 && p->app == v->app && p->ns == v->ns;
	case RULE_FENCE:
		return v->leaf != p->leaf && !queue_is_in(m, v->leaf, fence_of(m, p->leaf));
	case RULE_POLICY:
		return is_disabled(m, v->leaf);
	case RULE_PREEMPTIBILITY:
		return v->may != PREEMPTIBLE;
	case RULE_OPT_OUT:
		return opts_out(m, v);
	case RULE_PLUGIN:
		return is_kept_by_plugin(m, v);
	case RULE_MIN_RUNTIME:
		return is_young(m, c, v);
	case RULE_PRIORITY:
		return is_too_high(t, c, v);
	default:
		return true;
	}
}

/* Of the pod, or of one that would go with it, or went a moment ago. */
static inline bool has_reason_in_group(const struct trial *t, enum rule_id rule, const struct m_preemption *c,
				       int victim)
{
	const struct m_pod *v = m_at(&t->m, victim);

	for (uint32_t i = 0; v->has_group && i < t->m.p.n; i++) {
		const struct m_pod *o = &t->m.p.v[i];
		bool is_there = o->state == M_RUNS || (o->state == M_LEAVES && o->was_ours);

		if (o->has_group && o->group == v->group && is_there && has_reason(t, rule, c, o))
			return true;
	}
	return has_reason(t, rule, c, v);
}

/* Where a whole search decides who goes (profile kai, gangs): the rule that is named has a reason. */
static inline void check_named_rule(struct trial *t, int pod, const struct protected_pod *x)
{
	int victim = live_index(&t->l, x->pod);
	enum rule_id rule = (enum rule_id)x->verdict.rule;
	struct m_preemption c = {.pod = pod, .action = asked_by(t, m_at(&t->m, pod), m_at(&t->m, victim))};

	if (m_at(&t->m, victim)->state == M_WAITS) /* placed by an action before, and told of later */
		return;
	tally_of(t)->checked[SPARED]++;
	if (!has_reason_in_group(t, rule, &c, victim))
		breaks(t, SPARED, "%s is said to be protected from %s by %s, which has no reason", name_at(t, victim),
		       name_at(t, pod), rule_text(rule));
}

/* Who is said to be protected from a single pod is so by the second reading too. */
static inline void check_spared(struct trial *t, const struct decision *d)
{
	int pod = live_index(&t->l, d->pod);
	bool is_searched_whole = pod >= 0 && (t->m.profile == PROFILE_KAI || is_gang_preemption(t, pod));

	for (uint32_t i = 0; is_searched_whole && i < d->n_protected; i++)
		check_named_rule(t, pod, &d->protected[i]);
	if (pod < 0 || is_searched_whole)
		return;
	for (uint32_t i = 0; i < d->n_protected; i++) {
		int victim = live_index(&t->l, d->protected[i].pod), node = live_node(&t->l, d->protected[i].node);
		struct m_preemption c = {.pod = pod, .pods = {1, &pod}, .nodes = &node};

		if (!is_judged_here(&d->protected[i]))
			continue;
		c.action = asked_by(t, m_at(&t->m, pod), m_at(&t->m, victim));
		tally_of(t)->checked[SPARED]++;
		if (d->protected[i].verdict.rule == RULE_THRASH ? !was_evicted_often(t, victim)
								: !is_kept(t, c, victim))
			breaks(t, SPARED, "%s could go for %s by %s, and is said to be protected by %s",
			       name_at(t, victim), name_at(t, pod), action_text(c.action),
			       rule_text((enum rule_id)d->protected[i].verdict.rule));
	}
}

/* GQ-9: a single pod takes from one node; a group of Kubernetes' takes from all, also for one pod of it. */
static inline void check_one_node(struct trial *t, const struct m_preemption *c)
{
	if (t->m.profile == PROFILE_KUBERNETES && m_at(&t->m, c->pod)->has_group)
		return;
	for (uint32_t i = 0; c->pods.n == 1 && i < c->victims.n; i++)
		if (m_at(&t->m, c->victims.v[i])->node != c->nodes[0] && !goes_whole(t, c, c->victims.v[i]))
			breaks(t, NEEDED, "%s took %s from another node", name_at(t, c->pod),
			       name_at(t, c->victims.v[i]));
}

/* ---- one decision after the other ---- */

static inline void check_place(struct trial *t, int pod, int node, bool is_now)
{
	tally_of(t)->checked[OVERCOMMIT]++;
	if (m_at(&t->m, pod)->is_gated || !is_ours(&t->m, m_at(&t->m, pod)) || m_at(&t->m, pod)->leaf == BAD_QUEUE)
		breaks(t, AGREES, "%s got room on n%d and was not to be tried", name_at(t, pod), node);
	if (is_now && !m_fits(&t->m, pod, node, NULL, AT_ONCE, NO_NOMINATIONS))
		breaks(t, OVERCOMMIT, "%s does not fit n%d now", name_at(t, pod), node);
	if (!m_fits(&t->m, pod, node, NULL, AT_LAST, nominations_seen(t)) &&
	    !m_at(&t->m, pod)->needs_team && /* whom it needs may be on the way out, */
	    !m_at(&t->m, pod)->spreads)	     /* and so may who keeps zones even */
		breaks(t, OVERCOMMIT, "%s does not fit n%d, which is reserved for others", name_at(t, pod), node);
}

static inline void clear_lower_nominations(struct trial *t, int pod, int node)
{
	for (uint32_t i = 0; i < t->m.p.n; i++)
		if (t->m.p.v[i].state == M_WAITS && t->m.p.v[i].nomination == node &&
		    t->m.p.v[i].rank < m_at(&t->m, pod)->rank)
			t->m.p.v[i].nomination = NOWHERE;
}

/*
 * As in Kubernetes a pod keeps its nomination, and looks no further, while somebody is still leaving that node; and
 * while it is not tried, because its gang has lost somebody.
 */
static inline bool waits_on(const struct trial *t, const struct decision *d)
{
	if (t->m.profile == PROFILE_KUBERNETES && d->outcome == OUTCOME_GATED)
		return true;
	return t->m.profile == PROFILE_KUBERNETES && d->outcome == OUTCOME_WAITING && d->message &&
	       (strstr(d->message, "terminating pod on the nominated node") ||
		strstr(d->message, "ongoing preemption on nominated nodes"));
}

static inline void carry_out(struct trial *t, const struct decision *d)
{
	int pod = live_index(&t->l, d->pod), node = live_node(&t->l, d->node);

	for (uint32_t i = 0; i < d->n_victims; i++)
		send_away(t, live_index(&t->l, d->victims[i].pod));
	if (pod < 0)
		return;
	if (m_at(&t->m, pod)->state == M_LEAVES) { /* it moves, and comes back under another name */
		m_at(&t->m, pod)->nomination = gets_room(d) ? node : NOWHERE;
		return;
	}
	if (t->m.profile == PROFILE_KUBERNETES && d->n_victims && !m_at(&t->m, pod)->has_group)
		clear_lower_nominations(t, pod, node);
	if (!waits_on(t, d))
		m_at(&t->m, pod)->nomination = NOWHERE;
	if (gets_room(d) && t->m.profile != PROFILE_KAI && d->action != ACTION_CONSOLIDATE)
		check_place(t, pod, node, d->outcome == OUTCOME_PLACED);
	if (d->outcome == OUTCOME_PLACED)
		put_on(t, pod, node);
	else if (d->outcome == OUTCOME_NOMINATED)
		nominate(t, pod, node);
}

static inline void check_gangs(struct trial *t, const bool *placed)
{
	for (int g = 0; g < t->m.n_groups && t->m.profile != PROFILE_YUNIKORN; g++) {
		for (int part = 0; placed[g] && part < t->m.g[g].n_parts; part++) {
			struct m_pod like = {.has_group = true, .group = g, .part = part};
			int64_t n = 0, min = minimum_of(&t->m, &like);

			for (uint32_t i = 0; i < t->m.p.n; i++) {
				const struct m_pod *p = &t->m.p.v[i];

				n += is_of_its_podset(&t->m, p, &like) &&
				     (p->state == M_RUNS ||
				      (p->state == M_LEAVES && p->was_ours) || /* gone or moved since */
				      (p->state == M_WAITS && p->nomination != NOWHERE &&
				       t->m.profile != PROFILE_DEFAULT));
			}
			tally_of(t)->checked[GANGS]++;
			if (n < min)
				breaks(t, GANGS, "g%d started with %" PRId64 " of %" PRId64 " in part %d", g, n, min,
				       part);
		}
	}
}

/* ---- a cycle ---- */

static inline void check_moves(struct trial *t, uint32_t from, uint32_t to, const struct decision *d)
{
	for (uint32_t i = 0; d->action == ACTION_CONSOLIDATE && i < d->n_victims; i++) {
		bool has_place = false;

		tally_of(t)->checked[MOVES]++;
		for (uint32_t k = from; k < to; k++) {
			const struct decision *o = &t->l.plan.v.v[k];

			has_place |= o->pod == d->victims[i].pod && gets_room(o);
			for (uint32_t v = 0; o != d && v < o->n_victims; v++) /* a later action took the new place */
				has_place |= o->victims[v].pod == d->victims[i].pod;
		}
		if (!has_place)
			breaks(t, MOVES, "%s was moved to nowhere for %s", live_name(&t->l, d->victims[i].pod),
			       name_at(t, live_index(&t->l, d->pod)));
	}
}

/* Rooms of all nodes: now, and once whoever leaves is gone and whoever moves has come. */
static inline void check_rooms(struct trial *t)
{
	for (int n = 0; n < t->m.n_nodes; n++) {
		for (int k = 0; k < M_TYPES; k++) {
			int64_t now = room_on(&t->m, n, k, -1, NULL, AT_ONCE, NO_NOMINATIONS),
				soon = room_on(&t->m, n, k, -1, NULL, AT_LAST, NOMINATIONS_THAT_HOLD);

			for (uint32_t i = 0; i < t->m.p.n; i++)
				if (t->m.p.v[i].state == M_LEAVES && t->m.p.v[i].nomination == n)
					soon -= t->m.p.v[i].ask[k];
			tally_of(t)->checked[OVERCOMMIT]++;
			if (now < 0 || soon < 0)
				breaks(t, OVERCOMMIT, "n%d type %d: %" PRId64 " now, %" PRId64 " soon", n, k, now,
				       soon);
		}
	}
}

/* Where one pod or gang after the other is tried, node by node. */
static inline bool is_searched(const struct trial *t, const struct m_preemption *c)
{
	return t->m.profile != PROFILE_KAI && c->action != ACTION_CONSOLIDATE && c->pods.n;
}

/* Kubernetes' gangs: every member tells of the same victims. */
static inline bool is_of_gang_before(const struct trial *t, uint32_t at)
{
	const struct decision *d = &t->l.plan.v.v[at];

	for (uint32_t i = at; d->group != GROUP_NONE && i-- > 0 && t->l.plan.v.v[i].group == d->group;)
		if (t->l.plan.v.v[i].cycle == d->cycle && t->l.plan.v.v[i].victims == d->victims)
			return true;
	return false;
}

/*
 * Profile default asks groups a second time at the end of a cycle, and tells the second answer alone: by the first one
 * the group may have given up a nomination that it had, or may have kept it.
 */
static inline void doubt_nominations(struct trial *t, uint32_t from, uint32_t to)
{
	for (uint32_t i = to; t->m.profile == PROFILE_DEFAULT && i-- > from;) {
		const struct decision *d = &t->l.plan.v.v[i];
		int pod = live_index(&t->l, d->pod);

		if (d->group == GROUP_NONE)
			return;
		if (pod >= 0 && m_at(&t->m, pod)->state == M_WAITS)
			m_at(&t->m, pod)->is_doubted = true;
	}
}

/* A group is placed as one: what some of it were nominated to is in the way of none of it. */
static inline void give_up_together(struct trial *t, uint32_t at)
{
	const struct decision *d = &t->l.plan.v.v[at];

	for (uint32_t i = at + 1; t->m.profile != PROFILE_YUNIKORN && d->group != GROUP_NONE && i < t->l.plan.v.n;
	     i++) {
		const struct decision *o = &t->l.plan.v.v[i];

		if (o->group != d->group || o->cycle != d->cycle)
			return;
		if (gets_room(d) && gets_room(o))
			m_at(&t->m, live_index(&t->l, o->pod))->nomination = NOWHERE;
	}
}

/* Of a group that gets room those who get none gave up what they were nominated to, before the others are tried. */
static inline void give_up_before(struct trial *t, uint32_t at)
{
	const struct decision *d = &t->l.plan.v.v[at];

	for (uint32_t i = at + 1; t->m.profile == PROFILE_DEFAULT && d->group != GROUP_NONE && i < t->l.plan.v.n; i++) {
		const struct decision *o = &t->l.plan.v.v[i];

		if (o->group != d->group || o->cycle != d->cycle)
			return;
		if (gets_room(d) && !gets_room(o))
			m_at(&t->m, live_index(&t->l, o->pod))->nomination = NOWHERE;
	}
}

static inline uint32_t walk_cycle(struct trial *t, uint32_t at)
{
	bool placed[M_GROUPS] = {false};
	uint32_t cycle = t->l.plan.v.v[at].cycle, to = at;
	struct judged j;

	while (to < t->l.plan.v.n && t->l.plan.v.v[to].cycle == cycle)
		to++;
	doubt_nominations(t, at, to);
	for (uint32_t i = at; i < to; i++) {
		const struct decision *d = &t->l.plan.v.v[i];

		give_up_before(t, i);
		judged_from(t, i, &j);
		check_spared(t, d);
		if (d->n_victims && !is_of_gang_before(t, i))
			check_protected(t, &j.c);
		if (d->n_victims && !is_of_gang_before(t, i) && is_searched(t, &j.c)) {
			check_needed(t, &j.c);
			check_one_node(t, &j.c);
		}
		check_moves(t, at, to, d);
		give_up_together(t, i);
		carry_out(t, d);
		if (d->outcome == OUTCOME_PLACED && m_at(&t->m, j.c.pod)->has_group)
			placed[m_at(&t->m, j.c.pod)->group] = true;
	}
	check_gangs(t, placed);
	check_rooms(t);
	return to;
}

static inline void walk(struct trial *t)
{
	t->cycle = 1;
	for (uint32_t at = 0; at < t->l.plan.v.n;) {
		uint32_t cycle = t->l.plan.v.v[at].cycle;

		while (t->cycle < cycle)
			next_cycle(t, t->cycle + 1);
		at = walk_cycle(t, at);
	}
}
