/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon sees pods come and go for months. A million of them pass through a small cluster here; nothing that the
 * ledger keeps may grow with the number that was ever there.
 */
#include "ledger/ledger_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALL 200000u /* a sanitizer sees in a fifth of them what there is to see */
#else
#define ALL 1000000u
#endif
#define WARM 100000u
#define AT_ONCE 500u
#define NODES 10u

struct churn {
	struct fix f;
	node_id nodes[NODES];
	pod_id live[AT_ONCE];
	group_id group;
};

static void new_node(struct churn *c, uint32_t i)
{
	char name[24];
	snprintf(name, sizeof(name), "node-%u", i);
	c->nodes[i % NODES] = fix_node(&c->f, name);
}

static void new_group(struct churn *c, uint32_t i)
{
	char name[24];
	snprintf(name, sizeof(name), "gang-%u", i);
	c->group = fix_group(&c->f, name, c->f.x, 1, i % 2 ? "a,b" : "");
}

static void new_pod(struct churn *c, uint32_t i)
{
	char name[24], labels[24];
	snprintf(name, sizeof(name), "pod-%u", i);
	snprintf(labels, sizeof(labels), "app=a,rev=%u", i / 7);
	struct pod_entry entry = fix_waiting(i % 3 == 0 ? c->f.x : c->f.b);
	if (i % 4 > 0)
		entry = fix_on(i % 3 == 0 ? c->f.x : c->f.b, POD_PLACED, c->nodes[i % NODES]);
	if (i % 8 == 0)
		entry = fix_of_group(&c->f, entry, c->group, 0);
	shape_id shape = fix_shape(&c->f, i % 1009, i % 13, i % 2);
	c->live[i % AT_ONCE] = fix_add(&c->f, fix_pod_object(&c->f, "ns", name, labels, shape), entry);
	if (i % 4 == 1)
		ledger_evict(c->f.l, c->live[i % AT_ONCE]);
}

static void drop_pods_of(struct churn *c, group_id g)
{
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		if (c->live[i] != POD_NONE && ledger_pod(c->f.l, c->live[i])->group == g) {
			ledger_pod_drop(c->f.l, c->live[i]);
			c->live[i] = POD_NONE;
		}
	}
}

/* Now and then a node, a group and a queue are replaced, and a batch is taken back. */
static void renew(struct churn *c, uint32_t i)
{
	uint32_t round = i / 1000;
	ledger_node_drop(c->f.l, c->nodes[round % NODES]);
	new_node(c, round + NODES);
	drop_pods_of(c, c->group);
	ledger_group_drop(c->f.l, c->group);
	new_group(c, round);
	ledger_commit(c->f.l);
	ledger_mark mark = ledger_get_mark(c->f.l);
	ledger_queue_drop(c->f.l, fix_queue(&c->f, c->f.a, round % 2 ? "odd" : "even"));
	fix_pod(&c->f, "dry", fix_waiting(c->f.y));
	drop_pods_of(c, GROUP_NONE);
	ledger_rollback(c->f.l, mark);
}

static void forget_taken_back(struct churn *c)
{
	for (uint32_t i = 0; i < AT_ONCE; i++)
		c->live[i] = POD_NONE;
	for (pod_id id = 0; id < ledger_pod_limit(c->f.l); id++) {
		const struct pod *p = ledger_pod(c->f.l, id);
		if (p->state == POD_FREE)
			continue;
		const char *digits = strrchr(name_str(c->f.names, p->name), '-') + 1;
		c->live[strtoul(digits, NULL, 10) % AT_ONCE] = id;
	}
}

static void step(struct churn *c, uint32_t i)
{
	pod_id *at = &c->live[i % AT_ONCE];
	if (*at != POD_NONE)
		ledger_pod_drop(c->f.l, *at);
	if (i % 3 == 0)
		ledger_commit(c->f.l);
	*at = POD_NONE;
	new_pod(c, i);
	if (i % 1000 == 999) {
		renew(c, i);
		forget_taken_back(c);
	}
}

static void a_million_pods_come_and_go_and_nothing_grows(void **state)
{
	struct churn c;
	struct ledger_memory warm = {0};
	uint32_t n_names = 0;
	fix_init(&c.f);
	ledger_check_always(c.f.l, false);
	memset(c.live, 0xff, sizeof(c.live));
	for (uint32_t i = 0; i < NODES; i++)
		new_node(&c, i);
	new_group(&c, 0);
	fix_pdb(&c.f, "ns", "pdb", "app=a", NULL);
	for (uint32_t i = 0; i < ALL; i++) {
		step(&c, i);
		if (i + 1 == WARM) {
			ledger_commit(c.f.l);
			warm = ledger_memory(c.f.l);
			n_names = names_count(c.f.names);
		}
	}
	ledger_commit(c.f.l);
	struct ledger_memory now = ledger_memory(c.f.l);
	assert_int_equal(ledger_check(c.f.l, NULL), ERR_OK);
	assert_in_range(now.engine, 1, warm.engine + warm.engine / 50);
	assert_in_range(now.shapes, 1, warm.shapes + warm.shapes / 50);
	assert_in_range(now.names, 1, warm.names + warm.names / 50);
	assert_in_range(names_count(c.f.names), n_names - 5, n_names + 5);
	assert_in_range(ledger_pod_limit(c.f.l), 1, AT_ONCE + 8);
	assert_in_range(ledger_node_limit(c.f.l), 1, 2 * NODES);
	assert_in_range(ledger_group_limit(c.f.l), 1, 3);
	fix_free(&c.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_pods_come_and_go_and_nothing_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
