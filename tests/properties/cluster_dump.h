/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_dump.h - everything a cluster knows, as lines that two clusters of one vocab have in common exactly if
 * they are the same. By names, in order: no id of the ledger is in it. Shapes and label sets are there as ids, because
 * equal ones have equal ids.
 *
 * is_moved: the engine has moved things since they were read. Then what objects say of places and times is left out,
 * and only what follows counts.
 */
#pragma once

#include <inttypes.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "units/labels.h"

struct dump {
	struct cluster *c;
	const struct ledger *l;
	struct names *names;
	const struct res_types *types;
	bool is_moved;
	struct text *out;
	ARRAY(char *) lines;
};

#define LINE(d, ...)                           \
	do {                                   \
		struct text t_ = {0};          \
		text_printf(&t_, __VA_ARGS__); \
		array_push(&(d)->lines, t_.s); \
	} while (0)

static inline const char *dump_name(const struct dump *d, name_id id)
{
	return name_str(d->names, id);
}

static inline const char *dump_queue(const struct dump *d, queue_id q)
{
	return q != QUEUE_NONE ? dump_name(d, queue_get(ledger_queues(d->l), q)->path) : "none";
}

static inline void dump_vector(const struct dump *d, const char *what, const struct res_vec *v, struct text *out)
{
	text_printf(out, " %s={", what);
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(v, r))
			text_printf(out, "%s %" PRId64 ",", res_type_name(d->types, r), v->v[r]);
	text_add(out, "}");
}

static inline void dump_selector(const struct dump *d, const struct selector *s, struct text *out)
{
	text_printf(out, " selector=%s", s->matches_nothing ? "nothing" : "");
	for (uint32_t i = 0; i < s->n; i++) {
		text_add(out, "&");
		requirement_text(d->names, &s->reqs[i], out);
	}
}

static inline void dump_row(const struct dump *d, const char *what, const int64_t *row, struct text *out)
{
	text_printf(out, " %s=[", what);
	for (res_id r = 0; r < d->types->n; r++)
		text_printf(out, "%" PRId64 ",", row[r]);
	text_add(out, "]");
}

static inline void dump_take(struct dump *d, struct text *line)
{
	array_push(&d->lines, line->s);
	*line = (struct text){0};
}

/* ---- objects ---- */

static inline void dump_pod_object(struct dump *d, const struct obj_pod *o, struct text *t)
{
	struct uid_text uid;

	text_printf(t, " uid=%s class=%s %d/%d phase=%d owner=%d/%s/%s group=%s/%d/%s", uid_str(d->names, o->uid, &uid),
		    dump_name(d, o->priority_class), o->has_priority, o->priority, o->phase, o->owner_kind,
		    dump_name(d, o->owner_name), dump_name(d, o->owner_uid), dump_name(d, o->group), o->group_is_k8s,
		    dump_name(d, obj_subgroup(o)));
	text_printf(t, " queues=%s/%s app=%s user=%s/%s allows=%d preemptibility=%d", dump_name(d, o->kai_queue),
		    dump_name(d, o->yunikorn_queue), dump_name(d, o->app), dump_name(d, obj_user(o)),
		    dump_name(d, obj_user_groups(o)), o->allows_preemption, o->preemptibility);
	text_printf(t, " checkpoint=%" PRId64 " scheduled=%" PRId64, o->checkpointed_ns, o->scheduled_ns);
	if (!d->is_moved)
		text_printf(t, " node=%s nominated=%s started=%" PRId64 " deleted=%" PRId64 " preempted=%d",
			    dump_name(d, o->node_name), dump_name(d, o->nominated_node), o->started_ns, o->deleted_ns,
			    o->is_preempted);
}

static inline void dump_pod(struct dump *d, pod_id id)
{
	const struct pod *p = ledger_pod(d->l, id);
	struct text t = {0};
	bool is_sure_of_start =
		!d->is_moved || (p->group == GROUP_NONE && cluster_get_options(d->c)->profile != PROFILE_KAI);

	if (p->state == POD_FREE)
		return;
	text_printf(
		&t,
		"pod %s/%s state=%d claims=%d at=%s queue=%s wants=%s priority=%d preemptibility=%d created=%" PRId64,
		dump_name(d, labelset_get(ledger_vocab(d->l), p->labelset)->ns), dump_name(d, p->name), p->state,
		p->nomination != NOMINATION_NONE,
		p->node != NODE_NONE ? dump_name(d, ledger_node(d->l, p->node)->name) : "none", dump_queue(d, p->queue),
		cluster_wanted_queue(d->c, id), p->priority, p->preemptibility, p->created_ns);
	if (is_sure_of_start && (p->state == POD_PLACED || p->state == POD_LEAVING))
		text_printf(&t, " since=%" PRId64, p->started_ns);
	text_printf(&t, " in=%s/%s kai=%d shape=%u labelset=%u",
		    p->group != GROUP_NONE ? dump_name(d, ledger_group(d->l, p->group)->obj->name) : "none",
		    p->podset != PODSET_NONE ? dump_name(d, ledger_podset(d->l, p->podset)->name) : "none",
		    cluster_is_kai_world(d->c, id), p->shape, p->labelset);
	dump_pod_object(d, p->obj, &t);
	dump_take(d, &t);
}

