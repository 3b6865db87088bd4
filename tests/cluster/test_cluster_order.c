/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The property the cluster is for: what is resolved depends on the objects that are there, not on the way they came.
 *
 * A world is a number for every object that may exist: 0 says it is not there, any other number is the seed of what it
 * says. The same world is reached in several orders, each with other versions of the objects on the way, with objects
 * that come and go, with sets of queues that are refused; every ledger is checked after every move. At the end all of
 * them must read the same.
 */
#include "cluster/cluster_fixture.h"
#include "rng.h"

enum kind { NODE, CLASS, NAMESPACE, OWNER, GROUP, POD, BUDGET, YUNIKORN, KAI, RULES, PROFILE, KINDS };

static const uint32_t n_of_kind[KINDS] = {
	[NODE] = 3,   [CLASS] = 3,    [NAMESPACE] = 2, [OWNER] = 4, [GROUP] = 5,  [POD] = 10,
	[BUDGET] = 1, [YUNIKORN] = 1, [KAI] = 1,       [RULES] = 1, [PROFILE] = 1};

#define SLOTS_MAX 32

struct slot {
	enum kind kind;
	uint32_t i;
	uint64_t seed;
};

struct world {
	struct slot slots[SLOTS_MAX];
	uint32_t n;
};

static const char *pick(struct rng *r, const char *const *from, uint32_t n)
{
	return from[rng_below(r, n)];
}
#define PICK(r, ...) pick((r), (const char *const[]){__VA_ARGS__}, N_OF(((const char *const[]){__VA_ARGS__})))

static const char *random_label(struct rng *r)
{
	return PICK(r, NULL, NULL, "kai.scheduler/preemptibility=preemptible",
		    "kai.scheduler/preemptibility=non-preemptible", "kai.scheduler/preemptibility=semi-preemptible",
		    "kai.scheduler/preemptibility=nonsense");
}

static const char *random_queue(struct rng *r)
{
	return PICK(r, NULL, NULL, "a", "b", "x", "nix", "default", "root.y1", "y1.z", "root.default.q", "team",
		    "root.a.x", "root.default", "root.box.u.v", "root.box.u", "y3", "Y3.w", "root.y3.w", "no name",
		    "root.default.default.d");
}

static const char *random_user(struct rng *r)
{
	return PICK(r, NULL, "ann", "bob", "x", "y3");
}

/* ---- every kind of object from its seed ---- */

static const char *const node_names[] = {"n0", "n1", "n2", "n3 that never comes"};
static const char *const class_names[] = {"c0", "c1", "build"};
static const char *const group_names[] = {"g0", "g1", "g2"};
static const char *const namespaces[] = {"ns", "other"};
static const char *const pod_names[] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"};
/* The last ones are elsewhere. */
static const char *ns_of_pod(uint32_t i)
{
	return namespaces[i >= 7];
}

static const struct owner_is owners[] = {
	{.kind = OWNER_DEPLOYMENT, .kind_name = "Deployment", .name = "d"},
	{.kind = OWNER_REPLICASET, .kind_name = "ReplicaSet", .name = "r"},
	{.kind = OWNER_REPLICASET, .kind_name = "ReplicaSet", .name = "d"},
	{.kind = OWNER_JOB, .kind_name = "Job", .name = "j", .has_selector = true},
};

static const int32_t numbers[] = {-1, 0, 10, 60, 99, 100, 120, 2000};

static const int32_t *random_number(struct rng *r)
{
	return rng_below(r, 2) == 0 ? NULL : &numbers[rng_below(r, N_OF(numbers))];
}

static void put_random_owner(struct fix *f, uint32_t i, struct rng *r)
{
	struct owner_is o = owners[i];

	o.labels = random_label(r);
	if (rng_below(r, 2) == 0) {
		const struct owner_is *above = &owners[rng_below(r, N_OF(owners))];
		o.parent_kind = above->kind_name;
		o.parent = above->name;
	}
	put_owner(f, o);
}

/* The last ones are Kubernetes', of the same names as some of KAI's. */
static bool is_k8s_group(uint32_t i)
{
	return i >= N_OF(group_names);
}

