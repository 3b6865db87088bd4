/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule.h"

const char *rule_text(enum rule_id r)
{
#define X(id, text) [RULE_##id] = (text),
	static const char *const texts[RULE_COUNT] = {[RULE_NONE] = "", [RULE_PLUGIN] = "plugin", RULE_LIST(X)};
#undef X

	return texts[r];
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
