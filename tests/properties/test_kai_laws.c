/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random clusters in profile kai, one cycle of all actions: a second, slow and simple reading of who may be interrupted
 * looks at every victim; no node has more than it has room for in the end; who moves has a place; and the plan is the
 * same in whatever order the documents are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "properties/kai_random.h"
#include "properties/recorded.h"

/* ---- the slow reading ---- */

static bool is_in(const struct kr *w, int q, int ancestor)
{
	for (; q >= 0 && q != ancestor; q = w->q[q].parent)
		;
	return q == ancestor;
}

static int64_t upward(const struct kr *w, int q, bool is_reclaim)
{
	for (; q >= 0; q = w->q[q].parent) {
		int64_t window = is_reclaim ? w->q[q].reclaim : w->q[q].preempt;

		if (window != KR_UNSET)
			return window;
	}
	return is_reclaim ? w->reclaim : w->preempt;
}

static int64_t reclaim_window(const struct kr *w, int by, int victim)
{
	int q = victim;

	while (!w->by_leaf && q != by && w->q[q].parent >= 0 && !is_in(w, by, w->q[q].parent))
		q = w->q[q].parent;
	return upward(w, q, true);
}

static bool is_protected(const struct kr *w, enum action action, int by, const struct kr_group *g)
{
	if (g->ago == KR_UNSET) /* each pod has its own start, which profile kai does not look at: as in KAI */
		return false;
	switch (action) {
	case ACTION_PREEMPT:
		return g->ago < upward(w, g->queue, false);
	case ACTION_RECLAIM:
		return g->ago < reclaim_window(w, by, g->queue);
	case ACTION_CONSOLIDATE:
		return w->covers_consolidation &&
		       (g->ago < upward(w, g->queue, false) || g->ago < reclaim_window(w, by, g->queue));
	default:
		return false;
	}
}

/* ---- who is who ---- */

static const struct pod *pod_at(const struct story *s, pod_id p)
{
	return ledger_pod(cluster_ledger(s->cluster), p);
}

/* Names are "g3-0-2": group, part, number. */
static int group_of(const struct story *s, pod_id p)
{
	return (int)strtol(story_name(s, p) + 1, NULL, 10);
}

static int part_of(const struct story *s, pod_id p)
{
	return (int)strtol(strchr(story_name(s, p), '-') + 1, NULL, 10);
}

/* The group a decision was made for. */
static int group_asking(const struct story *s, const struct decision *d)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	return (int)strtol(name_str(vocab_names(s->vocab), ledger_group(l, d->group)->obj->name) + 1, NULL, 10);
}

static bool is_elastic(const struct kr_group *g)
{
	return g->n_pods[0] > g->min[0] || (g->n_parts > 1 && g->n_pods[1] > g->min[1]);
}

struct fate { /* of a pod */
	bool ran, is_victim, is_placed;
	bool goes_freely; /* some action took it from which no window protects it */
	unsigned actions; /* all that took it */
	node_id node, new_node;
};

struct fates {
	uint32_t n;
	struct fate v[KR_DOCS];
};

static void read_before(const struct story *s, struct fates *f)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	*f = (struct fates){.n = ledger_pod_limit(l)};
	assert_true(f->n <= KR_DOCS);
	for (pod_id p = 0; p < f->n; p++)
		f->v[p] = (struct fate){.ran = ledger_pod(l, p)->state == POD_PLACED,
					.node = ledger_pod(l, p)->node,
					.new_node = NODE_NONE};
}

static void read_plan(const struct kr *w, const struct story *s, struct fates *f)
{
	for (uint32_t i = 0; i < s->plan.v.n; i++) {
		const struct decision *d = &s->plan.v.v[i];

		if (d->outcome == OUTCOME_PLACED || d->outcome == OUTCOME_NOMINATED)
			f->v[d->pod].new_node = d->node;
		if (d->outcome == OUTCOME_PLACED)
			f->v[d->pod].is_placed = true;
		for (uint32_t k = 0; k < d->n_victims; k++) {
			pod_id p = d->victims[k].pod;

			f->v[p].is_victim = true;
			f->v[p].actions |= 1u << d->action;
			f->v[p].goes_freely |=
				!is_protected(w, d->action, w->g[group_asking(s, d)].queue, &w->g[group_of(s, p)]);
		}
	}
}

/* ---- what must hold ---- */

