/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors and node selector terms as objects write them. */
#include "manifest/fields.h"

struct raw_requirement { /* as written, types checked only */
	const char *key, *op;
	const char **values;
	size_t *lens;
	uint32_t n;
};

static enum err_code read_raw(const struct reader *r, const struct at *a, struct raw_requirement *ret, struct err *e)
{
	struct at values = at_field(a, "values");

	*ret = (struct raw_requirement){.key = "", .op = ""};
	if (!a->t)
		return at_expected(r, a, e, "a map with key and operator");
	TRY(get_text(r, a, "key", &ret->key, e));
	TRY(get_text(r, a, "operator", &ret->op, e));
	TRY(at_want(r, &values, TREE_LIST, e));
	ret->n = at_count(&values);
	ret->values = arena_n(r->scratch, ret->n + 1, const char *);
	ret->lens = arena_n(r->scratch, ret->n + 1, size_t);
	for (uint32_t i = 0; i < ret->n; i++) {
		struct at v = at_item(&values, i);

		if (v.t->kind != TREE_STRING)
			return at_expected(r, &v, e, "a string");
		ret->values[i] = v.t->text;
		ret->lens[i] = v.t->n;
	}
	return ERR_OK;
}

static enum err_code match_labels(const struct reader *r, const struct at *a, struct arena *arena, struct name_bag *bag,
				  struct requirement *out, struct err *e)
{
	for (uint32_t i = 0; a->t && i < a->t->n; i++) {
		const struct tree_field *f = &a->t->fields[i];
		struct at v = {.up = a, .t = f->value, .key = f->key};
		const char *text;
		size_t len;
		struct err why;

		if (v.t->kind != TREE_STRING && v.t->kind != TREE_NULL)
			return at_expected(r, &v, e, "a string");
		text = v.t->kind == TREE_STRING ? v.t->text : "";
		len = v.t->kind == TREE_STRING ? v.t->n : 0;
		if (requirement_make(arena, bag, f->key, f->key_len, SEL_EQUAL, &text, &len, 1, &out[i], &why))
			return at_fail(r, &v, e, "%s", why.msg);
	}
	return ERR_OK;
}

static enum err_code match_expression(const struct reader *r, const struct at *a, struct arena *arena,
				      struct name_bag *bag, struct requirement *out, struct err *e)
{
	struct raw_requirement raw;
	enum selector_op op;
	struct err why;

	TRY(read_raw(r, a, &raw, e));
	if (!selector_op_parse(raw.op, false, &op)) {
		struct at o = at_field(a, "operator");

		return at_expected(r, &o, e, "In, NotIn, Exists or DoesNotExist");
	}
	if (requirement_make(arena, bag, raw.key, strlen(raw.key), op, raw.values, raw.lens, raw.n, out, &why))
		return at_fail(r, a, e, "%s", why.msg);
	return ERR_OK;
}

enum err_code at_label_selector(const struct reader *r, const struct at *a, struct arena *arena, struct name_bag *bag,
				struct selector *ret, struct err *e)
{
	struct at labels = at_field(a, "matchLabels"), exprs = at_field(a, "matchExpressions");
	struct requirement *reqs;
	uint32_t n_labels, n;

	if (!a->t) {
		*ret = SELECTOR_NOTHING;
		return ERR_OK;
	}
	TRY(at_want(r, a, TREE_MAP, e));
	TRY(at_want(r, &labels, TREE_MAP, e));
	TRY(at_want(r, &exprs, TREE_LIST, e));
	n_labels = labels.t ? labels.t->n : 0;
	n = n_labels + at_count(&exprs);
	reqs = arena_n(arena, n + 1, struct requirement);
	TRY(match_labels(r, &labels, arena, bag, reqs, e));
	for (uint32_t i = 0; i < at_count(&exprs); i++) {
		struct at x = at_item(&exprs, i);

		TRY(match_expression(r, &x, arena, bag, &reqs[n_labels + i], e));
	}
	*ret = selector_make(r->names, reqs, n);
	return ERR_OK;
}

static void unknown_operator(const char *op, struct err *why)
{
	static const char *const words[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", NULL};
	const char *near_word = nearest_word(op, words);

	err_set(why, ERR_INPUT, "unknown operator '%.40s'%s%s%s", op, near_word ? "; did you mean " : "",
		near_word ? near_word : "", near_word ? "?" : "");
}

/* Kubernetes keeps node terms it cannot parse and lets them match nothing. So do we, with a note. */
static enum err_code node_requirements(const struct reader *r, const struct at *list, struct arena *arena,
				       struct name_bag *bag, bool are_fields, struct node_term *term, struct err *e)
{
	uint32_t n = at_count(list), n_good = 0;
	struct requirement *reqs = arena_n(arena, n + 1, struct requirement);
	enum err_code (*make)(struct arena *, struct name_bag *, const char *, size_t, enum selector_op,
			      const char *const *, const size_t *, uint32_t, struct requirement *, struct err *) =
		are_fields ? node_field_make : requirement_make;

	TRY(at_want(r, list, TREE_LIST, e));
	for (uint32_t i = 0; i < n; i++) {
		struct at a = at_item(list, i);
		struct raw_requirement raw;
		enum selector_op op;
		struct err why;
		bool is_bad;

		TRY(read_raw(r, &a, &raw, e));
		unknown_operator(raw.op, &why);
		is_bad = !selector_op_parse(raw.op, !are_fields, &op) ||
			 make(arena, bag, raw.key, strlen(raw.key), op, raw.values, raw.lens, raw.n, &reqs[n_good],
			      &why);
		if (is_bad) {
			at_note(r, &a, "this term matches no node: %s", why.msg);
			term->is_invalid = true;
		} else {
			n_good++;
		}
	}
	if (are_fields) {
		term->n_fields = n_good;
		term->fields = reqs;
	} else {
		term->n_exprs = n_good;
		term->exprs = reqs;
	}
	return ERR_OK;
}

enum err_code at_node_term(const struct reader *r, const struct at *a, struct arena *arena, struct name_bag *bag,
			   struct node_term *ret, struct err *e)
{
	struct at exprs = at_field(a, "matchExpressions"), fields = at_field(a, "matchFields");

	*ret = (struct node_term){0};
	TRY(at_want(r, a, TREE_MAP, e));
	TRY(node_requirements(r, &exprs, arena, bag, false, ret, e));
	return node_requirements(r, &fields, arena, bag, true, ret, e);
}
