/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster as manifests. What objects said is written again, and where the engine has moved on since (placed,
 * evicted, a nomination, a group that started), what the objects would say once it was carried out: reading gives the
 * state of the ledger, not that of the objects it came from.
 */
#include "manifest/write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cluster/storage.h"
#include "manifest/manifest.h"
#include "manifest/write_storage.h"

/* ---- objects ---- */

void object_begin(struct writer *w, const char *api, const char *kind, const char *ns, const char *name,
		  const char *uid)
{
	if (w->is_list)
		part_open(w, &w->items);
	else if (w->n_objects)
		emit_document(w->e);
	w->n_objects++;
	emit_object(w->e, NULL);
	emit_str(w->e, "apiVersion", api);
	emit_str(w->e, "kind", kind);
	emit_object(w->e, "metadata");
	emit_str(w->e, "name", name);
	write_text(w, "namespace", ns);
	write_text(w, "uid", uid);
}

void metadata_end(struct writer *w)
{
	emit_end(w->e);
}

void object_end(struct writer *w)
{
	emit_end(w->e);
}

static void labelset_labels(struct writer *w, labelset_id labelset)
{
	write_labels(w, "labels", &labelset_get(w->v, labelset)->labels, NULL, 0);
}

static void allow_preemption(struct writer *w, struct write_part *annotations, enum tristate allows)
{
	if (allows != UNSET)
		emit_str(part_open(w, annotations), "yunikorn.apache.org/allow-preemption",
			 allows == YES ? "true" : "false");
}

/* ---- namespaces and classes ---- */

/* Quantities as a text of JSON, which is how YuniKorn wants them in an annotation. */
static void annotate_vector(struct writer *w, struct write_part *annotations, const char *key, const struct res_vec *v)
{
	struct text json = {0};
	struct emit inner, *outer = part_open(w, annotations);

	emit_init(&inner, &json, EMIT_JSON_LINE);
	w->e = &inner;
	write_vector(w, NULL, v);
	w->e = outer;
	json.s[--json.n] = 0; /* the newline */
	emit_str(w->e, key, json.s);
	text_free(&json);
}

static void write_namespace(struct writer *w, const struct obj_namespace *o)
{
	struct write_part annotations = {.key = "annotations"};

	object_begin(w, "v1", "Namespace", "", str(w, o->name), "");
	labelset_labels(w, o->labelset);
	if (o->protected_hours.days) {
		text_reset(&w->t);
		week_hours_text(&o->protected_hours, &w->t);
		emit_str(part_open(w, &annotations), PROTECTED_HOURS_KEY, text_str(&w->t));
	}
	if (o->has_guaranteed)
		annotate_vector(w, &annotations, "yunikorn.apache.org/namespace.guaranteed", &o->guaranteed);
	if (o->max_apps)
		emit_strf(part_open(w, &annotations), "yunikorn.apache.org/namespace.maxApps", "%" PRIu64, o->max_apps);
	if (o->has_quota)
		annotate_vector(w, &annotations, "yunikorn.apache.org/namespace.quota", &o->quota);
	if (o->parent_queue)
		emit_str(part_open(w, &annotations), "yunikorn.apache.org/parentqueue", str(w, o->parent_queue));
	part_end(w, &annotations);
	metadata_end(w);
	object_end(w);
}

static void write_class(struct writer *w, const struct obj_class *o)
{
	struct write_part annotations = {.key = "annotations"};

	object_begin(w, "scheduling.k8s.io/v1", "PriorityClass", "", str(w, o->name), "");
	allow_preemption(w, &annotations, o->allows_preemption);
	part_end(w, &annotations);
	metadata_end(w);
	emit_int(w->e, "value", o->value);
	write_true(w, "globalDefault", o->is_default);
	write_text(w, "preemptionPolicy", o->never_preempts ? "Never" : "");
	object_end(w);
}

/* ---- nodes ---- */

static void taints(struct writer *w, struct write_part *spec, const struct obj_node *o)
{
	struct write_part list = {.key = "taints", .is_list = true};

	for (uint32_t i = 0; i < o->n_taints; i++) {
		if (o->taints[i].effect == EFFECT_ANY) /* repels nobody */
			continue;
		part_open(w, spec);
		emit_object(part_open(w, &list), NULL);
		write_name(w, "key", o->taints[i].key);
		write_name(w, "value", o->taints[i].value);
		emit_str(w->e, "effect", taint_effect_text(o->taints[i].effect));
		emit_end(w->e);
	}
	part_end(w, &list);
}

