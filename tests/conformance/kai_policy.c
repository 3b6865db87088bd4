/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about KAI's pure functions on queues: how shares are divided, who may reclaim from whom, who comes first.
 *
 * Facts about steps inside a function are seen in what the whole function does, in a situation where that step alone
 * decides.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conform.h"
#include "rules/fair_share.h"

struct queues {
	struct share_queue *v; /* parents first */
	const char **uid;
	uint32_t n;
};

static const char *const res_words[KAI_RES] = {[KAI_GPU] = "GPU", [KAI_CPU] = "CPU", [KAI_MEMORY] = "Memory"};

static double number(const struct tree *t)
{
	return strtod(tree_text(t, "0"), NULL);
}

static void amounts(const struct tree *t, double *ret)
{
	for (int r = 0; r < KAI_RES; r++)
		ret[r] = number(tree_get(t, res_words[r]));
}

/* ---- queues ---- */

static struct share_queue one_queue(const struct tree *t)
{
	struct share_queue q = {.parent = SHARE_NO_QUEUE, .priority = (int32_t)tree_int(tree_get(t, "priority"), 0)};

	for (int r = 0; r < KAI_RES; r++) {
		const struct tree *s = tree_get(t, res_words[r]);

		q.r[r] = (struct share){.deserved = number(tree_get(s, "Deserved")),
					.limit = number(tree_get(s, "MaxAllowed")),
					.weight = number(tree_get(s, "OverQuotaWeight")),
					.request = number(tree_get(s, "Request")),
					.allocated = number(tree_get(s, "Allocated")),
					.allocated_core = number(tree_get(s, "AllocatedNotPreemptible")),
					.usage = number(tree_get(s, "Usage")),
					.fair = number(tree_get(s, "FairShare"))};
	}
	return q;
}

static uint32_t find(const struct queues *q, const char *uid)
{
	for (uint32_t i = 0; i < q->n; i++)
		if (str_eq(q->uid[i], uid))
			return i;
	return SHARE_NO_QUEUE;
}

/* By creation, then name. */
static bool is_elder(const struct tree *a, const struct tree *b)
{
	double x = number(tree_get(a, "creation")), y = number(tree_get(b, "creation"));

	return x != y ? x < y : strcmp(tree_text(tree_get(a, "uid"), ""), tree_text(tree_get(b, "uid"), "")) < 0;
}

static uint32_t rank(const struct tree *map, const struct tree *queue)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < map->n; i++)
		n += is_elder(map->fields[i].value, queue);
	return n;
}

static void add_queue(struct queues *q, const struct tree *map, uint32_t i, uint32_t parent)
{
	q->v[q->n] = one_queue(map->fields[i].value);
	q->v[q->n].parent = parent;
	q->v[q->n].rank = rank(map, map->fields[i].value);
	q->uid[q->n++] = map->fields[i].key;
}

/* Adds those whose parent is there already; a queue whose parent is not listed is a top queue. */
static bool add_ready(struct queues *q, const struct tree *map)
{
	uint32_t before = q->n;

	for (uint32_t i = 0; i < map->n; i++) {
		const char *parent = tree_text(tree_get(map->fields[i].value, "parent"), "");
		bool is_top = !tree_get(map, parent);

		if (find(q, map->fields[i].key) != SHARE_NO_QUEUE)
			continue;
		if (is_top || find(q, parent) != SHARE_NO_QUEUE)
			add_queue(q, map, i, is_top ? SHARE_NO_QUEUE : find(q, parent));
	}
	return q->n > before;
}

static struct queues read_queues(struct fact *f, const struct tree *map)
{
	struct queues q = {0};

	if (!tree_is(map, TREE_MAP)) {
		fact_differs(f, "queues", "a map", "something else");
		return q;
	}
	q.v = arena_n(f->arena, map->n + 1, struct share_queue);
	q.uid = arena_n(f->arena, map->n + 1, const char *);
	while (add_ready(&q, map))
		;
	return q;
}

/* ---- comparing ---- */

static void same_number(struct fact *f, const char *what, const struct tree *expected, double got)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", got);
	if (number(expected) != got)
		fact_differs(f, what, tree_text(expected, "nothing"), text);
}

/* All a fact can ask for is to equal something. */
static bool asks_to_equal(struct fact *f, const struct tree *check)
{
	bool is_so = str_eq(tree_text(tree_get(check, "op"), ""), "eq") && !tree_truth(tree_get(check, "negated")) &&
		     tree_get(check, "expected");

	if (!is_so)
		fact_differs(f, "check", "equality", tree_text(tree_get(check, "op"), "nothing"));
	return is_so;
}

/* The single answer of a function, under whatever name the fact knows it. */
static void same_answer(struct fact *f, bool got)
{
	const struct tree *checks = tree_get(f->t, "checks");

	if (tree_count(checks) != 1)
		fact_differs(f, "checks", "one", "another number");
	else if (asks_to_equal(f, checks->items[0]))
		same_bool(f, tree_text(tree_get(checks->items[0], "expr"), ""), tree_get(checks->items[0], "expected"),
			  got);
}

