/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of a daemon in its journal: when it is kept, what is in it, and who is said to be gone. */
#include <stdlib.h>
#include <unistd.h>

#include "fake_api.h"
#include "run/keep.h"

#define KUBERNETES "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\n"
#define HOUR_S 3600

static char folder[64], path[96];
static struct daemon d;
static struct daemon_options options;

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/cede-keep-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/j.db", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

/* ---- a daemon ---- */

static void on_gone(struct fake_api *f, pod_id pod, const struct moment *now)
{
	(void)f;
	keep_gone(&d, pod, now);
}

/* With a node, and a pod that runs since 12:00. */
static struct fake_api *begin(bool leads, int64_t every_s)
{
	struct fake_api *f = fake_new(KUBERNETES);
	struct err e = {0};

	unlink(path);
	options = (struct daemon_options){.journal = path, .cluster_every_ns = every_s * NS_PER_S};
	d = (struct daemon){.o = &options,
			    .scheduler = f->s,
			    .leads = leads,
			    .steady = clock_fixed(&f->now.steady_ns),
			    .wall = clock_fixed(&f->now.wall_ns)};
	f->gone = on_gone;
	if (keep_start(&d, &e))
		fail_msg("%s", e.msg);
	fake_node(f, "n0", 8);
	fake_put(f, &(struct fake_pod){"a", "n0", 2, 0, false, NULL, NULL, NULL}, "ADDED");
	return f;
}

/* Until nobody writes one any more. */
static void let_it_keep(void)
{
	keep_cluster_tick(&d);
	for (int i = 0; (d.kept.pid || d.kept.is_handed) && i < 1000; i++) {
		usleep(10000);
		keep_cluster_tick(&d);
	}
	assert_false(d.kept.pid || d.kept.is_handed);
}

static void end(struct fake_api *f)
{
	keep_stop(&d);
	fake_free(f);
}

/* ---- what is kept ---- */

static void add_names(struct text *out, const char *manifests)
{
	const char *at = manifests;

	while ((at = strstr(at, "\"kind\":\"Pod\",\"metadata\":{\"name\":\""))) {
		at += strlen("\"kind\":\"Pod\",\"metadata\":{\"name\":\"");
		text_printf(out, " %.*s", (int)strcspn(at, "\""), at);
	}
}

static void add_run_times(struct text *out, const char *manifests)
{
	const char *at = manifests;

	while ((at = strstr(at, "cede.dev/run-time\":\""))) {
		at += strlen("cede.dev/run-time\":\"");
		text_printf(out, " %.*s", (int)strcspn(at, ".\""), at); /* whole seconds */
	}
}

static void expect(const char *expected)
{
	struct text out = {0};
	struct journal *j;
	struct err e = {0};

	if (journal_open(path, JOURNAL_READ, &j, &e))
		fail_msg("%s", e.msg);
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		if (journal_read(j, journal_run_id(j, i), true, &run, &e))
			fail_msg("%s", e.msg);
		text_printf(&out, "%s, %u settings:", run.profile, run.n_settings);
		add_names(&out, run.state ? run.state : "");
		text_add(&out, "; gone:");
		add_names(&out, run.gone ? run.gone : "");
		add_run_times(&out, run.gone ? run.gone : "");
		text_add(&out, "\n");
		journal_run_free(&run);
	}
	journal_close(j);
	assert_string_equal(text_str(&out), expected);
	text_free(&out);
}

/* ---- tests ---- */

static void finish(struct fake_api *f, const char *name)
{
	struct text t = {0};

	text_printf(&t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":"
		    "\"uid-%s\",\"resourceVersion\":\"%u\"},\"spec\":{\"schedulerName\":\"cede\",\"nodeName\":\"n0\","
		    "\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Succeeded\",\"startTime\":"
		    "\"2026-11-15T12:00:00Z\"}}",
		    name, name, ++f->version + 100);
	fake_watch(f, "/pods?", "MODIFIED", text_str(&t));
	fake_run(f);
	text_free(&t);
}

