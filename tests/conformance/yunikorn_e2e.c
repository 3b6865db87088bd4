/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about whole stories on a live YuniKorn, as far as they have data: queues, what runs, who comes, and how many
 * run in each queue afterwards. The cluster is planned for some cycles in profile yunikorn; between two of them victims
 * go.
 *
 * Amounts are told in letters (W: the node, L: a third of it, L4: a quarter) or numbers; here they are units of one
 * type.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "conform.h"
#include "properties/story.h"

enum { WHOLE = 12, ROOMY = 100, CYCLES = 20 };

struct tale {
	struct fact *f;
	struct story s;
	int n_pods;
	int64_t node; /* units of it */
};

/* ---- queues ---- */

/* "L", "3L", "W", "L4" or a number. */
static int64_t units(const char *s)
{
	char *end;
	int64_t n = strtoll(s, &end, 10);

	if (!*end)
		return n;
	n = end == s ? 1 : n;
	return str_eq(end, "W") ? n * WHOLE : str_eq(end, "L") ? n * WHOLE / 3 : str_eq(end, "L4") ? n * WHOLE / 4 : 0;
}

static int64_t amount(const struct tree *t)
{
	return units(tree_text(tree_is(t, TREE_MAP) ? tree_get(t, "memory") : t, "0"));
}

/* The doc's picture of fences prints a maximum of 3 for the parent and means 30. */
static int64_t maximum(const struct tale *t, const char *path, const struct tree *q)
{
	int64_t max = amount(tree_get(q, "max"));

	return str_eq(t->f->id, "doc: fences") && str_eq(path, "rt") ? 10 * max : max;
}

static const char *full_path(const struct tale *t, const char *path)
{
	return str_starts(path, "root") ? path : arena_printf(t->f->arena, "root.%s", path);
}

static void put_queue(struct tale *t, const char *path, const struct tree *q)
{
	const struct tree *props = tree_get(q, "properties");
	const char *offset = tree_text(tree_get(props ? props : q, "priority.offset"), NULL);
	int64_t guaranteed = amount(tree_get(q, "guaranteed")), max = maximum(t, path, q);
	struct text words = {0};

	if (str_eq(path, "root")) { /* its maximum is the cluster */
		t->node = max;
		return;
	}
	text_add(&words, "delay 1s");
	if (guaranteed)
		text_printf(&words, " guaranteed %" PRId64, guaranteed);
	if (max)
		text_printf(&words, " max %" PRId64, max);
	if (offset)
		text_printf(&words, " offset %s", offset);
	if (tree_truth(tree_get(q, "fence")) || str_eq(tree_text(tree_get(props, "preemption.policy"), ""), "fence"))
		text_add(&words, " fence");
	story_queue(&t->s, full_path(t, path), text_str(&words));
	text_free(&words);
}

static void put_queues(struct tale *t)
{
	const struct tree *queues = tree_get(t->f->t, "queues");

	for (uint32_t i = 0; tree_is(queues, TREE_MAP) && i < queues->n; i++)
		put_queue(t, queues->fields[i].key, queues->fields[i].value);
}

/* By the end of its path, or the beginning of that: "high" is root.high-pri. */
static const struct tree *find_queue(const struct tale *t, const char *name, const char **ret_path)
{
	const struct tree *queues = tree_get(t->f->t, "queues");

	for (uint32_t i = 0; tree_is(queues, TREE_MAP) && i < queues->n; i++) {
		const char *last = strrchr(queues->fields[i].key, '.');

		last = last ? last + 1 : queues->fields[i].key;
		if (str_starts(last, name) && (!last[strlen(name)] || last[strlen(name)] == '-')) {
			*ret_path = full_path(t, queues->fields[i].key);
			return queues->fields[i].value;
		}
	}
	return NULL;
}

/* ---- pods ---- */

static void put_pods(struct tale *t, const char *queue, int64_t n, int64_t each, const char *node, const char *words)
{
	for (int64_t i = 0; i < n; i++) {
		char name[32], all[96];

		snprintf(name, sizeof(name), "p%03d", t->n_pods++);
		snprintf(all, sizeof(all), "%s age %d", words, 3600 - t->n_pods); /* each younger than the one before */
		story_pod(&t->s, name, queue, each, node, all);
	}
}

