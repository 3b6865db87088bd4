/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/queue.h"
#include "units/duration.h"

#define KAI_PRIORITY_DEFAULT 100
#define KAI_MEGABYTE 1000000

void queue_spec_init(struct queue_spec *s, struct names *names)
{
	*s = (struct queue_spec){
		.props = queue_props_default(),
		.kai_priority = KAI_PRIORITY_DEFAULT,
		.preempt_min_runtime_ns = TIME_NONE,
		.reclaim_min_runtime_ns = TIME_NONE,
		.created_ns = TIME_NONE,
		.bag = name_bag_of(names),
	};
}

static void limits_free(struct queue_spec *s)
{
	for (uint32_t i = 0; i < s->n_limits; i++) {
		mem_free(s->limits[i].users);
		mem_free(s->limits[i].groups);
	}
	mem_free(s->limits);
}

void queue_spec_free(struct queue_spec *s)
{
	struct names *names = s->bag.names;
	limits_free(s);
	mem_free(s->child_template);
	name_bag_drop(&s->bag);
	queue_spec_init(s, names);
}

struct queue_template *queue_spec_template(struct queue_spec *s)
{
	if (!s->child_template) {
		s->child_template = mem_alloc(sizeof(*s->child_template));
		*s->child_template = (struct queue_template){.props = queue_props_default()};
	}
	return s->child_template;
}

static name_id *copy_names(const name_id *v, uint32_t n)
{
	name_id *c = NULL;

	if (n > 0) {
		c = mem_resize(NULL, n, sizeof(*c));
		memcpy(c, v, n * sizeof(*c));
	}
	return c;
}

struct queue_spec queue_spec_copy(const struct queue_spec *s)
{
	struct queue_spec c = *s;

	c.bag = name_bag_of(s->bag.names);
	for (uint32_t i = 0; i < s->bag.ids.n; i++) {
		names_keep(s->bag.names, s->bag.ids.v[i]);
		array_push(&c.bag.ids, s->bag.ids.v[i]);
	}
	c.child_template = NULL;
	if (s->child_template)
		*queue_spec_template(&c) = *s->child_template;
	c.limits = NULL;
	if (s->n_limits > 0) {
		c.limits = mem_resize(NULL, s->n_limits, sizeof(*c.limits));
		memcpy(c.limits, s->limits, s->n_limits * sizeof(*c.limits));
	}
	for (uint32_t i = 0; i < s->n_limits; i++) {
		c.limits[i].users = copy_names(s->limits[i].users, s->limits[i].n_users);
		c.limits[i].groups = copy_names(s->limits[i].groups, s->limits[i].n_groups);
	}
	return c;
}

void queue_res_settle(struct res_vec *v)
{
	bool is_positive = false, is_negative = false;
	for (res_id r = 0; r < RES_MAX; r++) {
		is_positive |= v->v[r] > 0;
		is_negative |= v->v[r] < 0;
	}
	if (!is_positive || is_negative)
		*v = (struct res_vec){0};
}

void queue_spec_dynamic(struct queue_spec *ret, const struct queue_spec *parent, bool is_leaf, struct names *names)
{
	const struct queue_template *tpl = parent->child_template;
	queue_spec_init(ret, names);
	ret->sources = FROM_TEMPLATE;
	ret->is_parent = !is_leaf;
	if (!tpl)
		return;
	if (!is_leaf) {
		*queue_spec_template(ret) = *tpl;
		return;
	}
	ret->guaranteed = tpl->guaranteed;
	ret->max = tpl->max;
	ret->props = tpl->props;
	ret->max_apps = tpl->max_apps;
}

/* ---- KAI's shares as amounts ---- */

static int64_t amount_of(double x)
{
	if (!(x > 0))
		return 0;
	return x < (double)RES_AMOUNT_MAX ? (int64_t)x : RES_AMOUNT_MAX;
}

