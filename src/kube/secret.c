/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

/* Pages of its own: they can be kept out of core dumps, and nothing else shares them. */
static char *map_pages(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	madvise(p, n, MADV_DONTDUMP);
	return p;
}

/* Room for n bytes and a NUL, without what was there before. */
static void make_room(struct secret *x, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	secret_free(x);
	x->mapped = (n + page) / page * page;
	x->s = map_pages(x->mapped);
}

void secret_free(struct secret *x)
{
	if (x->s) {
		explicit_bzero(x->s, x->mapped);
		munmap(x->s, x->mapped);
	}
	*x = (struct secret){0};
}

void secret_set(struct secret *x, const char *s, size_t n)
{
	struct secret fresh = {0};

	make_room(&fresh, n);
	memcpy(fresh.s, s, n);
	fresh.n = n;
	secret_free(x);
	*x = fresh;
}

bool secret_equal(const struct secret *a, const struct secret *b)
{
	if (!a->s || !b->s)
		return !a->s && !b->s;
	return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void secret_trim(struct secret *x)
{
	size_t from = 0, to = x->n;

	while (to > 0 && is_blank(x->s[to - 1]))
		to--;
	while (from < to && is_blank(x->s[from]))
		from++;
	if (!x->s)
		return;
	memmove(x->s, x->s + from, to - from);
	explicit_bzero(x->s + (to - from), x->n - (to - from));
	x->n = to - from;
}

/* Waits for bytes; false when the time is over. */
static bool wait_readable(int fd, int64_t deadline_ns)
{
	struct clock clock = clock_steady();

	for (;;) {
		int64_t left_ns = deadline_ns - clock_now(&clock);
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int rc;

		if (left_ns <= 0)
			return false;
		rc = poll(&p, 1, (int)(left_ns / 1000000 < 60000 ? left_ns / 1000000 + 1 : 60000));
		if (rc > 0 || (rc < 0 && errno != EINTR))
			return true;
	}
}

enum err_code secret_drain(struct secret *x, int fd, size_t max, int64_t deadline_ns, const char *name, struct err *e)
{
	ssize_t got;

	make_room(x, max + 1);
	for (;;) {
		if (deadline_ns != INT64_MAX && !wait_readable(fd, deadline_ns)) {
			secret_free(x);
			return err_fail(e, ERR_IO, "%s: no answer in time", name);
		}
		got = read(fd, x->s + x->n, max + 1 - x->n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		x->n += (size_t)got;
		if (x->n > max) {
			secret_free(x);
			return err_fail(e, ERR_LIMIT, "%s: more than %zu bytes", name, max);
		}
	}
	if (got == 0)
		return ERR_OK;
	secret_free(x);
	return err_fail(e, ERR_IO, "%s: %s", name, strerror(errno));
}

enum err_code secret_read(struct secret *x, const char *path, size_t max, struct err *e)
{
	/* O_NONBLOCK: opening a pipe nobody writes to must not wait for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum err_code rc;
	struct stat st;

	if (fd < 0)
		return err_fail(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || S_ISDIR(st.st_mode)) {
		close(fd);
		return err_fail(e, ERR_IO, "%s: expected a file, found a folder", path);
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	rc = secret_drain(x, fd, max, INT64_MAX, path, e);
	close(fd);
	return rc;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool secret_decode_base64(struct secret *x, const char *s, size_t n)
{
	unsigned bits = 0, n_bits = 0, n_padding = 0, n_digits = 0;

	make_room(x, n / 4 * 3 + 3);
	for (size_t i = 0; i < n; i++) {
		int digit = base64_digit(s[i]);

		if (is_blank(s[i]))
			continue;
		if (s[i] == '=') {
			n_padding++;
			continue;
		}
		if (digit < 0 || n_padding) {
			secret_free(x);
			return false;
		}
		n_digits++;
		bits = (bits << 6 | (unsigned)digit) & 0xFFFFu;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			x->s[x->n++] = (char)(bits >> n_bits);
		}
	}
	if (n_digits % 4 != 1 && n_padding <= 2)
		return true;
	secret_free(x);
	return false;
}

void secret_hide_process(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}
