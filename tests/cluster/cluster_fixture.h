/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_fixture.h - objects in a line of text each, for tests of the cluster.
 *
 *	put_pod(&f, (struct pod_is){.name = "a", .node = "n1", .kai_queue = "team"});
 *
 * Everything left out is not said. Namespaces are "ns" unless given. Every step is checked: the ledger recomputes all
 * it derives.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/cluster.h"
#include "ledger/vocab_fixture.h"

struct fix {
	struct vocab *v;
	struct names *names;
	struct cluster *c;
	struct ledger *l;
};

static inline void fix_init_as(struct fix *f, struct cluster_options o)
{
	f->v = vocab_new();
	f->names = vocab_names(f->v);
	f->c = cluster_new(f->v, &o);
	f->l = cluster_ledger(f->c);
	ledger_check_always(f->l, true);
}

static inline void fix_init(struct fix *f, enum profile profile)
{
	struct cluster_options o = cluster_options_default();

	o.profile = profile;
	fix_init_as(f, o);
}

static inline void fix_free(struct fix *f)
{
	cluster_free(f->c);
	vocab_free_empty(f->v);
}

static inline name_id hold(struct fix *f, const char *s)
{
	return names_hold_str(f->names, s);
}

/* "app=web,tier=1"; NULL: none */
static inline labelset_id hold_labelset(struct fix *f, const char *ns, const char *labels)
{
	struct name_bag bag = name_bag_of(f->names);
	struct label kv[8];
	uint32_t n = 0;
	name_id ns_id = name_bag_add_str(&bag, ns);

	for (const char *s = labels != NULL ? labels : ""; *s != '\0';) {
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

#define AT(t) (INT64_C(1800000000) * NS_PER_S + (t)) /* times in tests are counted from here */
#define TOO_EARLY (INT64_C(-1700000000) * NS_PER_S)  /* in 1973 */
#define SAID(t) ((t) != 0 ? AT(t) : TIME_NONE)	     /* and are never 0 */
#define OR(s, otherwise) ((s) != NULL ? (s) : (otherwise))

/* ---- pods ---- */

struct pod_is {
	const char *ns, *name, *uid, *labels, *node, *nominated, *class, *group, *k8s_group, *subgroup, *kai_queue,
		*yunikorn_queue, *user, *groups;
	enum owner_kind owner_kind;
	const char *owner;
	enum pod_phase phase;
	const int32_t *priority;
	int64_t created, started, scheduled, deleted;
	int64_t cpu; /* 1000 unless said */
};

#define PRIORITY(p) (&(const int32_t){p})

static inline enum preemptibility label_value(const char *labels)
{
	static const char key[] = "kai.scheduler/preemptibility=";
	enum preemptibility p = PREEMPTIBILITY_UNSET;
	const char *at = labels != NULL ? strstr(labels, key) : NULL;
	char value[64] = "";

	if (at != NULL) {
		at += strlen(key);
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, ","), at);
		preemptibility_parse(value, &p);
	}
	return p;
}

static inline struct obj_pod pod_object(struct fix *f, const struct pod_is *p)
{
	struct res_amount amount = {RES_CPU, p->cpu != 0 ? p->cpu : 1000};
	struct shape draft = {.request = {1, &amount}, .usage = {1, &amount}};

	struct obj_pod o = {
		.name = hold(f, p->name),
		.uid = uid_of_name(hold(f, p->uid)),
		.labelset = hold_labelset(f, OR(p->ns, "ns"), p->labels),
		.shape = shape_hold(f->v, &draft),
		.node_name = hold(f, p->node),
		.nominated_node = hold(f, p->nominated),
		.has_priority = p->priority != NULL,
		.priority = p->priority != NULL ? *p->priority : 0,
		.priority_class = hold(f, p->class),
		.phase = p->phase,
		.created_ns = SAID(p->created),
		.started_ns = SAID(p->started),
		.scheduled_ns = SAID(p->scheduled),
		.deleted_ns = SAID(p->deleted),
		.checkpointed_ns = TIME_NONE,
		.owner_kind = p->owner_kind,
		.owner_name = hold(f, p->owner),
		.group = hold(f, OR(p->group, p->k8s_group)),
		.group_is_k8s = p->k8s_group != NULL,
		.kai_queue = hold(f, p->kai_queue),
		.yunikorn_queue = hold(f, p->yunikorn_queue),
		.preemptibility = label_value(p->labels),
	};

	if (p->subgroup || p->user || p->groups)
		*obj_pod_extra(&o) = (struct pod_extra){
			.subgroup = hold(f, p->subgroup), .user = hold(f, p->user), .user_groups = hold(f, p->groups)};
	return o;
}

