/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs without a PodGroup, as pods say them: cede.dev/gang with cede.dev/min-member, or YuniKorn's task groups.
 * Tenants write these: what cannot be read is noted and looked past.
 */
#include "manifest/pod_gang.h"

#include <ctype.h>
#include <stdlib.h>

enum { TASK_GROUPS_MAX = 256, TIMEOUT_S = 900 }; /* YuniKorn's default for placeholders is 15 minutes */

struct sayings {
	struct at annotations, labels;
};

/* An annotation, or else a label. */
static const char *said(const struct sayings *by, const char *key, struct at *ret)
{
	const char *s = map_text(by->annotations.t, key);

	*ret = at_field(s && *s ? &by->annotations : &by->labels, key);
	return s && *s ? s : map_text(by->labels.t, key);
}

static bool read_count(const char *s, int32_t *ret)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (!isdigit((unsigned char)*s) || *end || n < 1 || n > INT32_MAX)
		return false;
	*ret = (int32_t)n;
	return true;
}

static void own_gang(const struct reader *r, const struct sayings *by, const char *name, struct obj_pod *o)
{
	struct pod_gang draft = {.min_member = 1};
	struct at at;
	const char *min = said(by, "cede.dev/min-member", &at);

	if (min && !read_count(min, &draft.min_member))
		at_note(r, &at, "\"%.40s\" is not a number of pods from 1 on; taken as 1", min);
	o->group = names_hold_str(r->names, name);
	o->group_is_k8s = false;
	obj_pod_extra(o)->gang = pod_gang_new(r->names, &draft, NULL);
}

/* ---- YuniKorn ---- */

static bool read_task_group(const struct tree *t, struct name_bag *bag, struct gang_task_group *ret)
{
	const char *name = map_text(t, "name");
	const struct tree *min = tree_get(t, "minMember");

	if (!name || !*name || !tree_is(min, TREE_NUMBER) || !read_count(min->text, &ret->min_member))
		return false;
	ret->name = name_bag_add_str(bag, name);
	return true;
}

static bool is_named(const struct gang_task_group *task_groups, uint32_t n, name_id name)
{
	for (uint32_t i = 0; i < n; i++)
		if (task_groups[i].name == name)
			return true;
	return false;
}

/* [{"name": "workers", "minMember": 4, …}]. False: it is something else. */
static bool read_task_groups(const struct reader *r, const char *json, struct name_bag *bag,
			     struct gang_task_group *task_groups, uint32_t *ret_n)
{
	struct tree_reader *reader = tree_reader_new("task-groups", json, strlen(json));
	struct tree_doc doc = {0};
	bool is_good = !tree_next(reader, r->scratch, &doc, NULL) && tree_is(doc.root, TREE_LIST) && doc.root->n &&
		       doc.root->n <= TASK_GROUPS_MAX;

	*ret_n = 0;
	for (uint32_t i = 0; is_good && i < doc.root->n; i++) {
		is_good = read_task_group(doc.root->items[i], bag, &task_groups[i]) &&
			  !is_named(task_groups, i, task_groups[i].name);
		*ret_n = i + 1;
	}
	tree_reader_free(reader);
	return is_good;
}

/* "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard"; what is something else counts as not said, as there. */
static void read_parameters(const char *s, struct pod_gang *draft)
{
	static const char timeout[] = "placeholderTimeoutInSeconds=";

	for (size_t n; s && *s; s += n) {
		s += strspn(s, " ");
		n = strcspn(s, " ");
		if (str_starts(s, timeout) && isdigit((unsigned char)s[strlen(timeout)]))
			draft->timeout_ns = time_multiply(NS_PER_S, strtoll(s + strlen(timeout), NULL, 10) % INT32_MAX);
		if (str_starts(s, "gangSchedulingStyle=Hard"))
			draft->is_hard = true;
	}
}

static void task_groups(const struct reader *r, const struct sayings *by, struct obj_pod *o)
{
	struct pod_gang draft = {.is_yunikorn = true, .timeout_ns = time_multiply(NS_PER_S, TIMEOUT_S)};
	struct gang_task_group *task_groups;
	struct name_bag bag = name_bag_of(r->names);
	struct at at, ignored;
	const char *json = said(by, "yunikorn.apache.org/task-groups", &at),
		   *name = said(by, "yunikorn.apache.org/task-group-name", &ignored);

	if (!json && (!name || !*name)) /* as nearly all */
		return;
	task_groups = arena_n(r->scratch, TASK_GROUPS_MAX, struct gang_task_group);
	if (json && !read_task_groups(r, json, &bag, task_groups, &draft.n_task_groups)) {
		at_note(r, &at,
			"expected a list such as [{\"name\": \"workers\", \"minMember\": 4}], each name once; "
			"ignored");
		draft.n_task_groups = 0;
	}
	draft.task_group = name_bag_add_str(&bag, name ? name : "");
	read_parameters(said(by, "yunikorn.apache.org/schedulingPolicyParameters", &ignored), &draft);
	if (draft.n_task_groups || draft.task_group) {
		o->group = o->app;
		o->group_is_k8s = false;
		names_keep(r->names, o->group);
		obj_pod_extra(o)->gang = pod_gang_new(r->names, &draft, task_groups);
	}
	name_bag_drop(&bag);
}

void pod_gang(const struct reader *r, const struct at *meta, struct obj_pod *o)
{
	struct sayings by = {at_field(meta, "annotations"), at_field(meta, "labels")};
	struct at ignored;
	const char *name = said(&by, "cede.dev/gang", &ignored);

	if (o->group)
		return;
	if (name && *name)
		own_gang(r, &by, name, o);
	else if (o->app)
		task_groups(r, &by, o);
}
