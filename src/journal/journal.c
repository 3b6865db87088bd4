/* SPDX-License-Identifier: Apache-2.0 */
/* Words, and what is asked of a journal without reading it. */
#include "journal/store.h"

static const char *const source_words[] = {
#define X(id, text) text,
	JOURNAL_SOURCE_LIST(X)
#undef X
};
static const char *const state_words[] = {
#define X(id, text) text,
	JOURNAL_STATE_LIST(X)
#undef X
};

const char *journal_source_text(enum journal_source s)
{
	return source_words[s];
}

const char *journal_state_text(enum journal_state s)
{
	return state_words[s];
}

bool journal_source_parse(const char *s, enum journal_source *ret)
{
	for (int i = 0; i < JOURNAL_SOURCES; i++)
		if (str_eq(source_words[i], s)) {
			*ret = (enum journal_source)i;
			return true;
		}
	return false;
}

bool journal_state_parse(const char *s, enum journal_state *ret)
{
	for (int i = 0; i < JOURNAL_STATES; i++)
		if (str_eq(state_words[i], s)) {
			*ret = (enum journal_state)i;
			return true;
		}
	return false;
}

bool journal_state_is_open(enum journal_state s)
{
	return s == JOURNAL_DECIDED || s == JOURNAL_CARRIED_OUT;
}

uint32_t journal_run_count(const struct journal *j)
{
	return j->runs.n;
}

int64_t journal_run_id(const struct journal *j, uint32_t i)
{
	return j->runs.v[i].id;
}

void journal_run_free(struct journal_run *run)
{
	arena_free(run->arena);
	*run = (struct journal_run){0};
}
