/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coding.h - numbers and texts in a row of bytes: what lists of chunks and recorded decisions are made of. Inside
 * journal/ only.
 *
 * A number takes seven bits a byte, the lowest first; a text is its length and its bytes. Whoever reads past the end,
 * or finds a number that is too long, gets zeros and is told once, in is_bad.
 */
#pragma once

#include "base/text.h"
#include "journal/journal.h"

void code_number(struct text *t, uint64_t n);
void code_word64(struct text *t, uint64_t n); /* eight bytes: for what is not small */
void code_str(struct text *t, const char *s);

struct decoder {
	const unsigned char *p, *end;
	bool is_bad;
};
struct decoder decoder_of(const void *p, size_t n);
uint64_t decode_number(struct decoder *d);
uint64_t decode_word64(struct decoder *d);
const char *decode_str(struct decoder *d, struct arena *a); /* "" shares one place */
bool decoder_is_done(const struct decoder *d);		    /* at the end, and nothing was bad */

void code_settings(const struct journal_run *run, struct text *t);
void code_decisions(const struct journal_run *run, struct text *t);
/* False if the bytes are none. */
bool decode_settings(const char *s, size_t n, struct journal_run *run);
bool decode_decisions(const char *s, size_t n, struct journal_run *run);
