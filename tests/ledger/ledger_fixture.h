/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_fixture.h - a small cluster for tests of the ledger: three queues (root.a.x, root.a.y, root.b), resource type
 * gpu, and short ways to make objects. Everything a test makes goes into the ledger; fix_free finds leaks of names,
 * shapes and label sets.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger/ledger.h"
#include "vocab_fixture.h"

struct fix {
	struct vocab *v;
	struct names *names;
	struct ledger *l;
	res_id gpu;
	queue_id a, x, y, b; /* a has the leaves x and y */
};

static inline res_id fix_type(struct fix *f, const char *name)
{
	res_id r;
	assert_int_equal(res_types_add(vocab_res(f->v), name, strlen(name), &r, NULL), ERR_OK);
	return r;
}

static inline queue_id fix_queue(struct fix *f, queue_id parent, const char *segment)
{
	struct queue_spec spec;
	queue_id q;
	queue_spec_init(&spec, f->names);
	assert_int_equal(ledger_queue_add(f->l, parent, segment, strlen(segment), &spec, &q, NULL), ERR_OK);
	return q;
}

static inline void fix_init(struct fix *f)
{
	f->v = vocab_new();
	f->names = vocab_names(f->v);
	f->gpu = fix_type(f, "nvidia.com/gpu");
	f->l = ledger_new(f->v);
	f->a = fix_queue(f, QUEUE_ROOT, "a");
	f->x = fix_queue(f, f->a, "x");
	f->y = fix_queue(f, f->a, "y");
	f->b = fix_queue(f, QUEUE_ROOT, "b");
	ledger_commit(f->l);
	ledger_check_always(f->l, true);
}

static inline void fix_free(struct fix *f)
{
	ledger_free(f->l);
	vocab_free_empty(f->v);
}

static inline name_id fix_name(struct fix *f, const char *s)
{
	return names_hold_str(f->names, s);
}

/* A name that somebody holds. */
static inline name_id fix_known(const struct fix *f, const char *s)
{
	name_id id = names_find(f->names, s, strlen(s));
	assert_int_not_equal(id, NAME_NONE);
	return id;
}

/* "app=web,tier=1" */
static inline labelset_id fix_labelset(struct fix *f, const char *ns, const char *labels)
{
	struct name_bag bag = name_bag_of(f->names);
	struct label kv[8];
	uint32_t n = 0;
	name_id ns_id = name_bag_add_str(&bag, ns);
	for (const char *s = labels; *s != '\0';) {
		size_t key = strcspn(s, "="), value = strcspn(s + key + 1, ",");
		assert_true(n < 8);
		kv[n].key = name_bag_add(&bag, s, key);
		kv[n++].value = name_bag_add(&bag, s + key + 1, value);
		s += key + 1 + value;
		s += *s == ',';
	}
	labelset_id labelset = labelset_hold(f->v, ns_id, kv, n);
	name_bag_drop(&bag);
	return labelset;
}

struct fix_amounts {
	int64_t cpu, memory, gpu;
};

static inline uint32_t fix_list(const struct fix *f, const struct fix_amounts *a, struct res_amount *v)
{
	uint32_t n = 0;
	v[n++] = (struct res_amount){RES_CPU, a->cpu};
	v[n++] = (struct res_amount){RES_MEMORY, a->memory};
	if (a->gpu != 0)
		v[n++] = (struct res_amount){f->gpu, a->gpu};
	return n;
}

static inline shape_id fix_shape_of(struct fix *f, struct fix_amounts request, struct fix_amounts usage)
{
	struct res_amount r[3], u[3];
	struct shape draft = {.request = {fix_list(f, &request, r), r}, .usage = {fix_list(f, &usage, u), u}};
	return shape_hold(f->v, &draft);
}

static inline shape_id fix_shape(struct fix *f, int64_t cpu, int64_t memory, int64_t gpu)
{
	struct fix_amounts a = {cpu, memory, gpu};
	return fix_shape_of(f, a, a);
}

/* Takes the shape over. */
static inline struct obj_pod fix_pod_object(struct fix *f, const char *ns, const char *name, const char *labels,
					    shape_id shape)
{
	return (struct obj_pod){.name = fix_name(f, name),
				.labelset = fix_labelset(f, ns, labels),
				.shape = shape,
				.created_ns = TIME_NONE,
				.started_ns = TIME_NONE,
				.scheduled_ns = TIME_NONE,
				.deleted_ns = TIME_NONE,
				.checkpointed_ns = TIME_NONE};
}

