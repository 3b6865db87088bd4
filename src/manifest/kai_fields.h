/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kai_fields.h - what KAI's scheduler configuration and its SchedulingShards have in common. Inside manifest/ only.
 *
 * KAI ends on an action it does not know, and goes on with a word in the log where a plugin or an argument is strange;
 * so do we, with a note.
 */
#pragma once

#include "manifest/config_fields.h"

/* The actions' names there, in the order in which they run unless told otherwise. */
extern const char *const kai_action_words[];
enum action kai_action(int word);

enum kai_plugin {
	KAI_NO_PLUGIN = -1,
	KAI_PREDICATES,
	KAI_PROPORTION,
	KAI_PRIORITY,
	KAI_ELASTIC,
	KAI_NODE_PLACEMENT,
	KAI_MIN_RUNTIME
};
extern const char *const kai_plugin_words[]; /* those of the enum first */
/* What this name means; a note where nothing is called so. */
int kai_plugin(const struct reader *r, const struct at *a, const char *name);
bool kai_has_arguments(int plugin);
/* As if the plugin had no arguments. */
void kai_reset_plugin(int plugin, struct engine_config *c);
/* The map `arguments` of a plugin, in place of all it had before. */
enum err_code kai_arguments(const struct reader *r, const struct at *arguments, int plugin, struct engine_config *c,
			    struct err *e);
/* kValue of plugin proportion: said to have no effect. */
void kai_note_k_value(const struct reader *r, const struct at *a);
/* One of plugin minruntime's, wherever it stands. */
void kai_min_runtime(const struct reader *r, const struct at *a, const char *text, int64_t *ret_ns);
/* Which of the plugins that matter are not used; cede can do without predicates alone, and says so. */
void kai_left_out(const struct reader *r, const struct at *a, unsigned used, struct engine_config *c);
enum err_code kai_depths(const struct reader *r, const struct at *depths, struct engine_config *c, struct err *e);
