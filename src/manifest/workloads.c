/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads become the pods their controllers would make.
 *
 * A pod is put together as a tree of its own, whose spec, labels and annotations are the template's and stand where
 * the template stands, so that what is wrong with them is told as for any other pod. Names are those of the
 * controllers as far as these are not random: NAME-0, NAME-1 of a StatefulSet, and a number in place of the random
 * letters of the others, or the name of the node for a DaemonSet's, which are one for each node.
 */
#include <stdio.h>

#include "manifest/collect.h"
#include "manifest/object.h"

enum { MADE_MAX = 100000 }; /* pods of one manifest: a slip in spec.replicas is not to take all memory */

static const struct {
	const char *kind, *api;
} workload_kinds[] = {
	/* what is made by another one of these comes first */
	{"ReplicaSet", "apps/"}, {"StatefulSet", "apps/"},	 {"Job", "batch/"},
	{"Deployment", "apps/"}, {"JobSet", "jobset.x-k8s.io/"}, {"DaemonSet", "apps/"},
};
enum { WORKLOAD_KINDS = sizeof(workload_kinds) / sizeof(*workload_kinds) };

bool workloads_note(struct manifest *m, const char *api, const char *kind, const struct tree *t)
{
	for (int i = 0; i < WORKLOAD_KINDS; i++) {
		if (!str_eq(kind, workload_kinds[i].kind) || !str_starts(api, workload_kinds[i].api))
			continue;
		struct workload_template w = {workload_kinds[i].kind, m->file, tree_copy(m->strings, t)};

		array_push(&m->workloads, w);
		return true;
	}
	return false;
}

/* ---- putting trees together ---- */

enum { FIELDS_MAX = 8 };

struct map_draft { /* a map that is being made, standing where another value stands */
	struct arena *a;
	const struct tree *at;
	struct tree_field *fields;
	uint32_t n, cap;
};

static struct map_draft map_draft(struct arena *a, const struct tree *at, uint32_t cap)
{
	return (struct map_draft){.a = a, .at = at, .fields = arena_n(a, cap + 1, struct tree_field), .cap = cap};
}

static void put(struct map_draft *d, const char *key, const struct tree *value)
{
	if (!value)
		return;
	assert(d->n < d->cap);
	d->fields[d->n++] = (struct tree_field){
		.key = key, .key_len = (uint32_t)strlen(key), .line = d->at->line, .col = d->at->col, .value = value};
}

static struct tree *tree_at(struct arena *a, const struct tree *at, enum tree_kind kind)
{
	struct tree *t = arena_type(a, struct tree);

	assert(at);
	*t = (struct tree){.kind = kind, .line = at->line, .col = at->col};
	return t;
}

static void put_text(struct map_draft *d, const char *key, const char *text)
{
	struct tree *t = tree_at(d->a, d->at, TREE_STRING);

	t->text = arena_strndup(d->a, text, strlen(text));
	t->n = (uint32_t)strlen(text);
	put(d, key, t);
}

static const struct tree *done(const struct map_draft *d)
{
	struct tree *t = tree_at(d->a, d->at, TREE_MAP);

	t->fields = d->fields;
	t->n = d->n;
	return t;
}

/* ownerReferences: one, the controller. */
static const struct tree *controller_list(struct arena *a, const struct tree *at, const char *kind, const char *name)
{
	struct map_draft ref = map_draft(a, at, FIELDS_MAX);
	struct tree *truth = tree_at(a, at, TREE_BOOL), *list = tree_at(a, at, TREE_LIST);
	const struct tree **items = arena_n(a, 1, const struct tree *);

	truth->truth = true;
	truth->text = "true";
	truth->n = 4;
	put_text(&ref, "kind", kind);
	put_text(&ref, "name", name);
	put(&ref, "controller", truth);
	items[0] = done(&ref);
	list->items = items;
	list->n = 1;
	return list;
}

struct made_label {
	const char *key, *text;
};

