/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

struct row {
	const char *says, *n1, *n2; /* images of the nodes; a third and a fourth have none */
	const char *images, *scores;
};

static const struct row rows[] = {
	{"no node has images", "", "", "a:1", "n1=0 n2=0"},
	{"a pod without images", "a:1=2000Mi", "", NULL, "n1=0 n2=0"},
	{"other images do not count", "b:1=4000Mi", "a:2=4000Mi", "a:1", "n1=0 n2=0"},
	{"a quarter of the size, as one node of four has it", "a:1=2000Mi", "", "a:1", "n1=48 n2=0"},
	{"a half, as two have it", "a:1=1000Mi", "a:1=500Mi", "a:1", "n1=48 n2=23"},
	{"small images do not matter", "a:1=92Mi", "", "a:1", "n1=0 n2=0"},
	{"a little more does", "a:1=132Mi", "", "a:1", "n1=1 n2=0"},
	{"very large ones count as 1000 MiB", "a:1=40Gi", "", "a:1", "n1=100 n2=0"},
	{"per container", "a:1=4000Mi", "", "a:1 b:1", "n1=49 n2=0"},
	{"sizes add up", "a:1=2000Mi b:1=2000Mi", "b:1=2000Mi", "a:1 b:1", "n1=74 n2=49"},
	{"an image used twice counts twice", "a:1=2000Mi", "", "a:1 a:1", "n1=49 n2=0"},
};

static pod_id put_row(const struct row *r)
{
	put_node((struct node_text){.name = "n1", .images = r->n1});
	put_node((struct node_text){.name = "n2", .images = r->n2});
	put_node((struct node_text){.name = "n3"});
	put_node((struct node_text){.name = "n4"});
	return put_pod((struct pod_text){.name = "p", .images = r->images});
}

static void KF_4_image_locality(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		expect_text(rows[i].says, scores_text("ImageLocality", put_row(&rows[i]), "n1 n2"), rows[i].scores);
	}
}

static void KF_4_image_locality_is_alike_without_pre_score(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		struct cede_cycle *c = cycle_start("ImageLocality", put_row(&rows[i]));
		const char *got = arena_printf(f.arena, "n1=%lld n2=%lld",
					       (long long)image_locality_plugin.score(NULL, c, node_of("n1")),
					       (long long)image_locality_plugin.score(NULL, c, node_of("n2")));

		expect_text(rows[i].says, got, rows[i].scores);
	}
}

static void KF_4_image_locality_is_alike_with_a_memo(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct cede_plugin *p = &image_locality_plugin;
		void *self;

		fixture_reset();
		struct cede_cycle *c = cycle_start("ImageLocality", put_row(&rows[i]));

		assert_true(p->create(NULL, 0, &self, NULL, 0));
		assert_int_equal(p->pre_score(self, c, c->nodes, c->n_nodes).code, CEDE_SUCCESS);
		expect_text(rows[i].says,
			    arena_printf(f.arena, "n1=%lld n2=%lld", (long long)p->score(self, c, node_of("n1")),
					 (long long)p->score(self, c, node_of("n2"))),
			    rows[i].scores);
		p->destroy(self);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_image_locality),
		FIXTURE_TEST(KF_4_image_locality_is_alike_without_pre_score),
		FIXTURE_TEST(KF_4_image_locality_is_alike_with_a_memo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
