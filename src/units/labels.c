/* SPDX-License-Identifier: Apache-2.0 */
#include "units/labels.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 63
#define PREFIX_MAX_LEN 253
#define FEW 8 /* below this a straight scan beats halving */

/* What is printed of a text that is not acceptable; it may be megabytes long. */
#define SHOWN(len) ((int)((len) < 128 ? (len) : 128))

static void sort_few(struct label *kv, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct label x = kv[i];
		uint32_t at = i;
		for (; at > 0 && kv[at - 1].key > x.key; at--)
			kv[at] = kv[at - 1];
		kv[at] = x;
	}
}

struct placed_label {
	struct label kv;
	uint32_t place;
};

static int placed_cmp(const void *pa, const void *pb)
{
	const struct placed_label *a = pa, *b = pb;
	if (a->kv.key != b->kv.key)
		return a->kv.key < b->kv.key ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* qsort does not promise to keep the order of equal keys, and the last one has to win. */
static void sort_many(struct label *kv, uint32_t n)
{
	AUTO_FREE struct placed_label *v = mem_resize(NULL, n, sizeof(*v));
	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct placed_label){kv[i], i};
	qsort(v, n, sizeof(*v), placed_cmp);
	for (uint32_t i = 0; i < n; i++)
		kv[i] = v[i].kv;
}

uint32_t labels_sort(struct label *kv, uint32_t n)
{
	if (n <= 32)
		sort_few(kv, n);
	else
		sort_many(kv, n);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n && kv[i + 1].key == kv[i].key)
			continue;
		kv[kept++] = kv[i];
	}
	return kept;
}

bool labels_include(const struct labels *l, const struct labels *wanted)
{
	for (uint32_t i = 0; i < wanted->n; i++) {
		name_id value;
		if (!labels_get(l, wanted->kv[i].key, &value) || value != wanted->kv[i].value)
			return false;
	}
	return true;
}

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* Letters, digits, '-', '_' and '.', the first and the last of them a letter or digit. */
static bool is_name(const char *s, size_t len)
{
	if (len == 0 || !is_alnum(s[0]) || !is_alnum(s[len - 1]))
		return false;
	for (size_t i = 1; i + 1 < len; i++)
		if (!is_alnum(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.')
			return false;
	return true;
}

/* Lower-case letters, digits and '-' between dots; every piece starts and ends with a letter or digit. */
static bool is_dns_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool is_edge = i == 0 || s[i - 1] == '.' || i + 1 == len || s[i + 1] == '.';
		if (is_lower_alnum(s[i]))
			continue;
		if (is_edge || (s[i] != '-' && s[i] != '.'))
			return false;
	}
	return len > 0;
}

static enum err_code bad_key(struct err *e, const char *s, size_t len, const char *what)
{
	return err_fail(e, ERR_INPUT, "invalid label key '%.*s': %s", SHOWN(len), s, what);
}

static enum err_code key_name_check(const char *s, size_t len, const char *name, size_t name_len, struct err *e)
{
	if (name_len == 0)
		return bad_key(e, s, len, "name part must be non-empty");
	if (name_len > NAME_MAX_LEN)
		return bad_key(e, s, len, "name part must be no more than 63 characters");
	if (!is_name(name, name_len))
		return bad_key(e, s, len,
			       "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
			       "end with an alphanumeric character");
	return ERR_OK;
}

static enum err_code key_prefix_check(const char *s, size_t len, size_t prefix_len, struct err *e)
{
	if (prefix_len == 0)
		return bad_key(e, s, len, "prefix part must be non-empty");
	if (prefix_len > PREFIX_MAX_LEN)
		return bad_key(e, s, len, "prefix part must be no more than 253 characters");
	if (!is_dns_name(s, prefix_len))
		return bad_key(e, s, len,
			       "prefix part must consist of lower case alphanumeric characters, '-' or '.', and must "
			       "start and end with an alphanumeric character");
	return ERR_OK;
}

enum err_code label_key_check(const char *s, size_t len, struct err *e)
{
	const char *slash = len > 0 ? memchr(s, '/', len) : NULL;
	if (!slash)
		return key_name_check(s, len, s, len, e);
	size_t prefix_len = (size_t)(slash - s);
	enum err_code code = key_prefix_check(s, len, prefix_len, e);
	return code != ERR_OK ? code : key_name_check(s, len, slash + 1, len - prefix_len - 1, e);
}

enum err_code label_value_check(const char *s, size_t len, struct err *e)
{
	if (len > NAME_MAX_LEN)
		return err_fail(e, ERR_INPUT, "invalid label value '%.*s': must be no more than 63 characters",
				SHOWN(len), s);
	if (len > 0 && !is_name(s, len))
		return err_fail(e, ERR_INPUT,
				"invalid label value '%.*s': must be empty or consist of alphanumeric characters, '-', "
				"'_' or '.', and must start and end with an alphanumeric character",
				SHOWN(len), s);
	return ERR_OK;
}

bool label_number(const char *s, size_t len, int64_t *ret)
{
	size_t i = len > 0 && (s[0] == '-' || s[0] == '+');
	bool is_negative = i > 0 && s[0] == '-';
	int64_t x = 0; /* grows away from zero with its sign, so that the smallest number fits */
	if (i == len)
		return false;
	for (; i < len; i++) {
		int64_t digit = s[i] - '0';
		if (digit < 0 || digit > 9 || __builtin_mul_overflow(x, (int64_t)10, &x) ||
		    __builtin_add_overflow(x, is_negative ? -digit : digit, &x))
			return false;
	}
	*ret = x;
	return true;
}
