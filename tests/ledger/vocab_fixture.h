/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a test: whatever held names, shapes and label sets must have let them go. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/shape.h"

static inline void vocab_free_empty(struct vocab *v)
{
	assert_int_equal(shape_count(v), 0);
	for (labelset_id labelset = 0; labelset < labelset_limit(v); labelset++)
		assert_false(labelset_is_live(v, labelset));
	/* What remains are the names of the resource types, once each. */
	assert_int_equal(names_count(vocab_names(v)), vocab_res(v)->n);
	vocab_free(v);
}
