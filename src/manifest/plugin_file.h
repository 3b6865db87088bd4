/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_file.h - is this a file whose code may run in here?
 *
 * Whoever can write a plugin's file, or exchange it, can do whatever cede may do. So it must be a regular file that
 * belongs to root or to who runs cede and that nobody else may write; the same must hold of its folder, and of every
 * folder and every link's folder on the way to it, but that a folder others may write is fine further up if they cannot
 * exchange what is in it (the sticky bit, as in /tmp).
 *
 * Each step of the way is opened from the one before and looked at when it is open, so what was looked at is what is
 * loaded, whatever happens to the names meanwhile. Nothing is opened for reading: a pipe does not block, and no
 * device is touched.
 */
#pragma once

#include "base/text.h"

/* A descriptor (O_PATH) of the file, or -1 and why in words: "others than its owner may write to it (mode 0666)". */
int plugin_file_open(const char *path, struct text *ret_why);
/* The name under which exactly that file can be loaded while the descriptor is open. */
void plugin_file_name(int fd, struct text *out);
