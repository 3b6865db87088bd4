/* SPDX-License-Identifier: Apache-2.0 */
/* console.h - the page that is served at "/": its sources (web/console) are in the program. */
#pragma once

#include "serve/serve.h"

extern const struct serve_file console_files[]; /* made by tools/embed-files */
extern const uint32_t n_console_files;
