/* SPDX-License-Identifier: Apache-2.0 */
/* One document as a tree, and what readers of configuration say about it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/manifest.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

struct fixture {
	struct vocab *vocab;
	struct arena *arena;
	struct text notes;
	struct object_source src;
	struct err e;
};

static inline void fixture_init(struct fixture *f, const char *file)
{
	*f = (struct fixture){.vocab = vocab_new(), .arena = arena_new(4096)};
	f->src = (struct object_source){.name = file, .notes = &f->notes};
}

/* Nothing may be left over: every name that was held must have been let go. */
static inline void fixture_free(struct fixture *f)
{
	text_free(&f->notes);
	arena_free(f->arena);
	vocab_free(f->vocab);
}

/* The document's tree, or NULL with f->e set. */
static inline const struct tree *fixture_tree(struct fixture *f, const char *doc)
{
	struct tree_reader *r = tree_reader_new(f->src.name, doc, strlen(doc));
	struct tree_doc d;

	tree_next(r, f->arena, &d, &f->e);
	tree_reader_free(r);
	return d.root;
}
