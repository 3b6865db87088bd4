/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/feed.h"

#include <string.h>

#include "base/clock.h"
#include "manifest/fields.h"

struct queue_object { /* a KAI Queue as it was written: a set is validated from all of them */
	name_id name;
	const struct kube_kind *kind;
	struct arena *arena;
	const struct tree *tree;
};

struct kube_feed {
	struct cluster *cluster;
	struct vocab *vocab;
	struct names *names;
	struct kube_feed_options options;
	struct feed_listener listener;
	ARRAY(struct reflector *) reflectors;
	struct arena *scratch;
	struct text notes;
	ARRAY(struct queue_object) queues;
	bool queues_changed;
	struct queue_blame { /* the queue that changed last: a set that contradicts itself is told of it */
		const struct kube_kind *kind;
		char *name, *uid;
	} blame;
	uint64_t n_events;
	ARRAY(uint32_t) wanted;	 /* lists of each reflector that make it fresh; empty: nobody asked */
	bool wants_other_groups; /* PodGroups of KAI_OTHER that did not count are to be listed, because they do now */
};

/* KAI's two API groups share names: of two PodGroups of one name the one of KAI counts, as manifest.c has it. */
#define KAI "scheduling.run.ai"
#define KAI_OTHER "scheduling.kai.nvidia.com"

static const struct kube_kind config_maps = {"ConfigMap", "", {"v1"}, "configmaps", false};

/* ---- one object of a kind ---- */

struct feed_kind {
	const char *kind;
	enum err_code (*put)(struct kube_feed *f, const struct object_source *src, const struct kube_object *o,
			     struct err *e);
	void (*drop)(struct kube_feed *f, const struct kube_object *o);
};

static void tell_other(struct kube_feed *f, const struct kube_object *o, bool is_gone)
{
	if (f->listener.other_changed)
		f->listener.other_changed(f->listener.ctx, o, is_gone);
}

static bool finishes(const struct kube_feed *f, pod_id id, const struct obj_pod *now)
{
	const struct pod *p = ledger_pod(cluster_ledger(f->cluster), id);

	return uid_equal(p->obj->uid, now->uid) && (p->state == POD_PLACED || p->state == POD_LEAVING) &&
	       (now->phase == PHASE_SUCCEEDED || now->phase == PHASE_FAILED);
}

static enum err_code put_pod(struct kube_feed *f, const struct object_source *src, const struct kube_object *o,
			     struct err *e)
{
	pod_id id = cluster_find_pod(f->cluster, o->ns, o->name);
	struct obj_pod pod, before;
	enum err_code rc;

	TRY(manifest_pod(f->vocab, src, o->tree, &pod, e));
	if (id != POD_NONE && finishes(f, id, &pod) && f->listener.pod_finishing)
		f->listener.pod_finishing(f->listener.ctx, id);
	if (id != POD_NONE)
		before = obj_pod_copy(f->vocab, ledger_pod(cluster_ledger(f->cluster), id)->obj);
	rc = cluster_put_pod(f->cluster, &pod, e);
	if (rc)
		obj_pod_drop(f->vocab, &pod);
	else if (f->listener.pod_changed)
		f->listener.pod_changed(f->listener.ctx, cluster_find_pod(f->cluster, o->ns, o->name),
					id != POD_NONE ? &before : NULL);
	if (id != POD_NONE)
		obj_pod_drop(f->vocab, &before);
	return rc;
}

static void drop_pod(struct kube_feed *f, const struct kube_object *o)
{
	pod_id id = cluster_find_pod(f->cluster, o->ns, o->name);

	if (id == POD_NONE)
		return;
	if (f->listener.pod_going)
		f->listener.pod_going(f->listener.ctx, id);
	cluster_drop_pod(f->cluster, o->ns, o->name);
}

static node_id find_node(const struct kube_feed *f, const char *name)
{
	name_id id = names_find(f->names, name, strlen(name));
	node_id node = id ? ledger_node_find(cluster_ledger(f->cluster), id) : NODE_NONE;

	return node != NODE_NONE && ledger_node(cluster_ledger(f->cluster), node)->is_live ? node : NODE_NONE;
}

static enum err_code put_node(struct kube_feed *f, const struct object_source *src, const struct kube_object *o,
			      struct err *e)
{
	node_id id = find_node(f, o->name);
	struct obj_node node, before;
	enum err_code rc;

