/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h - long texts that resemble each other, kept in the least room. Inside journal/ only.
 *
 * A text is cut where its own bytes say so, so that the same passage is cut alike wherever it stands, and each chunk is
 * kept once. A chunk that is new is compressed against the one that stood in its place in an earlier text (its base),
 * which makes it as small as what changed; bases have no bases themselves. What a text consists of is a list of chunks,
 * kept as a chunk in the same way.
 *
 * Chunks are found by their hash and then compared: two that only have the same hash are two. Whoever reads a text
 * checks the hash of its list and of every chunk; what is read is what was written, or damage is reported.
 *
 * The statements stay open as long as the struct.
 */
#pragma once

#include <stddef.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "journal/store.h"

#define TEXT_BYTES_MAX UINT64_C(1000000000) /* of one text; a journal that claims more is damaged or forged */

struct chunk_ref { /* of a text: its list. Id 0: the empty text */
	int64_t id;
	uint64_t hash;
};

struct chunks;
enum err_code chunks_open(struct journal *j, struct chunks **ret, struct err *e);
void chunks_close(struct chunks *c); /* NULL is fine */

/* like: texts of which this one may be a later version; the one with most in common is built upon. */
enum err_code chunks_write(struct chunks *c, const char *s, size_t n, const struct chunk_ref *like, uint32_t n_like,
			   struct chunk_ref *ret, struct err *e);
/* With a NUL behind it. */
enum err_code chunks_read(struct chunks *c, struct chunk_ref ref, struct arena *a, const char **ret, size_t *ret_n,
			  struct err *e);
/* Adds the ids of everything the text needs to a set (any value). */
enum err_code chunks_mark(struct chunks *c, struct chunk_ref ref, struct map *used, struct err *e);
/* Removes every chunk that is not in the set. */
enum err_code chunks_sweep(struct chunks *c, const struct map *used, struct err *e);

typedef ARRAY(int64_t) id_list;
enum err_code chunks_list(struct chunks *c, id_list *out, struct err *e); /* all of them */
/* One chunk: can it be read, and is it what its hash says? */
struct chunk_size {
	uint64_t hash, n; /* bytes */
};
enum err_code chunks_check(struct chunks *c, int64_t id, struct chunk_size *ret, struct err *e);
/* Is a text all there, if these chunks are? known: from an id to its place in sizes. */
enum err_code chunks_check_text(struct chunks *c, struct chunk_ref ref, const struct map *known,
				const struct chunk_size *sizes, uint64_t *ret_n, struct err *e);
