/* SPDX-License-Identifier: Apache-2.0 */
/* What the watches tell becomes places in the queue and events for it; and the scheduler as a whole. */
#include "run/scheduler_internal.h"

#include <stdio.h>

#include "run/volumes.h"

void say(struct scheduler *s, bool is_warning, const char *fmt, ...)
{
	char words[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	if (s->o.hooks.said)
		s->o.hooks.said(s->o.hooks.ctx, is_warning, words);
}

name_id pod_ns(const struct scheduler *s, const struct pod *p)
{
	return labelset_get(s->world->vocab, p->labelset)->ns;
}

/* ---- notes and timers ---- */

struct pod_note *note_of(struct scheduler *s, pod_id pod)
{
	while (s->notes.n <= pod)
		array_push(&s->notes, (struct pod_note){.until_ns = INT64_MAX});
	return &s->notes.v[pod];
}

static int by_until(const void *ctx, uint32_t a, uint32_t b)
{
	const struct scheduler *s = ctx;
	int64_t x = s->notes.v[a].until_ns, y = s->notes.v[b].until_ns;

	return x != y ? (x < y ? -1 : 1) : 0;
}

void forget_until(struct scheduler *s, pod_id pod)
{
	note_of(s, pod)->until_ns = INT64_MAX;
	if (heap_has(&s->timers, pod))
		heap_remove(&s->timers, pod);
}

void note_until(struct scheduler *s, pod_id pod, int64_t wall_ns)
{
	struct pod_note *note = note_of(s, pod);

	if (wall_ns <= s->now.wall_ns || wall_ns >= note->until_ns)
		return;
	if (heap_has(&s->timers, pod))
		heap_remove(&s->timers, pod);
	note->until_ns = wall_ns;
	heap_push(&s->timers, pod);
}

static bool waits_for_us(const struct scheduler *s, const struct pod *p)
{
	return p->state == POD_WAITING && engine_is_ours(s->world->engine, p);
}

/* One that was given up as gone or bound elsewhere, and is neither. */
static void come_back(struct scheduler *s, pod_id pod)
{
	if (waits_for_us(s, ledger_pod(s->ledger, pod)) && !note_of(s, pod)->bind)
		waiting_add(s->waiting, pod, s->now.steady_ns);
}

/* Time alone woke them (CL-5). */
static void timers_tick(struct scheduler *s)
{
	while (s->timers.items.n) {
		pod_id pod = heap_peek(&s->timers);

		if (s->notes.v[pod].until_ns > s->now.wall_ns)
			break;
		forget_until(s, pod);
		if (waiting_where(s->waiting, pod) == WAITING_NOWHERE)
			come_back(s, pod);
		else
			waiting_activate(s->waiting, pod, s->now.steady_ns);
	}
}

/* ---- who is woken by what ---- */

void tell_event(struct scheduler *s, const struct cluster_event *ev)
{
	waiting_event(s->waiting, ev, s->now.steady_ns);
}

void wake_nominated(struct scheduler *s, node_id node)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);

	for (uint32_t i = 0; i < n->nominated.n; i++)
		waiting_activate(s->waiting, n->nominated.v[i], s->now.steady_ns);
}

/* What is kept free there for pods that it does not go before. */
static int64_t reserved_for_others(const struct scheduler *s, pod_id pod, node_id node, res_id r)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	int64_t sum = 0;

	for (uint32_t i = 0; i < n->nominated.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, n->nominated.v[i]);

		if (n->nominated.v[i] != pod && p->priority >= ledger_pod(s->ledger, pod)->priority)
			sum += res_list_get(&shape_get(s->world->vocab, p->shape)->usage, r);
	}
	return sum;
}

