/* SPDX-License-Identifier: Apache-2.0 */
#include "run/world.h"

#include "manifest/fields.h"

#include <string.h>

static enum err_code read_all(const struct world_source *src, struct manifest *m, struct err *e)
{
	for (uint32_t i = 0; i < src->n_files; i++)
		TRY(manifest_read_config(m, src->files[i], e));
	for (uint32_t i = 0; i < src->n_texts; i++) {
		const struct world_text *t = &src->texts[i];

		if (t->text && *t->text)
			TRY(manifest_read_bytes(m, t->name, t->text, strlen(t->text), e));
	}
	return ERR_OK;
}

/* Profiles of a KubeSchedulerConfiguration that were given a name of their own. */
static void take_profile_names(struct engine_config *c)
{
	const char **names = arena_n(c->arena, c->n_kube_profiles + 1, const char *);
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_kube_profiles; i++)
		if (!str_eq(c->kube_profiles[i].scheduler_name, "default-scheduler"))
			names[n++] = c->kube_profiles[i].scheduler_name;
	if (!n)
		names[n++] = "cede";
	c->scheduler_names = names;
	c->n_scheduler_names = n;
}

/* A daemon takes no pod that nobody gave it: without a word in the settings they are those of "cede". */
static void settle_names(const struct world_source *src, struct engine_config *c)
{
	if (src->n_scheduler_names) {
		c->scheduler_names = src->scheduler_names;
		c->n_scheduler_names = src->n_scheduler_names;
	} else if (!c->n_scheduler_names) {
		take_profile_names(c);
	}
}

static enum err_code build(int64_t now_ns, struct world *w, struct err *e)
{
	const struct framework_plugin *extra;
	struct cluster_options options;
	uint32_t n_extra;

	TRY(manifest_configure(w->manifest, w->config, e));
	if (w->source.has_profile)
		w->config->profile = w->source.profile;
	settle_names(&w->source, w->config);
	options = engine_config_cluster_options(w->config, now_ns);
	TRY(manifest_build(w->manifest, &options, &w->cluster, e));
	w->plugins = plugins_load(w->config);
	extra = plugins_loaded(w->plugins, &n_extra);
	w->engine = engine_new(w->cluster, w->config, extra, n_extra, e);
	return w->engine ? ERR_OK : ERR_INPUT;
}

static struct world *world_empty(const struct world_source *src)
{
	struct world *w = mem_alloc(sizeof(*w));

	w->source = *src;
	w->source.files = NULL;
	w->source.texts = NULL;
	w->source.n_files = w->source.n_texts = 0;
	w->vocab = vocab_new();
	w->config = engine_config_new();
	w->manifest = manifest_new(w->vocab);
	manifest_keep_texts(w->manifest);
	return w;
}

/* Moves w, which was read with this result, out or away. */
static enum err_code finish(enum err_code rc, int64_t now_ns, struct world *w, struct world **ret, struct err *e)
{
	if (!rc)
		rc = build(now_ns, w, e);
	if (rc)
		world_free(w);
	else
		*ret = w;
	return rc;
}

enum err_code world_new(const struct world_source *src, int64_t now_ns, struct world **ret, struct err *e)
{
	struct world *w = world_empty(src);

	return finish(read_all(src, w->manifest, e), now_ns, w, ret, e);
}

enum err_code world_again(const struct world *w, int64_t now_ns, struct world **ret, struct err *e)
{
	struct world *other = world_empty(&w->source);

	return finish(manifest_read_again(other->manifest, w->manifest, e), now_ns, other, ret, e);
}

void world_free(struct world *w)
{
	if (!w)
		return;
	engine_free(w->engine);
	plugins_free(w->plugins);
	if (w->cluster)
		cluster_free(w->cluster);
	manifest_free(w->manifest);
	engine_config_free(w->config);
	vocab_free(w->vocab);
	mem_free(w);
}
