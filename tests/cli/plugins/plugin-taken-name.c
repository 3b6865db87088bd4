/* SPDX-License-Identifier: Apache-2.0 */
/* Calls itself as one of cede's own does. */
#include "cede_plugin.h"

const struct cede_plugin cede_plugin = {.abi = CEDE_PLUGIN_ABI, .name = "NodeAffinity"};
