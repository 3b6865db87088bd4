/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/eviction_history.h"

#include <string.h>

void eviction_history_init(struct eviction_history *h, struct names *names)
{
	*h = (struct eviction_history){.bag = name_bag_of(names)};
}

void eviction_history_free(struct eviction_history *h)
{
	name_bag_drop(&h->bag);
	array_free(&h->v);
	map_free(&h->by_workload);
	map_free(&h->by_queue);
	map_free(&h->by_own_name);
	bits_free(&h->repeated);
}

static uint32_t chain(struct map *m, name_id key, uint32_t now_last)
{
	uint64_t before = key == NAME_NONE ? MAP_NONE : map_get(m, key);

	if (key != NAME_NONE)
		map_put(m, key, now_last);
	return before == MAP_NONE ? UINT32_MAX : (uint32_t)before;
}

static name_id own_name_of(struct eviction_history *h, const struct eviction_record *e, const char *workload)
{
	const char *slash = strrchr(workload, '/');

	if (e->next_of_workload != UINT32_MAX)
		return h->v.v[e->next_of_workload].own_name;
	return name_bag_add_str(&h->bag, slash ? slash + 1 : workload);
}

void eviction_history_add(struct eviction_history *h, int64_t at_ns, const char *workload, const char *queue)
{
	struct eviction_record e = {.at_ns = at_ns,
				    .workload = name_bag_add_str(&h->bag, workload),
				    .queue = *queue != '\0' ? name_bag_add_str(&h->bag, queue) : NAME_NONE};

	assert(h->v.n == 0 || array_last(&h->v).at_ns <= at_ns);
	e.next_of_workload = chain(&h->by_workload, e.workload, h->v.n);
	e.next_of_queue = chain(&h->by_queue, e.queue, h->v.n);
	e.own_name = own_name_of(h, &e, workload);
	e.next_of_name = chain(&h->by_own_name, e.own_name, h->v.n);
	if (e.next_of_name != UINT32_MAX)
		bits_set(&h->repeated, e.own_name);
	array_push(&h->v, e);
}

void eviction_history_copy(struct eviction_history *to, const struct eviction_history *from)
{
	const struct names *names = from ? from->bag.names : NULL;

	for (uint32_t i = 0; from && i < from->v.n; i++)
		eviction_history_add(to, from->v.v[i].at_ns, name_str(names, from->v.v[i].workload),
				     from->v.v[i].queue == NAME_NONE ? "" : name_str(names, from->v.v[i].queue));
}

static struct eviction_count count(const struct eviction_history *h, const struct map *m, name_id key, int64_t since_ns,
				   bool by_queue)
{
	struct eviction_count c = {0};
	uint64_t at = h == NULL || key == NAME_NONE ? MAP_NONE : map_get(m, key);

	for (uint32_t i = at == MAP_NONE ? UINT32_MAX : (uint32_t)at; i != UINT32_MAX && h->v.v[i].at_ns > since_ns;
	     i = by_queue ? h->v.v[i].next_of_queue : h->v.v[i].next_of_workload) {
		c.last_ns = c.n == 0 ? h->v.v[i].at_ns : c.last_ns;
		c.first_ns = h->v.v[i].at_ns;
		c.n++;
	}
	return c;
}

struct eviction_count eviction_history_of_workload(const struct eviction_history *h, name_id workload, int64_t since_ns)
{
	return count(h, h == NULL ? NULL : &h->by_workload, workload, since_ns, false);
}

struct eviction_count eviction_history_of_queue(const struct eviction_history *h, name_id path, int64_t since_ns)
{
	return count(h, h == NULL ? NULL : &h->by_queue, path, since_ns, true);
}

const struct eviction_record *eviction_history_last(const struct eviction_history *h, name_id workload)
{
	uint64_t at = workload == NAME_NONE ? MAP_NONE : map_get(&h->by_workload, workload);

	return at == MAP_NONE ? NULL : &h->v.v[at];
}

const struct eviction_record *eviction_history_before(const struct eviction_history *h, const struct eviction_record *e)
{
	return e->next_of_workload == UINT32_MAX ? NULL : &h->v.v[e->next_of_workload];
}

static const char *const owner_kinds[] = {[OWNER_DEPLOYMENT] = "Deployment",
					  [OWNER_REPLICASET] = "ReplicaSet",
					  [OWNER_STATEFULSET] = "StatefulSet",
					  [OWNER_DAEMONSET] = "DaemonSet",
					  [OWNER_JOB] = "Job",
					  [OWNER_RC] = "ReplicationController",
					  [OWNER_NODE] = "Node",
					  [OWNER_OTHER] = "Controller"};

/* The name that stands last in what it is known by. */
static name_id own_name(const struct ledger *l, const struct pod *p)
{
	if (p->group != GROUP_NONE)
		return ledger_group(l, p->group)->obj->name;
	return p->obj->owner_kind != OWNER_NONE && p->obj->owner_name != NAME_NONE ? p->obj->owner_name : p->name;
}

bool eviction_history_may_have(const struct eviction_history *h, const struct ledger *l, const struct pod *p,
			       int64_t since_ns, uint32_t n)
{
	name_id name = own_name(l, p);
	uint64_t at;

	if (n > 1 && !bits_has(&h->repeated, name))
		return false;
	at = map_get(&h->by_own_name, name);
	for (uint32_t i = at == MAP_NONE ? UINT32_MAX : (uint32_t)at;
	     n && i != UINT32_MAX && h->v.v[i].at_ns > since_ns; i = h->v.v[i].next_of_name)
		n--;
	return !n;
}

void eviction_history_workload(const struct cluster *c, const struct pod *p, struct text *out)
{
	const struct ledger *l = cluster_ledger(c);
	const struct names *names = vocab_names(ledger_vocab(l));
	const char *ns = name_str(names, labelset_get(ledger_vocab(l), p->labelset)->ns);

	if (p->group != GROUP_NONE)
		text_printf(out, "%s/%s", ns, name_str(names, ledger_group(l, p->group)->obj->name));
	else if (p->obj->owner_kind != OWNER_NONE && p->obj->owner_name != NAME_NONE)
		text_printf(out, "%s/%s/%s", ns, owner_kinds[p->obj->owner_kind], name_str(names, p->obj->owner_name));
	else
		text_printf(out, "%s/%s", ns, name_str(names, p->name));
}
