/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod asks for and takes, read from its containers and its status. */
#include "manifest/pod_spec.h"

#include <stdlib.h>

#include "manifest/config_fields.h"

/*
 * Any pod may ask for anything, and the API server takes it: who asks for more than can be counted is looked past
 * (manifest.c), and does not keep all others from being planned.
 */
static enum err_code beyond_counting(struct err *e)
{
	if (e)
		e->code = ERR_LIMIT;
	return ERR_LIMIT;
}

static enum err_code too_large(const struct reader *r, const struct at *a, const char *expected, struct err *e)
{
	at_expected(r, a, e, expected);
	return beyond_counting(e);
}

static enum err_code req_set(const struct reader *r, const struct at *a, struct req_set *ret, struct err *e)
{
	TRY(at_want(r, a, TREE_MAP, e));
	if (!a->t)
		return ERR_OK;
	ret->v = arena_n(r->scratch, a->t->n + 1, struct req_entry);
	for (uint32_t i = 0; i < a->t->n; i++) {
		const struct tree_field *f = &a->t->fields[i];
		struct at v = {.up = a, .t = f->value, .key = f->key};
		struct req_entry *entry = &ret->v[ret->n++];
		struct err why;

		if (res_name_check(f->key, f->key_len, &why))
			return at_fail(r, &v, e, "not a resource name: %s", why.msg);
		entry->name = f->key;
		if (v.t->kind == TREE_NULL)
			entry->q = (struct quantity){0};
		else
			TRY(at_quantity(r, &v, &entry->q, e));
		if (entry->q.nano < 0)
			return at_expected(r, &v, e, "a quantity that is not negative");
		if (entry->q.is_saturated || !quantity_fits_value(&entry->q))
			return too_large(r, &v, "a quantity below 2^63", e);
		if (str_eq(f->key, "cpu") && !quantity_fits_milli(&entry->q))
			return too_large(r, &v, "a quantity below 2^63 thousandths", e);
	}
	return ERR_OK;
}

/* The status of the container with this name, among init and regular ones. */
static struct at status_of(const struct at *list, const char *name)
{
	for (uint32_t i = 0; i < at_count(list); i++) {
		const char *n = map_text(list->t->items[i], "name");

		if (n && str_eq(n, name))
			return at_item(list, i);
	}
	return (struct at){.up = list, .key = name};
}

/* The API server asks for what is limited where nothing else is asked; files may not have passed it. */
static void requests_from_limits(const struct reader *r, struct req_container *c)
{
	struct req_entry *v = arena_n(r->scratch, c->requests.n + c->limits.n + 1, struct req_entry);
	uint32_t n = c->requests.n;

	if (n)
		memcpy(v, c->requests.v, n * sizeof(*v));
	for (uint32_t i = 0; i < c->limits.n; i++)
		if (!req_get(&c->requests, c->limits.v[i].name))
			v[n++] = c->limits.v[i];
	c->requests = (struct req_set){n, v};
}

static enum err_code container_req(const struct reader *r, const struct at *a, const struct at *statuses, bool is_init,
				   struct req_container *ret, struct err *e)
{
	struct at resources = at_field(a, "resources"), requests = at_field(&resources, "requests"),
		  limits = at_field(&resources, "limits");
	static const char *const keys[] = {"requests", "limits", "claims", NULL};
	const char *name = "", *policy = "";
	struct at status, allocated, actual, actual_requests, actual_limits;

	TRY(at_want(r, a, TREE_MAP, e));
	TRY(at_want(r, &resources, TREE_MAP, e));
	at_note_slips(r, &resources, keys);
	TRY(get_text(r, a, "name", &name, e));
	TRY(get_text(r, a, "restartPolicy", &policy, e));
	ret->is_init = is_init;
	ret->is_sidecar = is_init && str_eq(policy, "Always");
	TRY(req_set(r, &requests, &ret->requests, e));
	TRY(req_set(r, &limits, &ret->limits, e));
	if (!r->is_lenient)
		requests_from_limits(r, ret);
	status = status_of(statuses, name);
	allocated = at_field(&status, "allocatedResources");
	actual = at_field(&status, "resources");
	actual_requests = at_field(&actual, "requests");
	actual_limits = at_field(&actual, "limits");
	ret->has_allocated = allocated.t != NULL;
	ret->has_actual = actual.t != NULL;
	TRY(req_set(r, &allocated, &ret->allocated, e));
	TRY(req_set(r, &actual_limits, &ret->actual_limits, e));
	return req_set(r, &actual_requests, &ret->actual, e);
}

