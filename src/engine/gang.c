/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gang.h"

#include <stdlib.h>

#include "base/bits.h"
#include "engine/attempt.h"
#include "engine/gang_echo.h"
#include "engine/gang_laws.h"
#include "engine/volumes.h"
#include "rules/words.h"

struct gangs { /* of a cycle */
	struct engine *en;
	struct bits decided; /* pods */
	struct bits tried;   /* groups */
	struct map waiting;  /* of groups that wait: where in messages */
	ARRAY(const char *) messages;
	struct gang_echoes echoes;
};

struct loss {
	struct victim v;
	uint32_t by; /* the member whose search took it */
};

struct gang_attempt { /* one attempt for one group */
	struct engine *en;
	const struct engine_run *run;
	struct arena *keep;
	struct err *e;
	group_id group;
	struct pod_list members; /* in their order */
	struct decision *d;	 /* of them, in the pass under way */
	uint32_t *order;	 /* in which they are tried */
	bool is_mixed;		 /* they are not all alike */
	struct gang_pass pass;
	int64_t *rows;	  /* of queues before */
	ledger_mark mark; /* before the pass */
	ARRAY(struct loss) losses;
	struct protected_list protected, all; /* who is protected: in this pass, in all of them */
	bool has_last_resort;
	enum action own_action;
	struct gang_refusal why;
	uint32_t n_nodes; /* the report, of the member that was asked for */
	struct node_report *nodes;
};

/* ---- minimums ---- */

uint32_t gang_minimum(const struct ledger *l, podset_id s)
{
	int32_t min = judge_minimum(l, s);

	return min == INT32_MAX ? 0 : (uint32_t)min;
}

static uint32_t lacks(const struct ledger *l, podset_id s)
{
	uint32_t min = gang_minimum(l, s), placed = ledger_podset(l, s)->n_placed;

	return placed < min ? min - placed : 0;
}

/* Has some podset fewer pods placed than its minimum, one more of podset with counted as placed? */
static bool is_short(const struct engine *en, group_id group, podset_id with)
{
	const struct group *g = group == GROUP_NONE ? NULL : ledger_group(en->ledger, group);

	if (!g || (!profile_get(en->config->profile)->has_gangs && !g->obj->is_of_pods))
		return false;
	for (podset_id s = g->first_podset; s < g->first_podset + g->n_podsets; s++)
		if (lacks(en->ledger, s) > (s == with ? 1 : 0))
			return true;
	return false;
}

bool gang_is_short(const struct engine *en, group_id group)
{
	return is_short(en, group, PODSET_NONE);
}

bool gang_must_wait(const struct engine *en, const struct pod *p)
{
	return is_short(en, p->group, p->podset);
}

/* ---- who belongs to the request ---- */

static bool is_gated(const struct gang_attempt *g, pod_id pod)
{
	struct decision d;
	struct attempt a;
	struct status s;

	attempt_begin(&a, g->en, g->run, pod, g->keep, &d);
	s = cycle_pre_enqueue(&a.c);
	attempt_end(&a);
	return !status_is_success(&s);
}

int gang_member_order(const void *a, const void *b, void *ctx)
{
	const struct ledger *l = ctx;
	const struct pod *x = ledger_pod(l, *(const pod_id *)a), *y = ledger_pod(l, *(const pod_id *)b);
	int64_t made_x = x->created_ns == TIME_NONE ? INT64_MAX : x->created_ns;
	int64_t made_y = y->created_ns == TIME_NONE ? INT64_MAX : y->created_ns;

	if ((x->nomination == NOMINATION_NONE) != (y->nomination == NOMINATION_NONE))
		return x->nomination == NOMINATION_NONE ? 1 : -1;
	if (made_x != made_y)
		return made_x < made_y ? -1 : 1;
	return name_cmp(vocab_names(ledger_vocab(l)), x->name, y->name);
}

static void collect(const struct gang_attempt *g, struct pod_list *out)
{
	const struct cluster *c = g->en->cluster;

	for (pod_id i = cluster_group_first(c, g->group); i != POD_NONE; i = cluster_group_next(c, i)) {
		const struct pod *p = ledger_pod(g->en->ledger, i);

		if (p->state == POD_WAITING && p->group == g->group && engine_is_ours(g->en, p) && !is_gated(g, i))
			array_push(out, i);
	}
	if (out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), gang_member_order, g->en->ledger);
}