static void put_random_group(struct fix *f, uint32_t i, struct rng *r)
{
	put_group(f, (struct group_is){.name = group_names[i % N_OF(group_names)],
				       .is_k8s = is_k8s_group(i),
				       .queue = random_queue(r),
				       .class = PICK(r, NULL, "c0", "c1", "build", "train", "unknown"),
				       .subgroups = PICK(r, NULL, NULL, "w:2", "w:1,m:1", "m:1"),
				       .min = (int32_t)rng_below(r, 4),
				       .priority = rng_below(r, 4) == 0 ? random_number(r) : NULL,
				       .preemptibility = (enum preemptibility)rng_below(r, 4),
				       .started = rng_below(r, 2) * 1000});
}

static void put_random_pod(struct fix *f, uint32_t i, struct rng *r)
{
	bool is_k8s = rng_below(r, 5) == 0;
	const char *group = PICK(r, NULL, "g0", "g0", "g1", "g2");
	const struct owner_is *owner = &owners[rng_below(r, N_OF(owners))];

	put_pod(f,
		(struct pod_is){.ns = ns_of_pod(i),
				.name = pod_names[i],
				.uid = PICK(r, "u", "u", "v"),
				.labels = random_label(r),
				.node = PICK(r, NULL, NULL, node_names[0], node_names[1], node_names[2], node_names[3]),
				.nominated = PICK(r, NULL, NULL, node_names[0], node_names[1], node_names[3]),
				.class = PICK(r, NULL, "c0", "c1", "build", "train", "unknown"),
				.group = is_k8s ? NULL : group,
				.k8s_group = is_k8s ? group : NULL,
				.subgroup = PICK(r, NULL, NULL, "w", "m"),
				.kai_queue = random_queue(r),
				.yunikorn_queue = random_queue(r),
				.user = random_user(r),
				.groups = PICK(r, NULL, "dev", "dev,ops"),
				.owner_kind = rng_below(r, 2) == 0 ? owner->kind : OWNER_NONE,
				.owner = owner->name,
				.phase = rng_below(r, 6) == 0 ? PHASE_SUCCEEDED : PHASE_PENDING,
				.priority = random_number(r),
				.created = 1 + rng_below(r, 2),
				.started = rng_below(r, 2) * 10,
				.deleted = rng_below(r, 6) == 0 ? 50 : 0,
				.cpu = 1000 + 500 * rng_below(r, 3)});
}

/* ---- sets of queues: any of one source goes with any of the other ---- */

struct set_is {
	struct queue_is q[5];
};

static const double gpus[] = {4, -1, 1};

static const struct set_is yunikorn_sets[] = {
	{{{.path = "root.y1"}, {.path = "root.y2", .guaranteed_cpu = 1000}}},
	{{{.path = "root.y1.z"}, {.path = "root.default"}}},
	{{{.path = "root.a"}, {.path = "root.default.q"}}},
	{{{.path = "root.a.x"}, {.path = "root.default.default.q"}}},
	{{{.path = "root"}, {.path = "root.default.default"}, {.path = "root.y2", .is_parent = true}}},
	{{{.path = "root", .template_max_cpu = 1000, .delay = "5s"}, {.path = "root.box", .is_parent = true}}},
	{{{.path = "root", .admin = "ann"},
	  {.path = "root.box",
	   .is_parent = true,
	   .submit = "bob dev",
	   .template_max_cpu = 2000,
	   .template_policy = "fence"},
	  {.path = "root.a"},
	  {.path = "root.y3", .submit = "*"}}},
	{{{.path = "root.box.u.v"}, {.path = "root.default", .is_parent = true, .template_max_cpu = 3000}}},
};

/* ---- placement rules ---- */

#define CREATE .may_create = true
#define PROVIDED .kind = PLACEMENT_PROVIDED
#define USER .kind = PLACEMENT_USER
#define TAG(t) .kind = PLACEMENT_TAG, .value = (t)
#define FIXED(v) .kind = PLACEMENT_FIXED, .value = (v)

