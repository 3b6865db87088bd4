/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues, as their two sources defined them. YuniKorn's are a text inside a ConfigMap, because a List has no room
 * for documents without a kind. Queues may be nested deeper than one emit goes, so each is written by itself and put
 * in its column.
 */
#include "manifest/write.h"

#include <stdlib.h>

#include "units/duration.h"

#define KAI_PRIORITY_DEFAULT 100

/* ---- YuniKorn: one queue ---- */

static void properties(struct writer *w, const struct queue_props *p)
{
	struct write_part map = {.key = "properties"};

	for (uint32_t m = p->stated; m; m &= m - 1) {
		enum queue_stated which = (enum queue_stated)(m & -m);

		text_reset(&w->t);
		queue_prop_text(p, which, &w->t);
		emit_str(part_open(w, &map), queue_prop_key(which), text_str(&w->t));
	}
	part_end(w, &map);
}

static void resources(struct writer *w, const struct res_vec *guaranteed, const struct res_vec *max)
{
	if (!guaranteed->mask && !max->mask)
		return;
	emit_object(w->e, "resources");
	write_yunikorn_vector(w, "guaranteed", guaranteed);
	write_yunikorn_vector(w, "max", max);
	emit_end(w->e);
}

static void max_applications(struct writer *w, uint64_t n)
{
	if (n)
		emit_int(w->e, "maxapplications", (int64_t)n);
}

static void child_template(struct writer *w, const struct queue_spec *s)
{
	if (!s->child_template)
		return;
	emit_object(w->e, "childtemplate");
	max_applications(w, s->child_template->max_apps);
	resources(w, &s->child_template->guaranteed, &s->child_template->max);
	properties(w, &s->child_template->props);
	emit_end(w->e);
}

static void limits(struct writer *w, const struct queue_spec *s)
{
	struct write_part list = {.key = "limits", .is_list = true};

	for (uint32_t i = 0; i < s->n_limits; i++) {
		const struct queue_limit *l = &s->limits[i];

		emit_object(part_open(w, &list), NULL);
		write_name(w, "limit", l->text);
		write_strings(w, "users", l->users, l->n_users);
		write_strings(w, "groups", l->groups, l->n_groups);
		max_applications(w, l->max_apps);
		if (l->has_max)
			write_yunikorn_vector(w, "maxresources", &l->max);
		emit_end(w->e);
	}
	part_end(w, &list);
}

static void settings(struct writer *w, const struct queue_spec *s, bool has_children)
{
	write_true(w, "parent", s->is_parent && !has_children);
	write_name(w, "submitacl", s->submit_acl);
	write_name(w, "adminacl", s->admin_acl);
	max_applications(w, s->max_apps);
	resources(w, &s->guaranteed, &s->max);
	properties(w, &s->props);
	child_template(w, s);
	limits(w, s);
}

/* ---- YuniKorn: the tree ---- */

struct doc {
	struct writer *w;
	const struct queue_def **v; /* by path, parents before children */
	uint32_t n;
	struct text out;
	struct text lines; /* of the map being written by itself */
	struct emit inner, *outer;
};

/* What is written between the two goes into a map of its own, which is then put at a column. */
static void map_begin(struct doc *d)
{
	text_reset(&d->lines);
	emit_init(&d->inner, &d->lines, EMIT_YAML);
	d->outer = d->w->e;
	d->w->e = &d->inner;
	emit_object(&d->inner, NULL);
}

/* The first line after "- " if it is an item of a list. */
static void map_end(struct doc *d, size_t column, bool is_item)
{
	emit_end(&d->inner);
	d->w->e = d->outer;
	for (const char *s = text_str(&d->lines); *s; s += strcspn(s, "\n") + 1) {
		text_pad(&d->out, ' ', is_item ? column - 2 : column);
		text_add(&d->out, is_item ? "- " : "");
		text_add_n(&d->out, s, strcspn(s, "\n") + 1);
		is_item = false;
	}
}

static void add_key(struct doc *d, const char *key, size_t column)
{
	text_pad(&d->out, ' ', column);
	text_printf(&d->out, "%s:\n", key);
}

