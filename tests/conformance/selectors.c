/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about label selectors, in the command-line form, as objects and as single requirements. */
#include "conform.h"
#include "manifest/object.h"

struct book { /* names for one fact */
	struct names *names;
	struct name_bag bag;
};

static struct book book_open(void)
{
	struct names *names = names_new();

	return (struct book){names, name_bag_of(names)};
}

static void book_close(struct book *b)
{
	name_bag_drop(&b->bag);
	names_free(b->names);
}

static const struct {
	const char *name;
	enum selector_op op;
} operators[] = {
	{"In", SEL_IN},
	{"NotIn", SEL_NOT_IN},
	{"Exists", SEL_EXISTS},
	{"DoesNotExist", SEL_NOT_EXISTS},
	{"GreaterThan", SEL_GT},
	{"LessThan", SEL_LT},
	{"Equals", SEL_EQUAL},
	{"DoubleEquals", SEL_DOUBLE_EQUAL},
	{"NotEquals", SEL_NOT_EQUAL},
};

static bool operator_of(const char *name, enum selector_op *ret)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (str_eq(operators[i].name, name)) {
			*ret = operators[i].op;
			return true;
		}
	}
	return false;
}

static bool make_requirement(struct fact *f, struct book *b, const struct tree *t, struct requirement *ret)
{
	const struct tree *values = tree_get(t, "values");
	const char *key = tree_text(tree_get(t, "key"), ""),
		   **v = arena_n(f->arena, tree_count(values) + 1, const char *);
	size_t *lens = arena_n(f->arena, tree_count(values) + 1, size_t);
	enum selector_op op;

	for (uint32_t i = 0; i < tree_count(values); i++) {
		v[i] = tree_text(values->items[i], "");
		lens[i] = strlen(v[i]);
	}
	return operator_of(tree_text(tree_get(t, "operator"), ""), &op) &&
	       !requirement_make(f->arena, &b->bag, key, strlen(key), op, v, lens, tree_count(values), ret, NULL);
}

static bool make_selector(struct fact *f, struct book *b, const struct tree *list, struct selector *ret)
{
	struct requirement *reqs = arena_n(f->arena, tree_count(list) + 1, struct requirement);

	for (uint32_t i = 0; i < tree_count(list); i++)
		if (!make_requirement(f, b, list->items[i], &reqs[i]))
			return false;
	*ret = selector_make(b->names, reqs, tree_count(list));
	return true;
}

static bool read_object(struct fact *f, struct book *b, const struct tree *t, struct selector *ret)
{
	struct reader r = {.names = b->names, .scratch = f->arena, .file = f->file};
	struct at at = at_root(t && t->kind == TREE_NULL ? NULL : t);

	return !at_label_selector(&r, &at, f->arena, &b->bag, ret, NULL);
}

/* The selector of a fact, in whichever of the three ways it is written. */
static bool get_selector(struct fact *f, struct book *b, struct selector *ret)
{
	const struct tree *requirements = fact_arg(f, "requirements"), *object = fact_arg(f, "labelSelector");
	const char *text = tree_text(fact_arg(f, "selector"), NULL);

	if (requirements)
		return make_selector(f, b, requirements, ret);
	if (text)
		return !selector_parse(f->arena, &b->bag, text, strlen(text), ret, NULL);
	return read_object(f, b, object, ret);
}

static void compare_requirement(struct fact *f, struct book *b, const struct tree *expected,
				const struct requirement *got)
{
	struct text want_text = {0}, got_text = {0};
	struct requirement want;

	if (!make_requirement(f, b, expected, &want)) {
		fact_differs(f, "requirements", "one that can be made", tree_text(tree_get(expected, "key"), ""));
		return;
	}
	requirement_text(b->names, &want, &want_text);
	requirement_text(b->names, got, &got_text);
	if (want.op != got->op || !str_eq(text_str(&want_text), text_str(&got_text)))
		fact_differs(f, "requirements", text_str(&want_text), text_str(&got_text));
	text_free(&want_text);
	text_free(&got_text);
}

static void compare_selector(struct fact *f, struct book *b, const struct selector *s)
{
	const struct tree *list = fact_expect(f, "requirements");
	struct text text = {0};

	selector_text(b->names, s, &text);
	same_text(f, "text", fact_expect(f, "text"), text_str(&text));
	text_free(&text);
	if (list && s->n != tree_count(list))
		fact_differs(f, "requirements", "as many", "another number of them");
	for (uint32_t i = 0; list && i < s->n && i < tree_count(list); i++)
		compare_requirement(f, b, list->items[i], &s->reqs[i]);
}

void run_selector_parse(struct fact *f)
{
	struct book b = book_open();
	struct selector s;
	bool is_valid = get_selector(f, &b, &s);

	same_bool(f, "valid", fact_expect(f, "valid"), is_valid);
	if (is_valid)
		compare_selector(f, &b, &s);
	book_close(&b);
}

void run_selector_convert(struct fact *f)
{
	struct book b = book_open();
	struct selector s;
	bool is_valid = get_selector(f, &b, &s);

	same_bool(f, "valid", fact_expect(f, "valid"), is_valid);
	if (is_valid) {
		compare_selector(f, &b, &s);
		same_bool(f, "matchesNothing", fact_expect(f, "matchesNothing"), s.matches_nothing);
		same_bool(f, "matchesEverything", fact_expect(f, "matchesEverything"), selector_is_empty(&s));
	}
	book_close(&b);
}

void run_selector_format(struct fact *f)
{
	struct book b = book_open();
	struct selector s;

	if (get_selector(f, &b, &s))
		compare_selector(f, &b, &s);
	else
		fact_differs(f, "requirements", "a selector", "a refusal");
	book_close(&b);
}

void run_selector_matches_nothing(struct fact *f)
{
	struct book b = book_open();
	struct selector s;

	if (get_selector(f, &b, &s))
		same_bool(f, "matchesNothing", fact_expect(f, "matchesNothing"), s.matches_nothing);
	else
		fact_differs(f, "selector", "a selector", "a refusal");
	book_close(&b);
}

static struct labels read_labels(struct fact *f, struct book *b, const struct tree *map)
{
	uint32_t n = tree_is(map, TREE_MAP) ? map->n : 0;
	struct label *kv = arena_n(f->arena, n + 1, struct label);

	for (uint32_t i = 0; i < n; i++)
		kv[i] = (struct label){name_bag_add_str(&b->bag, map->fields[i].key),
				       name_bag_add_str(&b->bag, tree_text(map->fields[i].value, ""))};
	return (struct labels){labels_sort(kv, n), kv};
}

void run_selector_match(struct fact *f)
{
	struct book b = book_open();
	struct labels labels = read_labels(f, &b, fact_arg(f, "labels"));
	struct selector s;

	if (get_selector(f, &b, &s))
		same_bool(f, "match", fact_expect(f, "match"), selector_matches(b.names, &s, &labels));
	else
		fact_differs(f, "selector", "a selector", "a refusal");
	book_close(&b);
}

void run_requirement_validate(struct fact *f)
{
	struct book b = book_open();
	struct requirement r;

	same_bool(f, "valid", fact_expect(f, "valid"), make_requirement(f, &b, tree_get(f->t, "args"), &r));
	book_close(&b);
}
