/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle: who is waiting, in which order, and one attempt for each. */
#include "engine/engine.h"

#include <stdlib.h>

#include "base/bits.h"
#include "engine/echo.h"
#include "engine/engine_internal.h"
#include "engine/fair_guarantee.h"
#include "engine/gang.h"
#include "engine/gang_kube.h"
#include "engine/moves.h"
#include "engine/queue_order.h"
#include "engine/quota.h"
#include "engine/search_cache.h"
#include "engine/session.h"
#include "rules/plugin.h"

struct engine *engine_new(struct cluster *c, const struct engine_config *config, const struct framework_plugin *extra,
			  uint32_t n_extra, struct err *e)
{
	struct engine *en = mem_alloc(sizeof(*en));

	en->cluster = c;
	en->ledger = cluster_ledger(c);
	en->config = config;
	en->arena = arena_new(profile_get(config->profile)->search_mode == MODE_PODS ? 1 << 15 : 1 << 18);
	en->has_plugins = n_extra || config->n_plugins;
	en->displace_cache = displace_cache_new();
	en->frameworks = mem_alloc(config->n_kube_profiles * sizeof(*en->frameworks));
	for (uint32_t i = 0; i < config->n_kube_profiles; i++) {
		en->frameworks[i] = framework_new(c, &config->kube_profiles[i], extra, n_extra, e);
		if (!en->frameworks[i]) {
			engine_free(en);
			return NULL;
		}
	}
	return en;
}

/* Made for the first attempt: other profiles need none. */
void engine_need_search_cache(struct engine *en)
{
	if (en->search_cache)
		return;
	en->search_cache = search_cache_new();
	if (en->config->looks_at_all)
		search_cache_keep_nothing(en->search_cache);
	if (en->config->keeps_of_few)
		search_cache_keep_of_few(en->search_cache);
}

static void forget_history(struct engine *en)
{
	if (en->own_history)
		eviction_history_free(en->own_history);
	mem_free(en->own_history);
	en->own_history = NULL;
}

void engine_free(struct engine *en)
{
	if (!en)
		return;
	for (uint32_t i = 0; i < en->config->n_kube_profiles; i++)
		framework_free(en->frameworks[i]);
	mem_free(en->frameworks);
	protected_free(&en->listed);
	protected_free(&en->of_actions);
	displace_cache_free(en->displace_cache);
	search_cache_free(en->search_cache);
	movable_memory_free(en->movable);
	queue_order_free(en->queue_order);
	judge_scratch_free(&en->scratch);
	forget_history(en);
	arena_free(en->arena);
	session_forget(en);
	arena_free(en->session_arena);
	arena_free(en->cycle_arena);
	text_free(&en->complaints);
	mem_free(en);
}

static const char *scheduler_of(const struct engine *en, const struct pod *p)
{
	const struct vocab *v = ledger_vocab(en->ledger);

	return name_str(vocab_names(ledger_vocab(en->ledger)), shape_get(v, p->shape)->scheduler_name);
}

void engine_ask_plugins_for_nobody(struct engine *en, struct judge *j, struct cede_cycle *c, pod_id victim)
{
	struct framework *f = engine_framework(en, victim);

	if (c->framework == f || (!c->framework && !plugins_judge(f)))
		return;
	cycle_end_aside(c);
	cycle_begin_aside(c, f, en->arena, POD_NONE, j->now_ns);
	judge_ask_plugins(j, c);
}

struct framework *engine_framework(struct engine *en, pod_id pod)
{
	const struct kube_profile *k =
		engine_config_kube_profile(en->config, scheduler_of(en, ledger_pod(en->ledger, pod)));

	return en->frameworks[k - en->config->kube_profiles];
}

const char *engine_complaints(struct engine *en)
{
	text_reset(&en->complaints);
	for (uint32_t i = 0; i < en->config->n_kube_profiles; i++)
		text_add(&en->complaints, framework_complaints(en->frameworks[i]));
	return text_str(&en->complaints);
}

static bool has_queues(const struct engine *en)
{
	return profile_get(en->config->profile)->search_mode == MODE_QUEUES;
}

/* ---- who is waiting ---- */

bool engine_counts_room(const struct engine *en)
{
	for (uint32_t i = 0; i < en->config->n_kube_profiles; i++)
		if (!framework_counts_room(en->frameworks[i]))
			return false;
	return true;
}