static bool is_below(const struct doc *d, uint32_t i, const char *path, size_t len)
{
	return i < d->n && !strncmp(d->v[i]->path, path, len) && d->v[i]->path[len] == '.';
}

/* The queue whose path is the first len bytes of that at i, and all below it. Gives the place of the next. */
static uint32_t add_queue(struct doc *d, uint32_t i, size_t len, size_t column)
{
	const char *path = d->v[i]->path;
	const struct queue_def *def = path[len] ? NULL : d->v[i++];
	const char *dot = memrchr(path, '.', len), *segment = dot ? dot + 1 : path;

	map_begin(d);
	emit_strf(&d->inner, "name", "%.*s", (int)(path + len - segment), segment);
	if (def)
		settings(d->w, &def->spec, is_below(d, i, path, len));
	map_end(d, column, true);
	if (is_below(d, i, path, len))
		add_key(d, "queues", column);
	while (is_below(d, i, path, len))
		i = add_queue(d, i, len + 1 + strcspn(d->v[i]->path + len + 1, "."), column + 2);
	return i;
}

/* ---- YuniKorn: placement rules ---- */

static void filter_names(struct writer *w, const char *key, const struct placement_names *v)
{
	struct write_part list = {.key = key, .is_list = true};

	if (v->expression)
		emit_str(part_open(w, &list), NULL, v->expression);
	for (uint32_t i = 0; !v->expression && i < v->n; i++)
		emit_str(part_open(w, &list), NULL, v->names[i]);
	part_end(w, &list);
}

static bool names_nobody(const struct placement_names *v)
{
	return !v->expression && !v->n;
}

static void filter(struct writer *w, const struct placement_filter *f)
{
	if (!f->denies && names_nobody(&f->users) && names_nobody(&f->groups))
		return;
	emit_object(w->e, "filter");
	emit_str(w->e, "type", f->denies ? "deny" : "allow");
	filter_names(w, "users", &f->users);
	filter_names(w, "groups", &f->groups);
	emit_end(w->e);
}

static void rule(struct writer *w, const struct placement_rule *r)
{
	static const char *const words[] = {
		[PLACEMENT_FIXED] = "fixed", [PLACEMENT_USER] = "user",		[PLACEMENT_PROVIDED] = "provided",
		[PLACEMENT_TAG] = "tag",     [PLACEMENT_RECOVERY] = "recovery",
	};

	emit_str(w->e, "name", words[r->kind]);
	write_true(w, "create", r->may_create);
	write_text(w, "value", r->value ? r->value : "");
	filter(w, &r->filter);
}

/* Each may have a parent, and that one a parent, as deep as one likes. */
static void add_rule(struct doc *d, const struct placement_rule *r, size_t column)
{
	for (bool is_item = true; r; r = r->parent, column += 2, is_item = false) {
		map_begin(d);
		rule(d->w, r);
		map_end(d, column, is_item);
		if (r->parent)
			add_key(d, "parent", column);
	}
}

static void add_rules(struct doc *d)
{
	uint32_t n;
	const struct placement_rule *rules = cluster_placement(d->w->c, &n);

	if (n)
		add_key(d, "placementrules", 2);
	for (uint32_t i = 0; i < n; i++)
		add_rule(d, &rules[i], 4);
}

/* ---- YuniKorn: the document ---- */

/* A dot comes before every other letter, so that what is below a queue follows it at once. */
static int by_path(const void *pa, const void *pb)
{
	const unsigned char *a = (const unsigned char *)(*(const struct queue_def *const *)pa)->path,
			    *b = (const unsigned char *)(*(const struct queue_def *const *)pb)->path;

	while (*a && *a == *b)
		a++, b++;
	int x = *a == '.' ? 1 : *a, y = *b == '.' ? 1 : *b;
	return x - y;
}

static void sort_defs(const struct queue_def *defs, uint32_t n, const struct queue_def **ret,
		      int (*cmp)(const void *, const void *))
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = &defs[i];
	qsort(ret, n, sizeof(*ret), cmp);
}

