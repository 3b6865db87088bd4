/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod that keeps an application together goes last:
 * one labelled spark-role: driver, or the oldest of an application with several pods.
 *
 * Who that is is worked out for an application when one of its pods is asked about that may be it, and kept while the
 * pods of its leaf are the same. What was said of a pod is kept while those of all leaves are: one search after the
 * other asks of the same pods, and reading all of an application anew takes longer than anything else it does.
 */
#include "base/bits.h"
#include "base/map.h"
#include "rules/judge.h"

struct driver_app {
	pod_id oldest;
	uint32_t n;
	bool has_labelled;
};

struct leaf {
	uint64_t members; /* of the ledger when it was made */
	bool is_known;
	ARRAY(struct driver_app) apps;
	struct map by_id; /* namespace and application id */
};

struct drivers {
	ARRAY(struct leaf) leaves;	 /* by queue id */
	uint64_t members;		 /* of the ledger while what follows holds */
	struct bits is_asked, is_driver; /* pods that are in a queue */
};

static void leaf_clear(struct leaf *f)
{
	array_free(&f->apps);
	map_free(&f->by_id);
	*f = (struct leaf){0};
}

void drivers_free(struct drivers *d)
{
	for (uint32_t i = 0; d && i < d->leaves.n; i++)
		leaf_clear(&d->leaves.v[i]);
	if (!d)
		return;
	array_free(&d->leaves);
	bits_free(&d->is_asked);
	bits_free(&d->is_driver);
	mem_free(d);
}

static bool says_driver(const struct judge *j, const struct pod *v)
{
	name_id value;

	return j->spark_role && j->spark_driver &&
	       labels_get(&labelset_get(j->vocab, v->labelset)->labels, j->spark_role, &value) &&
	       value == j->spark_driver;
}

static bool is_older(const struct judge *j, const struct pod *a, const struct pod *b)
{
	int64_t x = a->created_ns == TIME_NONE ? INT64_MAX : a->created_ns,
		y = b->created_ns == TIME_NONE ? INT64_MAX : b->created_ns;

	return x != y ? x < y : name_cmp(j->names, a->name, b->name) < 0;
}

static uint64_t app_key(const struct judge *j, const struct pod *p)
{
	return map_key2(labelset_get(j->vocab, p->labelset)->ns, p->obj->app);
}

/* Those of its leaf that are not finished count. */
static struct driver_app driver_of(const struct judge *j, const struct pod *v)
{
	pod_id pod = ledger_app_first(j->ledger, labelset_get(j->vocab, v->labelset)->ns, v->obj->app);
	struct driver_app a = {.oldest = POD_NONE};

	for (; pod != POD_NONE; pod = ledger_app_next(j->ledger, pod)) {
		const struct pod *p = ledger_pod(j->ledger, pod);

		if (p->queue != v->queue || p->state == POD_FINISHED)
			continue;
		a.n++;
		a.has_labelled |= says_driver(j, p);
		if (a.oldest == POD_NONE || is_older(j, p, ledger_pod(j->ledger, a.oldest)))
			a.oldest = pod;
	}
	return a;
}

enum { RIVALS = 8 };

/*
 * Is one of the first few of its application older? Most pods are not the oldest, and pods of a leaf come and go while
 * a plan is made: then this is less than finding out all of an application. Of a large one that is worth keeping.
 */
static bool has_older(const struct judge *j, const struct pod *v)
{
	pod_id pod = ledger_app_first(j->ledger, labelset_get(j->vocab, v->labelset)->ns, v->obj->app);

	for (uint32_t i = 0; i < RIVALS && pod != POD_NONE; i++, pod = ledger_app_next(j->ledger, pod)) {
		const struct pod *p = ledger_pod(j->ledger, pod);

		if (p->queue == v->queue && p->state != POD_FINISHED && is_older(j, p, v))
			return true;
	}
	return false;
}

static struct leaf *leaf_of(const struct judge *j, struct drivers *d, queue_id q)
{
	struct leaf none = {0};
	struct leaf *f;

	while (d->leaves.n <= q)
		array_push(&d->leaves, none);
	f = &d->leaves.v[q];
	if (f->is_known && f->members == ledger_queue_members(j->ledger, q))
		return f;
	leaf_clear(f);
	f->is_known = true;
	f->members = ledger_queue_members(j->ledger, q);
	return f;
}

static bool find_out(const struct judge *j, struct drivers *d, const struct pod *v)
{
	const struct driver_app *a;
	struct leaf *f;
	uint32_t at;

	if (says_driver(j, v))
		return true;
	if (v->obj->app == NAME_NONE || v->queue == QUEUE_NONE)
		return false;
	f = leaf_of(j, d, v->queue);
	at = map_get(&f->by_id, app_key(j, v));
	if (at == MAP_NONE && has_older(j, v))
		return false;
	if (at == MAP_NONE) {
		at = f->apps.n;
		array_push(&f->apps, driver_of(j, v));
		map_put(&f->by_id, app_key(j, v), at);
	}
	a = &f->apps.v[at];
	return a->n > 1 && !a->has_labelled && ledger_pod(j->ledger, a->oldest) == v;
}

static struct drivers *drivers_now(const struct judge *j)
{
	struct drivers *d = j->scratch->drivers;

	if (!d)
		d = j->scratch->drivers = mem_alloc(sizeof(*d));
	if (d->members != ledger_members(j->ledger)) {
		bits_reset(&d->is_asked);
		bits_reset(&d->is_driver);
		d->members = ledger_members(j->ledger);
	}
	return d;
}

bool judge_is_driver(const struct judge *j, pod_id pod)
{
	struct drivers *d = drivers_now(j);
	const struct pod *v;
	bool is_driver;

	if (bits_has(&d->is_asked, pod))
		return bits_has(&d->is_driver, pod);
	v = ledger_pod(j->ledger, pod);
	is_driver = find_out(j, d, v);
	if (v->queue == QUEUE_NONE) /* what such a pod says may change, and no leaf knows of it */
		return is_driver;
	bits_set(&d->is_asked, pod);
	if (is_driver)
		bits_set(&d->is_driver, pod);
	return is_driver;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	(void)v;
	return judge_is_driver(j, victim) ? rule_says(IS_SPARED, RULE_DRIVER) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it is its application's driver");
}

const struct rule rule_driver = {.judge = judge, .text = text};