/* The template's labels and those its controller adds. */
static const struct tree *labels_with(struct arena *a, const struct tree *template, const struct made_label *more,
				      uint32_t n_more)
{
	const struct tree *own = tree_path(template, "metadata.labels");
	uint32_t n_own = tree_is(own, TREE_MAP) ? own->n : 0;
	struct map_draft d = map_draft(a, own ? own : template, n_own + n_more);

	if (own && own->kind != TREE_MAP)
		return own; /* whoever reads it says what is wrong */
	for (uint32_t i = 0; i < n_own; i++)
		d.fields[d.n++] = own->fields[i];
	for (uint32_t i = 0; i < n_more; i++)
		if (!tree_get(own, more[i].key))
			put_text(&d, more[i].key, more[i].text);
	return done(&d);
}

/* ---- one set of pods ---- */

enum { LABELS_MAX = 6 };

struct pods_wanted {
	const char *owner_kind, *owner_name, *ns;
	const char *stem;		      /* names are STEM-0, STEM-1, ... */
	const char *index_label, *name_label; /* get the number and the name; NULL: no such label */
	const struct tree *template;
	const struct tree *spec; /* NULL: the template's */
	int64_t n, first;
	uint32_t n_labels;
	struct made_label labels[LABELS_MAX];
};

static const struct object_kind *kind_of(const char *kind)
{
	for (size_t i = 0; i < object_kind_count; i++)
		if (str_eq(object_kinds[i].kind, kind))
			return &object_kinds[i];
	return NULL;
}

static bool is_there(const struct manifest *m, const char *kind, const char *ns, const char *name)
{
	const struct names *names = vocab_names(m->vocab);
	name_id ns_id = names_find(names, ns, strlen(ns)), id = names_find(names, name, strlen(name));

	return ns_id != NAME_NONE && id != NAME_NONE &&
	       map_get(&m->seen[kind_of(kind) - object_kinds], map_key2(ns_id, id)) != MAP_NONE;
}

static const struct tree *pod_tree(struct arena *a, const struct pods_wanted *w, const char *name, int64_t number)
{
	struct map_draft pod = map_draft(a, w->template, FIELDS_MAX), meta = map_draft(a, w->template, FIELDS_MAX);
	struct made_label labels[LABELS_MAX + 2];
	uint32_t n = w->n_labels;

	memcpy(labels, w->labels, sizeof(w->labels));
	if (w->index_label)
		labels[n++] = (struct made_label){w->index_label, arena_printf(a, "%lld", (long long)number)};
	if (w->name_label)
		labels[n++] = (struct made_label){w->name_label, name};
	put_text(&meta, "name", name);
	put_text(&meta, "namespace", w->ns);
	put(&meta, "labels", labels_with(a, w->template, labels, n));
	put(&meta, "annotations", tree_path(w->template, "metadata.annotations"));
	put(&meta, "ownerReferences", controller_list(a, w->template, w->owner_kind, w->owner_name));
	put_text(&pod, "apiVersion", "v1");
	put_text(&pod, "kind", "Pod");
	put(&pod, "metadata", done(&meta));
	put(&pod, "spec", w->spec ? w->spec : tree_get(w->template, "spec"));
	return done(&pod);
}

static enum err_code make_pods(struct manifest *m, const struct pods_wanted *w, struct err *e)
{
	int64_t made = 0;

	for (int64_t i = w->first; made < w->n; i++) {
		char number[24];
		const char *name;

		snprintf(number, sizeof(number), "%lld", (long long)i);
		arena_reset(m->document);
		name = arena_printf(m->document, "%s-%s", w->stem, number);
		if (is_there(m, "Pod", w->ns, name))
			continue;
		TRY(manifest_take_object(m, kind_of("Pod"), pod_tree(m->document, w, name, i), e));
		made++;
		m->n_made++;
	}
	return ERR_OK;
}

/* ---- what is there already ---- */