static void images(struct writer *w, const struct obj_node *o)
{
	struct write_part list = {.key = "images", .is_list = true};

	for (uint32_t i = 0; i < o->n_images; i++) {
		emit_object(part_open(w, &list), NULL);
		write_strings(w, "names", &o->images[i].name, 1);
		emit_int(w->e, "sizeBytes", o->images[i].bytes);
		emit_end(w->e);
	}
	part_end(w, &list);
}

static void node_status(struct writer *w, const struct obj_node *o)
{
	emit_object(w->e, "status");
	write_vector(w, "allocatable", &o->allocatable);
	emit_list(w->e, "conditions");
	emit_object(w->e, NULL);
	emit_str(w->e, "type", "Ready");
	emit_str(w->e, "status", o->is_not_ready ? "False" : "True");
	emit_end(w->e);
	emit_end(w->e);
	images(w, o);
	emit_end(w->e);
}

static void write_node(struct writer *w, uint32_t id)
{
	const struct obj_node *o = ledger_node(w->l, id)->obj;
	struct write_part spec = {.key = "spec"};

	object_begin(w, "v1", "Node", "", str(w, o->name), str(w, o->uid));
	labelset_labels(w, o->labelset);
	metadata_end(w);
	if (o->is_unschedulable)
		emit_bool(part_open(w, &spec), "unschedulable", true);
	taints(w, &spec, o);
	part_end(w, &spec);
	node_status(w, o);
	object_end(w);
}

/* ---- controllers and services ---- */

static void write_owner(struct writer *w, const struct obj_owner *o)
{
	const char *kind = str(w, o->kind_name);
	bool is_plain = o->is_service || o->kind == OWNER_RC;
	struct write_part spec = {.key = "spec"};

	object_begin(w, owner_api(kind), kind, str(w, labelset_get(w->v, o->labelset)->ns), str(w, o->name),
		     str(w, o->uid));
	labelset_labels(w, o->labelset);
	write_controller(w, str(w, o->parent_kind), o->parent_name, uid_of_name(o->parent_uid));
	metadata_end(w);
	if (o->replicas != -1)
		emit_int(part_open(w, &spec), "replicas", o->replicas);
	if (o->has_selector) {
		part_open(w, &spec);
		(is_plain ? write_plain_selector : write_selector)(w, "selector", &o->selector);
	}
	part_end(w, &spec);
	object_end(w);
}

/* ---- groups ---- */

static void subgroups(struct writer *w, const struct obj_group *o)
{
	struct write_part list = {.key = "subGroups", .is_list = true};

	for (uint32_t i = 0; i < o->n_subgroups; i++) {
		emit_object(part_open(w, &list), NULL);
		emit_str(w->e, "name", str(w, o->subgroups[i].name));
		write_name(w, "parent", o->subgroups[i].parent);
		emit_int(w->e, "minMember", o->subgroups[i].min_member);
		emit_end(w->e);
	}
	part_end(w, &list);
}

static void kai_group(struct writer *w, const struct group *g)
{
	const struct obj_group *o = g->obj;
	struct write_part annotations = {.key = "annotations"};

	if (g->started_ns != TIME_NONE || o->stale_ns != TIME_NONE)
		part_open(w, &annotations);
	write_time(w, "kai.scheduler/last-start-timestamp", g->started_ns);
	write_time(w, "kai.scheduler/stale-podgroup-timestamp", o->stale_ns);
	part_end(w, &annotations);
	metadata_end(w);
	emit_object(w->e, "spec");
	emit_int(w->e, "minMember", o->min_member);
	write_name(w, "queue", o->queue);
	write_name(w, "priorityClassName", o->priority_class);
	write_text(w, "preemptibility", preemptibility_text(o->preemptibility));
	subgroups(w, o);
	emit_end(w->e);
}

static void gang_policy(struct writer *w, const struct obj_group *o)
{
	emit_object(w->e, "schedulingPolicy");
	emit_object(w->e, o->min_member ? "gang" : "basic");
	if (o->min_member)
		emit_int(w->e, "minCount", o->min_member);
	emit_end(w->e);
	emit_end(w->e);
}

static void k8s_group(struct writer *w, const struct obj_group *o)
{
	metadata_end(w);
	emit_object(w->e, "spec");
	gang_policy(w, o);
	write_name(w, "priorityClassName", o->priority_class);
	if (o->has_priority)
		emit_int(w->e, "priority", o->priority);
	write_text(w, "preemptionPolicy", o->never_preempts ? "Never" : "");
	if (o->goes_whole) {
		emit_object(w->e, "disruptionMode");
		emit_object(w->e, "all");
		emit_end(w->e);
		emit_end(w->e);
	}
	emit_end(w->e);
}

