/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/synthetic.h"

#include <stdio.h>
#include <stdlib.h>

const char *const synthetic_shape_words[] = {"uniform", "mixed", "affinity", "spread", NULL};

const char *synthetic_shape_text(enum synthetic_shape s)
{
	return synthetic_shape_words[s];
}

bool synthetic_shape_parse(const char *s, enum synthetic_shape *ret)
{
	for (int i = 0; synthetic_shape_words[i]; i++) {
		if (!str_eq(synthetic_shape_words[i], s))
			continue;
		*ret = (enum synthetic_shape)i;
		return true;
	}
	return false;
}

/* xorshift64*: enough for sizes and ages, and the same everywhere. */
static uint32_t below(struct synthetic *s, uint32_t n)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint32_t)((s->random * UINT64_C(2685821657736338717)) >> 33) % n;
}

static bool is_uniform(const struct synthetic *s)
{
	return s->o.shape == SYNTHETIC_UNIFORM;
}

enum { POD_CPU = 900, POD_MEMORY_MI = 3072 };

static int64_t pod_memory(int64_t pods)
{
	return pods * ((int64_t)POD_MEMORY_MI << 20);
}

/* What a running pod takes: a quarter less or more where they are mixed, and never more than is free. */
static void pod_size(struct synthetic *s, int64_t free_cpu, int64_t free_memory, int64_t *ret_cpu, int64_t *ret_memory)
{
	int64_t quarters = is_uniform(s) ? 4 : 3 + (int64_t)below(s, 3);

	if (POD_CPU * quarters / 4 > free_cpu || pod_memory(quarters) / 4 > free_memory)
		quarters = 4;
	*ret_cpu = POD_CPU * quarters / 4;
	*ret_memory = pod_memory(quarters) / 4;
}

static labelset_id hold_labels(struct synthetic *s, const char *ns, const char *const (*kv)[2], uint32_t n)
{
	struct names *names = vocab_names(s->vocab);
	struct name_bag bag = name_bag_of(names);
	struct label labels[4];
	labelset_id labelset;

	for (uint32_t i = 0; i < n; i++)
		labels[i] = (struct label){name_bag_add_str(&bag, kv[i][0]), name_bag_add_str(&bag, kv[i][1])};
	labelset = labelset_hold(s->vocab, name_bag_add_str(&bag, ns), labels, n);
	name_bag_drop(&bag);
	return labelset;
}

static void must(enum err_code rc, const struct err *e)
{
	if (!rc)
		return;
	fprintf(stderr, "cede: bench: %s\n", e->msg);
	abort();
}

static void add_node(struct synthetic *s, uint32_t i)
{
	struct names *names = vocab_names(s->vocab);
	struct obj_node o = {.bag = name_bag_of(names)};
	char name[32], zone[32];
	struct err e;

	snprintf(name, sizeof(name), "node-%06u", i);
	snprintf(zone, sizeof(zone), "zone-%u", i % 3);
	o.name = names_hold_str(names, name);
	const char *const labels[][2] = {{"kubernetes.io/hostname", name}, {"topology.kubernetes.io/zone", zone}};
	o.labelset = hold_labels(s, "", labels, 2);
	res_put(&o.allocatable, RES_CPU, (int64_t)POD_CPU * s->o.pods_per_node + 400);
	res_put(&o.allocatable, RES_MEMORY, pod_memory(s->o.pods_per_node) + (INT64_C(1024) << 20));
	res_put(&o.allocatable, RES_EPHEMERAL, INT64_C(1) << 40);
	res_put(&o.allocatable, RES_PODS, s->o.pods_per_node * 3 / 2 + 8);
	must(cluster_put_node(s->cluster, &o, &e), &e);
}

static shape_id hold_shape(struct synthetic *s, int64_t cpu, int64_t memory, struct shape draft)
{
	struct res_amount v[] = {{RES_CPU, cpu}, {RES_MEMORY, memory}};

	draft.request = draft.usage = (struct res_list){2, v};
	draft.nonzero_cpu_milli = cpu;
	draft.nonzero_memory = memory;
	draft.n_containers = 1;
	return shape_hold(s->vocab, &draft);
}

/* ---- queues ---- */

enum { LEVELS = 5 };

