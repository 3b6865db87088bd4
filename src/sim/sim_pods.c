/* SPDX-License-Identifier: Apache-2.0 */
/* The life of simulated pods: submitted, started, saved, evicted, gone, made again, finished. */
#include <stdio.h>
#include <string.h>

#include "sim/sim_helps.h"
#include "sim/sim_wake.h"

/* ---- slots ---- */

static uint32_t take_slot(struct sim *s)
{
	if (s->free_pods.n)
		return array_pop(&s->free_pods);
	array_push(&s->pods, (struct sim_pod){0});
	return s->pods.n - 1;
}

static uint32_t take_work(struct sim *s)
{
	if (s->free_works.n)
		return array_pop(&s->free_works);
	array_push(&s->works, (struct sim_work){0});
	return s->works.n - 1;
}

static void drop_work(struct sim *s, uint32_t at)
{
	struct sim_work *w = &s->works.v[at];

	obj_pod_drop(s->vocab, &w->template);
	mem_free(w->name);
	mem_free(w->pods);
	*w = (struct sim_work){0};
	array_push(&s->free_works, at);
}

static void drop_slot(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	uint32_t job = p->job;

	timer_cancel(s, &p->timer);
	*p = (struct sim_pod){.life = LIFE_FREE};
	array_push(&s->free_pods, slot);
	if (--s->works.v[job].n_alive == 0)
		drop_work(s, job);
}

struct incarnation *sim_incarnation(struct sim *s, pod_id pod)
{
	while (s->by_pod.n <= pod)
		array_push(&s->by_pod, ((struct incarnation){.slot = SLOT_NONE, .timer = SLOT_NONE}));
	return &s->by_pod.v[pod];
}

static bool is_mortal(const struct sim_work *w)
{
	return w->run_ns != SIM_ENDLESS;
}

/* ---- objects ---- */

static const char *ns_of(const struct sim *s, const struct pod *p)
{
	return name_str(s->names, labelset_get(s->vocab, p->labelset)->ns);
}

static void room_came_free(struct sim *s, node_id node, queue_id queue)
{
	if (node != NODE_NONE && node < ledger_node_limit(s->ledger) && ledger_node(s->ledger, node)->name != NAME_NONE)
		wake_node_gained(s, node);
	if (queue != QUEUE_NONE && queue < ledger_queues(s->ledger)->q.n)
		wake_queue_lost(s, queue);
}

static void drop_object(struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct incarnation *i = sim_incarnation(s, pod);
	node_id node = p->state == POD_PLACED || p->state == POD_LEAVING ? p->node : NODE_NONE;
	queue_id queue = p->state == POD_PLACED ? p->queue : QUEUE_NONE;

	timer_cancel(s, &i->timer);
	*i = (struct incarnation){.slot = SLOT_NONE, .timer = SLOT_NONE};
	wake_leave(s, pod);
	if (p->has_volumes) {
		ledger_settle_assumed(s->ledger, pod);
		ledger_commit(s->ledger);
	}
	cluster_drop_pod(s->cluster, ns_of(s, p), name_str(s->names, p->name));
	room_came_free(s, node, queue);
}

