/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of a partition, as written: names, amounts, properties, templates. */
#include <ctype.h>
#include <stdio.h>

#include "manifest/yunikorn.h"
#include "units/duration.h"

struct at yk_speak_of(struct yk *y, uint32_t row)
{
	snprintf(y->r.subject, sizeof(y->r.subject), "queue %s", yk_row(y, row)->def.path);
	return at_root(yk_row(y, row)->t);
}

/* ---- amounts ---- */

/* Types that Kubernetes nodes have: others are likely slips. */
static void note_type(struct yk *y, const struct at *a)
{
	static const char *const usual[] = {"vcore", "memory", "pods", "ephemeral-storage", NULL};
	const char *near_word = nearest_word(a->key, usual);

	if (near_word)
		at_note(&y->r, a, "no node has such a resource; did you mean \"%s\"?", near_word);
	else
		at_note(&y->r, a, "no node has such a resource");
}

static enum err_code amount(struct yk *y, const struct at *a, struct res_vec *ret, struct err *e)
{
	size_t len = strlen(a->key);
	bool is_vcore = str_eq(a->key, "vcore");
	const char *text = scalar_text(a->t);
	struct err why;
	int64_t v;
	res_id type = RES_CPU;

	if (!text || (text[strspn(text, " \t")] == 0))
		return at_expected(&y->r, a, e,
				   is_vcore ? "an amount such as 4 or 500m" : "an amount such as 10 or 16Gi");
	if (yunikorn_quantity_parse(text, a->t->n, is_vcore, &v, &why))
		return at_fail(&y->r, a, e, "%s", why.msg);
	if (str_eq(a->key, "cpu")) {
		at_note(&y->r, a, "YuniKorn counts cores as \"vcore\"; \"cpu\" has no effect");
		return ERR_OK;
	}
	if (!is_vcore && res_types_add(vocab_res(y->r.vocab), a->key, len, &type, &why))
		return at_fail(&y->r, a, e, "%s", why.msg);
	if (!is_vcore && !res_name_is_counted(a->key, len))
		note_type(y, a);
	res_put(ret, type, v);
	return ERR_OK;
}

enum err_code yk_amounts(struct yk *y, const struct at *a, struct res_vec *ret, struct err *e)
{
	TRY(at_want(&y->r, a, TREE_MAP, e));
	for (uint32_t i = 0; a->t && i < a->t->n; i++) {
		struct at f = at_nth_field(a, i);

		TRY(amount(y, &f, ret, e));
	}
	return ERR_OK;
}

void yk_cut(struct res_vec *v)
{
	for (res_id r = 0; r < RES_MAX; r++)
		if (v->v[r] > RES_AMOUNT_MAX)
			v->v[r] = RES_AMOUNT_MAX;
}

static enum err_code guaranteed_and_max(struct yk *y, const struct at *up, struct res_vec *ret_guaranteed,
					struct res_vec *ret_max, struct err *e)
{
	static const char *const keys[] = {"guaranteed", "max", NULL};
	struct res_vec *const ret[] = {ret_guaranteed, ret_max};
	struct at resources = at_field(up, "resources");

	TRY(at_only(&y->r, &resources, keys, e));
	for (int i = 0; keys[i]; i++) {
		struct at set = at_field(&resources, keys[i]);

		TRY(yk_amounts(y, &set, ret[i], e));
		if (set.t && res_vec_is_zero(ret[i]))
			at_note(&y->r, &set, "no amount above zero; counts as not set");
	}
	return ERR_OK;
}

/* ---- properties ---- */

/* A delay that nobody lives to see is more likely a slip than a wish. */
static void note_long(const struct yk *y, const struct at *a, const char *value)
{
	const int64_t ten_years_ns = INT64_C(3650) * 24 * 3600 * NS_PER_S;
	size_t n = strlen(a->key), end = strlen("delay");
	int64_t ns;

	if (n < end || !str_eq(a->key + n - end, "delay") ||
	    duration_parse(value, strlen(value), false, &ns, NULL) != ERR_OK || ns <= ten_years_ns)
		return;
	at_note(&y->r, a, "\"%.60s\" is more than ten years, in effect never", value);
}

static enum err_code property(struct yk *y, const struct at *a, struct queue_props *props, struct err *e)
{
	const char *value = a->t->kind == TREE_NULL ? "" : scalar_text(a->t), *known[32] = {0}, *near_word;
	const struct queue_props defaults = queue_props_default();
	struct text text = {0};
	bool is_bad;

