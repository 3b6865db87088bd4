/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeRestrictions: a claim that only one pod may use, and disks that only one pod may write to.
 *
 * ReadWriteOncePod is a number for the whole cluster: while somebody uses the claim no node will do. Taking pods away
 * helps, and the number follows: by the names of claims alone, as in Kubernetes, which does not compare namespaces
 * here. Disks named in pods (GCE, EBS, iSCSI, RBD) are compared with those of each pod on the node.
 *
 * One thing is cede's own: a pod that holds reserved room, which Kubernetes does not know, uses its claims already.
 */
#include <stdio.h>

#include "filters/claim_users.h"
#include "filters/volumes.h"

enum restrictions_reason { NOT_FOUND, DISK_CONFLICT, CLAIM_IN_USE };
static const char *const reasons[] = {
	[DISK_CONFLICT] = "node(s) had no available disk",
	[CLAIM_IN_USE] = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
			 "in-use by another pod",
};

struct restrictions {
	uint32_t n_alone;
	name_id *alone; /* claims of the pod that it may not share */
	int64_t n_used; /* how many of them somebody uses */
	bool has_disks;
};

static bool is_disk(const struct pod_volume *v)
{
	return v->source == VOLUME_GCE || v->source == VOLUME_EBS || v->source == VOLUME_ISCSI ||
	       v->source == VOLUME_RBD;
}

static bool has_name(const struct restrictions *s, name_id claim)
{
	for (uint32_t i = 0; i < s->n_alone; i++)
		if (s->alone[i] == claim)
			return true;
	return false;
}

/* ---- counting ---- */

static int64_t uses(const struct restrictions *s, const struct pod_volumes *v)
{
	int64_t n = 0;

	for (uint32_t i = 0; v != NULL && i < v->n; i++)
		n += v->v[i].source == VOLUME_CLAIM && has_name(s, v->v[i].id);
	return n;
}

static void count_users(const struct cede_cycle *c, struct restrictions *s)
{
	const struct claim_users *u = framework_claim_users(c->framework);

	for (uint32_t i = 0; i < s->n_alone; i++)
		s->n_used += claim_users_count(u, c->labelset->ns, s->alone[i]) > 0;
	for (pod_id q = ledger_next_wary(c->ledger, 0); s->n_alone > 0 && q != POD_NONE;
	     q = ledger_next_wary(c->ledger, q + 1)) {
		const struct pod *p = ledger_pod(c->ledger, q);

		if (q != c->pod && labelset_get(c->vocab, p->labelset)->ns == c->labelset->ns)
			s->n_used += uses(s, volumes_of(p));
	}
}

/* Fills s; false: a claim is not there, whose index is in *ret_missing. */
static bool read_volumes(const struct cede_cycle *c, struct restrictions *s, name_id *alone, uint32_t *ret_missing)
{
	const struct pod_volumes *v = volumes_of(c->p);

	*s = (struct restrictions){.alone = alone};
	for (uint32_t i = 0; i < v->n; i++) {
		const struct obj_pvc *claim;

		s->has_disks |= is_disk(&v->v[i]);
		if (v->v[i].source != VOLUME_CLAIM)
			continue;
		claim = volume_claim(c, c->p, &v->v[i]);
		*ret_missing = i;
		if (claim == NULL)
			return false;
		if ((claim->modes & ACCESS_RWOP) && !has_name(s, v->v[i].id))
			alone[s->n_alone++] = v->v[i].id;
	}
	count_users(c, s);
	return true;
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	const struct pod_volumes *v = volumes_of(c->p);
	struct restrictions *s;
	uint32_t missing;

	if (v == NULL)
		return cede_answer(CEDE_SKIP, 0, 0);
	s = cede_alloc(c, sizeof(*s));
	if (!read_volumes(c, s, cede_alloc(c, v->n * sizeof(name_id)), &missing))
		return cede_answer(CEDE_UNRESOLVABLE, NOT_FOUND, missing);
	if (s->n_used == 0 && !s->has_disks)
		return cede_answer(CEDE_SKIP, 0, 0);
	cede_set_state(c, &volume_restrictions_plugin, s);
	return cede_ok();
}

static void add_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	struct restrictions *s = cede_get_state(c, &volume_restrictions_plugin);

	if (s != NULL)
		s->n_used += uses(s, volumes_of(ledger_pod(c->ledger, pod)));
}

static void remove_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	struct restrictions *s = cede_get_state(c, &volume_restrictions_plugin);

	if (s != NULL)
		s->n_used -= uses(s, volumes_of(ledger_pod(c->ledger, pod)));
}

/* ---- disks ---- */

static bool share_monitor(const struct pod_volumes *a, const struct pod_volume *x, const struct pod_volumes *b,
			  const struct pod_volume *y)
{
	for (uint32_t i = 0; i < x->n_monitors; i++)
		for (uint32_t k = 0; k < y->n_monitors; k++)
			if (a->monitors[x->first_monitor + i] == b->monitors[y->first_monitor + k])
				return true;
	return false;
}

/* Readers do not mind each other, but for EBS, which is attached to one at a time. */
static bool disks_clash(const struct pod_volumes *a, const struct pod_volume *x, const struct pod_volumes *b,
			const struct pod_volume *y)
{
	if (x->source != y->source || x->id != y->id || !is_disk(x))
		return false;
	if (x->source == VOLUME_EBS)
		return true;
	if (x->is_read_only && y->is_read_only)
		return false;
	return x->source != VOLUME_RBD || (x->pool == y->pool && share_monitor(a, x, b, y));
}

bool volumes_clash(const struct pod_volumes *a, const struct pod_volumes *b)
{
	for (uint32_t i = 0; a != NULL && b != NULL && i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (disks_clash(a, &a->v[i], b, &b->v[k]))
				return true;
	return false;
}

static struct cede_verdict judge(const struct cede_cycle *c, const struct restrictions *s, node_id node)
{
	const pod_list *pods = &ledger_node(c->ledger, node)->pods;

	for (uint32_t i = 0; s->has_disks && i < pods->n; i++)
		if (volumes_clash(volumes_of(c->p), volumes_of(ledger_pod(c->ledger, pods->v[i]))))
			return cede_answer(CEDE_UNSCHEDULABLE, DISK_CONFLICT, 0);
	if (s->n_used > 0)
		return cede_answer(CEDE_UNSCHEDULABLE, CLAIM_IN_USE, 0);
	return cede_ok();
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct restrictions *s = cede_get_state(c, &volume_restrictions_plugin);
	struct cede_verdict v = cede_ok();
	struct restrictions fresh;
	uint32_t missing;
	name_id *alone;

	if (s != NULL)
		return judge(c, s, node);
	if (volumes_of(c->p) == NULL)
		return cede_ok();
	alone = mem_alloc(volumes_of(c->p)->n * sizeof(*alone));
	if (read_volumes(c, &fresh, alone, &missing))
		v = judge(c, &fresh, node);
	mem_free(alone);
	return v;
}

static bool reason_text(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out, size_t size)
{
	if (i > 0 || v.reason >= sizeof(reasons) / sizeof(*reasons))
		return false;
	if (v.reason == NOT_FOUND)
		claim_not_found_text(c, v.detail, out, size);
	else
		snprintf(out, size, "%s", reasons[v.reason]);
	return true;
}

const struct cede_plugin volume_restrictions_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "VolumeRestrictions",
	.pre_filter = pre_filter,
	.add_pod = add_pod,
	.remove_pod = remove_pod,
	.filter = filter,
	.reason_text = reason_text,
};