/* NAME, or NAME-3; made again under a new name: NAME-3-r1. */
static name_id name_of(struct sim *s, const struct sim_work *w, const struct sim_pod *p)
{
	bool renews = w->controller == SIM_JOB || w->controller == SIM_REPLICAS;
	char buf[320];
	int n = w->n_pods > 1 ? snprintf(buf, sizeof(buf), "%s-%u", w->name, p->ordinal)
			      : snprintf(buf, sizeof(buf), "%s", w->name);

	if (renews && p->made > 1 && n > 0 && (size_t)n < sizeof(buf))
		n += snprintf(buf + n, sizeof(buf) - (size_t)n, "-r%u", p->made - 1);
	return names_hold(s->names, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

/* A pod object for the slot, waiting. */
static enum err_code make_object(struct sim *s, uint32_t slot, struct err *e)
{
	struct sim_pod *p = &s->pods.v[slot];
	struct sim_work *w = &s->works.v[p->job];
	struct obj_pod o = obj_pod_copy(s->vocab, &w->template);
	name_id ns = labelset_get(s->vocab, o.labelset)->ns, name;
	enum err_code rc;

	p->made++;
	o.name = name = name_of(s, w, p);
	o.created_ns = s->now_ns;
	if (ledger_pod_find(s->ledger, ns, name) != POD_NONE) {
		rc = err_fail(e, ERR_CONFLICT, "pod %s/%s is there already", name_str(s->names, ns),
			      name_str(s->names, name));
		obj_pod_drop(s->vocab, &o);
		return rc;
	}
	rc = cluster_put_pod(s->cluster, &o, e);
	if (rc) {
		obj_pod_drop(s->vocab, &o);
		return rc;
	}
	p = &s->pods.v[slot];
	p->pod = ledger_pod_find(s->ledger, ns, name);
	*sim_incarnation(s, p->pod) = (struct incarnation){.slot = slot, .timer = SLOT_NONE};
	wake_enter(s, p->pod);
	return ERR_OK;
}

/* ---- waiting ---- */

static void begin_waiting(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];

	p->life = LIFE_WAITING;
	p->waits_since_ns = s->now_ns;
	ACCOUNT_COUNT(s, p->account, waiting, 1);
}

/* It is in the cluster as a waiting pod: what it asks for counts as demand. */
static void enter_demand(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];

	account_add(s, p->account, ledger_pod(s->ledger, p->pod), IN_DEMAND, 1);
}

/* The queue it was resolved to may be another than before. */
static void move_account(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];

	if (p->made == 1)
		p->account = account_of_queue(s, ledger_pod(s->ledger, p->pod)->queue);
}

static void count_submitted(struct sim *s, uint32_t slot)
{
	const struct sim_pod *p = &s->pods.v[slot];
	const struct sim_work *w = &s->works.v[p->job];

	ACCOUNT_COUNT(s, p->account, submitted, 1);
	if (!is_mortal(w))
		return;
	s->n_mortal++;
	ACCOUNT_COUNT(s, p->account, submitted_sum, w->run_ns);
}

static uint32_t new_pod(struct sim *s, uint32_t job, uint32_t ordinal)
{
	uint32_t slot = take_slot(s);

	s->pods.v[slot] = (struct sim_pod){.life = LIFE_WAITING,
					   .serial = ++s->next_serial,
					   .job = job,
					   .ordinal = ordinal,
					   .pod = POD_NONE,
					   .timer = SLOT_NONE,
					   .submitted_ns = s->now_ns,
					   .waits_since_ns = s->now_ns,
					   .started_ns = TIME_NONE,
					   .saved_to_ns = TIME_NONE};
	s->works.v[job].pods[ordinal] = slot;
	s->works.v[job].n_alive++;
	return slot;
}

/* ---- submission ---- */

static enum owner_kind owner_of(enum sim_controller c)
{
	switch (c) {
	case SIM_JOB:
		return OWNER_JOB;
	case SIM_REPLICAS:
		return OWNER_REPLICASET;
	case SIM_STATEFUL:
		return OWNER_STATEFULSET;
	case SIM_OPERATOR:
		return OWNER_OTHER;
	default:
		return OWNER_NONE;
	}
}

/* Who makes it again, and whom it starts with, as its pods will say. */
static void complete_template(struct sim *s, struct sim_work *w)
{
	struct obj_pod *t = &w->template;
	struct pod_gang draft = {.min_member = w->min_member};

	if (t->owner_kind == OWNER_NONE && w->controller != SIM_BARE) {
		t->owner_kind = owner_of(w->controller);
		t->owner_name = names_hold_str(s->names, w->name);
	}
	if (w->min_member > 0 && t->group == NAME_NONE) {
		t->group = names_hold_str(s->names, w->name);
		obj_pod_extra(t)->gang = pod_gang_new(s->names, &draft, NULL);
	}
}

