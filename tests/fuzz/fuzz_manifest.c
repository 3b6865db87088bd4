/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file of objects. What is refused is refused with words; whatever is read, built or refused, nothing
 * stays behind: every name that was held is let go in the end, but for the types of resources, which a vocab keeps.
 */
#include <stdlib.h>
#include <string.h>

#include "manifest/manifest.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* Either all is well and nothing is said, or there are words, and they begin with the file. */
static bool went_well(enum err_code rc, struct err *e)
{
	HOLDS(rc == ERR_OK || (e->code == rc && e->msg[0]));
	*e = (struct err){0};
	return rc == ERR_OK;
}

static void check_notes(const struct manifest *m)
{
	for (uint32_t i = 0; i < manifest_note_count(m); i++)
		HOLDS(*manifest_note(m, i) && !strchr(manifest_note(m, i), '\n'));
}

static void build(struct manifest *m, const struct engine_config *config)
{
	struct cluster_options o = engine_config_cluster_options(config, INT64_C(1800000000) * NS_PER_S);
	struct cluster *c;
	struct err e = {0};

	if (went_well(manifest_build(m, &o, &c, &e), &e))
		cluster_free(c);
	check_notes(m);
}

static void read_and_build(struct vocab *v, const char *data, size_t size)
{
	struct manifest *m = manifest_new(v);
	struct engine_config *config = engine_config_new();
	struct err e = {0};

	if (went_well(manifest_read_bytes(m, "input", data, size, &e), &e)) {
		/* Settings were tried when they were read. */
		HOLDS(manifest_configure(m, config, &e) == ERR_OK);
		build(m, config);
	}
	engine_config_free(config);
	manifest_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vocab *v = vocab_new();
	uint32_t n_names = names_count(vocab_names(v)), n_types = vocab_res(v)->n;

	read_and_build(v, (const char *)data, size);
	HOLDS(names_count(vocab_names(v)) == n_names + vocab_res(v)->n - n_types);
	vocab_free(v);
	return 0;
}
