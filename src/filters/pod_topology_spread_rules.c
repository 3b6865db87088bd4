/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/pod_topology_spread.h"

#define HOSTNAME_KEY "kubernetes.io/hostname"
#define ZONE_KEY "topology.kubernetes.io/zone"

/* ---- selectors ---- */

struct selector_draft {
	struct requirement *reqs;
	uint32_t n;
};

static void drop_key(struct selector_draft *d, name_id key)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->reqs[i].key != key)
			d->reqs[kept++] = d->reqs[i];
	d->n = kept;
}

static void add_all(struct selector_draft *d, const struct selector *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		d->reqs[d->n++] = s->reqs[i];
}

/*
 * The selector and the pod's own value of every one of the keys that it has a label for. Even a missing selector, which
 * matches nothing otherwise, counts as empty then.
 */
static struct selector with_own_labels(const struct cede_cycle *c, struct arena *a, const struct spread *s)
{
	struct selector_draft d = {.reqs = arena_n(a, s->selector.n + s->n_match_keys + 1, struct requirement)};
	name_id *values = arena_n(a, s->n_match_keys + 1, name_id);

	for (uint32_t i = 0; !framework_args(c->framework)->spread_ignores_match_keys && i < s->n_match_keys; i++)
		if (labels_get(&c->labelset->labels, s->match_keys[i], &values[i]))
			d.reqs[d.n++] = (struct requirement){
				.key = s->match_keys[i], .op = SEL_IN, .n_values = 1, .values = &values[i]};
	if (!d.n)
		return s->selector;
	add_all(&d, &s->selector);
	return (struct selector){.n = d.n, .reqs = d.reqs};
}

static bool is_owner(const struct cede_cycle *c, const struct obj_owner *o)
{
	enum owner_kind kind = c->p->obj->owner_kind;

	return !o->is_service && o->kind == kind && o->name == c->p->obj->owner_name &&
	       (kind == OWNER_RC || kind == OWNER_REPLICASET || kind == OWNER_STATEFULSET);
}

static const struct obj_owner *const *owners_of(const struct cede_cycle *c, uint32_t *ret_n, uint32_t *ret_n_reqs)
{
	const struct obj_owner *const *owners = cluster_selecting_owners(c->cluster, c->labelset->ns, ret_n);

	*ret_n_reqs = 0;
	for (uint32_t i = 0; i < *ret_n; i++)
		*ret_n_reqs += owners[i]->selector.n;
	return owners;
}

/*
 * All labels that the pod's Services select, and what its controller selects. Where a ReplicationController wants
 * another value than a Service does, its own holds.
 */
static struct selector default_selector(const struct cede_cycle *c, struct arena *a)
{
	uint32_t n, n_reqs;
	const struct obj_owner *const *owners = owners_of(c, &n, &n_reqs);
	struct selector_draft d = {.reqs = arena_n(a, n_reqs + 1, struct requirement)};

	for (uint32_t i = 0; i < n; i++)
		if (owners[i]->is_service && selector_matches(c->names, &owners[i]->selector, &c->labelset->labels))
			add_all(&d, &owners[i]->selector);
	for (uint32_t i = 0; i < n; i++) {
		const struct selector *s = &owners[i]->selector;

		if (!is_owner(c, owners[i]))
			continue;
		for (uint32_t k = 0; owners[i]->kind == OWNER_RC && k < s->n; k++)
			drop_key(&d, s->reqs[k].key);
		add_all(&d, s);
	}
	return (struct selector){.n = d.n, .reqs = d.reqs};
}

/* ---- rules ---- */

static void make_ready(const struct cede_cycle *c, struct arena *a, struct spread_rule *r, name_id key)
{
	r->is_hostname = key == names_find(c->names, HOSTNAME_KEY, sizeof(HOSTNAME_KEY) - 1);
	r->counts_self = selector_matches(c->names, &r->selector, &c->labelset->labels);
	r->topology = framework_topology(c->framework, key);
	r->memo.n = labelset_limit(c->vocab);
	r->memo.v = arena_n(a, r->memo.n + 1, uint8_t);
}

static struct spread_rules own_rules(const struct cede_cycle *c, struct arena *a, bool are_hard)
{
	const struct shape *s = c->shape;
	struct spread_rules rules = {.v = arena_n(a, s->n_spreads + 1, struct spread_rule)};

	for (uint32_t i = 0; i < s->n_spreads; i++) {
		const struct spread *from = &s->spreads[i];
		struct spread_rule *r = &rules.v[rules.n];

		if (from->is_hard != are_hard)
			continue;
		r->max_skew = from->max_skew;
		r->min_domains = from->min_domains > 0 ? (uint32_t)from->min_domains : 1;
		r->needs = (uint8_t)((from->ignores_affinity ? 0 : SPREAD_AFFINITY) |
				     (from->honors_taints ? SPREAD_TAINTS : 0));
		r->selector = with_own_labels(c, a, from);
		make_ready(c, a, r, from->topology_key);
		rules.n++;
	}
	return rules;
}

