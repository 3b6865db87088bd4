/* SPDX-License-Identifier: Apache-2.0 */
#include "label_fixture.h"

/*
 * Terms as text: terms between ';', in a term label requirements in the command-line form, "@in:NAME" and "@notin:NAME"
 * for metadata.name, between '&'. "?" is something that could not be parsed.
 */
static void add_piece(struct node_term *t, struct requirement *exprs, struct requirement *fields, const char *s,
		      size_t len)
{
	struct selector one;
	if (len == 1 && *s == '?') {
		t->is_invalid = true;
	} else if (*s == '@') {
		const char *colon = memchr(s, ':', len);
		const char *value = colon + 1;
		size_t value_len = len - (size_t)(value - s);
		enum selector_op op = s[1] == 'i' ? SEL_IN : SEL_NOT_IN;
		assert_int_equal(node_field_make(f.arena, &f.bag, "metadata.name", 13, op, &value, &value_len, 1,
						 &fields[t->n_fields++], NULL),
				 ERR_OK);
	} else {
		assert_int_equal(selector_parse(f.arena, &f.bag, s, len, &one, NULL), ERR_OK);
		exprs[t->n_exprs++] = one.reqs[0];
	}
}

static struct node_term term_of(const char *s, size_t len)
{
	struct requirement *exprs = arena_n(f.arena, 4, struct requirement);
	struct requirement *fields = arena_n(f.arena, 4, struct requirement);
	struct node_term t = {.exprs = exprs, .fields = fields};
	for (const char *end = s + len; s < end;) {
		const char *next = memchr(s, '&', (size_t)(end - s));
		next = next ? next : end;
		add_piece(&t, exprs, fields, s, (size_t)(next - s));
		s = next + 1;
	}
	return t;
}

static struct node_terms terms_of(const char *s)
{
	struct node_term *terms = arena_n(f.arena, 8, struct node_term);
	uint32_t n = 0;
	while (s) {
		terms[n++] = term_of(s, strcspn(s, ";"));
		s = strchr(s, ';');
		s = s ? s + 1 : NULL;
	}
	return (struct node_terms){.n = n, .terms = terms};
}

static void terms_are_ored_and_their_parts_anded(void **state)
{
	static const struct {
		const char *what, *terms, *labels, *node;
		bool is_match;
	} rows[] = {
		{"no terms at all match no node", NULL, "a=1", "n1", false},
		{"a term without anything matches no node", "", "a=1", "n1", false},
		{"an empty term does not spoil the others", ";a=1", "a=1", "n1", true},
		{"one expression", "disk in (ssd,nvme)", "disk=ssd", "n1", true},
		{"one expression that fails", "disk in (ssd,nvme)", "disk=hdd", "n1", false},
		{"all expressions of a term must hold", "a=1&b=2", "a=1 b=3", "n1", false},
		{"all of them do", "a=1&b=2", "a=1 b=2", "n1", true},
		{"one term is enough", "a=1;b=2", "b=2", "n1", true},
		{"no term holds", "a=1;b=2", "a=2 b=1", "n1", false},
		{"terms do not lend each other expressions", "a=1&b=1;a=2&b=2", "a=1 b=2", "n1", false},
		{"greater than compares numbers", "cores>15", "cores=016", "n1", true},
		{"equal is not greater", "cores>16", "cores=16", "n1", false},
		{"less than compares numbers, not strings", "cores<9", "cores=10", "n1", false},
		{"less than", "cores<9", "cores=8", "n1", true},
		{"a word is neither greater nor less", "cores>1;cores<1", "cores=many", "n1", false},
		{"a missing label is neither greater nor less", "cores>1;cores<1", "", "n1", false},
		{"the node by its name", "@in:n1", "", "n1", true},
		{"another node", "@in:n1", "", "n2", false},
		{"all nodes but one, the one", "@notin:n1", "", "n1", false},
		{"all nodes but one, another", "@notin:n1", "", "n2", true},
		{"two names at once are nobody's", "@in:n1&@in:n2", "", "n1", false},
		{"two names in two terms", "@in:n1;@in:n2", "", "n2", true},
		{"the name fits, the label does not", "a=1&@in:n1", "a=2", "n1", false},
		{"the label fits, the name does not", "a=1&@in:n1", "a=1", "n2", false},
		{"label and name fit", "a=1&@in:n1", "a=1", "n1", true},
		{"a label called metadata.name is not the name", "@in:n1", "metadata.name=n1", "n2", false},
		{"a term with a bad part never matches", "a=1&?", "a=1", "n1", false},
		{"not even when negation would", "a!=1&?", "a=2", "n1", false},
		{"nor when it names the node", "@in:n1&?", "", "n1", false},
		{"its neighbours still count", "a=1&?;b=2", "a=1 b=2", "n1", true},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct node_terms t = terms_of(rows[i].terms);
		struct labels l = labels_of(rows[i].labels);
		if (node_terms_match(f.names, &t, &l, name_of(rows[i].node)) != rows[i].is_match)
			fail_msg("%s", rows[i].what);
	}
}

static void fields_are_checked(void **state)
{
	static const struct {
		const char *what, *key, *values;
		enum selector_op op;
		const char *complaint;
	} rows[] = {
		{"a name in", "metadata.name", "n1", SEL_IN, NULL},
		{"a name not in", "metadata.name", "n1", SEL_NOT_IN, NULL},
		{"a name need not be a label value", "metadata.name", "-what a name/", SEL_IN, NULL},
		{"two names", "metadata.name", "n1|n2", SEL_IN, "exactly one value, not 2"},
		{"no name", "metadata.name", NULL, SEL_IN, "exactly one value, not 0"},
		{"existence is not asked of names", "metadata.name", NULL, SEL_EXISTS, "must be In or NotIn"},
		{"names are not numbers", "metadata.name", "7", SEL_GT, "must be In or NotIn"},
		{"another field", "metadata.uid", "n1", SEL_IN, "only metadata.name is"},
		{"a field that begins alike", "metadata.names", "n1", SEL_IN, "only metadata.name is"},
		{"no field", "", "n1", SEL_IN, "only metadata.name is"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strings v = strings_of(rows[i].values);
		struct requirement r;
		struct err e = {0};
		uint32_t n_held = f.bag.ids.n;
		enum err_code code = node_field_make(f.arena, &f.bag, rows[i].key, strlen(rows[i].key), rows[i].op, v.v,
						     v.lens, v.n, &r, &e);
		if ((code == ERR_OK) != (rows[i].complaint == NULL))
			fail_msg("%s: %d %s", rows[i].what, code, e.msg);
		if (code != ERR_OK && (!strstr(e.msg, rows[i].complaint) || f.bag.ids.n != n_held))
			fail_msg("%s: says '%s', holds %u more", rows[i].what, e.msg, f.bag.ids.n - n_held);
	}
	const char *zero = "n\0x";
	size_t zero_len = 3;
	struct requirement r;
	assert_int_equal(node_field_make(f.arena, &f.bag, "metadata.name", 13, SEL_IN, &zero, &zero_len, 1, &r, NULL),
			 ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(terms_are_ored_and_their_parts_anded, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(fields_are_checked, fixture_open, fixture_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