bool engine_is_ours(const struct engine *en, const struct pod *p)
{
	const char *name = scheduler_of(en, p);

	for (uint32_t i = 0; i < en->config->n_scheduler_names; i++)
		if (str_eq(en->config->scheduler_names[i], name))
			return true;
	return !en->config->n_scheduler_names;
}

/*
 * Higher priority first, then the older; a pod that does not say when it was made comes after those that do; then by
 * name. In profile kubernetes nominated pods come after the others, as there they sleep until their
 * victims are gone; their room is kept meanwhile.
 */
struct queue_sort {
	pod_id pod;
	int32_t priority;
	int64_t made_ns;
	bool is_nominated;
};

static int by_queue_sort(const void *a, const void *b, void *ctx)
{
	const struct ledger *l = ctx;
	const struct vocab *v = ledger_vocab(l);
	const struct names *names = vocab_names(ledger_vocab(l));
	const struct queue_sort *x = a, *y = b;
	const struct pod *p, *q;
	int d;

	if (x->is_nominated != y->is_nominated)
		return x->is_nominated ? 1 : -1;
	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->made_ns != y->made_ns)
		return x->made_ns < y->made_ns ? -1 : 1;
	p = ledger_pod(l, x->pod);
	q = ledger_pod(l, y->pod);
	d = name_cmp(names, labelset_get(v, p->labelset)->ns, labelset_get(v, q->labelset)->ns);
	return d ? d : name_cmp(names, p->name, q->name);
}

/* Drivers list those of one kind in order: what is in order already is only merged. Where such runs end, into ends. */
static uint32_t find_runs(const struct engine *en, const struct queue_sort *v, uint32_t n, uint32_t *ends)
{
	uint32_t n_runs = 0;

	for (uint32_t i = 1; i <= n; i++)
		if (i == n || by_queue_sort(&v[i - 1], &v[i], en->ledger) > 0)
			ends[n_runs++] = i;
	return n_runs;
}

static void merge(const struct engine *en, const struct queue_sort *v, uint32_t from, uint32_t middle, uint32_t end,
		  struct queue_sort *to)
{
	for (uint32_t a = from, b = middle, at = from; at < end; at++) {
		bool takes_first = b == end || (a < middle && by_queue_sort(&v[a], &v[b], en->ledger) <= 0);

		to[at] = takes_first ? v[a++] : v[b++];
	}
}

/* Returns where the sorted ones are: v or other. */
static struct queue_sort *merge_runs(const struct engine *en, struct queue_sort *v, struct queue_sort *other,
				     uint32_t *ends, uint32_t n_runs)
{
	while (n_runs > 1) {
		struct queue_sort *from = v;
		uint32_t at = 0, n = 0;

		for (uint32_t i = 0; i < n_runs; i += 2) {
			uint32_t end = ends[i + 1 < n_runs ? i + 1 : i];

			merge(en, v, at, ends[i], end, other);
			ends[n++] = at = end;
		}
		v = other;
		other = from;
		n_runs = n;
	}
	return v;
}

static void sort_waiting(const struct engine *en, struct pod_list *l)
{
	bool is_of_pods = profile_get(en->config->profile)->search_mode == MODE_PODS;
	struct queue_sort *v = mem_alloc((2 * (size_t)l->n + 1) * sizeof(*v)), *sorted;
	uint32_t *ends = mem_alloc(((size_t)l->n + 1) * sizeof(*ends));

	for (uint32_t i = 0; i < l->n; i++) {
		const struct pod *p = ledger_pod(en->ledger, l->v[i]);

		v[i] = (struct queue_sort){.pod = l->v[i],
					   .priority = p->priority,
					   .made_ns = p->created_ns == TIME_NONE ? INT64_MAX : p->created_ns,
					   .is_nominated = is_of_pods && gang_kube_is_nominated(en, p)};
	}
	sorted = merge_runs(en, v, v + l->n, ends, find_runs(en, v, l->n, ends));
	for (uint32_t i = 0; i < l->n; i++)
		l->v[i] = sorted[i].pod;
	mem_free(ends);
	mem_free(v);
}

/* A nomination that an object brought is advisory until a cycle has honoured it. */
static bool is_asked_for(const struct engine_run *run, pod_id id, const struct pod *p)
{
	return !run->only || bits_has(run->only, id) || p->nomination == NOMINATION_ADVISORY;
}