	TRY(manifest_node(f->vocab, src, o->tree, &node, e));
	if (id != NODE_NONE)
		before = obj_node_copy(f->vocab, ledger_node(cluster_ledger(f->cluster), id)->obj);
	rc = cluster_put_node(f->cluster, &node, e);
	if (rc)
		obj_node_drop(f->vocab, &node);
	else if (f->listener.node_changed)
		f->listener.node_changed(f->listener.ctx, find_node(f, o->name), id != NODE_NONE ? &before : NULL);
	if (id != NODE_NONE)
		obj_node_drop(f->vocab, &before);
	return rc;
}

static void drop_node(struct kube_feed *f, const struct kube_object *o)
{
	node_id id = find_node(f, o->name);

	if (id == NODE_NONE)
		return;
	if (f->listener.node_going)
		f->listener.node_going(f->listener.ctx, id);
	cluster_drop_node(f->cluster, o->name);
}

#define DEFINE_PUT(stem)                                                                      \
	static enum err_code put_##stem(struct kube_feed *f, const struct object_source *src, \
					const struct kube_object *o, struct err *e)           \
	{                                                                                     \
		struct obj_##stem obj;                                                        \
                                                                                              \
		TRY(manifest_##stem(f->vocab, src, o->tree, &obj, e));                        \
		if (cluster_put_##stem(f->cluster, &obj, e)) {                                \
			obj_##stem##_drop(f->vocab, &obj);                                    \
			return ERR_INPUT;                                                     \
		}                                                                             \
		tell_other(f, o, false);                                                      \
		return ERR_OK;                                                                \
	}

DEFINE_PUT(namespace)
DEFINE_PUT(class)
DEFINE_PUT(pdb)
DEFINE_PUT(owner)
DEFINE_PUT(pv)
DEFINE_PUT(pvc)
DEFINE_PUT(storage_class)
DEFINE_PUT(csi_node)
DEFINE_PUT(csi_driver)
DEFINE_PUT(csi_capacity)
DEFINE_PUT(attachment)

#define DEFINE_DROP(stem, ...)                                                    \
	static void drop_##stem(struct kube_feed *f, const struct kube_object *o) \
	{                                                                         \
		tell_other(f, o, true);                                           \
		cluster_drop_##stem(f->cluster, __VA_ARGS__);                     \
	}

DEFINE_DROP(pv, o->name)
DEFINE_DROP(pvc, o->ns, o->name)
DEFINE_DROP(storage_class, o->name)
DEFINE_DROP(csi_node, o->name)
DEFINE_DROP(csi_driver, o->name)
DEFINE_DROP(csi_capacity, o->ns, o->name)
DEFINE_DROP(attachment, o->name)

static void drop_namespace(struct kube_feed *f, const struct kube_object *o)
{
	tell_other(f, o, true);
	cluster_drop_namespace(f->cluster, o->name);
}

static void drop_class(struct kube_feed *f, const struct kube_object *o)
{
	tell_other(f, o, true);
	cluster_drop_class(f->cluster, o->name);
}

static void drop_pdb(struct kube_feed *f, const struct kube_object *o)
{
	tell_other(f, o, true);
	cluster_drop_pdb(f->cluster, o->ns, o->name);
}

static void drop_owner(struct kube_feed *f, const struct kube_object *o)
{
	tell_other(f, o, true);
	cluster_drop_owner(f->cluster, o->kind->kind, o->ns, o->name);
}

/* ---- groups, which KAI has in two API groups ---- */

static struct reflector *find_reflector(const struct kube_feed *f, const char *kind, const char *group)
{
	for (uint32_t i = 0; i < f->reflectors.n; i++) {
		const struct kube_kind *k = reflector_kind(f->reflectors.v[i]);

		if (str_eq(k->kind, kind) && str_eq(k->group, group))
			return f->reflectors.v[i];
	}
	return NULL;
}

/* The PodGroup of the same name in KAI's other API group; kind NULL: there is none. */
static struct kube_object twin_of(const struct kube_feed *f, const struct kube_object *o)
{
	const char *group = str_eq(o->kind->group, KAI) ? KAI_OTHER : str_eq(o->kind->group, KAI_OTHER) ? KAI : NULL;
	const struct reflector *r = group ? find_reflector(f, o->kind->kind, group) : NULL;
	struct kube_object twin = {.ns = o->ns, .name = o->name};

	if (r && reflector_find(r, o->ns, o->name, &twin.uid, &twin.version))
		twin.kind = reflector_kind(r);
	return twin;
}

static enum err_code put_group(struct kube_feed *f, const struct object_source *src, const struct kube_object *o,
			       struct err *e)
{
	struct kube_object twin = twin_of(f, o);
	struct obj_group group;
	struct err why = {0};

	if (twin.kind)
		err_fail(&why, ERR_INPUT, KAI " has a PodGroup of this name, which counts, and not that of " KAI_OTHER);
	if (twin.kind && str_eq(o->kind->group, KAI_OTHER)) {
		*e = why;
		return ERR_INPUT;
	}
	TRY(manifest_group(f->vocab, src, o->tree, &group, e));
	if (cluster_put_group(f->cluster, &group, e)) {
		obj_group_drop(f->vocab, &group);
		return ERR_INPUT;
	}
	if (twin.kind && f->listener.refused)
		f->listener.refused(f->listener.ctx, &twin, why.msg);
	tell_other(f, o, false);
	return ERR_OK;
}

static void drop_group(struct kube_feed *f, const struct kube_object *o)
{
	struct kube_object twin = twin_of(f, o);

	if (twin.kind && str_eq(o->kind->group, KAI_OTHER))
		return;
	tell_other(f, o, true);
	cluster_drop_group(f->cluster, o->ns, o->name, kube_object_is_k8s_group(o));
	if (!twin.kind)
		return;
	reflector_forget_version(find_reflector(f, o->kind->kind, KAI_OTHER), o->ns, o->name);
	f->wants_other_groups = true;
}

/* ---- queues, as a set ---- */

static struct queue_object *find_queue(struct kube_feed *f, const struct kube_object *o)
{
	for (uint32_t i = 0; i < f->queues.n; i++)
		if (f->queues.v[i].kind == o->kind && str_eq(name_str(f->names, f->queues.v[i].name), o->name))
			return &f->queues.v[i];
	return NULL;
}

static void forget_queue(struct kube_feed *f, struct queue_object *q)
{
	names_drop(f->names, q->name);
	arena_free(q->arena);
	array_remove(&f->queues, (uint32_t)(q - f->queues.v));
}

static enum err_code put_queue(struct kube_feed *f, const struct object_source *src, const struct kube_object *o,
			       struct err *e)
{
	struct queue_object *q = find_queue(f, o);
	struct queue_def def;

	/* Alone first: what is wrong with one of them must not hold up the others. */
	TRY(manifest_kai_queue(f->vocab, f->scratch, src, o->tree, &def, e));
	queue_spec_free(&def.spec);
	if (!q) {
		struct queue_object new_one = {.name = names_hold_str(f->names, o->name), .kind = o->kind};

		array_push(&f->queues, new_one);
		q = &array_last(&f->queues);
	}
	arena_free(q->arena);
	q->arena = arena_new(1 << 12);
	q->tree = tree_copy(q->arena, o->tree);
	f->queues_changed = true;
	mem_free(f->blame.name);
	mem_free(f->blame.uid);
	f->blame = (struct queue_blame){o->kind, mem_strdup(o->name), mem_strdup(o->uid)};
	tell_other(f, o, false);
	return ERR_OK;
}

static void drop_queue(struct kube_feed *f, const struct kube_object *o)
{
	struct queue_object *q = find_queue(f, o);

	if (!q)
		return;
	forget_queue(f, q);
	f->queues_changed = true;
	tell_other(f, o, true);
}

static enum err_code read_queues(struct kube_feed *f, struct arena *a, struct queue_def *defs, uint32_t *ret_n,
				 struct err *e)
{
	struct object_source src = {.name = "Queue"};

	for (*ret_n = 0; *ret_n < f->queues.n; ++*ret_n)
		TRY(manifest_kai_queue(f->vocab, a, &src, f->queues.v[*ret_n].tree, &defs[*ret_n], e));
	return ERR_OK;
}

/* All or nothing: a set that contradicts itself leaves the one before in force. */
static void put_queues(struct kube_feed *f)
{
	static const struct kube_kind queues = {"Queue", "scheduling.run.ai", {"v2"}, "queues", false};
	struct kube_object o = {.kind = f->blame.kind ? f->blame.kind : &queues,
				.ns = "",
				.name = f->blame.name ? f->blame.name : "",
				.uid = f->blame.uid ? f->blame.uid : "",
				.version = ""};
	struct arena *a = arena_new(1 << 14);
	struct queue_def *defs = arena_n(a, f->queues.n + 1, struct queue_def);
	struct err e = {0};
	uint32_t n = 0;

	if (read_queues(f, a, defs, &n, &e) || cluster_put_queues(f->cluster, FROM_KAI, defs, n, &e)) {
		for (uint32_t i = 0; i < n; i++)
			queue_spec_free(&defs[i].spec);
		if (f->listener.refused)
			f->listener.refused(f->listener.ctx, &o, e.msg);
	}
	arena_free(a);
}

void kube_feed_settle(struct kube_feed *f)
{
	if (!f->queues_changed)
		return;
	f->queues_changed = false;
	put_queues(f);
}

/* ---- settings ---- */

static enum err_code put_settings(struct kube_feed *f, const struct object_source *src, const struct kube_object *o,
				  struct err *e)
{
	(void)src;
	(void)e;
	if (f->listener.settings_changed)
		f->listener.settings_changed(f->listener.ctx, o->name, o->uid, o->tree);
	return ERR_OK;
}

static void drop_settings(struct kube_feed *f, const struct kube_object *o)
{
	if (f->listener.settings_changed)
		f->listener.settings_changed(f->listener.ctx, o->name, o->uid, NULL);
}

/* ---- dispatch ---- */

static const struct feed_kind feed_kinds[] = {
	{"Pod", put_pod, drop_pod},
	{"Node", put_node, drop_node},
	{"Namespace", put_namespace, drop_namespace},
	{"PriorityClass", put_class, drop_class},
	{"PodDisruptionBudget", put_pdb, drop_pdb},
	{"PodGroup", put_group, drop_group},
	{"Queue", put_queue, drop_queue},
	{"ConfigMap", put_settings, drop_settings},
	{"Service", put_owner, drop_owner},
	{"ReplicationController", put_owner, drop_owner},
	{"Deployment", put_owner, drop_owner},
	{"ReplicaSet", put_owner, drop_owner},
	{"StatefulSet", put_owner, drop_owner},
	{"DaemonSet", put_owner, drop_owner},
	{"Job", put_owner, drop_owner},
	{"PersistentVolume", put_pv, drop_pv},
	{"PersistentVolumeClaim", put_pvc, drop_pvc},
	{"StorageClass", put_storage_class, drop_storage_class},
	{"CSINode", put_csi_node, drop_csi_node},
	{"CSIDriver", put_csi_driver, drop_csi_driver},
	{"CSIStorageCapacity", put_csi_capacity, drop_csi_capacity},
	{"VolumeAttachment", put_attachment, drop_attachment},
};

static const struct feed_kind *kind_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(feed_kinds) / sizeof(feed_kinds[0]); i++)
		if (str_eq(feed_kinds[i].kind, kind))
			return &feed_kinds[i];
	return NULL;
}

