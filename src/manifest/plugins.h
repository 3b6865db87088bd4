/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.h - loads the plugins that a CedeConfiguration names: shared objects that export one table
 * (include/cede_plugin.h).
 *
 * A file that is not there, that somebody else could have written (plugin_file.h), that is no shared object, has no
 * table or one of another version, calls itself as another plugin does, or whose create fails is left out with a
 * complaint that says where it was named; the others are loaded all the same. A relative path begins at the folder of
 * the file that names it. Which files may name plugins at all, manifest.h says.
 */
#pragma once

#include "engine/config.h"
#include "filters/framework.h"

struct plugins;

struct plugins *plugins_load(const struct engine_config *c); /* never NULL; c may go */
/* What was loaded, in the order of the configuration, for engine_new. */
const struct framework_plugin *plugins_loaded(const struct plugins *p, uint32_t *ret_n);
uint32_t plugins_complaint_count(const struct plugins *p);
const char *plugins_complaint(const struct plugins *p,
			      uint32_t i); /* "cede.yaml:4:3: plugin x.so: no file ...; it is not loaded" */
/* Destroys and unloads them; after the engine that uses them. NULL is fine. */
void plugins_free(struct plugins *p);
