/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/fd.h"

#include <errno.h>
#include <unistd.h>

bool fd_write(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}
