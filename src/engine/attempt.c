/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt for one waiting pod, as kube-scheduler makes it: its nominated node first, then all nodes; the best score
 * wins; where nothing fits, somebody of lower priority may have to go.
 */
#include <inttypes.h>

#include "engine/attempt.h"
#include "engine/displace_internal.h"

#include <stdlib.h>

#include "engine/disruption_unit.h"
#include "engine/volumes.h"

const char *attempt_keep_text(struct attempt *a, struct text *t)
{
	const char *s = arena_strndup(a->keep, text_str(t), t->n);

	text_free(t);
	return s;
}

/* ---- filters ---- */

static uint32_t position(const struct cede_cycle *c, node_id node)
{
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i] == node)
			return i;
	return UINT32_MAX;
}

void attempt_filter(struct attempt *a)
{
	struct cede_cycle *c = &a->c;
	bool by_numbers =
		!c->moves_all && status_is_success(&c->pre_filter) && !c->has_node_set && cycle_room_comes_first(c);
	struct want want;

	if (by_numbers)
		want_of(c, &want);
	a->statuses = arena_n(c->arena, c->n_nodes + 1, struct status);
	a->feasible = arena_n(c->arena, c->n_nodes + 1, node_id);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		a->statuses[i] = by_numbers ? fits_by_numbers(c, &want, c->nodes[i]) : cycle_fits(c, c->nodes[i]);
		if (status_is_success(&a->statuses[i]))
			a->feasible[a->n_feasible++] = c->nodes[i];
	}
}

/* The node it is nominated to is used as long as it fits, without looking at others (KF-9). */
bool attempt_nominated_node_fits(struct attempt *a)
{
	struct status s;

	if (a->c.p->nomination == NOMINATION_NONE || !ledger_node(a->c.ledger, a->c.p->node)->is_live ||
	    !status_is_success(&a->c.pre_filter))
		return false;
	s = cycle_fits(&a->c, a->c.p->node);
	return status_is_success(&s);
}

/* Whose refusal it was: what may wake the pod depends on that. */
static uint64_t rejecters_of(const struct status *s)
{
	if (s->plugin != PLUGIN_FRAMEWORK)
		return UINT64_C(1) << s->plugin;
	return s->verdict.reason == FW_OUTSIDE || s->verdict.reason == FW_EMPTY ? s->verdict.detail : 0;
}

/* ---- placing ---- */

enum err_code attempt_choose(struct attempt *a, node_id *ret, struct err *e)
{
	uint32_t best = 0, second = UINT32_MAX;

	a->scores = arena_n(a->c.arena, a->n_feasible + 1, int64_t);
	*ret = a->feasible[0];
	a->d->tie = TIE_ONLY_ONE;
	if (a->n_feasible == 1)
		return ERR_OK;
	if (cycle_scores(&a->c, a->feasible, a->n_feasible, a->scores, NULL, e))
		return ERR_INTERNAL;
	for (uint32_t i = 1; i < a->n_feasible; i++) {
		if (a->scores[i] > a->scores[best]) {
			second = best;
			best = i;
		} else if (second == UINT32_MAX || a->scores[i] > a->scores[second]) {
			second = i;
		}
	}
	*ret = a->feasible[best];
	a->d->tie = a->scores[best] > a->scores[second] ? TIE_SCORE : TIE_NAME;
	a->d->runner_up = a->feasible[second];
	a->d->tie_mine = a->scores[best];
	a->d->tie_theirs = a->scores[second];
	return ERR_OK;
}

static bool has_placed(const struct ledger *l, const struct group *g)
{
	for (uint32_t i = 0; i < g->n_podsets; i++)
		if (ledger_podset(l, g->first_podset + i)->n_placed)
			return true;
	return false;
}

/*
 * Now, or since its group started: that is when the first pod of a group gets its place while no other has one. To
 * scale up does not start the clock again, to come back after all were evicted does (MR-8). Kubernetes' groups and
 * gangs without a PodGroup have nowhere to write it.
 */
static int64_t stamp_group(struct attempt *a)
{
	const struct group *g = a->c.p->group == GROUP_NONE ? NULL : ledger_group(a->c.ledger, a->c.p->group);

	if (!g || g->obj->is_k8s || g->obj->is_of_pods)
		return a->c.now_ns;
	if (!has_placed(a->c.ledger, g))
		ledger_set_group_started(a->c.ledger, a->c.p->group, a->c.now_ns);
	return g->started_ns == TIME_NONE ? a->c.now_ns : g->started_ns;
}

