/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeBinding: can the pod's claims have their volumes on this node?
 *
 * A bound claim's volume must be there and reach the node. A claim that waits for its first consumer gets the smallest
 * free volume that reaches the node and is enough, or one is made for it there, if its class can and the storage has
 * room. Anything else that is not bound keeps the pod from every node.
 *
 * Which volumes a class has for whom is sorted once (storage_pool); a claim marks those it could use when the cycle
 * begins, and a node is asked for the first marked one of its own label. Other pods do not matter, so nothing has to
 * follow moves; but what was decided for others meanwhile does (ledger_assume), and is looked up when a volume is about
 * to be taken. Reserve writes down what was found: VO-2.
 */
#include <stdio.h>

#include "filters/volumes.h"

enum binding_reason { NOT_MADE, LOST, BEING_DELETED, NOT_OWNED, UNBOUND_IMMEDIATE, NODE };
/* Of NODE, as bits of the detail, in the order they are told. */
enum { NODE_CONFLICT = 1, BIND_CONFLICT = 2, NO_SPACE = 4, NO_VOLUME = 8 };
static const struct {
	unsigned bit;
	const char *text;
} node_reasons[] = {
	{NODE_CONFLICT, "node(s) didn't match PersistentVolume's node affinity"},
	{BIND_CONFLICT, "node(s) didn't find available persistent volumes to bind"},
	{NO_SPACE, "node(s) did not have enough free storage"},
	{NO_VOLUME, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
};

struct delayed { /* a claim that waits for its first consumer */
	uint32_t at;
	const struct obj_pvc *claim;
	const struct obj_storage_class *class;
	const struct pv_pool *pool;
	uint64_t *marks;  /* of the pool, a bit each: it could use this volume, and nobody else has it */
	bool tells_space; /* the driver of its class tells how much room there is */
};

struct binding {
	uint32_t n_bound, n_delayed;
	const struct obj_pv **bound; /* NULL: gone */
	struct delayed *delayed;     /* in the order of the pod's volumes */
	struct delayed **by_size;    /* those with the smallest request first */
};

/* ---- what a claim could use ---- */

static bool is_enough(const struct obj_pv *v, const struct obj_pvc *c)
{
	return (!c->has_request || quantity_cmp(&v->capacity, &c->request) >= 0) && v->is_block == c->is_block &&
	       v->attributes_class == c->attributes_class && v->deleted_ns == TIME_NONE;
}

static bool is_suitable(const struct cede_cycle *c, const struct obj_pv *v, const struct obj_pvc *claim)
{
	return is_enough(v, claim) && (claim->modes & ~v->modes) == 0 &&
	       (!claim->has_selector ||
		selector_matches(c->names, &claim->selector, &labelset_get(c->vocab, v->labelset)->labels));
}

static bool is_of(const struct assumption *a, const struct obj_pvc *claim)
{
	return a->ns == claim->ns && a->claim == claim->name;
}

/* Decided for another claim. */
static bool is_taken(const struct cede_cycle *c, const struct obj_pv *v, const struct obj_pvc *claim)
{
	const struct assumption *a = ledger_volume_assumed(c->ledger, v->name);

	return a != NULL && !is_of(a, claim);
}

static void mark_volumes(const struct cede_cycle *c, struct arena *a, struct delayed *d)
{
	d->pool = storage_pool(volumes_storage(c), d->claim->class);
	d->marks = arena_n(a, d->pool->n / 64 + 1, uint64_t);
	for (uint32_t i = 0; i < d->pool->n; i++)
		if (is_suitable(c, d->pool->v[i], d->claim) && !is_taken(c, d->pool->v[i], d->claim))
			d->marks[i / 64] |= UINT64_C(1) << (i % 64);
}

static void prepare(const struct cede_cycle *c, struct arena *a, struct delayed *d)
{
	const struct obj_csi_driver *csi = storage_csi_driver(volumes_storage(c), d->class->provisioner);

	mark_volumes(c, a, d);
	d->tells_space = csi != NULL && csi->has_capacity;
}

/* Of equal requests the one that the pod names first. */
static void sort_by_size(struct binding *b)
{
	for (uint32_t i = 0; i < b->n_delayed; i++) {
		struct delayed *d = &b->delayed[i];
		uint32_t k = i;

		for (; k > 0 && quantity_cmp(&b->by_size[k - 1]->claim->request, &d->claim->request) > 0; k--)
			b->by_size[k] = b->by_size[k - 1];
		b->by_size[k] = d;
	}
}

/* ---- before any node ---- */

static struct cede_verdict check_claim(const struct cede_cycle *c, uint32_t at, const struct obj_pvc *claim)
{
	if (claim == NULL)
		return cede_answer(CEDE_UNRESOLVABLE, NOT_MADE, at);
	if (claim->is_lost)
		return cede_answer(CEDE_UNRESOLVABLE, LOST, at);
	if (claim->deleted_ns != TIME_NONE)
		return cede_answer(CEDE_UNRESOLVABLE, BEING_DELETED, at);
	if (volumes_of(c->p)->v[at].source == VOLUME_EPHEMERAL && !volume_is_owned(c->p, claim))
		return cede_answer(CEDE_UNRESOLVABLE, NOT_OWNED, at);
	return cede_ok();
}

/* Into those that are bound and those that are delayed. False: it should be bound by now. */
static bool sort_claim(const struct cede_cycle *c, struct binding *b, uint32_t at, const struct obj_pvc *claim)
{
	const struct obj_storage_class *class = storage_class(volumes_storage(c), claim->class);

	if (pvc_is_bound(claim)) {
		b->bound[b->n_bound++] = storage_pv(volumes_storage(c), claim->volume_name);
		return true;
	}
	if (class == NULL || !class->waits || claim->volume_name != NAME_NONE)
		return false;
	b->delayed[b->n_delayed++] = (struct delayed){.at = at, .claim = claim, .class = class};
	return true;
}

static struct cede_verdict sort_claims(const struct cede_cycle *c, struct binding *b)
{
	const struct pod_volumes *v = volumes_of(c->p);
	bool has_claims = false, is_ready = true;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct obj_pvc *claim;
		struct cede_verdict answer;

		if (!pod_volume_is_claim(&v->v[i]))
			continue;
		claim = volume_claim(c, c->p, &v->v[i]);
		answer = check_claim(c, i, claim);
		if (answer.code != CEDE_SUCCESS)
			return answer;
		has_claims = true;
	}
	for (uint32_t i = 0; has_claims && i < v->n; i++)
		if (pod_volume_is_claim(&v->v[i]))
			is_ready &= sort_claim(c, b, i, volume_claim(c, c->p, &v->v[i]));
	if (!is_ready)
		return cede_answer(CEDE_UNRESOLVABLE, UNBOUND_IMMEDIATE, 0);
	return has_claims ? cede_ok() : cede_answer(CEDE_SKIP, 0, 0);
}

