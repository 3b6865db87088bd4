/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the table of rules that are words and sets; its functions are asked by judge.c. */
#include "rules/rule.h"

struct rule_row {
	const char *name, *settings, *overridden;
	uint32_t actions;
};

#define X(id, table, text, hard, soft, by, fields, against) \
	[RULE_##id] = {.name = (text), .settings = (fields), .overridden = (against), .actions = (by)},
static const struct rule_row rows[RULE_COUNT] = {[RULE_NONE] = {.name = "", .settings = "", .overridden = ""},
						 RULE_TABLE(X)};
#undef X

#define X(id, table, text, ...) (text),
const char *const rule_words[] = {RULE_TABLE(X) NULL};
#undef X
#define X(id, text) (text),
const char *const action_words[] = {ACTION_LIST(X) NULL};
#undef X

const char *rule_text(enum rule_id r)
{
	return rows[r].name;
}

const char *rule_overridden_text(enum rule_id r)
{
	return rows[r].overridden;
}

const char *rule_settings_text(enum rule_id r)
{
	return rows[r].settings;
}

uint32_t rule_actions(enum rule_id r)
{
	return rows[r].actions;
}

const char *rule_verdict_name(const struct rule_verdict *v)
{
	return v->rule == RULE_PLUGIN && v->plugin ? v->plugin : rule_text((enum rule_id)v->rule);
}

const char *action_text(enum action a)
{
#define X(id, text) [ACTION_##id] = (text),
	static const char *const texts[ACTION_COUNT] = {[ACTION_NONE] = "", ACTION_LIST(X)};
#undef X

	return texts[a];
}
