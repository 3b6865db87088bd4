/* SPDX-License-Identifier: Apache-2.0 */
#include "test_tree.h"

static void items_of_a_list_are_documents(void **state)
{
	static const struct tree_row rows[] = {
		{"as an API server answers",
		 "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{\"a\":1},{\"a\":2}]}",
		 "{a=#1} <Pod v1>\n{a=#2} <Pod v1>"},
		{"as kubectl prints JSON",
		 "{\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\"},"
		 "{\"apiVersion\":\"apps/v1\",\"kind\":\"Job\"}],\"kind\":\"List\",\"metadata\":{}}",
		 "{apiVersion='v1' kind='Pod'}\n{apiVersion='apps/v1' kind='Job'}"},
		{"as kubectl prints YAML",
		 "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\nkind: List\nmetadata: {}\n",
		 "{apiVersion='v1' kind='Pod'}"},
		{"the kind comes last, JSON",
		 "{\"items\":[{\"a\":1},{\"b\":\"]\\\"}\"}],\"x\":[{}],\"kind\":\"PodList\",\"apiVersion\":\"v1\"}",
		 "{a=#1} <Pod v1>\n{b=']\"}'} <Pod v1>"},
		{"the kind comes last, YAML", "items:\n- a: 1\n- a: 2\nkind: PodList\napiVersion: v1\n",
		 "{a=#1} <Pod v1>\n{a=#2} <Pod v1>"},
		{"the apiVersion comes last", "kind: PodList\nitems:\n- a: 1\napiVersion: v1\n", "{a=#1} <Pod v1>"},
		{"no apiVersion at all", "kind: PodList\nitems:\n- a: 1\n", "{a=#1} <Pod >"},
		{"the kind escaped, and last",
		 "{\"items\":[{\"a\":1}],\"kind\":\"\\u0050odList\",\"apiVersion\":\"v1\"}", "{a=#1} <Pod v1>"},
		{"kind List implies nothing", "kind: List\nitems:\n- a: 1\n", "{a=#1}"},
		{"items that name themselves make a list of anything",
		 "kind: Thing\nitems:\n- kind: Pod\n  apiVersion: v1\n", "{kind='Pod' apiVersion='v1'}"},
		{"no kind at all", "items:\n- kind: Pod\n  apiVersion: v1\n", "{kind='Pod' apiVersion='v1'}"},
		{"later items wait for the kind, in order",
		 "items:\n- kind: Pod\n  apiVersion: v1\n- a: 1\n- kind: Job\n  apiVersion: v1\nkind: "
		 "PodList\napiVersion: v1\n",
		 "{kind='Pod' apiVersion='v1'}\n{a=#1} <Pod v1>\n{kind='Job' apiVersion='v1'} <Pod v1>"},
		{"items of other kinds", "kind: List\nitems: [1, x, ]\n", "#1\n'x'"},
		{"no items", "kind: PodList\nitems: []\n---\na: 1\n", "{a=#1}"},
		{"null for items", "{\"kind\":\"PodList\",\"items\":null}", ""},
		{"several lists", "kind: List\nitems: [{a: 1}]\n---\nkind: PodList\napiVersion: v1\nitems: [{b: 1}]\n",
		 "{a=#1}\n{b=#1} <Pod v1>"},
		{"a list within a list stays whole", "kind: List\nitems: [{kind: List, items: [1]}]",
		 "{kind='List' items=[#1]}"},
		{"an aliased list", "x: &l [{a: 1}]\nkind: List\nitems: *l\n", "{a=#1}"},
		{"an anchored list", "items: &l [{a: 1}]\nx: *l\nkind: List\n", "{a=#1}"},
		{"an anchor goes from item to item",
		 "kind: List\nx: &h 5\nitems:\n- a: &x {p: [1]}\n- b: *x\n- c: *h\n- d: *x\nmetadata: *x\n",
		 "{a={p=[#1]}}\n{b={p=[#1]}}\n{c=#5}\n{d={p=[#1]}}"},
		{"a merged item", "kind: List\nitems:\n- &x {p: 1}\n- {<<: *x, q: 2}\n", "{p=#1}\n{q=#2 p=#1}"},
	};
	CHECK_ROWS(rows, false);
}

static void documents_that_only_look_like_lists_stay_whole(void **state)
{
	static const struct tree_row rows[] = {
		{"items without kinds, YAML", "items:\n- a: 1\n- b: 2\nkind: Thing\n",
		 "{items=[{a=#1} {b=#2}] kind='Thing'}"},
		{"items without kinds, JSON", "{\"items\":[{\"a\":1},{\"b\":2}],\"kind\":\"Thing\"}",
		 "{items=[{a=#1} {b=#2}] kind='Thing'}"},
		{"a kind but no apiVersion", "items:\n- kind: Pod\n", "{items=[{kind='Pod'}]}"},
		{"no items", "kind: AllowList\nspec: 1\n", "{kind='AllowList' spec=#1}"},
		{"items that are a map", "kind: PodList\nitems: {a: 1}\n", "{kind='PodList' items={a=#1}}"},
		{"items further down", "spec:\n  items:\n  - kind: Pod\n    apiVersion: v1\n",
		 "{spec={items=[{kind='Pod' apiVersion='v1'}]}}"},
		{"empty items", "items: []\n", "{items=[]}"},
		{"a kind that is no string", "kind: [PodList]\nitems: [{a: 1}]\n", "{kind=['PodList'] items=[{a=#1}]}"},
		{"places are kept", "items:\n- a: 1\n", "{items=[{a=#1}]}"},
	};
	CHECK_ROWS(rows, false);
}