void attempt_refusal_text(struct attempt *a, struct text *out)
{
	struct fit_error fe = {.n_all = a->c.n_nodes, .statuses = a->statuses, .n = a->c.n_nodes};
	struct text pre = {0};

	if (!a->c.n_nodes) {
		text_add(out, "no nodes available to schedule pods");
		return;
	}
	if (a->is_kept && !a->kept.statuses) {
		fe.counts = a->kept.counts;
		fe.n_counts = a->kept.n_counts;
		fe.n = 0;
	}
	if (!status_is_success(&a->c.pre_filter))
		status_message(&a->c, &a->c.pre_filter, &pre);
	fe.pre_filter_msg = text_str(&pre);
	fit_error_text(&a->c, &fe, out);
	text_free(&pre);
}

/* Reserve, Permit, PreBind, Bind: a plugin may still refuse; then nothing remains of the attempt (KF-10). */
void attempt_place(struct attempt *a, node_id node)
{
	struct text t = {0};
	struct status refusal;
	int64_t started;

	if (!cycle_bind(&a->c, node, &refusal)) {
		struct fit_error fe = {.n_all = 1, .statuses = &refusal, .n = 1};

		fit_error_text(&a->c, &fe, &t);
		a->d->rejecters = rejecters_of(&refusal);
		a->d->outcome = OUTCOME_WAITING;
		a->d->message = attempt_keep_text(a, &t);
		ledger_clear_nomination(a->c.ledger, a->c.pod);
		return;
	}
	a->d->outcome = OUTCOME_PLACED;
	a->d->action = ACTION_ALLOCATE;
	a->d->node = node;
	started = stamp_group(a);
	ledger_place(a->c.ledger, a->c.pod, node);
	ledger_set_started(a->c.ledger, a->c.pod, started);
	decision_take_volumes(a->d, a->c.ledger, a->keep);
}

/* ---- preemption ---- */

static void no_candidates(struct attempt *a, const struct displace_node *tried, uint32_t n, struct text *out)
{
	struct status *s = arena_n(a->c.arena, n + 1, struct status);
	struct status rest = status_of_framework(CEDE_UNRESOLVABLE, FW_NOT_HELPFUL, 0);
	struct fit_error fe = {.n_all = a->c.n_nodes, .statuses = s, .n = n, .absent = &rest};

	for (uint32_t i = 0; i < n; i++)
		s[i] = tried[i].status;
	fit_error_text(&a->c, &fe, out);
}

struct victim *attempt_take_victims(struct attempt *a, const pod_id *victims, uint32_t n)
{
	struct victim *v = arena_n(a->keep, n + 1, struct victim);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(a->c.ledger, victims[i]);

		v[i] = (struct victim){
			.pod = victims[i], .node = p->node, .queue = p->queue, .lost_ns = lost_ns_of(p, a->c.now_ns)};
	}
	a->d->n_victims = n;
	a->d->victims = v;
	return v;
}

/* As the search found it: alone, the victims might have room in their budgets that those who stay had taken. */
static void mark_victims(const struct attempt *a, struct victim *v, const struct displace_node *best, struct judge *j)
{
	for (uint32_t i = 0; best->n_spared && i < best->n_victims; i++)
		v[i].overridden = judge_overridden(j, best->victims[i]);
	for (uint32_t i = 0; i < best->n_victims; i++) {
		v[i].goes_with_group = pod_goes_whole(a->c.ledger, ledger_pod(a->c.ledger, best->victims[i]));
		if (best->violates[i])
			v[i].overridden = RULE_BUDGET;
	}
}

/* Lower pods that are nominated to this node have to look again. */
static void clear_lower_nominations(struct attempt *a, node_id node)
{
	const struct ledger_node *n = ledger_node(a->c.ledger, node);

	for (uint32_t i = 0; i < n->nominated.n;) {
		const struct pod *p = ledger_pod(a->c.ledger, n->nominated.v[i]);

		if (p->nomination == NOMINATION_ADVISORY && p->priority < a->c.priority)
			ledger_clear_nomination(a->c.ledger, n->nominated.v[i]);
		else
			i++;
	}
}

static void nominate(struct attempt *a, const struct displace_node *best, struct judge *j)
{
	mark_victims(a, attempt_take_victims(a, best->victims, best->n_victims), best, j);
	a->d->outcome = OUTCOME_NOMINATED;
	a->d->action = ACTION_DISPLACE;
	a->d->node = best->node;
	for (uint32_t i = 0; i < best->n_victims; i++)
		if (ledger_pod(a->c.ledger, best->victims[i])->state == POD_PLACED)
			ledger_evict(a->c.ledger, best->victims[i]);
	clear_lower_nominations(a, best->node);
	ledger_nominate(a->c.ledger, a->c.pod, best->node);
}

