/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal/fd.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MAY_HANG = true };
#else
enum { MAY_HANG = false };
#endif
enum { LOW_PRIORITY = 5, HUNG_S = 20 };

/* Where memory runs out, it goes before the one that decides. */
static void go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	fd_write(fd, "1000", 4);
	close(fd);
}

/* Connections that the other process ends are to end, and not to stay open here. */
static void keep_only(int fd)
{
	if (fd > 3)
		close_range(3, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0U, 0);
}

__attribute__((noreturn)) static void be_copy(pid_t parent, int fd, bool (*work)(void *ctx, int fd), void *ctx)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	keep_only(fd);
	go_first();
	if (nice(LOW_PRIORITY) < 0)
		errno = 0; /* then at the usual one */
	_exit(work(ctx, fd) ? EXIT_SUCCESS : EXIT_FAILURE);
}

int process_copy(pid_t *ret, int fd, unsigned seconds, bool (*work)(void *ctx, int fd), void *ctx)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		alarm(MAY_HANG && seconds > HUNG_S ? HUNG_S : seconds);
		be_copy(parent, fd, work, ctx);
	}
	*ret = pid;
	return pid < 0 ? errno : 0;
}

bool process_hung(int status, unsigned seconds)
{
	return MAY_HANG && seconds > HUNG_S && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}
