/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/queue.h"

/* "a=b c=d" */
static struct queue_props props_of(const char *text)
{
	struct queue_props p = queue_props_default();
	char buf[256], *save = NULL;
	snprintf(buf, sizeof(buf), "%s", text);
	for (char *word = strtok_r(buf, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');
		assert_non_null(value);
		*value++ = '\0';
		assert_true(queue_prop_set(&p, word, value, NULL));
	}
	return p;
}

static void props_text(const struct queue_props *p, struct text *out)
{
	for (uint32_t which = 1; which <= STATED_BACKOFF_DELAY; which <<= 1) {
		if (!(p->stated & which))
			continue;
		text_printf(out, "%s%s=", out->n > 0 ? " " : "", queue_prop_key(which));
		queue_prop_text(p, which, out);
	}
}

static void values_of_properties(void **state)
{
	static const struct {
		const char *why, *key, *value, *text;
		bool is_bad;
	} rows[] = {
		{"fair", "application.sort.policy", "fair", "fair", false},
		{"fifo", "application.sort.policy", "fifo", "fifo", false},
		{"a policy that is no more", "application.sort.policy", "stateaware", "fifo", true},
		{"case matters here", "application.sort.policy", "FAIR", "fifo", true},
		{"off", "application.sort.priority", "Disabled", "disabled", false},
		{"on", "application.sort.priority", "ENABLED", "enabled", false},
		{"a typo", "application.sort.priority", "off", "enabled", true},
		{"a priority fence", "priority.policy", "Fence", "fence", false},
		{"none", "priority.policy", "default", "default", false},
		{"no such policy", "priority.policy", "disabled", "default", true},
		{"an offset", "priority.offset", "-5", "-5", false},
		{"a sign", "priority.offset", "+7", "7", false},
		{"the largest", "priority.offset", "2147483647", "2147483647", false},
		{"too large", "priority.offset", "2147483648", "0", true},
		{"not a number", "priority.offset", "ten", "0", true},
		{"a fence", "preemption.policy", "FENCE", "fence", false},
		{"disabled", "preemption.policy", "disabled", "disabled", false},
		{"default", "preemption.policy", "default", "default", false},
		{"not set", "preemption.policy", "", "default", false},
		{"a typo", "preemption.policy", "fenced", "default", true},
		{"a delay", "preemption.delay", "1m30s", "1m30s", false},
		{"a fraction", "preemption.delay", "1.5s", "1.5s", false},
		{"no delay at all is not possible", "preemption.delay", "0s", "30s", true},
		{"nor a negative one", "preemption.delay", "-10s", "30s", true},
		{"a number without unit", "preemption.delay", "10", "30s", true},
		{"days are not of this grammar", "preemption.delay", "1d", "30s", true},
		{"a quota delay", "quota.preemption.delay", "5m", "5m0s", false},
		{"off", "quota.preemption.delay", "0s", "0s", false},
		{"negative", "quota.preemption.delay", "-1s", "0s", true},
		{"a count", "application.unschedasks.backoff", "18446744073709551615", "18446744073709551615", false},
		{"one more", "application.unschedasks.backoff", "18446744073709551616", "0", true},
		{"a sign", "application.unschedasks.backoff", "-1", "0", true},
		{"nothing", "application.unschedasks.backoff", "", "0", true},
		{"a backoff delay", "application.unschedasks.backoff.delay", "10s", "10s", false},
		{"none", "application.unschedasks.backoff.delay", "0s", "30s", true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct queue_props p = props_of("application.sort.policy=fair application.sort.priority=disabled "
						"priority.policy=fence priority.offset=9 preemption.policy=fence "
						"preemption.delay=9s quota.preemption.delay=9s");
		struct text t = {0};
		bool is_bad = !rows[i].is_bad;
		p.stated = 0;
		assert_true(queue_prop_set(&p, rows[i].key, rows[i].value, &is_bad));
		assert_string_equal(queue_prop_key(p.stated), rows[i].key);
		queue_prop_text(&p, p.stated, &t);
		if (is_bad != rows[i].is_bad || strcmp(t.s, rows[i].text) != 0)
			fail_msg("%s: %s: '%s' is read as %s (%s)", rows[i].why, rows[i].key, rows[i].value, t.s,
				 is_bad ? "bad" : "good");
		text_free(&t);
	}
}

static void unknown_keys_are_told(void **state)
{
	struct queue_props p = queue_props_default();
	bool is_bad = false;
	assert_false(queue_prop_set(&p, "preemption.dely", "10s", &is_bad));
	assert_false(queue_prop_set(&p, "", "", &is_bad));
	assert_int_equal(p.stated, 0);
}

static void properties_pass_down(void **state)
{
	static const struct {
		const char *why, *parent, *own, *effective;
	} rows[] = {
		{"nothing stays nothing", "", "", ""},
		{"a delay on a parent reaches its leaves", "preemption.delay=10s", "", "preemption.delay=10s"},
		{"a leaf's own delay wins", "preemption.delay=10s", "preemption.delay=5s", "preemption.delay=5s"},
		{"a bad value of its own hides the parent's", "preemption.delay=10s", "preemption.delay=soon",
		 "preemption.delay=30s"},
		{"priority offsets do not pass down", "priority.offset=10", "", ""},
		{"priority fences do not either", "priority.policy=fence", "", ""},
		{"a fence does not make fences of those inside", "preemption.policy=fence", "", ""},
		{"disabled does pass down", "preemption.policy=disabled", "", "preemption.policy=disabled"},
		{"and a leaf's default lifts it", "preemption.policy=disabled", "preemption.policy=default",
		 "preemption.policy=default"},
		{"as does its fence", "preemption.policy=disabled", "preemption.policy=fence",
		 "preemption.policy=fence"},
		{"and a typo, which means default", "preemption.policy=disabled", "preemption.policy=fenze",
		 "preemption.policy=default"},
		{"the rest passes down", "application.sort.policy=fair application.sort.priority=disabled",
		 "priority.offset=1",
		 "application.sort.policy=fair application.sort.priority=disabled priority.offset=1"},
		{"quota delay and backoff too",
		 "quota.preemption.delay=1m application.unschedasks.backoff=3 application.unschedasks.backoff.delay=2s",
		 "",
		 "quota.preemption.delay=1m0s application.unschedasks.backoff=3 "
		 "application.unschedasks.backoff.delay=2s"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct queue_props parent = props_of(rows[i].parent), own = props_of(rows[i].own);
		struct queue_props p = queue_effective(&parent, &own);
		struct text t = {0};
		props_text(&p, &t);
		if (strcmp(text_str(&t), rows[i].effective) != 0)
			fail_msg("%s: %s", rows[i].why, text_str(&t));
		text_free(&t);
	}
}

static void what_nobody_states_has_its_default(void **state)
{
	struct queue_props none = queue_props_default(), p = queue_effective(&none, &none);
	assert_int_equal(p.stated, 0);
	assert_int_equal(p.sort, SORT_FIFO);
	assert_false(p.sort_ignores_priority);
	assert_int_equal(p.preemption_policy, POLICY_DEFAULT);
	assert_true(p.preemption_delay_ns == 30 * NS_PER_S);
	assert_true(p.quota_delay_ns == 0);
	assert_true(p.backoff == 0);
	assert_true(p.backoff_delay_ns == 30 * NS_PER_S);
}

/* ---- in the tree ---- */

struct told {
	const char *path;
	uint32_t sources;
	const char *props;
};

static queue_id tree_put(struct queue_tree *t, const struct told *q)
{
	struct queue_spec spec, old;
	queue_id id = queue_tree_find(t, q->path, strlen(q->path));
	queue_spec_init(&spec, t->names);
	spec.sources = q->sources;
	spec.props = props_of(q->props);
	if (id != QUEUE_NONE) {
		queue_tree_set(t, id, &spec, &old);
		queue_spec_free(&old);
		return id;
	}
	const char *segment = strrchr(q->path, '.') + 1;
	queue_id parent = queue_tree_find(t, q->path, (size_t)(segment - 1 - q->path));
	assert_int_equal(queue_tree_add(t, parent, segment, strlen(segment), &spec, &id, NULL), ERR_OK);
	return id;
}

static void GQ_8_which_delay_a_queue_has(void **state)
{
	static const struct {
		const char *why;
		struct told queues[4];
		int64_t delay_s;
	} rows[] = {
		{"a queue of queues.yaml", {{"root.a", FROM_YUNIKORN, ""}}, 30},
		{"its own", {{"root.a", FROM_YUNIKORN, "preemption.delay=5s"}}, 5},
		{"the root's", {{"root", FROM_YUNIKORN, "preemption.delay=7s"}, {"root.a", FROM_YUNIKORN, ""}}, 7},
		{"from far above",
		 {{"root.a", FROM_YUNIKORN, "preemption.delay=7s"},
		  {"root.a.b", FROM_YUNIKORN, ""},
		  {"root.a.b.c", FROM_YUNIKORN, ""}},
		 7},
		{"a dynamic queue: the template's",
		 {{"root.a", FROM_YUNIKORN, "preemption.delay=7s"}, {"root.a.b", FROM_TEMPLATE, "preemption.delay=3s"}},
		 3},
		{"a dynamic queue whose template does not say: the parent's",
		 {{"root.a", FROM_YUNIKORN, "preemption.delay=7s"}, {"root.a.b", FROM_TEMPLATE, ""}},
		 7},
		{"a dynamic queue below nobody's", {{"root.a", FROM_TEMPLATE, ""}}, 30},
		{"a queue of KAI knows no delay", {{"root.a", FROM_KAI, ""}}, 0},
		{"not even below one that has",
		 {{"root.a", FROM_YUNIKORN, "preemption.delay=7s"}, {"root.a.b", FROM_KAI, ""}},
		 0},
		{"which passes no delay on either",
		 {{"root.a", FROM_YUNIKORN, "preemption.delay=7s"},
		  {"root.a.b", FROM_KAI, ""},
		  {"root.a.b.c", FROM_TEMPLATE, ""}},
		 30},
		{"a queue of both has the delay of queues.yaml",
		 {{"root.a", FROM_KAI | FROM_YUNIKORN, "preemption.delay=7s"}},
		 7},
		{"set or inherited",
		 {{"root.a", FROM_YUNIKORN, "preemption.delay=7s"}, {"root.a.b", FROM_KAI | FROM_YUNIKORN, ""}},
		 7},
		{"else 30s", {{"root.a", FROM_KAI | FROM_YUNIKORN, ""}}, 30},
		{"the implicit root.default has none", {{"root.default", FROM_NOBODY, ""}}, 0},
		{"even if the root has",
		 {{"root", FROM_YUNIKORN, "preemption.delay=7s"}, {"root.default", FROM_NOBODY, ""}},
		 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct names *names = names_new();
		struct queue_tree t;
		queue_id id = QUEUE_NONE;
		queue_tree_init(&t, names);
		for (size_t k = 0; k < 4 && rows[i].queues[k].path != NULL; k++)
			id = tree_put(&t, &rows[i].queues[k]);
		int64_t delay = queue_get(&t, id)->props.preemption_delay_ns;
		if (delay != rows[i].delay_s * NS_PER_S)
			fail_msg("%s: %lld ns", rows[i].why, (long long)delay);
		queue_tree_free(&t);
		names_free(names);
	}
}

static enum preemption_policy policy(const struct queue_tree *t, queue_id id)
{
	return queue_get(t, id)->props.preemption_policy;
}

static void GQ_7_changes_above_reach_all_below(void **state)
{
	struct names *names = names_new();
	struct queue_tree t;
	queue_tree_init(&t, names);
	queue_id a = tree_put(&t, &(struct told){"root.a", FROM_YUNIKORN, ""});
	queue_id b = tree_put(&t, &(struct told){"root.a.b", FROM_YUNIKORN, ""});
	queue_id c = tree_put(&t, &(struct told){"root.a.b.c", FROM_TEMPLATE, ""});
	queue_id d = tree_put(&t, &(struct told){"root.a.b.d", FROM_YUNIKORN, "preemption.policy=default"});
	queue_id z = tree_put(&t, &(struct told){"root.z", FROM_YUNIKORN, "preemption.policy=disabled"});
	assert_int_equal(policy(&t, c), POLICY_DEFAULT);
	assert_int_equal(queue_tree_move(&t, b, z, NULL), ERR_OK);
	assert_int_equal(policy(&t, b), POLICY_DISABLED);
	assert_int_equal(policy(&t, c), POLICY_DISABLED);
	assert_int_equal(policy(&t, d), POLICY_DEFAULT);
	assert_int_equal(policy(&t, a), POLICY_DEFAULT);
	tree_put(&t, &(struct told){"root.z", FROM_YUNIKORN, "preemption.policy=fence"});
	assert_int_equal(policy(&t, z), POLICY_FENCE);
	assert_int_equal(policy(&t, c), POLICY_DEFAULT);
	tree_put(&t, &(struct told){"root", FROM_YUNIKORN, "preemption.policy=disabled"});
	assert_int_equal(policy(&t, a), POLICY_DISABLED);
	assert_int_equal(policy(&t, z), POLICY_FENCE);
	assert_int_equal(policy(&t, c), POLICY_DEFAULT);
	queue_tree_free(&t);
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_properties),		cmocka_unit_test(unknown_keys_are_told),
		cmocka_unit_test(properties_pass_down),		cmocka_unit_test(what_nobody_states_has_its_default),
		cmocka_unit_test(GQ_8_which_delay_a_queue_has), cmocka_unit_test(GQ_7_changes_above_reach_all_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
