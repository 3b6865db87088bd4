/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement rules. A rule runs after its parent, so a chain such as fixed -> tag -> user makes a path from left to
 * right. What fixed rules put in front of the first other one is known beforehand, and must be a place where the rest
 * can go: a leaf if nothing follows, a parent if something does, and existing unless the rule may create.
 */
#include <ctype.h>
#include <stdlib.h>

#include "manifest/yunikorn.h"

static const char *const rule_names[] = {
	[PLACEMENT_FIXED] = "fixed", [PLACEMENT_USER] = "user",		[PLACEMENT_PROVIDED] = "provided",
	[PLACEMENT_TAG] = "tag",     [PLACEMENT_RECOVERY] = "recovery", NULL,
};

static bool rule_find(const char *name, enum placement_kind *ret)
{
	for (int i = 0; rule_names[i]; i++) {
		if (strcasecmp(name, rule_names[i]) != 0)
			continue;
		*ret = (enum placement_kind)i;
		return true;
	}
	return false;
}

/* ---- filters ---- */

static bool is_pattern(const char *s)
{
	struct pattern *p = pattern_new(s);

	pattern_free(p);
	return p != NULL;
}

/* Letters that no name has make it an expression. (A dot does not.) */
static enum err_code read_single(struct yk *y, const struct at *a, bool is_group, struct placement_names *ret,
				 struct err *e)
{
	const char *text = scalar_text(a->t), **names = arena_n(y->arena, 1, const char *);
	bool is_expression = strpbrk(text, "^$*+?()[{}|") != NULL;

	if (is_expression ? !is_pattern(text) : !yk_name_is_valid(text, is_group))
		return at_expected(&y->r, a, e,
				   is_group ? "the name of a group or a regular expression"
					    : "the name of a user or a regular expression");
	names[0] = arena_strndup(y->arena, text, strlen(text));
	if (is_expression)
		ret->expression = names[0];
	else
		*ret = (struct placement_names){.n = 1, .names = names};
	return ERR_OK;
}

/* Lists of several are names; what is no name there is nobody's. One alone may also be a regular expression. */
static enum err_code read_names(struct yk *y, const struct at *filter, bool is_group, struct placement_names *ret,
				struct err *e)
{
	struct at list, a = {0};
	const char **names;

	TRY(get_list(&y->r, filter, is_group ? "groups" : "users", &list, e));
	names = arena_n(y->arena, at_count(&list), const char *);
	for (uint32_t i = 0; i < at_count(&list); i++) {
		a = at_item(&list, i);
		if (!scalar_text(a.t))
			return at_expected(&y->r, &a, e, "a string");
		names[ret->n++] = arena_strndup(y->arena, scalar_text(a.t), strlen(scalar_text(a.t)));
	}
	ret->names = names;
	if (at_count(&list) != 1)
		return ERR_OK;
	*ret = (struct placement_names){0};
	return read_single(y, &a, is_group, ret, e);
}

static enum err_code read_filter(struct yk *y, const struct at *filter, struct placement_filter *ret, struct err *e)
{
	static const char *const keys[] = {"type", "users", "groups", NULL}, *const types[] = {"allow", "deny", NULL};
	struct at type = at_field(filter, "type");
	const char *text = "";

	TRY(at_only(&y->r, filter, keys, e));
	TRY(get_scalar(&y->r, filter, "type", &text, e));
	ret->denies = !strcasecmp(text, types[1]);
	if (*text && !ret->denies && strcasecmp(text, types[0]) != 0)
		return at_word_expected(&y->r, &type, types, e);
	TRY(read_names(y, filter, false, &ret->users, e));
	return read_names(y, filter, true, &ret->groups, e);
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

static enum err_code read_value(struct yk *y, const struct at *rule, struct placement_rule *ret, struct err *e)
{
	struct at a = at_field(rule, "value");
	const char *value = "";

