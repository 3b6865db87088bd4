/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - labels, label selectors, node selectors, taints and tolerations: parsed once, matched fast.
 *
 * Everything is interned (names.h): a match compares ids, and only Gt/Lt look at strings. Objects are built into an
 * arena and hold their names through the name_bag that was passed in; they are immutable afterwards. Matching never
 * allocates and may run in many threads.
 * Texts of errors and selectors are those users know from kubectl where they exist.
 *
 * How a Kubernetes LabelSelector becomes a struct selector: missing is SELECTOR_NOTHING; otherwise one requirement for
 * each pair of matchLabels (requirement_make with SEL_EQUAL) and each of matchExpressions (selector_op_parse,
 * requirement_make), and selector_make over all of them. One bad requirement makes the whole selector bad.
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
static inline bool labels_get(const struct labels *l, name_id key, name_id *ret_value)
{
	const struct label *kv = l->kv;
	uint32_t n = l->n;
	while (n > 8) { /* below that a straight scan is faster */
		uint32_t half = n / 2;
		kv += kv[half].key <= key ? half : 0;
		n -= half;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kv[i].key == key) {
			*ret_value = kv[i].value;
			return true;
		}
	}
	return false;
}
/* Every pair of wanted is in l with that very value: how a nodeSelector is compared, which nobody validates. */
bool labels_include(const struct labels *l, const struct labels *wanted);

/* Syntax of keys ([prefix/]name) and values; e says what is wrong with which. */
enum err_code label_key_check(const char *s, size_t len, struct err *e);
enum err_code label_value_check(const char *s, size_t len, struct err *e);
/* All of s as a base-10 int64, a sign and leading zeros allowed, as Gt and Lt read values. False: not one. */
bool label_number(const char *s, size_t len, int64_t *ret);

/*
 * = and == mean In with one value, != means NotIn with one value; they are kept apart because they are written
 * differently. "x in ()" is not written "x=" either, though both want the empty string.
 */
enum selector_op {
	SEL_IN,
	SEL_NOT_IN,
	SEL_EXISTS,
	SEL_NOT_EXISTS,
	SEL_GT,
	SEL_LT,
	SEL_EQUAL,
	SEL_DOUBLE_EQUAL,
	SEL_NOT_EQUAL,
};

/* A word of matchExpressions: In, NotIn, Exists, DoesNotExist; with_bounds (node selectors) also Gt, Lt. */
bool selector_op_parse(const char *s, bool with_bounds, enum selector_op *ret);

struct requirement {
	name_id key;
	enum selector_op op;
	uint32_t n_values;
	const name_id *values; /* sorted by id, no two the same; may hold NAME_NONE, the empty string */
	int64_t bound;	       /* Gt, Lt: the number compared with */
};

/*
 * AND of requirements. Three states that differ: matches nothing (a missing selector), matches everything (an empty
 * one), and the rest. is_empty is true of the second only. matches_nothing says how it was written, not what follows
 * from it: "a,!a" can never match and yet is an ordinary selector.
 */
struct selector {
	bool matches_nothing;
	uint32_t n;
	const struct requirement *reqs; /* by key as a string; those of one key in the order they were written */
};

#define SELECTOR_NOTHING ((struct selector){.matches_nothing = true})

static inline bool selector_is_empty(const struct selector *s)
{
	return !s->matches_nothing && s->n == 0;
}

/* An absent key is in no set, so NotIn and != match it. Gt and Lt want a number to be there. */
bool requirement_matches(const struct names *names, const struct requirement *r, const struct labels *l);
bool selector_matches(const struct names *names, const struct selector *s, const struct labels *l);

/*
 * Check and build one requirement: key and value syntax, the number of values the operator wants (In, NotIn: at least
 * one; Exists, DoesNotExist: none; the rest: one), integers for Gt/Lt. values are strings of the given lengths;
 * doubles are dropped. For label selectors and node selectors alike: who must not accept Gt/Lt refuses them by
 * selector_op_parse. On failure nothing was added to the bag and *ret is as it was.
 */