	if (!value)
		return at_expected(&y->r, a, e, "a string");
	for (uint32_t i = 0; 1u << i < STATED_END; i++)
		known[i] = queue_prop_key((enum queue_stated)(1u << i));
	if (!queue_prop_set(props, a->key, value, &is_bad)) {
		near_word = nearest_word(a->key, known);
		at_note(&y->r, a, "not a property that has an effect%s%s%s", near_word ? "; did you mean \"" : "",
			near_word ? near_word : "", near_word ? "\"?" : "");
		return ERR_OK;
	}
	if (!is_bad) {
		note_long(y, a, value);
		return ERR_OK;
	}
	queue_prop_text(&defaults, (enum queue_stated)(1u << words_find(known, a->key)), &text);
	at_note(&y->r, a, "\"%.60s\" is not a value for it; the default %s is used", value, text_str(&text));
	text_free(&text);
	return ERR_OK;
}

static enum err_code properties(struct yk *y, const struct at *up, struct queue_props *props, struct err *e)
{
	struct at a = at_field(up, "properties");

	TRY(at_want(&y->r, &a, TREE_MAP, e));
	for (uint32_t i = 0; a.t && i < a.t->n; i++) {
		struct at f = at_nth_field(&a, i);

		TRY(property(y, &f, props, e));
	}
	return ERR_OK;
}

static enum err_code max_applications(struct yk *y, const struct at *up, uint64_t *ret, struct err *e)
{
	int64_t v = 0;

	TRY(get_int(&y->r, up, "maxapplications", 0, INT64_MAX, &v, e));
	*ret = (uint64_t)v;
	return ERR_OK;
}

/* ---- templates and access lists ---- */

static bool template_is_empty(const struct queue_template *t)
{
	return !t->guaranteed.mask && !t->max.mask && !t->props.stated && !t->max_apps;
}

static enum err_code child_template(struct yk *y, const struct at *up, struct queue_spec *spec, struct err *e)
{
	static const char *const keys[] = {"maxapplications", "properties", "resources", NULL};
	struct at a = at_field(up, "childtemplate");
	struct queue_template t = {.props = queue_props_default()};

	TRY(at_only(&y->r, &a, keys, e));
	if (!a.t)
		return ERR_OK;
	TRY(max_applications(y, &a, &t.max_apps, e));
	TRY(properties(y, &a, &t.props, e));
	TRY(guaranteed_and_max(y, &a, &t.guaranteed, &t.max, e));
	queue_res_settle(&t.guaranteed);
	queue_res_settle(&t.max);
	yk_cut(&t.guaranteed);
	yk_cut(&t.max);
	if (!spec->is_parent) {
		at_note(&y->r, &a, "a leaf has no children; the template is not used");
		return ERR_OK;
	}
	if (!template_is_empty(&t))
		*queue_spec_template(spec) = t;
	return ERR_OK;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Users and groups, one blank between them. */
static uint32_t count_words(const char *s)
{
	uint32_t n = 0;

	for (bool was_blank = true; *s; s++) {
		n += was_blank && !is_blank(*s);
		was_blank = is_blank(*s);
	}
	return n;
}

static enum err_code acl(struct yk *y, const struct at *up, const char *key, struct queue_spec *spec, name_id *ret,
			 struct err *e)
{
	struct at a = at_field(up, key);
	const char *text = "";

	TRY(get_scalar(&y->r, up, key, &text, e));
	if (count_words(text) > 2)
		return at_fail(&y->r, &a, e,
			       "expected users and groups with one blank between them, found %u words in \"%.60s\"",
			       count_words(text), text);
	*ret = name_bag_add_str(&spec->bag, text);
	return ERR_OK;
}

/* ---- queues ---- */

static enum err_code root_resources(struct yk *y, const struct at *a, struct err *e)
{
	static const char *const keys[] = {"guaranteed", "max", NULL};
	struct at resources = at_field(a, "resources");

	TRY(at_only(&y->r, &resources, keys, e));
	for (int i = 0; keys[i]; i++) {
		struct at set = at_field(&resources, keys[i]);

		if (set.t)
			return at_fail(&y->r, &set, e, "not allowed on root, which has what the nodes have");
	}
	return ERR_OK;
}

static enum err_code read_fields(struct yk *y, uint32_t row, struct at *a, const struct at *queues, struct err *e)
{
	struct queue_spec *spec = &yk_row(y, row)->def.spec;
	struct at limits;
	bool is_parent = false;

