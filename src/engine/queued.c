/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt where queues count (profiles default and yunikorn): place it if it fits now; wait for room that is being
 * freed anyway; else take room from queues above their guarantee, else from lower work of the own queue; opted-out pods
 * only if nothing else works. Work that must run on one node looks there.
 */
#include "engine/attempt.h"
#include "engine/gang.h"
#include "engine/limits.h"
#include "engine/search_cache.h"
#include "engine/volumes.h"
#include "rules/plugin.h"

struct rule_settings engine_rule_settings(const struct engine *en)
{
	const struct engine_config *c = en->config;

	return (struct rule_settings){.profile = c->profile,
				      .rules_off = c->rules_off,
				      .by_fair_share = engine_uses_shares(c),
				      .opt_out_is_hard = c->opt_out == OPT_OUT_HARD,
				      .guarantee_all_types = c->guarantee_types == GUARANTEE_ALL,
				      .n_scheduler_names = c->n_scheduler_names,
				      .scheduler_names = c->scheduler_names,
				      .min_runtime = c->min_runtime,
				      .moves_ignore_windows = !c->min_runtime_covers_consolidation,
				      .thrash = c->thrash,
				      .evictions_per_hour = c->evictions_per_hour,
				      .eviction_history = en->eviction_history};
}

/* ---- room that is being freed ---- */

/* The room of those who should have gone long ago counts only for who has nothing better. */
static bool counts_on(const struct attempt *a, pod_id pod, bool with_stuck)
{
	const struct pod *p = ledger_pod(a->c.ledger, pod);

	return p->state == POD_LEAVING && (with_stuck || !pod_is_stuck(p, a->c.now_ns, a->en->config->patience_ns));
}

static bool clear_leaving(struct attempt *a, node_id node, bool with_stuck)
{
	const struct ledger_node *n = ledger_node(a->c.ledger, node);
	bool has_leaving = false;

	if (!ledger_node_leaving(a->c.ledger, node)[RES_PODS])
		return false;
	for (uint32_t i = n->pods.n; i-- > 0;) {
		if (!counts_on(a, n->pods.v[i], with_stuck))
			continue;
		ledger_vacate(a->c.ledger, n->pods.v[i]);
		has_leaving = true;
	}
	return has_leaving;
}

/* Does it fit once whoever is leaving this node is gone? */
static bool fits_soon(struct attempt *a, node_id node, bool with_stuck)
{
	const int64_t *leaving = ledger_node_leaving(a->c.ledger, node);
	ledger_mark mark = ledger_get_mark(a->c.ledger);
	bool has_leaving;
	struct status s;

	if (!leaving[RES_PODS] || (!a->c.moves_all && cycle_is_full_without(&a->c, node, leaving)))
		return false;
	has_leaving = clear_leaving(a, node, with_stuck);
	s = has_leaving ? cycle_fits(&a->c, node) : status_of_framework(CEDE_UNSCHEDULABLE, FW_NONE, 0);
	ledger_rollback(a->c.ledger, mark);
	return status_is_success(&s);
}

bool attempt_fits_in_the_end(struct attempt *a, node_id node)
{
	ledger_mark mark = ledger_get_mark(a->c.ledger);
	struct status s;
	queue_id q;
	res_id r;

	if (queue_lacking(a->c.ledger, a->c.p, a->c.shape, &q, &r))
		return false;
	clear_leaving(a, node, a->pass && a->pass->with_stuck);
	s = cycle_fits(&a->c, node);
	ledger_rollback(a->c.ledger, mark);
	return status_is_success(&s);
}

/* Who should have gone from this node long ago, into the decision. */
static void note_stuck(struct attempt *a, node_id node)
{
	const struct ledger_node *n = ledger_node(a->c.ledger, node);
	struct overdue *o = &a->d->overdue;

	*o = (struct overdue){.node = NODE_NONE, .for_ns = INT64_MAX};
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(a->c.ledger, n->pods.v[i]);
		int64_t late;

		if (!pod_is_stuck(p, a->c.now_ns, a->en->config->patience_ns))
			continue;
		late = res_sub_sat(a->c.now_ns, p->obj->deleted_ns);
		o->node = node;
		o->n++;
		o->for_ns = late < o->for_ns ? late : o->for_ns;
	}
}

static void reserve(struct attempt *a, node_id node, enum action action)
{
	a->d->outcome = OUTCOME_NOMINATED;
	a->d->action = action;
	a->d->node = node;
	volumes_assume(&a->c, node);
	ledger_reserve(a->c.ledger, node, a->c.pod);
	decision_take_volumes(a->d, a->c.ledger, a->keep);
}

