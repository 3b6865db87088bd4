/* SPDX-License-Identifier: Apache-2.0 */
#include "yunikorn_world.h"

#include "base/emit.h"
#include "preemption.h"
#include "units/timestamp.h"

#define TYPE_PREFIX "example.com/"
#define ROOMY 1000000
/*
 * The age of an allocation is that of its pod. Since when it runs no fact tells, so all of them run equally long: who
 * holds less loses less work, and of equals the youngest pod goes.
 */
#define RUNS_FOR_S 3600

/* ---- amounts ---- */

static const char *type_name(const struct yuni_world *y, const char *name)
{
	return str_eq(name, "pods") ? name : arena_printf(y->w.f->arena, TYPE_PREFIX "%s", name);
}

res_id yuni_type(struct yuni_world *y, const char *name)
{
	const char *full = type_name(y, name);
	res_id r = RES_NONE;
	struct err e;

	if (res_types_add(vocab_res(y->w.vocab), full, strlen(full), &r, &e))
		fact_differs(y->w.f, "type", name, e.msg);
	return r;
}

void yuni_amounts(struct yuni_world *y, const struct tree *map, struct res_vec *ret)
{
	*ret = (struct res_vec){0};
	for (uint32_t i = 0; tree_is(map, TREE_MAP) && i < map->n; i++)
		res_put(ret, yuni_type(y, map->fields[i].key), tree_int(map->fields[i].value, 0));
}

static const char *amounts_words(struct yuni_world *y, const struct res_vec *v)
{
	struct text out = {0};
	const char *words;

	res_vec_text(vocab_res(y->w.vocab), v, &out);
	words = arena_strndup(y->w.f->arena, text_str(&out), out.n);
	text_free(&out);
	return words;
}

void yuni_same_amounts(struct yuni_world *y, const char *what, const struct tree *expected, const struct res_vec *got)
{
	struct res_vec want;

	if (!expected)
		return;
	yuni_amounts(y, expected, &want);
	if (!res_vec_equal(&want, got))
		fact_differs(y->w.f, what, amounts_words(y, &want), amounts_words(y, got));
}

/* ---- queues ---- */

static const char *full_path(const struct yuni_world *y, const char *path)
{
	bool is_full = str_eq(path, "root") || str_starts(path, "root.");

	return is_full ? path : arena_printf(y->w.f->arena, "root.%s", path);
}

queue_id yuni_queue(const struct yuni_world *y, const char *path)
{
	const char *full = full_path(y, path);

	return queue_tree_find(ledger_queues(y->w.ledger), full, strlen(full));
}

static void tell_queue(struct yuni_world *y, const struct tree *q, struct queue_spec *s)
{
	const struct tree *properties = tree_get(q, "properties");

	s->sources = FROM_YUNIKORN;
	queue_prop_set(&s->props, "quota.preemption.delay", "1s", NULL);
	s->is_parent = tree_truth(tree_get(q, "parent"));
	yuni_amounts(y, tree_get(q, "guaranteed"), &s->guaranteed);
	yuni_amounts(y, tree_get(q, "max"), &s->max);
	for (uint32_t i = 0; properties && i < properties->n; i++)
		queue_prop_set(&s->props, properties->fields[i].key, tree_text(properties->fields[i].value, ""), NULL);
}

/* What the fact gives the root as its maximum is the size of the cluster. */
static bool put_queues(struct yuni_world *y)
{
	const struct tree *map = tree_get(y->w.f->t, "queues");
	uint32_t n = tree_is(map, TREE_MAP) ? map->n : 0;
	struct queue_def *defs = arena_n(y->w.f->arena, n + 1, struct queue_def);
	struct err e;

	for (uint32_t i = 0; i < n; i++) {
		defs[i] = (struct queue_def){.path = full_path(y, map->fields[i].key)};
		queue_spec_init(&defs[i].spec, vocab_names(y->w.vocab));
		tell_queue(y, map->fields[i].value, &defs[i].spec);
		if (str_eq(defs[i].path, "root"))
			defs[i].spec.max = (struct res_vec){0};
	}
	if (!cluster_put_queues(y->w.cluster, FROM_YUNIKORN, defs, n, &e))
		return true;
	fact_differs(y->w.f, "queues", "queues", e.msg);
	return false;
}

/* ---- nodes ---- */

static bool states_pods(const struct yuni_world *y)
{
	return tree_path(y->w.f->t, "ask.res.pods") != NULL;
}

static void emit_amounts(struct emit *e, const struct yuni_world *y, const char *key, const struct tree *map,
			 bool with_pods)
{
	emit_object(e, key);
	for (uint32_t i = 0; map && i < map->n; i++)
		if (with_pods || !str_eq(map->fields[i].key, "pods"))
			emit_str(e, type_name(y, map->fields[i].key), tree_text(map->fields[i].value, "0"));
	if (!with_pods && str_eq(key, "allocatable"))
		emit_str(e, "pods", "110");
	emit_end(e);
}

