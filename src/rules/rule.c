/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule.h"

const char *rule_text(enum rule_id r)
{
	static const char *const texts[RULE_COUNT] = {
		[RULE_NONE] = "",
#define X(id, text) [RULE_##id] = text,
		RULE_LIST(X)
#undef X
			[RULE_PLUGIN] = "plugin",
	};

	return texts[r];
}

const char *action_text(enum action a)
{
	static const char *const texts[ACTION_COUNT] = {
		[ACTION_NONE] = "",
#define X(id, text) [ACTION_##id] = text,
		ACTION_LIST(X)
#undef X
	};

	return texts[a];
}