/* One more of a group that waits to start together waits with it. */
static void take(struct attempt *a, node_id node)
{
	if (gang_must_wait(a->en, a->c.p))
		reserve(a, node, ACTION_ALLOCATE);
	else
		attempt_place(a, node);
}

/* The report of the i-th node, NULL if nobody asked for any. */
static struct node_report *report_of(const struct attempt *a, uint32_t i)
{
	return a->d->n_nodes ? &a->d->nodes[i] : NULL;
}

/* The i-th node. What the filters' memory knows is asked first: with those that are stuck only where there are some. */
static bool node_fits_soon(struct attempt *a, uint32_t i, bool with_stuck)
{
	if (a->is_kept && !(a->kept.leaving[i] & MAY_FIT_SOON) && (!with_stuck || !(a->kept.leaving[i] & HAS_STUCK)))
		return a->kept.leaving[i] & FITS_SOON;
	return fits_soon(a, a->c.nodes[i], with_stuck);
}

/* Did the i-th node refuse it, and could taking pods away help? */
static bool may_be_helped(const struct attempt *a, uint32_t i)
{
	enum cede_code code = a->is_kept ? search_cache_code(&a->kept, i) : a->statuses[i].verdict.code;

	return code == CEDE_UNSCHEDULABLE;
}

/* nominated: tried before all others, NODE_NONE if none. */
static bool take_leaving_room(struct attempt *a, bool with_stuck, node_id nominated)
{
	uint32_t found = UINT32_MAX;

	if (a->is_kept && !a->kept.has_soon)
		return false;
	for (uint32_t i = 0; i < a->c.n_nodes; i++) {
		bool is_nominated = a->c.nodes[i] == nominated;

		if ((found != UINT32_MAX && !is_nominated) || !may_be_helped(a, i))
			continue;
		if (node_fits_soon(a, i, with_stuck))
			found = i;
		if (found != UINT32_MAX && (nominated == NODE_NONE || is_nominated))
			break;
	}
	if (found == UINT32_MAX)
		return false;
	if (report_of(a, found))
		report_of(a, found)->fate = FATE_SOON;
	a->d->tie = a->c.nodes[found] == nominated ? TIE_NOMINATED : TIE_LEAVING;
	reserve(a, a->c.nodes[found], ACTION_ALLOCATE);
	return true;
}

/* Nothing else works: wait for those who should have gone, on its nominated node if it has one. */
static void wait_for_stuck(struct attempt *a, node_id nominated)
{
	if (!take_leaving_room(a, true, nominated))
		return;
	note_stuck(a, a->d->node);
	a->d->own_rule = RULE_NONE;
	a->d->until_ns = TIME_NONE;
}

/* ---- taking room ---- */

struct victim_search { /* the tries of one attempt */
	struct attempt *a;
	const node_id *nodes;
	struct node_report **reports; /* of them; NULL if nobody asked */
	uint32_t n;
	uint64_t lacking;
	struct protected_list all; /* of the actions that found nothing */
	bool may_spare;		   /* somebody may have been left who goes only if nothing else works */
	uint32_t n_bounded;	   /* nodes on which not all sets of victims were tried */
	uint8_t *closed;	   /* as in struct search */
};

static void potential(struct victim_search *h)
{
	struct attempt *a = h->a;
	node_id *nodes;

	h->closed = a->is_kept ? a->kept.closed : arena_n(a->c.arena, ledger_node_limit(a->c.ledger) + 1, uint8_t);
	if (a->is_kept) {
		h->nodes = a->kept.possible;
		h->n = a->kept.n_possible;
		return;
	}
	h->nodes = nodes = arena_n(a->c.arena, a->c.n_nodes + 1, node_id);
	h->reports = a->d->n_nodes ? arena_n(a->c.arena, a->c.n_nodes + 1, struct node_report *) : NULL;
	for (uint32_t i = 0; i < a->c.n_nodes; i++) {
		if (a->statuses[i].verdict.code == CEDE_UNRESOLVABLE || a->statuses[i].verdict.code == CEDE_ERROR)
			continue;
		if (h->reports)
			h->reports[h->n] = report_of(a, i);
		nodes[h->n++] = a->c.nodes[i];
	}
}

static void mark_overridden(struct attempt *a, struct victim *v, struct judge *j)
{
	for (uint32_t i = 0; i < a->d->n_victims; i++)
		v[i].overridden = judge_overridden(j, v[i].pod);
}

