/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that objects of several kinds have. */
#include "manifest/write.h"

#include <stdlib.h>

#include "units/timestamp.h"

struct emit *part_open(struct writer *w, struct write_part *p)
{
	if (!p->is_open && p->is_list)
		emit_list(w->e, p->key);
	else if (!p->is_open)
		emit_object(w->e, p->key);
	p->is_open = true;
	return w->e;
}

void part_end(struct writer *w, struct write_part *p)
{
	if (p->is_open)
		emit_end(w->e);
}

void write_text(struct writer *w, const char *key, const char *s)
{
	if (*s)
		emit_str(w->e, key, s);
}

void write_name(struct writer *w, const char *key, name_id name)
{
	write_text(w, key, str(w, name));
}

void write_time(struct writer *w, const char *key, int64_t ns)
{
	if (ns == TIME_NONE)
		return;
	text_reset(&w->t);
	timestamp_text(ns, &w->t);
	emit_str(w->e, key, text_str(&w->t));
}

void write_true(struct writer *w, const char *key, bool is_so)
{
	if (is_so)
		emit_bool(w->e, key, true);
}

void write_strings(struct writer *w, const char *key, const name_id *v, uint32_t n)
{
	if (!n)
		return;
	emit_list(w->e, key);
	for (uint32_t i = 0; i < n; i++)
		emit_str(w->e, NULL, str(w, v[i]));
	emit_end(w->e);
}

/* ---- labels ---- */

static bool has_label(const struct writer *w, const struct labels *l, const char *key, name_id *ret_value)
{
	name_id id = names_find(w->names, key, strlen(key));

	return id && labels_get(l, id, ret_value);
}

name_id label_of(const struct writer *w, const struct labels *l, const char *key)
{
	name_id value;

	return has_label(w, l, key, &value) ? value : NAME_NONE;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

void write_labels(struct writer *w, const char *key, const struct labels *l, const struct pair *more, uint32_t n_more)
{
	name_id value;

	w->pairs.n = 0;
	for (uint32_t i = 0; i < l->n; i++)
		array_push(&w->pairs, ((struct pair){str(w, l->kv[i].key), str(w, l->kv[i].value)}));
	for (uint32_t i = 0; i < n_more; i++)
		if (!has_label(w, l, more[i].key, &value))
			array_push(&w->pairs, more[i]);
	if (!w->pairs.n)
		return;
	qsort(w->pairs.v, w->pairs.n, sizeof(*w->pairs.v), by_key);
	emit_object(w->e, key);
	for (uint32_t i = 0; i < w->pairs.n; i++)
		emit_str(w->e, w->pairs.v[i].key, w->pairs.v[i].value);
	emit_end(w->e);
}

/* ---- selectors ---- */

static int by_name(const void *a, const void *b, void *names)
{
	return name_cmp(names, *(const name_id *)a, *(const name_id *)b);
}

void write_values(struct writer *w, const struct requirement *r)
{
	w->ids.n = 0;
	for (uint32_t i = 0; i < r->n_values; i++)
		array_push(&w->ids, r->values[i]);
	if (w->ids.n)
		qsort_r(w->ids.v, w->ids.n, sizeof(*w->ids.v), by_name, w->names);
	write_strings(w, "values", w->ids.v, w->ids.n);
}

static void requirement(struct writer *w, const struct requirement *r)
{
	static const char *const words[] = {
		[SEL_IN] = "In",
		[SEL_EQUAL] = "In",
		[SEL_DOUBLE_EQUAL] = "In",
		[SEL_NOT_IN] = "NotIn",
		[SEL_NOT_EQUAL] = "NotIn",
		[SEL_EXISTS] = "Exists",
		[SEL_NOT_EXISTS] = "DoesNotExist",
		[SEL_GT] = "Gt",
		[SEL_LT] = "Lt",
	};

	emit_object(w->e, NULL);
	emit_str(w->e, "key", str(w, r->key));
	emit_str(w->e, "operator", words[r->op]);
	write_values(w, r);
	emit_end(w->e);
}

/* One of matchLabels: the first of its key that wants one value. */
static bool is_pair(const struct selector *s, uint32_t i)
{
	if (s->reqs[i].op != SEL_EQUAL)
		return false;
	for (uint32_t k = 0; k < i; k++)
		if (s->reqs[k].op == SEL_EQUAL && s->reqs[k].key == s->reqs[i].key)
			return false;
	return true;
}

static void pairs(struct writer *w, const struct selector *s, struct write_part *p)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (is_pair(s, i))
			emit_str(part_open(w, p), str(w, s->reqs[i].key), str(w, s->reqs[i].values[0]));
}

void write_selector(struct writer *w, const char *key, const struct selector *s)
{
	struct write_part labels = {.key = "matchLabels"}, exprs = {.key = "matchExpressions", .is_list = true};

	if (s->matches_nothing)
		return;
	emit_object(w->e, key);
	pairs(w, s, &labels);
	part_end(w, &labels);
	for (uint32_t i = 0; i < s->n; i++) {
		if (is_pair(s, i))
			continue;
		part_open(w, &exprs);
		requirement(w, &s->reqs[i]);
	}
	part_end(w, &exprs);
	emit_end(w->e);
}

void write_plain_selector(struct writer *w, const char *key, const struct selector *s)
{
	struct write_part map = {.key = key};

	pairs(w, s, &map);
	part_end(w, &map);
}