static void errors_in_lists_are_found_where_they_are(void **state)
{
	static const struct tree_row rows[] = {
		{"in the second item", "{\"kind\":\"List\",\"items\":[{\"a\":1},{\"a\"}]}",
		 "{a=#1}\nf:1:37: expected ':' after a key, found '}'"},
		{"between items", "{\"kind\":\"List\",\"items\":[{\"a\":1} {}]}",
		 "{a=#1}\nf:1:33: expected ',' or ']' after a value, found '{'"},
		{"after the items", "{\"kind\":\"List\",\"items\":[1] x}",
		 "#1\nf:1:28: expected ',' or '}' after a value, found 'x'"},
		{"a comma at the end", "{\"kind\":\"List\",\"items\":[1,]}", "#1\nf:1:27: expected a value, found ']'"},
		{"a duplicate key beside the items", "{\"kind\":\"List\",\"items\":[1],\"kind\":\"X\"}",
		 "#1\nf:1:28: duplicate key 'kind', first at 1:2"},
		{"items twice", "kind: List\nitems: [1]\nitems: [2]\n",
		 "#1\nf:3:1: duplicate key 'items', first at 2:1"},
		{"a broken end while items wait", "items: [1]\nkind: [\n",
		 "f:3:1: expected a value, found the end of the input"},
		{"a missing end while looking ahead", "{\"items\":[{\"a\":1}],\"kind\"",
		 "f:1:26: expected ':' after a key, found the end of the input"},
	};
	CHECK_ROWS(rows, false);
}

/* Seen by the error that comes after the items before it: held items would never have gone out. */
static void items_go_out_as_soon_as_their_kind_is_known(void **state)
{
	static const struct tree_row rows[] = {
		{"known before", "kind: PodList\napiVersion: v1\nitems:\n- a: 1\n- a: 2\n- {\n",
		 "{a=#1} <Pod v1>\n{a=#2} <Pod v1>\nf:7:1: expected a value, found the end of the input"},
		{"they say it themselves", "items:\n- {kind: Pod, apiVersion: v1}\n- a: 1\n- {\n",
		 "{kind='Pod' apiVersion='v1'}\nf:5:1: expected a value, found the end of the input"},
		{"JSON is looked through for it",
		 "{\"items\":[{\"a\":true},{\"b\":\"\\\"]}\"},{\"c\"}],\"m\":\"}\",\"kind\":\"PodList\",\"apiVersion\":"
		 "\"v1\"}",
		 "{a=+true} <Pod v1>\n{b='\"]}'} <Pod v1>\nf:1:39: expected ':' after a key, found '}'"},
	};
	CHECK_ROWS(rows, false);
}

static void documents_outlive_their_reader(void **state)
{
	static const char input[] = "kind: PodList\napiVersion: v1\nitems:\n- a: &x {p: [true]}\n- b: *x\n";
	struct arena *a = arena_new(64);
	struct tree_reader *r = tree_reader_new("f", input, strlen(input));
	struct tree_doc docs[2];
	struct text out = {0};
	for (int i = 0; i < 2; i++)
		assert_int_equal(tree_next(r, a, &docs[i], NULL), ERR_OK);
	tree_reader_free(r);
	for (int i = 0; i < 2; i++) {
		show_value(&out, docs[i].root, true);
		text_printf(&out, " %s %s\n", docs[i].list_kind, docs[i].list_api);
	}
	assert_string_equal(text_str(&out), "4:3{4:3a=4:6{4:10p=4:13[4:14+true]}} Pod v1\n"
					    "5:3{5:3b=4:6{4:10p=4:13[4:14+true]}} Pod v1\n");
	text_free(&out);
	arena_free(a);
}

static void look_ups_find_fields_and_nothing_else(void **state)
{
	static const char input[] = "a: {b: {c: 1}, x.y: 2}\nl: [1]\n";
	struct arena *a = arena_new(4096);
	struct tree_reader *r = tree_reader_new("name", input, strlen(input));
	struct tree_doc doc;
	assert_int_equal(tree_next(r, a, &doc, NULL), ERR_OK);
	assert_string_equal(tree_reader_name(r), "name");
	assert_string_equal(tree_path(doc.root, "a.b.c")->text, "1");
	assert_ptr_equal(tree_path(doc.root, "a"), tree_get(doc.root, "a"));
	assert_null(tree_path(doc.root, "a.b.d"));
	assert_null(tree_path(doc.root, "a.x.y"));
	assert_null(tree_path(doc.root, "l.0"));
	assert_null(tree_path(doc.root, ""));
	assert_null(tree_get(doc.root, "aa"));
	assert_null(tree_get(tree_get(doc.root, "l"), "a"));
	assert_null(tree_get(NULL, "a"));
	assert_true(tree_is(tree_get(doc.root, "l"), TREE_LIST));
	assert_false(tree_is(NULL, TREE_NULL));
	assert_string_equal(tree_kind_text(TREE_MAP), "a map");
	assert_string_equal(tree_kind_text(TREE_NULL), "nothing");
	tree_reader_free(r);
	arena_free(a);
	tree_reader_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_of_a_list_are_documents),
		cmocka_unit_test(documents_that_only_look_like_lists_stay_whole),
		cmocka_unit_test(errors_in_lists_are_found_where_they_are),
		cmocka_unit_test(items_go_out_as_soon_as_their_kind_is_known),
		cmocka_unit_test(documents_outlive_their_reader),
		cmocka_unit_test(look_ups_find_fields_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