static bool is_owned_by(const struct manifest *m, const struct obj_pod *p, const char *kind, const char *ns,
			const char *name)
{
	const struct names *names = vocab_names(m->vocab);

	return p->owner_kind == owner_kind_parse(kind) && str_eq(name_str(names, p->owner_name), name) &&
	       str_eq(name_str(names, labelset_get(m->vocab, p->labelset)->ns), ns);
}

static bool has_finished(const struct obj_pod *p)
{
	return p->phase == PHASE_SUCCEEDED || p->phase == PHASE_FAILED;
}

static int64_t count_pods(const struct manifest *m, const char *kind, const char *ns, const char *name)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < m->records.n; i++) {
		const struct obj_pod *p = m->records.v[i].obj;

		if (str_eq(m->records.v[i].kind->kind, "Pod") && is_owned_by(m, p, kind, ns, name))
			n += !has_finished(p) && p->deleted_ns == TIME_NONE;
	}
	return n;
}

/* Pods of everything of this kind that the controller made. */
static int64_t count_below(const struct manifest *m, const char *kind, const char *parent_kind, const char *ns,
			   const char *parent)
{
	const struct names *names = vocab_names(m->vocab);
	int64_t n = 0;

	for (uint32_t i = 0; i < m->records.n; i++) {
		const struct obj_owner *o = m->records.v[i].obj;

		if (!str_eq(m->records.v[i].kind->kind, kind) || !str_eq(name_str(names, o->parent_kind), parent_kind))
			continue;
		if (str_eq(name_str(names, o->parent_name), parent) &&
		    str_eq(name_str(names, labelset_get(m->vocab, o->labelset)->ns), ns))
			n += count_pods(m, kind, ns, name_str(names, o->name));
	}
	return n;
}

/* ---- each kind ---- */

struct workload_reader {
	struct manifest *m;
	struct reader r;
	const struct workload_template *w;
	struct at root, spec;
	const char *ns, *name;
};

/* A template of pods, with its spec. */
static enum err_code get_template(const struct workload_reader *x, const struct at *spec, const struct tree **ret,
				  struct err *e)
{
	struct at template = at_field(spec, "template"), inner = at_field(&template, "spec");

	TRY(at_want(&x->r, &template, TREE_MAP, e));
	TRY(at_want(&x->r, &inner, TREE_MAP, e));
	if (!inner.t)
		return at_expected(&x->r, &inner, e, "the spec of its pods");
	*ret = template.t;
	return ERR_OK;
}

static enum err_code check_count(const struct workload_reader *x, const struct at *spec, const char *key, int64_t n,
				 struct err *e)
{
	struct at a = at_field(spec, key);

	if (n <= MADE_MAX - (int64_t)x->m->n_made)
		return ERR_OK;
	return at_fail(&x->r, &a, e, "more pods than the %d that are made for added workloads", MADE_MAX);
}

static enum err_code replicas(const struct workload_reader *x, int64_t *ret, struct err *e)
{
	*ret = 1;
	TRY(get_int(&x->r, &x->spec, "replicas", 0, INT32_MAX, ret, e));
	return check_count(x, &x->spec, "replicas", *ret, e);
}

static enum err_code expand_replica_set(struct workload_reader *x, struct err *e)
{
	struct pods_wanted w = {.owner_kind = "ReplicaSet", .owner_name = x->name, .ns = x->ns, .stem = x->name};

	TRY(replicas(x, &w.n, e));
	TRY(get_template(x, &x->spec, &w.template, e));
	w.n -= count_pods(x->m, "ReplicaSet", x->ns, x->name);
	return make_pods(x->m, &w, e);
}

static enum err_code expand_stateful_set(struct workload_reader *x, struct err *e)
{
	struct pods_wanted w = {.owner_kind = "StatefulSet",
				.owner_name = x->name,
				.ns = x->ns,
				.stem = x->name,
				.index_label = "apps.kubernetes.io/pod-index",
				.name_label = "statefulset.kubernetes.io/pod-name"};
	struct at ordinals = at_field(&x->spec, "ordinals");