static struct cede_verdict make_binding(const struct cede_cycle *c, struct arena *a, struct binding *b)
{
	const struct pod_volumes *v = volumes_of(c->p);
	struct cede_verdict answer;

	*b = (struct binding){.bound = arena_n(a, v->n, const struct obj_pv *),
			      .delayed = arena_n(a, v->n, struct delayed),
			      .by_size = arena_n(a, v->n, struct delayed *)};
	answer = sort_claims(c, b);
	for (uint32_t i = 0; answer.code == CEDE_SUCCESS && i < b->n_delayed; i++)
		prepare(c, a, &b->delayed[i]);
	sort_by_size(b);
	return answer;
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct cede_verdict answer;
	struct binding *b;

	if (volumes_of(c->p) == NULL)
		return cede_answer(CEDE_SKIP, 0, 0);
	b = cede_alloc(c, sizeof(*b));
	answer = make_binding(c, c->arena, b);
	if (answer.code == CEDE_SUCCESS)
		cede_set_state(c, &volume_binding_plugin, b);
	return answer;
}

/* ---- on a node ---- */

struct volume_choice { /* for one claim */
	const struct obj_pvc *claim;
	const struct obj_pv *volume; /* NULL: to be provisioned */
};

enum { FEW = 16 }; /* claims, for which nothing is allocated */

struct volume_trial { /* of one node */
	const struct cede_cycle *c;
	const struct labels *labels;
	const struct obj_csi_node *csi;
	name_id name;
	uint32_t n;
	struct volume_choice *v;
	uint32_t n_left;
	const struct delayed **left; /* to be provisioned */
	struct volume_choice few[FEW];
	const struct delayed *few_left[FEW];
};