static uint32_t new_work(struct sim *s, const struct sim_job *job)
{
	uint32_t at = take_work(s);
	struct sim_work *w = &s->works.v[at];

	*w = (struct sim_work){.is_live = true,
			       .name = mem_strdup(job->name),
			       .template = obj_pod_copy(s->vocab, job->template),
			       .n_pods = job->n_pods,
			       .pods = mem_alloc(job->n_pods * sizeof(uint32_t)),
			       .min_member = job->min_member,
			       .run_ns = job->run_ns,
			       .checkpoint_ns = job->checkpoint_ns,
			       .grace_ns = job->grace_ns,
			       .lingers_ns = job->lingers_ns,
			       .controller = job->controller};
	complete_template(s, w);
	return at;
}

static enum err_code check_job(const struct sim_job *job, struct err *e)
{
	if (!job->n_pods || job->n_pods > 100000)
		return err_fail(e, ERR_INPUT, "job %s: %u pods: expected 1 to 100000", job->name, job->n_pods);
	if (job->run_ns <= 0)
		return err_fail(e, ERR_INPUT, "job %s: its run time is not positive", job->name);
	if (job->min_member < 0 || (uint32_t)job->min_member > job->n_pods)
		return err_fail(e, ERR_INPUT, "job %s: %d of its %u pods start together: that can never be", job->name,
				job->min_member, job->n_pods);
	if (job->grace_ns < 0 || job->lingers_ns < 0 || job->checkpoint_ns < 0)
		return err_fail(e, ERR_INPUT, "job %s: a duration is negative", job->name);
	return ERR_OK;
}

enum err_code sim_submit(struct sim *s, const struct sim_job *job, struct err *e)
{
	enum err_code rc = check_job(job, e);
	uint32_t at = rc ? 0 : new_work(s, job);

	for (uint32_t i = 0; !rc && i < job->n_pods; i++) {
		uint32_t slot = new_pod(s, at, i);

		rc = make_object(s, slot, e);
		if (rc) {
			drop_slot(s, slot);
			break;
		}
		move_account(s, slot);
		count_submitted(s, slot);
		begin_waiting(s, slot);
		enter_demand(s, slot);
	}
	return rc;
}

/* ---- running ---- */

static int64_t remaining_ns(const struct sim_work *w, const struct sim_pod *p)
{
	return is_mortal(w) ? time_since(w->run_ns, p->saved_ns) : SIM_ENDLESS;
}

/* It ends, or saves its work: whatever comes first. */
static void set_run_timer(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	const struct sim_work *w = &s->works.v[p->job];
	int64_t left = remaining_ns(w, p);

	timer_cancel(s, &p->timer);
	if (w->checkpoint_ns > 0 && w->checkpoint_ns < left)
		left = w->checkpoint_ns;
	if (left != SIM_ENDLESS)
		p->timer = timer_set(s, time_add(p->saved_to_ns, left), TIMER_POD, slot);
}

void sim_started(struct sim *s, pod_id pod)
{
	uint32_t slot = sim_incarnation(s, pod)->slot;
	struct sim_pod *p;
	int64_t waited;

	if (slot == SLOT_NONE)
		return;
	p = &s->pods.v[slot];
	waited = time_since(s->now_ns, p->waits_since_ns);
	p->life = LIFE_RUNNING;
	p->started_ns = p->saved_to_ns = s->now_ns;
	ACCOUNT_COUNT(s, p->account, waiting, -1);
	ACCOUNT_COUNT(s, p->account, running, 1);
	ACCOUNT_COUNT(s, p->account, starts, 1);
	times_add(&s->accounts.v[p->account].counts.waits, waited);
	times_add(&s->accounts.v[0].counts.waits, waited);
	account_add(s, p->account, ledger_pod(s->ledger, pod), IN_DEMAND, -1);
	account_add(s, p->account, ledger_pod(s->ledger, pod), IN_USE, 1);
	account_add(s, p->account, ledger_pod(s->ledger, pod), ON_NODES, 1);
	set_run_timer(s, slot);
	wake_leave(s, pod);
	wake_node_taken(s, ledger_pod(s->ledger, pod)->node);
	wake_queue_has_grown(s, ledger_pod(s->ledger, pod)->queue, ledger_pod(s->ledger, pod)->group);
	if (s->o.watcher.start)
		s->o.watcher.start(s->o.watcher.ctx, s, pod);
}