static void collect_waiting(struct engine *en, const struct engine_run *run, struct pod_list *out)
{
	uint32_t n = run->these ? run->n_these : ledger_pod_limit(en->ledger);

	for (uint32_t i = 0; i < n; i++) {
		pod_id pod = run->these ? run->these[i] : i;
		const struct pod *p = ledger_pod(en->ledger, pod);

		if (p->state == POD_WAITING && is_asked_for(run, pod, p) && engine_is_ours(en, p))
			array_push(out, pod);
	}
	if (out->n > 1)
		sort_waiting(en, out);
}

/*
 * Where queues count, room that was made for a pod is kept for it against everybody (GQ-10); but in the queue of those
 * without one, where Kubernetes' default preemption decides, a higher priority may still take it (KF-9).
 */
static void reserve_nominated(struct engine *en, const struct pod_list *waiting)
{
	for (uint32_t i = 0; i < waiting->n; i++) {
		const struct pod *p = ledger_pod(en->ledger, waiting->v[i]);

		if (p->nomination == NOMINATION_ADVISORY && p->queue != QUEUE_NONE &&
		    !engine_is_default_queue(en, p->queue))
			ledger_reserve(en->ledger, p->node, waiting->v[i]);
	}
}

/* ---- the plan ---- */

/* All of its group that waits. */
static enum err_code try_group(struct engine *en, const struct engine_run *run, pod_id pod, uint32_t cycle,
			       struct decisions *ret, struct err *e)
{
	const struct decision *v;
	uint32_t n;
	enum err_code rc = gang_kube_try(en, run, pod, ret->arena, &v, &n, e);

	for (uint32_t i = 0; !rc && i < n; i++) {
		struct decision d = v[i];

		d.cycle = cycle;
		decisions_add(ret, &d);
	}
	return rc;
}

/* A pod, or first the group that it has to start with. Who was decided with its group is not tried again. */
static enum err_code try_one(struct gangs *gangs, const struct engine_run *run, pod_id pod, uint32_t cycle,
			     struct decisions *ret, struct err *e)
{
	struct engine *en = gangs_engine(gangs);
	struct decision d;
	enum err_code rc;

	if (gang_kube_concerns(en, pod))
		return try_group(en, run, pod, cycle, ret, e);
	rc = gangs_try(gangs, run, pod, cycle, ret, e);
	if (rc || gangs_decided(gangs, pod))
		return rc;
	rc = attempt(en, run, pod, ret->arena, &d, e);
	if (rc)
		return rc;
	d.cycle = cycle;
	decisions_add(ret, &d);
	return ERR_OK;
}

/* What is the same for all of its attempts. */
static void begin_run(struct engine *en, const struct engine_run *run)
{
	forget_history(en);
	en->n_runs++;
	en->eviction_history = run->eviction_history;
	en->tells_of = run->tells_of;
	en->tells_times = run->tells_times;
	en->tells_no_words = run->tells_times || run->tells_no_words;
	en->tells_in_any_order = run->tells_in_any_order;
	en->told = NULL;
	cluster_relax_gangs(en->cluster, run->now_ns);
}

enum err_code engine_try(struct engine *en, const struct engine_run *run, pod_id pod, struct decisions *ret,
			 struct err *e)
{
	struct gangs *gangs = gangs_new(en);
	enum err_code rc;

	begin_run(en, run);
	ledger_begin_cycle(en->ledger);
	rc = try_one(gangs, run, pod, 1, ret, e);
	gangs_free(gangs);
	return rc;
}

static bool is_over(const struct engine_run *run, uint32_t n_cycles)
{
	return run->is_over && run->is_over(run->driver, n_cycles);
}

static bool passes_over_rest(const struct engine_run *run)
{
	return run->passes_over_rest && run->passes_over_rest(run->driver);
}

/* One alone comes first, whatever its queue. (YuniKorn's order may also hold work back.) */
static bool needs_order(const struct engine *en, const struct pod_list *waiting)
{
	return has_queues(en) && (waiting->n != 1 || profile_get(en->config->profile)->order == ORDER_YUNIKORN);
}

static struct queue_order *begin_order(struct engine *en, const struct pod_list *waiting)
{
	if (!en->queue_order)
		en->queue_order = queue_order_new(en);
	queue_order_begin(en->queue_order, waiting->v, waiting->n);
	return en->queue_order;
}

