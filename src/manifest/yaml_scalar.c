/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/yaml_scalar.h"

#include <string.h>

static bool is_any(const char *s, size_t n, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strlen(*words) == n && memcmp(s, *words, n) == 0)
			return true;
	return false;
}

static bool is_null(const char *s, size_t n)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};
	return is_any(s, n, words);
}

static bool is_true(const char *s, size_t n)
{
	static const char *const words[] = {"true", "True", "TRUE", NULL};
	return is_any(s, n, words);
}

static bool is_false(const char *s, size_t n)
{
	static const char *const words[] = {"false", "False", "FALSE", NULL};
	return is_any(s, n, words);
}

static size_t count_of(const char *s, const char *end, const char *set)
{
	const char *p = s;
	while (p < end && *p != '\0' && strchr(set, *p) != NULL)
		p++;
	return (size_t)(p - s);
}

static size_t count_digits(const char *s, const char *end)
{
	const char *p = s;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return (size_t)(p - s);
}

static bool is_based(const char *s, const char *end, char base, const char *digits)
{
	return end - s > 2 && s[0] == '0' && s[1] == base && count_of(s + 2, end, digits) == (size_t)(end - s - 2);
}

static bool is_integer(const char *s, size_t n)
{
	const char *end = s + n;
	if (is_based(s, end, 'x', "0123456789abcdefABCDEF") || is_based(s, end, 'o', "01234567"))
		return true;
	if (s < end && (*s == '-' || *s == '+'))
		s++;
	return s < end && count_digits(s, end) == (size_t)(end - s);
}

static bool is_float(const char *s, size_t n)
{
	static const char *const nans[] = {".nan", ".NaN", ".NAN", NULL};
	static const char *const infinities[] = {".inf", ".Inf", ".INF", NULL};
	const char *end = s + n;
	if (is_any(s, n, nans))
		return true;
	if (s < end && (*s == '-' || *s == '+'))
		s++;
	if (is_any(s, (size_t)(end - s), infinities))
		return true;
	size_t whole = count_digits(s, end), part = 0;
	s += whole;
	if (s < end && *s == '.') {
		part = count_digits(++s, end);
		s += part;
	}
	if (whole + part == 0)
		return false;
	if (s < end && (*s == 'e' || *s == 'E')) {
		s++;
		if (s < end && (*s == '-' || *s == '+'))
			s++;
		if (s == end)
			return false;
		s += count_digits(s, end);
	}
	return s == end;
}

static struct yaml_typed plain_type(const char *s, size_t n)
{
	if (n > 0 && strchr("~nNtTfF.+-0123456789", *s) == NULL)
		return (struct yaml_typed){.kind = TREE_STRING};
	if (is_null(s, n))
		return (struct yaml_typed){.kind = TREE_NULL};
	if (is_true(s, n))
		return (struct yaml_typed){.kind = TREE_BOOL, .truth = true};
	if (is_false(s, n))
		return (struct yaml_typed){.kind = TREE_BOOL};
	if (is_integer(s, n) || is_float(s, n))
		return (struct yaml_typed){.kind = TREE_NUMBER};
	return (struct yaml_typed){.kind = TREE_STRING};
}

bool yaml_scalar_type(const char *text, size_t n, bool is_plain, const char *tag, struct yaml_typed *ret)
{
	static const char core[] = "tag:yaml.org,2002:";
	*ret = is_plain ? plain_type(text, n) : (struct yaml_typed){.kind = TREE_STRING};
	if (tag == NULL)
		return true;
	if (strcmp(tag, "!") == 0) {
		*ret = (struct yaml_typed){.kind = TREE_STRING};
		return true;
	}
	if (strncmp(tag, core, sizeof(core) - 1) != 0)
		return true;
	tag += sizeof(core) - 1;
	if (strcmp(tag, "str") == 0) {
		*ret = (struct yaml_typed){.kind = TREE_STRING};
		return true;
	}
	if (strcmp(tag, "null") == 0) {
		*ret = (struct yaml_typed){.kind = TREE_NULL};
		return is_null(text, n);
	}
	if (strcmp(tag, "bool") == 0) {
		*ret = (struct yaml_typed){.kind = TREE_BOOL, .truth = is_true(text, n)};
		return ret->truth || is_false(text, n);
	}
	if (strcmp(tag, "int") == 0 || strcmp(tag, "float") == 0) {
		*ret = (struct yaml_typed){.kind = TREE_NUMBER};
		return is_integer(text, n) || (*tag == 'f' && is_float(text, n));
	}
	return true;
}