/* The run is over: what was saved was useful; the rest too if it finished, else it is lost. */
static void end_run(struct sim *s, uint32_t slot, bool has_finished)
{
	struct sim_pod *p = &s->pods.v[slot];
	int64_t rest = time_since(s->now_ns, p->saved_to_ns), saved = time_since(p->saved_to_ns, p->started_ns);

	timer_cancel(s, &p->timer);
	ACCOUNT_COUNT(s, p->account, running, -1);
	ACCOUNT_COUNT(s, p->account, useful_sum, saved);
	if (has_finished)
		ACCOUNT_COUNT(s, p->account, useful_sum, rest);
	else
		ACCOUNT_COUNT(s, p->account, lost_sum, rest);
	account_add(s, p->account, ledger_pod(s->ledger, p->pod), IN_USE, -1);
}

static void save_work(struct sim *s, uint32_t slot, int64_t by)
{
	struct sim_pod *p = &s->pods.v[slot];

	p->saved_to_ns = s->now_ns;
	p->saved_ns = time_add(p->saved_ns, by);
	if (is_mortal(&s->works.v[p->job]))
		ACCOUNT_COUNT(s, p->account, done_sum, by);
}

/* The engine weighs what an eviction would cost from here on. */
static void tell_checkpoint(struct sim *s, pod_id pod)
{
	struct obj_pod o = obj_pod_copy(s->vocab, ledger_pod(s->ledger, pod)->obj);
	struct err e;

	o.checkpointed_ns = s->now_ns;
	if (cluster_put_pod(s->cluster, &o, &e))
		obj_pod_drop(s->vocab, &o);
}

/* ---- the end ---- */

static void count_slowdown(struct sim *s, const struct sim_pod *p, const struct sim_work *w)
{
	double least = 10e9, took = (double)time_since(s->now_ns, p->submitted_ns), work = (double)w->run_ns;
	double slowdown = took / (work > least ? work : least);
	int64_t parts = (int64_t)((slowdown < 1 ? 1 : slowdown) * (double)NS_PER_S);

	times_add(&s->accounts.v[p->account].counts.slowdowns, parts);
	times_add(&s->accounts.v[0].counts.slowdowns, parts);
}

/* Members of a gang are kept until all of it is done: who is left must not look like a gang that fell apart. */
static void keep_finished(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	struct obj_pod o = obj_pod_copy(s->vocab, ledger_pod(s->ledger, p->pod)->obj);
	node_id where = ledger_pod(s->ledger, p->pod)->node;
	queue_id queue = ledger_pod(s->ledger, p->pod)->queue;
	name_id node = ledger_node(s->ledger, where)->name;
	struct err e;

	names_keep(s->names, node);
	names_drop(s->names, o.node_name);
	o.node_name = node;
	o.phase = PHASE_SUCCEEDED;
	if (cluster_put_pod(s->cluster, &o, &e))
		obj_pod_drop(s->vocab, &o);
	p->life = LIFE_FINISHED;
	array_push(&s->half_done, slot);
	room_came_free(s, where, queue);
}

static void finish(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	const struct sim_work *w = &s->works.v[p->job];
	const struct pod *x = ledger_pod(s->ledger, p->pod);
	group_id group = x->group;

	if (s->o.watcher.finish)
		s->o.watcher.finish(s->o.watcher.ctx, s, p->pod);
	save_work(s, slot, remaining_ns(w, p));
	end_run(s, slot, true);
	ACCOUNT_COUNT(s, p->account, finished, 1);
	count_slowdown(s, p, w);
	s->n_mortal--;
	account_add(s, p->account, x, ON_NODES, -1);
	if (group != GROUP_NONE) {
		keep_finished(s, slot);
		return;
	}
	drop_object(s, p->pod);
	drop_slot(s, slot);
}

void sim_timer_of_pod(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	const struct sim_work *w = &s->works.v[p->job];
	int64_t ran = time_since(s->now_ns, p->saved_to_ns);

	p->timer = SLOT_NONE;
	if (ran >= remaining_ns(w, p)) {
		finish(s, slot);
		return;
	}
	save_work(s, slot, ran);
	tell_checkpoint(s, p->pod);
	set_run_timer(s, slot);
}

