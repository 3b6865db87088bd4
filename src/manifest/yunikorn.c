/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YuniKorn's queues.yaml. Keys nobody knows are refused, as YuniKorn does; values of properties are not, as YuniKorn
 * does not either, but what it would pass over in silence becomes a note.
 */
#include <ctype.h>
#include <stdio.h>

#include "manifest/collect.h"
#include "manifest/yunikorn.h"

static enum err_code read_preemption(struct yk *y, const struct at *partition, struct yunikorn_config *ret,
				     struct err *e)
{
	static const char *const keys[] = {"enabled", "quotapreemptionenabled", NULL};
	struct at a = at_field(partition, "preemption");

	TRY(at_only(&y->r, &a, keys, e));
	TRY(get_flag(&y->r, &a, "enabled", &ret->preemption_enabled, e));
	return get_flag(&y->r, &a, "quotapreemptionenabled", &ret->quota_preemption_enabled, e);
}

static enum err_code check_node_sort(struct yk *y, const struct at *partition, struct err *e)
{
	static const char *const keys[] = {"type", "resourceweights", NULL}, *const types[] = {"fair", "binpacking",
											       NULL};
	struct at a = at_field(partition, "nodesortpolicy"), type = at_field(&a, "type"),
		  weights = at_field(&a, "resourceweights");
	int which = 0;

	TRY(at_only(&y->r, &a, keys, e));
	if (!tree_is(type.t, TREE_STRING) || type.t->n)
		TRY(get_word(&y->r, &a, "type", types, &which, e));
	TRY(at_want(&y->r, &weights, TREE_MAP, e));
	for (uint32_t i = 0; weights.t && i < weights.t->n; i++) {
		struct at w = at_nth_field(&weights, i);
		double weight = 0;

		TRY(get_double(&y->r, &weights, w.key, &weight, e));
		if (weight < 0)
			return at_fail(&y->r, &w, e, "must not be negative, found %.40s", w.t->text);
	}
	if (a.t)
		at_note(&y->r, &a, "not used: nodes are ranked by the scores of the scheduler profile");
	return ERR_OK;
}

static enum err_code check_resolver(struct yk *y, const struct at *partition, struct err *e)
{
	static const char *const keys[] = {"type", NULL}, *const types[] = {"", "os", "ldap", NULL};
	struct at a = at_field(partition, "usergroupresolver"), type = at_field(&a, "type");
	const char *text = "";

	TRY(at_only(&y->r, &a, keys, e));
	TRY(get_scalar(&y->r, &a, "type", &text, e));
	if (words_find(types, text) < 0)
		at_note(&y->r, &type, "\"%.40s\" is none of os and ldap; os is meant", text);
	return ERR_OK;
}

/* ---- the root, written or not ---- */

static bool is_root(const struct at *queues)
{
	const char *name = at_count(queues) == 1 ? scalar_text(tree_get(queues->t->items[0], "name")) : NULL;

	return name && !strcasecmp(name, "root");
}

static void note_root_below(struct yk *y, const struct at *queues)
{
	for (uint32_t i = 0; i < at_count(queues); i++) {
		struct at a = at_item(queues, i);
		const char *name = scalar_text(tree_get(a.t, "name"));

		if (name && !strcasecmp(name, "root"))
			at_note(&y->r, &a, "there are other queues beside this one, so it is root.root");
	}
}

static enum err_code read_root(struct yk *y, const struct at *partition, const struct at *queues, struct err *e)
{
	if (is_root(queues)) {
		yk_add(y, YK_NONE, queues->t->items[0], NULL);
		return yk_read_queue(y, 0, e);
	}
	note_root_below(y, queues);
	yk_add(y, YK_NONE, partition->t, NULL);
	yk_row(y, 0)->def.spec.is_parent = true;
	return yk_read_children(y, 0, queues, e);
}

/* Limits of the partition are those of root. Where both are written they must be the same. */
static enum err_code read_partition_limits(struct yk *y, const struct at *partition, struct err *e)
{
	struct queue_spec *root = &yk_row(y, 0)->def.spec, twin;
	struct at limits;
	enum err_code rc;

	TRY(get_list(&y->r, partition, "limits", &limits, e));
	if (!root->n_limits)
		return yk_read_limits(y, 0, &limits, root, e);
	if (!at_count(&limits))
		return ERR_OK;
	queue_spec_init(&twin, y->r.names);
	rc = yk_read_limits(y, 0, &limits, &twin, e);
	if (!rc && !yk_limits_equal(root, &twin))
		rc = at_fail(&y->r, &limits, e, "root has other limits (%s)", yk_row(y, 0)->def.where);
	queue_spec_free(&twin);
	return rc;
}

/* ---- partitions ---- */

static void speak_of_partition(struct yk *y, const char *name)
{
	snprintf(y->r.subject, sizeof(y->r.subject), "partition %.100s", name);
}

static enum err_code read_partition(struct yk *y, const struct at *p, const char *name, struct yunikorn_config *ret,
				    struct err *e)
{
	static const char *const keys[] = {"name",	 "queues",	   "placementrules",	"limits",
					   "preemption", "nodesortpolicy", "usergroupresolver", NULL};
	struct at queues, rules;

