/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a time, and any eight bytes as nanoseconds. What is read must come back from its text unchanged. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "units/timestamp.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void check_text(int64_t ns)
{
	struct text t = {0};
	int64_t again;

	timestamp_text(ns, &t);
	HOLDS(t.n >= strlen("2026-11-15T12:03:10Z") && t.n <= strlen("2026-11-15T12:03:10.123456789Z"));
	HOLDS(timestamp_parse(text_str(&t), t.n, &again, NULL) == ERR_OK && again == ns);
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int64_t ns, raw;
	struct err e = {0};

	if (n == 0)
		return 0;
	enum err_code code = timestamp_parse((const char *)data, n, &ns, &e);
	if (code == ERR_OK)
		check_text(ns);
	else
		HOLDS((code == ERR_INPUT || code == ERR_LIMIT) && e.code == code && strncmp(e.msg, "bad time", 8) == 0);
	if (n == sizeof(raw)) {
		memcpy(&raw, data, sizeof(raw));
		if (raw != TIME_NONE) /* no time, so it has no text of its own */
			check_text(raw);
	}
	return 0;
}
