/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "manifest/fields.h"

enum { HEADER_BYTES = 32, FRAME_BYTES = 24, PAGE_MIN = 512, PAGE_MAX = 65536 };
#define WAL_MAGIC UINT32_C(0x377f0682) /* the last bit: checksums are over big-endian words */

struct wal {
	int fd;
	char *name;
	uint32_t page;	       /* bytes */
	bool is_big;	       /* how words are read for checksums */
	uint32_t sum[2];       /* so far */
	unsigned char salt[8]; /* frames of this log have it; what is left of an older one does not */
	unsigned char *frame;  /* one, with its page */
};

static uint32_t big_word(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little_word(const unsigned char *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void add_sum(struct wal *w, const unsigned char *p, size_t n)
{
	uint32_t (*word)(const unsigned char *p) = w->is_big ? big_word : little_word;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		w->sum[0] += word(p + i) + w->sum[1];
		w->sum[1] += word(p + i + 4) + w->sum[0];
	}
}

static bool sum_is(const struct wal *w, const unsigned char *p)
{
	return big_word(p) == w->sum[0] && big_word(p + 4) == w->sum[1];
}

static bool read_at(const struct wal *w, void *to, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(w->fd, (char *)to + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Without a good header SQLite takes nothing from the log. */
static bool read_header(struct wal *w)
{
	unsigned char h[HEADER_BYTES];

	if (!read_at(w, h, sizeof(h), 0) || (big_word(h) & ~1u) != WAL_MAGIC)
		return false;
	w->is_big = big_word(h) & 1;
	w->page = big_word(h + 8);
	memcpy(w->salt, h + 16, sizeof(w->salt));
	add_sum(w, h, 24);
	return sum_is(w, h + 24) && w->page >= PAGE_MIN && w->page <= PAGE_MAX && is_power_of_two(w->page);
}

/* Frame i, whole and of this log's salt. */
static bool read_frame(struct wal *w, uint64_t i)
{
	return read_at(w, w->frame, FRAME_BYTES + w->page, HEADER_BYTES + i * (FRAME_BYTES + w->page)) &&
	       !memcmp(w->frame + 8, w->salt, sizeof(w->salt));
}

static bool completes(const struct wal *w)
{
	return big_word(w->frame + 4) != 0; /* the size of the database after a commit */
}

/* The first frame that is not right; n if all are. */
static uint64_t find_end(struct wal *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		if (!read_frame(w, i))
			return i;
		add_sum(w, w->frame, 8);
		add_sum(w, w->frame + FRAME_BYTES, w->page);
		if (!sum_is(w, w->frame + 16))
			return i;
	}
	return n;
}

static enum err_code broken(const struct wal *w, uint64_t at, struct err *e)
{
	return err_fail(e, ERR_INPUT, "%s: damaged: frame %llu is broken, and it is not where a writer was interrupted",
			w->name, (unsigned long long)at + 1);
}

static enum err_code check_frames(struct wal *w, uint64_t bytes, struct err *e)
{
	uint64_t n = (bytes - HEADER_BYTES) / (FRAME_BYTES + w->page), end;

	w->frame = mem_alloc(FRAME_BYTES + w->page);
	end = find_end(w, n);
	for (uint64_t i = end + 1; i < n; i++)
		if (read_frame(w, i) && completes(w))
			return broken(w, end, e);
	if (end + 1 == n && read_frame(w, end) && completes(w))
		return broken(w, end, e);
	return ERR_OK;
}

static enum err_code check_file(struct wal *w, uint64_t bytes, struct err *e)
{
	if (bytes <= HEADER_BYTES)
		return ERR_OK;
	if (!read_header(w))
		return err_fail(e, ERR_INPUT, "%s: damaged: its header is broken, and there is something behind it",
				w->name);
	return check_frames(w, bytes, e);
}

static char *wal_name(const char *path)
{
	struct text t = {0};
	char *s;

	text_printf(&t, "%s-wal", path);
	s = mem_strdup(text_str(&t));
	text_free(&t);
	return s;
}

bool wal_exists(const char *path)
{
	AUTO_FREE char *name = wal_name(path);
	struct stat st;

	return !stat(name, &st) && st.st_size > 0;
}

static enum err_code check_once(const char *path, const char *told, struct err *e)
{
	AUTO_FREE char *name = wal_name(path), *told_name = wal_name(told);
	struct wal w = {.name = told_name};
	enum err_code rc = ERR_OK;
	struct stat st;

	w.fd = open(name, O_RDONLY | O_CLOEXEC);
	if (w.fd < 0) /* none, or none that anybody could read: SQLite will say so */
		return ERR_OK;
	if (!fstat(w.fd, &st) && S_ISREG(st.st_mode))
		rc = check_file(&w, (uint64_t)st.st_size, e);
	close(w.fd);
	mem_free(w.frame);
	return rc;
}

/* Whoever reads while somebody writes may see a frame half written and those behind it whole; but not for long. */
enum err_code wal_check(const char *path, const char *told, struct err *e)
{
	enum { TRIES = 3, PAUSE_MS = 20 };
	enum err_code rc;

	for (int i = 0; (rc = check_once(path, told, e)) && i < TRIES; i++)
		poll(NULL, 0, PAUSE_MS);
	return rc;
}