/* Would it find the resources it asks for on the node, once the one that goes is gone? */
static bool has_room(const struct scheduler *s, pod_id pod, node_id node, pod_id going)
{
	const struct ledger *l = s->ledger;
	const struct res_list *asks = &shape_get(s->world->vocab, ledger_pod(l, pod)->shape)->request;
	const struct res_list *gives = &shape_get(s->world->vocab, ledger_pod(l, going)->shape)->usage;

	for (uint32_t i = 0; i < asks->n; i++) {
		res_id r = asks->v[i].type;
		int64_t free = ledger_node_allocatable(l, node)[r] - ledger_node_used(l, node)[r];

		if (asks->v[i].amount > free + res_list_get(gives, r) - reserved_for_others(s, pod, node, r))
			return false;
	}
	return true;
}

static bool others_leave(const struct scheduler *s, node_id node, pod_id but)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);

	for (uint32_t i = 0; i < n->pods.n; i++)
		if (n->pods.v[i] != but && ledger_pod(s->ledger, n->pods.v[i])->state == POD_LEAVING)
			return true;
	return false;
}

/*
 * Whoever has room reserved there goes first, and without a pause: it was made for him. As long as it is not all there
 * and the rest is still to come he is not asked: he would only say so.
 */
void room_freed(struct scheduler *s, pod_id pod, node_id node)
{
	struct cluster_event ev = {EV_ASSIGNED_POD, EV_DELETE, pod, node, .before = NULL};
	const struct ledger_node *n = ledger_node(s->ledger, node);
	bool is_last = !others_leave(s, node, pod);

	for (uint32_t i = 0; i < n->nominated.n; i++)
		if (is_last || has_room(s, n->nominated.v[i], node, pod))
			waiting_activate(s->waiting, n->nominated.v[i], s->now.steady_ns);
	tell_event(s, &ev);
}

/* As kube-scheduler's plugins say; but who has a plan is not woken by room that is too small for him. */
static enum hint pod_hint(const void *ctx, const char *plugin, pod_id pod, const struct cluster_event *ev)
{
	const struct scheduler *s = ctx;
	bool is_room = ev->resource == EV_ASSIGNED_POD && (ev->actions & EV_DELETE) && ev->node != NODE_NONE;

	if (is_room && ledger_pod(s->ledger, pod)->nomination != NOMINATION_NONE &&
	    str_eq(plugin, "NodeResourcesFit") && !has_room(s, pod, ev->node, ev->pod))
		return HINT_SKIP;
	return hints_ask(&s->hints, plugin, pod, ev);
}

static bool pod_interest(const void *ctx, const char *plugin, const struct cluster_event *ev)
{
	return hints_interest(&((const struct scheduler *)ctx)->hints, plugin, ev);
}

/*
 * Where queues count: laws look at everything, so whatever gives room or changes objects wakes everybody who has none
 * in sight. Who holds reserved room waits for his node; who found nobody in the way of the laws does not care for those
 * who get a place.
 */
static enum hint queue_hint(const void *ctx, const char *plugin, pod_id pod, const struct cluster_event *ev)
{
	const struct scheduler *s = ctx;
	const struct pod *p = ledger_pod(s->ledger, pod);
	bool is_other = p->nomination != NOMINATION_NONE && ev->node != NODE_NONE && ev->node != p->node;

	(void)plugin;
	if (is_other)
		return HINT_SKIP;
	if (ev->resource == EV_ASSIGNED_POD && ev->actions == EV_ADD)
		return pod < s->notes.n && s->notes.v[pod].hears_placements ? HINT_QUEUE : HINT_SKIP;
	return HINT_QUEUE;
}

static const char *gate_of(const void *ctx, pod_id pod)
{
	const struct scheduler *s = ctx;

	return hints_gate(&s->hints, pod);
}

static struct waiting *make_waiting(struct scheduler *s)
{
	static const char *const plugins[] = {"cede"};
	struct waiting_options o = hints_options(&s->hints);

	o.ctx = s;
	o.gate = gate_of;
	o.hint = pod_hint;
	o.interest = pod_interest;
	if (is_pod_by_pod(s))
		return waiting_new(s->ledger, &o);
	o.n_plugins = 1;
	o.plugins = plugins;
	o.hint = queue_hint;
	o.interest = NULL;
	o.pops_early = false;
	return waiting_new(s->ledger, &o);
}