static inline struct pod_entry fix_waiting(queue_id queue)
{
	return (struct pod_entry){.state = POD_WAITING,
				  .node = NODE_NONE,
				  .queue = queue,
				  .group = GROUP_NONE,
				  .podset = PODSET_NONE,
				  .started_ns = TIME_NONE,
				  .nominated_node = NODE_NONE};
}

static inline struct pod_entry fix_on(queue_id queue, enum pod_state state, node_id node)
{
	struct pod_entry entry = fix_waiting(queue);
	entry.state = state;
	entry.node = node;
	return entry;
}

static inline pod_id fix_add(struct fix *f, struct obj_pod o, struct pod_entry entry)
{
	pod_id id;
	assert_int_equal(ledger_pod_add(f->l, &o, &entry, &id, NULL), ERR_OK);
	assert_int_equal(o.labelset, LABELSET_NONE);
	return id;
}

/* A pod of namespace ns with label app=<its name's first letter>, of cpu 1000, memory 10, gpu 1. */
static inline pod_id fix_pod(struct fix *f, const char *name, struct pod_entry entry)
{
	char labels[8];
	snprintf(labels, sizeof(labels), "app=%c", name[0]);
	return fix_add(f, fix_pod_object(f, "ns", name, labels, fix_shape(f, 1000, 10, 1)), entry);
}

static inline struct obj_node fix_node_object(struct fix *f, const char *name, int64_t cpu, int64_t memory, int64_t gpu)
{
	struct obj_node o = {
		.name = fix_name(f, name), .labelset = fix_labelset(f, "", "zone=1"), .bag = name_bag_of(f->names)};
	res_put(&o.allocatable, RES_CPU, cpu);
	res_put(&o.allocatable, RES_MEMORY, memory);
	res_put(&o.allocatable, RES_PODS, 110);
	if (gpu > 0)
		res_put(&o.allocatable, f->gpu, gpu);
	return o;
}

static inline node_id fix_node(struct fix *f, const char *name)
{
	struct obj_node o = fix_node_object(f, name, 8000, 100, 8);
	return ledger_node_add(f->l, &o);
}

/* subgroups: "workers:2,master" and so on; "" for none. */
static inline struct obj_group fix_group_object(struct fix *f, const char *name, int32_t min, const char *subgroups)
{
	struct obj_group o = {.ns = fix_name(f, "ns"),
			      .name = fix_name(f, name),
			      .min_member = min,
			      .created_ns = TIME_NONE,
			      .started_ns = TIME_NONE,
			      .stale_ns = TIME_NONE,
			      .bag = name_bag_of(f->names)};
	o.subgroups = mem_alloc(8 * sizeof(*o.subgroups));
	for (const char *s = subgroups; *s != '\0';) {
		size_t len = strcspn(s, ":,");
		assert_true(o.n_subgroups < 8);
		struct obj_subgroup *sub = &o.subgroups[o.n_subgroups++];
		sub->name = name_bag_add(&o.bag, s, len);
		s += len;
		if (*s == ':')
			sub->min_member = (int32_t)strtol(s + 1, (char **)&s, 10);
		s += *s == ',';
	}
	return o;
}

static inline group_id fix_group(struct fix *f, const char *name, queue_id queue, int32_t min, const char *subgroups)
{
	struct obj_group o = fix_group_object(f, name, min, subgroups);
	return ledger_group_add(f->l, &o, queue, 50, PREEMPTIBLE);
}

static inline struct pod_entry fix_of_group(const struct fix *f, struct pod_entry entry, group_id group,
					    uint32_t podset)
{
	entry.group = group;
	entry.podset = ledger_group(f->l, group)->first_podset + podset;
	return entry;
}

/* selector NULL: missing. disrupted: one name or NULL. */
static inline struct obj_pdb fix_pdb_object(struct fix *f, const char *ns, const char *name, const char *selector,
					    const char *disrupted)
{
	struct obj_pdb o = {
		.ns = fix_name(f, ns), .name = fix_name(f, name), .bag = name_bag_of(f->names), .allowed = 1};
	o.arena = arena_new(512);
	if (selector == NULL)
		o.selector = SELECTOR_NOTHING;
	else
		assert_int_equal(selector_parse(o.arena, &o.bag, selector, strlen(selector), &o.selector, NULL),
				 ERR_OK);
	if (disrupted != NULL) {
		o.disrupted = mem_alloc(sizeof(*o.disrupted));
		o.disrupted[o.n_disrupted++] = name_bag_add_str(&o.bag, disrupted);
	}
	return o;
}

static inline pdb_id fix_pdb(struct fix *f, const char *ns, const char *name, const char *selector,
			     const char *disrupted)
{
	struct obj_pdb o = fix_pdb_object(f, ns, name, selector, disrupted);
	return ledger_pdb_add(f->l, &o);
}