/* The first podset that has fewer pods than it needs, PODSET_NONE: all have enough; then members are complete. */
static podset_id choose_members(struct gang_attempt *g, const struct pod_list *all, uint32_t *ret_has)
{
	const struct ledger *l = g->en->ledger;
	const struct group *group = ledger_group(l, g->group);

	for (podset_id s = group->first_podset; s < group->first_podset + group->n_podsets; s++) {
		uint32_t missing = lacks(l, s);

		for (uint32_t i = 0; missing && i < all->n; i++) {
			if (ledger_pod(l, all->v[i])->podset != s)
				continue;
			array_push(&g->members, all->v[i]);
			missing--;
		}
		if (missing) {
			*ret_has = gang_minimum(l, s) - missing;
			return s;
		}
	}
	return PODSET_NONE;
}

static const char *keep_text(struct gang_attempt *g, struct text *t)
{
	const char *s = arena_strndup(g->keep, text_str(t), t->n);

	text_free(t);
	return s;
}

static void too_few(struct gang_attempt *g, podset_id s, uint32_t has)
{
	struct text t = {0};

	text_add(&t, "group ");
	words_podset(g->en->cluster, s, &t);
	text_printf(&t, " has %u of %u %s", has, gang_minimum(g->en->ledger, s),
		    gang_minimum(g->en->ledger, s) == 1 ? "pod" : "pods");
	g->why.message = keep_text(g, &t);
}

/* ---- one pass over all members ---- */

static bool is_alike(const struct ledger *l, pod_id a, pod_id b)
{
	return ledger_pod(l, a)->shape == ledger_pod(l, b)->shape &&
	       ledger_pod(l, a)->labelset == ledger_pod(l, b)->labelset && !pod_has_volumes(l, a) &&
	       !pod_has_volumes(l, b);
}

static void note_losses(struct gang_attempt *g, uint32_t member)
{
	struct decision *d = &g->d[member];

	for (uint32_t i = 0; i < d->n_victims; i++) {
		struct loss x = {d->victims[i], member};

		array_push(&g->losses, x);
	}
	d->n_victims = 0;
}

/* Members like the one that is tried, if it is the first of them. */
static uint32_t count_alike(const struct gang_attempt *g, uint32_t at)
{
	shape_id shape = ledger_pod(g->en->ledger, g->members.v[g->order[at]])->shape;
	uint32_t n = 0;

	for (uint32_t i = 0; i < at; i++)
		if (ledger_pod(g->en->ledger, g->members.v[g->order[i]])->shape == shape)
			return 0;
	for (uint32_t i = at; i < g->members.n; i++)
		n += ledger_pod(g->en->ledger, g->members.v[g->order[i]])->shape == shape;
	return n;
}

/* Room that was found is taken as if the pod were there: the others see it, and what they want to be near or far. */
static enum err_code try_member(struct gang_attempt *g, uint32_t at)
{
	uint32_t member = g->order[at];
	pod_id pod = g->members.v[member];
	struct decision *d = &g->d[member];
	enum err_code rc;
	struct attempt a;

	attempt_begin(&a, g->en, g->run, pod, g->keep, d);
	g->pass.n_alike = count_alike(g, at);
	a.pass = &g->pass;
	g->has_last_resort = attempt_has_last_resort(&a);
	g->own_action = attempt_own_action(&a);
	rc = attempt_member(&a, g->run->report == pod, g->e);
	if (!rc && d->outcome != OUTCOME_WAITING)
		volumes_assume(&a.c, d->node);
	attempt_end(&a);
	if (d->n_nodes) {
		g->n_nodes = d->n_nodes;
		g->nodes = d->nodes;
	}
	if (rc || d->outcome == OUTCOME_WAITING)
		return rc;
	note_losses(g, member);
	ledger_place(g->en->ledger, pod, d->node);
	return ERR_OK;
}

static bool is_like_one_that_failed(const struct gang_attempt *g, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (g->d[g->order[i]].outcome == OUTCOME_WAITING &&
		    is_alike(g->en->ledger, g->members.v[g->order[i]], g->members.v[g->order[at]]))
			return true;
	return false;
}