static void put_random_rule(struct rng *r, struct placement_rule *ret)
{
	static const struct placement_rule box = {FIXED("root.box"), CREATE},
					   by_parent = {TAG("namespace.parentqueue")},
					   by_namespace = {TAG("namespace"), CREATE}, by_name = {PROVIDED, CREATE};
	static const struct placement_rule rules[] = {
		{PROVIDED, CREATE},
		{PROVIDED, CREATE},
		{PROVIDED},
		{PROVIDED, CREATE, .filter = {.users = {.expression = "^a"}}},
		{USER, CREATE},
		{USER},
		{TAG("namespace"), CREATE},
		{TAG("namespace"), CREATE, .parent = &by_parent},
		{USER, CREATE, .parent = &box},
		{USER, CREATE, .parent = &by_namespace, .filter = {.denies = true, .groups = {.expression = "^ops$"}}},
		{FIXED("w"), CREATE, .parent = &by_name},
		{FIXED("root.a")},
		{FIXED("y3"), CREATE},
		{.kind = PLACEMENT_RECOVERY},
	};

	*ret = rules[rng_below(r, N_OF(rules))];
}

static void put_random_rules(struct fix *f, struct rng *r)
{
	struct placement_rule rules[3];
	uint32_t n = rng_below(r, N_OF(rules) + 1);

	for (uint32_t i = 0; i < n; i++)
		put_random_rule(r, &rules[i]);
	assert_int_equal(cluster_put_placement(f->c, rules, n, NULL), ERR_OK);
}

static void put_random_namespace(struct fix *f, uint32_t i, struct rng *r)
{
	put_namespace_as(
		f, (struct namespace_is){.name = namespaces[i],
					 .parent_queue = random_queue(r),
					 .max_cpu = rng_below(r, 2) == 0 ? CPU(5000 + 1000 * rng_below(r, 3)) : NULL,
					 .guaranteed_cpu = rng_below(r, 3) == 0 ? CPU(100 * rng_below(r, 3)) : NULL,
					 .max_apps = rng_below(r, 3)});
}

static const struct set_is kai_sets[] = {
	{{{.kai = "a", .gpu = gpus}, {.kai = "b"}}},
	{{{.kai = "a", .gpu = gpus}, {.kai = "b"}, {.kai = "x", .parent = "a", .gpu = gpus}}},
	{{{.kai = "x", .parent = "b", .gpu = gpus}, {.kai = "a"}, {.kai = "b"}}},
	{{{.kai = "x"}, {.kai = "a", .parent = "x"}, {.kai = "b", .parent = "a"}}},
	{{{.kai = "team", .parent = "default"}, {.kai = "default"}, {.kai = "a"}}},
	{{{.kai = "default"}, {.kai = "b", .parent = "nobody"}, {.kai = "x", .parent = "b"}}},
};

static const struct queue_is circle[] = {{.kai = "a", .parent = "b"}, {.kai = "b", .parent = "a"}};
static const struct queue_is two_minds[] = {{.path = "root.y1", .guaranteed_cpu = 1},
					    {.path = "root.y1", .guaranteed_cpu = 2}};

static uint32_t set_size(const struct set_is *s)
{
	uint32_t n = 0;

	while (n < N_OF(s->q) && (s->q[n].path != NULL || s->q[n].kai != NULL))
		n++;
	return n;
}

static void put_set(struct fix *f, enum queue_source source, const struct set_is *s)
{
	struct err e = {0};

	if (try_queues(f, source, s->q, s != NULL ? set_size(s) : 0, &e) != ERR_OK)
		fail_msg("%s", e.msg);
}

static void put_bad_sets(struct fix *f)
{
	uint64_t before = ledger_digest(f->l);

	assert_int_equal(try_queues(f, FROM_KAI, circle, 2, NULL), ERR_CONFLICT);
	assert_int_equal(try_queues(f, FROM_YUNIKORN, two_minds, 2, NULL), ERR_CONFLICT);
	assert_int_equal(ledger_digest(f->l), before);
}

static void put_profile(struct fix *f, struct rng *r)
{
	struct cluster_options o = cluster_options_default();

	o.profile = rng_below(r, 2) == 0 ? PROFILE_DEFAULT : (enum profile)rng_below(r, 4);
	o.reach = (enum preemptibility_reach)rng_below(r, 3);
	o.now_ns = AT(7777);
	cluster_set_options(f->c, &o);
}

/* ---- one object comes, changes or goes ---- */

