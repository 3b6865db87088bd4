/* SPDX-License-Identifier: Apache-2.0 */
/* CL_10: only who the API server knows, and lets, may read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/token_review.h"

struct row {
	const char *name;
	int token_status;
	const char *token_answer;
	int access_status;
	const char *access_answer;
	enum serve_access access;
};

#define KNOWN                                                                                                   \
	"{\"status\": {\"authenticated\": true, \"user\": {\"username\": \"ann\", \"uid\": \"7\", \"groups\": " \
	"[\"ops\"],"                                                                                            \
	" \"extra\": {\"a/b\": [\"c\"]}}}}"

static const struct row rows[] = {
	{"known and allowed", 201, KNOWN, 201, "{\"status\": {\"allowed\": true}}", ACCESS_ALLOWED},
	{"known and not allowed", 201, KNOWN, 201, "{\"status\": {\"allowed\": false}}", ACCESS_FORBIDDEN},
	{"allowed and denied is denied", 201, KNOWN, 201, "{\"status\": {\"allowed\": true, \"denied\": true}}",
	 ACCESS_FORBIDDEN},
	{"allowed as a word is not allowed", 201, KNOWN, 201, "{\"status\": {\"allowed\": \"true\"}}",
	 ACCESS_FORBIDDEN},
	{"not known", 201, "{\"status\": {\"authenticated\": false}}", 0, NULL, ACCESS_UNKNOWN},
	{"nothing said", 201, "{\"status\": {}}", 0, NULL, ACCESS_UNKNOWN},
	{"no status", 201, "{}", 0, NULL, ACCESS_TROUBLE},
	{"no JSON", 201, "<html>", 0, NULL, ACCESS_TROUBLE},
	{"half of it", 201, "{\"status\": {\"authenticated\": true", 0, NULL, ACCESS_TROUBLE},
	{"we may not ask", 403, "{}", 0, NULL, ACCESS_TROUBLE},
	{"no answer", 0, "", 0, NULL, ACCESS_TROUBLE},
	{"no answer to the second question", 201, KNOWN, 0, "", ACCESS_TROUBLE},
	{"an error that looks like consent", 201, KNOWN, 500, "{\"status\": {\"allowed\": true}}", ACCESS_TROUBLE},
};

struct asked {
	const struct row *row;
	char bodies[2][1024];
	int n;
};

static int post(void *ctx, const char *path, const struct text *body, struct text *ret)
{
	struct asked *a = ctx;
	bool is_first = strstr(path, "tokenreviews") != NULL;

	assert_true(a->n < 2);
	snprintf(a->bodies[a->n++], sizeof(a->bodies[0]), "%s", text_str(body));
	text_add(ret, is_first ? a->row->token_answer : a->row->access_answer);
	return is_first ? a->row->token_status : a->row->access_status;
}

static void CL_10_what_the_api_server_says(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct asked a = {.row = &rows[i]};
		struct review_transport t = {post, &a};

		print_message("  %s\n", rows[i].name);
		assert_int_equal(token_review_with(&t, "se\"cret", "HEAD", "/api/v1/pods"), rows[i].access);
	}
}

static void CL_10_the_user_is_handed_on_as_it_was_said(void **state)
{
	struct asked a = {.row = &rows[0]};
	struct review_transport t = {post, &a};

	token_review_with(&t, "se\"cret", "HEAD", "/api/v1/pods");
	assert_non_null(strstr(a.bodies[0], "\"spec\":{\"token\":\"se\\\"cret\"}"));
	assert_non_null(
		strstr(a.bodies[1], "\"user\":\"ann\",\"uid\":\"7\",\"groups\":[\"ops\"],\"extra\":{\"a/b\":[\"c\"]}"));
	assert_non_null(
		strstr(a.bodies[1], "\"nonResourceAttributes\":{\"path\":\"/cede/api/v1/pods\",\"verb\":\"get\"}"));
	assert_null(strstr(a.bodies[1], "cret"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_10_what_the_api_server_says),
		cmocka_unit_test(CL_10_the_user_is_handed_on_as_it_was_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