static void on_put(void *ctx, const struct kube_object *o)
{
	struct kube_feed *f = ctx;
	struct object_source src = {
		.name = o->kind->resource, .notes = &f->notes, .scratch = f->scratch, .is_lenient = true};
	struct err e = {0};

	f->n_events++;
	text_reset(&f->notes);
	if (kind_of(o->kind->kind)->put(f, &src, o, &e) && f->listener.refused)
		f->listener.refused(f->listener.ctx, o, e.msg);
	arena_reset(f->scratch);
}

static void on_drop(void *ctx, const struct kube_object *o)
{
	struct kube_feed *f = ctx;

	f->n_events++;
	kind_of(o->kind->kind)->drop(f, o);
}

static void on_synced(void *ctx, const struct kube_kind *k)
{
	(void)ctx;
	(void)k;
}

static void on_trouble(void *ctx, const struct kube_kind *k, const char *words)
{
	struct kube_feed *f = ctx;

	if (f->listener.trouble)
		f->listener.trouble(f->listener.ctx, k, words);
}

static void add_reflector(struct kube_feed *f, const struct kube_kind *k, const char *ns, const char *name,
			  const struct kube_transport *transport, uint64_t seed)
{
	struct reflector_sink sink = {
		.ctx = f, .put = on_put, .drop = on_drop, .synced = on_synced, .trouble = on_trouble};
	struct reflector_options o = f->options.reflector;

	struct reflector *r;

	o.ns = ns;
	o.name = name;
	r = reflector_new(k, &o, f->names, transport, &sink, hash_mix(seed, f->reflectors.n));

	array_push(&f->reflectors, r);
}