static bool group_is_over(const struct sim *s, group_id g)
{
	for (pod_id i = cluster_group_first(s->cluster, g); i != POD_NONE; i = cluster_group_next(s->cluster, i)) {
		const struct pod *p = ledger_pod(s->ledger, i);

		if (p->group == g && p->state != POD_FINISHED)
			return false;
	}
	return true;
}

/* A member may still wait to be made again, and then is not in the ledger. */
static bool work_is_over(const struct sim *s, uint32_t job)
{
	const struct sim_work *w = &s->works.v[job];

	for (uint32_t i = 0; i < w->n_pods; i++) {
		const struct sim_pod *p = &s->pods.v[w->pods[i]];

		if (p->job == job && p->ordinal == i && (p->life == LIFE_WAITING || p->life == LIFE_RUNNING))
			return false;
	}
	return true;
}

void sim_settle_gangs(struct sim *s)
{
	ARRAY(uint32_t) left = {0};

	for (uint32_t i = 0; i < s->half_done.n; i++) {
		uint32_t slot = s->half_done.v[i];
		const struct sim_pod *p = &s->pods.v[slot];
		group_id g = ledger_pod(s->ledger, p->pod)->group;

		if (!work_is_over(s, p->job) || !group_is_over(s, g)) {
			array_push(&left, slot);
			continue;
		}
		drop_object(s, p->pod);
		s->pods.v[slot].pod = POD_NONE;
		/* its work keeps the slots until the last of them */
		drop_slot(s, slot);
	}
	s->half_done.n = 0;
	for (uint32_t i = 0; i < left.n; i++)
		array_push(&s->half_done, left.v[i]);
	array_free(&left);
}

/* ---- evicted, gone, and back ---- */

static void abandon(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	const struct sim_work *w = &s->works.v[p->job];

	ACCOUNT_COUNT(s, p->account, abandoned, 1);
	if (!is_mortal(w))
		return;
	ACCOUNT_COUNT(s, p->account, abandoned_sum, remaining_ns(w, p));
	s->n_mortal--;
}

static void come_back(struct sim *s, uint32_t slot)
{
	struct err e;

	if (!make_object(s, slot, &e)) {
		move_account(s, slot);
		enter_demand(s, slot);
	}
}

/* What becomes of the pod whose run was ended from outside, while its old object may still be there. */
static void after_the_end(struct sim *s, uint32_t slot, bool is_gone)
{
	struct sim_pod *p = &s->pods.v[slot];
	enum sim_controller c = s->works.v[p->job].controller;

	if (c == SIM_BARE) {
		abandon(s, slot);
		if (is_gone)
			drop_slot(s, slot);
		else
			p->life = LIFE_ABANDONED;
		return;
	}
	begin_waiting(s, slot);
	if (is_gone || c == SIM_JOB || c == SIM_REPLICAS)
		come_back(s, slot);
}

/* As its object would say from now on: it should be gone when its grace is over. */
static void tell_leaving(struct sim *s, pod_id pod, int64_t at_ns)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct obj_pod o = obj_pod_copy(s->vocab, p->obj);
	name_id node = ledger_node(s->ledger, p->node)->name;
	struct err e;

	names_keep(s->names, node);
	names_drop(s->names, o.node_name);
	o.node_name = node;
	o.phase = PHASE_RUNNING;
	o.started_ns = p->started_ns;
	o.is_preempted = true;
	o.deleted_ns = at_ns;
	if (cluster_put_pod(s->cluster, &o, &e))
		obj_pod_drop(s->vocab, &o);
	room_came_free(s, ledger_pod(s->ledger, pod)->node, ledger_pod(s->ledger, pod)->queue);
}

/* Of the rule thrash: until when it protects the workload at most. */
static void note_spared(struct sim *s, const struct text *workload)
{
	const struct thrash_settings *t = &helps_config(s)->thrash;
	name_id name = names_find(s->names, text_str(workload), workload->n);
	uint32_t n = eviction_history_of_workload(&s->history, name, time_since(s->now_ns, t->window_ns)).n;
	int64_t until;

	if (!t->hard || n < t->hard)
		return;
	until = time_add(s->now_ns,
			 time_multiply(t->protection_ns, INT64_C(1) << (n - t->hard < 10 ? n - t->hard : 10)));
	if (until > s->spared_until_ns)
		s->spared_until_ns = until;
}

