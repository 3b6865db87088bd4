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
	struct part map = {.key = "properties"};

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
	if (!s->has_template)
		return;
	emit_object(w->e, "childtemplate");
	max_applications(w, s->child_template.max_apps);
	resources(w, &s->child_template.guaranteed, &s->child_template.max);
	properties(w, &s->child_template.props);
	emit_end(w->e);
}

static void limits(struct writer *w, const struct queue_spec *s)
{
	struct part list = {.key = "limits", .is_list = true};

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
};

/* As an item of a list that begins at a column. */
static void add_item(struct text *out, const struct text *item, size_t column)
{
	const char *s = text_str(item);

	for (bool is_first = true; *s; is_first = false) {
		size_t n = strcspn(s, "\n") + 1;

		text_pad(out, ' ', column);
		text_add(out, is_first ? "- " : "  ");
		text_add_n(out, s, n);
		s += n;
	}
}

static void add_settings(struct doc *d, const char *segment, size_t len, const struct queue_def *def, bool has_children,
			 size_t column)
{
	struct text item = {0};
	struct emit inner, *outer = d->w->e;

	emit_init(&inner, &item, EMIT_YAML);
	d->w->e = &inner;
	emit_object(&inner, NULL);
	emit_strf(&inner, "name", "%.*s", (int)len, segment);
	if (def)
		settings(d->w, &def->spec, has_children);
	emit_end(&inner);
	d->w->e = outer;
	add_item(&d->out, &item, column);
	text_free(&item);
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

	add_settings(d, segment, len - (size_t)(segment - path), def, is_below(d, i, path, len), column);
	if (is_below(d, i, path, len)) {
		text_pad(&d->out, ' ', column + 2);
		text_add(&d->out, "queues:\n");
	}
	while (is_below(d, i, path, len))
		i = add_queue(d, i, len + 1 + strcspn(d->v[i]->path + len + 1, "."), column + 2);
	return i;
}

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
	add_queue(&d, 0, strlen("root"), 2);
	object_begin(w, "v1", "ConfigMap", "yunikorn", "yunikorn-configs", "");
	metadata_end(w);
	emit_object(w->e, "data");
	emit_lines(w->e, "queues.yaml", text_str(&d.out));
	emit_end(w->e);
	object_end(w);
	text_free(&d.out);
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

static void kai_queue(struct writer *w, const struct queue_def *d)
{
	const struct queue_spec *s = &d->spec;

	object_begin(w, "scheduling.run.ai/v2", "Queue", "", d->kai_name, "");
	write_time(w, "creationTimestamp", s->created_ns);
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
