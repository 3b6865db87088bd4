/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "manifest/fields.h"

/* In JSON these stand in strings alone, where their escapes mean the same; markup they begin is then none. */
void page_add_data(struct text *out, const char *json, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (json[i] == '<' || json[i] == '>' || json[i] == '&')
			text_printf(out, "\\u%04x", (unsigned)json[i]);
		else
			text_add_char(out, json[i]);
	}
}

static enum err_code os_fail(const char *path, struct err *e)
{
	return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
}

static enum err_code write_all(const char *path, const struct text *page, struct err *e)
{
	FILE *f = fopen(path, "we");
	bool is_written;

	if (!f)
		return os_fail(path, e);
	is_written = fwrite(page->s, 1, page->n, f) == page->n;
	return fclose(f) || !is_written ? os_fail(path, e) : ERR_OK;
}

/* A device, a pipe or a link is written to: it must not be replaced by a file. */
static bool is_special(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !S_ISREG(st.st_mode);
}

/* Beside the file first, so that a report that is there stays whole until the new one is. */
static enum err_code replace(const char *path, const struct text *page, struct err *e)
{
	struct text beside = {0};
	enum err_code rc;

	text_printf(&beside, "%s.part", path);
	rc = write_all(text_str(&beside), page, e);
	if (!rc && rename(text_str(&beside), path))
		rc = os_fail(path, e);
	if (rc)
		remove(text_str(&beside));
	text_free(&beside);
	return rc;
}

enum err_code page_write(const char *path, const struct text *json, struct err *e)
{
	struct text page = {0};
	enum err_code rc;

	text_add(&page, report_page_head);
	page_add_data(&page, text_str(json), json->n);
	text_add(&page, report_page_tail);
	rc = is_special(path) ? write_all(path, &page, e) : replace(path, &page, e);
	text_free(&page);
	return rc;
}
