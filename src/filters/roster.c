/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/roster.h"

static uint64_t labelset_key(const struct pod *p)
{
	return (uint64_t)p->labelset + 1;
}

static uint64_t terms_key(const struct ledger *l, const struct pod *p)
{
	return shape_has_terms(shape_get(ledger_vocab(l), p->shape)) ? map_key2(p->shape + 1, p->labelset) : 0;
}

void roster_add(struct roster *r, const struct ledger *l, pod_id pod)
{
	const struct pod *p = ledger_pod(l, pod);

	id_index_put(&r->by_labelset, pod, labelset_key(p));
	if (roster_pod_next(r, pod) == ID_NONE) /* else others of the label set have said so */
		id_index_put(&r->by_ns, p->labelset, (uint64_t)labelset_get(ledger_vocab(l), p->labelset)->ns + 1);
	id_index_put(&r->by_terms, pod, terms_key(l, p));
}

/* What is the same for all pods of a label set or a shape is found out once. */
struct filling {
	uint32_t *lists; /* of a label set, and one more; 0: not known */
	uint8_t *terms;	 /* of a shape: 0: not known, 1: none, 2: some */
};

static void fill_one(struct roster *r, const struct ledger *l, struct filling *f, pod_id pod, const struct pod *p)
{
	struct vocab *v = ledger_vocab(l);

	if (!f->lists[p->labelset]) {
		f->lists[p->labelset] = id_index_list(&r->by_labelset, labelset_key(p)) + 1;
		id_index_put(&r->by_ns, p->labelset, (uint64_t)labelset_get(v, p->labelset)->ns + 1);
	}
	id_index_put_new(&r->by_labelset, pod, f->lists[p->labelset] - 1);
	if (!f->terms[p->shape])
		f->terms[p->shape] = shape_has_terms(shape_get(v, p->shape)) ? 2 : 1;
	if (f->terms[p->shape] == 2)
		id_index_put(&r->by_terms, pod, terms_key(l, p));
}

void roster_fill(struct roster *r, const struct ledger *l)
{
	uint32_t n = ledger_pod_limit(l);
	const struct pod *pods = n ? ledger_pod(l, 0) : NULL;
	struct filling f = {.lists = mem_alloc((labelset_limit(ledger_vocab(l)) + 1) * sizeof(*f.lists)),
			    .terms = mem_alloc(shape_limit(ledger_vocab(l)) + 1)};

	id_index_expect(&r->by_labelset, n);
	for (pod_id pod = 0; pod < n; pod++)
		if (pods[pod].state == POD_PLACED || pods[pod].state == POD_LEAVING)
			fill_one(r, l, &f, pod, &pods[pod]);
	mem_free(f.lists);
	mem_free(f.terms);
}

void roster_remove(struct roster *r, const struct ledger *l, pod_id pod)
{
	const struct pod *p = ledger_pod(l, pod);

	id_index_put(&r->by_labelset, pod, 0);
	id_index_put(&r->by_terms, pod, 0);
	if (roster_pod_first(r, p->labelset) == ID_NONE)
		id_index_put(&r->by_ns, p->labelset, 0);
}

void roster_free(struct roster *r)
{
	id_index_free(&r->by_labelset);
	id_index_free(&r->by_ns);
	id_index_free(&r->by_terms);
}

struct roster_group roster_group_at(const struct roster *r, uint32_t i)
{
	const struct id_list *list = &r->by_terms.lists.v[i];

	return (struct roster_group){(shape_id)(list->key >> 32) - 1, (labelset_id)list->key, list->first};
}

/* 0: in none. */
static uint64_t key_of(const struct id_index *x, uint32_t id)
{
	return id < x->links.n && x->links.v[id].list != ID_NONE ? x->lists.v[x->links.v[id].list].key : 0;
}

enum err_code roster_check(const struct roster *r, const struct ledger *l, struct err *e)
{
	for (pod_id id = 0; id < ledger_pod_limit(l); id++) {
		const struct pod *p = ledger_pod(l, id);
		bool is_there = p->state == POD_PLACED || p->state == POD_LEAVING;

		if (key_of(&r->by_labelset, id) != (is_there ? labelset_key(p) : 0) ||
		    key_of(&r->by_terms, id) != (is_there ? terms_key(l, p) : 0))
			return err_fail(e, ERR_INTERNAL, "roster: pod %u is in the wrong list", id);
	}
	for (labelset_id k = 0; k < labelset_limit(ledger_vocab(l)); k++)
		if ((key_of(&r->by_ns, k) != 0) != (roster_pod_first(r, k) != ID_NONE))
			return err_fail(e, ERR_INTERNAL, "roster: label set %u is in the wrong list", k);
	return ERR_OK;
}
