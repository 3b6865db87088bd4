/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/queue.h"

static struct names *names;
static struct res_types types;
static res_id gpu;

static int setup(void **state)
{
	names = names_new();
	res_types_init(&types, names);
	return res_types_add(&types, "nvidia.com/gpu", 14, &gpu, NULL);
}

static int teardown(void **state)
{
	res_types_free(&types);
	assert_int_equal(names_count(names), 0);
	names_free(names);
	return 0;
}

static void add_limit(struct queue_spec *s, const char *user, uint64_t max_apps)
{
	struct queue_limit l = {.text = name_bag_add_str(&s->bag, "for all"), .n_users = 1, .max_apps = max_apps};
	l.users = mem_alloc(sizeof(name_id));
	l.users[0] = name_bag_add_str(&s->bag, user);
	s->limits = mem_resize(s->limits, s->n_limits + 1, sizeof(l));
	s->limits[s->n_limits++] = l;
}

static void say_prop(struct queue_spec *s, const char *key, const char *value)
{
	assert_true(queue_prop_set(&s->props, key, value, NULL));
}

/* Every way to say something, by number, in two variants that contradict each other. */
enum { SAYS = 18 };

static void say(struct queue_spec *s, int what, int variant)
{
	struct queue_template *tpl = what >= 5 && what <= 8 ? queue_spec_template(s) : NULL;

	switch (what) {
	case 0:
		res_put(&s->guaranteed, RES_CPU, variant ? 8000 : 4000);
		break;
	case 1:
		res_put(&s->max, gpu, variant ? 3 : 2);
		break;
	case 2:
		say_prop(s, "preemption.delay", variant ? "10s" : "1m");
		break;
	case 3:
		say_prop(s, "preemption.policy", variant ? "fence" : "disabled");
		break;
	case 4:
		s->max_apps = variant ? 5 : 6;
		break;
	case 5:
		res_put(&tpl->guaranteed, RES_CPU, variant ? 1000 : 2000);
		break;
	case 6:
		res_put(&tpl->max, RES_MEMORY, variant ? 1 << 20 : 2 << 20);
		break;
	case 7:
		assert_true(queue_prop_set(&tpl->props, "priority.offset", variant ? "1" : "2", NULL));
		break;
	case 8:
		tpl->max_apps = variant ? 1 : 2;
		break;
	case 9:
		add_limit(s, variant ? "ann" : "bob", 3);
		break;
	case 10:
		s->submit_acl = name_bag_add_str(&s->bag, variant ? "*" : "ann");
		break;
	case 11:
		s->admin_acl = name_bag_add_str(&s->bag, variant ? "ops" : "dev");
		break;
	case 12:
		s->kai_name = name_bag_add_str(&s->bag, variant ? "team" : "squad");
		break;
	case 13:
		s->has_kai_resources = true;
		for (int i = 0; i < KAI_RES; i++)
			s->kai[i] = (struct kai_share){.limit = -1, .over_quota_weight = variant};
		break;
	case 14:
		s->kai_priority = variant ? 1 : 2;
		break;
	case 15:
		s->preempt_min_runtime_ns = variant ? 0 : NS_PER_S;
		break;
	case 16:
		s->reclaim_min_runtime_ns = variant ? 600 * NS_PER_S : 0;
		break;
	case 17:
		say_prop(s, "application.sort.policy", variant ? "fair" : "fifo");
		break;
	default:
		fail();
	}
}

static const char *const conflicts[SAYS] = {
	"guaranteed cpu: one definition says 4, the other 8",
	"max nvidia.com/gpu: one definition says 2, the other 3",
	"property preemption.delay: one definition says 1m0s, the other 10s",
	"property preemption.policy: one definition says disabled, the other fence",
	"maxapplications: one definition says 6, the other 5",
	"childtemplate guaranteed cpu: one definition says 2, the other 1",
	"childtemplate max memory: one definition says 2Mi, the other 1Mi",
	"childtemplate property priority.offset: one definition says 2, the other 1",
	"childtemplate maxapplications: one definition says 2, the other 1",
	("limits: one definition says 'for all' (users bob; maxapplications 3), "
	 "the other 'for all' (users ann; maxapplications 3)"),
	"submitacl: one definition says 'ann', the other '*'",
	"adminacl: one definition says 'dev', the other 'ops'",
	"name of the Queue object: one definition says 'squad', the other 'team'",
	"gpu overQuotaWeight: one definition says 0, the other 1",
	"priority: one definition says 2, the other 1",
	"preemptMinRuntime: one definition says 1s, the other 0s",
	"reclaimMinRuntime: one definition says 0s, the other 10m0s",
	"property application.sort.policy: one definition says fifo, the other fair",
};