/* By priority and age alone, or by queues. */
static enum err_code try_all(struct engine *en, const struct engine_run *run, const struct pod_list *waiting,
			     uint32_t cycle, struct decisions *ret, struct err *e)
{
	struct queue_order *queue_order = needs_order(en, waiting) ? begin_order(en, waiting) : NULL;
	struct bits with_group = {0}; /* those whose group was tried */
	struct gangs *gangs = gangs_new(en);
	struct echoes echoes;
	enum err_code rc = ERR_OK;

	echoes_begin(&echoes, en, run);
	for (uint32_t i = 0; !rc && i < waiting->n && !is_over(run, cycle - 1) && !passes_over_rest(run); i++) {
		pod_id pod = queue_order ? queue_order_next(queue_order) : waiting->v[i];
		uint32_t from = ret->v.n;

		if (bits_has(&with_group, pod) || (run->passes_over && run->passes_over(run->driver, pod)))
			continue;
		if (echoes_repeat(&echoes, pod, ret))
			continue;
		rc = try_one(gangs, run, pod, cycle, ret, e);
		echoes_note(&echoes, pod, ret, from);
		for (uint32_t k = from; k < ret->v.n; k++)
			if (ret->v.v[k].pod != pod)
				bits_set(&with_group, ret->v.v[k].pod);
	}
	if (queue_order)
		queue_order_end(queue_order);
	gangs_free(gangs);
	echoes_end(&echoes);
	bits_free(&with_group);
	return rc;
}

/* Who was evicted by this run and is gone now counts like those before it: for rates, and for work that thrashes. */
static void remember_eviction(struct engine *en, const struct pod *p, int64_t now_ns)
{
	const struct queue_tree *tree = ledger_queues(en->ledger);
	struct names *names = vocab_names(ledger_vocab(en->ledger));
	struct text workload = {0};

	if (!p->is_evicted || p->obj->deleted_ns != TIME_NONE)
		return;
	if (!en->own_history) {
		en->own_history = mem_alloc(sizeof(*en->own_history));
		eviction_history_init(en->own_history, names);
		eviction_history_copy(en->own_history, en->eviction_history);
		en->eviction_history = en->own_history;
	}
	eviction_history_workload(en->cluster, p, &workload);
	eviction_history_add(en->own_history, now_ns, text_str(&workload),
			     p->queue == QUEUE_NONE ? "" : name_str(names, queue_get(tree, p->queue)->path));
	text_free(&workload);
}

static int by_id(const void *a, const void *b)
{
	pod_id x = *(const pod_id *)a, y = *(const pod_id *)b;

	return x < y ? -1 : x > y;
}

/* By id. Nodes are fewer than pods, and tell whether somebody leaves them. */
static void find_leaving(const struct ledger *l, struct pod_list *ret)
{
	for (node_id n = 0; n < ledger_node_limit(l); n++) {
		const struct ledger_node *x = ledger_node(l, n);

		for (uint32_t i = 0; ledger_node_leaving(l, n)[RES_PODS] > 0 && i < x->pods.n; i++)
			if (ledger_pod(l, x->pods.v[i])->state == POD_LEAVING)
				array_push(ret, x->pods.v[i]);
	}
	if (ret->n > 1)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_id);
}

/* Between cycles: whoever was leaving is gone. Nobody updates budgets meanwhile: what was spent stays spent. */
static void let_go(struct engine *en, int64_t now_ns)
{
	struct pod_list leaving = {0};

	for (pdb_id i = 0; i < ledger_pdb_limit(en->ledger); i++)
		if (ledger_pdb(en->ledger, i)->is_live && ledger_pdb(en->ledger, i)->spent > 0)
			ledger_pdb_lower(en->ledger, i, ledger_pdb(en->ledger, i)->spent);
	find_leaving(en->ledger, &leaving);
	for (uint32_t i = 0; i < leaving.n; i++) {
		remember_eviction(en, ledger_pod(en->ledger, leaving.v[i]), now_ns);
		ledger_settle_assumed(en->ledger, leaving.v[i]); /* its claims are bound by now */
		ledger_pod_drop(en->ledger, leaving.v[i]);
	}
	array_free(&leaving);
}