struct kube_feed *kube_feed_new(struct cluster *c, struct vocab *v, const struct kube_feed_options *o,
				const struct kube_transport *transport, const struct feed_listener *listener,
				uint64_t seed)
{
	struct kube_feed *f = mem_alloc(sizeof(*f));

	f->cluster = c;
	f->vocab = v;
	f->names = vocab_names(v);
	f->options = *o;
	f->listener = *listener;
	f->scratch = arena_new(1 << 14);
	for (uint32_t i = 0; *o->ns && kube_config_maps[i]; i++)
		add_reflector(f, &config_maps, o->ns, kube_config_maps[i], transport, seed);
	for (uint32_t i = 0; i < kube_kind_count; i++)
		if (kind_of(kube_kinds[i].kind))
			add_reflector(f, &kube_kinds[i], NULL, NULL, transport, seed);
	return f;
}

void kube_feed_free(struct kube_feed *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->reflectors.n; i++)
		reflector_free(f->reflectors.v[i]);
	while (f->queues.n)
		forget_queue(f, &array_last(&f->queues));
	array_free(&f->queues);
	array_free(&f->reflectors);
	array_free(&f->wanted);
	mem_free(f->blame.name);
	mem_free(f->blame.uid);
	arena_free(f->scratch);
	text_free(&f->notes);
	mem_free(f);
}

