/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same pass with everybody who waits: what it makes of the cluster must be what the pass made of it that left out
 * those who sleep. Every moment is judged by itself, so that the first wrong one is found where it is.
 */
#include "sim/sim_shadow.h"
#include "sim/sim_asleep.h"

static struct shadow_pod pod_now(const struct pod *p)
{
	bool has_node = p->state == POD_PLACED || p->state == POD_LEAVING || p->nomination != NOMINATION_NONE;

	return (struct shadow_pod){p->state, p->nomination, has_node ? p->node : NODE_NONE};
}

void shadow_take(const struct sim *s, struct shadow *ret)
{
	ret->pods.n = 0;
	for (pod_id i = 0; i < ledger_pod_limit(s->ledger); i++)
		array_push(&ret->pods, pod_now(ledger_pod(s->ledger, i)));
}

static void say(const struct shadow_pod *p, struct text *out)
{
	static const char *const states[] = {[POD_WAITING] = "waits", [POD_PLACED] = "runs", [POD_LEAVING] = "leaves"};
	const char *state = p->state < sizeof(states) / sizeof(*states) ? states[p->state] : NULL;

	text_add(out, state ? state : "is nothing");
	if (p->node != NODE_NONE)
		text_printf(out, " on node %u%s", p->node, p->nomination != NOMINATION_NONE ? " in the end" : "");
}

enum err_code shadow_compare(const struct sim *s, const struct shadow *x, struct err *e)
{
	for (pod_id i = 0; i < x->pods.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, i);
		struct shadow_pod now = pod_now(p);
		const struct shadow_pod *then = &x->pods.v[i];
		struct text a = {0}, b = {0};

		if (now.state == then->state && now.nomination == then->nomination && now.node == then->node)
			continue;
		say(&now, &a);
		say(then, &b);
		err_fail(e, ERR_INTERNAL, "at %lld pod %s %s, and %s if everybody is asked",
			 (long long)time_since(s->now_ns, s->o.from_ns), name_str(s->names, p->name), text_str(&a),
			 text_str(&b));
		text_free(&a);
		text_free(&b);
		return ERR_INTERNAL;
	}
	return ERR_OK;
}
