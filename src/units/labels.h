/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - labels, label selectors, node selectors, taints and tolerations: parsed once, matched fast.
 *
 * Everything is interned (names.h): a match compares ids, and only Gt/Lt look at strings. Objects are built into an
 * arena and hold their names through the name_bag that was passed in; they are immutable afterwards.
 * Texts of errors and selectors are those users know from kubectl where they exist.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/names.h"
#include "base/text.h"

struct label {
	name_id key, value;
};

struct labels { /* sorted by key id, keys unique */
	uint32_t n;
	const struct label *kv;
};

/* Sort in place by key id; a key given twice keeps the last value. Returns the new count. */
uint32_t labels_sort(struct label *kv, uint32_t n);
/* False if the key is absent. The value may be NAME_NONE (empty string) all the same. */
bool labels_get(const struct labels *l, name_id key, name_id *ret_value);

/* Syntax of keys ([prefix/]name) and values; e says what is wrong with which. */
enum err_code label_key_check(const char *s, size_t len, struct err *e);
enum err_code label_value_check(const char *s, size_t len, struct err *e);

enum selector_op { SEL_IN, SEL_NOT_IN, SEL_EXISTS, SEL_NOT_EXISTS, SEL_GT, SEL_LT };

struct requirement {
	name_id key;
	enum selector_op op;
	uint32_t n_values;
	const name_id *values; /* sorted by id */
	int64_t bound;	       /* Gt, Lt: the number compared with */
};

/*
 * AND of requirements. Three states that differ: matches nothing (a missing selector), matches everything (an empty one),
 * and the rest. is_empty is true of the second only.
 */
struct selector {
	bool matches_nothing;
	uint32_t n;
	const struct requirement *reqs; /* in the order they were written */
};

static inline bool selector_is_empty(const struct selector *s)
{
	return !s->matches_nothing && s->n == 0;
}

bool requirement_matches(const struct names *names, const struct requirement *r, const struct labels *l);
bool selector_matches(const struct names *names, const struct selector *s, const struct labels *l);

/*
 * Check and build one requirement: key and value syntax, the number of values the operator wants, integers for Gt/Lt.
 * values are strings of the given lengths. For label selectors and node selectors alike; allow_bounds says if Gt/Lt are known.
 */
enum err_code requirement_make(struct arena *a, struct name_bag *bag, const char *key, size_t key_len, enum selector_op op,
			       const char *const *values, const size_t *value_lens, uint32_t n_values,
			       struct requirement *ret, struct err *e);

/* The command-line form: "a=b,c!=d,e in (f,g),h,!i,j>5". */
enum err_code selector_parse(struct arena *a, struct name_bag *bag, const char *s, size_t len, struct selector *ret,
			     struct err *e);
/* The same form back, values sorted as strings: "x in (a,b),y=1,!z". */
void selector_text(const struct names *names, const struct selector *s, struct text *out);

/* Node selector terms: ORed; inside a term everything ANDed. A term without anything matches no node. */
struct node_term {
	bool is_invalid; /* had a requirement that cannot be parsed: never matches */
	uint32_t n_exprs, n_fields;
	const struct requirement *exprs;  /* on labels */
	const struct requirement *fields; /* on metadata.name only */
};

struct node_terms {
	uint32_t n;
	const struct node_term *terms;
};

bool node_term_matches(const struct names *names, const struct node_term *t, const struct labels *l, name_id node_name);
bool node_terms_match(const struct names *names, const struct node_terms *t, const struct labels *l, name_id node_name);

enum taint_effect { EFFECT_ANY /* tolerations only */, EFFECT_NO_SCHEDULE, EFFECT_PREFER_NO_SCHEDULE, EFFECT_NO_EXECUTE };

struct taint {
	name_id key, value;
	enum taint_effect effect;
};

enum toleration_op { TOLERATE_EQUAL, TOLERATE_EXISTS, TOLERATE_LT, TOLERATE_GT };

struct toleration {
	name_id key, value; /* key NAME_NONE: any key */
	enum toleration_op op;
	enum taint_effect effect;
};

/* with_bounds: Lt/Gt compare numbers; without it they match nothing. */
bool toleration_matches(const struct names *names, const struct toleration *t, const struct taint *taint, bool with_bounds);
bool taint_effect_parse(const char *s, enum taint_effect *ret); /* "" is EFFECT_ANY; false: unknown */
const char *taint_effect_text(enum taint_effect effect);