static void trial_begin(struct volume_trial *t, const struct cede_cycle *c, const struct binding *b, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);

	t->c = c;
	t->labels = &labelset_get(c->vocab, n->obj->labelset)->labels;
	t->csi = storage_csi_node(volumes_storage(c), n->name);
	t->name = n->name;
	t->n = t->n_left = 0;
	t->v = b->n_delayed <= FEW ? t->few : mem_alloc(b->n_delayed * sizeof(*t->v));
	t->left = b->n_delayed <= FEW ? t->few_left : mem_alloc(b->n_delayed * sizeof(*t->left));
}

static void trial_end(struct volume_trial *t)
{
	if (t->v == t->few)
		return;
	mem_free(t->v);
	mem_free(t->left);
}

/* A plugin that the node's driver replaced has the driver's labels in its affinity. */
static bool bound_reaches(const struct volume_trial *t, const struct obj_pv *v)
{
	if (v->has_translated && t->csi != NULL && (t->csi->migrated >> v->source & 1))
		return pv_terms_match(t->c->names, &v->translated, t->labels);
	return pv_reaches(t->c->names, v, t->labels);
}

static bool is_chosen(const struct volume_trial *t, const struct obj_pv *v)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->v[i].volume == v)
			return true;
	return false;
}

/* Of several the smallest, then by name. */
static const struct obj_pv *kept_volume(const struct volume_trial *t, const struct delayed *d)
{
	const struct storage *s = volumes_storage(t->c);
	const struct obj_pv *kept = NULL;

	for (uint32_t i = storage_kept_first(s, d->claim->ns, d->claim->name); i != ID_NONE;
	     i = storage_next(s, STORAGE_PV, i)) {
		const struct obj_pv *v = storage_at(s, STORAGE_PV, i);
		int cmp = kept == NULL ? -1 : quantity_cmp(&v->capacity, &kept->capacity);

		if (v->class != d->claim->class || !pv_is_kept_for(v, d->claim) || !is_enough(v, d->claim) ||
		    is_chosen(t, v))
			continue;
		if (cmp < 0 || (cmp == 0 && name_cmp(t->c->names, v->name, kept->name) < 0))
			kept = v;
	}
	return kept;
}

/* Where it was decided for this claim already, it is as if the objects said it. NULL: it was not. */
static const struct obj_pv *assumed_volume(const struct volume_trial *t, const struct delayed *d)
{
	const struct assumption *a;

	for (uint32_t i = 0; (a = ledger_claim_assumed(t->c->ledger, d->claim->ns, d->claim->name, i)) != NULL; i++) {
		const struct obj_pv *v = storage_pv(volumes_storage(t->c), a->volume);

		if (v != NULL && !is_chosen(t, v))
			return v;
	}
	return NULL;
}

static bool can_take(const struct volume_trial *t, const struct delayed *d, uint32_t i)
{
	const struct obj_pv *v = d->pool->v[i];

	return (d->marks[i / 64] >> (i % 64) & 1) && !is_chosen(t, v) && !is_taken(t->c, v, d->claim);
}

/* The first of these that it can take, if it is before best. */
static uint32_t first_of(const struct volume_trial *t, const struct delayed *d, const uint32_t *list, uint32_t n,
			 uint32_t best, bool must_ask)
{
	for (uint32_t k = 0; k < n && list[k] < best; k++)
		if (can_take(t, d, list[k]) && (!must_ask || pv_reaches(t->c->names, d->pool->v[list[k]], t->labels)))
			return list[k];
	return best;
}

static const struct obj_pv *smallest(const struct volume_trial *t, const struct delayed *d)
{
	const struct pv_pool *p = d->pool;
	uint32_t best = first_of(t, d, p->anywhere, p->n_anywhere, p->n, false);

	for (uint32_t i = 0; i < p->n_keys; i++) {
		name_id value;
		uint32_t n = 0;
		const uint32_t *list =
			labels_get(t->labels, p->keys[i], &value) ? pv_pool_domain(p, p->keys[i], value, &n) : NULL;

		best = first_of(t, d, list, n, best, false);
	}
	best = first_of(t, d, p->other, p->n_other, best, true);
	return best < p->n ? p->v[best] : NULL;
}

/* One that is kept for the claim is the only one it can have. */
static const struct obj_pv *find_volume(const struct volume_trial *t, const struct delayed *d)
{
	const struct obj_pv *kept = kept_volume(t, d);

	if (kept == NULL)
		kept = assumed_volume(t, d);
	if (kept != NULL)
		return pv_reaches(t->c->names, kept, t->labels) ? kept : NULL;
	return smallest(t, d);
}