static const char *better_words(const struct search_result *r)
{
	enum cost c = r->second == NODE_NONE ? COSTS : set_cost_difference(&r->cost, &r->second_cost);

	return c == COSTS ? NULL : cost_text(c);
}

static void carry_out(struct attempt *a, const struct search_result *r, struct judge *j)
{
	struct victim *v = attempt_take_victims(a, r->victims, r->n_victims);

	mark_overridden(a, v, j);
	for (uint32_t i = 0; i < r->n_victims; i++)
		v[i].goes_with_group = r->with_group[i];
	a->d->runner_up = r->second;
	a->d->tie = r->second == NODE_NONE ? TIE_ONLY_ONE : TIE_COST;
	a->d->tie_words = better_words(r);
	for (uint32_t i = 0; i < r->n_victims; i++)
		ledger_evict(a->c.ledger, r->victims[i]);
	reserve(a, r->node, j->action);
}

/* For those who are protected, with nobody in it yet. */
static struct protected_list told_in(const struct attempt *a)
{
	return (struct protected_list){.max = PROTECTED_MAX, .is_of_times = a->en->tells_times};
}

static bool is_told(const struct attempt *a)
{
	return engine_tells_of(a->en, a->c.pod);
}

/*
 * Where the actions before have filled the list, only one that finds victims is asked who was protected from it; where
 * members of its gang have, one that adds to theirs is not asked at all.
 */
static bool is_listed(const struct victim_search *h)
{
	const struct protected_list *l = h->a->pass ? h->a->pass->protected : &h->all;

	return is_told(h->a) && (l->v.n < l->max || h->a->en->config->looks_at_all);
}

static bool search_with(struct victim_search *h, struct judge *j, bool with_opted_out, struct protected_list *protected)
{
	struct search s = {.c = &h->a->c,
			   .j = j,
			   .with_opted_out = with_opted_out,
			   .patience_ns = h->a->en->config->patience_ns,
			   .lacking = h->lacking,
			   .protected = is_listed(h) ? protected : NULL,
			   .tells_times = h->a->en->tells_times,
			   .tells_in_any_order = h->a->en->tells_in_any_order && !h->a->pass,
			   .best_is_enough = h->a->en->tells_no_words,
			   .reports = h->reports,
			   .keep = h->a->keep,
			   .search_cache = h->a->en->search_cache,
			   .run = h->a->en->n_runs,
			   .closed = h->closed};
	struct search_result r;

	if (h->a->pass && h->a->pass->n_alike > 1 &&
	    search_slots(&s, h->nodes, h->n, h->a->pass->n_alike) < h->a->pass->n_alike)
		return false;
	search_run(&s, h->nodes, h->n, &r);
	h->n_bounded = r.n_bounded > h->n_bounded ? r.n_bounded : h->n_bounded;
	h->may_spare |= !r.spares_nobody;
	if (r.node == NODE_NONE)
		return false;
	if (is_told(h->a) && !s.protected && !h->a->pass) {
		s.protected = protected;
		search_run(&s, h->nodes, h->n, &r);
	}
	carry_out(h->a, &r, j);
	return true;
}

/* One action over all nodes, who is protected into protected; true if somebody was found. */
static bool victim_search_as(struct victim_search *h, enum action action, bool with_opted_out,
			     struct protected_list *protected)
{
	struct rule_settings settings = engine_rule_settings(h->a->en);
	struct rule_verdict held;
	struct judge j;

	judge_init(&j, h->a->en->cluster, h->a->c.ledger, &settings, action, h->a->c.pod, h->a->c.now_ns,
		   &h->a->en->scratch);
	j.before = h->a->pass ? &h->a->pass->before : NULL;
	judge_ask_plugins(&j, &h->a->c);
	held = judge_preemptor(&j);
	if (held.rule == RULE_NONE)
		return search_with(h, &j, with_opted_out, protected);
	if (h->a->d->own_rule == RULE_NONE) {
		h->a->d->own_rule = (enum rule_id)held.rule;
		h->a->d->until_ns = held.until_ns;
	}
	return false;
}

/* Where not all of them find room in the list the order decides who does. */
static void merge_protected(struct victim_search *h, struct protected_list *protected)
{
	if (h->a->en->tells_in_any_order && h->all.v.n < h->all.max && h->all.v.n + protected->v.n > h->all.max)
		search_sort_protected(&h->a->c, protected);
	protected_hand_over(&h->all, protected);
}