enum err_code requirement_make(struct arena *a, struct name_bag *bag, const char *key, size_t key_len,
			       enum selector_op op, const char *const *values, const size_t *value_lens,
			       uint32_t n_values, struct requirement *ret, struct err *e);

/* The selector of these requirements (n 0: everything). Sorts reqs in place by key and points to them from then on. */
struct selector selector_make(const struct names *names, struct requirement *reqs, uint32_t n);

/*
 * The command-line form: "a=b,c!=d,e in (f,g),h,!i,j>5". Blanks may stand between tokens; in and notin are also fine
 * keys and values. "" is everything. Values left out are empty strings: "x=" is x="", "x in ()" is x in (""), and
 * "x in (a,)" is x in ("",a). On failure the bag may hold names of the requirements before the bad one; *ret is as it
 * was.
 */
enum err_code selector_parse(struct arena *a, struct name_bag *bag, const char *s, size_t len, struct selector *ret,
			     struct err *e);
/*
 * The same form back: requirements in their order (by key after selector_make or selector_parse), values sorted as
 * strings: "x in (a,b),y=1,!z". Parsing it gives an equal selector. "" for everything, and for nothing, which cannot be
 * written this way.
 */
void selector_text(const struct names *names, const struct selector *s, struct text *out);
void requirement_text(const struct names *names, const struct requirement *r, struct text *out);

/*
 * Node selector terms: ORed; inside a term everything ANDed. A term without anything matches no node, and neither does
 * an empty list of terms. Built by requirement_make for matchExpressions and node_field_make for matchFields; where
 * one of them fails the term is_invalid (it may keep those that were fine) and never matches, while the other terms
 * still count.
 */
struct node_term {
	bool is_invalid;
	uint32_t n_exprs, n_fields;
	const struct requirement *exprs;  /* on labels */
	const struct requirement *fields; /* on metadata.name only */
};

struct node_terms {
	uint32_t n;
	const struct node_term *terms;
};

/* One of matchFields: metadata.name, In or NotIn, exactly one value of any syntax. Fails as requirement_make does. */
enum err_code node_field_make(struct arena *a, struct name_bag *bag, const char *key, size_t key_len,
			      enum selector_op op, const char *const *values, const size_t *value_lens,
			      uint32_t n_values, struct requirement *ret, struct err *e);

bool node_term_matches(const struct names *names, const struct node_term *t, const struct labels *l, name_id node_name);
bool node_terms_match(const struct names *names, const struct node_terms *t, const struct labels *l, name_id node_name);

enum taint_effect {
	EFFECT_ANY, /* tolerations only */
	EFFECT_NO_SCHEDULE,
	EFFECT_PREFER_NO_SCHEDULE,
	EFFECT_NO_EXECUTE
};

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

/*
 * Effect: any or the same. Key: any or the same. Then Exists: whatever the value; Equal: the same value; Lt/Gt: the
 * taint's number is less/greater than the toleration's, both int64 in canonical form (no '+', no leading zero, no
 * "-0"). Without with_bounds Lt/Gt match nothing.
 */
bool toleration_matches(const struct names *names, const struct toleration *t, const struct taint *taint,
			bool with_bounds);
/* Some of the n tolerations matches. */
bool tolerations_match(const struct names *names, const struct toleration *t, uint32_t n, const struct taint *taint,
		       bool with_bounds);

/*
 * "" is EFFECT_ANY, and TOLERATE_EQUAL; false: unknown. A toleration with an unknown effect or operator matches
 * nothing, and a taint with an unknown effect (or none) repels nobody: leave them out.
 */
bool taint_effect_parse(const char *s, enum taint_effect *ret);
const char *taint_effect_text(enum taint_effect effect); /* "" for EFFECT_ANY */
bool toleration_op_parse(const char *s, enum toleration_op *ret);
