/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept from one decision to the next, and what is not looked at because it cannot win, changes no decision and
 * no reason: an engine that keeps and skips and one that looks at everything every time (engine_config.looks_at_all)
 * say the same bytes, on random clusters of all kinds of objects, while time goes on and pods come, go and move. Of the
 * first of them they also say what was said before (properties/recorded.h). Who asks for times alone
 * (engine_run.tells_times) gets the same decisions, and the same times.
 *
 * CEDE_N: clusters per profile; CEDE_SECONDS: how long instead; CEDE_SEED: from which on; CEDE_PROFILE: one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "engine/fair_shares.h"
#include "engine/protections.h"
#include "properties/mixed_run.h"
#include "properties/random_settings.h"
#include "properties/recorded.h"
#include "properties/session_alike.h"

enum { STEPS = 14 };

struct pair { /* two engines on one cluster */
	struct mixed m;
	struct live l;
	struct engine_config plain;
	struct engine *forgetful;
	struct rng rng;
	uint64_t seed;
	struct text said;		 /* by the one that remembers, from step to step */
	bool has_history;		 /* somebody is known to have been evicted before */
	struct eviction_history history; /* if so */
};

static struct {
	uint64_t clusters, decisions, evictions, followed; /* sessions */
} tally[PROFILE_COUNT];
static struct recorded recorded;

/* Spares one team, and keeps another. */
static struct cede_verdict sparer_may_evict(void *self, const struct cede_cycle *c, cede_pod victim)
{
	const char *team = cede_pod_label(c, victim, "team");

	(void)self;
	return !team		    ? cede_ok()
	       : str_eq(team, "t1") ? cede_answer(CEDE_SKIP, 0, 0)
	       : str_eq(team, "t2") ? cede_answer(CEDE_UNSCHEDULABLE, 0, 0)
				    : cede_ok();
}

static const struct cede_plugin sparer = {.abi = CEDE_PLUGIN_ABI,
					  .name = "sparer",
					  .may_evict = sparer_may_evict,
					  .reasons = keeper_reasons,
					  .n_reasons = 1};
static const struct framework_plugin sparers[] = {{.table = &sparer}};

static uint32_t upto(struct pair *p, uint32_t n)
{
	return rng_below(&p->rng, n);
}

static struct ledger *ledger_of(struct pair *p)
{
	return cluster_ledger(p->l.cluster);
}

/* ---- the same decision twice ---- */

/* pod: POD_NONE for all that wait. Nothing is left of it but the plan. */
static void plan(struct pair *p, struct engine *en, pod_id pod, bool tells_times, const struct bits *tells_of)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS + p->l.later_ns,
				 .cycles = p->seed % 3 ? 1 : 2,
				 .report = p->seed % 4 ? POD_NONE : pod,
				 .tells_times = tells_times,
				 .tells_of = tells_of,
				 .eviction_history = p->has_history ? &p->history : NULL};
	ledger_mark mark = ledger_get_mark(ledger_of(p));
	struct err e = {0};

	live_forget_plan(&p->l);
	p->l.plan.arena = arena_new(1 << 14);
	live_must(pod == POD_NONE ? engine_plan(en, &run, &p->l.plan, &e) : engine_try(en, &run, pod, &p->l.plan, &e),
		  &e, &p->m);
	ledger_rollback(ledger_of(p), mark);
}

static struct engine *start(struct pair *p, const struct engine_config *c)
{
	struct err e = {0};
	struct engine *en = engine_new(p->l.cluster, c, sparers, p->m.has_plugin, &e);

	live_must(en ? ERR_OK : ERR_INTERNAL, &e, &p->m);
	return en;
}

/* As `cede replay` decides, which remembers nothing yet, and says whatever was said when it was decided. */
static void plan_anew(struct pair *p, pod_id pod)
{
	struct engine *en = start(p, p->l.config);

	plan(p, en, pod, false, NULL);
	engine_free(en);
}

/* What was decided, whoever is protected. */
static void emit_bare(const struct pair *p, struct text *out)
{
	for (uint32_t i = 0; i < p->l.plan.v.n; i++) {
		const struct decision *d = &p->l.plan.v.v[i];

		text_printf(out, "pod %u: outcome %d on %u, not %u, by %d; victims", d->pod, d->outcome, d->node,
			    d->runner_up, d->action);
		for (uint32_t k = 0; k < d->n_victims; k++)
			text_printf(out, " %u", d->victims[k].pod);
		text_add_char(out, '\n');
	}
}

