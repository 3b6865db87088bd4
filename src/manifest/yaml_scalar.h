/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_scalar.h - what kind of value the letters of a YAML scalar are, by the core schema of YAML 1.2.
 */
#pragma once

#include "manifest/tree.h"

struct yaml_typed {
	enum tree_kind kind;
	bool truth; /* of a bool */
};

/* tag: as libyaml gives it, or NULL. False if the text is not what its tag says, which ret->kind tells. */
bool yaml_scalar_type(const char *text, size_t n, bool is_plain, const char *tag, struct yaml_typed *ret);
