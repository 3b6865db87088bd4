/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dies.h - does this end the program by abort()? Tried in a child that keeps quiet about it.
 */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool dies(void (*f)(void))
{
	pid_t child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		signal(SIGABRT, SIG_DFL);
		if (null >= 0)
			dup2(null, 2);
		f();
		_exit(0);
	}
	int status;
	return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
