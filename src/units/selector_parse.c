/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command-line form of label selectors.
 *
 *	selector    = [ requirement { "," requirement } ]
 *	requirement = [ "!" ] key | key op [ value ] | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
 *	op          = "=" | "==" | "!=" | ">" | "<"
 *
 * A word is everything up to a blank or one of = ! ( ) , < >, so what a key or a value may hold is not the business of
 *the grammar: requirement_make says that. "in" and "notin" are operators only where an operator stands.
 */
#include "units/labels.h"

#include <string.h>

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_COMMA,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_NOT,
	TOKEN_EQUAL,
	TOKEN_DOUBLE_EQUAL,
	TOKEN_NOT_EQUAL,
	TOKEN_GREATER,
	TOKEN_LESS,
};

struct parser {
	const char *at, *end;
	struct { /* the one that comes next */
		enum token_kind kind;
		const char *s;
		size_t len;
	} token;
	ARRAY(const char *) values; /* of the requirement at hand */
	ARRAY(size_t) value_lens;
	ARRAY(struct requirement) reqs;
	struct arena *arena;
	struct name_bag *bag;
	struct err *e;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static enum token_kind symbol_kind(char c, bool then_equal)
{
	switch (c) {
	case ',':
		return TOKEN_COMMA;
	case '(':
		return TOKEN_OPEN;
	case ')':
		return TOKEN_CLOSE;
	case '>':
		return TOKEN_GREATER;
	case '<':
		return TOKEN_LESS;
	case '!':
		return then_equal ? TOKEN_NOT_EQUAL : TOKEN_NOT;
	case '=':
		return then_equal ? TOKEN_DOUBLE_EQUAL : TOKEN_EQUAL;
	default:
		return TOKEN_WORD;
	}
}

static void advance(struct parser *p)
{
	while (p->at < p->end && is_blank(*p->at))
		p->at++;
	p->token.s = p->at;
	if (p->at == p->end) {
		p->token.kind = TOKEN_END;
	} else {
		p->token.kind = symbol_kind(p->at[0], p->end - p->at > 1 && p->at[1] == '=');
		p->at += p->token.kind == TOKEN_NOT_EQUAL || p->token.kind == TOKEN_DOUBLE_EQUAL ? 2 : 1;
	}
	if (p->token.kind == TOKEN_WORD)
		while (p->at < p->end && !is_blank(*p->at) && symbol_kind(*p->at, false) == TOKEN_WORD)
			p->at++;
	p->token.len = (size_t)(p->at - p->token.s);
}

static enum err_code unexpected(struct parser *p, const char *expected)
{
	int shown = p->token.len < 128 ? (int)p->token.len : 128;
	return err_fail(p->e, ERR_INPUT, "found '%.*s', expected: %s", shown, p->token.s, expected);
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token.kind == TOKEN_WORD && p->token.len == strlen(word) &&
	       memcmp(p->token.s, word, p->token.len) == 0;
}

static void take_value(struct parser *p)
{
	bool is_given = p->token.kind == TOKEN_WORD;
	array_push(&p->values, is_given ? p->token.s : "");
	array_push(&p->value_lens, is_given ? p->token.len : 0);
	if (is_given)
		advance(p);
}

static enum err_code parse_one_value(struct parser *p)
{
	if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_COMMA && p->token.kind != TOKEN_END)
		return unexpected(p, "identifier");
	take_value(p);
	return ERR_OK;
}

static enum err_code parse_value_list(struct parser *p)
{
	if (p->token.kind != TOKEN_OPEN)
		return unexpected(p, "'('");
	do {
		advance(p);
		take_value(p);
	} while (p->token.kind == TOKEN_COMMA);
	if (p->token.kind != TOKEN_CLOSE)
		return unexpected(p, array_last(&p->value_lens) > 0 ? "',' or ')'" : "',', ')' or identifier");
	advance(p);
	return ERR_OK;
}

static bool parse_op(struct parser *p, enum selector_op *ret)
{
	if (is_word(p, "in"))
		*ret = SEL_IN;
	else if (is_word(p, "notin"))
		*ret = SEL_NOT_IN;
	else if (p->token.kind == TOKEN_EQUAL)
		*ret = SEL_EQUAL;
	else if (p->token.kind == TOKEN_DOUBLE_EQUAL)
		*ret = SEL_DOUBLE_EQUAL;
	else if (p->token.kind == TOKEN_NOT_EQUAL)
		*ret = SEL_NOT_EQUAL;
	else if (p->token.kind == TOKEN_GREATER)
		*ret = SEL_GT;
	else if (p->token.kind == TOKEN_LESS)
		*ret = SEL_LT;
	else
		return false;
	advance(p);
	return true;
}

static enum err_code parse_op_and_values(struct parser *p, enum selector_op *ret)
{
	if (!parse_op(p, ret))
		return unexpected(p, "in, notin, =, ==, !=, >, <");
	return *ret == SEL_IN || *ret == SEL_NOT_IN ? parse_value_list(p) : parse_one_value(p);
}

static enum err_code parse_requirement(struct parser *p)
{
	struct requirement r;
	enum selector_op op = SEL_EXISTS;
	enum err_code code = ERR_OK;

	p->values.n = p->value_lens.n = 0;
	if (p->token.kind == TOKEN_NOT) {
		op = SEL_NOT_EXISTS;
		advance(p);
	}
	if (p->token.kind != TOKEN_WORD)
		return unexpected(p, "identifier");
	const char *key = p->token.s;
	size_t key_len = p->token.len;
	advance(p);
	if (op == SEL_EXISTS && p->token.kind != TOKEN_COMMA && p->token.kind != TOKEN_END)
		code = parse_op_and_values(p, &op);
	if (code == ERR_OK)
		code = requirement_make(p->arena, p->bag, key, key_len, op, p->values.v, p->value_lens.v, p->values.n,
					&r, p->e);
	if (code == ERR_OK)
		array_push(&p->reqs, r);
	return code;
}

static enum err_code parse_requirements(struct parser *p)
{
	const char *expected = "!, identifier, or 'end of string'";
	advance(p);
	if (p->token.kind == TOKEN_END)
		return ERR_OK;
	for (;;) {
		if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_NOT)
			return unexpected(p, expected);
		enum err_code code = parse_requirement(p);
		if (code != ERR_OK)
			return p->e ? err_wrap(p->e, "unable to parse requirement: ") : code;
		if (p->token.kind == TOKEN_END)
			return ERR_OK;
		if (p->token.kind != TOKEN_COMMA)
			return unexpected(p, "',' or 'end of string'");
		expected = "identifier after ','";
		advance(p);
	}
}

enum err_code selector_parse(struct arena *a, struct name_bag *bag, const char *s, size_t len, struct selector *ret,
			     struct err *e)
{
	struct parser p = {.at = s, .end = s + len, .arena = a, .bag = bag, .e = e};
	enum err_code code = parse_requirements(&p);
	if (code == ERR_OK) {
		struct requirement *reqs = p.reqs.n > 0 ? arena_n(a, p.reqs.n, struct requirement) : NULL;
		if (reqs)
			memcpy(reqs, p.reqs.v, p.reqs.n * sizeof(*reqs));
		*ret = selector_make(bag->names, reqs, p.reqs.n);
	}
	array_free(&p.values);
	array_free(&p.value_lens);
	array_free(&p.reqs);
	return code;
}
