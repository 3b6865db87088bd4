/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/tree_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SLAB_MIN 4096u
#define SLAB_MAX 16384u
#define FEW_FIELDS 16u /* up to here comparing each with each is the fastest */

const char tree_merge_key[] = "<<";

void reader_complain(struct tree_reader *r, enum err_code code, struct tree_at at, const char *fmt, ...)
{
	char words[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	err_fail(r->e, code, "%s:%u:%u: %s", r->name, at.line, at.col, words);
}

uint32_t utf8_length(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t left = (size_t)(end - p);
	if (left == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (left < 2 || (s[1] & 0xC0) != 0x80)
		return 0;
	if (s[0] >= 0xC2 && s[0] <= 0xDF)
		return 2;
	/* The second byte alone tells overlong forms, surrogates and numbers past U+10FFFF. */
	if (left < 3 || (s[2] & 0xC0) != 0x80)
		return 0;
	if (s[0] >= 0xE0 && s[0] <= 0xEF)
		return (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ? 0 : 3;
	if (left < 4 || (s[3] & 0xC0) != 0x80 || s[0] < 0xF0 || s[0] > 0xF4)
		return 0;
	return (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F) ? 0 : 4;
}

uint32_t utf8_decode(const char *p, uint32_t n)
{
	uint32_t c = (unsigned char)p[0];
	if (n > 1)
		c &= 0xFFu >> (n + 1);
	for (uint32_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3Fu);
	return c;
}

uint32_t utf8_encode(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (uint32_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3F));
	out[0] = (char)(0xF00u >> n | c); /* n ones and a zero in front */
	return n;
}

uint32_t utf8_count(const char *p, const char *end)
{
	uint32_t n = 0;
	for (; p < end; p++)
		n += ((unsigned char)*p & 0xC0) != 0x80;
	return n;
}

struct shown show_text(const char *s, size_t n)
{
	struct shown out = {""};
	const size_t room = sizeof(out.s) - sizeof("…");
	size_t used = 0;
	for (const char *p = s, *end = s + n; p < end;) {
		uint32_t len = utf8_length(p, end);
		uint32_t c = len > 0 ? utf8_decode(p, len) : 0;
		bool is_fit = c >= 0x20 && c != 0x7F && !(c >= 0x80 && c < 0xA0);
		len = len > 0 ? len : 1;
		if (used + (is_fit ? len : 4) > room) {
			snprintf(out.s + used, sizeof(out.s) - used, "…");
			break;
		}
		if (is_fit)
			memcpy(out.s + used, p, len);
		else
			snprintf(out.s + used, 5, "\\x%02x", (unsigned)(unsigned char)*p);
		used += is_fit ? len : 4;
		p += is_fit ? len : 1;
	}
	return out;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct shown show_found(const char *p, const char *end)
{
	struct shown out;
	if (p >= end)
		return (struct shown){"the end of the input"};
	uint32_t n = utf8_length(p, end);
	if (n == 0 || (n == 1 && ((unsigned char)*p < 0x20 || *p == 0x7F))) {
		snprintf(out.s, sizeof(out.s), "byte 0x%02x", (unsigned)(unsigned char)*p);
		return out;
	}
	while (is_word(*p) && n < 40 && p + n < end && is_word(p[n]))
		n++;
	snprintf(out.s, sizeof(out.s), "'%.70s'", show_text(p, n).s);
	return out;
}

void build_begin(struct tree_build *b, struct arena *a)
{
	b->a = a;
	b->cells = b->letters = (struct slab){.next_size = SLAB_MIN};
	b->n_values = 0;
}

/* A piece that leaves less over than the slab has is not worth changing to. */
void *slab_refill(struct tree_build *b, struct slab *s, size_t size)
{
	if (size > s->next_size / 4)
		return arena_take(b->a, size);
	s->p = arena_take(b->a, s->next_size);
	s->left = s->next_size;
	if (s->next_size < SLAB_MAX)
		s->next_size *= 2;
	void *p = s->p;
	s->p += size;
	s->left -= size;
	return p;
}

enum err_code build_check_key(struct tree_reader *r, size_t key_len, struct tree_at at)
{
	if (key_len > TREE_MAX_KEY)
		return reader_fail(r, ERR_LIMIT, at, "a key of %zu bytes; at most %u are read", key_len, TREE_MAX_KEY);
	return ERR_OK;
}

void build_close_list(struct tree_build *b, struct tree *node, uint32_t start)
{
	uint32_t n = b->items.n - start;
	node->n = n;
	node->items = NULL;
	if (n > 0) {
		const struct tree **items = build_cells(b, n * sizeof(items[0]));
		memcpy(items, b->items.v + start, n * sizeof(items[0]));
		node->items = items;
	}
	b->items.n = start;
}

static int compare_keys(const struct tree_field *x, const struct tree_field *y)
{
	if (x->key_len != y->key_len)
		return x->key_len < y->key_len ? -1 : 1;
	return memcmp(x->key, y->key, x->key_len);
}

static int compare_order(const void *a, const void *b, void *fields)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = compare_keys((struct tree_field *)fields + x, (struct tree_field *)fields + y);
	return c != 0 ? c : x < y ? -1 : x > y;
}

/* Numbers of the n fields sorted by key, equal ones in the order written. The caller frees. */
static uint32_t *sorted_order(struct tree_field *f, uint32_t n)
{
	uint32_t *order = mem_resize(NULL, n, sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_order, f);
	return order;
}

static enum err_code fail_duplicate(struct tree_reader *r, const struct tree_field *first,
				    const struct tree_field *again)
{
	return reader_fail(r, ERR_INPUT, (struct tree_at){again->line, again->col},
			   "duplicate key '%s', first at %u:%u", show_text(again->key, again->key_len).s, first->line,
			   first->col);
}

static enum err_code check_many(struct tree_reader *r, struct tree_field *f, uint32_t n)
{
	uint32_t first = n, again = n;
	AUTO_FREE uint32_t *order = sorted_order(f, n);
	for (uint32_t i = 1; i < n; i++) {
		if (order[i] < again && compare_keys(&f[order[i - 1]], &f[order[i]]) == 0) {
			first = order[i - 1];
			again = order[i];
		}
	}
	return again < n ? fail_duplicate(r, &f[first], &f[again]) : ERR_OK;
}

enum err_code build_check_fields(struct tree_reader *r, uint32_t start)
{
	uint32_t n = r->b.fields.n - start;
	if (n < 2)
		return ERR_OK;
	struct tree_field *f = r->b.fields.v + start;
	if (n > FEW_FIELDS)
		return check_many(r, f, n);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (f[i].key_len == f[k].key_len && memcmp(f[i].key, f[k].key, f[i].key_len) == 0)
				return fail_duplicate(r, &f[k], &f[i]);
	return ERR_OK;
}

static enum err_code push_merged(struct tree_reader *r, const struct tree_field *merge, const struct tree *from)
{
	if (!tree_is(from, TREE_MAP))
		return reader_fail(r, ERR_INPUT, (struct tree_at){merge->line, merge->col},
				   "the value of << must be a map or a list of maps, found %s",
				   tree_kind_text(from->kind));
	for (uint32_t i = 0; i < from->n; i++)
		array_push(&r->b.fields, from->fields[i]);
	return ERR_OK;
}

/* Take the merge field out and put the fields it brings behind all others. */
static enum err_code expand_merge(struct tree_reader *r, uint32_t at)
{
	struct tree_field merge = r->b.fields.v[at];
	array_remove(&r->b.fields, at);
	if (!tree_is(merge.value, TREE_LIST))
		return push_merged(r, &merge, merge.value);
	for (uint32_t i = 0; i < merge.value->n; i++)
		TRY(push_merged(r, &merge, merge.value->items[i]));
	return ERR_OK;
}

/* Of equal keys the first stays: own fields come before merged ones, and those in the order of their maps. */
static void drop_overridden(struct tree_build *b, uint32_t start)
{
	struct tree_field *f = b->fields.v + start;
	uint32_t n = b->fields.n - start, kept = 0;
	AUTO_FREE uint32_t *order = sorted_order(f, n);
	AUTO_FREE bool *is_dropped = mem_alloc(n);
	for (uint32_t i = 1; i < n; i++)
		is_dropped[order[i]] = compare_keys(&f[order[i - 1]], &f[order[i]]) == 0;
	for (uint32_t i = 0; i < n; i++)
		if (!is_dropped[i])
			f[kept++] = f[i];
	b->fields.n = start + kept;
}

/* There is at most one merge field: two would be a duplicate key. */
static enum err_code merge_fields(struct tree_reader *r, uint32_t start)
{
	for (uint32_t i = start; i < r->b.fields.n; i++) {
		if (r->b.fields.v[i].key == tree_merge_key) {
			TRY(expand_merge(r, i));
			drop_overridden(&r->b, start);
			break;
		}
	}
	return ERR_OK;
}

enum err_code build_close_map(struct tree_reader *r, struct tree *node, uint32_t start)
{
	struct tree_build *b = &r->b;
	TRY(build_check_fields(r, start));
	if (r->yaml != NULL)
		TRY(merge_fields(r, start));
	uint32_t n = b->fields.n - start;
	node->n = n;
	node->fields = NULL;
	if (n > 0) {
		struct tree_field *fields = build_cells(b, n * sizeof(fields[0]));
		memcpy(fields, b->fields.v + start, n * sizeof(fields[0]));
		node->fields = fields;
	}
	b->fields.n = start;
	return ERR_OK;
}

static const struct tree **copy_items(struct tree_build *b, const struct tree *t)
{
	const struct tree **items = build_cells(b, t->n * sizeof(items[0]));
	for (uint32_t i = 0; i < t->n; i++)
		items[i] = build_copy(b, t->items[i]);
	return items;
}

static struct tree_field *copy_fields(struct tree_build *b, const struct tree *t)
{
	struct tree_field *fields = build_cells(b, t->n * sizeof(fields[0]));
	for (uint32_t i = 0; i < t->n; i++) {
		fields[i] = t->fields[i];
		fields[i].key = build_text(b, t->fields[i].key, t->fields[i].key_len);
		fields[i].value = build_copy(b, t->fields[i].value);
	}
	return fields;
}

/* Recursion ends at TREE_MAX_DEPTH, which every tree keeps. */
const struct tree *build_copy(struct tree_build *b, const struct tree *t)
{
	struct tree *copy = build_node(b, t->kind, (struct tree_at){t->line, t->col});
	copy->n = t->n;
	copy->truth = t->truth;
	if (t->kind == TREE_LIST)
		copy->items = copy_items(b, t);
	else if (t->kind == TREE_MAP)
		copy->fields = copy_fields(b, t);
	else
		copy->text = build_text(b, t->text, t->n);
	return copy;
}
