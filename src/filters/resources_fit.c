/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeResourcesFit: what a pod asks must be free on its node, and how much of the node would then be in use makes its
 * score.
 *
 * A type the pod does not ask for (or asks none of) never stands in its way, however overcommitted the node is. All
 * types that lack are reported together; if the node could not hold one of them even when empty, taking pods away
 * cannot help. Pods that are leaving still take their room.
 */
#include "filters/builtin.h"
#include "filters/node_memo.h"
#include "filters/scored.h"

#include <stdio.h>
#include <string.h>

struct asks { /* what the filter looks at: asked for, not ignored, not `pods` */
	uint32_t n;
	struct res_amount *v; /* whoever asks gives room for as many as the pod asks for */
};

struct fit { /* of a cycle */
	struct asks asks;
	struct scored scored;
};

/* ---- what is asked ---- */

static bool is_extended(const char *name)
{
	return strchr(name, '/') && !strstr(name, "kubernetes.io/") && strncmp(name, "requests.", 9) != 0;
}

bool resources_fit_ignores(const struct cede_cycle *c, res_id type)
{
	const struct plugin_args *args = framework_args(c->framework);
	const char *name = res_type_name(vocab_res(ledger_vocab(c->ledger)), type);
	size_t group_len = strcspn(name, "/");

	if (type < RES_FIXED || !is_extended(name))
		return false;
	for (uint32_t i = 0; i < args->n_ignored_resources; i++)
		if (str_eq(args->ignored_resources[i], name))
			return true;
	for (uint32_t i = 0; i < args->n_ignored_groups; i++)
		if (strlen(args->ignored_groups[i]) == group_len && !strncmp(args->ignored_groups[i], name, group_len))
			return true;
	return false;
}

static void asks_init(struct asks *ret, const struct cede_cycle *c)
{
	const struct res_list *request = &c->shape->request;

	ret->n = 0;
	for (uint32_t i = 0; i < request->n; i++) {
		const struct res_amount *a = &request->v[i];

		if (a->amount > 0 && a->type != RES_PODS && !resources_fit_ignores(c, a->type))
			ret->v[ret->n++] = *a;
	}
}

/* ---- filter ---- */

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct fit *f = cede_alloc(c, sizeof(*f));

	f->asks.v = cede_alloc(c, (c->shape->request.n + 1) * sizeof(*f->asks.v));
	asks_init(&f->asks, c);
	cede_set_state(c, &resources_fit_plugin, f);
	return cede_ok();
}

/* detail: bit set of the types that lack. */
static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct fit *f = cede_get_state(c, &resources_fit_plugin);
	const int64_t *has = ledger_node_allocatable(c->ledger, node), *used = ledger_node_used(c->ledger, node);
	const int64_t *beside = c->beside;
	int64_t n_pods = used[RES_PODS] + (beside ? beside[RES_PODS] : 0);
	uint64_t lacking = (uint64_t)(n_pods + 1 > has[RES_PODS]) << RES_PODS, never = 0;
	const struct asks *asks = f ? &f->asks : NULL;
	struct res_amount room[RES_MAX];
	struct asks own = {.v = room};

	if (!asks) {
		asks_init(&own, c);
		asks = &own;
	}
	for (uint32_t i = 0; i < asks->n; i++) {
		res_id r = asks->v[i].type;

		lacking |= (uint64_t)(asks->v[i].amount > has[r] - used[r] - (beside ? beside[r] : 0)) << r;
		never |= asks->v[i].amount > has[r];
	}
	if (!lacking)
		return cede_ok();
	return cede_answer(never ? CEDE_UNRESOLVABLE : CEDE_UNSCHEDULABLE, 0, lacking);
}

/* The scalar type with the i-th name of those in the mask; RES_NONE if there are fewer. */
static res_id scalar_by_name(const struct res_types *types, uint64_t mask, size_t i)
{
	for (uint64_t m = mask; m; m &= m - 1) {
		res_id r = (res_id)__builtin_ctzll(m);
		size_t n_before = 0;

		for (uint64_t o = mask; o; o &= o - 1)
			n_before +=
				strcmp(res_type_name(types, (res_id)__builtin_ctzll(o)), res_type_name(types, r)) < 0;
		if (n_before == i)
			return r;
	}
	return RES_NONE;
}

/* pods, cpu, memory, ephemeral-storage, then the others by name. */
static bool reason_text(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out, size_t size)
{
	static const res_id first[] = {RES_PODS, RES_CPU, RES_MEMORY, RES_EPHEMERAL};
	const struct res_types *types = vocab_res(ledger_vocab(c->ledger));
	res_id r = RES_NONE;

	if (v.code == CEDE_ERROR) {
		snprintf(out, size, "resources not found");
		return i == 0;
	}
	for (size_t k = 0; k < sizeof(first) / sizeof(*first) && r == RES_NONE; k++)
		if (v.detail >> first[k] & 1 && i-- == 0)
			r = first[k];
	if (r == RES_NONE)
		r = scalar_by_name(types, v.detail >> RES_FIXED << RES_FIXED, i);
	if (r == RES_NONE)
		return false;
	if (r == RES_PODS)
		snprintf(out, size, "Too many pods");
	else
		snprintf(out, size, "Insufficient %s", res_type_name(types, r));
	return true;
}

