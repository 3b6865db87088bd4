/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups. All pods of a group are in one queue, because a gang is one request. Where the group does not say which (or
 * how it may be interrupted, or in Kubernetes' case how important it is), its speaker does: the member with the first
 * name, so that it does not matter who came first.
 */
#include "cluster/resolve.h"

#include <string.h>

struct obj_group cluster_group_copy(const struct cluster *c, const struct obj_group *o)
{
	const name_id held[] = {o->ns, o->name, o->uid, o->queue, o->priority_class};
	struct obj_group copy = *o;

	for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++)
		names_keep(c->names, held[i]);
	copy.bag = name_bag_of(c->names);
	for (uint32_t i = 0; i < o->bag.ids.n; i++) {
		names_keep(c->names, o->bag.ids.v[i]);
		array_push(&copy.bag.ids, o->bag.ids.v[i]);
	}
	copy.subgroups = NULL;
	if (o->n_subgroups > 0) {
		copy.subgroups = mem_resize(NULL, o->n_subgroups, sizeof(*o->subgroups));
		memcpy(copy.subgroups, o->subgroups, o->n_subgroups * sizeof(*o->subgroups));
	}
	return copy;
}

static pod_id first_in_group(const struct cluster *c, group_id g)
{
	const struct obj_group *o = ledger_group(c->ledger, g)->obj;

	return id_index_first(&c->by_group, group_key(o->ns, o->name));
}

pod_id cluster_group_first(const struct cluster *c, group_id g)
{
	return first_in_group(c, g);
}

pod_id cluster_group_next(const struct cluster *c, pod_id pod)
{
	return id_index_next(&c->by_group, pod);
}

static void set_speaker(struct cluster *c, group_id g, pod_id pod)
{
	while (c->speakers.n <= g)
		array_push(&c->speakers, POD_NONE);
	c->speakers.v[g] = pod;
}

static bool speaks_before(const struct cluster *c, pod_id a, pod_id b)
{
	return b == POD_NONE || name_cmp(c->names, ledger_pod(c->ledger, a)->name, ledger_pod(c->ledger, b)->name) < 0;
}

static bool belongs_to(const struct cluster *c, const struct pod *p, group_id g)
{
	podset_id podset;
	uint32_t complaints = 0;

	return resolve_group(c, p->obj, &podset, &complaints) == g;
}

/* As the rules say, whatever the ledger has: members may not have been resolved yet. */
void cluster_find_speaker(struct cluster *c, group_id g)
{
	pod_id best = POD_NONE;

	for (pod_id id = first_in_group(c, g); id != POD_NONE; id = id_index_next(&c->by_group, id))
		if (belongs_to(c, ledger_pod(c->ledger, id), g) && speaks_before(c, id, best))
			best = id;
	set_speaker(c, g, best);
}

/* When the speaker goes the others are resolved, and what the ledger has can be believed. */
static void find_next_speaker(struct cluster *c, group_id g, pod_id but)
{
	pod_id best = POD_NONE;

	for (pod_id id = first_in_group(c, g); id != POD_NONE; id = id_index_next(&c->by_group, id))
		if (id != but && ledger_pod(c->ledger, id)->group == g && speaks_before(c, id, best))
			best = id;
	set_speaker(c, g, best);
}

static queue_id group_queue(struct cluster *c, const struct obj_group *o, const struct obj_pod *speaker,
			    queue_id current)
{
	struct queue_ask ask = {.pod = speaker, .group = o, .has_node = true, .current = current};

	return cluster_queue_for(c, &ask);
}

/* What follows from the group and its speaker. True if its pods have to follow. */
bool cluster_settle_group(struct cluster *c, group_id id)
{
	const struct group *g = ledger_group(c->ledger, id);
	pod_id speaking = speaker_of(c, id);
	const struct obj_pod *speaker = speaking != POD_NONE ? ledger_pod(c->ledger, speaking)->obj : NULL;
	uint32_t complaints = 0;
	queue_id queue = group_queue(c, g->obj, speaker, g->queue);
	g = ledger_group(c->ledger, id);
	int32_t priority = resolve_group_priority(c, g->obj, speaker, &complaints);
	enum preemptibility p = resolve_group_preemptibility(c, g->obj, speaker, queue, priority);

	if (complaints != 0)
		bits_set(&c->told.groups, id);
	queue_id old = g->queue;
	bool follow = old != queue || g->priority != priority;
	if (follow || g->preemptibility != p) {
		struct obj_group copy = cluster_group_copy(c, g->obj);
		ledger_group_set(c->ledger, id, &copy, queue, priority, p);
	}
	if (old != queue)
		cluster_left_queue(c, old);
	return follow;
}

