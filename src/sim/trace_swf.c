/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_swf.h"

#include <inttypes.h>

#include "base/clock.h"
#include "manifest/fields.h"
#include "sim/trace_csv.h"

enum { UNKNOWN = -1, FIELD_SHOWN_MAX = 60 };

enum swf_field { /* as the format numbers them, from 1 */
		 JOB = 1,
		 SUBMIT = 2,
		 RUN = 4,
		 ALLOCATED = 5,
		 USED_MEMORY = 7,
		 REQUESTED = 8,
		 REQUESTED_MEMORY = 10,
		 USER = 12,
		 GROUP = 13,
		 QUEUE = 15,
		 PARTITION = 16,
};

static const char *const field_names[SWF_FIELDS + 1] = {
	[1] = "job number",	[2] = "submit time",	   [3] = "wait time", [4] = "run time",
	[5] = "processors",	[6] = "CPU time",	   [7] = "memory",    [8] = "requested processors",
	[9] = "requested time", [10] = "requested memory", [11] = "status",   [12] = "user",
	[13] = "group",		[14] = "executable",	   [15] = "queue",    [16] = "partition",
	[17] = "preceding job", [18] = "think time",
};

void swf_begin(struct swf_reader *r, struct trace_input *in)
{
	*r = (struct swf_reader){.in = in};
}

void swf_end(struct swf_reader *r)
{
	text_free(&r->words);
}

static enum err_code read_line(struct swf_reader *r, bool *ret_has_line, struct err *e)
{
	int c;

	text_reset(&r->words);
	r->line++;
	while ((c = trace_input_next(r->in)) >= 0 && c != '\n') {
		if (c == '\0')
			return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ": a NUL byte: this is no text", r->in->name,
					r->line);
		if (r->words.n >= SWF_LINE_BYTES_MAX)
			return err_fail(e, ERR_LIMIT, "%s:%" PRIu32 ": a line of more than 64 KiB", r->in->name,
					r->line);
		text_add_char(&r->words, (char)c);
	}
	if (c == TRACE_FAILED)
		return trace_input_error(r->in, e);
	*ret_has_line = c == '\n' || r->words.n;
	return ERR_OK;
}

/* ---- comments ---- */

static bool comment_number(const char *s, const char *name, int64_t *ret)
{
	const char *end;

	s += strspn(s, "; \t");
	if (!str_starts(s, name) || s[strlen(name)] != ':')
		return false;
	s += strlen(name) + 1;
	s += strspn(s, " \t");
	end = s + strspn(s, "0123456789");
	return trace_parse_int(s, (size_t)(end - s), ret);
}

static void read_comment(struct swf_reader *r)
{
	int64_t v;

	if (comment_number(r->words.s, "UnixStartTime", &v) && v <= INT64_MAX / NS_PER_S)
		r->start_ns = time_multiply(v, NS_PER_S);
	if (comment_number(r->words.s, "MaxProcs", &v) && v <= SWF_PROCESSORS_MAX)
		r->n_processors = v;
	if (!r->n_processors && comment_number(r->words.s, "MaxNodes", &v) && v <= SWF_PROCESSORS_MAX)
		r->n_processors = v;
}

/* ---- jobs ---- */

struct swf_word {
	const char *s;
	size_t n;
};

struct swf_line {
	const struct swf_reader *r;
	struct swf_word words[SWF_FIELDS + 1];
	struct err *e;
};

static enum err_code bad(const struct swf_line *l, enum swf_field field, const char *what)
{
	const struct swf_word *w = &l->words[field];

	return err_fail(l->e, ERR_INPUT, "%s:%" PRIu32 ":%zu: %s: '%.*s' is not %s", l->r->in->name, l->r->line,
			(size_t)(w->s - l->r->words.s) + 1, field_names[field],
			(int)(w->n < FIELD_SHOWN_MAX ? w->n : FIELD_SHOWN_MAX), w->s, what);
}

static enum err_code split(struct swf_line *l)
{
	const char *s = l->r->words.s;
	int n = 0;