	TRY(replicas(x, &w.n, e));
	TRY(get_template(x, &x->spec, &w.template, e));
	TRY(at_want(&x->r, &ordinals, TREE_MAP, e));
	TRY(get_int(&x->r, &ordinals, "start", 0, INT32_MAX, &w.first, e));
	w.n -= count_pods(x->m, "StatefulSet", x->ns, x->name);
	return make_pods(x->m, &w, e);
}

/* An object that stands between a workload and its pods: labels and owners are looked up through it. */
static enum err_code make_owner(struct workload_reader *x, const char *api, const char *kind, const char *name,
				const struct tree *template, struct err *e)
{
	struct arena *a = x->m->document;
	struct map_draft o = map_draft(a, template, FIELDS_MAX), meta = map_draft(a, template, FIELDS_MAX),
			 spec = map_draft(a, template, FIELDS_MAX);

	if (is_there(x->m, kind, x->ns, name))
		return ERR_OK;
	put_text(&meta, "name", name);
	put_text(&meta, "namespace", x->ns);
	put(&meta, "labels", tree_path(template, "metadata.labels"));
	put(&meta, "ownerReferences", controller_list(a, template, x->w->kind, x->name));
	put(&spec, "selector", tree_get(x->spec.t, "selector"));
	put_text(&o, "apiVersion", api);
	put_text(&o, "kind", kind);
	put(&o, "metadata", done(&meta));
	put(&o, "spec", done(&spec));
	return manifest_take_object(x->m, kind_of(kind), done(&o), e);
}

static enum err_code expand_deployment(struct workload_reader *x, struct err *e)
{
	struct pods_wanted w = {.owner_kind = "ReplicaSet", .owner_name = x->name, .ns = x->ns, .stem = x->name};

	TRY(replicas(x, &w.n, e));
	TRY(get_template(x, &x->spec, &w.template, e));
	w.n -= count_below(x->m, "ReplicaSet", "Deployment", x->ns, x->name);
	if (w.n <= 0)
		return ERR_OK;
	TRY(make_owner(x, "apps/v1", "ReplicaSet", x->name, w.template, e));
	return make_pods(x->m, &w, e);
}

/* How many pods a Job has at a time; none while it is suspended. */
static enum err_code job_pods(const struct workload_reader *x, const struct at *spec, int64_t *ret, struct err *e)
{
	struct at has_completions = at_field(spec, "completions");
	int64_t parallelism = 1, completions = 0;
	bool is_suspended = false;

	TRY(get_int(&x->r, spec, "parallelism", 0, INT32_MAX, &parallelism, e));
	TRY(get_int(&x->r, spec, "completions", 0, INT32_MAX, &completions, e));
	TRY(get_bool(&x->r, spec, "suspend", &is_suspended, e));
	*ret = has_completions.t && completions < parallelism ? completions : parallelism;
	if (is_suspended)
		*ret = 0;
	return check_count(x, spec, "parallelism", *ret, e);
}

static void job_labels(struct pods_wanted *w, const char *job)
{
	w->labels[w->n_labels++] = (struct made_label){"batch.kubernetes.io/job-name", job};
	w->labels[w->n_labels++] = (struct made_label){"job-name", job};
	w->index_label = "batch.kubernetes.io/job-completion-index";
}

static enum err_code expand_job(struct workload_reader *x, struct err *e)
{
	struct pods_wanted w = {.owner_kind = "Job", .owner_name = x->name, .ns = x->ns, .stem = x->name};

	TRY(job_pods(x, &x->spec, &w.n, e));
	TRY(get_template(x, &x->spec, &w.template, e));
	w.n -= count_pods(x->m, "Job", x->ns, x->name);
	job_labels(&w, x->name);
	return make_pods(x->m, &w, e);
}

