/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement rules. A rule runs after its parent, so a chain such as fixed -> tag -> user makes a path from left to
 * right. What fixed rules put in front of the first other one is known beforehand, and must be a place where the rest
 * can go: a leaf if nothing follows, a parent if something does, and existing unless the rule may create.
 */
#include <ctype.h>
#include <stdlib.h>

#include "manifest/yunikorn.h"

static const char *const rule_names[] = {"fixed", "user", "provided", "tag", "recovery", NULL};
enum { RULE_FIXED, RULE_USER, RULE_PROVIDED, RULE_TAG };

static int rule_find(const char *name)
{
	for (int i = 0; rule_names[i]; i++)
		if (!strcasecmp(name, rule_names[i]))
			return i;
	return -1;
}

/* ---- filters ---- */

/* From a [ to its ], NULL if there is none. */
static const char *skip_class(const char *s)
{
	s += s[1] == '^' ? 2 : 1;
	s += *s == ']';
	for (; *s && *s != ']'; s++)
		s += *s == '\\' && s[1];
	return *s ? s : NULL;
}

/* Broken in every dialect of regular expressions: brackets must close, and something must stand before a repetition. */
static bool is_broken_regexp(const char *s)
{
	uint32_t depth = 0;

	for (bool is_start = true; *s; s++) {
		if (is_start && (*s == '*' || *s == '+'))
			return true;
		is_start = *s == '(' || *s == '|';
		depth += *s == '(';
		if (*s == ')' && !depth--)
			return true;
		if (*s == '[' && !(s = skip_class(s)))
			return true;
		if (*s == '\\' && !*++s)
			return true;
	}
	return depth;
}

/* Lists of several are names; what is no name there is passed over. One alone may also be a regular expression. */
static enum err_code filter_names(struct yk *y, const struct at *filter, bool is_group, struct err *e)
{
	struct at list, a = {0};
	const char *text;

	TRY(get_list(&y->r, filter, is_group ? "groups" : "users", &list, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		a = at_item(&list, i);
		if (!scalar_text(a.t))
			return at_expected(&y->r, &a, e, "a string");
	}
	if (at_count(&list) != 1)
		return ERR_OK;
	text = scalar_text(a.t);
	if (yk_name_is_valid(text, is_group) || (strpbrk(text, "^$*+?()[{}|") && !is_broken_regexp(text)))
		return ERR_OK;
	return at_expected(&y->r, &a, e,
			   is_group ? "the name of a group or a regular expression"
				    : "the name of a user or a regular expression");
}

static enum err_code check_filter(struct yk *y, const struct at *filter, struct err *e)
{
	static const char *const keys[] = {"type", "users", "groups", NULL}, *const types[] = {"allow", "deny", NULL};
	struct at type = at_field(filter, "type");
	const char *text = "";

	TRY(at_only(&y->r, filter, keys, e));
	TRY(get_scalar(&y->r, filter, "type", &text, e));
	if (*text && strcasecmp(text, types[0]) != 0 && strcasecmp(text, types[1]) != 0)
		return at_word_expected(&y->r, &type, types, e);
	TRY(filter_names(y, filter, false, e));
	return filter_names(y, filter, true, e);
}

/* ---- rules by themselves ---- */

static bool path_is_valid(const char *path)
{
	for (;; path++) {
		size_t n = strcspn(path, ".");

		if (!queue_name_is_valid(path, n))
			return false;
		path += n;
		if (!*path)
			return true;
	}
}

static enum err_code check_value(struct yk *y, const struct at *rule, int kind, struct err *e)
{
	struct at a = at_field(rule, "value");
	const char *value = "";

	TRY(get_scalar(&y->r, rule, "value", &value, e));
	if (kind == RULE_FIXED && !path_is_valid(value))
		return at_expected(&y->r, &a, e, "the name or path of a queue");
	if (kind == RULE_TAG && !*value)
		return at_expected(&y->r, &a, e, "the name of a tag");
	return ERR_OK;
}

static enum err_code check_rule(struct yk *y, const struct at *rule, struct err *e)
{
	static const char *const keys[] = {"name", "create", "value", "parent", "filter", NULL};
	struct at name = at_field(rule, "name"), parent = at_field(rule, "parent"), filter = at_field(rule, "filter");
	const char *text = "";
	bool may_create;