/* What was decided, and when the first of those who are protected no longer is. */
static void emit_times(const struct pair *p, struct text *out)
{
	for (uint32_t i = 0; i < p->l.plan.v.n; i++) {
		const struct decision *d = &p->l.plan.v.v[i];
		int64_t first_ns = INT64_MAX;

		for (uint32_t k = 0; k < d->n_protected; k++)
			if (d->protected[k].verdict.until_ns != TIME_NONE &&
			    d->protected[k].verdict.until_ns < first_ns)
				first_ns = d->protected[k].verdict.until_ns;
		text_printf(out, "pod %u: outcome %d on %u by %d until %" PRId64 ", first %" PRId64 "; victims", d->pod,
			    d->outcome, d->node, d->action, d->until_ns, first_ns);
		for (uint32_t k = 0; k < d->n_victims; k++)
			text_printf(out, " %u", d->victims[k].pod);
		text_add_char(out, '\n');
	}
}

static void complain(struct pair *p, const struct text *was, const struct text *is)
{
	const char *x = text_str(was), *y = text_str(is);
	size_t i = 0;

	while (x[i] && x[i] == y[i])
		i++;
	i = i > 300 ? i - 300 : 0;
	fail_msg("seed %" PRIu64 ", profile %s: looking at everything:\n%.600s\n--- remembering:\n%.600s", p->seed,
		 profile_text(p->m.profile), x + i, y + i);
}

static void compare(struct pair *p, struct text *was, struct text *is)
{
	if (!str_eq(text_str(was), text_str(is)))
		complain(p, was, is);
	text_reset(was);
	text_reset(is);
}

/*
 * Where filters refuse a node whoever goes, one who knows that does not search it, and does not say that the search
 * ended early there. What is decided is the same all the same.
 */
static void drop_early(struct text *t)
{
	static const char begin[] = "The search for the best set of victims ended early on ";
	struct text kept = {0};
	const char *s = text_str(t), *at;

	for (; (at = strstr(s, begin)); s = strchr(at, '.') + 1)
		text_add_n(&kept, s, (size_t)(at - s) - (at > s && at[-1] == ' '));
	text_add(&kept, s);
	text_free(t);
	*t = kept;
}

/* A session that follows is one that is made anew. */
static void follow_alike(struct pair *p)
{
	struct text made = {0}, followed = {0};

	tally[p->m.profile].followed += session_tell_twice(p->l.engine, MIXED_NOW_NS + p->l.later_ns, &made, &followed);
	compare(p, &made, &followed);
	text_free(&made);
	text_free(&followed);
}

static void decide_alike(struct pair *p, pod_id pod)
{
	struct text was = {0}, is = {0}, bare = {0};
	struct bits nobody = {0};

	plan_anew(p, pod);
	live_emit(&p->l, &was);
	plan(p, p->l.engine, pod, false, NULL);
	live_emit(&p->l, &is);
	compare(p, &was, &is);
	plan(p, p->forgetful, pod, false, NULL);
	live_emit(&p->l, &was);
	plan(p, p->l.engine, pod, false, NULL);
	live_emit(&p->l, &is);
	tally[p->m.profile].decisions += p->l.plan.v.n;
	tally[p->m.profile].evictions += p->l.plan.victims;
	text_printf(&p->said, "%s\n", text_str(&is));
	drop_early(&was);
	drop_early(&is);
	compare(p, &was, &is);
	follow_alike(p);
	emit_times(p, &was);
	emit_bare(p, &bare);
	plan(p, p->l.engine, pod, true, NULL);
	emit_times(p, &is);
	compare(p, &was, &is);
	plan(p, p->l.engine, pod, false, &nobody);
	emit_bare(p, &is);
	compare(p, &bare, &is);
	text_free(&was);
	text_free(&is);
	text_free(&bare);
}

/* ---- what is asked beside ---- */

/* Those whose queues are over their quota go before the shares of a cycle are found. */
static bool begins_with_quota(const struct decisions *d)
{
	return d->v.n > 0 && d->v.v[0].action == ACTION_QUOTA;
}

/* As the first cycle of a plan has them, of which p->l.plan is one. */
static void tell_shares(struct pair *p, bool is_plan, struct text *out)
{
	const struct ledger *l = ledger_of(p);
	struct decisions d = {.arena = arena_new(1 << 12)};
	bool has = engine_fair_shares(p->l.engine, MIXED_NOW_NS + p->l.later_ns, &d);

	for (queue_id q = 0; q < ledger_queues(l)->q.n; q++)
		for (res_id r = 0; r < ledger_stride(l); r++) {
			int64_t is = decisions_fair_share(&d, 1, q, r);

			if (is_plan && is != decisions_fair_share(&p->l.plan, 1, q, r))
				fail_msg("seed %" PRIu64 ": queue %u deserves %" PRId64 " and in a plan %" PRId64,
					 p->seed, q, is, decisions_fair_share(&p->l.plan, 1, q, r));
			text_printf(out, "%" PRId64 " ", is);
		}
	text_printf(out, "%d\n", has);
	arena_free(d.arena);
}