static void put_slot(struct fix *f, enum kind kind, uint32_t i, uint64_t seed)
{
	struct rng r = {seed};

	switch (kind) {
	case NODE:
		put_node(f, node_names[i]);
		break;
	case CLASS:
		put_class(f, class_names[i], numbers[rng_below(&r, N_OF(numbers))], rng_below(&r, 3) == 0);
		break;
	case NAMESPACE:
		put_random_namespace(f, i, &r);
		break;
	case OWNER:
		put_random_owner(f, i, &r);
		break;
	case GROUP:
		put_random_group(f, i, &r);
		break;
	case POD:
		put_random_pod(f, i, &r);
		break;
	case BUDGET:
		put_pdb(f, "b", 1);
		break;
	case YUNIKORN:
		put_set(f, FROM_YUNIKORN, &yunikorn_sets[rng_below(&r, N_OF(yunikorn_sets))]);
		break;
	case KAI:
		put_set(f, FROM_KAI, &kai_sets[rng_below(&r, N_OF(kai_sets))]);
		break;
	case RULES:
		put_random_rules(f, &r);
		break;
	case PROFILE:
		put_profile(f, &r);
		break;
	case KINDS:
		break;
	}
}

static void drop_slot(struct fix *f, enum kind kind, uint32_t i)
{
	struct cluster_options o = cluster_options_default();

	switch (kind) {
	case NODE:
		cluster_drop_node(f->c, node_names[i]);
		break;
	case CLASS:
		cluster_drop_class(f->c, class_names[i]);
		break;
	case NAMESPACE:
		cluster_drop_namespace(f->c, namespaces[i]);
		break;
	case OWNER:
		cluster_drop_owner(f->c, owners[i].kind_name, "ns", owners[i].name);
		break;
	case GROUP:
		cluster_drop_group(f->c, "ns", group_names[i % N_OF(group_names)], is_k8s_group(i));
		break;
	case POD:
		cluster_drop_pod(f->c, ns_of_pod(i), pod_names[i]);
		break;
	case BUDGET:
		cluster_drop_pdb(f->c, "ns", "b");
		break;
	case YUNIKORN:
		put_no_queues(f, FROM_YUNIKORN);
		break;
	case KAI:
		put_no_queues(f, FROM_KAI);
		break;
	case RULES:
		put_no_rules(f);
		break;
	case PROFILE:
		cluster_set_options(f->c, &o);
		break;
	case KINDS:
		break;
	}
}

static void apply(struct fix *f, const struct slot *s)
{
	if (s->seed != 0)
		put_slot(f, s->kind, s->i, s->seed);
	else
		drop_slot(f, s->kind, s->i);
}

/* ---- worlds and the ways to them ---- */

static uint64_t random_seed(struct rng *r)
{
	return rng_below(r, 4) == 0 ? 0 : rng_next(r);
}

static struct world random_world(struct rng *r)
{
	struct world w = {0};

	for (enum kind k = 0; k < KINDS; k++)
		for (uint32_t i = 0; i < n_of_kind[k]; i++)
			w.slots[w.n++] = (struct slot){k, i, random_seed(r)};
	assert_true(w.n <= SLOTS_MAX);
	return w;
}

/* Who comes next in a random order in which every slot ends with its own seed. */
static void walk(struct fix *f, const struct world *w, uint32_t n_detours, struct rng *r)
{
	struct slot todo[SLOTS_MAX];
	uint32_t n = w->n;

	memcpy(todo, w->slots, sizeof(todo));
	while (n > 0) {
		uint32_t i = rng_below(r, n + n_detours);
		if (i < n) {
			apply(f, &todo[i]);
			todo[i] = todo[--n];
			continue;
		}
		/* A detour, of somebody whose last word is still to come. */
		struct slot other = todo[rng_below(r, n)];
		other.seed = random_seed(r);
		apply(f, &other);
		if (rng_below(r, 8) == 0)
			put_bad_sets(f);
	}
}

/*
 * Queues that are being drained know the past, and are meant to. Pods in them are sent round again, as after a restart.
 */
static void forget_the_past(struct fix *f, const struct world *w)
{
	bool again[SLOTS_MAX] = {false};

	for (uint32_t i = 0; i < w->n; i++) {
		if (w->slots[i].kind != POD || w->slots[i].seed == 0)
			continue;
		queue_id q = pod_in(f, ns_of_pod(w->slots[i].i), pod_names[w->slots[i].i])->queue;
		for (; q != QUEUE_NONE; q = queue_get(ledger_queues(f->l), q)->parent)
			again[i] |= queue_get(ledger_queues(f->l), q)->is_draining;
	}
	for (uint32_t i = 0; i < w->n; i++)
		if (again[i])
			drop_slot(f, POD, w->slots[i].i);
	for (uint32_t i = 0; i < w->n; i++)
		if (again[i])
			apply(f, &w->slots[i]);
}

