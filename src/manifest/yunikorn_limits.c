/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of users and groups. A name has one limit in a queue; "*" speaks for everybody without one and comes last.
 * Below, a limit may only be tighter than the one of the same name above it, or than that of "*" where the name is
 * stated for the first time.
 */
#include <inttypes.h>

#include "manifest/yunikorn.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_of(char c, const char *others)
{
	return is_letter(c) || (c >= '0' && c <= '9') || (c && strchr(others, c));
}

bool yk_name_is_valid(const char *s, bool is_group)
{
	size_t n = strlen(s);

	if (!is_letter(*s))
		return false;
	if (!is_group && s[n - 1] == '$')
		n--;
	for (size_t i = 1; i < n; i++)
		if (!is_of(s[i], is_group ? ":.-" : ":#/.@-"))
			return false;
	return true;
}

/* ---- reading ---- */

struct limit_reading {
	struct yk *y;
	uint32_t row;
	struct queue_spec *spec;
	struct queue_limit *limit; /* the last of spec's */
	bool is_of_partition;	   /* to be compared with those of root, so names may come again */
};

static enum err_code take_name(const struct limit_reading *lr, const struct at *a, bool is_group, name_id *ret,
			       struct err *e)
{
	struct yk *y = lr->y;
	struct map *seen = is_group ? &y->groups : &y->users;
	const char *name = scalar_text(a->t), *what = is_group ? "group" : "user";

	if (!name || (!str_eq(name, "*") && !yk_name_is_valid(name, is_group)))
		return at_expected(&y->r, a, e,
				   is_group ? "the name of a group or \"*\"" : "the name of a user or \"*\"");
	*ret = name_bag_add_str(&lr->spec->bag, name);
	if (lr->is_of_partition)
		return ERR_OK;
	if (map_get(seen, map_key2(lr->row, *ret)) != MAP_NONE)
		return at_fail(&y->r, a, e, "%s \"%.60s\" has a limit in this queue already", what, name);
	if (map_get(seen, map_key2(lr->row, y->any)) != MAP_NONE)
		return at_fail(&y->r, a, e, "%s \"%.60s\" comes after \"*\", which must be the last", what, name);
	map_put(seen, map_key2(lr->row, *ret), lr->spec->n_limits - 1);
	return ERR_OK;
}

static enum err_code names(const struct limit_reading *lr, const struct at *limit, bool is_group, uint32_t *ret_n,
			   name_id **ret, struct err *e)
{
	struct at list;

	TRY(get_list(&lr->y->r, limit, is_group ? "groups" : "users", &list, e));
	if (!at_count(&list))
		return ERR_OK;
	*ret = mem_alloc(at_count(&list) * sizeof(**ret));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at name = at_item(&list, i);

		TRY(take_name(lr, &name, is_group, &(*ret)[i], e));
		*ret_n = i + 1;
	}
	return ERR_OK;
}

/* A limit for all groups together is the queue's own maximum; it makes sense only beside named ones. */
static enum err_code check_only_any(const struct limit_reading *lr, const struct at *limit, struct err *e)
{
	struct at groups = at_field(limit, "groups");

	if (!at_count(&groups))
		return ERR_OK;
	for (uint32_t i = 0; i < lr->spec->n_limits; i++)
		for (uint32_t k = 0; k < lr->spec->limits[i].n_groups; k++)
			if (lr->spec->limits[i].groups[k] != lr->y->any)
				return ERR_OK;
	return at_fail(&lr->y->r, &groups, e, "\"*\" needs a limit of a named group before it");
}

static enum err_code amounts(const struct limit_reading *lr, const struct at *limit, struct err *e)
{
	struct at max = at_field(limit, "maxresources"), apps = at_field(limit, "maxapplications");
	struct queue_limit *l = lr->limit;
	int64_t max_apps = 0;

