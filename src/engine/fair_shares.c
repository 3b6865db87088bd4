/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fair_shares.h"

#include "engine/engine_internal.h"
#include "engine/session.h"

bool engine_fair_shares(struct engine *en, int64_t now_ns, struct decisions *ret)
{
	bool by_scenarios = profile_get(en->config->profile)->search_mode == MODE_SCENARIOS;
	struct session *s;

	if (!by_scenarios && !engine_uses_shares(en->config))
		return false;
	s = session_new(en, now_ns, !by_scenarios); /* as the cycle would begin */
	session_keep_shares(s, 1, ret);
	session_free(s);
	return true;
}