void kube_feed_start(struct kube_feed *f, int64_t now_ns)
{
	for (uint32_t i = 0; i < f->reflectors.n; i++)
		reflector_start(f->reflectors.v[i], now_ns);
}

bool kube_feed_take(struct kube_feed *f, const struct kube_news *n, int64_t now_ns)
{
	for (uint32_t i = 0; i < f->reflectors.n; i++)
		if (reflector_take(f->reflectors.v[i], n, now_ns))
			return true;
	return false;
}

void kube_feed_tick(struct kube_feed *f, int64_t now_ns)
{
	if (f->wants_other_groups)
		reflector_relist(find_reflector(f, "PodGroup", KAI_OTHER), now_ns);
	f->wants_other_groups = false;
	for (uint32_t i = 0; i < f->reflectors.n; i++)
		reflector_tick(f->reflectors.v[i], now_ns);
}

/* Kinds that are absent, or were not listed yet, are about to be looked for anyway. */
void kube_feed_refresh(struct kube_feed *f, int64_t now_ns)
{
	f->wanted.n = 0;
	for (uint32_t i = 0; i < f->reflectors.n; i++) {
		struct reflector *r = f->reflectors.v[i];
		bool is_listed = reflector_is_synced(r) && !reflector_is_absent(r);

		array_push(&f->wanted, reflector_list_count(r) + is_listed);
		if (is_listed)
			reflector_relist(r, now_ns);
	}
}

bool kube_feed_is_fresh(const struct kube_feed *f)
{
	for (uint32_t i = 0; i < f->wanted.n; i++)
		if (reflector_list_count(f->reflectors.v[i]) < f->wanted.v[i])
			return false;
	return kube_feed_is_synced(f);
}

int64_t kube_feed_next_ns(const struct kube_feed *f)
{
	int64_t next = f->wants_other_groups ? 0 : INT64_MAX;

	for (uint32_t i = 0; i < f->reflectors.n; i++)
		if (reflector_next_ns(f->reflectors.v[i]) < next)
			next = reflector_next_ns(f->reflectors.v[i]);
	return next;
}

bool kube_feed_is_synced(const struct kube_feed *f)
{
	for (uint32_t i = 0; i < f->reflectors.n; i++)
		if (!reflector_is_synced(f->reflectors.v[i]))
			return false;
	return true;
}

int64_t kube_feed_lag_ns(const struct kube_feed *f, int64_t now_ns)
{
	int64_t lag = 0;

	for (uint32_t i = 0; i < f->reflectors.n; i++) {
		const struct reflector *r = f->reflectors.v[i];
		int64_t heard = reflector_heard_ns(r);

		if (!reflector_is_absent(r) && heard != TIME_NONE && now_ns - heard > lag)
			lag = now_ns - heard;
	}
	return lag;
}

const struct reflector *kube_feed_reflector(const struct kube_feed *f, const char *kind, const char *group)
{
	return find_reflector(f, kind, group);
}

uint64_t kube_feed_event_count(const struct kube_feed *f)
{
	return f->n_events;
}