static void write_yunikorn(struct writer *w)
{
	uint32_t n;
	const struct queue_def *defs = cluster_queue_defs(w->c, FROM_YUNIKORN, &n);

	if (!n)
		return;
	AUTO_FREE const struct queue_def **v = mem_resize(NULL, n, sizeof(*v));
	struct doc d = {.w = w, .v = v, .n = n};
	sort_defs(defs, n, v, by_path);
	text_add(&d.out, "partitions:\n- name: default\n  queues:\n");
	add_queue(&d, 0, strlen("root"), 4);
	add_rules(&d);
	object_begin(w, "v1", "ConfigMap", "yunikorn", "yunikorn-configs", "");
	metadata_end(w);
	emit_object(w->e, "data");
	emit_lines(w->e, "queues.yaml", text_str(&d.out));
	emit_end(w->e);
	object_end(w);
	text_free(&d.out);
	text_free(&d.lines);
}

/* ---- KAI ---- */

static void shares(struct writer *w, const struct queue_spec *s)
{
	static const char *const keys[] = {[KAI_GPU] = "gpu", [KAI_CPU] = "cpu", [KAI_MEMORY] = "memory"};

	const struct kai_share unlimited = {.limit = -1};

	emit_object(w->e, "resources");
	for (int i = 0; i < KAI_RES; i++) {
		const struct kai_share *k = s->has_kai_resources ? &s->kai[i] : &unlimited;

		emit_object(w->e, keys[i]);
		emit_double(w->e, "quota", k->quota);
		emit_double(w->e, "limit", k->limit);
		emit_double(w->e, "overQuotaWeight", k->over_quota_weight);
		emit_end(w->e);
	}
	emit_end(w->e);
}

static void duration(struct writer *w, const char *key, int64_t ns)
{
	if (ns == TIME_NONE)
		return;
	text_reset(&w->t);
	duration_text(ns, &w->t);
	emit_str(w->e, key, text_str(&w->t));
}

static void write_protected_hours(struct writer *w, const struct queue_props *p)
{
	struct write_part annotations = {.key = "annotations"};

	if (!(p->stated & STATED_PROTECTED_HOURS))
		return;
	text_reset(&w->t);
	queue_prop_text(p, STATED_PROTECTED_HOURS, &w->t);
	emit_str(part_open(w, &annotations), PROTECTED_HOURS_KEY, text_str(&w->t));
	part_end(w, &annotations);
}

static void kai_queue(struct writer *w, const struct queue_def *d)
{
	const struct queue_spec *s = &d->spec;

	object_begin(w, "scheduling.run.ai/v2", "Queue", "", d->kai_name, "");
	write_time(w, "creationTimestamp", s->created_ns);
	write_protected_hours(w, &s->props);
	metadata_end(w);
	emit_object(w->e, "spec");
	write_text(w, "parentQueue", d->kai_parent);
	write_name(w, "displayName", s->display_name);
	if (s->kai_priority != KAI_PRIORITY_DEFAULT)
		emit_int(w->e, "priority", s->kai_priority);
	shares(w, s);
	duration(w, "preemptMinRuntime", s->preempt_min_runtime_ns);
	duration(w, "reclaimMinRuntime", s->reclaim_min_runtime_ns);
	emit_end(w->e);
	object_end(w);
}

static int by_kai_name(const void *a, const void *b)
{
	return strcmp((*(const struct queue_def *const *)a)->kai_name, (*(const struct queue_def *const *)b)->kai_name);
}

static void write_kai(struct writer *w)
{
	uint32_t n;
	const struct queue_def *defs = cluster_queue_defs(w->c, FROM_KAI, &n);

	if (!n)
		return;
	AUTO_FREE const struct queue_def **v = mem_resize(NULL, n, sizeof(*v));
	sort_defs(defs, n, v, by_kai_name);
	for (uint32_t i = 0; i < n; i++)
		kai_queue(w, v[i]);
}

void write_queues(struct writer *w)
{
	write_yunikorn(w);
	write_kai(w);
}
