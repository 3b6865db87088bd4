/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dropped object is left empty, so dropping it twice is harmless.
 */
#include "model/objects.h"

#include <string.h>

static const char *const preemptibility_words[] = {
	[PREEMPTIBILITY_UNSET] = "",
	[PREEMPTIBLE] = "preemptible",
	[NON_PREEMPTIBLE] = "non-preemptible",
	[SEMI_PREEMPTIBLE] = "semi-preemptible",
};

const char *preemptibility_text(enum preemptibility p)
{
	return preemptibility_words[p];
}

bool preemptibility_parse(const char *s, enum preemptibility *ret)
{
	for (enum preemptibility p = PREEMPTIBLE; p <= SEMI_PREEMPTIBLE; p++) {
		if (strcmp(s, preemptibility_words[p]) == 0) {
			*ret = p;
			return true;
		}
	}
	return false;
}

static void drop_names(struct vocab *v, const name_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		names_drop(vocab_names(v), ids[i]);
}

#define DROP_NAMES(v, ...)                                           \
	do {                                                         \
		const name_id ids_[] = {__VA_ARGS__};                \
		drop_names((v), ids_, sizeof(ids_) / sizeof(*ids_)); \
	} while (0)

#define POD_NAMES(o)                                                                                          \
	(o)->name, (o)->node_name, (o)->nominated_node, (o)->priority_class, (o)->owner_name, (o)->owner_uid, \
		(o)->group, (o)->kai_queue, (o)->yunikorn_queue, (o)->app

struct pod_extra *obj_pod_extra(struct obj_pod *o)
{
	if (o->extra == NULL)
		o->extra = mem_alloc(sizeof(*o->extra));
	return o->extra;
}

static struct pod_extra *extra_copy(struct vocab *v, const struct pod_extra *x)
{
	if (x == NULL)
		return NULL;
	struct pod_extra *copy = mem_alloc(sizeof(*copy));
	*copy = *x;
	names_keep(vocab_names(v), x->subgroup);
	names_keep(vocab_names(v), x->user);
	names_keep(vocab_names(v), x->user_groups);
	pod_gang_keep(x->gang);
	return copy;
}

static void extra_drop(struct vocab *v, struct pod_extra *x)
{
	if (x == NULL)
		return;
	DROP_NAMES(v, x->subgroup, x->user, x->user_groups);
	pod_gang_drop(vocab_names(v), x->gang);
	mem_free(x);
}

struct obj_pod obj_pod_copy(struct vocab *v, const struct obj_pod *o)
{
	const name_id ids[] = {POD_NAMES(o)};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		names_keep(vocab_names(v), ids[i]);
	uid_keep(vocab_names(v), o->uid);
	labelset_keep(v, o->labelset);
	shape_keep(v, o->shape);
	pod_volumes_keep(o->volumes);
	struct obj_pod copy = *o;
	copy.extra = extra_copy(v, o->extra);
	return copy;
}

void obj_pod_drop(struct vocab *v, struct obj_pod *o)
{
	DROP_NAMES(v, POD_NAMES(o));
	uid_drop(vocab_names(v), o->uid);
	labelset_drop(v, o->labelset);
	shape_drop(v, o->shape);
	pod_volumes_drop(vocab_names(v), o->volumes);
	extra_drop(v, o->extra);
	*o = (struct obj_pod){.labelset = LABELSET_NONE, .shape = SHAPE_NONE};
}

static void count_gang(struct names *names, const struct pod_gang *g, void (*count)(struct names *, name_id))
{
	count(names, g->task_group);
	for (uint32_t i = 0; i < g->n_task_groups; i++)
		count(names, g->task_groups[i].name);
}

struct pod_gang *pod_gang_new(struct names *names, const struct pod_gang *draft,
			      const struct gang_task_group *task_groups)
{
	struct pod_gang *g = mem_alloc(sizeof(*g) + draft->n_task_groups * sizeof(*task_groups));

	*g = *draft;
	g->refs = 1;
	if (g->n_task_groups > 0)
		memcpy(g->task_groups, task_groups, g->n_task_groups * sizeof(*task_groups));
	count_gang(names, g, names_keep);
	return g;
}

