/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/claim_users.h"

static void count(struct map *counts, uint64_t key, int by)
{
	uint32_t n = map_get(counts, key);

	n = (n == MAP_NONE ? 0 : n) + (uint32_t)by;
	if (n > 0)
		map_put(counts, key, n);
	else
		map_del(counts, key);
}

static void count_pod(struct map *counts, const struct ledger *l, pod_id pod, int by)
{
	const struct pod *p = ledger_pod(l, pod);
	const struct pod_volumes *v = p->obj->volumes;

	for (uint32_t i = 0; v != NULL && i < v->n; i++)
		if (v->v[i].source == VOLUME_CLAIM)
			count(counts, map_key2(labelset_get(ledger_vocab(l), p->labelset)->ns, v->v[i].id), by);
}

void claim_users_add(struct claim_users *u, const struct ledger *l, pod_id pod, node_id node)
{
	if (ledger_pod(l, pod)->has_volumes && bits_has(&u->live, node))
		count_pod(&u->counts, l, pod, 1);
}

void claim_users_remove(struct claim_users *u, const struct ledger *l, pod_id pod, node_id node)
{
	if (ledger_pod(l, pod)->has_volumes && bits_has(&u->live, node))
		count_pod(&u->counts, l, pod, -1);
}

void claim_users_node(struct claim_users *u, const struct ledger *l, node_id node)
{
	const struct ledger_node *n = ledger_node(l, node);

	if (n->is_live == bits_has(&u->live, node))
		return;
	for (uint32_t i = 0; i < n->pods.n; i++)
		count_pod(&u->counts, l, n->pods.v[i], n->is_live ? 1 : -1);
	if (n->is_live)
		bits_set(&u->live, node);
	else
		bits_clear(&u->live, node);
}

void claim_users_free(struct claim_users *u)
{
	map_free(&u->counts);
	bits_free(&u->live);
}

static enum err_code compare(const struct claim_users *u, const struct map *fresh, const struct ledger *l, pod_id pod,
			     struct err *e)
{
	const struct pod *p = ledger_pod(l, pod);
	const struct pod_volumes *v = p->obj->volumes;

	for (uint32_t i = 0; v != NULL && i < v->n; i++) {
		uint64_t key = map_key2(labelset_get(ledger_vocab(l), p->labelset)->ns, v->v[i].id);

		if (v->v[i].source == VOLUME_CLAIM && map_get(&u->counts, key) != map_get(fresh, key))
			return err_fail(e, ERR_INTERNAL, "claim users: %u kept, %u counted", map_get(&u->counts, key),
					map_get(fresh, key));
	}
	return ERR_OK;
}

enum err_code claim_users_check(const struct claim_users *u, const struct ledger *l, struct err *e)
{
	struct map fresh = {0};
	enum err_code rc = ERR_OK;

	for (node_id n = 0; n < ledger_node_limit(l); n++) {
		const struct ledger_node *node = ledger_node(l, n);

		if (node->is_live != bits_has(&u->live, n))
			rc = err_fail(e, ERR_INTERNAL, "claim users: node %u counts when it should not, or not", n);
		for (uint32_t i = 0; node->is_live && i < node->pods.n; i++)
			count_pod(&fresh, l, node->pods.v[i], 1);
	}
	for (pod_id i = 0; rc == ERR_OK && i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state != POD_FREE)
			rc = compare(u, &fresh, l, i, e);
	if (rc == ERR_OK && fresh.n != u->counts.n)
		rc = err_fail(e, ERR_INTERNAL, "claim users: %u claims kept, %u counted", u->counts.n, fresh.n);
	map_free(&fresh);
	return rc;
}
