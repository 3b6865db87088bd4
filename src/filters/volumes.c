/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/volumes.h"

#include <stdio.h>

const struct obj_pvc *volume_claim(const struct cede_cycle *c, const struct pod *p, const struct pod_volume *v)
{
	return storage_pvc(volumes_storage(c), labelset_get(c->vocab, p->labelset)->ns, v->id);
}

bool volume_is_owned(const struct pod *p, const struct obj_pvc *claim)
{
	return claim->has_owner && uid_equal(claim->owner_uid, p->obj->uid);
}

const char *volume_id_text(const struct cede_cycle *c, uint64_t at)
{
	const struct pod_volumes *v = volumes_of(c->p);

	return v != NULL && at < v->n ? name_str(c->names, v->v[at].id) : "";
}

const char *volume_ns_text(const struct cede_cycle *c)
{
	return name_str(c->names, c->labelset->ns);
}

const char *volume_pod_text(const struct cede_cycle *c)
{
	return name_str(c->names, c->p->name);
}

void claim_not_found_text(const struct cede_cycle *c, uint64_t at, char *out, size_t size)
{
	snprintf(out, size, "persistentvolumeclaim \"%s\" not found", volume_id_text(c, at));
}

void claim_not_owned_text(const struct cede_cycle *c, uint64_t at, char *out, size_t size)
{
	snprintf(out, size, "PVC %s/%s was not created for pod %s/%s (pod is not owner)", volume_ns_text(c),
		 volume_id_text(c, at), volume_ns_text(c), volume_pod_text(c));
}