static void resolve_members(struct cluster *c, group_id g)
{
	for (pod_id id = first_in_group(c, g); id != POD_NONE; id = id_index_next(&c->by_group, id))
		cluster_resolve_pod(c, id);
}

void cluster_resolve_owned(struct cluster *c, pod_id pod)
{
	cluster_resolve_pod(c, pod);
	group_id g = ledger_pod(c->ledger, pod)->group;
	if (g != GROUP_NONE && speaker_of(c, g) == pod && cluster_settle_group(c, g))
		resolve_members(c, g);
}

void cluster_join_group(struct cluster *c, group_id g, pod_id pod)
{
	if (g == GROUP_NONE || (speaker_of(c, g) != pod && !speaks_before(c, pod, speaker_of(c, g))))
		return;
	set_speaker(c, g, pod);
	if (cluster_settle_group(c, g))
		resolve_members(c, g);
}

/* pod is no longer in by_group, or in another list. */
void cluster_leave_group(struct cluster *c, group_id g, pod_id pod)
{
	if (g == GROUP_NONE || speaker_of(c, g) != pod)
		return;
	find_next_speaker(c, g, pod);
	if (cluster_settle_group(c, g))
		resolve_members(c, g);
}

static void detach_group(struct cluster *c, group_id g)
{
	for (pod_id id = first_in_group(c, g); id != POD_NONE; id = id_index_next(&c->by_group, id)) {
		struct pod_entry entry = cluster_entry_of(ledger_pod(c->ledger, id));
		if (entry.group != g) /* of another of that name, or of none */
			continue;
		entry.group = GROUP_NONE;
		entry.podset = PODSET_NONE;
		cluster_apply_entry(c, id, &entry);
	}
}

/* ---- groups from outside ---- */

static bool has_same_podsets(const struct obj_group *a, const struct obj_group *b)
{
	if (a->n_subgroups != b->n_subgroups)
		return false;
	for (uint32_t i = 0; i < a->n_subgroups; i++)
		if (a->subgroups[i].name != b->subgroups[i].name || a->subgroups[i].parent != b->subgroups[i].parent)
			return false;
	return true;
}

/* Stamped here, and nobody has written it down yet. */
static bool is_ahead(const struct group *g)
{
	return g->started_ns != TIME_NONE &&
	       (g->obj->started_ns == TIME_NONE || time_floor(g->started_ns, NS_PER_S) > g->obj->started_ns);
}

/*
 * The annotation is the engine's own stamp, cut to seconds: what the engine knows better stays. A later stamp is news
 * (another leader started it again, whose clock may be ahead of ours), once: to hear of one of the future again starts
 * nothing.
 */
static int64_t start_of_group(const struct cluster *c, const struct group *old, const struct obj_group *o)
{
	int64_t said = resolve_believed(c, o->started_ns);
	bool is_stamped = old->started_ns != resolve_believed(c, old->obj->started_ns);
	bool is_known = old->started_ns != TIME_NONE;

	if (is_known && o->started_ns == old->obj->started_ns)
		return old->started_ns;
	if (is_ahead(old) && resolve_is_future(c, o->started_ns))
		return old->started_ns;
	return is_stamped && old->started_ns > said ? old->started_ns : said;
}

static void set_start(struct cluster *c, group_id id, int64_t started_ns)
{
	if (ledger_group(c->ledger, id)->started_ns != started_ns)
		ledger_set_group_started(c->ledger, id, started_ns);
	if (resolve_is_odd(c, ledger_group(c->ledger, id)->obj->started_ns))
		bits_set(&c->told.groups, id);
}

static void set_group(struct cluster *c, group_id id, struct obj_group *o)
{
	const struct group *g = ledger_group(c->ledger, id);
	int64_t started = start_of_group(c, g, o);

	if (!has_same_podsets(g->obj, o))
		detach_group(c, id);
	g = ledger_group(c->ledger, id);
	ledger_group_set(c->ledger, id, o, g->queue, g->priority, g->preemptibility);
	set_start(c, id, started);
}

enum err_code cluster_put_group(struct cluster *c, struct obj_group *o, struct err *e)
{
	(void)e;
	ledger_mark mark = ledger_get_mark(c->ledger);
	group_id id = ledger_group_find(c->ledger, o->ns, o->name, o->is_k8s);