/* Where nobody has to go all are tried, to say how many fit; else nothing more is tried once one has no room. */
static enum err_code run_pass(struct gang_attempt *g, bool *ret_is_found)
{
	uint32_t n_failed = 0, blocked = 0;
	enum err_code rc = ERR_OK;

	g->losses.n = 0;
	for (uint32_t i = 0; !rc && i < g->members.n; i++) {
		uint32_t m = g->order[i];

		if (n_failed && (g->pass.action != ACTION_ALLOCATE || is_like_one_that_failed(g, i))) {
			g->d[m].outcome = OUTCOME_WAITING;
			n_failed++;
			continue;
		}
		rc = try_member(g, i);
		if (!rc && g->d[m].outcome == OUTCOME_WAITING && !n_failed++)
			blocked = m;
	}
	*ret_is_found = !rc && !n_failed;
	if (n_failed && !g->why.message) {
		g->why.blocked = blocked;
		g->why.n_fit = g->members.n - n_failed;
		g->why.message = g->d[blocked].message;
	}
	if (n_failed && g->why.own_rule == RULE_NONE) {
		g->why.own_rule = g->d[blocked].own_rule;
		g->why.until_ns = g->d[blocked].until_ns;
	}
	return rc;
}

/* ---- nobody goes needlessly ---- */

static bool goes_whole(const struct gang_attempt *g, group_id group)
{
	for (uint32_t i = 0; group != GROUP_NONE && i < g->losses.n; i++)
		if (g->losses.v[i].v.goes_with_group && ledger_pod(g->en->ledger, g->losses.v[i].v.pod)->group == group)
			return true;
	return false;
}

/* Pods of a group that goes as a whole are one. */
static bool is_one_with(const struct gang_attempt *g, pod_id a, pod_id b)
{
	group_id x = ledger_pod(g->en->ledger, a)->group;

	return a == b || (x == ledger_pod(g->en->ledger, b)->group && goes_whole(g, x));
}

static bool member_fits(struct gang_attempt *g, uint32_t member)
{
	struct ledger *l = g->en->ledger;
	ledger_mark mark = ledger_get_mark(l);
	struct decision d;
	struct attempt a;
	bool is_fit;

	ledger_vacate(l, g->members.v[member]);
	attempt_begin(&a, g->en, g->run, g->members.v[member], g->keep, &d);
	a.pass = &g->pass;
	is_fit = attempt_fits_in_the_end(&a, g->d[member].node);
	attempt_end(&a);
	ledger_rollback(l, mark);
	return is_fit;
}

/* Do all members on the nodes of this victim fit if it stays? Then it does. */
static bool give_back(struct gang_attempt *g, pod_id victim)
{
	struct ledger *l = g->en->ledger;
	ledger_mark mark = ledger_get_mark(l);
	bool is_fit = true;
	struct bits nodes = {0};

	for (uint32_t i = 0; i < g->losses.n; i++) {
		if (!is_one_with(g, victim, g->losses.v[i].v.pod))
			continue;
		ledger_unevict(l, g->losses.v[i].v.pod);
		bits_set(&nodes, g->losses.v[i].v.node);
	}
	for (uint32_t m = 0; is_fit && m < g->members.n; m++)
		is_fit = !bits_has(&nodes, g->d[m].node) || member_fits(g, m);
	bits_free(&nodes);
	if (!is_fit)
		ledger_rollback(l, mark);
	return is_fit;
}

static bool has_several_searches(const struct gang_attempt *g)
{
	for (uint32_t i = 1; i < g->losses.n; i++)
		if (g->losses.v[i].by != g->losses.v[0].by)
			return true;
	return false;
}

/* What one member took may be enough for another that took something before: on its node, or from its own queue. */
static void reprieve(struct gang_attempt *g)
{
	if (!has_several_searches(g))
		return;
	for (uint32_t i = 0; i < g->losses.n;) {
		pod_id victim = g->losses.v[i].v.pod;
		uint32_t n = 0;

		if (!give_back(g, victim)) {
			i++;
			continue;
		}
		for (uint32_t k = 0; k < g->losses.n; k++)
			if (ledger_pod(g->en->ledger, g->losses.v[k].v.pod)->state == POD_LEAVING)
				g->losses.v[n++] = g->losses.v[k];
		g->losses.n = n;
	}
}

