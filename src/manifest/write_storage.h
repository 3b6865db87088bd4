/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_storage.h - writing the objects of storage, and the volumes of pods. Inside manifest/ only.
 */
#pragma once

#include "manifest/write.h"

/* All objects of a kind (enum storage_kind), to be sorted; and one of them. */
void storage_list(const struct writer *w, uint32_t kind, sorted_list *list);
void storage_write(struct writer *w, uint32_t kind, uint32_t slot);
/* has_claims: of the pod's shape. */
void write_pod_volumes(struct writer *w, const struct pod_volumes *v, bool has_claims);