/* ---- pods ---- */

static uint32_t pod_actions(const struct obj_pod *now, const struct obj_pod *before)
{
	uint32_t actions = 0;

	if (now->labelset != before->labelset)
		actions |= EV_POD_LABEL;
	if (now->shape != before->shape)
		actions |= EV_POD_SCALE_DOWN | EV_POD_TOLERATION | EV_POD_GATES_GONE;
	return actions;
}

/* A member that came may be the one its group waited for. */
void wake_group(struct scheduler *s, group_id group, pod_id but)
{
	const struct cluster *c = s->world->cluster;

	if (group == GROUP_NONE)
		return;
	for (pod_id i = cluster_group_first(c, group); i != POD_NONE; i = cluster_group_next(c, i))
		if (i != but && waiting_where(s->waiting, i) != WAITING_NOWHERE)
			waiting_activate(s->waiting, i, s->now.steady_ns);
}

static void waiting_pod_changed(struct scheduler *s, pod_id pod, const struct obj_pod *before)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct cluster_event demand = {EV_UNSCHEDULED_POD, EV_ADD, pod, NODE_NONE, .before = NULL};
	struct pod_note *note = note_of(s, pod);

	if (!note->status && note->nominated != p->obj->nominated_node) {
		names_drop(s->names, note->nominated);
		note->nominated = p->obj->nominated_node;
		names_keep(s->names, note->nominated);
	}
	if (p->obj->nominated_node != NAME_NONE || p->nomination != NOMINATION_NONE)
		bits_set(&s->nominated, pod);
	if (note->bind)
		return;
	if (waiting_where(s->waiting, pod) == WAITING_NOWHERE) {
		waiting_add(s->waiting, pod, s->now.steady_ns);
		wake_group(s, p->group, pod);
		if (engine_config_reclaims_by(s->world->config) == RECLAIM_FAIR_SHARE && !is_pod_by_pod(s))
			tell_event(s, &demand); /* shares are of what is asked for */
	} else {
		waiting_update(s->waiting, pod, before ? pod_actions(p->obj, before) : 0, before, s->now.steady_ns);
	}
}

/* A pod that is on a node, for everybody who waits. */
static void placed_pod_changed(struct scheduler *s, pod_id pod, const struct obj_pod *before)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct cluster_event ev = {EV_ASSIGNED_POD, EV_ADD, pod, p->node, .before = before};

	if (before && before->node_name != NAME_NONE) {
		ev.actions = (before->labelset != p->obj->labelset ? EV_POD_LABEL : 0) |
			     (before->shape != p->obj->shape ? EV_POD_SCALE_DOWN : 0);
		if (before->deleted_ns != p->obj->deleted_ns)
			ev.actions |=
				EV_POD_SCALE_DOWN; /* its room will be free: where queues count, that counts now */
	} else if (note_of(s, pod)->bind) {
		ev.actions = 0; /* said when it was decided */
	}
	if (ev.actions)
		tell_event(s, &ev);
}

/* Whoever waits for its room waits no longer than one has patience. */
static void note_leaving(struct scheduler *s, const struct pod *p)
{
	const struct ledger_node *n = ledger_node(s->ledger, p->node);
	int64_t end_ns = time_add(time_add(p->obj->deleted_ns, s->world->config->patience_ns), 1);

	for (uint32_t i = 0; i < n->nominated.n; i++)
		note_until(s, n->nominated.v[i], end_ns);
}

static void note_group(struct scheduler *s, const struct pod *p)
{
	if (p->group != GROUP_NONE)
		s->groups_changed = s->gangs_changed = true;
}

