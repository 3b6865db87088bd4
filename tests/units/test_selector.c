/* SPDX-License-Identifier: Apache-2.0 */
#include "label_fixture.h"
#include "rng.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

static enum err_code parse(const char *s, struct selector *ret, struct err *e)
{
	return selector_parse(f.arena, &f.bag, s, strlen(s), ret, e);
}

static struct selector selector_of(const char *s)
{
	struct selector sel;
	struct err e;
	if (parse(s, &sel, &e) != ERR_OK)
		fail_msg("'%s': %s", s, e.msg);
	return sel;
}

/* Of one selector at a time. */
static const char *text_of(const struct selector *s)
{
	static char buf[4096];
	struct text t = {0};
	selector_text(f.names, s, &t);
	snprintf(buf, sizeof(buf), "%s", text_str(&t));
	text_free(&t);
	return buf;
}

static void texts_come_back_in_one_form(void **state)
{
	static const struct {
		const char *what, *s, *text;
	} rows[] = {
		{"nothing", "", ""},
		{"blanks", " \t\r\n", ""},
		{"equality", "tier=web", "tier=web"},
		{"double equality stays double", "tier==web", "tier==web"},
		{"inequality", "tier!=web", "tier!=web"},
		{"existence", "tier", "tier"},
		{"absence", "!tier", "!tier"},
		{"absence with a blank", "! tier", "!tier"},
		{"a set of one stays a set", "tier in (web)", "tier in (web)"},
		{"values come sorted", "tier in (web,db,api)", "tier in (api,db,web)"},
		{"the other set", "tier notin (web,db)", "tier notin (db,web)"},
		{"bounds", "cores>4,disks<2", "cores>4,disks<2"},
		{"a bound keeps its zeros", "cores>007", "cores>007"},
		{"keys come sorted", "z,b=1,!m,a in (x)", "a in (x),b=1,!m,z"},
		{"by bytes, capitals first", "b,B,a", "B,a,b"},
		{"one key in the order of writing", "b!=2,a,b,b!=1", "a,b!=2,b,b!=1"},
		{"an empty value", "tier=", "tier="},
		{"an empty value before another", "tier=,zone=a", "tier=,zone=a"},
		{"an empty inequality", "tier!=", "tier!="},
		{"an empty set holds the empty string", "tier in ()", "tier in ()"},
		{"blanks inside it change nothing", "tier in (  )", "tier in ()"},
		{"a comma alone is the empty string", "tier in (,)", "tier in ()"},
		{"an empty string at the end", "tier in (web,)", "tier in (,web)"},
		{"an empty string at the start", "tier in (,web)", "tier in (,web)"},
		{"empty strings in the middle", "tier notin (web,,db)", "tier notin (,db,web)"},
		{"doubles go", "tier in (web,web,,,web)", "tier in (,web)"},
		{"blanks between all tokens", " a  =\tb ,\n c  in ( d , e ) , ! f , g > 1 ", "a=b,c in (d,e),!f,g>1"},
		{"no blanks where none are needed", "a in(b),c notin(d)", "a in (b),c notin (d)"},
		{"keywords as keys", "in in (in),notin,notin=in", "in in (in),notin,notin=in"},
		{"keywords as values", "a=in,b!=notin,c in (in,notin)", "a=in,b!=notin,c in (in,notin)"},
		{"a prefix", "example.com/tier=web", "example.com/tier=web"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct selector s = selector_of(rows[i].s);
		if (strcmp(text_of(&s), rows[i].text) != 0)
			fail_msg("%s: '%s' gives '%s'", rows[i].what, rows[i].s, text_of(&s));
		s = selector_of(rows[i].text);
		if (strcmp(text_of(&s), rows[i].text) != 0)
			fail_msg("%s: '%s' is not the last form: '%s'", rows[i].what, rows[i].text, text_of(&s));
	}
}

static void bad_texts_are_refused_with_words(void **state)
{
	static const struct {
		const char *what, *s, *complaint;
	} rows[] = {
		{"a comma too many at the end", "a,", "found '', expected: identifier after ','"},
		{"a comma too many in the middle", "a,,b", "found ',', expected: identifier after ','"},
		{"a comma too many at the start", ",a", "found ',', expected: !, identifier, or 'end of string'"},
		{"an operator first", "=a", "found '=', expected: !, identifier, or 'end of string'"},
		{"inequality is one token", "!=a", "found '!=', expected: !, identifier, or 'end of string'"},
		{"absence of nothing", "!", "found '', expected: identifier"},
		{"absence twice", "!!a", "found '!', expected: identifier"},
		{"absence and a value", "!a=b", "found '=', expected: ',' or 'end of string'"},
		{"two words", "a b", "found 'b', expected: in, notin, ="},
		{"an operator nobody knows", "a within (b)", "found 'within', expected: in, notin, ="},
		{"no comma between two", "a in (b) c", "found 'c', expected: ',' or 'end of string'"},
		{"two values", "a=b c", "found 'c', expected: ',' or 'end of string'"},
		{"a chain", "a=b=c", "found '=', expected: ',' or 'end of string'"},
		{"at least", "a>=5", "found '=', expected: identifier"},
		{"a value in parentheses", "a=(b)", "found '(', expected: identifier"},
		{"a set without parentheses", "a in b", "found 'b', expected: '('"},
		{"a set that is not there", "a notin", "found '', expected: '('"},
		{"a set without an end", "a in (b", "found '', expected: ',' or ')'"},
		{"a set without an end after a comma", "a in (b,", "found '', expected: ',', ')' or identifier"},
		{"a set with a blank instead of a comma", "a in (b c)", "found 'c', expected: ',' or ')'"},
		{"a set in a set", "a in ((b))", "found '(', expected: ',', ')' or identifier"},
		{"a stray parenthesis", "a)", "found ')', expected: in, notin, ="},
		{"a bad key", "-a", "invalid label key '-a'"},
		{"a bad prefix", "A/b=c", "invalid label key 'A/b'"},
		{"a bad value, and of which key", "a=b/c", "label key 'a': invalid label value 'b/c'"},
		{"or written like in programs", "a=b||c", "invalid label value 'b||c'"},
		{"a bad value in a set", "a in (b,c_)", "invalid label value 'c_'"},
		{"a bound that is no number", "a>b", "the value must be an integer"},
		{"a bound that is not there", "a<", "the value must be an integer"},
		{"a bound below zero, which no label value can write", "a>-5", "invalid label value '-5'"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct selector s = SELECTOR_NOTHING;
		struct err e = {0};
		if (parse(rows[i].s, &s, &e) != ERR_INPUT)
			fail_msg("%s: '%s' is accepted", rows[i].what, rows[i].s);
		if (!strstr(e.msg, rows[i].complaint))
			fail_msg("%s: '%s' says '%s'", rows[i].what, rows[i].s, e.msg);
		if (!s.matches_nothing || parse(rows[i].s, &s, NULL) != ERR_INPUT)
			fail_msg("%s: '%s' leaves a selector or needs an error", rows[i].what, rows[i].s);
	}
	struct selector s;
	assert_int_equal(selector_parse(f.arena, &f.bag, "a\0", 2, &s, NULL), ERR_INPUT);
	assert_int_equal(selector_parse(f.arena, &f.bag, "a=\0b", 4, &s, NULL), ERR_INPUT);
}

static void requirements_match_labels(void **state)
{
	static const struct {
		const char *what, *s, *labels;
		bool is_match;
	} rows[] = {
		{"an empty selector matches labels", "", "a=1", true},
		{"and no labels", "", "", true},
		{"equal", "a=1", "a=1 b=2", true},
		{"not equal", "a=1", "a=2 b=1", false},
		{"equal needs the key", "a=1", "b=1", false},
		{"an empty value needs the key", "a=", "b=1", false},
		{"an empty value", "a=", "a", true},
		{"double equal", "a==1", "a=1", true},
		{"unequal", "a!=1", "a=2", true},
		{"unequal fails", "a!=1", "a=1", false},
		{"unequal does not need the key", "a!=1", "b=1", true},
		{"not even against the empty value", "a!=", "b=1", true},
		{"in", "a in (1,2,3)", "a=2", true},
		{"in fails", "a in (1,2,3)", "a=4", false},
		{"in needs the key", "a in (1,)", "", false},
		{"in with the empty value", "a in (1,)", "a", true},
		{"in of the empty set wants the empty value", "a in ()", "a=1", false},
		{"not in", "a notin (1,2)", "a=3", true},
		{"not in fails", "a notin (1,2)", "a=2", false},
		{"not in does not need the key", "a notin (1,2)", "", true},
		{"exists", "a", "a", true},
		{"exists fails", "a", "b", false},
		{"exists not", "!a", "b", true},
		{"exists not fails", "!a", "a", false},
		{"greater", "a>5", "a=6", true},
		{"greater is strict", "a>5", "a=5", false},
		{"greater by number", "a>5", "a=10", true},
		{"less", "a<5", "a=4", true},
		{"less is strict", "a<5", "a=5", false},
		{"less than nothing", "a<5", "", false},
		{"less than no number", "a<5", "a=v4", false},
		{"a number with a sign on the label", "a<5", "a=-1", true},
		{"all must hold", "a=1,b=2", "a=1 b=2", true},
		{"the first does not", "a=1,b=2", "a=2 b=2", false},
		{"the last does not", "a=1,b=2,!c", "a=1 b=2 c", false},
		{"a contradiction", "a,!a", "a", false},
		{"case counts", "a=x", "a=X", false},
		{"more labels than a few", "k7=1,k11=1,!k13",
		 "k0=1 k1=1 k2=1 k3=1 k4=1 k5=1 k6=1 k7=1 k8=1 k9=1 k10=1 k11=1", true},
		{"more values than a few", "a in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", "a=17", true},
		{"none of many values", "a notin (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", "a=18", true},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct selector s = selector_of(rows[i].s);
		struct labels l = labels_of(rows[i].labels);
		if (selector_matches(f.names, &s, &l) != rows[i].is_match)
			fail_msg("%s: '%s' on '%s'", rows[i].what, rows[i].s, rows[i].labels);
	}
}

static void nothing_everything_and_the_rest_differ(void **state)
{
	struct labels none = {0}, some = labels_of("a=1");
	struct selector nothing = SELECTOR_NOTHING;
	struct selector everything = selector_make(f.names, NULL, 0);
	struct selector never = selector_of("a,!a");
	assert_false(selector_matches(f.names, &nothing, &none));
	assert_false(selector_matches(f.names, &nothing, &some));
	assert_false(selector_is_empty(&nothing));
	assert_true(selector_matches(f.names, &everything, &none));
	assert_true(selector_matches(f.names, &everything, &some));
	assert_true(selector_is_empty(&everything));
	assert_false(never.matches_nothing);
	assert_false(selector_is_empty(&never));
	assert_string_equal(text_of(&nothing), "");
	assert_string_equal(text_of(&everything), "");
	assert_string_equal(text_of(&never), "a,!a");
}

static void requirements_are_checked(void **state)
{
	static const struct {
		const char *what, *key, *values;
		enum selector_op op;
		const char *complaint;
	} rows[] = {
		{"in wants values", "a", NULL, SEL_IN, "values set can't be empty"},
		{"not in wants values", "a", NULL, SEL_NOT_IN, "values set can't be empty"},
		{"in takes one", "a", "x", SEL_IN, NULL},
		{"in takes the empty string", "a", "", SEL_IN, NULL},
		{"not in takes many", "a", "x|y|z", SEL_NOT_IN, NULL},
		{"exists takes none", "a", NULL, SEL_EXISTS, NULL},
		{"exists with a value", "a", "x", SEL_EXISTS, "values set must be empty"},
		{"exists with an empty value", "a", "", SEL_EXISTS, "values set must be empty"},
		{"exists not takes none", "a", NULL, SEL_NOT_EXISTS, NULL},
		{"exists not with a value", "a", "x", SEL_NOT_EXISTS, "values set must be empty"},
		{"equal takes one", "a", "x", SEL_EQUAL, NULL},
		{"equal with none", "a", NULL, SEL_EQUAL, "one single value"},
		{"equal with two", "a", "x|y", SEL_EQUAL, "one single value"},
		{"equal with the same twice", "a", "x|x", SEL_DOUBLE_EQUAL, "one single value"},
		{"unequal with two", "a", "x|y", SEL_NOT_EQUAL, "one single value"},
		{"greater takes a number", "a", "5", SEL_GT, NULL},
		{"greater with none", "a", NULL, SEL_GT, "exactly one value"},
		{"less with two", "a", "5|6", SEL_LT, "exactly one value"},
		{"less than a word", "a", "x", SEL_LT, "must be an integer"},
		{"an operator out of the blue", "a", NULL, (enum selector_op)77, "not a known operator"},
		{"a bad key", "a b", NULL, SEL_EXISTS, "invalid label key 'a b'"},
		{"a bad value among good ones", "a", "x|-|z", SEL_IN, "invalid label value '-'"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strings v = strings_of(rows[i].values);
		struct requirement r = {.key = 4711};
		struct err e = {0};
		uint32_t n_held = f.bag.ids.n;
		enum err_code code = requirement_make(f.arena, &f.bag, rows[i].key, strlen(rows[i].key), rows[i].op,
						      v.v, v.lens, v.n, &r, &e);
		if ((code == ERR_OK) != (rows[i].complaint == NULL))
			fail_msg("%s: %d %s", rows[i].what, code, e.msg);
		if (code != ERR_OK && !strstr(e.msg, rows[i].complaint))
			fail_msg("%s: says '%s'", rows[i].what, e.msg);
		if (code != ERR_OK && (f.bag.ids.n != n_held || r.key != 4711))
			fail_msg("%s: leaves something behind", rows[i].what);
	}
}

static void an_object_becomes_a_selector(void **state)
{
	struct requirement reqs[3];
	struct strings web = strings_of("web"), zones = strings_of("b|a|b");
	assert_int_equal(requirement_make(f.arena, &f.bag, "tier", 4, SEL_EQUAL, web.v, web.lens, 1, &reqs[0], NULL),
			 0);
	assert_int_equal(requirement_make(f.arena, &f.bag, "zone", 4, SEL_IN, zones.v, zones.lens, 3, &reqs[1], NULL),
			 0);
	assert_int_equal(requirement_make(f.arena, &f.bag, "batch", 5, SEL_NOT_EXISTS, NULL, NULL, 0, &reqs[2], NULL),
			 0);
	struct selector s = selector_make(f.names, reqs, 3);
	assert_string_equal(text_of(&s), "!batch,tier=web,zone in (a,b)");
	assert_int_equal(s.reqs[2].n_values, 2);
	assert_true(s.reqs[2].values[0] < s.reqs[2].values[1]);
}

static void words_of_operators(void **state)
{
	static const struct {
		const char *word;
		bool is_known, is_known_with_bounds;
		enum selector_op op;
	} rows[] = {
		{"In", true, true, SEL_IN},	     {"NotIn", true, true, SEL_NOT_IN},
		{"Exists", true, true, SEL_EXISTS},  {"DoesNotExist", true, true, SEL_NOT_EXISTS},
		{"Gt", false, true, SEL_GT},	     {"Lt", false, true, SEL_LT},
		{"in", false, false, SEL_IN},	     {"", false, false, SEL_IN},
		{"NotExists", false, false, SEL_IN},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		enum selector_op op;
		bool is_known = selector_op_parse(rows[i].word, false, &op);
		if (is_known != rows[i].is_known || (is_known && op != rows[i].op))
			fail_msg("'%s' without bounds", rows[i].word);
		is_known = selector_op_parse(rows[i].word, true, &op);
		if (is_known != rows[i].is_known_with_bounds || (is_known && op != rows[i].op))
			fail_msg("'%s' with bounds", rows[i].word);
	}
}

/* Random selectors and labels, answered by comparing strings. */

static const char *const some_keys[] = {"a", "b", "app", "zone", "example.com/x", "A.b_c-9", "in", "notin"};
static const char *const some_values[] = {
	"", "a", "b", "in", "notin", "1", "2", "10", "007", "x.y", "9223372036854775807", "99999999999999999999"};
static const char *const label_only_values[] = {"-1", "+3", "-9223372036854775808", "1e3"};

struct text_label {
	const char *key, *value;
};

struct text_requirement {
	const char *key;
	enum selector_op op;
	struct strings values;
};

static const char *naive_get(const struct text_label *l, uint32_t n, const char *key)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(l[i].key, key) == 0)
			return l[i].value;
	return NULL;
}

/* -1, 0, 1 as a is less than, equal to or greater than b; 2 if one of them is no number. */
static int naive_cmp(const char *a, const char *b)
{
	char *end_a, *end_b;
	errno = 0;
	long long x = strtoll(a, &end_a, 10), y = strtoll(b, &end_b, 10);
	if (errno != 0 || *a == '\0' || *end_a != '\0' || *end_b != '\0')
		return 2;
	return x < y ? -1 : x > y;
}

static bool naive_match(const struct text_requirement *r, const char *value)
{
	bool is_in = false;
	for (uint32_t i = 0; value && i < r->values.n; i++)
		is_in = is_in || strcmp(value, r->values.v[i]) == 0;
	switch (r->op) {
	case SEL_EXISTS:
		return value != NULL;
	case SEL_NOT_EXISTS:
		return value == NULL;
	case SEL_NOT_IN:
	case SEL_NOT_EQUAL:
		return !is_in;
	case SEL_GT:
		return value && naive_cmp(value, r->values.v[0]) == 1;
	case SEL_LT:
		return value && naive_cmp(value, r->values.v[0]) == -1;
	default:
		return is_in;
	}
}

static struct text_requirement random_requirement(struct rng *r)
{
	struct text_requirement t = {.key = some_keys[rng_below(r, COUNT(some_keys))],
				     .op = (enum selector_op)rng_below(r, SEL_NOT_EQUAL + 1)};
	bool is_set = t.op == SEL_IN || t.op == SEL_NOT_IN;
	bool is_bound = t.op == SEL_GT || t.op == SEL_LT;
	if (t.op != SEL_EXISTS && t.op != SEL_NOT_EXISTS)
		t.values.n = is_set ? 1 + rng_below(r, rng_below(r, 2) ? 3 : COUNT(t.values.v)) : 1;
	for (uint32_t i = 0; i < t.values.n; i++) {
		t.values.v[i] =
			is_bound ? some_values[5 + rng_below(r, 4)] : some_values[rng_below(r, COUNT(some_values))];
		t.values.lens[i] = strlen(t.values.v[i]);
	}
	return t;
}

static uint32_t random_labels(struct rng *r, struct text_label *l)
{
	uint32_t n = 0;
	for (size_t i = 0; i < COUNT(some_keys); i++) {
		if (rng_below(r, 2))
			continue;
		uint32_t pick = rng_below(r, COUNT(some_values) + COUNT(label_only_values));
		l[n++] = (struct text_label){some_keys[i], pick < COUNT(some_values)
								   ? some_values[pick]
								   : label_only_values[pick - COUNT(some_values)]};
	}
	return n;
}

static struct labels labels_of_text(const struct text_label *t, uint32_t n)
{
	struct label *kv = arena_n(f.arena, n + 1, struct label);
	for (uint32_t i = 0; i < n; i++)
		kv[n - 1 - i] = (struct label){name_of(t[i].key), name_of(t[i].value)};
	return (struct labels){.n = labels_sort(kv, n), .kv = kv};
}

static struct selector selector_of_random(struct rng *r, struct text_requirement *t, uint32_t n)
{
	struct requirement *reqs = arena_n(f.arena, n + 1, struct requirement);
	for (uint32_t i = 0; i < n; i++) {
		struct err e;
		t[i] = random_requirement(r);
		if (requirement_make(f.arena, &f.bag, t[i].key, strlen(t[i].key), t[i].op, t[i].values.v,
				     t[i].values.lens, t[i].values.n, &reqs[i], &e) != ERR_OK)
			fail_msg("%s", e.msg);
	}
	return selector_make(f.names, reqs, n);
}

/* A text of the selector goes through the parser and must stay as it is in writing and in what it matches. */
static void matches_agree(struct rng *r, const struct text_requirement *t, uint32_t n, const struct selector *s)
{
	char text[4096];
	snprintf(text, sizeof(text), "%s", text_of(s));
	struct selector again = selector_of(text);
	assert_string_equal(text_of(&again), text);
	for (int round = 0; round < 20; round++) {
		struct text_label tl[COUNT(some_keys)];
		uint32_t n_labels = random_labels(r, tl);
		struct labels l = labels_of_text(tl, n_labels);
		bool want = true;
		for (uint32_t i = 0; i < n; i++)
			want = want && naive_match(&t[i], naive_get(tl, n_labels, t[i].key));
		if (selector_matches(f.names, s, &l) != want || selector_matches(f.names, &again, &l) != want)
			fail_msg("'%s' should say %d", text, want);
	}
}

static void random_selectors_match_like_strings(void **state)
{
	struct rng r = {20};
	for (int round = 0; round < 3000; round++) {
		struct text_requirement t[4];
		uint32_t n = rng_below(&r, 4);
		struct selector s = selector_of_random(&r, t, n);
		matches_agree(&r, t, n, &s);
		arena_reset(f.arena);
		name_bag_drop(&f.bag);
	}
}

/* The grammar once more, as a regular expression over whole texts. */
#define WS "[ \t\r\n]*"
#define NAME "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KEY "(" LABEL "(\\." LABEL ")*/)?" NAME
#define VALUE "(" NAME ")?"
#define LIST "\\(" WS VALUE WS "(," WS VALUE WS ")*\\)"
#define REQUIREMENT                                                                                          \
	"(" WS "(!" WS ")?" KEY WS "|" WS KEY WS "(=|==|!=)" WS VALUE WS "|" WS KEY WS "[<>]" WS "[0-9]+" WS \
	"|" WS KEY "[ \t\r\n]+(in|notin)" WS LIST WS ")"
#define SELECTOR "^(" WS "|" REQUIREMENT "(," REQUIREMENT ")*)$"

static size_t random_text(struct rng *r, char *buf, size_t cap)
{
	static const char *const tokens[] = {"a", "b",	"k.d/x", "X_1", "-",  "a-", "in", "notin", "in", "notin",
					     "7", "12", "=",	 "==",	"!=", "!",  ",",  ",",	   "(",	 ")",
					     "(", ")",	"<",	 ">",	" ",  " ",  "\t", "/",	   "."};
	size_t len = 0;
	buf[0] = '\0';
	for (uint32_t n = rng_below(r, 14); n > 0; n--)
		len += (size_t)snprintf(buf + len, cap - len, "%s%s", tokens[rng_below(r, COUNT(tokens))],
					rng_below(r, 3) == 0 ? " " : "");
	return len;
}

/* Random tokens seldom make a selector; a selector with one token changed often still does. */
static size_t damaged_text(struct rng *r, char *buf, size_t cap)
{
	struct text_requirement t[4];
	uint32_t n = rng_below(r, 4);
	struct selector s = selector_of_random(r, t, n);
	char piece[512];
	const char *whole = text_of(&s);
	size_t len = strlen(whole), at = rng_below(r, (uint32_t)len + 1);
	size_t cut = rng_below(r, 3) == 0 ? 0 : rng_below(r, 3);
	cut = cut < len - at ? cut : len - at;
	random_text(r, piece, sizeof(piece));
	snprintf(buf, cap, "%.*s%s%s", (int)at, whole, rng_below(r, 2) ? "" : piece, whole + at + cut);
	return strlen(buf);
}

static void random_texts_are_judged_like_a_regular_expression(void **state)
{
	struct rng r = {30};
	regex_t regex;
	uint32_t n_good = 0;
	const int rounds = 30000;
	assert_int_equal(regcomp(&regex, SELECTOR, REG_EXTENDED | REG_NOSUB), 0);
	for (int round = 0; round < rounds; round++) {
		char buf[4096];
		struct selector s;
		struct err e = {0};
		size_t len = rng_below(&r, 2) ? random_text(&r, buf, sizeof(buf)) : damaged_text(&r, buf, sizeof(buf));
		bool is_good = regexec(&regex, buf, 0, NULL, 0) == 0;
		enum err_code code = selector_parse(f.arena, &f.bag, buf, len, &s, &e);
		if (strstr(buf, "9223372036854775807") == NULL && strstr(buf, "99999") == NULL &&
		    (code == ERR_OK) != is_good)
			fail_msg("'%s' should be %s: %s", buf, is_good ? "good" : "bad", e.msg);
		n_good += is_good;
		arena_reset(f.arena);
		name_bag_drop(&f.bag);
	}
	regfree(&regex);
	assert_in_range(n_good, rounds / 10, rounds * 9 / 10);
}

static void many_requirements_and_values(void **state)
{
	struct text t = {0};
	for (int i = 999; i >= 0; i--)
		text_printf(&t, "%sk%d in (v%d,v%d,w)", i < 999 ? "," : "", i % 500, i, 1000 - i);
	struct selector s;
	assert_int_equal(selector_parse(f.arena, &f.bag, t.s, t.n, &s, NULL), ERR_OK);
	assert_int_equal(s.n, 1000);
	for (uint32_t i = 1; i < s.n; i++)
		assert_true(name_cmp(f.names, s.reqs[i - 1].key, s.reqs[i].key) <= 0);
	assert_string_equal(name_str(f.names, s.reqs[0].key), "k0");
	text_free(&t);
	text_add(&t, "k in (");
	for (int i = 0; i < 1000; i++)
		text_printf(&t, "v%d,", i);
	text_add(&t, "w)");
	assert_int_equal(selector_parse(f.arena, &f.bag, t.s, t.n, &s, NULL), ERR_OK);
	text_free(&t);
	for (int i = 0; i < 1100; i++) {
		char pair[32];
		snprintf(pair, sizeof(pair), "k=v%d", i);
		struct labels l = labels_of(pair);
		assert_int_equal(selector_matches(f.names, &s, &l), i < 1000);
	}
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(texts_come_back_in_one_form),
		TEST(bad_texts_are_refused_with_words),
		TEST(requirements_match_labels),
		TEST(nothing_everything_and_the_rest_differ),
		TEST(requirements_are_checked),
		TEST(an_object_becomes_a_selector),
		TEST(words_of_operators),
		TEST(random_selectors_match_like_strings),
		TEST(random_texts_are_judged_like_a_regular_expression),
		TEST(many_requirements_and_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
