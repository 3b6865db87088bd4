/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two runs, and who had to go in one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "journal/diff.h"

/*
 * A run in a few words: decisions "pod outcome node action: victim victim;". A victim that was leaving is in brackets,
 * "-" is nothing.
 */
static const char *word(struct arena *a, const char **s)
{
	size_t n;
	const char *w;

	*s += strspn(*s, " ");
	n = strcspn(*s, " :;");
	w = n == 1 && **s == '-' ? "" : arena_strndup(a, *s, n);
	*s += n;
	return w;
}

static void take_victims(struct arena *a, const char **s, struct journal_decision *d)
{
	d->victims = arena_n(a, 8, struct journal_victim);
	while (*(*s += strspn(*s, " :")) && **s != ';') {
		const char *w = word(a, s);
		bool was_leaving = *w == '(';

		d->victims[d->n_victims++] =
			(struct journal_victim){.pod = was_leaving ? arena_strndup(a, w + 1, strlen(w) - 2) : w,
						.group = "",
						.queue = "root.v",
						.node = "n",
						.rule = "",
						.lost_seconds = 60,
						.was_leaving = was_leaving};
	}
}

static struct journal_run make_run(const char *s)
{
	struct journal_run run = {
		.arena = arena_new(4096), .profile = "default", .version = "1", .source = JOURNAL_PLAN};

	run.decisions = arena_n(run.arena, 16, struct journal_decision);
	while (*(s += strspn(s, " ;"))) {
		struct journal_decision *d = &run.decisions[run.n_decisions++];
		const char *begin = s;

		*d = (struct journal_decision){.cycle = 1, .group = "", .queue = "root.q", .rule = ""};
		d->pod = word(run.arena, &s);
		d->outcome = word(run.arena, &s);
		d->node = word(run.arena, &s);
		d->action = word(run.arena, &s);
		take_victims(run.arena, &s, d);
		d->json = arena_strndup(run.arena, begin, (size_t)(s - begin));
	}
	return run;
}

static void add_evictions(struct text *t, const char *what, const eviction_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		text_printf(t, "%s %s for %s; ", what, list->v[i].victim->pod, list->v[i].by->pod);
}

/* "not v for p; new w for p; p waiting -> placed; 2 differ" */
static void describe(const struct run_diff *d, struct text *t)
{
	add_evictions(t, "not", &d->spared);
	add_evictions(t, "new", &d->added);
	for (uint32_t i = 0; i < d->shifted_was.n; i++)
		text_printf(t, "%s %s by %s not %s by %s; ", d->shifted_was.v[i].victim->pod,
			    d->shifted_is.v[i].by->pod, d->shifted_is.v[i].by->action, d->shifted_was.v[i].by->pod,
			    d->shifted_was.v[i].by->action);
	for (uint32_t i = 0; i < d->moved_was.n; i++) {
		const struct journal_decision *was = d->moved_was.v[i], *is = d->moved_is.v[i];

		text_printf(t, "%s %s %s -> %s %s; ", was ? was->pod : is->pod, was ? was->outcome : "none",
			    was ? was->node : "", is ? is->outcome : "none", is ? is->node : "");
	}
	text_printf(t, "%u differ", d->n_differ);
}

static void differences(void **state)
{
	static const struct {
		const char *sentence, *was, *is, *found;
	} rows[] = {
		{"nothing and nothing", "", "", "0 differ"},
		{"the same", "p nominated n reclaim: v w; q waiting - -", "p nominated n reclaim: v w; q waiting - -",
		 "0 differ"},
		{"an eviction less", "p nominated n reclaim: v w", "p nominated n reclaim: v", "not w for p; 1 differ"},
		{"an eviction more", "p nominated n reclaim: v", "p nominated n reclaim: v w", "new w for p; 1 differ"},
		{"another victim on another node", "p nominated n reclaim: v", "p nominated m reclaim: w",
		 "not v for p; new w for p; p nominated n -> nominated m; 1 differ"},
		{"the same victim for another pod", "p nominated n reclaim: v; q waiting - -",
		 "p waiting - -; q nominated n reclaim: v",
		 "v q by reclaim not p by reclaim; p nominated n -> waiting ; q waiting  -> nominated n; 2 differ"},
		{"the same victim by another action", "p nominated n reclaim: v", "p nominated n preempt: v",
		 "v p by preempt not p by reclaim; p nominated n -> nominated n; 1 differ"},
		{"waiting instead", "p placed n allocate", "p waiting - -", "p placed n -> waiting ; 1 differ"},
		{"a pod that was not decided on", "p placed n allocate", "p placed n allocate; q gated - -",
		 "q none  -> gated ; 1 differ"},
		{"a pod that is not decided on", "p placed n allocate; q gated - -", "p placed n allocate",
		 "q gated  -> none ; 1 differ"},
		{"of several cycles the last counts", "p nominated n reclaim: v; p placed n reclaim",
		 "p nominated n reclaim: v; p nominated n reclaim", "p placed n -> nominated n; 1 differ"},
		{"an earlier one only in its words", "p waiting - -; p placed n reclaim",
		 "p gated - -; p placed n reclaim", "1 differ"},
		{"a victim counts at the first that wants it", "p nominated n reclaim: v; q nominated n reclaim: v",
		 "p nominated n reclaim: v; q nominated n reclaim", "1 differ"},
		{"who was leaving is no victim", "p nominated n reclaim: (v) w", "p nominated n reclaim: w",
		 "1 differ"},
		{"for nobody", "- evicted - quota: v", "- evicted - quota: w", "not v for ; new w for ; 1 differ"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct journal_run was = make_run(rows[i].was), is = make_run(rows[i].is);
		struct diff_sums sums = {0};
		struct text found = {0};
		struct run_diff d;

		run_diff_init(&d, &was, &is);
		describe(&d, &found);
		if (strcmp(text_str(&found), rows[i].found) != 0)
			fail_msg("%s: expected '%s', found '%s'", rows[i].sentence, rows[i].found, text_str(&found));
		assert_int_equal(run_diff_is_same(&d), d.n_differ == 0);
		diff_sums_add(&sums, &d);
		assert_int_equal(sums.same, d.n_differ == 0);
		assert_int_equal(sums.spared_seconds, 60 * (int64_t)d.spared.n);
		run_diff_free(&d);
		text_free(&found);
		journal_run_free(&was);
		journal_run_free(&is);
	}
}

static void another_cluster_is_noticed(void **state)
{
	struct journal_run was = make_run("p placed n allocate"), is = make_run("p placed n allocate");
	struct run_diff d;

	(void)state;
	was.state = "{}";
	is.state = "{ }";
	run_diff_init(&d, &was, &is);
	assert_true(d.state_differs);
	run_diff_free(&d);
	was.state = NULL; /* not read */
	run_diff_init(&d, &was, &is);
	assert_false(d.state_differs);
	run_diff_free(&d);
	journal_run_free(&was);
	journal_run_free(&is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(differences), cmocka_unit_test(another_cluster_is_noticed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
