/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the decisions or the settings of a run. Whatever can be read is written again as something that reads as
 * the same, and no number asks for more memory than its bytes pay for.
 */
#include <stdlib.h>
#include <string.h>

#include "journal/coding.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

typedef bool decode_function(const char *s, size_t n, struct journal_run *run);
typedef void code_function(const struct journal_run *run, struct text *t);

static void check(const char *s, size_t n, decode_function *decode, code_function *code)
{
	struct journal_run run = {.arena = arena_new(4096)}, again = {.arena = arena_new(4096)};
	struct text first = {0}, second = {0};

	if (decode(s, n, &run)) {
		code(&run, &first);
		HOLDS(decode(first.s, first.n, &again));
		code(&again, &second);
		HOLDS(first.n == second.n && !memcmp(first.s, second.s, first.n));
	}
	HOLDS(arena_bytes(run.arena) < 65536 + 64 * n);
	journal_run_free(&run);
	journal_run_free(&again);
	text_free(&first);
	text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	check((const char *)data, n, decode_decisions, code_decisions);
	check((const char *)data, n, decode_settings, code_settings);
	return 0;
}