/* "sandbox1: 3 pods x L, …": runs on n1, or waits. */
static bool put_told(struct tale *t, const char *told, const char *node)
{
	char name[64], size[16];
	const char *path;
	int n;

	if (sscanf(told, "%63[^:]: %d %*[a-z] %*[x ]%15[0-9LW]", name, &n, size) != 3 &&
	    sscanf(told, "%63[^:]: %d pod %15[0-9LW]", name, &n, size) != 3) {
		fact_differs(t->f, "pods", "queue: n pods x size", told);
		return false;
	}
	if (!find_queue(t, name, &path)) {
		fact_differs(t->f, "queue", "one of those named", name);
		return false;
	}
	put_pods(t, path, n, units(size), node,
		 strstr(told, "allow-preemption=false")	 ? "opted-out"
		 : strstr(told, "allow-preemption=true") ? "opted-in"
							 : "");
	return true;
}

static bool put_asks(struct tale *t, const char *told)
{
	const char *then = strstr(told, ", then ");

	return put_told(t, told, NULL) && (!then || put_told(t, then + strlen(", then "), NULL));
}

static bool put_running(struct tale *t)
{
	const struct tree *running = tree_get(t->f->t, "running");

	for (uint32_t i = 0; i < tree_count(running); i++)
		if (!put_told(t, tree_text(running->items[i], ""), "n1"))
			return false;
	return true;
}

/* ---- how many run ---- */

static int64_t running_units(const struct tale *t, const char *queue)
{
	const struct ledger *l = cluster_ledger(t->s.cluster);
	const struct queue_tree *tree = ledger_queues(l);
	res_id r = res_types_find(vocab_res(t->s.vocab), STORY_UNIT, strlen(STORY_UNIT));

	return ledger_queue_used(l, queue_tree_find(tree, queue, strlen(queue)))[r];
}

static int64_t running_pods(const struct tale *t, const char *queue)
{
	const struct ledger *l = cluster_ledger(t->s.cluster);
	const struct queue_tree *tree = ledger_queues(l);

	return ledger_queue_used(l, queue_tree_find(tree, queue, strlen(queue)))[RES_PODS];
}

/* ---- the sandboxes ---- */

/* "sandbox1_running: 2", "ask: unschedulable", "high: scheduled", "sandbox1: all pods succeed". */
static void compare_told(struct tale *t, const char *key, const char *value)
{
	const char *told = tree_text(tree_get(t->f->t, "ask"), ""), *path;
	size_t n = strcspn(key, "_");
	char name[64];
	int64_t runs;

	snprintf(name, sizeof(name), "%.*s", (int)(str_eq(key, "ask") ? strcspn(told, ":") : n),
		 str_eq(key, "ask") ? told : key);
	if (!find_queue(t, name, &path)) {
		fact_differs(t->f, "queue", "one of those named", name);
		return;
	}
	runs = running_pods(t, path);
	if (str_starts(value, "unschedulable") || str_starts(value, "pending"))
		same_int(t->f, key, tree_of(t->f, "0"), runs);
	else if (str_starts(value, "scheduled") || str_starts(value, "running"))
		same_int(t->f, key, tree_of(t->f, "1"), runs);
	else if (str_starts(value, "all pods succeed"))
		same_int(t->f, key, tree_of(t->f, "3"), runs);
	else
		same_text(t->f, key, tree_of(t->f, value), arena_printf(t->f->arena, "%" PRId64, runs));
}

static void run_sandbox(struct tale *t)
{
	const struct tree *expected = tree_get(t->f->t, "expect");

	t->node = WHOLE;
	put_queues(t);
	story_node(&t->s, "n1", t->node);
	if (!put_running(t) || !put_asks(t, tree_text(tree_get(t->f->t, "ask"), "")))
		return;
	story_plan(&t->s);
	for (uint32_t i = 0; tree_is(expected, TREE_MAP) && i < expected->n; i++)
		compare_told(t, expected->fields[i].key, tree_text(fact_expect(t->f, expected->fields[i].key), ""));
}

/* ---- the examples of the user guide ---- */

static void each_queue(struct tale *t, const struct tree *counts,
		       void (*then)(struct tale *t, const char *path, const struct tree *q, int64_t n))
{
	for (uint32_t i = 0; tree_is(counts, TREE_MAP) && i < counts->n; i++) {
		const char *path;
		const struct tree *q = find_queue(t, counts->fields[i].key, &path);

		if (q)
			then(t, path, q, tree_int(counts->fields[i].value, 0));
		else
			fact_differs(t->f, "queue", "one of those named", counts->fields[i].key);
	}
}