/* In a dry run of somebody's pods: what that scheduler decided. */
static void tell_theirs(struct scheduler *s, const struct pod *p, const struct obj_pod *before)
{
	struct text path = {0};
	struct uid_text uid;
	struct their_placement t = {
		.uid = uid_str(s->names, p->obj->uid, &uid),
		.node = str_of(s, p->obj->node_name),
		.queue = p->queue == QUEUE_NONE ? "" : str_of(s, queue_get(ledger_queues(s->ledger), p->queue)->path),
		.scheduler = str_of(s, shape_get(s->world->vocab, p->shape)->scheduler_name)};

	if (!s->o.is_dry || !s->o.hooks.theirs || !before || before->node_name != NAME_NONE ||
	    p->obj->node_name == NAME_NONE || !engine_is_ours(s->world->engine, p))
		return;
	text_printf(&path, "%s/%s", str_of(s, pod_ns(s, p)), str_of(s, p->name));
	t.pod = text_str(&path);
	s->o.hooks.theirs(s->o.hooks.ctx, &t, &s->now);
	text_free(&path);
}

static void on_pod(void *ctx, pod_id pod, const struct obj_pod *before)
{
	struct scheduler *s = ctx;
	const struct pod *p = ledger_pod(s->ledger, pod);

	note_group(s, p);
	tell_theirs(s, p, before);
	if (waits_for_us(s, p)) {
		waiting_pod_changed(s, pod, before);
		return;
	}
	if (p->obj->node_name != NAME_NONE && (p->state == POD_PLACED || p->state == POD_LEAVING))
		placed_pod_changed(s, pod, before);
	if (p->obj->node_name != NAME_NONE)
		bind_observed(s, pod);
	if (p->state != POD_WAITING)
		waiting_remove(s->waiting, pod);
	if (p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE)
		note_leaving(s, p);
	if (bits_has(&s->nominated, pod))
		evict_preemptor_gone(s, pod);
	evict_observed(s, pod);
}

static void tell_gone(struct scheduler *s, pod_id pod)
{
	if (s->o.hooks.gone)
		s->o.hooks.gone(s->o.hooks.ctx, pod, &s->now);
}

static void freed(struct scheduler *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct cluster_event ev = {EV_ASSIGNED_POD, EV_DELETE, pod, p->node, .is_bounded = true, .up_to = p->priority};

	if (p->state == POD_PLACED || p->state == POD_LEAVING)
		room_freed(s, pod, p->node);
	else if (p->nomination != NOMINATION_NONE)
		tell_event(s, &ev);
}

static void on_pod_going(void *ctx, pod_id pod)
{
	struct scheduler *s = ctx;
	struct pod_note *note;

	note_group(s, ledger_pod(s->ledger, pod));
	tell_gone(s, pod);
	freed(s, pod);
	waiting_remove(s->waiting, pod);
	forget_until(s, pod);
	bind_gone(s, pod);
	evict_gone(s, pod);
	evict_preemptor_gone(s, pod);
	status_gone(s, pod);
	bits_clear(&s->nominated, pod);
	note = note_of(s, pod);
	names_drop(s->names, note->nominated);
	*note = (struct pod_note){.until_ns = INT64_MAX};
	s->wants_plan = true;
}

static void on_pod_finishing(void *ctx, pod_id pod)
{
	tell_gone(ctx, pod);
	freed(ctx, pod);
}

/* ---- nodes ---- */

static bool same_taints(const struct obj_node *a, const struct obj_node *b)
{
	if (a->n_taints != b->n_taints || a->is_unschedulable != b->is_unschedulable)
		return false;
	for (uint32_t i = 0; i < a->n_taints; i++)
		if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
		    a->taints[i].effect != b->taints[i].effect)
			return false;
	return true;
}

static uint32_t node_actions(const struct obj_node *now, const struct obj_node *before)
{
	uint32_t actions = 0;

	if (!res_vec_equal(&now->allocatable, &before->allocatable))
		actions |= EV_NODE_ALLOCATABLE;
	if (now->labelset != before->labelset)
		actions |= EV_NODE_LABEL;
	if (!same_taints(now, before))
		actions |= EV_NODE_TAINT;
	if (now->is_not_ready != before->is_not_ready)
		actions |= EV_NODE_CONDITION;
	return actions;
}

