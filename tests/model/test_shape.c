/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shape_fixture.h"

static uint32_t names_at_start;

static int setup(void **state)
{
	struct vocab *v = vocab_new();
	names_at_start = names_count(vocab_names(v));
	*state = v;
	return 0;
}

static int teardown(void **state)
{
	vocab_free(*state);
	return 0;
}

static shape_id hold_seed(struct vocab *v, uint64_t seed)
{
	struct draft d = draft_new(v, seed);
	shape_id id = shape_hold(v, &d.shape);
	draft_free(&d);
	return id;
}

static void what_says_the_same_is_the_same(void **state)
{
	struct vocab *v = *state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct draft d = draft_new(v, seed);
		shape_id a = shape_hold(v, &d.shape), b = hold_seed(v, seed), c = shape_hold(v, shape_get(v, a));
		assert_int_equal(a, b);
		assert_int_equal(a, c);
		draft_free(&d);
	}
}

static void a_shape_is_kept_whole(void **state)
{
	struct vocab *v = *state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct text want = {0}, got = {0};
		struct draft d = draft_new(v, seed);
		shape_tell(v, &d.shape, &want);
		shape_id id = shape_hold(v, &d.shape);
		draft_free(&d);
		shape_tell(v, shape_get(v, id), &got);
		assert_string_equal(got.s, want.s);
		text_free(&want);
		text_free(&got);
	}
}

/* The id must be equal exactly if the words are. */
static void shapes_differ_if_their_words_do(void **state)
{
	struct vocab *v = *state;
	enum { N = 400 };
	static struct text words[N];
	static shape_id ids[N];
	for (uint32_t i = 0; i < N; i++) {
		struct draft d = draft_new(v, 1 + i % (N - N / 10));
		shape_tell(v, &d.shape, &words[i]);
		ids[i] = shape_hold(v, &d.shape);
		draft_free(&d);
	}
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_int_equal(ids[i] == ids[k], strcmp(words[i].s, words[k].s) == 0);
	for (uint32_t i = 0; i < N; i++)
		text_free(&words[i]);
}

static struct requirement one_req = {.op = SEL_EXISTS};
static struct pod_term one_term;
static struct spread one_spread = {.max_skew = 1};
static struct host_port one_port = {.port = 80};
static struct toleration one_toleration;
static struct node_term one_node_term;
static struct preferred_node_term one_preferred = {.weight = 1};
static struct res_amount one_amount = {RES_CPU, 1};
static name_id one_name[1];
static struct label one_label;

static void start_small(struct shape *s)
{
	*s = (struct shape){
		.request = {1, &one_amount},
		.usage = {1, &one_amount},
		.node_selector = {1, &one_label},
		.has_required_terms = true,
		.required_terms = {1, &one_node_term},
		.n_preferred_nodes = 1,
		.preferred_nodes = &one_preferred,
		.n_tolerations = 1,
		.tolerations = &one_toleration,
		.affinity = {1, &one_term},
		.n_spreads = 1,
		.spreads = &one_spread,
		.n_ports = 1,
		.ports = &one_port,
	};
	one_req = (struct requirement){.op = SEL_EXISTS};
	one_term = (struct pod_term){.selector = {.n = 1, .reqs = &one_req}};
	one_spread = (struct spread){.max_skew = 1};
	one_port = (struct host_port){.port = 80};
	one_toleration = (struct toleration){0};
	one_node_term = (struct node_term){.n_exprs = 1, .exprs = &one_req};
	one_preferred = (struct preferred_node_term){.weight = 1};
	one_amount = (struct res_amount){RES_CPU, 1};
	one_label = (struct label){0};
}

