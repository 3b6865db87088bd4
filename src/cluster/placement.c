/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/placement.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct placement {
	struct arena *arena; /* rules and their strings */
	const struct placement_rule *rules;
	uint32_t n;
	ARRAY(struct pattern *) patterns;
};

/* ---- a copy to keep ---- */

static const char *copy_text(const struct placement *p, const char *s)
{
	return s != NULL ? arena_strndup(p->arena, s, strlen(s)) : NULL;
}

static enum err_code copy_names(struct placement *p, const struct placement_names *from, struct placement_names *to,
				struct err *e)
{
	const char **names = arena_n(p->arena, from->n, const char *);

	for (uint32_t i = 0; i < from->n; i++)
		names[i] = copy_text(p, from->names[i]);
	*to = (struct placement_names){.n = from->n, .names = names};
	if (from->expression == NULL)
		return ERR_OK;
	struct pattern *pattern = pattern_new(from->expression);
	if (pattern == NULL)
		return err_fail(e, ERR_INPUT, "placement rule: '%.100s' is not a regular expression that can be used",
				from->expression);
	array_push(&p->patterns, pattern);
	to->expression = copy_text(p, from->expression);
	to->pattern = pattern;
	return ERR_OK;
}

static enum err_code copy_rule(struct placement *p, const struct placement_rule *from, struct placement_rule *to,
			       struct err *e)
{
	enum err_code code = copy_names(p, &from->filter.users, &to->filter.users, e);

	if (code == ERR_OK)
		code = copy_names(p, &from->filter.groups, &to->filter.groups, e);
	to->filter.denies = from->filter.denies;
	to->kind = from->kind;
	to->may_create = from->may_create;
	to->value = copy_text(p, from->value);
	if (code != ERR_OK || from->parent == NULL)
		return code;
	struct placement_rule *parent = arena_type(p->arena, struct placement_rule);
	to->parent = parent;
	return copy_rule(p, from->parent, parent, e);
}

struct placement *placement_new(const struct placement_rule *rules, uint32_t n, struct err *e)
{
	struct placement *p = mem_alloc(sizeof(*p));
	enum err_code code = ERR_OK;

	p->arena = arena_new(1024);
	struct placement_rule *copy = arena_n(p->arena, n, struct placement_rule);
	for (uint32_t i = 0; i < n && code == ERR_OK; i++)
		code = copy_rule(p, &rules[i], &copy[i], e);
	p->rules = copy;
	p->n = n;
	if (code == ERR_OK)
		return p;
	placement_free(p);
	return NULL;
}

void placement_free(struct placement *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->patterns.n; i++)
		pattern_free(p->patterns.v[i]);
	array_free(&p->patterns);
	arena_free(p->arena);
	mem_free(p);
}

const struct placement_rule *placement_rules(const struct placement *p, uint32_t *ret_n)
{
	*ret_n = p != NULL ? p->n : 0;
	return *ret_n > 0 ? p->rules : NULL;
}

/* ---- users and groups ---- */

struct word {
	const char *s;
	size_t n;
};

/* The next of a list with commas; *list is NULL behind the last. */
static struct word next_word(const char **list)
{
	struct word w = {*list, strcspn(*list, ",")};

	*list = w.s[w.n] == ',' ? w.s + w.n + 1 : NULL;
	return w;
}

/* YuniKorn's pattern for both: nobody is called otherwise. */
static bool is_name(struct word w, bool is_group)
{
	if (w.n == 0 || (!isalpha((unsigned char)w.s[0]) && w.s[0] != '_'))
		return false;
	size_t n = !is_group && w.s[w.n - 1] == '$' ? w.n - 1 : w.n;
	for (size_t i = 1; i < n; i++)
		if (!isalnum((unsigned char)w.s[i]) && strchr(is_group ? "_:.-" : "_:#/.@-", w.s[i]) == NULL)
			return false;
	return true;
}