static void remember(struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	const struct queue_tree *tree = ledger_queues(s->ledger);
	struct text workload = {0};

	eviction_history_workload(s->cluster, p, &workload);
	eviction_history_add(&s->history, s->now_ns, text_str(&workload),
			     p->queue == QUEUE_NONE ? "" : name_str(s->names, queue_get(tree, p->queue)->path));
	note_spared(s, &workload);
	text_free(&workload);
}

static void count_eviction(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	struct outcome_counts *c[] = {&account_open(s, p->account)->counts, &account_open(s, 0)->counts};

	p->n_evictions++;
	for (unsigned i = 0; i < 2; i++) {
		c[i]->evictions++;
		c[i]->repeated_evictions += p->n_evictions > 1;
		if (p->n_evictions > c[i]->most_evictions)
			c[i]->most_evictions = p->n_evictions;
	}
}

/* From then on nobody counts on its room any more, nor is kept from anything by it (engine_next_time). */
static void set_overdue_timer(struct sim *s, pod_id pod, int64_t gone_ns)
{
	int64_t due = ledger_pod(s->ledger, pod)->obj->deleted_ns;
	int64_t late = due == TIME_NONE ? TIME_NONE : time_add(time_add(due, helps_config(s)->patience_ns), 1);

	if (late != TIME_NONE && late < gone_ns)
		timer_set(s, late, TIMER_WAKE, WAKE_ALL);
}

static void begin_leaving(struct sim *s, pod_id pod, int64_t gone_ns)
{
	struct incarnation *i = sim_incarnation(s, pod);
	uint32_t slot = i->slot;

	end_run(s, slot, false);
	i->is_old = true;
	i->serial = s->pods.v[slot].serial;
	i->account = s->pods.v[slot].account;
	i->timer = timer_set(s, gone_ns, TIMER_GONE, pod);
	set_overdue_timer(s, pod, gone_ns);
	s->pods.v[slot].pod = POD_NONE;
	after_the_end(s, slot, false);
}

/* The engine has taken it off: it is leaving in the ledger. */
void sim_evicted(struct sim *s, pod_id pod)
{
	const struct incarnation *i = sim_incarnation(s, pod);
	const struct sim_work *w;

	if (i->slot == SLOT_NONE || i->is_old)
		return;
	w = &s->works.v[s->pods.v[i->slot].job];
	remember(s, pod);
	count_eviction(s, i->slot);
	tell_leaving(s, pod, time_add(s->now_ns, w->grace_ns));
	begin_leaving(s, pod, time_add(s->now_ns, w->lingers_ns));
}

/* Its successor may have finished before it is gone, and the slot be another's. */
void sim_gone(struct sim *s, pod_id pod)
{
	struct incarnation *i = sim_incarnation(s, pod);
	uint32_t slot = i->slot;
	const struct sim_pod *p = &s->pods.v[slot];
	bool is_same = p->serial == i->serial;

	i->timer = SLOT_NONE;
	account_add(s, i->account, ledger_pod(s->ledger, pod), ON_NODES, -1);
	drop_object(s, pod);
	if (!is_same)
		return;
	p = &s->pods.v[slot];
	if (p->life == LIFE_ABANDONED)
		drop_slot(s, slot);
	else if (p->life == LIFE_WAITING && p->pod == POD_NONE)
		come_back(s, slot);
}

/* Running, leaving or waiting: its object is gone at once. */
void sim_lose_pod(struct sim *s, pod_id pod)
{
	struct incarnation *i = sim_incarnation(s, pod);
	uint32_t slot = i->slot;
	struct sim_pod *p;

	if (slot == SLOT_NONE)
		return;
	if (i->is_old) {
		timer_cancel(s, &i->timer);
		sim_gone(s, pod);
		return;
	}
	p = &s->pods.v[slot];
	if (p->life != LIFE_RUNNING)
		return;
	ACCOUNT_COUNT(s, p->account, node_losses, 1);
	end_run(s, slot, false);
	account_add(s, p->account, ledger_pod(s->ledger, pod), ON_NODES, -1);
	drop_object(s, pod);
	s->pods.v[slot].pod = POD_NONE;
	after_the_end(s, slot, true);
}