static void at_the_beginning_every_hour_and_at_the_end(void **state)
{
	struct fake_api *f = begin(true, HOUR_S);

	(void)state;
	let_it_keep();
	fake_pass(f, HOUR_S / 2.0);
	let_it_keep(); /* not yet */
	fake_put(f, &(struct fake_pod){"b", "n0", 2, 0, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"a", "n0", 2, 0, false, NULL, NULL, NULL}, "DELETED");
	fake_pass(f, HOUR_S / 2.0);
	let_it_keep();
	fake_put(f, &(struct fake_pod){"c", "n0", 2, 0, false, NULL, NULL, NULL}, "ADDED");
	end(f);
	expect("kubernetes, 1 settings: a; gone:\n"
	       "kubernetes, 1 settings: b; gone: a 30m1\n"
	       "kubernetes, 1 settings: b c; gone:\n");
}

static void who_is_gone_is_noted_with_how_long_it_ran(void **state)
{
	struct fake_api *f = begin(true, HOUR_S);

	(void)state;
	let_it_keep();
	fake_put(f, &(struct fake_pod){"waits", NULL, 99, 0, false, NULL, NULL, NULL}, "ADDED");
	fake_put(f, &(struct fake_pod){"says", "n0", 1, 0, false, NULL, "\"cede.dev/run-time\":\"7h0m0.5s\"", NULL},
		 "ADDED");
	fake_pass(f, 60);
	finish(f, "a");
	fake_put(f, &(struct fake_pod){"a", "n0", 2, 0, false, NULL, NULL, NULL}, "DELETED"); /* it was over */
	fake_put(f, &(struct fake_pod){"says", "n0", 1, 0, true, NULL, NULL, NULL}, "DELETED");
	fake_put(f, &(struct fake_pod){"waits", NULL, 99, 0, false, NULL, NULL, NULL}, "DELETED"); /* it never ran */
	end(f);
	expect("kubernetes, 1 settings: a; gone:\nkubernetes, 1 settings:; gone: a says 1m1 7h0m0\n");
}

static void who_stands_by_or_is_told_not_to_keeps_nothing(void **state)
{
	static const struct {
		const char *sentence;
		bool leads;
		int64_t every_s;
	} rows[] = {{"stands by", false, HOUR_S}, {"never", true, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fake_api *f = begin(rows[i].leads, rows[i].every_s);

		let_it_keep();
		fake_pass(f, HOUR_S);
		let_it_keep();
		end(f);
		expect("");
	}
}

/* Other settings, another life of the lease: at once, and whoever wrote one for those before is ended. */
static void anew(void **state)
{
	struct fake_api *f = begin(true, HOUR_S);

	(void)state;
	let_it_keep();
	keep_cluster_anew(&d);
	keep_cluster_tick(&d);
	assert_int_not_equal(d.kept.pid, 0);
	keep_cluster_anew(&d);
	assert_int_equal(d.kept.pid, 0);
	let_it_keep();
	options.cluster_every_ns = 0; /* none at the end */
	end(f);
	expect("kubernetes, 1 settings: a; gone:\nkubernetes, 1 settings: a; gone:\n");
}

/* It is said, and tried again after a minute. Those who were gone are not forgotten. */
static void a_file_that_cannot_be_made(void **state)
{
	struct fake_api *f = begin(true, HOUR_S);
	char away[80];

	(void)state;
	let_it_keep();
	fake_pass(f, 60);
	finish(f, "a");
	snprintf(away, sizeof(away), "%s.away", folder);
	assert_int_equal(rename(folder, away), 0);
	fake_pass(f, HOUR_S);
	let_it_keep();
	assert_int_equal(rename(away, folder), 0);
	fake_pass(f, 30);
	let_it_keep();
	assert_int_equal(d.kept.n_handed, 1); /* not yet */
	fake_pass(f, 31);
	let_it_keep();
	options.cluster_every_ns = 0; /* none at the end */
	end(f);
	expect("kubernetes, 1 settings: a; gone:\nkubernetes, 1 settings: a; gone: a 1m0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_the_beginning_every_hour_and_at_the_end),
		cmocka_unit_test(who_is_gone_is_noted_with_how_long_it_ran),
		cmocka_unit_test(who_stands_by_or_is_told_not_to_keeps_nothing),
		cmocka_unit_test(anew),
		cmocka_unit_test(a_file_that_cannot_be_made),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