/* True: it is being provisioned, for a node that *ret names. */
static bool selected_node(const struct cede_cycle *c, const struct obj_pvc *claim, name_id *ret)
{
	const struct assumption *a;

	*ret = claim->selected_node;
	if (claim->has_selected_node)
		return true;
	for (uint32_t i = 0; (a = ledger_claim_assumed(c->ledger, claim->ns, claim->name, i)) != NULL; i++) {
		*ret = a->node;
		if (a->volume == NAME_NONE)
			return true;
	}
	return false;
}

/* Does some of the storage that the driver told of have room for the claim, and reach the node? */
static bool has_space(const struct volume_trial *t, const struct delayed *d)
{
	const struct storage *s = volumes_storage(t->c);

	if (!d->tells_space || !d->claim->has_request)
		return true;
	for (uint32_t i = storage_capacity_first(s, d->class->name); i != ID_NONE;
	     i = storage_next(s, STORAGE_CSI_CAPACITY, i)) {
		const struct obj_csi_capacity *o = storage_at(s, STORAGE_CSI_CAPACITY, i);
		const struct quantity *limit = o->has_maximum ? &o->maximum : o->has_capacity ? &o->capacity : NULL;

		if (limit != NULL && quantity_value(limit) >= quantity_value(&d->claim->request) &&
		    selector_matches(t->c->names, &o->topology, t->labels))
			return true;
	}
	return false;
}

static bool makes_volumes(const struct cede_cycle *c, const struct obj_storage_class *class)
{
	const char *provisioner = name_str(c->names, class->provisioner);

	return *provisioner != '\0' && !str_eq(provisioner, NO_PROVISIONER);
}

/* 0, or why no volume can be made for it here. */
static unsigned provision(struct volume_trial *t, const struct delayed *d)
{
	const struct node_terms *allowed = &d->class->topologies;

	if (!makes_volumes(t->c, d->class) ||
	    (allowed->n > 0 && !node_terms_match(t->c->names, allowed, t->labels, NAME_NONE)))
		return BIND_CONFLICT;
	if (!has_space(t, d))
		return NO_SPACE;
	t->v[t->n++] = (struct volume_choice){.claim = d->claim};
	return 0;
}

static unsigned try_bound(const struct volume_trial *t, const struct binding *b)
{
	for (uint32_t i = 0; i < b->n_bound; i++) {
		if (b->bound[i] == NULL)
			return NO_VOLUME;
		if (!bound_reaches(t, b->bound[i]))
			return NODE_CONFLICT;
	}
	return 0;
}

/*
 * Those that are being provisioned already, here or elsewhere; then volumes for the others, the smallest first; and
 * last volumes to be made, for all that are left.
 */
static unsigned try_delayed(struct volume_trial *t, const struct binding *b)
{
	unsigned why = 0;
	name_id node;

	for (uint32_t i = 0; i < b->n_delayed; i++) {
		if (!selected_node(t->c, b->delayed[i].claim, &node))
			continue;
		if (node != t->name)
			return BIND_CONFLICT;
		t->left[t->n_left++] = &b->delayed[i];
	}
	for (uint32_t i = 0; i < b->n_delayed; i++) {
		const struct obj_pv *v;

		if (selected_node(t->c, b->by_size[i]->claim, &node))
			continue;
		v = find_volume(t, b->by_size[i]);
		if (v != NULL)
			t->v[t->n++] = (struct volume_choice){b->by_size[i]->claim, v};
		else
			t->left[t->n_left++] = b->by_size[i];
	}
	for (uint32_t i = 0; why == 0 && i < t->n_left; i++)
		why = provision(t, t->left[i]);
	return why;
}

static struct cede_verdict judge(const struct cede_cycle *c, const struct binding *b, node_id node)
{
	struct volume_trial t;
	unsigned why;

	trial_begin(&t, c, b, node);
	why = try_bound(&t, b) | try_delayed(&t, b);
	trial_end(&t);
	return why == 0 ? cede_ok() : cede_answer(CEDE_UNRESOLVABLE, NODE, why);
}

