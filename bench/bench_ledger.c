/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a move costs, and what a pod weighs: 5,000 nodes, 150,000 pods, four resource types besides the slots of nodes,
 * and a queue five levels below the root. "near" moves pods of few nodes again and again, as a search on one node does;
 * "far" jumps about the whole cluster, so that memory has its say.
 *
 *	bench_ledger [RESULT.json]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/emit.h"
#include "ledger/ledger.h"
#include "results.h"

#define NODES 5000
#define PODS 150000
#define WAITING 15000 /* of the pods */
#define SHAPES 40
#define LABELSETS 2000
#define DEPTH 5
#define ROUNDS 20000
#define REPEATS 60
#define NEAR 64

struct bench {
	struct vocab *v;
	struct ledger *l;
	queue_id leaf;
	shape_id shapes[SHAPES];
	labelset_id labelsets[LABELSETS];
	pod_id placed[PODS], waiting[WAITING];
	uint32_t n_placed, n_waiting;
};

static struct names *names_of(struct bench *b)
{
	return vocab_names(b->v);
}

static void make_shapes(struct bench *b, res_id gpu)
{
	for (uint32_t i = 0; i < SHAPES; i++) {
		struct res_amount v[] = {{RES_CPU, 100 + i}, {RES_MEMORY, 1 << 20}, {RES_EPHEMERAL, 1 << 10}, {gpu, 1}};
		struct shape draft = {.request = {4, v}, .usage = {4, v}};
		b->shapes[i] = shape_hold(b->v, &draft);
	}
}

static void make_labelsets(struct bench *b)
{
	for (uint32_t i = 0; i < LABELSETS; i++) {
		char ns[24], app[24];
		snprintf(ns, sizeof(ns), "team-%u", i % 100);
		snprintf(app, sizeof(app), "app-%u", i);
		struct name_bag bag = name_bag_of(names_of(b));
		struct label kv = {name_bag_add_str(&bag, "app"), name_bag_add_str(&bag, app)};
		b->labelsets[i] = labelset_hold(b->v, name_bag_add_str(&bag, ns), &kv, 1);
		name_bag_drop(&bag);
	}
}

static void make_queues(struct bench *b)
{
	b->leaf = QUEUE_ROOT;
	for (uint32_t i = 0; i < DEPTH; i++) {
		struct queue_spec spec;
		queue_spec_init(&spec, names_of(b));
		if (ledger_queue_add(b->l, b->leaf, "level", 5, &spec, &b->leaf, NULL) != ERR_OK)
			abort();
	}
}

static void make_nodes(struct bench *b, res_id gpu)
{
	for (uint32_t i = 0; i < NODES; i++) {
		char name[24];
		snprintf(name, sizeof(name), "node-%05u", i);
		struct obj_node o = {.name = names_hold_str(names_of(b), name), .bag = name_bag_of(names_of(b))};
		o.labelset = labelset_hold(b->v, NAME_NONE, NULL, 0);
		res_put(&o.allocatable, RES_CPU, 64000);
		res_put(&o.allocatable, RES_MEMORY, INT64_C(1) << 38);
		res_put(&o.allocatable, RES_PODS, 110);
		res_put(&o.allocatable, gpu, 64);
		ledger_node_add(b->l, &o);
	}
}

static struct obj_pod pod_object(struct bench *b, uint32_t i)
{
	char name[32], uid[40];
	snprintf(name, sizeof(name), "app-%u-7d4b9c6f5-%05x", i % LABELSETS, i);
	snprintf(uid, sizeof(uid), "4f1c3a52-9d7e-4b8a-8c1d-%012u", i);
	labelset_keep(b->v, b->labelsets[i % LABELSETS]);
	shape_keep(b->v, b->shapes[i % SHAPES]);
	return (struct obj_pod){.name = names_hold_str(names_of(b), name),
				.uid = uid_hold(names_of(b), uid, strlen(uid)),
				.labelset = b->labelsets[i % LABELSETS],
				.shape = b->shapes[i % SHAPES],
				.created_ns = i,
				.started_ns = TIME_NONE,
				.scheduled_ns = TIME_NONE,
				.deleted_ns = TIME_NONE,
				.checkpointed_ns = TIME_NONE};
}

static void make_pods(struct bench *b)
{
	for (uint32_t i = 0; i < PODS; i++) {
		bool waits = i % (PODS / WAITING) == 0;
		struct obj_pod o = pod_object(b, i);
		struct pod_entry entry = {.state = waits ? POD_WAITING : POD_PLACED,
					  .node = waits ? NODE_NONE : i % NODES,
					  .queue = b->leaf,
					  .group = GROUP_NONE,
					  .podset = PODSET_NONE,
					  .started_ns = TIME_NONE,
					  .nominated_node = NODE_NONE};
		pod_id id;
		if (ledger_pod_add(b->l, &o, &entry, &id, NULL) != ERR_OK)
			abort();
		if (waits)
			b->waiting[b->n_waiting++] = id;
		else
			b->placed[b->n_placed++] = id;
	}
}

