/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a selector. What is accepted must come back from its text as the same selector, in writing and in what
 * it matches; what is refused must leave nothing but words.
 */
#include <stdlib.h>
#include <string.h>

#include "units/labels.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static bool is_equal(const struct requirement *a, const struct requirement *b)
{
	return a->key == b->key && a->op == b->op && a->bound == b->bound && a->n_values == b->n_values &&
	       (a->n_values == 0 || memcmp(a->values, b->values, a->n_values * sizeof(*a->values)) == 0);
}

static void check_requirement(const struct names *names, const struct requirement *r)
{
	HOLDS(label_key_check(name_str(names, r->key), name_len(names, r->key), NULL) == ERR_OK);
	HOLDS((r->n_values == 0) == (r->op == SEL_EXISTS || r->op == SEL_NOT_EXISTS));
	for (uint32_t i = 0; i < r->n_values; i++) {
		HOLDS(i == 0 || r->values[i - 1] < r->values[i]);
		HOLDS(label_value_check(name_str(names, r->values[i]), name_len(names, r->values[i]), NULL) == ERR_OK);
	}
}

/* Labels that have a chance: for every other requirement its key with its pick-th value. */
static struct labels labels_near(struct arena *a, const struct selector *s, uint32_t pick)
{
	struct label *kv = arena_n(a, s->n + 1, struct label);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct requirement *r = &s->reqs[i];
		if (pick % 2 == 0 || i % 2 == 0)
			kv[n++] = (struct label){r->key, r->n_values > 0 ? r->values[pick % r->n_values] : NAME_NONE};
	}
	return (struct labels){.n = labels_sort(kv, n), .kv = kv};
}

static bool naive_has(const struct requirement *r, name_id value)
{
	for (uint32_t i = 0; i < r->n_values; i++)
		if (r->values[i] == value)
			return true;
	return false;
}

static void check_match(const struct names *names, const struct requirement *r, const struct labels *l)
{
	name_id value = NAME_NONE;
	bool is_there = false;
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->kv[i].key == r->key) {
			is_there = true;
			value = l->kv[i].value;
		}
	}
	bool is_match = requirement_matches(names, r, l);
	switch (r->op) {
	case SEL_EXISTS:
		HOLDS(is_match == is_there);
		return;
	case SEL_NOT_EXISTS:
		HOLDS(is_match == !is_there);
		return;
	case SEL_NOT_IN:
	case SEL_NOT_EQUAL:
		HOLDS(is_match == (!is_there || !naive_has(r, value)));
		return;
	case SEL_GT:
	case SEL_LT: /* the only value there is equals the bound, if it is of this requirement */
		HOLDS(!is_match || (is_there && value != r->values[0]));
		return;
	default:
		HOLDS(is_match == (is_there && naive_has(r, value)));
	}
}

static void check_selector(struct arena *a, struct name_bag *bag, const struct selector *s)
{
	struct text text = {0}, text_again = {0};
	struct selector again;

	selector_text(bag->names, s, &text);
	HOLDS(selector_parse(a, bag, text_str(&text), text.n, &again, NULL) == ERR_OK);
	selector_text(bag->names, &again, &text_again);
	HOLDS(strcmp(text_str(&text), text_str(&text_again)) == 0);
	HOLDS(s->n == again.n && selector_is_empty(s) == selector_is_empty(&again));
	for (uint32_t i = 0; i < s->n; i++) {
		check_requirement(bag->names, &s->reqs[i]);
		HOLDS(is_equal(&s->reqs[i], &again.reqs[i]));
		HOLDS(i == 0 || name_cmp(bag->names, s->reqs[i - 1].key, s->reqs[i].key) <= 0);
	}
	for (uint32_t pick = 0; pick < 4; pick++) {
		struct labels l = labels_near(a, s, pick);
		HOLDS(selector_matches(bag->names, s, &l) == selector_matches(bag->names, &again, &l));
		for (uint32_t i = 0; i < s->n; i++)
			check_match(bag->names, &s->reqs[i], &l);
	}
	text_free(&text);
	text_free(&text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct names *names = names_new();
	struct arena *arena = arena_new(1024);
	struct name_bag bag = name_bag_of(names);
	struct selector s;
	struct err e = {0};

	if (selector_parse(arena, &bag, (const char *)data, size, &s, &e) == ERR_OK)
		check_selector(arena, &bag, &s);
	else
		HOLDS(e.code == ERR_INPUT && e.msg[0] != '\0');
	name_bag_drop(&bag);
	HOLDS(names_count(names) == 0);
	names_free(names);
	arena_free(arena);
	return 0;
}
