/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeVolumeLimits: a CSI driver can attach only so many volumes to a node, and its CSINode says how many.
 *
 * A volume counts once, however many pods of the node use it. A claim without a volume counts by its class, as one of
 * the driver that will make it. Volumes of in-tree plugins count as their drivers'. What is attached and used by no pod
 * counts too, so where attachments linger taking pods away does not help, as in Kubernetes.
 *
 * Most nodes do not change between two cycles: what their pods use is kept (self) until the node or an object of
 * storage changes. Refreshed in pre_filter; filter only reads, and counts itself where what is kept is not good.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "filters/volumes.h"

enum limits_reason { LOOKING_UP, NOT_OWNED, TOO_MANY };

struct attached { /* a volume as drivers tell them apart */
	name_id driver;
	name_id handle; /* NAME_NONE: not there yet, known by its claim: */
	name_id ns, claim;
};

struct attached_set { /* each once, in order */
	ARRAY(struct attached) v;
	bool is_broken; /* a pod has an ephemeral volume whose claim is another's */
};

struct kept_set {
	uint64_t generation, storage; /* of the node and the objects it was made from; 0: not made */
	struct attached_set set;
};

struct limits_memo {
	const struct ledger *ledger; /* whose nodes these are */
	ARRAY(struct kept_set) nodes;
};

struct limits_state {		     /* of a cycle */
	struct attached_set wanted;  /* by the pod; its array is the cycle's */
	struct cede_verdict trouble; /* SUCCESS: none */
};

/* ---- sets ---- */

static int compare(const void *pa, const void *pb)
{
	const struct attached *a = pa, *b = pb;

	if (a->driver != b->driver)
		return a->driver < b->driver ? -1 : 1;
	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->claim < b->claim ? -1 : a->claim > b->claim;
}

static void sort_set(struct attached_set *s)
{
	uint32_t n = 0;

	if (s->v.n > 1)
		qsort(s->v.v, s->v.n, sizeof(*s->v.v), compare);
	for (uint32_t i = 0; i < s->v.n; i++)
		if (n == 0 || compare(&s->v.v[n - 1], &s->v.v[i]) != 0)
			s->v.v[n++] = s->v.v[i];
	s->v.n = n;
}

static bool set_has(const struct attached_set *s, const struct attached *a)
{
	return s->v.n > 0 && bsearch(a, s->v.v, s->v.n, sizeof(*a), compare) != NULL;
}

/* ---- what a pod uses ---- */

static bool attached_of_class(const struct storage *s, const struct obj_pvc *claim, struct attached *ret)
{
	const struct obj_storage_class *class = storage_class(s, claim->class);

	if (class == NULL)
		return false;
	*ret = (struct attached){.driver = class->driver, .ns = claim->ns, .claim = claim->name};
	return true;
}

/* False: it does not count. */
static bool attached_of_claim(const struct storage *s, const struct obj_pvc *claim, struct attached *ret)
{
	const struct obj_pv *pv = storage_pv(s, claim->volume_name);

	if (pv == NULL)
		return attached_of_class(s, claim, ret) && ret->driver != NAME_NONE;
	*ret = (struct attached){.driver = pv->driver, .handle = pv->handle};
	return pv->driver != NAME_NONE && pv->handle != NAME_NONE;
}

static bool is_replaced(const struct pod_volume *v)
{
	return v->source >= VOLUME_EBS;
}

static bool attached_inline(const struct cede_cycle *c, const struct pod_volume *v, struct attached *ret)
{
	const char *driver = volume_sources[v->source].driver;

	*ret = (struct attached){.driver = names_find(c->names, driver, strlen(driver)), .handle = v->handle};
	return ret->driver != NAME_NONE && v->handle != NAME_NONE;
}

/* Adds what the pod uses. The trouble is that of a pod that waits; others leave out what is not there. */
static struct cede_verdict collect(const struct cede_cycle *c, const struct pod *p, struct attached_set *ret)
{
	const struct pod_volumes *v = volumes_of(p);

