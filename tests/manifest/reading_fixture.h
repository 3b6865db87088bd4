/* SPDX-License-Identifier: Apache-2.0 */
/* One document of settings, read on top of the engine's defaults. */
#pragma once

#include "config_fixture.h"

struct reading {
	struct fixture f;
	struct engine_config *config;
	enum err_code rc;
};

/* Ready to put the document's tree on top of the defaults; NULL: it has none, and rc says so. */
static inline const struct tree *reading_begin(struct reading *r, const char *file, const char *doc)
{
	const struct tree *t;

	*r = (struct reading){.config = engine_config_new()};
	fixture_init(&r->f, file);
	t = fixture_tree(&r->f, doc);
	r->rc = r->f.e.code;
	return t;
}

static inline void drop_doc(struct reading *r)
{
	engine_config_free(r->config);
	fixture_free(&r->f);
}