/* ---- making it so ---- */

static uint32_t first_nominated(const struct gang_attempt *g)
{
	for (uint32_t i = 0; i < g->members.n; i++)
		if (g->d[i].outcome == OUTCOME_NOMINATED)
			return i;
	return UINT32_MAX;
}

static void list_victims(struct gang_attempt *g, struct decision *d)
{
	struct victim *v = arena_n(g->keep, g->losses.n + 1, struct victim);

	for (uint32_t i = 0; i < g->losses.n; i++)
		v[i] = g->losses.v[i].v;
	d->n_victims = g->losses.n;
	d->victims = v;
}

/* Who was protected in one search may have been taken by a later one. Returns how many are told. */
static uint32_t list_protected(struct gang_attempt *g, const struct protected_list *l, const struct protected_pod **ret)
{
	struct protected_pod *v = arena_n(g->keep, l->v.n + 1, struct protected_pod);
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->v.n; i++)
		if (ledger_pod(g->en->ledger, l->v.v[i].pod)->state == POD_PLACED)
			v[n++] = l->v.v[i];
	*ret = v;
	return n;
}

/* One of them waits for its room, so all do. */
static void reserve_all(struct gang_attempt *g)
{
	struct ledger *l = g->en->ledger;
	enum action action = g->losses.n ? g->pass.action : ACTION_ALLOCATE;

	for (uint32_t i = 0; i < g->losses.n; i++)
		ledger_evict(l, g->losses.v[i].v.pod);
	for (uint32_t i = 0; i < g->members.n; i++) {
		uint32_t m = g->order[i]; /* volumes are chosen in the order in which room was found */

		g->d[m].outcome = OUTCOME_NOMINATED;
		g->d[m].action = action;
		engine_assume(g->en, g->members.v[m], g->d[m].node, g->run->now_ns);
		ledger_reserve(l, g->d[m].node, g->members.v[m]);
		decision_take_volumes(&g->d[m], l, g->keep);
	}
	list_victims(g, &g->d[0]);
	g->d[0].n_protected = list_protected(g, &g->protected, &g->d[0].protected);
}

static void unbind(struct gang_attempt *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct decision d;
		struct attempt a;

		attempt_begin(&a, g->en, g->run, g->members.v[g->order[i]], g->keep, &d);
		cycle_unbind(&a.c, g->d[g->order[i]].node);
		attempt_end(&a);
	}
}

/* A plugin may still refuse one; then none is placed, and nothing remains of the attempt (KF-10). */
static bool place_all(struct gang_attempt *g)
{
	for (uint32_t i = 0; i < g->members.n; i++) {
		uint32_t m = g->order[i];
		struct decision d;
		struct attempt a;

		attempt_begin(&a, g->en, g->run, g->members.v[m], g->keep, &d);
		attempt_place(&a, g->d[m].node);
		attempt_end(&a);
		decision_take_volumes(&g->d[m], g->en->ledger, g->keep);
		if (d.outcome == OUTCOME_PLACED)
			continue;
		ledger_rollback(g->en->ledger, g->mark);
		unbind(g, i);
		g->why.blocked = m;
		g->why.n_fit = g->members.n - 1;
		g->why.message = d.message;
		return false;
	}
	return true;
}

static bool settle(struct gang_attempt *g)
{
	bool must_wait = first_nominated(g) != UINT32_MAX;

	ledger_rollback(g->en->ledger, g->mark);
	if (!must_wait)
		return place_all(g);
	reserve_all(g);
	return true;
}

/* ---- passes ---- */

static int64_t size_of(const struct gang_attempt *g, uint32_t member)
{
	const struct ledger *l = g->en->ledger;

	return share_of_cluster(l, &shape_get(ledger_vocab(l), ledger_pod(l, g->members.v[member])->shape)->usage);
}

static int by_size(const void *a, const void *b, void *ctx)
{
	const struct gang_attempt *g = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t big_x = size_of(g, x), big_y = size_of(g, y);

	if (big_x != big_y)
		return big_x > big_y ? -1 : 1;
	return (x > y) - (x < y);
}