	TRY(yk_amounts(lr->y, &max, &l->max, e));
	TRY(get_int(&lr->y->r, limit, "maxapplications", 0, INT64_MAX, &max_apps, e));
	l->max_apps = (uint64_t)max_apps;
	l->has_max = max.t && max.t->n;
	if (l->has_max && res_vec_is_zero(&l->max))
		return at_fail(&lr->y->r, &max, e, "at least one amount must be above zero");
	if (!l->has_max && !l->max_apps)
		return at_fail(&lr->y->r, apps.t ? &apps : limit, e,
			       "limits nothing: expected maxresources or a maxapplications above zero");
	return ERR_OK;
}

/* Nobody may be allowed more than the queue as a whole. */
static enum err_code check_queue(const struct limit_reading *lr, const struct at *limit, struct err *e)
{
	struct yk *y = lr->y;
	const struct queue_spec *q = &yk_row(y, lr->row)->def.spec;
	struct at apps = at_field(limit, "maxapplications"), max = at_field(limit, "maxresources");
	res_id r = yk_excess(&q->max, &lr->limit->max);

	if (q->max_apps && lr->limit->max_apps > q->max_apps)
		return at_fail(&y->r, &apps, e, "%" PRIu64 " is above the queue's own maxapplications %" PRIu64,
			       lr->limit->max_apps, q->max_apps);
	if (r == RES_NONE)
		return ERR_OK;
	struct at amount = at_field(&max, yk_type_name(y, r));
	return at_fail(&y->r, &amount, e, "%s is above the queue's own max %s", yk_amount(y, r, lr->limit->max.v[r]),
		       yk_amount(y, r, q->max.v[r]));
}

static enum err_code read_limit(struct limit_reading *lr, const struct at *a, struct err *e)
{
	static const char *const keys[] = {"limit", "users", "groups", "maxresources", "maxapplications", NULL};
	struct queue_limit *l = lr->limit;
	const char *text = "";

	if (!tree_is(a->t, TREE_MAP))
		return at_expected(&lr->y->r, a, e, "a limit");
	TRY(at_only(&lr->y->r, a, keys, e));
	TRY(get_scalar(&lr->y->r, a, "limit", &text, e));
	l->text = name_bag_add_str(&lr->spec->bag, text);
	TRY(names(lr, a, false, &l->n_users, &l->users, e));
	TRY(names(lr, a, true, &l->n_groups, &l->groups, e));
	if (!l->n_users && !l->n_groups)
		return at_fail(&lr->y->r, a, e, "for nobody: expected users or groups");
	TRY(check_only_any(lr, a, e));
	TRY(amounts(lr, a, e));
	return check_queue(lr, a, e);
}

enum err_code yk_read_limits(struct yk *y, uint32_t row, const struct at *limits, struct queue_spec *spec,
			     struct err *e)
{
	struct limit_reading lr = {
		.y = y, .row = row, .spec = spec, .is_of_partition = spec != &yk_row(y, row)->def.spec};

	if (!at_count(limits))
		return ERR_OK;
	spec->limits = mem_alloc(at_count(limits) * sizeof(*spec->limits));
	for (uint32_t i = 0; i < at_count(limits); i++) {
		struct at a = at_item(limits, i);

		lr.limit = &spec->limits[spec->n_limits++];
		TRY(read_limit(&lr, &a, e));
	}
	return ERR_OK;
}

/* ---- comparing ---- */

static bool names_equal(const name_id *a, uint32_t n_a, const name_id *b, uint32_t n_b)
{
	return n_a == n_b && (!n_a || !memcmp(a, b, n_a * sizeof(*a)));
}

static bool limit_equal(const struct queue_limit *a, const struct queue_limit *b)
{
	return a->text == b->text && a->max_apps == b->max_apps && a->has_max == b->has_max &&
	       res_vec_equal(&a->max, &b->max) && names_equal(a->users, a->n_users, b->users, b->n_users) &&
	       names_equal(a->groups, a->n_groups, b->groups, b->n_groups);
}

