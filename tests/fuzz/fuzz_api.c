/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a program does with the library. A line that begins with a control character is a call, what
 * follows until the next one its text: 1 apply, 2 remove (kind, namespace, name on lines), 3 set, 4 unset, 5 plan,
 * 6 explain, 7 show, 8 profile. What stands before the first is applied. Whatever they are: what is refused is refused
 * with words and changes nothing; what is answered once is answered the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cede.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

enum { TEXT_MAX = 1 << 16, PLANS_MAX = 6 };

struct session {
	struct cede *cede;
	struct cede_result *before; /* the last plan */
	unsigned n_plans;
};

static void check(const struct session *s, enum cede_status status)
{
	HOLDS(status != CEDE_INTERNAL);
	HOLDS(status == CEDE_OK || *cede_error(s->cede));
}

static void change(const struct session *s, enum cede_status status, size_t count_before)
{
	check(s, status);
	if (status)
		HOLDS(cede_count(s->cede) == count_before);
}

static void call_remove(const struct session *s, char *text)
{
	char *ns = strchr(text, '\n'), *name = ns ? strchr(ns + 1, '\n') : NULL;
	size_t count = cede_count(s->cede);

	if (!name)
		return;
	*ns++ = '\0';
	*name++ = '\0';
	name[strcspn(name, "\n")] = '\0';
	change(s, cede_remove(s->cede, text, ns, name), count);
}

static void look_at(const struct cede_result *plan)
{
	struct cede_decision d;
	struct cede_victim v;

	for (size_t i = 0; cede_result_decision(plan, i, &d, sizeof(d)) == CEDE_OK; i++)
		for (size_t j = 0; j < d.n_victims; j++)
			HOLDS(cede_result_victim(plan, i, j, &v, sizeof(v)) == CEDE_OK && *v.pod);
}

static void call_plan(struct session *s)
{
	struct cede_result *plan = NULL, *again = NULL, *difference = NULL;
	enum cede_status status;

	if (s->n_plans++ == PLANS_MAX)
		return;
	status = cede_plan(s->cede, CEDE_JSON, &plan);
	check(s, status);
	if (status)
		return;
	look_at(plan);
	HOLDS(cede_plan(s->cede, CEDE_JSON, &again) == CEDE_OK);
	HOLDS(!strcmp(cede_result_text(plan), cede_result_text(again)));
	cede_result_free(again);
	if (s->before)
		HOLDS(cede_difference(s->cede, s->before, plan, NULL, CEDE_TEXT, &difference) == CEDE_OK);
	cede_result_free(difference);
	cede_result_free(s->before);
	s->before = plan;
}

static void call_explain(struct session *s, const char *what)
{
	struct cede_result *r = NULL;

	if (s->n_plans++ >= PLANS_MAX)
		return;
	check(s, cede_explain(s->cede, what, CEDE_JSON, &r));
	cede_result_free(r);
}

static void call_show(const struct session *s)
{
	struct cede_result *r = NULL;

	check(s, cede_show(s->cede, CEDE_YAML, &r));
	cede_result_free(r);
}

static void call(struct session *s, char what, char *text)
{
	size_t count = cede_count(s->cede);

	switch (what) {
	case 1:
		change(s, cede_apply(s->cede, "input", text, strlen(text)), count);
		break;
	case 2:
		call_remove(s, text);
		break;
	case 3:
		change(s, cede_set(s->cede, text), count);
		break;
	case 4:
		change(s, cede_unset(s->cede, text), count);
		break;
	case 5:
		call_plan(s);
		break;
	case 6:
		call_explain(s, text);
		break;
	case 7:
		call_show(s);
		break;
	case 8:
		check(s, cede_set_profile(s->cede, text));
		break;
	default:
		break;
	}
}

/* The end of the text of a call: before the next line that begins with one. */
static size_t call_length(const char *data, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++)
		if (data[i] == '\n' && data[i + 1] >= 1 && data[i + 1] <= 8)
			return i;
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session s = {.cede = cede_new()};
	const char *at = (const char *)data;
	char what = 1;

	HOLDS(cede_set_now(s.cede, "2027-01-15T08:00:00Z") == CEDE_OK);
	while (size > 0 && size < TEXT_MAX) {
		size_t n;
		char *text;

		if (*at >= 1 && *at <= 8) {
			what = *at++;
			size--;
		}
		n = call_length(at, size);
		text = strndup(at, n);
		HOLDS(text);
		call(&s, what, text);
		free(text);
		at += n < size ? n + 1 : n;
		size -= n < size ? n + 1 : n;
		what = 1;
	}
	call_plan(&s);
	cede_result_free(s.before);
	cede_free(s.cede);
	return 0;
}