/* A pod counts once in the summary: by its last decision if it waited, and as a victim however many asked for it. */
static void recount(struct decisions *d)
{
	struct bits told = {0}, gone = {0};

	d->placed = d->nominated = d->waiting = d->gated = 0;
	for (uint32_t i = d->v.n; i-- > 0;) {
		const struct decision *x = &d->v.v[i];

		if (x->pod != POD_NONE && !bits_has(&told, x->pod)) {
			bits_set(&told, x->pod);
			decisions_count(d, x);
		}
		for (uint32_t k = 0; k < x->n_victims; k++)
			bits_set(&gone, x->victims[k].pod);
	}
	d->victims = bits_count(&gone);
	bits_free(&told);
	bits_free(&gone);
}

/* Profile kai: all waiting work together. */
static void run_session(struct engine *en, int64_t now_ns, uint32_t cycle, struct decisions *ret)
{
	ledger_mark mark = ledger_get_mark(en->ledger);
	struct session *s = session_new(en, now_ns, false);

	s->tells_nobody = en->tells_of && bits_next(en->tells_of, 0) == UINT32_MAX;
	session_keep_shares(s, cycle, ret);
	session_run(s);
	session_keep_volumes(s);
	ledger_rollback(en->ledger, mark); /* what it tried out there */
	session_report(s, cycle, ret);
	session_free(s);
}

enum err_code engine_plan(struct engine *en, const struct engine_run *run, struct decisions *ret, struct err *e)
{
	enum err_code rc = ERR_OK;

	begin_run(en, run);
	for (uint32_t cycle = 1; !rc && cycle <= run->cycles && !is_over(run, cycle - 1); cycle++) {
		struct pod_list waiting = {0};
		struct fair_guarantee *shares = NULL;

		ledger_begin_cycle(en->ledger);
		if (cycle > 1)
			let_go(en, run->now_ns);
		if (profile_get(en->config->profile)->search_mode == MODE_SCENARIOS) {
			run_session(en, run->now_ns, cycle, ret);
			continue;
		}
		if (has_queues(en))
			quota_run(en, run, cycle, ret);
		collect_waiting(en, run, &waiting);
		if (has_queues(en))
			reserve_nominated(en, &waiting);
		if (engine_uses_shares(en->config))
			shares = fair_guarantee_begin(en, run->now_ns, cycle, ret);
		rc = try_all(en, run, &waiting, cycle, ret, e);
		if (shares != NULL)
			fair_guarantee_end(shares);
		if (!rc && !is_over(run, cycle - 1))
			moves_run(en, run, cycle, ret);
		if (!rc)
			stale_gangs_run(en, run->now_ns, cycle, ret);
		if (!waiting.n)
			cycle = run->cycles;
		array_free(&waiting);
	}
	if (!rc)
		recount(ret);
	return rc;
}

bool engine_may_move(const struct engine *en, group_id group)
{
	return moves_may_help(en, group);
}

bool engine_minds_amounts(const struct engine *en, queue_id q, res_id r, int64_t more)
{
	return profile_get(en->config->profile)->search_mode != MODE_SCENARIOS ||
	       session_minds_amounts(en->ledger, q, r, more);
}

/* ---- time ---- */

static void note_time(int64_t at_ns, int64_t now_ns, int64_t *ret)
{
	if (at_ns != TIME_NONE && at_ns > now_ns && (*ret == TIME_NONE || at_ns < *ret))
		*ret = at_ns;
}

static void note_overdue(const struct engine *en, const struct pod *p, int64_t now_ns, int64_t *ret)
{
	if (p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE)
		note_time(time_add(time_add(p->obj->deleted_ns, en->config->patience_ns), 1), now_ns, ret);
}

int64_t engine_next_time(const struct engine *en, int64_t now_ns)
{
	int64_t next = TIME_NONE;

	for (node_id i = 0; i < ledger_node_limit(en->ledger); i++) {
		const struct ledger_node *n = ledger_node(en->ledger, i);

		for (uint32_t k = 0; n->n_due && k < n->pods.n; k++)
			note_overdue(en, ledger_pod(en->ledger, n->pods.v[k]), now_ns, &next);
	}
	for (group_id i = 0; i < ledger_group_limit(en->ledger); i++) {
		const struct group *g = ledger_group(en->ledger, i);

		if (g->is_live && g->obj->is_of_pods && !g->obj->has_no_minimum)
			note_time(g->obj->relax_ns, now_ns, &next);
		note_time(stale_gang_due(en, i), now_ns, &next);
	}
	return next;
}