/* Not read back: it follows from the rest. */
static void group_status(struct writer *w, const struct group *g)
{
	struct write_part status = {.key = "status"};

	if (g->preemptibility != PREEMPTIBILITY_UNSET)
		emit_str(part_open(w, &status), "preemptibility", preemptibility_text(g->preemptibility));
	if (!g->obj->is_k8s && g->started_ns != TIME_NONE) {
		part_open(w, &status);
		write_time(w, "startTime", g->started_ns);
	}
	part_end(w, &status);
}

static void write_group(struct writer *w, uint32_t id)
{
	const struct group *g = ledger_group(w->l, id);
	const struct obj_group *o = g->obj;

	object_begin(w, o->is_k8s ? "scheduling.k8s.io/v1alpha2" : "scheduling.run.ai/v2alpha2", "PodGroup",
		     str(w, o->ns), str(w, o->name), str(w, o->uid));
	write_time(w, "creationTimestamp", o->created_ns);
	if (o->is_k8s)
		k8s_group(w, o);
	else
		kai_group(w, g);
	group_status(w, g);
	object_end(w);
}

/* ---- budgets ---- */

static bool is_covered(const struct writer *w, pdb_id id, const struct pod *p)
{
	uint32_t n;
	const pdb_id *v = ledger_labelset_pdbs(w->l, p->labelset, &n);

	for (uint32_t i = 0; i < n; i++)
		if (v[i] == id)
			return true;
	return false;
}

static int by_name(const void *a, const void *b, void *names)
{
	return name_cmp(names, *(const name_id *)a, *(const name_id *)b);
}

/* Those the status lists, and those we evicted: what they spent is written as no longer allowed. */
static void disrupted(struct writer *w, pdb_id id)
{
	const struct obj_pdb *o = ledger_pdb(w->l, id)->obj;
	struct write_part map = {.key = "disruptedPods"};

	w->ids.n = 0;
	for (uint32_t i = 0; i < o->n_disrupted; i++)
		array_push(&w->ids, o->disrupted[i]);
	for (uint32_t i = 0; i < w->evicted.n; i++)
		if (is_covered(w, id, ledger_pod(w->l, w->evicted.v[i])))
			array_push(&w->ids, ledger_pod(w->l, w->evicted.v[i])->name);
	if (w->ids.n)
		qsort_r(w->ids.v, w->ids.n, sizeof(*w->ids.v), by_name, w->names);
	for (uint32_t i = 0; i < w->ids.n; i++)
		if (!i || w->ids.v[i] != w->ids.v[i - 1])
			emit_str(part_open(w, &map), str(w, w->ids.v[i]), NULL);
	part_end(w, &map);
}

static void write_pdb(struct writer *w, uint32_t id)
{
	const struct pdb *b = ledger_pdb(w->l, id);

	object_begin(w, "policy/v1", "PodDisruptionBudget", str(w, b->obj->ns), str(w, b->obj->name), "");
	metadata_end(w);
	if (!b->obj->selector.matches_nothing) {
		emit_object(w->e, "spec");
		write_selector(w, "selector", &b->obj->selector);
		emit_end(w->e);
	}
	emit_object(w->e, "status");
	emit_int(w->e, "disruptionsAllowed", (int32_t)(b->obj->allowed - b->spent));
	disrupted(w, id);
	emit_end(w->e);
	object_end(w);
}

/* ---- order ---- */

static int by_namespace_and_name(const void *pa, const void *pb, void *names)
{
	const struct sorted *a = pa, *b = pb;
	int cmp = name_cmp(names, a->ns, b->ns);

	return cmp ? cmp : name_cmp(names, a->name, b->name);
}

static void sort_list(const struct writer *w, sorted_list *list)
{
	if (list->n)
		qsort_r(list->v, list->n, sizeof(*list->v), by_namespace_and_name, w->names);
}

static void write_sorted(struct writer *w, sorted_list *list, void (*write)(struct writer *w, uint32_t id))
{
	sort_list(w, list);
	for (uint32_t i = 0; i < list->n; i++)
		write(w, list->v[i].id);
	list->n = 0;
}

static void write_nodes(struct writer *w, sorted_list *list)
{
	for (node_id id = 0; id < ledger_node_limit(w->l); id++)
		if (ledger_node(w->l, id)->is_live)
			array_push(list, ((struct sorted){NAME_NONE, ledger_node(w->l, id)->name, id}));
	write_sorted(w, list, write_node);
}