static void tell_protections(struct pair *p, struct text *out)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS + p->l.later_ns, .cycles = 1, .report = POD_NONE};
	uint32_t n_nodes = ledger_node_limit(ledger_of(p)), n;
	protection_list all = {0};
	pod_id first[4];

	n = engine_first_waiting(p->l.engine, first, 4);
	for (node_id i = 0; i < n_nodes; i++)
		engine_protections(p->l.engine, &run, i, first, n, &all);
	for (uint32_t i = 0; i < all.n; i++) {
		const struct rule_verdict *v = &all.v[i].verdict;

		text_printf(out, "%u %u %u: %u %u %u %u %" PRId64 " %" PRId64 " %" PRId64 "\n", all.v[i].pod,
			    all.v[i].waiting, all.v[i].action, v->answer, v->rule, v->reason, v->queue, v->num[0],
			    v->num[1], v->num[2]);
	}
	array_free(&all);
}

/* By whoever keeps time, shows queues and nodes, or knows better who is to be tried. */
static void ask_beside(struct pair *p, bool is_plan)
{
	const struct ledger *l = ledger_of(p);
	struct text *out = &p->said;

	text_printf(out, "next %" PRId64 "\n", engine_next_time(p->l.engine, MIXED_NOW_NS + p->l.later_ns));
	for (group_id i = 0; i < ledger_group_limit(l); i++)
		if (ledger_group(l, i)->is_live)
			text_printf(out, "group %u %d %d\n", i, engine_gang_is_stale(p->l.engine, i),
				    engine_may_move(p->l.engine, i));
	tell_shares(p, is_plan, out);
	tell_protections(p, out);
}

/* It stands: made once more by the engine that remembers. */
static void carry_out(struct pair *p, pod_id pod)
{
	struct engine_run run = {.now_ns = MIXED_NOW_NS + p->l.later_ns,
				 .cycles = 1,
				 .report = POD_NONE,
				 .eviction_history = p->has_history ? &p->history : NULL};
	struct err e = {0};

	live_forget_plan(&p->l);
	p->l.plan.arena = arena_new(1 << 14);
	live_must(pod == POD_NONE ? engine_plan(p->l.engine, &run, &p->l.plan, &e)
				  : engine_try(p->l.engine, &run, pod, &p->l.plan, &e),
		  &e, &p->m);
	live_forget_plan(&p->l);
	ledger_commit(ledger_of(p));
}

/* ---- what happens meanwhile ---- */

static pod_id some(struct pair *p, enum pod_state state)
{
	const struct ledger *l = ledger_of(p);
	uint32_t limit = ledger_pod_limit(l), from = limit ? upto(p, limit) : 0;

	for (uint32_t i = 0; i < limit; i++)
		if (ledger_pod(l, (from + i) % limit)->state == state)
			return (from + i) % limit;
	return POD_NONE;
}

static void move_somebody(struct pair *p)
{
	uint32_t what = upto(p, 4);
	pod_id pod = some(p, what < 2 ? POD_LEAVING : POD_PLACED);
	char ns[64], name[64];

	/* who names its node is there or nowhere, and never waits */
	if (pod == POD_NONE || (what == 2 && ledger_pod(ledger_of(p), pod)->obj->node_name != NAME_NONE))
		return;
	if (what == 3) {
		ledger_evict(ledger_of(p), pod);
	} else if (what == 2 && ledger_pod(ledger_of(p), pod)->obj->node_name == NAME_NONE) {
		ledger_vacate(ledger_of(p), pod);
	} else {
		const struct pod *x = ledger_pod(ledger_of(p), pod);
		const struct names *names = vocab_names(p->l.vocab);

		snprintf(ns, sizeof(ns), "%s", name_str(names, labelset_get(p->l.vocab, x->labelset)->ns));
		snprintf(name, sizeof(name), "%s", name_str(names, x->name));
		cluster_drop_pod(p->l.cluster, ns, name);
	}
	ledger_commit(ledger_of(p));
}

