/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live.h"

#include <stdio.h>
#include <string.h>

#include "cli/common.h"
#include "kube/snapshot.h"
#include "manifest/fields.h"

static void tell(const struct text *notes)
{
	const char *s = text_str(notes), *end;

	for (; (end = strchr(s, '\n')); s = end + 1) {
		struct text line = {0};

		text_add_n(&line, s, (size_t)(end - s));
		cli_note(text_str(&line));
		text_free(&line);
	}
}

/* The manifest keeps the pointer, and outlives the client. */
static const char *settings_namespace(const struct cli_input *in, const struct kube_config *c)
{
	static char ns[256];

	snprintf(ns, sizeof(ns), "%s",
		 in->settings_namespace ? in->settings_namespace
		 : *c->ns		? c->ns
					: "kube-system");
	return ns;
}

static enum err_code read_cluster(const struct cli_input *in, struct kube_client *c, struct manifest *m, struct err *e)
{
	struct kube_snapshot_options o = {.ns = settings_namespace(in, kube_client_config(c))};
	struct text notes = {0};
	enum err_code rc;

	manifest_set_namespace(m, o.ns);
	rc = kube_snapshot(c, &o, m, &notes, e);
	if (!in->is_quiet)
		tell(&notes);
	text_free(&notes);
	return rc;
}

enum err_code cli_read_live(const struct cli_input *in, struct manifest *m, struct err *e)
{
	struct kube_config_source src = kube_config_source_system(in->kubeconfig, in->context);
	struct kube_client_options o = kube_client_options_default();
	struct kube_config *config;
	struct kube_client *client;
	enum err_code rc;

	secret_hide_process();
	o.qps = 0; /* one request after the other is slow enough */
	TRY(kube_config_load(&src, &config, e));
	rc = kube_client_new(config, &o, &client, e);
	if (rc) {
		kube_config_free(config);
		return rc;
	}
	rc = read_cluster(in, client, m, e);
	kube_client_free(client);
	return rc;
}
