/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Property: every document that was read as YAML, written as JSON and read again is the same.
 */
#include "fuzz_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct tree_reader *r = tree_reader_new("f", (const char *)data, n);
	struct arena *a = arena_new(256);
	struct tree_doc doc;
	struct err e;
	for (;;) {
		arena_reset(a);
		if (tree_next(r, a, &doc, &e) != ERR_OK) {
			assert(doc.root == NULL && strncmp(e.msg, "f:", 2) == 0);
			break;
		}
		if (doc.root == NULL)
			break;
		check_root(doc.root);
		check_round_trip(doc.root);
	}
	tree_reader_free(r);
	arena_free(a);
	return 0;
}