/* ---- what is there already ---- */

static enum sim_controller controller_of(const struct obj_pod *o)
{
	switch (o->owner_kind) {
	case OWNER_NONE:
	case OWNER_NODE:
		return o->group != NAME_NONE ? SIM_OPERATOR : SIM_BARE;
	case OWNER_JOB:
		return o->group != NAME_NONE ? SIM_OPERATOR : SIM_JOB;
	case OWNER_DEPLOYMENT:
	case OWNER_REPLICASET:
	case OWNER_RC:
		return SIM_REPLICAS;
	case OWNER_STATEFULSET:
	case OWNER_DAEMONSET:
		return SIM_STATEFUL;
	default:
		return SIM_OPERATOR;
	}
}

/* As its controller would make it again: on no node, never started. */
static void forget_run(struct sim *s, struct obj_pod *o)
{
	names_drop(s->names, o->name);
	uid_drop(s->names, o->uid);
	names_drop(s->names, o->node_name);
	names_drop(s->names, o->nominated_node);
	o->uid = (struct uid){0};
	o->name = o->node_name = o->nominated_node = NAME_NONE;
	o->phase = PHASE_PENDING;
	o->is_preempted = false;
	o->created_ns = o->started_ns = o->scheduled_ns = o->deleted_ns = o->checkpointed_ns = TIME_NONE;
}

static uint32_t adopt_work(struct sim *s, const struct pod *p)
{
	struct sim_job job = {.name = name_str(s->names, p->name),
			      .template = p->obj,
			      .n_pods = 1,
			      .run_ns = p->obj->run_ns > 0 ? p->obj->run_ns : SIM_ENDLESS,
			      .grace_ns = SIM_GRACE_NS,
			      .lingers_ns = SIM_GRACE_NS,
			      .controller = controller_of(p->obj)};
	uint32_t at;

	if (s->o.describe)
		s->o.describe(s->o.describe_ctx, p->obj, &job);
	if (job.run_ns <= 0)
		job.run_ns = 1;
	at = new_work(s, &job);
	forget_run(s, &s->works.v[at].template);
	return at;
}

/* It has been running for a while: that counts as run, and what it saved as saved. */
static void adopt_running(struct sim *s, uint32_t slot, const struct pod *x)
{
	struct sim_pod *p = &s->pods.v[slot];
	int64_t started = x->started_ns == TIME_NONE || x->started_ns > s->now_ns ? s->now_ns : x->started_ns;
	int64_t saved = x->obj->checkpointed_ns, ran = time_since(s->now_ns, started);

	p->life = LIFE_RUNNING;
	p->started_ns = p->saved_to_ns = started;
	ACCOUNT_COUNT(s, p->account, running, 1);
	s->accounts.v[p->account].running_sum += ran;
	s->accounts.v[0].running_sum += ran;
	account_add(s, p->account, x, IN_USE, 1);
	account_add(s, p->account, x, ON_NODES, 1);
	if (saved != TIME_NONE && saved > started && saved <= s->now_ns) {
		save_work(s, slot, time_since(saved, started));
		s->pods.v[slot].saved_to_ns = saved;
	}
	set_run_timer(s, slot);
}

static void adopt_waiting(struct sim *s, uint32_t slot, const struct pod *x)
{
	struct sim_pod *p = &s->pods.v[slot];

	begin_waiting(s, slot);
	if (x->created_ns != TIME_NONE && x->created_ns < s->now_ns) {
		int64_t waited = time_since(s->now_ns, x->created_ns);

		p->submitted_ns = p->waits_since_ns = x->created_ns;
		s->accounts.v[p->account].counts.waited_sum += waited;
		s->accounts.v[0].counts.waited_sum += waited;
	}
	enter_demand(s, slot);
	wake_enter(s, p->pod);
}