static inline void dump_node(struct dump *d, node_id id)
{
	const struct ledger_node *n = ledger_node(d->l, id);
	struct text t = {0};

	if (!n->is_live && !n->pods.n)
		return;
	text_printf(&t, "node %s live=%d pods=%u claims=%u", dump_name(d, n->name), n->is_live, n->pods.n,
		    n->nominated.n);
	dump_row(d, "used", ledger_node_used(d->l, id), &t);
	dump_row(d, "leaving", ledger_node_leaving(d->l, id), &t);
	dump_row(d, "claimed", ledger_node_reserved(d->l, id), &t);
	if (n->is_live) {
		const struct obj_node *o = n->obj;

		text_printf(&t, " uid=%s labelset=%u flags=%d%d", dump_name(d, o->uid), o->labelset,
			    o->is_unschedulable, o->is_not_ready);
		dump_vector(d, "allocatable", &o->allocatable, &t);
		for (uint32_t i = 0; i < o->n_taints; i++)
			text_printf(&t, " taint=%s:%s:%d", dump_name(d, o->taints[i].key),
				    dump_name(d, o->taints[i].value), o->taints[i].effect);
		for (uint32_t i = 0; i < o->n_images; i++)
			text_printf(&t, " image=%s:%" PRId64, dump_name(d, o->images[i].name), o->images[i].bytes);
	}
	dump_take(d, &t);
}

static inline void dump_group(struct dump *d, group_id id)
{
	const struct group *g = ledger_group(d->l, id);
	const struct obj_group *o = g->obj;
	struct text t = {0};

	if (!g->is_live)
		return;
	text_printf(&t,
		    "group %s/%s uid=%s k8s=%d min=%d queue=%s/%s class=%s priority=%d/%d/%d preemptibility=%d/%d "
		    "whole=%d never=%d",
		    dump_name(d, o->ns), dump_name(d, o->name), dump_name(d, o->uid), o->is_k8s, o->min_member,
		    dump_name(d, o->queue), dump_queue(d, g->queue), dump_name(d, o->priority_class), o->has_priority,
		    o->priority, g->priority, o->preemptibility, g->preemptibility, o->goes_whole, o->never_preempts);
	text_printf(&t, " created=%" PRId64 " stale=%" PRId64, o->created_ns, o->stale_ns);
	if (!d->is_moved || (!o->is_k8s && !o->is_of_pods))
		text_printf(&t, " started=%" PRId64, g->started_ns);
	for (uint32_t i = 0; i < o->n_subgroups; i++)
		text_printf(&t, " sub=%s<%s:%d", dump_name(d, o->subgroups[i].name),
			    dump_name(d, o->subgroups[i].parent), o->subgroups[i].min_member);
	for (podset_id s = g->first_podset; s < g->first_podset + g->n_podsets; s++) {
		const struct podset *ps = ledger_podset(d->l, s);

		text_printf(&t, " set=%s:%d:%u,%u,%u,%u,%u", dump_name(d, ps->name), ps->min_member, ps->n_waiting,
			    ps->n_placed, ps->n_leaving, ps->n_finished, ps->n_nominated);
	}
	dump_take(d, &t);
}

static inline void dump_pdb(struct dump *d, pdb_id id)
{
	const struct pdb *b = ledger_pdb(d->l, id);
	struct text t = {0};

	if (!b->is_live)
		return;
	text_printf(&t, "budget %s/%s room=%d", dump_name(d, b->obj->ns), dump_name(d, b->obj->name),
		    b->obj->allowed - b->spent);
	dump_selector(d, &b->obj->selector, &t);
	if (!d->is_moved)
		text_printf(&t, " disrupted=%u", b->obj->n_disrupted);
	dump_take(d, &t);
}

/* ---- queues ---- */

static inline void dump_props(const struct queue_props *p, struct text *out)
{
	text_printf(out, " props=%x", p->stated);
	for (uint32_t m = 1; m <= STATED_BACKOFF_DELAY; m <<= 1) {
		text_add(out, ",");
		queue_prop_text(p, (enum queue_stated)m, out);
	}
}

static inline void dump_limits(const struct dump *d, const struct queue_spec *s, struct text *t)
{
	for (uint32_t i = 0; i < s->n_limits; i++) {
		const struct queue_limit *l = &s->limits[i];

		text_printf(t, " limit=%s/%" PRIu64 "/%d", dump_name(d, l->text), l->max_apps, l->has_max);
		dump_vector(d, "max", &l->max, t);
		for (uint32_t k = 0; k < l->n_users; k++)
			text_printf(t, " u=%s", dump_name(d, l->users[k]));
		for (uint32_t k = 0; k < l->n_groups; k++)
			text_printf(t, " g=%s", dump_name(d, l->groups[k]));
	}
}