static void requirements(struct writer *w, struct write_part *list, const struct requirement *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		part_open(w, list);
		requirement(w, &v[i]);
	}
}

/* What made a term invalid is forgotten: something else that is, stands for it. */
static void invalid_requirement(struct writer *w, struct write_part *list)
{
	emit_object(part_open(w, list), NULL);
	emit_str(w->e, "key", "invalid");
	emit_str(w->e, "operator", "Invalid");
	emit_end(w->e);
}

void write_node_term(struct writer *w, const char *key, const struct node_term *t)
{
	struct write_part exprs = {.key = "matchExpressions", .is_list = true},
			  fields = {.key = "matchFields", .is_list = true};

	emit_object(w->e, key);
	requirements(w, &exprs, t->exprs, t->n_exprs);
	if (t->is_invalid)
		invalid_requirement(w, &exprs);
	part_end(w, &exprs);
	requirements(w, &fields, t->fields, t->n_fields);
	part_end(w, &fields);
	emit_end(w->e);
}

/* ---- amounts ---- */

static int by_type(const void *pa, const void *pb, void *ctx)
{
	const struct res_types *types = ctx;
	res_id a = ((const struct res_amount *)pa)->type, b = ((const struct res_amount *)pb)->type;

	if (a < RES_FIXED || b < RES_FIXED)
		return a < b ? -1 : a > b;
	return name_cmp(types->names, types->name[a], types->name[b]);
}

/* 8G reads better than 7812500Ki, and 8Gi better than 8589934592. */
static const char *amount_text(struct writer *w, res_id type, int64_t amount)
{
	size_t n;

	text_reset(&w->t);
	res_amount_exact(type, amount, &w->t);
	if (type != RES_MEMORY && type != RES_EPHEMERAL)
		return text_str(&w->t);
	n = w->t.n;
	text_add_char(&w->t, 0);
	quantity_text_value(amount, QUANTITY_DECIMAL_SI, &w->t);
	return text_str(&w->t) + (w->t.n - n - 1 < n ? n + 1 : 0);
}

static void amounts(struct writer *w, const char *key, struct res_amount *v, uint32_t n, const char *cpu)
{
	emit_object(w->e, key);
	qsort_r(v, n, sizeof(*v), by_type, (void *)w->types);
	for (uint32_t i = 0; i < n; i++)
		emit_str(w->e, v[i].type == RES_CPU ? cpu : res_type_name(w->types, v[i].type),
			 amount_text(w, v[i].type, v[i].amount));
	emit_end(w->e);
}

void write_amounts(struct writer *w, const char *key, const struct res_list *l)
{
	struct res_amount v[RES_MAX];

	for (uint32_t i = 0; i < l->n; i++)
		v[i] = l->v[i];
	amounts(w, key, v, l->n, "cpu");
}

static uint32_t list_of(const struct res_vec *vec, struct res_amount *ret)
{
	uint32_t n = 0;

	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(vec, r))
			ret[n++] = (struct res_amount){r, vec->v[r]};
	return n;
}

void write_vector(struct writer *w, const char *key, const struct res_vec *vec)
{
	struct res_amount v[RES_MAX];

	amounts(w, key, v, list_of(vec, v), "cpu");
}

void write_yunikorn_vector(struct writer *w, const char *key, const struct res_vec *vec)
{
	struct res_amount v[RES_MAX];
	uint32_t n = list_of(vec, v);

	if (n)
		amounts(w, key, v, n, "vcore");
}

/* ---- owners ---- */

static const struct {
	enum owner_kind kind;
	const char *word, *api;
} owner_words[] = {
	{OWNER_DEPLOYMENT, "Deployment", "apps/v1"},
	{OWNER_REPLICASET, "ReplicaSet", "apps/v1"},
	{OWNER_STATEFULSET, "StatefulSet", "apps/v1"},
	{OWNER_DAEMONSET, "DaemonSet", "apps/v1"},
	{OWNER_JOB, "Job", "batch/v1"},
	{OWNER_RC, "ReplicationController", "v1"},
	{OWNER_NODE, "Node", "v1"},
	{OWNER_NONE, "Service", "v1"},
};
#define N_OWNER_WORDS (sizeof(owner_words) / sizeof(*owner_words))

const char *owner_kind_word(enum owner_kind kind)
{
	for (size_t i = 0; kind != OWNER_NONE && i < N_OWNER_WORDS; i++)
		if (owner_words[i].kind == kind)
			return owner_words[i].word;
	return kind == OWNER_OTHER ? "Other" : "";
}

const char *owner_api(const char *kind)
{
	for (size_t i = 0; i < N_OWNER_WORDS; i++)
		if (str_eq(owner_words[i].word, kind))
			return owner_words[i].api;
	return "";
}

void write_controller(struct writer *w, const char *kind, name_id name, struct uid uid)
{
	struct uid_text buf;

	if (!*kind && name == NAME_NONE && uid_is_none(uid))
		return;
	emit_list(w->e, "ownerReferences");
	emit_object(w->e, NULL);
	write_text(w, "apiVersion", owner_api(kind));
	write_text(w, "kind", kind);
	write_name(w, "name", name);
	write_text(w, "uid", uid_str(w->names, uid, &buf));
	emit_bool(w->e, "controller", true);
	emit_end(w->e);
	emit_end(w->e);
}
