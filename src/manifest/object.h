/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - what the readers of single objects share.
 */
#pragma once

#include "manifest/fields.h"
#include "manifest/manifest.h"

/* A reader with a scratch arena of its own; the arena is src->scratch if that is given, else made and freed here. */
struct reader object_reader(struct vocab *v, const struct object_source *src);
void object_reader_end(struct reader *r);

struct controller_ref { /* the owner reference with controller: true; "" where there is none */
	const char *kind, *name, *uid;
};
enum err_code get_controller(const struct reader *r, const struct at *metadata, struct controller_ref *ret,
			     struct err *e);
enum owner_kind owner_kind_parse(const char *s);
/* metadata.labels with a namespace ("" for cluster-wide objects). */
enum err_code get_labelset(const struct reader *r, const struct at *metadata, const char *ns, labelset_id *ret,
			   struct err *e);
/* "true", "false", anything else is not set. */
enum tristate allow_preemption(const char *s);