/* Once or more often, just now. */
static void remember_somebody(struct pair *p)
{
	pod_id pod = some(p, POD_PLACED);
	struct text workload = {0};

	if (pod == POD_NONE)
		return;
	eviction_history_workload(p->l.cluster, ledger_pod(ledger_of(p), pod), &workload);
	for (uint32_t i = 1 + upto(p, 4); i > 0; i--)
		eviction_history_add(&p->history, MIXED_NOW_NS + p->l.later_ns, text_str(&workload), "");
	text_free(&workload);
}

/* A running pod takes more or less than before: what is known of its shape must not be taken for another's. */
static void resize_somebody(struct pair *p)
{
	pod_id id = some(p, POD_PLACED);
	struct obj_pod o;
	struct shape s;
	struct res_amount amounts[RES_MAX];
	shape_id was;
	struct err e = {0};

	if (id == POD_NONE || ledger_pod(ledger_of(p), id)->obj->node_name == NAME_NONE)
		return;
	o = obj_pod_copy(p->l.vocab, ledger_pod(ledger_of(p), id)->obj);
	was = o.shape;
	s = *shape_get(p->l.vocab, was);
	for (uint32_t i = 0; i < s.usage.n; i++) {
		amounts[i] = s.usage.v[i];
		amounts[i].amount = (amounts[i].amount + 1) * (1 + upto(p, 8)) / 4;
	}
	s.usage.v = s.request.v = amounts;
	s.request.n = s.usage.n;
	o.shape = shape_hold(p->l.vocab, &s);
	shape_drop(p->l.vocab, was);
	live_must(cluster_put_pod(p->l.cluster, &o, &e), &e, &p->m);
	ledger_commit(ledger_of(p));
}

/* A node gets or loses something: shares of the cluster are others then. */
static void resize_node(struct pair *p)
{
	const struct ledger *l = ledger_of(p);
	node_id id = upto(p, ledger_node_limit(l));
	struct obj_node o;
	struct err e = {0};

	if (!ledger_node(l, id)->is_live)
		return;
	o = obj_node_copy(p->l.vocab, ledger_node(l, id)->obj);
	for (res_id r = 0; r < ledger_stride(l); r++)
		if (res_has(&o.allocatable, r) && upto(p, 2))
			res_put(&o.allocatable, r, o.allocatable.v[r] / 4 * (2 + upto(p, 8)));
	live_must(cluster_put_node(p->l.cluster, &o, &e), &e, &p->m);
	ledger_commit(ledger_of(p));
}

static bool is_second(const struct ledger *l, pod_id pod)
{
	const struct pod *p = ledger_pod(l, pod);

	return p->podset != PODSET_NONE && p->obj->node_name == NAME_NONE && ledger_group(l, p->group)->n_on_nodes == 1;
}

/* Another of its group is the only one on a node until now: it is alone no more, though nothing happened there. */
static void join_somebody(struct pair *p)
{
	const struct ledger *l = ledger_of(p);
	node_id node = upto(p, ledger_node_limit(l));
	pod_id pod = some(p, POD_WAITING);

	for (uint32_t i = 0; i < 8 && pod != POD_NONE && !is_second(l, pod); i++)
		pod = some(p, POD_WAITING);
	if (pod == POD_NONE || !is_second(l, pod) || !ledger_node(l, node)->is_live)
		return;
	ledger_place(ledger_of(p), pod, node);
	ledger_commit(ledger_of(p));
}

static void step(struct pair *p)
{
	static const int64_t later_s[] = {0, 1, 10, 61, 299, 7201};
	pod_id pod = upto(p, 3) ? some(p, POD_WAITING) : POD_NONE;

	decide_alike(p, pod);
	ask_beside(p, pod == POD_NONE && !begins_with_quota(&p->l.plan));
	if (upto(p, 3) == 0)
		carry_out(p, pod);
	for (uint32_t i = upto(p, 3); i > 0; i--)
		move_somebody(p);
	for (uint32_t i = upto(p, 3); i > 0; i--)
		resize_somebody(p);
	if (upto(p, 4) == 0)
		resize_node(p);
	join_somebody(p);
	for (uint32_t i = p->has_history ? upto(p, 3) : 0; i > 0; i--)
		remember_somebody(p);
	p->l.later_ns += later_s[upto(p, 6)] * NS_PER_S;
}

static void compare_with_recorded(struct pair *p)
{
	char cluster[32];

	snprintf(cluster, sizeof(cluster), "%s-%" PRIu64, profile_text(p->m.profile), p->seed);
	if (!recorded_is_same(&recorded, cluster, &p->said))
		fail_msg("%s: it is decided otherwise than it was (properties/recorded.h)", cluster);
}

