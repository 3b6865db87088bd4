/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - everything that depends on the settings: names, configuration, a cluster with its queues, the engine.
 *
 * Settings are taken as a whole or not at all: world_new reads, validates and builds, and what it builds replaces the
 * world before it, or it fails and that one stays in force (CL-7).
 */
#pragma once

#include "engine/engine.h"
#include "manifest/manifest.h"
#include "manifest/plugins.h"

struct world_text {	  /* what a ConfigMap says */
	const char *name; /* for messages */
	const char *text; /* NULL or "": nothing */
};

struct world_source {
	const char *const *files; /* --config */
	uint32_t n_files;
	const struct world_text *texts; /* on top of them, in this order */
	uint32_t n_texts;
	bool has_profile;
	enum profile profile;
	const char *const *scheduler_names; /* counts more than the settings; 0: as they say, else "cede" */
	uint32_t n_scheduler_names;
};

struct world {
	struct world_source source; /* without its files and texts: the manifest has what they said */
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
	struct plugins *plugins;
	struct engine *engine;
};

/* Reads files. On failure the error says where and what was expected. */
enum err_code world_new(const struct world_source *src, int64_t now_ns, struct world **ret, struct err *e);
/* Another one of what w was made of, whatever the files say by now. Borrows what w's source did. */
enum err_code world_again(const struct world *w, int64_t now_ns, struct world **ret, struct err *e);
void world_free(struct world *w); /* NULL is fine */
