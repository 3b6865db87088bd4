/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/victim_set.h"

/* ---- memory ---- */

void victim_set_memory_free(struct victim_set_memory *m)
{
	mem_free(m->queues);
	mem_free(m->budgets);
	mem_free(m->podsets);
	mem_free(m->rates);
	mem_free(m->rate_stamps);
	budget_slacks_free(m->slacks);
	*m = (struct victim_set_memory){0};
}

static void *fit(void *v, uint32_t has, uint32_t wants, size_t size)
{
	v = mem_resize(v, wants, size);
	memset((char *)v + has * size, 0, (wants - has) * size);
	return v;
}

static void fit_queues(struct victim_set_memory *m, uint32_t n)
{
	if (m->n_queues >= n)
		return;
	m->queues = fit(m->queues, m->n_queues, n, sizeof(*m->queues));
	m->rates = fit(m->rates, m->n_queues, n, sizeof(*m->rates));
	m->rate_stamps = fit(m->rate_stamps, m->n_queues, n, sizeof(*m->rate_stamps));
	m->n_queues = n;
}

static struct count_at *count_of(struct count_at **v, uint32_t *n, uint32_t id, uint64_t stamp)
{
	if (id >= *n) {
		uint32_t wants = id + 1 > 2 * *n ? id + 1 : 2 * *n;

		*v = fit(*v, *n, wants, sizeof(**v));
		*n = wants;
	}
	if ((*v)[id].stamp != stamp)
		(*v)[id] = (struct count_at){.stamp = stamp};
	return &(*v)[id];
}

static struct count_at *budget_count(struct victim_set *s, pdb_id id)
{
	return count_of(&s->m->budgets, &s->m->n_budgets, id, s->m->stamp);
}

static struct count_at *podset_count(struct victim_set *s, podset_id id)
{
	return count_of(&s->m->podsets, &s->m->n_podsets, id, s->m->stamp);
}

static struct queue_loss *loss_of(struct victim_set *s, queue_id q)
{
	struct queue_loss *l = &s->m->queues[q];

	if (l->stamp != s->m->stamp) {
		memset(l->v, 0, ledger_stride(s->j->ledger) * sizeof(*l->v));
		l->n_pods = 0;
		l->stamp = s->m->stamp;
	}
	return l;
}

const int64_t *victim_set_loss(struct victim_set *s, queue_id q)
{
	return loss_of(s, q)->v;
}

void victim_set_init(struct victim_set *s, struct judge *j, struct victim_set_memory *m)
{
	*s = (struct victim_set){.j = j, .m = m, .node = NODE_NONE, .most = UINT32_MAX};
	s->keeps_law_2 = j->action == ACTION_RECLAIM && !(j->settings.rules_off >> RULE_GUARANTEE & 1);
	s->keeps_all_types = s->keeps_law_2 && j->settings.guarantee_all_types;
	s->has_budgets = (j->on >> RULE_BUDGET & 1) && ledger_pdb_limit(j->ledger) > 0;
	fit_queues(m, j->tree->q.n + 1);
	s->search_stamp = ++m->stamp;
}

void victim_set_begin(struct victim_set *s, node_id node, bool may_be_ample)
{
	s->node = node;
	s->may_be_ample = may_be_ample && node != NODE_NONE;
	s->most = s->may_be_ample ? ledger_node(s->j->ledger, node)->pods.n : UINT32_MAX;
	s->m->stamp++;
}

/* ---- guarantees ---- */

/* Can everything on the node go without bringing the queue to its guarantee? Then nothing has to be counted for it. */
static bool is_ample(struct victim_set *s, queue_id q)
{
	const struct judge *j = s->j;
	struct queue_loss *l = &s->m->queues[q];
	const int64_t *used, *here;

	if (l->ample_stamp == s->m->stamp)
		return l->is_ample;
	l->ample_stamp = s->m->stamp;
	l->is_ample = s->may_be_ample;
	if (!l->is_ample)
		return false;
	used = ledger_queue_used(j->ledger, q);
	here = ledger_node_used(j->ledger, s->node);
	for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask; left && l->is_ample; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t guaranteed = queue_guarantee(queue_get(j->tree, q), r);

		l->is_ample = guaranteed <= 0 || used[r] - here[r] >= guaranteed;
	}
	return l->is_ample;
}