static enum err_code containers_req(const struct reader *r, const struct at *pod, struct req_pod *ret, struct err *e)
{
	struct at spec = at_field(pod, "spec"), status = at_field(pod, "status"),
		  init = at_field(&spec, "initContainers"), main = at_field(&spec, "containers"),
		  init_status = at_field(&status, "initContainerStatuses"),
		  main_status = at_field(&status, "containerStatuses");
	uint32_t n_init = at_count(&init);
	struct req_container *v = arena_n(r->scratch, n_init + at_count(&main) + 1, struct req_container);

	TRY(at_want(r, &init, TREE_LIST, e));
	TRY(at_want(r, &main, TREE_LIST, e));
	if (!main.t)
		at_note(r, &main, "not there; the pod counts as if it requested nothing");
	TRY(at_want(r, &init_status, TREE_LIST, e));
	TRY(at_want(r, &main_status, TREE_LIST, e));
	for (uint32_t i = 0; i < n_init; i++) {
		struct at c = at_item(&init, i);

		TRY(container_req(r, &c, &init_status, true, &v[i], e));
	}
	for (uint32_t i = 0; i < at_count(&main); i++) {
		struct at c = at_item(&main, i);

		TRY(container_req(r, &c, &main_status, false, &v[n_init + i], e));
	}
	ret->n = n_init + at_count(&main);
	ret->containers = v;
	return ERR_OK;
}

static bool has_condition(const struct at *status, const char *type, const char *reason)
{
	struct at list = at_field(status, "conditions");

	for (uint32_t i = 0; i < at_count(&list); i++) {
		const char *t = map_text(list.t->items[i], "type"), *why = map_text(list.t->items[i], "reason");

		if (t && why && str_eq(t, type) && str_eq(why, reason))
			return true;
	}
	return false;
}

bool pod_cannot_resize(const struct at *status)
{
	return has_condition(status, "PodResizePending", "Infeasible");
}

enum err_code pod_req(const struct reader *r, const struct at *pod, struct req_pod *ret, struct err *e)
{
	struct at spec = at_field(pod, "spec"), status = at_field(pod, "status"),
		  overhead = at_field(&spec, "overhead"), resources = at_field(&spec, "resources"),
		  requests = at_field(&resources, "requests"), limits = at_field(&resources, "limits"),
		  allocated = at_field(&status, "allocatedResources"), actual = at_field(&status, "resources"),
		  actual_requests = at_field(&actual, "requests"), actual_limits = at_field(&actual, "limits");

	*ret = (struct req_pod){0};
	TRY(at_want(r, &resources, TREE_MAP, e));
	TRY(containers_req(r, pod, ret, e));
	ret->has_pod_requests = requests.t != NULL;
	ret->has_pod_limits = limits.t != NULL;
	ret->has_pod_allocated = allocated.t != NULL;
	ret->has_pod_actual = actual_requests.t != NULL;
	ret->resize_is_infeasible = pod_cannot_resize(&status);
	TRY(req_set(r, &requests, &ret->pod_requests, e));
	TRY(req_set(r, &limits, &ret->pod_limits, e));
	TRY(req_set(r, &allocated, &ret->pod_allocated, e));
	TRY(req_set(r, &actual_requests, &ret->pod_actual, e));
	TRY(req_set(r, &actual_limits, &ret->pod_actual_limits, e));
	return req_set(r, &overhead, &ret->overhead, e);
}

static int by_type(const void *a, const void *b)
{
	res_id x = ((const struct res_amount *)a)->type, y = ((const struct res_amount *)b)->type;

	return (x > y) - (x < y);
}

static enum err_code type_of(const struct reader *r, const char *name, res_id *ret, struct err *e)
{
	struct res_types *types = vocab_res(r->vocab);