static uint32_t potential_nodes(struct attempt *a, node_id *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->c.n_nodes; i++)
		if (a->statuses[i].verdict.code == CEDE_UNSCHEDULABLE)
			ret[n++] = a->c.nodes[i];
	return n;
}

/* By node and name: in which order pods came to a node must not be visible. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct cede_cycle *c = ctx;
	const struct protected_pod *x = a, *y = b;
	const struct pod *px = ledger_pod(c->ledger, x->pod), *py = ledger_pod(c->ledger, y->pod);
	int d = name_cmp(c->names, ledger_node(c->ledger, x->node)->name, ledger_node(c->ledger, y->node)->name);

	if (!d)
		d = name_cmp(c->names, labelset_get(c->vocab, px->labelset)->ns,
			     labelset_get(c->vocab, py->labelset)->ns);
	return d ? d : name_cmp(c->names, px->name, py->name);
}

static void judge_of(const struct attempt *a, struct judge *j)
{
	struct rule_settings settings = engine_rule_settings(a->en);

	displace_judge(j, &a->c, &settings, &a->en->scratch);
}

static struct displace_options options_of(const struct attempt *a, struct judge *j)
{
	return (struct displace_options){.j = j,
					 .threads = a->en->config->threads,
					 .looks_at_all = a->en->config->looks_at_all,
					 .sums = displace_cache_sums(a->en->displace_cache),
					 .orders = displace_cache_orders(a->en->displace_cache)};
}

/* The words of PostFilter into out; the decision itself if somebody can be displaced. */
static void displace(struct attempt *a, bool wants_report, struct displace_node **ret_tried, uint32_t *ret_n,
		     struct text *out)
{
	struct judge j;
	struct displace_options o = options_of(a, &j);
	struct protected_list spoke = {.max = PROTECTED_MAX};
	uint32_t at = a->c.p->nomination == NOMINATION_NONE ? UINT32_MAX : position(&a->c, a->c.p->node);
	enum eligibility el = displace_eligible(&a->c, at == UINT32_MAX ? NULL : &a->statuses[at]);
	node_id *nodes = arena_n(a->c.arena, a->c.n_nodes + 1, node_id);
	struct displace_node *tried;
	uint32_t n, best, second;

	*ret_n = 0;
	text_add(out, "preemption: ");
	if (el != ELIGIBLE) {
		text_add(out, eligibility_text(el));
		a->d->own_rule = el == NOT_ELIGIBLE_NEVER ? RULE_NEVER : RULE_NONE;
		return;
	}
	n = potential_nodes(a, nodes);
	tried = arena_n(a->c.arena, n + 1, struct displace_node);
	judge_of(a, &j);
	o.spoke = &spoke;
	o.tells_all = wants_report;
	displace_all(&a->c, nodes, n, &o, tried);
	if (spoke.v.n)
		qsort_r(spoke.v.v, spoke.v.n, sizeof(*spoke.v.v), by_place, &a->c);
	decision_keep_protected(a->d, &spoke, a->keep);
	protected_free(&spoke);
	*ret_tried = tried;
	*ret_n = n;
	best = displace_pick(&a->c, tried, n, &a->d->tie, &second, &a->d->tie_mine, &a->d->tie_theirs);
	if (best == UINT32_MAX) {
		no_candidates(a, tried, n, out);
		ledger_clear_nomination(a->c.ledger, a->c.pod);
		return;
	}
	a->d->runner_up = second == UINT32_MAX ? NODE_NONE : tried[second].node;
	nominate(a, &tried[best], &j);
}

/* ---- plugins at PostFilter ---- */

bool attempt_post_filter(struct attempt *a, bool is_after_preemption, struct text *out)
{
	node_id node = NODE_NONE;
	struct status s = cycle_post_filter(&a->c, is_after_preemption, &node);

	if (s.verdict.code == CEDE_UNSCHEDULABLE)
		return false;
	if (s.verdict.code == CEDE_UNRESOLVABLE) {
		status_message(&a->c, &s, out);
		return true;
	}
	a->d->outcome = OUTCOME_NOMINATED;
	a->d->action = ACTION_ALLOCATE;
	a->d->node = node;
	a->d->tie = TIE_OFFERED;
	a->d->tie_words = framework_plugin(a->c.framework, s.plugin)->table->name;
	a->d->own_rule = RULE_NONE;
	a->d->until_ns = TIME_NONE;
	if (a->c.p->nomination != NOMINATION_NONE)
		ledger_clear_nomination(a->c.ledger, a->c.pod);
	ledger_nominate(a->c.ledger, a->c.pod, node);
	return true;
}

