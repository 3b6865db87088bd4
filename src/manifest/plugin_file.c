/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/plugin_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, OTHERS_WRITE = S_IWGRP | S_IWOTH };

/* ---- judging one of them ---- */

static void say_errno(struct text *why)
{
	text_add(why, strerror(errno));
}

static const char *kind_text(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a folder";
	if (S_ISFIFO(mode))
		return "a pipe";
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return "a device";
	return S_ISSOCK(mode) ? "a socket" : "something else";
}

/* Could somebody else put other code here? */
static bool is_ours(const struct stat *st, bool may_be_sticky, struct text *why)
{
	bool is_held = may_be_sticky && (st->st_mode & S_ISVTX);

	if (st->st_uid != 0 && st->st_uid != geteuid())
		text_printf(why, "it belongs to user %u, and not to root or to who runs cede", (unsigned)st->st_uid);
	else if ((st->st_mode & OTHERS_WRITE) && !is_held)
		text_printf(why, "others than its owner may write to it (mode %04o)", (unsigned)(st->st_mode & 07777));
	else
		return true;
	return false;
}

static bool check_folder(int fd, bool may_be_sticky, struct text *why)
{
	struct text name = {0}, fault = {0};
	char path[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st)) {
		say_errno(why);
		return false;
	}
	if (is_ours(&st, may_be_sticky, &fault))
		return true;
	plugin_file_name(fd, &name);
	n = readlink(text_str(&name), path, sizeof(path));
	text_printf(why, "its folder %.*s: %s", n > 0 ? (int)n : 0, path, text_str(&fault));
	text_free(&name);
	text_free(&fault);
	return false;
}

static bool check_file(int fd, const struct stat *st, int folder, struct text *why)
{
	if (!S_ISREG(st->st_mode)) {
		text_printf(why, "it is %s, not a regular file", kind_text(st->st_mode));
		return false;
	}
	return check_folder(folder, false, why) && is_ours(st, false, why);
}

/* ---- the way to it ---- */

struct path_walk {
	int folder;	  /* where we are */
	struct text rest; /* of the path, from there */
	int links;	  /* followed so far */
	struct text *why;
};

static void stand_on(struct path_walk *w, int fd)
{
	if (w->folder >= 0)
		close(w->folder);
	w->folder = fd;
}

static bool start_at_root(struct path_walk *w)
{
	stand_on(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (w->folder < 0)
		say_errno(w->why);
	return w->folder >= 0;
}

/* Takes "name" off "name/and/the/rest". False: there is nothing left. */
static bool next_name(struct path_walk *w, struct text *ret_name)
{
	const char *s = text_str(&w->rest), *end;
	struct text left = {0};

	while (*s == '/')
		s++;
	end = strchrnul(s, '/');
	text_reset(ret_name);
	text_add_n(ret_name, s, (size_t)(end - s));
	while (*end == '/')
		end++;
	text_add(&left, end);
	text_free(&w->rest);
	w->rest = left;
	return ret_name->n > 0;
}

static bool follow_link(struct path_walk *w, int fd)
{
	char target[PATH_MAX];
	struct text path = {0};
	ssize_t n = readlinkat(fd, "", target, sizeof(target));

	if (++w->links > LINKS_MAX || n < 0 || n == (ssize_t)sizeof(target)) {
		errno = w->links > LINKS_MAX ? ELOOP : n < 0 ? errno : ENAMETOOLONG;
		say_errno(w->why);
		return false;
	}
	text_printf(&path, "%.*s/%s", (int)n, target, text_str(&w->rest));
	text_free(&w->rest);
	w->rest = path;
	return n == 0 || target[0] != '/' || start_at_root(w);
}

/* One step further: 1 with the file in *ret, 0 to go on, -1 with a reason. */
static int take_step(struct path_walk *w, const char *name, int *ret)
{
	int fd = openat(w->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		say_errno(w->why);
	} else if (S_ISLNK(st.st_mode)) {
		rc = check_folder(w->folder, true, w->why) && follow_link(w, fd) ? 0 : -1;
	} else if (w->rest.n == 0) {
		*ret = fd;
		rc = check_file(fd, &st, w->folder, w->why) ? 1 : -1;
	} else if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		say_errno(w->why);
	} else if (check_folder(w->folder, true, w->why)) {
		stand_on(w, fd);
		return 0;
	}
	if (fd >= 0 && rc != 1)
		close(fd);
	return rc;
}

static bool whole_path(const char *path, struct text *out, struct text *why)
{
	char here[PATH_MAX];

	if (path[0] != '/') {
		if (!getcwd(here, sizeof(here))) {
			say_errno(why);
			return false;
		}
		text_printf(out, "%s/", here);
	}
	text_add(out, path);
	return true;
}

int plugin_file_open(const char *path, struct text *ret_why)
{
	struct path_walk w = {.folder = -1, .why = ret_why};
	struct text name = {0};
	int fd = -1, rc = -1;

	if (whole_path(path, &w.rest, ret_why) && start_at_root(&w)) {
		do
			rc = next_name(&w, &name) ? take_step(&w, text_str(&name), &fd) : -1;
		while (rc == 0);
		if (rc < 0 && !ret_why->n)
			text_add(ret_why, "it is a folder, not a regular file");
	}
	stand_on(&w, -1);
	text_free(&w.rest);
	text_free(&name);
	return rc == 1 ? fd : -1;
}

void plugin_file_name(int fd, struct text *out)
{
	text_printf(out, "/proc/self/fd/%d", fd);
}