static struct queue_spec told(int what, int variant)
{
	struct queue_spec s;
	queue_spec_init(&s, names);
	if (what >= 0)
		say(&s, what, variant);
	return s;
}

static void tell_vec(const struct res_vec *v, const char *what, struct text *out)
{
	text_printf(out, " %s ", what);
	res_vec_text(&types, v, out);
}

static void tell_props(const struct queue_props *p, struct text *out)
{
	text_printf(out, " props %u", (unsigned)p->stated);
	for (uint32_t which = 1; which <= STATED_BACKOFF_DELAY; which <<= 1) {
		text_add_char(out, ' ');
		queue_prop_text(p, which, out);
	}
}

static void tell(const struct queue_spec *s, struct text *out)
{
	text_reset(out);
	text_printf(out, "from %u parent %d apps %d", (unsigned)s->sources, s->is_parent, (int)s->max_apps);
	tell_vec(&s->guaranteed, "guaranteed", out);
	tell_vec(&s->max, "max", out);
	tell_props(&s->props, out);
	if (s->child_template) {
		text_printf(out, " template %d", (int)s->child_template->max_apps);
		tell_vec(&s->child_template->guaranteed, "guaranteed", out);
		tell_vec(&s->child_template->max, "max", out);
		tell_props(&s->child_template->props, out);
	}
	for (uint32_t i = 0; i < s->n_limits; i++)
		text_printf(out, " limit %s %s %d", name_str(names, s->limits[i].text),
			    name_str(names, s->limits[i].users[0]), (int)s->limits[i].max_apps);
	text_printf(out, " acl %s %s kai %s %d %d %g %lld %lld", name_str(names, s->submit_acl),
		    name_str(names, s->admin_acl), name_str(names, s->kai_name), s->has_kai_resources, s->kai_priority,
		    s->kai[KAI_GPU].over_quota_weight, (long long)s->preempt_min_runtime_ns,
		    (long long)s->reclaim_min_runtime_ns);
}

static void ONE_2_what_both_state_must_be_equal(void **state)
{
	for (int what = 0; what < SAYS; what++) {
		struct queue_spec a = told(what, 0), b = told(what, 1), same = told(what, 0);
		struct text before = {0}, after = {0};
		struct err e;
		say(&b, what == 4 ? 1 : 4, 0); /* must not be taken over when the rest is refused */
		tell(&a, &before);
		assert_int_equal(queue_spec_merge(&a, &b, &types, &e), ERR_CONFLICT);
		assert_string_equal(e.msg, conflicts[what]);
		tell(&a, &after);
		assert_string_equal(after.s, before.s);
		assert_int_equal(queue_spec_merge(&a, &same, &types, &e), ERR_OK);
		tell(&a, &after);
		assert_string_equal(after.s, before.s);
		text_free(&before);
		text_free(&after);
		queue_spec_free(&a);
		queue_spec_free(&b);
		queue_spec_free(&same);
	}
}

static void ONE_2_what_one_states_is_taken_over(void **state)
{
	struct text one = {0}, merged = {0};
	for (int a = 0; a < SAYS; a++) {
		for (int b = 0; b < SAYS; b++) {
			struct queue_spec both = told(a, 1), x = told(a, 1), y = told(b, 1);
			if (a != b)
				say(&both, b, 1);
			both.sources = FROM_YUNIKORN | FROM_KAI;
			x.sources = FROM_YUNIKORN;
			y.sources = FROM_KAI;
			assert_int_equal(queue_spec_merge(&x, &y, &types, NULL), ERR_OK);
			queue_spec_free(&y); /* the names are held by x now */
			tell(&both, &one);
			tell(&x, &merged);
			assert_string_equal(merged.s, one.s);
			queue_spec_free(&x);
			queue_spec_free(&both);
		}
	}
	text_free(&one);
	text_free(&merged);
}