static inline pod_id put_pod(struct fix *f, struct pod_is p)
{
	struct err e = {0};
	struct obj_pod o = pod_object(f, &p);

	if (cluster_put_pod(f->c, &o, &e) != ERR_OK)
		fail_msg("%s", e.msg);
	assert_int_equal(o.labelset, LABELSET_NONE); /* moved in */
	pod_id id = cluster_find_pod(f->c, OR(p.ns, "ns"), p.name);
	assert_int_not_equal(id, POD_NONE);
	return id;
}

static inline const struct pod *pod_in(const struct fix *f, const char *ns, const char *name)
{
	pod_id id = cluster_find_pod(f->c, ns, name);

	assert_int_not_equal(id, POD_NONE);
	return ledger_pod(f->l, id);
}

static inline const struct pod *pod_of(const struct fix *f, const char *name)
{
	return pod_in(f, "ns", name);
}

/* Path of a pod's queue; "?name" for one that waits for a queue. */
static inline const char *queue_path_in(const struct fix *f, const char *ns, const char *name)
{
	static char text[256];
	const struct pod *p = pod_in(f, ns, name);

	if (p->queue != QUEUE_NONE)
		return name_str(f->names, queue_get(ledger_queues(f->l), p->queue)->path);
	snprintf(text, sizeof(text), "?%s", cluster_wanted_queue(f->c, cluster_find_pod(f->c, ns, name)));
	return text;
}

static inline const char *queue_path(const struct fix *f, const char *name)
{
	return queue_path_in(f, "ns", name);
}

/* ---- groups ---- */

struct group_is {
	const char *name, *queue, *class, *subgroups; /* "workers:2,master:1" */
	bool is_k8s;
	int32_t min;
	const int32_t *priority;
	enum preemptibility preemptibility;
	int64_t started;
};

static inline struct obj_group group_object(struct fix *f, const struct group_is *g)
{
	struct obj_group o = {
		.ns = hold(f, "ns"),
		.name = hold(f, g->name),
		.is_k8s = g->is_k8s,
		.min_member = g->min,
		.queue = hold(f, g->queue),
		.priority_class = hold(f, g->class),
		.has_priority = g->priority != NULL,
		.priority = g->priority != NULL ? *g->priority : 0,
		.preemptibility = g->preemptibility,
		.created_ns = TIME_NONE,
		.started_ns = SAID(g->started),
		.stale_ns = TIME_NONE,
		.bag = name_bag_of(f->names),
	};

	o.subgroups = g->subgroups != NULL ? mem_alloc(8 * sizeof(*o.subgroups)) : NULL;
	for (const char *s = OR(g->subgroups, ""); *s != '\0';) {
		size_t len = strcspn(s, ":");
		struct obj_subgroup *sub = &o.subgroups[o.n_subgroups++];
		sub->name = name_bag_add(&o.bag, s, len);
		sub->min_member = (int32_t)strtol(s + len + 1, (char **)&s, 10);
		s += *s == ',';
	}
	return o;
}

static inline group_id put_group(struct fix *f, struct group_is g)
{
	struct obj_group o = group_object(f, &g);

	assert_int_equal(cluster_put_group(f->c, &o, NULL), ERR_OK);
	return ledger_group_find(f->l, names_find(f->names, "ns", 2), names_find(f->names, g.name, strlen(g.name)),
				 g.is_k8s);
}

/* ---- the rest ---- */

static inline void put_node(struct fix *f, const char *name)
{
	struct obj_node o = {
		.name = hold(f, name), .labelset = hold_labelset(f, "", NULL), .bag = name_bag_of(f->names)};

	res_put(&o.allocatable, RES_CPU, 8000);
	res_put(&o.allocatable, RES_PODS, 110);
	assert_int_equal(cluster_put_node(f->c, &o, NULL), ERR_OK);
}

