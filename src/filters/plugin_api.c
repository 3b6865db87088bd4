/* SPDX-License-Identifier: Apache-2.0 */
/* What include/cede_plugin.h lets a plugin ask. */
#include "filters/framework_internal.h"

cede_pod cede_cycle_pod(const struct cede_cycle *c)
{
	return c->pod;
}

int64_t cede_cycle_now(const struct cede_cycle *c)
{
	return c->now_ns;
}

/* A plugin knows its table alone. One slot more than plugins is there for strangers. */
static uint32_t index_of(const struct cede_cycle *c, const struct cede_plugin *p)
{
	const struct framework *f = c->framework;

	return f->plugins.v[c->running].table == p ? c->running : framework_index(f, p);
}

void cede_set_state(struct cede_cycle *c, const struct cede_plugin *p, void *state)
{
	c->states[index_of(c, p)] = state;
}

void *cede_get_state(const struct cede_cycle *c, const struct cede_plugin *p)
{
	return c->states[index_of(c, p)];
}

void *cede_alloc(struct cede_cycle *c, size_t size)
{
	return arena_alloc(c->arena, size);
}

static struct cycle_value *find_value(const struct cede_cycle *c, const char *key)
{
	struct cycle_value *v = c->values;

	while (v && !str_eq(v->key, key))
		v = v->next;
	return v;
}

void cede_write(struct cede_cycle *c, const char *key, void *value)
{
	struct cycle_value *v = find_value(c, key);

	if (!v) {
		v = arena_type(c->arena, struct cycle_value);
		v->key = arena_strndup(c->arena, key, strlen(key));
		v->next = c->values;
		c->values = v;
	}
	v->value = value;
}

void *cede_read(const struct cede_cycle *c, const char *key)
{
	struct cycle_value *v = find_value(c, key);

	return v ? v->value : NULL;
}

/* ---- pods ---- */

static const struct pod *pod_at(const struct cede_cycle *c, cede_pod pod)
{
	return ledger_pod(c->ledger, pod);
}

/* Where nobody waits, cede_cycle_pod is nobody; a plugin that asks about him is told nothing. */
static bool is_nobody(cede_pod pod)
{
	return pod == CEDE_NOBODY;
}

const char *cede_pod_name(const struct cede_cycle *c, cede_pod pod)
{
	return is_nobody(pod) ? "" : name_str(c->names, pod_at(c, pod)->name);
}

const char *cede_pod_namespace(const struct cede_cycle *c, cede_pod pod)
{
	return is_nobody(pod) ? "" : name_str(c->names, labelset_get(c->vocab, pod_at(c, pod)->labelset)->ns);
}

static const char *label_of(const struct cede_cycle *c, labelset_id labelset, const char *key)
{
	name_id id = names_find(c->names, key, strlen(key)), value;

	if (labelset == LABELSET_NONE || !id || !labels_get(&labelset_get(c->vocab, labelset)->labels, id, &value))
		return NULL;
	return name_str(c->names, value);
}

const char *cede_pod_label(const struct cede_cycle *c, cede_pod pod, const char *key)
{
	return is_nobody(pod) ? NULL : label_of(c, pod_at(c, pod)->labelset, key);
}

int32_t cede_pod_priority(const struct cede_cycle *c, cede_pod pod)
{
	return is_nobody(pod) ? 0 : pod_at(c, pod)->priority;
}

const char *cede_pod_queue(const struct cede_cycle *c, cede_pod pod)
{
	queue_id q = is_nobody(pod) ? QUEUE_NONE : pod_at(c, pod)->queue;

	return q == QUEUE_NONE ? "" : name_str(c->names, queue_get(ledger_queues(c->ledger), q)->path);
}

static res_id resource(const struct cede_cycle *c, const char *name)
{
	return res_types_find(vocab_res(ledger_vocab(c->ledger)), name, strlen(name));
}

int64_t cede_pod_request(const struct cede_cycle *c, cede_pod pod, const char *name)
{
	res_id r = resource(c, name);

	return r == RES_NONE || is_nobody(pod) ? 0
					       : res_list_get(&shape_get(c->vocab, pod_at(c, pod)->shape)->request, r);
}

int64_t cede_pod_started(const struct cede_cycle *c, cede_pod pod)
{
	return is_nobody(pod) ? TIME_NONE : pod_at(c, pod)->started_ns;
}

int64_t cede_pod_checkpointed(const struct cede_cycle *c, cede_pod pod)
{
	return is_nobody(pod) ? TIME_NONE : pod_at(c, pod)->obj->checkpointed_ns;
}

cede_node cede_pod_node(const struct cede_cycle *c, cede_pod pod)
{
	return is_nobody(pod) ? NODE_NONE : pod_at(c, pod)->node;
}

/* ---- nodes ---- */

size_t cede_node_count(const struct cede_cycle *c)
{
	return c->n_nodes;
}

cede_node cede_node_at(const struct cede_cycle *c, size_t i)
{
	return c->nodes[i];
}

const char *cede_node_name(const struct cede_cycle *c, cede_node node)
{
	return name_str(c->names, ledger_node(c->ledger, node)->name);
}

const char *cede_node_label(const struct cede_cycle *c, cede_node node, const char *key)
{
	const struct obj_node *o = ledger_node(c->ledger, node)->obj;

	return o ? label_of(c, o->labelset, key) : NULL;
}

int64_t cede_node_allocatable(const struct cede_cycle *c, cede_node node, const char *name)
{
	res_id r = resource(c, name);

	return r == RES_NONE || r >= ledger_stride(c->ledger) ? 0 : ledger_node_allocatable(c->ledger, node)[r];
}

int64_t cede_node_used(const struct cede_cycle *c, cede_node node, const char *name)
{
	res_id r = resource(c, name);

	return r == RES_NONE || r >= ledger_stride(c->ledger) ? 0 : ledger_node_used(c->ledger, node)[r];
}

size_t cede_node_pod_count(const struct cede_cycle *c, cede_node node)
{
	return ledger_node(c->ledger, node)->pods.n;
}

cede_pod cede_node_pod_at(const struct cede_cycle *c, cede_node node, size_t i)
{
	return ledger_node(c->ledger, node)->pods.v[i];
}
