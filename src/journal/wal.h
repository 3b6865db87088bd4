/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wal.h - is the log beside a journal whole?
 *
 * SQLite reads a write-ahead log up to the first frame that is not right and forgets the rest, because a writer that
 * was killed leaves such an end. A log that is broken in the middle looks the same to it, and the runs behind that
 * place would be gone without a word. They differ in what follows: after an end there is no frame that completes a
 * transaction, after a break there is (or it is itself the whole, last frame, which a killed writer does not leave).
 * After a power failure a log may look broken whose last transaction had not been acknowledged; that cannot be told
 * apart.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

bool wal_exists(const char *path); /* of the journal at path; with something in it */
/*
 * No log, an empty one or one of an interrupted writer is fine. The path is that of the file itself, beside which the
 * log is, not of a link to it; errors begin with the path as it was told.
 */
enum err_code wal_check(const char *path, const char *told, struct err *e);
