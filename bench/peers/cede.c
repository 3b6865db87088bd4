/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers_cede PROFILE NODES PODS QUEUES WAITING DECISIONS STATE.json - cede's side of bench/peers.
 *
 * Makes a full cluster (live_cluster.h), writes it to STATE.json as an API server would show it, decides, and prints as
 * JSON what it took, in milliseconds of the processor, and what was decided.
 *
 *	cold	the first decision of a new engine, making the engine included; each on the same state
 *	warm	all waiting pods but the first, one after the other in one engine, each ten seconds later and each
 *		carried out, as a daemon does
 *	floor	summing up what an exact decision has to look at (floor.h)
 *
 * Profile kai decides about all that waits at once: then cold and warm are whole cycles, warm the same again ten
 * seconds later.
 */
#include <errno.h>
#include <time.h>

#include "base/emit.h"
#include "floor.h"
#include "live_cluster.h"
#include "manifest/manifest.h"

struct side {
	struct live_cluster s;
	struct engine_config *config;
	struct emit *out;
	uint32_t n_decisions;
	ARRAY(double) ms; /* of what was measured last */
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char *str(const struct side *x, name_id id)
{
	return name_str(vocab_names(x->s.vocab), id);
}

static void die(const char *what)
{
	fprintf(stderr, "peers_cede: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_state(const struct side *x, const char *path)
{
	struct text t = {0};
	struct emit e;
	FILE *f = fopen(path, "w");

	emit_init(&e, &t, EMIT_JSON_LINE);
	manifest_write(x->s.cluster, &e);
	if (!f || fwrite(t.s, 1, t.n, f) != t.n || fclose(f))
		die(path);
	text_free(&t);
}

/* ---- decisions ---- */

static struct engine *new_engine(struct side *x)
{
	struct err e;
	struct engine *en = engine_new(x->s.cluster, x->config, NULL, 0, &e);

	live_must(en ? ERR_OK : ERR_INTERNAL, &e);
	return en;
}

static void emit_answer(struct side *x, const struct decision *d)
{
	const struct ledger *l = cluster_ledger(x->s.cluster);

	if (d->pod == POD_NONE)
		return;
	emit_object(x->out, NULL);
	emit_str(x->out, "pod", str(x, ledger_pod(l, d->pod)->name));
	emit_str(x->out, "node", d->node == NODE_NONE ? "" : str(x, ledger_node(l, d->node)->name));
	emit_list(x->out, "victims");
	for (uint32_t i = 0; i < d->n_victims; i++)
		emit_str(x->out, NULL, str(x, ledger_pod(l, d->victims[i].pod)->name));
	emit_end(x->out);
	emit_end(x->out);
}

static pod_id next_waiting(const struct side *x, pod_id pod)
{
	const struct ledger *l = cluster_ledger(x->s.cluster);

	while (pod < ledger_pod_limit(l) && ledger_pod(l, pod)->state != POD_WAITING)
		pod++;
	return pod;
}

static void decide(struct side *x, struct engine *en, pod_id pod, int64_t now_ns, struct decisions *ret)
{
	struct engine_run run = {.now_ns = now_ns, .cycles = 1, .report = POD_NONE};
	struct err e;

	if (x->s.o.profile == PROFILE_KAI)
		live_must(engine_plan(en, &run, ret, &e), &e);
	else
		live_must(engine_try(en, &run, pod, ret, &e), &e);
}

static void decide_cold(struct side *x)
{
	struct ledger *l = cluster_ledger(x->s.cluster);
	ledger_mark mark = ledger_get_mark(l);
	bool is_cycle = x->s.o.profile == PROFILE_KAI;
	pod_id pod = 0;

	emit_list(x->out, "answers");
	for (uint32_t i = 0; i < x->n_decisions; i++, pod++) {
		struct decisions d = {.arena = arena_new(1 << 16)};
		double began = now_ms();
		struct engine *en = new_engine(x);

		pod = is_cycle ? 0 : next_waiting(x, pod);
		decide(x, en, pod, LIVE_NOW_NS, &d);
		array_push(&x->ms, now_ms() - began);
		for (uint32_t k = 0; k < d.v.n && !(is_cycle && i); k++)
			emit_answer(x, &d.v.v[k]);
		ledger_rollback(l, mark);
		engine_free(en);
		array_free(&d.v);
		arena_free(d.arena);
	}
	emit_end(x->out);
}

static void decide_warm(struct side *x)
{
	struct ledger *l = cluster_ledger(x->s.cluster);
	struct engine *en = new_engine(x);
	bool is_cycle = x->s.o.profile == PROFILE_KAI;
	uint32_t n = is_cycle ? x->n_decisions + 1 : x->s.o.waiting;
	pod_id pod = 0;

	for (uint32_t i = 0; i < n; i++, pod++) {
		struct decisions d = {.arena = arena_new(1 << 16)};
		ledger_mark mark = ledger_get_mark(l);
		double began = now_ms();

		pod = is_cycle ? 0 : next_waiting(x, pod);
		decide(x, en, pod, LIVE_NOW_NS + (int64_t)i * 10 * NS_PER_S, &d);
		if (i > 0) /* the first is cold */
			array_push(&x->ms, now_ms() - began);
		if (is_cycle)
			ledger_rollback(l, mark);
		else
			ledger_commit(l);
		array_free(&d.v);
		arena_free(d.arena);
	}
	engine_free(en);
}

/* ---- the floor ---- */

static void measure_floor(struct side *x)
{
	array_reserve(&x->ms, x->n_decisions);
	x->ms.n = x->n_decisions;
	floor_measure(cluster_ledger(x->s.cluster), x->s.vocab, x->ms.v, x->n_decisions);
}

/* ---- all of it ---- */

static void emit_times(struct side *x, const char *key)
{
	emit_list(x->out, key);
	for (uint32_t i = 0; i < x->ms.n; i++)
		emit_double(x->out, NULL, x->ms.v[i]);
	emit_end(x->out);
	x->ms.n = 0;
}

static void measure(struct side *x)
{
	emit_object(x->out, NULL);
	emit_int(x->out, "runningPods", x->s.n_pods - x->s.o.waiting);
	measure_floor(x);
	emit_times(x, "floor");
	decide_cold(x);
	emit_times(x, "cold");
	decide_warm(x); /* last, because it changes the cluster */
	emit_times(x, "warm");
	emit_end(x->out);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct live_options o = {0};
	struct text t = {0};
	struct emit out;
	struct side x = {.config = engine_config_new(), .out = &out};

	if (argc != 8 || !profile_parse(argv[1], &o.profile)) {
		fputs("usage: peers_cede PROFILE NODES PODS QUEUES WAITING DECISIONS STATE.json\n", stderr);
		return 2;
	}
	o.nodes = number(argv[2]);
	o.pods = number(argv[3]);
	o.queues = number(argv[4]);
	o.waiting = number(argv[5]);
	x.n_decisions = number(argv[6]);
	x.config->profile = o.profile;
	live_cluster_init(&x.s, &o);
	write_state(&x, argv[7]);
	emit_init(&out, &t, EMIT_JSON);
	measure(&x);
	fwrite(t.s, 1, t.n, stdout);
	text_free(&t);
	live_cluster_free(&x.s);
	engine_config_free(x.config);
	array_free(&x.ms);
	return 0;
}
