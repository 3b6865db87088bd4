/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "manifest/tree_ahead.h"

enum { ITEMS = 4000 };

/* A list, large enough for a thread; broken_at: this item has a mistake in it. */
static struct text list_of(uint32_t n, bool is_yaml, uint32_t broken_at)
{
	struct text t = {0};
	text_add(&t, is_yaml ? "" : "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n");
	for (uint32_t i = 0; i < n; i++) {
		const char *wrong = i == broken_at ? "\"twice\": 1, \"twice\": 2," : "";
		text_printf(&t, "%s{%s\"kind\": \"Pod\", \"apiVersion\": \"v1\", \"n\": %u, \"pad\": \"",
			    is_yaml ? "---\n" : "", wrong, (unsigned)i);
		for (uint32_t k = 0; k < 10 + i % 7 * 13; k++)
			text_add(&t, "letters ");
		text_printf(&t, "\"}%s\n", is_yaml || i + 1 == n ? "" : ",");
	}
	text_add(&t, is_yaml ? "" : "]}\n");
	return t;
}

static void assert_same(const struct tree_doc *a, const struct tree_doc *b)
{
	assert_int_equal(a->root == NULL, b->root == NULL);
	if (a->root == NULL)
		return;
	assert_string_equal(tree_get(a->root, "n")->text, tree_get(b->root, "n")->text);
	assert_string_equal(tree_get(a->root, "pad")->text, tree_get(b->root, "pad")->text);
	assert_int_equal(a->root->line, b->root->line);
	assert_int_equal(a->root->col, b->root->col);
	assert_string_equal(a->list_kind, b->list_kind);
	assert_string_equal(a->list_api, b->list_api);
}

/* One by one in place, and ahead: the same documents, the same end or error. Returns how many documents. */
static uint32_t compare(const struct text *t, struct err *ret)
{
	struct arena *a = arena_new(4096);
	struct tree_reader *plain = tree_reader_new("f", t->s, t->n), *r = tree_reader_new("f", t->s, t->n);
	struct tree_ahead *ahead = tree_ahead_new(r, t->n);
	struct tree_doc x, y;
	struct err e = {0};
	uint32_t n = 0;
	for (;; n++) {
		arena_reset(a);
		enum err_code want = tree_next(plain, a, &x, ret), got = tree_ahead_next(ahead, &y, &e);
		assert_int_equal(got, want);
		if (want != ERR_OK)
			assert_string_equal(e.msg, ret->msg);
		assert_same(&x, &y);
		if (x.root == NULL)
			break;
	}
	assert_int_equal(tree_ahead_next(ahead, &y, &e), e.code);
	assert_null(y.root);
	tree_ahead_free(ahead);
	tree_reader_free(plain);
	tree_reader_free(r);
	arena_free(a);
	return n;
}

static void documents_and_mistakes_are_those_of_reading_in_place(void **state)
{
	static const struct {
		const char *what;
		uint32_t items, broken_at, read;
		bool is_yaml;
	} rows[] = {
		{"small, in place", 3, UINT32_MAX, 3, false},	 {"small and broken", 3, 1, 1, false},
		{"large JSON", ITEMS, UINT32_MAX, ITEMS, false}, {"the first is broken", ITEMS, 0, 0, false},
		{"one in the middle", ITEMS, 1999, 1999, false}, {"the last", ITEMS, ITEMS - 1, ITEMS - 1, false},
		{"large YAML", ITEMS, UINT32_MAX, ITEMS, true},	 {"broken YAML", ITEMS, 777, 777, true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text t = list_of(rows[i].items, rows[i].is_yaml, rows[i].broken_at);
		struct err e = {0};
		uint32_t n = compare(&t, &e);
		if (n != rows[i].read || (e.code != ERR_OK) != (rows[i].broken_at != UINT32_MAX))
			fail_msg("%s: %u read, %s", rows[i].what, (unsigned)n, e.msg);
		assert_true(rows[i].items < ITEMS || t.n > 1 << 20);
		text_free(&t);
	}
}

static void who_stops_early_leaves_nothing_behind(void **state)
{
	struct text t = list_of(ITEMS, false, UINT32_MAX);
	for (uint32_t n = 0; n < 200; n += 13) {
		struct tree_reader *r = tree_reader_new("f", t.s, t.n);
		struct tree_ahead *ahead = tree_ahead_new(r, t.n);
		struct tree_doc doc;
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(tree_ahead_next(ahead, &doc, NULL), ERR_OK);
		tree_ahead_free(ahead);
		tree_reader_free(r);
	}
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_and_mistakes_are_those_of_reading_in_place),
		cmocka_unit_test(who_stops_early_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