static void on_node(void *ctx, node_id node, const struct obj_node *before)
{
	struct scheduler *s = ctx;
	struct cluster_event ev = {EV_NODE, EV_ADD, POD_NONE, node, .before = before};

	if (before)
		ev.actions = node_actions(ledger_node(s->ledger, node)->obj, before);
	if (!ev.actions)
		return;
	wake_nominated(s, node);
	tell_event(s, &ev);
	s->wants_plan = true;
}

static void on_node_going(void *ctx, node_id node)
{
	struct scheduler *s = ctx;
	struct cluster_event ev = {EV_NODE, EV_DELETE, POD_NONE, node, .before = NULL};

	wake_nominated(s, node);
	tell_event(s, &ev);
	s->wants_plan = true;
}

/* ---- everything else ---- */

/* Controllers change all the time and decide nothing; whom they select is looked up when it matters. */
static bool matters(const char *kind)
{
	static const char *const idle[] = {"Service",	 "ReplicationController", "Deployment",
					   "ReplicaSet", "StatefulSet",		  "DaemonSet",
					   "Job",	 "VolumeAttachment"};

	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++)
		if (str_eq(idle[i], kind))
			return false;
	return true;
}

static void group_changed(struct scheduler *s, const struct kube_object *o)
{
	struct names *names = s->names;
	name_id ns = names_find(names, o->ns, strlen(o->ns)), name = names_find(names, o->name, strlen(o->name));
	group_id group = ns && name ? ledger_group_find(s->ledger, ns, name, kube_object_is_k8s_group(o)) : GROUP_NONE;

	s->groups_changed = s->gangs_changed = true;
	wake_group(s, group, POD_NONE);
}

static void on_other(void *ctx, const struct kube_object *o, bool is_gone)
{
	struct scheduler *s = ctx;
	struct cluster_event ev = {EV_OTHER, is_gone ? EV_DELETE : EV_ADD, POD_NONE, NODE_NONE, .before = NULL};

	if (!matters(o->kind->kind))
		return;
	s->wants_plan = true;
	volumes_changed(s);
	if (str_eq(o->kind->kind, "PodGroup"))
		group_changed(s, o);
	else
		tell_event(s, &ev);
}

static void on_settings(void *ctx, const char *name, const char *uid, const struct tree *map)
{
	struct scheduler *s = ctx;

	if (s->o.hooks.settings_changed)
		s->o.hooks.settings_changed(s->o.hooks.ctx, name, uid, map);
}

static void on_refused(void *ctx, const struct kube_object *o, const char *words)
{
	struct scheduler *s = ctx;

	if (s->o.hooks.refused)
		s->o.hooks.refused(s->o.hooks.ctx, o, words);
}

static void on_trouble(void *ctx, const struct kube_kind *k, const char *words)
{
	say(ctx, true, "%s: %s", k->resource, words);
}

/* ---- the whole ---- */

struct scheduler_options scheduler_options_default(void)
{
	return (struct scheduler_options){.ns = "",
					  .instance = "cede",
					  .turn_ns = NS_PER_S / 50,
					  .steady = clock_steady(),
					  .reflector = reflector_options_default()};
}

static struct feed_listener listener_of(struct scheduler *s)
{
	return (struct feed_listener){.ctx = s,
				      .pod_changed = on_pod,
				      .pod_going = on_pod_going,
				      .pod_finishing = on_pod_finishing,
				      .node_changed = on_node,
				      .node_going = on_node_going,
				      .other_changed = on_other,
				      .settings_changed = on_settings,
				      .refused = on_refused,
				      .trouble = on_trouble};
}

static void make_recorders(struct scheduler *s)
{
	const struct engine_config *c = s->world->config;

	for (uint32_t i = 0; i < c->n_scheduler_names; i++)
		array_push(&s->events, events_new(c->scheduler_names[i], s->o.instance));
	if (!s->events.n)
		array_push(&s->events, events_new("cede", s->o.instance));
}