/* ---- everything that was resolved, by names ---- */

static const char *node_name(const struct fix *f, node_id n)
{
	return n != NODE_NONE ? name_str(f->names, ledger_node(f->l, n)->name) : "-";
}

static void dump_pod(const struct fix *f, const char *ns, const char *name, struct text *out)
{
	pod_id id = cluster_find_pod(f->c, ns, name);

	if (id == POD_NONE)
		return;
	const struct pod *p = ledger_pod(f->l, id);
	text_printf(out, "%s: state %d node %s claim %d queue %s priority %d %s started %lld world %d", name, p->state,
		    node_name(f, p->node), p->nomination, queue_path_in(f, ns, name), p->priority,
		    preemptibility_text(p->preemptibility), (long long)p->started_ns, cluster_is_kai_world(f->c, id));
	if (p->group != GROUP_NONE)
		text_printf(out, " group %s%s/%s", ledger_group(f->l, p->group)->obj->is_k8s ? "k8s " : "",
			    name_str(f->names, ledger_group(f->l, p->group)->obj->name),
			    name_str(f->names, ledger_podset(f->l, p->podset)->name));
	text_add(out, "\n");
}

static void dump_group(const struct fix *f, const char *name, bool is_k8s, struct text *out)
{
	name_id ns = names_find(f->names, "ns", 2), id = names_find(f->names, name, strlen(name));
	group_id g = id != NAME_NONE ? ledger_group_find(f->l, ns, id, is_k8s) : GROUP_NONE;

	if (g == GROUP_NONE)
		return;
	const struct group *group = ledger_group(f->l, g);
	const char *path = group->queue != QUEUE_NONE
				   ? name_str(f->names, queue_get(ledger_queues(f->l), group->queue)->path)
				   : "-";
	text_printf(out, "%s: queue %s priority %d %s started %lld", name, path, group->priority,
		    preemptibility_text(group->preemptibility), (long long)group->started_ns);
	for (uint32_t i = 0; i < group->n_podsets; i++) {
		const struct podset *s = ledger_podset(f->l, group->first_podset + i);
		text_printf(out, " %s %d of %u (%u %u %u %u %u)", name_str(f->names, s->name), s->min_member, s->n_pods,
			    s->n_waiting, s->n_placed, s->n_leaving, s->n_finished, s->n_nominated);
	}
	text_add(out, "\n");
}

