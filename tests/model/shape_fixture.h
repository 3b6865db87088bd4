/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_fixture.h - shapes for tests: drafts made from a number (the same number, the same draft, in other memory), and
 * all that a shape says as text, written here once more so that the code under test is not its own judge.
 */
#pragma once

#include <inttypes.h>

#include "base/text.h"
#include "model/shape.h"
#include "rng.h"

struct draft {
	struct vocab *v;
	struct arena *arena;
	struct name_bag bag;
	struct rng rng;
	struct shape shape;
};

static inline name_id draft_name(struct draft *d)
{
	char s[16];
	int n = snprintf(s, sizeof(s), "n%u", rng_below(&d->rng, 40));
	return rng_below(&d->rng, 8) == 0 ? NAME_NONE : name_bag_add(&d->bag, s, (size_t)n);
}

static inline const name_id *draft_names(struct draft *d, uint32_t *ret_n)
{
	*ret_n = rng_below(&d->rng, 3);
	name_id *v = arena_n(d->arena, *ret_n + 1, name_id);
	for (uint32_t i = 0; i < *ret_n; i++)
		v[i] = draft_name(d);
	return v;
}

static inline struct res_list draft_amounts(struct draft *d)
{
	struct res_amount *v = arena_n(d->arena, 4, struct res_amount);
	uint32_t n = 0;
	for (res_id r = 0; r < 4; r++)
		if (rng_below(&d->rng, 2) == 0)
			v[n++] = (struct res_amount){r, (int64_t)(rng_next(&d->rng) >> 8)};
	return (struct res_list){n, v};
}

static inline const struct requirement *draft_reqs(struct draft *d, uint32_t *ret_n)
{
	*ret_n = rng_below(&d->rng, 3);
	struct requirement *v = arena_n(d->arena, *ret_n + 1, struct requirement);
	for (uint32_t i = 0; i < *ret_n; i++) {
		v[i].key = draft_name(d);
		v[i].op = (enum selector_op)rng_below(&d->rng, 9);
		v[i].values = draft_names(d, &v[i].n_values);
		v[i].bound = (int64_t)rng_below(&d->rng, 3) - 1;
	}
	return v;
}

static inline struct selector draft_selector(struct draft *d)
{
	struct selector s = {.matches_nothing = rng_below(&d->rng, 4) == 0};
	s.reqs = draft_reqs(d, &s.n);
	return s;
}

static inline struct node_term draft_node_term(struct draft *d)
{
	struct node_term t = {.is_invalid = rng_below(&d->rng, 4) == 0};
	t.exprs = draft_reqs(d, &t.n_exprs);
	t.fields = draft_reqs(d, &t.n_fields);
	return t;
}

static inline struct pod_terms draft_pod_terms(struct draft *d)
{
	uint32_t n = rng_below(&d->rng, 3);
	struct pod_term *v = arena_n(d->arena, n + 1, struct pod_term);
	for (uint32_t i = 0; i < n; i++) {
		v[i].selector = draft_selector(d);
		v[i].topology_key = draft_name(d);
		v[i].namespaces = draft_names(d, &v[i].n_namespaces);
		v[i].has_ns_selector = rng_below(&d->rng, 2) == 0;
		v[i].ns_selector = draft_selector(d);
		v[i].weight = (int32_t)rng_below(&d->rng, 3) - 1;
		v[i].match_keys = draft_names(d, &v[i].n_match_keys);
		v[i].mismatch_keys = draft_names(d, &v[i].n_mismatch_keys);
	}
	return (struct pod_terms){n, v};
}

static inline void draft_nodes(struct draft *d, struct shape *s)
{
	uint32_t n = rng_below(&d->rng, 3);
	struct node_term *terms = arena_n(d->arena, n + 1, struct node_term);
	for (uint32_t i = 0; i < n; i++)
		terms[i] = draft_node_term(d);
	s->has_required_terms = rng_below(&d->rng, 2) == 0;
	s->required_terms = (struct node_terms){n, terms};
	s->n_preferred_nodes = rng_below(&d->rng, 3);
	struct preferred_node_term *preferred = arena_n(d->arena, s->n_preferred_nodes + 1, struct preferred_node_term);
	for (uint32_t i = 0; i < s->n_preferred_nodes; i++) {
		preferred[i].weight = (int32_t)rng_below(&d->rng, 100);
		preferred[i].term = draft_node_term(d);
	}
	s->preferred_nodes = preferred;
	s->n_tolerations = rng_below(&d->rng, 3);
	struct toleration *tolerations = arena_n(d->arena, s->n_tolerations + 1, struct toleration);
	for (uint32_t i = 0; i < s->n_tolerations; i++)
		tolerations[i] =
			(struct toleration){draft_name(d), draft_name(d), rng_below(&d->rng, 4), rng_below(&d->rng, 4)};
	s->tolerations = tolerations;
}

