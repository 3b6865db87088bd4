/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod needs room for the larger of two moments: when everything runs (containers and sidecars together), and when the
 * hungriest init container runs (it, and the sidecars started before it). This is worked out over the containers three
 * times where the status counts (as specified, allocated and actual), and the largest of the three is taken: a resize
 * moves several containers at once, so the sums are compared and not the containers.
 */
#include "model/podreq.h"

#include <string.h>

#define MILLI ((quantity_nano)1000000)
#define UNIT ((quantity_nano)1000000000)

/* What one container is looked at for. */
enum podreq_view { SPEC, ALLOCATED, ACTUAL, LIMITS, ACTUAL_LIMITS };

struct calc {
	struct arena *arena;
	const struct req_pod *pod;
	const struct req_options *options;
	struct req_set defaults; /* for containers that do not state them */
};

/* ---- sets ---- */

static struct req_entry *find(const struct req_set *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].name, name) == 0)
			return &s->v[i];
	return NULL;
}

const struct quantity *req_get(const struct req_set *s, const char *name)
{
	const struct req_entry *entry = find(s, name);
	return entry != NULL ? &entry->q : NULL;
}

/*
 * Sets that are written to begin empty and grow here: room for 4, then for twice as many when a power of two is full.
 * So they are as large as the names in them differ, however many containers repeat the same ones.
 */
static void push(const struct calc *c, struct req_set *s, const struct req_entry *x)
{
	enum { FIRST = 4 };
	bool is_full = s->n == 0 || (s->n >= FIRST && (s->n & (s->n - 1)) == 0);
	if (is_full) {
		struct req_entry *wider = arena_n(c->arena, s->n == 0 ? FIRST : (size_t)s->n * 2, struct req_entry);
		if (s->n > 0)
			memcpy(wider, s->v, s->n * sizeof(*wider));
		s->v = wider;
	}
	s->v[s->n++] = *x;
}

static void put(const struct calc *c, struct req_set *s, const struct req_entry *x)
{
	struct req_entry *entry = find(s, x->name);
	if (entry != NULL)
		entry->q = x->q;
	else
		push(c, s, x);
}

static void add(const struct calc *c, struct req_set *s, const struct req_set *more)
{
	for (uint32_t i = 0; i < more->n; i++) {
		struct req_entry *entry = find(s, more->v[i].name);
		if (entry != NULL)
			entry->q = quantity_add(&entry->q, &more->v[i].q);
		else
			push(c, s, &more->v[i]);
	}
}

static void raise_one(const struct calc *c, struct req_set *s, const struct req_entry *x)
{
	struct req_entry *entry = find(s, x->name);
	if (entry == NULL)
		push(c, s, x);
	else if (quantity_cmp(&x->q, &entry->q) > 0)
		entry->q = x->q;
}

static void raise_to(const struct calc *c, struct req_set *s, const struct req_set *other)
{
	for (uint32_t i = 0; i < other->n; i++)
		raise_one(c, s, &other->v[i]);
}

/* What is left, at least nothing. */
static void lower_by(struct req_set *s, const struct req_set *less)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct quantity *q = req_get(less, s->v[i].name);
		quantity_nano *left = &s->v[i].q.nano;
		if (q != NULL && (__builtin_sub_overflow(*left, q->nano, left) || *left < 0))
			*left = 0;
	}
}

/* ---- containers ---- */

static bool counts_status(const struct calc *c)
{
	return c->options->use_status;
}

static bool is_infeasible(const struct calc *c)
{
	return counts_status(c) && c->pod->resize_is_infeasible;
}

static struct req_set look(const struct calc *c, const struct req_container *k, enum podreq_view view)
{
	static const struct req_set nothing = {0};
	bool is_limit = view == LIMITS || view == ACTUAL_LIMITS;
	if (view == ACTUAL && k->has_actual && k->actual.n > 0)
		return k->actual;
	if ((view == ACTUAL || view == ALLOCATED) && k->has_allocated && k->allocated.n > 0)
		return k->allocated;
	if (view == ACTUAL_LIMITS && k->actual_limits.n > 0)
		return k->actual_limits;
	if (view != SPEC && view != LIMITS && is_infeasible(c))
		return nothing;
	return is_limit ? k->limits : k->requests;
}

static struct req_set look_with_defaults(const struct calc *c, const struct req_container *k, enum podreq_view view)
{
	struct req_set seen = look(c, k, view);
	if (c->defaults.n == 0 || view == LIMITS || view == ACTUAL_LIMITS)
		return seen;
	struct req_set full = {0};
	add(c, &full, &seen);
	for (uint32_t i = 0; i < c->defaults.n; i++)
		if (find(&seen, c->defaults.v[i].name) == NULL)
			put(c, &full, &c->defaults.v[i]);
	return full;
}

/* The moment an init container runs: it, and the sidecars that were started before it. */
static void raise_to_moment(const struct calc *c, struct req_set *peak, const struct req_set *own,
			    const struct req_set *sidecars)
{
	for (uint32_t i = 0; i < own->n; i++) {
		struct req_entry both = own->v[i];
		const struct quantity *more = req_get(sidecars, both.name);
		if (more != NULL)
			both.q = quantity_add(&both.q, more);
		raise_one(c, peak, &both);
	}
	for (uint32_t i = 0; i < sidecars->n; i++)
		if (find(own, sidecars->v[i].name) == NULL)
			raise_one(c, peak, &sidecars->v[i]);
}