static void ONE_2_types_are_compared_one_by_one(void **state)
{
	struct queue_spec a = told(0, 0), b = told(-1, 0);
	res_put(&b.guaranteed, RES_MEMORY, 1 << 30);
	b.is_parent = true;
	assert_int_equal(queue_spec_merge(&a, &b, &types, NULL), ERR_OK);
	assert_int_equal(a.guaranteed.v[RES_CPU], 4000);
	assert_int_equal(a.guaranteed.v[RES_MEMORY], 1 << 30);
	assert_true(a.is_parent);
	queue_spec_free(&a);
	queue_spec_free(&b);
}

static void ONE_2_quota_and_guaranteed_are_one_thing(void **state)
{
	static const struct {
		const char *why;
		int64_t guaranteed, max; /* of GPUs; -1: not stated */
		double quota, limit;
		const char *conflict;
	} rows[] = {
		{"the same", 4, 8, 4, 8, NULL},
		{"only one states it", -1, -1, 4, 8, NULL},
		{"quota 0 is no quota", 4, -1, 0, -1, NULL},
		{"no limit contradicts no maximum", -1, 8, 0, -1, NULL},
		{"a limit that was left out is zero", 4, 8, 4, 0, NULL},
		{"another quota", 4, -1, 5, -1,
		 "guaranteed (quota) nvidia.com/gpu: one definition says 4, the other 5"},
		{"a quota without end", 4, -1, -1, -1,
		 "guaranteed (quota) nvidia.com/gpu: one definition says 4, the other unlimited"},
		{"another limit", 4, 8, 4, 9, "max (limit) nvidia.com/gpu: one definition says 8, the other 9"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (int turn = 0; turn < 2; turn++) {
			struct queue_spec y = told(-1, 0), k = told(-1, 0);
			struct err e = {0};
			if (rows[i].guaranteed >= 0)
				res_put(&y.guaranteed, gpu, rows[i].guaranteed);
			if (rows[i].max >= 0)
				res_put(&y.max, gpu, rows[i].max);
			k.has_kai_resources = true;
			k.kai[KAI_GPU] = (struct kai_share){.quota = rows[i].quota, .limit = rows[i].limit};
			enum err_code code =
				turn ? queue_spec_merge(&y, &k, &types, &e) : queue_spec_merge(&k, &y, &types, &e);
			if ((code == ERR_OK) != (rows[i].conflict == NULL))
				fail_msg("%s: %s", rows[i].why, e.msg);
			if (code != ERR_OK)
				assert_string_equal(e.msg, rows[i].conflict);
			queue_spec_free(&y);
			queue_spec_free(&k);
		}
	}
}

static void ONE_2_megabytes_need_not_be_bytes(void **state)
{
	struct queue_spec y = told(-1, 0), k = told(-1, 0);
	res_put(&y.guaranteed, RES_MEMORY, INT64_C(16) << 30); /* 17179.87 megabytes */
	k.has_kai_resources = true;
	k.kai[KAI_MEMORY].quota = 17180;
	assert_int_equal(queue_spec_merge(&k, &y, &types, NULL), ERR_OK);
	k.kai[KAI_MEMORY].quota = 17181;
	assert_int_equal(queue_spec_merge(&k, &y, &types, NULL), ERR_CONFLICT);
	queue_spec_free(&y);
	queue_spec_free(&k);
}

static void shares_of_KAI_as_amounts(void **state)
{
	static const struct {
		const char *why;
		double quota, limit;
		int64_t guaranteed, max; /* -1: not stated */
	} rows[] = {
		{"whole numbers", 4, 8, 4, 8},
		{"without end", -1, -1, RES_UNLIMITED, -1},
		{"nothing deserved, nothing allowed", 0, 0, -1, 0},
		{"half a GPU deserved is one, half a GPU allowed is none", 0.5, 0.5, 1, 0},
		{"absurd numbers are cut", 1e30, 1e30, RES_AMOUNT_MAX, RES_AMOUNT_MAX},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct queue_spec s = told(-1, 0);
		struct res_vec g, m;
		s.kai[KAI_GPU] = (struct kai_share){.quota = rows[i].quota, .limit = rows[i].limit};
		queue_kai_vectors(&s, gpu, &g, &m);
		assert_int_equal(g.mask | m.mask, 0);
		s.has_kai_resources = true;
		queue_kai_vectors(&s, gpu, &g, &m);
		if ((res_has(&g, gpu) ? g.v[gpu] : -1) != rows[i].guaranteed ||
		    (res_has(&m, gpu) ? m.v[gpu] : -1) != rows[i].max)
			fail_msg("%s", rows[i].why);
		queue_kai_vectors(&s, RES_NONE, &g, &m);
		assert_int_equal(g.mask, 0);
		assert_int_equal(m.mask, 1 << RES_CPU | 1 << RES_MEMORY);
		queue_spec_free(&s);
	}
	struct queue_spec s = told(-1, 0);
	struct res_vec g, m;
	s.has_kai_resources = true;
	s.kai[KAI_CPU].quota = 1500;
	s.kai[KAI_MEMORY].quota = 2;
	queue_kai_vectors(&s, gpu, &g, &m);
	assert_int_equal(g.v[RES_CPU], 1500);
	assert_int_equal(g.v[RES_MEMORY], 2000000);
	queue_spec_free(&s);
}

static void only_positive_resources_are_set(void **state)
{
	static const struct {
		const char *why;
		int64_t cpu, memory;
		bool is_kept;
	} rows[] = {
		{"a positive amount", 1, 1, true},
		{"a zero beside a positive one blocks that type", 1, 0, true},
		{"zeros alone state nothing", 0, 0, false},
		{"a negative amount spoils it", 1, -1, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct res_vec v = {0};
		res_put(&v, RES_CPU, rows[i].cpu);
		res_put(&v, RES_MEMORY, rows[i].memory);
		queue_res_settle(&v);
		if ((v.mask == (1 << RES_CPU | 1 << RES_MEMORY)) != rows[i].is_kept ||
		    (!rows[i].is_kept && v.mask != 0))
			fail_msg("%s", rows[i].why);
	}
}

static void GQ_14_dynamic_queues_get_the_template(void **state)
{
	struct queue_spec parent = told(5, 1), leaf, branch;
	say(&parent, 7, 1);
	say(&parent, 8, 1);
	say(&parent, 0, 1);
	say(&parent, 3, 1);
	queue_spec_dynamic(&leaf, &parent, true, names);
	assert_int_equal(leaf.sources, FROM_TEMPLATE);
	assert_false(leaf.is_parent || leaf.child_template);
	assert_int_equal(leaf.guaranteed.v[RES_CPU], 1000);
	assert_int_equal(leaf.props.stated, STATED_PRIORITY_OFFSET);
	assert_int_equal(leaf.props.priority_offset, 1);
	assert_int_equal(leaf.max_apps, 1);
	queue_spec_dynamic(&branch, &parent, false, names);
	assert_true(branch.is_parent && branch.child_template);
	assert_int_equal(branch.guaranteed.mask, 0);
	assert_int_equal(branch.props.stated, 0);
	queue_spec_free(&leaf);
	queue_spec_dynamic(&leaf, &branch, true, names);
	assert_int_equal(leaf.guaranteed.v[RES_CPU], 1000);
	queue_spec_free(&leaf);
	queue_spec_free(&branch);
	queue_spec_free(&parent);
	parent = told(0, 0);
	queue_spec_dynamic(&leaf, &parent, true, names);
	assert_int_equal(leaf.guaranteed.mask, 0);
	queue_spec_free(&leaf);
	queue_spec_free(&parent);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ONE_2_what_both_state_must_be_equal), TEST(ONE_2_what_one_states_is_taken_over),
		TEST(ONE_2_types_are_compared_one_by_one), TEST(ONE_2_quota_and_guaranteed_are_one_thing),
		TEST(ONE_2_megabytes_need_not_be_bytes),   TEST(shares_of_KAI_as_amounts),
		TEST(only_positive_resources_are_set),	   TEST(GQ_14_dynamic_queues_get_the_template),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
