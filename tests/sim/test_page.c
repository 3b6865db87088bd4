/* SPDX-License-Identifier: Apache-2.0 */
/* Reports hold names that others chose: none of them may become markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/page.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void SI_names_never_become_markup(void **state)
{
	static const struct {
		const char *story, *json, *out;
	} rows[] = {
		{"plain data is as it was", "{\"a\":[1,\"b\"]}", "{\"a\":[1,\"b\"]}"},
		{"a name cannot close the element", "\"</script><script>alert(1)\"",
		 "\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\""},
		{"nor open a comment", "\"<!--\"", "\"\\u003c!--\""},
		{"nor be an entity", "\"&lt;\"", "\"\\u0026lt;\""},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = {0};

		page_add_data(&t, rows[i].json, strlen(rows[i].json));
		if (!str_eq(text_str(&t), rows[i].out))
			fail_msg("%s: %s", rows[i].story, text_str(&t));
		text_free(&t);
	}
}

static void SI_the_page_needs_nobody_else(void **state)
{
	/* The name of SVG's namespace is the one address in it, and nobody is asked for it. */
	static const char *const never[] = {
		"https://",	  "src=",      "@import", "url(",	    "fetch(",
		"XMLHttpRequest", "innerHTML", "eval(",	  "document.write", "insertAdjacentHTML",
		"localStorage"};
	const char *parts[] = {report_page_head, report_page_tail};

	for (size_t i = 0; i < COUNT(never); i++)
		for (size_t k = 0; k < COUNT(parts); k++)
			if (strstr(parts[k], never[i]))
				fail_msg("the page has %s", never[i]);
	assert_non_null(strstr(report_page_head, "default-src 'none'"));
	assert_null(strstr(report_page_head, "unsafe"));
	assert_null(strstr(report_page_head, "{{"));
	assert_null(strstr(report_page_tail, "{{"));
}

static void SI_a_report_is_written_whole_or_not_at_all(void **state)
{
	char folder[] = "page-XXXXXX";
	struct text path = {0}, json = {0};
	struct err e;

	assert_non_null(mkdtemp(folder));
	text_printf(&path, "%s/r.html", folder);
	text_add(&json, "{\"kind\":\"Simulation\"}");
	assert_int_equal(page_write(text_str(&path), &json, &e), ERR_OK);
	assert_int_equal(access(text_str(&path), R_OK), 0);
	assert_int_equal(unlink(text_str(&path)), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing else was left */
	assert_int_equal(page_write(text_str(&path), &json, &e), ERR_IO);
	assert_non_null(strstr(e.msg, "No such file or directory"));
	text_free(&path);
	text_free(&json);
}

static void SI_a_device_or_a_link_stays_what_it_is(void **state)
{
	char folder[] = "page-XXXXXX";
	struct text link = {0}, json = {0};
	char to[8] = "";
	struct err e;

	assert_non_null(mkdtemp(folder));
	text_printf(&link, "%s/r.html", folder);
	text_add(&json, "{\"kind\":\"Simulation\"}");
	assert_int_equal(symlink("to", text_str(&link)), 0);
	assert_int_equal(page_write(text_str(&link), &json, &e), ERR_OK);
	assert_int_equal(readlink(text_str(&link), to, sizeof(to)), 2);
	assert_int_equal(unlink(text_str(&link)), 0);
	assert_int_equal(symlink("/dev/full", text_str(&link)), 0);
	assert_int_equal(page_write(text_str(&link), &json, &e), ERR_IO);
	assert_non_null(strstr(e.msg, "No space left on device"));
	assert_int_equal(unlink(text_str(&link)), 0);
	text_reset(&link);
	text_printf(&link, "%s/to", folder);
	assert_int_equal(unlink(text_str(&link)), 0);
	assert_int_equal(rmdir(folder), 0);
	text_free(&link);
	text_free(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_names_never_become_markup),
		cmocka_unit_test(SI_the_page_needs_nobody_else),
		cmocka_unit_test(SI_a_report_is_written_whole_or_not_at_all),
		cmocka_unit_test(SI_a_device_or_a_link_stays_what_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