/* One of the Jobs that a JobSet makes. */
static enum err_code job_of_set(struct workload_reader *x, const char *part, int64_t number, int64_t n,
				const struct tree *job_template, const struct tree *template, struct err *e)
{
	struct arena *a = x->m->strings;
	const char *job = arena_printf(a, "%s-%s-%lld", x->name, part, (long long)number);
	struct pods_wanted w = {
		.owner_kind = "Job",
		.owner_name = job,
		.ns = x->ns,
		.stem = job,
		.template = template,
		.n = n - count_pods(x->m, "Job", x->ns, job),
		.n_labels = 3,
		.labels = {{"jobset.sigs.k8s.io/jobset-name", x->name},
			   {"jobset.sigs.k8s.io/replicatedjob-name", part},
			   {"jobset.sigs.k8s.io/job-index", arena_printf(a, "%lld", (long long)number)}}};

	job_labels(&w, job);
	TRY(make_owner(x, "batch/v1", "Job", job, job_template, e));
	return make_pods(x->m, &w, e);
}

static enum err_code expand_part(struct workload_reader *x, const struct at *part, struct err *e)
{
	struct at template = at_field(part, "template"), spec = at_field(&template, "spec"),
		  name_at = at_field(part, "name");
	const struct tree *pods = NULL;
	const char *name = "";
	int64_t n_jobs = 1, n = 0;

	TRY(get_text(&x->r, part, "name", &name, e));
	if (!*name)
		return at_expected(&x->r, &name_at, e, "a name");
	TRY(get_int(&x->r, part, "replicas", 0, INT32_MAX, &n_jobs, e));
	TRY(at_want(&x->r, &template, TREE_MAP, e));
	TRY(at_want(&x->r, &spec, TREE_MAP, e));
	TRY(job_pods(x, &spec, &n, e));
	TRY(get_template(x, &spec, &pods, e));
	TRY(check_count(x, part, "replicas", n_jobs > MADE_MAX ? n_jobs : n_jobs * n, e));
	for (int64_t i = 0; i < n_jobs; i++)
		TRY(job_of_set(x, name, i, n, template.t, pods, e));
	return ERR_OK;
}

static enum err_code expand_job_set(struct workload_reader *x, struct err *e)
{
	struct at parts = at_field(&x->spec, "replicatedJobs");
	bool is_suspended = false;

	TRY(get_bool(&x->r, &x->spec, "suspend", &is_suspended, e));
	TRY(at_want(&x->r, &parts, TREE_LIST, e));
	for (uint32_t i = 0; !is_suspended && i < at_count(&parts); i++) {
		struct at part = at_item(&parts, i);

		TRY(at_want(&x->r, &part, TREE_MAP, e));
		TRY(expand_part(x, &part, e));
	}
	return ERR_OK;
}

/* ---- a pod for each node ---- */

static const struct tree *list_of(struct arena *a, const struct tree *at, const struct tree *const *items, uint32_t n)
{
	struct tree *t = tree_at(a, at, TREE_LIST);
	const struct tree **mine = arena_n(a, n + 1, const struct tree *);

	for (uint32_t i = 0; i < n; i++)
		mine[i] = items[i];
	t->items = mine;
	t->n = n;
	return t;
}

static const struct tree *text_tree(struct arena *a, const struct tree *at, const char *text)
{
	struct tree *t = tree_at(a, at, TREE_STRING);

	t->text = text;
	t->n = (uint32_t)strlen(text);
	return t;
}

/* What is required of nodes becomes the one node, as the controller writes it; what is preferred stays. */
static const struct tree *affinity_to(struct arena *a, const struct tree *spec, const char *node)
{
	const struct tree *own = tree_get(spec, "affinity"), *name = text_tree(a, spec, node), *one;
	struct map_draft field = map_draft(a, spec, FIELDS_MAX), term = map_draft(a, spec, FIELDS_MAX),
			 required = map_draft(a, spec, FIELDS_MAX), nodes = map_draft(a, spec, FIELDS_MAX),
			 all = map_draft(a, spec, FIELDS_MAX);

	put_text(&field, "key", "metadata.name");
	put_text(&field, "operator", "In");
	put(&field, "values", list_of(a, spec, &name, 1));
	one = done(&field);
	put(&term, "matchFields", list_of(a, spec, &one, 1));
	one = done(&term);
	put(&required, "nodeSelectorTerms", list_of(a, spec, &one, 1));
	put(&nodes, "requiredDuringSchedulingIgnoredDuringExecution", done(&required));
	put(&nodes, "preferredDuringSchedulingIgnoredDuringExecution",
	    tree_path(own, "nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"));
	put(&all, "nodeAffinity", done(&nodes));
	put(&all, "podAffinity", tree_get(own, "podAffinity"));
	put(&all, "podAntiAffinity", tree_get(own, "podAntiAffinity"));
	return done(&all);
}