static void bench_init(struct bench *b)
{
	res_id gpu;
	b->v = vocab_new();
	if (res_types_add(vocab_res(b->v), "nvidia.com/gpu", 14, &gpu, NULL) != ERR_OK)
		abort();
	b->l = ledger_new(b->v);
	make_shapes(b, gpu);
	make_labelsets(b);
	make_queues(b);
	make_nodes(b, gpu);
	make_pods(b);
	ledger_commit(b->l);
}

static void bench_free(struct bench *b)
{
	for (uint32_t i = 0; i < SHAPES; i++)
		shape_drop(b->v, b->shapes[i]);
	for (uint32_t i = 0; i < LABELSETS; i++)
		labelset_drop(b->v, b->labelsets[i]);
	ledger_free(b->l);
	vocab_free(b->v);
}

static void do_place(struct bench *b, uint32_t i, uint32_t reach)
{
	ledger_place(b->l, b->waiting[i % (reach < WAITING ? reach : WAITING)], i % (reach < NODES ? reach : NODES));
}

static void do_evict(struct bench *b, uint32_t i, uint32_t reach)
{
	ledger_evict(b->l, b->placed[i % (reach < b->n_placed ? reach : b->n_placed)]);
}

static void do_nominate(struct bench *b, uint32_t i, uint32_t reach)
{
	ledger_nominate(b->l, b->waiting[i % (reach < WAITING ? reach : WAITING)], i % (reach < NODES ? reach : NODES));
}

/* The best of some repeats: what it costs when nobody else has the machine. Steps of a large prime reach everything. */
static double measure(struct bench *b, void (*act)(struct bench *b, uint32_t i, uint32_t reach), uint32_t reach)
{
	struct clock clock = clock_system();
	double best = 0;
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		int64_t start = clock_now(&clock);
		for (uint32_t i = 0; i < ROUNDS; i++) {
			ledger_mark mark = ledger_get_mark(b->l);
			act(b, reach == NEAR ? i : i * 7919u, reach);
			ledger_rollback(b->l, mark);
		}
		double ns = (double)(clock_now(&clock) - start) / ROUNDS;
		if (repeat == 0 || ns < best)
			best = ns;
	}
	return best;
}

static void emit_moves(struct bench *b, struct emit *e)
{
	static const struct {
		const char *name;
		void (*act)(struct bench *b, uint32_t i, uint32_t reach);
	} moves[] = {{"place", do_place}, {"evict", do_evict}, {"nominate", do_nominate}};
	emit_object(e, "nsPerMoveAndUndo");
	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
		double near = measure(b, moves[i].act, NEAR), far = measure(b, moves[i].act, UINT32_MAX);
		printf("%s and undo: %.0f ns near, %.0f ns far\n", moves[i].name, near, far);
		emit_object(e, moves[i].name);
		emit_int(e, "near", (int64_t)(near + 0.5));
		emit_int(e, "far", (int64_t)(far + 0.5));
		emit_end(e);
	}
	emit_end(e);
}

/* As it is after a cluster was read. */
static void emit_memory(struct bench *b, struct emit *e)
{
	ledger_trim(b->l);
	vocab_trim(b->v);
	struct ledger_memory m = ledger_memory(b->l);
	const struct {
		const char *name;
		size_t bytes;
	} parts[] = {{"engine", m.engine}, {"objects", m.objects}, {"shapes", m.shapes}, {"names", m.names}};
	emit_object(e, "bytesPerPod");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		double each = (double)parts[i].bytes / PODS;
		printf("bytes per pod, %s: %.1f\n", parts[i].name, each);
		emit_int(e, parts[i].name, (int64_t)(each + 0.5));
	}
	emit_end(e);
}

int main(int argc, char **argv)
{
	static struct bench b;
	struct text t = {0};
	struct emit e;
	bench_init(&b);
	emit_init(&e, &t, EMIT_JSON);
	emit_object(&e, NULL);
	emit_str(&e, "name", "ledger");
	emit_int(&e, "nodes", NODES);
	emit_int(&e, "pods", PODS);
	emit_int(&e, "queueDepth", DEPTH);
	emit_int(&e, "resourceTypes", 4);
	emit_moves(&b, &e);
	emit_memory(&b, &e);
	emit_end(&e);
	if (argc > 1)
		results_save(argv[1], &t);
	text_free(&t);
	bench_free(&b);
	return 0;
}