/* The types law 2 is judged in for the victim's branch. */
static uint64_t judged_in(const struct victim_set *s, const struct set_victim *v)
{
	if (s->law_2_types)
		return s->law_2_types;
	return s->keeps_all_types ? ~UINT64_C(0) : s->keeps_law_2 ? v->queue->kept : 0;
}

static int64_t takes(const struct set_victim *v, res_id r)
{
	return r == RES_PODS ? (int64_t)v->n_pods : res_list_get(v->usage, r);
}

static struct rule_verdict below_guarantee(struct victim_set *s, const struct set_victim *v, queue_id q)
{
	const struct queue *queue = queue_get(s->j->tree, q);
	const int64_t *used = ledger_queue_used(s->j->ledger, q), *gone = loss_of(s, q)->v;

	for (uint64_t left = queue->spec.guaranteed.mask & judged_in(s, v); left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t guaranteed = queue_guarantee(queue, r), all = takes(v, r) + gone[r];
		int64_t before = used[r] + (s->follows_ledger ? gone[r] : 0);

		if (guaranteed > 0 && takes(v, r) && before - all < guaranteed)
			return guarantee_refuses_set(s->j, q, r, before, guaranteed, all, !gone[r]);
	}
	return rule_may_go();
}

static struct rule_verdict guarantee_refusal(struct victim_set *s, const struct set_victim *v)
{
	struct rule_verdict says = rule_may_go();

	for (uint32_t i = 0; i < v->queue->n_guards && says.answer == MAY_GO; i++)
		if (!is_ample(s, v->queue->guards[i]))
			says = below_guarantee(s, v, v->queue->guards[i]);
	return says;
}

bool victim_set_takes_below(struct victim_set *s, const struct set_victim *v)
{
	for (uint32_t i = 0; i < v->queue->n_guards; i++) {
		queue_id q = v->queue->guards[i];
		const struct res_vec *has = &queue_get(s->j->tree, q)->spec.guaranteed;
		const int64_t *used = ledger_queue_used(s->j->ledger, q), *gone;

		if (is_ample(s, q))
			continue;
		gone = loss_of(s, q)->v;
		for (uint64_t left = has->mask & ~judged_in(s, v); left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			if (has->v[r] > 0 && gone[r] && used[r] - (s->follows_ledger ? 0 : gone[r]) < has->v[r])
				return true;
		}
	}
	return false;
}

static void add_loss(struct victim_set *s, const struct set_victim *v, queue_id q, int sign)
{
	int64_t *gone = loss_of(s, q)->v;

	gone[RES_PODS] += sign * (int64_t)v->n_pods;
	for (uint32_t i = 0; i < v->usage->n; i++)
		if (v->usage->v[i].type != RES_PODS)
			gone[v->usage->v[i].type] += sign * v->usage->v[i].amount;
}

/* Where it will be asked for: queues that guarantee something, and shared ones if a maximum is in the way. */
static void count_queues(struct victim_set *s, const struct set_victim *v, int sign)
{
	for (uint32_t i = 0; i < v->queue->n_guards; i++)
		if (!is_ample(s, v->queue->guards[i]))
			add_loss(s, v, v->queue->guards[i], sign);
	for (queue_id q = s->path_types ? v->queue->ancestor : QUEUE_NONE; q != QUEUE_NONE;
	     q = queue_get(s->j->tree, q)->parent)
		add_loss(s, v, q, sign);
}

/* ---- budgets ---- */

static const struct pod *pod_at(const struct victim_set *s, const struct set_victim *v, uint32_t i)
{
	return v->pods ? ledger_pod(s->j->ledger, v->pods[i]) : v->p;
}