static void set_order(struct gang_attempt *g, bool biggest_first)
{
	for (uint32_t i = 0; i < g->members.n; i++)
		g->order[i] = i;
	if (biggest_first)
		qsort_r(g->order, g->members.n, sizeof(*g->order), by_size, g);
}

/* Everything is taken back first. Who may not go after all is told as protected. */
static bool is_lawful(struct gang_attempt *g)
{
	struct gang_claim c = {.en = g->en, .now_ns = g->run->now_ns, .action = g->pass.action, .n = g->members.n};
	pod_id *victims = arena_n(g->keep, g->losses.n + 1, pod_id);
	node_id *nodes = arena_n(g->keep, g->members.n, node_id);
	struct protected_pod refused;
	bool is;

	ledger_rollback(g->en->ledger, g->mark);
	for (uint32_t i = 0; i < g->members.n; i++)
		nodes[i] = g->d[i].node;
	for (uint32_t i = 0; i < g->losses.n; i++)
		victims[c.n_victims++] = g->losses.v[i].v.pod;
	c.members = g->members.v;
	c.nodes = nodes;
	c.victims = victims;
	is = gang_claim_is_lawful(&c, &refused);
	if (!is)
		protected_add(&g->protected, &refused);
	return is;
}

/* One action to find room, in both orders; true: everything is decided and done. */
static enum err_code try_action(struct gang_attempt *g, enum action action, bool with_opted_out, bool with_stuck,
				bool *ret_is_done)
{
	enum err_code rc = ERR_OK;

	*ret_is_done = false;
	g->pass.action = action;
	g->pass.with_opted_out = with_opted_out;
	g->pass.with_stuck = with_stuck;
	for (int biggest_first = 0; !rc && !*ret_is_done && biggest_first < 1 + g->is_mixed; biggest_first++) {
		bool is_found;

		set_order(g, biggest_first == 1);
		protected_free(&g->protected);
		rc = run_pass(g, &is_found);
		if (!rc && is_found)
			reprieve(g);
		if (!rc && is_found && is_lawful(g)) {
			*ret_is_done = settle(g);
			continue;
		}
		ledger_rollback(g->en->ledger, g->mark);
		protected_merge(&g->all, &g->protected);
	}
	return rc;
}

/* Was anybody left who goes only if nothing else works? If not everybody was written down, the searches tell. */
static bool has_spared(const struct gang_attempt *g)
{
	bool is_cut = g->all.v.n >= g->all.max, has;

	for (uint32_t i = 0; !is_cut && g->en->tells_of && i < g->members.n; i++)
		is_cut = !bits_has(g->en->tells_of, g->members.v[i]);
	has = is_cut && g->pass.may_spare;
	for (uint32_t i = 0; !has && i < g->all.v.n; i++)
		has = g->all.v.v[i].verdict.answer == IS_SPARED;
	return has;
}

static enum err_code try_victims(struct gang_attempt *g, bool *ret_is_done)
{
	enum err_code rc = ERR_OK;

	for (int round = 0; !rc && !*ret_is_done && round < 1 + g->has_last_resort; round++) {
		if (round == 1 && !has_spared(g))
			break;
		if (round == 1)
			protected_drop_spared(&g->all);
		if (!g->en->config->reclaim_is_off)
			rc = try_action(g, ACTION_RECLAIM, round == 1, false, ret_is_done);
		if (!rc && !*ret_is_done && g->own_action != ACTION_NONE)
			rc = try_action(g, g->own_action, round == 1, false, ret_is_done);
	}
	return rc;
}

static enum err_code try_actions(struct gang_attempt *g, bool *ret_is_done)
{
	enum err_code rc = try_action(g, ACTION_ALLOCATE, false, false, ret_is_done);

	if (!rc && !*ret_is_done)
		rc = try_victims(g, ret_is_done);
	if (!rc && !*ret_is_done)
		rc = try_action(g, ACTION_ALLOCATE, false, true, ret_is_done);
	return rc;
}

/* ---- nominations ---- */

