/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

const char *const sim_controller_words[] = {"bare", "job", "replicas", "stateful", "operator", NULL};

void sim_load_free(struct sim_load *l)
{
	if (l->free)
		l->free(l->ctx);
	*l = (struct sim_load){0};
}

static int by_type(const void *a, const void *b)
{
	const struct res_amount *x = a, *y = b;

	return (x->type > y->type) - (x->type < y->type);
}

static enum err_code amounts_of(struct vocab *v, const struct load_request *r, uint32_t n, struct res_amount *ret,
				struct err *e)
{
	for (uint32_t i = 0; i < n; i++) {
		enum err_code rc = res_types_add(vocab_res(v), r[i].type, strlen(r[i].type), &ret[i].type, e);

		if (rc)
			return rc;
		ret[i].amount = r[i].amount;
	}
	if (n)
		qsort(ret, n, sizeof(*ret), by_type);
	return ERR_OK;
}

/* What scoring counts for containers that ask for nothing. */
static int64_t nonzero(const struct res_list *l, res_id r, int64_t otherwise)
{
	int64_t amount = res_list_get(l, r);

	return amount ? amount : otherwise;
}

enum { NONZERO_CPU_MILLI = 100, NONZERO_MEMORY = 200 * 1024 * 1024 };

enum err_code load_template(struct vocab *v, const struct load_pod *p, struct obj_pod *ret, struct err *e)
{
	struct res_amount *amounts = mem_alloc((p->n_requests + 1) * sizeof(*amounts));
	struct names *names = vocab_names(v);
	enum err_code rc = amounts_of(v, p->requests, p->n_requests, amounts, e);
	struct shape draft = {
		.request = {p->n_requests, amounts}, .usage = {p->n_requests, amounts}, .n_containers = 1};
	name_id ns = names_hold_str(names, p->ns ? p->ns : "default");

	if (!rc) {
		draft.nonzero_cpu_milli = nonzero(&draft.request, RES_CPU, NONZERO_CPU_MILLI);
		draft.nonzero_memory = nonzero(&draft.request, RES_MEMORY, NONZERO_MEMORY);
		*ret = (struct obj_pod){.created_ns = TIME_NONE,
					.started_ns = TIME_NONE,
					.scheduled_ns = TIME_NONE,
					.deleted_ns = TIME_NONE,
					.checkpointed_ns = TIME_NONE};
		ret->shape = shape_hold(v, &draft);
		ret->labelset = labelset_hold(v, ns, NULL, 0);
		ret->has_priority = p->has_priority;
		ret->priority = p->priority;
		ret->yunikorn_queue = names_hold_str(names, p->queue);
		ret->kai_queue = names_hold_str(names, p->kai_queue);
		ret->allows_preemption = p->allows_preemption;
		ret->preemptibility = p->preemptibility;
	}
	names_drop(names, ns);
	mem_free(amounts);
	return rc;
}

static labelset_id hostname_labels(struct vocab *v, const char *name)
{
	struct names *names = vocab_names(v);
	struct label kv = {names_hold_str(names, "kubernetes.io/hostname"), names_hold_str(names, name)};
	labelset_id id = labelset_hold(v, NAME_NONE, &kv, 1);

	names_drop(names, kv.key);
	names_drop(names, kv.value);
	return id;
}

enum err_code load_node(struct vocab *v, const char *name, const struct load_request *room, uint32_t n,
			struct obj_node *ret, struct err *e)
{
	struct res_amount *amounts = mem_alloc((n + 1) * sizeof(*amounts));
	enum err_code rc = amounts_of(v, room, n, amounts, e);

	if (!rc) {
		*ret = (struct obj_node){.name = names_hold_str(vocab_names(v), name),
					 .labelset = hostname_labels(v, name),
					 .bag = name_bag_of(vocab_names(v))};
		ret->allocatable.mask = UINT64_C(1) << RES_PODS;
		ret->allocatable.v[RES_PODS] = 110;
		for (uint32_t i = 0; i < n; i++) {
			ret->allocatable.mask |= UINT64_C(1) << amounts[i].type;
			ret->allocatable.v[amounts[i].type] = amounts[i].amount;
		}
	}
	mem_free(amounts);
	return rc;
}