bool yk_limits_equal(const struct queue_spec *a, const struct queue_spec *b)
{
	if (a->n_limits != b->n_limits)
		return false;
	for (uint32_t i = 0; i < a->n_limits; i++)
		if (!limit_equal(&a->limits[i], &b->limits[i]))
			return false;
	return true;
}

struct nesting { /* one name of one limit, held against those above */
	struct yk *y;
	uint32_t row;
	uint32_t index; /* of the limit */
	bool is_group;
	name_id name;
};

static const struct queue_limit *limit_at(const struct nesting *n, uint32_t row, name_id name)
{
	uint32_t i = map_get(n->is_group ? &n->y->groups : &n->y->users, map_key2(row, name));

	return i == MAP_NONE ? NULL : &yk_row(n->y, row)->def.spec.limits[i];
}

static enum err_code check_against(const struct nesting *n, uint32_t above, name_id name_above, struct err *e)
{
	struct yk *y = n->y;
	const struct queue_limit *own = &yk_row(y, n->row)->def.spec.limits[n->index],
				 *limit = limit_at(n, above, name_above);
	const char *path = yk_row(y, above)->def.path, *who = name_str(y->r.names, n->name);
	struct at q = yk_speak_of(y, n->row), list = at_field(&q, "limits"), a = at_item(&list, n->index);
	res_id r = yk_excess(&limit->max, &own->max);

	if (r != RES_NONE) {
		struct at max = at_field(&a, "maxresources"), amount = at_field(&max, yk_type_name(y, r));

		return at_fail(&y->r, &amount, e, "%s for %s %.60s is above the %s that %.120s allows",
			       yk_amount(y, r, own->max.v[r]), n->is_group ? "group" : "user", who,
			       yk_amount(y, r, limit->max.v[r]), path);
	}
	if (limit->max_apps && (!own->max_apps || own->max_apps > limit->max_apps)) {
		struct at apps = at_field(&a, "maxapplications");

		return at_fail(&y->r, &apps, e,
			       "%" PRIu64 "%s for %s %.60s is above the %" PRIu64 " that %.120s allows", own->max_apps,
			       own->max_apps ? "" : " (no limit)", n->is_group ? "group" : "user", who, limit->max_apps,
			       path);
	}
	return ERR_OK;
}

/* The topmost queue that has a limit for the name; above it the limits of "*" hold for the name. */
static uint32_t topmost(const struct nesting *n)
{
	uint32_t top = n->row;

	for (uint32_t up = yk_row(n->y, n->row)->parent; up != YK_NONE; up = yk_row(n->y, up)->parent)
		if (limit_at(n, up, n->name))
			top = up;
	return top;
}

static enum err_code check_name(const struct nesting *n, struct err *e)
{
	uint32_t top = topmost(n);
	bool is_above_top = n->row == top;

	for (uint32_t up = yk_row(n->y, n->row)->parent; up != YK_NONE; up = yk_row(n->y, up)->parent) {
		if (limit_at(n, up, n->name))
			TRY(check_against(n, up, n->name, e));
		else if (is_above_top && limit_at(n, up, n->y->any))
			TRY(check_against(n, up, n->y->any, e));
		is_above_top |= up == top;
	}
	return ERR_OK;
}

static enum err_code check_limit(struct yk *y, uint32_t row, uint32_t index, struct err *e)
{
	const struct queue_limit *l = &yk_row(y, row)->def.spec.limits[index];
	struct nesting n = {.y = y, .row = row, .index = index};

	for (uint32_t i = 0; i < l->n_users + l->n_groups; i++) {
		n.is_group = i >= l->n_users;
		n.name = n.is_group ? l->groups[i - l->n_users] : l->users[i];
		TRY(check_name(&n, e));
	}
	return ERR_OK;
}

enum err_code yk_check_limits(struct yk *y, struct err *e)
{
	for (uint32_t row = 1; row < y->queues.n; row++)
		for (uint32_t i = 0; i < yk_row(y, row)->def.spec.n_limits; i++)
			TRY(check_limit(y, row, i, e));
	return ERR_OK;
}