static bool counts_for(const struct victim_set *s, const struct pdb *b, const struct pod *p)
{
	if (s->needs_labels &&
	    (!labelset_get(s->j->vocab, p->labelset)->labels.n || selector_is_empty(&b->obj->selector)))
		return false;
	return !budget_counts_already(b, p);
}

/* The budgets of a pod that so many victims could overspend at all. */
static const pdb_id *tight_budgets(const struct victim_set *s, const struct pod *p, uint32_t *ret_n)
{
	const pdb_id *ids = ledger_labelset_pdbs(s->j->ledger, p->labelset, ret_n);

	if (*ret_n > BUDGETS_FEW && s->most != UINT32_MAX &&
	    budget_slack(s->j->ledger, &s->m->slacks, p->labelset, NULL) >= s->most)
		*ret_n = 0;
	return ids;
}

static void spend(struct victim_set *s, const struct set_victim *v, int sign)
{
	for (uint32_t k = 0; s->has_budgets && k < v->n_pods; k++) {
		const struct pod *p = pod_at(s, v, k);
		uint32_t n;
		const pdb_id *ids = tight_budgets(s, p, &n);

		for (uint32_t i = 0; i < n; i++)
			if (counts_for(s, ledger_pdb(s->j->ledger, ids[i]), p))
				budget_count(s, ids[i])->n += (uint32_t)sign;
	}
}

/* Of several overspent ones the first by name is told. All budgets of a pod are of one namespace. */
static struct rule_verdict overspent(struct victim_set *s, const struct pod *p)
{
	const struct pdb *first = NULL;
	pdb_id first_id = 0;
	uint32_t n;
	const pdb_id *ids = tight_budgets(s, p, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pdb *b = ledger_pdb(s->j->ledger, ids[i]);
		int64_t spent = (int64_t)b->spent + budget_count(s, ids[i])->n;

		if (b->obj->allowed - spent >= 0 || !counts_for(s, b, p) ||
		    (first && name_cmp(s->j->names, first->obj->name, b->obj->name) < 0))
			continue;
		first = b;
		first_id = ids[i];
	}
	return first ? budget_refuses(first, first_id, (int64_t)first->spent + budget_count(s, first_id)->n, true)
		     : rule_may_go();
}

static struct rule_verdict budget_refusal(struct victim_set *s, const struct set_victim *v)
{
	struct rule_verdict says = rule_may_go();

	if (!s->has_budgets)
		return says;
	spend(s, v, 1);
	for (uint32_t k = 0; says.answer == MAY_GO && k < v->n_pods; k++)
		says = overspent(s, pod_at(s, v, k));
	spend(s, v, -1);
	return says;
}

void victim_set_overspending(struct judge *j, const pod_id *pods, uint32_t n, bool *ret)
{
	struct victim_set_memory m = {.stamp = 1};
	struct victim_set s = {.j = j, .m = &m, .has_budgets = true, .needs_labels = true, .most = n};

	for (uint32_t i = 0; i < n; i++) {
		const struct set_victim v = {.pod = pods[i], .p = ledger_pod(j->ledger, pods[i]), .n_pods = 1};

		spend(&s, &v, 1);
		ret[i] = overspent(&s, v.p).answer == IS_PROTECTED;
	}
	victim_set_memory_free(&m);
}

/* ---- rates ---- */

static const struct rate *rate_of(struct victim_set *s, queue_id q)
{
	if (s->m->rate_stamps[q] != s->search_stamp) {
		s->m->rates[q] = judge_rate(s->j, q);
		s->m->rate_stamps[q] = s->search_stamp;
	}
	return &s->m->rates[q];
}

static bool has_rate(const struct victim_set *s, const struct set_victim *v)
{
	return s->j->settings.evictions_per_hour && (s->j->on >> RULE_EVICTION_RATE & 1) && v->p->queue != QUEUE_NONE;
}