/* ---- reports ---- */

void attempt_report(struct attempt *a, const struct displace_node *tried, uint32_t n_tried)
{
	struct node_report *r = arena_n(a->keep, a->c.n_nodes + 1, struct node_report);
	uint32_t k = 0, f = 0;

	for (uint32_t i = 0; a->statuses && i < a->c.n_nodes; i++) {
		r[i] = (struct node_report){.node = a->c.nodes[i], .refusal = a->statuses[i]};
		if (status_is_success(&a->statuses[i])) {
			r[i].fate = FATE_FEASIBLE;
			r[i].score = a->scores ? a->scores[f] : 0;
			f++;
		}
		if (k < n_tried && tried[k].node == a->c.nodes[i]) {
			pod_id *victims = arena_n(a->keep, tried[k].n_victims + 1, pod_id);

			if (tried[k].n_victims)
				memcpy(victims, tried[k].victims, tried[k].n_victims * sizeof(*victims));
			r[i].fate = status_is_success(&tried[k].status) ? FATE_CANDIDATE : FATE_NO_HELP;
			r[i].after = tried[k].status;
			r[i].n_victims = tried[k].n_victims;
			r[i].n_violations = tried[k].n_violations;
			r[i].victims = victims;
			k++;
		}
	}
	a->d->nodes = r;
	a->d->n_nodes = a->statuses ? a->c.n_nodes : 0;
}

/* ---- the attempt ---- */

bool engine_is_default_queue(const struct engine *en, queue_id q)
{
	const struct queue_tree *t = ledger_queues(en->ledger);
	const char *path;

	if (q == QUEUE_NONE || !queue_is_leaf(t, q))
		return false;
	path = name_str(vocab_names(ledger_vocab(en->ledger)), queue_get(t, q)->path);
	return str_eq(path, "root.default") || str_eq(path, "root.default.default");
}

bool attempt_in_default_queue(const struct attempt *a, queue_id q)
{
	return engine_is_default_queue(a->en, q);
}

static void note_rejecters(struct attempt *a)
{
	if (!status_is_success(&a->c.pre_filter))
		a->d->rejecters |= rejecters_of(&a->c.pre_filter);
	for (uint32_t i = 0; a->statuses && i < a->c.n_nodes; i++)
		a->d->rejecters |= rejecters_of(&a->statuses[i]);
}

static void unplaced(struct attempt *a, bool wants_report)
{
	struct text message = {0}, post = {0}, pre = {0};
	struct fit_error fe = {.n_all = a->c.n_nodes, .statuses = a->statuses, .n = a->c.n_nodes};
	struct displace_node *tried = NULL;
	uint32_t n_tried = 0;

	note_rejecters(a);
	if (!a->c.n_nodes) {
		text_add(&message, "no nodes available to schedule pods");
	} else {
		if (!status_is_success(&a->c.pre_filter))
			status_message(&a->c, &a->c.pre_filter, &pre);
		if (!attempt_post_filter(a, false, &post)) {
			if (framework_preempts(a->c.framework))
				displace(a, wants_report, &tried, &n_tried, &post);
			if (a->d->outcome == OUTCOME_WAITING)
				attempt_post_filter(a, true, &post);
		}
		fe.pre_filter_msg = text_str(&pre);
		fe.post_filter_msg = a->d->outcome == OUTCOME_NOMINATED ? "" : text_str(&post);
		fit_error_text(&a->c, &fe, &message);
	}
	if (wants_report)
		attempt_report(a, tried, n_tried);
	a->d->message = attempt_keep_text(a, &message);
	text_free(&post);
	text_free(&pre);
}

/* What the displace cache found where nothing fits: a nomination, or the sentence that says why there is none. */
static void take_displace_cache(struct attempt *a, const struct displace_cache_result *r, struct judge *j)
{
	struct status rest = status_of_framework(CEDE_UNRESOLVABLE, FW_NOT_HELPFUL, 0);
	struct fit_error after = {.n_all = a->c.n_nodes, .counts = r->after, .n_counts = r->n_after, .absent = &rest};
	struct fit_error fe = {.n_all = a->c.n_nodes, .counts = r->refusals, .n_counts = r->n_refusals};
	struct text message = {0}, post = {0};

	for (uint32_t i = 0; i < r->n_refusals; i++)
		a->d->rejecters |= rejecters_of(&r->refusals[i].s);
	a->d->tie = r->tie;
	a->d->runner_up = r->second;
	a->d->tie_mine = r->mine;
	a->d->tie_theirs = r->theirs;
	if (r->best != NODE_NONE) {
		nominate(a, &r->winner, j);
	} else {
		text_add(&post, "preemption: ");
		fit_error_text(&a->c, &after, &post);
	}
	fe.post_filter_msg = text_str(&post);
	fit_error_text(&a->c, &fe, &message);
	a->d->message = attempt_keep_text(a, &message);
	text_free(&post);
}