void queue_kai_vectors(const struct queue_spec *s, res_id gpu, struct res_vec *ret_guaranteed, struct res_vec *ret_max)
{
	const res_id types[KAI_RES] = {[KAI_GPU] = gpu, [KAI_CPU] = RES_CPU, [KAI_MEMORY] = RES_MEMORY};
	*ret_guaranteed = *ret_max = (struct res_vec){0};
	for (int i = 0; s->has_kai_resources && i < KAI_RES; i++) {
		double unit = i == KAI_MEMORY ? KAI_MEGABYTE : 1;
		if (types[i] == RES_NONE)
			continue;
		if (s->kai[i].quota < 0)
			res_put(ret_guaranteed, types[i], RES_UNLIMITED);
		else if (s->kai[i].quota > 0)
			res_put(ret_guaranteed, types[i], amount_of(ceil(s->kai[i].quota * unit)));
		if (s->kai[i].limit >= 0)
			res_put(ret_max, types[i], amount_of(floor(s->kai[i].limit * unit)));
	}
}

/* ---- joining two definitions: first everything is compared, then everything is taken over ---- */

static enum err_code differ(struct err *e, const char *what, const char *a, const char *b)
{
	return err_fail(e, ERR_CONFLICT, "%s: one definition says %s, the other %s", what, a, b);
}

static enum err_code check_amount(const struct res_types *types, const char *what, res_id r, int64_t a, int64_t b,
				  int64_t tolerance, struct err *e)
{
	if (a == b || (a != RES_UNLIMITED && b != RES_UNLIMITED && res_sub_sat(a, b) < tolerance &&
		       res_sub_sat(b, a) < tolerance))
		return ERR_OK;
	struct text name = {0}, ta = {0}, tb = {0};
	text_printf(&name, "%s %s", what, res_type_name(types, r));
	res_amount_exact(r, a, &ta);
	res_amount_exact(r, b, &tb);
	enum err_code code = differ(e, name.s, ta.s, tb.s);
	text_free(&name);
	text_free(&ta);
	text_free(&tb);
	return code;
}

/* Amounts of one type that both state. tolerance: how near memory has to be; other types are equal or not. */
static enum err_code check_vec(const struct res_types *types, const char *what, const struct res_vec *a,
			       const struct res_vec *b, int64_t tolerance, struct err *e)
{
	enum err_code code = ERR_OK;
	for (res_id r = 0; r < types->n && code == ERR_OK; r++)
		if (res_has(a, r) && res_has(b, r))
			code = check_amount(types, what, r, a->v[r], b->v[r], r == RES_MEMORY ? tolerance : 0, e);
	return code;
}

static enum err_code check_props(const char *what, const struct queue_props *a, const struct queue_props *b,
				 struct err *e)
{
	enum err_code code = ERR_OK;
	for (uint32_t m = a->stated & b->stated; m != 0 && code == ERR_OK; m &= m - 1) {
		enum queue_stated which = (enum queue_stated)(m & -m);
		struct text name = {0}, ta = {0}, tb = {0};
		text_printf(&name, "%s %s", what, queue_prop_key(which));
		queue_prop_text(a, which, &ta);
		queue_prop_text(b, which, &tb);
		if (strcmp(ta.s, tb.s) != 0)
			code = differ(e, name.s, ta.s, tb.s);
		text_free(&name);
		text_free(&ta);
		text_free(&tb);
	}
	return code;
}

/* Numbers of which one (none) says that nothing was stated. */
static enum err_code check_number(const char *what, uint64_t a, uint64_t b, uint64_t none, struct err *e)
{
	if (a == b || a == none || b == none)
		return ERR_OK;
	return err_fail(e, ERR_CONFLICT, "%s: one definition says %" PRIu64 ", the other %" PRIu64, what, a, b);
}

