/* SPDX-License-Identifier: Apache-2.0 */
/* Written for an interface that is no more. */
#include "cede_plugin.h"

const struct cede_plugin cede_plugin = {.abi = CEDE_PLUGIN_ABI + 1, .name = "old-version"};