/* Most often those are protected who were from the one before: then it is told in the same place. */
static void keep_protected(struct attempt *a, const struct protected_list *l)
{
	struct engine *en = a->en;

	if (en->told && !en->config->looks_at_all && protected_is(l, en->told, en->n_told)) {
		a->d->protected = en->told;
		a->d->n_protected = en->n_told;
		return;
	}
	decision_keep_protected(a->d, l, a->keep);
	en->told = a->d->protected;
	en->n_told = a->d->n_protected;
}

/* The action that found victims reports whom it found protected; if none did, all do. */
static bool victim_search(struct victim_search *h, enum action action, bool with_opted_out)
{
	struct protected_list *protected = &h->a->en->listed;
	bool is_found;

	protected->v.n = 0;
	protected->max = PROTECTED_MAX;
	protected->is_of_times = h->a->en->tells_times;
	is_found = victim_search_as(h, action, with_opted_out, protected);
	if (is_found)
		keep_protected(h->a, protected);
	else
		merge_protected(h, protected);
	return is_found;
}

static bool is_daemon(const struct attempt *a)
{
	return a->c.p->obj->owner_kind == OWNER_DAEMONSET && a->c.shape->runs_on != NAME_NONE;
}

/* Inside the own leaf: displace among pods without a queue, preempt elsewhere; YuniKorn does neither. */
enum action attempt_own_action(const struct attempt *a)
{
	if (!profile_has_action(a->en->config->profile, ACTION_PREEMPT))
		return ACTION_NONE;
	return attempt_in_default_queue(a, a->c.p->queue) ? ACTION_DISPLACE : ACTION_PREEMPT;
}

bool attempt_has_last_resort(const struct attempt *a)
{
	return a->en->config->opt_out != OPT_OUT_HARD || plugins_judge(a->c.framework);
}

/* Was anybody left who goes only if nothing else works? If not everybody was written down, the searches tell. */
static bool has_spared(const struct victim_search *h)
{
	bool is_cut = !is_told(h->a) || h->all.v.n >= h->all.max;
	bool has = h->a->en->config->looks_at_all || (is_cut && h->may_spare);

	for (uint32_t i = 0; !has && i < h->all.v.n; i++)
		has = h->all.v.v[i].verdict.answer == IS_SPARED;
	return has;
}

static bool victim_search_all(struct victim_search *h)
{
	enum action own = attempt_own_action(h->a);
	int rounds =
		attempt_has_last_resort(h->a) ? 2 : 1; /* the second with those who go only if nothing else works */

	if (is_daemon(h->a))
		return victim_search(h, ACTION_REQUIRED_NODE, true);
	for (int round = 0; round < rounds && (round == 0 || has_spared(h)); round++) {
		if (round == 1)
			protected_drop_spared(&h->all);
		if (!h->a->en->config->reclaim_is_off && victim_search(h, ACTION_RECLAIM, round == 1))
			return true;
		if (own != ACTION_NONE && victim_search(h, own, round == 1))
			return true;
	}
	return false;
}

/* Exact as long as it can be; where it was not, that is said. */
static void note_bounded(struct attempt *a, uint32_t n)
{
	struct text t = {0};

	if (!n)
		return;
	text_printf(&t, "%s%sThe search for the best set of victims ended early on %u %s.",
		    a->d->message ? a->d->message : "", a->d->message ? " " : "", n, n == 1 ? "node" : "nodes");
	a->d->message = attempt_keep_text(a, &t);
}

/* The same in memory of the engine: it is written for every decision. */
static struct protected_list lend_list(struct attempt *a)
{
	struct protected_list l = a->en->of_actions, is = told_in(a);

	a->en->of_actions = (struct protected_list){0};
	l.max = is.max;
	l.is_of_times = is.is_of_times;
	return l;
}

static void take_list_back(struct attempt *a, struct protected_list *l)
{
	protected_clear(l);
	protected_free(&a->en->of_actions);
	a->en->of_actions = *l;
}

static void take_room(struct attempt *a, uint64_t lacking)
{
	struct victim_search h = {.a = a, .lacking = lacking, .all = lend_list(a)};
	bool is_found;

	potential(&h);
	is_found = victim_search_all(&h);
	note_bounded(a, h.n_bounded);
	if (is_found) { /* what held it back for another action does not matter any more */
		a->d->own_rule = RULE_NONE;
		a->d->until_ns = TIME_NONE;
	} else {
		keep_protected(a, &h.all);
	}
	take_list_back(a, &h.all);
}

