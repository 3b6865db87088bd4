/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine has moved since the object was written outlives a new version of the object that does not contradict
 * it: a pod that was placed here and is not bound there yet stays placed, a pod that was evicted and is not being
 * deleted yet stays leaving, a nomination stays while the object names the same node as before. A pod of the same name
 * and another uid is another pod.
 */
#include "cluster/cluster.h"

#include <string.h>

#include "cluster/resolve.h"

/* ---- life ---- */

struct cluster_options cluster_options_default(void)
{
	return (struct cluster_options){
		.profile = PROFILE_DEFAULT, .preemptibility_threshold = 100, .reach = REACH_KAI, .now_ns = TIME_NONE};
}

struct cluster *cluster_new(struct vocab *v, const struct cluster_options *o)
{
	struct cluster *c = mem_alloc(sizeof(*c));

	c->vocab = v;
	c->names = vocab_names(v);
	c->ledger = ledger_new(v);
	c->options = *o;
	c->latest_ns = o->now_ns;
	cluster_objects_init(c);
	c->storage = storage_new(c->names);
	c->preemptibility_key = names_hold_str(c->names, "kai.scheduler/preemptibility");
	c->default_name = names_hold_str(c->names, "default");
	return c;
}

void cluster_free(struct cluster *c)
{
	if (c == NULL)
		return;
	ledger_free(c->ledger);
	cluster_objects_free(c);
	storage_free(c->storage, c->vocab);
	id_index_free(&c->by_group);
	id_index_free(&c->by_owner);
	id_index_free(&c->by_nomination);
	array_free(&c->speakers);
	array_free(&c->vacated);
	bits_free(&c->stale_leaves);
	placement_free(c->placement);
	queue_set_free(&c->sets[0]);
	queue_set_free(&c->sets[1]);
	told_free(&c->told);
	names_drop(c->names, c->preemptibility_key);
	names_drop(c->names, c->default_name);
	mem_free(c);
}

struct ledger *cluster_ledger(const struct cluster *c)
{
	return c->ledger;
}

const struct cluster_options *cluster_get_options(const struct cluster *c)
{
	return &c->options;
}

void cluster_set_now(struct cluster *c, int64_t now_ns)
{
	c->latest_ns = now_ns;
}

int64_t cluster_now(const struct cluster *c)
{
	return c->latest_ns;
}

void cluster_tidy(struct cluster *c)
{
	for (;;) {
		if (c->is_unsettled) {
			c->is_unsettled = c->is_blocked = false;
			cluster_resolve_all(c);
		}
		bool dropped = cluster_drop_vacated_queues(c) && c->is_blocked;
		if (c->is_draining)
			dropped |= cluster_drop_idle_queues(c);
		if (!dropped && !c->is_unsettled)
			break;
		c->is_unsettled = true;
	}
	cluster_refresh_dynamic(c);
	c->is_reshaped = false;
}

void cluster_keep(struct cluster *c, ledger_mark at_entry)
{
	cluster_tidy(c);
	if (at_entry == 0)
		ledger_commit(c->ledger);
}

/* ---- entries ---- */

struct pod_entry cluster_entry_of(const struct pod *p)
{
	bool on_node = pod_is_on_node(p->state);

	return (struct pod_entry){
		.state = p->state,
		.node = on_node ? p->node : NODE_NONE,
		.queue = p->queue,
		.group = p->group,
		.podset = p->podset,
		.priority = p->priority,
		.preemptibility = p->preemptibility,
		.started_ns = p->started_ns,
		.nomination = p->nomination,
		.nominated_node = on_node || p->nomination == NOMINATION_NONE ? NODE_NONE : p->node,
	};
}

static bool entry_equal(const struct pod_entry *a, const struct pod_entry *b)
{
	return a->state == b->state && a->node == b->node && a->queue == b->queue && a->group == b->group &&
	       a->podset == b->podset && a->priority == b->priority && a->preemptibility == b->preemptibility &&
	       a->started_ns == b->started_ns && a->nomination == b->nomination &&
	       a->nominated_node == b->nominated_node;
}