	for (;;) {
		size_t len;

		s += strspn(s, " \t\r");
		len = strcspn(s, " \t\r");
		if (!len)
			break;
		if (++n > SWF_FIELDS)
			break;
		l->words[n] = (struct swf_word){s, len};
		s += len;
	}
	if (n == SWF_FIELDS)
		return ERR_OK;
	return err_fail(l->e, ERR_INPUT, "%s:%" PRIu32 ": %s than the %d numbers of a job", l->r->in->name, l->r->line,
			n < SWF_FIELDS ? "less" : "more", SWF_FIELDS);
}

/* A whole number or -1; archives write some of them with a fraction, which is dropped. */
static enum err_code number(const struct swf_line *l, enum swf_field field, int64_t max, int64_t *ret)
{
	const struct swf_word *w = &l->words[field];
	char what[80];
	int64_t v;
	const char *point = memchr(w->s, '.', w->n);
	size_t whole = point ? (size_t)(point - w->s) : w->n;

	if (trace_parse_int(w->s, whole, &v) && v >= UNKNOWN && v <= max &&
	    (!point || strspn(point + 1, "0123456789") >= w->n - whole - 1)) {
		*ret = v;
		return ERR_OK;
	}
	snprintf(what, sizeof(what), "a number from 0 to %" PRId64 ", or -1 for not known", max);
	return bad(l, field, what);
}

static enum err_code seconds(const struct swf_line *l, enum swf_field field, int64_t *ret_ns)
{
	const struct swf_word *w = &l->words[field];

	if (w->n == 2 && !strncmp(w->s, "-1", 2)) {
		*ret_ns = TIME_NONE;
		return ERR_OK;
	}
	if (trace_parse_seconds(w->s, w->n, ret_ns))
		return ERR_OK;
	return bad(l, field, "a number of seconds from 0 on, or -1 for not known");
}

static enum err_code read_size(const struct swf_line *l, struct swf_job *job)
{
	int64_t allocated, requested, used_kib, requested_kib;
	const int64_t kib_max = INT64_C(1) << 40;

	TRY(number(l, ALLOCATED, SWF_PROCESSORS_MAX, &allocated));
	TRY(number(l, REQUESTED, SWF_PROCESSORS_MAX, &requested));
	TRY(number(l, USED_MEMORY, kib_max, &used_kib));
	TRY(number(l, REQUESTED_MEMORY, kib_max, &requested_kib));
	job->processors = (uint32_t)(requested > 0 ? requested : allocated > 0 ? allocated : 0);
	if (requested_kib < 0)
		requested_kib = used_kib;
	job->memory_bytes = requested_kib < 0 ? -1 : requested_kib << 10;
	return ERR_OK;
}

static enum err_code read_owner(const struct swf_line *l, struct swf_job *job)
{
	TRY(number(l, USER, INT32_MAX, &job->user));
	TRY(number(l, GROUP, INT32_MAX, &job->group));
	TRY(number(l, QUEUE, INT32_MAX, &job->queue));
	return number(l, PARTITION, INT32_MAX, &job->partition);
}

static enum err_code read_job(const struct swf_reader *r, struct swf_job *ret, struct err *e)
{
	struct swf_line l = {.r = r, .e = e};
	struct swf_job job = {.line = r->line};

	TRY(split(&l));
	TRY(number(&l, JOB, INT64_MAX, &job.number));
	TRY(seconds(&l, SUBMIT, &job.submit_ns));
	TRY(seconds(&l, RUN, &job.duration_ns));
	TRY(read_size(&l, &job));
	TRY(read_owner(&l, &job));
	job.is_usable = job.submit_ns != TIME_NONE && job.duration_ns != TIME_NONE && job.processors;
	*ret = job;
	return ERR_OK;
}

enum err_code swf_next(struct swf_reader *r, struct swf_job *ret, bool *ret_has_job, struct err *e)
{
	bool has_line = false;

	for (;;) {
		const char *s;

		TRY(read_line(r, &has_line, e));
		*ret_has_job = has_line;
		if (!has_line)
			return ERR_OK;
		s = text_str(&r->words);
		s += strspn(s, " \t\r");
		if (*s == ';')
			read_comment(r);
		else if (*s)
			return read_job(r, ret, e);
	}
}
