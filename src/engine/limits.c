/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/limits.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"

struct limit_usage { /* of pods that run or are nominated, in one queue and below */
	int64_t amounts[RES_MAX];
	struct map apps;
	uint32_t n_apps;
	bool has_own; /* the asking pod's application runs already */
};

struct limit_request {
	const struct ledger *l;
	const struct vocab *vocab;
	const struct names *names;
	const struct queue_tree *tree;
	pod_id pod;
	const struct pod *p;
	const struct shape *shape;
	const char *user, *group; /* group: "" for none */
};

/* ---- who is who ---- */

static const char *user_of(const struct limit_request *a, const struct pod *p)
{
	return obj_user(p->obj) == NAME_NONE ? "nobody" : name_str(a->names, obj_user(p->obj));
}

static bool is_in(const char *list, const char *group)
{
	size_t n = strlen(group);

	for (const char *at = list; *at;) {
		size_t len = strcspn(at, ",");

		if (len == n && memcmp(at, group, n) == 0)
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

/* The first group of the list that a limit of this queue names; any: also "*", for everybody. */
static const char *group_here(const struct limit_request *a, queue_id q, const char *list, bool any)
{
	const struct queue_spec *s = &queue_get(a->tree, q)->spec;

	for (uint32_t i = 0; i < s->n_limits; i++)
		for (uint32_t k = 0; k < s->limits[i].n_groups; k++) {
			const char *group = name_str(a->names, s->limits[i].groups[k]);

			if (any ? strcmp(group, "*") == 0 : is_in(list, group))
				return group;
		}
	return NULL;
}

static const char *group_of(const struct limit_request *a, const struct pod *p)
{
	const char *list = obj_user_groups(p->obj) == NAME_NONE ? "" : name_str(a->names, obj_user_groups(p->obj)),
		   *group;

	for (int any = 0; any < 2; any++)
		for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(a->tree, q)->parent)
			if ((group = group_here(a, q, list, any)))
				return group;
	return "";
}

/* The limit of a name in a queue, else (users alone) that of everybody; NULL if there is none. */
static const struct queue_limit *limit_of(const struct limit_request *a, queue_id q, const char *who, bool is_group)
{
	const struct queue_spec *s = &queue_get(a->tree, q)->spec;
	const struct queue_limit *any = NULL;

	for (uint32_t i = 0; i < s->n_limits; i++) {
		const struct queue_limit *x = &s->limits[i];
		const name_id *v = is_group ? x->groups : x->users;

		for (uint32_t k = 0; k < (is_group ? x->n_groups : x->n_users); k++) {
			const char *name = name_str(a->names, v[k]);

			if (strcmp(name, who) == 0)
				return x;
			if (!is_group && strcmp(name, "*") == 0)
				any = x;
		}
	}
	return any;
}

/* ---- counting ---- */

static bool counts(const struct limit_request *a, pod_id pod)
{
	const struct pod *p = ledger_pod(a->l, pod);

	return pod != a->pod &&
	       (p->state == POD_PLACED || (p->state == POD_WAITING && p->nomination != NOMINATION_NONE));
}

static bool is_theirs(const struct limit_request *a, enum limit_of of, const struct pod *p)
{
	return of == OF_QUEUE ||
	       strcmp(of == OF_USER ? user_of(a, p) : group_of(a, p), of == OF_USER ? a->user : a->group) == 0;
}

static uint64_t app_key(const struct limit_request *a, const struct pod *p)
{
	return map_key2(labelset_get(a->vocab, p->labelset)->ns, p->obj->app);
}

static void count_pod(const struct limit_request *a, const struct pod *p, struct limit_usage *c)
{
	const struct shape *shape = shape_get(a->vocab, p->shape);
	const struct res_list *takes = p->state == POD_PLACED ? &shape->usage : &shape->request;

	c->amounts[RES_PODS]++;
	for (uint32_t i = 0; i < takes->n; i++)
		if (takes->v[i].type != RES_PODS)
			c->amounts[takes->v[i].type] += takes->v[i].amount;
	if (app_key(a, p) == app_key(a, a->p))
		c->has_own = true;
	if (map_get(&c->apps, app_key(a, p)) != MAP_NONE)
		return;
	map_put(&c->apps, app_key(a, p), 0);
	c->n_apps++;
}

static void count_queue(const struct limit_request *a, queue_id q, enum limit_of of, struct limit_usage *c)
{
	const struct queue *queue = queue_get(a->tree, q);
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(a->l, q, &n);

	for (uint32_t i = 0; i < n; i++)
		if (counts(a, pods[i]) && is_theirs(a, of, ledger_pod(a->l, pods[i])))
			count_pod(a, ledger_pod(a->l, pods[i]), c);
	for (uint32_t i = 0; i < queue->children.n; i++)
		count_queue(a, queue->children.v[i], of, c);
}

/* ---- asking ---- */

static struct limit_verdict amounts_left(const struct limit_request *a, const struct res_vec *max,
					 const struct limit_usage *c)
{
	for (uint64_t left = max->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t wants = r == RES_PODS ? 1 : res_list_get(&a->shape->request, r);

		if (wants && res_add_sat(c->amounts[r], wants) > max->v[r])
			return (struct limit_verdict){.kind = LIMIT_AMOUNT,
						      .type = r,
						      .used = c->amounts[r],
						      .max = max->v[r],
						      .wants = wants};
	}
	return (struct limit_verdict){.kind = LIMIT_NONE};
}

static struct limit_verdict apps_left(uint64_t max, const struct limit_usage *c)
{
	if (!max || c->has_own || c->n_apps < max)
		return (struct limit_verdict){.kind = LIMIT_NONE};
	return (struct limit_verdict){.kind = LIMIT_APPS, .used = c->n_apps, .max = (int64_t)max};
}

/* One limit of one queue; max may be NULL. */
static struct limit_verdict ask_one(const struct limit_request *a, queue_id q, enum limit_of of, uint64_t max_apps,
				    const struct res_vec *max)
{
	struct limit_verdict v = {.kind = LIMIT_NONE};
	struct limit_usage c = {.n_apps = 0};

	if (!max_apps && !max)
		return v;
	count_queue(a, q, of, &c);
	v = apps_left(max_apps, &c);
	if (v.kind == LIMIT_NONE && max)
		v = amounts_left(a, max, &c);
	map_free(&c.apps);
	v.of = of;
	v.queue = q;
	v.who = of == OF_USER ? a->user : of == OF_GROUP ? a->group : "";
	return v;
}

static struct limit_verdict ask_name(const struct limit_request *a, queue_id q, enum limit_of of)
{
	const char *who = of == OF_USER ? a->user : a->group;
	const struct queue_limit *x = *who ? limit_of(a, q, who, of == OF_GROUP) : NULL;

	return x ? ask_one(a, q, of, x->max_apps, x->has_max ? &x->max : NULL)
		 : (struct limit_verdict){.kind = LIMIT_NONE};
}

static bool has_any(const struct queue_tree *t, queue_id q)
{
	for (; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.n_limits || queue_get(t, q)->spec.max_apps)
			return true;
	return false;
}

static void keep_first(struct limit_verdict *first, const struct limit_verdict *v)
{
	if (v->kind != LIMIT_NONE && (first->kind == LIMIT_NONE || v->kind < first->kind))
		*first = *v;
}

struct limit_verdict limits_ask(const struct ledger *l, pod_id pod)
{
	struct limit_request a = {.l = l, .vocab = ledger_vocab(l), .tree = ledger_queues(l), .pod = pod};
	struct limit_verdict first = {.kind = LIMIT_NONE};

	a.names = vocab_names(ledger_vocab(l));
	a.p = ledger_pod(l, pod);
	if (!has_any(a.tree, a.p->queue))
		return first;
	a.shape = shape_get(a.vocab, a.p->shape);
	a.user = user_of(&a, a.p);
	a.group = group_of(&a, a.p);
	for (queue_id q = a.p->queue; q != QUEUE_NONE && first.kind != LIMIT_APPS; q = queue_get(a.tree, q)->parent) {
		struct limit_verdict apps = ask_one(&a, q, OF_QUEUE, queue_get(a.tree, q)->spec.max_apps, NULL),
				     user = ask_name(&a, q, OF_USER), group = ask_name(&a, q, OF_GROUP);

		keep_first(&first, &apps);
		keep_first(&first, &user);
		keep_first(&first, &group);
	}
	return first;
}

/* ---- words ---- */

static void subject(const struct limit_verdict *v, const char *path, struct text *out)
{
	if (v->of == OF_QUEUE)
		text_printf(out, "queue %s", path);
	else
		text_printf(out, "%s %s", v->of == OF_USER ? "user" : "group", v->who);
}

void limit_verdict_text(const struct ledger *l, const struct limit_verdict *v, struct text *out)
{
	const char *path = name_str(vocab_names(ledger_vocab(l)), queue_get(ledger_queues(l), v->queue)->path);
	struct text used = {0}, max = {0}, wants = {0};

	subject(v, path, out);
	if (v->kind == LIMIT_APPS) {
		text_printf(out, " runs %" PRId64 " of at most %" PRId64 " application%s", v->used, v->max,
			    v->max == 1 ? "" : "s");
		if (v->of != OF_QUEUE)
			text_printf(out, " in queue %s", path);
		text_add(out, " and the pod is of another.");
		return;
	}
	res_amount_text(v->type, v->used, &used);
	res_amount_text(v->type, v->max, &max);
	res_amount_text(v->type, v->wants, &wants);
	text_printf(out, " uses %s of at most %s %s in queue %s and the pod wants %s.", text_str(&used), text_str(&max),
		    res_type_name(vocab_res(ledger_vocab(l)), v->type), path, text_str(&wants));
	text_free(&used);
	text_free(&max);
	text_free(&wants);
}