static enum err_code check_duration(const char *what, int64_t a, int64_t b, struct err *e)
{
	if (a == b || a == TIME_NONE || b == TIME_NONE)
		return ERR_OK;
	struct text ta = {0}, tb = {0};
	duration_text(a, &ta);
	duration_text(b, &tb);
	enum err_code code = differ(e, what, ta.s, tb.s);
	text_free(&ta);
	text_free(&tb);
	return code;
}

static enum err_code check_name(const struct queue_spec *s, const char *what, name_id a, name_id b, struct err *e)
{
	if (a == b || a == NAME_NONE || b == NAME_NONE)
		return ERR_OK;
	struct text ta = {0}, tb = {0};
	text_printf(&ta, "'%s'", name_str(s->bag.names, a));
	text_printf(&tb, "'%s'", name_str(s->bag.names, b));
	enum err_code code = differ(e, what, ta.s, tb.s);
	text_free(&ta);
	text_free(&tb);
	return code;
}

static bool same_names(const name_id *a, uint32_t n_a, const name_id *b, uint32_t n_b)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static bool same_limit(const struct queue_limit *a, const struct queue_limit *b)
{
	return a->text == b->text && same_names(a->users, a->n_users, b->users, b->n_users) &&
	       same_names(a->groups, a->n_groups, b->groups, b->n_groups) && a->has_max == b->has_max &&
	       res_vec_equal(&a->max, &b->max) && a->max_apps == b->max_apps;
}

static void names_text(const struct names *names, const char *what, const name_id *v, uint32_t n, struct text *out)
{
	if (n > 0)
		text_printf(out, "%s ", what);
	for (uint32_t i = 0; i < n; i++)
		text_printf(out, "%s%s", name_str(names, v[i]), i + 1 < n ? "," : "; ");
}

static void limit_text(const struct names *names, const struct res_types *types, const struct queue_limit *l,
		       struct text *out)
{
	text_printf(out, "'%s' (", name_str(names, l->text));
	names_text(names, "users", l->users, l->n_users, out);
	names_text(names, "groups", l->groups, l->n_groups, out);
	text_printf(out, "maxapplications %" PRIu64, l->max_apps);
	if (l->has_max) {
		text_add(out, "; maxresources ");
		res_vec_text(types, &l->max, out);
	}
	text_add_char(out, ')');
}

static enum err_code check_limits(const struct queue_spec *a, const struct queue_spec *b, const struct res_types *types,
				  struct err *e)
{
	enum err_code code = ERR_OK;
	if (a->n_limits == 0 || b->n_limits == 0)
		return ERR_OK;
	if (a->n_limits != b->n_limits)
		return err_fail(e, ERR_CONFLICT, "limits: one definition has %" PRIu32 ", the other %" PRIu32,
				a->n_limits, b->n_limits);
	for (uint32_t i = 0; i < a->n_limits && code == ERR_OK; i++) {
		if (same_limit(&a->limits[i], &b->limits[i]))
			continue;
		struct text ta = {0}, tb = {0};
		limit_text(a->bag.names, types, &a->limits[i], &ta);
		limit_text(a->bag.names, types, &b->limits[i], &tb);
		code = differ(e, "limits", ta.s, tb.s);
		text_free(&ta);
		text_free(&tb);
	}
	return code;
}

static enum err_code check_template(const struct queue_spec *a, const struct queue_spec *b,
				    const struct res_types *types, struct err *e)
{
	const struct queue_template *ta = a->child_template, *tb = b->child_template;
	enum err_code code = ERR_OK;
	if (!ta || !tb)
		return ERR_OK;
	if ((code = check_vec(types, "childtemplate guaranteed", &ta->guaranteed, &tb->guaranteed, 0, e)) != ERR_OK)
		return code;
	if ((code = check_vec(types, "childtemplate max", &ta->max, &tb->max, 0, e)) != ERR_OK)
		return code;
	if ((code = check_props("childtemplate property", &ta->props, &tb->props, e)) != ERR_OK)
		return code;
	return check_number("childtemplate maxapplications", ta->max_apps, tb->max_apps, 0, e);
}

