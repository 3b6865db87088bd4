/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/judge.h"

#include "rules/plugin.h"

/* ---- which rules are asked ---- */

/* In the order of the table. */
#define X(id, table, ...) [RULE_##id] = &rule_##table,
static const struct rule *const rules[RULE_COUNT] = {RULE_TABLE(X)};
#undef X

/* Worked out once per judge: it is asked for every pod. */
static uint64_t rules_on(const struct judge *j)
{
	const struct profile_data *p = profile_get(j->settings.profile);
	uint64_t on = 0;

	for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++)
		on |= (uint64_t)(rule_actions(r) >> j->action & 1) << r;
	return on & (p->hard | p->soft) & ~p->unasked[j->action] & ~j->settings.rules_off;
}

/* ---- the judge ---- */

/* The first queue upwards with a fence, else the root. A fence on the root itself has no effect. */
static queue_id fence_of(const struct queue_tree *t, queue_id q)
{
	while (q != QUEUE_ROOT && queue_get(t, q)->props.preemption_policy != POLICY_FENCE)
		q = queue_get(t, q)->parent;
	return q;
}

static void scratch_fit(struct judge_scratch *s, uint32_t n)
{
	if (s->n < n) {
		s->victim_queues = mem_resize(s->victim_queues, n, sizeof(*s->victim_queues));
		memset(s->victim_queues + s->n, 0, (n - s->n) * sizeof(*s->victim_queues));
		s->n = n;
	}
	s->stamp++;
	if (s->cores.n)
		map_free(&s->cores);
}

void judge_scratch_free(struct judge_scratch *s)
{
	mem_free(s->victim_queues);
	map_free(&s->cores);
	drivers_free(s->drivers);
	budget_slacks_free(s->slacks);
	*s = (struct judge_scratch){0};
}

static uint64_t asked_types(const struct res_list *request)
{
	uint64_t types = UINT64_C(1) << RES_PODS;

	for (uint32_t i = 0; i < request->n; i++)
		if (request->v[i].amount > 0)
			types |= UINT64_C(1) << request->v[i].type;
	return types;
}

void judge_init(struct judge *j, const struct cluster *c, const struct ledger *l, const struct rule_settings *s,
		enum action action, pod_id pod, int64_t now_ns, struct judge_scratch *scratch)
{
	*j = (struct judge){.cluster = c,
			    .ledger = l,
			    .settings = *s,
			    .action = action,
			    .now_ns = now_ns,
			    .pod = pod,
			    .scratch = scratch};
	j->on = rules_on(j) & ~(UINT64_C(1) << RULE_PLUGIN);
	j->vocab = ledger_vocab(l);
	j->names = vocab_names(ledger_vocab(l));
	j->tree = ledger_queues(l);
	j->spark_role = names_find(j->names, "spark-role", 10);
	j->spark_driver = names_find(j->names, "driver", 6);
	scratch_fit(scratch, j->tree->q.n);
	if (pod == POD_NONE)
		return;
	j->p = ledger_pod(l, pod);
	j->app = j->p->obj->app;
	j->ns = labelset_get(j->vocab, j->p->labelset)->ns;
	j->fence = j->p->queue == QUEUE_NONE ? QUEUE_ROOT : fence_of(j->tree, j->p->queue);
	j->asked = asked_types(&shape_get(j->vocab, j->p->shape)->request);
}

void judge_ask_plugins(struct judge *j, const struct cede_cycle *c)
{
	const uint64_t plugin = UINT64_C(1) << RULE_PLUGIN;

	j->cycle = c;
	j->on = (j->on & ~plugin) | (plugins_judge(c->framework) ? rules_on(j) & plugin : 0);
}

struct rule_verdict judge_preemptor(const struct judge *j)
{
	for (uint64_t left = j->on; left; left &= left - 1) {
		const struct rule *r = rules[__builtin_ctzll(left)];
		struct rule_verdict says = r->of_preemptor ? r->of_preemptor(j) : rule_may_go();

		if (says.answer == IS_PROTECTED)
			return says;
	}
	return rule_may_go();
}

void judge_look_at(struct judge *j, uint64_t short_types)
{
	if (j->short_types != short_types)
		j->scratch->stamp++;
	j->short_types = short_types;
}

