/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid.h - the uid of an object, which is 36 letters long and nobody else's.
 *
 * API servers write uids as UUIDs in lower case: those are kept as the 16 bytes that they are, without a string. Any
 * other uid is a name. Equal texts are equal values either way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"

struct uid { /* zero-initialised is none, and the empty text */
	uint64_t high;
	uint64_t low; /* if high is 0: a name_id, held */
};

struct uid_text {
	char s[37];
};

struct uid uid_hold(struct names *names, const char *s, size_t len);
void uid_keep(struct names *names, struct uid u); /* one more reference */
void uid_drop(struct names *names, struct uid u);

static inline bool uid_equal(struct uid a, struct uid b)
{
	return a.high == b.high && a.low == b.low;
}
static inline bool uid_is_none(struct uid u)
{
	return u.high == 0 && u.low == 0;
}
/* Its letters: written to *buf, or those of its name. */
const char *uid_str(const struct names *names, struct uid u, struct uid_text *buf);
int uid_cmp(const struct names *names, struct uid a, struct uid b); /* byte order of the texts */
name_id uid_hold_name(struct names *names, struct uid u);	    /* as a string of its own, with a reference */
/* A uid that is kept as a name. */
static inline struct uid uid_of_name(name_id name)
{
	return (struct uid){0, name};
}
