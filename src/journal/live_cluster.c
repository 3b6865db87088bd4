/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of a daemon, from a file that somebody has written it to. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/live_write.h"
#include "manifest/fields.h"

/* ---- what is handed over ---- */

static const char *copy(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

void live_cluster_copy(struct live_cluster *to, const struct journal_cluster *c)
{
	struct arena *a = arena_new(4096);
	struct journal_setting *v = arena_n(a, c->n_settings + 1, struct journal_setting);

	for (uint32_t i = 0; i < c->n_settings; i++)
		v[i] = (struct journal_setting){copy(a, c->settings[i].file), copy(a, c->settings[i].document)};
	*to = (struct live_cluster){.arena = a, .c = *c};
	to->c.profile = copy(a, c->profile);
	to->c.settings = v;
}

void live_cluster_free(struct live_cluster *c)
{
	if (!c->arena)
		return;
	close(c->c.fd);
	arena_free(c->arena);
	*c = (struct live_cluster){0};
}

/* ---- its file ---- */

struct mapping {
	const char *bytes;
	size_t n;
	const char *state, *gone;
};

/* Two texts that end, and nothing behind them. */
static bool find_texts(struct mapping *m)
{
	const char *end = m->bytes + m->n, *second = memchr(m->bytes, 0, m->n), *last;

	if (!second || ++second == end)
		return false;
	last = memchr(second, 0, (size_t)(end - second));
	m->state = m->bytes;
	m->gone = second;
	return *m->state && last == end - 1;
}

static enum err_code map_file(struct mapping *m, const char *path, int fd, struct err *e)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st))
		return err_fail(e, ERR_IO, "%s: the cluster cannot be read: %s", path, strerror(errno));
	m->n = (size_t)st.st_size;
	bytes = m->n ? mmap(NULL, m->n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (bytes == MAP_FAILED)
		return err_fail(e, ERR_IO, "%s: the cluster cannot be read: %s", path,
				m->n ? strerror(errno) : "there is nothing");
	m->bytes = bytes;
	return find_texts(m) ? ERR_OK : err_fail(e, ERR_IO, "%s: the cluster is not whole, and not kept", path);
}

static void unmap_file(struct mapping *m)
{
	if (m->bytes)
		munmap((void *)m->bytes, m->n);
}

/* ---- writing ---- */

/* The settings that it was decided with from then on. */
static struct journal_session session_of(const struct live_writer *w, const struct journal_cluster *c)
{
	struct journal_session s = w->session;

	s.now_ns = c->at_ns;
	s.profile = c->profile;
	s.reclaim_is_off = c->reclaim_is_off;
	s.quota_is_on = c->quota_is_on;
	s.n_settings = c->n_settings;
	s.settings = c->settings;
	return s;
}

static enum err_code write_mapped(struct live_writer *w, const struct live_cluster *c, const struct mapping *m,
				  struct err *e)
{
	int64_t run = w->run, began_ns = w->run_began_ns, seq = w->seq;
	struct journal_session s = session_of(w, &c->c);
	struct err ignored;
	enum err_code rc;

	live_hold_session(w, &s);
	TRY(store_begin_light(w->j, e));
	rc = store_end(w->j, live_begin_run(w, c->c.at_ns, m->state, m->gone, e), e);
	if (rc) {
		w->run = run;
		w->run_began_ns = began_ns;
		w->seq = seq;
		return rc;
	}
	journal_trim(w->j, &w->session.keep, c->c.at_ns, &ignored);
	return ERR_OK;
}

enum err_code live_write_cluster(struct live_writer *w, const struct live_cluster *c, struct err *e)
{
	struct mapping m = {0};
	enum err_code rc = map_file(&m, w->path, c->c.fd, e);

	if (!rc)
		rc = write_mapped(w, c, &m, e);
	unmap_file(&m);
	return rc;
}