static const char *node_is_full(const struct kr *w, const struct story *s, const struct fates *f)
{
	res_id gpu = res_types_find(vocab_res(s->vocab), KAI_GPU_TYPE, strlen(KAI_GPU_TYPE));
	int64_t used[KR_NODES] = {0};

	for (pod_id p = 0; p < f->n; p++) {
		node_id n = f->v[p].new_node != NODE_NONE	? f->v[p].new_node
			    : f->v[p].ran && !f->v[p].is_victim ? f->v[p].node
								: NODE_NONE;

		if (n != NODE_NONE)
			used[name_str(vocab_names(s->vocab), ledger_node(cluster_ledger(s->cluster), n)->name)[1] -
			     '0'] += res_list_get(&shape_get(s->vocab, pod_at(s, p)->shape)->request, gpu);
	}
	for (int i = 0; i < w->n_nodes; i++)
		if (used[i] > w->gpus[i])
			return "a node has more than it has room for";
	return NULL;
}

/* One pod that was taken by an action for a group, looked at on its own. */
static const char *may_not_go(const struct kr *w, const struct fate *v, const struct kr_group *g, enum action action,
			      const struct kr_group *by)
{
	if (!v->ran)
		return "did not run";
	if (action == ACTION_STALE_GANG)
		return NULL;
	if (g->preemptibility == NON_PREEMPTIBLE)
		return "non-preemptible";
	if (g == by)
		return "its own group";
	if (action == ACTION_RECLAIM && g->queue == by->queue)
		return "reclaimed from the own queue";
	if (action == ACTION_PREEMPT && g->queue != by->queue)
		return "preempted in another queue";
	if (action == ACTION_PREEMPT && g->priority >= by->priority)
		return "preempted at the same priority";
	if (v->actions == 1u << ACTION_CONSOLIDATE && v->new_node == NODE_NONE)
		return "moved to nowhere";
	if (is_protected(w, action, by->queue, g) && (action == ACTION_CONSOLIDATE || !is_elastic(g)))
		return "inside its window";
	return NULL;
}

/*
 * Pods of a part: who ran or got a place that is free, who stays where he is, and who goes by an action that no window
 * protects from.
 */
struct tally {
	int ran, stays, goes_freely;
};

static struct tally count(const struct kr *w, const struct story *s, const struct fates *f, int group, int part)
{
	struct tally t = {0};

	for (pod_id p = 0; p < f->n; p++) {
		const struct fate *v = &f->v[p];

		if (!(v->ran || v->is_placed) || group_of(s, p) != group || part_of(s, p) != part)
			continue;
		t.ran++;
		t.stays += !v->is_victim;
		t.goes_freely += v->goes_freely;
	}
	return t;
}

static const char *minimum_is_broken(const struct kr *w, const struct story *s, const struct fates *f)
{
	for (int i = 0; i < w->n_groups; i++)
		for (int k = 0; k < w->g[i].n_parts; k++) {
			struct tally t = count(w, s, f, i, k);
			int min = w->g[i].min[k] < t.ran ? w->g[i].min[k] : t.ran;

			if (t.stays + t.goes_freely < min)
				return "a protected group is below its minimum";
		}
	return NULL;
}

/* The core of a semi-preemptible part are those that run longest. */
static const char *core_goes(const struct kr *w, const struct story *s, const struct fates *f)
{
	for (pod_id p = 0; p < f->n; p++) {
		const struct kr_group *g = &w->g[group_of(s, p)];
		int older = 0;

		if (!(f->v[p].actions & ~(1u << ACTION_STALE_GANG)) || g->preemptibility != SEMI_PREEMPTIBLE)
			continue;
		for (pod_id o = 0; o < f->n; o++) {
			const struct obj_pod *x = pod_at(s, o)->obj, *y = pod_at(s, p)->obj;
			int d = strcmp(story_name(s, o), story_name(s, p));

			if (!f->v[o].ran || group_of(s, o) != group_of(s, p) || part_of(s, o) != part_of(s, p))
				continue;
			if (x->started_ns != y->started_ns)
				d = x->started_ns < y->started_ns ? -1 : 1;
			else if (x->created_ns != y->created_ns)
				d = x->created_ns < y->created_ns ? -1 : 1;
			older += d < 0;
		}
		if (older < g->min[part_of(s, p)])
			return "the core of a semi-preemptible group goes";
	}
	return NULL;
}

/* Every decision says one thing: who waits took nothing, and a victim stands in one. */
static const char *is_told_twice(const struct story *s)
{
	struct bits seen = {0};
	const char *broken = NULL;

	for (uint32_t i = 0; i < s->plan.v.n; i++) {
		const struct decision *d = &s->plan.v.v[i];

		if (d->outcome == OUTCOME_WAITING && (d->action != ACTION_NONE || d->n_victims))
			broken = "who waits has an action or victims";
		for (uint32_t k = 0; k < d->n_victims; k++) {
			if (bits_has(&seen, d->victims[k].pod))
				broken = "a victim stands in two decisions";
			bits_set(&seen, d->victims[k].pod);
		}
	}
	bits_free(&seen);
	return broken;
}