	if (id == GROUP_NONE) {
		id = ledger_group_add(c->ledger, o, QUEUE_NONE, 0, PREEMPTIBILITY_UNSET);
		set_start(c, id, resolve_believed(c, ledger_group(c->ledger, id)->obj->started_ns));
	} else {
		set_group(c, id, o);
	}
	cluster_find_speaker(c, id);
	cluster_settle_group(c, id);
	resolve_members(c, id);
	cluster_keep(c, mark);
	return ERR_OK;
}

/* ---- gangs that pods make ---- */

bool cluster_reads_gang(const struct cluster *c, const struct pod_gang *g)
{
	const struct profile_data *p = profile_get(c->options.profile);

	return g != NULL && !p->ignores_kai_groups && !(g->is_yunikorn && p->has_only_kai_queues);
}

static bool defines(const struct pod_gang *g)
{
	return !g->is_yunikorn || g->n_task_groups > 0;
}

/* What was never made comes last. */
static bool is_older(int64_t a_ns, int64_t b_ns)
{
	return a_ns != TIME_NONE && (b_ns == TIME_NONE || a_ns < b_ns);
}

/* Whose word counts: cede's own before YuniKorn's; the larger minimum; the oldest pod's, then the first by name. */
static bool has_the_word(const struct cluster *c, const struct obj_pod *a, const struct obj_pod *b)
{
	if (obj_gang(a)->is_yunikorn != obj_gang(b)->is_yunikorn)
		return !obj_gang(a)->is_yunikorn;
	if (obj_gang(a)->min_member != obj_gang(b)->min_member)
		return obj_gang(a)->min_member > obj_gang(b)->min_member;
	if (a->created_ns != b->created_ns)
		return is_older(a->created_ns, b->created_ns);
	return name_cmp(c->names, a->name, b->name) < 0;
}

static const struct obj_pod *definer_of(const struct cluster *c, name_id ns, name_id name)
{
	const struct obj_pod *best = NULL;

	for (pod_id id = id_index_first(&c->by_group, group_key(ns, name)); id != POD_NONE;
	     id = id_index_next(&c->by_group, id)) {
		const struct obj_pod *o = ledger_pod(c->ledger, id)->obj;

		if (cluster_reads_gang(c, obj_gang(o)) && defines(obj_gang(o)) &&
		    (best == NULL || has_the_word(c, o, best)))
			best = o;
	}
	return best;
}

static struct obj_group gang_object(const struct cluster *c, const struct obj_pod *by, name_id ns, name_id name)
{
	const struct pod_gang *g = obj_gang(by);
	struct obj_group o = {.ns = ns,
			      .name = name,
			      .is_of_pods = true,
			      .min_member = g->min_member,
			      .created_ns = by->created_ns,
			      .started_ns = TIME_NONE,
			      .stale_ns = TIME_NONE,
			      .relax_ns = TIME_NONE,
			      .bag = name_bag_of(c->names)};

	names_keep(c->names, ns);
	names_keep(c->names, name);
	if (g->is_yunikorn && !g->is_hard && by->created_ns != TIME_NONE)
		o.relax_ns = time_add(by->created_ns, g->timeout_ns);
	if (g->n_task_groups > 0)
		o.subgroups = mem_alloc(g->n_task_groups * sizeof(*o.subgroups));
	for (uint32_t i = 0; i < g->n_task_groups; i++)
		o.subgroups[o.n_subgroups++] = (struct obj_subgroup){
			.name = name_bag_add_str(&o.bag, name_str(c->names, g->task_groups[i].name)),
			.min_member = g->task_groups[i].min_member};
	return o;
}

static bool is_same_gang(const struct obj_group *a, const struct obj_group *b)
{
	bool is_same = a->min_member == b->min_member && a->relax_ns == b->relax_ns && has_same_podsets(a, b);

	for (uint32_t i = 0; is_same && i < a->n_subgroups; i++)
		is_same = a->subgroups[i].min_member == b->subgroups[i].min_member;
	return is_same;
}

static void drop_gang(struct cluster *c, group_id id)
{
	queue_id queue = ledger_group(c->ledger, id)->queue;

	detach_group(c, id);
	ledger_group_drop(c->ledger, id);
	cluster_left_queue(c, queue);
	set_speaker(c, id, POD_NONE);
}