/* ---- score ---- */

/* What a node's pods ask for, with defaults: a is cpu, b memory. */
static void sum_nonzero(const struct cede_cycle *c, const struct ledger_node *n, struct memo_sums *ret)
{
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct shape *s = shape_get(c->vocab, ledger_pod(c->ledger, n->pods.v[i])->shape);

		ret->a += s->nonzero_cpu_milli;
		ret->b += s->nonzero_memory;
	}
}

static struct cede_verdict pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	const struct plugin_args *args = framework_args(c->framework);
	struct fit *f = cede_get_state(c, &resources_fit_plugin);

	if (!args->n_fit_resources)
		return cede_answer(CEDE_ERROR, 0, 0);
	if (!f) {
		pre_filter(self, c);
		f = cede_get_state(c, &resources_fit_plugin);
	}
	scored_keep(&f->scored, c, args->fit_resources, args->n_fit_resources, true);
	node_memo_refresh(self, c, nodes, n, sum_nonzero);
	return cede_ok();
}

static int64_t least_allocated(int64_t used, int64_t has)
{
	return used > has ? 0 : (has - used) * CEDE_SCORE_MAX / has;
}

static int64_t most_allocated(int64_t used, int64_t has)
{
	return (used > has ? has : used) * CEDE_SCORE_MAX / has;
}

/* A broken line through the shape's points, level before the first and after the last; their scores are 0 to 10. */
static int64_t shape_at(const struct plugin_args *args, int64_t utilization)
{
	const struct shape_point *p = args->fit_shape;
	uint32_t i = 0;

	while (i < args->n_fit_shape && p[i].utilization < utilization)
		i++;
	if (!args->n_fit_shape)
		return 0;
	if (i == 0 || i == args->n_fit_shape)
		return p[i ? i - 1 : 0].score * INT64_C(10);
	return p[i - 1].score * INT64_C(10) + (p[i].score - p[i - 1].score) * INT64_C(10) *
						      (utilization - p[i - 1].utilization) /
						      (p[i].utilization - p[i - 1].utilization);
}

static int64_t by_shape(const struct plugin_args *args, int64_t used, int64_t has)
{
	return shape_at(args, used > has ? 100 : used * 100 / has);
}

static int64_t type_score(const struct plugin_args *args, int64_t used, int64_t has)
{
	switch (args->fit_strategy) {
	case FIT_MOST_ALLOCATED:
		return most_allocated(used, has);
	case FIT_REQUESTED_TO_CAPACITY:
		return by_shape(args, used, has);
	case FIT_LEAST_ALLOCATED:
		break;
	}
	return least_allocated(used, has);
}

/* Only the shape rounds (half up), and only there types that score nothing do not count. */
static int64_t weighted_mean(const struct plugin_args *args, int64_t sum, int64_t weights)
{
	if (!weights)
		return 0;
	return args->fit_strategy == FIT_REQUESTED_TO_CAPACITY ? (2 * sum + weights) / (2 * weights) : sum / weights;
}

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct plugin_args *args = framework_args(c->framework);
	const struct fit *f = cede_get_state(c, &resources_fit_plugin);
	const int64_t *has = ledger_node_allocatable(c->ledger, node), *used = ledger_node_used(c->ledger, node);
	struct memo_sums there = node_memo_ask(self, c, node, sum_nonzero);
	const struct scored *scored = f ? &f->scored : NULL;
	struct scored_type room[RES_MAX];
	struct scored own = {.v = room};
	int64_t sum = 0, weights = 0;

	if (!scored || !scored->n) {
		scored_init(&own, c, args->fit_resources, args->n_fit_resources, true);
		scored = &own;
	}
	for (uint32_t i = 0; i < scored->n; i++) {
		const struct scored_type *t = &scored->v[i];
		int64_t in_use = t->type == RES_CPU ? there.a : t->type == RES_MEMORY ? there.b : used[t->type], s;

		if (!has[t->type])
			continue;
		s = type_score(args, in_use + t->asked, has[t->type]);
		if (!s && args->fit_strategy == FIT_REQUESTED_TO_CAPACITY)
			continue;
		sum += s * t->weight;
		weights += t->weight;
	}
	return weighted_mean(args, sum, weights);
}

const struct cede_plugin resources_fit_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "NodeResourcesFit",
	.create = node_memo_create,
	.destroy = node_memo_destroy,
	.pre_filter = pre_filter,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.reason_text = reason_text,
};