/* The state of the cycle; where pre_filter did not run, made in *tmp, which is then an arena to be freed. */
static struct cede_verdict find_binding(const struct cede_cycle *c, struct arena **tmp, struct binding *fresh,
					const struct binding **ret)
{
	struct cede_verdict v;

	*tmp = NULL;
	*ret = cede_get_state(c, &volume_binding_plugin);
	if (*ret != NULL)
		return cede_ok();
	if (volumes_of(c->p) == NULL)
		return cede_answer(CEDE_SKIP, 0, 0);
	*tmp = arena_new(1 << 12);
	v = make_binding(c, *tmp, fresh);
	*ret = fresh;
	return v;
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct binding *b;
	struct binding fresh;
	struct arena *tmp;
	struct cede_verdict v = find_binding(c, &tmp, &fresh, &b);

	if (v.code == CEDE_SUCCESS)
		v = judge(c, b, node);
	else if (v.code == CEDE_SKIP)
		v = cede_ok();
	arena_free(tmp);
	return v;
}

/* ---- what is decided ---- */

static void write_down(const struct volume_trial *t)
{
	struct ledger *l = t->c->ledger;

	ledger_unassume(l, t->c->pod);
	for (uint32_t i = 0; i < t->n; i++) {
		struct assumption a = {.pod = t->c->pod,
				       .ns = t->v[i].claim->ns,
				       .claim = t->v[i].claim->name,
				       .volume = t->v[i].volume != NULL ? t->v[i].volume->name : NAME_NONE,
				       .node = t->name};

		ledger_assume(l, &a);
	}
}

static struct cede_verdict reserve(void *self, struct cede_cycle *c, cede_node node)
{
	const struct binding *b;
	struct binding fresh;
	struct arena *tmp;
	struct cede_verdict v = find_binding(c, &tmp, &fresh, &b);
	struct volume_trial t;

	if (v.code == CEDE_SUCCESS && b->n_delayed > 0) {
		trial_begin(&t, c, b, node);
		try_delayed(&t, b);
		write_down(&t);
		trial_end(&t);
	}
	arena_free(tmp);
	return cede_ok();
}

static void unreserve(void *self, struct cede_cycle *c, cede_node node)
{
	ledger_unassume(c->ledger, c->pod);
}

void volumes_assume(struct cede_cycle *c, node_id node)
{
	uint32_t i;

	if (volumes_of(c->p) == NULL)
		return;
	i = framework_plugin_find(c->framework, volume_binding_plugin.name);
	if (i != UINT32_MAX && (framework_plugin(c->framework, i)->points >> POINT_RESERVE & 1))
		reserve(NULL, c, node);
}

/* ---- words ---- */

static bool node_reason(unsigned bits, size_t i, char *out, size_t size)
{
	for (size_t k = 0; k < sizeof(node_reasons) / sizeof(*node_reasons); k++) {
		if (!(bits & node_reasons[k].bit) || i-- > 0)
			continue;
		snprintf(out, size, "%s", node_reasons[k].text);
		return true;
	}
	return false;
}

static void lost_text(const struct cede_cycle *c, uint64_t at, char *out, size_t size)
{
	const struct pod_volumes *v = volumes_of(c->p);
	const struct obj_pvc *claim = v != NULL && at < v->n ? volume_claim(c, c->p, &v->v[at]) : NULL;

	snprintf(out, size, "persistentvolumeclaim \"%s\" bound to non-existent persistentvolume \"%s\"",
		 volume_id_text(c, at), name_str(c->names, claim != NULL ? claim->volume_name : NAME_NONE));
}

static bool reason_text(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out, size_t size)
{
	if (v.reason == NODE)
		return node_reason((unsigned)v.detail, i, out, size);
	if (i > 0)
		return false;
	if (v.reason == NOT_MADE)
		snprintf(out, size,
			 "waiting for ephemeral volume controller to create the persistentvolumeclaim \"%s\"",
			 volume_id_text(c, v.detail));
	else if (v.reason == LOST)
		lost_text(c, v.detail, out, size);
	else if (v.reason == BEING_DELETED)
		snprintf(out, size, "persistentvolumeclaim \"%s\" is being deleted", volume_id_text(c, v.detail));
	else if (v.reason == NOT_OWNED)
		claim_not_owned_text(c, v.detail, out, size);
	else
		snprintf(out, size, "pod has unbound immediate PersistentVolumeClaims");
	return true;
}

const struct cede_plugin volume_binding_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "VolumeBinding",
	.pre_filter = pre_filter,
	.filter = filter,
	.reserve = reserve,
	.unreserve = unreserve,
	.reason_text = reason_text,
};
