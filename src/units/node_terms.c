/* SPDX-License-Identifier: Apache-2.0 */
#include "units/labels.h"

#include <string.h>

#define NAME_FIELD "metadata.name"

enum err_code node_field_make(struct arena *a, struct name_bag *bag, const char *key, size_t key_len,
			      enum selector_op op, const char *const *values, const size_t *value_lens,
			      uint32_t n_values, struct requirement *ret, struct err *e)
{
	int shown = key_len < 128 ? (int)key_len : 128;
	if (key_len != strlen(NAME_FIELD) || memcmp(key, NAME_FIELD, key_len) != 0)
		return err_fail(e, ERR_INPUT,
				"field '%.*s': not a field that nodes are selected by, only " NAME_FIELD " is", shown,
				key);
	if (op != SEL_IN && op != SEL_NOT_IN)
		return err_fail(e, ERR_INPUT, "field " NAME_FIELD ": the operator must be In or NotIn");
	if (n_values != 1)
		return err_fail(e, ERR_INPUT, "field " NAME_FIELD ": must have exactly one value, not %u", n_values);
	if (value_lens[0] > 0 && memchr(values[0], '\0', value_lens[0]))
		return err_fail(e, ERR_INPUT, "field " NAME_FIELD ": no node has a name with a zero byte in it");

	name_id *id = arena_type(a, name_id);
	*id = name_bag_add(bag, values[0], value_lens[0]);
	*ret = (struct requirement){.key = name_bag_add(bag, key, key_len), .op = op, .n_values = 1, .values = id};
	return ERR_OK;
}

/* There is one field, so its name need not be looked at. */
static bool fields_match(const struct node_term *t, name_id node_name)
{
	for (uint32_t i = 0; i < t->n_fields; i++)
		if ((t->fields[i].values[0] == node_name) != (t->fields[i].op == SEL_IN))
			return false;
	return true;
}

bool node_term_matches(const struct names *names, const struct node_term *t, const struct labels *l, name_id node_name)
{
	if (t->is_invalid || (t->n_exprs == 0 && t->n_fields == 0) || !fields_match(t, node_name))
		return false;
	for (uint32_t i = 0; i < t->n_exprs; i++)
		if (!requirement_matches(names, &t->exprs[i], l))
			return false;
	return true;
}

bool node_terms_match(const struct names *names, const struct node_terms *t, const struct labels *l, name_id node_name)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (node_term_matches(names, &t->terms[i], l, node_name))
			return true;
	return false;
}