struct scheduler *scheduler_new(struct world *w, const struct scheduler_options *o, const struct moment *now)
{
	struct scheduler *s = mem_alloc(sizeof(*s));
	struct feed_listener listener = listener_of(s);
	struct kube_feed_options f = {.ns = o->ns, .reflector = o->reflector};

	s->world = w;
	s->o = *o;
	s->now = *now;
	s->ledger = cluster_ledger(w->cluster);
	s->names = vocab_names(w->vocab);
	s->hints.engine = w->engine;
	s->waiting = make_waiting(s);
	s->dirty_ns = s->group_ns = s->quota_ns = INT64_MAX;
	s->flushed_ns = s->plan_again_ns = now->steady_ns;
	s->arena = arena_new(1 << 16);
	heap_init(&s->timers, by_until, s);
	tasks_init(s);
	eviction_history_init(&s->history, s->names);
	eviction_history_copy(&s->history, o->history);
	make_recorders(s);
	s->feed = kube_feed_new(w->cluster, w->vocab, &f, &o->transport, &listener, o->seed);
	s->pods = kube_feed_reflector(s->feed, "Pod", "");
	kube_feed_start(s->feed, now->steady_ns);
	return s;
}

void scheduler_free(struct scheduler *s)
{
	if (!s)
		return;
	tasks_drop(s);
	gang_binds_free(s);
	kube_feed_free(s->feed);
	for (uint32_t i = 0; i < s->events.n; i++)
		events_free(s->events.v[i]);
	array_free(&s->events);
	for (uint32_t i = 0; i < s->notes.n; i++)
		names_drop(s->names, s->notes.v[i].nominated);
	array_free(&s->notes);
	array_free(&s->tasks);
	array_free(&s->free_slots);
	heap_free(&s->due);
	heap_free(&s->ready);
	heap_free(&s->events_ready);
	heap_free(&s->unkept);
	for (uint32_t i = 0; i < s->early_events.n; i++)
		kube_write_free(&s->early_events.v[i]);
	array_free(&s->early_events);
	map_free(&s->by_request);
	map_free(&s->stamped);
	map_free(&s->published);
	map_free(&s->stale);
	array_free(&s->over_since);
	bits_free(&s->quota_held);
	heap_free(&s->timers);
	bits_free(&s->nominated);
	bits_free(&s->batch);
	waiting_free(s->waiting);
	eviction_history_free(&s->history);
	arena_free(s->arena);
	world_free(s->world);
	mem_free(s);
}

/* Pods start as time goes on: what is read now may have started since the last time. */
static void set_now(struct scheduler *s, const struct moment *now)
{
	s->now = *now;
	cluster_set_now(s->world->cluster, now->wall_ns);
}

bool scheduler_take(struct scheduler *s, const struct kube_news *n, const struct moment *now)
{
	set_now(s, now);
	return tasks_take(s, n) || kube_feed_take(s->feed, n, now->steady_ns);
}

void scheduler_tick(struct scheduler *s, const struct moment *now)
{
	set_now(s, now);
	kube_feed_tick(s->feed, now->steady_ns);
	kube_feed_settle(s->feed);
	if (!s->was_synced && kube_feed_is_synced(s->feed)) {
		s->was_synced = s->wants_plan = true;
		cluster_trim(s->world->cluster); /* the whole cluster came at once */
		say(s, false, "everything is listed");
	}
	timers_tick(s);
	groups_tick(s);
	gang_binds_tick(s);
	if (now->wall_ns >= s->quota_ns) {
		s->quota_ns = INT64_MAX;
		s->wants_plan = true;
	}
	waiting_flush(s->waiting, now->steady_ns);
	tasks_tick(s);
	report_flush(s);
}

static bool may_decide(const struct scheduler *s)
{
	return (s->leads || s->o.is_dry) && !s->is_draining && kube_feed_is_fresh(s->feed);
}