	for (uint32_t i = 0; v != NULL && i < v->n; i++) {
		const struct obj_pvc *claim;
		struct attached a;

		if (is_replaced(&v->v[i]) && attached_inline(c, &v->v[i], &a))
			array_push(&ret->v, a);
		if (!pod_volume_is_claim(&v->v[i]))
			continue;
		claim = volume_claim(c, p, &v->v[i]);
		if (claim == NULL && p == c->p)
			return cede_answer(CEDE_UNRESOLVABLE, LOOKING_UP, i);
		if (claim == NULL)
			continue;
		if (v->v[i].source == VOLUME_EPHEMERAL && !volume_is_owned(p, claim))
			return cede_answer(CEDE_ERROR, NOT_OWNED, i);
		if (attached_of_claim(volumes_storage(c), claim, &a))
			array_push(&ret->v, a);
	}
	return cede_ok();
}

static void collect_node(const struct cede_cycle *c, const struct ledger_node *n, struct attached_set *ret)
{
	ret->v.n = 0;
	ret->is_broken = false;
	for (uint32_t i = 0; i < n->pods.n; i++)
		ret->is_broken |= collect(c, ledger_pod(c->ledger, n->pods.v[i]), ret).code == CEDE_ERROR;
	sort_set(ret);
}

/* ---- what is kept ---- */

static bool memo_create(const struct cede_arg *args, size_t n_args, void **ret_self, char *why, size_t why_size)
{
	*ret_self = mem_alloc(sizeof(struct limits_memo));
	return true;
}

static void memo_forget(struct limits_memo *m)
{
	for (uint32_t i = 0; i < m->nodes.n; i++)
		array_free(&m->nodes.v[i].set.v);
	array_free(&m->nodes);
	m->ledger = NULL;
}

static void memo_destroy(void *self)
{
	memo_forget(self);
	mem_free(self);
}

static bool is_good(const struct kept_set *k, const struct cede_cycle *c, const struct ledger_node *n)
{
	return k->generation == n->generation && k->storage == storage_generation(volumes_storage(c));
}

static bool has_limits(const struct obj_csi_node *n)
{
	for (uint32_t i = 0; n != NULL && i < n->n_drivers; i++)
		if (n->drivers[i].has_count)
			return true;
	return false;
}

static void memo_refresh(struct limits_memo *m, const struct cede_cycle *c)
{
	if (m->ledger != c->ledger)
		memo_forget(m);
	m->ledger = c->ledger;
	while (m->nodes.n < ledger_node_limit(c->ledger))
		array_push(&m->nodes, ((struct kept_set){0}));
	for (uint32_t i = 0; m->nodes.v != NULL && i < c->n_nodes; i++) {
		const struct ledger_node *n = ledger_node(c->ledger, c->nodes[i]);
		struct kept_set *k = &m->nodes.v[c->nodes[i]];

		if (is_good(k, c, n) || !has_limits(storage_csi_node(volumes_storage(c), n->name)))
			continue;
		collect_node(c, n, &k->set);
		k->generation = n->generation;
		k->storage = storage_generation(volumes_storage(c));
	}
}

/* ---- a node ---- */

static uint32_t count_driver(const struct attached_set *s, name_id driver, const struct attached_set *but)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->v.n; i++)
		n += s->v.v[i].driver == driver && (but == NULL || !set_has(but, &s->v.v[i]));
	return n;
}

/* What is attached to the node, whoever uses it. */
static void collect_attachments(const struct cede_cycle *c, name_id node, struct attached_set *ret)
{
	const struct storage *s = volumes_storage(c);

	for (uint32_t i = storage_attachment_first(s, node); i != ID_NONE; i = storage_next(s, STORAGE_ATTACHMENT, i)) {
		const struct obj_attachment *o = storage_at(s, STORAGE_ATTACHMENT, i);
		const struct obj_pv *pv = storage_pv(s, o->volume);

		if (o->attacher != NAME_NONE && pv != NULL && pv->source == VOLUME_CSI)
			array_push(&ret->v, ((struct attached){.driver = o->attacher, .handle = pv->handle}));
	}
	sort_set(ret);
}