/*
 * True: decided, or the feasible nodes are known. The displace cache is for pods without a nomination that may displace
 * others.
 */
static bool try_displace_cache(struct attempt *a)
{
	struct judge j;
	struct displace_options o = options_of(a, &j);
	struct displace_cache_result r;
	int64_t below;

	if (a->c.p->nomination != NOMINATION_NONE || !framework_preempts(a->c.framework) ||
	    framework_has_post_filter(a->c.framework) || displace_eligible(&a->c, NULL) != ELIGIBLE)
		return false;
	judge_of(a, &j);
	if (!judge_is_by_priority(&j, &below) || !displace_cache_run(a->en->displace_cache, &a->c, &o, &r))
		return false;
	a->n_feasible = r.n_feasible;
	a->feasible = r.feasible;
	if (!r.n_feasible)
		take_displace_cache(a, &r, &j);
	return true;
}

static enum err_code try_pod(struct attempt *a, bool wants_report, struct err *e)
{
	node_id node;

	if (attempt_nominated_node_fits(a)) {
		a->d->tie = TIE_NOMINATED;
		attempt_place(a, a->c.p->node);
		return ERR_OK;
	}
	if (!wants_report && !a->en->config->looks_at_all && try_displace_cache(a)) {
		if (!a->n_feasible)
			return ERR_OK;
	} else {
		attempt_filter(a);
	}
	if (!a->n_feasible) {
		unplaced(a, wants_report);
		return ERR_OK;
	}
	if (attempt_choose(a, &node, e))
		return ERR_INTERNAL;
	if (wants_report)
		attempt_report(a, NULL, 0);
	attempt_place(a, node);
	return ERR_OK;
}

/* Where queues count it holds no room meanwhile, whatever node it was nominated to before. */
static void gate(struct attempt *a, const struct status *s)
{
	struct text t = {0};

	status_message(&a->c, s, &t);
	a->d->outcome = OUTCOME_GATED;
	a->d->message = attempt_keep_text(a, &t);
	if (profile_get(a->en->config->profile)->search_mode == MODE_QUEUES)
		ledger_clear_nomination(a->c.ledger, a->c.pod);
}

struct decision attempt_decision(const struct engine *en, pod_id pod)
{
	const struct pod *p = ledger_pod(en->ledger, pod);

	return (struct decision){.pod = pod,
				 .group = p->group,
				 .queue = p->queue,
				 .outcome = OUTCOME_WAITING,
				 .node = NODE_NONE,
				 .runner_up = NODE_NONE,
				 .overdue = {.node = NODE_NONE},
				 .until_ns = TIME_NONE};
}

void attempt_begin(struct attempt *a, struct engine *en, const struct engine_run *run, pod_id pod, struct arena *keep,
		   struct decision *d)
{
	*a = (struct attempt){.en = en, .keep = keep, .d = d};
	*d = attempt_decision(en, pod);
	cycle_begin(&a->c, engine_framework(en, pod), en->arena, pod, run->now_ns);
	a->c.leaving_make_room = profile_get(en->config->profile)->search_mode == MODE_QUEUES;
	if (a->c.leaving_make_room)
		engine_need_search_cache(en);
	a->c.patience_ns = en->config->patience_ns;
	a->c.moves_all = en->config->looks_at_all;
}

void attempt_end(struct attempt *a)
{
	cycle_end(&a->c);
	arena_reset(a->en->arena);
}

enum err_code attempt(struct engine *en, const struct engine_run *run, pod_id pod, struct arena *keep,
		      struct decision *ret, struct err *e)
{
	enum err_code rc = ERR_OK;
	struct attempt a;
	struct status s;

	attempt_begin(&a, en, run, pod, keep, ret);
	s = cycle_pre_enqueue(&a.c);
	if (!status_is_success(&s))
		gate(&a, &s);
	else if (profile_get(en->config->profile)->search_mode == MODE_QUEUES)
		rc = attempt_queued(&a, run->report == pod, e);
	else
		rc = try_pod(&a, run->report == pod, e);
	attempt_end(&a);
	return rc;
}
