/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - what stands behind the handles of cede.h. Inside api/ only.
 */
#pragma once

#include <locale.h>

#include "cede.h"
#include "engine/engine.h"
#include "explain/plan_view.h"
#include "journal/difference.h"
#include "manifest/documents.h"
#include "manifest/whatif.h"

struct cede {
	struct documents *documents;
	struct whatif whatif; /* settings; its strings are ours */
	bool has_now, has_profile;
	int64_t now_ns;
	enum profile profile;
	uint32_t cycles, threads;
	struct err error; /* of the last call that failed */
	/* All documents read together; cluster NULL: they have to be read first. */
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
};

struct cede_result {
	struct text text;
	bool is_plan; /* then there is all that follows */
	struct journal_run run;
	struct plan_side side;
	uint32_t n_victims;
	struct running_pods running;
};

/* The program that calls may have a locale in which numbers are written otherwise. */
struct plain_locale {
	locale_t plain, before;
};
struct plain_locale plain_locale_begin(void);
void plain_locale_end(struct plain_locale *l);
#define IN_PLAIN_LOCALE \
	__attribute__((cleanup(plain_locale_end), unused)) struct plain_locale in_plain_locale_ = plain_locale_begin()

/* Keeps the words, and is the code for the caller. */
enum cede_status api_status(struct cede *c, enum err_code rc, const struct err *e);
enum cede_status api_misuse(struct cede *c, const char *words);
/* Reads all documents together unless that is done. */
enum err_code api_read(struct cede *c, struct err *e);

struct cede_result *result_new(void);