static struct spread_rules default_rules(const struct cede_cycle *c, struct arena *a, bool are_hard)
{
	static const struct default_spread system[] = {{3, HOSTNAME_KEY, false}, {5, ZONE_KEY, false}};
	const struct plugin_args *args = framework_args(c->framework);
	const struct default_spread *list = args->spread_defaults_are_listed ? args->default_spreads : system;
	uint32_t n = args->spread_defaults_are_listed ? args->n_default_spreads : sizeof(system) / sizeof(*system),
		 n_wanted = 0;
	struct spread_rules rules = {.are_system = !args->spread_defaults_are_listed};
	struct selector selector;

	for (uint32_t i = 0; i < n; i++)
		n_wanted += list[i].is_hard == are_hard;
	if (!n_wanted)
		return rules;
	selector = default_selector(c, a);
	if (selector_is_empty(&selector))
		return rules;
	rules.v = arena_n(a, n_wanted, struct spread_rule);
	for (uint32_t i = 0; i < n; i++) {
		struct spread_rule *r = &rules.v[rules.n];

		if (list[i].is_hard != are_hard)
			continue;
		*r = (struct spread_rule){
			.max_skew = list[i].max_skew, .min_domains = 1, .needs = SPREAD_AFFINITY, .selector = selector};
		make_ready(c, a, r, names_find(c->names, list[i].topology_key, strlen(list[i].topology_key)));
		rules.n++;
	}
	return rules;
}

struct spread_rules spread_rules(const struct cede_cycle *c, struct arena *a, bool are_hard)
{
	return c->shape->n_spreads ? own_rules(c, a, are_hard) : default_rules(c, a, are_hard);
}

/* ---- who counts ---- */

bool spread_rule_matches(const struct cede_cycle *c, const struct spread_rule *r, labelset_id labelset)
{
	bool matches;

	if (labelset < r->memo.n && r->memo.v[labelset])
		return r->memo.v[labelset] == 2;
	matches = selector_matches(c->names, &r->selector, &labelset_get(c->vocab, labelset)->labels);
	if (labelset < r->memo.n)
		r->memo.v[labelset] = matches ? 2 : 1;
	return matches;
}

void spread_each(const struct cede_cycle *c, const struct spread_rule *r, spread_count fn, void *ctx)
{
	const struct roster *roster = framework_roster(c->framework);

	if (selector_is_empty(&r->selector))
		return;
	for (labelset_id k = roster_labelset_first(roster, c->labelset->ns); k != ID_NONE;
	     k = roster_labelset_next(roster, k)) {
		if (!spread_rule_matches(c, r, k))
			continue;
		roster = framework_roster_pods(c->framework);
		for (pod_id id = roster_pod_first(roster, k); id != ID_NONE; id = roster_pod_next(roster, id)) {
			const struct pod *p = ledger_pod(c->ledger, id);

			if (p->state == POD_PLACED)
				fn(ctx, p);
		}
	}
}

static bool affinity_holds(const struct cede_cycle *c, const struct ledger_node *n)
{
	const struct shape *s = c->shape;
	const struct labels *labels;

	if (!s->node_selector.n && !s->has_required_terms)
		return true;
	labels = &labelset_get(c->vocab, n->obj->labelset)->labels;
	return labels_include(labels, &s->node_selector) &&
	       (!s->has_required_terms || node_terms_match(c->names, &s->required_terms, labels, n->name));
}

static bool taints_are_tolerated(const struct cede_cycle *c, const struct obj_node *o)
{
	bool with_bounds = framework_args(c->framework)->toleration_bounds;

	for (uint32_t i = 0; i < o->n_taints; i++)
		if (o->taints[i].effect != EFFECT_PREFER_NO_SCHEDULE &&
		    !tolerations_match(c->names, c->shape->tolerations, c->shape->n_tolerations, &o->taints[i],
				       with_bounds))
			return false;
	return true;
}

uint8_t spread_node(const struct cede_cycle *c, const struct spread_rules *rules, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	uint8_t needs = 0, has = SPREAD_KEYS;

	for (uint32_t i = 0; i < rules->n; i++) {
		needs |= rules->v[i].needs;
		if (topology_domain(rules->v[i].topology, node) == DOMAIN_NONE)
			has = 0;
	}
	if ((needs & SPREAD_AFFINITY) && affinity_holds(c, n))
		has |= SPREAD_AFFINITY;
	if ((needs & SPREAD_TAINTS) && taints_are_tolerated(c, n->obj))
		has |= SPREAD_TAINTS;
	return has;
}