struct rule_verdict judge_in_words_of_shares(const struct judge *j, struct rule_verdict says)
{
	if (j->settings.by_fair_share && says.rule == RULE_GUARANTEE) {
		says.rule = RULE_FAIR_SHARE;
		says.reason += BY_SHARE;
	}
	return says;
}

struct rule_verdict judge_victim(struct judge *j, pod_id victim)
{
	const struct pod *v = ledger_pod(j->ledger, victim);
	struct rule_verdict soft = rule_may_go();

	for (uint64_t left = j->on; left; left &= left - 1) {
		const struct rule *r = rules[__builtin_ctzll(left)];
		struct rule_verdict says;

		if (!r->judge)
			continue;
		says = r->judge(j, victim, v);
		if (says.answer == IS_PROTECTED)
			return judge_in_words_of_shares(j, says);
		if (says.answer == IS_SPARED && soft.answer == MAY_GO)
			soft = says;
	}
	return soft;
}

bool judge_is_by_priority(const struct judge *j, int64_t *ret_below)
{
	uint64_t of_victims = 0;

	for (uint64_t left = j->on; left; left &= left - 1)
		if (rules[__builtin_ctzll(left)]->judge)
			of_victims |= left & -left;
	*ret_below = j->p->priority;
	return j->action == ACTION_DISPLACE && of_victims == UINT64_C(1) << RULE_PRIORITY;
}

bool judge_has_soft_rules(const struct judge *j)
{
	return j->on & (profile_get(j->settings.profile)->soft | UINT64_C(1) << RULE_PLUGIN);
}

bool judge_keeps_minimum(struct judge *j, const struct pod *v)
{
	if (judge_asks(j, RULE_PREEMPTIBILITY) && v->preemptibility == SEMI_PREEMPTIBLE)
		return true;
	return judge_asks(j, RULE_MIN_RUNTIME) && judge_window(j, v).keeps_minimum;
}

enum rule_id judge_overridden(struct judge *j, pod_id victim)
{
	struct rule_verdict says = judge_victim(j, victim);

	return says.answer == IS_SPARED ? (enum rule_id)says.rule : RULE_NONE;
}

/* ---- queues ---- */

int64_t queue_guarantee(const struct queue *q, res_id r)
{
	return res_has(&q->spec.guaranteed, r) ? q->spec.guaranteed.v[r] : 0;
}

/* How priorities of q's pods look from just below ancestor. */
static void adjust(const struct queue_tree *t, queue_id q, queue_id ancestor, bool *ret_is_fenced, int64_t *ret_shift)
{
	*ret_is_fenced = false;
	*ret_shift = 0;
	for (; q != ancestor && q != QUEUE_NONE; q = queue_get(t, q)->parent) {
		const struct queue_props *p = &queue_get(t, q)->props;

		if (p->is_priority_fence) {
			*ret_is_fenced = true;
			*ret_shift = p->priority_offset;
		} else {
			*ret_shift += p->priority_offset;
		}
	}
}

/*
 * Where the branches meet at ancestor: what is short, slots of nodes only if the pod's branch guarantees them; if that
 * is nothing, all that it asks for and its branch guarantees.
 */
static uint64_t judged_types(const struct judge *j, queue_id ancestor)
{
	uint64_t guaranteed = 0, types = j->short_types;

	for (queue_id q = j->p->queue; q != ancestor; q = queue_get(j->tree, q)->parent)
		for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask & j->asked; left; left &= left - 1)
			if (queue_guarantee(queue_get(j->tree, q), (res_id)__builtin_ctzll(left)) > 0)
				guaranteed |= left & -left;
	if (!(guaranteed >> RES_PODS & 1))
		types &= ~(UINT64_C(1) << RES_PODS);
	return types ? types : guaranteed;
}