static const struct tree *only_call(struct fact *f)
{
	const struct tree *calls = tree_get(f->t, "calls");

	if (tree_count(calls) == 1)
		return calls->items[0];
	fact_differs(f, "calls", "one", "another number");
	return NULL;
}

/* ---- division ---- */

static const char *between(struct fact *f, const char *s, const char *start, const char *end)
{
	const char *at = strstr(s, start);

	at = at ? at + strlen(start) : NULL;
	return at ? arena_strndup(f->arena, at, strcspn(at, end)) : NULL;
}

/* queues["1"].GPU.FairShare, queues[uuid].GPU.FairShare [uuid=1], fairShare[resource] [queueName=1] [resource=CPU] */
static bool read_place(struct fact *f, const char *expr, const char **ret_uid, int *ret_res)
{
	static const char *const starts[] = {"queues[\"", "[uuid=", "[queueName="};
	const char *word = between(f, expr, "[resource=", "]"), *uid = NULL;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts) && !uid; i++)
		uid = between(f, expr, starts[i], "\"]");
	word = word ? word : between(f, expr, "].", ".");
	for (*ret_res = 0; *ret_res < KAI_RES; ++*ret_res)
		if (word && str_eq(word, res_words[*ret_res]))
			break;
	*ret_uid = uid;
	return uid && *ret_res < KAI_RES;
}

static void check_division(struct fact *f, const struct tree *check, const struct queues *q, double remaining)
{
	const char *expr = tree_text(tree_get(check, "expr"), ""), *uid;
	const struct tree *expected = tree_get(check, "expected");
	int res;

	if (!asks_to_equal(f, check))
		return;
	if (str_eq(expr, "remaining"))
		same_number(f, expr, expected, remaining);
	else if (read_place(f, expr, &uid, &res) && find(q, uid) != SHARE_NO_QUEUE)
		same_number(f, expr, expected, q->v[find(q, uid)].r[res].fair);
	else
		fact_differs(f, "check", "something known", expr);
}

static int resource(const char *word)
{
	int r = 0;

	while (r < KAI_RES - 1 && !str_eq(word, res_words[r]))
		r++;
	return r;
}

/* What a queue was given before the division begins, it has as its quota. */
static double given_before(const struct queues *q, int res)
{
	double sum = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		struct share *s = &q->v[i].r[res];

		s->deserved = s->fair;
		sum += s->fair;
	}
	return sum;
}

/* Returns what is left of the one resource it is about. */
static double divide(const struct tree *call, const struct queues *q)
{
	int res = resource(tree_text(tree_get(call, "resource"), ""));
	double total[KAI_RES] = {0}, left;

	if (tree_get(call, "totals"))
		amounts(tree_get(call, "totals"), total);
	else
		total[res] = number(tree_get(call, "total"));
	if (str_eq(tree_text(tree_get(call, "fn"), ""), "divideOverQuotaResource"))
		total[res] += given_before(q, res);
	share_divide(q->v, q->n, total, number(tree_get(call, "k")));
	left = total[res];
	for (uint32_t i = 0; i < q->n; i++)
		left -= q->v[i].r[res].fair;
	return left > 0 ? left : 0;
}

/* Queues by priority: with more and more to divide, one priority after the other gets all it wants, each as a whole. */
static void check_priorities(struct fact *f, const struct tree *groups, const struct tree *order)
{
	const double want = 10;
	struct share_queue q[16];
	double total[KAI_RES] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		const struct tree *members = groups->fields[i].value;

		for (uint32_t k = 0; k < members->n && n < 16; k++, n++) {
			q[n] = (struct share_queue){.parent = SHARE_NO_QUEUE, .rank = n};
			q[n].priority = (int32_t)tree_int(tree_get(members->fields[k].value, "Priority"), 0);
			q[n].r[KAI_GPU] = (struct share){.limit = SHARE_UNLIMITED, .weight = 1, .request = want};
		}
	}
	for (uint32_t i = 0; i < tree_count(order); i++) {
		const char *priority = tree_text(order->items[i], "");
		const struct tree *members = tree_get(groups, priority);

		total[KAI_GPU] += want * (members ? members->n : 0);
		share_divide(q, n, total, 0);
		for (uint32_t k = 0; k < n; k++)
			if ((q[k].priority >= tree_int(order->items[i], 0)) != (q[k].r[KAI_GPU].fair == want))
				fact_differs(f, "priority", priority, "not its turn");
	}
}

void run_kai_resource_division(struct fact *f)
{
	const struct tree *checks = tree_get(f->t, "checks"), *call;
	struct queues q;
	double left;

	if (!tree_count(tree_get(f->t, "calls")) && tree_count(checks) == 2) {
		check_priorities(f, tree_get(checks->items[0], "expected"), tree_get(checks->items[1], "expected"));
		return;
	}
	call = only_call(f);
	if (!call)
		return;
	q = read_queues(f, tree_get(call, "queues"));
	left = divide(call, &q);
	for (uint32_t i = 0; i < tree_count(checks); i++)
		check_division(f, checks->items[i], &q, left);
	if (!tree_count(checks))
		fact_differs(f, "checks", "some", "none");
}