void cluster_apply_entry(struct cluster *c, pod_id id, const struct pod_entry *entry)
{
	const struct pod *p = ledger_pod(c->ledger, id);
	struct pod_entry now = cluster_entry_of(p);

	if (entry_equal(&now, entry))
		return;
	struct obj_pod copy = obj_pod_copy(c->vocab, p->obj); /* the ledger takes over even what has not changed */
	enum err_code code = ledger_pod_set(c->ledger, id, &copy, entry, NULL);
	assert(code == ERR_OK); /* the same amounts as before */
	cluster_changed_queue(c, id, ns_of(c, p->labelset), now.queue, entry->queue);
}

/* A group's pods are all in its queue. Finished pods are in none. */
static queue_id queue_of(struct cluster *c, const struct obj_pod *o, enum pod_state state, group_id group,
			 queue_id current)
{
	if (state == POD_FINISHED)
		return QUEUE_NONE;
	bool has_node = pod_is_on_node(state);
	if (group != GROUP_NONE) {
		queue_id q = ledger_group(c->ledger, group)->queue;
		bool is_open = q == QUEUE_NONE || has_node || !queue_is_closing(tree_of(c), q);
		return is_open ? q : QUEUE_NONE;
	}
	struct queue_ask ask = {.pod = o, .has_node = has_node, .current = current};
	return cluster_queue_for(c, &ask);
}

/* Everything about an entry but its state, its place and its start. It comes with the queue it is in. */
static void resolve_entry(struct cluster *c, const struct obj_pod *o, struct pod_entry *entry, uint32_t *complaints)
{
	entry->group = resolve_group(c, o, &entry->podset, complaints);
	entry->queue = queue_of(c, o, entry->state, entry->group, entry->queue);
	entry->priority = resolve_priority(c, o, entry->group, entry->queue, complaints);
	entry->preemptibility = resolve_preemptibility(c, o, entry->group, entry->queue, entry->priority, complaints);
}

void cluster_resolve_pod(struct cluster *c, pod_id id)
{
	const struct pod *p = ledger_pod(c->ledger, id);
	struct pod_entry entry = cluster_entry_of(p);
	uint32_t complaints = 0;

	resolve_entry(c, p->obj, &entry, &complaints);
	bool is_where_it_says =
		pod_is_on_node(entry.state) && ledger_node(c->ledger, entry.node)->name == p->obj->node_name;
	if (is_where_it_says)
		entry.started_ns = resolve_start(c, p->obj, entry.group, p->started_ns, &complaints);
	if (complaints != 0)
		bits_set(&c->told.pods, id);
	cluster_apply_entry(c, id, &entry);
}

/* ---- everything at once ---- */

void cluster_resolve_all(struct cluster *c)
{
	for (group_id g = 0; g < ledger_group_limit(c->ledger); g++) {
		if (!ledger_group(c->ledger, g)->is_live)
			continue;
		cluster_find_speaker(c, g);
		cluster_settle_group(c, g);
	}
	for (pod_id id = 0; id < ledger_pod_limit(c->ledger); id++)
		if (ledger_pod(c->ledger, id)->state != POD_FREE)
			cluster_resolve_pod(c, id);
}

void cluster_resolve_namespace(struct cluster *c, name_id ns)
{
	for (group_id g = 0; g < ledger_group_limit(c->ledger); g++)
		if (ledger_group(c->ledger, g)->is_live && ledger_group(c->ledger, g)->obj->ns == ns)
			cluster_settle_group(c, g);
	for (pod_id id = 0; id < ledger_pod_limit(c->ledger); id++)
		if (ledger_pod(c->ledger, id)->state != POD_FREE &&
		    ns_of(c, ledger_pod(c->ledger, id)->labelset) == ns) {
			cluster_resolve_pod(c, id);
			cluster_namespace_speaks(c, ledger_pod(c->ledger, id)->queue);
		}
}