/* All are nominated and all nominations hold: they start, or they go on waiting for it. */
static bool keep_nominations(struct gang_attempt *g)
{
	struct ledger *l = g->en->ledger;
	bool holds = true;

	for (uint32_t i = 0; holds && i < g->members.n; i++)
		holds = ledger_pod(l, g->members.v[i])->nomination != NOMINATION_NONE;
	for (uint32_t i = 0; holds && i < g->members.n; i++) {
		struct attempt a;

		attempt_begin(&a, g->en, g->run, g->members.v[i], g->keep, &g->d[i]);
		attempt_nominated(&a);
		attempt_end(&a);
		holds = g->d[i].outcome != OUTCOME_WAITING;
		if (holds)
			ledger_place(l, g->members.v[i], g->d[i].node);
	}
	if (holds)
		return settle(g);
	ledger_rollback(l, g->mark);
	return false;
}

static void drop_nominations(struct gang_attempt *g, const struct pod_list *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		ledger_clear_nomination(g->en->ledger, all->v[i]);
}

/* ---- one group ---- */

static void remember_queues(struct gang_attempt *g)
{
	const struct ledger *l = g->en->ledger;
	uint32_t stride = ledger_stride(l);
	size_t n = (size_t)ledger_queues(l)->q.n * stride;
	int64_t *rows = mem_alloc((2 * n + 1) * sizeof(*rows));

	if (n) {
		memcpy(rows, ledger_queue_used(l, 0), n * sizeof(*rows));
		memcpy(rows + n, ledger_queue_reserved(l, 0), n * sizeof(*rows));
	}
	g->rows = rows;
	g->pass.before = (struct queues_before){rows, rows + n, stride};
}

static void prepare(struct gang_attempt *g)
{
	const struct ledger *l = g->en->ledger;

	g->d = arena_n(g->keep, g->members.n + 1, struct decision);
	g->order = mem_alloc((g->members.n + 1) * sizeof(*g->order));
	g->pass.protected = &g->protected;
	g->protected.max = g->all.max = PROTECTED_MAX;
	g->protected.is_of_times = g->all.is_of_times = g->en->tells_times;
	g->why.own_rule = RULE_NONE;
	g->why.until_ns = TIME_NONE;
	set_order(g, false);
	for (uint32_t i = 1; i < g->members.n; i++)
		g->is_mixed |= ledger_pod(l, g->members.v[i])->shape != ledger_pod(l, g->members.v[0])->shape;
	g->mark = ledger_get_mark(l);
}

static void say_why(struct gang_attempt *g)
{
	struct text t = {0};

	text_add(&t, "group ");
	words_group(g->en->cluster, g->group, &t);
	text_printf(&t, " needs %u %s at once; %u %s: %s", g->members.n, g->members.n == 1 ? "pod" : "pods",
		    g->why.n_fit, g->why.n_fit == 1 ? "fits" : "fit", g->why.message);
	g->why.message = keep_text(g, &t);
}

static void all_wait(struct gang_attempt *g)
{
	for (uint32_t i = 0; i < g->members.n; i++) {
		struct decision *d = &g->d[i];

		*d = attempt_decision(g->en, g->members.v[i]);
		d->message = g->why.message;
		d->own_rule = g->why.own_rule;
		d->until_ns = g->why.until_ns;
		if (g->run->report == d->pod) {
			d->nodes = g->nodes;
			d->n_nodes = g->n_nodes;
		}
	}
}

static void tell_refusal(struct gang_attempt *g)
{
	struct decision *blocked = &g->d[g->why.blocked];

	if (!g->en->tells_no_words)
		say_why(g);
	all_wait(g);
	blocked->protected = g->why.protected;
	blocked->n_protected = g->why.n_protected;
}

static enum err_code start(struct gangs *gs, struct gang_attempt *g, const struct pod_list *all, bool *ret_is_done)
{
	enum err_code rc = ERR_OK;

	*ret_is_done = keep_nominations(g);
	if (*ret_is_done)
		return ERR_OK;
	drop_nominations(g, all);
	if (!gang_echoes_find(&gs->echoes, g->run, &g->members, &g->why)) {
		g->mark = ledger_get_mark(g->en->ledger);
		remember_queues(g);
		rc = try_actions(g, ret_is_done);
		if (rc || *ret_is_done)
			return rc;
		g->why.n_protected = list_protected(g, &g->all, &g->why.protected);
		gang_echoes_note(&gs->echoes, g->run, &g->members, &g->why);
	}
	tell_refusal(g);
	return ERR_OK;
}

