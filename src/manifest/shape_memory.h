/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_memory.h - shapes of pods that were read, by what was written.
 *
 * Pods of a template differ in who they are and where they run, and in nothing that their shape is made of. What that
 * is made of is put into one string of bytes (shape_memory.c says which fields), and where the same bytes were read
 * before, without an error and without a note, the shape is the one of then. Each shape that is remembered is held.
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "manifest/fields.h"

struct known_shape {
	size_t from; /* in the bytes of all */
	uint32_t n;
	shape_id shape;
};

struct shape_memory { /* zero-initialised */
	struct vocab *vocab;
	struct map at; /* by hash, in v */
	ARRAY(struct known_shape) v;
	struct text bytes; /* of all of them, one after the other */
	struct text key;   /* of the pod that is being read; empty: it is not to be remembered */
	size_t notes;	   /* so long were the notes before */
};

void shape_memory_free(struct shape_memory *m);
/* The shape of a pod, held once more; SHAPE_NONE: it has to be read. m may be NULL. */
shape_id shape_memory_find(struct shape_memory *m, const struct reader *r, const struct at *pod);
/* It was read without an error. */
void shape_memory_keep(struct shape_memory *m, const struct reader *r, shape_id shape);