static inline void put_class(struct fix *f, const char *name, int32_t value, bool is_default)
{
	struct obj_class o = {.name = hold(f, name), .value = value, .is_default = is_default};

	assert_int_equal(cluster_put_class(f->c, &o, NULL), ERR_OK);
}

struct namespace_is {
	const char *name, *parent_queue;
	const int64_t *max_cpu, *guaranteed_cpu; /* in thousandths; NULL: not said */
	uint64_t max_apps;
};

#define CPU(n) (&(const int64_t){n})

static inline void put_namespace_as(struct fix *f, struct namespace_is n)
{
	struct obj_namespace o = {.name = hold(f, n.name),
				  .labelset = hold_labelset(f, "", NULL),
				  .parent_queue = hold(f, n.parent_queue),
				  .has_quota = n.max_cpu != NULL,
				  .has_guaranteed = n.guaranteed_cpu != NULL,
				  .max_apps = n.max_apps};

	if (n.max_cpu != NULL)
		res_put(&o.quota, RES_CPU, *n.max_cpu);
	if (n.guaranteed_cpu != NULL)
		res_put(&o.guaranteed, RES_CPU, *n.guaranteed_cpu);
	assert_int_equal(cluster_put_namespace(f->c, &o, NULL), ERR_OK);
}

static inline void put_namespace(struct fix *f, const char *name, const char *parent_queue)
{
	put_namespace_as(f, (struct namespace_is){.name = name, .parent_queue = parent_queue});
}

struct owner_is {
	enum owner_kind kind;
	bool is_service, has_selector;
	const char *kind_name, *name, *labels, *parent_kind, *parent;
};

static inline void put_owner(struct fix *f, struct owner_is w)
{
	struct obj_owner o = {
		.kind = w.kind,
		.is_service = w.is_service,
		.kind_name = hold(f, w.kind_name),
		.name = hold(f, w.name),
		.labelset = hold_labelset(f, "ns", w.labels),
		.parent_kind = hold(f, w.parent_kind),
		.parent_name = hold(f, w.parent),
		.has_selector = w.has_selector,
		.bag = name_bag_of(f->names),
		.replicas = -1,
	};

	assert_int_equal(cluster_put_owner(f->c, &o, NULL), ERR_OK);
	assert_int_equal(o.labelset, LABELSET_NONE);
}

static inline void put_pdb(struct fix *f, const char *name, int32_t allowed)
{
	struct obj_pdb o = {
		.ns = hold(f, "ns"), .name = hold(f, name), .allowed = allowed, .bag = name_bag_of(f->names)};

	assert_int_equal(cluster_put_pdb(f->c, &o, NULL), ERR_OK);
}

/* ---- queues ---- */

struct queue_is {
	const char *path;	  /* YuniKorn's */
	const char *kai, *parent; /* KAI's */
	int64_t guaranteed_cpu;	  /* YuniKorn's, in thousandths; 0: not stated */
	bool is_parent;
	const char *submit, *admin;  /* YuniKorn's access lists */
	int64_t template_max_cpu;    /* YuniKorn's template, if it is not 0 */
	const char *template_policy; /* its preemption.policy */
	const char *delay;	     /* preemption.delay */
	const double *gpu;	     /* KAI's: quota, limit, weight; cpu and memory are unlimited */
	const char *where;
};

#define GPU(quota, limit) ((const double[]){quota, limit, 1})

static inline struct queue_def queue_object(struct fix *f, const struct queue_is *q)
{
	struct queue_def d = {.path = q->path, .kai_name = q->kai, .kai_parent = q->parent, .where = q->where};

	queue_spec_init(&d.spec, f->names);
	d.spec.is_parent = q->is_parent;
	if (q->guaranteed_cpu != 0)
		res_put(&d.spec.guaranteed, RES_CPU, q->guaranteed_cpu);
	d.spec.submit_acl = name_bag_add_str(&d.spec.bag, q->submit);
	d.spec.admin_acl = name_bag_add_str(&d.spec.bag, q->admin);
	if (q->delay != NULL)
		queue_prop_set(&d.spec.props, "preemption.delay", q->delay, NULL);
	if (q->template_max_cpu != 0)
		res_put(&queue_spec_template(&d.spec)->max, RES_CPU, q->template_max_cpu);
	if (q->template_policy != NULL)
		queue_prop_set(&queue_spec_template(&d.spec)->props, "preemption.policy", q->template_policy, NULL);
	if (q->kai != NULL)
		d.spec.kai_name = name_bag_add_str(&d.spec.bag, q->kai);
	if (q->gpu != NULL) {
		d.spec.has_kai_resources = true;
		d.spec.kai[KAI_GPU] = (struct kai_share){q->gpu[0], q->gpu[1], q->gpu[2]};
		d.spec.kai[KAI_CPU] = d.spec.kai[KAI_MEMORY] = (struct kai_share){-1, -1, 1};
	}
	return d;
}