	TRY(get_scalar(&y->r, rule, "value", &value, e));
	if (ret->kind == PLACEMENT_FIXED && !path_is_valid(value))
		return at_expected(&y->r, &a, e, "the name or path of a queue");
	if (ret->kind == PLACEMENT_TAG && !*value)
		return at_expected(&y->r, &a, e, "the name of a tag");
	if (ret->kind == PLACEMENT_TAG && !placement_tag_is_known(value))
		at_note(&y->r, &a, "pods show no tag \"%.60s\", so the rule never matches", value);
	ret->value = arena_strndup(y->arena, value, strlen(value));
	return ERR_OK;
}

static enum err_code read_rule(struct yk *y, const struct at *rule, struct placement_rule *ret, struct err *e)
{
	static const char *const keys[] = {"name", "create", "value", "parent", "filter", NULL};
	struct at name = at_field(rule, "name"), parent = at_field(rule, "parent"), filter = at_field(rule, "filter");
	struct placement_rule *above;
	const char *text = "";

	if (!tree_is(rule->t, TREE_MAP))
		return at_expected(&y->r, rule, e, "a placement rule");
	TRY(at_only(&y->r, rule, keys, e));
	TRY(get_scalar(&y->r, rule, "name", &text, e));
	if (!rule_find(text, &ret->kind))
		return at_word_expected(&y->r, &name, rule_names, e);
	TRY(get_flag(&y->r, rule, "create", &ret->may_create, e));
	TRY(read_value(y, rule, ret, e));
	TRY(read_filter(y, &filter, &ret->filter, e));
	if (!parent.t)
		return ERR_OK;
	ret->parent = above = arena_type(y->arena, struct placement_rule);
	return read_rule(y, &parent, above, e);
}

/* ---- where fixed rules lead ---- */

struct placement_chain {
	struct text names; /* "fixed -> tag -> user" */
	struct text path;  /* the fixed part, "root.a.b"; "" if it begins with another rule */
	bool is_open;	   /* something follows the fixed part */
};

static bool is_full_path(const char *s)
{
	return !strncasecmp(s, "root", 4) && (!s[4] || s[4] == '.');
}

static enum err_code follow(struct yk *y, const struct placement_rule *rule, const struct at *at,
			    struct placement_chain *c, struct err *e)
{
	struct at parent = at_field(at, "parent"), value = at_field(at, "value");

	if (rule->parent)
		TRY(follow(y, rule->parent, &parent, c, e));
	text_printf(&c->names, "%s%s", c->names.n ? " -> " : "", rule_names[rule->kind]);
	c->is_open |= rule->kind != PLACEMENT_FIXED;
	if (rule->kind != PLACEMENT_FIXED)
		return ERR_OK;
	if (rule->parent && is_full_path(rule->value))
		return at_fail(&y->r, &value, e, "a path from the root cannot stand below another rule (%s)",
			       text_str(&c->names));
	if (c->is_open)
		return ERR_OK;
	text_add(&c->path, c->path.n ? "." : is_full_path(rule->value) ? "" : "root.");
	for (const char *s = rule->value; *s; s++)
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

static enum err_code check_path(struct yk *y, const struct path_index *index, const struct at *rule, bool may_create,
				const struct placement_chain *c, struct err *e)
{
	const char *path = text_str(&c->path), *names = text_str(&c->names);
	const struct yk_queue *q = deepest(y, index, path);
	bool is_there = str_eq(q->def.path, path);
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

static enum err_code check_chain(struct yk *y, const struct path_index *index, const struct placement_rule *rule,
				 const struct at *at, struct err *e)
{
	struct placement_chain c = {0};
	enum err_code rc = follow(y, rule, at, &c, e);

	if (!rc && c.path.n)
		rc = check_path(y, index, at, rule->may_create, &c, e);
	text_free(&c.names);
	text_free(&c.path);
	return rc;
}

enum err_code yk_read_placement(struct yk *y, const struct at *rules, struct yunikorn_config *ret, struct err *e)
{
	struct path_index index = {y->queues.n, arena_n(y->r.scratch, y->queues.n, const struct yk_queue *)};
	struct placement_rule *read = arena_n(y->arena, at_count(rules), struct placement_rule);

	ret->n_rules = at_count(rules);
	ret->rules = read;
	for (uint32_t i = 0; i < at_count(rules); i++) {
		struct at rule = at_item(rules, i);

		TRY(read_rule(y, &rule, &read[i], e));
	}
	for (uint32_t i = 0; i < y->queues.n; i++)
		index.q[i] = yk_row(y, i);
	qsort(index.q, index.n, sizeof(*index.q), by_path);
	for (uint32_t i = 0; i < at_count(rules); i++) {
		struct at rule = at_item(rules, i);

		TRY(check_chain(y, &index, &read[i], &rule, e));
	}
	return ERR_OK;
}
