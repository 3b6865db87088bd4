/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as RFC 8259 has it, in one pass and without recursion. Most of a cluster's JSON is strings without escapes, and
 * blanks: both are stepped over several bytes at a time, and such strings are copied in the same step.
 */
#include <endian.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "manifest/tree_reader.h"

#define ALL_BYTES(c) (UINT64_C(0x0101010101010101) * (c))
#define HIGH_BITS ALL_BYTES(0x80)

static inline uint64_t load8(const char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* High bits of the bytes of v that are zero. A borrow may mark bytes above a zero one: only the lowest mark counts. */
static inline uint64_t zero_bytes(uint64_t v)
{
	return (v - ALL_BYTES(1)) & ~v & HIGH_BITS;
}

/* Does c say something within a string: a quote, a backslash, a control character, part of a longer character? */
static inline bool is_special(char c)
{
	return (unsigned char)c < 0x20 || (unsigned char)c >= 0x80 || c == '"' || c == '\\';
}

static inline const char *skip_ordinary(const char *p, const char *end)
{
	for (; end - p >= 8; p += 8) {
		uint64_t v = load8(p);
		uint64_t special = zero_bytes(v ^ ALL_BYTES('"')) | zero_bytes(v ^ ALL_BYTES('\\')) |
				   ((v - ALL_BYTES(0x20)) & ~v & HIGH_BITS) | (v & HIGH_BITS);
		if (special != 0)
			return p + __builtin_ctzll(special) / 8;
	}
	while (p < end && !is_special(*p))
		p++;
	return p;
}

static inline struct tree_at at(const struct json *j, const char *p)
{
	return (struct tree_at){j->line, (uint32_t)(p - j->line_start) + 1};
}

static inline char peek_char(const struct json *j)
{
	if (j->p == j->end)
		return '\0';
	return *j->p;
}

static void skip_blank_run(struct json *j)
{
	const char *p = j->p, *end = j->end;
	for (;; p++) {
		while (end - p >= 8 && load8(p) == ALL_BYTES(' '))
			p += 8;
		if (p == end || (unsigned char)*p > ' ')
			break;
		if (*p == '\n') {
			j->line++;
			j->line_start = p + 1;
		} else if (*p != ' ' && *p != '\t' && *p != '\r') {
			break;
		}
	}
	j->p = p;
}

static inline void skip_space(struct json *j)
{
	if (j->p == j->end || (unsigned char)*j->p <= ' ')
		skip_blank_run(j);
}

static enum err_code fail_here(struct tree_reader *r, const char *expected)
{
	struct json *j = &r->json;
	return reader_fail(r, ERR_INPUT, at(j, j->p), "expected %s, found %s", expected, show_found(j->p, j->end).s);
}

static enum err_code fail_in_string(struct tree_reader *r, const char *p, struct tree_at start)
{
	unsigned char c = p < r->json.end ? (unsigned char)*p : 0;
	if (p >= r->json.end)
		return reader_fail(r, ERR_INPUT, start, "a string that begins here is not closed");
	if (c == '\n' || c == '\r')
		return reader_fail(r, ERR_INPUT, at(&r->json, p),
				   "a line break in a string; is its closing '\"' missing?");
	if (c < 0x20)
		return reader_fail(r, ERR_INPUT, at(&r->json, p), "control character 0x%02x in a string; write \\u%04x",
				   (unsigned)c, (unsigned)c);
	return reader_fail(r, ERR_INPUT, at(&r->json, p), "invalid UTF-8: byte 0x%02x", (unsigned)c);
}

/* From the opening quote past the closing one. */
static enum err_code skip_string(struct tree_reader *r, bool *ret_has_escape)
{
	struct json *j = &r->json;
	struct tree_at start = at(j, j->p);
	*ret_has_escape = false;
	for (const char *p = j->p + 1;;) {
		p = skip_ordinary(p, j->end);
		if (p == j->end)
			return fail_in_string(r, p, start);
		if (*p == '"') {
			j->p = p + 1;
			return ERR_OK;
		}
		if (*p == '\\') {
			*ret_has_escape = true;
			p += j->end - p >= 2 && (p[1] == '"' || p[1] == '\\') ? 2 : 1;
			continue;
		}
		uint32_t n = (unsigned char)*p < 0x20 ? 0 : utf8_length(p, j->end);
		if (n == 0)
			return fail_in_string(r, p, start);
		j->line_start += n - 1;
		p += n;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits of a \u escape; -1 if they are not. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t v = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int d = hex_digit(p[i]);
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static bool is_surrogate(int32_t c, int32_t first)
{
	return c >= first && c < first + 0x400;
}

/* The character of the escape at *pp, a backslash, which is stepped over; on failure what is wrong with it. */
static const char *read_escape(const char **pp, const char *end, uint32_t *ret)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *p = *pp + 1;
	const char *name = p < end && *p != '\0' ? strchr(names, *p) : NULL;
	if (name != NULL) {
		*ret = (unsigned char)meant[name - names];
		*pp = p + 1;
		return NULL;
	}
	if (p == end || *p != 'u')
		return "unknown escape";
	int32_t c = hex4(p + 1, end);
	if (c < 0)
		return "expected four hexadecimal digits after";
	if (c == 0)
		return "NUL is not allowed in text:";
	*pp = p + 5;
	if (is_surrogate(c, 0xD800) && end - *pp >= 2 && (*pp)[0] == '\\' && (*pp)[1] == 'u') {
		int32_t low = hex4(*pp + 2, end);
		if (is_surrogate(low, 0xDC00)) {
			c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
			*pp += 6;
		}
	}
	if (c >= 0xD800 && c <= 0xDFFF)
		return "a surrogate without its other half:";
	*ret = (uint32_t)c;
	return NULL;
}

/* The letters between first and end, where escapes stand, into out, which has room for them as written. */
static enum err_code unescape(struct tree_reader *r, struct tree_at start, const char *first, const char *end,
			      char *out, uint32_t *ret_n)
{
	char *o = out;
	for (const char *p = first; p < end;) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		size_t n = (size_t)((stop != NULL ? stop : end) - p);
		memcpy(o, p, n);
		o += n;
		p += n;
		if (p == end)
			break;
		uint32_t c;
		const char *escape = p, *wrong = read_escape(&p, end, &c);
		if (wrong != NULL) {
			start.col += 1 + utf8_count(first, escape);
			size_t shown = escape + 1 < end && escape[1] == 'u' ? 6 : 1 + utf8_length(escape + 1, end);
			shown = shown < (size_t)(end - escape) ? shown : (size_t)(end - escape);
			return reader_fail(r, ERR_INPUT, start, "%s '%s' in a string", wrong,
					   show_text(escape, shown).s);
		}
		o += utf8_encode(c, o);
	}
	*o = '\0';
	*ret_n = (uint32_t)(o - out);
	return ERR_OK;
}

/* Copies STEP letters and says how many of them come before the first that is_special; STEP: all. */
#ifdef __SSE2__
enum { STEP = 16 };
static inline uint32_t copy_step(char *out, const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i quoted = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
	/* letters from 0x80 on are below 0, too */
	__m128i special = _mm_or_si128(quoted, _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
	_mm_storeu_si128((__m128i *)(void *)out, v);
	return (uint32_t)__builtin_ctz((uint32_t)_mm_movemask_epi8(special) | 1u << STEP);
}
#else
enum { STEP = 8 };
static inline uint32_t copy_step(char *out, const char *p)
{
	memcpy(out, p, STEP);
	return (uint32_t)(skip_ordinary(p, p + STEP) - p);
}
#endif

/* A string of nothing but ordinary letters is copied as it is looked at. False: it is none, or there is no room. */
static inline bool read_ordinary(struct tree_reader *r, const char **ret, uint32_t *ret_n)
{
	struct slab *s = &r->b.letters;
	const char *p = r->json.p + 1;
	size_t room = (size_t)(r->json.end - p) < s->left ? (size_t)(r->json.end - p) : s->left;
	for (size_t n = 0; n + STEP <= room; n += STEP) {
		uint32_t ordinary = copy_step(s->p + n, p + n);
		if (ordinary == STEP)
			continue;
		n += ordinary;
		if (p[n] != '"')
			return false;
		s->p[n] = '\0';
		*ret = s->p;
		*ret_n = (uint32_t)n;
		s->p += n + 1;
		s->left -= n + 1;
		r->json.p = p + n + 1;
		return true;
	}
	return false;
}

static enum err_code read_string(struct tree_reader *r, const char **ret, uint32_t *ret_n)
{
	if (read_ordinary(r, ret, ret_n))
		return ERR_OK;
	struct json *j = &r->json;
	struct tree_at start = at(j, j->p);
	const char *first = j->p + 1;
	bool has_escape;
	TRY(skip_string(r, &has_escape));
	const char *end = j->p - 1;
	size_t n = (size_t)(end - first);
	if (!has_escape) {
		*ret = build_text(&r->b, first, n);
		*ret_n = (uint32_t)n;
		return ERR_OK;
	}
	char *out = build_letters(&r->b, n + 1);
	*ret = out;
	return unescape(r, start, first, end, out, ret_n);
}

/* A key and its colon; the value stands next. */
static enum err_code read_key(struct tree_reader *r, const char *expected, struct tree_field *ret)
{
	struct json *j = &r->json;
	skip_space(j);
	if (peek_char(j) != '"')
		return fail_here(r, expected);
	struct tree_at start = at(j, j->p);
	ret->line = start.line;
	ret->col = start.col;
	ret->value = NULL;
	TRY(read_string(r, &ret->key, &ret->key_len));
	if (ret->key_len > TREE_MAX_KEY)
		return build_check_key(r, ret->key_len, start);
	skip_space(j);
	if (peek_char(j) != ':')
		return fail_here(r, "':' after a key");
	j->p++;
	return ERR_OK;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static enum err_code skip_digits(struct tree_reader *r, const char *expected)
{
	struct json *j = &r->json;
	if (!is_digit(peek_char(j)))
		return fail_here(r, expected);
	while (is_digit(peek_char(j)))
		j->p++;
	return ERR_OK;
}

static enum err_code read_number(struct tree_reader *r, struct tree *node)
{
	struct json *j = &r->json;
	const char *start = j->p;
	if (*j->p == '-')
		j->p++;
	const char *first = j->p;
	TRY(skip_digits(r, "a digit after '-'"));
	if (*first == '0' && j->p > first + 1)
		return reader_fail(r, ERR_INPUT, at(j, start), "a number must not begin with 0");
	if (peek_char(j) == '.') {
		j->p++;
		TRY(skip_digits(r, "a digit after '.' in a number"));
	}
	if (peek_char(j) == 'e' || peek_char(j) == 'E') {
		j->p++;
		if (peek_char(j) == '+' || peek_char(j) == '-')
			j->p++;
		TRY(skip_digits(r, "a digit in the exponent of a number"));
	}
	node->kind = TREE_NUMBER;
	node->n = (uint32_t)(j->p - start);
	node->text = build_text(&r->b, start, node->n);
	return ERR_OK;
}

static bool take_word(struct json *j, const char *word, size_t n)
{
	if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n) != 0)
		return false;
	j->p += n;
	return true;
}

static enum err_code read_word(struct tree_reader *r, struct tree *node)
{
	struct json *j = &r->json;
	if (take_word(j, "null", 4))
		return ERR_OK; /* a new node is null */
	bool truth = take_word(j, "true", 4);
	if (!truth && !take_word(j, "false", 5))
		return fail_here(r, "a value");
	node->kind = TREE_BOOL;
	node->truth = truth;
	node->text = truth ? "true" : "false";
	node->n = truth ? 4 : 5;
	return ERR_OK;
}

static enum err_code push_frame(struct tree_reader *r, uint32_t depth, struct tree *node, uint32_t start)
{
	struct json *j = &r->json;
	if (depth + j->n_open >= TREE_MAX_DEPTH)
		return reader_fail(r, ERR_LIMIT, (struct tree_at){node->line, node->col},
				   "nested deeper than %u levels", TREE_MAX_DEPTH);
	j->open[j->n_open++] = (struct json_frame){node, start};
	return ERR_OK;
}

static enum err_code begin_map(struct tree_reader *r, uint32_t depth, struct tree *node, bool *ret_is_open)
{
	struct json *j = &r->json;
	node->kind = TREE_MAP;
	node->fields = NULL;
	j->p++;
	TRY(push_frame(r, depth, node, r->b.fields.n));
	skip_space(j);
	*ret_is_open = peek_char(j) != '}';
	if (!*ret_is_open) {
		j->p++;
		j->n_open--;
		return ERR_OK;
	}
	struct tree_field f;
	TRY(read_key(r, "a key in double quotes or '}'", &f));
	array_push(&r->b.fields, f);
	return ERR_OK;
}

static enum err_code begin_list(struct tree_reader *r, uint32_t depth, struct tree *node, bool *ret_is_open)
{
	struct json *j = &r->json;
	node->kind = TREE_LIST;
	node->items = NULL;
	j->p++;
	TRY(push_frame(r, depth, node, r->b.items.n));
	skip_space(j);
	*ret_is_open = peek_char(j) != ']';
	if (!*ret_is_open) {
		j->p++;
		j->n_open--;
	}
	return ERR_OK;
}

/* Reads a scalar or an empty map or list whole, of others the opening: then the first value in them stands next. */
static enum err_code begin_value(struct tree_reader *r, uint32_t depth, struct tree **ret, bool *ret_is_open)
{
	struct json *j = &r->json;
	skip_space(j);
	struct tree *node = build_node(&r->b, TREE_NULL, at(j, j->p));
	*ret = node;
	*ret_is_open = false;
	if (r->b.n_values > r->max_values)
		return reader_fail(r, ERR_LIMIT, at(j, j->p), "more than %" PRIu64 " values in one document",
				   r->max_values);
	switch (peek_char(j)) {
	case '"':
		node->kind = TREE_STRING;
		return read_string(r, &node->text, &node->n);
	case '{':
		return begin_map(r, depth, node, ret_is_open);
	case '[':
		return begin_list(r, depth, node, ret_is_open);
	case '-':
	case '0' ... '9':
		return read_number(r, node);
	default:
		return read_word(r, node);
	}
}

/* After a value of the innermost map: to its next value, or out of it. */
static enum err_code step_map(struct tree_reader *r, const struct tree *value, const struct json_frame *f,
			      bool *ret_more)
{
	struct json *j = &r->json;
	array_last(&r->b.fields).value = value;
	skip_space(j);
	*ret_more = peek_char(j) == ',';
	if (!*ret_more && peek_char(j) != '}')
		return fail_here(r, "',' or '}' after a value");
	j->p++;
	if (!*ret_more)
		return build_close_map(r, f->node, f->start);
	struct tree_field next;
	TRY(read_key(r, "a key in double quotes after ','", &next));
	array_push(&r->b.fields, next);
	return ERR_OK;
}

static enum err_code step_list(struct tree_reader *r, const struct tree *value, const struct json_frame *f,
			       bool *ret_more)
{
	struct json *j = &r->json;
	array_push(&r->b.items, value);
	skip_space(j);
	*ret_more = peek_char(j) == ',';
	if (!*ret_more && peek_char(j) != ']')
		return fail_here(r, "',' or ']' after a value");
	j->p++;
	if (!*ret_more)
		build_close_list(&r->b, f->node, f->start);
	return ERR_OK;
}

static enum err_code json_value(struct tree_reader *r, uint32_t depth, const struct tree **ret)
{
	struct json *j = &r->json;
	struct tree *node;
	j->n_open = 0;
	do {
		bool is_open, more = false;
		TRY(begin_value(r, depth, &node, &is_open));
		while (!is_open && !more && j->n_open > 0) {
			const struct json_frame *f = &j->open[j->n_open - 1];
			if (f->node->kind == TREE_MAP)
				TRY(step_map(r, node, f, &more));
			else
				TRY(step_list(r, node, f, &more));
			if (!more) {
				node = f->node;
				j->n_open--;
			}
		}
	} while (j->n_open > 0);
	*ret = node;
	return ERR_OK;
}

static enum tree_next_is json_peek(struct tree_reader *r)
{
	skip_space(&r->json);
	char c = peek_char(&r->json);
	return c == '{' ? NEXT_MAP : c == '[' ? NEXT_LIST : NEXT_SCALAR;
}

/*
 * A YAML file may begin with a document that is JSON: "---" in a new line leads on to the others. Another map or list
 * is another document: what two kubectl wrote one after the other.
 */
static enum err_code json_next_root(struct tree_reader *r, enum tree_next_is *ret)
{
	struct json *j = &r->json;
	skip_space(j);
	bool is_start = !j->has_begun;
	if (is_start) {
		j->has_begun = true;
	} else if (j->line_start == j->p && j->end - j->p >= 3 && memcmp(j->p, "---", 3) == 0) {
		yaml_open(r, (size_t)(j->p - r->data), j->line);
		return r->source->next_root(r, ret);
	} else if (j->p < j->end && *j->p != '{' && *j->p != '[') {
		return fail_here(r, "the end of the input after the value");
	}
	*ret = is_start || j->p < j->end ? json_peek(r) : NEXT_NOTHING;
	return ERR_OK;
}

static enum err_code json_enter(struct tree_reader *r, struct tree_at *ret)
{
	skip_space(&r->json);
	*ret = at(&r->json, r->json.p);
	r->json.p++;
	return ERR_OK;
}

/* The comma between two values of an entered map or list, or its end. */
static enum err_code next_entered(struct tree_reader *r, bool is_first, char end, const char *expected, bool *ret_more)
{
	struct json *j = &r->json;
	skip_space(j);
	*ret_more = peek_char(j) != end;
	if (*ret_more && is_first)
		return ERR_OK;
	if (*ret_more && peek_char(j) != ',')
		return fail_here(r, expected);
	j->p++;
	return ERR_OK;
}

static enum err_code json_next_field(struct tree_reader *r, bool is_first, struct tree_field *ret, bool *ret_more)
{
	TRY(next_entered(r, is_first, '}', "',' or '}' after a value", ret_more));
	if (!*ret_more)
		return ERR_OK;
	return read_key(r, is_first ? "a key in double quotes or '}'" : "a key in double quotes after ','", ret);
}

static enum err_code json_next_item(struct tree_reader *r, bool is_first, bool *ret_more)
{
	return next_entered(r, is_first, ']', "',' or ']' after a value", ret_more);
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* Past the string at p, a quote; it is not checked. */
static const char *pass_string(const char *p, const char *end)
{
	for (p = skip_ordinary(p + 1, end); p < end && *p != '"'; p = skip_ordinary(p, end))
		p += *p == '\\' && end - p >= 2 ? 2 : 1;
	return p < end ? p + 1 : end;
}

/* Past the value at p, as far as quotes and brackets tell; it is not checked. depth brackets are open already. */
static const char *pass_value(const char *p, const char *end, uint32_t depth)
{
	while (p < end) {
		if (*p == '"') {
			p = pass_string(p, end);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && depth > 0)
			depth--;
		else if (depth == 0 && (*p == ',' || *p == '}' || *p == ']'))
			return p;
		p++;
	}
	return end;
}

static void note_ahead(struct tree_reader *r, const char *key, size_t n_key, const char *value, const char *end)
{
	const char *stop = value < end && *value == '"' ? memchr(value + 1, '"', (size_t)(end - value - 1)) : NULL;
	if (stop == NULL || memchr(value, '\\', (size_t)(stop - value)) != NULL)
		return;
	if (n_key == 4 && memcmp(key, "kind", n_key) == 0)
		r->kind = reader_own_text(r, value + 1, (size_t)(stop - value - 1));
	if (n_key == 10 && memcmp(key, "apiVersion", n_key) == 0)
		r->api = reader_own_text(r, value + 1, (size_t)(stop - value - 1));
}

/* What is wrong with the text is left for the reading proper to find. */
static void json_look_ahead(struct tree_reader *r)
{
	const char *end = r->json.end, *p = pass_value(r->json.p, end, 1);
	while (p < end && *p == ',') {
		const char *key = skip_blanks(p + 1, end);
		if (key == end || *key != '"')
			return;
		const char *key_end = pass_string(key, end), *colon = skip_blanks(key_end, end);
		if (colon == end || *colon != ':')
			return;
		const char *value = skip_blanks(colon + 1, end);
		p = pass_value(value, end, 0);
		note_ahead(r, key + 1, (size_t)(key_end - key - 2), value, p);
	}
}

static enum err_code json_keep(struct tree_reader *r)
{
	return ERR_OK; /* nothing in JSON refers to anything else */
}

static void json_close(struct tree_reader *r)
{
	r->json.p = r->json.end;
}

const struct tree_source json_source = {
	.next_root = json_next_root,
	.peek = json_peek,
	.value = json_value,
	.enter = json_enter,
	.next_field = json_next_field,
	.next_item = json_next_item,
	.look_ahead = json_look_ahead,
	.keep = json_keep,
	.close = json_close,
};

void json_open(struct tree_reader *r, size_t offset)
{
	const char *p = r->data + offset;
	r->json = (struct json){.p = p, .end = r->data + r->len, .line_start = p, .line = 1};
	r->source = &json_source;
}

enum err_code json_whole(struct tree_reader *r, const struct tree **ret)
{
	struct json *j = &r->json;
	json_open(r, 0);
	TRY(json_value(r, 0, ret));
	skip_space(j);
	return j->p < j->end ? fail_here(r, "the end of the input after the value") : ERR_OK;
}

static bool begins_with_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(end - p) < n || memcmp(p, word, n) != 0)
		return false;
	p = skip_blanks(p + n, end);
	return p == end || *p == ',' || *p == ']';
}

bool json_begins(const char *p, const char *end)
{
	p = skip_blanks(p, end);
	if (p == end || (*p != '{' && *p != '['))
		return false;
	bool is_list = *p == '[';
	p = skip_blanks(p + 1, end);
	if (p == end || *p == '"')
		return true;
	if (!is_list)
		return *p == '}';
	return *p == '{' || *p == '[' || *p == ']' || *p == '-' || is_digit(*p) || begins_with_word(p, end, "null") ||
	       begins_with_word(p, end, "true") || begins_with_word(p, end, "false");
}
