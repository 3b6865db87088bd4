/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_fields.h - what the readers of configuration documents share, beside fields.h. Inside manifest/ only.
 */
#pragma once

#include "manifest/fields.h"
#include "manifest/object.h"

/* A reader without vocab and scratch memory. */
struct reader config_reader(const struct object_source *src, const char *subject);

/* The letters of a string, number or bool, as Go's YAML readers give them to a string field; NULL for all else. */
const char *scalar_text(const struct tree *t);
/* The text of a scalar field; *ret is left alone when it is absent. */
enum err_code get_scalar(const struct reader *r, const struct at *up, const char *key, const char **ret, struct err *e);
/* A bool, also in the words of YAML 1.1 (yes, no, on, off), which typed readers take. */
enum err_code get_flag(const struct reader *r, const struct at *up, const char *key, bool *ret, struct err *e);
/* One of the words (NULL-terminated); *ret is its place in the list. */
enum err_code get_word(const struct reader *r, const struct at *up, const char *key, const char *const *words, int *ret,
		       struct err *e);
/* "expected soft or hard, found ..." and, where one is near, "did you mean". */
enum err_code at_word_expected(const struct reader *r, const struct at *a, const char *const *words, struct err *e)
	__attribute__((cold));
/* A list of strings that are not empty, copied into the arena. */
enum err_code get_texts(const struct reader *r, const struct at *up, const char *key, struct arena *a,
			const char *const **ret, uint32_t *ret_n, struct err *e);
/* A list or nothing; ret is its place. */
enum err_code get_list(const struct reader *r, const struct at *up, const char *key, struct at *ret, struct err *e);
/* The value of field i of a map, whatever it is. */
struct at at_nth_field(const struct at *map, uint32_t i);
/* For objects of a cluster, where what nobody knows is no error: a note for each field that is not in the list. */
void at_note_unknown(const struct reader *r, const struct at *map, const char *const *known);
/* The same where others may know more fields than we do: only for what looks like a slip of the pen. */
void at_note_slips(const struct reader *r, const struct at *map, const char *const *known);
