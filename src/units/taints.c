/* SPDX-License-Identifier: Apache-2.0 */
#include "units/labels.h"

#include <string.h>

static const char *const effect_texts[] = {
	[EFFECT_ANY] = "",
	[EFFECT_NO_SCHEDULE] = "NoSchedule",
	[EFFECT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[EFFECT_NO_EXECUTE] = "NoExecute",
};

bool taint_effect_parse(const char *s, enum taint_effect *ret)
{
	for (size_t i = 0; i < sizeof(effect_texts) / sizeof(effect_texts[0]); i++) {
		if (strcmp(s, effect_texts[i]) == 0) {
			*ret = (enum taint_effect)i;
			return true;
		}
	}
	return false;
}

const char *taint_effect_text(enum taint_effect effect)
{
	return effect_texts[effect];
}

bool toleration_op_parse(const char *s, enum toleration_op *ret)
{
	if (*s == '\0' || strcmp(s, "Equal") == 0)
		*ret = TOLERATE_EQUAL;
	else if (strcmp(s, "Exists") == 0)
		*ret = TOLERATE_EXISTS;
	else if (strcmp(s, "Lt") == 0)
		*ret = TOLERATE_LT;
	else if (strcmp(s, "Gt") == 0)
		*ret = TOLERATE_GT;
	else
		return false;
	return true;
}

/* Stricter than the numbers of selectors: only the one way in which a person writes the number. */
static bool canonical_number(const struct names *names, name_id id, int64_t *ret)
{
	const char *s = name_str(names, id);
	size_t len = name_len(names, id);
	size_t first = s[0] == '-';
	if (s[0] == '+' || (s[first] == '0' && len > 1))
		return false;
	return label_number(s, len, ret);
}

static bool numbers_match(const struct names *names, const struct toleration *t, const struct taint *taint)
{
	int64_t limit, x;
	if (!canonical_number(names, t->value, &limit) || !canonical_number(names, taint->value, &x))
		return false;
	return t->op == TOLERATE_LT ? x < limit : x > limit;
}

bool toleration_matches(const struct names *names, const struct toleration *t, const struct taint *taint,
			bool with_bounds)
{
	if (t->effect != EFFECT_ANY && t->effect != taint->effect)
		return false;
	if (t->key != NAME_NONE && t->key != taint->key)
		return false;
	switch (t->op) {
	case TOLERATE_EQUAL:
		return t->value == taint->value;
	case TOLERATE_EXISTS:
		return true;
	case TOLERATE_LT:
	case TOLERATE_GT:
		return with_bounds && numbers_match(names, t, taint);
	}
	return false;
}

bool tolerations_match(const struct names *names, const struct toleration *t, uint32_t n, const struct taint *taint,
		       bool with_bounds)
{
	for (uint32_t i = 0; i < n; i++)
		if (toleration_matches(names, &t[i], taint, with_bounds))
			return true;
	return false;
}