/* Its own, and those that every pod of a DaemonSet gets: it stays where others would not. */
static const struct tree *tolerations_of(struct arena *a, const struct tree *spec)
{
	static const char *const kept[][2] = {
		{"not-ready", "NoExecute"},
		{"unreachable", "NoExecute"},
		{"disk-pressure", "NoSchedule"},
		{"memory-pressure", "NoSchedule"},
		{"pid-pressure", "NoSchedule"},
		{"unschedulable", "NoSchedule"},
		{"network-unavailable", "NoSchedule"}, /* on the host's network alone */
	};
	enum { KEPT = sizeof(kept) / sizeof(*kept) };
	const struct tree *own = tree_get(spec, "tolerations"), *host = tree_get(spec, "hostNetwork");
	uint32_t n = tree_is(own, TREE_LIST) ? own->n : 0,
		 more = tree_is(host, TREE_BOOL) && host->truth ? KEPT : KEPT - 1;
	const struct tree **items = arena_n(a, n + KEPT, const struct tree *);

	if (own && own->kind != TREE_LIST)
		return own; /* whoever reads it says what is wrong */
	for (uint32_t i = 0; i < n; i++)
		items[i] = own->items[i];
	for (uint32_t i = 0; i < more; i++) {
		struct map_draft d = map_draft(a, spec, FIELDS_MAX);

		put_text(&d, "key", arena_printf(a, "node.kubernetes.io/%s", kept[i][0]));
		put_text(&d, "operator", "Exists");
		put_text(&d, "effect", kept[i][1]);
		items[n + i] = done(&d);
	}
	return list_of(a, spec, items, n + more);
}

/* node NULL: the affinity stays as it is. */
static const struct tree *daemon_spec(struct arena *a, const struct tree *template, const char *node)
{
	const struct tree *spec = tree_get(template, "spec");
	struct map_draft d = map_draft(a, spec, spec->n + 2);

	for (uint32_t i = 0; i < spec->n; i++)
		if (!str_eq(spec->fields[i].key, "tolerations") && (!node || !str_eq(spec->fields[i].key, "affinity")))
			d.fields[d.n++] = spec->fields[i];
	put(&d, "tolerations", tolerations_of(a, spec));
	if (node)
		put(&d, "affinity", affinity_to(a, spec, node));
	return done(&d);
}

/* May a pod of this shape be on that node at all, whatever room there is? */
static bool suits(const struct manifest *m, const struct shape *s, const struct obj_node *o)
{
	const struct names *names = vocab_names(m->vocab);
	const struct labels *labels = &labelset_get(m->vocab, o->labelset)->labels;

	if (!labels_include(labels, &s->node_selector) ||
	    (s->has_required_terms && !node_terms_match(names, &s->required_terms, labels, o->name)))
		return false;
	for (uint32_t i = 0; i < o->n_taints; i++)
		if (o->taints[i].effect != EFFECT_PREFER_NO_SCHEDULE &&
		    !tolerations_match(names, s->tolerations, s->n_tolerations, &o->taints[i], true))
			return false;
	return true;
}

/* It has its pod there, or one that is to run there. */
static bool has_daemon_on(const struct workload_reader *x, name_id node)
{
	const struct manifest *m = x->m;

	for (uint32_t i = 0; i < m->records.n; i++) {
		const struct obj_pod *p = m->records.v[i].obj;

		if (str_eq(m->records.v[i].kind->kind, "Pod") && is_owned_by(m, p, "DaemonSet", x->ns, x->name) &&
		    !has_finished(p) && p->deleted_ns == TIME_NONE &&
		    (p->node_name == node || shape_get(m->vocab, p->shape)->runs_on == node))
			return true;
	}
	return false;
}

