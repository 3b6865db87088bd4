/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from files and ConfigMaps, taken as a whole or refused aloud (CL-7). */
#include "run/daemon_internal.h"
#include "run/face.h"

static char *dup_or_null(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? str_eq(a, b) : a == b;
}

void settings_map_changed(struct daemon *d, const char *name, const char *uid, const struct tree *map)
{
	static const char *const keys[MAP_COUNT] = {"queues.yaml", "queues.yaml", "cede.yaml"};

	for (int i = 0; i < MAP_COUNT; i++) {
		const struct tree *text = tree_get(tree_get(map, "data"), keys[i]);
		const char *now = text && text->kind == TREE_STRING ? text->text : NULL;

		if (!str_eq(kube_config_maps[i], name))
			continue;
		mem_free(d->maps[i].uid);
		d->maps[i].uid = mem_strdup(uid);
		if (same_text(now, d->maps[i].text))
			return;
		mem_free(d->maps[i].text);
		d->maps[i].text = dup_or_null(now);
		d->maps[i].is_new = true;
		d->wants_settings = true;
	}
}

/* A queue configuration in yunikorn-configs counts more than the one in yunikorn-defaults. */
enum err_code settings_build(struct daemon *d, struct world **ret, struct err *e)
{
	bool has_own = d->maps[QUEUES].text != NULL;
	const struct world_text texts[] = {
		{has_own ? "ConfigMap yunikorn-configs (queues.yaml)" : "ConfigMap yunikorn-defaults (queues.yaml)",
		 d->maps[has_own ? QUEUES : DEFAULT_QUEUES].text},
		{"ConfigMap cede (cede.yaml)", d->maps[SETTINGS].text}};
	struct world_source src = {.files = d->o->configs,
				   .n_files = d->o->n_configs,
				   .texts = texts,
				   .n_texts = 2,
				   .has_profile = d->o->has_profile,
				   .profile = d->o->profile,
				   .scheduler_names = d->o->shadow,
				   .n_scheduler_names = d->o->n_shadow};

	return world_new(&src, clock_now(&d->wall), ret, e);
}

/* The map that the message speaks of, else the one that changed. */
static int map_to_blame(const struct daemon *d, const struct err *e)
{
	int found = -1;

	for (int i = 0; i < MAP_COUNT; i++) {
		if (strstr(e->msg, kube_config_maps[i]) && d->maps[i].uid)
			return i;
		if (d->maps[i].is_new && d->maps[i].uid)
			found = i;
	}
	return found;
}

void settings_refused(struct daemon *d, const struct err *e)
{
	struct moment now = daemon_now(d);
	int i = map_to_blame(d, e);
	struct text words = {0};

	text_printf(&words, "settings refused, those before stay in force: %s", e->msg);
	lines_said(d, true, text_str(&words));
	face_settings(d->face, i >= 0 ? kube_config_maps[i] : "files");
	if (i >= 0 && d->scheduler) {
		struct kube_event ev = {.api = "v1",
					.kind = "ConfigMap",
					.ns = d->ns,
					.name = kube_config_maps[i],
					.uid = d->maps[i].uid,
					.type = "Warning",
					.reason = "ConfigurationRefused",
					.action = "Configuring",
					.note = e->msg};

		scheduler_event(d->scheduler, &ev, &now);
	}
	text_free(&words);
}

void settings_object_refused(struct daemon *d, const struct kube_object *o, const char *words)
{
	static const char *const kinds[] = {"Queue", "PodGroup", "PriorityClass", "PodDisruptionBudget"};
	struct moment now = daemon_now(d);
	struct text api = {0};
	bool is_setting = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		is_setting |= str_eq(kinds[i], o->kind->kind);
	if (!is_setting || !*o->name || !d->scheduler)
		return;
	text_printf(&api, "%s%s%s", o->kind->group, *o->kind->group ? "/" : "", o->kind->versions[0]);
	struct kube_event ev = {.api = text_str(&api),
				.kind = o->kind->kind,
				.ns = o->ns,
				.name = o->name,
				.uid = o->uid,
				.type = "Warning",
				.reason = "ConfigurationRefused",
				.action = "Configuring",
				.note = words};

	scheduler_event(d->scheduler, &ev, &now);
	text_free(&api);
}

void settings_free(struct daemon *d)
{
	for (int i = 0; i < MAP_COUNT; i++) {
		mem_free(d->maps[i].text);
		mem_free(d->maps[i].uid);
	}
}