#define QUEUES_MAX 16

static inline enum err_code try_queues(struct fix *f, enum queue_source source, const struct queue_is *q, uint32_t n,
				       struct err *e)
{
	struct queue_def defs[QUEUES_MAX];

	assert_true(n <= QUEUES_MAX);
	for (uint32_t i = 0; i < n; i++)
		defs[i] = queue_object(f, &q[i]);
	enum err_code code = cluster_put_queues(f->c, source, defs, n, e);
	for (uint32_t i = 0; i < n; i++) {
		if (code == ERR_OK)
			assert_int_equal(defs[i].spec.bag.ids.n, 0); /* moved in */
		queue_spec_free(&defs[i].spec);
	}
	return code;
}

#define N_OF(v) (sizeof(v) / sizeof(*(v)))
#define put_queues(f, source, ...)                                          \
	do {                                                                \
		const struct queue_is q_[] = {__VA_ARGS__};                 \
		struct err e_ = {0};                                        \
		if (try_queues((f), (source), q_, N_OF(q_), &e_) != ERR_OK) \
			fail_msg("%s", e_.msg);                             \
	} while (0)
#define put_no_queues(f, source) assert_int_equal(try_queues((f), (source), NULL, 0, NULL), ERR_OK)

/* Placement rules. */
#define put_rules(f, ...)                                                                 \
	do {                                                                              \
		const struct placement_rule r_[] = {__VA_ARGS__};                         \
		struct err e_ = {0};                                                      \
		if (cluster_put_placement((f)->c, r_, (uint32_t)N_OF(r_), &e_) != ERR_OK) \
			fail_msg("%s", e_.msg);                                           \
	} while (0)
#define put_no_rules(f) assert_int_equal(cluster_put_placement((f)->c, NULL, 0, NULL), ERR_OK)
#define RULE_OF(...) (&(const struct placement_rule){__VA_ARGS__})

static inline queue_id find_queue(const struct fix *f, const char *path)
{
	return queue_tree_find(ledger_queues(f->l), path, strlen(path));
}

/* All queues, depth first: path, sources (y, k, t: template, n: nobody), marks ("!" draining), number of pods. */
static inline void add_tree(const struct fix *f, queue_id id, struct text *out)
{
	const struct queue *q = queue_get(ledger_queues(f->l), id);
	uint32_t n_pods;

	ledger_queue_pods(f->l, id, &n_pods);
	text_printf(out, "%s %s%s%s%s%s", name_str(f->names, q->path), q->spec.sources & FROM_YUNIKORN ? "y" : "",
		    q->spec.sources & FROM_KAI ? "k" : "", q->spec.sources & FROM_TEMPLATE ? "t" : "",
		    q->spec.sources & FROM_NOBODY ? "n" : "", q->is_draining ? "!" : "");
	if (n_pods > 0)
		text_printf(out, " %u", n_pods);
	text_add(out, "\n");
	for (uint32_t i = 0; i < q->children.n; i++)
		add_tree(f, q->children.v[i], out);
}

static inline void tree_is(const struct fix *f, const char *expected)
{
	struct text out = {0};

	add_tree(f, QUEUE_ROOT, &out);
	assert_string_equal(text_str(&out), expected);
	text_free(&out);
}

/* All warnings, one a line. */
static inline void warnings_are(struct fix *f, const char *expected)
{
	struct text all = {0};

	for (const char *w = cluster_next_warning(f->c); w != NULL; w = cluster_next_warning(f->c))
		text_printf(&all, "%s\n", w);
	assert_string_equal(text_str(&all), expected);
	text_free(&all);
}
