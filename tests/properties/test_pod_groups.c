/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' PodGroups on random clusters: whole groups go whole, gangs get their places together or none, nobody goes
 * for an equal or lower priority, and the same plan is made whichever way nodes are asked.
 *
 * CEDE_N: how many clusters; CEDE_SEED: from which on.
 */
#include <stdio.h>

#include "engine/engine_fixture.h"
#include "rng.h"

enum { GROUPS_MAX = 4 };

static uint64_t seed, n_decisions, n_whole, n_gangs, n_nominated;

struct draft {
	struct rng rng;
	uint32_t n_nodes, n_groups;
	uint32_t priorities[GROUPS_MAX];
	struct text words;
};

static uint32_t upto(struct draft *d, uint32_t n)
{
	return rng_below(&d->rng, n);
}

/* ---- a cluster ---- */

static void draft_nodes(struct draft *d)
{
	d->n_nodes = 1 + upto(d, 4);
	for (uint32_t i = 0; i < d->n_nodes; i++)
		text_printf(&d->words, "node n%u cpu=%u pods=%u; ", i, 1 + upto(d, 4), 1 + upto(d, 6));
}

static void draft_groups(struct draft *d)
{
	d->n_groups = 1 + upto(d, GROUPS_MAX - 1);
	for (uint32_t i = 0; i < d->n_groups; i++) {
		d->priorities[i] = 1 + upto(d, 5);
		text_printf(&d->words, "group g%u %u min=%u%s%s; ", i, d->priorities[i], upto(d, 4),
			    upto(d, 2) ? " all" : "", upto(d, 10) ? "" : " never");
	}
}

/* Priority and group, which agree. */
static void draft_rank(struct draft *d)
{
	uint32_t g = upto(d, d->n_groups);

	if (upto(d, 2))
		text_printf(&d->words, " %u &g%u", d->priorities[g], g);
	else
		text_printf(&d->words, " %u", 1 + upto(d, 6));
}

static void draft_pods(struct draft *d)
{
	for (uint32_t i = 0, n = upto(d, 12); i < n; i++) {
		text_printf(&d->words, "pod r%u@n%u", i, upto(d, d->n_nodes));
		draft_rank(d);
		text_printf(&d->words, " cpu=%u .app=a%u", 1 + upto(d, 2), upto(d, 3));
		if (upto(d, 3))
			text_printf(&d->words, " +%u", 1 + upto(d, 3));
		text_add(&d->words, upto(d, 12) ? "; " : " ~; ");
	}
	for (uint32_t i = 0, n = 1 + upto(d, 6); i < n; i++) {
		text_printf(&d->words, "pod %s", i ? arena_printf(f.arena, "w%u", i) : "p");
		draft_rank(d);
		text_printf(&d->words, " cpu=%u; ", 1 + upto(d, 3));
	}
	if (upto(d, 2))
		text_printf(&d->words, "pdb b app=a0 %u; ", upto(d, 2));
}

static const char *draft_cluster(void)
{
	struct draft d = {.rng = {seed * 2654435761u + 1}};
	const char *s;

	draft_nodes(&d);
	draft_groups(&d);
	draft_pods(&d);
	s = arena_strndup(f.arena, text_str(&d.words), d.words.n);
	text_free(&d.words);
	return s;
}

/* ---- what must hold ---- */

static bool goes_by_plan(pod_id pod)
{
	return ledger_pod(f.ledger, pod)->state == POD_LEAVING && ledger_pod(f.ledger, pod)->is_evicted;
}

static void check_whole(const char *cluster, group_id g)
{
	uint32_t gone = 0, stays = 0;

	for (pod_id i = cluster_group_first(f.cluster, g); i != POD_NONE; i = cluster_group_next(f.cluster, i)) {
		const struct pod *p = ledger_pod(f.ledger, i);

		gone += goes_by_plan(i);
		/* Who was placed by this very plan was no victim yet when somebody went. */
		stays += p->state == POD_PLACED && p->obj->node_name != NAME_NONE;
	}
	n_whole += gone > 0;
	if (gone && stays)
		fail_msg("seed %llu: %u of group %u go and %u stay: %s", (unsigned long long)seed, gone, g, stays,
			 cluster);
}

static void check_gang(const char *cluster, group_id g)
{
	const struct group *group = ledger_group(f.ledger, g);
	const struct podset *s = ledger_podset(f.ledger, group->first_podset);
	uint32_t got = 0;

	for (uint32_t i = 0; i < en.last.v.n; i++)
		got += en.last.v.v[i].group == g && en.last.v.v[i].node != NODE_NONE;
	n_gangs += got > 0;
	if (got && s->n_placed + s->n_nominated < (uint32_t)s->min_member)
		fail_msg("seed %llu: group %u got %u places and has %u of %d: %s", (unsigned long long)seed, g, got,
			 s->n_placed + s->n_nominated, s->min_member, cluster);
}

static void check_victims(const char *cluster)
{
	for (uint32_t i = 0; i < en.last.v.n; i++) {
		const struct decision *d = &en.last.v.v[i];

		n_decisions++;
		n_nominated += d->outcome == OUTCOME_NOMINATED;
		for (uint32_t k = 0; k < d->n_victims; k++)
			if (ledger_pod(f.ledger, d->victims[k].pod)->priority >= ledger_pod(f.ledger, d->pod)->priority)
				fail_msg("seed %llu: %s goes for %s: %s", (unsigned long long)seed,
					 pod_str(d->victims[k].pod), pod_str(d->pod), cluster);
	}
}

static void check_rest(const char *cluster)
{
	struct err e;

	check_victims(cluster);
	for (group_id g = 0; g < ledger_group_limit(f.ledger); g++) {
		if (ledger_group(f.ledger, g)->obj->goes_whole)
			check_whole(cluster, g);
		check_gang(cluster, g);
	}
	if (ledger_check(f.ledger, &e))
		fail_msg("seed %llu: %s", (unsigned long long)seed, e.msg);
}

static void one_cluster(void)
{
	struct text first = {0};

	for (int way = 0; way < WAYS; way++) {
		const char *cluster = draft_cluster(), *got;

		en.way = (enum way)way;
		put_cluster(cluster);
		got = plan(1);
		check_rest(cluster);
		if (!way)
			text_add(&first, got);
		else if (!str_eq(text_str(&first), got))
			fail_msg("seed %llu, way %d: \"%s\", not \"%s\": %s", (unsigned long long)seed, way, got,
				 text_str(&first), cluster);
		engine_reset();
	}
	text_free(&first);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *s = getenv(variable);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void groups_go_whole_and_gangs_come_together(void **state)
{
	uint64_t from = number_from("CEDE_SEED", 0), n = number_from("CEDE_N", 600);

	(void)state;
	for (seed = from; seed < from + n; seed++)
		one_cluster();
}

int main(void)
{
	const struct CMUnitTest tests[] = {ENGINE_TEST(groups_go_whole_and_gangs_come_together)};
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);

	printf("%llu decisions tried (%llu nominated, %llu whole groups went, %llu groups got places), %d violations\n",
	       (unsigned long long)n_decisions, (unsigned long long)n_nominated, (unsigned long long)n_whole,
	       (unsigned long long)n_gangs, n_failed);
	return n_failed;
}
