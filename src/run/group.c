/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written back to KAI's PodGroups: since when they run (MR-8), since when too few of them do, and whether they
 * may be interrupted (PP-6). And the times that are of groups: the end of a stale gang's grace, and of a soft gang's
 * patience.
 */
#include "run/scheduler_internal.h"
#include "units/timestamp.h"

#define STARTED "kai.scheduler/last-start-timestamp"
#define STALE "kai.scheduler/stale-podgroup-timestamp"

/* Kubernetes' groups and gangs without a PodGroup have nowhere to write it. */
static bool is_written_to(const struct group *g)
{
	return g->is_live && !g->obj->is_k8s && !g->obj->is_of_pods;
}

/* Its path; false: the API server does not have it (any more). */
static bool path_of(struct scheduler *s, const struct obj_group *o, struct text *path, const char **ret_uid)
{
	static const char *const groups[] = {"scheduling.run.ai", "scheduling.kai.nvidia.com"};
	const char *version;

	for (int i = 0; i < 2; i++) {
		const struct reflector *r = kube_feed_reflector(s->feed, "PodGroup", groups[i]);

		if (!r || !reflector_find(r, str_of(s, o->ns), str_of(s, o->name), ret_uid, &version))
			continue;
		kube_path(path, reflector_kind(r), reflector_version(r), str_of(s, o->ns), str_of(s, o->name));
		return true;
	}
	return false;
}

static void annotate(struct scheduler *s, const struct group *g, const char *key, int64_t at_ns)
{
	struct text path = {0}, value = {0};
	struct kube_write w = {0};
	const char *uid = "";

	if (at_ns != TIME_NONE)
		timestamp_text(time_floor(at_ns, NS_PER_S), &value);
	if (path_of(s, g->obj, &path, &uid)) {
		write_annotation(&w, text_str(&path), uid, "", key, at_ns == TIME_NONE ? NULL : text_str(&value));
		task_write(s, TASK_GROUP, &w);
	}
	text_free(&path);
	text_free(&value);
}

/* Ids are given out again: what was written is known by the group's own as well. Never MAP_NONE. */
static uint32_t written(const struct scheduler *s, const struct group *g, uint64_t what)
{
	const char *uid = str_of(s, g->obj->uid);

	return (uint32_t)hash_mix(hash_bytes(uid, strlen(uid)), what) & INT32_MAX;
}

static void publish(struct scheduler *s, group_id id)
{
	const struct group *g = ledger_group(s->ledger, id);
	const char *word = preemptibility_text(g->preemptibility), *uid = "";
	struct text path = {0}, json = {0};
	struct kube_write w = {0};

	if (!*word || map_get(&s->published, id) == written(s, g, g->preemptibility))
		return;
	map_put(&s->published, id, written(s, g, g->preemptibility));
	if (path_of(s, g->obj, &path, &uid)) {
		text_printf(&json, "{\"preemptibility\": \"%s\"}", word);
		text_add(&path, "/status");
		write_merge(&w, text_str(&path), uid, "status", text_str(&json));
		task_write(s, TASK_GROUP, &w);
	}
	text_free(&path);
	text_free(&json);
}

void group_placed(struct scheduler *s, group_id id)
{
	const struct group *g = ledger_group(s->ledger, id);
	int64_t started_ns;

	s->groups_changed = true;
	if (!is_written_to(g))
		return;
	publish(s, id);
	if (g->started_ns == TIME_NONE)
		return;
	started_ns = time_floor(g->started_ns, NS_PER_S);
	if (g->obj->started_ns == started_ns || map_get(&s->stamped, id) == written(s, g, (uint64_t)started_ns))
		return;
	map_put(&s->stamped, id, written(s, g, (uint64_t)started_ns));
	annotate(s, g, STARTED, started_ns);
}

/* ---- gangs of which too few run, and gangs that wait no longer than their time ---- */

/* Since when it is stale is written down once, so that a restart does not begin to count anew. */
static int64_t stale_time(struct scheduler *s, group_id id, const struct group *g)
{
	int64_t grace_ns = s->world->config->kai.staleness_grace_ns;
	bool is_stale = engine_gang_is_stale(s->world->engine, id);
	bool is_noted = g->obj->stale_ns != TIME_NONE || map_get(&s->stale, id) == written(s, g, 0);

	if (is_stale == is_noted)
		return is_stale && grace_ns >= 0 && g->obj->stale_ns != TIME_NONE ? time_add(g->obj->stale_ns, grace_ns)
										  : INT64_MAX;
	if (is_stale)
		map_put(&s->stale, id, written(s, g, 0));
	else
		map_del(&s->stale, id);
	if (is_stale || g->obj->stale_ns != TIME_NONE)
		annotate(s, g, STALE, is_stale ? s->now.wall_ns : TIME_NONE);
	return INT64_MAX;
}

static int64_t group_time(struct scheduler *s, group_id id)
{
	const struct group *g = ledger_group(s->ledger, id);

	if (!g->is_live)
		return INT64_MAX;
	if (g->obj->is_of_pods)
		return g->obj->relax_ns != TIME_NONE && !g->obj->has_no_minimum ? g->obj->relax_ns : INT64_MAX;
	return is_written_to(g) && profile_get(s->world->config->profile)->has_gangs ? stale_time(s, id, g) : INT64_MAX;
}

/* Something of a group changed, or its time has come. */
void groups_tick(struct scheduler *s)
{
	bool is_due = s->now.wall_ns >= s->group_ns;

	if (s->o.is_dry || !s->leads || !kube_feed_is_fresh(s->feed) || (!s->groups_changed && !is_due))
		return;
	s->groups_changed = false;
	s->group_ns = INT64_MAX;
	for (group_id i = 0; i < ledger_group_limit(s->ledger); i++) {
		int64_t at_ns = group_time(s, i);

		if (at_ns <= s->now.wall_ns) {
			s->wants_plan = true;
			wake_group(s, i, POD_NONE);
		} else if (at_ns < s->group_ns) {
			s->group_ns = at_ns;
		}
	}
}
