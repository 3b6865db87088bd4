/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a session's workloads: by creation, then by their names; no two are alike. */
#include <stdlib.h>

#include "engine/session_build.h"

static int64_t made(const struct session *s, const struct workload *u)
{
	return u->group != GROUP_NONE ? ledger_group(s->ledger, u->group)->obj->created_ns
				      : ledger_pod(s->ledger, u->pod)->created_ns;
}

struct naming { /* what settles the order of those made at one moment, side by side: objects lie apart */
	struct uid uid;
	name_id ns, name;
	bool is_known;
};

static struct naming naming_of(const struct session *s, const struct workload *u)
{
	if (u->group != GROUP_NONE) {
		const struct obj_group *o = ledger_group(s->ledger, u->group)->obj;

		return (struct naming){uid_of_name(o->uid), o->ns, o->name, true};
	}
	const struct pod *p = ledger_pod(s->ledger, u->pod);

	return (struct naming){p->obj->uid, labelset_get(ledger_vocab(s->ledger), p->labelset)->ns, p->name, true};
}

/* Two APIs may have a group of one name. */
static bool is_k8s(const struct session *s, const struct workload *u)
{
	return u->group != GROUP_NONE && ledger_group(s->ledger, u->group)->obj->is_k8s;
}

struct ranked {
	int64_t made_ns;
	uint32_t workload;
	uint32_t time; /* the same in seconds from the first on, if sort_ranked goes by that */
};

struct ranking {
	struct session *s;
	struct naming *namings; /* of each workload; most are alone at their moment and never asked */
};

static const struct naming *naming(const struct ranking *k, uint32_t workload)
{
	struct naming *n = &k->namings[workload];

	if (!n->is_known)
		*n = naming_of(k->s, &k->s->workloads[workload]);
	return n;
}

static int by_creation(const void *a, const void *b, void *ctx)
{
	const struct ranking *k = ctx;
	const struct session *s = k->s;
	const struct ranked *x = a, *y = b;
	const struct naming *nx, *ny;
	int d;

	if (x->made_ns != y->made_ns)
		return x->made_ns < y->made_ns ? -1 : 1;
	nx = naming(k, x->workload);
	ny = naming(k, y->workload);
	d = uid_cmp(s->names, nx->uid, ny->uid);
	if (d == 0 && nx->ns != ny->ns)
		d = name_cmp(s->names, nx->ns, ny->ns);
	if (d == 0)
		d = name_cmp(s->names, nx->name, ny->name);
	if (d != 0)
		return d;
	return is_k8s(s, &s->workloads[x->workload]) - is_k8s(s, &s->workloads[y->workload]);
}

static inline uint64_t time_bits(const struct ranked *x, bool by_number)
{
	return by_number ? x->time : (uint64_t)x->made_ns;
}

/*
 * Times are whole seconds nearly always and then, from the first on, numbers of few bytes. How far apart the first and
 * the last are; 0: they are not, or too far.
 */
static uint32_t number_times(struct ranked *v, uint32_t n)
{
	int64_t first = n > 0 ? v[0].made_ns : 0;
	int64_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		first = v[i].made_ns < first ? v[i].made_ns : first;
	for (uint32_t i = 0; i < n; i++) {
		int64_t since = time_since(v[i].made_ns, first), time = since / NS_PER_S;

		if (since % NS_PER_S != 0 || time > UINT32_MAX)
			return 0;
		v[i].time = (uint32_t)time;
		most = time > most ? time : most;
	}
	return (uint32_t)most;
}

/* By creation, a byte at a time; those made at one moment stay in the order they are in. */
static struct ranked *sort_by_time(struct session *s, struct ranked *v, uint64_t differ, bool by_number)
{
	struct ranked *other = arena_take(s->arena, (s->n_workloads + (size_t)1) * sizeof(*other));

	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint32_t at[257] = {0};
		struct ranked *from = v;

		if (!(differ >> shift & 0xff))
			continue;
		for (uint32_t i = 0; i < s->n_workloads; i++)
			at[(time_bits(&from[i], by_number) >> shift & 0xff) + 1]++;
		for (unsigned i = 0; i < 256; i++)
			at[i + 1] += at[i];
		for (uint32_t i = 0; i < s->n_workloads; i++)
			other[at[time_bits(&from[i], by_number) >> shift & 0xff]++] = from[i];
		v = other;
		other = from;
	}
	return v;
}

/* Those made at one moment are few, and mostly in order already. */
static void sort_moment(struct ranking *k, struct ranked *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (by_creation(&v[i - 1], &v[i], k) > 0) {
			qsort_r(v, n, sizeof(*v), by_creation, k);
			return;
		}
}

/* Times before 1970 sort after the others as bytes: then the whole comparison does it. */
static struct ranked *sort_ranked(struct ranking *k, struct ranked *v)
{
	uint32_t n = k->s->n_workloads, most = number_times(v, n);
	uint64_t differ = 0;

	for (uint32_t i = 0; i < n; i++)
		differ |= time_bits(&v[i], most > 0) ^ time_bits(&v[0], most > 0);
	if (differ >> 63) {
		qsort_r(v, n, sizeof(*v), by_creation, k);
		return v;
	}
	v = sort_by_time(k->s, v, differ, most > 0);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end].made_ns == v[i].made_ns;)
			end++;
		sort_moment(k, v + i, end - i);
	}
	return v;
}

/* Most clusters are read in the order in which things were made. */
void session_rank_workloads(struct session *s)
{
	struct ranking k = {s, mem_alloc((s->n_workloads + (size_t)1) * sizeof(*k.namings))};
	struct ranked *v = arena_take(s->arena, (s->n_workloads + (size_t)1) * sizeof(*v));
	bool is_sorted = true;

	for (uint32_t i = 0; i < s->n_workloads; i++) {
		v[i] = (struct ranked){created_or_late(made(s, &s->workloads[i])), i, 0};
		is_sorted = is_sorted && (i == 0 || by_creation(&v[i - 1], &v[i], &k) < 0);
	}
	if (!is_sorted)
		v = sort_ranked(&k, v);
	mem_free(k.namings);
	s->by_rank = arena_take(s->build->arena, (s->n_workloads + (size_t)1) * sizeof(*s->by_rank));
	for (uint32_t i = 0; i < s->n_workloads; i++) {
		s->by_rank[i] = v[i].workload;
		s->workloads[v[i].workload].rank = i;
	}
}