static enum err_code check_share(const struct queue_spec *a, const struct queue_spec *b, int i, struct err *e)
{
	static const char *const words[KAI_RES] = {[KAI_GPU] = "gpu", [KAI_CPU] = "cpu", [KAI_MEMORY] = "memory"};
	const struct kai_share *sa = &a->kai[i], *sb = &b->kai[i];
	const struct {
		const char *what;
		double a, b;
	} pairs[] = {
		{"quota", sa->quota, sb->quota},
		{"limit", sa->limit, sb->limit},
		{"overQuotaWeight", sa->over_quota_weight, sb->over_quota_weight},
	};
	for (size_t k = 0; k < sizeof(pairs) / sizeof(*pairs); k++)
		if (pairs[k].a != pairs[k].b)
			return err_fail(e, ERR_CONFLICT, "%s %s: one definition says %g, the other %g", words[i],
					pairs[k].what, pairs[k].a, pairs[k].b);
	return ERR_OK;
}

/* What one says in KAI's words and the other in YuniKorn's. */
static enum err_code check_kai_against(const struct queue_spec *kai, const struct queue_spec *other,
				       const struct res_types *types, struct err *e)
{
	static const char gpu[] = "nvidia.com/gpu";
	struct res_vec guaranteed, max;
	queue_kai_vectors(kai, res_types_find(types, gpu, sizeof(gpu) - 1), &guaranteed, &max);
	for (res_id r = 0; r < types->n; r++)
		if (res_has(&max, r) && max.v[r] == 0)
			max.mask &= ~(UINT64_C(1) << r);
	enum err_code code = check_vec(types, "guaranteed (quota)", &other->guaranteed, &guaranteed, KAI_MEGABYTE, e);
	return code != ERR_OK ? code : check_vec(types, "max (limit)", &other->max, &max, KAI_MEGABYTE, e);
}

static enum err_code check_kai(const struct queue_spec *a, const struct queue_spec *b, const struct res_types *types,
			       struct err *e)
{
	enum err_code code = ERR_OK;
	for (int i = 0; a->has_kai_resources && b->has_kai_resources && i < KAI_RES; i++)
		if ((code = check_share(a, b, i, e)) != ERR_OK)
			return code;
	if ((code = check_kai_against(a, b, types, e)) != ERR_OK ||
	    (code = check_kai_against(b, a, types, e)) != ERR_OK)
		return code;
	if ((code = check_name(a, "name of the Queue object", a->kai_name, b->kai_name, e)) != ERR_OK)
		return code;
	if (a->kai_priority != b->kai_priority && a->kai_priority != KAI_PRIORITY_DEFAULT &&
	    b->kai_priority != KAI_PRIORITY_DEFAULT)
		return err_fail(e, ERR_CONFLICT, "priority: one definition says %" PRId32 ", the other %" PRId32,
				a->kai_priority, b->kai_priority);
	if ((code = check_duration("preemptMinRuntime", a->preempt_min_runtime_ns, b->preempt_min_runtime_ns, e)) !=
	    ERR_OK)
		return code;
	return check_duration("reclaimMinRuntime", a->reclaim_min_runtime_ns, b->reclaim_min_runtime_ns, e);
}

static enum err_code check_all(const struct queue_spec *a, const struct queue_spec *b, const struct res_types *types,
			       struct err *e)
{
	enum err_code code;
	if ((code = check_vec(types, "guaranteed", &a->guaranteed, &b->guaranteed, 0, e)) != ERR_OK ||
	    (code = check_vec(types, "max", &a->max, &b->max, 0, e)) != ERR_OK ||
	    (code = check_props("property", &a->props, &b->props, e)) != ERR_OK ||
	    (code = check_number("maxapplications", a->max_apps, b->max_apps, 0, e)) != ERR_OK ||
	    (code = check_template(a, b, types, e)) != ERR_OK || (code = check_limits(a, b, types, e)) != ERR_OK ||
	    (code = check_name(a, "submitacl", a->submit_acl, b->submit_acl, e)) != ERR_OK ||
	    (code = check_name(a, "adminacl", a->admin_acl, b->admin_acl, e)) != ERR_OK)
		return code;
	return check_kai(a, b, types, e);
}

