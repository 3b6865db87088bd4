/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - work that takes long, done by a process that is a copy of this one: it has everything as it was when it
 * was started, and whoever decides goes on meanwhile.
 *
 * The copy works at a low priority, is the first to be ended where memory runs out, and ends with its parent or when
 * its time is up (SIGALRM). It has one thread: what it calls must neither start others nor take a lock that others may
 * have held, so it logs nothing. It has no open file but one.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* 0, or errno. fd is the file that stays open in the copy; work says whether it went well (exit code 0, else 1). */
int process_copy(pid_t *ret, int fd, unsigned seconds, bool (*work)(void *ctx, int fd), void *ctx);
/*
 * Of a copy that was given so many seconds and ended with this status: did it hang for nothing, so that another should
 * be tried? Only in builds with a sanitizer, whose allocator does not survive a copy while another thread is in it.
 */
bool process_hung(int status, unsigned seconds);