struct pod_gang *pod_gang_keep(struct pod_gang *g)
{
	if (g != NULL)
		g->refs++;
	return g;
}

void pod_gang_drop(struct names *names, struct pod_gang *g)
{
	if (g == NULL || --g->refs > 0)
		return;
	count_gang(names, g, names_drop);
	mem_free(g);
}

void obj_node_drop(struct vocab *v, struct obj_node *o)
{
	DROP_NAMES(v, o->name, o->uid);
	labelset_drop(v, o->labelset);
	mem_free(o->taints);
	mem_free(o->images);
	name_bag_drop(&o->bag);
	*o = (struct obj_node){.labelset = LABELSET_NONE};
}

void obj_namespace_drop(struct vocab *v, struct obj_namespace *o)
{
	DROP_NAMES(v, o->name, o->parent_queue);
	labelset_drop(v, o->labelset);
	*o = (struct obj_namespace){.labelset = LABELSET_NONE};
}

void obj_class_drop(struct vocab *v, struct obj_class *o)
{
	DROP_NAMES(v, o->name);
	*o = (struct obj_class){0};
}

void obj_pdb_drop(struct vocab *v, struct obj_pdb *o)
{
	DROP_NAMES(v, o->ns, o->name);
	mem_free(o->disrupted);
	arena_free(o->arena);
	name_bag_drop(&o->bag);
	*o = (struct obj_pdb){0};
}

void obj_owner_drop(struct vocab *v, struct obj_owner *o)
{
	DROP_NAMES(v, o->kind_name, o->name, o->uid, o->parent_kind, o->parent_name, o->parent_uid);
	labelset_drop(v, o->labelset);
	arena_free(o->arena);
	name_bag_drop(&o->bag);
	*o = (struct obj_owner){.labelset = LABELSET_NONE};
}

void obj_group_drop(struct vocab *v, struct obj_group *o)
{
	DROP_NAMES(v, o->ns, o->name, o->uid, o->queue, o->priority_class);
	mem_free(o->subgroups);
	name_bag_drop(&o->bag);
	*o = (struct obj_group){0};
}

struct obj_group obj_group_copy(struct vocab *v, const struct obj_group *o)
{
	const name_id held[] = {o->ns, o->name, o->uid, o->queue, o->priority_class};
	struct names *names = vocab_names(v);
	struct obj_group c = *o;

	for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++)
		names_keep(names, held[i]);
	c.bag = name_bag_of(names);
	for (uint32_t i = 0; i < o->bag.ids.n; i++) {
		names_keep(names, o->bag.ids.v[i]);
		array_push(&c.bag.ids, o->bag.ids.v[i]);
	}
	c.subgroups = NULL;
	if (o->n_subgroups > 0) {
		c.subgroups = mem_resize(NULL, o->n_subgroups, sizeof(*c.subgroups));
		memcpy(c.subgroups, o->subgroups, o->n_subgroups * sizeof(*c.subgroups));
	}
	return c;
}

struct obj_node obj_node_copy(struct vocab *v, const struct obj_node *o)
{
	struct names *names = vocab_names(v);
	struct obj_node c = *o;

	names_keep(names, o->name);
	names_keep(names, o->uid);
	labelset_keep(v, o->labelset);
	c.bag = name_bag_of(names);
	for (uint32_t i = 0; i < o->bag.ids.n; i++) {
		names_keep(names, o->bag.ids.v[i]);
		array_push(&c.bag.ids, o->bag.ids.v[i]);
	}
	c.taints = NULL;
	c.images = NULL;
	if (o->n_taints > 0) {
		c.taints = mem_resize(NULL, o->n_taints, sizeof(*c.taints));
		memcpy(c.taints, o->taints, o->n_taints * sizeof(*c.taints));
	}
	if (o->n_images > 0) {
		c.images = mem_resize(NULL, o->n_images, sizeof(*c.images));
		memcpy(c.images, o->images, o->n_images * sizeof(*c.images));
	}
	return c;
}