static struct rule_verdict rate_refusal(struct victim_set *s, const struct set_victim *v)
{
	const struct rate *r;
	uint32_t all;

	if (!has_rate(s, v))
		return rule_may_go();
	r = rate_of(s, v->p->queue);
	all = loss_of(s, v->p->queue)->n_pods + v->n_pods;
	return all <= r->left ? rule_may_go() : eviction_rate_refuses(s->j, v->p->queue, r, all);
}

/* ---- minimums of groups ---- */

/* Of one that was evicted a moment ago: it was inside its window, and the minimum had to stay. */
static struct rule_verdict window_of_evicted(struct victim_set *s, const struct pod *p)
{
	const struct cluster *c = s->j->cluster;

	for (pod_id i = cluster_group_first(c, p->group); i != POD_NONE; i = cluster_group_next(c, i)) {
		const struct pod *gone = ledger_pod(s->j->ledger, i);
		struct rule_verdict says;

		if (gone->podset != p->podset || gone->state != POD_LEAVING || !gone->is_evicted)
			continue;
		says = judge_window(s->j, gone);
		if (says.answer == IS_PROTECTED)
			return says;
	}
	return rule_may_go();
}

static bool is_in_window(struct victim_set *s, const struct set_victim *v)
{
	return s->breaks_gangs && judge_window(s->j, v->p).answer == IS_PROTECTED;
}

static struct rule_verdict minimum_refusal(struct victim_set *s, const struct set_victim *v)
{
	struct rule_verdict says;
	uint32_t gone;

	if (!v->is_of_gang)
		return rule_may_go();
	gone = s->follows_ledger ? 0 : podset_count(s, v->p->podset)->n;
	if (judge_can_spare(s->j->ledger, v->p->podset, gone + 1))
		return rule_may_go();
	says = judge_window(s->j, v->p);
	if (says.answer == IS_PROTECTED)
		return says;
	if (!s->breaks_gangs || podset_count(s, v->p->podset)->n_in_window)
		return rule_says(IS_PROTECTED, RULE_NONE);
	return window_of_evicted(s, v->p);
}

/* ---- the set ---- */

bool victim_set_is_free(struct victim_set *s, queue_id q)
{
	const struct victim_queue *o = judge_queue(s->j, q);

	if (s->has_budgets || s->j->settings.evictions_per_hour)
		return false;
	for (uint32_t i = 0; i < o->n_guards; i++)
		if (!is_ample(s, o->guards[i]))
			return false;
	return true;
}

struct rule_verdict victim_set_refusal(struct victim_set *s, const struct set_victim *v)
{
	struct rule_verdict says = minimum_refusal(s, v);

	if (says.answer == MAY_GO)
		says = guarantee_refusal(s, v);
	if (says.answer == MAY_GO)
		says = budget_refusal(s, v);
	if (says.answer == MAY_GO)
		says = rate_refusal(s, v);
	return says;
}

static void count(struct victim_set *s, const struct set_victim *v, int sign)
{
	count_queues(s, v, sign);
	spend(s, v, sign);
	if (v->is_of_gang) {
		podset_count(s, v->p->podset)->n += (uint32_t)sign;
		podset_count(s, v->p->podset)->n_in_window += (uint32_t)sign * is_in_window(s, v);
	}
	if (has_rate(s, v))
		loss_of(s, v->p->queue)->n_pods += (uint32_t)sign * v->n_pods;
}

void victim_set_take(struct victim_set *s, const struct set_victim *v)
{
	count(s, v, 1);
}

void victim_set_give_back(struct victim_set *s, const struct set_victim *v)
{
	count(s, v, -1);
}

void victim_set_count_evicted(struct victim_set *s, pod_id pod)
{
	const struct set_victim v = {.pod = pod, .p = ledger_pod(s->j->ledger, pod), .n_pods = 1};

	if (!v.p->is_evicted)
		return;
	spend(s, &v, 1);
	if (has_rate(s, &v))
		rate_of(s, v.p->queue); /* while the pod still counts; kept for the whole search */
}