void cluster_detach_queue(struct cluster *c, queue_id q)
{
	uint32_t n;

	for (group_id g = 0; g < ledger_group_limit(c->ledger); g++) {
		const struct group *group = ledger_group(c->ledger, g);
		if (!group->is_live || group->queue != q)
			continue;
		struct obj_group copy = cluster_group_copy(c, group->obj);
		ledger_group_set(c->ledger, g, &copy, QUEUE_NONE, group->priority, group->preemptibility);
	}
	for (const pod_id *pods = ledger_queue_pods(c->ledger, q, &n); n > 0;
	     pods = ledger_queue_pods(c->ledger, q, &n)) {
		struct pod_entry entry = cluster_entry_of(ledger_pod(c->ledger, pods[0]));
		entry.queue = QUEUE_NONE;
		cluster_apply_entry(c, pods[0], &entry);
	}
}

void cluster_set_options(struct cluster *c, const struct cluster_options *o)
{
	ledger_mark mark = ledger_get_mark(c->ledger);

	if (o->now_ns != c->options.now_ns)
		c->latest_ns = o->now_ns;
	c->options = *o;
	for (pod_id id = 0; id < ledger_pod_limit(c->ledger); id++)
		if (ledger_pod(c->ledger, id)->state != POD_FREE)
			cluster_gang_said(c, ledger_pod(c->ledger, id)->obj, NULL);
	cluster_resolve_all(c);
	cluster_keep(c, mark);
}

/* ---- nodes ---- */

static uint64_t nomination_key(name_id node)
{
	return node;
}

/* Pods that were nominated to a node before it came. */
static void nominate_waiting(struct cluster *c, node_id node, name_id name)
{
	for (pod_id id = id_index_first(&c->by_nomination, nomination_key(name)); id != POD_NONE;
	     id = id_index_next(&c->by_nomination, id)) {
		const struct pod *p = ledger_pod(c->ledger, id);
		if (p->state == POD_WAITING && p->nomination == NOMINATION_NONE)
			ledger_nominate(c->ledger, id, node);
	}
}

enum err_code cluster_put_node(struct cluster *c, struct obj_node *o, struct err *e)
{
	(void)e;
	ledger_mark mark = ledger_get_mark(c->ledger);
	name_id name = o->name;
	node_id n = ledger_node_find(c->ledger, name);

	if (n != NODE_NONE && ledger_node(c->ledger, n)->is_live)
		ledger_node_set(c->ledger, n, o);
	else
		nominate_waiting(c, ledger_node_add(c->ledger, o), name);
	cluster_keep(c, mark);
	return ERR_OK;
}

void cluster_drop_node(struct cluster *c, const char *name)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	name_id id = names_find(c->names, name, strlen(name));
	node_id n = id != NAME_NONE ? ledger_node_find(c->ledger, id) : NODE_NONE;

	if (n == NODE_NONE || !ledger_node(c->ledger, n)->is_live)
		return;
	for (uint32_t i = 0; i < ledger_node(c->ledger, n)->pods.n; i++)
		bits_set(&c->told.pods, ledger_node(c->ledger, n)->pods.v[i]);
	ledger_node_drop(c->ledger, n);
	cluster_keep(c, mark);
}

/* ---- pods ---- */

static node_id live_node(const struct cluster *c, name_id name)
{
	node_id n = name != NAME_NONE ? ledger_node_find(c->ledger, name) : NODE_NONE;

	return n != NODE_NONE && ledger_node(c->ledger, n)->is_live ? n : NODE_NONE;
}

