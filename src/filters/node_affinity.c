/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeAffinity: spec.nodeSelector and the required node affinity terms, both of which must hold; a profile can add
 * terms of its own for all pods. Preferred terms add their weights to a node's score.
 *
 * Terms that all name a node by metadata.name leave only those nodes to be looked at: this is how pods of DaemonSets
 * find theirs.
 */
#include "filters/builtin.h"

enum node_affinity_reason { NO_MATCH, NO_MATCH_ADDED, CONFLICT, BAD_PREFERENCE };
static const char *const reasons[] = {
	[NO_MATCH] = "node(s) didn't match Pod's node affinity/selector",
	[NO_MATCH_ADDED] = "node(s) didn't match scheduler-enforced node affinity",
	[CONFLICT] = "pod affinity terms conflict",
	[BAD_PREFERENCE] = "a preferred node affinity term is invalid",
};

enum term_names { NAMES_ANY, NAMES_ONE, NAMES_CONFLICT };

/* Which node a term names. Every such field has exactly one value, so two of them agree or nothing is left. */
static enum term_names term_node(const struct node_term *t, name_id *ret)
{
	enum term_names names = NAMES_ANY;

	for (uint32_t i = 0; i < t->n_fields; i++) {
		if (t->fields[i].op != SEL_IN)
			continue;
		if (names == NAMES_ONE && *ret != t->fields[i].values[0])
			return NAMES_CONFLICT;
		*ret = t->fields[i].values[0];
		names = NAMES_ONE;
	}
	return names;
}

static struct cede_verdict restrict_to_named(struct cede_cycle *c, const struct node_terms *terms)
{
	name_id *wanted = cede_alloc(c, terms->n * sizeof(*wanted));
	uint32_t n = 0, n_conflicts = 0;

	for (uint32_t i = 0; i < terms->n; i++) {
		name_id name = NAME_NONE;
		enum term_names names = term_node(&terms->terms[i], &name);

		if (names == NAMES_ANY)
			return cede_ok();
		n_conflicts += names == NAMES_CONFLICT;
		if (names == NAMES_ONE)
			wanted[n++] = name;
	}
	if (n_conflicts == terms->n)
		return cede_answer(CEDE_UNRESOLVABLE, CONFLICT, 0);
	cycle_restrict_names(c, &node_affinity_plugin, wanted, n);
	return cede_ok();
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	const struct shape *s = c->shape;

	if (!s->has_required_terms && !s->node_selector.n && !framework_args(c->framework)->has_added_required)
		return cede_answer(CEDE_SKIP, 0, 0);
	if (!s->has_required_terms || !s->required_terms.n)
		return cede_ok();
	return restrict_to_named(c, &s->required_terms);
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct plugin_args *args = framework_args(c->framework);
	const struct ledger_node *n = ledger_node(c->ledger, node);
	const struct labels *labels = &labelset_get(c->vocab, n->obj->labelset)->labels;
	const struct shape *s = c->shape;

	if (args->has_added_required && !node_terms_match(c->names, &args->added_required, labels, n->name))
		return cede_answer(CEDE_UNRESOLVABLE, NO_MATCH_ADDED, 0);
	if (!labels_include(labels, &s->node_selector))
		return cede_answer(CEDE_UNRESOLVABLE, NO_MATCH, 0);
	if (s->has_required_terms && !node_terms_match(c->names, &s->required_terms, labels, n->name))
		return cede_answer(CEDE_UNRESOLVABLE, NO_MATCH, 0);
	return cede_ok();
}

/* detail: which term. */
static struct cede_verdict pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	const struct shape *s = c->shape;

	for (uint32_t i = 0; i < s->n_preferred_nodes; i++)
		if (s->preferred_nodes[i].weight && s->preferred_nodes[i].term.is_invalid)
			return cede_answer(CEDE_ERROR, BAD_PREFERENCE, i);
	if (!s->n_preferred_nodes && !framework_args(c->framework)->n_added_preferred)
		return cede_answer(CEDE_SKIP, 0, 0);
	return cede_ok();
}

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct plugin_args *args = framework_args(c->framework);
	const struct ledger_node *n = ledger_node(c->ledger, node);
	const struct labels *labels = &labelset_get(c->vocab, n->obj->labelset)->labels;
	const struct shape *s = c->shape;
	int64_t sum = 0;

	for (uint32_t i = 0; i < args->n_added_preferred; i++)
		if (node_term_matches(c->names, &args->added_preferred[i].term, labels, n->name))
			sum += args->added_preferred[i].weight;
	for (uint32_t i = 0; i < s->n_preferred_nodes; i++)
		if (node_term_matches(c->names, &s->preferred_nodes[i].term, labels, n->name))
			sum += s->preferred_nodes[i].weight;
	return sum;
}

static void normalize(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n)
{
	scores_to_percent(scores, n, false);
}

const struct cede_plugin node_affinity_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.flags = CEDE_FILTER_IS_STATIC,
	.name = "NodeAffinity",
	.pre_filter = pre_filter,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.normalize = normalize,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
