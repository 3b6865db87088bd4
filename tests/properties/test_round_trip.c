/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever was read and built, and whatever the engine did to it since, manifest_write gives manifests that read
 * back as the same cluster: a dump of everything by names is the same, shapes and label sets are the same, and what is
 * written of the second cluster is what was written of the first, byte for byte, in both formats and with names and
 * types numbered anew.
 *
 * CEDE_N: how many clusters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "properties/cluster_dump.h"
#include "properties/random_manifest.h"

static struct cluster *read_cluster(struct vocab *v, const char *name, const struct text *t,
				    const struct cluster_options *o, uint64_t seed)
{
	struct manifest *m = manifest_new(v);
	struct cluster *c = NULL;
	struct err e = {0};

	if (manifest_read_bytes(m, name, t->s, t->n, &e) || manifest_build(m, o, &c, &e)) {
		fprintf(stderr, "%s\n", t->s);
		fail_msg("seed %llu: %s", (unsigned long long)seed, e.msg);
	}
	manifest_free(m);
	return c;
}

static struct text written(const struct cluster *c, enum emit_format format)
{
	struct text t = {0};
	struct emit e;

	emit_init(&e, &t, format);
	manifest_write(c, &e);
	assert_int_equal(e.depth, 0);
	return t;
}

/* The first line that differs, instead of two long texts. */
static void same_text(const char *what, uint64_t seed, const struct text *a, const struct text *b)
{
	const char *x = text_str(a), *y = text_str(b), *line_x = x, *line_y = y;

	for (; *x && *x == *y; x++, y++) {
		if (*x == '\n') {
			line_x = x + 1;
			line_y = y + 1;
		}
	}
	if (*x != *y)
		fail_msg("seed %llu: %s: '%.*s' became '%.*s'", (unsigned long long)seed, what,
			 (int)strcspn(line_x, "\n"), line_x, (int)strcspn(line_y, "\n"), line_y);
}

/* ---- the engine at work ---- */

static void move_pod(struct rng *r, struct ledger *l, pod_id id)
{
	node_id node = rng_below(r, ledger_node_limit(l));
	const struct pod *p = ledger_pod(l, id);

	if (!ledger_node(l, node)->is_live)
		return;
	if (p->state == POD_WAITING && rng_below(r, 2)) {
		ledger_place(l, id, node);
		ledger_set_started(l, id, INT64_C(1790000000) * NS_PER_S + rng_below(r, 1000));
	} else if (p->state == POD_WAITING) {
		ledger_set_nomination(l, id, node, rng_below(r, 2) ? NOMINATION_ADVISORY : NOMINATION_RESERVED);
	} else if (p->state == POD_PLACED && rng_below(r, 2)) {
		ledger_evict(l, id);
	} else if (p->state == POD_PLACED || p->state == POD_LEAVING) {
		ledger_vacate(l, id);
	}
}

static void move_things(struct rng *r, struct ledger *l)
{
	for (pod_id id = 0; id < ledger_pod_limit(l); id++)
		if (ledger_pod(l, id)->state != POD_FREE && rng_below(r, 3) == 0)
			move_pod(r, l, id);
	for (group_id g = 0; g < ledger_group_limit(l); g++)
		if (ledger_group(l, g)->is_live && rng_below(r, 3) == 0)
			ledger_set_group_started(l, g, INT64_C(1790000000) * NS_PER_S + rng_below(r, 1000));
	ledger_commit(l);
}

/* ---- one cluster ---- */

static struct cluster_options random_options(struct rng *r)
{
	struct cluster_options o = cluster_options_default();

	o.profile = (enum profile)rng_below(r, 4);
	o.reach = (enum preemptibility_reach)rng_below(r, 3);
	o.preemptibility_threshold = (int32_t)rng_below(r, 150);
	o.now_ns = rng_below(r, 3) ? INT64_C(1800000000) * NS_PER_S : TIME_NONE;
	return o;
}

/* Into the same vocab: equal shapes and label sets are the same ids, which a dump shows. */
static void check_same_cluster(struct vocab *v, struct cluster *c, const struct text *yaml,
			       const struct cluster_options *o, bool is_moved, uint64_t seed)
{
	struct cluster *again = read_cluster(v, "written.yaml", yaml, o, seed);
	struct text before = {0}, after = {0};
	struct err e = {0};

	dump_cluster(c, is_moved, &before);
	dump_cluster(again, is_moved, &after);
	same_text("the cluster", seed, &before, &after);
	assert_int_equal(ledger_check(cluster_ledger(again), &e), ERR_OK);
	text_free(&before);
	text_free(&after);
	cluster_free(again);
}

/* Into a vocab of its own, from the other format. */
static void check_same_text(const struct text *yaml, const struct text *json, const struct cluster_options *o,
			    uint64_t seed)
{
	struct vocab *v = vocab_new();
	struct cluster *c = read_cluster(v, "written.json", json, o, seed);
	struct text again = written(c, EMIT_YAML);

	same_text("YAML", seed, yaml, &again);
	text_free(&again);
	again = written(c, EMIT_JSON);
	same_text("JSON", seed, json, &again);
	text_free(&again);
	cluster_free(c);
	vocab_free(v);
}

static void round_trip(struct vocab *v, struct cluster *c, const struct cluster_options *o, bool is_moved,
		       uint64_t seed)
{
	struct text yaml = written(c, EMIT_YAML), json = written(c, EMIT_JSON);

	check_same_cluster(v, c, &yaml, o, is_moved, seed);
	check_same_text(&yaml, &json, o, seed);
	text_free(&yaml);
	text_free(&json);
}

static void one_cluster(uint64_t seed)
{
	struct rng r = {seed * UINT64_C(0x9e3779b97f4a7c15)};
	struct cluster_options o = random_options(&r);
	struct vocab *v = vocab_new();
	struct gen g;
	struct cluster *c;

	gen_file(&g, rng_next(&r), rng_below(&r, 2));
	c = read_cluster(v, "random", &g.out, &o, seed);
	round_trip(v, c, &o, false, seed);
	move_things(&r, cluster_ledger(c));
	round_trip(v, c, &o, true, seed);
	cluster_free(c);
	/* Writing holds no name, and what reading held is let go: only the types of resources remain. */
	assert_int_equal(names_count(vocab_names(v)), vocab_res(v)->n);
	text_free(&g.out);
	vocab_free(v);
}

static void random_clusters_read_back_as_they_were(void **state)
{
	const char *n = getenv("CEDE_N");

	(void)state;
	for (uint64_t seed = 1; seed <= (n ? strtoull(n, NULL, 10) : 200); seed++)
		one_cluster(seed);
}

/* ---- clusters that people wrote ---- */

static void check_path(const char *path)
{
	struct cluster_options o = cluster_options_default();
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct cluster *c = NULL;
	struct err e = {0};

	o.now_ns = INT64_C(1800000000) * NS_PER_S;
	if (manifest_read(m, path, &e) || manifest_build(m, &o, &c, &e))
		fail_msg("%s", e.msg);
	manifest_free(m);
	round_trip(v, c, &o, false, 0);
	cluster_free(c);
	vocab_free(v);
}

static void examples_read_back_as_they_were(void **state)
{
	(void)state;
	check_path("examples/gpu-cluster");
	check_path("tests/cli/clusters/mixed.yaml");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_read_back_as_they_were),
		cmocka_unit_test(random_clusters_read_back_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