/* Where the object says it is. */
static void place_entry(struct cluster *c, const struct obj_pod *o, struct pod_entry *entry, uint32_t *complaints)
{
	*entry = (struct pod_entry){.state = resolve_state(o),
				    .node = NODE_NONE,
				    .nominated_node = NODE_NONE,
				    .queue = QUEUE_NONE,
				    .started_ns = TIME_NONE};
	if (pod_is_on_node(entry->state)) {
		entry->node = live_node(c, o->node_name);
		if (entry->node == NODE_NONE) {
			entry->node = ledger_node_ghost(c->ledger, o->node_name);
			*complaints |= LOST_NODE;
		}
	} else if (entry->state == POD_WAITING) {
		entry->nominated_node = live_node(c, o->nominated_node);
		entry->nomination = entry->nominated_node != NODE_NONE ? NOMINATION_ADVISORY : NOMINATION_NONE;
	}
}

static void keep_place(struct pod_entry *entry, const struct pod *p)
{
	entry->state = p->state;
	entry->node = p->node;
	entry->nomination = NOMINATION_NONE;
	entry->nominated_node = NODE_NONE;
	entry->started_ns = p->started_ns;
}

/* See the top of this file. */
static void keep_moves(const struct pod *p, const struct obj_pod *o, struct pod_entry *entry)
{
	bool is_evicted = p->state == POD_LEAVING && p->is_evicted;

	if (!uid_equal(p->obj->uid, o->uid))
		return;
	if (entry->state == POD_PLACED && is_evicted && p->node == entry->node) {
		entry->state = POD_LEAVING;
	} else if (entry->state == POD_WAITING && p->obj->node_name == NAME_NONE &&
		   (p->state == POD_PLACED || is_evicted)) {
		keep_place(entry, p);
	} else if (entry->state == POD_WAITING && p->state == POD_WAITING) {
		bool is_same = o->nominated_node == p->obj->nominated_node;
		if (is_same || (p->nomination != NOMINATION_NONE && p->node == entry->nominated_node)) {
			entry->nomination = p->nomination;
			entry->nominated_node = p->nomination != NOMINATION_NONE ? p->node : NODE_NONE;
		}
	}
}

/* TIME_NONE: it was not there. */
static int64_t started_there(const struct pod *p, const struct obj_pod *o, node_id node)
{
	return p->node == node && uid_equal(p->obj->uid, o->uid) ? p->started_ns : TIME_NONE;
}

static void make_entry(struct cluster *c, const struct obj_pod *o, pod_id old, struct pod_entry *entry,
		       uint32_t *complaints)
{
	place_entry(c, o, entry, complaints);
	node_id said = entry->node;
	int64_t was = TIME_NONE;
	if (old != POD_NONE) {
		was = started_there(ledger_pod(c->ledger, old), o, said);
		keep_moves(ledger_pod(c->ledger, old), o, entry);
		entry->queue = ledger_pod(c->ledger, old)->queue;
	}
	resolve_entry(c, o, entry, complaints);
	if (said != NODE_NONE)
		entry->started_ns = resolve_start(c, o, entry->group, was, complaints);
}

static void index_pod(struct cluster *c, pod_id id)
{
	const struct obj_pod *o = ledger_pod(c->ledger, id)->obj;
	name_id ns = ns_of(c, o->labelset);

	id_index_put(&c->by_group, id, group_key(ns, o->group));
	id_index_put(&c->by_owner, id, o->owner_name != NAME_NONE ? map_key2(ns, o->owner_name) : 0);
	id_index_put(&c->by_nomination, id, nomination_key(o->nominated_node));
}

static void unindex_pod(struct cluster *c, pod_id id)
{
	id_index_put(&c->by_group, id, 0);
	id_index_put(&c->by_owner, id, 0);
	id_index_put(&c->by_nomination, id, 0);
}

