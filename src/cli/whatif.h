/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif.h - the options that think of another cluster than the one that was read: --add, --remove, --drain, --set.
 */
#pragma once

#include "cli/common.h"
#include "cli/planning.h"
#include "manifest/whatif.h"

extern const struct argp whatif_argp; /* its input is a struct whatif */

/* Plans both and prints the difference. EXIT_STRICT: is_strict, and work waits then that does not wait today. */
int whatif_plan(struct cli_input *in, const struct whatif *w, const struct planning *planning,
		const struct cli_output *out, bool is_strict, const char *command);