bool scheduler_decide(struct scheduler *s, const struct moment *now)
{
	bool goes_on;

	set_now(s, now);
	if (!may_decide(s))
		return false;
	goes_on = is_pod_by_pod(s) ? decide_pods(s) : decide_plan(s);
	tasks_tick(s);
	return goes_on;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t next_turn_ns(const struct scheduler *s, const struct moment *now)
{
	bool has_work = waiting_count(s->waiting, WAITING_ACTIVE) || (!is_pod_by_pod(s) && s->wants_plan);

	if (!may_decide(s) || !has_work)
		return INT64_MAX;
	if (is_pod_by_pod(s)) /* who is full goes on when an answer comes */
		return decide_is_full(s) ? INT64_MAX : now->steady_ns;
	if (s->dirty_ns == INT64_MAX)
		return now->steady_ns;
	return s->plan_again_ns > time_add(s->dirty_ns, NS_PER_S / 50) ? s->plan_again_ns
								       : time_add(s->dirty_ns, NS_PER_S / 50);
}

int64_t scheduler_next_ns(const struct scheduler *s, const struct moment *now)
{
	int64_t next = earlier(kube_feed_next_ns(s->feed), earlier(tasks_next_ns(s), waiting_next_ns(s->waiting)));

	int64_t wall_ns = earlier(s->group_ns, s->quota_ns);

	if (s->timers.items.n)
		wall_ns = earlier(wall_ns, s->notes.v[heap_peek(&s->timers)].until_ns);
	if (wall_ns != INT64_MAX)
		next = earlier(next, time_add(now->steady_ns, time_since(wall_ns, now->wall_ns)));
	next = earlier(next, gang_binds_next_ns(s));
	return earlier(next, next_turn_ns(s, now));
}

void scheduler_lead(struct scheduler *s, const struct moment *now)
{
	set_now(s, now);
	if (!s->leads)
		kube_feed_refresh(s->feed, now->steady_ns);
	s->leads = s->wants_plan = true;
	report_early(s);
}

void scheduler_drain(struct scheduler *s)
{
	s->is_draining = true;
}

bool scheduler_is_drained(const struct scheduler *s)
{
	return !tasks_in_flight(s) && !s->ready.items.n;
}

bool scheduler_is_silent(const struct scheduler *s)
{
	return scheduler_is_drained(s) && !s->in_flight[TASK_EVENT] && !s->events_ready.items.n;
}

bool scheduler_is_synced(const struct scheduler *s)
{
	return kube_feed_is_fresh(s->feed);
}

struct world *scheduler_world(const struct scheduler *s)
{
	return s->world;
}

struct kube_feed *scheduler_feed(const struct scheduler *s)
{
	return s->feed;
}

struct waiting *scheduler_waiting(const struct scheduler *s)
{
	return s->waiting;
}

const struct eviction_history *scheduler_history(const struct scheduler *s)
{
	return &s->history;
}

struct scheduler_counts scheduler_counts(const struct scheduler *s, const struct moment *now)
{
	struct scheduler_counts c = {.active = waiting_count(s->waiting, WAITING_ACTIVE),
				     .backoff = waiting_count(s->waiting, WAITING_BACKOFF),
				     .unschedulable = waiting_count(s->waiting, WAITING_UNSCHEDULABLE),
				     .gated = waiting_count(s->waiting, WAITING_GATED),
				     .in_flight = tasks_in_flight(s)};

	for (uint32_t i = 0; i < s->tasks.n; i++)
		c.assumed += s->tasks.v[i] && s->tasks.v[i]->kind == TASK_BIND && !s->tasks.v[i]->is_over;
	for (pod_id i = 0; i < ledger_pod_limit(s->ledger); i++) {
		const struct pod *p = ledger_pod(s->ledger, i);

		c.leaving += p->state == POD_LEAVING && p->is_evicted;
		c.stuck += p->state == POD_LEAVING && pod_is_stuck(p, now->wall_ns, s->world->config->patience_ns);
	}
	return c;
}