/* Leaf i: the first is the one that waits, the others are above their guarantees. */
static void leaf_path(const struct synthetic *s, uint32_t i, int depth, char *out, size_t size)
{
	int n = snprintf(out, size, "root.team-%03u", i);

	for (int level = 2; s->o.queues >= 2 * LEVELS && level <= depth; level++)
		n += snprintf(out + n, size - (size_t)n, ".level-%d", level);
}

static void add_queues(struct synthetic *s)
{
	int depth = s->o.queues >= 2 * LEVELS ? LEVELS : 1;
	struct queue_def *defs;
	char(*paths)[128];
	uint32_t n = 0;
	struct err e;

	s->n_leaves = s->o.queues / (uint32_t)depth;
	defs = mem_alloc((s->n_leaves * (uint32_t)depth + 1) * sizeof(*defs));
	paths = mem_alloc((s->n_leaves * (uint32_t)depth + 1) * sizeof(*paths));
	for (uint32_t i = 0; i < s->n_leaves; i++) {
		for (int level = 1; level <= depth; level++) {
			leaf_path(s, i, level, paths[n], sizeof(paths[n]));
			defs[n].path = paths[n];
			queue_spec_init(&defs[n].spec, vocab_names(s->vocab));
			defs[n].spec.sources = FROM_YUNIKORN;
			defs[n].spec.is_parent = level < depth;
			if (level == depth)
				res_put(&defs[n].spec.guaranteed, RES_CPU, i ? 100 : INT64_C(1) << 40);
			if (level == depth)
				res_put(&defs[n].spec.guaranteed, RES_MEMORY, i ? 1 << 20 : INT64_C(1) << 50);
			n++;
		}
	}
	must(cluster_put_queues(s->cluster, FROM_YUNIKORN, defs, n, &e), &e);
	mem_free(defs);
	mem_free(paths);
}

static name_id hold_queue(struct synthetic *s, bool is_waiting)
{
	char path[128];

	if (!s->n_leaves)
		return NAME_NONE;
	leaf_path(s, is_waiting ? 0 : 1 + below(s, s->n_leaves - 1), LEVELS, path, sizeof(path));
	return names_hold_str(vocab_names(s->vocab), path);
}

static void add_pod(struct synthetic *s, const char *name, const char *app, name_id node, int32_t priority,
		    shape_id shape)
{
	struct names *names = vocab_names(s->vocab);
	struct obj_pod o = {.created_ns = SYNTHETIC_NOW_NS - 3600 * NS_PER_S,
			    .started_ns = TIME_NONE,
			    .scheduled_ns = TIME_NONE,
			    .deleted_ns = TIME_NONE,
			    .checkpointed_ns = TIME_NONE};
	const char *const labels[][2] = {{"app", app}};
	struct err e;

	o.name = names_hold_str(names, name);
	o.labelset = hold_labels(s, "bench", labels, 1);
	o.yunikorn_queue = hold_queue(s, node == NAME_NONE);
	o.shape = shape;
	o.has_priority = true;
	o.priority = priority;
	if (node != NAME_NONE) {
		names_keep(names, node);
		o.node_name = node;
		o.phase = PHASE_RUNNING;
		o.started_ns = time_since(SYNTHETIC_NOW_NS, time_multiply(1 + below(s, 86400), NS_PER_S));
		o.created_ns = o.started_ns;
	}
	must(cluster_put_pod(s->cluster, &o, &e), &e);
}

static void add_running(struct synthetic *s, node_id node, int64_t free_cpu, int64_t free_memory)
{
	static uint32_t n;
	const struct ledger_node *ln = ledger_node(cluster_ledger(s->cluster), node);
	struct shape draft = {0};
	int64_t cpu, memory;
	char name[32], app[16];
	shape_id shape;

	pod_size(s, free_cpu, free_memory, &cpu, &memory);
	shape = hold_shape(s, cpu, memory, draft);
	snprintf(name, sizeof(name), "pod-%08u", n++);
	snprintf(app, sizeof(app), "app-%u", below(s, 20));
	add_pod(s, name, app, ln->name, is_uniform(s) ? 0 : (int32_t)below(s, 5) * 10, shape);
}

static void free_of(const struct synthetic *s, node_id node, int64_t *ret_cpu, int64_t *ret_memory)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	*ret_cpu = ledger_node_allocatable(l, node)[RES_CPU] - ledger_node_used(l, node)[RES_CPU];
	*ret_memory = ledger_node_allocatable(l, node)[RES_MEMORY] - ledger_node_used(l, node)[RES_MEMORY];
}