/* Whether an implicit queue that nobody is in is still there says nothing. */
static void dump_queue(const struct fix *f, queue_id id, struct text *out)
{
	const struct queue *q = queue_get(ledger_queues(f->l), id);
	uint32_t n_pods;

	ledger_queue_pods(f->l, id, &n_pods);
	bool is_idle = q->spec.sources == FROM_NOBODY && n_pods == 0 && id != QUEUE_ROOT;
	if (!is_idle || q->children.n > 0) {
		text_printf(out, "%s: %x%s %s used %lld leaving %lld claimed %lld waiting %u kai %s guaranteed ",
			    name_str(f->names, q->path), q->spec.sources, q->is_draining ? " draining" : "",
			    queue_is_leaf(ledger_queues(f->l), id) ? "leaf" : "parent",
			    (long long)ledger_queue_used(f->l, id)[RES_CPU],
			    (long long)ledger_queue_leaving(f->l, id)[RES_CPU],
			    (long long)ledger_queue_reserved(f->l, id)[RES_CPU], ledger_queue_waiting(f->l, id),
			    name_str(f->names, q->spec.kai_name));
		res_vec_text(vocab_res(f->v), &q->spec.guaranteed, out);
		text_add(out, " max ");
		res_vec_text(vocab_res(f->v), &q->spec.max, out);
		text_printf(out, " apps %llu policy %d delay %lld template %d\n", (unsigned long long)q->spec.max_apps,
			    q->props.preemption_policy, (long long)q->props.preemption_delay_ns,
			    q->spec.child_template != NULL);
	}
	for (uint32_t i = 0; i < q->children.n; i++)
		dump_queue(f, q->children.v[i], out);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Warnings of resolving, sorted; those of queues were said when their set came. */
static void dump_warnings(struct fix *f, struct text *out)
{
	ARRAY(char *) lines = {0};

	for (const char *w = cluster_next_warning(f->c); w != NULL; w = cluster_next_warning(f->c))
		if (strncmp(w, "queue ", 6) != 0)
			array_push(&lines, mem_strdup(w));
	if (lines.n > 0)
		qsort(lines.v, lines.n, sizeof(*lines.v), compare_lines);
	for (uint32_t i = 0; i < lines.n; i++) {
		text_printf(out, "%s\n", lines.v[i]);
		mem_free(lines.v[i]);
	}
	array_free(&lines);
}

static void dump(struct fix *f, struct text *out)
{
	for (uint32_t i = 0; i < N_OF(pod_names); i++)
		dump_pod(f, ns_of_pod(i), pod_names[i], out);
	for (uint32_t i = 0; i < n_of_kind[GROUP]; i++)
		dump_group(f, group_names[i % N_OF(group_names)], is_k8s_group(i), out);
	dump_queue(f, QUEUE_ROOT, out);
	for (uint32_t i = 0; i < N_OF(node_names); i++) {
		name_id id = names_find(f->names, node_names[i], strlen(node_names[i]));
		node_id n = id != NAME_NONE ? ledger_node_find(f->l, id) : NODE_NONE;
		if (n != NODE_NONE && (ledger_node(f->l, n)->is_live || ledger_node(f->l, n)->pods.n > 0))
			text_printf(out, "%s: %d used %lld claimed %lld\n", node_names[i],
				    ledger_node(f->l, n)->is_live, (long long)ledger_node_used(f->l, n)[RES_CPU],
				    (long long)ledger_node_reserved(f->l, n)[RES_CPU]);
	}
	dump_warnings(f, out);
}

/* Everything goes again, in any order, and nothing stays. */
static void clear(struct fix *f, struct world *w, struct rng *r)
{
	for (uint32_t n = w->n; n > 0; n--) {
		uint32_t i = rng_below(r, n);
		drop_slot(f, w->slots[i].kind, w->slots[i].i);
		w->slots[i] = w->slots[n - 1];
	}
	put_no_queues(f, FROM_KAI);
	assert_int_equal(ledger_queues(f->l)->q.n, 1);
	for (node_id n = 0; n < ledger_node_limit(f->l); n++)
		assert_int_equal(ledger_node(f->l, n)->name, NAME_NONE);
}

static void reach(const struct world *w, uint32_t n_detours, struct rng *r, struct text *out)
{
	struct fix f;
	struct err e = {0};
	struct world copy = *w;

	fix_init(&f, PROFILE_DEFAULT);
	walk(&f, w, n_detours, r);
	forget_the_past(&f, w);
	if (ledger_check(f.l, &e) != ERR_OK)
		fail_msg("%s", e.msg);
	assert_int_equal(ledger_get_mark(f.l), 0);
	dump(&f, out);
	clear(&f, &copy, r);
	fix_free(&f);
}

/* Fails with the first line that differs. */
static void must_be_same(const char *a, const char *b, uint64_t seed, uint32_t n_detours)
{
	size_t line = 0, i = 0;

	for (; a[i] != '\0' && a[i] == b[i]; i++)
		line = a[i] == '\n' ? i + 1 : line;
	if (a[i] != b[i])
		fail_msg("seed %llu, detours %u\n one way: %.*s\n another: %.*s", (unsigned long long)seed, n_detours,
			 (int)strcspn(a + line, "\n"), a + line, (int)strcspn(b + line, "\n"), b + line);
}

static void the_order_of_objects_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct rng r = {seed};
		struct world w = random_world(&r);
		struct text expected = {0};
		reach(&w, 0, &r, &expected);
		for (uint32_t n_detours = 0; n_detours <= 40; n_detours += 20) {
			struct text found = {0};
			reach(&w, n_detours, &r, &found);
			must_be_same(text_str(&expected), text_str(&found), seed, n_detours);
			text_free(&found);
		}
		text_free(&expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_objects_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
