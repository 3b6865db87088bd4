/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a test: whatever held names, shapes and kins must have let them go. */
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
	for (kin_id kin = 0; kin < kin_limit(v); kin++)
		assert_false(kin_is_live(v, kin));
	/* What remains are the names of the resource types, once each. */
	assert_int_equal(names_count(vocab_names(v)), vocab_res(v)->n);
	vocab_free(v);
}
