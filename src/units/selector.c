/* SPDX-License-Identifier: Apache-2.0 */
#include "units/labels.h"

#include <stdlib.h>
#include <string.h>

static bool has_value(const struct requirement *r, name_id value)
{
	const name_id *v = r->values;
	uint32_t n = r->n_values;
	while (n > 8) {
		uint32_t half = n / 2;
		v += v[half] <= value ? half : 0;
		n -= half;
	}
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == value)
			return true;
	return false;
}

static bool is_beyond(const struct names *names, const struct requirement *r, name_id value)
{
	int64_t x;
	if (!label_number(name_str(names, value), name_len(names, value), &x))
		return false;
	return r->op == SEL_GT ? x > r->bound : x < r->bound;
}

static inline bool is_met(const struct names *names, const struct requirement *r, const struct labels *l)
{
	name_id value;
	bool is_there = labels_get(l, r->key, &value);

	switch (r->op) {
	case SEL_IN:
	case SEL_EQUAL:
	case SEL_DOUBLE_EQUAL:
		return is_there && has_value(r, value);
	case SEL_NOT_IN:
	case SEL_NOT_EQUAL:
		return !is_there || !has_value(r, value);
	case SEL_EXISTS:
		return is_there;
	case SEL_NOT_EXISTS:
		return !is_there;
	case SEL_GT:
	case SEL_LT:
		return is_there && is_beyond(names, r, value);
	}
	return false;
}

bool requirement_matches(const struct names *names, const struct requirement *r, const struct labels *l)
{
	return is_met(names, r, l);
}

bool selector_matches(const struct names *names, const struct selector *s, const struct labels *l)
{
	if (s->matches_nothing)
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		if (!is_met(names, &s->reqs[i], l))
			return false;
	return true;
}

bool selector_op_parse(const char *s, bool with_bounds, enum selector_op *ret)
{
	static const struct {
		const char *word;
		enum selector_op op;
		bool is_bound;
	} words[] = {
		{"In", SEL_IN, false},	       {"NotIn", SEL_NOT_IN, false},
		{"Exists", SEL_EXISTS, false}, {"DoesNotExist", SEL_NOT_EXISTS, false},
		{"Gt", SEL_GT, true},	       {"Lt", SEL_LT, true},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(s, words[i].word) == 0 && (with_bounds || !words[i].is_bound)) {
			*ret = words[i].op;
			return true;
		}
	}
	return false;
}

/* NULL: the number of values is fine. */
static const char *count_complaint(enum selector_op op, uint32_t n_values)
{
	switch (op) {
	case SEL_IN:
	case SEL_NOT_IN:
		return n_values > 0 ? NULL : "for 'in', 'notin' operators, values set can't be empty";
	case SEL_EXISTS:
	case SEL_NOT_EXISTS:
		return n_values == 0 ? NULL : "values set must be empty for exists and does not exist";
	case SEL_GT:
	case SEL_LT:
		return n_values == 1 ? NULL : "for 'Gt', 'Lt' operators, exactly one value is required";
	case SEL_EQUAL:
	case SEL_DOUBLE_EQUAL:
	case SEL_NOT_EQUAL:
		return n_values == 1 ? NULL : "exact-match compatibility requires one single value";
	}
	return "not a known operator";
}

static int id_cmp(const void *pa, const void *pb)
{
	name_id a = *(const name_id *)pa, b = *(const name_id *)pb;
	return a < b ? -1 : a > b;
}

static uint32_t sort_values(name_id *v, uint32_t n)
{
	uint32_t kept = 0;
	if (n > 1)
		qsort(v, n, sizeof(*v), id_cmp);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[kept - 1])
			v[kept++] = v[i];
	return kept;
}

