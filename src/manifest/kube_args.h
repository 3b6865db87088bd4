/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_args.h - arguments of kube-scheduler's plugins. Inside manifest/ only.
 */
#pragma once

#include "engine/config.h"
#include "manifest/config_fields.h"

/*
 * One entry of pluginConfig, {name, args}, on top of *args. Memory and names go into c. Fields that the plugin's
 * arguments do not have and values out of range are refused; arguments of plugins that are not kube-scheduler's get a
 * note.
 */
enum err_code kube_plugin_args(const struct reader *r, const struct at *entry, struct engine_config *c,
			       struct plugin_args *args, struct err *e);