enum err_code cluster_put_pod(struct cluster *c, struct obj_pod *o, struct err *e)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	pod_id id = ledger_pod_find(c->ledger, ns_of(c, o->labelset), o->name);
	const struct obj_pod *was = id != POD_NONE ? ledger_pod(c->ledger, id)->obj : NULL; /* until the commit */
	group_id old_group = id != POD_NONE ? ledger_pod(c->ledger, id)->group : GROUP_NONE;
	uint32_t complaints = 0;
	struct pod_entry entry;

	make_entry(c, o, id, &entry, &complaints);
	queue_id old_queue = id != POD_NONE ? ledger_pod(c->ledger, id)->queue : QUEUE_NONE;
	enum err_code code = id == POD_NONE ? ledger_pod_add(c->ledger, o, &entry, &id, e)
					    : ledger_pod_set(c->ledger, id, o, &entry, e);
	if (code != ERR_OK) {
		ledger_rollback(c->ledger, mark);
		return code;
	}
	index_pod(c, id);
	cluster_changed_queue(c, id, ns_of(c, ledger_pod(c->ledger, id)->labelset), old_queue, entry.queue);
	if (complaints != 0)
		bits_set(&c->told.pods, id);
	if (old_group != entry.group)
		cluster_leave_group(c, old_group, id);
	cluster_join_group(c, entry.group, id);
	cluster_gang_said(c, ledger_pod(c->ledger, id)->obj, was);
	cluster_keep(c, mark);
	return ERR_OK;
}

bool cluster_find_names(const struct cluster *c, const char *ns, const char *name, name_id *ret_ns, name_id *ret_name)
{
	*ret_ns = names_find(c->names, ns, strlen(ns));
	*ret_name = names_find(c->names, name, strlen(name));
	return *ret_name != NAME_NONE && (*ret_ns != NAME_NONE || ns[0] == '\0');
}

pod_id cluster_find_pod(const struct cluster *c, const char *ns, const char *name)
{
	name_id ns_id, id;

	return cluster_find_names(c, ns, name, &ns_id, &id) ? ledger_pod_find(c->ledger, ns_id, id) : POD_NONE;
}

void cluster_drop_pod(struct cluster *c, const char *ns, const char *name)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	pod_id id = cluster_find_pod(c, ns, name);

	if (id == POD_NONE)
		return;
	const struct pod *p = ledger_pod(c->ledger, id);
	group_id g = p->group;
	queue_id queue = p->queue;
	name_id ns_name = ns_of(c, p->labelset);
	const struct obj_pod *was = p->obj; /* until the commit */
	unindex_pod(c, id);
	ledger_pod_drop(c->ledger, id);
	cluster_changed_queue(c, POD_NONE, ns_name, queue, QUEUE_NONE);
	cluster_leave_group(c, g, id);
	cluster_gang_said(c, NULL, was);
	cluster_keep(c, mark);
}

/* ---- budgets ---- */

enum err_code cluster_put_pdb(struct cluster *c, struct obj_pdb *o, struct err *e)
{
	(void)e;
	ledger_mark mark = ledger_get_mark(c->ledger);
	pdb_id id = ledger_pdb_find(c->ledger, o->ns, o->name);

	if (id == PDB_NONE)
		ledger_pdb_add(c->ledger, o);
	else
		ledger_pdb_set(c->ledger, id, o);
	cluster_keep(c, mark);
	return ERR_OK;
}

void cluster_drop_pdb(struct cluster *c, const char *ns, const char *name)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	name_id ns_id, id;
	pdb_id pdb = cluster_find_names(c, ns, name, &ns_id, &id) ? ledger_pdb_find(c->ledger, ns_id, id) : PDB_NONE;

	if (pdb == PDB_NONE)
		return;
	ledger_pdb_drop(c->ledger, pdb);
	cluster_keep(c, mark);
}

/* ---- asking ---- */

const struct queue_def *cluster_queue_defs(const struct cluster *c, enum queue_source source, uint32_t *ret_n)
{
	const struct queue_set *s = &c->sets[source == FROM_KAI];

	*ret_n = s->n;
	return s->defs;
}

