/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/metrics.h"

static void read_proc(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, cap - 1);

	buf[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* The number of a field of /proc/self/stat, counted from 1, after the name of the program in brackets. */
static double stat_field(const char *stat, int field)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at && i < field; i++)
		at = strchr(at + 1, ' ');
	return at ? strtod(at + 1, NULL) : 0;
}

static void read_start(struct metrics *m, const char *stat)
{
	struct timespec boot = {0};
	double since_boot = stat_field(stat, 22) / (double)sysconf(_SC_CLK_TCK);
	struct clock wall = clock_system();

	if (metrics_get(m, METRIC_PROCESS_START, NULL) > 0)
		return; /* the difference of two clocks is never twice the same */
	clock_gettime(CLOCK_BOOTTIME, &boot);
	metrics_set(m, METRIC_PROCESS_START, (double)clock_now(&wall) / 1e9 - (double)boot.tv_sec + since_boot, NULL);
}

static uint32_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > 3 ? n - 3 : 0; /* ".", "..", and the folder itself */
}

void metrics_read_process(struct metrics *m)
{
	struct rusage u = {0};
	char stat[1024];

	read_proc("/proc/self/stat", stat, sizeof(stat));
	getrusage(RUSAGE_SELF, &u);
	metrics_set(m, METRIC_PROCESS_RESIDENT, stat_field(stat, 24) * (double)sysconf(_SC_PAGESIZE), NULL);
	metrics_set(m, METRIC_PROCESS_THREADS, stat_field(stat, 20), NULL);
	metrics_set(m, METRIC_PROCESS_FDS, count_fds(), NULL);
	metrics_set(m, METRIC_PROCESS_CPU,
		    (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
		    NULL);
	read_start(m, stat);
}