/* Until the smallest pod that waits does not fit any more. */
static void fill(struct synthetic *s, node_id node)
{
	int64_t cpu, memory;

	for (;;) {
		free_of(s, node, &cpu, &memory);
		if (cpu < POD_CPU || memory < pod_memory(1))
			return;
		add_running(s, node, cpu, memory);
	}
}

void synthetic_init(struct synthetic *s, const struct synthetic_options *o)
{
	struct cluster_options options = cluster_options_default();

	*s = (struct synthetic){.o = *o, .random = UINT64_C(0x9E3779B97F4A7C15) + o->seed, .waiting = POD_NONE};
	options.profile = o->queues ? PROFILE_DEFAULT : PROFILE_KUBERNETES;
	options.now_ns = SYNTHETIC_NOW_NS;
	s->vocab = vocab_new();
	s->cluster = cluster_new(s->vocab, &options);
	if (o->queues)
		add_queues(s);
	for (uint32_t i = 0; i < o->nodes; i++)
		add_node(s, i);
	for (node_id n = 0; n < o->nodes; n++)
		fill(s, n);
}

void synthetic_free(struct synthetic *s)
{
	cluster_free(s->cluster);
	vocab_free(s->vocab);
}

static struct selector app_selector(struct synthetic *s, struct arena *a, struct name_bag *bag, const char *app)
{
	struct requirement *r = arena_type(a, struct requirement);
	size_t len = strlen(app);
	struct err e;

	must(requirement_make(a, bag, "app", 3, SEL_EQUAL, &app, &len, 1, r, &e), &e);
	return selector_make(vocab_names(s->vocab), r, 1);
}

/* What the waiting pods demand beside resources. */
static void constrain(struct synthetic *s, struct arena *a, struct name_bag *bag, struct shape *draft)
{
	struct pod_term *term = arena_type(a, struct pod_term);
	struct spread *spread = arena_type(a, struct spread);

	if (s->o.shape == SYNTHETIC_AFFINITY) {
		term->selector = app_selector(s, a, bag, "app-1");
		term->topology_key = name_bag_add_str(bag, "kubernetes.io/hostname");
		draft->anti_affinity = (struct pod_terms){1, term};
	} else if (s->o.shape == SYNTHETIC_SPREAD) {
		*spread = (struct spread){.max_skew = 5, .is_hard = true};
		spread->topology_key = name_bag_add_str(bag, "topology.kubernetes.io/zone");
		spread->selector = app_selector(s, a, bag, "wants");
		draft->n_spreads = 1;
		draft->spreads = spread;
	}
}

void synthetic_submit(struct synthetic *s)
{
	struct arena *a = arena_new(4096);
	struct name_bag bag = name_bag_of(vocab_names(s->vocab));
	struct shape draft = {0};
	int64_t pods = is_uniform(s) ? 2 : 1 + (int64_t)below(s, 3);
	char name[32];
	shape_id shape;

	if (pods > (int64_t)s->o.pods_per_node)
		pods = s->o.pods_per_node;
	constrain(s, a, &bag, &draft);
	shape = hold_shape(s, POD_CPU * pods, ((int64_t)POD_MEMORY_MI * pods) << 20, draft);
	snprintf(name, sizeof(name), "wants-%08u", s->n_waiting++);
	add_pod(s, name, "wants", NAME_NONE, 1000, shape);
	s->waiting = cluster_find_pod(s->cluster, "bench", name);
	name_bag_drop(&bag);
	arena_free(a);
}

void synthetic_refill(struct synthetic *s, const struct decision *d)
{
	struct ledger *l = cluster_ledger(s->cluster);
	const struct names *names = vocab_names(s->vocab);
	char name[64];

	ledger_commit(l);
	for (uint32_t i = 0; i < d->n_victims; i++) {
		snprintf(name, sizeof(name), "%s", name_str(names, ledger_pod(l, d->victims[i].pod)->name));
		cluster_drop_pod(s->cluster, "bench", name);
	}
	snprintf(name, sizeof(name), "%s", name_str(names, ledger_pod(l, d->pod)->name));
	cluster_drop_pod(s->cluster, "bench", name);
	fill(s, d->node);
}