	if (types->n >= RES_MAX_OF_PODS && res_types_find(types, name, strlen(name)) == RES_NONE)
		return err_fail(e, ERR_LIMIT, "is one too many: pods may bring in at most %d types of resources",
				RES_MAX_OF_PODS);
	return res_types_add(types, name, strlen(name), ret, e);
}

static enum err_code cannot_count(const struct reader *r, const struct at *spec, const char *name, const char *why,
				  struct err *e)
{
	at_fail(r, spec, e, "%s %s", name, why);
	return beyond_counting(e);
}

/* Exact quantities to sorted amounts of the types that are counted. Of a pod that has a node what can be is counted. */
static enum err_code amounts(const struct reader *r, const struct at *pod, const struct req_set *set,
			     struct res_list *ret, struct err *e)
{
	struct res_amount *v = arena_n(r->scratch, set->n + 1, struct res_amount);
	struct at spec = at_field(pod, "spec"), node = at_field(&spec, "nodeName");
	bool has_node = node.t && node.t->kind == TREE_STRING && node.t->n;
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		const char *name = set->v[i].name;
		struct err why;

		if (!res_name_is_counted(name, strlen(name)))
			continue;
		if (type_of(r, name, &v[n].type, &why)) {
			if (!has_node)
				return cannot_count(r, &spec, name, why.msg, e);
			at_note(r, &spec, "%s %s; it is not counted", name, why.msg);
			continue;
		}
		if (res_amount_of(v[n].type, &set->v[i].q, &v[n].amount, &why)) {
			if (!has_node)
				return cannot_count(r, &spec, name, "of all containers together is too large", e);
			at_note(r, &spec, "%s of all containers together %s", name, why.msg);
			v[n].amount = RES_AMOUNT_MAX;
		}
		n++;
	}
	qsort(v, n, sizeof(*v), by_type);
	*ret = (struct res_list){n, v};
	return ERR_OK;
}

/* One of "cpu=150m,memory=400Mi". */
static bool scoring_amount(const char *s, size_t len, int64_t *cpu_milli, int64_t *memory)
{
	bool is_cpu = len > 4 && !memcmp(s, "cpu=", 4), is_memory = len > 7 && !memcmp(s, "memory=", 7);
	size_t skip = is_cpu ? 4 : 7;
	struct quantity q;

	if (!is_cpu && !is_memory)
		return false;
	return !quantity_parse(s + skip, len - skip, &q, NULL) &&
	       !res_amount_of(is_cpu ? RES_CPU : RES_MEMORY, &q, is_cpu ? cpu_milli : memory, NULL);
}

/*
 * What a pod scores with, where its containers do not tell it: manifests that cede wrote have sums of them only. It
 * changes neither what the pod asks nor what it takes.
 */
static void read_scoring(const struct reader *r, const struct at *pod, struct shape *s)
{
	struct at meta = at_field(pod, "metadata"), annotations = at_field(&meta, "annotations"),
		  a = at_field(&annotations, "cede.dev/scoring-request");
	const char *text = map_text(annotations.t, "cede.dev/scoring-request");
	int64_t cpu_milli = s->nonzero_cpu_milli, memory = s->nonzero_memory;

	for (size_t len; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (scoring_amount(text, len, &cpu_milli, &memory))
			continue;
		at_note(r, &a, "expected amounts such as cpu=150m,memory=400Mi; taken as not set");
		return;
	}
	s->nonzero_cpu_milli = cpu_milli;
	s->nonzero_memory = memory;
}

enum err_code pod_amounts(const struct reader *r, const struct at *pod, const struct req_pod *req, struct shape *s,
			  struct err *e)
{
	struct req_set spec = pod_requests(r->scratch, req, &(struct req_options){0});
	struct req_set usage = pod_requests(r->scratch, req, &(struct req_options){.use_status = true});
	struct req_set nonzero = pod_requests(r->scratch, req, &(struct req_options){.nonzero_default = true});
	struct res_list list;

	TRY(amounts(r, pod, &spec, &s->request, e));
	TRY(amounts(r, pod, &usage, &s->usage, e));
	TRY(amounts(r, pod, &nonzero, &list, e));
	s->nonzero_cpu_milli = res_list_get(&list, RES_CPU);
	s->nonzero_memory = res_list_get(&list, RES_MEMORY);
	read_scoring(r, pod, s);
	return ERR_OK;
}