static void check(const struct kr *w, uint64_t seed, const struct story *s, const struct fates *f)
{
	const char *broken = node_is_full(w, s, f);

	broken = broken ? broken : is_told_twice(s);

	broken = broken ? broken : minimum_is_broken(w, s, f);
	broken = broken ? broken : core_goes(w, s, f);
	if (broken)
		fail_msg("seed %" PRIu64 ": %s", seed, broken);
	for (uint32_t i = 0; i < s->plan.v.n; i++) {
		const struct decision *d = &s->plan.v.v[i];

		for (uint32_t k = 0; k < d->n_victims; k++) {
			pod_id p = d->victims[k].pod;

			broken = may_not_go(w, &f->v[p], &w->g[group_of(s, p)], d->action, &w->g[group_asking(s, d)]);
			if (broken)
				fail_msg("seed %" PRIu64 ": %s by %s: %s", seed, story_name(s, p),
					 action_text(d->action), broken);
		}
	}
}

/* ---- many clusters ---- */

struct sums {
	uint64_t decisions, by[ACTION_COUNT], spared, moved;
};

static void one_plan(const struct kr *w, uint64_t seed, struct sums *sums, struct text *line)
{
	struct fates f;
	struct story s;

	kr_story(w, 0, &s);
	story_load(&s);
	read_before(&s, &f);
	story_plan(&s);
	read_plan(w, &s, &f);
	check(w, seed, &s, &f);
	story_line(&s, line);
	sums->decisions += s.plan.v.n;
	for (pod_id p = 0; p < f.n; p++) {
		for (unsigned a = 0; a < ACTION_COUNT; a++)
			sums->by[a] += f.v[p].actions >> a & 1;
		sums->moved += f.v[p].is_victim && f.v[p].new_node != NODE_NONE;
	}
	story_end(&s);
}

/* The same documents in another order. */
static void same_plan(const struct kr *w, uint64_t seed, const char *line)
{
	struct text other = {0};
	struct story s;

	kr_story(w, seed, &s);
	story_plan(&s);
	story_line(&s, &other);
	if (!str_eq(text_str(&other), line))
		fail_msg("seed %" PRIu64 ": read in another order:\n%s\n%s", seed, line, text_str(&other));
	text_free(&other);
	story_end(&s);
}

static void many_cycles(const struct kr *w, uint64_t seed, struct recorded *recorded)
{
	struct text said = {0};
	ledger_mark mark;
	struct story s;

	kr_story(w, 0, &s);
	s.cycles = 6;
	story_load(&s);
	mark = ledger_get_mark(cluster_ledger(s.cluster));
	story_plan(&s);
	ledger_rollback(cluster_ledger(s.cluster), mark);
	story_emit(&s, &said);
	if (!recorded_is_same_as(recorded, seed, &said))
		fail_msg("seed %" PRIu64 ": it is decided otherwise than it was (properties/recorded.h)", seed);
	text_free(&said);
	story_end(&s);
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void MR_10_MR_14_and_PP_8_hold_for_every_eviction_in_profile_kai(void **state)
{
	uint64_t n = env_number("CEDE_N", 400), seconds = env_number("CEDE_SECONDS", 0),
		 first = env_number("CEDE_SEED", 1);
	time_t end = time(NULL) + (time_t)seconds;
	struct recorded recorded;
	struct sums sums = {0};

	(void)state;
	recorded_begin(&recorded, "kai_laws");
	for (uint64_t i = first; i < first + n || (seconds && time(NULL) < end); i++) {
		struct text line = {0};
		struct kr w;

		kr_make(&w, i);
		one_plan(&w, i, &sums, &line);
		same_plan(&w, i, text_str(&line));
		many_cycles(&w, i, &recorded);
		text_free(&line);
		kr_free(&w);
	}
	recorded_end(&recorded);
	print_message("kai: %" PRIu64 " decisions tried, %" PRIu64 " reclaimed, %" PRIu64 " preempted, %" PRIu64
		      " consolidated, %" PRIu64 " moved, 0 violations\n",
		      sums.decisions, sums.by[ACTION_RECLAIM], sums.by[ACTION_PREEMPT], sums.by[ACTION_CONSOLIDATE],
		      sums.moved);
	if (n < 100)
		return;
	assert_true(sums.by[ACTION_RECLAIM] > n / 10 && sums.by[ACTION_PREEMPT] > n / 20 &&
		    sums.by[ACTION_CONSOLIDATE] > n / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(MR_10_MR_14_and_PP_8_hold_for_every_eviction_in_profile_kai),
	};

	return cmocka_run_group_tests_name("kai_laws", tests, NULL, NULL);
}