/* ---- the sentence of a pod that waits ---- */

static void lacking_text(struct attempt *a, queue_id q, res_id r, struct text *out)
{
	const struct ledger *l = a->c.ledger;
	const struct queue *queue = queue_get(ledger_queues(l), q);
	struct text used = {0}, max = {0}, wants = {0};

	res_amount_text(r, ledger_queue_used(l, q)[r] + ledger_queue_reserved(l, q)[r], &used);
	res_amount_text(r, queue->spec.max.v[r], &max);
	res_amount_text(r, r == RES_PODS ? 1 : res_list_get(&a->c.shape->request, r), &wants);
	text_printf(out, "queue %s uses %s of at most %s %s and the pod wants %s.", name_str(a->c.names, queue->path),
		    text_str(&used), text_str(&max), res_type_name(vocab_res(ledger_vocab(l)), r), text_str(&wants));
	text_free(&used);
	text_free(&max);
	text_free(&wants);
}

static void waits(struct attempt *a, bool has_lacking, queue_id q, res_id r)
{
	struct text t = {0};

	if (!has_lacking || !a->n_feasible)
		attempt_refusal_text(a, &t);
	if (has_lacking && t.n && a->c.n_nodes)
		text_add_char(&t, ' ');
	if (has_lacking && (a->n_feasible || a->c.n_nodes))
		lacking_text(a, q, r, &t);
	a->d->message = attempt_keep_text(a, &t);
}

static void no_queue(struct attempt *a)
{
	struct text t = {0};

	text_printf(&t, "queue \"%s\" does not exist or is not a leaf", cluster_wanted_queue(a->en->cluster, a->c.pod));
	a->d->message = attempt_keep_text(a, &t);
	ledger_clear_nomination(a->c.ledger, a->c.pod);
}

/* Over a limit it waits, whatever room there is, and holds none. */
static bool is_over_limit(struct attempt *a)
{
	struct limit_verdict v = limits_ask(a->c.ledger, a->c.pod);
	struct text t = {0};

	if (v.kind == LIMIT_NONE)
		return false;
	limit_verdict_text(a->c.ledger, &v, &t);
	a->d->message = attempt_keep_text(a, &t);
	ledger_clear_nomination(a->c.ledger, a->c.pod);
	return true;
}

/* Work that nobody may take back waits for its queue's quota, and holds no room meanwhile. */
static bool is_over_quota(struct attempt *a)
{
	const struct engine_config *config = a->en->config;
	struct rule_verdict v;
	struct text t = {0};

	if (!profile_has_rule(config->profile, RULE_KAI_QUOTA) || config->rules_off >> RULE_KAI_QUOTA & 1)
		return false;
	v = judge_kai_quota(a->en->cluster, a->c.pod);
	if (v.rule == RULE_NONE)
		return false;
	rule_verdict_text(a->en->cluster, &v, &t);
	text_add_char(&t, '.');
	a->d->message = attempt_keep_text(a, &t);
	a->d->own_rule = RULE_KAI_QUOTA;
	ledger_clear_nomination(a->c.ledger, a->c.pod);
	return true;
}

/* ---- the attempt ---- */

/*
 * A nominated pod keeps its room while its victims are going; otherwise, also if they do not go in time, it
 * looks again like everybody. ret_nominated: the node it gave up because they do not go.
 */
static bool keeps_nomination(struct attempt *a, node_id *ret_nominated)
{
	node_id node = a->c.p->node;

	*ret_nominated = NODE_NONE;
	if (a->c.p->nomination == NOMINATION_NONE)
		return false;
	if (attempt_nominated_node_fits(a)) {
		a->d->tie = TIE_NOMINATED;
		take(a, node);
		return true;
	}
	if (ledger_node(a->c.ledger, node)->is_live && fits_soon(a, node, false)) {
		a->d->tie = TIE_NOMINATED;
		reserve(a, node, ACTION_ALLOCATE);
		return true;
	}
	if (ledger_node(a->c.ledger, node)->is_live && fits_soon(a, node, true)) {
		note_stuck(a, node);
		*ret_nominated = node;
	}
	ledger_clear_nomination(a->c.ledger, a->c.pod);
	return false;
}

static void filter(struct attempt *a, bool wants_report)
{
	a->is_kept = !wants_report && search_cache_filter(a->en->search_cache, &a->c, &a->kept);
	if (!a->is_kept) {
		attempt_filter(a);
		return;
	}
	a->statuses = a->kept.statuses;
	a->feasible = a->kept.feasible;
	a->n_feasible = a->kept.n_feasible;
}

