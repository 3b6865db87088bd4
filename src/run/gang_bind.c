/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scheduler_internal.h"

struct gang_bind *gang_bind_for(struct scheduler *s, pod_id pod)
{
	(void)s;
	(void)pod;
	return NULL;
}
void gang_bind_ended(struct scheduler *s, struct gang_bind *g, bool is_bound, const char *why)
{
	(void)s, (void)g, (void)is_bound, (void)why;
}
void gang_binds_free(struct scheduler *s)
{
	array_free(&s->gangs);
}
