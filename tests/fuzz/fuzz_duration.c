/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a duration, and any eight bytes as nanoseconds. What is read must come back from its text unchanged. */
#include <stdlib.h>
#include <string.h>

#include "units/duration.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void check_texts(int64_t ns)
{
	struct text t = {0};
	int64_t again;

	duration_text(ns, &t);
	HOLDS(t.n >= 2 && t.n <= 32);
	HOLDS(duration_parse(text_str(&t), t.n, false, &again, NULL) == ERR_OK && again == ns);
	text_reset(&t);
	duration_text_short(ns, &t);
	HOLDS(t.n >= 2 && t.n <= 16);
	HOLDS(duration_parse(text_str(&t), t.n, true, &again, NULL) == ERR_OK);
	HOLDS(ns < 0 ? again <= 0 && again >= ns : again >= 0 && again <= ns);
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int64_t go = 0, with_days = 0, raw;
	struct err e = {0};

	if (n == 0)
		return 0;
	enum err_code code = duration_parse((const char *)data, n, true, &with_days, &e);
	if (code != ERR_OK)
		HOLDS((code == ERR_INPUT || code == ERR_LIMIT) && e.code == code &&
		      strncmp(e.msg, "bad duration", 12) == 0);
	else
		check_texts(with_days);
	/* Days and weeks only add to the grammar. */
	if (duration_parse((const char *)data, n, false, &go, NULL) == ERR_OK)
		HOLDS(code == ERR_OK && go == with_days);
	if (n == sizeof(raw)) {
		memcpy(&raw, data, sizeof(raw));
		check_texts(raw);
	}
	return 0;
}
