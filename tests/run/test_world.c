/* SPDX-License-Identifier: Apache-2.0 */
/* CL_7 what is in force can be built once more when the files say something else, or are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/emit.h"
#include "run/world.h"

#define CEDE "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n"
#define QUEUES "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n    - name: team\n"
#define NOW_NS (INT64_C(1794744000) * NS_PER_S)

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void queues_of(const struct world *w, struct text *out)
{
	struct emit e;

	emit_init(&e, out, EMIT_YAML);
	manifest_write_queues(w->cluster, &e);
}

static void assert_alike(const struct world *a, const struct world *b)
{
	struct text queues_a = {0}, queues_b = {0};

	assert_int_equal(a->config->profile, b->config->profile);
	assert_int_equal(a->config->opt_out, b->config->opt_out);
	assert_int_equal(a->config->n_plugins, b->config->n_plugins);
	assert_int_equal(a->config->n_scheduler_names, b->config->n_scheduler_names);
	for (uint32_t i = 0; i < a->config->n_scheduler_names; i++)
		assert_string_equal(a->config->scheduler_names[i], b->config->scheduler_names[i]);
	queues_of(a, &queues_a);
	queues_of(b, &queues_b);
	assert_string_equal(text_str(&queues_a), text_str(&queues_b));
	text_free(&queues_a);
	text_free(&queues_b);
}

static const char *const shadow_names[] = {"default-scheduler", "other"};

static const struct again_row {
	const char *says, *file, *text; /* what they say; NULL: there is none */
	enum profile profile;
	uint32_t n_shadow, n_plugins;
	bool has_queue;
} again_rows[] = {
	{"nothing at all", NULL, NULL, PROFILE_DEFAULT, 0, 0, false},
	{"settings of a file", CEDE "profile: yunikorn\nschedulerNames: [a, b]\n", NULL, PROFILE_YUNIKORN, 0, 0, false},
	{"queues of a file", QUEUES, NULL, PROFILE_DEFAULT, 0, 0, true},
	{"queues of a ConfigMap", NULL, QUEUES, PROFILE_DEFAULT, 0, 0, true},
	{"both", CEDE "profile: yunikorn\n", QUEUES, PROFILE_YUNIKORN, 0, 0, true},
	{"plugins of a file are taken", CEDE "plugins: [none.so]\n", NULL, PROFILE_DEFAULT, 0, 1, false},
	{"those of a ConfigMap are not", NULL, CEDE "plugins: [none.so]\n", PROFILE_DEFAULT, 0, 0, false},
	{"whose pods, from the command line", CEDE "profile: kubernetes\n", NULL, PROFILE_KUBERNETES, 2, 0, false},
};

static void check_again(const struct again_row *r, const struct world *w, const char *path)
{
	struct world *again = NULL, *third = NULL;
	struct text queues = {0};
	struct err e = {0};

	if (r->file)
		write_file(path, "partitions: 7");
	if (world_again(w, NOW_NS, &again, &e))
		fail_msg("%s: %s", r->says, e.msg);
	assert_alike(w, again);
	queues_of(again, &queues);
	assert_int_equal(strstr(text_str(&queues), "team") != NULL, r->has_queue);
	unlink(path);
	if (world_again(again, NOW_NS, &third, &e))
		fail_msg("%s, a third time: %s", r->says, e.msg);
	assert_alike(w, third);
	text_free(&queues);
	world_free(again);
	world_free(third);
}

static void CL_7_settings_in_force_are_built_once_more(void **state)
{
	char folder[] = "/tmp/cede-world-XXXXXX", path[64];
	const char *files[] = {path};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/c.yaml", folder);
	for (size_t i = 0; i < sizeof(again_rows) / sizeof(*again_rows); i++) {
		const struct again_row *r = &again_rows[i];
		struct world_text text = {"ConfigMap", r->text};
		struct world_source src = {.files = files,
					   .n_files = r->file != NULL,
					   .texts = &text,
					   .n_texts = 1,
					   .scheduler_names = shadow_names,
					   .n_scheduler_names = r->n_shadow};
		struct world *w = NULL;
		struct err e = {0};

		if (r->file)
			write_file(path, r->file);
		if (world_new(&src, NOW_NS, &w, &e))
			fail_msg("%s: %s", r->says, e.msg);
		assert_int_equal(w->config->profile, r->profile);
		assert_int_equal(w->config->n_plugins, r->n_plugins);
		check_again(r, w, path);
		world_free(w);
	}
	rmdir(folder);
}

static void CL_7_the_profile_of_the_command_line_stays(void **state)
{
	struct world_source src = {.has_profile = true, .profile = PROFILE_KAI};
	struct world *w = NULL, *again = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(world_new(&src, NOW_NS, &w, &e), ERR_OK);
	assert_int_equal(world_again(w, NOW_NS, &again, &e), ERR_OK);
	assert_int_equal(again->config->profile, PROFILE_KAI);
	world_free(w);
	world_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_7_settings_in_force_are_built_once_more),
		cmocka_unit_test(CL_7_the_profile_of_the_command_line_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