/* Most who wait are spread with their team or stay away from it, and nothing else but room is in their way. */
static void let_them_look(struct pair *p)
{
	for (uint32_t i = 0; i < p->m.p.n; i++) {
		struct m_pod *x = &p->m.p.v[i];

		x->has_port = x->needs_team = false;
		if (x->node != NOWHERE)
			continue;
		x->spreads = x->team >= 0 && upto(p, 3);
		x->avoids_team = !x->spreads && upto(p, 2);
	}
}

static void try_cluster(uint64_t seed, enum profile profile, bool has_history, bool they_look)
{
	struct pair p = {.seed = seed, .has_history = has_history};

	p.rng.s = seed * 7919 + profile;
	mixed_draw_so(&p.m, seed, profile, seed % 5 == 0);
	if (they_look)
		let_them_look(&p);
	mixed_write(&p.m);
	live_load(&p.l, &p.m, 0, 1 + seed % 2);
	eviction_history_init(&p.history, vocab_names(p.l.vocab));
	if (upto(&p, 2))
		settings_vary(p.l.config, &p.rng);
	engine_free(p.l.engine);
	p.l.engine = start(&p, p.l.config);
	p.plain = *p.l.config;
	p.plain.looks_at_all = true;
	p.plain.threads = 1;
	p.forgetful = start(&p, &p.plain);
	for (int i = 0; i < STEPS; i++)
		step(&p);
	if (!has_history && !they_look)
		compare_with_recorded(&p);
	tally[profile].clusters++;
	text_free(&p.said);
	engine_free(p.forgetful);
	eviction_history_free(&p.history);
	live_end(&p.l);
	mixed_free(&p.m);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void an_engine_that_remembers_says_the_same(void **state)
{
	uint64_t n = number("CEDE_N", 100), seconds = number("CEDE_SECONDS", 0), from = number("CEDE_SEED", 1);
	const char *only = getenv("CEDE_PROFILE");
	time_t end = time(NULL) + (time_t)seconds;

	(void)state;
	recorded_begin(&recorded, "memory");
	for (uint64_t i = 0; seconds ? time(NULL) < end : i < n; i++)
		for (enum profile profile = 0; profile < PROFILE_COUNT; profile++)
			if (!only || str_eq(only, profile_text(profile))) {
				try_cluster(from + i, profile, false, false);
				if ((from + i) % 2)
					try_cluster(from + i, profile, true, false);
			}
	for (enum profile i = 0; i < PROFILE_COUNT; i++)
		printf("memory: %s: %" PRIu64 " clusters, %" PRIu64 " decisions made twice, %" PRIu64
		       " evictions, %" PRIu64 " sessions followed, 0 differences\n",
		       profile_text(i), tally[i].clusters, tally[i].decisions, tally[i].evictions, tally[i].followed);
	assert_true(tally[PROFILE_KAI].clusters < 50 || tally[PROFILE_KAI].followed > tally[PROFILE_KAI].clusters);
	recorded_end(&recorded);
}

/* Clusters in which something was remembered too long once, or decided otherwise because nobody was told. */
static void so_it_does_where_it_did_not(void **state)
{
	static const uint64_t seeds[] = {53, 151, 222, 5081, 8240, 11161, 20537, 21221};

	(void)state;
	recorded = (struct recorded){.name = "memory"};	  /* nothing is compared with what was said before */
	try_cluster(77002663, PROFILE_KAI, false, false); /* three queues that come before each other */
	try_cluster(77006889, PROFILE_KAI, false, false); /* who was nominated was seen until he was tried in vain */
	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		try_cluster(seeds[i], PROFILE_DEFAULT, false, false);
		try_cluster(seeds[i], PROFILE_DEFAULT, true, false);
	}
	array_free(&recorded.known);
	array_free(&recorded.seen);
}

/* Where filters look at other pods, and numbers tell what they would see. */
static void so_it_does_where_pods_look_at_each_other(void **state)
{
	uint64_t n = number("CEDE_N", 100), from = number("CEDE_SEED", 1);

	(void)state;
	try_cluster(287, PROFILE_YUNIKORN, false, true); /* was decided otherwise once */
	for (uint64_t i = 0; i < n; i++) {
		try_cluster(from + i, PROFILE_DEFAULT, false, true);
		try_cluster(from + i, PROFILE_YUNIKORN, (from + i) % 2, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_it_does_where_it_did_not),
		cmocka_unit_test(so_it_does_where_pods_look_at_each_other),
		cmocka_unit_test(an_engine_that_remembers_says_the_same),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
