/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/inter_pod_affinity.h"

/* ---- does a term mean a pod? ---- */

static bool has_key(const struct selector *s, name_id key)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->reqs[i].key == key)
			return true;
	return false;
}

/*
 * matchLabelKeys and mismatchLabelKeys: the same (another) value of the label as the owner has. The API server writes
 * them into the selector, where the key cannot be otherwise, so a selector that has the key is one it has been through.
 */
static bool keys_agree(const struct pod_term *t, const struct labels *owner, const struct labels *other,
		       bool is_mismatch)
{
	uint32_t n = is_mismatch ? t->n_mismatch_keys : t->n_match_keys;
	const name_id *keys = is_mismatch ? t->mismatch_keys : t->match_keys;

	for (uint32_t i = 0; i < n; i++) {
		name_id mine, its;

		if (!labels_get(owner, keys[i], &mine) || has_key(&t->selector, keys[i]))
			continue;
		if ((labels_get(other, keys[i], &its) && its == mine) == is_mismatch)
			return false;
	}
	return true;
}

static bool labels_agree(const struct cede_cycle *c, const struct pod_term *t, const struct labels *owner,
			 const struct labels *other)
{
	return selector_matches(c->names, &t->selector, other) && keys_agree(t, owner, other, false) &&
	       keys_agree(t, owner, other, true);
}

static bool is_about_named(const struct pod_term *t, name_id owner_ns, name_id ns)
{
	if (!t->n_namespaces && !t->has_ns_selector)
		return ns == owner_ns;
	for (uint32_t i = 0; i < t->n_namespaces; i++)
		if (t->namespaces[i] == ns)
			return true;
	return false;
}

/*
 * The API server labels every namespace with its name. So a namespace that nobody has told of, or that was written
 * without that label, has it all the same.
 */
static bool namespace_matches(const struct cede_cycle *c, const struct selector *s, name_id ns)
{
	static const char name_key[] = "kubernetes.io/metadata.name";
	static const struct labels none;
	const struct obj_namespace *o = cluster_namespace(c->cluster, ns);
	const struct labels *own = o ? &labelset_get(c->vocab, o->labelset)->labels : &none;
	const struct label name = {names_find(c->names, name_key, sizeof(name_key) - 1), ns};
	const struct labels named = {1, &name};
	name_id ignored;

	if (s->matches_nothing)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		bool is_implied = s->reqs[i].key == name.key && !labels_get(own, name.key, &ignored);

		if (!requirement_matches(c->names, &s->reqs[i], is_implied ? &named : own))
			return false;
	}
	return true;
}

static bool is_about(const struct cede_cycle *c, const struct pod_term *t, name_id owner_ns, name_id ns)
{

	if (is_about_named(t, owner_ns, ns))
		return true;
	if (!t->has_ns_selector || selector_is_empty(&t->ns_selector))
		return t->has_ns_selector;
	return namespace_matches(c, &t->ns_selector, ns);
}

bool term_means_waiting(const struct cede_cycle *c, const struct pod_term *t, const struct labelset *owner)
{
	return labels_agree(c, t, &owner->labels, &c->labelset->labels) && is_about(c, t, owner->ns, c->labelset->ns);
}

bool waiting_term_means(const struct cede_cycle *c, const struct waiting_term *t, labelset_id labelset)
{
	const struct labelset *k;
	bool does;

	if (labelset < t->memo.n && t->memo.v[labelset])
		return t->memo.v[labelset] == 2;
	k = labelset_get(c->vocab, labelset);
	does = labels_agree(c, t->term, &c->labelset->labels, &k->labels) &&
	       is_about(c, t->term, c->labelset->ns, k->ns);
	if (labelset < t->memo.n)
		t->memo.v[labelset] = does ? 2 : 1;
	return does;
}

bool waiting_terms_all_mean(const struct cede_cycle *c, const struct waiting_terms *t, labelset_id labelset)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!waiting_term_means(c, &t->v[i], labelset))
			return false;
	return true;
}

struct waiting_terms waiting_terms(const struct cede_cycle *c, struct arena *a, const struct pod_terms *terms,
				   struct affinity_tally *into)
{
	struct waiting_terms ret = {terms->n, arena_n(a, terms->n + 1, struct waiting_term)};

	for (uint32_t i = 0; i < terms->n; i++) {
		struct waiting_term *t = &ret.v[i];

		t->term = &terms->terms[i];
		t->topology = framework_topology(c->framework, t->term->topology_key);
		t->sums = tally_sums(into, a, t->topology);
		t->memo.n = labelset_limit(c->vocab);
		t->memo.v = arena_n(a, t->memo.n + 1, uint8_t);
	}
	return ret;
}

/* ---- which pods are there? ---- */

struct labelset_list {
	uint32_t n;
	labelset_id *v;
};

static void list_ns(const struct cede_cycle *c, const struct waiting_term *t, name_id ns, struct labelset_list *out)
{
	const struct roster *r = framework_roster(c->framework);

	for (labelset_id k = roster_labelset_first(r, ns); k != ID_NONE; k = roster_labelset_next(r, k))
		if (waiting_term_means(c, t, k))
			out->v[out->n++] = k;
}

static void list_everywhere(const struct cede_cycle *c, const struct waiting_term *t, struct labelset_list *out)
{
	const struct roster *r = framework_roster(c->framework);

	for (labelset_id k = 0; k < roster_labelset_limit(r); k++)
		if (roster_has_labelset(r, k) && waiting_term_means(c, t, k))
			out->v[out->n++] = k;
}

static bool is_named_before(const struct pod_term *t, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (t->namespaces[k] == t->namespaces[i])
			return true;
	return false;
}

uint32_t waiting_term_labelsets(const struct cede_cycle *c, const struct waiting_term *t, struct arena *a,
				const labelset_id **ret)
{
	const struct pod_term *term = t->term;
	struct labelset_list out = {
		.v = arena_n(a, roster_labelset_limit(framework_roster(c->framework)) + 1, labelset_id)};

	if (term->has_ns_selector)
		list_everywhere(c, t, &out);
	else if (!term->n_namespaces)
		list_ns(c, t, c->labelset->ns, &out);
	for (uint32_t i = 0; !term->has_ns_selector && i < term->n_namespaces; i++)
		if (!is_named_before(term, i))
			list_ns(c, t, term->namespaces[i], &out);
	*ret = out.v;
	return out.n;
}

/* ---- sums ---- */

struct sums *tally_sums(struct affinity_tally *t, struct arena *a, const struct topology *topology)
{
	struct sums *s = t->first;

	while (s && s->topology != topology)
		s = s->next;
	if (!s) {
		s = arena_type(a, struct sums);
		*s = (struct sums){t->first, topology, topology->n, arena_n(a, topology->n, int64_t)};
		t->first = s;
	}
	return s;
}