static int64_t step_pods(const struct tale *t, int64_t *ret_each)
{
	int n = 0, each = 0;

	if (sscanf(tree_text(tree_get(t->f->t, "steps"), ""), "%d pods x%d", &n, &each) != 2)
		fact_differs(t->f, "steps", "n pods xm", tree_text(tree_get(t->f->t, "steps"), ""));
	*ret_each = each ? each : 1;
	return n;
}

static const char *word_of(const struct tree *q)
{
	const struct tree *allow = tree_get(q, "allow");

	return !allow ? "" : tree_truth(allow) ? "opted-in" : "opted-out";
}

static void put_before(struct tale *t, const char *path, const struct tree *q, int64_t n)
{
	int64_t each;

	step_pods(t, &each);
	put_pods(t, path, n / each, each, "n1", word_of(q));
}

/* Those of its pods that have found no room so far. */
static void put_rest(struct tale *t, const char *path, const struct tree *q, int64_t n)
{
	int64_t each, all = step_pods(t, &each);

	put_pods(t, path, all - n / each > 0 ? all - n / each : 0, each, NULL, word_of(q));
}

static void compare_after(struct tale *t, const char *path, const struct tree *q, int64_t n)
{
	(void)q;
	same_int(t->f, path, tree_of(t->f, arena_printf(t->f->arena, "%" PRId64, n)), running_units(t, path));
}

static void run_example(struct tale *t)
{
	const struct tree *before = fact_expect(t->f, "before");

	t->node = ROOMY;
	put_queues(t);
	story_node(&t->s, "n1", t->node);
	each_queue(t, before, put_before);
	each_queue(t, before, put_rest);
	story_plan(&t->s);
	each_queue(t, fact_expect(t->f, "after"), compare_after);
}

/* ---- a required node ---- */

/* Told in words; the pods on the node, and who has to be killed. */
static const struct required {
	const char *id, *killed;
	struct {
		const char *name, *words;
	} pods[3];
} required[] = {
	{"Verify_basic_simple_preemption", "the free pod", {{"free", ""}}},
	{"Verify_simple_preemption",
	 "sleepjob4",
	 {{"sleepjob4", "opted-in"}, {"sleepjob5", "opted-out"}, {"sleepjob6", "opted-out"}}},
};

static void run_required(struct tale *t, const struct required *r)
{
	const struct decision *d;

	story_queue(&t->s, "root.q", "delay 1s");
	story_node(&t->s, "worker1", 4);
	story_node(&t->s, "worker2", 6);
	story_pod(&t->s, "bound", "root.q", 4, "worker1", "");
	for (size_t i = 0; i < 3 && r->pods[i].name; i++)
		story_pod(&t->s, r->pods[i].name, "root.q", r->pods[1].name ? 2 : 6, "worker2", r->pods[i].words);
	story_pod(&t->s, "ask", "root.q", 2, NULL, "daemon worker2");
	story_plan(&t->s);
	d = &t->s.plan.v.v[0];
	same_int(t->f, "victims", tree_of(t->f, "1"), d->n_victims);
	same_text(t->f, "fact's own words", fact_expect(t->f, "killed"), r->killed);
	if (d->n_victims)
		same_text(t->f, "killed", tree_of(t->f, r->pods[0].name), story_name(&t->s, d->victims[0].pod));
}

static const struct required *find_required(const char *id)
{
	for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++)
		if (str_eq(required[i].id, id))
			return &required[i];
	return NULL;
}

void run_yunikorn_e2e(struct fact *f)
{
	struct tale t = {.f = f};

	if (!tree_get(f->t, "queues") && !find_required(f->id)) {
		fact_skip(f, "told in words for a live cluster whose quotas change, without data");
		return;
	}
	story_begin(&t.s);
	t.s.profile = PROFILE_YUNIKORN;
	t.s.cycles = CYCLES;
	if (find_required(f->id))
		run_required(&t, find_required(f->id));
	else if (tree_get(f->t, "steps"))
		run_example(&t);
	else
		run_sandbox(&t);
	story_end(&t.s);
}
