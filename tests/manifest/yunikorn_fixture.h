/* SPDX-License-Identifier: Apache-2.0 */
/* A queues.yaml, read, and tables of what is said about it. */
#pragma once

#include "config_fixture.h"

struct reading {
	struct fixture f;
	struct yunikorn_config config;
	enum err_code rc;
};

static inline void read_doc(struct reading *r, const char *doc)
{
	const struct tree *t;

	*r = (struct reading){0};
	fixture_init(&r->f, "queues.yaml");
	t = fixture_tree(&r->f, doc);
	r->rc = t ? manifest_yunikorn(r->f.vocab, r->f.arena, &r->f.src, t, &r->config, &r->f.e) : r->f.e.code;
}

static inline void drop_doc(struct reading *r)
{
	for (uint32_t i = 0; i < r->config.n; i++)
		queue_spec_free(&r->config.queues[i].spec);
	fixture_free(&r->f);
}

static inline const struct queue_def *find(const struct reading *r, const char *path)
{
	for (uint32_t i = 0; i < r->config.n; i++)
		if (!strcmp(r->config.queues[i].path, path))
			return &r->config.queues[i];
	fail_msg("no queue %s", path);
	return NULL;
}

struct row {
	const char *story, *doc;
	const char *error; /* NULL: accepted */
};

static inline void run(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct reading r;
		const char *want = rows[i].error ? rows[i].error : "";

		read_doc(&r, rows[i].doc);
		if ((r.rc != ERR_OK) != (rows[i].error != NULL) || strcmp(r.f.e.msg, want))
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].story, r.f.e.msg, want);
		drop_doc(&r);
	}
}

/* A partition whose root has these lines, which are indented by six. */
#define ROOT(lines) "partitions:\n- name: default\n  queues:\n  - name: root\n" lines
