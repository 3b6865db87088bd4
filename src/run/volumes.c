/* SPDX-License-Identifier: Apache-2.0 */
#include "run/volumes.h"

bool volumes_begin(struct scheduler *s, struct task *t)
{
	(void)s;
	(void)t;
	return false;
}
void volumes_step(struct scheduler *s, struct task *t)
{
	bind_send(s, t);
}
void volumes_answer(struct scheduler *s, struct task *t, const struct kube_news *n)
{
	(void)s;
	(void)t;
	(void)n;
}
void volumes_changed(struct scheduler *s)
{
	(void)s;
}
void volume_writes_free(struct scheduler *s, struct task *t)
{
	(void)s;
	array_free(&t->volumes);
}