/* Change one thing, differently for each number; false when there are no more. */
static bool change_one(struct shape *s, uint32_t which)
{
	const name_id x = one_name[0];
	const struct pod_terms terms = {1, &one_term};
	uint32_t i = 0;
#define CHANGE(what)      \
	if (which == i++) \
		return (what), true;
	CHANGE(one_amount.type = RES_MEMORY)
	CHANGE(one_amount.amount = INT64_C(1) << 32)
	CHANGE(s->request.n = 0)
	CHANGE(s->usage.n = 0)
	CHANGE(s->nonzero_cpu_milli = 1)
	CHANGE(s->nonzero_memory = 1)
	CHANGE(one_label.key = x)
	CHANGE(one_label.value = x)
	CHANGE(s->node_selector.n = 0)
	CHANGE(s->has_required_terms = false)
	CHANGE(s->required_terms.n = 0)
	CHANGE(one_node_term.is_invalid = true)
	CHANGE(one_node_term.n_exprs = 0)
	CHANGE((one_node_term.n_fields = 1, one_node_term.n_exprs = 0, one_node_term.fields = &one_req))
	CHANGE(one_req.key = x)
	CHANGE(one_req.op = SEL_NOT_EXISTS)
	CHANGE((one_req.n_values = 1, one_req.values = one_name))
	CHANGE(one_req.bound = -1)
	CHANGE(s->n_preferred_nodes = 0)
	CHANGE(one_preferred.weight = 2)
	CHANGE(one_preferred.term.is_invalid = true)
	CHANGE(s->n_tolerations = 0)
	CHANGE(one_toleration.key = x)
	CHANGE(one_toleration.value = x)
	CHANGE(one_toleration.op = TOLERATE_EXISTS)
	CHANGE(one_toleration.effect = EFFECT_NO_EXECUTE)
	CHANGE((s->affinity.n = 0, s->anti_affinity = terms))
	CHANGE((s->affinity.n = 0, s->preferred_affinity = terms))
	CHANGE((s->affinity.n = 0, s->preferred_anti_affinity = terms))
	CHANGE(one_term.selector.matches_nothing = true)
	CHANGE(one_term.topology_key = x)
	CHANGE((one_term.n_namespaces = 1, one_term.namespaces = one_name))
	CHANGE(one_term.has_ns_selector = true)
	CHANGE(one_term.ns_selector.matches_nothing = true)
	CHANGE(one_term.weight = 1)
	CHANGE((one_term.n_match_keys = 1, one_term.match_keys = one_name))
	CHANGE((one_term.n_mismatch_keys = 1, one_term.mismatch_keys = one_name))
	CHANGE(one_spread.max_skew = 2)
	CHANGE(one_spread.min_domains = 1)
	CHANGE(one_spread.topology_key = x)
	CHANGE(one_spread.is_hard = true)
	CHANGE(one_spread.ignores_affinity = true)
	CHANGE(one_spread.honors_taints = true)
	CHANGE(one_spread.selector.matches_nothing = true)
	CHANGE((one_spread.n_match_keys = 1, one_spread.match_keys = one_name))
	CHANGE(s->n_spreads = 0)
	CHANGE(s->n_ports = 0)
	CHANGE(one_port.ip = x)
	CHANGE(one_port.port = 81)
	CHANGE(one_port.protocol = PROTO_UDP)
	CHANGE((s->n_images = 1, s->images = one_name))
	CHANGE(s->n_containers = 1)
	CHANGE((s->n_gates = 1, s->gates = one_name))
	CHANGE(s->scheduler_name = x)
	CHANGE(s->runs_on = x)
	CHANGE(s->never_preempts = true)
	CHANGE(s->has_claims = true)
#undef CHANGE
	return false;
}

static void every_field_tells_shapes_apart(void **state)
{
	struct vocab *v = *state;
	shape_id ids[100];
	struct shape s;
	uint32_t n = 0;
	one_name[0] = names_hold_str(vocab_names(v), "x");
	start_small(&s);
	shape_id plain = shape_hold(v, &s);
	for (; start_small(&s), change_one(&s, n); n++) {
		ids[n] = shape_hold(v, &s);
		if (ids[n] == plain)
			fail_msg("change %u goes unnoticed", n);
		for (uint32_t k = 0; k < n; k++)
			if (ids[k] == ids[n])
				fail_msg("changes %u and %u look the same", k, n);
	}
	assert_int_equal(n, 57);
	assert_int_equal(shape_count(v), n + 1);
	for (uint32_t i = 0; i < n; i++)
		shape_drop(v, ids[i]);
	shape_drop(v, plain);
	assert_int_equal(shape_count(v), 0);
	names_drop(vocab_names(v), one_name[0]);
	assert_int_equal(names_count(vocab_names(v)), names_at_start);
}

static void a_shape_lives_until_the_last_holder_lets_go(void **state)
{
	struct vocab *v = *state;
	shape_id a = hold_seed(v, 5);
	shape_keep(v, a);
	assert_int_equal(hold_seed(v, 5), a);
	shape_drop(v, a);
	shape_drop(v, a);
	assert_int_equal(shape_count(v), 1);
	shape_drop(v, a);
	assert_int_equal(shape_count(v), 0);
	assert_int_equal(names_count(vocab_names(v)), names_at_start);
	shape_drop(v, SHAPE_NONE);
	shape_keep(v, SHAPE_NONE);
	assert_int_equal(hold_seed(v, 6), a);
	shape_drop(v, a);
}

static uint32_t count_staying_away(const struct vocab *v)
{
	uint32_t n = 0;
	for (shape_id i = 0; i < shape_limit(v); i++)
		n += shape_is_live(v, i) && shape_get(v, i)->anti_affinity.n > 0;
	return n;
}