static void adopt_pod(struct sim *s, pod_id pod)
{
	const struct pod *x = ledger_pod(s->ledger, pod);
	uint32_t slot = new_pod(s, adopt_work(s, x), 0);
	struct sim_pod *p = &s->pods.v[slot];

	p->pod = pod;
	p->made = 1;
	*sim_incarnation(s, pod) = (struct incarnation){.slot = slot, .timer = SLOT_NONE};
	p->account = account_of_queue(s, x->queue);
	count_submitted(s, slot);
	if (x->state == POD_WAITING) {
		adopt_waiting(s, slot, x);
		return;
	}
	adopt_running(s, slot, x);
	if (x->state == POD_LEAVING)
		begin_leaving(s, pod, x->obj->deleted_ns);
}

void sim_adopt(struct sim *s)
{
	uint32_t n = ledger_pod_limit(s->ledger);

	for (pod_id i = 0; i < n; i++) {
		enum pod_state state = ledger_pod(s->ledger, i)->state;

		if (state == POD_WAITING || state == POD_PLACED || state == POD_LEAVING)
			adopt_pod(s, i);
	}
}

/* ---- the end of all ---- */

void sim_close_runs(struct sim *s)
{
	for (uint32_t i = 0; i < s->pods.n; i++) {
		const struct sim_pod *p = &s->pods.v[i];

		if (p->life == LIFE_RUNNING)
			ACCOUNT_COUNT(s, p->account, useful_sum, time_since(s->now_ns, p->started_ns));
	}
}

/* Waiting pods go at once, running ones without a grace: nobody asked the engine. */
static void cancel_pod(struct sim *s, uint32_t slot)
{
	struct sim_pod *p = &s->pods.v[slot];
	const struct pod *x = p->pod == POD_NONE ? NULL : ledger_pod(s->ledger, p->pod);

	abandon(s, slot);
	if (p->life == LIFE_RUNNING) {
		end_run(s, slot, false);
		account_add(s, p->account, x, ON_NODES, -1);
	} else {
		ACCOUNT_COUNT(s, p->account, waiting, -1);
		if (x)
			account_add(s, p->account, x, IN_DEMAND, -1);
	}
	if (x)
		drop_object(s, p->pod);
	s->pods.v[slot].life = LIFE_ABANDONED;
	s->pods.v[slot].pod = POD_NONE;
}

static bool has_old(const struct sim *s, uint32_t slot)
{
	for (uint32_t i = 0; i < s->by_pod.n; i++)
		if (s->by_pod.v[i].is_old && s->by_pod.v[i].serial == s->pods.v[slot].serial)
			return true;
	return false;
}

static bool is_named(const struct sim *s, const struct sim_work *w, const char *name)
{
	const char *ns = name_str(s->names, labelset_get(s->vocab, w->template.labelset)->ns);
	size_t n = strlen(ns);

	return strncmp(name, ns, n) == 0 && name[n] == '/' && str_eq(name + n + 1, w->name);
}

enum err_code sim_delete_work(struct sim *s, const struct sim_event *ev, struct err *e)
{
	for (uint32_t i = 0; i < s->works.n; i++) {
		struct sim_work *w = &s->works.v[i];

		if (!w->is_live || !is_named(s, w, ev->name))
			continue;
		for (uint32_t k = 0, n = w->n_pods; k < n && s->works.v[i].is_live; k++) {
			uint32_t slot = s->works.v[i].pods[k];
			const struct sim_pod *p = &s->pods.v[slot];

			if (p->job != i || p->ordinal != k || (p->life != LIFE_RUNNING && p->life != LIFE_WAITING))
				continue;
			cancel_pod(s, slot);
			if (!has_old(s, slot))
				drop_slot(s, slot);
		}
		return ERR_OK;
	}
	return err_fail(e, ERR_INPUT, "%s%sthere is no %s at that time", ev->where ? ev->where : "",
			ev->where ? ": " : "", ev->name);
}

void sim_free_pods(struct sim *s)
{
	for (uint32_t i = 0; i < s->works.n; i++)
		if (s->works.v[i].is_live) {
			obj_pod_drop(s->vocab, &s->works.v[i].template);
			mem_free(s->works.v[i].name);
			mem_free(s->works.v[i].pods);
		}
	array_free(&s->works);
	array_free(&s->free_works);
	array_free(&s->pods);
	array_free(&s->free_pods);
	array_free(&s->by_pod);
	array_free(&s->half_done);
}