static void gang_free(struct gang_attempt *g)
{
	array_free(&g->members);
	array_free(&g->losses);
	protected_free(&g->protected);
	protected_free(&g->all);
	mem_free(g->order);
	mem_free(g->rows);
}

/* ---- groups of a cycle ---- */

struct gangs *gangs_new(struct engine *en)
{
	struct gangs *g = mem_alloc(sizeof(*g));

	g->en = en;
	gang_echoes_begin(&g->echoes, en);
	return g;
}

void gangs_free(struct gangs *g)
{
	bits_free(&g->decided);
	bits_free(&g->tried);
	map_free(&g->waiting);
	array_free(&g->messages);
	gang_echoes_end(&g->echoes);
	mem_free(g);
}

struct engine *gangs_engine(const struct gangs *g)
{
	return g->en;
}

bool gangs_decided(const struct gangs *g, pod_id pod)
{
	return bits_has(&g->decided, pod);
}

static void record(struct gangs *gs, struct gang_attempt *g, uint32_t cycle, struct decisions *ret)
{
	for (uint32_t i = 0; i < g->members.n; i++) {
		g->d[i].cycle = cycle;
		decisions_add(ret, &g->d[i]);
		bits_set(&gs->decided, g->members.v[i]);
	}
}

static void keep_waiting(struct gangs *gs, const struct gang_attempt *g)
{
	map_put(&gs->waiting, g->group, gs->messages.n);
	array_push(&gs->messages, g->why.message);
}

/* A gang of one pod is like any pod; but if one of another podset asks, it comes first. */
static bool is_one_alone(const struct gang_attempt *g, pod_id pod)
{
	return g->members.n == 1 &&
	       ledger_pod(g->en->ledger, g->members.v[0])->podset == ledger_pod(g->en->ledger, pod)->podset;
}

static enum err_code try_group(struct gangs *gs, struct gang_attempt *g, pod_id pod, uint32_t cycle,
			       struct decisions *ret)
{
	struct pod_list all = {0};
	enum err_code rc = ERR_OK;
	bool is_done = false;
	podset_id lacking;
	uint32_t has = 0;

	collect(g, &all);
	lacking = choose_members(g, &all, &has);
	if (lacking != PODSET_NONE) { /* they all wait */
		array_free(&g->members);
		g->members = all;
		all = (struct pod_list){0};
		prepare(g);
		drop_nominations(g, &g->members);
		too_few(g, lacking, has);
		all_wait(g);
	} else if (is_one_alone(g, pod)) {
		array_free(&all);
		return ERR_OK;
	} else {
		prepare(g);
		rc = start(gs, g, &all, &is_done);
	}
	if (!rc)
		record(gs, g, cycle, ret);
	if (!rc && !is_done)
		keep_waiting(gs, g);
	array_free(&all);
	return rc;
}

/* Its group was tried and waits, so it does. */
static void wait_with_group(struct gangs *gs, const struct gang_attempt *g, pod_id pod, uint32_t cycle,
			    struct decisions *ret)
{
	uint32_t at = map_get(&gs->waiting, g->group);
	struct decision d = attempt_decision(gs->en, pod);

	if (at == MAP_NONE || gangs_decided(gs, pod) || is_gated(g, pod))
		return;
	d.cycle = cycle;
	d.message = gs->messages.v[at];
	decisions_add(ret, &d);
	bits_set(&gs->decided, pod);
}

enum err_code gangs_try(struct gangs *gs, const struct engine_run *run, pod_id pod, uint32_t cycle,
			struct decisions *ret, struct err *e)
{
	const struct pod *p = ledger_pod(gs->en->ledger, pod);
	struct gang_attempt g = {.en = gs->en, .run = run, .keep = ret->arena, .e = e, .group = p->group};
	enum err_code rc = ERR_OK;

	if (gangs_decided(gs, pod) || p->queue == QUEUE_NONE || !is_short(gs->en, p->group, PODSET_NONE))
		return ERR_OK;
	if (!bits_has(&gs->tried, p->group)) {
		bits_set(&gs->tried, p->group);
		rc = try_group(gs, &g, pod, cycle, ret);
		gang_free(&g);
	}
	if (!rc)
		wait_with_group(gs, &g, pod, cycle, ret);
	return rc;
}
