/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_view.h - the settings in effect, each with where it comes from.
 *
 * As a CedeConfiguration that reads back as the same settings, with a comment behind each value; or as data.
 */
#pragma once

#include "base/emit.h"
#include "engine/config.h"
#include "manifest/manifest.h"

struct config_view {
	const struct manifest *manifest; /* what was read; NULL: nothing */
	const struct engine_config *config;
	bool has_profile; /* given on the command line */
};

void config_view_text(const struct config_view *v, struct text *out);
void config_view_emit(const struct config_view *v, struct emit *e); /* kind EffectiveConfiguration */
