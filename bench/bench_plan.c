/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan [OUT.json [CEDE]] - the whole of `cede plan`: a full cluster as people have it (live_cluster.h) is written
 * to a file as one line of JSON, and the program reads it, decides and prints the plan as JSON. Seconds of the
 * processor, the system's included, and of the clock; the least of ROUNDS. Without CEDE the one that was built with it.
 *
 *	show	`cede show`: reading and a summary, which is what there is before anything is decided
 *	plan	at the time the cluster was made for: pods of all ages up to a day
 *	later	a year after: all pods are about as old, so that lost work goes by size
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_run.h"
#include "manifest/manifest.h"
#include "results.h"
#include "units/timestamp.h"

enum { ROUNDS = 3, YEAR_S = 365 * 86400 };

struct row {
	const char *name, *command, *format;
	int64_t now_ns;
	double seconds, wall_s, megabytes;
};
static struct row rows[] = {
	{.name = "show", .command = "show", .format = "text"},
	{.name = "plan", .command = "plan", .format = "json", .now_ns = LIVE_NOW_NS},
	{.name = "later", .command = "plan", .format = "json", .now_ns = LIVE_NOW_NS + YEAR_S * NS_PER_S},
};
static const struct live_options size = {
	.profile = PROFILE_DEFAULT, .nodes = 5000, .pods = 30, .queues = 2, .waiting = 1000};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_plan: %s: %s\n", what, why);
	exit(1);
}

static void write_cluster(const char *path)
{
	struct live_cluster s;
	struct text t = {0};
	struct emit e;

	live_cluster_init(&s, &size);
	emit_init(&e, &t, EMIT_JSON_LINE);
	manifest_write(s.cluster, &e);
	results_save(path, &t);
	live_cluster_free(&s);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void run_once(const char *cede, const char *path, struct row *row)
{
	struct text now = {0};
	posix_spawn_file_actions_t quiet;
	struct rusage took;
	struct clock clock = clock_steady();
	int64_t began = clock_now(&clock);
	int status;
	pid_t child;

	timestamp_text(row->now_ns, &now);
	char *argv[] = {(char *)cede,
			(char *)row->command,
			"-f",
			(char *)path,
			"-o",
			(char *)row->format,
			row->now_ns ? "--now" : NULL,
			(char *)text_str(&now),
			NULL};
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0); /* its notes */
	if ((status = posix_spawn(&child, cede, &quiet, NULL, argv, environ)) != 0)
		fail(cede, strerror(status));
	posix_spawn_file_actions_destroy(&quiet);
	text_free(&now);
	if (wait4(child, &status, 0, &took) != child || status != 0)
		fail(cede, "it did not end well");
	double wall = (double)time_since(clock_now(&clock), began) / NS_PER_S;
	double all = seconds(took.ru_utime) + seconds(took.ru_stime);
	row->seconds = !row->seconds || all < row->seconds ? all : row->seconds;
	row->wall_s = !row->wall_s || wall < row->wall_s ? wall : row->wall_s;
	row->megabytes = (double)took.ru_maxrss / 1024;
}

static void emit_row(struct emit *e, const void *p)
{
	const struct row *row = p;

	emit_str(e, "row", row->name);
	results_size(e, size.nodes, size.pods, size.queues, size.waiting);
	emit_double(e, "seconds", row->seconds);
	emit_double(e, "wallSeconds", row->wall_s);
	emit_double(e, "megabytes", row->megabytes);
}

int main(int argc, char **argv)
{
	enum { N = sizeof(rows) / sizeof(*rows) };
	const char *slash = strrchr(argv[0], '/'), *tmp = getenv("TMPDIR");
	struct text cede = {0}, path = {0};

	if (argc > 2)
		text_add(&cede, argv[2]);
	else
		text_printf(&cede, "%.*s/../cede", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
	text_printf(&path, "%s/cede-bench-%ld.json", tmp ? tmp : "/tmp", (long)getpid());
	write_cluster(text_str(&path));
	for (size_t i = 0; i < N; i++) {
		for (int k = 0; k < ROUNDS; k++)
			run_once(text_str(&cede), text_str(&path), &rows[i]);
		printf("%-6s %u x %u, %u waiting: %6.2f s of the processor, %6.2f s of the clock, %5.0f MB\n",
		       rows[i].name, size.nodes, size.pods, size.waiting, rows[i].seconds, rows[i].wall_s,
		       rows[i].megabytes);
		fflush(stdout);
	}
	unlink(text_str(&path));
	if (argc > 1 && *argv[1])
		results_rows(argv[1], rows, N, sizeof(*rows), emit_row);
	text_free(&cede);
	text_free(&path);
	return 0;
}