	speak_of_partition(y, name);
	TRY(at_only(&y->r, p, keys, e));
	TRY(get_list(&y->r, p, "queues", &queues, e));
	TRY(get_list(&y->r, p, "placementrules", &rules, e));
	if (!queues.t)
		return at_expected(&y->r, &queues, e, "a list of queues");
	TRY(read_preemption(y, p, ret, e));
	TRY(check_resolver(y, p, e));
	TRY(read_root(y, p, &queues, e));
	speak_of_partition(y, name);
	TRY(read_partition_limits(y, p, e));
	TRY(yk_check_resources(y, e));
	speak_of_partition(y, name);
	TRY(yk_read_placement(y, &rules, ret, e));
	TRY(check_node_sort(y, p, e));
	TRY(yk_check_max_apps(y, e));
	return yk_check_limits(y, e);
}

/* What was written becomes what counts: see queue_res_settle. */
static void settle(struct queue_spec *s)
{
	queue_res_settle(&s->guaranteed);
	queue_res_settle(&s->max);
	yk_cut(&s->guaranteed);
	yk_cut(&s->max);
	for (uint32_t i = 0; i < s->n_limits; i++)
		yk_cut(&s->limits[i].max);
}

static void give(struct yk *y, struct yunikorn_config *ret)
{
	ret->n = y->queues.n;
	ret->queues = arena_n(y->arena, ret->n, struct queue_def);
	for (uint32_t i = 0; i < ret->n; i++) {
		settle(&yk_row(y, i)->def.spec);
		ret->queues[i] = yk_row(y, i)->def;
	}
	y->queues.n = 0;
}

/* Ready for the next partition. */
static void forget(struct yk *y)
{
	for (uint32_t i = 0; i < y->queues.n; i++)
		queue_spec_free(&yk_row(y, i)->def.spec);
	y->queues.n = 0;
	map_free(&y->segments);
	map_free(&y->users);
	map_free(&y->groups);
}

/* The name in lower case; "" and any case of default are one. */
static enum err_code partition_name(struct yk *y, const struct at *p, struct map *seen, const char **ret, struct err *e)
{
	struct at at_name = at_field(p, "name");
	const char *text = "";
	char *name;
	name_id id;

	TRY(get_scalar(&y->r, p, "name", &text, e));
	name = arena_strndup(y->r.scratch, *text ? text : "default", strlen(*text ? text : "default"));
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	id = name_bag_add_str(&y->words, name);
	if (map_get(seen, id) != MAP_NONE)
		return at_fail(&y->r, &at_name, e, "there is another partition \"%.60s\"", name);
	map_put(seen, id, 0);
	*ret = name;
	return ERR_OK;
}

static enum err_code take_partition(struct yk *y, const struct at *item, struct map *seen, struct yunikorn_config *ret,
				    struct err *e)
{
	struct yunikorn_config config = {.preemption_enabled = true};
	struct at p = at_root(item->t);
	const char *name;

	y->r.subject[0] = 0;
	if (!tree_is(item->t, TREE_MAP))
		return at_expected(&y->r, item, e, "a partition");
	TRY(partition_name(y, item, seen, &name, e));
	TRY(read_partition(y, &p, name, &config, e));
	if (str_eq(name, "default")) {
		give(y, &config);
		*ret = config;
	} else {
		speak_of_partition(y, name);
		at_note(&y->r, &p, "ignored: only the partition \"default\" is used");
	}
	forget(y);
	return ERR_OK;
}

static enum err_code read_document(struct yk *y, const struct tree *t, struct map *seen, struct yunikorn_config *ret,
				   struct err *e)
{
	static const char *const keys[] = {"partitions", "checksum", NULL};
	struct at root = at_root(t), partitions;

	TRY(at_only(&y->r, &root, keys, e));
	TRY(get_list(&y->r, &root, "partitions", &partitions, e));
	if (!at_count(&partitions))
		return at_fail(&y->r, &partitions, e, "expected at least one partition");
	for (uint32_t i = 0; i < at_count(&partitions); i++) {
		struct at item = at_item(&partitions, i);

		TRY(take_partition(y, &item, seen, ret, e));
	}
	return ERR_OK;
}

enum err_code manifest_yunikorn(struct vocab *v, struct arena *a, const struct object_source *src, const struct tree *t,
				struct yunikorn_config *ret, struct err *e)
{
	struct yk y = {.r = object_reader(v, src), .arena = a, .words = name_bag_of(vocab_names(v))};
	struct yunikorn_config config = {.preemption_enabled = true};
	struct map seen = {0};
	enum err_code rc;

	y.any = name_bag_add_str(&y.words, "*");
	rc = read_document(&y, t, &seen, &config, e);
	forget(&y);
	array_free(&y.queues);
	map_free(&seen);
	name_bag_drop(&y.words);
	object_reader_end(&y.r);
	if (rc)
		for (uint32_t i = 0; i < config.n; i++)
			queue_spec_free(&config.queues[i].spec);
	else
		*ret = config;
	return rc;
}
