/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_input.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { BUFFER_BYTES = 1 << 16 };

enum err_code trace_input_open(struct trace_input *in, const char *path, struct err *e)
{
	*in = (struct trace_input){.name = path};
	in->file = str_eq(path, "-") ? stdin : fopen(path, "re");
	if (!in->file)
		return err_fail(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, "%s: %s", path, strerror(errno));
	in->buffer = mem_alloc(BUFFER_BYTES);
	in->data = in->buffer;
	return ERR_OK;
}

void trace_input_memory(struct trace_input *in, const char *name, const char *data, size_t n)
{
	*in = (struct trace_input){.name = name, .data = data, .n = n};
}

void trace_input_close(struct trace_input *in)
{
	if (in->file && in->file != stdin)
		fclose(in->file);
	mem_free(in->buffer);
	*in = (struct trace_input){0};
}

int trace_input_refill(struct trace_input *in)
{
	if (!in->file || in->os_error)
		return in->os_error ? TRACE_FAILED : TRACE_END;
	in->at = 0;
	in->n = fread(in->buffer, 1, BUFFER_BYTES, in->file);
	if (in->n)
		return (unsigned char)in->data[in->at++];
	if (!ferror(in->file))
		return TRACE_END;
	in->os_error = errno ? errno : EIO;
	return TRACE_FAILED;
}

enum err_code trace_input_error(const struct trace_input *in, struct err *e)
{
	return err_fail(e, ERR_IO, "%s: %s", in->name, strerror(in->os_error));
}