static inline void draft_spreads(struct draft *d, struct shape *s)
{
	s->n_spreads = rng_below(&d->rng, 3);
	struct spread *v = arena_n(d->arena, s->n_spreads + 1, struct spread);
	for (uint32_t i = 0; i < s->n_spreads; i++) {
		v[i].max_skew = (int32_t)rng_below(&d->rng, 3);
		v[i].min_domains = (int32_t)rng_below(&d->rng, 3);
		v[i].topology_key = draft_name(d);
		v[i].is_hard = rng_below(&d->rng, 2) == 0;
		v[i].ignores_affinity = rng_below(&d->rng, 2) == 0;
		v[i].honors_taints = rng_below(&d->rng, 2) == 0;
		v[i].selector = draft_selector(d);
		v[i].match_keys = draft_names(d, &v[i].n_match_keys);
	}
	s->spreads = v;
}

static inline void draft_rest(struct draft *d, struct shape *s)
{
	s->n_ports = rng_below(&d->rng, 3);
	struct host_port *ports = arena_n(d->arena, s->n_ports + 1, struct host_port);
	for (uint32_t i = 0; i < s->n_ports; i++)
		ports[i] = (struct host_port){draft_name(d), (uint16_t)rng_below(&d->rng, 65536),
					      (uint8_t)rng_below(&d->rng, 3)};
	s->ports = ports;
	s->images = draft_names(d, &s->n_images);
	s->n_containers = rng_below(&d->rng, 4);
	s->gates = draft_names(d, &s->n_gates);
	s->scheduler_name = draft_name(d);
	s->runs_on = draft_name(d);
	s->never_preempts = rng_below(&d->rng, 2) == 0;
	s->has_claims = rng_below(&d->rng, 2) == 0;
}

static inline struct draft draft_new(struct vocab *v, uint64_t seed)
{
	struct draft d = {.v = v, .arena = arena_new(1024), .bag = name_bag_of(vocab_names(v)), .rng = {seed}};
	struct shape s = {0};
	s.request = draft_amounts(&d);
	s.usage = draft_amounts(&d);
	s.nonzero_cpu_milli = (int64_t)rng_below(&d.rng, 3) - 1;
	s.nonzero_memory = (int64_t)(rng_next(&d.rng) >> 3);
	struct label *kv = arena_n(d.arena, 3, struct label);
	for (uint32_t i = 0; i < 3; i++)
		kv[i] = (struct label){draft_name(&d), draft_name(&d)};
	s.node_selector = (struct labels){labels_sort(kv, rng_below(&d.rng, 4)), kv};
	draft_nodes(&d, &s);
	s.affinity = draft_pod_terms(&d);
	s.anti_affinity = draft_pod_terms(&d);
	s.preferred_affinity = draft_pod_terms(&d);
	s.preferred_anti_affinity = draft_pod_terms(&d);
	draft_spreads(&d, &s);
	draft_rest(&d, &s);
	d.shape = s;
	return d;
}

static inline void draft_free(struct draft *d)
{
	arena_free(d->arena);
	name_bag_drop(&d->bag);
}

/* ---- in words ---- */

struct teller {
	const struct names *names;
	struct text *out;
};

static inline void tell_name(const struct teller *t, name_id id)
{
	text_printf(t->out, " '%s'", name_str(t->names, id));
}

static inline void tell_num(const struct teller *t, int64_t x)
{
	text_printf(t->out, " %" PRId64, x);
}

static inline void tell_names(const struct teller *t, const char *what, const name_id *v, uint32_t n)
{
	text_printf(t->out, " %s[", what);
	for (uint32_t i = 0; i < n; i++)
		tell_name(t, v[i]);
	text_add(t->out, "]");
}

static inline void tell_amounts(const struct teller *t, const char *what, const struct res_list *l)
{
	text_printf(t->out, " %s(", what);
	for (uint32_t i = 0; i < l->n; i++)
		text_printf(t->out, "%u:%" PRId64 ",", l->v[i].type, l->v[i].amount);
	text_add(t->out, ")");
}

