/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, folders and standard input.
 * A file is read whole before anything in it is looked at, so that one that changes meanwhile cannot confuse.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/collect.h"

enum { FOLDER_DEPTH_MAX = 16 };
#define FILE_BYTES_MAX ((size_t)2 << 30)

static enum err_code os_fail(struct err *e, const char *path)
{
	enum err_code code = errno == ENOENT ? ERR_NOTFOUND : ERR_IO;

	return err_fail(e, code, "%s: %s", path, strerror(errno));
}

static enum err_code too_large(struct err *e, const char *path)
{
	return err_fail(e, ERR_LIMIT, "%s: more than 2 GiB", path);
}

/*
 * A NUL byte ends the reading: what it is in is no text, which the reader of trees will say with line and column, and a
 * device would go on for ever.
 */
static enum err_code read_all(int fd, const char *name, size_t hint, char **ret, size_t *ret_len, struct err *e)
{
	size_t cap = hint + 1, n = 0;
	char *data;
	ssize_t got;

	if (hint > FILE_BYTES_MAX)
		return too_large(e, name);
	if (cap < 65536)
		cap = 65536;
	data = mem_resize(NULL, cap, 1);
	while ((got = read(fd, data + n, cap - n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || n + (size_t)got > FILE_BYTES_MAX) {
			mem_free(data);
			return got < 0 ? os_fail(e, name) : too_large(e, name);
		}
		n += (size_t)got;
		if (memchr(data + n - got, '\0', (size_t)got))
			break;
		if (n == cap)
			data = mem_resize(data, cap = cap < FILE_BYTES_MAX / 2 ? cap * 2 : FILE_BYTES_MAX + 1, 1);
	}
	*ret = data;
	*ret_len = n;
	return ERR_OK;
}

static enum err_code read_fd(struct manifest *m, int fd, const char *name, size_t hint, struct err *e)
{
	char *data = NULL;
	size_t len = 0;
	enum err_code rc = read_all(fd, name, hint, &data, &len, e);

	if (rc)
		return rc;
	rc = manifest_read_bytes(m, name, data, len, e);
	mem_free(data);
	return rc;
}

static enum err_code read_file(struct manifest *m, const char *path, size_t size, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum err_code rc;

	if (fd < 0)
		return os_fail(e, path);
	rc = read_fd(m, fd, path, size, e);
	close(fd);
	return rc;
}

static bool has_manifest_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return name[0] != '.' && dot && (str_eq(dot, ".yaml") || str_eq(dot, ".yml") || str_eq(dot, ".json"));
}

static enum err_code read_folder(struct manifest *m, const char *path, int depth, uint32_t *n_files, struct err *e);

static enum err_code read_entry(struct manifest *m, const char *path, const char *name, int depth, uint32_t *n_files,
				struct err *e)
{
	struct stat st;

	if (name[0] == '.')
		return ERR_OK;
	if (stat(path, &st))
		return has_manifest_name(name) ? os_fail(e, path) : ERR_OK;
	if (S_ISDIR(st.st_mode))
		return read_folder(m, path, depth + 1, n_files, e);
	if (!has_manifest_name(name) || !S_ISREG(st.st_mode)) /* a pipe in a folder would never end */
		return ERR_OK;
	++*n_files;
	return read_file(m, path, (size_t)st.st_size, e);
}

static enum err_code read_folder(struct manifest *m, const char *path, int depth, uint32_t *n_files, struct err *e)
{
	enum err_code rc = ERR_OK;
	struct dirent **list;
	int n;

	if (depth > FOLDER_DEPTH_MAX)
		return err_fail(e, ERR_LIMIT, "%s: more than %d folders deep", path, FOLDER_DEPTH_MAX);
	n = scandir(path, &list, NULL, alphasort);
	if (n < 0)
		return os_fail(e, path);
	for (int i = 0; i < n; i++) {
		struct text child = {0};

		text_printf(&child, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", list[i]->d_name);
		if (!rc)
			rc = read_entry(m, text_str(&child), list[i]->d_name, depth, n_files, e);
		text_free(&child);
		free(list[i]);
	}
	free(list);
	return rc;
}

enum err_code manifest_read(struct manifest *m, const char *path, struct err *e)
{
	uint32_t n_files = 0;
	struct stat st;

	if (str_eq(path, "-"))
		return read_fd(m, STDIN_FILENO, "<stdin>", 0, e);
	if (stat(path, &st))
		return os_fail(e, path);
	if (!S_ISDIR(st.st_mode))
		return read_file(m, path, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, e);
	TRY(read_folder(m, path, 0, &n_files, e));
	if (!n_files)
		return err_fail(e, ERR_NOTFOUND, "%s: no *.yaml, *.yml or *.json in this folder", path);
	return ERR_OK;
}

enum err_code manifest_read_config(struct manifest *m, const char *path, struct err *e)
{
	enum manifest_plugins elsewhere = m->plugins;
	enum err_code rc;

	if (!str_eq(path, "-"))
		m->plugins = PLUGINS_TAKEN;
	rc = manifest_read(m, path, e);
	m->plugins = elsewhere;
	return rc;
}
