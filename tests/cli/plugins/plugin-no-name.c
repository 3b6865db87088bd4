/* SPDX-License-Identifier: Apache-2.0 */
/* A name that would not look well in a table. */
#include "cede_plugin.h"

const struct cede_plugin cede_plugin = {.abi = CEDE_PLUGIN_ABI, .name = "no name\n"};
