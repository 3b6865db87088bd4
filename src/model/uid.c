/* SPDX-License-Identifier: Apache-2.0 */
#include "model/uid.h"

#include <string.h>

enum { UUID_LETTERS = 36 };

static bool is_dash_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: it is not written as a UUID, or its first half is zero, which says that it is a name. */
static bool parse(const char *s, size_t len, struct uid *ret)
{
	uint64_t half[2] = {0, 0};

	if (len != UUID_LETTERS)
		return false;
	for (size_t i = 0, n = 0; i < UUID_LETTERS; i++) {
		int digit = digit_of(s[i]);

		if (is_dash_at(i) ? s[i] != '-' : digit < 0)
			return false;
		if (!is_dash_at(i)) {
			half[n / 16] = half[n / 16] << 4 | (unsigned)digit;
			n++;
		}
	}
	*ret = (struct uid){half[0], half[1]};
	return half[0] != 0;
}

struct uid uid_hold(struct names *names, const char *s, size_t len)
{
	struct uid u;

	return parse(s, len, &u) ? u : uid_of_name(names_hold(names, s, len));
}

void uid_keep(struct names *names, struct uid u)
{
	if (u.high == 0)
		names_keep(names, (name_id)u.low);
}

void uid_drop(struct names *names, struct uid u)
{
	if (u.high == 0)
		names_drop(names, (name_id)u.low);
}

const char *uid_str(const struct names *names, struct uid u, struct uid_text *buf)
{
	const uint64_t half[2] = {u.high, u.low};

	if (u.high == 0)
		return name_str(names, (name_id)u.low);
	for (size_t i = 0, n = 0; i < UUID_LETTERS; i++) {
		buf->s[i] = '-';
		if (is_dash_at(i))
			continue;
		buf->s[i] = "0123456789abcdef"[half[n / 16] >> (60 - 4 * (n % 16)) & 15];
		n++;
	}
	buf->s[UUID_LETTERS] = '\0';
	return buf->s;
}

/* Digits stand in the order of their values, dashes at the same places. */
int uid_cmp(const struct names *names, struct uid a, struct uid b)
{
	struct uid_text x, y;

	if (a.high == b.high && a.low == b.low)
		return 0;
	if (a.high == 0 || b.high == 0)
		return strcmp(uid_str(names, a, &x), uid_str(names, b, &y));
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return a.low < b.low ? -1 : a.low > b.low;
}

name_id uid_hold_name(struct names *names, struct uid u)
{
	struct uid_text buf;

	return names_hold_str(names, uid_str(names, u, &buf));
}