bool judge_entitled(const struct judge *j, queue_id ancestor, uint64_t *ret_judged, struct rule_verdict *ret_why)
{
	uint64_t owed = 0, types = judged_types(j, ancestor), missing;

	*ret_judged = types;
	*ret_why = rule_says(IS_PROTECTED, RULE_GUARANTEE);
	for (queue_id q = j->p->queue; q != ancestor; q = queue_get(j->tree, q)->parent) {
		const int64_t *used = judge_used_before(j, q), *reserved = judge_reserved_before(j, q);

		for (uint64_t left = types; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t g = queue_guarantee(queue_get(j->tree, q), r);

			if (g <= 0)
				continue;
			if (used[r] + reserved[r] >= g) {
				*ret_why = (struct rule_verdict){.answer = IS_PROTECTED,
								 .rule = RULE_GUARANTEE,
								 .reason = 1,
								 .queue = q,
								 .type = r,
								 .until_ns = TIME_NONE,
								 .num = {used[r] + reserved[r], g}};
				return false;
			}
			owed |= UINT64_C(1) << r;
		}
	}
	if (types && owed == types)
		return true;
	missing = types ? types & ~owed : j->asked;
	ret_why->reason = 2;
	ret_why->queue = j->p->queue;
	ret_why->type = (uint32_t)__builtin_ctzll(missing);
	return false;
}

/* Of these types, those that a queue guarantees and those of which it has all that it guarantees. */
static void add_owed(const struct judge *j, queue_id q, uint64_t types, uint64_t *owed, uint64_t *has)
{
	const int64_t *used = judge_used_before(j, q), *reserved = judge_reserved_before(j, q);

	for (uint64_t left = types & queue_get(j->tree, q)->spec.guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t g = queue_guarantee(queue_get(j->tree, q), r);

		*owed |= g > 0 ? left & -left : 0;
		*has |= g > 0 && used[r] + reserved[r] >= g ? left & -left : 0;
	}
}

bool judge_is_owed_nothing(struct judge *j, queue_id victims, uint64_t types)
{
	queue_id ancestor = judge_queue(j, victims)->ancestor;
	uint64_t owed = 0, has = 0;

	for (queue_id q = j->p->queue; q != ancestor; q = queue_get(j->tree, q)->parent)
		add_owed(j, q, types, &owed, &has);
	return !(owed & ~has);
}

/* Branches end below one queue after the other of its path; where they meet at its own, nobody is owed anything. */
bool judge_is_owed_nothing_by_any(const struct judge *j, uint64_t types)
{
	uint64_t owed = 0, has = 0;

	for (queue_id q = j->p->queue; q != QUEUE_ROOT; q = queue_get(j->tree, q)->parent) {
		add_owed(j, q, types, &owed, &has);
		if (owed & ~has)
			return false;
	}
	return true;
}

struct victim_queue *judge_queue(struct judge *j, queue_id q)
{
	struct victim_queue *o;

	assert(q < j->scratch->n);
	o = &j->scratch->victim_queues[q];
	if (o->stamp == j->scratch->stamp)
		return o;
	o->stamp = j->scratch->stamp;
	o->verdict = rule_may_go();
	o->ancestor = j->p && j->p->queue != QUEUE_NONE ? queue_lca(j->tree, j->p->queue, q) : QUEUE_ROOT;
	o->distance = j->p && j->p->queue != QUEUE_NONE ? queue_distance(j->tree, j->p->queue, q) : 0;
	adjust(j->tree, q, o->ancestor, &o->is_fenced, &o->priority_shift);
	o->has_window[0] = o->has_window[1] = o->has_below = false;
	o->judged = o->kept = 0;
	o->n_guards = 0;
	for (; q != o->ancestor; q = queue_get(j->tree, q)->parent)
		if (queue_get(j->tree, q)->spec.guaranteed.mask)
			o->guards[o->n_guards++] = q;
	return o;
}

static uint64_t types_below(const struct judge *j, queue_id q)
{
	const struct res_vec *has = &queue_get(j->tree, q)->spec.guaranteed;
	const int64_t *used = ledger_queue_used(j->ledger, q);
	uint64_t below = 0;

	for (uint64_t left = has->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (has->v[r] > 0 && used[r] <= has->v[r])
			below |= UINT64_C(1) << r;
	}
	return below;
}

uint64_t judge_types_below(struct judge *j, queue_id q)
{
	struct victim_queue *o = judge_queue(j, q);

	if (o->has_below)
		return o->below;
	o->has_below = true;
	o->below = 0;
	for (uint32_t i = 0; i < o->n_guards; i++)
		o->below |= types_below(j, o->guards[i]);
	return o->below;
}

/* ---- words ---- */

void rule_verdict_text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	if (v->rule != RULE_NONE)
		rules[v->rule]->text(c, v, out);
}
