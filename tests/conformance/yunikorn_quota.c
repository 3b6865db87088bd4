/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about queues above a maximum that was lowered: how much they give back, who pays, in which order. */
#include "engine/quota.h"

#include "preemption.h"
#include "yunikorn_world.h"

static const struct yuni_options plain = {0};

static queue_id trigger(const struct yuni_world *y)
{
	return yuni_queue(y, tree_text(tree_get(y->w.f->t, "trigger_queue"), ""));
}

void run_yunikorn_quota_target(struct fact *f)
{
	struct res_vec got;
	struct yuni_world y;

	if (yuni_open(&y, f, &plain)) {
		quota_target(y.w.ledger, trigger(&y), &got);
		yuni_same_amounts(&y, "target", expect_in(f, yuni_expected(f), "target"), &got);
	}
	yuni_close(&y);
}

/* ---- shares ---- */

struct shares { /* what falls to each leaf */
	struct yuni_world *y;
	const struct tree *expected; /* by path; NULL: not compared */
	uint32_t n_candidates;
	struct judge j;
};

static bool holds(const struct yuni_world *y, const struct pod *p, const struct res_vec *target)
{
	struct res_vec has = {0};

	res_vec_add_list(&has, &shape_get(y->w.vocab, p->shape)->usage);
	return has.mask & target->mask;
}

static void count_candidates(struct shares *s, queue_id leaf, const struct res_vec *target)
{
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(s->y->w.ledger, leaf, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(s->y->w.ledger, pods[i]);

		s->n_candidates += p->state == POD_PLACED && holds(s->y, p, target) &&
				   judge_victim(&s->j, pods[i]).answer != IS_PROTECTED;
	}
}

static void divide(struct shares *s, queue_id q, const struct res_vec *target)
{
	const struct queue_tree *tree = ledger_queues(s->y->w.ledger);
	const struct queue *queue = queue_get(tree, q);
	const char *path = name_str(vocab_names(s->y->w.vocab), queue->path) + strlen("root.");

	if (!queue->children.n) {
		if (s->expected)
			yuni_same_amounts(s->y, path, tree_get(s->expected, path), target);
		if (s->expected && target->mask && !tree_get(s->expected, path))
			fact_differs(s->y->w.f, path, "nothing", "a target");
		count_candidates(s, q, target);
	}
	for (uint32_t i = 0; i < queue->children.n; i++) {
		struct res_vec share;

		quota_share(s->y->w.ledger, q, queue->children.v[i], target, &share);
		divide(s, queue->children.v[i], &share);
	}
}

static uint32_t divide_all(struct yuni_world *y, const struct res_vec *target, const struct tree *expected)
{
	struct rule_settings settings = {.profile = PROFILE_YUNIKORN};
	struct shares s = {.y = y, .expected = expected};

	judge_init(&s.j, y->w.cluster, y->w.ledger, &settings, ACTION_QUOTA, POD_NONE, world_now_ns, &y->scratch);
	divide(&s, trigger(y), target);
	return s.n_candidates;
}

void run_yunikorn_quota_split(struct fact *f)
{
	struct res_vec target;
	struct yuni_world y;

	if (yuni_open(&y, f, &plain)) {
		yuni_amounts(&y, tree_get(f->t, "target"), &target);
		divide_all(&y, &target, fact_expect(f, "targets"));
	}
	yuni_close(&y);
}

/* ---- whole runs ---- */

/* The decision about queues above their maximum; NULL: nobody has to go. */
static const struct decision *give_back(struct yuni_world *y)
{
	y->w.config->quota_is_on = true;
	if (!yuni_plan(y))
		return NULL;
	for (uint32_t i = 0; i < y->plan.v.n; i++)
		if (y->plan.v.v[i].action == ACTION_QUOTA)
			return &y->plan.v.v[i];
	return NULL;
}

/* What the victims hold of the types that were to be given back. */
static void compare_claimed(struct yuni_world *y, const struct tree *expected, const struct res_vec *target,
			    const struct decision *d)
{
	struct res_vec sum = {0}, got = {0};

	for (uint32_t i = 0; d && i < d->n_victims; i++)
		res_vec_add_list(&sum,
				 &shape_get(y->w.vocab, ledger_pod(y->w.ledger, d->victims[i].pod)->shape)->usage);
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(target, r) && res_has(&sum, r))
			res_put(&got, r, sum.v[r]);
	yuni_same_amounts(y, "claimed", expected, &got);
}

static void compare_run(struct yuni_world *y, const struct tree *expected)
{
	const struct decision *d;
	struct res_vec target;

	quota_target(y->w.ledger, trigger(y), &target);
	yuni_same_amounts(y, "target", expect_in(y->w.f, expected, "target"), &target);
	same_int(y->w.f, "candidates", expect_in(y->w.f, expected, "candidate_count"), divide_all(y, &target, NULL));
	d = give_back(y);
	yuni_same_victims(y, "victims", expect_in(y->w.f, expected, "victims"), d ? d->victims : NULL,
			  d ? d->n_victims : 0, false);
	compare_claimed(y, expect_in(y->w.f, expected, "claimed"), &target, d);
}

void run_yunikorn_quota(struct fact *f)
{
	struct yuni_world y;

	if (yuni_open(&y, f, &plain))
		compare_run(&y, yuni_expected(f));
	yuni_close(&y);
}

/* ---- the order alone ---- */

/* The queue of pods that name none, with nothing left of the types that are to be given back. */
static bool forbid(struct yuni_world *y, const struct tree *types)
{
	struct queue_def def = {.path = "root.default"};
	struct err e;

	queue_spec_init(&def.spec, vocab_names(y->w.vocab));
	def.spec.sources = FROM_YUNIKORN;
	for (uint32_t i = 0; i < types->n; i++)
		res_put(&def.spec.max, yuni_type(y, types->fields[i].key), 0);
	queue_prop_set(&def.spec.props, "quota.preemption.delay", "1s", NULL);
	if (!cluster_put_queues(y->w.cluster, FROM_YUNIKORN, &def, 1, &e))
		return true;
	fact_differs(y->w.f, "queue", "one", e.msg);
	return false;
}

static bool has_negative(const struct tree *allocations)
{
	for (uint32_t i = 0; i < tree_count(allocations); i++) {
		const struct tree *res = tree_get(allocations->items[i], "res");

		for (uint32_t k = 0; k < res->n; k++)
			if (tree_int(res->fields[k].value, 0) < 0)
				return true;
	}
	return false;
}

/* Seen when all of them have to go. */
void run_yunikorn_sort_ask(struct fact *f)
{
	const struct decision *d;
	struct yuni_world y;

	if (has_negative(tree_get(f->t, "allocations"))) {
		fact_skip(f, "no pod holds less than nothing");
		return;
	}
	if (yuni_open(&y, f, &plain) && forbid(&y, tree_get(f->t, "target"))) {
		d = give_back(&y);
		if (d)
			yuni_same_victims(&y, "order", fact_expect(f, "order"), d->victims, d->n_victims, true);
		else
			fact_differs(f, "decision", "one", "none");
	}
	yuni_close(&y);
}
