/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/coding.h"

void code_number(struct text *t, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		text_add_char(t, (char)(n | 0x80));
	text_add_char(t, (char)n);
}

void code_word64(struct text *t, uint64_t n)
{
	for (int i = 0; i < 8; i++, n >>= 8)
		text_add_char(t, (char)(n & 0xff));
}

void code_str(struct text *t, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	code_number(t, n);
	text_add_n(t, s, n);
}

struct decoder decoder_of(const void *p, size_t n)
{
	return (struct decoder){.p = p, .end = (const unsigned char *)p + n};
}

static uint64_t bad(struct decoder *d)
{
	d->is_bad = true;
	d->p = d->end;
	return 0;
}

uint64_t decode_number(struct decoder *d)
{
	uint64_t n = 0;

	for (int shift = 0; shift < 64 && d->p < d->end; shift += 7) {
		unsigned char c = *d->p++;

		n |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return n;
	}
	return bad(d);
}

uint64_t decode_word64(struct decoder *d)
{
	uint64_t n = 0;

	if (d->end - d->p < 8)
		return bad(d);
	for (int i = 7; i >= 0; i--)
		n = n << 8 | d->p[i];
	d->p += 8;
	return n;
}

const char *decode_str(struct decoder *d, struct arena *a)
{
	uint64_t n = decode_number(d);
	const unsigned char *s = d->p;

	if (n > (uint64_t)(d->end - d->p)) {
		bad(d);
		return "";
	}
	d->p += n;
	return n ? arena_strndup(a, (const char *)s, n) : "";
}

bool decoder_is_done(const struct decoder *d)
{
	return !d->is_bad && d->p == d->end;
}

/* How many elements of at least so many bytes follow: no number can ask for more memory than its text pays for. */
static uint32_t decode_count(struct decoder *d, size_t least)
{
	uint64_t n = decode_number(d);

	return n <= (size_t)(d->end - d->p) / least ? (uint32_t)n : (uint32_t)bad(d);
}

/* ---- settings ---- */

void code_settings(const struct journal_run *run, struct text *t)
{
	code_number(t, run->n_settings);
	for (uint32_t i = 0; i < run->n_settings; i++) {
		code_str(t, run->settings[i].file);
		code_str(t, run->settings[i].document);
	}
}

bool decode_settings(const char *s, size_t n, struct journal_run *run)
{
	struct decoder d = decoder_of(s, n);

	run->n_settings = decode_count(&d, 2);
	run->settings = arena_n(run->arena, run->n_settings + 1, struct journal_setting);
	for (uint32_t i = 0; i < run->n_settings; i++) {
		run->settings[i].file = decode_str(&d, run->arena);
		run->settings[i].document = decode_str(&d, run->arena);
	}
	return decoder_is_done(&d);
}

/* ---- decisions ---- */

/* The texts of a decision and of a victim, in the order they are kept. */
#define DECISION_TEXTS(X) \
	X(pod) X(uid) X(group) X(queue) X(outcome) X(action) X(node) X(rule) X(until) X(message) X(json)
#define VICTIM_TEXTS(X) X(pod) X(uid) X(group) X(queue) X(node) X(workload) X(rule)

enum { VICTIM_LEAST = 9, DECISION_LEAST = 13 }; /* bytes, if all texts are empty */

static void code_victim(const struct journal_victim *v, struct text *t)
{
#define X(field) code_str(t, v->field);
	VICTIM_TEXTS(X)
#undef X
	code_number(t, (uint64_t)v->lost_seconds);
	code_number(t, v->was_leaving);
}

static void code_decision(const struct journal_decision *x, struct text *t)
{
	code_number(t, x->cycle);
#define X(field) code_str(t, x->field);
	DECISION_TEXTS(X)
#undef X
	code_number(t, x->n_victims);
	for (uint32_t i = 0; i < x->n_victims; i++)
		code_victim(&x->victims[i], t);
}

void code_decisions(const struct journal_run *run, struct text *t)
{
	code_number(t, run->n_decisions);
	for (uint32_t i = 0; i < run->n_decisions; i++)
		code_decision(&run->decisions[i], t);
}

static void decode_victim(struct decoder *d, struct arena *a, struct journal_victim *v)
{
#define X(field) v->field = decode_str(d, a);
	VICTIM_TEXTS(X)
#undef X
	v->lost_seconds = (int64_t)decode_number(d);
	v->was_leaving = decode_number(d);
}

static void decode_decision(struct decoder *d, struct arena *a, struct journal_decision *x)
{
	x->cycle = (uint32_t)decode_number(d);
#define X(field) x->field = decode_str(d, a);
	DECISION_TEXTS(X)
#undef X
	x->n_victims = decode_count(d, VICTIM_LEAST);
	x->victims = arena_n(a, x->n_victims + 1, struct journal_victim);
	for (uint32_t i = 0; i < x->n_victims && !d->is_bad; i++)
		decode_victim(d, a, &x->victims[i]);
}

bool decode_decisions(const char *s, size_t n, struct journal_run *run)
{
	struct decoder d = decoder_of(s, n);

	run->n_decisions = decode_count(&d, DECISION_LEAST);
	run->decisions = arena_n(run->arena, run->n_decisions + 1, struct journal_decision);
	for (uint32_t i = 0; i < run->n_decisions && !d.is_bad; i++)
		decode_decision(&d, run->arena, &run->decisions[i]);
	return decoder_is_done(&d);
}