static struct req_set aggregate(const struct calc *c, enum podreq_view view)
{
	struct req_set together = {0}, sidecars = {0}, peak = {0};
	for (uint32_t i = 0; i < c->pod->n; i++) {
		const struct req_container *k = &c->pod->containers[i];
		const struct req_set own = look_with_defaults(c, k, view);
		if (!k->is_init) {
			add(c, &together, &own);
		} else if (k->is_sidecar) {
			add(c, &together, &own);
			add(c, &sidecars, &own);
		} else {
			raise_to_moment(c, &peak, &own, &sidecars);
		}
	}
	raise_to(c, &together, &peak);
	return together;
}

static struct req_set requests_of_containers(const struct calc *c)
{
	const struct req_pod *p = c->pod;
	struct req_set spec = aggregate(c, SPEC), allocated, actual;
	if (!counts_status(c))
		return spec;
	if (c->options->use_pod_status && p->has_pod_allocated && p->has_pod_actual) {
		allocated = p->pod_allocated;
		actual = p->pod_actual;
	} else {
		allocated = aggregate(c, ALLOCATED);
		actual = aggregate(c, ACTUAL);
	}
	struct req_set most = is_infeasible(c) ? (struct req_set){0} : spec;
	raise_to(c, &most, &actual);
	raise_to(c, &most, &allocated);
	return most;
}

static struct req_set limits_of_containers(const struct calc *c)
{
	struct req_set spec = aggregate(c, LIMITS);
	if (!counts_status(c))
		return spec;
	bool by_pod = c->options->use_pod_status && c->pod->pod_actual_limits.n > 0;
	const struct req_set actual = by_pod ? c->pod->pod_actual_limits : aggregate(c, ACTUAL_LIMITS);
	struct req_set most = is_infeasible(c) ? (struct req_set){0} : spec;
	raise_to(c, &most, &actual);
	return most;
}

/* ---- the pod as a whole ---- */

static bool is_pod_level_name(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 || strncmp(name, "hugepages-", 10) == 0;
}

static bool has_pod_level_names(const struct req_set *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (is_pod_level_name(s->v[i].name))
			return true;
	return false;
}

static bool has_pod_level_requests(const struct calc *c)
{
	return !c->options->without_pod_level && has_pod_level_names(&c->pod->pod_requests);
}

/* The largest of a pod-level setting and what its status says; the status includes overhead, which is added later. */
static struct req_set pod_level(const struct calc *c, const struct req_set *spec, const struct req_set *status_a,
				const struct req_set *status_b)
{
	struct req_set most = {0};
	if (!counts_status(c) || !c->options->use_pod_status || (status_a->n == 0 && status_b->n == 0)) {
		add(c, &most, spec);
		return most;
	}
	add(c, &most, status_a);
	raise_to(c, &most, status_b);
	lower_by(&most, &c->pod->overhead);
	if (!is_infeasible(c))
		raise_to(c, &most, spec);
	return most;
}

static void replace(const struct calc *c, struct req_set *s, const struct req_set *by)
{
	for (uint32_t i = 0; i < by->n; i++)
		if (is_pod_level_name(by->v[i].name))
			put(c, s, &by->v[i]);
}

static struct req_set requests(const struct calc *c)
{
	const struct req_pod *p = c->pod;
	struct req_set total = requests_of_containers(c);
	if (has_pod_level_requests(c)) {
		const struct req_set by = pod_level(c, &p->pod_requests, &p->pod_actual, &p->pod_allocated);
		replace(c, &total, &by);
	}
	if (!c->options->without_overhead)
		add(c, &total, &p->overhead);
	return total;
}

static struct calc begin(struct arena *a, const struct req_pod *p, const struct req_options *o)
{
	return (struct calc){.arena = a, .pod = p, .options = o};
}

/* Where the pod as a whole states requests, a default is only for what it leaves out. */
static void set_defaults(struct calc *c)
{
	static const struct req_entry defaults[] = {
		{"cpu", {.nano = 100 * MILLI, .format = QUANTITY_DECIMAL_SI}},
		{"memory", {.nano = 200 * UNIT * 1024 * 1024, .format = QUANTITY_BINARY_SI}},
	};
	if (!c->options->nonzero_default)
		return;
	struct req_set stated = {0}, chosen = {0};
	if (has_pod_level_requests(c))
		stated = requests(c);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		if (find(&stated, defaults[i].name) == NULL)
			put(c, &chosen, &defaults[i]);
	c->defaults = chosen;
}

struct req_set pod_requests(struct arena *a, const struct req_pod *p, const struct req_options *o)
{
	struct calc c = begin(a, p, o);
	set_defaults(&c);
	return requests(&c);
}

struct req_set container_requests(struct arena *a, const struct req_pod *p, const struct req_options *o)
{
	struct calc c = begin(a, p, o);
	set_defaults(&c);
	return requests_of_containers(&c);
}

struct req_set container_limits(struct arena *a, const struct req_pod *p, const struct req_options *o)
{
	const struct calc c = begin(a, p, o);
	return limits_of_containers(&c);
}

struct req_set pod_limits(struct arena *a, const struct req_pod *p, const struct req_options *o)
{
	const struct calc c = begin(a, p, o);
	const struct req_set nothing = {0};
	struct req_set total = limits_of_containers(&c);
	if (!o->without_pod_level && (has_pod_level_names(&p->pod_requests) || has_pod_level_names(&p->pod_limits))) {
		const struct req_set by = pod_level(&c, &p->pod_limits, &p->pod_actual_limits, &nothing);
		replace(&c, &total, &by);
	}
	for (uint32_t i = 0; i < total.n && !o->without_overhead; i++) {
		const struct quantity *more = req_get(&p->overhead, total.v[i].name);
		if (more != NULL && total.v[i].q.nano != 0)
			total.v[i].q = quantity_add(&total.v[i].q, more);
	}
	return total;
}