static enum err_code make_daemon(struct workload_reader *x, struct pods_wanted *w, const char *node, struct err *e)
{
	struct at spec = x->spec;
	const char *name;

	TRY(check_count(x, &spec, "template", 1, e));
	arena_reset(x->m->document);
	name = arena_printf(x->m->document, "%s-%s", x->name, node);
	w->spec = daemon_spec(x->m->document, w->template, node);
	if (is_there(x->m, "Pod", x->ns, name))
		return ERR_OK;
	x->m->n_made++;
	return manifest_take_object(x->m, kind_of("Pod"), pod_tree(x->m->document, w, name, 0), e);
}

/* One pod as the template has it says which nodes suit. New pods are records too: those after them are not nodes. */
static enum err_code expand_daemon_set(struct workload_reader *x, struct err *e)
{
	struct pods_wanted w = {.owner_kind = "DaemonSet", .owner_name = x->name, .ns = x->ns, .stem = x->name};
	struct object_source src = {.name = x->w->file};
	uint32_t n = x->m->records.n;
	enum err_code rc = ERR_OK;
	struct obj_pod like;

	TRY(get_template(x, &x->spec, &w.template, e));
	assert(w.template);
	arena_reset(x->m->document);
	w.spec = daemon_spec(x->m->document, w.template, NULL);
	TRY(kind_of("Pod")->read(x->m->vocab, &src, pod_tree(x->m->document, &w, x->name, 0), &like, e));
	for (uint32_t i = 0; !rc && i < n; i++) {
		const struct obj_node *o = x->m->records.v[i].obj;

		if (str_eq(x->m->records.v[i].kind->kind, "Node") &&
		    suits(x->m, shape_get(x->m->vocab, like.shape), o) && !has_daemon_on(x, o->name))
			rc = make_daemon(x, &w, name_str(vocab_names(x->m->vocab), o->name), e);
	}
	kind_of("Pod")->drop(x->m->vocab, &like);
	return rc;
}

/* ---- all of them ---- */

static enum err_code expand(struct workload_reader *x, struct err *e)
{
	TRY(get_identity(&x->r, &x->root, x->w->kind, "default", &x->ns, &x->name, e));
	TRY(at_want(&x->r, &x->spec, TREE_MAP, e));
	if (str_eq(x->w->kind, "ReplicaSet"))
		return expand_replica_set(x, e);
	if (str_eq(x->w->kind, "StatefulSet"))
		return expand_stateful_set(x, e);
	if (str_eq(x->w->kind, "Deployment"))
		return expand_deployment(x, e);
	if (str_eq(x->w->kind, "DaemonSet"))
		return expand_daemon_set(x, e);
	return str_eq(x->w->kind, "Job") ? expand_job(x, e) : expand_job_set(x, e);
}

static enum err_code expand_one(struct manifest *m, const struct workload_template *w, struct err *e)
{
	struct object_source src = {.name = w->file, .notes = &m->notes};
	struct workload_reader x = {.m = m, .r = object_reader(m->vocab, &src), .w = w, .ns = "", .name = ""};
	const char *outer = m->file;
	enum err_code rc;

	m->file = w->file;
	x.root = at_root(w->root);
	x.spec = at_field(&x.root, "spec");
	rc = expand(&x, e);
	object_reader_end(&x.r);
	m->file = outer;
	return rc;
}

enum err_code workloads_make_pods(struct manifest *m, struct err *e)
{
	for (int k = 0; k < WORKLOAD_KINDS; k++)
		for (uint32_t i = 0; i < m->workloads.n; i++)
			if (str_eq(m->workloads.v[i].kind, workload_kinds[k].kind))
				TRY(expand_one(m, &m->workloads.v[i], e));
	m->workloads.n = 0;
	return ERR_OK;
}
