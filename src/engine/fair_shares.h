/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_shares.h - what every queue deserves just now, for whoever shows it. No plan is made.
 */
#pragma once

#include "engine/engine.h"

/*
 * Into ret->shares, as cycle 1 of a plan would have them (decisions_fair_share reads them; ret's arena must be set).
 * False: shares decide nothing here, guarantees do, and ret is as it was.
 */
bool engine_fair_shares(struct engine *en, int64_t now_ns, struct decisions *ret);