static inline void tell_reqs(const struct teller *t, const char *what, const struct requirement *v, uint32_t n)
{
	text_printf(t->out, " %s{", what);
	for (uint32_t i = 0; i < n; i++) {
		tell_name(t, v[i].key);
		tell_num(t, v[i].op);
		tell_names(t, "in", v[i].values, v[i].n_values);
		tell_num(t, v[i].bound);
	}
	text_add(t->out, "}");
}

static inline void tell_selector(const struct teller *t, const char *what, const struct selector *s)
{
	text_printf(t->out, " %s %d", what, s->matches_nothing);
	tell_reqs(t, "reqs", s->reqs, s->n);
}

static inline void tell_node_term(const struct teller *t, const struct node_term *n)
{
	text_printf(t->out, " term %d", n->is_invalid);
	tell_reqs(t, "exprs", n->exprs, n->n_exprs);
	tell_reqs(t, "fields", n->fields, n->n_fields);
}

static inline void tell_pod_terms(const struct teller *t, const char *what, const struct pod_terms *terms)
{
	text_printf(t->out, " %s<", what);
	for (uint32_t i = 0; i < terms->n; i++) {
		const struct pod_term *p = &terms->terms[i];
		tell_selector(t, "of", &p->selector);
		tell_name(t, p->topology_key);
		tell_names(t, "ns", p->namespaces, p->n_namespaces);
		tell_num(t, p->has_ns_selector);
		tell_selector(t, "nsof", &p->ns_selector);
		tell_num(t, p->weight);
		tell_names(t, "match", p->match_keys, p->n_match_keys);
		tell_names(t, "mismatch", p->mismatch_keys, p->n_mismatch_keys);
	}
	text_add(t->out, ">");
}

static inline void tell_nodes(const struct teller *t, const struct shape *s)
{
	text_add(t->out, " selector(");
	for (uint32_t i = 0; i < s->node_selector.n; i++) {
		tell_name(t, s->node_selector.kv[i].key);
		tell_name(t, s->node_selector.kv[i].value);
	}
	text_printf(t->out, ") required %d <", s->has_required_terms);
	for (uint32_t i = 0; i < s->required_terms.n; i++)
		tell_node_term(t, &s->required_terms.terms[i]);
	text_add(t->out, "> preferred <");
	for (uint32_t i = 0; i < s->n_preferred_nodes; i++) {
		tell_num(t, s->preferred_nodes[i].weight);
		tell_node_term(t, &s->preferred_nodes[i].term);
	}
	text_add(t->out, "> tolerates <");
	for (uint32_t i = 0; i < s->n_tolerations; i++) {
		tell_name(t, s->tolerations[i].key);
		tell_name(t, s->tolerations[i].value);
		text_printf(t->out, " %d %d", s->tolerations[i].op, s->tolerations[i].effect);
	}
	text_add(t->out, ">");
}

static inline void tell_rest(const struct teller *t, const struct shape *s)
{
	for (uint32_t i = 0; i < s->n_spreads; i++) {
		const struct spread *p = &s->spreads[i];
		text_printf(t->out, " spread %d %d %d%d%d", p->max_skew, p->min_domains, p->is_hard,
			    p->ignores_affinity, p->honors_taints);
		tell_name(t, p->topology_key);
		tell_selector(t, "of", &p->selector);
		tell_names(t, "match", p->match_keys, p->n_match_keys);
	}
	for (uint32_t i = 0; i < s->n_ports; i++) {
		text_printf(t->out, " port %u/%u", s->ports[i].port, s->ports[i].protocol);
		tell_name(t, s->ports[i].ip);
	}
	tell_names(t, "images", s->images, s->n_images);
	tell_names(t, "gates", s->gates, s->n_gates);
	tell_name(t, s->scheduler_name);
	tell_name(t, s->runs_on);
	text_printf(t->out, " %u %d%d", s->n_containers, s->never_preempts, s->has_claims);
}

static inline void shape_tell(struct vocab *v, const struct shape *s, struct text *out)
{
	const struct teller t = {vocab_names(v), out};
	tell_amounts(&t, "asks", &s->request);
	tell_amounts(&t, "takes", &s->usage);
	tell_num(&t, s->nonzero_cpu_milli);
	tell_num(&t, s->nonzero_memory);
	tell_nodes(&t, s);
	tell_pod_terms(&t, "affinity", &s->affinity);
	tell_pod_terms(&t, "anti", &s->anti_affinity);
	tell_pod_terms(&t, "likes", &s->preferred_affinity);
	tell_pod_terms(&t, "dislikes", &s->preferred_anti_affinity);
	tell_rest(&t, s);
}
