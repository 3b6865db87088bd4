/* SPDX-License-Identifier: Apache-2.0 */
/* fd.h - bytes to a file descriptor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All of them, whatever interrupts it; false: errno says why not. */
bool fd_write(int fd, const void *bytes, size_t n);
