/* SPDX-License-Identifier: Apache-2.0 */
/* write_fixture.h - a cluster from a text, and what is written of it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/emit.h"
#include "manifest/manifest.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

struct fixture {
	struct vocab *vocab;
	struct manifest *manifest;
	struct cluster *cluster;
	struct ledger *ledger;
	struct text out;
};

static inline const struct cluster_options *options(void)
{
	static struct cluster_options o;

	o = cluster_options_default();
	return &o;
}

static inline void build(struct fixture *f, const char *input, const struct cluster_options *o)
{
	struct err e = {0};

	*f = (struct fixture){.vocab = vocab_new()};
	f->manifest = manifest_new(f->vocab);
	if ((*input && manifest_read_bytes(f->manifest, "in.yaml", input, strlen(input), &e)) ||
	    manifest_build(f->manifest, o, &f->cluster, &e))
		fail_msg("%s", e.msg);
	f->ledger = cluster_ledger(f->cluster);
}

static inline const char *output(struct fixture *f, enum emit_format format)
{
	struct emit e;

	text_reset(&f->out);
	emit_init(&e, &f->out, format);
	manifest_write(f->cluster, &e);
	return text_str(&f->out);
}

static inline void end(struct fixture *f)
{
	cluster_free(f->cluster);
	manifest_free(f->manifest);
	vocab_free(f->vocab);
	text_free(&f->out);
}

struct row {
	const char *says, *input, *output;
};

static inline void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fixture f;

		build(&f, rows[i].input, options());
		if (!str_eq(output(&f, EMIT_YAML), rows[i].output))
			fail_msg("%s:\n%s", rows[i].says, f.out.s);
		end(&f);
	}
}

/* What the writer makes of it is written again as it is. */
static inline void check_again(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row again = {rows[i].says, rows[i].output, rows[i].output};

		check(&again, 1);
	}
}

#define RUN(rows)                               \
	do {                                    \
		check(rows, COUNT(rows));       \
		check_again(rows, COUNT(rows)); \
	} while (0)

#define OBJECT(api, kind, name) "apiVersion: " api "\nkind: " kind "\nmetadata:\n  name: " name "\n"
#define IN_NS "  namespace: ns\n"

#define POD OBJECT("v1", "Pod", "p") IN_NS
#define PENDING "status:\n  phase: Pending\n"
