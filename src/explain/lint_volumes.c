/* SPDX-License-Identifier: Apache-2.0 */
/* Claims that keep pods waiting whatever room there is: not there, of no class, never bound. */
#include "cluster/storage.h"
#include "explain/lint_internal.h"

static const char *claim_subject(const struct look_at *a, const struct obj_pvc *c)
{
	return arena_printf(a->out->arena, "claim %s/%s", name_str(a->names, c->ns), name_str(a->names, c->name));
}

/* ---- pods ---- */

static void check_volume(const struct look_at *a, const struct pod *p, const struct pod_volume *v)
{
	name_id ns = labelset_get(ledger_vocab(a->l), p->labelset)->ns;
	const struct obj_pvc *claim = storage_pvc(cluster_storage(a->cluster), ns, v->id);
	const char *subject =
		arena_printf(a->out->arena, "pod %s/%s", name_str(a->names, ns), name_str(a->names, p->name));

	if (claim == NULL && v->source == VOLUME_CLAIM)
		lint_add(a->out, LINT_WARNING, "no-claim", subject,
			 "its claim %s is not there: it waits until somebody makes it", name_str(a->names, v->id));
	else if (claim == NULL)
		lint_add(a->out, LINT_NOTE, "no-claim", subject, "the claim %s of its ephemeral volume is not made yet",
			 name_str(a->names, v->id));
	else if (v->source == VOLUME_EPHEMERAL && (!claim->has_owner || !uid_equal(claim->owner_uid, p->obj->uid)))
		lint_add(a->out, LINT_WARNING, "no-claim", subject,
			 "the claim %s of its ephemeral volume belongs to somebody else: it waits for ever",
			 name_str(a->names, v->id));
}

static void check_pod(const struct look_at *a, const struct pod *p)
{
	const struct pod_volumes *v = p->state == POD_WAITING ? p->obj->volumes : NULL;

	for (uint32_t i = 0; v != NULL && i < v->n; i++)
		if (pod_volume_is_claim(&v->v[i]))
			check_volume(a, p, &v->v[i]);
}

/* ---- claims ---- */

static void check_unbound(const struct look_at *a, const struct obj_pvc *c)
{
	const struct obj_storage_class *class = storage_class(cluster_storage(a->cluster), c->class);

	if (c->class != NAME_NONE && class == NULL)
		lint_add(a->out, LINT_WARNING, "no-class", claim_subject(a, c),
			 "its class %s is not there: nothing makes a volume for it, and pods that use it wait",
			 name_str(a->names, c->class));
	else if (class == NULL)
		lint_add(a->out, LINT_WARNING, "unbound-claim", claim_subject(a, c),
			 "it is not bound and has no class: pods that use it wait until it is bound by hand");
	else if (!class->waits)
		lint_add(a->out, LINT_WARNING, "unbound-claim", claim_subject(a, c),
			 "it is not bound, and its class %s binds at once and not when a pod comes "
			 "(volumeBindingMode Immediate): pods that use it wait until it is",
			 name_str(a->names, c->class));
}

static void check_claim(const struct look_at *a, const struct obj_pvc *c)
{
	if (c->volume_name == NAME_NONE)
		check_unbound(a, c);
	else if (storage_pv(cluster_storage(a->cluster), c->volume_name) == NULL)
		lint_add(a->out, LINT_WARNING, "no-volume", claim_subject(a, c),
			 "its volume %s is not there: pods that use it can run nowhere",
			 name_str(a->names, c->volume_name));
}

void lint_volumes(const struct look_at *a)
{
	const struct storage *s = cluster_storage(a->cluster);

	for (pod_id i = 0; i < ledger_pod_limit(a->l); i++)
		if (ledger_pod(a->l, i)->state != POD_FREE)
			check_pod(a, ledger_pod(a->l, i));
	for (uint32_t i = 0; i < storage_limit(s, STORAGE_PVC); i++)
		if (storage_at(s, STORAGE_PVC, i) != NULL)
			check_claim(a, storage_at(s, STORAGE_PVC, i));
}