	TRY(get_flag(&y->r, a, "parent", &is_parent, e));
	spec->is_parent = is_parent || !row || at_count(queues);
	TRY(row ? guaranteed_and_max(y, a, &spec->guaranteed, &spec->max, e) : root_resources(y, a, e));
	TRY(max_applications(y, a, &spec->max_apps, e));
	TRY(properties(y, a, &spec->props, e));
	TRY(acl(y, a, "adminacl", spec, &spec->admin_acl, e));
	TRY(acl(y, a, "submitacl", spec, &spec->submit_acl, e));
	TRY(child_template(y, a, spec, e));
	TRY(get_list(&y->r, a, "limits", &limits, e));
	return yk_read_limits(y, row, &limits, spec, e);
}

enum err_code yk_read_queue(struct yk *y, uint32_t row, struct err *e)
{
	static const char *const keys[] = {"name",	 "parent",   "queues",	  "resources",	   "maxapplications",
					   "properties", "adminacl", "submitacl", "childtemplate", "limits",
					   NULL};
	struct at a = yk_speak_of(y, row), queues;

	TRY(at_only(&y->r, &a, keys, e));
	TRY(get_list(&y->r, &a, "queues", &queues, e));
	TRY(read_fields(y, row, &a, &queues, e));
	return yk_read_children(y, row, &queues, e);
}

uint32_t yk_add(struct yk *y, uint32_t parent, const struct tree *t, const char *segment)
{
	struct yk_queue q = {.t = t, .parent = parent};

	q.depth = parent == YK_NONE ? 0 : yk_row(y, parent)->depth + 1;
	q.def.path = parent == YK_NONE ? "root" : arena_printf(y->arena, "%s.%s", yk_row(y, parent)->def.path, segment);
	q.def.where = arena_printf(y->arena, "%s:%u:%u", y->r.file, t->line, t->col);
	queue_spec_init(&q.def.spec, y->r.names);
	q.def.spec.sources = FROM_YUNIKORN;
	array_push(&y->queues, q);
	return y->queues.n - 1;
}

/* One name, one queue: siblings differ in more than case. */
static enum err_code check_segment(struct yk *y, uint32_t parent, const struct at *name, const char *segment,
				   struct err *e)
{
	uint64_t key = map_key2(parent, name_bag_add_str(&y->words, segment));
	uint32_t before = map_get(&y->segments, key);

	if (before != MAP_NONE)
		return at_fail(&y->r, name, e, "%s is already defined at %s", yk_row(y, before)->def.path,
			       yk_row(y, before)->def.where);
	map_put(&y->segments, key, y->queues.n);
	return ERR_OK;
}

static enum err_code read_child(struct yk *y, uint32_t parent, const struct at *a, struct err *e)
{
	struct at name = at_field(a, "name");
	const char *text = scalar_text(name.t);
	char segment[65] = "";

	if (!tree_is(a->t, TREE_MAP))
		return at_expected(&y->r, a, e, "a queue");
	assert(!text || name.t);
	if (!text || !queue_name_is_valid(text, name.t->n))
		return at_expected(&y->r, &name, e, "a queue name of 1 to 64 letters, digits and _ : # / @ -");
	for (uint32_t i = 0; i < name.t->n; i++)
		segment[i] = (char)tolower((unsigned char)text[i]);
	TRY(check_segment(y, parent, &name, segment, e));
	if (yk_row(y, parent)->depth + 1 >= QUEUE_DEPTH_MAX)
		return at_fail(&y->r, a, e, "queues are at most %d levels deep", QUEUE_DEPTH_MAX);
	return yk_read_queue(y, yk_add(y, parent, a->t, segment), e);
}

enum err_code yk_read_children(struct yk *y, uint32_t row, const struct at *queues, struct err *e)
{
	char subject[sizeof(y->r.subject)];

	snprintf(subject, sizeof(subject), "%s", y->r.subject);
	for (uint32_t i = 0; i < at_count(queues); i++) {
		struct at child = at_item(queues, i);

		TRY(read_child(y, row, &child, e));
		snprintf(y->r.subject, sizeof(y->r.subject), "%s", subject);
	}
	return ERR_OK;
}
