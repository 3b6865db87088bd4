/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects come in any order: a pod that names a class nobody knows is no news if the class comes with the next
 * document. So resolving only remembers with whom there was something wrong, and the words are made when warnings are
 * read, if it is still so.
 */
#include "cluster/resolve.h"

#include <stdarg.h>

#include "units/timestamp.h"

#define PENDING_MAX 10000
#define REMEMBERED_MAX 65536

void told_free(struct told *t)
{
	for (uint32_t i = t->next; i < t->texts.n; i++)
		mem_free(t->texts.v[i]);
	array_free(&t->texts);
	map_free(&t->hashes);
	bits_free(&t->pods);
	bits_free(&t->groups);
	mem_free(t->last);
}

/* Two texts with one hash: the second stays unsaid, which is bearable. */
static bool is_news(struct told *t, const struct text *s)
{
	uint64_t hash = hash_bytes(s->s, s->n);

	if (map_get(&t->hashes, hash) != MAP_NONE)
		return false;
	if (t->hashes.n >= REMEMBERED_MAX)
		map_free(&t->hashes);
	map_put(&t->hashes, hash, 1);
	return true;
}

void cluster_warn(struct cluster *c, const char *fmt, ...)
{
	struct told *t = &c->told;
	struct text s = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&s, fmt, ap);
	va_end(ap);
	if (t->texts.n - t->next < PENDING_MAX && is_news(t, &s))
		array_push(&t->texts, mem_strdup(text_str(&s)));
	text_free(&s);
}

#define VALUES "not one of preemptible, non-preemptible, semi-preemptible"

static const char *label_text(const struct cluster *c, labelset_id labelset)
{
	name_id value = NAME_NONE;

	labels_get(&labelset_get(c->vocab, labelset)->labels, c->preemptibility_key, &value);
	return name_str(c->names, value);
}

static void tell_pod(struct cluster *c, const struct obj_pod *o, uint32_t complaints)
{
	const char *ns = name_str(c->names, ns_of(c, o->labelset)), *name = name_str(c->names, o->name);

	if (complaints & UNKNOWN_CLASS)
		cluster_warn(c, "pod %s/%s: unknown priority class %s", ns, name,
			     name_str(c->names, o->priority_class));
	if (complaints & UNKNOWN_GROUP)
		cluster_warn(c, "group %s/%s is not there: pods that name it count each as one on its own", ns,
			     name_str(c->names, o->group));
	if (complaints & UNKNOWN_SUBGROUP)
		cluster_warn(c, "pod %s/%s: group %s has no sub-group %s, so the pod counts as one on its own", ns,
			     name, name_str(c->names, o->group),
			     name_str(c->names, obj_gang(o) != NULL	       ? obj_gang(o)->task_group
						: obj_subgroup(o) != NAME_NONE ? obj_subgroup(o)
									       : c->default_name));
	if (complaints & BAD_POD_LABEL)
		cluster_warn(c, "pod %s/%s: label kai.scheduler/preemptibility: '%s' is " VALUES, ns, name,
			     label_text(c, o->labelset));
	if (complaints & BAD_OWNER_LABEL) {
		const struct obj_owner *top = cluster_top_owner(c, o);
		cluster_warn(c, "%s %s/%s: label kai.scheduler/preemptibility: '%s' is " VALUES,
			     name_str(c->names, top->kind_name), ns, name_str(c->names, top->name),
			     label_text(c, top->labelset));
	}
}

/* What became of a start that is not believed, or that the profile does not judge. */
static const char *start_fate(const struct cluster *c, int64_t start_ns)
{
	int64_t believed = resolve_believed(c, start_ns);

	if (believed == TIME_NONE)
		return "cannot be and counts as not given";
	if (believed != start_ns)
		return "is in the future and counts as now";
	return profile_get(c->options.profile)->start == START_STAMP
		       ? "cannot be, and counts as it is written in this profile"
		       : "cannot be, and counts for nothing in this profile";
}

static void tell_start(struct cluster *c, const char *what, const char *ns, const char *name, int64_t start_ns)
{
	struct text when = {0};

	timestamp_text(start_ns, &when);
	cluster_warn(c, "%s %s/%s: a start at %s %s", what, ns, name, text_str(&when), start_fate(c, start_ns));
	text_free(&when);
}

static void tell_node(struct cluster *c, const struct obj_pod *o)
{
	cluster_warn(c, "pod %s/%s: its node %s is not there: it counts in its queue and takes nobody's room",
		     name_str(c->names, ns_of(c, o->labelset)), name_str(c->names, o->name),
		     name_str(c->names, o->node_name));
}

static void look_at_pod(struct cluster *c, pod_id id)
{
	if (id >= ledger_pod_limit(c->ledger) || ledger_pod(c->ledger, id)->state == POD_FREE)
		return;
	const struct pod *p = ledger_pod(c->ledger, id);
	uint32_t complaints = 0;
	podset_id podset;
	group_id group = resolve_group(c, p->obj, &podset, &complaints);
	int32_t priority = resolve_priority(c, p->obj, group, p->queue, &complaints);
	resolve_preemptibility(c, p->obj, group, p->queue, priority, &complaints);
	tell_pod(c, p->obj, complaints);
	if (!pod_is_on_node(p->state))
		return;
	if (resolve_odd_start(c, p->obj, group) != TIME_NONE)
		tell_start(c, "pod", name_str(c->names, ns_of(c, p->obj->labelset)), name_str(c->names, p->name),
			   resolve_odd_start(c, p->obj, group));
	if (!ledger_node(c->ledger, p->node)->is_live)
		tell_node(c, p->obj);
}

static void look_at_group(struct cluster *c, group_id id)
{
	if (id >= ledger_group_limit(c->ledger) || !ledger_group(c->ledger, id)->is_live)
		return;
	const struct obj_group *g = ledger_group(c->ledger, id)->obj;
	uint32_t complaints = 0;
	resolve_group_priority(c, g, NULL, &complaints);
	if (complaints & UNKNOWN_CLASS)
		cluster_warn(c, "group %s/%s: unknown priority class %s", name_str(c->names, g->ns),
			     name_str(c->names, g->name), name_str(c->names, g->priority_class));
	if (resolve_is_odd(c, g->started_ns))
		tell_start(c, "group", name_str(c->names, g->ns), name_str(c->names, g->name), g->started_ns);
}

/* Looks at one that somebody found fault with. False: there is none. */
static bool look_at_next(struct cluster *c)
{
	struct told *t = &c->told;
	uint32_t g = bits_next(&t->groups, 0), p = g == UINT32_MAX ? bits_next(&t->pods, 0) : UINT32_MAX;

	if (g != UINT32_MAX) {
		bits_clear(&t->groups, g);
		look_at_group(c, g);
	} else if (p != UINT32_MAX) {
		bits_clear(&t->pods, p);
		look_at_pod(c, p);
	}
	return g != UINT32_MAX || p != UINT32_MAX;
}

const char *cluster_next_warning(struct cluster *c)
{
	struct told *t = &c->told;

	mem_free(t->last);
	t->last = NULL;
	while (t->next == t->texts.n) {
		t->next = t->texts.n = 0;
		if (!look_at_next(c))
			return NULL;
	}
	t->last = t->texts.v[t->next++];
	return t->last;
}