	if (!tree_is(rule->t, TREE_MAP))
		return at_expected(&y->r, rule, e, "a placement rule");
	TRY(at_only(&y->r, rule, keys, e));
	TRY(get_scalar(&y->r, rule, "name", &text, e));
	if (rule_find(text) < 0)
		return at_word_expected(&y->r, &name, rule_names, e);
	TRY(get_flag(&y->r, rule, "create", &may_create, e));
	TRY(check_value(y, rule, rule_find(text), e));
	TRY(check_filter(y, &filter, e));
	return parent.t ? check_rule(y, &parent, e) : ERR_OK;
}

/* ---- where fixed rules lead ---- */

struct chain {
	struct text names; /* "fixed -> tag -> user" */
	struct text path;  /* the fixed part, "root.a.b"; "" if it begins with another rule */
	bool is_open;	   /* something follows the fixed part */
};

static bool is_full_path(const char *s)
{
	return !strncasecmp(s, "root", 4) && (!s[4] || s[4] == '.');
}

static enum err_code follow(struct yk *y, const struct at *rule, struct chain *c, struct err *e)
{
	struct at parent = at_field(rule, "parent"), value = at_field(rule, "value");
	int kind = rule_find(map_text(rule->t, "name"));

	if (parent.t)
		TRY(follow(y, &parent, c, e));
	text_printf(&c->names, "%s%s", c->names.n ? " -> " : "", rule_names[kind]);
	c->is_open |= kind != RULE_FIXED;
	if (kind != RULE_FIXED)
		return ERR_OK;
	if (parent.t && is_full_path(scalar_text(value.t)))
		return at_fail(&y->r, &value, e, "a path from the root cannot stand below another rule (%s)",
			       text_str(&c->names));
	if (c->is_open)
		return ERR_OK;
	text_add(&c->path, c->path.n ? "." : is_full_path(scalar_text(value.t)) ? "" : "root.");
	for (const char *s = scalar_text(value.t); *s; s++)
		text_add_char(&c->path, (char)tolower((unsigned char)*s));
	return ERR_OK;
}

static int by_path(const void *a, const void *b)
{
	const struct yk_queue *const *x = a, *const *z = b;

	return strcmp((*x)->def.path, (*z)->def.path);
}

struct path_index {
	uint32_t n;
	const struct yk_queue **q; /* sorted by path */
};

static const struct yk_queue *find_path(const struct path_index *index, const char *path)
{
	const struct yk_queue key = {.def.path = path}, *p = &key;
	const struct yk_queue **found = bsearch(&p, index->q, index->n, sizeof(*index->q), by_path);

	return found ? *found : NULL;
}

/* The queue at the end of the path, or the last one on the way that is there. */
static const struct yk_queue *deepest(struct yk *y, const struct path_index *index, const char *path)
{
	const struct yk_queue *q = NULL, *next;

	for (const char *end = path;; end++) {
		end += strcspn(end, ".");
		next = find_path(index, arena_strndup(y->r.scratch, path, (size_t)(end - path)));
		if (!next)
			return q;
		q = next;
		if (!*end)
			return q;
	}
}

static enum err_code check_path(struct yk *y, const struct path_index *index, const struct at *rule,
				const struct chain *c, struct err *e)
{
	const char *path = text_str(&c->path), *names = text_str(&c->names);
	const struct yk_queue *q = deepest(y, index, path);
	bool may_create = false, is_there = str_eq(q->def.path, path);

	TRY(get_flag(&y->r, rule, "create", &may_create, e));
	if (!is_there && !q->def.spec.is_parent)
		return at_fail(&y->r, rule, e, "%s: queue %.120s cannot be: %.120s is a leaf", names, path,
			       q->def.path);
	if (!is_there && !may_create)
		return at_fail(&y->r, rule, e, "%s: there is no queue %.120s, and create is false", names, path);
	if (is_there && c->is_open && !q->def.spec.is_parent)
		return at_fail(&y->r, rule, e, "%s: queue %.120s is a leaf; nothing can be placed below it", names,
			       path);
	if (is_there && !c->is_open && q->def.spec.is_parent)
		return at_fail(&y->r, rule, e, "%s: queue %.120s is not a leaf", names, path);
	return ERR_OK;
}

static enum err_code check_chain(struct yk *y, const struct path_index *index, const struct at *rule, struct err *e)
{
	struct chain c = {0};
	enum err_code rc = follow(y, rule, &c, e);

	if (!rc && c.path.n)
		rc = check_path(y, index, rule, &c, e);
	text_free(&c.names);
	text_free(&c.path);
	return rc;
}

enum err_code yk_check_placement(struct yk *y, const struct at *rules, struct err *e)
{
	struct path_index index = {y->queues.n, arena_n(y->r.scratch, y->queues.n, const struct yk_queue *)};

	for (uint32_t i = 0; i < at_count(rules); i++) {
		struct at rule = at_item(rules, i);

		TRY(check_rule(y, &rule, e));
	}
	for (uint32_t i = 0; i < y->queues.n; i++)
		index.q[i] = yk_row(y, i);
	qsort(index.q, index.n, sizeof(*index.q), by_path);
	for (uint32_t i = 0; i < at_count(rules); i++) {
		struct at rule = at_item(rules, i);

		TRY(check_chain(y, &index, &rule, e));
	}
	return ERR_OK;
}