/* True: a plugin at PostFilter offers a node, or has said that nothing helps; that follows the sentence. */
static bool is_helped(struct attempt *a, bool is_after_preemption)
{
	struct text t = {0};
	bool is_answered;

	if (!framework_has_post_filter(a->c.framework))
		return false;
	text_printf(&t, "%s ", a->d->message ? a->d->message : "");
	is_answered = attempt_post_filter(a, is_after_preemption, &t);
	if (is_answered && a->d->outcome == OUTCOME_WAITING)
		a->d->message = attempt_keep_text(a, &t);
	text_free(&t);
	return is_answered;
}

enum err_code attempt_queued(struct attempt *a, bool wants_report, struct err *e)
{
	queue_id q = QUEUE_NONE;
	res_id r = RES_NONE;
	uint64_t lacking;
	node_id node, nominated;

	if (a->c.p->queue == QUEUE_NONE) {
		no_queue(a);
		return ERR_OK;
	}
	if (is_over_limit(a) || is_over_quota(a) || keeps_nomination(a, &nominated))
		return ERR_OK;
	lacking = queue_lacking(a->c.ledger, a->c.p, a->c.shape, &q, &r);
	filter(a, wants_report);
	if (!lacking && a->n_feasible) {
		enum err_code rc = attempt_choose(a, &node, e);

		if (!rc && wants_report)
			attempt_report(a, NULL, 0);
		if (!rc)
			take(a, node);
		return rc;
	}
	if (wants_report)
		attempt_report(a, NULL, 0);
	if (!a->en->tells_no_words)
		waits(a, lacking != 0, q, r);
	if (!lacking && take_leaving_room(a, false, NODE_NONE))
		return ERR_OK;
	if (!lacking && is_helped(a, false))
		return ERR_OK;
	take_room(a, lacking);
	if (!lacking && a->d->outcome == OUTCOME_WAITING && is_helped(a, true))
		return ERR_OK;
	if (!lacking && a->d->outcome == OUTCOME_WAITING)
		wait_for_stuck(a, nominated);
	return ERR_OK;
}

/* ---- one of a gang ---- */

static void found(struct attempt *a, enum outcome o, node_id node)
{
	a->d->outcome = o;
	a->d->action = ACTION_ALLOCATE;
	a->d->node = node;
}

static void take_room_in_pass(struct attempt *a, uint64_t lacking)
{
	struct victim_search h = {.a = a, .lacking = lacking};
	struct protected_list protected = told_in(a);

	potential(&h);
	victim_search_as(&h, a->pass->action, a->pass->with_opted_out, &protected);
	note_bounded(a, h.n_bounded);
	a->pass->may_spare |= h.may_spare;
	protected_merge(a->pass->protected, &protected);
	protected_free(&protected);
}

enum err_code attempt_member(struct attempt *a, bool wants_report, struct err *e)
{
	enum err_code rc = ERR_OK;
	queue_id q = QUEUE_NONE;
	res_id r = RES_NONE;
	uint64_t lacking;
	node_id node = NODE_NONE;

	if (is_over_limit(a) || is_over_quota(a))
		return ERR_OK;
	lacking = queue_lacking(a->c.ledger, a->c.p, a->c.shape, &q, &r);
	filter(a, wants_report);
	if (!lacking && a->n_feasible)
		rc = attempt_choose(a, &node, e);
	if (!rc && wants_report)
		attempt_report(a, NULL, 0);
	if (!rc && node != NODE_NONE)
		found(a, OUTCOME_PLACED, node);
	if (rc || node != NODE_NONE)
		return rc;
	if (a->en->tells_no_words)
		a->d->message = "";
	else
		waits(a, lacking != 0, q, r);
	if (!lacking && take_leaving_room(a, a->pass->with_stuck, NODE_NONE)) {
		if (a->pass->with_stuck)
			note_stuck(a, a->d->node);
	} else if (a->pass->action != ACTION_ALLOCATE) {
		take_room_in_pass(a, lacking);
	}
	return ERR_OK;
}

void attempt_nominated(struct attempt *a)
{
	node_id node = a->c.p->node;

	a->d->tie = TIE_NOMINATED;
	if (attempt_nominated_node_fits(a))
		found(a, OUTCOME_PLACED, node);
	else if (ledger_node(a->c.ledger, node)->is_live && fits_soon(a, node, false))
		found(a, OUTCOME_NOMINATED, node);
}