/* Why it has none, as if it were waiting. */
static struct queue_answer why_no_queue(const struct cluster *c, const struct pod *p, pod_id pod)
{
	pod_id speaker = p->group != GROUP_NONE ? speaker_of(c, p->group) : pod;
	struct queue_ask ask = {
		.pod = ledger_pod(c->ledger, speaker)->obj,
		.group = p->group != GROUP_NONE ? ledger_group(c->ledger, p->group)->obj : NULL,
		.current = QUEUE_NONE,
	};
	struct text path = {0};
	struct queue_answer a = resolve_queue(c, &ask, &path);

	text_free(&path);
	return a;
}

const char *cluster_wanted_queue(const struct cluster *c, pod_id pod)
{
	const struct pod *p = ledger_pod(c->ledger, pod);

	if (p->queue != QUEUE_NONE || p->state == POD_FINISHED)
		return "";
	struct queue_answer a = why_no_queue(c, p, pod);
	return a.is_default ? "root.default.default" : name_str(c->names, a.wanted);
}

const char *cluster_queue_trouble(const struct cluster *c, pod_id pod)
{
	static const char *const words[] = {
		[TROUBLE_NONE] = "",
		[TROUBLE_UNKNOWN] = "there is no such queue",
		[TROUBLE_PARENT] = "it is not a leaf",
		[TROUBLE_DRAINING] = "it is being drained",
		[TROUBLE_DENIED] = "its access lists do not let the user in",
		[TROUBLE_NAME] = "there cannot be a queue of that name",
		[TROUBLE_SPLIT] = "it is not a leaf, because other pods are in queues below it",
	};
	const struct pod *p = ledger_pod(c->ledger, pod);

	if (p->queue != QUEUE_NONE || p->state == POD_FINISHED)
		return "";
	struct queue_answer a = why_no_queue(c, p, pod);
	return words[a.is_default ? TROUBLE_PARENT : a.trouble];
}

/* ---- placement rules ---- */

enum err_code cluster_put_placement(struct cluster *c, const struct placement_rule *rules, uint32_t n, struct err *e)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	struct placement *placement = n > 0 ? placement_new(rules, n, e) : NULL;

	if (n > 0 && placement == NULL)
		return ERR_INPUT;
	placement_free(c->placement);
	c->placement = placement;
	c->is_unsettled = true;
	cluster_keep(c, mark);
	return ERR_OK;
}

const struct placement_rule *cluster_placement(const struct cluster *c, uint32_t *ret_n)
{
	return placement_rules(c->placement, ret_n);
}

static uint32_t max3(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t m = a > b ? a : b;

	return m > c ? m : c;
}

void cluster_resync(struct cluster *c)
{
	uint32_t n_pods = ledger_pod_limit(c->ledger);
	uint32_t n_known = max3(c->by_group.links.n, c->by_owner.links.n, c->by_nomination.links.n);

	for (pod_id id = 0; id < n_known || id < n_pods; id++) {
		if (id < n_pods && ledger_pod(c->ledger, id)->state != POD_FREE)
			index_pod(c, id);
		else
			unindex_pod(c, id);
	}
	for (group_id g = 0; g < ledger_group_limit(c->ledger); g++)
		if (ledger_group(c->ledger, g)->is_live)
			cluster_find_speaker(c, g);
	c->is_draining = true;
	c->vacated.n = 0;
	bits_reset(&c->stale_leaves);
}

void cluster_trim(struct cluster *c)
{
	ledger_trim(c->ledger);
	vocab_trim(c->vocab);
	array_trim(&c->owners);
	array_trim(&c->owner_next);
	array_trim(&c->speakers);
	id_index_trim(&c->by_group);
	id_index_trim(&c->by_owner);
	id_index_trim(&c->by_nomination);
	id_index_trim(&c->owners_by_parent);
}
