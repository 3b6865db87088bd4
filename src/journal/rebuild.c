/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/rebuild.h"

#include "manifest/fields.h"

enum err_code rebuild_other_settings(struct manifest *m, const char *path, struct err *e)
{
	TRY(manifest_read_config(m, path, e));
	if (manifest_has_objects(m))
		return err_fail(e, ERR_INPUT, "%s: only settings can be exchanged, and there is more than that in it",
				path);
	if (!manifest_setting_count(m))
		return err_fail(e, ERR_INPUT, "%s: there are no settings in it", path);
	return ERR_OK;
}

static enum err_code read_recorded(const struct journal_run *run, struct manifest *m, struct err *e)
{
	struct text name = {0};
	enum err_code rc;

	manifest_keep_settings(m);
	for (uint32_t i = 0; i < run->n_settings; i++) {
		const struct journal_setting *s = &run->settings[i];

		TRY(manifest_read_bytes(m, s->file, s->document, strlen(s->document), e));
	}
	text_printf(&name, "run %lld", (long long)run->id);
	rc = manifest_read_bytes(m, text_str(&name), run->state, strlen(run->state), e);
	text_free(&name);
	return rc;
}

enum err_code rebuild_run(const struct journal_run *run, struct manifest *m, struct engine_config *config,
			  struct cluster **ret, struct err *e)
{
	bool names_profile = manifest_names_profile(m);
	struct cluster_options options;
	enum profile recorded;

	if (!profile_parse(run->profile, &recorded))
		return err_fail(e, ERR_INPUT, "run %lld: there is no profile '%s'", (long long)run->id, run->profile);
	TRY(read_recorded(run, m, e));
	TRY(manifest_configure(m, config, e));
	if (!names_profile)
		config->profile = recorded;
	config->reclaim_is_off = run->reclaim_is_off;
	config->quota_is_on = run->quota_is_on;
	options = engine_config_cluster_options(config, run->now_ns);
	return manifest_build(m, &options, ret, e);
}