/* A few hundred shapes alive at a time, a hundred thousand in all: nothing is left behind by the dead. */
static void churn_leaves_no_trace(void **state)
{
	struct vocab *v = *state;
	enum { LIVE = 300, ROUNDS = 100000 };
	static shape_id shapes[LIVE];
	static labelset_id labelsets[LIVE];
	struct rng rng = {11};
	size_t bytes = 0;
	memset(shapes, 0xff, sizeof(shapes));
	memset(labelsets, 0xff, sizeof(labelsets));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t at = rng_below(&rng, LIVE), seed = 1 + rng_below(&rng, 5000);
		char ns[16];
		int n = snprintf(ns, sizeof(ns), "ns%u", seed);
		name_id name = names_hold(vocab_names(v), ns, (size_t)n);
		shape_drop(v, shapes[at]);
		labelset_drop(v, labelsets[at]);
		shapes[at] = hold_seed(v, seed);
		labelsets[at] = labelset_hold(v, name, &(struct label){name, name}, seed % 2);
		names_drop(vocab_names(v), name);
		assert_true(shape_count(v) <= LIVE && labelset_limit(v) <= LIVE);
		if (i == ROUNDS / 10)
			bytes = vocab_bytes(v);
		if (i % 1000 == 0)
			assert_int_equal(shape_staying_away_count(v), count_staying_away(v));
	}
	assert_true(vocab_bytes(v) < bytes + bytes / 4);
	for (uint32_t i = 0; i < LIVE; i++) {
		shape_drop(v, shapes[i]);
		labelset_drop(v, labelsets[i]);
	}
	assert_int_equal(shape_count(v), 0);
	assert_int_equal(shape_staying_away_count(v), 0);
	assert_int_equal(names_count(vocab_names(v)), names_at_start);
	assert_true(vocab_bytes(v) < 64 * 1024);
}

static void labelsets_are_one_for_any_order_of_labels(void **state)
{
	struct vocab *v = *state;
	struct names *names = vocab_names(v);
	name_id ns = names_hold_str(names, "prod"), a = names_hold_str(names, "a"), b = names_hold_str(names, "b");
	const struct label ab[] = {{a, b}, {b, a}}, ba[] = {{b, a}, {a, b}}, twice[] = {{a, ns}, {b, a}, {a, b}};
	labelset_id k = labelset_hold(v, ns, ab, 2);
	assert_int_equal(labelset_hold(v, ns, ba, 2), k);
	assert_int_equal(labelset_hold(v, ns, twice, 3), k);
	assert_int_not_equal(labelset_hold(v, NAME_NONE, ab, 2), k);
	assert_int_not_equal(labelset_hold(v, ns, ab, 1), k);
	assert_int_not_equal(labelset_hold(v, ns, NULL, 0), k);
	name_id value;
	assert_int_equal(labelset_get(v, k)->ns, ns);
	assert_int_equal(labelset_get(v, k)->labels.n, 2);
	assert_true(labels_get(&labelset_get(v, k)->labels, b, &value));
	assert_int_equal(value, a);
}

static void a_labelset_with_many_labels(void **state)
{
	struct vocab *v = *state;
	struct name_bag bag = name_bag_of(vocab_names(v));
	struct label kv[100], back[100];
	for (uint32_t i = 0; i < 100; i++) {
		char s[8];
		int n = snprintf(s, sizeof(s), "k%u", i);
		kv[i].key = back[99 - i].key = name_bag_add(&bag, s, (size_t)n);
		kv[i].value = back[99 - i].value = NAME_NONE;
	}
	labelset_id k = labelset_hold(v, NAME_NONE, kv, 100);
	assert_int_equal(labelset_hold(v, NAME_NONE, back, 100), k);
	name_bag_drop(&bag);
	assert_int_equal(names_count(vocab_names(v)), names_at_start + 100);
	labelset_drop(v, k);
	labelset_drop(v, k);
	assert_int_equal(names_count(vocab_names(v)), names_at_start);
}

static void a_freed_labelset_is_empty(void **state)
{
	struct vocab *v = *state;
	name_id ns = names_hold_str(vocab_names(v), "prod");
	labelset_id k = labelset_hold(v, ns, NULL, 0);
	names_drop(vocab_names(v), ns);
	labelset_keep(v, k);
	labelset_drop(v, k);
	assert_true(labelset_is_live(v, k));
	labelset_drop(v, k);
	assert_false(labelset_is_live(v, k));
	assert_false(labelset_is_live(v, LABELSET_NONE));
	assert_int_equal(labelset_limit(v), 1);
	assert_int_equal(labelset_get(v, k)->ns, NAME_NONE);
	assert_int_equal(labelset_get(v, k)->labels.n, 0);
	labelset_drop(v, LABELSET_NONE);
	labelset_keep(v, LABELSET_NONE);
	assert_int_equal(labelset_hold(v, NAME_NONE, NULL, 0), k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_says_the_same_is_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(a_shape_is_kept_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(shapes_differ_if_their_words_do, setup, teardown),
		cmocka_unit_test_setup_teardown(every_field_tells_shapes_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(a_shape_lives_until_the_last_holder_lets_go, setup, teardown),
		cmocka_unit_test_setup_teardown(churn_leaves_no_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(labelsets_are_one_for_any_order_of_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(a_labelset_with_many_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(a_freed_labelset_is_empty, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