static void write_storage(struct writer *w, sorted_list *list)
{
	for (uint32_t kind = 0; kind < STORAGE_KINDS; kind++) {
		storage_list(w, kind, list);
		sort_list(w, list);
		for (uint32_t i = 0; i < list->n; i++)
			storage_write(w, kind, list->v[i].id);
		list->n = 0;
	}
}

/* KAI's first: two APIs may have one of the same name. */
static void write_groups(struct writer *w, sorted_list *list)
{
	for (int is_k8s = 0; is_k8s < 2; is_k8s++) {
		for (group_id id = 0; id < ledger_group_limit(w->l); id++) {
			const struct group *g = ledger_group(w->l, id);

			if (g->is_live && !g->obj->is_of_pods && g->obj->is_k8s == (bool)is_k8s)
				array_push(list, ((struct sorted){g->obj->ns, g->obj->name, id}));
		}
		write_sorted(w, list, write_group);
	}
}

static void write_pdbs(struct writer *w, sorted_list *list)
{
	for (pdb_id id = 0; id < ledger_pdb_limit(w->l); id++) {
		const struct pdb *b = ledger_pdb(w->l, id);

		if (b->is_live)
			array_push(list, ((struct sorted){b->obj->ns, b->obj->name, id}));
	}
	write_sorted(w, list, write_pdb);
}

static void write_pods(struct writer *w, sorted_list *list)
{
	for (pod_id id = 0; id < ledger_pod_limit(w->l); id++) {
		const struct pod *p = ledger_pod(w->l, id);

		if (p->state != POD_FREE)
			array_push(list, ((struct sorted){labelset_get(w->v, p->labelset)->ns, p->name, id}));
	}
	write_sorted(w, list, write_pod);
}

static void write_objects(struct writer *w)
{
	sorted_list list = {0};

	write_queues(w);
	for (uint32_t i = 0; i < cluster_namespace_count(w->c); i++)
		write_namespace(w, cluster_namespace_at(w->c, i));
	for (uint32_t i = 0; i < cluster_class_count(w->c); i++)
		write_class(w, cluster_class_at(w->c, i));
	write_nodes(w, &list);
	write_storage(w, &list);
	for (uint32_t i = 0; i < cluster_owner_count(w->c); i++)
		write_owner(w, cluster_owner_at(w->c, i));
	write_groups(w, &list);
	write_pdbs(w, &list);
	write_pods(w, &list);
	array_free(&list);
}

/* ---- all of it ---- */

static void list_begin(struct writer *w)
{
	emit_object(w->e, NULL);
	emit_str(w->e, "apiVersion", "v1");
	emit_str(w->e, "kind", "List");
}

/* Without items it still is an object, which a reader wants at least. */
static void list_end(struct writer *w)
{
	part_end(w, &w->items);
	emit_end(w->e);
}

static void find_evicted(struct writer *w)
{
	for (pod_id id = 0; id < ledger_pod_limit(w->l); id++)
		if (ledger_pod(w->l, id)->state == POD_LEAVING && ledger_pod(w->l, id)->is_evicted)
			array_push(&w->evicted, id);
}

static struct writer writer_of(const struct cluster *c, struct emit *out)
{
	const struct ledger *l = cluster_ledger((struct cluster *)c);

	return (struct writer){.c = c,
			       .l = l,
			       .v = ledger_vocab(l),
			       .e = out,
			       .is_list = out->format != EMIT_YAML,
			       .items = {.key = "items", .is_list = true},
			       .names = vocab_names(ledger_vocab(l)),
			       .types = vocab_res(ledger_vocab(l))};
}

static void writer_free(struct writer *w)
{
	text_free(&w->t);
	array_free(&w->pairs);
	array_free(&w->ids);
	array_free(&w->evicted);
}

void manifest_write(const struct cluster *c, struct emit *out)
{
	struct writer w = writer_of(c, out);

	find_evicted(&w);
	if (w.is_list)
		list_begin(&w);
	write_objects(&w);
	if (!w.is_list && !w.n_objects)
		list_begin(&w);
	if (w.is_list || !w.n_objects)
		list_end(&w);
	writer_free(&w);
}

void manifest_write_pod(const struct cluster *c, pod_id pod, int64_t run_ns, struct emit *out)
{
	struct writer w = writer_of(c, out);

	w.is_list = false;
	w.run_ns = run_ns;
	write_pod(&w, pod);
	writer_free(&w);
}

void manifest_write_queues(const struct cluster *c, struct emit *out)
{
	struct writer w = writer_of(c, out);

	assert(!w.is_list);
	write_queues(&w);
	writer_free(&w);
}