enum err_code requirement_make(struct arena *a, struct name_bag *bag, const char *key, size_t key_len,
			       enum selector_op op, const char *const *values, const size_t *value_lens,
			       uint32_t n_values, struct requirement *ret, struct err *e)
{
	int64_t bound = 0;
	enum err_code code = label_key_check(key, key_len, e);
	if (code != ERR_OK)
		return code;
	const char *complaint = count_complaint(op, n_values);
	if (complaint)
		return err_fail(e, ERR_INPUT, "label key '%.*s': %s", (int)key_len, key, complaint);
	if ((op == SEL_GT || op == SEL_LT) && !label_number(values[0], value_lens[0], &bound))
		return err_fail(e, ERR_INPUT,
				"label key '%.*s': for 'Gt', 'Lt' operators, the value must be an integer",
				(int)key_len, key);
	for (uint32_t i = 0; i < n_values; i++) {
		code = label_value_check(values[i], value_lens[i], e);
		if (code != ERR_OK)
			return e ? err_wrap(e, "label key '%.*s'", (int)key_len, key) : code;
	}
	name_id *ids = n_values > 0 ? arena_n(a, n_values, name_id) : NULL;
	for (uint32_t i = 0; i < n_values; i++)
		ids[i] = name_bag_add(bag, values[i], value_lens[i]);
	*ret = (struct requirement){.key = name_bag_add(bag, key, key_len),
				    .op = op,
				    .n_values = sort_values(ids, n_values),
				    .values = ids,
				    .bound = bound};
	return ERR_OK;
}

struct placed_requirement {
	struct requirement r;
	uint32_t place;
};

static int placed_cmp(const void *pa, const void *pb, void *names)
{
	const struct placed_requirement *a = pa, *b = pb;
	int c = a->r.key == b->r.key ? 0 : name_cmp(names, a->r.key, b->r.key);
	if (c != 0)
		return c;
	return a->place < b->place ? -1 : a->place > b->place;
}

struct selector selector_make(const struct names *names, struct requirement *reqs, uint32_t n)
{
	if (n > 1) {
		AUTO_FREE struct placed_requirement *v = mem_resize(NULL, n, sizeof(*v));
		for (uint32_t i = 0; i < n; i++)
			v[i] = (struct placed_requirement){reqs[i], i};
		qsort_r(v, n, sizeof(*v), placed_cmp, (void *)names);
		for (uint32_t i = 0; i < n; i++)
			reqs[i] = v[i].r;
	}
	return (struct selector){.n = n, .reqs = reqs};
}

static int string_cmp(const void *pa, const void *pb, void *names)
{
	return name_cmp(names, *(const name_id *)pa, *(const name_id *)pb);
}

static void add_name(const struct names *names, name_id id, struct text *out)
{
	text_add_n(out, name_str(names, id), name_len(names, id));
}

static void add_values(const struct names *names, const struct requirement *r, struct text *out)
{
	AUTO_FREE name_id *v = mem_resize(NULL, r->n_values, sizeof(*v));
	memcpy(v, r->values, r->n_values * sizeof(*v));
	qsort_r(v, r->n_values, sizeof(*v), string_cmp, (void *)names);
	for (uint32_t i = 0; i < r->n_values; i++) {
		if (i > 0)
			text_add_char(out, ',');
		add_name(names, v[i], out);
	}
}

void requirement_text(const struct names *names, const struct requirement *r, struct text *out)
{
	static const struct {
		const char *before_key, *after_key, *after_values;
	} forms[] = {
		[SEL_IN] = {"", " in (", ")"},	  [SEL_NOT_IN] = {"", " notin (", ")"},
		[SEL_EXISTS] = {"", "", ""},	  [SEL_NOT_EXISTS] = {"!", "", ""},
		[SEL_GT] = {"", ">", ""},	  [SEL_LT] = {"", "<", ""},
		[SEL_EQUAL] = {"", "=", ""},	  [SEL_DOUBLE_EQUAL] = {"", "==", ""},
		[SEL_NOT_EQUAL] = {"", "!=", ""},
	};
	text_add(out, forms[r->op].before_key);
	add_name(names, r->key, out);
	text_add(out, forms[r->op].after_key);
	if (r->n_values > 0)
		add_values(names, r, out);
	text_add(out, forms[r->op].after_values);
}

void selector_text(const struct names *names, const struct selector *s, struct text *out)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (i > 0)
			text_add_char(out, ',');
		requirement_text(names, &s->reqs[i], out);
	}
}
