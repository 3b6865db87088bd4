/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_first [OUT.json] - the first decision of a new engine in profile kubernetes, with one thread and with two in
 * turn, on full clusters (live_cluster.h).
 *
 *	floor	summing up what an exact decision has to look at (floor.h)
 *	make	making the engine, of which `first` is the first decision; time of the processor
 *	main	with two threads: time of the processor of the one that decides, which is how long a decision takes
 *		where the other is never waited for
 *	other	with two threads: time of the processor of the rest
 *	wall	of making and deciding, with one thread and with two: says something on an idle machine only
 *
 * bench_first - NODES PODS DECISIONS: one size alone. The median of all decisions, in milliseconds.
 */
#include <time.h>

#include "floor.h"
#include "live_cluster.h"
#include "results.h"

enum { THREADS = 2, MANY = 64 };

struct times { /* of all decisions of one kind */
	double make[MANY], first[MANY], main[MANY], other[MANY], wall[MANY];
};

struct row {
	uint32_t nodes, pods, decisions;
	double floor_ms[MANY];
	struct times times[THREADS];
};

static double clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_time(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), by_time);
	return v[n / 2];
}

static pod_id first_waiting(const struct ledger *l, uint32_t skip)
{
	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state == POD_WAITING && !skip--)
			return i;
	abort();
}

static void decide(const struct live_cluster *s, uint32_t threads, uint32_t i, struct times *ret)
{
	struct engine_run run = {.now_ns = LIVE_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct engine_config *config = engine_config_new();
	struct decisions d = {.arena = arena_new(1 << 16)};
	struct ledger *l = cluster_ledger(s->cluster);
	ledger_mark mark = ledger_get_mark(l);
	pod_id pod = first_waiting(l, i);
	double wall, all, mine, made;
	struct engine *en;
	struct err e;

	config->profile = PROFILE_KUBERNETES;
	config->threads = threads;
	wall = clock_ms(CLOCK_MONOTONIC);
	mine = clock_ms(CLOCK_THREAD_CPUTIME_ID);
	all = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	en = engine_new(s->cluster, config, NULL, 0, &e);
	live_must(en ? ERR_OK : ERR_INTERNAL, &e);
	made = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	live_must(engine_try(en, &run, pod, &d, &e), &e);
	ret->make[i] = made - all;
	ret->first[i] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - made;
	ret->main[i] = clock_ms(CLOCK_THREAD_CPUTIME_ID) - mine;
	ret->wall[i] = clock_ms(CLOCK_MONOTONIC) - wall;
	ret->other[i] = ret->make[i] + ret->first[i] - ret->main[i];
	ledger_rollback(l, mark);
	engine_free(en);
	engine_config_free(config);
	array_free(&d.v);
	arena_free(d.arena);
}

static void measure(struct row *row)
{
	struct live_options o = {.profile = PROFILE_KUBERNETES, .queues = 2};
	struct live_cluster s;

	o.nodes = row->nodes;
	o.pods = row->pods;
	o.waiting = row->decisions;
	live_cluster_init(&s, &o);
	floor_measure(cluster_ledger(s.cluster), s.vocab, row->floor_ms, row->decisions);
	for (uint32_t i = 0; i < row->decisions; i++)
		for (uint32_t t = 0; t < THREADS; t++)
			decide(&s, t + 1, i, &row->times[t]);
	live_cluster_free(&s);
}

static void show(struct row *row, struct emit *e)
{
	struct times *one = &row->times[0], *two = &row->times[1];
	uint32_t n = row->decisions;
	double least = median(row->floor_ms, n), make = median(one->make, n), first = median(one->first, n);
	double mine = median(two->main, n), other = median(two->other, n);
	double wall[] = {median(one->wall, n), median(two->wall, n)};

	printf("%6u x %-3u floor %7.3f  make %7.3f  first %7.3f  x floor %5.1f (with making %5.1f)  two threads: main "
	       "%7.3f other %7.3f  wall %7.3f to %7.3f, x %4.2f\n",
	       row->nodes, row->pods, least, make, first, first / least, (make + first) / least, mine, other, wall[0],
	       wall[1], wall[0] / wall[1]);
	fflush(stdout);
	if (!e)
		return;
	emit_object(e, NULL);
	results_size(e, row->nodes, row->pods, 2, n);
	emit_double(e, "floorMs", least);
	emit_double(e, "makeMs", make);
	emit_double(e, "firstMs", first);
	emit_double(e, "twoThreadsMainMs", mine);
	emit_double(e, "twoThreadsOtherMs", other);
	emit_double(e, "wallMs", wall[0]);
	emit_double(e, "twoThreadsWallMs", wall[1]);
	emit_end(e);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[][2] = {{1000, 4}, {5000, 4}, {1000, 30}, {5000, 30}, {10000, 30}};
	static struct row row;
	struct text out = {0};
	struct emit e;

	if (argc == 5 && strcmp(argv[1], "-") == 0) {
		row = (struct row){.nodes = number(argv[2]), .pods = number(argv[3]), .decisions = number(argv[4])};
		row.decisions = row.decisions < 1 ? 1 : row.decisions < MANY ? row.decisions : MANY;
		measure(&row);
		show(&row, NULL);
		return 0;
	}
	emit_init(&e, &out, EMIT_JSON);
	emit_list(&e, NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		row = (struct row){.nodes = sizes[i][0], .pods = sizes[i][1], .decisions = 21};
		measure(&row);
		show(&row, &e);
	}
	emit_end(&e);
	if (argc > 1)
		results_save(argv[1], &out);
	else
		text_free(&out);
	return 0;
}