static bool put_node(struct yuni_world *y, const char *name, const struct tree *capacity)
{
	bool with_pods = states_pods(y) && tree_get(capacity, "pods");
	const struct tree *t;
	struct text out = {0};
	struct emit e;

	emit_init(&e, &out, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_object(&e, "metadata");
	emit_str(&e, "name", name);
	emit_object(&e, "labels");
	emit_str(&e, "kubernetes.io/hostname", name);
	emit_end(&e);
	emit_end(&e);
	emit_object(&e, "status");
	emit_amounts(&e, y, "allocatable", capacity, with_pods);
	emit_end(&e);
	emit_end(&e);
	t = tree_of(y->w.f, text_str(&out));
	text_free(&out);
	return t && world_put_node(&y->w, t);
}

#define SHARED_NODE "everywhere"

/* For facts without nodes: one for everybody, with room for all they mention. */
static bool put_shared_node(struct yuni_world *y)
{
	const struct tree *list = tree_get(y->w.f->t, "allocations"), *total = tree_get(y->w.f->t, "total");
	const struct res_types *types = vocab_res(y->w.vocab);
	struct text out = {0};
	struct res_vec ignored;
	bool is_put;

	if (total)
		return put_node(y, SHARED_NODE, total);
	for (uint32_t i = 0; i < tree_count(list); i++)
		yuni_amounts(y, tree_get(list->items[i], "res"), &ignored);
	for (res_id r = RES_FIXED; r < types->n; r++)
		text_printf(&out, "%s: %d\n", res_type_name(types, r) + strlen(TYPE_PREFIX), ROOMY);
	is_put = put_node(y, SHARED_NODE, tree_of(y->w.f, text_str(&out)));
	text_free(&out);
	return is_put;
}

static bool put_nodes(struct yuni_world *y)
{
	const struct tree *map = tree_get(y->w.f->t, "nodes");

	if (!map)
		return put_shared_node(y);
	for (uint32_t i = 0; i < map->n; i++)
		if (!put_node(y, map->fields[i].key, tree_get(map->fields[i].value, "capacity")))
			return false;
	return true;
}

/* ---- pods ---- */

struct pod_words { /* one pod, on its way to YAML */
	const char *name, *queue, *app, *node, *required_node, *scheduler;
	const struct tree *res, *passing; /* passing: the nodes whose predicates it passes; NULL: all */
	int64_t age_s, priority;
	bool is_opted_out, is_driver, is_going, uses_port;
};

static void emit_time(struct emit *e, const char *key, int64_t age_s)
{
	struct text t = {0};

	timestamp_text(world_now_ns - age_s * NS_PER_S, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static void emit_owner(struct emit *e)
{
	emit_list(e, "ownerReferences");
	emit_object(e, NULL);
	emit_str(e, "kind", "DaemonSet");
	emit_str(e, "name", "agent");
	emit_str(e, "uid", "agent");
	emit_bool(e, "controller", true);
	emit_end(e);
	emit_end(e);
}

static void emit_metadata(struct emit *e, const struct pod_words *p)
{
	emit_object(e, "metadata");
	emit_str(e, "name", p->name);
	emit_str(e, "namespace", "default");
	emit_time(e, "creationTimestamp", p->age_s);
	if (p->is_going)
		emit_time(e, "deletionTimestamp", 0);
	if (p->required_node)
		emit_owner(e);
	emit_object(e, "labels");
	if (p->queue)
		emit_str(e, "yunikorn.apache.org/queue", p->queue);
	if (p->app)
		emit_str(e, "yunikorn.apache.org/app-id", p->app);
	if (p->is_driver)
		emit_str(e, "spark-role", "driver");
	emit_end(e);
	emit_object(e, "annotations");
	if (p->is_opted_out)
		emit_str(e, "yunikorn.apache.org/allow-preemption", "false");
	emit_end(e);
	emit_end(e);
}

/* One term: by the node's own name as a DaemonSet's pods have it, or by the label of all that pass. */
static void emit_affinity(struct emit *e, const struct pod_words *p)
{
	if (!p->required_node && !p->passing)
		return;
	emit_object(e, "affinity");
	emit_object(e, "nodeAffinity");
	emit_object(e, "requiredDuringSchedulingIgnoredDuringExecution");
	emit_list(e, "nodeSelectorTerms");
	emit_object(e, NULL);
	emit_list(e, p->required_node ? "matchFields" : "matchExpressions");
	emit_object(e, NULL);
	emit_str(e, "key", p->required_node ? "metadata.name" : "kubernetes.io/hostname");
	emit_str(e, "operator", "In");
	emit_list(e, "values");
	if (p->required_node)
		emit_str(e, NULL, p->required_node);
	for (uint32_t i = 0; !p->required_node && i < p->passing->n; i++)
		emit_str(e, NULL, tree_text(p->passing->items[i], ""));
	for (int i = 0; i < 8; i++)
		emit_end(e);
}

static void emit_container(struct emit *e, const struct yuni_world *y, const struct pod_words *p)
{
	emit_list(e, "containers");
	emit_object(e, NULL);
	emit_str(e, "name", "main");
	emit_object(e, "resources");
	emit_amounts(e, y, "requests", p->res, false);
	emit_end(e);
	if (p->uses_port) {
		emit_list(e, "ports");
		emit_object(e, NULL);
		emit_int(e, "containerPort", 9999);
		emit_int(e, "hostPort", 9999);
		emit_end(e);
		emit_end(e);
	}
	emit_end(e);
	emit_end(e);
}

static const struct tree *pod_tree(struct yuni_world *y, const struct pod_words *p)
{
	const struct tree *t;
	struct text out = {0};
	struct emit e;

	emit_init(&e, &out, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_metadata(&e, p);
	emit_object(&e, "spec");
	emit_str(&e, "schedulerName", p->scheduler);
	emit_int(&e, "priority", p->priority);
	if (p->node)
		emit_str(&e, "nodeName", p->node);
	emit_affinity(&e, p);
	emit_container(&e, y, p);
	emit_end(&e);
	emit_object(&e, "status");
	emit_str(&e, "phase", p->node ? "Running" : "Pending");
	if (p->node)
		emit_time(&e, "startTime", RUNS_FOR_S);
	emit_end(&e);
	emit_end(&e);
	t = tree_of(y->w.f, text_str(&out));
	text_free(&out);
	return t;
}

/* Does the application count: is it the waiting pod's, or does it have an originator? */
static bool app_counts(const struct yuni_world *y, const char *app)
{
	const struct tree *list = tree_get(y->w.f->t, "allocations");

	if (!y->o.ask_stands_alone && str_eq(app, tree_text(tree_path(y->w.f->t, "ask.app"), "")))
		return true;
	for (uint32_t i = 0; i < tree_count(list); i++)
		if (tree_truth(tree_get(list->items[i], "originator")) &&
		    str_eq(app, tree_text(tree_get(list->items[i], "app"), "")))
			return true;
	return false;
}

static struct pod_words words_of(const struct yuni_world *y, const struct tree *t)
{
	const struct tree *tracked = tree_get(t, "tracked_by_app"), *willing = tree_get(t, "allow_preempt_self");
	const char *app = tree_text(tree_get(t, "app"), ""), *queue = tree_text(tree_get(t, "queue"), NULL);

	return (struct pod_words){
		.name = tree_text(tree_get(t, "key"), ""),
		.queue = queue ? full_path(y, queue) : "root.default",
		.app = app_counts(y, app) ? app : NULL,
		.required_node = tree_text(tree_get(t, "required_node"), NULL),
		.scheduler = tracked && !tree_truth(tracked) ? "another" : "yunikorn",
		.res = tree_get(t, "res"),
		.age_s = tree_int(tree_get(t, "age"), 3600),
		.priority = tree_int(tree_get(t, "priority"), 0),
		.is_opted_out = willing && !tree_truth(willing),
		.is_driver = tree_truth(tree_get(t, "originator")),
		.is_going = tree_truth(tree_get(t, "released")) || tree_truth(tree_get(t, "preempted")),
	};
}

static bool put(struct yuni_world *y, const struct pod_words *p, pod_id *ret)
{
	const struct tree *t = pod_tree(y, p);

	*ret = t ? world_put_pod(&y->w, t, !p->node) : POD_NONE;
	return *ret != POD_NONE;
}

static bool put_allocations(struct yuni_world *y)
{
	const struct tree *list = tree_get(y->w.f->t, "allocations");
	bool has_nodes = tree_get(y->w.f->t, "nodes");
	pod_id pod;

	for (uint32_t i = 0; i < tree_count(list); i++) {
		struct pod_words p = words_of(y, list->items[i]);

		p.node = has_nodes ? tree_text(tree_get(list->items[i], "node"), "") : SHARED_NODE;
		if (!put(y, &p, &pod))
			return false;
	}
	return true;
}

/* ---- use that no allocation accounts for ---- */

static bool is_below(const char *path, const char *above)
{
	size_t n = strlen(above);

	return !strncmp(path, above, n) && path[n] == '.';
}

/* The first queue below this one that has none below itself; this one if it is a leaf. */
static const char *leaf_of(const struct tree *queues, const char *path)
{
	for (uint32_t i = 0; i < queues->n; i++)
		if (is_below(queues->fields[i].key, path))
			return leaf_of(queues, queues->fields[i].key);
	return path;
}

/* Does a queue below tell the same use in more detail? */
static bool is_told_below(const struct tree *queues, const char *path)
{
	for (uint32_t i = 0; i < queues->n; i++)
		if (is_below(queues->fields[i].key, path) && tree_get(queues->fields[i].value, "allocated"))
			return true;
	return false;
}

static bool put_use(struct yuni_world *y)
{
	const struct tree *queues = tree_get(y->w.f->t, "queues");
	pod_id pod;

	for (uint32_t i = 0; queues && i < queues->n; i++) {
		const struct tree *used = tree_get(queues->fields[i].value, "allocated");
		const char *path = queues->fields[i].key;
		struct pod_words p = {.node = SHARED_NODE, .scheduler = "yunikorn", .res = used, .age_s = 3600};

		if (!used || !used->n || is_told_below(queues, path))
			continue;
		p.name = arena_printf(y->w.f->arena, "used-%u", i);
		p.queue = full_path(y, leaf_of(queues, path));
		if (!put(y, &p, &pod))
			return false;
	}
	return true;
}

/* ---- the pod that waits ---- */

/* All nodes that some predicate of the fact passes; NULL: the fact does not tell any. */
static const struct tree *passing_nodes(struct yuni_world *y)
{
	const struct tree *predicates = tree_get(y->w.f->t, "predicates");
	const struct tree *plain = tree_get(predicates, "allocate_ok_nodes"),
			  *preempt = tree_get(predicates, "preempt");
	const struct tree *t = NULL;
	struct text out = {0};

	for (uint32_t i = 0; i < tree_count(plain); i++)
		text_printf(&out, "%s%s", out.n ? ", " : "[", tree_text(plain->items[i], ""));
	for (uint32_t i = 0; i < tree_count(preempt); i++)
		text_printf(&out, "%s%s", out.n ? ", " : "[", tree_text(tree_get(preempt->items[i], "node"), ""));
	if (out.n) {
		text_add(&out, "]");
		t = tree_of(y->w.f, text_str(&out));
	}
	text_free(&out);
	return t;
}

static bool put_ask(struct yuni_world *y)
{
	const struct tree *t = tree_get(y->w.f->t, "ask");
	struct pod_words p;

	if (!t)
		return true;
	p = words_of(y, t);
	p.passing = passing_nodes(y);
	p.uses_port = y->o.is_slow;
	if (y->o.ask_stands_alone)
		p.app = NULL;
	if (y->o.ask_fills_node)
		p.res = tree_path(y->w.f->t, "nodes.node.capacity");
	return put(y, &p, &y->ask);
}

/* ---- the whole ---- */

static const char *const our_name[] = {"yunikorn"};

static bool begin(struct yuni_world *y)
{
	struct cluster_options o;
	struct err e;

	y->w.config->profile = PROFILE_YUNIKORN;
	y->w.config->n_scheduler_names = 1;
	y->w.config->scheduler_names = our_name;
	o = engine_config_cluster_options(y->w.config, world_now_ns);
	cluster_set_options(y->w.cluster, &o);
	y->plan.arena = arena_new(1 << 16);
	y->engine = engine_new(y->w.cluster, y->w.config, NULL, 0, &e);
	if (!y->engine)
		fact_differs(y->w.f, "engine", "one", e.msg);
	return y->engine;
}

bool yuni_open(struct yuni_world *y, struct fact *f, const struct yuni_options *o)
{
	*y = (struct yuni_world){.o = *o, .ask = POD_NONE};
	return world_open(&y->w, f) && begin(y) && put_queues(y) && put_nodes(y) && put_allocations(y) && put_use(y) &&
	       put_ask(y);
}

void yuni_close(struct yuni_world *y)
{
	engine_free(y->engine);
	array_free(&y->plan.v);
	arena_free(y->plan.arena);
	judge_scratch_free(&y->scratch);
	world_close(&y->w);
}

bool yuni_plan(struct yuni_world *y)
{
	struct engine_run run = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	struct err e;

	if (!engine_plan(y->engine, &run, &y->plan, &e))
		return true;
	fact_differs(y->w.f, "plan", "one", e.msg);
	return false;
}

const struct decision *yuni_decision(const struct yuni_world *y)
{
	for (uint32_t i = 0; i < y->plan.v.n; i++)
		if (y->plan.v.v[i].pod == y->ask)
			return &y->plan.v.v[i];
	return NULL;
}

void yuni_same_victims(struct yuni_world *y, const char *what, const struct tree *expected, const struct victim *v,
		       uint32_t n, bool is_ordered)
{
	pod_id *got = arena_n(y->w.f->arena, n + 1, pod_id);

	for (uint32_t i = 0; i < n; i++)
		got[i] = v[i].pod;
	if (expected)
		same_victims(&y->w, what, expected, got, n, is_ordered);
}