static inline void dump_one_queue(struct dump *d, queue_id id)
{
	const struct queue *q = queue_get(ledger_queues(d->l), id);
	const struct queue_spec *s = &q->spec;
	struct text t = {0};

	if (!q->is_live)
		return;
	text_printf(&t, "queue %s sources=%u parent=%d apps=%" PRIu64 " acl=%s/%s draining=%d", dump_name(d, q->path),
		    s->sources, s->is_parent, s->max_apps, dump_name(d, s->submit_acl), dump_name(d, s->admin_acl),
		    q->is_draining);
	dump_vector(d, "guaranteed", &s->guaranteed, &t);
	dump_vector(d, "max", &s->max, &t);
	dump_props(&s->props, &t);
	dump_props(&q->props, &t);
	if (s->child_template) {
		text_printf(&t, " template apps=%" PRIu64, s->child_template->max_apps);
		dump_vector(d, "guaranteed", &s->child_template->guaranteed, &t);
		dump_vector(d, "max", &s->child_template->max, &t);
		dump_props(&s->child_template->props, &t);
	}
	dump_limits(d, s, &t);
	text_printf(&t, " kai=%s/%s/%d/%" PRId64 "/%" PRId64 "/%" PRId64, dump_name(d, s->kai_name),
		    dump_name(d, s->display_name), s->kai_priority, s->preempt_min_runtime_ns,
		    s->reclaim_min_runtime_ns, s->created_ns);
	for (int i = 0; s->has_kai_resources && i < KAI_RES; i++)
		text_printf(&t, " share=%.17g/%.17g/%.17g", s->kai[i].quota, s->kai[i].limit,
			    s->kai[i].over_quota_weight);
	dump_row(d, "used", ledger_queue_used(d->l, id), &t);
	dump_row(d, "claimed", ledger_queue_reserved(d->l, id), &t);
	text_printf(&t, " waiting=%u", ledger_queue_waiting(d->l, id));
	dump_take(d, &t);
}

/* ---- classes, namespaces, owners ---- */

static inline void dump_namespace(struct dump *d, const struct obj_namespace *o)
{
	struct text t = {0};

	text_printf(&t, "namespace %s labelset=%u parent=%s apps=%" PRIu64 " %d%d", dump_name(d, o->name), o->labelset,
		    dump_name(d, o->parent_queue), o->max_apps, o->has_quota, o->has_guaranteed);
	dump_vector(d, "quota", &o->quota, &t);
	dump_vector(d, "guaranteed", &o->guaranteed, &t);
	dump_take(d, &t);
}

static inline void dump_owner(struct dump *d, const struct obj_owner *o)
{
	struct text t = {0};

	text_printf(&t, "owner %s %s labelset=%u uid=%s kind=%d/%d parent=%s/%s/%s replicas=%d selects=%d",
		    dump_name(d, o->kind_name), dump_name(d, o->name), o->labelset, dump_name(d, o->uid), o->kind,
		    o->is_service, dump_name(d, o->parent_kind), dump_name(d, o->parent_name),
		    dump_name(d, o->parent_uid), o->replicas, o->has_selector);
	dump_selector(d, &o->selector, &t);
	dump_take(d, &t);
}

static inline void dump_registries(struct dump *d)
{
	for (uint32_t i = 0; i < cluster_class_count(d->c); i++) {
		const struct obj_class *o = cluster_class_at(d->c, i);

		LINE(d, "class %s %d %d%d%d", dump_name(d, o->name), o->value, o->is_default, o->never_preempts,
		     o->allows_preemption);
	}
	for (uint32_t i = 0; i < cluster_namespace_count(d->c); i++)
		dump_namespace(d, cluster_namespace_at(d->c, i));
	for (uint32_t i = 0; i < cluster_owner_count(d->c); i++)
		dump_owner(d, cluster_owner_at(d->c, i));
}

/* ---- all of it ---- */

static inline int dump_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void dump_cluster(struct cluster *c, bool is_moved, struct text *out)
{
	struct dump d = {.c = c, .l = cluster_ledger(c), .is_moved = is_moved};

	d.names = vocab_names(ledger_vocab(d.l));
	d.types = vocab_res(ledger_vocab(d.l));
	ledger_commit(cluster_ledger(c)); /* rows cover all types from now on */
	for (pod_id id = 0; id < ledger_pod_limit(d.l); id++)
		dump_pod(&d, id);
	for (node_id id = 0; id < ledger_node_limit(d.l); id++)
		dump_node(&d, id);
	for (group_id id = 0; id < ledger_group_limit(d.l); id++)
		dump_group(&d, id);
	for (pdb_id id = 0; id < ledger_pdb_limit(d.l); id++)
		dump_pdb(&d, id);
	for (queue_id id = 0; id < ledger_queues(d.l)->q.n; id++)
		dump_one_queue(&d, id);
	dump_registries(&d);
	if (d.lines.n)
		qsort(d.lines.v, d.lines.n, sizeof(*d.lines.v), dump_compare);
	for (uint32_t i = 0; i < d.lines.n; i++) {
		text_printf(out, "%s\n", d.lines.v[i]);
		mem_free(d.lines.v[i]);
	}
	array_free(&d.lines);
}