static bool is_over(const struct cede_cycle *c, const struct obj_csi_node *csi, const struct attached_set *wanted,
		    const struct attached_set *used)
{
	struct attached_set lingering = {0};
	bool is_too_many = false;

	collect_attachments(c, csi->name, &lingering);
	for (uint32_t i = 0; !is_too_many && i < csi->n_drivers; i++) {
		const struct csi_limit *l = &csi->drivers[i];
		uint32_t want = l->has_count ? count_driver(wanted, l->driver, used) : 0;

		if (want == 0)
			continue;
		is_too_many = (int64_t)count_driver(used, l->driver, NULL) + count_driver(&lingering, l->driver, used) +
				      want >
			      l->count;
	}
	array_free(&lingering.v);
	return is_too_many;
}

static struct cede_verdict judge(const struct limits_memo *m, const struct cede_cycle *c,
				 const struct attached_set *wanted, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	const struct obj_csi_node *csi = storage_csi_node(volumes_storage(c), n->name);
	const struct attached_set *used;
	struct attached_set fresh = {0};
	struct cede_verdict v = cede_ok();

	if (wanted->v.n == 0 || !has_limits(csi))
		return v;
	if (m != NULL && m->ledger == c->ledger && node < m->nodes.n && is_good(&m->nodes.v[node], c, n)) {
		used = &m->nodes.v[node].set;
	} else {
		collect_node(c, n, &fresh);
		used = &fresh;
	}
	if (used->is_broken)
		v = cede_answer(CEDE_ERROR, NOT_OWNED, UINT64_MAX);
	else if (is_over(c, csi, wanted, used))
		v = cede_answer(CEDE_UNSCHEDULABLE, TOO_MANY, 0);
	array_free(&fresh.v);
	return v;
}

/* ---- the points ---- */

static bool has_attachable(const struct pod_volumes *v)
{
	for (uint32_t i = 0; v != NULL && i < v->n; i++)
		if (pod_volume_is_claim(&v->v[i]) || is_replaced(&v->v[i]))
			return true;
	return false;
}

/* The array moves into the cycle's memory, which nobody has to free. */
static void keep_in_cycle(struct cede_cycle *c, struct attached_set *s)
{
	struct attached *v = cede_alloc(c, (s->v.n + 1) * sizeof(*v));
	uint32_t n = s->v.n;

	if (n > 0)
		memcpy(v, s->v.v, n * sizeof(*v));
	array_free(&s->v);
	s->v.v = v;
	s->v.n = n;
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct limits_state *s;

	if (!has_attachable(volumes_of(c->p)))
		return cede_answer(CEDE_SKIP, 0, 0);
	s = cede_alloc(c, sizeof(*s));
	s->trouble = collect(c, c->p, &s->wanted);
	sort_set(&s->wanted);
	keep_in_cycle(c, &s->wanted);
	cede_set_state(c, &node_volume_limits_plugin, s);
	if (self != NULL && s->wanted.v.n > 0)
		memo_refresh(self, c);
	return cede_ok();
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct limits_state *s = cede_get_state(c, &node_volume_limits_plugin);
	struct attached_set wanted = {0};
	struct cede_verdict v;

	if (s != NULL)
		return s->trouble.code == CEDE_SUCCESS ? judge(self, c, &s->wanted, node) : s->trouble;
	if (!has_attachable(volumes_of(c->p)))
		return cede_ok();
	v = collect(c, c->p, &wanted);
	sort_set(&wanted);
	if (v.code == CEDE_SUCCESS)
		v = judge(self, c, &wanted, node);
	array_free(&wanted.v);
	return v;
}

static bool reason_text(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out, size_t size)
{
	if (i > 0)
		return false;
	if (v.reason == LOOKING_UP)
		snprintf(out, size, "looking up PVC %s/%s: persistentvolumeclaim \"%s\" not found", volume_ns_text(c),
			 volume_id_text(c, v.detail), volume_id_text(c, v.detail));
	else if (v.reason == NOT_OWNED && v.detail == UINT64_MAX)
		snprintf(out, size, "node(s) have a pod with an ephemeral volume whose claim is another pod's");
	else if (v.reason == NOT_OWNED)
		claim_not_owned_text(c, v.detail, out, size);
	else
		snprintf(out, size, "node(s) exceed max volume count");
	return true;
}

const struct cede_plugin node_volume_limits_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "NodeVolumeLimits",
	.create = memo_create,
	.destroy = memo_destroy,
	.pre_filter = pre_filter,
	.filter = filter,
	.reason_text = reason_text,
};