static void take_vec(struct res_vec *to, const struct res_vec *from)
{
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(from, r))
			res_put(to, r, from->v[r]);
}

static void take_name(struct queue_spec *s, name_id *to, name_id from)
{
	if (*to != NAME_NONE || from == NAME_NONE)
		return;
	names_keep(s->bag.names, from);
	array_push(&s->bag.ids, from);
	*to = from;
}

static name_id *take_names(struct queue_spec *s, const name_id *from, uint32_t n)
{
	name_id *copy = n > 0 ? mem_alloc(n * sizeof(*copy)) : NULL;
	for (uint32_t i = 0; i < n; i++)
		take_name(s, &copy[i], from[i]);
	return copy;
}

static void take_limits(struct queue_spec *s, const struct queue_spec *from)
{
	if (s->n_limits > 0 || from->n_limits == 0)
		return;
	s->n_limits = from->n_limits;
	s->limits = mem_alloc(s->n_limits * sizeof(*s->limits));
	for (uint32_t i = 0; i < s->n_limits; i++) {
		struct queue_limit *l = &s->limits[i];
		*l = from->limits[i];
		l->text = NAME_NONE;
		take_name(s, &l->text, from->limits[i].text);
		l->users = take_names(s, from->limits[i].users, l->n_users);
		l->groups = take_names(s, from->limits[i].groups, l->n_groups);
	}
}

static void take_template(struct queue_spec *s, const struct queue_spec *from)
{
	const struct queue_template *other = from->child_template;
	struct queue_template *to;

	if (!other)
		return;
	to = queue_spec_template(s);
	take_vec(&to->guaranteed, &other->guaranteed);
	take_vec(&to->max, &other->max);
	queue_props_take(&to->props, &other->props, other->props.stated);
	if (to->max_apps == 0)
		to->max_apps = other->max_apps;
}

static void take_time(int64_t *to, int64_t from)
{
	if (*to == TIME_NONE)
		*to = from;
}

static void take_kai(struct queue_spec *s, const struct queue_spec *from)
{
	take_name(s, &s->kai_name, from->kai_name);
	take_name(s, &s->display_name, from->display_name);
	if (from->has_kai_resources)
		memcpy(s->kai, from->kai, sizeof(s->kai));
	s->has_kai_resources |= from->has_kai_resources;
	if (s->kai_priority == KAI_PRIORITY_DEFAULT)
		s->kai_priority = from->kai_priority;
	take_time(&s->preempt_min_runtime_ns, from->preempt_min_runtime_ns);
	take_time(&s->reclaim_min_runtime_ns, from->reclaim_min_runtime_ns);
	take_time(&s->created_ns, from->created_ns);
}

enum err_code queue_spec_merge(struct queue_spec *into, const struct queue_spec *other, const struct res_types *types,
			       struct err *e)
{
	enum err_code code = check_all(into, other, types, e);
	if (code != ERR_OK)
		return code;
	into->sources |= other->sources;
	into->is_parent |= other->is_parent;
	take_vec(&into->guaranteed, &other->guaranteed);
	take_vec(&into->max, &other->max);
	queue_props_take(&into->props, &other->props, other->props.stated);
	if (into->max_apps == 0)
		into->max_apps = other->max_apps;
	take_template(into, other);
	take_limits(into, other);
	take_name(into, &into->submit_acl, other->submit_acl);
	take_name(into, &into->admin_acl, other->admin_acl);
	take_kai(into, other);
	return ERR_OK;
}