/* The gang of this name is what the pods say that name it. */
static void settle_gang(struct cluster *c, name_id ns, name_id name)
{
	group_id id = ledger_group_find(c->ledger, ns, name, false);
	const struct obj_pod *by = definer_of(c, ns, name);
	struct obj_group o;

	if (id != GROUP_NONE && !ledger_group(c->ledger, id)->obj->is_of_pods)
		return;
	if (by == NULL) {
		if (id != GROUP_NONE)
			drop_gang(c, id);
		return;
	}
	o = gang_object(c, by, ns, name);
	if (id == GROUP_NONE) {
		id = ledger_group_add(c->ledger, &o, QUEUE_NONE, 0, PREEMPTIBILITY_UNSET);
	} else if (!is_same_gang(ledger_group(c->ledger, id)->obj, &o)) {
		set_group(c, id, &o);
	} else if (ledger_group(c->ledger, id)->obj->created_ns != o.created_ns) {
		set_group(c, id, &o); /* no member is another one by that */
		return;
	} else {
		obj_group_drop(c->vocab, &o);
		return;
	}
	cluster_find_speaker(c, id);
	cluster_settle_group(c, id);
	resolve_members(c, id);
}

/* Nothing changes by what it says: most pods say what others said before. */
static bool is_known(const struct cluster *c, const struct obj_pod *o)
{
	group_id id = ledger_group_find(c->ledger, ns_of(c, o->labelset), o->group, false);
	const struct obj_group *g = id != GROUP_NONE ? ledger_group(c->ledger, id)->obj : NULL;

	if (!cluster_reads_gang(c, obj_gang(o)))
		return g == NULL || !g->is_of_pods;
	if (obj_gang(o)->is_yunikorn)
		return obj_gang(o)->n_task_groups == 0;
	return g != NULL && g->is_of_pods && g->n_subgroups == 0 &&
	       (g->min_member > obj_gang(o)->min_member ||
		(g->min_member == obj_gang(o)->min_member && !is_older(o->created_ns, g->created_ns)));
}

/* It is one of the last, or others say less than it did, or it may have been the oldest. */
static bool is_missed(const struct cluster *c, const struct obj_pod *was)
{
	name_id ns = ns_of(c, was->labelset);
	group_id id = ledger_group_find(c->ledger, ns, was->group, false);
	pod_id next = id_index_first(&c->by_group, group_key(ns, was->group));
	const struct obj_pod *o = next != POD_NONE ? ledger_pod(c->ledger, next)->obj : NULL;
	const struct pod_gang *other = o != NULL ? obj_gang(o) : NULL;
	const struct obj_group *g = id != GROUP_NONE ? ledger_group(c->ledger, id)->obj : NULL;

	return g != NULL && (other == NULL || obj_gang(was)->n_task_groups > 0 || other->is_yunikorn ||
			     other->min_member != g->min_member ||
			     (was->created_ns == g->created_ns && o->created_ns != g->created_ns));
}

void cluster_gang_said(struct cluster *c, const struct obj_pod *now, const struct obj_pod *was)
{
	if (was != NULL && obj_gang(was) != NULL && is_missed(c, was))
		settle_gang(c, ns_of(c, was->labelset), was->group);
	if (now != NULL && obj_gang(now) != NULL && !is_known(c, now))
		settle_gang(c, ns_of(c, now->labelset), now->group);
}

void cluster_relax_gangs(struct cluster *c, int64_t now_ns)
{
	for (group_id id = 0; id < ledger_group_limit(c->ledger); id++) {
		const struct group *g = ledger_group(c->ledger, id);
		struct obj_group copy;

		if (!g->is_live || !g->obj->is_of_pods || g->obj->has_no_minimum || g->obj->relax_ns == TIME_NONE ||
		    now_ns < g->obj->relax_ns)
			continue;
		copy = cluster_group_copy(c, g->obj);
		copy.has_no_minimum = true;
		ledger_group_set(c->ledger, id, &copy, g->queue, g->priority, g->preemptibility);
	}
}

void cluster_drop_group(struct cluster *c, const char *ns, const char *name, bool is_k8s)
{
	ledger_mark mark = ledger_get_mark(c->ledger);
	name_id ns_id, name_id_;
	group_id id = cluster_find_names(c, ns, name, &ns_id, &name_id_)
			      ? ledger_group_find(c->ledger, ns_id, name_id_, is_k8s)
			      : GROUP_NONE;

	if (id == GROUP_NONE)
		return;
	pod_id first = first_in_group(c, id);
	queue_id queue = ledger_group(c->ledger, id)->queue;
	detach_group(c, id);
	ledger_group_drop(c->ledger, id);
	cluster_left_queue(c, queue);
	set_speaker(c, id, POD_NONE);
	for (pod_id pod = first; pod != POD_NONE; pod = id_index_next(&c->by_group, pod))
		cluster_resolve_pod(c, pod);
	settle_gang(c, ns_id, name_id_);
	cluster_keep(c, mark);
}
