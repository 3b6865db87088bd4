/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of rules: what is made of it, and that docs/rules.md tells the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "rules/judge.h"

/* ---- what the documentation has to say ---- */

static void add_word(struct text *t, const char *word)
{
	text_printf(t, "%s`%s`", t->n ? ", " : "", word);
}

/* "all", "all but `quota`", "`reclaim`", "`reclaim`, `preempt`" */
static void actions_cell(uint32_t actions, struct text *out)
{
	uint32_t without = BY_ANY & ~actions;
	bool is_short = __builtin_popcount(without) <= 3;
	struct text names = {0};

	for (enum action a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
		if ((is_short ? without : actions) >> a & 1)
			add_word(&names, action_text(a));
	text_add(out, !is_short ? "" : without ? "all but " : "all");
	text_add(out, text_str(&names));
	text_free(&names);
}

static void profiles_cell(enum rule_id rule, struct text *out)
{
	for (enum profile p = 0; p < PROFILE_COUNT; p++) {
		if (!profile_has_rule(p, rule))
			continue;
		add_word(out, profile_text(p));
		if (profile_get(p)->soft >> rule & 1)
			text_add(out, " (spares)");
	}
}

static void settings_cell(enum rule_id rule, struct text *out)
{
	text_add(out, *rule_settings_text(rule) ? "" : "–");
	for (const char *s = rule_settings_text(rule); *s; s += strspn(s, " ")) {
		char field[64];
		size_t n = strcspn(s, " ");

		snprintf(field, sizeof(field), "%.*s", (int)n, s);
		add_word(out, field);
		s += n;
	}
}

static void expected_end(enum rule_id rule, struct text *out)
{
	struct text actions = {0}, profiles = {0}, settings = {0};

	actions_cell(rule_actions(rule), &actions);
	profiles_cell(rule, &profiles);
	settings_cell(rule, &settings);
	text_printf(out, " | %s | %s | %s |\n", text_str(&actions), text_str(&profiles), text_str(&settings));
	text_free(&actions);
	text_free(&profiles);
	text_free(&settings);
}

static char *read_docs(void)
{
	FILE *f = fopen("docs/rules.md", "r");
	char *s;
	long n;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	rewind(f);
	s = calloc((size_t)n + 1, 1);
	assert_int_equal(fread(s, 1, (size_t)n, f), n);
	fclose(f);
	return s;
}

/* The first row of the page that begins with this rule. */
static void assert_row(const char *docs, enum rule_id rule, const char **after)
{
	struct text begin = {0}, end = {0};
	const char *at, *stop;

	text_printf(&begin, "\n| `%s` | ", rule_text(rule));
	expected_end(rule, &end);
	at = strstr(docs, text_str(&begin));
	stop = at ? strchr(at + 1, '\n') : NULL;
	if (!stop || stop + 1 - at < (long)end.n || strncmp(stop + 1 - end.n, text_str(&end), end.n) != 0)
		fail_msg("docs/rules.md: the row of %s should end in:%s", rule_text(rule), text_str(&end));
	if (at < *after)
		fail_msg("docs/rules.md: %s stands before the rule that is asked before it", rule_text(rule));
	*after = at;
	text_free(&begin);
	text_free(&end);
}

static void ONE_1_docs_tell_order_actions_profiles_and_settings_of_every_rule(void **state)
{
	char *docs = read_docs();
	const char *after = docs;

	(void)state;
	for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++)
		if (rule_actions(r))
			assert_row(docs, r, &after);
	free(docs);
}

/* ---- the table itself ---- */

static void every_rule_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++) {
		assert_true(*rule_text(r));
		for (enum rule_id k = RULE_NONE; k < r; k++)
			assert_string_not_equal(rule_text(r), rule_text(k));
	}
}

static void what_may_have_to_give_way_says_so_in_words(void **state)
{
	(void)state;
	for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++)
		for (enum profile p = 0; p < PROFILE_COUNT; p++)
			if (profile_get(p)->soft >> r & 1 && !*rule_overridden_text(r))
				fail_msg("%s spares in profile %s and has no words for when it is overridden",
					 rule_text(r), profile_text(p));
}

static void no_profile_leaves_out_what_it_does_not_have(void **state)
{
	(void)state;
	for (enum profile p = 0; p < PROFILE_COUNT; p++)
		for (enum action a = ACTION_NONE; a < ACTION_COUNT; a++)
			for (enum rule_id r = RULE_NONE; r < RULE_COUNT; r++)
				if (profile_get(p)->unasked[a] >> r & 1)
					assert_true(profile_has_rule(p, r) && profile_has_action(p, a) &&
						    rule_actions(r) >> a & 1);
}

static void names_for_completion_are_the_table(void **state)
{
	size_t n = 0;

	(void)state;
	for (enum rule_id r = RULE_NONE + 1; r < RULE_COUNT; r++)
		if (rule_actions(r))
			assert_string_equal(rule_words[n++], rule_text(r));
	assert_null(rule_words[n]);
	for (n = 0; action_words[n]; n++)
		assert_string_equal(action_words[n], action_text((enum action)(n + 1)));
	assert_int_equal(n, ACTION_COUNT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ONE_1_docs_tell_order_actions_profiles_and_settings_of_every_rule),
		cmocka_unit_test(every_rule_has_a_name_of_its_own),
		cmocka_unit_test(what_may_have_to_give_way_says_so_in_words),
		cmocka_unit_test(no_profile_leaves_out_what_it_does_not_have),
		cmocka_unit_test(names_for_completion_are_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