/* ---- reclaim ---- */

static uint32_t read_batches(struct fact *f, const struct queues *q, const struct tree *victims,
			     struct share_batch **ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; victims && i < victims->n; i++)
		n += tree_count(victims->fields[i].value);
	*ret = arena_n(f->arena, n + 1, struct share_batch);
	n = 0;
	for (uint32_t i = 0; victims && i < victims->n; i++) {
		for (uint32_t k = 0; k < tree_count(victims->fields[i].value); k++, n++) {
			(*ret)[n].queue = find(q, victims->fields[i].key);
			amounts(victims->fields[i].value->items[k], (*ret)[n].r);
			if ((*ret)[n].queue == SHARE_NO_QUEUE)
				fact_differs(f, "victims", "of known queues", victims->fields[i].key);
		}
	}
	return n;
}

static bool is_reclaimable(struct fact *f, const struct tree *call, const struct queues *q, uint32_t me)
{
	bool is_core = !tree_truth(tree_get(call, "preemptible")), answer;
	struct share_scratch scratch = {0};
	struct share_batch *batches;
	double request[KAI_RES];
	uint32_t n;

	amounts(tree_get(call, "required"), request);
	if (str_eq(tree_text(tree_get(call, "fn"), ""), "CanReclaimResources"))
		return share_can_reclaim(q->v, me, request, is_core, NULL);
	n = read_batches(f, q, tree_get(call, "victims"), &batches);
	answer = !f->diff.n && share_reclaimable(q->v, q->n, me, request, is_core, batches, n,
						 number(tree_get(call, "multiplier")), &scratch, NULL);
	share_scratch_free(&scratch);
	return answer;
}

void run_kai_reclaimable(struct fact *f)
{
	const struct tree *call = only_call(f);
	struct queues q;
	uint32_t me;

	if (!call)
		return;
	q = read_queues(f, tree_get(call, "queues"));
	me = find(&q, tree_text(tree_get(call, "queue"), ""));
	if (me == SHARE_NO_QUEUE)
		fact_differs(f, "queue", "a known one", "none");
	else
		same_answer(f, is_reclaimable(f, call, &q, me));
}

/* ---- strategies ---- */

/* May something go, on the victim's side alone? The one strategy is kept from answering for the other. */
static bool may_go(const struct tree *call, bool is_by_quota)
{
	struct share_queue q[2] = {one_queue(tree_get(call, "reclaimer")), one_queue(tree_get(call, "reclaimee"))};
	struct share_scratch scratch = {0};
	struct share_batch batch = {.queue = 1};
	double request[KAI_RES], left[KAI_RES];
	struct share_verdict verdict;

	amounts(tree_get(call, "required"), request);
	amounts(tree_get(call, "reclaimee_remaining"), left);
	for (int r = 0; r < KAI_RES; r++) {
		q[1].r[r].allocated = left[r];
		if (is_by_quota) {
			q[1].r[r].fair = 1e18;
			q[1].r[r].limit = SHARE_UNLIMITED;
		} else {
			q[0].r[r].deserved = 0;
			q[0].r[r].allocated = 1;
		}
	}
	share_reclaimable(q, 2, 0, request, false, &batch, 1, 1, &scratch, &verdict);
	share_scratch_free(&scratch);
	return verdict.refusal != SHARE_VICTIM_WITHIN;
}

void run_kai_strategies(struct fact *f)
{
	const struct tree *call = only_call(f);
	const char *fn = tree_text(tree_get(call, "fn"), "");
	bool is_by_quota = str_eq(fn, "GuaranteeDeservedQuotaStrategy");

	if (call && !is_by_quota && !str_eq(fn, "MaintainFairShareStrategy"))
		fact_differs(f, "fn", "a strategy", fn);
	else if (call)
		same_answer(f, may_go(call, is_by_quota));
}

/* ---- order ---- */

void run_kai_queue_order(struct fact *f)
{
	const struct tree *left = tree_get(f->t, "left"), *right = tree_get(f->t, "right");
	struct share_queue a = one_queue(left), b = one_queue(right);
	double a_request[KAI_RES], b_request[KAI_RES], total[KAI_RES];
	const double none[KAI_RES] = {0};

	a.rank = is_elder(right, left);
	b.rank = !a.rank;
	amounts(tree_get(f->t, "left_job_request"), a_request);
	amounts(tree_get(f->t, "right_job_request"), b_request);
	amounts(tree_get(f->t, "totals"), total);
	if (!tree_get(f->t, "expected"))
		fact_differs(f, "expected", "an order", "nothing");
	same_int(f, "order", tree_get(f->t, "expected"),
		 share_order(&(struct share_sibling){&a, a_request, none}, &(struct share_sibling){&b, b_request, none},
			     total));
}
