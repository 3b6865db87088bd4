/* SPDX-License-Identifier: Apache-2.0 */
/* Settings are written as they were read: the same kinds of values, in the same order, and the second time the same. */
#include "config_fixture.h"

#include "base/text.h"

static struct manifest *read_text(struct vocab *v, const char *doc)
{
	struct manifest *m = manifest_new(v);
	struct err e = {0};

	if (manifest_read_bytes(m, "s.yaml", doc, strlen(doc), &e))
		fail_msg("%s", e.msg);
	return m;
}

static void written_as_read(void **state)
{
	static const struct {
		const char *sentence, *doc, *written;
	} rows[] = {
		{"a few words", "{apiVersion: cede.dev/v1, kind: CedeConfiguration, profile: kai}",
		 "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kai\n"},
		{"numbers stay numbers, and texts that look like them texts",
		 "{apiVersion: cede.dev/v1, kind: CedeConfiguration, schedulerNames: ['1', \"true\", 'a: b', \"\\t\"], "
		 "rules: {preemptibility: {threshold: +7}}}",
		 "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nschedulerNames:\n- \"1\"\n- \"true\"\n- \"a: "
		 "b\"\n- "
		 "\"\\t\"\nrules:\n  preemptibility:\n    threshold: +7\n"},
		{"truth values and nothing",
		 "{apiVersion: cede.dev/v1, kind: CedeConfiguration, actions: ~, rules: {min-runtime: {consolidation: "
		 "FALSE}}}",
		 "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nactions: null\nrules:\n  min-runtime:\n    "
		 "consolidation: false\n"},
		{"what an anchor stands for is written out",
		 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
		 "- schedulerName: &name one\n  plugins: {}\n- {schedulerName: two, pluginConfig: []}\n",
		 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
		 "- schedulerName: one\n  plugins: {}\n- schedulerName: two\n  pluginConfig: []\n"},
		{"KAI's has no kind", "actions: \"allocate, reclaim\"\ntiers: []\n",
		 "actions: allocate, reclaim\ntiers: []\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct vocab *v = vocab_new();
		const char *doc = rows[i].doc;

		for (int round = 0; round < 2; round++, doc = rows[i].written) {
			struct manifest *m = read_text(v, doc);
			struct text found = {0};
			struct err e = {0};

			assert_int_equal(manifest_setting_count(m), 1);
			assert_string_equal(manifest_setting_file(m, 0), "s.yaml");
			assert_int_equal(manifest_write_setting(m, 0, &found, &e), ERR_OK);
			if (strcmp(text_str(&found), rows[i].written) != 0)
				fail_msg("%s: found\n%s", rows[i].sentence, text_str(&found));
			text_free(&found);
			manifest_free(m);
		}
		vocab_free(v);
	}
}

/* Nobody looks at where KAI finds past usage, so what stands there can be of any depth. */
static void too_deep_to_write_is_an_error(void **state)
{
	struct vocab *v = vocab_new();
	struct text doc = {0}, out = {0};
	struct manifest *m;
	struct err e = {0};

	(void)state;
	text_add(&doc, "actions: allocate\nusageDBConfig: {x: ");
	text_pad(&doc, '[', 100);
	text_pad(&doc, ']', 100);
	text_add_char(&doc, '}');
	m = read_text(v, text_str(&doc));
	assert_int_equal(manifest_write_setting(m, 0, &out, &e), ERR_LIMIT);
	assert_string_equal(e.msg, "s.yaml:1:1: settings nested more than 60 deep cannot be recorded");
	assert_int_equal(out.n, 0);
	manifest_free(m);
	text_free(&doc);
	text_free(&out);
	vocab_free(v);
}

static void what_was_read_first_stands(void **state)
{
	static const char first[] = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kai\n",
			  second[] = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: yunikorn\n---\n"
				     "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
			  node[] = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n";
	struct engine_config *config = engine_config_new();
	struct vocab *v = vocab_new();
	struct manifest *m = read_text(v, first);
	struct err e = {0};

	(void)state;
	assert_true(manifest_names_profile(m));
	assert_false(manifest_has_objects(m));
	assert_int_equal(manifest_read_bytes(m, "t.yaml", second, strlen(second), &e), ERR_INPUT);
	manifest_free(m);
	m = read_text(v, first);
	manifest_keep_settings(m);
	assert_int_equal(manifest_read_bytes(m, "t.yaml", second, strlen(second), &e), ERR_OK);
	assert_int_equal(manifest_setting_count(m), 2);
	assert_int_equal(manifest_configure(m, config, &e), ERR_OK);
	assert_int_equal(config->profile, PROFILE_KAI);
	assert_int_equal(manifest_read_bytes(m, "n.yaml", node, strlen(node), &e), ERR_OK);
	assert_true(manifest_has_objects(m));
	manifest_free(m);
	engine_config_free(config);
	vocab_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_as_read),
		cmocka_unit_test(too_deep_to_write_is_an_error),
		cmocka_unit_test(what_was_read_first_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