static bool is_word(struct word w, const char *s)
{
	return w.n == strlen(s) && memcmp(w.s, s, w.n) == 0;
}

static bool same_word(struct word a, struct word b)
{
	return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

static bool list_has(const char *list, size_t len, struct word name, bool is_group)
{
	const char *end = list + len;

	for (const char *at = list; at != NULL && at < end;) {
		struct word w = next_word(&at);
		if (w.s + w.n > end)
			w.n = (size_t)(end - w.s);
		if (is_name(w, is_group) && same_word(w, name))
			return true;
	}
	return false;
}

static bool list_has_group(const char *list, size_t len, const char *groups)
{
	while (groups != NULL && *groups != '\0') {
		struct word group = next_word(&groups);
		if (list_has(list, len, group, true))
			return true;
	}
	return false;
}

bool acl_allows(const char *acl, const struct placement_user *user)
{
	size_t n_users = strcspn(acl, " ");
	const char *groups = acl[n_users] != '\0' ? acl + n_users + 1 : "";

	if (is_word((struct word){acl, n_users}, "*") || strcmp(groups, "*") == 0)
		return true;
	return list_has(acl, n_users, (struct word){user->name, strlen(user->name)}, false) ||
	       list_has_group(groups, strlen(groups), user->groups);
}

/* ---- filters ---- */

static bool names_have(const struct placement_names *names, struct word w, bool is_group)
{
	for (uint32_t i = 0; i < names->n && is_name(w, is_group); i++)
		if (is_word(w, names->names[i]))
			return true;
	if (names->pattern == NULL)
		return false;
	struct text name = {0};
	text_add_n(&name, w.s, w.n);
	bool has = pattern_matches(names->pattern, text_str(&name));
	text_free(&name);
	return has;
}

static bool is_named(const struct placement_filter *f, const struct placement_user *user)
{
	if (names_have(&f->users, (struct word){user->name, strlen(user->name)}, false))
		return true;
	for (const char *groups = user->groups; groups != NULL && *groups != '\0';)
		if (names_have(&f->groups, next_word(&groups), true))
			return true;
	return false;
}

static bool is_empty(const struct placement_names *names)
{
	return names->n == 0 && names->pattern == NULL;
}

/* One without lists lets all pass, or none. */
static bool filter_lets_pass(const struct placement_filter *f, const struct placement_user *user)
{
	if (is_empty(&f->users) && is_empty(&f->groups))
		return !f->denies;
	return is_named(f, user) != f->denies;
}

/* ---- rules ---- */

bool queue_is_defined_parent(const struct queue_tree *t, queue_id id)
{
	const struct queue *q = queue_get(t, id);

	if (id == QUEUE_ROOT || (queue_is_defined(q) && q->spec.is_parent))
		return true;
	for (uint32_t i = 0; queue_is_defined(q) && i < q->children.n; i++)
		if (queue_is_defined(queue_get(t, q->children.v[i])))
			return true;
	return false;
}

static bool is_full_path(const char *s)
{
	return strncasecmp(s, "root", 4) == 0 && (s[4] == '.' || s[4] == '\0');
}

#define TAG_NAMESPACE "namespace"
#define TAG_PARENT_QUEUE "namespace.parentqueue"

bool placement_tag_is_known(const char *tag)
{
	return strcasecmp(tag, TAG_NAMESPACE) == 0 || strcasecmp(tag, TAG_PARENT_QUEUE) == 0;
}

static name_id tag_of(const struct placement_ask *ask, const char *tag)
{
	if (strcasecmp(tag, TAG_NAMESPACE) == 0)
		return ask->ns;
	return strcasecmp(tag, TAG_PARENT_QUEUE) == 0 ? ask->parent_queue : NAME_NONE;
}

/* What the rule makes a name of: "" if there is nothing. *ret_name: the same as the pod says it. */
static const char *value_of(const struct placement_rule *r, const struct placement_ask *ask, name_id *ret_name)
{
	*ret_name = NAME_NONE;
	switch (r->kind) {
	case PLACEMENT_FIXED:
		return r->value;
	case PLACEMENT_USER:
		*ret_name = ask->user_name;
		return ask->user.name;
	case PLACEMENT_PROVIDED:
		*ret_name = ask->queue;
		break;
	case PLACEMENT_TAG:
		*ret_name = tag_of(ask, r->value);
		break;
	case PLACEMENT_RECOVERY:
		break;
	}
	return name_str(ask->tree->names, *ret_name);
}

static void add_lower(struct text *out, const char *s)
{
	for (; *s != '\0'; s++)
		text_add_char(out, (char)tolower((unsigned char)*s));
}

static bool path_is_valid(const char *path)
{
	uint32_t depth = 0;

	for (const char *s = path;; s++) {
		size_t n = strcspn(s, ".");
		if (!queue_name_is_valid(s, n) || depth++ == QUEUE_DEPTH_MAX)
			return false;
		s += n;
		if (*s == '\0')
			return true;
	}
}

static queue_id find_defined(const struct placement_ask *ask, const struct text *path)
{
	queue_id q = queue_tree_find(ask->tree, path->s, path->n);

	return q != QUEUE_NONE && (q == QUEUE_ROOT || queue_is_defined(queue_get(ask->tree, q))) ? q : QUEUE_NONE;
}

static enum placement_verdict run(const struct placement_rule *r, const struct placement_ask *ask, bool is_first,
				  struct text *path, name_id *ret_wanted);

/* A name that is no path: below what the parent rule gives, which must not be a leaf. */
static enum placement_verdict add_below(const struct placement_rule *r, const struct placement_ask *ask,
					const char *value, struct text *path, name_id *ret_wanted)
{
	enum placement_verdict verdict = PLACEMENT_PATH;

	if (r->parent != NULL)
		verdict = run(r->parent, ask, false, path, ret_wanted);
	else
		text_add(path, "root");
	if (verdict != PLACEMENT_PATH)
		return verdict;
	queue_id above = find_defined(ask, path);
	if (above != QUEUE_NONE && !queue_is_defined_parent(ask->tree, above)) {
		*ret_wanted = queue_get(ask->tree, above)->path;
		return PLACEMENT_REFUSED;
	}
	text_add_char(path, '.');
	if (r->kind == PLACEMENT_FIXED)
		add_lower(path, value);
	else
		queue_segment_text(value, strlen(value), path);
	return PLACEMENT_PATH;
}

/* is_first: it is not the parent of another, so what it gives is where the pod goes. */
static enum placement_verdict run(const struct placement_rule *r, const struct placement_ask *ask, bool is_first,
				  struct text *path, name_id *ret_wanted)
{
	name_id name;
	const char *value = value_of(r, ask, &name);
	enum placement_verdict verdict = PLACEMENT_PATH;

	if (*value == '\0' || !filter_lets_pass(&r->filter, &ask->user))
		return PLACEMENT_NO;
	if (is_full_path(value))
		add_lower(path, value);
	else
		verdict = add_below(r, ask, value, path, ret_wanted);
	if (verdict != PLACEMENT_PATH)
		return verdict;
	if (!path_is_valid(path->s)) {
		*ret_wanted = name;
		return PLACEMENT_REFUSED;
	}
	/* The queue of those without one may be had by its name, whether somebody defines it or not. */
	bool is_there = find_defined(ask, path) != QUEUE_NONE || (is_first && strcmp(path->s, "root.default") == 0);
	return is_there || r->may_create ? PLACEMENT_PATH : PLACEMENT_NO;
}

enum placement_verdict placement_run(const struct placement_rule *rule, const struct placement_ask *ask,
				     struct text *path, name_id *ret_wanted)
{
	text_reset(path);
	return run(rule, ask, true, path, ret_wanted);
}
