/* SPDX-License-Identifier: Apache-2.0 */
/*
 * documents.h - a set of documents that changes: objects and settings come, are replaced by later versions and go.
 *
 * Each is kept as the tree it was read as, with its positions, so that what shows only when they are read together is
 * still told with file and line. One of a kind, namespace and name; of settings without a name, one of a kind. What
 * cede does not read is not kept. The order is that of their first arrival.
 */
#pragma once

#include "manifest/manifest.h"

struct documents;

struct documents *documents_new(void);
void documents_free(struct documents *d);
uint32_t documents_count(const struct documents *d);

/* Adds or replaces. All of the text or, with an error, nothing; each document is checked by itself. */
enum err_code documents_put(struct documents *d, const char *name, const char *data, size_t len, struct err *e);
/*
 * False: it is not there. No namespace ("") is namespace default. Documents without a kind are of kind "partitions" (a
 * queues.yaml) and "tiers" (KAI's scheduler configuration).
 */
bool documents_remove(struct documents *d, const char *kind, const char *ns, const char *name);
/* All of them into a manifest, as if from files. */
enum err_code documents_read(const struct documents *d, struct manifest *m, struct err *e);
